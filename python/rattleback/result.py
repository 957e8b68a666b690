"""Results of runs: arrays, tables, plots and pages that replay a run."""
from __future__ import annotations

import html
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._convert import FloatArray, pointer
from ._native import ffi, lib
from .errors import InvalidError, NotFoundError, RattlebackError, check, exception_of, new_error
from .scene import Scene

if TYPE_CHECKING:
    from .world import World

_STATES = ("position", "orientation", "velocity", "angular_velocity")


class Result:
    """What a run measured. result["ball.position"] is an array over the outputs, result["ball.position.z"] one column.

    time: (t,) s; values: (t, c), the columns of the probes; units: of the columns; states: "position" (t, n, 3),
    "orientation" (t, n, 4), "velocity", "angular_velocity"; energy and energy_drift: (t,) J; hash: of the last state.

    >>> result = Scene.example("pendulum").run(0.1, output=0.05)
    >>> result.time.tolist()
    [0.0, 0.05, 0.1]
    """

    def __init__(self, scene: Scene, names: list[str], units: list[str], bodies: list[str], states: bool, count: int) -> None:
        self.scene = scene
        self.columns = names
        self.units = dict(zip(names, units))
        self.body_names = bodies
        self.time: FloatArray = np.empty(count)
        self.values: FloatArray = np.empty((count, len(names)))
        self.energy: FloatArray = np.empty(count)
        self.energy_drift: FloatArray = np.empty(count)
        widths = {"orientation": 4}
        self.states: dict[str, FloatArray] = {
            name: np.empty((count, len(bodies), widths.get(name, 3))) for name in (_STATES if states else ())}
        self.hash = 0

    def _cut(self, count: int) -> None:
        """Keeps the first outputs, of a run that ended early."""
        self.time, self.values = self.time[:count], self.values[:count]
        self.energy, self.energy_drift = self.energy[:count], self.energy_drift[:count]
        self.states = {name: values[:count] for name, values in self.states.items()}

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<Result of {self.scene.name!r}: {len(self)} outputs, {len(self.columns)} columns>"

    def keys(self) -> list[str]:
        """Names of columns.

        >>> Scene().run(0.1, output=0.1).keys()[0]
        'world.energy'
        """
        return list(self.columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> FloatArray:
        """A column, or all columns of a probe, e.g. "ball.position"."""
        if name == "time":
            return self.time
        if name in self.units:
            return self.values[:, self.columns.index(name)]
        found = [i for i, column in enumerate(self.columns) if column.rpartition(".")[0] == name]
        if not found:
            raise NotFoundError(f"there is no column {name!r}; there are time, {', '.join(self.columns)}")
        return self.values[:, found]

    @property
    def positions(self) -> FloatArray:
        """(t, n, 3), m.

        >>> result = Scene.example("pendulum").run(0.1, output=0.05)
        >>> result.positions.shape
        (3, 1, 3)
        """
        return self._state("position")

    @property
    def orientations(self) -> FloatArray:
        """(t, n, 4), w, x, y, z.

        >>> result = Scene.example("pendulum").run(0.1, output=0.05)
        >>> result.orientations[0, 0].tolist()
        [1.0, 0.0, 0.0, 0.0]
        """
        return self._state("orientation")

    @property
    def velocities(self) -> FloatArray:
        """Of the centers of mass, (t, n, 3), m/s.

        >>> result = Scene.example("pendulum").run(0.1, output=0.05)
        >>> result.velocities[0, 0].tolist()
        [0.0, 0.0, 0.0]
        """
        return self._state("velocity")

    @property
    def angular_velocities(self) -> FloatArray:
        """(t, n, 3), rad/s, world axes.

        >>> result = Scene.example("pendulum").run(0.1, output=0.05)
        >>> result.angular_velocities.shape
        (3, 1, 3)
        """
        return self._state("angular_velocity")

    def _state(self, name: str) -> FloatArray:
        if name not in self.states:
            raise InvalidError("this run kept no states; run it with states=True")
        return self.states[name]

    def body(self, name: str) -> dict[str, FloatArray]:
        """The states of one body: "position", "orientation", "velocity", "angular_velocity", each over time.

        >>> result = Scene.example("pendulum").run(0.1, output=0.05)
        >>> result.body(result.body_names[0])["position"].shape
        (3, 3)
        """
        if name not in self.body_names:
            raise NotFoundError(f"there is no body {name!r}; there are {', '.join(self.body_names[:20])}")
        self._state("position")
        index = self.body_names.index(name)
        return {key: values[:, index] for key, values in self.states.items()}

    def to_pandas(self) -> Any:
        """The columns of the probes as a pandas DataFrame with the time as index.

        >>> frame = Scene.example("pendulum").run(0.1, output=0.05).to_pandas()
        >>> frame.index.name
        'time'
        """
        pandas = _import("pandas")
        return pandas.DataFrame(self.values, columns=self.columns, index=pandas.Index(self.time, name="time"))

    def to_xarray(self) -> Any:
        """Probes and states as an xarray Dataset, with the dimensions time, body, axis, component.

        >>> Scene.example("pendulum").run(0.1, output=0.05).to_xarray().position.dims
        ('time', 'body', 'axis')
        """
        xarray = _import("xarray")
        data: dict[str, Any] = {name: ("time", self.values[:, i], {"units": self.units[name]})
                                for i, name in enumerate(self.columns)}
        for name, values in self.states.items():
            data[name] = (("time", "body", "component" if name == "orientation" else "axis"), values)
        coordinates = {"time": self.time, "body": self.body_names, "axis": list("xyz"), "component": list("wxyz")}
        return xarray.Dataset(data, coords=coordinates, attrs={"title": self.scene.title})

    def to_csv(self, path: str) -> None:
        """The columns as a CSV file; numbers read back exactly.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "table.csv")
        >>> Scene().run(0.1, output=0.1).to_csv(path)
        >>> open(path).readline()[:8]
        'time [s]'
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(",".join(["time [s]"] + [f"{name} [{self.units[name]}]" for name in self.columns]) + "\n")
            for time, row in zip(self.time, self.values):
                file.write(",".join(repr(float(x)) for x in (time, *row)) + "\n")

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws columns or probes (default: all) over time by matplotlib, a panel for each probe; returns the axes.

        >>> import matplotlib; matplotlib.use("Agg")
        >>> result = Scene.example("pendulum").run(0.1, output=0.05)
        >>> axes = result.plot("world.energy")
        >>> axes[0].get_xlabel()
        'time [s]'
        """
        plt = _import("matplotlib.pyplot", "matplotlib")
        groups: dict[str, list[str]] = {}
        wanted = [column for name in names for column in self._expand(name)] if names else self.columns
        for column in wanted:
            probe = column.rpartition(".")[0] if column.rpartition(".")[2] in ("w", "x", "y", "z") else column
            groups.setdefault(probe, []).append(column)
        if axes is None:
            _, axes = plt.subplots(len(groups), 1, sharex=True, squeeze=False, figsize=(8, 2.2 * len(groups) + 0.6))
        flat = np.ravel(np.asarray(axes, dtype=object))
        for axis, (probe, columns) in zip(flat, groups.items()):
            for column in columns:
                axis.plot(self.time, self[column], label=column[len(probe) + 1:] or None)
            axis.set_ylabel(f"{probe} [{self.units[columns[0]]}]")
            if len(columns) > 1:
                axis.legend(loc="best")
        flat[-1].set_xlabel("time [s]")
        return flat

    def _expand(self, name: str) -> list[str]:
        self[name]
        return [column for column in self.columns if column == name or column.rpartition(".")[0] == name]

    def page(self, path: str) -> str:
        """Writes one HTML file that replays the run in a browser, without a network; returns its path. The run is made again
        for it, which gives the same bits.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.html")
        >>> os.path.getsize(Scene.example("pendulum").run(0.2, output=0.05).page(path)) > 10000
        True
        """
        return write_page(self.scene, path, float(self.time[-1]))

    def _repr_html_(self) -> str:
        return frame_page(write_page(self.scene, None, float(self.time[-1])))


def _import(name: str, package: Optional[str] = None) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        package = package or name
        raise ImportError(f"{package} is needed for this and not installed (Debian: python3-{package})") from None


def output_times(duration: float, step: float) -> Iterator[float]:
    """0, step, 2 step, ... and the duration, as the program makes them."""
    last = math.ceil(duration / step * (1.0 - 1e-12))
    for k in range(last + 1):
        yield float(lib.rbGetStepTime(k, step)) if k < last else duration


def _spans(scene: Scene, duration: Optional[float], output: Optional[float]) -> tuple[float, float]:
    info = scene._info()
    length = info.duration if duration is None else float(duration)
    if not (math.isfinite(length) and length >= 0.0):
        raise InvalidError(f"the duration is {length} s; a finite number that is not negative is needed")
    step = float(output) if output is not None else info.outputStep if duration is None else max(length / 1000.0, 1e-12)
    if not (math.isfinite(step) and step > 0.0):
        raise InvalidError(f"the time between outputs is {step} s; a positive number is needed")
    if length / step > 1e8:
        raise InvalidError(f"{length / step:.3g} outputs would not fit into memory; use a larger output step than {step} s")
    return length, step


def run_scene(scene: Scene, duration: Optional[float], output: Optional[float], *, states: bool = True,
              record: Optional[str] = None, progress: Optional[Callable[[float], Any]] = None) -> Result:
    """See Scene.run."""
    length, step = _spans(scene, duration, output)
    columns = scene._columns()
    with scene.world() as world:
        error = new_error()
        check(lib.rbScene_PrepareWorld(world.scene._handle(), world._native(), error), error)
        times = list(output_times(length, step))
        result = Result(scene.copy(), [name for name, _ in columns], [unit for _, unit in columns],
                        [body.name for body in world.bodies], states, len(times))
        writer = _Writer(record, world, result.body_names, length, step) if record is not None else None
        handle = world.scene._handle()
        done = 0
        try:
            for k, time in enumerate(times):
                world.advance_to(time)
                result.time[k] = world.time
                lib.rbScene_EvaluateProbes(handle, world._pointer, pointer(result.values[k]), len(columns))
                ledger = lib.rbWorld_GetLedger(world._pointer)
                result.energy[k], result.energy_drift[k] = ledger.energy, ledger.energyDrift
                for name, values in result.states.items():
                    world.read(name, values[k])
                if writer is not None:
                    writer.take(world, ledger)
                world.clear_events()
                done = k + 1
                if progress is not None:
                    progress(time)
            result.hash = world.hash
            if writer is not None:
                writer.finish(result.hash)
        except BaseException as raised:
            if writer is not None:
                writer.abandon()
            result._cut(done)
            if isinstance(raised, RattlebackError):
                result.hash = world.hash
                raised.result = result  # type: ignore[attr-defined]
            raise
    return result


class _Writer:
    """Writes a recording that 'rattleback replay' compares bit by bit."""

    def __init__(self, path: str, world: World, names: list[str], duration: float, step: float) -> None:
        error = new_error()
        keep = [ffi.new("char[]", name.encode()) for name in names]
        listed = ffi.new("char*[]", keep)
        scene = lib.rbScene_GetText(world.scene._handle(), ffi.NULL)
        settings = ffi.new("char[]", json.dumps({"duration": duration, "outputStep": step}).encode())
        files = self._files(world.scene)
        header = ffi.new("rbRecordingHeader*", {
            "sceneText": scene, "settingsText": settings, "bodyNames": ffi.cast("char* *", listed), "bodyCount": len(names),
            "attachments": files, "attachmentCount": len(files)})
        self.writer = lib.rbCreateRecording(os.fsencode(path), header, error)
        if self.writer == ffi.NULL:
            raise exception_of(error)

    @staticmethod
    def _files(scene: Scene) -> Any:
        count = int(scene._info().attachmentCount)
        files = ffi.new("rbAttachment[]", count)
        name, data, size = ffi.new("char**"), ffi.new("void**"), ffi.new("size_t*")
        for i in range(count):
            lib.rbScene_GetAttachment(scene._handle(), i, name, data, size)
            files[i] = {"name": name[0], "bytes": data[0], "byteCount": size[0]}
        return files

    def take(self, world: World, ledger: Any) -> None:
        position, orientation = world.read("position"), world.read("orientation")
        velocity, spin = world.read("velocity"), world.read("angular_velocity")
        arm = position - world.read("center")
        # Frames have the velocity of the origin of the body's frame.
        turned = np.stack((spin[:, 1] * arm[:, 2] - spin[:, 2] * arm[:, 1], spin[:, 2] * arm[:, 0] - spin[:, 0] * arm[:, 2],
                           spin[:, 0] * arm[:, 1] - spin[:, 1] * arm[:, 0]), axis=1)
        velocity = velocity + turned
        frame = ffi.new("rbFrame*", {
            "time": world.time, "bodyCount": len(position), "positions": ffi.cast("rbVec3*", position.ctypes.data),
            "orientations": ffi.cast("rbQuat*", orientation.ctypes.data),
            "linearVelocities": ffi.cast("rbVec3*", velocity.ctypes.data),
            "angularVelocities": ffi.cast("rbVec3*", spin.ctypes.data),
            "ledger": {"kineticTranslational": ledger.kineticLinear, "kineticRotational": ledger.kineticAngular,
                       "potential": ledger.potential, "work": ledger.work, "total": ledger.energy,
                       "momentum": ledger.momentum, "angularMomentum": ledger.angularMomentum}})
        error = new_error()
        check(lib.rbpyWriteEvents(world._native(), self.writer, error), error)
        check(lib.rbRecordingWriter_WriteFrame(self.writer, frame, error), error)

    def finish(self, final: int) -> None:
        error = new_error()
        writer, self.writer = self.writer, ffi.NULL
        check(lib.rbRecordingWriter_Finish(writer, final, error), error)

    def abandon(self) -> None:
        if self.writer != ffi.NULL:
            lib.rbRecordingWriter_Abandon(self.writer)


# ------------------------------------------------------------------------------------------------------------------ pages


def _new_path(path: Optional[str]) -> str:
    return path or os.path.join(tempfile.mkdtemp(prefix="rattleback-"), "world.html")


def write_page(scene: Scene, path: Optional[str], duration: Optional[float] = None) -> str:
    """Runs a scene and writes a page that replays it."""
    return write_page_until(scene, path, duration)[0]


def write_page_until(scene: Scene, path: Optional[str], duration: Optional[float]) -> tuple[str, FloatArray]:
    """The same; also returns the positions at the end."""
    length, step = _spans(scene, duration, None)
    with scene.world() as world:
        written = _write(world, _new_path(path), length, step)
        return written, world.positions


def world_page(world: World, path: Optional[str] = None) -> str:
    """A page with a world as it is now."""
    return _write(world, _new_path(path), 0.0, 1.0)


def _write(world: World, path: str, length: float, step: float) -> str:
    error = new_error()
    handle = world._native()
    writer = lib.rbCreatePageWriter(os.fsencode(path), world.scene._handle(), handle, max(length, step), error)
    if writer == ffi.NULL:
        raise exception_of(error)
    try:
        for time in output_times(length, step) if length > 0.0 else ():
            world.advance_to(time)
            check(lib.rbPageWriter_TakeFrame(writer, handle, error), error)
    except BaseException:
        lib.rbPageWriter_Abandon(writer)
        raise
    check(lib.rbPageWriter_Finish(writer, handle, error), error)
    return path


def frame_page(path: str) -> str:
    """A page as an element of a notebook."""
    with open(path, encoding="utf-8") as file:
        text = html.escape(file.read(), quote=True)
    return f'<iframe srcdoc="{text}" style="width: 100%; height: 480px; border: 0"></iframe>'


def demo(path: str = "rattleback-demo.html", *, duration: float = 10.0, open_browser: bool = False) -> Result:
    """Runs the stone that reverses its own spin, says what happened and writes a page that replays it.

    >>> import os, tempfile
    >>> result = demo(os.path.join(tempfile.mkdtemp(), "demo.html"), duration=0.2)
    ... # doctest: +ELLIPSIS
    A rattleback is spun ...
    """
    scene = Scene.example("rattleback")
    result = scene.run(min(duration, scene.duration), output=0.01)
    name = next(name for name in result.body_names if abs(result.body(name)["angular_velocity"][0, 2]) > 0.0)
    spin = result.body(name)["angular_velocity"][:, 2]
    print(f"A rattleback is spun at {spin[0]:.2f} rad/s about the vertical; after {result.time[-1]:g} s it spins at "
          f"{spin[-1]:.2f} rad/s.")
    if spin[0] * spin[-1] < 0.0:
        first = result.time[np.argmax(spin * spin[0] < 0.0)]
        print(f"It reversed its own spin at about {first:.2f} s, by impacts with friction alone.")
    print(f"Energy: {result.energy[0] - result.energy[-1]:.3g} J lost to impacts and friction; error of the integration "
          f"{abs(result.energy_drift[-1]):.1g} J.")
    print(f"Look: {write_page(scene, path, float(result.time[-1]))} replays it in a browser.")
    if open_browser:
        import webbrowser

        webbrowser.open("file://" + os.path.abspath(path))
    return result
