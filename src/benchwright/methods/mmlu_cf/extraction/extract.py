"""Documents to raw items, one document at a time, so that batches do not matter."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.datasets.document_shards import DocumentBatches, ShardReport
from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.html import BLOCKS, html_page
from benchwright.methods.mmlu_cf.extraction.lines import PageText
from benchwright.methods.mmlu_cf.extraction.markdown import markdown_page
from benchwright.methods.mmlu_cf.extraction.plain_text import plain_page
from benchwright.methods.mmlu_cf.extraction.questions import FoundQuestion, questions_of
from benchwright.methods.mmlu_cf.extraction.quiz_files import quiz_file_questions
from benchwright.tables.mmlu_cf import RawItems, arrow_schema

RAW_ITEMS = arrow_schema(RawItems, pa.list_(pa.large_string()))
"""The columns of `RawItems` as Arrow types."""

_DOCUMENT_CHARACTERS = 4_000_000
_LINE_CHARACTERS = 20_000  # labels inside longer lines are ignored
_REQUIRED = ("doc_id", "url", "domain", "content_type", "text")


def page_text(text: str, content_type: str) -> PageText:
    """Return the lines of a document.

    `content_type` is `text/html`, `text/markdown` or `text/plain`, with or without parameters;
    other types are read as plain text. HTML declared as plain text is recognised.
    """
    kind = content_type.partition(";")[0].strip().lower()
    head = text[:1_000].lstrip().lower()
    if "html" in kind or head.startswith(("<!doctype html", "<html")):
        return html_page(text)
    if "markdown" in kind:
        return markdown_page(text)
    return plain_page(text)


def extract(documents: pa.Table | pa.RecordBatch) -> pa.Table:
    """Extract the multiple-choice questions of `Documents` (MMLU-CF, section 3.2, step 1).

    Only the first 4,000,000 characters of a document are read. Return `RawItems`
    with the schema `RAW_ITEMS`. `answer` is a label, or the option's text if options have no label;
    null if the page gives none.

    Raises:
        InputError: a column is missing.
    """
    for name in _REQUIRED:
        if name not in documents.schema.names:
            raise InputError(
                f"documents: no column {name!r}; the columns {', '.join(_REQUIRED)} are required"
            )
    columns = (documents.column(name).to_pylist() for name in _REQUIRED)
    rows = [
        {"item_id": f"{doc_id}#{number}", "doc_id": doc_id, "number": number}
        | {"url": url, "domain": domain}
        | vars(question)
        for doc_id, url, domain, content_type, text in zip(*columns, strict=True)
        for number, question in enumerate(
            questions_in(text or "", content_type or "text/plain"), start=1
        )
    ]
    return pa.Table.from_pylist(rows, schema=RAW_ITEMS)


def questions_in(text: str, content_type: str) -> list[FoundQuestion]:
    """Return the questions of a document in page order."""
    text = text[:_DOCUMENT_CHARACTERS]
    text = text.encode("utf-8", "replace").decode()  # without surrogates
    marked_up = any(kind in content_type.lower() for kind in ("html", "markdown"))
    found = [] if marked_up else quiz_file_questions(text)
    return found or questions_of(page_text(text, content_type), _LINE_CHARACTERS)


class ShardPart(NamedTuple):
    """The `RawItems` of a batch of documents, and the number of documents, also by domain.

    Skipped documents count; unknown domains are "". The last part has the reports of the shard.
    """

    items: pa.Table
    documents: int
    domains: Counter[str]
    reports: Mapping[str, ShardReport]


def shard_parts(file: Path, fields: Mapping[str, str], largest: int) -> Iterator[ShardPart]:
    """Read a shard batch by batch and extract its multiple-choice questions.

    The shard has the same path on all machines; `fields` names its columns.

    Raises:
        InputError: the shard cannot be opened, or its format is unknown.
    """
    batches = DocumentBatches([file], fields, largest)
    for batch in batches:
        domains = Counter(domain or "" for domain in batch.column("domain").to_pylist())
        texts = pc.fill_null(batch.column("text"), "").combine_chunks()
        hopeful = batch.filter(pa.array(may_hold_questions(texts)))
        batches.reports[str(file)].skipped += batch.num_rows - hopeful.num_rows
        yield ShardPart(extract(hopeful), batch.num_rows, domains, {})
    yield ShardPart(RAW_ITEMS.empty_table(), 0, Counter(), batches.reports)


_TAGS = r"(?:<[^<>]*>)*"
_GAP = rf"(?:\s|&nbsp;|&#160;|{_TAGS})"
_LINE_END = r"(?:\s*(?:$|\n|</|<(?:br|td|th|hr|input|" + "|".join(sorted(BLOCKS)) + r")\b))"
# Text before a label without an opening bracket, and after its letter.
_BEFORE = r"(?:^|[^'’\"0-9A-Za-z</(\[{&$-]|[^<]/|'')"
_AFTER = (
    rf"(?:{_TAGS}(?:[.):\]．）、\t]|&nbsp;|&rpar;|&period;|&colon;|[^\x00-\x7f])"
    rf"|{_GAP}?{_TAGS}(?:[-=]{{1,2}}(?:>|&gt;)?(?:\s|<|&)|[:|/–—→»›](?:\s|<|&|$)"
    r"|&[mn]dash;|&rarr;|&raquo;))"
)
_ALONE = r"(?:^|[\n>])(?:\s|&nbsp;|[*•·◦▪‣○●☐□▢◯~|])*"


def _label(letters: str) -> str:
    """Return a pattern of labels with punctuation, in brackets, or alone on their line."""
    return (
        rf"(?:{_BEFORE}[{letters}]{_AFTER}"
        rf"|[(\[{{（]{_TAGS}\s?[{letters}]\s?{_TAGS}[)\]}}）]"
        rf"|{_ALONE}[{letters}]{_LINE_END})"
    )


_ANSWER = f"{words_for('answers')}|{words_for('answer')}"
_CORRECT = words_for("correct")
_KEY = (
    r"(?:(?:answer|ans|sol)\s?[-&]?\s?(?:keys?|choices?|options?|letters?|sheet|list|grid)|answers?"
    rf"|ans|sol|keys?|solutions?|explanations|{_ANSWER})"
)
_OPTION = rf"(?:options?|choices?|alternatives?|correct|right|{_CORRECT})"
_OF = r"(?:\s?(?:to|of|for)\s(?:this\s|the\s)?(?:question|problem|q|item|no\.?)\s?#?\d*)"
_RIGHT = (
    r"(?:(?:correct|right|best|true|model|official|verified|final|scoring|quiz|test|exam|marking"
    rf"|practice|sample|multiple[- ]choice|mcq|expected|suggested|{_CORRECT})\s){{0,2}}"
)

_IN_CLASS = r"(?:class|id)\s*=\s*(?:\"[^\"<>]*|'[^'<>]*|)"
_ASKED = r"(?:question|stem|item|problem|prompt|question text|frage|pregunta)s?"
_FACE = r"(?:(?:b|strong|mark|u|ins|i|em|font)\b|\w+[^<>]*style\s*=)"
_NUMERAL = r"(?:\d{1,2}|[ivxIVX]{1,4})[.):]"
_BULLET = r"(?:[-*+•●◦▪‣○–]|\\item|\d{1,2}[.)]|[ivx]{1,4}[.)])"

_SIGNS = {
    # The first letter of a series, and one of the next three after it.
    "letters": (
        rf"(?s){_label('Aa')}.*{_label('B-Db-d')}|{_label('аА')}.*{_label('б-дБ-Д')}"
        rf"|{_label('αΑ')}.*{_label('β-δΒ-Δ')}|[ⓐⓑⒶⒷ①②🄰🄱]"
    ),
    "list of letters": r"(?i)<ol[^<>]*type\s*=\s*[\"']?a|(?:upper|lower)-(?:alpha|latin)",
    "microdata": r"(?i)(?:accepted|suggested)answer",
    "table": (
        rf"(?i)<t[hd][^<>]*>(?:\s|{_TAGS})*(?:the\s)?{_ASKED}\s*<"
        rf"|(?:^|[\n\t|,]|  ){{1}}\s?\"?(?:the\s)?{_ASKED}\"?\s?(?:[\t|,]|  )"
        rf"|[\t|,]\s?\"?(?:the\s)?{_ASKED}\"?\s?(?:[\n\t|,]|$)"
    ),
    "quiz files": r"\{[^{}]*[=~][^{}]*[=~]|<quiz\b",
    # Lines that give the answer.
    "answer": (
        rf"(?i)(?:^|[\n>;|])[^\pL<>\n]*(?:(?:so|thus|hence|therefore),?\s|the\s|die\s|la\s|el\s)*"
        rf"{_RIGHT}(?:{_KEY}(?:{_OF}|\s(?:to|for|of|and|with|section|part|set|zu)\b[^:\n<]*)?"
        rf"|{_OPTION}{_OF}?)"
        rf"(?:\s(?:{_CORRECT}))?"
        rf"(?:[\s\])*_]|{_TAGS})*(?:[:=：.\-–—→»|>(#]|&(?:nbsp|#160|[mn]dash|rarr|raquo|gt)"
        rf"|\b(?:is|are|was|would be|ist|lautet|es|est|è|é)[\s:=<]|\b\d|$|\n|<"
        r"|[\s(\[\"“*]+(?:[A-Za-zА-я]|[ivxIVX]{1,4}|\d{1,2})[\s)\].:\"”*]*(?:<|\n|$))"
    ),
    "answer behind": (
        rf"(?i)[\s.;,\])>(\[*](?:answers?|ans|{_ANSWER}|key|correct"
        r"|correct\soption|answer\skey|correct\schoice|sol)\s?"
        rf"(?:\.?(?:\s(?:is|ist|es))?{_TAGS}\s?(?:[:=：]|[-–—]\s)"
        rf"|\.{_TAGS}\s?[(\[]?[A-Ga-g][)\]]?\s*(?:$|\n|<))"
    ),
    "ticks": (
        r"(?i)[✓✔✅☑🗸✗✘❌✖🔘]|[\pL\pN.)]\s?←|←\s?[\pL\pN]|\((?:correct|right|richtig|correcta|верно|✓|✔|\*)[\s)a-z]|<-+\s?(?:correct|right|answer)"
        r"|[\s>]-+\s?correct|\[x\]|&check;|&#1000[34];|\\(?:checkmark|tick)"
    ),
    "classes of answers": (
        rf"(?i){_IN_CLASS}(?:correct|wrong|false|(?:is|was|option|choice|answer|opt|ans|quiz|mcq?)"
        r"[-_]*(?:right|true)|(?:right|true)[-_]*(?:is|answer|option|choice|ans|item|one)"
        r"|(?:answer|\bans|solution|\bback|[-_]back|\bkey|[-_]key|reveal)(?:[-_]*(?:text|box|block|content|body"
        r"|line|key|reveal|value|side|hidden))?[\"'\s>])"
        r"|data-(?:is-?)?(?:correct|right|answer|solution|ans)"
        r"|(?:alt|aria-label)\s*=\s*[\"']?(?:correct|tick|check)"
    ),
}
# Options without letters and without an answer: their stem must be a question.
_OPTIONS = (
    r"(?i)type\s*=\s*[\"']?(?:radio|checkbox)(?s:.*)type\s*=\s*[\"']?(?:radio|checkbox)"
    r"|<option(?s:.*)<option"
    rf"|{_IN_CLASS}(?:(?:option|\bopt|[-_]opt|choice|alternative|distractor)(?:[-_]*(?:item|text|row|label"
    r"|container|wrapper|content|body|[a-f]|[0-9]{1,2}))?[\"'\s>]"
    r"|(?:options|choices|alternatives|answer[-_]?(?:list|options|choices))(?:[-_]+[a-z]+)?[\"'\s>])"
    rf"|(?m:^)\s*(?:{_BULLET}\s+)*(?:\[[ xX✓✔*]?\]\s|\([ xX]\)\s|[☐□▢○◯⚪☑☒●])"
    # an item of a list with emphasis or a star
    rf"|(?:<(?:li|dd|button|label)\b[^<>]*>|\d[.)]\s?)(?:\s|{_TAGS})*<{_FACE}[^<>]*>[^<]*</[^<>]*>[^\pL\pN<]*(?:<|$)"
    rf"|(?m:^)\s*{_BULLET}\s+[*_]{{1,2}}[^\n]+[*_]\W*(?m:$)"
    rf"|(?m:^)\s*{_BULLET}\s[^\n]*\*\s*(?m:$)|(?m:^)\s*(?:{_NUMERAL}\s*|[-•–]\s+)\*[^*\s]"
    r"|<(?:li|dd)[^<>]*>\s*\*|\*\s*</(?:li|dd)"
)
_ASKS = (
    r"[?？](?:[^\w=&/;.%-]|$)|__|\.\.\.|…|&hellip;|<ol"
    r"|(?:^|[\n>])\s*[*•>(\[#]*(?:[A-Za-zА-я]+\.?\s?(?:[Nn]o\.?|№)?)?[\s#:.]*\d{1,4}\s?[-.):\]、．–—»›→=]"
)


def may_hold_questions(texts: pa.Array) -> NDArray[np.bool_]:
    """Return which documents, HTML or not, show a sign of options, shape (n,).

    Options are recognised by consecutive letters, by markup, or by an answer that singles out a
    line. The patterns are looser than those of extraction: a document that passes only costs time.
    """
    shown = np.zeros(len(texts), np.bool_)
    for pattern in _SIGNS.values():  # one pattern for all of them exceeds RE2's automaton
        shown |= _matches(texts, ~shown, pattern)
    asks = _matches(texts, ~shown, _ASKS)
    return shown | _matches(texts, asks, _OPTIONS)


def _matches(texts: pa.Array, where: NDArray[np.bool_], pattern: str) -> NDArray[np.bool_]:
    """Return which of the texts at `where` match."""
    matches = where.copy()
    some = pc.match_substring_regex(texts.filter(pa.array(where)), pattern)
    matches[where] = pc.fill_null(some, False).to_numpy(zero_copy_only=False)
    return matches
