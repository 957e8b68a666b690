// Probes: what a run writes down. A table of quantities says what each measures and in which unit.
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Where a quantity can be measured.
enum {
    OF_BODY = 1,
    OF_WORLD = 2
};

typedef struct QuantityRow {
    const char* name;
    const char* unit;
    int columnCount;
    int where;
} QuantityRow;

static const QuantityRow rows[] = {
    [RB_PROBE_POSITION] = {"position", "m", 3, OF_BODY},
    [RB_PROBE_CENTER] = {"center", "m", 3, OF_BODY},
    [RB_PROBE_ORIENTATION] = {"orientation", "1", 4, OF_BODY},
    [RB_PROBE_VELOCITY] = {"velocity", "m/s", 3, OF_BODY},
    [RB_PROBE_ANGULAR_VELOCITY] = {"angularVelocity", "rad/s", 3, OF_BODY},
    [RB_PROBE_ANGULAR_VELOCITY_LOCAL] = {"angularVelocityLocal", "rad/s", 3, OF_BODY},
    [RB_PROBE_POINT] = {"point", "m", 3, OF_BODY},
    [RB_PROBE_ENERGY] = {"energy", "J", 1, OF_BODY | OF_WORLD},
    [RB_PROBE_KINETIC] = {"kinetic", "J", 1, OF_BODY | OF_WORLD},
    [RB_PROBE_POTENTIAL] = {"potential", "J", 1, OF_WORLD},
    [RB_PROBE_MOMENTUM] = {"momentum", "kg m/s", 3, OF_BODY | OF_WORLD},
    [RB_PROBE_ANGULAR_MOMENTUM] = {"angularMomentum", "kg m^2/s", 3, OF_BODY | OF_WORLD},
    [RB_PROBE_ENERGY_DRIFT] = {"energyDrift", "J", 1, OF_WORLD},
    [RB_PROBE_IMPACT_WORK] = {"impactWork", "J", 1, OF_WORLD},
    [RB_PROBE_FRICTION_WORK] = {"frictionWork", "J", 1, OF_WORLD},
    [RB_PROBE_MICRO_WORK] = {"microWork", "J", 1, OF_WORLD},
    [RB_PROBE_REST_WORK] = {"restWork", "J", 1, OF_WORLD},
    [RB_PROBE_IMPACTS] = {"impacts", "1", 1, OF_WORLD},
    [RB_PROBE_MICROCOLLISIONS] = {"microcollisions", "1", 1, OF_WORLD},
    [RB_PROBE_MEASUREMENTS] = {"measurements", "1", 1, OF_WORLD},
    [RB_PROBE_PAIRS] = {"pairs", "1", 1, OF_WORLD},
    [RB_PROBE_RESTING] = {"resting", "1", 1, OF_BODY | OF_WORLD},
    [RB_PROBE_VIRIAL] = {"virial", "J", 1, OF_WORLD},
};
_Static_assert(sizeof rows / sizeof rows[0] == RB_PROBE_COUNT, "one row a quantity");

const char* rbProbeQuantity_Name(rbProbeQuantity quantity)
{
    RB_ASSERT(quantity < RB_PROBE_COUNT);
    return rows[quantity].name;
}

static const char* getQuantityName(int index, const void* context)
{
    (void)context;
    return rows[index].name;
}

// Adds a probe and its columns. name NULL: made of body and quantity.
static void addProbe(rbScene* scene, rbProbe probe)
{
    RB_ASSERT(probe.quantity < RB_PROBE_COUNT);
    const QuantityRow* row = &rows[probe.quantity];
    char text[256];
    if (probe.name == NULL) {
        (void)snprintf(text, sizeof text, "%s.%s", probe.body != NULL ? probe.body : "world",
                       row->name);
        probe.name = rbScene_CopyString(scene, text);
    }
    probe.firstColumn = scene->columns.count;
    probe.columnCount = row->columnCount;
    static const char* const suffixes[5][4] = {
        [1] = {""}, [3] = {".x", ".y", ".z"}, [4] = {".w", ".x", ".y", ".z"}};
    for (int i = 0; i < row->columnCount; ++i) {
        rbProbeColumn column = {.unit = row->unit, .probe = scene->probes.count};
        (void)snprintf(text, sizeof text, "%s%s", probe.name, suffixes[row->columnCount][i]);
        column.name = rbScene_CopyString(scene, text);
        (void)snprintf(text, sizeof text, "%s%s [%s]", probe.name, suffixes[row->columnCount][i],
                       row->unit);
        column.label = rbScene_CopyString(scene, text);
        rbArray_Push(scene->columns, column);
    }
    rbArray_Push(scene->probes, probe);
}

static rbStatus readQuantity(rbReader* reader, const char* word, bool hasBody,
                             rbProbeQuantity* quantity)
{
    RB_ASSERT(word != NULL);
    rbReader_Push(reader, "quantity");
    for (int i = 0; i < RB_PROBE_COUNT; ++i) {
        if (strcmp(rows[i].name, word) != 0) {
            continue;
        }
        if ((rows[i].where & (hasBody ? OF_BODY : OF_WORLD)) == 0) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 hasBody ? "\"%s\" is measured of the whole world; remove \"body\""
                                         : "\"%s\" is measured of one body; name it by \"body\"",
                                 word);
        }
        *quantity = (rbProbeQuantity)i;
        rbReader_Pop(reader);
        return RB_STATUS_OK;
    }
    char hint[420];
    const char* nearest = rbFindNearestName(word, getQuantityName, RB_PROBE_COUNT, NULL);
    (void)rbSuggest(hint, sizeof hint, nearest);
    if (nearest == NULL) {
        size_t used = (size_t)snprintf(hint, sizeof hint, "; known are");
        for (int i = 0; i < RB_PROBE_COUNT && used < sizeof hint; ++i) {
            used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", i > 0 ? "," : "",
                                     rows[i].name);
        }
    }
    return rbReader_Fail(reader, RB_STATUS_INVALID, "unknown quantity \"%.60s\"%s", word, hint);
}

static rbStatus judgeBody(const rbScene* scene, rbReader* reader, const char* name)
{
    RB_ASSERT(name != NULL);
    int body = -1;
    int copy = -1;
    rbReader_Push(reader, "body");
    if (!rbScene_FindBody(scene, name, &body, &copy)) {
        char hint[96];
        return rbReader_Fail(reader, RB_STATUS_NOT_FOUND, "there is no body \"%.60s\"%s", name,
                             rbSuggest(hint, sizeof hint, rbScene_GetNearestBody(scene, name)));
    }
    if (copy < 0) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"%s\" is %d bodies; name one of them, such as \"%s[0]\"", name,
                             scene->bodies.data[body].copyCount, name);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus readProbe(rbScene* scene, rbReader* reader, const json_t* json)
{
    rbProbeFields fields = {0};
    rbStatus status = rbReadFields(reader, json, &rbProbeKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbProbe probe = {.name = fields.name, .body = fields.body, .point = fields.point};
    status = readQuantity(reader, fields.quantity, fields.body != NULL, &probe.quantity);
    if (status == RB_STATUS_OK && fields.body != NULL) {
        status = judgeBody(scene, reader, fields.body);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    bool hasPoint = json_object_get(json, "point") != NULL;
    if (hasPoint != (probe.quantity == RB_PROBE_POINT)) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             hasPoint ? "\"point\" belongs to the quantity \"point\" only"
                                      : "the quantity \"point\" needs \"point\": [x, y, z] in the "
                                        "frame of the body");
    }
    addProbe(scene, probe);
    return RB_STATUS_OK;
}

// Bodies that can move of which a scene without probes gives the state.
#define DEFAULT_BODIES 4

static void addDefaultProbes(rbScene* scene)
{
    static const rbProbeQuantity ofBody[] = {RB_PROBE_POSITION, RB_PROBE_ORIENTATION,
                                             RB_PROBE_ANGULAR_VELOCITY};
    static const rbProbeQuantity ofWorld[] = {RB_PROBE_ENERGY, RB_PROBE_ANGULAR_MOMENTUM};
    int left = DEFAULT_BODIES;
    for (int b = 0; b < scene->bodies.count && left > 0; ++b) {
        if (scene->bodies.data[b].type == RB_BODY_STATIC) {
            continue; // floors come first in most scenes, and nothing happens to them
        }
        for (int copy = 0; copy < scene->bodies.data[b].copyCount && left > 0; ++copy, --left) {
            char name[RB_SCENE_NAME_MAX + 1];
            rbSceneBody_WriteName(&scene->bodies.data[b], copy, name);
            const char* kept = rbScene_CopyString(scene, name);
            for (size_t i = 0; i < sizeof ofBody / sizeof ofBody[0]; ++i) {
                addProbe(scene, (rbProbe){.quantity = ofBody[i], .body = kept});
            }
        }
    }
    for (size_t i = 0; i < sizeof ofWorld / sizeof ofWorld[0]; ++i) {
        addProbe(scene, (rbProbe){.quantity = ofWorld[i]});
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
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "%zu probes; at most %d are accepted", count,
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

// Angular momentum about the centre of mass, world axes.
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

static void measureBody(const rbWorld* world, const rbProbe* probe, double values[4])
{
    RB_ASSERT(probe->body != NULL);
    rbBodyId bodyId = rbWorld_FindBody(world, probe->body);
    if (RB_IS_NULL(bodyId)) {
        for (int i = 0; i < 4; ++i) {
            values[i] = NAN;
        }
        return;
    }
    rbBodyState state = rbBody_GetState(world, bodyId);
    rbMassProperties mass = rbBody_GetMass(world, bodyId);
    if (probe->quantity == RB_PROBE_RESTING) {
        values[0] = rbBody_IsResting(world, bodyId) ? 1.0 : 0.0;
    } else if (probe->quantity == RB_PROBE_ORIENTATION) {
        rbQuat q = state.transform.q;
        memcpy(values, (double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
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

// What is measured of the world, taken at most once an output.
typedef struct WorldFacts {
    bool isTaken;
    rbLedger ledger; // a sum over all bodies
    rbEventStatistics statistics;
} WorldFacts;

static void measureWorld(const rbWorld* world, WorldFacts* facts, const rbProbe* probe,
                         double values[4])
{
    RB_ASSERT(probe->body == NULL);
    if (!facts->isTaken) {
        facts->ledger = rbWorld_GetLedger(world);
        facts->statistics = rbWorld_GetEventStatistics(world);
        facts->isTaken = true;
    }
    const rbLedger* ledger = &facts->ledger;
    const rbEventStatistics* statistics = &facts->statistics;
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
        [RB_PROBE_PAIRS] = {(double)statistics->pairCount},
        [RB_PROBE_RESTING] = {(double)statistics->restingCount},
        [RB_PROBE_VIRIAL] = {statistics->virial},
        [RB_PROBE_MOMENTUM] = {ledger->momentum.x, ledger->momentum.y, ledger->momentum.z},
        [RB_PROBE_ANGULAR_MOMENTUM] = {ledger->angularMomentum.x, ledger->angularMomentum.y,
                                       ledger->angularMomentum.z},
    };
    memcpy(values, of[probe->quantity], 3 * sizeof(double));
}

int rbScene_EvaluateProbes(const rbScene* scene, const rbWorld* world, double* values, int capacity)
{
    RB_ASSERT(scene != NULL);
    RB_ASSERT(world != NULL);
    RB_ASSERT(capacity >= 0);
    WorldFacts facts = {0};
    for (int p = 0; p < scene->probes.count; ++p) {
        const rbProbe* probe = &scene->probes.data[p];
        double own[4] = {0};
        if (probe->body != NULL) {
            measureBody(world, probe, own);
        } else {
            measureWorld(world, &facts, probe, own);
        }
        for (int i = 0; i < probe->columnCount && probe->firstColumn + i < capacity; ++i) {
            values[probe->firstColumn + i] = own[i];
        }
    }
    return scene->columns.count;
}
