// Reads the state of an ODE body.
#pragma once

#include "peer_joints.h"

#include <ode/ode.h>

inline void readOdeBody(dBodyID body, rbPeerBodyState& to)
{
    for (int k = 0; k < 3; ++k) {
        to.pose.position[k] = dBodyGetPosition(body)[k];
        to.velocity[k] = dBodyGetLinearVel(body)[k];
        to.angularVelocity[k] = dBodyGetAngularVel(body)[k];
    }
    for (int k = 0; k < 4; ++k) {
        to.pose.quaternion[k] = dBodyGetQuaternion(body)[k];
    }
}
