// VTK files: one XML PolyData file per frame, and a collection file with their times.
//
// Arrays are inline base64: a third larger than raw appended data, but the files stay
// well-formed XML that every tool can read. Each array is one base64 text of its length in bytes
// (UInt64) and its values, little-endian.
#include "base/core/memory.h"
#include "io/output/bytes.h"
#include "io/output/continuation.h"
#include "io/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_LENGTH 200
#define FILE_PATH_SIZE (RB_OUTPUT_PATH_MAX + NAME_MAX_LENGTH + 32)
#define FRAMES_MAX 1000000000 // in a checkpoint

typedef struct VtkVertex {
    int body;
    rbVec3 point; // body frame
} VtkVertex;

typedef struct VtkTriangle {
    int body;
    int vertices[3]; // in the array of all vertices
} VtkTriangle;

struct rbVtk {
    char directory[RB_OUTPUT_PATH_MAX];
    char name[NAME_MAX_LENGTH + 1];
    int bodyCountMin; // one more than the largest body index
    RB_ARRAY(VtkVertex) vertices;
    RB_ARRAY(VtkTriangle) triangles;
    RB_ARRAY(rbVtkPoint) points; // instead of both
    RB_ARRAY(double) times;      // of the complete files
    int syncedCount;             // of these, on disk for sure
    rbOutputFile file;
};

// Streaming base64.
typedef struct Base64 {
    rbOutputFile* file;
    unsigned char pending[3];
    int count;
} Base64;

static void putGroup(Base64* stream)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned word = (unsigned)stream->pending[0] << 16 | (unsigned)stream->pending[1] << 8 |
                    (unsigned)stream->pending[2];
    char text[4] = {digits[word >> 18 & 63], digits[word >> 12 & 63], digits[word >> 6 & 63],
                    digits[word & 63]};
    for (int i = stream->count + 1; i < 4; ++i) {
        text[i] = '=';
    }
    rbOutputFile_Write(stream->file, text, 4);
    memset(stream->pending, 0, sizeof stream->pending);
    stream->count = 0;
}

static void putBytes(Base64* stream, const unsigned char* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        stream->pending[stream->count++] = bytes[i];
        if (stream->count == 3) {
            putGroup(stream);
        }
    }
}

static void putInteger64(Base64* stream, uint64_t value)
{
    unsigned char bytes[8];
    rbPutWord64(bytes, value);
    putBytes(stream, bytes, sizeof bytes);
}

static void putInteger32(Base64* stream, uint32_t value)
{
    unsigned char bytes[4];
    rbPutWord32(bytes, value);
    putBytes(stream, bytes, sizeof bytes);
}

static void putFloat(Base64* stream, double value)
{
    float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    putInteger32(stream, bits);
}

static void putVector(Base64* stream, rbVec3 vector)
{
    putInteger64(stream, rbBitsOfDouble(vector.x));
    putInteger64(stream, rbBitsOfDouble(vector.y));
    putInteger64(stream, rbBitsOfDouble(vector.z));
}

// Opens a DataArray element of byteCount bytes of values.
static Base64 beginArray(rbOutputFile* file, const char* attributes, uint64_t byteCount)
{
    Base64 stream = {.file = file};
    rbOutputFile_Print(file, "<DataArray %s format=\"binary\">", attributes);
    putInteger64(&stream, byteCount);
    return stream;
}

static void endArray(Base64* stream)
{
    if (stream->count > 0) {
        putGroup(stream);
    }
    rbOutputFile_Text(stream->file, "</DataArray>\n");
}

static void writeXmlText(rbOutputFile* file, const char* text)
{
    for (const char* p = text; *p != '\0'; ++p) {
        const char* entity = *p == '&'   ? "&amp;"
                             : *p == '<' ? "&lt;"
                             : *p == '>' ? "&gt;"
                             : *p == '"' ? "&quot;"
                                         : NULL;
        if (entity != NULL) {
            rbOutputFile_Text(file, entity);
        } else {
            rbOutputFile_Write(file, p, 1);
        }
    }
}

static void copyShapes(rbVtk* vtk, const rbVtkShape* shapes, int shapeCount)
{
    for (int i = 0; i < shapeCount; ++i) {
        const rbVtkShape* shape = &shapes[i];
        RB_ASSERT(shape->body >= 0);
        RB_ASSERT(shape->vertices != NULL || shape->vertexCount == 0);
        RB_ASSERT(shape->triangles != NULL || shape->triangleCount == 0);
        int base = vtk->vertices.count;
        vtk->bodyCountMin = shape->body >= vtk->bodyCountMin ? shape->body + 1 : vtk->bodyCountMin;
        for (int j = 0; j < shape->vertexCount; ++j) {
            rbArray_Push(vtk->vertices, ((VtkVertex){shape->body, shape->vertices[j]}));
        }
        for (int j = 0; j < shape->triangleCount; ++j) {
            const int* corner = shape->triangles[j];
            RB_ASSERT(corner[0] >= 0 && corner[0] < shape->vertexCount);
            RB_ASSERT(corner[1] >= 0 && corner[1] < shape->vertexCount);
            RB_ASSERT(corner[2] >= 0 && corner[2] < shape->vertexCount);
            rbArray_Push(vtk->triangles,
                         ((VtkTriangle){shape->body,
                                        {base + corner[0], base + corner[1], base + corner[2]}}));
        }
    }
}

static void freeVtk(rbVtk* vtk)
{
    rbArray_Free(vtk->points);
    rbArray_Free(vtk->vertices);
    rbArray_Free(vtk->triangles);
    rbArray_Free(vtk->times);
    rbFree(vtk, sizeof *vtk);
}

static rbStatus makeDirectory(const char* directory, rbError* error)
{
    struct stat status;
    if (mkdir(directory, 0777) == 0) {
        return RB_STATUS_OK;
    }
    int number = errno;
    if (number == EEXIST && stat(directory, &status) == 0 && S_ISDIR(status.st_mode)) {
        return RB_STATUS_OK;
    }
    rbError_SetPlace(error, directory, "");
    return rbError_Set(error, RB_STATUS_IO, "cannot create the folder '%.200s': %s", directory,
                       number == EEXIST ? "a file of that name exists" : strerror(number));
}

// Whether a name is valid as a file name and in XML.
static bool isGoodName(const char* name)
{
    for (const char* p = name; *p != '\0'; ++p) {
        if ((unsigned char)*p < 0x20 || *p == '/') {
            return false;
        }
    }
    return name[0] != '\0' && strlen(name) <= NAME_MAX_LENGTH;
}

static rbVtk* createVtk(const char* directory, const char* name, rbError* error)
{
    RB_ASSERT(directory != NULL && name != NULL);
    if (!isGoodName(name)) {
        (void)rbError_Set(error, RB_STATUS_INVALID,
                          "'%.100s' is not a valid name for VTK files; use 1 to %d characters "
                          "without slashes or line ends",
                          name, NAME_MAX_LENGTH);
        return NULL;
    }
    // Room for a slash, the name, the frame number and the extension.
    if (strlen(directory) + strlen(name) + 32 > RB_OUTPUT_PATH_MAX) {
        (void)rbError_Set(error, RB_STATUS_IO, "the folder name '%.100s...' is too long",
                          directory);
        return NULL;
    }
    if (makeDirectory(directory, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbVtk* vtk = rbAllocZero(1, sizeof *vtk);
    (void)snprintf(vtk->directory, sizeof vtk->directory, "%s", directory);
    (void)snprintf(vtk->name, sizeof vtk->name, "%s", name);
    return vtk;
}

rbVtk* rbCreateVtk(const char* directory, const char* name, const rbVtkShape* shapes,
                   int shapeCount, rbError* error)
{
    RB_ASSERT(shapeCount >= 0);
    RB_ASSERT(shapes != NULL || shapeCount == 0);
    rbVtk* vtk = createVtk(directory, name, error);
    if (vtk != NULL) {
        copyShapes(vtk, shapes, shapeCount);
    }
    return vtk;
}

rbVtk* rbCreateVtkPoints(const char* directory, const char* name, const rbVtkPoint* points,
                         int pointCount, rbError* error)
{
    RB_ASSERT(pointCount >= 0);
    RB_ASSERT(points != NULL || pointCount == 0);
    rbVtk* vtk = createVtk(directory, name, error);
    for (int i = 0; vtk != NULL && i < pointCount; ++i) {
        RB_ASSERT(points[i].body >= 0);
        int end = points[i].body + 1;
        vtk->bodyCountMin = end > vtk->bodyCountMin ? end : vtk->bodyCountMin;
        rbArray_Push(vtk->points, points[i]);
    }
    return vtk;
}

static void writePoints(rbVtk* vtk, const rbFrame* frame)
{
    rbOutputFile_Text(&vtk->file, "<Points>\n");
    Base64 stream =
        beginArray(&vtk->file, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"",
                   (uint64_t)vtk->vertices.count * 24);
    for (int i = 0; i < vtk->vertices.count; ++i) {
        const VtkVertex* vertex = &vtk->vertices.data[i];
        rbTransform pose = {frame->positions[vertex->body], frame->orientations[vertex->body]};
        putVector(&stream, rbTransformPoint(pose, vertex->point));
    }
    endArray(&stream);
    rbOutputFile_Text(&vtk->file, "</Points>\n<PointData Vectors=\"velocity\">\n");
    stream = beginArray(&vtk->file, "type=\"Float64\" Name=\"velocity\" NumberOfComponents=\"3\"",
                        (uint64_t)vtk->vertices.count * 24);
    for (int i = 0; i < vtk->vertices.count; ++i) {
        const VtkVertex* vertex = &vtk->vertices.data[i];
        rbVec3 arm = rbRotate(frame->orientations[vertex->body], vertex->point);
        putVector(&stream, rbAdd(frame->linearVelocities[vertex->body],
                                 rbCross(frame->angularVelocities[vertex->body], arm)));
    }
    endArray(&stream);
    rbOutputFile_Text(&vtk->file, "</PointData>\n");
}

static void writeTriangles(rbVtk* vtk)
{
    uint64_t count = (uint64_t)vtk->triangles.count;
    rbOutputFile_Text(&vtk->file, "<Polys>\n");
    Base64 stream = beginArray(&vtk->file, "type=\"Int64\" Name=\"connectivity\"", count * 24);
    for (uint64_t i = 0; i < count; ++i) {
        for (int j = 0; j < 3; ++j) {
            putInteger64(&stream, (uint64_t)vtk->triangles.data[i].vertices[j]);
        }
    }
    endArray(&stream);
    stream = beginArray(&vtk->file, "type=\"Int64\" Name=\"offsets\"", count * 8);
    for (uint64_t i = 0; i < count; ++i) {
        putInteger64(&stream, 3 * (i + 1));
    }
    endArray(&stream);
    rbOutputFile_Text(&vtk->file, "</Polys>\n<CellData Scalars=\"body\">\n");
    stream = beginArray(&vtk->file, "type=\"Int32\" Name=\"body\"", count * 4);
    for (uint64_t i = 0; i < count; ++i) {
        putInteger32(&stream, (uint32_t)vtk->triangles.data[i].body);
    }
    endArray(&stream);
    rbOutputFile_Text(&vtk->file, "</CellData>\n");
}

// Where a point is and how it moves.
typedef struct VtkState {
    rbTransform pose; // m
    rbVec3 velocity;  // m/s
} VtkState;

static VtkState moveGlyph(const rbVtkPoint* point, const rbFrame* frame)
{
    rbTransform body = {frame->positions[point->body], frame->orientations[point->body]};
    rbVec3 arm = rbRotate(body.q, point->place.p);
    rbVec3 turn = rbCross(frame->angularVelocities[point->body], arm);
    return (VtkState){rbMulTransforms(body, point->place),
                      rbAdd(frame->linearVelocities[point->body], turn)};
}

// Data of the points besides their places. Each has its number of components.
typedef void PutGlyphFn(Base64* stream, const rbVtkPoint* point, const VtkState* state);

static void putRadius(Base64* stream, const rbVtkPoint* point, const VtkState* state)
{
    (void)state;
    putFloat(stream, point->radius);
}

static void putOrientation(Base64* stream, const rbVtkPoint* point, const VtkState* state)
{
    (void)point;
    putFloat(stream, state->pose.q.w);
    putFloat(stream, state->pose.q.x);
    putFloat(stream, state->pose.q.y);
    putFloat(stream, state->pose.q.z);
}

static void putVelocity(Base64* stream, const rbVtkPoint* point, const VtkState* state)
{
    (void)point;
    putFloat(stream, state->velocity.x);
    putFloat(stream, state->velocity.y);
    putFloat(stream, state->velocity.z);
}

static void putBody(Base64* stream, const rbVtkPoint* point, const VtkState* state)
{
    (void)state;
    putInteger32(stream, (uint32_t)point->body);
}

static const struct {
    const char* attributes;
    int size; // bytes
    PutGlyphFn* put;
} glyphData[] = {
    {"type=\"Float32\" Name=\"radius\"", 4, putRadius},
    {"type=\"Float32\" Name=\"orientation\" NumberOfComponents=\"4\"", 16, putOrientation},
    {"type=\"Float32\" Name=\"velocity\" NumberOfComponents=\"3\"", 12, putVelocity},
    {"type=\"Int32\" Name=\"body\"", 4, putBody},
};

static void writeGlyphs(rbVtk* vtk, const rbFrame* frame)
{
    rbOutputFile* file = &vtk->file;
    uint64_t count = (uint64_t)vtk->points.count;
    rbOutputFile_Text(file, "<Points>\n");
    Base64 stream =
        beginArray(file, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", 24 * count);
    for (uint64_t i = 0; i < count; ++i) {
        putVector(&stream, moveGlyph(&vtk->points.data[i], frame).pose.p);
    }
    endArray(&stream);
    rbOutputFile_Text(file, "</Points>\n<PointData Scalars=\"radius\" Vectors=\"velocity\">\n");
    for (size_t k = 0; k < sizeof glyphData / sizeof glyphData[0]; ++k) {
        stream = beginArray(file, glyphData[k].attributes, (uint64_t)glyphData[k].size * count);
        for (uint64_t i = 0; i < count; ++i) {
            const rbVtkPoint* point = &vtk->points.data[i];
            VtkState state = moveGlyph(point, frame);
            glyphData[k].put(&stream, point, &state);
        }
        endArray(&stream);
    }
    rbOutputFile_Text(file, "</PointData>\n<Verts>\n");
    static const char* const attributes[2] = {"type=\"Int32\" Name=\"connectivity\"",
                                              "type=\"Int32\" Name=\"offsets\""};
    for (uint32_t k = 0; k < 2; ++k) {
        stream = beginArray(file, attributes[k], 4 * count);
        for (uint32_t i = 0; i < count; ++i) {
            putInteger32(&stream, i + k);
        }
        endArray(&stream);
    }
    rbOutputFile_Text(file, "</Verts>\n");
}

static void nameFrame(const rbVtk* vtk, int index, char path[FILE_PATH_SIZE])
{
    (void)snprintf(path, FILE_PATH_SIZE, "%s/%s_%06d.vtp", vtk->directory, vtk->name, index);
}

rbStatus rbVtk_WriteFrame(rbVtk* vtk, const rbFrame* frame, rbError* error)
{
    RB_ASSERT(vtk != NULL && frame != NULL);
    RB_ASSERT(frame->bodyCount >= vtk->bodyCountMin);
    char path[FILE_PATH_SIZE];
    char time[RB_NUMBER_TEXT_SIZE];
    nameFrame(vtk, vtk->times.count, path);
    (void)rbFormatNumber(frame->time, time);
    rbStatus status = rbOutputFile_Open(&vtk->file, path, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbOutputFile_Print(&vtk->file,
                       "<?xml version=\"1.0\"?>\n"
                       "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                       "header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n"
                       "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                       "format=\"ascii\">%s</DataArray>\n</FieldData>\n"
                       "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" "
                       "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n",
                       time, vtk->vertices.count + vtk->points.count, vtk->points.count,
                       vtk->triangles.count);
    if (vtk->points.count > 0) {
        writeGlyphs(vtk, frame);
    } else {
        writePoints(vtk, frame);
        writeTriangles(vtk);
    }
    rbOutputFile_Text(&vtk->file, "</Piece>\n</PolyData>\n</VTKFile>\n");
    status = rbOutputFile_Commit(&vtk->file, error);
    if (status == RB_STATUS_OK) {
        rbArray_Push(vtk->times, frame->time);
    }
    return status;
}

static rbStatus writeCollection(rbVtk* vtk, rbError* error)
{
    char path[FILE_PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s.pvd", vtk->directory, vtk->name);
    rbStatus status = rbOutputFile_Open(&vtk->file, path, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbOutputFile_Text(&vtk->file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" "
                                  "version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int i = 0; i < vtk->times.count; ++i) {
        char time[RB_NUMBER_TEXT_SIZE];
        (void)rbFormatNumber(vtk->times.data[i], time);
        rbOutputFile_Print(&vtk->file, "<DataSet timestep=\"%s\" part=\"0\" file=\"", time);
        writeXmlText(&vtk->file, vtk->name);
        rbOutputFile_Print(&vtk->file, "_%06d.vtp\"/>\n", i);
    }
    rbOutputFile_Text(&vtk->file, "</Collection>\n</VTKFile>\n");
    return rbOutputFile_Commit(&vtk->file, error);
}

static void moveVtk(rbVtk* vtk, rbStateStream* stream)
{
    int count = vtk->times.count;
    rbStateStream_Int(stream, &count, 0, FRAMES_MAX);
    if (!stream->isLoading) {
        rbStateStream_Numbers(stream, vtk->times.data, (size_t)count);
    }
    for (int i = 0; stream->isLoading && i < count && !stream->isBad; ++i) {
        double time = 0.0;
        rbStateStream_Number(stream, &time);
        rbArray_Push(vtk->times, time);
    }
}

rbStatus rbVtk_Save(rbVtk* vtk, rbStateStream* stream, rbError* error)
{
    (void)error;
    char path[FILE_PATH_SIZE] = "";
    for (; vtk->syncedCount < vtk->times.count; ++vtk->syncedCount) {
        nameFrame(vtk, vtk->syncedCount, path);
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor >= 0) {
            (void)fsync(descriptor);
            (void)close(descriptor);
        }
    }
    if (path[0] != '\0') {
        rbSyncFolderOf(path);
    }
    moveVtk(vtk, stream);
    return RB_STATUS_OK;
}

rbStatus rbVtk_Continue(rbVtk* vtk, rbStateStream* stream, rbError* error)
{
    RB_ASSERT(vtk->times.count == 0 && stream->isLoading);
    moveVtk(vtk, stream);
    if (stream->isBad) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the list of VTK files is damaged");
    }
    for (int i = 0; i < vtk->times.count; ++i) {
        char path[FILE_PATH_SIZE];
        struct stat status;
        nameFrame(vtk, i, path);
        if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
            return rbError_Set(error, RB_STATUS_NOT_FOUND,
                               "'%.200s', written before the checkpoint, is missing; put it back, "
                               "or start the run anew without --resume",
                               path);
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbVtk_Finish(rbVtk* vtk, rbError* error)
{
    RB_ASSERT(vtk != NULL);
    rbStatus status = writeCollection(vtk, error);
    freeVtk(vtk);
    return status;
}

void rbVtk_Abandon(rbVtk* vtk)
{
    if (vtk != NULL) {
        freeVtk(vtk);
    }
}
