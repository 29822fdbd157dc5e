"""A run has a version of its own, and reads only what belongs together and to its settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kedro.framework.hooks.manager import _create_hook_manager, _register_hooks
from kedro.io import DataCatalog, SharedMemoryDataCatalog
from kedro.pipeline import Node, Pipeline
from kedro.runner import AbstractRunner, ParallelRunner, SequentialRunner, ThreadRunner

from benchwright.core.errors import InputError
from benchwright.runs.run_records import settings_of
from faults.project_runs import version_hooks

JANUARY, FEBRUARY, MARCH, APRIL = (f"2026-{month:02}-01T00.00.00.000Z" for month in (1, 2, 3, 4))
SAVED = ("items", "kept", "removed", "counts")


def read_items(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"item_id": [str(row) for row in range(rows)], "distance": range(rows)})


def split(items: pd.DataFrame, filtering: dict[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    far = items["distance"] >= filtering["threshold"]
    return items[far], items[~far]


def count(items: pd.DataFrame, kept: pd.DataFrame, removed: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"n_items": [len(items)], "n_kept": [len(kept)], "n": [len(removed)]})


def tell(kept: pd.DataFrame, filtering: dict[str, int]) -> str:
    return f"{len(kept)} items at {filtering['threshold']} or more"


PIPELINE = Pipeline(
    [
        Node(read_items, "rows", "items", name="read"),
        Node(split, ["items", "params:filtering"], ["kept", "removed"], name="split"),
        Node(count, ["items", "kept", "removed"], "counts", name="count"),
    ]
)
COUNT = PIPELINE.only_nodes("count")
SPLIT = PIPELINE.only_nodes("split")
TELL = Pipeline([Node(tell, ["kept", "params:filtering"], "told", name="tell")])
Run = Callable[..., dict[str, int]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run PIPELINE as Kedro does, and return the row of counts that it reads back."""

    def once(
        version: str,
        *,
        rows: int = 10,
        threshold: int = 3,
        of: Pipeline = PIPELINE,
        only_missing: bool = False,
        load: dict[str, str] | None = None,
        whole: bool = False,
        runner: AbstractRunner = SequentialRunner(),  # noqa: B008
    ) -> dict[str, int]:
        table = "benchwright.datasets.atomic.ParquetTable"
        conf = {
            name: {"type": table, "filepath": str(tmp_path / name), "versioned": True}
            for name in SAVED
        }
        kind = SharedMemoryDataCatalog if isinstance(runner, ParallelRunner) else DataCatalog
        catalog = kind.from_config(conf, load_versions=load, save_version=version)
        catalog["rows"], catalog["params:filtering"] = rows, {"threshold": threshold}
        hooks = _create_hook_manager()
        _register_hooks(hooks, version_hooks(tmp_path))
        params: dict[str, Any] = {
            "run_id": version,
            "only_missing_outputs": only_missing,
            "load_versions": load,
            "node_names": None if whole or of is PIPELINE else ["some"],
        }
        hooks.hook.before_pipeline_run(run_params=params, pipeline=of, catalog=catalog)
        runner.run(of, catalog, hooks, only_missing_outputs=only_missing)
        if "counts" not in of.all_outputs():
            return {}
        row: dict[str, int] = catalog.load("counts").iloc[0].to_dict()
        return row

    return once


def test_missing_outputs_are_not_made_with_other_settings(run: Run, tmp_path: Path) -> None:
    assert run(JANUARY)["n_kept"] == 7
    message = (
        f"filtering.threshold is 3 in counts of the run {JANUARY}, but 9 in this run; "
        "run without --only-missing-outputs, or use settings and versions of one run"
    )
    with pytest.raises(InputError, match=message):
        run(FEBRUARY, threshold=9, only_missing=True)
    assert not (tmp_path / "runs" / f"{FEBRUARY}.json").exists()
    assert run(MARCH, only_missing=True)["n_kept"] == 7
    assert run(APRIL, threshold=9)["n_kept"] == 1


def test_missing_outputs_are_made_from_tables_of_runs_with_the_same_settings(
    run: Run, tmp_path: Path
) -> None:
    run(JANUARY)
    for saved in tmp_path.glob("counts/*/counts"):
        saved.unlink()
    assert run(FEBRUARY, only_missing=True)["n_kept"] == 7
    assert [path.parent.name for path in tmp_path.glob("kept/*/kept")] == [JANUARY]
    assert run(MARCH, of=COUNT)["n_kept"] == 7
    with pytest.raises(InputError, match=r"filtering\.threshold is 3 in counts of the run"):
        run(APRIL, threshold=9, only_missing=True)


def test_missing_outputs_need_recorded_settings(run: Run, tmp_path: Path) -> None:
    run(JANUARY)
    (tmp_path / "runs" / f"{JANUARY}.json").unlink()
    with pytest.raises(InputError, match=f"settings of counts of the run {JANUARY} are not rec"):
        run(FEBRUARY, only_missing=True)


def test_tables_of_another_run_must_belong_to_the_others(run: Run) -> None:
    run(JANUARY)
    run(FEBRUARY, threshold=9)
    with pytest.raises(InputError, match=r"filtering\.threshold is .* run all stages, or use"):
        run(MARCH, of=COUNT, load={"kept": JANUARY})
    both = {"kept": JANUARY, "removed": JANUARY}
    assert run(APRIL, of=COUNT, load=both) == {"n_items": 10, "n_kept": 7, "n": 3}


def test_versions_cannot_replace_what_a_run_makes(run: Run) -> None:
    run(JANUARY)
    with pytest.raises(InputError, match="--load-versions kept: this run makes kept itself"):
        run(FEBRUARY, threshold=9, load={"kept": JANUARY})


def test_a_pipeline_on_the_results_of_one_run_may_have_other_settings_but_a_stage_may_not(
    run: Run,
) -> None:
    run(JANUARY)
    run(FEBRUARY, threshold=9, of=TELL, whole=True)
    with pytest.raises(InputError, match=r"filtering\.threshold is 3 in kept .* run all stages"):
        run(MARCH, threshold=9, of=TELL)


def test_a_second_run_of_the_same_millisecond_is_refused(run: Run, tmp_path: Path) -> None:
    run(JANUARY)
    with pytest.raises(InputError, match=r"another run began in the same millisecond; start this"):
        run(JANUARY, threshold=9)
    assert pd.read_parquet(tmp_path / "kept" / JANUARY / "kept")["distance"].min() == 3


@pytest.mark.parametrize("runner", [SequentialRunner, ThreadRunner, ParallelRunner])
def test_a_run_reads_its_own_outputs_while_a_later_one_of_other_settings_saves(
    run: Run, tmp_path: Path, runner: type[AbstractRunner], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEDRO_MP_CONTEXT", "fork")  # a spawned worker cannot import this module
    run(MARCH, threshold=9)
    assert run(FEBRUARY, runner=runner())["n_kept"] == 7
    kept = [tmp_path / "kept" / version / "kept" for version in (FEBRUARY, MARCH)]
    found = [settings_of(path, path.parent.name) for path in kept]
    assert [of["filtering.threshold"] for of in found if of] == ["3", "9"]
    assert settings_of(tmp_path / "kept" / JANUARY / "kept", JANUARY) is None


def test_a_part_is_made_with_a_changed_setting_and_remembers_what_it_was_made_from(
    run: Run,
) -> None:
    run(JANUARY)
    assert run(FEBRUARY, threshold=9, of=Pipeline([*SPLIT.nodes, *COUNT.nodes]))["n_kept"] == 1
    run(MARCH, threshold=9, of=COUNT)
    with pytest.raises(InputError, match=rf"filtering\.threshold is 9 in counts .*{MARCH}, but 3"):
        run(APRIL, only_missing=True)
