"""Under which condition each document of a log was asked, as the document itself says."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from benchwright.datasets.lm_eval_samples import run_of
from benchwright.datasets.response_files import LoadedFile
from benchwright.responses.item_index import AnswerIndex, Compared

Strangers = frozenset[tuple[str, str]]
"""Runs of lm-eval, and the conditions under which they asked other texts than this run's draws."""

_KEY = '"condition"'


def stated_id(doc: dict[str, Any]) -> tuple[str | None, str | None]:
    """Item id and content hash of a document; both, or neither."""
    item_id, text_hash = doc.get("item_id"), doc.get("content_hash")
    if isinstance(item_id, str) and isinstance(text_hash, str):
        return item_id, text_hash
    return None, None


def stated_condition(doc: dict[str, Any]) -> str | None:
    """The condition of a row that this project exported; None of other documents.

    A row of any benchmark may have a column of that name, so it is believed only beside an item id
    and a content hash.
    """
    condition = doc.get("condition")
    known = isinstance(condition, str) and condition and stated_id(doc)[0] is not None
    return condition if known else None


def strangers(files: Iterable[LoadedFile], index: AnswerIndex) -> Strangers:
    """Runs and conditions whose documents have other texts than the draws of those names.

    A draw of the same name under another seed shares some items with this run's, those that it
    left as they were above all. Taken alone these would be a choice of easy or hard items, so the
    whole draw of such a run is left out. All logs of a run are looked at together.
    """
    seen: defaultdict[tuple[str, str], list[Compared]] = defaultdict(list)
    for file in files if index.has_draws() else ():
        if file.spec.layout != "lm_eval" or file.table is None:
            continue
        stated: defaultdict[str, list[tuple[str | None, str | None]]] = defaultdict(list)
        said = file.spec.condition
        for text in file.table["doc"].to_pylist():
            if _KEY not in text and not index.is_draw(said):
                continue
            doc = json.loads(text)
            condition = stated_condition(doc) or said
            if index.is_draw(condition):
                stated[condition].append(stated_id(doc))
        for condition, pairs in stated.items():
            ids, hashes = zip(*pairs, strict=True)
            found = index.compare_texts(condition, ids, hashes)
            seen[run_of(file.name), condition].append(found)
    totals = {
        key: Compared(sum(c.shared for c in found), sum(c.unlike for c in found))
        for key, found in seen.items()
    }
    return frozenset(key for key, total in totals.items() if total.another_draw())
