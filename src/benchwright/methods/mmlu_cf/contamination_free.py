"""The contamination-free rules: rephrase, shuffle, replace an option (MMLU-CF, section 3.4)."""

from collections import Counter
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.language_models.protocol import Ask
from benchwright.params.perturbation import PerturbationParams, RephraseParams
from benchwright.tables.items import Demonstrations, Items
from benchwright.tables.mmlu_cf import CleanItems
from benchwright.transforms.compose import Rephrased, perturb
from benchwright.transforms.rephrase import Question, Similarity, rephrase


class Reworded(NamedTuple):
    """New questions by role and id, None where no wording passed.

    `failed` counts the checks that attempts failed.
    """

    questions: Rephrased
    failed: dict[str, int]


def reword(
    items: pd.DataFrame, ask: Ask, similarity: Similarity, params: RephraseParams
) -> Reworded:
    """Ask for another wording of every question of `Items`, and take the first that passes."""
    names = ["item_id", "question", "choices", "answer", "answer_text"]
    questions = [
        Question("item", str(item_id), str(text), tuple(choices), int(answer), str(right))
        for item_id, text, choices, answer, right in items[names].itertuples(index=False)
    ]
    attempts = rephrase(questions, ask, similarity, params)
    found: dict[tuple[str, str], str | None] = {}
    for attempt in attempts:
        key = ("item", attempt.item_id)
        found[key] = attempt.after if attempt.used else found.get(key)
    failed = Counter(name for attempt in attempts for name in attempt.failed)
    return Reworded(found, dict(sorted(failed.items())))


class RuledItems(NamedTuple):
    """A `CleanItems` table after the rules, and how often each rule did what.

    `counts` has, for each transform: `altered`, and the items copied by the reason why.
    """

    items: pd.DataFrame
    counts: dict[str, dict[str, int]]


def as_items(clean: pd.DataFrame) -> pd.DataFrame:
    """An `Items` table of a `CleanItems` one: the field is the subject.

    A question stands without its passage, which no rule alters.
    """
    rows = []
    for row in clean.to_dict("records"):
        choices, answer = [str(choice) for choice in row["choices"]], int(row["answer"])
        known = 0 <= answer < len(choices)
        rows.append(
            {
                "item_id": str(row["item_id"]),
                "split": "built",
                "subject": str(row["field"]),
                "question": str(row["question"]),
                "choices": choices,
                "answer": answer,
                "answer_text": choices[answer] if known else "",
                "correct_set": [answer] if known else [],
                "passage_id": None,
                "explanation": _text(row["explanation"]),
                "domain": _text(row["domain"]),
                "url": _text(row["url"]),
                "source_id": None,
                "content_hash": content_hash(str(row["question"]), choices),
            }
        )
    return Items.from_rows(rows)


def apply_draw(
    clean: pd.DataFrame, params: PerturbationParams, seed: int, rephrasings: Rephrased
) -> RuledItems:
    """Items through the transforms, once: the first draw, all transforms together.

    Args:
        clean: a `CleanItems` table.
        params: the transforms; `draws`, `cumulative` and `sba` are passed over.
        seed: of the run.
        rephrasings: new questions by role (`item`) and id.

    Raises:
        InputError: an id occurs twice, or an answer is not an index into the choices.
    """
    once = params.model_copy(update={"draws": 1, "cumulative": False, "sba": "none"})
    made = perturb(as_items(clean), Demonstrations.empty(), once, seed, frozenset(), rephrasings)
    order = clean["item_id"].astype(str).tolist()
    changed = {}
    for name in ("question", "choices", "answer", "explanation"):
        value = dict(zip(made.draws["item_id"], made.draws[name], strict=True))
        changed[name] = [value[item_id] for item_id in order]
    ruled = clean.reset_index(drop=True).assign(**changed)
    counts: dict[str, dict[str, int]] = {}
    for transform, part in made.changes.groupby("transform", sort=False):
        told = Counter(str(reason) or "altered" for reason in part["reason"])
        counts[str(transform)] = dict(sorted(told.items()))
    return RuledItems(pd.DataFrame(CleanItems.validate(ruled)), counts)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
