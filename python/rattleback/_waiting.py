"""Exceptions that wait until C has returned: those of callbacks, and Ctrl-C in the midst of an advance.

The library is stopped by a flag (bindings/helpers.c) and puts the world back; then the exception is raised again, with its
traceback.
"""
from __future__ import annotations

import os
import threading
from typing import Any, Optional

from ._native import ffi, lib


class _Waiting(threading.local):
    """What callbacks of this thread raised; it is raised again as soon as the advance has returned."""

    error: Optional[BaseException] = None


_waiting = _Waiting()


def keep(kind: Any, error: BaseException, traceback: Any) -> None:
    """Also of an interrupt that Python raises where it enters the function, before its first line."""
    _waiting.error = error.with_traceback(traceback)


def take_waiting() -> BaseException:
    """The exception that stopped an advance."""
    error, _waiting.error = _waiting.error, None
    return error if error is not None else KeyboardInterrupt()


@ffi.def_extern(error=1, onerror=keep)  # type: ignore[misc]
def rbpyAsk() -> int:
    """Python runs the handlers of signals here."""
    return 0


os.register_at_fork(after_in_child=lib.rbpyAfterFork)
