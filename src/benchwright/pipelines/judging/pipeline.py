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
from benchwright.pipelines.named_nodes import NodeParts, named_nodes

_ASKING = ["difficulty_examples", "judge_store", "params:difficulty"]
_MODELS = ["params:models", "params:scoring"]
_ANSWERS = ["difficulty_answers", "difficulty_answers_file"]
_SAMPLING = "params:sampling_by_difficulty"
_NODES: tuple[NodeParts, ...] = (
    (
        rate_items,
        ["fielded_items", *_ASKING, *_MODELS, "params:seed"],
        ["difficulty_ratings", "difficulty_rounds"],
    ),
    (
        set_levels,
        ["fielded_items", "difficulty_ratings", *_ANSWERS, "params:difficulty", "params:seed"],
        "item_difficulty",
    ),
    (
        sample_items,
        ["fielded_items", "item_difficulty", _SAMPLING, "params:seed"],
        ["sampled_items", "sampling_strata"],
    ),
    (
        check_sampled_items,
        ["sampled_items", "judge_store", "params:checking", *_MODELS],
        ["checked_items", "judge_ratings", "harm_flags", "checking_decisions", "checking_rounds"],
    ),
    (
        choose_final_items,
        ["checked_items", "item_difficulty", "params:checking", _SAMPLING, "params:seed"],
        ["final_items", "final_strata"],
    ),
    (
        compare_judges,
        ["difficulty_ratings", "judge_ratings", "harm_flags", "params:seed"],
        "judge_agreement",
    ),
    (count_decisions, ["item_difficulty", "checking_decisions", "final_items"], "checking_counts"),
)
_FINAL_NODES: tuple[NodeParts, ...] = (
    (
        rate_final_items,
        ["cf_items", *_ASKING, *_MODELS, "params:seed"],
        ["final_difficulty", "difficulty_again_rounds"],
    ),
    (
        count_levels,
        ["item_difficulty", "sampled_items", "checked_items", "final_difficulty", _SAMPLING],
        "difficulty_counts",
    ),
    (compare_ratings, ["item_difficulty", "final_difficulty", "cf_items"], "ratings_again"),
)


def create_pipeline() -> Pipeline:
    """Create the pipeline that rates, samples and checks questions, in memory."""
    return Pipeline(named_nodes(_NODES))


def create_final_pipeline() -> Pipeline:
    """Create the pipeline that rates the questions again after the contamination-free rules."""
    return Pipeline(named_nodes(_FINAL_NODES))
