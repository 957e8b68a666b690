// What the Python package adds to the public functions: calls that would cost much more if each of
// them crossed the border between Python and C. build_module.py reads the declarations.
#pragma once

#include <rattleback/output.h>
#include <rattleback/rattleback.h>

int rbpyAdvanceTo(rbWorld* world, double time, double step);
int rbpyStep(rbWorld* world, double step, int64_t count);
double rbpyFindEnd(double time, double step, int64_t count);
void rbpyStepAll(rbWorld** worlds, int count, const double* steps, int64_t stepCount, int threads,
                 int* statuses);
int rbpyReadBody(const rbWorld* world, rbBodyId bodyId, rbBodyState* state);
int rbpyReadJoint(const rbWorld* world, rbJointId jointId, rbJointState* state);
double rbpyTimeSteps(rbWorld* world, double step, int count);
rbStatus rbpyWriteEvents(const rbWorld* world, rbRecordingWriter* writer, rbError* error);

#define RBPY_STATE_WIDTH 13

typedef struct rbpyRollout {
    rbWorld** worlds;
    int count;
    double step;
    int64_t stepCount;
    int horizon;
    int inputCount;
    rbJointId* joints;
    int bodyCount;
    double* controls;
    double* states;
    int* statuses;
} rbpyRollout;

void rbpyRollOut(rbpyRollout* rollout, int threads);
