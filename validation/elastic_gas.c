#include "elastic_gas.h"

#include "lab/math/random3.h"

#include <math.h>

#define CELLS_MAX 16 // along an edge
#define MIDPOINT_ROUNDS 4

// --------------------------------------------------------------------------------------- dynamics

static rbVec3 applyInverseInertia(const rbGasBody* body, rbQuat q, rbVec3 v)
{
    return rbRotate(q, rbMulEach(body->inverseInertia, rbInvRotate(q, v)));
}

static rbQuat turn(rbQuat q, rbVec3 w, double dt)
{
    rbQuat step = {1.0, 0.5 * dt * w.x, 0.5 * dt * w.y, 0.5 * dt * w.z};
    return rbNormalizeQuat(rbMulQuat(step, q));
}

// The angular momentum is constant; the body rotates with the angular velocity of the orientation
// halfway, found by iteration (implicit midpoint), which conserves the energy.
void rbGas_Advance(rbGas* gas, double dt)
{
    for (int i = 0; i < gas->count; ++i) {
        rbGasBody* body = &gas->bodies[i];
        rbQuat q = body->pose.q;
        rbQuat middle = q;
        for (int k = 0; k < MIDPOINT_ROUNDS; ++k) {
            middle = turn(q, applyInverseInertia(body, middle, body->spin), 0.5 * dt);
        }
        // the same half rotation again, so that the step is reversible
        body->pose.q = turn(middle, applyInverseInertia(body, middle, body->spin), 0.5 * dt);
        body->pose.p = rbAddScaled(body->pose.p, dt, body->velocity);
    }
}

// Speed of the point of a body along n, and its change per unit impulse there.
static double speedAlong(const rbGasBody* body, rbVec3 r, rbVec3 n, double* mobility)
{
    rbVec3 w = applyInverseInertia(body, body->pose.q, body->spin);
    rbVec3 arm = rbCross(r, n);
    *mobility = body->inverseMass + rbDot(arm, applyInverseInertia(body, body->pose.q, arm));
    return rbDot(n, rbAdd(body->velocity, rbCross(w, r)));
}

static void push(rbGasBody* body, rbVec3 r, double impulse, rbVec3 n)
{
    body->velocity = rbAddScaled(body->velocity, impulse * body->inverseMass, n);
    body->spin = rbAddScaled(body->spin, impulse, rbCross(r, n));
}

void rbBounce(rbGasBody* a, rbGasBody* b, rbVec3 point, rbVec3 normal)
{
    double mobilityA;
    double mobilityB = 0.0;
    rbVec3 rA = rbSub(point, a->pose.p);
    rbVec3 rB = b != NULL ? rbSub(point, b->pose.p) : RB_VEC3_ZERO;
    double speed = -speedAlong(a, rA, normal, &mobilityA);
    if (b != NULL) {
        speed += speedAlong(b, rB, normal, &mobilityB);
    }
    if (speed < 0.0) {
        double impulse = -2.0 * speed / (mobilityA + mobilityB);
        push(a, rA, -impulse, normal);
        if (b != NULL) {
            push(b, rB, impulse, normal);
        }
    }
}

double rbGas_GetEnergy(const rbGas* gas)
{
    double energy = 0.0;
    for (int i = 0; i < gas->count; ++i) {
        const rbGasBody* body = &gas->bodies[i];
        rbVec3 w = applyInverseInertia(body, body->pose.q, body->spin);
        energy += 0.5 * rbLengthSquared(body->velocity) / body->inverseMass;
        energy += 0.5 * rbDot(w, body->spin);
    }
    return energy;
}

rbTransform rbGasBody_GetShapePose(const rbGasBody* body)
{
    rbTransform pose = rbMulTransforms(body->pose, body->shapeToBody);
    pose.q = rbNormalizeQuat(pose.q);
    return pose;
}

// -------------------------------------------------------------------------------------- placement

static rbGasBody makeBody(const rbGeometry* geometry, double speed, rbRandom* random)
{
    rbMassProperties mass = {0};
    rbVec3 moments;
    rbTransform principal;
    rbStatus status = rbGeometry_GetMass(geometry, 1.0, &mass, NULL);
    RB_ASSERT(status == RB_STATUS_OK);
    (void)status;
    rbMassProperties_Principal(&mass, &moments, &principal);
    rbGasBody body = {.geometry = geometry,
                      .shapeToBody = rbInvertTransform(principal),
                      .radius = rbGeometry_GetRadius(geometry, mass.center),
                      .inverseMass = 1.0 / mass.mass,
                      .inverseInertia = {1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z},
                      .pose = {RB_VEC3_ZERO, rbRandom_Quat(random)}};
    body.velocity = rbScale(speed * rbRandom_Range(random, 0.5, 1.5), rbRandom_Direction(random));
    // the surface speed due to rotation is similar to the speed of the center
    rbVec3 w = rbScale(speed / body.radius, rbRandom_Direction(random));
    body.spin = rbRotate(body.pose.q, rbMulEach(moments, rbInvRotate(body.pose.q, w)));
    return body;
}

static bool isFree(const rbGas* gas, const rbGasBody* body, int count)
{
    for (int i = 0; i < count; ++i) {
        const rbGasBody* other = &gas->bodies[i];
        if (rbDistance(body->pose.p, other->pose.p) < body->radius + other->radius) {
            return false;
        }
    }
    return true;
}

static void makeWalls(rbGas* gas)
{
    static const rbVec3 inward[RB_GAS_WALLS] = {{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0},
                                                {0.0, 1.0, 0.0}, {0.0, -1.0, 0.0},
                                                {0.0, 0.0, 1.0}, {0.0, 0.0, -1.0}};
    for (int i = 0; i < RB_GAS_WALLS; ++i) {
        gas->walls[i] = rbCreatePlane(inward[i], -gas->half, NULL);
    }
}

rbGas rbCreateGas(const rbGasDef* def, rbRandom* random)
{
    RB_ASSERT(def->fraction > 0.0 && def->fraction < 0.3 && def->reach >= 1.0);
    rbGas gas = {.bodies = rbAlloc((size_t)def->count * sizeof(rbGasBody)),
                 .count = def->count,
                 .reach = def->reach};
    double volume = 0.0;
    for (int i = 0; i < def->count; ++i) {
        rbGasBody body = makeBody(def->shapes[i % def->shapeCount], def->speed, random);
        volume += 4.0 / 3.0 * RB_PI * body.radius * body.radius * body.radius;
        gas.bodies[i] = body;
    }
    gas.half = 0.5 * cbrt(volume / def->fraction);
    for (int i = 0; i < def->count; ++i) {
        rbGasBody* body = &gas.bodies[i];
        double room = gas.half - body->radius;
        do {
            body->pose.p =
                rbMakeVec3(room * rbRandom_Symmetric(random), room * rbRandom_Symmetric(random),
                           room * rbRandom_Symmetric(random));
        } while (!isFree(&gas, body, i));
    }
    makeWalls(&gas);
    return gas;
}

void rbDestroyGas(rbGas* gas)
{
    for (int i = 0; i < RB_GAS_WALLS; ++i) {
        rbDestroyGeometry(gas->walls[i]);
    }
    rbFree(gas->bodies, (size_t)gas->count * sizeof(rbGasBody));
    rbArray_Free(gas->pairs);
    rbArray_Free(gas->cells);
    rbArray_Free(gas->next);
}

// ------------------------------------------------------------------------------------- candidates

static int cellOf(const rbGas* gas, double x, int edge)
{
    int cell = (int)floor((x + gas->half) / (2.0 * gas->half) * edge);
    return cell < 0 ? 0 : (cell >= edge ? edge - 1 : cell);
}

static void findWalls(rbGas* gas, int i)
{
    const rbGasBody* body = &gas->bodies[i];
    double room = gas->half - gas->reach * body->radius;
    const double x[3] = {body->pose.p.x, body->pose.p.y, body->pose.p.z};
    for (int k = 0; k < RB_GAS_WALLS; ++k) {
        if ((k % 2 == 0 ? -x[k / 2] : x[k / 2]) > room) {
            rbGasPair pair = {i, -1 - k};
            rbArray_Push(gas->pairs, pair);
        }
    }
}

// Pairs of a body with those that follow it in a chain.
static void pairUp(rbGas* gas, int i, int first)
{
    const rbGasBody* a = &gas->bodies[i];
    for (int k = first; k >= 0; k = gas->next.data[k]) {
        const rbGasBody* b = &gas->bodies[k];
        double reach = gas->reach * (a->radius + b->radius);
        if (k > i && rbLengthSquared(rbSub(a->pose.p, b->pose.p)) <= reach * reach) {
            rbGasPair pair = {i, k};
            rbArray_Push(gas->pairs, pair);
        }
    }
}

void rbGas_FindPairs(rbGas* gas)
{
    double reach = 0.0;
    for (int i = 0; i < gas->count; ++i) {
        reach = fmax(reach, 2.0 * gas->reach * gas->bodies[i].radius);
    }
    // cells no smaller than the reach; bodies beyond a wall belong to the outermost cell, where no
    // pair can be missed: its neighbors cover everything within reach
    int edge = (int)(2.0 * gas->half / reach);
    edge = edge < 1 ? 1 : (edge > CELLS_MAX ? CELLS_MAX : edge);
    (void)rbArray_Reserve(gas->cells, edge * edge * edge);
    (void)rbArray_Reserve(gas->next, gas->count);
    for (int c = 0; c < edge * edge * edge; ++c) {
        gas->cells.data[c] = -1;
    }
    gas->pairs.count = 0;
    for (int i = 0; i < gas->count; ++i) {
        rbVec3 p = gas->bodies[i].pose.p;
        int cx = cellOf(gas, p.x, edge), cy = cellOf(gas, p.y, edge), cz = cellOf(gas, p.z, edge);
        int* cell = &gas->cells.data[(cz * edge + cy) * edge + cx];
        gas->next.data[i] = *cell;
        *cell = i;
        findWalls(gas, i);
    }
    for (int i = 0; i < gas->count; ++i) {
        rbVec3 p = gas->bodies[i].pose.p;
        int cx = cellOf(gas, p.x, edge), cy = cellOf(gas, p.y, edge), cz = cellOf(gas, p.z, edge);
        for (int n = 0; n < 27; ++n) {
            int x = cx + n % 3 - 1, y = cy + n / 3 % 3 - 1, z = cz + n / 9 - 1;
            bool isCell = x >= 0 && y >= 0 && z >= 0 && x < edge && y < edge && z < edge;
            if (isCell) {
                pairUp(gas, i, gas->cells.data[(z * edge + y) * edge + x]);
            }
        }
    }
}
