// What both engines share of the laws of impact: the rows of the laws, and the matrix of a contact.
//
// One contact alone is integrated to the end of its law (rbResolveImpact). Several that share
// bodies are solved together, in one or two phases: sweeps first bring each contact to the target
// of its law; then restitution gives a share of the impulse of compression once more, and only
// friction follows. Whatever the law, restitution returns no more energy than compression took.
// The two ways agree where there is no friction and one restitution.
#pragma once

#include <rattleback/impact.h>

#include <math.h>

struct rbImpactPath;

typedef struct rbImpactLawRow {
    const char* name;
    void (*setGoal)(struct rbImpactPath* path); // of restitution (L-93), of one contact
    bool mayGain;                               // the law itself may raise the energy
    bool isOfVelocity; // several: the target is -e u_z, and there is no second phase
    bool isOfWork;     // several: restitution returns at most e^2 of the work of compression
} rbImpactLawRow;

const rbImpactLawRow* rbGetImpactLaw(rbImpactLaw law);

// Of several contacts: u_z after the first phase, from that before.
double rbImpactLaw_GetTarget(rbImpactLaw law, double restitution, double speed);
// The impulse of restitution as a part of that of compression; 0: no second phase.
double rbImpactLaw_GetShare(rbImpactLaw law, double restitution);
// The most energy that restitution may return, from the normal work of compression (J, <= 0).
double rbImpactLaw_GetReturn(rbImpactLaw law, double restitution, double work);

// Adds what a body contributes to K in a frame (L-89), with an arm from its center of mass.
void rbAddToCollisionMatrix(rbSym3* k, double inverseMass, const rbSym3* inverseInertia, rbVec3 arm,
                            const rbMat3* frame);

// The largest eigenvalue of its tangential part.
static inline double rbFindLargest(double k11, double k22, double k12)
{
    double half = 0.5 * (k11 - k22);
    return 0.5 * (k11 + k22) + sqrt(half * half + k12 * k12);
}
