"""Items that are easy for every filter model, and the tenth of them that stays (SMART, 3.2)."""

from dataclasses import replace

import numpy as np
import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import item_uniforms
from benchwright.methods.smart.filter_models import filter_answers, flag_unanimous
from benchwright.methods.smart.finding import Bools, Finding
from benchwright.params.filtering import EasyParams, FilteringParams
from benchwright.statistics.largest_remainder import largest_remainder

RETENTION_STAGE = "easy_retention"
"""The stage whose hash decides which easy items stay."""


def flag_easy_items(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    filter_models: list[str],
    filtering: FilteringParams,
    seed: int,
) -> Finding:
    """Flags items that every filter model answers rightly with more than 0.8 probability.

    One in ten of them is retained, spread over the subjects and chosen by a seeded hash of the
    item id (SMART, section 3.2). An item that some filter model did not answer is not judged.
    Answers without probabilities are judged by `easy_unanimous`, if asked for, never as `easy`.

    Raises:
        InputError: a filter model is not among the answers.
    """
    items = sort_items(items)
    params = filtering.easy
    rule = "easy" if params.confidence is not None else "easy_unanimous"
    if not params.enabled:
        return Finding.idle(rule, len(items), "off")
    matrix, reason = filter_answers(response_matrix, filter_models, items["item_id"].tolist())
    if matrix is None:
        return Finding.idle(rule, len(items), "not_run", reason)
    found = flag_unanimous(
        rule, matrix, matrix.correct >= 1, matrix.p_answer, params.confidence, "right"
    )
    if found.status == "not_run":
        return replace(found, reason=f"{found.reason}; easy.confidence: null asks for none")
    stays = retained_easy(items, found.flagged, params, seed)
    detail = tuple(
        f"{text}; retained" if stay else text
        for text, stay in zip(found.detail, stays, strict=True)
    )
    return replace(found, removed=found.flagged & ~stays, detail=detail)


def retained_easy(items: pd.DataFrame, easy: Bools, params: EasyParams, seed: int) -> Bools:
    """Which of the (n,) `easy` items stay.

    `quota`: round(retain × easy items) in all, shared among the subjects by largest remainder;
    within a subject those with the lowest hash of seed and id.
    """
    uniforms = np.ones(len(items))  # only flagged items draw lots
    uniforms[easy] = item_uniforms(seed, RETENTION_STAGE, items["item_id"][easy].tolist())
    if params.retention == "bernoulli":
        return easy & (uniforms < params.retain)
    subjects = items["subject"].to_numpy(dtype=object)
    rows_of = {
        str(subject): np.flatnonzero(easy & (subjects == subject))
        for subject in sorted(set(subjects[easy]))
    }
    total = round(params.retain * int(easy.sum()))
    quotas = largest_remainder({name: len(rows) for name, rows in rows_of.items()}, total)
    stays = np.zeros(len(items), dtype=bool)
    for name, rows in rows_of.items():
        stays[rows[np.argsort(uniforms[rows], kind="stable")[: quotas[name]]]] = True
    return stays
