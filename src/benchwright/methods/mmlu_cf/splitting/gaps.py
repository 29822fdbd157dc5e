"""Δ of each model, and which halves were compared (MMLU-CF, section 4.5)."""

import logging
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from benchwright.datasets.half_scores import HalfFigures, SealedIdentity
from benchwright.methods.mmlu_cf.splitting.gap import half_gaps
from benchwright.methods.mmlu_cf.splitting.paired_halves import model_groups, pair_halves
from benchwright.params.half_gap import HalfGapParams
from benchwright.params.scoring import ModelsParams

logger = logging.getLogger(__name__)


class ComparedHalves(NamedTuple):
    """Of which benchmark the halves are, and what a reader has to know of the figures."""

    benchmark: SealedIdentity
    notes: tuple[str, ...]


def compare_halves(
    half_scores: Mapping[str, HalfFigures], half_gap: HalfGapParams, models: ModelsParams
) -> tuple[pd.DataFrame, ComparedHalves]:
    """Pair the figures of both halves and say where the public one looks leaked.

    Returns:
        A `HalfGap` table, and which benchmark it is about with what could not be compared.

    Raises:
        InputError: no model has both halves, or figures are of several benchmarks.
    """
    paired = pair_halves(half_scores, half_gap.sealed)
    groups = model_groups(sorted({one.model for one in paired.scores}), models)
    gaps = half_gaps(paired.scores, groups, half_gap.level, half_gap.alpha)
    notes = list(paired.untold)
    unknown = [name for name, group in groups.items() if group == "unknown"]
    if unknown:
        notes.append(f"size not known (conf: models.models.<name>.size_b): {', '.join(unknown)}")
    if len(paired.versions) > 1:
        notes.append(
            f"figures are by versions {', '.join(paired.versions)}: a difference may be theirs"
        )
    for note in notes:
        logger.warning("half_gap: %s", note)
    return gaps, ComparedHalves(paired.benchmark, tuple(notes))
