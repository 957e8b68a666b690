// Joints of a scene: a table gives what each type needs; all other keys are errors.
#include "io/scene/scene_joints.h"

#include "dynamics/joints/joint_model.h"
#include "dynamics/joints/part_ops.h"
#include "dynamics/solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PART_TYPE_COUNT (RB_JOINT_DOUBLE_ROTATION + 1) // types allowed for parts

// What the keys of a joint mean for a type.
typedef struct TypeRow {
    bool needsAnchor;
    bool isDistance; // "distance" between two points is held
    int axisCount;   // 0; 1: a common axis; 2: one of A and another of B
    bool hasNeutral; // "orientation" is used
    int freedomCount;
    bool isAngle[RB_JOINT_FREEDOMS_MAX];
} TypeRow;

// From the row of the table of joints. Constraints on angles alone need no point; types that hold
// an orientation, or measure an angle or a travel, have a neutral orientation.
static TypeRow getTypeRow(rbJointType type)
{
    const rbJointTypeRow* joint = rbJointTypeRow_Get(type);
    TypeRow row = {.axisCount = joint->axisUse == RB_AXIS_TWO      ? 2
                                : joint->axisUse == RB_AXIS_COMMON ? 1
                                                                   : 0,
                   .freedomCount = joint->freedomCount,
                   .hasNeutral = joint->freedomCount > 0};
    for (int i = 0; i < joint->partCount; ++i) {
        const rbPartOps* part = rbPartOps_Get(joint->parts[i]);
        row.needsAnchor = row.needsAnchor || part->angleMask == 0;
        row.isDistance = row.isDistance || part->hasDistance;
        row.hasNeutral = row.hasNeutral || joint->parts[i] == RB_JOINT_TRANSLATION;
    }
    for (int i = 0; i < joint->freedomCount; ++i) {
        row.isAngle[i] = joint->freedoms[i] == RB_FREEDOM_ANGLE;
    }
    return row;
}

const rbFreedomFields rbNoFreedom = {.lower = -INFINITY, .upper = INFINITY};

int rbGetFreedomCount(rbJointType type)
{
    RB_ASSERT((int)type < rbJointType_GetCount());
    return getTypeRow(type).freedomCount;
}

bool rbIsFreedomAngle(rbJointType type, int freedom)
{
    RB_ASSERT(freedom >= 0 && freedom < rbGetFreedomCount(type));
    return getTypeRow(type).isAngle[freedom];
}

bool rbNeedsSecondAnchor(rbJointType type)
{
    RB_ASSERT((int)type < rbJointType_GetCount());
    return getTypeRow(type).isDistance;
}

static const char* getTypeWord(int index)
{
    return index < rbJointType_GetCount() ? rbJointType_Name((rbJointType)index) : NULL;
}

static const char* getPartWord(int index)
{
    return index < PART_TYPE_COUNT ? rbJointType_Name((rbJointType)index) : NULL;
}

// Finds a type by its name or by its common engineering name.
static rbStatus readType(rbReader* reader, const char* word, int count, rbJointType* type)
{
    static const rbWords types = {"type of joint", getTypeWord};
    static const rbWords parts = {"type of part", getPartWord};
    *type = rbJointType_Find(word);
    if ((int)*type < count) {
        return RB_STATUS_OK;
    }
    int index = 0;
    rbStatus status =
        rbReadWord(reader, "type", word, count < rbJointType_GetCount() ? &parts : &types, &index);
    *type = (rbJointType)index;
    return status;
}

// ---------------------------------------------------------------------------------------- places

static bool has(const json_t* json, const char* key)
{
    return json_object_get(json, key) != NULL;
}

// A ball joint with limits.
static bool isConed(const json_t* json)
{
    return has(json, "cone") || has(json, "twist");
}

static int countAxes(const json_t* json, rbJointType type)
{
    return type == RB_JOINT_BALL && isConed(json) ? 1 : getTypeRow(type).axisCount;
}

// The world key excludes the local ones.
static rbStatus validateChoice(rbReader* reader, const json_t* json, const char* world,
                               const char* const locals[2])
{
    if (!has(json, world) || (!has(json, locals[0]) && !has(json, locals[1]))) {
        return RB_STATUS_OK;
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "both \"%s\" (world) and \"%s\" or \"%s\" (frames of the bodies) are "
                         "given; give only one kind",
                         world, locals[0], locals[1]);
}

static rbStatus readAnchors(rbReader* reader, const json_t* json, const rbPlaceFields* fields,
                            rbJointType type, const rbSceneEnd ends[2], rbScenePlace* place)
{
    static const char* const locals[2] = {"anchorA", "anchorB"};
    const TypeRow typeRow = getTypeRow(type);
    const TypeRow* row = &typeRow;
    rbStatus status = validateChoice(reader, json, "anchor", locals);
    if (status != RB_STATUS_OK) {
        return status;
    }
    const rbVec3 given[2] = {fields->anchorA, fields->anchorB};
    for (int i = 0; i < 2; ++i) {
        if (has(json, "anchor")) {
            place->anchors[i] = (rbSceneVector){RB_VECTOR_WORLD, fields->anchor};
        } else if (has(json, locals[i])) {
            place->anchors[i] = (rbSceneVector){RB_VECTOR_LOCAL, given[i]};
        } else if (row->isDistance && ends[i].body < 0) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "a joint of type \"%s\" to the world needs \"%s\": [x, y, z], the "
                                 "point of the world",
                                 rbJointType_Name(type), locals[i]);
        } else if (row->isDistance) {
            place->anchors[i] = (rbSceneVector){.mode = RB_VECTOR_LOCAL};
        } else if (has(json, locals[1 - i])) {
            place->anchors[i] = (rbSceneVector){.mode = RB_VECTOR_SAME};
        } else if (row->needsAnchor) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "a joint of type \"%s\" needs \"anchor\": [x, y, z], a point of "
                                 "the world at the start",
                                 rbJointType_Name(type));
        }
    }
    return RB_STATUS_OK;
}

static rbStatus validateAxisKeys(rbReader* reader, const json_t* json, rbJointType type)
{
    static const char* const keys[] = {"axis", "axisA", "axisB", "axes"};
    int axisCount = countAxes(json, type);
    for (int i = 0; i < 4; ++i) {
        bool isForTwo = i == 3;
        bool isForOne = i == 0;
        if (!has(json, keys[i]) || (axisCount == 1 && !isForTwo) || (axisCount == 2 && !isForOne)) {
            continue;
        }
        rbReader_Push(reader, keys[i]);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             axisCount == 0   ? "a joint of type \"%s\" has no axis; remove it"
                             : axisCount == 1 ? "a joint of type \"%s\" has one axis; give \"axis\""
                                              : "a joint of type \"%s\" has two axes; give "
                                                "\"axes\": [[x, y, z], [x, y, z]]",
                             rbJointType_Name(type));
    }
    return RB_STATUS_OK;
}

static rbStatus readAxisPair(rbReader* reader, const json_t* axes, rbVec3 pair[2])
{
    rbReader_Push(reader, "axes");
    if (json_array_size(axes) != 2) {
        char found[96];
        rbDescribeJson(axes, found, sizeof found);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "found %s; expected two directions, [[x, y, z], [x, y, z]]", found);
    }
    for (size_t i = 0; i < 2; ++i) {
        double v[3];
        rbReader_PushIndex(reader, i);
        rbStatus status = rbReadNumbers(reader, json_array_get(axes, i), v, 3, 1e100);
        if (status != RB_STATUS_OK) {
            return status;
        }
        pair[i] = (rbVec3){v[0], v[1], v[2]};
        rbReader_Pop(reader);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus failZeroAxis(rbReader* reader, const char* key)
{
    rbReader_Push(reader, key);
    return rbReader_Fail(reader, RB_STATUS_INVALID, "the axis is zero; give any vector along it");
}

static rbStatus readAxes(rbReader* reader, const json_t* json, const rbPlaceFields* fields,
                         rbJointType type, rbScenePlace* place)
{
    static const char* const locals[2] = {"axisA", "axisB"};
    int axisCount = countAxes(json, type);
    const char* world = axisCount == 2 ? "axes" : "axis";
    rbStatus status = validateAxisKeys(reader, json, type);
    if (status == RB_STATUS_OK) {
        status = validateChoice(reader, json, world, locals);
    }
    if (status != RB_STATUS_OK || axisCount == 0) {
        return status;
    }
    rbVec3 pair[2] = {fields->axis, fields->axis};
    if (axisCount == 2 && fields->axes != NULL) {
        status = readAxisPair(reader, fields->axes, pair);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    const rbVec3 given[2] = {fields->axisA, fields->axisB};
    for (int i = 0; i < 2; ++i) {
        if (has(json, world)) {
            place->axes[i] = (rbSceneVector){RB_VECTOR_WORLD, pair[i]};
        } else if (has(json, locals[i])) {
            place->axes[i] = (rbSceneVector){RB_VECTOR_LOCAL, given[i]};
        } else if (axisCount == 1 && has(json, locals[1 - i])) {
            place->axes[i] = (rbSceneVector){.mode = RB_VECTOR_SAME};
        } else {
            return rbReader_Fail(
                reader, RB_STATUS_INVALID,
                axisCount == 1 ? "a joint of type \"%s\" needs \"axis\": [x, y, z], a direction of "
                                 "the world at the start"
                               : "a joint of type \"%s\" needs \"axes\": [[x, y, z], [x, y, z]], "
                                 "directions of the world at the start, of A and of B",
                rbJointType_Name(type));
        }
        if (place->axes[i].mode != RB_VECTOR_SAME && rbIsZero3(place->axes[i].v)) {
            return failZeroAxis(reader, has(json, world) ? world : locals[i]);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus readPlace(rbReader* reader, const json_t* json, const rbPlaceFields* fields,
                          rbJointType type, const rbSceneEnd ends[2], rbScenePlace* place)
{
    if (has(json, "distance") && !getTypeRow(type).isDistance) {
        rbReader_Push(reader, "distance");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a joint of type \"%s\" does not hold a distance; \"distance\", "
                             "\"line-distance\" and \"plane-distance\" do",
                             rbJointType_Name(type));
    }
    rbStatus status = readAnchors(reader, json, fields, type, ends, place);
    return status == RB_STATUS_OK ? readAxes(reader, json, fields, type, place) : status;
}

// ---------------------------------------------------------------------------------------- motors

static rbStatus readSchedule(rbScene* scene, rbReader* reader, const json_t* array,
                             rbMotorDef* motor)
{
    size_t count = json_array_size(array);
    rbReader_Push(reader, "schedule");
    if (count == 0 || count > RB_SET_POINTS_MAX) {
        return rbReader_Fail(reader, count == 0 ? RB_STATUS_INVALID : RB_STATUS_LIMIT,
                             "%zu set points; expected 1 to %d pairs [time, value]", count,
                             RB_SET_POINTS_MAX);
    }
    rbSetPoint* points = rbArena_Alloc(&scene->strings, count * sizeof *points);
    for (size_t i = 0; i < count; ++i) {
        double v[2];
        rbReader_PushIndex(reader, i);
        rbStatus status =
            rbReadNumbers(reader, json_array_get(array, i), v, 2, RB_SCENE_LENGTH_MAX);
        if (status != RB_STATUS_OK) {
            return status;
        }
        if (i > 0 && v[0] <= points[i - 1].time) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "the time %.10g s follows %.10g s; times must increase", v[0],
                                 points[i - 1].time);
        }
        points[i] = (rbSetPoint){v[0], v[1]};
        rbReader_Pop(reader);
    }
    rbReader_Pop(reader);
    motor->schedule = points;
    motor->scheduleCount = (int)count;
    return RB_STATUS_OK;
}

static rbStatus validateMotor(rbReader* reader, const json_t* json, rbMotorType type)
{
    static const char* const pidKeys[] = {"gain", "integralTime", "derivativeTime", "window"};
    bool isPid = rbMotorType_IsServo(type);
    for (size_t i = 0; i < sizeof pidKeys / sizeof pidKeys[0] && !isPid; ++i) {
        if (has(json, pidKeys[i])) {
            rbReader_Push(reader, pidKeys[i]);
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "a motor of type \"%s\" has no \"%s\"; \"position\" and \"speed\" "
                                 "have it",
                                 rbMotorType_Name(type), pidKeys[i]);
        }
    }
    if (isPid && !has(json, "gain")) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a motor of type \"%s\" needs \"gain\": force or torque per unit of "
                             "error",
                             rbMotorType_Name(type));
    }
    if (has(json, "target") && has(json, "schedule")) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "both \"target\" and \"schedule\" are given; give only one");
    }
    return RB_STATUS_OK;
}

static rbStatus readMotor(rbScene* scene, rbReader* reader, const json_t* json, rbMotorDef* motor)
{
    rbMotorFields fields = {.forceMax = INFINITY};
    rbReader_Push(reader, "motor");
    rbStatus status = rbReadFields(reader, json, &rbMotorKeys, &fields);
    int type = 0;
    if (status == RB_STATUS_OK) {
        status = rbReadWord(reader, "type", fields.type, &rbMotorTypeWords, &type);
    }
    if (status == RB_STATUS_OK) {
        status = validateMotor(reader, json, (rbMotorType)type);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    *motor = (rbMotorDef){.type = (rbMotorType)type,
                          .gain = fields.gain,
                          .integralTime = fields.integralTime,
                          .derivativeTime = fields.derivativeTime,
                          .window = fields.window,
                          .forceMax = fields.forceMax,
                          .target = fields.target};
    if (fields.schedule != NULL) {
        status = readSchedule(scene, reader, fields.schedule, motor);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// -------------------------------------------------------------------------------------- freedoms

static rbStatus readFreedom(rbScene* scene, rbReader* reader, const rbFreedomFields* fields,
                            rbJointDef* def, int index)
{
    rbFreedomDef* freedom = &def->freedoms[index];
    if (fields->lower > fields->upper) {
        rbReader_Push(reader, "lower");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the lower limit %g is above the upper one, %g; swap them",
                             fields->lower, fields->upper);
    }
    def->limits[index] = (rbLimitDef){fields->lower, fields->upper, fields->restitution};
    freedom->stiffness = fields->stiffness;
    freedom->rest = fields->rest;
    freedom->damping = fields->damping;
    freedom->friction = fields->friction;
    return fields->motor != NULL ? readMotor(scene, reader, fields->motor, &freedom->motor)
                                 : RB_STATUS_OK;
}

// The first key of the object that acts along a freedom; NULL if there is none.
static const char* findFreedomKey(const json_t* json)
{
    for (int i = 0; i < rbFreedomKeys.keyCount; ++i) {
        const char* name = rbFreedomKeys.keys[i].name;
        bool isOfCone = isConed(json) && strcmp(name, "restitution") == 0;
        if (has(json, name) && !isOfCone) {
            return name;
        }
    }
    return NULL;
}

// The limits of a ball joint.
static rbStatus readCone(rbReader* reader, const json_t* json, const rbJointFields* fields,
                         rbJointDef* def)
{
    if (!isConed(json)) {
        return RB_STATUS_OK;
    }
    const char* key = has(json, "cone") ? "cone" : "twist";
    if (def->type != RB_JOINT_BALL) {
        rbReader_Push(reader, key);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"%s\" is only for ball joints; others have \"lower\" and \"upper\"",
                             key);
    }
    double restitution = fields->freedom.restitution;
    def->limits[0] = (rbLimitDef){-INFINITY, fields->cone, restitution};
    if (fields->twist != NULL) {
        double v[2];
        rbReader_Push(reader, "twist");
        rbStatus status = rbReadNumbers(reader, fields->twist, v, 2, RB_SCENE_LENGTH_MAX);
        if (status == RB_STATUS_OK && v[0] > v[1]) {
            status = rbReader_Fail(reader, RB_STATUS_INVALID,
                                   "the lower limit %g is above the upper one, %g; swap them", v[0],
                                   v[1]);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
        def->limits[1] = (rbLimitDef){v[0], v[1], restitution};
    }
    return RB_STATUS_OK;
}

static rbStatus validateFreedomKeys(rbReader* reader, const json_t* json, rbJointType type)
{
    const char* key = findFreedomKey(json);
    int count = getTypeRow(type).freedomCount;
    const char* found = key != NULL ? key : "freedoms";
    if (count == 0 && (key != NULL || has(json, "freedoms"))) {
        rbReader_Push(reader, found);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a joint of type \"%s\" has no single angle or travel on which "
                             "\"%s\" could act; hinge, prismatic, cylindrical and universal do",
                             rbJointType_Name(type), found);
    }
    if (key != NULL && has(json, "freedoms")) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "both \"%s\" and \"freedoms\" are given; use only \"freedoms\"", key);
    }
    if (key != NULL && count == 2) {
        rbReader_Push(reader, key);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a joint of type \"%s\" has two freedoms, %s; give \"freedoms\": "
                             "[{...}, {...}]",
                             rbJointType_Name(type),
                             getTypeRow(type).isAngle[0] ? "the angles about the axes of A and of B"
                                                         : "travel and angle");
    }
    return RB_STATUS_OK;
}

static rbStatus readFreedoms(rbScene* scene, rbReader* reader, const json_t* json,
                             const rbJointFields* fields, rbJointDef* def)
{
    int count = getTypeRow(def->type).freedomCount;
    rbStatus status = validateFreedomKeys(reader, json, def->type);
    if (status != RB_STATUS_OK || count == 0) {
        return status;
    }
    if (fields->freedoms == NULL) {
        return readFreedom(scene, reader, &fields->freedom, def, 0);
    }
    rbReader_Push(reader, "freedoms");
    if (json_array_size(fields->freedoms) != (size_t)count) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "%zu freedoms; a joint of type \"%s\" has %d",
                             json_array_size(fields->freedoms), rbJointType_Name(def->type), count);
    }
    for (size_t i = 0; i < (size_t)count; ++i) {
        rbFreedomFields own = rbNoFreedom;
        rbReader_PushIndex(reader, i);
        status = rbReadFields(reader, json_array_get(fields->freedoms, i), &rbFreedomKeys, &own);
        if (status == RB_STATUS_OK) {
            status = readFreedom(scene, reader, &own, def, (int)i);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------------- joints

static rbStatus readParts(rbReader* reader, const json_t* array, rbSceneJoint* joint)
{
    size_t count = json_array_size(array);
    rbReader_Push(reader, "parts");
    if (count == 0 || count > RB_JOINT_PARTS_MAX) {
        return rbReader_Fail(reader, RB_STATUS_INVALID, "%zu parts; expected 1 to %d", count,
                             RB_JOINT_PARTS_MAX);
    }
    int rowCount = 0;
    for (size_t i = 0; i < count; ++i) {
        const json_t* json = json_array_get(array, i);
        rbJointPartFields fields = {.place.distance = -1.0};
        rbReader_PushIndex(reader, i);
        rbStatus status = rbReadFields(reader, json, &rbJointPartKeys, &fields);
        rbJointType type = RB_JOINT_BALL;
        if (status == RB_STATUS_OK) {
            status = readType(reader, fields.type, PART_TYPE_COUNT, &type);
        }
        if (status == RB_STATUS_OK) {
            status =
                readPlace(reader, json, &fields.place, type, joint->ends, &joint->partPlaces[i]);
        }
        if (status != RB_STATUS_OK) {
            return status;
        }
        joint->parts[i] = (rbJointPart){.type = type, .distance = fields.place.distance};
        rowCount += rbJointType_GetRowCount(type);
        rbReader_Pop(reader);
    }
    if (rowCount > 6) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the parts remove %d freedoms; two bodies have 6", rowCount);
    }
    joint->def.partCount = (int)count;
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus readVelocityOnly(rbReader* reader, const json_t* json, rbJointDef* def)
{
    rbVelocityOnlyFields fields = {.forceMax = INFINITY};
    rbReader_Push(reader, "velocityOnly");
    rbStatus status = rbReadFields(reader, json, &rbVelocityOnlyKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    def->isVelocityOnly = true;
    def->linearVelocity = fields.linear;
    def->angularVelocity = fields.angular;
    def->forceMax = fields.forceMax;
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus validateJointKeys(rbReader* reader, const json_t* json, rbJointType type)
{
    if ((type == RB_JOINT_PARTS) != has(json, "parts")) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             type == RB_JOINT_PARTS
                                 ? "a joint of type \"parts\" needs \"parts\": [{...}, ...]"
                                 : "\"parts\" is only for the type \"parts\"");
    }
    if (has(json, "orientation") && !getTypeRow(type).hasNeutral && !isConed(json)) {
        rbReader_Push(reader, "orientation");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a joint of type \"%s\" holds no orientation and measures no angle; "
                             "remove it",
                             rbJointType_Name(type));
    }
    return RB_STATUS_OK;
}

rbStatus rbReadJointKind(rbScene* scene, rbReader* reader, const json_t* json,
                         const rbJointFields* fields, rbSceneJoint* joint)
{
    RB_ASSERT(fields->type != NULL);
    joint->def = rbDefaultJointDef();
    rbJointDef* def = &joint->def;
    rbStatus status = readType(reader, fields->type, rbJointType_GetCount(), &def->type);
    if (status == RB_STATUS_OK) {
        status = validateJointKeys(reader, json, def->type);
    }
    if (status == RB_STATUS_OK && def->type == RB_JOINT_PARTS) {
        status = readParts(reader, fields->parts, joint);
    }
    if (status == RB_STATUS_OK) {
        status = readPlace(reader, json, &fields->place, def->type, joint->ends, &joint->place);
    }
    if (status == RB_STATUS_OK) {
        status = readFreedoms(scene, reader, json, fields, def);
    }
    if (status == RB_STATUS_OK) {
        status = readCone(reader, json, fields, def);
    }
    if (status == RB_STATUS_OK && fields->velocityOnly != NULL) {
        status = readVelocityOnly(reader, fields->velocityOnly, def);
    }
    if (status == RB_STATUS_OK && fields->solver != NULL) {
        int index = 0;
        status = rbReadWord(reader, "solver", fields->solver, &rbSolverTypeWords, &index);
        def->solver = (rbSolverType)index;
    }
    def->distance = fields->place.distance;
    def->areNeighborsMeeting = fields->areNeighborsMeeting;
    if (has(json, "orientation")) {
        def->orientation = fields->orientation;
    }
    return status;
}

void rbAddJoint(rbScene* scene, const rbSceneJoint* joint)
{
    RB_ASSERT(joint->grid.copyCount <= RB_SCENE_JOINTS_MAX - scene->info.jointCount);
    int rowCount = rbJointType_GetRowCount(joint->def.type);
    for (int i = 0; i < joint->def.partCount; ++i) {
        rowCount += rbJointType_GetRowCount(joint->parts[i].type);
    }
    // A velocity-only joint, like a motor, removes no degree of freedom.
    scene->info.conditionCount += joint->def.isVelocityOnly ? 0 : rowCount * joint->grid.copyCount;
    scene->info.jointCount += joint->grid.copyCount;
    scene->info.anchorCount += rbAreEndsAnchored(scene, joint->ends) ? joint->grid.copyCount : 0;
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX && scene->info.freeMotor == NULL; ++i) {
        const rbMotorDef* motor = &joint->def.freedoms[i].motor;
        if (motor->type == RB_MOTOR_VELOCITY && isinf(motor->forceMax)) {
            scene->info.freeMotor = rbScene_CopyString(scene, joint->name);
        }
    }
    rbArray_Push(scene->joints, *joint);
}

static rbStatus readJoint(rbScene* scene, rbReader* reader, const json_t* json, int index)
{
    rbJointFields fields = {.place.distance = -1.0, .freedom = rbNoFreedom, .cone = INFINITY};
    rbSceneJoint joint = {.tree = -1, .listIndex = index};
    (void)snprintf(joint.name, sizeof joint.name, "joint%d", index);
    const char* given = json_string_value(json_object_get(json, "name"));
    rbReader_SetSubject(reader, "joint", given != NULL ? given : joint.name);
    rbStatus status = rbReadFields(reader, json, &rbJointKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (fields.name != NULL) {
        (void)snprintf(joint.name, sizeof joint.name, "%s", fields.name);
    }
    status = rbReadGrid(reader, fields.repeat, joint.name, &joint.grid);
    if (status == RB_STATUS_OK) {
        status = rbReadEnds(scene, reader, &fields.ends, &joint.grid, joint.ends);
    }
    if (status == RB_STATUS_OK) {
        status = rbReadJointKind(scene, reader, json, &fields, &joint);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (joint.grid.copyCount > RB_SCENE_JOINTS_MAX - scene->info.jointCount) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the scene has too many joints; the limit is %d", RB_SCENE_JOINTS_MAX);
    }
    rbAddJoint(scene, &joint);
    return RB_STATUS_OK;
}

rbStatus rbReadJoints(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->springs.count == 0);
    rbStatus status = rbNeedStepEngine(scene, reader, array, "joints");
    for (size_t i = 0; i < json_array_size(array) && status == RB_STATUS_OK; ++i) {
        if (i == RB_SCENE_JOINTS_MAX) {
            return rbReader_Fail(reader, RB_STATUS_LIMIT, "too many joints; the limit is %d",
                                 RB_SCENE_JOINTS_MAX);
        }
        rbReader_PushIndex(reader, i);
        status = readJoint(scene, reader, json_array_get(array, i), (int)i);
        if (status == RB_STATUS_OK) {
            rbReader_SetSubject(reader, NULL, NULL);
            rbReader_Pop(reader);
        }
    }
    return status;
}
