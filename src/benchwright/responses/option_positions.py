"""Position sensitivity: what models choose when the options of an item are rotated."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.item_clusters import item_clusters
from benchwright.responses.calibration import best_of_rows, configurations
from benchwright.scoring.rendering import LABELS, rotation
from benchwright.statistics.paired_differences import clustered_se
from benchwright.tables.responses import PositionSensitivity

_REACH = 1.959964  # of a 95% interval, in standard errors


def measure_positions(
    items: pd.DataFrame, responses: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Measure how far choices depend on the positions of the options.

    An item's `changed` is the share of its rotations under which a model chooses an option with
    another text than in the original order; unread answers are left out. A model's is the mean over
    items. Shares of positions are of all orders in which a model was asked.

    Args:
        items: an `Items` table.
        responses: a `Responses` table, with predictions in the item's own order of options.

    Returns:
        A `PositionSensitivity` table, and each item's mean of `changed` over the models. Both are
        empty where no rotation was asked.
    """
    rows = responses.assign(turn=responses["condition"].map(rotation))
    rows = rows[(rows["condition"] == "question") | (rows["turn"] > 0)]
    rows = rows.assign(configuration=configurations(rows)) if len(rows) else rows
    table: list[tuple[object, ...]] = []
    changed: list[pd.Series[float]] = []
    if (rows["turn"] > 0).any():
        known = items.set_index("item_id")
        for name, part in rows.groupby("configuration", sort=True):
            if (part["turn"] > 0).any():
                of_items = _choices(part, known)
                table += _measures(str(name), of_items, known, int(part["turn"].nunique()) - 1)
                changed.append(of_items["changed"])
    by_item = pd.concat(changed).groupby(level=0).mean().dropna().to_dict() if changed else {}
    return PositionSensitivity.from_rows(table), {str(item): by_item[item] for item in by_item}


def _choices(rows: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Return per item `changed` and the shares of chosen and of gold options by position."""
    of_item = known.loc[rows["item_id"]]
    options = of_item["choices"].map(len).to_numpy(dtype=np.int64)
    turn = rows["turn"].to_numpy(dtype=np.int64)
    chosen = _chosen(rows)
    table = pd.DataFrame({"item_id": rows["item_id"].to_numpy(), "turn": turn, "chosen": chosen})
    table = table[chosen >= 0]
    first = table[table["turn"] == 0].set_index("item_id")["chosen"]
    turned = table[table["turn"] > 0]
    compared = turned[turned["item_id"].isin(first.index)]
    differs = compared["chosen"].to_numpy() != compared["item_id"].map(first).to_numpy()
    out = {"changed": pd.Series(differs, compared["item_id"], dtype=np.float64)}
    gold = of_item["answer"].to_numpy(dtype=np.int64)
    answered = table.index
    for place in range(int(options.max())):
        for what, option in (("chosen", chosen), ("gold", gold)):
            at = ((option - turn) % options == place)[answered]
            out[f"{what} {place}"] = pd.Series(at, table["item_id"], dtype=np.float64)
    means = {name: values.groupby(level=0).mean() for name, values in out.items()}
    return pd.DataFrame(means)


def _chosen(rows: pd.DataFrame) -> NDArray[np.int64]:
    """Return the chosen options (n,) in each item's own order, −1 if unknown, never averaged."""
    best, _ = best_of_rows(rows)
    return np.where(best >= 0, best, rows["prediction"].to_numpy(dtype=np.int64))


def _measures(
    name: str, of_items: pd.DataFrame, known: pd.DataFrame, rotations: int
) -> list[tuple[object, ...]]:
    asked = known.loc[of_items.index].reset_index()
    clusters = np.asarray(item_clusters(asked), dtype=np.intp)
    rows: list[tuple[object, ...]] = []
    for measure in (column for column in of_items if not str(column).startswith("gold")):
        values = of_items[measure].to_numpy(dtype=np.float64)
        mean = float(np.nanmean(values)) if not np.isnan(values).all() else np.nan
        reach = _REACH * float(clustered_se(values[None, :], clusters)[0])
        place = None if measure == "changed" else int(str(measure).split()[1])
        gold = np.nan if place is None else float(of_items[f"gold {place}"].mean())
        rows.append(
            (
                name,
                "changed" if place is None else LABELS[place],
                mean,
                max(mean - reach, 0.0) if np.isfinite(reach) else np.nan,
                min(mean + reach, 1.0) if np.isfinite(reach) else np.nan,
                gold,
                int(np.count_nonzero(~np.isnan(values))),
                rotations,
            )
        )
    return rows
