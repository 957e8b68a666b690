"""Recordings (.rbr), read lazily as arrays."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Optional, Union

import numpy as np

from ._convert import FloatArray, record_type
from ._native import ffi, lib
from .errors import DeadObjectError, InvalidError, check, exception_of, new_error
from .result import _import, frame_page, write_page_until
from .scene import Scene

_MEMBERS = {"position": ("positions", 3), "orientation": ("orientations", 4), "velocity": ("linearVelocities", 3),
            "angular_velocity": ("angularVelocities", 3)}
_EVENT = record_type("rbRecordedEvent", {
    "time": ("time", "f8"), "kind": ("kind", "u4"), "body_a": ("bodyA", "u4"), "body_b": ("bodyB", "u4"),
    "energy_change": ("energyChange", "f8"), "values": ("values", "12f8")})


class LazyArray:
    """One quantity of a recording, shape (frames, bodies, 3 or 4): frames are read when they are asked for. np.asarray
    reads all.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
    >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
    >>> places = Recording(path).positions
    >>> places.shape, places[1:, 0, 2].shape, np.asarray(places).shape
    ((3, 1, 3), (2,), (3, 1, 3))
    """

    def __init__(self, recording: Recording, name: str) -> None:
        self._recording = recording
        self._name = name
        self.shape = (len(recording), len(recording.body_names), _MEMBERS[name][1])
        self.dtype = np.dtype(np.float64)
        self.ndim = 3

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) else (key, ())
        if isinstance(first, (int, np.integer)):
            return self._recording.frame(int(first))[self._name][tuple(rest)]
        if isinstance(first, slice):
            frames: Any = range(*first.indices(len(self)))
        elif first is Ellipsis:
            return np.asarray(self)[key]
        else:
            found = np.asarray(first)
            frames = np.flatnonzero(found) if found.dtype == bool else found
        parts = [self._recording.frame(int(i))[self._name][tuple(rest)] for i in frames]
        if parts:
            return np.stack(parts)
        return np.empty((0, *np.empty(self.shape[1:])[tuple(rest)].shape))

    def __array__(self, dtype: Any = None) -> FloatArray:
        found: FloatArray = self[:]
        return found if dtype is None else found.astype(dtype)


class Recording:
    """A recording that is open for reading.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
    >>> result = Scene.example("pendulum").run(0.2, output=0.05, record=path)
    >>> with Recording(path) as recording:
    ...     recording.positions[-1].tolist() == result.positions[-1].tolist()
    True
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        error = new_error()
        found = lib.rbOpenRecording(os.fsencode(path), error)
        if found == ffi.NULL:
            raise exception_of(error)
        self._pointer = ffi.gc(found, lib.rbCloseRecording)
        header, info = lib.rbRecording_GetHeader(found), lib.rbRecording_GetInfo(found)
        self.path = os.fspath(path)
        self.body_names = [ffi.string(header.bodyNames[i]).decode() for i in range(header.bodyCount)]
        self.scene_text: str = ffi.string(header.sceneText).decode()
        self.is_complete = bool(info.condition == lib.RB_RECORDING_COMPLETE)
        self.hash = int(info.finalHash)
        self._frames, self._events = int(info.frameCount), int(info.eventCount)
        self._times: Any = None

    def _native(self) -> Any:
        if self._pointer == ffi.NULL:
            raise DeadObjectError("this recording was closed; open it again")
        return self._pointer

    def close(self) -> None:
        """Closes the file.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene().run(0.1, output=0.1, record=path)
        >>> Recording(path).close()
        """
        if self._pointer != ffi.NULL:
            ffi.release(self._pointer)
            self._pointer = ffi.NULL

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return self._frames

    def __repr__(self) -> str:
        return f"<Recording {self.path!r}: {self._frames} frames of {len(self.body_names)} bodies>"

    def frame(self, index: int) -> dict[str, Any]:
        """A frame: "time" (s), "position", "orientation", "velocity" (of the origins of the body frames),
        "angular_velocity", "energy" (J).

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene().run(0.1, output=0.1, record=path)
        >>> Recording(path).frame(-1)["time"]
        0.1
        """
        number = index + self._frames if index < 0 else index
        if not 0 <= number < self._frames:
            raise IndexError(f"there is no frame {index}; the recording has {self._frames}")
        frame, error = ffi.new("rbFrame*"), new_error()
        check(lib.rbRecording_ReadFrame(self._native(), number, frame, error), error)
        out: dict[str, Any] = {"time": float(frame.time), "energy": float(frame.ledger.total)}
        for name, (member, width) in _MEMBERS.items():
            size = frame.bodyCount * width * 8
            data = ffi.buffer(getattr(frame, member), size)[:] if size else b""
            out[name] = np.frombuffer(data, dtype=np.float64).reshape(-1, width)
        return out

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.frame(index)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.frame(i) for i in range(self._frames))

    @property
    def times(self) -> FloatArray:
        """The times of all frames, s; reads the recording once.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).times.tolist()
        [0.0, 0.05, 0.1]
        """
        if self._times is None:
            self._times = np.array([self.frame(i)["time"] for i in range(self._frames)])
        times: FloatArray = self._times
        return times

    @property
    def positions(self) -> LazyArray:
        """(frames, bodies, 3), m.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).positions[1:].shape
        (2, 1, 3)
        """
        return LazyArray(self, "position")

    @property
    def orientations(self) -> LazyArray:
        """(frames, bodies, 4), w, x, y, z.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).orientations[0, 0].tolist()
        [1.0, 0.0, 0.0, 0.0]
        """
        return LazyArray(self, "orientation")

    @property
    def velocities(self) -> LazyArray:
        """Of the origins of the body frames, (frames, bodies, 3), m/s.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).velocities.shape
        (3, 1, 3)
        """
        return LazyArray(self, "velocity")

    @property
    def angular_velocities(self) -> LazyArray:
        """(frames, bodies, 3), rad/s, world axes.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).angular_velocities.shape
        (3, 1, 3)
        """
        return LazyArray(self, "angular_velocity")

    def body(self, name: str) -> FloatArray:
        """Positions of one body over time, (frames, 3), m.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> result = Scene.example("pendulum").run(0.2, output=0.05, record=path)
        >>> Recording(path).body(result.body_names[0]).shape
        (5, 3)
        """
        if name not in self.body_names:
            raise InvalidError(f"there is no body {name!r} in the recording; there are {', '.join(self.body_names[:20])}")
        found: FloatArray = self.positions[:, self.body_names.index(name)]
        return found

    def events(self) -> Any:
        """The recorded events as records: time, kind, body_a, body_b, energy_change, values.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene().run(0.1, output=0.1, record=path)
        >>> len(Recording(path).events())
        0
        """
        data, error = ffi.new("rbRecordedEvent[]", self._events), new_error()
        if self._events:
            check(lib.rbRecording_ReadEvents(self._native(), 0, self._events, data, error), error)
            return np.frombuffer(ffi.buffer(data), dtype=_EVENT).copy()
        return np.empty(0, dtype=_EVENT)

    def scene(self) -> Scene:
        """The scene that was recorded, with the mesh files that it names.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene(duration=7).run(0.1, output=0.1, record=path)
        >>> Recording(path).scene().duration
        7.0
        """
        header = lib.rbRecording_GetHeader(self._native())
        found = (header.attachments[i] for i in range(header.attachmentCount))
        files = {ffi.string(file.name).decode(): bytes(ffi.buffer(file.bytes, file.byteCount)) for file in found}
        return Scene._of_files(self.scene_text, files)

    def to_pandas(self) -> Any:
        """The states of all bodies as a pandas DataFrame with the time as index: columns ball.position.x and so on.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).to_pandas()["bob.position.x"].shape
        (3,)
        """
        pandas = _import("pandas")
        names = [f"{body}.{name}.{axis}" for name, (_, width) in _MEMBERS.items() for body in self.body_names
                 for axis in ("xyz" if width == 3 else "wxyz")]
        values = [LazyArray(self, name)[:].reshape(self._frames, -1) for name in _MEMBERS]
        return pandas.DataFrame(np.concatenate(values, axis=1), columns=names, index=pandas.Index(self.times, name="time"))

    def to_xarray(self) -> Any:
        """The states of all bodies as an xarray Dataset, with the dimensions time, body, axis, component.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.1, output=0.05, record=path)
        >>> Recording(path).to_xarray().position.sel(body="bob", axis="x").shape
        (3,)
        """
        data = {name: (("time", "body", "axis" if width == 3 else "component"), LazyArray(self, name)[:])
                for name, (_, width) in _MEMBERS.items()}
        coordinates = {"time": self.times, "body": self.body_names, "axis": list("xyz"), "component": list("wxyz")}
        return _import("xarray").Dataset(data, coords=coordinates)

    def plot(self, *bodies: str, axes: Any = None) -> Any:
        """Draws the coordinates of bodies (default: those that move, at most six) over time by matplotlib, a panel for each;
        returns the axes.

        >>> import matplotlib, os, tempfile; matplotlib.use("Agg")
        >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.2, output=0.05, record=path)
        >>> Recording(path).plot()[0].get_xlabel()
        'time [s]'
        """
        plt = _import("matplotlib.pyplot", "matplotlib")
        places = self.positions[:]
        moving = [name for i, name in enumerate(self.body_names) if (places[:, i] != places[:1, i]).any()]
        wanted = list(bodies) or moving[:6] or self.body_names[:1]
        if not wanted:
            raise InvalidError("the recording has no bodies to plot")
        if axes is None:
            _, axes = plt.subplots(len(wanted), 1, sharex=True, squeeze=False, figsize=(8, 2.2 * len(wanted) + 0.6))
        flat = np.ravel(np.asarray(axes, dtype=object))
        for axis, name in zip(flat, wanted):
            lines = axis.plot(self.times, self.body(name))
            axis.legend(lines, "xyz", loc="best")
            axis.set_ylabel(f"{name} [m]")
        flat[-1].set_xlabel("time [s]")
        return flat

    def page(self, path: str) -> str:
        """Writes one HTML file that replays the recording in a browser; returns its path. The run is made again for it, and must
        end where the recording does; one with actions of a user is shown by 'rattleback view FILE'.

        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> path = os.path.join(folder, "run.rbr")
        >>> _ = Scene.example("pendulum").run(0.2, output=0.05, record=path)
        >>> os.path.exists(Recording(path).page(os.path.join(folder, "run.html")))
        True
        """
        return self._write_page(path)

    def _write_page(self, path: Optional[str]) -> str:
        last = self.frame(-1)
        written, positions = write_page_until(self.scene(), path, float(last["time"]))
        if not np.array_equal(positions, last["position"]):
            os.remove(written)
            raise InvalidError(f"running the scene of {self.path!r} again does not end where the recording does, since a user "
                               f"acted in it; 'rattleback view {self.path}' shows it")
        return written

    def _repr_html_(self) -> str:
        return frame_page(self._write_page(None))
