"""The verdict on a subset: one sentence, true wherever it appears."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.kept_ranking import compare_ranks
from benchwright.evidence.panel import Panel
from benchwright.evidence.random_comparison import compare_with_random
from benchwright.evidence.ratings import Ratings
from benchwright.evidence.scores import score_models
from benchwright.evidence.verdict import SubsetVerdict, judge_subset
from benchwright.params.evaluation import EvaluationParams
from benchwright.tables.evidence import RandomComparison, RankAgreementTable

INSIDE, ABOVE, BELOW = 0.97, 0.995, 0.928  # of a band from .95 to .99
SAME, RARE = {"p_value": 0.5}, {"p_value": 0.02}


@pytest.fixture
def judge(small) -> Any:
    """Judge 50 of 60 items by 100 clearly different pairs of 4 held-out models of 6."""

    def on(
        changed: float = 0,
        tau: float = INSIDE,
        kept: int = 50,
        held_out: int = 4,
        models: tuple[float, float] = (0.8, 1.0),
        pairs: dict[str, Any] = SAME,
        why: str = "",
        low: float = 0.95,
        **cells: Any,
    ) -> SubsetVerdict:
        group = "held_out" if held_out > 2 else "all"
        names = tuple(f"model-{i}" for i in range(6))
        roles = ("held_out",) * held_out + ("filter",) * (6 - held_out)
        panel = Panel(names, roles, (), 60, "items", (), 60)
        none, ends = (None,) * 4, (60, "")
        share = 1 - changed / 100
        agreement = RankAgreementTable.from_rows(
            [
                (group, "kendall_tau_b", tau, None, None, *models, 4, *ends),
                (group, "pairwise_agreement", share, None, None, 0.4, 1.0, 4, 60, why),
                (group, "clear_pairs", 100.0, *none, 4, *ends),
                (group, "mdd_full", 7.71, *none, 4, *ends),
                (group, "mdd_kept", 8.44, *none, 4, *ends),
            ]
        )
        cells = {"models": group, **cells}
        beside = {"metric": "pairwise_agreement", "value": share, "random_mean": 0.98}
        beside |= {"random_low": 0.96, "random_high": 1.0}
        rows = [
            small.random_comparison_row(**cells, value=tau, random_low=low),
            small.random_comparison_row(**cells, **beside | pairs),
        ]
        items = pd.DataFrame({"item_id": range(60)})
        return judge_subset(items, items[:kept], agreement, RandomComparison.from_rows(rows), panel)

    return on


@pytest.mark.parametrize(
    ("changed", "pairs", "place"),
    [
        (3, RARE, "worse"),
        (2.5, RARE, "same"),  # a tie is half a pair; below three nothing is alarming
        (3, {"p_value": 0.021}, "same"),
        (3, RARE | {"random_mean": 0.96}, "same"),  # fewer than random subsets change
        (12, SAME, "same"),
    ],
)
def test_worse_takes_three_pairs_and_more_than_random_subsets_change(
    judge, changed: float, pairs: dict[str, Any], place: str
) -> None:
    assert judge(changed, pairs=pairs).place == place
    # Kendall's tau-b alone never makes a subset worse.
    assert judge(changed, BELOW, pairs=pairs).place == place


@pytest.mark.parametrize(
    ("tau", "models", "held_out", "place"),
    [
        (ABOVE, (0.976, 1), 4, "better"),  # the mean of random subsets is .975
        (0.9904, (0.976, 1), 4, "same"),  # as written, it is the bound
        (ABOVE, (0.975, 1), 4, "same"),
        (ABOVE, (np.nan, np.nan), 4, "same"),
        (ABOVE, (0.976, 1), 2, "same"),
    ],
)
def test_better_needs_held_out_models_and_an_interval_over_models(
    judge, tau: float, models: tuple[float, float], held_out: int, place: str
) -> None:
    assert judge(tau=tau, models=models, held_out=held_out).place == place


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        (
            {},
            "Use these 50 of 60 items to save 17% of the questions, not for a better ranking: they "
            "rank 4 held-out models no better than random subsets of the same size, and keep the "
            "order of all 100 clearly different pairs.",
        ),
        (
            {"changed": 5, "pairs": RARE},
            "Rank models by these 50 of 60 items with care: they change the order of 5 of 100 "
            "clearly different pairs of 4 held-out models, worse than random subsets of the same "
            "size (0 to 4).",
        ),
        (
            {"changed": 5.5, "pairs": RARE, "held_out": 2},
            "Do not rank models by these 50 of 60 items: they change the order of 6 of 100 clearly "
            "different pairs of 6 models (in-sample), worse than random subsets of the same size "
            "(0 to 4).",
        ),
        (
            {"changed": 6},
            "Rank models by these 50 of 60 items only roughly: they rank 4 held-out models no "
            "better than random subsets of the same size, and keep the order of 94 of 100 clearly "
            "different pairs (ties count half).",
        ),
        (
            {"tau": ABOVE, "models": (0.98, 1), "changed": 1},
            "Use these 50 of 60 items: they rank 4 held-out models better than random subsets of "
            "the same size, and keep the order of 99 of 100 clearly different pairs "
            "(ties count half).",
        ),
    ],
)
def test_each_verdict_has_its_sentence(judge, case: dict[str, Any], sentence: str) -> None:
    assert judge(**case).sentence == sentence


MORE = " Models that differ less change places more than on random subsets."


@pytest.mark.parametrize(
    ("tau", "low", "changed", "said"),
    [
        (BELOW, 0.95, 0, MORE),
        (0.9496, 0.95, 0, ""),  # as written, it is the bound
        (0.89, 0.8, 0, " Models that differ less change places (tau-b 0.89)."),
        (0.89, 0.8, 6, " Models that differ less change places (tau-b 0.89)."),
        (0.9, 0.8, 0, ""),
    ],
)
def test_swaps_of_models_that_all_items_do_not_tell_apart_are_no_alarm(
    judge, tau: float, low: float, changed: int, said: str
) -> None:
    sentence = judge(changed, tau, low=low).sentence
    assert sentence.startswith("Use these 50 of 60 items to save" if not changed else "Rank models")
    assert sentence.partition(" (ties count half)." if changed else "pairs.")[2] == said


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"changed": np.nan, "why": "none of 4 models differs"}, "none of 4 models differs."),
        ({"pairs": {"metric": "spread_top"}}, "there are too few models to rank."),
        ({"draws": 98}, "at least 99 random subsets are needed."),
    ],
)
def test_too_little_evidence_gives_no_verdict(judge, case: dict[str, Any], said: str) -> None:
    verdict = judge(**case)
    assert verdict.place == "unknown"
    assert verdict.sentence == f"No verdict on these 50 of 60 items: {said}"
    assert judge(draws=99).place == "same"


@pytest.mark.parametrize(
    ("n_full", "said"),
    [
        (54, "these 50 of 60 items to"),
        (53, "items (judged by the answers to 40 of 53) to save 17%"),
    ],
)
def test_the_sentence_says_if_few_items_were_judged(judge, n_full: int, said: str) -> None:
    assert said in judge(n_items=40, n_full=n_full).sentence


def test_all_items_are_kept(judge) -> None:
    assert judge(kept=60).sentence == "Use all 60 items: none was removed."


def test_tiles_are_pairs_items_and_the_smallest_difference(judge) -> None:
    assert [figure for figure, _ in judge(50).tiles] == [
        "50 of 100 (50.0%)",
        "10 of 60 (17%)",
        "7.7 → 8.4 points",
    ]
    assert judge(0).tiles[0] == (
        "100 of 100 (100%)",
        "clearly different pairs of models in the same order (95% over families: 40.0%–100%)",
    )
    assert judge(0.01).tiles[0][0] == "99 of 100 (99.9%)"
    assert judge(np.nan).tiles[0][0] == "—"


def chain(n: int = 400) -> np.ndarray:
    """Answers of 12 models of rising skill."""
    rng = np.random.default_rng(0)
    return (rng.random((12, n)) < np.linspace(0.3, 0.8, 12)[:, None]).astype(float)


def verdict_on(correct: np.ndarray, kept: np.ndarray) -> SubsetVerdict:
    """Judge a subset by models that are all held out, each a family."""
    m, n = correct.shape
    models, ids = tuple(f"m{i:02d}" for i in range(m)), tuple(f"i{k:03d}" for k in range(n))
    matrix = ResponseMatrix.of(models, ids, correct=correct.astype(np.float32))
    items = pd.DataFrame({"item_id": ids, "subject": "s", "question": ids, "passage_id": None})
    some = items[kept]
    panel = Panel(models, ("held_out",) * m, ids, n, "all", {}, n)
    scores = score_models(matrix, items, some, panel)
    shared = (scores, panel, Ratings({}, ""), EvaluationParams(bootstrap_samples=50), 0)
    agreement = compare_ranks(matrix, items, some, *shared)
    subsets = {"kept": some["item_id"].tolist()}
    random, _ = compare_with_random(matrix, items, subsets, *shared)
    return judge_subset(items, some, agreement, random, panel)


def test_items_chosen_to_swap_alarm_and_random_ones_do_not() -> None:
    correct = chain()
    for seed in range(3):
        random = np.random.default_rng(seed).permutation(400) < 200
        assert verdict_on(correct, random).place != "worse"
    order = np.argsort(correct[6:].mean(axis=0) - correct[:6].mean(axis=0))
    verdict = verdict_on(correct, np.isin(np.arange(400), order[:100]))
    assert verdict.place == "worse"
    assert verdict.sentence.startswith("Do not rank models by these 100 of 400 items: they change")
