"""Scenes: the description of a world, from which any number of equal worlds can be made.

A scene is a dictionary in the format of docs/scene-format.md. Read one from a file, or build one with add_body and its
siblings; keywords are the keys of the format in snake case. It is validated as a whole when it is first used.
"""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._convert import Vector, camel, plain
from ._native import ffi, lib
from .errors import InvalidError, NotFoundError, check, exception_of, new_error
from .shape import Material, Shape

if TYPE_CHECKING:
    from .result import Result
    from .world import World

_FOLDERS = (os.path.join(os.path.dirname(__file__), "scenes"),
            os.path.join(os.path.dirname(__file__), "..", "..", "scenes"))


def camel_keys(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords as keys of the scene format; those that are None are left out."""
    return {camel(key): plain(value) if key in ("materials", "geometries") else _camel_inner(plain(value))
            for key, value in keys.items() if value is not None}


def _camel_inner(value: Any) -> Any:
    """Keys inside of objects, too, such as force_max of a motor."""
    return {camel(key): _camel_inner(item) for key, item in value.items()} if isinstance(value, dict) else value


def shapes_of(shape: Any, shapes: Any, material: Any) -> Optional[list[Any]]:
    """The list "shapes" of a body from what users give: shapes, (shape, position[, orientation]), or objects."""
    if shape is None and shapes is None:
        return None
    found = []
    for item in ([shape] if shape is not None else []) + list(shapes or []):
        if isinstance(item, Shape):
            item = (item,)
        if isinstance(item, tuple):
            item = dict(zip(("geometry", "position", "orientation"), item))
        elif isinstance(item, str):
            item = {"geometry": item}
        if not isinstance(item, Mapping):
            raise InvalidError(f"a shape of a body is {item!r}; a Shape, (Shape, position, orientation) or an object of a "
                               "scene is needed")
        entry = camel_keys(item)
        if material is not None and "material" not in entry:
            entry["material"] = plain(material)
        found.append(entry)
    return found


def body_value(name: Optional[str], shape: Any, shapes: Any, material: Any, keys: Mapping[str, Any]) -> dict[str, Any]:
    """A body as scenes write it."""
    value = camel_keys({"name": name, **keys})
    listed = shapes_of(shape, shapes, material)
    if listed is not None:
        value["shapes"] = listed
    return value


class Scene:
    """The description of a world.

    >>> scene = Scene(duration=1.0)
    >>> ground = scene.add_body(Shape.plane(), name="ground", type="static")
    >>> ball = scene.add_body(Shape.sphere(0.1), name="ball", position=(0, 0, 1))
    >>> result = scene.run(output=0.01)
    >>> result["ball.position.z"][0]
    1.0
    """

    def __init__(self, value: Optional[Mapping[str, Any]] = None, *, folder: Optional[str] = None, **keys: Any) -> None:
        """value: an object of the scene format; keys: more of its top-level keys, in snake case, e.g. duration=5,
        engine="event", world={"gravity": [0, 0, -1.6]}. folder: where mesh files are looked for (default: the current one).
        """
        self._value: dict[str, Any] = {"rattleback": 1, "bodies": []}
        self._value.update(plain(value or {}))
        self._value.update(camel_keys(keys))
        self._folder = folder
        self._files: Mapping[str, bytes] = {}  # those of a recording; else they are read from the folder
        self._cached: Any = None

    # ------------------------------------------------------------------------------------------------------ reading

    @staticmethod
    def from_file(path: Union[str, "os.PathLike[str]"]) -> Scene:
        """Reads a scene file.

        >>> Scene.from_file("missing.json")
        Traceback (most recent call last):
        ...
        rattleback.errors.NotFoundError: missing.json: ...
        """
        error = new_error()
        name = os.fspath(path)
        handle = lib.rbReadScene(os.fsencode(name), error)
        return Scene._of_handle(handle, error, os.path.dirname(name))

    @staticmethod
    def from_text(text: str, folder: Optional[str] = None) -> Scene:
        """Reads a scene from JSON text.

        >>> Scene.from_text('{"rattleback": 1, "bodies": []}').body_count
        0
        """
        error = new_error()
        return Scene._of_handle(_read(text, folder, {}, error), error, folder)

    @staticmethod
    def example(name: str) -> Scene:
        """One of the example scenes; see examples().

        >>> Scene.example("pendulum").title != ""
        True
        """
        for folder in _FOLDERS:
            path = os.path.join(folder, name + ".json")
            if os.path.exists(path):
                return Scene.from_file(path)
        raise NotFoundError(f"there is no example scene {name!r}; rattleback.Scene.examples() lists them")

    @staticmethod
    def examples() -> list[str]:
        """The names of the example scenes.

        >>> "rattleback" in Scene.examples()
        True
        """
        for folder in _FOLDERS:
            if os.path.isdir(folder):
                return sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".json"))
        return []

    @staticmethod
    def _of_files(text: str, files: Mapping[str, bytes]) -> Scene:
        """A scene whose files are in memory."""
        error = new_error()
        scene = Scene._of_handle(_read(text, None, files, error), error, None)
        scene._files = files
        return scene

    @staticmethod
    def _of_handle(handle: Any, error: Any, folder: Optional[str]) -> Scene:
        if handle == ffi.NULL:
            raise exception_of(error)
        scene = Scene(folder=folder)
        scene._take(ffi.gc(handle, lib.rbDestroyScene))
        scene._value.setdefault("name", scene.name)
        return scene

    def _take(self, handle: Any) -> None:
        self._cached = handle
        self._value = json.loads(ffi.string(lib.rbScene_GetText(handle, ffi.NULL)))

    def _handle(self) -> Any:
        """The scene of the library; read and validated anew after a change."""
        if self._cached is None:
            error = new_error()
            handle = _read(json.dumps(self._value), self._folder, self._files, error)
            if handle == ffi.NULL:
                raise exception_of(error)
            self._cached = ffi.gc(handle, lib.rbDestroyScene)
        return self._cached

    # ----------------------------------------------------------------------------------------------------- building

    def _add(self, key: str, value: dict[str, Any], stem: str) -> str:
        items = self._value.setdefault(key, [])
        items.append(value)
        self._cached = None
        return str(value.get("name", f"{stem}{len(items) - 1}"))

    def add_body(self, shape: Any = None, *, name: Optional[str] = None, shapes: Optional[Sequence[Any]] = None,
                 material: Union[Material, str, Mapping[str, Any], None] = None, type: Optional[str] = None,
                 position: Optional[Vector] = None, orientation: Any = None, velocity: Optional[Vector] = None,
                 spin: Optional[Vector] = None, mass: Optional[float] = None, inertia: Optional[Vector] = None,
                 **keys: Any) -> str:
        """Adds a body and returns its name.

        shape: one Shape, or shapes: several, each a Shape, (Shape, position, orientation) or an object; material: of those
        without one; type: "dynamic", "static" or "kinematic"; position m; orientation w, x, y, z or {"axis", "angle"};
        velocity m/s of the center of mass; spin rad/s; mass kg; inertia kg m². Other keys: as in docs/scene-format.md,
        e.g. repeat, scatter, path, motion.

        >>> Scene().add_body(Shape.sphere(1.0))
        'body0'
        """
        given = dict(type=type, position=position, orientation=orientation, velocity=velocity, spin=spin, mass=mass,
                     inertia=inertia, **keys)
        return self._add("bodies", body_value(name, shape, shapes, material, given), "body")

    def add_joint(self, type: str, body_a: Optional[str], body_b: Optional[str], *, name: Optional[str] = None,
                  anchor: Optional[Vector] = None, axis: Optional[Vector] = None, **keys: Any) -> str:
        """Adds a joint between two bodies (None: the world) and returns its name. anchor (m) and axis in world
        coordinates at the start. Other keys: stiffness, damping, friction, motor, lower, upper, ...

        >>> scene = Scene()
        >>> arm = scene.add_body(Shape.box((1, 0.1, 0.1)), name="arm", position=(0.5, 0, 0))
        >>> scene.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
        'joint0'
        """
        value = camel_keys(dict(name=name, type=type, anchor=anchor, axis=axis, **keys))
        value["bodies"] = [body_a or "world", body_b or "world"]
        return self._add("joints", value, "joint")

    def add_spring(self, body_a: Optional[str], body_b: Optional[str], *, stiffness: float, damping: float = 0.0,
                   name: Optional[str] = None, **keys: Any) -> str:
        """Adds a spring between two bodies (None: the world) and returns its name. N/m, N s/m; rest_length m (default: as
        at the start); anchor_a and anchor_b in the frames of the bodies, m.

        >>> scene = Scene()
        >>> ball = scene.add_body(Shape.sphere(0.1), name="ball")
        >>> scene.add_spring(None, ball, stiffness=100.0, anchor_a=(0, 0, 1))
        'spring0'
        """
        value = camel_keys(dict(name=name, stiffness=stiffness, damping=damping, **keys))
        value["bodies"] = [body_a or "world", body_b or "world"]
        return self._add("springs", value, "spring")

    def add_force(self, type: str, *, body: Optional[str] = None, **keys: Any) -> None:
        """Adds a force on one body, or on all: "constant" (force N, torque N m), "drag" (linear, quadratic, angular),
        "central" (strength, center).

        >>> Scene().add_force("drag", linear=0.1)
        """
        self._add("forces", camel_keys(dict(type=type, body=body, **keys)), "force")

    def add_material(self, name: str, material: Optional[Material] = None, **keys: Any) -> str:
        """Adds a named material and returns its name.

        >>> Scene().add_material("ice", friction=0.02)
        'ice'
        """
        value = material.scene_value() if material is not None else {}
        self._value.setdefault("materials", {})[name] = {**value, **camel_keys(keys)}
        self._cached = None
        return name

    def add_probe(self, quantity: str, *, body: Optional[str] = None, joint: Optional[str] = None,
                  spring: Optional[str] = None, name: Optional[str] = None, **keys: Any) -> None:
        """Adds a probe: a quantity (in snake case, e.g. "angular_velocity") of a body, a joint, a spring or the world that
        a run records.

        >>> scene = Scene()
        >>> ball = scene.add_body(Shape.sphere(0.1), name="ball")
        >>> scene.add_probe("position", body=ball)
        >>> scene.columns
        ['ball.position.x', 'ball.position.y', 'ball.position.z']
        """
        value = camel_keys(dict(name=name, body=body, joint=joint, spring=spring, **keys))
        self._value.setdefault("output", {}).setdefault("probes", []).append({**value, "quantity": camel(quantity)})
        self._cached = None

    def set(self, place: str, value: Any) -> Scene:
        """Changes one value, e.g. set("world.gravity.2", -1.6) or set("materials.ice.friction", 0.1); None removes it. The
        scene is validated; on failure it is unchanged. Returns the scene.

        >>> Scene.example("pendulum").set("world.gravity.2", -1.6).to_dict()["world"]["gravity"][2]
        -1.6
        """
        handle, error = self._handle(), new_error()
        text = f"{place}={json.dumps(plain(value))}"
        check(lib.rbScene_Override(handle, text.encode(), error), error)
        self._take(handle)
        return self

    # ----------------------------------------------------------------------------------------------------- asking

    def _info(self) -> Any:
        return lib.rbScene_GetInfo(self._handle())

    @property
    def name(self) -> str:
        """The name of the scene.

        >>> Scene.example("pendulum").name
        'pendulum'
        """
        return str(ffi.string(self._info().name).decode())

    @property
    def title(self) -> str:
        """Its title, one line.

        >>> Scene(title="Two balls").title
        'Two balls'
        """
        return str(ffi.string(self._info().title).decode())

    @property
    def duration(self) -> float:
        """s, of a run.

        >>> Scene(duration=2.5).duration
        2.5
        """
        return float(self._info().duration)

    @property
    def body_count(self) -> int:
        """Bodies after repeat and scatter.

        >>> Scene().body_count
        0
        """
        return int(self._info().bodyCount)

    @property
    def columns(self) -> list[str]:
        """The names of the values that probes give.

        >>> Scene().columns[0]
        'world.energy'
        """
        return [name for name, _ in self._columns()]

    def _columns(self) -> list[tuple[str, str]]:
        count = ffi.new("int*")
        found = lib.rbScene_GetProbeColumns(self._handle(), count)
        return [(ffi.string(found[i].name).decode(), ffi.string(found[i].unit).decode()) for i in range(count[0])]

    def to_dict(self) -> dict[str, Any]:
        """A copy of the scene as a dictionary.

        >>> sorted(Scene().to_dict())
        ['bodies', 'rattleback']
        """
        copied: dict[str, Any] = json.loads(json.dumps(self._value))
        return copied

    def to_text(self) -> str:
        """The scene as JSON text.

        >>> Scene.from_text(Scene(duration=3).to_text()).duration
        3.0
        """
        return json.dumps(self._value)

    def save(self, path: str) -> None:
        """Writes the scene to a file.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "empty.json")
        >>> Scene().save(path)
        >>> Scene.from_file(path).name
        'empty'
        """
        self._handle()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._value, file, indent=1)
            file.write("\n")

    def copy(self) -> Scene:
        """An independent copy.

        >>> Scene(duration=4).copy().duration
        4.0
        """
        other = Scene(self.to_dict(), folder=self._folder)
        other._files = self._files
        return other

    def __repr__(self) -> str:
        return f"<Scene {self._value.get('name', '')!r}: {len(self._value['bodies'])} entries in bodies>"

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self._value, "folder": os.path.abspath(self._folder) if self._folder else None, "files": dict(self._files)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["value"], folder=state["folder"])  # type: ignore[misc]
        self._files = state["files"]

    # ---------------------------------------------------------------------------------------------------- running

    def world(self) -> World:
        """A new world of the scene at its start.

        >>> with Scene.example("pendulum").world() as world:
        ...     world.time
        0.0
        """
        from .world import World

        return World._of_scene(self)

    def run(self, duration: Optional[float] = None, output: Optional[float] = None, *, states: bool = True,
            record: Optional[str] = None, progress: Any = None) -> Result:
        """Simulates the scene from its start and returns what its probes measured, and the states of all bodies.

        duration: s (default: that of the scene); output: s between outputs, which does not change the motion; states:
        whether positions, orientations and velocities are kept; record: a recording (.rbr) to be written; progress: called
        with the time after each output. The bits are those of the program: 'rattleback run'.

        >>> result = Scene.example("pendulum").run(0.1, output=0.01)
        >>> len(result)
        11
        """
        from .result import run_scene

        return run_scene(self, duration, output, states=states, record=record, progress=progress)

    def _repr_html_(self) -> str:
        """In a notebook a scene is shown as a page that replays it."""
        from .result import frame_page, write_page

        return frame_page(write_page(self, None))


def _read(text: str, folder: Optional[str], files: Mapping[str, bytes], error: Any) -> Any:
    data = text.encode()
    keep = [ffi.new("char[]", os.fsencode(folder)) if folder else ffi.NULL]
    source = ffi.new("rbSceneSource*", {"folder": keep[0]})
    if files:
        names = [ffi.new("char[]", name.encode()) for name in files]
        contents = [ffi.from_buffer(content) for content in files.values()]
        keep += names + contents
        keep += [ffi.new("char*[]", names), ffi.new("void*[]", contents), ffi.new("size_t[]", [len(c) for c in contents])]
        keep.append(ffi.new("rbpyFiles*", {"names": keep[-3], "bytes": keep[-2], "sizes": keep[-1], "count": len(names)}))
        source.context, source.fileFn = keep[-1], ffi.addressof(lib, "rbpyFindFile")
    return lib.rbReadSceneText(data, len(data), source, error)
