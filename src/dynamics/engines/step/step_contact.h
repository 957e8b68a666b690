// Contacts in the step engine: all bodies with shapes in common steps.
//
// A step from t to t + h, with the contacts of the node at t:
//   half of the forces; impulses that keep gaps from closing by t + h, keep sticking points where
//   they stuck, and make joints hold (position stage); free flight; half of the forces; contacts
//   found at the new poses; points that approach too fast collide; impulses that stop approach,
//   sticking points and relative motion of joints (velocity stage).
// Bodies that arrive at a surface within the step are stopped there and keep their speed: they
// collide at t + h, late by less than h, and the forces act on them only until they arrive.
#pragma once

#include "base/core/byte_stream.h"
#include "dynamics/engines/step/step_state.h"

void rbDestroyStepContacts(rbStepContacts* contacts); // NULL is fine
// False: there are only stops of joints.
bool rbStepContacts_HasShapes(const rbStepContacts* contacts);

// Copies bodies of the host into the arrays and builds mechanisms. Finds the contacts of the start
// and checks overlaps.
void rbStepContacts_Start(rbStepContacts* c, const rbStepHost* host, double time,
                          rbStartOverlap* overlap);
// Steps up to a time and writes the states of all bodies.
rbStatus rbStepContacts_Advance(rbStepContacts* c, const rbStepHost* host, double time,
                                double* reached);
// The joint that is farthest outside its limits at the start; NULL: there are no contacts.
rbStartLimit rbStepLimits_Validate(const rbStepContacts* c);
// A body was changed from outside at a time: the grid restarts there.
void rbStepContacts_Touch(rbStepContacts* c, const rbStepHost* host, int index, double time);

// The velocities that a mechanism continues with, once the result of borrowed ones is known.
void rbStepContacts_ReturnSpeeds(const rbStepContacts* c, rbStepMechanism* mechanism);
// Whether steps are made by small ones, which promise no tolerance.
bool rbStepContacts_AreQuick(const rbStepContacts* c);

// m, errors of steps so far, where their order is above 2.
double rbStepContacts_GetEstimate(const rbStepContacts* contacts);

// The part of contacts in a snapshot.
void rbStepContacts_Move(rbStepContacts* c, rbByteStream* stream);
void rbStepContacts_AddWork(const rbStepContacts* contacts, rbStepWork* work);
