"""Choice of a sampler inside each subject, and the subset composed of these choices."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.dele.evidence.choice import (
    choose_by_subject,
    choose_samplers,
    model_splits,
)
from benchwright.methods.dele.evidence.rate_curves import trace_chosen
from benchwright.methods.dele.evidence.sampler_results import (
    compare_samplers,
    repeat_seed,
)
from benchwright.statistics.preservation import ModelPanels, preservation_by_panel
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_panels,
    make_params,
    make_study,
)

BY_SUBJECT = make_study(
    params=make_params(evidence={"subject_items": 30, "at_rates": (10.0, 25.0)})
)


@pytest.fixture(scope="module")
def choices() -> pd.DataFrame:
    return choose_by_subject(BY_SUBJECT)[1]


def test_all_models_and_each_split_choose_for_each_subject() -> None:
    params = make_params(evidence={"subject_items": 30, "at_rates": (10.0, 25.0)})
    table, choices = choose_by_subject(make_study(params=params))
    assert table["subject"].tolist() == ["s0", "s1"]
    assert (table["n_items"] == 30).all()
    plain = {"random", "stratified", "word_length"}
    assert set(table["winner"]) <= plain
    assert len(choices) == 3 * 2  # splits, subjects
    assert set(choices["winner"]) <= plain


@pytest.mark.parametrize(("models", "subjects"), [(3, 2), (2, 0)])
def test_a_choice_by_subject_needs_three_models(models: int, subjects: int) -> None:
    panels = make_panels(make_answers(models=24)[:models], BY_SUBJECT.sampling)
    table = choose_by_subject(make_study(panels, BY_SUBJECT.sampling))[0]
    assert len(table) == subjects


def test_export_by_subject_without_subjects_is_rejected() -> None:
    study = make_study(params=make_params(export={"sampler": "chosen_by_subject"}))
    with pytest.raises(InputError, match=r"no sampler can be chosen by subject.*50 items"):
        choose_by_subject(study)


def test_composed_curves_are_those_of_the_composed_subsets(choices: pd.DataFrame) -> None:
    """From the definition: half of the items from each subject, by the winner's own draw."""
    sampler_choice = choose_samplers(compare_samplers(BY_SUBJECT)[0], BY_SUBJECT)
    fixed = choices.assign(winner="word_length")
    table = trace_chosen(sampler_choice, fixed, BY_SUBJECT)
    names = np.array(BY_SUBJECT.plain.subjects)
    draws = BY_SUBJECT.draws([50.0], by_splits=True)
    weights = np.zeros((min(draws.repeats.values()), 60))
    for repeat, row in enumerate(weights):
        seed = repeat_seed(draws.seed, "chosen_by_subject", repeat)
        for subject in ("s0", "s1"):
            places = np.flatnonzero(names == subject)
            pool = BY_SUBJECT.plain.select(places)
            row[places[BY_SUBJECT.samplers()["word_length"](pool, seed)(15).positions]] = 1 / 30
    halves = {str(n): split.held_out for n, split in enumerate(model_splits(BY_SUBJECT))}
    panels = ModelPanels.of(BY_SUBJECT.panels.correct, halves)
    errors = [f.mean_absolute_error for f in preservation_by_panel(panels, weights).values()]
    line = table.query("line == 'chosen_by_subject' and rate == 50").set_index("metric")
    assert line["mean"]["mean_absolute_error"] == pytest.approx(np.mean(errors))
    assert line["sd"]["mean_absolute_error"] == pytest.approx(
        np.mean([own.std(ddof=1) for own in errors])
    )
    assert (line["splits"] == 3).all()
