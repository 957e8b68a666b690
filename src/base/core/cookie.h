// Cookies: what proves that a definition was made by its default function, and by headers of the
// same version as the library.
//
// A cookie is the first member of a definition: 'R', the ABI version of the headers (16 bits), the
// kind of the definition (8 bits).
#pragma once

#include "base/core/status.h"

#include <stdbool.h>

// The kinds, and what the default function of each is called, after rbDefault.
#define RB_DEF_KIND_MAP(X)           \
    X(WORLD, "WorldDef")             \
    X(BODY, "BodyDef")               \
    X(SHAPE, "ShapeDef")             \
    X(FORCE, "ForceDef")             \
    X(SEPARATION, "SeparationInput") \
    X(JOINT, "JointDef")             \
    X(SPRING, "SpringDef")           \
    X(HIERARCHY, "HierarchyDef")     \
    X(DISTANCE, "DistanceInput")     \
    X(DEBUG_DRAW, "DebugDraw")       \
    X(CLUSTER, "ClusterDef")

typedef enum rbDefKind {
    RB_KIND_NONE,
#define RB_DEF_KIND_ENUM(name, text) RB_KIND_##name,
    RB_DEF_KIND_MAP(RB_DEF_KIND_ENUM)
#undef RB_DEF_KIND_ENUM
    RB_KIND_COUNT
} rbDefKind;

// Zeroes a definition of the caller, of size bytes as its headers have it, and writes the cookie.
// Returns whether the headers are those of the library, whose definition has ownSize bytes: only
// then may the other members be written.
bool rbStampDef(void* def, rbDefKind kind, size_t ownSize, uint32_t abi, size_t size);

// OK, or INVALID with a message: the definition is not made by its default function, or by headers
// of another version.
rbStatus rbCheckCookie(uint32_t cookie, rbDefKind kind, rbError* error);

#define RB_CHECK_COOKIE(def, kind, error) rbCheckCookie((def)->cookie, (kind), (error))
