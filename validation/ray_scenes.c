#include "ray_scenes.h"

#include <rattleback/collision.h>

#include <math.h>

// 1/sqrt 5, sqrt(3)/2, 1/sqrt 3
#define FIFTH 0.44721359549995794
#define HALF_ROOT 0.86602540378443865
#define DIAGONAL 0.57735026918962576

const rbRayScene rbRayScenes[RB_RAY_SCENE_COUNT] = {
    [RB_RAY_HEAD_ON] = {.name = "E-01 head-on",
                        .mover = {3.0, 0.0, 0.0},
                        .velocity = {-0.75, 0.0, 0.0},
                        .duration = 4.0,
                        .point = {1.0, 0.0, 0.0},
                        .normal = {1.0, 0.0, 0.0},
                        .way = 1.0},
    // the published z of 1.0 of the contact is wrong
    [RB_RAY_OFFSET] = {.name = "E-02 offset",
                       .mover = {3.0, 0.0, 1.0},
                       .velocity = {-1.0, 0.0, 0.0},
                       .duration = 3.0,
                       .point = {HALF_ROOT, 0.0, 0.5},
                       .normal = {HALF_ROOT, 0.0, 0.5},
                       .way = 3.0 - 2.0 * HALF_ROOT},
    [RB_RAY_TIP] = {.name = "E-03 tip",
                    .isMoverPyramid = true,
                    .target = {0.0, 4.0, 0.0},
                    .velocity = {0.0, 5.0, 0.0},
                    .duration = 0.8,
                    .point = {0.0, 3.0, 0.0},
                    .normal = {0.0, -1.0, 0.0},
                    .way = 2.0},
    [RB_RAY_BASE] = {.name = "E-04 base",
                     .isMoverPyramid = true,
                     .target = {0.0, -4.0, 0.0},
                     .velocity = {0.0, -5.0, 0.0},
                     .duration = 0.8,
                     .point = {0.0, -3.0, 0.0},
                     .normal = {0.0, 1.0, 0.0},
                     .way = 2.0},
    [RB_RAY_VERTEX] = {.name = "E-05 vertex on edge",
                       .isMoverPyramid = true,
                       .isTargetPyramid = true,
                       .mover = {0.0, 0.0, 5.0},
                       .velocity = {0.0, 0.0, -2.0},
                       .duration = 2.5,
                       .point = {0.0, -1.0, 1.0},
                       .normal = {0.0, FIFTH, 2.0 * FIFTH},
                       .way = 3.0},
    [RB_RAY_EDGES] = {.name = "E-06 edge on edge",
                      .isMoverPyramid = true,
                      .isTargetPyramid = true,
                      .mover = {0.0, -0.5, 5.0},
                      .velocity = {0.0, 0.0, -2.0},
                      .duration = 2.5,
                      .point = {0.0, -1.0, 1.0},
                      .normal = {0.0, FIFTH, 2.0 * FIFTH},
                      .way = 3.25},
    // one frame: 41.7 m, longer than the path of 17.3 m
    [RB_RAY_BULLET] = {.name = "E-12 bullet",
                       .mover = {10.0, 10.0, 10.0},
                       .velocity = {-1000.0 * DIAGONAL, -1000.0 * DIAGONAL, -1000.0 * DIAGONAL},
                       .duration = 1.0 / RB_RAY_FRAME_RATE,
                       .point = {DIAGONAL, DIAGONAL, DIAGONAL},
                       .normal = {DIAGONAL, DIAGONAL, DIAGONAL},
                       .way = 10.0 / DIAGONAL - 2.0},
};

rbGeometry* rbMakeRayPyramid(rbError* error)
{
    static const rbVec3 vertices[4] = {
        {0.0, 1.0, 0.0}, {1.0, -1.0, 1.0}, {-1.0, -1.0, 1.0}, {0.0, -1.0, -1.0}};
    static const int indices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 2, 3, 1};
    const rbMeshDef def = {
        .vertices = vertices, .vertexCount = 4, .indices = indices, .faceCount = 4};
    return rbCreateMesh(&def, error);
}

rbRaySettings rbMakePublishedRays(int count)
{
    rbRaySettings settings = rbDefaultRaySettings();
    settings.pattern = RB_RAYS_LATTICE;
    settings.count = count;
    settings.isOneWay = true;
    return settings;
}

static rbGeometry* makeShape(bool isPyramid, rbError* error)
{
    return isPyramid ? rbMakeRayPyramid(error) : rbCreateSphere(1.0, error);
}

rbRayStage rbOpenRayStage(rbRaySceneName name)
{
    const rbRayScene* scene = &rbRayScenes[name];
    rbRayStage stage = {.scene = scene, .scratch = rbAlloc(rbGetSeparationScratchSize())};
    stage.shapes[0] = makeShape(scene->isMoverPyramid, &stage.error);
    stage.shapes[1] = makeShape(scene->isTargetPyramid, &stage.error);
    stage.pair = (rbStraightPair){
        .geometries = {stage.shapes[0], stage.shapes[1]},
        .starts = {{scene->mover, RB_QUAT_IDENTITY}, {scene->target, RB_QUAT_IDENTITY}},
        .velocities = {scene->velocity, {0.0, 0.0, 0.0}},
        .duration = scene->duration,
        .scratch = stage.scratch};
    stage.truth = (rbStraightContact){.isHit = true,
                                      .time = scene->way / rbLength(scene->velocity),
                                      .way = scene->way,
                                      .point = scene->point,
                                      .normal = scene->normal};
    return stage;
}

void rbRayStage_Close(rbRayStage* stage)
{
    rbDestroyGeometry(stage->shapes[0]);
    rbDestroyGeometry(stage->shapes[1]);
    rbFree(stage->scratch, rbGetSeparationScratchSize());
}

rbStraightContact rbRayStage_Cast(rbRayStage* stage, const rbRaySettings* settings)
{
    rbStraightContact contact = {0};
    if (stage->error.status == RB_STATUS_OK &&
        rbMakeEmitters(&stage->pair, settings, &stage->error)) {
        (void)rbPredictStraight(&stage->pair, settings, NULL, &contact, &stage->error);
        rbFreeEmitters(&stage->pair);
    }
    return contact;
}

rbRayErrors rbRayStage_Check(rbRayStage* stage, const rbStraightContact* found)
{
    return rbMeasureRayErrors(&stage->pair, found, &stage->truth, stage->scratch);
}

void rbAddRayBound(rbValidation* validation, const char* scene, const char* quantity, double value,
                   double bound)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: %s", scene, quantity);
    rbValidation_AddBound(validation, text, value, bound);
}

void rbCheckRayError(rbValidation* validation, const char* scene, const rbError* error)
{
    if (error->status != RB_STATUS_OK) {
        rbValidation_Print(validation, "  %s: %s\n", scene, error->message);
        char text[96];
        (void)snprintf(text, sizeof text, "%s: refused", scene);
        rbValidation_AddLimit(validation, text, 1.0, 0.0);
    }
}

void rbPrintRayHead(const rbValidation* validation)
{
    rbValidation_Print(validation, "    %5s %-33s %8s   %-33s %8s %8s %11s %11s\n", "rays",
                       "published point", "publ.", "ours", "ours", "off [m]", "excess [m]",
                       "depth [m]");
}

void rbPrintRayLine(const rbValidation* validation, const rbPrintedContact* printed,
                    const rbStraightContact* found, const rbRayErrors* errors)
{
    rbValidation_Print(validation, "    %5d ", printed->count);
    if (printed->agreement < 0.0) {
        rbValidation_Print(validation, "%-33s %8s", "", "");
    } else if (printed->isFound) {
        rbValidation_Print(validation, "(%9.6f, %9.6f, %9.6f) %7.2f%%", printed->point.x,
                           printed->point.y, printed->point.z, printed->agreement);
    } else {
        rbValidation_Print(validation, "%-33s %7.2f%%", "none", printed->agreement);
    }
    if (found->isHit) {
        rbValidation_Print(validation, "   (%9.6f, %9.6f, %9.6f) %7.2f%% %8.5f %11.3e %11.3e\n",
                           found->point.x, found->point.y, found->point.z, errors->agreement,
                           errors->position, errors->excess, errors->depth);
    } else {
        rbValidation_Print(validation, "   none\n");
    }
}
