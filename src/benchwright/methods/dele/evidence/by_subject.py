"""Choice of a sampler inside each subject, and the subset composed of these choices.

DELE, section 4.1.1, Table 3 and Figure 7.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.exports.export import CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.choice import (
    choose_sampler,
    compared_rates,
    gain_over_random,
    model_splits,
)
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS
from benchwright.methods.dele.evidence.sampler_results import measure_samplers, runs_on
from benchwright.methods.dele.evidence.study import SamplingStudy
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import ModelPanels
from benchwright.tables.dele import SubjectWinners


class Luck(NamedTuple):
    """Agreement of two halves of the models on winners, with the agreement expected by chance."""

    n: int  # subjects with a winner in both halves
    agreed: int  # of them, the same winner in both
    # agreements if the halves chose independently, each with its shares of winners.
    expected: float
    uniform: float  # wins of each sampler if all were equally likely


def luck_of_winners(first: pd.Series, second: pd.Series, samplers: int) -> Luck:
    """Compare the winners by subject of two halves of the models, among `samplers` samplers.

    A winner of "" means none.
    """
    both = pd.DataFrame({"first": first, "second": second}).dropna()
    both = both[both["first"].ne("") & both["second"].ne("")]
    n = len(both)
    if not n:
        return Luck(0, 0, float("nan"), float("nan"))
    shares = [both[name].value_counts(normalize=True) for name in ("first", "second")]
    chance = float(shares[0].mul(shares[1], fill_value=0).sum())
    agreed = int(both["first"].eq(both["second"]).sum())
    return Luck(n, agreed, n * chance, n / max(samplers, 1))


def choose_by_subject(
    study: SamplingStudy,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float]]:
    """Choose a sampler inside each subject: by all models, by two halves, and by each split.

    Samplers that read responses are left out: each group of models would need its own items. Return
    a `SubjectWinners` table; the choice of the selection models of each split (split, subject,
    winner); and metrics of the agreement between the two halves. All are empty without subjects.

    Raises:
        InputError: the exported subset needs choices by subject, and there are none.
    """
    adaptive, panels = study.sampling.adaptive, study.panels
    subjects = large_subjects(study.plain, study.sampling)
    members = {name: panels.groups[name] for name in ("selection", "held_out", "all")}
    choices = pd.DataFrame(columns=["split", "subject", "winner"])
    if not subjects or min(map(len, members.values())) < FEWEST_MODELS:
        if study.sampling.export.sampler == CHOSEN_BY_SUBJECT:
            raise InputError(
                f"sampling.export.sampler is {CHOSEN_BY_SUBJECT}, but no sampler can be chosen by "
                "subject: this needs several subjects, one of them with "
                f"{study.sampling.evidence.subject_items} items "
                "(sampling.evidence.subject_items), and three models in each half"
            )
        return SubjectWinners.empty(), choices, {}
    splits = {str(number): half.selection for number, half in enumerate(model_splits(study))}
    rows, of_splits, samplers = [], [], 0
    metric = adaptive.criteria[0]
    draws = study.draws(compared_rates(study), tau="tau_b" in adaptive.criteria)
    plain = study.samplers(responses=False)
    for subject, places in subjects.items():
        pool = study.plain.select(places)
        model_panels = ModelPanels.of(panels.correct[:, places], members | splits)
        able, _ = runs_on(plain, pool)
        results = measure_samplers(pool, able, model_panels, draws)
        by_panel = dict(list(results.groupby("panel")))
        samplers = max(samplers, len(able))
        chosen = {name: choose_sampler(own, adaptive) for name, own in by_panel.items()}
        winners = [chosen[name].winner for name in ("all", "selection", "held_out")]
        gains = [
            gain_over_random(by_panel[name], winners[1], metric, adaptive)
            for name in ("selection", "held_out")
        ]
        ranking = chosen["all"].ranking
        spearman = float(ranking["spearman"].iloc[0]) if winners[0] else float("nan")
        judged = (spearman, metric, *gains, chosen["all"].reason)
        rows.append((subject, len(places), *winners, *judged))
        of_splits += [(int(split), subject, chosen[split].winner) for split in splits]
    table = SubjectWinners.from_rows(rows)
    luck = luck_of_winners(table["winner_selection"], table["winner_held_out"], samplers)
    agreement = {
        **{name: float(value) for name, value in luck._asdict().items()},
        "samplers": float(samplers),
        "random_won": float(table["winner"].eq(RANDOM).sum()),
        "apparent_gain": float(table["apparent_gain"].mean()),
        "held_out_gain": float(table["held_out_gain"].mean()),
        "subjects_with_gain": float((table["held_out_gain"] > 0).sum()),
    }
    return table, pd.DataFrame(of_splits, columns=choices.columns), agreement


def large_subjects(pool: SamplingPool, sampling: SamplingParams) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the items of each subject with enough items, if there are several."""
    names = np.array(pool.subjects, dtype=object)
    distinct = sorted(set(pool.subjects))
    if not sampling.evidence.by_subject or len(distinct) < 2:
        return {}
    places = {name: np.flatnonzero(names == name) for name in distinct}
    least = sampling.evidence.subject_items
    return {name: own for name, own in places.items() if len(own) >= least}


def add_composed_gain(
    subject_agreement: Mapping[str, float], chosen_curves: pd.DataFrame, sampling: SamplingParams
) -> dict[str, float]:
    """Add the result of the composed subset at the main rate to the metrics of the choices.

    `composed_gain` is the gain in Spearman's correlation over random on held-out models, mean over
    splits, `.low` and `.high` the middle 95% of the splits. Standard deviations are over repeats
    (Figure 32).
    """
    own = chosen_curves[
        chosen_curves["rate"].eq(sampling.evidence.main_rate)
        & chosen_curves["metric"].eq("spearman")
    ]
    lines = own.set_index("line").to_dict("index")
    if CHOSEN_BY_SUBJECT not in lines:
        return dict(subject_agreement)
    line = lines[CHOSEN_BY_SUBJECT]
    return {
        **subject_agreement,
        "composed_gain": float(line["gain"]),
        "composed_gain.low": float(line["gain_low"]),
        "composed_gain.high": float(line["gain_high"]),
        "composed_sd": float(line["sd"]),
        "random_sd": float(lines[RANDOM]["sd"]),
    }
