// Reads a certificate record by record, feeds the checks, and counts what they find.
#include "verify/verify.h"

#include "verify/checks.h"

#include <stdlib.h>
#include <string.h>

#define NORMAL_BITS 34 // of the grids of contacts
#define GAP_BITS 12
#define EXPONENT_ZERO 2048

static const char* const claimTexts[RB_V_CLAIM_COUNT] = {
#define RB_V_CLAIM_TEXT(name, text) [RB_V_CLAIM_##name] = (text),
    RB_V_CLAIMS(RB_V_CLAIM_TEXT)
#undef RB_V_CLAIM_TEXT
};

const char* rbVClaim_Text(rbVClaim claim)
{
    return claimTexts[claim];
}

void rbVChecker_Find(rbVChecker* c, const rbVFinding* f)
{
    rbVReport* r = c->report;
    bool isGood = f->value <= f->bound; // false for what is not a number
    r->counts[f->claim][isGood ? f->class : RB_V_FAILED] += 1;
    if (isGood && f->bound > 0.0) {
        r->worst[f->claim] = fmax(r->worst[f->claim], f->value / f->bound);
    }
    r->failed += isGood ? 0 : 1;
    if (!isGood && r->failureCount < RB_V_FAILURES_MAX) {
        rbVFailure* failure = &r->failures[r->failureCount++];
        *failure = (rbVFailure){.claim = f->claim, .time = c->time, .value = f->value};
        failure->bound = f->bound;
        const uint32_t both[2] = {f->a, f->b};
        for (int i = 0; i < 2; ++i) {
            (void)snprintf(failure->bodies[i], RB_V_NAME_SIZE, "%s",
                           both[i] == RB_V_NONE ? "" : c->model.bodies[both[i]].name);
        }
        (void)snprintf(failure->detail, sizeof failure->detail, "%s", f->detail);
    }
}

void rbVChecker_Skip(rbVChecker* c, rbVClaim claim, const char* why)
{
    c->report->counts[claim][RB_V_NOT_CHECKED] += 1;
    (void)snprintf(c->report->reasons[claim], sizeof c->report->reasons[claim], "%s", why);
}

static void noteTime(rbVChecker* c, double time)
{
    if (time != c->time) {
        rbVCheckGroup(c);
    }
    RB_V_CHECK(c, ORDER, CERTIFIED, RB_V_NONE, RB_V_NONE, c->time - time, 2e-15 * fabs(time),
               "time after that of the next record, s");
    c->time = time;
}

static bool readEvent(rbVChecker* c, rbVWords* w)
{
    rbVEvent e;
    rbVWords_Take(w, "nhhnnnvvvnw", &e.time, &e.kind, &e.law, &e.a, &e.b, &e.energyChange,
                  &e.energyBefore, &e.frictionWork, &e.point, &e.normal, &e.impulse, &e.approach,
                  &e.history);
    uint32_t count = c->model.bodyCount;
    bool isPair = e.kind == RB_V_EVENT_IMPACT || e.kind == RB_V_EVENT_MICRO;
    if (w->isBad || e.kind >= RB_V_EVENT_KINDS || (e.a >= count && (isPair || e.a != RB_V_NONE)) ||
        (e.b >= count && (isPair || e.b != RB_V_NONE)) || e.law > RB_V_LAW_COUNT) {
        return false;
    }
    noteTime(c, e.time);
    rbVCheckEvent(c, &e);
    return true;
}

// The start of a flight, or where a body on a path is.
static bool readState(rbVChecker* c, rbVWords* w)
{
    double time;
    uint32_t body, isHeld;
    rbVState state;
    rbVWords_Take(w, "nhs", &time, &body, &isHeld, &state);
    if (w->isBad || body >= c->model.bodyCount || isHeld > 1 ||
        c->model.bodies[body].type == RB_V_STATIC) {
        return false;
    }
    noteTime(c, time);
    if (c->model.bodies[body].type == RB_V_KINEMATIC) {
        c->tracks[body].now = state;
    } else {
        rbVCheckFlightStart(c, body, &state, isHeld != 0);
    }
    return true;
}

static bool readContacts(rbVChecker* c, rbVWords* w)
{
    uint32_t count = (uint32_t)(w->count / 12);
    rbVContact* grown = realloc(c->contacts, (count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    c->contacts = grown;
    c->contactCount = 0;
    for (uint32_t i = 0; i < count; ++i) {
        rbVContact* p = &c->contacts[c->contactCount++];
        uint32_t low, high;
        rbVWords_Take(w, "h.h", &p->a, &p->b, &low, &high);
        int force = (int)(low >> 1 & 4095u) - EXPONENT_ZERO;
        int point = (int)(high & 4095u) - EXPONENT_ZERO;
        rbVWords_Take(w, "ggggggggg", point, &p->point.x, point, &p->point.y, point, &p->point.z,
                      -NORMAL_BITS, &p->normal.x, -NORMAL_BITS, &p->normal.y, point + GAP_BITS,
                      &p->gap, force, &p->force.x, force, &p->force.y, force, &p->force.z);
        w->isBad = w->isBad || p->a >= c->model.bodyCount || p->b >= c->model.bodyCount ||
                   low > 8191u || high > 4095u;
    }
    return true;
}

static bool readJoints(rbVChecker* c, rbVWords* w)
{
    for (uint32_t i = 0; i < c->model.jointCount; ++i) {
        rbVJointForce* j = &c->jointForces[i];
        rbVWords_Take(w, "vvvnn", &j->force, &j->torque, &j->point, &j->positionError,
                      &j->angleError);
    }
    c->hasJointForces = true;
    return true;
}

static bool readSprings(rbVChecker* c, rbVWords* w)
{
    for (uint32_t i = 0; i < c->model.springCount; ++i) {
        rbVSpringForce* s = &c->springForces[i];
        rbVWords_Take(w, "nnn", &s->force, &s->length, &s->energy);
    }
    c->hasSpringForces = true;
    return true;
}

static bool readNode(rbVChecker* c, rbVWords* w)
{
    double time;
    uint32_t isGrid;
    rbVWords_Take(w, "ni", &time, &isGrid, 2u);
    for (int i = 0; i < RB_V_ENERGY_COUNT; ++i) {
        rbVWords_Take(w, "n", &c->ledger.energies[i]);
    }
    rbVWords_Take(w, "vv", &c->ledger.momentum, &c->ledger.angularMomentum);
    if (w->isBad) {
        return false;
    }
    rbVCheckGroup(c);
    noteTime(c, time);
    while (w->place < w->count) {
        uint32_t body;
        rbVState state;
        rbVWords_Take(w, "is", &body, c->model.bodyCount, &state);
        if (w->isBad) {
            return false;
        }
        c->tracks[body].now = state;
    }
    rbVCheckNode(c, time, isGrid != 0);
    c->report->endTime = time;
    return true;
}

static bool readRecord(rbVChecker* c, rbVWords* w)
{
    static bool (*const readers[])(rbVChecker*, rbVWords*) = {
        NULL, readEvent, readState, readContacts, readJoints, readSprings, readNode, readState};
    uint32_t kind, size;
    rbVWords_Take(w, "h", &kind, &size);
    if (size > w->count - w->place || kind == 0 || kind >= sizeof readers / sizeof readers[0]) {
        return false;
    }
    rbVWords record = {.words = w->words + w->place, .count = size};
    w->place += size;
    return readers[kind](c, &record) && !record.isBad && record.place == record.count;
}

static bool checkClaims(rbVChecker* c, rbVWords* w)
{
    const rbVModel* m = &c->model;
    double endTime, overlap, jointError, errors[2]; // s, m, m, m and rad
    uint64_t impacts, micros;
    rbVWords_Take(w, "n..nnnnww....", &endTime, &overlap, &errors[0], &errors[1], &jointError,
                  &impacts, &micros);
    for (uint32_t i = 0; i < m->bodyCount; ++i) {
        rbVCheckAnnounced(c, i);
    }
    RB_V_CHECK(c, ORDER, CERTIFIED, RB_V_NONE, RB_V_NONE, fabs(endTime - c->report->endTime), 0.0,
               "end of the run other than the last node, s");
    if (m->engine == RB_V_EVENT) {
        RB_V_CHECK(c, COUNTS, CERTIFIED, RB_V_NONE, RB_V_NONE, impacts != c->impacts, 0.0,
                   "impacts more or less than claimed");
        RB_V_CHECK(c, COUNTS, CERTIFIED, RB_V_NONE, RB_V_NONE, micros != c->micros, 0.0,
                   "microcollisions more or less than claimed");
    }
    if (m->engine == RB_V_STEP && m->hasContacts) {
        RB_V_CHECK(c, APART, CERTIFIED, RB_V_NONE, RB_V_NONE, c->deepest,
                   overlap * (1.0 + 1e-6) + 1e-9, "deepest overlap, m");
    }
    const char* const what[2] = {"largest gap of a joint, m", "largest angle of a joint, rad"};
    for (int i = 0; i < 2 && m->jointCount > 0; ++i) {
        double claimed = fmax(fmax(errors[i], jointError), m->jointTolerance);
        RB_V_CHECK(c, JOINT, CERTIFIED, RB_V_NONE, RB_V_NONE, c->jointWorst[i],
                   claimed * (1.0 + 1e-6) + 1e-13, what[i]);
    }
    return !w->isBad && w->place == w->count;
}

static bool prepare(rbVChecker* c)
{
    c->tracks = rbVMake(&c->model, c->model.bodyCount, sizeof *c->tracks);
    c->jointForces = rbVMake(&c->model, c->model.jointCount, sizeof *c->jointForces);
    c->springForces = rbVMake(&c->model, c->model.springCount, sizeof *c->springForces);
    if (c->tracks == NULL || c->jointForces == NULL || c->springForces == NULL) {
        return false;
    }
    c->time = c->lastNode = c->model.startTime;
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        const rbVBody* body = &c->model.bodies[i];
        c->tracks[i].now = body->start;
        rbVFlight_Begin(&c->tracks[i].flight, body, c->time, &body->start, body->isHeld);
        rbVAddLeg(c, i, c->time, body->isHeld);
    }
    c->report->bodies = c->model.bodyCount;
    bool isGood = rbVPrepareShapes(c);
    for (uint32_t i = 0; i < c->model.bodyCount && isGood; ++i) {
        if (c->model.bodies[i].type == RB_V_DYNAMIC) {
            rbVCheckMass(c, i);
        }
    }
    return isGood;
}

static void freeChecker(rbVChecker* c)
{
    for (uint32_t i = 0; i < c->model.bodyCount && c->tracks != NULL; ++i) {
        free(c->tracks[i].legs);
    }
    rbVModel_Free(&c->model);
    free(c->contacts);
    free(c->pieces);
    free(c);
}

// Reads all blocks. Returns false with a message when the file cannot be read to its end.
static bool readAll(rbVReader* reader, rbVChecker* c)
{
    char* message = reader->message;
    rbVWords* w = &reader->block;
    if (rbVReader_Next(reader) != RB_V_BLOCK_MODEL) {
        return rbVFail(message, "has no model at its beginning");
    }
    if (!rbVModel_Read(&c->model, w, message)) {
        return false;
    }
    if (!prepare(c)) {
        return rbVFail(message, "does not fit into memory");
    }
    rbVBlock block = rbVReader_Next(reader);
    for (; block == RB_V_BLOCK_RECORDS; block = rbVReader_Next(reader)) {
        while (w->place < w->count) {
            if (!readRecord(c, w)) {
                return rbVFail(message, "block %u has an impossible record before word %zu",
                               reader->sequence - 1, w->place);
            }
        }
    }
    if (block == RB_V_BLOCK_END || block == RB_V_BLOCK_CUT) {
        return rbVFail(message, "is cut off: it ends at t = %.9g s without its final block",
                       c->report->endTime);
    }
    if (block != RB_V_BLOCK_DONE) {
        return block == RB_V_BLOCK_MODEL ? rbVFail(message, "has a second model") : false;
    }
    rbVCheckGroup(c);
    if (!checkClaims(c, w)) {
        return rbVFail(message, "has an impossible final block");
    }
    if (rbVReader_Next(reader) != RB_V_BLOCK_END) {
        return rbVFail(message, "continues after its final block");
    }
    c->report->isComplete = true;
    return true;
}

int rbVerifyCertificate(const char* path, rbVReport* report, char* message)
{
    memset(report, 0, sizeof *report);
    message[0] = '\0';
    rbVReader reader = {.message = message};
    rbVChecker* checker = calloc(1, sizeof *checker);
    if (checker == NULL) {
        (void)rbVFail(message, "does not fit into memory");
        return 2;
    }
    checker->report = report;
    bool isRead = rbVReader_Open(&reader, path) && readAll(&reader, checker);
    rbVReader_Close(&reader);
    freeChecker(checker);
    return !isRead ? 2 : (report->failed > 0 ? 1 : 0);
}
