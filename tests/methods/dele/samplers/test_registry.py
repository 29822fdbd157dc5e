"""The registry of samplers."""

import pytest
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import SAMPLERS, make_samplers, sampler_kinds
from benchwright.params.sampling import SamplingParams


def test_encoders_add_samplers_to_the_registered_ones() -> None:
    everything = set(sampler_kinds(SamplingParams(encoders=("enc",))))
    assert set(SAMPLERS) < everything
    assert everything - set(SAMPLERS) == {"kmeans_enc", "spectral_enc", "dbscan_enc"}
    assert {"random", "nmf_tfidf", "cpd", "flesch", "anchor_points"} <= set(SAMPLERS)


def test_samplers_keep_the_order_of_their_names() -> None:
    params = SamplingParams.model_validate({"samplers": "flesch+random"})
    assert list(make_samplers(params)) == ["flesch", "random"]
    alone = SamplingParams(samplers=("flesch",))
    assert list(make_samplers(alone)) == ["random", "flesch"]


def test_unknown_name_is_rejected() -> None:
    with pytest.raises(InputError, match=r"unknown sampler 'flsch'; available: random, .*flesch"):
        make_samplers(SamplingParams(samplers=("flsch",)))


def test_settings_reach_the_samplers() -> None:
    texts = ("a b. c d. e f.", "THE BIG DOGs", "so it goes", "THE cat")
    pool = SamplingPool(tuple("wxyz"), ("s", "t", "s", "t"), texts)

    def order(**settings: object) -> list[int]:
        params = SamplingParams.model_validate({"samplers": "cpd", **settings})
        return make_samplers(params)["cpd"](pool, 0)(3).positions.tolist()

    assert order() != order(cpd="raw")
    assert {pool.subjects[place] for place in order(within_subject=True)[:1]} == {"s"}
    assert order() != order(within_subject=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"rates": (0.0, 1.0)},
        {"rates": (1.0, 101.0)},
        {"rates": (2.0, 1.0)},
        {"rates": (1.0, 1.0)},
        {"rates": ()},
        {"samplers": ()},
        {"samplers": ("all", "random")},
        {"samplers": ("random", "random")},
        {"encoders": "a+a"},
        {"repeats": 0},
        {"cpd": "z"},
        {"sampler": "random"},
    ],
)
def test_invalid_settings_are_rejected(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SamplingParams.model_validate(settings)


def test_defaults_are_those_of_the_paper() -> None:
    params = SamplingParams()
    assert params.rates == tuple(range(1, 101))
    assert params.feature_text == "question"
