// Pair files: see pair_file.h.
//
// Words are looked up in a table of texts first: recordings name the same few shapes in millions of
// lines, so each number is parsed and each geometry created only once. A line "hull NAME ..." adds
// "hull:NAME" to it.
#include "pairs/pair_file.h"

#include "base/core/hash.h"
#include "base/core/memory.h"
#include "base/core/words.h"
#include "io/scene/file_bytes.h"
#include "io/scene/mesh_text.h"
#include "io/scene/nearest_name.h"
#include "io/scene/shape_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIRST_SLOTS 64      // initial size of the table, a power of two
#define UNIT_TOLERANCE 1e-6 // of the length of an orientation, as rbMeasureSeparation accepts it
#define SHOWN 60

// A text identified by its content; geometry is NULL for remarks.
typedef struct Entry {
    char* text;
    uint64_t hash;
    rbGeometry* geometry;
    int partCount; // of a compound in all levels, otherwise 1
} Entry;

// Open addressing with linear probing, at most half full.
typedef struct Table {
    RB_ARRAY(Entry) entries;
    int* slots; // index + 1 of an entry, 0: free
    int slotCount;
} Table;

struct rbPairFile {
    RB_ARRAY(rbShapePair) pairs;
    Table shapes;
    Table remarks;
};

typedef struct Parser {
    rbTextCursor cursor;
    rbPairFile* file;
    rbError* error;
    const char* start; // of the text
    const char* word;  // the last one taken, or where one was missing
    int line;          // of it
} Parser;

static int findEntry(const Table* table, const char* text, size_t length, uint64_t hash)
{
    int mask = table->slotCount - 1;
    if (mask < 0) {
        return -1;
    }
    for (int i = (int)(hash & (uint64_t)mask); table->slots[i] != 0; i = (i + 1) & mask) {
        const Entry* entry = &table->entries.data[table->slots[i] - 1];
        if (entry->hash == hash && strlen(entry->text) == length &&
            memcmp(entry->text, text, length) == 0) {
            return table->slots[i] - 1;
        }
    }
    return -1;
}

static void fillSlot(Table* table, int index)
{
    int mask = table->slotCount - 1;
    int i = (int)(table->entries.data[index].hash & (uint64_t)mask);
    while (table->slots[i] != 0) {
        i = (i + 1) & mask;
    }
    table->slots[i] = index + 1;
}

static int addEntry(Table* table, Entry entry)
{
    rbArray_Push(table->entries, entry);
    if (2 * table->entries.count > table->slotCount) {
        rbFree(table->slots, (size_t)table->slotCount * sizeof(int));
        table->slotCount = table->slotCount > 0 ? 2 * table->slotCount : FIRST_SLOTS;
        table->slots = rbAllocZero((size_t)table->slotCount, sizeof(int));
        for (int i = 0; i < table->entries.count; ++i) {
            fillSlot(table, i);
        }
    } else {
        fillSlot(table, table->entries.count - 1);
    }
    return table->entries.count - 1;
}

static void freeTable(Table* table)
{
    for (int i = 0; i < table->entries.count; ++i) {
        rbFreeString(table->entries.data[i].text);
        rbDestroyGeometry(table->entries.data[i].geometry);
    }
    rbArray_Free(table->entries);
    rbFree(table->slots, (size_t)table->slotCount * sizeof(int));
}

static bool nextWord(Parser* parser, rbToken* token)
{
    bool isThere = rbText_NextWord(&parser->cursor, token);
    parser->word = token->text;
    parser->line = parser->cursor.line;
    return isThere;
}

static int shownLength(rbToken token)
{
    return (int)(token.length < SHOWN ? token.length : SHOWN);
}

// Adds the location to an error whose message is already written.
static rbStatus failAt(Parser* parser, rbStatus status)
{
    RB_ASSERT(status != RB_STATUS_OK);
    if (parser->error != NULL) {
        const char* lineStart = parser->word;
        while (lineStart > parser->start && lineStart[-1] != '\n') {
            lineStart -= 1;
        }
        parser->error->line = parser->line;
        parser->error->column = (int)(parser->word - lineStart) + 1;
    }
    return status;
}

static const char* getShapeText(int index, const void* context)
{
    return ((const Table*)context)->entries.data[index].text;
}

// "hull:NAME" that is not in the table.
static rbGeometry* failUndefined(rbShapeType type, const char* name, void* context, rbError* error)
{
    const Table* shapes = context;
    const char* kind = rbShapeType_Name(type);
    if (type != RB_SHAPE_HULL && type != RB_SHAPE_COMPOUND) {
        (void)rbError_Set(error, RB_STATUS_UNSUPPORTED,
                          "a file of pairs holds no %s; give '%.*s' on the command line, or as a "
                          "hull or a compound of hulls here",
                          kind, RB_PAIR_NAME_MAX, name);
        return NULL;
    }
    char wanted[RB_PAIR_NAME_MAX + 16];
    (void)snprintf(wanted, sizeof wanted, "%s:%.*s", kind, RB_PAIR_NAME_MAX, name);
    const char* nearest = rbFindNearestName(wanted, getShapeText, shapes->entries.count, shapes);
    bool isNear = nearest != NULL && strncmp(nearest, kind, strlen(kind)) == 0;
    (void)rbError_Set(error, RB_STATUS_NOT_FOUND, "no line above defines the %s '%.*s'; %s%s%s%s",
                      kind, RB_PAIR_NAME_MAX, name,
                      isNear ? "did you mean " : "define it first: ", isNear ? nearest : kind,
                      isNear                  ? "?"
                      : type == RB_SHAPE_HULL ? " NAME x y z x y z ..."
                                              : " NAME ",
                      isNear || type == RB_SHAPE_HULL ? "" : "SHAPE x y z w x y z ...");
    return NULL;
}

// The index of a shape word, created at its first use.
static rbStatus findShape(Parser* parser, rbToken token, int* index)
{
    Table* shapes = &parser->file->shapes;
    uint64_t hash = rbHashBytes(RB_HASH_SEED, token.text, token.length);
    *index = findEntry(shapes, token.text, token.length, hash);
    if (*index >= 0) {
        return RB_STATUS_OK;
    }
    rbError reason = {0};
    rbGeometry* geometry =
        rbMakeShapeOfWords(token.text, token.length, failUndefined, shapes, &reason);
    if (geometry == NULL) {
        (void)rbError_Set(parser->error, reason.status, "%s", reason.message);
        return failAt(parser, reason.status);
    }
    Entry entry = {rbCopyText(token.text, token.length), hash, geometry, 1};
    *index = addEntry(shapes, entry);
    return RB_STATUS_OK;
}

// Seven numbers: position and orientation. what names the object they place.
static rbStatus readPose(Parser* parser, const char* what, rbTransform* transform)
{
    static const char* const names[7] = {"x", "y", "z", "w", "x", "y", "z"};
    double n[7];
    for (int i = 0; i < 7; ++i) {
        const char* group = i < 3 ? "position" : "orientation";
        rbToken token;
        if (!nextWord(parser, &token)) {
            (void)rbError_Set(parser->error, RB_STATUS_SYNTAX,
                              "the line ends after %d of the 7 numbers of the pose of %s; "
                              "it must have position x y z and orientation w x y z",
                              i, what);
            return failAt(parser, RB_STATUS_SYNTAX);
        }
        if (!rbToken_ToNumber(token, &n[i])) {
            (void)rbError_Set(parser->error, RB_STATUS_INVALID,
                              "the %s %s of %s is '%.*s'; a finite decimal number is needed", group,
                              names[i], what, shownLength(token), token.text);
            return failAt(parser, RB_STATUS_INVALID);
        }
    }
    *transform = (rbTransform){{n[0], n[1], n[2]}, {n[3], n[4], n[5], n[6]}};
    double length = sqrt(rbDotQuat(transform->q, transform->q));
    if (!(fabs(length - 1.0) <= UNIT_TOLERANCE)) {
        (void)rbError_Set(parser->error, RB_STATUS_INVALID,
                          "the orientation of %s is the quaternion (%g, %g, %g, %g) of length %g; "
                          "a unit quaternion w x y z is needed",
                          what, n[3], n[4], n[5], n[6], length);
        return failAt(parser, RB_STATUS_INVALID);
    }
    return RB_STATUS_OK;
}

// The name on a definition line; fills the entry's text and hash.
static rbStatus readName(Parser* parser, const char* kind, Entry* entry)
{
    rbToken token;
    if (!nextWord(parser, &token)) {
        (void)rbError_Set(parser->error, RB_STATUS_SYNTAX, "a %s needs a name", kind);
        return failAt(parser, RB_STATUS_SYNTAX);
    }
    if (token.length > RB_PAIR_NAME_MAX) {
        (void)rbError_Set(parser->error, RB_STATUS_LIMIT,
                          "the name '%.*s...' of a %s has %zu bytes; the limit is %d", 20,
                          token.text, kind, token.length, RB_PAIR_NAME_MAX);
        return failAt(parser, RB_STATUS_LIMIT);
    }
    char text[RB_PAIR_NAME_MAX + 16];
    int length = snprintf(text, sizeof text, "%s:%.*s", kind, (int)token.length, token.text);
    entry->hash = rbHashBytes(RB_HASH_SEED, text, (size_t)length);
    if (findEntry(&parser->file->shapes, text, (size_t)length, entry->hash) >= 0) {
        (void)rbError_Set(parser->error, RB_STATUS_INVALID,
                          "the %s '%.*s' is defined twice; choose another name", kind,
                          (int)token.length, token.text);
        return failAt(parser, RB_STATUS_INVALID);
    }
    entry->text = rbCopyText(text, (size_t)length);
    return RB_STATUS_OK;
}

typedef RB_ARRAY(rbVec3) PointArray;

static rbStatus readPoints(Parser* parser, const char* text, PointArray* points)
{
    rbToken token;
    double n[3];
    int count = 0;
    while (nextWord(parser, &token)) {
        if (!rbToken_ToNumber(token, &n[count % 3])) {
            (void)rbError_Set(parser->error, RB_STATUS_INVALID,
                              "'%s': coordinate %c of point %d is '%.*s'; a finite decimal number "
                              "is needed",
                              text, "xyz"[count % 3], count / 3 + 1, shownLength(token),
                              token.text);
            return failAt(parser, RB_STATUS_INVALID);
        }
        if (count / 3 >= RB_HULL_POINTS_MAX) {
            (void)rbError_Set(parser->error, RB_STATUS_LIMIT,
                              "'%s' has more than %d points, the limit", text, RB_HULL_POINTS_MAX);
            return failAt(parser, RB_STATUS_LIMIT);
        }
        if (++count % 3 == 0) {
            rbVec3 point = {n[0], n[1], n[2]};
            rbArray_Push(*points, point);
        }
    }
    if (count % 3 != 0) {
        (void)rbError_Set(parser->error, RB_STATUS_SYNTAX,
                          "'%s' has %d coordinates; each point needs three", text, count);
        return failAt(parser, RB_STATUS_SYNTAX);
    }
    return RB_STATUS_OK;
}

// Adds the line to the message of an rbCreate function.
static rbStatus adopt(Parser* parser, const char* text, const rbError* reason)
{
    (void)rbError_Set(parser->error, reason->status, "'%s': %.400s", text, reason->message);
    return failAt(parser, reason->status);
}

static rbStatus readHull(Parser* parser, Entry* entry)
{
    PointArray points = {0};
    rbStatus status = readPoints(parser, entry->text, &points);
    if (status == RB_STATUS_OK) {
        rbError reason = {0};
        entry->geometry = rbCreateHull(points.data, points.count, &reason);
        status = entry->geometry != NULL ? RB_STATUS_OK : adopt(parser, entry->text, &reason);
    }
    rbArray_Free(points);
    return status;
}

typedef RB_ARRAY(rbCompoundChild) ChildArray;

static rbStatus readParts(Parser* parser, Entry* entry, ChildArray* children)
{
    rbToken token;
    entry->partCount = 0;
    while (nextWord(parser, &token)) {
        int index = -1;
        char what[SHOWN + 32];
        (void)snprintf(what, sizeof what, "part %d (%.*s)", children->count + 1, shownLength(token),
                       token.text);
        rbCompoundChild child = {0};
        rbStatus status = findShape(parser, token, &index);
        if (status == RB_STATUS_OK) {
            status = readPose(parser, what, &child.transform);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        const Entry* part = &parser->file->shapes.entries.data[index];
        entry->partCount += part->partCount;
        if (entry->partCount > RB_PAIR_PARTS_MAX) {
            (void)rbError_Set(parser->error, RB_STATUS_LIMIT,
                              "'%s' has more than %d parts in all its levels, the most that are "
                              "accepted",
                              entry->text, RB_PAIR_PARTS_MAX);
            return failAt(parser, RB_STATUS_LIMIT);
        }
        child.geometry = part->geometry;
        rbArray_Push(*children, child);
    }
    return RB_STATUS_OK;
}

static rbStatus readCompound(Parser* parser, Entry* entry)
{
    ChildArray children = {0};
    rbStatus status = readParts(parser, entry, &children);
    if (status == RB_STATUS_OK) {
        rbError reason = {0};
        entry->geometry = rbMakeExactCompound(children.data, children.count, &reason);
        status = entry->geometry != NULL ? RB_STATUS_OK : adopt(parser, entry->text, &reason);
    }
    rbArray_Free(children);
    return status;
}

// A line "hull NAME ..." or "compound NAME ...".
static rbStatus readDefinition(Parser* parser, const char* kind,
                               rbStatus (*readFn)(Parser* parser, Entry* entry))
{
    Entry entry = {.partCount = 1};
    rbStatus status = readName(parser, kind, &entry);
    if (status == RB_STATUS_OK) {
        status = readFn(parser, &entry);
    }
    if (status != RB_STATUS_OK) {
        rbFreeString(entry.text);
        return status;
    }
    (void)addEntry(&parser->file->shapes, entry);
    return RB_STATUS_OK;
}

// Severity and remark, which end a line. The remark is the rest of the line, trimmed.
static rbStatus readTail(Parser* parser, rbShapePair* pair)
{
    rbToken token;
    pair->remark = "";
    if (!nextWord(parser, &token)) {
        return RB_STATUS_OK;
    }
    if (rbToken_Equals(token, "inf")) {
        pair->severity = INFINITY;
    } else if (!rbToken_ToNumber(token, &pair->severity)) {
        (void)rbError_Set(parser->error, RB_STATUS_INVALID,
                          "the severity is '%.*s'; it must be a number or inf after the seven "
                          "numbers of the pose; a remark may follow",
                          shownLength(token), token.text);
        return failAt(parser, RB_STATUS_INVALID);
    }
    const char* at = parser->cursor.at;
    const char* newline = memchr(at, '\n', (size_t)(parser->cursor.end - at));
    const char* end = newline != NULL ? newline : parser->cursor.end;
    while (at < end && (unsigned char)*at <= ' ') {
        at += 1;
    }
    while (at < end && (unsigned char)end[-1] <= ' ') {
        end -= 1;
    }
    if (at == end || memchr(at, '\0', (size_t)(end - at)) != NULL) {
        return RB_STATUS_OK;
    }
    Table* remarks = &parser->file->remarks;
    uint64_t hash = rbHashBytes(RB_HASH_SEED, at, (size_t)(end - at));
    int index = findEntry(remarks, at, (size_t)(end - at), hash);
    if (index < 0) {
        index = addEntry(remarks, (Entry){rbCopyText(at, (size_t)(end - at)), hash, NULL, 0});
    }
    pair->remark = remarks->entries.data[index].text;
    return RB_STATUS_OK;
}

static rbStatus readPair(Parser* parser, rbToken first)
{
    rbShapePair pair = {.line = parser->line};
    rbToken second;
    int a = -1;
    int b = -1;
    rbStatus status = findShape(parser, first, &a);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (!nextWord(parser, &second)) {
        (void)rbError_Set(parser->error, RB_STATUS_SYNTAX,
                          "the line has one shape, '%.*s'; a second one and the pose of it in the "
                          "frame of the first are needed",
                          shownLength(first), first.text);
        return failAt(parser, RB_STATUS_SYNTAX);
    }
    status = findShape(parser, second, &b);
    if (status == RB_STATUS_OK) {
        status = readPose(parser, "B", &pair.transformBtoA);
    }
    if (status == RB_STATUS_OK) {
        status = readTail(parser, &pair);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (parser->file->pairs.count == RB_PAIRS_MAX) {
        (void)rbError_Set(parser->error, RB_STATUS_LIMIT,
                          "more than %d pairs, the limit; split the file", RB_PAIRS_MAX);
        return failAt(parser, RB_STATUS_LIMIT);
    }
    const Entry* entries = parser->file->shapes.entries.data;
    pair.a = entries[a].geometry;
    pair.b = entries[b].geometry;
    pair.wordsA = entries[a].text;
    pair.wordsB = entries[b].text;
    rbArray_Push(parser->file->pairs, pair);
    return RB_STATUS_OK;
}

// The first line that is neither empty nor a comment: "rattleback pairs 1".
static rbStatus readHead(Parser* parser, rbToken first)
{
    rbToken second = {0};
    rbToken third = {0};
    int64_t version = 0;
    bool isHead = rbToken_Equals(first, "rattleback") && nextWord(parser, &second) &&
                  rbToken_Equals(second, "pairs") && nextWord(parser, &third) &&
                  rbToken_ToInteger(third, &version);
    if (!isHead) {
        (void)rbError_Set(parser->error, RB_STATUS_SYNTAX,
                          "a pair file must begin with the line 'rattleback pairs %d'",
                          RB_PAIR_FILE_VERSION);
        return failAt(parser, RB_STATUS_SYNTAX);
    }
    if (version != RB_PAIR_FILE_VERSION) {
        (void)rbError_Set(parser->error, RB_STATUS_UNSUPPORTED,
                          "version %.*s of the format; this program reads version %d",
                          shownLength(third), third.text, RB_PAIR_FILE_VERSION);
        return failAt(parser, RB_STATUS_UNSUPPORTED);
    }
    return RB_STATUS_OK;
}

static rbStatus readLines(Parser* parser)
{
    bool hasHead = false;
    rbToken first;
    while (nextWord(parser, &first) || parser->cursor.at < parser->cursor.end) {
        rbStatus status = RB_STATUS_OK;
        if (first.length == 0 || first.text[0] == '#') {
            // an empty line or a comment
        } else if (!hasHead) {
            status = readHead(parser, first);
            hasHead = true;
        } else if (rbToken_Equals(first, "hull")) {
            status = readDefinition(parser, "hull", readHull);
        } else if (rbToken_Equals(first, "compound")) {
            status = readDefinition(parser, "compound", readCompound);
        } else {
            status = readPair(parser, first);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbText_SkipLine(&parser->cursor);
    }
    if (!hasHead) {
        return rbError_Set(parser->error, RB_STATUS_SYNTAX,
                           "the file is empty; a pair file must begin with the line 'rattleback "
                           "pairs %d'",
                           RB_PAIR_FILE_VERSION);
    }
    return RB_STATUS_OK;
}

rbStatus rbReadPairText(const char* name, const char* text, size_t size, rbPairFile** file,
                        rbError* error)
{
    RB_ASSERT(name != NULL);
    RB_ASSERT(text != NULL || size == 0);
    RB_ASSERT(file != NULL);
    text = text != NULL ? text : ""; // an empty file; no sums with NULL
    *file = rbAllocZero(1, sizeof **file);
    Parser parser = {
        .cursor = rbMakeTextCursor(text, size), .file = *file, .error = error, .start = text};
    rbError_SetPlace(error, name, "");
    if (error != NULL) {
        error->line = 0;
        error->column = 0;
    }
    rbStatus status = readLines(&parser);
    if (status != RB_STATUS_OK) {
        rbDestroyPairFile(*file);
        *file = NULL;
    }
    return status;
}

rbStatus rbReadPairFile(const char* path, rbPairFile** file, rbError* error)
{
    RB_ASSERT(path != NULL);
    RB_ASSERT(file != NULL);
    void* bytes = NULL;
    size_t size = 0;
    *file = NULL;
    rbStatus status = rbReadFileBytes(path, RB_PAIR_FILE_SIZE_MAX, &bytes, &size, error);
    if (status == RB_STATUS_OK) {
        status = rbReadPairText(path, bytes, size, file, error);
        rbFree(bytes, size);
    }
    return status;
}

const rbShapePair* rbPairFile_GetPairs(const rbPairFile* file, int* count)
{
    RB_ASSERT(file != NULL);
    RB_ASSERT(count != NULL);
    *count = file->pairs.count;
    return file->pairs.data;
}

int rbPairFile_GetShapeCount(const rbPairFile* file)
{
    RB_ASSERT(file != NULL);
    return file->shapes.entries.count;
}

void rbDestroyPairFile(rbPairFile* file)
{
    if (file != NULL) {
        rbArray_Free(file->pairs);
        freeTable(&file->shapes);
        freeTable(&file->remarks);
        rbFree(file, sizeof *file);
    }
}
