"""One source row to one item: its id, its split and subject, and its hash."""

from collections import defaultdict
from typing import NamedTuple

from benchwright.core.content_hash import content_hash
from benchwright.params.benchmark import SPLIT_COLUMN, BenchmarkParams, FieldMapping
from benchwright.source_rows.fields import (
    hashed_order,
    read_body,
    read_id,
    read_optional,
    read_subject,
)
from benchwright.source_rows.unusable import Row, Rule, Unusable, shown


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
    """Maps the rows of one source in their order, counting them within split and subject."""

    def __init__(self, benchmark: BenchmarkParams, mapping: FieldMapping, seed: int) -> None:
        """Start counting rows.

        Args:
            benchmark: the whole benchmark file.
            mapping: that of the source which was read.
            seed: orders the options where the mapping says `order: hashed`.
        """
        self._benchmark = benchmark
        self._mapping = mapping
        self._used = benchmark.splits.used()
        self._seed = seed
        self._seen: defaultdict[tuple[str, str | None], int] = defaultdict(int)

    def item(self, row: Row) -> Item:
        """The row as an item.

        Raises:
            Unusable: the row breaks a rule; the first one is named.
        """
        mapping = self._mapping
        split = self._split(row)
        subject = None if mapping.subject is None else read_subject(row, mapping.subject)
        # A row that is rejected below has been counted: ids never depend on what was rejected.
        number = self._seen[split, subject]
        self._seen[split, subject] += 1
        item_id = (
            self._built_id(split, subject, number)
            if mapping.item_id is None
            else read_id(row, mapping.item_id)
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
            raise Unusable(Rule.UNKNOWN_SPLIT, f"split is {shown(split)}; accepted: {accepted}")
        return split

    def _built_id(self, split: str, subject: str | None, number: int) -> str:
        main = split == self._benchmark.splits.evaluation[0]
        name = self._benchmark.name if main else f"{self._benchmark.name}_{split}"
        return "/".join(part for part in (name, subject, str(number)) if part is not None)
