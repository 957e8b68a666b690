// Faces and horizon of the expanding polytope.
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

#include "base/core/lanes.h"

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
    scratch->pointLimit = pointLimit;
    scratch->faceLimit = faceLimit;
    scratch->flatHeight = RB_EPA_FLAT * scale;
    scratch->visible = RB_EPA_GAP * scale;
    scratch->keyMax = INFINITY;
}

int rbEpaPolytope_TakeNearest(rbEpaScratch* scratch, double* key)
{
    double* keys = scratch->keys;
    int count = scratch->faceCount;
    for (int i = count; i % RB_LANES != 0; ++i) {
        keys[i] = INFINITY;
    }
    // the smallest is the largest of the negatives
    const rbLanePair* pairs = (const rbLanePair*)keys;
    rbPeak peaks[4];
    rbLaneMask places[4];
    for (int k = 0; k < 4; ++k) {
        places[k] = rbPeak_Place(k);
        peaks[k] = (rbPeak){-pairs[k], places[k]};
    }
    for (int i = 4; i < count / 2 + count % 2; i += 4) {
        for (int k = 0; k < 4; ++k) {
            places[k] += RB_LANES;
            rbPeak_Keep(&peaks[k], -pairs[i + k], places[k]);
        }
    }
    double least;
    int face = rbPeak_Choose(peaks, &least);
    *key = -least;
    keys[face] = INFINITY;
    return *key < INFINITY ? face : -1;
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

// A corner of a face seen from its apex.
typedef struct Corner {
    rbVec3 w;      // itself
    rbVec3 from;   // from the apex
    double square; // length of that
} Corner;

static inline Corner makeCorner(rbVec3 w, rbVec3 apex)
{
    rbVec3 from = rbSub(w, apex);
    return (Corner){w, from, rbDot(from, from)};
}

// Plane of the face of two corners and the apex. Returns the key, INFINITY if the face is flat.
static inline double setPlane(const rbEpaScratch* scratch, rbEpaFace* face, const Corner* a,
                              const Corner* b, rbVec3 apex)
{
    // with the edge of the horizon, mostly the shortest: the product of the two others errs more
    rbVec3 n = rbCross(a->from, rbSub(b->w, a->w));
    double nn = rbDot(n, n);
    double square = fmax(a->square, b->square);
    if (nn <= NEEDLE * square * square) {
        n = refineNormal(a->from, b->from);
        nn = rbDot(n, n);
    }
    face->normal = n;
    // nn = (longest edge * height)^2
    if (nn <= scratch->flatHeight * scratch->flatHeight * square || !(nn > 0.0)) {
        face->low = face->high = -INFINITY;
        return INFINITY;
    }
    double da = rbDot(n, a->w), db = rbDot(n, b->w), dc = rbDot(n, apex);
    // Not by comparisons: they would be mispredicted half of the time.
    double low = fmin(fmin(da, db), dc);
    face->low = low;
    face->high = fmax(fmax(da, db), dc);
    return rbEpa_Square(low) / nn;
}

static void link(rbEpaScratch* scratch, int faceA, int edgeA, int faceB, int edgeB)
{
    RB_ASSERT(scratch->faces[faceA].vertices[edgeA] ==
              scratch->faces[faceB].vertices[nextOf(edgeB)]);
    RB_ASSERT(scratch->faces[faceB].vertices[edgeB] ==
              scratch->faces[faceA].vertices[nextOf(edgeA)]);
    scratch->faces[faceA].twins[edgeA] = (int16_t)(4 * faceB + edgeB);
    scratch->faces[faceB].twins[edgeB] = (int16_t)(4 * faceA + edgeA);
}

// Adds a face without neighbours.
static void addFace(rbEpaScratch* scratch, const int vertices[3])
{
    int made = scratch->faceCount++;
    rbEpaFace* face = &scratch->faces[made];
    for (int i = 0; i < 3; ++i) {
        face->vertices[i] = (int16_t)vertices[i];
    }
    face->isObsolete = false;
    rbVec3 apex = scratch->points[vertices[2]].w;
    Corner a = makeCorner(scratch->points[vertices[0]].w, apex);
    Corner b = makeCorner(scratch->points[vertices[1]].w, apex);
    scratch->keys[made] = setPlane(scratch, face, &a, &b, apex);
}

void rbEpaPolytope_MakeTetrahedron(rbEpaScratch* scratch)
{
    RB_ASSERT(scratch->pointCount == 4 && scratch->faceCount == 0);
    static const int corners[4][3] = {{0, 1, 2}, {1, 0, 3}, {0, 2, 3}, {2, 1, 3}};
    rbCsoPoint* p = scratch->points;
    rbVec3 n = rbCross(rbSub(p[1].w, p[0].w), rbSub(p[2].w, p[0].w));
    if (rbDot(n, rbSub(p[3].w, p[0].w)) > 0.0) {
        rbCsoPoint swap = p[1];
        p[1] = p[2];
        p[2] = swap;
    }
    for (int i = 0; i < 4; ++i) {
        addFace(scratch, corners[i]);
    }
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
    return rbDot(n, w) > face->high + scratch->visible * size;
}

// Deletes the faces that see the point, from a given one outwards, and notes what is beyond each
// edge of the horizon: a counter-clockwise loop of twins. Returns its length.
static int cutVisible(rbEpaScratch* scratch, int face, rbVec3 w)
{
    rbEpaFace* faces = scratch->faces;
    int16_t* stack = scratch->stack;
    int16_t* rim = scratch->rim;
    int count = 0;
    faces[face].isObsolete = true;
    scratch->keys[face] = INFINITY;
    // Edges are pushed last first, so that they are visited counter-clockwise.
    stack[0] = faces[face].twins[2];
    stack[1] = faces[face].twins[1];
    stack[2] = faces[face].twins[0];
    for (int depth = 3; depth > 0;) {
        int twin = stack[--depth];
        rbEpaFace* here = &faces[rbEpaTwin_Face(twin)];
        if (here->isObsolete) {
            continue;
        }
        if (!isVisible(scratch, here, w)) {
            rim[count++] = (int16_t)twin;
            continue;
        }
        int edge = rbEpaTwin_Edge(twin);
        here->isObsolete = true;
        scratch->keys[rbEpaTwin_Face(twin)] = INFINITY;
        RB_ASSERT(depth + 2 <= RB_EPA_FACES);
        stack[depth++] = here->twins[nextOf(nextOf(edge))];
        stack[depth++] = here->twins[nextOf(edge)];
    }
    return count;
}

// Joins the horizon to the apex. Edges 1 and 2 of the new faces, which they share, are linked by
// number. Returns the smallest key, -INFINITY if the horizon is no loop.
static double joinRim(rbEpaScratch* scratch, int count, int apex)
{
    rbEpaFace* faces = scratch->faces;
    rbVec3 w = scratch->points[apex].w;
    int first = scratch->faceCount;
    int start =
        faces[rbEpaTwin_Face(scratch->rim[0])].vertices[nextOf(rbEpaTwin_Edge(scratch->rim[0]))];
    int from = start;
    Corner a = makeCorner(scratch->points[from].w, w);
    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
        int twin = scratch->rim[k];
        int edge = rbEpaTwin_Edge(twin);
        rbEpaFace* beyond = &faces[rbEpaTwin_Face(twin)];
        if (beyond->vertices[nextOf(edge)] != from) {
            return -INFINITY;
        }
        int to = beyond->vertices[edge];
        int made = first + k;
        rbEpaFace* face = &faces[made];
        face->vertices[0] = (int16_t)from;
        face->vertices[1] = (int16_t)to;
        face->vertices[2] = (int16_t)apex;
        face->twins[0] = (int16_t)twin;
        face->twins[1] = (int16_t)(4 * (made + 1) + 2);
        face->twins[2] = (int16_t)(4 * (made - 1) + 1);
        face->isObsolete = false;
        beyond->twins[edge] = (int16_t)(4 * made);
        Corner b = makeCorner(scratch->points[to].w, w);
        double key = setPlane(scratch, face, &a, &b, w);
        least = fmin(least, key);
        scratch->keys[made] = key; // no comparison here: it would wait for the quotient
        a = b;
        from = to;
    }
    scratch->faceCount = first + count;
    if (from != start) {
        return -INFINITY;
    }
    link(scratch, first + count - 1, 1, first, 2);
    return least;
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
    int count = cutVisible(scratch, face, point->w);
    if (count < 3) {
        return RB_EPA_BROKEN;
    }
    if (scratch->faceCount + count > scratch->faceLimit) {
        return RB_EPA_FULL;
    }
    double least = joinRim(scratch, count, apex);
    RB_VALIDATE(!(least > -INFINITY) || rbEpaPolytope_IsValid(scratch));
    return least > -INFINITY && least >= keyMin ? RB_EPA_GROWN : RB_EPA_BROKEN;
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
            const rbEpaFace* other = &scratch->faces[rbEpaTwin_Face(face->twins[e])];
            int back = rbEpaTwin_Edge(face->twins[e]);
            if (other->isObsolete || other->twins[back] != 4 * i + e ||
                other->vertices[back] != face->vertices[nextOf(e)] ||
                other->vertices[nextOf(back)] != face->vertices[e] ||
                face->vertices[e] == face->vertices[nextOf(e)]) {
                return false;
            }
        }
    }
    return liveCount >= 4 && liveCount % 2 == 0;
}
