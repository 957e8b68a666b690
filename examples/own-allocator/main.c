// Own allocator: a world that lives in a block of memory of the program. Nothing is taken from
// malloc, and after the first steps nothing is taken at all.
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

// A block that is handed out from its start; the piece freed last can be used again.
typedef struct Block {
    double bytes[1 << 19]; // 4 MB
    size_t used;
    long allocations;
    long held; // bytes
} Block;

static size_t roundUp(size_t size)
{
    return (size + 15) / 16 * 16;
}

static void* allocFromBlock(size_t size, void* context)
{
    Block* block = (Block*)context;
    char* start = (char*)block->bytes;
    size_t gap = (16 - (size_t)start % 16) % 16; // memory must be aligned to 16 bytes
    if (gap + block->used + roundUp(size) > sizeof block->bytes) {
        return NULL; // the library says so and ends the program
    }
    block->used += roundUp(size);
    block->allocations += 1;
    block->held += (long)size;
    return start + gap + block->used - roundUp(size);
}

static void freeToBlock(void* memory, size_t size, void* context)
{
    Block* block = (Block*)context;
    char* end = (char*)memory + roundUp(size);
    size_t gap = (16 - (size_t)(char*)block->bytes % 16) % 16;
    block->held -= (long)size;
    if (end == (char*)block->bytes + gap + block->used) {
        block->used -= roundUp(size);
    }
}

int main(void)
{
    static Block block;
    static rbError error; // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.allocator.allocFn = allocFromBlock;
    worldDef.allocator.freeFn = freeToBlock;
    worldDef.allocator.context = &block;

    // Geometries are made before a world gets them, so they come from the allocator of the thread.
    unsigned long long before = rbGetAllocationCount();
    rbAllocator previous = rbUseAllocator(worldDef.allocator);
    rbGeometry* ground = rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, &error);
    rbGeometry* ball = rbCreateSphere(0.1, &error);
    (void)rbUseAllocator(previous);

    rbWorld* world = rbCreateWorld(&worldDef, &error);
    if (world == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    rbGeometryId ballId = rbWorld_AddGeometry(world, ball);
    rbGeometryId groundId = rbWorld_AddGeometry(world, ground);
    for (int i = 0; i < 11; ++i) {
        rbBodyDef bodyDef = rbDefaultBodyDef();
        bodyDef.type = i == 0 ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
        bodyDef.position = rbMakeVec3(i, 0, i == 0 ? 0.0 : 0.1 + 0.01 * i);
        rbBodyId body = rbCreateBody(world, &bodyDef, &error);
        rbShapeDef shapeDef = rbDefaultShapeDef();
        shapeDef.geometry = i == 0 ? groundId : ballId;
        (void)rbCreateShape(world, body, &shapeDef, &error);
    }
    (void)rbWorld_Advance(world, 1.0);
    long warm = block.allocations;
    rbStepReport report = rbWorld_Advance(world, 1.0);
    long late = block.allocations - warm;
    unsigned long long all = rbGetAllocationCount() - before;
    printf("%ld allocations, all %llu of the library; %ld of them in the second second; %zu bytes "
           "used; %s\n",
           block.allocations, all, late, block.used,
           report.status == RB_STATUS_OK ? "the balls lie on the ground"
                                         : "the world reports trouble");
    rbDestroyWorld(world);
    printf("%ld bytes are held after the end of the world\n", block.held);
    return late == 0 && all == (unsigned long long)block.allocations && block.held == 0 &&
                   report.status == RB_STATUS_OK
               ? 0
               : 1;
}
