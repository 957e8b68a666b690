/// @file
/// Contacts of the step engine: settings and statistics.
#ifndef RATTLEBACK_CONTACT_H
#define RATTLEBACK_CONTACT_H

#include <rattleback/broadphase.h>
#include <rattleback/id.h>
#include <rattleback/impact.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How bodies are kept from penetrating each other.
typedef enum rbContactMethod {
    RB_CONTACT_IMPULSES,    ///< impulses that satisfy non-penetration and friction to a tolerance
    RB_CONTACT_METHOD_COUNT ///< number of built-in methods; registered ones come after them
} rbContactMethod;

RB_API const char* rbContactMethod_Name(rbContactMethod method); ///< "impulses", ...
/// The method of a name; rbContactMethod_GetCount() if it is unknown.
RB_API rbContactMethod rbContactMethod_Find(const char* name);
/// Number of built-in and registered methods; for those of the laboratory see lab_contact.h.
RB_API int rbContactMethod_GetCount(void);

/// How friction is bounded.
typedef enum rbFrictionCone {
    RB_CONE_EXACT,   ///< |T| <= mu P
    RB_CONE_PYRAMID, ///< n facets, inscribed; for comparison
    RB_CONE_COUNT
} rbFrictionCone;

RB_API const char* rbFrictionCone_Name(rbFrictionCone cone); ///< "exact", "pyramid"
RB_API rbFrictionCone rbFrictionCone_Find(const char* name); ///< RB_CONE_COUNT if unknown

/// Maximum number of facets of a friction pyramid.
#define RB_FRICTION_FACETS_MAX 64

/// How the time of contact within a step is found.
typedef enum rbContactTime {
    RB_CONTACT_TIME_STEP,          ///< not searched for: bodies make contact at the end of the step
    RB_CONTACT_TIME_INTERPOLATION, ///< the step is cut where the gap closes, found by interpolation
    RB_CONTACT_TIME_BISECTION,     ///< the same by bisection
    RB_CONTACT_TIME_AUTO,          ///< by interpolation where few points touch and a body strikes
                                   ///< that bears a load or has joints, or an obstacle that turns;
                                   ///< a few cuts a step
    RB_CONTACT_TIME_COUNT
} rbContactTime;

RB_API const char* rbContactTime_Name(rbContactTime time); ///< "step", "interpolation", ...
RB_API rbContactTime rbContactTime_Find(const char* name); ///< RB_CONTACT_TIME_COUNT if unknown

// clang-format off
/// The settings of contacts in the step engine, one per row (see RB_SETTING_FIELD).
#define RB_CONTACT_SETTINGS(X) \
    X(bool, isEnabled, "enabled", true, RB_ANY, "", \
      "bodies collide with each other; false: they pass through each other") \
    X(rbContactMethod, method, "method", RB_CONTACT_IMPULSES, RB_WORDS(rbContactMethod), "", \
      "how penetration is prevented; penalty, for comparison: springs and dampers at the " \
      "points, single bodies only, no freezing and no search for the time of contact") \
    X(rbBroadPhaseType, broadPhase, "broadPhase", RB_BROAD_TREE, RB_WORDS(rbBroadPhaseType), "", \
      "how nearby pairs of bodies are found") \
    X(double, shell, "shell", 1e-5, RB_FROM(0.0, 1.0), "m", \
      "contacts act at this distance outside the surfaces, so that meshes never overlap") \
    X(double, tolerance, "tolerance", 0.0, RB_FROM(0.0, 1.0), "m", \
      "allowed error of gaps and slip at the end of a step; 0: 1e-5, and islands of up to 256 " \
      "bodies are solved to 1e-6. Above 1e-5: contacts are solved to 1e-5 all the same") \
    X(double, velocityTolerance, "velocityTolerance", 0.0, RB_FROM(0.0, 1e12), "m/s", \
      "allowed error of contact velocities at the end of a step; 0: 1e-4, and islands of up to " \
      "256 bodies are solved to 1e-8. Above 1e-3: contacts are solved to 1e-3 all the same") \
    X(double, restSpeed, "restSpeed", 0.01, RB_FROM(0.0, 1e12), "m/s", \
      "approach below this speed, or below what gravity adds in a step, is not a collision and " \
      "gets no restitution; 0: the speed gained by a fall of 1e-5 m") \
    X(int, substeps, "substeps", 0, RB_FROM(0, 1000), "", \
      "small steps in single precision per step, instead of solving to a tolerance; accuracy " \
      "game only; 0: none") \
    X(int, sweepsMax, "sweepsMax", 2000, RB_FROM(1, 1e9), "", \
      "maximum sweeps per stage of a step") \
    X(bool, isWarm, "warmStart", true, RB_ANY, "", \
      "the impulses of the last step are the initial guess") \
    X(bool, isReacting, "jointReaction", false, RB_ANY, "", \
      "the effective mass along a normal includes the reaction of joints, and joints are " \
      "solved contact by contact (B-81); of the laboratory, for comparison") \
    X(int, shockAfter, "shockAfter", 0, RB_FROM(0, 1e9), "", \
      "number of sweeps after which shock propagation ends a stage; 0: never") \
    X(rbImpactLaw, law, "law", RB_IMPACT_STRONGE, RB_WORDS(rbImpactLaw), "", \
      "impact law of collisions; pairs of materials may have their own") \
    X(rbFrictionCone, cone, "cone", RB_CONE_EXACT, RB_WORDS(rbFrictionCone), "", \
      "bound on friction; pyramid, for comparison, has facets") \
    X(int, facets, "facets", 4, RB_FROM(3, RB_FRICTION_FACETS_MAX), "", \
      "number of facets of the pyramid") \
    X(rbContactTime, contactTime, "contactTime", RB_CONTACT_TIME_AUTO, RB_WORDS(rbContactTime), "", \
      "search for the time of contact; step: none, contact at the end of a step; " \
      "interpolation, bisection: the step is cut where the gap closes; auto: by interpolation, " \
      "up to 4 times a step, while at most 32 points touch, for bodies with loads or joints " \
      "and at obstacles that turn") \
    X(rbCombineRule, frictionRule, "combineFriction", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", \
      "friction of two materials; the same for stiction; for rolling and spinning the larger " \
      "value is used") \
    X(rbCombineRule, restitutionRule, "combineRestitution", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", "restitution of two materials") \
    X(rbRestitutionLaw, restitution, "restitution", RB_RESTITUTION_CONSTANT, \
      RB_WORDS(rbRestitutionLaw), "", \
      "how the restitution of a collision follows from that of the materials; modules add laws") \
    X(double, partSpeed, "partSpeed", 1.0, RB_ABOVE(0.0, 1e12), "m/s", \
      "maximum speed at which overlap is removed") \
    X(bool, isOverlapAllowed, "overlap", false, RB_WORDS(rbOverlap), "", \
      "bodies that overlap at the start; refuse: an error with their names; separate: steps " \
      "push them apart, at most at partSpeed") \
    X(bool, hasEvents, "events", false, RB_ANY, "", \
      "rbWorld_GetContactEvents has what begins and ceases to touch; costs some percent of a " \
      "game's step; sensors report in any case") \
    X(bool, areNeighborsMeeting, "neighbors", false, RB_ANY, "", \
      "bodies connected by a joint collide, too") \
    X(double, freezeSpeed, "freezeSpeed", 0.0, RB_FROM(0.0, 1e12), "m/s", \
      "islands whose bodies are slower than this for freezeTime are frozen until something " \
      "moves them; 0: never") \
    X(double, freezeTime, "freezeTime", 0.5, RB_ABOVE(0.0, 1e12), "s", \
      "duration of slow motion after which an island freezes")
// clang-format on

/// Settings of contacts in the step engine; make them with rbDefaultContactSettings.
typedef struct rbContactSettings {
    RB_CONTACT_SETTINGS(RB_SETTING_FIELD)
    rbExtraSettings extra; ///< of a registered method; zero: its defaults
} rbContactSettings;

/// The default settings.
RB_API rbContactSettings rbDefaultContactSettings(void);

/// A point where two bodies overlap, as a contact law sees it.
typedef struct rbContactLawInput {
    double depth;       ///< m, > 0: of the overlap
    double speed;       ///< m/s, at which the depth grows; negative: the bodies part
    double mass;        ///< kg, reduced: 1 / (1/mA + 1/mB)
    double restitution; ///< of the two materials, 0..1
} rbContactLawInput;

/// A law of contact: the normal force at a point that overlaps, with regularized Coulomb friction
/// along it. A contact method of the step engine, with the limits of the method "penalty": single
/// bodies only, no freezing and no search for the time of contact.
typedef struct rbContactLawRow {
    const char* name;    ///< in scenes, as contact.method: "hertz"
    const char* meaning; ///< a sentence for users
    double partMax; ///< s, > 0: a step is divided into parts of at most this; a twentieth of the
                    ///< shortest contact is accurate to about a percent
    /// Normal force, N; what is negative counts as 0. Must be a pure function.
    double (*force)(const rbContactLawInput* input);
} rbContactLawRow;

/// Errors of contacts.
typedef struct rbContactTolerance {
    double gap;   ///< m
    double speed; ///< m/s
} rbContactTolerance;

/// The errors that settings allow: their tolerances, or what 0 stands for.
RB_API rbContactTolerance rbContactSettings_GetTolerance(const rbContactSettings* settings);

/// Work on contacts since the world was created.
typedef struct rbContactStatistics {
    int64_t collisions;      ///< points that collided
    int64_t energyRaises;    ///< collisions whose law raised the energy (Newton's)
    double energyRaised;     ///< J, by these; part of rbLedger.impactWork
    int64_t contactSum;      ///< points, summed over all steps
    int contactCount;        ///< points in the last step
    int pairCount;           ///< near pairs
    int islandCount;         ///< in the last step
    int frozenCount;         ///< frozen bodies
    int64_t positionSweeps;  ///< of all steps
    int64_t velocitySweeps;  ///< of all steps
    int64_t collisionSweeps; ///< of all steps
    int64_t unmetSteps;      ///< steps that ended above a tolerance
    int64_t directStages;    ///< stages whose islands were solved as a whole, by Newton's method
    int64_t hybridStages;    ///< those of them by sweeps and Newton's method in turn
    int64_t dividedSteps;    ///< steps made in parts, because many bodies strike each other
    int64_t shockedStages;   ///< stages ended by shock propagation
    int64_t unwritten;       ///< events that found the journal full (rbStepSettings.journalMax)
    int64_t cutSteps;        ///< steps shortened to the time of a contact
    int64_t cutTrials;       ///< steps tried and undone to find these times
    int64_t lowOrderSteps;   ///< steps at order 2 where a higher one was asked for: across changes
                             ///< of what touches, sticks or slides, and where it cannot be held
    double gapErrorMax;      ///< m, left by a position stage in its linear equations; a point that
                             ///< pushes can be farther apart, by terms of the second order
    double speedErrorMax;    ///< m/s, left by a velocity stage or by collisions
    double reboundErrorMax;  ///< m/s, fastest approach stopped without rebound because the rounds
                             ///< of collisions ended; up to restSpeed nothing is missed
    double jointErrorMax;    ///< m, of joints of touching bodies, left by a position stage
    double jointSpeedErrorMax; ///< m/s, of joints of touching bodies, left by a velocity stage
    double restSpeed;          ///< m/s, slower approach is no collision
    double deepest;            ///< m, deepest overlap so far, >= 0
    double deepestTime;        ///< s
    rbBodyId deepestA;         ///< body of that overlap; null: none
    rbBodyId deepestB;         ///< body of that overlap; null: none
    double overlap;            ///< m, deepest overlap in the last step, >= 0
    rbBodyId overlapA;         ///< body of that overlap; null: none
    rbBodyId overlapB;         ///< body of that overlap; null: none
    int limitedJoints;         ///< joints that have limits
    int limitCount;            ///< joint stops under load in the last step
    double limitExcess;        ///< m or rad, farthest beyond a stop, >= 0
    double collisionTime;      ///< s of CPU time spent on collisions; not part of snapshots
    double contactTime;        ///< s of CPU time spent on lasting contacts
} rbContactStatistics;

/// A contact point under load, as the last step left it.
typedef struct rbContactView {
    rbBodyId bodyA;  ///< first body
    rbBodyId bodyB;  ///< second body
    rbVec3 point;    ///< m, world
    rbVec3 normal;   ///< unit, from A to B
    double gap;      ///< m, between the surfaces; negative: overlap
    rbVec3 force;    ///< N, on B: normal and friction, mean over the step
    bool isSticking; ///< it did not slide
} rbContactView;

/// What began or ended.
typedef enum rbContactEventKind {
    RB_CONTACT_BEGIN, ///< two shapes began to press on each other
    RB_CONTACT_END,   ///< they no longer touch
    RB_SENSOR_BEGIN,  ///< a shape came into a sensor
    RB_SENSOR_END,    ///< it left the sensor
    RB_CONTACT_EVENT_COUNT
} rbContactEventKind;

/// "begin", "end", "sensor begin", "sensor end".
RB_API const char* rbContactEventKind_Name(rbContactEventKind kind);

/// Two shapes of two bodies began or ceased to touch, in the step engine with contacts and
/// rbContactSettings.hasEvents. They begin
/// when an impulse acts between them, and end when no point of them is closed at the end of a step:
/// farther apart than the shell, or in a pair that no longer collides. A ball that bounces begins
/// and ends with every bounce; a body at rest, also a frozen one, stays in touch.
///
/// Or a shape B that is no sensor overlaps, or no longer, a sensor A of another body; one of the
/// two bodies must be able to move. Sensors are checked at the end of every step, in the event
/// engine at multiples of rbEventSettings.sensorStep: what passes in between is not seen. Point is
/// then the center of mass of body B; normal, speed and impulse are zero.
typedef struct rbContactEvent {
    double time;             ///< s, the end of the step in which it was found
    rbContactEventKind kind; ///< what happened
    rbBodyId bodyA;          ///< first body; of an end it may have been destroyed (rbBody_IsValid)
    rbBodyId bodyB;          ///< second body
    int shapeA;              ///< which of the shapes of A, see rbBody_GetShape
    int shapeB;              ///< which of the shapes of B
    rbVec3 point;            ///< m, world, mean of the touching points; of an end: the last one
    rbVec3 normal;           ///< unit, from A to B; of an end: the last one
    double approachSpeed;    ///< m/s, along the normal before the first touch, >= 0; the same for
                             ///< the end
    rbVec3 impulse; ///< N s, on B, of normal forces and friction: of the first step, which is that
                    ///< of the blow; of an end: the sum from beginning to end
} rbContactEvent;

#ifdef __cplusplus
}
#endif

#endif
