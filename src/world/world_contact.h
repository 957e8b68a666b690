// How a world and the contacts of its step engine meet.
#ifndef RB_WORLD_WORLD_CONTACT_H
#define RB_WORLD_WORLD_CONTACT_H

#include "world/world_engine.h"

// The settings, and whether the others allow contacts.
rbStatus rbCheckContacts(const rbWorldDef* def, rbError* error);
// Tells the step engine of shapes, pairs of materials and bodies that do not meet; nothing if
// contacts are off.
rbStatus rbWorld_RegisterContacts(rbWorld* world, rbError* error);
// Makes room for all views of contacts, so that reading them allocates nothing.
void rbWorld_ReserveContacts(rbWorld* world);
// The sentence of contacts that were not held to their tolerance before a time; false: they were.
bool rbWorld_NameContactMiss(const rbWorld* world, double time, rbError* error);

#endif
