"""Which items are not independent of each other: those that share a passage or a stem."""

from collections import defaultdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.natural_order import natural_key


def item_clusters(items: pd.DataFrame) -> NDArray[np.intp]:
    """One label per item; items of one cluster are resampled together.

    Items with the same `passage_id` are one cluster; items without a passage are, if their
    questions are equal but for case and white space (Miller 2024, arXiv:2411.00640, on clustered
    standard errors). An empty question is a cluster of its own.

    Args:
        items: columns item_id, question and passage_id of `Items`, n rows in any order.

    Returns:
        (n,) labels 0, 1, … in the order of the rows. Clusters are numbered by the natural order
        of their first item id, so that an item's label does not depend on the order of rows.
    """
    rows = zip(items["item_id"], items["passage_id"], items["question"], strict=True)
    keys: list[tuple[str, str]] = []
    members: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item_id, passage, question in rows:
        key = _key(str(item_id), passage, str(question))
        keys.append(key)
        members[key].append(str(item_id))
    first = {key: min(map(natural_key, own)) for key, own in members.items()}
    label = {key: number for number, key in enumerate(sorted(first, key=first.__getitem__))}
    return np.array([label[key] for key in keys], dtype=np.intp)


def _key(item_id: str, passage: object, question: str) -> tuple[str, str]:
    if isinstance(passage, str) and passage.strip():
        return "passage", passage
    stem = " ".join(question.casefold().split())
    return ("stem", stem) if stem else ("item", item_id)
