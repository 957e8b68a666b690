// The renderer: objects are drawn where the projection places them, in the right order, lit from
// the right side; views show the moving bodies; PNG files contain the pixels.
#include "base/core/memory.h"
#include "rb_test.h"
#include "render/palette.h"
#include "render/picture.h"
#include "render/picture_light.h"
#include "render/png.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WIDTH 320
#define HEIGHT 180

static rbWorld* makeWorld(void)
{
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = RB_VEC3_ZERO;
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    return world;
}

static rbBodyId addBody(rbWorld* world, rbGeometry* geometry, rbBodyType type, rbVec3 position)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = position;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

static rbBodyId addBall(rbWorld* world, rbVec3 position, double radius)
{
    return addBody(world, rbCreateSphere(radius, NULL), RB_BODY_DYNAMIC, position);
}

static rbView makeView(double radius, rbVec3 direction)
{
    return (rbView){
        .radius = radius, .direction = rbNormalize(direction), .up = {0.0, 0.0, 1.0}, .floor = NAN};
}

// Draws and returns the pixels, which the caller frees.
static unsigned char* draw(const rbWorld* world, const rbView* view, int sampling)
{
    rbError error = {0};
    rbPictureDef def = rbDefaultPictureDef(WIDTH, HEIGHT);
    def.sampling = sampling;
    rbPicture* picture = rbCreatePicture(&def, world, &error);
    assert_non_null(picture);
    rbPicture_Draw(picture, world, view);
    unsigned char* pixels = malloc((size_t)3 * WIDTH * HEIGHT);
    memcpy(pixels, rbPicture_GetPixels(picture), (size_t)3 * WIDTH * HEIGHT);
    rbDestroyPicture(picture);
    return pixels;
}

static const unsigned char* pixelAt(const unsigned char* pixels, double x, double y)
{
    assert_true(x >= 0.0 && x < WIDTH && y >= 0.0 && y < HEIGHT);
    return pixels + 3 * ((size_t)y * WIDTH + (size_t)x);
}

static int brightness(const unsigned char* pixel)
{
    return pixel[0] + pixel[1] + pixel[2];
}

// Does the ray through the middle of a pixel hit a ball? By the quadratic equation, for a camera
// that is built here from the description in view.h.
static bool isHit(const rbView* view, int x, int y, rbVec3 center, double radius)
{
    double half = 0.5 * RB_VIEW_ANGLE;
    double distance = view->radius / sin(half);
    rbVec3 camera = rbAddScaled(view->center, distance, view->direction);
    rbVec3 right = rbNormalize(rbCross(view->up, view->direction));
    rbVec3 top = rbCross(view->direction, right);
    double dx = (2.0 * (x + 0.5) / WIDTH - 1.0) * tan(half) * WIDTH / HEIGHT;
    double dy = (1.0 - 2.0 * (y + 0.5) / HEIGHT) * tan(half);
    rbVec3 ray = rbAdd(rbNeg(view->direction), rbAdd(rbScale(dx, right), rbScale(dy, top)));
    rbVec3 arm = rbSub(camera, center);
    double b = rbDot(arm, ray);
    return b * b - rbDot(ray, ray) * (rbDot(arm, arm) - radius * radius) > 0.0 && b < 0.0;
}

// The pixel where a point of the world is.
static const unsigned char* pixelOf(const rbPicture* picture, const rbView* view, rbVec3 point)
{
    double x, y;
    assert_true(rbView_Project(view, WIDTH, HEIGHT, point, &x, &y));
    return pixelAt(rbPicture_GetPixels(picture), x, y);
}

// Seen from above: a red box with a black checkerboard, an invisible ball with a green visual next
// to it, and a transparent plate that covers half of a white box.
static void looksOfTheSceneAreDrawn(void** state)
{
    (void)state;
    static const char text[] =
        "{\"rattleback\": 1, \"world\": {\"gravity\": [0, 0, 0]}, \"bodies\": ["
        "{\"name\": \"a\", \"position\": [-1, 0, 0], \"color\": \"#ff0000\", \"texture\": "
        "{\"type\": \"checker\", \"size\": 0.25, \"color\": \"#000000\"}, \"shapes\": "
        "[{\"geometry\": {\"type\": \"box\", \"size\": [1, 1, 0.5]}}]},"
        "{\"name\": \"b\", \"position\": [1, 0, 0], \"color\": \"#0000ff\", \"opacity\": 0, "
        "\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.3}}], \"visuals\": "
        "[{\"geometry\": {\"type\": \"box\", \"size\": [0.3, 0.3, 0.3]}, \"position\": [0, 1, 0], "
        "\"color\": \"#00ff00\", \"opacity\": 1}]},"
        "{\"name\": \"c\", \"position\": [1, -1, 0], \"color\": \"#ffffff\", "
        "\"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 1, 0.2]}}]},"
        "{\"name\": \"d\", \"position\": [1.5, -1, 0.5], \"color\": \"#ff0000\", \"opacity\": 0.5, "
        "\"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 1, 0.05]}}]}]}";
    rbError error = {0};
    rbScene* scene = rbReadSceneText(text, strlen(text), NULL, &error);
    assert_non_null(scene);
    rbWorld* world = rbScene_CreateWorld(scene, &error);
    assert_non_null(world);
    rbView view = makeView(2.0, rbMakeVec3(0.0, -0.05, 1.0));
    rbPictureDef def = rbDefaultPictureDef(WIDTH, HEIGHT);
    def.sampling = 4;
    def.scene = scene;
    rbPicture* picture = rbCreatePicture(&def, world, &error);
    assert_non_null(picture);
    rbPicture_Draw(picture, world, &view);
    // squares of the checker have their edges at multiples of 0.25 m; the top is in layer 0
    for (int i = 0; i < 16; ++i) {
        int row = i / 4;
        rbVec3 place = {-0.375 + 0.25 * (i % 4), -0.375 + 0.25 * row, 0.25};
        const unsigned char* pixel =
            pixelOf(picture, &view, rbAdd(place, rbMakeVec3(-1.0, 0.0, 0.0)));
        bool isSecond = (i % 4 + row) % 2 != 0;
        assert_true(isSecond ? pixel[0] < 60 : pixel[0] > 120 && pixel[1] < 90);
    }
    const unsigned char* empty = pixelOf(picture, &view, rbMakeVec3(1.0, 0.0, 0.3));
    const unsigned char* sky = pixelOf(picture, &view, rbMakeVec3(0.0, 1.2, 0.0));
    assert_true(abs(brightness(empty) - brightness(sky)) < 12);
    const unsigned char* green = pixelOf(picture, &view, rbMakeVec3(1.0, 1.0, 0.15));
    assert_true(green[1] > 120 && green[0] < 90 && green[2] < 90);
    const unsigned char* white = pixelOf(picture, &view, rbMakeVec3(0.65, -1.0, 0.1));
    const unsigned char* glass = pixelOf(picture, &view, rbMakeVec3(1.25, -1.0, 0.5));
    assert_true(white[0] > 180 && white[1] > 180);
    assert_true(glass[0] > 150 && glass[1] < white[1] - 30 && glass[1] > 90);
    rbDestroyPicture(picture);
    rbChooseView(world, scene, &view);
    double x, y;
    assert_true(rbView_Project(&view, WIDTH, HEIGHT, rbMakeVec3(1.15, 1.15, 0.15), &x, &y));
    assert_true(x > 0.0 && x < WIDTH && y > 0.0 && y < HEIGHT);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

// A clear picture of a ball on a plane: opaque where rays hit the ball, transparent elsewhere, and
// its colors do not mix with the black behind it.
static void clearPictureHasAlphaWhereABodyIs(void** state)
{
    (void)state;
    const rbVec3 center = {0.5, -0.4, 0.3};
    const double radius = 0.6;
    rbError error = {0};
    rbWorld* world = makeWorld();
    (void)addBall(world, center, radius);
    (void)addBody(world, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), -1.0, NULL), RB_BODY_STATIC,
                  RB_VEC3_ZERO);
    rbView view = makeView(2.0, rbMakeVec3(0.4, -0.8, 0.3));
    rbPictureDef def = rbDefaultPictureDef(WIDTH, HEIGHT);
    def.isClear = true;
    def.sampling = 3;
    rbPicture* picture = rbCreatePicture(&def, world, &error);
    assert_non_null(picture);
    rbPicture_Draw(picture, world, &view);
    const unsigned char* pixels = rbPicture_GetPixels(picture);
    double pixel = 4.0 / HEIGHT; // about its size at the distance of the ball
    int full = 0;
    int partly = 0;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const unsigned char* p = pixels + 4 * (size_t)i;
        if (isHit(&view, i % WIDTH, i / WIDTH, center, radius - pixel)) {
            assert_int_equal(p[3], 255);
            ++full;
        } else if (!isHit(&view, i % WIDTH, i / WIDTH, center, radius + pixel)) {
            assert_int_equal(p[3], 0);
        }
        if (p[3] > 0 && p[3] < 255) {
            ++partly;
            assert_true(p[0] + p[1] + p[2] > 60); // an edge that is mixed with black is dark
        }
    }
    assert_true(full > 100 && partly > 10);
    rbDestroyPicture(picture);
    rbDestroyWorld(world);
}

// L-110
static void ballIsDrawnWhereItsRaysHit(void** state)
{
    (void)state;
    const rbVec3 center = {0.5, -0.4, 0.3};
    const double radius = 0.6;
    rbWorld* empty = makeWorld();
    rbWorld* world = makeWorld();
    (void)addBall(world, center, radius);
    rbView view = makeView(2.0, rbMakeVec3(0.4, -0.8, 0.3));
    unsigned char* before = draw(empty, &view, 1);
    unsigned char* after = draw(world, &view, 1);
    double pixel = 4.0 / HEIGHT; // about its size at the distance of the ball
    int inside = 0;
    for (int y = 0; y < HEIGHT; ++y) {
        for (int x = 0; x < WIDTH; ++x) {
            size_t at = 3 * ((size_t)y * WIDTH + (size_t)x);
            bool isDrawn = memcmp(before + at, after + at, 3) != 0;
            // a tenth of a pixel at the edge: the ball is made of triangles
            if (isHit(&view, x, y, center, radius - 0.1 * pixel)) {
                assert_true(isDrawn);
                ++inside;
            } else if (!isHit(&view, x, y, center, radius + 0.1 * pixel)) {
                assert_false(isDrawn);
            }
        }
    }
    assert_in_range(inside, 1500, 6000);
    double px = 0.0;
    double py = 0.0;
    assert_true(rbView_Project(&view, WIDTH, HEIGHT, center, &px, &py));
    assert_true(isHit(&view, (int)px, (int)py, center, 0.01));
    assert_false(rbView_Project(&view, WIDTH, HEIGHT, rbScale(100.0, view.direction), &px, &py));
    free(before);
    free(after);
    rbDestroyWorld(empty);
    rbDestroyWorld(world);
}

static void theNearerBodyIsSeen(void** state)
{
    (void)state;
    rbView view = makeView(2.0, rbMakeVec3(0.0, -1.0, 0.2));
    for (int k = 0; k < 2; ++k) {
        // the first body is red, the second blue
        rbWorld* world = makeWorld();
        double near = k == 0 ? 1.0 : -1.0;
        (void)addBall(world, rbScale(near, view.direction), 0.5);
        (void)addBall(world, rbScale(-near, view.direction), 0.5);
        unsigned char* pixels = draw(world, &view, 2);
        const unsigned char* middle = pixelAt(pixels, 0.5 * WIDTH, 0.5 * HEIGHT);
        assert_true(k == 0 ? middle[0] > middle[2] + 10 : middle[2] > middle[0] + 10);
        free(pixels);
        rbDestroyWorld(world);
    }
}

static void shadowLiesOppositeToTheSun(void** state)
{
    (void)state;
    rbWorld* world = makeWorld();
    (void)addBall(world, rbMakeVec3(0.0, 0.0, 1.0), 0.3);
    (void)addBody(world, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL), RB_BODY_STATIC,
                  RB_VEC3_ZERO);
    rbView view = makeView(2.0, rbMakeVec3(0.5, -1.0, 0.9));
    rbPictureFrame frame = {0};
    rbPictureFrame_SetCamera(&frame, &view, WIDTH, HEIGHT);
    rbVec3 sun = rbGetSunDirection(&frame);
    assert_true(sun.z > 0.3);
    // where the sun's ray through the center meets the ground, and the mirror image of that point
    rbVec3 shadow = rbAddScaled(rbMakeVec3(0.0, 0.0, 1.0), -1.0 / sun.z, sun);
    rbVec3 lit = rbNeg(shadow);
    double x = 0.0, y = 0.0, litX = 0.0, litY = 0.0;
    assert_true(rbView_Project(&view, WIDTH, HEIGHT, shadow, &x, &y));
    assert_true(rbView_Project(&view, WIDTH, HEIGHT, lit, &litX, &litY));
    unsigned char* pixels = draw(world, &view, 2);
    int dark = brightness(pixelAt(pixels, x, y));
    int bright = brightness(pixelAt(pixels, litX, litY));
    checkBelow(dark, 0.75 * bright);
    checkBelow(litX, x); // the sun is at the left
    free(pixels);
    rbDestroyWorld(world);
}

// A quarter turn exchanges the tones of the octants.
static void turningOfABallIsSeen(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorld* world = makeWorld();
    rbBodyId ball = addBall(world, RB_VEC3_ZERO, 1.0);
    rbView view = makeView(2.0, rbMakeVec3(1.0, -1.0, 0.8));
    unsigned char* before = draw(world, &view, 1);
    rbTransform pose = {RB_VEC3_ZERO, {sqrt(0.5), 0.0, 0.0, sqrt(0.5)}};
    assert_int_equal(rbBody_SetState(world, ball, pose, RB_VEC3_ZERO, RB_VEC3_ZERO, &error),
                     RB_STATUS_OK);
    unsigned char* after = draw(world, &view, 1);
    // the middle of the picture is in the octant x > 0, y < 0, z > 0: the lighter tone
    const unsigned char* first = pixelAt(before, 0.5 * WIDTH, 0.5 * HEIGHT);
    const unsigned char* second = pixelAt(after, 0.5 * WIDTH, 0.5 * HEIGHT);
    assert_true(brightness(first) > brightness(second) + 60);
    assert_int_equal(rbGetMarking(RB_SHAPE_BOX), RB_MARKING_NONE);
    free(before);
    free(after);
    rbDestroyWorld(world);
}

static void sameWorldGivesSamePixels(void** state)
{
    (void)state;
    rbWorld* world = makeWorld();
    for (int i = 0; i < 12; ++i) {
        int row = i / 4;
        (void)addBall(world, rbMakeVec3(0.4 * (i % 4), 0.5 * row, 0.1 * i), 0.2);
    }
    rbView view;
    rbChooseView(world, NULL, &view);
    unsigned char* first = draw(world, &view, 2);
    unsigned char* second = draw(world, &view, 2);
    assert_memory_equal(first, second, (size_t)3 * WIDTH * HEIGHT);
    free(first);
    free(second);
    rbDestroyWorld(world);
}

static rbScene* readScene(const char* name)
{
    char path[600];
    rbError error = {0};
    (void)snprintf(path, sizeof path, "%s/scenes/%s", RB_SOURCE_DIR, name);
    rbScene* scene = rbReadScene(path, &error);
    assert_non_null(scene);
    return scene;
}

static void checkView(const char* name, const rbWorld* world)
{
    rbView view;
    rbChooseView(world, NULL, &view);
    checkNear(rbLength(view.direction), 1.0, 1e-12);
    assert_true(isfinite(view.radius) && view.radius > 0.0);
    int count = rbWorld_GetBodyCount(world);
    rbBodyId* ids = malloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        if (rbBody_GetType(world, ids[i]) == RB_BODY_DYNAMIC) {
            rbVec3 p = rbWorld_WrapPosition(world, rbBody_GetState(world, ids[i]).center, NULL);
            double x = 0.0;
            double y = 0.0;
            bool isSeen = rbView_Project(&view, 1600, 900, p, &x, &y) && x >= 0.0 && y >= 0.0 &&
                          x <= 1600.0 && y <= 900.0;
            if (!isSeen) {
                print_error("%s: body %d is at pixel %g %g\n", name, i, x, y);
            }
            assert_true(isSeen);
        }
    }
    free(ids);
}

static void viewsShowAllMovingBodies(void** state)
{
    (void)state;
    rbError error = {0};
    DIR* folder = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(folder);
    const struct dirent* entry = NULL;
    int count = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (strstr(entry->d_name, ".json") != NULL) {
            rbScene* scene = readScene(entry->d_name);
            rbWorld* world = rbScene_CreateWorld(scene, &error);
            assert_non_null(world);
            checkView(entry->d_name, world);
            rbDestroyWorld(world);
            rbDestroyScene(scene);
            ++count;
        }
    }
    (void)closedir(folder);
    assert_true(count > 50);
}

// ------------------------------------------------------------------------------------------- PNG

static uint32_t getBigEndian(const unsigned char* bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// The checksum of PNG bit by bit.
static uint32_t checksum(const unsigned char* bytes, size_t count)
{
    uint32_t check = 0xffffffffu;
    for (size_t i = 0; i < count; ++i) {
        check ^= bytes[i];
        for (int k = 0; k < 8; ++k) {
            check = check & 1u ? check >> 1 ^ 0xedb88320u : check >> 1;
        }
    }
    return ~check;
}

static unsigned char predict(int filter, int a, int b, int c)
{
    int p = a + b - c;
    int da = abs(p - a);
    int db = abs(p - b);
    int dc = abs(p - c);
    int paeth = da <= db && da <= dc ? a : (db <= dc ? b : c);
    const int values[5] = {0, a, b, (a + b) / 2, paeth};
    assert_in_range(filter, 0, 4);
    return (unsigned char)values[filter];
}

// Decodes a file that we wrote; the caller frees the pixels.
static unsigned char* decode(const unsigned char* file, size_t size, int width, int height,
                             size_t channels)
{
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
    size_t row = channels * (size_t)width;
    unsigned char* raw = calloc((size_t)height, row + 1);
    unsigned char* pixels = calloc((size_t)height, row);
    size_t at = 8;
    int chunkCount = 0;
    while (at < size) {
        size_t length = getBigEndian(file + at);
        const unsigned char* content = file + at + 8;
        assert_true(at + 12 + length <= size);
        assert_int_equal(getBigEndian(content + length), checksum(file + at + 4, length + 4));
        if (memcmp(file + at + 4, "IHDR", 4) == 0) {
            assert_int_equal(getBigEndian(content), width);
            assert_int_equal(getBigEndian(content + 4), height);
            assert_int_equal(content[9], channels == 4 ? 6 : 2);
            assert_int_equal(content[8], 8);
            assert_memory_equal(content + 10, "\x00\x00\x00", 3);
        } else if (memcmp(file + at + 4, "IDAT", 4) == 0) {
            uLongf rawSize = (uLongf)((row + 1) * (size_t)height);
            assert_int_equal(uncompress(raw, &rawSize, content, (uLong)length), Z_OK);
            assert_int_equal(rawSize, (row + 1) * (size_t)height);
        }
        at += 12 + length;
        ++chunkCount;
    }
    assert_int_equal(chunkCount, 3);
    for (size_t y = 0; y < (size_t)height; ++y) {
        const unsigned char* coded = raw + y * (row + 1);
        for (size_t i = 0; i < row; ++i) {
            int a = i >= channels ? pixels[y * row + i - channels] : 0;
            int b = y > 0 ? pixels[(y - 1) * row + i] : 0;
            int c = y > 0 && i >= channels ? pixels[(y - 1) * row + i - channels] : 0;
            pixels[y * row + i] = (unsigned char)(coded[1 + i] + predict(coded[0], a, b, c));
        }
    }
    free(raw);
    return pixels;
}

static void pngHoldsThePixels(void** state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {3, 2}, {17, 31}, {64, 64}};
    rbError error = {0};
    uint64_t random = rbTest_Seed(11);
    for (int k = 0; k < 8; ++k) {
        int width = sizes[k / 2][0];
        int height = sizes[k / 2][1];
        size_t channels = k % 2 == 0 ? 3 : 4;
        size_t count = channels * (size_t)width * (size_t)height;
        unsigned char* pixels = malloc(count);
        for (size_t i = 0; i < count; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            // noise in one half, slopes in the other
            pixels[i] = (unsigned char)(i < count / 2 ? random >> 56 : i / 3);
        }
        unsigned char* file = NULL;
        size_t size = 0;
        rbImage image = {pixels, width, height, (int)channels};
        assert_int_equal(rbEncodePng(&image, &file, &size, &error), RB_STATUS_OK);
        unsigned char* decoded = decode(file, size, width, height, channels);
        assert_memory_equal(pixels, decoded, count);
        rbFree(file, size);
        free(decoded);
        free(pixels);
    }
}

// L-110
static void sceneIsDrawnAsAPicture(void** state)
{
    (void)state;
    rbError error = {0};
    rbScene* scene = readScene("rattleback.json");
    rbPng png = {0};
    assert_int_equal(rbDrawScene(scene, 0.1, 160, 100, &png, &error), RB_STATUS_OK);
    unsigned char* pixels = decode(png.bytes, png.size, 160, 100, 3);
    int blue = 0;
    for (size_t i = 0; i < (size_t)160 * 100; ++i) {
        blue += pixels[3 * i + 2] > pixels[3 * i] + 40 ? 1 : 0;
    }
    assert_in_range(blue, 1000, 8000); // the stone is the second body
    free(pixels);
    rbFree(png.bytes, png.size);
    assert_int_equal(rbDrawScene(scene, 0.1, 4, 100, &png, &error), RB_STATUS_INVALID);
    assert_non_null(strstr(error.message, "4 x 100"));
    rbDestroyScene(scene);
}

static void unusableFilesAreRefused(void** state)
{
    (void)state;
    rbError error = {0};
    unsigned char pixels[3 * 16] = {0};
    const rbImage image = {pixels, 4, 4, 3};
    assert_int_equal(rbWritePng("/nowhere/x.png", &image, &error), RB_STATUS_IO);
    assert_int_equal(rbWritePng("/dev/full", &image, &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "No space left"));
}

RB_TEST_GROUP(test_output_picture, cmocka_unit_test(ballIsDrawnWhereItsRaysHit),
              cmocka_unit_test(clearPictureHasAlphaWhereABodyIs),
              cmocka_unit_test(looksOfTheSceneAreDrawn), cmocka_unit_test(theNearerBodyIsSeen),
              cmocka_unit_test(shadowLiesOppositeToTheSun), cmocka_unit_test(turningOfABallIsSeen),
              cmocka_unit_test(sameWorldGivesSamePixels),
              cmocka_unit_test(viewsShowAllMovingBodies), cmocka_unit_test(pngHoldsThePixels),
              cmocka_unit_test(sceneIsDrawnAsAPicture), cmocka_unit_test(unusableFilesAreRefused));
