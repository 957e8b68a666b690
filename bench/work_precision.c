#include "work_precision.h"

#include "io/output/gnuplot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PANEL_WIDTH 560 // pixels
#define HEIGHT 620
#define ERROR_LEAST 1e-17 // a zero has no logarithm

typedef struct rbText {
    RB_ARRAY(char) bytes;
} rbText;

RB_PRINTF(2, 3)
static void addText(rbText* text, const char* format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    length = length < (int)sizeof line ? length : (int)sizeof line - 1;
    rbArray_Reserve(text->bytes, text->bytes.count + length);
    memcpy(text->bytes.data + text->bytes.count, line, (size_t)length);
    text->bytes.count += length;
}

void rbWorkPanel_Add(rbWorkPanel* panel, const rbWorkPoint* point)
{
    rbArray_Push(panel->points, *point);
}

bool rbWorkPanel_IsBeaten(const rbWorkPanel* panel, const rbWorkPoint* point)
{
    for (int i = 0; i < panel->points.count; ++i) {
        const rbWorkPoint* ours = &panel->points.data[i];
        if (ours->isOurs && isfinite(ours->error) && ours->time <= point->time &&
            (ours->error <= point->error || !isfinite(point->error))) {
            return true;
        }
    }
    return false;
}

int rbWorkPanel_CountBelow(const rbWorkPanel* panel)
{
    int count = 0;
    for (int i = 0; i < panel->points.count; ++i) {
        const rbWorkPoint* point = &panel->points.data[i];
        bool counts = !point->isOurs && isfinite(point->error) && isfinite(point->time);
        count += counts && !rbWorkPanel_IsBeaten(panel, point) ? 1 : 0;
    }
    return count;
}

static bool isDrawn(const rbWorkPoint* point)
{
    return isfinite(point->time) && isfinite(point->error) && point->time > 0.0;
}

// Our curve: points that no other point of ours beats, by increasing time.
static void addFront(rbText* text, const rbWorkPanel* panel, int id)
{
    addText(text, "$front%d << EOD\n", id);
    double last = 0.0;
    double error = INFINITY;
    for (;;) {
        const rbWorkPoint* next = NULL; // fastest of those that are slower and more accurate
        for (int i = 0; i < panel->points.count; ++i) {
            const rbWorkPoint* point = &panel->points.data[i];
            if (point->isOurs && isDrawn(point) && point->time > last && point->error < error &&
                (next == NULL || point->time < next->time)) {
                next = point;
            }
        }
        if (next == NULL) {
            break;
        }
        addText(text, "%.6g %.6g\n", next->time, fmax(next->error, ERROR_LEAST));
        last = next->time;
        error = next->error;
    }
    addText(text, "EOD\n");
}

// The points of each series in their original order; returns the number of series.
static int addSeries(rbText* text, const rbWorkPanel* panel, int id, int firsts[64])
{
    int count = 0;
    for (int i = 0; i < panel->points.count && count < 64; ++i) {
        const char* name = panel->points.data[i].series;
        bool isNew = isDrawn(&panel->points.data[i]);
        for (int k = 0; k < count && isNew; ++k) {
            isNew = strcmp(panel->points.data[firsts[k]].series, name) != 0;
        }
        if (!isNew) {
            continue;
        }
        addText(text, "$data%d_%d << EOD\n", id, count);
        for (int j = i; j < panel->points.count; ++j) {
            const rbWorkPoint* point = &panel->points.data[j];
            if (strcmp(point->series, name) == 0 && isDrawn(point)) {
                addText(text, "%.6g %.6g\n", point->time, fmax(point->error, ERROR_LEAST));
            }
        }
        addText(text, "EOD\n");
        firsts[count++] = i;
    }
    return count;
}

static void addPanel(rbText* text, const rbWorkPanel* panel, int id)
{
    int firsts[64] = {0};
    addFront(text, panel, id);
    int count = addSeries(text, panel, id, firsts);
    addText(text, "set title '%s'\nset ylabel '%s'\n", panel->title, panel->errorLabel);
    addText(text, "plot $front%d with lines lw 4 lc rgb '#9ad0f5' title 'our front'", id);
    for (int k = 0; k < count; ++k) {
        const rbWorkPoint* point = &panel->points.data[firsts[k]];
        addText(text, ", \\\n  $data%d_%d with linespoints %s pt %d ps 0.6 title '%s'", id, k,
                point->isOurs ? "lc rgb '#0072B2' dt 3" : "lw 1.5", k % 13 + 1, point->series);
    }
    addText(text, "\n");
}

// Feeds the script to gnuplot.
static rbStatus drawText(const rbText* text, const char* path, rbError* error)
{
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        status = rbRunGnuplot(text->bytes.data, (size_t)text->bytes.count, file, error);
        if (status == RB_STATUS_OK) {
            status = rbOutputFile_Commit(file, error);
        } else {
            rbOutputFile_Abandon(file);
        }
    }
    rbFree(file, sizeof *file);
    return status;
}

rbStatus rbDrawWorkPanels(const rbWorkPanel* panels, int count, const char* path, rbError* error)
{
    rbText text = {0};
    addText(&text, "set terminal svg size %d,%d noenhanced font 'sans,11'\n", count * PANEL_WIDTH,
            HEIGHT);
    addText(&text, "set multiplot layout 1,%d\nset logscale xy\nset grid\n", count);
    addText(&text, "set format '%%.0e'\nset key below maxcols 2 font 'sans,9'\n");
    addText(&text, "set xlabel 's of CPU per simulated second'\n");
    for (int i = 0; i < count; ++i) {
        addPanel(&text, &panels[i], i);
    }
    addText(&text, "unset multiplot\n");
    rbStatus status = drawText(&text, path, error);
    rbArray_Free(text.bytes);
    return status;
}

// --------------------------------------------------------------------------------------- the grid

#define GRID_COLUMNS 4
#define GRID_WIDTH 345 // pixels of a cell
#define GRID_HEIGHT 300
#define GRID_SERIES_MAX 16

// Names in the order in which the panels have them.
typedef struct rbSeriesList {
    const rbWorkPoint* points[GRID_SERIES_MAX]; // the first of each
    int count;
} rbSeriesList;

static rbSeriesList listSeries(const rbWorkPanel* panels, int count)
{
    rbSeriesList list = {.count = 0};
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < panels[i].points.count; ++j) {
            const rbWorkPoint* point = &panels[i].points.data[j];
            int k = 0;
            while (k < list.count && strcmp(list.points[k]->series, point->series) != 0) {
                ++k;
            }
            if (k == list.count && k < GRID_SERIES_MAX) {
                list.points[list.count++] = point;
            }
        }
    }
    return list;
}

// The points of a series in a panel as a data block; one outside of the picture if there is none,
// for gnuplot refuses empty blocks.
static void addGridData(rbText* text, const rbWorkPanel* panel, int id, int series,
                        const char* name)
{
    int count = 0;
    addText(text, "$grid%d_%d << EOD\n", id, series);
    for (int j = 0; panel != NULL && j < panel->points.count; ++j) {
        const rbWorkPoint* point = &panel->points.data[j];
        if (strcmp(point->series, name) == 0 && isDrawn(point)) {
            addText(text, "%.6g %.6g %.6g\n", point->time, fmax(point->error, ERROR_LEAST),
                    point->step);
            ++count;
        }
    }
    addText(text, "%sEOD\n", count > 0 ? "" : "1e9 1e9 1e9\n");
}

// A cell: a panel, or the key if there is none.
static void addCell(rbText* text, const rbWorkPanel* panel, int id, const rbSeriesList* list)
{
    static const char* const colors[] = {"#D55E00", "#009E73", "#CC79A7", "#8B5A2B", "#777777"};
    for (int k = 0; k < list->count; ++k) {
        addGridData(text, panel, id, k, list->points[k]->series);
    }
    if (panel != NULL) {
        addText(text, "set title '%s' offset 0,-0.6\nunset key\n", panel->title);
    } else {
        addText(text, "unset title\nunset border\nunset tics\nunset grid\nunset xlabel\n"
                      "unset ylabel\nset key center center samplen 3 spacing 1.5 font 'sans,13'\n");
    }
    addText(text, "plot ");
    int other = 0;
    for (int k = 0; k < list->count; ++k) {
        const char* name = list->points[k]->series;
        if (list->points[k]->isOurs) {
            addText(text,
                    "$grid%d_%d using 1:3 with points pt 6 ps 0.9 lc rgb '#56B4E9' title '%s: "
                    "asked', ",
                    id, k, name);
            addText(text,
                    "$grid%d_%d with linespoints pt 7 ps 0.6 lw 2.5 lc rgb '#0072B2' title '%s: "
                    "achieved', ",
                    id, k, name);
            continue;
        }
        addText(text, "$grid%d_%d with linespoints pt %d ps 0.5 lw 1.2 lc rgb '%s' title '%s', ",
                id, k, 4 + 2 * (other % 5), colors[other % 5], name);
        ++other;
    }
    addText(text, "\n");
}

rbStatus rbDrawWorkGrid(const rbWorkPanel* panels, int count, const char* path, rbError* error)
{
    rbText text = {0};
    rbSeriesList list = listSeries(panels, count);
    int rows = (count + GRID_COLUMNS) / GRID_COLUMNS; // with a cell for the key
    addText(&text, "set terminal svg size %d,%d noenhanced font 'sans,12' background '#ffffff'\n",
            GRID_COLUMNS * GRID_WIDTH, rows * GRID_HEIGHT);
    addText(&text, "set multiplot layout %d,%d\nset logscale xy\nset grid lc rgb '#dddddd'\n", rows,
            GRID_COLUMNS);
    addText(&text, "set xrange [5e-5:20]\nset yrange [1e-14:3]\nset format '%%.0e'\n");
    addText(&text, "set xtics 1e-4,100\nset ytics 1e-14,100\nset mxtics 1\nset mytics 1\n");
    addText(&text, "set xlabel 's of CPU per simulated second' offset 0,0.5\n");
    addText(&text, "set ylabel 'error at the end, m' offset 1,0\n");
    for (int i = 0; i < count; ++i) {
        addCell(&text, &panels[i], i, &list);
    }
    addCell(&text, NULL, count, &list);
    addText(&text, "unset multiplot\n");
    rbStatus status = drawText(&text, path, error);
    rbArray_Free(text.bytes);
    return status;
}
