// The exact first contact of two shapes, one of which is translated: the reference for predictions
// by rays, and the shape cast of worlds.
//
// One row for every kind of pair: spheres in closed form, spheres and triangles,
// triangles and triangles, planes by the support of the other, compounds by their parts, and
// the rest by Newton's method on the distance. The distance of convex bodies is a convex function
// of the displacement, and its slope is the component of the step along the normal: every tangent
// reaches zero before the contact or at it, so the steps never overshoot it and converge
// quadratically.
//
// Triangles: everything is in the frame of B, which is at rest; A is translated by the step. Every
// contact found is a true one, so the first contact is the minimum over all features, and examining
// features twice does no harm. A contact at the start counts if the features are about to pierce
// each other: then the moving triangle lies on the side from which its motion comes. Features that
// separate, or have already passed each other, do not count.
#include "collision/convex/gjk.h"
#include "collision/distance/tree_pair.h"
#include "collision/geometry/box_tree.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"
#include "dynamics/sweep/sweep.h"

#include <rattleback/collision.h>

#include <float.h>

// Fraction of the size by which an overlap at the start must be deeper than touching: ten times the
// accuracy of depths.
#define TOUCH 1e-10
// Fraction of the size that the general row leaves as a gap.
#define TOLERANCE 1e-10
// Measurements of Newton's method on a distance; each gains a factor of four for a grazing motion.
#define NEWTON_MAX 256
// The margin after a guess by distances, as a fraction of the size, in which the contact of two
// lists of triangles is searched first.
#define AFTER_GUESS 1e-7

// Sine of the angle of a motion to a plane, and of two edges, below which they count as parallel:
// their contacts are found through the vertices. Quotients lose 12 and 8 digits there.
#define PARALLEL_MOTION 1e-12
#define PARALLEL_EDGES 1e-8
// Fractions of an edge or a triangle by which its border is widened: rounding leaves no gaps there.
#define BORDER 1e-12
// Fractions no farther apart than this count as equal.
#define TIE 1e-13
// Sine of the angle of a motion to the plane of a hint below which quotients are not useful.
#define HINT_LEAST 1e-3

// Sine of the angle of a face to the motion up to which it counts as front-facing.
#define FRONT 1e-9

// Contacts of equal fraction, best first: a face determines the normal, a pair of edges only
// suggests one.
typedef enum Rank {
    RANK_FACE_B,
    RANK_FACE_A,
    RANK_EDGES,
    RANK_NONE,
} Rank;

// A sweep in progress.
typedef struct Search {
    rbVec3 step;    // m, of A
    rbVec3 inverse; // 1 / step, by component; infinite where it is 0
    double length;  // m, of the step, > 0
    double slack;   // m, rounding error of coordinates; boxes are enlarged by it
    double touch;   // m, heights down to minus this count as touching at the start
    double limit;   // the least fraction so far, beyond which contacts do not count
    rbVec3 hint; // unit, outward of B: the normal of the best contact, against the step at first.
    double closing; // m, by which the step closes the gap along the hint, > 0; 0: not usable
    int hintCount;  // number of changes
    bool isSwapped; // faces of A count as those of B: they determine the normal
    bool isHit;
    Rank rank;
    rbVec3 point;  // m, at contact
    rbVec3 normal; // unit, outward of B
} Search;

// --------------------------------------------------------------------------------------- triangles

// Sets another direction for the hint: the normal of a contact, or of bodies about to touch.
static void setHint(Search* search, rbVec3 normal)
{
    double closing = -rbDot(normal, search->step);
    search->hint = normal;
    search->closing = closing > HINT_LEAST * search->length ? closing : 0.0;
    search->hintCount += 1;
}

// Records a contact at a fraction, if it is the first so far; normal need not be a unit vector.
static void offerContact(Search* search, double fraction, Rank rank, rbVec3 point, rbVec3 normal)
{
    double difference = fraction - search->limit;
    if (search->isHit && (difference > TIE || (difference >= -TIE && rank >= search->rank))) {
        return;
    }
    search->limit = difference < 0.0 ? fraction : search->limit;
    search->isHit = true;
    search->rank = rank;
    search->point = point;
    search->normal = rbNormalize(normal);
    setHint(search, search->normal);
}

// The least fraction at which a moving set no lower than low along the hint can reach a set no
// higher than high; INFINITY beyond the limit.
static double enterAlong(const Search* search, double low, double high)
{
    if (search->closing == 0.0) {
        return 0.0;
    }
    double t = (low - high - search->slack) / search->closing;
    return t <= search->limit + TIE ? rbMaxOf(t, 0.0) : (double)INFINITY;
}

// A moving or resting part, as a box in the frame of B.
typedef struct Part {
    rbVec3 center, half;
    double edge; // m, bound of all heights along the hint: lower for a moving part, upper for one
                 // at rest
} Part;

static Part makePart(rbVec3 lower, rbVec3 upper)
{
    return (Part){.center = rbScale(0.5, rbAdd(lower, upper)),
                  .half = rbScale(0.5, rbSub(upper, lower))};
}

static Part boundTriangle(const rbVec3 corners[3])
{
    return makePart(rbMin3(corners[0], rbMin3(corners[1], corners[2])),
                    rbMax3(corners[0], rbMax3(corners[1], corners[2])));
}

// The fraction of the step at which a moving box begins to overlap one at rest, INFINITY if it does
// not up to the limit.
static double enterBox(const Search* search, const Part* moving, const Part* standing)
{
    rbVec3 offset = rbSub(standing->center, moving->center);
    rbVec3 half = rbAdd(moving->half, standing->half);
    half = rbMakeVec3(half.x + search->slack, half.y + search->slack, half.z + search->slack);
    rbVec3 low = rbSub(offset, half), high = rbAdd(offset, half);
    double span[2] = {0.0, search->limit + TIE};
    rbEnterSlab(low.x, high.x, search->inverse.x, span);
    rbEnterSlab(low.y, high.y, search->inverse.y, span);
    rbEnterSlab(low.z, high.z, search->inverse.z, span);
    return span[0] <= span[1] ? span[0] : (double)INFINITY;
}

// A triangle and its plane.
typedef struct Facet {
    const rbVec3* corners;
    rbVec3 normal; // along e1 x e2, its length twice the area
    double length; // of the normal
} Facet;

static Facet makeFacet(const rbVec3 corners[3])
{
    rbVec3 normal = rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
    return (Facet){corners, normal, rbLength(normal)};
}

// Does the triangle contain a point of its plane? The border belongs to it.
static bool containsPoint(const Facet* facet, rbVec3 point)
{
    const rbVec3* c = facet->corners;
    double least = -BORDER * facet->length * facet->length;
    for (int i = 0; i < 3; ++i) {
        rbVec3 edge = rbSub(c[(i + 1) % 3], c[i]);
        if (rbDot(rbCross(edge, rbSub(point, c[i])), facet->normal) < least) {
            return false;
        }
    }
    return true;
}

// Corners of a triangle that moves by sign * step onto a facet at rest; sign -1 means that B moves,
// as seen from A.
static void sweepCorners(Search* search, const rbVec3 moving[3], const Facet* facet, double sign)
{
    rbVec3 step = rbScale(sign, search->step);
    double speed = rbDot(step, facet->normal);
    if (fabs(speed) <= PARALLEL_MOTION * facet->length * search->length) {
        return;
    }
    // heights against the motion, so that they decrease
    double side = speed > 0.0 ? -1.0 : 1.0;
    double heights[3];
    double touch = search->touch * facet->length;
    double lowest = (double)INFINITY;
    for (int i = 0; i < 3; ++i) {
        heights[i] = side * rbDot(rbSub(moving[i], facet->corners[0]), facet->normal);
        lowest = rbMinOf(lowest, heights[i]);
    }
    for (int i = 0; i < 3; ++i) {
        if (heights[i] < -touch || (heights[i] <= touch && lowest < -touch)) {
            continue;
        }
        double t = rbMaxOf(heights[i], 0.0) / fabs(speed);
        if (t > search->limit + TIE || !containsPoint(facet, rbAddScaled(moving[i], t, step))) {
            continue;
        }
        offerContact(search, rbMinOf(t, 1.0),
                     (sign > 0.0) != search->isSwapped ? RANK_FACE_B : RANK_FACE_A,
                     sign > 0.0 ? rbAddScaled(moving[i], t, step) : moving[i],
                     rbScale(side * sign, facet->normal));
    }
}

// Do all corners lie on one side of the plane through a point: side * height >= -touch?
static bool isOnSide(const rbVec3 corners[3], rbVec3 point, rbVec3 normal, double touch)
{
    for (int i = 0; i < 3; ++i) {
        if (rbDot(rbSub(corners[i], point), normal) < -touch) {
            return false;
        }
    }
    return true;
}

// Edge i of a, moving, onto edge j of b.
static void sweepEdges(Search* search, const rbVec3 a[3], int i, const rbVec3 b[3], int j)
{
    rbVec3 p = a[i], q = b[j];
    rbVec3 e = rbSub(a[(i + 1) % 3], p), f = rbSub(b[(j + 1) % 3], q);
    rbVec3 g = rbCross(e, f);
    double speed = rbDot(search->step, g);
    double squared = rbLengthSquared(g);
    double sizes = rbLengthSquared(e) * rbLengthSquared(f);
    if (squared <= PARALLEL_EDGES * PARALLEL_EDGES * sizes ||
        speed * speed <=
            PARALLEL_MOTION * PARALLEL_MOTION * squared * search->length * search->length) {
        return;
    }
    if (speed > 0.0) {
        g = rbNeg(g);
        speed = -speed;
    }
    // g is the normal outward of B, height that of A over B
    double height = rbDot(rbSub(p, q), g);
    double t = rbMaxOf(height, 0.0) / -speed;
    if (t > search->limit + TIE) {
        return;
    }
    double touch = search->touch * sqrt(squared);
    if (height <= touch &&
        (height < -touch || !isOnSide(a, p, g, touch) || !isOnSide(b, q, rbNeg(g), touch))) {
        return;
    }
    rbVec3 offset = rbSub(q, rbAddScaled(p, t, search->step));
    double onA = rbDot(rbCross(offset, f), rbCross(e, f)) / squared;
    double onB = rbDot(rbCross(offset, e), rbCross(e, f)) / squared;
    if (onA < -BORDER || onA > 1.0 + BORDER || onB < -BORDER || onB > 1.0 + BORDER) {
        return;
    }
    offerContact(search, rbMinOf(t, 1.0), RANK_EDGES, rbAddScaled(q, onB, f), g);
}

// X-03 for a triangle of A and one of B.
static void meetTriangle(Search* search, const rbVec3 b[3], const void* mover)
{
    const rbVec3* a = mover;
    Part boxA = boundTriangle(a), boxB = boundTriangle(b);
    if (isinf(enterBox(search, &boxA, &boxB))) {
        return;
    }
    Facet facetA = makeFacet(a), facetB = makeFacet(b);
    sweepCorners(search, a, &facetB, 1.0);
    sweepCorners(search, b, &facetA, -1.0);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            sweepEdges(search, a, i, b, j);
        }
    }
}

// ----------------------------------------------------------------------------------------- balls

// A moving sphere.
typedef struct Ball {
    rbVec3 center;
    double radius;
} Ball;

// The contact point of a sphere, from its center at contact.
static void offerBall(Search* search, double t, rbVec3 center, rbVec3 point)
{
    rbVec3 normal = rbSub(rbAddScaled(center, t, search->step), point);
    offerContact(search, rbMinOf(t, 1.0), RANK_EDGES, point, normal);
}

// The cylinder of the radius about an edge: |(m + t w) x f|^2 = r^2 f^2, its smaller root.
static void sweepBallEdge(Search* search, rbVec3 center, double radius, const rbVec3 edge[2])
{
    rbVec3 f = rbSub(edge[1], edge[0]);
    rbVec3 m = rbCross(rbSub(center, edge[0]), f);
    rbVec3 w = rbCross(search->step, f);
    double reach = radius * rbLength(f);
    double b = rbDot(m, w);
    if (b >= 0.0) {
        return;
    }
    if (reach - rbLength(m) > search->touch * rbLength(f)) {
        return; // within the cylinder, beyond the ends of the edge: a corner touches first
    }
    // b^2 - w^2 c without cancellation, by Lagrange's identity
    double discriminant = reach * reach * rbLengthSquared(w) - rbLengthSquared(rbCross(m, w));
    if (discriminant < 0.0) {
        return;
    }
    double c = rbLengthSquared(m) - reach * reach;
    double t = rbMaxOf(c, 0.0) / (sqrt(discriminant) - b);
    if (t > search->limit + TIE) {
        return;
    }
    rbVec3 offset = rbSub(rbAddScaled(center, t, search->step), edge[0]);
    double along = rbDot(offset, f) / rbLengthSquared(f);
    if (along >= 0.0 && along <= 1.0) {
        offerBall(search, t, center, rbAddScaled(edge[0], along, f));
    }
}

// X-02 for a sphere of A and a triangle of B.
static void meetBall(Search* search, const rbVec3 b[3], const void* mover)
{
    const Ball* ball = mover;
    rbVec3 center = ball->center;
    double radius = ball->radius;
    Facet facet = makeFacet(b);
    double speed = rbDot(search->step, facet.normal);
    if (fabs(speed) > PARALLEL_MOTION * facet.length * search->length) {
        rbVec3 normal = rbScale((speed > 0.0 ? -1.0 : 1.0) / facet.length, facet.normal);
        double height = rbDot(rbSub(center, b[0]), normal) - radius;
        double t = rbMaxOf(height, 0.0) * facet.length / fabs(speed);
        if (height >= -search->touch && t <= search->limit + TIE) {
            rbVec3 point = rbAddScaled(rbAddScaled(center, t, search->step), -radius, normal);
            if (containsPoint(&facet, point)) {
                offerContact(search, rbMinOf(t, 1.0), RANK_FACE_B, point, normal);
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        const rbVec3 edge[2] = {b[i], b[(i + 1) % 3]};
        sweepBallEdge(search, center, radius, edge);
        double t = rbSweepFreeSpheres(rbSub(center, b[i]), search->step, radius);
        if (t <= search->limit + TIE) {
            offerBall(search, t, center, b[i]);
        }
    }
}

// ------------------------------------------------------------------------ bodies made of triangles
// Selects the pairs of triangles to test.

// The composition of a body: a tree of triangles or, for boxes and hulls, a list of them.
typedef struct Side {
    const rbBoxTree* tree; // or NULL
    const rbVec3* vertices;
    const rbIndex3* triangles;
    int vertexCount;
    int count;         // of triangles
    rbVec3 corners[8]; // of a box
} Side;

static void makeSide(Side* side, const rbGeometry* geometry)
{
    *side = (Side){0};
    if (geometry->type == RB_SHAPE_BOX) {
        for (int i = 0; i < 8; ++i) {
            side->corners[i] = rbGetBoxCorner(geometry->data.box.halfExtents, i);
        }
        side->vertices = side->corners;
        side->triangles = rbBoxTriangles;
        side->vertexCount = 8;
        side->count = RB_BOX_TRIANGLES;
        return;
    }
    const rbPolyhedron* polyhedron = geometry->polyhedron;
    side->tree = polyhedron->tree;
    side->vertices = polyhedron->vertices;
    side->vertexCount = polyhedron->vertexCount;
    side->triangles = polyhedron->triangles;
    side->count = polyhedron->triangleCount;
}

// Largest rbDot(direction, point).
static double findReach(const rbVec3* points, int count, rbVec3 direction)
{
    double reach = -(double)INFINITY;
    for (int i = 0; i < count; ++i) {
        reach = rbMaxOf(reach, rbDot(direction, points[i]));
    }
    return reach;
}

static void getTriangle(const Side* side, int index, rbVec3 corners[3])
{
    for (int k = 0; k < 3; ++k) {
        corners[k] = side->vertices[side->triangles[index].v[k]];
    }
}

// ----------------------------------------------------------------------------------------- trees

// A body, or part of one, that moves as a unit.
typedef struct Single {
    // Tests it against a triangle of B.
    void (*meet)(Search* search, const rbVec3 corners[3], const void* mover);
    // Its height along the hint: no point is lower.
    double (*getLow)(const Search* search, const void* mover);
    const void* mover;
} Single;

// The moving body: a tree, with the data that transform its boxes into the frame of B, or a unit.
typedef struct Mover {
    const rbBoxTree* tree; // NULL: a unit
    rbTransform pose;
    rbMat3 rotation;
    rbMat3 sizes; // magnitudes of the rotation
    rbVec3 hint;  // of the search, in the frame of A
    const Single* single;
    Part part; // of the unit
    int hintCount;
} Mover;

// Follows the hint of the search.
static void updateMover(const Search* search, Mover* mover)
{
    if (mover->hintCount == search->hintCount) {
        return;
    }
    mover->hintCount = search->hintCount;
    if (mover->tree != NULL) {
        mover->hint = rbInvRotate(mover->pose.q, search->hint);
    } else {
        mover->part.edge = mover->single->getLow(search, mover->single->mover);
    }
}

// The box of a slot in the frame of its tree.
static Part getBox(const rbBoxTree* tree, int slot)
{
    const rbBoxNode* node = &tree->nodes[slot / RB_BOX_WIDTH];
    int place = slot % RB_BOX_WIDTH;
    Part part = makePart(rbPickLane(node->lower, place), rbPickLane(node->upper, place));
    part.center = rbAdd(tree->origin, part.center);
    return part;
}

static Part getStanding(const Search* search, const rbBoxTree* tree, int slot)
{
    Part part = getBox(tree, slot);
    part.edge = rbDot(search->hint, part.center) + rbDot(rbAbs3(search->hint), part.half);
    return part;
}

static Part getMoving(const Search* search, const Mover* mover, int slot)
{
    if (mover->tree == NULL) {
        return mover->part;
    }
    Part box = getBox(mover->tree, slot);
    Part part = {.center = rbAdd(rbMulMV(mover->rotation, box.center), mover->pose.p),
                 .half = rbMulMV(mover->sizes, box.half)};
    part.edge = rbDot(search->hint, part.center) - rbDot(rbAbs3(mover->hint), box.half);
    return part;
}

static void meetBlock(Search* search, const rbTriangleBlock* block, const Single* single)
{
    for (int lane = 0; lane < RB_BOX_WIDTH && block->origins[lane] >= 0; ++lane) {
        rbVec3 corners[3];
        rbTriangleBlock_Get(block, lane, corners);
        single->meet(search, corners, single->mover);
    }
}

static double getLowOfTriangle(const Search* search, const void* mover)
{
    return -findReach(mover, 3, rbNeg(search->hint));
}

static double getLowOfBall(const Search* search, const void* mover)
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

static void meetConvex(Search* search, const rbVec3 corners[3], const void* body)
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
            offerContact(search, t, RANK_FACE_B, gap.a, normal);
            return;
        }
        t += distance / closing;
        if (t > search->limit) {
            return;
        }
    }
}

static double getLowOfConvex(const Search* search, const void* mover)
{
    const ConvexMover* convex = mover;
    rbVec3 down = rbNeg(rbInvRotate(convex->pose.q, search->hint));
    rbVec3 lowest = rbGeometry_GetSupport(convex->convex->geometry, down);
    return rbDot(search->hint, rbTransformPoint(convex->pose, lowest));
}

// Pending pairs of parts, whose keys are the fractions of the step at which their boxes begin to
// overlap: each step down leaves at most three.
#define PAIRS_MAX (2 * RB_TASK_MAX)

static void meetBlocks(Search* search, const Mover* mover, int blockA,
                       const rbTriangleBlock* blockB)
{
    if (mover->tree == NULL) {
        meetBlock(search, blockB, mover->single);
        return;
    }
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

// What a slot of the moving body leads to; a unit is a leaf.
static int getMovingChild(const Mover* mover, int slot)
{
    return mover->tree != NULL ? rbBoxTree_GetChild(mover->tree, slot) : -1;
}

// Opens the larger part of a pair; the children that can hit the other are pushed on the stack.
static int openPair(const Search* search, const Mover* mover, const rbBoxTree* b, rbTreeEntry task,
                    rbTreeEntry* out)
{
    Part partA = getMoving(search, mover, task.slotA);
    Part partB = getStanding(search, b, task.slotB);
    int childA = getMovingChild(mover, task.slotA);
    int childB = rbBoxTree_GetChild(b, task.slotB);
    bool opensA =
        childA >= 0 && (childB < 0 || rbLengthSquared(partA.half) > rbLengthSquared(partB.half));
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
        double along = enterAlong(search, partA.edge, partB.edge);
        double key = isinf(along) ? along : rbMaxOf(enterBox(search, &partA, &partB), along);
        if (isinf(key)) {
            continue;
        }
        // sorted, the first to be hit on top
        int at = count++;
        for (; at > 0 && out[at - 1].key < key; --at) {
            out[at] = out[at - 1];
        }
        out[at] = (rbTreeEntry){key, opensA ? slot : task.slotA, opensA ? task.slotB : slot};
    }
    return count;
}

// A moving body and a tree at rest, parts in the order in which they can meet.
static void walkTrees(Search* search, Mover* mover, const rbBoxTree* b)
{
    rbTreeEntry stack[PAIRS_MAX];
    stack[0] = (rbTreeEntry){0.0, 0, 0};
    int count = 1;
    while (count > 0) {
        rbTreeEntry task = stack[--count];
        if (task.key > search->limit) {
            continue;
        }
        updateMover(search, mover);
        int childA = getMovingChild(mover, task.slotA);
        int childB = rbBoxTree_GetChild(b, task.slotB);
        if (childA < 0 && childB < 0) {
            rbPoll();
            meetBlocks(search, mover, ~childA, &b->blocks[~childB]);
            continue;
        }
        RB_ASSERT(count + RB_BOX_WIDTH <= PAIRS_MAX);
        count += openPair(search, mover, b, task, stack + count);
    }
}

static void walkTree(Search* search, Part moving, const rbBoxTree* tree, const Single* single)
{
    Mover mover = {.single = single, .part = moving};
    walkTrees(search, &mover, tree);
}

// ----------------------------------------------------------------------------------------- bodies

// Is the triangle of a convex body on the side facing the other body? sign: of its motion.
static bool isFront(const Search* search, const rbVec3 corners[3], double sign)
{
    rbVec3 normal = rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0]));
    double speed = sign * rbDot(normal, search->step);
    return speed >= 0.0 || speed * speed <= FRONT * FRONT * rbLengthSquared(normal) *
                                                search->length * search->length;
}

// Sweeps a triangle of A against a list.
static void meetList(Search* search, const rbVec3 moving[3], const Side* b)
{
    for (int j = 0; j < b->count; ++j) {
        rbVec3 standing[3];
        getTriangle(b, j, standing);
        double low = getLowOfTriangle(search, moving);
        double high = findReach(standing, 3, search->hint);
        if (!isinf(enterAlong(search, low, high)) && isFront(search, standing, -1.0)) {
            meetTriangle(search, standing, moving);
        }
    }
}

// Tests all triangles of A, given in its frame, which poseA maps to that of B, against all of B. If
// only one has a tree, it must be B.
static void sweepSides(Search* search, const Side* a, rbTransform poseA, const Side* b)
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
    int hintCount = 0;
    double highB = 0.0; // m, of the highest vertex of B along the hint
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
        if (hintCount != search->hintCount) {
            hintCount = search->hintCount;
            highB = findReach(b->vertices, b->vertexCount, search->hint);
        }
        if (!isinf(enterAlong(search, getLowOfTriangle(search, moving), highB))) {
            meetList(search, moving, b);
        }
    }
}

// --------------------------------------------------------------------------------- pairs of shapes

// The query for a pair of parts, in the frame of B.
typedef struct Pair {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform pose;
    rbVec3 step;      // m, not zero
    double limit;     // fraction beyond which contacts do not count
    double tolerance; // m
    double touch;     // m
    bool isSwapped;   // A of the caller is B here
    void* scratch;
} Pair;

// Kinds of shapes that have their own rows.
typedef enum Kind {
    KIND_BALL,
    KIND_TRIANGLES,
    KIND_PLANE,
    KIND_COMPOUND,
    KIND_OTHER,
    KIND_COUNT
} Kind;

static Kind getKind(const rbGeometry* geometry)
{
    static const Kind kinds[RB_FAMILY_COUNT] = {
        [RB_FAMILY_BALL] = KIND_BALL,      [RB_FAMILY_ROD] = KIND_OTHER,
        [RB_FAMILY_BOX] = KIND_TRIANGLES,  [RB_FAMILY_SMOOTH] = KIND_OTHER,
        [RB_FAMILY_HULL] = KIND_TRIANGLES, [RB_FAMILY_TRIANGLES] = KIND_TRIANGLES,
        [RB_FAMILY_PLANE] = KIND_PLANE,    [RB_FAMILY_COMPOUND] = KIND_COMPOUND,
    };
    return kinds[rbGeometry_GetFamily(geometry)];
}

typedef rbStatus SweepFn(const Pair* pair, rbShapeSweep* sweep, rbError* error);

static rbStatus sweepPair(const Pair* pair, rbShapeSweep* sweep, rbError* error);
static SweepFn sweepByDistance;

// The same pair with the roles exchanged: B moves against A, and the result is converted back.
static rbStatus sweepSwapped(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    Pair swapped = *pair;
    swapped.a = pair->b;
    swapped.b = pair->a;
    swapped.pose = rbInvertTransform(pair->pose);
    swapped.isSwapped = !pair->isSwapped;
    swapped.step = rbNeg(rbInvRotate(pair->pose.q, pair->step));
    rbStatus status = sweepPair(&swapped, sweep, error);
    if (status == RB_STATUS_OK && sweep->isHit) {
        rbVec3 point = rbTransformPoint(pair->pose, sweep->point);
        sweep->point = rbAddScaled(point, sweep->fraction, pair->step);
        sweep->normal = rbNeg(rbRotate(pair->pose.q, sweep->normal));
    }
    return status;
}

static Search startSearch(const Pair* pair)
{
    rbVec3 w = pair->step;
    double scale = pair->a->radius + pair->b->radius + rbLength(pair->pose.p) + rbLength(w);
    Search search = {
        .step = w,
        .inverse = rbMakeVec3(1.0 / w.x, 1.0 / w.y, 1.0 / w.z),
        .length = rbLength(w),
        .slack = 16.0 * DBL_EPSILON * scale,
        .touch = pair->touch,
        .limit = pair->limit,
        .isSwapped = pair->isSwapped,
        .rank = RANK_NONE,
    };
    setHint(&search, rbNeg(rbNormalize(w)));
    return search;
}

static void finishSearch(const Search* search, rbShapeSweep* sweep)
{
    *sweep = (rbShapeSweep){.isExact = true, .isHit = search->isHit};
    if (search->isHit) {
        sweep->fraction = search->limit;
        sweep->point = search->point;
        sweep->normal = search->normal;
    }
}

//
static rbStatus sweepBalls(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    (void)error;
    double radiusB = pair->b->data.sphere.radius;
    double radius = pair->a->data.sphere.radius + radiusB;
    double t = rbSweepFreeSpheres(pair->pose.p, pair->step, radius);
    *sweep = (rbShapeSweep){.isExact = true, .isHit = t <= pair->limit};
    if (sweep->isHit) {
        sweep->fraction = t;
        sweep->normal = rbNormalize(rbAddScaled(pair->pose.p, t, pair->step));
        sweep->point = rbScale(radiusB, sweep->normal);
    }
    return RB_STATUS_OK;
}

//
static rbStatus sweepBallTriangles(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    (void)error;
    Side b;
    makeSide(&b, pair->b);
    Search search = startSearch(pair);
    Ball ball = {pair->pose.p, pair->a->data.sphere.radius};
    if (b.tree != NULL) {
        Part part = {.center = ball.center, .half = {ball.radius, ball.radius, ball.radius}};
        Single single = {meetBall, getLowOfBall, &ball};
        walkTree(&search, part, b.tree, &single);
    }
    for (int i = 0; b.tree == NULL && i < b.count; ++i) {
        rbVec3 corners[3];
        getTriangle(&b, i, corners);
        meetBall(&search, corners, &ball);
    }
    finishSearch(&search, sweep);
    return RB_STATUS_OK;
}

//
static rbStatus sweepTriangles(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    (void)error;
    Side a, b;
    makeSide(&a, pair->a);
    makeSide(&b, pair->b);
    if (a.tree != NULL && b.tree == NULL) {
        return sweepSwapped(pair, sweep, error); // the short list is the outer loop
    }
    Search search = startSearch(pair);
    rbShapeSweep guess;
    if (b.tree == NULL && sweepByDistance(pair, &guess, NULL) == RB_STATUS_OK) {
        if (!guess.isHit) {
            finishSearch(&search, sweep);
            return RB_STATUS_OK;
        }
        // the exact contact is slightly later, and along this normal
        setHint(&search, guess.normal);
        double margin = AFTER_GUESS * (pair->a->radius + pair->b->radius);
        if (search.closing > 0.0) {
            search.limit = rbMinOf(pair->limit, guess.fraction + margin / search.closing);
            sweepSides(&search, &a, pair->pose, &b);
        }
    }
    if (!search.isHit) {
        search.limit = pair->limit;
        sweepSides(&search, &a, pair->pose, &b);
    }
    finishSearch(&search, sweep);
    return RB_STATUS_OK;
}

// Any shape onto a plane: uses its lowest point.
static rbStatus sweepOntoPlane(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    rbVec3 normal = pair->b->data.plane.normal;
    *sweep = (rbShapeSweep){.isExact = true};
    RB_REFUSE_IF(!pair->a->isBounded, RB_STATUS_UNSUPPORTED, error,
                 "two planes cannot be swept: neither has an end");
    rbVec3 lowest = rbGeometry_GetSupport(pair->a, rbNeg(rbInvRotate(pair->pose.q, normal)));
    rbVec3 start = rbTransformPoint(pair->pose, lowest);
    double height = rbDot(start, normal) - pair->b->data.plane.offset;
    double speed = -rbDot(pair->step, normal);
    double t = rbMaxOf(height, 0.0) / speed;
    if (speed > 0.0 && t <= pair->limit) {
        rbVec3 point = rbAddScaled(start, t, pair->step);
        double rest = rbDot(point, normal) - pair->b->data.plane.offset;
        *sweep = (rbShapeSweep){.isHit = true,
                                .isExact = true,
                                .fraction = t,
                                .point = rbAddScaled(point, -rest, normal),
                                .normal = normal};
    }
    return RB_STATUS_OK;
}

// Do the bounding spheres about the origins of two shapes meet?
static bool isInReach(const Pair* pair)
{
    if (!pair->a->isBounded || !pair->b->isBounded) {
        return true;
    }
    rbVec3 p = pair->pose.p;
    rbVec3 w = pair->step;
    double t = -rbDot(p, w) / rbLengthSquared(w);
    t = t > 0.0 ? rbMinOf(t, 1.0) : 0.0;
    double reach = (pair->a->radius + pair->b->radius) * (1.0 + 1e-9);
    return rbLength(rbAddScaled(p, t, w)) <= reach + 1e-12 * (rbLength(p) + rbLength(w));
}

// The part of B that A, of any type, hits first.
static rbStatus sweepOntoCompound(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    *sweep = (rbShapeSweep){.isExact = true};
    bool isExact = true;
    Pair part = *pair;
    for (int i = 0; i < pair->b->childCount; ++i) {
        const rbCompoundChild* child = &pair->b->children[i];
        part.b = child->geometry;
        part.pose = rbInvMulTransforms(child->transform, pair->pose);
        part.step = rbInvRotate(child->transform.q, pair->step);
        if (!isInReach(&part)) {
            continue;
        }
        rbShapeSweep found;
        RB_TRY(sweepPair(&part, &found, error));
        isExact = isExact && found.isExact;
        if (found.isHit && (!sweep->isHit || found.fraction < sweep->fraction)) {
            *sweep = found;
            sweep->point = rbTransformPoint(child->transform, found.point);
            sweep->normal = rbRotate(child->transform.q, found.normal);
            part.limit = found.fraction;
        }
    }
    sweep->isExact = isExact;
    return RB_STATUS_OK;
}

// Signed distance after a fraction of the step; the normal points out of B.
static rbStatus measure(const Pair* pair, double fraction, rbSeparationCache* cache,
                        rbSeparation* separation, rbError* error)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = pair->b;
    input.geometryB = pair->a;
    input.transformBtoA = pair->pose;
    input.transformBtoA.p = rbAddScaled(pair->pose.p, fraction, pair->step);
    return rbMeasureSeparation(&input, cache, pair->scratch, separation, error);
}

// Newton's method on the distance of two convex bodies.
static rbStatus sweepByDistance(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    *sweep = (rbShapeSweep){.isExact = false};
    rbSeparationCache cache = {0};
    rbVec3 normal = RB_VEC3_ZERO;
    double t = 0.0;
    for (int i = 0; i < NEWTON_MAX; ++i) {
        rbPoll();
        rbSeparation gap;
        RB_TRY(measure(pair, t, &cache, &gap, error));
        double closing = -rbDot(gap.normal, pair->step);
        bool isMeeting = gap.distance <= pair->tolerance;
        if (closing <= 0.0 && !(isMeeting && i > 0)) {
            return RB_STATUS_OK; // they separate
        }
        // in contact, rounding may flip the normal: keep the last one
        normal = isMeeting && i > 0 ? normal : gap.normal;
        if (isMeeting) {
            *sweep =
                (rbShapeSweep){.isHit = true, .fraction = t, .point = gap.pointA, .normal = normal};
            return RB_STATUS_OK;
        }
        t += gap.distance / closing;
        if (t > pair->limit) {
            return RB_STATUS_OK;
        }
    }
    return rbError_Set(
        error, RB_STATUS_NUMERICAL,
        "the sweep did not reach a distance of %g m in %d measurements; use a larger tolerance",
        pair->tolerance, NEWTON_MAX);
}

// A round convex body onto a shape made of triangles: by Newton's method on its distance to every
// triangle near its path, each to a gap of the tolerance.
static rbStatus sweepOntoTriangles(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    Side b;
    makeSide(&b, pair->b);
    if (b.tree == NULL) {
        return sweepByDistance(pair, sweep, error);
    }
    rbConvex convex;
    (void)rbConvex_Make(pair->a, 0.0, &convex);
    RB_ASSERT(convex.geometry != NULL);
    ConvexMover mover = {&convex, pair->pose, pair->tolerance};
    rbBounds bounds = rbGeometry_GetBounds(convex.geometry, pair->pose);
    Single single = {meetConvex, getLowOfConvex, &mover};
    Search search = startSearch(pair);
    walkTree(&search, makePart(bounds.lower, bounds.upper), b.tree, &single);
    finishSearch(&search, sweep);
    sweep->isExact = false;
    return RB_STATUS_OK;
}

// Rows by kinds of A and B.
static SweepFn* const rows[KIND_COUNT][KIND_COUNT] = {
    [KIND_BALL] = {sweepBalls, sweepBallTriangles, sweepOntoPlane, sweepOntoCompound,
                   sweepByDistance},
    [KIND_TRIANGLES] = {sweepSwapped, sweepTriangles, sweepOntoPlane, sweepOntoCompound,
                        sweepSwapped},
    [KIND_PLANE] = {sweepSwapped, sweepSwapped, sweepOntoPlane, sweepOntoCompound, sweepSwapped},
    [KIND_COMPOUND] = {sweepSwapped, sweepSwapped, sweepSwapped, sweepOntoCompound, sweepSwapped},
    [KIND_OTHER] = {sweepByDistance, sweepOntoTriangles, sweepOntoPlane, sweepOntoCompound,
                    sweepByDistance},
};

// NOLINTNEXTLINE(misc-no-recursion): compounds nest at most RB_COMPOUND_DEPTH_MAX deep.
static rbStatus sweepPair(const Pair* pair, rbShapeSweep* sweep, rbError* error)
{
    return rows[getKind(pair->a)][getKind(pair->b)](pair, sweep, error);
}

static rbStatus checkInput(rbTransform poseA, rbVec3 step, double tolerance, rbError* error)
{
    double length = sqrt(rbDotQuat(poseA.q, poseA.q));
    RB_INVALID_IF(
        !rbIsFinite3(poseA.p) || !(fabs(length - 1.0) <= 1e-6), error,
        "the pose of the swept shape must be finite with a quaternion of length 1, not %g", length);
    RB_INVALID_IF(
        !rbIsFinite3(step) || rbLargestComponent(step) > RB_LENGTH_MAX, error,
        "the step of the sweep is (%g, %g, %g) m: its components must be finite and at most %g",
        step.x, step.y, step.z, RB_LENGTH_MAX);
    RB_INVALID_IF(!(tolerance >= 0.0) || isinf(tolerance), error,
                  "the tolerance of the sweep is %g m: it must be finite and at least 0",
                  tolerance);
    return RB_STATUS_OK;
}

// NOLINTNEXTLINE(readability-function-size): two bodies and a motion, as rbMeasureSeparation
rbStatus rbSweepShapes(const rbGeometry* geometryA, rbTransform poseA, rbVec3 step,
                       const rbGeometry* geometryB, double tolerance, void* scratch,
                       rbShapeSweep* sweep, rbError* error)
{
    RB_ASSERT(geometryA != NULL && geometryB != NULL && scratch != NULL && sweep != NULL);
    *sweep = (rbShapeSweep){0};
    RB_TRY(checkInput(poseA, step, tolerance, error));
    double size = (geometryA->isBounded ? geometryA->radius : 0.0) +
                  (geometryB->isBounded ? geometryB->radius : 0.0);
    Pair pair = {
        .a = geometryA,
        .b = geometryB,
        .pose = poseA,
        .step = step,
        .limit = 1.0,
        .tolerance = tolerance > 0.0 ? tolerance : TOLERANCE * size,
        .touch = TOUCH * size,
        .scratch = scratch,
    };
    bool isStill = step.x == 0.0 && step.y == 0.0 && step.z == 0.0;
    sweep->isExact = true;
    if (!isStill && !isInReach(&pair)) {
        return RB_STATUS_OK;
    }
    rbSeparation gap;
    RB_TRY(measure(&pair, 0.0, NULL, &gap, error));
    if (gap.distance < -pair.touch) {
        *sweep = (rbShapeSweep){.isHit = true,
                                .isInside = true,
                                .isExact = true,
                                .point = gap.pointA,
                                .normal = gap.normal};
        return RB_STATUS_OK;
    }
    return isStill ? RB_STATUS_OK : sweepPair(&pair, sweep, error);
}
