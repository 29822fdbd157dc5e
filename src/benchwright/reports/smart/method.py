"""Descriptions of the method, from the settings."""

from collections.abc import Collection, Mapping

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.filtering import FilteringParams, FilterModelChoice


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
