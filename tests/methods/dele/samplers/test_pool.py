"""The registry of samplers, pools from tables, and cached fits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers.pool import (
    SamplingPool,
    once_per_pool,
)
from benchwright.methods.dele.samplers.registry import make_samplers
from benchwright.params.sampling import SamplingParams


def test_unknown_name_is_rejected() -> None:
    with pytest.raises(InputError, match=r"unknown sampler 'flsch'; available: random, .*flesch"):
        make_samplers(SamplingParams(samplers=("flsch",)))


@pytest.mark.parametrize(
    "settings",
    [
        {"rates": (0.0, 1.0)},
        {"rates": (1.0, 101.0)},
        {"rates": (1.0, 1.0)},
        {"rates": ()},
        {"samplers": ("all", "random")},
        {"encoders": "a+a"},
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SamplingParams.model_validate(settings)


ITEMS = pd.DataFrame(
    {
        "item_id": ["q/1", "q/0"],
        "subject": ["s", ""],
        "question": ["Which?", "What is 2 + 2?"],
        "choices": [np.array(["This one.", "That"], dtype=object), []],
    }
)


POOL = SamplingPool(("a", "b"), ("", ""), ("one", "two"), {"mini": np.eye(2, dtype=np.float32)})


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, 1),
        ({"subjects": ("s", "t")}, 1),
        ({"texts": ("one", "three")}, 2),
        ({"correct": np.ones((2, 2), np.float32)}, 2),
        ({"vectors": {"mini": np.ones((2, 2), np.float32)}}, 2),
    ],
)
def test_equal_pools_share_a_fit(change: dict[str, Any], fits: int) -> None:
    fitted: list[SamplingPool] = []
    once = once_per_pool(lambda pool: fitted.append(pool) or len(fitted))
    assert (once(POOL), once(replace(POOL, **change)), len(fitted)) == (1, fits, fits)
