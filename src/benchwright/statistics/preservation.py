"""Agreement of ranks and scores on subsets with those on all items (DELE, section 3.1)."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats, Places
from benchwright.statistics.rank_agreement import (
    complete_rows,
    kendall_tau_b_rows,
    pearson_rows,
    row_means,
    spearman_rows,
)
from benchwright.statistics.row_blocks import row_blocks
from benchwright.statistics.subset_scores import full_scores, subset_scores, wasserstein_rows

_BLOCK_BYTES = 1 << 23  # of the scores of one block of subsets
_THREADS = 2  # NumPy releases the interpreter's lock


class Preservation(NamedTuple):
    """Metrics of s subsets compared with all items, each (s,), over m models; NaN if undefined."""

    spearman: Floats  # Pearson's correlation of average ranks, the paper's rank preservation
    pearson: Floats  # of the scores
    wasserstein: Floats  # distance of the two distributions of scores, in shares
    mean_absolute_error: Floats  # of a model's score, in shares
    bias: Floats  # mean of subset − whole, in shares: negative if the subset is harder
    # standard deviation of subset − whole over models, in shares: 0 if all shift alike
    error_sd: Floats
    tau_b: Floats  # Kendall's; NaN if it was not requested


@dataclass(frozen=True)
class ModelPanels:
    """Responses of m models, and panels of these models.

    Scores are computed once for all panels.
    """

    correct: AnyFloats  # (m, n) in [0, 1]; NaN is left out of a model's scores
    panels: Mapping[str, Places]  # positions of models (k,) by name
    full: Floats  # (1, m) scores on the benchmark

    @classmethod
    def of(cls, correct: AnyFloats, panels: Mapping[str, Places]) -> Self:
        """Compute the scores on all items."""
        return cls(correct, panels, full_scores(correct)[None, :])

    def only(self, names: Iterable[str]) -> Self:
        """Return some of the panels."""
        return replace(self, panels={name: self.panels[name] for name in names})


def preservation_by_panel(
    model_panels: ModelPanels, weights: AnyFloats, *, tau: bool = True
) -> dict[str, Preservation]:
    """Compare the scores under each row of `weights` (s, n) ≥ 0 with those on all n items.

    Return the metrics (s,) by panel. `tau` also computes tau-b, which takes longer than the rest.
    """
    panels = model_panels.panels
    used = np.unique(np.concatenate([np.empty(0, np.intp), *panels.values()]))

    def block(rows: slice) -> dict[str, Preservation]:
        scores = subset_scores(model_panels.correct, weights[rows], models=used)
        metrics = {}
        for name, models in panels.items():
            # Rows stay contiguous, so that the order of sums does not depend on other panels.
            whole = model_panels.full.take(models, axis=1)
            parts = scores.take(np.searchsorted(used, models), axis=1)
            metrics[name] = _metrics(whole, parts, tau)
        return metrics

    with ThreadPoolExecutor(_THREADS) as threads:
        rows = row_blocks(len(weights), 8 * len(used), _BLOCK_BYTES)
        blocks = list(threads.map(block, rows))
    joined = {}
    for name in panels:
        of_panel = [metrics[name] for metrics in blocks]
        joined[name] = Preservation(*map(np.concatenate, zip(*of_panel, strict=True)))
    return joined


def _metrics(full: Floats, scores: Floats, tau: bool) -> Preservation:
    whole, parts = complete_rows(full, scores)
    shifts = parts - whole
    bias = row_means(shifts)
    blank = np.full(len(parts), np.nan)
    return Preservation(
        spearman=spearman_rows(whole, parts),
        pearson=pearson_rows(whole, parts),
        wasserstein=wasserstein_rows(whole, parts),
        mean_absolute_error=row_means(np.abs(shifts)),
        bias=bias,
        error_sd=np.sqrt(row_means((shifts - bias[:, None]) ** 2)),
        tau_b=kendall_tau_b_rows(whole, parts) if tau else blank,
    )
