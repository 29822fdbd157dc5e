"""Answers to original items and perturbed copies, aligned on the same items."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.array_types import Bools, Floats, Integers, Places
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
    options: Integers  # (d, n) options of the item
    failed_original: Bools  # (m, n) written answers without a readable option, counted as wrong
    failed_perturbed: Bools  # (d, m, n) the same in each copy

    def mean_change(self) -> Floats:
        """Return (m, n) the mean score over copies minus the score on the original."""
        return self.perturbed.mean(axis=0) - self.original

    def select_items(self, item_ids: tuple[str, ...]) -> "ComparedResponses":
        """Return the same for some of the items, in the order of `item_ids`."""
        at = pd.Index(self.item_ids).get_indexer(pd.Index(item_ids))
        # The last axis of every array is that of the items.
        arrays: dict[str, Any] = {}
        for name, value in self._asdict().items():
            if isinstance(value, np.ndarray):
                arrays[name] = value[..., at]
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
    perturbed_items = perturbed_items[perturbed_items["role"] == "item"]
    changes = perturbation_changes[perturbation_changes["role"] == "item"]
    of_question = responses[responses["condition"] == "question"]
    original = _Condition("question", response_matrix, _by_configuration(of_question))
    aligned = {}
    for name, copies in by_perturbation(perturbed_matrices).items():
        conditions = [original]
        for copy in copies:
            rows = live_responses[live_responses["condition"] == copy]
            conditions.append(_Condition(copy, perturbed_matrices[copy], _by_configuration(rows)))
        compared = _align(conditions, changes, perturbed_items, items)
        if compared is not None:
            aligned[name] = compared
    return aligned


class _Condition(NamedTuple):
    """Answers to the items under one condition."""

    name: str
    matrix: ResponseMatrix
    rows: Mapping[str, pd.DataFrame]  # `Responses` by configuration, indexed by item

    def answering(self) -> set[str]:
        """Return the configurations with an answer, including failed ones."""
        names = {name for name, rows in self.rows.items() if (rows["extraction"] == "failed").any()}
        for row in np.flatnonzero(self.matrix.answered().any(axis=1)):
            names.add(self.matrix.models[row])
        return names

    def rows_of(self, configuration: str) -> pd.DataFrame | None:
        """Return the answers of a configuration; a derived style has those of its scoring."""
        if configuration in self.rows:
            return self.rows[configuration]
        model, style, shots = parse_configuration(configuration)
        return self.rows.get(configuration_name(model, SCORED_AS.get(style, style), shots))


def _by_configuration(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    tables = {}
    for (model, style, shots), group in rows.groupby(["model", "style", "shots"]):
        name = configuration_name(str(model), str(style), int(str(shots)))
        tables[name] = group.set_index("item_id")
    return tables


def _align(
    conditions: Sequence[_Condition],
    changes: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    items: pd.DataFrame,
) -> ComparedResponses | None:
    """Align the answers under several conditions, of which the first is the original.

    None if no configuration answered an item under all conditions.
    """
    shared = set.intersection(*(condition.answering() for condition in conditions))
    if not shared:
        return None
    configurations = tuple(sorted(shared))
    ids = conditions[0].matrix.item_ids
    with_options = pd.Index(ids).isin(items.loc[items["choices"].map(len) > 0, "item_id"])
    answers = [_answers(each, ids, configurations, with_options) for each in conditions]
    correct = np.array([each.correct for each in answers])
    failed = np.array([each.failed for each in answers])
    correct[failed & np.isnan(correct)] = 0
    columns = np.flatnonzero(~np.isnan(correct).any(axis=(0, 1)))
    if not len(columns):
        return None
    kept = tuple(ids[column] for column in columns)
    kept_items = items.set_index("item_id", drop=False).loc[list(kept)]
    copies = tuple(condition.name for condition in conditions[1:])
    options = _options(changes, perturbed_items, copies, kept)
    chosen = np.array([each.chosen for each in answers[1:]])[..., columns]
    return ComparedResponses(
        configurations=configurations,
        item_ids=kept,
        conditions=copies,
        clusters=item_clusters(kept_items.reset_index(drop=True)),
        original=correct[0][:, columns],
        perturbed=np.ascontiguousarray(correct[1:][..., columns]),
        altered=_marked(changes[changes["altered"]], copies, kept),
        gold_removed=_marked(changes[changes["gold_removed"]], copies, kept),
        picked_none=options.has_none[:, None] & (chosen == options.none_at[:, None]),
        has_none=options.has_none,
        options=options.number,
        failed_original=failed[0][:, columns],
        failed_perturbed=failed[1:][..., columns],
    )


class _Answers(NamedTuple):
    """Answers of m configurations to n items under one condition."""

    correct: Floats  # (m, n) scores, NaN if missing
    chosen: Integers  # (m, n) options, −1 if unknown
    failed: Bools  # (m, n) written answers without a readable option


def _answers(
    condition: _Condition,
    item_ids: tuple[str, ...],
    configurations: tuple[str, ...],
    with_options: Bools,
) -> _Answers:
    matrix = condition.matrix.select_items(item_ids)
    shape = (len(configurations), len(item_ids))
    correct = np.full(shape, np.nan)
    chosen = np.full(shape, -1)
    failed = np.zeros(shape, dtype=bool)
    for row, name in enumerate(configurations):
        if name in matrix.models:
            place = matrix.models.index(name)
            correct[row] = matrix.correct[place]
            chosen[row] = matrix.prediction[place]
        responses = condition.rows_of(name)
        if responses is None:
            continue
        responses = responses[~responses.index.duplicated()].reindex(list(item_ids))
        unread = (responses["extraction"] == "failed") & responses["correct"].isna()
        failed[row] = unread.to_numpy(dtype=bool)
        if parse_configuration(name).style != "generate":
            failed[row] &= with_options
    return _Answers(correct, chosen, failed)


def _marked(rows: pd.DataFrame, copies: Sequence[str], item_ids: Sequence[str]) -> Bools:
    """Return (d, n) whether a copy of an item has a row."""
    marked = pd.MultiIndex.from_frame(rows[["condition", "item_id"]])
    cells = pd.MultiIndex.from_product([copies, item_ids])
    return cells.isin(marked).reshape(len(copies), len(item_ids))


class _Options(NamedTuple):
    """Options of n items in d copies."""

    number: Integers  # (d, n) number of options
    has_none: Bools  # (d, n) the copy added a none-of-the-above option
    none_at: Integers  # (d, n) its place; 0 where there is none


def _options(
    changes: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    copies: Sequence[str],
    item_ids: Sequence[str],
) -> _Options:
    """Find the options that copies added; an item that had such an option never gets another."""
    replaced = _marked(changes[changes["removed_index"] >= 0], copies, item_ids)
    keys = zip(perturbed_items["condition"], perturbed_items["item_id"], strict=True)
    choices = dict(zip(keys, perturbed_items["choices"], strict=True))
    number = np.zeros(replaced.shape, dtype=np.int64)
    has_none = np.zeros(replaced.shape, dtype=bool)
    none_at = np.zeros(replaced.shape, dtype=np.int64)
    for (copy, item), another in np.ndenumerate(replaced):
        texts = choices.get((copies[copy], item_ids[item]), ())
        number[copy, item] = len(texts)
        kinds = [kind_of_option(str(text)) for text in texts] if another else []
        if "none_of_the_above" in kinds:
            has_none[copy, item] = True
            none_at[copy, item] = kinds.index("none_of_the_above")
    return _Options(number, has_none, none_at)


def by_perturbation(conditions: Mapping[str, object]) -> dict[str, list[str]]:
    """Group conditions by the name before their number, in order of the number."""
    groups: dict[str, list[str]] = {}
    for condition in sorted(conditions, key=lambda c: (perturbation_of(c), len(c), c)):
        groups.setdefault(perturbation_of(condition), []).append(condition)
    return groups


def perturbation_of(condition: str) -> str:
    """Return `wicked` of `wicked-3`."""
    return condition.rpartition("-")[0] or condition


def asking_styles(configurations: Sequence[str]) -> dict[str, list[int]]:
    """Return row numbers of the configurations by asking style, that of most models first.

    An asking style is style and shots (`letters-5`), or "" if unknown.
    """
    parsed = [parse_configuration(name) for name in configurations]
    styles: dict[str, list[int]] = {}
    for row in sorted(range(len(parsed)), key=lambda row: by_score_first(parsed[row])):
        style = f"{parsed[row].style}-{parsed[row].shots}" if parsed[row].style else ""
        styles.setdefault(style, []).append(row)
    by_number = sorted(styles, key=lambda style: -len(styles[style]))
    return {style: sorted(styles[style]) for style in by_number}


def describe_asking(asking_style: str) -> str:
    """Describe an asking style in words (`letters, 5 demonstrations`); "" if unknown."""
    style, _, shots = asking_style.rpartition("-")
    if not style:
        return ""
    styles = {
        "cloze": "texts of the options",
        "cloze_bytes": "texts of the options, by bytes",
        "cloze_tokens": "texts of the options, by tokens",
        "generate": "written answers",
    }
    counts = {"0": "no demonstrations", "1": "1 demonstration"}
    return f"{styles.get(style, style)}, {counts.get(shots, f'{shots} demonstrations')}"


def main_perturbation(names: Sequence[str], perturbation: PerturbationParams) -> str:
    """Return the name of the perturbation with all transforms; "" if there is none."""
    for name in (perturbation.name, f"{perturbation.name}_{len(perturbation.transforms)}"):
        if name in names:
            return name
    return max(names, default="")
