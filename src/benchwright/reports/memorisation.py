"""What models remember of a benchmark: plot, headline and page."""

from typing import Any

import pandas as pd

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.params.scoring import ScoringParams
from benchwright.reports.page import shapes
from benchwright.reports.page.parts import (
    LONGEST_TABLE,
    Article,
    Bullets,
    Cell,
    Folded,
    Page,
    Plot,
    Question,
    Section,
    Table,
    Text,
    cut_note,
    render_page,
)
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, distinct_names
from benchwright.reports.page.provenance import Fact, benchmark_facts, provenance_section
from benchwright.reports.page.provenance import settings as facts_of
from benchwright.reports.page.shapes import Panel, Scale, dots, nothing
from benchwright.reports.page.wording import count, is_missing, number, percent, rows_of

_PARTS = (
    ("exact", "all options verbatim", REMOVED, "diamond", -0.22),
    ("fuzzy", "all options similar", KEPT, "circle", 0.0),
    ("control_whole", "all options of the control similar", QUIET, "circle-open", 0.22),
)
_MOST = 60  # models beyond this are in the table alone


def plot_memorisation(memorisation_summary: pd.DataFrame, settings: MemorisationParams) -> Any:
    """Draw the shares of items and controls that each model completes, with intervals."""
    title = f"Items with all options written in place, with {settings.level:.0%} intervals"
    if memorisation_summary.empty:
        return nothing(title, "No model wrote options.")
    table = memorisation_summary.sort_values(["fuzzy", "exact", "model"], ascending=[False] * 3)
    table = table.reset_index(drop=True)
    if len(table) > _MOST:
        title += f"; the {_MOST} highest of {len(table):,} models"
        table = table[:_MOST]
    names = distinct_names([str(model) for model in table["model"]])
    traces = []
    for column, words, colour, symbol, lane in _PARTS:
        own = table[table[column].notna()]
        share, low, high = (own[f"{column}{end}"] for end in ("", "_low", "_high"))
        hover = [
            f"{names[row]}, {words}: {value:.1%} [{below:.1%}, {above:.1%}]"
            for row, value, below, above in zip(own.index, share, low, high, strict=True)
        ]
        places = own.index + lane
        traces.append(
            dots(share, places, colour, words, hover=hover, across=(low, high), symbol=symbol)
        )
    across = Scale("share of items", ".1%", zero=True)
    return shapes.rows(title, names, Panel(traces, across), row=46)


_NAMED = 3  # models in a headline


def write_headline(memorisation_summary: pd.DataFrame) -> list[str]:
    """Write a sentence for each model that remembers items, or that none does.

    If none does, a second sentence gives the largest share compatible with the results.
    """
    rows = rows_of(memorisation_summary)
    remembering = sorted(
        (row for row in rows if row["remembers"]), key=lambda row: (-row["fuzzy"], row["model"])
    )
    if remembering:
        more = len(remembering) - _NAMED
        verb = "remembers" if more == 1 else "remember"
        rest = [f"{count(more, 'more model')} {verb} items."] if more > 0 else []
        return [*map(_remembers, remembering[:_NAMED]), *rest]
    if not any(row["compared"] for row in rows):
        return ["No conclusion: no item has a control item of the same subject."]
    who = "No model writes" if len(rows) > 1 else f"{rows[0]['model']} does not write"
    beyond = "all options of its items significantly more often than those of control items"
    return [f"{who} {beyond}.", _upper_bound(rows)]


def _remembers(row: dict[Any, Any]) -> str:
    return (
        f"{row['model']} writes all options in place for {row['fuzzy']:.1%} of items "
        f"[{row['fuzzy_low']:.1%}, {row['fuzzy_high']:.1%}] and {row['control_whole']:.1%} of "
        "control items."
    )


def _upper_bound(rows: list[dict[Any, Any]]) -> str:
    widest = max(rows, key=lambda row: row["fuzzy_high"])
    counts = sorted({row["items"] for row in rows})
    items = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"
    return (
        f"With {items} items, a rate of up to {widest['fuzzy_high']:.1%} is compatible with these "
        "results."
    )


def format_test(row: dict[Any, Any]) -> str:
    """Describe the test of one model: the two counts and the corrected p-value."""
    if is_missing(row["p_holm"]):
        return str(row["reason"])
    p = "p < 0.0001" if row["p_holm"] < 1e-4 else f"p = {row['p_holm']:.4f}"
    return f"{row['item_only']:,} items against {row['control_only']:,} controls, {p}"


_METHOD = (
    "Each model sees a question and `A.`, without the options. Its reply is split at `B.`, `C.` "
    "and so on, and compared with the options of the item, place by place. An option matches "
    "verbatim if the texts are equal, and is similar at a similarity of at least {fuzzy} of 100. "
    "An item is complete if all its options are in place.",
    "Models can guess options. The same reply is therefore compared with a control: another item "
    "of the same subject with the same number of different options. A model remembers items if it "
    "completes them significantly more often than their controls (one-sided exact McNemar test, "
    "p corrected by Holm over all models, below {alpha}).",
)
_ITEMS_HEAD = (
    *("Model", "Items", "Complete, verbatim", "Complete, similar", "Control complete"),
    *("Test", "Remembers"),
)
_READING = (
    "A reply has at most {recall} tokens. A truncated reply cannot complete an item; raise "
    "`scoring.generation.recall_tokens` for long options.",
    "A chat model may explain instead of continuing the list. “With options” counts the items "
    "with a reply that has text where an option is expected.",
    "A model that completes no item may still have seen the items: it can know answers without "
    "reciting options.",
)
_SOURCE = (
    "Zhao et al. (2024), MMLU-CF: A Contamination-free Multi-task Language Understanding "
    "Benchmark, Figure 1."
)


def render_memorisation_page(
    ingestion: BenchmarkParams,
    variant: str,
    settings: MemorisationParams,
    scoring: ScoringParams,
    seed: int,
    memorisation_summary: pd.DataFrame,
    memorisation_examples: list[dict[str, Any]],
    memorisation_plot: Any,
) -> str:
    """Render one HTML page that needs no network; texts of items and replies are escaped.

    The same inputs give the same bytes.
    """
    first, *more = write_headline(memorisation_summary)
    rows = sorted(rows_of(memorisation_summary), key=lambda row: (-row["fuzzy"], row["model"]))
    recall = scoring.generation.recall_tokens
    values = {"fuzzy": number(settings.fuzzy), "alpha": settings.alpha, "recall": recall}
    page = Page(
        f"{ingestion.title}: memorisation",
        ingestion.title,
        [
            Section(
                "Method",
                [Text(text.format(**values), code=True) for text in _METHOD],
                "method",
            ),
            Section("Results", _result(rows, settings.level), "result"),
            Section("Interpretation", [Bullets([t.format(**values) for t in _READING])], "reading"),
            Section("Examples", _examples(memorisation_examples), "examples"),
            provenance_section(
                "Test",
                benchmark_facts(ingestion, variant, seed, []),
                "probe",
                [
                    *facts_of("memorisation", settings),
                    Fact("scoring.configurations", ", ".join(scoring.configurations)),
                    Fact("scoring.generation.recall_tokens", str(recall)),
                ],
                _SOURCE,
            ),
        ],
        kicker=f"Memorisation · variant {variant}",
        headline=first,
        lead=[Text(sentence, "judgement") for sentence in more],
        plots={"memorisation": memorisation_plot},
    )
    return render_page(page)


def _result(rows: list[dict[Any, Any]], level: float) -> list[Any]:
    shown = rows[:LONGEST_TABLE]
    return [
        Plot("memorisation"),
        Table(
            f"Shares of items with all options in place, with {level:.0%} intervals, and the test "
            "against the control",
            _ITEMS_HEAD,
            [
                [
                    row["model"],
                    Cell(number(row["items"]), [f"{number(row['with_options'])} with options"]),
                    _bounded(row, "exact"),
                    _bounded(row, "fuzzy"),
                    _bounded(row, "control_whole", f"of {number(row['compared'])}"),
                    format_test(row),
                    "yes" if row["remembers"] else "no",
                ]
                for row in shown
            ],
            numbers=range(1, 5),
        ),
        *cut_note(len(rows), "memorisation_summary"),
    ]


def _bounded(row: dict[Any, Any], name: str, *more: str) -> Cell:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    bounds = [] if low is None else [f"[{percent(low)}, {percent(high)}]"]
    return Cell(percent(row[name]), [*bounds, *more])


def _examples(memorisation_examples: list[dict[str, Any]]) -> list[Any]:
    blocks: list[Any] = []
    for model in memorisation_examples:
        for place, kind in enumerate(model["kinds"]):
            if place == 0:
                blocks.append(Text(model["model"], "heading"))
            blocks.append(
                Folded(
                    f"{kind['title']}: {len(kind['items'])}",
                    [_example(item) for item in kind["items"]],
                    open=place == 0 and len(memorisation_examples) <= 3,
                )
            )
    return blocks or [Text("None: `memorisation.examples` is 0.", code=True)]


def _example(item: dict[str, Any]) -> Article:
    options = [
        [option["label"], option["choice"], option["written"] or "—", option["match"] or "—"]
        for option in item["options"]
    ]
    label = f"Options of {item['item_id']} and the text written in their places"
    reply = Question(item["reply"] or "(nothing)")
    return Article(
        item["item_id"],
        [
            Question(item["question"]),
            Table(label, ("", "The item's option", "Written", "Match"), options),
            Folded("Full reply", [reply]),
        ],
    )
