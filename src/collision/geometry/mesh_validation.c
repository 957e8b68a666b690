// Mesh validation (L-03). Everything is linear in vertices and corners: half edges are sorted by
// counting, positions and faces are compared through hash tables, fans and components by
// union-find.
#include "base/core/disjoint_sets.h"
#include "base/core/hash.h"
#include "base/core/memory.h"
#include "collision/geometry/half_edge.h"
#include "collision/geometry/polyhedron.h"

#include <stdio.h>
#include <string.h>

// A face is flat if its corners deviate by at most this fraction of the diameter of the mesh.
#define PLANE_TOLERANCE 1e-9
// A face has an area if it is more than this fraction of its longest side squared.
#define AREA_TOLERANCE 1e-12

typedef struct IssueText {
    bool isError;
    const char* label;
    const char* one;
    const char* many;
} IssueText;

static const IssueText issueTexts[] = {
#define ISSUE_TEXT(name, isError, label, one, many) {isError, label, one, many},
    RB_MESH_ISSUE_MAP(ISSUE_TEXT)
#undef ISSUE_TEXT
};
_Static_assert(sizeof issueTexts / sizeof issueTexts[0] == RB_MESH_ISSUE_COUNT, "one text a kind");

typedef struct Examination {
    const rbMeshDef* def;
    int cornerCount;
    int* starts; // faceCount + 1
    rbMeshReport report;
    rbMeshIssue* issues;
    int capacity;
} Examination;

const char* rbMeshIssueKind_Text(rbMeshIssueKind kind)
{
    return (unsigned)kind < RB_MESH_ISSUE_COUNT ? issueTexts[kind].label : "unknown";
}

bool rbMeshIssueKind_IsError(rbMeshIssueKind kind)
{
    return (unsigned)kind < RB_MESH_ISSUE_COUNT && issueTexts[kind].isError;
}

static void addIssue(Examination* e, rbMeshIssue issue)
{
    rbMeshReport* report = &e->report;
    if (report->counts[issue.kind]++ == 0) {
        report->firsts[issue.kind] = issue;
    }
    ++report->issueCount;
    if (report->storedCount < e->capacity) {
        e->issues[report->storedCount++] = issue;
    }
}

static void addFaceIssue(Examination* e, rbMeshIssueKind kind, int face, int otherFace)
{
    addIssue(e, (rbMeshIssue){kind, face, otherFace, -1, -1});
}

// Checks the sizes: false if no further check is possible.
static bool examineSizes(Examination* e)
{
    const rbMeshDef* def = e->def;
    if (def->vertexCount <= 0 || def->faceCount <= 0 || def->vertices == NULL ||
        def->indices == NULL) {
        addFaceIssue(e, RB_MESH_ISSUE_EMPTY, -1, -1);
        return false;
    }
    if (def->vertexCount > RB_MESH_ELEMENTS_MAX || def->faceCount > RB_MESH_ELEMENTS_MAX ||
        rbCountCorners(def) > RB_MESH_ELEMENTS_MAX) {
        addFaceIssue(e, RB_MESH_ISSUE_TOO_LARGE, -1, -1);
        return false;
    }
    bool isGood = true;
    for (int f = 0; f < def->faceCount; ++f) {
        if (rbGetFaceSize(def, f) > RB_FACE_CORNERS_MAX) {
            addFaceIssue(e, RB_MESH_ISSUE_TOO_LARGE, f, -1);
            isGood = false;
        }
    }
    for (int f = 0; f < def->faceCount; ++f) {
        if (rbGetFaceSize(def, f) < 3) {
            addFaceIssue(e, RB_MESH_ISSUE_DEGENERATE_FACE, f, -1);
            isGood = false;
        }
    }
    return isGood;
}

// Checks indices and coordinates: false if an index is out of range.
static bool examineIndices(Examination* e)
{
    const rbMeshDef* def = e->def;
    for (int f = 0; f < def->faceCount; ++f) {
        for (int k = e->starts[f]; k < e->starts[f + 1]; ++k) {
            int index = def->indices[k];
            if (index < 0 || index >= def->vertexCount) {
                addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_INDEX, f, -1, index, -1});
            }
        }
    }
    return e->report.counts[RB_MESH_ISSUE_INDEX] == 0;
}

// Open addressing; a slot holds an index + 1.
typedef struct Table {
    int* slots;
    size_t mask;
} Table;

static Table makeTable(int count)
{
    size_t size = 16;
    while (size < 2 * (size_t)count) {
        size *= 2;
    }
    return (Table){rbAllocZero(size, sizeof(int)), size - 1};
}

static void freeTable(Table* table)
{
    rbFree(table->slots, (table->mask + 1) * sizeof(int));
}

static void examineVertices(Examination* e, const bool* isUsed)
{
    const rbMeshDef* def = e->def;
    for (int i = 0; i < def->vertexCount; ++i) {
        if (!rbIsPlace(def->vertices[i])) {
            addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_NOT_FINITE, -1, -1, i, -1});
        }
    }
    Table table = makeTable(def->vertexCount);
    for (int i = 0; i < def->vertexCount; ++i) {
        rbVec3 v = def->vertices[i];
        size_t slot = (size_t)rbHashVec3(RB_HASH_SEED, v) & table.mask;
        bool isDuplicate = false;
        while (table.slots[slot] != 0 && !isDuplicate) {
            rbVec3 w = def->vertices[table.slots[slot] - 1];
            isDuplicate = v.x == w.x && v.y == w.y && v.z == w.z;
            slot = isDuplicate ? slot : (slot + 1) & table.mask;
        }
        if (isDuplicate) {
            addIssue(
                e, (rbMeshIssue){RB_MESH_ISSUE_DUPLICATE_VERTEX, -1, -1, i, table.slots[slot] - 1});
        } else {
            table.slots[slot] = i + 1;
        }
    }
    freeTable(&table);
    for (int i = 0; i < def->vertexCount; ++i) {
        if (!isUsed[i]) {
            addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_UNUSED_VERTEX, -1, -1, i, -1});
        }
    }
}

static bool hasArea(const rbMeshDef* def, const int* loop, int size)
{
    rbVec3 newell = rbComputeNewell(def->vertices, loop, size);
    double longest = 0.0;
    for (int i = 0; i < size; ++i) {
        rbVec3 side = rbSub(def->vertices[loop[(i + 1) % size]], def->vertices[loop[i]]);
        longest = rbMaxOf(longest, rbLengthSquared(side));
    }
    return rbLength(newell) > AREA_TOLERANCE * longest;
}

// Faces without area. marks holds for each vertex the last face seen there, as face + 1.
static void examineAreas(Examination* e, int* marks)
{
    const rbMeshDef* def = e->def;
    bool isFinite = e->report.counts[RB_MESH_ISSUE_NOT_FINITE] == 0;
    for (int f = 0; f < def->faceCount; ++f) {
        const int* loop = def->indices + e->starts[f];
        int size = e->starts[f + 1] - e->starts[f];
        int repeated = -1;
        for (int i = 0; i < size; ++i) {
            repeated = marks[loop[i]] == f + 1 ? loop[i] : repeated;
            marks[loop[i]] = f + 1;
        }
        if (repeated >= 0 || (isFinite && !hasArea(def, loop, size))) {
            addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_DEGENERATE_FACE, f, -1, repeated, -1});
        }
    }
}

static void examineFaceCopies(Examination* e, int* marks)
{
    const rbMeshDef* def = e->def;
    memset(marks, 0, (size_t)def->vertexCount * sizeof(int));
    Table table = makeTable(def->faceCount);
    for (int f = 0; f < def->faceCount; ++f) {
        const int* loop = def->indices + e->starts[f];
        int size = e->starts[f + 1] - e->starts[f];
        // commutative, so that neither start nor direction of the loop matters
        uint64_t sum = (uint64_t)size;
        for (int i = 0; i < size; ++i) {
            marks[loop[i]] = f + 1;
            double index = (double)loop[i];
            sum += rbHashDoubles(RB_HASH_SEED, &index, 1);
        }
        size_t slot = (size_t)(sum ^ (sum >> 31)) & table.mask;
        int copy = -1;
        while (table.slots[slot] != 0 && copy < 0) {
            int other = table.slots[slot] - 1;
            bool isSame = e->starts[other + 1] - e->starts[other] == size;
            for (int k = e->starts[other]; isSame && k < e->starts[other + 1]; ++k) {
                isSame = marks[def->indices[k]] == f + 1;
            }
            copy = isSame ? other : -1;
            slot = (slot + 1) & table.mask;
        }
        if (copy >= 0) {
            addFaceIssue(e, RB_MESH_ISSUE_DUPLICATE_FACE, f, copy);
        } else {
            table.slots[slot] = f + 1;
        }
    }
    freeTable(&table);
}

// The defect of one edge, RB_MESH_ISSUE_COUNT if there is none.
static rbMeshIssueKind validateEdge(const rbHalfEdge* group, int count)
{
    for (int i = 1; i < count; ++i) {
        if (group[i].face == group[i - 1].face) {
            return RB_MESH_ISSUE_EDGE_TWICE; // corners are in order, so copies are neighbors
        }
    }
    return count == 1                                 ? RB_MESH_ISSUE_OPEN_EDGE
           : count > 2                                ? RB_MESH_ISSUE_NON_MANIFOLD_EDGE
           : group[0].isForward == group[1].isForward ? RB_MESH_ISSUE_ORIENTATION
                                                      : RB_MESH_ISSUE_COUNT;
}

static void examineEdges(Examination* e, const rbHalfEdge* halfEdges)
{
    for (int kind = RB_MESH_ISSUE_EDGE_TWICE; kind <= RB_MESH_ISSUE_ORIENTATION; ++kind) {
        for (int i = 0; i < e->cornerCount;) {
            int end = rbGetEdgeEnd(halfEdges, e->cornerCount, i);
            const rbHalfEdge* h = &halfEdges[i];
            if (h->low != h->high && (int)validateEdge(h, end - i) == kind) {
                int other = end - i > 1 ? h[1].face : -1;
                int from = h->isForward ? h->low : h->high, to = h->isForward ? h->high : h->low;
                addIssue(e, (rbMeshIssue){(rbMeshIssueKind)kind, h->face, other, from, to});
            }
            i = end;
        }
    }
    for (int i = 0; i < e->cornerCount; i = rbGetEdgeEnd(halfEdges, e->cornerCount, i)) {
        e->report.edgeCount += halfEdges[i].low != halfEdges[i].high;
    }
}

// The corners at a vertex must be one fan: joined through the edges that end there.
static void examineFans(Examination* e, const rbHalfEdge* halfEdges, int* marks)
{
    const rbMeshDef* def = e->def;
    int* parents = rbAlloc((size_t)e->cornerCount * sizeof(int));
    for (int k = 0; k < e->cornerCount; ++k) {
        parents[k] = k;
    }
    for (int i = 0; i < e->cornerCount;) {
        int end = rbGetEdgeEnd(halfEdges, e->cornerCount, i);
        for (int k = i + 1; k < end; ++k) {
            const rbHalfEdge* a = &halfEdges[i];
            const rbHalfEdge* b = &halfEdges[k];
            bool isSameWay = a->isForward == b->isForward;
            (void)rbSets_Join(parents, a->corner, isSameWay ? b->corner : b->nextCorner);
            (void)rbSets_Join(parents, a->nextCorner, isSameWay ? b->nextCorner : b->corner);
        }
        i = end;
    }
    // marks: 0 none, root + 1 the only fan so far, -1 several and already reported
    memset(marks, 0, (size_t)def->vertexCount * sizeof(int));
    for (int k = 0; k < e->cornerCount; ++k) {
        int vertex = def->indices[k];
        int fan = rbSets_Find(parents, k) + 1;
        if (marks[vertex] == 0) {
            marks[vertex] = fan;
        } else if (marks[vertex] != fan && marks[vertex] > 0) {
            marks[vertex] = -1;
        }
    }
    for (int v = 0; v < def->vertexCount; ++v) {
        if (marks[v] < 0) {
            addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_NON_MANIFOLD_VERTEX, -1, -1, v, -1});
        }
    }
    rbFree(parents, (size_t)e->cornerCount * sizeof(int));
}

static void examineComponents(Examination* e)
{
    int count;
    int* parts = rbFindMeshParts(e->def, &count);
    e->report.componentCount = count;
    if (count > 1) {
        addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_SEVERAL_COMPONENTS, -1, -1, parts[1], -1});
        e->report.counts[RB_MESH_ISSUE_SEVERAL_COMPONENTS] = count;
    }
    rbFree(parts, (size_t)count * sizeof(int));
}

// Checks planes and outlines of polygons.
static void examinePlanes(Examination* e)
{
    rbPolyhedron* p = rbCreateBrep(e->def, false, false);
    double tolerance = PLANE_TOLERANCE * e->report.diameter;
    for (int f = 0; f < p->faceCount; ++f) {
        int worst = -1;
        double largest = tolerance;
        for (int k = p->faceStarts[f]; p->faceSizes[f] > 3 && k < p->faceStarts[f + 1]; ++k) {
            double height = fabs(rbDot(p->normals[f], p->vertices[p->indices[k]]) - p->offsets[f]);
            if (height > largest) {
                largest = height;
                worst = p->indices[k];
            }
        }
        if (worst >= 0) {
            addIssue(e, (rbMeshIssue){RB_MESH_ISSUE_NON_PLANAR_FACE, f, -1, worst, -1});
        }
    }
    for (int f = 0; f < p->faceCount; ++f) {
        if (p->faceSizes[f] > 3 && rbPolyhedron_IsFaceCrossing(p, f)) {
            addFaceIssue(e, RB_MESH_ISSUE_CROSSING_FACE, f, -1);
        }
    }
    rbDestroyBrep(p);
}

static void examineVolume(Examination* e)
{
    rbMeshReport* report = &e->report;
    const long long* counts = report->counts;
    report->isClosed = counts[RB_MESH_ISSUE_OPEN_EDGE] == 0;
    bool isOriented = report->isClosed && counts[RB_MESH_ISSUE_EDGE_TWICE] == 0 &&
                      counts[RB_MESH_ISSUE_NON_MANIFOLD_EDGE] == 0 &&
                      counts[RB_MESH_ISSUE_ORIENTATION] == 0;
    if (!isOriented || counts[RB_MESH_ISSUE_NOT_FINITE] > 0) {
        return;
    }
    report->volume = rbComputeMeshMass(e->def).volume;
    report->isSolid = report->volume > 0.0;
    if (!report->isSolid) {
        addFaceIssue(e, RB_MESH_ISSUE_INSIDE_OUT, -1, -1);
    }
}

static void examineContent(Examination* e)
{
    const rbMeshDef* def = e->def;
    size_t vertexCount = (size_t)def->vertexCount;
    bool* isUsed = rbAllocZero(vertexCount, sizeof(bool));
    int* marks = rbAllocZero(vertexCount, sizeof(int));
    for (int k = 0; k < e->cornerCount; ++k) {
        isUsed[def->indices[k]] = true;
    }
    examineVertices(e, isUsed);
    bool isFinite = e->report.counts[RB_MESH_ISSUE_NOT_FINITE] == 0;
    if (isFinite) {
        rbBounds box = rbBoundPoints(def->vertices, def->indices, e->cornerCount);
        e->report.diameter = rbDistance(box.lower, box.upper);
    }
    examineAreas(e, marks);
    examineFaceCopies(e, marks);
    rbHalfEdge* halfEdges = rbSortHalfEdges(def, e->cornerCount);
    examineEdges(e, halfEdges);
    examineFans(e, halfEdges, marks);
    rbFree(halfEdges, (size_t)e->cornerCount * sizeof(rbHalfEdge));
    if (isFinite && def->faceSizes != NULL &&
        e->report.counts[RB_MESH_ISSUE_DEGENERATE_FACE] == 0) {
        examinePlanes(e);
    }
    examineVolume(e);
    examineComponents(e);
    rbFree(isUsed, vertexCount * sizeof(bool));
    rbFree(marks, vertexCount * sizeof(int));
}

rbMeshReport rbValidateMesh(const rbMeshDef* def, rbMeshIssue* issues, int capacity)
{
    RB_ASSERT(def != NULL);
    RB_ASSERT(capacity >= 0 && (capacity == 0 || issues != NULL));
    Examination e = {.def = def, .issues = issues, .capacity = capacity};
    e.report.vertexCount = def->vertexCount;
    e.report.faceCount = def->faceCount;
    for (int kind = 0; kind < RB_MESH_ISSUE_COUNT; ++kind) {
        e.report.firsts[kind] = (rbMeshIssue){(rbMeshIssueKind)kind, -1, -1, -1, -1};
    }
    if (examineSizes(&e)) {
        size_t startBytes = ((size_t)def->faceCount + 1) * sizeof(int);
        e.starts = rbAlloc(startBytes);
        e.starts[0] = 0;
        for (int f = 0; f < def->faceCount; ++f) {
            e.starts[f + 1] = e.starts[f] + rbGetFaceSize(def, f);
        }
        e.cornerCount = e.starts[def->faceCount];
        if (examineIndices(&e)) {
            examineContent(&e);
        }
        rbFree(e.starts, startBytes);
    }
    e.report.isValid = true;
    for (int kind = 0; kind < RB_MESH_ISSUE_COUNT && e.report.isValid; ++kind) {
        e.report.isValid = e.report.counts[kind] == 0 || !issueTexts[kind].isError;
    }
    return e.report;
}

// ", the first ..." with the known location.
static void describePlace(const rbMeshIssue* issue, bool isOnly, char* text, size_t capacity)
{
    const char* first = isOnly ? "" : "the first ";
    int a = issue->vertexA, b = issue->vertexB, face = issue->face, like = issue->otherFace;
    text[0] = '\0';
    if (a >= 0 && b >= 0 && face >= 0) {
        (void)snprintf(text, capacity, ", %sbetween vertices %d and %d of face %d", first, a, b,
                       face);
    } else if (a >= 0 && b >= 0) {
        (void)snprintf(text, capacity, ", %sat vertices %d and %d", first, a, b);
    } else if (face >= 0 && like >= 0) {
        (void)snprintf(text, capacity, ", %sbeing face %d, like face %d", first, face, like);
    } else if (face >= 0 && a >= 0) {
        (void)snprintf(text, capacity, ", %sat vertex %d of face %d", first, a, face);
    } else if (face >= 0) {
        (void)snprintf(text, capacity, ", %sbeing face %d", first, face);
    } else if (a >= 0) {
        (void)snprintf(text, capacity, ", %sat vertex %d", first, a);
    }
}

// The message for one kind of issue of a report.
static void describeIssue(const rbMeshReport* report, rbMeshIssueKind kind, char* text,
                          size_t capacity)
{
    RB_ASSERT(report->counts[kind] > 0);
    long long count = report->counts[kind];
    const IssueText* t = &issueTexts[kind];
    char place[96];
    describePlace(&report->firsts[kind], count == 1, place, sizeof place);
    if (count == 1) {
        (void)snprintf(text, capacity, "%s: %s%s", t->label, t->one, place);
    } else {
        (void)snprintf(text, capacity, "%s: %lld %s%s", t->label, count, t->many, place);
    }
}

void rbMeshReport_Describe(const rbMeshReport* report, char* text, size_t capacity)
{
    RB_ASSERT(report != NULL && text != NULL && capacity > 0);
    int found = -1;
    for (int pass = 0; pass < 2 && found < 0; ++pass) {
        for (int kind = 0; kind < RB_MESH_ISSUE_COUNT && found < 0; ++kind) {
            if (report->counts[kind] > 0 && issueTexts[kind].isError == (pass == 0)) {
                found = kind;
            }
        }
    }
    if (found >= 0) {
        describeIssue(report, (rbMeshIssueKind)found, text, capacity);
    } else {
        (void)snprintf(text, capacity, "valid: closed, %d vertices, %lld edges, %d faces, %g m^3",
                       report->vertexCount, report->edgeCount, report->faceCount, report->volume);
    }
}

rbStatus rbCheckMesh(const rbMeshDef* def, unsigned kinds, const char* what, rbMeshReport* report,
                     rbError* error)
{
    RB_ASSERT(def != NULL && report != NULL);
    *report = rbValidateMesh(def, NULL, 0);
    for (int kind = 0; kind < RB_MESH_ISSUE_COUNT; ++kind) {
        if (report->counts[kind] > 0 && (kinds & (1u << kind)) != 0) {
            char text[256];
            describeIssue(report, (rbMeshIssueKind)kind, text, sizeof text);
            rbStatus status = kind == RB_MESH_ISSUE_TOO_LARGE ? RB_STATUS_LIMIT : RB_STATUS_INVALID;
            return rbError_Set(error, status, "the %s is %s; repair the mesh%s", what, text,
                               kind == RB_MESH_ISSUE_INSIDE_OUT ? " by reversing its faces" : "");
        }
    }
    return RB_STATUS_OK;
}
