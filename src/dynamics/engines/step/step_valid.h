// Whether the result of a stage of a step is what the next stage relies on: for debug checks.
// Values that are not finite pass, since a run that overflows is reported, not asserted.
#pragma once

#include "dynamics/engines/step/step_contact_state.h"

// Contacts: bodies, points and tangents belong together.
bool rbStepValid_IsSet(const rbStepContacts* c);
// Impulses never pull. Cones are measured: step_measure.h.
bool rbStepValid_AreImpulses(const rbStepContacts* c);
// Bodies as contacts see them: masses are those of the engine, frozen and fixed bodies get nothing.
bool rbStepValid_AreBodies(const rbStepContacts* c);
// Islands share no body and no contact.
bool rbStepValid_AreIslands(const rbStepContacts* c);
// Flights and arrivals of a step of size h.
bool rbStepValid_IsFlight(const rbStepContacts* c, double h);
// Sums of the energy accounting are of the signs that their causes have.
bool rbStepValid_AreAccounts(const rbStepContacts* c);
// A mechanism: blocks cover its rows, orientations are unit, limits are kept.
bool rbStepValid_IsMechanism(const rbStepMechanism* mechanism);
