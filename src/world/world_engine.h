// The engines of a world as rows of a table, and what they have in common.
#ifndef RB_WORLD_WORLD_ENGINE_H
#define RB_WORLD_WORLD_ENGINE_H

#include "world/world_state.h"

// Work by cause that an engine counted; part of a snapshot.
typedef struct rbEngineAccounts {
    rbEventWork event;
    rbStepWork step;
    double assemble; // J
} rbEngineAccounts;

// What an engine that holds joints and springs does with them, by index. All are there, and are
// called only while the engine exists.
typedef struct rbEngineJoints {
    void (*removeJoint)(rbWorld* world, int index);
    void (*removeSpring)(rbWorld* world, int index);
    void (*resetMotor)(rbWorld* world, int index, int freedom);
    // Of an engine that is ready:
    rbStepJointResult (*getJoint)(const rbWorld* world, int index);
    double (*getNodeGap)(const rbWorld* world, int index);                  // m and rad
    double (*getSpringForce)(const rbWorld* world, int index);              // N
    double (*getFreedomMass)(const rbWorld* world, int index, int freedom); // kg or kg m^2
    int (*countRedundant)(const rbWorld* world);
} rbEngineJoints;

// What an engine with lasting contacts says about them. Called only while the engine exists.
typedef struct rbEngineContacts {
    bool (*hasContacts)(const rbWorld* world);
    rbContactStatistics (*getStatistics)(const rbWorld* world);
    // Fills up to capacity views, of an engine that is ready; returns how many there are.
    int (*getViews)(const rbWorld* world, rbContactView* views, int capacity);
} rbEngineContacts;

// An engine: all that a world knows of it. world->engine is its own. Functions that are NULL have
// nothing to do.
typedef struct rbEngineRow {
    const char* name;
    rbEngineTraits traits;            // holdsJoints is that of joints below
    const rbEngineJoints* joints;     // NULL: it holds neither joints nor springs
    const rbEngineContacts* contacts; // NULL: it has no lasting contacts
    // Tells the engine of everything and starts it at the world's time.
    rbStatus (*start)(rbWorld* world, rbError* error);
    // From the world's time to another; *reached is where it came to.
    rbStatus (*advance)(rbWorld* world, double time, double* reached, rbBodyId* failedBody);
    // The engine is ready no longer: what only it knows is put down.
    void (*leave)(rbWorld* world);
    // Frees world->engine.
    void (*destroy)(rbWorld* world);
    // Parameters were restored: what the engine derived from them goes.
    void (*reset)(rbWorld* world);
    // Adds the work that the engine counts.
    void (*addWork)(const rbWorld* world, rbEngineAccounts* books);
    bool (*isResting)(const rbWorld* world, int index);
    void (*enableJournal)(rbWorld* world, bool isOn);
    size_t (*getSnapshotSize)(const rbWorld* world);
    void (*takeSnapshot)(const rbWorld* world, void* bytes);
    // False: the bytes do not fit, and the engine must start anew.
    bool (*restoreSnapshot)(rbWorld* world, const void* bytes, size_t size);
    // A snapshot without the engine, or one that does not fit, was restored.
    void (*startAnew)(rbWorld* world, const rbEngineAccounts* books);
} rbEngineRow;

const rbEngineRow* rbWorld_GetEngineRow(const rbWorld* world);
// NULL if the engine does not exist yet, or holds none; ready: NULL also if it is not ready.
const rbEngineJoints* rbWorld_GetEngineJoints(const rbWorld* world);
const rbEngineJoints* rbWorld_GetReadyJoints(const rbWorld* world);
extern const rbEngineRow rbEventEngineRow;
extern const rbEngineRow rbStepEngineRow;

void rbWorld_FreeEngine(rbWorld* world);
// The engine starts from nothing that it knew; the bytes of a snapshot follow.
void rbWorld_ResetEngine(rbWorld* world);
// Moves the engine up to a time; *reached is where it came to.
rbStatus rbWorld_AdvanceEngine(rbWorld* world, double time, double* reached, rbBodyId* failedBody);
rbEngineAccounts rbWorld_GetAccounts(const rbWorld* world);
// After a snapshot was restored: the event engine's part is restored by the engine itself.
void rbWorld_SetAccounts(rbWorld* world, const rbEngineAccounts* books);

// The shapes of a body as one geometry for an engine (NULL: it has none) in its principal frame;
// materials: one a shape. UNSUPPORTED when a dynamic body has a plane.
rbStatus rbWorld_MergeShapes(rbWorld* world, int index, const rbGeometry** geometry,
                             rbTransform* transform, rbMaterial* materials, rbError* error);
void rbWorld_FreeMerged(rbWorld* world);
// The sentence of bodies that overlap at the start; section: of a scene, where that is allowed.
rbStatus rbWorld_NameOverlap(const rbWorld* world, const rbStartOverlap* overlap,
                             const char* section, rbError* error);

// The name of a body for people, also of one without.
const char* rbWorld_LabelBody(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);

#endif
