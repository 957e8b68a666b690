// Vectors, joints and states of Box3D. Its quaternions are a vector and a scalar; hinges turn about
// z of their frames.
#pragma once

#include "peer_joints.h"

#include <box3d/box3d.h>
#include <cmath>

inline float narrow(double value)
{
    return static_cast<float>(value);
}

inline b3Vec3 toBox3d(const double v[3])
{
    return {narrow(v[0]), narrow(v[1]), narrow(v[2])};
}

inline b3Quat toBox3d(const rbPeerPose& pose)
{
    const double* q = pose.quaternion;
    return {{narrow(q[1]), narrow(q[2]), narrow(q[3])}, narrow(q[0])};
}

// No sleep, a single thread, everything else as shipped.
inline b3WorldId makeBox3dWorld(const double gravity[3])
{
    b3WorldDef def = b3DefaultWorldDef();
    def.gravity = toBox3d(gravity);
    def.enableSleep = false;
    def.workerCount = 1;
    return b3CreateWorld(&def);
}

inline b3BodyId makeBox3dBody(b3WorldId world, const rbPeerPose& pose, bool isMoving)
{
    b3BodyDef def = b3DefaultBodyDef();
    def.type = isMoving ? b3_dynamicBody : b3_staticBody;
    def.position = toBox3d(pose.position);
    def.rotation = toBox3d(pose);
    def.enableSleep = false;
    return b3CreateBody(world, &def);
}

// The mass replaces that of the shapes, so this comes after them.
inline void setBox3dMotion(b3BodyId body, double mass, const double moments[3],
                           const double velocity[3], const double angularVelocity[3])
{
    b3MassData data = {};
    data.mass = narrow(mass);
    data.inertia.cx = {narrow(moments[0]), 0.0F, 0.0F};
    data.inertia.cy = {0.0F, narrow(moments[1]), 0.0F};
    data.inertia.cz = {0.0F, 0.0F, narrow(moments[2])};
    b3Body_SetMassData(body, data);
    b3Body_SetLinearVelocity(body, toBox3d(velocity));
    b3Body_SetAngularVelocity(body, toBox3d(angularVelocity));
}

// Turns z into the axis, by the shortest way. In both frames of a joint this leaves a constant
// angle between them, which a hinge does not mind.
inline b3Quat turnFromZ(const double axis[3])
{
    if (axis[2] < -1.0 + 1e-12) {
        return {{1.0F, 0.0F, 0.0F}, 0.0F};
    }
    double w = std::sqrt(0.5 * (1.0 + axis[2]));
    double scale = 0.5 / w;
    return {{narrow(-scale * axis[1]), narrow(scale * axis[0]), 0.0F}, narrow(w)};
}

inline void addBox3dJoint(b3WorldId world, b3BodyId a, b3BodyId b, const rbPeerJoint& from)
{
    b3Transform frameA = {toBox3d(from.anchorA), turnFromZ(from.axisA)};
    b3Transform frameB = {toBox3d(from.anchorB), turnFromZ(from.axisB)};
    auto setBase = [&](b3JointDef& base) {
        base.bodyIdA = a;
        base.bodyIdB = b;
        base.localFrameA = frameA;
        base.localFrameB = frameB;
        base.collideConnected = false;
    };
    if (from.isHinge) {
        b3RevoluteJointDef def = b3DefaultRevoluteJointDef();
        setBase(def.base);
        b3CreateRevoluteJoint(world, &def);
    } else {
        b3SphericalJointDef def = b3DefaultSphericalJointDef();
        frameA.q = frameB.q = b3Quat_identity;
        setBase(def.base);
        b3CreateSphericalJoint(world, &def);
    }
}

inline void readBox3dBody(b3BodyId body, rbPeerBodyState& to)
{
    b3WorldTransform pose = b3Body_GetTransform(body);
    b3Vec3 v = b3Body_GetLinearVelocity(body);
    b3Vec3 w = b3Body_GetAngularVelocity(body);
    to = {{{pose.p.x, pose.p.y, pose.p.z}, {pose.q.s, pose.q.v.x, pose.q.v.y, pose.q.v.z}},
          {v.x, v.y, v.z},
          {w.x, w.y, w.z}};
}
