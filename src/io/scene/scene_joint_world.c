// Joints and springs of the world of a scene: anchors and axes are transformed from
// world coordinates to the frames of the bodies in their initial poses.
#include "io/scene/scene_joints.h"

#include <stdio.h>
#include <string.h>

// What the functions below share.
typedef struct LinkMaker {
    const rbScene* scene;
    rbWorld* world;
    const rbBodyId* bodyIds;
    rbError* error;
} LinkMaker;

// The bodies of one copy with their poses.
typedef struct Pair {
    rbBodyId ids[2]; // null: the world
    rbTransform transforms[2];
    rbVec3 offset; // m, of the copy; applied to what is fixed to the world
} Pair;

static Pair findPair(const LinkMaker* maker, const rbSceneEnd ends[2], const rbSceneGrid* grid,
                     int copy)
{
    Pair pair = {.offset = rbSceneGrid_GetOffset(grid, copy)};
    for (int i = 0; i < 2; ++i) {
        int body = -1;
        bool isFound = rbSceneEnd_Find(maker->scene, &ends[i], grid, copy, &body);
        RB_ASSERT(isFound); // validated by the reader
        pair.transforms[i] = RB_TRANSFORM_IDENTITY;
        if (isFound && body >= 0) {
            pair.ids[i] = maker->bodyIds[body];
            pair.transforms[i] = rbBody_GetState(maker->world, pair.ids[i]).transform;
        }
    }
    return pair;
}

// A point in the frames of both bodies.
static void placePoints(const Pair* pair, const rbSceneVector vectors[2], rbVec3 points[2])
{
    for (int i = 0; i < 2; ++i) {
        bool isSame = vectors[i].mode == RB_VECTOR_SAME;
        const rbSceneVector* from = &vectors[isSame ? 1 - i : i];
        const rbTransform* transform = &pair->transforms[isSame ? 1 - i : i];
        bool isFixed = RB_IS_NULL(pair->ids[isSame ? 1 - i : i]);
        rbVec3 v = from->v;
        if (from->mode == RB_VECTOR_ABSENT) {
            points[i] = (rbVec3){0.0, 0.0, 0.0};
            continue;
        }
        if (from->mode == RB_VECTOR_LOCAL && !isFixed && !isSame) {
            points[i] = v;
            continue;
        }
        rbVec3 world = from->mode == RB_VECTOR_LOCAL && !isFixed ? rbTransformPoint(*transform, v)
                                                                 : rbAdd(v, pair->offset);
        points[i] = rbInvTransformPoint(pair->transforms[i], world);
    }
}

// An axis in the frames of both bodies.
static void placeAxes(const Pair* pair, const rbSceneVector vectors[2], rbVec3 axes[2])
{
    for (int i = 0; i < 2; ++i) {
        bool isSame = vectors[i].mode == RB_VECTOR_SAME;
        const rbSceneVector* from = &vectors[isSame ? 1 - i : i];
        if (from->mode == RB_VECTOR_LOCAL && !isSame) {
            axes[i] = from->v;
            continue;
        }
        rbVec3 world =
            from->mode == RB_VECTOR_LOCAL ? rbRotate(pair->transforms[1 - i].q, from->v) : from->v;
        axes[i] = rbInvRotate(pair->transforms[i].q, world);
    }
}

static rbStatus adopt(const LinkMaker* maker, const char* list, int index, const char* name)
{
    rbReader reader = {.error = maker->error, .file = maker->scene->file};
    rbReader_Push(&reader, list);
    rbReader_PushIndex(&reader, (size_t)index);
    // Some messages of the world already name the joint.
    bool isNamed = strncmp(maker->error->message, "joint \"", 7) == 0 ||
                   strncmp(maker->error->message, "spring \"", 8) == 0;
    if (!isNamed) {
        rbReader_SetSubject(&reader, strcmp(list, "springs") == 0 ? "spring" : "joint", name);
    }
    rbStatus status = maker->error->status;
    return rbReader_Adopt(&reader, status != RB_STATUS_OK ? status : RB_STATUS_INVALID, NULL);
}

static rbStatus makeJoint(const LinkMaker* maker, const rbSceneJoint* joint, int copy)
{
    Pair pair = findPair(maker, joint->ends, &joint->grid, copy);
    char name[RB_SCENE_NAME_MAX + 1];
    rbSceneGrid_WriteName(&joint->grid, joint->name, copy, name);
    rbJointDef def = joint->def;
    rbJointPart parts[RB_JOINT_PARTS_MAX];
    rbVec3 points[2];
    rbVec3 axes[2];
    for (int i = 0; i < def.partCount; ++i) {
        placePoints(&pair, joint->partPlaces[i].anchors, points);
        placeAxes(&pair, joint->partPlaces[i].axes, axes);
        parts[i] = joint->parts[i];
        parts[i].anchorA = points[0];
        parts[i].anchorB = points[1];
        parts[i].axisA = axes[0];
        parts[i].axisB = axes[1];
    }
    placePoints(&pair, joint->place.anchors, points);
    placeAxes(&pair, joint->place.axes, axes);
    def.name = name;
    def.bodyA = pair.ids[0];
    def.bodyB = pair.ids[1];
    def.anchorA = points[0];
    def.anchorB = points[1];
    if (joint->place.axes[0].mode != RB_VECTOR_ABSENT) {
        def.axisA = axes[0];
        def.axisB = axes[1];
    }
    def.parts = def.partCount > 0 ? parts : NULL;
    if (RB_IS_NULL(rbCreateJoint(maker->world, &def, maker->error))) {
        return adopt(maker, joint->tree >= 0 ? "trees" : "joints", joint->listIndex, name);
    }
    return RB_STATUS_OK;
}

static rbStatus makeSpring(const LinkMaker* maker, const rbSceneSpring* spring, int index, int copy)
{
    Pair pair = findPair(maker, spring->ends, &spring->grid, copy);
    char name[RB_SCENE_NAME_MAX + 1];
    rbVec3 points[2];
    rbSceneGrid_WriteName(&spring->grid, spring->name, copy, name);
    placePoints(&pair, spring->anchors, points);
    rbSpringDef def = spring->def;
    def.name = name;
    def.bodyA = pair.ids[0];
    def.bodyB = pair.ids[1];
    def.anchorA = points[0];
    def.anchorB = points[1];
    if (RB_IS_NULL(rbCreateSpring(maker->world, &def, maker->error))) {
        return adopt(maker, "springs", index, name);
    }
    return RB_STATUS_OK;
}

rbStatus rbMakeLinks(const rbScene* scene, rbWorld* world, const rbBodyId* bodyIds, rbError* error)
{
    RB_ASSERT(world != NULL);
    LinkMaker maker = {scene, world, bodyIds, error};
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < scene->joints.count; ++i) {
        const rbSceneJoint* joint = &scene->joints.data[i];
        for (int copy = 0; copy < joint->grid.copyCount && status == RB_STATUS_OK; ++copy) {
            status = makeJoint(&maker, joint, copy);
        }
    }
    for (int i = 0; i < scene->springs.count; ++i) {
        const rbSceneSpring* spring = &scene->springs.data[i];
        for (int copy = 0; copy < spring->grid.copyCount && status == RB_STATUS_OK; ++copy) {
            status = makeSpring(&maker, spring, i, copy);
        }
    }
    return status;
}

// ------------------------------------------------------------------------------- refused starts

// The JSON pointer of the joint or spring of a name; false if the scene has none.
static bool findPlace(const rbScene* scene, const char* name, char* place, size_t capacity)
{
    bool isSpring = false;
    int index = 0;
    int copy = 0;
    if (!rbScene_FindLink(scene, name, &isSpring, &index, &copy)) {
        return false;
    }
    rbScene_WriteLinkPlace(scene, isSpring ? -1 - index : index, place, capacity);
    return true;
}

// The world's messages refer to joints by name: the first joint named is the place of the error,
// the others get their places inserted after their names.
static void addPlaces(const rbScene* scene, rbError* error)
{
    static const char mark[] = "joint \"";
    char message[sizeof error->message];
    size_t length = 0;
    bool isFirst = true;
    const char* text = error->message;
    memset(message, 0, sizeof message);
    while (*text != '\0' && length + 1 < sizeof message) {
        const char* start = text + sizeof mark - 1;
        const char* end = strncmp(text, mark, sizeof mark - 1) == 0 ? strchr(start, '"') : NULL;
        if (end == NULL || (size_t)(end - start) > RB_SCENE_NAME_MAX) {
            message[length++] = *text++;
            continue;
        }
        char name[RB_SCENE_NAME_MAX + 1] = "";
        char place[32] = "";
        memcpy(name, start, (size_t)(end - start));
        bool isKnown = findPlace(scene, name, place, sizeof place);
        bool isShown = isKnown && !isFirst;
        int count = snprintf(message + length, sizeof message - length, "joint \"%s\"%s%s%s", name,
                             isShown ? " (" : "", isShown ? place : "", isShown ? ")" : "");
        if (isKnown && isFirst) {
            rbError_SetPlace(error, NULL, place);
        }
        isFirst = isFirst && !isKnown;
        length += count > 0 ? (size_t)count : 0;
        text = end + 1;
    }
    memcpy(error->message, message, sizeof message);
    error->message[sizeof message - 1] = '\0';
}

rbStatus rbScene_PrepareWorld(const rbScene* scene, rbWorld* world, rbError* error)
{
    RB_ASSERT(scene != NULL && world != NULL);
    rbError inner = {0};
    rbStatus status = rbWorld_Prepare(world, &inner);
    if (status == RB_STATUS_OK || error == NULL) {
        return status;
    }
    rbError_SetPlace(&inner, scene->info.file, "");
    inner.line = 0;
    inner.column = 0;
    addPlaces(scene, &inner);
    *error = inner;
    return status;
}
