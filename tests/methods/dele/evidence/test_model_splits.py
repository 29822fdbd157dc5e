"""Splits of models into selection and held-out models."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.dele.evidence.panels import (
    split_by_family,
    split_forward,
)


@given(
    families=st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40),
    seed=st.integers(0, 99),
)
def test_families_are_not_split(families: list[str], seed: int) -> None:
    models = [f"m{place}" for place in range(len(families))]
    split = split_by_family(models, families, seed)
    sides = [{families[place] for place in side} for side in split]
    assert not sides[0] & sides[1]
    assert sorted([*split.selection, *split.held_out]) == list(range(len(models)))
    assert len(split.selection) >= 1
    if len({families[place] for place in split.selection}) > 1:
        assert len(split.selection) <= len(models) / 2


def test_half_of_the_models_choose_where_families_are_small() -> None:
    models = [f"m{place}" for place in range(100)]
    first, second = (split_by_family(models, models, seed) for seed in (1, 2))
    assert len(first.selection) == 50
    assert first.selection.tolist() != second.selection.tolist()


def test_split_does_not_depend_on_model_order() -> None:
    models = [f"m{place}" for place in range(50)]
    families = [f"f{place % 13}" for place in range(50)]
    order = np.random.default_rng(0).permutation(50)
    split = split_by_family(models, families, seed=3)
    moved = split_by_family([models[i] for i in order], [families[i] for i in order], seed=3)
    chosen = {models[i] for i in split.selection}
    assert {models[order[i]] for i in moved.selection} == chosen


def test_stronger_models_are_held_out_in_the_forward_split() -> None:
    split = split_forward(["a", "b", "c", "d"], [0.9, 0.2, 0.5, 0.2])
    assert split.selection.tolist() == [1, 3]
    assert split.held_out.tolist() == [0, 2]
