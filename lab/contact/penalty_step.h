// Penalty contact as a row of the step engine's table of contact methods.
#pragma once

#include <rattleback/base.h>

rbStatus rbRegisterPenaltyContact(rbError* error);
