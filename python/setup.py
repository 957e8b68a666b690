"""Builds the Python package: the compiled module, and copies of the example scenes."""
import os
import shutil
import sys

missing = []
for name in ("cffi", "numpy"):
    try:
        __import__(name)
    except ImportError:
        missing.append(name)
if missing:
    sys.exit(f"rattleback: this Python ({sys.executable}) lacks {' and '.join(missing)}, which the package needs; on Debian "
             f"'apt-get install {' '.join('python3-' + name for name in missing)}' and use /usr/bin/python3")

from setuptools import setup  # noqa: E402
from setuptools.command.build_py import build_py  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class BuildWithScenes(build_py):
    """Also copies the example scenes into the package."""

    def run(self):
        super().run()
        target = os.path.join(self.build_lib, "rattleback", "scenes")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "scenes"), target, ignore=shutil.ignore_patterns("pictures"))


setup(cffi_modules=["bindings/build_module.py:ffibuilder"], cmdclass={"build_py": BuildWithScenes})
