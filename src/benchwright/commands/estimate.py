"""`benchwright estimate`: scores of new models from their responses to an exported subset."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright import __version__
from benchwright.commands.saved_results import ANSWERED_BY, KnownResponses
from benchwright.core.atomic_files import written_aside
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.datasets.subset_manifest import SubsetManifest, ids_hash
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import PreparedTraining, Training
from benchwright.params.sampling import EstimationParams

AUTO = "auto"
RANDOM = frozenset({"random", "stratified"})
"""Samplers with equal inclusion probabilities, which design-based intervals require."""


class ModelEstimate(NamedTuple):
    """The estimate of one new model.

    Attributes:
        model: its name.
        answered: number of items of the subset that it answered.
        on_subset: weighted mean score on the subset, None without answers.
        score, low, high: estimated accuracy on all items, with the bounds of the interval.
        se: standard error.
        reason: why there is no estimate, or a caveat; otherwise "".
    """

    model: str
    answered: int
    on_subset: float | None
    score: float | None
    low: float | None
    high: float | None
    se: float | None
    reason: str


class Estimated(NamedTuple):
    """The estimates and the data behind them.

    Attributes:
        subset: the subset, from its manifest.
        estimator: name in the registry.
        level: confidence level of the intervals.
        of_items: number of items on which the score is estimated.
        training: number of training models.
        source: origin of the training responses, as text; "" without any.
        models: estimates of the new models, sorted by name.
        notes: caveats.
    """

    subset: SubsetManifest
    estimator: str
    level: float
    of_items: int
    training: int
    source: str
    models: tuple[ModelEstimate, ...]
    notes: tuple[str, ...]


class _Known(NamedTuple):
    """Training responses (m, n), their items and their origin."""

    item_ids: tuple[str, ...]
    training: Training
    source: str


def estimate_scores(
    subset: SubsetManifest,
    new: KnownResponses,
    known: KnownResponses | None,
    estimator: str = AUTO,
    params: EstimationParams | None = None,
    seed: int = 0,
) -> Estimated:
    """Estimate the scores of new models on the whole benchmark.

    The default estimator of a draw with known probabilities is `aipw`, whose intervals also cover
    the best models, or `mean` without training models. Another weighted subset gets `weighted`, any
    other `gp_irt`. See docs/explanation/estimation.md.

    Args:
        subset: the manifest.
        new: responses of the new models; those to other items are ignored, with a note.
        known: responses of training models to the benchmark; new models among them are ignored.
        estimator: a name in the registry, or `auto`.
        params: settings of the section `estimation`.
        seed: seed that assigns the training models to folds.

    Raises:
        InputError: the estimator is unknown or needs training models, no response is to the
            subset, or training responses lack some of its items.
    """
    settings = params or EstimationParams()
    notes = [*new.notes]
    responses = _aligned(subset, new, notes)
    training = _training(subset, new, known, notes)
    name = _choose_estimator(estimator, subset, training)
    places = {item: place for place, item in enumerate(training.item_ids)}
    positions = np.array([places[item] for item in subset.item_ids], dtype=np.intp)
    weighted = WeightedSubset(positions, subset.weights, subset.inclusion)
    fitted = ESTIMATORS[name].make(settings)(
        PreparedTraining(training.training, settings), weighted, seed
    )
    estimates = fitted(responses, settings.level)
    answered = (~np.isnan(responses)).sum(axis=1).tolist()
    on_subset = [_weighted_mean(row, subset.weights) for row in responses]
    results = [
        [None if math.isnan(value) else float(value) for value in column]
        for column in (on_subset, estimates.shown, *estimates[1:4])
    ]
    models = tuple(map(ModelEstimate, new.models, answered, *results, estimates.reason))
    return Estimated(
        subset,
        name,
        settings.level,
        len(training.item_ids),
        len(training.training.correct),
        training.source,
        models,
        tuple(notes),
    )


def _aligned(subset: SubsetManifest, new: KnownResponses, notes: list[str]) -> NDArray[np.float64]:
    """Return responses (r, k) to the subset's items in order, also from rows of stock tasks."""
    stock = {"{}/{}".format(*item.stock): item.item_id for item in subset.items if item.stock}
    wanted = dict.fromkeys(subset.item_ids)
    item_ids = [name if name in wanted else stock.get(name) for name in new.item_ids]
    foreign = [name for name, item in zip(new.item_ids, item_ids, strict=True) if item is None]
    if len(foreign) == len(new.item_ids):
        first = new.item_ids[0] if new.item_ids else "–"
        raise InputError(
            f"no response to any of the subset's {len(wanted):,} items: the subset begins with "
            f"{subset.item_ids[0]}, the responses with {first}"
        )
    if foreign:
        notes.append(f"{len(foreign):,} items outside the subset are ignored, e.g. {foreign[0]}")
    # The first of several answers to an item counts.
    given = (
        pd.DataFrame(new.correct.T)
        .groupby(np.array(item_ids, object))
        .first()
        .reindex(list(wanted))
    )
    out = given.to_numpy(np.float64).T
    lacking = np.isnan(out)
    if lacking.any():
        worst = int(lacking.sum(axis=1).argmax())
        first = subset.item_ids[int(lacking[worst].argmax())]
        notes.append(
            f"{int(lacking.any(axis=1).sum()):,} models have missing responses; "
            f"{new.models[worst]} misses the most, {int(lacking[worst].sum()):,} of "
            f"{len(wanted):,}, e.g. {first}"
        )
    return out


def _training(
    subset: SubsetManifest, new: KnownResponses, known: KnownResponses | None, notes: list[str]
) -> _Known:
    if known is None:
        # Only the number of the other items is known.
        others = (f"\0{place}" for place in range(subset.of_items - len(subset.items)))
        empty = np.empty((0, subset.of_items), dtype=np.float32)
        return _Known((*subset.item_ids, *others), Training(empty), "")
    fresh = {parse_configuration(name).model for name in new.models}
    names = [parse_configuration(name).model for name in known.models]
    kept = [place for place, name in enumerate(names) if name not in fresh]
    if len(kept) < len(known.models):
        notes.append(
            f"{len(known.models) - len(kept):,} training models are ignored: they are new models"
        )
    answered = ~np.isnan(known.correct[kept])
    enough = answered.any(axis=0) & (answered.sum(axis=0) >= ANSWERED_BY * len(kept))
    wanted = set(subset.item_ids)
    inside = np.array([name in wanted for name in known.item_ids])
    answered_ids = set(np.array(known.item_ids, object)[answered.any(axis=0)])
    lacking = [name for name in subset.item_ids if name not in answered_ids]
    if lacking:
        raise InputError(
            f"{known.source}: no training model answered {len(lacking):,} of the subset's "
            f"{len(wanted):,} items, e.g. {lacking[0]}"
        )
    columns = enough | inside
    rows = answered[:, columns].any(axis=1)
    ids = tuple(np.array(known.item_ids, object)[columns])
    if ids_hash(ids) != subset.of_items_hash:
        notes.append(
            f"training models answered {len(ids):,} items, but the subset was chosen from "
            f"{subset.of_items:,}; scores are estimated on those {len(ids):,}"
        )
    correct = known.correct[kept][np.ix_(rows, columns)]
    families = None
    if known.families:  # a model without a known family forms its own
        models = np.array(known.models, object)[kept][rows]
        family_names = [str(known.families.get(name) or f"\0{name}") for name in models]
        families = np.unique(family_names, return_inverse=True)[1]
    return _Known(ids, Training(correct, families=families), known.source)


def _choose_estimator(estimator: str, subset: SubsetManifest, known: _Known) -> str:
    if estimator not in (AUTO, *ESTIMATORS):
        raise InputError(
            f"--estimator {estimator!r}: expected one of {AUTO}, {', '.join(ESTIMATORS)}"
        )
    alone = not len(known.training.correct)
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


def terminal_lines(estimated: Estimated) -> list[str]:
    """Return the lines to print, one per model."""
    subset = estimated.subset
    source = f" ({estimated.source})" if estimated.source else ""
    lines = [
        f"{subset.benchmark}: {len(subset.items):,} of {subset.of_items:,} items, sampler "
        f"{subset.sampler}, seed {subset.seed}; estimator {estimated.estimator}, "
        f"{estimated.training:,} training models{source}",
        *(f"note: {note}" for note in estimated.notes),
    ]
    width = max(len("model"), *(len(model.model) for model in estimated.models))
    whole = f"all {estimated.of_items:,}"
    lines.append(f"{'model':{width}}  answered  on subset  {whole}  {estimated.level:.0%} interval")
    for model in estimated.models:
        mean, score, low, high = (
            "–" if value is None else f"{value:.3f}"
            for value in (model.on_subset, model.score, model.low, model.high)
        )
        line = f"{model.model:{width}}  {model.answered:8,}  {mean:>9}  {score:>{len(whole)}}  "
        lines.append(line + f"[{low}, {high}]" + (f"  {model.reason}" if model.reason else ""))
    return lines


def write_estimates(estimated: Estimated, file: Path) -> Path:
    """Write the estimates as JSON."""
    subset: dict[str, Any] = estimated.subset.model_dump(mode="json", exclude={"items"})
    content = {
        "format": 1,
        "benchwright": __version__,
        "subset": {**subset, "n_items": len(estimated.subset.items)},
        **{name: getattr(estimated, name) for name in ("estimator", "level", "of_items")},
        "training": {"models": estimated.training, "source": estimated.source},
        "notes": list(estimated.notes),
        "models": [model._asdict() for model in estimated.models],
    }
    with written_aside(file) as aside:
        aside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file
