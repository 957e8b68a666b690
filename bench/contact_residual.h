// How well impulses and velocities obey the laws of a velocity stage, measured on the result alone.
#pragma once

#include "dynamics/contact/contact.h"

typedef struct rbContactResidual {
    double normal;  // m/s: approach, or separation that an impulse could still take
    double tangent; // m/s: slip or turn of the impulse that friction could still take
    double cone;    // m/s: impulses outside of their cones, as the speed they make
    double balance; // m/s: velocities that are not those of the impulses
} rbContactResidual;

// starts: bodies before the stage, whose impulses were zero.
rbContactResidual rbMeasureContacts(const rbContactSet* set, const rbContactBody* starts,
                                    const rbContactBody* bodies, int bodyCount);
