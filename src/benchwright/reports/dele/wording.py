"""Panels, metrics and figures in words."""

import math
from collections.abc import Sequence

PANELS = {
    "held_out": "held-out models",
    "forward": "stronger models, items chosen by weaker ones",
    "all": "models, in-sample",
    "selection": "models that chose, in-sample",
    "paper": "models of the paper's panel",
    "paper_partial": "models of the paper's panel, on the items that all of these answered",
}
"""Who judges, as part of a phrase after a number."""

METRICS = {
    "tau_b": "Kendall tau-b",
    "spearman": "Spearman",
    "pearson": "Pearson of scores",
    "wasserstein": "Wasserstein distance",
    "mean_absolute_error": "mean absolute error",
    "variance": "variance of the mean score",
    "bias": "bias",
}


def coefficient(value: float | None, digits: int = 3) -> str:
    """A figure with a true minus sign; — where it is missing."""
    if value is None or math.isnan(value):
        return "—"
    written = f"{value:.{digits}f}"
    if float(written) == 0:
        written = written.lstrip("-")
    return written.replace("-", "−")


def bounds(low: float, high: float, digits: int = 3) -> str:
    """`[.823, .881]` in full; "" where one is missing."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{coefficient(low, digits)}, {coefficient(high, digits)}]"


def count(n: int, thing: str) -> str:
    """`1 model`, `1,200 models`."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
