"""MMLU-CF (3.2, step 5), rule 1: rephrased questions, each checked before use."""

import re
from collections.abc import Callable, Iterable, Sequence
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.core.option_letters import lettered
from benchwright.core.text_folding import single_spaced
from benchwright.params.perturbation import RephraseParams
from benchwright.transforms.rephrase_checks import (
    Asked,
    Wording,
    failed_checks,
    part_passage,
    question_form,
)

SIMILARITY = "similarity"
"""The name of the check that needs an encoder; the others are in `rephrase_checks.CHECKS`."""

LONGEST_REPLY = 512
"""Tokens of a reply: longer than any rewording of a question."""

Ask = Callable[[Sequence[str], int], list[str | None]]
"""A chat model: the reply to each text at the n-th attempt; None where the text is too long."""

Similarity = Callable[[Sequence[str], Sequence[str]], Sequence[float]]
"""Cosine of each text with the one at the same place in the other list."""

_INSTRUCTION = """\
Write the question below in other words.

- It must ask for exactly the same, so that the right answer stays right and the wrong ones wrong.
- Use other words and another order of words wherever that does not change the meaning.
- Keep all numbers, units, names, dates, technical terms, formulas, code and quotations as they are.
- Keep words such as "not", "never", "except", "least" and "false".
- {form}
- Do not answer it, add no hint, and do not repeat the options.
- Reply with the new question alone, in one piece: no heading, no comment, no quotation marks."""
_FORMS = {
    "question": "A question stays a question.",
    "stem": "It is an unfinished sentence which an option completes: write an unfinished sentence "
    "that the same options complete.",
    "blank": "It has a gap, ____, which an option fills: keep the gap for the same options.",
}

_THOUGHT = re.compile(r"<think>.*?</think>|^.*?</think>", re.DOTALL)
_CONSENT = r"(?:sure|certainly|of course|okay|ok)\b[^\n:]{0,80}[:!.]\s*"
_TITLE = (
    r"(?:here(?:'s| is| are)\b[^\n:]{0,80}|(?:the\s+)?(?:new|rephrased|reworded|rewritten"
    r"|revised|paraphrased|paraphrase)?\s*(?:question|wording|version|paraphrase|rephrasing))"
    r"\W{0,4}:[\s*_]{0,4}(?=\S)"
)
# Quotation marks, brackets and signs without a heading belong to the question.
_HEADING = re.compile(
    rf"^(?:\W*(?:{_CONSENT}(?:{_TITLE})?|{_TITLE})|(?:[-*•>#]+\s+)+)", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"\b(?:i\s+(?:cannot|can't|can\s+not|am\s+unable|won't|apologi[sz]e)|i'm\s+(?:sorry|unable)"
    r"|as\s+an\s+ai|sorry,|i\s+am\s+sorry)\b",
    re.IGNORECASE,
)
_OPTION_LINE = re.compile(r"^\W*\(?[A-J][.):]\s", re.MULTILINE)
_OPTIONS_IN_LINE = re.compile(r"(?:^|\s)\(?A[.)]\s.+\s\(?B[.)]\s")
_ANSWER = re.compile(
    r"\b(?:the\s+)?(?:correct\s+|right\s+)?answer\s*(?:is\b|:)|\boptions?\s*:", re.IGNORECASE
)
_LISTED = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+\S", re.MULTILINE)
_MARKS = (('"', '"'), ("“", "”"), ("‘", "’"), ("**", "**"), ("*", "*"), ("`", "`"), ("'", "'"))


class Question(NamedTuple):
    """A question to rephrase; `answer` and `answer_text` as in `Wording`."""

    role: str
    item_id: str
    text: str
    choices: tuple[str, ...] = ()
    answer: int = -1
    answer_text: str = ""
    passage_id: str | None = None


class Attempt(NamedTuple):
    """One row of `tables.Rephrasings` without the name of the model."""

    role: str
    item_id: str
    attempt: int
    before: str
    reply: str | None
    after: str | None
    similarity: float
    failed: tuple[str, ...]
    used: bool


class Read(NamedTuple):
    """The new question in a reply, or why there is none."""

    text: str | None
    failed: str


def questions_of(items: pd.DataFrame, role: str) -> list[Question]:
    """Return the questions of an `Items` table in the natural order of ids."""
    return [_question(row, role) for row in sort_items(items).itertuples()]


def _question(row: Any, role: str) -> Question:
    return Question(
        role=role,
        item_id=str(row.item_id),
        text=str(row.question),
        choices=tuple(row.choices),
        answer=int(row.answer),
        answer_text=str(row.answer_text),
        passage_id=row.passage_id if isinstance(row.passage_id, str) else None,
    )


def new_questions(attempts: Iterable[Any]) -> dict[tuple[str, str], str | None]:
    """Return the new question by role and id from each `Attempt`; None if no attempt passed."""
    wordings: dict[tuple[str, str], str | None] = {}
    for attempt in attempts:
        key = (str(attempt.role), str(attempt.item_id))
        wordings[key] = str(attempt.after) if attempt.used else wordings.get(key)
    return wordings


def rephrase(
    questions: Sequence[Question], ask: Ask, similarity: Similarity, params: RephraseParams
) -> list[Attempt]:
    """Rephrase each question, with up to `params.attempts` attempts until one passes.

    The passage before a question is shown, not changed and not checked. A question that cannot be
    rephrased has one attempt without a reply: `passage` (a long text in which it cannot be found)
    or `nothing_to_rephrase` (fewer than three words). `before` and `after` include the passages.
    """
    attempts: list[list[Attempt]] = [[] for _ in questions]
    open_ones: list[tuple[int, Asked]] = []
    for row, question in enumerate(questions):
        parts = part_passage(question.text, question.passage_id)
        if parts is None:
            attempts[row] = [_attempt(question, 1, None, "passage")]
        elif len(re.findall(r"[^\W\d_]{2,}", parts.question)) < 3:
            attempts[row] = [_attempt(question, 1, None, "nothing_to_rephrase")]
        else:
            open_ones.append((row, parts))
    for attempt in range(1, params.attempts + 1):
        if not open_ones:
            break
        replies = ask([rephrase_prompt(questions[row], parts) for row, parts in open_ones], attempt)
        old = [parts.question for _, parts in open_ones]
        read = list(map(read_reply, replies, old))
        near = _similarities(old, read, similarity)
        for (row, parts), reply, new, cosine in zip(open_ones, replies, read, near, strict=True):
            question = questions[row]
            if new.text is None:
                made = _attempt(question, attempt, reply, new.failed)
            else:
                wording = Wording(
                    before=parts.question,
                    after=new.text,
                    choices=question.choices,
                    answer=question.answer,
                    answer_text=question.answer_text,
                )
                failed = failed_checks(wording)
                if not cosine >= params.min_similarity:
                    failed.append(SIMILARITY)
                after = parts.passage + new.text
                made = _attempt(question, attempt, reply, *failed, after=after, similarity=cosine)
            attempts[row].append(made)
        # A prompt that is too long remains too long.
        open_ones = [
            (row, parts)
            for row, parts in open_ones
            if not attempts[row][-1].used and attempts[row][-1].reply is not None
        ]
    return [made for of_question in attempts for made in of_question]


def _similarities(
    before: Sequence[str], read: Sequence[Read], similarity: Similarity
) -> list[float]:
    """Return the similarity of each question to its new wording; NaN without one."""
    old = [text for text, reply in zip(before, read, strict=True) if reply.text is not None]
    new = [reply.text for reply in read if reply.text is not None]
    cosines = iter(similarity(old, new) if new else ())
    return [nan if reply.text is None else float(next(cosines)) for reply in read]


def _attempt(
    question: Question,
    attempt: int,
    reply: str | None,
    *failed: str,
    after: str | None = None,
    similarity: float = nan,
) -> Attempt:
    return Attempt(
        role=question.role,
        item_id=question.item_id,
        attempt=attempt,
        before=question.text,
        reply=reply,
        after=after,
        similarity=similarity,
        failed=failed,
        used=after is not None and not failed,
    )


def rephrase_prompt(question: Question, parts: Asked) -> str:
    """Return the model's prompt: the rules, the passage, the question, and its options."""
    form = _FORMS.get(question_form(parts.question), _FORMS["question"])
    blocks = [_INSTRUCTION.format(form=form)]
    passage = parts.passage.strip()
    if passage:
        blocks.append(f"Passage before the question, which stays as it is:\n{passage}")
    blocks.append(f"Question:\n{parts.question.strip()}")
    if question.choices:
        options = lettered(question.choices)
        blocks.append(f"Options, to know what is asked, not to be repeated:\n{options}")
    blocks.append("New question:")
    return "\n\n".join(blocks)


def read_reply(reply: str | None, before: str) -> Read:
    """Extract the new question from a reply, without the text around it.

    Return the question; or the reason why there is none: `too_long`, `empty`, `refusal`, `options`
    (the reply lists the options), `answered`, `several` (more than one wording, or a comment).
    """
    if reply is None:
        return Read(None, "too_long")
    text = _unwrapped(_THOUGHT.sub("", reply).strip())
    text = _unwrapped(_HEADING.sub("", text, count=1).strip())
    if not re.search(r"\w", text):
        return Read(None, "empty")
    if _REFUSAL.search(text) and not _REFUSAL.search(before):
        return Read(None, "refusal")
    listed = _OPTION_LINE.search(text) or _OPTIONS_IN_LINE.search(single_spaced(text))
    if listed and not _OPTION_LINE.search(before):
        return Read(None, "options")
    if _ANSWER.search(text) and not _ANSWER.search(before):
        return Read(None, "answered")
    more_paragraphs = _paragraphs(text) > _paragraphs(before)
    more_lines = len(_LISTED.findall(text)) > len(_LISTED.findall(before))
    return Read(None, "several") if more_paragraphs or more_lines else Read(text, "")


def _paragraphs(text: str) -> int:
    return len([line for line in text.splitlines() if line.strip()])


def _unwrapped(text: str) -> str:
    """Strip the quotation marks or stars around the whole text."""
    for left, right in _MARKS:
        inner = text[len(left) : -len(right)]
        wrapped = text.startswith(left) and text.endswith(right) and len(text) > len(left + right)
        if wrapped and left not in inner and right not in inner:
            return inner.strip()
    return text
