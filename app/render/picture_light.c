// The sun is to the left behind the camera, so that every picture is well lit. Its disc is wider
// than the real one: shadows soften with the distance from what casts them.
#include "render/picture_light.h"

#include "base/math/elementary.h"

#define SUN_DISC 0.035 // rad, radius
#define GOLDEN_ANGLE 2.39996322972865332
#define SKY_MAP_SIZE 384
#define SKY_LOWEST 0.1        // sine of the elevation of the lowest points of the sky
#define SKY_WRAP 0.25f        // added to the cosine: points slightly behind the surface count too
#define OFFSET_TEXELS 1.6f    // a point is lifted along its normal and toward the light, or a
#define BIAS_TEXELS 0.8f      // surface would shadow itself
#define MANY_TRIANGLES 250000 // above this fewer lights are used, above four times this very few

#define OPEN_STEPS 64.0f // levels of sky light: finer than a byte can show; files get smaller
#define TILE 16
#define TILES_MAX (RB_LIGHT_MAP_SIZE / TILE)

static const rbFloat3 sunLight = {0.86f, 0.82f, 0.75f};
static const rbFloat3 skyLight = {0.36f, 0.39f, 0.44f};
static const rbFloat3 groundLight = {0.18f, 0.17f, 0.155f};

rbVec3 rbGetSunDirection(const rbPictureFrame* frame)
{
    // components that do not depend on how steeply the camera looks down
    rbVec3 back = rbNeg(frame->forward);
    rbVec3 flat = rbAddScaled(back, -rbDot(back, frame->up), frame->up);
    rbVec3 toCamera = rbLength(flat) > 1e-6 ? rbNormalize(flat) : frame->top;
    return rbNormalize(rbAdd(rbScale(0.85, frame->up),
                             rbAdd(rbScale(-0.5, frame->right), rbScale(0.35, toCamera))));
}

// The shadow map of a light and the nearest depth of each tile: most points are not in shadow.
typedef struct LightMap {
    rbDepthBuffer buffer;
    float nearest[TILES_MAX * TILES_MAX];
    int tileCount; // along a side
} LightMap;

// A tile includes the first texels of the next ones: points are interpolated between texels.
static void findNearest(LightMap* map)
{
    int size = map->buffer.width;
    map->tileCount = (size + TILE - 1) / TILE;
    for (int i = 0; i < map->tileCount * map->tileCount; ++i) {
        map->nearest[i] = -INFINITY;
    }
    for (int y = 0; y < size; ++y) {
        const float* row = map->buffer.depths + (size_t)y * (size_t)size;
        for (int tile = 0; tile < map->tileCount; ++tile) {
            int end = (tile + 1) * TILE + 1 < size ? (tile + 1) * TILE + 1 : size;
            float nearest = -INFINITY;
            for (int x = tile * TILE; x < end; ++x) {
                nearest = row[x] > nearest ? row[x] : nearest;
            }
            float* own = &map->nearest[y / TILE * map->tileCount + tile];
            *own = nearest > *own ? nearest : *own;
            if (y % TILE == 0 && y > 0) {
                own -= map->tileCount;
                *own = nearest > *own ? nearest : *own;
            }
        }
    }
}

// How much of a light reaches a point, between the four texels around it: 0 to 1.
static float look(const LightMap* map, const rbLightFrame* light, rbFloat3 position,
                  rbFloat3 normal)
{
    float size = (float)map->buffer.width;
    float texel = 2.0f * RB_LIGHT_REACH / size;
    float lift = OFFSET_TEXELS * texel;
    rbFloat3 p = {position.x + lift * normal.x, position.y + lift * normal.y,
                  position.z + lift * normal.z};
    float x = (0.5f + 0.5f / RB_LIGHT_REACH * rbDotFloat3(p, light->right)) * size - 0.5f;
    float y = (0.5f + 0.5f / RB_LIGHT_REACH * rbDotFloat3(p, light->down)) * size - 0.5f;
    if (!(x >= 0.0f && y >= 0.0f && x < size - 1.0f && y < size - 1.0f)) {
        return 1.0f;
    }
    float z = rbDotFloat3(p, light->toLight) + BIAS_TEXELS * texel;
    int i = (int)x;
    int k = (int)y;
    if (map->nearest[k / TILE * map->tileCount + i / TILE] <= z) {
        return 1.0f;
    }
    float u = x - (float)i;
    float v = y - (float)k;
    const float* row = map->buffer.depths + (size_t)k * (size_t)map->buffer.width + (size_t)i;
    const float* next = row + map->buffer.width;
    float upper = (row[0] <= z ? 1.0f - u : 0.0f) + (row[1] <= z ? u : 0.0f);
    float lower = (next[0] <= z ? 1.0f - u : 0.0f) + (next[1] <= z ? u : 0.0f);
    return (1.0f - v) * upper + v * lower;
}

static void drawMap(LightMap* map, const rbPictureFrame* frame, const rbLightFrame* light)
{
    rbDepthBuffer_Clear(&map->buffer);
    rbRasterizeLight(frame, light, &map->buffer);
    findNearest(map);
}

static void lightBySun(rbLitPoints* lit, const LightMap* map, const rbLightFrame* light,
                       float weight)
{
    for (int i = 0; i < lit->points.count; ++i) {
        rbShadePoint* point = &lit->points.data[i];
        float cosine = rbDotFloat3(point->normal, light->toLight);
        if (cosine > 0.0f) {
            float visible = weight * look(map, light, point->position, point->normal);
            point->sun += cosine * visible;
            point->sunVisible += visible;
        }
    }
}

static void lightBySky(rbLitPoints* lit, const LightMap* map, const rbLightFrame* light)
{
    for (int i = 0; i < lit->skies.count; ++i) {
        rbSkyPoint* point = &lit->skies.data[i];
        float weight = rbDotFloat3(point->normal, light->toLight) + SKY_WRAP;
        if (weight > 0.0f) {
            point->whole += weight;
            point->reached += weight * look(map, light, point->position, point->normal);
        }
    }
}

// Fewer lights where each costs millions of triangles.
static int limitCount(int count, int triangleCount)
{
    int divisor = triangleCount > 4 * MANY_TRIANGLES ? 6 : (triangleCount > MANY_TRIANGLES ? 3 : 1);
    return count > 0 ? (count + divisor - 1) / divisor : 0;
}

void rbLightPoints(const rbPictureFrame* frame, rbLitPoints* lit, const rbPictureDef* def,
                   float* work)
{
    rbVec3 sun = rbGetSunDirection(frame);
    rbVec3 e1 = rbPerpendicular(sun);
    rbVec3 e2 = rbCross(sun, e1);
    int sunCount = limitCount(def->sunCount, frame->owners.count);
    int skyCount = limitCount(def->skyCount, frame->owners.count);
    // a map texel is about a pixel
    int size = 2 * def->height < RB_LIGHT_MAP_SIZE ? 2 * def->height : RB_LIGHT_MAP_SIZE;
    LightMap map = {.buffer = {.width = size, .height = size}};
    map.buffer.depths = work;
    for (int i = 0; i < sunCount; ++i) {
        double s, c;
        rbSinCos(GOLDEN_ANGLE * i, &s, &c);
        double r = sunCount > 1 ? SUN_DISC * sqrt((i + 0.5) / sunCount) : 0.0;
        rbVec3 direction = rbNormalize(rbAdd(sun, rbAdd(rbScale(r * c, e1), rbScale(r * s, e2))));
        rbLightFrame light = rbMakeLightFrame(direction);
        drawMap(&map, frame, &light);
        lightBySun(lit, &map, &light, 1.0f / (float)sunCount);
    }
    map.buffer.width = SKY_MAP_SIZE;
    map.buffer.height = SKY_MAP_SIZE;
    rbVec3 u1 = rbPerpendicular(frame->up);
    rbVec3 u2 = rbCross(frame->up, u1);
    for (int i = 0; i < skyCount; ++i) {
        double s, c;
        rbSinCos(GOLDEN_ANGLE * i, &s, &c);
        double height = 1.0 - (1.0 - SKY_LOWEST) * (i + 0.5) / skyCount;
        double flat = sqrt(1.0 - height * height);
        rbVec3 direction =
            rbAdd(rbScale(height, frame->up), rbAdd(rbScale(flat * c, u1), rbScale(flat * s, u2)));
        rbLightFrame light = rbMakeLightFrame(rbNormalize(direction));
        drawMap(&map, frame, &light);
        lightBySky(lit, &map, &light);
    }
}

// Blinn's highlight of the sun with exponent 64.
static float getHighlight(const rbShadePoint* point, const rbPictureFrame* frame)
{
    rbVec3 p = {point->position.x, point->position.y, point->position.z};
    rbVec3 toCamera = rbNormalize(rbSub(frame->camera, p));
    rbVec3 half = rbNormalize(rbAdd(toCamera, rbGetSunDirection(frame)));
    float cosine = rbDotFloat3(point->normal, rbToFloat3(half));
    if (!(cosine > 0.0f)) {
        return 0.0f;
    }
    for (int i = 0; i < 6; ++i) {
        cosine *= cosine;
    }
    return cosine;
}

rbFloat3 rbShadePoint_GetLight(const rbShadePoint* point, const rbPictureFrame* frame,
                               const rbLitPoints* lit)
{
    const rbSkyPoint* sky = &lit->skies.data[point->sky];
    float open = sky->whole > 0.0f ? sky->reached / sky->whole : 1.0f;
    open = (float)(int)(open * OPEN_STEPS + 0.5f) / OPEN_STEPS;
    float upward = 0.5f + 0.5f * rbDotFloat3(point->normal, rbToFloat3(frame->up));
    float shine = point->gloss > 0.0f && point->sunVisible > 0.0f
                      ? point->gloss * point->sunVisible * getHighlight(point, frame)
                      : 0.0f;
    rbFloat3 light = {
        sunLight.x * point->sun + open * (groundLight.x + upward * (skyLight.x - groundLight.x)),
        sunLight.y * point->sun + open * (groundLight.y + upward * (skyLight.y - groundLight.y)),
        sunLight.z * point->sun + open * (groundLight.z + upward * (skyLight.z - groundLight.z))};
    return (rbFloat3){point->color.x * light.x + shine, point->color.y * light.y + shine,
                      point->color.z * light.z + shine};
}
