// Ownership, ghosts and near pairs of a domain.
//
// Which bodies are ghosts: a body may touch one of another rank if it is closer to a cell of that
// rank than its radius, the largest radius there and the margin together. With fat bounds alone,
// two owners could disagree whether a contact exists, and wait for each other forever.
#include "cluster/domain.h"

#include "base/core/hash.h"
#include "base/core/random.h"
#include "base/core/timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Part of the margin beyond the reach by which a body may move: two of them use it up together.
#define STALE_PART 0.499
#define NEIGHBOR_CELLS 27

// Closest points that are nearer than this part of the largest radius to another facet lie on it.
#define SEAM_PART 1e-6

// The offset of a neighbor cell, from its number.
static void offsetOf(int number, int* offset)
{
    offset[0] = number % 3 - 1;
    offset[1] = number / 3 % 3 - 1;
    offset[2] = number / 9 - 1;
}

rbStatus rbDomain_Init(rbDomain* domain, rbRanks* ranks, const rbDomainDef* def, rbError* error)
{
    RB_ASSERT(def->radiusMax > 0.0 && def->reach >= 0.0 && def->margin > def->reach);
    *domain = (rbDomain){.ranks = ranks, .def = *def};
    rbVec3 box = def->periodicBox;
    domain->halfBox = rbMakeVec3(box.x > 0.0 ? 0.5 * box.x : (double)INFINITY,
                                 box.y > 0.0 ? 0.5 * box.y : (double)INFINITY,
                                 box.z > 0.0 ? 0.5 * box.z : (double)INFINITY);
    rbCellGrid grid;
    rbStatus status =
        rbCellGrid_Init(&grid, def->low, def->high, box, 2.0 * def->radiusMax + def->margin, error);
    int count = rbRanks_GetCount(ranks);
    if (status == RB_STATUS_OK) {
        status = rbPartition_Init(&domain->partition, def->partition, &grid, count, error);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    domain->sent = rbAllocZero((size_t)count, sizeof(rbIndices));
    domain->ghostFirst = rbAllocZero((size_t)count + 1, sizeof(int));
    domain->mail = rbCreateMail(ranks);
    domain->memoryMail = rbCreateMail(ranks);
    return RB_STATUS_OK;
}

void rbDomain_Free(rbDomain* domain)
{
    int count = domain->partition.rankCount;
    for (int i = 0; domain->sent != NULL && i < count; ++i) {
        rbArray_Free(domain->sent[i]);
    }
    rbFree(domain->sent, (size_t)count * sizeof(rbIndices));
    rbFree(domain->ghostFirst, domain->ghostFirst != NULL ? ((size_t)count + 1) * sizeof(int) : 0);
    rbDestroyMail(&domain->mail);
    rbDestroyMail(&domain->memoryMail);
    rbPartition_Free(&domain->partition);
    rbArray_FreeAll(domain->grains, domain->references, domain->colors, domain->stamps);
    rbArray_FreeAll(domain->pairs, domain->contacts, domain->neighbors);
    rbArray_FreeAll(domain->touches, domain->loose, domain->isLeaving, domain->incoming);
    rbWalls_Free(&domain->walls);
    rbArray_FreeAll(domain->outColors, domain->inColors, domain->to, domain->from);
    *domain = (rbDomain){0};
}

void rbDomain_Add(rbDomain* domain, const rbGrain* grain)
{
    RB_ASSERT(grain->uid < RB_WALL_UID && grain->radius <= domain->def.radiusMax);
    domain->grains.count = domain->ownedCount;
    rbArray_Push(domain->grains, *grain);
    ++domain->ownedCount;
}

// --------------------------------------------------------------------------------------- migration

static uint64_t uidOf(const rbDomain* domain, int index)
{
    return index >= 0 ? domain->grains.data[index].uid : RB_WALL_UID + (uint64_t)(-1 - index);
}

static rbMemory memoryOf(const rbDomain* domain, const rbNearPair* pair)
{
    return (rbMemory){uidOf(domain, pair->a), uidOf(domain, pair->b), pair->color, pair->impulse,
                      pair->roll};
}

static int ownerOf(const rbDomain* domain, const rbGrain* grain)
{
    rbCell cell = rbCellGrid_Find(&domain->partition.grid, grain->position);
    return rbPartition_Owner(&domain->partition, cell);
}

typedef struct Place {
    uint64_t uid;
    int owner;
} Place;

static int comparePlaces(const void* a, const void* b)
{
    uint64_t x = ((const Place*)a)->uid;
    uint64_t y = ((const Place*)b)->uid;
    return (x > y) - (x < y);
}

// Loose memories follow those of our bodies that they are about.
static void moveLoose(rbDomain* domain, const int* owners, rbMemories* memories)
{
    if (domain->loose.count == 0) {
        return;
    }
    int self = rbRanks_GetIndex(domain->ranks);
    size_t count = (size_t)domain->ownedCount;
    Place* places = rbAlloc(count * sizeof(Place));
    for (size_t i = 0; i < count; ++i) {
        places[i] = (Place){domain->grains.data[i].uid, owners[i]};
    }
    qsort(places, count, sizeof(Place), comparePlaces);
    for (int i = 0; i < domain->loose.count; ++i) {
        const rbMemory* memory = &domain->loose.data[i];
        const uint64_t uids[2] = {memory->uidA, memory->uidB};
        for (int k = 0; k < 2; ++k) {
            Place key = {.uid = uids[k]};
            const Place* place = bsearch(&key, places, count, sizeof key, comparePlaces);
            if (place != NULL && place->owner == self) {
                rbArray_Push(*memories, *memory);
            } else if (place != NULL && place->owner >= 0) {
                rbMail_Write(&domain->memoryMail, place->owner, memory, sizeof *memory);
            }
        }
    }
    rbFree(places, count * sizeof(Place));
    rbArray_Free(domain->loose);
}

// Sends what is remembered of contacts to the new owners of their bodies; keeps what is still
// needed here. owners: of our bodies.
static void moveMemories(rbDomain* domain, const int* owners, rbMemories* memories)
{
    int self = rbRanks_GetIndex(domain->ranks);
    rbMail_Clear(&domain->memoryMail);
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        if (pair->color < 0) {
            continue;
        }
        rbMemory memory = memoryOf(domain, pair);
        int toA = pair->a < domain->ownedCount ? owners[pair->a] : -1;
        int toB = pair->b >= 0 && pair->b < domain->ownedCount ? owners[pair->b] : -1;
        if (toA == self || toB == self) {
            rbArray_Push(*memories, memory);
        }
        if (toA >= 0 && toA != self) {
            rbMail_Write(&domain->memoryMail, toA, &memory, sizeof memory);
        }
        if (toB >= 0 && toB != self && toB != toA) {
            rbMail_Write(&domain->memoryMail, toB, &memory, sizeof memory);
        }
    }
    moveLoose(domain, owners, memories);
    rbRanks_Exchange(domain->ranks, &domain->memoryMail);
    int count = (int)((size_t)domain->memoryMail.in.count / sizeof(rbMemory));
    for (int i = 0; i < count; ++i) {
        rbMemory memory;
        memcpy(&memory, domain->memoryMail.in.data + (size_t)i * sizeof memory, sizeof memory);
        rbArray_Push(*memories, memory);
    }
}

static void moveBodies(rbDomain* domain, const int* owners)
{
    int self = rbRanks_GetIndex(domain->ranks);
    int kept = 0;
    rbMail_Clear(&domain->mail);
    for (int i = 0; i < domain->ownedCount; ++i) {
        const rbGrain* grain = &domain->grains.data[i];
        if (owners[i] == self) {
            domain->grains.data[kept++] = *grain;
        } else if (owners[i] >= 0) {
            rbMail_Write(&domain->mail, owners[i], grain, sizeof *grain);
            ++domain->migrations;
        }
    }
    domain->grains.count = kept; // ghosts end here
    for (int i = 0; i < domain->incoming.count; ++i) {
        const rbGrain* grain = &domain->incoming.data[i];
        int owner = ownerOf(domain, grain);
        if (owner == self) {
            rbArray_Push(domain->grains, *grain);
        } else {
            rbMail_Write(&domain->mail, owner, grain, sizeof *grain);
        }
    }
    domain->incoming.count = 0;
    rbRanks_Exchange(domain->ranks, &domain->mail);
    int count = (int)((size_t)domain->mail.in.count / sizeof(rbGrain));
    for (int i = 0; i < count; ++i) {
        rbGrain grain;
        memcpy(&grain, domain->mail.in.data + (size_t)i * sizeof grain, sizeof grain);
        rbArray_Push(domain->grains, grain);
    }
    domain->ownedCount = domain->grains.count;
}

static void migrate(rbDomain* domain, rbMemories* memories)
{
    size_t size = (size_t)domain->ownedCount * sizeof(int);
    int* owners = rbAlloc(size);
    for (int i = 0; i < domain->ownedCount; ++i) {
        bool isLeaving = i < domain->isLeaving.count && domain->isLeaving.data[i];
        owners[i] = isLeaving ? -1 : ownerOf(domain, &domain->grains.data[i]);
    }
    moveMemories(domain, owners, memories);
    moveBodies(domain, owners);
    rbFree(owners, size);
}

// ------------------------------------------------------------------------------------------ ghosts

// The ranks that need a body as a ghost; at most one entry each. reach: largest radius of each rank
// and the margin, m.
static int listTakers(const rbDomain* domain, const rbGrain* grain, const double* reach,
                      int* takers)
{
    const rbCellGrid* grid = &domain->partition.grid;
    rbCell cell = rbCellGrid_Find(grid, grain->position);
    int self = rbRanks_GetIndex(domain->ranks);
    int count = 0;
    for (int k = 0; k < NEIGHBOR_CELLS; ++k) {
        int offset[3];
        rbCell next;
        offsetOf(k, offset);
        if (!rbCellGrid_Step(grid, cell, offset, &next)) {
            continue;
        }
        int owner = rbPartition_Owner(&domain->partition, next);
        if (owner == self) {
            continue;
        }
        double limit = grain->radius + reach[owner];
        if (rbCellGrid_DistanceSquared(grid, cell, offset, grain->position) > limit * limit) {
            continue;
        }
        int i = 0;
        while (i < count && takers[i] != owner) {
            ++i;
        }
        takers[i] = owner;
        count += i == count;
    }
    return count;
}

// The largest radius of the bodies of each rank and the margin, m.
static void gatherReach(rbDomain* domain, double* reach)
{
    double radius = 0.0;
    for (int i = 0; i < domain->ownedCount; ++i) {
        radius = fmax(radius, domain->grains.data[i].radius);
    }
    rbRanks_GatherNumber(domain->ranks, radius + domain->def.margin, reach);
}

static void exchangeGhosts(rbDomain* domain)
{
    int rankCount = rbRanks_GetCount(domain->ranks);
    size_t reachSize = (size_t)rankCount * sizeof(double);
    double* reach = rbAlloc(reachSize);
    gatherReach(domain, reach);
    rbMail_Clear(&domain->mail);
    for (int i = 0; i < rankCount; ++i) {
        domain->sent[i].count = 0;
    }
    for (int i = 0; i < domain->ownedCount && rankCount > 1; ++i) {
        int takers[NEIGHBOR_CELLS];
        int count = listTakers(domain, &domain->grains.data[i], reach, takers);
        for (int k = 0; k < count; ++k) {
            rbArray_Push(domain->sent[takers[k]], i);
            rbMail_Write(&domain->mail, takers[k], &domain->grains.data[i], sizeof(rbGrain));
        }
    }
    rbFree(reach, reachSize);
    rbRanks_Exchange(domain->ranks, &domain->mail);
    domain->neighbors.count = 0;
    for (int r = 0; r < rankCount; ++r) {
        size_t size = 0;
        const unsigned char* bytes = rbMail_Read(&domain->mail, r, &size);
        int count = (int)(size / sizeof(rbGrain));
        domain->ghostFirst[r] = domain->grains.count;
        for (int i = 0; i < count; ++i) {
            rbGrain grain;
            memcpy(&grain, bytes + (size_t)i * sizeof grain, sizeof grain);
            rbArray_Push(domain->grains, grain);
        }
        if (count > 0 || domain->sent[r].count > 0) {
            rbArray_Push(domain->neighbors, r);
        }
    }
    domain->ghostFirst[rankCount] = domain->grains.count;
}

// Lists the neighbors whose masks have a color.
static void listConcerned(const rbDomain* domain, const rbColorMask* masks, int color,
                          rbIndices* list)
{
    list->count = 0;
    for (int k = 0; k < domain->neighbors.count; ++k) {
        if (color < 0 || (masks[k].bits[color / 64] >> (color % 64) & 1u) != 0) {
            rbArray_Push(*list, domain->neighbors.data[k]);
        }
    }
}

void rbDomain_ShareVelocities(rbDomain* domain, int color)
{
    typedef struct Change {
        uint64_t slot; // among the bodies sent to a rank
        rbVec3 velocity, spin;
    } Change;
    listConcerned(domain, domain->outColors.data, color, &domain->to);
    listConcerned(domain, domain->inColors.data, color, &domain->from);
    rbMail_Clear(&domain->mail);
    for (int k = 0; k < domain->to.count; ++k) {
        int r = domain->to.data[k];
        for (int i = 0; i < domain->sent[r].count; ++i) {
            int index = domain->sent[r].data[i];
            if (domain->stamps.data[index] == domain->stamp) {
                const rbGrain* grain = &domain->grains.data[index];
                Change change = {(uint64_t)i, grain->velocity, grain->spin};
                rbMail_Write(&domain->mail, r, &change, sizeof change);
            }
        }
    }
    rbRanks_ExchangeNear(domain->ranks, &domain->mail,
                         (rbRankList){domain->to.data, domain->to.count},
                         (rbRankList){domain->from.data, domain->from.count});
    for (int k = 0; k < domain->from.count; ++k) {
        int r = domain->from.data[k];
        size_t size = 0;
        const unsigned char* bytes = rbMail_Read(&domain->mail, r, &size);
        for (size_t at = 0; at < size; at += sizeof(Change)) {
            Change change;
            memcpy(&change, bytes + at, sizeof change);
            rbGrain* grain = &domain->grains.data[domain->ghostFirst[r] + (int)change.slot];
            // where we computed the same contact, we have the same bits
            RB_VALIDATE(
                domain->stamps.data[grain - domain->grains.data] != domain->stamp ||
                (rbHashDoubles(0, &grain->velocity.x, 3) ==
                     rbHashDoubles(0, &change.velocity.x, 3) &&
                 rbHashDoubles(0, &grain->spin.x, 3) == rbHashDoubles(0, &change.spin.x, 3)));
            grain->velocity = change.velocity;
            grain->spin = change.spin;
        }
    }
    ++domain->stamp;
}

// -------------------------------------------------------------------------------------- near pairs

// Bodies by cells, in a hash table: memory grows with the bodies of this rank, not with space.
typedef struct CellTable {
    int64_t* cells; // per body
    int* next;      // per body: another one of the same slot, -1: none
    int* heads;     // per slot
    int slotCount;  // a power of two
    int bodyCount;
} CellTable;

static int slotOf(const CellTable* table, int64_t cell)
{
    rbRandom random = {(uint64_t)cell};
    return (int)(rbRandom_Bits(&random) & (uint64_t)(table->slotCount - 1));
}

static CellTable createTable(const rbDomain* domain)
{
    CellTable table = {.bodyCount = domain->grains.count, .slotCount = 16};
    while (table.slotCount < table.bodyCount && table.slotCount < (1 << 30)) {
        table.slotCount *= 2;
    }
    table.cells = rbAlloc((size_t)table.bodyCount * sizeof(int64_t));
    table.next = rbAlloc((size_t)table.bodyCount * sizeof(int));
    table.heads = rbAlloc((size_t)table.slotCount * sizeof(int));
    memset(table.heads, 0xff, (size_t)table.slotCount * sizeof(int));
    const rbCellGrid* grid = &domain->partition.grid;
    for (int i = 0; i < table.bodyCount; ++i) {
        rbCell cell = rbCellGrid_Find(grid, domain->grains.data[i].position);
        table.cells[i] = rbCellGrid_Index(grid, cell);
        int slot = slotOf(&table, table.cells[i]);
        table.next[i] = table.heads[slot];
        table.heads[slot] = i;
    }
    return table;
}

static void destroyTable(CellTable* table)
{
    rbFree(table->cells, (size_t)table->bodyCount * sizeof(int64_t));
    rbFree(table->next, (size_t)table->bodyCount * sizeof(int));
    rbFree(table->heads, (size_t)table->slotCount * sizeof(int));
}

// Adds the pairs of one of our bodies with those of a cell; a pair of two of ours once.
static void pairWithCell(rbDomain* domain, const CellTable* table, int i, int64_t cell)
{
    const rbGrain* own = &domain->grains.data[i];
    for (int j = table->heads[slotOf(table, cell)]; j >= 0; j = table->next[j]) {
        const rbGrain* other = &domain->grains.data[j];
        bool isLower = own->uid < other->uid;
        if (table->cells[j] != cell || j == i || (j < domain->ownedCount && !isLower)) {
            continue;
        }
        rbVec3 d =
            isLower ? rbDomain_Between(domain, own, other) : rbDomain_Between(domain, other, own);
        double limit = own->radius + other->radius + domain->def.margin;
        if (rbLengthSquared(d) < limit * limit) {
            rbNearPair pair = {.a = isLower ? i : j, .b = isLower ? j : i, .color = -1};
            rbArray_Push(domain->pairs, pair);
        }
    }
}

static void findPairs(rbDomain* domain)
{
    const rbCellGrid* grid = &domain->partition.grid;
    CellTable table = createTable(domain);
    domain->pairs.count = 0;
    for (int i = 0; i < domain->ownedCount; ++i) {
        rbCell cell = rbCellGrid_Find(grid, domain->grains.data[i].position);
        for (int k = 0; k < NEIGHBOR_CELLS; ++k) {
            int offset[3];
            rbCell next;
            offsetOf(k, offset);
            if (rbCellGrid_Step(grid, cell, offset, &next)) {
                pairWithCell(domain, &table, i, rbCellGrid_Index(grid, next));
            }
        }
        const rbGrain* grain = &domain->grains.data[i];
        rbWalls_FindNear(&domain->walls, grain->position, grain->radius + domain->def.margin);
        for (int w = 0; w < domain->walls.found.count; ++w) {
            rbNearPair pair = {.a = i, .b = -1 - domain->walls.found.data[w], .color = -1};
            rbArray_Push(domain->pairs, pair);
        }
    }
    destroyTable(&table);
}

// ---------------------------------------------------------------------------------------- memories

static int compareMemories(const void* a, const void* b)
{
    const rbMemory* x = a;
    const rbMemory* y = b;
    if (x->uidA != y->uidA) {
        return x->uidA < y->uidA ? -1 : 1;
    }
    return (x->uidB > y->uidB) - (x->uidB < y->uidB);
}

// Gives the near pairs what is remembered of them. A pair may be remembered twice, with the same
// bits, by both its former owners.
static void recall(rbDomain* domain, rbMemories* memories)
{
    if (memories->count == 0) {
        return;
    }
    size_t count = (size_t)memories->count;
    qsort(memories->data, count, sizeof(rbMemory), compareMemories);
    for (int i = 0; i < domain->pairs.count; ++i) {
        rbNearPair* pair = &domain->pairs.data[i];
        rbMemory key = {.uidA = uidOf(domain, pair->a), .uidB = uidOf(domain, pair->b)};
        const rbMemory* memory = bsearch(&key, memories->data, count, sizeof key, compareMemories);
        if (memory != NULL) {
            pair->color = (int)memory->color;
            pair->impulse = memory->impulse;
            pair->roll = memory->roll;
        }
    }
}

// ---------------------------------------------------------------------------------------
// rebuilding

void rbDomain_Rebuild(rbDomain* domain)
{
    rbMemories memories = {0};
    migrate(domain, &memories);
    exchangeGhosts(domain);
    double start = rbGetThreadTime();
    findPairs(domain);
    recall(domain, &memories);
    rbArray_Free(memories);
    int count = domain->grains.count;
    rbArray_Reserve(domain->references, count);
    rbArray_Reserve(domain->colors, count);
    rbArray_Reserve(domain->stamps, count);
    for (int i = 0; i < count; ++i) {
        domain->references.data[i] = domain->grains.data[i].position;
        domain->colors.data[i] = (rbBodyColors){0};
        domain->stamps.data[i] = 0;
    }
    domain->stamp = 1;
    domain->contacts.count = 0;
    domain->walls.travel = 0.0;
    ++domain->rebuilds;
    domain->busyTime += rbGetThreadTime() - start;
}

bool rbDomain_IsStale(const rbDomain* domain)
{
    double limit = STALE_PART * (domain->def.margin - domain->def.reach);
    if (!(domain->walls.travel <= limit)) {
        return true;
    }
    for (int i = 0; i < domain->ownedCount; ++i) {
        rbGrain reference = {.position = domain->references.data[i]};
        rbVec3 d = rbDomain_Between(domain, &reference, &domain->grains.data[i]);
        if (!(rbLengthSquared(d) <= limit * limit)) {
            return true;
        }
    }
    return false;
}

// Work of a body and of a pair, in units.
#define BODY_WORK 4
#define PAIR_WORK 1

// The time of this rank is spread over its bodies and pairs, and these over cells; at least one for
// a cell, so that empty space is divided too.
void rbDomain_Repartition(rbDomain* domain)
{
    const rbCellGrid* grid = &domain->partition.grid;
    int64_t cellCount = rbCellGrid_Count(grid);
    int64_t* weights = rbAllocZero((size_t)cellCount, sizeof(int64_t));
    double units = (double)domain->ownedCount * BODY_WORK + (double)domain->pairs.count * PAIR_WORK;
    int64_t nanoseconds = 1 + (int64_t)(1e9 * domain->busyTime / fmax(units, 1.0));
    for (int i = 0; i < domain->ownedCount; ++i) {
        rbCell cell = rbCellGrid_Find(grid, domain->grains.data[i].position);
        weights[rbCellGrid_Index(grid, cell)] += BODY_WORK * nanoseconds;
    }
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        int own = pair->a < domain->ownedCount ? pair->a : pair->b;
        rbCell cell = rbCellGrid_Find(grid, domain->grains.data[own].position);
        weights[rbCellGrid_Index(grid, cell)] += PAIR_WORK * nanoseconds;
    }
    rbRanks_SumIntegers(domain->ranks, weights, (int)cellCount);
    for (int64_t i = 0; i < cellCount; ++i) {
        weights[i] += 1;
    }
    rbPartition_Build(&domain->partition, weights);
    rbFree(weights, (size_t)cellCount * sizeof(int64_t));
    domain->busyTime = 0.0;
    ++domain->repartitions;
    rbDomain_Rebuild(domain);
}

// ---------------------------------------------------------------------------------------- contacts

// Forgets the colors of bodies that had contacts: most have none next time.
static void clearColors(rbDomain* domain)
{
    for (int i = 0; i < domain->contacts.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[domain->contacts.data[i]];
        domain->colors.data[pair->a] = (rbBodyColors){0};
        if (pair->b >= 0) {
            domain->colors.data[pair->b] = (rbBodyColors){0};
        }
    }
}

static void endContact(rbNearPair* pair)
{
    if (pair->color >= 0) {
        pair->color = -1;
        pair->impulse = RB_VEC3_ZERO;
        pair->roll = RB_VEC3_ZERO;
    }
}

// Whether the closest point of a facet lies on another one that is closer: then it is a seam, or
// inside of the other, and no place where the distance to the walls is least.
static bool isHidden(const rbDomain* domain, int index)
{
    const rbTouch* own = &domain->touches.data[index];
    for (int i = 0; i < domain->touches.count; ++i) {
        const rbTouch* other = &domain->touches.data[i];
        bool isCloser = other->at.distance < own->at.distance ||
                        (other->at.distance == own->at.distance && i < index);
        int facet = -1 - domain->pairs.data[other->pair].b;
        if (i != index && isCloser &&
            rbWalls_FindClosest(&domain->walls, facet, own->at.point).distance <=
                SEAM_PART * domain->def.radiusMax) {
            return true;
        }
    }
    return false;
}

// The contacts of one body with walls, whose pairs begin at first; returns the end of them.
static int findWallContacts(rbDomain* domain, int first)
{
    int a = domain->pairs.data[first].a;
    const rbGrain* grain = &domain->grains.data[a];
    double limit = grain->radius + domain->def.reach;
    int end = first;
    domain->touches.count = 0;
    for (; end < domain->pairs.count; ++end) {
        rbNearPair* pair = &domain->pairs.data[end];
        if (pair->a != a || pair->b >= 0) {
            break;
        }
        rbTouch touch = {end, rbWalls_FindClosest(&domain->walls, -1 - pair->b, grain->position)};
        if (touch.at.distance < limit) {
            rbArray_Push(domain->touches, touch);
        } else {
            endContact(pair);
        }
    }
    for (int i = 0; i < domain->touches.count; ++i) {
        int pair = domain->touches.data[i].pair;
        if (isHidden(domain, i)) {
            endContact(&domain->pairs.data[pair]);
        } else {
            rbArray_Push(domain->contacts, pair);
        }
    }
    return end;
}

void rbDomain_FindContacts(rbDomain* domain)
{
    double reach = domain->def.reach;
    clearColors(domain);
    domain->contacts.count = 0;
    for (int i = 0; i < domain->pairs.count;) {
        rbNearPair* pair = &domain->pairs.data[i];
        if (pair->b < 0) {
            i = findWallContacts(domain, i);
            continue;
        }
        const rbGrain* a = &domain->grains.data[pair->a];
        const rbGrain* b = &domain->grains.data[pair->b];
        double limit = a->radius + b->radius + reach;
        if (rbLengthSquared(rbDomain_Between(domain, a, b)) < limit * limit) {
            rbArray_Push(domain->contacts, i);
        } else {
            endContact(pair);
        }
        ++i;
    }
}

// ------------------------------------------------------------------------------------------
// results

void rbDomain_ListMemories(const rbDomain* domain, rbMemories* memories)
{
    memories->count = 0;
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        if (pair->color >= 0 && pair->a < domain->ownedCount) {
            rbArray_Push(*memories, memoryOf(domain, pair));
        }
    }
}

uint64_t rbDomain_Hash(rbDomain* domain)
{
    uint64_t sum = 0;
    for (int i = 0; i < domain->ownedCount; ++i) {
        sum += rbHashBytes(RB_HASH_SEED, &domain->grains.data[i], sizeof(rbGrain));
    }
    for (int i = 0; i < domain->pairs.count; ++i) {
        const rbNearPair* pair = &domain->pairs.data[i];
        if (pair->color >= 0 && pair->a < domain->ownedCount) {
            rbMemory memory = memoryOf(domain, pair);
            sum += rbHashBytes(RB_HASH_SEED, &memory, sizeof memory);
        }
    }
    rbRanks_SumHash(domain->ranks, &sum);
    return sum;
}

static int compareUids(const void* a, const void* b)
{
    uint64_t x = ((const rbGrain*)a)->uid;
    uint64_t y = ((const rbGrain*)b)->uid;
    return (x > y) - (x < y);
}

void rbDomain_Gather(rbDomain* domain, rbGrain** grains, int* count)
{
    rbBytes bytes = {0};
    size_t size = (size_t)domain->ownedCount * sizeof(rbGrain);
    rbArray_Reserve(bytes, (int)size + 1);
    bytes.count = (int)size;
    if (size > 0) {
        memcpy(bytes.data, domain->grains.data, size);
    }
    rbRanks_GatherBytes(domain->ranks, &bytes);
    *count = (int)((size_t)bytes.count / sizeof(rbGrain));
    *grains = rbAlloc((size_t)*count * sizeof(rbGrain));
    if (*count > 0) {
        memcpy(*grains, bytes.data, (size_t)*count * sizeof(rbGrain));
        qsort(*grains, (size_t)*count, sizeof(rbGrain), compareUids);
    }
    rbArray_Free(bytes);
}
