// Work-precision: points of time against error, whether points lie below ours, and a picture.
#pragma once

#include "base/core/memory.h"

#include <rattleback/base.h>

#include <stdbool.h>

typedef struct rbWorkPoint {
    char series[64]; // engine and configuration
    bool isOurs;
    double time;  // s of CPU per simulated second
    double error; // > 0; NaN or infinite: blown up, not drawn
    double step;  // s
} rbWorkPoint;

typedef struct rbWorkPanel {
    char title[96];
    char errorLabel[64];
    RB_ARRAY(rbWorkPoint) points;
} rbWorkPanel;

void rbWorkPanel_Add(rbWorkPanel* panel, const rbWorkPoint* point);
// Whether a point of ours is at most as slow and has at most the same error.
bool rbWorkPanel_IsBeaten(const rbWorkPanel* panel, const rbWorkPoint* point);
// Points of others that no point of ours beats.
int rbWorkPanel_CountBelow(const rbWorkPanel* panel);

// Draws the panels side by side with gnuplot.
rbStatus rbDrawWorkPanels(const rbWorkPanel* panels, int count, const char* path, rbError* error);

// Draws many panels of few series as a grid with equal axes and one key. The step of our points is
// the error that was asked for, in m; it is drawn as well.
rbStatus rbDrawWorkGrid(const rbWorkPanel* panels, int count, const char* path, rbError* error);
