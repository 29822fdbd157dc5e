"""Choice of a sampler by its results, its gains on held-out models, and the exported subset."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.dele.evidence.choice import (
    choose_sampler,
    choose_samplers,
    choose_subset,
    describe_subset,
    gain_over_random,
    gains_over_splits,
    model_splits,
)
from benchwright.methods.dele.evidence.sampler_results import compare_samplers
from benchwright.params.sampling import AdaptiveParams
from benchwright.tables.dele import ChosenSubset
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_items,
    make_panels,
    make_params,
    make_study,
)

RATES = (1, 5, 10, 25, 50)


def _figures(quality: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    """Return results with a given correlation, Wasserstein distance and spread by sampler."""
    return pd.DataFrame(
        [
            {
                "sampler": name,
                "rate": rate,
                "repeat": repeat,
                "spearman": correlation,
                "pearson": correlation,
                "tau_b": correlation - 0.1,
                "wasserstein": distance,
                "mean_absolute_error": distance,
                "error_sd": spread,
            }
            for name, (correlation, distance, spread) in quality.items()
            for rate in RATES
            for repeat in range(4)
        ]
    )


def test_best_mean_rank_wins() -> None:
    figures = _figures({"a": (0.95, 0.03, 0.02), "b": (0.94, 0.01, 0.01), "c": (0.93, 0.02, 0.03)})
    choice = choose_sampler(figures, AdaptiveParams())
    assert choice.winner == "b"  # ranks 2, 1, 1
    assert choice.reason == ""
    places = choice.ranking.set_index("sampler")["mean_rank"]
    assert places.to_dict() == pytest.approx({"b": 4 / 3, "a": 2, "c": 8 / 3})


def test_sampler_below_the_minimum_correlation_is_not_eligible() -> None:
    figures = _figures({"a": (0.91, 0.03, 0.03), "b": (0.89, 0.01, 0.01)})
    assert choose_sampler(figures, AdaptiveParams()).winner == "a"
    dips = figures["sampler"].eq("a") & figures["rate"].eq(10)
    figures.loc[dips, "spearman"] = 0.5
    choice = choose_sampler(figures, AdaptiveParams())
    assert choice.winner == "b"
    assert "0.9" in choice.reason


def test_minimum_correlation_holds_at_every_rate_and_may_be_reached_exactly() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "b": (0.9, 0.03, 0.03)})
    figures.loc[figures["sampler"].eq("a") & figures["rate"].eq(10), "spearman"] = 0.85
    choice = choose_sampler(figures, AdaptiveParams())
    assert (choice.winner, choice.reason) == ("b", "")


def test_sampler_without_a_criterion_has_the_last_rank_by_it() -> None:
    figures = _figures({"a": (0.95, 0.01, np.nan), "b": (0.94, 0.02, 0.02)})
    assert choose_sampler(figures, AdaptiveParams(criteria=("error_sd",))).winner == "b"


def test_only_rates_in_the_range_count() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "b": (0.94, 0.02, 0.02)})
    outside = figures["sampler"].eq("a") & figures["rate"].isin([1, 50])
    figures.loc[outside, ["spearman", "wasserstein"]] = [0.1, 9]
    assert choose_sampler(figures, AdaptiveParams()).winner == "a"
    narrow = AdaptiveParams(lowest_rate=26, highest_rate=30)
    assert choose_sampler(figures, narrow).winner == ""
    assert "26%" in choose_sampler(figures, narrow).reason


def test_no_sampler_wins_without_correlations() -> None:
    figures = _figures({"a": (np.nan, 0.01, 0.01), "b": (np.nan, 0.02, 0.01)})
    choice = choose_sampler(figures, AdaptiveParams())
    assert choice.winner == ""
    assert "too few models" in choice.reason


def test_gain_is_positive_if_the_sampler_is_better() -> None:
    figures = _figures({"a": (0.95, 0.01, 0.01), "random": (0.93, 0.02, 0.02)})
    params = AdaptiveParams()
    assert gain_over_random(figures, "a", "spearman", params) == pytest.approx(0.02)
    assert gain_over_random(figures, "a", "wasserstein", params) == pytest.approx(0.01)
    assert gain_over_random(figures, "a", "error_sd", params) == pytest.approx(0.01)
    assert gain_over_random(figures, "random", "spearman", params) == 0
    assert np.isnan(gain_over_random(figures, "none", "spearman", params))


def test_variance_over_rates_is_that_of_each_repeat() -> None:
    figures = _figures({"a": (0.9, 0.02, 0.01)}).astype({"repeat": float})
    figures["spearman"] = figures["rate"] / 100 * (1 + figures["repeat"])
    (row,) = choose_sampler(figures, AdaptiveParams()).ranking.to_dict("records")
    of_repeats = [np.var(np.array([0.05, 0.1, 0.25]) * (1 + k), ddof=1) for k in range(4)]
    assert row["rate_variance"] == pytest.approx(np.mean(of_repeats))


STUDY = make_study()
NO_SUBJECTS = pd.DataFrame({"subject": [], "winner": []})
NOTHING = pd.DataFrame({"split": pd.Series(dtype=int), "winner": pd.Series(dtype=str)})


@pytest.fixture(scope="module")
def results() -> pd.DataFrame:
    return compare_samplers(STUDY)[0]


def test_all_models_and_each_split_choose(results: pd.DataFrame) -> None:
    table = choose_samplers(results, STUDY)
    assert table["split"].tolist() == [-1, 0, 1, 2]
    everyone = table.iloc[0]
    assert (everyone["n_choose"], everyone["n_held_out"]) == (24, 0)
    assert np.isnan(everyone["held_out_gain"])
    splits = table.iloc[1:]
    assert (splits["n_choose"] + splits["n_held_out"] == 24).all()
    assert splits["held_out_gain"].notna().all()
    gains = gains_over_splits(table)
    assert gains.splits == 3
    assert gains.held_out == pytest.approx(splits["held_out_gain"].mean())
    assert gains.winner in splits["winner"].mode().tolist()


def test_splits_that_few_families_repeat_count_once() -> None:
    panels = make_panels()._replace(families=tuple("aaaaaaaabbbbbbbbcccccccc"))
    splits = model_splits(make_study(panels, make_params(adaptive={"splits": 20})))
    assert sorted(halves.selection.tolist() for halves in splits) == [
        list(range(start, start + 8)) for start in (0, 8, 16)
    ]


def test_subset_is_drawn_from_the_compared_items(results: pd.DataFrame) -> None:
    answers = make_answers()
    answers[:, :20] = np.nan
    panels = make_panels(answers)
    items = make_items()
    choice = pd.DataFrame({"split": [-1], "winner": ["word_length"]})
    params = make_params(export={"sampler": "chosen", "rate": 25})
    subset = choose_subset(items, {}, choice, NO_SUBJECTS, make_study(panels, params))
    assert len(subset) == 10
    assert subset["weight"].sum() == pytest.approx(1)
    assert items["item_id"].iloc[subset["position"]].tolist() == subset["item_id"].tolist()
    assert (subset["position"] >= 20).all()
    anchors = make_params(export={"sampler": "irt_clusters", "size": 7})
    subset = choose_subset(items, {}, choice, NO_SUBJECTS, make_study(panels, anchors))
    assert len(subset) == 7
    assert subset["weight"].max() > subset["weight"].min()


def test_subset_is_drawn_from_all_items_without_responses() -> None:
    panels = make_panels(np.full((2, 60), np.nan, np.float32))
    none = pd.DataFrame({"split": [-1], "winner": [""]})
    params = make_params(export={"sampler": "chosen", "size": 60})
    assert len(choose_subset(make_items(), {}, none, NO_SUBJECTS, make_study(panels, params))) == 60


def test_export_size_above_the_number_of_items_is_rejected() -> None:
    params = make_params(export={"size": 61})
    with pytest.raises(InputError, match=r"size is 61, but there are only 60 items"):
        choose_subset(make_items(), {}, NOTHING, NO_SUBJECTS, make_study(params=params))


def test_exported_subset_is_composed_of_the_choices_by_subject() -> None:
    study = make_study(params=make_params(export={"sampler": "chosen_by_subject", "size": 20}))
    winners = pd.DataFrame({"subject": ["s0", "s1"], "winner": ["word_length", ""]})
    items = make_items()
    subset = choose_subset(items, {}, NOTHING, winners, study).set_index("item_id")
    places = {s: np.flatnonzero(items["subject"] == s) for s in ("s0", "s1")}
    for subject, sampler in (("s0", "word_length"), ("s1", "random")):
        expected = study.samplers()[sampler](study.plain.select(places[subject]), 0)(10).positions
        taken = subset.index[items["subject"].iloc[subset["position"]] == subject]
        assert set(taken) == set(items["item_id"].iloc[places[subject][expected]])
    assert np.allclose(subset["weight"], 1 / 20)


def chosen(n: int, weights: list[float] | None = None) -> pd.DataFrame:
    weighed = weights or [1 / n] * n
    return ChosenSubset.from_rows([(f"i{k:03d}", k, w, np.nan) for k, w in enumerate(weighed)])


def test_more_items_tell_closer_models_apart() -> None:
    few, many = (describe_subset(chosen(n), STUDY)["told_apart"] for n in (10, 40))
    gaps = [float(said.split("than ")[1].split(" points")[0]) for said in (few, many)]
    assert gaps[0] > gaps[1] > 0
    whole = {"told_apart": "", "drawn_from": list(STUDY.panels.item_ids)}
    assert describe_subset(chosen(60), STUDY) == whole  # all items
    assert describe_subset(chosen(3, [0.5, 0.3, 0.2]), STUDY) == whole
