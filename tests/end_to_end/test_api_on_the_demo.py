"""The Python API gives the results of the pipeline on the recorded answers of the demo."""

from pathlib import Path

import pandas as pd
import pandas.testing as pdt
import pytest

import benchwright as bw
from benchwright.api.results import Filtered
from benchwright.api.saved import Run
from benchwright.datasets.atomic import ParquetTable
from end_to_end.conftest import FEW_DRAWS
from end_to_end.saved import newest

TABLES = {
    "kept": "kept_items",
    "removed": "removed_items",
    "audit": "item_audit",
    "rules": "rule_coverage",
    "verdicts": "verdicts",
    "groups": "groups",
}
EVIDENCE = ("rank_agreement", "random_comparison", "scores")


@pytest.fixture(scope="module")
def run(recorded_demo: Path) -> Run:
    return bw.load_run("demo", data_root=recorded_demo)


@pytest.fixture(scope="module")
def filtered(run: Run, recorded_demo: Path, repository: Path) -> Filtered:
    return bw.smart(
        run["items"].sample(frac=1, random_state=1),
        pd.read_parquet(repository / "data/01_raw/demo/responses/recorded_answers.parquet"),
        benchmark="demo",
        embeddings=pd.read_parquet(recorded_demo / "04_feature/demo/embeddings.parquet"),
        calibration_items=run["calibration_items"],
        params={"evaluation": FEW_DRAWS},
    )


@pytest.mark.parametrize("name", TABLES)
def test_smart_gives_the_bytes_of_the_pipeline(
    name: str, filtered: Filtered, recorded_demo: Path, tmp_path: Path
) -> None:
    saved = newest(recorded_demo, "07_model_output", f"{TABLES[name]}.parquet", "demo")
    ParquetTable(filepath=str(tmp_path / "table.parquet")).save(getattr(filtered, name))
    assert (tmp_path / "table.parquet").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_is_that_of_the_pipeline(name: str, filtered: Filtered, run: Run) -> None:
    pdt.assert_frame_equal(getattr(filtered.evidence, name), run[name])


def test_judge_subset_gives_the_rank_agreement_of_the_pipeline(run: Run) -> None:
    judged = bw.judge_subset(
        run["kept_items"],
        run["response_matrix"],
        items=run["items"],
        chosen_by=run["chosen_filter_models"],
        params={"evaluation": FEW_DRAWS},
    )
    pdt.assert_frame_equal(judged.rank_agreement, run["rank_agreement"])


def test_a_run_lists_its_tables_and_rejects_other_names(run: Run) -> None:
    assert {"items", "kept_items", "response_matrix", "scores"} <= set(run)
    assert run.saved.version in repr(run)
    assert list(run["response_matrix"].columns[:3]) == ["item_id", "model", "condition"]
    with pytest.raises(KeyError, match="perturbed_items: not saved by demo · smart"):
        run["perturbed_items"]
