#!/usr/bin/env python3
"""Checks that includes point in one direction only, and that every public header compiles alone.

The order of the rooms is in tools/layers.txt. Violations are printed as file:line: message; the exit
code is 1 if there is one.
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ORDER_FILE = "tools/layers.txt"
PUBLIC = "include/rattleback"
# Folders whose files have rooms, and the folders that quoted includes start from.
SOURCES = ("src", "lab", "app", "bench", "validation", "verify")
INCLUDE_ROOTS = ("src", ".", "app", "bench", "validation")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

STANDARD_C = {
    name + ".h"
    for name in """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time
    uchar wchar wctype""".split()
}
# libc headers beyond the C standard.
SYSTEM = re.compile(
    r"^(sys/|linux/|netinet/|arpa/)|^(unistd|pthread|fcntl|dirent|strings|poll|spawn|glob|libgen|getopt"
    r"|termios|netdb|malloc|dlfcn|sched)\.h$"
)
# Third-party libraries and the only folders that may include them.
LIBRARIES = [
    (re.compile(r"^emmintrin\.h$"), ["src/base/core/lanes.h"]),  # of the compiler
    (re.compile(r"^libqhull"), ["src/collision/geometry/", "test/"]),
    (re.compile(r"^(jansson|jansson_config|zlib|zstd|zstd_errors|zdict)\.h$"), ["src/io/", "app/", "verify/", "test/"]),
    (re.compile(r"^assimp/"), ["src/io/", "app/", "test/"]),
    (re.compile(r"^libwebsockets\.h$"), ["app/server/", "test/"]),
    (re.compile(r"^(amd|SuiteSparse_config|suitesparse/.*)\.h$"), ["src/dynamics/solvers/", "test/"]),
    (re.compile(r"^Python\.h$"), ["app/python/"]),
    (re.compile(r"^mpi\.h$"), ["src/cluster/ranks.c"]),
    (re.compile(r"^hdf5\.h$"), ["src/cluster/hdf5_file.c"]),
    (re.compile(r"^cmocka\.h$"), ["test/"]),
]


def read_order():
    """Returns the rooms in their order, the room of every public header and the order of files by folder."""
    rooms, headers, files = [], {}, {}
    with open(os.path.join(ROOT, ORDER_FILE), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words and words[0] == "files":
                files[words[1]] = words[2:]
            elif words:
                rooms.append(words[0])
                headers.update((name, words[0]) for name in words[1:])
    return rooms, headers, files


def c_files(folder):
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders[:] = sorted(name for name in folders if name != "node_modules")
        for name in sorted(names):
            if name.endswith((".c", ".h", ".inc")):
                yield os.path.relpath(os.path.join(path, name), ROOT)


def includes_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == "<", match.group(2)


def room_of(path, rooms):
    """The room of a path. A file directly on a floor counts as its last room."""
    folder = os.path.dirname(path)
    while folder:
        if folder in rooms:
            return folder
        inside = [room for room in rooms if room.startswith(folder + "/")]
        if inside:
            return inside[-1]
        folder = os.path.dirname(folder)
    return None


def find_header(path, name):
    """The path of an included header of ours: below an include root or next to the file."""
    for folder in (*INCLUDE_ROOTS, os.path.dirname(path)):
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(ROOT, candidate)):
            return candidate
    return None


class Checker:
    def __init__(self):
        self.rooms, self.headers, self.files = read_order()
        self.violations = 0

    def report(self, path, line, message):
        self.violations += 1
        print(f"{path}:{line}: {message}")

    def target_room(self, path, line, is_angled, name):
        """The room an include points to; None if it is not ours or is reported already."""
        if is_angled:
            if not name.startswith("rattleback/"):
                return None
            header = name[len("rattleback/"):]
            if not os.path.isfile(os.path.join(ROOT, PUBLIC, header)):
                self.report(path, line, f"<{name}> is not in {PUBLIC}")
                return None
            if header not in self.headers:
                self.report(path, line, f"{ORDER_FILE} assigns no room to <{name}>")
            return self.headers.get(header)
        target = find_header(path, name)
        if target is None:
            self.report(path, line, f'"{name}" is not found below {" ".join(INCLUDE_ROOTS)}')
            return None
        room = room_of(target, self.rooms)
        if room is None:
            self.report(path, line, f'"{target}" is in no room of {ORDER_FILE}')
        return room

    def check_order(self, path, room, line, is_angled, name):
        target = self.target_room(path, line, is_angled, name)
        if target is not None and self.rooms.index(target) > self.rooms.index(room):
            self.report(path, line, f"{room} must not include {name}: {target} comes after it in {ORDER_FILE}")

    def check_library(self, path, line, is_angled, name):
        """Third-party libraries only where allowed; the core uses only libc and libm."""
        for pattern, folders in LIBRARIES:
            if pattern.match(name):
                if not path.startswith(tuple(folders)):
                    self.report(path, line, f"<{name}> is allowed only in {' '.join(folders)}")
                return
        is_ours = name.startswith("rattleback/") or not is_angled
        in_library = path.startswith(("src/", "lab/", "include/"))
        if in_library and not is_ours and name not in STANDARD_C and not SYSTEM.match(name):
            self.report(path, line, f"<{name}> belongs to a library that is not listed in tools/check_layers.py")

    # L-103
    def check_source(self):
        """Every source file includes only rooms before its own."""
        for path in (path for folder in SOURCES for path in c_files(folder)):
            room = room_of(path, self.rooms)
            if room is None:
                self.report(path, 1, f"this file is in no room of {ORDER_FILE}")
                continue
            for line, is_angled, name in includes_of(path):
                self.check_order(path, room, line, is_angled, name)

    def place_of(self, path):
        """The place of a file in the order of its folder; None if it has none."""
        names = self.files[os.path.dirname(path)]
        name = os.path.basename(path)
        for candidate in (name, os.path.splitext(name)[0]):
            if candidate in names:
                return names.index(candidate)
        return None

    def check_files(self):
        """Where files of a folder have an order, each includes only headers of those before it."""
        for folder in self.files:
            for path in c_files(folder):
                place = self.place_of(path)
                if place is None:
                    self.report(path, 1, f"{ORDER_FILE} does not list this file for {folder}")
                    continue
                for line, is_angled, name in includes_of(path):
                    target = None if is_angled else find_header(path, name)
                    if target is None or os.path.dirname(target) != folder or target == path:
                        continue
                    other = self.place_of(target)
                    own = os.path.splitext(path)[0] == os.path.splitext(target)[0]
                    if other is None or (other >= place and not own):
                        self.report(path, line, f"must not include {name}: it comes after this file in {ORDER_FILE}")

    def check_public(self):
        """Public headers include only each other, in order, and the C standard library."""
        for path in c_files(PUBLIC):
            room = self.headers.get(os.path.relpath(path, PUBLIC))
            if room is None:
                self.report(path, 1, f"{ORDER_FILE} assigns no room to this header")
            for line, is_angled, name in includes_of(path):
                if not is_angled:
                    self.report(path, line, f'public headers are included as <rattleback/...>, not "{name}"')
                elif name not in STANDARD_C and not name.startswith("rattleback/"):
                    self.report(path, line, f"<{name}> is neither ours nor part of the C standard library")
                elif room is not None:
                    self.check_order(path, room, line, is_angled, name)

    def check_alone(self):
        """Every public header compiles alone, as C17 and as C++17."""
        flags = "-fsyntax-only -Wall -Wextra -Werror -pedantic".split()
        for compiler, language, standard in (("gcc", "c", "c17"), ("g++", "c++", "c++17")):
            if shutil.which(compiler) is None:
                self.report(PUBLIC, 1, f"there is no {compiler} to compile the headers: run tools/setup.sh ci")
                continue
            for path in c_files(PUBLIC):
                name = os.path.relpath(path, "include")
                result = subprocess.run(
                    [compiler, "-x", language, "-std=" + standard, "-I", "include", *flags, "-"],
                    input=f"#include <{name}>\n", capture_output=True, text=True, cwd=ROOT, check=False)
                if result.returncode != 0:
                    self.report(path, 1, f"does not compile alone as {standard}:\n{result.stderr.rstrip()}")

    def run(self):
        self.check_source()
        self.check_files()
        self.check_public()
        for folder in ("include", *SOURCES):
            for path in c_files(folder):
                for include in includes_of(path):
                    self.check_library(path, *include)
        self.check_alone()
        return 1 if self.violations else 0


if __name__ == "__main__":
    sys.exit(Checker().run())
