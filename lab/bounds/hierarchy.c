// Top-down construction of a hierarchy (L-41, L-42): a node receives a run of faces, fits its
// volume to their vertices, and splits the run into as many children as the degree allows (L-46).
// Pending nodes wait on a stack; every node costs O(its vertices), every level O(n).
//
// Bottom-up construction (L-43) and optimal partitions (L-47) are not implemented: the first needs
// neighbors, which soups do not have, and the second costs more than all the queries that it saves.
#include "lab/bounds/hierarchy.h"

#include "base/core/cookie.h"
#include "base/core/memory.h"
#include "base/core/words.h"
#include "lab/bounds/hierarchy_split.h"

#include <string.h>

static const char* const axisNames[RB_SPLIT_COUNT] = {
    [RB_SPLIT_SUM] = "sum",
    [RB_SPLIT_MAX] = "max",
    [RB_SPLIT_VARIANCE] = "variance",
    [RB_SPLIT_PRINCIPAL_SUM] = "principal-sum",
    [RB_SPLIT_PRINCIPAL_MAX] = "principal-max",
    [RB_SPLIT_PRINCIPAL_VARIANCE] = "principal-variance",
    [RB_SPLIT_SURFACE] = "surface",
};
RB_DEFINE_WORDS(rbSplitAxis, "axis of a split", RB_SPLIT_COUNT, axisNames[index])

static const char* const placeNames[RB_SPLIT_PLACE_COUNT] = {
    [RB_SPLIT_MEAN] = "mean",
    [RB_SPLIT_MEDIAN] = "median",
};
RB_DEFINE_WORDS(rbSplitPlace, "place of a split", RB_SPLIT_PLACE_COUNT, placeNames[index])

void rbInitHierarchyDef(rbHierarchyDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_HIERARCHY, sizeof *def, abi, size)) {
        def->volume = RB_VOLUME_OBB;
        def->axis = RB_SPLIT_SURFACE;
        def->place = RB_SPLIT_MEDIAN;
        def->degree = 2;
        def->leafSize = 1;
        def->depthMax = RB_HIERARCHY_DEPTH_MAX;
    }
}

// ------------------------------------------------------------------------------------- building

// A node whose children are not built yet.
typedef struct Waiting {
    int node, level;
} Waiting;

typedef struct Builder {
    const rbHierarchyDef* def;
    const rbVolumeRow* row;
    rbSplitter splitter;
    RB_ARRAY(rbHierarchyNode) nodes;
    RB_ARRAY(double) volumes;
    RB_ARRAY(Waiting) waiting;
    int leafCount;
    int depth;
} Builder;

// Extremes along the principal axes, each corner once.
static void chooseRepresentatives(const rbSplitter* splitter, rbHierarchyNode* node)
{
    rbMat3 axes = rbSplitter_GetAxes(splitter);
    const rbVec3 directions[3] = {axes.cx, axes.cy, axes.cz};
    int extremes[RB_REPRESENTATIVES_MAX];
    int count = 0;
    for (int k = 0; k < 3; ++k) {
        int least = 0;
        int most = 0;
        for (int i = 1; i < splitter->pointCount; ++i) {
            double value = rbDot(directions[k], splitter->points[i]);
            least = value < rbDot(directions[k], splitter->points[least]) ? i : least;
            most = value > rbDot(directions[k], splitter->points[most]) ? i : most;
        }
        extremes[count++] = least;
        extremes[count++] = most;
    }
    node->representativeCount = 0;
    for (int k = 0; k < count; ++k) {
        int corner = splitter->corners[extremes[k]];
        bool isNew = true;
        for (int i = 0; i < node->representativeCount; ++i) {
            isNew = isNew && node->representatives[i] != corner;
        }
        if (isNew) {
            node->representatives[node->representativeCount++] = corner;
        }
    }
}

static void addNode(Builder* builder, rbFaceRun run, int level)
{
    RB_ASSERT(run.count > 0);
    RB_ASSERT(level >= 1 && level <= builder->def->depthMax);
    rbSplitter* splitter = &builder->splitter;
    rbSplitter_Gather(splitter, run);
    int index = builder->nodes.count;
    int size = builder->row->size;
    (void)rbArray_Reserve(builder->volumes, builder->volumes.count + size);
    double* volume = builder->volumes.data + builder->volumes.count;
    builder->volumes.count += size;
    builder->row->fit(splitter->points, splitter->pointCount, volume);

    rbHierarchyNode node = {.firstFace = run.first, .faceCount = run.count};
    node.center = builder->row->center(volume);
    double square = 0.0;
    for (int i = 0; i < splitter->pointCount; ++i) {
        square = rbMaxOf(square, rbLengthSquared(rbSub(splitter->points[i], node.center)));
    }
    node.radius = sqrt(square);
    chooseRepresentatives(splitter, &node);
    rbArray_Push(builder->nodes, node);
    builder->depth = level > builder->depth ? level : builder->depth;
    if (run.count <= builder->def->leafSize || level == builder->def->depthMax) {
        ++builder->leafCount;
    } else {
        rbArray_Push(builder->waiting, ((Waiting){index, level}));
    }
}

// True if the remaining levels suffice only when every run is halved. Then it must be halved, so
// that leaves keep their size.
static bool isForced(const Builder* builder, int faceCount, int level)
{
    long long room = builder->def->leafSize;
    for (int left = builder->def->depthMax - level; left > 1 && room < faceCount; --left) {
        room *= 2;
    }
    return room < faceCount;
}

static void makeChildren(Builder* builder, Waiting waiting)
{
    rbHierarchyNode* node = &builder->nodes.data[waiting.node];
    rbFaceRun parts[RB_HIERARCHY_DEGREE_MAX];
    parts[0] = (rbFaceRun){node->firstFace, node->faceCount};
    bool mustHalve = isForced(builder, node->faceCount, waiting.level);
    int count = 1;
    while (count < builder->def->degree) {
        int largest = 0;
        for (int i = 1; i < count; ++i) {
            largest = parts[i].count > parts[largest].count ? i : largest;
        }
        rbFaceRun run = parts[largest];
        if (run.count < 2 || (count > 1 && run.count <= builder->def->leafSize)) {
            break;
        }
        int below = rbSplitter_Part(&builder->splitter, run, mustHalve);
        // keep the runs in order of places
        memmove(parts + largest + 1, parts + largest, (size_t)(count - largest) * sizeof parts[0]);
        parts[largest] = (rbFaceRun){run.first, below};
        parts[largest + 1] = (rbFaceRun){run.first + below, run.count - below};
        ++count;
    }
    node->firstChild = builder->nodes.count;
    node->childCount = count;
    for (int i = 0; i < count; ++i) { // invalidates the pointer to the node
        addNode(builder, parts[i], waiting.level + 1);
    }
}

// Corners in the order of places; representatives change from corners of the mesh to these corners.
static void layOutCorners(rbHierarchy* hierarchy)
{
    const rbPolyhedron* mesh = hierarchy->mesh;
    int* newCorners = rbAlloc((size_t)mesh->indexCount * sizeof(int));
    int count = 0;
    for (int place = 0; place < hierarchy->faceCount; ++place) {
        int face = hierarchy->faces[place];
        int first = mesh->faceStarts[face];
        hierarchy->cornerStarts[place] = count;
        hierarchy->placeOfFace[face] = place;
        for (int corner = first; corner < first + mesh->faceSizes[face]; ++corner) {
            hierarchy->corners[count] = mesh->vertices[mesh->indices[corner]];
            newCorners[corner] = count;
            ++count;
        }
        int size = mesh->faceSizes[face];
        hierarchy->cornersMax = size > hierarchy->cornersMax ? size : hierarchy->cornersMax;
    }
    RB_ASSERT(count == mesh->indexCount);
    hierarchy->cornerStarts[hierarchy->faceCount] = count;
    for (int i = 0; i < hierarchy->nodeCount; ++i) {
        rbHierarchyNode* node = &hierarchy->nodes[i];
        for (int k = 0; k < node->representativeCount; ++k) {
            node->representatives[k] = newCorners[node->representatives[k]];
        }
    }
    rbFree(newCorners, (size_t)mesh->indexCount * sizeof(int));
}

static void build(rbHierarchy* hierarchy)
{
    Builder builder = {.def = &hierarchy->def, .row = hierarchy->row};
    builder.splitter = rbMakeSplitter(&hierarchy->def, hierarchy->mesh, hierarchy->faces);
    addNode(&builder, (rbFaceRun){0, hierarchy->faceCount}, 1);
    while (builder.waiting.count > 0) {
        makeChildren(&builder, builder.waiting.data[--builder.waiting.count]);
    }
    size_t nodeSize = (size_t)builder.nodes.count * sizeof(rbHierarchyNode);
    size_t volumeSize = (size_t)builder.volumes.count * sizeof(double);
    hierarchy->nodes = rbAlloc(nodeSize);
    hierarchy->volumes = rbAlloc(volumeSize);
    memcpy(hierarchy->nodes, builder.nodes.data, nodeSize);
    memcpy(hierarchy->volumes, builder.volumes.data, volumeSize);
    hierarchy->nodeCount = builder.nodes.count;
    hierarchy->leafCount = builder.leafCount;
    hierarchy->depth = builder.depth;
    rbArray_Free(builder.nodes);
    rbArray_Free(builder.volumes);
    rbArray_Free(builder.waiting);
    rbFreeSplitter(&builder.splitter);
    layOutCorners(hierarchy);
}

static rbStatus validateDef(const rbHierarchyDef* def, rbError* error)
{
    rbStatus status = RB_CHECK_COOKIE(def, RB_KIND_HIERARCHY, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if ((unsigned)def->volume >= RB_VOLUME_COUNT || (unsigned)def->axis >= RB_SPLIT_COUNT ||
        (unsigned)def->place >= RB_SPLIT_PLACE_COUNT) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "volume %d, axis %d or place %d of the hierarchy is unknown; below %d, %d and "
            "%d are accepted",
            (int)def->volume, (int)def->axis, (int)def->place, (int)RB_VOLUME_COUNT,
            (int)RB_SPLIT_COUNT, (int)RB_SPLIT_PLACE_COUNT);
    }
    if (def->degree < 2 || def->degree > RB_HIERARCHY_DEGREE_MAX) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the degree of the hierarchy is %d; 2 to %d are accepted", def->degree,
                           RB_HIERARCHY_DEGREE_MAX);
    }
    if (def->leafSize < 1) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the leaf size of the hierarchy is %d; at least 1 is accepted",
                           def->leafSize);
    }
    if (def->depthMax < 1 || def->depthMax > RB_HIERARCHY_DEPTH_MAX) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the depth of the hierarchy is %d; 1 to %d are accepted", def->depthMax,
                           RB_HIERARCHY_DEPTH_MAX);
    }
    return RB_STATUS_OK;
}

rbHierarchy* rbCreateHierarchy(const rbGeometry* geometry, const rbHierarchyDef* def,
                               rbError* error)
{
    RB_ASSERT(geometry != NULL);
    RB_ASSERT(def != NULL);
    if (validateDef(def, error) != RB_STATUS_OK) {
        return NULL;
    }
    const rbPolyhedron* mesh = geometry->polyhedron;
    if (mesh == NULL || mesh->faceCount < 1) {
        (void)rbError_Set(
            error, RB_STATUS_UNSUPPORTED,
            "a %s has no faces to build a hierarchy of; use a hull, polyhedron, mesh or "
            "soup",
            rbShapeType_Name(geometry->type));
        return NULL;
    }
    rbHierarchy* hierarchy = rbAllocZero(1, sizeof *hierarchy);
    hierarchy->def = *def;
    hierarchy->row = rbGetVolumeRow(def->volume);
    hierarchy->geometry = rbGeometry_Retain(geometry);
    hierarchy->mesh = mesh;
    hierarchy->faceCount = mesh->faceCount;
    hierarchy->faces = rbAlloc((size_t)mesh->faceCount * sizeof(int));
    hierarchy->placeOfFace = rbAlloc((size_t)mesh->faceCount * sizeof(int));
    hierarchy->cornerStarts = rbAlloc((size_t)(mesh->faceCount + 1) * sizeof(int));
    hierarchy->corners = rbAlloc((size_t)mesh->indexCount * sizeof(rbVec3));
    RB_ASSERT(hierarchy->row->size > 0 && hierarchy->row->size <= RB_VOLUME_SIZE_MAX);
    build(hierarchy);
    return hierarchy;
}

// Sizes of the parts, for freeing and for the info.
static size_t sizeOfNodes(const rbHierarchy* hierarchy)
{
    return (size_t)hierarchy->nodeCount * sizeof(rbHierarchyNode);
}

static size_t sizeOfVolumes(const rbHierarchy* hierarchy)
{
    return (size_t)hierarchy->nodeCount * (size_t)hierarchy->row->size * sizeof(double);
}

void rbDestroyHierarchy(rbHierarchy* hierarchy)
{
    if (hierarchy == NULL) {
        return;
    }
    size_t faceCount = (size_t)hierarchy->faceCount;
    rbFree(hierarchy->nodes, sizeOfNodes(hierarchy));
    rbFree(hierarchy->volumes, sizeOfVolumes(hierarchy));
    rbFree(hierarchy->faces, faceCount * sizeof(int));
    rbFree(hierarchy->placeOfFace, faceCount * sizeof(int));
    rbFree(hierarchy->cornerStarts, (faceCount + 1) * sizeof(int));
    rbFree(hierarchy->corners, (size_t)hierarchy->mesh->indexCount * sizeof(rbVec3));
    rbDestroyGeometry(hierarchy->geometry);
    rbFree(hierarchy, sizeof *hierarchy);
}

rbHierarchyInfo rbHierarchy_GetInfo(const rbHierarchy* hierarchy)
{
    RB_ASSERT(hierarchy != NULL);
    rbHierarchyInfo info = {
        .faceCount = hierarchy->faceCount,
        .nodeCount = hierarchy->nodeCount,
        .leafCount = hierarchy->leafCount,
        .depth = hierarchy->depth,
    };
    info.bytes = sizeof *hierarchy + sizeOfNodes(hierarchy) + sizeOfVolumes(hierarchy) +
                 (3 * (size_t)hierarchy->faceCount + 1) * sizeof(int) +
                 (size_t)hierarchy->mesh->indexCount * sizeof(rbVec3);
    for (int i = 0; i < hierarchy->nodeCount; ++i) {
        const rbHierarchyNode* node = &hierarchy->nodes[i];
        info.volumeSum += hierarchy->row->measure(rbHierarchy_GetVolume(hierarchy, i)).volume;
        if (node->childCount == 0 && node->faceCount > info.leafSizeMax) {
            info.leafSizeMax = node->faceCount;
        }
    }
    return info;
}

int rbHierarchy_FindPlaceOfCorner(const rbHierarchy* hierarchy, int corner)
{
    RB_ASSERT(corner >= 0 && corner < hierarchy->cornerStarts[hierarchy->faceCount]);
    int low = 0;
    int high = hierarchy->faceCount;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (hierarchy->cornerStarts[middle] <= corner) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// ------------------------------------------------------------------------------------- validity

static bool isNodeValid(const rbHierarchy* hierarchy, int index)
{
    const rbHierarchyNode* node = &hierarchy->nodes[index];
    const double* volume = rbHierarchy_GetVolume(hierarchy, index);
    int first = hierarchy->cornerStarts[node->firstFace];
    int end = hierarchy->cornerStarts[node->firstFace + node->faceCount];
    double slack = 1e-15 * hierarchy->mesh->scale;
    bool isValid = node->faceCount > 0 && node->representativeCount > 0;
    double radius = 0.0;
    for (int corner = first; corner < end; ++corner) {
        radius = rbMaxOf(radius, rbDistance(hierarchy->corners[corner], node->center));
        isValid = isValid && hierarchy->row->contains(volume, hierarchy->corners[corner], slack);
    }
    isValid = isValid && fabs(radius - node->radius) <= slack;
    for (int k = 0; k < node->representativeCount; ++k) {
        int corner = node->representatives[k];
        isValid = isValid && corner >= first && corner < end;
    }
    if (node->childCount > 0) {
        isValid = isValid && node->childCount >= 2 && node->firstChild > index;
        int place = node->firstFace;
        for (int i = 0; i < node->childCount; ++i) {
            const rbHierarchyNode* child = &hierarchy->nodes[node->firstChild + i];
            isValid = isValid && child->firstFace == place;
            place += child->faceCount;
        }
        isValid = isValid && place == node->firstFace + node->faceCount;
    }
    return isValid;
}

bool rbHierarchy_IsValid(const rbHierarchy* hierarchy)
{
    RB_ASSERT(hierarchy != NULL);
    const rbHierarchyNode* root = &hierarchy->nodes[0];
    bool isValid = root->firstFace == 0 && root->faceCount == hierarchy->faceCount;
    int childSum = 1;
    int leafCount = 0;
    for (int i = 0; i < hierarchy->nodeCount && isValid; ++i) {
        childSum += hierarchy->nodes[i].childCount;
        leafCount += hierarchy->nodes[i].childCount == 0;
        isValid = isNodeValid(hierarchy, i);
    }
    bool* isSeen = rbAllocZero((size_t)hierarchy->faceCount, sizeof(bool));
    for (int place = 0; place < hierarchy->faceCount && isValid; ++place) {
        isValid = !isSeen[hierarchy->faces[place]];
        isSeen[hierarchy->faces[place]] = true;
    }
    rbFree(isSeen, (size_t)hierarchy->faceCount * sizeof(bool));
    return isValid && childSum == hierarchy->nodeCount && leafCount == hierarchy->leafCount;
}
