// Who touches whom: islands, levels above what stands still, and bodies at rest (B-73, B-94).
#ifndef RB_CONTACT_CONTACT_GRAPH_H
#define RB_CONTACT_CONTACT_GRAPH_H

#include "dynamics/contact/contact.h"

typedef struct rbContactGraph rbContactGraph;

// Contacts of one island, ordered by level (a contact belongs to the higher level of its bodies),
// then as in the set. Bodies that impulses do not move (no inverse mass and inertia; frozen ones
// have them still) join no islands; a contact of two of these, or an idle one, has level 0 and is
// in none.
typedef struct rbContactIsland {
    const int* contacts; // never NULL
    int contactCount;    // 0: joined by links only
    const int* bodies;   // ascending
    int bodyCount;
    int levelCount;  // its contacts have levels 1 .. levelCount
    bool isGrounded; // touches or is linked to what nothing moves
} rbContactIsland;

rbContactGraph* rbCreateContactGraph(void);
void rbDestroyContactGraph(rbContactGraph* graph); // NULL is fine

// Links join bodies beside contacts (joints, springs): pairs of body indices, -1: the world. Both
// kinds are edges of the graph. Writes contact->level: breadth-first distance of the higher body
// from what nothing moves and what touches it (level 0); islands that touch nothing of the kind
// start at what is linked to it, the others at their least body with 0. Cost grows with contacts
// and links, not with bodyCount (but at the first call with more bodies than ever). Allocates only
// when there is more than ever. Returns the number of islands, in the order of their least body.
int rbContactGraph_Build(rbContactGraph* graph, rbContactSet* set, const rbContactBody* bodies,
                         int bodyCount, const int (*links)[2], int linkCount);
rbContactIsland rbContactGraph_GetIsland(const rbContactGraph* graph, int index);
int rbContactGraph_FindIsland(const rbContactGraph* graph, int body); // -1: touches nothing

#endif
