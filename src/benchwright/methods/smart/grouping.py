"""Groups of redundant items, before it is decided which members stay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from benchwright.methods.smart.finding import Status

Kind = Literal["duplicate", "conflicting_gold", "similar"]


@dataclass(frozen=True)
class Grouping:
    """Groups that one rule found; no item is in two of them.

    Attributes:
        rule: name of the rule and kind of its groups.
        status: `ran`, `not_run` (an input is missing) or `off`.
        reason: why it did not run, or what to know of how it ran, in words, or "".
        groups: members of each group, at least two.
        value: the number that the rule looked at, by item id.
        not_judged: items about which nothing can be said.
    """

    rule: Kind
    status: Status
    reason: str
    groups: tuple[tuple[str, ...], ...] = ()
    value: Mapping[str, float] = field(default_factory=dict)
    not_judged: frozenset[str] = frozenset()

    @classmethod
    def idle(cls, rule: Kind, status: Literal["not_run", "off"], reason: str = "") -> Self:
        """The grouping of a rule that did not run."""
        return cls(rule, status, reason)
