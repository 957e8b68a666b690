"""Parameter studies: one scene, many values, several processes."""
from __future__ import annotations

import csv
import itertools
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidError, NotFoundError
from .result import Result, _import
from .scene import Scene

Measure = Callable[[Result], Any]


class Study:
    """The results of a sweep: rows (a dictionary for each run that succeeded, with its parameters and measures) and failures
    (parameters, message).

    >>> study = sweep(Scene.example("pendulum"), {"world.gravity.2": [-9.81, -1.6]}, duration=0.1, output=0.1, processes=1)
    >>> study["world.gravity.2"].tolist()
    [-9.81, -1.6]
    """

    def __init__(self, parameters: Sequence[str], rows: list[dict[str, Any]], failures: list[tuple[dict[str, Any], str]]) -> None:
        self.parameters = list(parameters)
        self.rows = rows
        self.failures = failures

    @property
    def columns(self) -> list[str]:
        """Names of parameters and measures.

        >>> sweep(Scene(), {"duration": [0.1, 0.2]}, output=0.1, processes=1).columns[0]
        'duration'
        """
        return list(dict.fromkeys(key for row in self.rows for key in row)) or self.parameters

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Study: {len(self.rows)} runs, {len(self.failures)} failures, {len(self.columns)} columns>"

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise NotFoundError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        return np.array([row.get(name, np.nan) for row in self.rows])

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame.

        >>> study = sweep(Scene(), {"world.gravity": [[0, 0, -1], [0, 0, -2]]}, duration=0.1, output=0.1, processes=1)
        >>> len(study.to_pandas())
        2
        """
        return _import("pandas").DataFrame(self.rows, columns=self.columns)

    def to_csv(self, path: str) -> None:
        """The rows as a CSV file.

        >>> import os, tempfile
        >>> study = sweep(Scene(), {"duration": [1.0]}, output=0.5, processes=1)
        >>> study.to_csv(os.path.join(tempfile.mkdtemp(), "study.csv"))
        """
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)


_job: Any = None


def _begin(scene: Scene, duration: Optional[float], output: Optional[float], measure: Optional[Measure]) -> None:
    global _job
    _job = (scene, duration, output, measure)


def _run(values: dict[str, Any]) -> tuple[dict[str, Any], Optional[str]]:
    """One run: its row, or the reason why there is none."""
    scene, duration, output, measure = _job
    try:
        changed = scene.copy()
        for place, value in values.items():
            changed.set(place, value)
        result = changed.run(duration, output, states=measure is not None)
        if measure is None:
            found: Any = dict(zip(result.columns, result.values[-1].tolist()))
        else:
            found = measure(result)
        if not isinstance(found, Mapping):
            found = {"value": found}
        return {**values, **found}, None
    except Exception as error:
        return values, f"{type(error).__name__}: {error}"


def sweep(scene: Scene, parameters: Mapping[str, Sequence[Any]], *, duration: Optional[float] = None,
          output: Optional[float] = None, measure: Optional[Measure] = None, processes: Optional[int] = None,
          progress: Optional[Callable[[int, int], Any]] = None) -> Study:
    """Runs a scene for all combinations of values: {"materials.ice.friction": [0.1, 0.2], "world.gravity.2": [...]}; places
    as in Scene.set.

    measure: a function of the Result that gives a number or a dictionary (default: the last values of the probes);
    processes: default one for each processor; progress: called with the number of runs done and of all. A run that fails is
    in failures, with its message; the others go on.

    >>> study = sweep(Scene.example("pendulum"), {"world.gravity.2": [-9.81, "down"]}, duration=0.1, processes=1,
    ...               measure=lambda result: {"drift": abs(result.energy_drift[-1])})
    >>> len(study), len(study.failures)
    (1, 1)
    """
    if not parameters:
        raise InvalidError("sweep needs at least one parameter, e.g. {\"world.gravity.2\": [-9.81, -1.6]}")
    lists = [list(values) for values in parameters.values()]
    jobs = [dict(zip(parameters, combination)) for combination in itertools.product(*lists)]
    count = min(processes or os.cpu_count() or 1, max(len(jobs), 1))
    answers: list[Any] = [None] * len(jobs)
    if count <= 1:
        _begin(scene, duration, output, measure)
        for i, job in enumerate(jobs):
            answers[i] = _run(job)
            if progress is not None:
                progress(i + 1, len(jobs))
    else:
        scene._handle()
        # Forked, so that measures may be any function; a world is plain memory and survives that.
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(count, mp_context=context, initializer=_begin,
                                 initargs=(scene, duration, output, measure)) as pool:
            waiting = {pool.submit(_run, job): i for i, job in enumerate(jobs)}
            for done, future in enumerate(as_completed(waiting), 1):
                i = waiting[future]
                try:
                    answers[i] = future.result()
                except Exception as error:  # the process died
                    answers[i] = (jobs[i], f"{type(error).__name__}: {error}")
                if progress is not None:
                    progress(done, len(jobs))
    rows = [values for values, message in answers if message is None]
    failures = [(values, message) for values, message in answers if message is not None]
    return Study(list(parameters), rows, failures)
