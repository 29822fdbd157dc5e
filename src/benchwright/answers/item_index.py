"""Find items by id or by text, among the originals and each perturbed copy."""

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.prompt_matching import EndIndex, PromptIndex
from benchwright.core.content_hash import content_hash

Positions = NDArray[np.intp]

_OWN = ("subject", "question", "choices", "answer", "answer_text", "explanation", "content_hash")
_OF_ITEMS = ("question", "choices_only", "question_only")
_MAX_DIFFERENT = 0.02  # share of different texts above which a file is of another copy


class Joined(NamedTuple):
    """Positions of rows in the index (−1 if not found), and whether the text was used."""

    positions: Positions
    by_hash: NDArray[np.bool_]


class ItemIndex:
    """Items by id and text: each has the position of its row in the table.

    Attributes:
        ids: item ids.
        choices: texts of the options.
        subjects: the subjects.
    """

    def __init__(self, items: pd.DataFrame) -> None:
        self.ids = pd.Index(items["item_id"].astype(str))
        self.choices = [tuple(map(str, texts)) for texts in items["choices"]]
        self.subjects = [sys.intern(str(subject)) for subject in items["subject"]]
        self._texts = items[["content_hash", "question"]]

    @cached_property
    def hashes(self) -> list[str]:
        """The hashes of questions and options."""
        return [str(text_hash) for text_hash in self._texts["content_hash"]]

    @cached_property
    def _questions(self) -> list[str]:
        return [str(question) for question in self._texts["question"]]

    @cached_property
    def _question_hashes(self) -> list[str]:
        return [content_hash(question) for question in self._questions]

    @cached_property
    def _same_text(self) -> dict[str, list[int]]:
        return _places(self.hashes)

    @cached_property
    def _same_question(self) -> dict[str, list[int]]:
        return _places(self._question_hashes)

    @cached_property
    def _same_options(self) -> dict[str, list[int]]:
        return _places(map(_hash_in_any_order, self._questions, self.choices))

    @cached_property
    def prompts(self) -> PromptIndex:
        """The items by questions that stand in a prompt."""
        return PromptIndex(self._questions, self.choices)

    @cached_property
    def prompt_ends(self) -> EndIndex:
        """The items by questions that end a prompt, cleaned."""
        return EndIndex(self._questions, self.choices)

    def with_text(
        self, question: str, choices: Sequence[str], *, any_order: bool = False
    ) -> list[int]:
        """Return the positions of all items with this text and these options, in order if any."""
        in_order = self._same_text.get(content_hash(question, choices), [])
        if in_order or not any_order:
            return in_order
        return self._same_options.get(_hash_in_any_order(question, choices), [])

    def with_question(self, question: str) -> list[int]:
        """Return the positions of all items with this question, whatever their options."""
        return self._same_question.get(content_hash(question), [])

    def find(self, item_ids: Iterable[str]) -> Positions:
        """Return the positions of ids, −1 for unknown ids."""
        wanted = item_ids if isinstance(item_ids, pd.Series) else list(item_ids)
        return np.asarray(self.ids.get_indexer(pd.Index(wanted, dtype=self.ids.dtype)))

    def join(
        self,
        item_ids: Sequence[str | None] | NDArray[np.object_],
        hashes: Sequence[str | None] | NDArray[np.object_] | None,
        *,
        question_only: bool = False,
    ) -> Joined:
        """Find the item of each row.

        The content hash of the text in each row takes precedence: an id is used only if its item
        has the same hash, which is of the question alone with `question_only`.
        """
        codes, distinct = pd.factorize(np.asarray(item_ids, dtype=object))
        positions = np.append(self.find(distinct), -1)[codes]  # code −1 (no id) reads the last
        by_hash = np.zeros(len(positions), dtype=bool)
        if hashes is None or all(seen is None for seen in hashes):
            return Joined(positions, by_hash)
        own = self._question_hashes if question_only else self.hashes
        same = self._same_question if question_only else self._same_text
        for row, seen in enumerate(hashes):
            if seen is not None and not (positions[row] >= 0 and own[positions[row]] == seen):
                places = same.get(seen, ())
                positions[row] = places[0] if len(places) == 1 else -1
                by_hash[row] = len(places) == 1
        return Joined(positions, by_hash)


def _hash_in_any_order(question: str, choices: Sequence[str]) -> str:
    return content_hash(question, sorted(unicodedata.normalize("NFC", text) for text in choices))


def _places(hashes: Iterable[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for position, text_hash in enumerate(hashes):
        places.setdefault(text_hash, []).append(position)
    return places


class ResponseIndex:
    """Items first, then calibration items, then the items of each copy in order of the copies.

    A position is one question with its options and gold: answers to an item and its copies, which
    have the same id, are never mixed.

    Attributes:
        items: index of the items and calibration items alone.
        n_items: number of items; positions from there on are calibration items and copies.
        perturbed: index of the items of each copy.
        ids: item ids.
        answer: index of the gold option, −1 if open-ended.
        options: number of options, whose texts are `choices`.
        right: sorted indices of all right options.
        single: True if exactly one option is right.
    """

    def __init__(
        self,
        items: pd.DataFrame,
        calibration_items: pd.DataFrame | None = None,
        perturbed_items: pd.DataFrame | None = None,
    ) -> None:
        """Index items, calibration items and the `item` rows of a `PerturbedItems` table."""
        tables = [items]
        if calibration_items is not None and len(calibration_items):
            others = calibration_items[~calibration_items["item_id"].isin(items["item_id"])]
            tables = [pd.concat([items, others], ignore_index=True)]
        names = []
        if perturbed_items is not None:
            altered = perturbed_items[perturbed_items["role"] == "item"]
            for condition, rows in altered.groupby("condition"):
                names.append(str(condition))
                tables.append(_items_of_copy(items, rows))
        self.n_items = len(items)
        self.items, *copies = map(ItemIndex, tables)
        self.perturbed = dict(zip(names, copies, strict=True))
        starts = np.cumsum([len(table) for table in tables]).tolist()
        self._start = dict(zip(names, starts, strict=False))
        indices = [self.items, *copies]
        self.ids = pd.Index(np.concatenate([each.ids.to_numpy() for each in indices]))
        self.choices = [choices for each in indices for choices in each.choices]
        self.options = np.array([len(choices) for choices in self.choices], dtype=np.int64)
        self.answer = np.concatenate([table["answer"].to_numpy(np.int64) for table in tables])
        known: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal ones are one object
        self.right: list[tuple[int, ...]] = []
        for table in tables:
            for right in table["correct_set"]:
                options = tuple(sorted(map(int, right)))
                self.right.append(known.setdefault(options, options))
        self.single = (self.answer >= 0) & np.array([len(right) <= 1 for right in self.right])

    def is_right(self, positions: Positions, prediction: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1.0 if the predicted option is right, 0.0 if not.

        NaN if the prediction is unknown (−1) or the item is open-ended.
        """
        known = (prediction >= 0) & (self.answer[positions] >= 0)
        right = np.where(known, (prediction == self.answer[positions]).astype(float), np.nan)
        for row in np.flatnonzero(known & ~self.single[positions]):
            right[row] = float(int(prediction[row]) in self.right[positions[row]])
        return right

    def names_of(self, positions: Sequence[int]) -> NDArray[np.object_]:
        """Return the ids (n,) of items."""
        return np.asarray(self.ids.to_numpy(dtype=object)[np.array(positions, dtype=np.intp)])

    def of(self, condition: str) -> ItemIndex | None:
        """Return the items with the texts of a condition; None for an unknown condition."""
        of_items = self.items if condition in _OF_ITEMS else None
        return self.perturbed.get(condition, of_items)

    def start(self, condition: str) -> int:
        """Return the first position of a condition's items."""
        return self._start.get(condition, 0)

    def join(
        self,
        item_ids: NDArray[np.object_],
        hashes: Sequence[str | None] | None,
        conditions: pd.Series,
        *,
        question_only: bool = False,
    ) -> Joined:
        """Find the item of each row among those of its condition; see `ItemIndex.join`."""
        positions = np.full(len(conditions), -1, dtype=np.intp)
        by_hash = np.zeros(len(conditions), dtype=bool)
        texts = None if hashes is None else np.array(hashes, dtype=object)
        names = sorted(conditions.unique())
        for condition in names:
            at = np.flatnonzero(conditions == condition) if len(names) > 1 else slice(None)
            index = self.of(condition)
            if index is not None:
                of_rows = None if texts is None else texts[at]
                joined = index.join(item_ids[at], of_rows, question_only=question_only)
                moved = joined.positions + self.start(condition)
                positions[at] = np.where(joined.positions < 0, -1, moved)
                by_hash[at] = joined.by_hash
        return Joined(positions, by_hash)

    def is_foreign(self, condition: str, texts: Iterable[tuple[str | None, str | None]]) -> bool:
        """Return whether texts, by id and hash, are of another copy with the name of this one."""
        copy = self.perturbed.get(condition)
        own = {} if copy is None else dict(zip(copy.ids, copy.hashes, strict=True))
        different = [own[key] != text for key, text in texts if key in own and text is not None]
        return sum(different) > _MAX_DIFFERENT * len(different)


def _items_of_copy(items: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return an `Items` table of a perturbed copy, `rows` being those of its items.

    An unaltered item keeps all its right options; an altered item has the one of the copy.
    """
    perturbed = rows.set_index("item_id")[list(_OWN)].to_dict("index")
    known = items[items["item_id"].isin(rows["item_id"])].to_dict("records")
    changed = [row | perturbed[str(row["item_id"])] for row in known]
    for row, old in zip(changed, known, strict=True):
        if row["content_hash"] != old["content_hash"]:
            row["correct_set"] = [int(row["answer"])]
    return pd.DataFrame(changed, columns=items.columns)
