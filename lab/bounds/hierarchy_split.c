// Split rules (L-44, L-45): which axis, which place, and the surface-area heuristic.
//
// Faces are ordered by (key, index of the face), a total order: a split by number therefore always
// succeeds and does not depend on the initial order of the run. Where a split by the mean leaves
// one side empty, the reference points agree on that axis; if they agree on all three, the run is
// halved by index, so that leaves keep their size even for coincident faces.
#include "lab/bounds/hierarchy_split.h"

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/math/matrix3.h"

#include <string.h>

// Bins of the surface-area heuristic: more bins improve the trees of our meshes by less than 1 %.
#define BIN_COUNT 16

typedef enum ScoreRule {
    SCORE_SUM,
    SCORE_MAX,
    SCORE_VARIANCE,
} ScoreRule;

// The quantity that each axis rule evaluates; surface has no row here, because it is a separate
// rule.
typedef struct AxisRow {
    ScoreRule rule;
    bool isPrincipal;
} AxisRow;

static const AxisRow axisRows[RB_SPLIT_COUNT] = {
    [RB_SPLIT_SUM] = {SCORE_SUM, false},
    [RB_SPLIT_MAX] = {SCORE_MAX, false},
    [RB_SPLIT_VARIANCE] = {SCORE_VARIANCE, false},
    [RB_SPLIT_PRINCIPAL_SUM] = {SCORE_SUM, true},
    [RB_SPLIT_PRINCIPAL_MAX] = {SCORE_MAX, true},
    [RB_SPLIT_PRINCIPAL_VARIANCE] = {SCORE_VARIANCE, true},
    [RB_SPLIT_SURFACE] = {SCORE_VARIANCE, false},
};

static rbVec3 referenceOf(const rbPolyhedron* mesh, int face, rbVec3* scratch)
{
    const rbVolumeRow* sphere = rbGetVolumeRow(RB_VOLUME_SPHERE);
    const int* loop = mesh->indices + mesh->faceStarts[face];
    for (int i = 0; i < mesh->faceSizes[face]; ++i) {
        scratch[i] = mesh->vertices[loop[i]];
    }
    double volume[RB_VOLUME_SIZE_MAX];
    sphere->fit(scratch, mesh->faceSizes[face], volume);
    return sphere->center(volume);
}

static rbBounds boxOf(const rbPolyhedron* mesh, int face)
{
    const int* loop = mesh->indices + mesh->faceStarts[face];
    rbBounds box = {mesh->vertices[loop[0]], mesh->vertices[loop[0]]};
    for (int i = 1; i < mesh->faceSizes[face]; ++i) {
        box.lower = rbMin3(box.lower, mesh->vertices[loop[i]]);
        box.upper = rbMax3(box.upper, mesh->vertices[loop[i]]);
    }
    return box;
}

rbSplitter rbMakeSplitter(const rbHierarchyDef* def, const rbPolyhedron* mesh, int* faces)
{
    RB_ASSERT(mesh->faceCount > 0 && mesh->vertexCount > 0);
    size_t faceCount = (size_t)mesh->faceCount;
    size_t pointMax = (size_t)mesh->vertexCount; // each vertex is gathered at most once
    rbSplitter splitter = {
        .def = def,
        .row = rbGetVolumeRow(def->volume),
        .mesh = mesh,
        .faces = faces,
        .references = rbAlloc(faceCount * sizeof(rbVec3)),
        .keys = rbAlloc(faceCount * sizeof(double)),
        .spare = rbAlloc(faceCount * sizeof(int)),
        .marks = rbAllocZero(pointMax, sizeof(int)),
        .points = rbAlloc(pointMax * sizeof(rbVec3)),
        .corners = rbAlloc(pointMax * sizeof(int)),
    };
    int cornersMax = 1;
    for (int face = 0; face < mesh->faceCount; ++face) {
        cornersMax = mesh->faceSizes[face] > cornersMax ? mesh->faceSizes[face] : cornersMax;
    }
    rbVec3* scratch = rbAlloc((size_t)cornersMax * sizeof(rbVec3));
    for (int face = 0; face < mesh->faceCount; ++face) {
        faces[face] = face;
        splitter.references[face] = referenceOf(mesh, face, scratch);
    }
    rbFree(scratch, (size_t)cornersMax * sizeof(rbVec3));
    if (def->axis == RB_SPLIT_SURFACE) {
        splitter.boxes = rbAlloc(faceCount * sizeof(rbBounds));
        for (int face = 0; face < mesh->faceCount; ++face) {
            splitter.boxes[face] = boxOf(mesh, face);
        }
    }
    return splitter;
}

void rbFreeSplitter(rbSplitter* splitter)
{
    size_t faceCount = (size_t)splitter->mesh->faceCount;
    size_t pointMax = (size_t)splitter->mesh->vertexCount;
    rbFree(splitter->references, faceCount * sizeof(rbVec3));
    rbFree(splitter->keys, faceCount * sizeof(double));
    rbFree(splitter->spare, faceCount * sizeof(int));
    rbFree(splitter->marks, pointMax * sizeof(int));
    rbFree(splitter->points, pointMax * sizeof(rbVec3));
    rbFree(splitter->corners, pointMax * sizeof(int));
    rbFree(splitter->boxes, faceCount * sizeof(rbBounds));
}

void rbSplitter_Gather(rbSplitter* splitter, rbFaceRun run)
{
    RB_ASSERT(run.count > 0);
    const rbPolyhedron* mesh = splitter->mesh;
    int mark = ++splitter->markCount;
    int count = 0;
    for (int i = run.first; i < run.first + run.count; ++i) {
        int face = splitter->faces[i];
        int first = mesh->faceStarts[face];
        for (int corner = first; corner < first + mesh->faceSizes[face]; ++corner) {
            int vertex = mesh->indices[corner];
            if (splitter->marks[vertex] != mark) {
                splitter->marks[vertex] = mark;
                splitter->points[count] = mesh->vertices[vertex];
                splitter->corners[count] = corner;
                ++count;
            }
        }
    }
    RB_ASSERT(count > 0 && count <= mesh->vertexCount);
    splitter->pointCount = count;
}

rbMat3 rbSplitter_GetAxes(const rbSplitter* splitter)
{
    RB_ASSERT(splitter->pointCount > 0);
    const rbVec3* points = splitter->points;
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 0; i < splitter->pointCount; ++i) {
        sum = rbAdd(sum, rbSub(points[i], points[0]));
    }
    rbVec3 mean = rbAddScaled(points[0], 1.0 / splitter->pointCount, sum);
    rbSym3 spread = {0};
    for (int i = 0; i < splitter->pointCount; ++i) {
        rbVec3 d = rbSub(points[i], mean);
        rbSym3 term = {d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.x * d.z, d.y * d.z};
        spread = rbAddSym(spread, term);
    }
    return rbSym3_Diagonalize(spread).axes;
}

static void computeKeys(rbSplitter* splitter, rbFaceRun run, rbVec3 axis)
{
    for (int i = run.first; i < run.first + run.count; ++i) {
        int face = splitter->faces[i];
        splitter->keys[face] = rbDot(axis, splitter->references[face]);
    }
}

static double meanKey(const rbSplitter* splitter, rbFaceRun run)
{
    const int* faces = splitter->faces;
    double origin = splitter->keys[faces[run.first]];
    double sum = 0.0;
    for (int i = run.first; i < run.first + run.count; ++i) {
        sum += splitter->keys[faces[i]] - origin;
    }
    return origin + sum / run.count;
}

static double varianceOfKeys(const rbSplitter* splitter, rbFaceRun run)
{
    double mean = meanKey(splitter, run);
    double sum = 0.0;
    for (int i = run.first; i < run.first + run.count; ++i) {
        double d = splitter->keys[splitter->faces[i]] - mean;
        sum += d * d;
    }
    return sum / run.count;
}

// Moves faces with a key below the cut (or at it) to the front; returns how many there are.
static int partAt(rbSplitter* splitter, rbFaceRun run, double cut, bool isInclusive)
{
    int* faces = splitter->faces + run.first;
    int count = 0;
    for (int i = 0; i < run.count; ++i) {
        double key = splitter->keys[faces[i]];
        if (key < cut || (isInclusive && key == cut)) {
            int face = faces[i];
            faces[i] = faces[count];
            faces[count] = face;
            ++count;
        }
    }
    return count;
}

// Through the reference point nearest to the mean, which itself belongs to the upper half unless
// nothing is below. 0 if all keys agree.
static int partAtMean(rbSplitter* splitter, rbFaceRun run)
{
    double mean = meanKey(splitter, run);
    double cut = splitter->keys[splitter->faces[run.first]];
    for (int i = run.first; i < run.first + run.count; ++i) {
        double key = splitter->keys[splitter->faces[i]];
        if (fabs(key - mean) < fabs(cut - mean)) {
            cut = key;
        }
    }
    int count = partAt(splitter, run, cut, false);
    if (count == 0) {
        count = partAt(splitter, run, cut, true);
    }
    return count < run.count ? count : 0;
}

static bool isBefore(const double* keys, int a, int b)
{
    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
}

// Halves by selection with random pivots: expected O(n), for every order of the faces.
static int partAtMedian(rbSplitter* splitter, rbFaceRun run)
{
    int* faces = splitter->faces + run.first;
    const double* keys = splitter->keys;
    rbRandom random = {(uint64_t)run.count};
    int half = run.count / 2;
    int low = 0;
    int high = run.count - 1;
    while (low < high) {
        int pivot = faces[low + rbRandom_Index(&random, high - low + 1)];
        int i = low;
        int j = high;
        while (i <= j) {
            while (isBefore(keys, faces[i], pivot)) {
                ++i;
            }
            while (isBefore(keys, pivot, faces[j])) {
                --j;
            }
            if (i <= j) {
                int face = faces[i];
                faces[i] = faces[j];
                faces[j] = face;
                ++i;
                --j;
            }
        }
        if (half <= j) {
            high = j;
        } else if (half >= i) {
            low = i;
        } else {
            break;
        }
    }
    return half;
}

typedef int PlaceFn(rbSplitter* splitter, rbFaceRun run);

static PlaceFn* const placeFns[RB_SPLIT_PLACE_COUNT] = {
    [RB_SPLIT_MEAN] = partAtMean,
    [RB_SPLIT_MEDIAN] = partAtMedian,
};

// Computes the keys along the axis of largest variance.
static void chooseByVariance(rbSplitter* splitter, rbFaceRun run, const rbMat3* axes)
{
    const rbVec3 candidates[3] = {axes->cx, axes->cy, axes->cz};
    double best = -1.0;
    int chosen = 2;
    for (int i = 0; i < 3; ++i) {
        computeKeys(splitter, run, candidates[i]);
        double variance = varianceOfKeys(splitter, run);
        if (variance > best) {
            best = variance;
            chosen = i;
        }
    }
    computeKeys(splitter, run, candidates[chosen]);
}

static double volumeOf(rbSplitter* splitter, rbFaceRun run)
{
    double volume[RB_VOLUME_SIZE_MAX];
    rbSplitter_Gather(splitter, run);
    splitter->row->fit(splitter->points, splitter->pointCount, volume);
    return splitter->row->measure(volume).volume;
}

// Tries every axis and compares the volumes; 0 if no axis separates.
static int partByVolumes(rbSplitter* splitter, rbFaceRun run, const rbMat3* axes, ScoreRule rule)
{
    const rbVec3 candidates[3] = {axes->cx, axes->cy, axes->cz};
    int* faces = splitter->faces + run.first;
    size_t size = (size_t)run.count * sizeof(int);
    double best = INFINITY;
    int bestCount = 0;
    for (int i = 0; i < 3; ++i) {
        computeKeys(splitter, run, candidates[i]);
        int count = placeFns[splitter->def->place](splitter, run);
        if (count == 0) {
            continue;
        }
        double below = volumeOf(splitter, (rbFaceRun){run.first, count});
        double above = volumeOf(splitter, (rbFaceRun){run.first + count, run.count - count});
        double score = rule == SCORE_SUM ? below + above : rbMaxOf(below, above);
        if (score < best || bestCount == 0) {
            best = score;
            bestCount = count;
            memcpy(splitter->spare, faces, size);
        }
    }
    if (bestCount > 0) {
        memcpy(faces, splitter->spare, size);
    }
    return bestCount;
}

// ------------------------------------------------------------------------ surface-area heuristic

typedef struct Bin {
    rbBounds box;
    int count;
} Bin;

static const rbBounds emptyBox = {{INFINITY, INFINITY, INFINITY},
                                  {-INFINITY, -INFINITY, -INFINITY}};

static void growBox(rbBounds* box, const rbBounds* by)
{
    box->lower = rbMin3(box->lower, by->lower);
    box->upper = rbMax3(box->upper, by->upper);
}

static double surfaceOf(const rbBounds* box)
{
    rbVec3 d = rbSub(box->upper, box->lower);
    return d.x * d.y + d.y * d.z + d.z * d.x; // half of it, the factor does not matter
}

// Keys become the bins of the faces along the axis.
static bool fillBins(rbSplitter* splitter, rbFaceRun run, rbVec3 axis, Bin bins[BIN_COUNT])
{
    computeKeys(splitter, run, axis);
    const int* faces = splitter->faces + run.first;
    double low = INFINITY;
    double high = -INFINITY;
    for (int i = 0; i < run.count; ++i) {
        low = rbMinOf(low, splitter->keys[faces[i]]);
        high = rbMaxOf(high, splitter->keys[faces[i]]);
    }
    double scale = BIN_COUNT / (high - low);
    if (!isfinite(scale)) {
        return false;
    }
    for (int k = 0; k < BIN_COUNT; ++k) {
        bins[k] = (Bin){emptyBox, 0};
    }
    for (int i = 0; i < run.count; ++i) {
        int k = (int)((splitter->keys[faces[i]] - low) * scale);
        k = k < BIN_COUNT ? k : BIN_COUNT - 1;
        splitter->keys[faces[i]] = k;
        growBox(&bins[k].box, &splitter->boxes[faces[i]]);
        ++bins[k].count;
    }
    return true;
}

// The cheapest place to cut between bins: the last bin below, -1 if there is none; lowers *cost.
static int cutBins(const Bin bins[BIN_COUNT], double* cost)
{
    double above[BIN_COUNT]; // cost of the bins from k on
    rbBounds box = emptyBox;
    int count = 0;
    for (int k = BIN_COUNT - 1; k > 0; --k) {
        growBox(&box, &bins[k].box);
        count += bins[k].count;
        above[k] = count > 0 ? surfaceOf(&box) * count : INFINITY;
    }
    int best = -1;
    box = emptyBox;
    count = 0;
    for (int k = 0; k + 1 < BIN_COUNT; ++k) {
        growBox(&box, &bins[k].box);
        count += bins[k].count;
        double sum = count > 0 ? surfaceOf(&box) * count + above[k + 1] : INFINITY;
        if (sum < *cost) {
            *cost = sum;
            best = k;
        }
    }
    return best;
}

static int partBySurface(rbSplitter* splitter, rbFaceRun run)
{
    static const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    Bin bins[BIN_COUNT];
    double cost = INFINITY;
    int chosen = -1;
    int cut = -1;
    for (int i = 0; i < 3; ++i) {
        int place = fillBins(splitter, run, axes[i], bins) ? cutBins(bins, &cost) : -1;
        if (place >= 0) {
            chosen = i;
            cut = place;
        }
    }
    if (chosen < 0) {
        return 0;
    }
    (void)fillBins(splitter, run, axes[chosen], bins);
    return partAt(splitter, run, cut, true);
}

int rbSplitter_Part(rbSplitter* splitter, rbFaceRun run, bool isForced)
{
    RB_ASSERT(run.count >= 2);
    const rbHierarchyDef* def = splitter->def;
    const AxisRow* row = &axisRows[def->axis];
    int count = 0;
    rbMat3 axes = RB_MAT3_IDENTITY;
    if (row->isPrincipal) {
        rbSplitter_Gather(splitter, run);
        axes = rbSplitter_GetAxes(splitter);
    }
    if (def->axis == RB_SPLIT_SURFACE && !isForced) {
        count = partBySurface(splitter, run);
    } else if (row->rule != SCORE_VARIANCE && !isForced) {
        count = partByVolumes(splitter, run, &axes, row->rule);
    }
    if (count == 0) {
        // the rule of variance, a forced split, or reference points that agree on every axis
        chooseByVariance(splitter, run, &axes);
        bool byMean = row->rule == SCORE_VARIANCE && def->axis != RB_SPLIT_SURFACE && !isForced;
        count = byMean ? placeFns[def->place](splitter, run) : 0;
        count = count > 0 ? count : partAtMedian(splitter, run);
    }
    RB_ASSERT(count > 0 && count < run.count);
    return count;
}
