"""The page about what models remember, and the sentences of its headline."""

from typing import Any

import pandas as pd

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.params.scoring import ScoringParams
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
from benchwright.reports.page.provenance import Fact, benchmark_facts, provenance_section
from benchwright.reports.page.provenance import settings as facts_of
from benchwright.reports.page.wording import is_missing, number, percent, rows_of

_NAMED = 3  # models in a headline


def write_headline(memorisation_summary: pd.DataFrame) -> list[str]:
    """Write a sentence for each model that remembers items, or that none does.

    If none does, a second sentence gives the share that would have gone unnoticed.
    """
    rows = rows_of(memorisation_summary)
    remembering = sorted(
        (row for row in rows if row["remembers"]), key=lambda row: (-row["fuzzy"], row["model"])
    )
    if remembering:
        more = len(remembering) - _NAMED
        rest = [f"So {'does 1 more' if more == 1 else f'do {more:,} more'}."] if more > 0 else []
        return [*map(_remembers, remembering[:_NAMED]), *rest]
    if not any(row["compared"] for row in rows):
        return ["Nothing can be said: no item has another one of its subject to compare with."]
    beyond = "the options of these items beyond what it writes of other items'"
    who = "No model remembers" if len(rows) > 1 else f"{rows[0]['model']} does not remember"
    return [f"{who} {beyond}.", _unseen(rows)]


def _remembers(row: dict[Any, Any]) -> str:
    return (
        f"{row['model']} writes all options of {row['fuzzy']:.1%} of items in place "
        f"[{row['fuzzy_low']:.1%}, {row['fuzzy_high']:.1%}], of another item of the subject "
        f"{row['control_whole']:.1%}."
    )


def _unseen(rows: list[dict[Any, Any]]) -> str:
    widest = max(rows, key=lambda row: row["fuzzy_high"])
    counts = sorted({row["items"] for row in rows})
    items = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"
    return (
        f"With {items} items, up to {widest['fuzzy_high']:.1%} remembered whole would still agree "
        "with what was seen."
    )


def format_test(row: dict[Any, Any]) -> str:
    """Describe the test of one model: the two counts and the corrected p-value."""
    if is_missing(row["p_holm"]):
        return str(row["reason"])
    p = "p < 0.0001" if row["p_holm"] < 1e-4 else f"p = {row['p_holm']:.4f}"
    return f"{row['item_only']:,} items whole against {row['control_only']:,} controls, {p}"


_METHOD = (
    "Each model sees a question and `A.`, and nothing of the options. What it writes is cut at "
    "`B.`, `C.` and so on, and held against the options of the item, place by place. An option is "
    "verbatim where it is the same text, and similar from {fuzzy} of 100 on. An item is whole "
    "where all its options are in place.",
    "Options can be guessed. So the same reply is also held against another item of the same "
    "subject with as many, but other, options: the control. A model remembers where it writes "
    "items whole more often than controls: McNemar's exact test, one-sided, p corrected over all "
    "models (Holm), below {alpha}.",
)
_ITEMS_HEAD = (
    *("Model", "Items", "Whole, verbatim", "Whole, similar", "Control whole"),
    *("Test", "Remembers"),
)
_OPTIONS_HEAD = (
    *("Model", "In place, verbatim", "In place, similar", "In any place"),
    *("The control's, in place", "Difference"),
)
_READING = (
    "The difference of single options is no evidence by itself: who knows the topic guesses some "
    "options of the item, and fewer of another one's. The test is of whole items.",
    "In a random order, options in place would be those in any place divided by their number. A "
    "model that knows the items writes them in their order: both shares are then nearly equal.",
    "A reply is at most {recall} tokens long. One that is cut off cannot be whole; raise "
    "`scoring.generation.recall_tokens` for long options.",
    "A model that was trained to converse may explain instead of going on. “With options” counts "
    "replies that hold any text where an option is expected.",
    "Writing no item whole does not prove that a model never saw them: it can know answers "
    "without reciting.",
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
                "What was done",
                [Text(text.format(**values), code=True) for text in _METHOD],
                "method",
            ),
            Section("What is remembered", _result(rows, settings.level), "result"),
            Section("How to read it", [Bullets([t.format(**values) for t in _READING])], "reading"),
            Section("Examples", _examples(memorisation_examples), "examples"),
            provenance_section(
                "What was asked",
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
            "Shares of items whose options are all written in place, with intervals of "
            f"{level:.0%}, and the test against the control",
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
        Table(
            "Shares of options, whole items or not; difference: in place minus the control's, on "
            "items that have one",
            _OPTIONS_HEAD,
            [
                [
                    row["model"],
                    *(
                        percent(row[name])
                        for name in ("options_exact", "options_fuzzy", "any_order", "control_fuzzy")
                    ),
                    _bounded({**row, "difference_low": row["low"], "difference_high": row["high"]}),
                ]
                for row in shown
            ],
            numbers=range(1, 6),
        ),
        *cut_note(len(rows), "memorisation_summary"),
    ]


def _bounded(row: dict[Any, Any], name: str = "difference", *more: str) -> Cell:
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
    label = f"Options of {item['item_id']} and what was written in their places"
    reply = Question(item["reply"] or "(nothing)")
    return Article(
        item["item_id"],
        [
            Question(item["question"]),
            Table(label, ("", "The item's option", "Written", "Match"), options),
            Folded("The reply as it came", [reply]),
        ],
    )
