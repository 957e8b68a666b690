// The file passes through this program, so that it appears under its name when it is complete.
#include "render/video.h"

#include "base/core/memory.h"
#include "io/output/child_process.h"

#include <stdio.h>

#define KIND_WORDS_MAX 20
#define WORD_SIZE 96

struct rbVideo {
    rbChild child;
    rbOutputFile file;
    size_t pictureSize;
};

// What ffmpeg makes of the pictures. All can be written sequentially. MP4: the pixel format is the
// one that every player supports; it needs an even width and height. GIF: 256 colors, chosen anew
// for every picture, so that none must be kept.
static const char* const kindWords[RB_VIDEO_KIND_COUNT][KIND_WORDS_MAX] = {
    [RB_VIDEO_MP4] = {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-preset",
                      "medium", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags",
                      "+frag_keyframe+empty_moov+default_base_moof", "-f", "mp4", "-"},
    [RB_VIDEO_WEBM] = {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libvpx-vp9", "-crf", "30",
                       "-b:v", "0", "-deadline", "good", "-cpu-used", "4", "-pix_fmt", "yuv420p",
                       "-f", "webm", "-"},
    [RB_VIDEO_GIF] = {"-filter_complex",
                      "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1", "-f",
                      "gif", "-"},
};

rbVideo* rbCreateVideo(rbVideoKind kind, const char* path, int width, int height, int rate,
                       rbError* error)
{
    RB_ASSERT(width > 0 && height > 0 && rate > 0 && kind < RB_VIDEO_KIND_COUNT);
    rbVideo* video = rbAllocZero(1, sizeof *video);
    video->pictureSize = (size_t)width * (size_t)height * 3;
    char size[32];
    char rateText[16];
    (void)snprintf(size, sizeof size, "%dx%d", width, height);
    (void)snprintf(rateText, sizeof rateText, "%d", rate);
    const char* const words[] = {"ffmpeg",     "-hide_banner",  "-loglevel", "error",       "-f",
                                 "rawvideo",   "-pixel_format", "rgb24",     "-video_size", size,
                                 "-framerate", rateText,        "-i",        "-",           "-an"};
    enum {
        WORD_COUNT = sizeof words / sizeof words[0]
    };
    char texts[WORD_COUNT + KIND_WORDS_MAX][WORD_SIZE]; // the child takes words that are not const
    char* arguments[WORD_COUNT + KIND_WORDS_MAX + 1] = {0};
    for (int i = 0; i < WORD_COUNT + KIND_WORDS_MAX; ++i) {
        const char* word = i < WORD_COUNT ? words[i] : kindWords[kind][i - WORD_COUNT];
        if (word == NULL) {
            break;
        }
        (void)snprintf(texts[i], sizeof texts[i], "%s", word);
        arguments[i] = texts[i];
    }
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
