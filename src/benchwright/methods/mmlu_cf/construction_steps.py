"""Counts of the construction steps, from tables without texts (MMLU-CF, section 3.2)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.splitting.leakage import LEAKS
from benchwright.params.mmlu_cf import CheckingParams, SamplingByDifficultyParams


class Steps(NamedTuple):
    """Numbers of documents, questions and known domains, step by step."""

    documents: int
    unreadable: int  # documents
    domains: int
    clean_domains: int
    extracted: int
    clean: int
    rated: float  # share of the clean questions that have a level, 0–1
    size: int  # requested
    sampled: int
    sampled_domains: int
    checked: int  # kept by the check
    judged: bool  # by judges
    passed: int  # rated good
    final_size: int | None  # requested; None if all checked questions are final
    final: int
    final_domains: int
    explained: int  # final, with an explanation
    altered: dict[str, int]  # final, by rule
    public: int
    closed: int
    same_pairs: int  # of questions in different documents that ask the same
    unjudged_pairs: int  # about which the share of common words decided


def count_steps(
    documents_read: pd.DataFrame,
    domain_counts: pd.DataFrame,
    checking_counts: Mapping[str, Any],
    rule_counts: Mapping[str, Any],
    public_split_assignment: pd.DataFrame,
    leak_counts: pd.DataFrame,
    sampling_by_difficulty: SamplingByDifficultyParams,
    checking: CheckingParams,
) -> Steps:
    """Count documents and questions after each step, from tables without texts."""
    known = domain_counts[domain_counts["domain"] != ""]
    sources = checking_counts["sources"]
    rated = sum(n for source, n in sources.items() if source != "not_judged")
    halves = public_split_assignment["half"].value_counts()
    verdict = leak_counts["verdict"]
    pairs = leak_counts["pairs"]
    altered = {
        str(rule): int(counts.get("altered", 0)) for rule, counts in rule_counts["rules"].items()
    }
    return Steps(
        documents=int(documents_read["documents"].sum()),
        unreadable=int(documents_read["unreadable"].sum()),
        domains=int(known["documents"].gt(0).sum()),
        clean_domains=int(known["clean_items"].gt(0).sum()),
        extracted=int(domain_counts["raw_items"].sum()),
        clean=int(domain_counts["clean_items"].sum()),
        rated=rated / max(sum(sources.values()), 1),
        size=sampling_by_difficulty.size,
        sampled=int(checking_counts["sampled"]),
        sampled_domains=int(checking_counts["domains"]["sampled"]),
        checked=int(checking_counts["checked"]),
        judged=bool(set(checking_counts["reasons"]) - {"unjudged"}),
        passed=int(checking_counts["reasons"].get("good", 0)),
        final_size=checking.size,
        final=int(checking_counts["final"]),
        final_domains=int(checking_counts["domains"]["final"]),
        explained=int(checking_counts["explained"]["final"]),
        altered=altered,
        public=int(halves.get("validation", 0)),
        closed=int(halves.get("test", 0)),
        same_pairs=int(pairs[verdict.isin(LEAKS)].sum()),
        unjudged_pairs=int(pairs[verdict.isin(["same_words", "other_words"])].sum()),
    )


def read_rates(*rounds: pd.DataFrame) -> pd.DataFrame:
    """Count the replies of each judge in each task, from tables of `ROUNDS`.

    Return task, judge, asked (prompts), first and read (shares that were readable at the first
    attempt, and after all `attempts`), and too_long (prompts that did not fit the context).
    """
    some = pd.concat([table for table in rounds if len(table)] or rounds[:1])
    rates = some.groupby(["task", "judge"], sort=False, as_index=False).agg(
        asked=("asked", "first"),
        first=("parsed", "first"),
        read=("parsed", "sum"),
        attempts=("attempt", "max"),
        too_long=("too_long", "sum"),
    )
    rates = rates[rates["asked"] > 0]
    return rates.assign(**{name: rates[name] / rates["asked"] for name in ("first", "read")})


def collect_construction_metrics(construction_steps: Steps) -> dict[str, float]:
    """Collect counts and shares (0–1) as flat numbers for MLflow, without NaN."""
    steps = construction_steps
    share = {"share_clean": steps.clean / steps.extracted} if steps.extracted else {}
    return {
        "documents": steps.documents,
        "raw_items": steps.extracted,
        "clean_items": steps.clean,
        "sampled_items": steps.sampled,
        "checked_items": steps.checked,
        "final_items": steps.final,
        "public_items": steps.public,
        "closed_items": steps.closed,
        "same_pairs": steps.same_pairs,
        "share_rated": steps.rated,
        "shortfall": steps.size - steps.sampled,
        **share,
    }
