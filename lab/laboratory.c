// Registers all rows that the laboratory adds to the tables of the core.
#include "lab/broadphase/broad_rows.h"
#include "lab/contact/joint_reaction.h"
#include "lab/contact/penalty_step.h"
#include "lab/convex/pair_rows.h"
#include "lab/events/lab_event_rows.h"
#include "lab/joints/classical.h"

#include <rattleback/lab.h>

rbStatus rbRegisterLaboratory(rbError* error)
{
    static bool isRegistered = false;
    static rbStatus (*const registrations[])(rbError*) = {
        rbRegisterLabPairMethods,   rbRegisterLabBroadPhases, rbRegisterLabEventRows,
        rbRegisterClassicalMethods, rbRegisterCutSolver,      rbRegisterPenaltyContact,
        rbRegisterJointReaction,
    };
    if (isRegistered) {
        return RB_STATUS_OK;
    }
    rbStatus status = RB_STATUS_OK;
    for (size_t i = 0; status == RB_STATUS_OK && i < sizeof registrations / sizeof registrations[0];
         ++i) {
        status = registrations[i](error);
    }
    isRegistered = status == RB_STATUS_OK;
    return status;
}
