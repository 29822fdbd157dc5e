"""Agreement of ranks and scores on subsets with those on all items (DELE, section 3.1)."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics import rank_agreement
from benchwright.statistics.rank_agreement import Float
from benchwright.statistics.subset_scores import (
    signed_shift_rows,
    spread_of_shifts_rows,
    subset_scores,
    wasserstein_rows,
)

S = TypeVar("S")
T = TypeVar("T")

_BLOCK_BYTES = 1 << 24  # of the scores of one block of subsets
_THREADS = 2
_WORTH_THREADS = 1 << 17  # scores of a block above which threads are faster
_WIDEST = 4  # numbers of hits per model up to which counting beats sorting


class Preservation(NamedTuple):
    """Metrics of s subsets compared with all items, each (s,), over m models; NaN if undefined."""

    spearman: Float  # Pearson's correlation of average ranks, the paper's rank preservation
    pearson: Float  # of the scores
    wasserstein: Float  # distance of the two distributions of scores, in shares
    mean_absolute_error: Float  # of a model's score, in shares
    bias: Float  # mean of subset − whole, in shares: negative if the subset is harder
    # standard deviation of subset − whole over models, in shares: 0 if all shift alike
    error_sd: Float
    tau_b: Float  # Kendall's; NaN if it was not requested


@dataclass(frozen=True)
class ModelPanels:
    """Responses of m models, and panels of these models.

    Scores are computed once for all panels.
    """

    correct: NDArray[np.floating]  # (m, n) in [0, 1]; NaN is left out of a model's scores
    panels: Mapping[str, NDArray[np.intp]]  # positions of models (k,) by name
    full: Mapping[str, Float]  # by panel, (1, m) scores on the benchmark
    # (m,) whether all responses of a model are 0 or 1, none missing.
    right_or_wrong: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        correct: NDArray[np.floating],
        panels: Mapping[str, NDArray[np.intp]],
        wholes: Mapping[str, NDArray[np.floating]] | None = None,
    ) -> Self:
        """Compute the scores on all items; `wholes` are item weights (n,) by panel, else equal."""
        equal = subset_scores(correct, np.ones((1, correct.shape[1])))
        own = {name: subset_scores(correct, one[None]) for name, one in (wholes or {}).items()}
        plain = np.array([bool(((row == 0) | (row == 1)).all()) for row in correct], dtype=np.bool_)
        return cls(correct, panels, dict.fromkeys(panels, equal) | own, plain)

    def only(self, names: Iterable[str]) -> Self:
        """Return some of the panels."""
        return replace(self, panels={name: self.panels[name] for name in names})


def preservation(
    correct: NDArray[np.floating],
    weights: NDArray[np.floating],
    *,
    tau: bool = True,
    whole: NDArray[np.floating] | None = None,
) -> Preservation:
    """Compare the scores under each row of `weights` (s, n) ≥ 0 with those on all n items.

    `correct` is (m, n) in [0, 1], NaN for missing answers. `tau` also computes tau-b, which takes
    longer than the rest. `whole` (n,) are weights of the items in the
    benchmark's score, None weighs equally.

    Raises:
        ValueError: answers and weights do not have the same items.
    """
    wholes = None if whole is None else {"": whole}
    model_panels = ModelPanels.of(correct, {"": np.arange(len(correct))}, wholes)
    return preservation_by_panel(model_panels, weights, tau=tau)[""]


def preservation_by_panel(
    model_panels: ModelPanels,
    weights: NDArray[np.floating],
    *,
    tau: bool = True,
    sizes: NDArray[np.intp] | None = None,
) -> dict[str, Preservation]:
    """Return the metrics (s,) of `preservation` by panel, of `weights` (s, n) ≥ 0.

    `sizes` (s,) are the numbers of items of rows with equal weights, 0 for other rows; computed
    where None.

    Raises:
        ValueError: answers and weights do not have the same items.
    """
    if sizes is None:
        sizes = _plain_sizes(weights)
    used = np.unique(np.concatenate([np.empty(0, np.intp), *model_panels.panels.values()]))
    places = {name: np.searchsorted(used, rows) for name, rows in model_panels.panels.items()}
    step = max(1, _BLOCK_BYTES // (8 * max(len(used), 1)))
    starts = range(0, len(weights), step)

    def block(start: int) -> dict[str, Preservation]:
        rows = slice(start, start + step)
        scores = subset_scores(model_panels.correct, weights[rows], models=used)
        return _panels(model_panels, places, scores, sizes[rows], tau, threads=len(starts) == 1)

    blocks: dict[str, list[Preservation]] = {name: [] for name in places}
    for results in _in_threads(block, starts) if len(starts) > 1 else map(block, starts):
        for name, result in results.items():
            blocks[name].append(result)
    empty = Preservation(*(np.empty(0) for _ in Preservation._fields))
    return {
        name: Preservation(*map(np.concatenate, zip(*parts, strict=True))) if parts else empty
        for name, parts in blocks.items()
    }


def _plain_sizes(weights: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the numbers of items (s,) of rows of `weights` (s, n) with equal weights, else 0."""
    highest = weights.max(axis=1, initial=0, keepdims=True)
    plain = ((weights == 0) | (weights == highest)).all(axis=1)
    return np.where(plain, np.count_nonzero(weights, axis=1), 0)


def _panels(
    model_panels: ModelPanels,
    places: Mapping[str, NDArray[np.intp]],
    scores: Float,
    sizes: NDArray[np.intp],
    tau: bool,
    *,
    threads: bool,
) -> dict[str, Preservation]:
    """Compute a block's metrics by panel, from the scores of all models."""

    def metrics(name: str) -> Preservation:
        models = model_panels.panels[name]
        counted = sizes * int(model_panels.right_or_wrong[models].all())
        # Rows stay contiguous, so that the order of sums does not depend on other panels.
        full, part = model_panels.full[name].take(models, axis=1), scores.take(places[name], axis=1)
        return _metrics(full, part, counted, tau)

    if not threads or scores.size < _WORTH_THREADS:
        return {name: metrics(name) for name in places}
    return dict(zip(places, _in_threads(metrics, places), strict=True))


def _in_threads(function: Callable[[T], S], over: Iterable[T]) -> list[S]:
    """Run blocks or panels in threads: they are independent, and NumPy releases the GIL."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(function, over))


def _metrics(full: Float, scores: Float, sizes: NDArray[np.intp], tau: bool) -> Preservation:
    whole, parts = rank_agreement.complete_rows(full, scores)
    return Preservation(
        spearman=rank_agreement.pearson_rows(
            rank_agreement.ranks_rows(whole), _ranks(parts, sizes)
        ),
        pearson=rank_agreement.pearson_rows(whole, parts),
        wasserstein=wasserstein_rows(whole, parts),
        mean_absolute_error=rank_agreement.row_means(np.abs(parts - whole)),
        bias=signed_shift_rows(whole, parts),
        error_sd=spread_of_shifts_rows(whole, parts),
        tau_b=rank_agreement.kendall_tau_b_rows(whole, parts)
        if tau
        else np.full(len(parts), np.nan),
    )


def _ranks(scores: Float, sizes: NDArray[np.intp]) -> Float:
    """Return the average ranks of each row, best first; by counting if scores are hits / size."""
    plain = sizes > 0
    if plain.all():
        return _counted_ranks(scores, sizes)
    out = np.empty_like(scores)
    out[~plain] = rank_agreement.ranks_rows(scores[~plain])
    if plain.any():
        out[plain] = _counted_ranks(scores[plain], sizes[plain])
    return out


def _counted_ranks(scores: Float, sizes: NDArray[np.intp]) -> Float:
    """Return ranks of scores that are hits / size: from a histogram, or sorted for few models."""
    hits = np.rint(scores * sizes[:, None])
    width = int(sizes.max(initial=0)) + 1
    if width > _WIDEST * scores.shape[1]:
        return rank_agreement.ranks_rows(hits)
    rows = np.arange(len(hits))[:, None] * width
    cells = hits.astype(np.intp) + rows
    histogram = np.bincount(cells.ravel(), minlength=len(hits) * width).reshape(len(hits), width)
    better = scores.shape[1] - histogram.cumsum(axis=1)
    ranks = better + (histogram + 1) / 2
    return np.take(ranks.ravel(), cells)
