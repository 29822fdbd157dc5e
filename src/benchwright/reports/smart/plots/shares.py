"""What was removed: by rule and by subject."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    axis,
    clip,
    empty_figure,
    label_above,
    plain,
)
from benchwright.reports.page.plots import NOTES_BESIDE, bars, plot, rows_down

_SUBJECTS = 80  # more bars than this cannot be read


def draw_filter_shares(
    items: pd.DataFrame, kept_items: pd.DataFrame, rule_coverage: pd.DataFrame
) -> Any:
    """Draw what each rule took, and what all rules together took (SMART, Table 1)."""
    n = len(items)
    title = f"Removed by each rule, of {n:,} items (rules can overlap)"
    if rule_coverage.empty:
        return empty_figure(title, "No rule is known.")
    rules = rule_coverage.to_dict("records")
    labels = [plain(rule["rule"].replace("_", " ")) for rule in rules] + ["all rules together"]
    gone = n - len(kept_items)
    removed = [int(rule["removed"]) for rule in rules] + [gone]
    spared = [int(rule["flagged"] - rule["removed"]) for rule in rules] + [0]
    notes = [_note(rule, n) for rule in rules] + [f"{gone:,} · {gone / n:.1%}"]
    colours = [REMOVED] * len(rules) + [KEPT]
    traces = [
        bars(removed, colours, "%{y}: %{x:,} removed", y=labels, name="removed"),
        bars(
            spared,
            QUIET,
            "%{y}: %{x:,} flagged, not removed",
            y=labels,
            name="flagged, not removed",
            marker={"color": QUIET, "opacity": 0.45, "line": {"width": 0}},
            text=notes,
            **NOTES_BESIDE,
        ),
    ]
    widest = max(r + s for r, s in zip(removed, spared, strict=True)) or 1
    narrow = {
        "layout.xaxis.range": [0, 1.7 * widest],
        "layout.xaxis.nticks": 4,
        "data.1.text": [note.split(", ")[0] for note in notes],
    }
    return plot(
        title,
        110 + 34 * len(labels),
        traces,
        barmode="stack",
        bargap=0.35,
        showlegend=any(spared),
        legend={"orientation": "h", "y": -0.16, "x": 0, "traceorder": "normal"},
        xaxis=axis(range=[0, 1.35 * widest], rangemode="tozero", tickformat=",d"),
        yaxis=axis(autorange="reversed", showgrid=False),
        meta={"narrow": narrow},
    )


def draw_subject_shares(subject_shares: pd.DataFrame) -> Any:
    """Draw the share of items that each subject lost (SMART, Table 9)."""
    title = "Share of each subject's items that was removed"
    if subject_shares.empty:
        return empty_figure(title, "There are no items.")
    shown = subject_shares
    if len(shown) > _SUBJECTS:
        half = _SUBJECTS // 2
        shown = pd.concat([shown.head(half), shown.tail(half)])
        title += f" ({half} most and {half} least of {len(subject_shares):,} subjects)"
    counts = zip(shown["n_full"], shown["n_kept"], strict=True)
    whole = (subject_shares["n_full"] - subject_shares["n_kept"]).sum() / subject_shares[
        "n_full"
    ].sum()
    trace = bars(
        shown["share_removed"].tolist(),
        REMOVED,
        "%{customdata}: %{x:.1%} removed (%{text})",
        text=[f"{full:,} → {kept:,}" for full, kept in counts],
        customdata=[plain(subject) for subject in shown["subject"]],
        **NOTES_BESIDE,
    )
    rows = len(shown)
    narrow = {
        "layout.xaxis.range": [0, 1.55],
        "layout.xaxis.tickvals": [0, 0.5, 1],
        "layout.yaxis.ticktext": _subject_labels(shown, 20),
    }
    return plot(
        title,
        110 + 22 * rows,
        [trace],
        bargap=0.3,
        xaxis=axis("", range=[0, 1.22], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%"),
        yaxis=rows_down(_subject_labels(shown, 34), range=[rows - 0.4, -0.6]),
        shapes=[_line(float(whole), rows)],
        annotations=[label_above(float(whole), f"all items {whole:.1%}", KEPT)],
        meta={"top": 26, "narrow": narrow},
    )


def _subject_labels(shown: pd.DataFrame, most: int) -> list[str]:
    names = (clip(str(subject).replace("_", " "), most) for subject in shown["subject"])
    return [plain(name) or "(no subject)" for name in names]


def _line(x: float, rows: int) -> dict[str, Any]:
    return {
        "type": "line",
        "layer": "below",
        "x0": x,
        "x1": x,
        "y0": -0.6,
        "y1": rows - 0.4,
        "line": {"color": KEPT, "dash": "dot", "width": 1.5},
    }


def _note(rule: dict[Any, Any], n: int) -> str:
    if rule["status"] == "off":
        return "off"
    if rule["status"] == "not_run":
        return "not run"
    coverage = f", {rule['judged'] / n:.1%} judged" if rule["not_judged"] else ""
    return f"{rule['removed']:,} · {rule['removed'] / n:.1%}{coverage}"
