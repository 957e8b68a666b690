#include "toy_worlds.h"

#include <math.h>
#include <stddef.h>
#include <time.h>

// Half the thickness of the coin's mesh at its center; only the rim touches.
#define COIN_HALF_HEIGHT 0.001
#define COIN_SEGMENTS_MIN 2500 // two faces each

static rbGeometry* meshFromTriangles(const rbTriangles* triangles, rbError* error)
{
    rbMeshDef def = {.vertices = triangles->vertices,
                     .vertexCount = triangles->vertexCount,
                     .indices = &triangles->triangles[0][0],
                     .faceCount = triangles->triangleCount};
    return rbCreateMesh(&def, error);
}

// Triangulates an ellipsoid with increasing resolution until there are enough triangles. The net of
// the triangulation has poles on its z axis, whose rings are flat feet; they may be rotated away
// from where the toy stands.
static rbGeometry* makeEllipsoidMesh(rbVec3 semiAxes, const rbToySetting* setting,
                                     rbToyWorld* toyWorld, rbError* error)
{
    rbVec3 axes[RB_TOY_POLE_COUNT] = {
        semiAxes, {semiAxes.y, semiAxes.z, semiAxes.x}, {semiAxes.z, semiAxes.x, semiAxes.y}};
    rbGeometry* turned = rbCreateEllipsoid(axes[setting->pole], error);
    double size = fmax(semiAxes.x, fmax(semiAxes.y, semiAxes.z));
    double deviation = setting->deviation > 0.0 ? setting->deviation : 0.01 * size;
    rbGeometry* mesh = NULL;
    bool isDone = turned == NULL;
    while (!isDone) {
        rbTriangles triangles = {0};
        if (rbGeometry_Triangulate(turned, deviation, 1.0, &triangles, error) != RB_STATUS_OK) {
            break;
        }
        isDone = triangles.triangleCount >= RB_TOY_FACES_MIN || setting->deviation > 0.0;
        if (isDone) {
            for (int k = 0; k < triangles.vertexCount; ++k) {
                rbVec3 v = triangles.vertices[k];
                rbVec3 places[RB_TOY_POLE_COUNT] = {v, {v.z, v.x, v.y}, {v.y, v.z, v.x}};
                triangles.vertices[k] = places[setting->pole];
            }
            toyWorld->faceCount = triangles.triangleCount;
            toyWorld->deviation = deviation;
            mesh = meshFromTriangles(&triangles, error);
        }
        rbFreeTriangles(&triangles);
        deviation *= 0.9;
    }
    rbDestroyGeometry(turned);
    return mesh;
}

// A double cone: its edge is the rim.
static rbGeometry* makeCoinMesh(double radius, const rbToySetting* setting, rbToyWorld* toyWorld,
                                rbError* error)
{
    double wanted = RB_PI / sqrt(2.0 * fmax(setting->deviation, 1e-14) / radius);
    int segments = setting->deviation > 0.0 && wanted > COIN_SEGMENTS_MIN ? (int)ceil(wanted)
                                                                          : COIN_SEGMENTS_MIN;
    const double profile[3][2] = {{0.0, -COIN_HALF_HEIGHT}, {radius, 0.0}, {0.0, COIN_HALF_HEIGHT}};
    rbOwnedMesh mesh = {0};
    if (rbRevolveProfile(profile, 3, segments, &mesh, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    rbGeometry* geometry = rbCreateMesh(&def, error);
    toyWorld->faceCount = def.faceCount;
    toyWorld->deviation = radius * (1.0 - cos(RB_PI / segments));
    rbFreeMesh(&mesh);
    return geometry;
}

// The geometry in its own frame; `offset` moves it to the body's frame.
static rbGeometry* makeToyGeometry(const rbToy* toy, const rbToySetting* setting,
                                   rbToyWorld* toyWorld, rbVec3* offset, rbError* error)
{
    *offset = RB_VEC3_ZERO;
    if (toy->surface == RB_TOY_DISC) {
        if (setting->form == RB_TOY_MESH) {
            return makeCoinMesh(toy->radius, setting, toyWorld, error);
        }
        // The rim is the base of a cone, which lies below the cone's origin.
        *offset = rbMakeVec3(0.0, 0.0, COIN_HALF_HEIGHT);
        return rbCreateCone(toy->radius, 2.0 * COIN_HALF_HEIGHT, error);
    }
    if (setting->form == RB_TOY_MESH) {
        return makeEllipsoidMesh(toy->semiAxes, setting, toyWorld, error);
    }
    bool isSphere = toy->semiAxes.x == toy->semiAxes.y && toy->semiAxes.y == toy->semiAxes.z;
    return isSphere ? rbCreateSphere(toy->semiAxes.x, error)
                    : rbCreateEllipsoid(toy->semiAxes, error);
}

static bool addTable(rbWorld* world, double friction, rbError* error)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.name = "table";
    def.type = RB_BODY_STATIC;
    rbBodyId table = rbCreateBody(world, &def, error);
    rbShapeDef shape = rbDefaultShapeDef();
    rbVec3 up = {0.0, 0.0, 1.0};
    shape.geometry = rbWorld_AddGeometry(world, rbCreatePlane(up, 0.0, error));
    shape.material.restitution = 0.0;
    shape.material.friction = friction;
    (void)rbCreateShape(world, table, &shape, error);
    return error->status == RB_STATUS_OK;
}

static void addToy(rbToyWorld* toyWorld, const rbToySetting* setting, rbError* error)
{
    const rbToy* toy = &toyWorld->toy;
    rbShapeDef shape = rbDefaultShapeDef();
    rbVec3 offset;
    rbGeometry* geometry = makeToyGeometry(toy, setting, toyWorld, &offset, error);
    if (geometry == NULL) {
        return;
    }
    rbVec3 down = rbInvRotate(toy->orientation, rbMakeVec3(0.0, 0.0, -1.0));
    rbVec3 lowest = rbAdd(offset, rbGeometry_GetSupport(geometry, down));
    rbMassProperties mass = {.mass = toy->mass, .center = toy->center, .inertia = toy->inertia};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = "toy";
    def.mass = &mass;
    // contacts of the step engine act outside the surfaces
    double shell = setting->step > 0.0 ? rbDefaultContactSettings().shell : 0.0;
    def.position = rbMakeVec3(0.0, 0.0, shell - rbRotate(toy->orientation, lowest).z);
    def.orientation = toy->orientation;
    def.linearVelocity = toy->velocity;
    def.angularVelocity = toy->spin;
    toyWorld->body = rbCreateBody(toyWorld->world, &def, error);
    shape.geometry = rbWorld_AddGeometry(toyWorld->world, geometry);
    shape.transform.p = offset;
    shape.material.restitution = 0.0;
    shape.material.friction = toy->friction;
    if (error->status == RB_STATUS_OK) {
        (void)rbCreateShape(toyWorld->world, toyWorld->body, &shape, error);
    }
}

rbToyWorld rbMakeToyWorld(const rbToy* toy, const rbToySetting* setting, rbError* error)
{
    rbToyWorld toyWorld = {.toy = *toy};
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = rbMakeVec3(0.0, 0.0, -toy->gravity);
    def.engine = RB_ENGINE_EVENT;
    def.event.tolerance = setting->tolerance;
    if (setting->step > 0.0) {
        def.engine = RB_ENGINE_STEP;
        def.step.step = setting->step;
        def.contact.cone = setting->facets > 0 ? RB_CONE_PYRAMID : RB_CONE_EXACT;
        def.contact.facets = setting->facets > 0 ? setting->facets : def.contact.facets;
    }
    toyWorld.world = rbCreateWorld(&def, error);
    if (toyWorld.world == NULL) {
        return toyWorld;
    }
    if (addTable(toyWorld.world, toy->friction, error)) {
        addToy(&toyWorld, setting, error);
    }
    if (error->status != RB_STATUS_OK) {
        rbFreeToyWorld(&toyWorld);
    }
    return toyWorld;
}

void rbFreeToyWorld(rbToyWorld* toyWorld)
{
    rbDestroyWorld(toyWorld->world);
    toyWorld->world = NULL;
}

static rbToySample takeSample(const rbToyWorld* toyWorld, rbVec3 axis, const rbStepReport* report)
{
    const rbToy* toy = &toyWorld->toy;
    const rbVec3 up = {0.0, 0.0, 1.0};
    rbBodyState state = rbBody_GetState(toyWorld->world, toyWorld->body);
    rbVec3 lever = rbSub(rbScale(toy->semiAxes.x, up),
                         rbRotate(state.transform.q, rbScale(-toy->center.z, up)));
    rbToySample sample = {.time = report->time,
                          .cosine = rbRotate(state.transform.q, axis).z,
                          .spin = state.angularVelocity.z,
                          .energy = report->ledger.energy,
                          .jellett = rbDot(report->ledger.spinMomentum, lever),
                          .up = rbInvRotate(state.transform.q, up)};
    return sample;
}

static double addMicroGains(rbWorld* world)
{
    int count = 0;
    double gain = 0.0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count; ++i) {
        if (events[i].kind == RB_EVENT_MICROCOLLISION) {
            gain += fmax(0.0, events[i].energyChange);
        }
    }
    rbWorld_ClearEvents(world);
    return gain;
}

void rbTraceToy(const rbToyWorld* toyWorld, rbVec3 axis, double duration, double step,
                rbToyTrace* trace)
{
    *trace = (rbToyTrace){.faceCount = toyWorld->faceCount};
    clock_t start = clock();
    int64_t count = (int64_t)floor(duration / step + 0.5);
    bool isGoing = true;
    for (int64_t k = 0; k <= count && isGoing; ++k) {
        rbStepReport report = rbWorld_AdvanceTo(toyWorld->world, rbGetStepTime(k, step));
        // after a missed tolerance the world continues
        isGoing = report.status == RB_STATUS_OK || report.status == RB_STATUS_NUMERICAL;
        trace->status = report.status != RB_STATUS_OK ? report.status : trace->status;
        trace->energyDrift = report.ledger.energyDrift;
        rbToySample sample = takeSample(toyWorld, axis, &report);
        rbArray_Push(trace->samples, sample);
        trace->microGain += addMicroGains(toyWorld->world);
    }
    trace->statistics = rbWorld_GetEventStatistics(toyWorld->world);
    trace->cpu = (double)(clock() - start) / CLOCKS_PER_SEC;
}

void rbFreeToyTrace(rbToyTrace* trace)
{
    rbArray_Free(trace->samples);
}

const rbToySample* rbToyTrace_At(const rbToyTrace* trace, double time)
{
    RB_ASSERT(trace->samples.count > 0);
    int best = 0;
    for (int i = 1; i < trace->samples.count; ++i) {
        if (fabs(trace->samples.data[i].time - time) <
            fabs(trace->samples.data[best].time - time)) {
            best = i;
        }
    }
    return &trace->samples.data[best];
}

static double findCrossing(const rbToyTrace* trace, size_t field, double level)
{
    for (int i = 1; i < trace->samples.count; ++i) {
        const rbToySample* a = &trace->samples.data[i - 1];
        const rbToySample* b = &trace->samples.data[i];
        double before = *(const double*)((const char*)a + field) - level;
        double after = *(const double*)((const char*)b + field) - level;
        if (before * after < 0.0 || (after == 0.0 && before != 0.0)) {
            return a->time + (b->time - a->time) * before / (before - after);
        }
    }
    return -1.0;
}

double rbToyTrace_FindCosine(const rbToyTrace* trace, double level)
{
    return findCrossing(trace, offsetof(rbToySample, cosine), level);
}

double rbToyTrace_FindSpin(const rbToyTrace* trace, double level)
{
    return findCrossing(trace, offsetof(rbToySample, spin), level);
}

double rbToyTrace_GetRise(const rbToyTrace* trace)
{
    double least = INFINITY;
    double rise = 0.0;
    for (int i = 0; i < trace->samples.count; ++i) {
        least = fmin(least, trace->samples.data[i].energy);
        rise = fmax(rise, trace->samples.data[i].energy - least);
    }
    return rise;
}

double rbToyTrace_GetJellettDrift(const rbToyTrace* trace)
{
    double start = trace->samples.data[0].jellett;
    double drift = 0.0;
    for (int i = 0; i < trace->samples.count; ++i) {
        drift = fmax(drift, fabs(trace->samples.data[i].jellett / start - 1.0));
    }
    return drift;
}
