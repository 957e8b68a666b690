// What drives, brakes and pulls along joints, where a step is not smooth: impacts on stops and on
// bodies that bear a load, speeds that a motor never reaches. Closed forms, with random numbers.
#include "base/core/random.h"
#include "scene_run.h"

#include <math.h>
#include <stdio.h>

#define GRAVITY 9.81
#define TEXT_SIZE 4000
// m: the shell, and the tolerance of times of contact, at every impact of a series.
#define TOUCHING 1e-4
static const double steps[] = {0.01, 0.004, 0.001};

static double drawStep(rbRandom* random)
{
    return steps[rbRandom_Index(random, 3)];
}

// J: rebounds of 1 kg do not take place at less than 1 cm/s, and than what an acceleration adds in
// a step.
static double slowEnergy(double acceleration, double h)
{
    double speed = 0.01 + acceleration * h;
    return 1e-5 + 0.5 * speed * speed;
}

static double numericalEnergy(const Run* run)
{
    return fabs(rbWorld_GetLedger(run->world).numericalEnergy);
}

// The way from a stop that a body leaves at a speed, pressed against it with an acceleration: it
// bounces with restitution e.
static double bounce(double t, double speed, double acceleration, double e)
{
    double time = 2.0 * speed / acceleration;
    while (t > time && speed > 1e-6) {
        t -= time;
        speed *= e;
        time = 2.0 * speed / acceleration;
    }
    return speed > 1e-6 ? speed * t - 0.5 * acceleration * t * t : 0.0;
}

// A motor far too weak for its speed gives a constant torque. In steps in which the speed asked for
// would have been more than half a turn it gave none, and no one was told.
static void aWeakMotorGivesItsTorque(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(1)};
    for (int i = 0, count = rbTest_Count(30, 300); i < count; ++i) {
        double torque = rbRandom_Range(&random, 0.02, 0.2);
        double target = rbRandom_Range(&random, 100.0, 3000.0) * (i % 2 == 0 ? 1.0 : -1.0);
        double h = drawStep(&random);
        char text[TEXT_SIZE];
        (void)snprintf(text, sizeof text,
                       "{'rattleback': 1, 'duration': 1, 'step': {'step': %g}, 'contact':"
                       " {'enabled': %s}, 'output': {'probes': [{'joint': 'j', 'quantity':"
                       " 'angle'}, {'quantity': 'motorWork'}]}, 'bodies': [{'name': 'b', 'mass':"
                       " 1, 'inertia': [0.02, 0.02, 0.02]}], 'joints': [{'name': 'j', 'type':"
                       " 'hinge', 'bodies': ['world', 'b'], 'anchor': [0, 0, 0], 'axis': [0, 1,"
                       " 0], 'upper': 1000, 'lower': -1000, 'motor': {'type': 'velocity',"
                       " 'target': %.17g, 'forceMax': %.17g}}]}",
                       h, i % 3 == 0 ? "true" : "false", target, torque);
        Run run = startText(text, "duration=1");
        go(&run, 1.0);
        double angle = copysign(25.0 * torque, target);
        checkNear(get(&run, "j.angle"), angle, 1e-9);
        checkNear(get(&run, "world.motorWork"), torque * fabs(angle), 1e-9);
        endRun(&run);
    }
}

// Drag acts with the velocities at the end of a step. Where contacts were possible, anywhere, these
// lacked what joints and the drag itself had changed: an error of first order in the step.
static void dragIsTheSameBesideContacts(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(2)};
    for (int i = 0, count = rbTest_Count(20, 200); i < count; ++i) {
        double angle = rbRandom_Range(&random, 0.3, 1.5);
        char text[TEXT_SIZE];
        (void)snprintf(
            text, sizeof text,
            "{'rattleback': 1, 'duration': 1, 'step': {'step': %g}, 'output': {'probes':"
            " [{'body': 'b', 'quantity': 'position'}]}, 'forces': [{'type': 'drag', 'linear': %g,"
            " 'quadratic': %g, 'angular': %g, 'body': 'b'}], 'bodies': [{'name': 'floor', 'type':"
            " 'static', 'position': [0, 0, -9], 'shapes': [{'geometry': {'type': 'box', 'size':"
            " [1, 1, 1]}}]}, {'name': 'b', 'position': [%.17g, 0, %.17g], 'mass': 1, 'shapes':"
            " [{'geometry': {'type': 'box', 'size': [0.1, 0.2, 0.3]}}]}], 'joints': [{'name': 'j',"
            " 'type': 'hinge', 'bodies': ['world', 'b'], 'anchor': [0, 0, 0], 'axis': [0, 1, 0]}]}",
            drawStep(&random), rbRandom_Range(&random, 0.0, 1.0), rbRandom_Range(&random, 0.0, 1.0),
            rbRandom_Range(&random, 0.0, 0.1), 0.5 * sin(angle), -0.5 * cos(angle));
        Run beside = startText(text, "contact.enabled=true");
        Run alone = startText(text, "contact.enabled=false");
        go(&beside, 1.0);
        go(&alone, 1.0);
        checkNear(get(&beside, "b.position.x"), get(&alone, "b.position.x"), 1e-9);
        checkNear(get(&beside, "b.position.z"), get(&alone, "b.position.z"), 1e-9);
        endRun(&beside);
        endRun(&alone);
    }
}

// A motor at its limit, or a spring along the rail, drives a body into a stop. What acts along the
// joint in the step of the impact acts before it, not half of it after.
static Run startStop(double h, const char* drive, double e)
{
    char text[TEXT_SIZE];
    (void)snprintf(text, sizeof text,
                   "{'rattleback': 1, 'duration': 2, 'world': {'gravity': [0, 0, 0]}, 'step':"
                   " {'step': %g}, 'output': {'probes': [{'joint': 'j', 'quantity': 'travel'},"
                   " {'quantity': 'motorWork'}]}, 'bodies': [{'name': 'b', 'mass': 1, 'inertia':"
                   " [0.02, 0.02, 0.02]}], 'joints': [{'name': 'j', 'type': 'prismatic', 'bodies':"
                   " ['world', 'b'], 'anchor': [0, 0, 0], 'axis': [1, 0, 0], 'restitution': %.17g,"
                   " %s}]}",
                   h, e, drive);
    return startText(text, "duration=2");
}

static void aMotorDrivesIntoAStop(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(3)};
    for (int i = 0, count = rbTest_Count(30, 300); i < count; ++i) {
        double force = rbRandom_Range(&random, 2.0, 8.0);
        double stop = rbRandom_Range(&random, 0.1, 0.3);
        double e = i % 3 == 0 ? 0.0 : rbRandom_Range(&random, 0.2, 0.8);
        double h = drawStep(&random);
        char drive[256];
        (void)snprintf(drive, sizeof drive,
                       "'upper': %.17g, 'motor': {'type': 'velocity', 'target': 50, 'forceMax':"
                       " %.17g}",
                       stop, force);
        Run run = startStop(h, drive, e);
        double arrival = sqrt(2.0 * stop / force);
        double worst = 0.0;
        for (int n = 1; n <= 75; ++n) {
            double t = 0.02 * n;
            go(&run, t);
            double way = t < arrival ? stop - 0.5 * force * t * t
                                     : bounce(t - arrival, e * force * arrival, force, e);
            worst = fmax(worst, fabs(get(&run, "j.travel") - (stop - way)));
        }
        checkBelow(worst, TOUCHING); // with the error 1e-3 to 3e-3
        double slow = slowEnergy(force, h);
        checkBelow(numericalEnergy(&run), slow); // with the error 1e-3 to 7e-3
        checkNear(get(&run, "world.motorWork"), force * get(&run, "j.travel"), slow);
        endRun(&run);
    }
}

// The deflection of a spring beyond its rest, while it presses a body against a stop at one.
static double springBounce(double t, double rate, double rest, double speed, double e)
{
    while (speed > 1e-5) {
        double time = 2.0 * atan2(speed / rate, rest) / rate;
        if (t < time) {
            return rest * (cos(rate * t) - 1.0) + speed / rate * sin(rate * t);
        }
        t -= time;
        speed *= e;
    }
    return 0.0;
}

static void aSpringPressesAgainstAStop(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(4)};
    for (int i = 0, count = rbTest_Count(30, 300); i < count; ++i) {
        double rate = rbRandom_Range(&random, 4.0, 7.0);
        double rest = rbRandom_Range(&random, 0.15, 0.3);
        double stop = rbRandom_Range(&random, 0.2, 0.5);
        double e = rbRandom_Range(&random, 0.3, 0.8);
        double h = drawStep(&random);
        char drive[256];
        (void)snprintf(drive, sizeof drive, "'lower': %.17g, 'stiffness': %.17g, 'rest': %.17g",
                       -stop, rate * rate, -stop - rest);
        Run run = startStop(h, drive, e);
        double arrival = acos(rest / (rest + stop)) / rate;
        double speed = (rest + stop) * rate * sin(rate * arrival);
        double worst = 0.0;
        for (int n = 1; n <= 75; ++n) {
            double t = 0.02 * n;
            go(&run, t);
            double x = t < arrival ? (rest + stop) * cos(rate * t) - rest
                                   : springBounce(t - arrival, rate, rest, e * speed, e);
            worst = fmax(worst, fabs(get(&run, "j.travel") - (x - stop)));
        }
        // a spring is slower by (rate h)^2 / 12 in steps
        double late = 1.5 * rate * rate * h * h / 12.0;
        checkBelow(worst, TOUCHING + late * speed); // with the error 2e-3 to 2e-2
        checkBelow(numericalEnergy(&run), slowEnergy(rate * rate * rest, h));
        endRun(&run);
    }
}

// A door strikes a block that slides on over the floor. The friction of the block had the load of
// the whole step in which it was struck: it was slower by friction times g h from then on.
static void aDoorStrikesABlockOnTheFloor(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(5)};
    for (int i = 0, count = rbTest_Count(20, 200); i < count; ++i) {
        double friction = rbRandom_Range(&random, 0.1, 0.6);
        double e = rbRandom_Range(&random, 0.6, 0.9); // the door goes back: it strikes once
        double rate = rbRandom_Range(&random, 1.0, 3.0);
        double angle = rbRandom_Range(&random, 0.3, 0.7);
        double mass = rbRandom_Range(&random, 1.0, 2.0);
        double h = drawStep(&random);
        double about = 0.25 + 0.08; // kg m^2
        char text[TEXT_SIZE];
        (void)snprintf(
            text, sizeof text,
            "{'rattleback': 1, 'duration': 1, 'step': {'step': %g}, 'materials': {'door':"
            " {'friction': 0}, 'block': {'friction': %.17g, 'restitution': 0}}, 'materialPairs':"
            " [{'materials': ['door', 'block'], 'friction': 0, 'restitution': %.17g}], 'output':"
            " {'probes': [{'body': 'block', 'quantity': 'position'}, {'joint': 'j', 'quantity':"
            " 'angle'}]}, 'bodies': [{'name': 'door', 'mass': 1, 'inertia': [0.05, 0.08, 0.08],"
            " 'center': [0, 0, 0], 'position': [%.17g, %.17g, 0], 'orientation': {'axis': [0, 0,"
            " 1], 'angle': %.17g}, 'spin': [0, 0, %.17g], 'velocity': [%.17g, %.17g, 0], 'shapes':"
            " [{'geometry': {'type': 'sphere', 'radius': 0.025}, 'position': [0.3, 0, 0],"
            " 'material': 'door', 'mask': 1}]}, {'name': 'block', 'mass': %.17g, 'position': [0.8,"
            " 0.125, 0], 'shapes': [{'geometry': {'type': 'box', 'size': [0.2, 0.2, 0.02]},"
            " 'material': 'block'}]}, {'name': 'floor', 'type': 'static', 'shapes': [{'geometry':"
            " {'type': 'plane', 'normal': [0, 0, 1], 'offset': -0.01001}, 'material': 'block',"
            " 'groups': 2}]}], 'joints': [{'name': 'j', 'type': 'hinge', 'bodies': ['world',"
            " 'door'], 'anchor': [0, 0, 0], 'axis': [0, 0, 1]}]}",
            h, friction, e, 0.5 * cos(angle), -0.5 * sin(angle), -angle, rate,
            0.5 * rate * sin(angle), 0.5 * rate * cos(angle), mass);
        Run run = startText(text, "duration=1");
        double push = (1.0 + e) * rate * 0.8 / (0.64 / about + 1.0 / mass);
        double speed = push / mass;
        double t = 0.4;
        go(&run, angle / rate + t);
        double slid = fmin(t, speed / (friction * GRAVITY));
        double y = 0.125 + speed * slid - 0.5 * friction * GRAVITY * slid * slid;
        checkNear(get(&run, "block.position.y"), y, TOUCHING); // with the error 4e-4 to 2e-2
        checkNear(get(&run, "j.angle"), angle + (rate - 0.8 * push / about) * t, TOUCHING);
        endRun(&run);
    }
}

// A weak motor drives a ball against a block and pushes it over the floor: after the blow the motor
// catches up. What it has done is what the ball, the block and friction have got.
static void aMotorThatCatchesUpDoesItsWork(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(6)};
    for (int i = 0, count = rbTest_Count(30, 300); i < count; ++i) {
        double friction = rbRandom_Range(&random, 0.1, 0.5);
        double mass = rbRandom_Range(&random, 0.5, 2.0);
        double push = friction * mass * GRAVITY + rbRandom_Range(&random, 3.0, 30.0);
        char text[TEXT_SIZE];
        (void)snprintf(
            text, sizeof text,
            "{'rattleback': 1, 'duration': 1, 'step': {'step': %g}, 'materials': {'ball':"
            " {'friction': 0, 'restitution': 0}, 'block': {'friction': %.17g, 'restitution': 0}},"
            " 'materialPairs': [{'materials': ['ball', 'block'], 'friction': 0, 'restitution': 0}],"
            " 'bodies': [{'name': 'ball', 'mass': 1, 'inertia': [0.02, 0.02, 0.02], 'shapes': "
            "[{'geometry':"
            " {'type': 'sphere', 'radius': 0.025}, 'material': 'ball', 'mask': 1}]}, {'name':"
            " 'block', 'mass': %.17g, 'position': [0.25, 0, 0], 'shapes': [{'geometry': {'type':"
            " 'box', 'size': [0.2, 0.2, 0.02]}, 'material': 'block'}]}, {'name': 'floor', 'type':"
            " 'static', 'shapes': [{'geometry': {'type': 'plane', 'normal': [0, 0, 1], 'offset':"
            " -0.01001}, 'material': 'block', 'groups': 2}]}], 'joints': [{'name': 'j', 'type':"
            " 'prismatic', 'bodies': ['world', 'ball'], 'anchor': [0, 0, 0], 'axis': [1, 0, 0],"
            " 'motor': {'type': 'velocity', 'target': %.17g, 'forceMax': %.17g}}]}",
            drawStep(&random), friction, mass, rbRandom_Range(&random, 0.5, 2.0), push);
        Run run = startText(text, "duration=1");
        go(&run, 0.7);
        rbLedger ledger = rbWorld_GetLedger(run.world);
        checkBelow(fabs(ledger.energyDrift), 1e-9 * ledger.motorWork);
        endRun(&run);
    }
}

RB_TEST_GROUP(phys_drives, cmocka_unit_test(aWeakMotorGivesItsTorque),
              cmocka_unit_test(dragIsTheSameBesideContacts),
              cmocka_unit_test(aMotorDrivesIntoAStop), cmocka_unit_test(aSpringPressesAgainstAStop),
              cmocka_unit_test(aDoorStrikesABlockOnTheFloor),
              cmocka_unit_test(aMotorThatCatchesUpDoesItsWork));
