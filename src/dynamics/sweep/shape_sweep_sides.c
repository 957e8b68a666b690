// Bodies made of triangles in relative motion: selects the pairs of triangles to test.
#include "collision/convex/gjk.h"
#include "collision/geometry/box_tree_queries.h"
#include "dynamics/sweep/shape_sweep.h"

// Sine of the angle of a face to the motion up to which it counts as front-facing.
#define FRONT 1e-9
// Distance queries between a convex body and a triangle on its path; each gains a factor of four
// for a grazing motion.
#define NEWTON_MAX 256

// Corner i of a box has the signs of the bits of i: x, y, z. Counter-clockwise from outside.
static const rbIndex3 boxTriangles[12] = {
    {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}, {{0, 1, 5}}, {{0, 5, 4}},
    {{2, 6, 7}}, {{2, 7, 3}}, {{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}},
};

bool rbSweepSide_Init(rbSweepSide* side, const rbGeometry* geometry)
{
    *side = (rbSweepSide){0};
    if (geometry->type == RB_SHAPE_BOX) {
        rbVec3 h = geometry->data.box.halfExtents;
        for (int i = 0; i < 8; ++i) {
            side->corners[i] = rbMakeVec3((i & 1) != 0 ? h.x : -h.x, (i & 2) != 0 ? h.y : -h.y,
                                          (i & 4) != 0 ? h.z : -h.z);
        }
        side->vertices = side->corners;
        side->triangles = boxTriangles;
        side->vertexCount = 8;
        side->count = 12;
        return true;
    }
    const rbPolyhedron* polyhedron = geometry->polyhedron;
    if (polyhedron == NULL) {
        return false;
    }
    side->tree = polyhedron->tree;
    side->vertices = polyhedron->vertices;
    side->vertexCount = polyhedron->vertexCount;
    side->triangles = polyhedron->triangles;
    side->count = polyhedron->triangleCount;
    return true;
}

static void getTriangle(const rbSweepSide* side, int index, rbVec3 corners[3])
{
    for (int k = 0; k < 3; ++k) {
        corners[k] = side->vertices[side->triangles[index].v[k]];
    }
}

// ----------------------------------------------------------------------------------------- trees

// A part of a moving or resting tree, as a box in the frame of B.
typedef struct Part {
    rbVec3 center;
    rbVec3 half;
    double edge; // m, bound of all heights along the hint: lower for a moving part, upper for one
                 // at rest
} Part;

// The moving body, with the data that transform its boxes into the frame of B.
typedef struct Mover {
    const rbBoxTree* tree;
    rbTransform pose;
    rbMat3 rotation;
    rbMat3 sizes; // magnitudes of the rotation
    rbVec3 hint;  // of the search, in the frame of A
    int hintCount;
} Mover;

// The box of a slot in the frame of its tree.
static Part getBox(const rbBoxTree* tree, int slot)
{
    const rbBoxNode* node = &tree->nodes[slot / RB_BOX_WIDTH];
    int place = slot % RB_BOX_WIDTH;
    return (Part){.center = rbAdd(tree->origin, rbPickLane(node->center, place)),
                  .half = rbPickLane(node->half, place)};
}

static Part getStanding(const rbSweepSearch* search, const rbBoxTree* tree, int slot)
{
    Part part = getBox(tree, slot);
    part.edge = rbDot(search->hint, part.center) + rbDot(rbAbs3(search->hint), part.half);
    return part;
}

static Part getMoving(const rbSweepSearch* search, const Mover* mover, int slot)
{
    Part box = getBox(mover->tree, slot);
    Part part = {.center = rbAdd(rbMulMV(mover->rotation, box.center), mover->pose.p),
                 .half = rbMulMV(mover->sizes, box.half)};
    part.edge = rbDot(search->hint, part.center) - rbDot(rbAbs3(mover->hint), box.half);
    return part;
}

static double enter(const rbSweepSearch* search, const Part* a, const Part* b)
{
    double along = rbSweepSearch_EnterAlong(search, a->edge, b->edge);
    if (isinf(along)) {
        return along;
    }
    double key =
        rbSweepSearch_EnterBox(search, rbSub(b->center, a->center), rbAdd(a->half, b->half));
    return rbMaxOf(key, along);
}

// Pushes up to four parts on a stack, the first to be hit on top.
static void sortTasks(rbTreeTask* tasks, int count)
{
    for (int i = 1; i < count; ++i) {
        rbTreeTask task = tasks[i];
        int at = i;
        for (; at > 0 && tasks[at - 1].key < task.key; --at) {
            tasks[at] = tasks[at - 1];
        }
        tasks[at] = task;
    }
}

// A body, or part of one, that moves as a unit.
typedef struct Single {
    // Tests it against a triangle of B.
    void (*meet)(rbSweepSearch* search, const rbVec3 corners[3], const void* mover);
    // Its height along the hint: no point is lower.
    double (*getLow)(const rbSweepSearch* search, const void* mover);
    const void* mover;
} Single;

static void meetBlock(rbSweepSearch* search, const rbTriangleBlock* block, const Single* single)
{
    for (int lane = 0; lane < RB_BOX_WIDTH && block->origins[lane] >= 0; ++lane) {
        rbVec3 corners[3];
        rbTriangleBlock_Get(block, lane, corners);
        single->meet(search, corners, single->mover);
    }
}

// Sweeps one moving part against a tree at rest, the nearest box first.
static void walkTree(rbSweepSearch* search, Part moving, const rbBoxTree* tree,
                     const Single* single)
{
    int hintCount = search->hintCount;
    moving.edge = single->getLow(search, single->mover);
    rbTreeTasks waiting;
    waiting.tasks[0] = (rbTreeTask){0.0, tree->nodes[0].child[0]};
    waiting.count = 1;
    while (waiting.count > 0) {
        rbTreeTask task = waiting.tasks[--waiting.count];
        if (task.key > search->limit) {
            continue;
        }
        if (task.child < 0) {
            meetBlock(search, &tree->blocks[~task.child], single);
            continue;
        }
        if (hintCount != search->hintCount) {
            hintCount = search->hintCount;
            moving.edge = single->getLow(search, single->mover);
        }
        int first = waiting.count;
        for (int place = 0; place < RB_BOX_WIDTH; ++place) {
            int slot = RB_BOX_WIDTH * task.child + place;
            int child = rbBoxTree_GetChild(tree, slot);
            if (child == RB_BOX_EMPTY) {
                break;
            }
            Part standing = getStanding(search, tree, slot);
            double key = enter(search, &moving, &standing);
            if (!isinf(key)) {
                waiting.tasks[waiting.count++] = (rbTreeTask){key, child};
            }
        }
        sortTasks(waiting.tasks + first, waiting.count - first);
    }
}

static void meetTriangle(rbSweepSearch* search, const rbVec3 corners[3], const void* mover)
{
    rbSweepTriangles(search, mover, corners);
}

static double getLowOfTriangle(const rbSweepSearch* search, const void* mover)
{
    const rbVec3* corners = mover;
    return rbMinOf(rbDot(search->hint, corners[0]),
                   rbMinOf(rbDot(search->hint, corners[1]), rbDot(search->hint, corners[2])));
}

// A moving sphere.
typedef struct Ball {
    rbVec3 center;
    double radius;
} Ball;

static void meetBall(rbSweepSearch* search, const rbVec3 corners[3], const void* mover)
{
    const Ball* ball = mover;
    rbSweepBallTriangle(search, ball->center, ball->radius, corners);
}

static double getLowOfBall(const rbSweepSearch* search, const void* mover)
{
    const Ball* ball = mover;
    return rbDot(search->hint, ball->center) - ball->radius;
}

// A moving convex body.
typedef struct ConvexMover {
    const rbConvex* convex;
    rbTransform pose;
    double tolerance; // m
} ConvexMover;

static void meetConvex(rbSweepSearch* search, const rbVec3 corners[3], const void* body)
{
    const ConvexMover* mover = body;
    double size = sqrt(rbMaxOf(rbLengthSquared(corners[0]),
                               rbMaxOf(rbLengthSquared(corners[1]), rbLengthSquared(corners[2]))));
    rbConvex triangle;
    rbConvex_MakePoints(corners, 3, size, 0.0, &triangle);
    rbGjkCache cache = {0};
    rbVec3 normal = RB_VEC3_ZERO;
    double t = 0.0;
    for (int i = 0; i < NEWTON_MAX; ++i) {
        rbTransform pose = mover->pose;
        pose.p = rbAddScaled(pose.p, t, search->step);
        rbCso cso = rbCso_Make(&triangle, mover->convex, pose);
        rbGjkResult gap = rbGjk_Distance(&cso, NULL, &cache);
        double closing = -rbDot(gap.normal, search->step);
        double distance = gap.upper - mover->convex->radius;
        bool isMeeting = distance <= mover->tolerance;
        if (closing <= 0.0 && !(isMeeting && i > 0)) {
            return; // they separate
        }
        // in contact there may be no direction between them: keep the last one
        normal = isMeeting && i > 0 ? normal : gap.normal;
        if (isMeeting) {
            rbSweepOffer offer = {t, RB_RANK_FACE_B, gap.a, normal};
            rbSweepSearch_Offer(search, &offer);
            return;
        }
        t += distance / closing;
        if (t > search->limit) {
            return;
        }
    }
}

static double getLowOfConvex(const rbSweepSearch* search, const void* mover)
{
    const ConvexMover* convex = mover;
    rbVec3 down = rbNeg(rbInvRotate(convex->pose.q, search->hint));
    rbVec3 lowest = rbGeometry_GetSupport(convex->convex->geometry, down);
    return rbDot(search->hint, rbTransformPoint(convex->pose, lowest));
}

// A pending pair of parts.
typedef struct PairTask {
    double key; // fraction of the step at which their boxes begin to overlap
    int slotA, slotB;
} PairTask;

// Each step down leaves at most three.
#define PAIRS_MAX (2 * RB_TASK_MAX)

static void meetBlocks(rbSweepSearch* search, const Mover* mover, int blockA,
                       const rbTriangleBlock* blockB)
{
    const rbTriangleBlock* moving = &mover->tree->blocks[blockA];
    for (int lane = 0; lane < RB_BOX_WIDTH && moving->origins[lane] >= 0; ++lane) {
        rbVec3 corners[3];
        rbTriangleBlock_Get(moving, lane, corners);
        for (int k = 0; k < 3; ++k) {
            corners[k] = rbTransformPoint(mover->pose, corners[k]);
        }
        Single single = {meetTriangle, getLowOfTriangle, corners};
        meetBlock(search, blockB, &single);
    }
}

// Opens the larger part of a pair; the children that can hit the other are pushed on the stack.
static int openPair(const rbSweepSearch* search, const Mover* mover, const rbBoxTree* b,
                    PairTask task, PairTask* out)
{
    Part partA = getMoving(search, mover, task.slotA);
    Part partB = getStanding(search, b, task.slotB);
    int childA = rbBoxTree_GetChild(mover->tree, task.slotA);
    int childB = rbBoxTree_GetChild(b, task.slotB);
    bool opensA =
        childB < 0 || (childA >= 0 && rbLengthSquared(partA.half) > rbLengthSquared(partB.half));
    const rbBoxTree* tree = opensA ? mover->tree : b;
    int node = opensA ? childA : childB;
    int count = 0;
    for (int place = 0; place < RB_BOX_WIDTH; ++place) {
        int slot = RB_BOX_WIDTH * node + place;
        if (rbBoxTree_GetChild(tree, slot) == RB_BOX_EMPTY) {
            break;
        }
        if (opensA) {
            partA = getMoving(search, mover, slot);
        } else {
            partB = getStanding(search, b, slot);
        }
        double key = enter(search, &partA, &partB);
        if (isinf(key)) {
            continue;
        }
        // sorted, the first to be hit on top
        int at = count++;
        for (; at > 0 && out[at - 1].key < key; --at) {
            out[at] = out[at - 1];
        }
        out[at] = (PairTask){key, opensA ? slot : task.slotA, opensA ? task.slotB : slot};
    }
    return count;
}

// Two trees, parts in the order in which they can meet.
static void walkTrees(rbSweepSearch* search, Mover* mover, const rbBoxTree* b)
{
    PairTask stack[PAIRS_MAX];
    stack[0] = (PairTask){0.0, 0, 0};
    int count = 1;
    while (count > 0) {
        PairTask task = stack[--count];
        if (task.key > search->limit) {
            continue;
        }
        if (mover->hintCount != search->hintCount) {
            mover->hintCount = search->hintCount;
            mover->hint = rbInvRotate(mover->pose.q, search->hint);
        }
        int childA = rbBoxTree_GetChild(mover->tree, task.slotA);
        int childB = rbBoxTree_GetChild(b, task.slotB);
        if (childA < 0 && childB < 0) {
            meetBlocks(search, mover, ~childA, &b->blocks[~childB]);
            continue;
        }
        RB_ASSERT(count + RB_BOX_WIDTH <= PAIRS_MAX);
        count += openPair(search, mover, b, task, stack + count);
    }
}

// ----------------------------------------------------------------------------------------- bodies

static Part boundTriangle(const rbVec3 corners[3])
{
    rbVec3 lower = rbMin3(corners[0], rbMin3(corners[1], corners[2]));
    rbVec3 upper = rbMax3(corners[0], rbMax3(corners[1], corners[2]));
    return (Part){.center = rbScale(0.5, rbAdd(lower, upper)),
                  .half = rbScale(0.5, rbSub(upper, lower))};
}

// Is the triangle of a convex body on the side facing the other body? sign: of its motion.
static bool isFront(const rbSweepSearch* search, const rbVec3 corners[3], double sign)
{
    rbVec3 normal = rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
    double speed = sign * rbDot(normal, search->step);
    return speed >= 0.0 || speed * speed <= FRONT * FRONT * rbLengthSquared(normal) *
                                                search->length * search->length;
}

// The lowest vertex of A and the highest of B along the hint, m.
typedef struct Heights {
    double lowA, highB;
    int hintCount;
} Heights;

// Largest rbDot(direction, vertex) of the triangles of a list.
static double findReach(const rbSweepSide* side, rbVec3 direction)
{
    double reach = -(double)INFINITY;
    for (int i = 0; i < side->vertexCount; ++i) {
        reach = rbMaxOf(reach, rbDot(direction, side->vertices[i]));
    }
    return reach;
}

static void updateHeights(const rbSweepSearch* search, const rbSweepSide* a, rbTransform poseA,
                          const rbSweepSide* b, Heights* heights)
{
    if (heights->hintCount != search->hintCount) {
        heights->hintCount = search->hintCount;
        rbVec3 down = rbNeg(rbInvRotate(poseA.q, search->hint));
        heights->lowA = rbDot(search->hint, poseA.p) - findReach(a, down);
        heights->highB = findReach(b, search->hint);
    }
}

// Sweeps a triangle of A against a list.
static void meetList(rbSweepSearch* search, const rbVec3 moving[3], const rbSweepSide* b,
                     const Heights* heights)
{
    rbVec3 up = rbNeg(search->hint);
    int hintCount = search->hintCount;
    double lowA = heights->lowA;
    for (int j = 0; j < b->count; ++j) {
        rbVec3 standing[3];
        getTriangle(b, j, standing);
        double high = -rbMinOf(rbDot(up, standing[0]),
                               rbMinOf(rbDot(up, standing[1]), rbDot(up, standing[2])));
        if (hintCount == search->hintCount && isinf(rbSweepSearch_EnterAlong(search, lowA, high))) {
            continue;
        }
        if (isFront(search, standing, -1.0)) {
            rbSweepTriangles(search, moving, standing);
        }
    }
}

void rbSweepSides(rbSweepSearch* search, const rbSweepSide* a, rbTransform poseA,
                  const rbSweepSide* b)
{
    RB_ASSERT(a->tree == NULL || b->tree != NULL);
    if (a->tree != NULL) {
        rbMat3 r = rbMatFromQuat(poseA.q);
        Mover mover = {.tree = a->tree,
                       .pose = poseA,
                       .rotation = r,
                       .sizes = {rbAbs3(r.cx), rbAbs3(r.cy), rbAbs3(r.cz)}};
        walkTrees(search, &mover, b->tree);
        return;
    }
    Heights heights = {0};
    for (int i = 0; i < a->count; ++i) {
        rbVec3 moving[3];
        getTriangle(a, i, moving);
        for (int k = 0; k < 3; ++k) {
            moving[k] = rbTransformPoint(poseA, moving[k]);
        }
        if (!isFront(search, moving, 1.0)) {
            continue;
        }
        if (b->tree != NULL) {
            Single single = {meetTriangle, getLowOfTriangle, moving};
            walkTree(search, boundTriangle(moving), b->tree, &single);
            continue;
        }
        updateHeights(search, a, poseA, b, &heights);
        double low = getLowOfTriangle(search, moving);
        if (!isinf(rbSweepSearch_EnterAlong(search, low, heights.highB))) {
            meetList(search, moving, b, &heights);
        }
    }
}

void rbSweepConvex(rbSweepSearch* search, const rbConvex* convex, rbTransform poseA,
                   double tolerance, const rbSweepSide* b)
{
    RB_ASSERT(b->tree != NULL && convex->geometry != NULL);
    ConvexMover mover = {convex, poseA, tolerance};
    rbBounds bounds = rbGeometry_GetBounds(convex->geometry, poseA);
    Part part = {.center = rbScale(0.5, rbAdd(bounds.lower, bounds.upper)),
                 .half = rbScale(0.5, rbSub(bounds.upper, bounds.lower))};
    Single single = {meetConvex, getLowOfConvex, &mover};
    walkTree(search, part, b->tree, &single);
}

void rbSweepBall(rbSweepSearch* search, rbVec3 center, double radius, const rbSweepSide* b)
{
    if (b->tree != NULL) {
        Ball ball = {center, radius};
        Part part = {.center = center, .half = {radius, radius, radius}};
        Single single = {meetBall, getLowOfBall, &ball};
        walkTree(search, part, b->tree, &single);
        return;
    }
    for (int i = 0; i < b->count; ++i) {
        rbVec3 corners[3];
        getTriangle(b, i, corners);
        rbSweepBallTriangle(search, center, radius, corners);
    }
}
