// Words of the choices of impacts.
#pragma once

#include "base/core/words.h"

#include <rattleback/impact.h>

RB_DECLARE_WORDS(rbImpactLaw);
RB_DECLARE_WORDS(rbImpactOrder);
RB_DECLARE_WORDS(rbCombineRule);
RB_DECLARE_WORDS(rbRestitutionLaw);
