"""Questions with the passage that they are about, as a judge must see them."""

import pandas as pd


def with_passage(items: pd.DataFrame) -> pd.DataFrame:
    """A copy of a `CleanItems` table whose questions begin with their passages."""
    questions = [
        f"{passage.strip()}\n\n{question}"
        if isinstance(passage, str) and passage.strip()
        else question
        for passage, question in zip(items["passage"], items["question"], strict=True)
    ]
    return items.assign(question=pd.Series(questions, index=items.index, dtype=object))
