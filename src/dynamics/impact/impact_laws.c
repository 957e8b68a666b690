// The laws of restitution as rows: each turns "when does the impact end" into a goal.
//
// With friction Newton's law may raise the energy: it asks for a velocity, whatever it costs.
// Poisson's and Stronge's may not, for one contact.
//
// Where u_z falls below zero again during restitution (friction can cause this in three dimensions)
// the bodies compress again. Poisson's and Stronge's law then sum over all compression and all
// restitution phases.
#include "dynamics/impact/impact_path.h"
#include "dynamics/impact/impact_words.h"

#include <math.h>

static void setNewtonGoal(rbImpactPath* path)
{
    path->quantity = RB_QUANTITY_VELOCITY;
    path->goal = path->e * path->startSpeed;
}

static void setPoissonGoal(rbImpactPath* path)
{
    path->quantity = RB_QUANTITY_IMPULSE;
    path->goal =
        path->modeImpulse + (path->e * path->compressionImpulse - path->restitutionImpulse);
}

static void setStrongeGoal(rbImpactPath* path)
{
    path->quantity = RB_QUANTITY_WORK;
    path->goal = -(path->e * path->e) * path->compressionWork - path->restitutionWork;
}

static const rbImpactLawRow rows[RB_IMPACT_LAW_COUNT] = {
    [RB_IMPACT_NEWTON] = {"newton", setNewtonGoal, .mayGain = true, .isOfVelocity = true},
    [RB_IMPACT_POISSON] = {.name = "poisson", .setGoal = setPoissonGoal},
    [RB_IMPACT_STRONGE] = {"stronge", setStrongeGoal, .isOfWork = true},
};

const rbImpactLawRow* rbGetImpactLaw(rbImpactLaw law)
{
    RB_ASSERT((int)law >= 0);
    RB_ASSERT(law < RB_IMPACT_LAW_COUNT);
    return &rows[law];
}

double rbImpactLaw_GetTarget(rbImpactLaw law, double restitution, double speed)
{
    return rbGetImpactLaw(law)->isOfVelocity && speed < 0.0 ? -restitution * speed : 0.0;
}

double rbImpactLaw_GetShare(rbImpactLaw law, double restitution)
{
    return rbGetImpactLaw(law)->isOfVelocity ? 0.0 : restitution;
}

double rbImpactLaw_GetReturn(rbImpactLaw law, double restitution, double work)
{
    return rbGetImpactLaw(law)->isOfWork ? restitution * restitution * fmax(0.0, -work) : INFINITY;
}

RB_DEFINE_WORDS(rbImpactLaw, "law of impact", RB_IMPACT_LAW_COUNT, rows[index].name)
