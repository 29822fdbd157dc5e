"""Answers to original items and perturbed copies, aligned on the same items."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.array_types import Bools, Floats, Places
from benchwright.core.configuration import (
    SCORED_AS,
    by_score_first,
    configuration_name,
    parse_configuration,
)
from benchwright.core.item_clusters import item_clusters
from benchwright.core.option_wording import kind_of_option
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.perturbation import PerturbationParams


class ComparedResponses(NamedTuple):
    """Answers of m configurations to the n items that all of them answered in all d copies."""

    configurations: tuple[str, ...]  # m names
    item_ids: tuple[str, ...]  # n ids
    conditions: tuple[str, ...]  # d names of copies
    clusters: Places  # (n,) items with equal numbers share a passage or stem
    original: Floats  # (m, n) scores on the original, 0–1
    perturbed: Floats  # (d, m, n) scores in each copy
    altered: Bools  # (d, n) the item is altered
    gold_removed: Bools  # (d, n) the gold option is removed
    picked_none: Bools  # (d, m, n) the none-of-the-above option was chosen
    has_none: Bools  # (d, n) the copy added such an option
    options: NDArray[np.int64]  # (d, n) options of the item
    failed_original: Bools  # (m, n) written answers without a readable option, counted as wrong
    failed_perturbed: Bools  # (d, m, n) the same in each copy

    def mean_change(self) -> Floats:
        """Return (m, n) the mean score over copies minus the score on the original."""
        return self.perturbed.mean(axis=0) - self.original

    def select_items(self, item_ids: tuple[str, ...]) -> "ComparedResponses":
        """Return the same for some of the items, in the order of `item_ids`."""
        at = pd.Index(self.item_ids).get_indexer(pd.Index(item_ids))
        # The last axis of every array is that of the items.
        arrays: dict[str, Any] = {
            name: value[..., at]
            for name, value in self._asdict().items()
            if isinstance(value, np.ndarray)
        }
        return self._replace(item_ids=item_ids, **arrays)


def align_responses(
    response_matrix: ResponseMatrix,
    perturbed_matrices: Mapping[str, ResponseMatrix],
    responses: pd.DataFrame,
    live_responses: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    items: pd.DataFrame,
) -> dict[str, ComparedResponses]:
    """Align answers to the original and to the copies, for each perturbation.

    Written answers to questions with options from which no option could be extracted count as
    wrong. Prompts that did not fit the model count as missing.

    `response_matrix` and `responses` are of the original items, `perturbed_matrices` (by condition,
    `<perturbation>-<number>`) and `live_responses` of the copies. Items of one passage or stem
    count as one in standard errors. Return the answers by perturbation, sorted by name, without
    those that no configuration answered completely.
    """
    altered_items = perturbed_items[perturbed_items["role"] == "item"]
    open_ended = set(items.loc[items["choices"].map(len) == 0, "item_id"])
    before = _by_configuration(responses[responses["condition"] == "question"])
    ids = response_matrix.item_ids
    aligned = {}
    for name, conditions in by_perturbation(perturbed_matrices).items():
        matrices = [response_matrix, *(perturbed_matrices[condition] for condition in conditions)]
        live = (live_responses[live_responses["condition"] == each] for each in conditions)
        tables = [before, *map(_by_configuration, live)]
        shared = set.intersection(
            *(_answering(matrix, table) for matrix, table in zip(matrices, tables, strict=True))
        )
        configurations = tuple(sorted(shared))
        parts = [
            _answers(matrix.select_items(ids), table, configurations, open_ended)
            for matrix, table in zip(matrices, tables, strict=True)
        ]
        correct, predicted, failed = (np.array(part) for part in zip(*parts, strict=True))
        correct[failed & np.isnan(correct)] = 0
        columns = np.flatnonzero(~np.isnan(correct).any(axis=(0, 1)))
        kept = tuple(ids[column] for column in columns)
        if not configurations or not kept:
            continue
        failed = failed[..., columns]
        none_at, options = _places_of_none(altered_items, perturbation_changes, conditions, kept)
        chosen = predicted[1:][..., columns]
        kept_items = items.set_index(items["item_id"].astype(str)).loc[list(kept)]
        aligned[name] = ComparedResponses(
            configurations,
            kept,
            tuple(conditions),
            item_clusters(kept_items.reset_index(drop=True)),
            correct[0][:, columns],
            np.ascontiguousarray(correct[1:][..., columns]),
            _marks(perturbation_changes, conditions, kept, "altered"),
            _marks(perturbation_changes, conditions, kept, "gold_removed"),
            (chosen == none_at[:, None, :]) & (none_at >= 0)[:, None, :],
            none_at >= 0,
            options,
            failed[0],
            failed[1:],
        )
    return aligned


def by_perturbation(conditions: Mapping[str, object]) -> dict[str, list[str]]:
    """Group conditions by the name before their number, in order of the number."""
    groups: dict[str, list[str]] = {}
    for condition in sorted(conditions, key=lambda c: (perturbation_of(c), len(c), c)):
        groups.setdefault(perturbation_of(condition), []).append(condition)
    return groups


def perturbation_of(condition: str) -> str:
    """Return `wicked` of `wicked-3`."""
    return condition.rpartition("-")[0] or condition


def _by_configuration(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {
        configuration_name(str(model), str(style), int(str(shots))): group.set_index("item_id")
        for (model, style, shots), group in rows.groupby(["model", "style", "shots"])
    }


def _rows_of(table: Mapping[str, pd.DataFrame], configuration: str) -> pd.DataFrame | None:
    """Return the answers of a configuration; a derived style has those of its scoring."""
    if configuration in table:
        return table[configuration]
    model, style, shots = parse_configuration(configuration)
    return table.get(configuration_name(model, SCORED_AS.get(style, style), shots))


def _answering(matrix: ResponseMatrix, table: Mapping[str, pd.DataFrame]) -> set[str]:
    """Return the configurations with an answer, including failed ones."""
    names = {matrix.models[row] for row in np.flatnonzero(matrix.answered().any(axis=1))}
    return names | {name for name, rows in table.items() if rows["extraction"].eq("failed").any()}


def _answers(
    matrix: ResponseMatrix,
    table: Mapping[str, pd.DataFrame],
    configurations: tuple[str, ...],
    open_ended: set[str],
) -> tuple[Floats, NDArray[np.int64], Bools]:
    """Return (m, n) scores (NaN missing), options chosen (−1 unknown) and failed extractions."""
    ids = list(matrix.item_ids)
    shape = len(configurations), len(ids)
    correct, failed = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
    chosen = np.full(shape, -1, dtype=np.int64)
    rows = pd.Index(matrix.models).get_indexer(pd.Index(configurations))
    known = rows >= 0
    correct[known], chosen[known] = matrix.correct[rows[known]], matrix.prediction[rows[known]]
    has_options = np.array([item not in open_ended for item in ids], dtype=np.bool_)
    for row, name in enumerate(configurations):
        responses = _rows_of(table, name)
        if responses is None:
            continue
        responses = responses[~responses.index.duplicated()].reindex(ids)
        written = has_options | (parse_configuration(name).style == "generate")
        failed[row] = (responses["extraction"] == "failed").to_numpy(dtype=bool) & written
        failed[row] &= responses["correct"].isna().to_numpy(dtype=bool)
    return correct, chosen, failed


def _marks(
    changes: pd.DataFrame, conditions: list[str], item_ids: tuple[str, ...], column: str
) -> Bools:
    items = changes[(changes["role"] == "item") & changes[column].astype(bool)]
    marked = set(zip(items["condition"], items["item_id"], strict=True))
    return np.array([[(copy, item) in marked for item in item_ids] for copy in conditions])


def _places_of_none(
    perturbed: pd.DataFrame, changes: pd.DataFrame, conditions: list[str], item_ids: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (d, n) the place of the none-of-the-above option that a copy added, and K.

    The place is −1 where there is none. An item that already had such an option never gets another.
    """
    replaced = changes[(changes["role"] == "item") & (changes["removed_index"] >= 0)]
    added = set(zip(replaced["condition"], replaced["item_id"], strict=True))
    rows = zip(perturbed["condition"], perturbed["item_id"], strict=True)
    choices = dict(zip(rows, perturbed["choices"], strict=True))

    def place(key: tuple[str, str]) -> int:
        kinds = [kind_of_option(str(text)) for text in choices[key]] if key in added else []
        return kinds.index("none_of_the_above") if "none_of_the_above" in kinds else -1

    keys = [[(condition, item) for item in item_ids] for condition in conditions]
    places = [[place(key) for key in row] for row in keys]
    options = [[len(choices.get(key, ())) for key in row] for row in keys]
    return np.array(places, dtype=np.int64), np.array(options, dtype=np.int64)


def asking_styles(configurations: Sequence[str]) -> dict[str, list[int]]:
    """Return row numbers of the configurations by asking style, that of most models first.

    An asking style is style and shots (`letters-5`), or "" if unknown.
    """
    parsed = [parse_configuration(name) for name in configurations]
    styles: dict[str, list[int]] = {}
    for row in sorted(range(len(parsed)), key=lambda row: by_score_first(parsed[row])):
        style = f"{parsed[row].style}-{parsed[row].shots}" if parsed[row].style else ""
        styles.setdefault(style, []).append(row)
    ordered = sorted(styles.items(), key=lambda style: -len(style[1]))
    return {style: sorted(rows) for style, rows in ordered}


def describe_asking(asking_style: str) -> str:
    """Describe an asking style in words (`letters, 5 demonstrations`); "" if unknown."""
    style, _, shots = asking_style.rpartition("-")
    if not style:
        return ""
    names = {
        "cloze": "texts of the options",
        "cloze_bytes": "texts of the options, by bytes",
        "cloze_tokens": "texts of the options, by tokens",
        "generate": "written answers",
    }
    count = "no demonstrations" if shots == "0" else f"{shots} demonstrations"
    return f"{names.get(style, style)}, {'1 demonstration' if shots == '1' else count}"


def main_perturbation(names: Sequence[str], perturbation: PerturbationParams) -> str:
    """Return the name of the perturbation with all transforms; "" if there is none."""
    whole = (perturbation.name, f"{perturbation.name}_{len(perturbation.transforms)}")
    return next((name for name in whole if name in names), max(names, default=""))
