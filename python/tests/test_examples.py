"""The notebooks in python/examples: each is a valid notebook without outputs, and its code runs. Run with --pictures FOLDER the
last figure of some is saved for the documentation."""
import json
import os
import time

import pytest

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples")
NOTEBOOKS = sorted(name for name in os.listdir(FOLDER) if name.endswith(".ipynb"))
PICTURES = {"08-keyframes.ipynb": "keyframes", "11-cart-pole-with-contact.ipynb": "cart-pole", "12-hopper.ipynb": "hopper"}
TIME_MAX = 60.0  # s; the goal is 10 on a machine that does nothing else


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


def test_there_are_twelve():
    assert len(NOTEBOOKS) == 12
    assert [name[:2] for name in NOTEBOOKS] == [f"{i:02d}" for i in range(1, 13)]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_is_clean(name):
    notebook = read(name)
    assert notebook["nbformat"] == 4 and notebook["metadata"]["language_info"]["name"] == "python"
    assert notebook["cells"][0]["cell_type"] == "markdown" and notebook["cells"][0]["source"][0].startswith("# ")
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
    code = "".join(line for cell in notebook["cells"] if cell["cell_type"] == "code" for line in cell["source"])
    assert "assert " in code, "a notebook checks what it shows"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs(name, tmp_path, monkeypatch, request):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "__main__"}
    start = time.monotonic()
    for number, cell in enumerate(read(name)["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}[{number}]", "exec"), space)
    assert time.monotonic() - start < TIME_MAX
    folder = request.config.getoption("--pictures")
    if folder and name in PICTURES:
        figure = plt.gcf()
        figure.set_size_inches(5.2, 3.6)
        figure.tight_layout()
        with plt.rc_context({"svg.hashsalt": "rattleback"}):
            figure.savefig(os.path.join(folder, PICTURES[name] + ".svg"), metadata={"Date": None})
    plt.close("all")
