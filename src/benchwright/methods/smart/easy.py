"""Items easy for all filter models, of which a tenth is retained, or solved without the question.

SMART, sections 3.2 and 3.3.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from benchwright.core.array_types import Bools
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import item_uniforms
from benchwright.methods.smart.filter_models import flag_unanimous
from benchwright.methods.smart.finding import Finding
from benchwright.params.filtering import EasyParams, FilteringParams
from benchwright.statistics.random_subsets import largest_remainder

_UNSURE = "no probabilities"
RETENTION_STAGE = "easy_retention"
"""The stage of the hash that chooses the easy items to retain."""


def flag_easy_items(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    filtering: FilteringParams,
    seed: int,
    few_models: str = "",
) -> Finding:
    """Flag items that all filter models answer correctly with more than 0.8 probability.

    One in ten of them is retained, spread over the subjects and chosen by a seeded hash of the
    item id (SMART, section 3.2); with a reason in `few_models`, all. An item without responses of
    all filter models is not judged. The rule `easy_unanimous` judges responses without
    probabilities; it runs only on request.
    """
    params = filtering.easy
    rule = "easy" if params.confidence is not None else "easy_unanimous"
    finding = flag_unanimous(
        rule,
        items,
        response_matrix,
        filter_models=chosen_filter_models,
        params=params,
        doing="right",
    )
    if finding.status != "ran":
        if finding.reason.startswith(_UNSURE):
            hint = "filtering.easy.confidence=null judges by right answers alone"
            finding = replace(finding, reason=f"{finding.reason}; {hint}")
        return finding
    stays = retained_easy(items, finding.flagged, params, seed)
    detail = list(finding.detail)
    for row in np.flatnonzero(stays):
        detail[row] += "; retained"
    finding = replace(finding, removed=finding.flagged & ~stays, detail=tuple(detail))
    return finding.reported(few_models)


def retained_easy(items: pd.DataFrame, easy: Bools, params: EasyParams, seed: int) -> Bools:
    """Choose the (n,) `easy` items to retain.

    `quota`: round(retain × easy items) in all, distributed over the subjects by largest remainder;
    within a subject the items with the lowest hash of seed and id.
    """
    uniforms = np.ones(len(items))  # only flagged items have a draw
    uniforms[easy] = item_uniforms(seed, RETENTION_STAGE, items["item_id"][easy].tolist())
    if params.retention == "bernoulli":
        return easy & (uniforms < params.retain)
    draw = pd.Series(uniforms[easy], index=np.flatnonzero(easy))
    members = {str(name): own for name, own in draw.groupby(items["subject"][easy].to_numpy())}
    total = round(params.retain * len(draw))
    quotas = largest_remainder({name: len(own) for name, own in members.items()}, total)
    stays = np.zeros(len(items), dtype=bool)
    for name, own in members.items():
        stays[own.sort_values(kind="stable").index[: quotas[name]]] = True
    return stays


def flag_answer_only_items(
    items: pd.DataFrame,
    choices_only_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    filtering: FilteringParams,
    few_models: str = "",
) -> Finding:
    """Flag items that all filter models solve from the options alone (SMART, section 3.3).

    Each must be above 0.8 probability; the rule runs only if all have such responses. The paper
    calls these items contaminated; one solved without its question was not necessarily memorised.
    With a reason in `few_models` none is removed.
    """
    finding = flag_unanimous(
        "answer_only",
        items,
        choices_only_matrix,
        filter_models=chosen_filter_models,
        params=filtering.answer_only,
        doing="right from the options alone",
        what="choices-only responses",
    )
    return finding.reported(few_models)
