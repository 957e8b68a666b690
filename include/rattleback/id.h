/// @file
/// Handles. An id is valid in the world that created it; zero is the null id; the id of a destroyed
/// object never becomes valid again, because the generation differs.
#ifndef RATTLEBACK_ID_H
#define RATTLEBACK_ID_H

#include <stdint.h>

/// Handle of a body.
typedef struct rbBodyId {
    uint32_t index1;     ///< index + 1, 0 is null
    uint32_t generation; ///< differs for every object that used the index
} rbBodyId;

/// Handle of a geometry that a world owns.
typedef struct rbGeometryId {
    uint32_t index1;     ///< index + 1, 0 is null
    uint32_t generation; ///< differs for every object that used the index
} rbGeometryId;

/// Handle of a shape of a body.
typedef struct rbShapeId {
    uint32_t index1;     ///< index + 1, 0 is null
    uint32_t generation; ///< differs for every object that used the index
} rbShapeId;

/// Handle of a force.
typedef struct rbForceId {
    uint32_t index1;     ///< index + 1, 0 is null
    uint32_t generation; ///< differs for every object that used the index
} rbForceId;

/// Handle of a joint.
typedef struct rbJointId {
    uint32_t index1;     ///< index + 1, 0 is null
    uint32_t generation; ///< differs for every object that used the index
} rbJointId;

/// Handle of a spring.
typedef struct rbSpringId {
    uint32_t index1;     ///< index + 1, 0 is null
    uint32_t generation; ///< differs for every object that used the index
} rbSpringId;

/// True for the null id of any kind.
#define RB_IS_NULL(id) ((id).index1 == 0)
/// True when two ids of one kind name the same object.
#define RB_ID_EQUALS(idA, idB) \
    ((idA).index1 == (idB).index1 && (idA).generation == (idB).generation)

#endif
