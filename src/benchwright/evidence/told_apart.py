"""The sentence on every subset about pairs of models that it does not tell apart."""

import math


def not_told_apart(points: float) -> str:
    """Say below which gap, in points, pairs of models are not told apart; "" where unknown or 0."""
    if math.isnan(points) or points < 0.05:
        return ""
    return f"Pairs of models closer than {points:.1f} points are not told apart by these items."
