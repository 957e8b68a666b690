// Granular contact on domains against closed forms: rolling, sliding, rebound; and a heap that
// carries its weight.
#include "cluster/law.h"
#include "cluster_worlds.h"

#include <rattleback/world.h>

#include <math.h>
#include <stdio.h>

#define GRAVITY 9.81
#define SLOPE_SIN 0.6 // of the angle of the slope
#define SLOPE_COS 0.8

// A sphere of radius 0.5 and mass 2 on a plane; gravity is inclined instead.
static rbCluster* createSlope(double friction)
{
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.law = "granular";
    def.step = 1e-3;
    def.radiusMax = 0.5;
    def.friction = friction;
    def.restitution = 0.0;
    def.gravity = rbMakeVec3(GRAVITY * SLOPE_SIN, 0.0, -GRAVITY * SLOPE_COS);
    def.high = rbMakeVec3(10.0, 3.0, 3.0);
    def.wallCount = 1;
    def.walls[0].normal = rbMakeVec3(0.0, 0.0, 1.0);
    rbCluster* cluster = rbCreateCluster(rbTestRanks(), &def, &error);
    assert_non_null(cluster);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        rbClusterSphere sphere = {.uid = 1, .radius = 0.5, .mass = 2.0};
        sphere.position = rbMakeVec3(1.0, 1.5, 0.5);
        assert_int_equal(rbCluster_AddSphere(cluster, &sphere, NULL), RB_STATUS_OK);
    }
    return cluster;
}

// Rolls over the borders of cells, from rank to rank, for a second.
static void checkSlope(double friction, double acceleration, double spinRate)
{
    rbCluster* cluster = createSlope(friction);
    rbAdvanceCluster(cluster, 1000);
    rbClusterReport report = rbCluster_GetReport(cluster);
    int count = 0;
    rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
    assert_int_equal(report.bodies, 1);
    checkRelative(report.momentum.x, 2.0 * acceleration, 1e-9);
    if (count == 1) {
        checkRelative(spheres[0].spin.y, spinRate, 1e-9);
        checkRelative(spheres[0].position.x - 1.0, 0.5 * acceleration, 2e-3); // first order in h
        checkNear(spheres[0].position.z, 0.5, 1e-9);
    }
    rbFreeSpheres(spheres, count);
    rbDestroyCluster(cluster);
}

// Without slip a uniform sphere accelerates by 5/7 g sin.
static void spheresRollAsInTheBook(void** state)
{
    (void)state;
    double a = 5.0 / 7.0 * GRAVITY * SLOPE_SIN;
    checkSlope(0.5, a, a / 0.5);
}

// With friction below 2/7 of the slope it slides: g (sin - mu cos), and friction spins it up.
static void spheresSlideAsInTheBook(void** state)
{
    (void)state;
    double mu = 0.1;
    double a = GRAVITY * (SLOPE_SIN - mu * SLOPE_COS);
    checkSlope(mu, a, 2.5 * mu * GRAVITY * SLOPE_COS / 0.5);
}

// Two spheres that meet head on across a periodic face: restitution is that of the definition, and
// momentum is kept.
static void reboundHasTheRestitution(void** state)
{
    (void)state;
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.law = "granular";
    def.step = 1e-3;
    def.radiusMax = 0.5;
    def.restitution = 0.7;
    def.periodicBox = rbMakeVec3(12.0, 12.0, 12.0);
    rbCluster* cluster = rbCreateCluster(rbTestRanks(), &def, &error);
    assert_non_null(cluster);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        rbClusterSphere left = {.uid = 8, .radius = 0.5, .mass = 2.0};
        rbClusterSphere right = {.uid = 3, .radius = 0.4, .mass = 1.0};
        left.position = rbMakeVec3(5.0, 5.9, 0.0);
        left.velocity = rbMakeVec3(3.0, 0.0, 0.0);
        right.position = rbMakeVec3(-5.0, 5.9, 0.0);
        right.velocity = rbMakeVec3(-1.0, 0.0, 0.0);
        assert_int_equal(rbCluster_AddSphere(cluster, &left, NULL), RB_STATUS_OK);
        assert_int_equal(rbCluster_AddSphere(cluster, &right, NULL), RB_STATUS_OK);
    }
    rbAdvanceCluster(cluster, 600);
    rbClusterReport report = rbCluster_GetReport(cluster);
    checkNear(report.momentum.x, 5.0, 1e-12);
    // the center of mass keeps 5/3 m/s; relative speed 4 becomes 2.8: 0.5 mu 2.8^2 about it
    checkRelative(report.kinetic, 0.5 * 3.0 * 25.0 / 9.0 + 0.5 * (2.0 / 3.0) * 2.8 * 2.8, 1e-9);
    rbDestroyCluster(cluster);
}

#define TILES 6

// A floor at z = 0 of boxes or of triangles, 0.7 m each, so that spheres cross many seams; of one
// box that is driven along x; of one box whose surface is a conveyor along x.
typedef enum Floor {
    FLOOR_BOXES,
    FLOOR_TRIANGLES,
    FLOOR_DRIVEN,
    FLOOR_BELT
} Floor;

static void addShape(rbWorld* world, rbBodyId body, rbGeometry* geometry, rbVec3 place, rbVec3 belt)
{
    rbShapeDef def = rbDefaultShapeDef();
    def.geometry = rbWorld_AddGeometry(world, geometry);
    def.transform.p = place;
    def.surfaceVelocity = belt;
    rbError error = {0};
    (void)rbCreateShape(world, body, &def, &error);
    assert_string_equal(error.message, "");
}

static rbGeometry* createTiles(void)
{
    rbVec3 vertices[(TILES + 1) * (TILES + 1)];
    int indices[TILES * TILES * 6];
    int n = TILES + 1;
    int* at = indices;
    for (int i = 0; i < n * n; ++i) {
        int row = i / n;
        vertices[i] = rbMakeVec3(0.7 * (i % n), 0.7 * row, 0.0);
    }
    for (int i = 0; i < TILES * TILES; ++i) {
        int k = i / TILES * n + i % TILES;
        const int corners[6] = {k, k + 1, k + n + 1, k, k + n + 1, k + n};
        for (int j = 0; j < 6; ++j) {
            *at++ = corners[j];
        }
    }
    rbMeshDef mesh = {.vertices = vertices,
                      .vertexCount = n * n,
                      .indices = indices,
                      .faceCount = TILES * TILES * 2};
    return rbCreateMesh(&mesh, NULL);
}

static rbWorld* createFloor(Floor floor, double speed, rbBodyId* body)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.engine = RB_ENGINE_STEP;
    rbWorld* world = rbCreateWorld(&worldDef, NULL);
    assert_non_null(world);
    rbBodyDef def = rbDefaultBodyDef();
    rbPathDef path = rbDefaultPathDef();
    path.speed = speed;
    path.direction = rbMakeVec3(1.0, 0.0, 0.0);
    def.type = floor == FLOOR_DRIVEN ? RB_BODY_KINEMATIC : RB_BODY_STATIC;
    def.path = floor == FLOOR_DRIVEN ? &path : NULL;
    *body = rbCreateBody(world, &def, NULL);
    rbVec3 belt = rbMakeVec3(floor == FLOOR_BELT ? speed : 0.0, 0.0, 0.0);
    if (floor == FLOOR_TRIANGLES) {
        addShape(world, *body, createTiles(), RB_VEC3_ZERO, RB_VEC3_ZERO);
    } else if (floor == FLOOR_BOXES) {
        for (int i = 0; i < TILES; ++i) {
            addShape(world, *body, rbCreateBox(rbMakeVec3(0.35, 3.0, 0.1), NULL),
                     rbMakeVec3(0.35 + 0.7 * i, 0.0, -0.1), RB_VEC3_ZERO);
        }
    } else {
        addShape(world, *body, rbCreateBox(rbMakeVec3(9.0, 9.0, 0.1), NULL),
                 rbMakeVec3(0.0, 0.0, -0.1), belt);
    }
    return world;
}

// A sphere of radius 0.3 on a floor for a second, from (0.5, 0.6) with a velocity along (1, 0.4)
// and the spin of rolling; returns it, count 0: on another rank.
static rbClusterSphere rollOn(Floor floor, double floorSpeed, double speed, double rolling,
                              int* count)
{
    rbError error = {0};
    rbBodyId body;
    rbWorld* world = createFloor(floor, floorSpeed, &body);
    rbClusterDef def = rbDefaultClusterDef();
    rbClusterPair pair = {.friction = 0.5, .rolling = rolling};
    const int materials[TILES] = {1, 1, 1, 1, 1, 1};
    def.law = "granular";
    def.step = 1e-3;
    def.radiusMax = 0.3;
    def.gravity.z = -GRAVITY;
    def.high = rbMakeVec3(4.0, 4.0, 2.0);
    rbCluster* cluster = rbCreateCluster(rbTestRanks(), &def, &error);
    assert_non_null(cluster);
    assert_int_equal(rbCluster_SetPair(cluster, 0, 1, &pair, &error), RB_STATUS_OK);
    assert_int_equal(rbCluster_AddWall(cluster, world, body, materials, &error), RB_STATUS_OK);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        rbClusterSphere sphere = {.uid = 1, .radius = 0.3, .mass = 2.0};
        sphere.position = rbMakeVec3(0.5, 0.6, 0.3);
        sphere.velocity = rbMakeVec3(speed, 0.4 * speed, 0.0);
        sphere.spin = rbMakeVec3(-0.4 * speed / 0.3, speed / 0.3, 0.0);
        assert_int_equal(rbCluster_AddSphere(cluster, &sphere, &error), RB_STATUS_OK);
    }
    rbAdvanceCluster(cluster, 1000);
    rbClusterSphere* spheres = rbCluster_Gather(cluster, count);
    rbClusterSphere sphere = *count > 0 ? spheres[0] : (rbClusterSphere){0};
    rbFreeSpheres(spheres, *count);
    rbDestroyCluster(cluster);
    rbDestroyWorld(world);
    return sphere;
}

// G-02b: seams between boxes and triangles are no bumps: a sphere rolls over them as over a plane.
static void spheresRollOverSeams(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        int count = 0;
        rbClusterSphere sphere =
            rollOn(i == 0 ? FLOOR_BOXES : FLOOR_TRIANGLES, 0.0, 2.0, 0.0, &count);
        if (count > 0) {
            checkRelative(sphere.velocity.x, 2.0, 1e-9);
            checkRelative(sphere.velocity.y, 0.8, 1e-9);
            checkNear(sphere.position.z, 0.3, 1e-9);
            checkNear(sphere.position.x, 2.5, 1e-9);
        }
    }
}

// A driven floor and a conveyor take a sphere at rest along, until it rolls: to 2/7 of their speed.
static void drivenFloorsTakeSpheresAlong(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        int count = 0;
        rbClusterSphere sphere = rollOn(i == 0 ? FLOOR_DRIVEN : FLOOR_BELT, 0.7, 0.0, 0.0, &count);
        if (count > 0) {
            checkRelative(sphere.velocity.x, 0.2, 1e-9);
            checkRelative(sphere.spin.y, (0.2 - 0.7) / 0.3, 1e-9);
        }
    }
}

// A torque c m g against rolling slows a sphere down by 5/7 c g/r, until it rests.
static void rollingResistanceIsThatOfTheBook(void** state)
{
    (void)state;
    int count = 0;
    double rate = 5.0 / 7.0 * 0.01 * GRAVITY / 0.3;
    rbClusterSphere sphere = rollOn(FLOOR_BELT, 0.0, 1.0, 0.01, &count);
    if (count > 0) {
        double speed = sqrt(1.16) - rate; // of (1, 0.4), after a second
        checkRelative(rbLength(sphere.velocity), speed, 1e-9);
        checkRelative(sphere.velocity.y / sphere.velocity.x, 0.4, 1e-9);
    }
    sphere = rollOn(FLOOR_BELT, 0.0, 0.1, 0.01, &count);
    checkNear(rbLength(sphere.velocity), 0.0, 1e-12);
}

// Normal impulses of the floor, N s, of the last step.
static double weighFloor(rbCluster* cluster)
{
    rbExactSum sum = {0};
    const rbDomain* domain = &cluster->domain;
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        if (pair->b < 0) {
            rbExactSum_Add(&sum, -pair->impulse.z);
        }
    }
    rbRanks_SumExact(rbTestRanks(), &sum, 1);
    return rbExactSum_Round(&sum);
}

// Sum over all spheres of weight times height of the center: what forces within a heap at rest,
// times the lever of each, add up to.
static double sumLevers(rbCluster* cluster)
{
    int count = 0;
    double sum = 0.0;
    rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
    for (int i = 0; i < count; ++i) {
        sum += spheres[i].mass * GRAVITY * spheres[i].position.z;
    }
    rbFreeSpheres(spheres, count);
    return sum;
}

// G-02a: a heap settles; then the floor carries its weight, and spheres overlap by less than a
// percent of a radius. Single spheres go on rolling between others on the floor: there is no
// rolling friction.
static void heapsRestOnTheFloor(void** state)
{
    (void)state;
    rbTestHeap heap = {.edge = 4, .layers = 3, .friction = 0.5, .partition = "morton"};
    rbCluster* cluster = rbCreateTestHeap(rbTestRanks(), &heap);
    double mass = 0.0;
    for (int i = 0; i < 48; ++i) {
        double radius = i % 3 == 0 ? 0.4 : 0.5;
        mass += 4.0 * radius * radius * radius;
    }
    rbAdvanceCluster(cluster, 3000);
    double carried = 0.0;
    double stress = 0.0; // vertical, times the volume of a box that has all spheres in it
    double levers = 0.0;
    rbBounds box = {{-5.0, -5.0, 0.0}, {5.0, 5.0, 10.0}};
    for (int i = 0; i < 100; ++i) {
        rbAdvanceCluster(cluster, 1);
        carried += weighFloor(cluster) / 100.0;
        stress += 1000.0 * rbCluster_Average(cluster, box).stress.cz.z / 100.0;
        levers += sumLevers(cluster) / 100.0;
    }
    rbClusterReport report = rbCluster_GetReport(cluster);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        (void)printf("heap: carried %.5f of its weight, kinetic %.1e J, overlap %.1e m, %lld "
                     "contacts, %d colors\n",
                     carried / (mass * GRAVITY * 2e-3), report.kinetic, report.penetrationMax,
                     (long long)report.contacts, report.colors);
    }
    checkRelative(carried, mass * GRAVITY * 2e-3, 1e-3);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        checkRelative(stress, levers, 1e-3);
    }
    checkBelow(report.kinetic, 1e-3);
    checkBelow(report.penetrationMax, 0.005);
    assert_true(report.contacts > 70);
    rbDestroyCluster(cluster);
}

// Forces per sphere in a heap at rest on the floor, and its kinetic energy without drift.
static double countForces(double friction, double* kinetic)
{
    rbTestHeap heap = {.edge = 5, .layers = 8, .friction = friction, .partition = "morton"};
    rbCluster* cluster = rbCreateTestHeap(rbTestRanks(), &heap);
    rbBounds box = {{-9.0, -9.0, -1.0}, {9.0, 9.0, 20.0}};
    rbAdvanceCluster(cluster, 8000);
    rbClusterAverage average = rbCluster_Average(cluster, box);
    rbClusterReport report = rbCluster_GetReport(cluster);
    int64_t onFloor = 0;
    for (int i = 0; i < cluster->domain.pairs.count; ++i) {
        const rbNearPair* pair = &cluster->domain.pairs.data[i];
        onFloor += pair->b < 0 && rbLengthSquared(pair->impulse) > 0.0;
    }
    rbRanks_SumIntegers(rbTestRanks(), &onFloor, 1);
    *kinetic = report.kinetic - 0.5 * rbLengthSquared(report.momentum) / average.mass;
    rbDestroyCluster(cluster);
    return 0.5 * average.coordination + (double)onFloor / (double)average.count;
}

// G-02a: without friction forces are as many as the equations of balance, three a sphere, except
// for the two of all together in a periodic box; the overlaps that contacts leave add 7.9/2 sqrt(3
// f d), with d in diameters and the solid fraction f (O'Hern and others 2003). With friction each
// force has three components, and fewer contacts do.
static void smoothHeapsAreIsostatic(void** state)
{
    (void)state;
    double kinetic = 0.0;
    double forces = countForces(0.0, &kinetic);
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        (void)printf("heap: %.3f forces a sphere without friction, kinetic %.1e J\n", forces,
                     kinetic);
    }
    checkBelow(kinetic, 1e-3);
    checkNear(forces, 3.0 - 2.0 / 200.0, 0.5 * 7.9 * sqrt(3.0 * 0.64 * 5e-4));
    forces = countForces(0.5, &kinetic);
    assert_true(forces > 2.0 && forces < 2.6);
}

RB_TEST_GROUP(phys_grains, cmocka_unit_test(spheresRollAsInTheBook),
              cmocka_unit_test(spheresSlideAsInTheBook), cmocka_unit_test(reboundHasTheRestitution),
              cmocka_unit_test(spheresRollOverSeams),
              cmocka_unit_test(drivenFloorsTakeSpheresAlong),
              cmocka_unit_test(rollingResistanceIsThatOfTheBook),
              cmocka_unit_test(heapsRestOnTheFloor), cmocka_unit_test(smoothHeapsAreIsostatic));
