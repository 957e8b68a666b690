// The verifier: checks a certificate without trusting what wrote it. It knows the laws and the
// format of docs/certificate.md, and includes nothing of the engines.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// What is checked: a row of the report each.
#define RB_V_CLAIMS(X)                                                              \
    X(ORDER, "records are in the order of time")                                    \
    X(FLIGHT, "free flight obeys Newton and Euler between changes")                 \
    X(IMPULSE, "impulses explain the changes of velocity and spin")                 \
    X(APPROACH, "approach speeds and energies before impacts")                      \
    X(LAW, "single impacts end as their law demands")                               \
    X(TOGETHER, "impacts at several points: none approaches afterward")             \
    X(MICRO, "microcollisions: no point is driven together")                        \
    X(CONE, "normal impulses push, friction stays in its cone")                     \
    X(GAIN, "impacts give no energy")                                               \
    X(WORK, "energy of every impact, and its part by friction")                     \
    X(REST, "bodies at rest stay, and lose what they had")                          \
    X(TOUCH, "bodies touch where they collide, and overlap no more than claimed")   \
    X(ENERGY, "energy, momentum and angular momentum of the states")                \
    X(CAUSE, "energy by cause")                                                     \
    X(BALANCE, "steps: forces explain the changes of momentum")                     \
    X(CONTACT, "steps: contacts push, friction stays in its cone, gaps are closed") \
    X(JOINT, "joints are closed")                                                   \
    X(SPRING, "springs obey their law")                                             \
    X(APART, "bodies do not overlap at recorded times")                             \
    X(BETWEEN, "bodies do not overlap between recorded times")                      \
    X(PATH, "bodies on paths follow them")                                          \
    X(COUNTS, "numbers of events are those claimed")                                \
    X(MASS, "masses and inertias are those of the shapes")

typedef enum rbVClaim {
#define RB_V_CLAIM_ENUM(name, text) RB_V_CLAIM_##name,
    RB_V_CLAIMS(RB_V_CLAIM_ENUM)
#undef RB_V_CLAIM_ENUM
    RB_V_CLAIM_COUNT
} rbVClaim;

// How well a claim is established.
typedef enum rbVClass {
    RB_V_CERTIFIED,   // holds, by laws and error bounds
    RB_V_SAMPLED,     // holds where it was looked at, or to a stated bound that is no proof
    RB_V_NOT_CHECKED, // the verifier cannot tell
    RB_V_FAILED,
    RB_V_CLASS_COUNT
} rbVClass;

#define RB_V_FAILURES_MAX 20
#define RB_V_VERIFY_MESSAGE 256 // bytes of a message

typedef struct rbVFailure {
    rbVClaim claim;
    double time;
    char bodies[2][64];
    double value, bound;
    char detail[96];
} rbVFailure;

typedef struct rbVReport {
    uint64_t counts[RB_V_CLAIM_COUNT][RB_V_CLASS_COUNT];
    double worst[RB_V_CLAIM_COUNT]; // of the value as a part of its bound
    rbVFailure failures[RB_V_FAILURES_MAX];
    int failureCount; // kept
    uint64_t failed;  // all
    uint64_t events, flights, nodes, bodies;
    double endTime;
    bool isComplete;                    // the final block was there
    char reasons[RB_V_CLAIM_COUNT][96]; // why something was not checked
} rbVReport;

// Checks a certificate. Returns 0 if all claims hold, 1 if one fails, 2 if it cannot be read to its
// end; then message says why (at least 256 bytes).
int rbVerifyCertificate(const char* path, rbVReport* report, char* message);
// Name of a claim in the report.
const char* rbVClaim_Text(rbVClaim claim);
