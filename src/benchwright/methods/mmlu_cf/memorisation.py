"""Memorisation: do models write the options of a question they see alone? (MMLU-CF, Figure 1)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.values import normal_text
from benchwright.params.scoring import ScoringParams
from benchwright.scoring.rendering import LABELS
from benchwright.statistics.percentile import holm
from benchwright.statistics.proportion import share_with_bounds
from benchwright.tables.mmlu_cf import Memorisation, MemorisationSummary

LEVEL = 0.95
"""Coverage of the intervals."""
FUZZY = 90.0
"""Normalised edit similarity, 0–100, from which a written option matches the item's."""
ALPHA = 0.05
"""Of the test against the control, over all models."""
_EXAMPLES = 5  # items of a model on the page
_ANSWER = re.compile(r"\n\s*(?:\n|answer\b|correct answer\b|explanation\b)", re.IGNORECASE)


def written_options(reply: str, k: int) -> list[str]:
    """Read at most k options, in order, from a reply that continues after `A.`, or repeats it.

    Each option ends at the next letter (`B.`, `B)`, `(B)`, `B:`), preferably at the beginning of a
    line, else after white space; the last one with its paragraph or before a line "Answer …".
    """
    begin = re.search(r"(?:^|\n)[ \t]*\(?A[.):](?=\s|$)", reply)
    after = _mark(reply, "B")
    again = begin is not None and (after is None or begin.start() < after.start())
    text = reply[begin.end() :] if begin is not None and again else reply
    options: list[str] = []
    for number in range(1, k + 1):
        mark = _mark(text, LABELS[number]) if number < len(LABELS) else None
        end = _ANSWER.search(text)
        limit = len(text) if end is None else end.start()
        if mark is None or mark.start() >= limit:
            options.append(text[:limit].strip())
            break
        options.append(text[: mark.start()].strip())
        text = text[mark.end() :]
    return options if any(options) else []


def _mark(text: str, label: str) -> re.Match[str] | None:
    for before in (r"\n[ \t]*", r"[ \t]+"):
        if mark := re.search(rf"{before}\(?{label}[.):](?=\s|$)", text):
            return mark
    return None


def folded(text: str) -> str:
    """Normalise to NFKC without case and without punctuation at the end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".;, ")


class OptionMatch(NamedTuple):
    """Whether a written option is the item's option in that place, verbatim or similar."""

    exact: bool
    fuzzy: bool


def option_matches(written: Sequence[str], options: Sequence[str]) -> list[OptionMatch]:
    """Compare each option with what is written in its place, verbatim and by similarity.

    The similarity is `rapidfuzz.fuzz.ratio` of the folded texts, 0–100. Only the first lines of a
    written option are read, as many as the option has. A missing option does not match.
    """
    from rapidfuzz.fuzz import ratio

    matches = []
    for answer, option in zip_longest(written[: len(options)], options, fillvalue=""):
        lines = len(option.strip().splitlines()) or 1
        text = "\n".join(answer.strip().splitlines()[:lines])
        exact = bool(text.strip()) and normal_text(text) == normal_text(option)
        near = bool(folded(text)) and ratio(folded(text), folded(option)) >= FUZZY
        matches.append(OptionMatch(exact, exact or near))
    return matches


def in_place(written: Sequence[str], options: Sequence[str]) -> tuple[float, float]:
    """Compute the shares of options written in their places, verbatim and by similarity."""
    exact, similar = zip(*option_matches(written, options), strict=True)
    return sum(exact) / len(options), sum(similar) / len(options)


def compare_replies(
    items: pd.DataFrame,
    generations: pd.DataFrame,
    scoring: ScoringParams,
    seed: int,
) -> pd.DataFrame:
    """Compare each reply under `question_only` with its item's options, as a `Memorisation` table.

    `model` is the configuration's name. Items without options are skipped, and so are other
    conditions of the `Generations`. The seed chooses the control items.

    Raises:
        InputError: there are no replies to items with options.
    """
    options = {
        str(item_id): tuple(map(str, choices))
        for item_id, choices in zip(items["item_id"], items["choices"], strict=True)
        if len(choices)
    }
    controls = control_items(items, seed)
    asked = generations[generations["condition"].eq("question_only")]
    rows: list[tuple[Any, ...]] = []
    for reply in asked.to_dict("records"):
        item_id, text = str(reply["item_id"]), str(reply["text"])
        choices = options.get(item_id)
        if choices is None:
            continue
        written = written_options(text, len(choices))
        other = controls.get(item_id, "")
        control = in_place(written, options[other])[1] if other else nan
        name = configuration_name(str(reply["model"]), str(reply["style"]), int(reply["shots"]))
        shares = (*in_place(written, choices), control)
        rows.append((name, item_id, *shares, text, int(reply["sample"]), len(written), other))
    if not rows:
        raise InputError(
            f"memorisation: there are no replies with options; scoring has mode {scoring.mode}, "
            f"configurations {', '.join(scoring.configurations) or 'none'}, conditions "
            f"{', '.join(scoring.conditions)}; set score=live, the style generate and the "
            "condition question_only, and use items with options"
        )
    return Memorisation.from_rows(sorted(rows, key=lambda row: (row[0], row[1], row[6])))


def control_items(items: pd.DataFrame, seed: int) -> dict[str, str]:
    """Choose a control item of the same subject with the same number of different options.

    It is the next item in an order by hash, so that each item serves about once. Items without a
    control are omitted, and so are those that share all options with another item: who writes stock
    options, such as True and False, would have such an item right, and never its control.
    """
    groups: defaultdict[tuple[str, int], list[tuple[float, str, frozenset[str]]]]
    groups = defaultdict(list)
    ids = items["item_id"].astype(str).tolist()
    order = item_uniforms(seed, "memorisation_control", ids).tolist()
    lists = [frozenset(folded(str(choice)) for choice in choices) for choices in items["choices"]]
    used = Counter(lists)
    rows = zip(ids, order, items["subject"], items["choices"], lists, strict=True)
    for item_id, place, subject, choices, texts in rows:
        if len(choices) and used[texts] == 1:
            groups[str(subject), len(choices)].append((place, item_id, texts))
    controls: dict[str, str] = {}
    for members in groups.values():
        members.sort(key=lambda member: member[:2])
        for number, (_, item_id, options) in enumerate(members):
            after = members[number + 1 :] + members[:number]
            disjoint = (other for _, other, texts in after if texts.isdisjoint(options))
            if other := next(chain(disjoint, (other for _, other, _ in after)), ""):
                controls[item_id] = other
    return controls


def summarise_memorisation(memorisation: pd.DataFrame) -> pd.DataFrame:
    """Summarise a `Memorisation` table by model, as a `MemorisationSummary`.

    An item counts as remembered if any of its replies holds all options in their places; intervals
    are Wilson's. `remembers`: items remembered against those whose control would be, by a one-sided
    exact McNemar test with Holm's correction over models. Shares of single options are no test: a
    model that knows the topic guesses more options of the item than of its control.
    """
    groups = memorisation.groupby("model", sort=True)
    rows = [_summary(str(model), replies) for model, replies in groups]
    adjusted = holm([row["p_value"] for row in rows])
    for row, p in zip(rows, adjusted.tolist(), strict=True):
        row |= {"p_holm": p, "remembers": bool(p <= ALPHA)}
    return MemorisationSummary.from_rows(rows)


def _summary(model: str, replies: pd.DataFrame) -> dict[str, Any]:
    from scipy.stats import binomtest

    by_item = replies.groupby("item_id", sort=True)
    best = by_item[["exact", "fuzzy", "control_fuzzy", "written"]].max()
    compared = best["control_fuzzy"].notna()
    whole = best["fuzzy"][compared] == 1
    control = best["control_fuzzy"][compared] == 1
    item_only, control_only = int((whole & ~control).sum()), int((control & ~whole).sum())
    p_value = 1.0 if compared.any() else nan
    if tested := item_only + control_only:
        p_value = float(binomtest(item_only, tested, alternative="greater").pvalue)
    return {
        "model": model,
        "items": len(best),
        "with_options": int((best["written"] > 0).sum()),
        **share_with_bounds("exact", int((best["exact"] == 1).sum()), len(best), LEVEL),
        **share_with_bounds("fuzzy", int((best["fuzzy"] == 1).sum()), len(best), LEVEL),
        "options_fuzzy": float(by_item["fuzzy"].mean().mean()),
        "compared": int(compared.sum()),
        **share_with_bounds("control_whole", int(control.sum()), len(control), LEVEL),
        "item_only": item_only,
        "control_only": control_only,
        "p_value": p_value,
    }


_LONGEST = 1_500  # characters of a text


def choose_examples(
    items: pd.DataFrame, memorisation: pd.DataFrame, seed: int
) -> list[dict[str, Any]]:
    """Choose the items of each model with the most options in place; ties are drawn.

    Each has its question, its options with the texts written in their places, and the first reply.
    """
    asked = zip(items["item_id"], items["question"], items["choices"], strict=True)
    questions = {
        str(item_id): (str(question), list(map(str, choices)))
        for item_id, question, choices in asked
    }
    shown = []
    for model, rows in memorisation.groupby("model", sort=True):
        replies = rows.sort_values("sample").drop_duplicates("item_id")
        ids = replies["item_id"].astype(str).tolist()
        draw = item_uniforms(seed, f"memorisation_examples/{model}", ids)
        best = replies.assign(draw=draw).sort_values(
            ["exact", "fuzzy", "draw"], ascending=[False, False, True]
        )
        examples = [
            _example(row, *questions[str(row["item_id"])])
            for row in best[:_EXAMPLES].to_dict("records")
        ]
        shown.append({"model": str(model), "items": examples})
    return shown


def _example(row: Any, question: str, choices: list[str]) -> dict[str, Any]:
    written = written_options(str(row["reply"]), len(choices))
    matches = option_matches(written, choices)
    texts = [*written, *[""] * len(choices)]
    return {
        "item_id": str(row["item_id"]),
        "question": _clipped(question),
        "reply": _clipped(str(row["reply"])),
        "options": [
            {
                "label": label,
                "choice": _clipped(choice),
                "written": _clipped(text),
                "match": "verbatim" if match.exact else "similar" if match.fuzzy else "",
            }
            for label, choice, text, match in zip(LABELS, choices, texts, matches, strict=False)
        ],
    }


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
