"""Scores of new models on the whole benchmark, from their responses to an exported subset."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.table import ANSWERED_BY, Answers
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.exports.subset_manifest import SubsetManifest, ids_hash
from benchwright.methods.dele.estimation.fitted import EstimatorKind
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training

AUTO = "auto"
RANDOM = frozenset({"random", "stratified"})
"""Samplers with equal inclusion probabilities, which design-based intervals require."""


class ModelEstimate(NamedTuple):
    """The estimate of one new model; None where unknown."""

    model: str
    answered: int  # number of items of the subset that it answered
    on_subset: float | None  # weighted mean score on the subset
    score: float | None  # estimated accuracy on all items
    low: float | None  # bounds of its interval
    high: float | None
    se: float | None  # standard error; None where all answers are equal
    reason: str  # why there is no estimate, or a caveat; otherwise ""


class Estimated(NamedTuple):
    """The estimates and the data behind them."""

    subset: SubsetManifest
    estimator: str  # name in the registry
    level: float  # confidence level of the intervals
    of_items: int  # number of items on which the score is estimated
    training: int  # number of training models
    source: str  # origin of the training responses, as text; "" without any
    models: tuple[ModelEstimate, ...]  # estimates of the new models, sorted by name
    notes: tuple[str, ...]  # caveats


def estimate_scores(
    subset: SubsetManifest,
    new: Answers,
    known: Answers | None,
    estimator: str | EstimatorKind = AUTO,
    level: float = 0.95,
    seed: int = 0,
    *,
    paired: bool = False,
) -> Estimated:
    """Estimate the scores of new models on the whole benchmark.

    The default estimator of a draw with known probabilities is `aipw`, whose intervals also cover
    the best models, or `mean` without training models. Another weighted subset gets `weighted`, any
    other `gp_irt`; see docs/explanation/estimation.md. An `EstimatorKind` is AIPW with a predictor
    that is fitted already. Responses to other items, and training models among the new ones, are
    ignored with a note. `seed` assigns training models to folds; responses are (1 + B − A)/2 of two
    models where `paired`.

    Raises:
        InputError: the estimator is unknown or needs training models, no response is to the
            subset, or training responses lack some of its items.
    """
    notes = [*new.notes]
    responses = _aligned(subset, new, notes)
    if known is None:
        # Only the number of the other items is known.
        others = tuple(f"\0{place}" for place in range(subset.of_items - len(subset.items)))
        nobody = np.empty((0, subset.of_items), dtype=np.float32)
        training = Answers("", (), (*subset.item_ids, *others), nobody)
    else:
        training = _training(subset, new, known, notes)
    if isinstance(estimator, str):
        name = _choose_estimator(estimator, subset, alone=not training.models)
        kind = ESTIMATORS[name]
    else:
        name, kind = "aipw", estimator
    places = {item: place for place, item in enumerate(training.item_ids)}
    positions = np.array([places[item] for item in subset.item_ids], dtype=np.intp)
    weighted = WeightedSubset(positions, subset.weights, subset.inclusion)
    models = Training(training.correct, families=training.family_numbers())
    estimates = kind.fit(models, weighted, seed, paired=paired)(responses, level)
    low, high, se = estimates[1:4]
    se = np.where((se > 0) | (low == high), se, np.nan)
    answered = (~np.isnan(responses)).sum(axis=1).tolist()
    on_subset = [_weighted_mean(row, subset.weights) for row in responses]
    results = [
        [None if math.isnan(value) else float(value) for value in column]
        for column in (on_subset, estimates.shown, low, high, se)
    ]
    return Estimated(
        subset,
        name,
        level,
        len(training.item_ids),
        len(training.models),
        training.source,
        tuple(map(ModelEstimate, new.models, answered, *results, estimates.reason)),
        tuple(notes),
    )


def _aligned(subset: SubsetManifest, new: Answers, notes: list[str]) -> NDArray[np.float64]:
    """Return responses (r, k) to the subset's items in order."""
    wanted = dict.fromkeys(subset.item_ids)
    item_ids = [name if name in wanted else None for name in new.item_ids]
    foreign = [name for name, item in zip(new.item_ids, item_ids, strict=True) if item is None]
    if len(foreign) == len(new.item_ids):
        first = new.item_ids[0] if new.item_ids else "–"
        raise InputError(
            f"0 of the subset's {len(wanted):,} items are answered: it begins with "
            f"{subset.item_ids[0]}, the {len(foreign):,} answered items with {first}; give the "
            "subset that was asked"
        )
    if foreign:
        notes.append(f"ignored items outside the subset: {len(foreign):,}, e.g. {foreign[0]}")
    # The first of several answers to an item counts.
    by_item = pd.DataFrame(new.correct.T).groupby(np.array(item_ids, object)).first()
    out = by_item.reindex(list(wanted)).to_numpy(np.float64).T
    lacking = np.isnan(out)
    if lacking.any():
        worst = int(lacking.sum(axis=1).argmax())
        first = subset.item_ids[int(lacking[worst].argmax())]
        notes.append(
            f"models with missing responses: {int(lacking.any(axis=1).sum()):,}; "
            f"{new.models[worst]} misses the most, {int(lacking[worst].sum()):,} of "
            f"{len(wanted):,}, e.g. {first}"
        )
    return out


def _training(subset: SubsetManifest, new: Answers, known: Answers, notes: list[str]) -> Answers:
    """Select the models that are not new, and the items of the subset or that half answered."""
    others = known.without({parse_configuration(name).model for name in new.models})
    if dropped := len(known.models) - len(others.models):
        notes.append(f"ignored training models, which are new models: {dropped:,}")
    if not others.models:
        raise InputError(
            f"{known.source}: nothing to train on: only new models, which are left out; give "
            "others with --training, or --no-training"
        )
    answered = ~np.isnan(others.correct)
    by_any = answered.any(axis=0)
    ids, wanted = np.array(known.item_ids, object), set(subset.item_ids)
    if lacking := wanted.difference(ids[by_any]):
        first = next(name for name in subset.item_ids if name in lacking)
        raise InputError(
            f"{known.source}: no training model answered {len(lacking):,} of the subset's "
            f"{len(subset.items):,} items, e.g. {first}"
        )
    enough = by_any & (answered.sum(axis=0) >= ANSWERED_BY * len(answered))
    columns = enough | np.array([name in wanted for name in ids])
    out = others.select(np.asarray(answered[:, columns].any(axis=1)), columns)
    if ids_hash(out.item_ids) != subset.of_items_hash:
        notes.append(
            f"training models answered {len(out.item_ids):,} items, but the subset was chosen from "
            f"{subset.of_items:,}; scores are estimated on those {len(out.item_ids):,}"
        )
    return out


def _choose_estimator(estimator: str, subset: SubsetManifest, *, alone: bool) -> str:
    if estimator not in (AUTO, *ESTIMATORS):
        raise InputError(
            f"--estimator {estimator!r}: expected one of {AUTO}, {', '.join(ESTIMATORS)}"
        )
    random = subset.inclusion is not None or (subset.equal_weights and subset.sampler in RANDOM)
    if estimator == AUTO:
        estimator = "mean" if alone else "aipw"
        if not random:
            estimator = "gp_irt" if subset.equal_weights else "weighted"
    if alone and (not random or ESTIMATORS[estimator].uses != "nothing"):
        raise InputError(
            f"{estimator} on a subset of the sampler {subset.sampler} needs training models: run "
            f"kedro run --pipeline answers --params benchmark={subset.benchmark}, or use "
            "--training FILE"
        )
    return estimator


def _weighted_mean(responses: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    known = ~np.isnan(responses)
    total = weights[known].sum()
    return float((responses[known] * weights[known]).sum() / total) if total > 0 else math.nan
