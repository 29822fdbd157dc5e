"""What was done and why, in plain words, from the settings and from what became of the rules."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import pandas as pd

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.filtering import (
    DuplicatesParams,
    EasyParams,
    FilteringParams,
    FilterModelChoice,
    SimilarParams,
)


class Step(NamedTuple):
    """One step: its name, whether it is switched on, what it does, and why.

    `status` is what became of it in this run (`ran`, `partial`, `not_run`, `off`, "" where it is
    not known) and `reason` says why it is not `ran`.
    """

    name: str
    on: bool
    what: str
    why: str
    rules: tuple[str, ...]
    status: str = ""
    reason: str = ""


def describe_steps(
    ingestion: BenchmarkParams,
    filtering: FilteringParams,
    filter_models: list[str],
    rule_coverage: pd.DataFrame,
) -> list[Step]:
    """Describe the rules in the order in which they are reported, with the status of each."""
    models = _models(len(filter_models))
    became = {str(row["rule"]): row for row in rule_coverage.to_dict("records")}
    steps = [
        _anomalous(ingestion.anomalous_subjects, filtering.anomalous.enabled),
        _easy(filtering.easy, models),
        Step(
            "Solvable from the options alone",
            filtering.answer_only.enabled,
            f"An item is removed where {models} found the right option with a probability above "
            f"{filtering.answer_only.confidence:g} without seeing the question.",
            "It tests something other than what it asks. This does not prove that it was "
            "memorised.",
            ("answer_only",),
        ),
        Step(
            "Suspect labels",
            filtering.suspect_label.enabled,
            f"An item is reported where {models} gave a wrong answer with a probability above "
            f"{filtering.suspect_label.confidence:g}. It stays.",
            "Its label may be wrong, or it may just be hard: a person has to look.",
            ("suspect_label",),
        ),
        _duplicates(filtering.duplicates),
        _similar(filtering.similar),
    ]
    return [_with_status(step, became) for step in steps]


def _with_status(step: Step, became: dict[str, dict[Any, Any]]) -> Step:
    row = next((became[rule] for rule in step.rules if rule in became), None)
    if row is None or not step.on:
        return step
    return step._replace(status=str(row["status"]), reason=str(row["reason"] or ""))


def describe_choice(rule: Collection[str]) -> str:
    """Say how the filter models were chosen, "" where the parameter `filter_models` names them."""
    if not isinstance(rule, Mapping):
        return ""
    choice = FilterModelChoice.model_validate(rule)
    which = {
        "strongest": "the strongest ones",
        "forward": "the strongest of the weaker half, so that only stronger models judge what "
        "they chose",
    }[choice.choose]
    each = "" if choice.distinct == "none" else f", at most one of each {choice.distinct}"
    return f"They were chosen by their answers: {which}{each}."


def describe_combination(filtering: FilteringParams) -> str:
    """Say how the rules are combined."""
    if filtering.independent:
        return (
            "The rules are independent: each sees all items, and an item stays when no rule "
            "removes it. A group of copies can lose all its members in this way."
        )
    return (
        "Rules about single items come first; rules about groups (duplicates, similar items) then "
        "choose among what is left, so that a group never loses its last item."
    )


def describe_evaluation(evaluation: EvaluationParams, held_out: int) -> str:
    """Say how the result was judged; `held_out` is the number of held-out models."""
    text = (
        "Then models were ranked on all items and on the kept ones. A model that chose the items "
        "is no fair judge of the choice. What counts are held-out models: they took no part in it "
        "and share no family with a model that did"
    )
    text += "." if held_out else "; this run has none, so its metrics are in-sample."
    if evaluation.random_subsets:
        text += (
            f" The results are compared with {evaluation.random_subsets:,} random subsets of the "
            "same size: a filter is useful only where it does better than chance."
        )
    if evaluation.bootstrap_samples:
        text += " Intervals are 95%, over items; those over models stand below them."
    return text


def _models(n: int) -> str:
    if n == 0:
        return "every filter model (none is named, so no item is judged)"
    return {1: "the filter model", 2: "both filter models"}.get(n, f"all {n} filter models")


def _anomalous(subjects: tuple[str, ...], on: bool) -> Step:
    if subjects:
        names = ", ".join(subjects).replace("_", " ")
        what = f"All items of these subjects are removed: {names}."
    else:
        what = (
            "A benchmark can name subjects that are unlike the rest, to be removed as a whole; "
            "this one names none."
        )
    why = "They measure something else than the rest." if subjects else ""
    return Step("Subjects unlike the rest", on, what, why, ("anomalous",))


def _easy(easy: EasyParams, models: str) -> Step:
    sure = (
        "; how sure they were is not asked"
        if easy.confidence is None
        else f" with a probability above {easy.confidence:g}"
    )
    what = f"An item is removed where {models} gave the right answer{sure}."
    if easy.retain:
        share = f"{easy.retain:.0%}"
        stays = (
            f"{share} of these items stay, spread over the subjects"
            if easy.retention == "quota"
            else f"Each of these items stays with a probability of {share}"
        )
        what += f" {stays}, so that a later model that has forgotten them is noticed."
    why = "It does not tell these models apart."
    return Step("Easy items", easy.enabled, what, why, ("easy", "easy_unanimous"))


def _duplicates(duplicates: DuplicatesParams) -> Step:
    same = {
        "question_choices_answer": "the same question, set of options and answer",
        "question": "the same question, whatever their options",
    }
    return Step(
        "Duplicates",
        duplicates.enabled,
        f"Of items with {same[duplicates.key]}, all but one are removed. Items with the same "
        "question and options but different answers are reported.",
        "A copy counts its question twice.",
        ("duplicate",),
    )


def _similar(similar: SimilarParams) -> Step:
    if isinstance(similar.threshold, float):
        threshold = f"{similar.threshold:g}, set by hand"
    else:
        threshold = (
            f"the first peak in the distribution of distances to the {similar.k} nearest items"
        )
        if similar.halve_single_peak:
            threshold += ", or half of it where there is only one peak"
    what = (
        "Question and options are turned into a vector that stands for their meaning. Items "
        f"closer than a distance δ make a group, of which {similar.remove:.0%} is removed. δ is "
        f"{threshold}."
    )
    if similar.string_similarity_exempt is not None:
        what += (
            f" Questions more than {similar.string_similarity_exempt:.0%} alike letter by letter "
            "are taken for variants, such as another number, and left alone."
        )
    why = "Near-copies ask the same thing more than once."
    return Step("Similar items", similar.enabled, what, why, ("similar",))
