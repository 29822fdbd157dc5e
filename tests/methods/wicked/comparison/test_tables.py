"""Tables on written answers, instruct models, rules and coverage."""

from typing import Any

import numpy as np
import pytest

from benchwright.methods.wicked.comparison.rule_ablation import compare_rules
from benchwright.params.perturbation import PerturbationParams

RULES = PerturbationParams.model_validate(
    {
        "name": "rules",
        "copies": 3,
        "cumulative": True,
        "transforms": [{"transform": "shuffle_choices"}, {"transform": "replace_choice"}],
    }
)


@pytest.fixture(scope="module")
def rules(stage: Any) -> Any:
    names = tuple(f"org/{model}@letters-{k}" for model in "ab" for k in (0, 5))
    return stage.run(configurations=names, n=60, settings=RULES)


def test_written_answers_are_compared_with_scored_ones_of_the_same_model(stage: Any) -> None:
    table = stage.outputs["comparison_written"]
    assert set(table["model"]) == {"org/alpha-7b-it", "org/beta-8b-it"}
    written = table[table["written"]].set_index("model").loc["org/alpha-7b-it"]
    scored = table[~table["written"]].set_index("model").loc["org/alpha-7b-it"]
    assert written["compared_with"] == scored["configuration"] == "org/alpha-7b-it@letters-5"
    assert written["recovered"] == pytest.approx(written["delta"] - scored["delta"])
    assert written["recovered_low"] < written["recovered"] < written["recovered_high"]
    assert scored["compared_with"] == ""
    assert np.isnan(scored["recovered"])


def test_written_answers_are_compared_with_letters_before_texts_and_more_shots_first(
    stage: Any,
) -> None:
    others = ("cloze-5", "letters-0", "letters-5")
    names = tuple(f"m@{asked}" for asked in ("generate-0", "generate-5", *others))
    table = stage.run(configurations=names, n=8)["comparison_written"].set_index("configuration")
    assert set(table.index) == set(names)
    for name in names:
        wanted = "m@letters-5" if "generate" in name else ""
        assert table.loc[name, "compared_with"] == wanted
    alone = stage.run(configurations=("m@generate-0", "x@letters-5"), n=8)["comparison_written"]
    assert alone["configuration"].tolist() == ["m@generate-0"]
    assert alone["compared_with"].tolist() == [""]


def test_families_with_both_kinds_are_compared(stage: Any) -> None:
    table = stage.outputs["comparison_instruct"]
    letters = table[table["asking_style"] == "letters-5"].set_index("family")
    assert (letters.loc["", "n_instruct"], letters.loc["", "n_base"]) == (6, 6)
    pair = letters.loc["org/alpha-7b"]
    scores = stage.outputs["comparison_scores"].set_index("configuration")["delta"]
    assert pair["delta_instruct"] == pytest.approx(scores["org/alpha-7b-it@letters-5"])
    assert pair["difference"] == pytest.approx(pair["delta_instruct"] - pair["delta_base"])


def test_each_step_is_compared_with_the_previous_one_on_the_same_items(rules: Any) -> None:
    table = rules["rule_ablation"]
    rows = table[table["configuration"] == "org/a@letters-5"].set_index("step")
    assert rows["rule"].tolist() == ["none", "shuffle_choices", "replace_choice"]
    assert rows["perturbation"].tolist() == ["", "rules_1", "rules_2"]
    assert rows["step_delta"].iloc[1:].to_numpy() == pytest.approx(np.diff(rows["accuracy"]))
    assert rows.loc[2, "total_delta"] == pytest.approx(
        rows.loc[2, "accuracy"] - rows.loc[0, "accuracy"]
    )
    assert (rows.loc[2, "step_low"] < rows.loc[2, "step_delta"] < rows.loc[2, "step_high"]).all()
    assert np.isnan(rows.loc[0, "step_delta"])
    assert (table.groupby("configuration").size() == 3).all()


def test_steps_share_the_items_that_all_of_them_have(rules: Any) -> None:
    compared = dict(rules["compared_responses"])
    first = compared["rules_1"]
    compared["rules_1"] = first.select_items(first.item_ids[5:])
    result = compare_rules(compared, rules["perturbation_changes"], RULES)
    assert set(result["n_items"]) == {55}
    row = result[(result["configuration"] == "org/a@letters-5") & (result["step"] == 2)].iloc[0]
    seen = compared["rules_2"]
    perturbed = seen.perturbed[:, seen.configurations.index("org/a@letters-5"), 5:]
    assert row["accuracy"] == pytest.approx(perturbed.mean())
