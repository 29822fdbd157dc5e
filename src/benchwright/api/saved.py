"""Read what is on disk: the tables of a run, and logs of lm-evaluation-harness."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.enclosing_project import enclosing_project
from benchwright.core.errors import InputError, one_line
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.runs.project_conf import current_project, load_conf
from benchwright.runs.saved_runs import SavedRun, find_run, list_runs

_FINISHED = ("item_audit", "perturbed_items", "chosen_subset")
"""Datasets of which a run with results saves at least one."""


@dataclass(frozen=True, repr=False)
class Run(Mapping[str, Any]):
    """The saved datasets of one run by name, e.g. `run["kept_items"]`; each is read on access.

    Response matrices are tables with a row per item and model, as `smart` reads them.
    """

    saved: SavedRun

    def __getitem__(self, name: str) -> Any:
        if name not in set(self):
            raise KeyError(f"{name}: not saved by {self.saved}; it has {', '.join(self)}")
        value = self.saved.load(name)
        return as_table(value) if isinstance(value, ResponseMatrix) else value

    def __iter__(self) -> Iterator[str]:
        versioned = (name for name, entry in self.saved.catalog.items() if entry.get("versioned"))
        return (name for name in versioned if self.saved.path(name).exists())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Run: {self.saved}\n  {', '.join(self)}"


def load_run(benchmark: str, variant: str = "smart", **params: Any) -> Run:
    """Return the newest finished run; all its datasets are of one version.

    Args:
        benchmark: its name.
        variant: its name.
        params: `limit` and `seed` of the run, and `data_root`, the folder with the data; the
            defaults are those in conf/.

    Raises:
        InputError: there is no such run; the message has the calls for the runs of the benchmark.
    """
    given = {"benchmark": benchmark, "variant": variant, **params}
    if "data_root" not in given and enclosing_project() is None:
        raise InputError(f"{Path.cwd()} is not in a project, where runs are saved; give data_root")
    if "data_root" in given:
        given["data_root"] = str(Path(given["data_root"]).absolute())
    project = current_project()
    problems = []
    for name in _FINISHED:
        try:
            return Run(find_run(project, [name], given))
        except Exception as error:
            problem = one_line(error)
            if problem is None:
                raise
            problems.append(problem)
    root = given.get("data_root") or load_conf(project)["parameters"]["data_root"]
    calls: dict[str, None] = {}
    for run in list_runs(project / str(root)):
        if run.benchmark == benchmark:
            where = f"{benchmark!r}, {run.variant!r}, limit={run.limit}, seed={run.seed}"
            calls[f"load_run({where})"] = None
    there = f"; there is {' or '.join(calls)}" if calls else ""
    raise InputError(problems[0] + there)


def as_table(matrix: ResponseMatrix) -> pd.DataFrame:
    """Return the responses of a matrix with a row per item and model."""
    rows, columns = np.nonzero(matrix.answered() | (matrix.prediction >= 0))
    return pd.DataFrame(
        {
            "item_id": np.array(matrix.item_ids, object)[columns],
            "model": np.array(matrix.models, object)[rows],
            "condition": matrix.condition,
            "correct": matrix.correct[rows, columns],
            "prediction": matrix.prediction[rows, columns],
            "p_answer": matrix.p_answer[rows, columns],
            "p_prediction": matrix.p_prediction[rows, columns],
        }
    ).astype({"item_id": str, "model": str})
