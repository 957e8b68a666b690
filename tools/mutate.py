#!/usr/bin/env python3
"""Single mutations of the core, to see whether the tests notice (`make mutate`).

A mutant is the program with one small error: an operator, comparison, constant or sign replaced, a statement dropped,
a condition negated, two arguments swapped, an index off by one. The source tree stays as it is: the mutated file is
compiled apart with the options of build/mutate and linked in front of the libraries there, program by program, only as
far as needed. coverage.py tells which test groups execute the line; the cheapest runs first, and the first failure
kills the mutant. A timeout or crash is a kill. Mutants with the object code of the original are equivalent and not
counted, nor are mutants that do not compile and those of test/mutants-equivalent.csv, which says why each changes
nothing that can be seen. Asserts, messages and comments are never mutated.

  tools/mutate.py --count 300 --seed 1         random mutants, kills by room, then the survivors
  tools/mutate.py --file src/base/math/ode.c   only in this file; --room REGEX: only in these rooms
  tools/mutate.py --log FILE                   one JSON line per mutant; mutants already there are not run again
  tools/mutate.py --again FILE                 runs the survivors of a log again, e.g. at another level
  tools/mutate.py --lines COMMIT               the lines that were executed at a commit, moved along: no coverage is measured
  tools/mutate.py --aimed [--only REGEX]       the table test/mutants.csv: each feature's mutant against its own test

A row of the table may also change a scene, a list of a tool or a file of the Python package: see run_aimed. Rows whose
test needs MPI or Python are left out and named where build/mpi or build/python does not exist.
"""
import argparse
import collections
import concurrent.futures
import csv
import difflib
import filecmp
import functools
import glob
import hashlib
import importlib.util
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

import coverage
import test_units
from coverage import room_of
from test_units import ROOT

FOLDER = os.path.join(ROOT, "build", "mutate")
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DRB_BUILD_SHARED=OFF", "-DRB_INSTALL=OFF"]
TABLE = os.path.join(ROOT, "test", "mutants.csv")
EQUIVALENTS = os.path.join(ROOT, "test", "mutants-equivalent.csv")
# Builds that other targets make and only some rows of the table need.
MPI = os.path.join(ROOT, "build", "mpi")
PYTHON = os.path.join(ROOT, "build", "python")
# Two ranks have ghosts of each other. As root and with more ranks than cores only on request.
RANKS = ["env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_mpi_yield_when_idle=1",
         "mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"]
CORE = ("src/base/", "src/collision/", "src/dynamics/", "src/world/")
# These run the program as a child or wait for sockets: nothing of the core is seen only there.
LEFT_OUT = ("test_cli", "test_server")
# Where the tests of the program know its path.
CHILD = "test/cli/child.c"
# What the build with sanitizers checks, without its library: what is undefined ends the program.
CHECKS = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-fno-sanitize=null,alignment,object-size")
# Mutants that can go beyond an array.
INDEXING = ("index", "comparison", "constant", "operator")
LEAST_OF_A_ROOM = 8
LEAST_PERCENT = 95.0
LEAST_PERCENT_OF_A_ROOM = 90.0

# Calls whose arguments are not mutated: asserts, and what only words a message.
SILENT_CALLS = re.compile(r"\b(RB_ASSERT\w*|RB_VALIDATE\w*|_Static_assert|rbError_\w+|rbWorld_Log\w*|rbLog\w*|v?snprintf|fprintf|"
                          r"rb\w*_Describe\w*|rbSetting_Describe\w*|sizeof)\s*\(")
NUMBER = re.compile(r"(?<![\w.])(0x[0-9A-Fa-f]+|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)([uUlLfF]*)(?![\w.])")
SYMMETRIC = re.compile(r"\b(fmin|fmax|rbMin3|rbMax3|rbAdd|rbDot|rbDotQuat|rbDistance|rbMulEach|rbQuad_Min|rbQuad_Max|"
                       r"rbLength\(rbSub|rbLengthSquared\(rbSub)\($")
KINDS = ("operator", "comparison", "constant", "sign", "drop", "index", "swap", "negate")
TYPE_WORDS = ("const", "static", "struct", "enum", "union", "extern", "typedef", "return", "goto", "case", "default", "else", "do",
              "if", "for", "while", "switch", "inline", "unsigned", "int", "double", "bool", "char", "float", "size_t", "void")

Mutant = collections.namedtuple("Mutant", "path line kind begin end text")


# Sites

def blank(text):
    return re.sub(r"[^\n]", " ", text)


def closing(text, start, pair="()"):
    """The position of the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == pair[0]:
            depth += 1
        elif text[i] == pair[1]:
            depth -= 1
            if depth == 0:
                return i
    return -1


def code_only(text):
    """The text with comments, strings, preprocessor lines, asserts and messages blanked; positions stay."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])\'', lambda m: blank(m.group()), text, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: blank(m.group()), text, flags=re.MULTILINE)
    for match in list(SILENT_CALLS.finditer(text)):
        end = closing(text, match.end() - 1)
        if end > 0:
            text = text[:match.start()] + blank(text[match.start():end + 1]) + text[end + 1:]
    return text


def bodies(code):
    """The ranges of function bodies and of constant tables, the places where code is."""
    position = 0
    while True:
        start = code.find("{", position)
        if start < 0:
            return
        end = closing(code, start, "{}")
        if end < 0:
            return
        head = code[max(code.rfind(";", 0, start), code.rfind("}", 0, start)) + 1:start]
        if not re.search(r"\b(struct|enum|union)\b[^()]*$", head) and 'extern' not in head:
            yield start, end, head.rstrip().endswith(")")
        position = end + 1


def operators(code):
    swaps = {"+": "-", "-": "+", "*": "/", "/": "*", "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "&": "|",
             "|": "&", "<<": ">>", ">>": "<<", "%": "*"}
    for match in re.finditer(r"(?<=[\w)\]]) (\+=|-=|\*=|/=|&&|\|\||<<|>>|[-+*/&|%]) (?=[\w(\-!&*.])", code):
        operator = match.group(1)
        before = code[:match.start()].rsplit(None, 1)[-1]
        if operator in "*&" and re.fullmatch(r"rb\w+|double|int|char|void|bool|const|size_t|u?int\d+_t", before):
            continue
        yield match.start(1), match.end(1), swaps[operator]


def comparisons(code):
    """The opposite comparison; the neighboring one (< and <=) only between counts: where lengths and times are compared,
    equality happens to no input, and the mutant is equivalent."""
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
    neighbor = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    for match in re.finditer(r" (<=|>=|==|!=|<|>) ", code):
        yield match.start(1), match.end(1), opposite[match.group(1)]
        after = re.match(r"-?[\w.>\[\]-]*", code[match.end():]).group()
        if match.group(1) in neighbor and re.search(r"(?i)(count|capacity|end|size|^-?\d+u?|RB_[A-Z_]+)$", after):
            yield match.start(1), match.end(1), neighbor[match.group(1)]


def constants(code):
    for match in NUMBER.finditer(code):
        digits, suffix = match.groups()
        if digits.startswith("0x"):
            others = (hex(int(digits, 16) ^ 1),)
        elif re.search(r"[.eE]", digits):
            value = float(digits)
            others = ("0.0", f"({digits} + 1.0)", f"(-{digits})") if value != 0.0 else ("1.0",)
        else:
            value = int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)
            others = (str(value + 1), str(value - 1)) if value > 0 else ("1",)
        for other in others:
            yield match.start(), match.end(), other + (suffix if re.fullmatch(r"[\da-fx]+", other) else "")


def signs(code):
    for match in re.finditer(r"(?<=[=(,?:{] )-(?=[\w(])|(?<=[(\[{])-(?=[\w(])|(?<=return )-(?=[\w(])", code):
        yield match.start(), match.end(), ""
    for match in re.finditer(r"(?<![=<>!+\-*/&|^%])= ([^;={}\"]+);", code):
        if "?" not in match.group(1) and code[:match.start()].count("(") == code[:match.start()].count(")"):
            yield match.start(1), match.end(1), f"-({match.group(1)})"


def statements(code):
    """Whole statements that can be dropped: assignments, calls, break and continue."""
    depth = 0
    start = None
    for i, letter in enumerate(code):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == ";" and depth == 0:
            if start is not None:
                text = code[start:i].strip()
                word = re.match(r"\w+", text)
                declares = re.match(r"[\w\s]+?[\s*]+\w+(\[[^\]]*\])*\s*(=[^=]|,|$)", text) and re.match(r"\w+[\s*]+\*?\w", text)
                if word and not declares and "{" not in text and word.group() not in TYPE_WORDS:
                    first = start + len(code[start:i]) - len(code[start:i].lstrip())
                    yield first, i, blank(code[first:i]).rstrip(" ")
            start = i + 1
        elif letter in "{}" and depth == 0:
            start = i + 1


def indices(code):
    for match in re.finditer(r"\[(\w+)\]", code):
        if not match.group(1).isdigit() and not match.group(1).isupper():
            yield match.start(1), match.end(1), match.group(1) + " + 1"
    for match in re.finditer(r"(?<=\w) [-+] 1(?=[\]);,])", code):
        yield match.start(), match.end(), ""


def split_arguments(code, start, end):
    parts, depth, first = [], 0, start
    for i in range(start, end):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
        elif code[i] == "," and depth == 0:
            parts.append((first, i))
            first = i + 1
    parts.append((first, end))
    return parts


def swaps(code):
    for match in re.finditer(r"\b(?!if\b|for\b|while\b|switch\b|return\b)\w+\(", code):
        end = closing(code, match.end() - 1)
        parts = split_arguments(code, match.end(), end) if end > 0 else []
        for (a, b), (c, d) in zip(parts, parts[1:]):
            one, two = code[a:b].strip(), code[c:d].strip()
            if one and two and one != two:
                yield a, d, f"{two}, {one}"


def negations(code):
    for match in re.finditer(r"\b(if|while) \(", code):
        end = closing(code, match.end() - 1)
        if end > 0 and code[match.end():end].strip():
            yield match.end(), end, f"!({code[match.end():end]})"


FINDERS = dict(zip(KINDS, (operators, comparisons, constants, signs, statements, indices, swaps, negations)))


def name_before(code, start):
    """The name of the function whose body starts here."""
    head = code[max(code.rfind(";", 0, start), code.rfind("}", 0, start)) + 1:start]
    match = re.search(r"\b(\w+)\s*\(", head)
    return match.group(1) if match else ""


@functools.lru_cache(maxsize=None)
def functions_of_asserts():
    """Functions that only asserts call, or only such functions: release builds never run them."""
    asserted, users = set(), collections.defaultdict(set)
    for top, _, names in (entry for folder in ("src", "lab", "app") for entry in os.walk(os.path.join(ROOT, folder))):
        for name in names:
            if not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(top, name), encoding="utf-8") as file:
                text = file.read()
            code = code_only(text)
            for match in re.finditer(r"\bRB_(?:ASSERT|VALIDATE)\s*\(", text):
                asserted |= set(re.findall(r"\b(\w+)\s*\(", text[match.end():closing(text, match.end() - 1)]))
            for start, end, is_function in bodies(code):
                user = name_before(code, start) if is_function else "table"
                for word in set(re.findall(r"\b[a-z]\w+\b", code[start:end])) - {user}:
                    users[word].add(user)
    found = {name for name in asserted if name not in users}
    while True:
        more = {name for name, callers in users.items() if callers <= found} - found
        if not more:
            return found
        found |= more


@functools.lru_cache(maxsize=None)
def read_source(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def inline_functions():
    """Every function in a header of the core, with the text of its body."""
    found = []
    for path in files_of_core("", None):
        if path.endswith(".h"):
            code = code_only(read_source(path))
            found += [(name_before(code, start), code[start:end]) for start, end, is_function in bodies(code) if is_function]
    return found


def callers_in(text, place):
    """The name of the function at a place of a header, and of all inline functions that call it, as a pattern."""
    code = code_only(text)
    names = {name_before(code, start) for start, end, _ in bodies(code) if start <= place <= end}
    while True:
        pattern = re.compile(r"\b(?:" + "|".join(sorted(names) or ["$never"]) + r")\b")
        more = {name for name, body in inline_functions() if name not in names and pattern.search(body)}
        if not more:
            return pattern
        names |= more


def sites_of(path):
    """All mutants of a file, by kind."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    code = code_only(text)
    found = {kind: [] for kind in KINDS}
    for start, end, is_function in bodies(code):
        if is_function and name_before(code, start) in functions_of_asserts():
            continue
        part = code[start + 1:end]
        for kind in KINDS if is_function else ("constant", "sign"):
            for a, b, other in FINDERS[kind](part):
                a, b = a + start + 1, b + start + 1
                # A silent call inside was blanked: leave the site alone.
                if code[a:b] == text[a:b] or kind == "drop":
                    other = other if kind != "drop" else blank(text[a:b])
                    found[kind].append(Mutant(path, text.count("\n", 0, a) + 1, kind, a, b, other))
    return found


def files_of_core(pattern, file):
    names = []
    for top in CORE:
        for path, _, files in os.walk(os.path.join(ROOT, top)):
            for name in files:
                relative = os.path.relpath(os.path.join(path, name), ROOT)
                if name.endswith((".c", ".h")) and re.search(pattern, room_of(relative)) and (not file or relative == file):
                    names.append(relative)
    return sorted(names)


def choose(files, count, seed):
    """Mutants in proportion to the sites of a room, at least a few in each; kinds alike."""
    rooms = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in files:
        for kind, mutants in sites_of(path).items():
            rooms[room_of(path)][kind] += mutants
    sizes = {room: sum(len(mutants) for mutants in kinds.values()) for room, kinds in rooms.items()}
    sizes = {room: size for room, size in sizes.items() if size}
    total = sum(sizes.values())
    if not total:
        raise SystemExit("mutate: no file of the core matches --room and --file, or none has code")
    queues = {}
    for room in sorted(sizes):
        # Each room has its own sequence, so that a run of one room repeats the mutants of a run of all.
        generator = random.Random(f"{seed} {room}")
        share = max(min(LEAST_OF_A_ROOM, count // len(sizes)), count * sizes[room] // total)
        # Some mutants will not compile or be equivalent, so more are drawn than are wanted.
        drawn, kinds = [], {kind: list(mutants) for kind, mutants in rooms[room].items() if mutants}
        while kinds and len(drawn) < 3 * share + 10:
            kind = generator.choice(sorted(kinds))
            drawn.append(kinds[kind].pop(generator.randrange(len(kinds[kind]))))
            if not kinds[kind]:
                del kinds[kind]
        queues[room] = (share, drawn)
    return queues


def mutate_text(mutant):
    with open(os.path.join(ROOT, mutant.path), encoding="utf-8") as file:
        text = file.read()
    return text, text[:mutant.begin] + mutant.text + text[mutant.end:]


@functools.lru_cache(maxsize=None)
def known_equivalents():
    """Mutants that were argued to be equivalent: file, changed line before and after, why."""
    with open(EQUIVALENTS, encoding="utf-8", newline="") as file:
        return {(row[0], row[1].strip(), row[2].strip()) for row in csv.reader(file) if row and not row[0].startswith("#")}


def is_known_equivalent(record):
    """Whether the changed line is in the list; several lines are written with spaces between them."""
    lines = record["diff"].splitlines()
    old = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    new = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return (record["path"], old, new) in known_equivalents()


def diff_of(path, old, new):
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, path, n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def enlarges_array(mutant, text):
    """Whether a local array without initializer got more elements than are used."""
    line = text[text.rfind("\n", 0, mutant.begin) + 1:text.find("\n", mutant.end)]
    old, name = text[mutant.begin:mutant.end], re.search(r"\b(\w+)\[$", text[:mutant.begin])
    return (mutant.kind == "constant" and name and text[mutant.end] == "]" and old.isdigit() and mutant.text.isdigit() and
            int(mutant.text) > int(old) and re.fullmatch(r"\s+(const |static )?(?!return)\w+ [\w\s,*\[\]+-]+;[^;]*", line) is not None and
            not re.search(rf"\bsizeof\W+{name.group(1)}\b", text))


def changes_nothing(mutant, text):
    """Whether arguments of a function that does not mind were swapped, zero was negated, an array got longer, or a
    function words a message."""
    if (mutant.kind == "swap" and SYMMETRIC.search(text[:mutant.begin]) or re.fullmatch(r"-\(0(\.0)?\)", mutant.text) or
            enlarges_array(mutant, text)):
        return True
    code = code_only(text)
    heads = (text[code.rfind("}", 0, start) + 1:start] for start, end, _ in bodies(code) if start <= mutant.begin <= end)
    return any(re.search(r"\w+_Describe\w*\(", head) for head in heads)


# Building

class Builder:
    """Compiles mutated files and links test programs with them."""

    def __init__(self, folder, jobs):
        test_units.configure(folder, OPTIONS)
        self.folder = folder
        self.programs = test_units.test_programs(folder)
        self.jobs = jobs
        with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as file:
            entries = json.load(file)
        self.commands = collections.defaultdict(list)
        for entry in entries:
            words = shlex.split(entry["command"])
            if os.path.basename(words[0]) == "ccache":
                words = words[1:]
            self.commands[os.path.relpath(entry["file"], ROOT)].append(words)
        self.links = {}
        self.users = None
        self.mpi = None
        self.lock = threading.Lock()

    def build(self, targets):
        test_units.build(self.folder, targets, self.jobs)

    def of_mpi(self):
        """The builder of the tests that need MPI."""
        with self.lock:
            if self.mpi is None:
                self.mpi = Builder(MPI, self.jobs)
                self.mpi.build(["test_cluster"])
        return self.mpi

    def object_of(self, words):
        return words[words.index("-o") + 1]

    def replace_child(self, objects, work):
        """Links the program with the objects; returns the object that makes the tests start this one."""
        program = os.path.join(work, "rattleback")
        self.link("rattleback", objects, program)
        output = os.path.join(work, "child.o")
        if not self.compile(CHILD, os.path.join(ROOT, CHILD), output, options=["-URB_PROGRAM", f'-DRB_PROGRAM="{program}"']):
            raise RuntimeError(f"{CHILD} does not compile with RB_PROGRAM={program}")
        return {CHILD: output}

    def compile(self, path, source, output, overlay=None, options=()):
        """Compiles the text at source in place of the file path; returns whether it compiles."""
        words = list(self.commands[path][0])
        words[words.index("-o") + 1] = output
        words[words.index("-c") + 1] = source
        # Not -w, which silences these as well.
        extra = ["-Wno-error", "-Werror=incompatible-pointer-types", "-Werror=discarded-qualifiers", "-Werror=int-conversion",
                 "-Werror=implicit-function-declaration",
                 "-iquote", os.path.join(ROOT, os.path.dirname(path))]
        if overlay:
            words[1:1] = [f"-I{overlay}/{folder}" for folder in ("", "include", "src", "app")]
        return subprocess.run([*words, *extra, *options], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def users_of(self, header):
        """The files of the libraries that include a header, in the order of the build."""
        with self.lock:
            if self.users is None:
                self.users = collections.defaultdict(list)
                path = None
                for line in test_units.run_quietly(["ninja", "-C", self.folder, "-t", "deps"]).splitlines():
                    match = re.match(r"CMakeFiles/[^:]*\.dir/((?:src|lab|app|test|validation)/[^:]*\.c)\.o: #deps", line)
                    if match:
                        path = match.group(1)
                    elif not line.startswith(" "):
                        path = None
                    elif path:
                        name = os.path.relpath(os.path.normpath(os.path.join(self.folder, line.strip())), ROOT)
                        if path not in self.users[name]:
                            self.users[name].append(path)
        return self.users[header]

    def make_objects(self, path, text, work, also=(), options=()):
        """The objects of a mutated file: of itself, or of all of the core that call what was mutated in one of its
        headers. A public header counts for the files in also only, the test. None: does not compile,
        empty: the same object code as before. With options: compiled with these as well."""
        overlay = os.path.join(work, "tree")
        source = os.path.join(overlay, path)
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        if path.endswith(".c"):
            todo = [(path, source)]
        else:
            old = read_source(path)
            place = next(i for i, letter in enumerate(old) if text[i:i + 1] != letter)
            pattern = callers_in(old, place)
            wanted = [user for user in self.users_of(path)
                      if (path.startswith(CORE) and user.startswith(CORE) or user in also) and pattern.search(read_source(user))]
            todo = [(user, os.path.join(ROOT, user)) for user in wanted]
        objects = {}
        for user, file in todo:
            output = os.path.join(work, user.replace("/", "+") + ".o")
            if not self.compile(user, file, output, None if path.endswith(".c") else overlay, options):
                return None
            if not filecmp.cmp(output, os.path.join(self.folder, self.object_of(self.commands[user][0])), shallow=False):
                objects[user] = output
        return objects

    def link(self, program, objects, output):
        """Links a program with the mutated objects before the libraries, or in place of its own."""
        with self.lock:
            if program not in self.links:
                line = test_units.run_quietly(["ninja", "-C", self.folder, "-t", "commands", program]).splitlines()[-1]
                self.links[program] = shlex.split(line.split("&&")[1])
        words = list(self.links[program])
        words[words.index("-o") + 1] = output
        added = []
        for path, file in objects.items():
            own = [i for i, word in enumerate(words) if word.endswith(f".dir/{path}.o")]
            for i in own:
                words[i] = file
            if not own:
                added.append(file)
        position = words.index("-o")
        words[position:position] = added
        result = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"linking {program}: {result.stdout[-1000:]}")


# Running

class Clock:
    """What each unit costs in build/mutate at a level. A time of an earlier build will do; that a unit passes without a
    mutant is asked again for every build, when it fails with one."""

    def __init__(self, level):
        self.level = level
        self.store = test_units.Store(os.path.join(FOLDER, f"times-{level}.json"))
        self.groups = collections.defaultdict(list)
        self.lock = threading.Lock()

    def measure(self, units, jobs):
        """Runs the units whose time is not known, and those that failed."""
        for program, group in units:
            self.groups[program].append(group)
        unknown = [unit for unit in units if self.store.data.get(" ".join(unit), {"failure": "unknown"})["failure"]]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda unit: self.passes(*unit), unknown))

    def passes(self, program, group):
        """Whether a unit passes without a mutant; if not, it cannot tell anything."""
        name = f"{program} {group}"
        stamp = test_units.stamp_of(FOLDER, program, group, self.groups[program])
        if self.store.data.get(name, {}).get("stamp") != stamp:
            outcome = test_units.run_unit(os.path.join(FOLDER, program), group, self.level)
            if outcome.failure:
                print(f"mutate: {name} fails without a mutant and is not used: {outcome.failure}", file=sys.stderr)
            with self.lock:
                self.store.data[name] = {"stamp": stamp, "seconds": outcome.seconds, "failure": outcome.failure}
                self.store.save()
        return not self.store.data[name]["failure"]

    def seconds(self, program, group):
        entry = self.store.data[f"{program} {group}"]
        return None if entry["failure"] else entry["seconds"]


def cpu_limit(seconds):
    return 3.0 + 4.0 * seconds


class Hunt:
    """Runs mutants against the units that execute their lines."""

    def __init__(self, builder, arguments):
        self.builder = builder
        self.budget = arguments.budget
        self.level = arguments.level
        self.clock = Clock(self.level)
        programs = [name for name in builder.programs if name not in LEFT_OUT and re.search(arguments.programs, name)]
        lines = self.lines_of_units(programs, arguments.lines)
        builder.build(programs)
        names = [f"{program} {group}" for program in programs for group in test_units.groups_of(FOLDER, program)]
        # None: not measured, so it may execute anything.
        self.units = {tuple(name.split()): lines.get(name) for name in names
                      if not (arguments.without and re.search(arguments.without, name))}
        self.clock.measure(sorted(self.units), builder.jobs)

    def lines_of_units(self, programs, commit):
        """Maps a unit to the bits of the lines that it executes in each file, as measured now or at a commit. They are
        collected at the level quick: more random cases hardly reach more lines."""
        collector = coverage.Collector("quick", self.builder.jobs)
        if not commit:
            units, _ = collector.collect(coverage.prepare("^(" + "|".join(programs) + ")$", self.builder.jobs))
            return {name: {path: int(bits, 16) for path, bits in unit["lines"].items()} for name, unit in units.items()}
        # A test that changed since may execute other lines.
        changed = test_units.run_quietly(["git", "diff", "--name-only", commit, "--", "test"]).split()
        changed = {os.path.splitext(os.path.basename(path))[0] for path in changed}
        units = {name: unit for program in programs for name, unit in collector.store_of(program).data["units"].items()
                 if name.split()[1] not in changed}
        moves = {path: coverage.moves_since(commit, path) for path in files_of_core("", None)}
        return {name: {path: coverage.move_lines(int(bits, 16), moves[path]) for path, bits in unit["lines"].items() if path in moves}
                for name, unit in units.items()}

    def units_that_execute(self, path, first, last):
        wanted = (2 << last) - (1 << first)
        return [(seconds, unit) for unit, lines in self.units.items() if lines is not None and lines.get(path, 0) & wanted
                for seconds in [self.clock.seconds(*unit)] if seconds is not None]

    def units_for(self, mutant, text):
        """The units that execute the lines of the mutant, cheapest first. Optimization attributes some lines to others:
        where no unit executes the lines, all that execute the function; a table is read by whoever executes its room."""
        last = mutant.line + text[mutant.begin:mutant.end].count("\n")
        found = self.units_that_execute(mutant.path, mutant.line, last)
        if not found:
            for start, end, is_function in bodies(code_only(text)):
                if start <= mutant.begin <= end and is_function:
                    found = self.units_that_execute(mutant.path, text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1)
                elif start <= mutant.begin <= end:
                    room = os.path.dirname(mutant.path)
                    found = [(self.clock.seconds(*unit), unit) for unit, lines in self.units.items()
                             if lines is not None and any(os.path.dirname(path) == room for path in lines)
                             and self.clock.seconds(*unit) is not None]
        found += [(self.clock.seconds(*unit), unit) for unit, lines in self.units.items()
                  if lines is None and self.clock.seconds(*unit) is not None]
        # Tests of the room itself, and those that compare every bit, notice more for their time than others do; those
        # whose lines are not known notice less.
        own = f"test_{os.path.basename(room_of(mutant.path))}"

        def weight(unit):
            return 0.3 if unit[0] == own or unit[1].startswith("golden_") else 1.0 if self.units[unit] is not None else 3.0
        return [unit for _, unit in sorted((weight(unit) * seconds, unit) for seconds, unit in found)]

    def judge(self, objects, units, work, seconds):
        """Who notices the objects and how, or None; and how many units ran within the budget."""
        linked = {}
        spent = 0.0
        count = 0
        for program, group in units:
            usual = self.clock.seconds(program, group)
            if usual is None or spent + usual > self.budget:
                continue
            if program not in linked:
                linked[program] = os.path.join(work, program)
                started = time.monotonic()
                self.builder.link(program, objects, linked[program])
                seconds["link"] += time.monotonic() - started
            started = time.monotonic()
            outcome = test_units.run_unit(linked[program], group, self.level, cpu_limit(usual))
            seconds["test"] += time.monotonic() - started
            spent += outcome.seconds
            count += 1
            if outcome.failure and self.clock.passes(program, group):
                return {"by": f"{program} {group}", "how": outcome.failure, "test": test_units.first_failure(outcome.output)}, count
        return None, count

    def run(self, mutant):
        """The record of a mutant: killed, survived, equivalent or invalid."""
        old, new = mutate_text(mutant)
        record = dict(mutant._asdict(), room=room_of(mutant.path), level=self.level, diff=diff_of(mutant.path, old, new))
        name = hashlib.sha1(repr(mutant).encode()).hexdigest()[:12]
        work = os.path.join(FOLDER, "work", name)
        os.makedirs(work, exist_ok=True)
        started = time.monotonic()
        try:
            objects = {} if changes_nothing(mutant, old) or is_known_equivalent(record) else self.builder.make_objects(mutant.path, new, work)
            # Where the time goes, by the clock.
            record["seconds"] = seconds = {"compile": time.monotonic() - started, "link": 0.0, "test": 0.0}
            if not objects:
                return dict(record, state="invalid" if objects is None else "equivalent")
            units = self.units_for(mutant, old)
            killed, count = self.judge(objects, units, work, seconds)
            if not killed and mutant.kind in INDEXING and mutant.path.endswith(".c"):
                # the same with checks, if the file passes them as it is
                checked = self.builder.make_objects(mutant.path, new, work, options=CHECKS)
                killed, _ = self.judge(checked or {}, units, work, seconds)
                plain = killed and self.builder.make_objects(mutant.path, old, work, options=CHECKS)
                if killed and self.judge(plain, [tuple(killed["by"].split())], work, seconds)[0]:
                    killed = None
                if killed:
                    killed["how"] = f"sanitizer: {killed['how']}"
            return dict(record, state="killed", **killed) if killed else dict(record, state="survived", units=count)
        finally:
            shutil.rmtree(work, ignore_errors=True)


class Log:
    """One JSON line per mutant, kept between runs."""

    def __init__(self, path):
        self.path = path
        self.records = {}
        self.lock = threading.Lock()
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    self.records[self.key(record)] = record

    @staticmethod
    def key(record):
        return f"{record['path']}:{record['begin']}:{record['end']}:{record['text']}"

    def find(self, mutant):
        return self.records.get(self.key(mutant._asdict()))

    def add(self, record):
        with self.lock:
            self.records[self.key(record)] = record
            if self.path:
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")


def print_record(record):
    if record["state"] == "killed":
        what = f"killed by {record['by']} ({record['test'] or record['how']})"
    else:
        what = f"survived {record['units']} groups"
    print(f"{record['path']}:{record['line']}: {record['kind']}: {what}", flush=True)


def print_result(records):
    """Kills by room, then the survivors. Returns whether there are enough kills."""
    counts = collections.defaultdict(lambda: [0, 0])
    for record in records:
        counts[record["room"]][0] += record["state"] == "killed"
        counts[record["room"]][1] += 1
    enough = True
    print("| room | mutants | killed | percent |\n|---|---|---|---|")
    for room in sorted(counts):
        killed, total = counts[room]
        enough = enough and 100.0 * killed >= LEAST_PERCENT_OF_A_ROOM * total
        print(f"| `{room}` | {total} | {killed} | {100.0 * killed / total:.1f} |")
    killed, total = (sum(count[i] for count in counts.values()) for i in (0, 1))
    print(f"| **all** | {total} | {killed} | {100.0 * killed / max(total, 1):.1f} |")
    for record in records:
        if record["state"] == "survived":
            print(f"\nsurvived {record['units']} groups: {record['path']}:{record['line']} ({record['kind']})\n{record['diff']}")
    return enough and 100.0 * killed >= LEAST_PERCENT * total


def mutants_of(arguments):
    if arguments.again:
        records = Log(arguments.again).records.values()
        fields = Mutant._fields
        mutants = [Mutant(**{name: record[name] for name in fields}) for record in records if record["state"] == "survived"]
        return {room: (len(drawn), drawn) for room in sorted({room_of(m.path) for m in mutants})
                for drawn in [[m for m in mutants if room_of(m.path) == room]]}
    return choose(files_of_core(arguments.room, arguments.file), arguments.count, arguments.seed)


def hunt(arguments):
    builder = Builder(FOLDER, arguments.jobs)
    hunter = Hunt(builder, arguments)
    log = Log(arguments.log)
    queues = mutants_of(arguments)
    records = []

    def next_of(room):
        """Runs mutants of a room until one counts."""
        while True:
            with log.lock:
                share, drawn = queues[room]
                if not drawn:
                    return None
                mutant = drawn.pop(0)
            record = log.find(mutant)
            if record is None:
                record = hunter.run(mutant)
                log.add(record)
            if record["state"] in ("killed", "survived") and not is_known_equivalent(record):
                print_record(record)
                return record

    # Rooms in turn, so that an interrupted run has seen all of them.
    turns = sorted((i / share, room) for room, (share, _) in queues.items() for i in range(share))
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        records = [record for record in pool.map(next_of, [room for _, room in turns]) if record]
    print(f"\n{len(records)} mutants in {time.monotonic() - started:.0f} s, seed {arguments.seed}, level {arguments.level}")
    return print_result(records)


# The table of aimed mutants

Aimed = collections.namedtuple("Aimed", "feature path find replace test name")


def read_table(pattern):
    """Rows of test/mutants.csv: feature, file, text to find, replacement, test file, test function or empty for all of them."""
    with open(TABLE, encoding="utf-8", newline="") as file:
        rows = [Aimed(*row) for row in csv.reader(file) if row and not row[0].startswith("#")][1:]
    for row in rows:
        with open(os.path.join(ROOT, row.path), encoding="utf-8") as file:
            count = file.read().count(row.find)
        if count != 1:
            raise SystemExit(f"{TABLE}: {row.feature}: '{row.find}' occurs {count} times in {row.path}; the text must be there once")
    return [row for row in rows if re.search(pattern, row.feature)]


def programs_with(builder, test):
    """The program whose objects include the test file."""
    for words in builder.commands.get(test, ()):
        match = re.match(r"CMakeFiles/(\w+)\.dir/", builder.object_of(words))
        if match:
            return match.group(1)
    raise SystemExit(f"mutate: no program is built from {test}")


def run_linked(builder, row, level, text, work):
    """A mutant in C: the test is linked with it. Tests of the program start a program that is linked with it."""
    program = programs_with(builder, row.test)
    group = os.path.splitext(os.path.basename(row.test))[0]
    launcher = RANKS if program == "test_cluster" else []
    whole = test_units.run_unit(os.path.join(builder.folder, program), group, level, test=row.name or None, launcher=launcher)
    if whole.failure:
        return f"the test fails without the mutant: {whole.output[-300:]}"
    objects = builder.make_objects(row.path, text.replace(row.find, row.replace), work, (row.test,))
    if not objects:
        return "the mutant does not compile" if objects is None else "the mutant changes no object code"
    if program == "test_cli":
        child = builder.replace_child(objects, work)
        objects = {path: file for path, file in objects.items() if not path.startswith(("app/", "validation/"))}
        objects.update(child)
    mutated = os.path.join(work, program)
    builder.link(program, objects, mutated)
    outcome = test_units.run_unit(mutated, group, level, cpu_limit(whole.seconds), test=row.name or None, launcher=launcher)
    return None if outcome.failure else "the mutant survived"


def judge(run):
    """What run(True), with the mutant, and run(False) say about it."""
    if run(False) != 0:
        return "the test fails without the mutant"
    return None if run(True) != 0 else "the mutant survived"


def run_scene(builder, row, level, text, work):
    """A mutant of a scene: the program finds the folder of scenes by a variable."""
    shutil.copytree(os.path.join(ROOT, "scenes"), os.path.join(work, "scenes"))
    group = os.path.splitext(os.path.basename(row.test))[0]

    def run(is_mutated):
        with open(os.path.join(work, row.path), "w", encoding="utf-8") as file:
            file.write(text.replace(row.find, row.replace) if is_mutated else text)
        outcome = test_units.run_unit(os.path.join(builder.folder, "test_cli"), group, level, test=row.name or None,
                                      environment={"RATTLEBACK_SCENES": os.path.join(work, "scenes")})
        return 1 if outcome.failure else 0
    return judge(run)


def run_tool(builder, row, level, text, work):
    """A mutant of a file that a tool reads: the tool runs in a tree of links in which only tools/ is a copy."""
    shutil.copytree(os.path.join(ROOT, "tools"), os.path.join(work, "tools"))
    for name in ("app", "bench", "include", "lab", "src", "test", "validation", "verify"):
        os.symlink(os.path.join(ROOT, name), os.path.join(work, name))

    def run(is_mutated):
        with open(os.path.join(work, row.path), "w", encoding="utf-8") as file:
            file.write(text.replace(row.find, row.replace) if is_mutated else text)
        return subprocess.run([sys.executable, os.path.join(work, row.test)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    return judge(run)


def run_python(builder, row, level, text, work):
    """A mutant of the Python package: a copy of what make test-python installed."""
    installed = glob.glob(os.path.join(PYTHON, "lib", "python3*", "site-packages", "rattleback"))[0]
    shutil.copytree(installed, os.path.join(work, "rattleback"))
    # The program that embeds Python finds the package next to itself.
    release = os.path.join(ROOT, "build", "release")
    share = os.path.join(work, "bin", "share", "rattleback")
    os.makedirs(share)
    shutil.copy(os.path.join(release, "python", "rattleback"), os.path.join(work, "bin"))
    shutil.copytree(os.path.join(ROOT, "python", "rattleback"), os.path.join(share, "python", "rattleback"))
    os.symlink(os.path.join(ROOT, "scenes"), os.path.join(share, "scenes"))
    # It embeds the interpreter of the system, which finds its modules from the path.
    variables = dict(os.environ, PATH=os.defpath, PYTHONPATH=work, PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="Agg",
                     RATTLEBACK_PROGRAM=os.path.join(release, "rattleback"),
                     RATTLEBACK_EMBEDDED=os.path.join(work, "bin", "rattleback"))

    def run(is_mutated):
        for top in (work, os.path.join(share, "python")):
            with open(os.path.join(top, os.path.relpath(row.path, "python")), "w", encoding="utf-8") as file:
                file.write(text.replace(row.find, row.replace) if is_mutated else text)
        command = [os.path.join(PYTHON, "bin", "python"), "-m", "pytest", "-q", "-x", "-c", os.path.join(ROOT, "python", "pyproject.toml"),
                   "-p", "no:cacheprovider", os.path.join(ROOT, row.test) + (f"::{row.name}" if row.name else "")]
        return subprocess.run(command, cwd=work, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    return judge(run)


def missing_for(row):
    """The folder that the test of a row needs and that is not there, or nothing."""
    needed = MPI if row.test.startswith("test/cluster/") else PYTHON if row.test.startswith("python/") else ROOT
    return None if os.path.exists(needed) else os.path.relpath(needed, ROOT)


def run_aimed(builder, row, level):
    """Whether the named test passes as it is and fails with the mutant; the text says what went wrong."""
    with open(os.path.join(ROOT, row.path), encoding="utf-8") as file:
        text = file.read()
    if row.test.startswith("test/cluster/"):
        builder = builder.of_mpi()
    way = (run_python if row.test.startswith("python/") else run_tool if row.test.startswith("tools/")
           else run_scene if row.path.startswith("scenes/") else run_linked)
    work = os.path.join(FOLDER, "work", "aimed-" + hashlib.sha1(repr(row).encode()).hexdigest()[:12])
    os.makedirs(work, exist_ok=True)
    try:
        return way(builder, row, level, text, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def aim(arguments):
    """Runs the table; with --part I/N only every Nth row, beginning with the Ith."""
    builder = Builder(os.path.join(ROOT, arguments.build), arguments.jobs)
    rows = read_table(arguments.only)
    if arguments.part:
        first, step = (int(word) for word in arguments.part.split("/"))
        rows = rows[first % step::step]
    left_out = [row for row in rows if missing_for(row)]
    rows = [row for row in rows if not missing_for(row)]
    linked = [row for row in rows if row.test.endswith(".c") and not row.test.startswith("test/cluster/")]
    builder.build(sorted({programs_with(builder, row.test) for row in linked}))
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for row, problem in zip(rows, pool.map(lambda row: run_aimed(builder, row, arguments.level), rows)):
            if problem:
                failures += 1
                print(f"{row.feature}: {row.path}: {row.find!r} -> {row.replace!r}: {row.test} {row.name}: {problem}", flush=True)
    missing = [] if arguments.part or arguments.only else features_without(read_table(""))
    print(f"aimed: {len(rows) - failures} of {len(rows)} mutants killed by the test of their feature")
    if left_out:
        print("left out: " + ", ".join(f"{row.feature} (no {missing_for(row)})" for row in left_out))
    if missing:
        print(f"{len(missing)} features without a mutant: {' '.join(missing)}")
    return failures == 0


def features_without(rows):
    """The features that are done and have no row. trace.py is loaded by its path: Python has a module of that name."""
    spec = importlib.util.spec_from_file_location("rb_trace", os.path.join(ROOT, "tools", "trace.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    named = {row.feature for row in rows}
    return [row.id for row in module.read_rows() if row.state == "done" and row.id not in named]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300, help="how many mutants that count")
    parser.add_argument("--room", default="", metavar="REGEX", help="only rooms that match, e.g. geometry")
    parser.add_argument("--file", help="only this file")
    parser.add_argument("--level", choices=test_units.LEVELS, default="quick", help="how many random cases")
    parser.add_argument("--programs", default="", metavar="REGEX", help="only these test programs")
    parser.add_argument("--without", default="", metavar="REGEX", help="leave out test groups that match, e.g. golden_")
    parser.add_argument("--budget", type=float, default=120.0, metavar="SECONDS",
                        help="processor time of the tests of a mutant; groups that would exceed it do not run")
    parser.add_argument("--lines", metavar="COMMIT", help="executed lines as coverage.py measured them at this commit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", help="file to keep the results in")
    parser.add_argument("--again", metavar="LOG", help="run the survivors of this log again")
    parser.add_argument("--list", action="store_true", help="only count the possible mutants")
    parser.add_argument("--aimed", action="store_true", help="the table test/mutants.csv")
    parser.add_argument("--only", default="", metavar="REGEX", help="with --aimed: only these features")
    parser.add_argument("--build", default="build/mutate", metavar="FOLDER", help="with --aimed: a build directory to use as it is")
    parser.add_argument("--part", metavar="I/N", help="with --aimed: every Nth row, beginning with the Ith")
    arguments = parser.parse_args()
    if arguments.list:
        for path in files_of_core(arguments.room, arguments.file):
            print(path, " ".join(f"{kind} {len(mutants)}" for kind, mutants in sites_of(path).items()))
        return 0
    return 0 if (aim if arguments.aimed else hunt)(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
