"""The headline and the warnings of the construction report."""

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from benchwright.core.wording import coefficient, count, percent
from benchwright.methods.mmlu_cf.construction_steps import Steps
from benchwright.reports.mmlu_cf.judges import doubtful_judges
from benchwright.reports.verdict import Verdict, write_verdict

_FEW_DOMAINS = 100  # the paper has more than 3,000


def judge_construction(
    construction_steps: Steps,
    judge_parse_rates: pd.DataFrame,
    judge_agreement: pd.DataFrame,
    half_distances: pd.DataFrame,
    extraction_measures: pd.DataFrame,
) -> Verdict:
    """Write the counts of questions, the pairs that ask the same, and the warnings."""
    steps = construction_steps
    asked = Counter(judge_parse_rates["task"])
    if not steps.public + steps.closed:
        text = (
            f"No benchmark was made: {count(steps.extracted, 'question')} extracted from "
            f"{_origin_of(steps)}, {steps.clean:,} clean, {steps.sampled:,} sampled, "
            f"{steps.checked:,} checked."
        )
        return write_verdict(text)
    notes = [
        *_halves(steps, half_distances),
        *_judges(steps, asked),
        *doubtful_judges(judge_parse_rates, judge_agreement),
        *_shortfall(steps),
        *_origin(steps),
    ]
    if extraction_measures.empty:
        notes.append("The accuracy of extraction is unknown: no document is labelled.")
    checkers = asked["checking"]
    return write_verdict(_headline(steps, checkers), tiles=_figures(steps, checkers), notes=notes)


def _origin_of(steps: Steps) -> str:
    return f"{count(steps.documents, 'document')} of {count(steps.domains, 'domain')}"


def _headline(steps: Steps, checkers: int) -> str:
    made = f"{steps.public:,} public and {steps.closed:,} closed questions from {_origin_of(steps)}"
    if not checkers:
        return f"A draft: no judge has checked the {made}."
    unjudged = steps.checked - steps.passed
    doubt = f", {unjudged:,} remain unjudged" if unjudged else ""
    passed = f"{steps.passed:,} of {steps.sampled:,} passed the check by {count(checkers, 'judge')}"
    return f"{made}; {passed}{doubt}."


def _figures(steps: Steps, checkers: int) -> list[tuple[str, str]]:
    clean = percent(steps.clean / steps.extracted if steps.extracted else None)
    checked = f"{steps.passed:,} of {steps.sampled:,}" if checkers else "none"
    return [
        (clean, f"of the {steps.extracted:,} questions extracted are clean"),
        (percent(steps.rated), "of the clean questions have a known difficulty"),
        (checked, "of the sampled questions passed a check"),
    ]


def _halves(steps: Steps, distances: pd.DataFrame) -> Iterator[str]:
    if unjudged := steps.unjudged_pairs:
        yield (
            f"No judge compared {count(unjudged, 'pair')} of similar questions; the share of "
            "common words decided. Name a judge in `splitting.leakage.judge`."
        )
    for row in distances.to_dict("records"):
        distance = row["total_variation"]
        chance = row["chance_95"]
        if distance > chance:
            yield (
                f"The halves differ in {row['attribute']} more than chance explains: the total "
                f"variation of {coefficient(distance)} is above the 95th percentile of random "
                f"halves ({coefficient(chance)})."
            )


def _judges(steps: Steps, asked: Mapping[str, int]) -> Iterator[str]:
    if not asked["difficulty"] and not steps.rated:
        yield (
            "No judge rated difficulty, so the sample treats all questions as equally difficult. "
            "Name judges in `difficulty.judges`."
        )
    if not asked["checking"]:
        yield (
            "No judge checked the questions, so wrong, unclear and harmful ones were not removed. "
            "Name judges in `checking.judges`."
        )
    if 0 < steps.rated < 1:
        yield (
            f"{percent(1 - steps.rated)} of the clean questions have no difficulty level and could "
            "not be sampled."
        )
    if not steps.altered.get("rephrase"):
        yield (
            "Every question keeps the wording of its document (the paper's rule 1 rephrases it). "
            "Name a model in `perturbation.transforms`: {transform: rephrase, model: …}."
        )


def _shortfall(steps: Steps) -> Iterator[str]:
    for what, setting, n, size in (
        ("sample", "sampling_by_difficulty.size", steps.sampled, steps.size),
        ("benchmark", "checking.size", steps.final, steps.final_size or 0),
    ):
        if n < size:
            yield f"The {what} has only {n:,} of the {size:,} questions requested (`{setting}`)."


def _origin(steps: Steps) -> Iterator[str]:
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
