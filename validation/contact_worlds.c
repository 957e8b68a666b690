#include "contact_worlds.h"

#include <math.h>

// ------------------------------------------------------------------------------------------ parts

rbWorldDef rbPileWorldDef(double step)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.step = step;
    return def;
}

rbPile rbMakePile(const rbWorldDef* def)
{
    rbPile pile = {.step = def->step.step, .shell = def->contact.shell};
    pile.world = rbCreateWorld(def, &pile.error);
    return pile;
}

void rbPile_Free(rbPile* pile)
{
    rbDestroyWorld(pile->world);
    pile->world = NULL;
}

// Mass, center and inertia of a homogeneous geometry with a given mass.
static rbMassProperties spreadMass(const rbGeometry* geometry, double mass, rbError* error)
{
    rbMassProperties properties = {0};
    if (rbGeometry_GetMass(geometry, 1.0, &properties, error) == RB_STATUS_OK) {
        (void)rbGeometry_GetMass(geometry, mass / properties.volume, &properties, error);
    }
    return properties;
}

int rbPile_Add(rbPile* pile, const rbPilePlan* plan)
{
    if (pile->error.status != RB_STATUS_OK || plan->geometry == NULL) {
        rbDestroyGeometry(plan->geometry);
        return -1;
    }
    RB_ASSERT(pile->count < RB_PILE_BODIES_MAX);
    rbMassProperties mass = {0};
    rbBodyDef def = rbDefaultBodyDef();
    bool isTurned = rbDotQuat(plan->orientation, plan->orientation) > 0.0;
    def.type = plan->isStatic ? RB_BODY_STATIC : RB_BODY_DYNAMIC;
    def.position = plan->position;
    def.orientation = isTurned ? plan->orientation : RB_QUAT_IDENTITY;
    def.linearVelocity = plan->velocity;
    def.angularVelocity = plan->spin;
    if (plan->mass > 0.0) {
        mass = spreadMass(plan->geometry, plan->mass, &pile->error);
        def.mass = &mass;
    }
    rbBodyId body = rbCreateBody(pile->world, &def, &pile->error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(pile->world, plan->geometry);
    shape.material.friction = plan->friction;
    shape.material.restitution = plan->restitution;
    shape.material.kind = plan->kind;
    if (pile->error.status == RB_STATUS_OK) {
        (void)rbCreateShape(pile->world, body, &shape, &pile->error);
    }
    pile->bodies[pile->count] = body;
    return pile->count++;
}

rbQuat rbGetSlopeTurn(double angle)
{
    return (rbQuat){cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0};
}

rbVec3 rbGetSlopePlace(double angle, double x, double y, double height)
{
    return rbRotate(rbGetSlopeTurn(angle), rbMakeVec3(x, y, height));
}

int rbPile_AddSlope(rbPile* pile, double angle, double friction, double restitution)
{
    rbVec3 normal = {sin(angle), 0.0, cos(angle)};
    rbPilePlan plan = {.geometry = rbCreatePlane(normal, 0.0, &pile->error),
                       .isStatic = true,
                       .friction = friction,
                       .restitution = restitution};
    return rbPile_Add(pile, &plan);
}

int rbPile_AddBox(rbPile* pile, rbVec3 halfExtents, rbVec3 footing, double friction, double mass)
{
    rbPilePlan plan = {.geometry = rbCreateBox(halfExtents, &pile->error),
                       .mass = mass,
                       .position = footing,
                       .friction = friction};
    plan.position.z += halfExtents.z;
    return rbPile_Add(pile, &plan);
}

bool rbPile_Advance(rbPile* pile, int64_t k)
{
    if (pile->error.status == RB_STATUS_OK) {
        rbStatus status = rbWorld_AdvanceTo(pile->world, rbGetStepTime(k, pile->step)).status;
        if (status == RB_STATUS_NUMERICAL) {
            pile->unmet += 1;
        } else if (status != RB_STATUS_OK) {
            pile->error = rbWorld_GetError(pile->world);
            pile->error.status = status;
        }
    }
    return pile->error.status == RB_STATUS_OK;
}

rbBodyState rbPile_GetState(const rbPile* pile, int index)
{
    rbBodyState none = {.transform = RB_TRANSFORM_IDENTITY};
    return pile->error.status == RB_STATUS_OK ? rbBody_GetState(pile->world, pile->bodies[index])
                                              : none;
}

void rbPile_NoteStart(rbPile* pile)
{
    for (int i = 0; i < pile->count && pile->error.status == RB_STATUS_OK; ++i) {
        rbBodyState state = rbPile_GetState(pile, i);
        pile->starts[i] = state.center;
        pile->turns[i] = state.transform.q;
    }
}

double rbPile_GetDisplacement(const rbPile* pile, double radius)
{
    double worst = pile->error.status == RB_STATUS_OK ? 0.0 : NAN;
    for (int i = 0; i < pile->count; ++i) {
        if (rbBody_GetType(pile->world, pile->bodies[i]) == RB_BODY_DYNAMIC) {
            rbBodyState s = rbPile_GetState(pile, i);
            rbQuat d = rbMulQuat(rbConjugate(pile->turns[i]), s.transform.q);
            double turn = 2.0 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z); // chord, small angles
            double way = rbDistance(s.center, pile->starts[i]) + turn * radius;
            worst = isnan(way) || way > worst ? way : worst;
        }
    }
    return worst;
}

double rbPile_GetSpeed(const rbPile* pile, double radius)
{
    double worst = pile->error.status == RB_STATUS_OK ? 0.0 : NAN;
    for (int i = 0; i < pile->count; ++i) {
        rbBodyState s = rbPile_GetState(pile, i);
        double speed = fmax(rbLength(s.linearVelocity), radius * rbLength(s.angularVelocity));
        worst = isnan(speed) || speed > worst ? speed : worst;
    }
    return worst;
}

// ------------------------------------------------------------------------------------------ piles

static const rbVec3 halfMeter = {0.5, 0.5, 0.5};

rbPile rbMakeColumn(const rbWorldDef* def, int height)
{
    rbPile pile = rbMakePile(def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.5, 0.0);
    for (int i = 0; i < height; ++i) {
        rbVec3 footing = {0.0, 0.0, (double)i + (double)(i + 1) * pile.shell};
        (void)rbPile_AddBox(&pile, halfMeter, footing, 0.5, 0.0);
    }
    return pile;
}

rbPile rbMakePyramid(const rbWorldDef* def, int rows)
{
    rbPile pile = rbMakePile(def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.5, 0.0);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows - i; ++j) {
            double x = (j - 0.5 * (rows - i - 1)) * 1.05;
            rbVec3 footing = {x, 0.0, (double)i + (double)(i + 1) * pile.shell};
            (void)rbPile_AddBox(&pile, halfMeter, footing, 0.5, 0.0);
        }
    }
    return pile;
}

rbPile rbMakeSlopeBlock(const rbWorldDef* def, double angle, double friction)
{
    rbPile pile = rbMakePile(def);
    (void)rbPile_AddSlope(&pile, angle, friction, 0.0);
    rbPilePlan plan = {.geometry = rbCreateBox(halfMeter, &pile.error),
                       .mass = 1.0,
                       .position = rbGetSlopePlace(angle, 0.0, 0.0, 0.5 + pile.shell),
                       .orientation = rbGetSlopeTurn(angle),
                       .friction = friction};
    (void)rbPile_Add(&pile, &plan);
    return pile;
}

#define ARCH_INNER 4.0 // m
#define ARCH_OUTER 5.0 // m: a fifth of the outer radius; a half ring stands with at least a tenth
#define ARCH_HALF_WIDTH 0.5

rbPile rbMakeArch(const rbWorldDef* def, int stones, double friction)
{
    rbPile pile = rbMakePile(def);
    (void)rbPile_AddSlope(&pile, 0.0, friction, 0.0);
    double part = RB_PI / stones;
    for (int i = 0; i < stones; ++i) {
        // Both joints of a stone, moved inward by half the shell; at the ground by the whole shell.
        rbVec3 corners[8];
        int count = 0;
        for (int side = 0; side < 2; ++side) {
            double angle = (i + side) * part;
            bool isFooting = i + side == 0 || i + side == stones;
            double inset = (isFooting ? 1.0 : 0.5) * pile.shell * (side == 0 ? 1.0 : -1.0);
            rbVec3 along = {cos(angle), 0.0, sin(angle)};
            rbVec3 into = {-sin(angle), 0.0, cos(angle)};
            for (int k = 0; k < 4; ++k) {
                double radius = k % 2 == 0 ? ARCH_INNER : ARCH_OUTER;
                rbVec3 corner = rbAddScaled(rbScale(radius, along), inset, into);
                corner.y = k / 2 == 0 ? -ARCH_HALF_WIDTH : ARCH_HALF_WIDTH;
                corners[count++] = corner;
            }
        }
        rbPilePlan plan = {.geometry = rbCreateHull(corners, count, &pile.error),
                           .friction = friction};
        (void)rbPile_Add(&pile, &plan);
    }
    return pile;
}

// A card leaning in the x-z plane by an angle from upright, its lowest edge at a height, its top
// toward +x (side 1) or -x (side -1), its top edge at half the shell from x.
typedef struct CardPlan {
    rbVec3 half; // m
    double tilt; // rad
    double friction;
    double mass;
} CardPlan;

static double getCardHeight(const CardPlan* card)
{
    return 2.0 * (card->half.x * sin(card->tilt) + card->half.z * cos(card->tilt));
}

static void addLeaning(rbPile* pile, const CardPlan* card, double x, double height, double side)
{
    double reach = card->half.x * cos(card->tilt) + card->half.z * sin(card->tilt);
    rbPilePlan plan = {
        .geometry = rbCreateBox(card->half, &pile->error),
        .mass = card->mass,
        .position = {x - side * (reach + 0.5 * pile->shell), 0.0,
                     height + 0.5 * getCardHeight(card)},
        .orientation = {cos(0.5 * card->tilt), 0.0, side * sin(0.5 * card->tilt), 0.0},
        .friction = card->friction};
    (void)rbPile_Add(pile, &plan);
}

#define STOREYS 3

rbPile rbMakeCardHouse(const rbWorldDef* def, double friction)
{
    rbPile pile = rbMakePile(def);
    CardPlan card = {.half = {0.15e-3, 31.5e-3, 44e-3},
                     .tilt = RB_PI / 12.0,
                     .friction = friction,
                     .mass = 1.8e-3};
    double spread = 2.0 * (card.half.x * cos(card.tilt) + card.half.z * sin(card.tilt));
    double spacing = 2.0 * spread + 4e-3; // of the pairs
    double height = pile.shell;
    (void)rbPile_AddSlope(&pile, 0.0, friction, 0.0);
    for (int storey = 0; storey < STOREYS; ++storey) {
        int pairs = STOREYS - storey;
        for (int i = 0; i < pairs; ++i) {
            double x = (i - 0.5 * (pairs - 1)) * spacing;
            addLeaning(&pile, &card, x, height, 1.0);
            addLeaning(&pile, &card, x, height, -1.0);
        }
        height += getCardHeight(&card) + pile.shell;
        if (pairs > 1) {
            double half = 0.5 * (pairs - 1) * spacing + 10e-3;
            rbVec3 extents = {half, card.half.y, card.half.x};
            rbVec3 footing = {0.0, 0.0, height};
            (void)rbPile_AddBox(&pile, extents, footing, friction, card.mass * half / card.half.z);
            height += 2.0 * card.half.x + pile.shell;
        }
    }
    return pile;
}

rbPile rbMakeHeavyOnLight(const rbWorldDef* def, double heavy, double light)
{
    rbPile pile = rbMakePile(def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.5, 0.0);
    for (int i = 0; i < 2; ++i) {
        rbVec3 footing = {0.0, 0.0, (double)i + (double)(i + 1) * pile.shell};
        (void)rbPile_AddBox(&pile, halfMeter, footing, 0.5, i == 0 ? light : heavy);
    }
    return pile;
}

rbPile rbMakeCradle(const rbWorldDef* def, int raised, double angle)
{
    rbPile pile = rbMakePile(def);
    for (int i = 0; i < RB_CRADLE_BALLS; ++i) {
        rbVec3 pivot = {i * (2.0 + pile.shell), 0.0, RB_CRADLE_ROD};
        double tilt = i < raised ? angle : 0.0;
        rbVec3 rod = {-RB_CRADLE_ROD * sin(tilt), 0.0, -RB_CRADLE_ROD * cos(tilt)};
        rbPilePlan plan = {.geometry = rbCreateSphere(1.0, &pile.error),
                           .mass = 1.0,
                           .position = rbAdd(pivot, rod),
                           .restitution = 1.0};
        int ball = rbPile_Add(&pile, &plan);
        if (pile.error.status == RB_STATUS_OK) {
            rbJointDef joint = rbDefaultJointDef();
            joint.type = RB_JOINT_HINGE;
            joint.bodyB = pile.bodies[ball];
            rbJointDef_SetAnchor(&joint, pile.world, pivot);
            rbJointDef_SetAxis(&joint, pile.world, rbMakeVec3(0.0, 1.0, 0.0));
            (void)rbCreateJoint(pile.world, &joint, &pile.error);
        }
    }
    return pile;
}
