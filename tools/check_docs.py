#!/usr/bin/env python3
"""Checks the documents against the tree. Findings are printed as file:line: message; the exit code is 1 if there is one.

- links between Markdown pages, their anchors, pictures and files exist;
- the rooms of docs/architecture.md are those of tools/layers.txt, each with a description, and their line counts are
  about right (tools/count_lines.py --fix updates them);
- the numbers of README.md and docs/limits.md next to other engines are those of bench/results (tools/engine_tables.py
  --fix writes them);
- README.md is short; prose of the documents has no overlong lines;
- every enumerator of the public headers has a comment (doxygen does not check these).
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import count_lines  # noqa: E402
import engine_tables  # noqa: E402

ROOT = count_lines.ROOT
README_LINES, README_WIDTH, PROSE_WIDTH = 120, 120, 160
findings = []


def report(path, line, message):
    findings.append(f"{os.path.relpath(path, ROOT)}:{line}: {message}")


def prose_lines(path):
    """The lines of a page outside of fenced blocks, with their numbers."""
    is_fenced = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if re.match(r"\s*```", line):
                is_fenced = not is_fenced
            elif not is_fenced:
                yield number, line.rstrip("\n")


def anchors_of(path):
    """The anchors that Git hosts generate for the headings of a page."""
    found = {}
    for _, line in prose_lines(path):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1].strip().lower())
            name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            found[name] = found.get(name, -1) + 1
    return {name + (f"-{k}" if k else "") for name, count in found.items() for k in range(count + 1)}


def check_links(path):
    for number, line in prose_lines(path):
        text = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, anchor = target.partition("#")
            if "://" in file:
                report(path, number, f"{file}: pages link to files of the tree only")
                continue
            goal = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(goal):
                report(path, number, f"{target}: there is no such file")
            elif anchor and anchor not in anchors_of(goal):
                report(path, number, f"{target}: there is no such heading")


def check_width(path):
    for number, line in prose_lines(path):
        if len(line) > PROSE_WIDTH and not line.lstrip().startswith("|") and " " in line[:PROSE_WIDTH].strip("`"):
            if not re.match(r"\s*`[^`]*`[.,:;]?$", line):  # a command or a record in one piece
                report(path, number, f"{len(line)} characters; at most {PROSE_WIDTH}")


def check_readme():
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if len(lines) > README_LINES:
        report(path, len(lines), f"{len(lines)} lines; at most {README_LINES}")
    for number, line in enumerate(lines, 1):
        if len(line) > README_WIDTH:
            report(path, number, f"{len(line)} characters; at most {README_WIDTH}")


def check_rooms():
    path = os.path.join(ROOT, count_lines.PAGE)
    counts = count_lines.count_rooms()
    _, rows = count_lines.read_table()
    for room in counts:
        if room not in rows:
            report(path, 1, f"the room {room} of tools/layers.txt is missing; run tools/count_lines.py --fix")
        elif room not in count_lines.CONTENT:
            report(path, 1, f"tools/count_lines.py has no description of the room {room}")
        else:
            lines = sum(counts[room][1:])
            if abs(lines - rows[room]) > max(500, lines // 4):
                report(path, 1, f"{room} has {lines} lines, not {rows[room]}; run tools/count_lines.py --fix")
    for name in rows:
        if "/" in name and name not in counts:
            report(path, 1, f"there is no room {name}; run tools/count_lines.py --fix")


def check_enumerators(path):
    """Every enumerator needs a comment on its line or on the line before."""
    is_enum, before = False, ""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if re.match(r"typedef enum ", line):
                is_enum = True
            elif line.startswith("}"):
                is_enum = False
            name = re.match(r"\s+(RB_\w+)(\s*=[^,]*)?,?\s*$", line) if is_enum else None
            if name and not name[1].endswith("_COUNT") and not before.strip().startswith("///"):
                report(path, number, f"{name[1]} has no comment")
            before = line


def main():
    pages = [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md")]
    pages += sorted(glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True))
    for page in pages:
        check_links(page)
        check_width(page)
    check_readme()
    for page, message in engine_tables.find_stale():
        report(os.path.join(ROOT, page), 1, message)
    check_rooms()
    for header in sorted(glob.glob(os.path.join(ROOT, "include/rattleback/*.h"))):
        check_enumerators(header)
    print("\n".join(findings) if findings else f"docs: {len(pages)} pages agree with the tree")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
