"""The headline, the tiles and the warnings of the construction report."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import (
    Leaks,
    ParseRate,
    SampleByDifficulty,
    Steps,
)
from benchwright.reports.mmlu_cf.judges import doubtful_judges
from benchwright.reports.page.parts import Text, Tiles, Top
from benchwright.reports.page.wording import coefficient, count, percent, tile

_FEW_DOMAINS = 100  # the paper has more than 3,000


class Evidence(NamedTuple):
    """The evidence behind the headline and the warnings.

    `agreement` is that of the judges, `distances` those of the halves, `extraction` compares
    questions with labels.
    """

    steps: Steps
    sample: SampleByDifficulty
    rates: Sequence[ParseRate]
    agreement: pd.DataFrame
    distances: pd.DataFrame
    extraction: pd.DataFrame

    def judges(self, task: str) -> int:
        """Count the judges that were asked in a task."""
        return sum(rate.task == task for rate in self.rates)


def show_construction_top(
    construction_steps: Steps,
    sample_by_difficulty: SampleByDifficulty,
    judge_parse_rates: Sequence[ParseRate],
    judge_agreement: pd.DataFrame,
    half_distances: pd.DataFrame,
    extraction_measures: pd.DataFrame,
) -> Top:
    """Write the counts of questions, the leaks between the halves, and the warnings."""
    evidence = Evidence(
        construction_steps,
        sample_by_difficulty,
        judge_parse_rates,
        judge_agreement,
        half_distances,
        extraction_measures,
    )
    headline = _headline(evidence)
    if not construction_steps.public + construction_steps.closed:
        return Top(headline)
    lead = [Text(_describe_leaks(construction_steps.leaks), "judgement"), Tiles(_tiles(evidence))]
    return Top(headline, lead, [note for part in _NOTES for note in part(evidence)])


def _headline(evidence: Evidence) -> str:
    """Write how many documents became how many questions."""
    steps = evidence.steps
    origin = f"{count(steps.documents, 'document')} of {count(steps.domains, 'domain')}"
    if not steps.public + steps.closed:
        return (
            f"No benchmark was made: {count(steps.extracted, 'question')} extracted from {origin}, "
            f"{steps.clean:,} clean, {steps.sampled:,} sampled, {steps.checked:,} checked."
        )
    clean = percent(steps.clean / steps.extracted if steps.extracted else None)
    checked = "no judge checked quality"
    if checkers := evidence.judges("checking"):
        by, unjudged = count(checkers, "judge"), steps.checked - steps.passed
        checked = f"{steps.passed:,} of {steps.sampled:,} passed the check by {by}"
        checked += f", {unjudged:,} remain unjudged" if unjudged else ""
    return (
        f"{steps.public:,} public and {steps.closed:,} closed questions from {origin}; {clean} of "
        f"the {steps.extracted:,} questions extracted are clean, {steps.sampled:,} were sampled; "
        f"the difficulty of {percent(evidence.sample.known)} of the clean questions is known; "
        f"{checked}."
    )


def _describe_leaks(leaks: Leaks) -> str:
    """Describe what happened to questions that were in both halves."""
    if not leaks.found:
        return "No question was found in both halves in different words."
    same = "the same question in both halves, in different words"
    return (
        f"{count(leaks.found, 'pair')} of {same}: {leaks.moved:,} moved into one half, "
        f"{count(leaks.removed, 'question')} removed, {leaks.left:,} still in both halves."
    )


def _tiles(evidence: Evidence) -> list[dict[str, str]]:
    tiles = []
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
    return tiles


def _halves(evidence: Evidence) -> Iterator[str]:
    steps = evidence.steps
    if left := steps.leaks.left:
        yield (
            f"{count(left, 'pair')} of equivalent questions left in both halves: the public half "
            "reveals answers of the closed half."
        )
    if unjudged := steps.leaks.unjudged:
        yield (
            f"No judge compared {count(unjudged, 'pair')} of similar questions across the halves; "
            "the share of common words decided. Name a judge in `splitting.leakage.judge`."
        )
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


def _judges(evidence: Evidence) -> Iterator[str]:
    known = evidence.sample.known
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
        yield (
            f"{percent(1 - known)} of the clean questions have no difficulty level and could "
            "not be sampled."
        )
    if not evidence.steps.altered.get("rephrase"):
        yield (
            "Every question keeps the wording of its document (the paper's rule 1 rephrases it). "
            "Name a model in `perturbation.transforms`: {transform: rephrase, model: …}."
        )
    yield from doubtful_judges(evidence.rates, evidence.agreement)


def _shortfall(evidence: Evidence) -> Iterator[str]:
    for what, setting, short in (
        ("sample", "sampling_by_difficulty.size", evidence.sample.short),
        ("benchmark", "checking.size", evidence.sample.final_short),
    ):
        if short is not None and short.sampled < short.size:
            yield (
                f"The {what} has only {short.sampled:,} of the {short.size:,} questions requested "
                f"(`{setting}`)."
            )


def _origin(evidence: Evidence) -> Iterator[str]:
    steps = evidence.steps
    if steps.clean_domains < _FEW_DOMAINS:
        yield (
            f"The clean questions come from {count(steps.clean_domains, 'known domain')}; the "
            "paper uses more than 3,000."
        )
    if steps.unreadable:
        yield (
            f"{count(steps.unreadable, 'document')} could not be read; the dataset "
            "`documents_read` names the files."
        )
    if evidence.extraction.empty:
        yield "The accuracy of extraction is unknown: no document is labelled."


_NOTES = (_halves, _judges, _shortfall, _origin)
"""Each yields its warnings; the most serious first."""
