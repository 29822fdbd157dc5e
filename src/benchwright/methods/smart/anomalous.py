"""Subjects unlike the rest of the benchmark (SMART, section 3.1)."""

import logging

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.natural_order import sort_items
from benchwright.methods.smart.filter_models import listed
from benchwright.methods.smart.finding import Finding
from benchwright.params.filtering import FilteringParams

log = logging.getLogger(__name__)


def flag_anomalous_items(
    items: pd.DataFrame,
    anomalous_subjects: list[str],
    filtering: FilteringParams,
    limit: int | None,
) -> Finding:
    """Flags the items of subjects that the benchmark's file names as unlike the rest.

    Names are compared exactly (SMART, section 3.1: MMLU's moral_scenarios).

    Raises:
        InputError: no item has a named subject. With `limit` its items may all be left out, so
            that is a warning then.
    """
    items = sort_items(items)
    if not filtering.anomalous.enabled:
        return Finding.idle("anomalous", len(items), "off")
    subjects = items["subject"]
    known = sorted(subjects.unique())
    for name in anomalous_subjects:
        if name in known:
            continue
        message = f"anomalous_subjects: no item has subject {name!r}; subjects: {listed(known)}"
        if limit is None:
            raise InputError(message)
        log.warning("%s (limit is %s)", message, limit)
    flagged = subjects.isin(list(anomalous_subjects)).to_numpy(dtype=bool)
    return Finding(
        rule="anomalous",
        status="ran",
        reason="",
        judged=np.ones(len(items), dtype=bool),
        flagged=flagged,
        removed=flagged,
        value=np.full(len(items), np.nan),
        detail=tuple(
            f"subject {subject} is anomalous" if hit else ""
            for subject, hit in zip(subjects, flagged, strict=True)
        ),
    )
