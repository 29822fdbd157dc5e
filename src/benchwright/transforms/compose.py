"""MMLU-CF, rule 1, as a transform: each question in the wording that was found for it before.

Zhao, Q. et al. (2024). MMLU-CF: A Contamination-free Multi-task Language Understanding Benchmark.
Section 3.4, rule 1.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.natural_order import sort_items
from benchwright.core.option_wording import mentions_options
from benchwright.params.perturbation import (
    NoneOfTheAboveParams,
    PerturbationParams,
    RephraseParams,
    ReplaceChoiceParams,
    Transform,
)
from benchwright.transforms.altered_item import Altered, MultipleChoice, copied
from benchwright.transforms.none_of_the_above import add_none_of_the_above
from benchwright.transforms.replace_choice import replace_choice
from benchwright.transforms.shuffle_choices import shuffle_choices

Rephrased = Mapping[tuple[str, str], str | None]
"""The new question by role and item id; None where none of its wordings passed."""


def use_rephrasing(
    items: Sequence[MultipleChoice], role: str, rephrasings: Rephrased
) -> list[Altered]:
    """Each item with its new question and its own options, alike in every draw.

    Copied are items that nobody asked for (`not_asked`) and those of which no wording passed the
    checks (`no_rephrasing_passed`).

    Args:
        items: N items in any order.
        role: `item` or `demonstration`.
        rephrasings: the new questions.

    Returns:
        N results in the order of `items`.
    """
    results = []
    for item in items:
        key = (role, item.item_id)
        question = rephrasings.get(key)
        if question is None:
            reason = "no_rephrasing_passed" if key in rephrasings else "not_asked"
            results.append(copied(item, reason))
        else:
            results.append(Altered(item.choices, item.answer, True, "", question=question))
    return results


DRAW_COLUMNS = (
    "condition",
    "role",
    "item_id",
    "subject",
    "question",
    "choices",
    "answer",
    "answer_text",
    "explanation",
    "content_hash",
)
CHANGE_COLUMNS = (
    "condition",
    "role",
    "item_id",
    "transform",
    "altered",
    "reason",
    "removed_choice",
    "removed_index",
    "gold_removed",
)


class Perturbed(NamedTuple):
    """All draws of a benchmark.

    Attributes:
        draws: the columns of `tables.Draws` (`DRAW_COLUMNS`); key (condition, role, item_id), in
            order of perturbation and draw, items before demonstrations, ids in natural order.
        changes: what each transform did (`CHANGE_COLUMNS`); key (condition, role, item_id,
            transform), in the order of `draws` and, within an item, of the transforms.
            `removed_choice` is None and `removed_index` −1 where no option was removed.
    """

    draws: pd.DataFrame
    changes: pd.DataFrame


class _Source(NamedTuple):
    """The columns of one role that a draw needs, in the natural order of the ids."""

    role: str
    items: list[MultipleChoice]
    subjects: list[str]
    answer_texts: list[str]
    explanations: list[str | None]
    hashes: list[str]


class _Prefix(NamedTuple):
    """The first transforms of a list as a perturbation of their own."""

    name: str
    length: int
    draws: int


def perturb(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    params: PerturbationParams,
    seed: int,
    single_best_answer: Collection[str] = frozenset(),
    rephrasings: Rephrased = MappingProxyType({}),
) -> Perturbed:
    """Altered copies of a benchmark, the demonstrations through the same draw as the items.

    An explanation stays where it still fits: not where the right option went, nor where the
    options changed and it names them by letter or place.

    With `params.cumulative` the first transform alone, the first two and so on are perturbations
    of their own, which share their draws: what a transform does to an item in draw d is the same
    in all of them (MMLU-CF, Table 2).

    Args:
        items: the columns of `tables.Items`; not changed.
        demonstrations: the same columns; may be empty; not changed.
        params: the transforms and how many draws.
        seed: of the run.
        single_best_answer: ids of items and demonstrations from which no option is taken.
        rephrasings: new questions by role and id, for the transform `rephrase`; the same in every
            draw.

    Returns:
        `params.draws` draws of each perturbation, one where nothing in it is drawn (`rephrase`
        alone); independent of the order of rows.

    Raises:
        InputError: an id occurs twice, or an answer is not an index into the choices.
    """
    sources = [_source(items, "item"), _source(demonstrations, "demonstration")]
    best = frozenset(single_best_answer)
    prefixes = _prefixes(params)
    drawn: dict[_Prefix, list[tuple[object, ...]]] = {prefix: [] for prefix in prefixes}
    changed: dict[_Prefix, list[tuple[object, ...]]] = {prefix: [] for prefix in prefixes}
    for draw in range(1, max(prefix.draws for prefix in prefixes) + 1):
        for source in sources:
            steps = _steps(source, params.transforms, seed, draw, best, rephrasings)
            for prefix in prefixes:
                if draw <= prefix.draws:
                    condition = f"{prefix.name}-{draw}"
                    parts = params.transforms[: prefix.length]
                    drawn[prefix] += _draw_rows(condition, source, steps[: prefix.length])
                    changed[prefix] += _change_rows(condition, source, parts, steps)
    return Perturbed(
        pd.DataFrame([row for rows in drawn.values() for row in rows], columns=list(DRAW_COLUMNS)),
        pd.DataFrame(
            [row for rows in changed.values() for row in rows], columns=list(CHANGE_COLUMNS)
        ),
    )


def _prefixes(params: PerturbationParams) -> list[_Prefix]:
    whole = len(params.transforms)
    lengths = range(1, whole + 1) if params.cumulative else [whole]
    return [
        _Prefix(
            f"{params.name}_{length}" if params.cumulative else params.name,
            length,
            params.draws if _is_drawn(params.transforms[:length]) else 1,
        )
        for length in lengths
    ]


def _is_drawn(transforms: Sequence[Transform]) -> bool:
    """Whether draws can differ: a new wording is the same in all of them."""
    return any(not isinstance(part, RephraseParams) for part in transforms)


def _draw_rows(
    condition: str, source: _Source, steps: list[list[Altered]]
) -> list[tuple[object, ...]]:
    return [
        (condition, source.role, *_drawn(source, row, [step[row] for step in steps]))
        for row in range(len(source.items))
    ]


def _change_rows(
    condition: str, source: _Source, transforms: Sequence[Transform], steps: list[list[Altered]]
) -> list[tuple[object, ...]]:
    return [
        (
            condition,
            source.role,
            item.item_id,
            part.transform,
            step[row].altered,
            step[row].reason,
            step[row].removed_choice,
            step[row].removed_index,
            step[row].gold_removed,
        )
        for row, item in enumerate(source.items)
        for part, step in zip(transforms, steps, strict=False)
    ]


def _source(table: pd.DataFrame, role: str) -> _Source:
    ordered = sort_items(table)
    twice = ordered["item_id"][ordered["item_id"].duplicated()]
    if len(twice):
        raise InputError(
            f"{role}s: item_id {twice.iloc[0]!r} occurs twice; each id must occur once"
        )
    items = []
    for item_id, question, choices, answer, right in zip(
        ordered["item_id"],
        ordered["question"],
        ordered["choices"],
        ordered["answer"],
        ordered["correct_set"],
        strict=True,
    ):
        if not -1 <= answer < max(len(choices), 1) or (not len(choices) and answer > -1):
            raise InputError(
                f"{role}s: item {item_id!r}: answer {answer} is not an index into its "
                f"{len(choices)} choices; use 0–{len(choices) - 1}, or −1 where it is not known"
            )
        items.append(MultipleChoice(item_id, question, tuple(choices), int(answer), len(right) > 1))
    explanations = ordered["explanation"]
    return _Source(
        role,
        items,
        ordered["subject"].tolist(),
        ordered["answer_text"].tolist(),
        explanations.astype(object).where(explanations.notna(), None).tolist(),
        ordered["content_hash"].tolist(),
    )


def _steps(
    source: _Source,
    transforms: Sequence[Transform],
    seed: int,
    draw: int,
    best: frozenset[str],
    rephrasings: Rephrased,
) -> list[list[Altered]]:
    """The results of each transform for all items, each transform on what the last one left."""
    items = source.items
    steps: list[list[Altered]] = []
    for transform in transforms:
        if isinstance(transform, RephraseParams):
            results = use_rephrasing(items, source.role, rephrasings)
        else:
            results = _apply(transform, items, seed, draw, best)
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


def _apply(
    transform: Transform, items: list[MultipleChoice], seed: int, draw: int, best: frozenset[str]
) -> list[Altered]:
    if isinstance(transform, NoneOfTheAboveParams):
        return add_none_of_the_above(
            items, seed=seed, draw=draw, text=transform.text, single_best_answer=best
        )
    if isinstance(transform, ReplaceChoiceParams):
        return replace_choice(
            items,
            seed=seed,
            draw=draw,
            probability=transform.probability,
            text=transform.text,
            single_best_answer=best,
        )
    return shuffle_choices(items, seed=seed, draw=draw)


def _drawn(source: _Source, row: int, results: list[Altered]) -> tuple[object, ...]:
    """One row of the draws, without condition and role."""
    item, last = source.items[row], results[-1]
    wordings = [result.question for result in results if result.question is not None]
    question = wordings[-1] if wordings else item.question
    same_options = last.choices == item.choices
    explanation = source.explanations[row]
    if any(result.gold_removed for result in results) or (
        not same_options and explanation is not None and mentions_options(explanation)
    ):
        explanation = None
    same = same_options and question == item.question
    return (
        item.item_id,
        source.subjects[row],
        question,
        list(last.choices),
        last.answer,
        source.answer_texts[row] if last.answer < 0 else last.choices[last.answer],
        explanation,
        source.hashes[row] if same else content_hash(question, last.choices),
    )
