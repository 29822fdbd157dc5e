"""Choose the filter models by name or by a rule."""

import logging
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from pydantic import ValidationError

from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected, first_problem
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import known_bases
from benchwright.params.filtering import FilterModelChoice

_log = logging.getLogger(__name__)
_DIGITS = 12  # accuracies that are equal up to rounding are tied
_MOST, _FEWEST = 7, 3  # filter models without a `count`


def choose_filter_models(
    filter_models: Collection[str] | None,
    response_matrix: ResponseMatrix,
    models_table: pd.DataFrame,
) -> list[str]:
    """Return the configurations whose responses decide which items are removed (SMART, 5.1).

    A model name without style and shots, or without organisation, stands for the only configuration
    that it fits. A rule ranks the eligible models by accuracy on the items that all of them
    answered and takes each model once: without `count` at most seven, and none without responses.

    Args:
        filter_models: names, `all`, or a mapping with the fields of `FilterModelChoice`. None is an
            empty mapping, a word its `choose`.
        response_matrix: the responses that the rule uses.
        models_table: a `Models` table. A model of unknown organisation counts as an organisation
            by itself. With `distinct: family`, models of unknown family are only taken where there
            are too few families, since they could be related to any other.

    Returns:
        Names, strongest first, or in the given order.

    Raises:
        InputError: the rule is invalid, too few models fit it, or a model name stands for several
            configurations.
    """
    known = list(response_matrix.models)
    if filter_models is None:
        filter_models = {}
    if filter_models == "all":
        return known
    if isinstance(filter_models, str):
        filter_models = {"choose": filter_models}
    if not isinstance(filter_models, Mapping):
        return list(dict.fromkeys(_resolve(str(name), known) for name in filter_models))
    try:
        choice = FilterModelChoice.model_validate(filter_models)
    except ValidationError as error:
        got = error.errors()[0]["input"]
        raise InputError(f"{first_problem(error, 'filter_models')}, got {got!r}") from None
    if choice.count is None and not known:
        return []
    ranked = _eligible(response_matrix, choice)
    if choice.choose == "forward":
        half = (len(ranked) + 1) // 2
        ranked = ranked[half if choice.count else max(min(half, len(ranked) - _FEWEST), 0) :]
    chosen = _distinct(ranked, models_table, choice)
    if len(chosen) < (choice.count or 0):
        raise InputError(
            f"filter_models.count={choice.count}: of models that answered enough items, only "
            f"{len(chosen)} of {len(ranked)} fit choose: {choice.choose} and distinct: "
            f"{choice.distinct}; lower count or min_coverage, or set distinct: none"
        )
    return chosen


def check_filter_models(
    filter_models: Collection[str] | None, answering: Collection[str], models: Collection[str]
) -> None:
    """Check the names of filter models before anything is encoded or asked.

    Raises:
        InputError: a name is none of the `answering` configurations, nor of the `models` of conf,
            which may answer in another run.
    """
    if filter_models is None or isinstance(filter_models, str | Mapping):
        return
    for name in map(str, filter_models):
        model = parse_configuration(name).model
        if model not in models and not any(_fits(model, known) for known in answering):
            problem = expected(name, answering)
            raise InputError(f"filter_models: there are no answers of {name!r}; {problem}")


def _resolve(name: str, known: Sequence[str]) -> str:
    """Return the configuration that a name stands for; the name itself where none answered."""
    if name in known:
        return name
    matches = [other for other in known if _fits(name, other)]
    if len(matches) > 1:
        raise InputError(
            f"filter_models: {name!r} fits {len(matches)} configurations; name one of "
            f"{', '.join(matches)}"
        )
    if matches:
        return matches[0]
    _log.warning("filter_models: there are no answers of %r", name)
    return name


def _fits(name: str, configuration: str) -> bool:
    """Return whether `alpha-7b` or `alpha-7b@letters-0` may mean `acme/alpha-7b@letters-0`."""
    whole = {configuration, parse_configuration(configuration).model}
    return name in whole | {known.rpartition("/")[2] for known in whole}


def _eligible(matrix: ResponseMatrix, choice: FilterModelChoice) -> list[str]:
    """Return the models that answered enough of the commonly answered items, best first."""
    answered = matrix.answered()
    counts = answered.sum(axis=0)
    usual = (counts >= choice.answered_by * len(matrix.models)) & (counts > 0)
    if not usual.any():
        raise InputError(
            "filter_models: no responses to rank models by; list the models by name, or import or "
            "score responses"
        )
    coverage = answered[:, usual].mean(axis=1)
    rows = np.flatnonzero(coverage >= choice.min_coverage)
    if not len(rows):
        raise InputError(
            f"filter_models.min_coverage={choice.min_coverage:g}: no model answered this share of "
            f"the {int(usual.sum())} items that at least {choice.answered_by:.0%} of the models "
            f"answered; the highest coverage is {coverage.max():.3f}"
        )
    common = np.flatnonzero(answered[rows].all(axis=0))
    if not len(common):
        raise InputError(
            f"filter_models: no item was answered by all {len(rows)} eligible models; "
            "raise filter_models.min_coverage"
        )
    mean = matrix.correct[np.ix_(rows, common)].mean(axis=1, dtype=np.float64)
    names = [matrix.models[row] for row in rows]
    order = sorted(zip((-mean).round(_DIGITS).tolist(), names, strict=True))
    return [name for _, name in order]


def _distinct(
    ranked: Sequence[str], models_table: pd.DataFrame, choice: FilterModelChoice
) -> list[str]:
    """Return the first configuration of each group, or of each model without one."""
    group_of: dict[str, str] = {}
    if choice.distinct != "none":
        groups = models_table[choice.distinct]
        known = models_table[groups.notna()]
        known = known_bases(models_table) if choice.distinct == "family" else known
        group_of = dict(zip(known["model"], known[choice.distinct], strict=True))
    first: dict[tuple[bool, str], str] = {}
    for name in ranked:
        model = parse_configuration(name).model
        group = group_of.get(name, group_of.get(model))
        first.setdefault((group is None, model if group is None else group), name)
    if choice.distinct == "family":
        first = dict(sorted(first.items(), key=lambda item: item[0][0]))
    chosen = set(list(first.values())[: choice.count or _MOST])
    return [name for name in ranked if name in chosen]
