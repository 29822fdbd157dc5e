"""Files of quiz programs: GIFT, AMC and Moodle XML, read by their own grammars."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from benchwright.core.option_letters import LETTERS
from benchwright.methods.mmlu_cf.extraction.html import html_lines
from benchwright.methods.mmlu_cf.extraction.lines import FoundQuestion, flat, visible


def quiz_file_questions(text: str) -> list[FoundQuestion]:
    """Return the multiple-choice questions of a quiz file; [] for other texts.

    Moodle XML has a `<quiz>`, and a GIFT file answers in braces of which one begins with `~`. AMC
    marks right and wrong answers by commands of LaTeX, or by + and -.
    """
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    if "<quiz" in text[:1_000]:
        return list(_moodle(text))
    return list(_listed(text)) or list(_gift(text))


_PRINTED = re.compile(r"\(?([A-Za-z])[.)]\s+(?=\S)")  # a letter in the text of an answer


def _weighed(stem: str, answers: Sequence[tuple[float, str]], note: str = "") -> FoundQuestion:
    """Return a question whose answers have weights in percent: several share 100 if none has it."""
    choices = [answer for _, answer in answers]
    heads = [match for choice in choices if (match := _PRINTED.match(choice))]
    labels = [match[1] for match in heads]
    if "".join(sorted(labels)).upper() != LETTERS[: len(choices)]:
        labels, names = [""] * len(choices), choices
    else:
        choices = [match.string[match.end() :] for match in heads]
        names = labels
    least = 100 if any(weight == 100 for weight, _ in answers) else 1e-6
    weighed = zip(names, answers, strict=True)
    right = " and ".join(name for name, (weight, _) in weighed if weight >= least)
    return FoundQuestion(stem, choices, labels, right or None, note or None)


_LISTED = (  # the question with its answers; an answer, with the sign of the right ones
    (
        r"\\begin\{question\}\{[^{}]*\}(.*?)\\begin\{(?:choices|reponses)\w*\}(.*?)\\end\{",
        r"\\(?:(correctchoice|bonne)|wrongchoice|mauvaise)\{((?:[^{}]|\{[^{}]*\})*)\}",
    ),
    (
        r"(?:\A|(?<=\n))\*(?!\*)([^\n]*\n)((?:[+-] [^\n]*(?:\n|\Z))+)",
        r"(?:(\+)|-) ([^\n]*)",
    ),
)
_COMMANDS = re.compile(r"(?<!\\)%[^\n]*|\\(?:scoring|bareme|QuestionIndicative)(?:\{[^{}]*\})?")


def _listed(text: str) -> Iterator[FoundQuestion]:
    """Yield the questions whose answers are listed as right or wrong."""
    for pattern, answer in _LISTED:
        for question in re.finditer(pattern, text, re.DOTALL):
            stem, listed = (_COMMANDS.sub("", part) for part in question.groups())
            weighed = [
                (100.0 * bool(sign), flat(body)) for sign, body in re.findall(answer, listed)
            ]
            if len({weight for weight, _ in weighed}) == 2:
                yield _weighed(flat(stem), weighed)


_ASIDE = re.compile(r"(?m)^[ \t]*(?://|\$CATEGORY:).*$")
_BRACES = re.compile(r"(?<!\\)\{((?:[^{}\\]|\\.)*)\}", re.DOTALL)
_BEFORE = re.compile(r"(?s).*(?:\n[ \t]*\n|(?<!\\)\}[^\n]*\n)")
_TITLE = re.compile(r"\s*::(?:[^:\\]|\\.|:(?!:))*::")
_FORMAT = re.compile(r"\s*\[(html|markdown|moodle|plain)\]")
_ANSWER = re.compile(
    r"([=~])\s*(?:%(-?\d+(?:\.\d+)?)%)?((?:[^=~#\\]|\\.)*)(?:#(?:[^=~\\]|\\.)*)?", re.S
)
_ESCAPED = re.compile(r"\\([~=#%{}:\\n])")


def _gift(text: str) -> Iterator[FoundQuestion]:
    """Yield the questions of a GIFT file that have a wrong answer: others offer no choices."""
    text = _ASIDE.sub(lambda line: " " * len(line[0]), text)
    end = 0
    for braces in _BRACES.finditer(text):
        head = text[end : braces.start()]
        end = braces.end()
        body, _, note = braces[1].partition("####")
        answers = _ANSWER.findall(body)
        listed = body.lstrip()[:1] in {"=", "~"}
        if not listed or "~" not in {sign for sign, *_ in answers} or len(answers) < 2:
            continue
        for before in (_BEFORE, _TITLE):
            cut = before.match(head)
            head = head[cut.end() if cut else 0 :]
        stem, html = _formatted(head, html=False)
        after = text[end:].partition("\n")[0]
        stem = stem.rstrip() + " ____" * bool(after) + after
        weighed = [
            (
                float(weight or 100 * (sign == "=")),
                _written(*_formatted(answer, html=html)).replace("\n", " "),
            )
            for sign, weight, answer in answers
        ]
        yield _weighed(_written(stem, html), weighed, _written(note, html))


def _formatted(text: str, *, html: bool) -> tuple[str, bool]:
    """Return a text without its format, and whether it is HTML."""
    name = _FORMAT.match(text)
    return (text[name.end() :], name[1] == "html") if name else (text, html)


def _written(text: str, html: bool) -> str:
    text = _ESCAPED.sub(lambda sign: "\n" if sign[1] == "n" else sign[1], text)
    return _plain(text) if html else "\n".join(filter(None, map(flat, text.split("\n"))))


def _plain(html: str) -> str:
    return "\n".join(line.text for line in html_lines(html))


_SHARE = re.compile(r"-?\d{1,3}(?:\.\d+)?")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)


def _moodle(text: str) -> Iterator[FoundQuestion]:
    """Yield the questions of Moodle XML, which is read as HTML: it has no entities of its own."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(_CDATA.sub(lambda data: escape(data[1]), text))
    for question in tree.css("question[type=multichoice]"):
        answers = [
            (float(share[0]) if share else 0, _text(answer).replace("\n", " "))
            for answer in question.css("answer")
            for share in [_SHARE.match(answer.attributes.get("fraction") or "")]
        ]
        stem, note = (_text(question.css_first(n)) for n in ("questiontext", "generalfeedback"))
        if all(answer for _, answer in answers):  # without pictures
            yield _weighed(stem, answers, note)


def _text(node: Any) -> str:
    """Return the text of an element that holds a `<text>` in a format."""
    child = node.child if node is not None else None
    while child is not None and child.tag != "text":
        child = child.next
    inner = child
    if inner is None:
        return ""
    written = inner.text().strip()
    marked_up = node.attributes.get("format", "html") in {"html", "moodle_auto_format"}
    return _plain(written) if marked_up else written
