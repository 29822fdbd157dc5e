"""The judging stage: fielded_items → final_items, and ratings after the rules."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.difficulty.rating import compare_ratings, count_levels
from benchwright.pipelines.judging.nodes import (
    check_sampled_items,
    choose_final_items,
    compare_judges,
    count_decisions,
    rate_final_items,
    rate_items,
    sample_items,
    set_levels,
)
from benchwright.pipelines.named_nodes import Function, inputs_by_name, named_nodes

_PARAMS = ("difficulty", "sampling_by_difficulty", "checking", "models", "scoring", "seed")


def create_pipeline() -> Pipeline:
    """Create the pipeline that rates, samples and checks questions, in memory."""
    checked = ["checked_items", "judge_ratings", "harm_flags", "checking_decisions"]
    outputs: dict[Function, str | list[str]] = {
        rate_items: ["difficulty_ratings", "difficulty_rounds"],
        set_levels: "item_difficulty",
        sample_items: ["sampled_items", "sampling_strata"],
        check_sampled_items: [*checked, "checking_rounds"],
        choose_final_items: ["final_items", "final_strata"],
        compare_judges: "judge_agreement",
        count_decisions: "checking_counts",
    }
    return Pipeline(named_nodes(inputs_by_name(outputs, _PARAMS)))


def create_final_pipeline() -> Pipeline:
    """Create the pipeline that rates the questions again after the contamination-free rules."""
    outputs: dict[Function, str | list[str]] = {
        rate_final_items: ["final_difficulty", "final_difficulty_rounds"],
        count_levels: "difficulty_counts",
        compare_ratings: "rating_shift",
    }
    return Pipeline(named_nodes(inputs_by_name(outputs, _PARAMS)))
