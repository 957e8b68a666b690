// Binary trees of boxes: "trees" makes the bodies and joints of all levels.
//
// A level is one body with copies, so that names are branch0, branch1[0], branch1[1], branch2[0],
// ...; the JSON of a level is made here and read like any other body.
#include "base/math/elementary.h"
#include "base/math/quaternion.h"
#include "io/scene/scene_joints.h"

#include <stdio.h>
#include <string.h>

// ----------------------------------------------------------------------------------------- poses

// Length of the boxes of a level; the leaves are the shortest if the ratio exceeds 1.
static double getLength(const rbSceneTree* tree, int level)
{
    double length = tree->length;
    for (int i = level + 1; i < tree->depth; ++i) {
        length *= tree->ratio;
    }
    return length;
}

static rbQuat rotateAboutZ(double angle)
{
    double s = 0.0;
    double c = 1.0;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbQuat){c, 0.0, 0.0, s};
}

static rbQuat rotateAboutY(double angle)
{
    double s = 0.0;
    double c = 1.0;
    rbSinCos(0.5 * angle, &s, &c);
    return (rbQuat){c, 0.0, s, 0.0};
}

rbTransform rbSceneTree_GetTransform(const rbSceneTree* tree, int level, int copy)
{
    RB_ASSERT(level >= 0 && level < tree->depth);
    RB_ASSERT(copy >= 0 && copy < 1 << level);
    rbVec3 start = tree->start;
    rbQuat q = tree->orientation;
    for (int i = 0; i < level; ++i) {
        // Down one level: the bits of the copy give the branches, highest first.
        bool isUpper = (copy >> (level - 1 - i) & 1) != 0;
        start = rbAddScaled(start, getLength(tree, i), rbRotate(q, (rbVec3){0.0, 0.0, 1.0}));
        q = rbMulQuat(q, rotateAboutZ(tree->turn));
        q = rbMulQuat(q, rotateAboutY(isUpper ? 0.5 * tree->angle : -0.5 * tree->angle));
        q = rbNormalizeQuat(q);
    }
    rbVec3 axis = rbRotate(q, (rbVec3){0.0, 0.0, 1.0});
    return (rbTransform){rbAddScaled(start, 0.5 * getLength(tree, level), axis), q};
}

// The frame with z along a direction and x toward a side.
static rbStatus makeFrame(rbReader* reader, rbVec3 direction, rbVec3 side, rbQuat* q)
{
    double d = fmax(fabs(direction.x), fmax(fabs(direction.y), fabs(direction.z)));
    double s = fmax(fabs(side.x), fmax(fabs(side.y), fabs(side.z)));
    rbVec3 y = {0.0, 0.0, 0.0};
    if (d > 0.0 && s > 0.0) {
        direction = rbNormalize(rbScale(1.0 / d, direction));
        y = rbCross(direction, rbNormalize(rbScale(1.0 / s, side)));
    }
    if (rbLength(y) < 1e-6) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"direction\" and \"side\" must be different directions, neither of "
                             "them zero");
    }
    y = rbNormalize(y);
    *q = rbQuat_FromMat((rbMat3){rbCross(y, direction), y, direction});
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------------- bodies

static json_t* makeBodyJson(const rbTreeFields* fields, const rbSceneTree* tree, int level,
                            const char* name)
{
    json_t* json = json_pack("{s:s, s:[{s:{s:s, s:[f, f, f]}, s:{s:f}}]}", "name", name, "shapes",
                             "geometry", "type", "box", "size", fields->width, fields->width,
                             getLength(tree, level), "material", "density", fields->density);
    if (json != NULL && level > 0) {
        (void)json_object_set_new(
            json, "repeat",
            json_pack("{s:[i, i, i], s:[i, i, i]}", "count", 1 << level, 1, 1, "spacing", 0, 0, 0));
    }
    return json;
}

static rbStatus addLevel(rbScene* scene, rbReader* reader, const rbTreeFields* fields, int level)
{
    const rbSceneTree* tree = &scene->trees.data[scene->trees.count - 1];
    rbReader_SetSubject(reader, "tree", fields->name);
    if (1 << level > RB_SCENE_JOINTS_MAX - scene->info.jointCount) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the scene has too many joints; the limit is %d", RB_SCENE_JOINTS_MAX);
    }
    char name[RB_SCENE_NAME_MAX + 16];
    (void)snprintf(name, sizeof name, "%s%d", fields->name, level);
    int body = 0;
    int copy = 0;
    if (strlen(name) > RB_SCENE_NAME_MAX - 16) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "the name \"%.60s\" is longer than %d bytes",
                             fields->name, RB_SCENE_NAME_MAX - 18);
    }
    if (rbScene_FindBody(scene, name, &body, &copy)) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a level would be named \"%s\", like another body; give the tree "
                             "another name",
                             name);
    }
    json_t* json = makeBodyJson(fields, tree, level, name);
    if (json == NULL) {
        return rbReader_Fail(reader, RB_STATUS_INVALID, "its name is not valid UTF-8");
    }
    if (scene->generated == NULL) {
        scene->generated = json_array();
    }
    (void)json_array_append_new(scene->generated, json);
    rbStatus status = rbReadBody(scene, reader, json, (size_t)level);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbSceneBody* made = &scene->bodies.data[scene->bodies.count - 1];
    if (level == 0) {
        rbTransform transform = rbSceneTree_GetTransform(tree, 0, 0);
        made->position = transform.p;
        made->orientation = transform.q;
    } else {
        made->copyKind = RB_COPY_TREE;
        made->tree = scene->trees.count - 1;
        made->level = level;
    }
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------------- joints

static rbStatus readTreeJoint(rbScene* scene, rbReader* reader, const rbTreeFields* fields,
                              int index, rbSceneJoint* joint)
{
    // The anchors are the ends of the boxes, so none are given.
    static const rbPlaceFields none = {.distance = -1.0};
    rbJointFields own = {.type = "ball", .place = none, .freedom = rbNoFreedom, .cone = INFINITY};
    json_t* withAnchor = fields->joint != NULL ? json_copy((json_t*)fields->joint) : json_object();
    *joint = (rbSceneJoint){.tree = scene->trees.count - 1, .listIndex = index};
    rbReader_Push(reader, "joint");
    rbStatus status = RB_STATUS_OK;
    if (fields->joint != NULL) {
        status = rbReadFields(reader, fields->joint, &rbTreeJointKeys, &own);
    }
    if (status == RB_STATUS_OK) {
        (void)json_object_set_new(withAnchor, "anchor", json_array());
        status = rbReadJointKind(scene, reader, withAnchor, &own, joint);
    }
    json_decref(withAnchor);
    if (status == RB_STATUS_OK &&
        (joint->def.type == RB_JOINT_PARTS || rbNeedsSecondAnchor(joint->def.type))) {
        rbReader_Push(reader, "type");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a joint of type \"%s\" has no single point; use another type",
                             rbJointType_Name(joint->def.type));
    }
    if (status == RB_STATUS_OK) {
        rbReader_Pop(reader);
    }
    return status;
}

static void addTreeJoint(rbScene* scene, const rbSceneJoint* kind, const rbTreeFields* fields,
                         int level, int body)
{
    const rbSceneTree* tree = &scene->trees.data[kind->tree];
    rbSceneJoint joint = *kind;
    (void)snprintf(joint.name, sizeof joint.name, "%.40s-joint%d", fields->name, level);
    joint.grid = (rbSceneGrid){
        .isRepeated = level > 0, .count = {1 << level, 1, 1}, .copyCount = 1 << level};
    joint.ends[1] = (rbSceneEnd){.body = body, .termCount = level > 0 ? 1 : 0};
    if (level > 0) {
        joint.ends[0] = (rbSceneEnd){.body = body - 1, .isParent = true};
        joint.place.anchors[0] =
            (rbSceneVector){RB_VECTOR_LOCAL, {0.0, 0.0, 0.5 * getLength(tree, level - 1)}};
    } else {
        joint.place.anchors[0] = (rbSceneVector){RB_VECTOR_WORLD, tree->start};
    }
    joint.place.anchors[1] =
        (rbSceneVector){RB_VECTOR_LOCAL, {0.0, 0.0, -0.5 * getLength(tree, level)}};
    rbAddJoint(scene, &joint);
}

static rbStatus readTree(rbScene* scene, rbReader* reader, const json_t* json, int index)
{
    char name[24];
    (void)snprintf(name, sizeof name, "tree%d-", index);
    rbTreeFields fields = {.name = name,
                           .parent = "world",
                           .direction = {0.0, 0.0, -1.0},
                           .side = {1.0, 0.0, 0.0},
                           .length = 0.1,
                           .ratio = 1.5,
                           .width = 0.04,
                           .density = 600.0,
                           .angle = 0.5};
    const char* given = json_string_value(json_object_get(json, "name"));
    rbReader_SetSubject(reader, "tree", given != NULL ? given : name);
    rbStatus status = rbReadFields(reader, json, &rbTreeKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbSceneTree tree = {.start = fields.start,
                        .length = fields.length,
                        .ratio = fields.ratio,
                        .angle = fields.angle,
                        .turn = fields.turn,
                        .depth = (int)fields.depth};
    rbSceneEnd parent = {.body = -1};
    status = makeFrame(reader, fields.direction, fields.side, &tree.orientation);
    if (status == RB_STATUS_OK) {
        rbReader_Push(reader, "parent");
        status = rbReadEnd(scene, reader, fields.parent, &parent);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbReader_Pop(reader);
    rbArray_Push(scene->trees, tree);
    rbSceneJoint kind;
    status = readTreeJoint(scene, reader, &fields, index, &kind);
    kind.ends[0] = parent;
    for (int level = 0; level < tree.depth && status == RB_STATUS_OK; ++level) {
        status = addLevel(scene, reader, &fields, level);
        if (status == RB_STATUS_OK) {
            addTreeJoint(scene, &kind, &fields, level, scene->bodies.count - 1);
        }
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbReader_SetSubject(reader, NULL, NULL);
    return rbIndexBodies(scene, reader);
}

rbStatus rbReadTrees(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->trees.count == 0);
    RB_ASSERT(scene->joints.count == 0);
    rbStatus status = rbNeedStepEngine(scene, reader, array, "trees");
    for (size_t i = 0; i < json_array_size(array) && status == RB_STATUS_OK; ++i) {
        rbReader_PushIndex(reader, i);
        status = readTree(scene, reader, json_array_get(array, i), (int)i);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(reader);
        }
    }
    return status;
}
