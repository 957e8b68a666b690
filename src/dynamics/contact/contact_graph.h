// The contact graph: islands, levels above what stands still, and bodies at rest (B-73, B-94).
#pragma once

#include "dynamics/contact/contact.h"

typedef struct rbContactGraph rbContactGraph;

// Contacts of one island, ordered by level (a contact belongs to the higher level of its bodies),
// then as in the set. Bodies that impulses do not move (no inverse mass and inertia; frozen ones
// still have them) join no islands. A contact of two such bodies, or an idle one, has level 0 and
// is in no island.
typedef struct rbContactIsland {
    const int* contacts; // never NULL
    int contactCount;    // 0: joined by links only
    const int* bodies;   // ascending
    int bodyCount;
    bool isGrounded; // touches or is linked to an immovable body
} rbContactIsland;

rbContactGraph* rbCreateContactGraph(void);
void rbDestroyContactGraph(rbContactGraph* graph); // NULL is fine

// Links join bodies in addition to contacts (joints, springs): pairs of body indices, -1: the
// world. Both kinds are edges of the graph. Writes contact->level: breadth-first distance of the
// higher body from immovable bodies and what touches them (level 0). Islands that touch no such
// body start at bodies linked to one, the others at their smallest body with 0. The cost grows with
// contacts and links, not with bodyCount (except at the first call with more bodies than ever).
// Allocates only when there is more than ever. Returns the number of islands, in the order of their
// smallest body.
int rbContactGraph_Build(rbContactGraph* graph, rbContactSet* set, const rbContactBody* bodies,
                         int bodyCount, const int (*links)[2], int linkCount);
rbContactIsland rbContactGraph_GetIsland(const rbContactGraph* graph, int index);
int rbContactGraph_FindIsland(const rbContactGraph* graph, int body); // -1: touches nothing
