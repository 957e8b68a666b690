/// @file
/// Settings and statistics of the event engine.
///
/// The engine lets bodies fly on their closed forms and finds for every pair that comes near the
/// time before which it cannot meet; at that time it measures the distance, and so on until they
/// touch. No collision can be missed, whatever the speed. See docs/modules/event.md.
#ifndef RATTLEBACK_EVENT_H
#define RATTLEBACK_EVENT_H

#include <rattleback/broadphase.h>
#include <rattleback/impact.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the event engine treats contact that lasts.
typedef enum rbLastingContact {
    RB_LASTING_REST,  ///< microcollisions, points of a face all at once; ends of infinite bounces
                      ///< are passed; calm bodies are held
    RB_LASTING_MICRO, ///< microcollisions as specified (L-99 to L-102), one point after the other:
                      ///< nothing is ever held, and what lies on several points creeps a little
    RB_LASTING_NONE,  ///< every impact by its law alone: contact that lasts becomes a dense stream
                      ///< of impacts, or exhausts the budget
    RB_LASTING_COUNT
} rbLastingContact;

/// "rest", "microcollisions", ...
RB_API const char* rbLastingContact_Name(rbLastingContact lasting);
RB_API rbLastingContact rbLastingContact_Find(const char* name); ///< RB_LASTING_COUNT if unknown

/// How the event engine finds the next event.
typedef enum rbEventLoop {
    RB_LOOP_BODIES, ///< a clock and a heap entry per body: an event costs its neighborhood
    RB_LOOP_COUNT   ///< built-in ones; registered ones have the numbers from here on
} rbEventLoop;

RB_API const char* rbEventLoop_Name(rbEventLoop loop); ///< "bodies", ...
RB_API rbEventLoop rbEventLoop_Find(const char* name); ///< rbEventLoop_GetCount() if unknown
/// Built-in and registered loops; those of the laboratory: see lab.h.
RB_API int rbEventLoop_GetCount(void);

/// How the event engine finds out when a pair touches.
typedef enum rbDetector {
    RB_DETECTOR_EXACT, ///< roots and measured distances: none is missed
    RB_DETECTOR_COUNT  ///< built-in ones; registered ones have the numbers from here on
} rbDetector;

RB_API const char* rbDetector_Name(rbDetector detector); ///< "exact", ...
RB_API rbDetector rbDetector_Find(const char* name);     ///< rbDetector_GetCount() if unknown
/// Built-in and registered detectors; those of the laboratory: see lab.h.
RB_API int rbDetector_GetCount(void);

// clang-format off
/// The settings of the event engine, a row each (see RB_SETTING_FIELD).
#define RB_EVENT_SETTINGS(X) \
    X(rbImpactLaw, law, "law", RB_IMPACT_STRONGE, RB_WORDS(rbImpactLaw), "", \
      "law of impact; pairs of materials may have their own") \
    X(rbImpactOrder, order, "order", RB_ORDER_SEQUENTIAL, RB_WORDS(rbImpactOrder), "", \
      "order of several contacts at once; sequential: one after the other, the fastest first; " \
      "simultaneous: all at once by Newton's law, whatever the law") \
    X(rbLastingContact, lasting, "lasting", RB_LASTING_REST, RB_WORDS(rbLastingContact), "", \
      "contact that lasts; rest: microcollisions, and calm bodies are held; microcollisions: nothing " \
      "is ever held, and what lies on several points creeps a little; none: every impact by its law") \
    X(rbEventLoop, loop, "loop", RB_LOOP_BODIES, RB_WORDS(rbEventLoop), "", \
      "how the next event is found; bodies: an event costs its neighborhood; the others, for " \
      "comparison, cost the world and know no periodic box") \
    X(rbDetector, detector, NULL, RB_DETECTOR_EXACT, RB_WORDS(rbDetector), "", \
      "how the time of contact of a pair is found; a key of the scene itself") \
    X(rbBroadPhaseType, broadPhase, "broadPhase", RB_BROAD_AUTO, RB_WORDS(rbBroadPhaseType), "", \
      "how pairs of bodies that are near are found; auto: by their number and sizes") \
    X(rbCombineRule, combineRestitution, "combineRestitution", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", \
      "restitution of two materials a, b: geometric is sqrt(a b); above 1 it counts as 1") \
    X(rbCombineRule, combineFriction, "combineFriction", RB_COMBINE_GEOMETRIC, \
      RB_WORDS(rbCombineRule), "", "friction of two materials") \
    X(double, tolerance, "tolerance", 0.0, RB_FROM(0.0, 1e12), "m", \
      "bodies nearer than this touch, and never overlap by more; 0: 1e-5 of the smallest diameter " \
      "of a dynamic body") \
    X(double, restTime, "restTime", 0.1, RB_ABOVE(0.0, 1e12), "s", \
      "time without visible motion after which a body is held") \
    X(double, contactTime, "contactTime", 1e-7, RB_ABOVE(0.0, 1e12), "s", \
      "impacts of a pair that follow within it, more than ten in a row, lose no more energy, and a " \
      "series of bounces that would end within it has ended") \
    X(double, eventsPerSecond, "eventsPerSecond", 0.0, RB_FROM(0.0, 1e18), "1/s", \
      "budget of events in a simulated second; a run that spends it stops and names the bodies; 0: " \
      "1e7 + 1e5 a body") \
    X(bool, isOverlapAllowed, "overlap", false, RB_WORDS(rbOverlap), "", \
      "bodies that overlap at the start; refuse: an error with their names; separate: they are " \
      "pushed apart along the shortest way, each by its share of the masses") \
    X(bool, isJournalOff, NULL, false, RB_ANY, "", \
      "impacts are counted but not written down")
// clang-format on

/// Settings of the event engine; rbDefaultWorldDef fills them in.
typedef struct rbEventSettings {
    RB_EVENT_SETTINGS(RB_SETTING_FIELD)
    rbExtraSettings extra; ///< of a registered detector; zero: its defaults
} rbEventSettings;

/// What the event engine has done since the world was made.
typedef struct rbEventStatistics {
    int64_t impacts;                        ///< resolved single impacts without microcollisions
    int64_t lawCounts[RB_IMPACT_LAW_COUNT]; ///< of these, by law
    int64_t microcollisions;                ///< at single points, as in the journal
    int64_t collisions;                     ///< of pairs: each may be several impacts at points
    int64_t measurements;                   ///< distance queries
    int64_t bounds;                         ///< time bounds and roots computed
    int64_t renewals;                       ///< of where a body can be: broad phase updates
    int64_t staleEntries;                   ///< heap entries found out of date
    int64_t pairsMade;                      ///< near pairs that came up
    int64_t rests;                          ///< bodies held
    int64_t wakes;                          ///< held bodies let go
    int64_t jams;                           ///< impacts beyond the threshold of Painleve
    int64_t energyRaises;                   ///< impacts whose law raised the energy (Newton)
    int pairCount;                          ///< near pairs now
    int restingCount;                       ///< bodies held now
    double tolerance;                       ///< m, in use
    double overlapMax;                      ///< m, deepest overlap ever measured
    int64_t contactsExact;       ///< of the collisions: found by roots and measured distances
    double virial;               ///< J, sum of impulse times distance of centers: pressure of a gas
    rbBroadPhaseType broadPhase; ///< in use
} rbEventStatistics;

#ifdef __cplusplus
}
#endif

#endif
