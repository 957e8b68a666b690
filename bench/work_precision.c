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
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        status = rbRunGnuplot(text.bytes.data, (size_t)text.bytes.count, file, error);
        if (status == RB_STATUS_OK) {
            status = rbOutputFile_Commit(file, error);
        } else {
            rbOutputFile_Abandon(file);
        }
    }
    rbFree(file, sizeof *file);
    rbArray_Free(text.bytes);
    return status;
}
