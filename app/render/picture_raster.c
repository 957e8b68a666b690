#include "render/picture_raster.h"

#define NEAR_DISTANCE 0.01 // radii of the view: whatever is nearer to the camera is clipped

void rbDepthBuffer_Clear(rbDepthBuffer* buffer)
{
    int count = buffer->width * buffer->height;
    for (int i = 0; i < count; ++i) {
        buffer->depths[i] = -INFINITY;
    }
    for (int i = 0; i < count && buffer->numbers != NULL; ++i) {
        buffer->numbers[i] = -1;
    }
}

static void swapCorners(rbCorner* a, rbCorner* b)
{
    rbCorner c = *a;
    *a = *b;
    *b = c;
}

// First sample whose center is after x, clamped to 0 .. limit.
static int firstSample(double x, int limit)
{
    double first = floor(x + 0.5);
    if (!(first > 0.0)) {
        return 0;
    }
    return first < limit ? (int)first : limit;
}

// Where an edge crosses a height within its range.
static double crossEdge(double y, const rbCorner* a, const rbCorner* b)
{
    return a->x + (y - a->y) * ((b->x - a->x) / (b->y - a->y));
}

// Whether a sample shows a transparent surface: that of its opacity of the samples, evenly spread
// (by the plastic number), other samples for each surface.
static bool isDrawn(const rbDepthBuffer* buffer, int x, int y)
{
    double place = 0.7548776662466927 * x + 0.5698402909980532 * y + buffer->shift;
    return place - floor(place) < buffer->opacity;
}

static void fillRow(rbDepthBuffer* buffer, int row, const int range[2], const double slope[2],
                    int number)
{
    // slope: z at the first sample of the row, and its change per sample
    float* depths = buffer->depths + (size_t)row * (size_t)buffer->width;
    for (int x = range[0]; x < range[1]; ++x) {
        float z = (float)(slope[0] + slope[1] * (x - range[0]));
        if (z > depths[x] && (buffer->opacity >= 1.0 || isDrawn(buffer, x, row))) {
            depths[x] = z;
            if (buffer->numbers != NULL) {
                buffer->numbers[(size_t)row * (size_t)buffer->width + (size_t)x] = number;
            }
        }
    }
}

void rbDepthBuffer_Fill(rbDepthBuffer* buffer, const rbCorner corners[3], int number)
{
    rbCorner c[3] = {corners[0], corners[1], corners[2]};
    // from top to bottom; both triangles of an edge traverse it in the same direction
    if (c[1].y < c[0].y) {
        swapCorners(&c[0], &c[1]);
    }
    if (c[2].y < c[1].y) {
        swapCorners(&c[1], &c[2]);
    }
    if (c[1].y < c[0].y) {
        swapCorners(&c[0], &c[1]);
    }
    double area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y);
    int first = firstSample(c[0].y, buffer->height);
    int last = firstSample(c[2].y, buffer->height);
    if (first >= last || !(fabs(area) > 0.0)) {
        return;
    }
    double dz1 = c[1].z - c[0].z;
    double dz2 = c[2].z - c[0].z;
    double perX = (dz1 * (c[2].y - c[0].y) - dz2 * (c[1].y - c[0].y)) / area;
    double perY = (dz2 * (c[1].x - c[0].x) - dz1 * (c[2].x - c[0].x)) / area;
    for (int row = first; row < last; ++row) {
        double y = row + 0.5;
        double a = crossEdge(y, &c[0], &c[2]);
        double b = y <= c[1].y ? crossEdge(y, &c[0], &c[1]) : crossEdge(y, &c[1], &c[2]);
        int range[2] = {firstSample(a < b ? a : b, buffer->width),
                        firstSample(a < b ? b : a, buffer->width)};
        double z = c[0].z + perX * (range[0] + 0.5 - c[0].x) + perY * (y - c[0].y);
        const double slope[2] = {z, perX};
        fillRow(buffer, row, range, slope, number);
    }
}

// ---------------------------------------------------------------------------------------- camera

// Position in camera coordinates.
static rbVec3 toCamera(const rbPictureFrame* frame, rbFloat3 v)
{
    rbVec3 q = {v.x - frame->camera.x, v.y - frame->camera.y, v.z - frame->camera.z};
    return rbMakeVec3(rbDot(q, frame->right), rbDot(q, frame->top), rbDot(q, frame->forward));
}

static rbCorner project(const rbPictureFrame* frame, const rbDepthBuffer* buffer, rbVec3 p)
{
    return (rbCorner){(0.5 + 0.5 * p.x / (p.z * frame->tanX)) * buffer->width,
                      (0.5 - 0.5 * p.y / (p.z * frame->tanY)) * buffer->height, 1.0 / p.z};
}

// The part of a triangle beyond the near plane: a polygon of up to four corners.
static int clipNear(const rbVec3 p[3], rbVec3 clipped[4])
{
    int count = 0;
    for (int k = 0; k < 3; ++k) {
        rbVec3 a = p[k];
        rbVec3 b = p[(k + 1) % 3];
        bool isIn = a.z >= NEAR_DISTANCE;
        if (isIn) {
            clipped[count++] = a;
        }
        if (isIn != (b.z >= NEAR_DISTANCE)) {
            double t = (NEAR_DISTANCE - a.z) / (b.z - a.z);
            clipped[count++] = rbAddScaled(a, t, rbSub(b, a));
        }
    }
    return count;
}

static void rasterizeTriangle(const rbPictureFrame* frame, rbDepthBuffer* buffer, const rbVec3 p[3],
                              int number)
{
    rbVec3 clipped[4];
    int count = clipNear(p, clipped);
    for (int k = 2; k < count; ++k) {
        const rbCorner corners[3] = {project(frame, buffer, clipped[0]),
                                     project(frame, buffer, clipped[k - 1]),
                                     project(frame, buffer, clipped[k])};
        rbDepthBuffer_Fill(buffer, corners, number);
    }
}

void rbRasterizeCamera(const rbPictureFrame* frame, rbDepthBuffer* buffer)
{
    for (int i = 0; i < frame->instances.count; ++i) {
        const rbInstance* instance = &frame->instances.data[i];
        const rbTriangles* t = &instance->surface->triangles;
        const rbFloat3* vertices = frame->vertices.data + instance->firstVertex;
        buffer->opacity = instance->opacity;
        buffer->shift = 0.618033988749895 * i;
        for (int k = 0; k < t->triangleCount; ++k) {
            const rbVec3 p[3] = {toCamera(frame, vertices[t->triangles[k][0]]),
                                 toCamera(frame, vertices[t->triangles[k][1]]),
                                 toCamera(frame, vertices[t->triangles[k][2]])};
            // The back of a solid is always hidden. Camera coordinates are left-handed.
            bool isBack = rbDot(rbCross(rbSub(p[1], p[0]), rbSub(p[2], p[0])), p[0]) <= 0.0;
            if (!(isBack && instance->isSolid)) {
                rasterizeTriangle(frame, buffer, p, instance->firstTriangle + k);
            }
        }
    }
}

// ----------------------------------------------------------------------------------------- light

rbLightFrame rbMakeLightFrame(rbVec3 toLight)
{
    rbVec3 right = rbPerpendicular(toLight);
    rbVec3 down = rbCross(toLight, right);
    return (rbLightFrame){rbToFloat3(right), rbToFloat3(down), rbToFloat3(toLight)};
}

static rbCorner projectLight(const rbLightFrame* light, rbFloat3 v, double size)
{
    return (rbCorner){(0.5 + 0.5 * (double)(rbDotFloat3(v, light->right) / RB_LIGHT_REACH)) * size,
                      (0.5 + 0.5 * (double)(rbDotFloat3(v, light->down) / RB_LIGHT_REACH)) * size,
                      (double)rbDotFloat3(v, light->toLight)};
}

void rbRasterizeLight(const rbPictureFrame* frame, const rbLightFrame* light, rbDepthBuffer* buffer)
{
    RB_ASSERT(buffer->width == buffer->height);
    double size = buffer->width;
    buffer->opacity = 1.0;
    for (int i = 0; i < frame->instances.count; ++i) {
        const rbInstance* instance = &frame->instances.data[i];
        const rbTriangles* t = &instance->surface->triangles;
        const rbFloat3* vertices = frame->vertices.data + instance->firstVertex;
        for (int k = 0; k < t->triangleCount && instance->opacity >= 1.0; ++k) {
            const rbCorner corners[3] = {projectLight(light, vertices[t->triangles[k][0]], size),
                                         projectLight(light, vertices[t->triangles[k][1]], size),
                                         projectLight(light, vertices[t->triangles[k][2]], size)};
            rbDepthBuffer_Fill(buffer, corners, instance->firstTriangle + k);
        }
    }
}
