// PLY 1.0: ascii, binary_little_endian and binary_big_endian. Reads the properties x, y, z of the
// element "vertex" and the list vertex_indices or vertex_index of the element "face"; all others
// are ignored.
#include "io/scene/byte_order.h"
#include "io/scene/mesh_file.h"
#include "io/scene/mesh_text.h"

#include <stdio.h>
#include <string.h>

#define ELEMENTS_MAX 16
#define PROPERTIES_MAX 64

typedef enum TypeClass {
    CLASS_SIGNED,
    CLASS_UNSIGNED,
    CLASS_FLOAT
} TypeClass;

typedef struct ScalarType {
    const char* name;
    const char* otherName;
    TypeClass typeClass;
    int size;
} ScalarType;

static const ScalarType scalarTypes[] = {
    {"char", "int8", CLASS_SIGNED, 1},    {"uchar", "uint8", CLASS_UNSIGNED, 1},
    {"short", "int16", CLASS_SIGNED, 2},  {"ushort", "uint16", CLASS_UNSIGNED, 2},
    {"int", "int32", CLASS_SIGNED, 4},    {"uint", "uint32", CLASS_UNSIGNED, 4},
    {"float", "float32", CLASS_FLOAT, 4}, {"double", "float64", CLASS_FLOAT, 8},
};

typedef struct Property {
    const ScalarType* type;
    const ScalarType* countType; // of lists, else NULL
    int axis;                    // 0, 1, 2: a coordinate; -1: another
    bool isIndices;
} Property;

typedef struct Element {
    int64_t count;
    int propertyCount;
    bool isVertex, isFace;
    Property properties[PROPERTIES_MAX];
} Element;

typedef struct PlyReader {
    rbTextCursor cursor;
    rbMeshBuilder* builder;
    bool isText, isBigEndian;
    int elementCount;
    Element elements[ELEMENTS_MAX];
    RB_ARRAY(int) corners;
} PlyReader;

static rbStatus fail(PlyReader* reader, const char* sentence)
{
    reader->builder->error->line = reader->isText ? reader->cursor.line : 0;
    return rbError_Set(reader->builder->error, RB_STATUS_INVALID, "%s", sentence);
}

static const ScalarType* findScalarType(rbToken token)
{
    for (size_t i = 0; i < sizeof scalarTypes / sizeof scalarTypes[0]; ++i) {
        if (rbToken_Equals(token, scalarTypes[i].name) ||
            rbToken_Equals(token, scalarTypes[i].otherName)) {
            return &scalarTypes[i];
        }
    }
    return NULL;
}

static rbStatus readFormat(PlyReader* reader)
{
    rbToken format = {0};
    rbToken version = {0};
    (void)rbText_NextWord(&reader->cursor, &format);
    (void)rbText_NextWord(&reader->cursor, &version);
    reader->isText = rbToken_Equals(format, "ascii");
    reader->isBigEndian = rbToken_Equals(format, "binary_big_endian");
    bool isKnown =
        reader->isText || reader->isBigEndian || rbToken_Equals(format, "binary_little_endian");
    if (!isKnown || !rbToken_Equals(version, "1.0")) {
        return fail(reader, "unknown format; expected ascii, binary_little_endian or "
                            "binary_big_endian and the version 1.0");
    }
    return RB_STATUS_OK;
}

static rbStatus readElement(PlyReader* reader)
{
    if (reader->elementCount == ELEMENTS_MAX) {
        return fail(reader, "more than 16 elements in the header");
    }
    rbToken name = {0};
    rbToken count = {0};
    Element* element = &reader->elements[reader->elementCount];
    *element = (Element){0};
    (void)rbText_NextWord(&reader->cursor, &name);
    if (!rbText_NextWord(&reader->cursor, &count) || !rbToken_ToInteger(count, &element->count) ||
        element->count < 0) {
        return fail(reader, "an element needs a name and a nonnegative count");
    }
    element->isVertex = rbToken_Equals(name, "vertex");
    element->isFace = rbToken_Equals(name, "face");
    int64_t most = element->isVertex ? RB_MESH_VERTICES_MAX : RB_MESH_ELEMENTS_MAX;
    if (element->count > most) {
        reader->builder->error->line = reader->cursor.line;
        return rbError_Set(reader->builder->error, RB_STATUS_LIMIT,
                           "the element \"%.*s\" has the count %lld; the limit is %lld",
                           (int)(name.length < 40 ? name.length : 40), name.text,
                           (long long)element->count, (long long)most);
    }
    reader->elementCount += 1;
    return RB_STATUS_OK;
}

static rbStatus readProperty(PlyReader* reader)
{
    if (reader->elementCount == 0) {
        return fail(reader, "a property before the first element");
    }
    Element* element = &reader->elements[reader->elementCount - 1];
    if (element->propertyCount == PROPERTIES_MAX) {
        return fail(reader, "more than 64 properties of one element");
    }
    Property property = {.axis = -1};
    rbToken token = {0};
    (void)rbText_NextWord(&reader->cursor, &token);
    if (rbToken_Equals(token, "list")) {
        (void)rbText_NextWord(&reader->cursor, &token);
        property.countType = findScalarType(token);
        if (property.countType == NULL || property.countType->typeClass == CLASS_FLOAT) {
            return fail(reader, "the count of a list needs an integer type, such as uchar");
        }
        (void)rbText_NextWord(&reader->cursor, &token);
    }
    property.type = findScalarType(token);
    if (property.type == NULL || !rbText_NextWord(&reader->cursor, &token)) {
        return fail(reader, "a property needs a type, such as float or uchar, and a name");
    }
    static const char* const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis) {
        if (element->isVertex && property.countType == NULL && rbToken_Equals(token, axes[axis])) {
            property.axis = axis;
        }
    }
    property.isIndices =
        element->isFace && property.countType != NULL &&
        (rbToken_Equals(token, "vertex_indices") || rbToken_Equals(token, "vertex_index"));
    element->properties[element->propertyCount++] = property;
    return RB_STATUS_OK;
}

static rbStatus readHeader(PlyReader* reader)
{
    rbToken token = {0};
    reader->isText = true; // the header is text, and its errors have lines
    if (!rbText_NextWord(&reader->cursor, &token) || !rbToken_Equals(token, "ply")) {
        return fail(reader, "is not PLY: the first line is not \"ply\"");
    }
    rbText_SkipLine(&reader->cursor);
    bool hasFormat = false;
    bool isText = true;
    for (;;) {
        rbStatus status = RB_STATUS_OK;
        if (!rbText_NextToken(&reader->cursor, &token)) {
            return fail(reader, "the file ends inside its header; \"end_header\" is missing");
        }
        if (rbToken_Equals(token, "format")) {
            status = readFormat(reader);
            hasFormat = true;
            isText = reader->isText;
            reader->isText = true;
        } else if (rbToken_Equals(token, "element")) {
            status = readElement(reader);
        } else if (rbToken_Equals(token, "property")) {
            status = readProperty(reader);
        } else if (rbToken_Equals(token, "end_header")) {
            rbText_SkipLine(&reader->cursor);
            reader->isText = isText;
            return hasFormat ? RB_STATUS_OK : fail(reader, "the header has no line \"format\"");
        } else if (!rbToken_Equals(token, "comment") && !rbToken_Equals(token, "obj_info")) {
            return fail(reader, "unknown word in the header; expected format, element, property, "
                                "comment, obj_info or end_header");
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbText_SkipLine(&reader->cursor);
    }
}

// Reads the next number after the header, text or binary.
static rbStatus readScalar(PlyReader* reader, const ScalarType* type, double* value)
{
    RB_ASSERT(type != NULL);
    if (reader->isText) {
        rbToken token = {0};
        if (!rbText_NextToken(&reader->cursor, &token)) {
            return fail(reader, "the file ends before all elements of the header are read");
        }
        return rbToken_ToNumber(token, value) ? RB_STATUS_OK
                                              : fail(reader, "a value is not a finite number");
    }
    if (reader->cursor.end - reader->cursor.at < type->size) {
        return fail(reader, "the file ends before all elements of the header are read");
    }
    const unsigned char* bytes = (const unsigned char*)reader->cursor.at;
    reader->cursor.at += type->size;
    if (type->typeClass == CLASS_FLOAT) {
        *value = type->size == 4 ? rbGetFloat(bytes, reader->isBigEndian)
                                 : rbGetDouble(bytes, reader->isBigEndian);
        return RB_STATUS_OK;
    }
    uint64_t bits = rbGetUnsigned(bytes, type->size, reader->isBigEndian);
    uint64_t signBit = (uint64_t)1 << (8 * type->size - 1);
    bool isNegative = type->typeClass == CLASS_SIGNED && (bits & signBit) != 0;
    *value = (double)bits - (isNegative ? 2.0 * (double)signBit : 0.0);
    return RB_STATUS_OK;
}

static rbStatus readList(PlyReader* reader, const Property* property)
{
    RB_ASSERT(property->countType != NULL);
    double count = 0.0;
    rbStatus status = readScalar(reader, property->countType, &count);
    if (status != RB_STATUS_OK) {
        return status;
    }
    // A value takes at least one byte, so the rest of the file bounds the count.
    if (!(count >= 0.0) || count > (double)(reader->cursor.end - reader->cursor.at)) {
        return fail(reader, "the count of a list is negative or larger than the rest of the file");
    }
    reader->corners.count = 0;
    for (int64_t i = 0; i < (int64_t)count; ++i) {
        double value = 0.0;
        status = readScalar(reader, property->type, &value);
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (property->isIndices) {
            if (!(value >= 0.0 && value < (double)RB_MESH_VERTICES_MAX) || floor(value) != value) {
                return fail(reader, "a vertex index is negative, too large or not an integer");
            }
            rbArray_Push(reader->corners, (int)value);
        }
    }
    if (property->isIndices) {
        return rbMeshBuilder_AddFace(reader->builder, reader->corners.data, reader->corners.count);
    }
    return RB_STATUS_OK;
}

static rbStatus readRow(PlyReader* reader, const Element* element)
{
    double position[3] = {0.0, 0.0, 0.0};
    for (int p = 0; p < element->propertyCount; ++p) {
        const Property* property = &element->properties[p];
        double value = 0.0;
        rbStatus status = property->countType != NULL ? readList(reader, property)
                                                      : readScalar(reader, property->type, &value);
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (property->axis >= 0) {
            position[property->axis] = value;
        }
    }
    if (!element->isVertex) {
        return RB_STATUS_OK;
    }
    return rbMeshBuilder_AddVertex(reader->builder,
                                   (rbVec3){position[0], position[1], position[2]});
}

// A vertex needs its three coordinates, a face its list.
static rbStatus validateHeader(PlyReader* reader)
{
    for (int e = 0; e < reader->elementCount; ++e) {
        const Element* element = &reader->elements[e];
        int axes = 0;
        int lists = 0;
        for (int p = 0; p < element->propertyCount; ++p) {
            axes |= element->properties[p].axis >= 0 ? 1 << element->properties[p].axis : 0;
            lists += element->properties[p].isIndices;
        }
        if (element->isVertex && axes != 7) {
            return fail(reader, "the element \"vertex\" needs the properties x, y and z");
        }
        if (element->isFace && lists != 1) {
            return fail(reader, "the element \"face\" needs one list vertex_indices");
        }
        if (element->propertyCount == 0 && element->count > 0) {
            return fail(reader, "an element has rows but no properties");
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbReadPly(const rbMeshSource* source, rbMeshBuilder* builder)
{
    RB_ASSERT(source->bytes != NULL);
    PlyReader reader = {.cursor = rbMakeTextCursor(source->bytes, source->size),
                        .builder = builder};
    rbStatus status = readHeader(&reader);
    if (status == RB_STATUS_OK) {
        status = validateHeader(&reader);
    }
    for (int e = 0; e < reader.elementCount && status == RB_STATUS_OK; ++e) {
        for (int64_t i = 0; i < reader.elements[e].count && status == RB_STATUS_OK; ++i) {
            status = readRow(&reader, &reader.elements[e]);
        }
    }
    rbArray_Free(reader.corners);
    return status;
}
