// Cases against external references: published values, closed forms, other algorithms.
//
// A case is a file case_x.c with a `const rbValidationCase`, and a row of the table in
// case_table.c.
#pragma once

#include "base/core/memory.h"

#include <rattleback/base.h>

#include <stdbool.h>
#include <stdio.h>

// Where the reference of a comparison comes from. No reference is computed by the code it judges.
typedef enum rbTruth {
    RB_TRUTH_UNSTATED,      // not allowed in a row
    RB_TRUTH_PUBLISHED,     // a number printed by others
    RB_TRUTH_CLOSED_FORM,   // a formula, a law of conservation, or a scene built to have the answer
    RB_TRUTH_OTHER_PROGRAM, // computed by a program of others
    RB_TRUTH_SECOND_METHOD, // written for the comparison, without code of the library, in 113 bits
                            // (references in long double: 64 bits on x86)
    RB_TRUTH_OWN_METHOD,    // another method of the library, or one that shares code with it
    RB_TRUTH_LIMIT,         // none: a limit that we or a specification set
    RB_TRUTH_COUNT
} rbTruth;

// "unstated", "published", "closed form", "other program", "second method", "own method", "limit".
const char* rbTruth_Name(rbTruth truth);

// One comparison. It passes when error <= tolerance.
typedef struct rbValidationRow {
    const char* caseName;
    char quantity[96];
    rbTruth source;
    bool isBound; // the value itself must not exceed the tolerance; truth is NaN
    double value;
    double truth;
    double error;
    double tolerance;
    bool pass;
} rbValidationRow;

// The destination of the rows.
typedef struct rbValidation {
    FILE* text;             // human-readable tables, NULL: none
    bool isQuick;           // fewer random cases
    const char* caseName;   // of the current case
    rbTruth source;         // of the next rows: of the case unless rbValidation_SetTruth changed it
    const char* plotFolder; // existing folder for the plots of cases that draw; NULL: no plots
    RB_ARRAY(rbValidationRow) rows;
    int failureCount;
} rbValidation;

typedef struct rbValidationCase {
    const char* name;
    const char* group;  // a name that selects several cases; NULL: none
    const char* help;   // one-line description
    const char* source; // origin of the reference
    rbTruth truth;      // its kind, for rows that do not say otherwise
    void (*run)(rbValidation* validation);
} rbValidationCase;

// All cases.
const rbValidationCase* const* rbGetValidationCases(int* count);

// Runs a case from its own kind of truth.
void rbValidation_Run(rbValidation* validation, const rbValidationCase* which);
// The kind of truth of the rows from here on.
void rbValidation_SetTruth(rbValidation* validation, rbTruth truth);
// Adds the comparison |value - truth| <= tolerance.
void rbValidation_Add(rbValidation* validation, const char* quantity, double value, double truth,
                      double tolerance);
// The same with |value - truth| / |truth|.
void rbValidation_AddRelative(rbValidation* validation, const char* quantity, double value,
                              double truth, double tolerance);
// An error or a ratio that must not exceed a bound; the error is the value. The kind of truth is
// that of what the error was measured against, or RB_TRUTH_LIMIT.
void rbValidation_AddBound(rbValidation* validation, const char* quantity, double value,
                           double tolerance);
// A limit on something that is compared with nothing: costs, counts of failures.
void rbValidation_AddLimit(rbValidation* validation, const char* quantity, double value,
                           double tolerance);
// Human-readable text between the rows.
void rbValidation_Print(const rbValidation* validation, const char* format, ...) RB_PRINTF(2, 3);

// The larger of two errors; NaN is larger than everything, so that it cannot go unnoticed.
double rbWorseError(double a, double b);

extern const rbValidationCase rbCaseTumblingBox;
extern const rbValidationCase rbCaseKepler;
extern const rbValidationCase rbCaseFreeTopRandom;
extern const rbValidationCase rbCaseSeparatrix;
extern const rbValidationCase rbCaseSymmetricTop;
extern const rbValidationCase rbCaseMassProperties;
extern const rbValidationCase rbCaseConvexBlackbox;
extern const rbValidationCase rbCaseConvexDetection;
extern const rbValidationCase rbCaseConvexLibccd;
extern const rbValidationCase rbCaseConvexShadow;
extern const rbValidationCase rbCaseConvexEpsilon;
extern const rbValidationCase rbCaseGasPressure;
extern const rbValidationCase rbCaseGasMaxwell;
extern const rbValidationCase rbCaseGasHaff;
extern const rbValidationCase rbCaseGasPacking;
extern const rbValidationCase rbCaseImpacts;
extern const rbValidationCase rbCaseToys;
extern const rbValidationCase rbCaseEvents;
extern const rbValidationCase rbCaseEventContact;
extern const rbValidationCase rbCasePendulums;
extern const rbValidationCase rbCaseFourBar;
extern const rbValidationCase rbCaseSqueezer;
extern const rbValidationCase rbCaseBricard;
extern const rbValidationCase rbCaseHeavyTop;
extern const rbValidationCase rbCaseGovernor;
extern const rbValidationCase rbCaseHeavyChain;
extern const rbValidationCase rbCaseJointChecks;
extern const rbValidationCase rbCaseJointOrder;
extern const rbValidationCase rbCaseContactInclines;
extern const rbValidationCase rbCaseContactRolling;
extern const rbValidationCase rbCaseContactImpacts;
extern const rbValidationCase rbCaseContactStillness;
extern const rbValidationCase rbCaseContactToys;
extern const rbValidationCase rbCaseContactPenalty;
extern const rbValidationCase rbCaseContactHour;
extern const rbValidationCase rbCaseContactPackings;
extern const rbValidationCase rbCaseRayScenes;
extern const rbValidationCase rbCaseRayCurves;
extern const rbValidationCase rbCaseRayFrames;
extern const rbValidationCase rbCaseRayPairs;
extern const rbValidationCase rbCaseRayBullet;
extern const rbValidationCase rbCaseRayConclusions;
extern const rbValidationCase rbCaseGranularHopper; // these with RB_MPI only
extern const rbValidationCase rbCaseGranularDrum;
extern const rbValidationCase rbCaseGranularColumn;
extern const rbValidationCase rbCaseGranularPacking;
extern const rbValidationCase rbCaseGranularIncline;
