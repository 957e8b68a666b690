// libccd: GJK with EPA, and MPR. The library has no distance and no memory between queries.
#include "peer.h"

#include <ccd/ccd.h>
#include <ccd/quat.h>
#include <cmath>
#include <new>
#include <vector>

namespace
{

// Above this number of vertices walking along edges is faster than testing all of them. The library
// leaves the support function to its user, so it is given the fastest one.
constexpr int scanMax = 32;

struct Body {
    const rbPeerShape* shape;
    double rotation[9]; // columns, body to world
    ccd_vec3_t position;
    mutable int vertex; // where the last walk ended
};

struct Pair {
    Body a, b;
};

struct State {
    rbPeerShape shape;
    std::vector<Pair> pairs;
    ccd_t ccd;
};

double dot(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

int scanVertices(const rbPeerShape* shape, const double* direction)
{
    int best = 0;
    double bestDot = dot(shape->points[0], direction);
    for (int i = 1; i < shape->pointCount; ++i) {
        double value = dot(shape->points[i], direction);
        if (value > bestDot) {
            bestDot = value;
            best = i;
        }
    }
    return best;
}

int walkVertices(const rbPeerShape* shape, const double* direction, int vertex)
{
    double bestDot = dot(shape->points[vertex], direction);
    for (int from = -1; from != vertex;) {
        from = vertex;
        for (int i = shape->neighborStart[from]; i < shape->neighborStart[from + 1]; ++i) {
            double value = dot(shape->points[shape->neighbors[i]], direction);
            if (value > bestDot) {
                bestDot = value;
                vertex = shape->neighbors[i];
            }
        }
    }
    return vertex;
}

void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* point)
{
    const Body* body = static_cast<const Body*>(object);
    const rbPeerShape* shape = body->shape;
    const double* r = body->rotation;
    double local[3] = {dot(r, direction->v), dot(r + 3, direction->v), dot(r + 6, direction->v)};
    double p[3];
    if (shape->kind == RB_PEER_BOX) {
        for (int i = 0; i < 3; ++i) {
            p[i] = std::copysign(shape->size[i], local[i]);
        }
    } else if (shape->kind == RB_PEER_ELLIPSOID) {
        double scaled[3];
        for (int i = 0; i < 3; ++i) {
            scaled[i] = shape->size[i] * local[i];
        }
        double length = std::sqrt(dot(scaled, scaled));
        for (int i = 0; i < 3; ++i) {
            p[i] = length > 0.0 ? shape->size[i] * scaled[i] / length : 0.0;
        }
    } else {
        if (shape->pointCount <= scanMax) {
            body->vertex = scanVertices(shape, local);
        } else {
            body->vertex = walkVertices(shape, local, body->vertex);
        }
        const double* vertex = shape->points[body->vertex];
        p[0] = vertex[0];
        p[1] = vertex[1];
        p[2] = vertex[2];
    }
    for (int i = 0; i < 3; ++i) {
        point->v[i] = r[i] * p[0] + r[3 + i] * p[1] + r[6 + i] * p[2] + body->position.v[i];
    }
}

void center(const void* object, ccd_vec3_t* point)
{
    *point = static_cast<const Body*>(object)->position;
}

Body makeBody(const rbPeerShape* shape, const rbPeerPose& pose)
{
    Body body = {};
    body.shape = shape;
    ccd_quat_t q;
    ccdQuatSet(&q, pose.quaternion[1], pose.quaternion[2], pose.quaternion[3], pose.quaternion[0]);
    for (int column = 0; column < 3; ++column) {
        ccd_vec3_t axis = {
            {column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0, column == 2 ? 1.0 : 0.0}};
        ccdQuatRotVec(&axis, &q);
        for (int i = 0; i < 3; ++i) {
            body.rotation[3 * column + i] = axis.v[i];
        }
    }
    ccdVec3Set(&body.position, pose.position[0], pose.position[1], pose.position[2]);
    return body;
}

void* create(const rbPeerShape* shape, const rbPeerPair* pairs, int pairCount, int)
{
    State* state = new State;
    state->shape = *shape;
    for (int i = 0; i < pairCount; ++i) {
        state->pairs.push_back(
            {makeBody(&state->shape, pairs[i].a), makeBody(&state->shape, pairs[i].b)});
    }
    CCD_INIT(&state->ccd);
    state->ccd.support1 = support;
    state->ccd.support2 = support;
    state->ccd.center1 = center;
    state->ccd.center2 = center;
    state->ccd.max_iterations = 1000; // the default, no limit, may not terminate
    return state;
}

// The walk of a cold query starts at a fixed vertex.
const Pair& prepare(const rbPeerRow* row, State* state, int pair, int slot)
{
    const Pair& bodies = state->pairs[static_cast<size_t>(pair)];
    if (slot < 0) {
        bodies.a.vertex = 0;
        bodies.b.vertex = 0;
    }
    if (row->tolerance > 0.0) {
        state->ccd.epa_tolerance = row->tolerance;
        state->ccd.mpr_tolerance = row->tolerance;
    }
    return bodies;
}

double intersectGjk(const rbPeerRow* row, void* data, int pair, int slot)
{
    State* state = static_cast<State*>(data);
    const Pair& bodies = prepare(row, state, pair, slot);
    return ccdGJKIntersect(&bodies.a, &bodies.b, &state->ccd) != 0 ? -1.0 : 1.0;
}

double intersectMpr(const rbPeerRow* row, void* data, int pair, int slot)
{
    State* state = static_cast<State*>(data);
    const Pair& bodies = prepare(row, state, pair, slot);
    return ccdMPRIntersect(&bodies.a, &bodies.b, &state->ccd) != 0 ? -1.0 : 1.0;
}

double penetrateGjk(const rbPeerRow* row, void* data, int pair, int slot)
{
    State* state = static_cast<State*>(data);
    const Pair& bodies = prepare(row, state, pair, slot);
    ccd_real_t depth = 0.0;
    ccd_vec3_t direction, position;
    int code = ccdGJKPenetration(&bodies.a, &bodies.b, &state->ccd, &depth, &direction, &position);
    return code == 0 ? -depth : 0.0;
}

double penetrateMpr(const rbPeerRow* row, void* data, int pair, int slot)
{
    State* state = static_cast<State*>(data);
    const Pair& bodies = prepare(row, state, pair, slot);
    ccd_real_t depth = 0.0;
    ccd_vec3_t direction, position;
    int code = ccdMPRPenetration(&bodies.a, &bodies.b, &state->ccd, &depth, &direction, &position);
    return code == 0 ? -depth : 0.0;
}

void forget(void* data)
{
    for (Pair& pair : static_cast<State*>(data)->pairs) {
        pair.a.vertex = 0;
        pair.b.vertex = 0;
    }
}

void destroy(void* data)
{
    delete static_cast<State*>(data);
}

const rbPeerRow rows[] = {
    {"gjk", RB_PEER_BOOL, 0.0, intersectGjk, 0},
    {"mpr", RB_PEER_BOOL, 1e-4, intersectMpr, 0},
    {"gjk+epa 1e-4", RB_PEER_DEPTH, 1e-4, penetrateGjk, 0},
    {"gjk+epa 1e-10", RB_PEER_DEPTH, 1e-10, penetrateGjk, 0},
    {"gjk+epa 1e-14", RB_PEER_DEPTH, 1e-14, penetrateGjk, 0},
    {"mpr 1e-4", RB_PEER_DEPTH, 1e-4, penetrateMpr, 0},
    {"mpr 1e-10", RB_PEER_DEPTH, 1e-10, penetrateMpr, 0},
};

const rbPeer peer = {"libccd", rows, sizeof rows / sizeof rows[0], create, forget, destroy};

} // namespace

const rbPeer* rbGetPeer(void)
{
    return &peer;
}
