// The contacts of a step as words of a certificate: in the axes of their first body, on grids, with
// forces that stay in their cones. A contact keeps its number while it lasts, so that its words are
// predicted from those before. The code is in docs/certificate.md, "Contacts".
#pragma once

#include <rattleback/world.h>

#define RB_CONTACT_WORDS 12

typedef struct rbContactCoder rbContactCoder;

// tolerance: m, of contacts; the grid of points is a part of it.
rbContactCoder* rbCreateContactCoder(double tolerance);
void rbDestroyContactCoder(rbContactCoder* coder);
// Adds a contact of the step, with the states of its bodies at the end. pair: word of the bodies.
void rbContactCoder_Add(rbContactCoder* coder, uint64_t pair, const rbContactView* view,
                        const rbBodyState states[2]);
// The words of the contacts that were added, RB_CONTACT_WORDS each; then the next step begins.
// Contacts whose force is below the grid are left out.
const uint64_t* rbContactCoder_Take(rbContactCoder* coder, int* wordCount);
