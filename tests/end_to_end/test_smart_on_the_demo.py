"""SMART on the demo: planted flaws are found."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from end_to_end.saved import newest

pytestmark = pytest.mark.live

ENOUGH = 0.8
# rule → the kinds of planted.csv that it must find, all of them and few others
RULES = {
    "duplicate": {"duplicate", "duplicate_original"},
    "similar": {"paraphrase", "paraphrase_original"},
    "suspect_label": {"wrong_gold"},
}


@pytest.fixture(scope="session", params=["imported", pytest.param("live", marks=pytest.mark.long)])
def demo(run_project: Callable[..., Path], request: pytest.FixtureRequest) -> Path:
    """The whole demo, with recorded answers or live models."""
    if request.param == "imported":
        return request.getfixturevalue("recorded_demo")
    return run_project(score=request.param)


@pytest.fixture(scope="session")
def planted(repository: Path) -> pd.DataFrame:
    return pd.read_csv(repository / "data/01_raw/demo/planted.csv", keep_default_na=False)


def ids_of(planted: pd.DataFrame, kinds: set[str]) -> set[str]:
    return set(planted.loc[planted["kind"].isin(kinds), "item_id"])


def found_and_right(flagged_ids: set[str], planted: set[str]) -> tuple[float, float]:
    hits = len(flagged_ids & planted)
    return hits / len(planted), hits / len(flagged_ids) if flagged_ids else 0.0


@pytest.fixture(scope="session")
def flagged(demo: Path) -> dict[str, set[str]]:
    verdicts = pd.read_parquet(newest(demo, "07_model_output", "verdicts.parquet", "demo"))
    hits = verdicts[verdicts["state"] == "flagged"]
    return {rule: set(rows["item_id"]) for rule, rows in hits.groupby("rule")}


@pytest.mark.parametrize("rule", list(RULES))
def test_rules_find_their_planted_items_and_few_others(
    rule: str, flagged: dict[str, set[str]], planted: pd.DataFrame, show: Callable[[str], None]
) -> None:
    flagged_ids, wanted = flagged.get(rule, set()), ids_of(planted, RULES[rule])
    recall, precision = found_and_right(flagged_ids, wanted)
    show(
        f"{rule}: planted {len(wanted)}, flagged {len(flagged_ids)}, "
        f"recall {recall:.3f}, precision {precision:.3f}"
    )
    assert recall >= ENOUGH, sorted(wanted - flagged_ids)
    assert precision >= ENOUGH, sorted(flagged_ids - wanted)


def test_planted_wrong_labels_head_the_suspect_items(demo: Path, planted: pd.DataFrame) -> None:
    ranked = pd.read_parquet(newest(demo, "07_model_output", "suspect_items.parquet", "demo"))
    recall, precision = found_and_right(
        set(ranked["item_id"][:50]), ids_of(planted, {"wrong_gold"})
    )
    assert recall >= ENOUGH
    assert precision >= 0.5


def test_only_malformed_rows_are_rejected(demo: Path, planted: pd.DataFrame) -> None:
    rejected = pd.read_parquet(newest(demo, "03_primary", "rejected_items.parquet", "demo"))
    ids = sorted(json.loads(raw)["id"] for raw in rejected["raw"])
    assert ids == sorted(planted.loc[planted["kind"] == "malformed", "item_id"])


def test_planted_items_are_solved_from_the_options_more_often_than_others(
    demo: Path, flagged: dict[str, set[str]], planted: pd.DataFrame, show: Callable[[str], None]
) -> None:
    wanted = ids_of(planted, {"answer_only"})
    responses = pd.read_parquet(newest(demo, "07_model_output", "responses.parquet", "demo"))
    alone = responses[responses["condition"] == "choices_only"]
    alone = alone[alone["style"] == "cloze"]
    alone = alone.assign(planted=alone["item_id"].isin(wanted))
    right = alone.pivot_table(index="model", columns="planted", values="correct")
    show(f"right from the options alone:\n{right}")
    assert len(right) == 3
    assert (right[True] > right[False] + 0.2).all()
    assert flagged.get("answer_only", set()) <= wanted


def test_easy_items_are_found_retained_and_tagged(demo: Path, show: Callable[[str], None]) -> None:
    audit = pd.read_parquet(newest(demo, "07_model_output", "item_audit.parquet", "demo"))
    easy = audit[audit["easy"] == "flagged"]
    retained = easy[easy["tags"].str.contains("retained_easy")]
    assert len(easy) >= 5
    assert len(retained) == round(0.1 * len(easy))
    show(f"easy: flagged {len(easy)}, retained {len(retained)}")
