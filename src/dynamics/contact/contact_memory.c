// Data of a point kept from one step to the next: impulses and where it stuck (B-93).
//
// Points are matched by parts and feature name, or by distance where a name has vanished, so that
// flickering features lose no data.
//
// Slip is the relative motion of the two material points that touch, summed over the steps in which
// the point stuck. In one step the point of contact moves over A by the path a and over B by b, and
// the material of B moves over that of A by a - b: for a pushed block b = 0, for a rolling ball a =
// b. The end points of the paths are known in the frames of the bodies. The chord of an arc over
// which the normal turns by phi is shorter than the arc by sin(phi/2) / (phi/2); seen from the body
// halfway through its rotation it lies along the arc. So a rolling ball shows no slip except
// rounding, however far it rolls in a step (the difference of the two material points would be r
// (omega h)^3 / 6).
#include "dynamics/contact/contact_state.h"

#include <math.h>
#include <string.h>

// A point whose name has vanished matches one nearer than this fraction of the smaller body ...
#define NEAR_SIZE 0.02
// ... or than this many shells.
#define NEAR_SHELLS 10.0
// Above this sine of half a turn of the normal there is no arc.
#define ARC_MAX 0.5

typedef struct Recall {
    const rbContactFrame* old;
    rbContactFrame* now;
    rbPairSpan span; // contacts in the old frame
    double near;     // m
    uint32_t stamp;  // of this Find
    int pathFrom;    // contacts that the paths over both bodies are of
    int pathTo;
    rbMat3 paths[2];
} Recall;

// A point of the old frame.
typedef struct Memory {
    int contact;
    int point;
} Memory;

// The nearest unclaimed old point of the same parts, with the same name or, if names do not count,
// within reach.
static Memory findMemory(const Recall* recall, int contact, int point, bool byName)
{
    const rbFoundContact* parts = &recall->now->foundContacts.data[contact];
    const rbFoundPoint* found = &recall->now->foundPoints.data[point];
    double best = byName ? INFINITY : recall->near * recall->near;
    Memory memory = {-1, -1};
    for (int k = recall->span.first; k < recall->span.first + recall->span.count; ++k) {
        const rbFoundContact* oldParts = &recall->old->foundContacts.data[k];
        if (oldParts->childA != parts->childA || oldParts->childB != parts->childB ||
            rbDot(oldParts->normal, parts->normal) <= 0.0) {
            continue;
        }
        const rbContact* old = &recall->old->contacts.data[k];
        for (int j = old->firstPoint; j < old->firstPoint + old->pointCount; ++j) {
            const rbFoundPoint* candidate = &recall->old->foundPoints.data[j];
            if (candidate->claimStamp == recall->stamp ||
                (byName && candidate->featureId != found->featureId)) {
                continue;
            }
            // a block slides over one of the bodies, a wheel rolls over both
            double overA = rbLengthSquared(rbSub(found->localA, candidate->localA));
            double overB = rbLengthSquared(rbSub(found->localB, candidate->localB));
            double distance = fmin(overA, overB);
            if (distance < best) {
                best = distance;
                memory = (Memory){k, j};
            }
        }
    }
    return memory;
}

void rbContactPairs_FindMidways(void* context, rbShare share)
{
    const rbContactPairs* pairs = context;
    const rbContactFrame* kept = &pairs->frames[pairs->kept];
    for (int i = share.begin; i < share.end && i < kept->orientations.count; ++i) {
        rbNearBody* body = &pairs->bodies.data[i];
        rbQuat old = kept->orientations.data[i];
        rbQuat q = body->orientation;
        double sign = rbDotQuat(old, q) < 0.0 ? -1.0 : 1.0;
        rbQuat sum = {old.w + sign * q.w, old.x + sign * q.x, old.y + sign * q.y,
                      old.z + sign * q.z};
        body->midway = rbMatFromQuat(rbNormalizeQuat(sum));
    }
}

// (phi/2) / sin(phi/2) for the angle between two unit vectors: the series of asin(x) / x.
static double getArcFactor(rbVec3 a, rbVec3 b)
{
    double xx = 0.25 * rbLengthSquared(rbSub(a, b));
    if (xx > ARC_MAX * ARC_MAX) {
        return 1.0;
    }
    double sum = 231.0 / 13312.0;
    sum = 63.0 / 2816.0 + xx * sum;
    sum = 35.0 / 1152.0 + xx * sum;
    sum = 5.0 / 112.0 + xx * sum;
    sum = 3.0 / 40.0 + xx * sum;
    sum = 1.0 / 6.0 + xx * sum;
    return 1.0 + xx * sum;
}

// The maps from chords in the frames of the bodies to the paths over them, world axes.
static void findPaths(rbContactPairs* pairs, Recall* recall, int from, int to)
{
    if (recall->pathFrom == from && recall->pathTo == to) {
        return;
    }
    rbVec3 was = recall->old->foundContacts.data[from].normal;
    const rbContact* contact = &recall->now->contacts.data[to];
    RB_ASSERT(contact->bodyA >= 0 && contact->bodyB < recall->old->orientations.count);
    const int bodies[2] = {contact->bodyA, contact->bodyB};
    for (int i = 0; i < 2; ++i) {
        const rbNearBody* body = &pairs->bodies.data[bodies[i]];
        rbQuat old = recall->old->orientations.data[bodies[i]];
        double factor =
            getArcFactor(rbInvRotate(old, was), rbMulMtV(body->rotation, contact->normal));
        recall->paths[i] =
            (rbMat3){rbScale(factor, body->midway.cx), rbScale(factor, body->midway.cy),
                     rbScale(factor, body->midway.cz)};
    }
    recall->pathFrom = from;
    recall->pathTo = to;
}

static void recallSlip(rbContactPairs* pairs, Recall* recall, int contactIndex, int pointIndex,
                       Memory memory)
{
    rbContactPoint* point = &recall->now->points.data[pointIndex];
    const rbContact* contact = &recall->now->contacts.data[contactIndex];
    const rbFoundContact* oldContact = &recall->old->foundContacts.data[memory.contact];
    const rbFoundPoint* was = &recall->old->foundPoints.data[memory.point];
    const rbFoundPoint* is = &recall->now->foundPoints.data[pointIndex];
    const rbContactPoint* kept = &recall->old->points.data[memory.point];
    findPaths(pairs, recall, memory.contact, contactIndex);
    rbVec3 overA = rbMulMV(recall->paths[0], rbSub(is->localA, was->localA));
    rbVec3 overB = rbMulMV(recall->paths[1], rbSub(is->localB, was->localB));
    rbVec3 slip = rbSub(overA, overB);
    slip = rbAddScaled(slip, kept->slip[0], oldContact->tangents[0]);
    slip = rbAddScaled(slip, kept->slip[1], oldContact->tangents[1]);
    double slips[2] = {rbDot(slip, contact->tangents[0]), rbDot(slip, contact->tangents[1])};
    // nothing slips this far in a step: it was placed there, or is another point of the same name
    if (slips[0] * slips[0] + slips[1] * slips[1] <= recall->near * recall->near) {
        point->slip[0] = slips[0];
        point->slip[1] = slips[1];
    }
}

// Along the current tangents, from along the old ones.
static void turnTangential(const rbFoundContact* old, const rbContact* contact, const double* from,
                           double* to)
{
    rbVec3 v = rbAddScaled(rbScale(from[0], old->tangents[0]), from[1], old->tangents[1]);
    to[0] = rbDot(v, contact->tangents[0]);
    to[1] = rbDot(v, contact->tangents[1]);
}

static void take(rbContactPairs* pairs, Recall* recall, int contactIndex, int pointIndex,
                 Memory memory)
{
    rbContact* contact = &recall->now->contacts.data[contactIndex];
    rbContactPoint* point = &recall->now->points.data[pointIndex];
    const rbFoundContact* oldContact = &recall->old->foundContacts.data[memory.contact];
    const rbContactPoint* kept = &recall->old->points.data[memory.point];
    rbFoundPoint* was = &recall->old->foundPoints.data[memory.point];
    rbFoundPoint* is = &recall->now->foundPoints.data[pointIndex];
    was->claimStamp = recall->stamp;
    is->claimStamp = recall->stamp;
    point->movedSquared = fmax(rbLengthSquared(rbSub(is->localA, was->localA)),
                               rbLengthSquared(rbSub(is->localB, was->localB)));
    point->impulse[0] = kept->impulse[0];
    point->wasBearing = kept->impulse[0] > 0.0;
    const double* passing = kept->passing;
    point->passing[0] = passing[0];
    // Without friction (anymore) no sweep would remove it.
    bool isRough = contact->friction > 0.0 || contact->stiction > 0.0;
    if (isRough) {
        turnTangential(oldContact, contact, &kept->impulse[1], &point->impulse[1]);
        if (passing[1] != 0.0 || passing[2] != 0.0) { // never in small steps
            turnTangential(oldContact, contact, &passing[1], &point->passing[1]);
        }
    }
    point->isSticking = isRough && kept->isSticking;
    if (point->isSticking && !contact->hasBelt) { // on a belt it holds only a velocity
        recallSlip(pairs, recall, contactIndex, pointIndex, memory);
    }
    if (contact->rolling > 0.0 || contact->spinning > 0.0) {
        const double* turning = recall->old->contacts.data[memory.contact].turning;
        turnTangential(oldContact, contact, turning, contact->turning);
        contact->turning[2] = turning[2];
    }
}

// source: the old contact whose points these are, in their order; -1: they are matched.
static void recallPoints(rbContactPairs* pairs, Recall* recall, int contactIndex, int source,
                         bool byName)
{
    const rbContact* contact = &recall->now->contacts.data[contactIndex];
    for (int i = contact->firstPoint; i < contact->firstPoint + contact->pointCount; ++i) {
        if (recall->now->foundPoints.data[i].claimStamp == recall->stamp) {
            continue; // it has its memory
        }
        Memory memory = {source, -1};
        if (source >= 0) {
            int first = recall->old->contacts.data[source].firstPoint;
            memory.point = first + i - contact->firstPoint;
        } else {
            memory = findMemory(recall, contactIndex, i, byName);
        }
        RB_ASSERT(memory.point < recall->old->points.count);
        if (memory.point >= 0) {
            take(pairs, recall, contactIndex, i, memory);
        }
    }
}

void rbContactPairs_Recall(rbContactPairs* pairs, rbPairOrder pair, int firstContact,
                           int contactCount, const int* sources)
{
    if (pairs->kept < 0) {
        return;
    }
    const rbContactFrame* old = &pairs->frames[pairs->kept];
    rbPairSpan span = pairs->spans.data[pair.slot].frames[pairs->kept];
    if (span.stamp != old->stamp) {
        return; // nothing was kept of this pair
    }
    RB_ASSERT(pairs->kept != pairs->current);
    double size = fmin(pairs->hots.data[pair.a].radius, pairs->hots.data[pair.b].radius);
    Recall recall = {
        .old = old,
        .now = &pairs->frames[pairs->current],
        .span = span,
        .near = fmax(NEAR_SIZE * size, NEAR_SHELLS * pairs->settings.shell),
        .stamp = pairs->search.stamp,
        .pathFrom = -1,
    };
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < contactCount; ++i) {
            int source = sources != NULL ? sources[i] : -1;
            recallPoints(pairs, &recall, firstContact + i, source, pass == 0);
        }
    }
}

void rbContactPairs_Keep(rbContactPairs* pairs)
{
    pairs->kept = pairs->current;
}
