"""The construction report: what each table says, in sections, and the page that joins them."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.core.wording import (
    number,
    percent,
    rows_of,
    words_of,
)
from benchwright.methods.mmlu_cf.construction_steps import Steps
from benchwright.params.mmlu_cf import SamplingByDifficultyParams, SealingParams
from benchwright.reports.mmlu_cf.judges import replies_table, show_agreement
from benchwright.reports.page.parts import (
    Column,
    Folded,
    Plot,
    Question,
    Section,
    Table,
    Text,
    as_bounded_share,
    as_count,
    as_metric,
    as_text,
    as_words,
    columns,
    render_sections,
    table_of,
)
from benchwright.reports.page.provenance import MMLU_CF, provenance_section
from benchwright.reports.verdict import Verdict

_VERDICTS = {
    "certain": "same question (similarity)",
    "same_words": "same question (common words)",
    "judged_same": "same question (judge)",
    "other_words": "different questions (common words)",
    "judged_different": "different questions (judge)",
}
_REASONS = {
    "good": "kept",
    "low_rating": "removed: mean rating not above the bound",
    "harmful": "removed: harmful",
    "unjudged": "not judged",
}

Row = dict[Any, Any]


def render_construction_report(
    variant: str, sealing: SealingParams, construction_verdict: Verdict, **shown: Any
) -> str:
    """Render the page; it shows no closed question and no id of any."""
    window = f"{sealing.name}: construction ({variant})"
    kicker = f"A benchmark made from documents · variant {variant}"
    return render_sections(window, sealing.name, kicker, construction_verdict, shown)


def show_construction_provenance(variant: str, seed: int, **sections: Any) -> list[Section]:
    """Show the settings of every step, by the section of the parameters."""
    # Kedro would convert each section to the type of an annotation, hence `Any`.
    name = sections["sealing"].name
    facts = [("Benchmark", name), ("Variant", variant), ("Seed", str(seed))]
    return [provenance_section(facts, f"{MMLU_CF}.", **sections)]


def show_construction_documents(
    extraction_measures: pd.DataFrame, cleaning_funnel: pd.DataFrame
) -> list[Section]:
    """Show the steps and the extraction, and what the cleaning rules rejected."""
    text = (
        "Questions are extracted from documents, cleaned, classified by field, rated by "
        "difficulty, sampled under quotas, checked, altered by the contamination-free rules, and "
        "split into a public half and an encrypted, closed half (MMLU-CF, section 3.2)."
    )
    label = "Extracted and labelled questions, with 95% intervals"
    names: list[Column] = [
        ("Measure", as_words, "measure"),
        ("Layout", as_words, "style"),
        *columns("hits of", ("Share", as_bounded_share, "share")),
    ]
    measures = table_of(rows_of(extraction_measures), names, (2, 3, 4), label)
    label = "Questions before and after each rule"
    names = [("Rule", as_words, "rule"), *columns("kind rows_in rejected changed rows_out")]
    rules = table_of(rows_of(cleaning_funnel), names, label=label)
    note = "The datasets `domain_counts` and `cleaning_reasons` have domains and reasons."
    cleaning = [rules, Text(note, "quiet")]
    return [
        Section("Step by step", [Plot("construction_funnel_plot"), Text(text)], "steps"),
        Section("Extraction", [measures], "documents"),
        Section(
            "Cleaning", cleaning if len(cleaning_funnel) else [Text("No rule ran.")], "cleaning"
        ),
    ]


def show_construction_fields(
    field_counts: pd.DataFrame, public_split_assignment: pd.DataFrame
) -> list[Section]:
    """Show the questions of each field, also in each half."""
    halves = pd.crosstab(public_split_assignment["field"], public_split_assignment["half"])
    halves = halves.reindex(columns=["validation", "test"], fill_value=0).reset_index()
    used = field_counts[field_counts["field"].ne("") | field_counts["items"].gt(0)]
    by_field: list[Column] = [
        ("Field", as_text, "field"),
        ("Clean", as_count, "items"),
        ("Domains", as_count, "domains"),
        ("Public half", as_count, "validation"),
        ("Closed half", as_count, "test"),
        ("Mean confidence", as_metric, "confidence"),
    ]
    table = table_of(rows_of(used.merge(halves, "left", "field")), by_field)
    return [Section("Fields", [table], "fields")]


def show_construction_difficulty(
    construction_steps: Steps,
    checking_counts: Mapping[str, Any],
    sampling_by_difficulty: SamplingByDifficultyParams,
) -> list[Section]:
    """Show the levels of difficulty, and the sample."""
    steps = construction_steps
    target = sampling_by_difficulty
    blocks: list[Any] = []
    if steps.rated:
        sources = [f"{n:,} {words_of({}, name)}" for name, n in checking_counts["sources"].items()]
        text = (
            f"Levels run from 0 to 9; those of the clean questions are from: {', '.join(sources)}. "
            f"The sample aims at a normal distribution with mean {target.mean:.1f} and "
            f"standard deviation {target.sd:.1f} (MMLU-CF, Figures 4 and 8)."
        )
        blocks = [Text(text), Plot("difficulty_levels_plot")]
    text = (
        f"{steps.sampled:,} of {steps.size:,} requested questions were sampled. The number of "
        f"domains is {steps.sampled_domains:,} in the sample and {steps.final_domains:,} in the "
        f"{steps.final:,} final questions, of which {steps.explained:,} have an explanation."
    )
    blocks += [Text("The sample", "heading"), Text(text)]
    return [Section("Difficulty and sample", blocks, "difficulty")]


def show_construction_judges(
    construction_steps: Steps,
    checking_counts: Mapping[str, Any],
    judge_parse_rates: pd.DataFrame,
    judge_agreement: pd.DataFrame,
) -> list[Section]:
    """Show the decisions of the check, the replies of the judges and their agreement."""
    decided = {_REASONS.get(name, name): n for name, n in checking_counts["reasons"].items()}
    for name, n in checking_counts["harms"].items():
        decided[f"harm flagged: {name.replace('_', ' ')}"] = n
    sampled = construction_steps.sampled
    rows = [
        [what, number(n), percent(n / sampled if sampled else None)] for what, n in decided.items()
    ]
    head = ("Decision", "Questions", "Share")
    table = Table("Decisions on the sampled questions", head, rows, (1, 2))
    judges: list[Any] = [Text("No judge was asked.")]
    if len(judge_parse_rates):
        judges = [replies_table(judge_parse_rates), *show_agreement(judge_agreement)]
    return [Section("Checking", [table], "checking"), Section("Judges", judges, "judges")]


def show_construction_halves(
    rule_counts: Mapping[str, Any], half_distances: pd.DataFrame, leak_counts: pd.DataFrame
) -> list[Section]:
    """Show the effect of the contamination-free rules and the distance between the halves."""
    leaks = [
        row | {"verdict": words_of(_VERDICTS, row["verdict"])}
        for row in rows_of(leak_counts.sort_values(["pairs", "verdict"], ascending=[False, True]))
    ]
    table = table_of(leaks, columns("verdict pairs"), label="Similar questions")
    halves = [_distances(half_distances), *([table] if leaks else [])]
    return [
        Section("Contamination-free rules", _rules(rule_counts), "rules"),
        Section("Two halves", halves, "halves"),
    ]


def _rules(rule_counts: Mapping[str, Any]) -> list[Any]:
    if not rule_counts["rules"]:
        return [Text("No rule was applied.")]
    rows = []
    for name, counts in rule_counts["rules"].items():
        total = sum(counts.values())
        altered = counts.get("altered", 0)
        others = sorted(counts.items(), key=lambda reason: (-reason[1], reason[0]))
        copied = [f"{why.replace('_', ' ')} {n:,}" for why, n in others if why != "altered"]
        share = percent(altered / total if total else None)
        rows.append([name.replace("_", " "), number(altered), share, "; ".join(copied)])
    label = "Questions altered by each rule, and reasons for leaving others unchanged"
    blocks: list[Any] = [Table(label, ("Rule", "Altered", "Share", "Unchanged"), rows, (1, 2))]
    if checks := rule_counts["rephrase_checks"]:
        failed = ", ".join(f"{words_of({}, check)} {n:,}" for check, n in sorted(checks.items()))
        blocks.append(Text(f"Wordings rejected by each check: {failed}.", "quiet"))
    return blocks


def _distances(half_distances: pd.DataFrame) -> Text | Table:
    if half_distances.empty:
        return Text("There are no halves to compare.")
    names: list[Column] = [
        ("Attribute", as_text, "attribute"),
        ("Total variation", as_metric, "total_variation"),
        ("Random halves, 95th percentile", as_metric, "chance_95"),
    ]
    label = (
        "Distance between the halves: the share of questions that would have to change to make "
        "them equal, compared with random halves of the same questions"
    )
    return table_of(rows_of(half_distances), names, (1, 2), label)


def show_public_half(
    construction_steps: Steps, public_half: Mapping[str, list[Row]]
) -> list[Section]:
    """Show questions of the public half, and what is published."""
    examples = []
    for field, items in public_half.items():
        questions = [Question(item["question"], item["choices"], item["answer"]) for item in items]
        examples.append(Folded(field, questions))
    steps = construction_steps
    text = (
        f"{steps.public:,} questions are public (`validation.jsonl`) and {steps.closed:,} are "
        "encrypted (`test.sealed`); this page shows none of these. At most three random questions "
        "of each field:"
    )
    return [Section("Questions of the public half", [Text(text), *examples], "examples")]
