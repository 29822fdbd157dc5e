"""Held-out page layouts: real benchmark items rendered into web-like documents.

Nobody tunes an extractor on this file.  It holds no item text: items come from
``mmlu.parquet`` and ``arc.parquet`` under a data root given by the caller, and nothing is
written.  ``python layouts.py ROOT`` runs the self-test.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import random
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from real_data import real_data

LETTERS = "ABCDEFGH"
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")
ARC_SHARE = 0.2

FIELDS: dict[str, str] = {
    "abstract_algebra": "math",
    "college_mathematics": "math",
    "elementary_mathematics": "math",
    "high_school_mathematics": "math",
    "high_school_statistics": "math",
    "astronomy": "physics",
    "college_physics": "physics",
    "conceptual_physics": "physics",
    "high_school_physics": "physics",
    "college_chemistry": "chemistry",
    "high_school_chemistry": "chemistry",
    "college_biology": "biology",
    "high_school_biology": "biology",
    "anatomy": "health",
    "clinical_knowledge": "health",
    "college_medicine": "health",
    "human_aging": "health",
    "medical_genetics": "health",
    "nutrition": "health",
    "professional_medicine": "health",
    "virology": "health",
    "college_computer_science": "computer science",
    "computer_security": "computer science",
    "high_school_computer_science": "computer science",
    "machine_learning": "computer science",
    "electrical_engineering": "engineering",
    "international_law": "law",
    "jurisprudence": "law",
    "professional_law": "law",
    "business_ethics": "business",
    "management": "business",
    "marketing": "business",
    "professional_accounting": "business",
    "econometrics": "economics",
    "high_school_macroeconomics": "economics",
    "high_school_microeconomics": "economics",
    "high_school_european_history": "history",
    "high_school_us_history": "history",
    "high_school_world_history": "history",
    "prehistory": "history",
    "formal_logic": "philosophy",
    "logical_fallacies": "philosophy",
    "moral_disputes": "philosophy",
    "moral_scenarios": "philosophy",
    "philosophy": "philosophy",
    "world_religions": "philosophy",
    "high_school_psychology": "psychology",
    "professional_psychology": "psychology",
}  # every other MMLU subject is "other"; ARC has no field (None)


@dataclass(frozen=True)
class Document:
    """One web document, fields as in the written corpus."""

    doc_id: str
    url: str
    content_type: str
    text: str


@dataclass(frozen=True)
class Label:
    """One labelled question, fields as in the written corpus, and the source item."""

    doc_id: str
    number: int
    style: str
    question: str
    choices: list[str]
    answer: int
    answer_given: str | None
    explanation: str | None
    passage: str | None
    field: str | None
    expected: str
    why: str | None
    planted: str | None
    item_id: str

    def to_dict(self) -> dict[str, Any]:
        """The label as a plain dictionary."""
        return asdict(self)


@dataclass(frozen=True)
class Item:
    """One benchmark item while it is being rendered; ``number`` counts from 1 on its page."""

    item_id: str
    number: int
    question: str
    choices: list[str]
    answer: int
    field: str | None

    @property
    def letter(self) -> str:
        """The upper-case letter of the right choice."""
        return LETTERS[self.answer]


# A layout returns the content type, the body and, per item, the answer as the page gives it.
Page = tuple[str, str, list[str]]
Layout = Callable[[list[Item], random.Random], Page]


# ------------------------------------------------------------------------------- helpers
def esc(text: str) -> str:
    """Text for HTML, line breaks kept as ``<br />``."""
    return html.escape(text, quote=False).replace("\n", "<br />")


def one_line(text: str) -> str:
    """Text for a format whose records are lines: line breaks become ``<br>``."""
    return re.sub(r"\s*\n\s*", "<br>", text.strip())


def quoted(text: str, width: int = 74) -> str:
    """Text wrapped and quoted as mail programs do."""
    lines: list[str] = []
    for part in text.split("\n"):
        lines += textwrap.wrap(part, width, break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(f"> {line}".rstrip() for line in lines)


# ------------------------------------------------------------------------------- layouts
def key_two_columns(items: list[Item], rng: random.Random) -> Page:
    """Plain text, options in square brackets, key in two columns at the end."""
    out: list[str] = []
    for item in items:
        out.append(f"{item.number:02d}  {item.question}")
        out += [f"      [{LETTERS[i]}] {c}" for i, c in enumerate(item.choices)]
        out.append("")
    half = (len(items) + 1) // 2
    out += ["KEY TO THE ITEMS", "Item   Answer      Item   Answer"]
    for row in range(half):
        cells = [items[row], *items[row + half : row + half + 1]]
        out.append("      ".join(f"{i.number:>4}   {i.letter:<6}" for i in cells).rstrip())
    return "text/plain", "\n".join(out), [i.letter for i in items]


def correct_option_line(items: list[Item], rng: random.Random) -> Page:
    """HTML, one paragraph an option, ``Correct option: (c)`` under each question."""
    out: list[str] = []
    for item in items:
        out.append(f'<div class="entry"><p><u>Ques {item.number}</u> {esc(item.question)}</p>')
        out += [f"<p>({LETTERS[i].lower()})&nbsp;{esc(c)}</p>" for i, c in enumerate(item.choices)]
        out.append(f"<p><span>Correct option: ({item.letter.lower()})</span></p></div>")
    return "text/html", "\n".join(out), [i.letter.lower() for i in items]


def definition_list(items: list[Item], rng: random.Random) -> Page:
    """HTML definition list: the question is the term, options and key are definitions."""
    out = ["<dl>"]
    for item in items:
        out.append(f"<dt>{esc(item.question)}</dt>")
        out += [f"<dd>{LETTERS[i]} – {esc(c)}</dd>" for i, c in enumerate(item.choices)]
        out.append(f'<dd class="key"><small>Key: {item.letter}</small></dd>')
    return "text/html", "\n".join([*out, "</dl>"]), [i.letter for i in items]


def select_menu(items: list[Item], rng: random.Random) -> Page:
    """HTML drop-down menus; hidden feedback spells out the right option."""
    out = ['<form action="/grade" method="post">']
    for item in items:
        out.append(f'<p class="prompt">{item.number}/{len(items)} {esc(item.question)}</p>')
        out.append(f'<select name="s{item.number}"><option value="">Please choose</option>')
        out += [f'<option value="{i + 1}">{esc(c)}</option>' for i, c in enumerate(item.choices)]
        out.append("</select>")
        right = esc(item.choices[item.answer])
        out.append(f'<p class="feedback" hidden>The right choice is: {right}</p>')
    out.append('<input type="submit" value="Grade me"></form>')
    return "text/html", "\n".join(out), [i.choices[i.answer] for i in items]


def numbered_paren(items: list[Item], rng: random.Random) -> Page:
    """Plain text, options ``1)`` to ``4)``, key by number at the end."""
    out: list[str] = []
    for item in items:
        out += [f"Task {item.number}.", item.question]
        out += [f"{i + 1}) {c}" for i, c in enumerate(item.choices)]
        out.append("")
    out.append("Right answers: " + "; ".join(f"{i.number} – {i.answer + 1}" for i in items))
    return "text/plain", "\n".join(out), [str(i.answer + 1) for i in items]


def bold_pipe(items: list[Item], rng: random.Random) -> Page:
    """Markdown, bold question, options on one line divided by bars."""
    out: list[str] = []
    for item in items:
        out += [f"**{item.question.strip()}**", ""]
        options = [f"{LETTERS[i]}: {one_line(c)}" for i, c in enumerate(item.choices)]
        out += [" | ".join(options), "", f"Solution: {item.letter}", "", "***", ""]
    return "text/markdown", "\n".join(out), [i.letter for i in items]


def upper_roman(items: list[Item], rng: random.Random) -> Page:
    """Plain text, options counted with upper-case Roman numerals."""
    out: list[str] = []
    for item in items:
        out.append(f"({item.number}) {item.question}")
        out += [f"\t{ROMAN[i]}. {c}" for i, c in enumerate(item.choices)]
        out += [f"\tThe answer is {ROMAN[item.answer]}.", ""]
    return "text/plain", "\n".join(out), [ROMAN[i.answer] for i in items]


def answer_before_next(items: list[Item], rng: random.Random) -> Page:
    """Plain text with ruled lines; ``Ans. B —`` opens the line before the next question."""
    rule = rng.choice(["~" * 60, "=" * 60, "* " * 30, "-=" * 30]).rstrip()
    with_text = rng.random() < 0.5
    out: list[str] = []
    for item in items:
        out += [rule, f"No. {item.number} :: {item.question}"]
        out += [f"  {LETTERS[i]} :: {c}" for i, c in enumerate(item.choices)]
        tail = f" {item.choices[item.answer]}" if with_text else ""
        out.append(f"Ans. {item.letter} —{tail}")
    return "text/plain", "\n".join([*out, rule]), [i.letter for i in items]


def json_ld(items: list[Item], rng: random.Random) -> Page:
    """HTML whose questions stand only in schema.org markup in a script tag."""
    parts: list[dict[str, Any]] = []
    for item in items:
        answers = [
            {"@type": "Answer", "position": i, "encodingFormat": "text/html", "text": c}
            for i, c in enumerate(item.choices)
        ]
        parts.append(
            {
                "@type": "Question",
                "eduQuestionType": "Multiple choice",
                "learningResourceType": "Practice problem",
                "text": item.question,
                "acceptedAnswer": answers[item.answer],
                "suggestedAnswer": [a for a in answers if a["position"] != item.answer],
            }
        )
    data = {"@context": "https://schema.org/", "@type": "Quiz", "hasPart": parts}
    blob = json.dumps(data, ensure_ascii=rng.random() < 0.5, indent=1).replace("</", "<\\/")
    body = (
        f'<script type="application/ld+json">\n{blob}\n</script>\n'
        '<div id="app"><noscript>Please turn on JavaScript to see the quiz.</noscript></div>'
    )
    return "text/html", body, [i.choices[i.answer] for i in items]


def wiki_text(items: list[Item], rng: random.Random) -> Page:
    """Wiki markup: numbered lines with indented options."""
    out = ["== Questions =="]
    for item in items:
        out.append(f"# {one_line(item.question)}")
        out += [f"#: ''{LETTERS[i]}'' {one_line(c)}" for i, c in enumerate(item.choices)]
        out.append(f"#: '''Answer key:''' {{{{hidden|{item.letter}}}}}")
    out += ["", "[[Category:Quizzes]]"]
    return "text/plain", "\n".join(out), [i.letter for i in items]


def email_quote(items: list[Item], rng: random.Random) -> Page:
    """An e-mail in which the author of the key replies under each quoted question."""
    out = ["On Tuesday the course list wrote:", ""]
    for item in items:
        options = [f"{LETTERS[i]}- {c}" for i, c in enumerate(item.choices)]
        out.append("\n".join(quoted(t) for t in [f"{item.number}. {item.question}", *options]))
        out += [">", "", f"Official key: {item.letter}", ""]
    return "text/plain", "\n".join(out), [i.letter for i in items]


def markdown_table(items: list[Item], rng: random.Random) -> Page:
    """A Markdown table with one question a row and the key in the last column."""

    def cell(text: str) -> str:
        return one_line(text).replace("|", "\\|")

    n = max(len(i.choices) for i in items)
    out = [
        "| No | Question | " + " | ".join(LETTERS[:n]) + " | Key |",
        "|---:|" + "---|" * (n + 1) + ":---:|",
    ]
    for item in items:
        cells = [cell(c) for c in item.choices] + [""] * (n - len(item.choices))
        out.append(
            f"| {item.number} | {cell(item.question)} | "
            + " | ".join(cells)
            + f" | {item.letter} |"
        )
    return "text/markdown", "\n".join(out), [i.letter for i in items]


LAYOUTS: dict[str, Layout] = {
    layout.__name__: layout
    for layout in (
        key_two_columns,
        correct_option_line,
        definition_list,
        select_menu,
        numbered_paren,
        bold_pipe,
        upper_roman,
        answer_before_next,
        json_ld,
        wiki_text,
        email_quote,
        markdown_table,
    )
}

# ------------------------------------------------------------------------- distractor text
MENUS = (
    ["Start page", "Subjects", "Sign up", "Support us"],
    ["A. News", "B. Archive", "C. Shop", "D. Imprint"],
    ["1 Overview", "2 Material", "3 Practice", "4 Grades"],
    ["Search", "Login", "Help", "EN | FR | IT"],
)
INTROS = (
    "This page was put together from several past papers.",
    "Time limit: none. You may use a pocket calculator.",
    "Below you find this week's set. Last week's set is in the archive.",
    "Each question has exactly one best answer (unless stated otherwise).",
)
REMARKS: tuple[list[str], ...] = (
    ["pia_k: isn't the second one D?", "staff: No, see lecture 4."],
    ["Anonymous: thank you so much, passed my exam!", "Anonymous: a) good b) free c) no ads :-)"],
    ["3 comments hidden. Show?"],
    [],
)
ENDINGS = (
    "Was this page helpful? Yes / No",
    "You may also like: 12 study habits; How to guess well; Answer sheets for printing.",
    "(c) the editors. Reproduction for teaching is welcome.",
    "Next page: 2 of 9. Report a mistake.",
)


def furnish(kind: str, title: str, body: str, style: str, rng: random.Random) -> str:
    """Put a menu, an introduction, comments and a footer around a page body."""
    menu, intro = rng.choice(MENUS), rng.choice(INTROS)
    remarks, ending = rng.choice(REMARKS), rng.choice(ENDINGS)
    if kind == "text/html":
        links = "".join(f'<li><a href="/x{i}">{esc(m)}</a></li>' for i, m in enumerate(menu))
        notes = "".join(f'<article class="remark">{esc(r)}</article>' for r in remarks)
        return (
            f"<!doctype html><html><head><title>{esc(title)}</title></head>\n<body>"
            f"<header><ul>{links}</ul></header>\n<main><h2>{esc(title)}</h2><p>{esc(intro)}</p>\n"
            f"{body}\n</main>\n{notes}<footer><p>{esc(ending)}</p></footer></body></html>\n"
        )
    if style == "email_quote":
        head = f"From: tutor@lists.example.org\nTo: course@lists.example.org\nSubject: Re: {title}"
        return f"{head}\n\nDear all, {intro}\n\n{body}\n\nBest wishes\nM.\n--\n{ending}\n"
    top = {"text/markdown": f"# {title}", "text/plain": title}[kind]
    if style == "wiki_text":
        top = f"= {title} ="
    notes = "\n".join(remarks)
    return f"{' / '.join(menu)}\n\n{top}\n\n{intro}\n\n{body}\n\n{notes}\n{ending}\n"


# ------------------------------------------------------------------------------ public API
def sample_items(root: Path, n: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Draw ``n`` distinct items, ARC a fifth of them, the MMLU subjects in equal parts.

    ``root`` is the folder of ``mmlu.parquet`` and ``arc.parquet``.  Items with line breaks or
    tables are kept; :func:`trouble` counts them.
    """
    mmlu = pd.read_parquet(root / "mmlu.parquet")
    arc = pd.read_parquet(root / "arc.parquet").assign(subject=lambda d: d["subset"])
    columns = ["item_id", "subject", "question", "choices", "answer_index"]
    items = pd.concat([mmlu[columns], arc[columns]], ignore_index=True)
    text = items["question"] + "\n" + items["choices"].map(lambda c: "\n".join(sorted(c)))
    items = items[~text.str.lower().duplicated()]
    draw = items["item_id"].map(
        lambda i: int(hashlib.sha256(f"{seed}/{i}".encode()).hexdigest()[:15], 16)
    )
    items = items.assign(_draw=draw).sort_values("_draw", kind="stable")
    is_arc = items["subject"].str.startswith("ARC")
    n_arc = round(n * ARC_SHARE)
    mmlu_part = items[~is_arc]
    turn = mmlu_part.groupby("subject").cumcount()
    mmlu_part = mmlu_part.assign(_turn=turn).sort_values(["_turn", "_draw"], kind="stable")
    chosen = pd.concat([items[is_arc].head(n_arc), mmlu_part.head(n - n_arc)])
    chosen = chosen.sort_values("_draw", kind="stable")
    return chosen[columns].reset_index(drop=True)


def trouble(items: pd.DataFrame) -> dict[str, int]:
    """Count items whose texts are hard to lay out."""
    questions = items["question"].astype(str)
    choices = items["choices"].map(list)
    return {
        "items": len(items),
        "newline_in_question": int(questions.str.strip().str.contains("\n").sum()),
        "newline_in_a_choice": int(choices.map(lambda c: any("\n" in x.strip() for x in c)).sum()),
        "bar_in_text": int(
            (questions.str.contains("|", regex=False))
            .where(lambda s: s, choices.map(lambda c: any("|" in x for x in c)))
            .sum()
        ),
        "table_like": int(questions.str.contains(r"\t| {4,}\S|(?:\|.*){3}").sum()),
        "empty_choice": int(choices.map(lambda c: any(not x.strip() for x in c)).sum()),
        "equal_choices": int(choices.map(lambda c: len({x.strip() for x in c}) < len(c)).sum()),
        "not_four_choices": int((choices.map(len) != 4).sum()),
    }


def split_items(items: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Deal the items out to the layouts in equal parts."""
    names = list(LAYOUTS)
    return {
        name: items.iloc[k :: len(names)].reset_index(drop=True) for k, name in enumerate(names)
    }


def _to_items(rows: pd.DataFrame) -> list[Item]:
    """The rows of one page as items; outer white space of the texts is dropped."""
    items: list[Item] = []
    for number, row in enumerate(rows.to_dict("records"), 1):
        subject = str(row["subject"])
        field = None if subject.startswith("ARC") else FIELDS.get(subject, "other")
        choices = [str(c).strip() for c in row["choices"]]
        question = str(row["question"]).strip()
        answer = int(row["answer_index"])
        items.append(Item(str(row["item_id"]), number, question, choices, answer, field))
    return items


def render(
    items: pd.DataFrame, layout: str, seed: int, per_document: tuple[int, int] = (3, 12)
) -> tuple[list[Document], list[Label]]:
    """Render items into documents of one layout; the same arguments give the same result."""
    rng = random.Random(f"{seed}/{layout}")  # noqa: S311
    documents: list[Document] = []
    labels: list[Label] = []
    start = 0
    while start < len(items):
        size = rng.randint(*per_document)
        page = _to_items(items.iloc[start : start + size])
        start += size
        kind, body, given = LAYOUTS[layout](page, rng)
        doc_id = f"held-{layout}-{len(documents) + 1:03d}"
        host = (
            f"{layout.replace('_', '-')}-{len(documents) % 9}.example.{rng.choice(['org', 'com'])}"
        )
        title = (
            f"{rng.choice(['Practice set', 'Sample paper', 'Review', 'Quiz'])} {len(documents) + 1}"
        )
        text = furnish(kind, title, body, layout, rng)
        documents.append(Document(doc_id, f"https://{host}/p/{len(documents) + 1}", kind, text))
        for item, answer_given in zip(page, given, strict=True):
            labels.append(
                Label(
                    doc_id=doc_id,
                    number=item.number,
                    style=layout,
                    question=item.question,
                    choices=item.choices,
                    answer=item.answer,
                    answer_given=answer_given,
                    explanation=None,
                    passage=None,
                    field=item.field,
                    expected="extract",
                    why=None,
                    planted=None,
                    item_id=item.item_id,
                )
            )
    return documents, labels


# ------------------------------------------------------------------------------- self-test
def plain(text: str, content_type: str) -> str:
    """The text of a document or label for comparison: markup removed, white space folded."""
    if content_type == "text/html":
        for blob in re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.S):
            texts: list[str] = []
            for part in json.loads(blob)["hasPart"]:
                answers = [*part["suggestedAnswer"], part["acceptedAnswer"]]
                texts.append(part["text"])
                texts += [a["text"] for a in sorted(answers, key=lambda a: int(a["position"]))]
            text += html.escape("\n".join(texts), quote=False)
        text = re.sub(r"<script.*?</script>", " ", text, flags=re.S)
        text = html.unescape(re.sub(r"<[^>]+>", " ", text))
    text = re.sub(r"^>[ ]?", "", text, flags=re.M).replace("\\|", "|").replace("<br>", " ")
    return re.sub(r"\s+", " ", text).strip()


def self_test(root: Path, n_per_layout: int = 50, seed: int = 1) -> dict[str, int]:
    """Render items in every layout and check that each text is there, in order, and repeatable.

    Returns the number of documents per layout; raises ``ValueError`` on the first text missing.
    """
    counts: dict[str, int] = {}
    parts = split_items(sample_items(root, n_per_layout * len(LAYOUTS), seed))
    for name, part in parts.items():
        documents, labels = render(part, name, seed)
        if (documents, labels) != render(part, name, seed):
            raise ValueError(f"{name}: not deterministic")
        if len(labels) != len(part) or len({d.doc_id for d in documents}) != len(documents):
            raise ValueError(f"{name}: items or documents lost")
        texts = {d.doc_id: plain(d.text, d.content_type) for d in documents}
        position: dict[str, int] = {}
        for label in labels:
            for text in (label.question, *label.choices):
                wanted = plain(text, "text/plain")
                at = texts[label.doc_id].find(wanted, position.get(label.doc_id, 0))
                if at < 0:
                    raise ValueError(f"{name}: {label.doc_id}/{label.number} lacks {wanted!r}")
                position[label.doc_id] = at + len(wanted)
            if not 0 <= label.answer < len(label.choices):
                raise ValueError(f"{name}: {label.doc_id}/{label.number} has no answer")
        counts[name] = len(documents)
    return counts


def main() -> None:
    """Run the self-test on a data root and print the counts."""
    parser = argparse.ArgumentParser(description=self_test.__doc__)
    parser.add_argument("root", type=Path, help="folder of mmlu.parquet and arc.parquet")
    parser.add_argument("--items", type=int, default=2000)
    given = parser.parse_args()
    root, out = real_data(given.root), sys.stdout
    out.write(f"documents per layout: {self_test(root, min(50, given.items // len(LAYOUTS)))}\n")
    items = sample_items(root, given.items, 0)
    out.write(f"{given.items:,} items: {trouble(items)}\n")
    sizes = {name: len(part) for name, part in split_items(items).items()}
    out.write(f"items per layout: {sizes}\n")


if __name__ == "__main__":
    main()
