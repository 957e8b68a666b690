// Springs of a world.
#include "world/world_engine.h"
#include "world/world_joint.h"

#include <math.h>
#include <stdio.h>

void rbInitSpringDef(rbSpringDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_SPRING, sizeof *def, abi, size)) {
        def->restLength = -1.0;
    }
}

static const rbSpring* getSpring(const rbWorld* world, rbSpringId springId)
{
    RB_ASSERT(rbIdPool_IsAlive(&world->springIds, springId.index1, springId.generation));
    return world->springs.data[springId.index1 - 1];
}

static rbStatus validateNumbers(const rbSpringDef* def, const char* name, rbError* error)
{
    double squares = rbLengthSquared(def->anchorA) + rbLengthSquared(def->anchorB);
    RB_INVALID_IF(!isfinite(squares), error,
                  "spring \"%s\": its anchors (%g, %g, %g) and (%g, %g, %g) m must be finite", name,
                  def->anchorA.x, def->anchorA.y, def->anchorA.z, def->anchorB.x, def->anchorB.y,
                  def->anchorB.z);
    RB_INVALID_IF(
        !isfinite((1.0 + fabs(def->stiffness)) * (squares + def->restLength * def->restLength)),
        error,
        "spring \"%s\": the rest length %g m and the energy of the spring must be finite; a "
        "negative length means the present distance",
        name, def->restLength);
    bool isFine = isfinite(def->stiffness) && def->stiffness >= 0.0 && isfinite(def->damping) &&
                  def->damping >= 0.0;
    RB_INVALID_IF(
        !isFine, error,
        "spring \"%s\": stiffness %g N/m and damping %g N s/m must be finite and not negative",
        name, def->stiffness, def->damping);
    RB_INVALID_IF(def->stiffness == 0.0 && def->damping == 0.0, error,
                  "spring \"%s\" has neither stiffness nor damping; give it one of them", name);
    return RB_STATUS_OK;
}

static double lengthOf(const rbWorld* world, const rbSpring* spring)
{
    rbRowPose poseA = rbWorld_GetRowPose(world, spring->bodyA);
    rbRowPose poseB = rbWorld_GetRowPose(world, spring->bodyB);
    double length;
    rbSpringModel_Errors(&spring->model, &poseA, &poseB, &length);
    return length;
}

double rbSpring_GetEnergy(const rbWorld* world, const rbSpring* spring)
{
    double stretch = lengthOf(world, spring) - spring->def.restLength;
    return 0.5 * spring->def.stiffness * stretch * stretch;
}

void rbSpring_Remake(const rbWorld* world, rbSpring* spring)
{
    spring->model.pointA = rbWorld_ToPrincipal(world, spring->bodyA, spring->def.anchorA);
    spring->model.pointB = rbWorld_ToPrincipal(world, spring->bodyB, spring->def.anchorB);
}

static rbStatus validateSpring(const rbWorld* world, const rbSpringDef* def, int* bodyA, int* bodyB,
                               rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_SPRING, error));
    rbLink link = {"spring", def->name, def->bodyA, def->bodyB};
    RB_TRY(rbWorld_ValidateLink(world, &link, bodyA, bodyB, error));
    return validateNumbers(def, link.name, error);
}

rbSpringId rbCreateSpring(rbWorld* world, const rbSpringDef* def, rbError* error)
{
    RB_ENTER(world);
    rbError reason = {0};
    int bodyA, bodyB;
    if (validateSpring(world, def, &bodyA, &bodyB, &reason) != RB_STATUS_OK) {
        rbWorld_LogRefusal(world, "a spring", &reason, error);
        return (rbSpringId){0, 0};
    }
    rbWorld_NoteChange(world);
    rbSpring* spring = rbAllocZero(1, sizeof *spring);
    spring->def = *def;
    spring->bodyA = bodyA;
    spring->bodyB = bodyB;
    if (def->name != NULL) {
        (void)snprintf(spring->name, sizeof spring->name, "%s", def->name);
    }
    spring->def.name = spring->name;
    rbSpring_Remake(world, spring);
    if (def->restLength < 0.0) {
        spring->def.restLength = lengthOf(world, spring);
    }
    int index = rbIdPool_Take(&world->springIds);
    rbArray_Put(world->springs, index, spring); // NOLINT(bugprone-sizeof-expression)
    rbNameTable_Insert(&world->linkNames, spring->name, 2 * index + 1);
    world->springCount += 1;
    world->elasticCount += 1;
    world->energyReference += rbSpring_GetEnergy(world, spring);
    return rbWorld_SpringIdOf(world, index);
}

void rbWorld_DestroySpringAt(rbWorld* world, int index)
{
    rbSpring* spring = world->springs.data[index];
    RB_ASSERT(spring != NULL);
    rbWorld_NoteChange(world);
    // Its energy leaves the accounting with it.
    world->energyReference -= rbSpring_GetEnergy(world, spring);
    rbNameTable_Remove(&world->linkNames, spring->name, 2 * index + 1);
    world->springs.data[index] = NULL;
    if (rbWorld_GetStepEngine(world) != NULL) {
        rbStepEngine_SetSpring(world->engine, index, NULL); // another spring may take its slot
    }
    world->springCount -= 1;
    world->elasticCount -= 1;
    rbIdPool_Release(&world->springIds, index);
    rbFree(spring, sizeof *spring);
}

void rbDestroySpring(rbWorld* world, rbSpringId springId)
{
    RB_ENTER(world);
    RB_ASSERT(rbSpring_IsValid(world, springId));
    rbWorld_DestroySpringAt(world, (int)springId.index1 - 1);
}

#define DEFINE_GETTER(type, name, member)                                     \
    RB_DEFINE_GETTER(type, name, (const rbWorld* world, rbSpringId springId), \
                     getSpring(world, springId)->member)
DEFINE_GETTER(const char*, rbSpring_GetName, name)
DEFINE_GETTER(rbBodyId, rbSpring_GetBodyA, def.bodyA)
DEFINE_GETTER(rbBodyId, rbSpring_GetBodyB, def.bodyB)
DEFINE_GETTER(rbSpringDef, rbSpring_GetDef, def)

rbStatus rbSpring_SetLaw(rbWorld* world, rbSpringId springId, double stiffness, double damping,
                         double restLength, rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(rbSpring_IsValid(world, springId));
    int index = (int)springId.index1 - 1;
    rbSpring* spring = world->springs.data[index];
    rbSpringDef def = spring->def;
    def.stiffness = stiffness;
    def.damping = damping;
    def.restLength = restLength;
    RB_TRY(validateNumbers(&def, RB_LABEL_SPRING(world, index), error));
    rbWorld_NoteChange(world);
    world->energyReference -= rbSpring_GetEnergy(world, spring);
    def.restLength = restLength < 0.0 ? lengthOf(world, spring) : restLength;
    spring->def = def;
    world->energyReference += rbSpring_GetEnergy(world, spring);
    return RB_STATUS_OK;
}

rbSpringState rbSpring_GetState(const rbWorld* world, rbSpringId springId)
{
    const rbSpring* spring = getSpring(world, springId);
    rbRowPose poseA = rbWorld_GetRowPose(world, spring->bodyA);
    rbRowPose poseB = rbWorld_GetRowPose(world, spring->bodyB);
    rbRow row;
    rbSpringState state = {0};
    rbSpringModel_Rows(&spring->model, &poseA, &poseB, &row);
    rbSpringModel_Errors(&spring->model, &poseA, &poseB, &state.length);
    state.pointA = rbAdd(poseA.position, rbMulMV(poseA.rotation, spring->model.pointA));
    state.pointB = rbAdd(poseB.position, rbMulMV(poseB.rotation, spring->model.pointB));
    state.speed = rbWorld_GetRowRate(world, spring->bodyA, spring->bodyB, &row);
    state.energy = rbSpring_GetEnergy(world, spring);
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    if (engine != NULL) {
        state.force = rbStepEngine_GetSpringForce(engine, (int)springId.index1 - 1);
    } else {
        // No step yet: use the law of the spring itself.
        state.force = spring->def.stiffness * (state.length - spring->def.restLength) +
                      spring->def.damping * state.speed;
    }
    return state;
}
