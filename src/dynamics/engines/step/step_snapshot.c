// The changing state of the step engine, as bytes.
#include "dynamics/engines/step/step_contact.h"

#include <string.h>

// Per mechanism: numbers of the node, then its state. Motors and turns of all joints follow.
typedef struct MechanismHead {
    double nodeTime;
    double origin;
    double chosen;
    int64_t index;
    rbNodeMemory node;
    double shownWork[RB_WORK_COUNT];
    double estimate;
    double isOpen; // 0 or 1
} MechanismHead;

typedef struct EngineHead {
    double time;
    rbStepStatistics statistics;
    rbStepWork workBefore;
    int64_t factorizations; // in total
    double estimateBefore;
} EngineHead;

typedef struct JointMemory {
    double positions[RB_JOINT_FREEDOMS_MAX];
    double limitPositions[RB_JOINT_FREEDOMS_MAX];
    double limitImpulses[RB_JOINT_FREEDOMS_MAX][2];
    rbMotorState motors[RB_JOINT_FREEDOMS_MAX];
} JointMemory;

size_t rbStepEngine_GetSnapshotSize(const rbStepEngine* engine)
{
    size_t size = sizeof(EngineHead) + (size_t)engine->joints.count * sizeof(JointMemory);
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        size += sizeof(MechanismHead) +
                (size_t)(mechanism->stateSize + mechanism->m.rowCount) * sizeof(double);
    }
    return size + rbStepContacts_GetSnapshotSize(engine->contacts);
}

void rbStepEngine_TakeSnapshot(rbStepEngine* engine, void* bytes)
{
    char* place = bytes;
    EngineHead head = {engine->time, engine->statistics, engine->workBefore,
                       rbStep_CountFactorizations(engine), engine->estimateBefore};
    memcpy(place, &head, sizeof head);
    place += sizeof head;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        MechanismHead own;
        memset(&own, 0, sizeof own);
        own.nodeTime = mechanism->nodeTime;
        own.origin = mechanism->origin;
        own.chosen = mechanism->chosen;
        own.index = mechanism->index;
        own.node = mechanism->node;
        own.estimate = mechanism->estimate;
        own.isOpen = mechanism->isOpen ? 1.0 : 0.0;
        memcpy(own.shownWork, mechanism->shownWork, sizeof own.shownWork);
        memcpy(place, &own, sizeof own);
        place += sizeof own;
        rbStep_Save(mechanism, mechanism->kept);
        memcpy(place, mechanism->kept, (size_t)mechanism->stateSize * sizeof(double));
        place += (size_t)mechanism->stateSize * sizeof(double);
        memcpy(place, mechanism->forces, (size_t)mechanism->m.rowCount * sizeof(double));
        place += (size_t)mechanism->m.rowCount * sizeof(double);
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        JointMemory memory;
        memset(&memory, 0, sizeof memory);
        const rbStepJointSlot* slot = &engine->joints.data[i];
        memcpy(memory.positions, slot->positions, sizeof memory.positions);
        memcpy(memory.limitPositions, slot->limitPositions, sizeof memory.limitPositions);
        memcpy(memory.limitImpulses, slot->limitImpulses, sizeof memory.limitImpulses);
        memcpy(memory.motors, slot->motors, sizeof memory.motors);
        memcpy(place, &memory, sizeof memory);
        place += sizeof memory;
    }
    (void)rbStepContacts_TakeSnapshot(engine->contacts, place);
}

void rbStepEngine_RestoreSnapshot(rbStepEngine* engine, const void* bytes)
{
    const char* place = bytes;
    EngineHead head;
    memcpy(&head, place, sizeof head);
    place += sizeof head;
    engine->time = head.time;
    engine->statistics = head.statistics;
    engine->workBefore = head.workBefore;
    engine->estimateBefore = head.estimateBefore;
    // The mechanisms continue counting from their values.
    engine->factorizationsBefore += head.factorizations - rbStep_CountFactorizations(engine);
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        MechanismHead own;
        memcpy(&own, place, sizeof own);
        place += sizeof own;
        mechanism->nodeTime = own.nodeTime;
        mechanism->origin = own.origin;
        mechanism->chosen = own.chosen;
        mechanism->index = own.index;
        mechanism->node = own.node;
        mechanism->estimate = own.estimate;
        mechanism->isOpen = own.isOpen != 0.0;
        memcpy(mechanism->shownWork, own.shownWork, sizeof own.shownWork);
        memcpy(mechanism->kept, place, (size_t)mechanism->stateSize * sizeof(double));
        place += (size_t)mechanism->stateSize * sizeof(double);
        memcpy(mechanism->forces, place, (size_t)mechanism->m.rowCount * sizeof(double));
        place += (size_t)mechanism->m.rowCount * sizeof(double);
        rbStep_Restore(mechanism, mechanism->kept);
        mechanism->isAnchored = false;
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        JointMemory memory;
        memcpy(&memory, place, sizeof memory);
        place += sizeof memory;
        rbStepJointSlot* slot = &engine->joints.data[i];
        memcpy(slot->positions, memory.positions, sizeof memory.positions);
        memcpy(slot->limitPositions, memory.limitPositions, sizeof memory.limitPositions);
        memcpy(slot->limitImpulses, memory.limitImpulses, sizeof memory.limitImpulses);
        memcpy(slot->motors, memory.motors, sizeof memory.motors);
    }
    (void)rbStepContacts_RestoreSnapshot(engine, place);
}
