// Words of the choices of impacts.
#ifndef RB_IMPACT_WORDS_H
#define RB_IMPACT_WORDS_H

#include "base/core/words.h"

#include <rattleback/impact.h>

RB_DECLARE_WORDS(rbImpactLaw);
RB_DECLARE_WORDS(rbImpactOrder);
RB_DECLARE_WORDS(rbCombineRule);

#endif
