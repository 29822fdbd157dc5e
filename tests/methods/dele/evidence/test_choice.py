"""Choice of a sampler, its gains on held-out models, and changed winners."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.dele.evidence.choice import (
    choose_samplers,
    choose_subset,
    describe_subset,
    gains_over_splits,
    model_splits,
)
from benchwright.methods.dele.evidence.sampler_results import compare_samplers
from benchwright.tables.dele import ChosenSubset
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_items,
    make_panels,
    make_params,
    make_study,
)

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
    anchors = make_params(export={"sampler": "anchor_points", "size": 7})
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
    assert describe_subset(chosen(60), STUDY) == {"told_apart": ""}  # all items
    assert describe_subset(chosen(3, [0.5, 0.3, 0.2]), STUDY) == {"told_apart": ""}
