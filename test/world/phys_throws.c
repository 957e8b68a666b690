// Random pairs of all shapes thrown at each other without gravity: collisions never give energy,
// and elastic ones without friction keep it.
#include "arrival_scenes.h"
#include "base/core/random.h"
#include "base/math/elementary.h"

#include <math.h>

#define THROWS 100
#define THROWS_FULL 12000
#define RANDOM_THROWS 242 // each pair of shapes twice
#define RANDOM_THROWS_FULL 100000
#define ROUNDING 1e-9           // of the energy: less is not a gain
#define MOMENTUM_ROUNDING 1e-10 // kg m/s, of throws with some 10
#define FINE_MOST 1e-5          // of the energy, in a step of up to 1 ms
#define COARSE_MOST 1e-2        // and above
#define PUSHES_PER_THROWS 20000 // at most one beyond the bound in this many: none at level long
#define SHAPES 11
#define TURN_PART 1.0
#define COMPOUND 7 // of the shapes below

static rbVec3 drawVector(rbRandom* random, double half)
{
    double x = half * rbRandom_Symmetric(random);
    double y = half * rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, half * rbRandom_Symmetric(random));
}

static rbQuat drawTurn(rbRandom* random)
{
    double w = rbRandom_Symmetric(random);
    rbVec3 v = drawVector(random, 1.0);
    return rbNormalizeQuat((rbQuat){w, v.x, v.y, v.z});
}

// An L, a T or a bowl of boxes: not convex.
static rbGeometry* makeCompound(rbRandom* random, double size)
{
    double thick = size * rbRandom_Range(random, 0.1, 0.3);
    rbGeometry* beam = rbCreateBox(rbMakeVec3(size, thick, 0.5 * size), NULL);
    rbGeometry* leg = rbCreateBox(rbMakeVec3(thick, 0.5 * size, 0.5 * size), NULL);
    rbCompoundChild children[2] = {{beam, RB_TRANSFORM_IDENTITY, 0.0},
                                   {leg, RB_TRANSFORM_IDENTITY, 0.0}};
    children[1].transform.p =
        rbMakeVec3(size * rbRandom_Symmetric(random), 0.5 * size + thick, 0.0);
    rbGeometry* compound = rbCreateCompound(children, 2, NULL);
    rbDestroyGeometry(beam);
    rbDestroyGeometry(leg);
    return compound;
}

static rbGeometry* makeHull(rbRandom* random, double size)
{
    rbVec3 points[12];
    for (int i = 0; i < 12; ++i) {
        points[i] = drawVector(random, size);
    }
    return rbCreateHull(points, 12, NULL);
}

static rbGeometry* makeMeshBox(rbVec3 half)
{
    rbVec3 vertices[8];
    for (int i = 0; i < 8; ++i) {
        vertices[i] = rbMakeVec3((i & 1) != 0 ? half.x : -half.x, (i & 2) != 0 ? half.y : -half.y,
                                 (i & 4) != 0 ? half.z : -half.z);
    }
    static const int sizes[6] = {4, 4, 4, 4, 4, 4};
    static const int indices[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                    2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    return rbCreateMesh(&(rbMeshDef){vertices, 8, sizes, indices, 6}, NULL);
}

static const char* const shapeNames[SHAPES] = {"sphere", "box",       "capsule", "cylinder",
                                               "cone",   "ellipsoid", "hull",    "compound",
                                               "plate",  "rod",       "mesh"};

static rbGeometry* drawShape(rbRandom* random, int kind, double size)
{
    double part = rbRandom_Range(random, 0.3, 1.0);
    double other = rbRandom_Range(random, 0.3, 1.0);
    switch (kind) {
    case 0:
        return rbCreateSphere(size, NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(size, part * size, other * size), NULL);
    case 2:
        return rbCreateCapsule(part * size, other * size, NULL);
    case 3:
        return rbCreateCylinder(part * size, other * size, NULL);
    case 4:
        return rbCreateCone(part * size, 2.0 * other * size, NULL);
    case 5:
        return rbCreateEllipsoid(rbMakeVec3(size, part * size, other * size), NULL);
    case 6:
        return makeHull(random, size);
    case 7:
        return makeCompound(random, size);
    case 8:
        return rbCreateBox(rbMakeVec3(size, part * size, 0.05 * size), NULL);
    case 9:
        return rbCreateBox(rbMakeVec3(size, 0.06 * size, 0.1 * size), NULL);
    default:
        return makeMeshBox(rbMakeVec3(size, part * size, other * size));
    }
}

typedef struct Throw {
    double step;
    double restitution;
    double friction;
    rbImpactLaw law;
    bool isFixed; // the second body does not move
} Throw;

typedef struct Thrown {
    double before, after; // J
    double rise, fall;    // largest in a step with contacts, relative to the energy before
    double given;         // largest in a step by collisions alone, relative likewise
    double momentum;      // its change, kg m/s
    int64_t collisions;
    int64_t unmet;
    int64_t raises; // by Newton's law
} Thrown;

// Bodies that stay in contact while they rotate by an angle in a step exchange energy with the
// contact and get it back, to second order in the angle.
static double turnError(const rbWorld* world, const rbBodyId ids[2], double h)
{
    double turn = 0.0;
    for (int i = 0; i < 2; ++i) {
        turn = fmax(turn, h * rbLength(rbBody_GetState(world, ids[i]).angularVelocity));
    }
    return TURN_PART * turn * turn;
}

// Energy that the impacts in the journal gave, J; empties it.
static double takeChanges(rbWorld* world)
{
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += events[i].kind == RB_EVENT_IMPACT ? events[i].energyChange : 0.0;
    }
    rbWorld_ClearEvents(world);
    return sum;
}

// kinds: negative are drawn.
static Thrown throwPair(uint64_t seed, const Throw* t, int kinds[2])
{
    rbRandom random = {seed};
    rbWorldDef def = defineArrivals(t->step, RB_CONTACT_TIME_STEP);
    def.gravity = RB_VEC3_ZERO;
    def.contact.law = t->law;
    rbWorld* world = makeArrivalWorld(&def);
    rbBodyId ids[2];
    rbVec3 side = rbNormalize(drawVector(&random, 1.0));
    for (int i = 0; i < 2; ++i) {
        int drawn = (int)rbRandom_Index(&random, SHAPES);
        kinds[i] = kinds[i] < 0 ? drawn : kinds[i];
        double size = rbRandom_Range(&random, 0.1, 0.3);
        rbError error = {0};
        rbBodyDef body = rbDefaultBodyDef();
        body.position = rbScale(i == 0 ? -0.8 : 0.8, side);
        body.orientation = drawTurn(&random);
        rbVec3 aim = drawVector(&random, 0.15);
        rbVec3 toward = rbNormalize(rbSub(aim, body.position));
        body.linearVelocity = rbScale(rbRandom_Range(&random, 0.5, 4.0), toward);
        body.angularVelocity = drawVector(&random, 6.0);
        if (i == 1 && t->isFixed) {
            body.type = RB_BODY_STATIC;
            body.linearVelocity = RB_VEC3_ZERO;
            body.angularVelocity = RB_VEC3_ZERO;
        }
        ids[i] = rbCreateBody(world, &body, &error);
        rbShapeDef shape = rbDefaultShapeDef();
        shape.geometry = rbWorld_AddGeometry(world, drawShape(&random, kinds[i], size));
        shape.material.restitution = t->restitution;
        shape.material.friction = t->friction;
        if (RB_IS_NULL(ids[i]) || RB_IS_NULL(rbCreateShape(world, ids[i], &shape, &error))) {
            fail_msg("%s", error.message);
        }
    }
    rbLedger start = rbWorld_GetLedger(world);
    Thrown thrown = {.before = start.energy};
    thrown.after = thrown.before;
    bool hasContact = false;
    int steps = (int)ceil(1.0 / t->step);
    for (int k = 1; k <= steps; ++k) {
        (void)rbWorld_AdvanceTo(world, t->step * k);
        double energy = rbWorld_GetLedger(world).energy;
        rbContactStatistics s = rbWorld_GetContactStatistics(world);
        if (s.collisions != thrown.collisions || s.contactCount > 0) {
            double change = (energy - thrown.after) / thrown.before;
            double allowed = hasContact ? turnError(world, ids, t->step) : 0.0;
            thrown.rise = fmax(thrown.rise, change - allowed);
            thrown.fall = fmax(thrown.fall, -change - allowed);
        }
        thrown.given = fmax(thrown.given, takeChanges(world) / thrown.before);
        hasContact = s.contactCount > 0;
        thrown.collisions = s.collisions;
        thrown.unmet = s.unmetSteps;
        thrown.raises = s.energyRaises;
        thrown.after = energy;
    }
    rbLedger end = rbWorld_GetLedger(world);
    thrown.momentum = rbLength(rbSub(end.momentum, start.momentum));
    rbDestroyWorld(world);
    return thrown;
}

// A row of throws. Bounds are relative to the energy before, for a step with contacts.
typedef struct ThrowRow {
    Throw thrown;
    double bound; // of rises, and of falls where energy is kept
    double most;
    int perThrows; // at most one beyond the bound in this many
    int kind;      // -1: all shapes
} ThrowRow;

static void throwMany(const ThrowRow* row, int count, uint64_t seed)
{
    const Throw* t = &row->thrown;
    bool isKept = t->restitution == 1.0 && t->friction == 0.0;
    int hits = 0, beyond = 0, unmet = 0;
    double rise = 0.0, fall = 0.0;
    for (int i = 0; i < count; ++i) {
        int kinds[2] = {row->kind, row->kind};
        Thrown thrown = throwPair(seed + (uint64_t)i, t, kinds);
        double change = isKept ? fmax(thrown.rise, thrown.fall) : thrown.rise;
        hits += thrown.after != thrown.before;
        unmet += thrown.unmet > 0;
        rise = fmax(rise, thrown.rise);
        fall = fmax(fall, isKept ? thrown.fall : 0.0);
        beyond += change > row->bound;
        if (!(change <= row->most)) {
            fail_msg(
                "throw %d (seed %llu), %s and %s, restitution %g, friction %g, %g s: the energy "
                "changes by %g of what it was",
                i, (unsigned long long)seed, shapeNames[kinds[0]], shapeNames[kinds[1]],
                t->restitution, t->friction, t->step, change);
        }
    }
    print_message(
        "restitution %g, friction %g, %g s: %d of %d hit, energy rises by at most %.2g, "
        "falls by %.2g where it is kept; %d beyond %g; %d missed a tolerance and said so\n",
        t->restitution, t->friction, t->step, hits, count, rise, fall, beyond, row->bound, unmet);
    assert_true(hits > count / 2);
    assert_true(beyond <= count / row->perThrows);
}

static void collisionsNeverGiveEnergy(void** state)
{
    (void)state;
    static const ThrowRow rows[] = {
        {{1e-3, 0.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-5, 1e-4, 1000, -1},
        {{1e-3, 1.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-6, 1e-6, 1000, -1},
        {{1e-3, 0.5, 0.5, RB_IMPACT_STRONGE, false}, 1e-6, 1e-5, 1000, -1},
        {{1e-2, 0.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-3, 5e-2, 500, -1},
        {{1e-2, 1.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-3, 5e-2, 500, -1},
        {{1e-2, 0.5, 0.5, RB_IMPACT_STRONGE, false}, 1e-3, 5e-2, 500, -1},
        {{1e-3, 0.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-5, 1e-4, 1000, COMPOUND},
        {{1e-3, 1.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-6, 1e-6, 1000, COMPOUND},
        {{1e-4, 1.0, 0.0, RB_IMPACT_STRONGE, false}, 1e-6, 1e-6, 1000, -1},
    };
    uint64_t seed = rbTest_Seed(0x7420);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        int count = rbTest_Count(THROWS, THROWS_FULL);
        throwMany(&rows[i], rows[i].thrown.step < 1e-3 ? count / 10 : count, seed + i * 1000000);
    }
}

// A throw of any two shapes, materials, laws and steps of 0.1 to 10 ms.
static Throw drawThrow(rbRandom* random, int i, int kinds[2])
{
    static const rbImpactLaw laws[4] = {RB_IMPACT_STRONGE, RB_IMPACT_STRONGE, RB_IMPACT_POISSON,
                                        RB_IMPACT_NEWTON};
    kinds[0] = i % SHAPES;
    kinds[1] = i / SHAPES % SHAPES;
    double e = rbRandom_Range(random, -0.3, 1.3);
    Throw t = {.step = 1e-4 * rbExp(rbRandom_Unit(random) * rbLog(100.0)),
               .restitution = e < 0.0 ? 0.0 : fmin(e, 1.0),
               .friction = fmax(0.0, rbRandom_Range(random, -0.5, 1.0)),
               .law = laws[rbRandom_Index(random, 4)]};
    return t;
}

// Collisions never give energy, but by Newton's law, which says so; elastic ones without friction
// keep it. Lasting contacts of rotating bodies give no more than they took within their turn.
static void anyPairAtAnyStepNeverGainsEnergy(void** state)
{
    (void)state;
    uint64_t seed = rbTest_Seed(0x7421);
    int count = rbTest_Count(RANDOM_THROWS, RANDOM_THROWS_FULL);
    int hits = 0, raised = 0, kept = 0, pushed = 0;
    double given = 0.0, push = 0.0, change = 0.0;
    for (int i = 0; i < count; ++i) {
        rbRandom random = {seed + (uint64_t)i};
        int kinds[2];
        Throw t = drawThrow(&random, i, kinds);
        Thrown thrown = throwPair(random.state, &t, kinds);
        bool isKept = t.restitution == 1.0 && t.friction == 0.0;
        bool isFine = t.step <= 1e-3;
        double bound = isFine ? 1e-6 : 1e-3;
        double most = isFine && isKept ? bound : isFine ? FINE_MOST : COARSE_MOST;
        double own = fmax(thrown.rise, isKept ? thrown.fall : 0.0);
        hits += thrown.after != thrown.before;
        kept += isKept;
        change = fmax(change, isKept ? own / bound : 0.0);
        if (thrown.raises > 0) {
            assert_int_equal(t.law, RB_IMPACT_NEWTON);
            raised += 1;
            continue;
        }
        given = fmax(given, thrown.given);
        push = fmax(push, own / bound);
        pushed += own > bound;
        if (thrown.given > ROUNDING || own > most) {
            fail_msg("throw %d (seed %llu), %s and %s, restitution %g, friction %g, law %s, %g s: "
                     "collisions give %g, the energy changes by %g of what it was",
                     i, (unsigned long long)seed, shapeNames[kinds[0]], shapeNames[kinds[1]],
                     t.restitution, t.friction, rbImpactLaw_Name(t.law), t.step, thrown.given, own);
        }
    }
    print_message(
        "%d of %d hit; collisions give at most %.2g; of %d elastic ones the energy "
        "changes by at most %.2g bounds; %d change beyond the bound, by at most %.3g bounds; "
        "newton raised it in %d\n",
        hits, count, given, kept, change, pushed, push, raised);
    assert_true(hits > count / 2);
    assert_true(raised > 0 || count < 4000); // otherwise the test could not detect one
    assert_true(pushed <= count / PUSHES_PER_THROWS);
}

// Throws whose bodies overlap within the shell after bounces and then slide on each other: while
// the speed that undid the overlap stayed, they gained 1e-5 to 1e-4 of their energy in a step.
static void overlapIsUndoneWithoutEnergy(void** state)
{
    (void)state;
    static const int draws[] = {1242, 1910, 2244, 50467, 51865};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; ++i) {
        rbRandom random = {0x7b123866a0eb411e + (uint64_t)draws[i]};
        int kinds[2];
        Throw t = drawThrow(&random, draws[i], kinds);
        Thrown thrown = throwPair(random.state, &t, kinds);
        assert_true(thrown.collisions > 0);
        checkBelow(thrown.rise, 1e-7);
    }
    int kinds[2] = {-1, -1};
    Throw t = {1e-3, 0.5, 0.5, RB_IMPACT_STRONGE, false};
    Thrown thrown = throwPair(0x4ddddf6d6750ce1b + 2006431, &t, kinds);
    checkBelow(thrown.rise, 1e-7);
}

// Throws whose bodies slide and roll on each other along curves and sink by what their rows do not
// know of. When they came out again, the force between them gave up to 5e-5 of the energy. What
// is taken from them instead leaves their momentum.
static void comingOutGivesNoEnergy(void** state)
{
    (void)state;
    static const int draws[] = {527, 839, 890, 9669, 34081, 326};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; ++i) {
        rbRandom random = {0x7b123866a0eb411e + (uint64_t)draws[i]};
        int kinds[2];
        Throw t = drawThrow(&random, draws[i], kinds);
        t.isFixed = draws[i] == 326;
        Thrown thrown = throwPair(random.state, &t, kinds);
        assert_true(thrown.after < thrown.before);
        checkBelow(thrown.rise, 1e-6);
        if (!t.isFixed) {
            checkBelow(thrown.momentum, MOMENTUM_ROUNDING);
        }
    }
}

RB_TEST_GROUP(phys_throws, cmocka_unit_test(collisionsNeverGiveEnergy),
              cmocka_unit_test(overlapIsUndoneWithoutEnergy),
              cmocka_unit_test(comingOutGivesNoEnergy),
              cmocka_unit_test(anyPairAtAnyStepNeverGainsEnergy));
