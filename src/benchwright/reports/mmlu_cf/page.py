"""The construction report: what each table says, in sections, and the page that joins them."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import ParseRate, SampleByDifficulty, Steps
from benchwright.params.mmlu_cf import (
    CheckingParams,
    FieldsParams,
    LeakageParams,
    SamplingByDifficultyParams,
    SealingParams,
    SplittingParams,
)
from benchwright.reports.mmlu_cf.findings import (
    describe_leaks,
    describe_rating_shift,
    percent,
)
from benchwright.reports.mmlu_cf.judges import replies_table, show_agreement
from benchwright.reports.page.parts import (
    LONGEST_TABLE,
    Cell,
    Folded,
    Page,
    Plot,
    Question,
    Section,
    Table,
    Text,
    Top,
    cut_note,
    render_page,
)
from benchwright.reports.page.provenance import Fact, provenance_section, settings
from benchwright.reports.page.wording import (
    count,
    joined,
    number,
    p_value,
    rows_of,
    words_of,
)

_HIDDEN = {"sealing.key_file", "sealing.key_env"}
_METHOD = (
    "Zhao et al. (2024), MMLU-CF: A Contamination-free Multi-task Language Understanding Benchmark."
)
_MEASURES = {
    "recall": "labelled questions extracted with their answer (recall)",
    "recall_exact": "extracted with their answer, exact text",
    "found": "labelled questions extracted, with any answer",
    "precision": "extracted questions that match a label (precision)",
    "precision_all_documents": "precision if all questions of unlabelled documents are wrong",
    "answers": "extracted questions with the labelled answer",
    "without_answer": "labelled without an answer, extracted without one",
    "broken": "labelled as broken, not extracted as usable",
    "explanations": "explanations that match the label",
    "passages": "passages that match the label",
}
_VERDICTS = {
    "certain": "same question (similarity)",
    "same_words": "same question (common words)",
    "judged_same": "same question (judge)",
    "other_words": "different questions (common words)",
    "judged_different": "different questions (judge)",
}
_REASONS = {
    "good": "kept: mean rating above the bound, no harm",
    "low_rating": "removed: mean rating not above the bound",
    "low_criterion": "removed: a criterion below the floor",
    "harmful": "removed: harmful",
    "unjudged": "not judged",
}
_SOURCES = {
    "judges": "rated by judges",
    "responses": "from models' responses",
    "not_judged": "unknown",
}

Row = dict[Any, Any]


def render_construction_report(
    variant: str, sealing: SealingParams, construction_top: Top, **shown: Any
) -> str:
    """Render the report of a benchmark made from documents: one HTML page that needs no network.

    The page shows no text of a closed question and no id of any. The same inputs give the same
    bytes. `shown` are lists of sections in the order of the page, and plots by name.
    """
    page = Page(
        f"{sealing.name}: construction ({variant})",
        sealing.name,
        [section for part in shown.values() if isinstance(part, list) for section in part],
        kicker=f"A benchmark made from documents · variant {variant}",
        headline=construction_top.headline,
        lead=construction_top.lead,
        notes=construction_top.notes,
        plots={name: plot for name, plot in shown.items() if name.endswith("_plot")},
    )
    return render_page(page)


def show_construction_provenance(variant: str, seed: int, **sections: Any) -> list[Section]:
    """Show the settings of every step, by the section of the parameters."""
    # Kedro would convert each section to the type of an annotation, hence `Any`.
    name = sections["sealing"].model_dump()["name"]
    facts = [Fact("Benchmark", name), Fact("Variant", variant), Fact("Seed", str(seed))]
    used = [fact for section, params in sections.items() for fact in settings(section, params)]
    known = [fact for fact in used if fact.name not in _HIDDEN]
    return [provenance_section("Benchmark", facts, "steps", known, _METHOD)]


def show_construction_documents(
    construction_steps: Steps,
    documents_read: pd.DataFrame,
    extraction_measures: pd.DataFrame,
    cleaning_funnel: pd.DataFrame,
    cleaning_reasons: pd.DataFrame,
) -> list[Section]:
    """Show the steps, the documents and their extraction, and the effect of the cleaning rules."""
    steps = construction_steps
    text = (
        "Questions are extracted from documents, cleaned, classified by field, rated by "
        "difficulty, sampled under quotas, checked, altered by the contamination-free rules, and "
        "split into a public half and an encrypted, closed half (MMLU-CF, section 3.2)."
    )
    reasons: dict[str, list[str]] = {}
    for row in cleaning_reasons.to_dict("records"):
        reasons.setdefault(str(row["rule"]), []).append(f"{row['reason']} {row['rows']:,}")
    rules = [
        [
            row["rule"].replace("_", " "),
            number(row["rows_in"]),
            number(row["changed"]) if row["kind"] == "rewrite" else "",
            number(row["rejected"]) if row["kind"] == "reject" else "",
            "; ".join(reasons.get(row["rule"], [])),
        ]
        for row in rows_of(cleaning_funnel)
    ]
    head = ("Rule", "In", "Rewritten", "Rejected", "Reasons, or rewritten columns")
    table = Table("Effect of each rule, in order", head, rules, (1, 2, 3))
    cleaning = [
        Plot("cleaning_funnel_plot"),
        Folded(f"Table of {count(len(rules), 'rule')}, with reasons", [table]),
    ]
    return [
        Section("Step by step", [Text(text), Plot("construction_funnel_plot")], "steps"),
        Section(
            "Documents and extraction",
            [_extraction(extraction_measures), Plot("domains_plot"), _files(documents_read, steps)],
            "documents",
        ),
        Section("Cleaning", cleaning if rules else [Text("No rule ran.")], "cleaning"),
    ]


def _extraction(extraction_measures: pd.DataFrame) -> Text | Folded:
    if extraction_measures.empty:
        return Text("No document is labelled, so the quality of extraction is unknown.")
    rows = [
        [
            f"recall of {row['style'].replace('_', ' ')}"
            if row["style"]
            else words_of(_MEASURES, row["measure"]),
            number(row["hits"]),
            number(row["of"]),
            _bounded(row["share"], row["low"], row["high"]),
        ]
        for row in rows_of(extraction_measures)
    ]
    head = ("Measure", "Hits", "Of", "Share")
    table = Table("Extracted and labelled questions, with 95% intervals", head, rows, (1, 2, 3))
    return Folded("Agreement with the labels, and recall by layout", [table])


def _files(documents_read: pd.DataFrame, steps: Steps) -> Folded:
    rows = [
        [PurePath(row["file"]).name, *(number(row[name]) for name in _COUNTED)]
        for row in rows_of(documents_read.head(LONGEST_TABLE))
    ]
    head = ("File", "Documents", "Skipped (no options)", "Unreadable")
    note = cut_note(len(documents_read), "documents_read")
    summary = f"{count(len(documents_read), 'file')} of documents"
    table = Table("Documents read from each file", head, rows, (1, 2, 3))
    return Folded(summary, [table, *note], open=steps.unreadable > 0)


_COUNTED = ("documents", "skipped", "unreadable")


def show_construction_fields(
    field_counts: pd.DataFrame, field_accuracy: pd.DataFrame, fields: FieldsParams
) -> list[Section]:
    """Show the questions and the accuracy of each field."""
    labelled = field_accuracy[field_accuracy["field"] != ""].drop_duplicates("field")
    right = {row["field"]: row for row in rows_of(labelled)}
    unknown = dict.fromkeys(("recall", "low", "high"))
    rows = []
    for row in rows_of(field_counts):
        if not row["field"] and not row["items"]:
            continue
        accuracy = right.get(row["field"], unknown)
        rows.append(
            [
                row["field"] or "no field",
                *(number(row["items"]), number(row["domains"]), number(row["confidence"], 2)),
                _bounded(accuracy["recall"], accuracy["low"], accuracy["high"]),
            ]
        )
    by = "Judges" if fields.by == "judges" else "A classifier on sentence vectors"
    text = f"{by} assigned a field to each question. Recall is measured on labelled questions."
    head = ("Field", "Clean", "Domains", "Mean confidence", "Recall")
    table = Table("Questions by field", head, rows, range(1, 5))
    return [Section("Fields", [Text(text), Plot("field_halves_plot"), table], "fields")]


def show_construction_difficulty(
    construction_steps: Steps,
    sample_by_difficulty: SampleByDifficulty,
    checking_counts: Mapping[str, Any],
    rating_shift: Mapping[str, Any],
    sampling_by_difficulty: SamplingByDifficultyParams,
) -> list[Section]:
    """Show the levels of difficulty, and the sample with its strata."""
    steps, sample, settings_of = construction_steps, sample_by_difficulty, sampling_by_difficulty
    if sample.known:
        share = (
            "equal numbers of questions per field"
            if settings_of.fields == "equal"
            else "the field shares of the clean questions"
        )
        sources = [
            f"{n:,} {words_of(_SOURCES, name)}" for name, n in checking_counts["sources"].items()
        ]
        text = (
            f"Levels run from 0 to 9; {percent(sample.known)} of the clean questions have one "
            f"({', '.join(sources)}). The sample aims at a normal distribution with mean "
            f"{settings_of.mean:.1f} and standard deviation {settings_of.sd:.1f}, and at {share} "
            "(MMLU-CF, Figures 4 and 8)."
        )
        blocks: list[Any] = [Text(text), Plot("difficulty_levels_plot")]
    else:
        text = (
            "No question has a level of difficulty, because no judge was asked or no reply was "
            "readable. The sample takes only fields, domains and explanations into account."
        )
        blocks = [Text(text)]
    if shift := describe_rating_shift(rating_shift):
        blocks += [Text("After the contamination-free rules", "heading"), Text(shift)]
    short, final = sample.short, sample.final_short
    have = "stratum has" if short.strata == 1 else "strata have"
    filled = (
        f"{short.strata:,} {have} too few questions ({short.missing:,} missing in total); "
        "neighbouring levels fill the gap."
        if short.missing
        else "Every stratum reached its target."
    )
    text = (
        f"{short.sampled:,} of {short.size:,} requested questions were sampled. The number of "
        f"domains is {steps.sampled_domains:,} in the sample and {steps.final_domains:,} in the "
        f"{steps.final:,} final questions, of which {steps.explained:,} have an explanation. "
        f"{filled}"
    )
    blocks += [Text("The sample", "heading"), Text(text), Plot("strata_plot")]
    if final is not None:
        text = (
            f"{final.sampled:,} of {final.size:,} requested questions were sampled from the "
            f"{steps.checked:,} that passed the check, under the same quotas."
        )
        blocks += [Text("The final sample", "heading"), Text(text), Plot("final_strata_plot")]
    return [Section("Difficulty and sample", blocks, "difficulty")]


def show_construction_judges(
    construction_steps: Steps,
    checking_counts: Mapping[str, Any],
    checking: CheckingParams,
    judge_parse_rates: Sequence[ParseRate],
    judge_agreement: pd.DataFrame,
) -> list[Section]:
    """Show the decisions of the check, the replies of the judges and their agreement."""
    checked = any(rate.task == "checking" for rate in judge_parse_rates)
    decided = {_REASONS.get(name, name): n for name, n in checking_counts["reasons"].items()}
    for name, n in checking_counts["harms"].items():
        decided[f"harm flagged: {name.replace('_', ' ')}"] = n
    sampled = construction_steps.sampled
    rows = [
        [what, number(n), percent(n / sampled) if sampled else "—"] for what, n in decided.items()
    ]
    head = ("Decision", "Questions", "Share")
    table = Table("Decisions on the sampled questions", head, rows, (1, 2))
    none = "No judge checked the questions, so all were kept."
    judges: list[Any] = [Text("No judge was asked.")]
    if judge_parse_rates:
        text = (
            "A reply in another format than the requested one is unreadable, and the judge is "
            "asked again."
        )
        replies = replies_table(judge_parse_rates)
        judges = [Text(text), replies, *show_agreement(judge_agreement)]
    return [
        Section("Checking", [Text(_rule(checking) if checked else none), table], "checking"),
        Section("Judges", judges, "judges"),
    ]


def _rule(checking: CheckingParams) -> str:
    overall = checking.ask == "overall"
    ratings = (
        "Judges give one rating from 1 to 5 for clarity, logic, facts and options,"
        if overall
        else "Judges rate clarity, logic, facts and options from 1 to 5"
    )
    bounds = [f"its mean rating is above {checking.above:.1f}"]
    if not overall:
        bounds.append(f"the mean of no criterion is below {checking.floor:.1f}")
    flags = "no judge flags" if checking.harmful == "any" else "at most half of the judges flag"
    unjudged = "kept" if checking.unjudged == "keep" else "removed"
    return (
        f"{ratings} and flag harms. A question is kept if "
        f"{joined([*bounds, f'{flags} a harm'])}. Unjudged questions are {unjudged}."
    )


def show_construction_halves(
    rule_counts: Mapping[str, Any],
    half_distances: pd.DataFrame,
    leak_counts: pd.DataFrame,
    construction_steps: Steps,
    splitting: SplittingParams,
) -> list[Section]:
    """Show the effect of the contamination-free rules and the distance between the halves."""
    leaks = describe_leaks(construction_steps.leaks)
    return [
        Section("Contamination-free rules", _rules(rule_counts), "rules"),
        Section(
            "Two halves",
            [*_distances(half_distances), *_leaks(leaks, leak_counts, splitting.leakage)],
            "halves",
        ),
    ]


def _rules(rule_counts: Mapping[str, Any]) -> list[Any]:
    if not rule_counts["rules"]:
        return [Text("No rule was applied.")]
    rows = []
    for name, counts in rule_counts["rules"].items():
        total, altered = sum(counts.values()), int(counts.get("altered", 0))
        others = sorted(counts.items(), key=lambda reason: (-reason[1], reason[0]))
        copied = [f"{why.replace('_', ' ')} {n:,}" for why, n in others if why != "altered"]
        share = percent(altered / total) if total else "—"
        rows.append([name.replace("_", " "), number(altered), share, "; ".join(copied)])
    text = (
        "These rules are applied once to each question. A rule leaves a question unchanged if the "
        "result would have no correct option, or two."
    )
    label = "Questions altered by each rule, and reasons for leaving others unchanged"
    blocks = [Text(text), Table(label, ("Rule", "Altered", "Share", "Unchanged"), rows, (1, 2))]
    if checks := rule_counts["rephrase_checks"]:
        failed = [[check.replace("_", " "), number(n)] for check, n in sorted(checks.items())]
        blocks.append(Table("Rejected wordings, by check", ("Check", "Wordings"), failed, (1,)))
    return blocks


def _distances(half_distances: pd.DataFrame) -> list[Any]:
    if half_distances.empty:
        return [Text("There are no halves to compare.")]
    rows = []
    for row in rows_of(half_distances):
        distance, notes = row["total_variation"], [row["reason"]] if row["reason"] else []
        if distance is not None and distance > (row["chance_95"] or 0):
            notes.append("more than chance")
        values = [number(row[name], 3) for name in ("expected", "chance_95", "ks")]
        rows.append(
            [Cell(row["attribute"], notes), number(distance, 3), *values, p_value(row["p_value"])]
        )
    text = (
        "The halves are matched, so they should differ less than random halves. Total variation is "
        "the share of questions that would have to change field or level to make them equal."
    )
    head = ("Attribute", "Total variation", "Random halves, mean", "95th percentile", "KS", "p")
    label = "Distance between the halves, compared with random halves of the same questions"
    return [Text(text), Table(label, head, rows, range(1, 6))]


def _leaks(found: str, leak_counts: pd.DataFrame, leakage: LeakageParams) -> list[Any]:
    ordered = sorted(rows_of(leak_counts), key=lambda row: (-row["pairs"], row["verdict"]))
    rows = [
        [
            words_of(_VERDICTS, row["verdict"]),
            *(number(row[name]) for name in ("pairs", "moved", "removed", "left")),
        ]
        for row in ordered
    ]
    head = ("Verdict", "Pairs", "Moved", "Questions removed", "Left")
    note = (
        f"Pairs with a cosine similarity of at least {leakage.candidate} are compared. Pairs with "
        f"at least {leakage.certain} and the same numbers in both texts count as the same "
        "question. The thresholds are not calibrated on labelled pairs."
    )
    table = Table("Similar questions across the halves", head, rows, range(1, 5))
    title = Text("The same question in both halves", "heading")
    return [title, Text(found), *([table] if rows else []), Text(note, "quiet")]


def show_public_half(
    construction_steps: Steps, public_half: Mapping[str, list[Row]]
) -> list[Section]:
    """Show questions of the public half, and what is published."""
    examples = [
        Folded(
            field,
            [Question(item["question"], item["choices"], item["answer"]) for item in questions],
        )
        for field, questions in public_half.items()
    ]
    note = Text("At most three random questions of each field.", "quiet")
    steps = construction_steps
    sealed = (
        f"{steps.public:,} questions are public (`validation.jsonl`) and {steps.closed:,} are "
        "encrypted (`test.sealed`). Tables identify closed questions by keyed ids only. This page "
        "shows no closed question and no id. Publishing the documents reveals the questions as "
        "they were before the rules."
    )
    return [
        Section("Questions of the public half", [*examples, note], "examples"),
        Section("Published and encrypted files", [Text(sealed, code=True)], "sealed"),
    ]


def _bounded(share: Any, low: Any, high: Any) -> Cell:
    if share is None:
        return Cell("—")
    return Cell(percent(share), [] if low is None else [f"[{percent(low)}, {percent(high)}]"])
