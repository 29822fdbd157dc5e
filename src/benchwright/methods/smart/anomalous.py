"""Items of anomalous subjects (SMART, section 3.1)."""

import logging

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.smart.filter_models import listed
from benchwright.methods.smart.finding import Finding

log = logging.getLogger(__name__)


def flag_anomalous_items(
    items: pd.DataFrame,
    anomalous_subjects: list[str],
    limit: int | None,
) -> Finding:
    """Flag the items of the subjects that the benchmark's file lists as anomalous.

    Names are compared exactly (SMART, section 3.1: MMLU's moral_scenarios).

    Raises:
        InputError: no item has a listed subject. With `limit`, which can leave out a subject, this
            is a warning.
    """
    subjects = items["subject"]
    n = len(subjects)
    known = sorted(subjects.unique())
    for name in anomalous_subjects:
        if name in known:
            continue
        message = f"anomalous_subjects: no item has subject {name!r}; subjects: {listed(known)}"
        if limit is None:
            raise InputError(message)
        log.warning("%s (limit is %s)", message, limit)
    flagged = subjects.isin(anomalous_subjects).to_numpy(dtype=bool)
    detail = ("subject " + subjects + " is anomalous").where(flagged, "")
    return Finding(
        "anomalous",
        "ran",
        reason="",
        judged=np.ones(n, dtype=bool),
        flagged=flagged,
        removed=flagged,
        value=np.full(n, np.nan),
        detail=tuple(detail),
    )
