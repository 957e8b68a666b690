// STL, text and binary. A file is binary if its size matches its triangle count, whatever its first
// word: many programs begin the header of binary files with "solid". Normals are ignored: the order
// of the corners defines the outside.
#include "io/scene/byte_order.h"
#include "io/scene/mesh_file.h"
#include "io/scene/mesh_text.h"

#include <stdio.h>

#define HEADER_SIZE 84
#define TRIANGLE_SIZE 50

static rbStatus addTriangle(rbMeshBuilder* builder, const rbVec3 corners[3])
{
    int first = builder->vertices.count;
    for (int i = 0; i < 3; ++i) {
        rbStatus status = rbMeshBuilder_AddVertex(builder, corners[i]);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    const int indices[3] = {first, first + 1, first + 2};
    return rbMeshBuilder_AddFace(builder, indices, 3);
}

static rbStatus readBinary(const unsigned char* bytes, size_t count, rbMeshBuilder* builder)
{
    for (size_t t = 0; t < count; ++t) {
        const unsigned char* triangle = bytes + HEADER_SIZE + TRIANGLE_SIZE * t;
        rbVec3 corners[3] = {{0.0, 0.0, 0.0}};
        for (size_t i = 0; i < 3; ++i) {
            const unsigned char* corner = triangle + 12 + 12 * i;
            corners[i] = (rbVec3){rbGetFloat(corner, false), rbGetFloat(corner + 4, false),
                                  rbGetFloat(corner + 8, false)};
        }
        rbStatus status = addTriangle(builder, corners);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    return RB_STATUS_OK;
}

static rbStatus failText(rbTextCursor* cursor, rbMeshBuilder* builder, rbToken token,
                         const char* expected)
{
    builder->error->line = cursor->line;
    if (cursor->at == cursor->end && token.length == 0) {
        return rbError_Set(builder->error, RB_STATUS_INVALID,
                           "the file ends where \"%s\" is expected", expected);
    }
    return rbError_Set(builder->error, RB_STATUS_INVALID, "found \"%.*s\"; expected \"%s\"",
                       (int)(token.length < 40 ? token.length : 40), token.text, expected);
}

static rbStatus expectWords(rbTextCursor* cursor, rbMeshBuilder* builder, const char* const* words)
{
    for (; *words != NULL; ++words) {
        rbToken token = {0};
        if (!rbText_NextToken(cursor, &token) || !rbToken_Equals(token, *words)) {
            return failText(cursor, builder, token, *words);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus readThree(rbTextCursor* cursor, rbMeshBuilder* builder, rbVec3* vector)
{
    double v[3] = {0.0};
    for (int i = 0; i < 3; ++i) {
        rbToken token = {0};
        if (!rbText_NextToken(cursor, &token) || !rbToken_ToNumber(token, &v[i])) {
            return failText(cursor, builder, token, "a finite number");
        }
    }
    *vector = (rbVec3){v[0], v[1], v[2]};
    return RB_STATUS_OK;
}

// After "facet": normal x y z outer loop, three vertices, endloop endfacet. Some programs write the
// normals of degenerate triangles as nan, so that line is skipped.
static rbStatus readFacet(rbTextCursor* cursor, rbMeshBuilder* builder)
{
    RB_ASSERT(builder->error != NULL);
    static const char* const before[] = {"outer", "loop", NULL};
    static const char* const vertex[] = {"vertex", NULL};
    static const char* const after[] = {"endloop", "endfacet", NULL};
    rbText_SkipLine(cursor);
    rbStatus status = expectWords(cursor, builder, before);
    rbVec3 corners[3] = {{0.0, 0.0, 0.0}};
    for (int i = 0; i < 3 && status == RB_STATUS_OK; ++i) {
        status = expectWords(cursor, builder, vertex);
        if (status == RB_STATUS_OK) {
            status = readThree(cursor, builder, &corners[i]);
        }
    }
    if (status == RB_STATUS_OK) {
        status = expectWords(cursor, builder, after);
    }
    return status == RB_STATUS_OK ? addTriangle(builder, corners) : status;
}

static rbStatus readText(const rbMeshSource* source, rbMeshBuilder* builder)
{
    rbTextCursor cursor = rbMakeTextCursor(source->bytes, source->size);
    bool isInside = false;
    rbToken token = {0};
    while (rbText_NextToken(&cursor, &token)) {
        rbStatus status = RB_STATUS_OK;
        if (isInside && rbToken_Equals(token, "facet")) {
            status = readFacet(&cursor, builder);
        } else if (rbToken_Equals(token, isInside ? "endsolid" : "solid")) {
            isInside = !isInside;
            rbText_SkipLine(&cursor); // the name
        } else {
            status = failText(&cursor, builder, token, isInside ? "facet or endsolid" : "solid");
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    token.length = 0;
    return isInside ? failText(&cursor, builder, token, "endsolid") : RB_STATUS_OK;
}

rbStatus rbReadStl(const rbMeshSource* source, rbMeshBuilder* builder)
{
    const unsigned char* bytes = source->bytes;
    RB_ASSERT(bytes != NULL);
    size_t count = source->size >= HEADER_SIZE ? (size_t)rbGetUnsigned(bytes + 80, 4, false) : 0;
    if (source->size >= HEADER_SIZE && source->size == HEADER_SIZE + TRIANGLE_SIZE * count) {
        return readBinary(bytes, count, builder);
    }
    rbTextCursor cursor = rbMakeTextCursor(bytes, source->size);
    rbToken first = {0};
    if (rbText_NextToken(&cursor, &first) && rbToken_Equals(first, "solid")) {
        return readText(source, builder);
    }
    return rbError_Set(builder->error, RB_STATUS_INVALID,
                       "is not STL: it does not begin with \"solid\", and as a binary file of %zu "
                       "triangles it would have %zu bytes, not %zu",
                       count, HEADER_SIZE + TRIANGLE_SIZE * count, source->size);
}
