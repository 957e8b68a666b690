// Pairs of the frame system: the list of pairs with intersecting swept boxes, and start validation.
#include "lab/rays/path_bend.h"
#include "lab/rays/ray_frames_state.h"
#include "lab/rays/swept_box.h"

#include <math.h>

int rbPackPair(int i, int j)
{
    RB_ASSERT(i >= 0 && i < RB_FRAMES_BODIES_MAX);
    RB_ASSERT(j >= 0 && j < RB_FRAMES_BODIES_MAX);
    return i * RB_FRAMES_BODIES_MAX + j;
}

void rbUnpackPair(int code, int* i, int* j)
{
    RB_ASSERT(code >= 0 && code < RB_FRAMES_BODIES_MAX * RB_FRAMES_BODIES_MAX);
    *i = code / RB_FRAMES_BODIES_MAX;
    *j = code % RB_FRAMES_BODIES_MAX;
}

// The box of everything a body passes through during the run.
static rbOrientedBox sweepBody(const rbFrameBody* body, double duration)
{
    if (body->path == NULL) {
        return rbBoxGeometry(body->geometry, body->start);
    }
    if (!isfinite(body->radius)) {
        return (rbOrientedBox){.isEndless = true};
    }
    int count = 0;
    const rbVec3(*pieces)[4] = rbPath_GetPieces(body->path, &count);
    if (count > 0) {
        return rbBoxCurve(pieces, count, body->radius);
    }
    double last = fmin(duration, body->endTime);
    rbVec3 end = rbFrameBody_GetPose(body, last).p;
    return rbBoxLine(body->start.p, end, body->radius);
}

// Lists every pair once, moving with moving first, then moving with static; frames use this order.
static void listPairs(rbRayFrames* frames, const rbOrientedBox* boxes)
{
    const rbRayFrameSettings* settings = &frames->settings;
    rbRandom random = {settings->rays.seed};
    int count = frames->bodies.count;
    for (int standing = 0; standing < 2; ++standing) {
        for (int i = 0; i < count; ++i) {
            for (int j = standing == 1 ? 0 : i + 1; j < count; ++j) {
                bool isPair = frames->bodies.data[i].path != NULL &&
                              (frames->bodies.data[j].path == NULL) == (standing == 1);
                if (!isPair) {
                    continue;
                }
                frames->counts.pairsTotal += 1;
                if (!settings->isAccelerated ||
                    rbBoxesMeetByRays(&boxes[i], &boxes[j], settings->boxTest, settings->boxRays,
                                      &random)) {
                    rbFramePair pair = {.a = i, .b = j};
                    rbArray_Push(frames->pairs, pair);
                }
            }
        }
    }
    frames->counts.pairsListed = frames->pairs.count;
}

void rbListFramePairs(rbRayFrames* frames)
{
    size_t size = (size_t)frames->bodies.count * sizeof(rbOrientedBox);
    rbOrientedBox* boxes = rbAlloc(size);
    for (int i = 0; i < frames->bodies.count; ++i) {
        boxes[i] = sweepBody(&frames->bodies.data[i], frames->duration);
    }
    listPairs(frames, boxes);
    rbFree(boxes, size);
}

static rbStatus validatePair(const rbRayFrames* frames, const rbFrameBody* a, const rbFrameBody* b,
                             rbError* error)
{
    double reach = a->radius + b->radius;
    if (rbDistance(a->start.p, b->start.p) > reach) {
        return RB_STATUS_OK;
    }
    double distance = 0.0;
    rbStatus status = rbMeasureFramePair(a, b, 0.0, frames->scratch, &distance, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    // Solids may touch, to rounding; surfaces have no depth, so they may not.
    bool areSolid = rbGeometry_IsSolid(a->geometry) && rbGeometry_IsSolid(b->geometry);
    double size = fmin(a->radius, b->radius);
    bool isBad = areSolid ? distance < -1e-9 * size : distance <= 0.0;
    if (!isBad) {
        return RB_STATUS_OK;
    }
    return rbError_Set(error, RB_STATUS_INVALID,
                       "\"%s\" and \"%s\" overlap by %.6g m at the start; rays need bodies that "
                       "are apart: move one of them",
                       a->name, b->name, -distance);
}

rbStatus rbValidateFrameStart(const rbRayFrames* frames, rbError* error)
{
    for (int i = 0; i < frames->bodies.count; ++i) {
        for (int j = i + 1; j < frames->bodies.count; ++j) {
            const rbFrameBody* a = &frames->bodies.data[i];
            const rbFrameBody* b = &frames->bodies.data[j];
            if (a->path == NULL && b->path == NULL) {
                continue;
            }
            rbStatus status = validatePair(frames, a, b, error);
            if (status != RB_STATUS_OK) {
                return status;
            }
        }
    }
    return RB_STATUS_OK;
}
