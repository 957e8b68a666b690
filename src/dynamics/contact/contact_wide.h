// Contacts four at a time: rows of four contacts side by side in single precision, no body twice
// among them, and the visits to them that sub-steps need. Internal to contact_substeps.c.
//
// Bodies carry the velocity and displacement that the step has added so far; speeds at the start of
// the step are stored with the points. Spins are scaled as in contact_sweep.h: with I^-1 = G G^T a
// body rotates with w0 + G y, and a row is G^T c both for what it measures and for what it moves.
// Immovable bodies have slot 0 and rows of zeros.
//
// In each lane the operations are those of one contact alone, so the grouping of contacts does not
// change the bits.
#ifndef RB_CONTACT_CONTACT_WIDE_H
#define RB_CONTACT_CONTACT_WIDE_H

#include "base/core/lanes.h"

#include <rattleback/collision.h>

#include <stdbool.h>

#define RB_WIDTH 4

// One cache line.
typedef struct rbWideBody {
    float velocity[4]; // m/s, added in the step; [3] unused
    float spin[4];     // y, likewise
    float moved[4];    // m, by velocity
    float turned[4];   // by spin
} rbWideBody;

typedef struct rbWideRow {
    rbQuad a[3];
    rbQuad b[3];
} rbWideRow;

typedef struct rbWidePoint {
    rbWideRow rows[3];     // normal, tangents
    rbQuad impulse[3];     // N s, of a sub-step
    rbQuad total[3];       // N s, of the step
    rbQuad speeds[3];      // m/s: u at the start of the step
    rbQuad gap;            // m, at the start
    rbQuad drift[2];       // m/s, by which a slip is undone where it sticks
    rbQuad invNormal;      // 1 / n K n; 0: inert
    rbQuad invTangents[3]; // (t K t)^-1: 11, 22, 12
    rbQuad slideStep;      // 1 / largest eigenvalue of t K t
    rbQuad friction;
} rbWidePoint;

typedef struct rbWideGroup {
    rbQuad axes[3][3]; // normal, tangents
    rbQuad invMassA;
    rbQuad invMassB;
    int slotA[RB_WIDTH];
    int slotB[RB_WIDTH];
    int contacts[RB_WIDTH]; // of the set, -1: none
    int counts[RB_WIDTH];   // points of the lanes
    int firstPoint;         // of the group
    int pointCount;         // of the lane with the most
} rbWideGroup;

// One visit to all groups.
typedef struct rbWidePass {
    float time;         // s, since the start of the step, of the displacements
    float invStep;      // 1/s, of a sub-step
    float rate;         // 1/s, at which overlap is undone
    float partSpeed;    // m/s, at most
    float massScale;    // of a spring and damper instead of a hard stop
    float impulseScale; // likewise
} rbWidePass;

typedef struct rbWide {
    rbWideBody* bodies;
    rbWidePoint* points;
    const rbWideGroup* groups;
    int groupCount;
} rbWide;

// Remaining errors at the end of a step.
typedef struct rbWideRest {
    double overlap;      // m, largest
    double approach;     // m/s, largest, of points that carry load
    int worst;           // group of the overlap, -1: none
    double frictionWork; // J
    double impactWork;   // J, of normals that approached faster than restSpeed
} rbWideRest;

// G of the bodies of a group: xx, yy, zz, xy, xz, yz.
typedef struct rbWideFactors {
    rbQuad a[6];
    rbQuad b[6];
} rbWideFactors;

// Rows and masses of the points of a group. Input: arms of A and B in rows[0], speeds in world
// axes.
void rbWideGroup_Build(const rbWideGroup* group, const rbWideFactors* factors, rbWidePoint* points);
// Applies the impulses of all points once.
void rbWide_Act(const rbWide* wide);
// Normals with springs, and friction that undoes slip.
void rbWide_Push(const rbWide* wide, const rbWidePass* pass);
// Normals and friction without either: removes the speed that pushing added. Adds the impulses to
// the totals.
void rbWide_Relax(const rbWide* wide, const rbWidePass* pass);
rbWideRest rbWide_Measure(const rbWide* wide, const rbWidePass* pass, double restSpeed);

#endif
