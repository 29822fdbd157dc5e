"""Agreement of judges per criterion and pair."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.judging.judges import judge_agreement


def judged(values: dict[str, list[float]], criterion: str = "clarity") -> pd.DataFrame:
    return pd.DataFrame(
        [
            (f"i{place}", judge, criterion, value)
            for judge, row in values.items()
            for place, value in enumerate(row)
        ],
        columns=["item_id", "judge", "criterion", "value"],
    )


def test_a_pair_and_all_are_counted_by_hand() -> None:
    values = judged({"a": [0, 0, 1], "b": [0, 1, 1]})
    table = judge_agreement("quality", values, "nominal", seed=0)
    assert table[["judge", "other"]].to_numpy().tolist() == [["", ""], ["a", "b"]]
    assert table["alpha"].tolist() == pytest.approx([4 / 9, 4 / 9])
    assert (table["low"] < 4 / 9).all()
    assert (table["high"] > 4 / 9).all()


def test_three_judges_form_three_pairs_and_an_outlier_has_low_agreement() -> None:
    values = {"a": [1, 2, 3, 4, 5.0], "b": [1, 2, 3, 4, 5.0], "c": [5, 4, 3, 2, 1.0]}
    table = judge_agreement("quality", judged(values), "ordinal", seed=0)
    alpha = table.set_index(["judge", "other"])["alpha"]
    assert alpha[("a", "b")] == pytest.approx(1)
    assert alpha[("a", "c")] < 0
    assert len(table) == 4


def test_a_single_or_silent_judge_gives_a_reason() -> None:
    alone = judge_agreement("quality", judged({"a": [1, 2.0]}), "ordinal", seed=0)
    silent = judge_agreement(
        "quality", judged({"a": [1, 2.0], "b": [np.nan] * 2}), "ordinal", seed=0
    )
    for table in (alone, silent):
        assert table["alpha"].isna().all()
        assert (table["reason"] == "no unit has ratings of two raters").all()
        assert (table["n_items"] == 0).all()
