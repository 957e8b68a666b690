#include "packing_worlds.h"

#include "base/core/memory.h"
#include "lab/math/random3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Layers have one place per square of two sizes, so that cubes may have any orientation.
#define PLACE 2.0
// Maximum offset of a body from the center of its place: corners of neighbors do not meet.
#define WOBBLE 0.13
#define FALL 5.0         // sizes, from a layer to the bed
#define CLEAR 1.0        // sizes, from a layer to anything below it
#define LAYER_TIME 0.2   // s between layers
#define LAYER_SPEED 11.0 // m/s, initial: a layer makes room for the next
#define BED 0.55         // fill used to estimate the height of the bed
#define LATTICE 20.0     // points per size

const char* rbPouredKind_Name(rbPouredKind kind)
{
    static const char* const names[] = {
        [RB_POURED_SPHERES] = "spheres",
        [RB_POURED_ELLIPSOIDS] = "ellipsoids of equal axes",
        [RB_POURED_MIXED] = "spheres and cubes",
        [RB_POURED_CUBES] = "cubes",
    };
    return names[kind];
}

rbPouringDef rbDefaultPouringDef(rbPouredKind kind)
{
    rbPouringDef def = {.kind = kind,
                        .count = 3000,
                        .size = 1.2,
                        .side = 12,
                        .friction = 0.1,
                        .settling = 5.0,
                        .seed = 11,
                        .step = 1.0 / 60.0,
                        .contact = rbDefaultContactSettings()};
    def.contact.substeps = 15;
    def.contact.sweepsMax = 30;
    return def;
}

// ----------------------------------------------------------------------------------------- bodies

static const rbGeometry* getShape(const rbPoured* poured, int body)
{
    return poured->shapes[body % 2];
}

static rbTransform getPlace(const rbPoured* poured, int body)
{
    return rbBody_GetState(poured->world, poured->ids[body]).transform;
}

static double getTop(const rbPoured* poured)
{
    double top = 0.0;
    for (int i = 0; i < poured->count; ++i) {
        top = fmax(top, rbGeometry_GetBounds(getShape(poured, i), getPlace(poured, i)).upper.z);
    }
    return top;
}

// ----------------------------------------------------------------------------------------- pouring

static rbGeometry* createShape(const rbPouringDef* def, bool isOdd, rbError* error)
{
    double half = 0.5 * def->size;
    rbVec3 halves = {half, half, half};
    bool isCube = def->kind == RB_POURED_CUBES || (def->kind == RB_POURED_MIXED && isOdd);
    if (isCube) {
        return rbCreateBox(halves, error);
    }
    return def->kind == RB_POURED_ELLIPSOIDS ? rbCreateEllipsoid(halves, error)
                                             : rbCreateSphere(half, error);
}

static rbBodyId addBody(rbPoured* poured, const rbBodyDef* def, rbGeometryId geometry)
{
    rbBodyId body = rbCreateBody(poured->world, def, &poured->error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = geometry;
    shape.material.friction = poured->def.friction;
    shape.material.restitution = 0.0;
    if (poured->error.status == RB_STATUS_OK) {
        (void)rbCreateShape(poured->world, body, &shape, &poured->error);
    }
    return body;
}

// Inward normals of the floor and the four walls.
static const rbVec3 wallNormals[5] = {
    {0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}};

static double getHalfBase(const rbPouringDef* def)
{
    return 0.5 * def->side * def->size;
}

static double getWallOffset(const rbPouringDef* def, int wall)
{
    return wall == 0 ? 0.0 : -getHalfBase(def);
}

static void addWalls(rbPoured* poured)
{
    for (int i = 0; i < 5 && poured->error.status == RB_STATUS_OK; ++i) {
        rbBodyDef def = rbDefaultBodyDef();
        def.type = RB_BODY_STATIC;
        rbGeometry* plane =
            rbCreatePlane(wallNormals[i], getWallOffset(&poured->def, i), &poured->error);
        (void)addBody(poured, &def, rbWorld_AddGeometry(poured->world, plane));
    }
}

// Approximate height to which this many bodies fill the box.
static double getBedHeight(const rbPouringDef* def, int count)
{
    double base = 2.0 * getHalfBase(def);
    return count * def->size * def->size * def->size / (BED * base * base);
}

static void addLayer(rbPoured* poured, const rbGeometryId* geometries, rbRandom* random)
{
    const rbPouringDef* def = &poured->def;
    int places = (int)(def->side / PLACE);
    double pitch = 2.0 * getHalfBase(def) / places;
    double height = fmax(getBedHeight(def, poured->count) + FALL * def->size,
                         getTop(poured) + CLEAR * def->size);
    for (int i = 0; i < places * places && poured->count < def->count; ++i) {
        double wobble = WOBBLE * def->size;
        rbBodyDef body = rbDefaultBodyDef();
        int row = i / places;
        body.position = rbMakeVec3((i % places - 0.5 * (places - 1)) * pitch,
                                   (row - 0.5 * (places - 1)) * pitch, height);
        body.position.x += wobble * rbRandom_Symmetric(random);
        body.position.y += wobble * rbRandom_Symmetric(random);
        body.position.z += wobble * rbRandom_Symmetric(random);
        body.orientation = rbRandom_Quat(random);
        body.linearVelocity.z = -LAYER_SPEED;
        poured->ids[poured->count] = addBody(poured, &body, geometries[poured->count % 2]);
        poured->count += 1;
    }
}

static void advance(rbPoured* poured, int64_t steps)
{
    if (poured->error.status != RB_STATUS_OK) {
        return;
    }
    poured->steps += steps;
    double time = rbGetStepTime(poured->steps, poured->def.step);
    rbStatus status = rbWorld_AdvanceTo(poured->world, time).status;
    // Missed tolerances appear in the statistics.
    if (status != RB_STATUS_OK && status != RB_STATUS_NUMERICAL) {
        poured->error = rbWorld_GetError(poured->world);
        poured->error.status = status;
    }
}

rbPoured rbPour(const rbPouringDef* def)
{
    rbPoured poured = {.def = *def};
    rbWorldDef world = rbDefaultWorldDef();
    rbRandom random = {def->seed};
    world.engine = RB_ENGINE_STEP;
    world.step.step = def->step;
    world.step.accuracy = def->contact.substeps > 0 ? RB_ACCURACY_GAME : RB_ACCURACY_ENGINEERING;
    world.contact = def->contact;
    world.bodyCapacity = def->count;
    poured.ids = rbAllocZero((size_t)def->count, sizeof *poured.ids);
    poured.world = rbCreateWorld(&world, &poured.error);
    if (poured.world == NULL) {
        return poured;
    }
    addWalls(&poured);
    rbGeometryId geometries[2] = {{0}};
    for (int i = 0; i < 2; ++i) {
        poured.shapes[i] = createShape(def, i == 1, &poured.error);
        if (poured.shapes[i] != NULL) {
            geometries[i] = rbWorld_AddGeometry(poured.world, rbGeometry_Retain(poured.shapes[i]));
        }
    }
    while (poured.count < def->count && poured.error.status == RB_STATUS_OK) {
        addLayer(&poured, geometries, &random);
        advance(&poured, (int64_t)(LAYER_TIME / def->step + 0.5));
    }
    advance(&poured, (int64_t)(def->settling / def->step));
    return poured;
}

void rbPoured_Free(rbPoured* poured)
{
    rbDestroyWorld(poured->world);
    rbDestroyGeometry(poured->shapes[0]);
    rbDestroyGeometry(poured->shapes[1]);
    rbFree(poured->ids, (size_t)poured->def.count * sizeof *poured->ids);
    memset(poured, 0, sizeof *poured);
}

// -------------------------------------------------------------------------------------------- fill

// Points of a lattice in a box, marked where they lie in a body.
typedef struct Lattice {
    rbVec3 first;
    rbVec3 pitch;
    int counts[3];
    unsigned char* marks;
} Lattice;

static void clampRange(double lower, double upper, int count, int range[2])
{
    range[0] = (int)fmax(0.0, ceil(lower));
    range[1] = (int)fmin(count - 1.0, floor(upper));
}

static void markBody(const Lattice* lattice, const rbGeometry* shape, rbTransform place)
{
    rbBounds box = rbGeometry_GetBounds(shape, place);
    rbVec3 p = lattice->pitch;
    rbVec3 inverse = {1.0 / p.x, 1.0 / p.y, 1.0 / p.z};
    rbVec3 lower = rbMulEach(inverse, rbSub(box.lower, lattice->first));
    rbVec3 upper = rbMulEach(inverse, rbSub(box.upper, lattice->first));
    int x[2];
    int y[2];
    int z[2];
    clampRange(lower.x, upper.x, lattice->counts[0], x);
    clampRange(lower.y, upper.y, lattice->counts[1], y);
    clampRange(lower.z, upper.z, lattice->counts[2], z);
    for (int k = z[0]; k <= z[1]; ++k) {
        for (int j = y[0]; j <= y[1]; ++j) {
            for (int i = x[0]; i <= x[1]; ++i) {
                rbVec3 point = rbAdd(lattice->first, rbMulEach(p, rbMakeVec3(i, j, k)));
                size_t index = ((size_t)k * (size_t)lattice->counts[1] + (size_t)j) *
                                   (size_t)lattice->counts[0] +
                               (size_t)i;
                if (lattice->marks[index] == 0 &&
                    rbGeometry_Contains(shape, rbInvTransformPoint(place, point))) {
                    lattice->marks[index] = 1;
                }
            }
        }
    }
}

static int compareHeights(const void* a, const void* b)
{
    double one = *(const double*)a;
    double other = *(const double*)b;
    return (one > other) - (one < other);
}

double rbPoured_GetLevel(const rbPoured* poured, double part)
{
    size_t size = (size_t)poured->count * sizeof(double);
    double* heights = rbAlloc(size);
    for (int i = 0; i < poured->count; ++i) {
        heights[i] = getPlace(poured, i).p.z;
    }
    qsort(heights, (size_t)poured->count, sizeof(double), compareHeights);
    double level = heights[(int)(part * (poured->count - 1))];
    rbFree(heights, size);
    return level;
}

double rbPoured_GetFill(const rbPoured* poured, rbPouredSpace space)
{
    double half = getHalfBase(&poured->def) - space.walls;
    double deep = space.top - space.floor;
    if (!(half > 0.0 && deep > 0.0)) {
        return NAN;
    }
    // Points are the centers of equal cells that fill the space.
    double pitch = poured->def.size / LATTICE;
    int across = (int)ceil(2.0 * half / pitch);
    int up = (int)ceil(deep / pitch);
    Lattice lattice = {.pitch = {2.0 * half / across, 2.0 * half / across, deep / up},
                       .counts = {across, across, up}};
    lattice.first = rbMakeVec3(-half, -half, space.floor);
    lattice.first = rbAddScaled(lattice.first, 0.5, lattice.pitch);
    size_t size = (size_t)lattice.counts[0] * (size_t)lattice.counts[1] * (size_t)lattice.counts[2];
    lattice.marks = rbAllocZero(size, 1);
    for (int i = 0; i < poured->count; ++i) {
        markBody(&lattice, getShape(poured, i), getPlace(poured, i));
    }
    size_t filled = 0;
    for (size_t i = 0; i < size; ++i) {
        filled += lattice.marks[i];
    }
    rbFree(lattice.marks, size);
    return (double)filled / (double)size;
}

// ---------------------------------------------------------------------------------------- contacts

// Calls a function for all pairs of bodies whose boxes, enlarged by the shell, overlap.
typedef struct PairVisit {
    const rbPoured* poured;
    rbTransform* places;
    void* scratch;
    rbPairMethod methods[2];
    rbPouredContacts contacts;
    double sum;
    double difference; // m
    int disagreeing;
} PairVisit;

typedef void VisitFn(PairVisit* visit, const rbSeparationInput* input);

static void visitPairs(PairVisit* visit, VisitFn* function)
{
    const rbPoured* poured = visit->poured;
    size_t boxSize = (size_t)poured->count * sizeof(rbBounds);
    size_t placeSize = (size_t)poured->count * sizeof(rbTransform);
    rbBounds* boxes = rbAlloc(boxSize);
    rbVec3 shell = rbScale(poured->def.contact.shell, rbMakeVec3(1.0, 1.0, 1.0));
    visit->places = rbAlloc(placeSize);
    visit->scratch = rbAlloc(rbGetSeparationScratchSize());
    for (int i = 0; i < poured->count; ++i) {
        visit->places[i] = getPlace(poured, i);
        boxes[i] = rbGeometry_GetBounds(getShape(poured, i), visit->places[i]);
        boxes[i].lower = rbSub(boxes[i].lower, shell);
        boxes[i].upper = rbAdd(boxes[i].upper, shell);
    }
    rbIdList pairs = {0};
    rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    rbBroadPhase_PlaceAll(broad, boxes, poured->count);
    rbBroadPhase_FindPairs(broad, &pairs);
    for (int i = 0; i + 1 < pairs.count; i += 2) {
        rbSeparationInput input = rbDefaultSeparationInput();
        int a = pairs.ids[i];
        int b = pairs.ids[i + 1];
        input.geometryA = getShape(poured, a);
        input.geometryB = getShape(poured, b);
        input.transformBtoA = rbInvMulTransforms(visit->places[a], visit->places[b]);
        function(visit, &input);
    }
    rbIdList_Free(&pairs);
    rbDestroyBroadPhase(broad);
    rbFree(visit->scratch, rbGetSeparationScratchSize());
    rbFree(visit->places, placeSize);
    rbFree(boxes, boxSize);
}

// m, signed; NAN if the method does not support the pair.
static double measure(const PairVisit* visit, const rbSeparationInput* input, rbPairMethod method)
{
    rbSeparationInput own = *input;
    rbSeparation separation;
    own.method = method;
    rbStatus status = rbMeasureSeparation(&own, NULL, visit->scratch, &separation, NULL);
    return status == RB_STATUS_OK ? separation.distance : NAN;
}

// The bin of a depth (m): 0 below RB_DEPTH_FIRST of the size, then twice as wide each.
static int findBin(double depth, double size)
{
    double end = RB_DEPTH_FIRST * size;
    int bin = 0;
    for (; bin < RB_DEPTH_BINS - 1 && depth >= end; ++bin) {
        end *= 2.0;
    }
    return bin;
}

static void visitContact(PairVisit* visit, const rbSeparationInput* input)
{
    rbPouredContacts* c = &visit->contacts;
    double shell = visit->poured->def.contact.shell;
    double distance = measure(visit, input, visit->methods[0]);
    if (distance < 0.0) {
        c->overlapCount += 1;
        c->mean -= distance;
        c->deepest = fmax(c->deepest, -distance);
        c->depths[findBin(-distance, visit->poured->def.size)] += 1;
    }
    if (distance <= shell) {
        rbManifold manifold;
        rbContactList list = {.manifolds = &manifold, .capacity = 1};
        rbSeparationInput own = *input;
        own.method = visit->methods[0];
        c->touchCount += 1;
        if (rbFindContacts(&own, shell, NULL, visit->scratch, &list, NULL) == RB_STATUS_OK &&
            list.count > 0 && manifold.count > 1) {
            c->severalCount += 1;
        }
    }
}

// Depth of a body in a wall, m; negative: separate.
static double getWallDepth(const rbPoured* poured, int body, int wall)
{
    rbTransform place = getPlace(poured, body);
    rbVec3 down = rbInvRotate(place.q, rbNeg(wallNormals[wall]));
    rbVec3 lowest = rbTransformPoint(place, rbGeometry_GetSupport(getShape(poured, body), down));
    return getWallOffset(&poured->def, wall) - rbDot(wallNormals[wall], lowest);
}

rbPouredContacts rbPoured_Measure(const rbPoured* poured, rbPairMethod method)
{
    PairVisit visit = {.poured = poured, .methods = {method, method}};
    visitPairs(&visit, visitContact);
    rbPouredContacts c = visit.contacts;
    double sum = c.mean;
    c.mean = c.overlapCount > 0 ? sum / c.overlapCount : 0.0;
    for (int i = 0; i < poured->count; ++i) {
        for (int k = 0; k < 5; ++k) {
            double depth = getWallDepth(poured, i, k);
            if (depth > 0.0) {
                sum += depth;
                c.wallCount += 1;
                c.deepest = fmax(c.deepest, depth);
            }
        }
    }
    int all = c.overlapCount + c.wallCount;
    c.meanWithAll = all > 0 ? sum / all : 0.0;
    return c;
}

static void visitMethods(PairVisit* visit, const rbSeparationInput* input)
{
    double one = measure(visit, input, visit->methods[0]);
    double other = measure(visit, input, visit->methods[1]);
    if (one < 0.0 || other < 0.0) {
        double difference = fabs(one - other);
        visit->disagreeing += (one < 0.0) != (other < 0.0) ? 1 : 0;
        visit->difference =
            difference > visit->difference || isnan(difference) ? difference : visit->difference;
    }
}

double rbPoured_CompareMethods(const rbPoured* poured, rbPairMethod one, rbPairMethod other,
                               int* disagreeing)
{
    PairVisit visit = {.poured = poured, .methods = {one, other}};
    visitPairs(&visit, visitMethods);
    *disagreeing = visit.disagreeing;
    return visit.difference;
}

// ------------------------------------------------------------------------------------------ motion

double rbPoured_GetSpeed(const rbPoured* poured)
{
    double sum = 0.0;
    for (int i = 0; i < poured->count; ++i) {
        rbVec3 v = rbBody_GetState(poured->world, poured->ids[i]).linearVelocity;
        sum += rbDot(v, v);
    }
    return sqrt(sum / fmax(1.0, poured->count));
}

int rbPoured_CountEscaped(const rbPoured* poured)
{
    int count = 0;
    for (int i = 0; i < poured->count; ++i) {
        rbVec3 p = getPlace(poured, i).p;
        bool isOut = false;
        for (int k = 0; k < 5; ++k) {
            isOut = isOut || !(rbDot(wallNormals[k], p) > getWallOffset(&poured->def, k));
        }
        count += isOut ? 1 : 0;
    }
    return count;
}
