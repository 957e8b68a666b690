"""Rattleback: rigid-body dynamics whose currency is the impulse.

    import rattleback as rb

    world = rb.World()
    world.add_body(rb.Shape.plane(), type="static")
    ball = world.add_body(rb.Shape.sphere(0.1), position=(0, 0, 1))
    world.advance(1.0)
    print(ball.position)

    result = rb.Scene.example("rattleback").run()
    result.plot()

SI units, radians, right-handed axes, z up; quaternions are w, x, y, z. See docs/python.md.
"""
try:
    from . import _native as _native
except ImportError as _error:
    raise ImportError(
        f"rattleback's compiled module cannot be loaded ({_error}); it needs the Python packages cffi and numpy (Debian: "
        "python3-cffi python3-numpy) and is built by 'make python' or 'pip install ./python'") from _error
try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError("rattleback needs numpy (Debian: python3-numpy)") from _error

from .errors import (CorruptError, DeadObjectError, FileError, InvalidError, LimitError, NotFoundError, NumericalError,
                     RattlebackError, RattlebackWarning, SceneSyntaxError, UnsupportedError, check, new_error)

_error_value = new_error()
check(_native.lib.rbRegisterSceneLaboratory(_error_value), _error_value)

from .control import LinearModel, Rollout  # noqa: E402
from .keyframes import Fit, fit  # noqa: E402
from .many import step_all  # noqa: E402
from .objects import Body, Joint, Spring  # noqa: E402
from .recording import Recording  # noqa: E402
from .result import Result, demo  # noqa: E402
from .scene import Scene  # noqa: E402
from .shape import Hit, MassProperties, Material, Separation, Shape  # noqa: E402
from .study import Study, sweep  # noqa: E402
from .viewer import Viewer  # noqa: E402
from .world import ForceState, Ledger, Snapshot, World, load_module  # noqa: E402

__version__: str = _native.ffi.string(_native.lib.rbGetVersion()).decode()

__all__ = [
    "Body", "CorruptError", "DeadObjectError", "FileError", "Fit", "ForceState", "Hit", "InvalidError", "Joint", "Ledger",
    "LimitError", "LinearModel", "MassProperties", "Material", "NotFoundError", "NumericalError", "RattlebackError", "RattlebackWarning",
    "Recording", "Result", "Rollout", "Scene", "SceneSyntaxError", "Separation", "Shape", "Snapshot", "Spring", "Study",
    "UnsupportedError", "Viewer", "World", "demo", "fit", "load_module", "step_all", "sweep",
]
