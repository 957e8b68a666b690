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

/// Settings of the event engine; rbDefaultWorldDef fills them in.
typedef struct rbEventSettings {
    rbImpactLaw law;                  ///< stronge; pairs of materials may have their own
    rbImpactOrder order;              ///< sequential
    rbLastingContact lasting;         ///< rest
    rbEventLoop loop;                 ///< bodies
    rbDetector detector;              ///< exact
    rbExtraSettings extra;            ///< of a registered detector; zero: its defaults
    rbBroadPhaseType broadPhase;      ///< auto
    rbCombineRule combineRestitution; ///< geometric
    rbCombineRule combineFriction;    ///< geometric
    double tolerance;   ///< m: bodies nearer than this touch; they never overlap by more. 0: 1e-5
                        ///< of the smallest diameter of a dynamic body
    double restTime;    ///< s without visible motion after which a body is held; 0.1
    double contactTime; ///< s: impacts of a pair that follow within it lose no more energy, and a
                        ///< series of bounces that would end within it has ended; 1e-7
    double eventsPerSecond; ///< budget of events in a simulated second; 0: 1e7 + 1e5 a body
    bool isOverlapAllowed;  ///< true: bodies that overlap at the start are pushed apart along the
                            ///< shortest way, each by its share of the masses; false: an error
    bool isJournalOff;      ///< true: impacts are counted but not written down
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
