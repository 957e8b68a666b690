/// @file
/// A world as points and lines, for the debugging view of a program that embeds the library.
///
/// The caller supplies two functions, one that draws a point and one that draws a line;
/// rbWorld_Draw calls them for what is enabled. Nothing is kept between calls.
#ifndef RATTLEBACK_DEBUG_DRAW_H
#define RATTLEBACK_DEBUG_DRAW_H

#include <rattleback/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Draws a point.
/// @param position m, world
/// @param color 0xRRGGBB
/// @param context that of rbDebugDraw
typedef void rbDrawPointFn(rbVec3 position, uint32_t color, void* context);

/// Draws a straight line.
/// @param start m, world
/// @param end m, world
/// @param color 0xRRGGBB
/// @param context that of rbDebugDraw
typedef void rbDrawLineFn(rbVec3 start, rbVec3 end, uint32_t color, void* context);

/// What is drawn and how; make it with rbDefaultDebugDraw and fill in the functions.
typedef struct rbDebugDraw {
    uint32_t cookie;          ///< set by rbDefaultDebugDraw
    rbDrawPointFn* drawPoint; ///< NULL: no points
    rbDrawLineFn* drawLine;   ///< NULL: no lines
    void* context;            ///< passed to both
    bool enableShapes;   ///< edges of the shapes of all bodies, colored by the type of the body, or
                         ///< gray while it rests; true
    bool enableBounds;   ///< bounding boxes of the shapes; false
    bool enableCenters;  ///< centers of mass, as points, with the principal axes; false
    bool enableContacts; ///< contact points under load, with normals and forces; true
    bool enableJoints;   ///< anchors of joints with their axes, and springs as lines; true
    double deviation; ///< > 0: maximum error of edges of round shapes, relative to the radius; 0.05
    double planeHalfSize; ///< m, > 0: planes are drawn as a square of this half size; 10
    double axisLength;    ///< m, > 0: length of axes and normals; 0.1
    double forceScale;    ///< m/N, >= 0: length of contact forces; 0: none are drawn
} rbDebugDraw;

/// Fills in the defaults; called by rbDefaultDebugDraw.
RB_API void rbInitDebugDraw(rbDebugDraw* draw, uint32_t abi, size_t size);

/// The default settings.
static inline rbDebugDraw rbDefaultDebugDraw(void)
{
    rbDebugDraw draw;
    rbInitDebugDraw(&draw, RB_ABI_VERSION, sizeof draw);
    return draw;
}

/// Draws a world at its current time: bodies in the order of rbWorld_GetBodyIds, then joints and
/// springs, then contacts. Allocates memory for the edges of each shape and frees it again.
/// @param world not changed
/// @param draw what to draw and how
/// @param error may be NULL
/// @return INVALID, with a message, if a member of draw is unusable; LIMIT if a shape needs more
/// than RB_TRIANGLES_MAX triangles: the deviation is then too small
RB_API rbStatus rbWorld_Draw(const rbWorld* world, const rbDebugDraw* draw, rbError* error);

#ifdef __cplusplus
}
#endif

#endif
