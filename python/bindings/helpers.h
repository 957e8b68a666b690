// What the Python package adds to the public functions: calls that would cost much more if each of
// them crossed the border between Python and C. build_module.py reads the declarations.
#pragma once

#include <rattleback/output.h>
#include <rattleback/rattleback.h>

// One for each world of Python, which sets the world and the step; the rest is written by the
// functions below only.
typedef struct rbpyState {
    rbWorld* world; // NULL: closed
    double step;    // s
    int isMoving;
    int isModeOdd;     // the floating-point mode of a thread that advanced it was not the standard
    int isModeTold;    // and Python knows
    double lastTime;   // s, the end of the last single step; NaN: none
    int64_t lastIndex; // its number
} rbpyState;

// Added to a status: the floating-point mode was found to be odd, for the first time.
#define RBPY_MODE_ODD 1000

int rbpyAdvanceTo(rbpyState* state, double time, int64_t pieceMax);
int rbpyStep(rbpyState* state);
double rbpyFindEnd(double time, double step, int64_t count);

// Worlds that move together: by stepCount steps of their own, or to a time.
typedef struct rbpyWorlds {
    rbpyState** states;
    int count;
    int64_t stepCount;
    double time;
    int* statuses;
} rbpyWorlds;

int rbpyStepAll(rbpyWorlds* worlds, int threads);
int rbpyAdvanceAll(rbpyWorlds* worlds, int threads);

void rbpyAfterFork(void);
void rbpyCallForce(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context);
bool rbpyCallFilter(const rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, void* context);
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

int rbpyRollOut(rbpyRollout* rollout, int threads);

// Files that a scene names, in memory: for rbSceneSource.
typedef struct rbpyFiles {
    char** names;
    void** bytes;
    size_t* sizes;
    int count;
} rbpyFiles;

const void* rbpyFindFile(const char* name, size_t* size, void* files);

// Of module.h, which is for modules in C and has no declarations in Python.
rbStatus rbpyLoadModule(const char* path, rbError* error);
size_t rbpyDescribeModules(char* text, size_t capacity);
