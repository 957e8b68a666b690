// Mass, center and inertia of every solid shape against textbook formulas.
#include "validation.h"

#include <rattleback/shape.h>

#include <math.h>

#define DENSITY 700.0
#define TOLERANCE 1e-13

// The properties of a homogeneous body of the shape; inertia about the center, axes of the shape.
typedef struct rbSolidTruth {
    double volume;
    rbVec3 center;
    rbVec3 moments;  // per unit of mass
    double products; // xy = xz = yz per unit of mass
} rbSolidTruth;

static void compare(rbValidation* validation, const char* name, rbGeometry* geometry,
                    rbSolidTruth truth)
{
    rbMassProperties mass = {0};
    rbError error = {0};
    double size = cbrt(truth.volume);
    if (geometry == NULL || rbGeometry_GetMass(geometry, DENSITY, &mass, &error) != RB_STATUS_OK) {
        mass.mass = NAN;
    }
    double m = DENSITY * truth.volume;
    double largest = fmax(truth.moments.x, fmax(truth.moments.y, truth.moments.z)) * m;
    const rbSym3* inertia = &mass.inertia;
    double inertiaError = fmax(
        fabs(inertia->xx - m * truth.moments.x),
        fmax(fabs(inertia->yy - m * truth.moments.y), fabs(inertia->zz - m * truth.moments.z)));
    double productError =
        fmax(fabs(inertia->xy - m * truth.products),
             fmax(fabs(inertia->xz - m * truth.products), fabs(inertia->yz - m * truth.products)));
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity, "%s: mass [kg]", name);
    rbValidation_AddRelative(validation, quantity, mass.mass, m, TOLERANCE);
    (void)snprintf(quantity, sizeof quantity, "%s: center, relative to the size", name);
    rbValidation_AddBound(validation, quantity, rbDistance(mass.center, truth.center) / size,
                          TOLERANCE);
    (void)snprintf(quantity, sizeof quantity, "%s: inertia, relative to the largest moment", name);
    rbValidation_AddBound(validation, quantity, fmax(inertiaError, productError) / largest,
                          TOLERANCE);
    rbDestroyGeometry(geometry);
}

static void compareRound(rbValidation* validation)
{
    double r = 0.3;
    double h = 0.7; // half length, or height of the cone
    compare(validation, "sphere", rbCreateSphere(r, NULL),
            (rbSolidTruth){4.0 / 3.0 * RB_PI * r * r * r,
                           RB_VEC3_ZERO,
                           {0.4 * r * r, 0.4 * r * r, 0.4 * r * r},
                           0.0});
    double across = 0.25 * r * r + h * h / 3.0;
    compare(
        validation, "cylinder", rbCreateCylinder(r, h, NULL),
        (rbSolidTruth){2.0 * RB_PI * r * r * h, RB_VEC3_ZERO, {across, across, 0.5 * r * r}, 0.0});
    double cone = 3.0 / 20.0 * r * r + 3.0 / 80.0 * h * h;
    compare(validation, "cone", rbCreateCone(r, h, NULL),
            (rbSolidTruth){
                RB_PI * r * r * h / 3.0, {0.0, 0.0, -0.25 * h}, {cone, cone, 0.3 * r * r}, 0.0});
    rbVec3 a = {0.2, 0.5, 0.9};
    compare(validation, "ellipsoid", rbCreateEllipsoid(a, NULL),
            (rbSolidTruth){4.0 / 3.0 * RB_PI * a.x * a.y * a.z,
                           RB_VEC3_ZERO,
                           {0.2 * (a.y * a.y + a.z * a.z), 0.2 * (a.x * a.x + a.z * a.z),
                            0.2 * (a.x * a.x + a.y * a.y)},
                           0.0});
    // cylinder of mass c and two hemispheres with total mass s, their centers 3/8 r beyond the ends
    double cylinder = 2.0 * RB_PI * r * r * h;
    double ball = 4.0 / 3.0 * RB_PI * r * r * r;
    double volume = cylinder + ball;
    double side = (cylinder * across + ball * (0.4 * r * r + h * h + 0.75 * h * r)) / volume;
    double axis = (cylinder * 0.5 + ball * 0.4) * r * r / volume;
    compare(validation, "capsule", rbCreateCapsule(r, h, NULL),
            (rbSolidTruth){volume, RB_VEC3_ZERO, {side, side, axis}, 0.0});
}

static rbSolidTruth getBoxTruth(rbVec3 half, rbVec3 center)
{
    rbSolidTruth truth = {8.0 * half.x * half.y * half.z,
                          center,
                          {(half.y * half.y + half.z * half.z) / 3.0,
                           (half.x * half.x + half.z * half.z) / 3.0,
                           (half.x * half.x + half.y * half.y) / 3.0},
                          0.0};
    return truth;
}

// The same box as a box, a hull, a polyhedron, a triangle mesh and a compound of two halves, and
// the corner tetrahedron.
static void compareFlat(rbValidation* validation)
{
    rbVec3 half = {0.05, 0.2, 0.45};
    rbVec3 center = {0.25, -0.5, 1.0};
    rbVec3 corners[8];
    for (int i = 0; i < 8; ++i) {
        corners[i] = rbMakeVec3(center.x + ((i & 1) != 0 ? half.x : -half.x),
                                center.y + ((i & 2) != 0 ? half.y : -half.y),
                                center.z + ((i & 4) != 0 ? half.z : -half.z));
    }
    static const int quads[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                  2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    static const int sizes[6] = {4, 4, 4, 4, 4, 4};
    const rbMeshDef def = {corners, 8, sizes, quads, 6};
    compare(validation, "box", rbCreateBox(half, NULL), getBoxTruth(half, RB_VEC3_ZERO));
    compare(validation, "hull of a box", rbCreateHull(corners, 8, NULL), getBoxTruth(half, center));
    compare(validation, "box as a polyhedron", rbCreatePolyhedron(&def, NULL),
            getBoxTruth(half, center));
    compare(validation, "box as a mesh", rbCreateMesh(&def, NULL), getBoxTruth(half, center));
    rbGeometry* part = rbCreateBox(rbMakeVec3(half.x, half.y, 0.5 * half.z), NULL);
    const rbCompoundChild children[2] = {
        {part, {{center.x, center.y, center.z - 0.5 * half.z}, RB_QUAT_IDENTITY}, 0.0},
        {part, {{center.x, center.y, center.z + 0.5 * half.z}, RB_QUAT_IDENTITY}, 0.0},
    };
    compare(validation, "box as a compound", rbCreateCompound(children, 2, NULL),
            getBoxTruth(half, center));
    rbDestroyGeometry(part);
    // tetrahedron on the unit axes: <x^2> = 1/10, <xy> = 1/20, center 1/4 each
    const rbVec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const rbMeshDef tetrahedron = {points, 4, NULL, faces, 4};
    double moment = 2.0 * (1.0 / 10.0 - 1.0 / 16.0);
    compare(
        validation, "tetrahedron as a mesh", rbCreateMesh(&tetrahedron, NULL),
        (rbSolidTruth){
            1.0 / 6.0, {0.25, 0.25, 0.25}, {moment, moment, moment}, -(1.0 / 20.0 - 1.0 / 16.0)});
}

static void run(rbValidation* validation)
{
    compareRound(validation);
    compareFlat(validation);
}

const rbValidationCase rbCaseMassProperties = {
    .name = "mass-properties",
    .help = "mass, center and inertia of every shape",
    .source = "closed forms",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
