// Freezing of resting bodies, and everything that must wake them.
#include "base/core/memory.h"
#include "contact_scene.h"
#include "dynamics/contact/contact_freeze.h"
#include "rb_test.h"

#define SPEED 0.01
#define TIME 0.5
#define STEP 0.1

// The ground 0, a stack of boxes 1, 2, 3 on it, a ball 4 next to them, a fixed shelf 5, a box 6 on
// it.
typedef struct Rest {
    Scene scene;
    double radii[8];
    int links[1][2];
    rbContactGraph* graph;
    rbContactFreeze* freeze;
    rbContactNode node;
} Rest;

static void touch(Rest* rest, int a, int b)
{
    addSceneContact(&rest->scene, a, b, rbMakeVec3(0.0, 0.0, 1.0));
    addScenePoint(&rest->scene, RB_VEC3_ZERO);
}

static void beginRest(Rest* rest)
{
    memset(rest, 0, sizeof *rest);
    clearScene(&rest->scene);
    for (int i = 0; i < 7; ++i) {
        addSceneBall(&rest->scene, RB_VEC3_ZERO, i == 0 || i == 5 ? 0.0 : 1.0, 1.0);
        rest->radii[i] = 1.0;
    }
    for (int i = 0; i < 3; ++i) {
        touch(rest, i, i + 1);
    }
    touch(rest, 5, 6);
    rest->graph = rbCreateContactGraph();
    rest->freeze = rbCreateContactFreeze(SPEED, TIME);
}

static void endRest(Rest* rest)
{
    rbDestroyContactGraph(rest->graph);
    rbDestroyContactFreeze(rest->freeze);
}

// Finds contacts.
static void findRest(Rest* rest)
{
    Scene* scene = &rest->scene;
    rest->node = (rbContactNode){
        .set = &scene->set,
        .graph = rest->graph,
        .bodies = scene->bodies,
        .radii = rest->radii,
        .bodyCount = scene->bodyCount,
        .links = (const int(*)[2])rest->links,
        .linkCount = rest->node.linkCount,
    };
    for (int i = 0; i < scene->bodyCount; ++i) {
        scene->bodies[i].isFrozen = false; // as in an engine that registers them again
    }
    rest->node.islandCount =
        rbContactGraph_Build(rest->graph, &scene->set, scene->bodies, scene->bodyCount,
                             rest->node.links, rest->node.linkCount);
}

// Finds contacts and ends the step. Returns how many bodies woke.
static int stepRest(Rest* rest)
{
    Scene* scene = &rest->scene;
    findRest(rest);
    int woken = rbContactFreeze_WakeTouched(rest->freeze, &rest->node);
    rbContactFreeze_Update(rest->freeze, &rest->node, STEP);
    for (int i = 0; i < scene->bodyCount; ++i) {
        assert_true(scene->bodies[i].isFrozen == rbContactFreeze_IsFrozen(rest->freeze, i));
    }
    return woken;
}

static void restUntilFrozen(Rest* rest)
{
    for (int i = 0; i < 7; ++i) {
        stepRest(rest);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest->freeze), 4);
    for (int i = 0; i < 7; ++i) {
        bool isResting = (i >= 1 && i <= 3) || i == 6;
        assert_true(rbContactFreeze_IsFrozen(rest->freeze, i) == isResting);
    }
}

// Bodies may freeze before anything asked whether they must wake.
static void updatesKnowNewBodies(void** state)
{
    (void)state;
    static Rest rest;
    beginRest(&rest);
    for (int i = 0; i < 7; ++i) {
        findRest(&rest);
        (void)rbContactFreeze_Update(rest.freeze, &rest.node, STEP);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 4);
    endRest(&rest);
}

// B-94
static void slowIslandsStandStillAfterTheTime(void** state)
{
    (void)state;
    static Rest rest;
    beginRest(&rest);
    rest.scene.bodies[1].velocity.x = 0.006; // 0.006 + 1.0 * 0.003 < 0.01
    rest.scene.bodies[1].spin.y = 0.003;
    int steps = 0;
    while (rbContactFreeze_GetCount(rest.freeze) == 0 && steps < 100) {
        assert_int_equal(stepRest(&rest), 0);
        steps += 1;
    }
    assert_in_range(steps, 5, 6); // the sum of five steps of 0.1 s may be below 0.5 by rounding
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 4);
    checkNear(rest.scene.bodies[1].velocity.x, 0.0, 0.0);
    checkNear(rest.scene.bodies[1].spin.y, 0.0, 0.0);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(stepRest(&rest), 0);
    }
    endRest(&rest);

    // A point that is fast only because of the spin keeps its own island awake, not the other one.
    beginRest(&rest);
    rest.scene.bodies[2].spin.z = 0.011;
    for (int i = 0; i < 20; ++i) {
        stepRest(&rest);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 1);
    endRest(&rest);

    // Never: speed 0, and bodies without contacts.
    beginRest(&rest);
    rbDestroyContactFreeze(rest.freeze);
    rest.freeze = rbCreateContactFreeze(0.0, TIME);
    for (int i = 0; i < 20; ++i) {
        stepRest(&rest);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 0);
    endRest(&rest);
    beginRest(&rest);
    rest.scene.set.contactCount = 0;
    touch(&rest, 1, 2);
    for (int i = 0; i < 20; ++i) {
        stepRest(&rest);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 0);
    endRest(&rest);
}

// B-94
static void ballWakesTheStackWhenItTouches(void** state)
{
    (void)state;
    static Rest rest;
    beginRest(&rest);
    restUntilFrozen(&rest);
    rest.scene.bodies[4].velocity.z = -1.0;
    touch(&rest, 3, 4);
    rbContactPoint* point = &rest.scene.points[rest.scene.set.pointCount - 1];
    point->isClosed = false; // near, but not touching yet
    assert_int_equal(stepRest(&rest), 0);
    point->isClosed = true;
    assert_int_equal(stepRest(&rest), 3);
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 1);
    for (int i = 0; i < 20; ++i) {
        stepRest(&rest);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 1);
    rest.scene.bodies[4].velocity.z = 0.0;
    for (int i = 0; i < 7; ++i) {
        stepRest(&rest);
    }
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 5);
    endRest(&rest);
}

// B-94
static void whatMustWakeItWakesIt(void** state)
{
    (void)state;
    static Rest rest;
    enum {
        SUPPORT_GONE,
        SUPPORT_MOVES,
        SUPPORT_PLACED,
        LINKED,
        PUSHED,
        NAMED,
        ALL,
        CASES
    };
    static const int woken[CASES] = {3, 3, 3, 3, 3, 3, 4};
    for (int kind = 0; kind < CASES; ++kind) {
        beginRest(&rest);
        restUntilFrozen(&rest);
        switch (kind) {
        case SUPPORT_GONE: // contact 0 is with the ground
            rest.scene.contacts[0] = rest.scene.contacts[3];
            rest.scene.set.contactCount = 3;
            break;
        case SUPPORT_MOVES:
            rest.scene.bodies[0].velocity.x = 1e-9;
            break;
        case SUPPORT_PLACED:
            rbContactFreeze_Wake(rest.freeze, 0);
            break;
        case LINKED: // to the ball, which is awake
            rest.links[0][0] = 2;
            rest.links[0][1] = 4;
            rest.node.linkCount = 1;
            break;
        case PUSHED:
            rest.scene.bodies[3].spin.x = 1e-9;
            break;
        case NAMED:
            rbContactFreeze_Wake(rest.freeze, 2);
            assert_false(rbContactFreeze_IsFrozen(rest.freeze, 1));
            break;
        default:
            rbContactFreeze_WakeAll(rest.freeze);
            break;
        }
        assert_int_equal(stepRest(&rest), woken[kind]);
        assert_false(rest.scene.bodies[2].isFrozen);
        // A body woken by a change rests again later; a moving support keeps it awake.
        rest.scene.bodies[3].spin.x = 0.0;
        for (int i = 0; i < 7; ++i) {
            stepRest(&rest);
        }
        bool isAwake = kind == SUPPORT_GONE || kind == SUPPORT_MOVES;
        assert_true(rest.scene.bodies[2].isFrozen == !isAwake);
        endRest(&rest);
    }
}

// False: the bytes are refused.
static bool loadFreeze(rbContactFreeze* freeze, const char* bytes, size_t size)
{
    RB_GUARD(guard, NULL)
    {
        return false;
    }
    rbByteStream stream = {.bytes = (char*)bytes, .capacity = size, .isLoading = true};
    rbContactFreeze_Move(freeze, &stream);
    return stream.size == size;
}

// B-94
static void snapshotOfFrozenBodiesIsRestored(void** state)
{
    (void)state;
    static Rest rest;
    beginRest(&rest);
    restUntilFrozen(&rest);
    rbByteStream counting = {0};
    rbContactFreeze_Move(rest.freeze, &counting);
    size_t size = counting.size;
    char* bytes = rbAlloc(size);
    rbContactFreeze_Move(rest.freeze, &(rbByteStream){.bytes = bytes});
    rbContactFreeze_WakeAll(rest.freeze);
    assert_int_equal(stepRest(&rest), 4);
    assert_false(loadFreeze(rest.freeze, bytes, size - 1));
    assert_true(loadFreeze(rest.freeze, bytes, size));
    assert_int_equal(rbContactFreeze_GetCount(rest.freeze), 4);
    assert_int_equal(stepRest(&rest), 0);
    rbFree(bytes, size);
    endRest(&rest);
}

RB_TEST_GROUP(test_contact_freeze, cmocka_unit_test(updatesKnowNewBodies),
              cmocka_unit_test(slowIslandsStandStillAfterTheTime),
              cmocka_unit_test(ballWakesTheStackWhenItTouches),
              cmocka_unit_test(whatMustWakeItWakesIt),
              cmocka_unit_test(snapshotOfFrozenBodiesIsRestored));
