// CSV tables: exact numbers in any locale, quoting, no half-written files.
#include "output_support.h"

#include <rattleback/output.h>

#include <fcntl.h>
#include <locale.h>
#include <math.h>

static char folder[SCRATCH_SIZE];
static char path[2 * SCRATCH_SIZE];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/table.csv", folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    (void)setlocale(LC_ALL, "C");
    removeScratch(folder);
    return 0;
}

static void numbersHaveTheirShortestText(void** state)
{
    (void)state;
    static const struct {
        double value;
        const char* text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {100000.0, "100000"},
        {1e300, "1e+300"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {5e-324, "4.94065645841247e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {-2.2250738585072014e-308, "-2.2250738585072014e-308"},
    };
    char text[RB_NUMBER_TEXT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int length = rbFormatNumber(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(length, strlen(text));
    }
    (void)rbFormatNumber(NAN, text);
    assert_string_equal(text, "nan");
    (void)rbFormatNumber(-NAN, text);
    assert_string_equal(text, "nan");
    (void)rbFormatNumber(INFINITY, text);
    assert_string_equal(text, "inf");
    (void)rbFormatNumber(-INFINITY, text);
    assert_string_equal(text, "-inf");
}

static void numbersReadBackExactly(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(51)};
    int count = rbTest_Count(200000, 5000000);
    for (int i = 0; i < count; ++i) {
        double value = randomBits(&random);
        char text[RB_NUMBER_TEXT_SIZE];
        int length = rbFormatNumber(value, text);
        assert_true(length > 0 && length < RB_NUMBER_TEXT_SIZE);
        double back = strtod(text, NULL);
        assert_true(isnan(value) ? isnan(back) : rbBitsOfDouble(value) == rbBitsOfDouble(back));
    }
}

static void writeTable(rbError* error)
{
    static const rbCsvColumn columns[] = {
        {"time", "s"}, {"box.x", "m"}, {"a,b", "m/s"}, {"say \"hi\"", NULL}, {"two\nlines", ""}};
    static const double rows[][5] = {{0.0, 0.1, -1.5, 1e-9, 1.0 / 3.0},
                                     {0.001, NAN, INFINITY, -INFINITY, 0.1 + 0.2}};
    rbCsv* csv = rbCreateCsv(path, columns, 5, error);
    assert_non_null(csv);
    assert_int_equal(rbCsv_WriteRow(csv, rows[0], error), RB_STATUS_OK);
    assert_int_equal(rbCsv_WriteRow(csv, rows[1], error), RB_STATUS_OK);
    assert_false(exists(path));
    assert_int_equal(rbCsv_Finish(csv, error), RB_STATUS_OK);
}

static const char expectedTable[] =
    "time [s],box.x [m],\"a,b [m/s]\",\"say \"\"hi\"\"\",\"two\nlines\"\n"
    "0,0.1,-1.5,1e-09,0.3333333333333333\n"
    "0.001,nan,inf,-inf,0.30000000000000004\n";

// L-110, B-89
static void tableHasHeaderAndRows(void** state)
{
    (void)state;
    rbError error = {0};
    writeTable(&error);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, expectedTable);
    free(text);
    assert_int_equal(countEntries(folder), 1);
}

// A locale whose decimal separator is a comma, compiled for this test. Only the category of numbers
// matters; the rest is copied from the C locale.
static bool useCommaLocale(void)
{
    static const char source[] = "comment_char %\nescape_char /\n"
                                 "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
                                 "grouping 3;3\nEND LC_NUMERIC\n";
    char file[2 * SCRATCH_SIZE];
    char command[8 * SCRATCH_SIZE];
    (void)snprintf(file, sizeof file, "%s/source", folder);
    writeWhole(file, source, sizeof source - 1);
    // The plain character set is built into localedef and needs none of its files.
    (void)snprintf(command, sizeof command,
                   "localedef -c -i %s -f ANSI_X3.4-1968 %s/xx_XX >/dev/null 2>&1", file, folder);
    int result = system(command); // NOLINT(cert-env33-c): a fixed command in a test
    (void)result;
    (void)setenv("LOCPATH", folder, 1);
    bool isSet = setlocale(LC_NUMERIC, "xx_XX") != NULL;
    char text[16];
    (void)snprintf(text, sizeof text, "%.1f", 1.5);
    return isSet && strcmp(text, "1,5") == 0;
}

static void decimalPointIgnoresTheLocale(void** state)
{
    (void)state;
    if (!useCommaLocale()) {
        print_message("no locale with a decimal comma can be made here\n");
        skip();
    }
    rbError error = {0};
    writeTable(&error);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, expectedTable);
    free(text);
    // Also the value that a random number reads back as, in the C locale.
    rbRandom random = {rbTest_Seed(52)};
    for (int i = 0; i < 2000; ++i) {
        double value = randomBits(&random);
        char number[RB_NUMBER_TEXT_SIZE];
        (void)rbFormatNumber(value, number);
        assert_null(strchr(number, ','));
        (void)setlocale(LC_NUMERIC, "C");
        double back = strtod(number, NULL);
        assert_non_null(setlocale(LC_NUMERIC, "xx_XX"));
        assert_true(isnan(value) ? isnan(back) : rbBitsOfDouble(value) == rbBitsOfDouble(back));
    }
}

static void dashIsStandardOutput(void** state)
{
    (void)state;
    static const rbCsvColumn columns[] = {{"t", "s"}};
    (void)fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    int target = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(saved >= 0 && target >= 0);
    assert_int_equal(dup2(target, STDOUT_FILENO), STDOUT_FILENO);
    double value = 0.5;
    rbCsv* csv = rbCreateCsv("-", columns, 1, NULL);
    rbStatus rowStatus = csv != NULL ? rbCsv_WriteRow(csv, &value, NULL) : RB_STATUS_IO;
    rbStatus endStatus = csv != NULL ? rbCsv_Finish(csv, NULL) : RB_STATUS_IO;
    ssize_t after = write(STDOUT_FILENO, "open\n", 5); // still usable
    (void)dup2(saved, STDOUT_FILENO);
    (void)close(saved);
    (void)close(target);
    assert_int_equal(after, 5);
    assert_int_equal(rowStatus, RB_STATUS_OK);
    assert_int_equal(endStatus, RB_STATUS_OK);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, "t [s]\n0.5\nopen\n");
    free(text);
}

static void failedTableLeavesNothing(void** state)
{
    (void)state;
    static const rbCsvColumn columns[] = {{"t", "s"}, {"x", "m"}};
    const double row[] = {1.0 / 3.0, 2.0 / 3.0};
    uint64_t before = rbGetAllocatedBytes();
    struct rlimit old;
    rbError error = {0};
    limitFileSize(100000, &old);
    rbCsv* csv = rbCreateCsv(path, columns, 2, &error);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < 100000 && csv != NULL && status == RB_STATUS_OK; ++i) {
        status = rbCsv_WriteRow(csv, row, &error);
    }
    rbStatus end = csv != NULL ? rbCsv_Finish(csv, NULL) : status;
    restoreFileSize(&old);
    assert_int_equal(status, RB_STATUS_IO);
    assert_int_equal(end, RB_STATUS_IO);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(countEntries(folder), 0);
    csv = rbCreateCsv(path, columns, 2, &error);
    assert_non_null(csv);
    rbCsv_Abandon(csv);
    assert_int_equal(countEntries(folder), 0);
    char absent[2 * SCRATCH_SIZE];
    (void)snprintf(absent, sizeof absent, "%s/no/table.csv", folder);
    assert_null(rbCreateCsv(absent, columns, 2, &error));
    assert_int_equal(error.status, RB_STATUS_IO);
    // The disk is full only when the buffer is flushed: the end must still report it.
    csv = rbCreateCsv("/dev/full", columns, 2, &error);
    assert_non_null(csv);
    assert_int_equal(rbCsv_WriteRow(csv, row, &error), RB_STATUS_OK);
    assert_int_equal(rbCsv_Finish(csv, &error), RB_STATUS_IO);
    assert_int_equal(rbGetAllocatedBytes(), before);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_csv, cmocka_unit_test(numbersHaveTheirShortestText),
              cmocka_unit_test(numbersReadBackExactly), WITH_FOLDER(tableHasHeaderAndRows),
              WITH_FOLDER(decimalPointIgnoresTheLocale), WITH_FOLDER(dashIsStandardOutput),
              WITH_FOLDER(failedTableLeavesNothing));
