// The tables of keys: see scene_keys.h.
#include "io/scene/scene_keys.h"

#include "collision/geometry/shape_ops.h"
#include "dynamics/forces/force_table.h"
#include "world/world_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Rows. LENGTH and the like are symmetric ranges; POSITIVE excludes zero.
#define AT(type, member) .offset = offsetof(type, member)
#define SYMMETRIC(max, theUnit) .low = -(max), .high = (max), .unit = (theUnit)
#define POSITIVE(max, theUnit) .low = 0.0, .isLowOpen = true, .high = (max), .unit = (theUnit)
#define NOT_NEGATIVE(max, theUnit) .low = 0.0, .high = (max), .unit = (theUnit)
#define POINT SYMMETRIC(RB_SCENE_LENGTH_MAX, "m")
#define LENGTH POSITIVE(RB_SCENE_LENGTH_MAX, "m")
#define SPEED SYMMETRIC(RB_SCENE_SPEED_MAX, "m/s")
#define SPIN SYMMETRIC(RB_SCENE_SPEED_MAX, "rad/s")
#define NO_UNIT .unit = ""
#define DEFINE_KIND(variable, schemaName, text, table) \
    const rbObjectKind variable = {.name = schemaName, \
                                   .what = text,       \
                                   .keys = table,      \
                                   .keyCount = sizeof(table) / sizeof((table)[0])}

static const rbKey sceneKeys[] = {
    {"$schema", RB_VALUE_STRING, AT(rbSceneFields, schema), NO_UNIT},
    {"rattleback", RB_VALUE_INTEGER, AT(rbSceneFields, version), .isRequired = true,
     SYMMETRIC(1e9, ""), .rule = "expected the version of the format, 1"},
    {"name", RB_VALUE_NAME, AT(rbSceneFields, name), NO_UNIT},
    {"title", RB_VALUE_STRING, AT(rbSceneFields, title), NO_UNIT},
    {"theme", RB_VALUE_STRING, AT(rbSceneFields, theme), NO_UNIT},
    {"shows", RB_VALUE_STRING, AT(rbSceneFields, shows), NO_UNIT},
    {"why", RB_VALUE_STRING, AT(rbSceneFields, why), NO_UNIT},
    {"engine", RB_VALUE_STRING, AT(rbSceneFields, engine), NO_UNIT},
    {"detector", RB_VALUE_STRING, AT(rbSceneFields, detector), NO_UNIT},
    {"duration", RB_VALUE_NUMBER, AT(rbSceneFields, duration), POSITIVE(RB_SCENE_TIME_MAX, "s")},
    {"seed", RB_VALUE_INTEGER, AT(rbSceneFields, seed), NOT_NEGATIVE(0x1p53, ""),
     .rule = "expected an integer from 0 to 2^53"},
    {"output", RB_VALUE_OBJECT, AT(rbSceneFields, output), NO_UNIT},
    {"world", RB_VALUE_OBJECT, AT(rbSceneFields, world), NO_UNIT},
    {"motion", RB_VALUE_OBJECT, AT(rbSceneFields, motion), NO_UNIT},
    {"event", RB_VALUE_OBJECT, AT(rbSceneFields, event), NO_UNIT},
    {"step", RB_VALUE_OBJECT, AT(rbSceneFields, step), NO_UNIT},
    {"contact", RB_VALUE_OBJECT, AT(rbSceneFields, contact), NO_UNIT},
    {"materials", RB_VALUE_OBJECT, AT(rbSceneFields, materials), NO_UNIT},
    {"materialPairs", RB_VALUE_ARRAY, AT(rbSceneFields, materialPairs), NO_UNIT},
    {"geometries", RB_VALUE_OBJECT, AT(rbSceneFields, geometries), NO_UNIT},
    {"bodies", RB_VALUE_ARRAY, AT(rbSceneFields, bodies), .isRequired = true, NO_UNIT},
    {"forces", RB_VALUE_ARRAY, AT(rbSceneFields, forces), NO_UNIT},
    {"trees", RB_VALUE_ARRAY, AT(rbSceneFields, trees), NO_UNIT},
    {"joints", RB_VALUE_ARRAY, AT(rbSceneFields, joints), NO_UNIT},
    {"springs", RB_VALUE_ARRAY, AT(rbSceneFields, springs), NO_UNIT},
};
DEFINE_KIND(rbSceneKeys, "", "a scene", sceneKeys);

static const rbKey outputKeys[] = {
    {"step", RB_VALUE_NUMBER, AT(rbOutputFields, step), POSITIVE(RB_SCENE_TIME_MAX, "s")},
    {"probes", RB_VALUE_ARRAY, AT(rbOutputFields, probes), NO_UNIT},
};
DEFINE_KIND(rbOutputKeys, "output", "\"output\"", outputKeys);

static const rbKey probeKeys[] = {
    {"name", RB_VALUE_NAME, AT(rbProbeFields, name), NO_UNIT},
    {"body", RB_VALUE_STRING, AT(rbProbeFields, body), NO_UNIT},
    {"joint", RB_VALUE_STRING, AT(rbProbeFields, joint), NO_UNIT},
    {"spring", RB_VALUE_STRING, AT(rbProbeFields, spring), NO_UNIT},
    {"quantity", RB_VALUE_STRING, AT(rbProbeFields, quantity), .isRequired = true, NO_UNIT},
    {"with", RB_VALUE_STRING, AT(rbProbeFields, with), NO_UNIT},
    {"statistic", RB_VALUE_STRING, AT(rbProbeFields, statistic), NO_UNIT},
    {"within", RB_VALUE_ARRAY, AT(rbProbeFields, within), NO_UNIT},
    {"point", RB_VALUE_VEC3, AT(rbProbeFields, point), POINT},
    {"freedom", RB_VALUE_INTEGER, AT(rbProbeFields, freedom), NOT_NEGATIVE(1.0, "")},
};
DEFINE_KIND(rbProbeKeys, "probe", "a probe", probeKeys);

#define DEFINE_SETTINGS_KIND(variable, object, list) \
    const rbObjectKind variable = {.name = object, .what = "\"" object "\"", .settings = &(list)}
DEFINE_SETTINGS_KIND(rbWorldKeys, "world", rbWorldSettingList);
DEFINE_SETTINGS_KIND(rbMotionKeys, "motion", rbMotionSettingList);
DEFINE_SETTINGS_KIND(rbEventKeys, "event", rbEventSettingList);
DEFINE_SETTINGS_KIND(rbStepKeys, "step", rbStepSettingList);
DEFINE_SETTINGS_KIND(rbContactKeys, "contact", rbContactSettingList);
const rbObjectKind rbMaterialKeys = {
    .name = "material", .what = "a material", .settings = &rbMaterialSettingList};

static const rbKey materialPairKeys[] = {
    {"materials", RB_VALUE_ARRAY, AT(rbMaterialPairFields, materials), .isRequired = true, NO_UNIT},
    {"restitution", RB_VALUE_NUMBER, AT(rbMaterialPairFields, restitution), .isRequired = true,
     NOT_NEGATIVE(1.0, "")},
    {"friction", RB_VALUE_NUMBER, AT(rbMaterialPairFields, friction), .isRequired = true,
     NOT_NEGATIVE(1e6, "")},
    {"law", RB_VALUE_STRING, AT(rbMaterialPairFields, law), NO_UNIT},
};
DEFINE_KIND(rbMaterialPairKeys, "materialPair", "a pair of materials", materialPairKeys);

static const rbKey axisAngleKeys[] = {
    {"axis", RB_VALUE_VEC3, AT(rbAxisAngleFields, axis), .isRequired = true, SYMMETRIC(1e100, "")},
    {"angle", RB_VALUE_NUMBER, AT(rbAxisAngleFields, angle), .isRequired = true,
     SYMMETRIC(1e6, "rad")},
};
DEFINE_KIND(rbAxisAngleKeys, "axisAngle", "an orientation by axis and angle", axisAngleKeys);

static const rbKey partKeys[] = {
    {"geometry", RB_VALUE_STRING_OR_OBJECT, AT(rbPartFields, geometry), .isRequired = true,
     NO_UNIT},
    {"position", RB_VALUE_VEC3, AT(rbPartFields, position), POINT},
    {"orientation", RB_VALUE_ORIENTATION, AT(rbPartFields, orientation), NO_UNIT},
    {"density", RB_VALUE_NUMBER, AT(rbPartFields, density), POSITIVE(RB_SCENE_MASS_MAX, "kg/m^3")},
};
DEFINE_KIND(rbPartKeys, "part", "a part of a compound", partKeys);

static const rbKey shapeKeys[] = {
    {"geometry", RB_VALUE_STRING_OR_OBJECT, AT(rbShapeFields, geometry), .isRequired = true,
     NO_UNIT},
    {"material", RB_VALUE_STRING_OR_OBJECT, AT(rbShapeFields, material), NO_UNIT},
    {"position", RB_VALUE_VEC3, AT(rbShapeFields, position), POINT},
    {"orientation", RB_VALUE_ORIENTATION, AT(rbShapeFields, orientation), NO_UNIT},
    {"groups", RB_VALUE_INTEGER, AT(rbShapeFields, groups), NOT_NEGATIVE(UINT32_MAX, ""),
     .rule = "expected the sum of the bits of up to 32 groups: 1, 2, 4, 8, ..."},
    {"mask", RB_VALUE_INTEGER, AT(rbShapeFields, mask), NOT_NEGATIVE(UINT32_MAX, ""),
     .rule = "expected the sum of the bits of the groups it collides with: 1, 2, 4, 8, ..."},
    {"surfaceVelocity", RB_VALUE_VEC3, AT(rbShapeFields, surfaceVelocity), SPEED},
    {"sensor", RB_VALUE_BOOLEAN, AT(rbShapeFields, isSensor), NO_UNIT},
};
DEFINE_KIND(rbShapeKeys, "shape", "a shape", shapeKeys);

static const rbKey textureKeys[] = {
    {"type", RB_VALUE_STRING, AT(rbTextureFields, type), .isRequired = true, NO_UNIT},
    {"size", RB_VALUE_NUMBER, AT(rbTextureFields, size), LENGTH},
    {"color", RB_VALUE_STRING, AT(rbTextureFields, color), NO_UNIT},
};
DEFINE_KIND(rbTextureKeys, "texture", "a texture", textureKeys);

// Of bodies and of visuals.
#define LOOK_KEYS(type)                                                                  \
    {"color", RB_VALUE_STRING, AT(type, look.color), NO_UNIT},                           \
        {"opacity", RB_VALUE_NUMBER, AT(type, look.opacity), NOT_NEGATIVE(1.0, "")},     \
        {"roughness", RB_VALUE_NUMBER, AT(type, look.roughness), NOT_NEGATIVE(1.0, "")}, \
    {                                                                                    \
        "texture", RB_VALUE_OBJECT, AT(type, look.texture), NO_UNIT                      \
    }

static const rbKey visualKeys[] = {
    {"geometry", RB_VALUE_STRING_OR_OBJECT, AT(rbVisualFields, geometry), .isRequired = true,
     NO_UNIT},
    {"position", RB_VALUE_VEC3, AT(rbVisualFields, position), POINT},
    {"orientation", RB_VALUE_ORIENTATION, AT(rbVisualFields, orientation), NO_UNIT},
    LOOK_KEYS(rbVisualFields),
};
DEFINE_KIND(rbVisualKeys, "visual", "a visual", visualKeys);

static const rbKey bodyKeys[] = {
    {"name", RB_VALUE_NAME, AT(rbBodyFields, name), NO_UNIT},
    {"type", RB_VALUE_STRING, AT(rbBodyFields, type), NO_UNIT},
    {"position", RB_VALUE_VEC3, AT(rbBodyFields, position), POINT},
    {"orientation", RB_VALUE_ORIENTATION, AT(rbBodyFields, orientation), NO_UNIT},
    {"velocity", RB_VALUE_VEC3, AT(rbBodyFields, velocity), SPEED},
    {"spin", RB_VALUE_VEC3, AT(rbBodyFields, spin), SPIN},
    {"spinLocal", RB_VALUE_VEC3, AT(rbBodyFields, spinLocal), SPIN},
    {"mass", RB_VALUE_NUMBER, AT(rbBodyFields, mass), POSITIVE(RB_SCENE_MASS_MAX, "kg"),
     .rule = "a dynamic body needs a positive mass, at most 1e30 kg"},
    {"center", RB_VALUE_VEC3, AT(rbBodyFields, center), POINT},
    {"inertia", RB_VALUE_ARRAY, AT(rbBodyFields, inertia), NO_UNIT},
    {"shapes", RB_VALUE_ARRAY, AT(rbBodyFields, shapes), NO_UNIT},
    {"motion", RB_VALUE_OBJECT, AT(rbBodyFields, motion), NO_UNIT},
    {"path", RB_VALUE_OBJECT, AT(rbBodyFields, path), NO_UNIT},
    {"growth", RB_VALUE_NUMBER, AT(rbBodyFields, growth), NOT_NEGATIVE(RB_SCENE_SPEED_MAX, "m/s")},
    LOOK_KEYS(rbBodyFields),
    {"visuals", RB_VALUE_ARRAY, AT(rbBodyFields, visuals), NO_UNIT},
    {"viewGroup", RB_VALUE_NAME, AT(rbBodyFields, viewGroup), NO_UNIT},
    {"repeat", RB_VALUE_OBJECT, AT(rbBodyFields, repeat), NO_UNIT},
    {"scatter", RB_VALUE_OBJECT, AT(rbBodyFields, scatter), NO_UNIT},
};
DEFINE_KIND(rbBodyKeys, "body", "a body", bodyKeys);

static const rbKey repeatKeys[] = {
    {"count", RB_VALUE_ARRAY, AT(rbRepeatFields, count), .isRequired = true, NO_UNIT},
    {"spacing", RB_VALUE_VEC3, AT(rbRepeatFields, spacing), .isRequired = true, POINT},
};
DEFINE_KIND(rbRepeatKeys, "repeat", "\"repeat\"", repeatKeys);

static const rbKey scatterKeys[] = {
    {"count", RB_VALUE_INTEGER, AT(rbScatterFields, count), .isRequired = true, .low = 1.0,
     .high = 1e15, NO_UNIT, .rule = "expected an integer of at least 1"},
    {"box", RB_VALUE_VEC3, AT(rbScatterFields, box), .isRequired = true,
     NOT_NEGATIVE(RB_SCENE_LENGTH_MAX, "m")},
    {"speed", RB_VALUE_NUMBER, AT(rbScatterFields, speed), NOT_NEGATIVE(RB_SCENE_SPEED_MAX, "m/s")},
    {"spin", RB_VALUE_NUMBER, AT(rbScatterFields, spin), NOT_NEGATIVE(RB_SCENE_SPEED_MAX, "rad/s")},
};
DEFINE_KIND(rbScatterKeys, "scatter", "\"scatter\"", scatterKeys);

#define TYPE(fields)                                                           \
    {                                                                          \
        "type", RB_VALUE_STRING, AT(fields, type), .isRequired = true, NO_UNIT \
    }
#define GEOMETRY_TYPE TYPE(rbGeometryFields)
#define GEOMETRY_LENGTH(key)                                                         \
    {                                                                                \
#key, RB_VALUE_NUMBER, AT(rbGeometryFields, key), .isRequired = true, LENGTH \
    }
#define GEOMETRY_ARRAY(key, required)                                                    \
    {                                                                                    \
#key, RB_VALUE_ARRAY, AT(rbGeometryFields, key), .isRequired = required, NO_UNIT \
    }
// The keys of everything that can come from a file.
#define GEOMETRY_FILE                                                                \
    {"file", RB_VALUE_STRING, AT(rbGeometryFields, file), NO_UNIT},                  \
        {"scale", RB_VALUE_NUMBER, AT(rbGeometryFields, scale), POSITIVE(1e12, "")}, \
    {                                                                                \
        "up", RB_VALUE_STRING, AT(rbGeometryFields, up), NO_UNIT                     \
    }

static const rbKey hullKeys[] = {GEOMETRY_TYPE, GEOMETRY_ARRAY(points, false), GEOMETRY_FILE};
DEFINE_KIND(rbHullKeys, "hull", "a hull", hullKeys);

static const rbKey polyhedronKeys[] = {GEOMETRY_TYPE, GEOMETRY_ARRAY(vertices, false),
                                       GEOMETRY_ARRAY(faces, false), GEOMETRY_FILE};
DEFINE_KIND(rbPolyhedronKeys, "polyhedron", "a polyhedron", polyhedronKeys);
DEFINE_KIND(rbMeshKeys, "mesh", "a mesh", polyhedronKeys);
DEFINE_KIND(rbSoupKeys, "soup", "a soup", polyhedronKeys);

static const rbKey extrusionKeys[] = {GEOMETRY_TYPE, GEOMETRY_ARRAY(profile, true),
                                      GEOMETRY_LENGTH(height)};
DEFINE_KIND(rbExtrusionKeys, "extrusion", "an extrusion", extrusionKeys);

static const rbKey revolutionKeys[] = {
    GEOMETRY_TYPE,
    GEOMETRY_ARRAY(profile, true),
    {"segments", RB_VALUE_INTEGER, AT(rbGeometryFields, segments), .low = 3.0, .high = 100000.0,
     NO_UNIT},
};
DEFINE_KIND(rbRevolutionKeys, "revolution", "a revolution", revolutionKeys);

static const rbKey compoundKeys[] = {GEOMETRY_TYPE, GEOMETRY_ARRAY(parts, true)};
DEFINE_KIND(rbCompoundKeys, "compound", "a compound", compoundKeys);

static const rbKey tessellationKeys[] = {
    GEOMETRY_TYPE,
    {"of", RB_VALUE_STRING_OR_OBJECT, AT(rbGeometryFields, of), .isRequired = true, NO_UNIT},
    {"faces", RB_VALUE_INTEGER, AT(rbGeometryFields, faceCount), .low = 4.0,
     .high = RB_TESSELLATION_FACES_MAX, NO_UNIT},
    {"cut", RB_VALUE_OBJECT, AT(rbGeometryFields, cut), NO_UNIT},
};
DEFINE_KIND(rbTessellationKeys, "tessellation", "a tessellation", tessellationKeys);

static const rbKey cutKeys[] = {
    {"normal", RB_VALUE_VEC3, AT(rbCutFields, normal), .isRequired = true, POINT},
    {"offset", RB_VALUE_NUMBER, AT(rbCutFields, offset), POINT},
};
DEFINE_KIND(rbCutKeys, "cut", "\"cut\"", cutKeys);

// What every path has besides its line or curve.
#define PATH_COMMON                                                            \
    TYPE(rbPathFields), {"spin", RB_VALUE_VEC3, AT(rbPathFields, spin), SPIN}, \
    {                                                                          \
        "startTime", RB_VALUE_NUMBER, AT(rbPathFields, startTime),             \
            SYMMETRIC(RB_SCENE_TIME_MAX, "s")                                  \
    }
#define PATH_SPEED                                                                             \
    {                                                                                          \
        "speed", RB_VALUE_NUMBER, AT(rbPathFields, speed), .isRequired = true,                 \
                                                           POSITIVE(RB_SCENE_SPEED_MAX, "m/s") \
    }
#define PATH_VECTOR(key, required)                                                \
    {                                                                             \
#key, RB_VALUE_VEC3, AT(rbPathFields, key), .isRequired = required, POINT \
    }

static const rbKey pathLineKeys[] = {PATH_COMMON, PATH_SPEED, PATH_VECTOR(end, false),
                                     PATH_VECTOR(direction, false)};
DEFINE_KIND(rbPathLineKeys, "pathLine", "a path along a line", pathLineKeys);

static const rbKey pathCurveKeys[] = {
    PATH_COMMON,
    PATH_SPEED,
    {"points", RB_VALUE_ARRAY, AT(rbPathFields, points), .isRequired = true, NO_UNIT},
    PATH_VECTOR(startTangent, false),
    PATH_VECTOR(endTangent, false),
    {"tangentFactor", RB_VALUE_NUMBER, AT(rbPathFields, tangentFactor), NOT_NEGATIVE(100.0, "")},
    {"closed", RB_VALUE_BOOLEAN, AT(rbPathFields, isClosed), NO_UNIT},
};
DEFINE_KIND(rbPathCurveKeys, "pathCurve", "a path along a curve", pathCurveKeys);

static const rbKey pathRotationKeys[] = {PATH_COMMON};
DEFINE_KIND(rbPathRotationKeys, "pathRotation", "a path that only rotates", pathRotationKeys);

// The keys of the two bodies, and of the place of a joint or of a part of one.
#define ENDS(fields)                                                 \
    {"bodies", RB_VALUE_ARRAY, AT(fields, ends.bodies), NO_UNIT},    \
        {"bodyA", RB_VALUE_STRING, AT(fields, ends.bodyA), NO_UNIT}, \
    {                                                                \
        "bodyB", RB_VALUE_STRING, AT(fields, ends.bodyB), NO_UNIT    \
    }
#define DIRECTION SYMMETRIC(1e100, "")
#define PLACE(fields)                                                 \
    {"anchorA", RB_VALUE_VEC3, AT(fields, place.anchorA), POINT},     \
        {"anchorB", RB_VALUE_VEC3, AT(fields, place.anchorB), POINT}, \
        {"axis", RB_VALUE_VEC3, AT(fields, place.axis), DIRECTION},   \
        {"axisA", RB_VALUE_VEC3, AT(fields, place.axisA), DIRECTION}, \
        {"axisB", RB_VALUE_VEC3, AT(fields, place.axisB), DIRECTION}, \
        {"axes", RB_VALUE_ARRAY, AT(fields, place.axes), NO_UNIT},    \
        {"distance", RB_VALUE_NUMBER, AT(fields, place.distance),     \
         NOT_NEGATIVE(RB_SCENE_LENGTH_MAX, "m")},                     \
    {                                                                 \
        "anchor", RB_VALUE_VEC3, AT(fields, place.anchor), POINT      \
    }
// What acts along a freedom, in a member of the fields.
#define FREEDOM(fields, member)                                                                  \
    {"stiffness", RB_VALUE_NUMBER, AT(fields, member stiffness),                                 \
     NOT_NEGATIVE(RB_SCENE_LOAD_MAX, "N m/rad or N/m")},                                         \
        {"rest", RB_VALUE_NUMBER, AT(fields, member rest),                                       \
         SYMMETRIC(RB_SCENE_LENGTH_MAX, "rad or m")},                                            \
        {"damping", RB_VALUE_NUMBER, AT(fields, member damping),                                 \
         NOT_NEGATIVE(RB_SCENE_LOAD_MAX, "N m s/rad or N s/m")},                                 \
        {"friction", RB_VALUE_NUMBER, AT(fields, member friction),                               \
         NOT_NEGATIVE(RB_SCENE_LOAD_MAX, "N m or N")},                                           \
        {"lower", RB_VALUE_NUMBER, AT(fields, member lower),                                     \
         SYMMETRIC(RB_SCENE_LENGTH_MAX, "rad or m")},                                            \
        {"upper", RB_VALUE_NUMBER, AT(fields, member upper),                                     \
         SYMMETRIC(RB_SCENE_LENGTH_MAX, "rad or m")},                                            \
        {"restitution", RB_VALUE_NUMBER, AT(fields, member restitution), NOT_NEGATIVE(1.0, "")}, \
    {                                                                                            \
        "motor", RB_VALUE_OBJECT, AT(fields, member motor), NO_UNIT                              \
    }
#define JOINT_COMMON                                                                      \
    TYPE(rbJointFields),                                                                  \
        {"orientation", RB_VALUE_ORIENTATION, AT(rbJointFields, orientation), NO_UNIT},   \
        {"velocityOnly", RB_VALUE_OBJECT, AT(rbJointFields, velocityOnly), NO_UNIT},      \
        FREEDOM(rbJointFields, freedom.),                                                 \
        {"freedoms", RB_VALUE_ARRAY, AT(rbJointFields, freedoms), NO_UNIT},               \
        {"cone", RB_VALUE_NUMBER, AT(rbJointFields, cone), POSITIVE(3.2, "rad")},         \
        {"twist", RB_VALUE_ARRAY, AT(rbJointFields, twist), NO_UNIT},                     \
        {"neighbors", RB_VALUE_BOOLEAN, AT(rbJointFields, areNeighborsMeeting), NO_UNIT}, \
        {"solver", RB_VALUE_STRING, AT(rbJointFields, solver), NO_UNIT},                  \
    {                                                                                     \
        "parts", RB_VALUE_ARRAY, AT(rbJointFields, parts), NO_UNIT                        \
    }

static const rbKey jointKeys[] = {
    {"name", RB_VALUE_NAME, AT(rbJointFields, name), NO_UNIT},
    JOINT_COMMON,
    ENDS(rbJointFields),
    PLACE(rbJointFields),
    {"repeat", RB_VALUE_OBJECT, AT(rbJointFields, repeat), NO_UNIT},
};
DEFINE_KIND(rbJointKeys, "joint", "a joint", jointKeys);

static const rbKey treeJointKeys[] = {
    JOINT_COMMON,
    {"axis", RB_VALUE_VEC3, AT(rbJointFields, place.axis), DIRECTION},
    {"axisA", RB_VALUE_VEC3, AT(rbJointFields, place.axisA), DIRECTION},
    {"axisB", RB_VALUE_VEC3, AT(rbJointFields, place.axisB), DIRECTION},
    {"axes", RB_VALUE_ARRAY, AT(rbJointFields, place.axes), NO_UNIT},
};
DEFINE_KIND(rbTreeJointKeys, "treeJoint", "the joint of a tree", treeJointKeys);

static const rbKey jointPartKeys[] = {TYPE(rbJointPartFields), PLACE(rbJointPartFields)};
DEFINE_KIND(rbJointPartKeys, "jointPart", "a part of a joint", jointPartKeys);

static const rbKey velocityOnlyKeys[] = {
    {"linear", RB_VALUE_VEC3, AT(rbVelocityOnlyFields, linear), SPEED},
    {"angular", RB_VALUE_VEC3, AT(rbVelocityOnlyFields, angular), SPIN},
    {"forceMax", RB_VALUE_NUMBER, AT(rbVelocityOnlyFields, forceMax),
     POSITIVE(RB_SCENE_LOAD_MAX, "N and N m")},
};
DEFINE_KIND(rbVelocityOnlyKeys, "velocityOnly", "\"velocityOnly\"", velocityOnlyKeys);

static const rbKey freedomKeys[] = {FREEDOM(rbFreedomFields, )};
DEFINE_KIND(rbFreedomKeys, "freedom", "a freedom of a joint", freedomKeys);

static const rbKey motorKeys[] = {
    TYPE(rbMotorFields),
    {"gain", RB_VALUE_NUMBER, AT(rbMotorFields, gain),
     POSITIVE(RB_SCENE_LOAD_MAX, "N m/rad, N/m, N m s/rad or N s/m")},
    {"integralTime", RB_VALUE_NUMBER, AT(rbMotorFields, integralTime),
     NOT_NEGATIVE(RB_SCENE_TIME_MAX, "s")},
    {"derivativeTime", RB_VALUE_NUMBER, AT(rbMotorFields, derivativeTime),
     NOT_NEGATIVE(RB_SCENE_TIME_MAX, "s")},
    {"window", RB_VALUE_NUMBER, AT(rbMotorFields, window), NOT_NEGATIVE(RB_SCENE_TIME_MAX, "s")},
    {"forceMax", RB_VALUE_NUMBER, AT(rbMotorFields, forceMax),
     POSITIVE(RB_SCENE_LOAD_MAX, "N m or N")},
    {"target", RB_VALUE_NUMBER, AT(rbMotorFields, target),
     SYMMETRIC(RB_SCENE_LENGTH_MAX, "rad, m, rad/s or m/s")},
    {"schedule", RB_VALUE_ARRAY, AT(rbMotorFields, schedule), NO_UNIT},
};
DEFINE_KIND(rbMotorKeys, "motor", "a motor", motorKeys);

static const rbKey springKeys[] = {
    {"name", RB_VALUE_NAME, AT(rbSpringFields, name), NO_UNIT},
    ENDS(rbSpringFields),
    {"anchorA", RB_VALUE_VEC3, AT(rbSpringFields, anchorA), POINT},
    {"anchorB", RB_VALUE_VEC3, AT(rbSpringFields, anchorB), POINT},
    {"restLength", RB_VALUE_NUMBER, AT(rbSpringFields, restLength),
     NOT_NEGATIVE(RB_SCENE_LENGTH_MAX, "m")},
    {"stiffness", RB_VALUE_NUMBER, AT(rbSpringFields, stiffness),
     NOT_NEGATIVE(RB_SCENE_LOAD_MAX, "N/m")},
    {"damping", RB_VALUE_NUMBER, AT(rbSpringFields, damping),
     NOT_NEGATIVE(RB_SCENE_LOAD_MAX, "N s/m")},
    {"repeat", RB_VALUE_OBJECT, AT(rbSpringFields, repeat), NO_UNIT},
};
DEFINE_KIND(rbSpringKeys, "spring", "a spring", springKeys);

static const rbKey treeKeys[] = {
    {"name", RB_VALUE_NAME, AT(rbTreeFields, name), NO_UNIT},
    {"depth", RB_VALUE_INTEGER, AT(rbTreeFields, depth), .isRequired = true, .low = 1.0,
     .high = RB_SCENE_TREE_DEPTH_MAX, NO_UNIT},
    {"start", RB_VALUE_VEC3, AT(rbTreeFields, start), POINT},
    {"direction", RB_VALUE_VEC3, AT(rbTreeFields, direction), DIRECTION},
    {"side", RB_VALUE_VEC3, AT(rbTreeFields, side), DIRECTION},
    {"length", RB_VALUE_NUMBER, AT(rbTreeFields, length), LENGTH},
    {"ratio", RB_VALUE_NUMBER, AT(rbTreeFields, ratio), POSITIVE(100.0, "")},
    {"width", RB_VALUE_NUMBER, AT(rbTreeFields, width), LENGTH},
    {"density", RB_VALUE_NUMBER, AT(rbTreeFields, density), POSITIVE(RB_SCENE_MASS_MAX, "kg/m^3")},
    {"angle", RB_VALUE_NUMBER, AT(rbTreeFields, angle), SYMMETRIC(1e6, "rad")},
    {"turn", RB_VALUE_NUMBER, AT(rbTreeFields, turn), SYMMETRIC(1e6, "rad")},
    {"joint", RB_VALUE_OBJECT, AT(rbTreeFields, joint), NO_UNIT},
    {"parent", RB_VALUE_STRING, AT(rbTreeFields, parent), NO_UNIT},
};
DEFINE_KIND(rbTreeKeys, "tree", "a tree", treeKeys);

// ------------------------------------------------------------------------- rows of other tables

void rbTableKind_Start(rbTableKind* kind, const char* name, const char* what)
{
    *kind = (rbTableKind){.kind = {.keyCount = 0}};
    (void)snprintf(kind->name, sizeof kind->name, "%s", name);
    (void)snprintf(kind->what, sizeof kind->what, "%s", what);
    kind->kind.name = kind->name;
    kind->kind.what = kind->what;
    kind->kind.keys = kind->keys;
}

void rbTableKind_AddKey(rbTableKind* kind, rbKey key)
{
    RB_ASSERT(kind->kind.keyCount < RB_TABLE_KEYS_MAX);
    kind->keys[kind->kind.keyCount++] = key;
}

void rbTableKind_AddParameters(rbTableKind* kind, const rbParameter* parameters, int count,
                               size_t offset)
{
    for (int i = 0; i < count; ++i) {
        const rbParameter* p = &parameters[i];
        RB_ASSERT(p->count == 1 || p->count == 3);
        rbTableKind_AddKey(kind, (rbKey){.name = p->key,
                                         .kind = p->count == 3 ? RB_VALUE_VEC3 : RB_VALUE_NUMBER,
                                         .isRequired = p->isRequired,
                                         .isLowOpen = p->isLowOpen,
                                         .offset = offset + p->offset,
                                         .low = p->low,
                                         .high = p->high,
                                         .unit = p->unit});
    }
}

bool rbMakeShapeKind(rbShapeType type, rbTableKind* kind)
{
    const rbShapeOps* ops = rbGetShapeOps(type);
    char what[48];
    bool isVowel = strchr("aeiou", ops->name[0]) != NULL;
    (void)snprintf(what, sizeof what, "%s %.40s", isVowel ? "an" : "a", ops->name);
    rbTableKind_Start(kind, ops->name, what);
    rbTableKind_AddKey(kind, (rbKey)TYPE(rbShapeNumberFields));
    rbTableKind_AddParameters(kind, ops->parameters, ops->parameterCount,
                              offsetof(rbShapeNumberFields, numbers));
    return ops->parameters != NULL;
}

bool rbMakeForceKind(rbForceType type, rbTableKind* kind)
{
    const rbForceRow* row = rbGetForceRow(type);
    char name[48];
    char what[48];
    (void)snprintf(name, sizeof name, "force%c%.40s", toupper((unsigned char)row->name[0]),
                   row->name + 1);
    (void)snprintf(what, sizeof what, "a %.36s force", row->name);
    rbTableKind_Start(kind, name, what);
    rbTableKind_AddKey(kind, (rbKey)TYPE(rbForceFields));
    rbTableKind_AddKey(kind, (rbKey){"body", RB_VALUE_STRING, AT(rbForceFields, body), NO_UNIT});
    rbTableKind_AddParameters(kind, row->parameters, row->parameterCount,
                              offsetof(rbForceFields, def));
    return row->parameters != NULL;
}

const rbObjectKind* rbGetObjectKind(int index)
{
    static const rbObjectKind* const kinds[] = {
        &rbSceneKeys,        &rbOutputKeys,       &rbProbeKeys,     &rbWorldKeys,
        &rbMotionKeys,       &rbMaterialKeys,     &rbAxisAngleKeys, &rbPartKeys,
        &rbShapeKeys,        &rbBodyKeys,         &rbRepeatKeys,    &rbScatterKeys,
        &rbHullKeys,         &rbPolyhedronKeys,   &rbMeshKeys,      &rbSoupKeys,
        &rbExtrusionKeys,    &rbRevolutionKeys,   &rbCompoundKeys,  &rbPathLineKeys,
        &rbPathCurveKeys,    &rbPathRotationKeys, &rbEventKeys,     &rbMaterialPairKeys,
        &rbTessellationKeys, &rbCutKeys,          &rbStepKeys,      &rbJointKeys,
        &rbJointPartKeys,    &rbVelocityOnlyKeys, &rbFreedomKeys,   &rbMotorKeys,
        &rbSpringKeys,       &rbTreeKeys,         &rbTreeJointKeys, &rbContactKeys,
        &rbVisualKeys,       &rbTextureKeys,
    };
    RB_ASSERT(index >= 0);
    int count = (int)(sizeof kinds / sizeof kinds[0]);
    if (index < count) {
        return kinds[index];
    }
    // Then those of the tables of shapes and forces, and those of registered rows.
    static rbTableKind shapes[RB_SHAPE_COUNT + RB_REGISTERED_MAX];
    for (int i = 0; i < rbShapeType_GetCount(); ++i) {
        if (rbMakeShapeKind((rbShapeType)i, &shapes[i]) && count++ == index) {
            return &shapes[i].kind;
        }
    }
    static rbTableKind forces[RB_FORCE_COUNT + RB_REGISTERED_MAX];
    for (int i = 0; i < rbForceType_GetCount(); ++i) {
        if (rbMakeForceKind((rbForceType)i, &forces[i]) && count++ == index) {
            return &forces[i].kind;
        }
    }
    const rbSceneRow* row = NULL;
    for (int i = 0; (row = rbGetSceneRow(i)) != NULL; ++i) {
        if (row->kind != NULL && count++ == index) {
            return row->kind;
        }
    }
    return NULL;
}
