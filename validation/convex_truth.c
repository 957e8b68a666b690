#include "convex_truth.h"

#include "base/core/memory.h"
#include "wide.h"

#include <rattleback/base.h>

// ----------------------------------------------------------------------------------------- shapes

// A convex body: the points of `type` about its vertices, or about its pose.
typedef struct Part {
    rbShapeType type; // a hull has its vertices in points, widened by radius
    rbShapeData data;
    rbWideTurn turn;
    rbWide3 p;
    int first, count; // of the points
    rbWide radius;
} Part;

typedef struct Body {
    RB_ARRAY(Part) parts;
    RB_ARRAY(rbWide3) points; // in the common frame
} Body;

static void freeBody(Body* body)
{
    rbArray_Free(body->parts);
    rbArray_Free(body->points);
}

static void addPoint(Body* body, Part* part, rbVec3 local)
{
    rbWide3 turned = rbWideTurn_Apply(&part->turn, rbWide3_From(local));
    rbWide3 point = rbWide3_Add(part->p, turned);
    rbArray_Push(body->points, point);
    part->count += 1;
}

static void addMesh(Body* body, Part part, const rbMeshDef* mesh, bool isHull)
{
    int next = 0;
    if (isHull) {
        for (int i = 0; i < mesh->vertexCount; ++i) {
            addPoint(body, &part, mesh->vertices[i]);
        }
        rbArray_Push(body->parts, part);
        return;
    }
    for (int f = 0; f < mesh->faceCount; ++f) {
        Part face = part;
        int size = mesh->faceSizes != NULL ? mesh->faceSizes[f] : 3;
        face.first = body->points.count;
        for (int i = 0; i < size; ++i) {
            addPoint(body, &face, mesh->vertices[mesh->indices[next++]]);
        }
        rbArray_Push(body->parts, face);
    }
}

// Appends the parts of a geometry at a pose given by a turn and a point.
static void addGeometry(Body* body, const rbGeometry* geometry, rbWideTurn turn, rbWide3 p)
{
    int childCount = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &childCount);
    for (int i = 0; i < childCount; ++i) {
        rbWideTurn local = rbWideTurn_FromQuat(children[i].transform.q);
        rbWideTurn both;
        for (int k = 0; k < 3; ++k) {
            both.columns[k] = rbWideTurn_Apply(&turn, local.columns[k]);
        }
        rbWide3 place = rbWideTurn_Apply(&turn, rbWide3_From(children[i].transform.p));
        addGeometry(body, children[i].geometry, both, rbWide3_Add(p, place));
    }
    if (childCount > 0) {
        return;
    }
    rbMeshDef mesh;
    Part part = {.type = rbGeometry_GetType(geometry),
                 .data = rbGeometry_GetData(geometry),
                 .turn = turn,
                 .p = p,
                 .first = body->points.count};
    if (rbGeometry_GetMesh(geometry, &mesh)) {
        bool isHull = part.type == RB_SHAPE_HULL;
        part.type = RB_SHAPE_HULL;
        addMesh(body, part, &mesh, isHull);
        return;
    }
    if (part.type == RB_SHAPE_BOX) {
        rbVec3 h = part.data.box.halfExtents;
        for (int i = 0; i < 8; ++i) {
            addPoint(body, &part,
                     rbMakeVec3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z));
        }
        part.type = RB_SHAPE_HULL;
    } else if (part.type == RB_SHAPE_SPHERE || part.type == RB_SHAPE_CAPSULE) {
        bool isSphere = part.type == RB_SHAPE_SPHERE;
        double half = isSphere ? 0.0 : part.data.capsule.halfLength;
        part.radius = isSphere ? part.data.sphere.radius : part.data.capsule.radius;
        addPoint(body, &part, rbMakeVec3(0.0, 0.0, half));
        addPoint(body, &part, rbMakeVec3(0.0, 0.0, -half));
        part.type = RB_SHAPE_HULL;
    }
    RB_ASSERT(part.type == RB_SHAPE_HULL || part.type == RB_SHAPE_CYLINDER ||
              part.type == RB_SHAPE_CONE || part.type == RB_SHAPE_ELLIPSOID);
    rbArray_Push(body->parts, part);
}

static Body makeBody(const rbGeometry* geometry, rbTransform pose)
{
    Body body = {0};
    addGeometry(&body, geometry, rbWideTurn_FromQuat(pose.q), rbWide3_From(pose.p));
    return body;
}

// The farthest point of a shape about its axis z, local.
static rbWide3 supportRound(const Part* part, rbWide3 d)
{
    if (part->type == RB_SHAPE_ELLIPSOID) {
        rbWide3 a = rbWide3_From(part->data.ellipsoid.semiAxes);
        rbWide3 s = {a.x * a.x * d.x, a.y * a.y * d.y, a.z * a.z * d.z};
        return rbWide3_Scale(1 / rbWide_Sqrt(rbWide3_Dot(d, s)), s);
    }
    bool isCone = part->type == RB_SHAPE_CONE;
    rbWide radius = isCone ? part->data.cone.radius : part->data.cylinder.radius;
    rbWide half = isCone ? part->data.cone.height / 2 : part->data.cylinder.halfLength;
    rbWide flat = rbWide_Sqrt(d.x * d.x + d.y * d.y);
    rbWide3 rim = {radius, 0, d.z < 0 || isCone ? -half : half};
    if (flat > 0) {
        rim.x = radius * d.x / flat;
        rim.y = radius * d.y / flat;
    }
    bool isApex = isCone && half * d.z > radius * flat - half * d.z;
    return isApex ? (rbWide3){0, 0, half} : rim;
}

// The point farthest along n.
static rbWide3 findSupport(const Body* body, const Part* part, rbWide3 n)
{
    if (part->type != RB_SHAPE_HULL) {
        rbWide3 local = supportRound(part, rbWideTurn_Undo(&part->turn, n));
        return rbWide3_Add(part->p, rbWideTurn_Apply(&part->turn, local));
    }
    rbWide3 best = body->points.data[part->first];
    rbWide most = rbWide3_Dot(best, n);
    for (int i = 1; i < part->count; ++i) {
        rbWide3 point = body->points.data[part->first + i];
        rbWide along = rbWide3_Dot(point, n);
        best = along > most ? point : best;
        most = along > most ? along : most;
    }
    return part->radius > 0 ? rbWide3_AddScaled(best, part->radius / rbWide3_Length(n), n) : best;
}

// -------------------------------------------------------------------------------------- directions

// A pair of parts and a plane of directions n = normal + s x + t y.
typedef struct Search {
    const Body* bodies[2];
    const Part* parts[2];
    rbWide3 axes[3]; // normal, x, y
    rbWide3 pull;    // added to the gap: pull.n
    bool isRatio;    // the gap is divided by |n|
    rbWide enough;   // stops when a value exceeds it
} Search;

typedef struct Found {
    rbWide value; // the largest
    rbWide3 n;    // not unit
    rbWide slack; // the maximum is at most value + slack
} Found;

// b - a for the points of least gap along n: the gap is its product with n.
static rbWide3 findDifference(const Search* search, rbWide3 n)
{
    rbWide3 a = findSupport(search->bodies[0], search->parts[0], n);
    rbWide3 b = findSupport(search->bodies[1], search->parts[1], rbWide3_Scale(-1, n));
    return rbWide3_Sub(b, a);
}

static void setPlane(Search* search, rbWide3 normal)
{
    rbWide3 seed = {1, 0, 0};
    if (rbWide_Abs(normal.x) > 0.6) {
        seed = (rbWide3){0, 1, 0};
    }
    search->axes[0] = normal;
    search->axes[1] = rbWide3_Unit(rbWide3_Cross(normal, seed));
    search->axes[2] = rbWide3_Cross(normal, search->axes[1]);
}

#define CUTS_MAX 1200

// The maximum within a radius about the middle of the plane, to a slack. The ellipsoid is x.P^-1 x
// <= 1 about its center; a cut keeps the part where the value can still exceed the best one.
static Found maximize(const Search* search, double radius, double slackMax)
{
    rbWide c[2] = {0, 0};
    rbWide p[3] = {(rbWide)radius * radius, 0, (rbWide)radius * radius}; // xx, xy, yy
    Found found = {.value = -INFINITY, .slack = INFINITY};
    for (int k = 0; k < CUTS_MAX && found.slack > slackMax && !(found.value > search->enough);
         ++k) {
        rbWide3 n = rbWide3_AddScaled(search->axes[0], c[0], search->axes[1]);
        n = rbWide3_AddScaled(n, c[1], search->axes[2]);
        rbWide length = search->isRatio ? rbWide3_Length(n) : 1;
        rbWide3 slope = rbWide3_Add(findDifference(search, n), search->pull);
        rbWide value = rbWide3_Dot(slope, n) / length;
        if (value > found.value) {
            found.value = value;
            found.n = n;
        }
        if (search->isRatio) { // |n| is at least its tangent
            slope = rbWide3_AddScaled(slope, -found.value / length, n);
        }
        rbWide g[2] = {rbWide3_Dot(slope, search->axes[1]), rbWide3_Dot(slope, search->axes[2])};
        rbWide pg[2] = {p[0] * g[0] + p[1] * g[1], p[1] * g[0] + p[2] * g[1]};
        rbWide width = rbWide_Sqrt(g[0] * pg[0] + g[1] * pg[1]);
        rbWide behind = length * (found.value - value);
        found.slack = rbWide_Max(0, width - behind);
        if (!(width > behind)) {
            found.slack = 0;
            break;
        }
        rbWide depth = behind / width;
        rbWide shift = (1 + 2 * depth) / 3;
        rbWide shrink = 4 * (1 - depth * depth) / 3;
        rbWide squeeze = 2 * (1 + 2 * depth) / (3 * (1 + depth));
        pg[0] /= width;
        pg[1] /= width;
        c[0] += shift * pg[0];
        c[1] += shift * pg[1];
        p[0] = shrink * (p[0] - squeeze * pg[0] * pg[0]);
        p[1] = shrink * (p[1] - squeeze * pg[0] * pg[1]);
        p[2] = shrink * (p[2] - squeeze * pg[1] * pg[1]);
    }
    return found;
}

// ------------------------------------------------------------------------------------------ sweeps

#define RADIUS_SWEEP 1e10 // of directions: a miss by less than 1e-10 of the path counts as a hit
#define SLACK_SWEEP 1e-13 // m

// Way until contact of two parts along a unit direction, m; more than `enough` if later. Negative:
// contact began before.
static Found sweepParts(Search* search, rbWide3 direction, rbWide enough)
{
    setPlane(search, direction);
    search->enough = enough;
    return maximize(search, RADIUS_SWEEP, SLACK_SWEEP);
}

rbSweepTruth rbSweepByTruth(const rbGeometry* a, rbTransform poseA, rbVec3 step,
                            const rbGeometry* b, rbTransform poseB)
{
    Body bodies[2] = {makeBody(a, poseA), makeBody(b, poseB)};
    rbWide3 path = rbWide3_From(step);
    rbWide3 direction = rbWide3_Unit(path);
    rbWide best = rbWide3_Length(path);
    rbSweepTruth truth = {0};
    for (int i = 0; i < bodies[0].parts.count; ++i) {
        for (int j = 0; j < bodies[1].parts.count; ++j) {
            Search search = {.bodies = {&bodies[0], &bodies[1]},
                             .parts = {&bodies[0].parts.data[i], &bodies[1].parts.data[j]}};
            Found met = sweepParts(&search, direction, best);
            if (met.value >= 0 && met.value <= best) {
                truth.isHit = true;
                truth.normal = rbWide3_Round(rbWide3_Unit(rbWide3_Scale(-1, met.n)));
                best = met.value;
            } else if (met.value < 0 &&
                       sweepParts(&search, rbWide3_Scale(-1, direction), 0).value <= 0) {
                truth.isInside = true; // neither before nor behind
            }
        }
    }
    truth.way = (double)best;
    freeBody(&bodies[0]);
    freeBody(&bodies[1]);
    return truth;
}

// --------------------------------------------------------------------------------- signed
// distances

#define SCAN 600             // directions
#define STARTS 5             // of the best of them, when the bodies overlap
#define RADIUS_SCAN 4.0      // of separate bodies: slopes up to 76 degrees from the best direction
#define RADIUS_LOCAL 0.3     // of overlapping ones: beyond the spacing of the directions
#define SLACK_DISTANCE 1e-25 // m: normals at smooth maxima have its root
#define ROUNDS_MAX 200
#define ROUND_GAIN 1e-17 // m: a round that gains less is the last

// The i-th of SCAN directions that spiral evenly over the sphere.
static rbWide3 getDirection(int i)
{
    double z = 1.0 - (2.0 * i + 1.0) / SCAN;
    double turn = i * 2.399963229728653; // the golden angle
    double flat = sqrt(1.0 - z * z);
    return rbWide3_Unit((rbWide3){flat * cos(turn), flat * sin(turn), z});
}

// A local minimum of the depth near a direction. With depth D(n) = -g(n) convex and h the depth so
// far along the unit m, D(n) - h |n| <= D(n) - h m.n, which is convex and 0 at n = m: its minimum
// is no deeper, and its direction the next m.
static Found descend(Search* search, rbWide3 start)
{
    Found best = {.n = rbWide3_Unit(start)};
    best.value = rbWide3_Dot(findDifference(search, best.n), best.n);
    for (int k = 0; k < ROUNDS_MAX; ++k) {
        setPlane(search, best.n);
        search->pull = rbWide3_Scale(-best.value, best.n);
        Found next = maximize(search, RADIUS_LOCAL, SLACK_DISTANCE);
        rbWide3 n = rbWide3_Unit(next.n);
        rbWide value = rbWide3_Dot(findDifference(search, n), n);
        bool isLast = !(value > best.value + ROUND_GAIN);
        if (value > best.value) {
            best = (Found){value, n, next.slack};
        }
        if (isLast) {
            break;
        }
    }
    search->pull = (rbWide3){0, 0, 0};
    return best;
}

rbConvexTruth rbMeasureConvexTruth(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA)
{
    Body bodies[2] = {makeBody(a, RB_TRANSFORM_IDENTITY), makeBody(b, transformBtoA)};
    RB_ASSERT(bodies[0].parts.count == 1 && bodies[1].parts.count == 1);
    Search search = {.bodies = {&bodies[0], &bodies[1]},
                     .parts = {bodies[0].parts.data, bodies[1].parts.data},
                     .enough = INFINITY};
    // a ball about every point shortens all gaps by its radius
    rbWide radius = search.parts[0]->radius + search.parts[1]->radius;
    bodies[0].parts.data->radius = 0;
    bodies[1].parts.data->radius = 0;
    rbWide3 starts[STARTS];
    rbWide values[STARTS];
    int count = 0;
    for (int i = 0; i < SCAN; ++i) {
        rbWide3 n = getDirection(i);
        rbWide value = rbWide3_Dot(findDifference(&search, n), n);
        int k = count < STARTS ? count++ : STARTS;
        for (; k > 0 && value > values[k - 1]; --k) { // sorted, best first
            if (k < STARTS) {
                values[k] = values[k - 1];
                starts[k] = starts[k - 1];
            }
        }
        if (k < STARTS) {
            values[k] = value;
            starts[k] = n;
        }
    }
    Found best = {.value = -INFINITY};
    search.isRatio = true;
    setPlane(&search, starts[0]);
    if (values[0] > 0) { // separate along this direction: the ratio has one maximum
        best = maximize(&search, RADIUS_SCAN, SLACK_DISTANCE);
    }
    search.isRatio = false;
    for (int k = 0; k < count && !(best.value > 0); ++k) {
        Found found = descend(&search, starts[k]);
        best = found.value > best.value ? found : best;
    }
    freeBody(&bodies[0]);
    freeBody(&bodies[1]);
    return (rbConvexTruth){.distance = (double)(best.value - radius),
                           .normal = rbWide3_Round(rbWide3_Unit(best.n)),
                           .slack = (double)best.slack};
}

double rbMeasureConvexGap(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                          rbVec3 direction)
{
    Body bodies[2] = {makeBody(a, RB_TRANSFORM_IDENTITY), makeBody(b, transformBtoA)};
    RB_ASSERT(bodies[0].parts.count == 1 && bodies[1].parts.count == 1);
    Search search = {.bodies = {&bodies[0], &bodies[1]},
                     .parts = {bodies[0].parts.data, bodies[1].parts.data}};
    rbWide3 n = rbWide3_Unit(rbWide3_From(direction));
    double gap = (double)rbWide3_Dot(findDifference(&search, n), n);
    freeBody(&bodies[0]);
    freeBody(&bodies[1]);
    return gap;
}
