"""The judging stage: fielded_items → final_items, ratings after the rules, and any benchmark's."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.construction_steps import read_rates
from benchwright.methods.mmlu_cf.difficulty.rating import compare_ratings, count_levels
from benchwright.methods.mmlu_cf.judged_items import (
    collect_judge_metrics,
    summarise_items,
    tabulate_judgements,
)
from benchwright.pipelines.judging.nodes import (
    check_sampled_items,
    choose_final_items,
    compare_judges,
    count_decisions,
    judge_benchmark,
    rate_final_items,
    rate_items,
    sample_items,
    set_levels,
)
from benchwright.pipelines.nodes import node
from benchwright.reports.judged_items import (
    plot_judged_difficulty,
    render_judge_page,
    show_judgements,
)

_NODES = [
    node(
        rate_items,
        [
            "fielded_items",
            "difficulty_examples",
            "judge_store",
            "params:difficulty",
            "params:models",
            "params:scoring",
            "closed_seed",
        ],
        ["difficulty_ratings", "difficulty_rounds"],
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
        ["fielded_items", "item_difficulty", "params:sampling_by_difficulty", "closed_seed"],
        ["sampled_items", "sampling_strata"],
    ),
    node(
        check_sampled_items,
        ["sampled_items", "judge_store", "params:checking", "params:models", "params:scoring"],
        ["checked_items", "judge_ratings", "harm_flags", "checking_decisions", "checking_rounds"],
    ),
    node(
        choose_final_items,
        [
            "checked_items",
            "item_difficulty",
            "params:checking",
            "params:sampling_by_difficulty",
            "closed_seed",
        ],
        ["final_items", "final_strata"],
    ),
    node(
        compare_judges,
        ["difficulty_ratings", "judge_ratings", "harm_flags", "params:seed"],
        "judge_agreement",
    ),
    node(
        count_decisions,
        ["item_difficulty", "sampled_items", "checking_decisions", "final_items"],
        "checking_counts",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline that rates, samples and checks questions, in memory."""
    return Pipeline(_NODES)


_FINAL_NODES = [
    node(
        rate_final_items,
        [
            "contamination_free_items",
            "difficulty_examples",
            "judge_store",
            "params:difficulty",
            "params:models",
            "params:scoring",
            "closed_seed",
        ],
        ["final_difficulty", "final_difficulty_rounds"],
    ),
    node(
        count_levels,
        [
            "item_difficulty",
            "sampled_items",
            "checked_items",
            "final_difficulty",
            "params:sampling_by_difficulty",
        ],
        "difficulty_counts",
    ),
    node(
        compare_ratings,
        ["item_difficulty", "final_difficulty", "contamination_free_items"],
        "rating_shift",
    ),
]


def create_final_pipeline() -> Pipeline:
    """Create the pipeline that rates the questions again after the contamination-free rules."""
    return Pipeline(_FINAL_NODES)


_BENCHMARK_NODES = [
    node(
        judge_benchmark,
        [
            "items",
            "difficulty_examples",
            "answer_store",
            "params:difficulty",
            "params:checking",
            "params:models",
            "params:scoring",
        ],
        [
            "difficulty_ratings",
            "judge_ratings",
            "harm_flags",
            "difficulty_rounds",
            "checking_rounds",
        ],
    ),
    node(read_rates, ["difficulty_rounds", "checking_rounds"], "judge_parse_rates"),
    node(tabulate_judgements, ["difficulty_ratings", "judge_ratings", "harm_flags"], "judgements"),
    node(
        summarise_items,
        [
            "items",
            "difficulty_ratings",
            "judge_ratings",
            "harm_flags",
            "params:checking",
            "params:seed",
        ],
        "judged_items",
    ),
    node(
        compare_judges,
        ["difficulty_ratings", "judge_ratings", "harm_flags", "params:seed"],
        "judge_agreement",
    ),
    node(collect_judge_metrics, "judged_items", "judge_metrics"),
    node(plot_judged_difficulty, ["judged_items", "judgements"], "judged_difficulty_plot"),
    node(
        show_judgements,
        ["items", "judged_items", "judgements", "judge_parse_rates", "judge_agreement"],
        "judge_page",
    ),
    node(
        render_judge_page,
        [
            "params:ingestion",
            "params:variant",
            "params:seed",
            "params:difficulty",
            "params:checking",
            "judge_page",
            "judged_difficulty_plot",
        ],
        "judge_report",
    ),
]


def create_benchmark_pipeline() -> Pipeline:
    """Create the pipeline that judges the items of any benchmark: tables, plots and one page."""
    return Pipeline(_BENCHMARK_NODES)
