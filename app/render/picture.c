#include "render/picture.h"

#include "base/core/timer.h"
#include "base/math/elementary.h"
#include "render/picture_light.h"
#include "render/png.h"

#define SAMPLING_MAX 4
#define SAMPLES_MAX 16
#define SAME_COSINE 0.995f    // samples of a pixel with more similar normals share a point
#define SKY_SAME_COSINE 0.97f // points of a block likewise share their sky light
#define SKY_BLOCK 2           // pixels along a side of such a block
#define PLANE_NUMBER (-2)     // of the first plane, in place of the number of a triangle
#define GROUND_FADE_START 2.5 // radii of the view from its center where a ground starts fading
#define GROUND_FADE_END 15.0  // and has faded
#define WALL_FADE_START 0.9   // the same for other planes
#define WALL_FADE_END 1.7
#define GRID_PER_RADIUS 1.8 // lines, approximately
#define GRID_WIDTH 0.0055   // radii of the view
#define GRID_STRONG 5       // every fifth line is stronger
#define PATTERN_INSIDE 1e-3 // of the size of a pattern
#define ENCODING_SIZE 4096

struct rbPicture {
    rbPictureDef def;
    rbPictureModel model;
    rbPictureFrame frame;
    rbDepthBuffer buffer;
    rbLitPoints lit;
    rbFloat3* image; // linear
    float* alphas;   // of a clear picture: the part of each pixel that bodies cover; else NULL
    int* blocks;     // first sky point of each block, -1: none yet
    float* work;     // light map
    unsigned char* pixels;
    unsigned char encoding[ENCODING_SIZE]; // linear to sRGB
    rbFloat3 grid, gridStrong, sky, horizon;
    double gridSpacing; // m
};

rbPictureDef rbDefaultPictureDef(int width, int height)
{
    return (rbPictureDef){.width = width,
                          .height = height,
                          .sampling = 2,
                          .sunCount = 6,
                          .skyCount = 20,
                          .hasLinks = true};
}

static rbStatus validateDef(const rbPictureDef* def, rbError* error)
{
    if (def->width < RB_PICTURE_SIZE_MIN || def->width > RB_PICTURE_SIZE_MAX ||
        def->height < RB_PICTURE_SIZE_MIN || def->height > RB_PICTURE_SIZE_MAX) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the picture is %d x %d pixels; each side must be %d to %d", def->width,
                           def->height, RB_PICTURE_SIZE_MIN, RB_PICTURE_SIZE_MAX);
    }
    if (def->sampling < 1 || def->sampling > SAMPLING_MAX || def->sunCount < 1 ||
        def->sunCount > 64 || def->skyCount < 0 || def->skyCount > 256) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "a picture has 1 to %d samples along a pixel, 1 to 64 points of the sun "
                           "and 0 to 256 of the sky",
                           SAMPLING_MAX);
    }
    return RB_STATUS_OK;
}

static size_t countSamples(const rbPictureDef* def)
{
    return (size_t)def->width * (size_t)def->height * (size_t)(def->sampling * def->sampling);
}

static size_t countPixels(const rbPictureDef* def)
{
    return (size_t)def->width * (size_t)def->height;
}

static size_t countChannels(const rbPictureDef* def)
{
    return def->isClear ? 4 : 3;
}

static size_t countBlocks(const rbPictureDef* def)
{
    return (size_t)(def->width / SKY_BLOCK + 1) * (size_t)(def->height / SKY_BLOCK + 1);
}

static void makeEncoding(unsigned char* encoding)
{
    for (int i = 0; i < ENCODING_SIZE; ++i) {
        double value = (i + 0.5) / ENCODING_SIZE;
        double coded =
            value <= 0.0031308 ? 12.92 * value : 1.055 * rbExp(rbLog(value) / 2.4) - 0.055;
        encoding[i] = (unsigned char)(255.0 * coded + 0.5);
    }
}

rbPicture* rbCreatePicture(const rbPictureDef* def, const rbWorld* world, rbError* error)
{
    RB_ASSERT(def != NULL && world != NULL);
    if (validateDef(def, error) != RB_STATUS_OK) {
        return NULL;
    }
    rbPicture* picture = rbAllocZero(1, sizeof *picture);
    picture->def = *def;
    if (rbPictureModel_Init(&picture->model, world, def->scene, error) != RB_STATUS_OK) {
        rbDestroyPicture(picture);
        return NULL;
    }
    size_t samples = countSamples(def);
    picture->buffer.width = def->width * def->sampling;
    picture->buffer.height = def->height * def->sampling;
    picture->buffer.depths = rbAlloc(samples * sizeof *picture->buffer.depths);
    picture->buffer.numbers = rbAlloc(samples * sizeof *picture->buffer.numbers);
    picture->image = rbAlloc(countPixels(def) * sizeof *picture->image);
    picture->blocks = rbAlloc(countBlocks(def) * sizeof *picture->blocks);
    picture->work = rbAlloc((size_t)RB_LIGHT_MAP_SIZE * RB_LIGHT_MAP_SIZE * sizeof *picture->work);
    picture->alphas = def->isClear ? rbAlloc(countPixels(def) * sizeof *picture->alphas) : NULL;
    picture->pixels = rbAllocZero(countPixels(def), countChannels(def));
    makeEncoding(picture->encoding);
    picture->grid = rbLinearColor(RB_COLOR_GRID);
    picture->gridStrong = rbLinearColor(RB_COLOR_GRID_STRONG);
    picture->sky = rbLinearColor(RB_COLOR_SKY);
    picture->horizon = rbLinearColor(RB_COLOR_HORIZON);
    return picture;
}

void rbDestroyPicture(rbPicture* picture)
{
    if (picture == NULL) {
        return;
    }
    const rbPictureDef* def = &picture->def;
    size_t samples = countSamples(def);
    rbPictureModel_Free(&picture->model);
    rbPictureFrame_Free(&picture->frame);
    rbFree(picture->buffer.depths, samples * sizeof *picture->buffer.depths);
    rbFree(picture->buffer.numbers, samples * sizeof *picture->buffer.numbers);
    rbArray_Free(picture->lit.points);
    rbArray_Free(picture->lit.skies);
    rbFree(picture->image, countPixels(def) * sizeof *picture->image);
    rbFree(picture->blocks, countBlocks(def) * sizeof *picture->blocks);
    rbFree(picture->work, (size_t)RB_LIGHT_MAP_SIZE * RB_LIGHT_MAP_SIZE * sizeof *picture->work);
    if (picture->alphas != NULL) {
        rbFree(picture->alphas, countPixels(def) * sizeof *picture->alphas);
    }
    rbFree(picture->pixels, countChannels(def) * countPixels(def));
    rbFree(picture, sizeof *picture);
}

const unsigned char* rbPicture_GetPixels(const rbPicture* picture)
{
    return picture->pixels;
}

bool rbView_Project(const rbView* view, int width, int height, rbVec3 point, double* x, double* y)
{
    rbPictureFrame frame = {0};
    rbPictureFrame_SetCamera(&frame, view, width, height);
    rbVec3 arm = rbSub(rbScale(frame.scale, rbSub(point, frame.center)), frame.camera);
    double depth = rbDot(arm, frame.forward);
    *x = (0.5 + 0.5 * rbDot(arm, frame.right) / (depth * frame.tanX)) * width;
    *y = (0.5 - 0.5 * rbDot(arm, frame.top) / (depth * frame.tanY)) * height;
    return depth > 0.0;
}

// ------------------------------------------------------------------------------------- geometry

// Direction of the ray through a point of the buffer; its component along the camera's axis is 1.
static rbVec3 getRay(const rbPicture* picture, double x, double y)
{
    const rbPictureFrame* frame = &picture->frame;
    double across = (2.0 * x / picture->buffer.width - 1.0) * frame->tanX;
    double up = (1.0 - 2.0 * y / picture->buffer.height) * frame->tanY;
    return rbAdd(frame->forward, rbAdd(rbScale(across, frame->right), rbScale(up, frame->top)));
}

// Planes are drawn after the triangles, where they are nearer than what a sample already shows.
static void drawPlane(rbPicture* picture, int index)
{
    const rbPictureFrame* frame = &picture->frame;
    const rbPlaneInstance* plane = &frame->planes[index];
    rbDepthBuffer* buffer = &picture->buffer;
    // not visible from behind
    double height = rbDot(plane->normal, frame->camera) - plane->offset;
    if (!(height > 0.0)) {
        return;
    }
    for (int y = 0; y < buffer->height; ++y) {
        // 1 / depth = -(normal . ray) / height is linear along a row
        double first = -rbDot(plane->normal, getRay(picture, 0.5, y + 0.5)) / height;
        double second = -rbDot(plane->normal, getRay(picture, 1.5, y + 0.5)) / height;
        float* depths = buffer->depths + (size_t)y * (size_t)buffer->width;
        int* numbers = buffer->numbers + (size_t)y * (size_t)buffer->width;
        for (int x = 0; x < buffer->width; ++x) {
            float depth = (float)(first + (second - first) * x);
            if (depth > 0.0f && depth > depths[x]) {
                depths[x] = depth;
                numbers[x] = PLANE_NUMBER - index;
            }
        }
    }
}

// What a sample sees.
typedef struct Seen {
    rbFloat3 position;
    rbFloat3 normal;
    rbFloat3 color;
    float gloss;
    float fade; // 1: invisible
} Seen;

static rbVec3 toDouble(rbFloat3 v)
{
    return rbMakeVec3(v.x, v.y, v.z);
}

// Barycentric weights where a ray from the camera meets the plane of a triangle, clamped to it.
static void findWeights(const rbPictureFrame* frame, const rbVec3 p[3], rbVec3 ray,
                        double weights[3])
{
    rbVec3 e1 = rbSub(p[1], p[0]);
    rbVec3 e2 = rbSub(p[2], p[0]);
    rbVec3 h = rbCross(ray, e2);
    double determinant = rbDot(e1, h);
    rbVec3 arm = rbSub(frame->camera, p[0]);
    double u = 0.0;
    double v = 0.0;
    if (fabs(determinant) > 0.0) {
        u = rbDot(arm, h) / determinant;
        v = rbDot(ray, rbCross(arm, e1)) / determinant;
    }
    u = u > 0.0 ? u : 0.0;
    v = v > 0.0 ? v : 0.0;
    double sum = u + v > 1.0 ? u + v : 1.0;
    weights[1] = u / sum;
    weights[2] = v / sum;
    weights[0] = 1.0 - weights[1] - weights[2];
}

// Whether a surface has one color.
static bool isPlain(const rbInstance* instance)
{
    return instance->marking == RB_MARKING_NONE && instance->texture != RB_TEXTURE_CHECKER &&
           instance->texture != RB_TEXTURE_STRIPES;
}

static bool isMarked(rbMarking marking, rbVec3 p)
{
    double product = marking == RB_MARKING_OCTANTS ? p.x * p.y * p.z : p.x * p.y;
    return marking != RB_MARKING_NONE && product < 0.0;
}

static rbVec3 blend(const double weights[3], rbVec3 a, rbVec3 b, rbVec3 c)
{
    return rbAdd(rbScale(weights[0], a), rbAdd(rbScale(weights[1], b), rbScale(weights[2], c)));
}

static float smoothStep(double x, double start, double end)
{
    double t = (x - start) / (end - start);
    t = t < 0.0 ? 0.0 : (t > 1.0 ? 1.0 : t);
    return (float)(t * t * (3.0 - 2.0 * t));
}

// How much of a footprint around x is covered by evenly spaced lines, and by every fifth of them.
static void coverByLines(double x, double footprint, double spacing, double width, float* cover,
                         float* strong)
{
    double half = 0.5 * (width + footprint);
    double nearest = floor(x / spacing + 0.5);
    double distance = fabs(x - nearest * spacing);
    double part = (half - distance) / footprint;
    double most = width < footprint ? width / footprint : 1.0;
    part = part < 0.0 ? 0.0 : (part > most ? most : part);
    // lines too dense to resolve would become a gray tone: they are faded out
    double apart = 1.5 - 3.0 * footprint / spacing;
    part *= apart < 0.0 ? 0.0 : (apart > 1.0 ? 1.0 : apart);
    bool isStrong = fabs(nearest - GRID_STRONG * floor(nearest / GRID_STRONG + 0.5)) < 0.5;
    float* which = isStrong ? strong : cover;
    *which = (float)part > *which ? (float)part : *which;
}

// Two directions in a plane, the same for the same normal; for a horizontal plane x and y.
static void getPlaneAxes(rbVec3 normal, rbVec3* e1, rbVec3* e2)
{
    rbVec3 x = {1.0, 0.0, 0.0};
    rbVec3 flat = rbAddScaled(x, -rbDot(x, normal), normal);
    *e1 = rbLength(flat) > 0.1 ? rbNormalize(flat) : rbPerpendicular(normal);
    *e2 = rbCross(normal, *e1);
}

static rbFloat3 mixColors(rbFloat3 a, rbFloat3 b, float t)
{
    return (rbFloat3){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

// A pattern that is too fine for the pixels fades to the mean of its colors.
static rbFloat3 colorPattern(const rbPlaneInstance* plane, const double at[2], double footprint)
{
    rbVec3 place = plane->texture == RB_TEXTURE_STRIPES ? rbMakeVec3(0.0, 0.0, at[0])
                                                        : rbMakeVec3(at[0], at[1], 0.0);
    bool isSecond = rbPaint_IsSecond(plane->texture, plane->textureSize, place);
    float sharp = 1.0f - smoothStep(footprint, 0.3 * plane->textureSize, plane->textureSize);
    return mixColors(plane->color, plane->second, 0.5f + (isSecond ? 0.5f : -0.5f) * sharp);
}

// The ground with its lines or its pattern, where the ray meets the plane.
static rbFloat3 colorGround(const rbPicture* picture, const rbPlaneInstance* plane, rbVec3 point,
                            const double place[2])
{
    const rbPictureFrame* frame = &picture->frame;
    rbVec3 normal = plane->normal;
    rbVec3 e1, e2;
    getPlaneAxes(normal, &e1, &e2);
    double height = plane->offset - rbDot(normal, frame->camera);
    double spacing = picture->gridSpacing * frame->scale;
    rbVec3 origin =
        rbScale(frame->scale, rbNeg(frame->center)); // lines pass through the origin of the world
    rbVec3 across[2];
    for (int i = 0; i < 2; ++i) {
        // one pixel to the right, and one pixel down
        double step = picture->def.sampling;
        rbVec3 ray =
            getRay(picture, place[0] + (i == 0 ? step : 0.0), place[1] + (i == 1 ? step : 0.0));
        double t = height / rbDot(normal, ray);
        across[i] = rbSub(rbAddScaled(frame->camera, t, ray), point);
    }
    float cover = 0.0f;
    float strong = 0.0f;
    const rbVec3 axes[2] = {e1, e2};
    double at[2];
    double widest = 0.0;
    for (int i = 0; i < 2; ++i) {
        double footprint = fabs(rbDot(across[0], axes[i])) + fabs(rbDot(across[1], axes[i]));
        footprint = footprint > 1e-9 ? footprint : 1e-9;
        widest = footprint > widest ? footprint : widest;
        at[i] = rbDot(rbSub(point, origin), axes[i]);
        coverByLines(at[i], footprint, spacing, GRID_WIDTH, &cover, &strong);
    }
    if (plane->textureSize > 0.0) {
        return colorPattern(plane, at, widest);
    }
    return mixColors(mixColors(plane->color, picture->grid, cover), picture->gridStrong, strong);
}

static Seen seePlane(const rbPicture* picture, int index, rbVec3 ray, const double place[2])
{
    const rbPictureFrame* frame = &picture->frame;
    const rbPlaneInstance* plane = &frame->planes[index];
    double t = (plane->offset - rbDot(plane->normal, frame->camera)) / rbDot(plane->normal, ray);
    rbVec3 point = rbAddScaled(frame->camera, t, ray);
    double distance = rbLength(point);
    return (Seen){.position = rbToFloat3(point),
                  .normal = rbToFloat3(plane->normal),
                  .color = colorGround(picture, plane, point, place),
                  .fade = plane->isUpward ? smoothStep(distance, GROUND_FADE_START, GROUND_FADE_END)
                                          : smoothStep(distance, WALL_FADE_START, WALL_FADE_END)};
}

static Seen seeTriangle(const rbPicture* picture, int number, rbVec3 ray, const double place[2])
{
    const rbPictureFrame* frame = &picture->frame;
    const rbInstance* instance = &frame->instances.data[frame->owners.data[number]];
    const rbSurface* surface = instance->surface;
    int index = number - instance->firstTriangle;
    const int* corners = surface->triangles.triangles[index];
    const rbFloat3* vertices = frame->vertices.data + instance->firstVertex;
    const rbVec3 p[3] = {toDouble(vertices[corners[0]]), toDouble(vertices[corners[1]]),
                         toDouble(vertices[corners[2]])};
    double weights[3];
    findWeights(frame, p, ray, weights);
    rbVec3 normal =
        blend(weights, toDouble(surface->normals[index][0]), toDouble(surface->normals[index][1]),
              toDouble(surface->normals[index][2]));
    rbVec3 own = normal; // in the frame of the shape
    normal = rbNormalize(rbMulMV(instance->rotation, normal));
    bool isBack = rbDot(rbCross(rbSub(p[1], p[0]), rbSub(p[2], p[0])), ray) > 0.0;
    normal = isBack ? rbNeg(normal) : normal;
    rbVec3 point = blend(weights, p[0], p[1], p[2]);
    Seen seen = {.position = rbToFloat3(point),
                 .normal = rbToFloat3(normal),
                 .color = instance->color,
                 .gloss = instance->gloss};
    if (!isPlain(instance)) {
        const rbVec3* local = surface->triangles.vertices;
        rbVec3 place3 = blend(weights, local[corners[0]], local[corners[1]], local[corners[2]]);
        bool isSecond = isMarked(instance->marking, place3);
        if (instance->texture != RB_TEXTURE_NONE) {
            // a little inside: faces may be where the pattern changes
            double inside = -PATTERN_INSIDE * instance->textureSize;
            isSecond = rbPaint_IsSecond(instance->texture, instance->textureSize,
                                        rbAddScaled(place3, inside, own));
        }
        seen.color = isSecond ? instance->markColor : seen.color;
    }
    if (instance->isGround && rbDot(normal, frame->up) > 0.99) {
        rbPlaneInstance plane = {
            .normal = normal, .offset = rbDot(normal, point), .color = instance->color};
        seen.color = colorGround(picture, &plane, point, place);
    }
    return seen;
}

// -------------------------------------------------------------------------------------- samples

static rbFloat3 getBackground(const rbPicture* picture, rbVec3 ray)
{
    double height = rbDot(ray, picture->frame.up) / rbLength(ray);
    float t = smoothStep(height, -0.05, 0.55);
    const rbFloat3* a = &picture->horizon;
    const rbFloat3* b = &picture->sky;
    return (rbFloat3){a->x + t * (b->x - a->x), a->y + t * (b->y - a->y), a->z + t * (b->z - a->z)};
}

// The sky point of a block of pixels for a shade point, shared with similar ones.
static int findSkyPoint(rbPicture* picture, int pixel, int owner, const Seen* seen)
{
    rbLitPoints* lit = &picture->lit;
    int x = pixel % picture->def.width / SKY_BLOCK;
    int y = pixel / picture->def.width / SKY_BLOCK;
    int* first = &picture->blocks[y * (picture->def.width / SKY_BLOCK + 1) + x];
    for (int i = *first; i >= 0; i = lit->skies.data[i].next) {
        const rbSkyPoint* point = &lit->skies.data[i];
        if (point->owner == owner && rbDotFloat3(point->normal, seen->normal) > SKY_SAME_COSINE) {
            return i;
        }
    }
    rbSkyPoint point = {
        .position = seen->position, .normal = seen->normal, .owner = owner, .next = *first};
    rbArray_Push(lit->skies, point);
    *first = lit->skies.count - 1;
    return *first;
}

// Similar samples of a pixel.
typedef struct Group {
    int owner; // instance, or the number of a plane
    int last;  // number of the triangle of its last sample
    int point; // its shade point
    Seen seen; // of its last sample
} Group;

static int getOwner(const rbPictureFrame* frame, int number)
{
    return number >= 0 ? frame->owners.data[number] : number;
}

static bool isPlainAt(const rbPictureFrame* frame, int number)
{
    return number < 0 ? frame->planes[PLANE_NUMBER - number].textureSize == 0.0
                      : isPlain(&frame->instances.data[frame->owners.data[number]]);
}

static Group* findGroup(Group* groups, int count, int owner, const Seen* seen)
{
    for (int i = 0; i < count; ++i) {
        if (groups[i].owner == owner &&
            rbDotFloat3(groups[i].seen.normal, seen->normal) > SAME_COSINE) {
            return &groups[i];
        }
    }
    return NULL;
}

static void addColor(rbFloat3* sum, rbFloat3 color, float weight)
{
    sum->x += weight * color.x;
    sum->y += weight * color.y;
    sum->z += weight * color.z;
}

// Sorts the samples of a pixel into groups, each of which becomes a shade point.
static void gatherPixel(rbPicture* picture, int px, int py)
{
    const rbPictureFrame* frame = &picture->frame;
    int n = picture->def.sampling;
    float weight = 1.0f / (float)(n * n);
    int pixel = py * picture->def.width + px;
    Group groups[SAMPLES_MAX];
    int count = 0;
    rbFloat3 image = {0.0f, 0.0f, 0.0f};
    rbFloat3 background = {0.0f, 0.0f, 0.0f};
    if (picture->alphas == NULL) {
        background = getBackground(picture, getRay(picture, (px + 0.5) * n, (py + 0.5) * n));
    }
    float cover = 0.0f;
    for (int k = 0; k < n * n; ++k) {
        int x = px * n + k % n;
        int y = py * n + k / n;
        int number = picture->buffer.numbers[(size_t)y * (size_t)picture->buffer.width + (size_t)x];
        if (number == -1) {
            addColor(&image, background, weight);
            continue;
        }
        cover += weight;
        Group* group = count > 0 && groups[count - 1].last == number && isPlainAt(frame, number)
                           ? &groups[count - 1]
                           : NULL;
        if (group == NULL) {
            const double place[2] = {x + 0.5, y + 0.5};
            rbVec3 ray = getRay(picture, place[0], place[1]);
            int owner = getOwner(frame, number);
            Seen seen = number >= 0 ? seeTriangle(picture, number, ray, place)
                                    : seePlane(picture, PLANE_NUMBER - number, ray, place);
            group = findGroup(groups, count, owner, &seen);
            if (group == NULL) {
                rbShadePoint point = {.position = seen.position,
                                      .normal = seen.normal,
                                      .pixel = pixel,
                                      .sky = findSkyPoint(picture, pixel, owner, &seen)};
                rbArray_Push(picture->lit.points, point);
                group = &groups[count++];
                *group = (Group){.owner = owner, .point = picture->lit.points.count - 1};
            }
            group->last = number;
            group->seen = seen;
        }
        rbShadePoint* point = &picture->lit.points.data[group->point];
        float shown = weight * (1.0f - group->seen.fade);
        addColor(&point->color, group->seen.color, shown);
        point->gloss += group->seen.gloss * shown;
        addColor(&image, background, weight - shown);
    }
    picture->image[pixel] = image;
    if (picture->alphas != NULL) {
        picture->alphas[pixel] = cover;
    }
}

static unsigned char encode(const rbPicture* picture, float value)
{
    int index = (int)(value * ENCODING_SIZE);
    index = index < 0 ? 0 : (index < ENCODING_SIZE ? index : ENCODING_SIZE - 1);
    return picture->encoding[index];
}

// Colors of a clear picture are those of what covers a pixel, whatever part of it that is.
static void encodePixels(rbPicture* picture)
{
    size_t channels = countChannels(&picture->def);
    for (size_t i = 0; i < countPixels(&picture->def); ++i) {
        unsigned char* pixel = picture->pixels + channels * i;
        float alpha = picture->alphas != NULL ? picture->alphas[i] : 1.0f;
        float scale = alpha > 0.0f ? 1.0f / alpha : 0.0f;
        pixel[0] = encode(picture, scale * picture->image[i].x);
        pixel[1] = encode(picture, scale * picture->image[i].y);
        pixel[2] = encode(picture, scale * picture->image[i].z);
        if (channels == 4) {
            pixel[3] = (unsigned char)(255.0f * (alpha < 1.0f ? alpha : 1.0f) + 0.5f);
        }
    }
}

// Lines 1, 2 or 5 times a power of ten apart.
static double chooseSpacing(double radius)
{
    double wanted = radius / GRID_PER_RADIUS;
    double power = 1.0;
    for (int i = 0; i < 30 && power > wanted; ++i) {
        power /= 10.0;
    }
    for (int i = 0; i < 30 && 10.0 * power <= wanted; ++i) {
        power *= 10.0;
    }
    return wanted >= 5.0 * power ? 5.0 * power : (wanted >= 2.0 * power ? 2.0 * power : power);
}

void rbPicture_Draw(rbPicture* picture, const rbWorld* world, const rbView* view)
{
    RB_ASSERT(picture != NULL && world != NULL && view != NULL);
    RB_ASSERT(rbWorld_GetBodyCount(world) == picture->model.bodyCount);
    const rbPictureDef* def = &picture->def;
    picture->gridSpacing = chooseSpacing(view->radius);
    rbPictureFrame_Fill(&picture->frame, &picture->model, world, view, def);
    rbDepthBuffer_Clear(&picture->buffer);
    rbRasterizeCamera(&picture->frame, &picture->buffer);
    for (int i = 0; i < picture->frame.planeCount && !def->isClear; ++i) {
        drawPlane(picture, i);
    }
    // one point per pixel and a few more at edges: growing gradually would touch far more memory
    rbArray_Reserve(picture->lit.points, (int)(countPixels(def) + countPixels(def) / 8));
    picture->lit.points.count = 0;
    picture->lit.skies.count = 0;
    for (size_t i = 0; i < countBlocks(def); ++i) {
        picture->blocks[i] = -1;
    }
    for (int y = 0; y < def->height; ++y) {
        for (int x = 0; x < def->width; ++x) {
            gatherPixel(picture, x, y);
        }
    }
    rbLightPoints(&picture->frame, &picture->lit, def, picture->work);
    for (int i = 0; i < picture->lit.points.count; ++i) {
        const rbShadePoint* point = &picture->lit.points.data[i];
        rbFloat3 light = rbShadePoint_GetLight(point, &picture->frame, &picture->lit);
        addColor(&picture->image[point->pixel], light, 1.0f);
    }
    encodePixels(picture);
}

// ---------------------------------------------------------------------------------------- scenes

#define WORK_MAX 0.4 // s of CPU time for the simulation before the picture
#define PIECES 64

// A single piece may be long, too.
typedef struct Budget {
    double end; // s of CPU time of the thread
    rbStop outer;
} Budget;

static bool isUsedUp(void* context)
{
    const Budget* budget = context;
    return rbGetThreadTime() > budget->end ||
           (budget->outer.stopFn != NULL && budget->outer.stopFn(budget->outer.context));
}

rbStatus rbDrawScene(const rbScene* scene, double time, int width, int height, rbPng* png,
                     rbError* error)
{
    RB_ASSERT(scene != NULL && time >= 0.0 && png != NULL);
    rbWorld* world = rbScene_CreateWorld(scene, error);
    if (world == NULL) {
        return error->status;
    }
    rbWorld_EnableJournal(world, false);
    double start = rbGetThreadTime();
    rbStatus status = RB_STATUS_OK;
    Budget budget = {.end = start + 2.0 * WORK_MAX};
    budget.outer = rbUseStop((rbStop){isUsedUp, &budget});
    for (int i = 1; i <= PIECES && time > 0.0 && rbGetThreadTime() - start < WORK_MAX; ++i) {
        rbStepReport report = rbWorld_AdvanceTo(world, time * i / PIECES);
        if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
            break; // the picture shows the time reached
        }
    }
    (void)rbUseStop(budget.outer);
    rbPictureDef def = rbDefaultPictureDef(width, height);
    def.sampling = 3;
    def.scene = scene;
    rbPicture* picture = rbCreatePicture(&def, world, error);
    if (picture == NULL) {
        status = error->status;
    } else {
        rbView view;
        rbChooseView(world, scene, &view);
        rbPicture_Draw(picture, world, &view);
        rbImage image = {picture->pixels, width, height, 3};
        status = rbEncodePng(&image, &png->bytes, &png->size, error);
    }
    rbDestroyPicture(picture);
    rbDestroyWorld(world);
    return status;
}
