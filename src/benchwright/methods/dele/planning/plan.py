"""The number of items for a target."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats, Places
from benchwright.core.errors import InputError
from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.evidence.panels import split_by_family, split_forward
from benchwright.methods.dele.planning.predicted_scores import (
    ESTIMATOR,
    FEWEST_MODELS,
    fewest_items,
    which_estimators,
)
from benchwright.methods.dele.planning.score_errors import (
    TARGETS,
    Target,
    pairs_of_models,
    variance_of_differences,
    variance_of_scores,
)
from benchwright.statistics.paired_differences import minimum_detectable_difference
from benchwright.statistics.preservation import (
    ModelPanels,
    Preservation,
    preservation_by_panel,
)
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.right_order import WANTED, right_order
from benchwright.statistics.subset_scores import subset_scores

_FEWEST_RANKED = 3
_MOST_RANKED = 200
_SPLITS = 10  # of the models into halves
_UNLIKELY = 0.1  # share of the halves that may reach less than is promised
STRONGER = "stronger models"
Agreement = Literal["tau_b", "spearman"]


class _RandomSubsets:
    """Random subsets of the items, and their rank agreement with all items for groups of models.

    `models` holds random halves of the models, families together, which stand for new models, and
    the stronger half. Every size has its own random generator, so its metrics do not depend on
    other sizes. `metrics` holds the metrics computed so far, by size and group.
    """

    def __init__(self, models: ModelPanels, draws: int, seed: int) -> None:
        self._models = models
        self._draws = draws
        self._seed = seed
        self.metrics: dict[int, dict[str, Preservation]] = {}

    def reached(self, size: int, agreement: Agreement, whose: str) -> float:
        """Return what a share of the subsets reaches in nine of ten halves, or the stronger one.

        An undefined agreement counts as −1.
        """
        if size not in self.metrics:
            generator = stage_generator(self._seed, f"plan/random/{size}")
            masks = draw_subsets(self._models.correct.shape[1], size, self._draws, generator)
            self.metrics[size] = preservation_by_panel(self._models, masks.astype(np.float64))
        halves = []
        for name, metrics in self.metrics[size].items():
            values = np.nan_to_num(getattr(metrics, agreement), nan=-1)
            reached = np.quantile(values, _SUBSETS[whose])
            if name == whose:
                return reached
            if name != STRONGER:
                halves.append(reached)
        return np.quantile(halves, _UNLIKELY)


def _groups(responses: Training, seed: int) -> ModelPanels:
    """Return halves of at most 200 models by family, and the stronger half of them.

    Fewer than six models are one group.
    """
    m = len(responses.correct)
    kept = np.sort(stage_generator(seed, "plan/ranked").permutation(m)[:_MOST_RANKED])
    correct = responses.correct[kept]
    names = np.arange(m) if responses.families is None else responses.families
    families = list(map(str, names[kept]))
    groups: dict[str, Places] = {}
    for number in range(_SPLITS):
        own = int(stage_generator(seed, f"plan/halves/{number}").integers(1 << 62))
        for side, half in enumerate(split_by_family(families, own)):
            if len(half) >= _FEWEST_RANKED:
                groups[f"{number} {side}"] = half
    if m // 2 < _FEWEST_RANKED or not groups:
        return ModelPanels.of(correct, {"all": np.arange(len(kept))})
    scores = np.nanmean(correct, axis=1, dtype=np.float64)
    groups[STRONGER] = split_forward(families, scores).held_out
    return ModelPanels.of(correct, groups)


def _grid_of_sizes(n: int, points: int = 16) -> list[int]:
    """Return logarithmically spaced sizes from about n/100 (at least 5) to n."""
    first = min(max(5, n // 100), n)
    return sorted({round(size) for size in np.geomspace(first, n, points)})


def smallest_size(reached: Callable[[int], bool], n: int) -> int | None:
    """Find the smallest size in 1 … n with `reached` by bisection; None if n does not suffice.

    `reached` must be monotonic. For a noisy simulation the result is a size near the change.
    """
    if n < 1 or not reached(n):
        return None
    low = 0
    high = n
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high


Goal = Literal["standard_error", "detectable_difference", "order", "tau_b", "spearman"]

_FEWEST_PAIRS = 30
_MODELS = ("median model", "worst model")
_PAIRS = {"median pair": 0.5, "95% of pairs": 0.95}
_SUBSETS = {"half of subsets": 0.5, STRONGER: 0.5, "95% of subsets": 0.05}


class Wanted(NamedTuple):
    """The targets of a plan, any number of each."""

    standard_errors: tuple[float, ...] = ()  # of one model's score, in shares: .02 is two points
    differences: tuple[float, ...] = ()  # between two models, in shares, to be detected
    tau_b: tuple[float, ...] = ()  # Kendall's, between the subset and all items
    spearman: tuple[float, ...] = ()  # likewise
    gaps: tuple[float, ...] = ()  # between two models that the items should order, in shares
    order: float = WANTED  # probability of the right order at such a gap
    alpha: float = 0.05  # of the two-sided test
    power: float = 0.8  # of the test
    subsets: int = 200  # random subsets of each size
    seed: int = 0  # of random subsets and pairs


class PlanRow(NamedTuple):
    """The number of items for one target."""

    goal: Goal  # the metric
    wanted: float  # its target value
    whose: str  # the models or subsets for which it holds
    # what a score estimates: `benchmark`, the score on all its items; `ability`, on all such items.
    target: Target = "benchmark"
    sampler: str = "random"
    estimator: str = "mean"
    items: int | None = None  # None if all items do not suffice, or if unknown
    value: float | None = None  # the metric at that size
    with_all: float | None = None  # the metric on all items
    reason: str = ""  # why there is no number of items, or a caveat; "" otherwise


class Plan(NamedTuple):
    """The number of items for each target, and the metrics at a grid of sizes."""

    models: int  # number of models with responses
    items: int  # number of items that enough of them answered
    rows: list[PlanRow]  # one or more per target, in the order of `Goal`
    curve: pd.DataFrame  # columns items, metric, whose, value
    advice: str  # what to use for ranks and for scores, or ""


def make_plan(responses: Training, wanted: Wanted) -> Plan:
    """Compute the sufficient number of random items from responses of other models.

    Standard errors and differences come from formulas (`score_errors`), rank agreement from random
    subsets.

    Raises:
        InputError: there is no target, or there are too few models or items.
    """
    _check(responses, wanted)
    planner = _Planner(responses, wanted)
    rows = [
        *planner.rows_of_scores(),
        *planner.rows_of_differences(),
        *planner.rows_of_order(),
        *planner.rows_of_ranks("tau_b", wanted.tau_b),
        *planner.rows_of_ranks("spearman", wanted.spearman),
    ]
    m, n = responses.correct.shape
    size = next((row.items for row in rows if row.items), n)
    advice = which_estimators(responses.correct, size, wanted.seed) if size < n else ""
    return Plan(m, n, rows, curve=planner.curve(), advice=advice)


class _Planner:
    """The computations of one plan."""

    def __init__(self, responses: Training, wanted: Wanted) -> None:
        self.responses = responses
        self.wanted = wanted
        self.m, self.n = responses.correct.shape
        self.scores = variance_of_scores(responses.correct, responses.clusters)
        self.pairs = variance_of_differences(responses.correct, responses.clusters, wanted.seed)
        scores = subset_scores(responses.correct, np.ones((1, self.n)))[0]
        first, second = pairs_of_models(self.m, wanted.seed)
        self.gaps = np.abs(scores[first] - scores[second])
        groups = _groups(responses, wanted.seed)
        self.subsets = _RandomSubsets(groups, wanted.subsets, wanted.seed)
        self.few = STRONGER not in groups.panels
        self.ranked = [whose for whose in _SUBSETS if whose != STRONGER or not self.few]

    def value(self, row: PlanRow, k: int) -> float:
        """Return the metric of a row, by formula, at k items.

        The order of two models is that of the tenth of the pairs, but at least 30, whose gap on
        all items is closest.
        """
        if row.goal == "standard_error":
            errors = self.scores.standard_error(k, row.target)
            return _of(errors, 1.0 if row.whose == "worst model" else 0.5)
        if row.goal == "detectable_difference":
            errors = self.pairs.standard_error(k, "ability")
            differences = minimum_detectable_difference(
                errors, self.wanted.alpha, self.wanted.power
            )
            return _of(differences, _PAIRS[row.whose])
        distance = np.abs(self.gaps - row.wanted)
        closest = np.argsort(distance, kind="stable")[: max(_FEWEST_PAIRS, len(distance) // 10)]
        errors = self.pairs.standard_error(k, "benchmark")[closest]
        return float(np.nanmean(right_order(row.wanted, errors)))

    def rows_of_scores(self) -> Iterator[PlanRow]:
        """Yield the rows of both kinds of scores, for the median and the worst model."""
        for wanted, target, whose in product(self.wanted.standard_errors, TARGETS, _MODELS):
            row = self._formula_row(PlanRow("standard_error", wanted, whose, target))
            yield row
            if (whose, target) == ("median model", "benchmark"):
                yield from self._predicted_row(row)

    def _predicted_row(self, row: PlanRow) -> Iterator[PlanRow]:
        """Yield a row if AIPW needs fewer items than the mean and its intervals hold."""
        if row.items is None or self.m < FEWEST_MODELS:
            return
        found = fewest_items(self.responses, self.wanted.seed, row.wanted, most=row.items)
        if found is not None:
            covered = f"95% intervals of models left out cover {found.coverage:.1%}"
            yield row._replace(
                sampler=found.sampler,
                estimator=ESTIMATOR,
                items=found.items,
                value=found.standard_error,
                with_all=0.0,
                reason=f"{covered}; {found.reason}",
            )

    def rows_of_differences(self) -> Iterator[PlanRow]:
        """Yield the rows of the median pair and of most pairs."""
        for wanted, whose in product(self.wanted.differences, _PAIRS):
            row = PlanRow("detectable_difference", wanted, whose)
            if self.m < 2:
                yield row._replace(reason="a difference needs at least 2 models, there is 1")
                continue
            yield self._formula_row(row._replace(target="ability"))

    def rows_of_order(self) -> Iterator[PlanRow]:
        """Yield a row per gap, for the pairs of models whose gap is closest to it."""
        for gap in self.wanted.gaps:
            row = PlanRow("order", gap, "pairs this far apart")
            if self.m < 2:
                yield row._replace(reason="an order needs at least 2 models, there is 1")
                continue
            items = smallest_size(partial(self._orders, row), self.n) or self.n
            widest = np.nanmax(self.gaps)
            if gap > widest:
                row = row._replace(reason=f"no two models are further apart than {widest:.3f}")
            yield row._replace(items=items, value=self.value(row, items), with_all=1)

    def _orders(self, row: PlanRow, k: int) -> bool:
        return self.value(row, k) >= self.wanted.order

    def rows_of_ranks(self, goal: Agreement, values: tuple[float, ...]) -> Iterator[PlanRow]:
        """Yield the rows for new models, and for stronger ones."""
        for wanted in values:
            if self.m < _FEWEST_RANKED:
                reason = f"a ranking needs at least {_FEWEST_RANKED} models, not {self.m}"
                yield PlanRow(goal, wanted, "half of subsets", reason=reason)
                continue
            for whose in self.ranked:
                yield self._rank_row(PlanRow(goal, wanted, whose), goal)

    def curve(self) -> pd.DataFrame:
        """Return every metric at a grid of sizes and at the sizes computed for targets."""
        rows = []
        for k in _grid_of_sizes(self.n, 40):
            for whose, target in product(_MODELS, TARGETS):
                row = PlanRow("standard_error", 0, whose, target)
                rows.append((k, f"standard_error_{target}", whose, self.value(row, k)))
            if self.m < 2:
                continue
            for whose in _PAIRS:
                row = PlanRow("detectable_difference", 0, whose)
                rows.append((k, row.goal, whose, self.value(row, k)))
            for gap in dict.fromkeys(self.wanted.gaps):
                row = PlanRow("order", gap, f"{gap:g} apart")
                rows.append((k, row.goal, row.whose, self.value(row, k)))
        if self.m >= _FEWEST_RANKED and (self.wanted.tau_b or self.wanted.spearman):
            sizes = sorted({*_grid_of_sizes(self.n), *self.subsets.metrics})
            for k, agreement, whose in product(sizes, get_args(Agreement), self.ranked):
                rows.append((k, agreement, whose, self.subsets.reached(k, agreement, whose)))
        return pd.DataFrame(rows, columns=["items", "metric", "whose", "value"])

    def _formula_row(self, row: PlanRow) -> PlanRow:
        value = partial(self.value, row)
        with_all = value(self.n)
        if np.isnan(with_all):
            why = "at least 2 clusters of items are needed, there is 1"
            return row._replace(target="benchmark", reason=why)
        row = row._replace(with_all=with_all)
        items = smallest_size(lambda k: value(k) <= row.wanted, self.n)
        if items is None:
            return row._replace(reason=f"the value with all {self.n:,} items is {with_all:.4f}")
        return row._replace(items=items, value=value(items))

    def _rank_row(self, row: PlanRow, goal: Agreement) -> PlanRow:
        def reached(k: int) -> float:
            return self.subsets.reached(k, goal, row.whose)

        items = smallest_size(lambda k: reached(k) >= row.wanted, self.n)
        with_all = reached(self.n)
        if items is None:
            all_equal = "all models have the same score"
            reason = all_equal if with_all < 0 else f"the value with all items is {with_all}"
            return row._replace(reason=reason)
        few = f"{self.m} models are too few to say how far it holds for other models"
        return row._replace(
            items=items,
            value=reached(items),
            with_all=with_all,
            reason=few if self.few else "",
        )


def _of(values: Floats, share: float) -> float:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, share)) if len(known) else np.nan


def _check(responses: Training, wanted: Wanted) -> None:
    m, n = responses.correct.shape
    if not m or n < 2:
        raise InputError(
            f"responses of models: {m}, to items: {n}; at least 1 model and 2 items are needed"
        )
    if not (
        wanted.standard_errors
        or wanted.differences
        or wanted.tau_b
        or wanted.spearman
        or wanted.gaps
    ):
        raise InputError("no target: use --se, --mdd, --gap, --tau or --spearman")
    if wanted.order != WANTED and not wanted.gaps:
        raise InputError("--order needs --gap, the difference of two models in shares")
