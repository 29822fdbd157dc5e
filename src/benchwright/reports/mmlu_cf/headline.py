"""What was made, in sentences that can be quoted, and what to know before trusting it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.summary import (
    Leaks,
    ParseRate,
    SampleByDifficulty,
    Shortfall,
    Steps,
)
from benchwright.reports.mmlu_cf.plots.judges import RELIABLE
from benchwright.reports.mmlu_cf.wording import percent
from benchwright.reports.page.wording import bounds, coefficient, count, joined, tile

_LOW_PARSE_RATE = 0.9
_LOW_ACCURACY = 0.8
_FEW_DOMAINS = 100  # the paper has more than 3,000
_MUCH_OF_ONE = 0.2  # share of the clean questions from one domain
_WIDE = 0.03  # half of a 95% interval of an accuracy, 0–1


class Told(NamedTuple):
    """The evidence that headline and warnings speak of.

    Attributes:
        steps: documents and questions after each step.
        sample: of how many the difficulty is known, and what the samples lack.
        rates: replies of each judge in each task.
        alphas: rows of `JudgeAgreement` that are of all judges.
        distances: `HalfDistances`.
        extraction: `ExtractionMeasures`.
        accuracy: `FieldAccuracy`.
        judged_leaks: a judge was to decide which pairs are one question.
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
        """The judges that were asked in a task."""
        return [rate for rate in self.rates if rate.task == task]


class Headline(NamedTuple):
    """The top of the page.

    Attributes:
        made: what was made of what, and who judged it.
        halves: how far the halves are alike, and what of leaks; "" without halves.
        tiles: figures with names and notes.
    """

    made: str
    halves: str
    tiles: list[dict[str, str]]


def write_headline(told: Told) -> Headline:
    """Say how many questions of which origin came out, and what is known of them."""
    steps = told.steps
    origin = f"{count(steps.documents, 'document')} of {count(steps.domains, 'domain')}"
    if not steps.public + steps.closed:
        return Headline(
            f"No benchmark was made: {count(steps.found, 'question')} found in {origin}, "
            f"{steps.clean:,} clean, {steps.sampled:,} sampled, {steps.checked:,} checked.",
            "",
            [],
        )
    clean = percent(steps.clean / steps.found if steps.found else math.nan)
    made = (
        f"{steps.public:,} public and {steps.closed:,} closed questions from {origin}; {clean} of "
        f"the {steps.found:,} questions found are clean, {steps.sampled:,} of them were sampled; "
        f"{_judged(told)}."
    )
    return Headline(made, _halves(told), _tiles(told))


def _judged(told: Told) -> str:
    raters, checkers = told.judges("difficulty"), told.judges("checking")
    if not raters and not checkers and not told.sample.known:
        return "nobody judged difficulty or quality"
    steps = told.steps
    if raters:
        share = percent(steps.rated / steps.clean if steps.clean else math.nan)
        rated = f"{count(len(raters), 'judge')} rated the difficulty of {share} of the clean ones"
        if steps.answered:
            share = percent(steps.answered / steps.clean)
            rated += f", models' answers tell it of another {share}"
    elif told.sample.known:
        known = percent(told.sample.known)
        rated = f"{known} of the clean ones have a difficulty from models' answers"
    else:
        rated = "nobody judged difficulty"
    if not checkers:
        return f"{rated}; nobody judged quality"
    by = count(len(checkers), "judge")
    unjudged = steps.checked - steps.passed
    stay = f", {unjudged:,} stay unjudged" if unjudged else ""
    return f"{rated}; {steps.passed:,} of {steps.sampled:,} passed the check of {by}{stay}"


def _halves(told: Told) -> str:
    said = []
    rows = {row["attribute"]: row for row in told.distances.to_dict("records")}
    if "field" in rows and not math.isnan(rows["field"]["total_variation"]):
        own = rows["field"]
        found, chance = float(own["total_variation"]), float(own["chance_95"])
        than = "less" if found <= chance else "more"
        said.append(
            f"The halves differ in fields by a total variation of {coefficient(found)}, {than} "
            f"than 19 of 20 pairs of random halves ({coefficient(chance)})."
        )
    return " ".join([*said, leaks_said(told.steps.leaks)])


def leaks_said(leaks: Leaks) -> str:
    """What became of questions that stood on both sides."""
    if not leaks.found:
        return "No question was found on both sides in other words."
    pairs = count(leaks.found, "pair") + " of questions"
    ends = []
    if leaks.moved:
        ends.append(f"{leaks.moved:,} moved into one half")
    if leaks.dropped:
        ends.append(f"{count(leaks.dropped, 'question')} dropped")
    if leaks.left:
        ends.append(f"{leaks.left:,} still there")
    return f"{pairs} stood on both sides in other words: {', '.join(ends)}."


def again_said(ratings_again: Mapping[str, Any]) -> str:
    """How far the rules moved the judges' ratings; "" where nothing was rated again."""
    told = ratings_again
    if not told["of"]:
        return ""
    if not told["n"]:
        return f"How far the rules moved the difficulty is not known: {told['reason']}."
    low, high = (math.nan if told[end] is None else float(told[end]) for end in ("low", "high"))
    within = f" {bounds(low, high, 2)}" if not math.isnan(low) else ""
    before, after, shift = (coefficient(told[name], 2) for name in ("before", "after", "shift"))
    return (
        f"Judged again after the rules, the mean difficulty went from {before} to "
        f"{after} ({shift}{within}, "
        f"{count(told['n'], 'question')} rated both times); "
        f"{percent(told['harder'])} rose, {percent(told['easier'])} fell, "
        f"{percent(told['same'])} kept their level."
    )


def _tiles(told: Told) -> list[dict[str, str]]:
    steps = told.steps
    tiles = [
        tile(
            "Clean",
            f"{steps.clean:,} of {steps.found:,}",
            f"questions found in {count(steps.documents, 'document')}",
        )
    ]
    overall = told.extraction[told.extraction["style"] == ""].to_dict("records")
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
        for row in told.accuracy[told.accuracy["field"] == ""].to_dict("records")
    ]
    if told.sample.known:
        tiles.append(tile("Difficulty known", percent(told.sample.known), "of the clean questions"))
    if told.rates:
        worst = min(told.rates, key=lambda rate: rate.read)
        tiles.append(tile("Lowest parse rate", percent(worst.read), f"{worst.judge}, {worst.task}"))
    known = told.alphas[told.alphas["alpha"].notna()].to_dict("records")
    if known:
        row = min(known, key=lambda one: float(one["alpha"]))
        told_bounds = bounds(float(row["low"]), float(row["high"]), 2)
        note = f"{row['task']}, {row['name']}" + (f" {told_bounds}" if told_bounds else "")
        tiles.append(tile("Lowest alpha", coefficient(float(row["alpha"]), 2), note))
    return tiles


def write_notes(told: Told) -> list[str]:
    """The warnings of this run, the gravest first."""
    if not told.steps.public + told.steps.closed:
        return []
    parts = (_leaks_left, _judges, _shortfall, _apart, _agreement, _fields, _origin, _halves_known)
    return [note for part in parts for note in part(told)]


def _leaks_left(told: Told) -> Iterator[str]:
    left = told.steps.leaks.left
    if left:
        stand = "stands" if left == 1 else "stand"
        yield (
            f"{count(left, 'pair')} of questions that are one still {stand} on both sides: the "
            "public half tells answers of the closed one."
        )


def _judges(told: Told) -> Iterator[str]:
    known, asked = told.sample.known, told.sample.asked
    if not told.judges("difficulty") and not known:
        yield (
            "Nobody judged difficulty: the questions may be of any, and the sample was drawn as if "
            "all had one level. `difficulty.judges` names models that rate."
        )
    if not told.judges("checking"):
        yield (
            "Nobody checked the questions: wrong, unclear and harmful ones are still among them. "
            "`checking.judges` names models that check."
        )
    if 0 < known < 1:
        about = "" if asked is None else f" `difficulty.at_most` asked about {asked:,}."
        some = " Those with one are no random sample." if told.judges("difficulty") else ""
        yield (
            f"{percent(1 - known)} of the clean questions have no level of difficulty and "
            f"could not be sampled.{about}{some}"
        )
    for rate in told.rates:
        if rate.read < _LOW_PARSE_RATE:
            yield (
                f"Only {percent(rate.read)} of {rate.asked:,} messages to {rate.judge} "
                f"({rate.task}) got a reply that could be read. What it says then is of the "
                "questions where it happens to comply."
            )


def _shortfall(told: Told) -> Iterator[str]:
    for what, setting, short in (
        ("The sample", "sampling_by_difficulty.size", told.sample.short),
        ("The benchmark", "checking.size", told.sample.final_short),
    ):
        if short is not None:
            yield from _lacking(what, setting, short, levels_known=told.sample.known > 0)


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


def _apart(told: Told) -> Iterator[str]:
    for row in told.distances.to_dict("records"):
        found, chance = float(row["total_variation"]), float(row["chance_95"])
        if math.isnan(found) and row["reason"]:
            yield f"The halves cannot be compared by {row['attribute']}: {row['reason']}."
        elif found > chance:
            yield (
                f"The halves differ in {row['attribute']} more than 19 of 20 pairs of random "
                f"halves do: total variation {coefficient(found)}, chance {coefficient(chance)}."
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
            f"{row['task']}, {row['name']} {coefficient(row['alpha'], 2)} "
            f"{bounds(row['low'], row['high'], 2)}".strip()
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
                f"{bounds(row['low'], row['high'], 2)}: quotas and halves by field are only as "
                "good."
            )


def _origin(told: Told) -> Iterator[str]:
    steps = told.steps
    if steps.clean_domains < _FEW_DOMAINS:
        yield (
            f"The clean questions are of {count(steps.clean_domains, 'known domain')}; the paper's "
            "are of more than 3,000."
        )
    if steps.largest_domain > _MUCH_OF_ONE:
        yield f"One domain gave {percent(steps.largest_domain)} of the clean questions."
    if steps.left_out:
        were = "was" if steps.left_out == 1 else "were"
        yield f"{count(steps.left_out, 'document')} could not be read and {were} left out."
    if told.extraction.empty:
        yield "No document is labelled: precision and recall of extraction are not known."


def _halves_known(told: Told) -> Iterator[str]:
    unjudged = told.steps.leaks.unjudged
    if unjudged and not told.judged_leaks:
        yield (
            f"No judge looked at {count(unjudged, 'pair')} of similar questions across the halves: "
            "the share of common words decided. `splitting.leakage.judge` names one."
        )
    elif unjudged:
        yield (
            f"The judge's reply about {count(unjudged, 'pair')} of similar questions could not be "
            "read: the share of common words decided."
        )
    n = min(told.steps.public, told.steps.closed)
    if n and (half := 1.96 * math.sqrt(0.25 / n)) > _WIDE:
        yield (
            f"With {n:,} questions in a half, an accuracy near 50% is known to ±{100 * half:.1f} "
            "points (95%); smaller differences between models or halves say nothing."
        )
