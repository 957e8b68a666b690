// What joints and springs have in common: the bodies at their ends, names, energy.
#include "world/world_engine.h"
#include "world/world_joint.h"

#include <stdio.h>
#include <string.h>

static const char* const typeNames[RB_BODY_TYPE_COUNT] = {
    [RB_BODY_STATIC] = "static", [RB_BODY_KINEMATIC] = "kinematic", [RB_BODY_DYNAMIC] = "dynamic"};

static bool isDynamic(const rbWorld* world, int index)
{
    return index >= 0 && world->bodies.data[index].type == RB_BODY_DYNAMIC;
}

static const char* typeOf(const rbWorld* world, int index)
{
    return index < 0 ? "static" : typeNames[world->bodies.data[index].type];
}

const char* rbWorld_NameOfLink(int index, const void* context)
{
    const rbWorld* world = context;
    return index % 2 == 0 ? world->joints.data[index / 2]->name
                          : world->springs.data[index / 2]->name;
}

// The functions that find joints and springs, which differ only in their arrays and in whether the
// index of a name is even (0) or odd (1).
#define DEFINE_FINDERS(Link, link, isOdd)                                                         \
    rb##Link##Id rbWorld_##Link##IdOf(const rbWorld* world, int index)                            \
    {                                                                                             \
        bool isAlive =                                                                            \
            index >= 0 && index < world->link##s.count && world->link##s.data[index] != NULL;     \
        uint32_t generation = isAlive ? world->link##Ids.generations.data[index] : 0;             \
        return (rb##Link##Id){isAlive ? (uint32_t)index + 1u : 0, generation};                    \
    }                                                                                             \
    bool rb##Link##_IsValid(const rbWorld* world, rb##Link##Id link##Id)                          \
    {                                                                                             \
        return rbIdPool_IsAlive(&world->link##Ids, link##Id.index1, link##Id.generation);         \
    }                                                                                             \
    int rbWorld_Get##Link##Ids(const rbWorld* world, rb##Link##Id* ids, int capacity)             \
    {                                                                                             \
        int count = 0;                                                                            \
        for (int i = 0; i < world->link##s.count && count < capacity; ++i) {                      \
            if (world->link##s.data[i] != NULL) {                                                 \
                ids[count++] = rbWorld_##Link##IdOf(world, i);                                    \
            }                                                                                     \
        }                                                                                         \
        return count;                                                                             \
    }                                                                                             \
    rb##Link##Id rbWorld_Find##Link(const rbWorld* world, const char* name)                       \
    {                                                                                             \
        int index = rbNameTable_Find(&world->linkNames, name, rbWorld_NameOfLink, world);         \
        return rbWorld_##Link##IdOf(world, index % 2 == (isOdd) ? index / 2 : -1);                \
    }                                                                                             \
    const char* rbWorld_Label##Link(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]) \
    {                                                                                             \
        RB_ASSERT(world->link##s.data[index] != NULL);                                            \
        return rbChooseLabel(world->link##s.data[index]->name, #link, index, text);               \
    }
DEFINE_FINDERS(Joint, joint, 0)
DEFINE_FINDERS(Spring, spring, 1)

static rbStatus validateName(const rbWorld* world, const rbLink* link, rbError* error)
{
    const char* name = link->name;
    RB_REFUSE_IF(strlen(name) >= RB_NAME_CAPACITY, RB_STATUS_LIMIT, error,
                 "the name \"%.40s...\" of a %s has %zu bytes; the limit is %d", name, link->what,
                 strlen(name), RB_NAME_CAPACITY - 1);
    int other = rbNameTable_Find(&world->linkNames, name, rbWorld_NameOfLink, world);
    RB_INVALID_IF(other >= 0, error,
                  "%s \"%s\": a %s of this name already exists; give each its own name", link->what,
                  name, other % 2 == 0 ? "joint" : "spring");
    return RB_STATUS_OK;
}

rbStatus rbWorld_ValidateLink(const rbWorld* world, rbLink* link, int* indexA, int* indexB,
                              rbError* error)
{
    if (link->name == NULL || link->name[0] == '\0') {
        link->name = "(without a name)";
    } else if (validateName(world, link, error) != RB_STATUS_OK) {
        return error->status;
    }
    const rbBodyId ids[2] = {link->bodyA, link->bodyB};
    int indices[2];
    for (int i = 0; i < 2; ++i) {
        indices[i] = (int)ids[i].index1 - 1;
        RB_INVALID_IF(!RB_IS_NULL(ids[i]) && !rbBody_IsValid(world, ids[i]), error,
                      "%s \"%s\": its body %s does not exist or was destroyed; make the body "
                      "first, or use the null id for the world",
                      link->what, link->name, i == 0 ? "A" : "B");
    }
    int a = indices[0], b = indices[1];
    RB_INVALID_IF(a == b, error,
                  "%s \"%s\" joins \"%s\" to itself; give it two bodies, or a body and the world",
                  link->what, link->name, RB_LABEL_BODY(world, a));
    RB_INVALID_IF(!isDynamic(world, a) && !isDynamic(world, b), error,
                  "%s \"%s\" joins \"%s\" (%s) and \"%s\" (%s), and can move neither; one of them "
                  "must be a dynamic body",
                  link->what, link->name, RB_LABEL_BODY(world, a), typeOf(world, a),
                  RB_LABEL_BODY(world, b), typeOf(world, b));
    for (int i = 0; i < 2; ++i) {
        RB_INVALID_IF(isDynamic(world, indices[i]) && !world->bodies.data[indices[i]].hasMass,
                      error,
                      "%s \"%s\": the dynamic body \"%s\" has no mass yet; give it a shape or a "
                      "mass before its joints",
                      link->what, link->name, RB_LABEL_BODY(world, indices[i]));
    }
    *indexA = a;
    *indexB = b;
    return RB_STATUS_OK;
}

const char* rbChooseLabel(const char* name, const char* what, int index,
                          char text[RB_NAME_CAPACITY])
{
    (void)snprintf(text, RB_NAME_CAPACITY, "%s %d", what, index);
    return name[0] != '\0' ? name : text;
}

rbTransform rbWorld_GetFrame(const rbWorld* world, int index)
{
    return index < 0 ? RB_TRANSFORM_IDENTITY
                     : rbWorld_PublicState(world, index, &world->states.data[index]).transform;
}

rbRowPose rbWorld_GetRowPose(const rbWorld* world, int index)
{
    rbRowPose pose = {.orientation = {1.0, 0.0, 0.0, 0.0}};
    if (index >= 0) {
        pose.position = world->states.data[index].position;
        pose.orientation = world->states.data[index].orientation;
    }
    pose.rotation = rbMatFromQuat(pose.orientation);
    return pose;
}

rbVec3 rbWorld_ToPrincipal(const rbWorld* world, int index, rbVec3 anchor)
{
    return index < 0 ? anchor : rbInvTransformPoint(world->principals.data[index], anchor);
}

static void getVelocities(const rbWorld* world, int index, rbVec3* linear, rbVec3* angular)
{
    const rbMotionState* state = index >= 0 ? &world->states.data[index] : NULL;
    *linear = state != NULL ? state->velocity : RB_VEC3_ZERO;
    *angular = state != NULL ? rbRotate(state->orientation, state->spin) : RB_VEC3_ZERO;
}

double rbWorld_GetRowRate(const rbWorld* world, int indexA, int indexB, const rbRow* row)
{
    rbVec3 vA, wA, vB, wB;
    getVelocities(world, indexA, &vA, &wA);
    getVelocities(world, indexB, &vB, &wB);
    return rbDot(row->linear, rbSub(vB, vA)) + rbDot(row->angularB, wB) - rbDot(row->angularA, wA);
}

double rbWorld_GetElasticEnergy(const rbWorld* world, int index)
{
    double sum = 0.0;
    if (world->elasticCount == 0) {
        return sum;
    }
    for (int i = 0; i < world->springs.count; ++i) {
        const rbSpring* spring = world->springs.data[i];
        if (spring != NULL && (index < 0 || spring->bodyA == index || spring->bodyB == index)) {
            sum += rbSpring_GetEnergy(world, spring);
        }
    }
    for (int i = 0; i < world->joints.count; ++i) {
        const rbJoint* joint = world->joints.data[i];
        if (joint != NULL && (index < 0 || joint->bodyA == index || joint->bodyB == index)) {
            sum += rbWorld_GetJointEnergy(world, i);
        }
    }
    return sum;
}
