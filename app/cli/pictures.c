// Output formats that draw: a picture at one time, and a video. They share size and camera.
#include "base/core/memory.h"
#include "cli/output_format.h"
#include "io/output/state_stream.h"
#include "render/picture.h"
#include "render/png.h"
#include "render/video.h"
#include "render/view.h"

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

// ---------------------------------------------------------------------------------------- camera

typedef struct Camera {
    int width, height; // pixels
    bool isLookingFrom, isLookingAt;
    rbVec3 lookFrom, lookAt; // m
} Camera;

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
        (void)rbFail("%s is '%s'; must be three numbers, e.g. %s 1,-2.5,0.8", name, text, name);
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
        (void)rbFail("--size is '%s'; must be WIDTHxHEIGHT, each %d to %d pixels", text,
                     RB_PICTURE_SIZE_MIN, RB_PICTURE_SIZE_MAX);
        return false;
    }
    *width = (int)w;
    *height = (int)h;
    return true;
}

static bool readCamera(const rbArguments* arguments, Camera* camera)
{
    return readSize(arguments, &camera->width, &camera->height) &&
           readPoint(arguments, "--look-from", &camera->lookFrom, &camera->isLookingFrom) &&
           readPoint(arguments, "--look-at", &camera->lookAt, &camera->isLookingAt);
}

static rbStatus chooseView(const Camera* camera, const rbOutputRun* run, rbView* view,
                           rbError* error)
{
    rbChooseView(run->world, run->scene, view);
    rbVec3 at = camera->isLookingAt ? camera->lookAt : view->center;
    if (camera->isLookingFrom) {
        if (!rbView_LookFrom(view, camera->lookFrom, at)) {
            return rbError_Set(
                error, RB_STATUS_INVALID,
                "--look-from must be to the side of --look-at, not directly above, below or at it");
        }
    } else if (camera->isLookingAt) {
        view->center = at;
    }
    return RB_STATUS_OK;
}

// A device is written to directly; anything else is reported as what it is.
static bool isNamed(const char* path, const char* ending)
{
    size_t length = strlen(path);
    size_t tail = strlen(ending);
    return strncmp(path, "/dev/", 5) == 0 ||
           (length > tail && strcmp(path + length - tail, ending) == 0);
}

// --------------------------------------------------------------------------------------- picture

typedef struct PictureWriter {
    Camera camera;
    const char* path;
    rbPicture* picture;
    double time; // s; INFINITY: the end
    bool isClear;
    bool isDrawn;
} PictureWriter;

static bool checkPicture(const rbArguments* arguments)
{
    const char* path = rbArguments_Get(arguments, "--png");
    if (path == NULL && rbArguments_Has(arguments, "--at")) {
        (void)rbFail("--at sets the time of a picture, but there is no --png FILE; add one");
        return false;
    }
    if (path == NULL && rbArguments_Has(arguments, "--clear")) {
        (void)rbFail("--clear makes a picture transparent, but there is no --png FILE; add one");
        return false;
    }
    if (path != NULL && !isNamed(path, ".png")) {
        (void)rbFail("--png is '%s'; the name must end in .png", path);
        return false;
    }
    double time = 0.0;
    Camera camera;
    return rbArguments_GetNumber(arguments, "--at", 0.0, 1e12, &time) &&
           readCamera(arguments, &camera);
}

static void* openPicture(const rbOutputRun* run, const char* path, rbError* error)
{
    PictureWriter* writer = rbAllocZero(1, sizeof *writer);
    writer->path = path;
    writer->time = INFINITY;
    writer->isClear = rbArguments_Has(run->arguments, "--clear");
    (void)rbArguments_GetNumber(run->arguments, "--at", 0.0, 1e12, &writer->time);
    (void)readCamera(run->arguments, &writer->camera);
    double duration = rbScene_GetInfo(run->scene)->duration;
    if (isfinite(writer->time) && writer->time > duration) {
        (void)rbError_Set(error, RB_STATUS_INVALID,
                          "--at is %g s, but the run ends at %g s; use a longer --duration",
                          writer->time, duration);
    } else {
        rbPictureDef def = rbDefaultPictureDef(writer->camera.width, writer->camera.height);
        def.sampling = STILL_SAMPLING;
        def.sunCount = STILL_SUN;
        def.skyCount = STILL_SKY;
        def.isClear = writer->isClear;
        def.scene = run->scene;
        writer->picture = rbCreatePicture(&def, run->world, error);
    }
    if (writer->picture == NULL) {
        rbFree(writer, sizeof *writer);
        return NULL;
    }
    if (run->state != NULL) {
        rbStateStream_Flag(run->state, &writer->isDrawn);
    }
    return writer;
}

static rbStatus savePicture(void* object, rbStateStream* stream, rbError* error)
{
    (void)error;
    PictureWriter* writer = object;
    rbStateStream_Flag(stream, &writer->isDrawn);
    return RB_STATUS_OK;
}

static rbStatus drawPicture(PictureWriter* writer, const rbOutputRun* run, rbError* error)
{
    rbView view;
    rbStatus status = chooseView(&writer->camera, run, &view, error);
    if (status == RB_STATUS_OK) {
        rbPicture_Draw(writer->picture, run->world, &view);
        rbImage image = {rbPicture_GetPixels(writer->picture), writer->camera.width,
                         writer->camera.height, writer->isClear ? 4 : 3};
        status = rbWritePng(writer->path, &image, error);
        writer->isDrawn = true;
    }
    return status;
}

static rbStatus writePictureFrame(void* object, const rbOutputRun* run, rbError* error)
{
    PictureWriter* writer = object;
    double time = rbWorld_GetTime(run->world);
    double slack = 1e-9 * (1.0 + time);
    bool isDue = !writer->isDrawn && time >= writer->time - slack;
    return isDue ? drawPicture(writer, run, error) : RB_STATUS_OK;
}

static void abandonPicture(void* object)
{
    PictureWriter* writer = object;
    rbDestroyPicture(writer->picture);
    rbFree(writer, sizeof *writer);
}

static rbStatus finishPicture(void* object, const rbOutputRun* run, rbError* error)
{
    PictureWriter* writer = object;
    rbStatus status = writer->isDrawn ? RB_STATUS_OK : drawPicture(writer, run, error);
    abandonPicture(writer);
    return status;
}

static const rbOption pictureDetails[] = {
    {"--at", "SECONDS", "takes the picture at the first output at or after this time"},
    {"--clear", NULL, "the picture has no sky and no planes: they are transparent"},
    {"--size", "WxH", "size of pictures and videos in pixels (default 1280x720)"},
    {"--look-from", "X,Y,Z", "position of the camera, m (default: chosen to fit the scene)"},
    {"--look-at", "X,Y,Z", "point the camera looks at, m"},
};

const rbOutputFormat rbPictureFormat = {
    .kind = "picture",
    .option = {"--png", "FILE", "writes a picture at the time --at (default: the end)"},
    .details = pictureDetails,
    .detailCount = (int)(sizeof pictureDetails / sizeof pictureDetails[0]),
    .check = checkPicture,
    .open = openPicture,
    .writeFrame = writePictureFrame,
    .finish = finishPicture,
    .abandon = abandonPicture,
    .save = savePicture,
};

// ----------------------------------------------------------------------------------------- video

typedef struct VideoPlan {
    Camera camera;
    double speed; // simulated time over video time
    int rate;     // frames per second
} VideoPlan;

typedef struct VideoWriter {
    VideoPlan plan;
    rbPicture* picture;
    rbVideo* video;
    rbView view;  // one for all pictures
    int64_t next; // number of the next picture
} VideoWriter;

static bool readVideoPlan(const rbArguments* arguments, VideoPlan* plan)
{
    double rate = RATE;
    plan->speed = 1.0;
    bool isGood = rbArguments_GetNumber(arguments, "--speed", 1e-9, 1e9, &plan->speed) &&
                  rbArguments_GetNumber(arguments, "--fps", 1.0, 240.0, &rate) &&
                  readCamera(arguments, &plan->camera);
    plan->rate = (int)(rate + 0.5);
    return isGood;
}

static const char* const videoOptions[RB_VIDEO_KIND_COUNT] = {"--mp4", "--webm", "--gif"};
static const char* const videoEndings[RB_VIDEO_KIND_COUNT] = {".mp4", ".webm", ".gif"};

static bool checkVideoName(const rbArguments* arguments, rbVideoKind kind)
{
    const char* path = rbArguments_Get(arguments, videoOptions[kind]);
    if (path != NULL && !isNamed(path, videoEndings[kind])) {
        (void)rbFail("%s is '%s'; the name must end in %s", videoOptions[kind], path,
                     videoEndings[kind]);
        return false;
    }
    return true;
}

static bool checkVideo(const rbArguments* arguments)
{
    static const char* const details[] = {"--speed", "--fps"};
    bool isMoving = rbArguments_Has(arguments, "--gltf") || rbArguments_Has(arguments, "--usd");
    for (int kind = 0; kind < RB_VIDEO_KIND_COUNT; ++kind) {
        isMoving = isMoving || rbArguments_Has(arguments, videoOptions[kind]);
        if (!checkVideoName(arguments, (rbVideoKind)kind)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof details / sizeof details[0]; ++i) {
        if (!isMoving && rbArguments_Has(arguments, details[i])) {
            (void)rbFail("%s applies to a video, but there is no --mp4, --webm, --gif, --gltf or "
                         "--usd FILE; add one",
                         details[i]);
            return false;
        }
    }
    VideoPlan plan;
    return readVideoPlan(arguments, &plan);
}

// One output per picture.
static bool chooseVideoStep(const rbArguments* arguments, double* step)
{
    VideoPlan plan;
    if (!checkVideo(arguments) || !readVideoPlan(arguments, &plan)) {
        return false;
    }
    *step = plan.speed / plan.rate;
    return true;
}

static void abandonVideo(void* object)
{
    VideoWriter* writer = object;
    rbVideo_Abandon(writer->video);
    rbDestroyPicture(writer->picture);
    rbFree(writer, sizeof *writer);
}

static rbVideoKind getVideoKind(const rbOutputFormat* format)
{
    return format == &rbGifFormat ? RB_VIDEO_GIF
                                  : (format == &rbWebmFormat ? RB_VIDEO_WEBM : RB_VIDEO_MP4);
}

static rbStatus startVideo(VideoWriter* writer, const rbOutputRun* run, const char* path,
                           rbError* error)
{
    const VideoPlan* plan = &writer->plan;
    double duration = rbScene_GetInfo(run->scene)->duration;
    double count = duration / plan->speed * plan->rate;
    if (count > VIDEO_PICTURES_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "a video of %g s at speed %g has %.0f frames, more than %d; use a "
                           "higher --speed or a shorter --duration",
                           duration, plan->speed, count, VIDEO_PICTURES_MAX);
    }
    rbPictureDef def = rbDefaultPictureDef(plan->camera.width, plan->camera.height);
    def.scene = run->scene;
    writer->picture = rbCreatePicture(&def, run->world, error);
    if (writer->picture == NULL) {
        return error->status;
    }
    rbStatus status = chooseView(&plan->camera, run, &writer->view, error);
    if (status == RB_STATUS_OK) {
        writer->video = rbCreateVideo(getVideoKind(run->format), path, plan->camera.width,
                                      plan->camera.height, plan->rate, error);
        status = writer->video != NULL ? RB_STATUS_OK : error->status;
    }
    return status;
}

static void* openVideo(const rbOutputRun* run, const char* path, rbError* error)
{
    VideoWriter* writer = rbAllocZero(1, sizeof *writer);
    (void)readVideoPlan(run->arguments, &writer->plan);
    if (startVideo(writer, run, path, error) != RB_STATUS_OK) {
        abandonVideo(writer);
        return NULL;
    }
    return writer;
}

static rbStatus writeVideoFrame(void* object, const rbOutputRun* run, rbError* error)
{
    VideoWriter* writer = object;
    const VideoPlan* plan = &writer->plan;
    double time = rbWorld_GetTime(run->world);
    double slack = 1e-9 * (1.0 + time);
    rbStatus status = RB_STATUS_OK;
    bool isDrawn = false;
    while (status == RB_STATUS_OK &&
           (double)writer->next * plan->speed / plan->rate <= time + slack) {
        if (!isDrawn) {
            rbPicture_Draw(writer->picture, run->world, &writer->view);
            isDrawn = true;
        }
        status = rbVideo_Write(writer->video, rbPicture_GetPixels(writer->picture), error);
        ++writer->next;
    }
    return status;
}

static rbStatus finishVideo(void* object, const rbOutputRun* run, rbError* error)
{
    (void)run;
    VideoWriter* writer = object;
    rbStatus status = rbVideo_Finish(writer->video, error);
    writer->video = NULL;
    abandonVideo(writer);
    return status;
}

static const rbOption videoDetails[] = {
    {"--speed", "FACTOR", "simulated time over video time (default 1)"},
    {"--fps", "NUMBER", "frames per second of the video (default 30)"},
};

#define VIDEO_WRITER                                                                 \
    .chooseStep = chooseVideoStep, .open = openVideo, .writeFrame = writeVideoFrame, \
    .finish = finishVideo, .abandon = abandonVideo

const rbOutputFormat rbVideoFormat = {
    .kind = "video",
    .option = {"--mp4", "FILE",
               "writes a video with ffmpeg; without --dt, one output per video frame"},
    .details = videoDetails,
    .detailCount = (int)(sizeof videoDetails / sizeof videoDetails[0]),
    .check = checkVideo,
    VIDEO_WRITER,
};

const rbOutputFormat rbWebmFormat = {
    .kind = "webm",
    .option = {"--webm", "FILE", "the same as WebM (VP9), for pages"},
    VIDEO_WRITER,
};

const rbOutputFormat rbGifFormat = {
    .kind = "gif",
    .option = {"--gif", "FILE", "the same as a moving GIF"},
    VIDEO_WRITER,
};
