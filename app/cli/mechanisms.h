// Describes the mechanisms of a world before it moves, for check, info and run.
#pragma once

#include <rattleback/scene.h>

// Conditions are those of joints that constrain positions: motors, springs and velocity-only joints
// do not count. Freedoms are those of the dynamic bodies, six each.
typedef struct rbMechanismFacts {
    int mechanisms;
    int conditions;
    int redundant; // of these, at the start: they follow from the others
    int freedoms;
    int left; // freedoms - conditions + redundant
} rbMechanismFacts;

// For a prepared world.
rbMechanismFacts rbGetMechanismFacts(const rbSceneInfo* info, const rbWorld* world);

// "10 joints, 2 springs in 1 mechanism; 50 conditions, of which 9 redundant".
void rbDescribeMechanisms(const rbMechanismFacts* facts, const rbSceneInfo* info, char* text,
                          size_t capacity);

#define RB_MOTOR_WARNINGS_MAX 4
#define RB_MOTOR_WARNING_SIZE 400

// Motors of a prepared world that cannot move anything or that are unstable at this step, one
// message each.
typedef struct rbMotorWarnings {
    char texts[RB_MOTOR_WARNINGS_MAX][RB_MOTOR_WARNING_SIZE];
    int count;       // of texts
    bool hasSampled; // a motor acts once per step: order 1
} rbMotorWarnings;

void rbValidateMotors(const rbSceneInfo* info, const rbWorld* world, rbMotorWarnings* warnings);
