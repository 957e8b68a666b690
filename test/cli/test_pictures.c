// Pictures, videos and pages through the program.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL "--size", "64x36", "--duration", "0.05"

// L-110
static void pictureIsWrittenAndTheSameAgain(void** state)
{
    (void)state;
    rbChild child = RUN("run", "rattleback", "--png", "a.png", "--at", "0.02", SMALL, "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    child = RUN("run", "rattleback", "--png", "b.png", "--size", "64x36", "--duration", "0.02",
                "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t sizeA = 0;
    size_t sizeB = 0;
    char* a = rbReadFile(rbScratch("a.png"), &sizeA);
    char* b = rbReadFile(rbScratch("b.png"), &sizeB);
    assert_true(sizeA > 500);
    assert_memory_equal(a, "\x89PNG", 4);
    // in the middle of a longer run or at the end of a shorter one
    assert_int_equal(sizeA, sizeB);
    assert_memory_equal(a, b, sizeA);
    free(a);
    free(b);
}

static void badOptionsOfPicturesAreExplained(void** state)
{
    (void)state;
    rbExpectFailure(RUN("run", "rattleback", "--at", "1"), 2, "no --png");
    rbExpectFailure(RUN("run", "rattleback", "--speed", "2"), 2, "no --mp4, --webm");
    rbExpectFailure(RUN("run", "rattleback", "--png", "x.jpg"), 2, "must end in .png");
    rbExpectFailure(RUN("run", "rattleback", "--mp4", "x.avi"), 2, "must end in .mp4");
    rbExpectFailure(RUN("run", "rattleback", "--webm", "x.mp4"), 2, "must end in .webm");
    rbExpectFailure(RUN("run", "rattleback", "--gif", "x.png"), 2, "must end in .gif");
    rbExpectFailure(RUN("run", "rattleback", "--gltf", "x.gltf"), 2, "must end in .glb");
    rbExpectFailure(RUN("run", "rattleback", "--usd", "x.usdc"), 2, "must end in .usda");
    rbExpectFailure(RUN("run", "rattleback", "--png", "x.png", "--size", "5x5"), 2, "WIDTHxHEIGHT");
    rbExpectFailure(RUN("run", "rattleback", "--png", "x.png", "--size", "640"), 2, "WIDTHxHEIGHT");
    rbExpectFailure(RUN("run", "rattleback", "--png", "x.png", "--at", "9"), 2, "ends at");
    rbExpectFailure(RUN("run", "rattleback", "--png", "x.png", "--look-from", "1,2"), 2,
                    "three numbers");
    rbExpectFailure(RUN("run", "rattleback", "--png", "x.png", "--look-from", "0,0,1", "--look-at",
                        "0,0,0", SMALL),
                    2, "--look-from must be to the side of");
    rbExpectFailure(RUN("run", "rattleback", "--mp4", "x.mp4", "--speed", "1e-6"), 2,
                    "a higher --speed");
    assert_false(rbFileExists(rbScratch("x.png")));
    assert_false(rbFileExists(rbScratch("x.mp4")));
}

static void filesThatCannotBeWrittenAreNamed(void** state)
{
    (void)state;
    rbExpectFailure(RUN("run", "rattleback", "--png", "/dev/full", SMALL), 2, "No space left");
    rbExpectFailure(RUN("run", "rattleback", "--html", "/dev/full", SMALL), 2, "No space left");
    rbExpectFailure(RUN("run", "rattleback", "--html", "no/such.html", SMALL), 2, "no/such.html");
    rbExpectFailure(RUN("run", "rattleback", "--png", "no/such.png", SMALL), 2, "no/such.png");
    rbExpectFailure(RUN("run", "rattleback", "--gltf", "/dev/full", SMALL), 2, "No space left");
    rbExpectFailure(RUN("run", "rattleback", "--usd", "/dev/full", SMALL), 2, "No space left");
    rbExpectFailure(RUN("run", "rattleback", "--usd", "no/such.usda", SMALL), 2, "no/such.usda");
    rbChildOptions options = {.fileSizeMax = 4096};
    const char* const words[] = {"run", "rattleback", "--html", "x.html", SMALL, NULL};
    rbExpectFailure(rbRunProgramWith(words, &options), 2, "x.html");
    assert_false(rbFileExists(rbScratch("x.html")));
    assert_false(rbFileExists(rbScratch("x.html.part")));
}

static void withoutFfmpegThereIsAMessage(void** state)
{
    (void)state;
    rbChildOptions options = {.environment = "PATH=/nowhere"};
    const char* const words[] = {"run", "rattleback", "--mp4", "x.mp4", SMALL, NULL};
    rbExpectFailure(rbRunProgramWith(words, &options), 2, "install the package ffmpeg");
    assert_false(rbFileExists(rbScratch("x.mp4")));
    assert_false(rbFileExists(rbScratch("x.mp4.part")));
}

// B-89
static void videoIsWrittenByFfmpeg(void** state)
{
    (void)state;
    if (system("command -v ffmpeg >/dev/null") != 0) { // NOLINT(cert-env33-c): is it there?
        skip();
    }
    rbChild child = RUN("run", "rattleback", "--mp4", "x.mp4", "--speed", "0.25", SMALL, "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* bytes = rbReadFile(rbScratch("x.mp4"), &size);
    assert_true(size > 500);
    assert_memory_equal(bytes + 4, "ftyp", 4);
    free(bytes);
    rbExpectFailure(RUN("run", "rattleback", "--mp4", "/dev/full", SMALL), 2, "No space left");
    // the same pictures in the other formats, by their first bytes
    child = RUN("run", "rattleback", "--webm", "x.webm", "--gif", "x.gif", SMALL, "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    bytes = rbReadFile(rbScratch("x.webm"), &size);
    assert_true(size > 300);
    assert_memory_equal(bytes, "\x1A\x45\xDF\xA3", 4); // EBML
    free(bytes);
    bytes = rbReadFile(rbScratch("x.gif"), &size);
    assert_true(size > 300);
    assert_memory_equal(bytes, "GIF89a", 6);
    free(bytes);
}

// L-108
static void pageIsWholeAndSmall(void** state)
{
    (void)state;
    rbChild child = RUN("run", "rattleback", "--html", "x.html", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* text = rbReadFile(rbScratch("x.html"), &size);
    assert_true(size > 10000 && size < 2000000);
    assert_non_null(strstr(text, "id=\"data\">H4sI")); // gzip in base64
    assert_non_null(strstr(text, "</html>"));
    free(text);
}

RB_TEST_GROUP(test_pictures, SCRATCH_TEST(pictureIsWrittenAndTheSameAgain),
              SCRATCH_TEST(badOptionsOfPicturesAreExplained),
              SCRATCH_TEST(filesThatCannotBeWrittenAreNamed),
              SCRATCH_TEST(withoutFfmpegThereIsAMessage), SCRATCH_TEST(videoIsWrittenByFfmpeg),
              SCRATCH_TEST(pageIsWholeAndSmall));
