"""The filtering stage: rules about items, rules about groups, and who is left."""

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
    nodes = [
        Node(
            flag_anomalous_items,
            ["items", "params:anomalous_subjects", "params:filtering", "params:limit"],
            "anomalous_findings",
            name="flag_anomalous_items",
        ),
        Node(
            flag_easy_items,
            ["items", "response_matrix", "chosen_filter_models", "params:filtering", "params:seed"],
            "easy_findings",
            name="flag_easy_items",
        ),
        Node(
            flag_answer_only_items,
            [
                "items",
                "choices_only_matrix",
                "response_matrix",
                "chosen_filter_models",
                "params:filtering",
            ],
            "answer_only_findings",
            name="flag_answer_only_items",
        ),
        Node(
            flag_suspect_labels,
            ["items", "response_matrix", "chosen_filter_models", "params:filtering"],
            "suspect_label_findings",
            name="flag_suspect_labels",
        ),
        Node(
            find_duplicates,
            ["items", "params:filtering"],
            "duplicate_groups",
            name="find_duplicates",
        ),
        Node(
            find_conflicting_gold,
            ["items", "params:filtering"],
            "conflicting_gold_groups",
            name="find_conflicting_gold",
        ),
        Node(
            find_neighbours,
            ["items", "embeddings", "params:filtering"],
            "neighbours",
            name="find_neighbours",
        ),
        Node(
            check_neighbours,
            ["items", "embeddings", "neighbours", "params:filtering", "params:seed"],
            "neighbour_search",
            name="check_neighbours",
        ),
        Node(
            estimate_threshold,
            ["items", "neighbours", "params:filtering", "neighbour_search"],
            ["distance_density", "similarity_threshold", "threshold_sensitivity"],
            name="estimate_threshold",
        ),
        Node(
            group_similar_items,
            ["items", "neighbours", "similarity_threshold", "params:filtering"],
            "similar_groups",
            name="group_similar_items",
        ),
        Node(
            vary_neighbour_count,
            ["items", "embeddings", "params:filtering"],
            ["neighbour_convergence", "density_by_k"],
            name="vary_neighbour_count",
        ),
        Node(
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
            name="vary_filter_models",
        ),
        Node(
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
            name="combine_rules",
        ),
        Node(tabulate_verdicts, ["items", "findings"], "verdicts", name="tabulate_verdicts"),
        Node(audit_items, ["items", "findings", "neighbours"], "item_audit", name="audit_items"),
        Node(
            split_items,
            ["items", "item_audit"],
            ["kept_items", "removed_items"],
            name="split_items",
        ),
        Node(measure_coverage, "findings", "rule_coverage", name="measure_coverage"),
        Node(measure_overlaps, "findings", "overlaps", name="measure_overlaps"),
    ]
    return Pipeline(nodes)
