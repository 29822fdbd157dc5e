"""What an answer can be an answer to: items as they are, and as each draw has them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.responses.drawn_items import drawn_items
from benchwright.responses.item_index import ItemIndex, Joined, Positions

_OF_ITEMS = ("question", "choices_only", "question_only")
_UNLIKE = 0.02  # above this share of other texts, it is another draw of the same name


class Compared(NamedTuple):
    """Texts of a file beside those of a draw with the same item ids."""

    shared: int
    unlike: int

    def another_draw(self) -> bool:
        """Whether so many differ that the file is of another draw with the same name."""
        return self.unlike > _UNLIKE * self.shared


class AnswerIndex:
    """Items first, then calibration items, then the items of each draw in order of the draws.

    A position is one question with its options and gold, so answers to an item and to its draws
    never meet.

    Attributes:
        items: the items and the calibration items alone; their positions are the same here.
        ids: the item ids by position; an item has its id again in every draw.
        answer: index of the gold option by position, −1 where open-ended.
        options: number of options by position.
        choices: the options' texts by position.
        single: True where exactly one option is right.
    """

    def __init__(
        self,
        items: pd.DataFrame,
        calibration_items: pd.DataFrame | None = None,
        draws: pd.DataFrame | None = None,
    ) -> None:
        """Args:
        items: an `Items` table.
        calibration_items: the same columns.
        draws: a `Draws` table; only its rows of role `item` count.
        """
        self.items = ItemIndex(items, calibration_items)
        self._drawn: dict[str, ItemIndex] = {}
        self._start: dict[str, int] = {}
        self._texts: dict[str, dict[str, str]] = {}
        start = len(self.items.ids)
        for name, rows in _by_condition(draws):
            whole = drawn_items(items, rows, name)
            own = ItemIndex(whole[whole["item_id"].isin(rows["item_id"])])
            self._drawn[name], self._start[name] = own, start
            self._texts[name] = dict(zip(rows["item_id"], rows["content_hash"], strict=True))
            start += len(own.ids)
        self._parts = [self.items, *self._drawn.values()]
        self.ids = pd.Index(np.concatenate([part.ids.to_numpy() for part in self._parts]))
        self.answer = np.concatenate([part.answer for part in self._parts])
        self.options = np.concatenate([part.options for part in self._parts])
        self.single = np.concatenate([part.single for part in self._parts])
        self.choices = [choices for part in self._parts for choices in part.choices]

    def of(self, condition: str) -> ItemIndex | None:
        """The items as a condition shows them; None of a condition that nothing here has."""
        if condition in self._drawn:
            return self._drawn[condition]
        return self.items if condition in _OF_ITEMS else None

    def has_draws(self) -> bool:
        """Whether this run has draws."""
        return bool(self._drawn)

    def is_draw(self, condition: str) -> bool:
        """Whether it is the name of a draw of this run."""
        return condition in self._drawn

    def start(self, condition: str) -> int:
        """The first position of a condition's items."""
        return self._start.get(condition, 0)

    def join(
        self,
        item_ids: NDArray[np.object_],
        hashes: Sequence[str | None] | None,
        conditions: pd.Series,
        *,
        question_only: bool = False,
    ) -> Joined:
        """Finds the item of each row among those that its condition shows.

        The other arguments are those of `ItemIndex.join`.
        """
        positions = np.full(len(conditions), -1, dtype=np.intp)
        by_hash = np.zeros(len(conditions), dtype=bool)
        texts = None if hashes is None else np.array(hashes, dtype=object)
        for condition, at in self._rows_by_part(conditions):
            index = self.of(condition)
            if index is None:
                continue
            found = index.join(
                item_ids[at], None if texts is None else texts[at], question_only=question_only
            )
            moved = found.positions + self.start(condition)
            positions[at] = np.where(found.positions < 0, -1, moved)
            by_hash[at] = found.by_hash
        return Joined(positions, by_hash)

    def _rows_by_part(self, conditions: pd.Series) -> list[tuple[str, NDArray[np.intp] | slice]]:
        """Rows by condition; those that show the items as they are together."""
        names = sorted(conditions.unique())
        shown = {name: "question" if self.of(name) is self.items else name for name in names}
        if len(set(shown.values())) == 1:
            return [(shown[names[0]], slice(None))]
        return [
            (part, np.flatnonzero(conditions.isin([n for n in names if shown[n] == part])))
            for part in sorted(set(shown.values()))
        ]

    def compare_texts(
        self, condition: str, item_ids: Iterable[str | None], hashes: Iterable[str | None]
    ) -> Compared:
        """How many rows name an item of a draw and carry a text, and how many another text."""
        own = self._texts.get(condition, {})
        pairs = [
            (own[item_id], text)
            for item_id, text in zip(item_ids, hashes, strict=True)
            if item_id is not None and item_id in own and text is not None
        ]
        return Compared(len(pairs), sum(text != other for text, other in pairs))

    def is_right(self, positions: Positions, prediction: NDArray[np.int64]) -> NDArray[np.float64]:
        """1.0 where the predicted option is among the right ones, 0.0 where not.

        NaN where the prediction is unknown (−1) or the item is open-ended.
        """
        right = np.full(len(positions), np.nan)
        first = 0
        for part in self._parts:
            own = (positions >= first) & (positions < first + len(part.ids))
            right[own] = part.is_right(positions[own] - first, prediction[own])
            first += len(part.ids)
        return right


def _by_condition(draws: pd.DataFrame | None) -> list[tuple[str, pd.DataFrame]]:
    if draws is None:
        return []
    own = draws[draws["role"] == "item"]
    return [(str(name), rows) for name, rows in own.groupby("condition", sort=True)]
