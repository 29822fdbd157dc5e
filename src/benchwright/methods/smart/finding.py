"""What one rule says of every item."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

Status = Literal["ran", "not_run", "off"]


@dataclass(frozen=True)
class Finding:
    """One rule's word on n items, in natural order of item id.

    Attributes:
        rule: name of the rule, as in `Verdicts`.
        status: `ran`, `not_run` (an input is missing; nothing is judged) or `off`.
        reason: why it did not run, or what to know of how it ran, in words, or "".
        judged: (n,) the rule could say something of the item.
        flagged: (n,) the rule applies; only where judged.
        removed: (n,) the item goes because of the rule; only where flagged.
        value: (n,) the number that the rule looked at, NaN where there is none.
        detail: n texts, "" where there is nothing to say.
    """

    rule: str
    status: Status
    reason: str
    judged: Bools
    flagged: Bools
    removed: Bools
    value: Floats
    detail: tuple[str, ...]

    @classmethod
    def idle(cls, rule: str, n: int, status: Literal["not_run", "off"], reason: str = "") -> Self:
        """The finding of a rule that judged none of n items."""
        none = np.zeros(n, dtype=bool)
        nothing = np.full(n, np.nan)
        return cls(rule, status, reason, none, none, none, nothing, ("",) * n)

    def states(self) -> NDArray[np.str_]:
        """(n,) `flagged`, `clear` or `not_judged`."""
        return np.where(self.judged, np.where(self.flagged, "flagged", "clear"), "not_judged")
