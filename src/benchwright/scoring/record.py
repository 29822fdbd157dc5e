"""Keep live answers as a log that later runs import instead of asking again."""

import pandas as pd

from benchwright.tables.responses import RecordedAnswers


def record_answers(
    live_responses: pd.DataFrame, items: pd.DataFrame, calibration_items: pd.DataFrame
) -> pd.DataFrame:
    """Write live answers down as a log: raw log-likelihoods, sorted by model, style and item.

    Calibration items are part of it, so that temperatures can be fitted again. Each row carries the
    hash of its item's content, by which an import notices that an item has changed since. Prompts
    that did not fit are left out, and so are written answers from which nothing could be read.
    """
    content = pd.concat([items, calibration_items]).set_index("item_id")["content_hash"]
    known = live_responses["logprobs"].notna() | live_responses["correct"].notna()
    answered = live_responses[known | (live_responses["prediction"] >= 0)]
    table = answered.assign(content_hash=answered["item_id"].map(content))
    table = table[RecordedAnswers.columns()].sort_values(
        ["model", "style", "shots", "condition", "item_id"], ignore_index=True
    )
    return pd.DataFrame(RecordedAnswers.validate(table))
