#!/usr/bin/env python3
"""Counts the lines of C by room and keeps the table of docs/architecture.md up to date.

  tools/count_lines.py          prints the table
  tools/count_lines.py --fix    writes it between the markers of docs/architecture.md

The rooms and their order are those of tools/layers.txt. A line is code, comment or blank; a line with code and a
comment is code.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/architecture.md"
BEGIN, END = "<!-- rooms: tools/count_lines.py --fix -->", "<!-- end of rooms -->"
CORE = ("src/base", "src/collision", "src/dynamics", "src/world")
CONTENT = {
    "src/base/core": "memory, arrays, ids, names, hashing, status and errors",
    "src/base/math": "own elementary and elliptic functions, small algebra, ODEs, roots",
    "src/collision/geometry": "shapes, meshes with their trees, mass properties, rays at every shape",
    "src/collision/bounds": "bounding volumes and hierarchies",
    "src/collision/distance": "distance searches over trees",
    "src/collision/convex": "support mappings, GJK, EPA",
    "src/collision/narrowphase": "closed forms, the table of pairs, manifolds, mesh contacts",
    "src/collision/broadphase": "which boxes overlap",
    "src/dynamics/motion": "free flight, integrators, prescribed paths",
    "src/dynamics/sweep": "when two bodies can meet: bounds and exact sweeps",
    "src/dynamics/forces": "the table of forces",
    "src/dynamics/constraints": "the row format of joints, and mechanisms",
    "src/dynamics/impact": "laws of impact, one contact and several",
    "src/dynamics/joints": "the table of joints, springs, motors",
    "src/dynamics/solvers": "direct and tree solvers, corrections",
    "src/dynamics/contact": "contacts in steps: finding, caching, solving, collisions, islands",
    "src/dynamics/engines": "`event/` and `step/`: what happens next, and what follows",
    "verify": "checks certificates; shares nothing with the rest",
    "src/world": "the public objects: world, bodies, ledger, journal, snapshot, queries",
    "src/cluster": "domains, ghosts, migration over MPI",
    "src/io/scene": "reads scenes and meshes",
    "src/io/output": "writes recordings, CSV, VTK, plots",
    "src/io/module": "loads modules and hands them the tables",
    "lab/math": "small algebra of the laboratory",
    "lab/bounds": "bounding volumes and hierarchies",
    "lab/distance": "traversals of these hierarchies",
    "lab/convex": "MPR and the feature walk",
    "lab/broadphase": "sweeps and coherent hashing",
    "lab/contact": "penalty contact",
    "lab/rays": "contact prediction by rays, frames, swept boxes",
    "lab/events": "loops over pairs and the ray detector for the event engine",
    "lab/impact": "impact with sliding integrated over the velocity",
    "lab/joints": "penalty, multipliers, reduced coordinates",
    "lab": "registers the rows of the laboratory",
    "app/laboratory": "what scenes and verbs need of the laboratory",
    "app/pairs": "pair files of `distance`",
    "app/render": "the software renderer, PNG and video",
    "app/session": "a simulation under user control, its store and its messages",
    "app/browser": "the engine as a WebAssembly module, and its loader",
    "app/server": "HTTP and WebSocket server of the viewer",
    "validation": "cases with known truth",
    "bench": "benchmarks, and adapters to other libraries",
    "app/cli": "the program, one file per verb",
    "app/python": "the interpreter of Python inside the program, for modules that are scripts",
}
HEAD = "| room | files | code | comments | blank | lines | content |\n|---|---|---|---|---|---|---|\n"


def read_rooms():
    with open(os.path.join(ROOT, "tools/layers.txt"), encoding="utf-8") as file:
        words = [line.split("#")[0].split() for line in file]
    # Entries of single files order the files inside a room; they are not rooms.
    return [line[0] for line in words if line and os.path.isdir(os.path.join(ROOT, line[0]))]


def c_files(folder):
    for path, folders, names in os.walk(os.path.join(ROOT, folder)):
        folders[:] = [name for name in folders if name != "node_modules"]
        for name in names:
            if name.endswith((".c", ".h", ".inc")):
                yield os.path.join(path, name)


def count_file(path):
    """Lines of code, of comments, and blank ones."""
    code = comments = blank = 0
    is_comment = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            text = line.strip()
            if is_comment or text.startswith(("//", "/*")):
                comments += 1
                is_comment = (is_comment or text.startswith("/*")) and "*/" not in text
            elif text:
                code += 1
            else:
                blank += 1
    return code, comments, blank


def count_rooms():
    """Room -> [files, code, comments, blank]; a file belongs to the innermost room that contains it."""
    rooms = read_rooms()
    counts = {room: [0, 0, 0, 0] for room in rooms}
    for room in rooms:
        for path in c_files(room):
            folder = os.path.relpath(os.path.dirname(path), ROOT)
            owner = max((other for other in rooms if folder == other or folder.startswith(other + "/")), key=len)
            if owner == room:
                counts[room] = [a + b for a, b in zip(counts[room], (1, *count_file(path)))]
    return counts


def add_up(counts, folders):
    rooms = [room for room in counts if room.startswith(folders)]
    return [sum(values) for values in zip(*(counts[room] for room in rooms))]


def format_row(name, numbers, content):
    cells = [f"{number:,}" for number in (*numbers, sum(numbers[1:]))]
    return f"| {name} | " + " | ".join(cells) + f" | {content} |\n"


def read_table():
    """The text of the page and the rows between its markers: name -> lines."""
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        text = file.read()
    inside = text[text.index(BEGIN):text.index(END)]
    rows = {}
    for line in inside.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and re.match(r"[\d,]+$", cells[5]):
            rows[cells[0].strip("`*")] = int(cells[5].replace(",", ""))
    return text, rows


def make_table(counts):
    table = HEAD + "".join(format_row(f"`{room}`", counts[room], CONTENT.get(room, "")) for room in counts)
    table += format_row("**core**", add_up(counts, CORE), "base, collision, dynamics, world")
    table += format_row("**io**", add_up(counts, "src/io"), "scenes, recordings, tables, plots")
    table += format_row("**laboratory**", add_up(counts, "lab"), "methods kept for comparison")
    return table


def main():
    text, _ = read_table()
    table = make_table(count_rooms())
    if "--fix" in sys.argv:
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(text[:start] + "\n" + table + text[end:])
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
