"""The construction report: its sections, and the page that joins them."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import (
    ParseRate,
    SampleByDifficulty,
    Steps,
    quotas,
)
from benchwright.methods.mmlu_cf.public_half import PublicHalf
from benchwright.params.mmlu_cf import (
    CheckingParams,
    FieldsParams,
    SamplingByDifficultyParams,
    SplittingParams,
)
from benchwright.reports.mmlu_cf.findings import (
    Evidence,
    describe_leaks,
    describe_rating_shift,
    percent,
    write_headline,
    write_notes,
)
from benchwright.reports.mmlu_cf.plots.domains_and_fields import count_field_halves, top_domains
from benchwright.reports.mmlu_cf.plots.judges import pooled_agreement
from benchwright.reports.page.provenance import Fact, settings
from benchwright.reports.page.sections import Section, make_section, render_sections
from benchwright.reports.page.wording import (
    bounds,
    coefficient,
    is_missing,
    p_value,
    rows_of,
    words_of,
)

_LONGEST_TABLE = 200  # rows of a table on the page; the datasets have them all
_DOMAINS = 30
_SECTIONS = (
    ("steps", "Step by step"),
    ("documents", "Documents and extraction"),
    ("cleaning", "Cleaning"),
    ("fields", "Fields"),
    ("difficulty", "Difficulty and sample"),
    ("checking", "Checking"),
    ("judges", "Judges"),
    ("rules", "Contamination-free rules"),
    ("halves", "Two halves"),
    ("examples", "Questions of the public half"),
    ("sealed", "Published and encrypted files"),
    ("provenance", "Provenance"),
)
_HIDDEN = {"sealing.key_file", "sealing.key_env"}
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
_POOLS = {
    "rated": "clean questions",
    "sampled": "sampled",
    "checked": "checked",
    "final": "after the rules",
}


Row = dict[Any, Any]


def render_construction_report(*sections: Section) -> str:
    """Render the report of a benchmark made from documents: one HTML page that needs no network.

    The page shows no text of a closed question and no id of any. The same inputs give the same
    bytes. All data is escaped.
    """
    package, template = "benchwright.reports.mmlu_cf", "construction_report.html"
    return render_sections(package, template, _SECTIONS, sections)


def show_construction_provenance(variant: str, seed: int, **sections: Any) -> Section:
    """Gather the settings of every step, by the section of the parameters."""
    # Kedro would convert each section to the type of an annotation, hence `Any`.
    name = sections["sealing"].model_dump()["name"]
    facts = [fact for section, params in sections.items() for fact in settings(section, params)]
    return make_section(
        name=name,
        variant=variant,
        longest=_LONGEST_TABLE,
        facts=[Fact("Benchmark", name), Fact("Variant", variant), Fact("Seed", str(seed))],
        settings=[fact for fact in facts if fact.name not in _HIDDEN],
    )


def show_construction_headline(
    construction_steps: Steps,
    sample_by_difficulty: SampleByDifficulty,
    judge_parse_rates: Sequence[ParseRate],
    judge_agreement: pd.DataFrame,
    half_distances: pd.DataFrame,
    extraction_measures: pd.DataFrame,
    field_accuracy: pd.DataFrame,
    splitting: SplittingParams,
) -> Section:
    """Gather the top of the page: headline, tiles and warnings."""
    evidence = Evidence(
        construction_steps,
        sample_by_difficulty,
        judge_parse_rates,
        pooled_agreement(judge_agreement),
        half_distances,
        extraction_measures,
        field_accuracy,
        splitting.leakage.judge is not None,
    )
    return make_section(
        steps=construction_steps, headline=write_headline(evidence), notes=write_notes(evidence)
    )


def show_construction_documents(
    documents_read: pd.DataFrame,
    domain_counts: pd.DataFrame,
    extraction_measures: pd.DataFrame,
    cleaning_funnel: pd.DataFrame,
    cleaning_reasons: pd.DataFrame,
    public_half: PublicHalf,
) -> Section:
    """Gather documents, extraction, the effect of the cleaning rules, and public questions."""
    public = domain_counts["domain"].map(public_half.domains).fillna(0).astype(int)
    return make_section(
        examples=public_half.examples,
        shards=[{**row, "file": PurePath(row["file"]).name} for row in rows_of(documents_read)],
        measures=[_measure(row) for row in rows_of(extraction_measures)],
        domains=rows_of(top_domains(domain_counts.assign(public=public), _DOMAINS)),
        cleaned=_cleaning_rules(cleaning_funnel, cleaning_reasons),
    )


def show_construction_fields(
    field_counts: pd.DataFrame,
    field_accuracy: pd.DataFrame,
    public_split_assignment: pd.DataFrame,
    fields: FieldsParams,
) -> Section:
    """Gather the questions, the accuracy and the halves of each field."""
    rows = _fields(field_counts, field_accuracy, public_split_assignment)
    return make_section(fields=rows, by=fields.by)


def show_construction_difficulty(
    difficulty_counts: pd.DataFrame,
    sampling_strata: pd.DataFrame,
    sample_by_difficulty: SampleByDifficulty,
    sampling_by_difficulty: SamplingByDifficultyParams,
) -> Section:
    """Gather the levels of difficulty and the strata of the sample."""
    known = sample_by_difficulty.known
    strata = quotas(sampling_strata, levels_known=known > 0)
    return make_section(
        known=known,
        short=sample_by_difficulty.short,
        final_short=sample_by_difficulty.final_short,
        levels=level_rows(difficulty_counts),
        sampling=sampling_by_difficulty,
        strata=rows_of(strata[(strata["target"] > 0) | (strata["sampled"] > 0)]),
    )


def show_construction_judges(
    checking_counts: Mapping[str, Any],
    checking: CheckingParams,
    judge_parse_rates: Sequence[ParseRate],
    judge_agreement: pd.DataFrame,
    rating_shift: Mapping[str, Any],
) -> Section:
    """Gather the decisions of the check, the replies of the judges and their agreement."""
    reasons, harms, sources = (
        [{"text": words_of(words, name), "n": n} for name, n in checking_counts[counted].items()]
        for counted, words in (("reasons", _REASONS), ("harms", {}), ("sources", _SOURCES))
    )
    return make_section(
        checking=checking,
        decisions=[*reasons, *({**row, "text": f"harm flagged: {row['text']}"} for row in harms)],
        sources=sources,
        rating_shift=describe_rating_shift(rating_shift),
        rates=judge_parse_rates,
        agreement=[_agreement(row) for row in rows_of(judge_agreement)],
    )


def show_construction_halves(
    rule_counts: Mapping[str, Any],
    half_distances: pd.DataFrame,
    leak_counts: pd.DataFrame,
    construction_steps: Steps,
    splitting: SplittingParams,
) -> Section:
    """Gather the effect of the contamination-free rules and the distance between the halves."""
    return make_section(
        rules=[_rule(name, counts) for name, counts in rule_counts["rules"].items()],
        rephrase_checks=dict(rule_counts["rephrase_checks"]),
        distances=[_distance(row) for row in rows_of(half_distances)],
        leaks=_leaks(leak_counts),
        leaks_text=describe_leaks(construction_steps.leaks),
        leakage=splitting.leakage,
    )


def _measure(row: Row) -> Row:
    style = (row["style"] or "").replace("_", " ")
    text = f"recall of {style}" if style else words_of(_MEASURES, row["measure"])
    return {**row, "text": text, "bounds": _interval(row["low"], row["high"])}


def _cleaning_rules(cleaning_funnel: pd.DataFrame, cleaning_reasons: pd.DataFrame) -> list[Row]:
    reasons: dict[str, list[str]] = {}
    for row in cleaning_reasons.to_dict("records"):
        reasons.setdefault(str(row["rule"]), []).append(f"{row['reason']} {row['rows']:,}")
    return [
        {**row, "reasons": "; ".join(reasons.get(row["rule"], []))}
        for row in rows_of(cleaning_funnel)
    ]


def _fields(
    field_counts: pd.DataFrame, field_accuracy: pd.DataFrame, assignment: pd.DataFrame
) -> list[Row]:
    halves = count_field_halves(assignment)
    labelled = field_accuracy[field_accuracy["field"] != ""].drop_duplicates("field")
    accuracy = {row["field"]: row for row in rows_of(labelled)}
    counted = {row["field"]: row for row in rows_of(field_counts)}
    rows = []
    for name in dict.fromkeys([*counted, *halves.index]):
        counts, right = counted.get(name, {}), accuracy.get(name, {})
        if name or counts.get("items"):
            rows.append(
                {
                    "field": name or "no field",
                    "items": counts.get("items", 0),
                    "domains": counts.get("domains", 0),
                    "confidence": counts.get("confidence"),
                    "recall": right.get("recall"),
                    "bounds": _interval(right.get("low"), right.get("high")),
                    "precision": right.get("precision"),
                    "public": int(halves["validation"].get(name, 0)),
                    "closed": int(halves["test"].get(name, 0)),
                }
            )
    return rows


def level_rows(difficulty_counts: pd.DataFrame) -> dict[str, Any]:
    """Tabulate questions and shares by level (`rows`) and pool (`pools`), with the target."""
    by_pool: dict[str, dict[int, Row]] = {pool: {} for pool in _POOLS}
    for row in rows_of(difficulty_counts):
        by_pool[row["pool"]][int(row["level"])] = row
    pools = {pool: levels for pool, levels in by_pool.items() if levels}
    counts: dict[int, int] = {}
    for levels in pools.values():
        for level, row in levels.items():
            counts[level] = counts.get(level, 0) + int(row["n"])
    nothing = {"n": 0, "share": 0.0, "expected": None}
    rows = [
        {
            "level": "unknown" if level < 0 else str(level),
            "cells": [levels.get(level, nothing) for levels in pools.values()],
            "expected": by_pool["sampled"].get(level, nothing)["expected"],
        }
        for level in (*range(10), -1)
        if level in counts and (level >= 0 or counts[level])
    ]
    sizes = [
        {"name": _POOLS[pool], "n": sum(int(row["n"]) for row in levels.values())}
        for pool, levels in pools.items()
    ]
    return {"pools": sizes, "rows": rows}


def _agreement(row: Row) -> Row:
    lenient = row["difference"]
    return {
        **row,
        "who": f"{row['judge']} and {row['other']}" if row["judge"] else "all judges",
        "what": f"{row['task']}: {row['criterion'].replace('_', ' ')}",
        "alpha_text": coefficient(row["alpha"], 2),
        "bounds": bounds(row["low"], row["high"], 2),
        "lenient": "—" if lenient is None else f"{lenient:+.2f}".replace("-", "−"),
    }


def _rule(name: str, counts: Mapping[str, int]) -> Row:
    total, altered = sum(counts.values()), int(counts.get("altered", 0))
    others = sorted(counts.items(), key=lambda reason: (-reason[1], reason[0]))
    copied = [f"{why.replace('_', ' ')} {n:,}" for why, n in others if why != "altered"]
    share = altered / total if total else None
    return {"rule": name, "altered": altered, "share": share, "copied": "; ".join(copied)}


def _distance(row: Row) -> Row:
    distance = row["total_variation"]
    return {
        **row,
        "more": distance is not None and distance > (row["chance_95"] or 0),
        "p": "—" if row["p_value"] is None else p_value(row["p_value"]),
    }


def _leaks(leak_counts: pd.DataFrame) -> list[Row]:
    rows = sorted(rows_of(leak_counts), key=lambda row: (-row["pairs"], row["verdict"]))
    return [{**row, "verdict": words_of(_VERDICTS, row["verdict"])} for row in rows]


def _interval(low: Any, high: Any) -> str:
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{percent(low)}, {percent(high)}]"
