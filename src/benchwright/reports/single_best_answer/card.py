"""The card of a classifier: what it was trained on, what it finds, and when not to use it."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.methods.wicked.single_best_answer.classifier import precision_recall
from benchwright.methods.wicked.single_best_answer.evaluation import ALL
from benchwright.methods.wicked.single_best_answer.training import describe
from benchwright.reports.page.small_page import render_page

USEFUL_SHARE = 0.5
"""Of items flagged, above which most of the benchmark would be copied unchanged."""

_WIDTH, _HEIGHT = 440.0, 300.0  # of the plot, without its margins, in SVG units


def render_card(
    classifier: Mapping[str, Any],
    evaluation: pd.DataFrame,
    labelled: pd.DataFrame,
    missing: Mapping[str, int],
) -> str:
    """One HTML page, nothing from the network.

    Args:
        classifier: what training wrote.
        evaluation: a `SbaEvaluation` table.
        labelled: label, probability, cross_validated and split of the labelled items.
        missing: labelled items whose text is not there, per benchmark.
    """
    known = labelled[labelled["cross_validated"].notna()]
    probability, curve_of = "cross_validated", "training and held-out items, out of fold"
    if not len(known):
        known, probability = labelled[labelled["split"] == "held_out"], "probability"
        curve_of = "held-out items"
    labels = known["label"].to_numpy()
    return render_page(
        "single_best_answer_card.html",
        what=describe(classifier),
        classifier=classifier,
        trained_on=classifier["trained_on"],
        points=classifier["operating_points"],
        advice=advice(classifier, evaluation),
        parts=_parts(evaluation),
        coefficients=_coefficients(classifier),
        curve=curve_points(precision_recall(known[probability].to_numpy(), labels)),
        curve_of=curve_of,
        base=float(labels.mean()) if len(labels) else float("nan"),
        base_y=_HEIGHT * (1 - float(labels.mean())) if len(labels) else _HEIGHT,
        width=_WIDTH,
        height=_HEIGHT,
        missing=dict(missing),
    )


def advice(classifier: Mapping[str, Any], evaluation: pd.DataFrame) -> list[str]:
    """When not to use the classifier, one sentence each; empty where nothing speaks against it."""
    found: list[str] = []
    rows = evaluation[evaluation["method"] == "classifier"]
    kept = _row(rows, "held_out")
    if kept is None:
        return ["No labelled item was held out: nothing is known about what it finds."]
    share = kept["share_flagged"]
    if share > USEFUL_SHARE:
        found.append(
            f"At this threshold it flags {share:.0%} of the held-out items, which would be copied "
            "unchanged. Label the items by a chat model that is good at it (labels: judge), or "
            "accept a lower recall (single_best_answer.recall)."
        )
    low = kept["recall_low"]
    if isnan(low) or low < classifier["recall_target"]:
        found.append(
            f"A recall of {classifier['recall_target']:.1%} was asked for; "
            + (
                "without a held-out item that has the label 1 it is not shown."
                if isnan(low)
                else f"on {int(kept['positives'])} held-out items with the label 1 no more than "
                f"{low:.0%} can be claimed (95% interval)."
            )
        )
    ranked = _row(rows, "cross_validation")
    ranked = kept if ranked is None else ranked
    if isnan(ranked["p_value"]) or ranked["p_value"] > 0.05:
        found.append("It ranks items no better than chance does: do not use it.")
    trained = classifier["trained_on"]["benchmarks"]
    if classifier["kind"] != "hub" and trained:
        names = ", ".join(trained)
        found.append(f"It has seen {names} only; what it says of other benchmarks is a guess.")
    away = rows[(rows["part"] == "left_out") & (rows["benchmark"] != ALL)]
    by_chance = away.loc[~(away["p_value"] <= 0.05), "benchmark"]
    return found + [
        f"On {name} it is no better than chance: label its items." for name in by_chance
    ]


def curve_points(curve: NDArray[np.float64]) -> str:
    """The points of an SVG polyline: recall from left to right, precision upwards; "" of none."""
    places = [
        f"{recall * _WIDTH:.1f},{(1 - precision) * _HEIGHT:.1f}" for recall, precision in curve
    ]
    return " ".join(places)


def _row(rows: pd.DataFrame, part: str) -> dict[Any, Any] | None:
    """All benchmarks together, or the only one."""
    own = rows[rows["part"] == part]
    whole = own[own["benchmark"] == ALL]
    chosen = (whole if len(whole) else own).to_dict("records")
    return chosen[0] if chosen else None


_TITLES = {
    "held_out": "Held-out items",
    "cross_validation": "Training and held-out items, cross-validated",
    "left_out": "Benchmarks that were not trained on",
    "read_twice": "Items that two annotators read",
}


def _parts(evaluation: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {"title": title, "rows": evaluation[evaluation["part"] == part].to_dict("records")}
        for part, title in _TITLES.items()
        if (evaluation["part"] == part).any()
    ]


def _coefficients(classifier: Mapping[str, Any]) -> Sequence[tuple[str, float]]:
    """Those of named features, the heaviest first; those of vectors mean nothing to a reader."""
    if classifier["kind"] != "embedding":
        return ()
    fitted = classifier["logistic"]
    pairs = zip(fitted["features"], fitted["coefficients"], strict=True)
    named = [(name, value) for name, value in pairs if not name.rsplit("_", 1)[-1].isdigit()]
    return sorted(named, key=lambda pair: -abs(pair[1]))
