"""Exceptions and warnings. Their texts are the messages of the library: object, value, remedy.

>>> import rattleback as rb
>>> try:
...     rb.Shape.sphere(-1.0).volume
... except rb.InvalidError as error:
...     print("radius" in str(error))
True
"""
from __future__ import annotations

from typing import Any

from ._native import ffi, lib


class RattlebackError(Exception):
    """Base of all exceptions of this package.

    >>> import rattleback as rb
    >>> try:
    ...     rb.Scene.example("no such scene")
    ... except RattlebackError as error:
    ...     print(type(error).__name__)
    NotFoundError
    """


class InvalidError(RattlebackError, ValueError):
    """A value is out of range, has the wrong shape or is not finite.

    >>> import rattleback as rb
    >>> rb.World().step(-1)
    Traceback (most recent call last):
    ...
    rattleback.errors.InvalidError: the number of steps is -1; it must not be negative
    """


class SceneSyntaxError(InvalidError):
    """The text of a scene is not JSON.

    >>> import rattleback as rb
    >>> try:
    ...     rb.Scene.from_text('{"rattleback": 1,')
    ... except SceneSyntaxError:
    ...     print("no JSON")
    no JSON
    """


class NotFoundError(RattlebackError, LookupError):
    """A file or a name does not exist.

    >>> import rattleback as rb
    >>> rb.World().body("ball")
    Traceback (most recent call last):
    ...
    rattleback.errors.NotFoundError: there is no body 'ball' in this world
    """


class FileError(RattlebackError, OSError):
    """A file cannot be read or written.

    >>> import rattleback as rb
    >>> try:
    ...     rb.Scene().run(0.1, output=0.1, record="/no such folder/run.rbr")
    ... except FileError as error:
    ...     print("/no such folder/run.rbr" in str(error))
    True
    """


class CorruptError(RattlebackError):
    """A file or a snapshot is damaged.

    >>> import os, tempfile
    >>> import rattleback as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "run.rbr")
    >>> _ = rb.Scene().run(0.1, output=0.1, record=path)
    >>> with open(path, "r+b") as file:
    ...     _ = file.seek(20), file.write(b"damaged")
    >>> try:
    ...     rb.Recording(path)
    ... except CorruptError as error:
    ...     print("run.rbr" in str(error))
    True
    """


class LimitError(RattlebackError):
    """A limit was exceeded, or a run cannot continue: the world stays at the last good time.

    >>> import rattleback as rb
    >>> scene = rb.Scene(engine="event", duration=10.0, event={"events_per_second": 20})
    >>> _ = scene.add_body(rb.Shape.plane(), type="static")
    >>> _ = scene.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.2), material=rb.Material(restitution=0.9))
    >>> try:
    ...     scene.run(output=0.01)
    ... except LimitError as error:  # the outputs so far
    ...     print(0.0 < error.result.time[-1] < 10.0)
    True
    """


class UnsupportedError(RattlebackError):
    """A format, version or option is not supported, or not with this engine.

    >>> import rattleback as rb
    >>> try:
    ...     rb.Scene.from_text('{"rattleback": 99, "bodies": []}')
    ... except UnsupportedError as error:
    ...     print("99" in str(error))
    True
    """


class NumericalError(RattlebackError, ArithmeticError):
    """A computation did not reach its tolerance.

    >>> try:
    ...     check(lib.RB_STATUS_NUMERICAL, new_error())
    ... except NumericalError as error:
    ...     print(error)
    a computation did not reach its tolerance
    """


class DeadObjectError(RattlebackError, ReferenceError):
    """A world that was closed, or a body, joint or spring that was destroyed, was used.

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> world.close()
    >>> try:
    ...     world.step()
    ... except DeadObjectError as error:
    ...     print(error)
    this world was closed; create a new one
    """


class RattlebackWarning(UserWarning):
    """A run continues, less accurately than requested.

    >>> import warnings
    >>> import rattleback as rb
    >>> world = rb.World(contact={"sweeps_max": 1, "tolerance": 1e-12, "velocity_tolerance": 1e-12})
    >>> _ = world.add_body(rb.Shape.plane(), type="static")
    >>> for i in range(6):
    ...     _ = world.add_body(rb.Shape.box((1, 1, 1)), position=(0, 0, 0.5 + i), mass=10.0 ** i)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     world.step(10)
    >>> [warning.category.__name__ for warning in caught]
    ['RattlebackWarning']
    """


_CLASSES: dict[int, type[RattlebackError]] = {
    lib.RB_STATUS_INVALID: InvalidError,
    lib.RB_STATUS_SYNTAX: SceneSyntaxError,
    lib.RB_STATUS_NOT_FOUND: NotFoundError,
    lib.RB_STATUS_IO: FileError,
    lib.RB_STATUS_CORRUPT: CorruptError,
    lib.RB_STATUS_LIMIT: LimitError,
    lib.RB_STATUS_UNSUPPORTED: UnsupportedError,
    lib.RB_STATUS_NUMERICAL: NumericalError,
}


def new_error() -> Any:
    """An empty rbError for a call."""
    return ffi.new("rbError*")


def message_of(error: Any) -> str:
    """The text of an rbError with its place, or that of its status."""
    if error.message[0] == b"\0":
        return str(ffi.string(lib.rbStatus_Text(error.status)).decode())
    if error.file[0] == b"\0" and error.place[0] == b"\0":
        return str(ffi.string(error.message).decode("utf-8", "replace"))
    text = ffi.new("char[1200]")
    lib.rbError_Format(error, text, 1200)
    return str(ffi.string(text).decode("utf-8", "replace"))


def exception_of(error: Any) -> RattlebackError:
    """The exception for an rbError."""
    return _CLASSES.get(int(error.status), RattlebackError)(message_of(error))


def check(status: int, error: Any) -> None:
    """Raises the exception of a status unless it is OK."""
    if status != lib.RB_STATUS_OK:
        error.status = status
        raise exception_of(error)
