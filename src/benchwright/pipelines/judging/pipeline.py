"""The judging stage: fielded_items → final_items, and ratings after the rules."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.judging.nodes import (
    check_sampled_items,
    choose_final_items,
    compare_judges,
    compare_ratings,
    count_decisions,
    count_levels,
    rate_final_items,
    rate_items,
    sample_items,
    set_levels,
)

_ASKING = ["difficulty_examples", "judge_store"]
_MODELS = ["params:models", "params:scoring"]


def create_pipeline() -> Pipeline:
    """Questions rated, sampled by difficulty and checked; texts and ids stay in memory."""
    return Pipeline(
        [
            Node(
                rate_items,
                ["fielded_items", *_ASKING, "params:difficulty", *_MODELS, "params:seed"],
                ["difficulty_ratings", "difficulty_rounds"],
                name="rate_items",
            ),
            Node(
                set_levels,
                [
                    "fielded_items",
                    "difficulty_ratings",
                    "difficulty_answers",
                    "difficulty_answers_file",
                    "params:difficulty",
                    "params:seed",
                ],
                "item_difficulty",
                name="set_levels",
            ),
            Node(
                sample_items,
                {
                    "fielded_items": "fielded_items",
                    "item_difficulty": "item_difficulty",
                    "sampling": "params:sampling_by_difficulty",
                    "seed": "params:seed",
                },
                ["sampled_items", "sampling_strata"],
                name="sample_items",
            ),
            Node(
                check_sampled_items,
                ["sampled_items", "judge_store", "params:checking", *_MODELS],
                [
                    "checked_items",
                    "judge_ratings",
                    "harm_flags",
                    "checking_decisions",
                    "checking_rounds",
                ],
                name="check_sampled_items",
            ),
            Node(
                choose_final_items,
                {
                    "checked_items": "checked_items",
                    "item_difficulty": "item_difficulty",
                    "checking": "params:checking",
                    "sampling": "params:sampling_by_difficulty",
                    "seed": "params:seed",
                },
                ["final_items", "final_strata"],
                name="choose_final_items",
            ),
            Node(
                compare_judges,
                ["difficulty_ratings", "judge_ratings", "harm_flags", "params:seed"],
                "judge_agreement",
                name="compare_judges",
            ),
            Node(
                count_decisions,
                ["item_difficulty", "checking_decisions", "final_items"],
                "checking_counts",
                name="count_decisions",
            ),
        ]
    )


def create_final_pipeline() -> Pipeline:
    """The questions as they are in the benchmark, rated again, and what became of their levels."""
    return Pipeline(
        [
            Node(
                rate_final_items,
                ["cf_items", *_ASKING, "params:difficulty", *_MODELS, "params:seed"],
                ["final_difficulty", "difficulty_again_rounds"],
                name="rate_final_items",
            ),
            Node(
                count_levels,
                {
                    "item_difficulty": "item_difficulty",
                    "sampled_items": "sampled_items",
                    "checked_items": "checked_items",
                    "final_difficulty": "final_difficulty",
                    "sampling": "params:sampling_by_difficulty",
                },
                "difficulty_counts",
                name="count_levels",
            ),
            Node(
                compare_ratings,
                ["item_difficulty", "final_difficulty", "cf_items"],
                "ratings_again",
                name="compare_ratings",
            ),
        ]
    )
