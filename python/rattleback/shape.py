"""Shapes (geometry) and materials.

A shape is an immutable value in its own frame: SI units, axes of revolution along z. Bodies share it; it can also be asked
alone, for volumes, rays and distances.
"""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._convert import FloatArray, Vector, array, numbers, plain, quat, quaternion, vec3, vector
from ._native import ffi, lib
from .errors import InvalidError, check, exception_of, new_error


@dataclass(frozen=True)
class Material:
    """What a surface is made of.

    density in kg/m³; restitution 0 to 1; friction (Coulomb); stiction at least friction, -1: the same; rolling and
    spinning resistance in m.

    >>> Material(friction=0.2).friction
    0.2
    """

    density: float = 1000.0
    restitution: float = 0.5
    friction: float = 0.5
    stiction: float = -1.0
    rolling: float = 0.0
    spinning: float = 0.0

    def scene_value(self) -> dict[str, float]:
        """The material as scenes write it.

        >>> Material().scene_value()["density"]
        1000.0
        """
        return asdict(self)


@dataclass(frozen=True)
class MassProperties:
    """mass (kg), center of mass (m) and inertia about it (3 × 3, kg m²).

    >>> Shape.box((1, 1, 1)).mass_properties(600.0).mass
    600.0
    """

    mass: float
    center: FloatArray
    inertia: FloatArray


@dataclass(frozen=True)
class Hit:
    """Where a ray or a moving shape hits: parameter t along it, point (m), outward unit normal, and the body of a world.

    >>> Shape.sphere(1.0).cast_ray((0, 0, 5), (0, 0, -1)).t
    4.0
    """

    t: float
    point: FloatArray
    normal: FloatArray
    body: Any = None


@dataclass(frozen=True)
class Separation:
    """distance of two shapes (m, negative: depth of the overlap), the nearest points point_a and point_b (m) and the unit normal
    from A to B.

    >>> Shape.sphere(1.0).distance(Shape.sphere(1.0), position=(3, 0, 0)).distance
    1.0
    """

    distance: float
    point_a: FloatArray
    point_b: FloatArray
    normal: FloatArray


class Shape:
    """A geometry. Make one by Shape.box(...), Shape.sphere(...) and so on.

    >>> Shape.box((1, 2, 3)).volume
    6.0
    """

    __slots__ = ("_value", "_geometry")

    def __init__(self, value: Union[Mapping[str, Any], "Shape"]) -> None:
        """A shape from the object of a scene, e.g. {"type": "sphere", "radius": 1}."""
        self._value: dict[str, Any] = dict(value._value) if isinstance(value, Shape) else plain(value)
        self._geometry: Any = None

    @staticmethod
    def sphere(radius: float) -> Shape:
        """A ball about the origin; radius in m.

        >>> round(Shape.sphere(1.0).volume, 6)
        4.18879
        """
        return Shape({"type": "sphere", "radius": radius})

    @staticmethod
    def box(size: Vector) -> Shape:
        """A box about the origin with the full edge lengths size, m.

        >>> Shape.box((2, 1, 1)).bounds.tolist()
        [[-1.0, -0.5, -0.5], [1.0, 0.5, 0.5]]
        """
        return Shape({"type": "box", "size": numbers(size, 3, "size")})

    @staticmethod
    def capsule(radius: float, length: float) -> Shape:
        """All points within radius of a segment of the given length along z, m.

        >>> Shape.capsule(0.5, 1.0).bounds[1].tolist()
        [0.5, 0.5, 1.0]
        """
        return Shape({"type": "capsule", "radius": radius, "length": length})

    @staticmethod
    def cylinder(radius: float, length: float) -> Shape:
        """A circular cylinder along z, m.

        >>> round(Shape.cylinder(1.0, 2.0).volume, 6)
        6.283185
        """
        return Shape({"type": "cylinder", "radius": radius, "length": length})

    @staticmethod
    def cone(radius: float, height: float) -> Shape:
        """A circular cone, base at z = -height/2, apex at +height/2, m.

        >>> Shape.cone(1.0, 4.0).mass_properties(1.0).center.round(12).tolist()
        [0.0, 0.0, -1.0]
        """
        return Shape({"type": "cone", "radius": radius, "height": height})

    @staticmethod
    def ellipsoid(semi_axes: Vector) -> Shape:
        """An ellipsoid about the origin, m.

        >>> Shape.ellipsoid((3, 2, 1)).support((1, 0, 0)).tolist()
        [3.0, 0.0, 0.0]
        """
        return Shape({"type": "ellipsoid", "semiAxes": numbers(semi_axes, 3, "semi_axes")})

    @staticmethod
    def plane(normal: Vector = (0.0, 0.0, 1.0), offset: float = 0.0) -> Shape:
        """The half space normal · x <= offset: ground at z = 0 by default.

        >>> Shape.plane().contains((0, 0, -1))
        True
        """
        return Shape({"type": "plane", "normal": numbers(normal, 3, "normal"), "offset": offset})

    @staticmethod
    def hull(points: ArrayLike) -> Shape:
        """The convex hull of points (n, 3), m.

        >>> round(Shape.hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]).volume, 12)
        0.166666666667
        """
        return Shape({"type": "hull", "points": array(points, (-1, 3), "points").tolist()})

    @staticmethod
    def mesh(vertices: ArrayLike, faces: Sequence[Sequence[int]]) -> Shape:
        """Triangles (or polygons, which are cut into triangles): a solid if closed, else a surface without mass. Corners
        counter-clockwise seen from outside, from 0.

        >>> v = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> round(Shape.mesh(v, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).volume, 12)
        0.166666666667
        """
        return Shape._of_faces("mesh", vertices, faces)

    @staticmethod
    def polyhedron(vertices: ArrayLike, faces: Sequence[Sequence[int]]) -> Shape:
        """A closed solid with planar polygonal faces, which may be non-convex.

        >>> v = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> Shape.polyhedron(v, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).type
        'polyhedron'
        """
        return Shape._of_faces("polyhedron", vertices, faces)

    @staticmethod
    def _of_faces(kind: str, vertices: ArrayLike, faces: Sequence[Sequence[int]]) -> Shape:
        try:
            corners = [[int(i) for i in face] for face in faces]
        except (TypeError, ValueError):
            raise InvalidError(f"faces of a {kind}: lists of indices of vertices are needed") from None
        return Shape({"type": kind, "vertices": array(vertices, (-1, 3), "vertices").tolist(), "faces": corners})

    @staticmethod
    def extrusion(profile: ArrayLike, height: float) -> Shape:
        """The prism over a simple polygon (n, 2) in the plane z = 0, up to z = height, m.

        >>> Shape.extrusion([[0, 0], [2, 0], [2, 1], [0, 1]], 3.0).volume
        6.0
        """
        return Shape({"type": "extrusion", "profile": array(profile, (-1, 2), "profile").tolist(), "height": height})

    @staticmethod
    def revolution(profile: ArrayLike, segments: int = 32) -> Shape:
        """The solid of revolution about z of a closed polygon of points (r, z), with flat segments.

        >>> Shape.revolution([[1, 0], [2, 0], [2, 1], [1, 1]], segments=64).contains((1.5, 0, 0.5))
        True
        """
        return Shape({"type": "revolution", "profile": array(profile, (-1, 2), "profile").tolist(), "segments": segments})

    @staticmethod
    def compound(parts: Sequence[Union[Shape, tuple[Any, ...], Mapping[str, Any]]]) -> Shape:
        """Several shapes as one. A part is a shape, (shape, position), (shape, position, orientation), or the object of a
        scene. Overlaps count twice in the mass.

        >>> Shape.compound([Shape.box((1, 1, 1)), (Shape.box((1, 1, 1)), (0, 0, 1))]).volume
        2.0
        """
        found = []
        for part in parts:
            if isinstance(part, Shape):
                part = (part,)
            if isinstance(part, tuple):
                part = dict(zip(("geometry", "position", "orientation"), part))
            found.append(part)
        return Shape({"type": "compound", "parts": found})

    @staticmethod
    def from_file(path: str, kind: str = "mesh", scale: float = 1.0, up: str = "z") -> Shape:
        """A mesh file: .obj, .stl, .ply, .gltf, .glb. kind: "mesh", "polyhedron", "hull" or "soup"; scale: m per unit of
        the file; up: the axis that is up in the file, "z" or "y".

        >>> try:
        ...     Shape.from_file("missing.obj").volume
        ... except LookupError:
        ...     print("not found")
        not found
        """
        return Shape({"type": kind, "file": str(path), "scale": scale, "up": up})

    @property
    def type(self) -> str:
        """"sphere", "box", ...

        >>> Shape.sphere(1).type
        'sphere'
        """
        return str(self._value.get("type", ""))

    def scene_value(self) -> dict[str, Any]:
        """The shape as scenes write it.

        >>> Shape.sphere(1).scene_value()
        {'type': 'sphere', 'radius': 1}
        """
        return self._value

    def __repr__(self) -> str:
        rest = ", ".join(f"{key}={value!r}" for key, value in self._value.items() if key != "type")
        return f"Shape.{self.type}({rest if len(rest) < 100 else '...'})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self._value == other._value

    def __hash__(self) -> int:
        return hash(json.dumps(self._value, sort_keys=True))

    def _handle(self) -> Any:
        """The geometry of the library, made when it is first needed: by a scene with one body, so that every kind of
        geometry and every message of scenes is at hand."""
        if self._geometry is None:
            from .scene import Scene

            # The place in that scene means nothing to users.
            scene = Scene({"bodies": [{"name": "shape", "type": "static", "shapes": [{"geometry": self._value}]}]})
            error = new_error()
            world = lib.rbScene_CreateWorld(scene._handle(), error)
            if world == ffi.NULL:
                raise exception_of(error)
            shape = lib.rbBody_GetShape(world, lib.rbWorld_FindBody(world, b"shape"), 0)
            geometry = lib.rbGeometry_Retain(lib.rbWorld_GetGeometry(world, shape.geometry))
            lib.rbDestroyWorld(world)
            self._geometry = ffi.gc(geometry, lib.rbDestroyGeometry)
        return self._geometry

    @property
    def volume(self) -> float:
        """m³; an error for planes and open meshes.

        >>> Shape.box((1, 1, 2)).volume
        2.0
        """
        return float(self._mass(1.0).volume)

    def _mass(self, density: float) -> Any:
        found, error = ffi.new("rbMassProperties*"), new_error()
        check(lib.rbGeometry_GetMass(self._handle(), density, found, error), error)
        return found

    def mass_properties(self, density: float = 1000.0) -> MassProperties:
        """Mass, center and inertia for a density in kg/m³.

        >>> Shape.box((1, 1, 1)).mass_properties(6.0).inertia.diagonal().round(12).tolist()
        [1.0, 1.0, 1.0]
        """
        if not density > 0.0:
            raise InvalidError(f"the density is {density} kg/m^3; a positive number is needed")
        return mass_of(self._mass(density))

    @property
    def bounds(self) -> FloatArray:
        """The axis-aligned box, lower and upper corner, (2, 3), m.

        >>> Shape.sphere(1.0).bounds.tolist()
        [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]
        """
        found = lib.rbGeometry_GetBounds(self._handle(), transform())
        return np.array((vector(found.lower), vector(found.upper)))

    def support(self, direction: Vector) -> FloatArray:
        """A point of the shape that is farthest in a direction.

        >>> Shape.sphere(2.0).support((0, 0, 1)).tolist()
        [0.0, 0.0, 2.0]
        """
        return vector(lib.rbGeometry_GetSupport(self._handle(), vec3(direction, "direction")))

    def contains(self, point: Vector) -> bool:
        """Whether a point (m) lies in the solid.

        >>> Shape.sphere(1.0).contains((0, 0, 0.9))
        True
        """
        return bool(lib.rbGeometry_Contains(self._handle(), vec3(point, "point")))

    def cast_ray(self, origin: Vector, direction: Vector, t_max: float = float("inf")) -> Optional[Hit]:
        """The first point of the surface along origin + t direction, 0 <= t <= t_max; None: no hit.

        >>> Shape.sphere(1.0).cast_ray((5, 0, 0), (0, 0, 1)) is None
        True
        """
        ray = ffi.new("rbRay*", [vec3(origin, "origin"), vec3(direction, "direction"), t_max])
        hit = ffi.new("rbRayHit*")
        if not lib.rbGeometry_CastRay(self._handle(), ray, hit):
            return None
        return Hit(float(hit.t), vector(hit.point), vector(hit.normal))

    def distance(self, other: Shape, position: Vector = (0.0, 0.0, 0.0),
                 orientation: Vector = (1.0, 0.0, 0.0, 0.0)) -> Separation:
        """Distance to another shape at a pose in the frame of this one (m; w, x, y, z).

        >>> Shape.box((1, 1, 1)).distance(Shape.sphere(0.5), position=(0, 0, 0.75)).distance
        -0.25
        """
        given, out, error = ffi.new("rbSeparationInput*"), ffi.new("rbSeparation*"), new_error()
        given[0] = lib.rbDefaultSeparationInput()
        given.geometryA, given.geometryB = self._handle(), other._handle()
        given.transformBtoA = transform(position, orientation)
        scratch = ffi.new("char[]", lib.rbGetSeparationScratchSize())
        check(lib.rbMeasureSeparation(given, ffi.NULL, scratch, out, error), error)
        return Separation(float(out.distance), vector(out.pointA), vector(out.pointB), vector(out.normal))

    def triangles(self, deviation: float = 0.01, plane_size: float = 10.0) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.int32]]]:
        """Vertices (n, 3) in m and triangles (k, 3) for display, no farther than deviation (m) from the surface; a plane
        becomes a square of half size plane_size.

        >>> vertices, triangles = Shape.box((1, 1, 1)).triangles()
        >>> len(triangles)
        12
        """
        found, error = ffi.new("rbTriangles*"), new_error()
        check(lib.rbGeometry_Triangulate(self._handle(), deviation, plane_size, found, error), error)
        vertices = np.frombuffer(ffi.buffer(found.vertices, found.vertexCount * 24), dtype=np.float64).reshape(-1, 3).copy()
        faces = np.frombuffer(ffi.buffer(found.triangles, found.triangleCount * 12), dtype=np.int32).reshape(-1, 3).copy()
        lib.rbFreeTriangles(found)
        return vertices, faces


def transform(position: Vector = (0.0, 0.0, 0.0), orientation: Vector = (1.0, 0.0, 0.0, 0.0)) -> Any:
    """An rbTransform as cffi takes it."""
    return {"p": vec3(position, "position"), "q": quat(orientation, "orientation")}


def mass_of(found: Any) -> MassProperties:
    """From rbMassProperties."""
    i = found.inertia
    inertia = np.array(((i.xx, i.xy, i.xz), (i.xy, i.yy, i.yz), (i.xz, i.yz, i.zz)))
    return MassProperties(float(found.mass), vector(found.center), inertia)


__all__ = ["Hit", "MassProperties", "Material", "Separation", "Shape", "quaternion"]
