// Domains: what ranks know of each other, and that nobody can tell from the bits how many there
// are.
#include "base/core/hash.h"
#include "cluster/law.h"
#include "cluster_worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rbClusterReport runGas(rbRanks* ranks, const rbTestGas* gas, int64_t steps)
{
    rbCluster* cluster = rbCreateTestGas(ranks, gas);
    rbAdvanceCluster(cluster, steps);
    rbClusterReport report = rbCluster_GetReport(cluster);
    rbDestroyCluster(cluster);
    return report;
}

static rbClusterReport runHeap(rbRanks* ranks, const rbTestHeap* heap, int64_t steps)
{
    rbCluster* cluster = rbCreateTestHeap(ranks, heap);
    rbAdvanceCluster(cluster, steps);
    rbClusterReport report = rbCluster_GetReport(cluster);
    rbDestroyCluster(cluster);
    return report;
}

static void expectSameRun(const rbClusterReport* a, const rbClusterReport* b)
{
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->bodies, b->bodies);
    assert_int_equal(a->contacts, b->contacts);
    assert_int_equal(a->collisions, b->collisions);
    assert_int_equal(a->colors, b->colors);
    assert_memory_equal(&a->virial, &b->virial, sizeof(double));
    assert_memory_equal(&a->kinetic, &b->kinetic, sizeof(double));
    assert_memory_equal(&a->potential, &b->potential, sizeof(double));
    assert_memory_equal(&a->momentum, &b->momentum, sizeof(rbVec3));
    assert_memory_equal(&a->penetrationMax, &b->penetrationMax, sizeof(double));
}

#define GAS_HASH 0xa8b4ea1d788231fbu

// G-02a, G-44: the same bits on 1 to all ranks, and with random owners every third step. The hash
// is that of gcc and clang, debug and release.
static void gasesHaveTheSameBitsOnAnyRanks(void** state)
{
    (void)state;
    rbRanks* all = rbTestRanks();
    rbTestGas gas = {.edge = 8, .stepPart = 0.05, .partition = "morton"};
    rbTestGas shuffled = {
        .edge = 8, .stepPart = 0.05, .partition = "random", .partitionInterval = 3};
    // the whole run, and one of a part of its ranks
    for (int count = (rbRanks_GetCount(all) + 1) / 2; count <= rbRanks_GetCount(all); count *= 2) {
        rbRanks* ranks = rbRanks_Take(all, count);
        if (ranks != NULL) {
            rbClusterReport report = runGas(ranks, &gas, 120);
            rbClusterReport other = runGas(ranks, &shuffled, 120);
            assert_int_equal(report.bodies, 512);
            assert_true(report.collisions > 512);
            expectSameRun(&report, &other);
            assert_true(other.repartitions >= 40);
            assert_true(count == 1 || (other.migrations > 512 && other.ghosts > 100));
            assert_int_equal(report.hash, GAS_HASH);
            rbCloseRanks(ranks);
        }
        rbRanks_Meet(all);
    }
}

#define HEAP_HASH 0x466785d0b8ae53bu

// G-02a: contacts with friction, warm start and a floor; colors and impulses are part of the hash.
static void heapsHaveTheSameBitsOnAnyRanks(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbTestHeap heap = {.edge = 4, .layers = 3, .friction = 0.5, .partition = "morton"};
    rbTestHeap shuffled = heap;
    shuffled.partition = "random";
    shuffled.partitionInterval = 7;
    rbClusterReport report = runHeap(ranks, &heap, 200);
    rbClusterReport other = runHeap(ranks, &shuffled, 200);
    assert_true(report.contacts > 50);
    assert_true(rbRanks_GetCount(ranks) == 1 || other.migrations > 48);
    expectSameRun(&report, &other);
    assert_int_equal(report.hash, HEAP_HASH);
}

// The margin and the balance are caches: they change no bit either.
static void cachesChangeNoBit(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbTestGas gas = {.edge = 6, .stepPart = 0.05, .partition = "morton"};
    rbTestGas often = {.edge = 6, .stepPart = 0.05, .partition = "morton", .partitionInterval = 1};
    rbClusterReport report = runGas(ranks, &gas, 60);
    rbClusterReport other = runGas(ranks, &often, 60);
    expectSameRun(&report, &other);
    assert_true(other.rebuilds > report.rebuilds);
}

// G-02a: contacts of all ranks are those of all pairs, measured one by one on rank 0, each counted
// once.
static void contactsAreThoseOfAllPairs(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbTestGas gas = {.edge = 7, .stepPart = 0.1, .partition = "random", .partitionInterval = 5};
    rbCluster* cluster = rbCreateTestGas(ranks, &gas);
    int64_t total = 0;
    for (int k = 0; k < 15; ++k) {
        rbAdvanceCluster(cluster, 4);
        rbDomain* domain = &cluster->domain;
        rbDomain_Rebuild(domain);
        rbDomain_FindContacts(domain);
        assert_int_equal(rbDomain_ColorContacts(domain, NULL), RB_STATUS_OK);
        rbClusterReport report = rbCluster_GetReport(cluster);
        int count = 0;
        rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
        if (rbRanks_GetIndex(ranks) == 0) {
            assert_int_equal(count, 343);
            int64_t contacts = 0;
            for (int i = 0; i < count; ++i) {
                assert_int_equal(spheres[i].uid, i);
                for (int j = i + 1; j < count; ++j) {
                    rbGrain a = {.position = spheres[i].position};
                    rbGrain b = {.position = spheres[j].position};
                    contacts += rbLengthSquared(rbDomain_Between(domain, &a, &b)) < 1.0;
                }
            }
            assert_int_equal(report.contacts, contacts);
            total += contacts;
        }
        rbFreeSpheres(spheres, count);
    }
    assert_true(rbRanks_GetIndex(ranks) != 0 || total > 50);
    rbDestroyCluster(cluster);
}

// L-114d, G-02a: ghosts that flew and collided for some steps without a rebuild have the bits of
// their owners, who send them once more for comparison.
static void ghostsHaveTheBitsOfTheirOwners(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbTestGas gas = {.edge = 7, .stepPart = 0.01, .partition = "random"};
    rbCluster* cluster = rbCreateTestGas(ranks, &gas);
    rbDomain* domain = &cluster->domain;
    rbAdvanceCluster(cluster, 200);
    int64_t collided[1] = {cluster->collisions};
    for (int k = 0; k < 5; ++k) {
        rbAdvanceCluster(cluster, 7);
        rbMail_Clear(&domain->mail);
        for (int r = 0; r < rbRanks_GetCount(ranks); ++r) {
            for (int i = 0; i < domain->sent[r].count; ++i) {
                rbMail_Write(&domain->mail, r, &domain->grains.data[domain->sent[r].data[i]],
                             sizeof(rbGrain));
            }
        }
        rbRanks_Exchange(ranks, &domain->mail);
        int ghosts = domain->grains.count - domain->ownedCount;
        assert_int_equal(domain->mail.in.count, ghosts * (int)sizeof(rbGrain));
        assert_true(rbRanks_GetCount(ranks) == 1 || ghosts > 0);
        if (ghosts > 0) {
            assert_memory_equal(domain->mail.in.data, domain->grains.data + domain->ownedCount,
                                (size_t)domain->mail.in.count);
        }
    }
    collided[0] = cluster->collisions - collided[0];
    rbRanks_SumIntegers(ranks, collided, 1);
    assert_true(collided[0] > 10);
    rbDestroyCluster(cluster);
}

typedef struct Edge {
    uint64_t hash;
    int pair;
} Edge;

static int compareEdges(const void* a, const void* b)
{
    uint64_t x = ((const Edge*)a)->hash;
    uint64_t y = ((const Edge*)b)->hash;
    return (x < y) - (x > y);
}

// Colors of new contacts on one rank are those of a greedy pass in the order of hashes; other ranks
// get the same ones, as the tests of hashes show.
static void colorsAreThoseOfAGreedyPass(void** state)
{
    (void)state;
    rbRanks* all = rbTestRanks();
    rbRanks* ranks = rbRanks_Take(all, 1);
    if (ranks != NULL) {
        rbTestHeap heap = {.edge = 6, .layers = 4, .friction = 0.3, .partition = "morton"};
        rbCluster* cluster = rbCreateTestHeap(ranks, &heap);
        rbAdvanceCluster(cluster, 100);
        rbDomain* domain = &cluster->domain;
        Edge* edges = calloc((size_t)domain->pairs.count, sizeof(Edge));
        int count = 0;
        for (int i = 0; i < domain->pairs.count; ++i) {
            domain->pairs.data[i].color = -1;
        }
        rbDomain_FindContacts(domain);
        for (int i = 0; i < domain->contacts.count; ++i) {
            const rbNearPair* pair = &domain->pairs.data[domain->contacts.data[i]];
            uint64_t uids[2] = {domain->grains.data[pair->a].uid,
                                pair->b >= 0 ? domain->grains.data[pair->b].uid
                                             : RB_WALL_UID + (uint64_t)(-1 - pair->b)};
            uint64_t hash = rbHashBytes(RB_HASH_SEED, uids, sizeof uids) | 1u;
            edges[count++] = (Edge){hash, domain->contacts.data[i]};
        }
        assert_true(count > 100);
        assert_int_equal(rbDomain_ColorContacts(domain, NULL), RB_STATUS_OK);
        qsort(edges, (size_t)count, sizeof(Edge), compareEdges);
        uint64_t* masks = calloc((size_t)domain->grains.count, sizeof(uint64_t));
        for (int i = 0; i < count; ++i) {
            const rbNearPair* pair = &domain->pairs.data[edges[i].pair];
            uint64_t taken = masks[pair->a] | (pair->b >= 0 ? masks[pair->b] : 0);
            int color = 0;
            while ((taken >> color & 1u) != 0) {
                ++color;
            }
            assert_int_equal(pair->color, color);
            masks[pair->a] |= (uint64_t)1 << color;
            if (pair->b >= 0) {
                masks[pair->b] |= (uint64_t)1 << color;
            }
        }
        free(masks);
        free(edges);
        rbDestroyCluster(cluster);
        rbCloseRanks(ranks);
    }
    rbRanks_Meet(all);
}

// A sphere that flies out of the box in one step is named, with its rank, on all ranks.
static void lostSpheresAreNamed(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbError error = {0};
    rbClusterDef def = rbDefaultClusterDef();
    def.step = 1.0;
    def.radiusMax = 0.5;
    def.periodicBox = rbMakeVec3(10.0, 10.0, 10.0);
    rbCluster* cluster = rbCreateCluster(ranks, &def, &error);
    assert_non_null(cluster);
    if (rbRanks_GetIndex(ranks) == 0) {
        rbClusterSphere sphere = {.uid = 17, .radius = 0.5, .mass = 1.0};
        sphere.velocity = rbMakeVec3(100.0, 0.0, 0.0);
        assert_int_equal(rbCluster_AddSphere(cluster, &sphere, NULL), RB_STATUS_OK);
    }
    assert_int_equal(rbCluster_Advance(cluster, 3, &error), RB_STATUS_NUMERICAL);
    assert_non_null(strstr(error.message, "sphere 17"));
    assert_true(rbRanks_GetCount(ranks) == 1 || strstr(error.message, "rank ") == error.message);
    rbDestroyCluster(cluster);
}

static void unusableDefinitionsAreRefused(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbError error = {0};
    rbClusterDef good = rbDefaultClusterDef();
    good.step = 1e-3;
    good.radiusMax = 0.5;
    good.periodicBox = rbMakeVec3(10.0, 10.0, 10.0);
    rbClusterDef defs[6] = {good, good, good, good, good, good};
    const char* const needles[6] = {"step is 0", "\"plastic\"", "not built",
                                    "gravity",   "three cells", "rbDefaultClusterDef"};
    defs[0].step = 0.0;
    defs[1].law = "plastic";
    defs[2].partition = "p4est";
    defs[3].gravity.z = -9.81;
    defs[4].periodicBox.y = 5.0;
    defs[5].cookie = 0;
    for (int i = 0; i < 6; ++i) {
        assert_null(rbCreateCluster(ranks, &defs[i], &error));
        if (strstr(error.message, needles[i]) == NULL) {
            fail_msg("\"%s\" does not contain \"%s\"", error.message, needles[i]);
        }
    }
    rbCluster* cluster = rbCreateCluster(ranks, &good, &error);
    assert_non_null(cluster);
    rbClusterSphere sphere = {.uid = 3, .radius = 0.6, .mass = 1.0};
    assert_int_equal(rbCluster_AddSphere(cluster, &sphere, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "radius of sphere 3"));
    rbDestroyCluster(cluster);
}

// Ranks agree on the error of the lowest one, and notice different input.
static void ranksAgree(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    int index = rbRanks_GetIndex(ranks);
    int count = rbRanks_GetCount(ranks);
    rbError error = {0};
    assert_int_equal(rbRanks_Agree(ranks, RB_STATUS_OK, &error), RB_STATUS_OK);
    rbStatus status = RB_STATUS_OK;
    if (index >= count / 2) {
        status = rbError_Set(&error, RB_STATUS_LIMIT, "number %d", index);
    }
    assert_int_equal(rbRanks_Agree(ranks, status, &error), RB_STATUS_LIMIT);
    char text[64];
    (void)snprintf(text, sizeof text, count > 1 ? "rank %d: number %d" : "number %d", count / 2,
                   count / 2);
    assert_string_equal(error.message, text);
    status = rbError_Set(&error, RB_STATUS_INVALID, "the same everywhere");
    assert_int_equal(rbRanks_Agree(ranks, status, &error), RB_STATUS_INVALID);
    assert_string_equal(error.message, "the same everywhere");
    assert_true(rbRanks_IsSame(ranks, 0x123456789abcdef0u));
    assert_true(count == 1 || !rbRanks_IsSame(ranks, index == 0 ? 1u : 2u));
}

RB_TEST_GROUP(test_domains, cmocka_unit_test(gasesHaveTheSameBitsOnAnyRanks),
              cmocka_unit_test(heapsHaveTheSameBitsOnAnyRanks), cmocka_unit_test(cachesChangeNoBit),
              cmocka_unit_test(contactsAreThoseOfAllPairs),
              cmocka_unit_test(ghostsHaveTheBitsOfTheirOwners),
              cmocka_unit_test(colorsAreThoseOfAGreedyPass), cmocka_unit_test(lostSpheresAreNamed),
              cmocka_unit_test(unusableDefinitionsAreRefused), cmocka_unit_test(ranksAgree));
