"""Texts with small damages, which lead a reader into its rarer branches."""

import random
from collections.abc import Iterable

SIGNS = "\\=~{}[]()<>*_#|:;.,!?'\"-–/+^$%& \t\n\n\n0123ABCDabcdiIvxnot"


def frayed(texts: Iterable[str], seed: int) -> list[str]:
    """Every thirtieth character is lost, or followed by a drawn one; the same for a seed."""
    drawn = random.Random(seed)  # noqa: S311
    damaged = []
    for text in texts:
        parts = []
        for character in text:
            chance = drawn.random()
            parts.append("" if chance < 1 / 60 else character)
            if chance > 59 / 60:
                parts.append(SIGNS[int(drawn.random() * len(SIGNS))])
        damaged.append("".join(parts))
    return damaged
