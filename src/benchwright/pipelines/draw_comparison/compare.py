"""How much does a perturbation cost a model? (WiCkeD, Table 1 and Figure 3.)

Original and draws are compared for the same configuration, that is with the same number of
demonstrations, and on the same items: those that every configuration answered as they were and in
every draw.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.item_clusters import item_clusters
from benchwright.metric_name import metric_name
from benchwright.response_matrix import ResponseMatrix
from benchwright.statistics.paired_differences import clustered_se
from benchwright.statistics.rank_agreement import ranks
from benchwright.tables import DrawScores, DrawTransitions

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class _Compared(NamedTuple):
    """Answers of m configurations to the n items that all of them answered throughout.

    Attributes:
        configurations: m names.
        item_ids: n ids.
        original: (m, n) right or wrong before.
        drawn: (d, m, n) the same in each draw.
        altered: (d, n) the draw changed the item.
        gold_removed: (d, n) the right option went.
    """

    configurations: tuple[str, ...]
    item_ids: tuple[str, ...]
    original: Floats
    drawn: Floats
    altered: Bools
    gold_removed: Bools


def compare_draws(
    response_matrix: ResponseMatrix,
    draw_matrices: Mapping[str, ResponseMatrix],
    perturbation_changes: pd.DataFrame,
    items: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare each configuration's accuracy on the draws with that on the items as they were.

    Args:
        response_matrix: answers to the items as they were.
        draw_matrices: answers to each draw by condition, `<perturbation>-<number>`, judged by the
            draw's own gold, over the same items in the same order.
        perturbation_changes: of each draw's items (role `item`) whether they were altered and
            whether the gold was removed; columns condition, role, item_id, altered, gold_removed.
        items: an `Items` table; items of one passage or stem are one draw in standard errors.

    Returns:
        `DrawScores` and `DrawTransitions`; both empty where nothing can be compared.
    """
    scores: list[dict[str, Any]] = []
    transitions: list[dict[str, Any]] = []
    for name, conditions in _by_perturbation(draw_matrices).items():
        seen = _common(response_matrix, draw_matrices, conditions, perturbation_changes)
        if not seen.configurations or not seen.item_ids:
            continue
        rows = items.set_index(items["item_id"].astype(str)).loc[list(seen.item_ids)]
        scores += _scores(name, seen, item_clusters(rows.reset_index(drop=True)))
        transitions += _transitions(name, seen)
    return DrawScores.from_rows(scores), DrawTransitions.from_rows(transitions)


def collect_draw_metrics(
    draw_scores: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
) -> dict[str, float]:
    """Collect the figures of the draws as flat numbers, for MLflow.

    `gold_removed_unchecked` counts items that lost their right option in some draw although
    nobody has said whether a second one would do: each may be incoherent (WiCkeD, section 3).
    """
    of_items = perturbation_changes[perturbation_changes["role"] == "item"]
    # Several transforms of one item are one change.
    marks = of_items[["altered", "gold_removed"]].astype(bool)
    done = marks.groupby([of_items["condition"], of_items["item_id"]]).any()
    lost = set(done.index.get_level_values("item_id")[done["gold_removed"]])
    checked = {*single_best_answer_ids["single"], *single_best_answer_ids["several"]}
    figures = {
        "draws": float(of_items["condition"].nunique()),
        "share_altered": float(done["altered"].mean()),
        "share_gold_removed": float(done["gold_removed"].mean()),
        "gold_removed_unchecked": float(len(lost - checked)),
    }
    for row in draw_scores.to_dict("records"):
        name = metric_name(f"{row['perturbation']}.{row['configuration']}")
        for column in ("accuracy_original", "accuracy_mean", "accuracy_sd", "delta", "delta_se"):
            figures[f"{column}.{name}"] = float(row[column])
    return {name: value for name, value in figures.items() if np.isfinite(value)}


def _by_perturbation(draw_matrices: Mapping[str, ResponseMatrix]) -> dict[str, list[str]]:
    """Conditions by the name before their number, in order of the number."""
    found: dict[str, list[str]] = {}
    for condition in draw_matrices:
        found.setdefault(condition.rpartition("-")[0] or condition, []).append(condition)
    return {
        name: sorted(conditions, key=lambda c: (len(c), c))
        for name, conditions in sorted(found.items())
    }


def _common(
    response_matrix: ResponseMatrix,
    draw_matrices: Mapping[str, ResponseMatrix],
    conditions: list[str],
    changes: pd.DataFrame,
) -> _Compared:
    """The configurations that answered all conditions, on the items that all of them answered."""
    matrices = [response_matrix, *(draw_matrices[condition] for condition in conditions)]
    shared = set.intersection(*(set(_answering(matrix)) for matrix in matrices))
    configurations = tuple(sorted(shared))
    ids = response_matrix.item_ids
    chosen = [matrix.select_models(configurations).select_items(ids) for matrix in matrices]
    complete = np.ones(len(ids), dtype=np.bool_)
    for matrix in chosen:
        np.logical_and(complete, np.all(matrix.answered(), axis=0), out=complete)
    original, *drawn = (matrix.correct[:, complete].astype(np.float64) for matrix in chosen)
    kept_ids = tuple(ids[row] for row in np.flatnonzero(complete))
    return _Compared(
        configurations,
        kept_ids,
        original,
        np.array(drawn).reshape(len(conditions), len(configurations), len(kept_ids)),
        _marks(changes, conditions, kept_ids, "altered"),
        _marks(changes, conditions, kept_ids, "gold_removed"),
    )


def _answering(matrix: ResponseMatrix) -> list[str]:
    rows = np.unique(np.nonzero(matrix.answered())[0])
    return [matrix.models[row] for row in rows]


def _marks(
    changes: pd.DataFrame, conditions: list[str], item_ids: tuple[str, ...], column: str
) -> Bools:
    """(d, n) a mark of each draw's items."""
    items = changes[(changes["role"] == "item") & changes[column].astype(bool)]
    marked = set(zip(items["condition"], items["item_id"], strict=True))
    return np.array(
        [[(condition, item) in marked for item in item_ids] for condition in conditions],
        dtype=bool,
    ).reshape(len(conditions), len(item_ids))


def _scores(name: str, seen: _Compared, clusters: NDArray[np.integer]) -> list[dict[str, Any]]:
    draws = len(seen.drawn)
    original = seen.original.mean(axis=1)
    by_draw = seen.drawn.mean(axis=2)  # (d, m)
    mean = by_draw.mean(axis=0)
    sd = by_draw.std(axis=0, ddof=1) if draws > 1 else np.full(len(mean), np.nan)
    error = clustered_se(seen.drawn.mean(axis=0) - seen.original, clusters)
    repeated = np.broadcast_to(seen.original, seen.drawn.shape)
    columns = {
        "accuracy_original": original,
        "accuracy_mean": mean,
        "accuracy_sd": sd,
        "delta": mean - original,
        "delta_se": error,
        "accuracy_altered": _mean_where(seen.drawn, seen.altered),
        "accuracy_altered_original": _mean_where(repeated, seen.altered),
        "accuracy_gold_removed": _mean_where(seen.drawn, seen.gold_removed),
        "rank_original": ranks(np.round(original, 12)),
        "rank_mean": ranks(np.round(mean, 12)),
    }
    return [
        {
            "perturbation": name,
            "configuration": configuration,
            "n_items": len(seen.item_ids),
            "draws": draws,
            **{column: float(values[row]) for column, values in columns.items()},
        }
        for row, configuration in enumerate(seen.configurations)
    ]


def _mean_where(correct: Floats, marks: Bools) -> Floats:
    """(m,) the mean of (d, m, n) answers over marked (d, n) items; NaN where none is marked."""
    n = int(marks.sum())
    if not n:
        return np.full(correct.shape[1], np.nan)
    total: Floats = np.einsum("dmn,dn->m", correct, marks.astype(np.float64)) / n
    return total


def _transitions(name: str, seen: _Compared) -> list[dict[str, Any]]:
    """Shares of altered items by what became of the answer, apart for gold kept and removed."""
    before = np.broadcast_to(seen.original >= 0.5, seen.drawn.shape)
    after = seen.drawn >= 0.5
    out = []
    for gold, marks in (
        ("kept", seen.altered & ~seen.gold_removed),
        ("removed", seen.altered & seen.gold_removed),
    ):
        shares = {
            "stayed_right": _mean_where((before & after).astype(np.float64), marks),
            "became_wrong": _mean_where((before & ~after).astype(np.float64), marks),
            "became_right": _mean_where((~before & after).astype(np.float64), marks),
            "stayed_wrong": _mean_where((~before & ~after).astype(np.float64), marks),
        }
        out += [
            {
                "perturbation": name,
                "configuration": configuration,
                "gold": gold,
                "n": int(marks.sum()),
                **{column: float(values[row]) for column, values in shares.items()},
            }
            for row, configuration in enumerate(seen.configurations)
        ]
    return out
