#!/usr/bin/env python3
"""Writes the numbers of README.md and docs/limits.md that compare engines, from the committed tables of bench/results.

  tools/engine_tables.py          says which blocks differ from the tables; the exit code is 1 if one does
  tools/engine_tables.py --fix    writes the blocks between their markers

Cells where another engine is faster or overlaps less than ours are bold: the ones we lose.
"""
import csv
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENGINES = "bench/results/engines.csv"
HEAPS_TO_TOLERANCE = "bench/results/neoverse-v1/heaps.csv"  # bench contacts --only heaps --csv
PEERS, OURS = ("Box3D", "Jolt", "Bullet"), "ours"
HEAPS = ("1000 spheres", "1000 mixed shapes", "1000 boxes on terrain")
MS, OVERLAP, GAP = "ms per step", "deepest overlap [mm]", "joint gap [m]"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def by_scene():
    """{scene: {engine: row}}, in the order of the file."""
    scenes = {}
    for row in read(ENGINES):
        scenes.setdefault(row["scene"], {})[row["engine"]] = row
    return scenes


def cell(rows, engine, column):
    """A number as the table has it; bold if it is better than ours."""
    text = rows.get(engine, {}).get(column, "")
    if not text:
        return "–"
    ours = rows[OURS][column]
    shown = f"**{text}**" if engine != OURS and ours and float(text) < float(ours) else text
    note = rows[engine]["note"] if column == MS else ""
    return f"{shown}, {note}" if note and engine != OURS else shown


def table(columns):
    """The comparison; columns are those of the file."""
    engines = PEERS + (OURS,)
    names = {MS: "ms", OVERLAP: "mm", GAP: "gap, m"}
    head = ["scene"] + [f"{engine}, {names[column]}" for column in columns for engine in engines]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for scene, rows in by_scene().items():
        cells = [cell(rows, engine, column) for column in columns for engine in engines]
        lines.append("| " + " | ".join([scene] + cells) + " |")
    return lines


def span(values, digits):
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def lost(column):
    """In how many scenes some engine is better than ours, of how many."""
    scenes = [rows for rows in by_scene().values() if rows[OURS][column]]
    worse = [rows for rows in scenes
             if any(rows.get(engine, {}).get(column) and float(rows[engine][column]) < float(rows[OURS][column])
                    for engine in PEERS)]
    return f"{len(worse)} of {len(scenes)}"


def heap_sentence():
    scenes = by_scene()
    capped = [float(scenes[scene][OURS][MS]) for scene in HEAPS]
    ratios = [float(scenes[scene][OURS][MS]) / float(scenes[scene]["Box3D"][MS]) for scene in HEAPS]
    exact = [float(row["value"]) / 1e3 for row in read(HEAPS_TO_TOLERANCE) if row["metric"] == "mean step"]
    return [f"- **Large piles to tolerance in real time.** A pile of 1000 bodies takes {span(exact, 1)} s per step.",
            f"  With a game's budget it takes {span(capped, 0)} ms, {span(ratios, 1)} times what Box3D takes, and is not accurate."]


def readme_table():
    return (["Milliseconds of CPU per step of 1/60 s with a game's budget, one core; bold is faster than ours, in "
             f"{lost(MS)} scenes", "([overlaps and more](docs/limits.md#what-is-slow)):", ""] + table([MS]))


def limits_table():
    return table([MS, OVERLAP]) + ["", f"Bold cells are better than ours: time in {lost(MS)} scenes, overlap in {lost(OVERLAP)}.",
                                   net_sentence()]


def net_sentence():
    for scene, rows in by_scene().items():
        if rows[OURS][GAP]:
            gaps = "; ".join(f"{engine} {rows[engine][GAP]}" for engine in PEERS + (OURS,) if engine in rows)
            return f"Gaps of joints in the {scene}, m: {gaps} ({rows[OURS]['note']})."
    return ""


BLOCKS = (("README.md", "heaps", heap_sentence), ("README.md", "engines", readme_table),
          ("docs/limits.md", "engines", limits_table))


def split(path, name):
    """The text before, in and after a block."""
    begin, end = f"<!-- {name}: tools/engine_tables.py --fix -->\n", f"<!-- end of {name} -->\n"
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    if begin not in text or end not in text:
        sys.exit(f"{path}: the markers of the block '{name}' are missing")
    before, rest = text.split(begin, 1)
    inside, after = rest.split(end, 1)
    return before + begin, inside, end + after


def find_stale():
    """(path, message) for every block that differs from the tables."""
    for path, name, make in BLOCKS:
        if split(path, name)[1] != "\n".join(make()) + "\n":
            yield path, f"the block '{name}' differs from bench/results; tools/engine_tables.py --fix writes it"


def main():
    if "--fix" in sys.argv[1:]:
        for path, name, make in BLOCKS:
            before, _, after = split(path, name)
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
                file.write(before + "\n".join(make()) + "\n" + after)
    stale = list(find_stale())
    for path, message in stale:
        print(f"{path}:1: {message}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
