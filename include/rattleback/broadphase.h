/// @file
/// Broad phase: finds overlapping boxes, by several methods with one interface.
///
/// The caller numbers its boxes with small integers (0, 1, 2, ...). Boxes are finite; touching
/// boxes overlap. All methods find the same pairs, bit for bit; they differ in cost (see
/// docs/modules/broadphase.md).
#ifndef RATTLEBACK_BROADPHASE_H
#define RATTLEBACK_BROADPHASE_H

#include <rattleback/base.h>
#include <rattleback/shape.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How overlapping boxes are found.
typedef enum rbBroadPhaseType {
    RB_BROAD_AUTO, ///< the engine's choice
    RB_BROAD_TREE, ///< dynamic tree of boxes
    RB_BROAD_COUNT ///< number of built-in types; registered types are numbered from here
} rbBroadPhaseType;

/// "auto", "tree", ...
RB_API const char* rbBroadPhaseType_Name(rbBroadPhaseType type);
/// The type of a name; rbBroadPhaseType_GetCount() if it is unknown.
RB_API rbBroadPhaseType rbBroadPhaseType_Find(const char* name);
/// Number of built-in and registered types; for those of the laboratory see lab.h.
RB_API int rbBroadPhaseType_GetCount(void);

/// A good type for these boxes: a registered one that suits them (of the laboratory: "naive" for a
/// few dozen, "hash" for boxes of similar size); otherwise tree. By measurement, see
/// docs/modules/broadphase.md. O(count); boxes may be NULL if count is 0.
RB_API rbBroadPhaseType rbChooseBroadPhase(const rbBounds* boxes, int count);

/// A set of boxes; opaque.
typedef struct rbBroadPhase rbBroadPhase;

/// Numbers of boxes, in ascending order. Grows as needed; owned by the caller (rbIdList_Free).
typedef struct rbIdList {
    int* ids;     ///< the numbers
    int count;    ///< number of ids
    int capacity; ///< capacity of the array
} rbIdList;
/// Frees the array; the list is empty afterward.
RB_API void rbIdList_Free(rbIdList* list);

/// Work done so far, for comparison.
typedef struct rbBroadPhaseCounts {
    int64_t boxTests;   ///< box against box
    int64_t candidates; ///< pairs before the box test (hashing), else pairs found
    int64_t cells;      ///< cells, nodes or interval ends visited
} rbBroadPhaseCounts;

/// type is not AUTO. cellSize: the typical edge of a box, m, for hashing; 0: taken from the boxes.
RB_API rbBroadPhase* rbCreateBroadPhase(rbBroadPhaseType type, double cellSize);
RB_API void rbDestroyBroadPhase(rbBroadPhase* broad); ///< NULL is fine
/// The method in use.
RB_API rbBroadPhaseType rbBroadPhase_GetType(const rbBroadPhase* broad);

/// Inserts box id, or moves it if it exists; partners (may be NULL) receives the boxes it overlaps
/// now, without itself. Does not allocate once the arrays have reached their size.
RB_API void rbBroadPhase_Place(rbBroadPhase* broad, int id, rbBounds box, rbIdList* partners);
/// Inserts or moves many boxes at once: ids 0 .. count-1. Cheaper than one by one if all move.
RB_API void rbBroadPhase_PlaceAll(rbBroadPhase* broad, const rbBounds* boxes, int count);
/// Removes box id, which must exist.
RB_API void rbBroadPhase_Remove(rbBroadPhase* broad, int id);
/// True if box id exists.
RB_API bool rbBroadPhase_Has(const rbBroadPhase* broad, int id);
/// Box id, m, as it was placed; it must exist.
RB_API rbBounds rbBroadPhase_GetBox(const rbBroadPhase* broad, int id);

/// The boxes that overlap a box, which need not be one of them. Changes only the counts of the
/// broad phase.
RB_API void rbBroadPhase_Query(rbBroadPhase* broad, rbBounds box, rbIdList* found);

/// All overlapping pairs, a < b, ordered by a, then b: pairs[2 i], pairs[2 i + 1]; count is the
/// number of ids, twice the number of pairs.
RB_API void rbBroadPhase_FindPairs(rbBroadPhase* broad, rbIdList* pairs);

/// Work done so far.
RB_API rbBroadPhaseCounts rbBroadPhase_GetCounts(const rbBroadPhase* broad);

#ifdef __cplusplus
}
#endif

#endif
