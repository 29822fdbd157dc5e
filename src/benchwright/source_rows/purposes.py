"""Which rows are evaluated, which are shown as examples, and which calibrate."""

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.core.natural_order import natural_key
from benchwright.core.seeding import item_uniforms
from benchwright.params.benchmark import SplitPurposes


class Purposes(NamedTuple):
    """Item ids by what they serve; every id is in exactly one."""

    evaluation: list[str]
    demonstrations: list[str]
    calibration: list[str]


def smallest_draws(item_ids: Sequence[str], count: int, seed: int, stage: str) -> set[str]:
    """`count` ids chosen by a hash of seed and id: no order of the input changes them."""
    draws = item_uniforms(seed, stage, item_ids)
    ranked = sorted(zip(draws, item_ids, strict=True))
    return {item_id for _, item_id in ranked[:count]}


def divide(
    split_of: dict[str, str], splits: SplitPurposes, calibration_size: int, seed: int
) -> Purposes:
    """Give each item (id → split) to one purpose.

    A split that serves demonstrations and calibration gives `calibration_size` of its items, but
    at most half, to calibration; a split with one purpose gives all of them.
    """
    shared = set(splits.demonstrations) & set(splits.calibration)
    pool = [item_id for item_id, split in split_of.items() if split in shared]
    drawn = smallest_draws(pool, min(calibration_size, len(pool) // 2), seed, "calibration_items")
    purposes = Purposes([], [], [])
    for item_id in sorted(split_of, key=natural_key):
        split = split_of[item_id]
        if split in splits.evaluation:
            purposes.evaluation.append(item_id)
        elif item_id in drawn or split not in splits.demonstrations:
            purposes.calibration.append(item_id)
        else:
            purposes.demonstrations.append(item_id)
    return purposes


def limited(purposes: Purposes, limit: int | None, seed: int) -> Purposes:
    """At most `limit` evaluation and `limit` calibration items, the same ones at each run."""
    if limit is None:
        return purposes
    kept = smallest_draws(purposes.evaluation, limit, seed, "limit")
    calibrating = smallest_draws(purposes.calibration, limit, seed, "limit")
    return purposes._replace(
        evaluation=[item_id for item_id in purposes.evaluation if item_id in kept],
        calibration=[item_id for item_id in purposes.calibration if item_id in calibrating],
    )
