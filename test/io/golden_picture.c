// The same pixels from every compiler and build.
#include "base/core/hash.h"
#include "rb_test.h"
#include "render/picture.h"

#include <inttypes.h>

static void addBody(rbWorld* world, rbGeometry* geometry, rbBodyType type, rbVec3 position)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = position;
    def.orientation = (rbQuat){0.8, 0.0, 0.36, 0.48};
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
}

static void roundAndFlatShapesKeepTheirPixels(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    addBody(world, rbCreateSphere(0.4, NULL), RB_BODY_DYNAMIC, rbMakeVec3(-1.0, 0.2, 0.5));
    addBody(world, rbCreateBox(rbMakeVec3(0.3, 0.4, 0.2), NULL), RB_BODY_DYNAMIC,
            rbMakeVec3(0.0, 0.0, 0.6));
    addBody(world, rbCreateCylinder(0.3, 0.5, NULL), RB_BODY_DYNAMIC, rbMakeVec3(1.0, -0.1, 0.7));
    addBody(world, rbCreateCone(0.4, 0.8, NULL), RB_BODY_KINEMATIC, rbMakeVec3(0.4, 1.0, 0.5));
    addBody(world, rbCreateEllipsoid(rbMakeVec3(0.5, 0.3, 0.2), NULL), RB_BODY_STATIC,
            rbMakeVec3(-0.4, -1.0, 0.4));
    rbBodyId ids[5];
    (void)rbWorld_GetBodyIds(world, ids, 5);
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = ids[0];
    spring.bodyB = ids[1];
    spring.stiffness = 10.0;
    if (RB_IS_NULL(rbCreateSpring(world, &spring, &error))) {
        fail_msg("%s", error.message);
    }
    rbPictureDef def = rbDefaultPictureDef(192, 108);
    rbPicture* picture = rbCreatePicture(&def, world, &error);
    assert_non_null(picture);
    rbView view;
    rbChooseView(world, NULL, &view);
    rbPicture_Draw(picture, world, &view);
    uint64_t hash = rbHashBytes(RB_HASH_SEED, rbPicture_GetPixels(picture), (size_t)3 * 192 * 108);
    print_message("pixels 0x%016" PRIx64 "\n", hash);
    assert_true(hash == 0x42733f2e6a571672u);
    rbDestroyPicture(picture);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(golden_picture, cmocka_unit_test(roundAndFlatShapesKeepTheirPixels));
