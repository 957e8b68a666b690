// What nature does not distinguish, the engines must not: units of mass, the names of the axes, the
// order in which bodies are created, and frames that move uniformly.
//
// Bodies of all shapes fly, meet and slide for a while. The same happens again in another
// description, and the results are compared. Units of mass that are powers of two change no bit.
// The others change the rounding, which a few collisions amplify, so 1e-7 remains; an error in a
// term, an axis or a side shows in the first digits.
#include "event_scenes.h"

#define BODIES 6
#define DURATION 0.25

// A description of the scene.
typedef struct View {
    rbEngineType engine;
    double unit;     // of mass, in kg
    bool isTurned;   // x, y, z are called y, z, x
    bool isReversed; // bodies are created from last to first
    bool isFree;     // without gravity and ground
    rbVec3 boost;    // m/s, of the bodies against the frame
} View;

typedef struct Outcome {
    rbBodyState states[BODIES];
    rbLedger ledger;
    int eventCount;
} Outcome;

static rbVec3 turn(const View* view, rbVec3 v)
{
    return view->isTurned ? rbMakeVec3(v.z, v.x, v.y) : v;
}

static rbVec3 turnBack(const View* view, rbVec3 v)
{
    return view->isTurned ? rbMakeVec3(v.y, v.z, v.x) : v;
}

static rbGeometry* makeShapeOf(int index)
{
    switch (index) {
    case 0:
        return rbCreateSphere(0.1, NULL);
    case 1:
        return rbCreateBox(rbMakeVec3(0.11, 0.07, 0.05), NULL);
    case 2:
        return rbCreateCapsule(0.06, 0.08, NULL);
    case 3:
        return rbCreateCylinder(0.08, 0.06, NULL);
    case 4:
        return rbCreateEllipsoid(rbMakeVec3(0.12, 0.07, 0.09), NULL);
    default:
        return rbCreateCone(0.09, 0.16, NULL);
    }
}

// Pairs that fly toward each other above the floor; the lower ones meet it.
static rbBodyId addOne(rbWorld* world, const View* view, int index)
{
    static const char* const names[BODIES] = {"a", "b", "c", "d", "e", "f"};
    const rbQuat quarter = {0.5, 0.5, 0.5, 0.5};
    rbRandom random = {1000u + (uint64_t)index};
    double side = index % 2 == 0 ? -1.0 : 1.0;
    int row = index / 2;
    rbVec3 place = {0.16 * side, 0.5 * row + 0.02 * side, 0.22 + 0.02 * index};
    rbVec3 velocity = {-1.2 * side, 0.1 * side, -0.8 - 0.2 * index};
    rbQuat any = {rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                  rbRandom_Symmetric(&random), rbRandom_Symmetric(&random)};
    rbQuat orientation = rbNormalizeQuat(any);
    rbBodyDef body = rbDefaultBodyDef();
    body.position = turn(view, place);
    body.orientation = view->isTurned ? rbMulQuat(quarter, orientation) : orientation;
    body.linearVelocity = turn(view, rbAdd(velocity, view->boost));
    body.angularVelocity = turn(view, anyVector(&random, 5.0));
    rbShapeDef shape = rbDefaultShapeDef();
    shape.material.density *= 1.0 / view->unit;
    shape.material.friction = 0.3;
    shape.material.restitution = 0.4;
    return addSolidOf(world, names[index], makeShapeOf(index), &body, &shape);
}

static void addGround(rbWorld* world, const View* view)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_STATIC;
    rbShapeDef shape = rbDefaultShapeDef();
    shape.material.friction = 0.5;
    shape.material.restitution = 0.6;
    rbVec3 up = turn(view, rbMakeVec3(0.0, 0.0, 1.0));
    (void)addSolidOf(world, "ground", rbCreatePlane(up, 0.0, NULL), &def, &shape);
}

static Outcome watch(const View* view)
{
    rbWorldDef def = defineWorld();
    def.engine = view->engine;
    def.step.tolerance = 1e-10;
    def.gravity = view->isFree ? RB_VEC3_ZERO : turn(view, rbMakeVec3(0.0, 0.0, -9.81));
    rbWorld* world = makeWorld(&def);
    rbBodyId ids[BODIES];
    if (!view->isFree && !view->isReversed) {
        addGround(world, view);
    }
    for (int i = 0; i < BODIES; ++i) {
        int index = view->isReversed ? BODIES - 1 - i : i;
        ids[index] = addOne(world, view, index);
    }
    if (!view->isFree && view->isReversed) {
        addGround(world, view);
    }
    Outcome outcome = {.eventCount = 0};
    for (int i = 1; i <= 5; ++i) {
        advance(world, DURATION * i / 5.0);
        int count = 0;
        (void)rbWorld_GetContactEvents(world, &count);
        outcome.eventCount += count;
    }
    for (int i = 0; i < BODIES; ++i) {
        outcome.states[i] = rbBody_GetState(world, ids[i]);
    }
    outcome.ledger = rbWorld_GetLedger(world);
    rbDestroyWorld(world);
    return outcome;
}

static void compareStates(const Outcome* first, const Outcome* other, const View* view,
                          double tolerance)
{
    rbVec3 moved = rbScale(DURATION, view->boost);
    for (int i = 0; i < BODIES; ++i) {
        const rbBodyState* p = &first->states[i];
        const rbBodyState* q = &other->states[i];
        rbVec3 place = rbSub(turnBack(view, q->center), moved);
        rbVec3 velocity = rbSub(turnBack(view, q->linearVelocity), view->boost);
        checkNear(rbDistance(place, p->center), 0.0, tolerance);
        checkNear(rbDistance(velocity, p->linearVelocity), 0.0, 100.0 * tolerance);
        checkNear(rbDistance(turnBack(view, q->angularVelocity), p->angularVelocity), 0.0,
                  1000.0 * tolerance);
        checkNear(rbDistance(q->angularVelocityLocal, p->angularVelocityLocal), 0.0,
                  1000.0 * tolerance);
    }
}

// Works of all causes, in units of the first description.
static void compareWorks(const Outcome* first, const Outcome* other, double unit, double tolerance)
{
    const rbLedger* p = &first->ledger;
    const rbLedger* q = &other->ledger;
    double most = tolerance * (fabs(p->impactWork) + fabs(p->frictionWork));
    checkNear(unit * q->impactWork, p->impactWork, most);
    checkNear(unit * q->frictionWork, p->frictionWork, most);
    checkNear(unit * q->microWork, p->microWork, most);
    checkNear(unit * q->settledWork, p->settledWork, most);
    checkNear(unit * q->lateWork, p->lateWork, most);
    checkNear(unit * q->partedWork, p->partedWork, most);
    assert_int_equal(other->eventCount, first->eventCount);
}

static const rbEngineType engines[] = {RB_ENGINE_EVENT, RB_ENGINE_STEP};

static void unitsOfMassChangeNoBit(void** state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        View view = {.engine = engines[k], .unit = 1.0};
        Outcome first = watch(&view);
        assert_true(fabs(first.ledger.impactWork) > 1.0); // J: they have met
        static const double units[] = {1024.0, 1.0 / 65536.0};
        for (int i = 0; i < 2; ++i) {
            view.unit = units[i];
            Outcome other = watch(&view);
            compareStates(&first, &other, &view, 0.0);
            compareWorks(&first, &other, view.unit, 0.0);
        }
    }
}

static void axesHaveNoNames(void** state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        View view = {.engine = engines[k], .unit = 1.0};
        Outcome first = watch(&view);
        view.isTurned = true;
        Outcome other = watch(&view);
        compareStates(&first, &other, &view, 1e-7);
        compareWorks(&first, &other, 1.0, 1e-6);
    }
}

static void orderOfCreationChangesNothing(void** state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        View view = {.engine = engines[k], .unit = 1.0};
        Outcome first = watch(&view);
        view.isReversed = true;
        Outcome other = watch(&view);
        compareStates(&first, &other, &view, 1e-7);
        compareWorks(&first, &other, 1.0, 1e-6);
    }
}

// Works of impulses differ between frames only by what they do on the uniform motion, which cancels
// between the two bodies.
static void movingFramesSeeTheSame(void** state)
{
    (void)state;
    for (int k = 0; k < 2; ++k) {
        View view = {.engine = engines[k], .unit = 1.0, .isFree = true};
        Outcome first = watch(&view);
        assert_true(fabs(first.ledger.impactWork) > 0.1);
        view.boost = rbMakeVec3(3.0, -2.0, 1.0);
        Outcome other = watch(&view);
        compareStates(&first, &other, &view, 1e-7);
        compareWorks(&first, &other, 1.0, 1e-6);
    }
}

RB_TEST_GROUP(prop_invariance, cmocka_unit_test(unitsOfMassChangeNoBit),
              cmocka_unit_test(axesHaveNoNames), cmocka_unit_test(orderOfCreationChangesNothing),
              cmocka_unit_test(movingFramesSeeTheSame));
