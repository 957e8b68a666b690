// Checkpoints: the state of all ranks in one file, in the order of uids, so that the bytes do not
// depend on how many ranks there were, nor does the run that continues.
//
// The file: a head with the counts, the hash of what the run is made of, and a sum of the hashes of
// all records; then bodies; then what is remembered of contacts. Numbers are those of this machine;
// the head tells them from those of others.
#include "base/core/hash.h"
#include "base/core/status.h"
#include "cluster/law.h"
#include "cluster/order.h"

#include <string.h>

#define MAGIC 0x314b4350434c4352u // "RCLCPCK1", little-endian
#define VERSION 1

// 8-byte words only.
typedef struct Head {
    uint64_t magic, version;
    uint64_t identity;
    int64_t stepCount, grainCount, memoryCount, collisions;
    rbExactSum virial;
    rbFlowState flow;
    uint64_t recordHash;
    uint64_t hash; // of all before
} Head;

static uint64_t hashHead(const Head* head)
{
    return rbHashBytes(RB_HASH_SEED, head, offsetof(Head, hash));
}

// What must be equal for a run to be continued: all that changes bits. Caches and ranks do not.
static uint64_t identify(const rbCluster* cluster)
{
    const rbClusterDef* def = &cluster->def;
    const rbWalls* walls = &cluster->domain.walls;
    uint64_t hash = rbHashBytes(RB_HASH_SEED, cluster->law->name, strlen(cluster->law->name));
    const double numbers[] = {
        def->step,      def->radiusMax, def->periodicBox.x, def->periodicBox.y, def->periodicBox.z,
        def->gravity.x, def->gravity.y, def->gravity.z,     def->restSpeed,     def->sweeps};
    hash = rbHashDoubles(hash, numbers, sizeof numbers / sizeof numbers[0]);
    hash = rbHashBytes(hash, cluster->pairs, sizeof cluster->pairs);
    for (int i = 0; i < walls->facets.count; ++i) {
        const rbFacet* facet = &walls->facets.data[i];
        const double kinds[3] = {facet->type, facet->material, walls->owners.data[i]};
        hash = rbHashDoubles(hash, kinds, 3);
        hash = rbHashDoubles(hash, &facet->pose.p.x, 3);
        hash = rbHashDoubles(hash, &facet->pose.q.w, 4);
        hash = rbHashDoubles(hash, &facet->corners[0].x, 9);
        hash = rbHashDoubles(hash, &facet->offset, 1);
        hash = rbHashDoubles(hash, &facet->surfaceVelocity.x, 3);
    }
    for (int i = 0; i < walls->bodies.count; ++i) { // paths, by some places on them
        const rbWallBody* body = &walls->bodies.data[i];
        const double times[4] = {0.0, 0.37, 1.0, 10.0};
        for (int k = 0; k < 4 && body->world != NULL; ++k) {
            rbTransform pose = rbBody_GetStateAt(body->world, body->id, times[k]).transform;
            hash = rbHashDoubles(hash, &pose.p.x, 3);
            hash = rbHashDoubles(hash, &pose.q.w, 4);
        }
    }
    const rbFlow* flow = &cluster->flow;
    for (int i = 0; i < flow->inletCount; ++i) {
        const rbClusterInlet* inlet = &flow->inlets[i];
        const double flows[] = {inlet->rate,      (double)inlet->count, inlet->radiusMin,
                                inlet->radiusMax, inlet->density,       inlet->material};
        hash = rbHashDoubles(hash, &inlet->box.lower.x, 6);
        hash = rbHashDoubles(hash, flows, sizeof flows / sizeof flows[0]);
        hash = rbHashDoubles(hash, &inlet->velocity.x, 3);
    }
    for (int i = 0; i < flow->outletCount; ++i) {
        hash = rbHashDoubles(hash, &flow->outlets[i].lower.x, 6);
    }
    return hash;
}

// A sum over all ranks: every record with its place.
static uint64_t hashRecords(rbRanks* ranks, const rbOrder* order)
{
    uint64_t sum = 0;
    for (int i = 0; i < order->grains.count; ++i) {
        uint64_t place = (uint64_t)(order->firstGrain + i);
        sum += rbHashBytes(RB_HASH_SEED + place, &order->grains.data[i], sizeof(rbGrain));
    }
    for (int i = 0; i < order->memories.count; ++i) {
        uint64_t place = (uint64_t)(order->firstMemory + i);
        sum += rbHashBytes(~RB_HASH_SEED - place, &order->memories.data[i], sizeof(rbMemory));
    }
    rbRanks_SumHash(ranks, &sum);
    return sum;
}

rbStatus rbCluster_Save(rbCluster* cluster, const char* path, rbError* error)
{
    rbRanks* ranks = cluster->ranks;
    rbOrder order;
    rbCluster_Build(cluster);
    rbOrder_Collect(&order, &cluster->domain);
    Head head = {.magic = MAGIC,
                 .version = VERSION,
                 .identity = identify(cluster),
                 .stepCount = cluster->stepCount,
                 .grainCount = order.grainCount,
                 .memoryCount = order.memoryCount,
                 .collisions = cluster->collisions,
                 .virial = cluster->virial,
                 .flow = cluster->flow.state,
                 .recordHash = hashRecords(ranks, &order)};
    rbRanks_SumIntegers(ranks, &head.collisions, 1);
    rbRanks_SumExact(ranks, &head.virial, 1);
    rbExactSum_Normalize(&head.virial);
    head.hash = hashHead(&head);
    rbRankFile* file = rbRankFile_Create(ranks, path, error);
    rbStatus status = file != NULL ? RB_STATUS_OK : error->status;
    if (file != NULL) {
        int64_t grains = (int64_t)sizeof head;
        int64_t memories = grains + order.grainCount * (int64_t)sizeof(rbGrain);
        rbRankFile_Write(file, 0, &head, rbRanks_GetIndex(ranks) == 0 ? sizeof head : 0);
        rbRankFile_Write(file, grains + order.firstGrain * (int64_t)sizeof(rbGrain),
                         order.grains.data, (size_t)order.grains.count * sizeof(rbGrain));
        rbRankFile_Write(file, memories + order.firstMemory * (int64_t)sizeof(rbMemory),
                         order.memories.data, (size_t)order.memories.count * sizeof(rbMemory));
        status = rbRankFile_Close(file, error);
    }
    rbOrder_Free(&order);
    return status;
}

// ----------------------------------------------------------------------------------------- loading

static rbStatus checkHead(const rbCluster* cluster, const Head* head, const char* path,
                          int64_t size, rbError* error)
{
    RB_REFUSE_IF(size < (int64_t)sizeof *head || head->magic != MAGIC, RB_STATUS_SYNTAX, error,
                 "%s: this is not a checkpoint of a run on ranks of MPI of a machine of this kind",
                 path);
    RB_REFUSE_IF(head->version != VERSION, RB_STATUS_UNSUPPORTED, error,
                 "%s: the checkpoint has version %llu, and this program reads version %d", path,
                 (unsigned long long)head->version, VERSION);
    RB_REFUSE_IF(head->hash != hashHead(head), RB_STATUS_CORRUPT, error,
                 "%s: the checkpoint is damaged: its head does not have its hash", path);
    RB_INVALID_IF(head->identity != identify(cluster), error,
                  "%s: the checkpoint is that of another scene, or of other settings; continue it "
                  "with those of the run that wrote it",
                  path);
    int64_t room = size - (int64_t)sizeof *head;
    int64_t grains = head->grainCount;
    int64_t memories = head->memoryCount;
    bool isWhole = grains >= 0 && memories >= 0 && grains <= room && memories <= room &&
                   grains * (int64_t)sizeof(rbGrain) + memories * (int64_t)sizeof(rbMemory) == room;
    RB_REFUSE_IF(!isWhole, RB_STATUS_CORRUPT, error,
                 "%s: the checkpoint is damaged: it has %lld bytes, and its head says otherwise",
                 path, (long long)size);
    return RB_STATUS_OK;
}

// The piece of a rank of all records.
static int64_t pieceOf(int64_t total, int rank, int count)
{
    return total / count * rank + total % count * rank / count;
}

// Memories follow the two bodies that they are about to the ranks that have read them.
static void sendMemories(rbDomain* domain, const rbOrder* order)
{
    int rankCount = rbRanks_GetCount(domain->ranks);
    uint64_t first = order->grains.count > 0 ? order->grains.data[0].uid : RB_WALL_UID;
    rbMail_Clear(&domain->mail);
    for (int r = 0; r < rankCount; ++r) {
        rbMail_Write(&domain->mail, r, &first, sizeof first);
    }
    rbRanks_Exchange(domain->ranks, &domain->mail);
    uint64_t* begins = rbAlloc((size_t)rankCount * sizeof(uint64_t));
    memcpy(begins, domain->mail.in.data, (size_t)rankCount * sizeof(uint64_t));
    rbMail_Clear(&domain->mail);
    for (int i = 0; i < order->memories.count; ++i) {
        const rbMemory* memory = &order->memories.data[i];
        const uint64_t uids[2] = {memory->uidA, memory->uidB};
        int before = -1;
        for (int k = 0; k < 2 && uids[k] < RB_WALL_UID; ++k) {
            int r = rankCount - 1;
            while (r > 0 && begins[r] > uids[k]) {
                --r;
            }
            if (r != before) {
                rbMail_Write(&domain->mail, r, memory, sizeof *memory);
            }
            before = r;
        }
    }
    rbFree(begins, (size_t)rankCount * sizeof(uint64_t));
    rbRanks_Exchange(domain->ranks, &domain->mail);
    rbArray_SetCount(domain->loose, (int)((size_t)domain->mail.in.count / sizeof(rbMemory)));
    if (domain->loose.count > 0) {
        memcpy(domain->loose.data, domain->mail.in.data, (size_t)domain->mail.in.count);
    }
}

static void take(rbCluster* cluster, const Head* head, const rbOrder* order)
{
    rbDomain* domain = &cluster->domain;
    for (int i = 0; i < order->grains.count; ++i) {
        rbDomain_Add(domain, &order->grains.data[i]);
    }
    sendMemories(domain, order);
    cluster->stepCount = head->stepCount;
    cluster->flow.state = head->flow;
    if (rbRanks_GetIndex(cluster->ranks) == 0) {
        cluster->collisions = head->collisions;
        cluster->virial = head->virial;
    }
}

rbStatus rbCluster_Load(rbCluster* cluster, const char* path, rbError* error)
{
    rbRanks* ranks = cluster->ranks;
    int64_t unusable[1] = {cluster->isBuilt || cluster->domain.ownedCount > 0};
    rbRanks_MaxIntegers(ranks, unusable, 1);
    RB_INVALID_IF(unusable[0] != 0, error,
                  "a checkpoint is loaded before the first step, instead of adding spheres");
    rbRankFile* file = rbRankFile_Open(ranks, path, error);
    if (file == NULL) {
        return error->status;
    }
    Head head = {0};
    int64_t size = rbRankFile_GetSize(file);
    rbStatus status = RB_STATUS_OK;
    if (size >= (int64_t)sizeof head) {
        rbRankFile_Read(file, 0, &head, sizeof head);
    }
    status = rbRanks_Agree(ranks, checkHead(cluster, &head, path, size, error), error);
    rbOrder order = {0};
    if (status == RB_STATUS_OK) {
        int index = rbRanks_GetIndex(ranks);
        int count = rbRanks_GetCount(ranks);
        order.firstGrain = pieceOf(head.grainCount, index, count);
        order.firstMemory = pieceOf(head.memoryCount, index, count);
        int64_t endGrain = pieceOf(head.grainCount, index + 1, count);
        int64_t endMemory = pieceOf(head.memoryCount, index + 1, count);
        rbArray_SetCount(order.grains, (int)(endGrain - order.firstGrain));
        rbArray_SetCount(order.memories, (int)(endMemory - order.firstMemory));
        int64_t memories = (int64_t)sizeof head + head.grainCount * (int64_t)sizeof(rbGrain);
        rbRankFile_Read(file, (int64_t)sizeof head + order.firstGrain * (int64_t)sizeof(rbGrain),
                        order.grains.data, (size_t)order.grains.count * sizeof(rbGrain));
        rbRankFile_Read(file, memories + order.firstMemory * (int64_t)sizeof(rbMemory),
                        order.memories.data, (size_t)order.memories.count * sizeof(rbMemory));
        if (hashRecords(ranks, &order) != head.recordHash) {
            status = rbError_Set(
                error, RB_STATUS_CORRUPT,
                "%s: the checkpoint is damaged: its records do not have their hash", path);
        }
    }
    rbError closing = {0};
    rbStatus closed = rbRankFile_Close(file, &closing);
    if (status == RB_STATUS_OK && closed != RB_STATUS_OK) {
        status = closed;
        *error = closing;
    }
    if (status == RB_STATUS_OK) {
        take(cluster, &head, &order);
    }
    rbOrder_Free(&order);
    return status;
}
