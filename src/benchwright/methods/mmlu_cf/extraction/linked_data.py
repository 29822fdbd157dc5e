"""Questions in JSON-LD (schema.org `Question` with suggested answers) as lines."""

import json
from collections.abc import Iterator
from typing import Any

from benchwright.methods.mmlu_cf.extraction.lines import Line, flat, visible

_NODES = 20_000
_CHARACTERS = 2_000_000


def question_lines(source: str, first_group: int) -> list[Line]:
    """The questions of one script element as lines: stem, options, the right ones marked.

    A `Question` without `suggestedAnswer` (a FAQ) is no multiple-choice question.

    Args:
        source: JSON; anything else gives no lines.
        first_group: a negative number; the groups count down from it.
    """
    if len(source) > _CHARACTERS:
        return []
    try:
        data = json.loads(source)
    except (ValueError, RecursionError):
        return []
    lines: list[Line] = []
    for question in _questions(data):
        wrong = _answers(question.get("suggestedAnswer"))
        right = _answers(question.get("acceptedAnswer"))
        stem = _text(question.get("text")) or _text(question.get("name"))
        if not wrong or not stem or len(wrong) + len(right) > 26:
            continue
        block = first_group - len(lines)
        lines.append(Line(stem, "heading", block))
        for answer in _in_order(wrong, right):
            marks = {"correct"} if any(answer is one for one in right) else set()
            text = _text(answer.get("text")) or _text(answer.get("name"))
            lines.append(Line(text, "option", block, group=block, marks=marks))
        explanation = [_text(_comment(one)) for one in right]
        if any(explanation):
            lines.append(Line(f"Explanation: {' '.join(explanation)}".strip(), "text", block))
    return lines


def _questions(data: Any) -> Iterator[dict[str, Any]]:
    """The questions in a tree of JSON, in order."""
    stack, seen = [data], 0
    while stack and seen < _NODES:
        node = stack.pop()
        seen += 1
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, dict):
            kind = node.get("@type")
            if kind == "Question" or (isinstance(kind, list) and "Question" in kind):
                yield node
            else:
                stack.extend(reversed([v for v in node.values() if isinstance(v, dict | list)]))


def _answers(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [one if isinstance(one, dict) else {"text": one} for one in values if one]


def _in_order(wrong: list[dict[str, Any]], right: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By position, where all have one; else the right ones last, as they come."""
    both = [*wrong, *right]
    try:
        return sorted(both, key=lambda one: int(one["position"]))
    except (KeyError, TypeError, ValueError):
        return both


def _comment(answer: dict[str, Any]) -> Any:
    comment = answer.get("answerExplanation") or answer.get("comment") or answer.get("explanation")
    return comment.get("text") if isinstance(comment, dict) else comment


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return str(value) if isinstance(value, int | float) else ""
    if "<" in value or "&" in value:
        from selectolax.lexbor import LexborHTMLParser

        from benchwright.methods.mmlu_cf.extraction.tag_depth import without_deep_tags

        body = LexborHTMLParser(without_deep_tags(value)).body
        value = body.text() if body is not None else ""
    return flat(visible(value))
