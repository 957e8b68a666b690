"""Many worlds at once, in C threads, with the GIL released once."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional

from ._native import ffi, lib
from ._waiting import take_waiting
from .errors import InvalidError
from .world import BUSY, BUSY_TEXT, World


def step_all(worlds: Iterable[World], count: int = 1, *, threads: Optional[int] = None) -> None:
    """Steps many worlds, each by count steps of its dt, in C threads (default: one for each processor), with the GIL released
    once. Worlds with callbacks of Python are refused. The bits do not depend on the number of threads. Raises the first
    exception after all have stepped. Ctrl-C stops all of them: each world has then made all of its steps or none.

    >>> worlds = [World() for _ in range(4)]
    >>> step_all(worlds, 10)
    >>> [world.time for world in worlds]
    [0.01, 0.01, 0.01, 0.01]
    """
    if count < 0:
        raise InvalidError(f"the number of steps is {count}; it must not be negative")
    listed = list(worlds)
    if len({id(world) for world in listed}) != len(listed):
        raise InvalidError("step_all got the same world twice; each must be given once")
    for world in listed:
        if world._watched:
            raise InvalidError("step_all got a world with callbacks of Python, which cannot run in C threads; use World.step")
    statuses = _move_all(listed, lib.rbpyStepAll, threads, {"stepCount": count})
    for world, status in zip(listed, statuses):
        if status != world._status:
            world._report(status)
        if world._viewer is not None:
            world._viewer._show(world)


def _move_all(listed: Sequence[World], move: Any, threads: Optional[int], how: Mapping[str, Any]) -> list[int]:
    """Moves worlds in C threads; returns the status of each."""
    for world in listed:
        world._native()
    states = ffi.new("rbpyState*[]", [world._state for world in listed])
    statuses = ffi.new("int[]", max(len(listed), 1))
    stopped = move(ffi.new("rbpyWorlds*", {"states": states, "count": len(listed), "statuses": statuses, **how}),
                   threads or os.cpu_count() or 1)
    if stopped == BUSY:
        raise InvalidError(BUSY_TEXT)
    if stopped:
        raise take_waiting()
    return list(statuses)[:len(listed)]


def advance_all(worlds: Sequence[World], time: float, *, threads: Optional[int] = None) -> list[Optional[str]]:
    """Advances worlds without callbacks to a time, s; returns for each why it could not, or None."""
    statuses = _move_all(worlds, lib.rbpyAdvanceAll, threads, {"time": time})
    fine = (lib.RB_STATUS_OK, lib.RB_STATUS_NUMERICAL)
    return [None if world._take_mode(status) in fine else world._failure() or "the world could not advance"
            for world, status in zip(worlds, statuses)]
