// Internals of the step engine, shared by its files.
//
// A step of a mechanism passes through these layers:
//   step_basic.c   one kick, flight, kick of size h (order 2, time-symmetric)
//   step_nodes.c   orders: runs of 1, 2, 3, ... basic steps over the same h, combined to a higher
//                  order, and projected back onto the conditions;
//                  nodes: steps of the given or chosen size, halved where look-ahead does not
//                  contract; trial steps to times between nodes
#pragma once

#include "base/core/memory.h"
#include "dynamics/engines/step/step_engine.h"
#include "dynamics/solvers/correct.h"
#include "dynamics/solvers/step_method.h"

#define RB_STEP_RUNS_MAX 5      // order 10
#define RB_STEP_BODY_DOUBLES 13 // of a body in a copy of the state

// Forces along a row besides its condition, and their memory.
typedef struct rbRowDrive {
    double force;      // N or N m, of a PID motor over the step; raises the position
    double rateBefore; // of the current stage
    double elastic;    // N s, impulse of the spring, the same at both ends
} rbRowDrive;

// Origin of a block.
typedef enum rbBlockRole {
    RB_ROLE_JOINT,  // the conditions of a joint, or of a velocity-only one
    RB_ROLE_SPRING, // a spring between points
    // Of freedoms:
    RB_ROLE_FREEDOM,  // spring, damping and PID motor of a freedom
    RB_ROLE_FRICTION, // dry friction of a freedom
    RB_ROLE_SPEED,    // velocity motor of a freedom
} rbBlockRole;

typedef struct rbBlockInfo {
    rbBlockRole role;
    int owner;   // joint or spring of the host
    int freedom; // of the joint
} rbBlockInfo;

// Work of a step by cause, J; see rbStepWork.
typedef enum rbWorkCause {
    RB_WORK_LOAD,
    RB_WORK_MOTOR,
    RB_WORK_DISSIPATION,
    RB_WORK_ASSEMBLY,
    RB_WORK_COUNT
} rbWorkCause;

// Data of a node besides the state of the bodies.
typedef struct rbNodeMemory {
    double work[RB_WORK_COUNT]; // J, done so far
    double estimateSum;         // m, of errors of steps
    double pivotUsual;          // largest least pivot seen
    int redundantLeast;         // redundant rows where the mechanism is not singular
    int level;                  // halvings to begin with
    int calmCount;              // steps since the last halving
    double swing;               // rad/s, the fastest of the last part
    int settleCount;            // remaining steps without look-ahead, see rbStep_Settle
    int settleSpan;             // such steps in a row
} rbNodeMemory;

// Nodes: origin + index * step.
typedef struct rbStepGrid {
    double time; // of the current node
    double origin;
    int64_t index; // of the next node on the grid
} rbStepGrid;

// Per row of a mechanism.
typedef struct rbStepRows {
    rbRowDrive* drives;
    rbLimitState* limits;
    double* guesses;   // N or N m: mean force of the last start impulses
    double* totals;    // N s: all impulses of the current step
    double* sums;      // N s: the same over the parts of a halved step
    double* forces;    // N or N m: mean of the last step
    double* reactions; // N or N m: the part of it that answers to contacts, of small steps
} rbStepRows;

// What a mechanism is, from its build on.
typedef struct rbStepTraits {
    bool hasSoft;        // springs, limited rows: the matrix differs between the stages
    bool hasLoads;       // forces that depend on the state
    bool hasTorques;     // constant torques, which do work
    bool hasPaths;       // kinematic bodies
    bool isAfloat;       // it touches only its own bodies
    bool isFieldUniform; // all bodies have the same constant acceleration
} rbStepTraits;

// What the current step showed.
typedef struct rbStepSeen {
    double rateError;  // m/s, rad/s: left by the last velocity correction
    double rateScale;  // m/s, of the speeds there
    int rateJoint;     // where
    double pivotWorst; // smallest
    int redundantMost;
    double estimate; // m, of its error
    double kink; // m/s^2, with error control: limited rows that reached or left their limits may
                 // have changed the motion so much less or more; 0: none did
} rbStepSeen;

// States of a mechanism as doubles, see rbStep_Save.
typedef struct rbStepCopies {
    int size;             // doubles of a copy
    double* start;        // at the start of the current step
    char* kept;           // state and memory of the node, during a trial
    int nodeSize;         // bytes of it
    double* scratch;      // within a basic step
    double* runs;         // results of the runs: states, works, totals
    int runSize;          // doubles of one
    rbLimitState* limits; // per row, where a stage of contacts began
} rbStepCopies;

// Results of runs of 1, 2, 3, ... steps over the same time as doubles: first the bodies, as
// rbStep_MoveBody moves them.
typedef struct rbStepRuns {
    double* results;
    int size; // doubles of one
    int count;
    int bodyCount;
} rbStepRuns;

typedef struct rbStepMechanism {
    rbStepEngine* engine; // whose mechanism it is
    rbMechanism m;
    int dynamicCount;     // of its bodies, which come first
    rbBlockInfo* infos;   // per block
    rbJointModel* models; // of velocity-only joints, restarted every basic step
    int modelCount;
    rbStepTraits traits;
    rbStepRows rows;
    rbCorrector* anchor;   // factored at the node, when isAnchored
    rbCorrector* inner;    // factored within steps
    rbCorrector* settler;  // of rbStep_Settle where inner cuts; NULL until it is needed
    rbMethodState* method; // of a registered method; NULL: look-ahead impulses
    bool isAnchored;
    bool isOpen;       // joints are apart: their impulses do work
    bool isForceKnown; // constant forces are computed
    bool isPushed;     // the second half of its forces has acted, before its collisions
    bool isRefreshed;  // rows and masses belong to the current poses
    rbStepGrid grid;
    double chosen;                   // s, next step to try when the accuracy is controlled
    double accurate;                 // s, the one it will be; 0: not known yet
    double size;                     // m: size of coordinates, for rounding
    double work[RB_WORK_COUNT];      // J, of the current step
    double shownWork[RB_WORK_COUNT]; // J, up to the time of the last advance
    rbNodeMemory node;
    rbStepSeen seen;
    rbStepCopies copies;
} rbStepMechanism;

typedef struct rbStepBodySlot {
    rbStepBodyDef def;
    bool isUsed;
    int mechanism; // -1: none
    int local;
    double estimate; // m, of errors of its steps in mechanisms that no longer exist
} rbStepBodySlot;

typedef struct rbStepJointSlot {
    rbStepJointDef def;
    bool isUsed;
    int mechanism; // -1: none
    int block;     // of its conditions; those of its freedoms follow
    double positions[RB_JOINT_FREEDOMS_MAX];
    double limitPositions[RB_JOINT_FREEDOMS_MAX];   // rad or m, what limits bound; turns counted
    double limitImpulses[RB_JOINT_FREEDOMS_MAX][2]; // N m s or N s of the lower and upper stop in
                                                    // the last step
    rbMotorState motors[RB_JOINT_FREEDOMS_MAX];
} rbStepJointSlot;

typedef struct rbStepSpringSlot {
    rbStepSpringDef def;
    bool isUsed;
    int mechanism;
    int block;      // the first
    int blockCount; // 1; of three axes 3, or 4 with damping
} rbStepSpringSlot;

// Of step_contact.c.
typedef struct rbStepContacts rbStepContacts;

// The changing state of an engine.
typedef RB_ARRAY(char) rbStepBytes;

struct rbStepEngine {
    rbStepSettings settings;
    rbStepContacts* contacts; // NULL: bodies pass through each other
    RB_ARRAY(rbStepBodySlot) bodies;
    RB_ARRAY(rbStepJointSlot) joints;
    RB_ARRAY(rbStepSpringSlot) springs;
    RB_ARRAY(rbStepMechanism) mechanisms;
    double time; // of the last advance
    rbStepStiff stiff;
    rbStepStatistics statistics;
    // Of mechanisms that no longer exist:
    rbStepWork workBefore;
    int64_t factorizationsBefore;
    double estimateBefore; // m, the largest
    int failed;         // mechanism whose state stopped being finite in the last advance; -1: none
    rbStepBytes before; // the changing state, as it was before the current advance
};

// Data passed between the layers.
typedef struct rbStepRun {
    rbStepMechanism* mechanism;
    const rbStepHost* host;
    bool isForced;   // steps that do not meet the tolerance are accepted
    bool isSmallest; // a part that cannot be halved: look-ahead may use more iterations
    bool isTrial;    // statistics are not counted
} rbStepRun;

// --------------------------------------------------------------------------- step_engine.c
// The position of a freedom at poses; turns are counted from the last one.
double rbStep_FollowFreedom(const rbFreedomModel* freedom, double last, const rbRowPose* poseA,
                            const rbRowPose* poseB);
// Positions of freedoms at the node, so that turns are counted.
void rbStep_FollowFreedoms(const rbStepMechanism* mechanism);
void rbStep_CountErrors(rbStepMechanism* mechanism);
// The changing state, saved and restored.
void rbStepEngine_Keep(rbStepEngine* engine, rbStepBytes* state);
void rbStepEngine_Recall(rbStepEngine* engine, const rbStepBytes* state);

// ---------------------------------------------------------------------------- step_nodes.c
// As rbStepEngine_Advance, of mechanisms alone; after LIMIT *reached is the last good time of the
// one that failed, and the others stay at the time they reached.
rbStatus rbStep_Advance(rbStepEngine* engine, const rbStepHost* host, double time, double* reached);
// Moves the node to a time that the host has already seen.
void rbStep_MakeNode(const rbStepRun* run, double time);
// State, memory and servos of the node, while a step from it is tried.
void rbStep_KeepNode(rbStepMechanism* mechanism);
void rbStep_RecallNode(rbStepMechanism* mechanism);
// How much longer a step may be, by its error and the one allowed; at most by a factor of most.
double rbStep_GetGrowth(double order, double error, double allowed, double most);
// Counts a step that ends at a time as inaccurate if the errors so far add up to more than they
// may.
void rbStep_CountInaccurate(rbStepEngine* engine, double time, double errors);
// Projects positions onto the conditions; damping as in rbCorrection.
rbCorrected rbStep_Project(rbStepMechanism* mechanism, int iterationsMax, double damping);
// Per row: only the conditions of joints take part in a solution.
void rbStep_HoldJoints(const rbMechanism* m, double* compliance);
// The state of a mechanism, and of a body, as doubles: runs are combined number by number.
void rbStep_Move(rbStepMechanism* mechanism, rbByteStream* stream);
void rbStep_MoveBody(rbMechBody* body, rbByteStream* stream);
void rbStep_Save(rbStepMechanism* mechanism, void* state);
void rbStep_Restore(rbStepMechanism* mechanism, void* state);
// Of q and -q the one nearer to that of the first run; before the others.
void rbStepRuns_Align(const rbStepRuns* runs);
// m, by which the last two orders differ for the body in a place, after a time in which velocities
// keep their difference.
double rbStepRuns_CompareOrders(const rbStepRuns* runs, int place, const rbMechBody* body,
                                double time);
// The result of the highest order.
void rbStepRuns_Combine(const rbStepRuns* runs, double* sum);

// ---------------------------------------------------------------------------- step_build.c
// Builds all mechanisms from the states of the host.
void rbStep_Build(rbStepEngine* engine, const rbStepHost* host, double time);
void rbStep_FreeMechanisms(rbStepEngine* engine);
// Pose and velocities of a kinematic body, now or ahead.
void rbStep_FollowPath(const rbPath* path, double time, rbMechBody* body, bool isAhead);
void rbStep_ReadBody(const rbStepHost* host, const rbStepBodySlot* slot, int index, double time,
                     rbMechBody* body);
// A body with its mass, as the host has it at a time; -1: the world.
rbMechBody rbStep_MakeBody(const rbStepEngine* engine, const rbStepHost* host, int index,
                           double time);
void rbStep_WriteBody(const rbStepHost* host, const rbMechBody* body);
void rbStep_WriteBodies(const rbStepHost* host, const rbMechanism* m);
void rbStep_MeasureSize(rbStepMechanism* mechanism);
// Adds what a mechanism has done so far.
void rbStep_AddWork(const rbStepMechanism* mechanism, rbStepWork* work);

// ---------------------------------------------------------------------------- step_basic.c
// Forces of loads at the current state and time; returns the power of those without a potential.
double rbStep_Forces(const rbStepRun* run, double time);
// Non-dynamic bodies at a time: 0: ahead; 1 or -1: now, with speeds after or before a jump of them.
void rbStep_PlaceFixed(rbStepMechanism* mechanism, double time, int side);
// s, of a step from the node that ends where a speed of a path jumps, if one does within h.
double rbStep_CutAtJump(const rbStepMechanism* mechanism, double h);
// Set points and PID forces for the step of size h from the node.
void rbStep_RunMotors(const rbStepRun* run, double time, double h);
// Speeds of TRAVEL rows that hold over a step (mean) or at its end.
void rbStep_SetSpeeds(rbStepMechanism* mechanism, double timeA, double timeB);
// Errors of rows that continue, at the current poses.
void rbStep_ContinueErrors(rbStepMechanism* mechanism);
// No work and no impulses so far.
void rbStep_ClearTotals(rbStepMechanism* mechanism);
// One basic step from a time; false if the look-ahead did not meet its tolerance (then the state is
// invalid). isAnchored: the anchor's factors belong to the current poses.
bool rbStep_Basic(const rbStepRun* run, double time, double h, bool isAnchored);
// The same where look-ahead fails: conditions depend on each other, or the step is too long for the
// fastest oscillation. Implicit (backward in time), so of order 1 and dissipative, but stable; the
// joints hold at the end.
// softness: see rbCorrection. Returns the largest remaining error, m or rad.
double rbStep_Settle(const rbStepRun* run, double time, double h, double softness);
// A basic step in parts, for touching bodies: between the parts contacts change the velocities.
//   BeginBasic      forces and motors of the start, rows factored, last impulses
//   SweepPositions  joints will hold at the end; returns whether that needed any correction
//   FlyBasic        to the end, rows factored there
//   KickBasic       forces of the end
//   SweepRates      joints do not separate; returns how fast they did before, m/s or rad/s
//   EndBasic        results
void rbStep_BeginBasic(const rbStepRun* run, double time, double h);
// Factors of a stage; of the start also after limits were set from outside.
void rbStep_Renew(rbStepMechanism* mechanism, double h, bool isStart);
bool rbStep_SweepPositions(const rbStepRun* run, double h);
void rbStep_FlyBasic(const rbStepRun* run, double time, double h);
// Replaces the three parts above, for a mechanism that stood still and is struck at the end.
void rbStep_WakeBasic(const rbStepRun* run, double time, double h);
void rbStep_KickBasic(const rbStepRun* run, double time, double h);
// The same, or a part of it, before collisions: springs, motors and dampers act with the velocities
// that a body arrives with. Then, once contacts have answered: from here on only what holds acts.
void rbStep_KickEarly(const rbStepRun* run, double time, double h, double part);
void rbStep_CloseEarly(const rbStepRun* run, double h);
double rbStep_SweepRates(const rbStepRun* run, double h);
void rbStep_EndBasic(const rbStepRun* run, double time, double h);
// At the current poses, at a time: errors of rows, and velocities corrected with no time passing.
void rbStep_StopRates(const rbStepRun* run, double time);
double rbStep_GetTolerance(const rbStepEngine* engine);

// ---------------------------------------------------------------------------- step_valid.c
// For debug checks of a mechanism: blocks cover its rows, orientations are unit, limits are kept.
bool rbStepValid_IsMechanism(const rbStepMechanism* mechanism);
