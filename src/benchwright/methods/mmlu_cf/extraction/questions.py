"""The questions of a page: runs of options with their surroundings, and tables of questions."""

import re
from dataclasses import dataclass

from benchwright.methods.mmlu_cf.extraction.answers import answer_inside, parsed_answer
from benchwright.methods.mmlu_cf.extraction.given_answers import (
    GivenAnswer,
    explanation,
    given_answer,
)
from benchwright.methods.mmlu_cf.extraction.keys import KeySection, answers_of_keys, key_sections
from benchwright.methods.mmlu_cf.extraction.labels import LETTERED
from benchwright.methods.mmlu_cf.extraction.lines import FoundQuestion, Line
from benchwright.methods.mmlu_cf.extraction.options import STAR, Run, option_runs
from benchwright.methods.mmlu_cf.extraction.stems import Passages, Stem, number_of, stem_of


@dataclass(slots=True)
class _Draft:
    """A run with its surroundings."""

    run: Run
    stem: Stem
    answer: GivenAnswer | None = None
    explanation: str = ""
    passage: str | None = None

    @property
    def numbered(self) -> bool:
        return self.stem.number is not None


def questions_of(lines: list[Line]) -> list[FoundQuestion]:
    """Return the questions of a page in order, with the answers that the page gives."""
    found = option_runs(lines)
    keys = key_sections(lines) if found else []
    in_keys = {at for key in keys for at in range(key.first, key.last + 1)}
    runs = [
        run
        for run in found
        if not in_keys.intersection({run.options[0].line, run.options[1].line})
        and sum(map(bool, run.texts)) >= 2
        and not any(answer_inside(text) >= 0 for text in run.texts[:-1])
    ]
    runs = [
        run
        for run, after in zip(runs, [*runs[1:], None], strict=False)
        if after is None or not _is_statements(lines, run, after)
    ]
    drafts = _drafts(lines, runs, in_keys)
    _answers_by_markup(drafts, lines)
    _answers_by_keys([draft for draft in drafts if draft.answer is None], keys)
    _answers_by_emphasis(drafts)
    return [
        FoundQuestion(
            draft.stem.text,
            draft.run.texts,
            draft.run.labels,
            draft.answer.answer if draft.answer else None,
            draft.explanation or None,
            draft.passage,
        )
        for draft in _accepted(drafts)
    ]


def _marked(run: Run, *kinds: str) -> str:
    """Return the names of the options with the first of these marks that any has, or ""."""
    places = next(filter(None, map(run.marked, kinds)), [])
    return " and ".join(run.options[n].label or run.options[n].text for n in places)


def _named_by_attribute(lines: list[Line], run: Run) -> str:
    """Return the option that an attribute around the run names by value or text, or ""."""
    values = [(option.value or "").casefold() for option in run.options]
    right = [n for n, value in enumerate(values) if value in {"correct", "right"}]
    if len(right) == 1 and sum(v in {"incorrect", "wrong"} for v in values) == len(values) - 1:
        return run.options[right[0]].label or run.options[right[0]].text
    named = {lines[option.line].right.strip() for option in run.options}
    for names in (run.texts, [option.value for option in run.options]):
        if len(named) == 1 and (name := min(named)) and names.count(name) == 1:
            option = run.options[names.index(name)]
            return option.label or option.text
    return ""


def _is_statements(lines: list[Line], run: Run, after: Run) -> bool:
    """Return whether a run is statements of a stem to which the next run's options refer."""
    between = range(run.last + 1, after.first + (after.start > 0))
    alike = (run.style, run.series) == (after.style, after.series)
    if len(between) > 4 or alike or after.bare or _marked(run, "correct", "ticked"):
        return False
    if any(given_answer(lines, at, at + 1, run) or number_of(lines[at]) for at in between):
        return False
    counted = (run.series in {"roman", "numbers"} and not run.sure) or run.style[:1] == "="
    return counted or _refers_to(after, run)


def _refers_to(options: Run, statements: Run) -> bool:
    names = {label.casefold() for label in statements.labels if label}
    references = 0
    for text in options.texts:
        words = set(re.findall(r"[a-z0-9]{1,4}", text.casefold()))
        others = words - {"and", "only", "or", "both", "all", "none", "of", "the", "neither"}
        references += bool(words & names) and len(others - names) <= 3
    return 2 * references >= len(options.options)


def _drafts(lines: list[Line], runs: list[Run], in_keys: set[int]) -> list[_Draft]:
    drafts: list[_Draft] = []
    passages = Passages(lines)
    bound = 0
    for place, run in enumerate(runs):
        before = drafts[-1] if drafts else None
        stem = stem_of(lines, run.first, run.start, min(bound, run.first))
        if stem is None:
            bound = max(bound, run.last + 1)
            continue
        if before:
            before.explanation = explanation(lines, before.run, before.answer, bound, stem.first)
        end = runs[place + 1].first if place + 1 < len(runs) else len(lines)
        stop = next((at for at in range(run.last + 1, end) if at in in_keys), end)
        answer = given_answer(lines, run.last + 1, stop, run)
        if answer is None and stem.given:
            answer = GivenAnswer(stem.given)
        draft = _Draft(run, stem, answer)
        draft.passage = passages.of(stem, bound)
        drafts.append(draft)
        bound = max(run.last, answer.last if answer else 0) + 1
    if drafts:
        last, end = drafts[-1], min(len(lines), bound + 12)
        last.explanation = explanation(lines, last.run, last.answer, bound, end)
    return drafts


def _answers_by_markup(drafts: list[_Draft], lines: list[Line]) -> None:
    kinds = "correct", "ticked"
    single = any(len(draft.run.marked(kind)) == 1 for draft in drafts for kind in kinds)
    boxed = [draft for draft in drafts if len(draft.run.marked("ticked")) == 1]
    asking = sum(draft.stem.asks for draft in boxed)
    quiz = asking > 1 and 2 * asking >= len(boxed)
    for draft in drafts:
        run = draft.run
        asked = quiz or draft.numbered or draft.stem.asks or run.series in LETTERED
        sure = single and (asked or not run.marked("ticked"))  # boxes are also in other lists
        name = (_marked(run, *kinds) if sure else "") or _named_by_attribute(lines, run)
        if name and draft.answer is None:
            draft.answer = GivenAnswer(name)


def _answers_by_keys(drafts: list[_Draft], keys: list[KeySection]) -> None:
    for n, entry in answers_of_keys([draft.stem for draft in drafts], keys).items():
        draft = drafts[n]
        parsed = parsed_answer(entry.rest, draft.run.labels, draft.run.texts)
        if parsed is not None:
            draft.answer = GivenAnswer(*parsed)
            explanations = " ".join(filter(None, (parsed.explanation, entry.explanation)))
            draft.explanation = draft.explanation or explanations


def _answers_by_emphasis(drafts: list[_Draft]) -> None:
    """Take a star or a face as a mark if most questions, at least two, have one such option."""
    open_ = [draft for draft in drafts if draft.answer is None]
    for kind in ("star", "colour", "bold", "italic"):
        single = [draft for draft in open_ if len(draft.run.marked(kind)) == 1]
        if len(single) > 1 and len(single) >= 0.6 * len(open_):
            for draft in single:
                for option in draft.run.options if kind == "star" else ():
                    option.pieces = [STAR.sub("", option.text)]
                draft.answer = GivenAnswer(_marked(draft.run, kind))
            break


def _accepted(drafts: list[_Draft]) -> list[_Draft]:
    """Return questions with an answer, and those without on pages that clearly hold questions."""
    answered = {(d.run.series, d.run.style) for d in drafts if d.answer is not None}
    open_ = [d for d in drafts if d.answer is None and _is_plain_question(d)]
    sizes = {len(d.run.options) for d in open_}
    alike = any(d.stem.asks for d in open_) or (len(sizes) == 1 and min(sizes) > 2)
    several = len(open_) > 1 and alike

    def accepted(draft: _Draft) -> bool:
        run = draft.run
        sure = several and (run.series not in {"numbers", "roman"} or run.sure)
        return draft in open_ and (sure or (run.series, run.style) in answered)

    return [draft for draft in drafts if draft.answer is not None or accepted(draft)]


def _is_plain_question(draft: _Draft) -> bool:
    if draft.run.bare or re.match(r":(?!:)", draft.run.style):
        return False
    listed = sum(text.endswith((",", ";")) for text in draft.run.texts)
    return listed < 2 and (draft.stem.asks or draft.numbered)
