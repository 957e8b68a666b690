// Wavefront OBJ: vertices "v x y z" and faces "f 1 2/7 -1//3". Groups, normals, texture
// coordinates, materials, points and lines are ignored; free-form curves and surfaces are
// refused.
#include "io/scene/mesh_file.h"
#include "io/scene/mesh_text.h"

#include <stdio.h>

// Keywords that do not affect the shape.
static const char* const passedOver[] = {
    "vt",  "vn",       "vp",       "g",          "o",         "s",      "mg",
    "l",   "p",        "usemtl",   "bevel",      "mtllib",    "usemap", "maplib",
    "lod", "c_interp", "d_interp", "shadow_obj", "trace_obj",
};

typedef struct ObjReader {
    rbTextCursor cursor;
    rbMeshBuilder* builder;
    RB_ARRAY(int) corners; // of the current face
} ObjReader;

static rbStatus failWord(ObjReader* reader, rbToken token, const char* expected)
{
    reader->builder->error->line = reader->cursor.line;
    return rbError_Set(reader->builder->error, RB_STATUS_INVALID, "found \"%.*s\"; expected %s",
                       (int)(token.length < 40 ? token.length : 40), token.text, expected);
}

static rbStatus readVertex(ObjReader* reader)
{
    double v[3];
    for (int i = 0; i < 3; ++i) {
        rbToken token;
        if (!rbText_NextWord(&reader->cursor, &token) || !rbToken_ToNumber(token, &v[i])) {
            return failWord(reader, token, "three finite numbers after \"v\"");
        }
    }
    reader->builder->error->line = reader->cursor.line;
    return rbMeshBuilder_AddVertex(reader->builder, (rbVec3){v[0], v[1], v[2]});
}

static rbStatus readFace(ObjReader* reader)
{
    reader->corners.count = 0;
    rbToken token;
    int line = reader->cursor.line;
    while (rbText_NextWord(&reader->cursor, &token)) {
        rbToken first = token;
        for (size_t i = 0; i < token.length; ++i) {
            if (token.text[i] == '/') {
                first.length = i;
                break;
            }
        }
        int64_t index = 0;
        int count = reader->builder->vertices.count;
        if (!rbToken_ToInteger(first, &index) || index == 0 || index < -count ||
            index > INT32_MAX) {
            return failWord(reader, token,
                            "the number of a vertex, counted from 1, or backward from -1");
        }
        int corner = (int)(index > 0 ? index - 1 : count + index);
        rbArray_Push(reader->corners, corner);
    }
    reader->builder->error->line = line;
    if (reader->corners.count < 3) {
        return rbError_Set(reader->builder->error, RB_STATUS_INVALID,
                           "a face has %d corners; it needs at least 3", reader->corners.count);
    }
    return rbMeshBuilder_AddFace(reader->builder, reader->corners.data, reader->corners.count);
}

static rbStatus readKeyword(ObjReader* reader, rbToken keyword)
{
    RB_ASSERT(keyword.length > 0);
    if (keyword.text[0] == '#') {
        return RB_STATUS_OK;
    }
    if (rbToken_Equals(keyword, "v")) {
        return readVertex(reader);
    }
    if (rbToken_Equals(keyword, "f") || rbToken_Equals(keyword, "fo")) {
        return readFace(reader);
    }
    for (size_t i = 0; i < sizeof passedOver / sizeof passedOver[0]; ++i) {
        if (rbToken_Equals(keyword, passedOver[i])) {
            return RB_STATUS_OK;
        }
    }
    return failWord(reader, keyword, "v, f or another keyword of a polygonal OBJ file");
}

rbStatus rbReadObj(const rbMeshSource* source, rbMeshBuilder* builder)
{
    RB_ASSERT(source->bytes != NULL);
    ObjReader reader = {.cursor = rbMakeTextCursor(source->bytes, source->size),
                        .builder = builder};
    rbStatus status = RB_STATUS_OK;
    while (status == RB_STATUS_OK && reader.cursor.at < reader.cursor.end) {
        rbToken keyword;
        if (rbText_NextWord(&reader.cursor, &keyword)) {
            status = readKeyword(&reader, keyword);
        }
        rbText_SkipLine(&reader.cursor);
    }
    if (status == RB_STATUS_OK) {
        builder->error->line = 0;
    }
    rbArray_Free(reader.corners);
    return status;
}
