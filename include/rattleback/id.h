/// @file
/// Handles. An id is valid in the world that made it; zero is the null id; a destroyed object's id
/// is never valid again, because the generation differs.
#ifndef RATTLEBACK_ID_H
#define RATTLEBACK_ID_H

#include <stdint.h>

typedef struct rbBodyId {
    uint32_t index1; ///< index + 1, 0 is null
    uint32_t generation;
} rbBodyId;

typedef struct rbGeometryId {
    uint32_t index1;
    uint32_t generation;
} rbGeometryId;

typedef struct rbShapeId {
    uint32_t index1;
    uint32_t generation;
} rbShapeId;

typedef struct rbForceId {
    uint32_t index1;
    uint32_t generation;
} rbForceId;

typedef struct rbJointId {
    uint32_t index1;
    uint32_t generation;
} rbJointId;

typedef struct rbSpringId {
    uint32_t index1;
    uint32_t generation;
} rbSpringId;

#define RB_IS_NULL(id) ((id).index1 == 0)
#define RB_ID_EQUALS(idA, idB) \
    ((idA).index1 == (idB).index1 && (idA).generation == (idB).generation)

#endif
