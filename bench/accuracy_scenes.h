// The ten scenes of the accuracy suite: mechanisms, contacts, and both, each with its true end.
//
// The truths share no code with the library's engines: closed forms, and equations in reduced
// coordinates that are integrated by extrapolation in long double (mechanism_reference.h).
#pragma once

#include "contact_scenes.h"
#include "joint_scenes.h"

#define RB_ACCURACY_SCENES 10
#define RB_ACCURACY_BODIES_MAX 5

typedef struct rbAccuracyScene {
    const char* name;
    const char* truth; // where the true end comes from
    double duration;   // s
    double reach;      // m: points up to this far from the centers count in the error
    bool hasContacts;
    rbJointScene mechanism;                   // without contacts
    rbContactScene contacts;                  // with contacts
    rbTransform ends[RB_ACCURACY_BODIES_MAX]; // the true poses of the moving bodies at the end
    int movingCount;
} rbAccuracyScene;

// Names of the scenes, ends with NULL.
extern const char* const rbAccuracySceneNames[RB_ACCURACY_SCENES + 1];

rbAccuracyScene rbMakeAccuracyScene(int index);
void rbDestroyAccuracyScene(rbAccuracyScene* scene);

// The largest distance, over all moving bodies, between where a point of the body is and where it
// should be, m; a bound for all points within reach. NaN if a state is not finite.
double rbAccuracyScene_GetError(const rbAccuracyScene* scene, const rbPeerBodyState* states);
