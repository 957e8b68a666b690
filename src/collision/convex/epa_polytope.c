// Faces and horizon of the expanding polytope.
//
// The horizon is found by flood fill over adjacency with an explicit stack, which visits its edges
// as one counter-clockwise loop; each edge immediately gets a triangle to the new point. Their
// planes are computed afterward, two at a time: each lane does the same operations as scalar code,
// so the bits are the same on every machine. Splitting only the nearest face instead would leave
// edges that cut through the body forever.
//
// Normals of needles: the cross product of two edges of length L has a rounding error of order eps
// L^2, which tilts the normal of a triangle of height H by eps L / H. The part of the tilt along
// the longest edge moves the ends by eps L^2 / H and is projected out; the rest moves them by eps L
// only.
#include "collision/convex/epa_polytope.h"

#include "collision/geometry/edge_lanes.h"

#include <math.h>
#include <string.h>

// Squared sine below which a triangle counts as a needle whose normal must be refined.
#define NEEDLE 1e-4

// The edges after an edge and before it, from a word of two bits each: a branch would be
// mispredicted half of the time.
static inline int nextOf(int edge)
{
    return 0x09 >> 2 * edge & 3;
}

static inline int lastOf(int edge)
{
    return 0x12 >> 2 * edge & 3;
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

// -------------------------------------------------------------------------------------------- keys

static inline void storePair(double* to, rbLanePair pair)
{
    memcpy(to, &pair, sizeof pair);
}

int rbEpaPolytope_TakeNearest(rbEpaScratch* scratch, double* key)
{
    double* keys = scratch->keys;
    int count = scratch->faceCount;
    // the smallest is the largest of the negatives
    rbPeak peaks[4];
    rbLaneMask places[4];
    for (int k = 0; k < 4; ++k) {
        places[k] = rbPeak_Place(k);
        peaks[k] = (rbPeak){-rbLanePair_Load(&keys[k + k]), places[k]};
    }
    for (int i = RB_LANES; i < count; i += RB_LANES) {
        for (int k = 0; k < 4; ++k) {
            places[k] += RB_LANES;
            rbPeak_Keep(&peaks[k], -rbLanePair_Load(&keys[i + 2 * k]), places[k]);
        }
    }
    double least;
    int face = rbPeak_Choose(peaks, &least);
    *key = -least;
    keys[face] = INFINITY;
    return *key < INFINITY ? face : -1;
}

// ------------------------------------------------------------------------------------------ planes

// Removes the component along the longest edge from the normal of a needle.
static rbVec3 refineNormal(rbVec3 ab, rbVec3 ac)
{
    rbVec3 bc = rbSub(ac, ab);
    double abab = rbDot(ab, ab), acac = rbDot(ac, ac), bcbc = rbDot(bc, bc);
    // The cross product of the two shorter edges has the smallest error.
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

// Plane of one face, of two corners and the apex. Returns the key, INFINITY if it is flat.
static double setPlane(rbEpaScratch* scratch, int face, rbVec3 a, rbVec3 b, rbVec3 apex)
{
    rbVec3 fromA = rbSub(a, apex), fromB = rbSub(b, apex);
    // with the edge of the horizon, mostly the shortest: the two others have a larger error
    rbVec3 n = rbCross(fromA, rbSub(b, a));
    double nn = rbDot(n, n);
    double square = fmax(rbDot(fromA, fromA), rbDot(fromB, fromB));
    if (nn <= NEEDLE * square * square) {
        n = refineNormal(fromA, fromB);
        nn = rbDot(n, n);
    }
    scratch->normalX[face] = n.x;
    scratch->normalY[face] = n.y;
    scratch->normalZ[face] = n.z;
    // nn = (longest edge * height)^2
    if (nn <= scratch->flatHeight * scratch->flatHeight * square || !(nn > 0.0)) {
        scratch->lows[face] = scratch->sights[face] = -INFINITY;
        return INFINITY;
    }
    double da = rbDot(n, a), db = rbDot(n, b), dc = rbDot(n, apex);
    double low = fmin(fmin(da, db), dc);
    double size = fabs(n.x) + fabs(n.y) + fabs(n.z); // |n| .. 1.74 |n|
    scratch->lows[face] = low;
    scratch->sights[face] = fmax(fmax(da, db), dc) + scratch->visible * size;
    return rbEpa_Square(low) / nn;
}

// Planes of the new faces one by one, since some of them need care.
static double setPlanesSlowly(rbEpaScratch* scratch, int first, int count, rbVec3 apex)
{
    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
        double key = setPlane(scratch, first + k, scratch->points[scratch->rim[k]].w,
                              scratch->points[scratch->rim[k + 1]].w, apex);
        scratch->keys[first + k] = key;
        least = fmin(least, key);
    }
    return least;
}

// Planes of the new faces, from the corners of the horizon to the apex: setPlane for two at a time
// while none is thin. Returns the smallest key.
static double setPlanes(rbEpaScratch* scratch, int first, int count, rbVec3 w)
{
    const rbCsoPoint* points = scratch->points;
    // An odd face at the end is paired with the first one again.
    int16_t* rim = scratch->rim;
    rim[count] = rim[0];
    rim[count + 1] = rim[1];
    rim[count + 2] = rim[2];
    rbLanes3 apex = rbJoin3(w, w);
    double flat = scratch->flatHeight * scratch->flatHeight;
    rbLanePair flats = {flat, flat};
    rbLaneMask thin = {0, 0};
    rbLanePair least = {INFINITY, INFINITY};
    rbLanes3 a = rbJoin3(points[rim[0]].w, points[rim[1]].w);
    rbLanes3 from = rbSub3(a, apex);
    rbLanePair squareA = rbDot3(from, from);
    for (int k = 0; k < count; k += 2) {
        rbLanes3 next = rbJoin3(points[rim[k + 2]].w, points[rim[k + 3]].w);
        rbLanes3 b = {{a.x[1], next.x[0]}, {a.y[1], next.y[0]}, {a.z[1], next.z[0]}};
        rbLanes3 n = rbCross3(from, rbSub3(b, a));
        from = rbSub3(next, apex);
        rbLanePair squareNext = rbDot3(from, from);
        rbLanePair square = rbLanePair_Max((rbLanePair){squareA[1], squareNext[0]}, squareA);
        rbLanePair nn = rbDot3(n, n);
        thin |= ~(nn > rbLanePair_Max(flats, NEEDLE * square) * square);
        rbLanePair da = rbDot3(n, a), db = rbDot3(n, b), dc = rbDot3(n, apex);
        rbLanePair low = rbLanePair_Min(dc, rbLanePair_Min(db, da));
        rbLanePair high = rbLanePair_Max(dc, rbLanePair_Max(db, da));
        rbLanePair size = rbLanePair_Abs(n.x) + rbLanePair_Abs(n.y) + rbLanePair_Abs(n.z);
        int face = first + k;
        storePair(&scratch->normalX[face], n.x);
        storePair(&scratch->normalY[face], n.y);
        storePair(&scratch->normalZ[face], n.z);
        storePair(&scratch->lows[face], low);
        storePair(&scratch->sights[face], high + scratch->visible * size);
        rbLanePair key = low * rbLanePair_Abs(low) / nn;
        storePair(&scratch->keys[face], key);
        least = rbLanePair_Min(key, least);
        a = next;
        squareA = squareNext;
    }
    return (thin[0] | thin[1]) != 0 ? setPlanesSlowly(scratch, first, count, w)
                                    : rbLanePair_Min((rbLanePair){least[1], least[0]}, least)[0];
}

// ----------------------------------------------------------------------------------------- horizon

static inline void setTwin(rbEpaFace* face, int edge, int twin)
{
    uint64_t mask = (uint64_t)0xffff << 16 * edge;
    face->twins = (face->twins & ~mask) | (uint64_t)twin << 16 * edge;
}

static inline void deleteFace(rbEpaScratch* scratch, int face)
{
    scratch->faces[face].vertices |= (uint64_t)1 << 48;
    scratch->keys[face] = INFINITY;
}

// The faces from the horizon to the apex, in the order found.
typedef struct Rim {
    int first, count;
    int apex;
    int last; // vertex where the last edge ended
    int gaps; // not 0: an edge does not begin where the last one ended
} Rim;

// Adds the face of the apex and the edge shared with a twin. Edges 1 and 2 of the new faces, which
// they share, are linked by number.
static inline void addRimFace(rbEpaScratch* scratch, Rim* rim, int twin)
{
    int edge = rbEpaTwin_Edge(twin);
    rbEpaFace* beyond = &scratch->faces[rbEpaTwin_Face(twin)];
    int from = rbEpaFace_GetVertex(beyond, nextOf(edge));
    int to = rbEpaFace_GetVertex(beyond, edge);
    int made = rim->first + rim->count;
    rbEpaFace* face = &scratch->faces[made];
    face->vertices = rbEpa_Pack(from, to, rim->apex);
    // the last twin of the first one is set later
    face->twins = (uint64_t)twin + ((uint64_t)made << 34) + ((uint64_t)made << 18) +
                  rbEpa_Pack(0, 4 + 2, 0) + (((uint64_t)1 - 4) << 32);
    setTwin(beyond, edge, 4 * made);
    rim->gaps |= from ^ (rim->count == 0 ? from : rim->last);
    rim->last = to;
    scratch->rim[rim->count++] = (int16_t)from;
}

// Planes and last links of the new faces. Returns the smallest key, -INFINITY: there is no loop.
static inline double finishRim(rbEpaScratch* scratch, Rim rim)
{
    if (rim.count < 3 || (rim.gaps | (rim.last ^ scratch->rim[0])) != 0) {
        return -INFINITY;
    }
    int end = rim.first + rim.count;
    setTwin(&scratch->faces[end - 1], 1, 4 * rim.first + 2);
    setTwin(&scratch->faces[rim.first], 2, 4 * (end - 1) + 1);
    double least = setPlanes(scratch, rim.first, rim.count, scratch->points[rim.apex].w);
    scratch->faceCount = end;
    // pads the keys after the last face
    for (int i = 0; i < RB_EPA_ROOM; i += 2) {
        storePair(&scratch->keys[end + i], (rbLanePair){INFINITY, INFINITY});
    }
    return least;
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
    // one face, and the others around it
    scratch->faces[0] = (rbEpaFace){.vertices = rbEpa_Pack(0, 1, 2)};
    scratch->keys[0] = setPlane(scratch, 0, p[0].w, p[1].w, p[2].w);
    Rim rim = {.first = 1, .apex = 3};
    for (int i = 0; i < 3; ++i) {
        addRimFace(scratch, &rim, (3 - i) % 3);
    }
    (void)finishRim(scratch, rim);
}

rbEpaGrowth rbEpaPolytope_Grow(rbEpaScratch* scratch, int face, double keyMin)
{
    RB_ASSERT(face >= 0 && face < scratch->faceCount);
    RB_ASSERT(!rbEpaFace_IsObsolete(&scratch->faces[face]));
    if (scratch->pointCount == scratch->pointLimit) {
        return RB_EPA_FULL;
    }
    int room = scratch->faceLimit - scratch->faceCount;
    Rim rim = {.first = scratch->faceCount, .apex = scratch->pointCount++};
    // no loop has more corners than there are points
    int limit = room < scratch->pointCount ? room : scratch->pointCount;
    // Deletes the faces that see the point, from the given one outwards, and joins each edge of the
    // horizon to it. Flat faces hide nothing and are deleted with the visible ones.
    rbVec3 w = scratch->points[rim.apex].w;
    uint16_t* stack = scratch->stack;
    deleteFace(scratch, face);
    // Edges are pushed last first, so that they are visited counter-clockwise.
    for (int i = 0; i < 3; ++i) {
        stack[i] = (uint16_t)rbEpaFace_GetTwin(&scratch->faces[face], 2 - i);
    }
    for (int depth = 3; depth > 0;) {
        int twin = stack[--depth];
        int index = rbEpaTwin_Face(twin);
        const rbEpaFace* here = &scratch->faces[index];
        if (rbEpaFace_IsObsolete(here)) {
            continue;
        }
        if (rbDot(rbEpaPolytope_GetNormal(scratch, index), w) > scratch->sights[index]) {
            RB_ASSERT(depth + 2 <= RB_EPA_FACES);
            int edge = rbEpaTwin_Edge(twin);
            deleteFace(scratch, index);
            stack[depth++] = (uint16_t)rbEpaFace_GetTwin(here, lastOf(edge));
            stack[depth++] = (uint16_t)rbEpaFace_GetTwin(here, nextOf(edge));
        } else if (rim.count == limit) {
            return limit == room ? RB_EPA_FULL : RB_EPA_BROKEN;
        } else {
            addRimFace(scratch, &rim, twin);
        }
    }
    double least = finishRim(scratch, rim);
    RB_VALIDATE(!(least > -INFINITY) || rbEpaPolytope_IsValid(scratch));
    return least > -INFINITY && least >= keyMin ? RB_EPA_GROWN : RB_EPA_BROKEN;
}

bool rbEpaPolytope_IsValid(const rbEpaScratch* scratch)
{
    int liveCount = 0;
    for (int i = 0; i < scratch->faceCount; ++i) {
        const rbEpaFace* face = &scratch->faces[i];
        if (rbEpaFace_IsObsolete(face)) {
            continue;
        }
        ++liveCount;
        for (int e = 0; e < 3; ++e) {
            int twin = rbEpaFace_GetTwin(face, e);
            const rbEpaFace* other = &scratch->faces[rbEpaTwin_Face(twin)];
            int back = rbEpaTwin_Edge(twin);
            int from = rbEpaFace_GetVertex(face, e);
            int to = rbEpaFace_GetVertex(face, nextOf(e));
            if (rbEpaFace_IsObsolete(other) || rbEpaFace_GetTwin(other, back) != 4 * i + e ||
                rbEpaFace_GetVertex(other, back) != to ||
                rbEpaFace_GetVertex(other, nextOf(back)) != from || from == to) {
                return false;
            }
        }
    }
    return liveCount >= 4 && liveCount % 2 == 0;
}
