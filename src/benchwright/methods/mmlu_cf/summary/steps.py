"""How many questions each step of making a benchmark left (MMLU-CF, section 3.2)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.splitting.leakage import LEAKS


class Leaks(NamedTuple):
    """Pairs of questions that stood on both sides and looked alike.

    Attributes:
        looked_at: pairs from the lowest similarity on.
        found: those that are one question in other words.
        moved: of these, both now stand in one half.
        dropped: questions that went because of them.
        left: of those found, neither moved nor dropped.
        unjudged: pairs that were decided by their words, since no judge was asked or read.
    """

    looked_at: int
    found: int
    moved: int
    dropped: int
    left: int
    unjudged: int


class Steps(NamedTuple):
    """Documents and questions, step by step.

    Attributes:
        documents: that were read.
        left_out: documents that could not be read.
        domains: known ones that documents are of.
        clean_domains: known ones that clean questions are of.
        largest_domain: share of the clean questions that one domain gave, 0–1.
        found: questions found in documents.
        clean: those that passed the cleaning rules.
        sampled: those taken for the benchmark.
        checked: those that stayed after the check.
        judged: a judge's word decided of some of them.
        passed: of the checked, those that judges found good; the others nobody could judge.
        rated: clean questions whose difficulty is a judge's.
        answered: clean questions whose difficulty is from models' answers.
        final: those that make the benchmark.
        altered: by rule, the final questions that it altered.
        public, closed: questions of the halves.
        leaks: pairs that stood on both sides.
    """

    documents: int
    left_out: int
    domains: int
    clean_domains: int
    largest_domain: float
    found: int
    clean: int
    sampled: int
    checked: int
    judged: bool
    passed: int
    rated: int
    answered: int
    final: int
    altered: dict[str, int]
    public: int
    closed: int
    leaks: Leaks


def count_steps(
    documents_read: pd.DataFrame,
    domain_counts: pd.DataFrame,
    sampling_strata: pd.DataFrame,
    checking_counts: Mapping[str, Any],
    rule_counts: Mapping[str, Any],
    keyed_split_assignment: pd.DataFrame,
    keyed_leak_pairs: pd.DataFrame,
) -> Steps:
    """Count documents and questions after each step, from tables without texts."""
    known = domain_counts[domain_counts["domain"] != ""]
    clean = int(domain_counts["clean_items"].sum())
    halves = keyed_split_assignment["half"].value_counts()
    largest = int(known["clean_items"].max()) if len(known) else 0
    return Steps(
        documents=int(documents_read["documents"].sum()),
        left_out=int(documents_read["left_out"].sum()),
        domains=int(known["documents"].gt(0).sum()),
        clean_domains=int(known["clean_items"].gt(0).sum()),
        largest_domain=largest / clean if clean else 0.0,
        found=int(domain_counts["raw_items"].sum()),
        clean=clean,
        sampled=int(sampling_strata["taken"].sum()),
        checked=int(checking_counts["checked"]),
        judged=bool(set(checking_counts["reasons"]) - {"unjudged"}),
        passed=int(checking_counts["reasons"].get("good", 0)),
        rated=int(checking_counts["sources"].get("judges", 0)),
        answered=int(checking_counts["sources"].get("responses", 0)),
        final=int(checking_counts["final"]),
        altered={
            str(rule): int(counts.get("altered", 0))
            for rule, counts in rule_counts["rules"].items()
        },
        public=int(halves.get("validation", 0)),
        closed=int(halves.get("test", 0)),
        leaks=count_leaks(keyed_leak_pairs),
    )


def count_leaks(leak_pairs: pd.DataFrame) -> Leaks:
    """Count what became of the pairs of a `LeakPairs` table."""
    leaking = leak_pairs["verdict"].isin(LEAKS)
    moved = leak_pairs["moved"].astype(bool) & leaking
    gone = set(leak_pairs["removed"]) - {""}
    # One that was dropped settles its other pairs too.
    dropped = leak_pairs[["item_id", "other"]].isin(gone).any(axis=1) & leaking
    return Leaks(
        looked_at=len(leak_pairs),
        found=int(leaking.sum()),
        moved=int(moved.sum()),
        dropped=len(gone),
        left=int((leaking & ~moved & ~dropped).sum()),
        unjudged=int(leak_pairs["verdict"].isin(["same_words", "other_words"]).sum()),
    )
