"""Which configurations the rows of a `Responses` table belong to."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import configuration_name


def expand_styles(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds the normalised styles that a `cloze` scoring also gives.

    A row of style `cloze` with log-likelihoods and the options' bytes (tokens) gives a row of
    style `cloze_bytes` (`cloze_tokens`) as well, unless the shots are unknown: then the
    configurations would share one name. Derived rows come last, without any stated answer.

    Args:
        rows: a `Responses` table.
    """
    parts = [rows]
    cloze = rows[(rows["style"] == "cloze") & (rows["shots"] >= 0) & rows["logprobs"].notna()]
    for style, needed in (("cloze_bytes", "option_bytes"), ("cloze_tokens", "option_tokens")):
        able = cloze[cloze[needed].notna()]
        if len(able):
            blank = {"prediction": -1, "p_answer": np.nan, "p_prediction": np.nan}
            parts.append(able.assign(style=style, correct=np.nan, **blank))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else rows


def configurations(rows: pd.DataFrame) -> NDArray[np.object_]:
    """(n,) the configuration's name of each row."""
    asked = rows[["model", "style", "shots"]]
    # Groups are numbered as they first appear, which is the order of the rows left here.
    distinct = asked.drop_duplicates().itertuples(index=False, name=None)
    names = np.array([configuration_name(*key) for key in distinct], dtype=object)
    codes = asked.groupby(["model", "style", "shots"], sort=False).ngroup().to_numpy()
    return np.asarray(names[codes]) if len(names) else np.empty(0, dtype=object)


def live_first(live: pd.DataFrame, recorded: pd.DataFrame) -> pd.DataFrame:
    """Both tables with the normalised styles and a `configuration` column, live rows first."""
    parts = [expand_styles(part) for part in (live, recorded) if len(part)]
    if not parts:
        return live.assign(configuration=pd.Series(dtype=object))
    both = pd.concat(parts, ignore_index=True)
    return both.assign(configuration=configurations(both))
