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

    >>> issubclass(InvalidError, RattlebackError)
    True
    """


class InvalidError(RattlebackError, ValueError):
    """A value is out of range, has the wrong shape or is not finite.

    >>> issubclass(InvalidError, ValueError)
    True
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

    >>> issubclass(NotFoundError, LookupError)
    True
    """


class FileError(RattlebackError, OSError):
    """A file cannot be read or written.

    >>> issubclass(FileError, OSError)
    True
    """


class CorruptError(RattlebackError):
    """A file or a snapshot is damaged.

    >>> issubclass(CorruptError, RattlebackError)
    True
    """


class LimitError(RattlebackError):
    """A limit was exceeded, or a run cannot continue: the world stays at the last good time.

    >>> issubclass(LimitError, RattlebackError)
    True
    """


class UnsupportedError(RattlebackError):
    """A format, version or option is not supported, or not with this engine.

    >>> issubclass(UnsupportedError, RattlebackError)
    True
    """


class NumericalError(RattlebackError, ArithmeticError):
    """A computation did not reach its tolerance.

    >>> issubclass(NumericalError, ArithmeticError)
    True
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

    >>> issubclass(RattlebackWarning, UserWarning)
    True
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
