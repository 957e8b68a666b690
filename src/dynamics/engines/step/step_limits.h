// Limits of joints in the step engine (B-82): a stop is a contact without friction between the two
// bodies of the joint, behind the contacts of shapes in the set of a node.
//
// For an angle it is as if small bodies on levers, fixed to both bodies, met at the stop: a lever
// of length R along d from the axis x, normal x x d, gap R times the angle left. For travel the
// normal is the axis and the gap the way left. Gaps are those of the coordinate itself, so R does
// not change what a stop does, only how fast sweeps with joints converge: best is a blow that the
// joint does not feel, at the center of percussion.
#ifndef RB_ENGINES_STEP_LIMITS_H
#define RB_ENGINES_STEP_LIMITS_H

#include "dynamics/engines/step/step_state.h"

// A contact of the set that is a stop.
typedef struct rbLimitContact {
    int joint;
    int freedom;
    bool isUpper;
    double scale; // m of gap for a unit of the coordinate
} rbLimitContact;

// Stops near enough to act in a step from the present poses, behind the contacts of shapes.
void rbStepLimits_Append(rbStepEngine* engine);
// The same stops again, behind another set of contacts of shapes, from the copies of the node.
void rbStepLimits_PutBack(rbStepContacts* contacts);
// Remembers the impulses of all contacts: of shapes by the pairs, of stops by the joints.
void rbStepLimits_Keep(rbStepEngine* engine);
// The joint that is furthest outside of its limits at the start.
rbStartLimit rbStepLimits_Judge(const rbStepEngine* engine);
// The position that a limit bounds, at poses; turns are counted from the last node.
double rbStepLimits_GetPosition(const rbStepJointSlot* slot, int freedom, const rbRowPose* poseA,
                                const rbRowPose* poseB);

#endif
