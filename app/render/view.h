// The initial camera of a world, for the software renderer and the browser.
//
// The camera is at center + distance direction and looks at center. Its vertical field of view is
// RB_VIEW_ANGLE and the distance is radius / sin(RB_VIEW_ANGLE / 2): the requested content fits a
// window of 16:9; for narrower windows the camera moves back in proportion.
#pragma once

#include <rattleback/scene.h>
#include <rattleback/world.h>

#define RB_VIEW_ANGLE (35.0 * RB_PI / 180.0) // vertical field of view
#define RB_VIEW_ASPECT (16.0 / 9.0)

typedef struct rbView {
    rbVec3 center;    // m
    double radius;    // m, > 0
    rbVec3 direction; // unit, from the center to the camera
    rbVec3 up;        // unit, against gravity
    double floor;     // m: a floor is drawn where up . x has this value, in scenes without a ground
                      // of their own; NaN: none
} rbView;

// Looks at the dynamic bodies and what is near them, from a side where nothing static hides them.
// Planes and static bodies much larger than the rest do not count, but the ground below does.
// scene: its visuals count as well; NULL: there are none.
void rbChooseView(const rbWorld* world, const rbScene* scene, rbView* view);

// A view from one point to another; the rest as chosen. false when the two points are the same, or
// one above the other.
bool rbView_LookFrom(rbView* view, rbVec3 from, rbVec3 at);

// Position of the camera for a window of this aspect ratio (width over height).
rbVec3 rbView_GetCamera(const rbView* view, double aspect);
