#include "cli/shooting.h"

#include "base/core/memory.h"
#include "render/picture.h"
#include "render/png.h"
#include "render/video.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1280
#define HEIGHT 720
#define RATE 30
#define VIDEO_PICTURES_MAX 20000 // hours of drawing
#define STILL_SAMPLING 3         // a single picture may take a second
#define STILL_SUN 16
#define STILL_SKY 48

struct rbShooting {
    rbShootingPlan plan;
    rbPicture* still;  // of the PNG
    rbPicture* moving; // of the video
    rbVideo* video;
    rbView view;       // of the video: one for all pictures
    int64_t videoNext; // number of the next picture
    bool isShot;       // the PNG is drawn
};

// x,y,z
static bool readPoint(const rbArguments* arguments, const char* name, rbVec3* point, bool* isGiven)
{
    const char* text = rbArguments_Get(arguments, name);
    *isGiven = text != NULL;
    double values[3] = {0.0, 0.0, 0.0};
    const char* at = text;
    for (int i = 0; i < 3 && at != NULL; ++i) {
        char* end = NULL;
        values[i] = strtod(at, &end);
        bool isGood = end != at && isfinite(values[i]) && *end == (i < 2 ? ',' : '\0');
        at = isGood ? end + 1 : NULL;
    }
    if (text != NULL && at == NULL) {
        (void)rbFail("%s is '%s'; a point is three numbers: %s 1,-2.5,0.8", name, text, name);
        return false;
    }
    *point = rbMakeVec3(values[0], values[1], values[2]);
    return true;
}

static bool readSize(const rbArguments* arguments, int* width, int* height)
{
    const char* text = rbArguments_Get(arguments, "--size");
    *width = WIDTH;
    *height = HEIGHT;
    if (text == NULL) {
        return true;
    }
    char* end = NULL;
    long w = strtol(text, &end, 10);
    long h = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || w < RB_PICTURE_SIZE_MIN || w > RB_PICTURE_SIZE_MAX ||
        h < RB_PICTURE_SIZE_MIN || h > RB_PICTURE_SIZE_MAX) {
        (void)rbFail("--size is '%s'; it is written WIDTHxHEIGHT, each %d to %d pixels", text,
                     RB_PICTURE_SIZE_MIN, RB_PICTURE_SIZE_MAX);
        return false;
    }
    *width = (int)w;
    *height = (int)h;
    return true;
}

static bool endsWith(const char* path, const char* ending)
{
    size_t length = strlen(path);
    size_t tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

bool rbShootingPlan_Read(rbShootingPlan* plan, const rbArguments* arguments)
{
    *plan = (rbShootingPlan){.png = rbArguments_Get(arguments, "--png"),
                             .mp4 = rbArguments_Get(arguments, "--mp4"),
                             .pngTime = INFINITY,
                             .speed = 1.0,
                             .rate = RATE};
    static const char* const needPng[] = {"--at"};
    static const char* const needMp4[] = {"--speed", "--fps"};
    for (size_t i = 0; i < sizeof needPng / sizeof needPng[0]; ++i) {
        if (plan->png == NULL && rbArguments_Has(arguments, needPng[i])) {
            (void)rbFail("%s says when to take a picture, but there is no --png FILE", needPng[i]);
            return false;
        }
    }
    for (size_t i = 0; i < sizeof needMp4 / sizeof needMp4[0]; ++i) {
        if (plan->mp4 == NULL && rbArguments_Has(arguments, needMp4[i])) {
            (void)rbFail("%s is of a video, but there is no --mp4 FILE", needMp4[i]);
            return false;
        }
    }
    // a device is written as it is; anything else is named as what it is
    if (plan->png != NULL && !endsWith(plan->png, ".png") && strncmp(plan->png, "/dev/", 5) != 0) {
        (void)rbFail("--png is '%s'; pictures are written as .png", plan->png);
        return false;
    }
    if (plan->mp4 != NULL && !endsWith(plan->mp4, ".mp4") && strncmp(plan->mp4, "/dev/", 5) != 0) {
        (void)rbFail("--mp4 is '%s'; videos are written as .mp4", plan->mp4);
        return false;
    }
    double rate = RATE;
    bool isGood = rbArguments_GetNumber(arguments, "--at", 0.0, 1e12, &plan->pngTime) &&
                  rbArguments_GetNumber(arguments, "--speed", 1e-9, 1e9, &plan->speed) &&
                  rbArguments_GetNumber(arguments, "--fps", 1.0, 240.0, &rate) &&
                  readSize(arguments, &plan->width, &plan->height) &&
                  readPoint(arguments, "--look-from", &plan->lookFrom, &plan->isLookingFrom) &&
                  readPoint(arguments, "--look-at", &plan->lookAt, &plan->isLookingAt);
    plan->rate = (int)(rate + 0.5);
    return isGood;
}

static rbStatus chooseView(const rbShootingPlan* plan, const rbWorld* world, rbView* view,
                           rbError* error)
{
    rbChooseView(world, view);
    rbVec3 at = plan->isLookingAt ? plan->lookAt : view->center;
    if (plan->isLookingFrom) {
        if (!rbView_LookFrom(view, plan->lookFrom, at)) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "--look-from must be beside --look-at, not above, below or on it");
        }
    } else if (plan->isLookingAt) {
        view->center = at;
    }
    return RB_STATUS_OK;
}

static rbStatus openVideo(rbShooting* shooting, const rbSceneInfo* info, const rbWorld* world,
                          rbError* error)
{
    const rbShootingPlan* plan = &shooting->plan;
    double count = info->duration / plan->speed * plan->rate;
    if (count > VIDEO_PICTURES_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "a video of %g s at speed %g has %.0f pictures, more than %d; ask for a "
                           "higher --speed or a shorter --duration",
                           info->duration, plan->speed, count, VIDEO_PICTURES_MAX);
    }
    rbPictureDef def = rbDefaultPictureDef(plan->width, plan->height);
    shooting->moving = rbCreatePicture(&def, world, error);
    if (shooting->moving == NULL) {
        return error->status;
    }
    rbStatus status = chooseView(plan, world, &shooting->view, error);
    if (status == RB_STATUS_OK) {
        shooting->video = rbCreateVideo(plan->mp4, plan->width, plan->height, plan->rate, error);
        status = shooting->video != NULL ? RB_STATUS_OK : error->status;
    }
    return status;
}

rbShooting* rbCreateShooting(const rbShootingPlan* plan, const rbSceneInfo* info,
                             const rbWorld* world, rbError* error)
{
    rbShooting* shooting = rbAllocZero(1, sizeof *shooting);
    shooting->plan = *plan;
    rbStatus status = RB_STATUS_OK;
    if (plan->png != NULL) {
        if (isfinite(plan->pngTime) && plan->pngTime > info->duration) {
            status = rbError_Set(error, RB_STATUS_INVALID,
                                 "--at is %g s, but the run ends at %g s; give a longer --duration",
                                 plan->pngTime, info->duration);
        } else {
            rbPictureDef def = rbDefaultPictureDef(plan->width, plan->height);
            def.sampling = STILL_SAMPLING;
            def.sunCount = STILL_SUN;
            def.skyCount = STILL_SKY;
            shooting->still = rbCreatePicture(&def, world, error);
            status = shooting->still != NULL ? RB_STATUS_OK : error->status;
        }
    }
    if (status == RB_STATUS_OK && plan->mp4 != NULL) {
        status = openVideo(shooting, info, world, error);
    }
    if (status != RB_STATUS_OK) {
        rbShooting_Abandon(shooting);
        return NULL;
    }
    return shooting;
}

static rbStatus takeStill(rbShooting* shooting, const rbWorld* world, rbError* error)
{
    const rbShootingPlan* plan = &shooting->plan;
    rbView view;
    rbStatus status = chooseView(plan, world, &view, error);
    if (status == RB_STATUS_OK) {
        rbPicture_Draw(shooting->still, world, &view);
        status = rbWritePng(plan->png, rbPicture_GetPixels(shooting->still), plan->width,
                            plan->height, error);
        shooting->isShot = true;
    }
    return status;
}

rbStatus rbShooting_Take(rbShooting* shooting, const rbWorld* world, rbError* error)
{
    const rbShootingPlan* plan = &shooting->plan;
    double time = rbWorld_GetTime(world);
    double slack = 1e-9 * (1.0 + time);
    rbStatus status = RB_STATUS_OK;
    if (shooting->still != NULL && !shooting->isShot && time >= plan->pngTime - slack) {
        status = takeStill(shooting, world, error);
    }
    bool isDrawn = false;
    while (status == RB_STATUS_OK && shooting->video != NULL &&
           (double)shooting->videoNext * plan->speed / plan->rate <= time + slack) {
        if (!isDrawn) {
            rbPicture_Draw(shooting->moving, world, &shooting->view);
            isDrawn = true;
        }
        status = rbVideo_Write(shooting->video, rbPicture_GetPixels(shooting->moving), error);
        ++shooting->videoNext;
    }
    return status;
}

rbStatus rbShooting_Finish(rbShooting* shooting, const rbWorld* world, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    if (shooting->still != NULL && !shooting->isShot) {
        status = takeStill(shooting, world, error);
    }
    if (status == RB_STATUS_OK && shooting->video != NULL) {
        status = rbVideo_Finish(shooting->video, error);
        shooting->video = NULL;
    }
    rbShooting_Abandon(shooting);
    return status;
}

void rbShooting_Abandon(rbShooting* shooting)
{
    if (shooting != NULL) {
        rbVideo_Abandon(shooting->video);
        rbDestroyPicture(shooting->still);
        rbDestroyPicture(shooting->moving);
        rbFree(shooting, sizeof *shooting);
    }
}
