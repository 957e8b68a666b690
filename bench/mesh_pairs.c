#include "mesh_pairs.h"

#include "lab/math/random3.h"
#include "peers/peer_pose.h"

#define SEED 41u
#define GAP_TOLERANCE 1e-7 // m
#define ROUNDS_MAX 40
#define DEEPER 0.06 // m, from the gap 0.01 to overlap

// The largest displacement of a point in a step of a path, m.
#define STEP_LENGTH (RB_MESH_MOTION * 2.0 * RB_BUMPY_RADIUS_MAX)
// The shares of a step of a path for spin, circling and holding the gap; their sum is 1.
#define SPIN_PART 0.4
#define ORBIT_PART 0.35
#define HOLD_PART 0.25

const struct rbMeshPlaceRow rbMeshPlaces[RB_MESH_PLACE_COUNT] = {
    [RB_MESH_FAR] = {"gap 2.0", 2.0},
    [RB_MESH_NEAR] = {"gap 0.1", 0.1},
    [RB_MESH_CLOSE] = {"gap 0.01", 0.01},
    [RB_MESH_OVERLAP] = {"overlapping", 0.0},
};

static void addPair(rbMeshSet* set, rbTransform a, rbTransform b)
{
    rbPeerPair pair = {rbWritePeerPose(a), rbWritePeerPose(b)};
    rbArray_Push(set->pairs, pair);
}

// How far B should move along the line of centers to reach the gap, to first order.
static double measureApproach(rbMeshRuler ruler, rbTransform a, rbTransform b, double gap,
                              double* error)
{
    rbPeerPair pair = {rbWritePeerPose(a), rbWritePeerPose(b)};
    rbPeerWitness witness;
    ruler.row->setPairs(ruler.state, &pair, 1, 0);
    ruler.row->measure(ruler.state, 0, -1, &witness);
    rbVec3 between = {witness.pointB[0] - witness.pointA[0], witness.pointB[1] - witness.pointA[1],
                      witness.pointB[2] - witness.pointA[2]};
    double slope = rbDot(rbNormalize(between), rbNormalize(b.p));
    *error = witness.distance - gap;
    return *error / fmax(slope, 0.5);
}

// Moves B along the line of centers until the surfaces are separated by the gap.
static rbTransform approach(rbMeshRuler ruler, rbTransform a, rbTransform b, rbMeshSet* set,
                            double gap)
{
    rbVec3 direction = rbNormalize(b.p);
    double error = INFINITY;
    for (int round = 0; round < ROUNDS_MAX && fabs(error) > GAP_TOLERANCE; ++round) {
        double step = measureApproach(ruler, a, b, gap, &error);
        if (fabs(error) > GAP_TOLERANCE) {
            b.p = rbAddScaled(b.p, -step, direction);
        }
    }
    set->gapErrorMax = fmax(set->gapErrorMax, fabs(error));
    return b;
}

static rbTransform sink(rbTransform b)
{
    b.p = rbAddScaled(b.p, -DEEPER, rbNormalize(b.p));
    return b;
}

void rbMakeMeshPairs(rbMeshRuler ruler, int count, rbMeshSet sets[RB_MESH_PLACE_COUNT])
{
    rbRandom random = {SEED};
    for (int i = 0; i < count; ++i) {
        rbTransform a = {{0.0, 0.0, 0.0}, rbNormalizeQuat(rbRandom_Quat(&random))};
        rbTransform b = {.q = rbNormalizeQuat(rbRandom_Quat(&random))};
        b.p = rbScale(2.0 * RB_BUMPY_RADIUS_MAX + rbMeshPlaces[RB_MESH_FAR].gap,
                      rbRandom_Direction(&random));
        for (int place = 0; place < RB_MESH_OVERLAP; ++place) {
            b = approach(ruler, a, b, &sets[place], rbMeshPlaces[place].gap);
            addPair(&sets[place], a, b);
        }
        addPair(&sets[RB_MESH_OVERLAP], a, sink(b));
    }
    for (int place = 0; place < RB_MESH_PLACE_COUNT; ++place) {
        sets[place].slotCount = count;
    }
}

static rbQuat turn(rbVec3 axis, double angle)
{
    double sine, cosine;
    rbSinCos(0.5 * angle, &sine, &cosine);
    rbQuat q = {cosine, sine * axis.x, sine * axis.y, sine * axis.z};
    return q;
}

// B after spinning and circling A, each by a fraction of a full step.
static rbTransform wander(rbTransform b, const rbVec3 axes[2], double part)
{
    double length = part * STEP_LENGTH;
    b.q = rbNormalizeQuat(rbMulQuat(turn(axes[0], SPIN_PART * length / RB_BUMPY_RADIUS_MAX), b.q));
    b.p = rbRotate(turn(axes[1], ORBIT_PART * length / rbLength(b.p)), b.p);
    return b;
}

// One step: B spins, circles A, and is moved back toward the gap. Any unused part of that share
// goes to the other motions, so that every step is about as long as allowed.
static rbTransform stepPath(rbMeshRuler ruler, rbTransform a, rbTransform b, const rbVec3 axes[2],
                            double gap, rbMeshSet* path)
{
    double error = 0.0;
    double hold = measureApproach(ruler, a, wander(b, axes, 1.0), gap, &error) / STEP_LENGTH;
    path->gapErrorMax = fmax(path->gapErrorMax, fabs(error));
    hold = fmin(fmax(hold, -HOLD_PART), HOLD_PART);
    b = wander(b, axes, (1.0 - fabs(hold)) / (SPIN_PART + ORBIT_PART));
    b.p = rbAddScaled(b.p, -hold * STEP_LENGTH, rbNormalize(b.p));
    return b;
}

// No point of B moves farther than the displacement of its center plus its radius times the angle.
static double boundMotion(const rbPeerPair* from, const rbPeerPair* to)
{
    rbTransform first = rbReadPeerPose(&from->b);
    rbTransform second = rbReadPeerPose(&to->b);
    rbQuat q = rbMulQuat(rbConjugate(first.q), second.q);
    double angle = 2.0 * rbAtan2(rbLength(rbMakeVec3(q.x, q.y, q.z)), fabs(q.w));
    return rbLength(rbSub(second.p, first.p)) + angle * RB_BUMPY_RADIUS_MAX;
}

static void makePath(rbMeshRuler ruler, const rbPeerPair* start, double gap, int seed,
                     int stepCount, rbMeshSet* path)
{
    rbRandom random = {SEED + 1000u + (uint64_t)seed};
    rbTransform a = rbReadPeerPose(&start->a);
    rbTransform b = rbReadPeerPose(&start->b);
    rbVec3 spin = rbRandom_Direction(&random);
    rbVec3 axes[2] = {spin, rbNormalize(rbCross(b.p, rbRandom_Direction(&random)))};
    for (int step = 0; step < stepCount; ++step) {
        addPair(path, a, b);
        b = stepPath(ruler, a, b, axes, gap, path);
    }
}

// Paths of one placement one after the other, then in the order of the queries.
void rbMakeMeshPaths(rbMeshRuler ruler, const rbMeshSet starts[RB_MESH_PLACE_COUNT], int pathCount,
                     int stepCount, rbMeshSet sets[RB_MESH_PLACE_COUNT])
{
    for (int place = 0; place < RB_MESH_OVERLAP; ++place) {
        RB_ASSERT(pathCount <= starts[place].pairs.count);
        rbMeshSet paths = {.slotCount = pathCount};
        for (int path = 0; path < pathCount; ++path) {
            makePath(ruler, &starts[place].pairs.data[path], rbMeshPlaces[place].gap, path,
                     stepCount, &paths);
        }
        for (int i = 0; i < paths.pairs.count; ++i) {
            int at = i % pathCount * stepCount + i / pathCount;
            rbArray_Push(sets[place].pairs, paths.pairs.data[at]);
        }
        sets[place].gapErrorMax = paths.gapErrorMax;
        rbArray_Free(paths.pairs);
    }
    const rbMeshSet* close = &sets[RB_MESH_CLOSE];
    for (int i = 0; i < close->pairs.count; ++i) {
        rbTransform b = sink(rbReadPeerPose(&close->pairs.data[i].b));
        addPair(&sets[RB_MESH_OVERLAP], rbReadPeerPose(&close->pairs.data[i].a), b);
    }
    for (int place = 0; place < RB_MESH_PLACE_COUNT; ++place) {
        rbMeshSet* set = &sets[place];
        set->slotCount = pathCount;
        for (int i = pathCount; i < set->pairs.count; ++i) {
            double motion = boundMotion(&set->pairs.data[i - pathCount], &set->pairs.data[i]);
            set->motionMax = fmax(set->motionMax, motion);
        }
        RB_ASSERT(set->motionMax <= (1.0 + 1e-9) * STEP_LENGTH);
    }
}

void rbFreeMeshSets(rbMeshSet sets[RB_MESH_PLACE_COUNT])
{
    for (int place = 0; place < RB_MESH_PLACE_COUNT; ++place) {
        rbArray_Free(sets[place].pairs);
        sets[place].gapErrorMax = 0.0;
        sets[place].motionMax = 0.0;
    }
}
