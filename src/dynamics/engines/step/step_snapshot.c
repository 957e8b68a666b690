// The changing state of the step engine, as bytes.
#include "dynamics/engines/step/step_contact.h"

// The numbers of the node, then the state.
static void moveMechanism(rbStepMechanism* mechanism, rbByteStream* stream)
{
    RB_MOVE(stream, mechanism->grid.time);
    RB_MOVE(stream, mechanism->grid.origin);
    RB_MOVE(stream, mechanism->chosen);
    RB_MOVE(stream, mechanism->grid.index);
    RB_MOVE(stream, mechanism->node);
    RB_MOVE(stream, mechanism->shownWork);
    RB_MOVE(stream, mechanism->seen.estimate);
    RB_MOVE(stream, mechanism->isOpen);
    bool isSaving = !stream->isLoading && stream->bytes != NULL;
    if (isSaving) {
        rbStep_Save(mechanism, mechanism->copies.kept);
    }
    rbByteStream_Move(stream, mechanism->copies.kept,
                      (size_t)mechanism->copies.size * sizeof(double));
    rbByteStream_Move(stream, mechanism->rows.forces,
                      (size_t)mechanism->m.rowCount * sizeof(double));
    if (stream->isLoading) {
        rbStep_Restore(mechanism, mechanism->copies.kept);
        mechanism->isAnchored = false;
    }
}

static void moveEngine(rbStepEngine* engine, rbByteStream* stream)
{
    int64_t factorizations = rbStep_CountFactorizations(engine); // in total
    RB_MOVE(stream, engine->time);
    RB_MOVE(stream, engine->statistics);
    RB_MOVE(stream, engine->workBefore);
    RB_MOVE(stream, factorizations);
    RB_MOVE(stream, engine->estimateBefore);
    if (stream->isLoading) {
        // The mechanisms continue counting from their values.
        engine->factorizationsBefore += factorizations - rbStep_CountFactorizations(engine);
    }
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        moveMechanism(&engine->mechanisms.data[i], stream);
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        rbStepJointSlot* slot = &engine->joints.data[i];
        RB_MOVE(stream, slot->positions);
        RB_MOVE(stream, slot->limitPositions);
        RB_MOVE(stream, slot->limitImpulses);
        RB_MOVE(stream, slot->motors);
    }
    rbStepContacts_Move(engine, stream);
}

size_t rbStepEngine_GetSnapshotSize(const rbStepEngine* engine)
{
    rbByteStream stream = {0};
    moveEngine((rbStepEngine*)engine, &stream); // counting changes nothing
    return stream.size;
}

void rbStepEngine_TakeSnapshot(rbStepEngine* engine, void* bytes)
{
    rbByteStream stream = {.bytes = bytes};
    moveEngine(engine, &stream);
}

void rbStepEngine_RestoreSnapshot(rbStepEngine* engine, const void* bytes)
{
    rbByteStream stream = {.bytes = (char*)bytes, .isLoading = true};
    moveEngine(engine, &stream);
}
