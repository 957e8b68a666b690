"""Modules in Python of the program: rattleback run SCENE --module script.py, see docs/own-modules.md.

The program (app/python/python_host.c) calls load and call. A script may define start(world), before_step(world),
after_step(world) and finish(world).
"""
from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, NoReturn, Optional

from ._native import ffi, lib
from ._waiting import _waiting, take_waiting
from .errors import InvalidError
from .scene import Scene
from .world import World

HOOKS = ("start", "before_step", "after_step", "finish")

current = ""  # path of the script whose code runs, for messages
_scripts: list[tuple[str, Any]] = []
_world: Optional[World] = None


class ProgramWorld(World):
    """The world of the program: hooks read and change it, the program advances it."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidError("the program advances this world and writes its bodies to files; a hook cannot advance, rewind, close or "
                           "view it, nor add or destroy bodies (use world.branch() to try something)")

    step = advance = advance_to = restore = close = view = add_body = _refuse
    add_controller = on_contact = _refuse

    def _check_destroy(self, kind: str) -> None:
        if kind == "Body":
            self._refuse()


def _adopt(scene: int, world: int) -> World:
    """The world of the program as one of Python; both belong to the program."""
    handle = ffi.cast("rbScene*", scene)
    own = Scene(folder=os.path.dirname(os.fsdecode(ffi.string(lib.rbScene_GetInfo(handle).file))) or None)
    own._take(handle)
    made = object.__new__(ProgramWorld)
    made._adopt(own, ffi.cast("rbWorld*", world), float(lib.rbScene_GetInfo(handle).step.step))
    return made


def load(path: str) -> None:
    """Runs a script and keeps its hooks."""
    global current
    current = path
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # it may import files in its own folder
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidError("it cannot be read as a script of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if not any(callable(getattr(module, hook, None)) for hook in HOOKS):
        raise InvalidError(f"it defines none of the hooks {', '.join(HOOKS)}; each takes the world")
    _scripts.append((path, module))


def call(hook: str, scene: int, world: int) -> None:
    """Calls a hook of all scripts."""
    global current, _world
    if _world is None:
        _world = _adopt(scene, world)
    for current, module in _scripts:
        if _waiting.error is not None:  # a force or a filter raised in the step
            raise take_waiting()
        function = getattr(module, hook, None)
        if function is not None:
            answer = function(_world)
            if hook == "before_step":
                _world._take_loads(answer)
