"""Describes the compiled module rattleback._native for cffi; setup.py builds it.

One module for all versions of Python 3 (abi3), linked with the static libraries of build/release, so that it computes the
same bits as the program. RATTLEBACK_BUILD names another build folder, whose libraries exist.
"""
import os
import subprocess
import sys

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import headers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
GIVEN = os.environ.get("RATTLEBACK_BUILD")
RELEASE = GIVEN or os.path.join(ROOT, "build", "release")

# Of the program: pages that replay a run, and the laboratory's keys of scenes.
PROGRAM = """
typedef struct rbPageWriter rbPageWriter;
rbPageWriter* rbCreatePageWriter(const char* path, const rbScene* scene, const rbWorld* world, double duration, rbError* error);
rbStatus rbPageWriter_TakeFrame(rbPageWriter* writer, const rbWorld* world, rbError* error);
rbStatus rbPageWriter_Finish(rbPageWriter* writer, const rbWorld* world, rbError* error);
void rbPageWriter_Abandon(rbPageWriter* writer);
rbStatus rbRegisterSceneLaboratory(rbError* error);
"""
# Functions of Python that C calls.
CALLBACKS = """
extern "Python+C" int rbpyForce(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context);
extern "Python+C" int rbpyFilter(const rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, void* context);
extern "Python+C" int rbpyAsk(void);
"""


def build_libraries():
    """Builds the static libraries, which takes no time when they are up to date."""
    for command in (["cmake", "--preset", "release"],
                    ["cmake", "--build", RELEASE, "--target", "rattleback", "rattleback_io", "rattleback_lab", "rattleback_app"]):
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        except FileNotFoundError:
            sys.exit("rattleback: cmake is needed to build the library; 'tools/setup.sh' installs what is missing")
        if done.returncode != 0:
            sys.exit(f"rattleback: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def make_builder():
    """The builder of the module, for cffi_modules in setup.py."""
    if not GIVEN:
        build_libraries()
    helpers = "#define RBPY_STATE_WIDTH ...\n#define RBPY_MODE_ODD ...\n"
    for name in ("helpers.h", "viewer.h"):
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            helpers += "".join(line for line in file if not line.startswith(("//", "#")))
    libraries = [os.path.join(RELEASE, f"librattleback{part}.a") for part in ("_app", "_lab", "_io", "")]
    builder = cffi.FFI()
    builder.cdef(headers.declarations(os.path.join(ROOT, "include")) + helpers + PROGRAM + CALLBACKS)
    builder.set_source(
        "rattleback._native", headers.includes() + '#include "helpers.h"\n#include "viewer.h"\n' + PROGRAM,
        sources=["bindings/helpers.c", "bindings/viewer.c"],
        include_dirs=[os.path.join(ROOT, name) for name in ("include", "app", "src")] + [HERE],
        extra_objects=libraries,
        depends=libraries + [os.path.join(HERE, name) for name in ("helpers.h", "viewer.h")],
        libraries=["jansson", "zstd", "z", "qhull_r", "amd", "m", "pthread"],
        # The declarations lack some const, see headers.py.
        extra_compile_args=["-std=c17", "-O2", "-ffp-contract=off", "-Wno-incompatible-pointer-types"],
        # The module exports its entry point only: no second library can bind to its functions.
        extra_link_args=["-Wl,--exclude-libs,ALL"])
    return builder


ffibuilder = make_builder()

if __name__ == "__main__":  # for the program that embeds the interpreter: only the C text
    ffibuilder.emit_c_code(sys.argv[1])
