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

// clang-format off
/// The settings of contacts in the step engine, a row each (see RB_SETTING_FIELD).
#define RB_CONTACT_SETTINGS(X) \
    X(bool, isEnabled, "on", false, RB_ANY, "", \
      "bodies collide with each other; in a scene the object \"contact\" switches it on") \
    X(rbContactMethod, method, "method", RB_CONTACT_IMPULSES, RB_WORDS(rbContactMethod), "", \
      "what keeps bodies apart; penalty, for comparison: springs and dampers at the points, single " \
      "bodies only, without freezing and search for the time of contact") \
    X(rbBroadPhaseType, broadPhase, "broadPhase", RB_BROAD_TREE, RB_WORDS(rbBroadPhaseType), "", \
      "how pairs of bodies that are near are found") \
    X(double, shell, "shell", 1e-5, RB_FROM(0.0, 1.0), "m", \
      "contacts act this far outside of the surfaces, so that meshes never overlap") \
    X(double, tolerance, "tolerance", 1e-6, RB_ABOVE(0.0, 1.0), "m", \
      "error of gaps and slips at the end of a step") \
    X(double, velocityTolerance, "velocityTolerance", 1e-8, RB_ABOVE(0.0, 1e12), "m/s", \
      "error of velocities at the contacts at the end of a step") \
    X(double, restSpeed, "restSpeed", 0.01, RB_FROM(0.0, 1e12), "m/s", \
      "slower approach, or slower than what gravity adds in a step, is no collision and gets no " \
      "restitution; 0: the speed gained by falling through 1e-5 m") \
    X(int, sweepsMax, "sweepsMax", 2000, RB_FROM(1, 1e9), "", \
      "sweeps in a stage of a step; a game would take 4 to 10, and up to 30 are shared by small " \
      "steps in single precision") \
    X(bool, isWarm, "warmStart", true, RB_ANY, "", \
      "impulses of the last step are the first guess") \
    X(bool, isReacting, "jointReaction", false, RB_ANY, "", \
      "the mass of a normal is measured with the reaction of joints, and joints follow contact by " \
      "contact (B-81)") \
    X(int, shockAfter, "shockAfter", 0, RB_FROM(0, 1e9), "", \
      "sweeps after which shock propagation ends a stage; 0: never") \
    X(rbImpactLaw, law, "law", RB_IMPACT_NEWTON, RB_WORDS(rbImpactLaw), "", \
      "law of impact of collisions") \
    X(rbFrictionCone, cone, "cone", RB_CONE_EXACT, RB_WORDS(rbFrictionCone), "", \
      "bound of friction; pyramid, for comparison, has facets") \
    X(int, facets, "facets", 4, RB_FROM(3, RB_FRICTION_FACETS_MAX), "", \
      "facets of the pyramid") \
    X(rbContactTime, contactTime, "contactTime", RB_CONTACT_TIME_STEP, RB_WORDS(rbContactTime), "", \
      "search for the time of contact; step: bodies arrive at the end of a step; interpolation, " \
      "bisection: the step is cut where the gap closes") \
    X(rbCombineRule, frictionRule, "combineFriction", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", \
      "friction of two materials; stiction likewise; of rolling and spinning the larger counts") \
    X(rbCombineRule, restitutionRule, "combineRestitution", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", "restitution of two materials") \
    X(double, partSpeed, "partSpeed", 1.0, RB_ABOVE(0.0, 1e12), "m/s", \
      "overlap is undone no faster") \
    X(bool, isOverlapAllowed, "overlap", false, RB_WORDS(rbOverlap), "", \
      "bodies that overlap at the start; refuse: an error with their names; separate: steps push " \
      "them apart, no faster than partSpeed") \
    X(bool, areNeighborsMeeting, "neighbors", false, RB_ANY, "", \
      "bodies joined to each other collide too") \
    X(double, freezeSpeed, "freezeSpeed", 0.0, RB_FROM(0.0, 1e12), "m/s", \
      "islands of bodies slower than this for freezeTime stand still until something moves them; " \
      "0: never") \
    X(double, freezeTime, "freezeTime", 0.5, RB_ABOVE(0.0, 1e12), "s", \
      "time of slow motion after which an island freezes")
// clang-format on

/// Settings of contacts in the step engine; make them with rbDefaultContactSettings.
typedef struct rbContactSettings {
    RB_CONTACT_SETTINGS(RB_SETTING_FIELD)
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
    int64_t unwritten;       ///< events that found the journal full (rbStepSettings.journalMax)
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
