// Reads certificates (docs/certificate.md) and trusts nothing: sizes, counts, indices are bounded.
#include "verify/model.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define VERSION 2u
#define RAW_MAX (1u << 28)
#define RATIO_MAX 65536u
#define HEADER_SIZE 40u
#define HASH_START 0xcbf29ce484222325u

static uint64_t hashBytes(uint64_t hash, const unsigned char* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t wordOf(const unsigned char* bytes, int count)
{
    uint64_t word = 0;
    for (int i = 0; i < count; ++i) {
        word |= (uint64_t)bytes[i] << (8 * i);
    }
    return word;
}

bool rbVReader_Open(rbVReader* r, const char* path)
{
    static const unsigned char magic[8] = {0x89, 'R', 'B', 'C', '\r', '\n', 0x1a, '\n'};
    unsigned char bytes[24];
    memset(r, 0, sizeof *r);
    r->file = fopen(path, "rb");
    if (r->file == NULL) {
        (void)snprintf(r->message, sizeof r->message, "cannot be opened");
        return false;
    }
    size_t count = fread(bytes, 1, sizeof bytes, r->file);
    if (count < 8 || memcmp(bytes, magic, 8) != 0) {
        (void)snprintf(
            r->message, sizeof r->message,
            "is not a certificate; 'rattleback run SCENE --certificate FILE' writes one");
        return false;
    }
    uint64_t version = count >= 12 ? wordOf(bytes + 8, 4) : 0;
    if (count == sizeof bytes && version != VERSION) {
        (void)snprintf(r->message, sizeof r->message,
                       "has version %u of the format; this program reads version %u",
                       (unsigned)version, VERSION);
        return false;
    }
    r->checksum = hashBytes(HASH_START, bytes, 16);
    if (count < sizeof bytes || wordOf(bytes + 16, 8) != r->checksum) {
        (void)snprintf(r->message, sizeof r->message, "is damaged at its beginning");
        return false;
    }
    return true;
}

void rbVReader_Close(rbVReader* r)
{
    if (r->file != NULL) {
        (void)fclose(r->file);
    }
    free(r->stored);
    free(r->planes);
    free(r->words);
    memset(r, 0, sizeof *r);
}

static bool reserve(unsigned char** bytes, size_t* capacity, size_t wanted)
{
    if (wanted > *capacity) {
        unsigned char* grown = realloc(*bytes, wanted);
        if (grown == NULL) {
            return false;
        }
        *bytes = grown;
        *capacity = wanted;
    }
    return true;
}

static rbVBlock fail(rbVReader* r, const char* what)
{
    (void)snprintf(r->message, sizeof r->message, "block %u %s", r->sequence, what);
    return RB_V_BLOCK_BAD;
}

// The bytes of a block into words: decompressed, and the byte planes put together.
static bool unpack(rbVReader* r, uint32_t codec, size_t rawSize, size_t storedSize)
{
    size_t before = r->planeCapacity;
    if (!reserve(&r->planes, &r->planeCapacity, rawSize)) {
        return false;
    }
    if (r->planeCapacity != before) {
        uint64_t* words = realloc(r->words, r->planeCapacity);
        if (words == NULL) {
            r->planeCapacity = 0; // both grow together again
            return false;
        }
        r->words = words;
    }
    const unsigned char* planes = r->stored;
    if (codec == 1) {
        planes = r->planes;
        if (ZSTD_decompress(r->planes, rawSize, r->stored, storedSize) != rawSize) {
            return false;
        }
    }
    size_t count = rawSize / 8;
    for (size_t i = 0; i < count; ++i) {
        uint64_t word = 0;
        for (size_t plane = 0; plane < 8; ++plane) {
            word |= (uint64_t)planes[plane * count + i] << (8 * plane);
        }
        r->words[i] = word;
    }
    r->block = (rbVWords){.words = r->words, .count = count};
    return true;
}

rbVBlock rbVReader_Next(rbVReader* r)
{
    static const char tags[3][5] = {"MODL", "RECS", "DONE"};
    unsigned char h[HEADER_SIZE];
    size_t count = fread(h, 1, sizeof h, r->file);
    if (count < sizeof h) {
        return count == 0 ? RB_V_BLOCK_END : RB_V_BLOCK_CUT;
    }
    r->checksum = hashBytes(r->checksum, h, 32);
    uint32_t codec = (uint32_t)wordOf(h + 8, 4);
    size_t rawSize = (size_t)wordOf(h + 12, 4);
    size_t storedSize = (size_t)wordOf(h + 16, 4);
    if (wordOf(h + 32, 8) != r->checksum || wordOf(h + 4, 4) != r->sequence) {
        return fail(r, "has a damaged header, or is not the next one");
    }
    if (codec > 1 || rawSize % 8 != 0 || rawSize > RAW_MAX || storedSize > RAW_MAX ||
        (codec == 0 && rawSize != storedSize) || rawSize / RATIO_MAX > storedSize) {
        return fail(r, "states an impossible size");
    }
    if (!reserve(&r->stored, &r->storedCapacity, storedSize + 1)) {
        return fail(r, "does not fit into memory");
    }
    if (fread(r->stored, 1, storedSize, r->file) < storedSize) {
        return RB_V_BLOCK_CUT;
    }
    if (hashBytes(HASH_START, r->stored, storedSize) != wordOf(h + 24, 8)) {
        return fail(r, "is damaged: its checksum is wrong");
    }
    if (!unpack(r, codec, rawSize, storedSize)) {
        return fail(r, "cannot be decompressed");
    }
    for (int i = 0; i < 3; ++i) {
        if (memcmp(h, tags[i], 4) == 0) {
            r->sequence += 1;
            return (rbVBlock)(RB_V_BLOCK_MODEL + i);
        }
    }
    return fail(r, "has an unknown tag");
}

uint64_t rbVWords_Take(rbVWords* w)
{
    if (w->place >= w->count) {
        w->isBad = true;
        return 0;
    }
    return w->words[w->place++];
}

double rbVWords_Number(rbVWords* w)
{
    uint64_t bits = rbVWords_Take(w);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

rbV3 rbVWords_Vector(rbVWords* w)
{
    double x = rbVWords_Number(w);
    double y = rbVWords_Number(w);
    return (rbV3){x, y, rbVWords_Number(w)};
}

// A quaternion must have about unit length.
static rbV4 takeQuat(rbVWords* w)
{
    double a = rbVWords_Number(w);
    rbV3 v = rbVWords_Vector(w);
    double square = a * a + dot3(v, v);
    w->isBad = w->isBad || !(fabs(square - 1.0) < 1e-9);
    return (rbV4){a, v.x, v.y, v.z};
}

rbVState rbVWords_State(rbVWords* w)
{
    rbVState s;
    s.center = rbVWords_Vector(w);
    s.q = takeQuat(w);
    s.v = rbVWords_Vector(w);
    s.w = rbVWords_Vector(w);
    w->isBad = w->isBad || !isFinite3(s.center) || !isFinite3(s.v) || !isFinite3(s.w);
    return s;
}

// Words that no check uses.
static void skipWords(rbVWords* w, int count)
{
    for (int i = 0; i < count; ++i) {
        (void)rbVWords_Take(w);
    }
}

// A count of things that take at least size words each.
static uint32_t takeCount(rbVWords* w, size_t size)
{
    uint64_t count = rbVWords_Take(w);
    if (w->isBad || count > (w->count - w->place) / size) {
        w->isBad = true;
        return 0;
    }
    return (uint32_t)count;
}

static uint32_t takeBelow(rbVWords* w, uint64_t limit)
{
    uint64_t value = rbVWords_Take(w);
    w->isBad = w->isBad || value >= limit;
    return w->isBad ? 0 : (uint32_t)value;
}

static double takeFinite(rbVWords* w)
{
    double value = rbVWords_Number(w);
    w->isBad = w->isBad || !isfinite(value);
    return value;
}

static void takeText(rbVWords* w, char* text, size_t capacity)
{
    uint64_t length = rbVWords_Take(w);
    size_t words = (size_t)((length + 7) / 8);
    if (w->isBad || length > 4096 || words > w->count - w->place) {
        w->isBad = true;
        length = 0;
    }
    for (uint64_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)(w->words[w->place + i / 8] >> (8 * (i % 8)));
        if (i + 1 < capacity) {
            // control characters would be obeyed by a terminal
            text[i] = (char)(c < 32 || c == 127 ? '?' : c);
        }
    }
    text[length < capacity ? length : capacity - 1] = '\0';
    w->place += w->isBad ? 0 : words;
}

static rbVPose takePose(rbVWords* w)
{
    rbVPose pose;
    pose.p = rbVWords_Vector(w);
    pose.q = takeQuat(w);
    w->isBad = w->isBad || !isFinite3(pose.p);
    return pose;
}

// Zeroed memory for count things, at least one; the model is bad without it.
static void* make(rbVWords* w, uint32_t count, size_t size)
{
    void* memory = calloc(count > 0 ? count : 1, size);
    w->isBad = w->isBad || memory == NULL;
    return memory;
}

// Two body numbers in one word; RB_V_NONE is the world.
static void takePair(rbVWords* w, uint32_t count, uint32_t* a, uint32_t* b)
{
    uint64_t both = rbVWords_Take(w);
    *a = (uint32_t)both;
    *b = (uint32_t)(both >> 32);
    if ((*a != RB_V_NONE && *a >= count) || (*b != RB_V_NONE && *b >= count)) {
        w->isBad = true;
        *a = *b = RB_V_NONE;
    }
}

static void readSettings(rbVModel* m, rbVWords* w)
{
    takeText(w, m->version, sizeof m->version);
    m->engine = takeBelow(w, 3);
    m->startTime = takeFinite(w);
    m->gravity = rbVWords_Vector(w);
    m->periodic = rbVWords_Vector(w);
    w->isBad = w->isBad || !isFinite3(m->gravity) || !isFinite3(m->periodic);
    m->law = takeBelow(w, RB_V_LAW_COUNT);
    m->restitutionRule = takeBelow(w, 6);
    m->frictionRule = takeBelow(w, 6);
    m->tolerance = takeFinite(w);
    skipWords(w, 3); // contactTime, order, lasting
    m->isExactDetector = takeBelow(w, 2);
    m->accuracy = takeBelow(w, 3);
    m->step = takeFinite(w);
    m->stepOrder = takeBelow(w, 64);
    m->jointTolerance = takeFinite(w);
    skipWords(w, 1); // errorMax
    m->isImpulses = takeBelow(w, 2);
    m->hasContacts = takeBelow(w, 2);
    m->shell = takeFinite(w);
    skipWords(w, 3); // velocityTolerance, restSpeed, areNeighborsMeeting
}

static void readFaces(rbVGeometry* g, rbVWords* w)
{
    g->vertexCount = takeCount(w, 3);
    g->vertices = make(w, g->vertexCount, sizeof *g->vertices);
    for (uint32_t i = 0; i < g->vertexCount && !w->isBad; ++i) {
        g->vertices[i] = rbVWords_Vector(w);
        w->isBad = !isFinite3(g->vertices[i]);
    }
    g->faceCount = takeCount(w, 4);
    g->faceSizes = make(w, g->faceCount, sizeof *g->faceSizes);
    size_t left = w->isBad ? 0 : w->count - w->place;
    g->corners = make(w, (uint32_t)(left < UINT32_MAX ? left : 0), sizeof *g->corners);
    uint32_t used = 0;
    for (uint32_t f = 0; f < g->faceCount && !w->isBad; ++f) {
        g->faceSizes[f] = takeCount(w, 1);
        for (uint32_t i = 0; i < g->faceSizes[f] && !w->isBad; ++i) {
            g->corners[used++] = takeBelow(w, g->vertexCount);
        }
    }
}

static void readGeometry(rbVModel* m, uint32_t index, rbVWords* w)
{
    rbVGeometry* g = &m->geometries[index];
    size_t start = w->place;
    g->type = takeBelow(w, 64);
    skipWords(w, 1); // its radius as claimed
    if (g->type <= RB_V_PLANE) {
        int count = g->type == RB_V_PLANE ? 4 : 3;
        for (int i = 0; i < count; ++i) {
            g->numbers[i] = takeFinite(w);
            w->isBad = w->isBad || (g->type != RB_V_PLANE && g->numbers[i] < 0.0);
        }
    } else if (g->type <= RB_V_SOUP) {
        readFaces(g, w);
    } else if (g->type == RB_V_COMPOUND) {
        g->childCount = takeCount(w, 9);
        g->children = make(w, g->childCount, sizeof *g->children);
        for (uint32_t i = 0; i < g->childCount && !w->isBad; ++i) {
            g->children[i].geometry = takeBelow(w, index); // children come first
            g->children[i].density = takeFinite(w);
            g->children[i].pose = takePose(w);
        }
    }
    uint64_t hash = HASH_START;
    for (size_t i = start; i < w->place && !w->isBad; ++i) {
        for (int k = 0; k < 8; ++k) {
            hash = (hash ^ (unsigned char)(w->words[i] >> (8 * k))) * 0x100000001b3u;
        }
    }
    w->isBad = w->isBad || rbVWords_Take(w) != hash;
}

static void readShapes(const rbVModel* m, rbVBody* b, rbVWords* w)
{
    b->shapeCount = takeCount(w, 18);
    b->shapes = make(w, b->shapeCount, sizeof *b->shapes);
    for (uint32_t i = 0; i < b->shapeCount && !w->isBad; ++i) {
        rbVShape* s = &b->shapes[i];
        s->geometry = takeBelow(w, m->geometryCount);
        s->isSensor = takeBelow(w, 2) == 1;
        s->pose = takePose(w);
        s->density = takeFinite(w);
        s->restitution = takeFinite(w);
        s->friction = takeFinite(w);
        s->stiction = takeFinite(w);
        s->kind = takeBelow(w, 64);
        uint64_t bits = rbVWords_Take(w);
        s->groups = (uint32_t)bits;
        s->mask = (uint32_t)(bits >> 32);
        skipWords(w, 3); // velocity of the surface
    }
}

// The inverse of a positive definite matrix, by cofactors in long double; false: it is not.
static bool invert(const rbVSym* a, rbVSym* inverse)
{
    long double xx = a->xx, yy = a->yy, zz = a->zz, xy = a->xy, xz = a->xz, yz = a->yz;
    long double cxx = yy * zz - yz * yz;
    long double cxy = xz * yz - xy * zz;
    long double cxz = xy * yz - xz * yy;
    long double det = xx * cxx + xy * cxy + xz * cxz;
    if (!(xx > 0.0L && xx * yy - xy * xy > 0.0L && det > 0.0L)) {
        return false;
    }
    inverse->xx = (double)(cxx / det);
    inverse->xy = (double)(cxy / det);
    inverse->xz = (double)(cxz / det);
    inverse->yy = (double)((xx * zz - xz * xz) / det);
    inverse->yz = (double)((xy * xz - xx * yz) / det);
    inverse->zz = (double)((xx * yy - xy * xy) / det);
    return true;
}

static void readBody(const rbVModel* m, rbVBody* b, rbVWords* w)
{
    takeText(w, b->name, sizeof b->name);
    b->type = takeBelow(w, 3);
    b->motion = takeBelow(w, 16);
    b->mass = takeFinite(w);
    b->center = rbVWords_Vector(w);
    double* inertia[6] = {&b->inertia.xx, &b->inertia.yy, &b->inertia.zz,
                          &b->inertia.xy, &b->inertia.xz, &b->inertia.yz};
    for (int i = 0; i < 6; ++i) {
        *inertia[i] = takeFinite(w);
    }
    b->isFromShapes = takeBelow(w, 2) == 1;
    b->growth = takeFinite(w);
    b->isHeld = takeBelow(w, 2) == 1;
    b->start = rbVWords_State(w);
    b->acceleration = m->gravity;
    if (b->type == RB_V_DYNAMIC && !(b->mass > 0.0)) {
        b->type = RB_V_STATIC; // without a mass it never moves
    }
    if (b->type == RB_V_DYNAMIC) {
        w->isBad = w->isBad || !invert(&b->inertia, &b->inverse);
    }
    readShapes(m, b, w);
}

static void readForces(rbVModel* m, rbVWords* w)
{
    m->forceCount = takeCount(w, 14);
    m->forces = make(w, m->forceCount, sizeof *m->forces);
    for (uint32_t i = 0; i < m->forceCount && !w->isBad; ++i) {
        rbVForce* f = &m->forces[i];
        uint64_t both = rbVWords_Take(w);
        f->type = (uint32_t)both;
        f->body = (uint32_t)(both >> 32);
        w->isBad = w->isBad || (f->body != RB_V_NONE && f->body >= m->bodyCount);
        f->force = rbVWords_Vector(w);
        f->torque = rbVWords_Vector(w);
        skipWords(w, 3); // linear, quadratic, angular
        f->center = rbVWords_Vector(w);
        f->strength = rbVWords_Number(w);
        w->isBad = w->isBad || !isFinite3(f->force) || !isFinite3(f->torque);
    }
    for (uint32_t i = 0; i < m->forceCount && !w->isBad; ++i) {
        const rbVForce* f = &m->forces[i];
        for (uint32_t k = 0; k < m->bodyCount; ++k) {
            rbVBody* b = &m->bodies[k];
            if ((f->body == RB_V_NONE || f->body == k) && b->type == RB_V_DYNAMIC) {
                b->hasVarying = b->hasVarying || f->type != 0;
                b->force = f->type == 0 ? add3(b->force, f->force) : b->force;
                b->torque = f->type == 0 ? add3(b->torque, f->torque) : b->torque;
            }
        }
    }
    for (uint32_t k = 0; k < m->bodyCount && !w->isBad; ++k) {
        rbVBody* b = &m->bodies[k];
        if (b->type == RB_V_DYNAMIC) {
            b->acceleration = addScaled3(m->gravity, 1.0 / b->mass, b->force);
        }
    }
}

static void readLinks(rbVModel* m, rbVWords* w)
{
    m->jointCount = takeCount(w, 3);
    m->joints = make(w, m->jointCount, sizeof *m->joints);
    for (uint32_t i = 0; i < m->jointCount && !w->isBad; ++i) {
        rbVJoint* j = &m->joints[i];
        takeText(w, j->name, sizeof j->name);
        takePair(w, m->bodyCount, &j->a, &j->b);
        j->type = takeBelow(w, 64);
        j->isDriven = takeBelow(w, 2) == 1;
        j->partCount = takeBelow(w, RB_V_PARTS_MAX + 1);
        for (uint32_t k = 0; k < j->partCount; ++k) {
            rbVPart* p = &j->parts[k];
            p->type = takeBelow(w, 9);
            p->anchorA = rbVWords_Vector(w);
            p->anchorB = rbVWords_Vector(w);
            p->axisA = rbVWords_Vector(w);
            p->axisB = rbVWords_Vector(w);
            p->relative = takeQuat(w);
            p->distance = takeFinite(w);
        }
    }
    m->springCount = takeCount(w, 10);
    m->springs = make(w, m->springCount, sizeof *m->springs);
    for (uint32_t i = 0; i < m->springCount && !w->isBad; ++i) {
        rbVSpring* s = &m->springs[i];
        takePair(w, m->bodyCount, &s->a, &s->b);
        s->anchorA = rbVWords_Vector(w);
        s->anchorB = rbVWords_Vector(w);
        s->rest = takeFinite(w);
        s->stiffness = takeFinite(w);
        skipWords(w, 1); // damping
    }
}

static void markLink(rbVModel* m, uint32_t a, uint32_t b, bool isDriven)
{
    const uint32_t both[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        if (both[i] != RB_V_NONE) {
            m->bodies[both[i]].isLinked = true;
            m->bodies[both[i]].isDriven = m->bodies[both[i]].isDriven || isDriven;
        }
    }
}

bool rbVModel_Read(rbVModel* m, rbVWords* w, char message[RB_V_MESSAGE_SIZE])
{
    readSettings(m, w);
    m->geometryCount = takeCount(w, 3);
    m->geometries = make(w, m->geometryCount, sizeof *m->geometries);
    for (uint32_t i = 0; i < m->geometryCount && !w->isBad; ++i) {
        readGeometry(m, i, w);
        if (w->isBad) {
            (void)snprintf(message, RB_V_MESSAGE_SIZE,
                           "geometry %u is impossible, or its content is not that of its hash", i);
            return false;
        }
    }
    m->bodyCount = takeCount(w, 30);
    m->bodies = make(w, m->bodyCount, sizeof *m->bodies);
    for (uint32_t i = 0; i < m->bodyCount && !w->isBad; ++i) {
        readBody(m, &m->bodies[i], w);
        if (w->isBad) {
            (void)snprintf(message, RB_V_MESSAGE_SIZE, "body %u (\"%s\") is impossible", i,
                           m->bodies[i].name);
            return false;
        }
    }
    readForces(m, w);
    m->pairCount = takeCount(w, 4);
    m->pairs = make(w, m->pairCount, sizeof *m->pairs);
    for (uint32_t i = 0; i < m->pairCount && !w->isBad; ++i) {
        rbVMaterialPair* p = &m->pairs[i];
        uint64_t both = rbVWords_Take(w);
        p->kindA = (uint32_t)both;
        p->kindB = (uint32_t)(both >> 32);
        p->restitution = takeFinite(w);
        p->friction = takeFinite(w);
        p->law = takeBelow(w, RB_V_LAW_COUNT + 1);
    }
    readLinks(m, w);
    if (w->isBad || w->place != w->count) {
        (void)snprintf(message, RB_V_MESSAGE_SIZE, "the model is impossible at word %zu", w->place);
        return false;
    }
    for (uint32_t i = 0; i < m->jointCount; ++i) {
        markLink(m, m->joints[i].a, m->joints[i].b, m->joints[i].isDriven);
    }
    for (uint32_t i = 0; i < m->springCount; ++i) {
        markLink(m, m->springs[i].a, m->springs[i].b, false);
    }
    return true;
}

void rbVModel_Free(rbVModel* m)
{
    for (uint32_t i = 0; i < m->geometryCount && m->geometries != NULL; ++i) {
        free(m->geometries[i].vertices);
        free(m->geometries[i].corners);
        free(m->geometries[i].faceSizes);
        free(m->geometries[i].children);
    }
    for (uint32_t i = 0; i < m->bodyCount && m->bodies != NULL; ++i) {
        free(m->bodies[i].shapes);
    }
    free(m->geometries);
    free(m->bodies);
    free(m->forces);
    free(m->pairs);
    free(m->joints);
    free(m->springs);
    memset(m, 0, sizeof *m);
}
