"""Perturbed copies of benchmarks with items and demonstrations."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import binom

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.params.perturbation import PerturbationParams
from benchwright.tables.wicked import PerturbationChanges
from benchwright.transforms.compose import Perturbed, perturb
from few_examples import few_examples
from transforms.benchmark_tables import assert_coherent, items_table, plain_items

NOTA = "None of the above"
NOTC = "None of the other choices"
WICKED = PerturbationParams()
NO_ITEMS = items_table([])
ORDERS = [
    ["none_of_the_above"],
    ["shuffle_choices"],
    ["replace_choice"],
    ["shuffle_choices", "replace_choice"],
    ["replace_choice", "shuffle_choices"],
    ["shuffle_choices", "none_of_the_above"],
    ["none_of_the_above", "shuffle_choices"],
    ["replace_choice", "none_of_the_above", "shuffle_choices"],
]


def parameters(names: list[str], copies: int = 5) -> PerturbationParams:
    return PerturbationParams.model_validate(
        {
            "name": "p",
            "copies": copies,
            "transforms": [{"transform": name} for name in names],
        }
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


@given(any_rows(), st.sampled_from(ORDERS), st.integers(0, 2**31))
@few_examples
def test_any_items_stay_coherent_under_any_order_of_transforms(
    rows: list[tuple[str, list[str], int]], names: list[str], seed: int
) -> None:
    source = items_table(rows)
    made = perturb(source, NO_ITEMS, parameters(names, copies=2), seed)
    assert_coherent(source, made.perturbed_items, [NOTA, NOTC])


def test_the_five_copies_differ() -> None:
    made = perturb(plain_items(200), NO_ITEMS, WICKED, 11)
    assert list(made.perturbed_items["condition"].unique()) == [
        f"wicked-{copy}" for copy in range(1, 6)
    ]
    shown = made.perturbed_items.groupby("condition")["content_hash"].agg(tuple)
    assert shown.nunique() == 5
    for first in range(5):
        for second in range(first):
            same = sum(a == b for a, b in zip(shown.iloc[first], shown.iloc[second], strict=True))
            assert same < 90  # 50 expected


def test_demonstrations_are_perturbed_like_items() -> None:
    demonstrations = plain_items(100, prefix="b/dev")
    made = perturb(plain_items(20), demonstrations, WICKED, 11)
    shown = made.perturbed_items[made.perturbed_items["role"] == "demonstration"]
    assert len(shown) == 500
    assert_coherent(demonstrations, shown, [NOTA])
    assert all(choices[-1] == NOTA for choices in shown["choices"])
    as_items = perturb(demonstrations, NO_ITEMS, WICKED, 11).perturbed_items
    assert shown["content_hash"].tolist() == as_items["content_hash"].tolist()
    gold = (shown["answer_text"] == NOTA).mean()
    assert 0.18 < gold < 0.32


@given(st.permutations(range(12)), st.permutations(range(12)))
@few_examples
def test_results_do_not_depend_on_row_order(first: list[int], second: list[int]) -> None:
    source, demonstrations = plain_items(12), plain_items(12, prefix="b/dev")
    names = parameters(["replace_choice", "none_of_the_above", "shuffle_choices"], copies=2)
    expected = perturb(source, demonstrations, names, 11)
    made = perturb(source.iloc[first], demonstrations.iloc[second], names, 11)
    pd.testing.assert_frame_equal(made.perturbed_items, expected.perturbed_items)
    pd.testing.assert_frame_equal(made.changes, expected.changes)


def test_changes_explain_each_copy() -> None:
    source = items_table(
        [("Which?", ["p", "q", "r", "s"], 2), ("Which?", ["p", "q", "None of these"], 0)]
    )
    names = parameters(["shuffle_choices", "none_of_the_above"])
    made = perturb(source, NO_ITEMS, names, 11)
    assert list(made.changes.columns) == PerturbationChanges.columns()
    assert len(made.changes) == 2 * 5 * 2
    plain = made.changes[made.changes["item_id"] == "b/s/0"]
    taken = plain[plain["transform"] == "none_of_the_above"].set_index("condition")
    shown = made.perturbed_items[made.perturbed_items["item_id"] == "b/s/0"].set_index("condition")
    for condition, row in taken.iterrows():
        choices = shown["choices"][condition]
        assert set(choices) == {"p", "q", "r", "s", NOTA} - {row["removed_choice"]}
        assert row["gold_removed"] == (row["removed_choice"] == "r")
        assert row["gold_removed"] == (shown["answer_text"][condition] == NOTA)
    other = made.changes[made.changes["item_id"] == "b/s/1"]
    copied = other[other["transform"] == "none_of_the_above"]
    assert set(copied["reason"]) == {"none_or_all_present"}
    assert not copied["altered"].any()


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


def test_items_without_choices_pass_unchanged() -> None:
    source = items_table([("6 × 7?", [], -1)], answer_text=["42"])
    made = perturb(source, NO_ITEMS, parameters(["none_of_the_above", "shuffle_choices"], 1), 11)
    (row,) = made.perturbed_items.to_dict("records")
    assert (row["choices"], row["answer"], row["answer_text"]) == ([], -1, "42")
    assert row["content_hash"] == content_hash("6 × 7?")
    assert set(made.changes["reason"]) == {"open_ended"}


def test_several_right_options_are_only_shuffled() -> None:
    source = items_table([("Which?", ["p", "q", "r"], 0)], correct_set=[[0, 2]])
    made = perturb(source, NO_ITEMS, parameters(["none_of_the_above", "shuffle_choices"]), 11)
    assert all(sorted(choices) == ["p", "q", "r"] for choices in made.perturbed_items["choices"])
    assert "several_right_options" in set(made.changes["reason"])


def test_error_names_an_answer_out_of_range() -> None:
    source = items_table([("Which?", ["p", "q"], 0)]).assign(answer=2)
    with pytest.raises(InputError, match=r"items: item 'b/s/0': answer 2 .* 2 choices; use 0–1"):
        perturb(source, NO_ITEMS, WICKED, 11)


def test_error_names_a_duplicate_id() -> None:
    source = pd.concat([plain_items(2), plain_items(1)])
    with pytest.raises(InputError, match="'b/s/0' occurs twice"):
        perturb(NO_ITEMS, source, WICKED, 11)


@pytest.mark.parametrize(
    "wrong",
    [
        {"transforms": []},
        {"transforms": [{"transform": "rephrase"}]},
        {"transforms": [{"transform": "shuffle_choices"}, {"transform": "shuffle_choices"}]},
        {"transforms": [{"transform": "none_of_the_above", "text": "A fifth thing"}]},
        {"transforms": [{"transform": "replace_choice", "probability": 1.5}]},
        {"copies": 0},
        {"name": "wicked-1"},
    ],
)
def test_wrong_settings_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PerturbationParams.model_validate(wrong)


def ablation(names: list[str], copies: int = 3, cumulative: bool = True) -> PerturbationParams:
    parts = [{"transform": name} | ({"model": "m"} if name == "rephrase" else {}) for name in names]
    return PerturbationParams.model_validate(
        {"name": "cf", "copies": copies, "cumulative": cumulative, "transforms": parts}
    )


def test_rephrasing_replaces_the_question() -> None:
    source = items_table(
        [("Which?", ["p", "q", "r"], 0), ("Who?", ["s", "t", "u"], 1), ("How?", ["v", "w"], 0)],
        explanation=["The answer is (A).", None, None],
    )
    rephrasings = {("item", "b/s/0"): "What?", ("item", "b/s/1"): None}
    made = perturb(source, source, ablation(["rephrase"], 5, False), 11, rephrasings=rephrasings)
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


def test_explanations_by_letter_are_removed_if_options_move() -> None:
    source = items_table([("Which?", ["p", "q", "r", "s"], 0)], explanation=["It is (A). So."])
    rephrasings = {("item", "b/s/0"): "What?"}
    names = ablation(["rephrase", "shuffle_choices"], 5)
    made = perturb(source, NO_ITEMS, names, 11, rephrasings=rephrasings).perturbed_items
    moved = [list(choices) != ["p", "q", "r", "s"] for choices in made["choices"]]
    assert made["explanation"].isna().tolist() == moved
    assert any(moved)


@given(any_rows(), st.permutations(["shuffle_choices", "replace_choice", "none_of_the_above"]),
       st.integers(0, 2**31))  # fmt: skip
@few_examples
def test_prefix_equals_its_transforms_alone(
    rows: list[tuple[str, list[str], int]], names: list[str], seed: int
) -> None:
    source = items_table(rows)
    together = perturb(source, source, ablation(names, 2), seed)
    for length in (1, 2, 3):
        alone = perturb(source, source, ablation(names[:length], 2, False), seed)
        for part, whole in (
            (alone.perturbed_items, together.perturbed_items),
            (alone.changes, together.changes),
        ):
            selected = whole[whole["condition"].str.startswith(f"cf_{length}-")]
            renamed = selected.assign(
                condition=selected["condition"].str.replace(f"cf_{length}-", "cf-")
            )
            assert renamed.fillna("").to_dict("list") == part.fillna("").to_dict("list")


def _real_items(folder: Path, name: str) -> pd.DataFrame:
    rows = pd.read_parquet(folder / "benchmarks" / f"{name}.parquet")
    if name == "truthfulqa":
        choices = [
            [best, *(text.strip() for text in wrong.split(";") if text.strip())]
            for best, wrong in zip(rows["Best Answer"], rows["Incorrect Answers"], strict=True)
        ]
        questions, answers = rows["Question"], [0] * len(rows)
    else:
        choices = [list(texts) for texts in rows["choices"]]
        questions, answers = rows["question"], rows["answer_index"]
    body = zip(questions, choices, answers, strict=True)
    return items_table([(question, texts, int(answer)) for question, texts, answer in body])


def _gold_removed(made: Perturbed, source: pd.DataFrame) -> dict[int, tuple[int, int]]:
    """(altered items, removed gold options) by number of options, over all copies."""
    sizes = dict(zip(source["item_id"], source["choices"].map(len), strict=True))
    altered = made.changes[made.changes["altered"]]
    by_size = altered.groupby(altered["item_id"].map(sizes))["gold_removed"]
    return {int(size): (len(part), int(part.sum())) for size, part in by_size}


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name",
    [
        "truthfulqa",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("arc", "mmlu", "commonsense_qa")),
    ],
)
def test_every_real_item_stays_coherent_in_five_copies(
    shared_data: Path, name: str, show: Callable[[str], None]
) -> None:
    source = _real_items(shared_data, name)
    made = perturb(source, NO_ITEMS, WICKED, 11)
    assert_coherent(source, made.perturbed_items, [NOTA])
    altered = made.changes["altered"].to_numpy()
    assert all(
        choices[-1] == NOTA
        for choices, changed in zip(made.perturbed_items["choices"], altered, strict=True)
        if changed
    )
    for size, (count, gold) in sorted(_gold_removed(made, source).items()):
        low, high = binom.interval(0.9999, count, 1 / size)
        show(f"{name}, K = {size}: right option removed in {gold / count:.4f} of {count}")
        assert low <= gold <= high
    reasons = made.changes["reason"].value_counts().drop("") // 5
    show(f"{name}: {altered.mean():.2%} altered; copied {reasons.to_dict()}")


@pytest.mark.real_data
@pytest.mark.parametrize("name", [pytest.param("mmlu", marks=pytest.mark.long), "truthfulqa"])
def test_the_rules_of_mmlu_cf_keep_every_real_item_coherent(shared_data: Path, name: str) -> None:
    names = parameters(["shuffle_choices", "replace_choice"], copies=1)
    source = _real_items(shared_data, name)
    assert_coherent(source, perturb(source, NO_ITEMS, names, 11).perturbed_items, [NOTC])
