// Near pairs: predicting and measuring them, and their contact points.
#pragma once

#include "dynamics/engines/event/event_state.h"

#include <rattleback/collision.h>

// A contact point of a pair in the world.
typedef struct rbEventContact {
    rbVec3 point; // near a
    rbVec3 normal;
    double distance;
    int childA, childB;
    bool isSampled; // declared by a sampling detector
} rbEventContact;

#define RB_EVENT_CONTACTS_MAX 32
// The points of a pair: those that touch first, then those that nearly do.
typedef struct rbEventContacts {
    rbEventContact points[RB_EVENT_CONTACTS_MAX];
    int touching, count;
} rbEventContacts;

// Distance of a pair at a time; poses are those of the geometries.
typedef struct rbEventMeasure {
    rbMotionState states[2];
    rbTransform poses[2];    // of the geometries in the world, b shifted by its image
    rbSeparation separation; // in the frame of a's geometry
    rbVec3 normal;           // world
    double distance;
} rbEventMeasure;

// A collision being resolved.
typedef struct rbEventResolution {
    int pair;
    double time;
    double tolerance;
    double growth; // m/s, of both together
    double pull;   // m/s^2, acceleration that drives the contact together
    rbImpactBody bodies[2];
    double fastest;    // m/s, of all approaches resolved
    bool isHandedOver; // the contact has just become lasting
    bool isDisturbed;  // one of the two collided with another body since they last did
} rbEventResolution;

// Sets the time of a pair from the flights valid at a time, without measuring.
void rbEventEngine_PredictPair(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time);
// The same for the new pairs of a body whose region was renewed, and its entry.
void rbEventEngine_PredictNew(rbEventEngine* engine, const rbEventHost* host, int index,
                              double time);
// Predicts all pairs of a body whose flight changed, and its entry.
void rbEventEngine_PredictBody(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time);
// The earliest of expiry and pairs becomes the body's entry in the heap.
void rbEventEngine_UpdateEntry(rbEventEngine* engine, int index);
// The points at which a pair touches at a time; false if it does not.
bool rbEventEngine_FindTouching(rbEventEngine* engine, const rbEventHost* host, int index,
                                double time, rbEventContacts* contacts);
// Measures a general pair.
void rbEventEngine_Measure(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           rbEventMeasure* measure);
// Schedules the next check of a measured pair that does not collide now.
// leaving: m/s, how fast the touching points separate along the normal.
void rbEventEngine_Schedule(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                            const rbEventMeasure* measure, double leaving);
// The contact of an exact pair, touching or not.
rbEventContact rbEventEngine_GetExactContact(const rbEventEngine* engine, const rbEventPair* pair,
                                             double time);
// Whether a measured pair touches: within the tolerance, or not proven to be outside the range
// where contact is sought.
bool rbEventEngine_IsTouching(const rbEventEngine* engine, const rbEventMeasure* measure);
// The contact points of a measured pair; false: it does not touch, the nearest points are listed.
bool rbEventEngine_ListContacts(rbEventEngine* engine, const rbEventHost* host, int index,
                                double time, const rbEventMeasure* measure,
                                rbEventContacts* contacts);

// The bodies of a pair as a collision sees them, in given states.
rbEventResolution rbEventEngine_BeginResolution(rbEventEngine* engine, const rbEventHost* host,
                                                int index, double time,
                                                const rbMotionState states[2]);
// How fast a contact point approaches, including growth, m/s.
double rbEventResolution_ApproachAt(const rbEventResolution* r, const rbEventContact* contact);
// The contact point that approaches fastest, and its speed; -1 if none stands out.
int rbEventResolution_FindFastest(const rbEventResolution* r, const rbEventContact* contacts,
                                  int count, double rest, double* speed);
// The separation speed of the slowest touching point, m/s.
double rbEventEngine_LeavingSpeed(rbEventEngine* engine, const rbEventHost* host, int index,
                                  const rbMotionState states[2], const rbEventContacts* contacts);
