#!/usr/bin/env python3
"""Line coverage of the tests by room (`make coverage`), by gcov in build/coverage.

Each group of each test program runs alone and its lines are kept in build/coverage/lines-LEVEL-PROGRAM.json, so that a
second run repeats only what was built again, and mutate.py knows which tests execute a line. The tests in the
browser, of the installed tree and of the documents are left out.

  tools/coverage.py [--level normal] [--programs REGEX] [--room REGEX] [--jobs N] [--missed]
"""
import argparse
import collections
import concurrent.futures
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

import test_units
from test_units import ROOT

FOLDER = os.path.join(ROOT, "build", "coverage")
FLAGS = "-O1 -DNDEBUG --coverage -fprofile-abs-path -fprofile-update=atomic"
OPTIONS = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={FLAGS}", "-DRB_WERROR=OFF", "-DRB_BUILD_SHARED=OFF",
           "-DRB_INSTALL=OFF"]
# What is measured: the libraries. A room is the folder of a file.
TOPS = ("src/", "lab/")
LEAST_PERCENT = 90.0


def room_of(path):
    folder = os.path.dirname(path)
    return "src/dynamics/engines" if folder.startswith("src/dynamics/engines/") else folder


def path_of(report, name):
    """The path of a source file from the root. Where ccache compiled with relative paths, gcc joins them to the folder
    of the build and loses their dots."""
    path = os.path.relpath(os.path.normpath(os.path.join(report["current_working_directory"], name)), ROOT)
    inside = os.path.relpath(FOLDER, ROOT) + "/"
    return path[len(inside):] if path.startswith(inside) else path


class Collector:
    """Runs units in folders of their own: gcov writes counters below GCOV_PREFIX."""

    def __init__(self, level, jobs):
        self.level = level
        self.jobs = jobs
        self.stores = {}
        self.lock = threading.Lock()
        self.spare = []
        self.measured = set()

    def store_of(self, program):
        if program not in self.stores:
            store = test_units.Store(os.path.join(FOLDER, f"lines-{self.level}-{program}.json"))
            store.data.setdefault("units", {})
            store.data.setdefault("lines", {})
            self.stores[program] = store
        return self.stores[program]

    def make_prefix(self):
        """A copy of the tree of objects that has links to the notes gcov needs beside its counters."""
        prefix = tempfile.mkdtemp(dir=self.prefixes)
        for path, _, names in os.walk(os.path.join(FOLDER, "CMakeFiles")):
            notes = [name for name in names if name.endswith(".gcno")]
            if notes:
                target = prefix + path
                os.makedirs(target, exist_ok=True)
                for name in notes:
                    os.symlink(os.path.join(path, name), os.path.join(target, name))
        return prefix

    def lines_of(self, program, prefix):
        """Maps a file to the bits of its executed lines, and removes the counters. Every unit reports all files of its
        program, so the first one replaces the lines of an earlier build."""
        with self.lock:
            if program not in self.measured:
                self.measured.add(program)
                self.store_of(program).data["lines"] = {}
        counters = []
        for path, _, names in os.walk(prefix):
            for name in names:
                if name.endswith(".gcda"):
                    full = os.path.join(path, name)
                    if re.search(r"\.dir/(src|lab)/", full):
                        counters.append(full)
                    else:
                        os.unlink(full)
        executed = {}
        if counters:
            output = subprocess.run(["gcov", "--json-format", "--stdout", *counters], cwd=prefix, check=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            for text in output.splitlines():
                self.add_lines(json.loads(text), self.store_of(program).data["lines"], executed)
        for full in counters:
            os.unlink(full)
        return executed

    def add_lines(self, report, lines, executed):
        for file in report["files"]:
            path = path_of(report, file["file"])
            if not path.startswith(TOPS):
                continue
            known = done = 0
            for line in file["lines"]:
                known |= 1 << line["line_number"]
                if line["count"] > 0:
                    done |= 1 << line["line_number"]
            executed[path] = executed.get(path, 0) | done
            with self.lock:
                lines[path] = hex(int(lines.get(path, "0x0"), 16) | known)

    def measure(self, unit):
        program, group, stamp = unit
        with self.lock:
            prefix = self.spare.pop() if self.spare else None
            if prefix is None:
                prefix = self.make_prefix()
        outcome = test_units.run_unit(os.path.join(FOLDER, program), group, self.level,
                                      environment={"GCOV_PREFIX": prefix})
        executed = self.lines_of(program, prefix)
        with self.lock:
            self.spare.append(prefix)
            store = self.store_of(program)
            store.data["units"][f"{program} {group}"] = {
                "stamp": stamp,
                "seconds": outcome.seconds,
                "lines": {path: hex(bits) for path, bits in sorted(executed.items()) if bits},
            }
            store.save()
        if outcome.failure:
            print(f"coverage: {program} {group}: {outcome.failure}; its lines count up to there", file=sys.stderr)
        return outcome

    def collect(self, programs):
        """Measures what is not known; returns the units of the programs, and the lines that have code."""
        wanted = []
        for program in programs:
            known = self.store_of(program).data["units"]
            groups = test_units.groups_of(FOLDER, program)
            for name in [name for name in known if name.split()[1] not in groups]:
                del known[name]
            for group in groups:
                stamp = test_units.stamp_of(FOLDER, program, group, groups)
                if known.get(f"{program} {group}", {}).get("stamp") != stamp:
                    wanted.append((program, group, stamp))
        with tempfile.TemporaryDirectory(dir=FOLDER) as self.prefixes, concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for number, unit in enumerate(pool.map(lambda unit: (unit, self.measure(unit)), wanted), 1):
                (program, group, _), outcome = unit
                print(f"{number}/{len(wanted)} {program} {group} {outcome.seconds:.1f} s", file=sys.stderr)
        units, lines = {}, collections.defaultdict(int)
        for program in programs:
            data = self.store_of(program).data
            units.update(data["units"])
            for path, bits in data["lines"].items():
                lines[path] |= int(bits, 16)
        return units, lines


def moves_since(commit, path):
    """Blocks (first, end, first, end) of lines of a file at a commit and now, equal or not; empty if it was not there."""
    result = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if result.returncode != 0:
        return []
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        old, new = result.stdout.decode("utf-8").splitlines(), file.read().splitlines()
    if old == new:
        return [(True, 1, len(old) + 1, 1, len(old) + 1)]
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(kind == "equal", a + 1, b + 1, c + 1, d + 1) for kind, a, b, c, d in blocks]


def move_lines(bits, moves):
    """Executed lines of an old text as lines of the new one. Lines that changed count as executed where a line that they
    replace was, or one next to them."""
    moved = 0
    for is_equal, a, b, c, d in moves:
        part = bits >> a & (1 << b - a) - 1
        if is_equal:
            moved |= part << c
        elif bits >> max(a - 1, 0) & (1 << b - a + 2) - 1:
            moved |= (1 << d) - (1 << c)
    return moved


def print_rooms(units, lines, rooms, show_missed):
    """Prints executed and all lines by room, and the rooms below the least percentage."""
    covered = collections.defaultdict(int)
    for unit in units.values():
        for path, bits in unit["lines"].items():
            covered[path] |= int(bits, 16)
    totals = collections.defaultdict(lambda: [0, 0])
    for path, known in sorted(lines.items()):
        room = room_of(path)
        if not os.path.exists(os.path.join(ROOT, path)) or not re.search(rooms, room):
            continue
        totals[room][0] += (covered[path] & known).bit_count()
        totals[room][1] += known.bit_count()
        missed = known & ~covered[path]
        if show_missed and missed:
            print(f"{path}: " + " ".join(str(line) for line in range(missed.bit_length()) if missed >> line & 1))
    low = []
    print("| room | lines with code | executed | percent |\n|---|---|---|---|")
    for room in sorted(totals):
        done, known = totals[room]
        percent = 100.0 * done / known
        print(f"| `{room}` | {known:,} | {done:,} | {percent:.1f} |")
        if percent < LEAST_PERCENT:
            low.append(room)
    done, known = (sum(total[i] for total in totals.values()) for i in (0, 1))
    print(f"| **all** | {known:,} | {done:,} | {100.0 * done / max(known, 1):.1f} |")
    print(f"rooms below {LEAST_PERCENT:.0f} %: {', '.join(low) if low else 'none'}")


def prepare(pattern, jobs):
    """Builds the test programs whose names match."""
    test_units.configure(FOLDER, OPTIONS)
    programs = [name for name in test_units.test_programs(FOLDER) if re.search(pattern, name)]
    test_units.build(FOLDER, programs, jobs)
    return programs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--level", choices=test_units.LEVELS, default="normal", help="how many random cases")
    parser.add_argument("--programs", default="", metavar="REGEX", help="only these test programs")
    parser.add_argument("--room", default="", metavar="REGEX", help="print only these rooms")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--missed", action="store_true", help="print the lines that no test executes")
    arguments = parser.parse_args()
    programs = prepare(arguments.programs, arguments.jobs)
    units, lines = Collector(arguments.level, arguments.jobs).collect(programs)
    print_rooms(units, lines, arguments.room, arguments.missed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
