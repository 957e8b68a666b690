// Rays of a prediction: the two bodies, a piece of their way, the shortest ray so far, and how a
// ray is shot, coarse or about the shortest.
#ifndef RB_LAB_RAY_SHOT_H
#define RB_LAB_RAY_SHOT_H

#include "lab/rays/ray_emitter.h"

// A body as the prediction sees it. A sphere looks the same however it turns: its frame does not
// turn, and its center is that of the geometry.
typedef struct rbRaySide {
    const rbRayBody* body;
    const rbRayEmitter* emitter; // NULL: does not shoot in this prediction
    bool isSphere;
    bool isSolid;
    rbVec3 center;       // m, frame of the geometry
    double radius;       // m, of the ball about the center; INFINITY of planes
    double armMax;       // m, of points that turn about the center: 0 of spheres
    double speed;        // m/s, bounds as of rbRayBody
    double spin;         // rad/s
    double acceleration; // m/s^2
    double spinChange;   // rad/s^2
} rbRaySide;

// A piece of time on which all ways are lines within the tolerance, and the poses at its ends.
typedef struct rbRayPiece {
    double start, end;
    rbTransform from[2], to[2]; // of A and B
} rbRayPiece;

// The shortest ray.
typedef struct rbRayBest {
    bool isHit;
    int shooter; // 0: A, 1: B
    double time; // s
    double t;    // fraction of the piece
    rbRayPiece piece;
    rbRayStart start;
    rbVec3 point;  // m, of the hit, frame of what was shot at
    rbVec3 normal; // of what was shot at, same frame
} rbRayBest;

// Short rays at places apart from each other: where the shortest of all may be.
#define RB_RAY_TOPS_MAX 6
typedef struct rbRayTop {
    int shooter;
    double time;
    rbVec3 point; // of the start, frame of the shooter
    rbVec3 normal;
} rbRayTop;

typedef struct rbRayShot {
    const rbRayQuery* query;
    rbRaySide sides[2];
    rbRayPiece piece;
    rbRayMotion motions[2]; // of either shooter over the piece
    double slack;           // m: starts this little inside count as outside
    bool isRefining;
    bool isRefined; // the shortest ray is that of a refinement already
    bool isConvex;  // both bodies, and nothing turns: the length of rays has one minimum
    int shooter;    // of the rays that are shot now
    rbRayBest best;
    rbVec3 hitSums[2]; // starts of coarse rays that hit on this piece, for their mean
    int hitCounts[2];
    rbRayTop tops[RB_RAY_TOPS_MAX]; // of coarse rays, where lengths may have several minima
    int topCount;
    double topDistance; // m, between starts of tops of one body
    rbRayCounts counts; // of this prediction
} rbRayShot;

// Pose of a side at a time.
rbTransform rbRaySide_GetPose(const rbRaySide* side, double time);

// Makes a piece the one that rays are shot on.
void rbRayShot_SetPiece(rbRayShot* shot, double start, double end);

// What a ray found. A refined ray may hit beyond the end of its piece, which is no contact.
typedef struct rbRayOutcome {
    bool isHit;
    double time;                 // s
    rbVec3 normal;               // of what was shot at, its frame
    double pieceStart, pieceEnd; // s, of the piece on which it hit
} rbRayOutcome;

// Shoots the ray of a start of the present shooter and keeps it if it is the shortest. A refined
// start that is inside already follows its way back to earlier pieces.
rbRayOutcome rbRayShot_Cast(rbRayShot* shot, const rbRayStart* start);

// bundles of rays about the shortest one, each a quarter as wide.
void rbRayShot_Refine(rbRayShot* shot);

// Where no coarse ray hit, a ray through a place that both bodies pass, if there is one, and
// bundles about it. Nothing must turn.
void rbRayShot_Aim(rbRayShot* shot);

// the ray that was the shortest the last time, and a bundle about it.
void rbRayShot_CastTrack(rbRayShot* shot, const rbRayTrack* track);

#endif
