"""MMLU-CF on the bundled documents: no text of the closed half stays readable."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.methods.mmlu_cf.sealing.seal import SealedItem, open_sealed
from benchwright.params.mmlu_cf import SealingParams
from closed_text_search import files_with
from end_to_end.saved import newest
from faults.project_runs import empty_root

pytestmark = pytest.mark.live

KEY = "the same key in every test run"


@pytest.fixture(scope="module")
def made(run_project: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = empty_root(tmp_path_factory.mktemp("documents") / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_SEAL_KEY", KEY)
        return run_project(
            data=data, pipeline="mmlu_cf", variant="mmlu_cf", sampling_by_difficulty={"size": 120}
        )


def table(data: Path, name: str) -> pd.DataFrame:
    return pd.read_parquet(newest(data, "08_reporting", f"{name}.parquet", "demo", "mmlu_cf"))


def sealed_folder(data: Path) -> Path:
    return newest(data, "08_reporting", "sealed_benchmark", "demo", "mmlu_cf")


def closed_items(data: Path) -> tuple[SealedItem, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_SEAL_KEY", KEY)
        key = read_key(SealingParams())
    return open_sealed(sealed_folder(data) / "test.sealed", key).items


def public_items(data: Path) -> list[dict[str, Any]]:
    lines = (sealed_folder(data) / "validation.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_raw_items_are_clean_or_rejected_by_a_named_rule(made: Path) -> None:
    funnel = table(made, "cleaning_funnel").sort_values("place")
    assert (funnel["rows_in"] - funnel["rejected"] == funnel["rows_out"]).all()
    assert funnel["rows_out"].tolist()[:-1] == funnel["rows_in"].tolist()[1:]
    assert funnel["rejected"].sum() > 20
    measures = table(made, "extraction_measures").set_index(["measure", "style"])
    assert measures.loc[("recall", ""), "share"] > 0.95
    assert measures.loc[("precision", ""), "share"] > 0.95


def test_halves_are_alike_and_the_closed_one_opens_with_the_key(made: Path) -> None:
    public, closed = public_items(made), closed_items(made)
    assert abs(len(public) - len(closed)) <= 5
    assert 100 <= len(public) + len(closed) <= 120
    distances = table(made, "half_distances").set_index("attribute")
    assert distances.loc["field", "total_variation"] < distances.loc["field", "chance_95"]


def test_no_file_contains_a_question_of_the_closed_half(made: Path) -> None:
    closed = [item.question for item in closed_items(made)]
    public = [str(item["question"]) for item in public_items(made)]
    assert len(closed) > 40
    assert files_with(made / "08_reporting", closed, public) == []
    assert files_with(made / "01_raw" / "documents", closed, public)  # the search would find them
