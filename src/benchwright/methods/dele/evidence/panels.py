"""The models that choose items or samplers, and those that judge the choice."""

from collections.abc import Iterable, Mapping
from operator import eq
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import parse_configuration
from benchwright.core.item_clusters import item_clusters
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import families_of
from benchwright.methods.dele.evidence.model_splits import (
    every_nth_of_the_best,
    split_by_family,
    split_forward,
)
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.preservation import Judges
from benchwright.tables.responses import Responses

FEWEST_JUDGES = 3
"""With fewer models no rank correlation exists."""

CHOSEN_BY: Mapping[str, str] = {
    "selection": "selection",
    "held_out": "selection",
    "forward": "weak",
    "all": "all",
    "paper": "all",
    "paper_partial": "paper_partial",
}
"""Panels in the order of pages, and the group of models whose answers choose items for each."""

Places = NDArray[np.intp]


class SamplingPanels(NamedTuple):
    """Answers of m models to the n items that all of them answered, and groups of the models."""

    item_ids: tuple[str, ...]  # n ids, in the order of the items table
    models: tuple[str, ...]  # m names, sorted
    families: tuple[str, ...]  # of each; a model of which nothing is known is a family by itself
    correct: NDArray[np.float32]  # (m, n) float32 in [0, 1], none missing
    clusters: Places  # (n,) labels: items that share a passage or a stem
    # places of models by group: selection, held_out, weak, forward, all, paper; or paper_partial
    # alone.
    groups: Mapping[str, Places]
    judged: int  # items that enough models answered, before those left out that one lacks
    all_items: int  # of the benchmark
    left_out: int  # models that answered too little
    unknown_families: int  # models that are a family of their own
    paper_by: str  # "published" or "own" scores, by which the paper's panel is chosen

    def answers(self, group: str) -> NDArray[np.float32]:
        """(k, n) answers of a group of models."""
        return self.correct[self.groups[group]]

    def judges(
        self, panels: Iterable[str] | None = None, whole: NDArray[np.float64] | None = None
    ) -> Judges:
        """The models of all panels, or of some; `whole` as in `Judges.of`."""
        names = self.chosen_by if panels is None else panels
        return Judges.of(self.correct, {name: self.groups[name] for name in names}, whole)

    @property
    def chosen_by(self) -> dict[str, str]:
        """The panels there are, and who chooses items for each."""
        return {panel: group for panel, group in CHOSEN_BY.items() if panel in self.groups}

    @property
    def main(self) -> str:
        """The panel of headlines: `held_out`, or `all` where too few models are held out."""
        if "held_out" not in self.groups:
            return next(iter(self.chosen_by))
        enough = len(self.groups["held_out"]) >= FEWEST_JUDGES
        return "held_out" if enough else "all"


def choose_panels(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    models_table: pd.DataFrame,
    published_scores: pd.DataFrame,
    sampling: SamplingParams,
    seed: int,
) -> SamplingPanels:
    """Choose models and items so that nothing is missing, and split the models.

    Items are those that `answered_by` of the models answered; models those that answered
    `min_coverage` of these; then items that one of these models lacks are left out.
    """
    evidence, share = sampling.evidence, sampling.adaptive.selection_share
    ids = tuple(items["item_id"].astype(str))
    matrix = response_matrix.select_items(ids)
    answered = matrix.answered()
    judged = answered.any(axis=0)
    judged &= answered.sum(axis=0) >= evidence.answered_by * len(matrix.models)
    total = max(int(judged.sum()), 1)
    enough = (answered & judged).sum(axis=1) >= evidence.min_coverage * total
    enough &= bool(judged.any())
    kept = judged & answered[enough].all(axis=0) if enough.any() else np.zeros_like(judged)
    order = [int(row) for row in np.argsort(np.array(matrix.models, object)) if enough[row]]
    models = tuple(matrix.models[row] for row in order)
    correct = matrix.correct[order][:, kept]
    plain = [parse_configuration(name).model for name in models]
    families = families_of(models, models_table)
    scores = correct.mean(axis=1, dtype=np.float64) if kept.any() else np.zeros(len(models))
    by_family = split_by_family(models, families, share, seed)
    forward = split_forward(models, scores, share)
    known = has_published(models, published_scores)
    paper = (
        papers_choice(models, published_scores, sampling)
        if known
        else every_nth_of_the_best(models, scores, evidence.paper_best, evidence.paper_step)
    )
    rows = items.loc[kept].reset_index(drop=True)
    return SamplingPanels(
        item_ids=tuple(item for item, stays in zip(ids, kept, strict=True) if stays),
        models=models,
        families=families,
        correct=np.ascontiguousarray(correct, dtype=np.float32),
        clusters=np.asarray(item_clusters(rows), dtype=np.intp),
        groups={
            "selection": by_family.selection,
            "held_out": by_family.held_out,
            "weak": forward.selection,
            "forward": forward.held_out,
            "all": np.arange(len(models)),
            "paper": paper,
        },
        judged=int(judged.sum()),
        all_items=len(ids),
        left_out=len(matrix.models) - len(models),
        unknown_families=sum(map(eq, families, plain)),
        paper_by="published" if known else "own",
    )


def panel_counts(panels: SamplingPanels) -> dict[str, int]:
    """Models by panel."""
    return {panel: len(panels.groups[panel]) for panel in panels.chosen_by}


def has_published(models: tuple[str, ...], published_scores: pd.DataFrame) -> bool:
    """Whether any of the models has a published score."""
    plain = [parse_configuration(name).model for name in models]
    return bool(published_scores["name"].isin(plain).any())


def papers_choice(
    models: tuple[str, ...], published_scores: pd.DataFrame, sampling: SamplingParams
) -> Places:
    """Places of those of the paper's panel that are here; chosen among all published models."""
    evidence = sampling.evidence
    listed = published_scores.drop_duplicates("name")
    names = listed["name"].tolist()
    chosen = every_nth_of_the_best(names, listed["avg"], evidence.paper_best, evidence.paper_step)
    wanted = {names[place] for place in chosen}
    return np.array(
        [place for place, name in enumerate(models) if parse_configuration(name).model in wanted],
        dtype=np.intp,
    )


def ask_nobody() -> pd.DataFrame:
    """Stand in for the answers of models asked in this run: there are none."""
    return Responses.empty()
