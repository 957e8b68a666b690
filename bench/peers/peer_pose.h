// Conversion between peer poses and our transforms.
#pragma once

#include "peers/peer.h"

#include <rattleback/vecmath.h>

static inline rbTransform rbReadPeerPose(const rbPeerPose* pose)
{
    const double* p = pose->position;
    const double* q = pose->quaternion;
    rbTransform transform = {{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
    return transform;
}

static inline rbPeerPose rbWritePeerPose(rbTransform t)
{
    rbPeerPose pose = {{t.p.x, t.p.y, t.p.z}, {t.q.w, t.q.x, t.q.y, t.q.z}};
    return pose;
}
