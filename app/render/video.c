// The file is a fragmented MP4, which can be written sequentially: it passes through this program,
// so that it appears under its name when it is complete.
#include "render/video.h"

#include "base/core/memory.h"
#include "io/output/child_process.h"

#include <stdio.h>

struct rbVideo {
    rbChild child;
    rbOutputFile file;
    size_t pictureSize;
};

rbVideo* rbCreateVideo(const char* path, int width, int height, int rate, rbError* error)
{
    RB_ASSERT(width > 0 && height > 0 && rate > 0);
    rbVideo* video = rbAllocZero(1, sizeof *video);
    video->pictureSize = (size_t)width * (size_t)height * 3;
    char size[32];
    char rateText[16];
    (void)snprintf(size, sizeof size, "%dx%d", width, height);
    (void)snprintf(rateText, sizeof rateText, "%d", rate);
    // The pixel format is the one that every player supports; it needs an even width and height.
    char words[][64] = {"ffmpeg",
                        "-hide_banner",
                        "-loglevel",
                        "error",
                        "-f",
                        "rawvideo",
                        "-pixel_format",
                        "rgb24",
                        "-video_size",
                        "",
                        "-framerate",
                        "",
                        "-i",
                        "-",
                        "-an",
                        "-vf",
                        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                        "-c:v",
                        "libx264",
                        "-preset",
                        "medium",
                        "-crf",
                        "20",
                        "-pix_fmt",
                        "yuv420p",
                        "-movflags",
                        "+frag_keyframe+empty_moov+default_base_moof",
                        "-f",
                        "mp4",
                        "-"};
    enum {
        WORD_COUNT = sizeof words / sizeof words[0],
        SIZE_WORD = 9,
        RATE_WORD = 11
    };
    char* arguments[WORD_COUNT + 1];
    for (int i = 0; i < WORD_COUNT; ++i) {
        arguments[i] = i == SIZE_WORD ? size : (i == RATE_WORD ? rateText : words[i]);
    }
    arguments[WORD_COUNT] = NULL;
    if (rbOutputFile_Open(&video->file, path, error) != RB_STATUS_OK) {
        rbFree(video, sizeof *video);
        return NULL;
    }
    if (rbChild_Start(&video->child, arguments, &video->file,
                      "videos need the program ffmpeg, which is not installed; install the package "
                      "ffmpeg",
                      error) != RB_STATUS_OK) {
        rbVideo_Abandon(video);
        return NULL;
    }
    video->child.name = "ffmpeg"; // the arguments do not outlive this function
    return video;
}

rbStatus rbVideo_Write(rbVideo* video, const unsigned char* pixels, rbError* error)
{
    if (!rbChild_Feed(&video->child, pixels, video->pictureSize)) {
        rbStatus status = rbChild_Finish(&video->child, error);
        return status != RB_STATUS_OK
                   ? status
                   : rbError_Set(error, RB_STATUS_IO, "ffmpeg ended before the last picture");
    }
    return rbOutputFile_Flush(&video->file, error);
}

rbStatus rbVideo_Finish(rbVideo* video, rbError* error)
{
    rbStatus status = rbChild_Finish(&video->child, error);
    if (status == RB_STATUS_OK) {
        status = rbOutputFile_Commit(&video->file, error);
    }
    rbVideo_Abandon(video);
    return status;
}

void rbVideo_Abandon(rbVideo* video)
{
    if (video != NULL) {
        rbChild_Kill(&video->child);
        rbOutputFile_Abandon(&video->file);
        rbFree(video, sizeof *video);
    }
}
