// The types of joints: names, the parts they are stacked from (B-20 to B-25), their freedoms.
#include "base/core/registered_rows.h"
#include "dynamics/joints/part_ops.h"

#include <string.h>

// A type that is a part by itself, and one stacked from two; then its other names and its freedoms.
#define BASIC(type, text, use, ...) \
    [type] = {.name = (text), .partCount = 1, .parts = {type}, .axisUse = (use), __VA_ARGS__}
#define STACK(type, text, first, second, use, ...) \
    [type] = {                                     \
        .name = (text), .partCount = 2, .parts = {first, second}, .axisUse = (use), __VA_ARGS__}
#define KNOWN_AS(...) .aliases = {__VA_ARGS__}
#define LEAVES(count, ...) .freedomCount = (count), .freedoms = {__VA_ARGS__}

static const rbJointTypeRow types[RB_JOINT_COUNT] = {
    BASIC(RB_JOINT_BALL, "ball", RB_AXIS_NONE, KNOWN_AS("spherical")),
    BASIC(RB_JOINT_LINE, "line", RB_AXIS_COMMON, ),
    BASIC(RB_JOINT_PLANE, "plane", RB_AXIS_COMMON, ),
    BASIC(RB_JOINT_DISTANCE, "distance", RB_AXIS_NONE, KNOWN_AS("rod")),
    BASIC(RB_JOINT_LINE_DISTANCE, "line-distance", RB_AXIS_COMMON, ),
    BASIC(RB_JOINT_PLANE_DISTANCE, "plane-distance", RB_AXIS_COMMON, ),
    BASIC(RB_JOINT_TRANSLATION, "translation", RB_AXIS_NONE, ),
    BASIC(RB_JOINT_DIRECTION, "direction", RB_AXIS_COMMON, ),
    BASIC(RB_JOINT_DOUBLE_ROTATION, "double-rotation", RB_AXIS_TWO, ),
    STACK(RB_JOINT_HINGE, "hinge", RB_JOINT_BALL, RB_JOINT_DIRECTION, RB_AXIS_COMMON,
          KNOWN_AS("revolute"), LEAVES(1, RB_FREEDOM_ANGLE)),
    STACK(RB_JOINT_HINGE_POINTS, "hinge-points", RB_JOINT_BALL, RB_JOINT_LINE, RB_AXIS_COMMON,
          LEAVES(1, RB_FREEDOM_ANGLE)),
    STACK(RB_JOINT_CYLINDRICAL, "cylindrical", RB_JOINT_LINE, RB_JOINT_DIRECTION, RB_AXIS_COMMON,
          KNOWN_AS("rail-hinge"), LEAVES(2, RB_FREEDOM_TRAVEL, RB_FREEDOM_ANGLE)),
    STACK(RB_JOINT_PRISMATIC, "prismatic", RB_JOINT_LINE, RB_JOINT_TRANSLATION, RB_AXIS_COMMON,
          KNOWN_AS("rail", "slider"), LEAVES(1, RB_FREEDOM_TRAVEL)),
    STACK(RB_JOINT_UNIVERSAL, "universal", RB_JOINT_BALL, RB_JOINT_DOUBLE_ROTATION, RB_AXIS_TWO,
          KNOWN_AS("cardan"), LEAVES(2, RB_FREEDOM_ANGLE, RB_FREEDOM_ANGLE)),
    STACK(RB_JOINT_FIXED, "fixed", RB_JOINT_BALL, RB_JOINT_TRANSLATION, RB_AXIS_NONE,
          KNOWN_AS("weld", "fixation")),
    [RB_JOINT_PARTS] = {.name = "parts"},
};

RB_DEFINE_TABLE(rbJointType, const rbJointTypeRow* rbJointTypeRow_Get, RB_JOINT_COUNT,
                &types[index])

rbStatus rbRegisterJointType(const rbJointTypeRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_INVALID_IF(row->partCount < 1 || row->partCount > RB_STACK_MAX, error,
                  "the joint \"%s\" has %d parts; 1 to %d are accepted",
                  row->name != NULL ? row->name : "", row->partCount, RB_STACK_MAX);
    return RB_REGISTER_ROW(rbJointType, "joint", row, error);
}

const char* rbJointType_Name(rbJointType type)
{
    return (unsigned)type < (unsigned)rbJointType_GetCount() ? rbJointTypeRow_Get(type)->name
                                                             : "unknown";
}

static bool isNameOf(const rbJointTypeRow* row, const char* name)
{
    bool isFound = strcmp(row->name, name) == 0;
    for (int i = 0; i < (int)(sizeof row->aliases / sizeof row->aliases[0]); ++i) {
        isFound = isFound || (row->aliases[i] != NULL && strcmp(row->aliases[i], name) == 0);
    }
    return isFound;
}

rbJointType rbJointType_Find(const char* name)
{
    RB_ASSERT(name != NULL);
    int type = 0;
    while (type < rbJointType_GetCount() &&
           !isNameOf(rbJointTypeRow_Get((rbJointType)type), name)) {
        ++type;
    }
    return (rbJointType)type;
}

int rbJointType_GetRowCount(rbJointType type)
{
    if ((unsigned)type >= (unsigned)rbJointType_GetCount()) {
        return 0;
    }
    const rbJointTypeRow* row = rbJointTypeRow_Get(type);
    int count = 0;
    for (int i = 0; i < row->partCount; ++i) {
        count += rbPartOps_Get(row->parts[i])->rowCount;
    }
    return count;
}
