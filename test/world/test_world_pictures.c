// What the debug drawing draws, line by line, what the sums of many bodies are, and what levels of
// accuracy and motors say of themselves.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "rb_test.h"
#include "world/world_settings.h"

#include <rattleback/rattleback.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ITEMS_MAX 5000

// A line, or a point if both ends are equal.
typedef struct Item {
    rbVec3 a, b;
    uint32_t color;
    bool isPoint;
} Item;

typedef struct Picture {
    int count;
    Item items[ITEMS_MAX];
} Picture;

static Picture picture;

static void keepPoint(rbVec3 position, uint32_t color, void* context)
{
    Picture* p = context;
    assert_true(p->count < ITEMS_MAX);
    p->items[p->count++] = (Item){position, position, color, true};
}

static void keepLine(rbVec3 start, rbVec3 end, uint32_t color, void* context)
{
    Picture* p = context;
    assert_true(p->count < ITEMS_MAX);
    p->items[p->count++] = (Item){start, end, color, false};
}

static rbDebugDraw startPicture(void)
{
    rbDebugDraw draw = rbDefaultDebugDraw();
    draw.enableShapes = draw.enableContacts = draw.enableJoints = false;
    draw.drawPoint = keepPoint;
    draw.drawLine = keepLine;
    draw.context = &picture;
    picture.count = 0;
    return draw;
}

static void checkItem(int index, rbVec3 a, rbVec3 b, uint32_t color, bool isPoint)
{
    assert_true(index < picture.count);
    const Item* item = &picture.items[index];
    assert_int_equal(item->color, color);
    assert_int_equal(item->isPoint, isPoint);
    assert_true(item->a.x == a.x && item->a.y == a.y && item->a.z == a.z);
    assert_true(item->b.x == b.x && item->b.y == b.y && item->b.z == b.z);
}

static rbBodyId addBody(rbWorld* world, rbBodyType type, rbVec3 place, rbGeometry* geometry)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = place;
    rbBodyId id = rbCreateBody(world, &def, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    if (type != RB_BODY_STATIC) {
        shape.transform.p = rbMakeVec3(0.25, 0.0, 0.0);
        shape.transform.q = (rbQuat){0.6, 0.8, 0.0, 0.0};
    }
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, NULL)));
    return id;
}

// Bodies of every kind at the start, a hinge and a spring.
static rbWorld* makeGallery(void)
{
    static const rbVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0.5}};
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    (void)addBody(world, RB_BODY_STATIC, rbMakeVec3(0.0, 0.0, -9.0),
                  rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    rbGeometry* geometries[] = {
        rbCreateBox(rbMakeVec3(0.5, 0.25, 0.125), NULL),
        rbCreateSphere(0.5, NULL),
        rbCreateCapsule(0.25, 0.5, NULL),
        rbCreateCylinder(0.5, 1.0, NULL),
        rbCreateCone(0.5, 1.0, NULL),
        rbCreateHull(corners, 5, NULL),
        rbCreateEllipsoid(rbMakeVec3(0.5, 0.25, 0.75), NULL),
    };
    rbBodyId ids[7];
    for (int i = 0; i < 7; ++i) {
        ids[i] = addBody(world, i == 3 ? RB_BODY_KINEMATIC : RB_BODY_DYNAMIC,
                         rbMakeVec3(3.0 * i, 0.5, 0.25 * i), geometries[i]);
    }
    rbJointDef hinge = rbDefaultJointDef();
    hinge.type = RB_JOINT_HINGE;
    hinge.bodyA = ids[0];
    hinge.bodyB = ids[1];
    rbJointDef_SetAnchor(&hinge, world, rbMakeVec3(1.5, 0.0, 0.5));
    rbJointDef_SetAxis(&hinge, world, rbMakeVec3(0.0, 1.0, 0.0));
    assert_false(RB_IS_NULL(rbCreateJoint(world, &hinge, NULL)));
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = ids[4];
    spring.bodyB = ids[5];
    spring.anchorA.x = 0.25;
    spring.stiffness = 10.0;
    assert_false(RB_IS_NULL(rbCreateSpring(world, &spring, NULL)));
    return world;
}

// Every line and point of bodies, in each of the ways to draw them.
static void bodiesAreDrawnLineByLine(void** state)
{
    (void)state;
    static const struct {
        int count;
        uint64_t hash;
    } golden[] = {{561, 0x8694a382b5f40a28u},
                  {84, 0x3264016043d82385u},
                  {24, 0xeed892ce107c8885u},
                  {2517, 0xc8408cfad4aa693cu}};
    rbWorld* world = makeGallery();
    int differences = 0;
    for (int k = 0; k < 4; ++k) {
        rbDebugDraw draw = startPicture();
        draw.enableShapes = k == 0 || k == 3;
        draw.enableBounds = k == 1;
        draw.enableCenters = k == 2;
        draw.deviation = k == 3 ? 0.01 : draw.deviation;
        draw.planeHalfSize = k == 3 ? 2.5 : draw.planeHalfSize;
        draw.axisLength = k == 2 ? 0.5 : draw.axisLength;
        assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
        uint64_t hash = RB_HASH_SEED;
        for (int i = 0; i < picture.count; ++i) {
            const Item* item = &picture.items[i];
            const double numbers[] = {item->a.x, item->a.y, item->a.z,   item->b.x,
                                      item->b.y, item->b.z, item->color, item->isPoint};
            hash = rbHashDoubles(hash, numbers, 8);
        }
        if (hash != golden[k].hash || picture.count != golden[k].count) {
            print_error("picture %d: %d items, hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64
                        "u\n",
                        k, picture.count, hash, golden[k].hash);
            differences += 1;
        }
    }
    rbDebugDraw draw = startPicture();
    draw.enableShapes = draw.enableBounds = draw.enableCenters = true;
    draw.drawLine = NULL;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    assert_int_equal(picture.count, 6); // the centers of what has mass
    draw.drawPoint = NULL;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    assert_int_equal(picture.count, 6);
    rbDestroyWorld(world);
    assert_int_equal(differences, 0);
}

static void linksAreDrawnAtTheirAnchors(void** state)
{
    (void)state;
    rbWorld* world = makeGallery();
    assert_int_equal(rbWorld_Advance(world, 0.05).status, RB_STATUS_OK);
    rbDebugDraw draw = startPicture();
    draw.enableJoints = true;
    draw.axisLength = 0.75;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    rbJointState hinge = rbJoint_GetState(world, (rbJointId){1, 1});
    rbSpringState spring = rbSpring_GetState(world, (rbSpringId){1, 1});
    assert_int_equal(picture.count, 5);
    checkItem(0, hinge.pointA, hinge.pointA, 0x3fdfdf, true);
    checkItem(1, hinge.pointB, hinge.pointB, 0x3fdfdf, true);
    checkItem(2, hinge.pointA, hinge.pointB, 0x3fdfdf, false);
    checkItem(3, rbAddScaled(hinge.pointA, -0.75, hinge.axis),
              rbAddScaled(hinge.pointA, 0.75, hinge.axis), 0x3fdfdf, false);
    checkItem(4, spring.pointA, spring.pointB, 0xdfdf3f, false);
    rbDestroyWorld(world);
}

static void contactsAreDrawnWithTheirForces(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    rbWorld* world = rbCreateWorld(&def, NULL);
    rbBodyId ground = addBody(world, RB_BODY_STATIC, RB_VEC3_ZERO,
                              rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    rbBodyId ball =
        addBody(world, RB_BODY_DYNAMIC, rbMakeVec3(0.0, 0.0, 0.5), rbCreateSphere(0.5, NULL));
    assert_false(RB_IS_NULL(ground) || RB_IS_NULL(ball));
    assert_int_equal(rbWorld_Advance(world, 3.0).status, RB_STATUS_OK);
    rbContactView views[8];
    int count = rbWorld_GetContacts(world, views, 8);
    assert_in_range(count, 1, 8);
    for (int pass = 0; pass < 2; ++pass) {
        rbDebugDraw draw = startPicture();
        draw.enableContacts = true;
        draw.forceScale = pass == 0 ? 0.0 : 0.125;
        draw.axisLength = 0.25;
        assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
        assert_int_equal(picture.count, (2 + pass) * count);
        for (int i = 0; i < count; ++i) {
            int first = (2 + pass) * i;
            rbVec3 p = views[i].point;
            checkItem(first, p, p, 0xff5f00, true);
            checkItem(first + 1, p, rbAddScaled(p, 0.25, views[i].normal), 0xffffff, false);
            if (pass == 1) {
                checkItem(first + 2, p, rbAddScaled(p, 0.125, views[i].force), 0xff00ff, false);
            }
        }
    }
    // a body at rest is gray, a static one is not
    rbDebugDraw draw = startPicture();
    draw.enableShapes = true;
    uint32_t expected = rbBody_IsResting(world, ball) ? 0x9f9f9f : 0xdfaf6f;
    assert_int_equal(rbWorld_Draw(world, &draw, NULL), RB_STATUS_OK);
    assert_int_equal(picture.items[0].color, 0x7f9f7f);
    assert_int_equal(picture.items[picture.count - 1].color, expected);
    rbDestroyWorld(world);
}

static void sensesOfDrawingAreChecked(void** state)
{
    (void)state;
    static const double bad[] = {0.0, -1.0, NAN};
    rbWorld* world = makeGallery();
    for (int member = 0; member < 4; ++member) {
        for (int k = member == 3 ? 1 : 0; k < 3; ++k) {
            rbError error = {0};
            rbDebugDraw draw = startPicture();
            double* const members[] = {&draw.deviation, &draw.planeHalfSize, &draw.axisLength,
                                       &draw.forceScale};
            *members[member] = bad[k];
            assert_int_equal(rbWorld_Draw(world, &draw, &error), RB_STATUS_INVALID);
            assert_non_null(strstr(error.message, "debug draw: deviation"));
            *members[member] = 0.5;
            assert_int_equal(rbWorld_Draw(world, &draw, &error), RB_STATUS_OK);
        }
    }
    rbDebugDraw fine = startPicture(); // more triangles than there may be
    fine.enableShapes = true;
    fine.deviation = 1e-12;
    assert_int_equal(rbWorld_Draw(world, &fine, NULL), RB_STATUS_LIMIT);
    rbDestroyWorld(world);
}

// --------------------------------------------------------------------------------------- many
// bodies

// The sums of 3000 bodies, which are made block by block, are those of each body alone.
static void sumsOfManyBodiesAreComplete(void** state)
{
    (void)state;
    enum {
        MANY = 3000
    };
    rbRandom random = {rbTest_Seed(33)};
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = rbMakeVec3(0.5, -0.25, -2.0);
    rbWorld* world = rbCreateWorld(&def, NULL);
    rbLedger sum = {0};
    for (int i = 0; i < MANY; ++i) {
        double mass = rbRandom_Range(&random, 0.5, 2.0);
        rbMassProperties properties = {.volume = 1.0, .mass = mass};
        properties.inertia = (rbSym3){0.4 * mass, 0.4 * mass, 0.4 * mass, 0.0, 0.0, 0.0};
        rbBodyDef body = rbDefaultBodyDef();
        rbVec3* const vectors[] = {&body.position, &body.linearVelocity, &body.angularVelocity};
        for (int k = 0; k < 3; ++k) {
            double x = rbRandom_Symmetric(&random), y = rbRandom_Symmetric(&random);
            *vectors[k] = rbMakeVec3(x, y, rbRandom_Symmetric(&random));
        }
        body.mass = &properties;
        assert_false(RB_IS_NULL(rbCreateBody(world, &body, NULL)));
        rbVec3 momentum = rbScale(mass, body.linearVelocity);
        rbVec3 spin = rbScale(0.4 * mass, body.angularVelocity);
        sum.mass += mass;
        sum.kineticLinear += 0.5 * mass * rbLengthSquared(body.linearVelocity);
        sum.kineticAngular += 0.2 * mass * rbLengthSquared(body.angularVelocity);
        sum.potential -= mass * rbDot(def.gravity, body.position);
        sum.momentum = rbAdd(sum.momentum, momentum);
        sum.spinMomentum = rbAdd(sum.spinMomentum, spin);
        sum.angularMomentum =
            rbAdd(sum.angularMomentum, rbAdd(spin, rbCross(body.position, momentum)));
        // what lifts it by its radius of gyration
        sum.energyScale += mass * sqrt(0.4) * rbLength(def.gravity);
    }
    rbLedger ledger = rbWorld_GetLedger(world);
    checkRelative(ledger.mass, sum.mass, 1e-12);
    checkRelative(ledger.kineticLinear, sum.kineticLinear, 1e-12);
    checkRelative(ledger.kineticAngular, sum.kineticAngular, 1e-12);
    checkNear(ledger.potential, sum.potential, 1e-10);
    checkRelative(ledger.energy, sum.kineticLinear + sum.kineticAngular + ledger.potential, 1e-12);
    sum.energyScale += sum.kineticLinear + sum.kineticAngular;
    checkRelative(ledger.energyScale, sum.energyScale, 1e-12);
    checkBelow(rbDistance(ledger.momentum, sum.momentum), 1e-10);
    checkBelow(rbDistance(ledger.spinMomentum, sum.spinMomentum), 1e-10);
    checkBelow(rbDistance(ledger.angularMomentum, sum.angularMomentum), 1e-10);
    assert_true(ledger.work == 0.0 && fabs(ledger.energyDrift) < 1e-9);
    rbDestroyWorld(world);
}

// -------------------------------------------------------------------------------------------
// levels

// A level lists what it sets, and sets it.
static void levelsSetWhatTheyList(void** state)
{
    (void)state;
    static const int counts[RB_ACCURACY_COUNT] = {
        [RB_ACCURACY_GAME] = 4, [RB_ACCURACY_ENGINEERING] = 0, [RB_ACCURACY_EXACT] = 7};
    static const char* const starts[RB_ACCURACY_COUNT] = {[RB_ACCURACY_GAME] = "a bounded amount",
                                                          [RB_ACCURACY_ENGINEERING] = "gaps, slips",
                                                          [RB_ACCURACY_EXACT] = "the step size"};
    rbWorldDef plain = rbDefaultWorldDef();
    for (int level = 0; level < RB_ACCURACY_COUNT; ++level) {
        rbAccuracy accuracy = (rbAccuracy)level;
        const char *promise = rbAccuracy_GetPromise(accuracy), *object = NULL, *key = NULL;
        assert_ptr_equal(strstr(promise, starts[level]), promise);
        rbWorldDef def = rbDefaultWorldDef();
        rbWorldDef_SetAccuracy(&def, RB_ACCURACY_GAME); // leaves nothing behind
        rbWorldDef_SetAccuracy(&def, accuracy);
        assert_int_equal(def.step.accuracy, accuracy);
        double value = 0.0;
        int count = 0;
        for (; rbAccuracy_GetDefault(accuracy, count, &object, &key, &value); ++count) {
            bool isStep = strcmp(object, "step") == 0;
            assert_true(isStep || strcmp(object, "contact") == 0);
            const rbSettingList* list = isStep ? &rbStepSettingList : &rbContactSettingList;
            const rbSetting* setting = rbSettingList_Find(list, key);
            assert_non_null(setting);
            const void* own = isStep ? (const void*)&def.step : (const void*)&def.contact;
            void* usual = isStep ? (void*)&plain.step : (void*)&plain.contact;
            assert_true(rbSetting_GetNumber(setting, own) == value);
            assert_true(rbSetting_GetNumber(setting, usual) != value);
            // all others are as usual
            double kept = rbSetting_GetNumber(setting, usual);
            rbSetting_SetNumber(setting, isStep ? (void*)&def.step : (void*)&def.contact, kept);
        }
        assert_int_equal(count, counts[level]);
        assert_false(rbAccuracy_GetDefault(accuracy, 8, &object, &key, &value));
        assert_false(rbAccuracy_GetDefault(accuracy, 100, &object, &key, &value));
        def.step.accuracy = plain.step.accuracy;
        const rbSettingList* lists[] = {&rbStepSettingList, &rbContactSettingList};
        for (int k = 0; k < 2; ++k) {
            const void* own = k == 0 ? (const void*)&def.step : (const void*)&def.contact;
            for (int i = 0; i < lists[k]->count; ++i) {
                const rbSetting* s = &lists[k]->rows[i];
                assert_true(s->storage == RB_STORAGE_VECTOR ||
                            rbSetting_GetNumber(s, own) ==
                                rbSetting_GetNumber(s, lists[k]->defaults));
            }
        }
    }
}

static void motorsThatAreNotThereSayNothing(void** state)
{
    (void)state;
    rbWorld* world = makeGallery();
    const rbJointId ids[] = {{1, 1}, {1, 3}, {2, 1}, {0, 0}};
    for (int i = 0; i < 4; ++i) {
        for (int freedom = 0; freedom < RB_JOINT_FREEDOMS_MAX; ++freedom) {
            rbMotorValidation v = rbJoint_ValidateMotor(world, ids[i], freedom);
            assert_int_equal(v.type, RB_MOTOR_NONE);
            assert_true(isinf(v.mass) && isinf(v.gainMax) && isinf(v.stepMax));
            assert_true(v.growth == 0.0 && v.gain == 0.0);
        }
    }
    rbDestroyWorld(world);
}

RB_TEST_GROUP(test_world_pictures, cmocka_unit_test(bodiesAreDrawnLineByLine),
              cmocka_unit_test(linksAreDrawnAtTheirAnchors),
              cmocka_unit_test(contactsAreDrawnWithTheirForces),
              cmocka_unit_test(sensesOfDrawingAreChecked),
              cmocka_unit_test(sumsOfManyBodiesAreComplete),
              cmocka_unit_test(levelsSetWhatTheyList),
              cmocka_unit_test(motorsThatAreNotThereSayNothing));
