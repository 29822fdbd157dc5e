"""SMART on real benchmarks with recorded answers of real models."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from end_to_end.saved import newest

pytestmark = [pytest.mark.real_data, pytest.mark.live, pytest.mark.long]

MODEL_OUTPUT = "07_model_output"


def easy_by_hand(answers: pd.DataFrame, models: int) -> tuple[set[str], int]:
    """Items that all models answer rightly with p > 0.8, and the number that all answered."""
    sure = answers["correct"].astype(bool) & (answers["p_answer"].fillna(0) > 0.8)
    by_item = sure.groupby(answers["item_id"]).agg(["all", "size"])
    judged = by_item[by_item["size"] == models]
    return set(judged.index[judged["all"]]), len(judged)


@pytest.fixture(scope="module")
def arc(run_project: Callable[..., Path], shared_data: Path) -> Path:
    return run_project(benchmark="arc", mirror_root=str(shared_data))


def test_easy_items_of_arc_are_those_that_seven_models_confidently_solve(
    arc: Path, shared_data: Path, show: Callable[[str], None]
) -> None:
    answers = pd.read_parquet(shared_data / "responses/arc_7models.parquet")
    easy, judged = easy_by_hand(answers, 7)
    verdicts = pd.read_parquet(newest(arc, MODEL_OUTPUT, "verdicts.parquet", "arc"))
    rows = verdicts[verdicts["rule"] == "easy"]
    assert set(rows.loc[rows["state"] == "flagged", "item_id"]) == easy
    assert (rows["state"] == "not_judged").sum() == 3530 - judged
    assert rows["removed"].sum() == len(easy) - round(0.1 * len(easy))
    show(f"arc: easy {len(easy)} of {judged} judged, removed {rows['removed'].sum()}")


def test_arc_keeps_an_acceptable_member_of_every_group(arc: Path) -> None:
    groups = pd.read_parquet(newest(arc, MODEL_OUTPUT, "groups.parquet", "arc"))
    audit = pd.read_parquet(newest(arc, MODEL_OUTPUT, "item_audit.parquet", "arc"))
    removed_by = audit.set_index("item_id")["removed_by"]
    redundant = {"duplicate", "similar"}
    for _, members in groups[groups["kind"].isin(redundant)].groupby("group_id"):
        reasons = [set(filter(None, removed_by[item].split(","))) for item in members["item_id"]]
        acceptable = [reason - redundant == set() for reason in reasons]
        assert not any(acceptable) or any(reason == set() for reason in reasons)


def test_mmlu_items_that_some_models_did_not_answer_are_not_assessed(
    run_project: Callable[..., Path], shared_data: Path
) -> None:
    answers = pd.read_parquet(shared_data / "responses/mmlu_7models.parquet")
    easy, judged = easy_by_hand(answers, 7)
    data = run_project(benchmark="mmlu", variant="no_similar", mirror_root=str(shared_data))
    path = newest(data, MODEL_OUTPUT, "rule_coverage.parquet", "mmlu", "no_similar")
    coverage = pd.read_parquet(path).set_index("rule")
    row = coverage.loc["easy"]
    assert (row["status"], row["judged"], row["flagged"]) == ("partial", judged, len(easy))
    assert coverage.loc["duplicate", "removed"] == 106
    assert coverage.loc["anomalous", "removed"] == 895
    page = newest(data, "08_reporting", "report.html", "mmlu", "no_similar").read_text("utf-8")
    assert f"{14042 - judged} of 14042" in page.replace(",", "")
