#include "validation.h"

#include <math.h>
#include <stdarg.h>

static void addRow(rbValidation* validation, const char* quantity, rbValidationRow row)
{
    row.caseName = validation->caseName;
    (void)snprintf(row.quantity, sizeof row.quantity, "%s", quantity);
    row.pass = row.error <= row.tolerance; // false for NaN
    validation->failureCount += row.pass ? 0 : 1;
    rbArray_Push(validation->rows, row);
    rbValidation_Print(validation, "  %-60s %20.14g %20.14g %9.2g %9.2g  %s\n", row.quantity,
                       row.value, row.truth, row.error, row.tolerance, row.pass ? "pass" : "FAIL");
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
    rbValidationRow row = {.value = value, .truth = 0.0, .error = value, .tolerance = tolerance};
    addRow(validation, quantity, row);
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
