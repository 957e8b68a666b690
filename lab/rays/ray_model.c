// The lowest point of the upper envelope of planes, by the dual simplex method in three variables:
// from a vertex of three constraints that is too low, the most violated constraint enters and the
// one whose multiplier would become negative leaves, until none is violated.
#include "lab/rays/ray_model.h"

#include <rattleback/vecmath.h>

#define EXCHANGES_MAX 64

// Constraints violated by less, relative to their terms, count as satisfied: above rounding, so
// that nearly equal lines do not alternate forever.
#define VIOLATION_MIN 1e-12

// A constraint n . (x, y, z) >= offset.
typedef struct Bound {
    rbVec3 n;
    double offset;
} Bound;

void rbRayModel_AddPlane(rbRayModel* model, const double place[2], double length,
                         const double gradient[2])
{
    int slot = model->planeCount;
    if (slot == RB_RAY_PLANES_MAX) {
        slot = 0;
        for (int i = 1; i < RB_RAY_PLANES_MAX; ++i) {
            slot = model->lengths[i] > model->lengths[slot] ? i : slot;
        }
        if (!(length < model->lengths[slot])) {
            return;
        }
    } else {
        ++model->planeCount;
    }
    model->planes[slot][0] = gradient[0];
    model->planes[slot][1] = gradient[1];
    model->planes[slot][2] = length - gradient[0] * place[0] - gradient[1] * place[1];
    model->lengths[slot] = length;
}

// All constraints in one list: planes, sides, and the square about the center.
typedef struct Program {
    Bound bounds[RB_RAY_PLANES_MAX + RB_RAY_SIDES_MAX + 4];
    int count;
    int basis[3];
    double multipliers[3];
} Program;

static void fillProgram(Program* program, const rbRayModel* model, const double center[2],
                        double width)
{
    program->count = 0;
    for (int i = 0; i < model->planeCount; ++i) {
        const double* p = model->planes[i];
        program->bounds[program->count++] = (Bound){{-p[0], -p[1], 1.0}, p[2]};
    }
    for (int i = 0; i < model->sideCount; ++i) {
        const double* s = model->sides[i];
        program->bounds[program->count++] = (Bound){{-s[0], -s[1], 0.0}, -s[2]};
    }
    program->bounds[program->count++] = (Bound){{1.0, 0.0, 0.0}, center[0] - width};
    program->bounds[program->count++] = (Bound){{-1.0, 0.0, 0.0}, -center[0] - width};
    program->bounds[program->count++] = (Bound){{0.0, 1.0, 0.0}, center[1] - width};
    program->bounds[program->count++] = (Bound){{0.0, -1.0, 0.0}, -center[1] - width};
}

// A plane and the two sides of the square toward which it descends: multipliers 1, |a|, |b|.
static void startBasis(Program* program, const rbRayModel* model)
{
    int square = program->count - 4;
    int lowest = 0;
    for (int i = 1; i < model->planeCount; ++i) {
        lowest = model->lengths[i] < model->lengths[lowest] ? i : lowest;
    }
    const double* p = model->planes[lowest];
    program->basis[0] = lowest;
    program->basis[1] = p[0] >= 0.0 ? square : square + 1;
    program->basis[2] = p[1] >= 0.0 ? square + 2 : square + 3;
    program->multipliers[0] = 1.0;
    program->multipliers[1] = fabs(p[0]);
    program->multipliers[2] = fabs(p[1]);
}

// One exchange; 1: done, 0: continue, -1: infeasible or stopped by rounding.
static int exchange(Program* program, rbVec3* vertex)
{
    rbVec3 n[3];
    double offsets[3];
    for (int i = 0; i < 3; ++i) {
        n[i] = program->bounds[program->basis[i]].n;
        offsets[i] = program->bounds[program->basis[i]].offset;
    }
    rbVec3 crosses[3] = {rbCross(n[1], n[2]), rbCross(n[2], n[0]), rbCross(n[0], n[1])};
    double det = rbDot(n[0], crosses[0]);
    if (!(fabs(det) > 1e-300)) {
        return -1;
    }
    rbVec3 sum = rbScale(offsets[0], crosses[0]);
    sum = rbAddScaled(rbAddScaled(sum, offsets[1], crosses[1]), offsets[2], crosses[2]);
    *vertex = rbScale(1.0 / det, sum);
    int worst = -1;
    double least = 0.0;
    for (int i = 0; i < program->count; ++i) {
        const Bound* bound = &program->bounds[i];
        double size = fabs(bound->n.x * vertex->x) + fabs(bound->n.y * vertex->y) +
                      fabs(bound->n.z * vertex->z) + fabs(bound->offset);
        double value = rbDot(bound->n, *vertex) - bound->offset + VIOLATION_MIN * size;
        if (value < least) {
            least = value;
            worst = i;
        }
    }
    if (worst < 0) {
        return 1;
    }
    int leaving = -1;
    double ratio = INFINITY;
    double shares[3];
    for (int i = 0; i < 3; ++i) {
        shares[i] = rbDot(program->bounds[worst].n, crosses[i]) / det;
        if (shares[i] > 1e-14 && program->multipliers[i] < ratio * shares[i]) {
            ratio = program->multipliers[i] / shares[i];
            leaving = i;
        }
    }
    if (leaving < 0) {
        return -1;
    }
    for (int i = 0; i < 3; ++i) {
        double rest = program->multipliers[i] - ratio * shares[i];
        program->multipliers[i] = rest > 0.0 ? rest : 0.0;
    }
    program->basis[leaving] = worst;
    program->multipliers[leaving] = ratio;
    return 0;
}

bool rbRayModel_Minimize(const rbRayModel* model, const double center[2], double width,
                         double place[2], double* lower)
{
    if (model->planeCount == 0) {
        return false;
    }
    Program program;
    fillProgram(&program, model, center, width);
    startBasis(&program, model);
    rbVec3 vertex = RB_VEC3_ZERO;
    int state = 0;
    for (int i = 0; i < EXCHANGES_MAX && state == 0; ++i) {
        state = exchange(&program, &vertex);
    }
    place[0] = vertex.x;
    place[1] = vertex.y;
    *lower = vertex.z;
    return state > 0 && rbIsFinite3(vertex);
}
