// Queries: what a ray meets, what a moving ball meets, and what overlaps a box, in a world of a
// ground, a box and a ball.
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

static rbBodyId addBody(rbWorld* world, const char* name, rbVec3 position, rbGeometry* geometry,
                        rbError* error)
{
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.name = name;
    bodyDef.type = RB_BODY_STATIC;
    bodyDef.position = position;
    rbBodyId body = rbCreateBody(world, &bodyDef, error);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    shapeDef.geometry = rbWorld_AddGeometry(world, geometry);
    (void)rbCreateShape(world, body, &shapeDef, error);
    return body;
}

// Prints what was met and returns whether it is the named body at the distance.
static bool check(const rbWorld* world, const char* what, const rbQueryHit* hit, rbBodyId body,
                  double distance)
{
    bool isRight = hit->bodyId.index1 == body.index1 && fabs(hit->distance - distance) < 1e-8;
    printf("%-12s meets %-6s after %.6f m (expected %.6f m)\n", what,
           RB_IS_NULL(hit->bodyId) ? "nothing" : rbBody_GetName(world, hit->bodyId), hit->distance,
           distance);
    return isRight;
}

int main(void)
{
    static rbError error; // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    addBody(world, "ground", rbMakeVec3(0, 0, 0), rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, &error),
            &error);
    rbBodyId box = addBody(world, "box", rbMakeVec3(3, 0, 1),
                           rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), &error), &error);
    rbBodyId ball =
        addBody(world, "ball", rbMakeVec3(6, 0, 1), rbCreateSphere(0.5, &error), &error);

    rbQueryFilter filter = rbDefaultQueryFilter();
    rbQueryHit hit;
    rbRay ray;
    ray.origin = rbMakeVec3(0, 0, 1);
    ray.direction = rbMakeVec3(1, 0, 0);
    ray.tMax = 100.0;
    bool isRight = rbWorld_CastRay(world, &ray, &filter, &hit, &error) == RB_STATUS_OK;
    isRight = check(world, "the ray", &hit, box, 2.5) && isRight;
    filter.ignored = box;
    isRight = rbWorld_CastRay(world, &ray, &filter, &hit, &error) == RB_STATUS_OK && isRight;
    isRight = check(world, "behind it", &hit, ball, 5.5) && isRight;

    // A ball of radius 0.5 that flies past the center line at a height of 0.6 meets the other when
    // the centers are 1 apart.
    rbShapeCast cast;
    rbGeometry* moving = rbCreateSphere(0.5, &error);
    cast.geometry = moving;
    cast.transform.p = rbMakeVec3(0, 0.6, 1);
    cast.transform.q = rbBody_GetState(world, box).transform.q; // no turn
    cast.translation = rbMakeVec3(10, 0, 0);
    cast.tolerance = 0.0;
    isRight = rbWorld_CastShape(world, &cast, &filter, &hit, &error) == RB_STATUS_OK && isRight;
    isRight = check(world, "the ball", &hit, ball, 6.0 - sqrt(1.0 - 0.36)) && isRight;
    rbDestroyGeometry(moving);

    rbBodyId found[4];
    rbQueryBodyList list;
    list.bodyIds = found;
    list.capacity = 4;
    list.count = 0;
    rbBounds bounds;
    bounds.lower = rbMakeVec3(2, -1, 0.2);
    bounds.upper = rbMakeVec3(7, 1, 2);
    filter = rbDefaultQueryFilter();
    isRight =
        rbWorld_OverlapBounds(world, bounds, &filter, &list, &error) == RB_STATUS_OK && isRight;
    printf("%d bodies overlap the box (expected 2)\n", list.count);
    rbDestroyWorld(world);
    return isRight && list.count == 2 ? 0 : 1;
}
