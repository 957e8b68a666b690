// Shapes in words: see shape_words.h.
#include "io/scene/shape_words.h"

#include "base/core/words.h"
#include "collision/geometry/shape_ops.h"
#include "io/scene/mesh_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 4096 // characters of a shape: a word, or a path
#define SHOWN 80      // of them in a sentence
// What a normalized vector may miss in the square of its length: three roundings of a component.
#define UNIT_ROUNDING (8.0 * DBL_EPSILON)

typedef rbGeometry* CreateFn(const double* n, rbError* error);
typedef void GetFn(const rbShapeData* data, double* n);

// A shape of numbers.
typedef struct ShapeWord {
    rbShapeType type;
    const char* names[RB_SHAPE_NUMBERS_MAX]; // of the numbers
    int count;
    int optional;    // numbers at the end that may be left out; they are 0 then
    int lengthCount; // of the numbers, the first ones must be positive
    CreateFn* createFn;
    GetFn* getFn;
} ShapeWord;

static rbGeometry* createSphere(const double* n, rbError* error)
{
    return rbCreateSphere(n[0], error);
}

static void getSphere(const rbShapeData* data, double* n)
{
    n[0] = data->sphere.radius;
}

static rbGeometry* createBox(const double* n, rbError* error)
{
    return rbCreateBox((rbVec3){0.5 * n[0], 0.5 * n[1], 0.5 * n[2]}, error);
}

static void getBox(const rbShapeData* data, double* n)
{
    n[0] = 2.0 * data->box.halfExtents.x;
    n[1] = 2.0 * data->box.halfExtents.y;
    n[2] = 2.0 * data->box.halfExtents.z;
}

static rbGeometry* createCapsule(const double* n, rbError* error)
{
    return rbCreateCapsule(n[0], 0.5 * n[1], error);
}

static void getCapsule(const rbShapeData* data, double* n)
{
    n[0] = data->capsule.radius;
    n[1] = 2.0 * data->capsule.halfLength;
}

static rbGeometry* createCylinder(const double* n, rbError* error)
{
    return rbCreateCylinder(n[0], 0.5 * n[1], error);
}

static void getCylinder(const rbShapeData* data, double* n)
{
    n[0] = data->cylinder.radius;
    n[1] = 2.0 * data->cylinder.halfLength;
}

static rbGeometry* createCone(const double* n, rbError* error)
{
    return rbCreateCone(n[0], n[1], error);
}

static void getCone(const rbShapeData* data, double* n)
{
    n[0] = data->cone.radius;
    n[1] = data->cone.height;
}

static rbGeometry* createEllipsoid(const double* n, rbError* error)
{
    return rbCreateEllipsoid((rbVec3){n[0], n[1], n[2]}, error);
}

static void getEllipsoid(const rbShapeData* data, double* n)
{
    n[0] = data->ellipsoid.semiAxes.x;
    n[1] = data->ellipsoid.semiAxes.y;
    n[2] = data->ellipsoid.semiAxes.z;
}

// rbCreatePlane divides by the length; a normal that has unit length already keeps its bits, so
// that a plane which was written comes back.
static rbGeometry* createPlane(const double* n, rbError* error)
{
    rbVec3 normal = {n[0], n[1], n[2]};
    rbGeometry* geometry = rbCreatePlane(normal, n[3], error);
    if (geometry != NULL && fabs(rbLengthSquared(normal) - 1.0) <= UNIT_ROUNDING) {
        geometry->data.plane.normal = normal;
        geometry->data.plane.offset = n[3];
        geometry = rbFinishGeometry(geometry);
    }
    return geometry;
}

static void getPlane(const rbShapeData* data, double* n)
{
    n[0] = data->plane.normal.x;
    n[1] = data->plane.normal.y;
    n[2] = data->plane.normal.z;
    n[3] = data->plane.offset;
}

static const ShapeWord words[] = {
    {RB_SHAPE_SPHERE, {"radius"}, 1, 0, 1, createSphere, getSphere},
    {RB_SHAPE_BOX, {"edge x", "edge y", "edge z"}, 3, 0, 3, createBox, getBox},
    {RB_SHAPE_CAPSULE, {"radius", "length"}, 2, 0, 1, createCapsule, getCapsule},
    {RB_SHAPE_CYLINDER, {"radius", "length"}, 2, 0, 2, createCylinder, getCylinder},
    {RB_SHAPE_CONE, {"radius", "height"}, 2, 0, 2, createCone, getCone},
    {RB_SHAPE_ELLIPSOID,
     {"semi-axis x", "semi-axis y", "semi-axis z"},
     3,
     0,
     3,
     createEllipsoid,
     getEllipsoid},
    {RB_SHAPE_PLANE,
     {"normal x", "normal y", "normal z", "offset"},
     4,
     1,
     0,
     createPlane,
     getPlane},
};
#define WORD_COUNT ((int)(sizeof words / sizeof words[0]))

// Types that are given by a name.
static const rbShapeType namedTypes[] = {RB_SHAPE_HULL, RB_SHAPE_POLYHEDRON, RB_SHAPE_MESH,
                                         RB_SHAPE_SOUP, RB_SHAPE_COMPOUND};
#define NAMED_COUNT ((int)(sizeof namedTypes / sizeof namedTypes[0]))

static const ShapeWord* findWord(rbShapeType type)
{
    for (int i = 0; i < WORD_COUNT; ++i) {
        if (words[i].type == type) {
            return &words[i];
        }
    }
    return NULL;
}

static const char* getKnownName(int index, const void* context)
{
    (void)context;
    return rbShapeType_Name(index < WORD_COUNT ? words[index].type
                                               : namedTypes[index - WORD_COUNT]);
}

static void failUnknown(const char* name, rbError* error)
{
    const char* nearest = rbFindNearestName(name, getKnownName, WORD_COUNT + NAMED_COUNT, NULL);
    if (nearest != NULL) {
        (void)rbError_Set(error, RB_STATUS_INVALID, "there is no shape '%.*s'; did you mean %s?",
                          SHOWN, name, nearest);
        return;
    }
    char list[160];
    size_t used = 0;
    for (int i = 0; i < WORD_COUNT + NAMED_COUNT && used < sizeof list; ++i) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                 getKnownName(i, NULL));
    }
    (void)rbError_Set(error, RB_STATUS_INVALID, "there is no shape '%.*s'; known are %s", SHOWN,
                      name, list);
}

static void failCount(const ShapeWord* word, const char* text, int found, rbError* error)
{
    RB_ASSERT(word->count >= 1);
    RB_ASSERT(word->count <= RB_SHAPE_NUMBERS_MAX);
    char list[96];
    size_t used = 0;
    for (int i = 0; i < word->count && used < sizeof list; ++i) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                 word->names[i]);
    }
    const char* name = rbShapeType_Name(word->type);
    static const char* const examples[RB_SHAPE_NUMBERS_MAX] = {"1", "1,1", "1,1,1", "0,0,1,0"};
    bool isOne = word->count == 1;
    (void)rbError_Set(error, RB_STATUS_INVALID,
                      "'%.*s' needs %d number%s%s, not %d: %s, such as %s:%s", SHOWN, text,
                      word->count, isOne ? "" : "s", isOne ? "" : " separated by commas", found,
                      list, name, examples[word->count - 1]);
}

// Numbers separated by commas; false and a sentence when one is none.
static bool readNumbers(const ShapeWord* word, const char* text, double* numbers, rbError* error)
{
    const char* at = strchr(text, ':');
    int found = 0;
    while (at != NULL) {
        at += 1;
        rbToken token = {at, strcspn(at, ",")};
        double number = 0.0;
        bool isEmpty = found == 0 && token.text[0] == '\0'; // "sphere:"
        if (!isEmpty && !rbToken_ToNumber(token, &number)) {
            (void)rbError_Set(error, RB_STATUS_INVALID,
                              "'%.*s': '%.*s' is no finite decimal number", SHOWN, text,
                              (int)(token.length < SHOWN ? token.length : SHOWN), token.text);
            return false;
        }
        if (found < word->count) {
            numbers[found] = number;
        }
        found += !isEmpty;
        at = strchr(at, ',');
    }
    if (found > word->count || found < word->count - word->optional) {
        failCount(word, text, found, error);
        return false;
    }
    return true;
}

static rbGeometry* makePrimitive(const ShapeWord* word, const char* text, rbError* error)
{
    double numbers[RB_SHAPE_NUMBERS_MAX] = {0};
    if (!readNumbers(word, text, numbers, error)) {
        return NULL;
    }
    for (int i = 0; i < word->lengthCount; ++i) {
        if (!(numbers[i] > 0.0)) {
            (void)rbError_Set(error, RB_STATUS_INVALID,
                              "'%.*s': the %s is %g m; a positive length is needed", SHOWN, text,
                              word->names[i], numbers[i]);
            return NULL;
        }
    }
    rbError reason = {0};
    rbGeometry* geometry = word->createFn(numbers, &reason);
    if (geometry == NULL) {
        (void)rbError_Set(error, reason.status, "'%.*s': %.400s", SHOWN, text, reason.message);
    }
    return geometry;
}

rbGeometry* rbMakeShapeOfWords(const char* text, size_t length, rbNamedShapeFn* nameFn,
                               void* context, rbError* error)
{
    RB_ASSERT(text != NULL);
    RB_ASSERT(nameFn != NULL);
    char copy[WORD_MAX];
    if (length >= sizeof copy) {
        (void)rbError_Set(error, RB_STATUS_LIMIT,
                          "a shape of %zu characters ('%.20s...'); at most %d are accepted", length,
                          text, WORD_MAX - 1);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char name[64];
    const char* colon = strchr(copy, ':');
    size_t nameLength = colon != NULL ? (size_t)(colon - copy) : length;
    (void)snprintf(name, sizeof name, "%.*s", (int)(nameLength < 63 ? nameLength : 63), copy);
    rbShapeType type = rbShapeType_Find(name);
    for (int i = 0; i < NAMED_COUNT; ++i) {
        if (namedTypes[i] == type && (colon == NULL || colon[1] == '\0')) {
            (void)rbError_Set(error, RB_STATUS_INVALID, "'%s' has no name: %s:NAME is needed", copy,
                              name);
            return NULL;
        }
        if (namedTypes[i] == type) {
            return nameFn(type, colon + 1, context, error);
        }
    }
    const ShapeWord* word = findWord(type);
    if (word == NULL) {
        failUnknown(name, error);
        return NULL;
    }
    return makePrimitive(word, copy, error);
}

int rbGetShapeNumbers(const rbGeometry* geometry, double numbers[RB_SHAPE_NUMBERS_MAX])
{
    RB_ASSERT(geometry != NULL);
    const ShapeWord* word = findWord(rbGeometry_GetType(geometry));
    if (word == NULL) {
        return 0;
    }
    rbShapeData data = rbGeometry_GetData(geometry);
    word->getFn(&data, numbers);
    return word->count;
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
