"""The card of a classifier: training data, evaluation, and when not to use it."""

from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

from benchwright.methods.wicked.single_best_answer.evaluation import ALL
from benchwright.methods.wicked.single_best_answer.training import describe
from benchwright.reports.page import parts, shapes
from benchwright.reports.page.plot_style import KEPT, REMOVED
from benchwright.reports.page.wording import number, percent

USEFUL_SHARE = 0.5
"""Share of flagged items above which most of the benchmark would stay unaltered."""


def render_card(
    sba_classifier: Mapping[str, Any],
    sba_evaluation: pd.DataFrame,
    sba_labelled_items: pd.DataFrame,
    sba_labels: pd.DataFrame,
) -> str:
    """Render the card: one HTML page that needs no network.

    `sba_labelled_items` have label, probability and split. Items whose split in
    `sba_labels` is `missing` have no text.
    """
    classifier, evaluation = sba_classifier, sba_evaluation
    without = sba_labels[sba_labels["split"] == "missing"]
    missing = without.groupby("benchmark")["item_id"].nunique().to_dict()
    title = "Single-best-answer items: card of the classifier"
    nothing = "The results below give no reason against it on the benchmarks of its training."
    advice = _advice(classifier, evaluation) or [nothing]
    columns = parts.columns(
        "target recall precision share_flagged", ("Threshold", parts.as_metric, "threshold")
    )
    points = classifier["operating_points"]
    thresholds = parts.table_of(points, columns, range(1, 5), "On training items, out of fold")
    curve = _precision_recall(sba_labelled_items)
    sections = [
        parts.Section("When not to use it", [parts.Bullets(advice)]),
        parts.Section("Thresholds", [thresholds]),
        parts.Section("Precision and recall", [parts.Plot("curve_plot")] if curve else []),
        parts.Section("Evaluation", [*_parts(evaluation), parts.Text(_LEGEND, "quiet")]),
    ]
    shown = {"sections": sections, **({"curve_plot": curve} if curve else {})}
    return parts.render_sections(title, title, "", parts.Top("", _lead(classifier, missing)), shown)


def _lead(classifier: Mapping[str, Any], missing: Mapping[Any, int]) -> list[parts.Text]:
    """Describe the classifier, its training data, and labels that were not used."""
    trained_on = classifier["trained_on"]
    what, own = describe(classifier), classifier["kind"] == "hub"
    benchmarks = ", ".join(f"{name} {number(n)}" for name, n in trained_on["benchmarks"].items())
    recall = parts.as_share(classifier, "recall_target")
    lead = [
        f"{what[0].upper()}{what[1:].lower()}. It estimates the probability that an item has a "
        "single best answer: another option is then defensible too, and would be right if “None "
        "of the above” replaced the gold option.",
        f"{'Compared with' if own else 'Trained on'} {number(trained_on['items'])} items, "
        f"{number(trained_on['positives'])} of them with a single best answer ({benchmarks}); "
        f"labels: {trained_on['labels']}. Threshold {parts.as_metric(classifier, 'threshold')}, "
        + ("so its own class decides." if own else f"chosen for a recall of {recall} out of fold."),
    ]
    if missing:
        counts = ", ".join(f"{number(n)} of {name}" for name, n in missing.items())
        lead.append(
            f"Labelled items without text, which were not used: {counts}. `kedro run --namespaces "
            f"ingestion --params benchmark={next(iter(missing))}` reads them; then run `sba` again."
        )
    return [parts.Text(text, code=True) for text in lead]


def _precision_recall(labelled: pd.DataFrame) -> Any:
    """Return precision against recall of the held-out items."""
    from sklearn.metrics import precision_recall_curve

    known = labelled[labelled["split"] == "held_out"]
    labels = known["label"].to_numpy()
    if not labels.any():
        return None
    precision, recall, _ = precision_recall_curve(labels, known["probability"].to_numpy())
    base = float(labels.mean())
    title = (
        "Precision against recall, held-out items; dotted: the chance level, the share of items "
        f"with a single best answer, {percent(base)}"
    )
    return shapes.curves(
        title,
        [shapes.line(recall[-2::-1], precision[-2::-1], KEPT)],
        shapes.Scale("recall", ".0%", (0, 1)),
        shapes.Scale("precision", ".0%", (0, 1)),
        [shapes.Line(base, colour=REMOVED, level=True)],
    )


def _advice(classifier: Mapping[str, Any], evaluation: pd.DataFrame) -> list[str]:
    """List reasons not to use the classifier."""
    reasons: list[str] = []
    own = classifier["kind"] == "hub"
    rows = evaluation[evaluation["method"] == "classifier"]
    kept = _row(rows, "held_out")
    if kept is None:
        return ["No labelled item was held out, so its recall and precision are unknown."]
    share = kept["share_flagged"]
    if share > USEFUL_SHARE:
        lower = "" if own else ", or accept a lower recall (single_best_answer.recall)"
        reasons.append(
            f"At this threshold it flags {share:.0%} of the held-out items, which would stay "
            f"unaltered. Label the items with a capable chat model (labels: judge){lower}."
        )
    low, target = kept["recall_low"], classifier["recall_target"]
    if isnan(low):
        reasons.append("No held-out item has the label 1, so its recall cannot be verified.")
    elif low < target:
        reasons.append(
            f"The target recall is {target:.1%}. With {int(kept['positives'])} held-out items of "
            f"label 1, the 95% interval of the recall starts at {low:.0%}."
        )
    if not kept["p_value"] <= 0.05:
        reasons.append("It ranks items no better than chance: do not use it.")
    trained = classifier["trained_on"]["benchmarks"]
    if not own and trained:
        names = ", ".join(trained)
        reasons.append(f"It was trained on {names} only. It is not validated on other benchmarks.")
    away = rows[(rows["part"] == "left_out") & (rows["benchmark"] != ALL)]
    by_chance = away.loc[~(away["p_value"] <= 0.05), "benchmark"]
    return reasons + [
        f"On {name} it is no better than chance. Label the items instead." for name in by_chance
    ]


def _row(rows: pd.DataFrame, part: str) -> dict[Any, Any] | None:
    """Return the row of all benchmarks together, or of the only benchmark."""
    of_part = rows[rows["part"] == part]
    whole = of_part[of_part["benchmark"] == ALL]
    chosen = (whole if len(whole) else of_part).to_dict("records")
    return chosen[0] if chosen else None


_TITLES = {
    "held_out": "Held-out items",
    "left_out": "Benchmarks left out of training",
}


_LEGEND = (
    "Ranges are 95% Wilson intervals. The chance level of the PR area is the share of label 1."
)


def _parts(evaluation: pd.DataFrame) -> list[parts.Table]:
    return [
        parts.table_of(of_part.to_dict("records"), _PART_COLUMNS, range(3, 9), title)
        for part, title in _TITLES.items()
        if len(of_part := evaluation[evaluation["part"] == part])
    ]


_PART_COLUMNS: list[parts.Column] = [
    ("Benchmark", parts.as_text, "benchmark"),
    ("Method", parts.as_words, "method"),
    ("Against", parts.as_text, "against"),
    ("Items", parts.as_count, "n"),
    ("Label 1", parts.as_count, "positives"),
    ("Recall", parts.as_bounded_share, "recall"),
    ("Precision", parts.as_bounded_share, "precision"),
    ("Flagged", parts.as_share, "share_flagged"),
    ("PR area", parts.as_metric, "average_precision"),
]
