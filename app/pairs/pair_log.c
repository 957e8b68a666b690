// Writes pair files: see pair_log.h.
//
// A shape becomes text when it is first seen and is recognized by the hash of its content later:
// its address is not enough, because another shape may reuse it. Hulls and compounds are numbered,
// and their lines come before the pairs.
#include "pairs/pair_log.h"

#include "base/core/memory.h"
#include "io/output/output_file.h"
#include "io/scene/file_bytes.h"
#include "io/scene/shape_words.h"
#include "pairs/pair_file.h"

#include <rattleback/output.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64            // of an empty table, a power of two
#define DEFINITIONS_MAX (1 << 30) // bytes; further hulls and compounds are left out

typedef struct LoggedShape {
    uint64_t hash;
    char* words; // "box:1,1,1" or "hull:h1"; NULL if a pair file cannot hold the shape
} LoggedShape;

typedef struct LoggedPair {
    rbTransform transformBtoA;
    double severity;
    char* remark; // NULL: none
    int shapeA;
    int shapeB;
    int number; // in the order of the calls
} LoggedPair;

typedef RB_ARRAY(char) Text;

struct rbPairLog {
    rbOutputFile file;
    RB_ARRAY(LoggedShape) shapes;
    RB_ARRAY(LoggedPair) pairs;
    Text definitions; // lines of hulls and compounds
    int* slots;       // index + 1 of a shape, 0: free; linear probing by the hash
    int slotCount;
    int hullCount;
    int compoundCount;
    long long refusedCount;  // pairs with a shape or a pose that the format does not have
    long long overfullCount; // pairs beyond RB_PAIRS_MAX
    const char* refusedType; // name of a shape that the format does not have; NULL: none
};

rbPairLog* rbOpenPairLog(const char* path, rbError* error)
{
    RB_ASSERT(path != NULL);
    rbPairLog* log = rbAllocZero(1, sizeof *log);
    if (rbOutputFile_Open(&log->file, path, error) != RB_STATUS_OK) {
        rbFree(log, sizeof *log);
        return NULL;
    }
    return log;
}

static void appendText(Text* text, const char* more)
{
    int length = (int)strlen(more);
    (void)rbArray_Reserve(*text, text->count + length);
    memcpy(text->data + text->count, more, (size_t)length);
    text->count += length;
}

static void appendNumber(Text* text, const char* before, double value)
{
    char number[RB_NUMBER_TEXT_SIZE];
    (void)rbFormatNumber(value, number);
    appendText(text, before);
    appendText(text, number);
}

static void appendPose(Text* text, rbTransform transform)
{
    const double n[7] = {transform.p.x, transform.p.y, transform.p.z, transform.q.w,
                         transform.q.x, transform.q.y, transform.q.z};
    for (int i = 0; i < 7; ++i) {
        appendNumber(text, i == 0 || i == 3 ? "  " : " ", n[i]);
    }
}

// ---------------------------------------------------------------------------------------- shapes

static int findShape(const rbPairLog* log, uint64_t hash)
{
    int mask = log->slotCount - 1;
    if (mask < 0) {
        return -1;
    }
    for (int i = (int)(hash & (uint64_t)mask); log->slots[i] != 0; i = (i + 1) & mask) {
        if (log->shapes.data[log->slots[i] - 1].hash == hash) {
            return log->slots[i] - 1;
        }
    }
    return -1;
}

static void fillSlot(rbPairLog* log, int index)
{
    int mask = log->slotCount - 1;
    int i = (int)(log->shapes.data[index].hash & (uint64_t)mask);
    while (log->slots[i] != 0) {
        i = (i + 1) & mask;
    }
    log->slots[i] = index + 1;
}

static int storeShape(rbPairLog* log, uint64_t hash, const Text* words)
{
    LoggedShape shape = {hash, NULL};
    if (words->count > 0) {
        shape.words = rbCopyText(words->data, (size_t)words->count);
    }
    rbArray_Push(log->shapes, shape);
    if (2 * log->shapes.count > log->slotCount) {
        rbFree(log->slots, (size_t)log->slotCount * sizeof(int));
        log->slotCount = log->slotCount > 0 ? 2 * log->slotCount : FIRST_SLOTS;
        log->slots = rbAllocZero((size_t)log->slotCount, sizeof(int));
        for (int i = 0; i < log->shapes.count; ++i) {
            fillSlot(log, i);
        }
    } else {
        fillSlot(log, log->shapes.count - 1);
    }
    return log->shapes.count - 1;
}

static int addShape(rbPairLog* log, const rbGeometry* geometry);

// "box:1,1,1"
static void describePrimitive(rbPairLog* log, const rbGeometry* geometry, Text* words)
{
    (void)log;
    double numbers[RB_PARAMETERS_MAX];
    int count = rbGetShapeNumbers(geometry, numbers);
    if (count > 0) {
        appendText(words, rbShapeType_Name(rbGeometry_GetType(geometry)));
    }
    for (int i = 0; i < count; ++i) {
        appendNumber(words, i == 0 ? ":" : ",", numbers[i]);
    }
}

// Whether the hull of its vertices is the same, bit by bit. It may differ when vertices are about
// as far from a face as the tolerance within which faces are merged (1e-11 of the diameter).
static bool isHullOfItsVertices(const rbGeometry* geometry, const rbMeshDef* mesh)
{
    rbGeometry* again = rbCreateHull(mesh->vertices, mesh->vertexCount, NULL);
    bool isSame = again != NULL && rbGeometry_GetHash(again) == rbGeometry_GetHash(geometry);
    rbDestroyGeometry(again);
    return isSame;
}

// "hull:h1", and a line "hull h1 x y z ..." among the definitions.
static void describeHull(rbPairLog* log, const rbGeometry* geometry, Text* words)
{
    char name[32];
    rbMeshDef mesh;
    bool isMesh = rbGeometry_GetMesh(geometry, &mesh);
    RB_ASSERT(isMesh);
    (void)isMesh;
    (void)snprintf(name, sizeof name, "h%d", ++log->hullCount);
    if (!isHullOfItsVertices(geometry, &mesh)) {
        appendText(&log->definitions, "# ");
        appendText(&log->definitions, name);
        appendText(&log->definitions,
                   " comes back with other faces: vertices within 1e-9 of one\n");
    }
    appendText(&log->definitions, "hull ");
    appendText(&log->definitions, name);
    for (int i = 0; i < mesh.vertexCount; ++i) {
        appendNumber(&log->definitions, "  ", mesh.vertices[i].x);
        appendNumber(&log->definitions, " ", mesh.vertices[i].y);
        appendNumber(&log->definitions, " ", mesh.vertices[i].z);
    }
    appendText(&log->definitions, "\n");
    appendText(words, "hull:");
    appendText(words, name);
}

// "compound:c1"; the lines of its parts come before its own.
static void describeCompound(rbPairLog* log, const rbGeometry* geometry, Text* words)
{
    int count = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &count);
    RB_ASSERT(count > 0);
    Text line = {0};
    bool isKnown = true;
    for (int i = 0; i < count && isKnown; ++i) {
        // Bounded: compounds nest RB_COMPOUND_DEPTH_MAX deep at most.
        int part = addShape(log, children[i].geometry);
        const char* partWords = log->shapes.data[part].words;
        isKnown = partWords != NULL;
        if (isKnown) {
            appendText(&line, "  ");
            appendText(&line, partWords);
            appendPose(&line, children[i].transform);
        }
    }
    if (isKnown) {
        char name[32];
        (void)snprintf(name, sizeof name, "c%d", ++log->compoundCount);
        appendText(&log->definitions, "compound ");
        appendText(&log->definitions, name);
        appendText(&line, "\n");
        rbArray_Push(line, '\0');
        appendText(&log->definitions, line.data);
        appendText(words, "compound:");
        appendText(words, name);
    }
    rbArray_Free(line);
}

typedef void DescribeFn(rbPairLog* log, const rbGeometry* geometry, Text* words);

// Types without a row are primitives, or leave the words empty: a pair file cannot represent them.
static const struct {
    rbShapeType type;
    DescribeFn* describeFn;
} describers[] = {{RB_SHAPE_HULL, describeHull}, {RB_SHAPE_COMPOUND, describeCompound}};

static int addShape(rbPairLog* log, const rbGeometry* geometry)
{
    uint64_t hash = rbGeometry_GetHash(geometry);
    int index = findShape(log, hash);
    if (index >= 0) {
        return index;
    }
    DescribeFn* describeFn = describePrimitive;
    for (size_t i = 0; i < sizeof describers / sizeof describers[0]; ++i) {
        if (describers[i].type == rbGeometry_GetType(geometry)) {
            describeFn = describers[i].describeFn;
        }
    }
    Text words = {0};
    if (log->definitions.count < DEFINITIONS_MAX) {
        describeFn(log, geometry, &words);
    }
    index = storeShape(log, hash, &words);
    rbArray_Free(words);
    if (log->shapes.data[index].words == NULL) {
        log->refusedType = rbShapeType_Name(rbGeometry_GetType(geometry));
    }
    return index;
}

// ----------------------------------------------------------------------------------------- pairs

// A remark on one trimmed line, NULL if nothing is left.
static char* copyRemark(const char* remark)
{
    size_t length = remark != NULL ? strlen(remark) : 0;
    while (length > 0 && (unsigned char)remark[length - 1] <= ' ') {
        length -= 1;
    }
    while (length > 0 && (unsigned char)remark[0] <= ' ') {
        remark += 1;
        length -= 1;
    }
    if (length == 0) {
        return NULL;
    }
    char* copy = rbCopyText(remark, length);
    for (size_t i = 0; i < length; ++i) {
        copy[i] = (char)((unsigned char)copy[i] < ' ' ? ' ' : copy[i]);
    }
    return copy;
}

void rbPairLog_Add(rbPairLog* log, const rbGeometry* a, const rbGeometry* b,
                   rbTransform transformBtoA, double severity, const char* remark)
{
    RB_ASSERT(log != NULL);
    RB_ASSERT(a != NULL);
    RB_ASSERT(b != NULL);
    if (log->pairs.count >= RB_PAIRS_MAX) {
        log->overfullCount += 1;
        return;
    }
    LoggedPair pair = {
        .transformBtoA = transformBtoA,
        .severity = isfinite(severity) ? severity : INFINITY,
        .shapeA = addShape(log, a),
        .shapeB = addShape(log, b),
        .number = log->pairs.count,
    };
    bool isHeld =
        log->shapes.data[pair.shapeA].words != NULL && log->shapes.data[pair.shapeB].words != NULL;
    // the reader would refuse this: one such line would make the whole file unreadable
    double length = sqrt(rbDotQuat(transformBtoA.q, transformBtoA.q));
    if (!isHeld || !rbIsFinite3(transformBtoA.p) || !(fabs(length - 1.0) <= 1e-6)) {
        log->refusedCount += 1;
        return;
    }
    pair.remark = copyRemark(remark);
    rbArray_Push(log->pairs, pair);
}

// Worst first, then in the order of the calls.
static int compareSeverity(const void* a, const void* b)
{
    const LoggedPair* first = a;
    const LoggedPair* second = b;
    if (first->severity != second->severity) {
        return first->severity > second->severity ? -1 : 1;
    }
    return first->number < second->number ? -1 : 1;
}

static void writePair(rbPairLog* log, const LoggedPair* pair, Text* line)
{
    line->count = 0;
    appendText(line, log->shapes.data[pair->shapeA].words);
    appendText(line, " ");
    appendText(line, log->shapes.data[pair->shapeB].words);
    appendPose(line, pair->transformBtoA);
    if (pair->severity != 0.0 || pair->remark != NULL) {
        appendNumber(line, "  ", pair->severity);
    }
    if (pair->remark != NULL) {
        appendText(line, " ");
        appendText(line, pair->remark);
    }
    appendText(line, "\n");
    rbOutputFile_Write(&log->file, line->data, (size_t)line->count);
}

static void writeAll(rbPairLog* log)
{
    rbOutputFile_Print(&log->file,
                       "rattleback pairs %d\n"
                       "# A B, position x y z and orientation w x y z of B in the frame of A,\n"
                       "# severity, remark. See docs/pair-files.md.\n",
                       RB_PAIR_FILE_VERSION);
    if (log->refusedCount > 0 || log->overfullCount > 0) {
        rbOutputFile_Print(&log->file, "# %lld pairs were left out.\n",
                           log->refusedCount + log->overfullCount);
    }
    rbOutputFile_Write(&log->file, log->definitions.data, (size_t)log->definitions.count);
    Text line = {0};
    for (int i = 0; i < log->pairs.count; ++i) {
        writePair(log, &log->pairs.data[i], &line);
    }
    rbArray_Free(line);
}

// The message for pairs that were left out, although the file was written.
static rbStatus reportLeftOut(const rbPairLog* log, rbError* error)
{
    if (log->refusedCount > 0) {
        const char* path = log->file.path;
        rbError_SetPlace(error, path, "");
        bool isShape = log->refusedType != NULL;
        return rbError_Set(error, RB_STATUS_UNSUPPORTED, "%lld of %lld pairs were left out: %s%s%s",
                           log->refusedCount, log->refusedCount + log->pairs.count,
                           isShape ? "a file of pairs cannot hold a "
                                   : "their poses are not finite",
                           isShape ? log->refusedType : "",
                           isShape ? "; use its hull, or a compound of hulls" : "");
    }
    if (log->overfullCount > 0) {
        rbError_SetPlace(error, log->file.path, "");
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "%lld pairs were left out: a file holds at most %d; record fewer steps",
                           log->overfullCount, RB_PAIRS_MAX);
    }
    return RB_STATUS_OK;
}

static void destroyLog(rbPairLog* log)
{
    for (int i = 0; i < log->shapes.count; ++i) {
        rbFreeString(log->shapes.data[i].words);
    }
    for (int i = 0; i < log->pairs.count; ++i) {
        rbFreeString(log->pairs.data[i].remark);
    }
    rbArray_Free(log->shapes);
    rbArray_Free(log->pairs);
    rbArray_Free(log->definitions);
    rbFree(log->slots, (size_t)log->slotCount * sizeof(int));
    rbFree(log, sizeof *log);
}

rbStatus rbPairLog_Close(rbPairLog** log, bool sortBySeverity, rbError* error)
{
    RB_ASSERT(log != NULL);
    rbPairLog* closing = *log;
    *log = NULL;
    if (closing == NULL) {
        return RB_STATUS_OK;
    }
    if (sortBySeverity && closing->pairs.count > 1) {
        qsort(closing->pairs.data, (size_t)closing->pairs.count, sizeof(LoggedPair),
              compareSeverity);
    }
    writeAll(closing);
    rbStatus status = rbOutputFile_Commit(&closing->file, error);
    if (status == RB_STATUS_OK) {
        status = reportLeftOut(closing, error);
    }
    destroyLog(closing);
    return status;
}
