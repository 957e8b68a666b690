// Settings of the frame system: defaults, names, and which are accepted.
#include "base/core/words.h"
#include "base/math/elementary.h"

#include <rattleback/lab_ray_frames.h>

static const char* const modeNames[RB_FRAMES_MODE_COUNT] = {
    [RB_FRAMES_STOP] = "stop",
    [RB_FRAMES_LOG] = "log",
};
RB_DEFINE_WORDS(rbFrameMode, "mode of frames", RB_FRAMES_MODE_COUNT, modeNames[index])

rbRayFrameSettings rbDefaultRayFrameSettings(void)
{
    rbRayFrameSettings settings = {.rays = rbDefaultRaySettings(),
                                   .frameRate = 24.0,
                                   .mode = RB_FRAMES_STOP,
                                   .isAccelerated = true,
                                   .boxTest = RB_BOXES_AXES,
                                   .boxRays = 20,
                                   .subPoints = 5};
    return settings;
}

static rbStatus validateChords(const rbRayFrameSettings* settings, rbError* error)
{
    if (!(settings->angleMax >= 0.0) || !(settings->angleMax <= RB_PI)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the angle between tangent and chord is %g rad; 0 (chords within the "
                           "tolerance) to pi are accepted",
                           settings->angleMax);
    }
    if (settings->subPoints < 1 || settings->subPoints > 1000) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the count of points between frames is %d; 1 to 1000 are accepted",
                           settings->subPoints);
    }
    if (settings->chordSamples < 0 || settings->chordSamples > 10000) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the table of chords has %d samples a piece; 1 to 10000 are accepted, "
                           "and 0 for exact arc length",
                           settings->chordSamples);
    }
    if (settings->chordSamples > 0 && settings->angleMax == 0.0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "a table of chords makes speeds vary, which no tolerance bounds; set "
                           "the angle between tangent and chord too (published: 0.436 rad)");
    }
    return RB_STATUS_OK;
}

rbStatus rbRayFrameSettings_Check(const rbRayFrameSettings* settings, rbError* error)
{
    rbStatus status = rbRaySettings_Check(&settings->rays, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (!(settings->frameRate >= 1e-6) || !(settings->frameRate <= 1e9)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the frame rate is %g 1/s; 1e-6 to 1e9 are accepted",
                           settings->frameRate);
    }
    if ((unsigned)settings->mode >= RB_FRAMES_MODE_COUNT ||
        (unsigned)settings->boxTest >= RB_BOXES_TEST_COUNT) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "mode %d or test of boxes %d is unknown; use the names of rbFrameMode "
                           "and rbBoxTest",
                           (int)settings->mode, (int)settings->boxTest);
    }
    if (settings->boxRays < 1 || settings->boxRays > 100000) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the count of rays of a pair of faces is %d; 1 to 100000 are accepted",
                           settings->boxRays);
    }
    return validateChords(settings, error);
}
