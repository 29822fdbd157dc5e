"""WiCkeD on the demo: real models on the original and two copies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from end_to_end.saved import newest

pytestmark = pytest.mark.live

CONFIGURATION = "smollm2-135m-instruct@cloze-1"


WICKED: dict[str, Any] = {
    "pipeline": "wicked",
    "benchmark": "demo",
    "limit": 6,
    "perturbation": {"copies": 2},
    "scoring": {"configurations": [CONFIGURATION], "conditions": ["question"]},
}


@pytest.fixture(scope="module")
def wicked(run_project: Callable[..., Path]) -> Path:
    return run_project(**WICKED)


def table(data: Path, layer: str, name: str) -> pd.DataFrame:
    return pd.read_parquet(newest(data, layer, f"{name}.parquet", "demo"))


def test_scores_equal_those_of_the_answers(wicked: Path) -> None:
    scores = table(wicked, "08_reporting", "comparison_scores").set_index("configuration")
    live = table(wicked, "07_model_output", "live_responses")
    items = table(wicked, "03_primary", "items").set_index("item_id")
    perturbed_items = table(wicked, "04_feature", "perturbed_items")
    gold = perturbed_items[perturbed_items["role"] == "item"].set_index(["condition", "item_id"])[
        "answer"
    ]
    answers = live[live["item_id"].isin(items.index)]

    def accuracy(condition: str, answer: Callable[[str], int]) -> float:
        rows = answers[answers["condition"] == condition].to_dict("records")
        assert len(rows) == 6
        right = [
            max(range(len(r["logprobs"])), key=lambda i, r=r: r["logprobs"][i])
            == answer(r["item_id"])
            for r in rows
        ]
        return sum(right) / len(right)

    before = accuracy("question", lambda item: items.loc[item, "answer"])
    after = [
        accuracy(name, lambda item, name=name: gold[name, item])
        for name in ("wicked-1", "wicked-2")
    ]
    row = scores.loc[CONFIGURATION]
    assert (row["n_items"], row["copies"]) == (6, 2)
    assert row["accuracy_original"] == pytest.approx(before)
    assert row["accuracy_mean"] == pytest.approx(sum(after) / 2)
    assert row["delta"] == pytest.approx(sum(after) / 2 - before)


def test_demonstrations_come_from_the_copy(wicked: Path) -> None:
    prompts = table(wicked, "04_feature", "prompts")
    perturbed = prompts[prompts["condition"] == "wicked-1"]
    assert perturbed["prefix"].astype(str).str.contains("None of the above").any()
    assert (perturbed["shots_used"] == 1).all()
    as_they_were = prompts[prompts["condition"] == "question"]
    assert not as_they_were["prefix"].astype(str).str.contains("None of the above").all()
