"""The demonstrations before each question."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Literal

from benchwright.core.natural_order import natural_key
from benchwright.core.seeding import item_uniforms
from benchwright.params.scoring import ScoringParams
from benchwright.scoring.rendering import LABELS, Question


def answerable(question: Question) -> bool:
    """Return whether a question has options to choose from, no more than there are letters."""
    return 2 <= len(question.choices) <= len(LABELS)


def open_ended(question: Question) -> bool:
    """Return whether a question has no options but a known final answer."""
    return not question.choices and bool(question.answer_text)


class DemonstrationPool:
    """The usable demonstrations in a fixed order.

    `per_subject` puts the item's subject first, by id with numbers as numbers; `all` draws from
    all. Others are ordered by a hash of seed and id.
    """

    def __init__(
        self,
        demonstrations: Iterable[Question],
        demonstrations_of: Literal["per_subject", "all"],
        seed: int,
    ) -> None:
        usable = [d for d in demonstrations if open_ended(d) or (answerable(d) and d.answer >= 0)]
        draws = item_uniforms(seed, "demonstrations", [d.item_id for d in usable])
        random_numbers = dict(zip((d.item_id for d in usable), draws, strict=True))
        self._seeded = sorted(usable, key=lambda d: (random_numbers[d.item_id], d.item_id))
        self._own: dict[str, list[Question]] = {}
        by_id = sorted(usable, key=lambda d: natural_key(d.item_id))
        for question in by_id if demonstrations_of == "per_subject" else ():
            self._own.setdefault(question.subject, []).append(question)

    def __len__(self) -> int:
        return len(self._seeded)

    def choose(self, item: Question, count: int) -> Sequence[Question]:
        """Return the first `count` demonstrations for `item`, without the item and its copies."""
        others = (d for d in self._seeded if not (self._own and d.subject == item.subject))
        foreign = (
            d
            for d in chain(self._own.get(item.subject, ()), others)
            if d.item_id != item.item_id and d.content_hash != item.content_hash
        )
        return list(islice(foreign, count))


def demonstration_pools(
    demonstrations: Sequence[Question], scoring: ScoringParams, seed: int
) -> Callable[[Question], DemonstrationPool]:
    """Return a function from a question to its demonstrations, of the same kind as the question."""
    order = scoring.demonstrations, seed
    by_kind = {
        kind: DemonstrationPool([d for d in demonstrations if open_ended(d) == kind], *order)
        for kind in (False, True)
    }
    return lambda question: by_kind[open_ended(question)]
