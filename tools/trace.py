#!/usr/bin/env python3
"""Checks docs/features.md against the tree (`make trace`).

A feature marked `done` must name code and the test files that prove it: those, and no others, in which its
id is on the comment lines directly above a test function, or in the name of one. An id whose parts differ
in state has a row for each part, L-31a, L-31b; a test that names the whole id or the part proves it.
Prints the problems, then the open ids by issue, and ends with `N of M features traced`; M excludes `no`
and `later`.
"""
import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FEATURES = "docs/features.md"
TEST_FOLDERS = ("test", "tools", "python/tests")
# How many ids each specification has; RX are the additions of the ray specification.
COUNTS = {"L": 115, "G": 45, "B": 96, "R": 64, "RX": 10}
STATES = ("done", "open", "no", "later")

ID = re.compile(r"(?<![A-Za-z0-9-])(RX|[LGBR])-(\d+)([a-f]?)(?![0-9a-z])")
ID_IN_NAME = re.compile(r"(?<![A-Za-z0-9])(RX|[LGBR])_?(\d+)(?![0-9])")
SLASHES = re.compile(r"^\s*//(.*)")
HASH = re.compile(r"^\s*#(?!!)(.*)")
C_TEST = re.compile(r"^static void (\w+)\s*\(\s*void\s*\*\s*\*\s*\w+\s*\)")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")

Row = collections.namedtuple("Row", "line id state reason issue code test")


def make_id(match):
    part = match.group(3) if match.re is ID else ""
    return f"{match.group(1)}-{int(match.group(2)):02d}{part}"


def whole_of(feature):
    """L-31 of L-31a."""
    return feature.rstrip("abcdef")


def all_ids():
    return [f"{kind}-{n:02d}" for kind, count in COUNTS.items() for n in range(1, count + 1)]


def read_text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def read_rows():
    rows = []
    for number, line in enumerate(read_text(FEATURES).splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        match = ID.fullmatch(cells[0]) if line.startswith("|") else None
        if match and len(cells) == 6:
            state, _, reason = cells[2].partition(":")
            rows.append(Row(number, make_id(match), state.strip(), reason.strip(), cells[3],
                            PATH.findall(cells[4]), PATH.findall(cells[5])))
        elif match:
            print(f"{FEATURES}:{number}: a row must have six cells, this one has {len(cells)}")
            rows.append(Row(number, make_id(match), "malformed", "", "", [], []))
    return rows


def ids_of_test_file(path):
    """The ids that the test functions of a file claim to prove."""
    lines = read_text(path).splitlines()
    is_c = path.endswith(".c")
    comment_of = HASH if path.endswith((".py", ".sh")) else SLASHES
    text = "\n".join(lines)
    found, above = set(), set()
    for line in lines:
        comment = comment_of.match(line)
        if comment:
            above.update(make_id(match) for match in ID.finditer(comment.group(1)))
            continue
        test = C_TEST.match(line) if is_c else re.match(r"\s*\S", line)
        # A test function that is in no group is never run and proves nothing.
        if test and (not is_c or len(re.findall(rf"\b{test.group(1)}\b", text)) > 1):
            found |= above
            if is_c:
                found.update(make_id(match) for match in ID_IN_NAME.finditer(test.group(1)))
        above = set()
    return found


def read_tests():
    """Maps every test file to the ids it proves."""
    tests = {}
    for top in TEST_FOLDERS:
        for path, folders, names in os.walk(os.path.join(ROOT, top)):
            folders[:] = [name for name in folders if name not in ("node_modules", "corpus", "__pycache__")]
            for name in names:
                if name.endswith((".c", ".py", ".sh", ".ts", ".js", ".mjs")) and name != "trace.py":
                    file = os.path.relpath(os.path.join(path, name), ROOT)
                    tests[file] = ids_of_test_file(file)
    return tests


def proves(ids, row, rows):
    """Whether a file with these ids proves the feature; the whole id stands for the only part that is done."""
    parts = [other for other in rows if other.state == "done" and whole_of(other.id) == whole_of(row.id)]
    return row.id in ids or whole_of(row.id) in ids and len(parts) == 1


def problems_of(row, rows, tests):
    if row.state not in STATES:
        yield f"the state is none of {', '.join(STATES)}"
    if row.state in ("no", "later") and not row.reason:
        yield f"`{row.state}` needs a reason, as in `{row.state}: why`"
    if row.state == "open" and not re.fullmatch(r"\d+", row.issue):
        yield "an open feature needs the number of the issue that builds it"
    if row.state != "done":
        return
    for path in row.code + row.test:
        if not os.path.exists(os.path.join(ROOT, path)):
            yield f"{path} does not exist"
    if not row.code:
        yield "done, but no code is named"
    if not row.test:
        yield "done, but no test is named"
    for path in row.test:
        if not proves(tests.get(path, ()), row, rows):
            yield f"done, but no test in {path} has {row.id} in its name or directly above it"
    for path in sorted(path for path in tests if path not in row.test and proves(tests[path], row, rows)):
        yield f"a test in {path} has {row.id} above it, but the row does not name the file"


def print_open(rows, tests):
    proven = collections.defaultdict(list)
    for path in sorted(tests):
        for feature in tests[path]:
            proven[feature].append(path)
    for row in rows:
        if row.state == "open" and row.id in proven:
            print(f"{row.id} is open, but has a test in {', '.join(proven[row.id])}")
    by_issue = collections.defaultdict(list)
    for row in rows:
        if row.state == "open":
            by_issue[row.issue].append(row.id)
    for issue in sorted(by_issue, key=lambda text: int(text) if text.isdigit() else 0):
        print(f"open in issue {issue}: {len(by_issue[issue])}: {' '.join(by_issue[issue])}")


def main():
    rows = read_rows()
    tests = read_tests()
    errors = 0

    def report(line, message):
        nonlocal errors
        errors += 1
        print(f"{FEATURES}:{line}: {message}")

    seen = collections.Counter(row.id for row in rows)
    known = all_ids()
    parts = collections.defaultdict(list)
    for feature in seen:
        parts[whole_of(feature)].append(feature)
    for feature in known:
        rows_of = sorted(parts[feature])
        split = [feature + letter for letter in "abcdef"[:len(rows_of)]]
        if rows_of not in ([feature], split) or len(rows_of) == 1 and rows_of != [feature]:
            report(1, f"{feature} has the rows {', '.join(rows_of) or 'none'} instead of one, or of a, b, ..")
        for one in rows_of:
            if seen[one] != 1:
                report(1, f"{one} has {seen[one]} rows instead of one")
    for feature in sorted(set(parts) - set(known)):
        report(1, f"{feature} is not an id of a specification")
    traced = 0
    for row in rows:
        problems = list(problems_of(row, rows, tests))
        for problem in problems:
            report(row.line, f"{row.id}: {problem}")
        traced += row.state == "done" and not problems
    for path in sorted(tests):
        for feature in sorted(feature for feature in tests[path] if feature not in seen and feature not in known):
            errors += 1
            print(f"{path}: names {feature}, which is not an id of a specification")
    print_open(rows, tests)
    counts = collections.Counter(row.state for row in rows)
    print(", ".join(f"{state} {counts[state]}" for state in STATES))
    print(f"{traced} of {counts['done'] + counts['open']} features traced")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
