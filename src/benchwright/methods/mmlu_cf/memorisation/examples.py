"""Items with what a model wrote beside their options."""

from typing import Any

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.methods.mmlu_cf.memorisation.written_options import option_matches, written_options
from benchwright.params.memorisation import MemorisationParams
from benchwright.prompting.rendering import LABELS

_LONGEST = 1_500  # characters of a text


def choose_examples(
    items: pd.DataFrame, memorisation: pd.DataFrame, settings: MemorisationParams, seed: int
) -> list[dict[str, Any]]:
    """Choose items of each model: those with the most options in place, and some drawn by seed.

    Returns:
        By model the two kinds, each with its items: question, options with what was written in
        their places, and the reply as it came. An item is shown once, its first reply.
    """
    questions = {
        str(item_id): (str(question), [str(choice) for choice in choices])
        for item_id, question, choices in zip(
            items["item_id"], items["question"], items["choices"], strict=True
        )
    }
    shown = []
    for model, own in memorisation.groupby("model", sort=True):
        replies = own.sort_values("sample").drop_duplicates("item_id")
        ids = replies["item_id"].astype(str).tolist()
        draw = item_uniforms(seed, f"memorisation_examples/{model}", ids)
        ordered = replies.assign(draw=draw)
        best = ordered[ordered["fuzzy"] > 0].sort_values(
            ["exact", "fuzzy", "draw"], ascending=[False, False, True]
        )[: settings.examples]
        drawn = ordered[~ordered["item_id"].isin(best["item_id"])].sort_values("draw")
        kinds = (("Most options in place", best), ("Drawn by seed", drawn[: settings.examples]))
        shown.append(
            {
                "model": str(model),
                "kinds": [
                    {
                        "title": title,
                        "items": [
                            _example(row, *questions[str(row["item_id"])], settings.fuzzy)
                            for row in rows.to_dict("records")
                        ],
                    }
                    for title, rows in kinds
                    if len(rows)
                ],
            }
        )
    return shown


def _example(row: Any, question: str, choices: list[str], fuzzy: float) -> dict[str, Any]:
    written = written_options(str(row["reply"]), len(choices))
    matches = option_matches(written, choices, fuzzy)
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
