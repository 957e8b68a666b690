"""Environments, rollouts and linear models."""
import importlib
import math
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import rattleback as rb
import rattleback.env


def make_arm():
    scene = rb.Scene(step={"step": 0.01})
    scene.add_body(rb.Shape.box((1, 0.1, 0.1)), name="arm", position=(0.5, 0, 0))
    scene.add_joint("hinge", None, "arm", name="j", anchor=(0, 0, 0), axis=(0, 1, 0),
                    motor={"type": "speed", "gain": 20, "forceMax": 100})
    scene.add_probe("angle", joint="j")
    scene.add_probe("speed", joint="j")
    return scene


def tilt(world, random):
    world.joint("j").set_motor_target(random.uniform(-1, 1))
    world.body("arm").angular_velocity = (0, random.uniform(-1, 1), 0)


OPTIONS = dict(actions={"j": (-5.0, 5.0)}, reward=lambda world, seen: -float(seen[0] ** 2), steps_max=20,
               terminated=lambda world, seen: bool(seen[0] > 0.5), randomize=tilt, frame_skip=2)


def check_rules(module):
    """The written rules of Gymnasium's interface."""
    env = module.Env(make_arm(), **OPTIONS)
    with pytest.raises(rb.InvalidError, match="reset"):
        env.step([0.0])
    first, info = env.reset(seed=5)
    assert isinstance(info, dict) and env.observation_space.contains(first)
    assert env.action_space.contains(env.action_space.sample())
    again, _ = env.reset(seed=5)
    assert first.tobytes() == again.tobytes()
    other, _ = env.reset(seed=6)
    assert first.tobytes() != other.tobytes()

    def episode():
        env.reset(seed=7)
        seen = []
        while True:
            observation, reward, terminated, truncated, info = env.step(np.array([3.0]))
            assert env.observation_space.contains(observation) and isinstance(reward, float)
            assert isinstance(terminated, bool) and isinstance(truncated, bool) and isinstance(info, dict)
            seen.append(observation)
            if terminated or truncated:
                return np.array(seen)

    a, b = episode(), episode()
    assert a.tobytes() == b.tobytes() and len(a) <= 20
    with pytest.raises(rb.InvalidError, match="action"):
        env.step([0.0, 1.0])
    with pytest.raises(rb.InvalidError, match="finite"):
        env.step([math.nan])
    env.close()
    return a


def test_env_follows_the_rules_without_and_with_gymnasium(monkeypatch):
    assert rattleback.env.gymnasium is None, "the real one is installed: extend this test"
    alone = check_rules(rattleback.env)
    stub, spaces = types.ModuleType("gymnasium"), types.ModuleType("gymnasium.spaces")
    stub.Env = type("Env", (), {})
    spaces.Box = rattleback.env.Box
    stub.spaces = spaces
    monkeypatch.setitem(sys.modules, "gymnasium", stub)
    monkeypatch.setitem(sys.modules, "gymnasium.spaces", spaces)
    try:
        module = importlib.reload(rattleback.env)
        assert issubclass(module.Env, stub.Env)
        assert check_rules(module).tobytes() == alone.tobytes()
    finally:
        monkeypatch.undo()
        importlib.reload(rattleback.env)


def test_vector_env_gives_the_bits_of_single_ones():
    many = rattleback.env.VectorEnv(make_arm(), 3, **OPTIONS)
    seen, _ = many.reset(seed=7)
    singles = [rattleback.env.Env(make_arm(), **OPTIONS) for _ in range(3)]
    first = np.stack([env.reset(seed=7 + i)[0] for i, env in enumerate(singles)])
    assert seen.tobytes() == first.tobytes()
    ended = 0
    for _ in range(30):
        seen, rewards, terminated, truncated, info = many.step(np.full((3, 1), 3.0))
        for i, env in enumerate(singles):
            observation, reward, end, cut, _ = env.step([3.0])
            assert (reward, end, cut) == (rewards[i], terminated[i], truncated[i])
            if end or cut:
                assert info["final_observation"][i].tobytes() == observation.tobytes()
                observation, _ = env.reset()
                ended += 1
            assert observation.tobytes() == seen[i].tobytes()
    assert ended >= 3
    with pytest.raises(rb.NotFoundError, match="column"):
        rattleback.env.Env(make_arm(), actions={}, observations=["speed of light"])
    with pytest.raises(rb.NotFoundError, match="joint 'k'"):
        rattleback.env.Env(make_arm(), actions={"k": (0, 1)})
    with pytest.raises(rb.InvalidError, match="low < high"):
        rattleback.env.Env(make_arm(), actions={"j": (1, 0)})


def test_rollouts_are_the_steps_of_the_world():
    world = make_arm().world()
    world.step(5)
    before = world.hash
    controls = np.random.default_rng(1).uniform(-3, 3, (6, 8, 1))
    found = world.rollout(controls, joints=["j"], steps=3, threads=3)
    assert world.hash == before and found.ok.all()
    for k in range(6):
        with world.rewinding():
            for t in range(8):
                world.joint("j").set_motor_target(controls[k, t, 0])
                world.step(3)
                np.testing.assert_array_equal(found.positions[k, t + 1], world.positions)
                np.testing.assert_array_equal(found.angular_velocities[k, t + 1], world.angular_velocities)
    forces = np.zeros((2, 4, 1, 3))
    forces[1, :, :, 2] = 1.0
    pushed = world.rollout(forces)
    assert (pushed.velocities[1, -1, 0, 2] > pushed.velocities[0, -1, 0, 2])
    with pytest.raises(rb.InvalidError, match="shape"):
        world.rollout(np.zeros((2, 4, 5)), joints=["j"])
    with pytest.raises(rb.InvalidError, match="1 states and 2 controls"):
        world.rollout(np.zeros((2, 4, 1)), joints=["j"], states=[world.snapshot()])
    world.add_controller(lambda w: None)
    with pytest.raises(rb.InvalidError, match="callbacks"):
        world.rollout(forces)


def test_linear_model_of_a_free_body():
    """Free flight with gravity: x' = x + h v, v' = v + h F/m; a sphere turns at constant rate, w' = w + h T/I."""
    world = rb.World(contacts=False)
    ball = world.add_body(rb.Shape.sphere(0.1), mass=2.0, spin=(0, 0, 0))
    before = world.hash
    model = world.linearize()
    assert world.hash == before
    h, moment = world.dt, ball.mass_properties.inertia[0, 0]
    a = np.eye(12)
    a[0:6, 6:12] = h * np.eye(6)
    b = np.zeros((12, 6))
    b[6:9, 0:3], b[9:12, 3:6] = h / 2.0 * np.eye(3), h / moment * np.eye(3)
    b[0:6] = 0.5 * h * b[6:12]
    np.testing.assert_allclose(model.A, a, atol=1e-8)
    np.testing.assert_allclose(model.B, b, rtol=1e-6, atol=1e-8)


def test_linear_model_of_a_pendulum_has_its_frequency():
    """A rod on a hinge, hanging: eigenvalues exp(+-i omega h) with omega^2 = m g l / I."""
    world = rb.World(contacts=False)
    rod = world.add_body(rb.Shape.box((0.05, 0.05, 1.0)), position=(0, 0, -0.5), name="rod")
    world.add_joint("hinge", None, rod, anchor=(0, 0, 0), axis=(0, 1, 0), name="pin")
    steps = 100
    model = world.linearize(steps=steps)
    found = rod.mass_properties
    omega = math.sqrt(found.mass * 9.81 * 0.5 / (found.inertia[1, 1] + found.mass * 0.25))
    values = np.linalg.eigvals(model.A)
    values = values[np.abs(values) > 0.1]  # the others belong to motions that the hinge forbids
    swinging = [value for value in values if value.imag > 1e-6]
    assert len(swinging) == 1
    assert np.angle(swinging[0]) / (steps * world.dt) == pytest.approx(omega, rel=1e-3)
    assert abs(swinging[0]) == pytest.approx(1.0, abs=1e-4)


def exponential(matrix):
    """exp of a small matrix, by its series after halving."""
    squarings = max(0, int(math.ceil(math.log2(max(np.abs(matrix).sum(axis=1).max(), 1e-9)))) + 4)
    small, total, term = matrix / 2.0 ** squarings, np.eye(len(matrix)), np.eye(len(matrix))
    for k in range(1, 20):
        term = term @ small / k
        total = total + term
    for _ in range(squarings):
        total = total @ total
    return total


def held(a, b, duration):
    """A and B of x' = a x + b u over a duration, u held."""
    n, m = b.shape
    whole = exponential(np.block([[a, b], [np.zeros((m, n + m))]]) * duration)
    return whole[:n, :n], whole[:n, n:]


def test_linear_model_of_a_hanging_pendulum_is_the_closed_form(capsys):
    """theta'' = -omega^2 theta + torque / I about the pin."""
    world = rb.World(contacts=False, accuracy="exact")
    rod = world.add_body(rb.Shape.box((0.05, 0.05, 1.0)), position=(0, 0, -0.5), name="rod")
    world.add_joint("hinge", None, rod, anchor=(0, 0, 0), axis=(0, 1, 0), name="pin")
    steps = 10
    model = world.linearize(steps=steps)
    inner = rod.mass_properties
    moment = inner.inertia[1, 1] + inner.mass * 0.25
    omega2 = inner.mass * 9.81 * 0.5 / moment
    a, b = held(np.array([[0, 1], [-omega2, 0]]), np.array([[0], [1 / moment]]), steps * world.dt)
    # An angle moves the center along -x * 0.5 and turns the rod about y.
    tangent = np.zeros((12, 2))
    tangent[[0, 4], 0] = -0.5, 1.0
    tangent[[6, 10], 1] = -0.5, 1.0
    found_a, found_b = (model.A @ tangent)[[4, 10]], model.B[[4, 10], 4:5]
    with capsys.disabled():
        print(f"\npendulum: A off by {np.abs(found_a - a).max():.1e}, estimated {model.A_error.max():.1e}; B off by "
              f"{np.abs(found_b - b).max():.1e}", file=sys.stderr)
    assert model.method == "exact"
    np.testing.assert_allclose(found_a, a, atol=1e-10)
    np.testing.assert_allclose(found_b, b, atol=1e-10)


def make_cart_pole(**keys):
    world = rb.World(contacts=False, **keys)
    cart = world.add_body(rb.Shape.box((0.4, 0.2, 0.2)), name="cart", mass=1.0)
    pole = world.add_body(rb.Shape.box((0.04, 0.04, 0.8)), name="pole", mass=0.2, position=(0, 0, 0.4))
    world.add_joint("prismatic", None, cart, anchor=(0, 0, 0), axis=(1, 0, 0), name="rail")
    world.add_joint("hinge", cart, pole, anchor=(0, 0, 0), axis=(0, 1, 0), name="pivot")
    return world, cart, pole


def test_linear_model_of_a_cart_pole_is_the_closed_form(capsys):
    """Upright: (M + m) x'' + m l t'' = F, m l x'' + (I + m l^2) t'' = m g l t."""
    world, cart, pole = make_cart_pole(accuracy="exact")
    steps = 5
    model = world.linearize(steps=steps)
    big, small, length = cart.mass, pole.mass, 0.4
    moment = pole.mass_properties.inertia[1, 1] + small * length ** 2
    inverse = np.linalg.inv([[big + small, small * length], [small * length, moment]])
    a, b = np.zeros((4, 4)), np.zeros((4, 1))
    a[:2, 2:] = np.eye(2)
    a[2:, 1] = inverse @ (0.0, small * 9.81 * length)
    b[2:, 0] = inverse @ (1.0, 0.0)
    a, b = held(a, b, steps * world.dt)
    # Coordinates: travel of the cart, angle of the pole, their rates.
    tangent = np.zeros((24, 4))
    for row, column in ((0, 0), (6, 2)):
        tangent[row, column] = tangent[12 + row, column] = 1.0
        tangent[12 + row, column + 1] = length
        tangent[12 + row + 4, column + 1] = 1.0
    rows = [0, 16, 6, 22]
    found_a, found_b = (model.A @ tangent)[rows], model.B[rows, 0:1]
    with capsys.disabled():
        print(f"\ncart-pole: A off by {np.abs(found_a - a).max():.1e}, estimated {model.A_error.max():.1e}; B off by "
              f"{np.abs(found_b - b).max():.1e}", file=sys.stderr)
    np.testing.assert_allclose(found_a, a, atol=1e-10)
    np.testing.assert_allclose(found_b, b, atol=1e-10)


def test_linear_model_of_a_spinning_body():
    """A free body with two equal moments, spun about its axis."""
    world = rb.World(contacts=False, gravity=(0, 0, 0), accuracy="exact")
    top = world.add_body(rb.Shape.box((0.2, 0.2, 0.6)), spin=(0, 0, 3.0))
    steps = 20
    model = world.linearize(steps=steps)
    inertia = top.mass_properties.inertia
    # In space w = L / A + (1 - C / A) w3 e with the axis e, which turns about L at the rate C w3 / A. A change dw across
    # changes L by A dw, and e by (1 - turn) A dw / (C w3).
    rate = inertia[2, 2] / inertia[0, 0] * 3.0
    angle = rate * steps * world.dt
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    closed = np.eye(2) + (inertia[0, 0] / inertia[2, 2] - 1.0) * (np.eye(2) - turn)
    np.testing.assert_allclose(model.A[9:11, 9:11], closed, atol=1e-8)
    assert model.A_error.max() < 1e-7


def cross(vector):
    """The matrix of the cross product with a vector."""
    x, y, z = vector
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rotate(vector):
    """The rotation by a vector, also a complex one."""
    angle = np.sqrt((vector * vector).sum())
    unit = cross(vector / angle)
    return np.eye(3) + np.sin(angle) * unit + (1 - np.cos(angle)) * (unit @ unit)


def test_linear_model_of_a_free_top_is_exact(capsys):
    """A symmetric top that nutates: R(t) = rot(L t / A) R0 rot((1 / C - 1 / A) L3 t e3), differentiated by a complex step, which
    has no error of differences."""
    world = rb.World(contacts=False, gravity=(0, 0, 0), accuracy="exact")
    spin = np.array([1.1, -0.7, 3.0])
    top = world.add_body(rb.Shape.box((0.2, 0.2, 0.6)), spin=tuple(spin))
    steps = 250
    model = world.linearize(steps=steps)
    assert model.method == "exact"
    moments = np.diag(top.mass_properties.inertia)
    duration = steps * world.dt

    def flow(turn, rate):
        start = np.eye(3) + cross(turn)  # turn is 0 or a complex step
        momentum = start @ (moments * (start.T @ rate))
        along = (start.T @ momentum)[2] * (1 / moments[2] - 1 / moments[0]) * duration
        end = rotate(momentum * duration / moments[0]) @ start @ rotate(np.array([0, 0, 1.0]) * along)
        return end, end @ ((end.T @ momentum) / moments)

    tiny, zero = 1e-30j, np.zeros(3)
    base = flow(zero, spin)[0].real
    truth = np.zeros((6, 6))
    for i in range(6):
        unit = np.eye(3)[i % 3] * tiny
        end, rate = flow(unit if i < 3 else zero, spin + (unit if i >= 3 else 0))
        change = (end.imag / 1e-30) @ base.T
        truth[:, i] = np.concatenate(([change[2, 1], change[0, 2], change[1, 0]], rate.imag / 1e-30))
    rows = [3, 4, 5, 9, 10, 11]
    off = np.abs(model.A[np.ix_(rows, rows)] - truth).max() / np.abs(truth).max()
    with capsys.disabled():
        print(f"\nfree top: A off by {off:.1e} of its largest entry, estimated {model.A_error.max():.1e}", file=sys.stderr)
    assert off < 1e-9


def test_linear_model_of_a_swinging_pendulum_is_exact(capsys):
    """Far from its rest: theta'' = -omega^2 sin theta, integrated in small steps of order 4, differentiated by a complex step."""
    world = rb.World(contacts=False, accuracy="exact", dt=1e-4)
    start, rate = 1.0, -2.0
    rod = world.add_body(rb.Shape.box((0.05, 0.05, 1.0)), position=(-0.5 * math.sin(start), 0, -0.5 * math.cos(start)), name="rod",
                         orientation=(math.cos(start / 2), 0, math.sin(start / 2), 0), spin=(0, rate, 0),
                         velocity=(-0.5 * math.cos(start) * rate, 0, 0.5 * math.sin(start) * rate))
    world.add_joint("hinge", None, rod, anchor=(0, 0, 0), axis=(0, 1, 0), name="pin")
    steps = 100
    model = world.linearize(steps=steps)
    inner = rod.mass_properties
    moment = inner.inertia[0, 0] + inner.mass * 0.25
    omega2 = inner.mass * 9.81 * 0.5 / moment

    def flow(state):
        def slope(s):
            return np.array([s[1], -omega2 * np.sin(s[0])])
        h = steps * world.dt / 1000
        for _ in range(1000):
            a = slope(state)
            b = slope(state + 0.5 * h * a)
            c = slope(state + 0.5 * h * b)
            d = slope(state + h * c)
            state = state + h / 6 * (a + 2 * b + 2 * c + d)
        return state

    truth = np.stack([flow(np.array([start, rate]) + 1e-30j * np.eye(2)[i]).imag / 1e-30 for i in range(2)], axis=1)
    # The center is at -0.5 (sin, cos): an angle moves it along (-cos, sin) / 2, and changes its velocity, too.
    tangent = np.zeros((12, 2))
    tangent[[0, 2, 4], 0] = -0.5 * math.cos(start), 0.5 * math.sin(start), 1.0
    tangent[[6, 8], 0] = 0.5 * math.sin(start) * rate, 0.5 * math.cos(start) * rate
    tangent[[6, 8, 10], 1] = -0.5 * math.cos(start), 0.5 * math.sin(start), 1.0
    off = np.abs((model.A @ tangent)[[4, 10]] - truth).max() / np.abs(truth).max()
    with capsys.disabled():
        print(f"\nswinging pendulum ({model.method}): A off by {off:.1e} of its largest entry, estimated {model.A_error.max():.1e}",
              file=sys.stderr)
    assert model.method == "exact"
    assert off < 1e-9


def test_the_linear_model_says_where_it_is_only_by_differences():
    world = rb.World()
    world.add_body(rb.Shape.plane(), type="static")
    world.add_body(rb.Shape.box((1, 1, 1)), position=(0, 0, 0.5), mass=2.0)
    world.step(10)
    model = world.linearize()
    assert model.method == "differences"
    assert model.A[0, 0] == pytest.approx(1.0, abs=1e-6)
    assert rb.World(contacts=False).linearize(eps=1e-3).method == "differences"
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(rb.InvalidError, match="size of the differences"):
            world.linearize(eps=wrong)
    with pytest.raises(rb.InvalidError, match="number of steps"):
        world.linearize(steps=0)


def test_the_error_estimate_tells_where_a_contact_begins():
    world = rb.World()
    world.add_body(rb.Shape.plane(), type="static")
    world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.1 + 1.6e-3), velocity=(0, 0, -1), material=rb.Material(restitution=1.0))
    assert world.linearize(eps=1e-3).A_error.max() > 1e-2
    world.bodies[1].position = (0, 0, 1.0)
    assert world.linearize(eps=1e-3).A_error.max() < 1e-9


def test_demo_runs(tmp_path):
    code = "import rattleback; rattleback.demo('demo.html', duration=0.5)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rattleback is spun" in done.stdout and (tmp_path / "demo.html").exists()
