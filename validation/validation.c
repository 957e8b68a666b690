#include "validation.h"

#include <math.h>
#include <stdarg.h>

static const char* const truthNames[RB_TRUTH_COUNT] = {
    [RB_TRUTH_UNSTATED] = "unstated",
    [RB_TRUTH_PUBLISHED] = "published",
    [RB_TRUTH_CLOSED_FORM] = "closed form",
    [RB_TRUTH_OTHER_PROGRAM] = "other program",
    [RB_TRUTH_SECOND_METHOD] = "second method",
    [RB_TRUTH_OWN_METHOD] = "own method",
    [RB_TRUTH_LIMIT] = "limit",
};

const char* rbTruth_Name(rbTruth truth)
{
    return truthNames[truth];
}

void rbValidation_SetTruth(rbValidation* validation, rbTruth truth)
{
    validation->source = truth;
}

void rbValidation_Run(rbValidation* validation, const rbValidationCase* which)
{
    validation->caseName = which->name;
    validation->source = which->truth;
    which->run(validation);
}

static void addRow(rbValidation* validation, const char* quantity, rbValidationRow row)
{
    RB_ASSERT(validation->source > RB_TRUTH_UNSTATED && validation->source < RB_TRUTH_COUNT);
    row.caseName = validation->caseName;
    row.source = validation->source;
    (void)snprintf(row.quantity, sizeof row.quantity, "%s", quantity);
    row.pass = row.error <= row.tolerance; // false for NaN
    validation->failureCount += row.pass ? 0 : 1;
    rbArray_Push(validation->rows, row);
    char truth[32];
    char error[16];
    (void)snprintf(truth, sizeof truth, row.isBound ? "<= %.3g" : "%.14g",
                   row.isBound ? row.tolerance : row.truth);
    (void)snprintf(error, sizeof error, "%.2g", row.error);
    rbValidation_Print(validation, "  %-60s %-13s %20.14g %20s %9s %9.2g  %s\n", row.quantity,
                       truthNames[row.source], row.value, truth, row.isBound ? "" : error,
                       row.tolerance, row.pass ? "pass" : "FAIL");
}

void rbValidation_Add(rbValidation* validation, const char* quantity, double value, double truth,
                      double tolerance)
{
    rbValidationRow row = {
        .value = value, .truth = truth, .error = fabs(value - truth), .tolerance = tolerance};
    addRow(validation, quantity, row);
}

void rbValidation_AddRelative(rbValidation* validation, const char* quantity, double value,
                              double truth, double tolerance)
{
    rbValidationRow row = {.value = value,
                           .truth = truth,
                           .error = fabs(value - truth) / fabs(truth),
                           .tolerance = tolerance};
    addRow(validation, quantity, row);
}

void rbValidation_AddBound(rbValidation* validation, const char* quantity, double value,
                           double tolerance)
{
    rbValidationRow row = {.isBound = true,
                           .value = value,
                           .truth = (double)NAN,
                           .error = value,
                           .tolerance = tolerance};
    addRow(validation, quantity, row);
}

void rbValidation_AddLimit(rbValidation* validation, const char* quantity, double value,
                           double tolerance)
{
    rbTruth source = validation->source;
    validation->source = RB_TRUTH_LIMIT;
    rbValidation_AddBound(validation, quantity, value, tolerance);
    validation->source = source;
}

double rbWorseError(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

void rbValidation_Print(const rbValidation* validation, const char* format, ...)
{
    if (validation->text != NULL) {
        va_list list;
        va_start(list, format);
        // clang-tidy 14 does not recognize the line above where va_list is an array, as on x86
        // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
        (void)vfprintf(validation->text, format, list);
        va_end(list);
    }
}
