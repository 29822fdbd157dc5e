"""The judging stage: fielded_items → final_items, ratings after the rules, and any benchmark's."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.checked_questions import check_sampled_items, count_decisions
from benchwright.methods.mmlu_cf.construction_steps import read_rates
from benchwright.methods.mmlu_cf.difficulty.question_levels import (
    rate_final_items,
    rate_items,
    set_levels,
)
from benchwright.methods.mmlu_cf.difficulty.rating import count_levels
from benchwright.methods.mmlu_cf.difficulty.sampled_questions import (
    choose_final_items,
    sample_items,
)
from benchwright.methods.mmlu_cf.judged_benchmark import compare_judges, judge_benchmark
from benchwright.methods.mmlu_cf.judged_items import (
    collect_judge_metrics,
    summarise_items,
    tabulate_judgements,
)
from benchwright.pipelines.nodes import ASKS_MODELS, node, report_node
from benchwright.reports.judged_items import (
    plot_judged_difficulty,
    show_judgements,
)

_ASKING = ["params:models", "params:scoring"]
_RATING = ["judge_store", "params:difficulty", *_ASKING, "closed_seed"]
_SAMPLING = ["params:sampling_by_difficulty", "closed_seed"]
_JUDGED = ["difficulty_ratings", "judge_ratings", "harm_flags"]
_SHOWN = ("judge_sections", "judged_difficulty_plot")
_AGREEMENT = node(compare_judges, [*_JUDGED, "params:seed"], "judge_agreement")


def create_pipeline() -> Pipeline:
    """Create the pipeline that rates, samples and checks questions, in memory."""
    checked = ["checked_items", "judge_ratings", "harm_flags"]
    return Pipeline(
        [
            node(
                rate_items,
                ["fielded_items", *_RATING],
                ["difficulty_ratings", "difficulty_rounds"],
                ASKS_MODELS,
            ),
            node(
                set_levels,
                [
                    "fielded_items",
                    "difficulty_ratings",
                    "difficulty_answers",
                    "params:difficulty",
                    "closed_seed",
                ],
                "item_difficulty",
            ),
            node(
                sample_items,
                ["fielded_items", "item_difficulty", *_SAMPLING],
                ["sampled_items", "sampling_strata"],
            ),
            node(
                check_sampled_items,
                ["sampled_items", "judge_store", "params:checking", *_ASKING],
                [*checked, "checking_decisions", "checking_rounds"],
                ASKS_MODELS,
            ),
            node(
                choose_final_items,
                ["checked_items", "item_difficulty", "params:checking", *_SAMPLING],
                ["final_items", "final_strata"],
            ),
            _AGREEMENT,
            node(
                count_decisions,
                ["item_difficulty", "sampled_items", "checking_decisions", "final_items"],
                "checking_counts",
            ),
        ]
    )


def create_final_pipeline() -> Pipeline:
    """Create the pipeline that rates the questions again after the contamination-free rules."""
    counted = ["item_difficulty", "sampled_items", "checked_items", "final_difficulty"]
    return Pipeline(
        [
            node(
                rate_final_items,
                ["contamination_free_items", *_RATING],
                ["final_difficulty", "final_difficulty_rounds"],
                ASKS_MODELS,
            ),
            node(count_levels, [*counted, "params:sampling_by_difficulty"], "difficulty_counts"),
        ]
    )


def create_benchmark_pipeline() -> Pipeline:
    """Create the pipeline that judges the items of any benchmark: tables, plots and one page."""
    settings = ["params:difficulty", "params:checking"]
    rounds = ["difficulty_rounds", "checking_rounds"]
    shown = ["items", "judged_items", "judgements", "judge_parse_rates", "judge_agreement"]
    return Pipeline(
        [
            node(
                judge_benchmark,
                ["items", "answer_store", *settings, *_ASKING],
                [*_JUDGED, *rounds],
                ASKS_MODELS,
            ),
            node(read_rates, rounds, "judge_parse_rates"),
            node(tabulate_judgements, _JUDGED, "judgements"),
            node(
                summarise_items,
                ["items", *_JUDGED, "params:checking", "params:seed"],
                "judged_items",
            ),
            _AGREEMENT,
            node(collect_judge_metrics, "judged_items", "judge_metrics"),
            node(plot_judged_difficulty, ["judged_items", "judgements"], "judged_difficulty_plot"),
            node(show_judgements, shown, ["judge_verdict", "judge_sections"]),
            report_node("judge_verdict", _SHOWN, "judge_report", ["difficulty", "checking"]),
        ]
    )
