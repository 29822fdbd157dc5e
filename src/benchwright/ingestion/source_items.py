"""Map source rows to items, and divide items into evaluation, demonstration and calibration."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from benchwright.core.content_hash import content_hash
from benchwright.core.natural_order import in_order
from benchwright.core.printable import format_value
from benchwright.core.seeding import item_uniforms
from benchwright.ingestion.source_fields import (
    Row,
    Rule,
    Unusable,
    hashed_order,
    read_body,
    read_optional,
    read_required,
)
from benchwright.params.benchmark import SPLIT_COLUMN, BenchmarkParams, FieldMapping, SplitPurposes

_CALIBRATION_ITEMS = 200  # where the split also provides demonstrations


class Item(NamedTuple):
    """One row of `Items`, in the order of its columns."""

    item_id: str
    split: str
    subject: str
    question: str
    choices: list[str]
    answer: int
    answer_text: str
    correct_set: list[int]
    passage_id: str | None
    explanation: str | None
    domain: str | None
    url: str | None
    source_id: str | None
    content_hash: str


class ItemMapper:
    """Maps the rows of one source in order, numbering them within split and subject."""

    def __init__(self, benchmark: BenchmarkParams, mapping: FieldMapping, seed: int) -> None:
        self._benchmark = benchmark
        self._mapping = mapping
        self._used = benchmark.splits.used()
        self._seed = seed
        self._seen: defaultdict[tuple[str, str | None], int] = defaultdict(int)

    def item(self, row: Row) -> Item:
        """Return the row as an item.

        Raises:
            Unusable: the row breaks a rule; the first one is named.
        """
        mapping = self._mapping
        split = self._split(row)
        subject = None
        if mapping.subject is not None:
            subject = read_required(row, mapping.subject, "subject", Rule.MISSING_SUBJECT)
        # Rejected rows are numbered too, so that ids do not depend on rejections.
        number = self._seen[split, subject]
        self._seen[split, subject] += 1
        item_id = (
            self._built_id(split, subject, number)
            if mapping.item_id is None
            else read_required(row, mapping.item_id, "item_id", Rule.MISSING_ID)
        )
        body = read_body(row, mapping, self._benchmark.n_choices)
        if mapping.choices is not None and mapping.choices.order == "hashed":
            body = hashed_order(body, item_id, self._seed)
        return Item(
            item_id=item_id,
            split=split,
            subject=self._benchmark.name if subject is None else subject,
            question=body.question,
            choices=body.choices,
            answer=body.right[0] if body.right else -1,
            answer_text=body.answer_text,
            correct_set=sorted(body.right),
            passage_id=body.passage_id,
            explanation=read_optional(row, mapping.explanation),
            domain=read_optional(row, mapping.domain),
            url=read_optional(row, mapping.url),
            source_id=read_optional(row, mapping.source_id),
            content_hash=content_hash(body.question, body.choices),
        )

    def _split(self, row: Row) -> str:
        split = row.get(SPLIT_COLUMN)
        if not isinstance(split, str) or split not in self._used:
            accepted = ", ".join(sorted(self._used))
            raise Unusable(
                Rule.UNKNOWN_SPLIT, f"split is {format_value(split)}; expected one of {accepted}"
            )
        return split

    def _built_id(self, split: str, subject: str | None, number: int) -> str:
        main = split == self._benchmark.splits.evaluation[0]
        name = self._benchmark.name if main else f"{self._benchmark.name}_{split}"
        return "/".join(part for part in (name, subject, str(number)) if part is not None)


class Purposes(NamedTuple):
    """Item ids by purpose, each in one list."""

    evaluation: list[str]
    demonstrations: list[str]
    calibration: list[str]


def smallest_draws(item_ids: Sequence[str], count: int, seed: int, stage: str) -> set[str]:
    """Choose `count` ids by a hash of seed and id, independent of their order."""
    draws = item_uniforms(seed, stage, item_ids)
    ranked = sorted(zip(draws, item_ids, strict=True))
    return {item_id for _, item_id in ranked[:count]}


def divide(split_of: dict[str, str], splits: SplitPurposes, seed: int) -> Purposes:
    """Assign each item (id → split) to one purpose.

    If a split serves both demonstrations and calibration, 200 of its items, but at
    most half, go to calibration.
    """
    shared = set(splits.demonstrations) & set(splits.calibration)
    pool = [item_id for item_id, split in split_of.items() if split in shared]
    size = min(_CALIBRATION_ITEMS, len(pool) // 2)
    calibrating = smallest_draws(pool, size, seed, stage="calibration_items")
    purposes = Purposes([], [], [])
    for item_id in in_order(split_of):
        split = split_of[item_id]
        if split in splits.evaluation:
            purposes.evaluation.append(item_id)
        elif item_id in calibrating or split not in splits.demonstrations:
            purposes.calibration.append(item_id)
        else:
            purposes.demonstrations.append(item_id)
    return purposes


def limited(purposes: Purposes, limit: int | None, seed: int) -> Purposes:
    """Keep at most `limit` evaluation and calibration items each, the same in every run."""
    if limit is None:
        return purposes

    def kept(item_ids: list[str]) -> list[str]:
        chosen = smallest_draws(item_ids, limit, seed, stage="limit")
        return [item_id for item_id in item_ids if item_id in chosen]

    return purposes._replace(
        evaluation=kept(purposes.evaluation), calibration=kept(purposes.calibration)
    )
