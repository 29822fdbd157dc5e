import numpy as np
import pandas as pd
import pytest

from benchwright.answers.choose_filter_models import (
    check_filter_models,
    choose_filter_models,
)
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.tables.responses import Models

NAN = np.nan
ITEMS = tuple(f"q{i}" for i in range(10))


def matrix(**right: float | list[float]) -> ResponseMatrix:
    """Models by name; a number is how many of the ten items are answered rightly."""
    rows = [
        np.array(r, dtype=np.float32) if isinstance(r, list) else (np.arange(10) < r)
        for r in right.values()
    ]
    correct = np.array(rows, dtype=np.float32)
    return ResponseMatrix.of(tuple(right), ITEMS[: correct.shape[1]], correct=correct)


def table(**kin: tuple[str, str | None]) -> pd.DataFrame:
    """Family and organisation by model."""
    return Models.from_rows([(m, f, o, None, False, None) for m, (f, o) in sorted(kin.items())])


FIVE = matrix(a=9, b=8, c=7, d=6, e=5)
KIN = table(a=("x", "one"), b=("x", "two"), c=("y", "one"), d=("z", "two"), e=("w", "three"))


ASKED = ("acme/alpha@letters-0", "acme/beta@letters-0", "acme/beta@cloze-5")


def asked(*names: str) -> list[str]:
    there = matrix(**dict.fromkeys(ASKED, 9))
    return choose_filter_models(names, there, Models.empty())


def test_a_model_name_stands_for_its_only_configuration() -> None:
    assert asked("acme/alpha", "acme/beta@cloze-5") == [ASKED[0], ASKED[2]]
    assert asked("acme/alpha", ASKED[0]) == [ASKED[0]]
    assert asked("alpha", "beta@cloze-5") == [ASKED[0], ASKED[2]]


def test_a_model_name_with_two_configurations_is_refused() -> None:
    with pytest.raises(InputError, match="fits 2 configurations; name one of acme/beta@letters"):
        asked("acme/beta")


def test_a_name_without_answers_is_kept_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert asked("acme/alpa@letters-0") == ["acme/alpa@letters-0"]
    assert "there are no answers of 'acme/alpa@letters-0'" in caplog.text


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["acme/alpa@letters-0"], "'acme/alpa@letters-0'; .*; did you mean 'acme/alpha@letters-0'"),
        (["acme/alpha", "gpt"], "no answers of 'gpt'; expected one of acme/alpha@letters-0, "),
    ],
)
def test_a_name_that_neither_answers_nor_is_in_conf_is_refused(
    names: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_filter_models(names, ASKED, ["local"])


def test_without_names_the_weaker_half_chooses_one_of_each_family() -> None:
    eight = matrix(a=10, b=9, c=8, d=7, e=6, f=5, g=4, h=3)
    kin = table(e=("x", None), f=("y", None), g=("x", None), h=("z", None))
    for default in (None, {}, "forward"):
        assert choose_filter_models(default, eight, kin) == ["e", "f", "h"]
        assert choose_filter_models(default, ResponseMatrix.empty(ITEMS), Models.empty()) == []


def test_without_a_number_the_three_weakest_are_taken_at_least_and_seven_at_most() -> None:
    assert choose_filter_models(None, FIVE, KIN) == ["c", "d", "e"]
    assert choose_filter_models(None, matrix(a=9, b=8), Models.empty()) == ["a", "b"]
    many = matrix(**{f"m{number:02}": number % 10 for number in range(20)})
    assert len(choose_filter_models(None, many, Models.empty())) == 7
    assert len(choose_filter_models("strongest", many, Models.empty())) == 7


def test_all_takes_every_model() -> None:
    assert choose_filter_models("all", FIVE, KIN) == list(FIVE.models)


@pytest.mark.parametrize(
    ("distinct", "chosen"),
    [("none", ["a", "b", "c"]), ("family", ["a", "c", "d"]), ("organisation", ["a", "b", "e"])],
)
def test_strongest_models_are_chosen_one_per_group(distinct: str, chosen: list[str]) -> None:
    rule = {"choose": "strongest", "count": 3, "distinct": distinct}
    assert choose_filter_models(rule, FIVE, KIN) == chosen


def test_forward_chooses_the_strongest_of_the_weaker_half() -> None:
    rule = {"choose": "forward", "count": 2, "distinct": "none"}
    assert choose_filter_models(rule, FIVE, KIN) == ["d", "e"]
    four = matrix(a=9, b=8, c=7, d=6)
    assert choose_filter_models({**rule, "count": 1}, four, KIN) == ["c"]


def test_ties_are_broken_by_name_in_any_order() -> None:
    there = matrix(b=7, a=7, c=7)
    rule = {"choose": "strongest", "count": 3, "distinct": "none"}
    assert choose_filter_models(rule, there, KIN) == ["a", "b", "c"]
    turned = there.select_models(["c", "a", "b"]).select_items(ITEMS[::-1])
    assert choose_filter_models(rule, turned, KIN) == ["a", "b", "c"]


def test_models_below_min_coverage_are_not_chosen() -> None:
    sparse = matrix(a=6, b=7, c=[1, 1, 1, 1, *[NAN] * 6])
    rule = {"choose": "strongest", "count": 2, "distinct": "none"}
    assert choose_filter_models(rule, sparse, KIN) == ["b", "a"]


def test_accuracy_is_computed_on_common_items() -> None:
    # Of all that each answered b is right least often (8/10, the others 8/9), of what all three
    # answered most often (8/8, the others 7/8).
    there = matrix(
        a=[1, 1, 1, 1, 1, 1, 1, 0, 1, NAN],
        b=[1, 1, 1, 1, 1, 1, 1, 1, 0, 0],
        c=[1, 1, 1, 1, 1, 1, 1, 0, NAN, 1],
    )
    rule = {"choose": "strongest", "count": 3, "distinct": "none", "min_coverage": 0.9}
    assert choose_filter_models(rule, there, KIN) == ["b", "a", "c"]


def test_rarely_answered_items_do_not_count_for_coverage() -> None:
    # q8 and q9 were answered by one model of three.
    eight = [1, 1, 1, 1, 1, 1, 1, 1, NAN, NAN]
    there = matrix(a=10, b=eight, c=eight)
    rule = {"choose": "strongest", "count": 3, "distinct": "none", "min_coverage": 1.0}
    assert choose_filter_models(rule, there, KIN) == ["a", "b", "c"]


def test_each_model_is_chosen_once() -> None:
    there = matrix(**{"a@cloze-3": 8, "a@letters-3": 9, "b@cloze-3": 7})
    for distinct in ("none", "family", "organisation"):
        rule = {"choose": "strongest", "count": 1, "distinct": distinct}
        assert choose_filter_models(rule, there, KIN) == ["a@letters-3"]
    rule = {"choose": "strongest", "count": 2, "distinct": "none"}
    assert choose_filter_models(rule, there, KIN) == ["a@letters-3", "b@cloze-3"]


def test_models_of_unknown_family_are_taken_where_there_are_too_few_families() -> None:
    named_after_itself = table(a=("a", "one"), b=("x", "two"), d=("z", "two"), e=("z", "three"))
    rule = {"choose": "strongest", "count": 2, "distinct": "family"}
    assert choose_filter_models(rule, FIVE, named_after_itself) == ["b", "d"]
    assert choose_filter_models({**rule, "count": 3}, FIVE, named_after_itself) == ["a", "b", "d"]


def refusal(rule: dict[str, object] | str, there: ResponseMatrix = FIVE) -> str:
    with pytest.raises(InputError) as report:
        choose_filter_models(rule, there, KIN)  # type: ignore[arg-type]
    assert "\n" not in str(report.value)
    return str(report.value)


def test_too_few_distinct_models_are_reported_with_their_number() -> None:
    message = refusal({"choose": "strongest", "count": 4, "distinct": "organisation"})
    assert "count=4" in message
    assert "only 3 of 5 fit choose: strongest and distinct: organisation" in message


def test_no_responses_and_too_few_have_different_errors() -> None:
    rule = {"choose": "strongest", "count": 1}
    assert "no responses" in refusal(rule, ResponseMatrix.empty(ITEMS))
    blank = matrix(a=[NAN] * 10)
    assert "no responses" in refusal(rule, blank)
    scattered = matrix(a=[1, 1, 1, 1, NAN, NAN], b=[1, 1, NAN, NAN, 1, 1])
    message = refusal({**rule, "min_coverage": 1.0}, scattered)
    assert "the highest coverage is 0.667" in message


def test_models_without_common_items_are_rejected() -> None:
    there = matrix(a=[1, 1, NAN, NAN], b=[NAN, NAN, 1, 1])
    message = refusal({"choose": "strongest", "count": 1, "min_coverage": 0.5}, there)
    assert "no item was answered by all 2 eligible models" in message


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"choose": "best"}, "filter_models.choose"),
        ({"choose": "strongest", "count": 0}, "filter_models.count"),
        ({"choose": "strongest", "cuont": 3}, "filter_models: unknown key 'cuont'; "),
        ("weaker", "filter_models.choose"),
    ],
)
def test_invalid_rule_is_reported_by_field(rule: dict[str, object] | str, field: str) -> None:
    assert refusal(rule).startswith(field)
