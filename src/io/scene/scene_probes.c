// Probes: what a run records. A table gives what each quantity measures and its unit.
#include "base/core/float_mode.h"
#include "base/core/registered_rows.h"
#include "io/scene/nearest_name.h"
#include "io/scene/scene_joints.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What a quantity can be measured on.
enum {
    OF_BODY = 1,
    OF_WORLD = 2,
    OF_JOINT = 4,
    OF_SPRING = 8,
    OF_FREEDOM = 16, // of a freedom of a joint, which determines the unit
    OF_PAIR = 32     // of a body "with" another one
};

typedef struct QuantityRow {
    const char* name;
    const char* unit;
    int columnCount;
    int where;
    void (*measure)(const rbProbeInput* input, double values[4]); // of a registered quantity
} QuantityRow;

static const QuantityRow builtIn[] = {
    [RB_PROBE_POSITION] = {"position", "m", 3, OF_BODY, NULL},
    [RB_PROBE_CENTER] = {"center", "m", 3, OF_BODY, NULL},
    [RB_PROBE_ORIENTATION] = {"orientation", "1", 4, OF_BODY, NULL},
    [RB_PROBE_VELOCITY] = {"velocity", "m/s", 3, OF_BODY, NULL},
    [RB_PROBE_ANGULAR_VELOCITY] = {"angularVelocity", "rad/s", 3, OF_BODY, NULL},
    [RB_PROBE_ANGULAR_VELOCITY_LOCAL] = {"angularVelocityLocal", "rad/s", 3, OF_BODY, NULL},
    [RB_PROBE_POINT] = {"point", "m", 3, OF_BODY, NULL},
    [RB_PROBE_ENERGY] = {"energy", "J", 1, OF_BODY | OF_WORLD, NULL},
    [RB_PROBE_KINETIC] = {"kinetic", "J", 1, OF_BODY | OF_WORLD, NULL},
    [RB_PROBE_POTENTIAL] = {"potential", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_MOMENTUM] = {"momentum", "kg m/s", 3, OF_BODY | OF_WORLD, NULL},
    [RB_PROBE_ANGULAR_MOMENTUM] = {"angularMomentum", "kg m^2/s", 3, OF_BODY | OF_WORLD, NULL},
    [RB_PROBE_ENERGY_DRIFT] = {"energyDrift", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_IMPACT_WORK] = {"impactWork", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_FRICTION_WORK] = {"frictionWork", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_MICRO_WORK] = {"microWork", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_REST_WORK] = {"restWork", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_IMPACTS] = {"impacts", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_MICROCOLLISIONS] = {"microcollisions", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_MEASUREMENTS] = {"measurements", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_PAIRS] = {"pairs", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_RESTING] = {"resting", "1", 1, OF_BODY | OF_WORLD, NULL},
    [RB_PROBE_VIRIAL] = {"virial", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_ANGLE] = {"angle", "rad", 1, OF_JOINT | OF_FREEDOM, NULL},
    [RB_PROBE_TRAVEL] = {"travel", "m", 1, OF_JOINT | OF_FREEDOM, NULL},
    [RB_PROBE_SPEED] = {"speed", "m/s", 1, OF_BODY | OF_JOINT | OF_FREEDOM | OF_SPRING, NULL},
    [RB_PROBE_DRIVE] = {"drive", "N", 1, OF_JOINT | OF_FREEDOM, NULL},
    [RB_PROBE_STOP] = {"stop", "N", 1, OF_JOINT | OF_FREEDOM, NULL},
    [RB_PROBE_MOTOR_TARGET] = {"motorTarget", "m", 1, OF_JOINT | OF_FREEDOM, NULL},
    [RB_PROBE_FORCE] = {"force", "N", 3, OF_JOINT, NULL},
    [RB_PROBE_TORQUE] = {"torque", "N m", 3, OF_JOINT, NULL},
    [RB_PROBE_POSITION_ERROR] = {"positionError", "m", 1, OF_JOINT, NULL},
    [RB_PROBE_ANGLE_ERROR] = {"angleError", "rad", 1, OF_JOINT, NULL},
    [RB_PROBE_POINT_A] = {"pointA", "m", 3, OF_JOINT | OF_SPRING, NULL},
    [RB_PROBE_POINT_B] = {"pointB", "m", 3, OF_JOINT | OF_SPRING, NULL},
    [RB_PROBE_LENGTH] = {"length", "m", 1, OF_SPRING, NULL},
    [RB_PROBE_TENSION] = {"tension", "N", 1, OF_SPRING, NULL},
    [RB_PROBE_SPRING_ENERGY] = {"springEnergy", "J", 1, OF_SPRING | OF_WORLD, NULL},
    [RB_PROBE_MOTOR_WORK] = {"motorWork", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_DISSIPATION] = {"dissipation", "J", 1, OF_WORLD, NULL},
    [RB_PROBE_JOINT_ERROR] = {"jointError", "m", 1, OF_WORLD, NULL},
    [RB_PROBE_JOINT_ANGLE_ERROR] = {"jointAngleError", "rad", 1, OF_WORLD, NULL},
    [RB_PROBE_SUBSTEPS] = {"substeps", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_HALVINGS] = {"halvings", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_POSITION_ITERATIONS] = {"positionIterations", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_ACCURACY_ESTIMATE] = {"accuracyEstimate", "m", 1, OF_WORLD, NULL},
    [RB_PROBE_CONTACTS] = {"contacts", "1", 1, OF_BODY | OF_WORLD | OF_PAIR, NULL},
    [RB_PROBE_CONTACT_FORCE] = {"contactForce", "N", 3, OF_BODY | OF_PAIR, NULL},
    [RB_PROBE_CONTACT_COLLISIONS] = {"contactCollisions", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_CONTACT_SWEEPS] = {"contactSweeps", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_DEEPEST] = {"deepest", "m", 1, OF_WORLD, NULL},
    [RB_PROBE_FROZEN] = {"frozen", "1", 1, OF_WORLD, NULL},
    [RB_PROBE_MASS] = {"mass", "kg", 1, OF_BODY, NULL},
};
_Static_assert(sizeof builtIn / sizeof builtIn[0] == RB_PROBE_COUNT, "one row a quantity");

static rbRegisteredRows registered;                         // of rbProbeRow
static QuantityRow registeredQuantities[RB_REGISTERED_MAX]; // the same as rows of the table

static int getQuantityCount(void)
{
    return RB_PROBE_COUNT + registered.count;
}

static const QuantityRow* getRow(int quantity)
{
    RB_ASSERT(quantity >= 0 && quantity < getQuantityCount());
    return quantity < RB_PROBE_COUNT ? &builtIn[quantity]
                                     : &registeredQuantities[quantity - RB_PROBE_COUNT];
}

RB_DEFINE_NAME(rbProbeQuantity, getQuantityCount(), getRow(index)->name)

static const char* const statisticNames[RB_STATISTIC_COUNT] = {
    [RB_STATISTIC_NONE] = "",
    [RB_STATISTIC_MEAN] = "mean",
    [RB_STATISTIC_MIN] = "min",
    [RB_STATISTIC_MAX] = "max",
    [RB_STATISTIC_SUM] = "sum",
    [RB_STATISTIC_NUMBER] = "number",
    [RB_STATISTIC_DEVIATION] = "deviation",
};

RB_DEFINE_NAME(rbProbeStatistic, RB_STATISTIC_COUNT, statisticNames[index])

static const char* getQuantityName(int index, const void* context)
{
    (void)context;
    return getRow(index)->name;
}

rbStatus rbRegisterProbe(const rbProbeRow* row, rbError* error)
{
    static const int wheres[RB_PROBE_SUBJECT_COUNT] = {
        [RB_PROBE_OF_WORLD] = OF_WORLD,
        [RB_PROBE_OF_BODY] = OF_BODY,
        [RB_PROBE_OF_JOINT] = OF_JOINT,
        [RB_PROBE_OF_SPRING] = OF_SPRING,
    };
    bool isGood = row->measure != NULL && row->unit != NULL && (int)row->subject >= 0 &&
                  row->subject < RB_PROBE_SUBJECT_COUNT &&
                  (row->columnCount == 1 || row->columnCount == 3 || row->columnCount == 4);
    if (!isGood) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the quantity \"%s\" of probes needs a unit, a subject, 1, 3 or 4 "
                           "columns and a measure function",
                           row->name != NULL ? row->name : "");
    }
    bool isKnown = false;
    for (int i = 0; i < getQuantityCount(); ++i) {
        isKnown = isKnown || (row->name != NULL && strcmp(getRow(i)->name, row->name) == 0);
    }
    rbNewRow newRow = {"quantity of probes", row->name, row, isKnown};
    rbStatus status = rbRegisteredRows_Add(&registered, &newRow, error);
    if (status == RB_STATUS_OK) {
        registeredQuantities[registered.count - 1] = (QuantityRow){
            row->name, row->unit, row->columnCount, wheres[row->subject], row->measure};
    }
    return status;
}

// The body, joint or spring of a probe; "world" if none.
static const char* getSubject(const rbProbe* probe)
{
    return probe->body != NULL     ? probe->body
           : probe->joint != NULL  ? probe->joint
           : probe->spring != NULL ? probe->spring
                                   : "world";
}

// Adds a probe and its columns. name NULL: formed from the subject and the quantity; unit NULL:
// that of the quantity.
static void addProbe(rbScene* scene, rbProbe probe, const char* unit)
{
    const QuantityRow* row = getRow((int)probe.quantity);
    char text[256];
    unit = unit != NULL ? unit : row->unit;
    if (probe.name == NULL) {
        (void)snprintf(text, sizeof text, "%s.%s%s%s%s%s", getSubject(&probe), row->name,
                       probe.with != NULL ? ".with." : "", probe.with != NULL ? probe.with : "",
                       probe.statistic != RB_STATISTIC_NONE ? "." : "",
                       statisticNames[probe.statistic]);
        probe.name = rbScene_CopyString(scene, text);
    }
    probe.firstColumn = scene->columns.count;
    probe.columnCount = row->columnCount;
    static const char* const suffixes[5][4] = {
        [1] = {""}, [3] = {".x", ".y", ".z"}, [4] = {".w", ".x", ".y", ".z"}};
    for (int i = 0; i < row->columnCount; ++i) {
        rbProbeColumn column = {.unit = unit, .probe = scene->probes.count};
        (void)snprintf(text, sizeof text, "%s%s", probe.name, suffixes[row->columnCount][i]);
        column.name = rbScene_CopyString(scene, text);
        (void)snprintf(text, sizeof text, "%s%s [%s]", probe.name, suffixes[row->columnCount][i],
                       unit);
        column.label = rbScene_CopyString(scene, text);
        rbArray_Push(scene->columns, column);
    }
    rbArray_Push(scene->probes, probe);
}

static rbStatus failSubject(rbReader* reader, const QuantityRow* row, int where)
{
    static const struct {
        int where;
        const char* text;
    } subjects[] = {{OF_BODY, "one body; name it with \"body\""},
                    {OF_JOINT, "one joint; name it with \"joint\""},
                    {OF_SPRING, "one spring; name it with \"spring\""}};
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i) {
        // For quantities of the world the key must be removed, see below.
        if ((row->where & subjects[i].where) != 0 &&
            (where == OF_WORLD || (row->where & OF_WORLD) == 0)) {
            return rbReader_Fail(reader, RB_STATUS_INVALID, "\"%s\" is a quantity of %s", row->name,
                                 subjects[i].text);
        }
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "\"%s\" is a quantity of the whole world; remove \"%s\"", row->name,
                         where == OF_BODY    ? "body"
                         : where == OF_JOINT ? "joint"
                                             : "spring");
}

static rbStatus readQuantity(rbReader* reader, const char* word, int where,
                             rbProbeQuantity* quantity)
{
    RB_ASSERT(word != NULL);
    rbReader_Push(reader, "quantity");
    for (int i = 0; i < getQuantityCount(); ++i) {
        if (strcmp(getRow(i)->name, word) != 0) {
            continue;
        }
        if ((getRow(i)->where & where) == 0) {
            return failSubject(reader, getRow(i), where);
        }
        *quantity = (rbProbeQuantity)i;
        rbReader_Pop(reader);
        return RB_STATUS_OK;
    }
    char hint[800];
    const char* nearest = rbFindNearestName(word, getQuantityName, getQuantityCount(), NULL);
    (void)rbSuggest(hint, sizeof hint, nearest);
    size_t used = strlen(hint);
    used += (size_t)snprintf(hint + used, sizeof hint - used, "%s", RB_MODULE_HINT);
    if (nearest == NULL) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, "; expected one of");
        for (int i = 0; i < getQuantityCount() && used < sizeof hint; ++i) {
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", i > 0 ? "," : "",
                                     getRow(i)->name);
        }
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID, "unknown quantity \"%.60s\"%s", word, hint);
}

// The box of a statistic: its lower and its upper corner.
static rbStatus readWithin(rbReader* reader, const json_t* array, rbProbe* probe)
{
    if (array == NULL) {
        return RB_STATUS_OK;
    }
    double v[2][3];
    rbReader_Push(reader, "within");
    if (probe->statistic == RB_STATISTIC_NONE || json_array_size(array) != 2) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"within\" is [[x, y, z], [x, y, z]], the lower and the upper corner "
                             "of the box of a \"statistic\"");
    }
    for (size_t i = 0; i < 2; ++i) {
        rbReader_PushIndex(reader, i);
        RB_TRY(rbReadNumbers(reader, json_array_get(array, i), v[i], 3, RB_SCENE_LENGTH_MAX));
        rbReader_Pop(reader);
    }
    for (int k = 0; k < 3; ++k) {
        if (!(v[0][k] < v[1][k])) {
            return rbReader_Fail(
                reader, RB_STATUS_INVALID,
                "the lower corner, %g m along %c, is not below the upper one, %g m", v[0][k],
                "xyz"[k], v[1][k]);
        }
    }
    probe->isBounded = true;
    probe->within = (rbBounds){{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}};
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// A statistic is of the bodies that a name means; some quantities have none.
static rbStatus readStatistic(rbReader* reader, const char* word, rbProbe* probe)
{
    if (word == NULL) {
        return RB_STATUS_OK;
    }
    rbReader_Push(reader, "statistic");
    for (int i = RB_STATISTIC_NONE + 1; i < RB_STATISTIC_COUNT; ++i) {
        if (strcmp(statisticNames[i], word) == 0) {
            probe->statistic = (rbProbeStatistic)i;
        }
    }
    if (probe->statistic == RB_STATISTIC_NONE) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "unknown statistic \"%.60s\"; expected mean, min, max, sum, "
                             "number or deviation",
                             word);
    }
    if (probe->body == NULL || probe->quantity == RB_PROBE_ORIENTATION ||
        probe->quantity >= RB_PROBE_COUNT) {
        return rbReader_Fail(
            reader, RB_STATUS_INVALID,
            "\"statistic\" is only for numbers and vectors of bodies, not for \"%s\" "
            "of %s",
            getRow((int)probe->quantity)->name, getSubject(probe));
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus validateBody(const rbScene* scene, rbReader* reader, const char* key,
                             const char* name, bool allowsSeveral)
{
    RB_ASSERT(name != NULL);
    int body = -1;
    int copy = -1;
    rbReader_Push(reader, key);
    if (!rbScene_FindBody(scene, name, &body, &copy)) {
        char hint[96];
        return rbReader_Fail(reader, RB_STATUS_NOT_FOUND, "there is no body \"%.60s\"%s", name,
                             rbSuggest(hint, sizeof hint, rbScene_GetNearestBody(scene, name)));
    }
    if (copy < 0 && !allowsSeveral) {
        return rbReader_Fail(
            reader, RB_STATUS_INVALID,
            "\"%s\" means %d bodies; name one of them, such as \"%s[0]\", or give a "
            "\"statistic\" such as \"mean\"",
            name, scene->bodies.data[body].copyCount, name);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// The joint or spring of a probe must exist.
static rbStatus validateLink(const rbScene* scene, rbReader* reader, const char* name,
                             bool wantSpring, int* index)
{
    const char* what = wantSpring ? "spring" : "joint";
    bool isSpring = false;
    int copy = 0;
    rbReader_Push(reader, what);
    if (!rbScene_FindLink(scene, name, &isSpring, index, &copy)) {
        char hint[96];
        return rbReader_Fail(reader, RB_STATUS_NOT_FOUND, "there is no %s \"%.60s\"%s", what, name,
                             rbSuggest(hint, sizeof hint, rbScene_GetNearestLink(scene, name)));
    }
    if (isSpring != wantSpring) {
        return rbReader_Fail(reader, RB_STATUS_INVALID, "\"%.60s\" is a %s; name it with \"%s\"",
                             name, isSpring ? "spring" : "joint", isSpring ? "spring" : "joint");
    }
    if (copy < 0) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"%s\" means several %ss; name one of them, such as \"%s[0]\"", name,
                             what, name);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// Chooses the freedom of the joint: the given one, or the first that has the quantity. It
// determines the unit.
static rbStatus chooseFreedom(rbReader* reader, const rbSceneJoint* joint, bool isGiven,
                              rbProbe* probe, const char** unit)
{
    static const char* const units[RB_PROBE_COUNT][2] = {
        [RB_PROBE_ANGLE] = {NULL, "rad"},       [RB_PROBE_TRAVEL] = {"m", NULL},
        [RB_PROBE_SPEED] = {"m/s", "rad/s"},    [RB_PROBE_DRIVE] = {"N", "N m"},
        [RB_PROBE_MOTOR_TARGET] = {"m", "rad"}, [RB_PROBE_STOP] = {"N", "N m"},
    };
    rbJointType type = joint->def.type;
    int count = rbGetFreedomCount(type);
    for (int i = isGiven ? probe->freedom : 0; i < (isGiven ? probe->freedom + 1 : count); ++i) {
        int isAngle = i < count && rbIsFreedomAngle(type, i) ? 1 : 0;
        if (i >= count || units[probe->quantity][isAngle] == NULL) {
            continue;
        }
        probe->freedom = i;
        *unit = units[probe->quantity][isAngle];
        bool isSpeed = joint->def.freedoms[i].motor.type == RB_MOTOR_SPEED ||
                       joint->def.freedoms[i].motor.type == RB_MOTOR_VELOCITY;
        if (probe->quantity == RB_PROBE_MOTOR_TARGET && isSpeed) {
            *unit = units[RB_PROBE_SPEED][isAngle];
        }
        return RB_STATUS_OK;
    }
    char has[96] = "no measurable freedom";
    for (int i = 0; i < count; ++i) {
        size_t used = i > 0 ? strlen(has) : 0;
        bool isAngle = rbIsFreedomAngle(type, i);
        (void)snprintf(has + used, sizeof has - used, "%s%s %d: \"%s\"", i > 0 ? ", " : "",
                       i > 0 ? "and freedom" : "freedom", i,
                       builtIn[isAngle ? RB_PROBE_ANGLE : RB_PROBE_TRAVEL].name);
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "the joint \"%s\" of type \"%s\" has no \"%s\"%s; it has %s", joint->name,
                         rbJointType_Name(type), getRow((int)probe->quantity)->name,
                         isGiven ? " there" : "", has);
}

// The body, joint or spring of a probe.
static rbStatus validateSubject(const rbScene* scene, rbReader* reader, const json_t* json,
                                rbProbe* probe, const char** unit)
{
    int index = 0;
    bool hasFreedom = json_object_get(json, "freedom") != NULL;
    bool isOfFreedom =
        probe->joint != NULL && (getRow((int)probe->quantity)->where & OF_FREEDOM) != 0;
    if (hasFreedom && !isOfFreedom) {
        rbReader_Push(reader, "freedom");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"freedom\" is only for angle, travel, speed, drive and motorTarget "
                             "of a joint");
    }
    if (probe->with != NULL &&
        (probe->body == NULL || (getRow((int)probe->quantity)->where & OF_PAIR) == 0)) {
        rbReader_Push(reader, "with");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"with\" is only for contacts and contactForce of a body");
    }
    if (probe->body != NULL) {
        bool isOfSeveral = probe->statistic != RB_STATISTIC_NONE;
        rbStatus status = validateBody(scene, reader, "body", probe->body, isOfSeveral);
        return status == RB_STATUS_OK && probe->with != NULL
                   ? validateBody(scene, reader, "with", probe->with, false)
                   : status;
    }
    if (probe->spring != NULL) {
        return validateLink(scene, reader, probe->spring, true, &index);
    }
    rbStatus status = RB_STATUS_OK;
    if (probe->joint != NULL) {
        status = validateLink(scene, reader, probe->joint, false, &index);
    }
    return status == RB_STATUS_OK && isOfFreedom
               ? chooseFreedom(reader, &scene->joints.data[index], hasFreedom, probe, unit)
               : status;
}

static rbStatus readProbe(rbScene* scene, rbReader* reader, const json_t* json)
{
    rbProbeFields fields = {0};
    rbStatus status = rbReadFields(reader, json, &rbProbeKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbProbe probe = {.name = fields.name,
                     .body = fields.body,
                     .joint = fields.joint,
                     .spring = fields.spring,
                     .with = fields.with,
                     .freedom = (int)fields.freedom,
                     .point = fields.point};
    const char* unit = NULL;
    int where = fields.body != NULL     ? OF_BODY
                : fields.joint != NULL  ? OF_JOINT
                : fields.spring != NULL ? OF_SPRING
                                        : OF_WORLD;
    if ((fields.body != NULL) + (fields.joint != NULL) + (fields.spring != NULL) > 1) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "give only one of \"body\", \"joint\" and \"spring\"");
    }
    status = readQuantity(reader, fields.quantity, where, &probe.quantity);
    if (status == RB_STATUS_OK) {
        status = readStatistic(reader, fields.statistic, &probe);
    }
    if (status == RB_STATUS_OK) {
        status = readWithin(reader, fields.within, &probe);
    }
    if (status == RB_STATUS_OK) {
        status = validateSubject(scene, reader, json, &probe, &unit);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    bool hasPoint = json_object_get(json, "point") != NULL;
    if (hasPoint != (probe.quantity == RB_PROBE_POINT)) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             hasPoint ? "\"point\" is only for the quantity \"point\""
                                      : "the quantity \"point\" needs \"point\": [x, y, z] in the "
                                        "frame of the body");
    }
    addProbe(scene, probe, probe.statistic == RB_STATISTIC_NUMBER ? "1" : unit);
    return RB_STATUS_OK;
}

// Number of moving bodies whose state is recorded if a scene has no probes.
#define DEFAULT_BODIES 4

static void addDefaultProbes(rbScene* scene)
{
    static const rbProbeQuantity ofBody[] = {RB_PROBE_POSITION, RB_PROBE_ORIENTATION,
                                             RB_PROBE_ANGULAR_VELOCITY};
    static const rbProbeQuantity ofWorld[] = {RB_PROBE_ENERGY, RB_PROBE_ANGULAR_MOMENTUM};
    int left = DEFAULT_BODIES;
    for (int b = 0; b < scene->bodies.count && left > 0; ++b) {
        if (scene->bodies.data[b].type == RB_BODY_STATIC) {
            continue; // most scenes start with floors, which do not move
        }
        for (int copy = 0; copy < scene->bodies.data[b].copyCount && left > 0; ++copy, --left) {
            char name[RB_SCENE_NAME_MAX + 1];
            rbSceneBody_WriteName(&scene->bodies.data[b], copy, name);
            const char* kept = rbScene_CopyString(scene, name);
            for (size_t i = 0; i < sizeof ofBody / sizeof ofBody[0]; ++i) {
                addProbe(scene, (rbProbe){.quantity = ofBody[i], .body = kept}, NULL);
            }
        }
    }
    for (size_t i = 0; i < sizeof ofWorld / sizeof ofWorld[0]; ++i) {
        addProbe(scene, (rbProbe){.quantity = ofWorld[i]}, NULL);
    }
}

rbStatus rbReadProbes(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->probes.count == 0);
    if (array == NULL) {
        scene->info.hasDefaultProbes = true;
        addDefaultProbes(scene);
    }
    size_t count = json_array_size(array);
    if (count > RB_SCENE_PROBES_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "%zu probes; the limit is %d", count,
                             RB_SCENE_PROBES_MAX);
    }
    for (size_t i = 0; i < count; ++i) {
        rbReader_PushIndex(reader, i);
        rbStatus status = readProbe(scene, reader, json_array_get(array, i));
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
    }
    scene->info.probeCount = scene->probes.count;
    scene->info.columnCount = scene->columns.count;
    return RB_STATUS_OK;
}

const rbProbe* rbScene_GetProbe(const rbScene* scene, int index)
{
    RB_ASSERT(scene != NULL);
    RB_ASSERT(index >= 0 && index < scene->probes.count);
    return &scene->probes.data[index];
}

const rbProbeColumn* rbScene_GetProbeColumns(const rbScene* scene, int* count)
{
    RB_ASSERT(scene != NULL);
    if (count != NULL) {
        *count = scene->columns.count;
    }
    return scene->columns.data;
}

// Angular momentum about the center of mass, world axes.
static rbVec3 getSpinMomentum(const rbBodyState* state, const rbMassProperties* mass)
{
    return rbRotate(state->transform.q, rbMulSV(mass->inertia, state->angularVelocityLocal));
}

static rbVec3 measureBodyVector(const rbProbe* probe, const rbBodyState* state,
                                const rbMassProperties* mass)
{
    switch ((int)probe->quantity) {
    case RB_PROBE_POSITION:
        return state->transform.p;
    case RB_PROBE_CENTER:
        return state->center;
    case RB_PROBE_VELOCITY:
        return state->linearVelocity;
    case RB_PROBE_ANGULAR_VELOCITY:
        return state->angularVelocity;
    case RB_PROBE_ANGULAR_VELOCITY_LOCAL:
        return state->angularVelocityLocal;
    case RB_PROBE_POINT:
        return rbTransformPoint(state->transform, probe->point);
    case RB_PROBE_MOMENTUM:
        return rbScale(mass->mass, state->linearVelocity);
    default:
        return getSpinMomentum(state, mass);
    }
}

static void setNone(double values[4])
{
    for (int i = 0; i < 4; ++i) {
        values[i] = NAN;
    }
}

static void setVector(rbVec3 v, double values[4])
{
    memcpy(values, (double[3]){v.x, v.y, v.z}, 3 * sizeof(double));
}

// Contacts of a body, with all others or with one.
static void measureContacts(const rbWorld* world, const rbProbe* probe, rbBodyId bodyId,
                            double values[4])
{
    rbBodyId otherId = {0, 0};
    int count = 0;
    if (probe->with != NULL) {
        otherId = rbWorld_FindBody(world, probe->with);
        if (RB_IS_NULL(otherId)) {
            setNone(values);
            return;
        }
    }
    rbVec3 force = rbBody_GetContactForce(world, bodyId, otherId, &count);
    if (probe->columnCount == 3) {
        setVector(force, values);
    } else {
        values[0] = count;
    }
}

static bool isWithin(const rbWorld* world, const rbProbe* probe, rbBodyId bodyId)
{
    rbVec3 p = probe->isBounded ? rbBody_GetState(world, bodyId).center : RB_VEC3_ZERO;
    const rbBounds* box = &probe->within;
    return !probe->isBounded || (p.x >= box->lower.x && p.x < box->upper.x && p.y >= box->lower.y &&
                                 p.y < box->upper.y && p.z >= box->lower.z && p.z < box->upper.z);
}

static void measureBody(const rbWorld* world, const rbProbe* probe, const char* name,
                        double values[4])
{
    RB_ASSERT(name != NULL);
    rbBodyId bodyId = rbWorld_FindBody(world, name);
    if (RB_IS_NULL(bodyId) || !isWithin(world, probe, bodyId)) {
        setNone(values);
        return;
    }
    if ((getRow((int)probe->quantity)->where & OF_PAIR) != 0) {
        measureContacts(world, probe, bodyId, values);
        return;
    }
    rbBodyState state = rbBody_GetState(world, bodyId);
    rbMassProperties mass = rbBody_GetMass(world, bodyId);
    if (probe->quantity == RB_PROBE_RESTING) {
        values[0] = rbBody_IsResting(world, bodyId) ? 1.0 : 0.0;
    } else if (probe->quantity == RB_PROBE_ORIENTATION) {
        rbQuat q = state.transform.q;
        memcpy(values, (double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
    } else if (probe->quantity == RB_PROBE_MASS) {
        values[0] = mass.mass;
    } else if (probe->quantity == RB_PROBE_SPEED) {
        values[0] = rbLength(state.linearVelocity);
    } else if (probe->columnCount == 1) {
        double kinetic = 0.5 * mass.mass * rbLengthSquared(state.linearVelocity) +
                         0.5 * rbDot(state.angularVelocityLocal,
                                     rbMulSV(mass.inertia, state.angularVelocityLocal));
        double potential = -mass.mass * rbDot(rbWorld_GetGravity(world), state.center);
        values[0] = probe->quantity == RB_PROBE_KINETIC ? kinetic : kinetic + potential;
    } else {
        rbVec3 v = measureBodyVector(probe, &state, &mass);
        memcpy(values, (double[3]){v.x, v.y, v.z}, 3 * sizeof(double));
    }
}

// What the copies of a body add up to, column by column.
typedef struct Totals {
    int count;
    double sums[4];
    double squares[4]; // of the differences from given values
    double least[4], most[4];
} Totals;

static void addValues(Totals* totals, const double values[4], const double from[4], int columnCount)
{
    for (int k = 0; k < columnCount; ++k) {
        bool isFirst = totals->count == 0;
        totals->sums[k] += values[k];
        totals->squares[k] += (values[k] - from[k]) * (values[k] - from[k]);
        totals->least[k] = isFirst ? values[k] : fmin(totals->least[k], values[k]);
        totals->most[k] = isFirst ? values[k] : fmax(totals->most[k], values[k]);
    }
    totals->count += 1;
}

static Totals addCopies(const rbScene* scene, const rbWorld* world, const rbProbe* probe,
                        const double from[4])
{
    int body = 0, copy = 0;
    Totals totals = {0};
    if (!rbScene_FindBody(scene, probe->body, &body, &copy)) {
        return totals;
    }
    int end = copy >= 0 ? copy + 1 : scene->bodies.data[body].copyCount;
    for (int i = copy >= 0 ? copy : 0; i < end; ++i) {
        char name[RB_SCENE_NAME_MAX + 1];
        double values[4] = {0.0};
        rbSceneBody_WriteName(&scene->bodies.data[body], i, name);
        measureBody(world, probe, name, values);
        if (!isnan(values[0])) { // otherwise it is gone, or elsewhere
            addValues(&totals, values, from, probe->columnCount);
        }
    }
    return totals;
}

// All copies of a body. Two passes: a deviation from the mean loses no digits.
static void measureBodies(const rbScene* scene, const rbWorld* world, const rbProbe* probe,
                          double values[4])
{
    double means[4] = {0.0};
    Totals totals = addCopies(scene, world, probe, means);
    double count = totals.count;
    for (int k = 0; k < 4; ++k) {
        means[k] = totals.sums[k] / count;
    }
    if (probe->statistic == RB_STATISTIC_DEVIATION) {
        totals = addCopies(scene, world, probe, means);
    }
    for (int k = 0; k < probe->columnCount; ++k) {
        const double results[RB_STATISTIC_COUNT] = {
            [RB_STATISTIC_MEAN] = means[k],
            [RB_STATISTIC_MIN] = totals.count > 0 ? totals.least[k] : NAN,
            [RB_STATISTIC_MAX] = totals.count > 0 ? totals.most[k] : NAN,
            [RB_STATISTIC_SUM] = totals.sums[k],
            [RB_STATISTIC_NUMBER] = count,
            [RB_STATISTIC_DEVIATION] = sqrt(totals.squares[k] / count),
        };
        values[k] = results[probe->statistic];
    }
}

static void measureJoint(const rbWorld* world, const rbProbe* probe, double values[4])
{
    RB_ASSERT(probe->joint != NULL);
    rbJointId jointId = rbWorld_FindJoint(world, probe->joint);
    if (RB_IS_NULL(jointId)) {
        setNone(values);
        return;
    }
    rbJointState state = rbJoint_GetState(world, jointId);
    const rbVec3 vectors[RB_PROBE_COUNT] = {[RB_PROBE_FORCE] = state.force,
                                            [RB_PROBE_TORQUE] = state.torque,
                                            [RB_PROBE_POINT_A] = state.pointA,
                                            [RB_PROBE_POINT_B] = state.pointB};
    const double numbers[RB_PROBE_COUNT] = {
        [RB_PROBE_ANGLE] = state.freedomPositions[probe->freedom],
        [RB_PROBE_TRAVEL] = state.freedomPositions[probe->freedom],
        [RB_PROBE_SPEED] = state.freedomVelocities[probe->freedom],
        [RB_PROBE_DRIVE] = state.freedomForces[probe->freedom],
        [RB_PROBE_STOP] = state.limitForces[probe->freedom],
        [RB_PROBE_MOTOR_TARGET] = state.motorTargets[probe->freedom],
        [RB_PROBE_POSITION_ERROR] = state.positionError,
        [RB_PROBE_ANGLE_ERROR] = state.angleError,
    };
    if (probe->columnCount == 3) {
        setVector(vectors[probe->quantity], values);
    } else {
        values[0] = numbers[probe->quantity];
    }
}

static void measureSpring(const rbWorld* world, const rbProbe* probe, double values[4])
{
    RB_ASSERT(probe->spring != NULL);
    rbSpringId springId = rbWorld_FindSpring(world, probe->spring);
    if (RB_IS_NULL(springId)) {
        setNone(values);
        return;
    }
    rbSpringState state = rbSpring_GetState(world, springId);
    const double numbers[RB_PROBE_COUNT] = {[RB_PROBE_LENGTH] = state.length,
                                            [RB_PROBE_SPEED] = state.speed,
                                            [RB_PROBE_TENSION] = state.force,
                                            [RB_PROBE_SPRING_ENERGY] = state.energy};
    if (probe->columnCount == 3) {
        setVector(probe->quantity == RB_PROBE_POINT_A ? state.pointA : state.pointB, values);
    } else {
        values[0] = numbers[probe->quantity];
    }
}

// Quantities of the world, computed at most once per output.
typedef struct WorldFacts {
    bool isTaken;
    rbLedger ledger; // a sum over all bodies
    rbEventStatistics statistics;
    rbStepStatistics step;
    rbContactStatistics contact;
} WorldFacts;

static void measureWorld(const rbWorld* world, WorldFacts* facts, const rbProbe* probe,
                         double values[4])
{
    RB_ASSERT(probe->body == NULL);
    if (!facts->isTaken) {
        facts->ledger = rbWorld_GetLedger(world);
        facts->statistics = rbWorld_GetEventStatistics(world);
        facts->step = rbWorld_GetStepStatistics(world);
        facts->contact = rbWorld_GetContactStatistics(world);
        facts->isTaken = true;
    }
    const rbLedger* ledger = &facts->ledger;
    const rbEventStatistics* statistics = &facts->statistics;
    const rbStepStatistics* step = &facts->step;
    const rbContactStatistics* contact = &facts->contact;
    const double of[RB_PROBE_COUNT][3] = {
        [RB_PROBE_ENERGY] = {ledger->energy},
        [RB_PROBE_KINETIC] = {ledger->kineticLinear + ledger->kineticAngular},
        [RB_PROBE_POTENTIAL] = {ledger->potential},
        [RB_PROBE_ENERGY_DRIFT] = {ledger->energyDrift},
        [RB_PROBE_IMPACT_WORK] = {ledger->impactWork},
        [RB_PROBE_FRICTION_WORK] = {ledger->frictionWork},
        [RB_PROBE_MICRO_WORK] = {ledger->microWork},
        [RB_PROBE_REST_WORK] = {ledger->restWork},
        [RB_PROBE_IMPACTS] = {(double)statistics->impacts},
        [RB_PROBE_MICROCOLLISIONS] = {(double)statistics->microcollisions},
        [RB_PROBE_MEASUREMENTS] = {(double)statistics->measurements},
        [RB_PROBE_PAIRS] = {(double)statistics->pairCount + (double)contact->pairCount},
        [RB_PROBE_RESTING] = {(double)statistics->restingCount},
        [RB_PROBE_VIRIAL] = {statistics->virial},
        [RB_PROBE_SPRING_ENERGY] = {ledger->springEnergy},
        [RB_PROBE_MOTOR_WORK] = {ledger->motorWork},
        [RB_PROBE_DISSIPATION] = {ledger->dissipation},
        [RB_PROBE_JOINT_ERROR] = {step->positionErrorMax},
        [RB_PROBE_JOINT_ANGLE_ERROR] = {step->angleErrorMax},
        [RB_PROBE_SUBSTEPS] = {(double)step->substeps},
        [RB_PROBE_HALVINGS] = {(double)step->halvings},
        [RB_PROBE_POSITION_ITERATIONS] = {(double)step->positionIterations},
        [RB_PROBE_ACCURACY_ESTIMATE] = {step->accuracyEstimate},
        [RB_PROBE_CONTACTS] = {(double)contact->contactCount},
        [RB_PROBE_CONTACT_COLLISIONS] = {(double)contact->collisions},
        [RB_PROBE_CONTACT_SWEEPS] = {(double)(contact->positionSweeps + contact->velocitySweeps +
                                              contact->collisionSweeps)},
        [RB_PROBE_DEEPEST] = {contact->deepest},
        [RB_PROBE_FROZEN] = {(double)contact->frozenCount},
        [RB_PROBE_MOMENTUM] = {ledger->momentum.x, ledger->momentum.y, ledger->momentum.z},
        [RB_PROBE_ANGULAR_MOMENTUM] = {ledger->angularMomentum.x, ledger->angularMomentum.y,
                                       ledger->angularMomentum.z},
    };
    memcpy(values, of[probe->quantity], 3 * sizeof(double));
}

static void measureRegistered(const rbWorld* world, const rbProbe* probe, double values[4])
{
    rbProbeInput input = {.world = world};
    bool isThere = true;
    if (probe->body != NULL) {
        input.body = rbWorld_FindBody(world, probe->body);
        isThere = !RB_IS_NULL(input.body);
    } else if (probe->joint != NULL) {
        input.joint = rbWorld_FindJoint(world, probe->joint);
        isThere = !RB_IS_NULL(input.joint);
    } else if (probe->spring != NULL) {
        input.spring = rbWorld_FindSpring(world, probe->spring);
        isThere = !RB_IS_NULL(input.spring);
    }
    setNone(values);
    if (isThere) {
        getRow((int)probe->quantity)->measure(&input, values);
    }
}

int rbScene_EvaluateProbes(const rbScene* scene, const rbWorld* world, double* values, int capacity)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(scene != NULL);
    RB_ASSERT(world != NULL);
    RB_ASSERT(capacity >= 0);
    WorldFacts facts = {0};
    for (int p = 0; p < scene->probes.count; ++p) {
        const rbProbe* probe = &scene->probes.data[p];
        double own[4] = {0};
        if (probe->quantity >= RB_PROBE_COUNT) {
            measureRegistered(world, probe, own);
        } else if (probe->statistic != RB_STATISTIC_NONE) {
            measureBodies(scene, world, probe, own);
        } else if (probe->body != NULL) {
            measureBody(world, probe, probe->body, own);
        } else if (probe->joint != NULL) {
            measureJoint(world, probe, own);
        } else if (probe->spring != NULL) {
            measureSpring(world, probe, own);
        } else {
            measureWorld(world, &facts, probe, own);
        }
        for (int i = 0; i < probe->columnCount && probe->firstColumn + i < capacity; ++i) {
            values[probe->firstColumn + i] = own[i];
        }
    }
    return scene->columns.count;
}
