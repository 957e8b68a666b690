// All spheres as points for ParaView, in the order of uids: every array is appended to the file in
// pieces, one of each rank.
#include "base/core/status.h"
#include "cluster/columns.h"
#include "cluster/law.h"
#include "cluster/order.h"

#include <stdio.h>
#include <string.h>

#define HEAD_SIZE 4096

// What a point has besides the columns of its sphere: a vertex of its own.
static void putConnectivity(unsigned char* to, int64_t index)
{
    memcpy(to, &index, sizeof index);
}

static void putOffset(unsigned char* to, int64_t index)
{
    int64_t end = index + 1;
    memcpy(to, &end, sizeof end);
}

typedef struct Vertices {
    const char* name;
    void (*put)(unsigned char* to, int64_t index);
} Vertices;

#define VERTEX_SIZE 8
static const Vertices vertices[] = {{"connectivity", putConnectivity}, {"offsets", putOffset}};
#define VERTEX_ARRAYS ((int)(sizeof vertices / sizeof vertices[0]))

static const char* const typeNames[] = {
    [RB_COLUMN_DOUBLE] = "Float64", [RB_COLUMN_FLOAT] = "Float32", [RB_COLUMN_UINT64] = "UInt64"};

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
    for (int i = 0; i < RB_COLUMN_COUNT; ++i) {
        const rbColumn* column = &rbColumns[i];
        char components[48] = "";
        if (column->components > 1) {
            (void)snprintf(components, sizeof components, " NumberOfComponents=\"%d\"",
                           column->components);
        }
        // positions are the points, the others are their data
        used += snprintf(
            text + used, (size_t)(HEAD_SIZE - used),
            "%s<DataArray type=\"%s\" Name=\"%s\"%s format=\"appended\" offset=\"%lld\"/>\n",
            i == 0   ? "<Points>\n"
            : i == 1 ? "</Points>\n<PointData Scalars=\"radius\" Vectors=\"velocity\">\n"
                     : "",
            typeNames[column->type], i == 0 ? "Points" : column->name, components,
            (long long)offset);
        offset += 8 + rbColumn_GetSize(column) * count;
    }
    for (int i = 0; i < VERTEX_ARRAYS; ++i) {
        used +=
            snprintf(text + used, (size_t)(HEAD_SIZE - used),
                     "%s<DataArray type=\"Int64\" Name=\"%s\" format=\"appended\" "
                     "offset=\"%lld\"/>\n",
                     i == 0 ? "</PointData>\n<Verts>\n" : "", vertices[i].name, (long long)offset);
        offset += 8 + VERTEX_SIZE * count;
    }
    used += snprintf(text + used, (size_t)(HEAD_SIZE - used),
                     "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    return used;
}

// The bytes of an array of this rank, after the number of all its bytes, which the first has.
static void writeArray(rbRankFile* file, const rbOrder* order, int array, int64_t offset, int size)
{
    bool isFirst = order->firstGrain == 0;
    size_t before = isFirst ? 8 : 0;
    size_t length = before + (size_t)order->grains.count * (size_t)size;
    unsigned char* bytes = rbAlloc(length);
    uint64_t all = (uint64_t)(order->grainCount * size);
    if (isFirst) {
        memcpy(bytes, &all, sizeof all);
    }
    for (int i = 0; i < order->grains.count; ++i) {
        unsigned char* to = bytes + before + (size_t)i * (size_t)size;
        if (array < RB_COLUMN_COUNT) {
            rbColumn_Put(&rbColumns[array], to, &order->grains.data[i]);
        } else {
            vertices[array - RB_COLUMN_COUNT].put(to, order->firstGrain + i);
        }
    }
    int64_t place = isFirst ? offset : offset + 8 + order->firstGrain * size;
    rbRankFile_Write(file, place, bytes, length);
    rbFree(bytes, length);
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
        for (int i = 0; i < RB_COLUMN_COUNT + VERTEX_ARRAYS; ++i) {
            int size = i < RB_COLUMN_COUNT ? rbColumn_GetSize(&rbColumns[i]) : VERTEX_SIZE;
            writeArray(file, &order, i, offset, size);
            offset += 8 + size * order.grainCount;
        }
        rbRankFile_Write(file, offset, tail, isFirst ? sizeof tail - 1 : 0);
        status = rbRankFile_Close(file, error);
    }
    rbOrder_Free(&order);
    return status;
}
