"""Apply transforms in sequence to items and demonstrations, once per perturbed copy."""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.natural_order import sort_items
from benchwright.core.option_wording import mentions_options
from benchwright.params import perturbation as settings
from benchwright.tables.wicked import PerturbationChanges, PerturbedItems
from benchwright.transforms.altered_item import Altered, MultipleChoice
from benchwright.transforms.none_of_the_above import add_none_of_the_above
from benchwright.transforms.replace_choice import replace_choice
from benchwright.transforms.shuffle_choices import shuffle_choices

Rephrased = Mapping[tuple[str, str], str | None]
"""The new question by role and item id; None if no wording passed the checks."""


class Perturbed(NamedTuple):
    """The perturbed copies of a benchmark, as tables."""

    # `PerturbedItems`: by perturbation and copy, items before demonstrations, ids in natural order
    perturbed_items: pd.DataFrame
    # `PerturbationChanges` in the same order and, within an item, by transform
    changes: pd.DataFrame


class _Source(NamedTuple):
    """The rows of one role in the natural order of the ids, and what transforms need of them."""

    role: str
    rows: list[dict[str, Any]]
    items: list[MultipleChoice]


def perturb(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    params: settings.PerturbationParams,
    seed: int,
    single_best_answer: Collection[str] = frozenset(),
    rephrasings: Rephrased = MappingProxyType({}),
) -> Perturbed:
    """Make perturbed copies of a benchmark, with perturbed demonstrations.

    Explanations that no longer fit the options are removed. With `params.cumulative`, every prefix
    of the transforms is a separate perturbation (MMLU-CF, Table 2), in which a transform does the
    same to an item. Those with ids in `single_best_answer` lose no option. `rephrasings` are the
    new questions of the transform `rephrase`. There are `params.copies` copies of each
    perturbation, or one if nothing in it is random (`rephrase` alone).

    Raises:
        InputError: an id occurs twice, or an answer is not an index into the choices.
    """
    sources = [_source(items, "item"), _source(demonstrations, "demonstration")]
    best = frozenset(single_best_answer)
    perturbations = _perturbations(params)
    steps_of = {
        (copy, source.role): _steps(source, params.transforms, seed, copy, best, rephrasings)
        for copy in range(1, max(copies for *_, copies in perturbations) + 1)
        for source in sources
    }
    perturbed: list[tuple[object, ...]] = []
    changes: list[tuple[object, ...]] = []
    for name, length, copies in perturbations:
        for copy, source in product(range(1, copies + 1), sources):
            key = (f"{name}-{copy}", source.role)
            steps = steps_of[copy, source.role][:length]
            for item, row, *results in zip(source.items, source.rows, *steps, strict=True):
                perturbed.append((*key, *_perturbed(item, row, results)))
                for part, result in zip(params.transforms, results, strict=False):
                    changes.append((*key, item.item_id, part.transform, *_change(result)))
    return Perturbed(PerturbedItems.from_rows(perturbed), PerturbationChanges.from_rows(changes))


def _change(result: Altered) -> tuple[object, ...]:
    """Return the last columns of `PerturbationChanges`."""
    return (
        result.altered,
        result.reason,
        result.removed_choice,
        result.removed_index,
        result.gold_removed,
    )


def _perturbations(params: settings.PerturbationParams) -> list[tuple[str, int, int]]:
    """Return the name and the numbers of transforms and copies of each perturbation."""
    whole = len(params.transforms)
    first = 1 if params.cumulative else whole
    perturbations = []
    for length in range(first, whole + 1):
        name = f"{params.name}_{length}" if params.cumulative else params.name
        kinds = {type(part) for part in params.transforms[:length]}
        random = kinds != {settings.RephraseParams}  # the same in all copies
        perturbations.append((name, length, params.copies if random else 1))
    return perturbations


def _source(table: pd.DataFrame, role: str) -> _Source:
    ordered = sort_items(table)
    twice = ordered["item_id"][ordered["item_id"].duplicated()]
    if len(twice):
        raise InputError(f"{role}s: item_id {twice.iloc[0]!r} occurs twice; ids must be unique")
    rows: list[dict[str, Any]] = ordered.to_dict("records")  # type: ignore[assignment]
    items = []
    for row in rows:
        item_id = row["item_id"]
        choices = tuple(row["choices"])
        answer = int(row["answer"])
        if not -1 <= answer < max(len(choices), 1) or (not choices and answer > -1):
            raise InputError(
                f"{role}s: item {item_id!r}: answer {answer} is not an index into its "
                f"{len(choices)} choices; use 0–{len(choices) - 1}, or −1 if it is unknown"
            )
        several_right = len(row["correct_set"]) > 1
        items.append(MultipleChoice(item_id, row["question"], choices, answer, several_right))
    return _Source(role, rows, items)


def _steps(
    source: _Source,
    transforms: Sequence[settings.Transform],
    seed: int,
    copy: int,
    best: frozenset[str],
    rephrasings: Rephrased,
) -> list[list[Altered]]:
    """Apply each transform to the results of the one before."""
    items = source.items
    steps: list[list[Altered]] = []
    for part in transforms:
        match part:
            case settings.RephraseParams():
                results = use_rephrasing(items, source.role, rephrasings)
            case settings.NoneOfTheAboveParams():
                results = add_none_of_the_above(items, seed, copy, part.text, best)
            case settings.ReplaceChoiceParams():
                results = replace_choice(items, seed, copy, part.probability, part.text, best)
            case settings.ShuffleChoicesParams():
                results = shuffle_choices(items, seed, copy)
        items = [
            item._replace(
                question=item.question if result.question is None else result.question,
                choices=result.choices,
                answer=result.answer,
            )
            for item, result in zip(items, results, strict=True)
        ]
        steps.append(results)
    return steps


def use_rephrasing(
    items: Sequence[MultipleChoice], role: str, rephrasings: Rephrased
) -> list[Altered]:
    """Give each item its new question, the same in every copy (MMLU-CF, rule 1)."""
    results = []
    for item in items:
        key = (role, item.item_id)
        question = rephrasings.get(key)
        if question is None:
            reason = "no_rephrasing_passed" if key in rephrasings else "not_asked"
            results.append(item.unaltered(reason))
        else:
            results.append(Altered(item.choices, item.answer, True, "", question=question))
    return results


def _perturbed(
    item: MultipleChoice, row: Mapping[str, Any], results: list[Altered]
) -> tuple[object, ...]:
    last = results[-1]
    wordings = [result.question for result in results if result.question is not None]
    question = wordings[-1] if wordings else item.question
    same_options = last.choices == item.choices
    explanation = row["explanation"] if isinstance(row["explanation"], str) else None
    if any(result.gold_removed for result in results) or (
        not same_options and mentions_options(explanation or "")
    ):
        explanation = None
    same = same_options and question == item.question
    return (
        item.item_id,
        row["subject"],
        question,
        list(last.choices),
        last.answer,
        row["answer_text"] if last.answer < 0 else last.choices[last.answer],
        explanation,
        row["content_hash"] if same else content_hash(question, last.choices),
    )
