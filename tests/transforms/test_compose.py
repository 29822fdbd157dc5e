"""Perturbed copies of benchmarks with items and demonstrations."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.params.perturbation import PerturbationParams
from benchwright.tables.wicked import PerturbationChanges
from benchwright.transforms.compose import perturb
from few_examples import few_examples
from transforms.benchmark_tables import assert_coherent, items_table, plain_items

NOTA = "None of the above"
NOTC = "None of the other choices"
WICKED = PerturbationParams()
NO_ITEMS = items_table([])
EVERY = ["replace_choice", "none_of_the_above", "shuffle_choices"]


def parameters(names: list[str], copies: int = 5, cumulative: bool = False) -> PerturbationParams:
    parts = [{"transform": name} | ({"model": "m"} if name == "rephrase" else {}) for name in names]
    return PerturbationParams.model_validate(
        {"name": "cf", "copies": copies, "cumulative": cumulative, "transforms": parts}
    )


wordings = st.sampled_from(
    ["sun", "moon", "Mars", "mars", "sun ", "42", "None of these", "all of the above", "Both",
     "both A and B", "option C", "None", "I and II only", NOTA, NOTC, "vitamin A"]
)  # fmt: skip


@st.composite
def any_rows(draw: st.DrawFn) -> list[tuple[str, list[str], int]]:
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        choices = draw(st.lists(wordings, max_size=6))
        stem = draw(st.sampled_from(["Which?", "If option A holds, which?", "How many?"]))
        rows.append((stem, choices, draw(st.integers(-1, len(choices) - 1))))
    return rows


@given(any_rows(), st.permutations(EVERY), st.integers(0, 2**31))
@few_examples
def test_any_items_stay_coherent_in_any_order_and_prefixes_equal_their_transforms_alone(
    rows: list[tuple[str, list[str], int]], names: list[str], seed: int
) -> None:
    source = items_table(rows)
    together = perturb(source, source, parameters(names, 2, cumulative=True), seed)
    items = together.perturbed_items[together.perturbed_items["role"] == "item"]
    assert_coherent(source, items, [NOTA, NOTC])
    for length in (1, 2, 3):
        shuffled = source.sample(frac=1, random_state=seed % 1000)
        alone = perturb(shuffled, source, parameters(names[:length], 2), seed)
        for part, whole in (
            (alone.perturbed_items, together.perturbed_items),
            (alone.changes, together.changes),
        ):
            selected = whole[whole["condition"].str.startswith(f"cf_{length}-")]
            conditions = selected["condition"].str.replace(f"cf_{length}-", "cf-")
            renamed = selected.assign(condition=conditions)
            assert renamed.fillna("").to_dict("list") == part.fillna("").to_dict("list")


def test_every_column_of_copies_of_the_demo_is_as_before(repository: Path) -> None:
    """After a transform was changed on purpose, update these."""
    lines = (repository / "data/01_raw/demo/items.jsonl").read_text("utf-8").splitlines()
    by_id = {row.get("id"): row for row in map(json.loads, lines)}
    sound = [row for row in by_id.values() if row.get("answer") in [*"ABC"]]
    rows = [row for row in sound if all(row.get("options", [None])) and row["question"]]
    table = items_table(
        [(row["question"], row["options"], "ABCDE".index(row["answer"])) for row in rows],
        explanation=[row.get("explanation") for row in rows],
        item_id=[row["id"] for row in rows],
    )
    shown = table["item_id"].str.startswith("demo_dev")
    made = {
        "wicked": perturb(table[~shown], table[shown], WICKED, 11, ["demo_dev/astronomy/2"]),
        "all": perturb(table[~shown], table[shown], parameters(EVERY, 2, cumulative=True), 12),
    }
    assert list(made["all"].changes.columns) == PerturbationChanges.columns()
    seen = {
        name: [
            hashlib.sha256(part.to_json(orient="records").encode()).hexdigest()[:8]
            for part in (perturbed.perturbed_items, perturbed.changes)
        ]
        for name, perturbed in made.items()
    }
    assert seen == {"wicked": ["167bb7c1", "44078257"], "all": ["7eed63e6", "296722a3"]}


def test_the_five_copies_differ_for_items_and_demonstrations_alike() -> None:
    items = plain_items(200)
    made = perturb(plain_items(2, prefix="b/dev"), items, WICKED, 11).perturbed_items
    copies = made[made["role"] == "demonstration"]
    assert list(copies["condition"].unique()) == [f"wicked-{copy}" for copy in range(1, 6)]
    assert_coherent(items, copies, [NOTA])
    as_items = perturb(items, NO_ITEMS, WICKED, 11).perturbed_items
    assert copies["content_hash"].tolist() == as_items["content_hash"].tolist()
    shown = copies.groupby("condition")["content_hash"].agg(tuple)
    for first in range(5):
        for second in range(first):
            same = sum(a == b for a, b in zip(shown.iloc[first], shown.iloc[second], strict=True))
            assert same < 90  # 50 expected
    assert 0.18 < (copies["answer_text"] == NOTA).mean() < 0.32


def test_single_best_answer_items_and_demonstrations_stay_unaltered() -> None:
    source, demonstrations = plain_items(3), plain_items(3, prefix="b/dev")
    made = perturb(source, demonstrations, WICKED, 11, ["b/s/1", "b/dev/2"])
    copied = made.changes[~made.changes["altered"]]
    assert set(zip(copied["item_id"], copied["reason"], strict=True)) == {
        ("b/s/1", "single_best_answer"),
        ("b/dev/2", "single_best_answer"),
    }
    assert len(copied) == 10


@pytest.mark.parametrize("names", [["none_of_the_above"], ["none_of_the_above", "shuffle_choices"]])
def test_explanations_that_no_longer_fit_are_removed(names: list[str]) -> None:
    source = items_table(
        [("Which?", ["p", "q", "r", "s"], 0), ("Which?", ["t", "u", "v", "w"], 0)],
        explanation=["It must be so.", "The answer is (A)."],
    )
    made = perturb(source, NO_ITEMS, parameters(names, copies=30), 11).perturbed_items
    lettered = made[made["item_id"] == "b/s/1"]
    assert lettered["explanation"].isna().all()
    free = made[made["item_id"] == "b/s/0"]
    gone = free["answer_text"] == NOTA
    assert 0 < gone.sum() < 30
    assert (free["explanation"].isna() == gone).all()


def test_items_without_choices_pass_unchanged_and_several_right_options_are_only_shuffled() -> None:
    open_ended = items_table([("6 × 7?", [], -1)], answer_text=["42"])
    made = perturb(open_ended, NO_ITEMS, parameters(EVERY, 1), 11)
    (row,) = made.perturbed_items.to_dict("records")
    assert (row["choices"], row["answer"], row["answer_text"]) == ([], -1, "42")
    assert row["content_hash"] == content_hash("6 × 7?")
    assert set(made.changes["reason"]) == {"open_ended"}
    several = items_table([("Which?", ["p", "q", "r"], 0)], correct_set=[[0, 2]])
    made = perturb(several, NO_ITEMS, parameters(EVERY), 11)
    assert all(sorted(choices) == ["p", "q", "r"] for choices in made.perturbed_items["choices"])
    assert "several_right_options" in set(made.changes["reason"])


def test_errors_name_an_answer_out_of_range_and_a_duplicate_id() -> None:
    source = items_table([("Which?", ["p", "q"], 0)]).assign(answer=2)
    with pytest.raises(InputError, match=r"items: item 'b/s/0': answer 2 .* 2 choices; use 0–1"):
        perturb(source, NO_ITEMS, WICKED, 11)
    with pytest.raises(InputError, match="'b/s/0' occurs twice"):
        perturb(NO_ITEMS, pd.concat([plain_items(2), plain_items(1)]), WICKED, 11)


@pytest.mark.parametrize(
    "wrong",
    [
        {"transforms": []},
        {"transforms": [{"transform": "rephrase"}]},
        {"transforms": [{"transform": "shuffle_choices"}, {"transform": "shuffle_choices"}]},
        {"transforms": [{"transform": "none_of_the_above", "text": "A fifth thing"}]},
        {"name": "wicked-1"},
    ],
)
def test_wrong_settings_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PerturbationParams.model_validate(wrong)


def test_rephrasing_replaces_the_question() -> None:
    source = items_table(
        [("Which?", ["p", "q", "r"], 0), ("Who?", ["s", "t", "u"], 1), ("How?", ["v", "w"], 0)],
        explanation=["The answer is (A).", None, None],
    )
    rephrasings = {("item", "b/s/0"): "What?", ("item", "b/s/1"): None}
    made = perturb(source, source, parameters(["rephrase"]), 11, rephrasings=rephrasings)
    assert set(made.perturbed_items["condition"]) == {"cf-1"}
    items = made.perturbed_items[made.perturbed_items["role"] == "item"]
    assert items["question"].tolist() == ["What?", "Who?", "How?"]
    assert items["choices"].tolist() == source["choices"].tolist()
    assert items["content_hash"].tolist() == [
        content_hash("What?", ["p", "q", "r"]),
        *source["content_hash"][1:],
    ]
    assert items["explanation"].iloc[0] == "The answer is (A)."
    assert made.changes["reason"].tolist()[:3] == ["", "no_rephrasing_passed", "not_asked"]
    assert made.changes["altered"].tolist() == [True, False, False, False, False, False]
    shown = made.perturbed_items[made.perturbed_items["role"] == "demonstration"]
    assert shown["question"].tolist() == source["question"].tolist()
