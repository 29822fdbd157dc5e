"""The paper's panel on the items that enough of it answered (DELE, section 3.1.1)."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.item_clusters import item_clusters
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.dele.evidence.against_random import draw_random_bands
from benchwright.methods.dele.evidence.curves import trace_curves
from benchwright.methods.dele.evidence.judging import judge_samplers
from benchwright.methods.dele.evidence.panels import SamplingPanels, has_published, papers_choice
from benchwright.methods.dele.evidence.pools import build_pools
from benchwright.methods.dele.evidence.summary import summarise_samplers
from benchwright.methods.dele.samplers.pool import VectorsByText
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ModelsParams
from benchwright.tables.dele import SamplingCurves, SamplingSummary

PARTIAL = "paper_partial"


class AnsweredByAll(NamedTuple):
    """Models and items without a gap: places of k models and of items that all of them answered."""

    models: NDArray[np.intp]
    items: NDArray[np.intp]


def answered_by_all(answered: NDArray[np.bool_], least: int) -> AnsweredByAll:
    """The models with most answers, as many as keep the most answers without a gap.

    Models stand by falling number of answers; of the first k, k ≥ `least`, those are taken whose
    number times that of the items which all of them answered is largest; at a tie more models.

    `answered` is (m, n); where fewer than `least` models answered anything, all that did are taken.
    """
    counts = answered.sum(axis=1)
    order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
    if not len(order):
        return AnsweredByAll(order, order)
    shared = np.logical_and.accumulate(answered[order], axis=0)
    kept = np.arange(1, len(order) + 1) * shared.sum(axis=1)
    kept[: min(least, len(order)) - 1] = -1
    last = len(order) - 1 - int(np.argmax(kept[::-1]))
    return AnsweredByAll(np.sort(order[: last + 1]), np.flatnonzero(shared[last]))


def choose_paper_panel(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    published_scores: pd.DataFrame,
    sampling: SamplingParams,
) -> SamplingPanels:
    """Take those of the paper's models that have answers, and items that they all answered.

    The panel alone is in the result, as `paper_partial`; it is empty without published scores.
    """
    ids = tuple(items["item_id"].astype(str))
    matrix = response_matrix.select_items(ids)
    order = np.argsort(np.array(matrix.models, object))
    names = tuple(matrix.models[row] for row in order)
    wanted = np.empty(0, np.intp)
    if has_published(names, published_scores):
        wanted = papers_choice(names, published_scores, sampling)
    rows = order[wanted]
    answered = matrix.answered()[rows]
    found = answered_by_all(answered, sampling.evidence.paper_models)
    models = tuple(matrix.models[row] for row in rows[found.models])
    kept = items.iloc[found.items].reset_index(drop=True)
    return SamplingPanels(
        item_ids=tuple(ids[place] for place in found.items),
        models=models,
        families=models,
        correct=np.ascontiguousarray(
            matrix.correct[rows[found.models]][:, found.items], dtype=np.float32
        ),
        clusters=np.asarray(item_clusters(kept), dtype=np.intp),
        groups={PARTIAL: np.arange(len(models))},
        judged=len(kept),
        all_items=int(answered.any(axis=0).sum()),
        left_out=int(answered.any(axis=1).sum()) - len(models),
        unknown_families=0,
        paper_by="published",
    )


def judge_paper_panel(
    items: pd.DataFrame,
    paper_panel: SamplingPanels,
    pool_vectors: dict[str, VectorsByText],
    sampling: SamplingParams,
    models: ModelsParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judge every sampler by this panel, among its items alone.

    Samplers that read answers see those of the panel itself: in-sample.

    Returns:
        A `SamplingCurves` and a `SamplingSummary` table of the one panel.
    """
    if not paper_panel.item_ids:
        return SamplingCurves.empty(), SamplingSummary.empty()
    pools = build_pools(items, paper_panel, pool_vectors, sampling, models)
    figures, _ = judge_samplers(pools, paper_panel, sampling, seed)
    curves = trace_curves(figures, draw_random_bands(paper_panel, sampling, seed))
    return curves, summarise_samplers(curves, pools, paper_panel, sampling, seed)
