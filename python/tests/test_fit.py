"""Keyframes (L-115d): motion through given states by optimization over values of a scene."""
import math

import numpy as np
import pytest

import rattleback as rb

G = 9.81
RADIUS = 0.12  # of the ball, m
RING = np.array([4.0, 0.0, 3.05])
LEATHER = rb.Material(restitution=0.75, friction=0.4)


def make_court(engine="event", drag=0.0):
    """A ball, a ring of capsules, a board behind it."""
    scene = rb.Scene(engine=engine, world={"gravity": [0, 0, -G]})
    scene.add_body(rb.Shape.box((0.05, 1.8, 1.05)), name="board", type="static", position=(4.4, 0, 3.5), material=LEATHER)
    count, ring = 12, 0.23
    bars = []
    for i in range(count):
        angle = 2.0 * math.pi * (i + 0.5) / count
        half = 0.5 * angle  # about z by the angle, after a quarter turn about x that lays the capsule flat
        q = (math.cos(half) * math.sqrt(0.5), -math.cos(half) * math.sqrt(0.5), -math.sin(half) * math.sqrt(0.5),
             math.sin(half) * math.sqrt(0.5))
        bars.append((rb.Shape.capsule(0.01, 0.12), (ring * math.cos(angle), ring * math.sin(angle), 0.0), q))
    scene.add_body(name="ring", type="static", shapes=bars, position=RING.tolist(), material=LEATHER)
    scene.add_body(rb.Shape.sphere(RADIUS), name="ball", mass=0.6, position=(0, 0, 2.0), velocity=(4, 0, 6), spin=(0, 0, 0),
                   material=LEATHER)
    if drag > 0.0:
        scene.add_force("drag", body="ball", quadratic=drag)
    return scene


# Falls short: it hits nothing, so that the first step sees a parabola.
VELOCITY = {f"bodies.ball.velocity.{i}": value for i, value in enumerate((2.8, 0.1, 6.0))}


def hits(scene, time):
    """Names of the bodies that the ball hit."""
    world = scene.world()
    world.advance(time)
    names = [body.name for body in world.bodies]
    return [names[a if names[b] == "ball" else b] for a, b in zip(world.events()["body_a"], world.events()["body_b"])
            if a >= 0 and b >= 0]


# L-115d
def test_a_throw_into_a_basket():
    """Without air the velocity is known: d / t + g t / 2."""
    time = 1.1
    found = rb.fit(make_court(), VELOCITY, {time: {"ball.position": RING}})
    assert found.converged and found.miss <= 1e-9 and found.message == "the targets are reached"
    way = RING - (0, 0, 2.0)
    np.testing.assert_allclose(list(found.values.values()), way / time + (0, 0, 0.5 * G * time), atol=1e-8)
    world = found.scene.world()
    world.advance(time)
    ball = world.body("ball")
    assert np.abs(ball.position - RING).max() <= 1e-6 and ball.velocity[2] < 0.0
    assert hits(found.scene, time + 0.06) == []  # through the ring without touching it
    world.advance(0.06)
    assert ball.position[2] < RING[2] - 2 * RADIUS and np.linalg.norm(ball.position[:2] - RING[:2]) < 0.23


def test_a_throw_into_a_basket_through_air():
    """With the drag of the air there is no closed form; the same call."""
    time = 1.2
    found = rb.fit(make_court("flight", 0.03), VELOCITY, {time: {"ball.position": RING}})
    assert found.converged and found.miss <= 1e-6
    world = found.scene.world()
    world.advance(time)
    assert np.abs(world.body("ball").position - RING).max() <= 1e-6
    way = RING - (0, 0, 2.0)
    assert found.values["bodies.ball.velocity.0"] > 1.05 * way[0] / time


# L-115d
def test_a_throw_into_a_basket_off_the_board():
    """The impact with the board has friction and spins the ball."""
    time = 1.15
    start = dict(zip(VELOCITY, (4.03, 0.03, 6.6)))
    assert hits(make_court().set("bodies.ball.velocity", list(start.values())), time) == ["board"]
    found = rb.fit(make_court(), start, {time: {"ball.position": RING}}, tolerance=1e-8)
    assert found.converged and found.miss <= 1e-6
    world = found.scene.world()
    world.advance(time)
    assert np.abs(world.body("ball").position - RING).max() <= 1e-6 and world.body("ball").velocity[2] < 0.0
    assert hits(found.scene, time) == ["board"]


# L-115d
def test_a_trick_shot_of_billiards():
    """The cue ball with side and back spin hits the red ball, which comes back from a cushion; both are at given places at a
    given time: four targets, five unknowns."""
    scene = rb.Scene.example("billiard-break")
    value = scene.to_dict()
    value["bodies"] = [body for body in value["bodies"] if not body["name"].startswith("ball")]
    del value["output"]
    scene = rb.Scene(value)
    scene.add_body(shapes=[{"geometry": "ball", "material": "resin"}], name="red", mass=0.17, position=(0.2, 0.1, 0.028575))

    def shoot(changed, unknown):
        c, s = math.cos(unknown["direction"]), math.sin(unknown["direction"])
        changed.set("bodies.cue.velocity", [unknown["speed"] * c, unknown["speed"] * s, 0.0])
        changed.set("bodies.cue.spin", [unknown["follow"] * -s + unknown["tilt"] * c, unknown["follow"] * c + unknown["tilt"] * s,
                                        unknown["side"]])

    start = {"direction": math.atan2(-0.318, 0.835), "speed": 3.0, "follow": -30.0, "side": 10.0, "tilt": 0.0}
    time = 1.4
    world = scene.copy()
    shoot(world, start)
    world = world.world()
    world.advance(time)
    # Not by chance near the start: centimeters away from where its balls end.
    red = world.body("red").position[:2] + (0.02, -0.03)
    cue = world.body("cue").position[:2] + (-0.02, 0.01)
    targets = {time: {"red.position.x": red[0], "red.position.y": red[1], "cue.position.x": cue[0], "cue.position.y": cue[1]}}
    found = rb.fit(scene, start, targets, apply=shoot, tolerance=1e-8)
    assert found.converged and found.miss <= 1e-6, found
    world = found.scene.world()
    world.advance(time)
    assert np.abs(world.body("red").position[:2] - red).max() <= 1e-6
    assert np.abs(world.body("cue").position[:2] - cue).max() <= 1e-6
    names = [body.name for body in world.bodies]
    pairs = {frozenset((names[a], names[b])) for a, b in zip(world.events()["body_a"], world.events()["body_b"]) if min(a, b) >= 0}
    assert frozenset(("cue", "red")) in pairs
    assert any("red" in pair and pair & {"north", "south", "east", "west"} for pair in pairs)


def make_slope(friction):
    scene = rb.Scene(step={"step": 0.005}, duration=1.0)
    tilt = 0.5
    scene.add_material("wood", friction=friction, restitution=0.0)
    scene.add_body(rb.Shape.plane((-math.sin(tilt), 0, math.cos(tilt))), name="slope", type="static", material="wood")
    place = 0.1 * np.array((-math.sin(tilt), 0, math.cos(tilt)))
    scene.add_body(rb.Shape.box((0.4, 0.4, 0.2)), name="block", position=place.tolist(), material="wood",
                   orientation=(math.cos(tilt / 2), 0, -math.sin(tilt / 2), 0), velocity=(0, 0, 0))
    return scene


# L-115d
def test_friction_is_identified_from_a_recorded_motion(tmp_path):
    path = str(tmp_path / "slide.rbr")
    make_slope(0.37).run(output=0.05, record=path)
    recording = rb.Recording(path)
    place = recording.body_names.index("block")
    targets = [(time, {"block.position": position[place]}) for time, position in zip(recording.times, recording.positions[:])]
    found = rb.fit(make_slope(0.2), {"materials.wood.friction": (0.2, 0.0, 1.0)}, targets)
    assert found.converged and found.miss <= 1e-6
    assert found.values["materials.wood.friction"] == pytest.approx(0.37, abs=1e-7)


def test_friction_is_identified_from_noise():
    """A camera with errors of a millimeter: the answer is off by what its standard deviation says."""
    random = np.random.default_rng(3)
    result = make_slope(0.37).run(output=0.02)
    places = result.body("block")["position"]
    seen = places + random.normal(0.0, 1e-3, places.shape)
    targets = [(time, {"block.position": position}) for time, position in zip(result.time, seen)]
    found = rb.fit(make_slope(0.2), {"materials.wood.friction": (0.2, 0.0, 1.0)}, targets)
    deviation = found.deviations["materials.wood.friction"]
    assert found.converged and 5e-4 < found.rms < 2e-3
    assert abs(found.values["materials.wood.friction"] - 0.37) < 3.0 * deviation
    # s = (g sin a - mu g cos a) t^2 / 2, so ds/dmu = -g cos a t^2 / 2; errors of 1 mm along the slope.
    closed = 1e-3 / math.sqrt(np.sum((0.5 * G * math.cos(0.5) * result.time ** 2) ** 2))
    assert deviation == pytest.approx(closed, rel=0.25)


def test_several_states_bounds_and_tries():
    scene = rb.Scene(engine="event", world={"gravity": [0, 0, -G]})
    scene.add_body(rb.Shape.plane(), type="static", material=rb.Material(restitution=0.8, friction=0.0))
    scene.add_body(rb.Shape.sphere(0.1), name="ball", position=(0, 0, 1), velocity=(1, 0, 1), material=rb.Material(
        restitution=0.8, friction=0.0))
    # The truth: speed 2 along x, 3 up; the second state is after a bounce.
    truth = scene.copy().set("bodies.ball.velocity", [2.0, 0.0, 3.0]).world()
    targets = {}
    for time in (0.3, 1.1):
        truth.advance_to(time)
        targets[time] = {"ball.position": truth.body("ball").position, "ball.velocity.z": truth.body("ball").velocity[2]}
    unknowns = {"bodies.ball.velocity.0": (1.0, -5.0, 5.0), "bodies.ball.velocity.2": (-1.0, -5.0, 5.0)}
    found = rb.fit(scene, unknowns, targets, tries=16, weights={"ball.velocity.z": 0.1})
    np.testing.assert_allclose(list(found.values.values()), (2.0, 3.0), atol=1e-9)
    again = rb.fit(scene, unknowns, targets, tries=16, weights={"ball.velocity.z": 0.1}, threads=1)
    assert again.values == found.values and again.runs == found.runs
    held = rb.fit(scene, {"bodies.ball.velocity.0": (1.0, -1.5, 1.5)}, {0.3: {"ball.position.x": 0.6}})
    assert held.values["bodies.ball.velocity.0"] == 1.5 and held.converged and held.miss == pytest.approx(0.15)
    assert "smaller" in held.message or "change" in held.message


@pytest.mark.parametrize("arguments, text", [
    (({}, {1.0: {"ball.position.x": 1.0}}), "no unknowns"),
    (({"bodies.ball.velocity.0": 1.0}, {}), "no targets"),
    (({"bodies.ball.velocity.0": (1.0, 2.0, 3.0)}, {1.0: {"ball.position.x": 1.0}}), "outside of its bounds"),
    (({"bodies.ball.velocity.0": math.nan}, {1.0: {"ball.position.x": 1.0}}), "finite"),
    (({"bodies.cat.velocity.0": 1.0}, {1.0: {"ball.position.x": 1.0}}), "cat"),
    (({"bodies.ball.velocity.0": 1.0}, {1.0: {"cat.position.x": 1.0}}), "cat"),
    (({"bodies.ball.velocity.0": 1.0}, {1.0: {"ball.position": 1.0}}), "3 are needed"),
    (({"bodies.ball.velocity.0": 1.0}, {-1.0: {"ball.position.x": 1.0}}), "not negative"),
    (({"bodies.ball.velocity.0": 1.0}, {1.0: {"ball.position.x": math.inf}}), "finite")])
def test_bad_questions_are_refused(arguments, text):
    scene = rb.Scene()
    scene.add_body(rb.Shape.sphere(0.1), name="ball", velocity=(1, 0, 0))
    with pytest.raises(rb.RattlebackError, match=text):
        rb.fit(scene, *arguments)


def test_runs_that_end_early_are_named():
    scene = rb.Scene()
    scene.add_body(rb.Shape.sphere(0.5), name="left", velocity=(1, 0, 0))
    scene.add_body(rb.Shape.sphere(0.5), name="right", position=(0.3, 0, 0))
    with pytest.raises(rb.LimitError, match="overlap"):
        rb.fit(scene, {"bodies.left.velocity.0": 1.0}, {1.0: {"left.position.x": 1.0}})
