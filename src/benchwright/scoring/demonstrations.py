"""The demonstrations before each question."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
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


def _is_usable(demonstration: Question) -> bool:
    known = answerable(demonstration) and demonstration.answer >= 0
    return known or open_ended(demonstration)


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
        usable = list(filter(_is_usable, demonstrations))
        ids = [d.item_id for d in usable]
        draws = dict(zip(ids, item_uniforms(seed, "demonstrations", ids), strict=True))
        self._seeded = sorted(usable, key=lambda d: (draws[d.item_id], d.item_id))
        self._own: dict[str, list[Question]] = {}
        if demonstrations_of == "per_subject":
            for question in sorted(usable, key=lambda d: natural_key(d.item_id)):
                self._own.setdefault(question.subject, []).append(question)

    def __len__(self) -> int:
        return len(self._seeded)

    def choose(self, item: Question, count: int) -> Sequence[Question]:
        """Return the first `count` demonstrations for `item`, without the item and its copies."""
        own = self._own.get(item.subject, ())
        others = (d for d in self._seeded if not self._own or d.subject != item.subject)
        chosen: list[Question] = []
        for each in chain(own, others):
            if len(chosen) == count:
                break
            if each.item_id != item.item_id and each.content_hash != item.content_hash:
                chosen.append(each)
        return chosen


def demonstration_pools(
    demonstrations: Sequence[Question], scoring: ScoringParams, seed: int
) -> Callable[[Question], DemonstrationPool]:
    """Return a function from a question to its demonstrations, of the same kind as the question."""
    with_options = [d for d in demonstrations if not open_ended(d)]
    without_options = filter(open_ended, demonstrations)
    pool = DemonstrationPool(with_options, scoring.demonstrations, seed)
    open_pool = DemonstrationPool(without_options, scoring.demonstrations, seed)
    return lambda question: open_pool if open_ended(question) else pool
