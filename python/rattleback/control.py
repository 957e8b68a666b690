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
    or ends within the differences, and no linear model exists. method: "exact" for a smooth arc, derivatives to rounding (errors
    of at most 1e-9 of the largest entry), else "differences".

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> _ = world.add_body(rb.Shape.sphere(0.1), mass=2.0)
    >>> model = world.linearize()
    >>> model.A.shape, model.B.shape
    ((12, 12), (12, 6))
    >>> model.method
    'exact'
    """

    A: FloatArray
    B: FloatArray
    dt: float
    A_error: FloatArray
    B_error: FloatArray
    method: str


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


# Smooth arcs: central differences of these sizes (m, rad, m/s, rad/s, units of the inputs), each half of the one before. Their
# errors are series in the square of the size, of which the table of Romberg removes the first three terms: what is left is of
# order size^8, below the rounding of the states over the smallest size.
_SIZES = (1e-2, 5e-3, 2.5e-3, 1.25e-3)
_EXACT = 1e-9
_EPS = 1e-4  # of differences where the arc is not smooth


class _NotSmooth(Exception):
    """A contact, or errors above the bound."""


def _extrapolate(levels: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Romberg: the limit of central differences of halved sizes, and the change that the last level made."""
    row, before = list(levels), levels[-1]
    for order in range(1, len(levels)):
        factor = 4.0 ** order
        before = row[-1]
        row = [(factor * narrow - wide) / (factor - 1.0) for wide, narrow in zip(row, row[1:])]
    return row[-1], np.abs(row[-1] - before)


def linear_model(world: World, joints: Optional[Sequence[Union[Joint, str]]], steps: int, eps: Optional[float]) -> LinearModel:
    """See World.linearize."""
    if steps < 1:
        raise InvalidError(f"the number of steps is {steps}; at least 1 is needed")
    if eps is not None and not (np.isfinite(eps) and eps > 0.0):
        raise InvalidError(f"the size of the differences is {eps}; a finite number above 0 is needed")
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

    def end(action: Any, column: int, amount: float, is_smooth: bool) -> dict[str, FloatArray]:
        world.restore(start)
        if jointed:  # a state that joints forbid is projected back onto them
            check(lib.rbWorld_SetStepSettings(world._native(), settings, error), error)
        action(column, amount)
        world.step(steps)
        if is_smooth and len(world.contacts()):
            raise _NotSmooth
        return {name: world.read(name)[moving] for name in base}

    def central(action: Any, column: int, amount: float, is_smooth: bool) -> FloatArray:
        after, before = end(action, column, amount, is_smooth), end(action, column, -amount, is_smooth)
        inverse = before["orientation"] * np.array((1.0, -1.0, -1.0, -1.0))
        turn = _multiply(after["orientation"], inverse)
        length = np.linalg.norm(turn[:, 1:], axis=1, keepdims=True)
        angle = 2.0 * np.arctan2(length, np.abs(turn[:, :1]))
        rotation = turn[:, 1:] * np.sign(turn[:, :1]) * np.where(length > 0.0, angle / np.where(length > 0.0, length, 1.0), 2.0)
        parts = (after["position"] - before["position"], rotation, after["velocity"] - before["velocity"],
                 after["angular_velocity"] - before["angular_velocity"])
        column_values: FloatArray = np.stack(parts, axis=1).reshape(-1) / (2.0 * amount)
        return column_values

    def differences(action: Any, count: int, sizes: Sequence[float], is_smooth: bool) -> tuple[FloatArray, FloatArray]:
        values, errors = np.empty((size, count)), np.empty((size, count))
        for i in range(count):
            factor = 1.0
            if is_smooth and action is act:  # an input that moves the state by as much as the sizes
                factor = 1.0 / min(1.0, max(1e-3, float(np.abs(central(action, i, sizes[0], is_smooth)).max())))
            levels = [central(action, i, factor * amount, is_smooth) for amount in sizes]
            values[:, i], errors[:, i] = _extrapolate(levels)
            if is_smooth:
                errors[:, i] = np.maximum(errors[:, i], rounding / factor)
        if is_smooth and errors.max(initial=0.0) > _EXACT * np.abs(values).max(initial=0.0):
            raise _NotSmooth
        return values, errors

    def model(sizes: Sequence[float], is_smooth: bool) -> LinearModel:
        a, a_error = differences(change, size, sizes, is_smooth)
        b, b_error = differences(act, inputs, sizes, is_smooth)
        return LinearModel(a, b, world.dt * steps, a_error, b_error, "exact" if is_smooth else "differences")

    inputs = len(found) if found is not None else 6 * len(moving)
    rounding = 4.0 * np.finfo(float).eps * (1.0 + max((np.abs(value).max(initial=0.0) for value in base.values()))) / _SIZES[-1]
    viewer, world._viewer = world._viewer, None  # it does not show the differences
    try:
        if eps is None and not len(world.contacts()):
            try:
                return model(_SIZES, True)
            except _NotSmooth:
                pass
        width = _EPS if eps is None else eps
        return model((width, 0.5 * width), False)
    finally:
        world.restore(start)
        world._viewer = viewer
