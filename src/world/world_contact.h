// Interface between a world and the contacts of its step engine.
#ifndef RB_WORLD_WORLD_CONTACT_H
#define RB_WORLD_WORLD_CONTACT_H

#include "world/world_engine.h"

// Validates the contact settings by themselves.
rbStatus rbCheckContacts(const rbWorldDef* def, rbError* error);
// The settings for the step engine: contacts are on only where two bodies can collide, so that a
// world without such bodies runs as if they were off. Validates that the other settings allow them.
rbStatus rbWorld_PrepareContacts(const rbWorld* world, rbContactSettings* settings, rbError* error);
// Registers shapes, material pairs and bodies that do not collide with the step engine; does
// nothing if nothing can collide.
rbStatus rbWorld_RegisterContacts(rbWorld* world, rbError* error);
// Reserves memory for all contact views, so that reading them allocates nothing.
void rbWorld_ReserveContacts(rbWorld* world);
// The message for contacts that missed their tolerance before a time; false: none did.
bool rbWorld_NameContactMiss(const rbWorld* world, double time, rbError* error);

#endif
