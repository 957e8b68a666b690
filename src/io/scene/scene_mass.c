// Mass, center and inertia of a body: given, scaled to a given mass, or from shapes and densities.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>

// Sum over the shapes of a body.
static rbStatus sumShapes(const rbScene* scene, rbReader* reader, const rbSceneBody* body,
                          rbMassProperties* sum)
{
    RB_ASSERT(body->firstShape + body->shapeCount <= scene->shapes.count);
    *sum = (rbMassProperties){0};
    for (int i = 0; i < body->shapeCount; ++i) {
        const rbSceneShape* shape = &scene->shapes.data[body->firstShape + i];
        const rbGeometry* geometry = scene->geometries.data[shape->geometry].geometry;
        if (shape->isSensor) {
            continue;
        }
        rbMassProperties own;
        rbStatus status =
            rbGeometry_GetMass(geometry, shape->material.density, &own, reader->error);
        if (status != RB_STATUS_OK) {
            rbReader_Push(reader, "shapes");
            rbReader_PushIndex(reader, (size_t)i);
            return rbReader_Adopt(reader, RB_STATUS_INVALID, NULL);
        }
        rbMassProperties moved = rbMassProperties_Transform(&own, shape->transform);
        *sum = rbMassProperties_Add(sum, &moved);
    }
    return RB_STATUS_OK;
}

static bool areAllSolid(const rbScene* scene, const rbSceneBody* body)
{
    int count = 0;
    for (int i = 0; i < body->shapeCount; ++i) {
        const rbSceneShape* shape = &scene->shapes.data[body->firstShape + i];
        const rbGeometry* geometry = scene->geometries.data[shape->geometry].geometry;
        if (shape->isSensor) {
            continue;
        }
        if (!rbGeometry_IsSolid(geometry) || !rbGeometry_IsBounded(geometry)) {
            return false;
        }
        count += 1;
    }
    return count > 0;
}

// [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], about the center of mass.
static rbStatus readInertia(rbReader* reader, const json_t* array, rbSym3* inertia)
{
    RB_ASSERT(json_is_array(array));
    double v[6] = {0.0};
    size_t count = json_array_size(array) == 6 ? 6 : 3;
    rbReader_Push(reader, "inertia");
    rbStatus status = rbReadNumbers(reader, array, v, count, 1e50);
    if (status == RB_STATUS_OK) {
        *inertia = (rbSym3){v[0], v[1], v[2], v[3], v[4], v[5]};
        rbReader_Pop(reader);
    }
    return status;
}

static rbStatus judge(rbReader* reader, const rbMassProperties* mass, const char* key)
{
    RB_ASSERT(key != NULL);
    rbStatus status = rbMassProperties_Validate(mass, reader->error);
    if (status != RB_STATUS_OK) {
        rbReader_Push(reader, key);
        return rbReader_Adopt(reader, RB_STATUS_INVALID, NULL);
    }
    return RB_STATUS_OK;
}

static rbStatus readExplicit(const rbScene* scene, rbReader* reader, const rbGivenMass* given,
                             rbSceneBody* body)
{
    RB_ASSERT(given->inertia != NULL);
    if (!given->hasMass) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"inertia\" is given without \"mass\"; give both or neither");
    }
    rbMassProperties mass = {.mass = given->mass, .center = given->center};
    rbStatus status = readInertia(reader, given->inertia, &mass.inertia);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (areAllSolid(scene, body)) {
        rbMassProperties sum;
        status = sumShapes(scene, reader, body, &sum);
        if (status != RB_STATUS_OK) {
            return status;
        }
        mass.volume = sum.volume;
        mass.center = given->hasCenter ? given->center : sum.center;
    }
    body->hasMass = true;
    body->mass = mass;
    return judge(reader, &mass, "inertia");
}

rbStatus rbReadMass(const rbScene* scene, rbReader* reader, const rbGivenMass* given,
                    rbSceneBody* body)
{
    RB_ASSERT(body->type < RB_BODY_TYPE_COUNT);
    if (given->inertia != NULL) {
        return readExplicit(scene, reader, given, body);
    }
    if (given->hasCenter) {
        return rbReader_Fail(
            reader, RB_STATUS_INVALID,
            "\"center\" is given without \"inertia\"; give \"mass\", \"center\" and "
            "\"inertia\", or let the shapes determine the center");
    }
    if (body->type != RB_BODY_DYNAMIC) {
        return RB_STATUS_OK;
    }
    if (body->shapeCount == 0) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a dynamic body without shapes needs \"mass\" and \"inertia\"");
    }
    rbMassProperties sum;
    rbStatus status = sumShapes(scene, reader, body, &sum);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (given->hasMass) {
        // The density is scaled to match the given mass.
        double factor = given->mass / sum.mass;
        rbSym3 i = sum.inertia;
        sum.mass = given->mass;
        sum.inertia = (rbSym3){factor * i.xx, factor * i.yy, factor * i.zz,
                               factor * i.xy, factor * i.xz, factor * i.yz};
        body->hasMass = true;
        body->mass = sum;
        for (int s = 0; s < body->shapeCount; ++s) {
            scene->shapes.data[body->firstShape + s].material.density *= factor;
        }
    }
    return judge(reader, &sum, given->hasMass ? "mass" : "shapes");
}
