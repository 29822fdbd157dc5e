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
from benchwright.pipelines.named_nodes import Function, NodeParts, inputs_by_name, named_nodes
from benchwright.reports.judged_items.difficulty_plot import plot_judged_difficulty
from benchwright.reports.judged_items.page import render_judge_page, show_judgements
from benchwright.reports.mmlu_cf.plots.judges import plot_parse_rates

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


def create_benchmark_pipeline() -> Pipeline:
    """Create the pipeline that judges the items of any benchmark: tables, plots and one page."""
    judged = ["difficulty_ratings", "judge_ratings", "harm_flags"]
    outputs: dict[Function, str | list[str]] = {
        judge_benchmark: [*judged, "difficulty_rounds", "checking_rounds"],
        tabulate_judgements: "judgements",
        summarise_items: "judged_items",
        compare_judges: "judge_agreement",
        collect_judge_metrics: "judge_metrics",
        plot_judged_difficulty: "judged_difficulty_plot",
        plot_parse_rates: "parse_rates_plot",
        show_judgements: "judge_contents",
        render_judge_page: "judge_report",
    }
    rounds = ["difficulty_rounds", "checking_rounds"]
    rates: NodeParts = (read_rates, rounds, "judge_parse_rates")
    named = inputs_by_name(outputs, (*_PARAMS, "ingestion", "variant"))
    return Pipeline(named_nodes([rates, *named]))
