// All spheres as points for ParaView, in the order of uids: every array is appended to the file in
// pieces, one of each rank.
#include "base/core/status.h"
#include "cluster/law.h"
#include "cluster/order.h"

#include <stdio.h>
#include <string.h>

#define HEAD_SIZE 4096

// Writes one value of the index-th sphere.
typedef void PutFn(unsigned char* to, const rbGrain* grain, int64_t index);

static void putFloats(unsigned char* to, const double* values, int count)
{
    for (int i = 0; i < count; ++i) {
        float value = (float)values[i];
        memcpy(to + (size_t)i * sizeof value, &value, sizeof value);
    }
}

static void putPosition(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)index;
    memcpy(to, &grain->position, sizeof grain->position);
}

static void putRadius(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)index;
    putFloats(to, &grain->radius, 1);
}

static void putVelocity(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)index;
    putFloats(to, &grain->velocity.x, 3);
}

static void putSpin(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)index;
    putFloats(to, &grain->spin.x, 3);
}

static void putOrientation(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)index;
    putFloats(to, &grain->orientation.w, 4);
}

static void putUid(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)index;
    memcpy(to, &grain->uid, sizeof grain->uid);
}

static void putConnectivity(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)grain;
    memcpy(to, &index, sizeof index);
}

static void putOffset(unsigned char* to, const rbGrain* grain, int64_t index)
{
    (void)grain;
    int64_t end = index + 1;
    memcpy(to, &end, sizeof end);
}

typedef struct Array {
    const char* before; // tags
    const char* attributes;
    int size; // bytes of a value
    PutFn* put;
} Array;

static const Array arrays[] = {
    {"<Points>\n", "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", 24, putPosition},
    {"</Points>\n<PointData Scalars=\"radius\" Vectors=\"velocity\">\n",
     "type=\"Float32\" Name=\"radius\"", 4, putRadius},
    {"", "type=\"Float32\" Name=\"velocity\" NumberOfComponents=\"3\"", 12, putVelocity},
    {"", "type=\"Float32\" Name=\"spin\" NumberOfComponents=\"3\"", 12, putSpin},
    {"", "type=\"Float32\" Name=\"orientation\" NumberOfComponents=\"4\"", 16, putOrientation},
    {"", "type=\"UInt64\" Name=\"uid\"", 8, putUid},
    {"</PointData>\n<Verts>\n", "type=\"Int64\" Name=\"connectivity\"", 8, putConnectivity},
    {"", "type=\"Int64\" Name=\"offsets\"", 8, putOffset},
};
#define ARRAY_COUNT ((int)(sizeof arrays / sizeof arrays[0]))

// Everything before the appended bytes; the offset of each array counts from their beginning.
static int writeHead(char* text, double time, int64_t count)
{
    int used = snprintf(text, HEAD_SIZE,
                        "<?xml version=\"1.0\"?>\n"
                        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                        "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
                        "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                        "format=\"ascii\">%.17g</DataArray>\n</FieldData>\n"
                        "<Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\">\n",
                        time, (long long)count, (long long)count);
    int64_t offset = 0;
    for (int i = 0; i < ARRAY_COUNT; ++i) {
        used += snprintf(text + used, (size_t)(HEAD_SIZE - used),
                         "%s<DataArray %s format=\"appended\" offset=\"%lld\"/>\n",
                         arrays[i].before, arrays[i].attributes, (long long)offset);
        offset += 8 + arrays[i].size * count;
    }
    used += snprintf(text + used, (size_t)(HEAD_SIZE - used),
                     "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    return used;
}

static void writeArray(rbRankFile* file, const rbOrder* order, const Array* array, int64_t offset)
{
    bool isFirst = order->firstGrain == 0;
    size_t before = isFirst ? 8 : 0; // the number of bytes
    size_t size = before + (size_t)order->grains.count * (size_t)array->size;
    unsigned char* bytes = rbAlloc(size);
    uint64_t all = (uint64_t)(order->grainCount * array->size);
    if (isFirst) {
        memcpy(bytes, &all, sizeof all);
    }
    for (int i = 0; i < order->grains.count; ++i) {
        array->put(bytes + before + (size_t)i * (size_t)array->size, &order->grains.data[i],
                   order->firstGrain + i);
    }
    int64_t place = isFirst ? offset : offset + 8 + order->firstGrain * array->size;
    rbRankFile_Write(file, place, bytes, size);
    rbFree(bytes, size);
}

rbStatus rbCluster_WritePoints(rbCluster* cluster, const char* path, rbError* error)
{
    static const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
    rbRanks* ranks = cluster->ranks;
    bool isFirst = rbRanks_GetIndex(ranks) == 0;
    rbOrder order;
    rbCluster_Build(cluster);
    rbOrder_Collect(&order, &cluster->domain);
    rbRankFile* file = rbRankFile_Create(ranks, path, error);
    rbStatus status = file != NULL ? RB_STATUS_OK : error->status;
    if (file != NULL) {
        char head[HEAD_SIZE];
        int64_t offset = writeHead(head, rbCluster_GetTime(cluster), order.grainCount);
        rbRankFile_Write(file, 0, head, isFirst ? (size_t)offset : 0);
        for (int i = 0; i < ARRAY_COUNT; ++i) {
            writeArray(file, &order, &arrays[i], offset);
            offset += 8 + arrays[i].size * order.grainCount;
        }
        rbRankFile_Write(file, offset, tail, isFirst ? sizeof tail - 1 : 0);
        status = rbRankFile_Close(file, error);
    }
    rbOrder_Free(&order);
    return status;
}
