"""docs/python-tasks.md: its ten blocks run, and the table has their lines and those of MuJoCo's, which are not run."""
import ast
import os
import re

import pytest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python-tasks.md")
with open(PAGE, encoding="utf-8") as file:
    TEXT = file.read()
HEAD, *BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.S)
THEIRS = re.findall(r"```py\n(.*?)```", TEXT, re.S)
ROWS = re.findall(r"^\| \[(.*?)\]\(#(.*?)\) \|.*\| (\d+) \| (\d+) \|$", TEXT, re.M)


def lines_of(code):
    """Lines that are neither empty, nor comments, nor checks."""
    return [line for line in code.splitlines() if line.strip() and not line.strip().startswith(("#", "assert "))]


def test_the_table_has_ten_tasks():
    assert len(BLOCKS) == len(ROWS) == len(THEIRS) == 10
    sums = re.search(r"^\| all \| \| \| (\d+) \| (\d+) \|$", TEXT, re.M)
    assert [int(sums[1]), int(sums[2])] == [sum(int(row[i]) for row in ROWS) for i in (2, 3)]


@pytest.mark.parametrize("number", range(10))
def test_task_runs_and_has_the_lines_of_the_table(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "assert " in BLOCKS[number]
    exec(compile(HEAD + BLOCKS[number], f"task {number + 1}", "exec"), {})
    assert len(lines_of(BLOCKS[number])) == int(ROWS[number][3])
    ast.parse(THEIRS[number])
    assert len(lines_of(THEIRS[number])) == int(ROWS[number][2])
