// Limits of joints in the step engine (B-82): a stop is a contact without friction between the two
// bodies of the joint, behind the contacts of shapes in the set of a node.
//
// For an angle it is as if small bodies on levers, fixed to both bodies, met at the stop: a lever
// of length R along d from the axis x, normal x x d, gap R times the remaining angle. For travel
// the normal is the axis and the gap the remaining distance. Gaps are those of the coordinate
// itself, so R does not change the effect of a stop, only how fast sweeps with joints converge. The
// best choice is the center of percussion, where the joint does not feel the impact.
#pragma once

#include "dynamics/engines/step/step_state.h"

// A contact of the set that is a stop.
typedef struct rbLimitContact {
    int joint;
    int freedom;
    bool isUpper;
    double scale; // m of gap per unit of the coordinate
} rbLimitContact;

// Stops near enough to act in a step from the current poses, behind the contacts of shapes.
void rbStepLimits_Append(rbStepContacts* c);
// The same stops again, behind another set of contacts of shapes, from the copies of the node.
void rbStepLimits_PutBack(rbStepContacts* contacts);
// Stores the impulses of all contacts: of shapes in the pairs, of stops in the joints.
void rbStepLimits_Keep(rbStepContacts* c);
// The stops of the node: they depend on velocities that the step changed after it found them.
void rbStepLimits_Move(rbStepContacts* c, rbByteStream* stream);
// The joint that is farthest outside its limits at the start.
rbStartLimit rbStepLimits_Validate(const rbStepContacts* c);
