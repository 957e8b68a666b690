// The toys of the specification, section 4.1, as initial states for the oracle and the scenes.
#include "base/math/elementary.h"
#include "base/math/quaternion.h"
#include "lab/math/axis_angle.h"
#include "toy_oracle.h"

rbToy rbDefaultToy(void)
{
    rbToy toy = {.gravity = 9.81, .friction = 0.5, .slipScale = 1e-4, .tolerance = 1e-10};
    toy.orientation = RB_QUAT_IDENTITY;
    return toy;
}

// The shortest rotation that brings the body's unit vector upright.
static rbQuat turnUp(rbVec3 up)
{
    return rbQuat_Between(rbNormalize(up), rbMakeVec3(0.0, 0.0, 1.0));
}

rbToy rbMakeTippeTop(double friction, double spin)
{
    const double radius = 0.02;
    rbToy toy = rbDefaultToy();
    toy.semiAxes = rbMakeVec3(radius, radius, radius);
    toy.mass = 0.02;
    toy.center = rbMakeVec3(0.0, 0.0, -0.006);
    double unit = toy.mass * radius * radius;
    double transverse = 131.0 / 350.0 * unit;
    toy.inertia = (rbSym3){transverse, transverse, 0.4 * unit, 0.0, 0.0, 0.0};
    toy.friction = friction;
    toy.orientation = rbQuat_FromAxisAngle(rbMakeVec3(0.0, 1.0, 0.0), 0.1);
    toy.spin = rbMakeVec3(0.0, 0.0, spin);
    return toy;
}

rbToy rbMakeCoin(void)
{
    const double radius = 0.0125;
    const double thickness = 0.002;
    const double hole = 0.003;
    const double offset = 0.007;
    double areal = 8000.0 * thickness * RB_PI;
    double full = areal * radius * radius;
    double missing = areal * hole * hole;
    rbToy toy = rbDefaultToy();
    toy.surface = RB_TOY_DISC;
    toy.radius = radius;
    toy.mass = full - missing;
    toy.center = rbMakeVec3(0.0, -missing * offset / toy.mass, 0.0);
    // About the center of the disc, then moved to the center of mass.
    double across = thickness * thickness / 12.0;
    double xx = full * (radius * radius / 4.0 + across) - missing * (hole * hole / 4.0 + across);
    double zz = full * radius * radius / 2.0 - missing * hole * hole / 2.0;
    double lever = missing * offset * offset + toy.mass * toy.center.y * toy.center.y;
    toy.inertia = (rbSym3){xx - lever, xx, zz - lever, 0.0, 0.0, 0.0};
    toy.friction = 0.3;
    // (.0998, .9948, .0200) to the published digits
    toy.orientation = turnUp(rbMakeVec3(rbSin(0.1), rbCos(0.1), 0.02));
    toy.spin = rbMakeVec3(0.0, 0.0, 150.0);
    return toy;
}

rbToy rbMakeEgg(void)
{
    rbToy toy = rbDefaultToy();
    toy.semiAxes = rbMakeVec3(0.03, 0.02, 0.02);
    toy.mass = 0.06;
    double along = toy.mass * 2.0 * 0.02 * 0.02 / 5.0;
    double across = toy.mass * (0.03 * 0.03 + 0.02 * 0.02) / 5.0;
    toy.inertia = (rbSym3){along, across, across, 0.0, 0.0, 0.0};
    toy.friction = 0.3;
    toy.orientation = rbQuat_FromAxisAngle(rbMakeVec3(0.0, 1.0, 0.0), -0.05);
    toy.spin = rbMakeVec3(0.0, 0.0, 150.0);
    return toy;
}

rbToy rbMakeRattleback(double spin, bool isMirrored)
{
    const double a = 0.1;
    const double b = 0.025;
    const double c = 0.02;
    rbToy toy = rbDefaultToy();
    toy.semiAxes = rbMakeVec3(a, b, c);
    toy.mass = 2000.0 * 2.0 / 3.0 * RB_PI * a * b * c; // 1000 and 3000 in equal parts
    toy.center = rbMakeVec3(0.0, 0.0, -0.375 * c);
    double x2 = toy.mass * a * a / 5.0;
    double y2 = toy.mass * b * b / 5.0;
    double z2 = toy.mass * (c * c / 5.0 - toy.center.z * toy.center.z);
    double xy = 1000.0 * 4.0 / 15.0 * a * a * b * b * c;
    toy.inertia = (rbSym3){y2 + z2, x2 + z2, x2 + y2, isMirrored ? -xy : xy, 0.0, 0.0};
    toy.friction = 0.5;
    toy.orientation = rbQuat_FromAxisAngle(rbMakeVec3(0.0, 1.0, 0.0), -0.02);
    toy.spin = rbMakeVec3(0.0, 0.0, spin);
    return toy;
}
