"""Options of the tests, and the program to compare with."""
import os
import shutil

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pytest_addoption(parser):
    parser.addoption("--all-scenes", action="store_true", help="compare all example scenes with the program")
    parser.addoption("--pictures", help="folder to write pictures of the notebooks to, for the documentation")


@pytest.fixture
def program():
    found = os.environ.get("RATTLEBACK_PROGRAM") or os.path.join(ROOT, "build", "release", "rattleback")
    if not os.path.exists(found):
        found = shutil.which("rattleback")
    if not found:
        pytest.skip("the program rattleback is not built")
    return found
