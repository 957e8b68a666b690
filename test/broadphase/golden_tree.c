// The tree of boxes itself, leaf by leaf, after fixed histories of boxes of every kind, and its
// memory. What is found is compared with the naive way elsewhere; a tree that is arranged worse
// finds the same, and only costs more.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "collision/broadphase/broad_phase.h"
#include "rb_test.h"

#include <inttypes.h>

#define BOXES 300

typedef enum Kind {
    UNIFORM,
    EQUAL,   // all the same: ties
    INTEGER, // faces and edges that coincide
    NESTED,  // each in the next
    SIZES,   // from 1e-9 m to 1e9 m
    BEYOND,  // outside the range of float
    COLUMN,  // along one axis
    KINDS
} Kind;

// Numbers are drawn one by one: compilers differ in the order of arguments.
static rbVec3 drawIn(rbRandom* random, rbVec3 half)
{
    rbVec3 p;
    p.x = half.x * rbRandom_Symmetric(random);
    p.y = half.y * rbRandom_Symmetric(random);
    p.z = half.z * rbRandom_Symmetric(random);
    return p;
}

static rbBounds boxFrom(rbVec3 lower, double edge)
{
    return (rbBounds){lower, rbAdd(lower, rbMakeVec3(edge, edge, edge))};
}

static rbBounds drawBox(rbRandom* random, Kind kind, int id)
{
    static const double edges[] = {1e-9, 1e-3, 0.3, 20.0, 1e9};
    rbVec3 p = drawIn(random, rbMakeVec3(5.0, 4.0, 3.0));
    double nested = 1e-20;
    switch (kind) {
    case EQUAL:
        return boxFrom(RB_VEC3_ZERO, 1.0);
    case INTEGER:
        p = rbMakeVec3(floor(p.x), floor(p.y), floor(p.z));
        return boxFrom(p, rbRandom_Index(random, 3));
    case NESTED:
        for (int i = 0; i < id; ++i) {
            nested *= 1.25;
        }
        return boxFrom(rbScale(-0.5 * nested, rbMakeVec3(1.0, 1.0, 1.0)), nested);
    case SIZES:
        return boxFrom(p, edges[rbRandom_Index(random, 5)]);
    case BEYOND:
        return boxFrom(rbScale(id % 2 == 0 ? 1e60 : 1e-60, p), id % 3 == 0 ? 1e60 : 1e-60);
    case COLUMN:
        return boxFrom(rbMakeVec3(0.0, 2.0 * id, 0.0), 1.0 + rbRandom_Unit(random));
    case UNIFORM:
    case KINDS:
        break;
    }
    return boxFrom(p, rbRandom_Unit(random));
}

static rbBounds shift(rbRandom* random, rbBounds box, double step)
{
    rbVec3 by = drawIn(random, rbMakeVec3(step, step, step));
    return (rbBounds){rbAdd(box.lower, by), rbAdd(box.upper, by)};
}

typedef struct History {
    rbBroadPhase* broad;
    rbRandom random;
    rbIdList found;
    uint64_t hash;
    uint64_t bytes; // at the start
    Kind kind;
} History;

// All leaves in the order of the search, the nodes it visits, and the memory.
static void look(History* h)
{
    double far = 1e70;
    rbBounds all = {{-far, -far, -far}, {far, far, far}};
    rbBroadPhaseCounts before = rbBroadPhase_GetCounts(h->broad);
    h->found.count = 0;
    h->broad->row->query(h->broad, &all, RB_BROAD_NONE, &h->found);
    rbBroadPhaseCounts after = rbBroadPhase_GetCounts(h->broad);
    const int64_t numbers[4] = {after.cells - before.cells, after.boxTests - before.boxTests,
                                after.candidates - before.candidates,
                                (int64_t)(rbGetAllocatedBytes() - h->bytes) -
                                    (int64_t)sizeof(int) *
                                        (h->found.capacity + h->broad->scratch.capacity)};
    h->hash = rbHashBytes(h->hash, numbers, sizeof numbers);
    h->hash = rbHashBytes(h->hash, h->found.ids, (size_t)h->found.count * sizeof(int));
    assert_int_equal(h->found.count, h->broad->count);
    // a small query does not go everywhere
    rbBounds box = drawBox(&h->random, h->kind, rbRandom_Index(&h->random, BOXES));
    h->found.count = 0;
    h->broad->row->query(h->broad, &box, rbRandom_Index(&h->random, BOXES), &h->found);
    int64_t cells = rbBroadPhase_GetCounts(h->broad).cells - after.cells;
    h->hash = rbHashBytes(h->hash, &cells, sizeof cells);
    h->hash = rbHashBytes(h->hash, h->found.ids, (size_t)h->found.count * sizeof(int));
}

static void placeOne(History* h, int id)
{
    rbBounds box = drawBox(&h->random, h->kind, id);
    bool isIn = rbBroadPhase_Has(h->broad, id);
    if (isIn && rbRandom_Index(&h->random, 4) != 0) {
        double step = rbRandom_Index(&h->random, 9) == 0 ? 2.0 : 0.05;
        box = shift(&h->random, rbBroadPhase_GetBox(h->broad, id), step);
    }
    rbBroadPhase_Place(h->broad, id, box, NULL);
}

// Many move at once and are refitted, more often than a tree is kept for.
static void refitOften(History* h, int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        for (int id = 0; id < h->broad->idEnd; ++id) {
            if (rbBroadPhase_Has(h->broad, id)) {
                rbBounds box = shift(&h->random, rbBroadPhase_GetBox(h->broad, id), 0.1);
                assert_true(rbBroadPhase_Defer(h->broad, id, box));
            }
        }
        h->broad->row->refit(h->broad);
        look(h);
    }
}

static void placeMany(History* h, int count)
{
    rbBounds boxes[BOXES];
    for (int id = 0; id < count; ++id) {
        boxes[id] = drawBox(&h->random, h->kind, id);
    }
    rbBroadPhase_PlaceAll(h->broad, boxes, count);
    look(h);
}

static uint64_t runHistory(Kind kind)
{
    History h = {.random = {8000 + (uint64_t)kind}, .hash = RB_HASH_SEED, .kind = kind};
    h.bytes = rbGetAllocatedBytes();
    h.broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    look(&h);
    assert_false(rbBroadPhase_Defer(h.broad, 0, boxFrom(RB_VEC3_ZERO, 1.0)));
    for (int id = 0; id < BOXES / 2; ++id) {
        placeOne(&h, kind == NESTED && id % 2 == 0 ? BOXES / 2 - id : id);
        look(&h);
    }
    for (int i = 0; i < 400; ++i) {
        placeOne(&h, rbRandom_Index(&h.random, BOXES / 2));
        look(&h);
    }
    for (int i = 0; i < 300; ++i) {
        int id = rbRandom_Index(&h.random, BOXES);
        if (rbBroadPhase_Has(h.broad, id)) {
            rbBroadPhase_Remove(h.broad, id);
        } else {
            placeOne(&h, id);
        }
        look(&h);
    }
    refitOften(&h, 10);
    placeMany(&h, BOXES / 20);               // one by one
    placeMany(&h, (h.broad->count + 1) / 2); // at least half of them: at once
    placeMany(&h, BOXES);
    refitOften(&h, kind == UNIFORM || kind == COLUMN ? 140 : 5);
    for (int id = 0; id < BOXES; ++id) {
        rbBroadPhase_Remove(h.broad, (7 * id) % BOXES);
        look(&h);
    }
    placeMany(&h, 1);
    placeMany(&h, 3);
    rbIdList_Free(&h.found);
    rbDestroyBroadPhase(h.broad);
    assert_true(rbGetAllocatedBytes() == h.bytes);
    return h.hash;
}

static void treesAreArrangedTheSameWay(void** state)
{
    (void)state;
    static const uint64_t expected[KINDS] = {
        0x9b577eafe0eb1d09u, 0x0f611d2a184e635cu, 0x736670e788b8bef8u, 0xcac58624f54ac3e4u,
        0x727bee91009dc926u, 0x179a661b3c1d2c35u, 0x03687e8f8aec4c14u};
    int differences = 0;
    for (int kind = 0; kind < KINDS; ++kind) {
        uint64_t hash = runHistory((Kind)kind);
        if (hash != expected[kind]) {
            print_error("kind %d: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n", kind, hash,
                        expected[kind]);
            differences += 1;
        }
    }
    assert_int_equal(differences, 0);
}

// ------------------------------------------------------------------------------------------- walks

// Looks for the nearest boxes to a point, and counts.
typedef struct Nearest {
    rbBoxWalk walk; // the first member: what is passed around
    const rbBroadPhase* broad;
    rbVec3 point;
    int visited, visitsMax;
    int* entered; // walks are constant while boxes are entered
    int nearest;
    bool isAll; // visits do not lower the limit
} Nearest;

static double squareTo(rbVec3 point, const rbBounds* box)
{
    rbVec3 low = rbMax3(rbSub(box->lower, point), RB_VEC3_ZERO);
    rbVec3 high = rbMax3(rbSub(point, box->upper), RB_VEC3_ZERO);
    return rbLengthSquared(low) + rbLengthSquared(high);
}

static double enter(const rbBoxWalk* walk, const rbBounds* box)
{
    const Nearest* nearest = (const Nearest*)(const void*)walk;
    *nearest->entered += 1;
    double square = squareTo(nearest->point, box);
    return square > 25.0 ? (double)INFINITY : square;
}

static bool visit(rbBoxWalk* walk, int id)
{
    Nearest* nearest = (Nearest*)(void*)walk;
    nearest->visited += 1;
    rbBounds box = rbBroadPhase_GetBox(nearest->broad, id);
    double square = squareTo(nearest->point, &box);
    if (!nearest->isAll && square <= walk->limit) {
        walk->limit = square;
        nearest->nearest = id;
    }
    return nearest->visited < nearest->visitsMax;
}

static Nearest walkFrom(const rbBroadPhase* broad, rbVec3 point, bool isAll, int visitsMax)
{
    static int entered;
    entered = 0;
    Nearest nearest = {.walk = {.enter = enter, .visit = visit, .limit = 16.0},
                       .broad = broad,
                       .point = point,
                       .visitsMax = visitsMax,
                       .entered = &entered,
                       .nearest = -1,
                       .isAll = isAll};
    rbBroadPhase_Walk(broad, &nearest.walk);
    return nearest;
}

// Walks find the nearest box, visit all within the limit and no box that is out of reach, stop when
// told, and enter few boxes.
static void walksVisitTheNearestFirst(void** state)
{
    (void)state;
    rbRandom random = {8100};
    rbBroadPhase* broad = rbCreateBroadPhase(RB_BROAD_TREE, 0.0);
    Nearest none = walkFrom(broad, RB_VEC3_ZERO, false, BOXES);
    assert_true(*none.entered == 0 && none.visited == 0);
    rbBroadPhase_Place(broad, 5, boxFrom(RB_VEC3_ZERO, 1.0), NULL);
    Nearest only = walkFrom(broad, RB_VEC3_ZERO, false, BOXES);
    assert_true(*only.entered == 0 && only.visited == 1 && only.nearest == 5);
    for (int id = 0; id < BOXES; ++id) {
        rbBroadPhase_Place(broad, id, drawBox(&random, UNIFORM, id), NULL);
    }
    int64_t work[3] = {0};
    for (int k = 0; k < 500; ++k) {
        rbVec3 point = drawIn(&random, rbMakeVec3(12.0, 9.0, 7.0));
        double least = 16.0;
        int within = 0;
        for (int id = 0; id < BOXES; ++id) {
            rbBounds box = rbBroadPhase_GetBox(broad, id);
            double square = squareTo(point, &box);
            least = square < least ? square : least;
            within += square <= 16.0 ? 1 : 0;
        }
        Nearest nearest = walkFrom(broad, point, false, BOXES);
        work[0] += *nearest.entered;
        assert_true(nearest.walk.limit == least && (nearest.nearest >= 0) == (within > 0));
        Nearest all = walkFrom(broad, point, true, BOXES);
        assert_true(all.visited >= within && all.visited <= within + 3);
        int few = 1 + k % 20;
        Nearest some = walkFrom(broad, point, true, few);
        assert_int_equal(some.visited, all.visited < few ? all.visited : few);
        work[1] += nearest.visited;
        work[2] += *some.entered;
    }
    rbDestroyBroadPhase(broad);
    print_message("%" PRId64 " entered, %" PRId64 " visited, %" PRId64 " for some\n", work[0],
                  work[1], work[2]);
    assert_int_equal(work[0], 7446);
    assert_int_equal(work[1], 375);
    assert_int_equal(work[2], 10652);
}

RB_TEST_GROUP(golden_tree, cmocka_unit_test(treesAreArrangedTheSameWay),
              cmocka_unit_test(walksVisitTheNearestFirst));
