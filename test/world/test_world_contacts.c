// Contacts of a world with the step engine: settings, refused starts, collision filters, contact
// queries and energy accounting.
#include "contact_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------- refusals

static void badSettingsAreRefused(void** state)
{
    (void)state;
    const struct {
        size_t offset;
        double value;
        const char* expected;
    } numbers[] = {
        {offsetof(rbContactSettings, shell), -1.0, "contact.shell is -1"},
        {offsetof(rbContactSettings, shell), NAN, "contact.shell is nan"},
        {offsetof(rbContactSettings, tolerance), -1.0, "contact.tolerance is -1"},
        {offsetof(rbContactSettings, velocityTolerance), INFINITY, "contact.velocityTolerance"},
        {offsetof(rbContactSettings, restSpeed), -1.0, "contact.restSpeed"},
        {offsetof(rbContactSettings, partSpeed), 0.0, "contact.partSpeed"},
        {offsetof(rbContactSettings, freezeSpeed), NAN, "contact.freezeSpeed"},
        {offsetof(rbContactSettings, freezeTime), 0.0, "contact.freezeTime"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        rbWorldDef def = defineWorld();
        rbError error = {0};
        memcpy((char*)&def.contact + numbers[i].offset, &numbers[i].value, sizeof(double));
        assert_null(rbCreateWorld(&def, &error));
        if (strstr(error.message, numbers[i].expected) == NULL) {
            fail_msg("%s", error.message);
        }
    }
    const struct {
        size_t offset;
        int value;
        const char* expected;
    } rows[] = {
        {offsetof(rbContactSettings, sweepsMax), 0, "contact.sweepsMax is 0"},
        {offsetof(rbContactSettings, shockAfter), -1, "contact.shockAfter is -1"},
        {offsetof(rbContactSettings, facets), 2, "contact.facets is 2"},
        {offsetof(rbContactSettings, facets), 65, "contact.facets is 65"},
        {offsetof(rbContactSettings, law), RB_IMPACT_LAW_COUNT, "contact.law"},
        {offsetof(rbContactSettings, method), 99, "contact.method"},
        {offsetof(rbContactSettings, cone), RB_CONE_COUNT, "contact.cone"},
        {offsetof(rbContactSettings, contactTime), -1, "contact.contactTime"},
        {offsetof(rbContactSettings, broadPhase), 99, "contact.broadPhase"},
        {offsetof(rbContactSettings, frictionRule), RB_COMBINE_COUNT, "contact.frictionRule"},
        {offsetof(rbContactSettings, restitutionRule), 99, "contact.restitutionRule"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbWorldDef def = defineWorld();
        rbError error = {0};
        memcpy((char*)&def.contact + rows[i].offset, &rows[i].value, sizeof(int));
        assert_null(rbCreateWorld(&def, &error));
        if (strstr(error.message, rows[i].expected) == NULL) {
            fail_msg("%s", error.message);
        }
    }
}

static void whatContactsDoNotKnowIsRefused(void** state)
{
    (void)state;
    rbError error = {0};
    for (int i = 0; i < 4; ++i) {
        rbWorldDef def = defineWorld();
        def.periodicBox.y = i < 2 ? 5.0 : 0.0;
        def.step.order = i < 2 ? 2 : 4;
        def.contact.method = i < 2 ? RB_CONTACT_IMPULSES : rbContactMethod_Find("penalty");
        def.contact.isEnabled = i % 2 == 0; // off: none of it matters
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        (void)addCube(world, "cube", rbMakeVec3(0.0, 0.0, 1.0));
        assert_int_equal(rbWorld_Prepare(world, &error),
                         def.contact.isEnabled ? RB_STATUS_UNSUPPORTED : RB_STATUS_OK);
        if (def.contact.isEnabled &&
            (strstr(error.message, i == 0 ? "periodic box" : "step.order is 4") == NULL ||
             strstr(error.message, "bodies \"floor\" and \"cube\" can collide") == NULL ||
             strstr(error.message, "\"contact\": {\"enabled\": false}") == NULL)) {
            fail_msg("%s", error.message);
        }
        rbDestroyWorld(world);
    }

    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyDef body = rbDefaultBodyDef();
    body.name = "balloon";
    body.growth = 0.1;
    rbBodyId balloon = rbCreateBody(world, &body, &error);
    Piece piece = {.size = {1.0, 1.0, 1.0}};
    assert_false(RB_IS_NULL(addShape(world, balloon, &piece, &error)));
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "body \"balloon\" grows by 0.1 m/s"));
    rbDestroyWorld(world);

    world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId flat = addBody(world, "flat", 1.0, RB_VEC3_ZERO);
    piece.size = RB_VEC3_ZERO;
    assert_false(RB_IS_NULL(addShape(world, flat, &piece, &error)));
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "body \"flat\" is dynamic and has a plane"));
    rbDestroyWorld(world);
}

static void shellsLargerThanABodyAreRefused(void** state)
{
    (void)state;
    const double shells[2] = {0.09, 0.08}; // m, around half the diagonal of a cube, 0.0866 m
    for (int i = 0; i < 2; ++i) {
        rbWorldDef def = defineWorld();
        rbError error = {0};
        def.contact.shell = shells[i];
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        (void)addCube(world, "die", rbMakeVec3(0.0, 0.0, 3.0));
        assert_int_equal(rbWorld_Prepare(world, &error), i == 0 ? RB_STATUS_INVALID : RB_STATUS_OK);
        if (i == 0 && (strstr(error.message, "contact.shell is 0.09 m") == NULL ||
                       strstr(error.message, "\"die\"") == NULL)) {
            fail_msg("%s", error.message);
        }
        rbDestroyWorld(world);
    }
}

static void badMaterialsAndGroupsAreRefused(void** state)
{
    (void)state;
    rbWorldDef worldDef = defineWorld();
    rbWorld* world = makeWorld(&worldDef);
    rbError error = {0};
    rbBodyId cube = addCube(world, "cube", RB_VEC3_ZERO);
    rbShapeDef shape = rbBody_GetShape(world, cube, 0);
    const struct {
        size_t offset;
        double value;
        const char* expected;
    } cases[] = {
        {offsetof(rbMaterial, stiction), NAN, "material.stiction is nan"},
        {offsetof(rbMaterial, rolling), -0.1, "material.rolling is -0.1 m; expected a number >= 0"},
        {offsetof(rbMaterial, spinning), INFINITY, "material.spinning is inf m"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbShapeDef bad = shape;
        memcpy((char*)&bad.material + cases[i].offset, &cases[i].value, sizeof(double));
        assert_true(RB_IS_NULL(rbCreateShape(world, cube, &bad, &error)));
        if (strstr(error.message, cases[i].expected) == NULL) {
            fail_msg("%s", error.message);
        }
    }
    rbShapeDef other = shape;
    other.groups = 8;
    assert_true(RB_IS_NULL(rbCreateShape(world, cube, &other, &error)));
    assert_non_null(strstr(error.message, "body \"cube\": groups 0x8"));
    assert_int_equal(rbBody_GetShapeCount(world, cube), 1);
    rbDestroyWorld(world);
}

static void overlapsAtTheStartAreNamed(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbError error = {0};
    (void)addFloor(world);
    (void)addCube(world, "low", rbMakeVec3(0.0, 0.0, -0.01));
    (void)addCube(world, "high", rbMakeVec3(0.0, 0.0, 0.069));
    assert_int_equal(rbWorld_Prepare(world, &error), RB_STATUS_INVALID);
    if (strstr(error.message, "bodies \"low\" and \"high\" overlap by 0.021") == NULL ||
        strstr(error.message, "1 more pair overlaps") == NULL ||
        strstr(error.message, "\"contact\": {\"overlap\": \"separate\"}") == NULL ||
        strstr(error.message, "(\"contact\": {\"enabled\": false})") == NULL) {
        fail_msg("%s", error.message);
    }
    rbStepReport report = rbWorld_Advance(world, 0.1);
    assert_int_equal(report.status, RB_STATUS_INVALID);
    assert_true(report.time == 0.0);
    rbDestroyWorld(world);

    // Separated no faster than allowed, if permitted.
    def.contact.isOverlapAllowed = true;
    def.contact.partSpeed = 0.1;
    world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId low = addCube(world, "low", rbMakeVec3(0.0, 0.0, -0.01));
    (void)rbWorld_AdvanceTo(world, 0.05);
    double height = rbBody_GetState(world, low).transform.p.z - 0.05;
    checkNear(height, -0.005, 0.001);
    (void)rbWorld_AdvanceTo(world, 0.5);
    height = rbBody_GetState(world, low).transform.p.z - 0.05;
    checkNear(height, SHELL, 1e-5);
    rbDestroyWorld(world);
}

// ------------------------------------------------------------------------------- collision filters

static void bodiesPassThroughEachOtherWithoutContacts(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    def.contact.isEnabled = false;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 1e-5));
    advance(world, 1.0);
    checkNear(rbBody_GetState(world, cube).transform.p.z, 0.05001 - 0.5 * GRAVITY, 1e-9);
    assert_int_equal(rbWorld_GetContacts(world, NULL, 0), 0);
    assert_int_equal(rbWorld_GetContactStatistics(world).pairCount, 0);
    rbDestroyWorld(world);
}

static double getHeightAfter(uint32_t groups, uint32_t mask, double time)
{
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    Piece floor = {.name = "floor", .groups = 2, .mask = 4};
    Piece cube = {.name = "cube",
                  .position = {0.0, 0.0, 0.05 + SHELL},
                  .size = {0.1, 0.1, 0.1},
                  .groups = groups,
                  .mask = mask};
    (void)addPiece(world, &floor);
    rbBodyId id = addPiece(world, &cube);
    advance(world, time);
    double height = rbBody_GetState(world, id).transform.p.z - 0.05;
    rbDestroyWorld(world);
    return height;
}

// B-54
static void groupsAndMasksSayWhoMeets(void** state)
{
    (void)state;
    double fallen = SHELL - 0.5 * GRAVITY * 0.04;
    checkNear(getHeightAfter(4, 2, 0.2), SHELL, 2e-6);
    checkNear(getHeightAfter(4, 1, 0.2), fallen, 1e-9);
    checkNear(getHeightAfter(1, 2, 0.2), fallen, 1e-9);
    checkNear(getHeightAfter(6, 3, 0.2), SHELL, 2e-6);
}

// Bodies that no two of which can collide, by one reason each.
typedef enum Reason {
    REASON_ALONE,    // one shape
    REASON_NO_SHAPE, // the other body has none
    REASON_GROUPS,
    REASON_JOINED,
    REASON_COUNT
} Reason;

static rbWorld* makeApart(Reason reason, bool isEnabled)
{
    rbWorldDef def = defineWorld();
    def.contact.isEnabled = isEnabled;
    def.step.order = 4;
    rbWorld* world = makeWorld(&def);
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_BALL;
    joint.bodyB = addCube(world, "a", RB_VEC3_ZERO);
    (void)join(world, &joint, rbMakeVec3(0.3, 0.0, 0.05), RB_VEC3_ZERO);
    rbTransform place = rbBody_GetState(world, joint.bodyB).transform;
    assert_int_equal(
        rbBody_SetState(world, joint.bodyB, place, RB_VEC3_ZERO, rbMakeVec3(3.0, 0.0, 5.0), NULL),
        RB_STATUS_OK);
    Piece other = {.name = "b",
                   .position = {0.05, 0.0, 0.05},
                   .size = {0.1, 0.1, 0.1},
                   .groups = reason == REASON_GROUPS ? 2 : 1,
                   .mask = reason == REASON_GROUPS ? 2 : 1};
    if (reason == REASON_NO_SHAPE) {
        (void)addBody(world, "b", 1.0, other.position);
    } else if (reason == REASON_GROUPS || reason == REASON_JOINED) {
        joint.bodyA = addPiece(world, &other);
    }
    if (reason == REASON_JOINED) {
        (void)join(world, &joint, rbMakeVec3(0.05, 0.0, 0.05), RB_VEC3_ZERO);
    }
    return world;
}

// Where no two bodies can collide, contacts cost nothing: higher orders work, and the bits are
// those without contacts.
static void contactsThatCannotHappenChangeNoBit(void** state)
{
    (void)state;
    for (int i = 0; i < REASON_COUNT; ++i) {
        rbWorld* on = makeApart((Reason)i, true);
        rbWorld* off = makeApart((Reason)i, false);
        advance(on, 0.5);
        advance(off, 0.5);
        assert_false(rbWorld_HasContacts(on));
        assert_true(rbWorld_GetHash(on) == rbWorld_GetHash(off));
        rbDestroyWorld(on);
        rbDestroyWorld(off);
    }
}

// A ball flies until there is a floor, rests on it, and falls when it is gone.
static void contactsBeginWithTheFirstPairThatCanCollide(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = makeWorld(&def);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 0.1));
    advance(world, 0.05);
    assert_false(rbWorld_HasContacts(world));
    checkNear(rbBody_GetState(world, cube).transform.p.z, 0.15 - 0.5 * GRAVITY * 0.05 * 0.05,
              1e-15);
    rbBodyId floor = addFloor(world);
    assert_true(rbWorld_HasContacts(world));
    assert_int_equal(rbWorld_Prepare(world, NULL), RB_STATUS_OK);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
    advance(world, 1.0);
    assert_true(rbWorld_HasContacts(world));
    checkNear(rbBody_GetState(world, cube).transform.p.z, 0.05 + SHELL, 2e-6);
    uint64_t hash = rbWorld_GetHash(world);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, NULL), RB_STATUS_OK);
    advance(world, 1.0);
    assert_true(rbWorld_GetHash(world) == hash);
    free(bytes);
    double height = rbBody_GetState(world, cube).transform.p.z;
    rbDestroyBody(world, floor);
    advance(world, 1.2);
    assert_false(rbWorld_HasContacts(world));
    checkNear(rbBody_GetState(world, cube).transform.p.z, height - 0.5 * GRAVITY * 0.04, 1e-6);
    rbDestroyWorld(world);
}

// Two cubes that overlap, welded.
static rbStatus prepareNeighbors(bool areMeeting, bool areExcluded, rbError* error)
{
    rbWorldDef def = defineWorld();
    def.contact.areNeighborsMeeting = !areExcluded;
    rbWorld* world = makeWorld(&def);
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_FIXED;
    joint.bodyA = addCube(world, "a", RB_VEC3_ZERO);
    joint.bodyB = addCube(world, "b", rbMakeVec3(0.05, 0.0, 0.0));
    joint.areNeighborsMeeting = areMeeting;
    (void)join(world, &joint, RB_VEC3_ZERO, RB_VEC3_ZERO);
    rbStatus status = rbWorld_Prepare(world, error);
    if (status == RB_STATUS_OK) {
        advance(world, 0.1);
        status = rbWorld_GetContacts(world, NULL, 0) == 0 ? status : RB_STATUS_NUMERICAL;
    }
    rbDestroyWorld(world);
    return status;
}

// B-54
static void joinedBodiesCollideOnlyOnRequest(void** state)
{
    (void)state;
    rbError error = {0};
    assert_int_equal(prepareNeighbors(false, true, &error), RB_STATUS_OK);
    assert_int_equal(prepareNeighbors(true, true, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "bodies \"a\" and \"b\" overlap by 0.05"));
    assert_int_equal(prepareNeighbors(false, false, &error), RB_STATUS_INVALID);
}

// -------------------------------------------------------------------------------- reading

// Two stacked cubes on the floor: each carries the load above it.
static void contactsReportTheForcesOfAStack(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbBodyId floor = addFloor(world);
    rbBodyId low = addCube(world, "low", rbMakeVec3(0.0, 0.0, SHELL));
    rbBodyId high = addCube(world, "high", rbMakeVec3(0.0, 0.0, 0.1 + 2.0 * SHELL));
    rbBodyId none = {0, 0};
    advance(world, 0.3);
    rbContactView views[16];
    int count = rbWorld_GetContacts(world, views, 16);
    assert_in_range(count, 6, 8);
    double sums[2] = {0.0, 0.0};
    for (int i = 0; i < count; ++i) {
        bool isFloor =
            views[i].bodyA.index1 == floor.index1 || views[i].bodyB.index1 == floor.index1;
        assert_true(rbBody_IsValid(world, views[i].bodyA));
        assert_true(rbBody_IsValid(world, views[i].bodyB));
        assert_true(views[i].isSticking);
        checkNear(fabs(views[i].normal.z), 1.0, 1e-9);
        checkNear(views[i].gap, SHELL, 2e-6);
        checkNear(views[i].point.z, isFloor ? 0.0 : 0.1, 1e-4);
        // The force on B points away from A.
        assert_true(views[i].force.z * views[i].normal.z > 0.0);
        sums[isFloor ? 0 : 1] += fabs(views[i].force.z);
    }
    checkNear(sums[0], 2.0 * CUBE_MASS * GRAVITY, 1e-3);
    checkNear(sums[1], CUBE_MASS * GRAVITY, 1e-3);
    checkNear(rbBody_GetContactForce(world, low, none, NULL).z, CUBE_MASS * GRAVITY, 1e-3);
    checkNear(rbBody_GetContactForce(world, low, high, &count).z, -CUBE_MASS * GRAVITY, 1e-3);
    assert_in_range(count, 3, 4);
    checkNear(rbBody_GetContactForce(world, high, floor, &count).z, 0.0, 1e-300);
    assert_int_equal(count, 0);
    checkNear(rbBody_GetContactForce(world, floor, none, NULL).z, -2.0 * CUBE_MASS * GRAVITY, 1e-3);
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    assert_int_equal(s.unmetSteps, 0);
    assert_true(s.contactSum > 0 && s.contactCount >= 6 && s.pairCount >= 2);
    assert_int_equal(s.islandCount, 1);
    checkBelow(s.deepest, 1e-6);
    rbDestroyWorld(world);
}

// A resting body stays at rest when others are added and removed; one that loses its floor falls.
static void bodiesComeAndGoBetweenSteps(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbBodyId floor = addFloor(world);
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, SHELL));
    advance(world, 0.1);
    double height = rbBody_GetState(world, cube).transform.p.z;
    rbBodyId other = addCube(world, "other", rbMakeVec3(1.0, 0.0, SHELL));
    advance(world, 0.2);
    checkNear(rbBody_GetState(world, cube).transform.p.z, height, 2e-6);
    rbDestroyBody(world, other);
    advance(world, 0.3);
    checkNear(rbBody_GetState(world, cube).transform.p.z, height, 2e-6);
    rbDestroyBody(world, floor);
    advance(world, 0.5);
    checkNear(rbBody_GetState(world, cube).transform.p.z, height - 0.5 * GRAVITY * 0.04, 1e-5);
    rbDestroyWorld(world);
}

// A table with only two legs rests on both, whatever the shapes of the body.
static void bodiesOfSeveralShapesAreOneCompound(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbError error = {0};
    rbBodyId floor = addFloor(world);
    Piece leg = {.name = "table",
                 .position = {0.0, 0.0, 0.1 + SHELL},
                 .size = {0.1, 0.4, 0.2},
                 .offset = {-0.3, 0.0, 0.0}};
    rbBodyId table = addPiece(world, &leg);
    leg.offset.x = 0.3;
    assert_false(RB_IS_NULL(addShape(world, table, &leg, &error)));
    double mass = rbBody_GetMass(world, table).mass;
    advance(world, 0.2);
    rbBodyState at = rbBody_GetState(world, table);
    checkNear(at.transform.p.z, 0.1 + SHELL, 2e-6);
    checkNear(rbLength(at.angularVelocity), 0.0, 1e-6);
    int count = 0;
    checkNear(rbBody_GetContactForce(world, table, floor, &count).z, mass * GRAVITY,
              1e-5 * mass * GRAVITY);
    assert_in_range(count, 3, 8);
    rbDestroyWorld(world);
}

// ----------------------------------------------------------------------------------- ledger

// A cube bounces off the floor, e = sqrt(1 * 0.25); another slides to a stop.
// A ball that bounces for a second, by how many events the journal holds: what does not fit is
// counted, and nothing else changes.
static void theJournalHoldsAsManyEventsAsAskedFor(void** state)
{
    (void)state;
    int64_t total = 0;
    uint64_t hash = 0;
    const int limits[] = {rbDefaultWorldDef().step.journalMax, 2, 0};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; ++i) {
        rbWorldDef def = defineWorld();
        def.step.journalMax = limits[i];
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        Piece ball = {.name = "ball",
                      .position = {0.0, 0.0, 0.15},
                      .size = {0.1, 0.1, 0.1},
                      .restitution = 0.8};
        (void)addPiece(world, &ball);
        advance(world, 1.0);
        int count = 0;
        (void)rbWorld_GetEvents(world, &count);
        int64_t unwritten = rbWorld_GetContactStatistics(world).unwritten;
        if (i == 0) {
            total = count;
            hash = rbWorld_GetHash(world);
            assert_true(total > 2);
            assert_int_equal(unwritten, 0);
        }
        assert_int_equal(count, total < limits[i] ? total : limits[i]);
        assert_int_equal(count + unwritten, total);
        assert_true(rbWorld_GetHash(world) == hash);
        rbDestroyWorld(world);
    }
}

static void theLedgerKnowsCollisionsAndFriction(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    Piece ball = {.name = "ball",
                  .position = {0.0, 0.0, 0.15},
                  .size = {0.1, 0.1, 0.1},
                  .restitution = 0.25,
                  .friction = 0.0};
    (void)addPiece(world, &ball);
    advance(world, 0.2);
    // Falls by 0.1 m, 0.143 s; the node of the collision is at most a step late, and within it the
    // body keeps its speed.
    double speed = sqrt(2.0 * GRAVITY * (0.1 - SHELL));
    double lost = 0.5 * CUBE_MASS * speed * speed * (1.0 - 0.25);
    rbLedger ledger = rbWorld_GetLedger(world);
    checkNear(ledger.impactWork, -lost, 2.0 * CUBE_MASS * speed * GRAVITY * STEP);
    checkNear(ledger.frictionWork, 0.0, 1e-9);
    checkNear(ledger.energyDrift, 0.0, 1e-10);
    assert_int_equal(rbWorld_GetContactStatistics(world).collisions, 4);
    rbDestroyWorld(world);

    world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyId slider = addCube(world, "slider", rbMakeVec3(0.0, 0.0, SHELL));
    rbBodyState start = rbBody_GetState(world, slider);
    start.linearVelocity.x = 1.0;
    rbError error = {0};
    assert_int_equal(rbBody_SetState(world, slider, start.transform, start.linearVelocity,
                                     start.angularVelocity, &error),
                     RB_STATUS_OK);
    advance(world, 0.5);
    // mu = sqrt(1 * 0.25) stops 1 m/s after 0.2 s and 0.102 m.
    ledger = rbWorld_GetLedger(world);
    checkNear(ledger.frictionWork, -0.5 * CUBE_MASS, 1e-5);
    checkNear(ledger.energyDrift, 0.0, 1e-11);
    checkNear(rbBody_GetState(world, slider).transform.p.x, 1.0 / (2.0 * 0.5 * GRAVITY), 2e-3);
    rbDestroyWorld(world);
}

// A plate that lifts and carries a cube does work on it; so do drag and a torque on one that
// slides.
static void theLedgerKnowsMoversAndLoads(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbPathDef path = rbDefaultPathDef();
    path.speed = 0.2;
    path.direction = rbMakeVec3(0.6, 0.0, 0.8);
    path.startTime = 0.1;
    rbBodyDef plateDef = rbDefaultBodyDef();
    plateDef.type = RB_BODY_KINEMATIC;
    plateDef.path = &path;
    rbBodyId plate = rbCreateBody(world, &plateDef, &error);
    Piece top = {.size = {1.0, 1.0, 0.1}, .friction = 1.0};
    assert_false(RB_IS_NULL(addShape(world, plate, &top, &error)));
    rbBodyId cube = addCube(world, "cube", rbMakeVec3(0.0, 0.0, 0.05 + SHELL));
    advance(world, 0.6);
    rbLedger ledger = rbWorld_GetLedger(world);
    double way = rbBody_GetState(world, cube).transform.p.x;
    checkNear(way, 0.06, 1e-3);
    // Lifted by 0.08 m, and 0.2 m/s; the loss of the first jolt is friction and rest.
    checkNear(ledger.motorWork + ledger.frictionWork + ledger.restWork + ledger.impactWork,
              CUBE_MASS * (GRAVITY * 0.08 + 0.5 * 0.04), 2e-3);
    checkNear(ledger.energyDrift, 0.0, 1e-10);
    rbDestroyWorld(world);

    world = makeWorld(&def);
    (void)addFloor(world);
    Piece slider = {
        .position = {0.0, 0.0, 0.05 + SHELL}, .size = {0.2, 0.3, 0.1}, .friction = 0.01};
    rbBodyId id = addPiece(world, &slider);
    rbForceDef force = rbDefaultForceDef();
    force.body = id;
    force.torque = rbMakeVec3(0.0, 0.0, 2.0);
    force.force = rbMakeVec3(5.0, 0.0, 0.0);
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    force.type = RB_FORCE_DRAG;
    force.linear = 0.7;
    force.angular = 0.02;
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    advance(world, 0.5);
    ledger = rbWorld_GetLedger(world);
    assert_true(rbLength(rbBody_GetState(world, id).angularVelocity) > 1.0);
    assert_true(ledger.frictionWork < 0.0 && fabs(ledger.work) > 0.1);
    // The remainder is the rotation of a body with three moments, of the order of its step.
    checkNear(ledger.energyDrift, 0.0, 1e-7);
    rbDestroyWorld(world);
}

// Continuing after a restore gives the same bits, also from a time with other contacts.
static void snapshotsKeepTheContacts(void** state)
{
    (void)state;
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbError error = {0};
    (void)addFloor(world);
    Piece cube = {.name = "low",
                  .position = {0.0, 0.0, 0.05 + SHELL},
                  .size = {0.1, 0.1, 0.1},
                  .restitution = 0.25,
                  .friction = 0.25};
    (void)addPiece(world, &cube);
    cube.name = "high";
    cube.position = rbMakeVec3(0.02, 0.01, 0.2);
    (void)addPiece(world, &cube);
    advance(world, 0.05);
    size_t size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(size);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    double before = rbWorld_GetLedger(world).impactWork;
    advance(world, 0.3);
    uint64_t expected = rbWorld_GetHash(world);
    rbLedger ledger = rbWorld_GetLedger(world);
    assert_true(ledger.impactWork < before);
    assert_int_equal(rbWorld_RestoreSnapshot(world, bytes, size, &error), RB_STATUS_OK);
    assert_true(rbWorld_GetLedger(world).impactWork == before);
    advance(world, 0.3);
    assert_true(rbWorld_GetHash(world) == expected);
    checkNear(rbWorld_GetLedger(world).impactWork, ledger.impactWork, 1e-12);
    checkNear(rbWorld_GetLedger(world).frictionWork, ledger.frictionWork, 1e-12);
    free(bytes);
    rbDestroyWorld(world);
}

// A pyramid stands still at every tolerance, and a looser one takes no more sweeps.
static void looserTolerancesTakeNoMoreSweeps(void** state)
{
    (void)state;
    static const double tolerances[] = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
    int64_t tight = 0;
    for (size_t i = 0; i < sizeof tolerances / sizeof tolerances[0]; ++i) {
        rbWorldDef def = defineWorld();
        def.gravity = rbMakeVec3(0.0, 0.0, -GRAVITY);
        def.step.step = 1.0 / 60.0;
        def.contact.tolerance = tolerances[i];
        def.contact.velocityTolerance = 10.0 * tolerances[i];
        rbWorld* world = makeWorld(&def);
        (void)addFloor(world);
        rbBodyId top = {0, 0};
        for (int row = 0; row < 10; ++row) {
            for (int k = 0; k < 10 - row; ++k) {
                double x = 0.11 * (k + 0.5 * row);
                top = addCube(world, NULL, rbMakeVec3(x, 0.0, row * (0.1 + SHELL) + SHELL));
            }
        }
        double before = rbBody_GetState(world, top).transform.p.z;
        assert_int_equal(rbWorld_AdvanceTo(world, 2.0).status, RB_STATUS_OK);
        rbContactStatistics s = rbWorld_GetContactStatistics(world);
        int64_t sweeps = s.positionSweeps + s.velocitySweeps;
        tight = i == 0 ? sweeps : tight;
        double sunk = before - rbBody_GetState(world, top).transform.p.z;
        print_message("tolerance %g: %d sweeps, the top sinks by %.2g m\n", tolerances[i],
                      (int)sweeps, sunk);
        assert_true(sweeps <= tight);
        checkBelow(fabs(sunk), 2e-4);
        rbDestroyWorld(world);
    }
}

RB_TEST_GROUP(test_world_contacts, cmocka_unit_test(badSettingsAreRefused),
              cmocka_unit_test(looserTolerancesTakeNoMoreSweeps),
              cmocka_unit_test(whatContactsDoNotKnowIsRefused),
              cmocka_unit_test(shellsLargerThanABodyAreRefused),
              cmocka_unit_test(badMaterialsAndGroupsAreRefused),
              cmocka_unit_test(overlapsAtTheStartAreNamed),
              cmocka_unit_test(bodiesPassThroughEachOtherWithoutContacts),
              cmocka_unit_test(groupsAndMasksSayWhoMeets),
              cmocka_unit_test(contactsThatCannotHappenChangeNoBit),
              cmocka_unit_test(contactsBeginWithTheFirstPairThatCanCollide),
              cmocka_unit_test(joinedBodiesCollideOnlyOnRequest),
              cmocka_unit_test(contactsReportTheForcesOfAStack),
              cmocka_unit_test(bodiesComeAndGoBetweenSteps),
              cmocka_unit_test(bodiesOfSeveralShapesAreOneCompound),
              cmocka_unit_test(theJournalHoldsAsManyEventsAsAskedFor),
              cmocka_unit_test(theLedgerKnowsCollisionsAndFriction),
              cmocka_unit_test(theLedgerKnowsMoversAndLoads),
              cmocka_unit_test(snapshotsKeepTheContacts));
