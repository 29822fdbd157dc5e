"""The rule ablation of MMLU-CF on the demo, with a served and a real model."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from end_to_end.saved import newest
from scripted_server import ScriptedServer, served

pytestmark = [pytest.mark.live, pytest.mark.long]

CONFIGURATIONS = ["smollm2-135m-instruct@letters-0", "smollm2-135m-instruct@letters-5"]


def politely(prompt: str, _: dict[str, Any]) -> str:
    """Return the question with two more words, which passes the checks; None for statements."""
    asked = re.search(r"^Question:\n(.+\?)$", prompt, re.MULTILINE)
    return f"Please say: {asked[1]}" if asked else "I cannot."


@pytest.fixture(scope="module")
def rules(run_project: Callable[..., Path]) -> Path:
    with ScriptedServer(says=politely) as server:
        return run_project(
            pipeline="wicked",
            benchmark="demo",
            variant="mmlu_cf_rules",
            limit=10,
            models={"models": {"scripted": served(server.url)}},
            perturbation={
                "copies": 2,
                "transforms": [
                    {"transform": "rephrase", "model": "scripted", "attempts": 1},
                    {"transform": "shuffle_choices"},
                    {"transform": "replace_choice", "probability": 1.0},
                ],
            },
            scoring={"configurations": CONFIGURATIONS},
        )


def table(data: Path, layer: str, name: str) -> pd.DataFrame:
    return pd.read_parquet(newest(data, layer, f"{name}.parquet", "demo", "mmlu_cf_rules"))


def test_each_step_adds_one_transform(rules: Path) -> None:
    perturbed_items = table(rules, "04_feature", "perturbed_items")
    made = perturbed_items[perturbed_items["role"] == "item"].set_index(["condition", "item_id"])
    items = table(rules, "03_primary", "items").set_index("item_id")
    conditions = set(made.index.get_level_values("condition"))
    assert conditions == {"rules_1-1", "rules_2-1", "rules_2-2", "rules_3-1", "rules_3-2"}
    rephrasings = table(rules, "04_feature", "rephrasings")
    used = rephrasings[rephrasings["used"] & (rephrasings["role"] == "item")]
    assert 0 < len(used) <= 10
    for item_id, before in items.iterrows():
        first, second, third = (made.loc[(f"rules_{k}-1", item_id)] for k in (1, 2, 3))
        assert (first["question"] != before["question"]) == (item_id in set(used["item_id"]))
        assert first["question"] == second["question"] == third["question"]
        assert list(first["choices"]) == list(before["choices"])
        assert sorted(second["choices"]) == sorted(before["choices"])
        replaced = [a for a, b in zip(second["choices"], third["choices"], strict=True) if a != b]
        assert len(replaced) <= 1
        assert third["choices"][third["answer"]] in {before["answer_text"], third["answer_text"]}


def test_ablation_has_every_step_with_0_and_5_demonstrations(rules: Path) -> None:
    ablation = table(rules, "08_reporting", "rule_ablation")
    assert set(ablation["configuration"]) == set(CONFIGURATIONS)
    for _, steps in ablation.groupby("configuration"):
        assert steps["step"].tolist() == [0, 1, 2, 3]
        assert len(set(steps["n_items"])) == 1
    scores = table(rules, "08_reporting", "comparison_scores").set_index(
        ["perturbation", "configuration"]
    )
    for row in ablation[ablation["step"] > 0].to_dict("records"):
        expected = scores.loc[(f"rules_{row['step']}", row["configuration"])]
        assert row["accuracy"] == pytest.approx(expected["accuracy_mean"])


def test_report_shows_the_ablation(rules: Path) -> None:
    saved = newest(rules, "08_reporting", "comparison_report.html", "demo", "mmlu_cf_rules")
    page = saved.read_text(encoding="utf-8")
    assert "Effect of each transform" in page
    assert "Please say: " in page
