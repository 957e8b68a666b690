/// @file
/// Settings and statistics of the event engine, and the events of a journal.
///
/// Bodies move on closed-form flights. For every nearby pair the engine computes a time before
/// which it cannot touch; at that time it measures the distance, and so on until contact. No
/// collision is missed, at any speed. See docs/modules/event.md.
#ifndef RATTLEBACK_EVENT_H
#define RATTLEBACK_EVENT_H

#include <rattleback/broadphase.h>
#include <rattleback/id.h>
#include <rattleback/impact.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the event engine treats lasting contact.
typedef enum rbLastingContact {
    RB_LASTING_REST,  ///< microcollisions, points of a face all at once; skips the ends of infinite
                      ///< series of bounces; holds calm bodies
    RB_LASTING_MICRO, ///< microcollisions as specified (L-99 to L-102), one point after the other:
                      ///< nothing is held, and bodies on several points creep a little
    RB_LASTING_NONE,  ///< every impact by its law alone: lasting contact becomes a dense stream of
                      ///< impacts, or exhausts the budget
    RB_LASTING_COUNT
} rbLastingContact;

/// "rest", "microcollisions", ...
RB_API const char* rbLastingContact_Name(rbLastingContact lasting);
RB_API rbLastingContact rbLastingContact_Find(const char* name); ///< RB_LASTING_COUNT if unknown

/// How the event engine finds the next event.
typedef enum rbEventLoop {
    RB_LOOP_BODIES, ///< a clock and a heap entry per body: an event costs only its neighborhood
    RB_LOOP_COUNT   ///< number of built-in loops; registered loops are numbered from here
} rbEventLoop;

RB_API const char* rbEventLoop_Name(rbEventLoop loop); ///< "bodies", ...
RB_API rbEventLoop rbEventLoop_Find(const char* name); ///< rbEventLoop_GetCount() if unknown
/// Number of built-in and registered loops; for those of the laboratory see lab.h.
RB_API int rbEventLoop_GetCount(void);

/// How the event engine finds the time of contact of a pair.
typedef enum rbDetector {
    RB_DETECTOR_EXACT, ///< roots and measured distances: misses nothing
    RB_DETECTOR_COUNT  ///< number of built-in detectors; registered ones are numbered from here
} rbDetector;

RB_API const char* rbDetector_Name(rbDetector detector); ///< "exact", ...
RB_API rbDetector rbDetector_Find(const char* name);     ///< rbDetector_GetCount() if unknown
/// Number of built-in and registered detectors; for those of the laboratory see lab.h.
RB_API int rbDetector_GetCount(void);

// clang-format off
/// The settings of the event engine, one per row (see RB_SETTING_FIELD).
#define RB_EVENT_SETTINGS(X) \
    X(rbImpactLaw, law, "law", RB_IMPACT_STRONGE, RB_WORDS(rbImpactLaw), "", \
      "impact law; pairs of materials may have their own") \
    X(rbImpactOrder, order, "order", RB_ORDER_SEQUENTIAL, RB_WORDS(rbImpactOrder), "", \
      "order of simultaneous contacts; sequential: one after the other, the fastest first; " \
      "simultaneous: all at once") \
    X(rbLastingContact, lasting, "lasting", RB_LASTING_REST, RB_WORDS(rbLastingContact), "", \
      "lasting contact; rest: microcollisions, and calm bodies are held; microcollisions: " \
      "nothing is ever held, and bodies on several points creep a little; none: every impact " \
      "by its law") \
    X(rbEventLoop, loop, "loop", RB_LOOP_BODIES, RB_WORDS(rbEventLoop), "", \
      "how the next event is found; bodies: an event costs only its neighborhood; the others, " \
      "for comparison, visit all bodies and do not support a periodic box") \
    X(rbDetector, detector, NULL, RB_DETECTOR_EXACT, RB_WORDS(rbDetector), "", \
      "how the time of contact of a pair is found; in scenes a top-level key") \
    X(rbBroadPhaseType, broadPhase, "broadPhase", RB_BROAD_AUTO, RB_WORDS(rbBroadPhaseType), "", \
      "how nearby pairs of bodies are found; auto: chosen by their number and sizes") \
    X(rbCombineRule, combineRestitution, "combineRestitution", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", \
      "restitution of two materials a, b: geometric is sqrt(a b); values above 1 count as 1") \
    X(rbRestitutionLaw, restitution, "restitution", RB_RESTITUTION_CONSTANT, \
      RB_WORDS(rbRestitutionLaw), "", \
      "how the restitution of an impact follows from that of the materials; modules add laws") \
    X(rbCombineRule, combineFriction, "combineFriction", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", "friction of two materials") \
    X(double, tolerance, "tolerance", 0.0, RB_FROM(0.0, 1e12), "m", \
      "bodies closer than this touch, and never overlap by more; 0: 1e-5 of the smallest " \
      "diameter of a dynamic body") \
    X(double, restTime, "restTime", 0.1, RB_ABOVE(0.0, 1e12), "s", \
      "time without visible motion after which a body is held") \
    X(double, contactTime, "contactTime", 1e-7, RB_ABOVE(0.0, 1e12), "s", \
      "after more than ten impacts of a pair at shorter intervals no more energy is lost, and " \
      "a series of bounces that would end within this time has ended") \
    X(double, eventsPerSecond, "eventsPerSecond", 0.0, RB_FROM(0.0, 1e18), "1/s", \
      "maximum events per simulated second; a run that exceeds it stops and names the bodies; " \
      "0: 1e7 + 1e5 per body") \
    X(bool, isOverlapAllowed, "overlap", false, RB_WORDS(rbOverlap), "", \
      "bodies that overlap at the start; refuse: an error with their names; separate: they are " \
      "pushed apart by the shortest translation, divided according to their masses") \
    X(double, sensorStep, "sensorStep", 1e-3, RB_ABOVE(0.0, 1e12), "s", \
      "sensors are checked at multiples of this time") \
    X(bool, isJournalOff, NULL, false, RB_ANY, "", \
      "impacts are counted but not recorded")
// clang-format on

/// Settings of the event engine; rbDefaultWorldDef fills them in.
typedef struct rbEventSettings {
    RB_EVENT_SETTINGS(RB_SETTING_FIELD)
    rbExtraSettings extra; ///< of a registered detector; zero: its defaults
} rbEventSettings;

/// Everything that changes a flight or is worth recording.
typedef enum rbEventKind {
    RB_EVENT_IMPULSE,        ///< rbBody_ApplyImpulse or ApplyAngularImpulse
    RB_EVENT_SET_STATE,      ///< rbBody_SetState or rbWorld_WriteField
    RB_EVENT_FALLBACK,       ///< loads forced another motion type
    RB_EVENT_TOLERANCE,      ///< an integration missed its tolerance
    RB_EVENT_IMPACT,         ///< an impact by its law
    RB_EVENT_MICROCOLLISION, ///< a tiny impact of a lasting contact
    RB_EVENT_LASTING,        ///< an infinite series of bounces ended: lasting contact begins
    RB_EVENT_REST,           ///< a body is held at rest until something moves it
    RB_EVENT_WAKE,           ///< a held body was released
    RB_EVENT_PARTED,         ///< bodies that overlapped at the start were pushed apart
    RB_EVENT_SENSOR_BEGIN,   ///< body B came into a sensor of body A
    RB_EVENT_SENSOR_END,     ///< it left the sensor
    RB_EVENT_COUNT
} rbEventKind;

/// One event of the journal.
typedef struct rbEvent {
    double time;          ///< s
    rbEventKind kind;     ///< what happened
    rbImpactLaw law;      ///< of impacts and microcollisions
    rbBodyId bodyA;       ///< first body
    rbBodyId bodyB;       ///< null when one body is concerned
    double energyChange;  ///< J
    double energyBefore;  ///< J, kinetic, of the two bodies; impacts
    double frictionWork;  ///< J, part of the change due to friction; impacts
    rbVec3 point;         ///< m, world; impacts
    rbVec3 normal;        ///< unit, from A to B; impacts
    rbVec3 impulse;       ///< N s, on B; impacts
    double approachSpeed; ///< m/s, along the normal, before; impacts
    uint32_t history;     ///< phases of the contact point, see rbImpactHistory_Format
} rbEvent;

/// Work of the event engine since the world was created.
typedef struct rbEventStatistics {
    int64_t impacts;                        ///< single impacts resolved, without microcollisions
    int64_t lawCounts[RB_IMPACT_LAW_COUNT]; ///< the impacts, by law
    int64_t microcollisions;                ///< at single points, as in the journal
    int64_t collisions;                     ///< of pairs; each may be several impacts at points
    int64_t measurements;                   ///< distance queries
    int64_t bounds;                         ///< time bounds and roots computed
    int64_t renewals;                       ///< of motion bounds: broad phase updates
    int64_t staleEntries;                   ///< heap entries found out of date
    int64_t pairsMade;                      ///< nearby pairs created
    int64_t rests;                          ///< bodies held
    int64_t wakes;                          ///< held bodies released
    int64_t jams;                           ///< impacts beyond the Painleve threshold
    int64_t energyRaises;                   ///< impacts whose law raised the energy (Newton's)
    double energyRaised;                    ///< J, by these; part of rbLedger.impactWork
    int pairCount;                          ///< current nearby pairs
    int restingCount;                       ///< bodies currently held
    double tolerance;                       ///< m, in use
    double overlapMax;                      ///< m, deepest overlap ever measured
    int64_t contactsExact;                  ///< collisions found by roots and measured distances
    double virial;               ///< J, sum of impulse times center distance: pressure of a gas
    rbBroadPhaseType broadPhase; ///< in use
} rbEventStatistics;

#ifdef __cplusplus
}
#endif

#endif
