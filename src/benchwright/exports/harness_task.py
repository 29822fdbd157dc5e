"""Items as tasks of lm-evaluation-harness, with the same prompts, byte for byte.

A prompt of the harness is description, examples and question; an example is its text,
`target_delimiter`, its answer and `fewshot_delimiter`. Rows carry each part as rendered here, and
tasks refer to its column, so that the harness never reads an item's text as a template.
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key, natural_order
from benchwright.datasets.export_folder import json_text
from benchwright.datasets.harness_tasks import HarnessFamily, HarnessTask
from benchwright.params.benchmark import PromptParams
from benchwright.params.exports import ExportsParams, ExportStyle
from benchwright.params.scoring import GenerationParams, ScoringParams
from benchwright.scoring.demonstrations import answerable, demonstration_pools, open_ended
from benchwright.scoring.rendering import (
    LABELS,
    Question,
    continuations,
    questions,
    render_before,
    render_demonstration,
    render_question,
)

_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_HASH_BYTES = 16
_HASHED = ("item_id", "subject", "text", "choices", "answer", "answer_text")
_MOST_SHOTS = 25  # demonstrations of a task: as many as any benchmark of the harness shows


class AskedAs(NamedTuple):
    """The style and settings of all tasks of a family.

    `style` is what is scored: `letters`, `cloze`, or `generate` for written answers.
    """

    style: ExportStyle
    words: PromptParams
    scoring: ScoringParams
    exports: ExportsParams
    seed: int

    @property
    def label_space(self) -> str:
        """The text before a scored label or option."""
        bare = self.style == "letters" and self.scoring.label_tokens == "bare"
        return "" if bare else " "


class AddedColumns(NamedTuple):
    """Columns of rows beside those of every task."""

    # the same in every row, also of demonstrations: the name of a perturbed copy (`condition`), so
    # that its answers are not taken for the original's
    constant: Mapping[str, str] = MappingProxyType({})
    # values by item id, by name; versions of tasks do not depend on them
    columns: Mapping[str, Mapping[str, Any]] = MappingProxyType({})


class _Part(NamedTuple):
    """Questions with the same demonstrations, in the same order; `subject` is None for all."""

    subject: str | None
    items: list[Question]
    shown: Sequence[Question]


def harness_family(
    name: str,
    items: Sequence[Question],
    demonstrations: pd.DataFrame,
    asked: AskedAs,
    facts: Mapping[str, Any],
    added: AddedColumns = AddedColumns(),  # noqa: B008 - immutable
) -> HarnessFamily:
    """Return the tasks of one benchmark, variant or copy in one style.

    There is one task, or one per subject if subjects have their own demonstrations. All items of a
    harness task have the same demonstrations. An item that equals one of them gets others, as in
    scoring, so it is in a separate task (`…_part2`). Several tasks form a group, whose scores count
    every item once. `name` is that of the family and of its only task or its group; `facts` are for
    each task's metadata: benchmark, variant, …

    Raises:
        InputError: a demonstration in the style `generate` would have no answer.
    """
    suited = [question for question in items if suits(question, asked)]
    order = natural_order([question.item_id for question in suited])
    suited = [suited[place] for place in order]
    parts = _parts(suited, questions(demonstrations), asked)
    facts = {**facts, "style": asked.style}
    tasks = [
        _task(task_name, part, asked, facts, added)
        for task_name, part in zip(_part_names(name, parts), parts, strict=True)
    ]
    described = {
        **facts,
        "n_items": len(suited),
        "left_out": len(items) - len(suited),
        "items_hash": items_hash(suited),
        "max_num_fewshot": min((len(task.demonstrations) for task in tasks), default=0),
    }
    sizes = {task.name: len(task.rows) for task in tasks}
    group = group_config(list(sizes), tasks, described) if len(tasks) > 1 else None
    return HarnessFamily(name, group, tasks, {**described, "tasks": sizes})


def suits(question: Question, asked: AskedAs) -> bool:
    """Return whether a question fits the style: options are scored, open-ended answers written.

    Questions with options fit the style `generate` only if `exports.styles` has it.
    """
    if asked.style == "generate" and open_ended(question):
        return True
    wanted = asked.style != "generate" or "generate" in asked.exports.styles
    return wanted and answerable(question) and question.answer >= 0


def items_hash(items: Sequence[Question]) -> str:
    """Return a hash of questions and answers, independent of the order of items and the style."""
    asked = []
    for question in items:
        answer = question.answer if question.choices else question.answer_text
        asked.append((question.item_id, question.content_hash, answer))
    return _hash(sorted(asked))


def _hash(value: Any) -> str:
    return hashlib.blake2b(json_text(value).encode(), digest_size=_HASH_BYTES).hexdigest()


def _hash_of_lists(*lists: Iterable[Any]) -> str:
    """Compute `_hash` of lists of values, one value at a time."""
    digest = hashlib.blake2b(b"[", digest_size=_HASH_BYTES)
    for place, values in enumerate(lists):
        digest.update(b", [" if place else b"[")
        for number, value in enumerate(values):
            content = json_text(value)
            digest.update((f", {content}" if number else content).encode())
        digest.update(b"]")
    digest.update(b"]")
    return digest.hexdigest()


def _parts(
    items: Sequence[Question], demonstrations: Sequence[Question], asked: AskedAs
) -> list[_Part]:
    """Group items by subject (if it matters) and by their demonstrations."""
    choose = _chooser(demonstrations, asked)
    with_own = {d.subject for d in demonstrations}
    apart = asked.scoring.demonstrations == "per_subject" and any(
        q.subject in with_own for q in items
    )
    members_of: defaultdict[tuple[str, bool, tuple[str, ...]], list[Question]] = defaultdict(list)
    shown: dict[tuple[str, ...], Sequence[Question]] = {}
    for question in items:
        chosen = choose(question)
        ids = tuple(d.item_id for d in chosen)
        shown[ids] = chosen
        members_of[question.subject if apart else "", open_ended(question), ids].append(question)
    parts = [
        _Part(subject if apart else None, members, shown[ids])
        for (subject, _, ids), members in members_of.items()
    ]

    def rank(part: _Part) -> tuple[Any, ...]:
        return part.subject or "", -len(part.items), natural_key(part.items[0].item_id)

    return sorted(parts, key=rank)


def _chooser(
    demonstrations: Sequence[Question], asked: AskedAs
) -> Callable[[Question], Sequence[Question]]:
    """Return a function that chooses the demonstrations of a question, as scoring does."""
    pool_of = demonstration_pools(demonstrations, asked.scoring, asked.seed)
    ids = {d.item_id for d in demonstrations}
    hashes = {d.content_hash for d in demonstrations}
    known: dict[tuple[bool, str, str], Sequence[Question]] = {}

    def choose(question: Question) -> Sequence[Question]:
        is_shown = question.item_id in ids or question.content_hash in hashes
        key = (open_ended(question), question.subject, question.item_id if is_shown else "")
        if key not in known:
            known[key] = pool_of(question).choose(question, _MOST_SHOTS)
        return known[key]

    return choose


def _part_names(name: str, parts: Sequence[_Part]) -> list[str]:
    """Name each part `<family>[_<subject>][_part<n>]`."""
    subject_slugs = slugs([part.subject for part in parts if part.subject is not None])
    names = []
    seen: Counter[str | None] = Counter()
    for part in parts:
        seen[part.subject] += 1
        pieces = [name]
        if part.subject is not None and len(subject_slugs) > 1:
            pieces.append(subject_slugs[part.subject])
        if seen[part.subject] > 1:
            pieces.append(f"part{seen[part.subject]}")
        elif len(pieces) == 1 and len(parts) > 1:
            pieces.append("part1")  # the family's own name is the group's
        names.append("_".join(pieces))
    return names


def _task(
    name: str, part: _Part, asked: AskedAs, facts: Mapping[str, Any], added: AddedColumns
) -> HarnessTask:
    shown = [{**_demonstration_row(question, asked), **added.constant} for question in part.shown]
    described = {
        **facts,
        "n_items": len(part.items),
        "items_hash": items_hash(part.items),
        "demonstrations_hash": items_hash(part.shown),
    }
    config = {
        "test_split": "test",
        **_shots(shown, asked),
        # Columns with the parts of a prompt, and the separators between them.
        "description": "{{description}}",
        "doc_to_text": "text",
        "doc_to_target": "target" if asked.style == "generate" else "answer",
        "target_delimiter": asked.label_space,
        "fewshot_delimiter": asked.words.separator,
        **_scoring(part, asked),
        # Scores are comparable where the texts and the right answers are the same.
        "metadata": {"version": _version(part, asked, added, shown), "benchwright": described},
    }
    return HarnessTask(name, config, _Rows(part.items, asked, added), shown)


def _version(part: _Part, asked: AskedAs, added: AddedColumns, shown: Sequence[Any]) -> str:
    """Hash the texts of a task; one row for each number of options shows the format."""
    texts = map(attrgetter(*_HASHED), part.items)
    examples = {len(question.choices): question for question in reversed(part.items)}
    rows = []
    for _, example in sorted(examples.items()):
        rows.append({**_row(example, asked), **added.constant})
    return _hash_of_lists([asked.words.description], texts, rows, shown)[:8]


def _shots(shown: Sequence[Any], asked: AskedAs) -> dict[str, Any]:
    if not shown:
        # Otherwise the harness would draw examples from the questions themselves.
        return {"num_fewshot": 0}
    config: dict[str, Any] = {"fewshot_split": "dev", "fewshot_config": {"sampler": "first_n"}}
    if asked.label_space != " ":
        config["fewshot_config"]["target_delimiter"] = " "
    return config


def _scoring(part: _Part, asked: AskedAs) -> dict[str, Any]:
    if asked.style == "generate":
        return _written(part.items, asked.words, asked.scoring.generation)
    return {
        "output_type": "multiple_choice",
        "doc_to_choice": "labels" if asked.style == "letters" else "choices",
        "metric_list": [_mean(metric) for metric in ("acc", "acc_norm")],
    }


def _mean(metric: str) -> dict[str, Any]:
    return {"metric": metric, "aggregation": "mean", "higher_is_better": True}


def _written(
    items: Sequence[Question], words: PromptParams, generation: GenerationParams
) -> dict[str, Any]:
    """Return how written answers end, and how the final answer is extracted."""
    open_question = open_ended(items[0])
    numbers = open_question and all(re.fullmatch(_NUMBER, q.answer_text) for q in items)
    # The last statement counts, as in `scoring`.
    patterns = {"stated": stated_answer(words, open_question)}
    if numbers:
        patterns["last_number"] = _NUMBER
    stop = list(generation.stop) or list(filter(None, [words.question_prefix.strip()]))
    return {
        "output_type": "generate_until",
        "generation_kwargs": {
            "until": stop,
            "max_gen_toks": generation.max_tokens,
            "do_sample": generation.temperature > 0,
            "temperature": generation.temperature,
            **({"top_p": generation.top_p} if generation.temperature > 0 else {}),
        },
        "metric_list": [
            {**_mean("exact_match"), "ignore_case": True, "regexes_to_ignore": [",", r"\$", r"\.$"]}
        ],
        "filter_list": [
            {
                "name": name,
                "filter": [
                    {"function": "regex", "regex_pattern": pattern, "group_select": -1},
                    {"function": "take_first"},
                ],
            }
            for name, pattern in patterns.items()
        ],
    }


def stated_answer(words: PromptParams, open_question: bool) -> str:
    """Return a pattern whose group is the last answer that is stated as in demonstrations.

    Case is ignored in the words before it, and brackets around a letter may be missing.
    """
    if open_question:
        before, _, _ = words.open_statement.partition("{answer}")
        answer = r"(?:\s*:)?\s*(\S[^\n]*?)(?:\.?\s*(?:\n|$)|\.\s)"
    else:
        before, _, _ = words.statement.partition("{label}")
        answer = r"(?:\s*:)?\s*\(?([A-Z])(?![A-Za-z])"
    said = r"\s+".join(map(re.escape, before.rstrip(" (").split()))
    return f"(?s:.*)(?i:{said}){answer}"


class _Rows:
    """The rows of questions, made on each iteration to save memory."""

    def __init__(self, items: Sequence[Question], asked: AskedAs, added: AddedColumns) -> None:
        self._items = items
        self._asked = asked
        self._added = added

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for item in self._items:
            added = {name: values[item.item_id] for name, values in self._added.columns.items()}
            yield {**_row(item, self._asked), **self._added.constant, **added}


def _row(question: Question, asked: AskedAs) -> dict[str, Any]:
    if asked.style != "generate":
        shown = continuations(question, asked.style, label_space=False)
        target = shown[question.answer]
    else:
        target = LABELS[question.answer] if question.choices else question.answer_text
    body = render_question(question, asked.style, "question", asked.words)
    before = render_before(question, [], asked.words)
    return {
        "item_id": question.item_id,
        "content_hash": question.content_hash,
        "subject": question.subject,
        "question": question.text,
        "choices": list(question.choices),
        "labels": list(LABELS[: len(question.choices)]),
        "answer": question.answer,
        "answer_text": question.answer_text,
        "description": before + asked.words.separator if before else "",
        "text": body,
        "target": target,
    }


def _demonstration_row(question: Question, asked: AskedAs) -> dict[str, Any]:
    """Return an example; for `generate`, its target is all text after the question."""
    row = _row(question, asked)
    if asked.style == "generate":
        worked = render_demonstration(question, asked.style, "question", asked.words, True)
        row["target"] = worked.removeprefix(f"{row['text']} ")
        if not row["target"]:
            raise InputError(
                f"demonstration {question.item_id}: it has no answer, since "
                "prompt.statement is empty; set it, or remove generate from exports.styles"
            )
    return row


def group_config(
    names: Sequence[str], tasks: Sequence[HarnessTask], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a group of tasks in one style, whose scores are means over questions."""
    first = tasks[0].config
    if "filter_list" in first:
        metrics = ["exact_match"]
        named = {f["name"] for task in tasks for f in task.config["filter_list"]}
        filters = sorted(named, reverse=True)
    else:
        metrics, filters = ["acc", "acc_norm"], ["none"]
    version = _hash([task.config["metadata"]["version"] for task in tasks])[:8]
    return {
        "task": list(names),
        "aggregate_metric_list": [
            {
                "metric": metric,
                "filter_list": filters,
                "aggregation": "mean",
                "weight_by_size": True,
            }
            for metric in metrics
        ],
        "metadata": {"version": version, "benchwright": dict(facts)},
    }


_LONGEST = 60  # characters of one part of a file name


def slug(text: str) -> str:
    """Return lower-case ASCII letters and digits, with words joined by underscores.

    Accents are dropped. A text without ASCII, or a long one, is named by its hash.
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "_", ascii_text.lower()).strip("_")
    if not words:
        return _digest(text)
    if len(words) <= _LONGEST:
        return words
    return f"{words[:_LONGEST].rstrip('_')}_{_digest(text)}"


def slugs(texts: Sequence[str]) -> Mapping[str, str]:
    """Return a slug for each distinct text; if two are equal, both get their hash."""
    slug_of = {text: slug(text) for text in sorted(set(texts))}
    shared = Counter(slug_of.values())
    for text, short in slug_of.items():
        if shared[short] > 1:
            slug_of[text] = f"{short}_{_digest(text)}"
    return slug_of


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=3).hexdigest()
