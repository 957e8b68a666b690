// The laws of restitution as rows: each turns "when does the impact end" into a goal.
//
// Where u_z falls below zero again during restitution (friction can cause this in three dimensions)
// the bodies compress again. Poisson's and Stronge's law then sum over all compression and all
// restitution phases.
#include "dynamics/impact/impact_path.h"
#include "dynamics/impact/impact_words.h"

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
    [RB_IMPACT_NEWTON] = {"newton", setNewtonGoal},
    [RB_IMPACT_POISSON] = {"poisson", setPoissonGoal},
    [RB_IMPACT_STRONGE] = {"stronge", setStrongeGoal},
};

const rbImpactLawRow* rbGetImpactLaw(rbImpactLaw law)
{
    RB_ASSERT((int)law >= 0);
    RB_ASSERT(law < RB_IMPACT_LAW_COUNT);
    return &rows[law];
}

RB_DEFINE_WORDS(rbImpactLaw, "law of impact", RB_IMPACT_LAW_COUNT, rows[index].name)
