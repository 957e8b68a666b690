"""Bodies, joints and springs of a world: small handles. One that outlives its object raises DeadObjectError."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._convert import FloatArray, Vector, quat, quaternion, vec3, vector
from ._native import ffi, lib
from .errors import DeadObjectError, InvalidError, check, new_error
from .shape import MassProperties, Material, mass_of

if TYPE_CHECKING:
    from .world import World

_TYPES = ("static", "kinematic", "dynamic")


class _Handle:
    """What bodies, joints and springs share: a world and an id in it."""

    __slots__ = ("world", "_id", "__weakref__")
    _kind = ""

    def __init__(self, world: World, found: Any) -> None:
        self.world = world
        # A copy: what is given may lie in an array or in memory of the library.
        self._id = ffi.new(f"rb{self._kind}Id*", found)[0]

    def _alive(self) -> Any:
        """The world of the library, after a check that both live."""
        handle = self.world._native()
        if not getattr(lib, f"rb{self._kind}_IsValid")(handle, self._id):
            raise DeadObjectError(f"this {self._kind.lower()} was destroyed; ask the world for those that exist")
        return handle

    def _changing(self) -> Any:
        """The same, for what changes the object."""
        self.world._changing()
        return self._alive()

    @property
    def is_alive(self) -> bool:
        """Whether the object still exists.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> ball = world.add_body(rb.Shape.sphere(0.1))
        >>> ball.destroy()
        >>> ball.is_alive
        False
        """
        handle = self.world._pointer
        return handle != ffi.NULL and bool(getattr(lib, f"rb{self._kind}_IsValid")(handle, self._id))

    @property
    def name(self) -> str:
        """Its name; empty if it has none.

        >>> import rattleback as rb
        >>> rb.World().add_body(rb.Shape.sphere(0.1), name="ball").name
        'ball'
        """
        return str(ffi.string(getattr(lib, f"rb{self._kind}_GetName")(self._alive(), self._id)).decode())

    def __eq__(self, other: object) -> bool:
        return (type(other) is type(self) and other.world is self.world  # type: ignore[attr-defined]
                and (other._id.index1, other._id.generation) == (self._id.index1, self._id.generation))  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self._kind, self._id.index1, self._id.generation))

    def __repr__(self) -> str:
        return f"<{self._kind} {self.name!r}>" if self.is_alive else f"<{self._kind}, destroyed>"

    def destroy(self) -> None:
        """Removes the object from its world; a body with its joints and springs.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> world.add_body(rb.Shape.sphere(0.1)).destroy()
        >>> len(world.bodies)
        0
        """
        self.world._check_destroy(self._kind)
        getattr(lib, f"rbDestroy{self._kind}")(self._changing(), self._id)
        destroy, own = getattr(lib, f"rbDestroy{self._kind}"), self._id
        self.world._note(lambda world: destroy(world._pointer, own))


class Body(_Handle):
    """A body. Vectors are numpy arrays in world axes and SI units; setting one starts a new flight.

    >>> import rattleback as rb
    >>> world = rb.World(gravity=(0, 0, 0))
    >>> ball = world.add_body(rb.Shape.sphere(0.1), velocity=(1, 0, 0))
    >>> world.advance(2.0)
    >>> ball.position.round(9).tolist()
    [2.0, 0.0, 0.0]
    """

    __slots__ = ()
    _kind = "Body"

    def _state(self) -> Any:
        state = ffi.new("rbBodyState*")
        if not lib.rbpyReadBody(self.world._pointer, self._id, state):
            self._alive()
        return state

    def set_state(self, position: Optional[Vector] = None, orientation: Optional[Vector] = None,
                  velocity: Optional[Vector] = None, angular_velocity: Optional[Vector] = None) -> None:
        """Sets what is given: position of the origin (m), orientation (w, x, y, z), velocity of the center of mass (m/s),
        angular velocity (rad/s).

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1))
        >>> ball.set_state(position=(1, 2, 3))
        >>> ball.position.tolist()
        [1.0, 2.0, 3.0]
        """
        handle, state, error = self._changing(), self._state(), new_error()
        pose = {"p": vec3(position, "position") if position is not None else state.transform.p,
                "q": quat(orientation, "orientation") if orientation is not None else state.transform.q}
        linear = vec3(velocity, "velocity") if velocity is not None else state.linearVelocity
        angular = vec3(angular_velocity, "angular_velocity") if angular_velocity is not None else state.angularVelocity
        check(lib.rbBody_SetState(handle, self._id, pose, linear, angular, error), error)

    @property
    def position(self) -> FloatArray:
        """Position of the body's origin, m.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.position = (0, 0, 1)
        >>> ball.position.tolist()
        [0.0, 0.0, 1.0]
        """
        return vector(self._state().transform.p)

    @position.setter
    def position(self, value: Vector) -> None:
        self.set_state(position=value)

    @property
    def orientation(self) -> FloatArray:
        """Quaternion w, x, y, z that maps the body's frame to the world.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.orientation = (0, 0, 0, 1)
        >>> ball.orientation.tolist()
        [0.0, 0.0, 0.0, 1.0]
        """
        return quaternion(self._state().transform.q)

    @orientation.setter
    def orientation(self, value: Vector) -> None:
        self.set_state(orientation=value)

    @property
    def velocity(self) -> FloatArray:
        """Velocity of the center of mass, m/s.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.velocity.tolist()
        [4.0, 0.0, 0.0]
        """
        return vector(self._state().linearVelocity)

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self.set_state(velocity=value)

    @property
    def angular_velocity(self) -> FloatArray:
        """Angular velocity, rad/s, world axes.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.angular_velocity.tolist()
        [0.0, 0.0, 5.0]
        """
        return vector(self._state().angularVelocity)

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self.set_state(angular_velocity=value)

    @property
    def center(self) -> FloatArray:
        """Center of mass in the world, m.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.center.tolist()
        [1.0, 2.0, 3.0]
        """
        return vector(self._state().center)

    @property
    def rotation(self) -> FloatArray:
        """The orientation as a 3 × 3 matrix.

        >>> import rattleback as rb
        >>> rb.World().add_body(rb.Shape.sphere(0.1)).rotation.tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        m = lib.rbMatFromQuat(self._state().transform.q)
        return np.stack((vector(m.cx), vector(m.cy), vector(m.cz)), axis=1)

    @property
    def type(self) -> str:
        """"static", "kinematic" or "dynamic".

        >>> import rattleback as rb
        >>> rb.World().add_body(rb.Shape.plane(), type="static").type
        'static'
        """
        return _TYPES[lib.rbBody_GetType(self._alive(), self._id)]

    @property
    def mass(self) -> float:
        """kg; 0 for static and kinematic bodies. Setting it scales the inertia.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.mass = 3.0
        >>> ball.mass
        3.0
        """
        return float(lib.rbBody_GetMass(self._alive(), self._id).mass)

    @mass.setter
    def mass(self, value: float) -> None:
        error = new_error()
        check(lib.rbBody_SetMass(self._changing(), self._id, float(value), error), error)

    @property
    def mass_properties(self) -> MassProperties:
        """Mass, center and inertia in the body's frame.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.mass_properties.inertia.round(6).diagonal().tolist()
        [0.008, 0.008, 0.008]
        """
        return mass_of(lib.rbBody_GetMass(self._alive(), self._id))

    @property
    def is_resting(self) -> bool:
        """Whether the engine holds the body at rest.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 2, 3), velocity=(4, 0, 0), spin=(0, 0, 5), mass=2.0)
        >>> ball.is_resting
        False
        """
        return bool(lib.rbBody_IsResting(self._alive(), self._id))

    def contact_force(self, other: Optional[Body] = None) -> FloatArray:
        """Force by all contacts, or by those with another body, N, mean over the last step (step engine).

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> _ = world.add_body(rb.Shape.plane(), type="static")
        >>> box = world.add_body(rb.Shape.box((1, 1, 1)), position=(0, 0, 0.5), mass=2.0)
        >>> world.step(100)
        >>> (box.contact_force().round(3) + 0.0).tolist()
        [0.0, 0.0, 19.62]
        """
        handle = self._alive()
        if other is not None:
            other._alive()
        null = {"index1": 0, "generation": 0}
        return vector(lib.rbBody_GetContactForce(handle, self._id, other._id if other else null, ffi.NULL))

    def apply_impulse(self, impulse: Vector, point: Optional[Vector] = None) -> None:
        """An impulse (N s) at a world point (m; default: the center of mass).

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1), mass=2.0)
        >>> ball.apply_impulse((4, 0, 0))
        >>> ball.velocity.tolist()
        [2.0, 0.0, 0.0]
        """
        place = vec3(point, "point") if point is not None else self._state().center
        lib.rbBody_ApplyImpulse(self._changing(), self._id, vec3(impulse, "impulse"), place)

    def apply_angular_impulse(self, impulse: Vector) -> None:
        """An angular impulse, N m s, world axes.

        >>> import rattleback as rb
        >>> ball = rb.World().add_body(rb.Shape.sphere(0.1))
        >>> ball.apply_angular_impulse((0, 0, 1))
        >>> bool(ball.angular_velocity[2] > 0)
        True
        """
        lib.rbBody_ApplyAngularImpulse(self._changing(), self._id, vec3(impulse, "impulse"))

    def point(self, local: Vector) -> FloatArray:
        """World position of a point of the body's frame, m.

        >>> import rattleback as rb
        >>> rb.World().add_body(rb.Shape.sphere(0.1), position=(1, 0, 0)).point((0, 0, 1)).tolist()
        [1.0, 0.0, 1.0]
        """
        return vector(lib.rbTransformPoint(self._state().transform, vec3(local, "local")))

    def set_material(self, material: Material) -> None:
        """Changes the material of all shapes from now on.

        >>> import rattleback as rb
        >>> rb.World().add_body(rb.Shape.sphere(0.1)).set_material(rb.Material(friction=0.1))
        """
        error = new_error()
        value = ffi.new("rbMaterial*", {**material.scene_value()})
        check(lib.rbBody_SetMaterial(self._changing(), self._id, -1, value, error), error)

    def set_groups(self, groups: int, mask: int) -> None:
        """What the body collides with: both (groups of one & mask of the other) must be nonzero.

        >>> import rattleback as rb
        >>> rb.World().add_body(rb.Shape.sphere(0.1)).set_groups(2, 0xffffffff)
        """
        lib.rbBody_SetGroups(self._changing(), self._id, groups, mask)


class Joint(_Handle):
    """A joint. Positions are angles (rad, full turns count) or travels (m).

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0))
    >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
    >>> world.advance(0.1)
    >>> bool(hinge.position > 0)
    True
    """

    __slots__ = ()
    _kind = "Joint"

    def _state(self) -> Any:
        state = ffi.new("rbJointState*")
        if not lib.rbpyReadJoint(self.world._pointer, self._id, state):
            self._alive()
        return state

    @property
    def type(self) -> str:
        """"hinge", "ball", ...

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
        >>> hinge.type
        'hinge'
        """
        return str(ffi.string(lib.rbJointType_Name(lib.rbJoint_GetType(self._alive(), self._id))).decode())

    @property
    def positions(self) -> FloatArray:
        """Of all freedoms: angle or travel, rad or m.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
        >>> hinge.positions.tolist()
        [0.0]
        """
        state = self._state()
        return np.array([state.freedomPositions[i] for i in range(state.freedomCount)])

    @property
    def velocities(self) -> FloatArray:
        """Of all freedoms, rad/s or m/s.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
        >>> arm.angular_velocity = (0, 3, 0)
        >>> arm.velocity = (0, 0, -1.5)
        >>> hinge.velocities.round(9).tolist()
        [3.0]
        """
        state = self._state()
        return np.array([state.freedomVelocities[i] for i in range(state.freedomCount)])

    def _first(self, values: Any, count: int) -> float:
        if count == 0:
            raise InvalidError(f"a joint of type {self.type!r} has no freedom with a position")
        return float(values[0])

    @property
    def position(self) -> float:
        """Of the first freedom, rad or m.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
        >>> hinge.position
        0.0
        """
        state = self._state()
        return self._first(state.freedomPositions, state.freedomCount)

    @property
    def velocity(self) -> float:
        """Of the first freedom, rad/s or m/s.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0))
        >>> arm.angular_velocity = (0, 3, 0)
        >>> arm.velocity = (0, 0, -1.5)
        >>> round(hinge.velocity, 9)
        3.0
        """
        state = self._state()
        return self._first(state.freedomVelocities, state.freedomCount)

    @property
    def force(self) -> FloatArray:
        """Force on the first body at its anchor, N, mean over the last step.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> joint = world.add_joint("fixed", None, arm, anchor=(0, 0, 0))
        >>> world.step(100)
        >>> round(float(joint.force[2]), 6)
        -19.62
        """
        return vector(self._state().force)

    @property
    def torque(self) -> FloatArray:
        """Torque on the first body in addition to the force, N m.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> joint = world.add_joint("fixed", None, arm, anchor=(0, 0, 0))
        >>> world.step(100)
        >>> round(float(joint.torque[1]), 6)
        9.81
        """
        return vector(self._state().torque)

    @property
    def error(self) -> tuple[float, float]:
        """How far the joint is open: m, rad.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> joint = world.add_joint("fixed", None, arm, anchor=(0, 0, 0))
        >>> world.step(100)
        >>> joint.error < (1e-9, 1e-9)
        True
        """
        state = self._state()
        return float(state.positionError), float(state.angleError)

    @property
    def motor_target(self) -> float:
        """Set point of the motor of the first freedom; setting it ends its schedule.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0), mass=2.0)
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0), motor={"type": "velocity"})
        >>> hinge.motor_target = 2.0
        >>> hinge.motor_target
        2.0
        """
        return float(self._state().motorTargets[0])

    @motor_target.setter
    def motor_target(self, value: float) -> None:
        self.set_motor_target(value)

    def set_motor_target(self, value: float, freedom: int = 0) -> None:
        """Sets the set point of a motor: rad, m, rad/s or m/s.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(0.5, 0, 0))
        >>> hinge = world.add_joint("hinge", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0), motor={"type": "velocity"})
        >>> hinge.set_motor_target(2.0)
        >>> world.step(10)
        >>> round(hinge.velocity, 6)
        2.0
        """
        error = new_error()
        check(lib.rbJoint_SetMotorTarget(self._changing(), self._id, freedom, float(value), error), error)


class Spring(_Handle):
    """A spring between two points.

    >>> import rattleback as rb
    >>> world = rb.World()
    >>> ball = world.add_body(rb.Shape.sphere(0.1))
    >>> world.add_spring(None, ball, anchor_a=(0, 0, 2), stiffness=10.0).length
    2.0
    """

    __slots__ = ()
    _kind = "Spring"

    @property
    def length(self) -> float:
        """m.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> ball = world.add_body(rb.Shape.sphere(0.1), position=(0, 0, -2))
        >>> spring = world.add_spring(None, ball, stiffness=10.0, rest_length=1.5)
        >>> spring.length
        2.0
        """
        return float(lib.rbSpring_GetState(self._alive(), self._id).length)

    @property
    def force(self) -> float:
        """N, positive pulls, mean over the last step.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> ball = world.add_body(rb.Shape.sphere(0.1), position=(0, 0, -2))
        >>> spring = world.add_spring(None, ball, stiffness=10.0, rest_length=1.5)
        >>> spring.force
        5.0
        """
        return float(lib.rbSpring_GetState(self._alive(), self._id).force)

    @property
    def energy(self) -> float:
        """J.

        >>> import rattleback as rb
        >>> world = rb.World()
        >>> ball = world.add_body(rb.Shape.sphere(0.1), position=(0, 0, -2))
        >>> spring = world.add_spring(None, ball, stiffness=10.0, rest_length=1.5)
        >>> spring.energy
        1.25
        """
        return float(lib.rbSpring_GetState(self._alive(), self._id).energy)
