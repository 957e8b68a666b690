// Shapes as text: "box:1,2,3", "sphere:0.5", "hull:rock". One table for the command line, for files
// of pairs and for their writer.
//
// The numbers are those of a scene: edge lengths of a box, lengths of rods without their caps.
// Numbers taken from a geometry and written with 17 digits give the same geometry again, bit for
// bit.
#pragma once

#include <rattleback/shape.h>

// Supplies the shape behind "hull:NAME", "polyhedron:NAME", "mesh:NAME", "soup:NAME" or
// "compound:NAME", to be destroyed by the caller; NULL and an error if there is none.
typedef rbGeometry* rbNamedShapeFn(rbShapeType type, const char* name, void* context,
                                   rbError* error);

// The shape of a text of length characters; the caller destroys it. On failure NULL and a message
// with the text, the value and what is accepted. Only nameFn returns the status NOT_FOUND.
rbGeometry* rbMakeShapeOfWords(const char* text, size_t length, rbNamedShapeFn* nameFn,
                               void* context, rbError* error);

// The numbers after the name of the type; returns how many. 0 for types that have a name instead or
// cannot be written as text.
int rbGetShapeNumbers(const rbGeometry* geometry, double numbers[RB_PARAMETERS_MAX]);

// A compound whose parts keep the bits of their orientations if these have unit length to rounding.
// rbCreateCompound alone normalizes once more, which may change the last bit.
rbGeometry* rbMakeExactCompound(const rbCompoundChild* children, int count, rbError* error);
