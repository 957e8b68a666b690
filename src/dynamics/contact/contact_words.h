// Words of the choices of contacts.
#pragma once

#include "base/core/words.h"

#include <rattleback/contact.h>

RB_DECLARE_WORDS(rbFrictionCone);
RB_DECLARE_WORDS(rbContactTime);
// Of bodies that overlap at the start: false and true.
RB_DECLARE_WORDS(rbOverlap);
