"""What models wrote, held against the items (MMLU-CF, Figure 1)."""

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.memorisation.probe import probe_memorisation
from benchwright.params.memorisation import MemorisationParams
from benchwright.params.scoring import ScoringParams


def compare_replies(
    items: pd.DataFrame,
    generations: pd.DataFrame,
    memorisation: MemorisationParams,
    scoring: ScoringParams,
    seed: int,
) -> pd.DataFrame:
    """Hold what each model wrote, given a question alone, against the question's options.

    Returns:
        A `Memorisation` table.

    Raises:
        InputError: no model was asked to write the options of an item.
    """
    table = probe_memorisation(items, generations, memorisation, seed)
    if table.empty:
        raise InputError(
            f"memorisation: no model wrote options; scoring has mode {scoring.mode}, "
            f"configurations {', '.join(scoring.configurations) or 'none'}, conditions "
            f"{', '.join(scoring.conditions)}; needed are score=live, the style generate and the "
            "condition question_only, and items with options"
        )
    return table
