// Reads a certificate record by record, feeds the checks, and counts what they find.
#include "verify/verify.h"

#include "verify/checks.h"

#include <stdlib.h>
#include <string.h>

static const char* const claimTexts[RB_V_CLAIM_COUNT] = {
#define RB_V_CLAIM_TEXT(name, text) [RB_V_CLAIM_##name] = (text),
    RB_V_CLAIMS(RB_V_CLAIM_TEXT)
#undef RB_V_CLAIM_TEXT
};

const char* rbVClaim_Text(rbVClaim claim)
{
    return claimTexts[claim];
}

static void nameBody(const rbVChecker* c, uint32_t index, char* text)
{
    if (index == RB_V_NONE) {
        text[0] = '\0';
    } else {
        (void)snprintf(text, RB_V_NAME_SIZE, "%s", c->model.bodies[index].name);
    }
}

void rbVChecker_Find(rbVChecker* c, const rbVFinding* f)
{
    rbVReport* r = c->report;
    bool isGood = f->value <= f->bound; // false for what is not a number
    r->counts[f->claim][isGood ? f->class : RB_V_FAILED] += 1;
    if (isGood && f->bound > 0.0) {
        r->worst[f->claim] = fmax(r->worst[f->claim], f->value / f->bound);
    }
    if (!isGood) {
        r->failed += 1;
        if (r->failureCount < RB_V_FAILURES_MAX) {
            rbVFailure* failure = &r->failures[r->failureCount++];
            failure->claim = f->claim;
            failure->time = c->time;
            nameBody(c, f->a, failure->bodies[0]);
            nameBody(c, f->b, failure->bodies[1]);
            failure->value = f->value;
            failure->bound = f->bound;
            (void)snprintf(failure->detail, sizeof failure->detail, "%s", f->detail);
        }
    }
}

void rbVChecker_Skip(rbVChecker* c, rbVClaim claim, const char* why)
{
    c->report->counts[claim][RB_V_NOT_CHECKED] += 1;
    (void)snprintf(c->report->reasons[claim], sizeof c->report->reasons[claim], "%s", why);
}

static void noteTime(rbVChecker* c, double time)
{
    RB_V_CHECK(c, ORDER, CERTIFIED, RB_V_NONE, RB_V_NONE, c->time - time, 2e-15 * fabs(time),
               "time after that of the next record, s");
    c->time = time;
}

static bool readEvent(rbVChecker* c, rbVWords* w)
{
    rbVEvent e;
    e.time = rbVWords_Number(w);
    uint64_t kind = rbVWords_Take(w);
    uint64_t bodies = rbVWords_Take(w);
    e.kind = (uint32_t)kind;
    e.law = (uint32_t)(kind >> 32);
    e.a = (uint32_t)bodies;
    e.b = (uint32_t)(bodies >> 32);
    e.energyChange = rbVWords_Number(w);
    e.energyBefore = rbVWords_Number(w);
    e.frictionWork = rbVWords_Number(w);
    e.point = rbVWords_Vector(w);
    e.normal = rbVWords_Vector(w);
    e.impulse = rbVWords_Vector(w);
    e.approach = rbVWords_Number(w);
    e.history = rbVWords_Take(w);
    uint32_t count = c->model.bodyCount;
    bool isPair = e.kind == RB_V_EVENT_IMPACT || e.kind == RB_V_EVENT_MICRO;
    if (w->isBad || e.kind >= RB_V_EVENT_KINDS || (e.a >= count && e.a != RB_V_NONE) ||
        (e.b >= count && e.b != RB_V_NONE) || (isPair && (e.a >= count || e.b >= count)) ||
        e.law > RB_V_LAW_COUNT) {
        return false;
    }
    if (c->groupCount > 0 && e.time != c->time) {
        rbVCheckGroup(c);
    }
    noteTime(c, e.time);
    rbVCheckEvent(c, &e);
    return true;
}

static bool readFlight(rbVChecker* c, rbVWords* w)
{
    double time = rbVWords_Number(w);
    uint64_t both = rbVWords_Take(w);
    uint32_t body = (uint32_t)both;
    rbVState state = rbVWords_State(w);
    if (w->isBad || body >= c->model.bodyCount || both >> 33 != 0 ||
        c->model.bodies[body].type != RB_V_DYNAMIC) {
        return false;
    }
    rbVCheckGroup(c);
    noteTime(c, time);
    rbVCheckFlightStart(c, body, &state, both >> 32 != 0);
    return true;
}

static bool readPath(rbVChecker* c, rbVWords* w)
{
    double time = rbVWords_Number(w);
    uint64_t body = rbVWords_Take(w);
    rbVState state = rbVWords_State(w);
    if (w->isBad || body >= c->model.bodyCount || c->model.bodies[body].type != RB_V_KINEMATIC) {
        return false;
    }
    if (time != c->time) {
        rbVCheckGroup(c);
    }
    noteTime(c, time);
    c->tracks[body].now = state;
    return true;
}

static bool readContacts(rbVChecker* c, rbVWords* w)
{
    size_t size = w->count;
    if (size % 12 != 0) {
        return false;
    }
    uint32_t count = (uint32_t)(size / 12);
    if (count > c->contactCapacity) {
        rbVContact* grown = realloc(c->contacts, count * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        c->contacts = grown;
        c->contactCapacity = count;
    }
    for (uint32_t i = 0; i < count; ++i) {
        rbVContact* p = &c->contacts[i];
        uint64_t both = rbVWords_Take(w);
        p->a = (uint32_t)both;
        p->b = (uint32_t)(both >> 32);
        p->isSticking = rbVWords_Take(w) != 0;
        p->point = rbVWords_Vector(w);
        p->normal = rbVWords_Vector(w);
        p->gap = rbVWords_Number(w);
        p->force = rbVWords_Vector(w);
        if (p->a >= c->model.bodyCount || p->b >= c->model.bodyCount) {
            return false;
        }
    }
    c->contactCount = count;
    return !w->isBad;
}

static bool readJoints(rbVChecker* c, rbVWords* w)
{
    size_t size = w->count;
    if (size != 11 * (size_t)c->model.jointCount) {
        return false;
    }
    for (uint32_t i = 0; i < c->model.jointCount; ++i) {
        rbVJointForce* j = &c->jointForces[i];
        j->force = rbVWords_Vector(w);
        j->torque = rbVWords_Vector(w);
        j->point = rbVWords_Vector(w);
        j->positionError = rbVWords_Number(w);
        j->angleError = rbVWords_Number(w);
    }
    c->hasJointForces = true;
    return !w->isBad;
}

static bool readSprings(rbVChecker* c, rbVWords* w)
{
    size_t size = w->count;
    if (size != 3 * (size_t)c->model.springCount) {
        return false;
    }
    for (size_t i = 0; i < size; ++i) {
        c->springForces[i] = rbVWords_Number(w);
    }
    c->hasSpringForces = true;
    return !w->isBad;
}

static bool readNode(rbVChecker* c, rbVWords* w)
{
    size_t size = w->count;
    const size_t head = 21;
    double time = rbVWords_Number(w);
    uint64_t isGrid = rbVWords_Take(w);
    double* numbers[13] = {
        &c->ledger.kineticLinear, &c->ledger.kineticAngular, &c->ledger.potential,
        &c->ledger.spring,        &c->ledger.energy,         &c->ledger.work,
        &c->ledger.impact,        &c->ledger.friction,       &c->ledger.micro,
        &c->ledger.motor,         &c->ledger.dissipation,    &c->ledger.rest,
        &c->ledger.drift};
    for (int i = 0; i < 13; ++i) {
        *numbers[i] = rbVWords_Number(w);
    }
    c->ledger.momentum = rbVWords_Vector(w);
    c->ledger.angularMomentum = rbVWords_Vector(w);
    if (size < head || (size - head) % 14 != 0 || w->isBad) {
        return false;
    }
    rbVCheckGroup(c);
    noteTime(c, time);
    for (size_t i = 0; i < (size - head) / 14; ++i) {
        uint64_t body = rbVWords_Take(w);
        rbVState state = rbVWords_State(w);
        if (w->isBad || body >= c->model.bodyCount) {
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
        NULL, readEvent, readFlight, readContacts, readJoints, readSprings, readNode, readPath};
    uint64_t head = rbVWords_Take(w);
    uint32_t kind = (uint32_t)head;
    size_t size = (size_t)(head >> 32);
    if (size > w->count - w->place || kind == 0 || kind >= sizeof readers / sizeof readers[0]) {
        return false;
    }
    rbVWords record = {.words = w->words + w->place, .count = size};
    w->place += size;
    return readers[kind](c, &record) && !record.isBad && record.place == record.count;
}

// The bounds claimed for the whole run, in the order of the final block.
enum {
    END_TIME,
    END_EVENT_OVERLAP = 2,
    END_OVERLAP,
    END_POSITION,
    END_ANGLE,
    END_JOINT,
    END_IMPACTS,
    END_MICROS,
    END_WORDS = 13
};

static bool checkClaims(rbVChecker* c, rbVWords* w)
{
    const rbVModel* m = &c->model;
    double k[END_WORDS];
    for (int i = 0; i < END_WORDS; ++i) {
        bool isCount = i >= END_IMPACTS && i < END_WORDS - 2;
        k[i] = isCount ? (double)rbVWords_Take(w) : rbVWords_Number(w);
    }
    for (uint32_t i = 0; i < m->bodyCount; ++i) {
        rbVCheckAnnounced(c, i);
    }
    RB_V_CHECK(c, ORDER, CERTIFIED, RB_V_NONE, RB_V_NONE, fabs(k[END_TIME] - c->report->endTime),
               0.0, "end of the run other than the last node, s");
    if (m->engine == RB_V_EVENT) {
        RB_V_CHECK(c, COUNTS, CERTIFIED, RB_V_NONE, RB_V_NONE,
                   fabs(k[END_IMPACTS] - (double)c->impacts), 0.0,
                   "impacts more or less than claimed");
        RB_V_CHECK(c, COUNTS, CERTIFIED, RB_V_NONE, RB_V_NONE,
                   fabs(k[END_MICROS] - (double)c->micros), 0.0,
                   "microcollisions more or less than claimed");
    }
    if (m->engine == RB_V_STEP && m->hasContacts) {
        RB_V_CHECK(c, APART, CERTIFIED, RB_V_NONE, RB_V_NONE, c->deepest,
                   k[END_OVERLAP] * (1.0 + 1e-6) + 1e-9, "deepest overlap, m");
    }
    const char* const what[2] = {"largest gap of a joint, m", "largest angle of a joint, rad"};
    for (int i = 0; i < 2 && m->jointCount > 0; ++i) {
        double claimed = fmax(fmax(k[END_POSITION + i], k[END_JOINT]), m->jointTolerance);
        RB_V_CHECK(c, JOINT, CERTIFIED, RB_V_NONE, RB_V_NONE, c->jointWorst[i],
                   claimed * (1.0 + 1e-6) + 1e-13, what[i]);
    }
    return !w->isBad && w->place == w->count;
}

static bool prepare(rbVChecker* c)
{
    uint32_t count = c->model.bodyCount + 1;
    c->tracks = calloc(count, sizeof *c->tracks);
    c->loads = calloc(count, sizeof *c->loads);
    c->isClosed = calloc(c->model.jointCount + 1, sizeof *c->isClosed);
    c->jointForces = calloc(c->model.jointCount + 1, sizeof *c->jointForces);
    c->springForces = calloc(3 * (size_t)c->model.springCount + 1, sizeof *c->springForces);
    if (c->tracks == NULL || c->loads == NULL || c->isClosed == NULL || c->jointForces == NULL ||
        c->springForces == NULL) {
        return false;
    }
    c->time = c->model.startTime;
    c->lastNode = c->time;
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
    free(c->tracks);
    free(c->loads);
    free(c->isClosed);
    free(c->jointForces);
    free(c->springForces);
    free(c->contacts);
    free(c->pieces);
    free(c->firstPiece);
    free(c->spans);
    free(c);
}

// Reads all blocks. Returns false with a message when the file cannot be read to its end.
static bool readAll(rbVReader* reader, rbVChecker* c, char* message)
{
    if (rbVReader_Next(reader) != RB_V_BLOCK_MODEL) {
        (void)snprintf(message, RB_V_MESSAGE_SIZE, "has no model: %.200s", reader->message);
        return false;
    }
    if (!rbVModel_Read(&c->model, &reader->block, message)) {
        return false;
    }
    if (!prepare(c)) {
        (void)snprintf(message, RB_V_MESSAGE_SIZE, "does not fit into memory");
        return false;
    }
    for (;;) {
        rbVBlock block = rbVReader_Next(reader);
        rbVWords* w = &reader->block;
        if (block == RB_V_BLOCK_RECORDS) {
            while (w->place < w->count) {
                if (!readRecord(c, w)) {
                    (void)snprintf(message, RB_V_MESSAGE_SIZE,
                                   "block %u has an impossible record before word %zu",
                                   reader->sequence - 1, w->place);
                    return false;
                }
            }
        } else if (block == RB_V_BLOCK_DONE) {
            rbVCheckGroup(c);
            if (!checkClaims(c, w)) {
                (void)snprintf(message, RB_V_MESSAGE_SIZE, "has an impossible final block");
                return false;
            }
            if (rbVReader_Next(reader) != RB_V_BLOCK_END) {
                (void)snprintf(message, RB_V_MESSAGE_SIZE, "continues after its final block");
                return false;
            }
            c->report->isComplete = true;
            return true;
        } else if (block == RB_V_BLOCK_END || block == RB_V_BLOCK_CUT) {
            (void)snprintf(message, RB_V_MESSAGE_SIZE,
                           "is cut off: it ends at t = %.9g s without its final block",
                           c->report->endTime);
            return false;
        } else {
            (void)snprintf(message, RB_V_MESSAGE_SIZE, "%s",
                           reader->message[0] != '\0' ? reader->message : "has a second model");
            return false;
        }
    }
}

int rbVerifyCertificate(const char* path, rbVReport* report, char* message)
{
    memset(report, 0, sizeof *report);
    message[0] = '\0';
    rbVReader reader;
    rbVChecker* checker = calloc(1, sizeof *checker);
    if (checker == NULL) {
        (void)snprintf(message, RB_V_MESSAGE_SIZE, "does not fit into memory");
        return 2;
    }
    checker->report = report;
    bool isRead = rbVReader_Open(&reader, path);
    if (isRead) {
        isRead = readAll(&reader, checker, message);
    } else {
        (void)snprintf(message, RB_V_MESSAGE_SIZE, "%s", reader.message);
    }
    rbVReader_Close(&reader);
    freeChecker(checker);
    return !isRead ? 2 : (report->failed > 0 ? 1 : 0);
}
