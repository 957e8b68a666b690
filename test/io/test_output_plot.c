// Plots by gnuplot.
#include "output_support.h"

#include <rattleback/output.h>

#include <math.h>

#define COUNT 400

static char folder[SCRATCH_SIZE];
static char path[2 * SCRATCH_SIZE];
static double xs[COUNT];
static double ys[3][COUNT];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    (void)snprintf(path, sizeof path, "%s/plot.svg", folder);
    for (int i = 0; i < COUNT; ++i) {
        xs[i] = 0.01 * i;
        ys[0][i] = sin(3.0 * xs[i]);
        ys[1][i] = exp(-xs[i]) * cos(9.0 * xs[i]);
        ys[2][i] = 5.0 + 1e-9 * sin(20.0 * xs[i]);
    }
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

static bool hasGnuplot(void)
{
    // NOLINTNEXTLINE(cert-env33-c): a fixed command in a test
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

// Length of the entity at text, 0 if there is none.
static size_t entityLength(const char* text)
{
    const char* end = strchr(text, ';');
    return end != NULL && end - text <= 8 && end - text >= 2 ? (size_t)(end - text) + 1 : 0;
}

// Matches tags with a stack and checks that the text contains no bare < or &.
static bool isWellFormed(const char* text)
{
    enum {
        DEPTH_MAX = 64
    };
    const char* names[DEPTH_MAX];
    size_t lengths[DEPTH_MAX];
    int depth = 0;
    int elements = 0;
    for (const char* p = text; *p != '\0'; ++p) {
        if (*p == '&') {
            if (entityLength(p) == 0) {
                return false;
            }
        } else if ((unsigned char)*p < 0x20 && strchr("\t\r\n", *p) == NULL) {
            return false;
        } else if (strncmp(p, "<!--", 4) == 0) {
            p = strstr(p, "-->");
        } else if (strncmp(p, "<![CDATA[", 9) == 0) {
            p = strstr(p, "]]>");
        } else if (*p == '<' && (p[1] == '?' || p[1] == '!')) {
            p = strchr(p, '>');
        } else if (*p == '<' && p[1] == '/') {
            depth -= 1;
            if (depth < 0 || strncmp(p + 2, names[depth], lengths[depth]) != 0) {
                return false;
            }
            p = strchr(p, '>');
        } else if (*p == '<') {
            const char* end = strchr(p, '>');
            if (end == NULL || depth == DEPTH_MAX) {
                return false;
            }
            elements += 1;
            if (end[-1] != '/') {
                names[depth] = p + 1;
                lengths[depth++] = strcspn(p + 1, " \t\r\n>");
            }
            p = end;
        }
        if (p == NULL) {
            return false;
        }
    }
    return depth == 0 && elements > 0;
}

static char* drawAndRead(const rbPlot* plot)
{
    rbError error = {0};
    uint64_t before = rbGetAllocatedBytes();
    rbStatus status = rbPlot_WriteSvg(plot, path, &error);
    if (status != RB_STATUS_OK) {
        print_error("%s\n", error.message);
    }
    assert_int_equal(status, RB_STATUS_OK);
    assert_int_equal(rbGetAllocatedBytes(), before);
    assert_int_equal(countEntries(folder), 1);
    size_t size;
    char* text = readWhole(path, &size);
    assert_int_equal(strlen(text), size);
    assert_true(isWellFormed(text));
    return text;
}

static void checkerDistinguishesBrokenFromSound(void** state)
{
    (void)state;
    assert_true(isWellFormed("<?xml version=\"1.0\"?><a b=\"1\"><c/>x &amp; y<!-- < --></a>\n"));
    assert_false(isWellFormed("<a><b></a></b>"));
    assert_false(isWellFormed("<a>x & y</a>"));
    assert_false(isWellFormed("<a>"));
    assert_false(isWellFormed("<a>\x01</a>"));
    assert_false(isWellFormed(""));
}

// L-110, B-89
static void plotIsDrawn(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    const rbPlotSeries series[] = {{"height of the box", xs, ys[0], COUNT, RB_PLOT_LINES},
                                   {"damped", xs, ys[1], COUNT, RB_PLOT_LINES_POINTS}};
    const rbPlotPanel panel = {"height [m]", false, series, 2};
    const rbPlot plot = {"A plot", "time [s]", false, &panel, 1};
    char* text = drawAndRead(&plot);
    assert_non_null(strstr(text, "width=\"900\" height=\"540\"") != NULL
                        ? text
                        : strstr(text, "viewBox=\"0 0 900 540\""));
    assert_non_null(strstr(text, "height of the box"));
    assert_non_null(strstr(text, "time [s]"));
    assert_non_null(strstr(text, "A plot"));
    free(text);
}

static void panelsAreStacked(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    const rbPlotSeries top = {"x", xs, ys[0], COUNT, RB_PLOT_LINES};
    const rbPlotSeries middle = {"energy", xs, ys[2], COUNT, RB_PLOT_LINES};
    const rbPlotSeries bottom = {"error", xs, ys[1], COUNT, RB_PLOT_POINTS};
    const rbPlotPanel panels[] = {
        {"x [m]", false, &top, 1}, {"E [J]", false, &middle, 1}, {"error", true, &bottom, 1}};
    const rbPlot plot = {"Panels", "time [s]", false, panels, 3};
    char* text = drawAndRead(&plot);
    assert_non_null(strstr(text, "x [m]"));
    assert_non_null(strstr(text, "E [J]"));
    assert_non_null(strstr(text, "4.999999999")); // ticks show what varies
    free(text);
}

// Whether the text is in a rotated group.
static bool isUpright(const char* svg, const char* text)
{
    const char* found = strstr(svg, text);
    assert_non_null(found);
    const char* group = found;
    while (group > svg && strncmp(group, "<g ", 3) != 0) {
        --group;
    }
    const char* turn = strstr(group, "rotate");
    return turn != NULL && turn < found;
}

// Labels longer than the height of their panels would overlap: all of them are placed above.
static void longLabelsStandAboveTheirPanels(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    static const char longLabel[] =
        "joint number one: the torque of the motor along its axis [N m]";
    const rbPlotSeries series = {"", xs, ys[0], COUNT, RB_PLOT_DASHES};
    rbPlotPanel panels[] = {{"x [m]", false, &series, 1}, {"y [m]", false, &series, 1}};
    const rbPlot plot = {"Panels", "time [s]", false, panels, 2};
    char* text = drawAndRead(&plot);
    assert_true(isUpright(text, ">x [m]<") && isUpright(text, ">y [m]<"));
    assert_non_null(strstr(text, "stroke-dasharray"));
    free(text);
    panels[1].yLabel = longLabel;
    text = drawAndRead(&plot);
    assert_false(isUpright(text, ">x [m]<") || isUpright(text, longLabel));
    free(text);
}

// Curves without a point, constants, gaps, huge and empty data all produce a picture.
static void oddDataIsDrawn(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    const double x[] = {0.0, 1.0, NAN, NAN, 2.0, 3.0, INFINITY, 4.0, -1.0};
    const double nothing[] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const double constant[] = {7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0};
    const double zero[9] = {0.0};
    const double huge[] = {1e308, -1e308, 1.0, 1.0, 2.0, NAN, 1.0, 1e100, 0.0};
    const double* data[] = {nothing, constant, zero, huge};
    for (int i = 0; i < 16; ++i) {
        const rbPlotSeries series = {i % 2 == 0 ? "a" : NULL, x, data[i % 4], i == 15 ? 0 : 9,
                                     (rbPlotStyle)(i % RB_PLOT_STYLE_COUNT)};
        const rbPlotPanel panel = {NULL, (i & 4) != 0, &series, i == 14 ? 0 : 1};
        const rbPlot plot = {NULL, NULL, (i & 8) != 0, &panel, 1};
        free(drawAndRead(&plot));
    }
}

// A million points become a picture of moderate size that still shows a single spike.
static void longCurvesAreThinned(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    const size_t many = 1000000;
    double* x = malloc(2 * many * sizeof(double));
    assert_non_null(x);
    double* y = x + many;
    for (size_t i = 0; i < many; ++i) {
        x[i] = (double)i;
        y[i] = i == 777777 ? 50.0 : sin(1e-4 * x[i]);
    }
    const rbPlotSeries series = {"spike", x, y, (int)many, RB_PLOT_LINES};
    const rbPlotPanel panel = {"y", false, &series, 1};
    const rbPlot plot = {"Many", "x", false, &panel, 1};
    char* text = drawAndRead(&plot);
    assert_true(strlen(text) < 400000);
    // The y axis ends a little above 50 whether or not the spike is drawn: its pixel must be there.
    double topmost = 1e9;
    const char* curve = strstr(text, "rgb(  0, 114, 178)");
    assert_non_null(curve);
    for (const char* p = curve; (p = strchr(p, ',')) != NULL; ++p) {
        if (p > curve + 40 && p[-1] >= '0' && p[-1] <= '9' && p[1] >= '0' && p[1] <= '9') {
            double pixel = strtod(p + 1, NULL);
            topmost = pixel < topmost ? pixel : topmost;
        }
    }
    checkBelow(topmost, 100.0);
    free(text);
    free(x);
}

static void labelsAreTextAndNeverCommands(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    char evil[8][3 * SCRATCH_SIZE];
    (void)snprintf(evil[0], sizeof evil[0], "'; system('touch %s/pwned'); '", folder);
    (void)snprintf(evil[1], sizeof evil[1], "`touch %s/pwned`", folder);
    (void)snprintf(evil[2], sizeof evil[2], "\nset output '%s/pwned'\n", folder);
    (void)snprintf(evil[3], sizeof evil[3], "\nEND_OF_DATA\nsystem \"touch %s/pwned\"\n", folder);
    (void)snprintf(evil[4], sizeof evil[4], "\\'; !touch %s/pwned", folder);
    (void)snprintf(evil[5], sizeof evil[5], "<script>&amp;\"]]> & -- <!-- %s", folder);
    (void)snprintf(evil[6], sizeof evil[6], "bad \xff\xc0\x80\xed\xa0\x80 \x01\x1b[0m \xc3");
    (void)snprintf(evil[7], sizeof evil[7], "@macro %%s a_b^c {/=30 big} $1 \xce\xb1 'quoted'");
    for (int i = 0; i < 8; ++i) {
        const rbPlotSeries series = {evil[i], xs, ys[0], COUNT, RB_PLOT_LINES};
        const rbPlotPanel panel = {evil[i], false, &series, 1};
        const rbPlot plot = {evil[i], evil[i], false, &panel, 1};
        char* text = drawAndRead(&plot); // also checks that there is only one file
        if (i == 5) {
            assert_non_null(strstr(text, "&lt;script>&amp;amp;"));
        }
        if (i == 7) {
            assert_non_null(strstr(text, "@macro %s a_b^c {/=30 big} $1 \xce\xb1 'quoted'"));
        }
        free(text);
    }
    // A name that gnuplot would interpret as a pipe is a file name.
    (void)remove(path);
    (void)snprintf(path, sizeof path, "%s/| touch pwned", folder);
    const rbPlotSeries series = {"a", xs, ys[0], COUNT, RB_PLOT_LINES};
    const rbPlotPanel panel = {"y", false, &series, 1};
    const rbPlot plot = {"t", "x", false, &panel, 1};
    free(drawAndRead(&plot));
}

static void missingGnuplotIsNamed(void** state)
{
    (void)state;
    const rbPlotSeries series = {"a", xs, ys[0], COUNT, RB_PLOT_LINES};
    const rbPlotPanel panel = {"y", false, &series, 1};
    const rbPlot plot = {"t", "x", false, &panel, 1};
    char old[4096];
    (void)snprintf(old, sizeof old, "%s", getenv("PATH"));
    (void)setenv("PATH", folder, 1);
    rbError error = {0};
    rbStatus status = rbPlot_WriteSvg(&plot, path, &error);
    (void)setenv("PATH", old, 1);
    assert_int_equal(status, RB_STATUS_NOT_FOUND);
    assert_non_null(strstr(error.message, "gnuplot-nox"));
    assert_int_equal(countEntries(folder), 0);
}

// A gnuplot that fails, dies without reading, or writes half a picture.
static void failingGnuplotLeavesNothing(void** state)
{
    (void)state;
    static const char* const scripts[] = {
        "#!/bin/sh\necho 'line 7: no such terminal' >&2\nexit 1\n",
        "#!/bin/sh\nexec 0<&-\nexit 3\n",
        "#!/bin/sh\ncat >/dev/null\necho '<svg>'\nexit 0\n",
        "#!/bin/sh\nkill -9 $$\n",
    };
    static double many[200000];
    const rbPlotSeries series = {"a", many, many, 200000, RB_PLOT_LINES};
    const rbPlotPanel panel = {"y", false, &series, 1};
    const rbPlot plot = {"t", "x", false, &panel, 1};
    char bin[2 * SCRATCH_SIZE];
    char fake[3 * SCRATCH_SIZE];
    char old[4096];
    char search[4096 + 2 * SCRATCH_SIZE];
    (void)snprintf(bin, sizeof bin, "%s/bin", folder);
    (void)snprintf(fake, sizeof fake, "%s/gnuplot", bin);
    (void)snprintf(old, sizeof old, "%s", getenv("PATH"));
    (void)snprintf(search, sizeof search, "%s:%s", bin, old);
    assert_int_equal(mkdir(bin, 0777), 0);
    for (int i = 0; i < 4; ++i) {
        writeWhole(fake, scripts[i], strlen(scripts[i]));
        assert_int_equal(chmod(fake, 0755), 0);
        rbError error = {0};
        (void)setenv("PATH", search, 1);
        rbStatus status = rbPlot_WriteSvg(&plot, path, &error);
        (void)setenv("PATH", old, 1);
        assert_int_equal(status, RB_STATUS_IO);
        assert_non_null(strstr(error.message, "gnuplot failed"));
        if (i == 0) {
            assert_non_null(strstr(error.message, "no such terminal"));
        }
        assert_int_equal(countEntries(folder), 1);
    }
}

static void failedPlotLeavesNothing(void** state)
{
    (void)state;
    if (!hasGnuplot()) {
        skip();
    }
    const rbPlotSeries series = {"a", xs, ys[0], COUNT, RB_PLOT_LINES};
    const rbPlotPanel panel = {"y", false, &series, 1};
    const rbPlot plot = {"t", "x", false, &panel, 1};
    struct rlimit old;
    rbError error = {0};
    limitFileSize(1000, &old);
    rbStatus status = rbPlot_WriteSvg(&plot, path, &error);
    restoreFileSize(&old);
    assert_int_equal(status, RB_STATUS_IO);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(countEntries(folder), 0);
    assert_int_equal(rbPlot_WriteSvg(&plot, "/dev/full", &error), RB_STATUS_IO);
    (void)snprintf(path, sizeof path, "%s/no/plot.svg", folder);
    assert_int_equal(rbPlot_WriteSvg(&plot, path, &error), RB_STATUS_IO);
    assert_int_equal(countEntries(folder), 0);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_plot, cmocka_unit_test(checkerDistinguishesBrokenFromSound),
              WITH_FOLDER(plotIsDrawn), WITH_FOLDER(panelsAreStacked),
              WITH_FOLDER(longLabelsStandAboveTheirPanels), WITH_FOLDER(oddDataIsDrawn),
              WITH_FOLDER(longCurvesAreThinned), WITH_FOLDER(labelsAreTextAndNeverCommands),
              WITH_FOLDER(missingGnuplotIsNamed), WITH_FOLDER(failingGnuplotLeavesNothing),
              WITH_FOLDER(failedPlotLeavesNothing));
