// Rays of a prediction: the two bodies, a piece of their path, the shortest ray so far, and the
// casting of rays, coarse or around the shortest.
#pragma once

#include "lab/rays/ray_emitter.h"

// A body as the prediction sees it. A sphere looks the same in every orientation: its frame does
// not rotate, and its center is that of the geometry.
typedef struct rbRaySide {
    const rbRayBody* body;
    const rbRayEmitter* emitter; // NULL: casts no rays in this prediction
    bool isSphere;
    bool isSolid;
    rbVec3 center;       // m, frame of the geometry
    double radius;       // m, of the ball about the center; INFINITY for planes
    double armMax;       // m, of points that rotate about the center: 0 for spheres
    double speed;        // m/s, bounds as in rbRayBody
    double spin;         // rad/s
    double acceleration; // m/s^2
    double spinChange;   // rad/s^2
} rbRaySide;

// A piece of time in which all paths are straight within the tolerance, and the poses at its ends.
typedef struct rbRayPiece {
    double start, end;
    rbTransform from[2], to[2]; // of A and B
} rbRayPiece;

// The shortest ray.
typedef struct rbRayBest {
    bool isHit;
    int caster;  // casting body; 0: A, 1: B
    double time; // s
    double t;    // fraction of the piece
    rbRayPiece piece;
    rbRayStart start;
    rbVec3 point;  // m, of the hit, frame of the target
    rbVec3 normal; // of the target, same frame
} rbRayBest;

// Short rays at separate places, where the shortest of all may be.
#define RB_RAY_TOPS_MAX 6
typedef struct rbRayTop {
    int caster;
    double time;
    rbVec3 point; // of the start, frame of the caster
    rbVec3 normal;
} rbRayTop;

typedef struct rbRayShot {
    const rbRayQuery* query;
    rbRaySide sides[2];
    rbRayPiece piece;
    rbRayMotion motions[2]; // of either caster over the piece
    double slack;           // m: starts this little inside count as outside
    bool isRefining;
    bool isRefined; // the shortest ray is already from a refinement
    bool isConvex;  // both bodies, without rotation: ray lengths have one minimum
    int caster;     // casting body of the current rays
    rbRayBest best;
    rbVec3 hitSums[2]; // sums of starts of coarse rays that hit on this piece
    int hitCounts[2];
    rbRayTop tops[RB_RAY_TOPS_MAX]; // of coarse rays, if lengths may have several minima
    int topCount;
    double topDistance; // m, between the starts of tops of one body
    rbRayCounts counts; // of this prediction
} rbRayShot;

// Pose of a side at a time.
rbTransform rbRaySide_GetPose(const rbRaySide* side, double time);

// Sets the piece on which rays are cast.
void rbRayShot_SetPiece(rbRayShot* shot, double start, double end);

// Result of a ray. A refined ray may hit beyond the end of its piece, which is not a contact.
typedef struct rbRayOutcome {
    bool isHit;
    double time;                 // s
    rbVec3 normal;               // of the target, its frame
    double pieceStart, pieceEnd; // s, of the piece on which it hit
} rbRayOutcome;

// Casts the ray of a start of the current caster and keeps it if it is the shortest. A refined
// start that is already inside follows its path back to earlier pieces.
rbRayOutcome rbRayShot_Cast(rbRayShot* shot, const rbRayStart* start);

// bundles of rays around the shortest one, each a quarter as wide.
void rbRayShot_Refine(rbRayShot* shot);

// If no coarse ray hit: a ray through a place that both bodies pass, if there is one, and bundles
// around it. Without rotation only.
void rbRayShot_Aim(rbRayShot* shot);

// the ray that was the shortest last time, and a bundle around it.
void rbRayShot_CastTrack(rbRayShot* shot, const rbRayTrack* track);
