"""The filtering stage: rules about items, rules about groups, and the items that remain."""

from kedro.pipeline import Pipeline

from benchwright.methods.smart import audit, similar
from benchwright.methods.smart.anomalous import flag_anomalous_items
from benchwright.methods.smart.combine import combine_rules, leave_out_prefiltered
from benchwright.methods.smart.duplicates import find_copies
from benchwright.methods.smart.easy import flag_answer_only_items, flag_easy_items
from benchwright.methods.smart.filter_models import doubt_few_models
from benchwright.methods.smart.label_errors import flag_suspect_labels
from benchwright.pipelines.nodes import node

FINDINGS_WITHOUT_MODELS = [
    "anomalous_findings",
]
"""Findings of rules about single items that use no model's answers."""

_ANSWERED = ["response_matrix", "chosen_filter_models", "params:filtering"]
_COMPARED = ["compared_items", "embeddings"]
_GROUPS = ["copy_groups", "similar_groups"]
_SETTINGS = ["params:filtering", "params:seed"]
_BY_MODELS = ["easy_findings", "answer_only_findings", "suspect_label_findings"]
_NODES = [
    node(
        flag_anomalous_items,
        ["items", "params:anomalous_subjects", "params:limit"],
        "anomalous_findings",
    ),
    node(
        doubt_few_models,
        ["params:filter_models", "chosen_filter_models", "response_matrix"],
        "few_models",
    ),
    node(
        flag_easy_items,
        ["items", *_ANSWERED, "params:seed", "few_models"],
        "easy_findings",
    ),
    node(
        flag_answer_only_items,
        [
            "items",
            "choices_only_matrix",
            "chosen_filter_models",
            "params:filtering",
            "few_models",
        ],
        "answer_only_findings",
    ),
    node(flag_suspect_labels, ["items", *_ANSWERED], "suspect_label_findings"),
    node(find_copies, ["items", "params:filtering"], "copy_groups"),
    node(
        leave_out_prefiltered,
        ["items", "copy_groups", "anomalous_findings", *_SETTINGS],
        "compared_items",
    ),
    node(similar.find_neighbours, [*_COMPARED, "params:filtering"], "neighbours"),
    node(
        similar.check_neighbours,
        [*_COMPARED, "neighbours", "params:models", "params:seed"],
        "neighbour_search",
    ),
    node(
        similar.estimate_threshold,
        ["items", "neighbours", "params:filtering", "neighbour_search"],
        ["distance_density", "similarity_threshold"],
    ),
    node(
        similar.group_similar_items,
        ["items", "neighbours", "similarity_threshold", "params:filtering"],
        "similar_groups",
    ),
    node(
        combine_rules,
        ["items", *_GROUPS, *_SETTINGS, *FINDINGS_WITHOUT_MODELS, *_BY_MODELS],
        ["findings", "groups"],
    ),
    node(audit.tabulate_verdicts, ["items", "findings"], "verdicts"),
    node(audit.audit_items, ["items", "findings", "neighbours"], "item_audit"),
    node(audit.split_items, ["items", "item_audit"], ["kept_items", "removed_items"]),
    node(audit.measure_coverage, "findings", "rule_coverage"),
]


def create_pipeline() -> Pipeline:
    """Return SMART filtering, from items and answers to kept items and the reasons."""
    return Pipeline(_NODES)
