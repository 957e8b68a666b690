// All spheres as HDF5, a file per frame, and XDMF, which lists them for ParaView.
//
// Rank 0 makes the file with all its datasets, contiguous and without values; HDF5 says where the
// values of each begin. Then all ranks write theirs there, in the order of uids, as in points.c: a
// serial HDF5 is enough, and no rank needs memory for all spheres. Datasets have no time stamps, so
// the bytes are those of the spheres and of the version of HDF5.
#include "base/core/status.h"
#include "cluster/columns.h"
#include "cluster/law.h"
#include "cluster/order.h"

#include <stdio.h>
#include <string.h>

#ifdef RB_HDF5

#include <hdf5.h>

#define PATH_SIZE 4096

// --------------------------------------------------------------------------------------------
// frame

static hid_t typeOf(const rbColumn* column)
{
    return column->type == RB_COLUMN_DOUBLE  ? H5T_IEEE_F64LE
           : column->type == RB_COLUMN_FLOAT ? H5T_IEEE_F32LE
                                             : H5T_STD_U64LE;
}

// An attribute of the file: the time, s.
static bool writeTime(hid_t file, double time)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool isGood = H5Awrite(attribute, H5T_NATIVE_DOUBLE, &time) >= 0;
    isGood = H5Aclose(attribute) >= 0 && isGood;
    return H5Sclose(space) >= 0 && isGood;
}

// Where its values begin; 0 if there are none. Negative: a failure.
static int64_t createDataset(hid_t file, const rbColumn* column, int64_t count)
{
    hsize_t size[2] = {(hsize_t)count, (hsize_t)column->components};
    hid_t space = H5Screate_simple(column->components > 1 ? 2 : 1, size, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    bool isGood = H5Pset_obj_track_times(how, false) >= 0 &&
                  H5Pset_layout(how, H5D_CONTIGUOUS) >= 0 &&
                  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
                  H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0;
    hid_t dataset =
        H5Dcreate2(file, column->name, typeOf(column), space, H5P_DEFAULT, how, H5P_DEFAULT);
    haddr_t place = count > 0 ? H5Dget_offset(dataset) : 0;
    isGood = isGood && dataset >= 0 && place != HADDR_UNDEF;
    isGood = H5Dclose(dataset) >= 0 && isGood;
    isGood = H5Pclose(how) >= 0 && isGood;
    isGood = H5Sclose(space) >= 0 && isGood;
    return isGood ? (int64_t)place : -1;
}

// The file under its temporary name, without the values. Not collective.
static rbStatus createFrame(const char* path, double time, int64_t count,
                            int64_t offsets[RB_COLUMN_COUNT], rbError* error)
{
    char part[PATH_SIZE];
    bool isGood = snprintf(part, sizeof part, "%s.part", path) < PATH_SIZE;
    H5E_BEGIN_TRY
    {
        hid_t file = isGood ? H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : -1;
        isGood = file >= 0 && writeTime(file, time);
        for (int i = 0; i < RB_COLUMN_COUNT && isGood; ++i) {
            offsets[i] = createDataset(file, &rbColumns[i], count);
            isGood = offsets[i] >= 0;
        }
        isGood = file >= 0 && H5Fclose(file) >= 0 && isGood;
    }
    H5E_END_TRY
    if (!isGood) {
        (void)remove(part);
        return rbError_Set(error, RB_STATUS_IO, "%.1000s: cannot create it", path);
    }
    return RB_STATUS_OK;
}

static void writeColumn(rbRankFile* file, const rbOrder* order, const rbColumn* column,
                        int64_t offset)
{
    size_t size = (size_t)rbColumn_GetSize(column);
    size_t length = (size_t)order->grains.count * size;
    unsigned char* bytes = rbAlloc(length);
    for (int i = 0; i < order->grains.count; ++i) {
        rbColumn_Put(column, bytes + (size_t)i * size, &order->grains.data[i]);
    }
    rbRankFile_Write(file, offset + order->firstGrain * (int64_t)size, bytes, length);
    rbFree(bytes, length);
}

rbStatus rbCluster_WriteHdf5(rbCluster* cluster, const char* path, rbError* error)
{
    rbRanks* ranks = cluster->ranks;
    rbOrder order;
    rbCluster_Build(cluster);
    rbOrder_Collect(&order, &cluster->domain);
    int64_t offsets[RB_COLUMN_COUNT] = {0};
    rbStatus status = RB_STATUS_OK;
    if (rbRanks_GetIndex(ranks) == 0) {
        status = createFrame(path, rbCluster_GetTime(cluster), order.grainCount, offsets, error);
    }
    status = rbRanks_Agree(ranks, status, error);
    if (status == RB_STATUS_OK) {
        rbRanks_MaxIntegers(ranks, offsets, RB_COLUMN_COUNT); // those of rank 0
        rbRankFile* file = rbRankFile_Continue(ranks, path, error);
        status = file != NULL ? RB_STATUS_OK : error->status;
        for (int i = 0; i < RB_COLUMN_COUNT && file != NULL; ++i) {
            writeColumn(file, &order, &rbColumns[i], offsets[i]);
        }
        if (file != NULL) {
            status = rbRankFile_Close(file, error);
        }
    }
    rbOrder_Free(&order);
    return status;
}

// ---------------------------------------------------------------------------------------------
// list

// Time and number of spheres of a frame.
static bool readFrame(const char* path, double* time, int64_t* count)
{
    bool isGood = false;
    H5E_BEGIN_TRY
    {
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t attribute = H5Aopen(file, "time", H5P_DEFAULT);
        hid_t dataset = H5Dopen2(file, "uid", H5P_DEFAULT);
        hid_t space = H5Dget_space(dataset);
        hssize_t points = H5Sget_simple_extent_npoints(space);
        isGood = H5Aread(attribute, H5T_NATIVE_DOUBLE, time) >= 0 && points >= 0;
        *count = (int64_t)points;
        (void)H5Sclose(space);
        (void)H5Dclose(dataset);
        (void)H5Aclose(attribute);
        (void)H5Fclose(file);
    }
    H5E_END_TRY
    return isGood;
}

static void printColumn(FILE* list, const rbColumn* column, const char* frame, int64_t count)
{
    static const char* const numbers[] = {[RB_COLUMN_DOUBLE] = "Float\" Precision=\"8",
                                          [RB_COLUMN_FLOAT] = "Float\" Precision=\"4",
                                          [RB_COLUMN_UINT64] = "UInt\" Precision=\"8"};
    bool isPlace = column == &rbColumns[0];
    char components[16] = "";
    if (column->components > 1) {
        (void)snprintf(components, sizeof components, " %d", column->components);
    }
    if (isPlace) {
        (void)fprintf(list, "<Geometry GeometryType=\"XYZ\">");
    } else {
        // four numbers have no kind of their own
        int n = column->components;
        (void)fprintf(list, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">",
                      column->name,
                      n == 1   ? "Scalar"
                      : n == 3 ? "Vector"
                               : "Matrix");
    }
    (void)fprintf(list,
                  "<DataItem Format=\"HDF\" NumberType=\"%s\" Dimensions=\"%lld%s\">%s:/%s"
                  "</DataItem></%s>\n",
                  numbers[column->type], (long long)count, components, frame, column->name,
                  isPlace ? "Geometry" : "Attribute");
}

static bool printFrame(FILE* list, const char* path)
{
    double time = 0.0;
    int64_t count = 0;
    const char* slash = strrchr(path, '/');
    const char* name = slash != NULL ? slash + 1 : path;
    if (!readFrame(path, &time, &count)) {
        return false;
    }
    (void)fprintf(list,
                  "<Grid Name=\"spheres\" GridType=\"Uniform\">\n<Time Value=\"%.17g\"/>\n"
                  "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%lld\"/>\n",
                  time, (long long)count);
    for (int i = 0; i < RB_COLUMN_COUNT; ++i) {
        printColumn(list, &rbColumns[i], name, count);
    }
    (void)fprintf(list, "</Grid>\n");
    return true;
}

rbStatus rbWriteXdmf(const char* path, const char* const* frames, int count, rbError* error)
{
    FILE* list = fopen(path, "wb");
    RB_REFUSE_IF(list == NULL, RB_STATUS_IO, error, "%.1000s: cannot create it", path);
    (void)fprintf(list, "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n"
                        "<Grid Name=\"frames\" GridType=\"Collection\" "
                        "CollectionType=\"Temporal\">\n");
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        if (!printFrame(list, frames[i])) {
            status = rbError_Set(error, RB_STATUS_IO,
                                 "%.1000s: it is not a frame of spheres in HDF5", frames[i]);
        }
    }
    (void)fprintf(list, "</Grid>\n</Domain>\n</Xdmf>\n");
    bool isBad = ferror(list) != 0;
    isBad = fclose(list) != 0 || isBad;
    if (isBad && status == RB_STATUS_OK) {
        status = rbError_Set(error, RB_STATUS_IO, "%.1000s: cannot write it", path);
    }
    return status;
}

#else

static rbStatus refuse(rbError* error)
{
    return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                       "this program was built without HDF5: install it (Debian: libhdf5-dev) and "
                       "configure with RB_HDF5=ON");
}

rbStatus rbCluster_WriteHdf5(rbCluster* cluster, const char* path, rbError* error)
{
    (void)cluster;
    (void)path;
    return refuse(error);
}

rbStatus rbWriteXdmf(const char* path, const char* const* frames, int count, rbError* error)
{
    (void)path;
    (void)frames;
    (void)count;
    return refuse(error);
}

#endif
