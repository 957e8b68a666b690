// The choice: boxes around what counts are collected; the direction is the axis along which they
// spread least, so that a row of dominoes or a flat mechanism is seen from its side; the distance
// is the least from which all corners are in the picture.
#include "render/view.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "io/scene/scene_look.h"
#include "render/view_swings.h"

#define MARGIN 1.12      // factor on the smallest distance
#define NEAR_FACTOR 1.5  // static bodies within this many radii of the moving ones count
#define SIZE_FACTOR 2.5  // if they are at most this many radii in size
#define LONE_FACTOR 4.0  // a single body gets room for this many of its own radii
#define FOOT_FACTOR 12.0 // the ground counts if it is no farther below than this, in radii
#define FLAT_RATIO 0.4   // of the spreads: below this the bodies are viewed from their flat side
#define TURN 0.49        // rad, from that side, so that depth is visible
#define ROUND_RATIO 0.1  // of the squares of the spreads: below this no side is better than another
#define RAYS_MAX 24      // bodies that are tested for being hidden
#define OBSTACLES_MAX 64 // static shapes that may hide them
#define SWINGS_MAX 64    // pendulums that are given room
#define CENTERING_ROUNDS 4
#define FLOOR_GAP 0.15 // of the extent, below the lowest body that hangs or flies

typedef struct Box {
    rbVec3 lower, upper;
    rbBodyType type;
} Box;

typedef struct Obstacle {
    const rbGeometry* geometry;
    rbTransform transform;
} Obstacle;

typedef struct Choice {
    const rbWorld* world;
    const rbScene* scene; // NULL: no visuals
    Box* boxes;           // one per bounded body
    bool* isCounted;
    int boxCount;
    Obstacle obstacles[OBSTACLES_MAX]; // of static bodies, including planes
    int obstacleCount;
    rbVec3 up;
    rbVec3 lower, upper;     // of what counts
    RB_ARRAY(rbVec3) extras; // points that count besides the boxes
    bool hasGround;
} Choice;

static void include(Choice* choice, rbVec3 point)
{
    choice->lower = rbMin3(choice->lower, point);
    choice->upper = rbMax3(choice->upper, point);
}

static void includePoint(Choice* choice, rbVec3 point)
{
    rbArray_Push(choice->extras, point);
    include(choice, point);
}

static void includeBox(Choice* choice, int index)
{
    choice->isCounted[index] = true;
    include(choice, choice->boxes[index].lower);
    include(choice, choice->boxes[index].upper);
}

static rbVec3 getMiddle(rbVec3 lower, rbVec3 upper)
{
    return rbScale(0.5, rbAdd(lower, upper));
}

static double getHalfDiagonal(rbVec3 lower, rbVec3 upper)
{
    return 0.5 * rbDistance(lower, upper);
}

static bool growBox(Box* box, const rbGeometry* geometry, rbTransform transform)
{
    if (!rbGeometry_IsBounded(geometry)) {
        return false;
    }
    rbBounds bounds = rbGeometry_GetBounds(geometry, transform);
    box->lower = rbMin3(box->lower, bounds.lower);
    box->upper = rbMax3(box->upper, bounds.upper);
    return true;
}

// Whether a body has visuals; the box grows by them.
static bool addVisuals(const Choice* choice, rbBodyId bodyId, rbTransform pose, Box* box)
{
    const char* name = rbBody_GetName(choice->world, bodyId);
    int count = choice->scene != NULL ? rbScene_GetVisualCount(choice->scene, name) : 0;
    for (int i = 0; i < count; ++i) {
        rbVisual visual = rbScene_GetVisual(choice->scene, name, i);
        (void)growBox(box, visual.geometry, rbMulTransforms(pose, visual.transform));
    }
    return count > 0;
}

// The box of the bounded shapes of a body; static shapes are recorded as obstacles.
static void addBody(Choice* choice, rbBodyId bodyId)
{
    const rbWorld* world = choice->world;
    rbTransform pose = rbBody_GetState(world, bodyId).transform;
    pose.p = rbWorld_WrapPosition(world, pose.p, NULL);
    Box box = {.lower = {INFINITY, INFINITY, INFINITY},
               .upper = {-INFINITY, -INFINITY, -INFINITY},
               .type = rbBody_GetType(world, bodyId)};
    bool isBounded = false;
    int shapeCount = rbBody_GetShapeCount(world, bodyId);
    for (int i = 0; i < shapeCount; ++i) {
        rbShapeDef def = rbBody_GetShape(world, bodyId, i);
        const rbGeometry* geometry = rbWorld_GetGeometry(world, def.geometry);
        rbTransform transform = rbMulTransforms(pose, def.transform);
        isBounded = growBox(&box, geometry, transform) || isBounded;
        if (box.type == RB_BODY_STATIC && choice->obstacleCount < OBSTACLES_MAX) {
            choice->obstacles[choice->obstacleCount++] = (Obstacle){geometry, transform};
        }
    }
    isBounded = addVisuals(choice, bodyId, pose, &box) || isBounded;
    if (shapeCount == 0 && !isBounded) {
        box.lower = pose.p;
        box.upper = pose.p;
        isBounded = true;
    }
    if (isBounded && rbIsFinite3(box.lower) && rbIsFinite3(box.upper)) {
        choice->isCounted[choice->boxCount] = false;
        choice->boxes[choice->boxCount++] = box;
    }
}

// First hit of a ray with a static shape, as a multiple of the direction; INFINITY if none.
static double castRay(const Choice* choice, rbVec3 origin, rbVec3 direction, bool arePlanesHit)
{
    double nearest = INFINITY;
    for (int i = 0; i < choice->obstacleCount; ++i) {
        const Obstacle* obstacle = &choice->obstacles[i];
        rbRayHit hit;
        rbRay ray = {rbInvTransformPoint(obstacle->transform, origin),
                     rbInvRotate(obstacle->transform.q, direction), INFINITY};
        if ((arePlanesHit || rbGeometry_IsBounded(obstacle->geometry)) &&
            rbGeometry_CastRay(obstacle->geometry, &ray, &hit) && hit.t < nearest) {
            nearest = hit.t;
        }
    }
    return nearest;
}

// The dynamic bodies; if there are none, the kinematic ones, then the static ones.
static double includeMoving(Choice* choice)
{
    static const rbBodyType order[] = {RB_BODY_DYNAMIC, RB_BODY_KINEMATIC, RB_BODY_STATIC};
    double largest = 0.0;
    int count = 0;
    for (int k = 0; k < 3 && count == 0; ++k) {
        for (int i = 0; i < choice->boxCount; ++i) {
            const Box* box = &choice->boxes[i];
            if (box->type == order[k]) {
                double size = getHalfDiagonal(box->lower, box->upper);
                largest = size > largest ? size : largest;
                includeBox(choice, i);
                ++count;
            }
        }
    }
    return largest;
}

// Parts of static bodies below a level ground are not visible and do not count.
static void cutAtGround(Choice* choice)
{
    double ground = -INFINITY;
    for (int i = 0; i < choice->obstacleCount; ++i) {
        const Obstacle* obstacle = &choice->obstacles[i];
        if (rbGeometry_GetType(obstacle->geometry) == RB_SHAPE_PLANE) {
            rbPlaneData plane = rbGeometry_GetData(obstacle->geometry).plane;
            rbVec3 normal = rbRotate(obstacle->transform.q, plane.normal);
            double offset = plane.offset + rbDot(normal, obstacle->transform.p);
            ground = normal.z > 0.999 && offset > ground ? offset : ground;
        }
    }
    for (int i = 0; i < choice->boxCount && choice->up.z > 0.999; ++i) {
        Box* box = &choice->boxes[i];
        if (box->type == RB_BODY_STATIC && box->lower.z < ground && ground < box->upper.z) {
            box->lower.z = ground;
        }
    }
}

static void includeNeighbors(Choice* choice, double largest)
{
    rbVec3 middle = getMiddle(choice->lower, choice->upper);
    double radius = getHalfDiagonal(choice->lower, choice->upper);
    double reach = radius > LONE_FACTOR * largest ? radius : LONE_FACTOR * largest;
    for (int i = 0; i < choice->boxCount; ++i) {
        const Box* box = &choice->boxes[i];
        double size = getHalfDiagonal(box->lower, box->upper);
        double distance = rbDistance(getMiddle(box->lower, box->upper), middle);
        if (box->type == RB_BODY_KINEMATIC ||
            (size <= SIZE_FACTOR * reach && distance <= NEAR_FACTOR * reach + size)) {
            includeBox(choice, i);
        }
    }
}

// Room for what hangs and swings: the lowest point, the farthest to both sides, the highest.
static void includeSwings(Choice* choice)
{
    rbSwing swings[SWINGS_MAX];
    int count = rbFindSwings(choice->world, choice->up, swings, SWINGS_MAX);
    for (int i = 0; i < count; ++i) {
        double angle = swings[i].angle;
        const double angles[3] = {0.0, angle, angle < 0.5 * RB_PI ? angle : 0.5 * RB_PI};
        for (int k = 0; k < 6; ++k) {
            double s, c;
            rbSinCos(angles[k / 2], &s, &c);
            rbVec3 arm =
                rbAdd(rbScale(k % 2 == 0 ? s : -s, swings[i].across), rbScale(-c, choice->up));
            includePoint(choice, rbAddScaled(swings[i].pivot, swings[i].reach, arm));
        }
    }
}

// Anchors of joints and springs in the world.
static void includeAnchors(Choice* choice)
{
    const rbWorld* world = choice->world;
    int count = rbWorld_GetJointCount(world);
    rbJointId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetJointIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        rbVec3 point = rbJoint_GetState(world, ids[i]).pointA;
        bool isHolding = rbJoint_GetConditionCount(world, ids[i]) > 0;
        bool isToWorld = RB_IS_NULL(rbJoint_GetBodyA(world, ids[i])) ||
                         RB_IS_NULL(rbJoint_GetBodyB(world, ids[i]));
        if (isToWorld && isHolding && rbIsFinite3(point)) {
            includePoint(choice, point);
        }
    }
    rbFree(ids, (size_t)count * sizeof *ids);
    count = rbWorld_GetSpringCount(world);
    rbSpringId* springs = rbAlloc((size_t)count * sizeof *springs);
    (void)rbWorld_GetSpringIds(world, springs, count);
    for (int i = 0; i < count; ++i) {
        rbSpringState state = rbSpring_GetState(world, springs[i]);
        if (rbIsFinite3(state.pointA) && rbIsFinite3(state.pointB)) {
            includePoint(choice, state.pointA);
            includePoint(choice, state.pointB);
        }
    }
    rbFree(springs, (size_t)count * sizeof *springs);
}

// What the moving bodies would fall on.
static void includeGround(Choice* choice, double largest)
{
    double radius = getHalfDiagonal(choice->lower, choice->upper);
    double reach = FOOT_FACTOR * (radius > largest ? radius : largest);
    int castCount = 0;
    for (int i = 0; i < choice->boxCount && castCount < RAYS_MAX; ++i) {
        const Box* box = &choice->boxes[i];
        if (box->type != RB_BODY_STATIC) {
            rbVec3 middle = getMiddle(box->lower, box->upper);
            double t = castRay(choice, middle, rbNeg(choice->up), true);
            if (t < reach) {
                includePoint(choice, rbAddScaled(middle, -t, choice->up));
            }
            choice->hasGround = choice->hasGround || t < INFINITY;
            ++castCount;
        }
    }
}

// Another direction rotated about up by an angle and raised by an elevation.
static rbVec3 turn(const Choice* choice, rbVec3 side, double angle, double elevation)
{
    double s, c, se, ce;
    rbSinCos(angle, &s, &c);
    rbSinCos(elevation, &se, &ce);
    rbVec3 across = rbCross(choice->up, side);
    rbVec3 flat = rbAdd(rbScale(c, side), rbScale(s, across));
    return rbAdd(rbScale(ce, flat), rbScale(se, choice->up));
}

// Horizontal axis along which the counted boxes spread least, and how flat they are.
static rbVec3 findSide(const Choice* choice, double* ratio)
{
    rbVec3 e1 = fabs(choice->up.z) > 0.5 ? rbMakeVec3(1.0, 0.0, 0.0) : rbPerpendicular(choice->up);
    e1 = rbNormalize(rbAddScaled(e1, -rbDot(e1, choice->up), choice->up));
    rbVec3 e2 = rbCross(choice->up, e1);
    rbVec3 middle = getMiddle(choice->lower, choice->upper);
    double xx = 0.0, xy = 0.0, yy = 0.0;
    for (int i = 0; i < choice->boxCount; ++i) {
        const Box* box = &choice->boxes[i];
        for (int k = 0; k < 4 && choice->isCounted[i]; ++k) {
            rbVec3 p = {k & 1 ? box->upper.x : box->lower.x, k & 2 ? box->upper.y : box->lower.y,
                        0.5 * (box->lower.z + box->upper.z)};
            double x = rbDot(rbSub(p, middle), e1);
            double y = rbDot(rbSub(p, middle), e2);
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
    }
    double half = 0.5 * (xx - yy);
    double root = sqrt(half * half + xy * xy);
    double most = 0.5 * (xx + yy) + root;
    double least = 0.5 * (xx + yy) - root;
    *ratio = most > 0.0 ? sqrt((least > 0.0 ? least : 0.0) / most) : 1.0;
    if (root <= ROUND_RATIO * most) {
        return rbNeg(e2);
    }
    // the axis of least spread is perpendicular to that of most
    double angle = 0.5 * rbAtan2(2.0 * xy, xx - yy) + 0.5 * RB_PI;
    double s, c;
    rbSinCos(angle, &s, &c);
    rbVec3 side = rbAdd(rbScale(c, e1), rbScale(s, e2));
    return rbDot(side, e2) > 1e-9 ? rbNeg(side) : side;
}

// How many of the moving bodies cannot be seen from a direction; planes seen from behind count too.
static double countHidden(const Choice* choice, rbVec3 direction)
{
    rbVec3 middle = getMiddle(choice->lower, choice->upper);
    double radius = getHalfDiagonal(choice->lower, choice->upper);
    double hidden = 0.0;
    int castCount = 0;
    for (int i = 0; i < choice->boxCount && castCount < RAYS_MAX; ++i) {
        const Box* box = &choice->boxes[i];
        if (choice->isCounted[i] && box->type != RB_BODY_STATIC) {
            rbVec3 target = getMiddle(box->lower, box->upper);
            rbVec3 camera = rbAddScaled(middle, 3.0 * radius, direction);
            rbVec3 ray = rbSub(target, camera);
            hidden += castRay(choice, camera, ray, false) < 1.0 ? 1.0 : 0.0;
            ++castCount;
        }
    }
    for (int i = 0; i < choice->obstacleCount; ++i) {
        const Obstacle* obstacle = &choice->obstacles[i];
        if (rbGeometry_GetType(obstacle->geometry) == RB_SHAPE_PLANE) {
            rbVec3 camera = rbAddScaled(middle, 3.0 * radius, direction);
            rbVec3 local = rbInvTransformPoint(obstacle->transform, camera);
            hidden += rbGeometry_Contains(obstacle->geometry, local) ? 0.5 : 0.0;
        }
    }
    return hidden;
}

static rbVec3 chooseDirection(const Choice* choice)
{
    double ratio = 1.0;
    rbVec3 side = findSide(choice, &ratio);
    rbVec3 extent = rbSub(choice->upper, choice->lower);
    double height = fabs(rbDot(extent, rbAbs3(choice->up)));
    double width = rbLength(rbAddScaled(extent, -rbDot(extent, choice->up), choice->up));
    double elevation = height > 0.4 * width ? 0.33 : (height > 0.12 * width ? 0.5 : 0.62);
    double angle = ratio < FLAT_RATIO ? TURN : 0.6;
    const double angles[] = {angle, -angle, RB_PI - angle, RB_PI + angle};
    rbVec3 best = turn(choice, side, angle, elevation);
    double least = INFINITY;
    for (int i = 0; i < 4; ++i) {
        rbVec3 direction = turn(choice, side, angles[i], elevation);
        double hidden = countHidden(choice, direction);
        if (hidden < least) {
            least = hidden;
            best = direction;
        }
    }
    return rbNormalize(best);
}

// Extent of a point in the picture: grows lower and upper (slopes) and the distance needed.
typedef struct Fit {
    rbVec3 center, direction, right, up;
    double tanX, tanY;
    double distance;
    double lower[2], upper[2];
} Fit;

static void fitPoint(Fit* fit, rbVec3 point, double distance)
{
    rbVec3 q = rbSub(point, fit->center);
    double depth = rbDot(q, fit->direction);
    double x = rbDot(q, fit->right);
    double y = rbDot(q, fit->up);
    double needX = depth + fabs(x) / fit->tanX;
    double needY = depth + fabs(y) / fit->tanY;
    double need = needX > needY ? needX : needY;
    fit->distance = need > fit->distance ? need : fit->distance;
    double away = distance - depth;
    if (away > 0.0) {
        double slopes[2] = {x / away, y / away};
        for (int i = 0; i < 2; ++i) {
            fit->lower[i] = slopes[i] < fit->lower[i] ? slopes[i] : fit->lower[i];
            fit->upper[i] = slopes[i] > fit->upper[i] ? slopes[i] : fit->upper[i];
        }
    }
}

static void fitBox(Fit* fit, rbVec3 lower, rbVec3 upper, double distance)
{
    for (int k = 0; k < 8; ++k) {
        rbVec3 p = {k & 1 ? upper.x : lower.x, k & 2 ? upper.y : lower.y,
                    k & 4 ? upper.z : lower.z};
        fitPoint(fit, p, distance);
    }
}

static void fitAll(const Choice* choice, Fit* fit, double distance)
{
    fit->distance = 0.0;
    for (int i = 0; i < 2; ++i) {
        fit->lower[i] = INFINITY;
        fit->upper[i] = -INFINITY;
    }
    for (int i = 0; i < choice->boxCount; ++i) {
        if (choice->isCounted[i]) {
            fitBox(fit, choice->boxes[i].lower, choice->boxes[i].upper, distance);
        }
    }
    for (int i = 0; i < choice->extras.count; ++i) {
        fitPoint(fit, choice->extras.data[i], distance);
    }
}

static void fitView(const Choice* choice, rbView* view)
{
    double s, c;
    rbSinCos(0.5 * RB_VIEW_ANGLE, &s, &c);
    Fit fit = {.center = getMiddle(choice->lower, choice->upper),
               .direction = view->direction,
               .right = rbNormalize(rbCross(view->up, view->direction)),
               .tanX = s / c * RB_VIEW_ASPECT,
               .tanY = s / c};
    fit.up = rbCross(fit.direction, fit.right);
    double distance = 4.0 * getHalfDiagonal(choice->lower, choice->upper);
    for (int i = 0; i < CENTERING_ROUNDS; ++i) {
        fitAll(choice, &fit, distance);
        double x = 0.5 * (fit.lower[0] + fit.upper[0]) * distance;
        double y = 0.5 * (fit.lower[1] + fit.upper[1]) * distance;
        fit.center = rbAdd(fit.center, rbAdd(rbScale(x, fit.right), rbScale(y, fit.up)));
        fitAll(choice, &fit, distance);
        distance = MARGIN * fit.distance;
    }
    view->center = fit.center;
    view->radius = distance * s;
}

static void collect(Choice* choice, int count)
{
    const rbWorld* world = choice->world;
    rbBodyId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetBodyIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        addBody(choice, ids[i]);
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}

void rbChooseView(const rbWorld* world, const rbScene* scene, rbView* view)
{
    RB_ASSERT(world != NULL && view != NULL);
    int count = rbWorld_GetBodyCount(world);
    rbVec3 gravity = rbWorld_GetGravity(world);
    bool hasGravity = rbLength(gravity) > 0.0;
    Choice* choice = rbAllocZero(1, sizeof *choice);
    choice->world = world;
    choice->scene = scene;
    choice->boxes = rbAlloc((size_t)count * sizeof *choice->boxes);
    choice->isCounted = rbAllocZero((size_t)count, sizeof *choice->isCounted);
    choice->up = hasGravity ? rbNormalize(rbNeg(gravity)) : rbMakeVec3(0.0, 0.0, 1.0);
    choice->lower = rbMakeVec3(INFINITY, INFINITY, INFINITY);
    choice->upper = rbNeg(choice->lower);
    collect(choice, count);
    rbVec3 period = rbScale(0.5, rbWorld_GetPeriodicBox(world));
    bool isPeriodic = rbLength(period) > 0.0;
    double largest = includeMoving(choice);
    if (isPeriodic) {
        for (int k = 0; k < 8; ++k) {
            includePoint(choice,
                         rbMakeVec3(k & 1 ? period.x : -period.x, k & 2 ? period.y : -period.y,
                                    k & 4 ? period.z : -period.z));
        }
    } else if (choice->lower.x <= choice->upper.x) {
        cutAtGround(choice);
        includeNeighbors(choice, largest);
        includeGround(choice, largest);
        includeAnchors(choice);
        includeSwings(choice);
    }
    if (!(getHalfDiagonal(choice->lower, choice->upper) > 0.0)) {
        // no bodies, or a single point
        rbVec3 middle = choice->lower.x <= choice->upper.x ? choice->lower : RB_VEC3_ZERO;
        includePoint(choice, rbAdd(middle, rbMakeVec3(0.5, 0.5, 0.5)));
        includePoint(choice, rbSub(middle, rbMakeVec3(0.5, 0.5, 0.5)));
    }
    *view = (rbView){.up = choice->up, .direction = chooseDirection(choice), .floor = NAN};
    if (!isPeriodic && !choice->hasGround) {
        rbVec3 extent = rbSub(choice->upper, choice->lower);
        rbVec3 middle = getMiddle(choice->lower, choice->upper);
        double height = rbDot(rbAbs3(choice->up), extent);
        double gap = (hasGravity ? 1.0 : 3.0) * FLOOR_GAP * rbLength(extent);
        view->floor = rbDot(middle, choice->up) - 0.5 * height - gap;
    }
    fitView(choice, view);
    rbArray_Free(choice->extras);
    rbFree(choice->boxes, (size_t)count * sizeof *choice->boxes);
    rbFree(choice->isCounted, (size_t)count * sizeof *choice->isCounted);
    rbFree(choice, sizeof *choice);
}

bool rbView_LookFrom(rbView* view, rbVec3 from, rbVec3 at)
{
    rbVec3 arm = rbSub(from, at);
    double distance = rbLength(arm);
    if (!(rbLength(rbCross(arm, view->up)) > 1e-6 * distance) || !isfinite(distance)) {
        return false;
    }
    view->center = at;
    view->direction = rbNormalize(arm);
    view->radius = distance * rbSin(0.5 * RB_VIEW_ANGLE);
    return true;
}

rbVec3 rbView_GetCamera(const rbView* view, double aspect)
{
    RB_ASSERT(aspect > 0.0);
    double distance = view->radius / rbSin(0.5 * RB_VIEW_ANGLE);
    distance *= aspect < RB_VIEW_ASPECT ? RB_VIEW_ASPECT / aspect : 1.0;
    return rbAddScaled(view->center, distance, view->direction);
}
