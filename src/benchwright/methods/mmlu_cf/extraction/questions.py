"""The questions of a page: runs of options with stem, answer, explanation and passage."""

import re
from dataclasses import dataclass

from benchwright.methods.mmlu_cf.extraction.answer_keys import key_sections, match_keys
from benchwright.methods.mmlu_cf.extraction.answer_lines import starts_answer
from benchwright.methods.mmlu_cf.extraction.answers import (
    GivenAnswer,
    explanation,
    faced,
    given_answer,
    marked,
    named_by_attribute,
)
from benchwright.methods.mmlu_cf.extraction.lines import Line, PageText
from benchwright.methods.mmlu_cf.extraction.option_runs import (
    bare_runs,
    labelled_runs,
    unlabelled_runs,
)
from benchwright.methods.mmlu_cf.extraction.options import Run
from benchwright.methods.mmlu_cf.extraction.question_tables import FoundQuestion, table_questions
from benchwright.methods.mmlu_cf.extraction.stems import Passages, Stem, number_of, stem_of

_COMMENTS = re.compile(
    r"(?:(?:user|reader|student)\s)?(?:comments?|discussion|replies|responses|kommentare|comentarios)"
    r"\s?(?:[(\[]\d+[)\]])?:?|\d+\s(?:comments?|replies|responses)",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"(?!wh)(?:posted by |re: ?)?\S{1,30}(?: \S{1,30})?,? "
    r"(?:wrote|replied|posted|commented)\b.{0,40}"
    r"(?<!\?)",
    re.I,
)
_LEADERS = re.compile(r"(?:\.\s?){5,}|\t\d{1,4}$|[$€£]\s?\d+[.,]\d\d$")
_FAQ = re.compile(r"\bFAQs?\b|frequently asked|häufige fragen", re.IGNORECASE)


@dataclass(slots=True)
class _Draft:
    """A run with what was found around it."""

    run: Run
    stem: Stem
    answer: GivenAnswer | None = None
    explanation: str = ""
    passage: str | None = None
    by: str = ""  # what gave the answer: line, markup, attribute, key, face


def questions_of(page: PageText, longest_line: int) -> list[FoundQuestion]:
    """All questions of a page in order, each with the answer that the page gives, or none.

    Args:
        page: its lines; regions of comments are noted in them.
        longest_line: in longer lines, labels inside the text are not looked for.
    """
    lines = _with_regions(page.lines)
    rows = table_questions(lines)
    keys = key_sections(lines)
    in_keys = {at for key in keys for at in range(key.first, key.last + 1)}
    runs = labelled_runs(lines, longest_line)
    runs += unlabelled_runs(lines, runs)
    runs += bare_runs(lines, runs, in_keys | rows.keys())
    runs.sort(key=lambda run: (run.first, run.start, -run.last))
    runs = [
        run
        for run in runs
        if not in_keys.intersection({run.options[0].line, run.options[1].line})
        and run.options[0].line not in rows
        and sum(bool(one.text) for one in run.options) >= 2
        and sum(bool(_LEADERS.search(one.text)) for one in run.options) < 2
    ]
    drafts = _drafts(lines, _without_statements(lines, runs), in_keys)
    _answers_by_markup(drafts, page)
    match_keys([(d.run, d.stem, d) for d in drafts if d.answer is None], keys, lines)
    _answers_by_face(drafts)
    headings = [line.text for line in lines[:40] if line.kind == "heading"]
    faq = any(_FAQ.search(text) for text in (page.title, *headings))
    kept = _accepted(drafts, faq)
    found = [*(_found(lines, draft) for draft in kept), *rows.values()]
    return _without_copies(sorted(found, key=lambda one: one.start))


def _with_regions(lines: list[Line]) -> list[Line]:
    """Comment sections and posts that only the text shows get regions of their own."""
    section: tuple[int, ...] = ()
    number = 0
    for line in lines:
        short = len(line.text) < 80
        comments = (
            _COMMENTS.fullmatch(line.text)
            if short and not line.label and line.kind != "option"
            else None
        )
        wrote = _WROTE.fullmatch(line.text) if short and line.kind != "item" else None
        if comments or wrote:
            number -= 1
            section = (number,)
        elif line.kind == "heading":
            section = section if section and line.block == 0 else ()
        if section:
            line.region = (*line.region, *section)
    return lines


def _without_statements(lines: list[Line], runs: list[Run]) -> list[Run]:
    """Runs that are not statements of a stem which another run's options speak of."""
    kept: list[Run] = []
    for place, run in enumerate(runs):
        nxt = runs[place + 1] if place + 1 < len(runs) else None
        if nxt is not None and (_gives_way(run, nxt) or _is_statements(lines, run, nxt)):
            continue
        if kept and run.first <= kept[-1].last and not run.first == kept[-1].last == kept[-1].first:
            continue
        kept.append(run)
    return kept


def _gives_way(run: Run, nxt: Run) -> bool:
    """Whether a run overlaps with the next one, and the next one is rather the options."""
    if nxt.options[0].line > run.last or not (nxt.start == 0 or nxt.first == run.first):
        return False
    if _speaks_of(nxt, run):
        return True
    lesser = run.series in {"numbers", "roman"} or not run.sure
    return lesser and nxt.series in {"letters", "cyrillic"}


def _speaks_of(options: Run, statements: Run) -> bool:
    names = {one.label.casefold() for one in statements.options if one.label}
    own = {one.label.casefold() for one in options.options}
    spoken = 0
    for one in options.options:
        words = set(re.findall(r"[a-z0-9]{1,4}", one.text.casefold()))
        others = words - {"and", "only", "or", "both", "all", "none", "of", "the", "neither"}
        spoken += bool(words & names) and len(others - names) <= 3
    return bool(names) and names != own and 2 * spoken >= len(options.options)


def _is_statements(lines: list[Line], run: Run, nxt: Run) -> bool:
    between = range(run.last + 1, nxt.first + (nxt.start > 0))
    if len(between) > 4 or lines[run.first].region != lines[nxt.first].region:
        return False
    if (run.style, run.series) == (nxt.style, nxt.series) or nxt.form == "bare":
        return False
    unmarked = nxt.form == "items" and not marked(nxt)
    if unmarked or any(one.marks & {"correct", "ticked", "bold"} for one in run.options):
        return False
    if any(given_answer(lines, at, at + 1, run) for at in between):
        return False
    if _speaks_of(nxt, run):
        return True
    numbered = any(number_of(lines[at]) for at in between)
    return not numbered and run.series in {"roman", "numbers"} and run.form != "inputs"


def _drafts(lines: list[Line], runs: list[Run], in_keys: set[int]) -> list[_Draft]:
    drafts: list[_Draft] = []
    passages = Passages(lines)
    bound, before = 0, None
    for place, run in enumerate(runs):
        stem = stem_of(lines, run, min(bound, run.first), before)
        if stem is None:
            bound = max(bound, run.last + 1)
            continue
        if drafts:
            last = drafts[-1]
            last.explanation = explanation(lines, last.run, last.answer, bound, stem.first)
        end = runs[place + 1].first if place + 1 < len(runs) else len(lines)
        stop = next((at for at in range(run.last + 1, end) if at in in_keys), end)
        answer = given_answer(lines, run.last + 1, stop, run)
        if (
            answer is None
            and run.first - 1 > stem.first
            and starts_answer(lines[run.first - 1].text)
        ):
            answer = given_answer(lines, run.first - 1, run.first, run)
        draft = _Draft(run, stem, answer, by="line" if answer else "")
        draft.passage = passages.of(stem, max(bound, 0))
        drafts.append(draft)
        bound = max(run.last, answer.last if answer else 0) + 1
        before = stem
    if drafts:
        last, end = drafts[-1], min(len(lines), bound + 12)
        last.explanation = explanation(lines, last.run, last.answer, bound, end)
    return drafts


def _answers_by_markup(drafts: list[_Draft], page: PageText) -> None:
    runs = [draft.run for draft in drafts]
    named = named_by_attribute(runs, page.containers)
    single = sum(len(marked(run)) == 1 for run in runs)
    for place, draft in enumerate(drafts):
        if draft.answer is not None:
            continue
        found = marked(draft.run)
        boxes = any("ticked" in one.marks for one in draft.run.options)  # also in other lists
        numbered = draft.stem.number is not None and single > boxes
        lettered = draft.run.series in {"letters", "cyrillic"}
        asked = draft.stem.asks or numbered or lettered
        several = single > 1 and (asked or not boxes)
        if found and (several or (asked and (single or len(found) == 1))):
            draft.answer, draft.by = _by_options(draft.run, found), "markup"
        elif place in named and (option := named[place]) is not None:
            draft.answer, draft.by = _by_options(draft.run, [option]), "attribute"


def _answers_by_face(drafts: list[_Draft]) -> None:
    open_ = [draft for draft in drafts if draft.answer is None]
    asked = [d for d in open_ if d.stem.asks or d.stem.number is not None or d.run.series]
    alone = len(drafts) == 1 and drafts[0].stem.asks
    for place, found in faced([one.run for one in asked], alone=alone).items():
        draft = asked[place]
        if len(open_) == len(drafts) or draft.stem.number is not None or draft.stem.asks:
            draft.answer, draft.by = _by_options(draft.run, found), "face"


def _by_options(run: Run, places: list[int]) -> GivenAnswer:
    names = [run.options[n].label or run.options[n].text for n in places]
    return GivenAnswer(" and ".join(names), "", -1, -1)


def _accepted(drafts: list[_Draft], faq: bool) -> list[_Draft]:
    """Questions with an answer; those without where the page is plainly one of questions."""
    answered = {(d.run.series, d.run.style) for d in drafts if d.answer is not None}
    open_ = [d for d in drafts if d.answer is None and _plain_question(d)]
    sizes = {len(d.run.options) for d in open_}
    alike = any(d.stem.asks for d in open_) or (len(sizes) == 1 and min(sizes) > 2)
    several = len(open_) > 1 and not faq and alike

    def taken(draft: _Draft) -> bool:
        run = draft.run
        if draft.answer is not None:
            return _credible(draft)
        own = run.series not in {"numbers", "roman"} or run.sure
        return draft in open_ and ((run.series, run.style) in answered or (several and own))

    return [draft for draft in drafts if taken(draft)]


def _credible(draft: _Draft) -> bool:
    """Markup and faces are found on other pages too: there the stem must be a question."""
    if draft.by in {"line", "key"} or draft.run.form == "inputs":
        return True
    if draft.by == "markup" and len(draft.run.marked("correct")) == 1:
        return True
    return bool(draft.run.series in {"letters", "cyrillic"} or draft.stem.asks or draft.stem.number)


def _plain_question(draft: _Draft) -> bool:
    if draft.run.form in {"items", "bare"} or re.match(r":(?!:)", draft.run.style):
        return False
    listed = sum(text.endswith((",", ";")) for text in draft.run.texts)
    if len(draft.run.marked("ticked")) > 1 or listed > 1:
        return False
    return draft.stem.asks or draft.stem.number is not None


def _found(lines: list[Line], draft: _Draft) -> FoundQuestion:
    run, stem = draft.run, draft.stem
    end_line = lines[run.last]
    last = run.options[-1]
    end = end_line.start + (last.end if last.line == run.last else len(end_line.text))
    return FoundQuestion(
        stem.text,
        run.texts,
        run.labels,
        draft.answer.answer if draft.answer else None,
        draft.explanation or None,
        draft.passage,
        f"{run.form}:{run.style}" if run.style else run.form,
        lines[stem.first].start,
        end,
        lines[run.first].group < 0,
    )


def _without_copies(found: list[FoundQuestion]) -> list[FoundQuestion]:
    """Questions that stand both on the page and in its linked data are kept once."""
    shown = {one.key: one for one in found if not one.linked}
    kept = []
    for one in found:
        twin = shown.get(one.key) if one.linked else None
        if twin is None:
            kept.append(one)
        elif twin.answer is None and one.answer is not None:
            twin.answer = one.answer
    return kept
