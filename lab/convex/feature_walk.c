// The steps of the walk to the closest features.
//
// Uses the pairs of features of V-Clip (Mirtich 1998), with one change that eliminates its local
// minima. The distance of the closed features decreases in every step: a vertex, an edge with its
// ends, a face with its boundary. With a and b the closest points of the pair:
//
//   vertex, edge with either   a at a vertex: if an edge of it leads toward b, that edge. a inside
//                              an edge: if b is over an adjacent face, off the edge, that face.
//                              The same for b. Neither: done.
//   edge with face             the part of the edge over the face crosses it: overlap. Otherwise
//                              the lower end of that part: a vertex of the edge or an edge of
//                              the face. No part is over it: the nearest edge of the face.
//   vertex with face           off the face: its nearest edge. Over it: if an edge of the
//                              vertex leads down, that edge, otherwise done.
//   b is below                 (under the face, or inside the wedge of both faces of an edge.) The
//                              segment from a to b then starts inside the body. Either it ends
//                              there, which is overlap, or it leaves through a face, to which b
//                              is nearer than to a: that face.
//
// V-Clip continues under faces until it is stuck and then searches for the face that is highest
// under the vertex; a step to the exit face costs the same and decreases the distance, so in exact
// arithmetic the walk cannot return to a pair. In double precision, pairs that tie within rounding
// can make it cycle. The next pair depends only on the last one, so a pair seen twice proves a
// cycle (Brent's method); all pairs of the cycle are then measured and the best one is used.
//
// Decisions that reverse each other use the same expressions with the same bits, so most ties do
// not even start a cycle.
#include "lab/convex/feature_walk.h"

#include "collision/geometry/shape_ops.h"

#include <math.h>

// A point of the frame of A in the frame of body i.
static rbVec3 seenFrom(const rbFeatureWalk* w, int i, rbVec3 p)
{
    return i == 0 ? p : rbBringTo(w, 1, p);
}

static double heightOver(const rbFeatureBody* body, int face, rbVec3 p)
{
    return rbDot(body->normals[face], p) - body->offsets[face];
}

// Distance of the end of a vector (from the edge) on the side of the edge where the face is, times
// the length of the edge.
static double sideOf(const rbFeatureBody* body, int edge, int face, rbVec3 offset)
{
    const rbEdge* e = &body->edges[edge];
    rbVec3 along = rbSub(body->vertices[e->v1], body->vertices[e->v0]);
    double side = rbDot(body->normals[face], rbCross(along, offset));
    return face == e->faceLeft ? side : -side;
}

static rbVec3 offsetFrom(const rbFeatureBody* body, int edge, rbVec3 p)
{
    return rbSub(p, body->vertices[body->edges[edge].v0]);
}

// ------------------------------------------------------------------------- vertices and edges

static double clampUnit(double s)
{
    return s > 0.0 ? (s < 1.0 ? s : 1.0) : 0.0;
}

// Parameter of the point of a segment nearest to p.
static double projectOn(const rbVec3 ends[2], rbVec3 p)
{
    rbVec3 along = rbSub(ends[1], ends[0]);
    return clampUnit(rbDot(rbSub(p, ends[0]), along) / rbLengthSquared(along));
}

static rbVec3 pointAt(const rbVec3 ends[2], double s)
{
    return s >= 1.0 ? ends[1] : rbAddScaled(ends[0], s, rbSub(ends[1], ends[0]));
}

// Parameters of the closest points of two segments. Uses products of vectors instead of differences
// of products, because parallel edges are common.
static void nearestOfSegments(const rbVec3 p[2], const rbVec3 q[2], double* s, double* t)
{
    rbVec3 u = rbSub(p[1], p[0]);
    rbVec3 v = rbSub(q[1], q[0]);
    rbVec3 across = rbCross(u, v);
    double squared = rbLengthSquared(across);
    double first =
        squared > 0.0 ? clampUnit(rbDot(rbCross(rbSub(q[0], p[0]), v), across) / squared) : 0.0;
    *t = projectOn(q, pointAt(p, first));
    // at an end of the second segment, the first one has a better point; otherwise an end of the
    // first one must remain an end
    *s = *t > 0.0 && *t < 1.0 ? first : projectOn(p, pointAt(q, *t));
}

static int getEnds(const rbFeatureWalk* w, int i, rbVec3 ends[2])
{
    const rbFeatureBody* body = w->bodies[i];
    rbFeature f = w->features[i];
    if (f.kind == RB_FEATURE_VERTEX) {
        rbVec3 p = body->vertices[f.index];
        ends[0] = i == 0 ? p : rbBringTo(w, 0, p);
        ends[1] = ends[0];
        return 1;
    }
    const rbEdge* edge = &body->edges[f.index];
    ends[0] = body->vertices[edge->v0];
    ends[1] = body->vertices[edge->v1];
    if (i == 1) {
        ends[0] = rbBringTo(w, 0, ends[0]);
        ends[1] = rbBringTo(w, 0, ends[1]);
    }
    return 2;
}

static rbFeature activeOf(const rbFeatureBody* body, rbFeature f, double s)
{
    if (f.kind == RB_FEATURE_VERTEX || (s > 0.0 && s < 1.0)) {
        return f;
    }
    const rbEdge* edge = &body->edges[f.index];
    return (rbFeature){RB_FEATURE_VERTEX, s > 0.0 ? edge->v1 : edge->v0};
}

static rbVec3 rejectFrom(rbVec3 d, rbVec3 edge)
{
    return rbAddScaled(d, -rbDot(d, edge) / rbLengthSquared(edge), edge);
}

// The difference of the witness points has rounding errors of the positions, which are large
// relative to a short difference. The directions of the edges are exact: makes it perpendicular to
// the edges on which the points lie.
static rbVec3 sharpen(const rbFeatureWalk* w, const rbFeatureNearest* nearest, rbVec3 d)
{
    bool isEdgeA = nearest->active[0].kind == RB_FEATURE_EDGE;
    bool isEdgeB = nearest->active[1].kind == RB_FEATURE_EDGE;
    rbVec3 u = nearest->edges[0];
    rbVec3 v = nearest->edges[1];
    if (!isEdgeA || !isEdgeB) {
        return isEdgeA ? rejectFrom(d, u) : (isEdgeB ? rejectFrom(d, v) : d);
    }
    rbVec3 across = rbCross(u, v);
    double squared = rbLengthSquared(across);
    // compares rounding over the sine of the angle with rounding of positions over |d|
    if (squared * w->scale * w->scale >
        rbLengthSquared(d) * rbLengthSquared(u) * rbLengthSquared(v)) {
        return rbScale(rbDot(across, d) / squared, across);
    }
    return rejectFrom(rejectFrom(rejectFrom(d, u), v), u);
}

void rbMeasureFeatures(rbFeatureWalk* w)
{
    rbFeatureNearest* nearest = &w->nearest;
    RB_ASSERT(w->features[0].kind == RB_FEATURE_VERTEX || w->features[0].kind == RB_FEATURE_EDGE);
    RB_ASSERT(w->features[1].kind == RB_FEATURE_VERTEX || w->features[1].kind == RB_FEATURE_EDGE);
    rbVec3 p[2];
    rbVec3 q[2];
    int countA = getEnds(w, 0, p);
    int countB = getEnds(w, 1, q);
    double s = 0.0;
    double t = 0.0;
    if (countA == 2 && countB == 2) {
        nearestOfSegments(p, q, &s, &t);
    } else if (countA == 2) {
        s = projectOn(p, q[0]);
    } else if (countB == 2) {
        t = projectOn(q, p[0]);
    }
    RB_ASSERT(s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0);
    nearest->points[0] = pointAt(p, s);
    nearest->points[1] = pointAt(q, t);
    nearest->edges[0] = rbSub(p[1], p[0]);
    nearest->edges[1] = rbSub(q[1], q[0]);
    nearest->active[0] = activeOf(w->bodies[0], w->features[0], s);
    nearest->active[1] = activeOf(w->bodies[1], w->features[1], t);
    nearest->d = sharpen(w, nearest, rbSub(nearest->points[1], nearest->points[0]));
}

// A neighbor to move to, and how clearly: the distance of the other witness outside the region of
// the feature. If both bodies want to move, the clearer case wins, so that ties by rounding cannot
// block the walk.
typedef struct Wish {
    int index;     // edge of a vertex; face of an edge or FACE_BELOW
    double beyond; // m, 0: stay
} Wish;

#define FACE_BELOW (-2)

// The edge of a vertex that leads most steeply along d. except: an edge known not to.
static Wish validateVertex(const rbFeatureBody* body, int vertex, rbVec3 d, int except)
{
    RB_ASSERT(vertex >= 0 && vertex < body->vertexCount);
    Wish wish = {-1, 0.0};
    rbVec3 origin = body->vertices[vertex];
    for (int k = body->vertexEdgeStarts[vertex]; k < body->vertexEdgeStarts[vertex + 1]; ++k) {
        int index = body->vertexEdges[k];
        const rbEdge* edge = &body->edges[index];
        rbVec3 along = rbSub(body->vertices[edge->v0 == vertex ? edge->v1 : edge->v0], origin);
        double gain = rbDot(along, d);
        if (gain > 0.0 && index != except) {
            double slope = gain / rbLength(along);
            if (slope > wish.beyond) {
                wish = (Wish){index, slope};
            }
        }
    }
    return wish;
}

// A point seen from the inside of an edge: in the region of the edge (stay), over one of its faces,
// or below both. offset leads from the edge to the point.
static Wish validateEdge(const rbFeatureBody* body, int edge, rbVec3 p, rbVec3 offset)
{
    RB_ASSERT(edge >= 0 && edge < body->edgeCount);
    const rbEdge* e = &body->edges[edge];
    if (e->faceLeft < 0) {
        return (Wish){-1, 0.0};
    }
    const int faces[2] = {e->faceLeft, e->faceRight};
    const double sides[2] = {sideOf(body, edge, faces[0], offset),
                             sideOf(body, edge, faces[1], offset)};
    if (sides[0] <= 0.0 && sides[1] <= 0.0) {
        return (Wish){-1, 0.0};
    }
    double length = rbDistance(body->vertices[e->v0], body->vertices[e->v1]);
    int first = sides[1] > sides[0] ? 1 : 0;
    for (int k = 0; k < 2; ++k) {
        int pick = k == 0 ? first : 1 - first;
        if (sides[pick] > 0.0 && heightOver(body, faces[pick], p) > 0.0) {
            return (Wish){faces[pick], sides[pick] / length};
        }
    }
    return (Wish){FACE_BELOW, sides[first] / length};
}

// The face through which the segment from a point of the body leaves it. *isInside: it does not
// leave; then the face that its end is least below.
static int findExit(const rbFeatureBody* body, rbVec3 from, rbVec3 to, bool* isInside)
{
    RB_ASSERT(body->faceCount > 0);
    int exit = -1;
    int highest = 0;
    double first = INFINITY;
    double height = -INFINITY;
    for (int f = 0; f < body->faceCount; ++f) {
        double end = heightOver(body, f, to);
        if (end > height) {
            height = end;
            highest = f;
        }
        if (end > 0.0) {
            double below = -heightOver(body, f, from);
            double t = below > 0.0 ? below / (below + end) : 0.0;
            // among faces left at the same time, the highest one
            if (t < first || (t == first && f == highest)) {
                first = t;
                exit = f;
            }
        }
    }
    *isInside = exit < 0;
    return exit < 0 ? highest : exit;
}

// The point to, seen from the point from of body i, is below: moves to the exit face.
static rbWalkVerdict passThrough(rbFeatureWalk* w, int i, rbVec3 from, rbVec3 to)
{
    bool isInside;
    int face = findExit(w->bodies[i], from, to, &isInside);
    if (isInside) {
        w->faceOwner = i;
        w->face = face;
        return RB_WALK_OVERLAP;
    }
    w->features[i] = (rbFeature){RB_FEATURE_FACE, face};
    return RB_WALK_GO_ON;
}

// A step for two features that are vertices or edges.
static rbWalkVerdict stepLow(rbFeatureWalk* w)
{
    rbMeasureFeatures(w);
    const rbFeatureNearest* nearest = &w->nearest;
    rbFeature before[2] = {w->features[0], w->features[1]};
    rbFeature next[2] = {nearest->active[0], nearest->active[1]};
    w->features[0] = next[0];
    w->features[1] = next[1];
    rbVec3 d = nearest->d;
    if (d.x == 0.0 && d.y == 0.0 && d.z == 0.0) {
        w->face = -1;
        return RB_WALK_OVERLAP;
    }
    Wish wishes[2];
    for (int i = 0; i < 2; ++i) {
        const rbFeatureBody* body = w->bodies[i];
        rbVec3 toward = i == 0 ? d : rbNeg(rbTurnTo(w, 1, d));
        if (next[i].kind == RB_FEATURE_EDGE) {
            rbVec3 p = seenFrom(w, i, nearest->points[1 - i]);
            bool isCrossing = next[1 - i].kind == RB_FEATURE_EDGE;
            wishes[i] = validateEdge(body, next[i].index, p,
                                     isCrossing ? toward : offsetFrom(body, next[i].index, p));
        } else {
            // the other edges of the vertex; the edge that ends at it has been measured
            int except = before[i].kind == RB_FEATURE_EDGE ? before[i].index : -1;
            wishes[i] = validateVertex(body, next[i].index, toward, except);
        }
    }
    int first = wishes[1].beyond > wishes[0].beyond ? 1 : 0;
    if (wishes[first].beyond == 0.0) {
        return RB_WALK_NEAREST;
    }
    // vertices move to their edges at once; only one of the faces can be taken
    for (int i = 0; i < 2; ++i) {
        if (next[i].kind == RB_FEATURE_VERTEX && wishes[i].beyond > 0.0) {
            w->features[i] = (rbFeature){RB_FEATURE_EDGE, wishes[i].index};
        }
    }
    if (next[first].kind == RB_FEATURE_VERTEX) {
        return RB_WALK_GO_ON;
    }
    if (wishes[first].index == FACE_BELOW) {
        return passThrough(w, first, seenFrom(w, first, nearest->points[first]),
                           seenFrom(w, first, nearest->points[1 - first]));
    }
    w->features[first] = (rbFeature){RB_FEATURE_FACE, wishes[first].index};
    return RB_WALK_GO_ON;
}

// -------------------------------------------------------------------------------------- faces

// Body i has a vertex, the other one a face.
static rbWalkVerdict stepVertexFace(rbFeatureWalk* w, int i)
{
    const rbFeatureBody* body = w->bodies[1 - i];
    int face = w->features[1 - i].index;
    RB_ASSERT(face >= 0 && face < body->faceCount);
    int vertex = w->features[i].index;
    rbVec3 p = rbBringTo(w, 1 - i, w->bodies[i]->vertices[vertex]);
    int beside = -1;
    double least = INFINITY;
    for (int k = body->faceStarts[face]; k < body->faceStarts[face + 1]; ++k) {
        int edge = body->faceEdges[k];
        if (sideOf(body, edge, face, offsetFrom(body, edge, p)) < 0.0) {
            const rbEdge* e = &body->edges[edge];
            const rbVec3 ends[2] = {body->vertices[e->v0], body->vertices[e->v1]};
            double off = rbLengthSquared(rbSub(p, pointAt(ends, projectOn(ends, p))));
            if (off < least) {
                least = off;
                beside = edge;
            }
        }
    }
    if (beside >= 0) {
        w->features[1 - i] = (rbFeature){RB_FEATURE_EDGE, beside};
        return RB_WALK_GO_ON;
    }
    rbVec3 n = body->normals[face];
    double height = heightOver(body, face, p);
    if (height <= 0.0) {
        return passThrough(w, 1 - i, rbAddScaled(p, -height, n), p);
    }
    Wish down = validateVertex(w->bodies[i], vertex, rbNeg(rbTurnTo(w, i, n)), -1);
    if (down.beyond > 0.0) {
        w->features[i] = (rbFeature){RB_FEATURE_EDGE, down.index};
        return RB_WALK_GO_ON;
    }
    return RB_WALK_NEAREST;
}

// The part of a segment over a face, and the edges of the face where it begins and ends (-1: at an
// end of the segment).
typedef struct Clip {
    bool isEmpty;
    double low, high;
    int edgeLow, edgeHigh;
} Clip;

static Clip clipByFace(const rbFeatureBody* body, int face, const rbVec3 ends[2])
{
    Clip clip = {false, 0.0, 1.0, -1, -1};
    for (int k = body->faceStarts[face]; k < body->faceStarts[face + 1]; ++k) {
        int edge = body->faceEdges[k];
        double first = sideOf(body, edge, face, offsetFrom(body, edge, ends[0]));
        double last = sideOf(body, edge, face, offsetFrom(body, edge, ends[1]));
        if (first < 0.0 && last < 0.0) {
            clip.isEmpty = true;
        } else if (first < 0.0) {
            double t = first / (first - last);
            if (t > clip.low || clip.edgeLow < 0) {
                clip.low = t;
                clip.edgeLow = edge;
            }
        } else if (last < 0.0) {
            double t = first / (first - last);
            if (t < clip.high || clip.edgeHigh < 0) {
                clip.high = t;
                clip.edgeHigh = edge;
            }
        }
    }
    clip.isEmpty = clip.isEmpty || clip.low > clip.high;
    return clip;
}

// The segment is off the face or below it: moves to the nearest edge, or to an end that is nearer.
static void leaveFace(rbFeatureWalk* w, int i, const rbVec3 ends[2], const Clip* clip)
{
    const rbFeatureBody* body = w->bodies[1 - i];
    int face = w->features[1 - i].index;
    const rbEdge* own = &w->bodies[i]->edges[w->features[i].index];
    double least = INFINITY;
    int nearest = -1;
    for (int k = body->faceStarts[face]; k < body->faceStarts[face + 1]; ++k) {
        const rbEdge* e = &body->edges[body->faceEdges[k]];
        const rbVec3 side[2] = {body->vertices[e->v0], body->vertices[e->v1]};
        double s, t;
        nearestOfSegments(ends, side, &s, &t);
        double off = rbDistance(pointAt(ends, s), pointAt(side, t));
        if (off < least) {
            least = off;
            nearest = body->faceEdges[k];
        }
    }
    for (int k = 0; k < 2 && !clip->isEmpty; ++k) {
        double below = -heightOver(body, face, ends[k]);
        if ((k == 0 ? clip->edgeLow : clip->edgeHigh) < 0 && below < least) {
            least = below;
            nearest = -1;
            w->features[i] = (rbFeature){RB_FEATURE_VERTEX, k == 0 ? own->v0 : own->v1};
        }
    }
    RB_ASSERT(least < INFINITY);
    if (nearest >= 0) {
        w->features[1 - i] = (rbFeature){RB_FEATURE_EDGE, nearest};
    }
}

// Body i has an edge, the other one a face.
static rbWalkVerdict stepEdgeFace(rbFeatureWalk* w, int i)
{
    const rbFeatureBody* body = w->bodies[1 - i];
    int face = w->features[1 - i].index;
    RB_ASSERT(face >= 0 && face < body->faceCount);
    RB_ASSERT(w->features[i].index >= 0 && w->features[i].index < w->bodies[i]->edgeCount);
    const rbEdge* own = &w->bodies[i]->edges[w->features[i].index];
    rbVec3 from = w->bodies[i]->vertices[own->v0];
    rbVec3 to = w->bodies[i]->vertices[own->v1];
    const rbVec3 ends[2] = {rbBringTo(w, 1 - i, from), rbBringTo(w, 1 - i, to)};
    Clip clip = clipByFace(body, face, ends);
    double first = heightOver(body, face, ends[0]);
    double last = heightOver(body, face, ends[1]);
    double low = clip.edgeLow < 0 ? first : first + clip.low * (last - first);
    double high = clip.edgeHigh < 0 ? last : first + clip.high * (last - first);
    if (clip.isEmpty || (low < 0.0 && high < 0.0)) {
        leaveFace(w, i, ends, &clip);
        return RB_WALK_GO_ON;
    }
    if (!(low > 0.0 && high > 0.0)) {
        w->faceOwner = 1 - i;
        w->face = face;
        return RB_WALK_OVERLAP;
    }
    // the slope as computed for the vertices of the edge, with the same bits
    bool isFalling = rbDot(rbSub(to, from), rbTurnTo(w, i, body->normals[face])) < 0.0;
    int edge = isFalling ? clip.edgeHigh : clip.edgeLow;
    if (edge >= 0) {
        w->features[1 - i] = (rbFeature){RB_FEATURE_EDGE, edge};
    } else {
        w->features[i] = (rbFeature){RB_FEATURE_VERTEX, isFalling ? own->v1 : own->v0};
    }
    return RB_WALK_GO_ON;
}

// --------------------------------------------------------------------------------------- walk

rbWalkVerdict rbStepFeatures(rbFeatureWalk* w)
{
    for (int i = 0; i < 2; ++i) {
        if (w->features[1 - i].kind == RB_FEATURE_FACE) {
            RB_ASSERT(w->features[i].kind != RB_FEATURE_FACE);
            return w->features[i].kind == RB_FEATURE_VERTEX ? stepVertexFace(w, i)
                                                            : stepEdgeFace(w, i);
        }
    }
    return stepLow(w);
}

bool rbIsSamePair(const rbFeature a[2], const rbFeature b[2])
{
    return a[0].kind == b[0].kind && a[0].index == b[0].index && a[1].kind == b[1].kind &&
           a[1].index == b[1].index;
}

// Steps until there is a result. Brent: the reference pair is renewed after 1, 2, 4, ... steps, so
// a cycle is found after at most three times the number of steps to reach and traverse it.
rbWalkVerdict rbRunFeatureWalk(rbFeatureWalk* w, int* steps)
{
    rbFeature mark[2] = {w->features[0], w->features[1]};
    int next = 4;
    int since = 0;
    while (*steps < RB_WALK_STEPS_MAX) {
        ++*steps;
        rbFeature before[2] = {w->features[0], w->features[1]};
        rbWalkVerdict verdict = rbStepFeatures(w);
        if (verdict == RB_WALK_OVERLAP && w->face >= 0) {
            // the pair that shows the overlap, so that the next query finds it at once
            w->features[0] = before[0];
            w->features[1] = before[1];
        }
        if (verdict != RB_WALK_GO_ON) {
            return verdict;
        }
        if (rbIsSamePair(mark, w->features)) {
            return RB_WALK_CIRCLE;
        }
        if (++since == next) {
            mark[0] = w->features[0];
            mark[1] = w->features[1];
            next *= 2;
            since = 0;
        }
    }
    return RB_WALK_LIMIT;
}
