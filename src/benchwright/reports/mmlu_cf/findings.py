"""The headline, the tiles and the warnings of the construction report."""

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
from benchwright.params.mmlu_cf import SplittingParams
from benchwright.reports.mmlu_cf.judges import LOW_PARSE_RATE, RELIABLE, pooled_agreement
from benchwright.reports.page.parts import Text, Tiles, Top
from benchwright.reports.page.wording import bounds, coefficient, count, joined, tile

_LOW_ACCURACY = 0.8
_FEW_DOMAINS = 100  # the paper has more than 3,000
_MUCH_OF_ONE = 0.2  # share of the clean questions from one domain
_GUESSABLE = 0.5  # above it, a guess is more often right than wrong
_WIDE = 0.03  # half of a 95% interval of an accuracy, 0–1


def percent(share: float) -> str:
    """Format 0.836 as `83.6%`; — if missing. Only 1 is written as 100%, and only 0 as 0%."""
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
    `judged_leaks` is true if a judge decides which pairs are the same question.
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


def show_construction_top(
    construction_steps: Steps,
    sample_by_difficulty: SampleByDifficulty,
    judge_parse_rates: Sequence[ParseRate],
    judge_agreement: pd.DataFrame,
    half_distances: pd.DataFrame,
    extraction_measures: pd.DataFrame,
    field_accuracy: pd.DataFrame,
    splitting: SplittingParams,
) -> Top:
    """Write the counts of questions, the difference between the halves, and the warnings."""
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
    headline = write_headline(evidence)
    if not construction_steps.public + construction_steps.closed:
        return Top(headline)
    lead = [Text(_halves(evidence), "judgement"), Tiles(_tiles(evidence))]
    return Top(headline, lead, write_notes(evidence))


def write_headline(evidence: Evidence) -> str:
    """Write how many documents became how many questions."""
    steps = evidence.steps
    origin = f"{count(steps.documents, 'document')} of {count(steps.domains, 'domain')}"
    if not steps.public + steps.closed:
        return (
            f"No benchmark was made: {count(steps.extracted, 'question')} extracted from {origin}, "
            f"{steps.clean:,} clean, {steps.sampled:,} sampled, {steps.checked:,} checked."
        )
    clean = percent(steps.clean / steps.extracted if steps.extracted else math.nan)
    return (
        f"{steps.public:,} public and {steps.closed:,} closed questions from {origin}; {clean} of "
        f"the {steps.extracted:,} questions extracted are clean, {steps.sampled:,} were sampled; "
        f"{_judged(evidence)}."
    )


def _judged(evidence: Evidence) -> str:
    raters, checkers = evidence.judges("difficulty"), evidence.judges("checking")
    if not raters and not checkers and not evidence.sample.known:
        return "no judge rated difficulty or quality"
    steps = evidence.steps
    if raters:
        share = percent(steps.rated / steps.clean if steps.clean else math.nan)
        judges = count(len(raters), "judge")
        rated = f"{judges} rated the difficulty of {share} of the clean questions"
        if steps.answered:
            share = percent(steps.answered / steps.clean)
            rated += f", models' responses give it for another {share}"
    elif evidence.sample.known:
        known = percent(evidence.sample.known)
        rated = f"{known} of the clean questions have a difficulty from models' responses"
    else:
        rated = "no judge rated difficulty"
    if not checkers:
        return f"{rated}; no judge checked quality"
    by = count(len(checkers), "judge")
    unjudged = steps.checked - steps.passed
    remain = f", {unjudged:,} remain unjudged" if unjudged else ""
    return f"{rated}; {steps.passed:,} of {steps.sampled:,} passed the check by {by}{remain}"


def _halves(evidence: Evidence) -> str:
    sentences = []
    rows = {row["attribute"]: row for row in evidence.distances.to_dict("records")}
    if "field" in rows and not math.isnan(rows["field"]["total_variation"]):
        distance, chance = (float(rows["field"][name]) for name in ("total_variation", "chance_95"))
        where = "within" if distance <= chance else "outside"
        sentences.append(
            f"A share of {coefficient(distance)} of the questions would have to change field to "
            f"make the halves equal, {where} the 95% range of random halves (up to "
            f"{coefficient(chance)})."
        )
    return " ".join([*sentences, describe_leaks(evidence.steps.leaks)])


def describe_leaks(leaks: Leaks) -> str:
    """Describe what happened to questions that were in both halves."""
    if not leaks.found:
        return "No question was found in both halves in different words."
    pairs, were = count(leaks.found, "pair"), "was" if leaks.found == 1 else "were"
    ends = []
    if leaks.moved:
        ends.append(f"{leaks.moved:,} moved into one half")
    if leaks.removed:
        ends.append(f"{count(leaks.removed, 'question')} removed")
    if leaks.left:
        ends.append(f"{leaks.left:,} still in both halves")
    same = "the same question in different words"
    return f"{pairs} across the halves {were} {same}: {', '.join(ends)}."


def describe_rating_shift(rating_shift: Mapping[str, Any]) -> str:
    """Describe how the rules changed the judges' ratings; "" if the final items have none."""
    if not rating_shift["of"]:
        return ""
    if not rating_shift["n"]:
        return f"The effect of the rules on difficulty is unknown: {rating_shift['reason']}."
    low, high = (
        math.nan if rating_shift[end] is None else float(rating_shift[end])
        for end in ("low", "high")
    )
    interval = f" {bounds(low, high, 2)}" if not math.isnan(low) else ""
    before, after, shift = (
        coefficient(rating_shift[name], 2) for name in ("before", "after", "shift")
    )
    return (
        f"Under the rules, the judges' mean difficulty changed from {before} to {after} "
        f"(shift {shift}{interval}, {count(rating_shift['n'], 'question')} rated both times); "
        f"{percent(rating_shift['harder'])} rose, {percent(rating_shift['easier'])} fell, "
        f"{percent(rating_shift['same'])} kept their level."
    )


def _tiles(evidence: Evidence) -> list[dict[str, str]]:
    steps = evidence.steps
    tiles = [
        tile(
            "Clean",
            f"{steps.clean:,} of {steps.extracted:,}",
            f"questions extracted from {count(steps.documents, 'document')}",
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
        tile("Field accuracy", percent(row["recall"]), f"on {row['n_items']:,} labelled questions")
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
    """Write the warnings of this run, most serious first."""
    parts = (
        *(_leaks_left, _guessable, _judges, _wording, _shortfall, _apart, _agreement, _fields),
        *(_origin, _halves_known),
    )
    return [note for part in parts for note in part(evidence)]


def _leaks_left(evidence: Evidence) -> Iterator[str]:
    left = evidence.steps.leaks.left
    if left:
        remain = "remains" if left == 1 else "remain"
        yield (
            f"{count(left, 'pair')} of equivalent questions {remain} across the halves: the public "
            "half reveals answers of the closed half."
        )


def _guessable(evidence: Evidence) -> Iterator[str]:
    steps = evidence.steps
    if steps.guessable > _GUESSABLE:
        yield (
            f"Whoever has the documents can guess {steps.guessable:.0%} of the closed half "
            f"without the key: it has {steps.closed:,} of {steps.may_be_closed:,} questions that "
            "may be closed. Add documents, or lower `sampling_by_difficulty.size`."
        )


def _judges(evidence: Evidence) -> Iterator[str]:
    known, asked = evidence.sample.known, evidence.sample.asked
    if not evidence.judges("difficulty") and not known:
        yield (
            "No judge rated difficulty, so the sample treats all questions as equally difficult. "
            "Name judges in `difficulty.judges`."
        )
    if not evidence.judges("checking"):
        yield (
            "No judge checked the questions, so wrong, unclear and harmful ones were not removed. "
            "Name judges in `checking.judges`."
        )
    if 0 < known < 1:
        about = "" if asked is None else f" `difficulty.at_most` is {asked:,}."
        some = " The rated ones are not a random sample." if evidence.judges("difficulty") else ""
        yield (
            f"{percent(1 - known)} of the clean questions have no difficulty level and could "
            f"not be sampled.{about}{some}"
        )
    for rate in evidence.rates:
        if rate.read < LOW_PARSE_RATE:
            yield (
                f"Only {percent(rate.read)} of {rate.asked:,} prompts to {rate.judge} "
                f"({rate.task}) got a readable reply. Its results cover only the questions for "
                "which it followed the format."
            )


def _wording(evidence: Evidence) -> Iterator[str]:
    if not evidence.steps.altered.get("rephrase"):
        yield (
            "Every question keeps the wording of its document (the paper's rule 1 rephrases it). "
            "Name a model in `perturbation.transforms`: {transform: rephrase, model: …}."
        )


def _shortfall(evidence: Evidence) -> Iterator[str]:
    kind = "field and level" if evidence.sample.known > 0 else "field"
    for what, setting, short in (
        ("sample", "sampling_by_difficulty.size", evidence.sample.short),
        ("benchmark", "checking.size", evidence.sample.final_short),
    ):
        if short is not None and short.sampled < short.size:
            yield (
                f"The {what} has {short.sampled:,} of the {short.size:,} questions requested "
                f"(`{setting}`): {count(short.size - short.sampled, 'question')} short."
            )
        if short is not None and short.missing:
            strata, have = ("stratum", "has") if short.strata == 1 else ("strata", "have")
            yield (
                f"In the {what}, {short.strata:,} {strata} ({kind}) {have} too few questions, "
                f"{short.missing:,} below target in total. Other strata may exceed their target."
            )


def _apart(evidence: Evidence) -> Iterator[str]:
    for row in evidence.distances.to_dict("records"):
        distance, chance = float(row["total_variation"]), float(row["chance_95"])
        if math.isnan(distance) and row["reason"]:
            yield f"The halves cannot be compared by {row['attribute']}: {row['reason']}."
        elif distance > chance:
            yield (
                f"The halves differ in {row['attribute']} more than chance explains: the total "
                f"variation of {coefficient(distance)} is above the 95th percentile of random "
                f"halves ({coefficient(chance)})."
            )


def _agreement(evidence: Evidence) -> Iterator[str]:
    rows = evidence.alphas.to_dict("records")
    without: dict[str, list[str]] = {}
    for row in rows:
        if math.isnan(row["alpha"]):
            without.setdefault(str(row["reason"]), []).append(f"{row['task']}, {row['name']}")
    for reason, names in without.items():
        yield f"Krippendorff's alpha is undefined for {joined(names)}: {reason}."
    low = [row for row in rows if row["alpha"] < RELIABLE]
    if low:
        listed = joined([_alpha_note(row, coefficient(row["alpha"], 2)) for row in low])
        yield f"The judges agree too little for conclusions (alpha below {RELIABLE}) on {listed}."


def _fields(evidence: Evidence) -> Iterator[str]:
    overall = evidence.accuracy[evidence.accuracy["field"] == ""]
    if overall.empty:
        yield "The accuracy of the fields is unknown: no labelled question has a field."
        return
    for row in overall.to_dict("records"):
        right = float(row["recall"])
        if right < _LOW_ACCURACY:
            yield (
                f"The field is correct for {percent(right)} of {row['n_items']:,} labelled "
                f"questions {bounds(row['low'], row['high'], 2)}; quotas and halves by field "
                "inherit these errors."
            )


def _origin(evidence: Evidence) -> Iterator[str]:
    steps = evidence.steps
    if steps.clean_domains < _FEW_DOMAINS:
        yield (
            f"The clean questions come from {count(steps.clean_domains, 'known domain')}; the "
            "paper uses more than 3,000."
        )
    if steps.largest_domain > _MUCH_OF_ONE:
        yield f"One domain accounts for {percent(steps.largest_domain)} of the clean questions."
    if steps.unreadable:
        yield f"{count(steps.unreadable, 'document')} could not be read."
    if evidence.extraction.empty:
        yield "No document is labelled, so precision and recall of extraction are unknown."


def _halves_known(evidence: Evidence) -> Iterator[str]:
    unjudged = evidence.steps.leaks.unjudged
    if unjudged and not evidence.judged_leaks:
        yield (
            f"No judge compared {count(unjudged, 'pair')} of similar questions across the halves; "
            "the share of common words decided. Name a judge in `splitting.leakage.judge`."
        )
    elif unjudged:
        yield (
            f"The judge's reply on {count(unjudged, 'pair')} of similar questions could not be "
            "read; the share of common words decided."
        )
    n = min(evidence.steps.public, evidence.steps.closed)
    if n and (half := 1.96 * math.sqrt(0.25 / n)) > _WIDE:
        yield (
            f"With {n:,} questions per half, an accuracy near 50% has a 95% interval of "
            f"±{100 * half:.1f} points; smaller differences between models or halves are "
            "inconclusive."
        )
