// State shared by the checks of the verifier.
#pragma once

#include "verify/flight.h"
#include "verify/impact.h"

#define RB_V_GROUP_MAX 256

// A part of a flight between two nodes.
typedef struct rbVLeg {
    double time;
    rbVState state;
    bool isHeld;
} rbVLeg;

// How a body moved since the last node.
typedef struct rbVSpan {
    double speed; // m/s, of its center, at the last node or after an impact since
    double spin;  // rad/s, the same of any axis
    double way;   // m, of any of its points between the two nodes, at most
} rbVSpan;

// What acts on a body in a step.
typedef struct rbVLoad {
    rbV3 force, torque; // N, N m about its center; means of the step
    double size, twist; // the same of the magnitudes
    bool isStruck;      // it collided in this step
    bool isNear;        // to another body, at some time of the step
} rbVLoad;

// A body as followed through the records.
typedef struct rbVTrack {
    rbVFlight flight;
    rbVState now;   // recorded, at the last node or start of a flight
    rbVState node;  // at the last node on the grid
    bool isPushed;  // impulses since the last start of a flight
    rbVState moved; // with these
    double pushTime;
    double impulseSum; // N s, sum of their magnitudes
    double spinSum;    // N m s, the same of r x p
    double restEnergy; // J, that the last rest took
    bool hasRested;    // an event of rest must follow
    bool hasWoken;     // the same of release
    rbVLeg* legs;      // since the last node
    uint32_t legCount, legCapacity;
    rbVSpan span;
    rbVLoad load;
} rbVTrack;

typedef struct rbVPiece rbVPiece;

typedef struct rbVChecker {
    rbVModel model;
    rbVReport* report;
    rbVTrack* tracks;
    double time;     // of the last record
    double nodeTime; // of the last node on the grid
    bool hasNode;
    uint64_t stepCount;
    rbVLedger ledger, firstLedger;
    bool hasLedger;
    // events of one instant
    rbVEvent group[RB_V_GROUP_MAX];
    int groupCount;
    // works recomputed from events, J
    double works[RB_V_ENERGY_COUNT], workScale;
    uint64_t impacts, micros;
    // what precedes a node
    rbVContact* contacts;
    uint32_t contactCount;
    rbVJointForce* jointForces;
    rbVSpringForce* springForces;
    bool hasJointForces, hasSpringForces;
    rbVPiece* pieces; // convex, of all bodies
    uint32_t pieceCount;
    uint32_t* firstPiece; // of a body
    double lastNode;      // s
    double deepest;       // m, overlap found
    double jointWorst[2]; // m and rad, found
    double fastest;       // m/s, in any impact so far
    bool isOpen;          // a joint is, at this node
    double largest;       // J, sum of all energies and works so far, at most
    double gainStart;     // J, given by what is no gain: joints that are closed
} rbVChecker;

// Counts a value with its bound; a value above it, or not finite, is a failure.
typedef struct rbVFinding {
    rbVClaim claim;
    rbVClass class;
    uint32_t a, b;
    double value, bound;
    const char* detail;
} rbVFinding;
void rbVChecker_Find(rbVChecker* checker, const rbVFinding* finding);
#define RB_V_CHECK(c, claim, class, ...) \
    rbVChecker_Find(c, &(rbVFinding){RB_V_CLAIM_##claim, RB_V_##class, __VA_ARGS__})
#define RB_V_SKIP(c, claim, why) rbVChecker_Skip(c, RB_V_CLAIM_##claim, why)
void rbVChecker_Skip(rbVChecker* checker, rbVClaim claim, const char* why);

// Events and flights (check_events.c).
void rbVCheckEvent(rbVChecker* checker, const rbVEvent* event);
void rbVCheckFlightStart(rbVChecker* checker, uint32_t index, const rbVState* state, bool isHeld);
void rbVCheckAnnounced(rbVChecker* checker, uint32_t index);
void rbVCheckGroup(rbVChecker* checker); // those of one instant that wait
// A recorded state against the flight of the body.
void rbVCheckState(rbVChecker* checker, uint32_t index, double time, const rbVState* state);
// Whether a force or impulse pushes, and is in its cone.
typedef struct rbVCone {
    uint32_t a, b;
    rbV3 push, normal;
    double friction;
    double rounding; // as a part of the push
} rbVCone;
void rbVCheckCone(rbVChecker* c, rbVClaim claim, const rbVCone* p);
// Largest friction of two bodies, sticking included.
double rbVGetFriction(const rbVModel* model, uint32_t a, uint32_t b);

// Nodes (check_nodes.c).
void rbVCheckNode(rbVChecker* checker, double time, bool isGrid);

// Mass, center and inertia of a body against its shapes (mass.c).
void rbVCheckMass(rbVChecker* checker, uint32_t index);

// Distances (check_apart.c).
bool rbVPrepareShapes(rbVChecker* checker);
void rbVCheckTouch(rbVChecker* checker, const rbVEvent* event, const rbVState states[2]);
void rbVCheckPushing(rbVChecker* checker, const rbVContact* point, bool isKnown);
void rbVCheckApart(rbVChecker* checker);
void rbVMeasureWay(rbVChecker* checker, uint32_t i, double span);
// rad/s, how fast a free body can turn within a time.
double rbVGetSpinMax(const rbVBody* body, const rbVState* state, double span);
// Whether the verifier integrates the flight of a body.
bool rbVIsIntegrable(const rbVBody* body);
void rbVAddLeg(rbVChecker* checker, uint32_t index, double time, bool isHeld);
