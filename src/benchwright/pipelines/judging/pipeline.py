"""The judging stage: fielded_items → checked_items."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.judging.checking import (
    check_sampled_items,
    compare_judges,
    count_decisions,
)
from benchwright.pipelines.judging.difficulty import check_seal_key, rate_items, sample_items


def create_pipeline() -> Pipeline:
    """Questions rated, sampled by difficulty and checked; texts and ids stay in memory."""
    return Pipeline(
        [
            Node(check_seal_key, "params:sealing", "seal_key_checked", name="check_seal_key"),
            Node(
                rate_items,
                [
                    "fielded_items",
                    "seal_key_checked",
                    "judge_store",
                    "params:difficulty",
                    "params:models",
                    "params:scoring",
                    "params:seed",
                ],
                ["difficulty_ratings", "item_difficulty", "difficulty_rounds"],
                name="rate_items",
            ),
            Node(
                sample_items,
                [
                    "fielded_items",
                    "item_difficulty",
                    "params:sampling_by_difficulty",
                    "params:seed",
                ],
                ["sampled_items", "sampling_strata"],
                name="sample_items",
            ),
            Node(
                check_sampled_items,
                [
                    "sampled_items",
                    "judge_store",
                    "params:checking",
                    "params:models",
                    "params:scoring",
                ],
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
                compare_judges,
                ["difficulty_ratings", "judge_ratings", "harm_flags", "params:seed"],
                "judge_agreement",
                name="compare_judges",
            ),
            Node(
                count_decisions,
                ["item_difficulty", "sampled_items", "checking_decisions"],
                "checking_counts",
                name="count_decisions",
            ),
        ]
    )
