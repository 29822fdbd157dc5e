"""A sample of questions by difficulty, under quotas of fields, over many domains.

MMLU-CF, section 3.2, step 3, and Figure 4: levels follow a normal distribution around 6, fields are
balanced, as many domains as possible are covered, questions with an explanation come first.
"""

from math import erf, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.array_types import Floats, Places
from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.params.mmlu_cf import SamplingByDifficultyParams
from benchwright.statistics.random_subsets import largest_remainder

Counts = NDArray[np.int64]
LEVELS = 10
"""Levels of difficulty, 0 (easiest) to 9 (Figure 4)."""

_NO_FIELD = "Other"


def level_shares(mean: float = 6.0, sd: float = 1.5) -> Floats:
    """Compute the shares (10,) of the levels 0–9 under a normal distribution truncated to them.

    Level l has the mass between l − 1/2 and l + 1/2.
    """
    edges = (np.arange(LEVELS + 1) - 0.5 - mean) / (sd * sqrt(2))
    mass = np.diff([erf(edge) for edge in edges])
    if mass.sum() <= 0:
        raise InputError(
            f"sampling: mean {mean} is too far from the levels 0–9 at sd {sd}; raise sd"
        )
    return mass / mass.sum()


def sampling_pool(
    items: pd.DataFrame, item_difficulty: pd.DataFrame, params: SamplingByDifficultyParams
) -> pd.DataFrame:
    """Return the items with their level as `difficulty`, those without a field in Other.

    If no item has a level, all have the one nearest to the mean.
    """
    levels = item_difficulty.set_index("item_id")["level"]
    difficulty = items["item_id"].map(levels).astype(np.float64)
    if difficulty.isna().all():
        difficulty[:] = float(np.clip(np.rint(params.mean), 0, LEVELS - 1))
    return items.assign(field=items["field"].fillna(_NO_FIELD), difficulty=difficulty)


def sample_by_difficulty(
    items: pd.DataFrame, params: SamplingByDifficultyParams, seed: int
) -> tuple[list[str], pd.DataFrame]:
    """Draw the sample whose counts by field and level come nearest to the quotas.

    A field with fewer questions than its quota contributes all, and the others share the rest. Each
    field follows the distribution of levels; adjacent levels, and then the fields with more
    questions, make up for a lack. In each stratum come first one question of every domain, then
    explained questions, then those of the domains sampled least. `items` have item_id, field,
    difficulty (0–9; NaN is never sampled), domain and explanation, in any order. Return the sorted
    ids and the counts of the strata.
    """
    pool = _pool(items, seed)
    place, fields = pd.factorize(pool["field"], sort=True)
    pool["stratum"] = place * LEVELS + pool["level"]
    available = np.bincount(pool["stratum"], minlength=len(fields) * LEVELS).reshape(-1, LEVELS)
    size = min(params.size, int(available.sum()))
    in_field = available.sum(axis=1)
    counts = dict(zip(fields, in_field.tolist(), strict=True))
    weights = dict.fromkeys(fields, 1) if params.fields == "equal" else counts
    by_field = _field_quotas(counts, weights, size)
    quotas = np.array([by_field[field] for field in fields], dtype=np.int64)
    scarce_first = np.argsort(in_field - quotas, kind="stable")
    shares = level_shares(params.mean, params.sd)
    target = _table(quotas, shares, np.full_like(available, size), scarce_first)
    allocated = _table(quotas, shares, available, scarce_first)
    chosen = _filled(pool, allocated.ravel())
    strata = pd.DataFrame(
        {
            "field": np.repeat(fields, LEVELS),
            "level": np.tile(np.arange(LEVELS), len(fields)),
            "target": target.ravel(),
            "available": available.ravel(),
            "sampled": allocated.ravel(),
        }
    )
    strata["shortfall"] = (strata["target"] - strata["sampled"]).clip(lower=0)
    return sorted(chosen["item_id"]), strata.astype({"field": str})


def _pool(items: pd.DataFrame, seed: int) -> pd.DataFrame:
    ids = items["item_id"].astype(str)
    domain = items["domain"]
    explanation = items["explanation"]
    table = pd.DataFrame(
        {
            "item_id": ids,
            "field": items["field"].astype(str),
            "level": items["difficulty"],
            "domain": domain.where(domain.notna(), None),
            "explained": explanation.notna() & explanation.astype(str).str.strip().ne(""),
            "order": item_uniforms(seed, "sample_by_difficulty", ids.tolist()),
        }
    )
    table = table.dropna(subset="level").astype({"level": "int64"})
    return table.sort_values(["order", "item_id"], ignore_index=True)


def _table(quotas: Counts, shares: Floats, available: Counts, order: Places) -> Counts:
    """Return the counts (fields, levels): rows sum to the quotas, and columns follow the shares.

    The next field in `order` makes up for the deviations of a field from the shares.
    """
    table = np.zeros_like(available)
    carry = np.zeros(LEVELS)
    for field in order:
        wanted = quotas[field] * shares + carry
        lacking = wanted.copy()
        for _ in range(quotas[field]):
            level = int(np.argmax(lacking.round(9)))
            lacking[level] -= 1
            free = np.flatnonzero(table[field] < available[field])[::-1]
            nearest = free[np.argmin(np.abs(free - level))]
            table[field, nearest] += 1
        carry = wanted - table[field]
    return table


def _field_quotas(available: dict[str, int], weights: dict[str, int], size: int) -> dict[str, int]:
    """Compute quotas in proportion to `weights`; a field with too few questions contributes all."""
    full: dict[str, int] = {}
    while True:
        rest = {field: weight for field, weight in weights.items() if field not in full}
        quotas = largest_remainder(rest, size - sum(full.values()))
        short = [field for field, quota in quotas.items() if quota >= available[field]]
        if not short:
            return full | quotas
        for field in short:
            full[field] = available[field]


def _filled(pool: pd.DataFrame, allocated: Counts) -> pd.DataFrame:
    """Fill each stratum: first from every domain once, then explained ones, then rare domains."""
    ranked = pool[allocated[pool["stratum"]] > 0].assign(plain=~pool["explained"])
    ranked = ranked.sort_values(["plain", "order", "item_id"], ignore_index=True)
    unknown = ranked["domain"].isna()
    turn = ranked.groupby(["stratum", "domain"], dropna=False).cumcount()
    ranked["repeated"] = unknown | ranked.groupby("domain").cumcount().gt(0)
    ranked["turn"] = turn.mask(unknown, 0)
    order = ["repeated", "plain", "turn", "order", "item_id"]
    ranked = ranked.sort_values(order, ignore_index=True)
    place = ranked.groupby("stratum").cumcount()
    return ranked[place.to_numpy() < allocated[ranked["stratum"]]]
