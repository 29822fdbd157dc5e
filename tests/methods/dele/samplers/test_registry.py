"""The registry of samplers."""

import pytest
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers.registry import SAMPLERS, make_samplers, sampler_kinds
from benchwright.params.sampling import SamplingParams


def test_encoders_add_samplers_to_the_registered_ones() -> None:
    everything = set(sampler_kinds(SamplingParams(encoders=("enc",))))
    assert set(SAMPLERS) < everything
    assert everything - set(SAMPLERS) == {"kmeans_enc", "spectral_enc", "dbscan_enc"}
    assert {"random", "nmf_tfidf", "cpd", "flesch", "anchor_points"} <= set(SAMPLERS)


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
