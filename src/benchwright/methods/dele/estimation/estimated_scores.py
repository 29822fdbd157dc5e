"""Scores of new models on the whole benchmark, from their responses to an exported subset."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.answers.table import ANSWERED_BY, Answers
from benchwright.core.array_types import Floats
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.exports.subset_manifest import SubsetManifest, ids_hash
from benchwright.methods.dele.estimation.fitted import Estimates, EstimatorKind
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
    least: float | None = None  # lowest bound with all missing answers wrong; None if all are there
    most: float | None = None  # highest bound with all missing answers right


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
) -> Estimated:
    """Estimate the scores of new models on the whole benchmark.

    The default estimator of a draw with known probabilities is `aipw`, whose intervals also cover
    the best models, or `mean` without training models. Another weighted subset gets `weighted`, any
    other `gp_irt`; see docs/explanation/estimation.md. An `EstimatorKind` is AIPW with a predictor
    that is fitted already. Responses to other items, and training models among the new ones, are
    ignored with a note. `seed` assigns training models to folds.

    Raises:
        InputError: the estimator is unknown or needs training models, no response is to the
            subset, or training responses lack some of its items.
    """
    notes = list(new.notes)
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
        name = "aipw"
        kind = estimator
    positions = pd.Index(training.item_ids).get_indexer(pd.Index(subset.item_ids))
    weighted = WeightedSubset(positions, subset.weights, subset.inclusion)
    models = Training(training.correct, families=training.family_numbers())
    # Missing answers also at their worst and at their best: all wrong, and all right.
    wrong = np.nan_to_num(responses, nan=0.0)
    right = np.nan_to_num(responses, nan=1.0)
    fitted = kind.fit(models, weighted, seed)
    estimates = fitted(responses, level)
    bounds = (fitted(wrong, level).low, fitted(right, level).high)
    return Estimated(
        subset=subset,
        estimator=name,
        level=level,
        of_items=len(training.item_ids),
        training=len(training.models),
        source=training.source,
        models=tuple(_of_models(new.models, responses, subset.weights, estimates, bounds=bounds)),
        notes=tuple(notes),
    )


def _of_models(
    models: Sequence[str],
    responses: Floats,
    weights: Floats,
    estimates: Estimates,
    *,
    bounds: tuple[Floats, Floats],
) -> Iterator[ModelEstimate]:
    scores = estimates.shown
    least, most = bounds
    for row, model in enumerate(models):
        low = estimates.low[row]
        high = estimates.high[row]
        se = estimates.se[row]
        all_equal = se == 0 and low != high
        yield ModelEstimate(
            model=model,
            answered=int(np.count_nonzero(~np.isnan(responses[row]))),
            on_subset=_none_if_nan(_weighted_mean(responses[row], weights)),
            score=_none_if_nan(scores[row]),
            low=_none_if_nan(low),
            high=_none_if_nan(high),
            se=None if all_equal else _none_if_nan(se),
            reason=estimates.reason[row],
            least=_none_if_nan(least[row]) if np.isnan(responses[row]).any() else None,
            most=_none_if_nan(most[row]) if np.isnan(responses[row]).any() else None,
        )


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _aligned(subset: SubsetManifest, new: Answers, notes: list[str]) -> Floats:
    """Return responses (r, k) to the subset's items in order."""
    wanted = set(subset.item_ids)
    foreign = [name for name in new.item_ids if name not in wanted]
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
    by_item = pd.DataFrame(new.correct.T).groupby(np.array(new.item_ids, object)).first()
    out = by_item.reindex(list(subset.item_ids)).to_numpy(np.float64).T
    lacking = np.isnan(out)
    if lacking.any():
        worst = lacking.sum(axis=1).argmax()
        first = subset.item_ids[lacking[worst].argmax()]
        notes.append(
            f"models with missing responses: {lacking.any(axis=1).sum():,}; "
            f"{new.models[worst]} misses the most, {lacking[worst].sum():,} of "
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
    ids = np.array(known.item_ids, object)
    wanted = set(subset.item_ids)
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


def _weighted_mean(responses: Floats, weights: Floats) -> float:
    known = ~np.isnan(responses)
    total = weights[known].sum()
    return float((responses[known] * weights[known]).sum() / total) if total > 0 else np.nan
