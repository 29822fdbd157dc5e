"""The filtering stage: rules about items, rules about groups, and who is left."""

from collections.abc import Callable
from typing import Any

from kedro.pipeline import Node, Pipeline

from benchwright.methods.smart.anomalous import flag_anomalous_items
from benchwright.methods.smart.answer_only import flag_answer_only_items
from benchwright.methods.smart.audit import (
    audit_items,
    measure_coverage,
    measure_overlaps,
    split_items,
    tabulate_verdicts,
)
from benchwright.methods.smart.combine import combine_rules
from benchwright.methods.smart.duplicates import find_conflicting_gold, find_duplicates
from benchwright.methods.smart.easy import flag_easy_items
from benchwright.methods.smart.filter_model_ablation import vary_filter_models
from benchwright.methods.smart.label_errors import flag_suspect_labels
from benchwright.methods.smart.similar import (
    check_neighbours,
    estimate_threshold,
    find_neighbours,
    group_similar_items,
    vary_neighbour_count,
)

FINDINGS_WITHOUT_MODELS = ("anomalous_findings",)
"""What rules about single items find that look at no model's answers."""


def create_pipeline() -> Pipeline:
    """SMART filtering, from items and answers to kept items and the reasons."""
    nodes: list[tuple[Callable[..., Any], Any, Any]] = [
        (
            flag_anomalous_items,
            ["items", "params:anomalous_subjects", "params:filtering", "params:limit"],
            "anomalous_findings",
        ),
        (
            flag_easy_items,
            {
                "items": "items",
                "response_matrix": "response_matrix",
                "filter_models": "chosen_filter_models",
                "filtering": "params:filtering",
                "seed": "params:seed",
            },
            "easy_findings",
        ),
        (
            flag_answer_only_items,
            {
                "items": "items",
                "choices_only_matrix": "choices_only_matrix",
                "response_matrix": "response_matrix",
                "filter_models": "chosen_filter_models",
                "filtering": "params:filtering",
            },
            "answer_only_findings",
        ),
        (
            flag_suspect_labels,
            {
                "items": "items",
                "response_matrix": "response_matrix",
                "filter_models": "chosen_filter_models",
                "filtering": "params:filtering",
            },
            "suspect_label_findings",
        ),
        (find_duplicates, ["items", "params:filtering"], "duplicate_groups"),
        (find_conflicting_gold, ["items", "params:filtering"], "conflicting_gold_groups"),
        (find_neighbours, ["items", "embeddings", "params:filtering"], "neighbours"),
        (
            check_neighbours,
            ["items", "embeddings", "neighbours", "params:filtering", "params:seed"],
            "neighbour_search",
        ),
        (
            estimate_threshold,
            ["items", "neighbours", "params:filtering", "neighbour_search"],
            ["distance_density", "similarity_threshold", "threshold_sensitivity"],
        ),
        (
            group_similar_items,
            ["items", "neighbours", "similarity_threshold", "params:filtering"],
            "similar_groups",
        ),
        (
            vary_neighbour_count,
            ["items", "embeddings", "params:filtering"],
            ["neighbour_convergence", "density_by_k"],
        ),
        (
            vary_filter_models,
            [
                "items",
                "response_matrix",
                "choices_only_matrix",
                "chosen_filter_models",
                "duplicate_groups",
                "similar_groups",
                "params:filtering",
                "params:seed",
                *FINDINGS_WITHOUT_MODELS,
            ],
            "filter_model_ablation",
        ),
        (
            combine_rules,
            [
                "items",
                "duplicate_groups",
                "conflicting_gold_groups",
                "similar_groups",
                "params:filtering",
                "params:seed",
                *FINDINGS_WITHOUT_MODELS,
                "easy_findings",
                "answer_only_findings",
                "suspect_label_findings",
            ],
            ["findings", "groups"],
        ),
        (tabulate_verdicts, ["items", "findings"], "verdicts"),
        (audit_items, ["items", "findings", "neighbours"], "item_audit"),
        (split_items, ["items", "item_audit"], ["kept_items", "removed_items"]),
        (measure_coverage, "findings", "rule_coverage"),
        (measure_overlaps, "findings", "overlaps"),
    ]
    return Pipeline([Node(*node, name=node[0].__name__) for node in nodes])
