// Faces, horizon and heap of the expanding polytope.
//
// The horizon is found by flood fill over adjacency with an explicit stack, which emits its edges
// as one counter-clockwise loop; each edge gets a triangle to the new point at once (its plane
// later). Splitting only the nearest face instead would leave edges that cut through the body for
// ever.
//
// Normals of needles: the cross product of two edges of length L errs by a rounding of L^2, which
// tilts the normal of a triangle of height H by eps L / H. The part of the tilt along the longest
// edge moves the ends by eps L^2 / H and is projected out; the rest moves them by eps L only.
#include "collision/convex/epa_polytope.h"

#include <math.h>

// Squared sine below which a triangle counts as a needle whose normal is worth refining.
#define NEEDLE 1e-4

static int nextOf(int edge)
{
    return edge == 2 ? 0 : edge + 1;
}

void rbEpaPolytope_Begin(rbEpaScratch* scratch, double scale, int pointLimit, int faceLimit)
{
    RB_ASSERT(scale >= 0.0);
    RB_ASSERT(pointLimit >= 4 && pointLimit <= RB_EPA_POINTS);
    RB_ASSERT(faceLimit >= 4 && faceLimit <= RB_EPA_FACES);
    scratch->pointCount = 0;
    scratch->faceCount = 0;
    scratch->heapCount = 0;
    scratch->pointLimit = pointLimit;
    scratch->faceLimit = faceLimit;
    scratch->flatHeight = RB_EPA_FLAT * scale;
    scratch->visible = RB_EPA_GAP * scale;
    scratch->keyMax = INFINITY;
}

static void pushHeap(rbEpaScratch* scratch, int face, double key)
{
    RB_ASSERT(scratch->heapCount < RB_EPA_FACES);
    rbEpaHeapEntry* heap = scratch->heap;
    int hole = scratch->heapCount++;
    while (hole > 0 && heap[(hole - 1) / 2].key > key) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = (rbEpaHeapEntry){key, face};
}

static int popHeap(rbEpaScratch* scratch)
{
    RB_ASSERT(scratch->heapCount > 0);
    rbEpaHeapEntry* heap = scratch->heap;
    int top = heap[0].face;
    rbEpaHeapEntry last = heap[--scratch->heapCount];
    int count = scratch->heapCount;
    int hole = 0;
    for (int child = 1; child < count; child = 2 * hole + 1) {
        if (child + 1 < count && heap[child + 1].key < heap[child].key) {
            ++child;
        }
        if (heap[child].key >= last.key) {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = last;
    return top;
}

int rbEpaPolytope_PopNearest(rbEpaScratch* scratch)
{
    while (scratch->heapCount > 0) {
        int face = popHeap(scratch);
        if (!scratch->faces[face].isObsolete) {
            return face;
        }
    }
    return -1;
}

// Takes the component along the longest edge out of the normal of a needle.
static rbVec3 refineNormal(rbVec3 ab, rbVec3 ac)
{
    rbVec3 bc = rbSub(ac, ab);
    double abab = rbDot(ab, ab), acac = rbDot(ac, ac), bcbc = rbDot(bc, bc);
    // The cross product of the two shorter edges errs least.
    rbVec3 longest = ab;
    rbVec3 normal = rbCross(bc, rbNeg(ac));
    if (acac >= abab && acac >= bcbc) {
        longest = ac;
        normal = rbCross(ab, bc);
    } else if (bcbc >= abab) {
        longest = bc;
        normal = rbCross(ab, ac);
    }
    double along = rbDot(normal, longest) / rbDot(longest, longest);
    return rbAddScaled(normal, -along, longest);
}

// c is vertex 2, by value: read back from the array at once it would wait for its own store.
static void setPlane(rbEpaScratch* scratch, rbEpaFace* face, rbVec3 c)
{
    rbVec3 a = scratch->points[face->vertices[0]].w;
    rbVec3 b = scratch->points[face->vertices[1]].w;
    rbVec3 ab = rbSub(b, a), ac = rbSub(c, a);
    rbVec3 n = rbCross(ab, ac);
    double nn = rbDot(n, n);
    double abab = rbDot(ab, ab), acac = rbDot(ac, ac);
    double square = fmax(abab, acac);
    if (nn <= NEEDLE * square * square) {
        n = refineNormal(ab, ac);
        nn = rbDot(n, n);
    }
    face->normal = n;
    // nn = (longest edge * height)^2
    if (nn <= scratch->flatHeight * scratch->flatHeight * square || !(nn > 0.0)) {
        face->key = INFINITY;
        return;
    }
    double da = rbDot(n, a), db = rbDot(n, b), dc = rbDot(n, c);
    // Not by comparisons: they would be mispredicted half of the time.
    face->low = fmin(fmin(da, db), dc);
    face->high = fmax(fmax(da, db), dc);
    face->key = rbEpa_Square(face->low) / nn;
}

// A face without neighbours and plane; -1 if the storage is full.
static int makeFace(rbEpaScratch* scratch, int a, int b, int c)
{
    if (scratch->faceCount == scratch->faceLimit) {
        return -1;
    }
    int index = scratch->faceCount++;
    rbEpaFace* face = &scratch->faces[index];
    face->vertices[0] = (int16_t)a;
    face->vertices[1] = (int16_t)b;
    face->vertices[2] = (int16_t)c;
    face->isObsolete = false;
    return index;
}

// Planes of the faces from first on, then their places in the heap if they can matter. Two loops:
// a mispredicted branch on a distance would wait for its root and quotient; so it only waits for
// itself. Returns the smallest key.
static double finishFaces(rbEpaScratch* scratch, int first, rbVec3 apex)
{
    double least = INFINITY;
    for (int i = first; i < scratch->faceCount; ++i) {
        setPlane(scratch, &scratch->faces[i], apex);
        least = fmin(least, scratch->faces[i].key);
    }
    double keyMax = fmin(scratch->keyMax, DBL_MAX);
    for (int i = first; i < scratch->faceCount; ++i) {
        if (scratch->faces[i].key <= keyMax) {
            pushHeap(scratch, i, scratch->faces[i].key);
        }
    }
    return least;
}

static void link(rbEpaScratch* scratch, int faceA, int edgeA, int faceB, int edgeB)
{
    rbEpaFace* a = &scratch->faces[faceA];
    rbEpaFace* b = &scratch->faces[faceB];
    RB_ASSERT(a->vertices[edgeA] == b->vertices[nextOf(edgeB)]);
    RB_ASSERT(b->vertices[edgeB] == a->vertices[nextOf(edgeA)]);
    a->neighbors[edgeA] = (int16_t)faceB;
    a->neighborEdges[edgeA] = (uint8_t)edgeB;
    b->neighbors[edgeB] = (int16_t)faceA;
    b->neighborEdges[edgeB] = (uint8_t)edgeA;
}

void rbEpaPolytope_MakeTetrahedron(rbEpaScratch* scratch)
{
    RB_ASSERT(scratch->pointCount == 4 && scratch->faceCount == 0);
    rbCsoPoint* p = scratch->points;
    rbVec3 n = rbCross(rbSub(p[1].w, p[0].w), rbSub(p[2].w, p[0].w));
    if (rbDot(n, rbSub(p[3].w, p[0].w)) > 0.0) {
        rbCsoPoint swap = p[1];
        p[1] = p[2];
        p[2] = swap;
    }
    makeFace(scratch, 0, 1, 2);
    finishFaces(scratch, 0, p[2].w);
    makeFace(scratch, 1, 0, 3);
    makeFace(scratch, 0, 2, 3);
    makeFace(scratch, 2, 1, 3);
    finishFaces(scratch, 1, p[3].w);
    link(scratch, 0, 0, 1, 0);
    link(scratch, 0, 1, 3, 0);
    link(scratch, 0, 2, 2, 0);
    link(scratch, 1, 1, 2, 2);
    link(scratch, 1, 2, 3, 1);
    link(scratch, 2, 1, 3, 2);
}

// Faces without a normal have nothing to hide and go with the visible ones.
static bool isVisible(const rbEpaScratch* scratch, const rbEpaFace* face, rbVec3 w)
{
    rbVec3 n = face->normal;
    double size = fabs(n.x) + fabs(n.y) + fabs(n.z); // |n| .. 1.74 |n|
    return face->key == INFINITY || rbDot(n, w) > face->high + scratch->visible * size;
}

// The loop of new faces while it is being made.
typedef struct Rim {
    int first, last; // faces, -1 at first
    int start, end;  // vertices where the loop begins and where it has arrived
    int apex;        // the new point
    int count;
} Rim;

// The triangle over edge e of the face beyond the horizon.
static rbEpaGrowth addRimFace(rbEpaScratch* scratch, Rim* rim, int face, int edge)
{
    const rbEpaFace* beyond = &scratch->faces[face];
    int from = beyond->vertices[nextOf(edge)];
    int to = beyond->vertices[edge];
    if (rim->last >= 0 && rim->end != from) {
        return RB_EPA_BROKEN;
    }
    int made = makeFace(scratch, from, to, rim->apex);
    if (made < 0) {
        return RB_EPA_FULL;
    }
    link(scratch, made, 0, face, edge);
    if (rim->last >= 0) {
        link(scratch, rim->last, 1, made, 2);
    } else {
        rim->first = made;
        rim->start = from;
    }
    rim->last = made;
    rim->end = to;
    ++rim->count;
    return RB_EPA_GROWN;
}

rbEpaGrowth rbEpaPolytope_Grow(rbEpaScratch* scratch, int face, const rbCsoPoint* point,
                               double keyMin)
{
    RB_ASSERT(face >= 0 && face < scratch->faceCount);
    RB_ASSERT(!scratch->faces[face].isObsolete);
    if (scratch->pointCount == scratch->pointLimit) {
        return RB_EPA_FULL;
    }
    int apex = scratch->pointCount++;
    scratch->points[apex] = *point;
    rbVec3 w = point->w;
    Rim rim = {.first = -1, .last = -1, .start = -1, .end = -1, .apex = apex};
    rbEpaFace* faces = scratch->faces;
    faces[face].isObsolete = true;
    int depth = 0;
    // Edges are pushed last first, so that they are visited counter-clockwise.
    for (int edge = 2; edge >= 0; --edge) {
        scratch->stackFaces[depth] = faces[face].neighbors[edge];
        scratch->stackEdges[depth++] = faces[face].neighborEdges[edge];
    }
    while (depth > 0) {
        int here = scratch->stackFaces[--depth];
        int edge = scratch->stackEdges[depth];
        if (faces[here].isObsolete) {
            continue;
        }
        if (!isVisible(scratch, &faces[here], w)) {
            rbEpaGrowth growth = addRimFace(scratch, &rim, here, edge);
            if (growth != RB_EPA_GROWN) {
                return growth;
            }
            continue;
        }
        faces[here].isObsolete = true;
        RB_ASSERT(depth + 2 <= RB_EPA_FACES);
        int second = nextOf(nextOf(edge)), first = nextOf(edge);
        scratch->stackFaces[depth] = faces[here].neighbors[second];
        scratch->stackEdges[depth++] = faces[here].neighborEdges[second];
        scratch->stackFaces[depth] = faces[here].neighbors[first];
        scratch->stackEdges[depth++] = faces[here].neighborEdges[first];
    }
    if (rim.count < 3 || rim.end != rim.start) {
        return RB_EPA_BROKEN;
    }
    link(scratch, rim.last, 1, rim.first, 2);
    RB_VALIDATE(rbEpaPolytope_IsValid(scratch));
    return finishFaces(scratch, rim.first, w) < keyMin ? RB_EPA_BROKEN : RB_EPA_GROWN;
}

bool rbEpaPolytope_IsValid(const rbEpaScratch* scratch)
{
    int liveCount = 0;
    for (int i = 0; i < scratch->faceCount; ++i) {
        const rbEpaFace* face = &scratch->faces[i];
        if (face->isObsolete) {
            continue;
        }
        ++liveCount;
        for (int e = 0; e < 3; ++e) {
            const rbEpaFace* other = &scratch->faces[face->neighbors[e]];
            int back = face->neighborEdges[e];
            if (other->isObsolete || other->neighbors[back] != i ||
                other->neighborEdges[back] != e ||
                other->vertices[back] != face->vertices[nextOf(e)] ||
                other->vertices[nextOf(back)] != face->vertices[e] ||
                face->vertices[e] == face->vertices[nextOf(e)]) {
                return false;
            }
        }
    }
    return liveCount >= 4 && liveCount % 2 == 0;
}
