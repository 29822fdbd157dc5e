"""A sample of questions by difficulty, under quotas of fields, over many domains.

MMLU-CF, section 3.2, step 3, and Figure 4: levels follow a normal distribution around 6, fields are
balanced, as many domains as possible are covered, questions with an explanation come first.
"""

from math import erf, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.margin_table import (
    Counts,
    cell_goal,
    cumulative_level_goal,
    field_goal,
    joined,
    level_goal,
    nearest_table,
)
from benchwright.params.mmlu_cf import SamplingByDifficultyParams

LEVELS = 10
"""Levels of difficulty, 0 (easiest) to 9 (Figure 4)."""

_NO_FIELD = "Other"


def level_shares(mean: float = 6.0, sd: float = 1.5) -> NDArray[np.float64]:
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

    It has the requested size if there are enough questions. Then, exactly and in this order: fields
    and levels miss their quotas by as few questions as possible; adjacent levels fill the gaps of a
    level; the strata are as near as possible to independent fields and levels. A field with fewer
    questions than its share contributes all, and the others share the rest. Within these counts as
    many domains as possible are covered (a maximum flow), then explained questions come first, then
    those of the domains sampled least. `items` have item_id (unique), field, difficulty (whole
    numbers 0–9; NaN is never sampled), domain and explanation (null or blank if none), in any
    order. The seed breaks ties. Return the sorted ids and the counts of the strata.
    """
    pool = _pool(items, seed)
    fields = sorted(set(pool["field"]))
    cells = len(fields) * LEVELS
    available = np.bincount(_stratum(pool, fields), minlength=cells).reshape(-1, LEVELS)
    size = min(params.size, int(available.sum()))
    target, allocated = _allocated(available, params, size)
    chosen = _filled(pool, fields, allocated, _covering(pool, fields, allocated))
    rows = [
        (field, level, target[f, level], available[f, level], allocated[f, level])
        for f, field in enumerate(fields)
        for level in range(LEVELS)
    ]
    strata = pd.DataFrame(rows, columns=["field", "level", "target", "available", "sampled"])
    strata["shortfall"] = (strata["target"] - strata["sampled"]).clip(lower=0)
    return sorted(chosen["item_id"]), strata.astype({"field": str})


def _pool(items: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the items that have a level, by hash of their ids."""
    ids = items["item_id"].astype(str)
    explanation = items["explanation"]
    table = pd.DataFrame(
        {
            "item_id": ids,
            "field": items["field"].astype(str),
            "level": items["difficulty"],
            "domain": items["domain"].where(items["domain"].notna(), None),
            "explained": explanation.notna() & explanation.astype(str).str.strip().ne(""),
            "order": item_uniforms(seed, "sample_by_difficulty", ids.tolist()),
        }
    )
    table = table[table["level"].notna()].astype({"level": "int64"})
    return table.sort_values(["order", "item_id"], ignore_index=True)


def _allocated(
    available: Counts, params: SamplingByDifficultyParams, size: int
) -> tuple[Counts, Counts]:
    """Return the target and the allocated number of questions of each stratum."""
    if not available.size:
        return available, available
    levels = _rounded(level_shares(params.mean, params.sd) * size)
    in_field = available.sum(axis=1)
    even = np.ones(len(in_field)) if params.fields == "equal" else in_field.astype(np.float64)
    fields = _field_quotas(in_field, even, size)
    margins = (field_goal(fields, LEVELS), level_goal(levels, len(fields)))
    combined = np.outer(fields, levels) / max(size, 1)
    floor = np.floor(combined).astype(np.int64)
    target = nearest_table(floor, floor + 1, size, [joined(*margins), cell_goal(combined)])
    if (target <= available).all():
        return target, target
    goals = [joined(*margins), cumulative_level_goal(levels, len(fields)), cell_goal(target)]
    return target, nearest_table(np.zeros_like(available), available, size, goals)


def _rounded(shares: NDArray[np.float64]) -> Counts:
    """Round to whole numbers of the same sum by largest remainders, ties in order."""
    whole = np.floor(shares + 1e-9).astype(np.int64)
    left = round(float(shares.sum())) - int(whole.sum())
    order = np.argsort(-(shares - whole).round(9), kind="stable")
    whole[order[:left]] += 1
    return whole


def _field_quotas(available: Counts, weights: NDArray[np.float64], size: int) -> Counts:
    """Compute quotas in proportion to `weights`; a field with too few questions contributes all."""
    full = np.zeros(len(available), dtype=np.bool_)
    while True:
        rest = size - int(available[full].sum())
        open_weights = np.where(full, 0.0, weights)
        if rest <= 0 or open_weights.sum() == 0:
            share = np.zeros(len(available))
        else:
            share = rest * open_weights / open_weights.sum()
        over = ~full & (share >= available)
        if not over.any() or full.all():
            break
        full |= over
    quotas = _rounded(share)
    quotas[full] = available[full]
    return quotas


def _covering(pool: pd.DataFrame, fields: list[str], allocated: Counts) -> dict[str, int]:
    """Assign a stratum to each of as many domains as these counts allow."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    stratum = _stratum(pool, fields)
    known = pool["domain"].notna() & (allocated.ravel()[stratum] > 0)
    domains = list(dict.fromkeys(pool["domain"][known]))  # by hash: names must not decide
    if not domains:
        return {}
    number = {domain: place for place, domain in enumerate(domains)}
    edges = pd.DataFrame(
        {"domain": pool["domain"][known].map(number), "stratum": stratum[known.to_numpy()]}
    ).drop_duplicates()
    sink = 1 + len(domains) + allocated.size
    used = np.unique(edges["stratum"])
    rows = [*[0] * len(domains), *(1 + edges["domain"]), *(1 + len(domains) + used)]
    columns = [*range(1, 1 + len(domains)), *(1 + len(domains) + edges["stratum"])]
    columns += [sink] * len(used)
    capacity = [1] * (len(domains) + len(edges)) + allocated.ravel()[used].tolist()
    graph = csr_array(
        (np.array(capacity, dtype=np.int32), (np.array(rows), np.array(columns))),
        shape=(sink + 1, sink + 1),
    )
    flow = maximum_flow(graph, 0, sink).flow.tocoo()
    return {
        domains[start - 1]: int(end) - 1 - len(domains)
        for start, end, amount in zip(flow.row, flow.col, flow.data, strict=True)
        if amount > 0 and 1 <= start <= len(domains) and end != 0
    }


def _stratum(pool: pd.DataFrame, fields: list[str]) -> NDArray[np.int64]:
    place = {field: number for number, field in enumerate(fields)}
    return pool["field"].map(place).to_numpy(np.int64) * LEVELS + pool["level"].to_numpy(np.int64)


def _filled(
    pool: pd.DataFrame, fields: list[str], allocated: Counts, covered: dict[str, int]
) -> pd.DataFrame:
    """Fill each stratum: first for domains, then explained questions, then rare domains."""
    ranked = pool.assign(stratum=_stratum(pool, fields), plain=~pool["explained"])
    ranked = ranked.sort_values(["plain", "order", "item_id"], ignore_index=True)
    turn = ranked.groupby(["stratum", "domain"], dropna=False).cumcount()
    in_stratum = ranked["domain"].map(covered) == ranked["stratum"]
    ranked["fill"] = ~(in_stratum & (turn == 0))
    ranked["turn"] = turn.where(ranked["domain"].notna(), 0)
    ranked = ranked.sort_values(["fill", "plain", "turn", "order", "item_id"], ignore_index=True)
    place = ranked.groupby("stratum").cumcount()
    return ranked[place.to_numpy() < allocated.ravel()[ranked["stratum"].to_numpy()]]
