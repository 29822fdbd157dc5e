"""The scale of a file's scores: one for all, never judged value by value."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.datasets.response_files import LoadedFile

_ROUNDING = 1e-6
_USUAL = ((0, 5), (0, 10), (0, 100), (0, 1000))


def to_share(
    file: LoadedFile,
    scores: NDArray[np.floating],
    name: Callable[[NDArray[np.bool_]], list[str]],
) -> NDArray[np.float64]:
    """Return the scores (n,) of a file as shares in [0, 1] of its scale, NaN where missing.

    Args:
        file: its `spec.scale` is the scale; 0 to 1 by default.
        scores: as the file states them.
        name: names the marked rows, for the message.

    Raises:
        InputError: a score is infinite or outside the scale.
    """
    low, high = file.spec.scale
    shares = (np.asarray(scores, dtype=np.float64) - low) / (high - low)
    with np.errstate(invalid="ignore"):
        outside = (shares < -_ROUNDING) | (shares > 1 + _ROUNDING)
    if outside.any():
        worst = scores[outside]
        finite = worst[np.isfinite(worst)]
        usual = (f"{a}:{b}" for a, b in _USUAL if len(finite) and finite.min() >= a)
        fits = [s for s in usual if finite.max() <= float(s.split(":")[1])]
        hint = f"; if they are from another scale, say so, e.g. --scale {fits[0]}" if fits else ""
        raise InputError(
            f"{file.name}: {int(outside.sum()):,} of {int((~np.isnan(scores)).sum()):,} scores are "
            f"outside {low:g}–{high:g}, e.g. {worst[0]:g} ({name(outside)[0]}){hint}"
        )
    return np.clip(shares, 0, 1)
