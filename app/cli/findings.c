// See findings.h.
#include "cli/findings.h"

#include "base/core/memory.h"
#include "cli/missed_contact.h"
#include "cli/tally_contacts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void add(rbFindings* findings, bool isError, const char* format, ...) RB_PRINTF(3, 4);

static void add(rbFindings* findings, bool isError, const char* format, ...)
{
    findings->errorCount += isError ? 1 : 0;
    findings->warningCount += isError ? 0 : 1;
    if (findings->count < RB_FINDINGS_MAX) {
        rbFinding* finding = &findings->list[findings->count++];
        finding->isError = isError;
        va_list list;
        va_start(list, format);
        (void)vsnprintf(finding->text, sizeof finding->text, format, list);
        va_end(list);
    }
}

static rbBodyFacts getFacts(const rbWorld* world, rbBodyId bodyId)
{
    rbBodyFacts facts = {.name = rbBody_GetName(world, bodyId),
                         .type = rbBody_GetType(world, bodyId),
                         .state = rbBody_GetState(world, bodyId),
                         .shapeCount = rbBody_GetShapeCount(world, bodyId)};
    if (facts.type == RB_BODY_DYNAMIC) {
        rbTransform frame;
        facts.motion = rbBody_GetMotion(world, bodyId, &facts.isFallback);
        facts.mass = rbBody_GetMass(world, bodyId);
        facts.moments = rbBody_GetPrincipalMoments(world, bodyId, &frame);
    }
    for (int i = 0; i < facts.shapeCount; ++i) {
        rbShapeDef def = rbBody_GetShape(world, bodyId, i);
        const rbGeometry* geometry = rbWorld_GetGeometry(world, def.geometry);
        rbMassProperties solid;
        facts.friction = fmax(facts.friction, fmax(def.material.friction, def.material.stiction));
        if (rbGeometry_GetMass(geometry, 1.0, &solid, NULL) == RB_STATUS_OK) {
            facts.volume += solid.volume;
        }
        if (rbGeometry_IsBounded(geometry)) {
            rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
            rbVec3 edges = rbSub(bounds.upper, bounds.lower);
            facts.size = fmax(facts.size, fmax(edges.x, fmax(edges.y, edges.z)));
        }
    }
    return facts;
}

// ------------------------------------------------------------------------- what is usual

static double getDensity(const rbBodyFacts* facts)
{
    return facts->volume > 0.0 ? facts->mass.mass / facts->volume : 0.0;
}

static double getSize(const rbBodyFacts* facts)
{
    return facts->size;
}

static double getSpeed(const rbBodyFacts* facts)
{
    return rbLength(facts->state.linearVelocity);
}

static double getRimSpeed(const rbBodyFacts* facts)
{
    return rbLength(facts->state.angularVelocity) * 0.5 * facts->size;
}

#define LIGHT_SPEED 299792458.0

// Usual ranges; a value of 0 means "has none" and is never checked.
static const struct {
    const char* name;
    const char* unit;
    const char* remark;
    double (*get)(const rbBodyFacts* facts);
    double low, high; // outside: a warning
    double limit;     // above: an error
} ranges[] = {
    {"density", "kg/m^3", "kilograms and meters?", getDensity, 0.01, 30000.0, 1e18},
    {"size", "m", "meters?", getSize, 1e-6, 1000.0, INFINITY},
    {"speed", "m/s", "meters and seconds?", getSpeed, 0.0, 1e5, LIGHT_SPEED},
    {"rim speed due to spin", "m/s", "radians per second?", getRimSpeed, 0.0, 1e4, LIGHT_SPEED},
};

static void examineRanges(rbFindings* findings, const rbBodyFacts* facts)
{
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
        double value = ranges[i].get(facts);
        if (facts->type != RB_BODY_DYNAMIC && ranges[i].get == getDensity) {
            continue;
        }
        if (value > ranges[i].limit) {
            add(findings, true, "body \"%s\": its %s is %g %s, more than physically possible (%g)",
                facts->name, ranges[i].name, value, ranges[i].unit, ranges[i].limit);
        } else if (value > ranges[i].high || (value > 0.0 && value < ranges[i].low)) {
            add(findings, false, "body \"%s\": its %s is %g %s, which is unusual; are the units %s",
                facts->name, ranges[i].name, value, ranges[i].unit, ranges[i].remark);
        }
    }
}

static void examineBody(rbFindings* findings, const rbBodyFacts* facts)
{
    if (facts->isFallback) {
        add(findings, false,
            "body \"%s\": its loads do not allow the requested integrator; it uses %s instead",
            facts->name, rbMotionType_Name(facts->motion));
    }
    if (facts->shapeCount == 0) {
        add(findings, false, "body \"%s\": it has no shape, so it cannot be seen or touched",
            facts->name);
    }
}

// Rubber on dry concrete has 1; the tire of a racing car 1.7.
#define FRICTION_USUAL 10.0

static void examineContacts(rbFindings* findings, const rbSceneFacts* facts,
                            const rbSceneInfo* info)
{
    int count = 0;
    int first = 0;
    if (info->hasContactObject && !info->engineTraits.isStepped) {
        add(findings, false,
            "\"contact\" applies to the engine \"step\"; the engine is \"%s\", which does not use "
            "it",
            info->engine);
    }
    for (int i = facts->bodyCount - 1; i >= 0; --i) {
        if (facts->bodies[i].friction > FRICTION_USUAL) {
            first = i;
            ++count;
        }
    }
    if (count > 0 && !info->engineTraits.isFlightOnly) {
        add(findings, false,
            "body \"%s\": its friction %g is more than %g%s; this is accepted, but such "
            "contacts jam and need many iterations",
            facts->bodies[first].name, facts->bodies[first].friction, FRICTION_USUAL,
            count > 1 ? " (as for other bodies)" : "");
    }
}

static void markLinked(rbSceneFacts* facts, rbBodyId bodyId)
{
    // Ids are in the order of their indices, like the bodies of a scene.
    int low = 0;
    int high = facts->bodyCount;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (facts->ids[middle].index1 < bodyId.index1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < facts->bodyCount && facts->ids[low].index1 == bodyId.index1) {
        facts->bodies[low].isLinked = true;
    }
}

// Bodies with joints or springs.
static void findLinked(rbSceneFacts* facts, const rbWorld* world)
{
    int jointCount = rbWorld_GetJointCount(world);
    int springCount = rbWorld_GetSpringCount(world);
    rbJointId* joints = rbAlloc((size_t)jointCount * sizeof *joints);
    rbSpringId* springs = rbAlloc((size_t)springCount * sizeof *springs);
    (void)rbWorld_GetJointIds(world, joints, jointCount);
    (void)rbWorld_GetSpringIds(world, springs, springCount);
    for (int i = 0; i < jointCount; ++i) {
        markLinked(facts, rbJoint_GetBodyA(world, joints[i]));
        markLinked(facts, rbJoint_GetBodyB(world, joints[i]));
    }
    for (int i = 0; i < springCount; ++i) {
        markLinked(facts, rbSpring_GetBodyA(world, springs[i]));
        markLinked(facts, rbSpring_GetBodyB(world, springs[i]));
    }
    rbFree(joints, (size_t)jointCount * sizeof *joints);
    rbFree(springs, (size_t)springCount * sizeof *springs);
}

static void examineWorld(rbFindings* findings, const rbSceneFacts* facts, const rbSceneInfo* info,
                         const rbWorld* world)
{
    double g = rbLength(info->gravity);
    if (g > 0.0 && (g < 0.1 || g > 30.0)) {
        add(findings, false,
            "gravity is %g m/s^2, which is unusual: it is 9.81 on Earth, 1.62 on the Moon, 24.8 on "
            "Jupiter",
            g);
    }
    if (info->bodyCount == 0) {
        add(findings, false, "the scene has no bodies");
    }
    if (info->freeMotor != NULL) {
        add(findings, false,
            "joint \"%s\": its velocity motor has no \"forceMax\", so it uses any force needed "
            "to hold its speed",
            info->freeMotor);
    }
    if (info->engineTraits.isStepped) {
        rbMotorWarnings warnings;
        rbValidateMotors(info, world, &warnings);
        for (int i = 0; i < warnings.count; ++i) {
            add(findings, false, "%s", warnings.texts[i]);
        }
    }
    const double edges[3] = {info->periodicBox.x, info->periodicBox.y, info->periodicBox.z};
    for (int i = 0; i < facts->bodyCount; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            if (edges[axis] > 0.0 && facts->bodies[i].size > edges[axis]) {
                add(findings, false, "body \"%s\": its size %g m exceeds the periodic box",
                    facts->bodies[i].name, facts->bodies[i].size);
                break;
            }
        }
    }
}

static int compareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

// A body a thousand times farther out than the median one most likely has a wrong unit.
static void examineDistances(rbFindings* findings, const rbSceneFacts* facts)
{
    int count = facts->bodyCount;
    if (count < 3) {
        return;
    }
    // the median of each coordinate is the middle of the scene, unaffected by one far body
    double* values = rbAlloc((size_t)count * sizeof *values);
    double middle[3];
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < count; ++i) {
            rbVec3 p = facts->bodies[i].state.transform.p;
            values[i] = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
        }
        qsort(values, (size_t)count, sizeof *values, compareDoubles);
        middle[axis] = values[count / 2];
    }
    rbVec3 center = {middle[0], middle[1], middle[2]};
    double size = 0.0;
    for (int i = 0; i < count; ++i) {
        values[i] = rbDistance(facts->bodies[i].state.transform.p, center);
        size = facts->bodies[i].size > size ? facts->bodies[i].size : size;
    }
    qsort(values, (size_t)count, sizeof *values, compareDoubles);
    double usual = values[count / 2] > size ? values[count / 2] : size;
    for (int i = 0; i < count && usual > 0.0; ++i) {
        double distance = rbDistance(facts->bodies[i].state.transform.p, center);
        if (distance > 1000.0 * usual) {
            add(findings, false, "body \"%s\": it is %g m from the others, which lie within %g m",
                facts->bodies[i].name, distance, usual);
        }
    }
    rbFree(values, (size_t)count * sizeof *values);
}

// Angles beyond a full turn that are multiples of 5 are most likely in degrees.
static bool looksLikeDegrees(double angle)
{
    const double turn = 6.283185307179586;
    return isfinite(angle) && fabs(angle) > turn && fmod(angle, 5.0) == 0.0;
}

// Which limits of a joint type are angles, see rbJointDef.
static bool isAngleLimit(rbJointType type, int index)
{
    return type == RB_JOINT_HINGE || type == RB_JOINT_HINGE_POINTS || type == RB_JOINT_UNIVERSAL ||
           type == RB_JOINT_BALL || (type == RB_JOINT_CYLINDRICAL && index == 1);
}

static void examineLimits(rbFindings* findings, const rbWorld* world)
{
    int count = rbWorld_GetJointCount(world);
    rbJointId* joints = rbAlloc((size_t)count * sizeof *joints);
    (void)rbWorld_GetJointIds(world, joints, count);
    for (int i = 0; i < count; ++i) {
        int limitCount = rbJoint_GetState(world, joints[i]).limitCount;
        for (int k = 0; k < limitCount; ++k) {
            rbLimitDef limit = rbJoint_GetLimit(world, joints[i], k);
            bool isUpper = looksLikeDegrees(limit.upper);
            double angle = isUpper ? limit.upper : limit.lower;
            if (isAngleLimit(rbJoint_GetType(world, joints[i]), k) && looksLikeDegrees(angle)) {
                add(findings, false,
                    "joint \"%s\": its %s limit is %g rad, which looks like degrees; %g degrees "
                    "are %.6g rad",
                    rbJoint_GetName(world, joints[i]), isUpper ? "upper" : "lower", angle, angle,
                    angle * 3.14159265358979323846 / 180.0);
            }
        }
    }
    rbFree(joints, (size_t)count * sizeof *joints);
}

// A scene whose bodies are all tens of meters large, under the gravity of a planet, was most likely
// drawn in millimeters.
#define MILLIMETER_SIZE 10.0 // m

static void examineSizes(rbFindings* findings, const rbSceneFacts* facts, const rbSceneInfo* info)
{
    double smallest = INFINITY;
    double largest = 0.0;
    for (int i = 0; i < facts->bodyCount; ++i) {
        const rbBodyFacts* body = &facts->bodies[i];
        if (body->type == RB_BODY_DYNAMIC && body->size > 0.0) {
            smallest = fmin(smallest, body->size);
            largest = fmax(largest, body->size);
        }
    }
    if (largest > 0.0 && smallest >= MILLIMETER_SIZE && rbLength(info->gravity) > 1.0) {
        add(findings, false,
            "the dynamic bodies are %g to %g m large, which looks like millimeters; lengths are in "
            "meters (for a mesh set \"scale\": 0.001)",
            smallest, largest);
    }
}

// In free flight bodies pass through each other.
static void examineCollisions(rbFindings* findings, const rbSceneFacts* facts,
                              const rbSceneInfo* info, const rbWorld* world)
{
    rbMissedContact missed;
    if (info->engineTraits.isFlightOnly &&
        rbFindMissedContact(facts, world, info->duration, &missed)) {
        add(findings, false,
            "\"%s\" and \"%s\" overlap at t = %.4g s, but nothing collides with the engine "
            "\"%s\"; for collisions use \"engine\": \"step\" or \"event\"",
            facts->bodies[missed.bodyA].name, facts->bodies[missed.bodyB].name, missed.time,
            info->engine);
    }
}

void rbSceneFacts_Gather(rbSceneFacts* facts, const rbWorld* world)
{
    facts->bodyCount = rbWorld_GetBodyCount(world);
    size_t count = (size_t)facts->bodyCount;
    facts->ids = rbAlloc(count * sizeof *facts->ids);
    facts->bodies = rbAlloc(count * sizeof *facts->bodies);
    (void)rbWorld_GetBodyIds(world, facts->ids, facts->bodyCount);
    for (int i = 0; i < facts->bodyCount; ++i) {
        facts->bodies[i] = getFacts(world, facts->ids[i]);
    }
    findLinked(facts, world);
    for (int i = 0; i < facts->bodyCount; ++i) {
        facts->bodies[i].isStepped = facts->bodies[i].isLinked || rbWorld_HasContacts(world);
    }
}

void rbSceneFacts_Free(rbSceneFacts* facts)
{
    size_t count = (size_t)facts->bodyCount;
    rbFree(facts->ids, count * sizeof *facts->ids);
    rbFree(facts->bodies, count * sizeof *facts->bodies);
    *facts = (rbSceneFacts){0};
}

// Springs that oscillate faster than the steps can follow.
static void examineSprings(rbFindings* findings, const rbSceneInfo* info, const rbWorld* world)
{
    rbStiffSpring stiff = rbWorld_FindStiffSpring(world);
    if (stiff.count == 0) {
        return;
    }
    bool isSpring = !RB_IS_NULL(stiff.spring);
    char others[60] = "";
    if (stiff.count > 1) {
        (void)snprintf(others, sizeof others, " (as for %d other%s)", stiff.count - 1,
                       rbPlural(stiff.count - 1));
    }
    add(findings, false,
        "%s \"%s\": its %s has a period of %.3g s, too short for steps of %g s%s: it is not "
        "resolved, and its energy may drift; use steps of at most %.2g s (--set step.step=...), a "
        "softer spring, or a joint instead",
        isSpring ? "spring" : "joint",
        isSpring ? rbSpring_GetName(world, stiff.spring) : rbJoint_GetName(world, stiff.joint),
        isSpring ? "oscillation" : "spring", stiff.period, info->step.step, others, stiff.stepMax);
}

void rbFindings_ExamineMistakes(rbFindings* findings, const rbSceneFacts* facts,
                                const rbSceneInfo* info, const rbWorld* world)
{
    examineSizes(findings, facts, info);
    examineLimits(findings, world);
    examineSprings(findings, info, world);
    examineContacts(findings, facts, info);
    examineCollisions(findings, facts, info, world);
    for (int i = 0; i < facts->bodyCount; ++i) {
        examineRanges(findings, &facts->bodies[i]);
    }
}

void rbFindings_Examine(rbFindings* findings, const rbSceneFacts* facts, const rbSceneInfo* info,
                        const rbWorld* world)
{
    examineWorld(findings, facts, info, world);
    rbFindings_ExamineMistakes(findings, facts, info, world);
    for (int i = 0; i < facts->bodyCount; ++i) {
        examineBody(findings, &facts->bodies[i]);
    }
    examineDistances(findings, facts);
}
