// Islands and levels against a slow second algorithm, and on a wall of bricks.
#include "contact_scene.h"
#include "dynamics/contact/contact_graph.h"
#include "rb_test.h"

#include <rattleback/base.h>

#define LINKS_MAX 64
#define FAR 1000000

typedef struct Network {
    Scene scene;
    int links[LINKS_MAX][2];
    int linkCount;
} Network;

static void joinBodies(Scene* scene, int a, int b)
{
    addSceneContact(scene, a, b, rbMakeVec3(0.0, 0.0, 1.0));
    addScenePoint(scene, RB_VEC3_ZERO);
}

static void makeNetwork(Network* network, rbRandom* random)
{
    Scene* scene = &network->scene;
    clearScene(scene);
    int count = 1 + rbRandom_Index(random, 40);
    for (int i = 0; i < count; ++i) {
        addSceneBall(scene, RB_VEC3_ZERO, rbRandom_Index(random, 8) == 0 ? 0.0 : 1.0, 1.0);
        scene->bodies[i].isFrozen = rbRandom_Index(random, 8) == 0; // makes no difference
    }
    int contacts = rbRandom_Index(random, 2 * count);
    for (int i = 0; i < contacts && count > 1; ++i) {
        int a = rbRandom_Index(random, count);
        int b = (a + 1 + rbRandom_Index(random, count - 1)) % count;
        joinBodies(scene, a, b);
    }
    network->linkCount = rbRandom_Index(random, 6);
    for (int i = 0; i < network->linkCount; ++i) {
        network->links[i][0] = rbRandom_Index(random, count);
        network->links[i][1] = rbRandom_Index(random, count + 1) - 1;
    }
}

static void getEdge(const Network* network, int index, int edge[2])
{
    const rbContactSet* set = &network->scene.set;
    bool isLink = index >= set->contactCount;
    const int* link = network->links[isLink ? index - set->contactCount : 0];
    edge[0] = isLink ? link[0] : set->contacts[index].bodyA;
    edge[1] = isLink ? link[1] : set->contacts[index].bodyB;
}

static bool isFixed(const Network* network, int body)
{
    return body < 0 || network->scene.masses[body] == 0.0;
}

static void relaxBody(const Network* network, int own, int other, int* islands, int* levels)
{
    if (isFixed(network, own)) {
        return;
    }
    bool isHeld = isFixed(network, other);
    int island = isHeld || islands[other] < 0 || own < islands[other] ? own : islands[other];
    int level = isHeld ? FAR : levels[other] + 1;
    islands[own] = islands[own] < 0 || island < islands[own] ? island : islands[own];
    levels[own] = level < levels[own] ? level : levels[own];
}

// Edges relaxed until nothing changes.
static void relaxAll(const Network* network, int* islands, int* levels)
{
    int edges = network->scene.set.contactCount + network->linkCount;
    for (int pass = 0; pass < network->scene.bodyCount + 2; ++pass) {
        for (int k = 0; k < edges; ++k) {
            int edge[2];
            getEdge(network, k, edge);
            relaxBody(network, edge[0], edge[1], islands, levels);
            relaxBody(network, edge[1], edge[0], islands, levels);
        }
    }
}

// Island = least reachable body, -1 without edges. Level = least distance from an immovable body,
// over contacts; if there is none, over links to one; otherwise from the least body.
static void findSlowly(const Network* network, int* islands, int* levels)
{
    const int contacts = network->scene.set.contactCount;
    const int starts[3] = {0, contacts, contacts + network->linkCount};
    int count = network->scene.bodyCount;
    for (int i = 0; i < count; ++i) {
        islands[i] = -1;
        levels[i] = FAR;
    }
    for (int kind = 0; kind < 2; ++kind) {
        int held[SCENE_BODIES_MAX] = {0};
        for (int k = starts[kind]; k < starts[kind + 1]; ++k) {
            int edge[2];
            getEdge(network, k, edge);
            for (int side = 0; side < 2; ++side) {
                if (isFixed(network, edge[1 - side]) && !isFixed(network, edge[side])) {
                    held[edge[side]] = levels[edge[side]] == FAR ? 1 : 0;
                }
            }
        }
        for (int i = 0; i < count; ++i) {
            levels[i] = held[i] != 0 ? 1 : levels[i];
        }
        relaxAll(network, islands, levels);
    }
    for (int i = 0; i < count; ++i) {
        levels[i] = islands[i] == i && levels[i] == FAR ? 0 : levels[i];
    }
    relaxAll(network, islands, levels);
}

static void checkIslands(const Network* network, const rbContactGraph* graph, int islandCount,
                         const int* islands)
{
    int bodies = 0;
    int contacts = 0;
    int lastLeast = -1;
    for (int i = 0; i < islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(graph, i);
        assert_true(island.bodyCount > 0);
        assert_non_null(island.contacts);
        int least = island.bodies[0];
        assert_true(least > lastLeast);
        lastLeast = least;
        for (int k = 0; k < island.bodyCount; ++k) {
            assert_true(k == 0 || island.bodies[k] > island.bodies[k - 1]);
            assert_int_equal(islands[island.bodies[k]], least);
            assert_int_equal(rbContactGraph_FindIsland(graph, island.bodies[k]), i);
        }
        int level = 1;
        int index = -1;
        for (int k = 0; island.contacts != NULL && k < island.contactCount; ++k) {
            const rbContact* contact = &network->scene.contacts[island.contacts[k]];
            int body = isFixed(network, contact->bodyA) ? contact->bodyB : contact->bodyA;
            assert_int_equal(islands[body], least);
            bool isNext = contact->level > level;
            assert_true(isNext || (contact->level == level && island.contacts[k] > index));
            level = contact->level;
            index = island.contacts[k];
        }
        bodies += island.bodyCount;
        contacts += island.contactCount;
    }
    for (int i = 0; i < network->scene.bodyCount; ++i) {
        bodies -= islands[i] >= 0;
        assert_true((islands[i] >= 0) == (rbContactGraph_FindIsland(graph, i) >= 0));
    }
    for (int i = 0; i < network->scene.set.contactCount; ++i) {
        const rbContact* contact = &network->scene.contacts[i];
        contacts -= !(isFixed(network, contact->bodyA) && isFixed(network, contact->bodyB));
    }
    assert_int_equal(bodies, 0);
    assert_int_equal(contacts, 0);
}

// B-73
static void islandsAndLevelsAgreeWithRelaxation(void** state)
{
    (void)state;
    static Network network;
    static int islands[SCENE_BODIES_MAX];
    static int levels[SCENE_BODIES_MAX];
    rbRandom random = {rbTest_Seed(0x97a9)};
    rbContactGraph* graph = rbCreateContactGraph();
    int count = rbTest_Count(2000, 50000);
    for (int i = 0; i < count; ++i) {
        makeNetwork(&network, &random);
        Scene* scene = &network.scene;
        const int(*links)[2] = (const int(*)[2])network.links;
        int islandCount = rbContactGraph_Build(graph, &scene->set, scene->bodies, scene->bodyCount,
                                               links, network.linkCount);
        findSlowly(&network, islands, levels);
        for (int k = 0; k < scene->set.contactCount; ++k) {
            const rbContact* contact = &scene->contacts[k];
            int a = isFixed(&network, contact->bodyA) ? 0 : levels[contact->bodyA];
            int b = isFixed(&network, contact->bodyB) ? 0 : levels[contact->bodyB];
            assert_int_equal(contact->level, a > b ? a : b);
        }
        for (int k = 0; k < islandCount; ++k) {
            rbContactIsland island = rbContactGraph_GetIsland(graph, k);
            assert_true(island.isGrounded == (levels[island.bodies[0]] > 0));
        }
        checkIslands(&network, graph, islandCount, islands);
    }
    rbDestroyContactGraph(graph);
}

// Course upon course in running bond, bricks of a course touching: one level per course. The levels
// of cycles as printed would merge them into one.
// B-73
static void everyCourseOfAWallIsALevel(void** state)
{
    (void)state;
    static Scene scene;
    enum {
        COURSES = 12,
        BRICKS = 10
    };
    clearScene(&scene);
    addSceneBall(&scene, RB_VEC3_ZERO, 0.0, 1.0);
    for (int i = 0; i < COURSES * BRICKS; ++i) {
        addSceneBall(&scene, RB_VEC3_ZERO, 1.0, 1.0);
    }
    for (int course = COURSES - 1; course >= 0; --course) {
        for (int k = 0; k < BRICKS; ++k) {
            int brick = 1 + course * BRICKS + k;
            int below = course == 0 ? 0 : brick - BRICKS;
            int shift = course % 2 == 0 ? -1 : 1;
            bool isInside = k + shift >= 0 && k + shift < BRICKS;
            joinBodies(&scene, below, brick);
            if (course > 0 && isInside) {
                joinBodies(&scene, below + shift, brick);
            }
            if (k + 1 < BRICKS) {
                joinBodies(&scene, brick, brick + 1);
            }
        }
    }
    rbContactGraph* graph = rbCreateContactGraph();
    int count = rbContactGraph_Build(graph, &scene.set, scene.bodies, scene.bodyCount, NULL, 0);
    assert_int_equal(count, 1);
    rbContactIsland island = rbContactGraph_GetIsland(graph, 0);
    int last = island.contacts[island.contactCount - 1];
    assert_int_equal(scene.contacts[last].level, COURSES);
    assert_int_equal(island.contactCount, scene.set.contactCount);
    assert_true(island.isGrounded);
    for (int i = 0; i < scene.set.contactCount; ++i) {
        const rbContact* contact = &scene.contacts[i];
        assert_int_equal(contact->level, 1 + (contact->bodyB - 1) / BRICKS);
    }
    rbDestroyContactGraph(graph);
}

// Ten contacts among a hundred thousand bodies: earlier builds leave no trace, and a second build
// allocates nothing.
// B-73
static void fewContactsAmongManyBodiesAreFound(void** state)
{
    (void)state;
    enum {
        BODIES = 100000
    };
    static rbContactBody bodies[BODIES];
    static Scene scene;
    for (int i = 0; i < BODIES; ++i) {
        bodies[i].invMass = 1.0;
    }
    rbRandom random = {rbTest_Seed(0xfe3)};
    rbContactGraph* graph = rbCreateContactGraph();
    uint64_t before = 0;
    for (int pass = 0; pass < 200; ++pass) {
        clearScene(&scene);
        scene.bodyCount = 1;
        for (int i = 0; i < 10; ++i) {
            addSceneContact(&scene, 0, 0, rbMakeVec3(0.0, 0.0, 1.0));
            scene.contacts[i].bodyA = rbRandom_Index(&random, BODIES - 1);
            scene.contacts[i].bodyB = BODIES - 1;
        }
        int count = rbContactGraph_Build(graph, &scene.set, bodies, BODIES, NULL, 0);
        assert_int_equal(count, 1);
        rbContactIsland island = rbContactGraph_GetIsland(graph, 0);
        assert_int_equal(island.contactCount, 10);
        assert_int_equal(island.bodies[island.bodyCount - 1], BODIES - 1);
        assert_int_equal(rbContactGraph_FindIsland(graph, scene.contacts[3].bodyA), 0);
        before = pass == 20 ? rbGetAllocationCount() : before;
    }
    assert_int_equal(rbGetAllocationCount(), before);
    clearScene(&scene);
    assert_int_equal(rbContactGraph_Build(graph, &scene.set, bodies, BODIES, NULL, 0), 0);
    for (int i = 0; i < BODIES; ++i) {
        assert_int_equal(rbContactGraph_FindIsland(graph, i), -1);
    }
    rbDestroyContactGraph(graph);
}

RB_TEST_GROUP(oracle_contact_graph, cmocka_unit_test(islandsAndLevelsAgreeWithRelaxation),
              cmocka_unit_test(everyCourseOfAWallIsALevel),
              cmocka_unit_test(fewContactsAmongManyBodiesAreFound));
