// Definition of rbReduced.
#pragma once

#include "lab/joints/driven.h"
#include "lab/joints/reduced.h"
#include "lab/joints/runge_kutta.h"
#include "lab/joints/spatial.h"

#define RB_LINK_SPEEDS_MAX 6

typedef enum rbLinkKind {
    RB_LINK_BALL,
    RB_LINK_HINGE,
    RB_LINK_PRISMATIC,
    RB_LINK_FIXED,
    RB_LINK_FREE,
    RB_LINK_COUNT
} rbLinkKind;

// A dynamic body with the joint that leads to it; also used for the pose and motion of a base.
typedef struct rbReducedLink {
    int body;       // in the mechanism
    int parent;     // link; -1: a base
    int parentBody; // in the mechanism; for a free link: its own
    rbLinkKind kind;
    int firstCoordinate;
    int firstSpeed; // counted without the coordinates
    int speedCount;
    // The joint, in the principal frames of parent and child. pointChild is at pointParent, for
    // prismatic joints plus travel times axisParent.
    rbVec3 pointParent;
    rbVec3 pointChild;
    rbVec3 axisParent;
    rbQuat relative; // of the child relative to the parent; hinge: at angle 0
    double mass;
    rbVec3 moments;
    // At the current coordinates, world axes.
    rbVec3 position;
    rbQuat orientation;
    rbSym3 inertia;
    rbVec3 toJoint;    // from the center of the parent to the child's point
    rbVec3 fromJoint;  // from the child's point to its center
    rbVec3 fromParent; // sum of both
    rbVec3 axis;
    rbSpatial axes[RB_LINK_SPEEDS_MAX]; // motion of the center by a unit of each speed
    rbSpatial motion;
    rbSpatial load; // torque and force
    // For the articulated-body algorithm.
    rbSpatialInertia articulated;
    rbSpatial bias;                         // force of the articulated body without acceleration
    rbSpatial product;                      // acceleration without those of parent and speeds
    rbSpatial ownAxes[RB_LINK_SPEEDS_MAX];  // axes made orthogonal
    rbSpatial response[RB_LINK_SPEEDS_MAX]; // articulated times ownAxes
    double mixing[RB_LINK_SPEEDS_MAX * RB_LINK_SPEEDS_MAX];
    double invPivots[RB_LINK_SPEEDS_MAX];
    double push[RB_LINK_SPEEDS_MAX];
    rbSpatial acceleration;
} rbReducedLink;

struct rbReduced {
    rbReducedLink* links; // parents before children
    int linkCount;
    int* linkOfBody;      // per body; -1: not dynamic
    rbReducedLink* bases; // per body; used if it is not dynamic, and as the origin of a free link
    int bodyCount;
    bool hasSoftRows;
    int coordinateCount;
    int speedCount;
    double* state; // coordinates, then speeds
    int stateCount;
    rbRunge runge;
    rbDriven driven;
};

int rbLinkKind_GetCoordinates(rbLinkKind kind);
int rbLinkKind_GetSpeeds(rbLinkKind kind);

// Links, their parents and joints.
rbStatus rbReduced_BuildTree(rbReduced* reduced, const rbMechanism* mechanism, rbError* error);

// Poses and motions of all links.
void rbReduced_Place(rbReduced* reduced, const double* state);

// Accelerations of the speeds u at the current poses, motions and loads.
void rbReduced_FindAccelerations(rbReduced* reduced, const double* u, double* accelerations);

// Solves a symmetric positive definite system in place, n <= 6, rows of 6; overwrites the matrix.
void rbReduced_SolveSmall(double* matrix, int n, double* x);
