// What the files of `rattleback distance` share: the verb and its options (distance.c), shapes on
// the command line (distance_shapes.c), the traversals of the laboratory (distance_laboratory.c),
// files of pairs (distance_file.c).
#ifndef RB_CLI_DISTANCE_H
#define RB_CLI_DISTANCE_H

#include "cli/cli.h"

#include <rattleback/collision.h>
#include <rattleback/lab_distance.h>

// ------------------------------------------------------------------------------------------ shapes

// A shape as given and as it was understood.
typedef struct rbShapeWord {
    char letter;          // 'A' or 'B'
    const char* text;     // of the command line
    rbGeometry* geometry; // to be destroyed
} rbShapeWord;

// Reads both shapes; --as, --as-a and --as-b say what a mesh file is meant as. On a mistake prints
// a sentence and returns false, with nothing to be freed.
bool rbReadShapeWords(const rbArguments* arguments, rbShapeWord shapes[2]);
void rbFreeShapeWords(rbShapeWord shapes[2]);

// True for a path with an extension of a mesh file.
bool rbIsMeshPath(const char* text);

// True for polyhedra, meshes, soups and compounds with one of them.
bool rbHasTriangles(const rbGeometry* geometry);

// What a shape is: a line of text, an object of JSON.
void rbPrintShapeWord(const rbShapeWord* shape);
void rbJson_ShapeWord(rbJson* json, const rbShapeWord* shape);

// ----------------------------------------------------------------------------------------- methods

// The names of a table of known words, for sentences about unknown ones.
typedef const char* rbNameFn(int index);

// The index of the name that an option has as its value; *index stays when it was not given. false,
// with a sentence that has the nearest known name or all of them, when it is unknown.
bool rbArguments_GetName(const rbArguments* arguments, const char* option, rbNameFn* nameFn,
                         int count, int* index);

// The method of the pair table that an option names, with the same rules. The traversals of the
// laboratory are refused: they take two meshes.
bool rbReadMethod(const rbArguments* arguments, const char* option, rbPairMethod* method);

// The most elementary tests, a whole number; *budget stays when none is given.
bool rbReadBudget(const rbArguments* arguments, double* budget);

// Where the two shapes are. Answers are in the frame of the poses: that of A if it has none.
typedef struct rbPosePair {
    rbTransform a, b;
    rbTransform transformBtoA;
    bool hasA; // a is not the identity
} rbPosePair;

// rattleback distance A B by a traversal over hierarchies of bounding volumes.
rbExit rbRunLaboratory(const rbArguments* arguments, const rbShapeWord shapes[2],
                       const rbPosePair* poses, rbTraversal traversal);

// ----------------------------------------------------------------------------------------- answers

// An answer in full, as text and as members of a JSON object.
void rbPrintSeparation(const rbSeparation* separation);
void rbJson_Separation(rbJson* json, const rbSeparation* separation);

// The parts of an answer that all methods have.
void rbPrintDistance(double distance, double lower, double upper);
void rbPrintPoints(rbVec3 pointA, rbVec3 pointB);

// True when the iteration ended before its bounds were narrow.
bool rbIsWide(const rbSeparation* separation);

// rattleback distance FILE. The input holds method and radii.
rbExit rbRunPairFile(const rbArguments* arguments, const rbSeparationInput* input);

#endif
