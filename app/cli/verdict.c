#include "cli/verdict.h"

#include "cli/tally_contacts.h"
#include "cli/tally_steps.h"

rbVerdict rbTally_Judge(const rbTally* tally, const rbWorld* world)
{
    rbVerdict verdict = {.exit = RB_EXIT_NUMERICAL};
    bool isLeft = rbHasOverlapLeft(tally, world) || rbIsEnergyMissed(tally, world);
    if (tally->ending.status != RB_STATUS_OK) {
        bool isLimit = tally->ending.status == RB_STATUS_LIMIT;
        verdict.exit = isLimit ? RB_EXIT_NUMERICAL : RB_EXIT_USAGE;
        (void)snprintf(verdict.text, sizeof verdict.text, "%s", tally->ending.message);
    } else if (tally->isBroken) {
        (void)snprintf(verdict.text, sizeof verdict.text,
                       "the state is no longer finite at t = %g s; check for a body that reaches a "
                       "singularity of a force",
                       rbWorld_GetTime(world));
    } else if ((tally->isMissed || isLeft) && tally->info->engineTraits.isStepped) {
        rbDescribeMiss(tally, world, verdict.text, sizeof verdict.text);
    } else if (!RB_IS_NULL(tally->failedBody)) {
        (void)snprintf(verdict.text, sizeof verdict.text,
                       "body \"%s\" missed the tolerance %g before t = %g s; use a larger "
                       "tolerance (--set motion.tolerance=...) or a shorter run",
                       rbBody_IsValid(world, tally->failedBody)
                           ? rbBody_GetName(world, tally->failedBody)
                           : "(gone)",
                       tally->info->motion.tolerance, tally->failedTime);
    } else {
        verdict.exit = RB_EXIT_DONE;
    }
    return verdict;
}
