#include "sphere_yardstick.h"

#include "base/core/memory.h"
#include "bench.h"

#include <rattleback/vecmath.h>

#include <math.h>
#include <stdint.h>

#define FRACTION 0.3
#define NEVER 1e300
#define WALL(axis, isUp) (-2 - (2 * (axis) + (isUp))) // partner of a step into the next cell

typedef struct Sphere {
    double x[3], v[3], time; // x from the corner of its cell, at its own time
    int cell[3];
    int next, previous; // of its cell
    uint32_t hits;
} Sphere;

typedef struct Event {
    double time;
    int partner;   // sphere, or a wall
    uint32_t hits; // of the partner when it was predicted
} Event;

typedef struct Gas {
    Sphere* spheres;
    Event* events; // one for each sphere
    int* heads;    // first sphere of each cell
    int* heap;     // spheres, earliest event first
    int* places;   // of spheres in the heap
    int count, cells;
    double cellSize, now;
    uint64_t random;
} Gas;

// ------------------------------------------------------------------------------------------- heap

static void moveUp(Gas* gas, int place)
{
    int sphere = gas->heap[place];
    while (place > 0) {
        int parent = (place - 1) / 2;
        if (gas->events[gas->heap[parent]].time <= gas->events[sphere].time) {
            break;
        }
        gas->heap[place] = gas->heap[parent];
        gas->places[gas->heap[place]] = place;
        place = parent;
    }
    gas->heap[place] = sphere;
    gas->places[sphere] = place;
}

static void moveDown(Gas* gas, int place)
{
    int sphere = gas->heap[place];
    for (int child = 2 * place + 1; child < gas->count; child = 2 * place + 1) {
        if (child + 1 < gas->count &&
            gas->events[gas->heap[child + 1]].time < gas->events[gas->heap[child]].time) {
            ++child;
        }
        if (gas->events[gas->heap[child]].time >= gas->events[sphere].time) {
            break;
        }
        gas->heap[place] = gas->heap[child];
        gas->places[gas->heap[place]] = place;
        place = child;
    }
    gas->heap[place] = sphere;
    gas->places[sphere] = place;
}

// ------------------------------------------------------------------------------------------ cells

static int* headOf(const Gas* gas, const int cell[3])
{
    return &gas->heads[(cell[2] * gas->cells + cell[1]) * gas->cells + cell[0]];
}

static int wrap(const Gas* gas, int k)
{
    return k < 0 ? k + gas->cells : k >= gas->cells ? k - gas->cells : k;
}

static void enterCell(Gas* gas, int index)
{
    Sphere* a = &gas->spheres[index];
    int* head = headOf(gas, a->cell);
    a->previous = -1;
    a->next = *head;
    if (a->next >= 0) {
        gas->spheres[a->next].previous = index;
    }
    *head = index;
}

static void leaveCell(Gas* gas, int index)
{
    const Sphere* a = &gas->spheres[index];
    *(a->previous >= 0 ? &gas->spheres[a->previous].next : headOf(gas, a->cell)) = a->next;
    if (a->next >= 0) {
        gas->spheres[a->next].previous = a->previous;
    }
}

static void fly(Sphere* a, double time)
{
    double dt = time - a->time;
    for (int k = 0; k < 3; ++k) {
        a->x[k] += dt * a->v[k];
    }
    a->time = time;
}

// ------------------------------------------------------------------------------------ predictions

static void predictWalls(const Gas* gas, const Sphere* a, Event* best)
{
    for (int k = 0; k < 3; ++k) {
        double left = a->v[k] > 0.0   ? (gas->cellSize - a->x[k]) / a->v[k]
                      : a->v[k] < 0.0 ? -a->x[k] / a->v[k]
                                      : NEVER;
        if (gas->now + left < best->time) {
            best->time = gas->now + left;
            best->partner = WALL(k, a->v[k] > 0.0 ? 1 : 0);
        }
    }
}

// The spheres of a cell, which is some cells away.
static void predictCell(const Gas* gas, int index, const int away[3], Event* best)
{
    const Sphere* a = &gas->spheres[index];
    const int cell[3] = {wrap(gas, a->cell[0] + away[0]), wrap(gas, a->cell[1] + away[1]),
                         wrap(gas, a->cell[2] + away[2])};
    for (int other = *headOf(gas, cell); other >= 0; other = gas->spheres[other].next) {
        if (other == index) {
            continue;
        }
        const Sphere* b = &gas->spheres[other];
        double dt = gas->now - b->time;
        double rw = 0.0, rr = 0.0, ww = 0.0;
        for (int k = 0; k < 3; ++k) {
            double r = b->x[k] + dt * b->v[k] + away[k] * gas->cellSize - a->x[k];
            double w = b->v[k] - a->v[k];
            rw += r * w;
            rr += r * r;
            ww += w * w;
        }
        double root = rw * rw - ww * (rr - 1.0);
        if (rw >= 0.0 || root < 0.0) {
            continue;
        }
        double time = gas->now + fmax(0.0, (rr - 1.0) / (-rw + sqrt(root)));
        if (time < best->time) {
            best->time = time;
            best->partner = other;
        }
    }
}

static void predict(Gas* gas, int index)
{
    fly(&gas->spheres[index], gas->now);
    Event best = {NEVER, -1, 0};
    predictWalls(gas, &gas->spheres[index], &best);
    for (int z = -1; z <= 1; ++z) {
        for (int y = -1; y <= 1; ++y) {
            for (int x = -1; x <= 1; ++x) {
                predictCell(gas, index, (const int[3]){x, y, z}, &best);
            }
        }
    }
    best.hits = best.partner >= 0 ? gas->spheres[best.partner].hits : 0;
    gas->events[index] = best;
    moveUp(gas, gas->places[index]);
    moveDown(gas, gas->places[index]);
}

// --------------------------------------------------------------------------------------------- run

static void collide(Gas* gas, int i, int j)
{
    Sphere* a = &gas->spheres[i];
    Sphere* b = &gas->spheres[j];
    fly(a, gas->now);
    fly(b, gas->now);
    double half = 0.5 * gas->cells, r[3], rv = 0.0, rr = 0.0;
    for (int k = 0; k < 3; ++k) {
        double cells = b->cell[k] - a->cell[k];
        cells -= cells > half ? gas->cells : cells < -half ? -gas->cells : 0;
        r[k] = cells * gas->cellSize + b->x[k] - a->x[k];
        rv += r[k] * (b->v[k] - a->v[k]);
        rr += r[k] * r[k];
    }
    for (int k = 0; k < 3; ++k) {
        a->v[k] += rv / rr * r[k];
        b->v[k] -= rv / rr * r[k];
    }
    ++a->hits;
    ++b->hits;
    predict(gas, i);
    predict(gas, j);
}

static void crossWall(Gas* gas, int index, int wall)
{
    Sphere* a = &gas->spheres[index];
    int axis = (-2 - wall) / 2, isUp = (-2 - wall) & 1;
    fly(a, gas->now);
    leaveCell(gas, index);
    a->cell[axis] = wrap(gas, a->cell[axis] + (isUp != 0 ? 1 : -1));
    a->x[axis] = isUp != 0 ? 0.0 : gas->cellSize;
    enterCell(gas, index);
    predict(gas, index);
}

static void runCollisions(Gas* gas, long count)
{
    while (count > 0) {
        int index = gas->heap[0];
        Event event = gas->events[index];
        gas->now = event.time;
        if (event.partner < -1) {
            crossWall(gas, index, event.partner);
        } else if (gas->spheres[event.partner].hits != event.hits) {
            predict(gas, index); // the partner has collided since
        } else {
            collide(gas, index, event.partner);
            --count;
        }
    }
}

static double drawUnit(Gas* gas)
{
    gas->random += 0x9E3779B97F4A7C15ull;
    uint64_t z = gas->random;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double drawNormal(Gas* gas)
{
    double length = sqrt(-2.0 * log(drawUnit(gas) + 1e-300));
    return length * cos(2.0 * RB_PI * drawUnit(gas));
}

static void place(Gas* gas, int edge, double length)
{
    for (int i = 0; i < gas->count; ++i) {
        const int grid[3] = {i % edge, i / edge % edge, i / edge / edge};
        Sphere* a = &gas->spheres[i];
        for (int k = 0; k < 3; ++k) {
            double x = (grid[k] + 0.5) * length / edge;
            int cell = (int)(x / gas->cellSize);
            a->cell[k] = cell < gas->cells ? cell : gas->cells - 1;
            a->x[k] = x - a->cell[k] * gas->cellSize;
            a->v[k] = drawNormal(gas);
        }
        enterCell(gas, i);
        gas->heap[i] = gas->places[i] = i;
        gas->events[i].time = NEVER;
    }
    for (int i = 0; i < gas->count; ++i) {
        predict(gas, i);
    }
}

double rbTimeYardstick(int edge, int windows, long windowMin)
{
    Gas gas = {.count = edge * edge * edge, .random = 1};
    double length = cbrt(gas.count * RB_PI / 6.0 / FRACTION);
    gas.cells = (int)floor(length / 1.0000001);
    gas.cellSize = length / gas.cells;
    size_t count = (size_t)gas.count, row = (size_t)gas.cells, cells = row * row * row;
    gas.spheres = rbAllocZero(count, sizeof *gas.spheres);
    gas.events = rbAllocZero(count, sizeof *gas.events);
    gas.heads = rbAllocZero(cells, sizeof *gas.heads);
    gas.heap = rbAllocZero(count, sizeof *gas.heap);
    gas.places = rbAllocZero(count, sizeof *gas.places);
    for (size_t i = 0; i < cells; ++i) {
        gas.heads[i] = -1;
    }
    place(&gas, edge, length);
    runCollisions(&gas, 4L * gas.count);
    long window = gas.count > windowMin ? gas.count : windowMin;
    double best = INFINITY;
    for (int i = 0; i < windows; ++i) {
        double start = rbGetCpuTime();
        runCollisions(&gas, window);
        best = fmin(best, rbGetCpuTime() - start);
    }
    rbFree(gas.spheres, count * sizeof *gas.spheres);
    rbFree(gas.events, count * sizeof *gas.events);
    rbFree(gas.heads, cells * sizeof *gas.heads);
    rbFree(gas.heap, count * sizeof *gas.heap);
    rbFree(gas.places, count * sizeof *gas.places);
    return (double)window / best;
}
