// Masses, centers and inertias from shapes: integrals of 1, x and x xT over them, added up.
#include "verify/checks.h"

#define MASS_ERROR 1e-10 // of the largest terms

#define PI 3.14159265358979323846

typedef struct Moments {
    double mass;
    rbV3 first;    // integral of x
    rbVSym second; // of x xT
} Moments;

static void addOuter(rbVSym* s, double k, rbV3 v)
{
    s->xx += k * v.x * v.x;
    s->yy += k * v.y * v.y;
    s->zz += k * v.z * v.z;
    s->xy += k * v.x * v.y;
    s->xz += k * v.x * v.z;
    s->yz += k * v.y * v.z;
}

// The moments of a part at a pose join those of the whole. With x = p + R y:
// integral x xT = R S RT + p fT + f pT + m p pT, f = R first.
static void addPart(Moments* sum, const Moments* part, const rbVPose* pose)
{
    rbV3 f = turn3(pose->q, part->first);
    rbV3 columns[3];
    const rbV3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; ++i) {
        columns[i] = turn3(pose->q, mulSym(&part->second, turnBack3(pose->q, unit[i])));
    }
    sum->mass += part->mass;
    sum->first = add3(sum->first, addScaled3(f, part->mass, pose->p));
    sum->second.xx += columns[0].x;
    sum->second.yy += columns[1].y;
    sum->second.zz += columns[2].z;
    sum->second.xy += columns[0].y;
    sum->second.xz += columns[0].z;
    sum->second.yz += columns[1].z;
    // p fT + f pT = ((p + f)(p + f)T - (p - f)(p - f)T) / 2
    addOuter(&sum->second, 0.5, add3(pose->p, f));
    addOuter(&sum->second, -0.5, sub3(pose->p, f));
    addOuter(&sum->second, part->mass, pose->p);
}

// Tetrahedra from the origin to fans of the faces.
static void addFaces(Moments* sum, const rbVGeometry* g, double density)
{
    const uint32_t* corner = g->corners;
    for (uint32_t f = 0; f < g->faceCount; corner += g->faceSizes[f++]) {
        for (uint32_t i = 2; i < g->faceSizes[f]; ++i) {
            rbV3 a = g->vertices[corner[0]];
            rbV3 b = g->vertices[corner[i - 1]];
            rbV3 c = g->vertices[corner[i]];
            double d = density * dot3(a, cross3(b, c));
            rbV3 s = add3(a, add3(b, c));
            sum->mass += d / 6.0;
            sum->first = addScaled3(sum->first, d / 24.0, s);
            addOuter(&sum->second, d / 120.0, s);
            addOuter(&sum->second, d / 120.0, a);
            addOuter(&sum->second, d / 120.0, b);
            addOuter(&sum->second, d / 120.0, c);
        }
    }
}

// False: a type that has no mass, or is not known here.
static bool addGeometry(Moments* sum, const rbVModel* m, uint32_t index, double density)
{
    const rbVGeometry* g = &m->geometries[index];
    double r = g->numbers[0];
    double h = g->numbers[1];
    double ball = g->type == RB_V_CAPSULE ? 4.0 / 3.0 * PI * density * r * r * r : 0.0;
    double drum = 2.0 * PI * density * r * r * h;
    rbV3 d = g->type == RB_V_SPHERE ? make3(r, r, r) : make3(r, h, g->numbers[2]);
    switch (g->type) {
    case RB_V_SPHERE:
    case RB_V_BOX:
    case RB_V_ELLIPSOID: {
        double part = g->type == RB_V_BOX ? 3.0 : 5.0;
        double mass = (g->type == RB_V_BOX ? 8.0 : 4.0 / 3.0 * PI) * density * d.x * d.y * d.z;
        *sum = (Moments){mass, .second = {.xx = mass * d.x * d.x / part,
                                          .yy = mass * d.y * d.y / part,
                                          .zz = mass * d.z * d.z / part}};
        return true;
    }
    case RB_V_CAPSULE:
    case RB_V_CYLINDER:
        *sum = (Moments){drum + ball, .second = {.xx = drum * r * r / 4.0 + ball * r * r / 5.0}};
        sum->second.yy = sum->second.xx;
        sum->second.zz = drum * h * h / 3.0 + ball * (r * r / 5.0 + h * h + 0.75 * h * r);
        return true;
    case RB_V_CONE:
        *sum = (Moments){drum / 6.0, .first = {.z = -drum / 24.0 * h}};
        sum->second.xx = sum->second.yy = drum / 6.0 * 0.15 * r * r;
        sum->second.zz = drum / 6.0 * 0.1 * h * h;
        return true;
    case RB_V_HULL:
    case RB_V_POLYHEDRON:
    case RB_V_MESH:
        addFaces(sum, g, density);
        return true;
    case RB_V_COMPOUND:
        for (uint32_t i = 0; i < g->childCount; ++i) {
            const rbVChild* child = &g->children[i];
            Moments part = {0};
            if (!addGeometry(&part, m, child->geometry,
                             child->density > 0.0 ? child->density : density)) {
                return false;
            }
            addPart(sum, &part, &child->pose);
        }
        return true;
    default:
        return false;
    }
}

void rbVCheckMass(rbVChecker* c, uint32_t index)
{
    const rbVBody* b = &c->model.bodies[index];
    Moments sum = {0};
    bool isKnown = b->isFromShapes;
    for (uint32_t i = 0; i < b->shapeCount && isKnown; ++i) {
        const rbVShape* s = &b->shapes[i];
        Moments part = {0};
        isKnown = s->isSensor || addGeometry(&part, &c->model, s->geometry, s->density);
        addPart(&sum, &part, &s->pose);
    }
    const rbVSym* j = &b->inertia;
    double trace = j->xx + j->yy + j->zz;
    // no matter has a moment above the sum of the other two: the second moments are not negative
    rbVSym own = {
        0.5 * trace - j->xx, 0.5 * trace - j->yy, 0.5 * trace - j->zz, -j->xy, -j->xz, -j->yz};
    double least = fmin(own.xx, fmin(own.yy, own.zz));
    RB_V_CHECK(c, MASS, CERTIFIED, index, RB_V_NONE, -least, MASS_ERROR * trace,
               "inertia that no matter has, kg m^2");
    if (!isKnown) {
        RB_V_SKIP(c, MASS, "masses given apart from the shapes, or shapes of modules");
        return;
    }
    rbV3 center = scale3(1.0 / sum.mass, sum.first);
    addOuter(&sum.second, -sum.mass, center);
    RB_V_CHECK(c, MASS, CERTIFIED, index, RB_V_NONE, fabs(sum.mass - b->mass), MASS_ERROR * b->mass,
               "mass other than that of the shapes, kg");
    RB_V_CHECK(c, MASS, CERTIFIED, index, RB_V_NONE, length3(sub3(center, b->center)),
               MASS_ERROR * (b->reach + length3(center)), "center of mass, m");
    const rbVSym* s = &sum.second;
    double off = fabs(s->xx - own.xx) + fabs(s->yy - own.yy) + fabs(s->zz - own.zz) +
                 fabs(s->xy - own.xy) + fabs(s->xz - own.xz) + fabs(s->yz - own.yz);
    RB_V_CHECK(c, MASS, CERTIFIED, index, RB_V_NONE, off,
               MASS_ERROR * (trace + b->mass * dot3(center, center)),
               "inertia other than that of the shapes, kg m^2");
}
