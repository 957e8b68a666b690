// Bullet: the pair detector with its EPA, and the solver GjkEpa2 alone; margins 0.
//
// Built twice: with the single precision libraries, as Bullet is usually shipped, and with the
// double precision ones (BT_USE_DOUBLE_PRECISION), which stop at far smaller tolerances. Warm
// start: GjkEpa2 starts from the last separating axis; the pair detector resets its own axis.
#include "peer.h"

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#include <cmath>
#include <memory>
#include <vector>

namespace
{

// Bullet has no ellipsoid; this is its interface for user-defined shapes.
class Ellipsoid : public btConvexInternalShape
{
  public:
    explicit Ellipsoid(const btVector3& semiAxes) : radii(semiAxes)
    {
        m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
        setMargin(btScalar(0));
    }
    btVector3 localGetSupportingVertexWithoutMargin(const btVector3& direction) const override
    {
        btVector3 scaled = radii * direction;
        btScalar length2 = scaled.length2();
        return length2 > btScalar(0) ? radii * scaled / btSqrt(length2) : btVector3(0, 0, 0);
    }
    btVector3 localGetSupportingVertex(const btVector3& direction) const override
    {
        return localGetSupportingVertexWithoutMargin(direction);
    }
    void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* directions,
                                                           btVector3* points,
                                                           int count) const override
    {
        for (int i = 0; i < count; ++i) {
            points[i] = localGetSupportingVertexWithoutMargin(directions[i]);
        }
    }
    void calculateLocalInertia(btScalar, btVector3& inertia) const override
    {
        inertia.setZero();
    }
    const char* getName() const override
    {
        return "ellipsoid";
    }

  private:
    btVector3 radii;
};

struct Pair {
    btTransform a, b;
};

struct State {
    std::unique_ptr<btConvexShape> shape;
    std::vector<Pair> pairs;
    std::vector<btVector3> axes; // last separating axis of every slot, zero: none
    btVoronoiSimplexSolver simplex;
    btGjkEpaPenetrationDepthSolver depth;
    std::unique_ptr<btGjkPairDetector> detector;
};

btScalar narrow(double value)
{
    return static_cast<btScalar>(value);
}

std::unique_ptr<btConvexShape> makeShape(const rbPeerShape* shape)
{
    btVector3 size(narrow(shape->size[0]), narrow(shape->size[1]), narrow(shape->size[2]));
    std::unique_ptr<btConvexShape> result;
    if (shape->kind == RB_PEER_BOX) {
        result.reset(new btBoxShape(size));
    } else if (shape->kind == RB_PEER_ELLIPSOID) {
        result.reset(new Ellipsoid(size));
    } else {
        std::unique_ptr<btConvexHullShape> hull(new btConvexHullShape);
        for (int i = 0; i < shape->pointCount; ++i) {
            const double* p = shape->points[i];
            hull->addPoint(btVector3(narrow(p[0]), narrow(p[1]), narrow(p[2])), false);
        }
        hull->recalcLocalAabb();
        result = std::move(hull);
    }
    result->setMargin(btScalar(0));
    return result;
}

btTransform makeTransform(const rbPeerPose& pose)
{
    const double* q = pose.quaternion;
    const double* p = pose.position;
    return btTransform(btQuaternion(narrow(q[1]), narrow(q[2]), narrow(q[3]), narrow(q[0])),
                       btVector3(narrow(p[0]), narrow(p[1]), narrow(p[2])));
}

void forget(void* data)
{
    for (btVector3& axis : static_cast<State*>(data)->axes) {
        axis.setZero();
    }
}

void* create(const rbPeerShape* shape, const rbPeerPair* pairs, int pairCount, int slotCount)
{
    State* state = new State;
    state->shape = makeShape(shape);
    for (int i = 0; i < pairCount; ++i) {
        state->pairs.push_back({makeTransform(pairs[i].a), makeTransform(pairs[i].b)});
    }
    state->axes.resize(static_cast<size_t>(slotCount));
    forget(state);
    state->detector.reset(new btGjkPairDetector(state->shape.get(), state->shape.get(),
                                                &state->simplex, &state->depth));
    return state;
}

void destroy(void* data)
{
    delete static_cast<State*>(data);
}

double detect(const rbPeerRow* row, void* data, int pair, int)
{
    State* state = static_cast<State*>(data);
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    btDiscreteCollisionDetectorInterface::ClosestPointInput input;
    input.m_transformA = poses.a;
    input.m_transformB = poses.b;
    btPointCollector output;
    state->simplex.reset();
    state->detector->setCachedSeparatingAxis(btVector3(0, 1, 0));
    state->detector->getClosestPointsNonVirtual(input, output, nullptr);
    if (!output.m_hasResult) {
        return row->result == RB_PEER_DEPTH ? 0.0 : static_cast<double>(NAN);
    }
    return static_cast<double>(output.m_distance);
}

// From A to B: the last axis, or the line of centers, Bullet's own starting direction.
btVector3 startAxis(const State* state, const Pair& poses, int slot)
{
    if (slot >= 0 && !state->axes[static_cast<size_t>(slot)].isZero()) {
        return state->axes[static_cast<size_t>(slot)];
    }
    return poses.b.getOrigin() - poses.a.getOrigin();
}

double measure(const rbPeerRow*, void* data, int pair, int slot)
{
    State* state = static_cast<State*>(data);
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    btGjkEpaSolver2::sResults results;
    if (!btGjkEpaSolver2::Distance(state->shape.get(), poses.a, state->shape.get(), poses.b,
                                   -startAxis(state, poses, slot), results)) {
        return NAN;
    }
    if (slot >= 0) {
        state->axes[static_cast<size_t>(slot)] = results.witnesses[1] - results.witnesses[0];
    }
    return static_cast<double>(results.distance);
}

double penetrate(const rbPeerRow*, void* data, int pair, int slot)
{
    State* state = static_cast<State*>(data);
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    btGjkEpaSolver2::sResults results;
    if (!btGjkEpaSolver2::Penetration(state->shape.get(), poses.a, state->shape.get(), poses.b,
                                      startAxis(state, poses, slot), results, false)) {
        return results.status == btGjkEpaSolver2::sResults::Separated ? 0.0
                                                                      : static_cast<double>(NAN);
    }
    if (slot >= 0) {
        state->axes[static_cast<size_t>(slot)] = results.normal;
    }
    return static_cast<double>(results.distance);
}

const rbPeerRow rows[] = {
    {"pair detector", RB_PEER_DISTANCE, 0.0, detect, 0},
    {"pair detector", RB_PEER_DEPTH, 0.0, detect, 0},
    {"GjkEpa2", RB_PEER_DISTANCE, 0.0, measure, 0},
    {"GjkEpa2", RB_PEER_DEPTH, 0.0, penetrate, 0},
};

#ifdef BT_USE_DOUBLE_PRECISION
const char* const name = "bullet64";
#else
const char* const name = "bullet";
#endif

const rbPeer peer = {name, rows, sizeof rows / sizeof rows[0], create, forget, destroy};

} // namespace

const rbPeer* rbGetPeer(void)
{
    return &peer;
}
