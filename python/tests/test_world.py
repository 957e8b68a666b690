"""Worlds, bodies, joints, arrays, snapshots, callbacks, threads."""
import gc
import math
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import rattleback as rb


def make_stack(count=3, **keys):
    world = rb.World(**keys)
    world.add_body(rb.Shape.plane(), type="static", name="ground")
    for i in range(count):
        world.add_body(rb.Shape.box((1, 1, 1)), position=(0, 0, 0.5 + i), name=f"box{i}")
    return world


def test_falls_as_galileo_says():
    world = rb.World(gravity=(0, 0, -10))
    ball = world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 100), velocity=(3, 0, 0))
    world.advance(2.0)
    np.testing.assert_allclose(ball.position, (6, 0, 80), rtol=1e-12)
    np.testing.assert_allclose(ball.velocity, (3, 0, -20), rtol=1e-12)
    assert world.ledger.energy_drift == pytest.approx(0, abs=1e-6)


def test_steps_and_advances_reach_the_same_bits():
    a, b, c = make_stack(), make_stack(), make_stack()
    for world in (a, b, c):
        world.body("box2").velocity = (1, 0.3, 0)
    for _ in range(200):
        a.step()
    b.step(200)
    c.advance(0.2)
    assert a.hash == b.hash == c.hash
    assert a.time == b.time == c.time == 0.2


def test_arrays_are_those_of_bodies():
    world = make_stack()
    world.step(10)
    bodies = world.bodies
    for field, name in (("position", "position"), ("orientation", "orientation"), ("velocity", "velocity"),
                        ("angular_velocity", "angular_velocity"), ("center", "center")):
        np.testing.assert_array_equal(world.read(field), [getattr(body, name) for body in bodies])
    np.testing.assert_array_equal(world.masses, [body.mass for body in bodies])


def test_reading_into_a_part_of_an_array_touches_nothing_else():
    world = make_stack()
    whole = np.full((4, 7), -1.0)
    world.read("position", whole[:, 0:3])
    world.read("orientation", whole[:, 3:7])
    np.testing.assert_array_equal(whole[:, 0:3], world.positions)
    np.testing.assert_array_equal(whole[:, 3:7], world.orientations)
    world.bodies[1].destroy()
    rest = np.full((5, 3), -1.0)
    world.read("position", rest[:3])
    assert (rest[3:] == -1.0).all() and (rest[:3] != -1.0).any()


def test_destroying_the_last_body_writes_nothing_beyond_the_array():
    world = make_stack()
    world.bodies[-1].destroy()
    rest = np.full((5, 3), -1.0)
    world.read("position", rest[:3])
    assert (rest[3:] == -1.0).all()


@pytest.mark.parametrize("out, text", [
    (np.empty((4, 2)), "shape"), (np.empty((3, 3)), "shape"), (np.empty((4, 3), np.float32), "float64"),
    (np.empty((4, 3), order="F"), "contiguous"), (np.empty((4, 3))[::-1], "contiguous"), ([[0, 0, 0]] * 4, "numpy array")])
def test_bad_arrays_for_results_are_refused(out, text):
    with pytest.raises(rb.InvalidError, match=text):
        make_stack().read("position", out)


@pytest.mark.parametrize("values, text", [
    (np.zeros((4, 2)), "shape"), (np.zeros(4), "shape"), (np.full((4, 3), np.nan), r"\[0, 0\] is nan"), ("text", "numbers"),
    ([[0, 0, math.inf]] * 4, "finite")])
def test_bad_values_are_refused_and_change_nothing(values, text):
    world = make_stack()
    before = world.hash
    with pytest.raises(rb.InvalidError, match=text):
        world.write("velocity", values)
    assert world.hash == before
    with pytest.raises(rb.InvalidError, match="no field"):
        world.write("colour", np.zeros((4, 3)))
    with pytest.raises(rb.InvalidError, match="only be read"):
        world.write("center", np.zeros((4, 3)))


def test_bad_arguments_name_themselves():
    world = rb.World()
    ball = world.add_body(rb.Shape.sphere(0.1))
    for call, text in (
            (lambda: ball.apply_impulse((1, 2)), "impulse has 2 numbers"),
            (lambda: ball.apply_impulse((1, 2, math.nan)), "impulse .*finite"),
            (lambda: ball.set_state(orientation=(2, 0, 0, 0)), "length 1"),
            (lambda: setattr(ball, "mass", -1.0), "mass"),
            (lambda: world.add_body(rb.Shape.sphere(0.1), positon=(0, 0, 0)), 'did you mean "position"'),
            (lambda: world.add_body("sphere of my own"), "sphere of my own"),
            (lambda: world.add_body(7), "Shape"),
            (lambda: world.add_body(), "mass"),
            (lambda: world.add_joint("glue", None, ball), "glue"),
            (lambda: world.add_joint("hinge", None, ball, anchor=(0, 0, 0)), "axis"),
            (lambda: world.add_joint("hinge", None, ball, anchor=(0, 0, 0), axis=(0, 1, 0), motor={"type": "warp"}), "warp"),
            (lambda: world.advance(-1.0), "negative"),
            (lambda: world.step(-1), "negative"),
            (lambda: rb.step_all([world], -1), "negative"),
            (lambda: world.advance(math.nan), "finite"),
            (lambda: rb.World(engine="steam"), "steam"),
            (lambda: rb.World(step={"orde": 2}), 'did you mean "order"'),
            (lambda: rb.Shape.box((1, 1, -1)).volume, "size"),
            (lambda: rb.Shape.box((1, 1)), "size has 2 numbers"),
            (lambda: rb.Shape.hull([[0, 0, 0]] * 3).volume, "hull"),
            (lambda: rb.Shape.hull(np.zeros((3, 2))), "shape"),
            (lambda: rb.Shape.sphere(1).mass_properties(0.0), "density")):
        with pytest.raises(rb.RattlebackError, match=text):
            call()


def test_dead_objects_say_so():
    world = rb.World()
    a, b = world.add_body(rb.Shape.sphere(0.1)), world.add_body(rb.Shape.sphere(0.1), position=(1, 0, 0))
    joint = world.add_joint("ball", a, b, anchor=(0.5, 0, 0))
    a.destroy()
    assert not a.is_alive and b.is_alive and not joint.is_alive
    for call in (lambda: a.position, lambda: a.mass, lambda: joint.force, lambda: a.apply_impulse((1, 0, 0)),
                 lambda: a.destroy(), lambda: world.add_joint("ball", a, b, anchor=(0, 0, 0))):
        with pytest.raises(rb.DeadObjectError, match="destroyed"):
            call()
    world.close()
    for call in (lambda: b.position, lambda: world.step(), lambda: world.step(5), lambda: world.time, lambda: world.positions,
                 lambda: world.snapshot(), lambda: b.name):
        with pytest.raises(rb.DeadObjectError, match="closed"):
            call()
    assert repr(b) and repr(world) and repr(joint)
    world.close()


def test_worlds_are_freed():
    from rattleback._native import lib
    gc.collect()
    before = lib.rbGetAllocatedBytes()
    for _ in range(5):
        with make_stack() as world:
            world.add_force(lambda body, state: None)
            world.step(2)
    world = make_stack(20)
    del world
    gc.collect()
    assert lib.rbGetAllocatedBytes() <= before


def test_contacts_carry_the_weight():
    world = make_stack(2)
    world.step(100)
    contacts = world.contacts()
    ground = contacts[(contacts["body_a"] == 0) | (contacts["body_b"] == 0)]
    weight = 9.81 * world.masses.sum()
    assert abs(np.abs(ground["force"][:, 2]).sum() - weight) < 1e-6 * weight
    assert set(contacts.dtype.names) == {"body_a", "body_b", "point", "normal", "gap", "force", "sticking"}


def test_contact_events_name_bodies_by_place():
    world = rb.World(contact={"events": True})
    gone = world.add_body(rb.Shape.sphere(0.1), position=(9, 0, 9))
    world.add_body(rb.Shape.plane(), type="static")
    world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.2), name="ball")
    gone.destroy()
    heard = []
    world.on_contact(lambda events: heard.extend(zip(events["kind"], events["body_a"], events["body_b"])))
    world.advance(0.5)
    assert heard[0][0] == 0 and set(map(int, heard[0][1:])) == {0, 1}
    assert world.bodies[1].name == "ball"


def test_snapshots_and_branches_continue_with_the_same_bits():
    world = make_stack()
    world.body("box1").destroy()
    extra = world.add_body(rb.Shape.sphere(0.3), position=(0.1, 0, 3.5), name="extra")
    world.add_joint("distance", None, extra, anchor_a=(0, 0, 6))
    world.step(25)
    world.add_spring(extra, world.body("box0"), stiffness=200.0)
    world.step(25)
    state = world.snapshot()
    other = world.branch()
    world.step(100)
    end = world.hash
    world.restore(state)
    assert world.time == state.time == 0.05
    world.step(100)
    other.step(100)
    assert world.hash == end == other.hash
    with world.rewinding():
        world.body("extra").velocity = (5, 5, 5)
        world.step(10)
    assert world.hash == end
    with pytest.raises(rb.InvalidError, match="differ"):
        rb.World().restore(state)


# B-92b
def test_joints_and_motors():
    world = rb.World()
    arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), name="arm")
    hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0), name="elbow",
                            motor={"type": "velocity", "target": 1.0})
    world.advance(0.5)
    assert hinge.velocity == pytest.approx(1.0, abs=1e-9)
    assert hinge.position == pytest.approx(0.5, abs=1e-6)
    assert max(hinge.error) < 1e-6
    hinge.motor_target = 0.0
    world.step(2)
    assert world.joint("elbow").velocity == pytest.approx(0.0, abs=1e-9)
    ball = world.add_joint("ball", None, world.add_body(rb.Shape.sphere(0.1), position=(0, 5, 0)), anchor=(0, 5, 1))
    with pytest.raises(rb.InvalidError, match="no freedom"):
        ball.position


# ------------------------------------------------------------------------------------------------------------ callbacks


@pytest.mark.parametrize("engine", ["step", "event", "flight"])
def test_held_loads_are_those_of_a_constant_force(engine):
    world = rb.World(engine=engine, gravity=(0, 0, 0))
    ball = world.add_body(rb.Shape.sphere(0.1), mass=2.0)
    world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 5))
    world.write("force", [[4, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(world.read("force"), [[4, 0, 0], [0, 0, 0]])
    world.advance(1.0)
    np.testing.assert_allclose(ball.position, (1, 0, 0), atol=1e-9)
    assert world.ledger.work == pytest.approx(4.0, rel=1e-9)


def test_controller_equals_force_function_to_the_step():
    """A PD controller as a vectorized controller (held over steps) and as a force (evaluated within steps)."""
    def target(position, velocity):
        return -4.0 * position - 1.0 * velocity
    ends = []
    for vectorized in (True, False):
        world = rb.World(gravity=(0, 0, 0), contacts=False)
        ball = world.add_body(rb.Shape.sphere(0.1), position=(1, 0, 0), mass=1.0)
        if vectorized:
            world.add_controller(lambda w: (target(w.positions, w.velocities), np.zeros((1, 3))))
        else:
            world.add_force(lambda body, state: target(state.center, state.velocity))
        world.advance(2.0)
        ends.append(float(ball.position[0]))
    wanted = math.exp(-1.0) * (math.cos(math.sqrt(3.75) * 2) + 0.5 / math.sqrt(3.75) * math.sin(math.sqrt(3.75) * 2))
    assert ends[1] == pytest.approx(wanted, abs=1e-6)
    assert ends[0] == pytest.approx(wanted, abs=3e-3)


class Stop(Exception):
    pass


@pytest.mark.parametrize("kind", ["force", "controller", "listener", "filter"])
def test_exceptions_of_callbacks_leave_the_world_as_before_the_step(kind):
    def build():
        world = rb.World(contact={"events": True})
        world.add_body(rb.Shape.plane(), type="static")
        world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.15), velocity=(1, 0, 0), name="a")
        world.add_body(rb.Shape.sphere(0.1), position=(1.2, 0, 0.15), name="b")
        return world

    calls = {"count": 0, "armed": True}

    def trip(*_):
        calls["count"] += 1
        # The filter is asked seldom, the others at every step.
        if calls["armed"] and calls["count"] >= (2 if kind in ("filter", "listener") else 40):
            raise Stop("enough")
        return True if kind == "filter" else None

    def arm(world):
        {"force": world.add_force, "controller": world.add_controller, "listener": world.on_contact,
         "filter": world.set_filter}[kind](trip)

    world = build()
    arm(world)
    last = world.hash
    with pytest.raises(Stop, match="enough") as caught:
        for _ in range(2000):
            last = world.hash
            world.step()
    assert "trip" in str(caught.traceback[-1])
    assert world.hash == last
    calls["armed"] = False
    world.advance_to(1.5)

    calls["count"] = 0
    other = build()
    arm(other)
    other.advance_to(1.5)
    assert other.hash == world.hash


def test_wrong_answers_of_callbacks_are_refused():
    world = rb.World()
    world.add_body(rb.Shape.sphere(0.1))
    world.add_force(lambda body, state: (1.0, math.nan, 0.0))
    with pytest.raises(rb.InvalidError, match="force function"):
        world.step()
    assert world.time == 0.0
    world = rb.World()
    world.add_body(rb.Shape.sphere(0.1))
    world.add_controller(lambda w: np.zeros((2, 3)))
    with pytest.raises(rb.InvalidError, match="force of 1 bodies has the shape"):
        world.step()
    assert world.time == 0.0


def test_filter_decides_who_collides():
    world = rb.World()
    world.add_body(rb.Shape.plane(), type="static", name="ground")
    solid = world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.2), name="solid")
    ghost = world.add_body(rb.Shape.sphere(0.1), position=(1, 0, 0.2), name="ghost")
    world.set_filter(lambda a, b: "ghost" not in (a.name, b.name))
    world.advance(1.0)
    assert solid.position[2] > 0.09 and ghost.position[2] < -1.0


def test_keyboard_interrupt_ends_a_long_run_at_a_step():
    # a shell that starts the tests in the background has them ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupt_a_long_run()
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt_a_long_run():
    world = make_stack(30)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        world.advance(1e6)
    assert 0.0 < world.time < 1e6
    reached = world.time
    again = make_stack(30)
    again.advance_to(reached)
    assert again.hash == world.hash


# ------------------------------------------------------------------------------------------------------- threads, forks


def test_step_all_gives_the_bits_of_single_steps():
    worlds = [make_stack(i % 4 + 1) for i in range(8)]
    others = [make_stack(i % 4 + 1) for i in range(8)]
    rb.step_all(worlds, 50, threads=3)
    for world in others:
        world.step(50)
    assert [world.hash for world in worlds] == [world.hash for world in others]
    with pytest.raises(rb.InvalidError, match="twice"):
        rb.step_all([worlds[0], worlds[0]])
    worlds[1].add_controller(lambda world: None)
    with pytest.raises(rb.InvalidError, match="callbacks"):
        rb.step_all(worlds)
    others[3].close()
    with pytest.raises(rb.DeadObjectError):
        rb.step_all(others)


def test_steps_release_the_gil():
    world = make_stack(60)
    world.step()
    ticks = 0
    done = threading.Event()

    def run():
        world.step(300)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 10


def test_a_forked_process_continues_with_the_same_bits():
    world = make_stack()
    world.step(20)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        world.step(20)
        os.write(writer, str(world.hash).encode())
        os._exit(0)
    os.waitpid(child, 0)
    world.step(20)
    assert int(os.read(reader, 100)) == world.hash
    os.close(reader)
    os.close(writer)


def test_missed_tolerances_warn_once_and_ends_raise():
    world = rb.World()
    world.add_body(rb.Shape.sphere(0.5), position=(0, 0, 0), name="left")
    world.add_body(rb.Shape.sphere(0.5), position=(0.3, 0, 0), name="right")
    with pytest.raises(rb.InvalidError, match='"left" and "right" overlap'):
        world.step()
    assert world.time == 0.0


def examples_of(thing):
    """The lines of its documentation that doctest runs."""
    return "\n".join(line for line in (thing.__doc__ or "").splitlines() if line.strip().startswith((">>>", "...")))


def test_every_public_name_has_a_text_and_an_example():
    """Functions and classes have an example; that of a method or property uses its name; attributes are in the text of the class."""
    import rattleback.env
    lacking = []
    for name in rb.__all__ + ["env.Box", "env.Env", "env.VectorEnv"]:
        thing = getattr(rattleback.env if name.startswith("env.") else rb, name.rpartition(".")[2])
        if not examples_of(thing):
            lacking.append(name)
        if not isinstance(thing, type):
            continue
        for field in getattr(thing, "__dataclass_fields__", ()):
            if not re.search(rf"\b{field}\b", thing.__doc__):
                lacking.append(f"{name}.{field}")
        for base in thing.__mro__:
            for key, member in vars(base).items() if base.__module__.startswith("rattleback") else ():
                inner = getattr(member, "__func__", member)
                if key.startswith("_") or not (callable(inner) or isinstance(member, property)):
                    continue
                if not re.search(rf"\b{key}\b", examples_of(inner)):
                    lacking.append(f"{name}.{key}")
    assert lacking == []


def test_all_lists_every_public_name():
    """What the package binds without an underscore is listed, or a module."""
    import types
    bound = {name for name, thing in vars(rb).items() if not name.startswith("_") and not isinstance(thing, types.ModuleType)}
    assert bound - set(rb.__all__) <= {"check", "new_error"}
    assert set(rb.__all__) <= bound


def test_handles_own_their_ids():
    """Ids that are read from arrays and from memory of the library outlive them."""
    from rattleback._native import ffi
    world = make_stack(20)
    seen = []
    world.add_force(lambda body, state: seen.append(body))
    kept = world.bodies + [world.cast_ray((0, 0, 100), (0, 0, -1)).body]
    world.step()
    gc.collect()
    junk = []
    for size in range(1, 200):  # takes the place of what was freed
        block = ffi.new("uint8_t[]", size)
        ffi.buffer(block)[:] = b"\xff" * size
        junk.append(block)
    assert all(body.is_alive for body in kept)
    assert [body.name for body in kept[:-1]] == ["ground"] + [f"box{i}" for i in range(20)] and kept[-1].name == "box19"
    assert seen and all(body.is_alive and body.name.startswith("box") for body in seen)


def test_warnings_name_the_line_of_the_user():
    """From a step, from a long advance and with a callback: the line of this file, not one of the package."""
    for call, callback in ((lambda w: w.step(), False), (lambda w: w.advance(0.01), False), (lambda w: w.advance(0.002), True)):
        # One sweep cannot solve a stack with a heavy box on top.
        world = make_stack(6, contact={"sweeps_max": 1, "velocity_tolerance": 1e-12, "tolerance": 1e-12})
        world.body("box5").mass = 1e6
        if callback:
            world.add_controller(lambda w: None)
        with pytest.warns(rb.RattlebackWarning) as caught:
            call(world)
        assert len(caught) == 1 and caught[0].filename == __file__


# ------------------------------------------------------------------------------------------------------- floating-point mode


@pytest.mark.parametrize("kind", ["fast-math", "upward"])
def test_another_floating_point_mode_is_reported_and_changes_no_bits(kind, tmp_path):
    """A library built with fast-math, loaded after the first steps, and a thread that rounds upward: the bits stay, there is one
    warning, and the mode is put back after the advance."""
    source = tmp_path / "mode.c"
    source.write_text("""
        #include <fenv.h>
        int rounding(void) { return fegetround(); }
        void round_up(void) { fesetround(FE_UPWARD); }
        double halve(double x) { volatile double y = x; return 0.5 * y; }
        """)
    made = str(tmp_path / "mode.so")
    # With fast-math the compiler links code into the library that sets the mode when it is loaded.
    subprocess.run(["cc", "-O1", *(["-ffast-math"] if kind == "fast-math" else []), "-shared", "-fPIC", str(source), "-o", made,
                    "-lm"], check=True)
    code = textwrap.dedent("""
        import ctypes, sys, warnings
        import rattleback as rb
        def make():
            world = rb.World()
            world.add_body(rb.Shape.plane(), type="static")
            for i in range(4):
                world.add_body(rb.Shape.box((1, 1, 1)), position=(0.1 * i, 0, 0.6 + 1.1 * i), spin=(0.1, 0.2, 0.3))
            return world
        truth, world, others = make(), make(), [make(), make()]
        truth.step(300)
        world.step(100)
        mode = ctypes.CDLL(sys.argv[1])
        mode.halve.restype, mode.halve.argtypes = ctypes.c_double, [ctypes.c_double]
        if sys.argv[2] == "upward":
            mode.round_up()
            odd = lambda: mode.rounding() != 0
        else:
            odd = lambda: mode.halve(2.0 ** -1022) == 0.0
        print(odd())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(100):
                world.step()
            world.advance_to(0.3)
            rb.step_all(others, 300, threads=1)
        for warning in caught:
            print(warning.category.__name__, str(warning.message)[:67])
        print(odd(), [other.hash == truth.hash for other in (world, *others)])
        """)
    done = subprocess.run([sys.executable, "-c", code, made, kind], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = "RattlebackWarning a library of this process set another floating-point mode in this thread"
    assert done.stdout.splitlines() == ["True", told[:18 + 67], told[:18 + 67], told[:18 + 67], "True [True, True, True]"]
