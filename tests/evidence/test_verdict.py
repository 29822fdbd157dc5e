"""The verdict on a subset: one sentence, true wherever it appears."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.evidence.panel import Panel
from benchwright.evidence.verdict import Verdict, judge_subset
from benchwright.statistics.right_order import order_beyond_random
from benchwright.tables.evidence import RandomComparison, RankAgreementTable

BELOW, INSIDE, ABOVE = 0.928, 0.97, 0.995  # of a band from .95 to .99


@pytest.fixture
def judge(small) -> Any:
    """Judge 50 of 60 items, with other cells of the comparison or of the rank agreement."""

    def on(
        apart: tuple[float, float] = (-0.1, 0.1),
        pairs: float | None = 1.0,
        kept: int = 50,
        held_out: int = 4,
        **cells: Any,
    ) -> Verdict:
        group = "held_out" if held_out > 2 else "all"
        models = tuple(f"model-{i}" for i in range(6))
        roles = ("held_out",) * held_out + ("filter",) * (6 - held_out)
        panel = Panel(models, roles, (), 60, "items", (), 60)
        none, ends = (None,) * 4, (60, "")
        agreement = RankAgreementTable.from_rows(
            [
                (group, "kendall_tau_b", cells.get("value", BELOW), *none, 4, *ends),
                (group, "pairwise_agreement", pairs, *none, 4, *ends),
                (group, "clear_pairs", 12.0, *none, 4, *ends),
                (group, "order_beyond_random", 0.1, None, None, *apart, 4, *ends),
                (group, "mdd_full", 7.71, *none, 4, *ends),
                (group, "mdd_kept", 8.44, *none, 4, *ends),
            ]
        )
        row = small.random_comparison_row(models=group, **cells)
        items = pd.DataFrame({"item_id": range(60)})
        return judge_subset(
            items, items[:kept], agreement, RandomComparison.from_rows([row]), panel
        )

    return on


@pytest.mark.parametrize(
    ("value", "apart", "held_out", "place", "said"),
    [
        (BELOW, (-0.3, -0.1), 4, "worse", "Do not rank models by these 50 of 60 items: they rank "),
        (BELOW, (-0.3, 0.3), 4, "worse", "rank 4 held-out models worse than random subsets of"),
        (0.9496, (-0.3, -0.1), 4, "same", "no better than"),  # as written, it is the bound
        (INSIDE, (-0.3, -0.1), 4, "same", "Use these 50 of 60 items to save 17% of the questions"),
        (0.95, (-0.3, -0.1), 4, "same", "no better than random subsets"),  # a bound is inside
        (ABOVE, (0.1, 0.3), 4, "better", "Use these 50 of 60 items: they rank 4 held-out models b"),
        (ABOVE, (0.0, 0.3), 4, "same", "no better than random subsets"),
        (ABOVE, (0.1, 0.3), 2, "same", "6 models (in-sample) no better than random subsets"),
        (
            BELOW,
            (-0.3, -0.1),
            2,
            "worse",
            "they rank 6 models (in-sample) worse than random subset",
        ),
    ],
)
def test_better_needs_a_test_over_held_out_models_and_worse_does_not(
    judge, value: float, apart: tuple[float, float], held_out: int, place: str, said: str
) -> None:
    verdict = judge(value=value, apart=apart, held_out=held_out)
    assert verdict.place == place
    assert said in verdict.sentence


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (1.0, ", and keep the order of all 12 clearly different pairs."),
        (0.999, ", and keep the order of 11 of 12 clearly different pairs."),
        (None, "random subsets of the same size."),
    ],
)
def test_the_sentence_counts_the_pairs(judge, pairs: float | None, said: str) -> None:
    sentence = judge(value=INSIDE, pairs=pairs).sentence
    assert sentence.startswith("Use these")
    assert sentence.endswith(said)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (1.0, ", though they keep the order of all 12 clearly different pairs."),
        (0.94, ", and keep the order of only 11 of 12 clearly different pairs."),
    ],
)
def test_the_sentence_on_a_bad_subset_concedes_what_is_kept(judge, pairs: float, said: str) -> None:
    assert judge(value=BELOW, pairs=pairs).sentence.endswith(said)


@pytest.mark.parametrize(
    ("pairs", "value", "rough"), [(0.94, 0.97, True), (1.0, 0.89, True), (0.95, 0.9, False)]
)
def test_a_subset_that_loses_pairs_or_tau_is_for_a_rough_ranking(
    judge, pairs: float, value: float, rough: bool
) -> None:
    sentence = judge(value=value, pairs=pairs, random_low=0.8).sentence
    assert sentence.startswith("Rank models by these 50 of 60 items only roughly: ") == rough
    assert "no better than random subsets of the same size" in sentence


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"n_items": 51, "value": ABOVE}, "too few were removed (9) to judge a ranking."),
        ({"value": None, "reason": "all tied"}, "all tied."),
        ({"metric": "spread_top"}, "there are too few models to rank."),
    ],
)
def test_too_little_evidence_gives_no_verdict(judge, cells: dict[str, Any], said: str) -> None:
    verdict = judge(apart=(0.1, 0.3), **cells)
    assert verdict.place == "unknown"
    assert verdict.sentence.startswith("No verdict on these 50 of 60 items: ")
    assert said in verdict.sentence


@pytest.mark.parametrize(
    ("n_full", "said"),
    [
        (54, "these 50 of 60 items to"),
        (53, "items (judged by the answers to 40 of 53) to save 17%"),
    ],
)
def test_the_sentence_says_if_few_items_were_judged(judge, n_full: int, said: str) -> None:
    assert said in judge(value=INSIDE, n_items=40, n_full=n_full).sentence


def test_ten_removed_items_are_enough(judge) -> None:
    assert judge(n_items=50, value=ABOVE, apart=(0.1, 0.3)).place == "better"


def test_all_items_are_kept(judge) -> None:
    assert judge(kept=60).sentence == "Use all 60 items: none was removed."


def test_tiles_are_pairs_items_and_the_smallest_difference(judge) -> None:
    assert [figure for figure, _ in judge(pairs=0.5).tiles] == [
        "6 of 12 (50.0%)",
        "10 of 60 (17%)",
        "7.7 → 8.4 points",
    ]
    assert judge(pairs=1.0).tiles[0][0] == "12 of 12 (100%)"
    assert judge(pairs=None).tiles[0][0] == "—"


def test_order_beyond_random_is_0_on_average_and_shows_what_is_lost() -> None:
    rng = np.random.default_rng(0)
    correct = (rng.random((12, 200)) < np.linspace(0.3, 0.8, 12)[:, None]).astype(float)
    masks = [rng.permutation(200) < 80 for _ in range(100)]
    values = [order_beyond_random(correct, mask).value for mask in masks]
    assert np.mean(values) == pytest.approx(0, abs=0.01)
    # Items that weak models solve and strong ones do not turn the order round.
    turned = np.argsort(correct[6:].mean(axis=0) - correct[:6].mean(axis=0))[:40]
    value, low, high = order_beyond_random(correct, np.isin(np.arange(200), turned))
    assert low < value < high < 0
    for kept in (np.ones(200, bool), np.zeros(200, bool)):
        assert np.isnan(order_beyond_random(correct, kept)).all()
    assert np.isnan(order_beyond_random(correct[:2], masks[0])).all()


def test_models_with_equal_scores_count_nothing() -> None:
    correct = np.tile([1.0, 0.0, 1.0, 0.0], (4, 1))
    assert order_beyond_random(correct, np.array([True, True, False, False])) == (0, 0, 0)
