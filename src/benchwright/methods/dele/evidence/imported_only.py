"""No model is asked in this pipeline."""

import pandas as pd

from benchwright.tables.responses import Responses


def ask_nobody() -> pd.DataFrame:
    """Stand in for the answers of models asked in this run: there are none."""
    return Responses.empty()
