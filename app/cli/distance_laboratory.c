// rattleback distance --method naive|indifferent|update-minimal|local|global: the distance between
// two surfaces by a traversal of distance.h over bounding volume trees, with its work counted.
#include "cli/distance.h"

#include <math.h>
#include <string.h>

// Reads the options below into one run.
typedef struct Laboratory {
    const rbArguments* arguments;
    rbHierarchyDef def;
    rbDistanceInput input;
    rbHierarchy* trees[2];
    rbDistanceResult result;
} Laboratory;

// ----------------------------------------------------------------------------------------- options

static const char* nameVolume(int index)
{
    return rbVolumeType_Name((rbVolumeType)index);
}

static const char* nameExpansion(int index)
{
    return rbExpansion_Name((rbExpansion)index);
}

static const char* nameSequence(int index)
{
    return rbSequence_Name((rbSequence)index);
}

static const char* nameSwitch(int index)
{
    return index == 0 ? "off" : "on";
}

// --split names an axis and a place: "sum", "sum-mean", "principal-max-median"; "surface" finds its
// place itself.
#define SPLIT_NAME_SIZE 40
#define SPLIT_NAMES_MAX (2 * RB_SPLIT_COUNT * RB_SPLIT_PLACE_COUNT)

static void nameSplit(rbSplitAxis axis, rbSplitPlace place, char text[SPLIT_NAME_SIZE])
{
    (void)snprintf(text, SPLIT_NAME_SIZE, "%s%s%s", rbSplitAxis_Name(axis),
                   axis == RB_SPLIT_SURFACE ? "" : "-",
                   axis == RB_SPLIT_SURFACE ? "" : rbSplitPlace_Name(place));
}

static bool readSplit(const rbArguments* arguments, rbHierarchyDef* def)
{
    const char* text = rbArguments_Get(arguments, "--split");
    if (text == NULL) {
        return true;
    }
    const char* candidates[SPLIT_NAMES_MAX];
    char names[SPLIT_NAMES_MAX][SPLIT_NAME_SIZE];
    size_t count = 0;
    for (int axis = 0; axis < RB_SPLIT_COUNT; ++axis) {
        for (int place = 0; place < RB_SPLIT_PLACE_COUNT; ++place) {
            nameSplit((rbSplitAxis)axis, (rbSplitPlace)place, names[count]);
            const char* axisName = rbSplitAxis_Name((rbSplitAxis)axis);
            if (strcmp(text, names[count]) == 0 || strcmp(text, axisName) == 0) {
                def->axis = (rbSplitAxis)axis;
                def->place = (rbSplitPlace)place;
                return true;
            }
            candidates[2 * count] = axisName;
            candidates[2 * count + 1] = names[count];
            ++count;
        }
    }
    const char* nearest = rbFindNearestWord(text, candidates, (int)(2 * count));
    if (nearest != NULL) {
        (void)rbFail("--split: unknown split '%.40s'; did you mean %s?", text, nearest);
    } else {
        (void)rbFail("--split: unknown split '%.40s'; choose one of sum, max, variance, "
                     "principal-sum, principal-max and principal-variance, with -mean or -median, "
                     "and surface",
                     text);
    }
    return false;
}

static bool readCount(const rbArguments* arguments, const char* name, int low, int high, int* count)
{
    double number = *count;
    if (!rbArguments_GetNumber(arguments, name, low, high, &number)) {
        return false;
    }
    if (number != floor(number)) {
        (void)rbFail("%s is %s; must be an integer", name, rbArguments_Get(arguments, name));
        return false;
    }
    *count = (int)number;
    return true;
}

static bool readOptions(Laboratory* laboratory)
{
    const rbArguments* arguments = laboratory->arguments;
    rbHierarchyDef* def = &laboratory->def;
    rbDistanceInput* input = &laboratory->input;
    int volume = (int)def->volume;
    int expansion = (int)input->expansion;
    int sequence = (int)input->sequence;
    int representatives = input->usesRepresentatives ? 1 : 0;
    bool isRight =
        rbArguments_GetName(arguments, "--volume", nameVolume, RB_VOLUME_COUNT, &volume) &&
        rbArguments_GetName(arguments, "--expansion", nameExpansion, RB_EXPANSION_COUNT,
                            &expansion) &&
        rbArguments_GetName(arguments, "--sequence", nameSequence, RB_SEQUENCE_COUNT, &sequence) &&
        rbArguments_GetName(arguments, "--representatives", nameSwitch, 2, &representatives) &&
        readSplit(arguments, def) &&
        readCount(arguments, "--degree", 2, RB_HIERARCHY_DEGREE_MAX, &def->degree) &&
        readCount(arguments, "--leaf-size", 1, RB_MESH_ELEMENTS_MAX, &def->leafSize) &&
        rbArguments_GetNumber(arguments, "--tolerance", 0.0, 0.999, &input->relativeError) &&
        rbReadBudget(arguments, &input->budget);
    def->volume = (rbVolumeType)volume;
    input->expansion = (rbExpansion)expansion;
    input->sequence = (rbSequence)sequence;
    input->usesRepresentatives = representatives == 1;
    return isRight;
}

// ------------------------------------------------------------------------------------------
// results

static const char* explainStop(const Laboratory* laboratory)
{
    static const char* const texts[RB_SEARCH_COUNT] = {
        [RB_SEARCH_DONE] = "exact: no other pair of faces can be closer",
        [RB_SEARCH_QUALITY] = "within the requested relative error",
        [RB_SEARCH_BUDGET] = "budget spent; bounds wide but valid",
    };
    bool isNaive = laboratory->input.traversal == RB_TRAVERSAL_NAIVE;
    return isNaive ? "exact: pair by pair, up to the first that intersect"
                   : texts[laboratory->result.stop];
}

// Surfaces may be separated although the bodies overlap.
typedef enum Containment {
    CONTAINS_NOTHING,
    CONTAINS_B,
    CONTAINS_A
} Containment;

static Containment findContainment(const Laboratory* laboratory, const rbShapeWord shapes[2])
{
    const rbDistanceResult* r = &laboratory->result;
    rbTransform transformAtoB = rbInvertTransform(laboratory->input.transformBtoA);
    if (!(r->distance > 0.0)) {
        return CONTAINS_NOTHING;
    }
    if (rbGeometry_Contains(shapes[0].geometry, r->pointB)) {
        return CONTAINS_B;
    }
    return rbGeometry_Contains(shapes[1].geometry, rbTransformPoint(transformAtoB, r->pointA))
               ? CONTAINS_A
               : CONTAINS_NOTHING;
}

static const char* remarkOn(const Laboratory* laboratory, const rbShapeWord shapes[2])
{
    static const char* const texts[] = {
        [CONTAINS_NOTHING] = "surfaces are measured, not solids: a body inside another would "
                             "have a positive distance",
        [CONTAINS_B] = "surfaces are measured, not solids: B is inside A; --method auto has the "
                       "depth",
        [CONTAINS_A] = "surfaces are measured, not solids: A is inside B; --method auto has the "
                       "depth",
    };
    bool hasSolid =
        rbGeometry_IsSolid(shapes[0].geometry) || rbGeometry_IsSolid(shapes[1].geometry);
    if (laboratory->result.distance == 0.0) {
        return "the surfaces intersect at this point";
    }
    return hasSolid ? texts[findContainment(laboratory, shapes)] : NULL;
}

static void printMethod(const Laboratory* laboratory)
{
    const rbDistanceInput* input = &laboratory->input;
    (void)printf("method      %s", rbTraversal_Name(input->traversal));
    if (input->traversal == RB_TRAVERSAL_NAIVE) {
        (void)printf(": all pairs of faces\n");
        return;
    }
    char split[SPLIT_NAME_SIZE];
    nameSplit(laboratory->def.axis, laboratory->def.place, split);
    (void)printf(", volume %s, split %s, expansion %s, representatives %s",
                 rbVolumeType_Name(laboratory->def.volume), split,
                 rbExpansion_Name(input->expansion), nameSwitch(input->usesRepresentatives));
    if (input->traversal == RB_TRAVERSAL_GLOBAL) {
        (void)printf(", sequence %s", rbSequence_Name(input->sequence));
    }
    (void)printf("\n");
    for (int i = 0; i < 2; ++i) {
        rbHierarchyInfo info = rbHierarchy_GetInfo(laboratory->trees[i]);
        char bytes[32];
        (void)printf("tree of %c   nodes %d, leaves %d (largest: faces %d), levels %d, %s\n",
                     'A' + i, info.nodeCount, info.leafCount, info.leafSizeMax, info.depth,
                     rbFormatBytes((double)info.bytes, bytes));
    }
}

static void printAnswer(const Laboratory* laboratory, const rbShapeWord shapes[2],
                        const rbPosePair* poses)
{
    const rbDistanceResult* r = &laboratory->result;
    const rbDistanceWork* w = &r->work;
    const char* remark = remarkOn(laboratory, shapes);
    rbVec3 pointA = poses->hasA ? rbTransformPoint(poses->a, r->pointA) : r->pointA;
    rbVec3 pointB = poses->hasA ? rbTransformPoint(poses->a, r->pointB) : r->pointB;
    printMethod(laboratory);
    rbPrintDistance(r->distance, r->lower, r->distance);
    rbPrintPoints(pointA, pointB);
    (void)printf("faces       %d of A, %d of B, counted from 0\n", r->faceA, r->faceB);
    (void)printf("work        volume tests %lld, elementary tests %lld, updates %lld,\n",
                 w->volumeTests, w->elementaryTests, w->volumeUpdates);
    (void)printf("            representatives %lld, pairs of nodes opened %lld", w->representatives,
                 w->opened);
    if (laboratory->input.traversal == RB_TRAVERSAL_GLOBAL) {
        (void)printf(", longest sequence %d", w->queueMax);
    }
    (void)printf("\nstopped     %s\n", explainStop(laboratory));
    if (remark != NULL) {
        (void)printf("remark      %s\n", remark);
    }
}

static void writeWork(rbJson* json, const rbDistanceWork* work)
{
    rbJson_BeginObject(json, "work");
    rbJson_Integer(json, "volumeTests", work->volumeTests);
    rbJson_Integer(json, "elementaryTests", work->elementaryTests);
    rbJson_Integer(json, "volumeUpdates", work->volumeUpdates);
    rbJson_Integer(json, "representatives", work->representatives);
    rbJson_Integer(json, "opened", work->opened);
    rbJson_Integer(json, "queueMax", work->queueMax);
    rbJson_End(json);
}

static void writeTrees(rbJson* json, const Laboratory* laboratory)
{
    char split[SPLIT_NAME_SIZE];
    nameSplit(laboratory->def.axis, laboratory->def.place, split);
    rbJson_Text(json, "volume", rbVolumeType_Name(laboratory->def.volume));
    rbJson_Text(json, "split", split);
    rbJson_Integer(json, "degree", laboratory->def.degree);
    rbJson_Integer(json, "leafSize", laboratory->def.leafSize);
    rbJson_Text(json, "expansion", rbExpansion_Name(laboratory->input.expansion));
    rbJson_Bool(json, "representatives", laboratory->input.usesRepresentatives);
    rbJson_Text(json, "sequence", rbSequence_Name(laboratory->input.sequence));
    rbJson_BeginArray(json, "trees");
    for (int i = 0; i < 2; ++i) {
        rbHierarchyInfo info = rbHierarchy_GetInfo(laboratory->trees[i]);
        rbJson_BeginObject(json, NULL);
        rbJson_Integer(json, "nodes", info.nodeCount);
        rbJson_Integer(json, "leaves", info.leafCount);
        rbJson_Integer(json, "levels", info.depth);
        rbJson_Integer(json, "bytes", (int64_t)info.bytes);
        rbJson_End(json);
    }
    rbJson_End(json);
}

static void writeAnswer(const Laboratory* laboratory, const rbShapeWord shapes[2],
                        const rbPosePair* poses)
{
    static const char* const inside[] = {
        [CONTAINS_NOTHING] = NULL, [CONTAINS_B] = "b", [CONTAINS_A] = "a"};
    const rbDistanceResult* r = &laboratory->result;
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_ShapeWord(&json, &shapes[0]);
    rbJson_ShapeWord(&json, &shapes[1]);
    rbJson_Text(&json, "method", rbTraversal_Name(laboratory->input.traversal));
    rbJson_Number(&json, "distance", r->distance);
    rbJson_Number(&json, "lower", r->lower);
    rbJson_Number(&json, "upper", r->distance);
    rbJson_Vec3(&json, "pointA", poses->hasA ? rbTransformPoint(poses->a, r->pointA) : r->pointA);
    rbJson_Vec3(&json, "pointB", poses->hasA ? rbTransformPoint(poses->a, r->pointB) : r->pointB);
    rbJson_Integer(&json, "faceA", r->faceA);
    rbJson_Integer(&json, "faceB", r->faceB);
    rbJson_Text(&json, "stop", rbSearchStop_Name(r->stop));
    rbJson_Text(&json, "reason", explainStop(laboratory));
    rbJson_Bool(&json, "surfacesOnly", true);
    rbJson_Text(&json, "inside", inside[findContainment(laboratory, shapes)]);
    writeWork(&json, &r->work);
    if (laboratory->input.traversal != RB_TRAVERSAL_NAIVE) {
        writeTrees(&json, laboratory);
    }
    rbJson_End(&json);
}

// ---------------------------------------------------------------------------------------- the verb

static rbExit measure(Laboratory* laboratory, const rbShapeWord shapes[2], const rbPosePair* poses)
{
    rbError error = {0};
    for (int i = 0; i < 2; ++i) {
        laboratory->trees[i] = rbCreateHierarchy(shapes[i].geometry, &laboratory->def, &error);
        if (laboratory->trees[i] == NULL) {
            return rbFail("%c: %s", shapes[i].letter, error.message);
        }
    }
    laboratory->input.a = laboratory->trees[0];
    laboratory->input.b = laboratory->trees[1];
    if (rbMeasureDistance(&laboratory->input, &laboratory->result, &error) != RB_STATUS_OK) {
        return rbFail("%s", error.message);
    }
    if (rbArguments_Has(laboratory->arguments, "--json")) {
        writeAnswer(laboratory, shapes, poses);
    } else {
        rbPrintShapeWord(&shapes[0]);
        rbPrintShapeWord(&shapes[1]);
        printAnswer(laboratory, shapes, poses);
    }
    return RB_EXIT_DONE;
}

rbExit rbRunLaboratory(const rbArguments* arguments, const rbShapeWord shapes[2],
                       const rbPosePair* poses, rbTraversal traversal)
{
    Laboratory laboratory = {
        .arguments = arguments, .def = rbDefaultHierarchyDef(), .input = rbDefaultDistanceInput()};
    laboratory.input.traversal = traversal;
    laboratory.input.transformBtoA = poses->transformBtoA;
    if (traversal == RB_TRAVERSAL_NAIVE) {
        laboratory.def.volume = RB_VOLUME_AABB; // fast to build, and never queried
    }
    rbExit exit = RB_EXIT_USAGE;
    if (readOptions(&laboratory)) {
        exit = measure(&laboratory, shapes, poses);
    }
    rbDestroyHierarchy(laboratory.trees[0]);
    rbDestroyHierarchy(laboratory.trees[1]);
    return exit;
}
