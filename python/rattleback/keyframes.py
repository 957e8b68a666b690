"""Motion through given states: values of a scene are found such that bodies are where they are wanted, when they are wanted.

The method is that of Levenberg and Marquardt: a damped least-squares step, with derivatives by central differences of whole
runs. All runs of an iteration are made at once, in C threads: 2 n for the derivatives, then several with steps of different
damping. It needs a motion that depends smoothly on the unknowns near the solution. Impacts are no obstacle to the event
engine as long as their order stays the same; the step engine resolves them at the ends of steps, where small changes jump.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np

from ._convert import FloatArray, numbers
from .errors import InvalidError, LimitError, NotFoundError, RattlebackError
from .many import advance_all
from .scene import Scene
from .world import World

Apply = Callable[[Scene, Mapping[str, float]], Any]
Keyframes = Union[Mapping[float, Mapping[str, Any]], Sequence[tuple[float, Mapping[str, Any]]]]

_QUANTITIES = ("position", "velocity", "angular_velocity", "center")
_DAMPINGS = (0.0, 1e-2, 1.0, 1e2)  # of the trials of an iteration, times the damping of the last


@dataclass(frozen=True)
class Fit:
    """What fit found: values by the name of the unknown, the scene with them, and how well the targets are reached.

    miss: the largest difference from a target, in its unit; rms: of all, weighted; converged: whether the miss is within the
    tolerance or can be made no smaller; message: why it ended; deviations: standard deviations of the values if the misses
    are random errors of measurement (nan with fewer targets than unknowns + 1); misses: of the targets in turn; history: the
    largest miss after every iteration; runs: how many were made.

    >>> import rattleback as rb
    >>> scene = rb.Scene(world={"gravity": [0, 0, 0]})
    >>> _ = scene.add_body(rb.Shape.sphere(0.1), name="ball", velocity=(1, 0, 0))
    >>> found = rb.fit(scene, {"bodies.ball.velocity.0": 1.0}, {2.0: {"ball.position.x": 3.0}})
    >>> round(found.values["bodies.ball.velocity.0"], 9), found.converged
    (1.5, True)
    """

    values: Mapping[str, float]
    scene: Scene = field(repr=False)
    miss: float
    rms: float
    converged: bool
    message: str
    deviations: Mapping[str, float] = field(repr=False)
    misses: FloatArray = field(repr=False)
    history: Sequence[float] = field(repr=False)
    runs: int


class _Frames:
    """The targets: at rising times, names and the numbers they must have."""

    def __init__(self, scene: Scene, targets: Keyframes, weights: Mapping[str, float]) -> None:
        pairs = list(targets.items()) if isinstance(targets, Mapping) else [(time, wanted) for time, wanted in targets]
        if not pairs:
            raise InvalidError('there are no targets; give e.g. {1.5: {"ball.position": [2, 0, 1]}}')
        columns = scene.columns
        self.columns = set(columns)
        self.probes = {name.rpartition(".")[0] for name in columns}
        self.times: list[float] = []
        self.names: list[list[str]] = []
        wanted_values: list[float] = []
        wanted_weights: list[float] = []
        with scene.world() as world:
            self.bodies = {body.name: i for i, body in enumerate(world.bodies)}
            for time, wanted in sorted(((float(time), wanted) for time, wanted in pairs), key=lambda pair: pair[0]):
                if not (np.isfinite(time) and time >= 0.0):
                    raise InvalidError(f"the time of a target is {time} s; a finite number that is not negative is needed")
                self.times.append(time)
                self.names.append(list(wanted))
                for name, value in wanted.items():
                    count = len(np.atleast_1d(self.read(world, name)))
                    found = numbers(np.atleast_1d(np.asarray(value, dtype=object)), count, f"the target {name!r}")
                    wanted_values += found
                    wanted_weights += [float(weights.get(name, 1.0))] * count
        self.wanted = np.array(wanted_values)
        self.weights = np.array(wanted_weights)
        unknown = [name for name in weights if not any(name in names for names in self.names)]
        if unknown:
            raise NotFoundError(f"there is a weight for {unknown[0]!r}, which is no target")

    def read(self, world: World, name: str) -> FloatArray:
        """A target as the world has it: a probe, a column of one, or "body.position" with or without ".x"."""
        if name in self.columns:
            return np.array([world.probes()[name]])
        if name in self.probes:
            return np.array([value for column, value in world.probes().items() if column.rpartition(".")[0] == name])
        body, _, quantity = name.rpartition(".")
        axis: Optional[int] = None
        if quantity in ("x", "y", "z"):
            axis = "xyz".index(quantity)
            body, _, quantity = body.rpartition(".")
        if body not in self.bodies or quantity not in _QUANTITIES:
            raise NotFoundError(f"there is no target {name!r}; it must be a probe of the scene or the name of a body with "
                                f"{', '.join('.' + known for known in _QUANTITIES)} and, for one number, .x, .y or .z")
        values = world.read(quantity)[self.bodies[body]]
        found: FloatArray = values if axis is None else values[axis:axis + 1]
        return found

    def measure(self, worlds: Sequence[Optional[World]], threads: Optional[int]) -> FloatArray:
        """The misses of all worlds, (k, m); nan for those that ended early or do not exist."""
        out = np.full((len(worlds), len(self.wanted)), np.nan)
        alive = [i for i, world in enumerate(worlds) if world is not None]
        place = 0
        for time, names in zip(self.times, self.names):
            listed = [world for i in alive if (world := worlds[i]) is not None]
            failures = advance_all(listed, time, threads=threads)
            alive = [i for i, failure in zip(alive, failures) if failure is None]
            size = 0
            for i in alive:
                world = worlds[i]
                assert world is not None
                values = np.concatenate([self.read(world, name) for name in names]) if names else np.empty(0)
                size = len(values)
                out[i, place:place + size] = values
            place += size
        out -= self.wanted
        return out


class _Runs:
    """Runs of the scene with other values of the unknowns."""

    def __init__(self, scene: Scene, names: list[str], frames: _Frames, apply: Optional[Apply], threads: Optional[int]) -> None:
        self.scene, self.names, self.frames, self.apply, self.threads = scene, names, frames, apply, threads
        self.count = 0
        self.reason = ""

    def change(self, values: FloatArray) -> Scene:
        """A copy of the scene with values."""
        changed = self.scene.copy()
        given = dict(zip(self.names, values.tolist()))
        if self.apply is not None:
            self.apply(changed, given)
        else:
            for name, value in given.items():
                changed.set(name, value)
        return changed

    def _world(self, values: FloatArray) -> Optional[World]:
        try:
            return self.change(values).world()
        except RattlebackError as error:
            self.reason = str(error)
            return None

    def __call__(self, points: FloatArray) -> FloatArray:
        """Weighted misses, (k, m)."""
        worlds = [self._world(values) for values in points]
        self.count += len(worlds)
        try:
            misses = self.frames.measure(worlds, self.threads)
            for i, world in enumerate(worlds):
                if world is not None and np.isnan(misses[i]).any():
                    self.reason = world._failure() or "the world could not advance"
            weighted: FloatArray = misses * self.frames.weights
            return weighted
        finally:
            for world in worlds:
                if world is not None:
                    world.close()


def _unknowns(given: Mapping[str, Any]) -> tuple[list[str], FloatArray, FloatArray, FloatArray]:
    """Names, starts and bounds of the unknowns."""
    if not given:
        raise InvalidError('there are no unknowns; give e.g. {"bodies.ball.velocity.2": 5.0}')
    starts, lower, upper = [], [], []
    for name, value in given.items():
        if np.ndim(value) == 0:
            start, low, high = numbers([value], 1, f"the unknown {name!r}")[0], -np.inf, np.inf
        else:
            start, low, high = numbers(value, 3, f"the unknown {name!r}, given as (start, lower, upper),")
        if not low <= start <= high or not low < high:
            raise InvalidError(f"the unknown {name!r} starts at {start}, outside of its bounds {low} and {high}")
        starts.append(start)
        lower.append(low)
        upper.append(high)
    return list(given), np.array(starts), np.array(lower), np.array(upper)


def _jacobian(runs: _Runs, x: FloatArray, base: FloatArray, eps: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Central differences; one-sided at bounds and where one of the runs ends early."""
    up, down = np.minimum(x + eps, upper), np.maximum(x - eps, lower)
    points = np.concatenate([np.where(np.eye(len(x), dtype=bool), side, x) for side in (up, down)])
    found = runs(points)
    after, before = found[:len(x)], found[len(x):]
    columns = []
    for i in range(len(x)):
        plus, minus = (after[i], up[i]), (before[i], down[i])
        if np.isnan(plus[0]).any():
            plus = (base, x[i])
        if np.isnan(minus[0]).any():
            minus = (base, x[i])
        if plus[1] == minus[1]:
            raise LimitError(f"the runs near {runs.names[i]} = {x[i]:.9g} end early: {runs.reason}")
        columns.append((plus[0] - minus[0]) / (plus[1] - minus[1]))
    return np.stack(columns, axis=1)


def _trials(jacobian: FloatArray, misses: FloatArray, damping: float) -> FloatArray:
    """Damped steps by singular values, in units of the scales; damping relative to the largest of them."""
    u, s, vt = np.linalg.svd(jacobian, full_matrices=False)
    if not s.size or s[0] == 0.0:
        return np.zeros((1, jacobian.shape[1]))
    steps = []
    for factor in _DAMPINGS:
        square = damping * factor * s[0] ** 2
        gains = np.where(s > 1e-14 * s[0], s / (s ** 2 + square), 0.0)
        steps.append(-(vt.T * gains) @ (u.T @ misses))
    return np.array(steps)


def fit(scene: Scene, unknowns: Mapping[str, Any], targets: Keyframes, *, apply: Optional[Apply] = None,
        weights: Optional[Mapping[str, float]] = None, tolerance: float = 1e-9, iterations: int = 50, eps: float = 1e-6,
        tries: int = 0, seed: int = 0, threads: Optional[int] = None) -> Fit:
    """Finds values with which a scene moves through given states.

    unknowns: {place in the scene, as in Scene.set: start, or (start, lower, upper)}; or any names, if apply is given: a
    function that changes a copy of the scene by {name: value}. targets: {time in s: {name: value}} or pairs of them, where a
    name is a probe of the scene or "body.position", ".velocity", ".angular_velocity", ".center" with or without ".x";
    weights: of names, 1 if not given. With fewer targets than unknowns the nearest solution is taken, with more of them that
    of least squares.

    tolerance: of the largest miss; eps: of the differences, relative to the start of an unknown, or to 1 if that is 0;
    tries: points within the bounds that are tried first, chosen by seed; threads: default one for each processor. Ctrl-C ends
    it. The same call gives the same bits.

    >>> import rattleback as rb
    >>> scene = rb.Scene()
    >>> _ = scene.add_body(rb.Shape.sphere(0.1), name="ball", velocity=(1, 0, 1))
    >>> found = fit(scene, {"bodies.ball.velocity.0": 1, "bodies.ball.velocity.2": 1}, {1.0: {"ball.position": [4, 0, 1]}})
    >>> [round(value, 6) for value in found.values.values()]
    [4.0, 5.905]
    """
    names, x, lower, upper = _unknowns(unknowns)
    scale = np.where(x != 0.0, np.abs(x), 1.0)
    frames = _Frames(scene, targets, dict(weights or {}))
    runs = _Runs(scene, names, frames, apply, threads)
    runs.change(x)  # a wrong place is named here
    x, r = _first(runs, x, lower, upper, tries, seed)
    history = [_miss(r, frames)]
    damping, message = 1e-3, ""
    for _ in range(iterations):
        if history[-1] <= tolerance:
            break
        jacobian = _jacobian(runs, x, r, eps * scale, lower, upper)
        active = _free(jacobian.T @ r, x, lower, upper)
        steps = np.zeros((len(_DAMPINGS), len(x)))
        steps[:, active] = _trials(jacobian[:, active] * scale[active], r, damping)
        points = np.clip(x + steps * scale, lower, upper)
        found = runs(points)
        costs = np.where(np.isnan(found).any(axis=1), np.inf, (found ** 2).sum(axis=1))
        best = int(np.argmin(costs))
        gain = float(r @ r) - float(costs[best])
        if gain <= 1e-12 * float(r @ r):
            if damping > 1e6:
                message = "no step makes the misses smaller"
                break
            damping *= 1e3
            continue
        small = bool((np.abs(points[best] - x) <= 1e-13 * scale).all())
        x, r = points[best], found[best]
        history.append(_miss(r, frames))
        damping = max(damping * (_DAMPINGS[best] or 1e-3), 1e-12)
        if small:
            message = "the unknowns change no more"
            break
    miss = history[-1]
    converged = miss <= tolerance or message != ""
    if miss <= tolerance:
        message = "the targets are reached"
    elif not message:
        message = f"{iterations} iterations were not enough"
    deviations = _deviations(runs, x, r, eps * scale, lower, upper)
    return Fit(dict(zip(names, x.tolist())), runs.change(x), miss, float(np.sqrt(np.mean(r ** 2))), converged, message,
               dict(zip(names, deviations.tolist())), r / _nonzero(frames.weights), history, runs.count)


def _nonzero(weights: FloatArray) -> FloatArray:
    return np.where(weights != 0.0, weights, 1.0)


def _miss(r: FloatArray, frames: _Frames) -> float:
    return float(np.abs(r / _nonzero(frames.weights)).max())


def _free(gradient: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray) -> Any:
    """Unknowns that are not held by a bound."""
    return ~(((x <= lower) & (gradient > 0.0)) | ((x >= upper) & (gradient < 0.0)))


def _first(runs: _Runs, x: FloatArray, lower: FloatArray, upper: FloatArray, tries: int,
           seed: int) -> tuple[FloatArray, FloatArray]:
    """The start, or the best of some points within the bounds."""
    points = x[None, :]
    if tries > 0:
        if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
            raise InvalidError("tries needs bounds of all unknowns: give each as (start, lower, upper)")
        others = np.random.default_rng(seed).uniform(lower, upper, (tries, len(x)))
        points = np.concatenate((points, others))
    found = runs(points)
    costs = np.where(np.isnan(found).any(axis=1), np.inf, (found ** 2).sum(axis=1))
    best = int(np.argmin(costs))
    if not np.isfinite(costs[best]):
        raise LimitError(f"the run with the starting values ends early: {runs.reason}")
    return points[best], found[best]


def _deviations(runs: _Runs, x: FloatArray, r: FloatArray, eps: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Standard deviations from the misses that are left, taken as independent errors of equal size."""
    spare = len(r) - len(x)
    if spare <= 0:
        return np.full(len(x), np.nan)
    jacobian = _jacobian(runs, x, r, eps, lower, upper)
    size = np.linalg.norm(jacobian, axis=0)
    if (size == 0.0).any():
        return np.full(len(x), np.nan)
    inverse = np.linalg.pinv(jacobian / size)
    spread = np.sqrt((inverse ** 2).sum(axis=1)) / size
    return np.asarray(spread * np.sqrt(float(r @ r) / spare), dtype=np.float64)
