"""Memorisation: do models write the options of a question they see alone? (MMLU-CF, Figure 1)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from math import nan
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.text_folding import folded, normal_text
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
# Where options end: at an empty line, or before a line "Answer: B" or "Explanation …".
_ANSWER = re.compile(r"\n\s*(?:\n|answer\b|correct answer\b|explanation\b)", re.IGNORECASE)


def written_options(reply: str, k: int) -> list[str]:
    """Read at most k options, in order, from a reply that continues after `A.`, or repeats it.

    Each option ends at the next letter (`B.`, `B)`, `(B)`, `B:`), preferably at the beginning of a
    line, else after white space; the last one with its paragraph or before a line "Answer …".
    """
    text = reply
    begin = re.search(r"(?:^|\n)[ \t]*\(?A[.):](?=\s|$)", reply)
    after = _mark(reply, "B")
    if begin and (after is None or begin.start() < after.start()):
        text = reply[begin.end() :]
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


def _plain(text: str) -> str:
    """Return the text in NFKC on one line, without case and without punctuation at the end."""
    return folded(unicodedata.normalize("NFKC", text)).rstrip(".;, ")


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
        near = bool(_plain(text)) and ratio(_plain(text), _plain(option)) >= FUZZY
        matches.append(OptionMatch(exact, exact or near))
    return matches


def in_place(written: Sequence[str], options: Sequence[str]) -> tuple[float, float]:
    """Compute the shares of options written in their places, verbatim and by similarity."""
    matches = option_matches(written, options)
    exact = sum(match.exact for match in matches)
    fuzzy = sum(match.fuzzy for match in matches)
    return exact / len(options), fuzzy / len(options)


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
    texts = [list(map(str, choices)) for choices in items["choices"]]
    options = dict(zip(items["item_id"].astype(str), texts, strict=True))
    controls = control_items(items, seed)
    asked = generations[generations["condition"].eq("question_only")]
    rows: list[tuple[Any, ...]] = []
    for reply in asked.to_dict("records"):
        item_id = str(reply["item_id"])
        choices = options.get(item_id)
        if not choices:
            continue
        name = configuration_name(str(reply["model"]), str(reply["style"]), int(reply["shots"]))
        text = str(reply["text"])
        written = written_options(text, len(choices))
        exact, fuzzy = in_place(written, choices)
        other = controls.get(item_id, "")
        control = in_place(written, options[other])[1] if other else nan
        sample = int(reply["sample"])
        rows.append((name, item_id, exact, fuzzy, control, text, sample, len(written), other))
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
    ids = items["item_id"].astype(str).tolist()
    order = item_uniforms(seed, "memorisation_control", ids)
    subjects = items["subject"].astype(str).tolist()
    sizes = [len(choices) for choices in items["choices"]]
    options = [frozenset(_plain(str(each)) for each in choices) for choices in items["choices"]]
    used = Counter(options)
    groups: defaultdict[tuple[str, int], list[int]] = defaultdict(list)  # of places
    for place in sorted(range(len(ids)), key=lambda place: (order[place], ids[place])):
        if sizes[place] and used[options[place]] == 1:
            groups[subjects[place], sizes[place]].append(place)
    controls: dict[str, str] = {}
    for members in groups.values():
        for number, place in enumerate(members):
            after = members[number + 1 :] + members[:number]
            disjoint = (other for other in after if options[other].isdisjoint(options[place]))
            if after:
                controls[ids[place]] = ids[next(disjoint, after[0])]
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
    n = len(best)
    compared = best[best["control_fuzzy"].notna()]
    whole = compared["fuzzy"] == 1
    control = compared["control_fuzzy"] == 1
    item_only = int((whole & ~control).sum())
    control_only = int((control & ~whole).sum())
    p_value = 1.0 if len(compared) else nan
    if tested := item_only + control_only:
        p_value = float(binomtest(item_only, tested, alternative="greater").pvalue)
    return {
        "model": model,
        "items": n,
        "with_options": int((best["written"] > 0).sum()),
        **share_with_bounds("exact", int((best["exact"] == 1).sum()), n),
        **share_with_bounds("fuzzy", int((best["fuzzy"] == 1).sum()), n),
        "options_fuzzy": float(by_item["fuzzy"].mean().mean()),
        "compared": len(compared),
        **share_with_bounds("control_whole", int(control.sum()), len(control)),
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
    item_of = {str(item["item_id"]): item for item in items.to_dict("records")}
    shown = []
    for model, rows in memorisation.groupby("model", sort=True):
        replies = rows.sort_values("sample").drop_duplicates("item_id")
        ids = replies["item_id"].astype(str).tolist()
        draw = item_uniforms(seed, f"memorisation_examples/{model}", ids)
        best = replies.assign(draw=draw).sort_values(
            ["exact", "fuzzy", "draw"], ascending=[False, False, True]
        )
        examples = []
        for reply in best[:_EXAMPLES].to_dict("records"):
            item_id = str(reply["item_id"])
            examples.append(_example(item_of[item_id], str(reply["reply"])))
        shown.append({"model": str(model), "items": examples})
    return shown


def _example(item: Any, reply: str) -> dict[str, Any]:
    choices = [str(choice) for choice in item["choices"]]
    written = written_options(reply, len(choices))
    matches = option_matches(written, choices)
    options = []
    for number, choice in enumerate(choices[: len(LABELS)]):
        match = matches[number]
        options.append(
            {
                "label": LABELS[number],
                "choice": _clipped(choice),
                "written": _clipped(written[number]) if number < len(written) else "",
                "match": "verbatim" if match.exact else "similar" if match.fuzzy else "",
            }
        )
    return {
        "item_id": str(item["item_id"]),
        "question": _clipped(str(item["question"])),
        "reply": _clipped(reply),
        "options": options,
    }


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
