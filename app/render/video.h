// Videos by ffmpeg as a child process: raw pictures in, an MP4, WebM or GIF file out.
#pragma once

#include <rattleback/base.h>

typedef struct rbVideo rbVideo;

typedef enum rbVideoKind {
    RB_VIDEO_MP4,
    RB_VIDEO_WEBM,
    RB_VIDEO_GIF,
    RB_VIDEO_KIND_COUNT
} rbVideoKind;

// Opens a video of `rate` pictures per second. NULL and an error: the file cannot be created, or
// ffmpeg is not installed.
rbVideo* rbCreateVideo(rbVideoKind kind, const char* path, int width, int height, int rate,
                       rbError* error);
// Appends a picture: width x height x red, green, blue, rows from the top.
rbStatus rbVideo_Write(rbVideo* video, const unsigned char* pixels, rbError* error);
// Completes the file and frees the video; after a failure there is no file. Abandon leaves none.
rbStatus rbVideo_Finish(rbVideo* video, rbError* error);
void rbVideo_Abandon(rbVideo* video); // NULL is fine
