// Mass properties: moving, combining, principal axes, plausibility; those of meshes.
#include "base/math/matrix3.h"
#include "base/math/quaternion.h"
#include "collision/geometry/half_edge.h"
#include "collision/geometry/polyhedron.h"

// Off-diagonal inertia below this fraction of the trace is the rounding of a symmetric body;
// rotating such a body by an arbitrary angle (its moments are equal) would be useless.
#define DIAGONAL_TOLERANCE 1e-14
#define TRIANGLE_TOLERANCE 1e-12

rbMassProperties rbMassProperties_Transform(const rbMassProperties* properties,
                                            rbTransform transform)
{
    RB_ASSERT(properties != NULL);
    rbMassProperties moved = *properties;
    moved.center = rbTransformPoint(transform, properties->center);
    moved.inertia = rbSym3_Rotate(properties->inertia, rbMatFromQuat(transform.q));
    return moved;
}

// inertia + mass (|d|^2 E - d d^T)
static rbSym3 shiftInertia(rbSym3 i, double mass, rbVec3 d)
{
    return (rbSym3){i.xx + mass * (d.y * d.y + d.z * d.z),
                    i.yy + mass * (d.x * d.x + d.z * d.z),
                    i.zz + mass * (d.x * d.x + d.y * d.y),
                    i.xy - mass * d.x * d.y,
                    i.xz - mass * d.x * d.z,
                    i.yz - mass * d.y * d.z};
}

rbSym3 rbMassProperties_GetInertiaAbout(const rbMassProperties* properties, rbVec3 point)
{
    RB_ASSERT(properties != NULL);
    return shiftInertia(properties->inertia, properties->mass, rbSub(point, properties->center));
}

rbMassProperties rbMassProperties_Add(const rbMassProperties* a, const rbMassProperties* b)
{
    RB_ASSERT(a != NULL && b != NULL);
    RB_ASSERT(a->mass >= 0.0 && b->mass >= 0.0);
    if (!(b->mass > 0.0)) {
        return *a;
    }
    if (!(a->mass > 0.0)) {
        return *b;
    }
    rbMassProperties sum = {0};
    sum.volume = a->volume + b->volume;
    sum.mass = a->mass + b->mass;
    // both parallel axis terms together are the reduced mass at the distance of the centers
    rbVec3 apart = rbSub(b->center, a->center);
    double share = b->mass / sum.mass;
    sum.center = rbAddScaled(a->center, share, apart);
    sum.inertia = shiftInertia(rbAddSym(a->inertia, b->inertia), a->mass * share, apart);
    return sum;
}

void rbMassProperties_Principal(const rbMassProperties* properties, rbVec3* moments,
                                rbTransform* principalFrame)
{
    RB_ASSERT(properties != NULL && moments != NULL && principalFrame != NULL);
    rbSym3 i = properties->inertia;
    principalFrame->p = properties->center;
    double small = DIAGONAL_TOLERANCE * (fabs(i.xx) + fabs(i.yy) + fabs(i.zz));
    if (fabs(i.xy) <= small && fabs(i.xz) <= small && fabs(i.yz) <= small) {
        *moments = rbMakeVec3(i.xx, i.yy, i.zz);
        principalFrame->q = RB_QUAT_IDENTITY;
        return;
    }
    rbEigen3 eigen = rbSym3_Diagonalize(i);
    *moments = eigen.values;
    principalFrame->q = rbQuat_FromMat(eigen.axes);
}

rbStatus rbMassProperties_Validate(const rbMassProperties* properties, rbError* error)
{
    RB_ASSERT(properties != NULL);
    rbSym3 i = properties->inertia;
    RB_INVALID_IF(!isfinite(properties->mass) || !rbIsFinite3(properties->center) ||
                      !isfinite(i.xx) || !isfinite(i.yy) || !isfinite(i.zz) || !isfinite(i.xy) ||
                      !isfinite(i.xz) || !isfinite(i.yz),
                  error, "mass, center or inertia is not finite; finite numbers are accepted");
    RB_INVALID_IF(!(properties->mass > 0.0), error, "the mass is %g kg; it must be above 0",
                  properties->mass);
    rbVec3 m;
    rbTransform frame;
    rbMassProperties_Principal(properties, &m, &frame);
    RB_INVALID_IF(!(m.x > 0.0 && m.y > 0.0 && m.z > 0.0), error,
                  "the principal moments of inertia are %g, %g and %g kg m^2; all must be above 0",
                  m.x, m.y, m.z);
    double sum = m.x + m.y + m.z;
    double largest = rbLargestComponent(m);
    RB_INVALID_IF(largest > (sum - largest) + TRIANGLE_TOLERANCE * sum, error,
                  "the principal moments of inertia are %g, %g and %g kg m^2; no body has a moment "
                  "larger than the sum of the other two",
                  m.x, m.y, m.z);
    return RB_STATUS_OK;
}

// ----------------------------------------------------------------------------------------- meshes
// Volume, center and inertia of a closed mesh by signed tetrahedra.
//
// For a triangle (a, b, c) of the fan of a face, D = a.(b x c), s = a + b + c:
//   V = sum D/6,   F = sum D/24 s,   S = sum D/120 (s s^T + a a^T + b b^T + c c^T),
// center F/V, second moments about it S - V c c^T, inertia tr(S) E - S. Fans are signed, hence
// correct for non-convex faces too. Everything is relative to the center of the bounding box,
// because about a distant point the terms are large and cancel; the sums are compensated
// (Neumaier).

#define SUM_COUNT 10 // V, F (3), S (6)

typedef struct Sums {
    double sum[SUM_COUNT], lost[SUM_COUNT];
} Sums;

static void addTerm(Sums* sums, int k, double term)
{
    double before = sums->sum[k];
    double after = before + term;
    sums->lost[k] += fabs(before) >= fabs(term) ? (before - after) + term : (term - after) + before;
    sums->sum[k] = after;
}

static void addTetrahedron(Sums* sums, rbVec3 a, rbVec3 b, rbVec3 c)
{
    double d = rbDot(a, rbCross(b, c));
    rbVec3 s = rbAdd(rbAdd(a, b), c);
    addTerm(sums, 0, d);
    addTerm(sums, 1, d * s.x);
    addTerm(sums, 2, d * s.y);
    addTerm(sums, 3, d * s.z);
    addTerm(sums, 4, d * (s.x * s.x + a.x * a.x + b.x * b.x + c.x * c.x));
    addTerm(sums, 5, d * (s.y * s.y + a.y * a.y + b.y * b.y + c.y * c.y));
    addTerm(sums, 6, d * (s.z * s.z + a.z * a.z + b.z * b.z + c.z * c.z));
    addTerm(sums, 7, d * (s.x * s.y + a.x * a.y + b.x * b.y + c.x * c.y));
    addTerm(sums, 8, d * (s.x * s.z + a.x * a.z + b.x * b.z + c.x * c.z));
    addTerm(sums, 9, d * (s.y * s.z + a.y * a.z + b.y * b.z + c.y * c.z));
}

rbMassProperties rbComputeMeshMass(const rbMeshDef* def)
{
    RB_ASSERT(def->faceCount > 0);
    rbBounds box = rbBoundPoints(def->vertices, def->indices, (int)rbCountCorners(def));
    rbVec3 middle = rbAddScaled(box.lower, 0.5, rbSub(box.upper, box.lower));
    Sums sums = {{0.0}, {0.0}};
    int start = 0;
    for (int f = 0; f < def->faceCount; ++f) {
        int size = rbGetFaceSize(def, f);
        const int* loop = def->indices + start;
        rbVec3 a = rbSub(def->vertices[loop[0]], middle), b = rbSub(def->vertices[loop[1]], middle);
        for (int i = 2; i < size; ++i) {
            rbVec3 c = rbSub(def->vertices[loop[i]], middle);
            addTetrahedron(&sums, a, b, c);
            b = c;
        }
        start += size;
    }
    double total[SUM_COUNT];
    for (int k = 0; k < SUM_COUNT; ++k) {
        total[k] = sums.sum[k] + sums.lost[k];
    }
    rbMassProperties result = {0};
    result.volume = total[0] / 6.0;
    result.mass = result.volume;
    result.center = middle;
    if (result.volume == 0.0) {
        return result;
    }
    rbVec3 c = {total[1] / total[0] / 4.0, total[2] / total[0] / 4.0, total[3] / total[0] / 4.0};
    double v = result.volume;
    double sxx = total[4] / 120.0 - v * c.x * c.x, syy = total[5] / 120.0 - v * c.y * c.y;
    double szz = total[6] / 120.0 - v * c.z * c.z;
    result.inertia.xx = syy + szz;
    result.inertia.yy = sxx + szz;
    result.inertia.zz = sxx + syy;
    result.inertia.xy = -(total[7] / 120.0 - v * c.x * c.y);
    result.inertia.xz = -(total[8] / 120.0 - v * c.x * c.z);
    result.inertia.yz = -(total[9] / 120.0 - v * c.y * c.z);
    result.center = rbAdd(middle, c);
    return result;
}
