"""Given a question alone, does a model write its options? (MMLU-CF, Figure 1).

Read off the answers to the condition `question_only`. Options can be guessed (True and False, years
in a row, None of the above), so the same replies are also held against the options of another item
of the same subject: what exceeds that is remembered.
"""

from collections import defaultdict
from collections.abc import Mapping
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.memorisation.written_options import (
    folded,
    in_any_place,
    in_place,
    written_options,
)
from benchwright.params.memorisation import MemorisationParams
from benchwright.statistics.clustered_mean import clustered_means
from benchwright.statistics.percentile import holm
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.mmlu_cf import Memorisation, MemorisationSummary


def probe_memorisation(
    items: pd.DataFrame, generations: pd.DataFrame, params: MemorisationParams, seed: int
) -> pd.DataFrame:
    """A `Memorisation` table: what each reply under `question_only` holds of its item's options.

    `model` is the configuration's name. Items without options are passed over.

    Args:
        items: columns item_id, subject and choices of `Items`.
        generations: a `Generations` table; other conditions are passed over.
        params: the similarity that counts.
        seed: of which item is the control.
    """
    options = {
        str(item_id): tuple(map(str, choices))
        for item_id, choices in zip(items["item_id"], items["choices"], strict=True)
        if len(choices)
    }
    controls = control_items(items, seed)
    asked = generations[generations["condition"].eq("question_only")]
    rows: list[tuple[Any, ...]] = []
    for reply in asked.to_dict("records"):
        own = options.get(str(reply["item_id"]))
        if own is None:
            continue
        written = written_options(str(reply["text"]), len(own))
        other = controls.get(str(reply["item_id"]), "")
        against = in_place(written, options[other], params.fuzzy) if other else (nan, nan)
        rows.append(
            (
                configuration_name(str(reply["model"]), str(reply["style"]), int(reply["shots"])),
                str(reply["item_id"]),
                *in_place(written, own, params.fuzzy),
                *against,
                str(reply["text"]),
                int(reply["sample"]),
                in_any_place(written, own, params.fuzzy),
                len(written),
                other,
            )
        )
    return Memorisation.from_rows(sorted(rows, key=lambda row: (row[0], row[1], row[6])))


def control_items(items: pd.DataFrame, seed: int) -> dict[str, str]:
    """For each item another one of its subject with as many, but other, options.

    The next one in an order by hash, so that each serves about once. Items without such a one are
    left out.
    """
    groups: defaultdict[tuple[str, int], list[tuple[float, str, tuple[str, ...]]]]
    groups = defaultdict(list)
    ids = items["item_id"].astype(str).tolist()
    order = item_uniforms(seed, "memorisation_control", ids).tolist()
    for item_id, place, subject, choices in zip(
        ids, order, items["subject"], items["choices"], strict=True
    ):
        if len(choices):
            key = (str(subject), len(choices))
            groups[key].append((place, item_id, tuple(folded(str(one)) for one in choices)))
    controls: dict[str, str] = {}
    for members in groups.values():
        members.sort()
        for number, (_, item_id, own) in enumerate(members):
            after = members[number + 1 :] + members[:number]
            other = next((one for _, one, texts in after if set(texts).isdisjoint(own)), None)
            other = other or next((one for _, one, texts in after if set(texts) != set(own)), None)
            if other is not None:
                controls[item_id] = other
    return controls


class _PerItem(NamedTuple):
    """One model's items.

    `frame` has the means over samples, and whether any of them holds all options (`whole`) or all
    of the control (`control_whole`).
    """

    frame: pd.DataFrame
    exact: int
    fuzzy: int
    wrote: int


def summarise_memorisation(table: pd.DataFrame, params: MemorisationParams) -> pd.DataFrame:
    """A `MemorisationSummary` of a `Memorisation` table, by model.

    An item counts as remembered where any of its replies holds all options in their places;
    intervals are Wilson's. The test is over whole items: those remembered against those whose
    control would be, by a one-sided exact McNemar test with Holm's correction over models;
    `remembers` says that it holds at `alpha`. The difference of the shares of options, with a t
    interval, describes only: a model that knows the topic guesses some options of the item, and
    fewer of another one's.
    """
    rows: list[dict[str, Any]] = []
    for model, own in table.groupby("model", sort=True):
        rows.append(_summary(str(model), _per_item(own), params))
    adjusted = holm([row["p_value"] for row in rows])
    for row, p in zip(rows, adjusted.tolist(), strict=True):
        row |= {"p_holm": p, "remembers": bool(p <= params.alpha)}
    names = MemorisationSummary.columns()
    return MemorisationSummary.from_rows([tuple(row[name] for name in names) for row in rows])


def _per_item(own: pd.DataFrame) -> _PerItem:
    by_item = own.groupby("item_id", sort=True)
    columns = ["exact", "fuzzy", "control_fuzzy", "any_order"]
    best = by_item[["exact", "fuzzy", "control_fuzzy", "written"]].max()
    frame = by_item[columns].mean()
    frame["whole"], frame["control_whole"] = best["fuzzy"] == 1, best["control_fuzzy"] == 1
    return _PerItem(
        frame,
        int((best["exact"] == 1).sum()),
        int((best["fuzzy"] == 1).sum()),
        int((best["written"] > 0).sum()),
    )


def _summary(model: str, own: _PerItem, params: MemorisationParams) -> dict[str, Any]:
    n = len(own.frame)
    exact = wilson_interval(own.exact, n, params.level)
    fuzzy = wilson_interval(own.fuzzy, n, params.level)
    compared = own.frame.dropna(subset=["control_fuzzy"])
    wholes = _whole_controls(compared, params.level)
    against = _against_control(compared, wholes, params.level)
    return {
        "model": model,
        "items": n,
        "wrote": own.wrote,
        "exact": own.exact / n,
        "exact_low": exact.low,
        "exact_high": exact.high,
        "fuzzy": own.fuzzy / n,
        "fuzzy_low": fuzzy.low,
        "fuzzy_high": fuzzy.high,
        "options_exact": float(own.frame["exact"].mean()),
        "options_fuzzy": float(own.frame["fuzzy"].mean()),
        "any_order": float(own.frame["any_order"].mean()),
        "compared": len(compared),
        **wholes,
        **against,
    }


def _whole_controls(compared: pd.DataFrame, level: float) -> Mapping[str, float]:
    """The share of items whose control is written whole, and the two counts that are tested."""
    n, hits = len(compared), int(compared["control_whole"].sum())
    interval = wilson_interval(hits, n, level)
    return {
        "control_whole": hits / n if n else nan,
        "control_whole_low": interval.low,
        "control_whole_high": interval.high,
        "only_own": int((compared["whole"] & ~compared["control_whole"]).sum()),
        "only_control": int((compared["control_whole"] & ~compared["whole"]).sum()),
    }


def _against_control(
    compared: pd.DataFrame, wholes: Mapping[str, float], level: float
) -> Mapping[str, Any]:
    if compared.empty:
        missing = ("control_fuzzy", "difference", "low", "high", "p_value")
        reason = "no item has another one of its subject to compare with"
        return {**dict.fromkeys(missing, nan), "reason": reason}
    from scipy.stats import binomtest

    difference = (compared["fuzzy"] - compared["control_fuzzy"]).to_numpy()
    interval = clustered_means(difference[None, :], np.arange(len(difference)), level)
    own, other = int(wholes["only_own"]), int(wholes["only_control"])
    p_value = 1.0
    if own + other:
        p_value = float(binomtest(own, own + other, alternative="greater").pvalue)
    return {
        "control_fuzzy": float(compared["control_fuzzy"].mean()),
        "difference": float(difference.mean()),
        "low": float(interval.low[0]),
        "high": float(interval.high[0]),
        "p_value": p_value,
        "reason": interval.reason,
    }
