"""The shared style of plots: readable on light and dark pages."""

from collections.abc import Sequence

MOST_RANKED = 60  # models in a chart of ranks, evenly along the ranking
KEPT = "#3b82c4"
REMOVED = "#d9622b"
QUIET = "#8a8f98"
INK = "#7d828a"  # mid-grey: readable on white and on black
GRID = "rgba(128,128,128,0.22)"


PALETTE = (
    "#3b82c4",
    "#d9622b",
    "#2f9e77",
    "#b0568f",
    "#c29a1f",
    "#6f6bd1",
    "#4fa9b8",
    "#a3684a",
    "#7ba13a",
    "#d17ba3",
    "#6b7d8f",
    "#8f5bb3",
)
"""Colours of things side by side, readable on white and on black."""


def faint(colour: str) -> str:
    """Return a colour such as #3b82c4, mostly transparent."""
    red, green, blue = bytes.fromhex(colour[1:])
    return f"rgba({red},{green},{blue},0.3)"


def distinct_names(names: Sequence[str], most: int = 40) -> list[str]:
    """Return model names without organisation where they stay distinct, clipped."""
    tails = [name.rsplit("/", 1)[-1] for name in names]
    distinct = [
        tail if tails.count(tail) == 1 else name for tail, name in zip(tails, names, strict=True)
    ]
    return [clip(name, most) for name in distinct]


def clip(text: str, most: int) -> str:
    """Shorten text to `most` characters in its middle, because names differ at both ends."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
