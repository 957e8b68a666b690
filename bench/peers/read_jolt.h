// The world, joints and states of Jolt, of which a process has the factory of types only once.
#pragma once

#include "peer_joints.h"

// clang-format off: its first header comes first
#include <Jolt/Jolt.h>
// clang-format on
#include <Jolt/Core/Factory.h>
#include <Jolt/Core/JobSystemSingleThreaded.h>
#include <Jolt/Core/TempAllocator.h>
#include <Jolt/Physics/Body/BodyCreationSettings.h>
#include <Jolt/Physics/Constraints/HingeConstraint.h>
#include <Jolt/Physics/Constraints/PointConstraint.h>
#include <Jolt/Physics/PhysicsSystem.h>
#include <Jolt/RegisterTypes.h>
#include <algorithm>
#include <vector>

inline float narrow(double value)
{
    return static_cast<float>(value);
}

inline JPH::Vec3 toJolt(const double v[3])
{
    return {narrow(v[0]), narrow(v[1]), narrow(v[2])};
}

inline JPH::Quat toJolt(const rbPeerPose& pose)
{
    const double* q = pose.quaternion;
    return JPH::Quat(narrow(q[1]), narrow(q[2]), narrow(q[3]), narrow(q[0])).Normalized();
}

inline bool startJolt()
{
    JPH::RegisterDefaultAllocator();
    JPH::Factory::sInstance = new JPH::Factory();
    JPH::RegisterTypes();
    return true;
}

enum JoltLayer : JPH::ObjectLayer {
    joltStatic,
    joltMoving,
    joltGhost
};

// Ghosts touch nothing; what stands does not touch what stands.
struct JoltLayers final : JPH::BroadPhaseLayerInterface,
                          JPH::ObjectVsBroadPhaseLayerFilter,
                          JPH::ObjectLayerPairFilter {
    JPH::uint GetNumBroadPhaseLayers() const override
    {
        return 2;
    }
    JPH::BroadPhaseLayer GetBroadPhaseLayer(JPH::ObjectLayer layer) const override
    {
        return JPH::BroadPhaseLayer(layer == joltStatic ? 0 : 1);
    }
    bool ShouldCollide(JPH::ObjectLayer layer, JPH::BroadPhaseLayer other) const override
    {
        return layer == joltMoving || (layer == joltStatic && other == JPH::BroadPhaseLayer(1));
    }
    bool ShouldCollide(JPH::ObjectLayer a, JPH::ObjectLayer b) const override
    {
        return a != joltGhost && b != joltGhost && (a == joltMoving || b == joltMoving);
    }
};

// No sleep, no damping, a single thread, everything else as shipped.
struct JoltWorld {
    const bool isStarted = [] {
        static const bool once = startJolt();
        return once;
    }();
    JPH::TempAllocatorImpl memory{256 * 1024 * 1024};
    JPH::JobSystemSingleThreaded jobs{JPH::cMaxPhysicsJobs};
    JoltLayers layers;
    JPH::PhysicsSystem system;
    std::vector<JPH::BodyID> bodies;
    float step;

    JoltWorld(int bodyCount, const double gravity[3], double stepSize) : step(narrow(stepSize))
    {
        auto bodiesMax = static_cast<JPH::uint>(bodyCount) + 64U;
        auto pairsMax = std::max<JPH::uint>(65536U, 16U * bodiesMax);
        system.Init(bodiesMax, 0, pairsMax, pairsMax, layers, layers, layers);
        system.SetGravity(toJolt(gravity));
    }

    void addBody(JPH::BodyCreationSettings& settings)
    {
        settings.mLinearDamping = 0.0F;
        settings.mAngularDamping = 0.0F;
        settings.mAllowSleeping = false;
        bool isMoving = settings.mMotionType == JPH::EMotionType::Dynamic;
        bodies.push_back(system.GetBodyInterfaceNoLock().CreateAndAddBody(
            settings, isMoving ? JPH::EActivation::Activate : JPH::EActivation::DontActivate));
    }

    JPH::Body& getBody(int index) const
    {
        return index < 0 ? JPH::Body::sFixedToWorld
                         : *system.GetBodyLockInterfaceNoLock().TryGetBody(
                               bodies[static_cast<size_t>(index)]);
    }

    void addJoint(const rbPeerJoint& from)
    {
        JPH::Body& a = getBody(from.bodyA);
        JPH::Body& b = getBody(from.bodyB);
        if (from.isHinge) {
            JPH::HingeConstraintSettings settings;
            settings.mSpace = JPH::EConstraintSpace::LocalToBodyCOM;
            settings.mPoint1 = JPH::RVec3(toJolt(from.anchorA));
            settings.mPoint2 = JPH::RVec3(toJolt(from.anchorB));
            settings.mHingeAxis1 = toJolt(from.axisA);
            settings.mHingeAxis2 = toJolt(from.axisB);
            settings.mNormalAxis1 = settings.mHingeAxis1.GetNormalizedPerpendicular();
            settings.mNormalAxis2 = settings.mHingeAxis2.GetNormalizedPerpendicular();
            system.AddConstraint(settings.Create(a, b));
        } else {
            JPH::PointConstraintSettings settings;
            settings.mSpace = JPH::EConstraintSpace::LocalToBodyCOM;
            settings.mPoint1 = JPH::RVec3(toJolt(from.anchorA));
            settings.mPoint2 = JPH::RVec3(toJolt(from.anchorB));
            system.AddConstraint(settings.Create(a, b));
        }
    }

    bool advance()
    {
        return system.Update(step, 1, &memory, &jobs) == JPH::EPhysicsUpdateError::None;
    }

    void read(int index, rbPeerBodyState& to) const
    {
        const JPH::Body& body = getBody(index);
        JPH::RVec3 p = body.GetPosition();
        JPH::Quat q = body.GetRotation();
        JPH::Vec3 v = body.GetLinearVelocity();
        JPH::Vec3 w = body.GetAngularVelocity();
        to = {{{p.GetX(), p.GetY(), p.GetZ()}, {q.GetW(), q.GetX(), q.GetY(), q.GetZ()}},
              {v.GetX(), v.GetY(), v.GetZ()},
              {w.GetX(), w.GetY(), w.GetZ()}};
    }
};

inline void setJoltMotion(JPH::BodyCreationSettings& settings, double mass, const double moments[3],
                          const double velocity[3], const double angularVelocity[3])
{
    settings.mOverrideMassProperties = JPH::EOverrideMassProperties::MassAndInertiaProvided;
    settings.mMassPropertiesOverride.mMass = narrow(mass);
    settings.mMassPropertiesOverride.mInertia = JPH::Mat44::sScale(toJolt(moments));
    settings.mLinearVelocity = toJolt(velocity);
    settings.mAngularVelocity = toJolt(angularVelocity);
}
