// Pictures of rays: see rays_picture.h.
#include "cli/rays_picture.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "io/output/output_file.h"

#include <math.h>
#include <stdio.h>

#define OUTLINE_POINTS 96
#define EDGES_DRAWN_MAX 2000 // of a polyhedral shape; above this, only its outline
#define RAYS_DRAWN_MAX 5000  // above this, some rays that miss are left out
#define PICTURE_SIZE 760.0   // px, of the longer side
#define LEGEND_HEIGHT 78.0   // px

typedef struct Rays {
    RB_ARRAY(rbRayTrace) list;
    int shortest; // index, -1: none hit
} Rays;

static void collectRay(void* context, const rbRayTrace* trace)
{
    Rays* rays = context;
    rbArray_Push(rays->list, *trace);
}

// How long before the frame the rays of a picture may start: earlier by half the size of the
// bodies, if both move straight without turning; curves are split into chords too short for that.
static double chooseLead(const rbRayFrames* frames, const rbRayCollision* collision)
{
    int bodies[2] = {collision->bodyA, collision->bodyB};
    double time = collision->time;
    double size = INFINITY;
    rbVec3 relative[3];
    double back = fmin(time, 1e-3 * time);
    for (int k = 0; k < 3; ++k) {
        double t = time - 0.5 * k * back;
        relative[k] = rbSub(rbRayFrames_GetPose(frames, bodies[0], t).p,
                            rbRayFrames_GetPose(frames, bodies[1], t).p);
    }
    double speed = rbDistance(relative[0], relative[2]) / back;
    for (int i = 0; i < 2; ++i) {
        rbQuat now = rbRayFrames_GetPose(frames, bodies[i], time).q;
        rbQuat before = rbRayFrames_GetPose(frames, bodies[i], time - back).q;
        if (fabs(rbDotQuat(now, before)) < 1.0 - 1e-15) {
            return 0.0;
        }
        const rbGeometry* geometry = rbRayFrames_GetGeometry(frames, bodies[i]);
        size = fmin(size, rbGeometry_GetRadius(geometry, RB_VEC3_ZERO));
    }
    rbVec3 bend = rbAdd(rbSub(relative[0], relative[1]), rbSub(relative[2], relative[1]));
    bool isStraight = rbLength(bend) <= 1e-9 * rbDistance(relative[0], relative[2]);
    return isStraight && speed > 0.0 && isfinite(speed) ? size / speed : 0.0;
}

static rbStatus collectRays(const rbRayFrames* frames, const rbRayCollision* collision, Rays* rays,
                            rbError* error)
{
    *rays = (Rays){.shortest = -1};
    double lead = chooseLead(frames, collision);
    rbStatus status = rbRayFrames_Trace(frames, collision, lead, collectRay, rays, error);
    // The shortest of those that end at the contact: rays of other chords do not.
    double best = INFINITY;
    for (int i = 0; i < rays->list.count; ++i) {
        const rbRayTrace* ray = &rays->list.data[i];
        double length = rbDistance(ray->start, ray->end);
        if (ray->isHit && ray->isReverse == collision->isReverse && length < best) {
            best = length;
            rays->shortest = i;
        }
    }
    return status;
}

// ------------------------------------------------------------------------------------------- SVG

typedef struct Drawing {
    rbOutputFile* file;
    int axisU, axisV;     // of the world, to the right and up
    rbVec3 right, up;     // unit
    double lowU, highU;   // m
    double lowV, highV;   // m
    double scale;         // px/m
    double width, height; // px, of the drawing without the legend
} Drawing;

static const char axisNames[3] = {'x', 'y', 'z'};
static const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static double xOf(const Drawing* drawing, rbVec3 point)
{
    return (rbDot(point, drawing->right) - drawing->lowU) * drawing->scale;
}

static double yOf(const Drawing* drawing, rbVec3 point)
{
    return (drawing->highV - rbDot(point, drawing->up)) * drawing->scale;
}

static void includePoint(Drawing* drawing, rbVec3 point)
{
    double u = rbDot(point, drawing->right);
    double v = rbDot(point, drawing->up);
    drawing->lowU = fmin(drawing->lowU, u);
    drawing->highU = fmax(drawing->highU, u);
    drawing->lowV = fmin(drawing->lowV, v);
    drawing->highV = fmax(drawing->highV, v);
}

// Viewed along the axis that is most nearly perpendicular to motion and normal.
static void choosePlane(const rbRayFrames* frames, const rbRayCollision* collision, double lead,
                        Drawing* drawing)
{
    double before = fmax(collision->time - lead - 1e-3, 0.0);
    rbVec3 way[2];
    const double times[2] = {before, collision->time};
    for (int k = 0; k < 2; ++k) {
        way[k] = rbSub(rbRayFrames_GetPose(frames, collision->bodyA, times[k]).p,
                       rbRayFrames_GetPose(frames, collision->bodyB, times[k]).p);
    }
    rbVec3 motion = rbNormalize(rbSub(way[1], way[0]));
    rbVec3 normal = rbAbs3(rbCross(motion, collision->normal));
    const double along[3] = {normal.x, normal.y, normal.z};
    int view = 2;
    if (rbLength(normal) > 0.05) {
        view = along[1] > along[2] ? 1 : 2;
        view = along[0] > along[view] ? 0 : view;
    } else if (fabs(motion.z) > 0.9) {
        view = 0; // straight ahead along z
    }
    drawing->axisU = view == 0 ? 1 : 0;
    drawing->axisV = view == 2 ? 1 : 2;
    drawing->right = axes[drawing->axisU];
    drawing->up = axes[drawing->axisV];
}

static void includeBody(Drawing* drawing, const rbGeometry* geometry, rbTransform pose)
{
    if (rbGeometry_IsBounded(geometry)) {
        rbBounds bounds = rbGeometry_GetBounds(geometry, pose);
        includePoint(drawing, bounds.lower);
        includePoint(drawing, bounds.upper);
    }
}

// The outline of the convex hull in this view; empty for half spaces.
static void drawOutline(const Drawing* drawing, const rbGeometry* geometry, rbTransform pose,
                        const char* style)
{
    if (!rbGeometry_IsBounded(geometry)) {
        return;
    }
    rbOutputFile_Text(drawing->file, "<polygon points=\"");
    for (int i = 0; i < OUTLINE_POINTS; ++i) {
        double angle = 2.0 * RB_PI * i / OUTLINE_POINTS;
        rbVec3 direction =
            rbAddScaled(rbScale(rbCos(angle), drawing->right), rbSin(angle), drawing->up);
        rbVec3 local = rbGeometry_GetSupport(geometry, rbInvRotate(pose.q, direction));
        rbVec3 point = rbTransformPoint(pose, local);
        rbOutputFile_Print(drawing->file, "%s%.3f,%.3f", i > 0 ? " " : "", xOf(drawing, point),
                           yOf(drawing, point));
    }
    rbOutputFile_Print(drawing->file, "\" %s/>\n", style);
}

static void drawLine(const Drawing* drawing, rbVec3 from, rbVec3 to, const char* style)
{
    rbOutputFile_Print(
        drawing->file, "<line x1=\"%.3f\" y1=\"%.3f\" x2=\"%.3f\" y2=\"%.3f\" %s/>\n",
        xOf(drawing, from), yOf(drawing, from), xOf(drawing, to), yOf(drawing, to), style);
}

// The boundary of a half space viewed edge on, through its point nearest to another point.
static void drawBoundary(const Drawing* drawing, const rbGeometry* geometry, rbTransform pose,
                         rbVec3 near)
{
    if (rbGeometry_GetType(geometry) != RB_SHAPE_PLANE) {
        return;
    }
    rbPlaneData plane = rbGeometry_GetData(geometry).plane;
    rbVec3 normal = rbRotate(pose.q, plane.normal);
    double offset = plane.offset + rbDot(normal, pose.p);
    rbVec3 foot = rbAddScaled(near, offset - rbDot(normal, near), normal);
    rbVec3 along = rbCross(normal, rbCross(drawing->right, drawing->up));
    double reach = drawing->highU - drawing->lowU + drawing->highV - drawing->lowV;
    if (rbLength(along) > 1e-3) {
        along = rbScale(reach, rbNormalize(along));
        drawLine(drawing, rbSub(foot, along), rbAdd(foot, along),
                 "stroke=\"#1d2733\" stroke-width=\"1.4\"");
    }
}

static void drawEdges(const Drawing* drawing, const rbGeometry* geometry, rbTransform pose,
                      const char* style)
{
    rbMeshDef mesh;
    if (!rbGeometry_GetMesh(geometry, &mesh) || mesh.faceCount > EDGES_DRAWN_MAX) {
        return;
    }
    int first = 0;
    for (int f = 0; f < mesh.faceCount; ++f) {
        int size = mesh.faceSizes != NULL ? mesh.faceSizes[f] : 3;
        for (int k = 0; k < size; ++k) {
            int a = mesh.indices[first + k];
            int b = mesh.indices[first + (k + 1) % size];
            if (a < b || !rbGeometry_IsSolid(geometry)) { // an edge of a solid has two faces
                drawLine(drawing, rbTransformPoint(pose, mesh.vertices[a]),
                         rbTransformPoint(pose, mesh.vertices[b]), style);
            }
        }
        first += size;
    }
}

static void drawText(const Drawing* drawing, double x, double y, const char* text)
{
    rbOutputFile_Print(drawing->file, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    for (const char* p = text; *p != '\0'; ++p) {
        const char* entity = *p == '&' ? "&amp;" : (*p == '<' ? "&lt;" : NULL);
        if (entity != NULL) {
            rbOutputFile_Text(drawing->file, entity);
        } else {
            rbOutputFile_Write(drawing->file, p, 1);
        }
    }
    rbOutputFile_Text(drawing->file, "</text>\n");
}

#define STYLE_MISS "stroke=\"#b9b6ae\" stroke-width=\"0.6\""
#define STYLE_HIT "stroke=\"#2c6fbb\" stroke-width=\"0.9\""
#define STYLE_REVERSE "stroke=\"#3d8b57\" stroke-width=\"0.9\""
#define STYLE_REFINED "stroke=\"#8a5fb0\" stroke-width=\"0.9\""
#define STYLE_SHORTEST "stroke=\"#c8321f\" stroke-width=\"2.4\""

static const char* styleOf(const rbRayTrace* ray)
{
    if (!ray->isHit) {
        return STYLE_MISS;
    }
    return ray->isRefined ? STYLE_REFINED : (ray->isReverse ? STYLE_REVERSE : STYLE_HIT);
}

static void drawRays(const Drawing* drawing, const Rays* rays)
{
    // Draws rays that miss below those that hit; if there are very many, only some.
    int stride = rays->list.count / RAYS_DRAWN_MAX + 1;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < rays->list.count; ++i) {
            const rbRayTrace* ray = &rays->list.data[i];
            if (ray->isHit == (pass == 1) && i % stride == 0) {
                drawLine(drawing, ray->start, ray->end, styleOf(ray));
                if (ray->isHit) {
                    rbOutputFile_Print(drawing->file,
                                       "<circle cx=\"%.3f\" cy=\"%.3f\" r=\"1.6\" "
                                       "fill=\"#2c6fbb\"/>\n",
                                       xOf(drawing, ray->end), yOf(drawing, ray->end));
                }
            }
        }
    }
    if (rays->shortest >= 0) {
        const rbRayTrace* ray = &rays->list.data[rays->shortest];
        drawLine(drawing, ray->start, ray->end, STYLE_SHORTEST);
        rbOutputFile_Print(drawing->file,
                           "<circle cx=\"%.3f\" cy=\"%.3f\" r=\"3.4\" fill=\"#c8321f\"/>\n",
                           xOf(drawing, ray->end), yOf(drawing, ray->end));
    }
}

static void drawContact(const Drawing* drawing, const rbRayCollision* collision)
{
    double x = xOf(drawing, collision->point);
    double y = yOf(drawing, collision->point);
    double u = 26.0 * rbDot(collision->normal, drawing->right);
    double v = -26.0 * rbDot(collision->normal, drawing->up);
    rbOutputFile_Print(drawing->file,
                       "<path d=\"M%.3f %.3fl%.3f %.3f\" stroke=\"#1d2733\" stroke-width=\"1.6\" "
                       "marker-end=\"url(#tip)\"/>\n<circle cx=\"%.3f\" cy=\"%.3f\" r=\"3.4\" "
                       "fill=\"none\" stroke=\"#1d2733\" stroke-width=\"1.4\"/>\n",
                       x, y, u, v, x, y);
}

// Rounds to the printed precision, to avoid negative zeros.
static double roundAway(double x)
{
    return fabs(x) < 5e-7 ? 0.0 : x;
}

static void drawLegend(const Drawing* drawing, const rbRayFrames* frames,
                       const rbRayCollision* collision, const Rays* rays)
{
    static const struct {
        const char* style;
        const char* text;
    } rows[] = {{STYLE_SHORTEST, "shortest ray"},
                {STYLE_HIT, "hit"},
                {STYLE_REVERSE, "hit, reverse"},
                {STYLE_REFINED, "hit, refined"},
                {STYLE_MISS, "miss"}};
    double y = drawing->height + 20.0;
    double x = 12.0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbOutputFile_Print(drawing->file,
                           "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x,
                           y - 4.0, x + 22.0, y - 4.0, rows[i].style);
        drawText(drawing, x + 28.0, y, rows[i].text);
        x += 128.0;
    }
    char text[400];
    (void)snprintf(text, sizeof text,
                   "%s on %s: frame %lld, %.6g s, at (%.6f, %.6f, %.6f) m; %d rays, seen in the "
                   "%c%c plane",
                   rbRayFrames_GetBodyName(frames, collision->bodyA),
                   rbRayFrames_GetBodyName(frames, collision->bodyB), (long long)collision->frame,
                   collision->time, roundAway(collision->point.x), roundAway(collision->point.y),
                   roundAway(collision->point.z), rays->list.count, axisNames[drawing->axisU],
                   axisNames[drawing->axisV]);
    drawText(drawing, 12.0, y + 22.0, text);
    drawText(drawing, 12.0, y + 44.0,
             "dashed: where the rays start; solid: at the contact, with its normal");
}

// A length that is 1, 2 or 5 times a power of ten, about a fifth of the width.
static void drawScale(const Drawing* drawing)
{
    double wanted = 0.2 * drawing->width / drawing->scale;
    double length = 1e-12;
    static const double factors[3] = {2.0, 2.5, 2.0};
    for (int i = 0; length * factors[i % 3] <= wanted && i < 90; ++i) {
        length *= factors[i % 3];
    }
    double x = drawing->width - 14.0 - length * drawing->scale;
    double y = drawing->height - 14.0;
    rbOutputFile_Print(drawing->file,
                       "<path d=\"M%.2f %.2fv6h%.2fv-6\" fill=\"none\" stroke=\"#1d2733\"/>\n", x,
                       y - 6.0, length * drawing->scale);
    char text[40];
    (void)snprintf(text, sizeof text, "%g m", length);
    drawText(drawing, x + 2.0, y - 8.0, text);
    (void)snprintf(text, sizeof text, "%c right, %c up", axisNames[drawing->axisU],
                   axisNames[drawing->axisV]);
    drawText(drawing, 12.0, drawing->height - 10.0, text);
}

typedef struct Color {
    unsigned char r, g, b;
} Color;

// role: 0 and 1 of the pair, 2 any other.
static void drawBody(const Drawing* drawing, const rbRayFrames* frames, int body, int role,
                     double time, bool isStart)
{
    static const Color colors[3] = {{0x3f, 0x7f, 0xc4}, {0xd8, 0x8a, 0x2e}, {0x8a, 0x90, 0x98}};
    bool isOfPair = role < 2;
    Color color = colors[role];
    const rbGeometry* geometry = rbRayFrames_GetGeometry(frames, body);
    rbTransform pose = rbRayFrames_GetPose(frames, body, time);
    char style[200];
    (void)snprintf(style, sizeof style,
                   "fill=\"#%02x%02x%02x\" fill-opacity=\"%s\" stroke=\"#%02x%02x%02x\" "
                   "stroke-width=\"1.4\"%s",
                   color.r, color.g, color.b, isStart ? "0" : "0.22", color.r / 2, color.g / 2,
                   color.b / 2, isStart ? " stroke-dasharray=\"5 4\"" : "");
    drawOutline(drawing, geometry, pose, style);
    if (!isStart && isOfPair && rbGeometry_IsBounded(geometry)) {
        rbBounds bounds = rbGeometry_GetBounds(geometry, pose);
        rbVec3 middle = rbScale(0.5, rbAdd(bounds.lower, bounds.upper));
        drawText(drawing, xOf(drawing, middle), yOf(drawing, middle),
                 rbRayFrames_GetBodyName(frames, body));
    }
    if (!isStart) {
        drawEdges(drawing, geometry, pose,
                  "stroke=\"#1d2733\" stroke-opacity=\"0.35\" stroke-width=\"0.8\"");
    }
}

static void frameDrawing(Drawing* drawing)
{
    double margin = 0.06 * fmax(drawing->highU - drawing->lowU, drawing->highV - drawing->lowV);
    drawing->lowU -= margin;
    drawing->highU += margin;
    drawing->lowV -= margin;
    drawing->highV += margin;
    double sizeU = drawing->highU - drawing->lowU;
    double sizeV = drawing->highV - drawing->lowV;
    // Not narrower than the legend.
    double least = 0.85 * sizeV;
    if (sizeU < least) {
        drawing->lowU -= 0.5 * (least - sizeU);
        drawing->highU += 0.5 * (least - sizeU);
        sizeU = least;
    }
    drawing->scale = PICTURE_SIZE / fmax(sizeU, sizeV);
    drawing->width = sizeU * drawing->scale;
    drawing->height = sizeV * drawing->scale;
}

static void drawAll(Drawing* drawing, const rbRayFrames* frames, const rbRayCollision* collision,
                    const Rays* rays, const char* title)
{
    const int pair[2] = {collision->bodyA, collision->bodyB};
    double lead = chooseLead(frames, collision);
    double start = fmax((double)collision->frame / rbRayFrames_GetFrameRate(frames) - lead, 0.0);
    choosePlane(frames, collision, lead, drawing);
    drawing->lowU = drawing->lowV = INFINITY;
    drawing->highU = drawing->highV = -INFINITY;
    for (int i = 0; i < 2; ++i) {
        const rbGeometry* geometry = rbRayFrames_GetGeometry(frames, pair[i]);
        includeBody(drawing, geometry, rbRayFrames_GetPose(frames, pair[i], start));
        includeBody(drawing, geometry, rbRayFrames_GetPose(frames, pair[i], collision->time));
    }
    frameDrawing(drawing);
    rbOutputFile_Print(drawing->file,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                       "viewBox=\"0 -28 %.2f %.2f\" font-family=\"sans-serif\" "
                       "font-size=\"12.5\" fill=\"#1d2733\">\n",
                       drawing->width, drawing->height + LEGEND_HEIGHT + 28.0, drawing->width,
                       drawing->height + LEGEND_HEIGHT + 28.0);
    rbOutputFile_Text(drawing->file,
                      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" "
                      "markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 "
                      "8z\" fill=\"#1d2733\"/></marker>");
    rbOutputFile_Print(drawing->file,
                       "<clipPath id=\"frame\"><rect width=\"%.2f\" height=\"%.2f\"/></clipPath>"
                       "</defs>\n<rect y=\"-28\" width=\"100%%\" height=\"100%%\" "
                       "fill=\"#ffffff\"/>\n",
                       drawing->width, drawing->height);
    drawText(drawing, 12.0, -9.0, title);
    rbOutputFile_Text(drawing->file, "<g clip-path=\"url(#frame)\" stroke-linejoin=\"round\">\n");
    for (int i = 0; i < rbRayFrames_GetBodyCount(frames); ++i) {
        int role = i == pair[0] ? 0 : (i == pair[1] ? 1 : 2);
        drawBody(drawing, frames, i, role, collision->time, false);
        drawBoundary(drawing, rbRayFrames_GetGeometry(frames, i),
                     rbRayFrames_GetPose(frames, i, collision->time), collision->point);
    }
    for (int i = 0; i < 2; ++i) {
        if (rbRayFrames_IsMoving(frames, pair[i])) {
            drawBody(drawing, frames, pair[i], i, start, true);
        }
    }
    drawRays(drawing, rays);
    drawContact(drawing, collision);
    rbOutputFile_Text(drawing->file, "</g>\n");
    drawScale(drawing);
    drawLegend(drawing, frames, collision, rays);
    rbOutputFile_Text(drawing->file, "</svg>\n");
}

rbStatus rbDrawRays(const rbRayFrames* frames, const rbRayCollision* collision, const char* title,
                    const char* path, rbError* error)
{
    Rays rays;
    rbOutputFile* file = rbAllocZero(1, sizeof *file);
    rbStatus status = collectRays(frames, collision, &rays, error);
    if (status == RB_STATUS_OK) {
        status = rbOutputFile_Open(file, path, error);
    }
    if (status == RB_STATUS_OK) {
        Drawing drawing = {.file = file};
        drawAll(&drawing, frames, collision, &rays, title);
        status = rbOutputFile_Commit(file, error);
    }
    rbArray_Free(rays.list);
    rbFree(file, sizeof *file);
    return status;
}

// ------------------------------------------------------------------------------------------- VTK

// One number per ray.
static void writeRow(rbOutputFile* file, const Rays* rays, const char* name,
                     int (*value)(const Rays* rays, int ray))
{
    rbOutputFile_Print(file, "<DataArray type=\"Int32\" Name=\"%s\" format=\"ascii\">\n", name);
    for (int i = 0; i < rays->list.count; ++i) {
        rbOutputFile_Print(file, "%d\n", value(rays, i));
    }
    rbOutputFile_Text(file, "</DataArray>\n");
}

static int isHit(const Rays* rays, int ray)
{
    return rays->list.data[ray].isHit ? 1 : 0;
}

static int isReverse(const Rays* rays, int ray)
{
    return rays->list.data[ray].isReverse ? 1 : 0;
}

static int isRefined(const Rays* rays, int ray)
{
    return rays->list.data[ray].isRefined ? 1 : 0;
}

static int isShortest(const Rays* rays, int ray)
{
    return ray == rays->shortest ? 1 : 0;
}

static void writeLines(rbOutputFile* file, const Rays* rays)
{
    int count = rays->list.count;
    rbOutputFile_Print(file,
                       "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                       "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<Piece "
                       "NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"%d\" "
                       "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<Points>\n<DataArray "
                       "type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n",
                       2 * count, count);
    for (int i = 0; i < count; ++i) {
        const rbRayTrace* ray = &rays->list.data[i];
        rbOutputFile_Print(file, "%.17g %.17g %.17g %.17g %.17g %.17g\n", ray->start.x,
                           ray->start.y, ray->start.z, ray->end.x, ray->end.y, ray->end.z);
    }
    rbOutputFile_Text(file, "</DataArray>\n</Points>\n<Lines>\n<DataArray type=\"Int64\" "
                            "Name=\"connectivity\" format=\"ascii\">\n");
    for (int i = 0; i < count; ++i) {
        rbOutputFile_Print(file, "%d %d\n", 2 * i, 2 * i + 1);
    }
    rbOutputFile_Text(file, "</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" "
                            "format=\"ascii\">\n");
    for (int i = 0; i < count; ++i) {
        rbOutputFile_Print(file, "%d\n", 2 * i + 2);
    }
    rbOutputFile_Text(file, "</DataArray>\n</Lines>\n<CellData>\n");
    writeRow(file, rays, "hit", isHit);
    writeRow(file, rays, "reverse", isReverse);
    writeRow(file, rays, "refined", isRefined);
    writeRow(file, rays, "shortest", isShortest);
    rbOutputFile_Text(file, "</CellData>\n</Piece>\n</PolyData>\n</VTKFile>\n");
}

rbStatus rbWriteRaysVtk(const rbRayFrames* frames, const rbRayCollision* collision,
                        const char* path, rbError* error)
{
    Rays rays;
    rbOutputFile* file = rbAllocZero(1, sizeof *file);
    rbStatus status = collectRays(frames, collision, &rays, error);
    if (status == RB_STATUS_OK) {
        status = rbOutputFile_Open(file, path, error);
    }
    if (status == RB_STATUS_OK) {
        writeLines(file, &rays);
        status = rbOutputFile_Commit(file, error);
    }
    rbArray_Free(rays.list);
    rbFree(file, sizeof *file);
    return status;
}
