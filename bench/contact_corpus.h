// Contact problems dumped from falling piles, as files (bench/corpus): what a stage was given in a
// run. bench/corpus/make_corpus.c writes them; `bench contacts --only solvers` solves them.
//
// A file is little-endian: eight characters RB_CORPUS_MAGIC; the counts of bodies, contacts and
// points as int32; then rbCorpusBody, rbCorpusContact and rbCorpusPoint records. The problem is
// what the numbers say, so single precision is enough.
#pragma once

#include <stdint.h>

#define RB_CORPUS_MAGIC "RBCONT1"

typedef struct rbCorpusBody {
    float invMass;     // 1/kg; 0: nothing moves it
    float velocity[3]; // m/s, before any impulse, also those of the guess
    float spin[3];     // rad/s, world axes
    float inertia[6];  // 1/(kg m^2): xx, yy, zz, xy, xz, yz of the inverse inertia, world axes
} rbCorpusBody;

typedef struct rbCorpusContact {
    int32_t bodyA;
    int32_t bodyB;
    int32_t pointCount;
    float normal[3]; // from A to B
    float friction;
} rbCorpusContact;

// In the order of their contacts.
typedef struct rbCorpusPoint {
    float armA[3]; // m, from the center of mass
    float armB[3];
    float target;   // m/s, least speed along the normal that the stage leaves
    float guess[3]; // N s, impulse on B that the run knew, world axes
} rbCorpusPoint;

typedef struct rbCorpus {
    int32_t counts[3]; // of the three arrays
    rbCorpusBody* bodies;
    rbCorpusContact* contacts;
    rbCorpusPoint* points;
} rbCorpus;

static inline uint64_t rbCorpus_GetSize(int array, int32_t count)
{
    const uint64_t sizes[3] = {sizeof(rbCorpusBody), sizeof(rbCorpusContact),
                               sizeof(rbCorpusPoint)};
    return sizes[array] * (uint64_t)count;
}
