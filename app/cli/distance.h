// Shared by the files of `rattleback distance`: the verb and its options (distance.c), shapes on
// the command line (distance_shapes.c), the traversals of the laboratory (distance_laboratory.c),
// pair files (distance_file.c).
#pragma once

#include "cli/cli.h"

#include <rattleback/collision.h>
#include <rattleback/lab_distance.h>

// ------------------------------------------------------------------------------------------ shapes

// A shape as given and as interpreted.
typedef struct rbShapeWord {
    char letter;          // 'A' or 'B'
    const char* text;     // from the command line
    rbGeometry* geometry; // owned
} rbShapeWord;

// Reads both shapes; --as, --as-a and --as-b set the type of a mesh file. On a mistake prints a
// message and returns false, with nothing to free.
bool rbReadShapeWords(const rbArguments* arguments, rbShapeWord shapes[2]);
void rbFreeShapeWords(rbShapeWord shapes[2]);

// True for a path with an extension of a mesh file.
bool rbIsMeshPath(const char* text);

// True for polyhedra, meshes, soups and compounds with one of them.
bool rbHasTriangles(const rbGeometry* geometry);

// Describes a shape: as a line of text, as a JSON object.
void rbPrintShapeWord(const rbShapeWord* shape);
void rbJson_ShapeWord(rbJson* json, const rbShapeWord* shape);

// ----------------------------------------------------------------------------------------- methods

// The names of a table, for messages about unknown names.
typedef const char* rbNameFn(int index);

// The index of the name given to an option; *index is unchanged when the option was not given.
// Returns false for an unknown name, with a message that suggests the nearest name or lists all.
bool rbArguments_GetName(const rbArguments* arguments, const char* option, rbNameFn* nameFn,
                         int count, int* index);

// The method of the pair table named by an option, with the same rules. The traversals of the
// laboratory are refused: they require two meshes.
bool rbReadMethod(const rbArguments* arguments, const char* option, rbPairMethod* method);

// The maximum number of elementary tests, an integer; *budget is unchanged when none is given.
bool rbReadBudget(const rbArguments* arguments, double* budget);

// The poses of the two shapes. Results are in the frame of the poses: the frame of A if it has no
// pose.
typedef struct rbPosePair {
    rbTransform a, b;
    rbTransform transformBtoA;
    bool hasA; // a is not the identity
} rbPosePair;

// rattleback distance A B by a traversal over hierarchies of bounding volumes.
rbExit rbRunLaboratory(const rbArguments* arguments, const rbShapeWord shapes[2],
                       const rbPosePair* poses, rbTraversal traversal);

// ----------------------------------------------------------------------------------------- answers

// A full result, as text and as members of a JSON object.
void rbPrintSeparation(const rbSeparation* separation);
void rbJson_Separation(rbJson* json, const rbSeparation* separation);

// The parts of a result that all methods have.
void rbPrintDistance(double distance, double lower, double upper);
void rbPrintPoints(rbVec3 pointA, rbVec3 pointB);

// True when the iteration ended before its bounds were tight.
bool rbIsWide(const rbSeparation* separation);

// rattleback distance FILE. The input holds the method and the radii.
rbExit rbRunPairFile(const rbArguments* arguments, const rbSeparationInput* input);
