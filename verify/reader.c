// Reads certificates (docs/certificate.md) and trusts nothing: sizes, counts, indices are bounded.
#include "verify/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define VERSION 4u
#define RAW_MAX (1u << 28)
#define RATIO_MAX 65536u
#define HEADER_SIZE 40u
#define HASH_START 0xcbf29ce484222325u

bool rbVFail(char* message, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, RB_V_VERIFY_MESSAGE, format, arguments);
    va_end(arguments);
    return false;
}

static uint64_t hashBytes(uint64_t hash, const unsigned char* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

uint64_t rbVWordOf(const unsigned char* bytes, unsigned count, size_t stride)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < count; ++i) {
        word |= (uint64_t)bytes[i * stride] << (8 * i);
    }
    return word;
}

bool rbVReader_Open(rbVReader* r, const char* path)
{
    static const unsigned char magic[8] = {0x89, 'R', 'B', 'C', '\r', '\n', 0x1a, '\n'};
    unsigned char bytes[24];
    r->file = fopen(path, "rb");
    if (r->file == NULL) {
        return rbVFail(r->message, "cannot be opened");
    }
    size_t count = fread(bytes, 1, sizeof bytes, r->file);
    if (count < 8 || memcmp(bytes, magic, 8) != 0) {
        return rbVFail(r->message, "is not a certificate; 'rattleback run SCENE --certificate "
                                   "FILE' writes one");
    }
    unsigned version = count == sizeof bytes ? (unsigned)rbVWordOf(bytes + 8, 4, 1) : VERSION;
    if (version != VERSION) {
        return rbVFail(r->message, "has version %u of the format; this program reads version %u",
                       version, VERSION);
    }
    r->checksum = hashBytes(HASH_START, bytes, 16);
    if (count < sizeof bytes || rbVWordOf(bytes + 16, 8, 1) != r->checksum) {
        return rbVFail(r->message, "is damaged at its beginning");
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
    free(r->columns);
}

static bool resize(void* pointer, size_t size)
{
    void** memory = pointer;
    void* grown = realloc(*memory, size);
    *memory = grown != NULL ? grown : *memory;
    return grown != NULL;
}

static rbVBlock fail(rbVReader* r, const char* what)
{
    (void)rbVFail(r->message, "block %u %s", r->sequence, what);
    return RB_V_BLOCK_BAD;
}

// The bytes of a block into words; head: bytes before the planes, of columns.
static bool unpack(rbVReader* r, size_t head, size_t rawSize, size_t storedSize)
{
    size_t count = (rawSize - head) / 8;
    if (!resize(&r->planes, rawSize + 1) || !resize(&r->words, 8 * count + 8) ||
        ZSTD_decompress(r->planes, rawSize, r->stored, storedSize) != rawSize) {
        return false;
    }
    r->block = (rbVWords){.words = r->words, .count = count};
    if (head > 0) {
        return rbVColumns_Decode(&r->columns, r->planes, r->words, count);
    }
    for (size_t i = 0; i < count; ++i) {
        r->words[i] = rbVWordOf(r->planes + i, 8, count);
    }
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
    uint32_t codec = (uint32_t)rbVWordOf(h + 8, 4, 1);
    size_t rawSize = (size_t)rbVWordOf(h + 12, 4, 1);
    size_t storedSize = (size_t)rbVWordOf(h + 16, 4, 1);
    size_t head = codec == 1 ? RB_V_COLUMNS_HEAD : 0;
    if (rbVWordOf(h + 32, 8, 1) != r->checksum || rbVWordOf(h + 4, 4, 1) != r->sequence) {
        return fail(r, "has a damaged header, or is not the next one");
    }
    if (codec > 1 || rawSize < head || (rawSize - head) % 8 != 0 || rawSize > RAW_MAX ||
        storedSize > RAW_MAX || rawSize / RATIO_MAX > storedSize) {
        return fail(r, "states an impossible size");
    }
    if (!resize(&r->stored, storedSize + 1)) {
        return fail(r, "does not fit into memory");
    }
    if (fread(r->stored, 1, storedSize, r->file) < storedSize) {
        return RB_V_BLOCK_CUT;
    }
    if (hashBytes(HASH_START, r->stored, storedSize) != rbVWordOf(h + 24, 8, 1)) {
        return fail(r, "is damaged: its checksum is wrong");
    }
    if (!unpack(r, head, rawSize, storedSize)) {
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

// The next word; beyond the end: 0, and the words are bad.
static uint64_t next(rbVWords* w)
{
    w->isBad = w->isBad || w->place >= w->count;
    return w->isBad ? 0 : w->words[w->place++];
}

static double takeNumber(rbVWords* w)
{
    uint64_t bits = next(w);
    double value;
    memcpy(&value, &bits, sizeof value);
    w->isBad = w->isBad || !isfinite(value);
    return value;
}

static rbV3 takeVector(rbVWords* w)
{
    double x = takeNumber(w);
    double y = takeNumber(w);
    return (rbV3){x, y, takeNumber(w)};
}

// A quaternion must have about unit length.
static rbV4 takeQuat(rbVWords* w)
{
    double a = takeNumber(w);
    rbV3 v = takeVector(w);
    w->isBad = w->isBad || !(fabs(a * a + dot3(v, v) - 1.0) < 1e-9);
    return (rbV4){a, v.x, v.y, v.z};
}

static uint32_t takeBelow(rbVWords* w, uint64_t limit)
{
    uint64_t value = next(w);
    w->isBad = w->isBad || value >= limit;
    return w->isBad ? 0 : (uint32_t)value;
}

// A count of things that take at least size words each.
static uint32_t takeCount(rbVWords* w, size_t size)
{
    uint64_t count = next(w);
    w->isBad = w->isBad || count > (w->count - w->place) / size;
    return w->isBad ? 0 : (uint32_t)count;
}

static void takeText(rbVWords* w, char* text)
{
    uint64_t length = next(w);
    size_t words = (size_t)((length + 7) / 8);
    w->isBad = w->isBad || length > 4096 || words > w->count - w->place;
    uint64_t kept = w->isBad ? 0 : (length < RB_V_NAME_SIZE ? length : RB_V_NAME_SIZE - 1);
    for (uint64_t i = 0; i < kept; ++i) {
        unsigned char c = (unsigned char)(w->words[w->place + i / 8] >> (8 * (i % 8)));
        // control characters would be obeyed by a terminal
        text[i] = (char)(c < 32 || c == 127 ? '?' : c);
    }
    text[kept] = '\0';
    w->place += w->isBad ? 0 : words;
}

void rbVWords_Take(rbVWords* w, const char* format, ...)
{
    va_list into;
    va_start(into, format);
    for (; *format != '\0'; ++format) {
        if (*format == 'n') {
            *va_arg(into, double*) = takeNumber(w);
        } else if (*format == 'v') {
            *va_arg(into, rbV3*) = takeVector(w);
        } else if (*format == 'q') {
            *va_arg(into, rbV4*) = takeQuat(w);
        } else if (*format == 'p') {
            rbVPose* pose = va_arg(into, rbVPose*);
            rbVWords_Take(w, "vq", &pose->p, &pose->q);
        } else if (*format == 's') {
            rbVState* state = va_arg(into, rbVState*);
            rbVWords_Take(w, "vqvv", &state->center, &state->q, &state->v, &state->w);
        } else if (*format == 'g') {
            double number = ldexp((double)(int64_t)next(w), va_arg(into, int));
            w->isBad = w->isBad || !isfinite(number);
            *va_arg(into, double*) = number;
        } else if (*format == 'i') {
            uint32_t* integer = va_arg(into, uint32_t*);
            *integer = takeBelow(w, va_arg(into, uint32_t));
        } else if (*format == 'h') {
            uint64_t both = next(w);
            *va_arg(into, uint32_t*) = (uint32_t)both;
            *va_arg(into, uint32_t*) = (uint32_t)(both >> 32);
        } else if (*format == 'w') {
            *va_arg(into, uint64_t*) = next(w);
        } else if (*format == 't') {
            takeText(w, va_arg(into, char*));
        } else {
            (void)next(w);
        }
    }
    va_end(into);
}

struct rbVMemory {
    struct rbVMemory* next;
    double things[];
};

void* rbVMake(rbVModel* m, size_t count, size_t size)
{
    struct rbVMemory* memory = calloc(1, sizeof *memory + (count + 1) * size);
    if (memory == NULL) {
        return NULL;
    }
    memory->next = m->memory;
    m->memory = memory;
    return memory->things;
}

// A list of things that take at least words each, without its content; the model is bad without it.
static void* takeList(rbVModel* m, rbVWords* w, size_t words, size_t size, uint32_t* count)
{
    *count = takeCount(w, words);
    void* list = rbVMake(m, *count, size);
    w->isBad = w->isBad || list == NULL;
    return list;
}

// A body, or the world.
static bool isBody(const rbVModel* m, uint32_t index)
{
    return index == RB_V_NONE || index < m->bodyCount;
}

static void readSettings(rbVModel* m, rbVWords* w)
{
    char version[RB_V_NAME_SIZE];
    // left out: contactTime, order, lasting; errorMax; velocityTolerance, restSpeed, neighbors
    rbVWords_Take(w, "tinvviiin...iinin.iin...", version, &m->engine, 3u, &m->startTime,
                  &m->gravity, &m->periodic, &m->law, (uint32_t)RB_V_LAW_COUNT, &m->restitutionRule,
                  6u, &m->frictionRule, 6u, &m->tolerance, &m->isExactDetector, 2u, &m->accuracy,
                  3u, &m->step, &m->stepOrder, 64u, &m->jointTolerance, &m->isImpulses, 2u,
                  &m->hasContacts, 2u, &m->shell);
}

static void readFaces(rbVModel* m, rbVGeometry* g, rbVWords* w)
{
    g->vertices = takeList(m, w, 3, sizeof *g->vertices, &g->vertexCount);
    for (uint32_t i = 0; i < g->vertexCount && !w->isBad; ++i) {
        g->vertices[i] = takeVector(w);
    }
    g->faceSizes = takeList(m, w, 4, sizeof *g->faceSizes, &g->faceCount);
    g->corners = rbVMake(m, w->isBad ? 0 : w->count - w->place, sizeof *g->corners);
    w->isBad = w->isBad || g->corners == NULL;
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
    rbVWords_Take(w, "i.", &g->type, 64u); // and its radius as claimed
    if (g->type <= RB_V_PLANE) {
        int count = g->type == RB_V_PLANE ? 4 : 3;
        for (int i = 0; i < count; ++i) {
            g->numbers[i] = takeNumber(w);
            w->isBad = w->isBad || (g->type != RB_V_PLANE && g->numbers[i] < 0.0);
        }
    } else if (g->type <= RB_V_SOUP) {
        readFaces(m, g, w);
    } else if (g->type == RB_V_COMPOUND) {
        g->children = takeList(m, w, 9, sizeof *g->children, &g->childCount);
        for (uint32_t i = 0; i < g->childCount && !w->isBad; ++i) {
            rbVChild* child = &g->children[i];
            // children come first
            rbVWords_Take(w, "inp", &child->geometry, index, &child->density, &child->pose);
        }
    }
    uint64_t hash = HASH_START;
    for (size_t i = start; i < w->place && !w->isBad; ++i) {
        for (int k = 0; k < 8; ++k) {
            unsigned char byte = (unsigned char)(w->words[i] >> (8 * k));
            hash = hashBytes(hash, &byte, 1);
        }
    }
    w->isBad = next(w) != hash || w->isBad;
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

static void readBody(rbVModel* m, rbVBody* b, rbVWords* w)
{
    rbVSym* j = &b->inertia;
    rbVWords_Take(w, "tiinvnnnnnninis", b->name, &b->type, 3u, &b->motion, 16u, &b->mass,
                  &b->center, &j->xx, &j->yy, &j->zz, &j->xy, &j->xz, &j->yz, &b->isFromShapes, 2u,
                  &b->growth, &b->isHeld, 2u, &b->start);
    b->acceleration = m->gravity;
    if (b->type == RB_V_DYNAMIC && !(b->mass > 0.0)) {
        b->type = RB_V_STATIC; // without a mass it never moves
    }
    if (b->type == RB_V_DYNAMIC) {
        w->isBad = w->isBad || !invert(&b->inertia, &b->inverse);
        b->inverseMass = 1.0 / b->mass;
    }
    b->shapes = takeList(m, w, 18, sizeof *b->shapes, &b->shapeCount);
    for (uint32_t i = 0; i < b->shapeCount && !w->isBad; ++i) {
        rbVShape* s = &b->shapes[i];
        // and the velocity of its surface
        rbVWords_Take(w, "iipnnnnih...", &s->geometry, m->geometryCount, &s->isSensor, 2u, &s->pose,
                      &s->density, &s->restitution, &s->friction, &s->stiction, &s->kind, 64u,
                      &s->groups, &s->mask);
    }
}

// What acts all the time on the bodies that a force is for.
static void applyForce(rbVModel* m, const rbVForce* f)
{
    for (uint32_t k = 0; k < m->bodyCount; ++k) {
        rbVBody* b = &m->bodies[k];
        if ((f->body != RB_V_NONE && f->body != k) || b->type != RB_V_DYNAMIC) {
            continue;
        }
        b->hasVarying = b->hasVarying || f->type != 0;
        if (f->type == 0) {
            b->force = add3(b->force, f->force);
            b->torque = add3(b->torque, f->torque);
            b->acceleration = addScaled3(m->gravity, 1.0 / b->mass, b->force);
        }
    }
}

static void readForces(rbVModel* m, rbVWords* w)
{
    m->forces = takeList(m, w, 14, sizeof *m->forces, &m->forceCount);
    for (uint32_t i = 0; i < m->forceCount && !w->isBad; ++i) {
        rbVForce* f = &m->forces[i];
        // left out: linear, quadratic, angular
        rbVWords_Take(w, "hvv...vn", &f->type, &f->body, &f->force, &f->torque, &f->center,
                      &f->strength);
        w->isBad = w->isBad || !isBody(m, f->body);
        if (!w->isBad) {
            applyForce(m, f);
        }
    }
    m->pairs = takeList(m, w, 4, sizeof *m->pairs, &m->pairCount);
    for (uint32_t i = 0; i < m->pairCount && !w->isBad; ++i) {
        rbVMaterialPair* p = &m->pairs[i];
        rbVWords_Take(w, "hnni", &p->kindA, &p->kindB, &p->restitution, &p->friction, &p->law,
                      RB_V_LAW_COUNT + 1u);
    }
}

// Two bodies are connected.
static void link(rbVModel* m, rbVWords* w, uint32_t a, uint32_t b, bool isDriven)
{
    const uint32_t both[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        w->isBad = w->isBad || !isBody(m, both[i]);
        if (!w->isBad && both[i] != RB_V_NONE) {
            m->bodies[both[i]].isLinked = true;
            m->bodies[both[i]].isDriven = m->bodies[both[i]].isDriven || isDriven;
        }
    }
}

static void readLinks(rbVModel* m, rbVWords* w)
{
    m->joints = takeList(m, w, 3, sizeof *m->joints, &m->jointCount);
    for (uint32_t i = 0; i < m->jointCount && !w->isBad; ++i) {
        rbVJoint* j = &m->joints[i];
        char name[RB_V_NAME_SIZE];
        rbVWords_Take(w, "th.ii", name, &j->a, &j->b, &j->isDriven, 2u, &j->partCount,
                      RB_V_PARTS_MAX + 1u);
        for (uint32_t k = 0; k < j->partCount; ++k) {
            rbVPart* p = &j->parts[k];
            rbVWords_Take(w, "ivvvvqn", &p->type, 9u, &p->anchorA, &p->anchorB, &p->axisA,
                          &p->axisB, &p->relative, &p->distance);
        }
        link(m, w, j->a, j->b, j->isDriven != 0);
    }
    m->springs = takeList(m, w, 10, sizeof *m->springs, &m->springCount);
    for (uint32_t i = 0; i < m->springCount && !w->isBad; ++i) {
        rbVSpring* s = &m->springs[i];
        rbVWords_Take(w, "hvvnn.", &s->a, &s->b, &s->anchorA, &s->anchorB, &s->rest, &s->stiffness);
        link(m, w, s->a, s->b, false);
    }
}

bool rbVModel_Read(rbVModel* m, rbVWords* w, char* message)
{
    readSettings(m, w);
    m->geometries = takeList(m, w, 3, sizeof *m->geometries, &m->geometryCount);
    for (uint32_t i = 0; i < m->geometryCount && !w->isBad; ++i) {
        readGeometry(m, i, w);
        if (w->isBad) {
            return rbVFail(message,
                           "geometry %u is impossible, or its content is not that of its hash", i);
        }
    }
    m->bodies = takeList(m, w, 30, sizeof *m->bodies, &m->bodyCount);
    for (uint32_t i = 0; i < m->bodyCount && !w->isBad; ++i) {
        readBody(m, &m->bodies[i], w);
        if (w->isBad) {
            return rbVFail(message, "body %u (\"%s\") is impossible", i, m->bodies[i].name);
        }
    }
    readForces(m, w);
    readLinks(m, w);
    return (!w->isBad && w->place == w->count) ||
           rbVFail(message, "the model is impossible at word %zu", w->place);
}

void rbVModel_Free(rbVModel* m)
{
    for (struct rbVMemory* next; m->memory != NULL; m->memory = next) {
        next = m->memory->next;
        free(m->memory);
    }
}
