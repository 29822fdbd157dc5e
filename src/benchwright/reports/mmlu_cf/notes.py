"""What a reader has to know before trusting the benchmark."""

import math
from collections.abc import Iterator

from benchwright.methods.mmlu_cf.summary.levels import Shortfall
from benchwright.reports.mmlu_cf.plots.judges import RELIABLE
from benchwright.reports.mmlu_cf.told import Told
from benchwright.reports.mmlu_cf.wording import (
    bounds,
    count,
    figure,
    joined,
    percent,
)

_LOW_PARSE_RATE = 0.9
_LOW_ACCURACY = 0.8
_FEW_DOMAINS = 100  # the paper has more than 3,000
_MUCH_OF_ONE = 0.2  # share of the clean questions from one domain
_WIDE = 0.03  # half of a 95% interval of an accuracy, 0–1


def write_notes(told: Told) -> list[str]:
    """The warnings of this run, the gravest first."""
    if not told.steps.public + told.steps.closed:
        return []
    parts = (
        _leaks_left,
        _no_judges,
        _levels,
        _parse_rates,
        _shortfall,
        _halves,
        _agreement,
        _fields,
        _domains,
        _documents,
        _extraction,
        _unjudged_leaks,
        _size,
    )
    return [note for part in parts for note in part(told)]


def _leaks_left(told: Told) -> Iterator[str]:
    left = told.steps.leaks.left
    if left:
        stand = "stands" if left == 1 else "stand"
        yield (
            f"{count(left, 'pair')} of questions that are one still {stand} on both sides: the "
            "public half tells answers of the closed one."
        )


def _no_judges(told: Told) -> Iterator[str]:
    if not told.judges("difficulty") and not told.known:
        yield (
            "Nobody judged difficulty: the questions may be of any, and the sample was drawn as if "
            "all had one level. `difficulty.judges` names models that rate."
        )
    if not told.judges("checking"):
        yield (
            "Nobody checked the questions: wrong, unclear and harmful ones are still among them. "
            "`checking.judges` names models that check."
        )


def _levels(told: Told) -> Iterator[str]:
    if 0 < told.known < 1:
        asked = "" if told.asked is None else f" `difficulty.at_most` asked about {told.asked:,}."
        some = " Those with one are no random sample." if told.judges("difficulty") else ""
        yield (
            f"{percent(1 - told.known)} of the clean questions have no level of difficulty and "
            f"could not be sampled.{asked}{some}"
        )


def _parse_rates(told: Told) -> Iterator[str]:
    for rate in told.rates:
        if rate.read < _LOW_PARSE_RATE:
            yield (
                f"Only {percent(rate.read)} of {rate.asked:,} messages to {rate.judge} "
                f"({rate.task}) got a reply that could be read. What it says then is of the "
                "questions where it happens to comply."
            )


def _shortfall(told: Told) -> Iterator[str]:
    for what, setting, short in (
        ("The sample", "sampling_by_difficulty.size", told.short),
        ("The benchmark", "checking.size", told.final_short),
    ):
        if short is not None:
            yield from _lacking(what, setting, short, levels_known=told.known > 0)


def _lacking(what: str, setting: str, short: Shortfall, *, levels_known: bool) -> Iterator[str]:
    if short.taken < short.size:
        yield (
            f"{what} has {short.taken:,} of the {short.size:,} questions asked for "
            f"(`{setting}`): {count(short.size - short.taken, 'question')} short."
        )
    if short.missing:
        kind = "field and level" if levels_known else "field"
        have = "has" if short.strata == 1 else "have"
        strata = "strata" if short.strata != 1 else "stratum"
        yield (
            f"{what}: {short.strata:,} {strata} ({kind}) {have} too few questions, "
            f"{short.missing:,} short of the target together. Others gave more."
        )


def _halves(told: Told) -> Iterator[str]:
    for row in told.distances.to_dict("records"):
        found, chance = float(row["total_variation"]), float(row["chance_95"])
        if math.isnan(found) and row["reason"]:
            yield f"The halves cannot be compared by {row['attribute']}: {row['reason']}."
        elif found > chance:
            yield (
                f"The halves differ in {row['attribute']} more than 19 of 20 pairs of random "
                f"halves do: total variation {figure(found, 3)}, chance {figure(chance, 3)}."
            )


def _agreement(told: Told) -> Iterator[str]:
    rows = told.alphas.to_dict("records")
    without: dict[str, list[str]] = {}
    for row in rows:
        if math.isnan(row["alpha"]):
            without.setdefault(str(row["reason"]), []).append(f"{row['task']}, {row['name']}")
    for reason, names in without.items():
        yield (f"The judges' agreement (alpha) does not exist for {joined(names)}: {reason}.")
    low = [row for row in rows if row["alpha"] < RELIABLE]
    if low:
        told_rows = [
            f"{row['task']}, {row['name']} {figure(row['alpha'])} "
            f"{bounds(row['low'], row['high'])}".strip()
            for row in low
        ]
        yield (
            f"The judges agree too little for conclusions (alpha below {RELIABLE}) in "
            f"{joined(told_rows)}."
        )


def _fields(told: Told) -> Iterator[str]:
    overall = told.accuracy[told.accuracy["field"] == ""]
    if overall.empty:
        yield "Nobody knows how often the fields are right: no labelled question has one."
        return
    for row in overall.to_dict("records"):
        right = float(row["recall"])
        if right < _LOW_ACCURACY:
            yield (
                f"The field is right for {percent(right)} of {row['n_items']:,} labelled questions "
                f"{bounds(row['low'], row['high'])}: quotas and halves by field are only as good."
            )


def _domains(told: Told) -> Iterator[str]:
    steps = told.steps
    if steps.clean_domains < _FEW_DOMAINS:
        yield (
            f"The clean questions are of {count(steps.clean_domains, 'known domain')}; the paper's "
            "are of more than 3,000."
        )
    if steps.largest_domain > _MUCH_OF_ONE:
        yield f"One domain gave {percent(steps.largest_domain)} of the clean questions."


def _documents(told: Told) -> Iterator[str]:
    left_out = told.steps.left_out
    if left_out:
        were = "was" if left_out == 1 else "were"
        yield f"{count(left_out, 'document')} could not be read and {were} left out."


def _extraction(told: Told) -> Iterator[str]:
    if told.extraction.empty:
        yield "No document is labelled: precision and recall of extraction are not known."


def _unjudged_leaks(told: Told) -> Iterator[str]:
    n = told.steps.leaks.unjudged
    if n and not told.judged_leaks:
        yield (
            f"No judge looked at {count(n, 'pair')} of similar questions across the halves: the "
            "share of common words decided. `splitting.leakage.judge` names one."
        )
    elif n:
        yield (
            f"The judge's reply about {count(n, 'pair')} of similar questions could not be read: "
            "the share of common words decided."
        )


def _size(told: Told) -> Iterator[str]:
    n = min(told.steps.public, told.steps.closed)
    if n and (half := 1.96 * math.sqrt(0.25 / n)) > _WIDE:
        yield (
            f"With {n:,} questions in a half, an accuracy near 50% is known to ±{100 * half:.1f} "
            "points (95%); smaller differences between models or halves say nothing."
        )
