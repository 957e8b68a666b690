"""For planners and controllers: many rollouts at once, and linear models of a step."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._convert import FloatArray, array, pointer
from ._native import ffi, lib
from ._waiting import take_waiting
from .errors import InvalidError, check, new_error
from .objects import Joint

if TYPE_CHECKING:
    from .world import Snapshot, World


@dataclass(frozen=True)
class Rollout:
    """States of k worlds over t controls: positions (k, t + 1, n, 3), orientations (k, t + 1, n, 4), velocities and
    angular_velocities; ok (k,): False where a world could not continue.

    >>> import rattleback as rb
    >>> world = rb.World(gravity=(0, 0, 0))
    >>> ball = world.add_body(rb.Shape.sphere(0.1), mass=1.0)
    >>> rollout = world.rollout([[[1, 0, 0]] * 100, [[-1, 0, 0]] * 100])
    >>> rollout.positions[:, -1, 0, 0].round(6).tolist()
    [0.005, -0.005]
    """

    positions: FloatArray
    orientations: FloatArray
    velocities: FloatArray
    angular_velocities: FloatArray
    ok: Any


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B u for a step of dt: the state x is, for each dynamic body in turn, the change of its position (m), a small
    rotation (rad, world axes), velocity and angular velocity; u are motor targets of joints, or forces (N) and torques (N m)
    of each dynamic body in turn. A_error and B_error estimate the errors of the entries; they are large where a contact begins
    or ends within the differences, and no linear model exists.

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> _ = world.add_body(rb.Shape.sphere(0.1), mass=2.0)
    >>> model = world.linearize()
    >>> model.A.shape, model.B.shape
    ((12, 12), (12, 6))
    """

    A: FloatArray
    B: FloatArray
    dt: float
    A_error: FloatArray
    B_error: FloatArray


def _branches(world: World, count: int) -> list[World]:
    """Branches of a world that are kept for the next time."""
    kept = world._branches
    if kept and kept[0]._recipe != world._recipe:
        kept.clear()
    while len(kept) < count:
        kept.append(world.branch())
    return kept[:count]


def roll_out(world: World, controls: ArrayLike, joints: Optional[Sequence[Union[Joint, str]]],
             states: Union[Snapshot, Sequence[Snapshot], None], steps: int, threads: Optional[int]) -> Rollout:
    """See World.rollout."""
    if world._watched:
        raise InvalidError("a rollout runs in C threads; the world must have no callbacks of Python")
    bodies = int(lib.rbWorld_GetBodyCount(world._native()))
    given = np.asarray(controls, dtype=np.float64)
    if joints is None and given.ndim == 4:
        given = given.reshape(given.shape[0], given.shape[1], -1)
    found = [world.joint(joint) if isinstance(joint, str) else joint for joint in joints or ()]
    for joint in found:
        joint._alive()
    width = len(found) if joints is not None else 3 * bodies
    given = array(given, (-1, -1, width), "controls")
    count, horizon = given.shape[:2]
    if states is None:
        starts = [world.snapshot()] * count
    else:
        starts = list(states) if isinstance(states, (list, tuple)) else [states] * count  # type: ignore[list-item]
    if len(starts) != count:
        raise InvalidError(f"there are {len(starts)} states and {count} controls; as many of each are needed")
    worlds = _branches(world, count)
    for other, start in zip(worlds, starts):
        other.restore(start)
    out = np.empty((count, horizon + 1, bodies, int(lib.RBPY_STATE_WIDTH)))
    handles = ffi.new("rbWorld*[]", [other._native() for other in worlds])
    statuses = ffi.new("int[]", max(count, 1))
    ids = ffi.new("rbJointId[]", [joint._id for joint in found]) if joints is not None else ffi.NULL
    given = np.ascontiguousarray(given)
    rollout = ffi.new("rbpyRollout*", {
        "worlds": handles, "count": count, "step": world.dt, "stepCount": steps, "horizon": horizon, "inputCount": width,
        "joints": ids, "bodyCount": bodies, "controls": pointer(given), "states": pointer(out), "statuses": statuses})
    if lib.rbpyRollOut(rollout, threads or os.cpu_count() or 1):
        raise take_waiting()
    fine = np.array([statuses[i] in (lib.RB_STATUS_OK, lib.RB_STATUS_NUMERICAL) for i in range(count)])
    return Rollout(out[..., 0:3], out[..., 3:7], out[..., 7:10], out[..., 10:13], fine)


def _multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Products of quaternions w, x, y, z."""
    w = a[..., 0] * b[..., 0] - (a[..., 1:] * b[..., 1:]).sum(-1)
    v = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate((w[..., None], v), axis=-1)


def linear_model(world: World, joints: Optional[Sequence[Union[Joint, str]]], steps: int, eps: float) -> LinearModel:
    """See World.linearize."""
    found = None if joints is None else [world.joint(joint) if isinstance(joint, str) else joint for joint in joints]
    moving = np.flatnonzero(world.masses > 0.0)
    size, start = 12 * len(moving), world.snapshot()
    base = {name: world.read(name) for name in ("position", "orientation", "velocity", "angular_velocity")}
    loads = {name: world.read(name) for name in ("force", "torque")}
    targets = [joint.motor_target for joint in found or ()]
    jointed = len(world.joints) > 0
    settings, error = ffi.new("rbStepSettings*", lib.rbWorld_GetStepSettings(world._native())), new_error()
    settings.isAssembleAllowed = True

    def change(column: int, amount: float) -> None:
        """Moves one coordinate of the state."""
        body, part, axis = moving[column // 12], column % 12 // 3, column % 3
        name = ("position", "orientation", "velocity", "angular_velocity")[part]
        values = base[name].copy()
        if part == 1:
            turn = np.zeros(4)
            turn[0], turn[1 + axis] = np.cos(0.5 * amount), np.sin(0.5 * amount)
            values[body] = _multiply(turn, values[body])
        else:
            values[body, axis] += amount
        world.bodies[body].set_state(**{name: values[body]})

    def act(column: int, amount: float) -> None:
        """Moves one input."""
        if found is not None:
            found[column].set_motor_target(targets[column] + amount)
            return
        body, part, axis = moving[column // 6], column % 6 // 3, column % 3
        name = ("force", "torque")[part]
        values = loads[name].copy()
        values[body, axis] += amount
        world.write(name, values)

    def end(action: Any, column: int, amount: float) -> dict[str, FloatArray]:
        world.restore(start)
        if jointed:  # a state that joints forbid is projected back onto them
            check(lib.rbWorld_SetStepSettings(world._native(), settings, error), error)
        action(column, amount)
        world.step(steps)
        return {name: world.read(name)[moving] for name in base}

    def central(action: Any, column: int, amount: float) -> FloatArray:
        after, before = end(action, column, amount), end(action, column, -amount)
        inverse = before["orientation"] * np.array((1.0, -1.0, -1.0, -1.0))
        turn = _multiply(after["orientation"], inverse)
        length = np.linalg.norm(turn[:, 1:], axis=1, keepdims=True)
        angle = 2.0 * np.arctan2(length, np.abs(turn[:, :1]))
        rotation = turn[:, 1:] * np.sign(turn[:, :1]) * np.where(length > 0.0, angle / np.where(length > 0.0, length, 1.0), 2.0)
        parts = (after["position"] - before["position"], rotation, after["velocity"] - before["velocity"],
                 after["angular_velocity"] - before["angular_velocity"])
        column_values: FloatArray = np.stack(parts, axis=1).reshape(-1) / (2.0 * amount)
        return column_values

    def differences(action: Any, count: int) -> tuple[FloatArray, FloatArray]:
        """Richardson: of two central differences, whose errors are as 4 to 1, without that error; what it changes is the
        estimate."""
        values, errors = np.empty((size, count)), np.empty((size, count))
        for i in range(count):
            wide, narrow = central(action, i, eps), central(action, i, 0.5 * eps)
            values[:, i] = (4.0 * narrow - wide) / 3.0
            errors[:, i] = np.abs(values[:, i] - narrow)
        return values, errors

    inputs = len(found) if found is not None else 6 * len(moving)
    viewer, world._viewer = world._viewer, None  # it does not show the differences
    try:
        a, a_error = differences(change, size)
        b, b_error = differences(act, inputs)
    finally:
        world.restore(start)
        world._viewer = viewer
    return LinearModel(a, b, world.dt * steps, a_error, b_error)
