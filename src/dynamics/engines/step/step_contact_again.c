// Flights that are solved again, see step_contact_ahead.c: most islands have the same contacts as
// in the last look and would get the same solution, to the bit. They keep it.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

static bool areSame(const void* a, const void* b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

void rbFlightMemory_Free(rbFlightMemory* memory)
{
    for (int i = 0; i < 2; ++i) {
        rbFlightLook* look = &memory->looks[i];
        rbArray_Free(look->bodies);
        rbArray_Free(look->contacts);
        rbArray_Free(look->points);
        rbArray_Free(look->foundBodies);
        rbArray_Free(look->foundContacts);
        rbArray_Free(look->foundPoints);
        rbArray_Free(look->order);
        rbArray_Free(look->islands);
        rbArray_Free(look->places1);
    }
}

void rbContactStep_BeginLook(rbStepContacts* c)
{
    rbFlightMemory* memory = &c->flight.memory;
    if (!memory->isUsed) {
        return;
    }
    rbFlightLook* look = &memory->looks[memory->current];
    const rbFlightLook* last = &memory->looks[1 - memory->current];
    look->order.count = 0;
    look->islands.count = 0;
    rbArray_Assign(look->bodies, c->bodies.data, c->bodies.count);
    rbArray_Assign(look->contacts, c->set.contacts, c->set.contactCount);
    rbArray_Assign(look->points, c->set.points, c->set.pointCount);
    rbArray_Reserve(look->places1, c->bodies.count);
    look->places1.count = c->bodies.count;
    memset(look->places1.data, 0, (size_t)c->bodies.count * sizeof *look->places1.data);
    memory->hasLast = memory->hasLast && last->bodies.count == look->bodies.count &&
                      areSame(last->bodies.data, look->bodies.data,
                              (size_t)look->bodies.count * sizeof *look->bodies.data);
}

void rbContactStep_EndLook(rbStepContacts* c)
{
    rbFlightMemory* memory = &c->flight.memory;
    if (!memory->isUsed) {
        return;
    }
    rbFlightLook* look = &memory->looks[memory->current];
    RB_ASSERT(look->bodies.count == c->bodies.count);
    RB_ASSERT(look->points.count == c->set.pointCount);
    RB_ASSERT(look->contacts.count == c->set.contactCount);
    rbArray_Assign(look->foundBodies, c->bodies.data, c->bodies.count);
    rbArray_Assign(look->foundContacts, c->set.contacts, c->set.contactCount);
    rbArray_Assign(look->foundPoints, c->set.points, c->set.pointCount);
    memory->current = 1 - memory->current;
    memory->hasLast = true;
}

// Contacts with all that stages read of them; their places in the set may differ.
static bool isSameContact(const rbFlightLook* last, int before, const rbFlightLook* look, int now)
{
    rbContact contact = last->contacts.data[before];
    int first = contact.firstPoint;
    contact.firstPoint = look->contacts.data[now].firstPoint;
    if (!areSame(&contact, &look->contacts.data[now], sizeof contact)) {
        return false;
    }
    bool isSame = true;
    for (int k = 0; k < contact.pointCount && isSame; ++k) {
        rbContactPoint point = last->points.data[first + k];
        const rbContactPoint* other = &look->points.data[contact.firstPoint + k];
        point.key = other->key;
        isSame = areSame(&point, other, sizeof point);
    }
    return isSame;
}

// Contacts of an island are in the order of its sweeps, which matters.
static const rbIslandFlight* findSame(const rbFlightMemory* memory, const rbContactIsland* island)
{
    const rbFlightLook* look = &memory->looks[memory->current];
    const rbFlightLook* last = &memory->looks[1 - memory->current];
    bool isKnown = memory->hasLast && island->bodyCount > 0;
    int place = isKnown ? last->places1.data[island->bodies[0]] - 1 : -1;
    RB_ASSERT(place < last->islands.count);
    const rbIslandFlight* flight = place >= 0 ? &last->islands.data[place] : NULL;
    if (flight == NULL || flight->contactCount != island->contactCount) {
        return NULL;
    }
    for (int i = 0; i < island->contactCount; ++i) {
        if (!isSameContact(last, last->order.data[flight->first + i], look, island->contacts[i])) {
            return NULL;
        }
    }
    return flight;
}

static void takeFound(rbStepContacts* c, const rbIslandFlight* flight,
                      const rbContactIsland* island)
{
    const rbFlightLook* last = &c->flight.memory.looks[1 - c->flight.memory.current];
    for (int i = 0; i < island->bodyCount; ++i) {
        c->bodies.data[island->bodies[i]] = last->foundBodies.data[island->bodies[i]];
    }
    for (int i = 0; i < island->contactCount; ++i) {
        const rbContact* found = &last->foundContacts.data[last->order.data[flight->first + i]];
        rbContact* contact = &c->set.contacts[island->contacts[i]];
        int first = contact->firstPoint;
        RB_ASSERT(contact->bodyA == found->bodyA && contact->bodyB == found->bodyB);
        *contact = *found;
        contact->firstPoint = first;
        for (int k = 0; k < contact->pointCount; ++k) {
            rbContactPoint* point = &c->set.points[first + k];
            int key = point->key;
            *point = last->foundPoints.data[found->firstPoint + k];
            point->key = key;
        }
    }
}

bool rbContactStep_RecallFlight(rbStepContacts* c, const rbContactIsland* island, rbStepMiss* miss)
{
    const rbIslandFlight* flight =
        c->flight.memory.isUsed ? findSame(&c->flight.memory, island) : NULL;
    if (flight == NULL) {
        return false;
    }
    takeFound(c, flight, island);
    rbIslandFlight same = *flight;
    c->statistics.limitedFlights += same.limited;
    rbContactStep_NoteFlight(c, island, &same, miss);
    return true;
}

void rbContactStep_NoteFlight(rbStepContacts* c, const rbContactIsland* island,
                              const rbIslandFlight* flight, rbStepMiss* miss)
{
    miss->gap = fmax(miss->gap, flight->miss.gap);
    miss->joint = fmax(miss->joint, flight->miss.joint);
    if (!c->flight.memory.isUsed || island->bodyCount == 0) {
        return;
    }
    rbFlightLook* look = &c->flight.memory.looks[c->flight.memory.current];
    rbIslandFlight own = *flight;
    own.first = look->order.count;
    own.contactCount = island->contactCount;
    for (int i = 0; i < island->contactCount; ++i) {
        rbArray_Push(look->order, island->contacts[i]);
    }
    rbArray_Push(look->islands, own);
    look->places1.data[island->bodies[0]] = look->islands.count;
}
