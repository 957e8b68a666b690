// Penalty contact as a row of the step engine's table of contact methods.
#ifndef RB_LAB_PENALTY_STEP_H
#define RB_LAB_PENALTY_STEP_H

#include <rattleback/base.h>

rbStatus rbRegisterPenaltyContact(rbError* error);

#endif
