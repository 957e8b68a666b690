// The engines of a world as rows of a table, and what they have in common.
#pragma once

#include "base/core/byte_stream.h"
#include "world/world_state.h"

// Work by cause, as counted by an engine; part of a snapshot.
typedef struct rbEngineAccounts {
    rbEventWork event;
    rbStepWork step;
    double assemble; // J
} rbEngineAccounts;

// An engine: all that a world knows of it. world->engine is its own data. A NULL function has
// nothing to do.
typedef struct rbEngineRow {
    const char* name;
    rbEngineTraits traits;
    // Registers everything with the engine and starts it at the world's time.
    rbStatus (*start)(rbWorld* world, rbError* error);
    // Advances from the world's time to another; *reached is the time reached.
    rbStatus (*advance)(rbWorld* world, double time, double* reached, rbBodyId* failedBody);
    // The engine is about to lose its state: saves what only it knows.
    void (*leave)(rbWorld* world);
    // Frees world->engine.
    void (*destroy)(rbWorld* world);
    // Parameters were restored: discards what the engine derived from them.
    void (*reset)(rbWorld* world);
    // Adds the work that the engine counts.
    void (*addWork)(const rbWorld* world, rbEngineAccounts* accounts);
    bool (*isResting)(const rbWorld* world, int index);
    // Moves the state of the engine, which is ready, through a stream.
    void (*move)(rbWorld* world, rbByteStream* stream);
    // Makes the engine ready to load bytes of this size. False: they do not match, and it must
    // start anew.
    bool (*prepareLoad)(rbWorld* world, size_t size);
    // Called after restoring a snapshot without the engine, or one that does not match.
    void (*startAnew)(rbWorld* world, const rbEngineAccounts* accounts);
} rbEngineRow;

// The functions that both engines have, under the same names in their files.
#define RB_ENGINE_FUNCTIONS                                                                       \
    .start = startEngine, .advance = advanceEngine, .destroy = destroyEngine, .addWork = addWork, \
    .isResting = isResting, .move = moveEngine, .prepareLoad = prepareLoad

const rbEngineRow* rbWorld_GetEngineRow(const rbWorld* world);
extern const rbEngineRow rbEventEngineRow;
extern const rbEngineRow rbStepEngineRow;

void rbWorld_FreeEngine(rbWorld* world);
// Makes the engine start anew; called before the bytes of a snapshot are restored.
void rbWorld_ResetEngine(rbWorld* world);
// Advances the engine to a time; *reached is the time reached.
rbStatus rbWorld_AdvanceEngine(rbWorld* world, double time, double* reached, rbBodyId* failedBody);
rbEngineAccounts rbWorld_GetAccounts(const rbWorld* world);
// After restoring a snapshot; the event engine restores its own part.
void rbWorld_SetAccounts(rbWorld* world, const rbEngineAccounts* accounts);

// The shapes of a body that are not sensors, for an engine.
typedef struct rbMergedShapes {
    const rbGeometry* geometry;  // of all of them, NULL: none
    rbTransform transform;       // of the geometry in the principal frame of the body
    const rbMaterial* materials; // one per shape, until the next body is merged
    int count;
    uint32_t groups, mask; // of each
} rbMergedShapes;

// UNSUPPORTED if a dynamic body has a plane.
rbStatus rbWorld_MergeShapes(rbWorld* world, int index, rbMergedShapes* merged, rbError* error);
void rbWorld_FreeMerged(rbWorld* world);
// The message for bodies that overlap at the start; section: where a scene can allow it.
rbStatus rbWorld_NameOverlap(const rbWorld* world, const rbStartOverlap* overlap,
                             const char* section, rbError* error);

// The filter of the user for engines, with the world as context; NULL: none.
rbPairFilterFn* rbWorld_GetPairFilter(const rbWorld* world);

// A name of a body for messages, even if it has none; "world" for the index -1. It may be written
// into the text, which the macro makes for the block that needs it.
const char* rbWorld_LabelBody(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]);
#define RB_LABEL_TEXT ((char[RB_NAME_CAPACITY]){0})
#define RB_LABEL_BODY(world, index) rbWorld_LabelBody(world, index, RB_LABEL_TEXT)

// Writes into the journal of a world; the context is the world.
void rbWorld_WriteJournal(void* context, const rbEvent* happened);
// The same of the step engine.
void rbWorld_WriteStepJournal(void* context, const rbEvent* happened);
// The engine of a world; NULL: it has another one, or none yet; Ready: also if it is not ready.
// Only the step engine has joints, springs and lasting contacts.
const rbEventEngine* rbWorld_GetEventEngine(const rbWorld* world);
rbStepEngine* rbWorld_GetStepEngine(const rbWorld* world);
const rbStepEngine* rbWorld_GetReadyStepEngine(const rbWorld* world);
// The arrays of a world for reading its engine, without a journal.
rbEventHost rbWorld_GetEventHost(const rbWorld* world);
rbStepHost rbWorld_GetStepHost(const rbWorld* world);

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

// Takes the end of a step (an rbEngineNodeFn; the context is the world): adds events for pairs that
// are new or have ended.
void rbWorld_NoteNode(void* context, const rbEngineNode* node);

// The pairs of a kind at a time are those in foundTouches, in order: adds events for what is new
// and what has ended.
void rbWorld_MergeTouches(rbWorld* world, rbTouchKind kind, double time);

// Lists the bodies with sensors, when an engine starts. UNSUPPORTED if the engine does not support
// them, or conveyors.
rbStatus rbWorld_ListSensors(rbWorld* world, rbError* error);
// Checks all sensors at a time with these states of all bodies.
void rbWorld_CheckSensors(rbWorld* world, double time, const rbMotionState* states);

// Everything that moves the world by its engine does so between these two, under a guard without a
// list. When it returns to the guard, Recover makes the world as it was and returns the status.
void rbWorld_BeginMove(rbWorld* world);
// The threads of the next advance; NULL: none.
rbTasks* rbWorld_ChooseTasks(rbWorld* world);
void rbWorld_EndMove(rbWorld* world);
rbStatus rbWorld_Recover(rbWorld* world, const rbGuard* guard, rbError* error);

// Changes both at once: they may fit only together. NULL: those stay.
rbStatus rbWorld_SetSettings(rbWorld* world, const rbStepSettings* step,
                             const rbContactSettings* contact, rbError* error);

// A change that the engine may refuse when it starts anew is tried at once.
typedef struct rbWorldTrial {
    void* bytes; // a snapshot; NULL: the engine was not ready, and validates later
    size_t size;
    rbError engineError;
} rbWorldTrial;

rbWorldTrial rbWorld_BeginTrial(const rbWorld* world);
// Called after the change. If it is refused, the world is restored bit for bit.
rbStatus rbWorld_EndTrial(rbWorld* world, rbWorldTrial* trial, rbError* error);
// Undoes the change.
void rbWorld_UndoTrial(rbWorld* world, rbWorldTrial* trial);
