// Pairs of all kinds of shapes in random poses: contacts are found where the bodies are near, and
// bodies that tumble into each other do not overlap.
#include "pair_scene.h"
#include "rb_test.h"

#include <rattleback/world.h>

#define KINDS 10
#define PAIRS 54 // all of them, except two planes
#define KIND_COMPOUND 7
#define KIND_MESH 8
#define KIND_PLANE 9

static rbGeometry* makeCompound(void)
{
    rbGeometry* ball = rbCreateSphere(0.15, NULL);
    rbGeometry* bar = rbCreateBox(rbMakeVec3(0.2, 0.1, 0.1), NULL);
    const rbCompoundChild children[2] = {{ball, {{0.25, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}, 0.0},
                                         {bar, {{-0.1, 0.05, 0.0}, {1.0, 0.0, 0.0, 0.0}}, 0.0}};
    rbGeometry* compound = rbCreateCompound(children, 2, NULL);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(bar);
    return compound;
}

// A tetrahedron-like spike on a notched foot: not convex.
static rbGeometry* makeMesh(void)
{
    static const rbVec3 vertices[5] = {{0.0, 0.0, 0.3},
                                       {0.3, 0.0, -0.15},
                                       {0.0, 0.3, -0.15},
                                       {-0.3, 0.0, -0.15},
                                       {0.0, -0.3, -0.15}};
    static const int indices[18] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1, 1, 3, 2, 1, 4, 3};
    rbMeshDef def = {vertices, 5, NULL, indices, 6};
    return rbCreateMesh(&def, NULL);
}

static rbGeometry* makeHull(void)
{
    const rbVec3 corners[8] = {{0.3, 0.05, 0.0},  {-0.25, 0.2, 0.1}, {0.0, -0.3, 0.0},
                               {0.1, 0.1, 0.3},   {-0.1, 0.1, -0.3}, {0.2, 0.3, 0.1},
                               {-0.2, -0.2, 0.2}, {0.1, -0.2, -0.25}};
    return rbCreateHull(corners, 8, NULL);
}

static rbGeometry* makeKind(int kind)
{
    switch (kind) {
    case 0:
        return rbCreateSphere(0.25, NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(0.3, 0.15, 0.2), NULL);
    case 2:
        return rbCreateCapsule(0.12, 0.2, NULL);
    case 3:
        return rbCreateCylinder(0.2, 0.25, NULL);
    case 4:
        return rbCreateCone(0.25, 0.45, NULL);
    case 5:
        return rbCreateEllipsoid(rbMakeVec3(0.15, 0.2, 0.3), NULL);
    case 6:
        return makeHull();
    case KIND_COMPOUND:
        return makeCompound();
    case KIND_MESH:
        return makeMesh();
    default:
        return rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
    }
}

// --------------------------------------------------------------------------------- found contacts

typedef struct Finding {
    PairScene scene;
    rbContactSettings settings;
    void* scratch;
    int kinds[2];
} Finding;

static rbTransform poseOf(const Finding* f, int body)
{
    const rbRowPose* pose = &f->scene.places[body].pose;
    return (rbTransform){pose->position, pose->orientation};
}

static rbSeparation measure(const Finding* f, const rbGeometry* a, rbTransform poseA,
                            const rbGeometry* b, rbTransform poseB)
{
    rbSeparation separation;
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a;
    input.geometryB = b;
    input.transformBtoA = rbInvMulTransforms(poseA, poseB);
    assert_int_equal(rbMeasureSeparation(&input, NULL, f->scratch, &separation, NULL),
                     RB_STATUS_OK);
    return separation;
}

static rbSeparation measureBodies(const Finding* f)
{
    return measure(f, f->scene.shapes[0].geometry, poseOf(f, 0), f->scene.shapes[1].geometry,
                   poseOf(f, 1));
}

// Moves B to a given distance from A, or near to it.
static void approach(Finding* f, double distance)
{
    for (int i = 0; i < 4; ++i) {
        rbSeparation s = measureBodies(f);
        rbVec3 normal = rbRotate(poseOf(f, 0).q, s.normal);
        movePairBody(&f->scene, 1, rbScale(distance - s.distance, normal));
    }
}

static bool isConvexKind(int kind)
{
    return kind < KIND_COMPOUND;
}

// Largest dot product of a world direction with the points of a body.
static double highest(const Finding* f, int body, rbVec3 direction)
{
    rbTransform pose = poseOf(f, body);
    if (f->kinds[body] == KIND_PLANE) {
        return rbDot(direction, pose.p); // along its normal
    }
    rbVec3 local = rbInvRotate(pose.q, direction);
    rbVec3 point = rbGeometry_GetSupport(f->scene.shapes[body].geometry, local);
    return rbDot(direction, rbTransformPoint(pose, point));
}

// Both ends of a point are on the surfaces, or inside by the difference of nearly flush faces.
static void checkEnds(const Finding* f, const rbContact* contact, const rbContactPoint* point)
{
    const double size = 0.3;    // m
    const double radius = 1e-3; // m, of a probe
    double distance = point->gap + f->settings.shell;
    rbVec3 middle = rbAdd(f->scene.places[0].pose.position, point->armA);
    rbVec3 same = rbAdd(f->scene.places[1].pose.position, point->armB);
    checkNear(rbDistance(middle, same), 0.0, 1e-12);
    rbGeometry* probe = rbCreateSphere(radius, NULL);
    for (int i = 0; i < 2; ++i) {
        double along = (i == 0 ? -0.5 : 0.5) * distance;
        rbTransform at = {rbAddScaled(middle, along, contact->normal), RB_QUAT_IDENTITY};
        rbSeparation s = measure(f, f->scene.shapes[i].geometry, poseOf(f, i), probe, at);
        checkNear(s.distance + radius, 0.0, 2e-3 * size);
    }
    rbDestroyGeometry(probe);
}

// The contact with the nearest point, compared with the separation.
static void checkFound(const Finding* f, const rbContactSet* set, const rbSeparation* s)
{
    double tolerance = 1e-8; // m
    double least = INFINITY;
    rbVec3 normal = RB_VEC3_ZERO;
    for (int i = 0; i < set->contactCount; ++i) {
        const rbContact* contact = &set->contacts[i];
        checkNear(rbLength(contact->normal), 1.0, 1e-12);
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            if (s->distance >= 0.0) {
                checkEnds(f, contact, &set->points[k]);
            }
            if (set->points[k].gap < least) {
                least = set->points[k].gap;
                normal = contact->normal;
            }
        }
    }
    if (s->distance < 0.0 && (!isConvexKind(f->kinds[0]) || f->kinds[1] == KIND_MESH)) {
        return; // the depth of a mesh is an estimate
    }
    checkNear(least + f->settings.shell, s->distance, tolerance);
    if (isConvexKind(f->kinds[0]) && (isConvexKind(f->kinds[1]) || f->kinds[1] == KIND_PLANE)) {
        // between the planes across the normal
        double low = -highest(f, 1, rbNeg(normal));
        checkNear(low - highest(f, 0, normal), s->distance, 1e-6);
    }
}

static void makePair(Finding* f, rbRandom* random, int kindA, int kindB)
{
    f->kinds[0] = kindA;
    f->kinds[1] = kindB;
    clearPairScene(&f->scene);
    for (int i = 0; i < 2; ++i) {
        rbGeometry* geometry = ownGeometry(&f->scene, makeKind(f->kinds[i]));
        assert_non_null(geometry);
        rbVec3 p = i == 0 ? RB_VEC3_ZERO : rbScale(2.0, rbRandom_Direction(random));
        int body = addPairBody(&f->scene, geometry, p, true);
        setPairPose(&f->scene, body, p, rbRandom_Quat(random));
        f->scene.places[i].reach = 0.1 * rbRandom_Unit(random) * rbRandom_Unit(random);
    }
    f->scene.shapes[1].isMoved = kindB != KIND_PLANE;
}

static void findOne(Finding* f, rbRandom* random, int kindA, int kindB)
{
    makePair(f, random, kindA, kindB);
    double chance = rbRandom_Unit(random);
    double wanted = chance < 0.3 ? f->settings.shell * rbRandom_Symmetric(random)
                                 : 0.2 * rbRandom_Unit(random) * rbRandom_Unit(random);
    approach(f, wanted);
    rbSeparation s = measureBodies(f);
    double threshold =
        2.0 * f->settings.shell + f->scene.places[0].reach + f->scene.places[1].reach;
    rbContactPairs* pairs = makePairs(&f->scene, &f->settings);
    // the second query uses the result of the first
    for (int look = 0; look < 2; ++look) {
        rbContactSet set = findContacts(pairs, &f->scene);
        if (fabs(s.distance - threshold) > 1e-8) {
            assert_int_equal(set.contactCount > 0, s.distance < threshold);
        }
        if (set.contactCount > 0) {
            checkFound(f, &set, &s);
        }
        rbContactPairs_Keep(pairs);
        setPairPose(&f->scene, 0, f->scene.places[0].pose.position,
                    f->scene.places[0].pose.orientation);
        movePairBody(&f->scene, 0, rbScale(1e-12, rbRandom_Direction(random)));
    }
    rbDestroyContactPairs(pairs);
    destroyPairScene(&f->scene);
}

// B-58, B-62
static void whatIsNearIsFoundWhereItIs(void** state)
{
    (void)state;
    static Finding finding;
    rbRandom random = {rbTest_Seed(711)};
    finding.settings = rbDefaultContactSettings();
    finding.scratch = test_malloc(rbGetSeparationScratchSize());
    int count = rbTest_Count(40, 1000);
    for (int n = 0; n < count; ++n) {
        for (int a = 0; a < KIND_PLANE; ++a) {
            for (int b = a; b < KINDS; ++b) {
                findOne(&finding, &random, a, b);
            }
        }
    }
    test_free(finding.scratch);
}

// Turns both bodies as one about an axis through the first.
static void turnTogether(Finding* f, rbVec3 axis, double angle)
{
    rbVec3 center = f->scene.places[0].pose.position;
    rbVec3 v = rbScale(sin(0.5 * angle), axis);
    rbQuat q = rbNormalizeQuat((rbQuat){cos(0.5 * angle), v.x, v.y, v.z});
    rbTransform common = {rbSub(center, rbRotate(q, center)), q};
    for (int i = 0; i < 2; ++i) {
        const rbRowPose* pose = &f->scene.places[i].pose;
        rbTransform moved =
            rbMulTransforms(common, (rbTransform){pose->position, pose->orientation});
        setPairPose(&f->scene, i, moved.p, rbNormalizeQuat(moved.q));
    }
}

// For bodies that hardly move relative to each other, with the sweeps of a game: least gap compared
// with the true distance.
static void carryOne(Finding* f, rbRandom* random, int kindA, int kindB)
{
    const double small = 2e-5; // m and rad, of a step
    makePair(f, random, kindA, kindB);
    approach(f, 1e-4);
    rbVec3 axis = rbRandom_Direction(random);
    rbContactPairs* pairs = makePairs(&f->scene, &f->settings);
    for (int step = 0; step < 40; ++step) {
        rbSeparation s = measureBodies(f);
        rbContactSet set = findContacts(pairs, &f->scene);
        assert_true(set.contactCount > 0);
        double least = INFINITY;
        for (int k = 0; k < set.pointCount; ++k) {
            least = fmin(least, set.points[k].gap);
        }
        // the normal stays fixed: where corners meet, passing bodies separate more than it shows
        double excess = least + f->settings.shell - s.distance;
        if (s.distance >= 0.0 || kindB != KIND_MESH) { // otherwise the depth is an estimate
            checkBelow(excess, 2e-7);
        }
        checkBelow(-excess, small * step + 1e-9);
        rbContactPairs_Keep(pairs);
        movePairBody(&f->scene, 1, rbScale(small, rbRandom_Direction(random)));
        turnPairBody(&f->scene, 1, rbRandom_Direction(random), small * rbRandom_Symmetric(random));
        if (f->scene.shapes[1].isMoved) { // half spaces stay
            turnTogether(f, axis, 4e-3);
        }
    }
    rbDestroyContactPairs(pairs);
    destroyPairScene(&f->scene);
}

// B-62
static void carriedPointsHoldTheGap(void** state)
{
    (void)state;
    static Finding finding;
    rbRandom random = {rbTest_Seed(713)};
    finding.settings = rbDefaultContactSettings();
    finding.settings.substeps = 5;
    finding.scratch = test_malloc(rbGetSeparationScratchSize());
    int count = rbTest_Count(4, 100);
    for (int n = 0; n < count; ++n) {
        for (int a = 0; a < KIND_PLANE; ++a) {
            for (int b = a; b < KINDS; ++b) {
                carryOne(&finding, &random, a, b);
            }
        }
    }
    test_free(finding.scratch);
}

// ----------------------------------------------------------------------------------- thrown bodies

typedef struct Throw {
    rbVec3 position;
    rbVec3 velocity;
    rbVec3 spin;
    rbQuat orientation;
} Throw;

static void addThrown(rbWorld* world, int kind, const Throw* thrown, double restitution)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = kind == KIND_PLANE ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
    def.position = thrown->position;
    def.orientation = thrown->orientation;
    def.linearVelocity = thrown->velocity;
    def.angularVelocity = thrown->spin;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, makeKind(kind));
    shape.material.restitution = restitution;
    shape.material.friction = 0.5;
    if (RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
}

// Two tumbling bodies thrown at each other; one thrown at a floor under gravity.
static rbContactStatistics throwPair(rbRandom* random, int kindA, int kindB, double speed,
                                     double spin)
{
    const double step = 1.0 / 60.0;
    bool isFloor = kindB == KIND_PLANE;
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.step = step;
    def.gravity = rbMakeVec3(0.0, 0.0, isFloor ? -9.81 : 0.0);
    rbWorld* world = rbCreateWorld(&def, NULL);
    rbVec3 direction = rbRandom_Direction(random);
    rbVec3 aside = rbScale(0.2, rbRandom_Direction(random));
    double restitution = 0.3 * rbRandom_Unit(random);
    Throw a = {rbAddScaled(aside, 1.1, direction), rbScale(-0.5 * speed, direction), RB_VEC3_ZERO,
               rbRandom_Quat(random)};
    Throw b = {RB_VEC3_ZERO, rbScale(0.5 * speed, direction), RB_VEC3_ZERO, rbRandom_Quat(random)};
    a.spin = rbScale(spin * rbRandom_Unit(random), rbRandom_Direction(random));
    b.spin = rbScale(spin * rbRandom_Unit(random), rbRandom_Direction(random));
    if (isFloor) {
        a.position = rbMakeVec3(0.0, 0.0, 0.55);
        b = (Throw){RB_VEC3_ZERO, RB_VEC3_ZERO, RB_VEC3_ZERO, RB_QUAT_IDENTITY};
    }
    addThrown(world, kindA, &a, restitution);
    addThrown(world, kindB, &b, restitution);
    rbError error = {0};
    if (rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    (void)rbWorld_Advance(world, isFloor ? 0.8 : 0.6);
    rbContactStatistics statistics = rbWorld_GetContactStatistics(world);
    rbDestroyWorld(world);
    return statistics;
}

// Steps of 1/60 s in which bodies of 0.3 m move by 0.05 m and turn by 0.1. Of 43,000 pairs one, an
// ellipsoid and a compound, overlapped by 0.03 mm, in a step that reported that it missed its
// tolerance. G-01
static void tumblingBodiesDoNotOverlap(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(712)};
    rbContactSettings settings = rbDefaultContactSettings();
    settings.tolerance = 1e-6;
    int count = rbTest_Count(8, 200);
    int told = 0;
    for (int n = 0; n < count; ++n) {
        for (int a = 0; a < KIND_PLANE; ++a) {
            for (int b = a; b < KINDS; ++b) {
                rbContactStatistics done = throwPair(&random, a, b, 3.0, 6.0);
                if (done.deepest > settings.shell + settings.tolerance) {
                    told += done.unmetSteps > 0;
                    if (done.unmetSteps == 0 || told > count * PAIRS / 5000) {
                        fail_msg("kinds %d and %d overlap by %g m", a, b, done.deepest);
                    }
                }
            }
        }
    }
}

RB_TEST_GROUP(prop_finding, cmocka_unit_test(whatIsNearIsFoundWhereItIs),
              cmocka_unit_test(carriedPointsHoldTheGap),
              cmocka_unit_test(tumblingBodiesDoNotOverlap));
