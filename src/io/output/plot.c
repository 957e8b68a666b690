// Plots: the script that draws them with gnuplot.
//
// Ranges, margins and number formats are chosen here and not left to gnuplot: the panels share one
// x range and their axes align, the rounding errors of a constant are not magnified, and an energy
// that varies in its tenth digit gets tick labels that show it. Data goes into the script as
// numbers, labels as single-quoted strings, in which gnuplot substitutes nothing; enhanced text is
// off, so that labels appear literally.
#include "base/core/memory.h"
#include "io/output/gnuplot.h"

#include <rattleback/output.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 900
#define HEIGHT 540
#define PANEL_HEIGHT 190 // of each panel, when there are more than two
#define SMALL_HEIGHT 150 // of each, when there are more than MIDDLE_COUNT
#define MIDDLE_COUNT 4
#define PANEL_GAP 16.0    // pixels between panels
#define HEADLINE 22.0     // pixels, of a label above its panel
#define LABEL_MAX 400     // bytes drawn of a label
#define VALUE_MAX 1e150   // above it gnuplot's own arithmetic overflows
#define POINTS_MAX 6000   // of a curve: more than the pixels it crosses
#define BUCKET_POINTS 7   // first, last, the extremes of x and y, a gap
#define CHARACTER_WIDTH 7 // pixels, of the legend's font on average
#define LEGEND_KEY_WIDTH 50

// The colors of Okabe and Ito, which color-blind readers can distinguish, without the pale yellow.
static const char* const colors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#E69F00", "#56B4E9", "#000000"};
#define COLOR_COUNT ((int)(sizeof colors / sizeof colors[0]))

static const char* const styles[] = {
    [RB_PLOT_LINES] = "lines",
    [RB_PLOT_POINTS] = "points",
    [RB_PLOT_LINES_POINTS] = "linespoints",
    [RB_PLOT_DASHES] = "lines",
};
_Static_assert(sizeof styles / sizeof styles[0] == RB_PLOT_STYLE_COUNT, "one row a style");

typedef struct Script {
    RB_ARRAY(char) text;
} Script;

typedef struct Range {
    double low, high; // low > high: empty
} Range;

static const Range emptyRange = {1.0, 0.0};

typedef struct Layout {
    int height;
    double headline; // pixels above each panel; 0: labels are vertical, next to the axes
    Range x;
    Range y[RB_PLOT_PANEL_MAX];
} Layout;

static void addBytes(Script* script, const char* bytes, size_t count)
{
    rbArray_Reserve(script->text, script->text.count + (int)count);
    memcpy(script->text.data + script->text.count, bytes, count);
    script->text.count += (int)count;
}

static void add(Script* script, const char* format, ...) RB_PRINTF(2, 3);

static void add(Script* script, const char* format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    RB_ASSERT(length >= 0 && (size_t)length < sizeof text);
    addBytes(script, text, (size_t)length);
}

static void addNumber(Script* script, double value)
{
    char text[RB_NUMBER_TEXT_SIZE];
    addBytes(script, text, (size_t)rbFormatNumber(value, text));
}

// Bytes of the UTF-8 character at text; 0 if it is malformed, too long, a surrogate or not allowed
// in XML.
static int characterLength(const unsigned char* text)
{
    if (text[0] < 0x80) {
        return 1;
    }
    int length = text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    if (text[0] < 0xC2 || text[0] > 0xF4) {
        return 0;
    }
    uint32_t code = text[0] & (0xFFu >> (length + 1));
    for (int i = 1; i < length; ++i) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3Fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    bool isSurrogate = code >= 0xD800 && code <= 0xDFFF;
    bool isForbidden = code > 0x10FFFF || code == 0xFFFE || code == 0xFFFF;
    return code < smallest[length] || isSurrogate || isForbidden ? 0 : length;
}

// Adds a label as a string. Control characters become spaces, malformed ones question marks, so
// that a label can break neither the script nor the picture.
static void addQuoted(Script* script, const char* label)
{
    const unsigned char* p = (const unsigned char*)(label != NULL ? label : "");
    size_t used = 0;
    addBytes(script, "\"", 1);
    while (*p != '\0' && used < LABEL_MAX) {
        int length = characterLength(p);
        bool isPlain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == ' ';
        if (length == 0) {
            addBytes(script, "?", 1);
        } else if (length > 1 || isPlain) {
            addBytes(script, (const char*)p, (size_t)length);
        } else if (*p < 0x20 || *p == 0x7F) {
            addBytes(script, " ", 1);
        } else {
            add(script, "\\%03o", (unsigned)*p);
        }
        p += length > 0 ? length : 1;
        used += length > 0 ? (size_t)length : 1;
    }
    addBytes(script, "\"", 1);
}

static bool hasText(const char* text)
{
    return text != NULL && text[0] != '\0';
}

static bool isDrawable(double value, bool isLog)
{
    return fabs(value) <= VALUE_MAX && (!isLog || value >= 1.0 / VALUE_MAX);
}

static void widen(Range* range, double value)
{
    if (range->low > range->high) {
        *range = (Range){value, value};
    }
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

// Ranges of the drawable points of a panel.
static void measurePanel(const rbPlot* plot, const rbPlotPanel* panel, Range* x, Range* y)
{
    for (int i = 0; i < panel->seriesCount; ++i) {
        const rbPlotSeries* series = &panel->series[i];
        RB_ASSERT(series->count >= 0);
        RB_ASSERT((series->x != NULL && series->y != NULL) || series->count == 0);
        RB_ASSERT((unsigned)series->style < RB_PLOT_STYLE_COUNT);
        for (int j = 0; j < series->count; ++j) {
            if (isDrawable(series->x[j], plot->isLogX) && isDrawable(series->y[j], panel->isLogY)) {
                widen(x, series->x[j]);
                widen(y, series->y[j]);
            }
        }
    }
}

// Adds some room around a range, and expands an empty range or a single point. With margin 0 it
// does only the latter.
static Range padRange(Range range, bool isLog, double margin)
{
    if (range.low > range.high) {
        return isLog ? (Range){1.0, 10.0} : (Range){0.0, 1.0};
    }
    double scale = fabs(range.low) > fabs(range.high) ? fabs(range.low) : fabs(range.high);
    if (isLog) {
        bool isPoint = range.high < 1.0001 * range.low;
        double factor = isPoint ? 3.0 : 1.0 + 4.0 * margin;
        return (Range){range.low / factor, range.high * factor};
    }
    // A range below the rounding of a few operations is a constant.
    if (range.high - range.low <= 1e-14 * scale) {
        double room = scale > 0.0 ? 0.05 * scale : 1.0;
        return (Range){range.low - room, range.high + room};
    }
    double room = margin * (range.high - range.low);
    return (Range){range.low - room, range.high + room};
}

// Significant digits that distinguish the ticks of a range.
static int countDigits(Range range)
{
    double scale = fabs(range.low) > fabs(range.high) ? fabs(range.low) : fabs(range.high);
    double span = range.high - range.low;
    int digits = 2;
    while (span < scale && digits < 16) {
        span *= 10.0;
        digits += 1;
    }
    return digits;
}

static bool isFinitePoint(const rbPlotSeries* series, int index)
{
    return isfinite(series->x[index]) && isfinite(series->y[index]);
}

// Lists the indices of a bucket's first, last and extreme points and of its first gap, in order.
static int chooseFromBucket(const rbPlotSeries* series, int first, int end, int* chosen)
{
    int marks[5] = {-1, -1, -1, -1, -1};
    for (int i = first; i < end; ++i) {
        if (!isFinitePoint(series, i)) {
            marks[4] = marks[4] < 0 ? i : marks[4];
            continue;
        }
        marks[0] = marks[0] < 0 || series->x[i] < series->x[marks[0]] ? i : marks[0];
        marks[1] = marks[1] < 0 || series->x[i] > series->x[marks[1]] ? i : marks[1];
        marks[2] = marks[2] < 0 || series->y[i] < series->y[marks[2]] ? i : marks[2];
        marks[3] = marks[3] < 0 || series->y[i] > series->y[marks[3]] ? i : marks[3];
    }
    int count = 0;
    for (int next = first; next >= 0;) {
        chosen[count++] = next;
        int current = next;
        next = current < end - 1 ? end - 1 : -1;
        for (int k = 0; k < 5; ++k) {
            if (marks[k] > current && marks[k] < next) {
                next = marks[k];
            }
        }
    }
    RB_ASSERT(count <= BUCKET_POINTS);
    return count;
}

// Adds the points of a curve as a data block; returns the number of drawable points.
static int addData(Script* script, const rbPlot* plot, const rbPlotPanel* panel,
                   const rbPlotSeries* series, int number)
{
    int bucketCount = POINTS_MAX / BUCKET_POINTS;
    int bucketSize = series->count > POINTS_MAX ? (series->count - 1) / bucketCount + 1 : 1;
    int drawn = 0;
    bool isGap = true; // no two empty lines: gnuplot would see two data sets
    add(script, "$d%d << END_OF_DATA\n", number);
    for (int first = 0; first < series->count; first += bucketSize) {
        int chosen[BUCKET_POINTS];
        int end = series->count - first > bucketSize ? first + bucketSize : series->count;
        int count = chooseFromBucket(series, first, end, chosen);
        for (int i = 0; i < count; ++i) {
            double x = series->x[chosen[i]];
            double y = series->y[chosen[i]];
            if (isDrawable(x, plot->isLogX) && isDrawable(y, panel->isLogY)) {
                addNumber(script, x);
                addBytes(script, " ", 1);
                addNumber(script, y);
                addBytes(script, "\n", 1);
                drawn += 1;
                isGap = false;
            } else if (!isGap) {
                addBytes(script, "\n", 1);
                isGap = true;
            }
        }
    }
    add(script, "END_OF_DATA\n");
    return drawn;
}

static void addRange(Script* script, char axis, Range range, bool isLog)
{
    add(script, "%sset logscale %c\nset %crange [", isLog ? "" : "un", axis, axis);
    addNumber(script, range.low);
    add(script, ":");
    addNumber(script, range.high);
    add(script, "] noextend\n");
    int digits = isLog ? 0 : countDigits(range);
    if (isLog) {
        add(script, "set format %c '%%g'\n", axis);
    } else {
        add(script, "set format %c '%%.%dg'\n", axis, digits > 6 ? digits : 6);
    }
}

// Adds the curves of a panel. Its data blocks are numbered from firstBlock. A line through the one
// point of $corner, which is invisible, comes first: gnuplot refuses a plot without any point.
static void addCurves(Script* script, const rbPlotPanel* panel, const int* drawn, int firstBlock,
                      int titleCount)
{
    add(script, "plot $corner using 1:2 with lines notitle");
    for (int i = 0; i < panel->seriesCount; ++i) {
        const rbPlotSeries* series = &panel->series[i];
        add(script, ", \\\n  ");
        if (drawn[i] > 0) {
            add(script, "$d%d using 1:2", firstBlock + i);
        } else {
            add(script, "keyentry"); // nothing to draw, but the legend shows its name
        }
        bool isDashed = series->style == RB_PLOT_DASHES;
        add(script, " with %s lc rgb '%s' lw 1.6 dt %d", styles[series->style],
            colors[i % COLOR_COUNT], isDashed ? 2 : i / COLOR_COUNT % 5 + 1);
        if (series->style == RB_PLOT_POINTS || series->style == RB_PLOT_LINES_POINTS) {
            add(script, " pt 7 ps 0.4");
        }
        add(script, " title ");
        addQuoted(script, i < titleCount ? series->label : NULL);
    }
    add(script, "\n");
}

// Width of the legend in pixels, 0 if no curve has a label.
static int measureLegend(const rbPlot* plot)
{
    size_t longest = 0;
    for (int i = 0; i < plot->panelCount; ++i) {
        for (int j = 0; j < plot->panels[i].seriesCount; ++j) {
            const char* label = plot->panels[i].series[j].label;
            size_t length = label != NULL ? strlen(label) : 0;
            longest = length > longest ? length : longest;
        }
    }
    longest = longest > 40 ? 40 : longest;
    return longest > 0 ? (int)longest * CHARACTER_WIDTH + LEGEND_KEY_WIDTH : 0;
}

static double getRightMargin(const rbPlot* plot)
{
    return 26.0 + measureLegend(plot);
}

static void addPreamble(Script* script, const rbPlot* plot, const Layout* layout)
{
    int digits = 0;
    for (int i = 0; i < plot->panelCount; ++i) {
        int wanted = plot->panels[i].isLogY ? 0 : countDigits(layout->y[i]);
        digits = wanted > digits ? wanted : digits;
    }
    double left = 84.0 + (digits > 6 ? 8.0 * (digits - 5) : 0.0);
    double right = getRightMargin(plot);
    add(script,
        "set terminal svg size %d,%d dynamic noenhanced background rgb 'white' "
        "font 'sans-serif,13'\n"
        "set encoding utf8\n"
        "set border 3 lc rgb '#555555' lw 0.8\n"
        "set tics nomirror out scale 0.5 textcolor rgb '#333333' font ',12'\n"
        "set grid xtics ytics lt 1 lw 0.5 lc rgb '#dddddd'\n",
        WIDTH, layout->height);
    add(script, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", left / WIDTH,
        1.0 - right / WIDTH);
}

// Sets the legend of a panel with this many curves and pixels: smaller if there are many; returns
// the number of entries that fit.
static int addLegend(Script* script, const rbPlot* plot, int curveCount, double panelHeight)
{
    double pitch = curveCount > 0 ? panelHeight / curveCount : panelHeight;
    int fontSize = pitch >= 22.0 ? 12 : 10;
    double spacing = pitch >= 22.0 ? 1.25 : (pitch >= 15.0 ? 1.05 : 0.85);
    add(script,
        "set key at screen %.5f, graph 1 left top vertical maxcols 1 Left reverse samplen 1.6 "
        "spacing %.2f textcolor rgb '#333333' font ',%d'\n",
        1.0 - (getRightMargin(plot) - 10.0) / WIDTH, spacing, fontSize);
    return (int)(panelHeight / 12.0);
}

// Adds a panel, whose data blocks are numbered from firstBlock.
static void addPanel(Script* script, const rbPlot* plot, const Layout* layout, int index,
                     int firstBlock)
{
    int height = layout->height;
    const rbPlotPanel* panel = &plot->panels[index];
    bool isLast = index == plot->panelCount - 1;
    double headline = layout->headline;
    double top = hasText(plot->title) ? 46.0 : 20.0;
    double bottom = hasText(plot->xLabel) ? 66.0 : 40.0;
    double pitch = (height - top - bottom + PANEL_GAP) / plot->panelCount;
    double upper = top + pitch * index + headline;
    double lower = upper - headline + pitch - PANEL_GAP;
    RB_ASSERT(lower > upper);
    add(script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n", 1.0 - upper / height,
        1.0 - lower / height);
    add(script, "set title ");
    addQuoted(script, index == 0 ? plot->title : NULL);
    // In units of its character height, 20 pixels.
    add(script, " font ',16' textcolor rgb '#222222' offset 0,%.2f\nset xlabel ",
        headline / 20.0 - 0.2);
    addQuoted(script, isLast ? plot->xLabel : NULL);
    add(script, " textcolor rgb '#222222'\nset label 1 ");
    addQuoted(script, panel->yLabel);
    if (headline > 0.0) {
        add(script, " at graph 0, screen %.5f left norotate front textcolor rgb '#222222'\n",
            1.0 - (upper - 0.4 * headline) / height);
    } else {
        add(script,
            " at screen %.5f, screen %.5f center rotate by 90 front textcolor rgb '#222222'\n",
            18.0 / WIDTH, 1.0 - 0.5 * (upper + lower) / height);
    }
    int titleCount = addLegend(script, plot, panel->seriesCount, lower - upper);
    addRange(script, 'x', layout->x, plot->isLogX);
    addRange(script, 'y', layout->y[index], panel->isLogY);
    if (!isLast) {
        add(script, "set format x ''\n");
    }
    add(script, "$corner << END_OF_DATA\n");
    addNumber(script, layout->x.low);
    add(script, " ");
    addNumber(script, layout->y[index].low);
    add(script, "\nEND_OF_DATA\n");
    RB_ARRAY(int) drawn = {0};
    for (int i = 0; i < panel->seriesCount; ++i) {
        rbArray_Push(drawn, addData(script, plot, panel, &panel->series[i], firstBlock + i));
    }
    addCurves(script, panel, drawn.data, firstBlock, titleCount);
    rbArray_Free(drawn);
}

// Vertical labels longer than the height of their panels would overlap: then all labels are above
// the panels instead.
static void chooseHeights(const rbPlot* plot, Layout* layout)
{
    int count = plot->panelCount;
    int each = count > MIDDLE_COUNT ? SMALL_HEIGHT : PANEL_HEIGHT;
    layout->height = count > 2 ? 110 + each * count : HEIGHT;
    double room = (layout->height - 110.0) / count - PANEL_GAP;
    size_t longest = 0;
    for (int i = 0; i < count; ++i) {
        const char* label = plot->panels[i].yLabel;
        size_t length = label != NULL ? strlen(label) : 0;
        longest = length > longest ? length : longest;
    }
    if ((double)longest * CHARACTER_WIDTH > room) {
        layout->headline = HEADLINE;
        layout->height += (int)HEADLINE * count;
    }
}

static void addPlot(Script* script, const rbPlot* plot)
{
    Layout layout = {.x = emptyRange};
    chooseHeights(plot, &layout);
    for (int i = 0; i < plot->panelCount; ++i) {
        layout.y[i] = emptyRange;
        measurePanel(plot, &plot->panels[i], &layout.x, &layout.y[i]);
        layout.y[i] = padRange(layout.y[i], plot->panels[i].isLogY, 0.05);
    }
    layout.x = padRange(layout.x, plot->isLogX, 0.0);
    addPreamble(script, plot, &layout);
    add(script, "set multiplot\n");
    int block = 0;
    for (int i = 0; i < plot->panelCount; ++i) {
        addPanel(script, plot, &layout, i, block);
        block += plot->panels[i].seriesCount;
    }
    add(script, "unset multiplot\n");
}

rbStatus rbPlot_WriteSvg(const rbPlot* plot, const char* path, rbError* error)
{
    RB_ASSERT(plot != NULL && path != NULL);
    RB_ASSERT(plot->panels != NULL);
    RB_ASSERT(plot->panelCount > 0 && plot->panelCount <= RB_PLOT_PANEL_MAX);
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        Script script = {0};
        addPlot(&script, plot);
        rbError_SetPlace(error, path, "");
        status = rbRunGnuplot(script.text.data, (size_t)script.text.count, file, error);
        if (status == RB_STATUS_OK) {
            status = rbOutputFile_Commit(file, error);
        } else {
            rbOutputFile_Abandon(file);
        }
        rbArray_Free(script.text);
    }
    rbFree(file, sizeof *file);
    return status;
}
