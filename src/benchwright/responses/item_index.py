"""Items found by their id or by their text."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.content_hash import content_hash

Positions = NDArray[np.intp]


class Joined(NamedTuple):
    """Where rows of a file belong: positions in the index, −1 for nowhere."""

    positions: Positions
    by_hash: NDArray[np.bool_]


class ItemIndex:
    """Evaluation items first, calibration items after them, each at a position of its own.

    Attributes:
        n_items: how many are evaluation items; calibration items have positions from there on.
        ids: the item ids by position.
        answer: index of the gold option by position, −1 where open-ended.
        options: number of options by position.
        choices: the options' texts by position.
        subjects: the subject by position.
        single: True where exactly one option is right, so that an answer is right or wrong.
    """

    def __init__(self, items: pd.DataFrame, calibration_items: pd.DataFrame | None = None) -> None:
        """Args:
        items: an `Items` table.
        calibration_items: the same columns; ids that are in `items` too are left out.
        """
        tables = [items]
        if calibration_items is not None and len(calibration_items):
            tables.append(calibration_items[~calibration_items["item_id"].isin(items["item_id"])])
        both = pd.concat(tables, ignore_index=True) if len(tables) > 1 else items
        self.n_items = len(items)
        self.ids = pd.Index(both["item_id"].astype(str))
        self.answer = both["answer"].to_numpy(dtype=np.int64)
        self.choices = [tuple(str(text) for text in texts) for texts in both["choices"]]
        self.subjects = [str(subject) for subject in both["subject"]]
        self.options = np.array([len(choices) for choices in self.choices], dtype=np.int64)
        self._right = [tuple(int(option) for option in right) for right in both["correct_set"]]
        self.single = (self.answer >= 0) & np.array([len(right) <= 1 for right in self._right])
        self._texts = both[["content_hash", "question"]]

    @cached_property
    def _hashes(self) -> list[str]:
        return [str(text_hash) for text_hash in self._texts["content_hash"]]

    @cached_property
    def _questions(self) -> list[str]:
        return [str(question) for question in self._texts["question"]]

    @cached_property
    def _by_hash(self) -> dict[str, int]:
        return _unambiguous(self._hashes)

    @cached_property
    def _question_hashes(self) -> list[str]:
        return [content_hash(question) for question in self._questions]

    @cached_property
    def _same_text(self) -> dict[str, list[int]]:
        return _places(self._hashes)

    @cached_property
    def _same_options(self) -> dict[str, list[int]]:
        texts = zip(self._questions, self.choices, strict=True)
        return _places(_hash_in_any_order(question, choices) for question, choices in texts)

    def with_text(self, question: str, choices: Sequence[str]) -> list[int]:
        """Positions of every item with this text and these options in this order, ascending."""
        return list(self._same_text.get(content_hash(question, choices), ()))

    def with_options(self, question: str, choices: Sequence[str]) -> list[int]:
        """Positions of every item with this text and these options in any order, ascending."""
        return list(self._same_options.get(_hash_in_any_order(question, choices), ()))

    def find(self, item_ids: Iterable[str]) -> Positions:
        """Positions of ids, −1 where there is no such item."""
        wanted = item_ids if isinstance(item_ids, pd.Series) else list(item_ids)
        return np.asarray(self.ids.get_indexer(pd.Index(wanted, dtype=self.ids.dtype)))

    def join(
        self,
        item_ids: Sequence[str | None] | NDArray[np.object_],
        hashes: Sequence[str | None] | NDArray[np.object_] | None,
        *,
        question_only: bool = False,
    ) -> Joined:
        """Finds the item of each row.

        Args:
            item_ids: the id that each row states, or None.
            hashes: the content hash of the text that each row carries, or None (for all: no row
                carries any). Where there is one it decides: an id is believed only if the item's
                hash agrees.
            question_only: the hashes are of the question alone.
        """
        codes, distinct = pd.factorize(np.asarray(item_ids, dtype=object))
        positions = np.append(self.find(distinct), -1)[codes]  # code −1, no id, reads the last
        by_hash = np.zeros(len(positions), dtype=bool)
        if hashes is None or all(seen is None for seen in hashes):
            return Joined(positions, by_hash)
        own = self._question_hashes if question_only else self._hashes
        lookup = _unambiguous(own) if question_only else self._by_hash
        for row, seen in enumerate(hashes):
            if seen is None or (positions[row] >= 0 and own[positions[row]] == seen):
                continue
            positions[row] = lookup.get(seen, -1)
            by_hash[row] = positions[row] >= 0
        return Joined(positions, by_hash)

    def is_right(self, positions: Positions, prediction: NDArray[np.int64]) -> NDArray[np.float64]:
        """1.0 where the predicted option is among the right ones, 0.0 where not.

        NaN where the prediction is unknown (−1) or the item is open-ended.
        """
        right = np.where(prediction == self.answer[positions], 1.0, 0.0)
        for row in np.flatnonzero(~self.single[positions]):
            right[row] = float(int(prediction[row]) in self._right[positions[row]])
        right[(prediction < 0) | (self.answer[positions] < 0)] = np.nan
        return right


def _hash_in_any_order(question: str, choices: Sequence[str]) -> str:
    return content_hash(question, sorted(unicodedata.normalize("NFC", text) for text in choices))


def _places(hashes: Iterable[str]) -> dict[str, list[int]]:
    """Positions by hash."""
    found: dict[str, list[int]] = {}
    for position, text_hash in enumerate(hashes):
        found.setdefault(text_hash, []).append(position)
    return found


def _unambiguous(hashes: Sequence[str]) -> dict[str, int]:
    """Position by hash; texts that several items share are left out."""
    found: dict[str, int] = {}
    for position, text_hash in enumerate(hashes):
        found[text_hash] = -1 if text_hash in found else position
    return {text_hash: position for text_hash, position in found.items() if position >= 0}
