"""Descriptions of the method and its reasons, from the settings and the status of the rules."""

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
    OptionSupersetParams,
    SimilarParams,
)


class Step(NamedTuple):
    """A step: its name, whether it is switched on, what it does, and why.

    `status` is the rule's status in this run (`ran`, `partial`, `not_run`, `off`, "" if unknown);
    `reason` explains a status other than `ran`.
    """

    name: str
    on: bool
    what: str
    why: str
    rules: tuple[str, ...]
    status: str = ""
    reason: str = ""

    def state(self) -> list[str]:
        """Return the state of a rule that did not run as usual, and the reason."""
        off = not self.on or self.status == "off"
        words = {"not_run": "did not run", "partial": "partial"}
        state = "switched off" if off else words.get(self.status, "")
        return [text for text in (state, self.reason) if text]


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
            f"An item is removed if {models} chose the right option with a probability above "
            f"{filtering.answer_only.confidence:g} without seeing the question.",
            "It does not test what it asks. This does not prove that it was memorised.",
            ("answer_only",),
        ),
        Step(
            "Suspect labels",
            filtering.suspect_label.enabled,
            f"An item is reported if {models} gave a wrong answer with a probability above "
            f"{filtering.suspect_label.confidence:g}. It is not removed.",
            "Its label may be wrong, or the item may be hard: it needs manual review.",
            ("suspect_label",),
        ),
        _duplicates(filtering.duplicates),
        _option_superset(filtering.option_superset),
        _similar(filtering.similar),
    ]
    return [_with_status(step, became) for step in steps]


def _with_status(step: Step, became: dict[str, dict[Any, Any]]) -> Step:
    row = next((became[rule] for rule in step.rules if rule in became), None)
    if row is None or not step.on:
        return step
    return step._replace(status=str(row["status"]), reason=str(row["reason"] or ""))


def describe_choice(rule: Collection[str] | None) -> str:
    """Describe the choice of filter models; "" where the parameter `filter_models` names them."""
    if rule == "all":
        return "All models choose the items, so none is held out to judge the result."
    choice = read_choice(rule)
    if choice is None:
        return ""
    which = {
        "strongest": "the strongest ones",
        "forward": "the strongest of the weaker half, so that stronger models remain for "
        "evaluation",
    }[choice.choose]
    each = "" if choice.distinct == "none" else f", at most one of each {choice.distinct}"
    return f"They were chosen by their responses: {which}{each}."


def read_choice(rule: Collection[str] | None) -> FilterModelChoice | None:
    """Return the rule of the parameter `filter_models`, None where it names the models."""
    if isinstance(rule, str):
        rule = {"choose": rule}
    named = rule is not None and not isinstance(rule, Mapping)
    return (
        None if named or rule == {"choose": "all"} else FilterModelChoice.model_validate(rule or {})
    )


def describe_combination(filtering: FilteringParams) -> str:
    """Describe how the rules are combined."""
    if filtering.independent:
        return (
            "The rules are independent: each rule sees all items, and an item is kept if no rule "
            "removes it. A group of copies can lose all of its items."
        )
    return (
        "Rules about single items run first. Rules about groups (copies, similar items) then "
        "choose among the remaining items, so that a group never loses its last item."
    )


def describe_evaluation(evaluation: EvaluationParams, held_out: int) -> str:
    """Describe the evaluation; `held_out` is the number of held-out models."""
    text = (
        "Models are ranked on all items and on the kept ones. The evidence comes from held-out "
        "models, which are neither filter models nor of the same family as one."
    )
    if not held_out:
        text += " This run has none, so its metrics are in-sample."
    if evaluation.random_subsets:
        text += (
            f" The results are compared with {evaluation.random_subsets:,} random subsets of the "
            "same size: a filter is useful only where it does better than chance."
        )
    if evaluation.bootstrap_samples:
        text += " Intervals are 95% intervals over items; intervals over models are below them."
    return text


def _models(n: int) -> str:
    if n == 0:
        return "all filter models (none is configured, so no item is judged)"
    return {1: "the filter model", 2: "both filter models"}.get(n, f"all {n} filter models")


def _anomalous(subjects: tuple[str, ...], on: bool) -> Step:
    if subjects:
        names = ", ".join(subjects).replace("_", " ")
        what = f"All items of these subjects are removed: {names}."
    else:
        what = (
            "A benchmark can list anomalous subjects, whose items are all removed; this one lists "
            "none."
        )
    why = "They measure something other than the rest." if subjects else ""
    return Step("Anomalous subjects", on, what, why, ("anomalous",))


def _easy(easy: EasyParams, models: str) -> Step:
    sure = (
        ", whatever the probability"
        if easy.confidence is None
        else f" with a probability above {easy.confidence:g}"
    )
    what = f"An item is removed if {models} answered correctly{sure}."
    if easy.retain:
        share = f"{easy.retain:.0%}"
        retained = (
            f"{share} of these items are retained, spread over the subjects"
            if easy.retention == "quota"
            else f"Each of these items is retained with a probability of {share}"
        )
        what += f" {retained}, so that regressions of later models are noticed."
    why = "It does not separate these models."
    return Step("Easy items", easy.enabled, what, why, ("easy", "easy_unanimous"))


def _duplicates(duplicates: DuplicatesParams) -> Step:
    same = {
        "question_choices_answer": "the same question, set of options and answer",
        "question": "the same question, with any options",
    }
    return Step(
        "Duplicates",
        duplicates.enabled,
        f"Of items with {same[duplicates.key]}, all but one are removed. Items with the same "
        "question and options but different answers are reported.",
        "A copy gives its question double weight.",
        ("duplicate",),
    )


def _option_superset(superset: OptionSupersetParams) -> Step:
    return Step(
        "Copies with other options",
        superset.enabled,
        "Of items with the same question and answer, of which one has at least "
        f"{superset.share:.0%} of the other's options, the one with the most options is kept.",
        "Other distractors do not make another question.",
        ("option_superset",),
    )


def _similar(similar: SimilarParams) -> Step:
    if isinstance(similar.threshold, float):
        threshold = f"{similar.threshold:g}, set in the parameters"
    else:
        threshold = (
            f"the first peak in the distribution of distances to the {similar.k} nearest items"
        )
        if similar.halve_single_peak:
            threshold += ", or half of it if there is only one peak"
        if similar.max_distance is not None:
            threshold += f". Items more than {similar.max_distance:g} apart are not grouped"
    what = (
        "Question and options are embedded as a vector. Items closer than a distance δ form a "
        f"group, of which {similar.remove:.0%} is removed. δ is {threshold}."
    )
    if similar.prefiltered:
        what += " Anomalous subjects and redundant copies take no part."
    if similar.string_similarity_exempt is not None:
        what += (
            f" Questions whose texts are more than {similar.string_similarity_exempt:.0%} similar "
            "are treated as variants, for example with another number, and kept."
        )
    why = "Near-copies repeat the same question."
    return Step("Similar items", similar.enabled, what, why, ("similar",))
