"""The result of a rule: verdicts on all items, or groups of items."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.array_types import Bools, Floats
from benchwright.tables.smart import RULES

Status = Literal["ran", "not_run", "off"]


@dataclass(frozen=True)
class Finding:
    """The verdicts of a rule on n items, in natural order of item id."""

    rule: str  # name of the rule, as in `Verdicts`
    status: Status  # `ran`, `not_run` (an input is missing; nothing is judged) or `off`
    reason: str  # why it did not run, or a note on the run, or ""
    judged: Bools  # (n,) the rule could judge the item
    flagged: Bools  # (n,) the rule applies; only where judged
    removed: Bools  # (n,) the rule removes the item; only where flagged
    value: Floats  # (n,) the number that the rule compares, NaN where there is none
    detail: tuple[str, ...]  # n explanations, "" for none

    @classmethod
    def idle(cls, rule: str, n: int, status: Literal["not_run", "off"], reason: str = "") -> Self:
        """Return the finding of a rule that judged none of n items."""
        none = np.zeros(n, dtype=bool)
        return cls(
            rule,
            status,
            reason,
            judged=none,
            flagged=none,
            removed=none,
            value=np.full(n, np.nan),
            detail=("",) * n,
        )

    def reported(self, reason: str) -> Self:
        """Return the finding without removals, with the reason; unchanged where that is ""."""
        if not reason or not self.removed.any():
            return self
        return replace(self, removed=np.zeros_like(self.removed), reason=reason)

    def states(self) -> NDArray[np.str_]:
        """Return (n,) `flagged`, `clear` or `not_judged`."""
        return np.where(self.judged, np.where(self.flagged, "flagged", "clear"), "not_judged")


Kind = Literal["duplicate", "option_superset", "conflicting_gold", "similar"]


@dataclass(frozen=True)
class Grouping:
    """The groups of a rule; they are disjoint."""

    rule: Kind  # name of the rule and kind of its groups
    status: Status  # `ran`, `not_run` (an input is missing) or `off`
    reason: str = ""  # why it did not run, or a note on the run, or ""
    groups: tuple[tuple[str, ...], ...] = ()  # members of each group, at least two
    # the number that the rule compares, by item id.
    value: Mapping[str, float] = field(default_factory=dict)
    # why an item is in no group although it is close to another one, by item id.
    exempt: Mapping[str, str] = field(default_factory=dict)
    not_judged: frozenset[str] = frozenset()  # items that the rule could not judge
    removes: bool = True  # False where groups are only reported


class CopyGroups(NamedTuple):
    """The groups of items that ask the same question."""

    conflicting_gold: Grouping
    duplicate: Grouping
    option_superset: Grouping


def in_rule_order(rules: Iterable[object]) -> list[str]:
    """Return each rule once, in the order of `RULES`; others last, by name."""
    place = {name: number for number, name in enumerate(RULES)}
    return sorted(
        {str(rule) for rule in rules}, key=lambda rule: (place.get(rule, len(place)), rule)
    )
