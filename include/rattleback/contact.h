/// @file
/// Contacts of the step engine: settings and what was done.
#ifndef RATTLEBACK_CONTACT_H
#define RATTLEBACK_CONTACT_H

#include <rattleback/broadphase.h>
#include <rattleback/id.h>
#include <rattleback/impact.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What keeps bodies apart.
typedef enum rbContactMethod {
    RB_CONTACT_IMPULSES,    ///< impulses that hold non-penetration and friction to a tolerance
    RB_CONTACT_METHOD_COUNT ///< built-in ones; registered ones have the numbers from here on
} rbContactMethod;

RB_API const char* rbContactMethod_Name(rbContactMethod method); ///< "impulses", ...
/// The method of a name; rbContactMethod_GetCount() if it is unknown.
RB_API rbContactMethod rbContactMethod_Find(const char* name);
/// Built-in and registered methods; those of the laboratory: see lab_contact.h.
RB_API int rbContactMethod_GetCount(void);

/// How friction is bounded.
typedef enum rbFrictionCone {
    RB_CONE_EXACT,   ///< |T| <= mu P
    RB_CONE_PYRAMID, ///< n facets, inscribed; for comparison
    RB_CONE_COUNT
} rbFrictionCone;

RB_API const char* rbFrictionCone_Name(rbFrictionCone cone); ///< "exact", "pyramid"
RB_API rbFrictionCone rbFrictionCone_Find(const char* name); ///< RB_CONE_COUNT if unknown

/// Most facets of a friction pyramid.
#define RB_FRICTION_FACETS_MAX 64

/// How the time of a contact within a step is found.
typedef enum rbContactTime {
    RB_CONTACT_TIME_STEP,          ///< not at all: bodies arrive at the end of the step
    RB_CONTACT_TIME_INTERPOLATION, ///< the step is cut where the gap closes, by interpolation
    RB_CONTACT_TIME_BISECTION,     ///< the same by halving
    RB_CONTACT_TIME_COUNT
} rbContactTime;

RB_API const char* rbContactTime_Name(rbContactTime time); ///< "step", "interpolation", "bisection"
RB_API rbContactTime rbContactTime_Find(const char* name); ///< RB_CONTACT_TIME_COUNT if unknown

/// Settings of contacts in the step engine; make them with rbDefaultContactSettings.
typedef struct rbContactSettings {
    bool isOff;                    ///< true, the default: bodies pass through each other
    rbContactMethod method;        ///< impulses
    rbBroadPhaseType broadPhase;   ///< dynamic tree
    double shell;                  ///< m: contacts act this far outside of the surfaces; 1e-5
    double tolerance;              ///< m: gaps and slips left at the end of a step; 1e-6
    double velocityTolerance;      ///< m/s; 1e-8
    double restSpeed;              ///< m/s: slower approach is no collision; 0.01; 0: the speed
                                   ///< gained by falling through 1e-5 m
    int sweepsMax;                 ///< in a stage; 2000. A game would allow 4 to 10: up to 30 are
                                   ///< shared by small steps, single precision
    bool isWarm;                   ///< true: impulses of the last step are the first guess
    bool isReacting;               ///< masses of normals are measured with the reaction of joints,
                                   ///< and joints follow contact by contact; false
    int shockAfter;                ///< sweeps after which shock propagation ends a stage; 0: never
    rbImpactLaw law;               ///< of collisions: Newton
    rbFrictionCone cone;           ///< exact
    int facets;                    ///< of the pyramid; 4
    rbContactTime contactTime;     ///< step
    rbCombineRule frictionRule;    ///< geometric
    rbCombineRule restitutionRule; ///< geometric
    double partSpeed;              ///< m/s: overlap is undone no faster; 1
    bool isOverlapAllowed;         ///< at the start; else it is refused with names
    bool areNeighborsExcluded;     ///< joined bodies do not meet; true
    double freezeSpeed;    ///< m/s: islands slower than this for freezeTime stand still; 0: never
    double freezeTime;     ///< s; 0.5
    rbExtraSettings extra; ///< of a registered method; zero: its defaults
} rbContactSettings;

/// The defaults that the comments of the members state.
RB_API rbContactSettings rbDefaultContactSettings(void);

/// Since the world was made.
typedef struct rbContactStatistics {
    int64_t collisions;      ///< points that collided
    int64_t contactSum;      ///< points, over all steps
    int contactCount;        ///< points, of the last step
    int pairCount;           ///< near pairs
    int islandCount;         ///< of the last step
    int frozenCount;         ///< bodies that stand still
    int64_t positionSweeps;  ///< of all steps
    int64_t velocitySweeps;  ///< of all steps
    int64_t collisionSweeps; ///< of all steps
    int64_t unmetSteps;      ///< ended above a tolerance
    int64_t directStages;    ///< whose islands were solved as a whole, by Newton's method
    int64_t shockedStages;   ///< ended by shock propagation
    int64_t unwritten;       ///< events that found the journal full (65536 since it was cleared)
    int64_t cutSteps;        ///< shortened to the time of a contact
    int64_t cutTrials;       ///< steps begun and undone to find such times
    double gapErrorMax;      ///< m, left by a position stage
    double speedErrorMax;    ///< m/s, left by a velocity stage
    double deepest;          ///< m, of all overlaps met, >= 0
    double deepestTime;      ///< s
    rbBodyId deepestA;       ///< of that overlap; null: there was none
    rbBodyId deepestB;       ///< of that overlap; null: there was none
    int limitedJoints;       ///< joints that have limits
    int limitCount;          ///< stops of joints that carry something, in the last step
    double limitExcess;      ///< m or rad, furthest beyond a stop, >= 0
    double collisionTime;    ///< s of CPU, spent on solving collisions; in no snapshot
    double contactTime;      ///< s of CPU, on lasting contacts
} rbContactStatistics;

/// A contact point that carries something, as the last step left it.
typedef struct rbContactView {
    rbBodyId bodyA;  ///< first body
    rbBodyId bodyB;  ///< second body
    rbVec3 point;    ///< m, world
    rbVec3 normal;   ///< unit, from A to B
    double gap;      ///< m, between the surfaces; negative: overlap
    rbVec3 force;    ///< N, on B: normal and friction, mean of the step
    bool isSticking; ///< it did not slide
} rbContactView;

#ifdef __cplusplus
}
#endif

#endif
