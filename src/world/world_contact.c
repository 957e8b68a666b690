// Contacts in the step engine of a world: validating their settings, registering shapes and
// materials, and reading contacts.
#include "dynamics/engines/step/contact_method.h"
#include "world/world_engine.h"
#include "world/world_settings.h"

#include <math.h>
#include <stdio.h>

// Of the size of a body: a shell that hardly shows.
#define SHELL_PART 1e-4

// Checked alone: whether the world can have contacts is known when its bodies are.
rbStatus rbCheckContacts(const rbWorldDef* def, rbError* error)
{
    RB_ASSERT(def != NULL);
    RB_TRY(rbSettingList_Check(&rbContactSettingList, &def->contact, error));
    if (!def->contact.isEnabled || def->engine != RB_ENGINE_STEP) {
        return RB_STATUS_OK;
    }
    RB_REFUSE_IF(def->contact.isReacting && rbGetJointReaction() == NULL, RB_STATUS_UNSUPPORTED,
                 error, "contact.jointReaction needs the laboratory: call rbRegisterLaboratory");
    const rbContactMethodRow* row = rbContactMethodRow_Get(def->contact.method);
    return row != NULL ? row->check(&def->contact, error) : RB_STATUS_OK;
}

// ------------------------------------------------------------------------------- what can collide

// Whether a joint keeps two bodies from colliding.
static bool areJoined(const rbWorld* world, int a, int b)
{
    RB_EACH_LINK(Joint, joint, world) {
        if (!joint->def.areNeighborsMeeting && ((joint->bodyA == a && joint->bodyB == b) ||
                                                (joint->bodyA == b && joint->bodyB == a))) {
            return true;
        }
    }
    return false;
}

static bool hasShape(const rbWorld* world, int index)
{
    return world->bodies.data[index].shapes.count > 0;
}

// By their masses, groups and joints, wherever they are. Sensors report in steps with contacts.
static bool canCollide(const rbWorld* world, int a, int b)
{
    const rbBody* bodyA = &world->bodies.data[a];
    const rbBody* bodyB = &world->bodies.data[b];
    if (rbBody_HasSensor(bodyA) || rbBody_HasSensor(bodyB)) {
        return true;
    }
    const rbShapeDef* shapeA = &bodyA->shapes.data[0].def;
    const rbShapeDef* shapeB = &bodyB->shapes.data[0].def;
    return (bodyA->hasMass || bodyB->hasMass) && (shapeA->groups & shapeB->mask) != 0 &&
           (shapeB->groups & shapeA->mask) != 0 &&
           (world->def.contact.areNeighborsMeeting || !areJoined(world, a, b));
}

// The first two bodies that can collide. Most worlds have them at once or are small.
static bool findCollidable(const rbWorld* world, int pair[2])
{
    bool isOn = world->def.engine == RB_ENGINE_STEP && world->def.contact.isEnabled;
    for (int a = 0; isOn && a < world->bodies.count; ++a) {
        for (int b = a + 1; hasShape(world, a) && b < world->bodies.count; ++b) {
            if (hasShape(world, b) && canCollide(world, a, b)) {
                pair[0] = a;
                pair[1] = b;
                return true;
            }
        }
    }
    return false;
}

bool rbWorld_HasContacts(const rbWorld* world)
{
    int pair[2];
    return world->isEngineReady ? world->hasContacts : findCollidable(world, pair);
}

#define PASS_THROUGH \
    "let bodies pass through each other (in a scene \"contact\": {\"enabled\": false})"

rbStatus rbWorld_PrepareContacts(const rbWorld* world, rbContactSettings* settings, rbError* error)
{
    const rbWorldDef* def = &world->def;
    int pair[2];
    *settings = def->contact;
    settings->isEnabled = findCollidable(world, pair);
    if (!settings->isEnabled) {
        return RB_STATUS_OK;
    }
    const char* a = RB_LABEL_BODY(world, pair[0]);
    const char* b = RB_LABEL_BODY(world, pair[1]);
    RB_REFUSE_IF(def->periodicBox.x > 0.0 || def->periodicBox.y > 0.0 || def->periodicBox.z > 0.0,
                 RB_STATUS_UNSUPPORTED, error,
                 "bodies \"%s\" and \"%s\" can collide, and contacts of the engine \"step\" allow "
                 "no periodic box; remove it, use the engine \"event\", or " PASS_THROUGH,
                 a, b);
    bool isGame = def->contact.substeps > 0;
    RB_REFUSE_IF(def->step.order != 2 && (isGame || def->contact.method != RB_CONTACT_IMPULSES),
                 RB_STATUS_UNSUPPORTED, error,
                 "bodies \"%s\" and \"%s\" can collide, and step.order is %d; with %s \"%s\" it "
                 "must be 2: set it to 2, or " PASS_THROUGH,
                 a, b, def->step.order, isGame ? "contact.substeps of accuracy" : "contact.method",
                 isGame ? "game" : rbContactMethod_Name(def->contact.method));
    RB_REFUSE_IF(def->step.method != RB_METHOD_IMPULSES, RB_STATUS_UNSUPPORTED, error,
                 "bodies \"%s\" and \"%s\" can collide, and step.method is \"%s\"; with contacts "
                 "it must be \"impulses\"; set that, or " PASS_THROUGH,
                 a, b, rbStepMethod_Name(def->step.method));
    return RB_STATUS_OK;
}

// ----------------------------------------------------------------------------------- registration

static rbStatus registerShape(rbWorld* world, int index, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    int count = rbBody_CountSolid(body);
    if (count == 0) {
        rbContactPairs_SetShape(rbStepEngine_GetPairs(world->engine), index, NULL);
        return RB_STATUS_OK;
    }
    RB_REFUSE_IF(body->growth > 0.0, RB_STATUS_UNSUPPORTED, error,
                 "body \"%s\" grows by %g m/s; contacts of the engine \"step\" need bodies of "
                 "constant size: use the engine \"event\"",
                 body->name, body->growth);
    rbMergedShapes merged;
    RB_TRY(rbWorld_MergeShapes(world, index, &merged, error));
    rbContactShape shape = {.geometry = merged.geometry,
                            .transform = merged.transform,
                            .materials = merged.materials,
                            .materialCount = count,
                            .isMoved = body->hasMass,
                            .groups = merged.groups,
                            .mask = merged.mask};
    // contacts act at the shell: one that is larger than the body would hold it far from what it
    // touches
    double shell = world->def.contact.shell;
    rbVec3 center = rbInvTransformPoint(shape.transform, RB_VEC3_ZERO);
    double radius = rbGeometry_GetRadius(shape.geometry, center);
    RB_INVALID_IF(body->hasMass && shell > radius, error,
                  "contact.shell is %g m, and body \"%s\" reaches only %g m from its center; "
                  "contacts would hold it away from what it touches: take a shell of at most "
                  "%.1g m, or check the unit of its size",
                  shell, body->name, radius, SHELL_PART * radius);
    // velocities of the surfaces in the principal frame, unless none moves
    rbVec3* belts = rbAlloc((size_t)count * sizeof *belts);
    for (int i = 0; i < count; ++i) {
        rbVec3 belt = body->shapes.data[rbBody_FindSolid(body, i)].def.surfaceVelocity;
        shape.belts = rbLengthSquared(belt) > 0.0 ? belts : shape.belts;
        belts[i] = rbInvRotate(world->principals.data[index].q, belt);
    }
    rbContactPairs_SetShape(rbStepEngine_GetPairs(world->engine), index, &shape);
    rbFree(belts, (size_t)count * sizeof *belts);
    return RB_STATUS_OK;
}

rbStatus rbWorld_RegisterContacts(rbWorld* world, rbError* error)
{
    const rbContactSettings* settings = &world->def.contact;
    RB_ASSERT(world->engine != NULL);
    if (!world->hasContacts) {
        return RB_STATUS_OK;
    }
    const rbContactMethodRow* row = rbContactMethodRow_Get(settings->method);
    const char* kind = world->springCount > 0 ? "springs" : world->jointCount > 0 ? "joints" : NULL;
    RB_REFUSE_IF(
        row != NULL && row->isOfSingleBodies && kind != NULL, RB_STATUS_UNSUPPORTED, error,
        "the world has %s, and contact.method \"%s\" moves single bodies only; use \"impulses\"",
        kind, rbContactMethod_Name(settings->method));
    rbContactPairs* pairs = rbStepEngine_GetPairs(world->engine);
    for (int i = 0; i < world->materialPairs.count; ++i) {
        const rbMaterialPairSlot* slot = &world->materialPairs.data[i];
        rbContactPairs_SetMaterialPair(pairs, slot->kindA, slot->kindB, &slot->pair);
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        RB_TRY(registerShape(world, i, error));
    }
    if (world->isFilterOther || world->contactFilter != NULL) {
        rbContactPairs_SetFilter(pairs, rbWorld_GetPairFilter(world), world);
        world->isFilterOther = false;
    }
    rbContactPairs_ClearExclusions(pairs);
    RB_EACH_LINK(Joint, joint, world) {
        bool areMeeting = settings->areNeighborsMeeting || joint->def.areNeighborsMeeting;
        if (joint->bodyA >= 0 && joint->bodyB >= 0 && !areMeeting) {
            rbContactPairs_Exclude(pairs, joint->bodyA, joint->bodyB);
        }
    }
    return RB_STATUS_OK;
}

static const char* labelBody(const rbWorld* world, rbBodyId bodyId, char* text)
{
    return RB_IS_NULL(bodyId) ? "?"
                              : rbWorld_LabelBody(world, rbWorld_BodyIndex(world, bodyId), text);
}

size_t rbWorld_DescribeContactMiss(const rbWorld* world, char* text, size_t capacity)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    const rbContactSettings* settings = &world->def.contact;
    rbContactTolerance allowed = rbContactSettings_GetTolerance(settings);
    const struct {
        const char* what;
        const char* unit;
        double value, tolerance;
    } rows[] = {
        {"gaps or slips of up to", "m", s.gapErrorMax, allowed.gap},
        {"contact speeds off by up to", "m/s", s.speedErrorMax, allowed.speed},
        {"approaches stopped without rebound of up to", "m/s", s.reboundErrorMax, s.restSpeed},
        {"joints of touching bodies off by up to", "m", s.jointErrorMax,
         world->def.step.order > 2 ? fmin(world->def.step.tolerance, 1e-12)
                                   : world->def.step.tolerance},
        {"joint speeds of touching bodies off by up to", "m/s", s.jointSpeedErrorMax,
         allowed.speed},
    };
    size_t length = 0;
    RB_ASSERT(capacity > 0);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].value > rows[i].tolerance && length < capacity) {
            length +=
                (size_t)snprintf(text + length, capacity - length, "%s%s %.3g %s (allowed %g)",
                                 length > 0 ? ", " : "", rows[i].what, rows[i].value, rows[i].unit,
                                 rows[i].tolerance);
        }
    }
    if (settings->isOverlapAllowed && s.overlap > allowed.gap && length < capacity) {
        length += (size_t)snprintf(
            text + length, capacity - length,
            "%s\"%s\" and \"%s\", which should be separated, overlap by %.3g m (allowed %g)",
            length > 0 ? ", " : "", labelBody(world, s.overlapA, RB_LABEL_TEXT),
            labelBody(world, s.overlapB, RB_LABEL_TEXT), s.overlap, allowed.gap);
    }
    return length;
}

bool rbWorld_NameContactMiss(const rbWorld* world, double time, rbError* error)
{
    char text[300];
    const rbContactSettings* settings = &world->def.contact;
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    if (s.unmetSteps == 0) {
        return false;
    }
    bool isLeft =
        settings->isOverlapAllowed && s.overlap > rbContactSettings_GetTolerance(settings).gap;
    (void)rbWorld_DescribeContactMiss(world, text, sizeof text);
    (void)rbError_Set(error, RB_STATUS_NUMERICAL,
                      "contacts missed a tolerance before t = %.9g s: %s so far; %s", time, text,
                      isLeft ? "place them apart, take a larger contact.partSpeed or a longer run"
                             : "take smaller steps, more sweeps (contact.sweepsMax), shock "
                               "propagation (contact.shockAfter) or larger tolerances");
    return true;
}

// ------------------------------------------------------------------------------------- reading

// The views of the engine; none while it does not exist, or without lasting contacts.
static int getViews(const rbWorld* world, rbContactView* views, int capacity)
{
    const rbStepEngine* engine = rbWorld_GetStepEngine(world);
    return engine != NULL ? rbStepEngine_GetContacts(engine, views, capacity) : 0;
}

rbContactStatistics rbWorld_GetContactStatistics(const rbWorld* world)
{
    rbContactStatistics statistics = {0};
    const rbStepEngine* engine = rbWorld_GetStepEngine(world);
    if (engine != NULL) {
        statistics = rbStepEngine_GetContactStatistics(engine);
        statistics.unwritten = world->unwrittenEvents;
        statistics.deepestA = rbWorld_CompleteId(world, statistics.deepestA);
        statistics.deepestB = rbWorld_CompleteId(world, statistics.deepestB);
        statistics.overlapA = rbWorld_CompleteId(world, statistics.overlapA);
        statistics.overlapB = rbWorld_CompleteId(world, statistics.overlapB);
    }
    return statistics;
}

int rbWorld_GetContacts(const rbWorld* world, rbContactView* views, int capacity)
{
    RB_ASSERT(capacity >= 0 && (capacity == 0 || views != NULL));
    int count = world->isEngineReady ? getViews(world, views, capacity) : 0;
    for (int i = 0; i < count && i < capacity; ++i) {
        views[i].bodyA = rbWorld_CompleteId(world, views[i].bodyA);
        views[i].bodyB = rbWorld_CompleteId(world, views[i].bodyB);
        views[i].gap += world->def.contact.shell; // the engine measures from the shell
    }
    return count;
}

void rbWorld_ReserveContacts(rbWorld* world)
{
    rbArray_Reserve(world->contactViews, getViews(world, NULL, 0));
}

rbVec3 rbBody_GetContactForce(const rbWorld* world, rbBodyId bodyId, rbBodyId otherId, int* count)
{
    RB_ASSERT(rbBody_IsValid(world, bodyId));
    RB_ASSERT(RB_IS_NULL(otherId) || rbBody_IsValid(world, otherId));
    rbVec3 sum = {0.0, 0.0, 0.0};
    int pointCount = 0;
    rbContactView* views = world->contactViews.data; // scratch memory: nothing is kept in it
    int total = rbWorld_GetContacts(world, views, world->contactViews.capacity);
    RB_ASSERT(total <= world->contactViews.capacity);
    for (int i = 0; i < total; ++i) {
        bool isA = views[i].bodyA.index1 == bodyId.index1;
        bool isB = views[i].bodyB.index1 == bodyId.index1;
        uint32_t other = isA ? views[i].bodyB.index1 : views[i].bodyA.index1;
        if ((isA || isB) && (RB_IS_NULL(otherId) || other == otherId.index1)) {
            sum = rbAddScaled(sum, isB ? 1.0 : -1.0, views[i].force);
            pointCount += 1;
        }
    }
    if (count != NULL) {
        *count = pointCount;
    }
    return sum;
}
