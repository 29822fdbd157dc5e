"""One table of models × items: the score of each answer, what was chosen, what is missing."""

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.source import Source
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.item_clusters import item_clusters
from benchwright.core.response_matrix import ResponseMatrix

ANSWERED_BY = 0.5
"""Minimum share of the models that answered an item."""
MIN_COVERAGE = 0.95
"""Minimum share of these items that a model answered."""
_ITEM_COLUMNS = {"subject": "", "question": "", "choices": None, "passage_id": None}


class State(IntEnum):
    """What became of a question that was put to a model."""

    UNASKED = 0  # no file says that it was asked
    READ = 1
    UNREAD = 2  # the answer names no option or score, and counts as wrong
    MISSING = 3  # it was asked and has no answer, or not each of its repeats
    BLANK = 4  # its cell in a table of items × models is empty


class Answers(NamedTuple):
    """Answers of m models to n items, and what is known of both.

    Attributes:
        source: the origin, as text.
        models: m sorted names; `<model>@<style>-<shots>` if a file states these.
        item_ids: n ids, from files in natural order; `<task>/<row>` of other logs.
        correct: (m, n) scores in [0, 1], NaN where there is none.
        items: known items, with at least item_id, subject, question, choices, passage_id, or None.
        families: family by model, if a run saved them.
        notes: caveats.
        state: (m, n) codes of `State`; None if every score is a read answer and nothing else known.
        chosen: (m, n) options, −1 if unknown; None if all are.
        disputed: (m, n) items with several different answers, of which the first counts; or None.
        tasks: the task of each item of a log.
        sources: what each file states.
        contradicting: lines on answers whose mark or file contradicts the key of the item.
        unusable: why files could not be used.
    """

    source: str
    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: NDArray[np.float32]
    items: pd.DataFrame | None = None
    families: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    state: NDArray[np.uint8] | None = None
    chosen: NDArray[np.int16] | None = None
    disputed: NDArray[np.bool_] | None = None
    tasks: Mapping[str, str] = {}
    sources: tuple[Source, ...] = ()
    contradicting: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()

    def select(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> "Answers":
        """Return the answers of some models to some items, by masks."""
        models = np.array(self.models, object)[rows]
        item_ids = np.array(self.item_ids, object)[columns]
        cells = np.ix_(rows, columns)

        def selected(values: NDArray[Any] | None) -> Any:
            return None if values is None else values[cells]

        return self._replace(
            models=tuple(models),
            item_ids=tuple(item_ids),
            correct=self.correct[cells],
            state=selected(self.state),
            chosen=selected(self.chosen),
            disputed=selected(self.disputed),
        )

    def without(self, models: Collection[str]) -> "Answers":
        """Return the answers without those of any configuration of some models."""
        names = (parse_configuration(name).model for name in self.models)
        kept = np.array([name not in models for name in names], dtype=bool)
        return self.select(kept, np.ones(len(self.item_ids), dtype=bool))

    def states(self) -> NDArray[np.uint8]:
        """Return the (m, n) states of the cells."""
        if self.state is not None:
            return self.state
        return np.where(np.isnan(self.correct), State.UNASKED, State.READ).astype(np.uint8)

    def matrix(self) -> ResponseMatrix:
        """Return scores and chosen options as a response matrix."""
        return ResponseMatrix.of(
            self.models, self.item_ids, correct=self.correct, prediction=self.chosen
        )

    def family_numbers(self) -> NDArray[np.intp] | None:
        """Return (m,) numbers of families, None if unknown; a model without one is its own."""
        if not self.families:
            return None
        names = [str(self.families.get(name) or f"\0{name}") for name in self.models]
        return np.unique(names, return_inverse=True)[1]

    def clusters(self) -> NDArray[np.intp]:
        """Return (n,) labels, equal for items that share a passage or stem."""
        rows = self.item_rows()
        if rows is None:
            return np.arange(len(self.item_ids))
        # Equal texts that were asked as items of their own differ in something else, an image.
        options = rows["choices"].map(lambda texts: tuple(sorted(texts)))
        same = rows.assign(options=options).duplicated(["question", "options"], keep=False)
        alone = same & rows["passage_id"].isna()
        return item_clusters(rows.assign(question=rows["question"].mask(alone, "")))

    def subjects(self) -> NDArray[np.object_] | None:
        """Return the (n,) subjects; None for a single or unknown subject."""
        rows = self.item_rows()
        if rows is None or rows["subject"].nunique() < 2:
            return None
        return rows["subject"].astype(str).to_numpy(dtype=object)

    def item_rows(self) -> pd.DataFrame | None:
        """Return a row of `items` per item, in order; unknown items have empty texts."""
        if self.items is None:
            return None
        rows = self.items.set_index("item_id").reindex(list(self.item_ids)).reset_index()
        empty = {"subject": "", "question": ""}
        return rows.fillna(empty).assign(choices=rows["choices"].map(_as_list))


def _as_list(choices: Any) -> list[str]:
    if isinstance(choices, str):
        return [choices]
    return [] if choices is None or isinstance(choices, float) else [str(c) for c in choices]


def item_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table of items that `Answers.items` has."""
    lacking = {name: value for name, value in _ITEM_COLUMNS.items() if name not in table}
    table = table.assign(**lacking)[["item_id", *_ITEM_COLUMNS]].astype({"item_id": str})
    return table.fillna({"subject": "", "question": ""})


def select_answered(known: Answers, all_items: bool = False) -> Answers:
    """Select items that half of the models answered, then models that answered nearly all of them.

    With `all_items`, keep every item, and the models that answered nearly all items.

    Raises:
        InputError: no item or no model is left.
    """
    answered = ~np.isnan(known.correct)
    columns = np.asarray(answered.any(axis=0))
    if not all_items:
        columns &= answered.sum(axis=0) >= ANSWERED_BY * len(known.models)
    rows = answered[:, columns].mean(axis=1) >= MIN_COVERAGE if columns.any() else columns[:0]
    if not rows.any():
        raise InputError(
            f"{known.source}: no model answered {MIN_COVERAGE:.0%} of the "
            f"{int(columns.sum()):,} items"
        )
    left_out = {
        "items that fewer than half of the models answered": int((~columns).sum()),
        f"models that answered fewer than {MIN_COVERAGE:.0%} of the items": int((~rows).sum()),
    }
    notes = (f"excluded: {count:,} {what}" for what, count in left_out.items() if count)
    return known.select(rows, columns)._replace(notes=(*known.notes, *notes))
