// Nearest point of a simplex by region tests, with trial of all features as the fallback.
//
// Barycentric coordinates only decide which feature is nearest. The nearest point itself is formed
// from the normal of a face, v = n (n.a)/(n.n), or the rejection of an edge, v = (e x a) x e/(e.e):
// sums of weighted vertices lose the direction when the distance approaches rounding (G-19).
//
// For a face the origin is seen from outside of exactly those edges whose opposite weight is
// negative, and the nearest point lies on one of them; the same holds for tetrahedra and faces. So
// no further case distinction is needed, and no assumption about which point was added last.
#include "collision/convex/simplex.h"

#include <float.h>
#include <math.h>

// Below this sine of the angle between two edges a face has no meaningful normal: the cross product
// carries an error of about DBL_EPSILON times the edges. Only edges are then considered.
#define SINE_MIN (64.0 * DBL_EPSILON)
// Height over base of a tetrahedron below which the side tests are not trusted.
#define FLATNESS_MIN 1e-10

typedef struct Trial {
    const rbCsoPoint* points;
    rbNearest* best;
    bool isCareful; // lengths are those of the convex combination
} Trial;

rbVec3 rbCombine(const rbCsoPoint* points, int count, const double* weights)
{
    rbVec3 sum = rbScale(weights[0], points[0].w);
    for (int i = 1; i < count; ++i) {
        sum = rbAddScaled(sum, weights[i], points[i].w);
    }
    return sum;
}

static inline void takeVertex(const Trial* trial, int i)
{
    rbVec3 a = trial->points[i].w;
    double lengthSquared = rbLengthSquared(a);
    rbNearest* best = trial->best;
    if (lengthSquared < best->lengthSquared) {
        best->v = a;
        best->axis = a;
        best->lengthSquared = lengthSquared;
        best->used = 1U << i;
        best->weights[i] = 1.0;
    }
}

static inline void takeEdge(const Trial* trial, int i, int j)
{
    rbVec3 a = trial->points[i].w;
    rbVec3 e = rbSub(trial->points[j].w, a);
    double ee = rbLengthSquared(e);
    double t = -rbDot(a, e);
    if (t <= 0.0) {
        takeVertex(trial, i);
        return;
    }
    if (t >= ee) {
        takeVertex(trial, j);
        return;
    }
    rbVec3 c = rbCross(e, a);
    double inverse = 1.0 / ee;
    double s = t * inverse;
    double lengthSquared =
        trial->isCareful
            ? rbLengthSquared(rbAdd(rbScale(1.0 - s, a), rbScale(s, trial->points[j].w)))
            : rbLengthSquared(c) * inverse;
    rbNearest* best = trial->best;
    if (lengthSquared < best->lengthSquared) {
        best->v = rbScale(inverse, rbCross(c, e));
        best->axis = best->v;
        best->lengthSquared = lengthSquared;
        best->used = (1U << i) | (1U << j);
        best->weights[i] = 1.0 - s;
        best->weights[j] = s;
    }
}

// A face by its corners, the first of which is the base of its edges.
typedef struct Face {
    int i, j, k;
    rbVec3 a, ab, ac;
    double abSquared, acSquared;
} Face;

// Makes the corner between the two shorter edges the base: differences of distant points would add
// the rounding of their coordinates to a normal that the short edge determines.
static void chooseBase(const Trial* trial, Face* f)
{
    Face old = *f;
    rbVec3 bc = rbSub(trial->points[f->k].w, trial->points[f->j].w);
    double bcSquared = rbLengthSquared(bc);
    if (old.abSquared > bcSquared && old.abSquared >= old.acSquared) {
        *f = (Face){old.k,         old.i,     old.j,         trial->points[old.k].w,
                    rbNeg(old.ac), rbNeg(bc), old.acSquared, bcSquared};
    } else if (old.acSquared > bcSquared) {
        *f = (Face){old.j, old.k,         old.i,     trial->points[old.j].w,
                    bc,    rbNeg(old.ab), bcSquared, old.abSquared};
    }
}

static void takeFace(const Trial* trial, int i, int j, int k)
{
    Face f = {.i = i, .j = j, .k = k, .a = trial->points[i].w};
    f.ab = rbSub(trial->points[j].w, f.a);
    f.ac = rbSub(trial->points[k].w, f.a);
    f.abSquared = rbLengthSquared(f.ab);
    f.acSquared = rbLengthSquared(f.ac);
    rbVec3 n = rbCross(f.ab, f.ac);
    double nn = rbLengthSquared(n);
    bool isFlat = false;
    if (!(nn > RB_NEEDLE * f.abSquared * f.acSquared) || nn < DBL_MIN) {
        chooseBase(trial, &f);
        n = rbCross(f.ab, f.ac);
        nn = rbLengthSquared(n);
        isFlat = !(nn > SINE_MIN * SINE_MIN * f.abSquared * f.acSquared) || nn < DBL_MIN;
    }
    // In the plane -a = wb ab + wc ac; crossed with either edge and dotted with n.
    rbVec3 an = rbCross(f.a, n);
    double wb = rbDot(f.ac, an);
    double wc = -rbDot(f.ab, an);
    double wa = nn - wb - wc;
    if (isFlat || !(wa > 0.0 && wb > 0.0 && wc > 0.0)) {
        if (isFlat || wc <= 0.0) {
            takeEdge(trial, f.i, f.j);
        }
        if (isFlat || wb <= 0.0) {
            takeEdge(trial, f.i, f.k);
        }
        if (isFlat || wa <= 0.0) {
            takeEdge(trial, f.j, f.k);
        }
        return;
    }
    double inverse = 1.0 / nn;
    double height = rbDot(n, f.a) * inverse;
    double lengthSquared = height * height * nn;
    if (trial->isCareful) {
        rbVec3 sum = rbScale(wa * inverse, f.a);
        sum = rbAddScaled(sum, wb * inverse, trial->points[f.j].w);
        sum = rbAddScaled(sum, wc * inverse, trial->points[f.k].w);
        lengthSquared = rbLengthSquared(sum);
    }
    rbNearest* best = trial->best;
    if (lengthSquared < best->lengthSquared) {
        best->v = rbScale(height, n);
        best->axis = n;
        best->lengthSquared = lengthSquared;
        best->used = (1U << f.i) | (1U << f.j) | (1U << f.k);
        best->weights[f.i] = wa * inverse;
        best->weights[f.j] = wb * inverse;
        best->weights[f.k] = wc * inverse;
    }
}

// Corners of the face opposite to each point of a tetrahedron.
static const int faceOpposite[4][3] = {{1, 2, 3}, {2, 0, 3}, {0, 1, 3}, {0, 1, 2}};

static void takeInside(const Trial* trial, const double* s, double det)
{
    rbNearest* best = trial->best;
    double weights[4];
    for (int i = 0; i < 4; ++i) {
        weights[i] = s[i] / det;
    }
    rbVec3 rest = rbCombine(trial->points, 4, weights);
    double lengthSquared = trial->isCareful ? rbLengthSquared(rest) : 0.0;
    if (lengthSquared < best->lengthSquared) {
        best->v = rest;
        best->axis = RB_VEC3_ZERO;
        best->lengthSquared = lengthSquared;
        best->used = 15;
        for (int i = 0; i < 4; ++i) {
            best->weights[i] = weights[i];
        }
    }
}

static void takeTetrahedron(const Trial* trial)
{
    const rbCsoPoint* p = trial->points;
    rbVec3 d = p[3].w;
    rbVec3 da = rbSub(p[0].w, d);
    rbVec3 db = rbSub(p[1].w, d);
    rbVec3 dc = rbSub(p[2].w, d);
    rbVec3 nab = rbCross(da, db);
    // -d = (s[0] da + s[1] db + s[2] dc) / det
    double det = rbDot(nab, dc);
    double s[4] = {-rbDot(d, rbCross(db, dc)), -rbDot(d, rbCross(dc, da)), -rbDot(d, nab), 0.0};
    s[3] = det - s[0] - s[1] - s[2];
    if (det < 0.0) {
        det = -det;
        for (int i = 0; i < 4; ++i) {
            s[i] = -s[i];
        }
    }
    bool isFlat =
        !(det * det > FLATNESS_MIN * FLATNESS_MIN * rbLengthSquared(nab) * rbLengthSquared(dc)) ||
        det < DBL_MIN;
    // an origin on a face belongs to the face: it has a normal
    if (det > DBL_MIN && s[0] > 0.0 && s[1] > 0.0 && s[2] > 0.0 && s[3] > 0.0) {
        takeInside(trial, s, det);
        if (!trial->isCareful) {
            return;
        }
    }
    for (int i = 0; i < 4; ++i) {
        if (isFlat || trial->isCareful || s[i] <= 0.0) {
            takeFace(trial, faceOpposite[i][0], faceOpposite[i][1], faceOpposite[i][2]);
        }
    }
}

static void dropUnused(rbNearest* nearest)
{
    for (unsigned i = 0; i < 4; ++i) {
        if ((nearest->used >> i & 1U) == 0) {
            nearest->weights[i] = 0.0;
        }
    }
}

void rbFindNearest(const rbCsoPoint* points, int count, rbNearest* nearest)
{
    RB_ASSERT(count >= 1 && count <= 4);
    Trial trial = {.points = points, .best = nearest, .isCareful = false};
    nearest->lengthSquared = INFINITY;
    if (count == 1) {
        takeVertex(&trial, 0);
    } else if (count == 2) {
        takeEdge(&trial, 0, 1);
    } else if (count == 3) {
        takeFace(&trial, 0, 1, 2);
    } else {
        takeTetrahedron(&trial);
    }
    if (nearest->used + 1 != 1U << count) {
        dropUnused(nearest);
    }
    RB_ASSERT(nearest->used != 0 && isfinite(nearest->lengthSquared));
}

void rbFindNearestByTrial(const rbCsoPoint* points, int count, rbNearest* nearest)
{
    RB_ASSERT(count >= 1 && count <= 4);
    Trial trial = {.points = points, .best = nearest, .isCareful = true};
    nearest->lengthSquared = INFINITY;
    for (int i = 0; i < count; ++i) {
        takeVertex(&trial, i);
        for (int j = 0; j < i; ++j) {
            takeEdge(&trial, j, i);
            for (int k = 0; k < j; ++k) {
                takeFace(&trial, k, j, i);
            }
        }
    }
    if (count == 4) {
        takeTetrahedron(&trial);
    }
    dropUnused(nearest);
    // |v| and the length of the combination differ here; callers divide one by the other
    double own = rbLengthSquared(nearest->v);
    nearest->v = own > DBL_MIN ? rbScale(sqrt(nearest->lengthSquared / own), nearest->v)
                               : rbCombine(points, count, nearest->weights);
    RB_ASSERT(nearest->used != 0);
}

// Exact minimization of |sum + t e|^2 along each edge of the simplex, one after another, limited so
// that the weights stay in the simplex.
void rbRefineWeights(const rbCsoPoint* points, int count, double* weights)
{
    RB_ASSERT(count >= 1 && count <= 4);
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count; ++j) {
            rbVec3 sum = rbCombine(points, count, weights);
            rbVec3 e = rbSub(points[j].w, points[i].w);
            double ee = rbLengthSquared(e);
            if (ee < DBL_MIN) {
                continue;
            }
            double t = -rbDot(sum, e) / ee;
            t = fmax(-weights[j], fmin(weights[i], t));
            double before = rbLengthSquared(sum);
            if (rbLengthSquared(rbAddScaled(sum, t, e)) < before) {
                weights[i] -= t;
                weights[j] += t;
            }
        }
    }
}
