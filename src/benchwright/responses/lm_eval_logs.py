"""Sample logs of lm-evaluation-harness, joined to items by the content of their documents."""

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from benchwright.core.configuration import SCORED_AS
from benchwright.core.verbatim import no_rows
from benchwright.datasets.lm_eval_samples import run_of
from benchwright.datasets.response_files import LoadedFile
from benchwright.params.benchmark import ChoicesField, FieldMapping, GoldField
from benchwright.responses.item_index import Compared, ItemIndex, ResponseIndex
from benchwright.responses.tally import Tally
from benchwright.responses.tidy_files import ROWS, different_texts, read_tidy, unknown_condition
from benchwright.source_rows.fields import (
    LETTERS,
    Row,
    Unusable,
    format_value,
    read_choices,
    read_optional,
    read_question,
)

ForeignRuns = frozenset[tuple[str, str]]
"""Runs of lm-eval, with conditions whose texts differ from those of this run's copies."""

_KEY = '"condition"'


def stated_id(doc: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return item id and content hash of a document, or (None, None)."""
    item_id, text_hash = doc.get("item_id"), doc.get("content_hash")
    if isinstance(item_id, str) and isinstance(text_hash, str):
        return item_id, text_hash
    return None, None


def stated_condition(doc: dict[str, Any]) -> str | None:
    """Return the condition of an exported row, None for other documents.

    Any benchmark may have a column `condition`, so an item id and a content hash are required.
    """
    condition = doc.get("condition")
    known = isinstance(condition, str) and condition and stated_id(doc)[0] is not None
    return condition if known else None


def foreign_runs(files: Iterable[LoadedFile], index: ResponseIndex) -> ForeignRuns:
    """Return runs and conditions whose texts differ from those of this run's copies.

    A copy with the same name but another seed shares some items with this run's, mostly unaltered
    ones. These alone would be a biased selection, so the whole copy is excluded. All logs of a run
    are compared together.
    """
    totals: defaultdict[tuple[str, str], Compared] = defaultdict(lambda: Compared(0, 0))
    for file in files if index.perturbed else ():
        if file.spec.layout != "lm_eval" or file.table is None:
            continue
        stated: defaultdict[str, list[tuple[str | None, str | None]]] = defaultdict(list)
        default = file.spec.condition
        for text in file.table["doc"].to_pylist():
            if _KEY not in text and default not in index.perturbed:
                continue
            doc = json.loads(text)
            condition = stated_condition(doc) or default
            if condition in index.perturbed:
                stated[condition].append(stated_id(doc))
        for condition, pairs in stated.items():
            compared = index.compare_texts(condition, *zip(*pairs, strict=True))
            key = run_of(file.name), condition
            totals[key] = Compared(*map(sum, zip(totals[key], compared, strict=True)))
    return frozenset(key for key, total in totals.items() if total.is_foreign())


_FIRST = GoldField(form="first")  # of the mappings below; the gold of a document is not read
_PLAIN = (
    FieldMapping(
        question="question", choices=ChoicesField(column="choices"), gold=_FIRST, subject="subject"
    ),
    FieldMapping(question="question", choices=ChoicesField(column="choices.text"), gold=_FIRST),
    FieldMapping(question="question", gold=GoldField(form="final_answer", column="answer")),
)
"""Common keys of tasks, for documents that are not rows of the benchmark's sources."""

_MARKUP = re.compile(r"\[.*?\]")
_NUMBER = re.compile(r"[0-9]{1,4}")
_OPTION_LIST = re.compile(r"\[\s*[0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*\s*\]")
_TABLE = pa.schema(
    [
        ("item_id", pa.string()),
        ("model", pa.string()),
        ("condition", pa.string()),
        ("correct", pa.float64()),
        ("logprobs", pa.list_(pa.float64())),
        ("option_bytes", pa.list_(pa.int64())),
    ]
)


class Sample(NamedTuple):
    """One document of a log; `continuations` and `logprobs` are None for a written answer."""

    doc_id: int
    doc: dict[str, Any]
    target: str
    continuations: list[str] | None
    contexts: list[str] | None
    logprobs: list[float] | None
    correct: float  # NaN unknown


class Place(NamedTuple):
    """The item of a document: its position in the index, and the options in the document's order.

    `by_text` is False if the document states an id whose item has the stated hash.
    """

    position: int
    choices: tuple[str, ...]
    by_text: bool


Orders = dict[str, list[int] | None]
"""The option of each continuation, by style that the continuations allow. The value is None for
written answers; the style is "" if the contexts contain the options."""


def order_of(orders: Orders, style: str) -> list[int] | None:
    """Return the option of each continuation in this style; None if unknown.

    For a style that the continuations do not allow, return the order that all styles agree on.
    """
    order_in_style = orders.get(SCORED_AS.get(style, style))
    if order_in_style is not None:
        return order_in_style
    known = [order for order in orders.values() if order is not None]
    return known[0] if known and all(order == known[0] for order in known) else None


class _Joined(NamedTuple):
    sample: Sample
    condition: str
    place: Place
    orders: Orders
    order: list[int] | None = None  # of the options in the document, once the style is known


class _Skipped(Tally):
    """A tally of samples without a row; `layout` is the model."""

    def documents(self, what: str, samples: Sequence[Sample], counter: str = "dropped") -> None:
        self.add(counter, what, len(samples), [f"doc {s.doc_id} × {self.layout}" for s in samples])


def read_lm_eval(
    file: LoadedFile, index: ResponseIndex, foreign: ForeignRuns = frozenset()
) -> tuple[pd.DataFrame, Tally]:
    """Read a log: the joined responses, one row per item, and a tally of all samples.

    A document is joined by its content, read as an exported item, as a row of the benchmark's
    sources, or by common keys. A document with a condition is only compared with the items of that
    condition. Log-likelihoods are reordered to the item's options. If several filters read the same
    responses, the first one counts.

    Args:
        file: a log.
        index: the items and their copies.
        foreign: runs and conditions whose documents are excluded.

    Raises:
        InputError: documents are joined, but no row is valid.
    """
    if file.table is None:
        raise ValueError(f"{file.name} was not loaded")
    skipped = _Skipped(file.name, str(file.spec.model))
    # Other filters read the same responses again.
    rows_read = file.table.to_pylist()
    first = rows_read[0]["filter"]
    samples = [_sample(row) for row in rows_read if row["filter"] == first]
    other_filters = [_sample(row) for row in rows_read if row["filter"] != first]
    skipped.documents(f"duplicates from filters other than {first}", other_filters, "doubled")
    joined = _usable(_join_by_condition(samples, file, index, foreign, skipped), skipped)
    tally = Tally(file.name, "lm_eval")
    rows = no_rows(ROWS)
    if joined:
        style = file.spec.style or _style(joined, skipped)
        joined = _ordered(joined, style, skipped)
        differing = _differing_gold(joined, index)
        tidy = _as_tidy(file, joined, index, style, differing)
        rows, tally = read_tidy(tidy, index)
        rows = _marked(rows, tally, joined, differing, index)
    tally.absorb(skipped)
    tally.layout, tally.models, tally.rows = "lm_eval", 1, len(file.table)
    return rows, tally


def _join_by_condition(
    samples: Sequence[Sample],
    file: LoadedFile,
    index: ResponseIndex,
    foreign: ForeignRuns,
    skipped: _Skipped,
) -> list[_Joined]:
    """Return the documents with an item, in the order of the log; count the others."""
    conditions = [stated_condition(sample.doc) or file.spec.condition for sample in samples]
    joined: list[_Joined | None] = [None] * len(samples)
    lost: dict[str, list[Sample]] = {}
    for condition in sorted(set(conditions)):
        at = [row for row, name in enumerate(conditions) if name == condition]
        samples_of_condition = [samples[row] for row in at]
        items = index.of(condition)
        if items is None:
            lost[unknown_condition(condition)] = samples_of_condition
            continue
        if (run_of(file.name), condition) in foreign:
            lost[different_texts(condition)] = samples_of_condition
            continue
        places = join_documents(
            samples_of_condition, items, file.mappings, as_perturbed=condition in index.perturbed
        )
        start = index.start(condition)
        for row, sample, place in zip(at, samples_of_condition, places, strict=True):
            if place is None:
                lost.setdefault("not joined", []).append(sample)
                continue
            moved = place._replace(position=place.position + start)
            joined[row] = _Joined(sample, condition, moved, how_asked(sample, place.choices))
    for what, unjoined in lost.items():
        skipped.documents(what, unjoined, "not_joined")
    return [row for row in joined if row is not None]


def _sample(row: dict[str, Any]) -> Sample:
    written = row["continuations"] is None
    # For options, exact_match means that the gold is the most likely of all texts.
    stated = row["acc"] if not written or row["exact_match"] is None else row["exact_match"]
    return Sample(
        doc_id=row["doc_id"],
        doc=json.loads(row["doc"]),
        target=row["target"],
        continuations=row["continuations"],
        contexts=row["contexts"],
        logprobs=row["logprobs"],
        correct=math.nan if stated is None else stated,
    )


# --- documents to items ------------------------------------------------------------------------


def join_documents(
    samples: Sequence[Sample],
    index: ItemIndex,
    mappings: Sequence[FieldMapping],
    *,
    as_perturbed: bool = False,
) -> list[Place | None]:
    """Find the item of each document, None if no item or items of several subjects match.

    These are tried in turn: `item_id` with the `content_hash` of that item; question and choices by
    each of the mappings; `question` and `choices` as plain keys. Options may be in another
    order than the item's, except in a copy (`as_perturbed`), where the order is fixed. Items
    of one subject with equal texts are assigned to the documents with that text by `doc_id`.
    """
    stated = [stated_id(sample.doc) for sample in samples]
    known = index.join([name for name, _ in stated], [text_hash for _, text_hash in stated])
    places: list[Place | None] = []
    sharing: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row, (sample, position) in enumerate(zip(samples, known.positions.tolist(), strict=True)):
        if position >= 0:
            places.append(Place(position, index.choices[position], bool(known.by_hash[row])))
            continue
        candidates, choices = _candidates(sample.doc, index, mappings, as_perturbed)
        places.append(Place(candidates[0], choices, True) if candidates else None)
        if len(candidates) > 1:
            sharing[tuple(candidates)].append(row)
    for positions, rows in sharing.items():
        ranks = {d: i for i, d in enumerate(sorted({samples[row].doc_id for row in rows}))}
        for row in rows:
            place = places[row]
            if place is not None:
                turn = min(ranks[samples[row].doc_id], len(positions) - 1)
                places[row] = place._replace(position=positions[turn])
    return places


def _candidates(
    doc: Row, index: ItemIndex, mappings: Sequence[FieldMapping], as_perturbed: bool
) -> tuple[list[int], tuple[str, ...]]:
    for question, choices, subject in _readings(doc, (*mappings, *_PLAIN)):
        positions = index.with_text(question, choices)
        if not positions and not as_perturbed:
            positions = index.with_options(question, choices)
        same_subject = [position for position in positions if index.subjects[position] == subject]
        positions = same_subject if same_subject and len(positions) > 1 else positions
        if positions and len({index.subjects[position] for position in positions}) == 1:
            return positions, choices
    return [], ()


def _readings(
    doc: Row, mappings: Sequence[FieldMapping]
) -> Iterator[tuple[str, tuple[str, ...], str | None]]:
    """Yield question, options and subject of a document by each mapping that can read it."""
    for mapping in mappings:
        try:
            question, _ = read_question(doc, mapping)
            choices = () if mapping.choices is None else read_choices(doc, mapping.choices, None)
            yield question, tuple(choices), read_optional(doc, mapping.subject)
        except Unusable:
            continue


# --- continuations to options --------------------------------------------------------------------


def how_asked(sample: Sample, choices: Sequence[str]) -> Orders:
    """Return the styles that a document's continuations allow, and the option of each continuation.

    Letters are those of the options in the document's order, also as `(A)` or `A.`. Texts are those
    of the options, compared without bracketed markup, punctuation, case and white space if a task
    has cleaned them. If all continuations are equal, the options must end their contexts, and the
    style has no name.
    """
    continuations = sample.continuations
    if continuations is None:
        return {"generate": None}
    if sample.contexts is not None and len(sample.contexts) == len(choices):
        ends = zip(sample.contexts, choices, strict=True)
        if all(context.rstrip().endswith(choice.strip()) for context, choice in ends):
            return {"": list(range(len(choices)))}
    letters = _lettered(continuations, len(choices))
    texts = _matched(map(_plain, continuations), map(_plain, choices))
    if texts is None:
        bare = [_bare(text) for text in choices]
        if len(set(bare)) == len(bare) and all(bare):
            texts = _matched(map(_bare, continuations), bare)
    orders = {"letters": letters, "cloze": texts}
    return {style: order for style, order in orders.items() if order is not None}


def _lettered(continuations: Sequence[str], count: int) -> list[int] | None:
    letters = [text.strip().strip("().:").upper() for text in continuations]
    order = [LETTERS.find(letter) if len(letter) == 1 else -1 for letter in letters]
    return order if sorted(order) == list(range(count)) else None


def _matched(texts: Iterable[str], among: Iterable[str]) -> list[int] | None:
    """Return where each text is in `among`, equal ones in order; None unless all are matched.

    >>> _matched(["b", "a", "a"], ["a", "b", "a"])
    [1, 0, 2]
    """
    places: dict[str, deque[int]] = defaultdict(deque)
    count = 0
    for count, text in enumerate(among, start=1):
        places[text].append(count - 1)
    order = [places[text].popleft() if places[text] else -1 for text in texts]
    return order if len(order) == count and -1 not in order else None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _bare(text: str) -> str:
    return "".join(c for c in _MARKUP.sub("", _plain(text)).casefold() if c.isalnum())


def _usable(joined: Sequence[_Joined], skipped: _Skipped) -> list[_Joined]:
    """Return the rows with an answer, with as many log-likelihoods as options."""
    usable, uneven, silent = [], [], []
    for row in joined:
        sample, place = row.sample, row.place
        if sample.logprobs is not None and len(sample.logprobs) != len(place.choices):
            uneven.append(sample)
        elif math.isnan(sample.correct) and not any(row.orders.values()):
            silent.append(sample)
        else:
            usable.append(row)
    skipped.documents("dropped (number of log-likelihoods differs from options)", uneven)
    skipped.documents("dropped (no response)", silent)
    return usable


def _ordered(joined: Sequence[_Joined], style: str, skipped: _Skipped) -> list[_Joined]:
    rows = [row._replace(order=order_of(row.orders, style)) for row in joined]
    unordered = [
        f"doc {r.sample.doc_id} × {skipped.layout}"
        for r in rows
        if r.sample.logprobs is not None and r.order is None
    ]
    what = "log-likelihoods ignored (unknown order of options)"
    skipped.report(what, len(unordered), unordered)
    return rows


def _style(joined: Sequence[_Joined], skipped: _Skipped) -> str:
    """Return the style that the continuations of every document allow, "" if there is none."""
    known = [row.orders.keys() - {""} for row in joined]
    known = [styles for styles in known if styles]
    for style in ("generate", "letters", "cloze"):
        if known and all(style in styles for styles in known):
            return style
    if known:
        counts = Counter(" or ".join(sorted(styles)) for styles in known)
        kinds = ", ".join(f"{style} in {count}" for style, count in sorted(counts.items()))
        skipped.notes.append(f"style unknown: the continuations have several styles ({kinds})")
        return ""
    first = min((row.sample for row in joined), key=lambda sample: sample.doc_id)
    example = (first.continuations or [""])[0]
    skipped.notes.append(
        f"style unknown: continuations such as {format_value(example)} (doc {first.doc_id}) are "
        "neither option letters nor option texts"
    )
    return ""


# --- the gold of a log ---------------------------------------------------------------------------


def _differing_gold(joined: Sequence[_Joined], index: ResponseIndex) -> list[bool]:
    """Return whether each document's target differs from the item's gold."""
    differs = []
    for row in joined:
        position, order = row.place.position, _item_order(row.place, index)
        targets = {order[option] for option in _targets(row)}
        known = bool(targets) and bool(index.single[position])
        differs.append(known and int(index.answer[position]) not in targets)
    return differs


def _targets(row: _Joined) -> set[int]:
    """Return every option, in the document's order, that the target may refer to.

    With several continuations, the target is a 0-based index (or a list) or the text of one; for a
    written answer it may also be the letter, or a 1-based index.
    """
    continuations = row.sample.continuations
    text = _plain(row.sample.target)
    among = row.place.choices if continuations is None else continuations
    targets = {i for i, option in enumerate(among) if _plain(option) == text}
    numbers = [int(n) for n in re.findall(r"[0-9]{1,4}", text)]
    if _NUMBER.fullmatch(text) or _OPTION_LIST.fullmatch(text):
        targets.update(numbers)
    if continuations is None:
        if _NUMBER.fullmatch(text):
            targets.update(number - 1 for number in numbers)
        letter = text.strip("().:").upper()
        targets.update({LETTERS.index(letter)} if len(letter) == 1 and letter in LETTERS else ())
    targets = {option for option in targets if 0 <= option < len(among)}
    if continuations is None:
        return targets
    return set() if row.order is None else {row.order[option] for option in targets}


def _item_order(place: Place, index: ResponseIndex) -> list[int]:
    """Return the item's index of each option of the document."""
    choices = index.choices[place.position]
    if place.choices == choices:
        return list(range(len(choices)))
    # Both have the same texts, since the document was joined to the item.
    return _matched(map(_plain, place.choices), map(_plain, choices)) or list(range(len(choices)))


# --- rows ----------------------------------------------------------------------------------------


def _as_tidy(
    file: LoadedFile,
    joined: Sequence[_Joined],
    index: ResponseIndex,
    style: str,
    differing: Sequence[bool],
) -> LoadedFile:
    rows = []
    for row, differs in zip(joined, differing, strict=True):
        logprobs = _in_item_order(row, row.sample.logprobs, index)
        lengths = None
        if style in ("cloze", "cloze_bytes"):
            texts = row.sample.continuations or ()  # without their leading space
            n_bytes = [max(1, len(text.removeprefix(" ").encode())) for text in texts]
            lengths = _in_item_order(row, n_bytes or None, index)
        # Correctness under another gold is ignored; log-likelihoods remain valid.
        silent = math.isnan(row.sample.correct) or (differs and logprobs is not None)
        correct = None if silent else row.sample.correct
        item_id = str(index.ids[row.place.position])
        rows.append((item_id, file.spec.model, row.condition, correct, logprobs, lengths))
    spec = file.spec.model_copy(update={"layout": "tidy", "style": style, "columns": {}})
    columns = dict(zip(_TABLE.names, zip(*rows, strict=True), strict=True))
    return replace(file, spec=spec, table=pa.table(columns, schema=_TABLE))


def _in_item_order(
    row: _Joined, values: Sequence[Any] | None, index: ResponseIndex
) -> list[Any] | None:
    """Reorder values of continuations to the item's options; None if the order is unknown."""
    if values is None or row.order is None:
        return None
    item_order = _item_order(row.place, index)
    out: list[Any] = [None] * len(item_order)
    for option, value in zip(row.order, values, strict=True):
        out[item_order[option]] = value
    return out


def _marked(
    rows: pd.DataFrame,
    tally: Tally,
    joined: Sequence[_Joined],
    differing: Sequence[bool],
    index: ResponseIndex,
) -> pd.DataFrame:
    """Set `by_hash` of rows joined by text, and count documents whose gold differs."""
    by_text: dict[int, bool] = {}
    differing_at: dict[int, bool] = {}
    for row, differs in zip(joined, differing, strict=True):  # the first row of an item is kept
        by_text.setdefault(row.place.position, row.place.by_text)
        differing_at.setdefault(row.place.position, differs)
    positions = rows["position"].tolist()
    rows = rows.assign(by_hash=[by_text[position] for position in positions])
    tally.joined_by_hash = int(rows["by_hash"].sum())
    tally.joined_by_id = len(rows) - tally.joined_by_hash
    others = [position for position in positions if differing_at[position]]
    tally.contradicting += len(others)
    named = zip(others, rows["model"], strict=False)  # every row has the same model
    tally.report("gold differs", len(others), [f"{index.ids[p]} × {model}" for p, model in named])
    return rows
