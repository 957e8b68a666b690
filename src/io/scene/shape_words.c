// Shapes as text: see shape_words.h.
#include "io/scene/shape_words.h"

#include "base/core/words.h"
#include "collision/geometry/shape_ops.h"
#include "io/scene/mesh_text.h"
#include "io/scene/nearest_name.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 4096 // characters of a shape: a word, or a path
#define SHOWN 80      // of them in a message
// Error of the squared length of a normalized vector: three roundings of a component.
#define UNIT_ROUNDING (8.0 * DBL_EPSILON)

// Whether a shape is described by numbers, not by a name.
static bool hasNumbers(rbShapeType type)
{
    return rbGetShapeOps(type)->parameters != NULL;
}

// Shapes described by numbers first, then those given by a name.
static const char* getKnownName(int index, const void* context)
{
    (void)context;
    int count = rbShapeType_GetCount();
    for (int pass = 0; pass < 2; ++pass) {
        for (int type = 0; type < count; ++type) {
            if (hasNumbers((rbShapeType)type) == (pass == 0) && index-- == 0) {
                return rbShapeType_Name((rbShapeType)type);
            }
        }
    }
    return "";
}

static void failUnknown(const char* name, rbError* error)
{
    int count = rbShapeType_GetCount();
    const char* nearest = rbFindNearestName(name, getKnownName, count, NULL);
    if (nearest != NULL) {
        (void)rbError_Set(error, RB_STATUS_INVALID, "there is no shape '%.*s'; did you mean %s?",
                          SHOWN, name, nearest);
        return;
    }
    char list[400];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; ++i) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                 getKnownName(i, NULL));
    }
    (void)rbError_Set(error, RB_STATUS_INVALID, "there is no shape '%.*s'; expected one of %s",
                      SHOWN, name, list);
}

// The parameter of a number, and its name in messages: "radius", "edge x".
static const rbParameter* nameNumber(const rbShapeOps* ops, int number, char* text, size_t capacity)
{
    int i = 0;
    while (number >= ops->parameters[i].count) {
        number -= ops->parameters[i++].count;
        RB_ASSERT(i < ops->parameterCount);
    }
    const rbParameter* parameter = &ops->parameters[i];
    const char* word = parameter->word != NULL ? parameter->word : parameter->key;
    static const char* const axes[3] = {" x", " y", " z"};
    (void)snprintf(text, capacity, "%s%s", word, parameter->count == 3 ? axes[number] : "");
    return parameter;
}

// The count of trailing numbers that may be omitted; they are 0 then.
static int countOptional(const rbShapeOps* ops)
{
    int count = 0;
    for (int i = ops->parameterCount - 1; i >= 0 && !ops->parameters[i].isRequired; --i) {
        count += ops->parameters[i].count;
    }
    return count;
}

static void failCount(const rbShapeOps* ops, const char* text, int found, rbError* error)
{
    int count = rbShapeOps_CountNumbers(ops);
    char list[200];
    char ones[2 * RB_PARAMETERS_MAX + 1];
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof list; ++i) {
        char name[40];
        (void)nameNumber(ops, i, name, sizeof name);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", name);
        (void)snprintf(ones + (i > 0 ? 2 * i - 1 : 0), 3, "%s", i > 0 ? ",1" : "1");
    }
    bool isOne = count == 1;
    (void)rbError_Set(error, RB_STATUS_INVALID,
                      "'%.*s' needs %d number%s%s, not %d: %s, such as %s:%s", SHOWN, text, count,
                      isOne ? "" : "s", isOne ? "" : " separated by commas", found, list, ops->name,
                      ops->example != NULL ? ops->example : ones);
}

// Reads comma-separated numbers; false and a message if one is not a number.
static bool readNumbers(const rbShapeOps* ops, const char* text, double* numbers, rbError* error)
{
    int count = rbShapeOps_CountNumbers(ops);
    const char* at = strchr(text, ':');
    int found = 0;
    while (at != NULL) {
        at += 1;
        rbToken token = {at, strcspn(at, ",")};
        double number = 0.0;
        bool isEmpty = found == 0 && token.text[0] == '\0'; // "sphere:"
        if (!isEmpty && !rbToken_ToNumber(token, &number)) {
            (void)rbError_Set(error, RB_STATUS_INVALID,
                              "'%.*s': '%.*s' is not a finite decimal number", SHOWN, text,
                              (int)(token.length < SHOWN ? token.length : SHOWN), token.text);
            return false;
        }
        if (found < count) {
            numbers[found] = number;
        }
        found += !isEmpty;
        at = strchr(at, ',');
    }
    if (found > count || found < count - countOptional(ops)) {
        failCount(ops, text, found, error);
        return false;
    }
    return true;
}

// rbCreatePlane divides by the length; a normal that already has unit length keeps its bits, so
// that a plane survives writing and reading.
static rbGeometry* keepNormal(rbGeometry* geometry, const double* numbers)
{
    rbVec3 normal = {numbers[0], numbers[1], numbers[2]};
    if (fabs(rbLengthSquared(normal) - 1.0) > UNIT_ROUNDING) {
        return geometry;
    }
    geometry->data.plane.normal = normal;
    geometry->data.plane.offset = numbers[3];
    return rbFinishGeometry(geometry);
}

static rbGeometry* makePrimitive(rbShapeType type, const char* text, rbError* error)
{
    const rbShapeOps* ops = rbGetShapeOps(type);
    double numbers[RB_PARAMETERS_MAX] = {0};
    if (!readNumbers(ops, text, numbers, error)) {
        return NULL;
    }
    for (int i = 0; i < rbShapeOps_CountNumbers(ops); ++i) {
        char name[40];
        const rbParameter* parameter = nameNumber(ops, i, name, sizeof name);
        if (parameter->isLowOpen && !(numbers[i] > parameter->low)) {
            (void)rbError_Set(error, RB_STATUS_INVALID,
                              "'%.*s': the %s is %g m; it must be positive", SHOWN, text, name,
                              numbers[i]);
            return NULL;
        }
    }
    rbError reason = {0};
    rbGeometry* geometry = rbCreateGeometryOfType(type, numbers, &reason);
    if (geometry == NULL) {
        (void)rbError_Set(error, reason.status, "'%.*s': %.400s", SHOWN, text, reason.message);
        return NULL;
    }
    return geometry->type == RB_SHAPE_PLANE ? keepNormal(geometry, numbers) : geometry;
}

rbGeometry* rbMakeShapeOfWords(const char* text, size_t length, rbNamedShapeFn* nameFn,
                               void* context, rbError* error)
{
    RB_ASSERT(text != NULL);
    RB_ASSERT(nameFn != NULL);
    char copy[WORD_MAX];
    if (length >= sizeof copy) {
        (void)rbError_Set(error, RB_STATUS_LIMIT,
                          "a shape of %zu characters ('%.20s...'); the limit is %d", length, text,
                          WORD_MAX - 1);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char name[64];
    const char* colon = strchr(copy, ':');
    size_t nameLength = colon != NULL ? (size_t)(colon - copy) : length;
    (void)snprintf(name, sizeof name, "%.*s", (int)(nameLength < 63 ? nameLength : 63), copy);
    rbShapeType type = rbShapeType_Find(name);
    if ((int)type >= rbShapeType_GetCount()) {
        failUnknown(name, error);
        return NULL;
    }
    if (hasNumbers(type)) {
        return makePrimitive(type, copy, error);
    }
    if (colon == NULL || colon[1] == '\0') {
        (void)rbError_Set(error, RB_STATUS_INVALID, "'%s' has no name; use %s:NAME", copy, name);
        return NULL;
    }
    return nameFn(type, colon + 1, context, error);
}

int rbGetShapeNumbers(const rbGeometry* geometry, double numbers[RB_PARAMETERS_MAX])
{
    RB_ASSERT(geometry != NULL);
    bool hasNumbers = rbGetShapeOps(geometry->type)->parameters != NULL;
    return hasNumbers ? rbGeometry_GetNumbers(geometry, numbers) : 0;
}

rbGeometry* rbMakeExactCompound(const rbCompoundChild* children, int count, rbError* error)
{
    rbGeometry* geometry = rbCreateCompound(children, count, error);
    for (int i = 0; geometry != NULL && i < count; ++i) {
        rbQuat q = children[i].transform.q;
        if (fabs(rbDotQuat(q, q) - 1.0) <= UNIT_ROUNDING) {
            geometry->children[i].transform.q = q;
        }
    }
    return geometry != NULL ? rbFinishGeometry(geometry) : NULL;
}
