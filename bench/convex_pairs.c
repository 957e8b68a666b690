#include "convex_pairs.h"

#include "lab/math/random3.h"

#include <rattleback/collision.h>

#include <string.h>

#define TURN 0.01 // rad per step of the warm sets

const struct rbPlacementRow rbPlacements[RB_PLACE_COUNT] = {
    [RB_PLACE_SEPARATED] = {"separated", 0.5},
    [RB_PLACE_TOUCHING] = {"touching", 1e-4},
    [RB_PLACE_SHALLOW] = {"shallow", -0.02},
    [RB_PLACE_DEEP] = {"deep", -0.25},
};

static const struct {
    const char* name;
    rbPeerShapeKind kind;
    double size[3];
    int pointCount;
    uint64_t seed;
} shapes[RB_BENCH_SHAPE_COUNT] = {
    {"box", RB_PEER_BOX, {0.5, 0.5, 0.5}, 0, 0},
    {"ellipsoid", RB_PEER_ELLIPSOID, {0.5, 0.35, 0.25}, 0, 0},
    {"hull16", RB_PEER_HULL, {0.5, 0.5, 0.5}, 16, 11},
    {"hull128", RB_PEER_HULL, {0.5, 0.5, 0.5}, 128, 12},
};

// ------------------------------------------------------------------------------------------ shapes

// Corner i has the sign of bit k along axis k.
static void fillBox(rbBenchShape* shape, const double size[3])
{
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int i = 0; i < 8; ++i) {
        rbArray_Push(shape->points, rbMakeVec3((i & 1) != 0 ? size[0] : -size[0],
                                               (i & 2) != 0 ? size[1] : -size[1],
                                               (i & 4) != 0 ? size[2] : -size[2]));
    }
    for (int face = 0; face < 6; ++face) {
        rbArray_Push(shape->faceSizes, 4);
        for (int i = 0; i < 4; ++i) {
            rbArray_Push(shape->indices, faces[face][i]);
        }
    }
}

static void fillHull(rbBenchShape* shape)
{
    rbMeshDef mesh;
    (void)rbGeometry_GetMesh(shape->geometry, &mesh);
    for (int i = 0; i < mesh.vertexCount; ++i) {
        rbArray_Push(shape->points, mesh.vertices[i]);
    }
    int corner = 0;
    for (int face = 0; face < mesh.faceCount; ++face) {
        int size = mesh.faceSizes != NULL ? mesh.faceSizes[face] : 3;
        rbArray_Push(shape->faceSizes, size);
        for (int i = 0; i < size; ++i) {
            rbArray_Push(shape->indices, mesh.indices[corner++]);
        }
    }
}

static rbGeometry* makeHull(int count, uint64_t seed)
{
    rbVec3 points[128];
    RB_ASSERT(count <= 128);
    rbRandom random = {seed};
    for (int i = 0; i < count; ++i) {
        points[i] = rbScale(0.5, rbRandom_Direction(&random));
    }
    return rbCreateHull(points, count, NULL);
}

static bool makeShape(rbBenchShape* shape, int index)
{
    const double* size = shapes[index].size;
    rbVec3 extents = {size[0], size[1], size[2]};
    shape->name = shapes[index].name;
    shape->peer.kind = shapes[index].kind;
    memcpy(shape->peer.size, size, sizeof shape->peer.size);
    if (shape->peer.kind == RB_PEER_BOX) {
        shape->geometry = rbCreateBox(extents, NULL);
        fillBox(shape, size);
    } else if (shape->peer.kind == RB_PEER_ELLIPSOID) {
        shape->geometry = rbCreateEllipsoid(extents, NULL);
    } else {
        shape->geometry = makeHull(shapes[index].pointCount, shapes[index].seed);
        if (shape->geometry != NULL) {
            fillHull(shape);
        }
    }
    if (shape->geometry != NULL) {
        rbBenchShape_Finish(shape);
    }
    return shape->geometry != NULL;
}

static void freeShape(rbBenchShape* shape)
{
    rbDestroyGeometry(shape->geometry);
    rbArray_Free(shape->points);
    rbArray_Free(shape->normals);
    rbArray_Free(shape->offsets);
    rbArray_Free(shape->faceSizes);
    rbArray_Free(shape->indices);
    rbArray_Free(shape->neighborStart);
    rbArray_Free(shape->neighbors);
    rbArray_Free(shape->edges);
}

// ----------------------------------------------------------------------------------------- placing

// Data for placing a pair: B in the frame of A.
typedef struct rbPlacing {
    rbConvexPairs* pairs;
    rbSeparationInput input;
    void* scratch;
    rbQuat orientationA; // in the world
    rbVec3 normal;       // frame of A
} rbPlacing;

static rbSeparation measure(const rbPlacing* placing)
{
    rbSeparation separation = {0};
    (void)rbMeasureSeparation(&placing->input, NULL, placing->scratch, &separation, NULL);
    return separation;
}

// Moves B against a direction until the bodies almost touch. A step as long as the plane of the
// last normal allows never jumps over the contact, because that plane separates the bodies.
static void advance(rbPlacing* placing, rbVec3 direction)
{
    placing->input.transformBtoA.p = rbScale(2.5, direction); // farther than two radii
    for (int round = 0; round < 200; ++round) {
        rbSeparation separation = measure(placing);
        double approach = rbDot(separation.normal, direction);
        if (separation.distance < 1e-7 || approach <= 0.0) {
            break;
        }
        placing->normal = separation.normal;
        placing->input.transformBtoA.p = rbAddScaled(
            placing->input.transformBtoA.p, -(separation.distance - 0.5e-7) / approach, direction);
    }
}

static rbPeerPose makePose(rbVec3 p, rbQuat q)
{
    rbPeerPose pose = {{p.x, p.y, p.z}, {q.w, q.x, q.y, q.z}};
    return pose;
}

// Slides B along the normal to every placement and stores the pairs with their truths. Gaps are
// exact: sliding along the normal keeps the two support planes, so the gap is their distance.
// Returns the position of B when separated.
static rbVec3 storePlacements(rbPlacing* placing, rbPairSet sets[RB_PLACE_COUNT])
{
    rbTransform* pose = &placing->input.transformBtoA;
    rbReference reference = rbReference_Make(&placing->pairs->shape, pose->q);
    rbVec3 normal = rbReference_Polish(&reference, placing->normal, pose->p);
    double gap = -rbReference_GetOverlap(&reference, normal, pose->p);
    for (int place = 0; place < RB_PLACE_COUNT; ++place) {
        double wanted = rbPlacements[place].distance;
        rbVec3 t = rbAddScaled(pose->p, wanted - gap, normal);
        double truth = -rbReference_GetDepth(&reference, t);
        if (wanted > 0.0) {
            // facets do not measure the distance of edges and corners; the support planes do
            truth = -rbReference_GetOverlap(&reference, normal, t);
            placing->pairs->placeError = fmax(placing->pairs->placeError, fabs(truth - wanted));
        }
        rbPeerPair pair = {
            .a = makePose(RB_VEC3_ZERO, placing->orientationA),
            .b = makePose(rbRotate(placing->orientationA, t),
                          rbMulQuat(placing->orientationA, pose->q)),
        };
        rbArray_Push(sets[place].pairs, pair);
        rbArray_Push(sets[place].truths, truth);
    }
    rbReference_Free(&reference);
    return rbAddScaled(pose->p, rbPlacements[RB_PLACE_SEPARATED].distance - gap, normal);
}

// A pair of the suite and its rotation so far.
typedef struct rbDraw {
    rbQuat a, b;      // orientations in the world
    rbVec3 direction; // of approach, in the world
    rbVec3 axis;      // B turns about it, in the frame of A
    rbVec3 position;  // of B in the frame of A when separated, after the last step
} rbDraw;

static void placeCold(rbPlacing* placing, rbDraw* draw, rbPairSet* sets)
{
    placing->orientationA = draw->a;
    placing->input.transformBtoA.q = rbNormalizeQuat(rbMulQuat(rbConjugate(draw->a), draw->b));
    advance(placing, rbInvRotate(draw->a, draw->direction));
    draw->position = storePlacements(placing, sets);
}

// B keeps rotating at its separated position; the normal there changes continuously, and so do the
// placements that follow from it.
static void placeWarm(rbPlacing* placing, rbDraw* draw, int step, rbPairSet* sets)
{
    double sine, cosine;
    rbSinCos(0.5 * TURN * step, &sine, &cosine);
    rbQuat q = {cosine, sine * draw->axis.x, sine * draw->axis.y, sine * draw->axis.z};
    q = rbNormalizeQuat(rbMulQuat(q, rbMulQuat(rbConjugate(draw->a), draw->b)));
    placing->orientationA = draw->a;
    placing->input.transformBtoA = (rbTransform){draw->position, q};
    placing->normal = measure(placing).normal;
    draw->position = storePlacements(placing, sets);
}

rbConvexPairs* rbMakeConvexPairs(int shapeIndex, int coldCount, int warmCount, int warmSteps)
{
    rbConvexPairs* pairs = rbAllocZero(1, sizeof *pairs);
    if (!makeShape(&pairs->shape, shapeIndex)) {
        rbFree(pairs, sizeof *pairs);
        return NULL;
    }
    rbPlacing placing = {.pairs = pairs,
                         .input = rbDefaultSeparationInput(),
                         .scratch = rbAlloc(rbGetSeparationScratchSize())};
    placing.input.geometryA = pairs->shape.geometry;
    placing.input.geometryB = pairs->shape.geometry;
    rbDraw* draws = rbAllocZero((size_t)coldCount, sizeof *draws);
    rbRandom random = {77};
    for (int i = 0; i < coldCount; ++i) {
        draws[i].a = rbRandom_Quat(&random);
        draws[i].b = rbRandom_Quat(&random);
        draws[i].direction = rbRandom_Direction(&random);
    }
    for (int i = 0; i < coldCount; ++i) {
        draws[i].axis = rbRandom_Direction(&random);
        placeCold(&placing, &draws[i], pairs->cold);
    }
    for (int step = 0; step < warmSteps; ++step) {
        for (int i = 0; i < warmCount; ++i) {
            placeWarm(&placing, &draws[i], step, pairs->warm);
        }
    }
    for (int place = 0; place < RB_PLACE_COUNT; ++place) {
        pairs->cold[place].slotCount = coldCount;
        pairs->warm[place].slotCount = warmCount;
    }
    rbFree(draws, (size_t)coldCount * sizeof *draws);
    rbFree(placing.scratch, rbGetSeparationScratchSize());
    return pairs;
}

void rbFreeConvexPairs(rbConvexPairs* pairs)
{
    for (int place = 0; place < RB_PLACE_COUNT; ++place) {
        rbPairSet* sets[2] = {&pairs->cold[place], &pairs->warm[place]};
        for (int i = 0; i < 2; ++i) {
            rbArray_Free(sets[i]->pairs);
            rbArray_Free(sets[i]->truths);
        }
    }
    freeShape(&pairs->shape);
    rbFree(pairs, sizeof *pairs);
}
