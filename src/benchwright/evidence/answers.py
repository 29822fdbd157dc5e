"""The panel's answers as arrays: what the statistics take."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.item_clusters import item_clusters
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel


class PanelAnswers(NamedTuple):
    """Answers of m models to the n items that all of them answered.

    Attributes:
        models: m names, in the order asked for.
        item_ids: n ids, sorted.
        correct: (m, n) float64 in [0, 1].
        clusters: (n,) labels; items that share a passage or a stem are not independent.
        subjects: (n,) labels of the subjects.
    """

    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: NDArray[np.float64]
    clusters: NDArray[np.intp]
    subjects: NDArray[np.intp]

    def among(self, item_ids: set[str]) -> NDArray[np.bool_]:
        """(n,) which items are among the given ones."""
        return np.array([item in item_ids for item in self.item_ids], dtype=bool)

    def of(self, models: list[str]) -> NDArray[np.float64]:
        """The rows of some of the models, in the order given."""
        row = {model: i for i, model in enumerate(self.models)}
        return self.correct[[row[model] for model in models]]


def panel_answers(
    response_matrix: ResponseMatrix, items: pd.DataFrame, panel: Panel, models: list[str]
) -> PanelAnswers:
    """The answers of `models` to the panel's items."""
    chosen = response_matrix.select_models(models).select_items(panel.item_ids)
    place = pd.Index(items["item_id"].astype(str)).get_indexer(pd.Index(panel.item_ids))
    if (place < 0).any():
        raise KeyError(f"{panel.item_ids[int(np.argmin(place))]} is not among the items")
    rows = items[["item_id", "subject", "passage_id", "question"]].iloc[place]
    subjects = pd.factorize(rows["subject"], sort=True)[0].astype(np.intp)
    clusters = item_clusters(rows.reset_index(drop=True))
    return PanelAnswers(
        tuple(models),
        panel.item_ids,
        chosen.correct.astype(np.float64),
        np.asarray(clusters, dtype=np.intp),
        subjects,
    )
