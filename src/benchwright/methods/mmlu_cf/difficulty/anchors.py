"""Judges beside items whose difficulty is known from the answers of many models."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.seeding import stage_generator
from benchwright.methods.mmlu_cf.difficulty.rating import last_ratings
from benchwright.statistics.bootstrap import percentile_interval
from benchwright.statistics.correlation_rows import FEWEST_MODELS, spearman_rows
from benchwright.tables.mmlu_cf import DifficultyAnchors, DifficultyScale

_LEVELS = 10
_BLOCK = 2_000_000  # ratings in one block of resamples


def judges_beside_anchors(
    ratings: pd.DataFrame, share_wrong: "pd.Series[float]", seed: int, draws: int = 1000
) -> pd.DataFrame:
    """A `DifficultyAnchors` table: rank correlation of ratings with wrong answers, per judge.

    The interval is the percentile one over resampled items.

    Args:
        ratings: a `DifficultyRatings` table.
        share_wrong: of the models asked, 0–1, by item id.
        seed: of the resamples.
        draws: resamples.
    """
    rows: list[tuple[Any, ...]] = []
    for judge, part in _paired(ratings, share_wrong).groupby("judge", sort=True):
        rating, wrong = part["rating"].to_numpy(np.float64), part["wrong"].to_numpy(np.float64)
        value = float(spearman_rows(rating, wrong)[0])
        if np.isnan(value):
            few = len(part) < FEWEST_MODELS
            reason = f"{len(part)} items have both; 3 are needed" if few else "no spread"
            rows.append((judge, len(part), np.nan, np.nan, np.nan, reason))
            continue
        generator = stage_generator(seed, "judges_beside_anchors")
        step = max(1, _BLOCK // len(part))
        drawn = []
        for start in range(0, draws, step):
            places = generator.integers(0, len(part), (min(step, draws - start), len(part)))
            drawn.append(spearman_rows(rating[places], wrong[places]))
        bounds = percentile_interval(np.concatenate(drawn))
        rows.append((judge, len(part), value, bounds.low, bounds.high, bounds.reason))
    return DifficultyAnchors.from_rows(rows)


def judges_scale(ratings: pd.DataFrame, share_wrong: "pd.Series[float]") -> pd.DataFrame:
    """A `DifficultyScale` table: what each judge's ratings come to in wrong answers.

    `fitted` is the isotonic regression of the share of wrong answers on the rating; ratings that
    the judge gave to no anchor are interpolated, or get the nearest one's.

    Args:
        ratings: a `DifficultyRatings` table.
        share_wrong: of the models asked, 0–1, by item id.
    """
    rows: list[tuple[Any, ...]] = []
    levels = np.arange(_LEVELS, dtype=np.float64)
    for judge, part in _paired(ratings, share_wrong).groupby("judge", sort=True):
        seen = part.groupby("rating")["wrong"].agg(["size", "mean"])
        fitted = np.interp(levels, seen.index.to_numpy(np.float64), _isotonic(seen))
        counts = seen["size"].reindex(levels, fill_value=0)
        means = seen["mean"].reindex(levels)
        rows.extend(
            (judge, level, int(counts.iloc[level]), means.iloc[level], fitted[level])
            for level in range(_LEVELS)
        )
    return DifficultyScale.from_rows(rows)


def calibrated_ratings(ratings: pd.DataFrame, scale: pd.DataFrame) -> pd.DataFrame:
    """Ratings put on one scale: each replaced by ten times the wrong answers it stands for, less ½.

    Judges who differ in leniency become comparable, and the levels are those of the models that
    made the anchors: 0 where all of them are right, 9 where none is. A judge without anchors
    keeps its ratings.

    Args:
        ratings: a `DifficultyRatings` table.
        scale: a `DifficultyScale` table.
    """
    known = {
        (judge, float(rating)): float(np.clip(_LEVELS * wrong - 0.5, 0, _LEVELS - 1))
        for judge, rating, wrong in scale[["judge", "rating", "fitted"]].itertuples(index=False)
    }
    given = zip(ratings["judge"], ratings["rating"], strict=True)
    return ratings.assign(rating=[known.get((judge, rating), rating) for judge, rating in given])


def _paired(ratings: pd.DataFrame, share_wrong: "pd.Series[float]") -> pd.DataFrame:
    """Judge, rating and share of wrong answers, where both are known, by item id."""
    last = last_ratings(ratings)
    last = last.assign(wrong=last["item_id"].map(share_wrong).astype(np.float64))
    return last.dropna(subset=["rating", "wrong"]).sort_values(["judge", "item_id"])


def _isotonic(seen: pd.DataFrame) -> "np.ndarray[Any, np.dtype[np.float64]]":
    from sklearn.isotonic import isotonic_regression

    fitted = isotonic_regression(
        seen["mean"].to_numpy(np.float64), sample_weight=seen["size"].to_numpy(np.float64)
    )
    return np.asarray(fitted, dtype=np.float64)
