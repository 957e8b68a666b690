// Internals of contacts in the step engine, shared by its files.
#pragma once

#include "base/core/tasks.h"
#include "dynamics/contact/collisions.h"
#include "dynamics/contact/contact_freeze.h"
#include "dynamics/contact/contact_graph.h"
#include "dynamics/contact/contact_newton.h"
#include "dynamics/contact/contact_pairs.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/contact_substeps.h"
#include "dynamics/engines/step/contact_method.h"
#include "dynamics/engines/step/step_contact.h"
#include "dynamics/engines/step/step_measure.h"

// Sweeps before an island is solved as a whole.
#define RB_SWEEPS_FIRST 30

// Energy that contacts gave by cause, J; assembly: of separating overlaps of the start.
typedef struct rbContactAccounts {
    RB_STEP_WORKS(RB_STEP_WORK_FIELD)
    // Of the current step, until it ends:
    double lasting; // of normal impulses of lasting contacts, in both stages
    double lifted;  // of bodies that flights lifted more than their speed pays for
} rbContactAccounts;

// How a body moves through a step.
typedef enum rbFlightKind {
    RB_FLIGHT_PLAIN,
    RB_FLIGHT_SWEPT, // small steps could not solve its island
    RB_FLIGHT_TWICE, // its island has arrivals: it flies with one velocity and continues with
                     // another
    RB_FLIGHT_QUICK, // its island is solved by small steps: likewise
} rbFlightKind;

// What the accepted stages of a step left over. Whether a tolerance was missed follows from these
// values alone, so that a report never contradicts its numbers.
typedef struct rbStepMiss {
    double gap;        // m, gaps and slips
    double speed;      // m/s, of lasting contacts and of the targets and friction of collisions
    double rebound;    // m/s, approach that was stopped without rebound: rounds of collisions ended
    double joint;      // m, of joints in islands of contacts
    double jointSpeed; // m/s
    double overlap;    // m, of bodies that should have been separated by now
} rbStepMiss;

// Times closer than this fraction of a step are equal.
#define RB_STEP_SNAP 1e-9

// A point that is open at the node, and was stopped at the surface in the step from it.
typedef struct rbArrival {
    int bodyA;
    int bodyB;
    rbVec3 normal;
    rbVec3 armA;
    rbVec3 armB;
    double gap;     // m
    bool isOfStop;  // of a joint: there are no shapes to measure
    bool isAhead;   // of the end of the flight: the gap holds only for that flight
    bool isClosed;  // at the end of the flight, although it may be slightly open
    bool isDropped; // the pair does not touch in this step after all
} rbArrival;

// Two bodies that meet alone, see step_contact_arrivals.c.
typedef struct rbMeeting {
    int indices[2];
    rbMechBody* bodies[2];  // NULL: it does not fly
    rbMechBody stopped[2];  // at the end of the step, stopped at the surface
    rbMechBody struck[2];   // at the time of contact, before the collision
    rbMechBody collided[2]; // and after it
    double rest;            // s, of the step after that
    rbVec3 carried;         // m, by the path of the other in that time, while they collide
    bool isFar;             // flown farther than contacts were searched for
} rbMeeting;

// What solves the stages of a step, and its memory.
typedef struct rbContactSolvers {
    rbContactSolver* sweeps;
    rbContactNewton* newton;
    rbContactSubsteps* substeps; // NULL: steps are solved to a tolerance
    rbCollisions* collisions;
    RB_ARRAY(rbContactLink) links;         // rows of the joints of the current island
    RB_ARRAY(int) quick;                   // contacts that are solved by small steps
    RB_ARRAY(rbSubstepsJoint) quickJoints; // joints of the same islands
    RB_ARRAY(rbMechBody) motions;          // of a mechanism, while a reaction is measured
} rbContactSolvers;

// The flight of the current step.
typedef struct rbStepFlight {
    RB_ARRAY(rbContactBody) bodies; // per body, velocities of the flight, where it has its own
    RB_ARRAY(unsigned char) kinds;  // per body, rbFlightKind
    RB_ARRAY(double) late;          // s, per body: part of the step after it arrived
    RB_ARRAY(double) lifts;         // J, per body: to be paid after its collisions
    RB_ARRAY(rbMeeting) meetings;
    RB_ARRAY(unsigned char) touching; // per body: its contacts at the node, at most 2
    RB_ARRAY(rbVec3) kicks;        // m/s, per body: velocity change by the forces in a whole step
    RB_ARRAY(rbRowPose) poses;     // per body, at the end
    RB_ARRAY(rbContactBody) ahead; // per body, velocities that lead there
    RB_ARRAY(rbArrival) arrivals;
    RB_ARRAY(rbArrival) sought;      // those of the whole step, while it is cut
    RB_ARRAY(rbContactProbe) probes; // of one pair
    bool areAllQuick;                // small steps solve all islands
    bool isWild;                     // a flight is held, see step_contact_arrivals.c
    bool isGuarded;                  // bodies spin past each other, see rbPairsReport
} rbStepFlight;

// The start of the current stage, and of the step.
typedef struct rbStageStart {
    RB_ARRAY(rbContactBody) nodes;   // per body, at the start of the step
    RB_ARRAY(rbContactBody) before;  // per body
    RB_ARRAY(rbContactPoint) points; // impulses and gaps
    RB_ARRAY(double) approaches;     // m/s, per point: u.n at the start of the step
    RB_ARRAY(double) gaps;           // m, per point, while points that arrive are open
    RB_ARRAY(double) stays;          // m, per point: the gap that the velocities start from
    RB_ARRAY(rbSlipLead) leads;      // per point, of islands in which some are led
    RB_ARRAY(rbContactBody) swept;   // per body, as sweeps left them
    RB_ARRAY(rbContactPoint) sweptPoints;
    bool areSettled;                   // loads of the end act already:
    RB_ARRAY(unsigned char) isSettled; // those of a body
    RB_ARRAY(rbContactPoint) settled;  // what they are
    double part;                       // of a whole step, whose impulses the contacts have
    double kink; // s, > 0: velocities of obstacles jump at its end, within this time
} rbStageStart;

// The node, while a step from it is tried or shown.
typedef struct rbNodeTrial {
    RB_ARRAY(rbMechBody) loose;
    RB_ARRAY(rbContact) contacts;
    RB_ARRAY(rbContactPoint) points;
    rbContactStatistics contactStatistics;
    rbStepStatistics stepStatistics;
    rbContactAccounts sums;
    RB_ARRAY(rbContact) nodeContacts; // with guesses scaled to the step, before its stages
    RB_ARRAY(rbContactPoint) nodePoints;
    int foundCount;    // of these contacts: those of shapes
    bool isFlown;      // the length of the step from the node is known:
    double step;       // s
    rbStepBytes shown; // the state of the node, while a time after it is shown
    double work;       // J, energy then, relative to that of the node
    rbStepWork works;  // its causes
    int cuts;          // since the last node of the grid
} rbNodeTrial;

// Energy accounting: the sums, and the state when that of a stage was opened.
typedef struct rbStepAccounts {
    rbContactAccounts sums;
    RB_ARRAY(rbVec3) pulls;         // m/s, per body: see step_contact_accounts.c
    RB_ARRAY(rbVec3) twists;        // rad/s, the same of its spin
    RB_ARRAY(rbContactBody) opened; // per body
    RB_ARRAY(rbVec3) turnings;      // per contact: rolling and spinning friction then
    RB_ARRAY(double) given;         // J, per body: by contacts of islands where it is the first
    double collisionTime;           // s of CPU, see rbContactStatistics
    double contactTime;
} rbStepAccounts;

// Bodies at rest.
typedef struct rbStepRest {
    rbContactFreeze* freeze;
    RB_ARRAY(rbLoad) loads;             // per body, where frozen; it wakes when they change
    RB_ARRAY(unsigned char) isWoken;    // per body: at the end of this step
    RB_ARRAY(unsigned char) isRestless; // per body: never freezes
} rbStepRest;

// A contact of the set that is a stop of a joint.
typedef struct rbLimitContact {
    int joint;
    int freedom;
    bool isUpper;
    double scale; // m of gap per unit of the coordinate
} rbLimitContact;

// Bodies of the host as this engine has them.
typedef struct rbStepMembers {
    RB_ARRAY(rbMechBody) loose;     // bodies in no mechanism
    RB_ARRAY(int) places1;          // per body of the host: index in loose + 1; 0: none
    RB_ARRAY(double) radii;         // m, per body
    RB_ARRAY(int) links;            // pairs of bodies that joints connect
    RB_ARRAY(rbLimitContact) stops; // meaning of the contacts behind those of shapes
    bool hasLimits;                 // joints have stops
} rbStepMembers;

// What a step reports to the host.
typedef struct rbTouchReport {
    // Pairs of shapes in the order of bodies, then shapes. Until the end of the step their points
    // are relative to the center of mass of A.
    RB_ARRAY(rbEngineTouch) touches;
    RB_ARRAY(rbCollisionNote) stops; // of an island, for the journal
} rbTouchReport;

// Points of contact that are held throughout a step, see step_contact_held.c.
typedef struct rbHeldSet rbHeldSet;

// Steps of higher order and of a chosen size, see step_contact_order.c.
typedef struct rbOrderControl {
    rbHeldSet* held;       // of the step that is made; NULL: all are of order 2
    double chosen;         // s, the next step that is tried; 0: none was yet
    double estimateSum;    // m, of errors of steps
    int plainCount;        // steps of order 2 since the last of a higher one
    rbStepBytes node;      // the state, while steps from it are tried
    RB_ARRAY(double) runs; // their results
} rbOrderControl;

// A registered method in place of impulses.
typedef struct rbMethodUse {
    const rbContactMethodRow* row; // NULL: impulses
    int parts;                     // of a step; of impulses 1
} rbMethodUse;

// Parts of the current step, see step.c.
typedef struct rbStepParts {
    int count; // 0: not yet known
    int done;
} rbStepParts;

// What the run left before it was started, or was asked for.
typedef struct rbRunStart {
    double restSpeedAsked; // m/s, of the settings
    double gapAim;         // m, to which gaps and slips of islands that are not large are solved;
                           // 0: as the settings say
    double deepest;        // m, overlaps
    double excess;         // m or rad beyond stops
    double partUntil;      // s, overlaps should be undone by then
} rbRunStart;

struct rbStepContacts {
    rbStepEngine* engine;       // whose contacts they are
    rbContactSettings settings; // restSpeed: the one that acts, see restSpeedAsked; tolerances:
                                // what islands that are not large are solved to
    rbContactTolerance allowed; // what is measured against, and large islands are solved to
    rbMethodUse method;
    rbContactPairs* pairs;
    rbContactGraph* graph;
    rbContactSolvers solvers;
    rbStepMembers own;
    RB_ARRAY(rbContactBody) bodies;  // per body of the host, and the world
    RB_ARRAY(rbContactPlace) places; // per body of the host
    rbContactSet set;                // of the node: contacts of shapes, then stops of joints
    rbContactSet found;              // those of shapes
    int islandCount;
    rbStepGrid grid;
    rbStepParts parts;
    rbStageStart stage;
    rbStepFlight flight;
    rbNodeTrial trial;
    rbStepRest rest;
    rbRunStart start;
    rbStepAccounts accounts;
    rbTouchReport report;
    rbOrderControl order;
    rbContactStatistics statistics;
};

// Whether a body flies with the velocity in flights.
static inline bool rbContactStep_HasFlight(const rbStepContacts* c, int index)
{
    return c->flight.kinds.data[index] >= RB_FLIGHT_TWICE;
}

// Whether overlaps of the start are being separated, as requested.
static inline bool rbContactStep_IsParting(const rbStepContacts* c)
{
    return c->settings.isOverlapAllowed && !(c->grid.time > c->start.partUntil);
}

static inline double rbContactStep_NormalSpeed(const rbStepContacts* c, const rbContact* contact,
                                               const rbContactPoint* point)
{
    return rbContact_NormalSpeed(c->bodies.data, contact, point);
}

// Whether a point meets its surface faster than what rests does.
static inline bool rbContactStep_IsStriking(const rbStepContacts* c, const rbContact* contact,
                                            const rbContactPoint* point)
{
    return point->isClosed &&
           rbContactStep_NormalSpeed(c, contact, point) < -(c->settings.restSpeed + point->curving);
}

// --------------------------------------------------------------------------- step_contact_bodies.c
// The body of the host as the engine moves it; NULL: there is none.
rbMechBody* rbContactStep_GetBody(const rbStepContacts* c, int index);
// Calls a function for every number of a body, on several threads: it changes only that body.
// Returns the sum of its values.
typedef double rbEachBodyFn(rbStepContacts* c, int index, const void* args);
double rbContactStep_EachBody(rbStepContacts* c, rbEachBodyFn* function, const void* args);
// Bodies in no mechanism, from the states of the host.
void rbContactStep_ReadBodies(rbStepContacts* c, const rbStepHost* host, double time);
void rbContactStep_WriteBodies(rbStepContacts* c, const rbStepHost* host);
// Copies velocities and masses to the view of contacts, and velocities of those that touch back.
void rbContactStep_ShowBodies(rbStepContacts* c);
void rbContactStep_TakeBodies(rbStepContacts* c);
void rbContactStep_TakeBody(const rbContactBody* shown, rbMechBody* body);
// A step as a fraction of a whole one; 1 if it differs from that by rounding.
double rbContactStep_PartOf(const rbStepContacts* c, double h);
bool rbContactStep_IsTouched(const rbStepContacts* c, int index);
// Forces over h on bodies in no mechanism. isEnd: bodies that arrived in the step already have
// theirs.
void rbContactStep_KickLoose(rbStepContacts* c, const rbStepHost* host, double time, double h,
                             bool isEnd);
// Bodies that strike at the end of a flight without having been stopped in it: within the distance
// at which contacts act. They get all forces of the step before they collide, as those that were.
void rbContactStep_KickStriking(rbStepContacts* c, const rbStepHost* host, double h);
// A body that lacks the second half of its forces gets them, and none afterward.
void rbContactStep_KickEarly(rbStepContacts* c, const rbStepHost* host, int index, double h);
// Forces on a body besides gravity and constant ones.
rbLoad rbContactStep_LoadOf(const rbStepHost* host, const rbMechBody* body, double time);
// The same, and all forces into the body.
rbLoad rbContactStep_LoadBody(const rbStepHost* host, rbMechBody* body, double time);
void rbContactStep_FlyLoose(rbStepContacts* c, double h);
// Places obstacles at a time. Their velocities are those of the time plus side, s: a path may
// change its speed just then.
void rbContactStep_PlaceFixed(rbStepContacts* c, double time, double side);
// Shows obstacles on curves with their mean velocity over the flight that begins: what they carry
// would go along the tangent.
void rbContactStep_ShowMeans(rbStepContacts* c, double h);

// At the end of a flight, with the contacts found there; woken bodies feel no force in this step.
void rbContactStep_WakeBodies(rbStepContacts* c, const rbStepHost* host, double h);
bool rbContactStep_IsWoken(const rbStepContacts* c, const rbStepMechanism* mechanism);
// At a node after a change from outside. Returns whether anything woke.
bool rbContactStep_WakeTouched(rbStepContacts* c);
// At the end of a step.
void rbContactStep_FreezeBodies(rbStepContacts* c, const rbStepHost* host, double h);

// --------------------------------------------------------------------------- step_contact_joints.c
// Joints of an island in a stage.
typedef struct rbJointSweep {
    rbStepContacts* c;
    const rbStepHost* host;
    const rbContactIsland* island;
    double h;
    bool isOfRates;
} rbJointSweep;

// A part of a step of size h, at the time of the node, for all mechanisms that are not frozen.
typedef void rbStepPartFn(const rbStepRun* run, double time, double h);
void rbContactStep_EachMechanism(rbStepContacts* c, const rbStepHost* host, rbStepPartFn* part,
                                 double h);
bool rbContactStep_HasMechanism(const rbStepContacts* c, const rbContactIsland* island);
// Gives mechanisms of an island the second half of their forces before collisions (no host: only
// returns whether some have still to get it), or ends that, see rbStep_CloseEarly.
bool rbContactStep_PushMechanisms(rbStepContacts* c, const rbStepHost* host,
                                  const rbContactIsland* island, double h, bool isEnd);
// Adds the joints of an island to those that small steps hold.
void rbContactStep_AddQuickJoints(rbStepContacts* c, const rbContactIsland* island);
// rbStep_EndBasic, with the impulses by which small steps held the joints.
void rbContactStep_EndMechanism(const rbStepRun* run, double time, double h);
// All joints of the island, with the velocities that contacts left (an rbSweepJointsFn).
bool rbContactStep_SweepJoints(void* context, double* error);
// Notes impulses and limits of all mechanisms where a stage starts, and restores those of an
// island.
void rbContactStep_NoteMechanisms(rbStepContacts* c);
void rbContactStep_TurnIsland(rbStepContacts* c, const rbContactIsland* island, double h);
// Their rows with the current velocities, for the whole island; returns the largest error of joints
// (m, or m/s in the velocity stage). And their impulses and velocities back.
double rbContactStep_FindLinks(const rbJointSweep* joints, rbNewtonTask* task);
void rbContactStep_TakeLinks(const rbJointSweep* joints);
double rbContactStep_GetJointTolerance(const rbJointSweep* joints);
// Stops near enough to act in a step from the current poses, behind the contacts of shapes.
void rbStepLimits_Append(rbStepContacts* c);
// The same stops again, behind another set of contacts of shapes, from the copies of the node.
void rbStepLimits_PutBack(rbStepContacts* c);
// Stores the impulses of all contacts: of shapes in the pairs, of stops in the joints.
void rbStepLimits_Keep(rbStepContacts* c);
// The stops of the node: they depend on velocities that the step changed after it found them.
void rbStepLimits_Move(rbStepContacts* c, rbByteStream* stream);

// --------------------------------------------------------------------------- step_contact_stages.c
rbContactRun rbContactStep_MakeRun(rbStepContacts* c, const rbContactIsland* island, double h);
// Impulses of the start, from the velocities of bodies; miss collects what they leave over. First
// those of the flight; returns whether those that act are still to be found.
void rbContactStep_SolvePositions(rbStepContacts* c, const rbStepHost* host, double h,
                                  rbStepMiss* miss);
bool rbContactStep_SolveFlights(rbStepContacts* c, const rbStepHost* host, double h,
                                rbStepMiss* miss);
void rbContactStep_SolveActing(rbStepContacts* c, const rbStepHost* host, double h,
                               rbStepMiss* miss);
// Before collisions: the loads of points that these may part at once.
void rbContactStep_SettleLoads(rbStepContacts* c, const rbStepHost* host, double h,
                               rbStepMiss* miss);
bool rbContactStep_SolveCollisions(rbStepContacts* c, const rbStepHost* host, double h,
                                   rbStepMiss* miss);
void rbContactStep_SolveVelocities(rbStepContacts* c, const rbStepHost* host, double h,
                                   rbStepMiss* miss);
// Whether a value is above its tolerance.
bool rbContactStep_IsMissed(const rbStepContacts* c, const rbStepMiss* miss);
// The position stage of one island.
void rbContactStep_SolveIsland(rbStepContacts* c, const rbStepHost* host,
                               const rbContactIsland* island, double h, rbStepMiss* miss);
// Whether small steps have solved all of an island that had contacts at the start of the step. At
// its end islands differ: separate bodies may have met.
bool rbContactStep_IsQuick(const rbStepContacts* c, const rbContactIsland* island);

// ---------------------------------------------------------------------------- step_contact_ahead.c
// Marks contacts that cannot act: with h = 0 in the velocity stages, in which closed points take
// part; otherwise in a position stage. Returns whether the marks changed.
bool rbContactStep_MarkIdle(rbStepContacts* c, double h);
// The position stage, repeated where bodies would overlap at the end of the flight without a
// contact at the node.
void rbContactStep_SolveAhead(rbStepContacts* c, const rbStepHost* host, double h,
                              rbStepMiss* miss);
// The set of the node, saved before the stages of a step, and the same set again with its contacts
// and points as they were.
void rbContactStep_NoteNode(rbStepContacts* c);
void rbContactStep_RecallNode(rbStepContacts* c, const rbContact* contacts,
                              const rbContactPoint* points);

// ------------------------------------------------------------------------- step_contact_arrivals.c
// After the position stage islands in which points arrive keep their flights, and are solved again.
void rbContactStep_KeepFlights(rbStepContacts* c, double h);
void rbContactStep_SolveArrivals(rbStepContacts* c, const rbStepHost* host, double h,
                                 rbStepMiss* miss);
// Islands with arriving bodies fly with one velocity and continue with another.
void rbContactStep_TakeFlights(rbStepContacts* c);
void rbContactStep_ReturnSpeeds(rbStepContacts* c, const rbStepHost* host, double h);
// After collisions: bodies pay for what the flight lifted them. Removes from arrived mechanisms the
// velocity that the end of the step will add.
void rbContactStep_TakeLateKicks(rbStepContacts* c, double h);
void rbContactStep_NoteArrivals(rbStepContacts* c, const rbArrival* arrivals, int count, double h);
// Points of pairs that arrived collide, although the flight may have left them slightly open.
// isAgain: contacts were found again after collisions.
void rbContactStep_CloseArrivals(rbStepContacts* c, double h, bool isAgain);
// Whether a body that arrives bears a load, touches others or has joints, or arrives at an obstacle
// that turns.
bool rbContactStep_AreArrivalsBound(rbStepContacts* c);
// Bodies that meet alone, to their time of contact, ...
void rbContactStep_BeginMeetings(rbStepContacts* c, const rbStepHost* host, double h);
// ... and for the rest of the step, once they have collided; whether there are any.
bool rbContactStep_EndMeetings(rbStepContacts* c, const rbStepHost* host, double h);
// Those that then overlap another body, as the contacts of the end show; whether there are any.
bool rbContactStep_UndoMeetings(rbStepContacts* c, double h);

// ------------------------------------------------------------------------- step_contact_accounts.c
// Call before a stage. share: -1 where half of the forces has acted, 1 where it will, 0 where all
// has.
void rbContactStep_OpenAccounts(rbStepContacts* c, const rbStepHost* host, double time, double h,
                                double share);
// Call after it. isWhole: impulses of points are those of this stage only.
void rbContactStep_AccountForLasting(rbStepContacts* c, const rbContactIsland* island,
                                     bool isWhole);
// At the end of a step.
void rbContactStep_CloseAccounts(rbStepContacts* c);
// Works of an impulse at a point since then: of its normal part, of its friction, of moving
// obstacles.
typedef struct rbContactWorks {
    double normal;
    double friction;
    double motor;
} rbContactWorks;
// Work of obstacles that move on what touches them, by all impulses of the step.
double rbContactStep_GetObstacleWork(const rbStepContacts* c, const rbContact* contact);
rbContactWorks rbContactStep_GetWorks(const rbStepContacts* c, const rbContact* contact,
                                      const rbContactPoint* point, const double impulse[3]);
// Points that stopped without rebound in the velocity stage, for the journal.
void rbContactStep_ReportStops(rbStepContacts* c, const rbStepHost* host);
// Whether a moving obstacle or a conveyor may work on an island.
bool rbContactStep_HasMover(const rbStepContacts* c, const rbContactIsland* island);
// Collisions of an island, also for the host and the journal.
void rbContactStep_AccountForCollisions(rbStepContacts* c, const rbStepHost* host,
                                        const rbContactIsland* island,
                                        const rbCollisionsDone* done);
// Energy that contacts may give the bodies of an island in a step, J.
double rbContactStep_BoundGain(const rbStepContacts* c, const rbContactIsland* island, double h);
// Where they gave a free island more: takes the rest from the relative motion of its bodies.
// Momenta stay, and so does what holds at contacts: one factor makes relative velocities smaller.
void rbContactStep_TakeGain(rbStepContacts* c, const rbContactIsland* island, double h);
// Writes the states of the host; returns the energy of all bodies and springs in them, J.
double rbContactStep_WriteEnergy(rbStepContacts* c, const rbStepHost* host);
// J, kinetic energy of a body with the velocities that contacts show of it.
double rbContactStep_GetKinetic(const rbMechBody* body, const rbContactBody* shown);
// Sums by pair of shapes in a step, for the host: Begin, then Add after the position stage (start:
// the velocities before it), NoteArriving before collisions, Add
// around the velocity stage (sign -1 before it, 1 after it), and Report.
void rbContactStep_BeginTouches(rbStepContacts* c);
void rbContactStep_NoteArriving(rbStepContacts* c, const rbStepHost* host);
// A pair touched where A is not any more: moves the place relative to A.
void rbContactStep_MoveTouch(rbStepContacts* c, const rbStepHost* host, const int bodies[2],
                             rbVec3 way);
void rbContactStep_AddTouches(rbStepContacts* c, const rbStepHost* host, const rbContactBody* start,
                              double sign);
// Of those of an island, where a part of what they did in the step is taken back.
void rbContactStep_ScaleTouches(rbStepContacts* c, const rbContactIsland* island, double factor);
void rbContactStep_ReportTouches(rbStepContacts* c, const rbStepHost* host);

// ---------------------------------------------------------------------------------- step_contact.c
// Bodies as contacts see them, the contacts at their poses, and islands.
void rbStepContacts_Find(rbStepContacts* c);
void rbStepContacts_BuildGraph(rbStepContacts* c);
// Rows of the set for a step of size h; and islands and rows of that of the node.
void rbStepContacts_PrepareRows(rbStepContacts* c, double h);
void rbStepContacts_PrepareSet(rbStepContacts* c);
// Contacts at the node, ready for a step.
void rbStepContacts_MakeReady(rbStepContacts* c);
// Whether collisions made a body faster than the contact search assumed.
bool rbStepContacts_IsFasterThanReach(rbStepContacts* c);
void rbContactStep_ScaleImpulses(rbStepContacts* c, rbContact* contact, double scale);
// Impulses of the last step are a first guess, scaled by the forces that they represent.
void rbContactStep_ScaleGuess(rbStepContacts* c, double h);
// What the end of a step is like; and counts it.
void rbContactStep_MeasureEnd(const rbStepContacts* c, rbStepMiss* miss);
void rbContactStep_CountStep(rbStepContacts* c, const rbStepMiss* miss, bool isWhole);
bool rbContactStep_IsFinite(const rbStepContacts* c);

// ------------------------------------------------------------------------------------------ step.c
// A step of order 2, cut at the first contact within it; returns its length.
double rbContactStep_MakePlain(rbStepContacts* c, const rbStepHost* host, double h);
// Writes states at a time in the step from the node, of a shorter step that is not kept.
void rbContactStep_LookBetween(rbStepContacts* c, const rbStepHost* host, double time);
// The smallest gap of two bodies a time h after the node with their current velocities, of points
// that move apart by less than a speed, m/s; INFINITY: there is none.
double rbContactStep_MeasureGap(rbStepContacts* c, int bodyA, int bodyB, double h, double below);
// Whether a part of a step is to be followed by others: its end is not that of a step.
static inline bool rbContactStep_IsInner(const rbStepContacts* c)
{
    return c->parts.done + 1 < c->parts.count;
}

// ---------------------------------------------------------------------------- step_contact_order.c
// Whether steps are of a higher order than 2, where contacts allow it.
bool rbContactOrder_IsUsed(const rbStepContacts* c);
// One step from the node, not beyond the latest time; false: none was made.
bool rbContactOrder_Step(rbStepContacts* c, const rbStepHost* host, double longest, double latest);
// As rbStepContacts_Advance.
void rbContactOrder_Advance(rbStepContacts* c, const rbStepHost* host, double time);

// ----------------------------------------------------------------------------- step_contact_held.c
rbHeldSet* rbCreateHeldSet(void);
void rbDestroyHeldSet(rbHeldSet* held); // NULL is fine
// The points that touch at the node; false: not all of them can be held.
bool rbHeldStep_Collect(rbStepContacts* c);
// Before runs of steps of size h or more: whether gaps are closed in them.
void rbHeldStep_Plan(rbStepContacts* c, double h);
// One step of size h; false: the active set does not last, and the state is invalid.
bool rbHeldStep_Make(rbStepContacts* c, const rbStepHost* host, double h);
// s, before other points may touch.
double rbHeldStep_GetReach(const rbStepContacts* c);

// ----------------------------------------------------------------------------------- step_valid.c
// Whether the result of a stage of a step is what the next stage relies on: for debug checks.
// Values that are not finite pass, since a run that overflows is reported, not asserted.
// Contacts: bodies, points and tangents belong together.
bool rbStepValid_IsSet(const rbStepContacts* c);
// Impulses never pull. Cones are measured: step_measure.h.
bool rbStepValid_AreImpulses(const rbStepContacts* c);
// Bodies as contacts see them: masses are those of the engine, frozen and fixed bodies get nothing.
bool rbStepValid_AreBodies(const rbStepContacts* c);
// Islands share no body and no contact.
bool rbStepValid_AreIslands(const rbStepContacts* c);
// Flights and arrivals of a step of size h.
bool rbStepValid_IsFlight(const rbStepContacts* c, double h);
// Sums of the energy accounting are of the signs that their causes have.
bool rbStepValid_AreAccounts(const rbStepContacts* c);
