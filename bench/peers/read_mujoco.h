// Reads the states of MuJoCo bodies.
#pragma once

#include "peer_joints.h"

#include <cstddef>
#include <mujoco/mujoco.h>
#include <vector>

// After a step the poses are those at its start, so they are computed again.
inline void readMujocoBodies(const mjModel* model, mjData* data, const std::vector<int>& ids,
                             rbPeerBodyState* states)
{
    mj_kinematics(model, data);
    mj_comPos(model, data);
    mj_comVel(model, data);
    for (size_t i = 0; i < ids.size(); ++i) {
        int id = ids[i];
        mju_copy3(states[i].pose.position, data->xpos + static_cast<ptrdiff_t>(3) * id);
        mju_copy4(states[i].pose.quaternion, data->xquat + static_cast<ptrdiff_t>(4) * id);
        mjtNum velocity[6];
        mj_objectVelocity(model, data, mjOBJ_XBODY, id, velocity, 0);
        mju_copy3(states[i].angularVelocity, velocity);
        mju_copy3(states[i].velocity, velocity + 3);
    }
}
