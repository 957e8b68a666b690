// A box is six numbers: its lower and its upper corner. An inlet is a box and words like
// rate=100.
#include "cli/rank_flow.h"

#include "base/core/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 512
#define WORDS_MAX 16

// count numbers, separated by commas.
static bool readNumbers(const char* text, double* numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        char* end = NULL;
        numbers[i] = strtod(text, &end); // the program never leaves the locale "C"
        if (end == text || !isfinite(numbers[i]) || *end != (i < count - 1 ? ',' : '\0')) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

static rbStatus readBox(const char* option, const char* text, rbBounds* box, rbError* error)
{
    double n[6] = {0.0};
    bool isGood = readNumbers(text, n, 6) && n[0] < n[3] && n[1] < n[4] && n[2] < n[5];
    RB_INVALID_IF(!isGood, error,
                  "%s has the box '%.100s'; a box is x,y,z,X,Y,Z in m, its lower and its upper "
                  "corner",
                  option, text);
    *box = (rbBounds){{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
    return RB_STATUS_OK;
}

static rbStatus findMaterial(const char* name, const rbScene* scene, const rbMaterial** material,
                             rbError* error)
{
    for (int i = 0; i < rbScene_GetInfo(scene)->materialCount; ++i) {
        const char* other = "";
        const rbMaterial* candidate = rbScene_GetMaterial(scene, i, &other);
        if (candidate != NULL && strcmp(name, other) == 0) {
            *material = candidate;
            return RB_STATUS_OK;
        }
    }
    return rbError_Set(error, RB_STATUS_NOT_FOUND, "--inlet: the scene has no material \"%.60s\"",
                       name);
}

// One word of an inlet.
static rbStatus readWord(const char* word, rbClusterInlet* inlet, const char** material,
                         rbError* error)
{
    double n[3] = {0.0};
    const char* value = strchr(word, '=');
    bool isGood = value != NULL;
    size_t length = isGood ? (size_t)(value - word) : 0;
    value = isGood ? value + 1 : "";
    if (length == 4 && strncmp(word, "rate", 4) == 0) {
        isGood = readNumbers(value, &inlet->rate, 1);
    } else if (length == 5 && strncmp(word, "count", 5) == 0) {
        isGood = readNumbers(value, n, 1) && n[0] >= 1.0 && n[0] <= 1e12 && n[0] == floor(n[0]);
        inlet->count = isGood ? (int64_t)n[0] : 0;
    } else if (length == 6 && strncmp(word, "radius", 6) == 0) {
        isGood = readNumbers(value, n, 2) || readNumbers(value, n, 1);
        inlet->radiusMin = n[0];
        inlet->radiusMax = strchr(value, ',') != NULL ? n[1] : n[0];
    } else if (length == 8 && strncmp(word, "velocity", 8) == 0) {
        isGood = readNumbers(value, n, 3);
        inlet->velocity = rbMakeVec3(n[0], n[1], n[2]);
    } else if (length == 8 && strncmp(word, "material", 8) == 0) {
        *material = value;
    } else {
        isGood = false;
    }
    RB_INVALID_IF(!isGood, error,
                  "--inlet does not understand '%.80s'; it is a box and rate=N radius=R or "
                  "radius=R,R material=NAME, and may have velocity=x,y,z and count=N",
                  word);
    return RB_STATUS_OK;
}

// The words point into text.
static rbStatus readInlet(char* text, rbClusterInlet* inlet, const char** material, rbError* error)
{
    int count = 0;
    *inlet = (rbClusterInlet){0};
    *material = NULL;
    for (char* word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        RB_TRY(count++ == 0 ? readBox("--inlet", word, &inlet->box, error)
                            : readWord(word, inlet, material, error));
    }
    RB_INVALID_IF(!(inlet->rate > 0.0 && inlet->radiusMax > 0.0) || *material == NULL, error,
                  "--inlet needs a box, rate=N, radius=R and material=NAME");
    return RB_STATUS_OK;
}

static rbStatus copyText(const char* value, char* text, rbError* error)
{
    RB_INVALID_IF(strlen(value) >= TEXT_SIZE, error, "--inlet is longer than %d bytes", TEXT_SIZE);
    (void)snprintf(text, TEXT_SIZE, "%s", value);
    return RB_STATUS_OK;
}

rbStatus rbRankFlow_FindRadius(const rbArguments* arguments, double* radiusMax, rbError* error)
{
    *radiusMax = 0.0;
    for (int i = 0; i < arguments->valueCount; ++i) {
        if (strcmp(arguments->values[i].option->name, "--inlet") == 0) {
            char text[TEXT_SIZE];
            rbClusterInlet inlet;
            const char* material = NULL;
            RB_TRY(copyText(arguments->values[i].value, text, error));
            RB_TRY(readInlet(text, &inlet, &material, error));
            *radiusMax = fmax(*radiusMax, inlet.radiusMax);
        }
    }
    return RB_STATUS_OK;
}

static rbStatus addInlet(rbRankFlow* flow, const char* value, rbRankScene* read,
                         const rbScene* scene, rbError* error)
{
    char text[TEXT_SIZE];
    rbClusterInlet inlet = {0};
    const char* name = "";
    const rbMaterial* material = NULL;
    RB_TRY(copyText(value, text, error));
    RB_TRY(readInlet(text, &inlet, &name, error));
    RB_ASSERT(name != NULL);
    RB_TRY(findMaterial(name, scene, &material, error));
    RB_ASSERT(material != NULL);
    inlet.density = material->density;
    inlet.material = rbRankScene_FindMaterial(read, material);
    RB_INVALID_IF(inlet.material < 0, error,
                  "--inlet: no sphere or wall of the scene has the material \"%.60s\"; give it to "
                  "one",
                  name);
    ++flow->inletCount;
    return rbCluster_AddInlet(read->cluster, &inlet, error);
}

static rbStatus addOutlet(rbRankFlow* flow, const char* value, rbRankScene* read, rbError* error)
{
    rbBounds box = {0};
    RB_TRY(readBox("--outlet", value, &box, error));
    RB_TRY(rbCluster_AddOutlet(read->cluster, box, error));
    ++flow->outletCount;
    return RB_STATUS_OK;
}

static rbStatus addRegion(rbRankFlow* flow, const char* value, rbError* error)
{
    rbBounds box = {0};
    RB_TRY(readBox("--region", value, &box, error));
    RB_REFUSE_IF(flow->regionCount == RB_RANK_REGIONS_MAX, RB_STATUS_LIMIT, error,
                 "there are more than %d regions", RB_RANK_REGIONS_MAX);
    flow->regions[flow->regionCount++] = box;
    return RB_STATUS_OK;
}

rbStatus rbRankFlow_Read(rbRankFlow* flow, const rbArguments* arguments, rbRankScene* read,
                         const rbScene* scene, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < arguments->valueCount && status == RB_STATUS_OK; ++i) {
        const char* name = arguments->values[i].option->name;
        const char* value = arguments->values[i].value;
        if (strcmp(name, "--inlet") == 0) {
            status = addInlet(flow, value, read, scene, error);
        } else if (strcmp(name, "--outlet") == 0) {
            status = addOutlet(flow, value, read, error);
        } else if (strcmp(name, "--region") == 0) {
            status = addRegion(flow, value, error);
        }
    }
    return status;
}

rbStatus rbRankFlow_Open(rbRankFlow* flow, const char* path, rbError* error)
{
    flow->table = fopen(path, "wb");
    RB_REFUSE_IF(flow->table == NULL, RB_STATUS_IO, error, "%.1000s: cannot create it", path);
    (void)fprintf(flow->table, "time [s],spheres");
    for (int i = 1; i <= flow->regionCount; ++i) {
        (void)fprintf(flow->table,
                      ",region %d spheres,region %d solid fraction,region %d velocity x [m/s],"
                      "region %d velocity y [m/s],region %d velocity z [m/s],"
                      "region %d coordination",
                      i, i, i, i, i, i);
        static const char* const names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
        for (int k = 0; k < 6; ++k) {
            (void)fprintf(flow->table, ",region %d stress %s [Pa]", i, names[k]);
        }
    }
    for (int i = 1; i <= flow->inletCount; ++i) {
        (void)fprintf(flow->table, ",inlet %d spheres", i);
    }
    for (int i = 1; i <= flow->outletCount; ++i) {
        (void)fprintf(flow->table, ",outlet %d spheres,outlet %d mass [kg],outlet %d flow [kg/s]",
                      i, i, i);
    }
    (void)fprintf(flow->table, "\n");
    return RB_STATUS_OK;
}

void rbRankFlow_Write(rbRankFlow* flow, rbCluster* cluster, double time)
{
    int64_t bodies = rbCluster_GetReport(cluster).bodies;
    FILE* table = flow->table;
    if (table != NULL) {
        (void)fprintf(table, "%.12g,%lld", time, (long long)bodies);
    }
    for (int i = 0; i < flow->regionCount; ++i) {
        rbClusterAverage a = rbCluster_Average(cluster, flow->regions[i]);
        if (table != NULL) {
            (void)fprintf(table, ",%lld,%.12g,%.12g,%.12g,%.12g,%.12g", (long long)a.count,
                          a.solidFraction, a.velocity.x, a.velocity.y, a.velocity.z,
                          a.coordination);
            (void)fprintf(table, ",%.12g,%.12g,%.12g,%.12g,%.12g,%.12g", a.stress.cx.x,
                          a.stress.cy.y, a.stress.cz.z, a.stress.cx.y, a.stress.cx.z,
                          a.stress.cy.z);
        }
    }
    for (int i = 0; table != NULL && i < flow->inletCount; ++i) {
        (void)fprintf(table, ",%lld", (long long)rbCluster_GetInserted(cluster, i));
    }
    for (int i = 0; table != NULL && i < flow->outletCount; ++i) {
        double mass = 0.0;
        int64_t count = rbCluster_GetRemoved(cluster, i, &mass);
        double step = time - flow->lastTime;
        double rate = step > 0.0 ? (mass - flow->lastMass[i]) / step : 0.0;
        (void)fprintf(table, ",%lld,%.12g,%.12g", (long long)count, mass, rate);
        flow->lastMass[i] = mass;
    }
    if (table != NULL) {
        (void)fprintf(table, "\n");
    }
    flow->lastTime = time;
}

rbStatus rbRankFlow_Close(rbRankFlow* flow, const char* path, rbError* error)
{
    if (flow->table == NULL) {
        return RB_STATUS_OK;
    }
    bool isBad = ferror(flow->table) != 0;
    isBad = fclose(flow->table) != 0 || isBad;
    flow->table = NULL;
    RB_REFUSE_IF(isBad, RB_STATUS_IO, error, "%.1000s: cannot write it", path);
    return RB_STATUS_OK;
}
