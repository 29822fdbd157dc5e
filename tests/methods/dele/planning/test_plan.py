"""Sizes of plans against brute force, unreachable targets, and estimated scores."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.planning.plan import (
    STRONGER,
    PlanRow,
    Wanted,
    make_plan,
    smallest_size,
)
from benchwright.methods.dele.planning.predicted_scores import FEWEST_MODELS
from benchwright.methods.dele.planning.score_errors import (
    variance_of_scores,
)
from benchwright.statistics.paired_differences import clustered_se
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import subset_scores


def answers(m: int, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1, (m, 1)) - rng.normal(0, 1, (1, n))
    return (rng.random((m, n)) < 1 / (1 + np.exp(-1.5 * logits))).astype(np.float32)


@given(st.integers(1, 60), st.integers(1, 60))
def test_smallest_size_is_the_change_point(change: int, n: int) -> None:
    assert smallest_size(lambda k: k >= change, n) == (change if change <= n else None)


def test_benchmark_error_equals_the_spread_over_all_subsets() -> None:
    values = answers(3, 7)
    variance = variance_of_scores(values, np.arange(7))
    for k in range(1, 7):
        means = [values[:, list(places)].mean(axis=1) for places in combinations(range(7), k)]
        spread = np.std(means, axis=0)  # around the mean of all, which their mean is
        np.testing.assert_allclose(variance.standard_error(k, "benchmark"), spread, atol=1e-6)
    np.testing.assert_allclose(variance.standard_error(7, "benchmark"), 0, atol=1e-12)


def test_ability_error_with_all_items_is_the_clustered_error() -> None:
    values, clusters = answers(4, 60), np.repeat(np.arange(20), 3)
    values[:, :] = values[:, clusters * 3]  # passages stand or fall together
    variance = variance_of_scores(values, clusters)
    whole = clustered_se(values, clusters)
    np.testing.assert_allclose(variance.standard_error(60, "ability"), whole, rtol=1e-9)
    single = values.var(axis=1, ddof=1, dtype=np.float64)
    np.testing.assert_allclose(variance.standard_error(1, "ability"), np.sqrt(single), rtol=1e-6)


def rows(values: np.ndarray, **wanted: object) -> dict[tuple[str, str, str], PlanRow]:
    plan = make_plan(
        Training(values),
        Wanted(**wanted),  # type: ignore[arg-type]
    )
    return {(row.whose, row.target, row.sampler): row for row in plan.rows}


def test_standard_error_target_gives_the_smallest_sufficient_size() -> None:
    values = answers(9, 300)
    by_key = rows(values, standard_errors=(0.03,))
    single = values.var(axis=1, ddof=1, dtype=np.float64)
    for whose, of in (("median model", np.median), ("worst model", np.max)):
        need = next(k for k in range(1, 301) if of(np.sqrt(single * (1 / k - 1 / 300))) <= 0.03)
        row = by_key[whose, "benchmark", "random"]
        assert row.items == need
        assert row.value is not None
        assert row.value <= 0.03
        need = next(k for k in range(1, 301) if of(np.sqrt(single / k)) <= 0.03)
        assert by_key[whose, "ability", "random"].items == need
    assert by_key["worst model", "ability", "random"].items > row.items  # type: ignore[operator]


def test_unreachable_targets_have_a_reason() -> None:
    values = answers(9, 100)
    row = rows(values, standard_errors=(0.01,))["median model", "ability", "random"]
    with_all = np.median(np.sqrt(values.var(axis=1, ddof=1) / 100))
    assert row.items is None
    assert row.with_all == pytest.approx(with_all, rel=1e-5)
    assert row.reason == f"the value with all 100 items is {with_all:.4f}"


def test_detectable_difference_is_the_paired_error_times_both_quantiles() -> None:
    values = answers(5, 400)
    by_key = rows(values, differences=(0.12,), alpha=0.1, power=0.9)
    first, second = np.triu_indices(5, 1)
    single = (values[first] - values[second]).var(axis=1, ddof=1, dtype=np.float64)
    at = (1.6448536 + 1.2815516) * np.sqrt(single)
    for whose, share in (("median pair", 0.5), ("95% of pairs", 0.95)):
        need = next(k for k in range(1, 401) if np.quantile(at / np.sqrt(k), share) <= 0.12)
        assert by_key[whose, "ability", "random"].items == need


def test_differences_need_two_models_and_rankings_three() -> None:
    row = rows(answers(1, 50), differences=(0.1,))["median pair", "benchmark", "random"]
    assert (row.items, row.reason) == (None, "a difference needs at least 2 models, there is 1")
    row = rows(answers(2, 50), tau_b=(0.9,))["half of subsets", "benchmark", "random"]
    assert row.items is None
    assert row.reason == "a ranking needs at least 3 models, not 2"


def test_rank_agreement_target_holds_for_half_and_for_most_subsets() -> None:
    values = answers(30, 200)
    by_key = rows(values, tau_b=(0.8,), subsets=200)
    half = by_key["half of subsets", "benchmark", "random"]
    safe = by_key["95% of subsets", "benchmark", "random"]
    assert half.items is not None
    assert safe.items is not None
    assert 10 < half.items < safe.items < 200
    assert half.value == pytest.approx(0.8, abs=0.02)
    assert safe.value == pytest.approx(0.8, abs=0.02)


def test_equal_models_have_no_ranking() -> None:
    row = rows(np.ones((5, 40), np.float32), spearman=(0.5,))
    assert row["half of subsets", "benchmark", "random"].reason == "all models have the same score"


@pytest.mark.parametrize(("models", "said"), [(6, ""), (5, "5 models are too few to say")])
def test_few_models_have_no_halves_to_plan_for(models: int, said: str) -> None:
    by_key = rows(answers(models, 60), tau_b=(0.6,), subsets=20)
    assert by_key["half of subsets", "benchmark", "random"].reason.startswith(said)
    assert ((STRONGER, "benchmark", "random") in by_key) == (models == 6)


def test_ranks_are_planned_for_halves_of_the_families_and_for_stronger_models() -> None:
    """Two families that differ much are told apart by few items, models of one by many."""
    values, families = answers(24, 200), np.repeat([0, 1], 12)
    values[12:, :150] = 1
    wanted = Wanted(tau_b=(0.7,), subsets=50)

    def items(kin: np.ndarray | None) -> dict[str, int | None]:
        plan = make_plan(Training(values, families=kin), wanted)
        return {row.whose: row.items for row in plan.rows}

    alone, together = items(None), items(families)
    assert together["half of subsets"] > alone["half of subsets"]  # type: ignore[operator]
    assert together[STRONGER] == alone[STRONGER]
    assert alone[STRONGER] > alone["half of subsets"]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(), "no target"),
        (Wanted(tau_b=(0.9,), order=0.9), "--order needs --gap"),
    ],
)
def test_invalid_targets_are_rejected(wanted: Wanted, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_plan(Training(answers(4, 20)), wanted)


def test_curve_has_all_metrics_at_all_sizes() -> None:
    wanted = Wanted(standard_errors=(0.1,), spearman=(0.5,))
    curve = make_plan(Training(answers(5, 30)), wanted).curve
    errors = {"standard_error_benchmark", "standard_error_ability", "detectable_difference"}
    assert set(curve["metric"]) == errors | {"tau_b", "spearman"}
    assert (curve.loc[(curve["items"] == 30) & (curve["metric"] == "tau_b"), "value"] == 1).all()


def test_items_for_an_order_are_those_at_which_random_subsets_keep_it() -> None:
    correct = answers(60, 300)
    wanted = Wanted(gaps=(0.03, 0.08), order=0.85)
    rows = make_plan(Training(correct), wanted).rows
    assert [row.goal for row in rows] == ["order", "order"]
    scores = correct.mean(axis=1, dtype=np.float64)
    gaps = scores[:, None] - scores
    for row in rows:
        assert row.items is not None
        assert row.value is not None
        assert row.value >= 0.85
        masks = draw_subsets(300, row.items, 300, np.random.default_rng(0))
        near = np.abs(gaps - row.wanted) < 0.01
        parts = [part[:, None] - part for part in subset_scores(correct, masks)]
        kept = [(1 + np.sign(part[near])) / 2 for part in parts]
        assert np.mean(kept) == pytest.approx(0.85, abs=0.03)


def test_a_gap_wider_than_any_has_a_caveat() -> None:
    row = make_plan(Training(answers(5, 50)), Wanted(gaps=(0.99,))).rows[0]
    assert row.items is not None
    assert row.reason.startswith("no two models are further apart than")


def alike(m: int, n: int, slope: float) -> np.ndarray:
    """Responses of models whose items differ in difficulty by `slope` standard deviations."""
    rng = np.random.default_rng(5)
    logits = rng.normal(0, 0.7, (m, 1)) - slope * rng.normal(0, 1, (1, n))
    return (rng.random((m, n)) < 1 / (1 + np.exp(-logits))).astype(np.float32)


def test_predictable_items_need_fewer_responses() -> None:
    correct = alike(60, 400, 3.0)
    plan = make_plan(Training(correct), Wanted((0.03,)))
    [mean, estimated] = [
        row for row in plan.rows if (row.whose, row.target) == ("median model", "benchmark")
    ]
    assert (mean.sampler, mean.estimator, estimated.estimator) == ("random", "mean", "aipw")
    assert estimated.items < 0.7 * mean.items
    assert estimated.value <= 0.03
    assert "cover 9" in estimated.reason
    assert plan.advice.startswith(f"With {plan.rows[0].items} items: To rank models, use mean of")
    assert make_plan(Training(correct[:9]), Wanted((0.03,))).advice == ""


def test_there_is_no_row_without_a_gain_or_with_few_models() -> None:
    noise = np.random.default_rng(1).integers(0, 2, (40, 200)).astype(np.float32)
    for correct in (noise, alike(FEWEST_MODELS - 1, 200, 3.0)):
        rows = make_plan(Training(correct), Wanted((0.03,))).rows
        assert {row.estimator for row in rows} == {"mean"}
