"""The report of a benchmark made from documents, section by section, and the page of them."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.summary import ParseRate, SampleByDifficulty, Steps, quotas
from benchwright.params.mmlu_cf import (
    CheckingParams,
    FieldsParams,
    SamplingByDifficultyParams,
    SplittingParams,
)
from benchwright.reports.mmlu_cf.headline import (
    Told,
    again_said,
    leaks_said,
    write_headline,
    write_notes,
)
from benchwright.reports.mmlu_cf.plots.domains_and_fields import count_field_halves, top_domains
from benchwright.reports.mmlu_cf.plots.judges import of_all_judges
from benchwright.reports.mmlu_cf.wording import (
    MEASURES,
    POOLS,
    REASONS,
    SOURCES,
    VERDICTS,
    percent,
)
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
    ("sealed", "What is closed"),
    ("provenance", "Provenance"),
)
_HIDDEN = {"sealing.key_file"}  # a place on somebody's disk

Row = dict[Any, Any]


def render_construction_report(**sections: Section) -> str:
    """Render the report of a benchmark made from documents: one HTML page that needs no network.

    It is made from tables without texts, and shows no id of any question. The same inputs give the
    same bytes. All data is escaped.
    """
    return render_sections(
        "benchwright.reports.mmlu_cf",
        "construction_report.html",
        _SECTIONS,
        sections.values(),
    )


def show_construction_provenance(variant: str, seed: int, **sections: Any) -> Section:
    """Gather the settings of every step, by the section of the parameters."""
    # Kedro would make what an annotation says of `sections` of each section, so it says nothing.
    name = sections["sealing"].model_dump()["name"]
    told = [fact for section, params in sections.items() for fact in settings(section, params)]
    return make_section(
        name=name,
        variant=variant,
        longest=_LONGEST_TABLE,
        facts=[Fact("Benchmark", name), Fact("Variant", variant), Fact("Seed", str(seed))],
        settings=[fact for fact in told if fact.name not in _HIDDEN],
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
    """Gather the top of the page: headline, figures in tiles, warnings."""
    told = Told(
        construction_steps,
        sample_by_difficulty,
        judge_parse_rates,
        of_all_judges(judge_agreement),
        half_distances,
        extraction_measures,
        field_accuracy,
        splitting.leakage.judge is not None,
    )
    return make_section(
        steps=construction_steps, headline=write_headline(told), notes=write_notes(told)
    )


def show_construction_documents(
    documents_read: pd.DataFrame,
    domain_counts: pd.DataFrame,
    extraction_measures: pd.DataFrame,
    cleaning_funnel: pd.DataFrame,
    cleaning_reasons: pd.DataFrame,
) -> Section:
    """Gather documents, what was extracted, and what the cleaning rules did."""
    return make_section(
        shards=[{**row, "file": PurePath(row["file"]).name} for row in rows_of(documents_read)],
        measures=[_measure(row) for row in rows_of(extraction_measures)],
        domains=rows_of(top_domains(domain_counts, _DOMAINS)),
        cleaned=_cleaning_rules(cleaning_funnel, cleaning_reasons),
    )


def show_construction_fields(
    field_counts: pd.DataFrame,
    field_accuracy: pd.DataFrame,
    keyed_split_assignment: pd.DataFrame,
    fields: FieldsParams,
) -> Section:
    """Gather the fields: how many questions, how often they are right, how the halves have them."""
    return make_section(
        fields=_fields(field_counts, field_accuracy, keyed_split_assignment),
        by=fields.by,
    )


def show_construction_difficulty(
    difficulty_counts: pd.DataFrame,
    sampling_strata: pd.DataFrame,
    sample_by_difficulty: SampleByDifficulty,
    sampling_by_difficulty: SamplingByDifficultyParams,
) -> Section:
    """Gather levels of difficulty and what was sampled by them."""
    known = sample_by_difficulty.known
    strata = quotas(sampling_strata, levels_known=known > 0)
    return make_section(
        known=known,
        short=sample_by_difficulty.short,
        final_short=sample_by_difficulty.final_short,
        levels=level_rows(difficulty_counts),
        sampling=sampling_by_difficulty,
        strata=rows_of(strata[(strata["target"] > 0) | (strata["taken"] > 0)]),
    )


def show_construction_judges(
    checking_counts: Mapping[str, Any],
    checking: CheckingParams,
    judge_parse_rates: Sequence[ParseRate],
    judge_agreement: pd.DataFrame,
    ratings_again: Mapping[str, Any],
) -> Section:
    """Gather what the check decided, replies of the judges and how far they agree."""
    harms = checking_counts["harms"].items()
    decisions = [(words_of(REASONS, name), n) for name, n in checking_counts["reasons"].items()]
    decisions += [(f"harm seen: {name.replace('_', ' ')}", n) for name, n in harms]
    sources = [(words_of(SOURCES, name), n) for name, n in checking_counts["sources"].items()]
    return make_section(
        checking=checking,
        decisions=[{"said": said, "n": n} for said, n in decisions],
        sources=[{"said": said, "n": n} for said, n in sources],
        again=again_said(ratings_again),
        rates=judge_parse_rates,
        agreement=[_agreement(row) for row in rows_of(judge_agreement)],
    )


def show_construction_halves(
    rule_counts: Mapping[str, Any],
    half_distances: pd.DataFrame,
    keyed_leak_pairs: pd.DataFrame,
    construction_steps: Steps,
    splitting: SplittingParams,
) -> Section:
    """Gather what the contamination-free rules altered, and how far the halves are alike."""
    return make_section(
        rules=[_rule(name, counts) for name, counts in rule_counts["rules"].items()],
        rephrase_checks=dict(rule_counts["rephrase_checks"]),
        distances=[_distance(row) for row in rows_of(half_distances)],
        leaks=_leaks(keyed_leak_pairs),
        leaks_said=leaks_said(construction_steps.leaks),
        leakage=splitting.leakage,
    )


def _measure(row: Row) -> Row:
    """A measure of all styles, or recall of one."""
    of_style = f"recall of {(row['style'] or '').replace('_', ' ')}"
    said = of_style if row["style"] else words_of(MEASURES, row["measure"])
    return {**row, "said": said, "bounds": _interval(row["low"], row["high"])}


def _cleaning_rules(cleaning_funnel: pd.DataFrame, cleaning_reasons: pd.DataFrame) -> list[Row]:
    """Each rule with what it rewrote or rejected, and why."""
    found: dict[str, list[str]] = {}
    for row in cleaning_reasons.to_dict("records"):
        found.setdefault(str(row["rule"]), []).append(f"{row['reason']} {row['rows']:,}")
    return [
        {**row, "reasons": "; ".join(found.get(row["rule"], []))}
        for row in rows_of(cleaning_funnel)
    ]


def _fields(
    field_counts: pd.DataFrame, field_accuracy: pd.DataFrame, assignment: pd.DataFrame
) -> list[Row]:
    """Each field: clean questions, domains, how often it is found, questions of the halves."""
    halves = count_field_halves(assignment)
    labelled = field_accuracy[field_accuracy["field"] != ""].drop_duplicates("field")
    accuracy = {row["field"]: row for row in rows_of(labelled)}
    counted = {row["field"]: row for row in rows_of(field_counts)}
    rows = []
    for name in dict.fromkeys([*counted, *halves.index]):
        own, right = counted.get(name, {}), accuracy.get(name, {})
        if name or own.get("items"):
            rows.append(
                {
                    "field": name or "none named",
                    "items": own.get("items", 0),
                    "domains": own.get("domains", 0),
                    "confidence": own.get("confidence"),
                    "recall": right.get("recall"),
                    "bounds": _interval(right.get("low"), right.get("high")),
                    "precision": right.get("precision"),
                    "public": int(halves["validation"].get(name, 0)),
                    "closed": int(halves["test"].get(name, 0)),
                }
            )
    return rows


def level_rows(difficulty_counts: pd.DataFrame) -> dict[str, Any]:
    """Questions and shares by level (rows) and pool (columns), with the sample's target.

    Returns:
        `pools`, each with name and n, and `rows`: level, share of each pool, expected.
    """
    told: dict[str, dict[int, Row]] = {pool: {} for pool in POOLS}
    for row in rows_of(difficulty_counts):
        told[row["pool"]][int(row["level"])] = row
    pools = {pool: levels for pool, levels in told.items() if levels}
    used = {
        level
        for levels in pools.values()
        for level, row in levels.items()
        if row["n"] or level >= 0
    }
    nothing = {"n": 0, "share": 0.0, "expected": None}
    rows = [
        {
            "level": "not known" if level < 0 else str(level),
            "cells": [levels.get(level, nothing) for levels in pools.values()],
            "expected": told["sampled"].get(level, nothing)["expected"],
        }
        for level in (*range(10), -1)
        if level in used
    ]
    sizes = [
        {"name": POOLS[pool], "n": sum(int(row["n"]) for row in levels.values())}
        for pool, levels in pools.items()
    ]
    return {"pools": sizes, "rows": rows}


def _agreement(row: Row) -> Row:
    """Alpha and plain agreement of all judges or of a pair."""
    lenient = row["difference"]
    return {
        **row,
        "who": f"{row['judge']} and {row['other']}" if row["judge"] else "all judges",
        "what": f"{row['task']}: {row['criterion'].replace('_', ' ')}",
        "alpha_said": coefficient(row["alpha"], 2),
        "bounds": bounds(row["low"], row["high"], 2),
        "lenient": "—" if lenient is None else f"{lenient:+.2f}".replace("-", "−"),
    }


def _rule(name: str, counts: Mapping[str, int]) -> Row:
    """A rule: questions altered, their share, and why the others were copied."""
    total, altered = sum(counts.values()), int(counts.get("altered", 0))
    others = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    copied = [f"{why.replace('_', ' ')} {n:,}" for why, n in others if why != "altered"]
    share = altered / total if total else None
    return {"rule": name, "altered": altered, "share": share, "copied": "; ".join(copied)}


def _distance(row: Row) -> Row:
    """How far the halves are apart in an attribute, beside chance."""
    found = row["total_variation"]
    return {
        **row,
        "more": found is not None and found > (row["chance_95"] or 0),
        "p": "—" if row["p_value"] is None else p_value(row["p_value"]),
    }


def _leaks(leak_pairs: pd.DataFrame) -> list[Row]:
    """Pairs by verdict, most alike first: how many, how alike, what became of them. No ids."""
    rows = [
        {
            "verdict": words_of(VERDICTS, str(verdict)),
            "n": len(own),
            "lowest": float(own["similarity"].min()),
            "highest": float(own["similarity"].max()),
            "overlap": float(own["overlap"].mean()),
            "moved": int(own["moved"].astype(bool).sum()),
            "dropped": int((own["removed"] != "").sum()),
        }
        for verdict, own in leak_pairs.groupby("verdict", sort=True)
    ]
    return sorted(rows, key=lambda row: (-row["highest"], row["verdict"]))


def _interval(low: Any, high: Any) -> str:
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{percent(low)}, {percent(high)}]"
