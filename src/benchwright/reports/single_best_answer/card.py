"""The card of a classifier: what it was trained on, what it finds, and when not to use it."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.methods.wicked.single_best_answer.classifier import precision_recall
from benchwright.methods.wicked.single_best_answer.evaluation import ALL
from benchwright.methods.wicked.single_best_answer.training import describe
from benchwright.reports.page import parts
from benchwright.reports.page.wording import is_missing, number, percent

USEFUL_SHARE = 0.5
"""Of items flagged, above which most of the benchmark would be copied unchanged."""

_WIDTH, _HEIGHT = 440.0, 300.0  # of the plot, without its margins, in SVG units


def render_card(
    classifier: Mapping[str, Any],
    evaluation: pd.DataFrame,
    labelled: pd.DataFrame,
    missing: Mapping[str, int],
) -> str:
    """Render the card: one HTML page that needs no network.

    `labelled` has label, probability, cross_validated and split of the labelled items; `missing` is
    the number of labelled items without text, by benchmark.
    """
    title = "Single-best-answer items: card of the classifier"
    against = advice(classifier, evaluation)
    nothing = "Nothing in the metrics below speaks against it on the benchmarks it was trained on."
    page = parts.Page(
        title,
        title,
        [
            parts.Section(
                "When not to use it", [parts.Bullets(against)] if against else [parts.Text(nothing)]
            ),
            _operating_points(classifier),
            *_curve(labelled),
            *_parts(evaluation),
            parts.Section("", [parts.Text(_LEGEND, "quiet")]),
            *_coefficients(classifier),
        ],
        lead=_lead(classifier, missing),
    )
    return parts.render_page(page)


def _lead(classifier: Mapping[str, Any], missing: Mapping[str, int]) -> list[parts.Text]:
    """Say what the classifier is, what it was trained on, and which labels were not used."""
    trained_on = classifier["trained_on"]
    benchmarks = [f"{name} {number(n)}" for name, n in trained_on["benchmarks"].items()]
    of = f" ({', '.join(benchmarks)})" if benchmarks else ""
    what = describe(classifier)
    lead = [
        f"{what[0].upper()}{what[1:].lower()}. It says of an item how likely it is that another "
        "option is defensible too, so that the item would have two right options if its gold one "
        "made way for “None of the above”.",
        f"Trained on {number(trained_on['items'])} items, {number(trained_on['positives'])} of "
        f"them with a single best answer{of}; labels: {trained_on['labels']}. Threshold "
        f"{parts.as_metric(classifier, 'threshold')}, chosen for a recall of "
        f"{parts.as_share(classifier, 'recall_target')} out of fold.",
    ]
    if missing:
        counts = ", ".join(f"{number(n)} of {name}" for name, n in missing.items())
        lead.append(
            f"Labelled items whose text is not there, and which were not used: {counts}. A run of "
            "their benchmark brings them, for instance `kedro run --namespaces ingestion --params "
            f"benchmark={next(iter(missing))}`; then run `sba` again."
        )
    return [parts.Text(text, code=True) for text in lead]


def _operating_points(classifier: Mapping[str, Any]) -> parts.Section:
    columns: list[parts.Column] = [
        ("Recall wanted", parts.as_share, "target"),
        ("Recall", parts.as_share, "recall"),
        ("Precision", parts.as_share, "precision"),
        ("Flagged", parts.as_share, "share_flagged"),
        ("Threshold", parts.as_metric, "threshold"),
    ]
    target = parts.as_share(classifier, "recall_target")
    note = f"On training items, out of fold. The chosen target is {target}."
    table = parts.table_of(classifier["operating_points"], columns, range(1, 5))
    return parts.Section("What a recall costs", [parts.Text(note, "quiet"), table])


def _curve(labelled: pd.DataFrame) -> list[parts.Section]:
    """Return precision against recall, of cross-validated probabilities where there are any."""
    known = labelled[labelled["cross_validated"].notna()]
    probability, whose = "cross_validated", "Training and held-out items, out of fold"
    if not len(known):
        known, probability = labelled[labelled["split"] == "held_out"], "probability"
        whose = "Held-out items"
    labels = known["label"].to_numpy()
    points = curve_points(precision_recall(known[probability].to_numpy(), labels))
    if not points:
        return []
    base = float(labels.mean())
    note = (
        f"{whose}. The dashed line is what chance gives: the share of items with a single best "
        f"answer, {percent(base)}."
    )
    places = {"points": points, "base_y": _HEIGHT * (1 - base), "width": _WIDTH, "height": _HEIGHT}
    drawing = parts.Drawing("precision_recall.html", places)
    return [parts.Section("Precision and recall", [parts.Text(note, "quiet"), drawing])]


def advice(classifier: Mapping[str, Any], evaluation: pd.DataFrame) -> list[str]:
    """Say when not to use the classifier; empty where nothing speaks against it."""
    reasons: list[str] = []
    rows = evaluation[evaluation["method"] == "classifier"]
    kept = _row(rows, "held_out")
    if kept is None:
        return ["No labelled item was held out: nothing is known about what it finds."]
    share = kept["share_flagged"]
    if share > USEFUL_SHARE:
        reasons.append(
            f"At this threshold it flags {share:.0%} of the held-out items, which would be copied "
            "unchanged. Label the items by a chat model that is good at it (labels: judge), or "
            "accept a lower recall (single_best_answer.recall)."
        )
    low = kept["recall_low"]
    if isnan(low) or low < classifier["recall_target"]:
        reasons.append(
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
        reasons.append("It ranks items no better than chance does: do not use it.")
    trained = classifier["trained_on"]["benchmarks"]
    if classifier["kind"] != "hub" and trained:
        names = ", ".join(trained)
        reasons.append(f"It has seen {names} only; what it says of other benchmarks is a guess.")
    away = rows[(rows["part"] == "left_out") & (rows["benchmark"] != ALL)]
    by_chance = away.loc[~(away["p_value"] <= 0.05), "benchmark"]
    return reasons + [
        f"On {name} it is no better than chance: label its items." for name in by_chance
    ]


def curve_points(curve: NDArray[np.float64]) -> str:
    """Return the points of an SVG polyline: recall from left to right, precision upwards."""
    return " ".join(
        f"{recall * _WIDTH:.1f},{(1 - precision) * _HEIGHT:.1f}" for recall, precision in curve
    )


def _row(rows: pd.DataFrame, part: str) -> dict[Any, Any] | None:
    """Return the row of all benchmarks together, or of the only one."""
    of_part = rows[rows["part"] == part]
    whole = of_part[of_part["benchmark"] == ALL]
    chosen = (whole if len(whole) else of_part).to_dict("records")
    return chosen[0] if chosen else None


_TITLES = {
    "held_out": "Held-out items",
    "cross_validation": "Training and held-out items, cross-validated",
    "left_out": "Benchmarks that were not trained on",
    "read_twice": "Items that two annotators read",
}


_LEGEND = (
    "Recall, no doubt: of labels that an annotator was sure of. Between: 95% Wilson intervals. PR "
    "area: of chance it is the share of label 1; ROC area: of chance it is 0.5. Paper: share that "
    "the classifier of WiCkeD flags (Table 5)."
)


def _parts(evaluation: pd.DataFrame) -> list[parts.Section]:
    return [
        parts.Section(
            title, [parts.table_of(of_part.to_dict("records"), _PART_COLUMNS, range(3, 12))]
        )
        for part, title in _TITLES.items()
        if len(of_part := evaluation[evaluation["part"] == part])
    ]


def _between(row: Mapping[Any, Any], name: str) -> parts.Cell:
    bounds = f"{parts.as_share(row, f'{name}_low')} – {parts.as_share(row, f'{name}_high')}"
    return parts.Cell(parts.as_share(row, name), [] if is_missing(row[name]) else [bounds])


_PART_COLUMNS: list[parts.Column] = [
    ("Benchmark", parts.as_text, "benchmark"),
    ("Method", parts.as_words, "method"),
    ("Against", parts.as_text, "against"),
    ("Items", parts.as_count, "n"),
    ("Label 1", parts.as_count, "positives"),
    ("Recall", _between, "recall"),
    ("Recall, no doubt", _between, "recall_sure"),
    ("Precision", _between, "precision"),
    ("Flagged", parts.as_share, "share_flagged"),
    ("PR area", parts.as_metric, "average_precision"),
    ("ROC area", parts.as_metric, "roc_auc"),
    ("Paper flags", parts.as_share, "paper_share"),
]


def _coefficients(classifier: Mapping[str, Any]) -> list[parts.Section]:
    """Return the coefficients of named features, the largest first, without those of vectors."""
    if classifier["kind"] != "embedding":
        return []
    fitted = classifier["logistic"]
    pairs = zip(fitted["features"], fitted["coefficients"], strict=True)
    named = [(name, value) for name, value in pairs if not name.rsplit("_", 1)[-1].isdigit()]
    if not named:
        return []
    records = [
        {"feature": name, "coefficient": value}
        for name, value in sorted(named, key=lambda pair: -abs(pair[1]))
    ]
    columns: list[parts.Column] = [
        ("Feature", parts.as_words, "feature"),
        ("Coefficient", parts.as_metric, "coefficient"),
    ]
    note = "Coefficients per standard deviation; positive ones raise the probability."
    blocks = [parts.Text(note, "quiet"), parts.table_of(records, columns, (1,))]
    return [parts.Section("What speaks for a single best answer", blocks)]
