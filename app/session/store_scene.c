// Descriptions: bodies, shapes, joints and everything else in the scene message, as JSON that the
// stream assembles.
#include "collision/geometry/shape_ops.h"
#include "io/scene/scene_look.h"
#include "render/view.h"
#include "session/setting_messages.h"
#include "session/store_state.h"
#include "world/world_settings.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

// Deviation of the triangles from a round surface, as a fraction of the radius: invisible on a
// screen.
#define DEVIATION 0.01
#define PLANE_HALF_SIZE 10.0 // m, of planes inside of compounds

static char* copyText(const rbMessage* message, size_t* size)
{
    *size = message->size;
    char* text = rbAlloc(message->size);
    memcpy(text, rbMessage_GetBytes(message), message->size);
    return text;
}

// ------------------------------------------------------------------------------------- geometries

// The parameters of a shape under their keys.
static void describeNumbers(rbMessage* message, const rbGeometry* geometry, const rbShapeOps* ops)
{
    double numbers[RB_PARAMETERS_MAX];
    (void)rbGeometry_GetNumbers(geometry, numbers);
    for (int i = 0; i < ops->parameterCount; ++i) {
        const rbParameter* parameter = &ops->parameters[i];
        const double* n = numbers + parameter->offset / sizeof(double);
        if (parameter->count == 3) {
            rbMessage_PutVec3(message, parameter->key, rbMakeVec3(n[0], n[1], n[2]));
        } else {
            rbMessage_PutNumber(message, parameter->key, n[0]);
        }
    }
}

static rbStatus writeMesh(const rbGeometry* geometry, int index, rbMessage* mesh, rbError* error)
{
    double radius = rbGeometry_IsBounded(geometry) ? rbGeometry_GetRadius(geometry, RB_VEC3_ZERO)
                                                   : PLANE_HALF_SIZE;
    rbTriangles triangles;
    rbStatus status =
        rbGeometry_Triangulate(geometry, DEVIATION * radius, PLANE_HALF_SIZE, &triangles, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbMessage_Word32(mesh, 5);
    rbMessage_Word32(mesh, (uint32_t)index);
    rbMessage_Word32(mesh, (uint32_t)triangles.vertexCount);
    rbMessage_Word32(mesh, (uint32_t)triangles.triangleCount);
    for (int i = 0; i < triangles.vertexCount; ++i) {
        rbMessage_FloatVec3(mesh, triangles.vertices[i]);
    }
    for (int i = 0; i < triangles.triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            rbMessage_Word32(mesh, (uint32_t)triangles.triangles[i][k]);
        }
    }
    rbFreeTriangles(&triangles);
    return RB_STATUS_OK;
}

// The index of a geometry, described when it is new; -1 and an error on failure.
static int findGeometry(rbStore* store, const rbGeometry* geometry, rbError* error)
{
    for (int i = store->geometries.count - 1; i >= 0; --i) {
        if (store->geometries.data[i].geometry == geometry) {
            return i;
        }
    }
    int index = store->geometries.count;
    rbStoredGeometry stored = {0};
    rbShapeType type = rbGeometry_GetType(geometry);
    rbMessage text = {.isText = true};
    const rbShapeOps* ops = rbGetShapeOps(type);
    rbMessage_Text(&text, "{");
    rbMessage_PutNumber(&text, "index", index);
    // drawn from its parameters; the others are sent as triangles
    bool isKnown = ops->parameters != NULL && ops->convex == NULL;
    rbMessage_PutString(&text, "type", isKnown ? ops->name : "mesh");
    if (isKnown) {
        describeNumbers(&text, geometry, ops);
    } else {
        rbMessage_PutString(&text, "of", ops->name);
        if (writeMesh(geometry, index, &stored.mesh, error) != RB_STATUS_OK) {
            rbMessage_Free(&text);
            return -1;
        }
    }
    rbMessage_Text(&text, "}");
    stored.json = copyText(&text, &stored.jsonSize);
    rbMessage_Free(&text);
    stored.geometry = rbGeometry_Retain(geometry);
    rbStore_Lock(store);
    rbArray_Push(store->geometries, stored);
    rbStore_Unlock(store);
    return index;
}

// ----------------------------------------------------------------------------------------- bodies

static const char* const typeNames[] = {
    [RB_BODY_STATIC] = "static",
    [RB_BODY_KINEMATIC] = "kinematic",
    [RB_BODY_DYNAMIC] = "dynamic",
};
_Static_assert(sizeof typeNames / sizeof typeNames[0] == RB_BODY_TYPE_COUNT, "a name for each");

static const char* nameMaterial(const rbScene* scene, const rbMaterial* material)
{
    const char* name = "";
    int index = rbScene_MatchMaterial(scene, material);
    if (index >= 0) {
        (void)rbScene_GetMaterial(scene, index, &name);
    }
    return name;
}

static rbStatus describeShapes(rbStore* store, const rbWorld* world, rbBodyId bodyId,
                               rbMessage* text, rbError* error)
{
    int count = rbBody_GetShapeCount(world, bodyId);
    rbMessage_Key(text, "shapes");
    rbMessage_Text(text, "[");
    for (int i = 0; i < count; ++i) {
        rbShapeDef def = rbBody_GetShape(world, bodyId, i);
        int geometry = findGeometry(store, rbWorld_GetGeometry(world, def.geometry), error);
        if (geometry < 0) {
            return RB_STATUS_LIMIT;
        }
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutNumber(text, "geometry", geometry);
        rbMessage_PutVec3(text, "position", def.transform.p);
        rbMessage_PutQuat(text, "orientation", def.transform.q);
        rbMessage_PutString(text, "material", nameMaterial(store->scene, &def.material));
        rbMessage_PutNumber(text, "friction", def.material.friction);
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
    return RB_STATUS_OK;
}

// What the scene says about it; pages choose the rest.
static void describeLook(const rbLook* look, rbMessage* text)
{
    if (look->color[0] != '\0') {
        rbMessage_PutString(text, "color", look->color);
    }
    if (look->hasOpacity) {
        rbMessage_PutNumber(text, "opacity", look->opacity);
    }
    if (look->hasRoughness) {
        rbMessage_PutNumber(text, "roughness", look->roughness);
    }
    if (look->texture != RB_TEXTURE_NONE) {
        rbMessage_Key(text, "texture");
        rbMessage_Text(text, "{");
        rbMessage_PutString(text, "type", rbTextureType_Name(look->texture));
        rbMessage_PutNumber(text, "size", look->textureSize);
        if (look->textureColor[0] != '\0') {
            rbMessage_PutString(text, "color", look->textureColor);
        }
        rbMessage_Text(text, "}");
    }
}

// What is drawn with the body besides its shapes.
static rbStatus describeVisuals(rbStore* store, const char* name, rbMessage* text, rbError* error)
{
    int count = rbScene_GetVisualCount(store->scene, name);
    if (count == 0) {
        return RB_STATUS_OK;
    }
    rbMessage_Key(text, "visuals");
    rbMessage_Text(text, "[");
    for (int i = 0; i < count; ++i) {
        rbVisual visual = rbScene_GetVisual(store->scene, name, i);
        int geometry = findGeometry(store, visual.geometry, error);
        if (geometry < 0) {
            return RB_STATUS_LIMIT;
        }
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutNumber(text, "geometry", geometry);
        rbMessage_PutVec3(text, "position", visual.transform.p);
        rbMessage_PutQuat(text, "orientation", visual.transform.q);
        describeLook(&visual.look, text);
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
    return RB_STATUS_OK;
}

rbStatus rbStore_DescribeBody(rbStore* store, const rbWorld* world, rbBodyId bodyId, int number,
                              rbStoredBody* body, rbError* error)
{
    const char* name = rbBody_GetName(world, bodyId);
    body->id = bodyId;
    body->type = rbBody_GetType(world, bodyId);
    body->mass = rbBody_GetMass(world, bodyId);
    (void)snprintf(body->name, sizeof body->name, "%s", name);
    rbMessage text = {.isText = true};
    rbMessage_Text(&text, "{");
    rbMessage_PutNumber(&text, "number", number);
    rbMessage_PutString(&text, "name", body->name);
    rbMessage_PutString(&text, "type", typeNames[body->type]);
    rbMessage_PutNumber(&text, "mass", body->mass.mass);
    rbMessage_PutVec3(&text, "center", body->mass.center);
    double growth = rbBody_GetGrowth(world, bodyId);
    if (growth != 0.0) {
        rbMessage_PutNumber(&text, "growth", growth);
    }
    rbLook look = rbScene_GetLook(store->scene, body->name);
    describeLook(&look, &text);
    const char* group = rbScene_GetViewGroup(store->scene, body->name);
    if (group != NULL) {
        rbMessage_PutString(&text, "viewGroup", group);
    }
    rbStatus status = describeShapes(store, world, bodyId, &text, error);
    if (status == RB_STATUS_OK) {
        status = describeVisuals(store, body->name, &text, error);
    }
    rbMessage_Text(&text, "}");
    if (status == RB_STATUS_OK) {
        body->json = copyText(&text, &body->jsonSize);
    }
    rbMessage_Free(&text);
    return status;
}

// ------------------------------------------------------------------------------ joints and springs

static void describeEnds(const rbStore* store, rbBodyId bodyA, rbBodyId bodyB, rbMessage* text)
{
    rbMessage_PutNumber(text, "bodyA", rbStore_FindBody(store, bodyA));
    rbMessage_PutNumber(text, "bodyB", rbStore_FindBody(store, bodyB));
}

// The anchor of a joint in the body's frame; for the world: in world coordinates.
static void describeAnchor(const rbWorld* world, rbBodyId bodyId, rbVec3 point, const char* key,
                           rbMessage* text)
{
    if (!RB_IS_NULL(bodyId)) {
        point = rbInvTransformPoint(rbBody_GetState(world, bodyId).transform, point);
    }
    rbMessage_PutVec3(text, key, point);
}

static void describeJoint(const rbStore* store, const rbWorld* world, int number, rbMessage* text)
{
    rbJointId id = store->joints.data[number].joint;
    rbJointState state = rbJoint_GetState(world, id);
    rbMessage_Text(text, "{");
    rbMessage_PutNumber(text, "number", number);
    rbMessage_PutString(text, "name", rbJoint_GetName(world, id));
    rbMessage_PutString(text, "type", rbJointType_Name(rbJoint_GetType(world, id)));
    describeEnds(store, rbJoint_GetBodyA(world, id), rbJoint_GetBodyB(world, id), text);
    describeAnchor(world, rbJoint_GetBodyA(world, id), state.pointA, "anchorA", text);
    describeAnchor(world, rbJoint_GetBodyB(world, id), state.pointB, "anchorB", text);
    rbMessage_Key(text, "freedoms");
    rbMessage_Text(text, "[");
    for (int i = 0; i < state.freedomCount; ++i) {
        rbFreedomDef freedom = rbJoint_GetFreedom(world, id, i);
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutString(text, "kind",
                            rbJoint_IsFreedomAngle(world, id, i) ? "angle" : "travel");
        rbMessage_PutBool(text, "hasMotor", freedom.motor.type != RB_MOTOR_NONE);
        rbMessage_PutString(text, "motor", rbMotorType_Name(freedom.motor.type));
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
    rbMessage_Key(text, "limits");
    rbMessage_Text(text, "[");
    for (int i = 0; i < state.limitCount; ++i) {
        rbLimitDef limit = rbJoint_GetLimit(world, id, i);
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutNumber(text, "lower", limit.lower); // infinite: null
        rbMessage_PutNumber(text, "upper", limit.upper);
        rbMessage_PutNumber(text, "restitution", limit.restitution);
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]}");
}

static void describeSpring(const rbStore* store, const rbWorld* world, int number, rbMessage* text)
{
    rbSpringId id = store->springs.data[number].spring;
    rbSpringDef def = rbSpring_GetDef(world, id);
    rbMessage_Text(text, "{");
    rbMessage_PutNumber(text, "number", number);
    rbMessage_PutString(text, "name", rbSpring_GetName(world, id));
    describeEnds(store, def.bodyA, def.bodyB, text);
    rbMessage_PutVec3(text, "anchorA", def.anchorA);
    rbMessage_PutVec3(text, "anchorB", def.anchorB);
    rbMessage_Text(text, "}");
}

// -------------------------------------------------------------------------------------- the scene

static void describeMaterials(const rbScene* scene, rbMessage* text)
{
    int count = rbScene_GetInfo(scene)->materialCount;
    rbMessage_Key(text, "materials");
    rbMessage_Text(text, "[");
    for (int i = 0; i < count; ++i) {
        const char* name = NULL;
        const rbMaterial* material = rbScene_GetMaterial(scene, i, &name);
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutString(text, "name", name);
        rbMessage_PutValues(text, &rbMaterialSettingList, material);
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
}

// Pairs of materials that have a friction of their own, as the scene gives them.
static void describeMaterialPairs(const rbScene* scene, rbMessage* text)
{
    size_t size = 0;
    const char* words = rbScene_GetText(scene, &size);
    json_t* root = json_loadb(words, size, 0, NULL);
    json_t* pairs = json_object_get(root, "materialPairs"); // NULL: none
    rbMessage_Key(text, "materialPairs");
    rbMessage_Text(text, "[");
    for (size_t i = 0; i < json_array_size(pairs); ++i) {
        json_t* pair = json_array_get(pairs, i);
        json_t* names = json_object_get(pair, "materials");
        json_t* friction = json_object_get(pair, "friction");
        if (json_array_size(names) != 2 || !json_is_number(friction)) {
            continue;
        }
        rbMessage_Comma(text);
        rbMessage_Text(text, "{");
        rbMessage_PutString(text, "a", json_string_value(json_array_get(names, 0)));
        rbMessage_PutString(text, "b", json_string_value(json_array_get(names, 1)));
        rbMessage_PutNumber(text, "friction", json_number_value(friction));
        rbMessage_Text(text, "}");
    }
    rbMessage_Text(text, "]");
    json_decref(root);
}

static void describeColumn(rbMessage* text, const rbStoreColumn* column)
{
    rbMessage_Comma(text);
    rbMessage_Text(text, "{");
    rbMessage_PutString(text, "name", column->name);
    rbMessage_PutString(text, "unit", column->unit);
    rbMessage_PutString(text, "group", column->group);
    rbMessage_Text(text, "}");
}

static void describeColumns(const rbScene* scene, rbMessage* text)
{
    rbMessage_Key(text, "columns");
    rbMessage_Text(text, "[");
    for (int i = 0; i < rbGetStoreColumnCount(); ++i) {
        rbStoreColumn column = rbGetStoreColumn(i);
        describeColumn(text, &column);
    }
    int count = 0;
    const rbProbeColumn* probes = rbScene_GetProbeColumns(scene, &count);
    for (int i = 0; i < count; ++i) {
        const rbStoreColumn column = {probes[i].name, probes[i].unit, "probe"};
        describeColumn(text, &column);
    }
    rbMessage_Text(text, "]");
}

static void describeHead(const rbScene* scene, const rbWorld* world, rbMessage* text)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    double step = info->engineTraits.isStepped ? info->step.step : 0.0;
    rbMessage_PutString(text, "name", info->name);
    rbMessage_PutString(text, "title", info->title);
    rbMessage_PutString(text, "theme", info->theme);
    rbMessage_PutString(text, "shows", info->shows);
    rbMessage_PutString(text, "why", info->why);
    rbMessage_PutString(text, "engine", info->engine);
    rbMessage_PutString(text, "detector", rbDetector_Name(info->event.detector));
    rbMessage_PutNumber(text, "duration", info->duration);
    rbMessage_PutNumber(text, "engineStep", step);
    rbMessage_PutVec3(text, "gravity", rbWorld_GetGravity(world));
    rbMessage_PutVec3(text, "periodicBox", info->periodicBox);
    rbView view;
    rbChooseView(world, scene, &view);
    rbMessage_Key(text, "view");
    rbMessage_Text(text, "{");
    rbMessage_PutVec3(text, "center", view.center);
    rbMessage_PutNumber(text, "radius", view.radius);
    rbMessage_PutVec3(text, "direction", view.direction);
    rbMessage_PutVec3(text, "up", view.up);
    rbMessage_PutNumber(text, "floor", view.floor); // none: null
    rbMessage_Text(text, "}");
}

// What panels need to know of the settings in "parameters".
static void describeSettings(rbMessage* text)
{
    rbMessage_Key(text, "settings");
    rbMessage_Text(text, "{");
    rbMessage_DescribeSettings(text, &rbWorldSettingList);
    rbMessage_DescribeSettings(text, &rbStepSettingList);
    rbMessage_DescribeSettings(text, &rbContactSettingList);
    rbMessage_Text(text, "}");
}

void rbStore_Describe(rbStore* store, const rbWorld* world)
{
    describeHead(store->scene, world, &store->head);
    rbMessage* tail = &store->tail;
    describeMaterials(store->scene, tail);
    describeMaterialPairs(store->scene, tail);
    rbMessage_Key(tail, "joints");
    rbMessage_Text(tail, "[");
    for (int i = 0; i < store->joints.count; ++i) {
        rbMessage_Comma(tail);
        describeJoint(store, world, i, tail);
    }
    rbMessage_Text(tail, "]");
    rbMessage_Key(tail, "springs");
    rbMessage_Text(tail, "[");
    for (int i = 0; i < store->springs.count; ++i) {
        rbMessage_Comma(tail);
        describeSpring(store, world, i, tail);
    }
    rbMessage_Text(tail, "]");
    describeColumns(store->scene, tail);
    describeSettings(tail);
}
