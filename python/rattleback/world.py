"""The world: bodies that move in time.

    world = rattleback.World(gravity=(0, 0, -9.81))
    world.add_body(rattleback.Shape.plane(), type="static")
    ball = world.add_body(rattleback.Shape.sphere(0.1), position=(0, 0, 1))
    world.step(1000)

Use a world from one thread at a time; steps release the GIL, and step_all steps many worlds in C threads. Positions of all
bodies and the like are arrays in the order of world.bodies.
"""
from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._convert import FloatArray, Vector, array, camel_or_same, pointer, record_type, struct_dict, target, vec3, vector
from ._native import ffi, lib
from ._waiting import keep, take_waiting
from .control import LinearModel, Rollout, linear_model, roll_out
from .errors import (DeadObjectError, InvalidError, LimitError, NotFoundError, RattlebackWarning, check, exception_of,
                     message_of, new_error)
from .objects import Body, Joint, Spring
from .scene import Scene, body_value, camel_keys
from .shape import Hit, Material, Shape, transform
from .viewer import Viewer

_NO_WORLD, BUSY = -1, -2
_PIECE_MAX = 1 << 40
_step = lib.rbpyStep
_has_world = False  # modules are loaded before the first one
BUSY_TEXT = ("the world is in the midst of an advance: it cannot be changed or advanced by its own forces and filters, nor by "
              "another thread, nor in a process that was forked meanwhile")

_CONTACT = record_type("rbContactView", {
    "index_a": ("bodyA", "u4"), "index_b": ("bodyB", "u4"), "point": ("point", "3f8"), "normal": ("normal", "3f8"),
    "gap": ("gap", "f8"), "force": ("force", "3f8"), "sticking": ("isSticking", "?")})
_CONTACT_EVENT = record_type("rbContactEvent", {
    "time": ("time", "f8"), "kind": ("kind", "i4"), "index_a": ("bodyA", "u4"), "index_b": ("bodyB", "u4"),
    "shape_a": ("shapeA", "i4"), "shape_b": ("shapeB", "i4"), "point": ("point", "3f8"), "normal": ("normal", "3f8"),
    "approach_speed": ("approachSpeed", "f8"), "impulse": ("impulse", "3f8")})
_EVENT = record_type("rbEvent", {
    "time": ("time", "f8"), "kind": ("kind", "i4"), "index_a": ("bodyA", "u4"), "index_b": ("bodyB", "u4"),
    "energy_change": ("energyChange", "f8"), "friction_work": ("frictionWork", "f8"), "point": ("point", "3f8"),
    "normal": ("normal", "3f8"), "impulse": ("impulse", "3f8"), "approach_speed": ("approachSpeed", "f8")})

_FIELDS = {"position": lib.RB_FIELD_POSITION, "orientation": lib.RB_FIELD_ORIENTATION, "center": lib.RB_FIELD_CENTER,
           "velocity": lib.RB_FIELD_LINEAR_VELOCITY, "angular_velocity": lib.RB_FIELD_ANGULAR_VELOCITY,
           "mass": lib.RB_FIELD_MASS, "force": lib.RB_FIELD_FORCE, "torque": lib.RB_FIELD_TORQUE}
_WIDTHS = {name: int(lib.rbBodyField_Width(field)) for name, field in _FIELDS.items()}

ForceFunction = Callable[["Body", "ForceState"], Any]
Records = NDArray[Any]


@dataclass(frozen=True)
class Ledger:
    """The energy accounting: kinetic, potential and total energy of all dynamic bodies and springs (J), energy_drift (J), the error
    of the integration, the work (J) of impulses and forces from outside since the start, the momentum (kg m/s) and the
    angular_momentum about the origin (kg m²/s); values has all numbers of the library by name, as the work of motors and friction.

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> _ = world.add_body(rb.Shape.sphere(0.1), mass=2.0, velocity=(3, 0, 0))
    >>> world.ledger.kinetic
    9.0
    """

    kinetic: float
    potential: float
    energy: float
    energy_drift: float
    work: float
    momentum: FloatArray
    angular_momentum: FloatArray
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ForceState:
    """The state of a body as a force sees it: time s, mass kg, center m, velocity m/s, angular_velocity rad/s.

    >>> world = World(gravity=(0, 0, 0))
    >>> ball = world.add_body(Shape.sphere(0.1), mass=2.0, velocity=(3, 0, 0))
    >>> def brake(body: Body, state: ForceState):
    ...     return -state.mass * state.velocity
    >>> _ = world.add_force(brake)
    >>> world.advance(1.0)
    >>> abs(float(ball.velocity[0]) - 3.0 * math.exp(-1.0)) < 1e-6
    True
    """

    time: float
    mass: float
    center: FloatArray
    velocity: FloatArray
    angular_velocity: FloatArray


def _depth() -> int:
    """How many frames above its caller the first one outside of this package is, for warnings."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        depth, frame = depth + 1, frame.f_back
    return depth


class Snapshot:
    """Everything that changes while a world runs, at one time; see World.snapshot. For this process, not for files.

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> world.snapshot().time
    0.0
    """

    __slots__ = ("time", "_bytes", "_size")

    def __init__(self, time: float, data: Any, size: int) -> None:
        self.time = time
        self._bytes = data
        self._size = size


class _Force:
    """A force function and its world: the context of the C callback."""

    def __init__(self, world: World, function: Callable[..., Any], body: Optional[Body]) -> None:
        self.world, self.function, self.body = world, function, body


@ffi.def_extern(error=1, onerror=keep)  # type: ignore[misc]
def rbpyForce(given: Any, force: Any, torque: Any, context: Any) -> int:
    """Calls a force function of Python."""
    own: _Force = ffi.from_handle(context)
    state = ForceState(given.time, given.mass, vector(given.center), vector(given.linearVelocity), vector(given.angularVelocity))
    answer = own.function(Body(own.world, given.bodyId), state)
    if answer is not None:
        parts = answer if isinstance(answer, tuple) and len(answer) == 2 and np.ndim(answer[0]) == 1 else (answer, None)
        for part, out, what in zip(parts, (force, torque), ("the force", "the torque")):
            if part is not None:
                out.x, out.y, out.z = vec3(part, f"{what} of a force function")
    return 0


@ffi.def_extern(error=-1, onerror=keep)  # type: ignore[misc]
def rbpyFilter(handle: Any, a: Any, b: Any, context: Any) -> int:
    """Asks a filter function of Python."""
    world: World = ffi.from_handle(context)
    return int(world._filter is None or bool(world._filter(Body(world, a), Body(world, b))))


class World:
    """A world. Make one here and add bodies, or from a scene: Scene.world().

    >>> world = World(gravity=(0, 0, 0))
    >>> body = world.add_body(Shape.box((1, 1, 1)), velocity=(1, 0, 0))
    >>> world.step(1000)
    >>> body.position.round(9).tolist()
    [1.0, 0.0, 0.0]
    """

    def __init__(self, *, gravity: Vector = (0.0, 0.0, -9.81), engine: str = "step", dt: Optional[float] = None,
                 accuracy: Optional[str] = None, contacts: bool = True, **keys: Any) -> None:
        """gravity m/s²; engine "step", "event" or "flight"; dt: s, step size (default 1e-3); accuracy "game",
        "engineering" or "exact"; contacts: whether bodies collide (step engine). Other keys are those of scenes in snake
        case: step={...}, contact={...}, event={...}, motion={...}, materials={...}.
        """
        value = camel_keys(keys)
        value["engine"] = engine
        value["world"] = {"gravity": vec3(gravity, "gravity"), **value.get("world", {})}
        step = dict(value.get("step", {}))
        if dt is not None:
            step["step"] = dt
        if accuracy is not None:
            step["accuracy"] = accuracy
        if step:
            value["step"] = step
        if not contacts:
            value["contact"] = {**value.get("contact", {}), "enabled": False}
        self._start(Scene(value))

    @staticmethod
    def _of_scene(scene: Scene) -> World:
        world = object.__new__(World)
        world._start(scene)
        return world

    def _start(self, scene: Scene) -> None:
        global _has_world
        _has_world = True
        scene = scene.copy()  # later changes of the scene do not reach the world
        handle, error = scene._handle(), new_error()
        made = lib.rbScene_CreateWorld(handle, error)
        if made == ffi.NULL:
            raise exception_of(error)
        self._adopt(scene, ffi.gc(made, lib.rbDestroyWorld), float(lib.rbScene_GetInfo(handle).step.step))

    def _adopt(self, scene: Scene, pointer: Any, dt: float) -> None:
        """Takes a world of the library."""
        self.scene = scene
        self._pointer = pointer
        self._dt = dt
        self._status = lib.RB_STATUS_OK
        self._state = ffi.new("rbpyState*", {"world": pointer, "step": dt, "lastTime": math.nan})
        self._forces: list[Any] = []
        self._filter: Optional[Callable[[Body, Body], bool]] = None
        self._controllers: list[Callable[[World], Any]] = []
        self._listeners: list[Callable[[Records], Any]] = []
        self._watched = False  # something of Python is called in steps
        self._recipe: list[Callable[[World], Any]] = []  # what was added or destroyed since, for branches
        self._order: Optional[tuple[int, NDArray[np.int64]]] = None
        self._self: Any = None
        self._branches: list[World] = []  # of rollouts
        self._viewer: Optional[Viewer] = None
        # Open joints and overlaps at the start are named when the first step is made.

    # ------------------------------------------------------------------------------------------------- life

    def _native(self) -> Any:
        if self._pointer == ffi.NULL:
            raise DeadObjectError("this world was closed; create a new one")
        return self._pointer

    def _changing(self) -> Any:
        """The world of the library, for what changes it."""
        if self._state.isMoving:
            raise InvalidError(BUSY_TEXT)
        return self._native()

    def close(self) -> None:
        """Frees the world now; otherwise it happens with its last reference.

        >>> World().close()
        """
        if self._pointer != ffi.NULL:
            self._changing()
            if self._viewer is not None:
                self._viewer.close()
            ffi.release(self._pointer)
            self._pointer = self._state.world = ffi.NULL

    def __enter__(self) -> World:
        self._native()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._pointer == ffi.NULL:
            return "<World, closed>"
        return f"<World: {lib.rbWorld_GetBodyCount(self._pointer)} bodies at {self.time:g} s>"

    def _check_destroy(self, kind: str) -> None:
        """Refuses what may not be destroyed."""

    def _note(self, action: Callable[[World], Any]) -> None:
        self._recipe.append(action)
        self._order = None

    def _note_at(self, before: Snapshot, action: Callable[[World], Any]) -> None:
        """Notes what depends on the poses at that time, such as the distance that a joint holds."""
        self._note(lambda world: world.restore(before))
        self._note(action)

    # ------------------------------------------------------------------------------------------------ content

    def add_body(self, shape: Any = None, *, name: Optional[str] = None, shapes: Optional[Sequence[Any]] = None,
                 material: Union[Material, str, Mapping[str, Any], None] = None, type: Optional[str] = None,
                 position: Optional[Vector] = None, orientation: Any = None, velocity: Optional[Vector] = None,
                 spin: Optional[Vector] = None, mass: Optional[float] = None, inertia: Optional[Vector] = None,
                 **keys: Any) -> Body:
        """Adds a body; the arguments are those of Scene.add_body, without repeat and scatter.

        >>> World().add_body(Shape.sphere(0.1), name="ball", mass=2.0).mass
        2.0
        """
        given = dict(type=type, position=position, orientation=orientation, velocity=velocity, spin=spin, mass=mass,
                     inertia=inertia, **keys)
        handle, error = self._changing(), new_error()
        text = json.dumps(body_value(name, shape, shapes, material, given)).encode()
        count = len(self._recipe) + lib.rbWorld_GetBodyCount(handle)
        default = f"body{count}".encode()
        found = lib.rbScene_AddBody(self.scene._handle(), handle, text, len(text), default, error)
        if found.index1 == 0:
            raise exception_of(error)
        self._note(lambda world: lib.rbScene_AddBody(world.scene._handle(), world._pointer, text, len(text), default, ffi.NULL))
        return Body(self, found)

    def add_joint(self, type: str, body_a: Optional[Body], body_b: Optional[Body], *, anchor: Optional[Vector] = None,
                  anchor_a: Optional[Vector] = None, anchor_b: Optional[Vector] = None, axis: Optional[Vector] = None,
                  axis_b: Optional[Vector] = None, name: Optional[str] = None,
                  distance: Optional[float] = None, stiffness: float = 0.0, rest: float = 0.0, damping: float = 0.0,
                  friction: float = 0.0, motor: Optional[Mapping[str, Any]] = None, lower: float = -math.inf,
                  upper: float = math.inf, restitution: float = 0.0, collide: bool = False) -> Joint:
        """Adds a joint between two bodies (None: the world): "ball", "hinge", "prismatic", "fixed", "universal", ...

        anchor (m) and axis in world coordinates at the present poses, or anchor_a and anchor_b in the frames of the bodies
        (of the world: world coordinates); axis_b: second axis of universal joints. For the first freedom: stiffness, rest, damping, dry friction; motor {"type": "position" | "speed" | "velocity", "gain",
        "target", "force_max", ...}; lower, upper and restitution of its stops. collide: whether its bodies collide.

        >>> world = World()
        >>> a = world.add_body(Shape.sphere(0.1))
        >>> world.add_joint("ball", None, a, anchor=(0, 0, 1)).type
        'ball'
        """
        handle, error = self._changing(), new_error()
        definition = ffi.new("rbJointDef*")
        definition[0] = lib.rbDefaultJointDef()
        definition.type = lib.rbJointType_Find(type.encode())
        if definition.type >= lib.rbJointType_GetCount():
            raise InvalidError(f"there is no joint type {type!r}; ball, hinge, prismatic, cylindrical, universal, fixed, "
                               "distance, ... are known")
        keep = [ffi.new("char[]", name.encode())] if name else []
        if keep:
            definition.name = keep[0]
        for key, body in (("bodyA", body_a), ("bodyB", body_b)):
            if body is not None:
                body._alive()
                if body.world is not self:
                    raise InvalidError("a body of the joint belongs to another world")
                setattr(definition, key, body._id)
        if anchor is not None:
            lib.rbJointDef_SetAnchor(definition, handle, vec3(anchor, "anchor"))
        if anchor_a is not None:
            definition.anchorA = vec3(anchor_a, "anchor_a")
        if anchor_b is not None:
            definition.anchorB = vec3(anchor_b, "anchor_b")
        if axis is not None:
            lib.rbJointDef_SetAxis(definition, handle, vec3(axis, "axis"))
        if axis_b is not None:
            other = ffi.new("rbJointDef*", definition[0])
            lib.rbJointDef_SetAxis(other, handle, vec3(axis_b, "axis_b"))
            definition.axisB = other.axisB
        if distance is not None:
            definition.distance = distance
        free = definition.freedoms[0]
        free.stiffness, free.rest, free.damping, free.friction = stiffness, rest, damping, friction
        _set_motor(free.motor, motor)
        definition.limits[0] = {"lower": lower, "upper": upper, "restitution": restitution}
        definition.areNeighborsMeeting = collide
        before = self.snapshot()
        found = lib.rbCreateJoint(handle, definition, error)
        if found.index1 == 0:
            raise exception_of(error)
        self._note_at(before, lambda world: (keep, lib.rbCreateJoint(world._pointer, definition, ffi.NULL)))
        return Joint(self, found)

    def add_spring(self, body_a: Optional[Body], body_b: Optional[Body], *, stiffness: float, damping: float = 0.0,
                   rest_length: Optional[float] = None, anchor_a: Vector = (0.0, 0.0, 0.0),
                   anchor_b: Vector = (0.0, 0.0, 0.0), name: Optional[str] = None) -> Spring:
        """Adds a spring between two bodies (None: the world): N/m, N s/m, m; anchors in the frames of the bodies.

        >>> world = World()
        >>> ball = world.add_body(Shape.sphere(0.1))
        >>> world.add_spring(None, ball, stiffness=10.0, anchor_a=(0, 0, 1)).energy
        0.0
        """
        handle, error = self._changing(), new_error()
        definition = ffi.new("rbSpringDef*")
        definition[0] = lib.rbDefaultSpringDef()
        keep = [ffi.new("char[]", name.encode())] if name else []
        if keep:
            definition.name = keep[0]
        for key, body in (("bodyA", body_a), ("bodyB", body_b)):
            if body is not None:
                body._alive()
                setattr(definition, key, body._id)
        definition.anchorA, definition.anchorB = vec3(anchor_a, "anchor_a"), vec3(anchor_b, "anchor_b")
        definition.stiffness, definition.damping = stiffness, damping
        definition.restLength = -1.0 if rest_length is None else rest_length
        before = self.snapshot()
        found = lib.rbCreateSpring(handle, definition, error)
        if found.index1 == 0:
            raise exception_of(error)
        self._note_at(before, lambda world: (keep, lib.rbCreateSpring(world._pointer, definition, ffi.NULL)))
        return Spring(self, found)

    @property
    def bodies(self) -> list[Body]:
        """All bodies, in the order of the arrays.

        >>> World().bodies
        []
        """
        found: list[Body] = self._list("Body", Body)
        return found

    @property
    def joints(self) -> list[Joint]:
        """All joints.

        >>> World().joints
        []
        """
        found: list[Joint] = self._list("Joint", Joint)
        return found

    @property
    def springs(self) -> list[Spring]:
        """All springs.

        >>> World().springs
        []
        """
        found: list[Spring] = self._list("Spring", Spring)
        return found

    def _list(self, kind: str, make: Any) -> Any:
        handle = self._native()
        count = int(getattr(lib, f"rbWorld_Get{kind}Count")(handle))
        ids = ffi.new(f"rb{kind}Id[]", count)
        getattr(lib, f"rbWorld_Get{kind}Ids")(handle, ids, count)
        return [make(self, ids[i]) for i in range(count)]

    def body(self, name: str) -> Body:
        """The body of a name.

        >>> Scene.example("pendulum").world().body("missing")
        Traceback (most recent call last):
        ...
        rattleback.errors.NotFoundError: there is no body 'missing' in this world
        """
        return self._find("Body", name, Body)  # type: ignore[no-any-return]

    def joint(self, name: str) -> Joint:
        """The joint of a name.

        >>> world = World()
        >>> ball = world.add_body(Shape.sphere(0.1))
        >>> _ = world.add_joint("ball", None, ball, anchor=(0, 0, 1), name="hook")
        >>> world.joint("hook").name
        'hook'
        """
        return self._find("Joint", name, Joint)  # type: ignore[no-any-return]

    def spring(self, name: str) -> Spring:
        """The spring of a name.

        >>> world = World()
        >>> ball = world.add_body(Shape.sphere(0.1))
        >>> _ = world.add_spring(None, ball, stiffness=1.0, anchor_a=(0, 0, 1), name="band")
        >>> world.spring("band").name
        'band'
        """
        return self._find("Spring", name, Spring)  # type: ignore[no-any-return]

    def _find(self, kind: str, name: str, make: Any) -> Any:
        found = getattr(lib, f"rbWorld_Find{kind}")(self._native(), name.encode())
        if found.index1 == 0:
            raise NotFoundError(f"there is no {kind.lower()} {name!r} in this world")
        return make(self, found)

    # ------------------------------------------------------------------------------------------------- arrays

    def read(self, field: str, out: Optional[FloatArray] = None) -> FloatArray:
        """A field of all bodies, (n, 3); (n, 4) for orientations, (n,) for masses: "position" (m), "orientation" (w, x, y,
        z), "center" (of mass, m), "velocity" (m/s), "angular_velocity" (rad/s), "mass" (kg), "force" (N) and "torque"
        (N m), the loads that write() set. out: an array of doubles to be filled, which may be a part of a larger one.

        >>> world = World()
        >>> _ = world.add_body(Shape.sphere(0.1), position=(1, 2, 3))
        >>> world.read("position").tolist()
        [[1.0, 2.0, 3.0]]
        """
        if field not in _FIELDS:
            raise InvalidError(f"there is no field {field!r}; there are {', '.join(_FIELDS)}")
        handle, width = self._native(), _WIDTHS[field]
        count = int(lib.rbWorld_GetBodyCount(handle))
        shape = (count,) if width == 1 else (count, width)
        found = np.empty(shape) if out is None else target(out, shape, "out")
        if count > 0:
            lib.rbWorld_ReadField(handle, _FIELDS[field], pointer(found), found.strides[0])
        return found

    def write(self, field: str, values: ArrayLike) -> None:
        """Sets a field of all dynamic bodies: "position", "orientation", "velocity", "angular_velocity"; "force" and
        "torque" act until they are written again (N, N m, world axes, at the center of mass).

        >>> world = World(gravity=(0, 0, 0))
        >>> ball = world.add_body(Shape.sphere(0.1), mass=2.0)
        >>> world.write("force", [[4, 0, 0]])
        >>> world.advance(1.0)
        >>> ball.velocity.round(9).tolist()
        [2.0, 0.0, 0.0]
        """
        if field not in _FIELDS:
            raise InvalidError(f"there is no field {field!r}; there are {', '.join(_FIELDS)}")
        handle, error = self._changing(), new_error()
        count = int(lib.rbWorld_GetBodyCount(handle))
        given = array(values, (count, _WIDTHS[field]), f"{field} of {count} bodies")
        check(lib.rbWorld_WriteField(handle, _FIELDS[field], pointer(given), 0, error), error)

    @property
    def positions(self) -> FloatArray:
        """Positions of all bodies, (n, 3), m; a copy.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> world.positions.tolist()
        [[1.0, 2.0, 3.0]]
        """
        return self.read("position")

    @property
    def orientations(self) -> FloatArray:
        """Orientations of all bodies, (n, 4), w, x, y, z; a copy.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> world.orientations.tolist()
        [[1.0, 0.0, 0.0, 0.0]]
        """
        return self.read("orientation")

    @property
    def velocities(self) -> FloatArray:
        """Velocities of all centers of mass, (n, 3), m/s; a copy.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> world.velocities.tolist()
        [[4.0, 0.0, 0.0]]
        """
        return self.read("velocity")

    @property
    def angular_velocities(self) -> FloatArray:
        """Angular velocities of all bodies, (n, 3), rad/s, world axes; a copy.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> world.angular_velocities.tolist()
        [[0.0, 0.0, 5.0]]
        """
        return self.read("angular_velocity")

    @property
    def masses(self) -> FloatArray:
        """Masses of all bodies, (n,), kg; 0 for static ones.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> world.masses.tolist()
        [2.0]
        """
        return self.read("mass")

    def _records(self, data: Any, count: int, kind: np.dtype[Any]) -> Records:
        """C structs as records with the indices of bodies in world.bodies, -1 for none."""
        raw = np.frombuffer(ffi.buffer(data, count * kind.itemsize), dtype=kind, count=count) if count else np.empty(0, kind)
        known = list(kind.names or ())
        names = ["body_" + name[-1] if name.startswith("index_") else name for name in known]
        formats = [np.dtype("i8") if name.startswith("index_") else kind[name] for name in known]
        out = np.empty(count, dtype=list(zip(names, formats)))
        order = self._indices()
        for new, old in zip(names, known):
            out[new] = order[raw[old]] if old.startswith("index_") else raw[old]
        return out

    def _indices(self) -> NDArray[np.int64]:
        """From the index in an id, which counts from 1, to the place in world.bodies."""
        handle = self._native()
        count = int(lib.rbWorld_GetBodyCount(handle))
        if self._order is None or self._order[0] != count:
            ids = ffi.new("rbBodyId[]", count)
            lib.rbWorld_GetBodyIds(handle, ids, count)
            slots = np.frombuffer(ffi.buffer(ids), dtype=np.uint32)[::2].astype(np.int64) if count else np.empty(0, np.int64)
            table = np.full(int(slots.max(initial=0)) + 1025, -1, dtype=np.int64)
            table[slots] = np.arange(count)
            self._order = (count, table)
        return self._order[1]

    def contacts(self) -> Records:
        """The contact points under load (step engine) as records: body_a, body_b (indices in bodies), point, normal (from
        A to B), gap (m), force (N, on B), sticking.

        >>> world = World()
        >>> _ = world.add_body(Shape.plane(), type="static")
        >>> _ = world.add_body(Shape.box((1, 1, 1)), position=(0, 0, 0.5))
        >>> world.step(10)
        >>> len(world.contacts())
        4
        """
        handle = self._native()
        count = int(lib.rbWorld_GetContacts(handle, ffi.NULL, 0))
        views = ffi.new("rbContactView[]", count)
        count = min(count, int(lib.rbWorld_GetContacts(handle, views, count)))
        return self._records(views, count, _CONTACT)

    def contact_events(self) -> Records:
        """What began or ceased to touch in the last advance, and what came into sensors, as records: time, kind (0 begin, 1
        end, 2 sensor begin, 3 sensor end), body_a, body_b, shape_a, shape_b, point, normal, approach_speed, impulse. Needs
        a world with contact={"events": True}; sensors need nothing.

        >>> len(World().contact_events())
        0
        """
        count = ffi.new("int*")
        found = lib.rbWorld_GetContactEvents(self._native(), count)
        return self._records(found, count[0], _CONTACT_EVENT)

    def events(self) -> Records:
        """The journal: impacts and everything else that changed a flight, as records: time, kind (see event_kinds), body_a,
        body_b, energy_change (J), friction_work, point, normal, impulse (N s, on B), approach_speed (m/s).

        >>> len(World().events())
        0
        """
        count = ffi.new("int*")
        found = lib.rbWorld_GetEvents(self._native(), count)
        return self._records(found, count[0], _EVENT)

    @staticmethod
    def event_kinds() -> list[str]:
        """The names of the kinds of events, by number.

        >>> World.event_kinds()[4]
        'impact'
        """
        return [ffi.string(lib.rbEventKind_Name(i)).decode() for i in range(lib.RB_EVENT_COUNT)]

    def clear_events(self) -> None:
        """Empties the journal.

        >>> World().clear_events()
        """
        lib.rbWorld_ClearEvents(self._changing())

    # ------------------------------------------------------------------------------------------------ measures

    @property
    def time(self) -> float:
        """s.

        >>> world = World(dt=0.01)
        >>> world.step(3)
        >>> world.time
        0.03
        """
        return float(lib.rbWorld_GetTime(self._native()))

    @property
    def dt(self) -> float:
        """s, length of a step of step(): that of the step engine; for other engines the time between controllers.

        >>> World(dt=0.01).dt
        0.01
        """
        return self._dt

    @property
    def gravity(self) -> FloatArray:
        """m/s²; may be set.

        >>> world = World()
        >>> world.gravity = (0, 0, -1.6)
        >>> world.gravity.tolist()
        [0.0, 0.0, -1.6]
        """
        return vector(lib.rbWorld_GetGravity(self._native()))

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        error = new_error()
        check(lib.rbWorld_SetGravity(self._changing(), vec3(value, "gravity"), error), error)

    @property
    def ledger(self) -> Ledger:
        """Energies, momenta and work.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> world.ledger.momentum.tolist()
        [8.0, 0.0, 0.0]
        """
        values = struct_dict(lib.rbWorld_GetLedger(self._native()))
        return Ledger(kinetic=values["kinetic_linear"] + values["kinetic_angular"], potential=values["potential"],
                      energy=values["energy"], energy_drift=values["energy_drift"], work=values["work"],
                      momentum=values["momentum"], angular_momentum=values["angular_momentum"], values=values)

    @property
    def energy(self) -> float:
        """Kinetic, potential and spring energy, J.

        >>> world = World(gravity=(0, 0, -10))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> round(world.energy - 0.5 * 0.008 * 5.0 ** 2, 9)  # 16 J of motion, 60 J of height
        76.0
        """
        return float(lib.rbWorld_GetLedger(self._native()).energy)

    @property
    def hash(self) -> int:
        """A hash of the time and the state of every body, sensitive to every bit.

        >>> a, b = World(), World()
        >>> a.step(7); b.step(3); b.step(4)
        >>> a.hash == b.hash
        True
        """
        return int(lib.rbWorld_GetHash(self._native()))

    @property
    def statistics(self) -> dict[str, dict[str, Any]]:
        """Work of the engines so far: "step", "contact", "event".

        >>> World().statistics["step"]["steps"]
        0
        """
        handle = self._native()
        return {"step": struct_dict(lib.rbWorld_GetStepStatistics(handle)),
                "contact": struct_dict(lib.rbWorld_GetContactStatistics(handle)),
                "event": struct_dict(lib.rbWorld_GetEventStatistics(handle))}

    def probes(self) -> dict[str, float]:
        """The values of the probes of the scene now.

        >>> list(World().probes())[0]
        'world.energy'
        """
        names = self.scene.columns
        values = np.empty(len(names))
        lib.rbScene_EvaluateProbes(self.scene._handle(), self._native(), pointer(values), len(names))
        return dict(zip(names, values.tolist()))

    def cast_ray(self, origin: Vector, direction: Vector, t_max: float = math.inf) -> Optional[Hit]:
        """The first body along origin + t direction; None: no hit.

        >>> world = World()
        >>> ball = world.add_body(Shape.sphere(1.0), name="ball")
        >>> hit = world.cast_ray((0, 0, 5), (0, 0, -1))
        >>> hit.t, hit.body.name
        (4.0, 'ball')
        """
        ray = ffi.new("rbRay*", [vec3(origin, "origin"), vec3(direction, "direction"), t_max])
        hit, error = ffi.new("rbQueryHit*"), new_error()
        every = ffi.new("rbQueryFilter*", lib.rbDefaultQueryFilter())
        check(lib.rbWorld_CastRay(self._native(), ray, every, hit, error), error)
        if hit.bodyId.index1 == 0:
            return None
        return Hit(float(hit.fraction), vector(hit.point), vector(hit.normal), Body(self, hit.bodyId))

    def overlapping(self, shape: Shape, position: Vector = (0.0, 0.0, 0.0),
                    orientation: Vector = (1.0, 0.0, 0.0, 0.0)) -> list[Body]:
        """All bodies that overlap or touch a shape at a pose.

        >>> world = World()
        >>> _ = world.add_body(Shape.sphere(1.0), name="ball")
        >>> [body.name for body in world.overlapping(Shape.box((1, 1, 1)), position=(1, 0, 0))]
        ['ball']
        """
        handle, error = self._native(), new_error()
        count = int(lib.rbWorld_GetBodyCount(handle))
        ids = ffi.new("rbBodyId[]", max(count, 1))
        found = ffi.new("rbQueryBodyList*", {"bodyIds": ids, "capacity": count})
        every = ffi.new("rbQueryFilter*", lib.rbDefaultQueryFilter())
        check(lib.rbWorld_OverlapShape(handle, shape._handle(), transform(position, orientation), every, found, error), error)
        return [Body(self, ids[i]) for i in range(found.count)]

    # ------------------------------------------------------------------------------------------------ advancing

    def step(self, count: int = 1) -> None:
        """Makes steps of dt seconds. Releases the GIL.

        Ctrl-C ends it within a tenth of a second, also in the midst of a step, which is undone: the world is at a whole step.
        An exception of a callback ends it, too: the world is then as before the step in which it was raised. Raises
        LimitError or InvalidError if the engine cannot continue; warns (RattlebackWarning) once if it misses a tolerance.

        >>> world = World()
        >>> world.step(10)
        >>> world.time
        0.01
        """
        if count < 0:
            raise InvalidError(f"the number of steps is {count}; it must not be negative")
        if self._watched:
            self._step_watched(count)
            return
        if count != 1:
            self._advance(lib.rbpyFindEnd(self.time, self._dt, count))
            return
        status = _step(self._state)
        if status != self._status:
            self._report(status)
        if self._viewer is not None:
            self._viewer._show(self)

    def _advance(self, time: float) -> None:
        viewer = self._viewer
        while viewer is not None and viewer.is_open and self.time < time:
            count = max(1, int(viewer._span() / self._dt))
            self._advance_unseen(min(float(lib.rbpyFindEnd(self.time, self._dt, count)), time))
            viewer._show(self)
        self._advance_unseen(time)

    def _advance_unseen(self, time: float) -> None:
        status = lib.rbpyAdvanceTo(self._state, time, _PIECE_MAX)
        if status != self._status:
            self._report(status)

    def advance(self, duration: float) -> None:
        """Advances by a duration in s; the bits do not depend on how a run is divided.

        >>> world = World()
        >>> world.advance(0.25)
        >>> world.time
        0.25
        """
        if not (math.isfinite(duration) and duration >= 0.0):
            raise InvalidError(f"the duration is {duration} s; a finite number that is not negative is needed")
        self.advance_to(self.time + duration)

    def advance_to(self, time: float) -> None:
        """Advances to a time in s, which is reached exactly.

        >>> world = World()
        >>> world.advance_to(0.1)
        >>> world.time
        0.1
        """
        if not (math.isfinite(time) and time >= self.time):
            raise InvalidError(f"the time is {time} s; it must be finite and not before the time of the world, {self.time} s")
        if self._watched:
            self._advance_watched(time)
            return
        self._advance(time)

    def _take_mode(self, status: int) -> int:
        """Warns of a floating-point mode that a library of this process set; returns the status without that."""
        if status < lib.RBPY_MODE_ODD:
            return status
        warnings.warn("a library of this process set another floating-point mode in this thread, as those built with fast-math "
                      "do: it flushes small numbers to zero or rounds otherwise; the world advances in the standard mode, your own "
                      "computations do not", RattlebackWarning, stacklevel=_depth())
        return status - int(lib.RBPY_MODE_ODD)

    def _report(self, status: int) -> None:
        """Raises or warns after an advance whose status differs from that before."""
        status = self._take_mode(status)
        if status == self._status:
            return
        if status == _NO_WORLD:
            raise DeadObjectError("this world was closed; create a new one")
        if status == BUSY:
            raise InvalidError(BUSY_TEXT)
        if status == lib.RB_STATUS_STOPPED:
            raise take_waiting()
        if status in (lib.RB_STATUS_OK, lib.RB_STATUS_NUMERICAL):
            self._status = status
        if status == lib.RB_STATUS_OK:
            return
        error = ffi.new("rbError*", lib.rbWorld_GetError(self._pointer))
        if status != lib.RB_STATUS_NUMERICAL:
            check(status, error)
        if error.status != lib.RB_STATUS_OK:
            text = message_of(error)
        else:
            text = "a tolerance was missed"
        warnings.warn(f"at {self.time:g} s: {text}", RattlebackWarning, stacklevel=_depth())

    def _failure(self) -> Optional[str]:
        """Why the last advance was refused or ended early; None: it was not."""
        error = ffi.new("rbError*", lib.rbWorld_GetError(self._native()))
        return None if error.status in (lib.RB_STATUS_OK, lib.RB_STATUS_NUMERICAL) else message_of(error)

    def _step_watched(self, count: int) -> None:
        for _ in range(count):
            self._one_watched(float(lib.rbpyFindEnd(self.time, self._dt, 1)))
            if self._viewer is not None:
                self._viewer._show(self)

    def _advance_watched(self, time: float) -> None:
        while self.time < time:
            self._one_watched(min(float(lib.rbpyFindEnd(self.time, self._dt, 1)), time))
            if self._viewer is not None:
                self._viewer._show(self)

    def _one_watched(self, time: float) -> None:
        """A step with callbacks. If a force or a filter raises, the library puts the world back, else a snapshot does."""
        if not self._controllers and not self._listeners:
            self._one_step(time)
            return
        before = self.snapshot()
        try:
            for controller in self._controllers:
                self._take_loads(controller(self))
            self._one_step(time)
            if self._listeners:
                found = self.contact_events()
                for listener in self._listeners if len(found) else ():
                    listener(found)
        except LimitError:
            raise
        except BaseException:
            self.restore(before)
            raise

    def _one_step(self, time: float) -> None:
        status = int(lib.rbpyAdvanceTo(self._state, time, 1))
        if status != self._status:
            self._report(status)

    def _take_loads(self, answer: Any) -> None:
        if answer is None:
            return
        if isinstance(answer, tuple):
            force, torque = answer
        else:
            force, torque = answer, None
        if force is not None:
            self.write("force", force)
        if torque is not None:
            self.write("torque", torque)

    # ------------------------------------------------------------------------------------------------ callbacks

    def add_controller(self, function: Callable[[World], Any]) -> Callable[[World], Any]:
        """Calls a function with the world before every step of dt. It may set motor targets, apply impulses, write fields,
        or return loads of all bodies that are held over the step: forces (n, 3), or (forces, torques). A decorator.

        >>> world = World(gravity=(0, 0, 0))
        >>> ball = world.add_body(Shape.sphere(0.1), position=(1, 0, 0), mass=1.0)
        >>> @world.add_controller
        ... def spring(world):
        ...     return -4.0 * world.positions - 4.0 * world.velocities
        >>> world.advance(5.0)
        >>> bool(abs(ball.position[0]) < 1e-2)
        True
        """
        self._controllers.append(function)
        self._watched = True
        return function

    def on_contact(self, function: Callable[[Records], Any]) -> Callable[[Records], Any]:
        """Calls a function with the records of contact_events() after every step that has some. A decorator. Contacts (not
        sensors) need a world with contact={"events": True}.

        >>> world = World(contact={"events": True})
        >>> _ = world.add_body(Shape.plane(), type="static")
        >>> _ = world.add_body(Shape.sphere(0.1), position=(0, 0, 0.2))
        >>> hits = []
        >>> _ = world.on_contact(hits.append)
        >>> world.advance(0.2)
        >>> len(hits) > 0
        True
        """
        self._listeners.append(function)
        self._watched = True
        return function

    def add_force(self, function: ForceFunction, body: Optional[Body] = None, *, acceleration_max: float = -1.0,
                  torque_max: float = -1.0) -> ForceFunction:
        """A force as a function of a body and its ForceState, on one body or on all dynamic ones: returns a force (N), (force,
        torque), or None. It is called several times a step and must be a pure function of what it gets. The event engine
        needs bounds: acceleration_max m/s², torque_max N m. For many bodies add_controller is much faster.

        >>> world = World(gravity=(0, 0, 0))
        >>> ball = world.add_body(Shape.sphere(0.1), mass=2.0)
        >>> _ = world.add_force(lambda body, state: (2.0 * state.mass, 0.0, 0.0))
        >>> world.advance(1.0)
        >>> round(float(ball.velocity[0]), 6)
        2.0
        """
        handle, error = self._changing(), new_error()
        own = _Force(self, function, body)
        context = ffi.new_handle(own)
        definition = ffi.new("rbForceDef*")
        definition[0] = lib.rbDefaultForceDef()
        definition.type = lib.RB_FORCE_USER
        definition.callback, definition.context = ffi.addressof(lib, "rbpyCallForce"), context
        definition.accelerationMax, definition.torqueMax = acceleration_max, torque_max
        if body is not None:
            body._alive()
            definition.body = body._id
        if lib.rbCreateForce(handle, definition, error).index1 == 0:
            raise exception_of(error)
        self._forces.append((own, context))
        self._watched = True
        index = None if body is None else {"index1": int(body._id.index1), "generation": int(body._id.generation)}
        self._note(lambda world: world.add_force(function, None if index is None else Body(world, index),
                                                 acceleration_max=acceleration_max, torque_max=torque_max))
        return function

    def set_filter(self, function: Optional[Callable[[Body, Body], bool]]) -> None:
        """A function that says whether two bodies collide; None: all do. It must give the same answer for the same pair
        until set_filter is called again.

        >>> world = World()
        >>> world.set_filter(lambda a, b: "ghost" not in (a.name, b.name))
        """
        handle = self._changing()
        had = self._filter is not None
        self._filter = function
        self._self = self._self or ffi.new_handle(self)
        if function is None:
            lib.rbWorld_SetContactFilter(handle, ffi.NULL, ffi.NULL)
        else:
            lib.rbWorld_SetContactFilter(handle, ffi.addressof(lib, "rbpyCallFilter"), self._self)
            self._watched = True
        if had:
            lib.rbWorld_RenewContactFilter(handle)

    # ------------------------------------------------------------------------------------------------ snapshots

    def snapshot(self) -> Snapshot:
        """Copies the state and all parameters that can change while the world runs.

        >>> world = World()
        >>> before = world.snapshot()
        >>> world.step()
        >>> world.restore(before)
        >>> world.time
        0.0
        """
        handle, error = self._changing(), new_error()
        size = int(lib.rbWorld_GetSnapshotSize(handle))
        data = ffi.new("char[]", size)
        check(lib.rbWorld_TakeSnapshot(handle, data, size, error), error)
        return Snapshot(float(lib.rbWorld_GetTime(handle)), data, size)

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a snapshot of this world or of one with the same bodies, joints and forces. Continuing gives the same
        bits as continuing at once.

        >>> world = World()
        >>> world.restore(World().snapshot())
        """
        error = new_error()
        check(lib.rbWorld_RestoreSnapshot(self._changing(), snapshot._bytes, snapshot._size, error), error)
        if self._viewer is not None:
            self._viewer._show(self, at_once=True)

    @contextlib.contextmanager
    def rewinding(self) -> Iterator[World]:
        """What happens to the world within the block is undone at its end, also after an exception.

        >>> world = World()
        >>> with world.rewinding():
        ...     world.step(100)
        >>> world.time
        0.0
        """
        before = self.snapshot()
        try:
            yield self
        finally:
            self.restore(before)

    def branch(self) -> World:
        """A second world in the same state, which goes its own way: the scene anew, what was added since, the state. Forces
        of Python come along; controllers, listeners and the filter do not.

        >>> world = World()
        >>> _ = world.add_body(Shape.sphere(0.1), velocity=(1, 0, 0))
        >>> world.step(5)
        >>> other = world.branch()
        >>> other.step(3); world.step(3)
        >>> other.hash == world.hash
        True
        """
        state = self.snapshot()
        other = World._of_scene(self.scene)
        for action in list(self._recipe):
            action(other)
        other._recipe = list(self._recipe)
        other.restore(state)
        return other

    def rollout(self, controls: ArrayLike, *, joints: Optional[Sequence[Union[Joint, str]]] = None,
                states: Union[Snapshot, Sequence[Snapshot], None] = None, steps: int = 1,
                threads: Optional[int] = None) -> Rollout:
        """Runs k copies of the world through controls, in C threads; the world itself does not move.

        controls: (k, t, m), motor targets of m joints; without joints (k, t, n, 3), forces on all n bodies (N), held over a
        control. states: snapshots to start from (default: the present state); steps: of dt for each control.

        >>> world = World()
        >>> arm = world.add_body(Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0))
        >>> _ = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0), name="j", motor={"type": "velocity"})
        >>> rollout = world.rollout([[[1.0]] * 5, [[-1.0]] * 5], joints=["j"], steps=10)
        >>> rollout.positions.shape
        (2, 6, 1, 3)
        """
        return roll_out(self, controls, joints, states, steps, threads)

    def linearize(self, *, joints: Optional[Sequence[Union[Joint, str]]] = None, steps: int = 1,
                  eps: Optional[float] = None) -> LinearModel:
        """The matrices A, B of a step (or several) about the present state, with an error estimate. Inputs are motor targets of
        joints, or else forces and torques on all dynamic bodies. States that joints forbid are projected back onto them, as
        the engine does. The world does not move.

        Where the arc is smooth, without contacts, A and B are the derivatives to rounding (model.method is "exact"): central
        differences of four sizes, 1e-2 to 1.25e-3, extrapolated to 0. Elsewhere, or with a size eps given, they are differences
        of the sizes eps and eps / 2 (m, rad, m/s, rad/s, units of the inputs; 1e-4), extrapolated.

        >>> world = World(gravity=(0, 0, 0), contacts=False)
        >>> _ = world.add_body(Shape.sphere(0.1), mass=2.0)
        >>> model = world.linearize()
        >>> bool(abs(model.A[0, 6] - world.dt) < 1e-9), bool(abs(model.B[6, 0] - world.dt / 2.0) < 1e-9)
        (True, True)
        """
        return linear_model(self, joints, steps, eps)

    # ------------------------------------------------------------------------------------------------ showing

    def view(self, *, open_browser: bool = True, port: int = 0, speed: Optional[float] = 1.0) -> Viewer:
        """Opens the browser's viewer on this world. It shows every step that is made from now on, in this process and on this
        machine only. speed: simulated over wall time at most, steps wait for it; None: as fast as possible. The pause button
        holds the next step. To push bodies by hand, run 'rattleback view SCENE'. Joints and springs added later are not drawn.

        >>> world = World()
        >>> ball = world.add_body(Shape.sphere(0.1))
        >>> with world.view(open_browser=False) as viewer:
        ...     world.advance(0.05)
        """
        if self._viewer is not None:
            self._viewer.close()
        self._viewer = Viewer(self, port, speed)
        if open_browser:
            import webbrowser

            webbrowser.open(self._viewer.url)
        return self._viewer

    def page(self, path: str) -> str:
        """Writes one HTML file that shows the world as it is now; returns its path.

        >>> import os, tempfile
        >>> os.path.exists(World().page(os.path.join(tempfile.mkdtemp(), "world.html")))
        True
        """
        from .result import world_page

        return world_page(self, path)

    def _repr_html_(self) -> str:
        from .result import frame_page, world_page

        return frame_page(world_page(self))


def load_module(path: Union[str, "os.PathLike[str]"]) -> list[str]:
    """Loads a module in C, a shared library, whose shapes, joints, forces, motors, laws and probes scenes and worlds then
    know by name (docs/own-modules.md). Returns its rows. Call it before the first world is made.

    >>> load_module("missing.so")
    Traceback (most recent call last):
    ...
    rattleback.errors.NotFoundError: there is no module missing.so; give the path of a shared library (.so)
    """
    name = os.fspath(path)
    if _has_world and os.path.exists(name):
        raise InvalidError(f"module {name}: there has been a world already; load modules before the first one")
    if name.endswith(".py"):
        raise InvalidError(f"module {name}: this is a script; import it, or give it to 'rattleback run --module'")
    error, text = new_error(), ffi.new("char[]", 8192)
    lib.rbpyDescribeModules(text, 8192)
    before = ffi.string(text).decode()
    check(lib.rbpyLoadModule(os.fsencode(name), error), error)
    lib.rbpyDescribeModules(text, 8192)
    added: str = ffi.string(text).decode()[len(before):].strip(", ")
    return added.split(", ") if added else []


def _set_motor(motor: Any, given: Optional[Mapping[str, Any]]) -> None:
    if given is None:
        return
    names = [ffi.string(lib.rbMotorType_Name(number)).decode() for number in range(1, lib.rbMotorType_GetCount())]
    for key, value in given.items():
        member = camel_or_same(key)
        if member == "type":
            if value not in names:
                raise InvalidError(f"there is no motor type {value!r}; there are {', '.join(names)}")
            motor.type = 1 + names.index(value)
        elif member in ("gain", "integralTime", "derivativeTime", "window", "forceMax", "target"):
            setattr(motor, member, float(value))
        else:
            raise InvalidError(f"a motor has no {key!r}; it has type, gain, integral_time, derivative_time, window, "
                               "force_max, target")
