// Measurements of the contacts suite: overlaps, speeds and escapes from poses, by the same
// functions for all engines.
//
// Depths of pairs come from rbMeasureSeparation in double precision; floor and walls count as half
// spaces. For the hills: corners and points along the edges of a cube below the triangle under
// them, and corners of triangles within the cube, along its nearest face.
#include "base/core/memory.h"
#include "contact_runs.h"
#include "peers/peer_pose.h"

#include <rattleback/broadphase.h>
#include <rattleback/collision.h>

#include <math.h>

#define EDGE_PARTS 16
#define CELLS 128

typedef struct PileChecker {
    const rbContactScene* scene;
    const rbPeerBodyState* states;
    rbTransform* places; // of the geometries
    void* scratch;
    const int* partners; // of a moving body: the body it hangs on; -1: none
    double* depths;      // of overlapping pairs
    int depthCapacity;
    double sum;
    rbContactVerdict verdict;
} PileChecker;

static const rbGeometry* getGeometry(const PileChecker* checker, int body)
{
    return checker->scene->colliders[checker->scene->bodies[body].collider].ours;
}

static void noteDepth(PileChecker* checker, double depth, bool isWall)
{
    if (depth <= 0.0) {
        return;
    }
    int count = checker->verdict.overlapCount++;
    if (count == checker->depthCapacity) {
        checker->depthCapacity = count == 0 ? 1024 : 2 * count;
        checker->depths = rbGrow(checker->depths, (size_t)count * sizeof *checker->depths,
                                 (size_t)checker->depthCapacity * sizeof *checker->depths);
    }
    checker->depths[count] = depth;
    checker->sum += depth;
    checker->verdict.deepest = fmax(checker->verdict.deepest, depth);
    if (isWall) {
        checker->verdict.deepestWall = fmax(checker->verdict.deepestWall, depth);
    }
}

static void checkPair(PileChecker* checker, int a, int b)
{
    if (checker->partners[a] == b || checker->partners[b] == a) {
        return;
    }
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = getGeometry(checker, a);
    input.geometryB = getGeometry(checker, b);
    input.transformBtoA = rbInvMulTransforms(checker->places[a], checker->places[b]);
    rbSeparation separation;
    if (rbMeasureSeparation(&input, NULL, checker->scratch, &separation, NULL) == RB_STATUS_OK) {
        noteDepth(checker, -separation.distance, false);
    }
}

static void checkPairs(PileChecker* checker)
{
    int count = checker->scene->movingCount;
    size_t size = (size_t)count * sizeof(rbBounds);
    rbBounds* boxes = rbAlloc(size);
    rbIdList pairs = {0};
    for (int i = 0; i < count; ++i) {
        boxes[i] = rbGeometry_GetBounds(getGeometry(checker, i), checker->places[i]);
    }
    rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    rbBroadPhase_PlaceAll(broad, boxes, count);
    rbBroadPhase_FindPairs(broad, &pairs);
    for (int i = 0; i + 1 < pairs.count; i += 2) {
        checkPair(checker, pairs.ids[i], pairs.ids[i + 1]);
    }
    rbIdList_Free(&pairs);
    rbDestroyBroadPhase(broad);
    rbFree(boxes, size);
}

static void checkWalls(PileChecker* checker, int body)
{
    bool isOut = false;
    rbTransform place = checker->places[body];
    for (int k = 0; k < checker->scene->wallCount; ++k) {
        const rbPeerWall* wall = &checker->scene->walls[k];
        rbVec3 normal = rbMakeVec3(wall->normal[0], wall->normal[1], wall->normal[2]);
        rbVec3 inward = rbInvRotate(place.q, rbNeg(normal));
        rbVec3 lowest =
            rbTransformPoint(place, rbGeometry_GetSupport(getGeometry(checker, body), inward));
        noteDepth(checker, wall->offset - rbDot(normal, lowest), true);
        isOut = isOut || rbDot(normal, place.p) < wall->offset;
    }
    checker->verdict.escapedCount += isOut ? 1 : 0;
}

// ------------------------------------------------------------------------------------------- hills

double rbGetTerrainHeight(double x, double z, rbVec3* normal)
{
    double u = x + 0.5 * CELLS;
    double v = z + 0.5 * CELLS;
    if (!(u >= 0.0 && v >= 0.0 && u < CELLS && v < CELLS)) {
        return -INFINITY;
    }
    double i = floor(u);
    double j = floor(v);
    // the diagonal runs from (i, j) to (i + 1, j + 1): the third corner is off it
    double side = u - i >= v - j ? 1.0 : 0.0;
    double x0 = i - 0.5 * CELLS;
    double z0 = j - 0.5 * CELLS;
    double low = rbGetHillHeight(x0, z0);
    double high = rbGetHillHeight(x0 + 1.0, z0 + 1.0);
    double third = rbGetHillHeight(x0 + side, z0 + 1.0 - side);
    double slopeX = side > 0.0 ? third - low : high - third;
    double slopeZ = side > 0.0 ? high - third : third - low;
    if (normal != NULL) {
        *normal = rbNormalize(rbMakeVec3(-slopeX, 1.0, -slopeZ));
    }
    return low + slopeX * (u - i) + slopeZ * (v - j);
}

// Depth of a point below the hills.
static double getHillDepth(rbVec3 point)
{
    rbVec3 normal = {0.0, 1.0, 0.0};
    double height = rbGetTerrainHeight(point.x, point.z, &normal);
    return (height - point.y) * normal.y;
}

static double getDepthOfEdges(rbTransform place, rbVec3 half)
{
    double deepest = -INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
        for (int edge = 0; edge < 4; ++edge) {
            double sides[3] = {0.0, 0.0, 0.0};
            sides[(axis + 1) % 3] = edge % 2 == 0 ? 1.0 : -1.0;
            sides[(axis + 2) % 3] = edge / 2 == 0 ? 1.0 : -1.0;
            for (int k = 0; k <= EDGE_PARTS; ++k) {
                sides[axis] = 2.0 * k / EDGE_PARTS - 1.0;
                rbVec3 local = rbMulEach(half, rbMakeVec3(sides[0], sides[1], sides[2]));
                deepest = fmax(deepest, getHillDepth(rbTransformPoint(place, local)));
            }
        }
    }
    return deepest;
}

static double getDepthOfPeaks(rbTransform place, rbVec3 half)
{
    double deepest = -INFINITY;
    double reach = rbLength(half);
    int lastX = (int)floor(place.p.x + reach);
    int lastZ = (int)floor(place.p.z + reach);
    for (int x = (int)ceil(place.p.x - reach); x <= lastX; ++x) {
        for (int z = (int)ceil(place.p.z - reach); z <= lastZ; ++z) {
            rbVec3 peak = rbMakeVec3(x, rbGetHillHeight(x, z), z);
            rbVec3 inside = rbSub(half, rbAbs3(rbInvTransformPoint(place, peak)));
            deepest = fmax(deepest, fmin(inside.x, fmin(inside.y, inside.z)));
        }
    }
    return deepest;
}

static void checkHills(PileChecker* checker, int body)
{
    rbTransform place = checker->places[body];
    if (fabs(place.p.x) > 0.5 * CELLS || fabs(place.p.z) > 0.5 * CELLS ||
        getHillDepth(place.p) > 0.0) {
        ++checker->verdict.escapedCount;
        return;
    }
    rbVec3 half = rbGeometry_GetData(getGeometry(checker, body)).box.halfExtents;
    noteDepth(checker, fmax(getDepthOfEdges(place, half), getDepthOfPeaks(place, half)), true);
}

// ------------------------------------------------------------------------------------ measurements

static void checkMotion(PileChecker* checker)
{
    double twiceEnergy = 0.0;
    double mass = 0.0;
    for (int i = 0; i < checker->scene->movingCount; ++i) {
        const rbPeerContactBody* body = &checker->scene->bodies[i];
        const rbPeerBodyState* state = &checker->states[i];
        rbTransform pose = rbReadPeerPose(&state->pose);
        rbVec3 start = rbReadPeerPose(&body->pose).p;
        const double* v = state->velocity;
        const double* w = state->angularVelocity;
        rbVec3 spin = rbInvRotate(rbNormalizeQuat(pose.q), rbMakeVec3(w[0], w[1], w[2]));
        rbVec3 moments = rbMakeVec3(body->moments[0], body->moments[1], body->moments[2]);
        double twice = body->mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) +
                       rbDot(spin, rbMulEach(moments, spin));
        twiceEnergy += twice;
        bool isMoving = twice > body->mass * RB_MOVING_SPEED * RB_MOVING_SPEED;
        checker->verdict.movingCount += isMoving ? 1 : 0;
        mass += body->mass;
        checker->verdict.displacement =
            fmax(checker->verdict.displacement, rbDistance(pose.p, start));
    }
    checker->verdict.speed = sqrt(twiceEnergy / mass);
}

// Distance of the two anchors.
static double getGap(const PileChecker* checker, const rbPeerJoint* joint)
{
    const double* a = joint->anchorA;
    const double* b = joint->anchorB;
    rbVec3 anchorA = rbMakeVec3(a[0], a[1], a[2]);
    if (joint->bodyA >= 0) {
        anchorA = rbTransformPoint(rbReadPeerPose(&checker->states[joint->bodyA].pose), anchorA);
    }
    rbTransform poseB = rbReadPeerPose(&checker->states[joint->bodyB].pose);
    return rbLength(rbSub(rbTransformPoint(poseB, rbMakeVec3(b[0], b[1], b[2])), anchorA));
}

static void summarize(PileChecker* checker)
{
    rbContactVerdict* verdict = &checker->verdict;
    if (verdict->overlapCount > 0) {
        verdict->mean = checker->sum / verdict->overlapCount;
        verdict->p99 = rbSummarizeDurations(checker->depths, verdict->overlapCount).p99;
    }
    for (int i = 0; i < checker->scene->jointCount; ++i) {
        double gap = getGap(checker, &checker->scene->joints[i]);
        verdict->jointGap = fmax(verdict->jointGap, gap);
    }
}

rbContactVerdict rbContactScene_Check(const rbContactScene* scene, const rbPeerBodyState* states)
{
    PileChecker checker = {.scene = scene, .states = states};
    size_t placeSize = (size_t)scene->movingCount * sizeof *checker.places;
    checker.places = rbAlloc(placeSize);
    checker.scratch = rbAlloc(rbGetSeparationScratchSize());
    for (int i = 0; i < scene->movingCount; ++i) {
        rbTransform pose = rbReadPeerPose(&states[i].pose);
        pose.q = rbNormalizeQuat(pose.q);
        const rbPeerCollider* collider = &scene->colliders[scene->bodies[i].collider];
        checker.places[i] = rbMulTransforms(pose, rbReadPeerPose(&collider->oursPose));
    }
    size_t partnerSize = (size_t)scene->movingCount * sizeof(int);
    int* partners = rbAlloc(partnerSize);
    for (int i = 0; i < scene->movingCount; ++i) {
        partners[i] = -1;
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        partners[scene->joints[i].bodyB] = scene->joints[i].bodyA;
    }
    checker.partners = partners;
    checkPairs(&checker);
    for (int i = 0; i < scene->movingCount; ++i) {
        checkWalls(&checker, i);
        if (scene->isTerrain) {
            checkHills(&checker, i);
        }
    }
    summarize(&checker);
    checkMotion(&checker);
    rbFree(checker.depths, (size_t)checker.depthCapacity * sizeof *checker.depths);
    rbFree(partners, partnerSize);
    rbFree(checker.scratch, rbGetSeparationScratchSize());
    rbFree(checker.places, placeSize);
    return checker.verdict;
}
