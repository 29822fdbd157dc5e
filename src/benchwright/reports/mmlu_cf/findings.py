"""What was made, in sentences that can be quoted, and what to know before trusting it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import (
    Leaks,
    ParseRate,
    SampleByDifficulty,
    Steps,
)
from benchwright.reports.mmlu_cf.plots.judges import RELIABLE
from benchwright.reports.page.wording import bounds, coefficient, count, joined, tile

_LOW_PARSE_RATE = 0.9
_LOW_ACCURACY = 0.8
_FEW_DOMAINS = 100  # the paper has more than 3,000
_MUCH_OF_ONE = 0.2  # share of the clean questions from one domain
_WIDE = 0.03  # half of a 95% interval of an accuracy, 0–1


def percent(share: float) -> str:
    """0.836 as `83.6%`; — if missing. Only 1 is written as 100%, and only 0 as 0%."""
    if math.isnan(share):
        return "—"
    written = f"{share:.1%}"
    if written == "100.0%" and share < 1:
        return "> 99.9%"
    return "< 0.1%" if written == "0.0%" and share > 0 else written


class Evidence(NamedTuple):
    """The evidence behind the headline and the warnings.

    `alphas` are the rows of `JudgeAgreement` for all judges together, `distances` a
    `HalfDistances`, `extraction` an `ExtractionMeasures` and `accuracy` a `FieldAccuracy` table.
    `judged_leaks` says whether a judge was to decide which pairs are one question.
    """

    steps: Steps
    sample: SampleByDifficulty
    rates: Sequence[ParseRate]
    alphas: pd.DataFrame
    distances: pd.DataFrame
    extraction: pd.DataFrame
    accuracy: pd.DataFrame
    judged_leaks: bool

    def judges(self, task: str) -> list[ParseRate]:
        """Return the judges that were asked in a task."""
        return [rate for rate in self.rates if rate.task == task]


class Headline(NamedTuple):
    """The top of the page: what was made, how far the halves are alike ("" without), tiles."""

    made: str
    halves: str
    tiles: list[dict[str, str]]


def write_headline(evidence: Evidence) -> Headline:
    """Write how many questions of which origin came out, and what is known about them."""
    steps = evidence.steps
    origin = f"{count(steps.documents, 'document')} of {count(steps.domains, 'domain')}"
    if not steps.public + steps.closed:
        return Headline(
            f"No benchmark was made: {count(steps.extracted, 'question')} found in {origin}, "
            f"{steps.clean:,} clean, {steps.sampled:,} sampled, {steps.checked:,} checked.",
            "",
            [],
        )
    clean = percent(steps.clean / steps.extracted if steps.extracted else math.nan)
    made = (
        f"{steps.public:,} public and {steps.closed:,} closed questions from {origin}; {clean} of "
        f"the {steps.extracted:,} questions extracted are clean, {steps.sampled:,} were sampled; "
        f"{_judged(evidence)}."
    )
    return Headline(made, _halves(evidence), _tiles(evidence))


def _judged(evidence: Evidence) -> str:
    raters, checkers = evidence.judges("difficulty"), evidence.judges("checking")
    if not raters and not checkers and not evidence.sample.known:
        return "nobody judged difficulty or quality"
    steps = evidence.steps
    if raters:
        share = percent(steps.rated / steps.clean if steps.clean else math.nan)
        rated = f"{count(len(raters), 'judge')} rated the difficulty of {share} of the clean ones"
        if steps.answered:
            share = percent(steps.answered / steps.clean)
            rated += f", models' answers tell it of another {share}"
    elif evidence.sample.known:
        known = percent(evidence.sample.known)
        rated = f"{known} of the clean ones have a difficulty from models' answers"
    else:
        rated = "nobody judged difficulty"
    if not checkers:
        return f"{rated}; nobody judged quality"
    by = count(len(checkers), "judge")
    unjudged = steps.checked - steps.passed
    stay = f", {unjudged:,} stay unjudged" if unjudged else ""
    return f"{rated}; {steps.passed:,} of {steps.sampled:,} passed the check of {by}{stay}"


def _halves(evidence: Evidence) -> str:
    sentences = []
    rows = {row["attribute"]: row for row in evidence.distances.to_dict("records")}
    if "field" in rows and not math.isnan(rows["field"]["total_variation"]):
        distance, chance = (float(rows["field"][name]) for name in ("total_variation", "chance_95"))
        than = "less" if distance <= chance else "more"
        sentences.append(
            f"The halves differ in fields by a total variation of {coefficient(distance)}, {than} "
            f"than 19 of 20 pairs of random halves ({coefficient(chance)})."
        )
    return " ".join([*sentences, describe_leaks(evidence.steps.leaks)])


def describe_leaks(leaks: Leaks) -> str:
    """Describe what became of questions that stood on both sides."""
    if not leaks.found:
        return "No question was found on both sides in other words."
    pairs = count(leaks.found, "pair") + " of questions"
    ends = []
    if leaks.moved:
        ends.append(f"{leaks.moved:,} moved into one half")
    if leaks.removed:
        ends.append(f"{count(leaks.removed, 'question')} dropped")
    if leaks.left:
        ends.append(f"{leaks.left:,} still there")
    return f"{pairs} stood on both sides in other words: {', '.join(ends)}."


def describe_second_rating(rating_shift: Mapping[str, Any]) -> str:
    """Describe how far the rules moved the judges' ratings; "" if nothing was rated again."""
    again = rating_shift
    if not again["of"]:
        return ""
    if not again["n"]:
        return f"How far the rules moved the difficulty is not known: {again['reason']}."
    low, high = (math.nan if again[end] is None else float(again[end]) for end in ("low", "high"))
    within = f" {bounds(low, high, 2)}" if not math.isnan(low) else ""
    before, after, shift = (coefficient(again[name], 2) for name in ("before", "after", "shift"))
    return (
        f"Judged again after the rules, the mean difficulty went from {before} to {after} "
        f"({shift}{within}, {count(again['n'], 'question')} rated both times); "
        f"{percent(again['harder'])} rose, {percent(again['easier'])} fell, "
        f"{percent(again['same'])} kept their level."
    )


def _tiles(evidence: Evidence) -> list[dict[str, str]]:
    steps = evidence.steps
    tiles = [
        tile(
            "Clean",
            f"{steps.clean:,} of {steps.extracted:,}",
            f"questions found in {count(steps.documents, 'document')}",
        )
    ]
    overall = evidence.extraction[evidence.extraction["style"] == ""].to_dict("records")
    measures = {row["measure"]: row for row in overall}
    if {"recall", "precision"} <= set(measures):
        recall, precision = measures["recall"], measures["precision"]
        tiles.append(
            tile(
                "Extraction",
                f"{percent(recall['share'])} / {percent(precision['share'])}",
                f"recall / precision on {recall['of']:,} labelled questions",
            )
        )
    tiles += [
        tile("Fields right", percent(row["recall"]), f"of {row['n_items']:,} labelled questions")
        for row in evidence.accuracy[evidence.accuracy["field"] == ""].to_dict("records")
    ]
    if evidence.sample.known:
        tiles.append(
            tile("Difficulty known", percent(evidence.sample.known), "of the clean questions")
        )
    if evidence.rates:
        worst = min(evidence.rates, key=lambda rate: rate.read)
        tiles.append(tile("Lowest parse rate", percent(worst.read), f"{worst.judge}, {worst.task}"))
    known = evidence.alphas[evidence.alphas["alpha"].notna()].to_dict("records")
    if known:
        lowest = min(known, key=lambda row: float(row["alpha"]))
        tiles.append(
            tile("Lowest alpha", coefficient(float(lowest["alpha"]), 2), _alpha_note(lowest))
        )
    return tiles


def _alpha_note(row: dict[Any, Any], value: str = "") -> str:
    return " ".join(
        filter(None, [f"{row['task']}, {row['name']}", value, bounds(row["low"], row["high"], 2)])
    )


def write_notes(evidence: Evidence) -> list[str]:
    """Write the warnings of this run, the gravest first."""
    if not evidence.steps.public + evidence.steps.closed:
        return []
    parts = (_leaks_left, _judges, _shortfall, _apart, _agreement, _fields, _origin, _halves_known)
    return [note for part in parts for note in part(evidence)]


def _leaks_left(evidence: Evidence) -> Iterator[str]:
    left = evidence.steps.leaks.left
    if left:
        stand = "stands" if left == 1 else "stand"
        yield (
            f"{count(left, 'pair')} of questions that are one still {stand} on both sides: the "
            "public half tells answers of the closed one."
        )


def _judges(evidence: Evidence) -> Iterator[str]:
    known, asked = evidence.sample.known, evidence.sample.asked
    if not evidence.judges("difficulty") and not known:
        yield (
            "Nobody judged difficulty: the questions may be of any, and the sample was drawn as if "
            "all had one level. `difficulty.judges` names models that rate."
        )
    if not evidence.judges("checking"):
        yield (
            "Nobody checked the questions: wrong, unclear and harmful ones are still among them. "
            "`checking.judges` names models that check."
        )
    if 0 < known < 1:
        about = "" if asked is None else f" `difficulty.at_most` asked about {asked:,}."
        some = " Those with one are no random sample." if evidence.judges("difficulty") else ""
        yield (
            f"{percent(1 - known)} of the clean questions have no level of difficulty and "
            f"could not be sampled.{about}{some}"
        )
    for rate in evidence.rates:
        if rate.read < _LOW_PARSE_RATE:
            yield (
                f"Only {percent(rate.read)} of {rate.asked:,} messages to {rate.judge} "
                f"({rate.task}) got a reply that could be read. What it says then is of the "
                "questions where it happens to comply."
            )


def _shortfall(evidence: Evidence) -> Iterator[str]:
    kind = "field and level" if evidence.sample.known > 0 else "field"
    for what, setting, short in (
        ("The sample", "sampling_by_difficulty.size", evidence.sample.short),
        ("The benchmark", "checking.size", evidence.sample.final_short),
    ):
        if short is not None and short.sampled < short.size:
            yield (
                f"{what} has {short.sampled:,} of the {short.size:,} questions asked for "
                f"(`{setting}`): {count(short.size - short.sampled, 'question')} short."
            )
        if short is not None and short.missing:
            strata, have = ("stratum", "has") if short.strata == 1 else ("strata", "have")
            yield (
                f"{what}: {short.strata:,} {strata} ({kind}) {have} too few questions, "
                f"{short.missing:,} short of the target together. Others gave more."
            )


def _apart(evidence: Evidence) -> Iterator[str]:
    for row in evidence.distances.to_dict("records"):
        distance, chance = float(row["total_variation"]), float(row["chance_95"])
        if math.isnan(distance) and row["reason"]:
            yield f"The halves cannot be compared by {row['attribute']}: {row['reason']}."
        elif distance > chance:
            yield (
                f"The halves differ in {row['attribute']} more than 19 of 20 pairs of random "
                f"halves do: total variation {coefficient(distance)}, chance {coefficient(chance)}."
            )


def _agreement(evidence: Evidence) -> Iterator[str]:
    rows = evidence.alphas.to_dict("records")
    without: dict[str, list[str]] = {}
    for row in rows:
        if math.isnan(row["alpha"]):
            without.setdefault(str(row["reason"]), []).append(f"{row['task']}, {row['name']}")
    for reason, names in without.items():
        yield f"The judges' agreement (alpha) does not exist for {joined(names)}: {reason}."
    low = [row for row in rows if row["alpha"] < RELIABLE]
    if low:
        listed = joined([_alpha_note(row, coefficient(row["alpha"], 2)) for row in low])
        yield f"The judges agree too little for conclusions (alpha below {RELIABLE}) in {listed}."


def _fields(evidence: Evidence) -> Iterator[str]:
    overall = evidence.accuracy[evidence.accuracy["field"] == ""]
    if overall.empty:
        yield "Nobody knows how often the fields are right: no labelled question has one."
        return
    for row in overall.to_dict("records"):
        right = float(row["recall"])
        if right < _LOW_ACCURACY:
            yield (
                f"The field is right for {percent(right)} of {row['n_items']:,} labelled questions "
                f"{bounds(row['low'], row['high'], 2)}: quotas and halves by field are only as "
                "good."
            )


def _origin(evidence: Evidence) -> Iterator[str]:
    steps = evidence.steps
    if steps.clean_domains < _FEW_DOMAINS:
        yield (
            f"The clean questions are of {count(steps.clean_domains, 'known domain')}; the paper's "
            "are of more than 3,000."
        )
    if steps.largest_domain > _MUCH_OF_ONE:
        yield f"One domain gave {percent(steps.largest_domain)} of the clean questions."
    if steps.unreadable:
        were = "was" if steps.unreadable == 1 else "were"
        yield f"{count(steps.unreadable, 'document')} could not be read and {were} left out."
    if evidence.extraction.empty:
        yield "No document is labelled: precision and recall of extraction are not known."


def _halves_known(evidence: Evidence) -> Iterator[str]:
    unjudged = evidence.steps.leaks.unjudged
    if unjudged and not evidence.judged_leaks:
        yield (
            f"No judge looked at {count(unjudged, 'pair')} of similar questions across the halves: "
            "the share of common words decided. `splitting.leakage.judge` names one."
        )
    elif unjudged:
        yield (
            f"The judge's reply about {count(unjudged, 'pair')} of similar questions could not be "
            "read: the share of common words decided."
        )
    n = min(evidence.steps.public, evidence.steps.closed)
    if n and (half := 1.96 * math.sqrt(0.25 / n)) > _WIDE:
        yield (
            f"With {n:,} questions in a half, an accuracy near 50% is known to ±{100 * half:.1f} "
            "points (95%); smaller differences between models or halves say nothing."
        )
