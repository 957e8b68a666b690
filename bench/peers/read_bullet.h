// Reads the state of a Bullet body.
#pragma once

#include "peer_joints.h"

#include <btBulletDynamicsCommon.h>

inline void readBulletBody(const btRigidBody& body, rbPeerBodyState& to)
{
    const btVector3& position = body.getWorldTransform().getOrigin();
    btQuaternion q = body.getWorldTransform().getRotation();
    for (int k = 0; k < 3; ++k) {
        to.pose.position[k] = position[k];
        to.velocity[k] = body.getLinearVelocity()[k];
        to.angularVelocity[k] = body.getAngularVelocity()[k];
    }
    to.pose.quaternion[0] = q.w();
    to.pose.quaternion[1] = q.x();
    to.pose.quaternion[2] = q.y();
    to.pose.quaternion[3] = q.z();
}
