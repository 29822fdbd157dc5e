"""The scoring stage: prompts, models' scores, answers."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.difficulty.model_answers import answer_questions
from benchwright.scoring.budget import count_budget
from benchwright.scoring.prompts import build_prompts
from benchwright.scoring.record import record_answers
from benchwright.scoring.scores import collect_responses, score_prompts


def _prompts(draws: str | None) -> Node:
    return Node(
        build_prompts,
        [
            "items",
            "demonstrations",
            "calibration_items",
            "params:ingestion",
            "params:scoring",
            "params:models",
            "params:filter_models",
            "params:seed",
            *([draws] if draws else []),
        ],
        "prompts",
        name="build_prompts",
    )


def create_pipeline(draws: str | None = None) -> Pipeline:
    """Items → prompts → scores in the store → live responses; idle where answers are imported.

    Args:
        draws: the name of a `Draws` table that is scored beside the items.
    """
    return Pipeline(
        [
            _prompts(draws),
            Node(
                score_prompts,
                ["prompts", "score_cache", "params:models", "params:scoring"],
                "model_scores",
                name="score_prompts",
            ),
            Node(
                collect_responses,
                ["prompts", "model_scores", "params:models", "params:scoring"],
                ["live_responses", "generations"],
                name="collect_responses",
            ),
        ]
    )


def create_answering_pipeline() -> Pipeline:
    """Questions in the making → answers in memory, for their difficulty."""
    return Pipeline(
        [
            Node(
                answer_questions,
                [
                    "fielded_items",
                    "judge_store",
                    "params:difficulty",
                    "params:models",
                    "params:scoring",
                    "params:seed",
                ],
                "difficulty_answers",
                name="answer_questions",
            )
        ]
    )


def create_budget_pipeline() -> Pipeline:
    """Items → prompts → what asking them would come to; nothing is asked."""
    return Pipeline(
        [
            _prompts(None),
            Node(
                count_budget,
                ["prompts", "score_cache", "params:models", "params:scoring"],
                "scoring_budget",
                name="count_budget",
            ),
        ]
    )


def create_recording_pipeline() -> Pipeline:
    """Live responses → a log for later imports."""
    return Pipeline(
        [
            Node(
                record_answers,
                ["live_responses", "items", "calibration_items"],
                "recorded_answers",
                name="record_answers",
            )
        ]
    )
