"""Weights of the mean over items and the mean over subjects."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.dele.evidence.rate_curves import target_weights
from benchwright.statistics.preservation import preservation


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=30), st.integers(0, 1000))
def test_weights_give_the_mean_over_subjects(subjects: list[str], seed: int) -> None:
    answers = np.random.default_rng(seed).random(len(subjects))
    weights = target_weights(subjects)
    assert weights["items"] @ answers == pytest.approx(answers.mean())
    assert ("subjects" in weights) == (len(set(subjects)) > 1)
    if "subjects" in weights:
        by_subject = pd.Series(answers).groupby(np.array(subjects)).mean().mean()
        assert weights["subjects"] @ answers == pytest.approx(by_subject)
        assert weights["subjects"].sum() == pytest.approx(1)


def test_without_items_the_mean_over_items_is_the_only_target() -> None:
    assert list(target_weights([])) == ["items"]


def test_preservation_with_weighted_items() -> None:
    """Compare with pandas: the mean of a subset and the mean over subjects."""
    generator = np.random.default_rng(4)
    correct = generator.random((9, 40))
    subjects = np.array(["a"] * 30 + ["b"] * 7 + ["c"] * 3)
    masks = (generator.random((5, 40)) < 0.3).astype(float)
    metrics = preservation(correct, masks, whole=target_weights(subjects.tolist())["subjects"])
    whole = pd.DataFrame(correct.T).groupby(subjects).mean().mean()
    for row, mask in enumerate(masks):
        part = pd.Series(correct[:, mask > 0].mean(axis=1))
        assert metrics.bias[row] == pytest.approx((part - whole).mean())
        assert metrics.mean_absolute_error[row] == pytest.approx((part - whole).abs().mean())
        assert metrics.spearman[row] == pytest.approx(part.corr(whole, method="spearman"))
        assert metrics.tau_b[row] == pytest.approx(part.corr(whole, method="kendall"))
