"""Conversions between Python values and those of the library, with messages that name the argument."""
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import ffi
from .errors import InvalidError

FloatArray = NDArray[np.float64]
Vector = Union[Iterable[float], FloatArray]


def numbers(value: Any, count: int, what: str) -> list[float]:
    """A list of finite numbers of a given length."""
    try:
        found = [float(x) for x in value]
    except (TypeError, ValueError):
        raise InvalidError(f"{what} is {value!r}; {count} numbers are needed") from None
    if len(found) != count:
        raise InvalidError(f"{what} has {len(found)} numbers; {count} are needed")
    if not all(map(math.isfinite, found)):
        raise InvalidError(f"{what} is {found}; the numbers must be finite")
    return found


def vec3(value: Any, what: str) -> Any:
    """An rbVec3 (as a list that cffi accepts) from three numbers."""
    return numbers(value, 3, what)


def quat(value: Any, what: str) -> list[float]:
    """A quaternion w, x, y, z of length 1 within 1e-6."""
    q = numbers(value, 4, what)
    length = math.sqrt(sum(x * x for x in q))
    if not abs(length - 1.0) <= 1e-6:
        raise InvalidError(f"{what} is {q}, of length {length:.9g}; a quaternion w, x, y, z of length 1 is needed")
    return q


def array(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """A C-contiguous array of doubles of a shape; -1 stands for any length."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidError(f"{what} cannot be read as numbers") from None
    if found.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, found.shape)):
        wanted = "(" + ", ".join("n" if n < 0 else str(n) for n in shape) + ")"
        raise InvalidError(f"{what} has the shape {found.shape}; {wanted} is needed")
    if not np.isfinite(found).all():
        where = np.argwhere(~np.isfinite(found))[0]
        raise InvalidError(f"{what}[{', '.join(map(str, where))}] is {found[tuple(where)]}; the numbers must be finite")
    return np.ascontiguousarray(found)


def target(out: Any, shape: tuple[int, ...], what: str) -> FloatArray:
    """Checks an array of the caller that results are written to: doubles, a shape, rows without gaps."""
    if not isinstance(out, np.ndarray):
        raise InvalidError(f"{what} is a {type(out).__name__}; a numpy array is needed")
    if out.dtype != np.float64:
        raise InvalidError(f"{what} has the type {out.dtype}; float64 is needed")
    if out.shape != shape:
        raise InvalidError(f"{what} has the shape {out.shape}; {shape} is needed")
    if not out.flags.writeable:
        raise InvalidError(f"{what} cannot be written to")
    if out.size > 0 and (out.strides[0] < out[0].nbytes or not out[0].flags.c_contiguous):
        raise InvalidError(f"{what} has the strides {out.strides}; each row must be contiguous and rows must ascend")
    return out


def pointer(values: FloatArray) -> Any:
    """The address of the first number of an array."""
    return ffi.cast("double*", values.ctypes.data)


def vector(value: Any) -> FloatArray:
    """A numpy vector from an rbVec3."""
    return np.array((value.x, value.y, value.z))


def quaternion(value: Any) -> FloatArray:
    """A numpy vector w, x, y, z from an rbQuat."""
    return np.array((value.w, value.x, value.y, value.z))


def snake(name: str) -> str:
    """linearVelocity becomes linear_velocity."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def camel(name: str) -> str:
    """linear_velocity becomes linearVelocity."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def plain(value: Any) -> Any:
    """A value of a scene as JSON takes it: arrays become lists, objects with scene_value() their value."""
    if hasattr(value, "scene_value"):
        return plain(value.scene_value())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidError(f"a value of the scene is {value}; the numbers must be finite")
    return value


def struct_dict(value: Any) -> dict[str, Any]:
    """A C struct as a dictionary with snake-case keys; vectors become arrays, ids are left out."""
    out: dict[str, Any] = {}
    for name, field in ffi.typeof(value).fields:
        kind = field.type.cname
        if kind in ("rbVec3", "struct rbVec3"):
            out[snake(name)] = vector(getattr(value, name))
        elif field.type.kind in ("primitive", "enum"):
            out[snake(name)] = getattr(value, name)
    return out


def record_type(cname: str, fields: Mapping[str, tuple[str, Any]]) -> np.dtype[Any]:
    """A numpy record with the layout of a C struct: name in Python -> member, dtype."""
    known = dict(ffi.typeof(cname).fields)
    members = {name: (np.dtype(kind), known[member].offset) for name, (member, kind) in fields.items()}
    return np.dtype({"names": list(members), "formats": [kind for kind, _ in members.values()],
                     "offsets": [offset for _, offset in members.values()], "itemsize": ffi.sizeof(cname)})


def camel_or_same(name: str) -> str:
    """Accepts both spellings: force_max and forceMax."""
    return camel(name)
