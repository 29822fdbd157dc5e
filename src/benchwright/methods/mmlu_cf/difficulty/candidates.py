"""Which questions judges and models are asked about, where all would cost too much."""

import numpy as np
import pandas as pd

from benchwright.core.seeding import item_uniforms


def difficulty_candidates(items: pd.DataFrame, at_most: int | None, seed: int) -> pd.DataFrame:
    """Draw `at_most` of the items, by hashes of their ids, in their own order; None keeps all.

    A larger number keeps what a smaller one drew, so that replies are asked once.

    Args:
        items: with a column item_id.
        at_most: how many.
        seed: of the draw.
    """
    if at_most is None or at_most >= len(items):
        return items
    drawn = item_uniforms(seed, "difficulty/candidates", items["item_id"].astype(str).tolist())
    chosen = np.sort(np.argsort(drawn, kind="stable")[:at_most])
    return items.iloc[chosen]
