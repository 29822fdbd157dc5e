"""The variants of SMART that ship with the project, and wrong settings."""

import pytest
import yaml
from pydantic import ValidationError

from benchwright.params.filtering import FilteringParams
from benchwright.params.scoring import EmbeddingParams, ScoringParams


def variant(repository, name: str) -> dict:
    path = repository / "conf" / "base" / "parameters" / "variants" / f"{name}.yml"
    return yaml.safe_load(path.read_text())["_variants"][name]


@pytest.mark.parametrize("name", ["smart", "smart_paper", "smart_released_code", "no_similar"])
def test_variants_have_valid_settings(repository, name):
    sections = variant(repository, name)
    FilteringParams.model_validate(sections["filtering"])
    EmbeddingParams.model_validate(sections["embedding"])


def test_variants_follow_paper_code_or_defaults(repository):
    def settings(name: str) -> FilteringParams:
        return FilteringParams.model_validate(variant(repository, name)["filtering"])

    ours, paper, code = (settings(name) for name in ("smart", "smart_paper", "smart_released_code"))
    assert [each.similar.max_distance for each in (ours, paper, code)] == [0.2, None, None]
    assert ours == FilteringParams()
    chosen = [
        variant(repository, name).get("filter_models", {}).get("choose")
        for name in ("smart", "smart_paper", "smart_released_code")
    ]
    assert chosen == [None, "strongest", "strongest"]
    assert (ours.independent, paper.independent, code.independent) == (False, True, True)
    assert code.duplicates.key == "question"
    assert code.easy.retention == "bernoulli"
    assert not paper.similar.halve_single_peak
    assert (paper.duplicates.key, paper.similar.prefiltered) == ("question", True)
    assert (paper.similar.clusters, paper.similar.string_similarity_exempt) == ("components", None)
    assert not settings("no_similar").similar.enabled


def test_the_released_code_scores_bare_letters_of_five_shots(repository):
    scoring = ScoringParams.model_validate(variant(repository, "smart_released_code")["scoring"])
    assert scoring.label_tokens == "bare"
    assert {(asked.style, asked.shots) for asked in scoring.asked()} == {("letters", 5)}


@pytest.mark.parametrize(
    "wrong",
    [
        {"easy": {"confidence": 80}},
        {"easy": {"retention": "some"}},
        {"similar": {"remove": 1.0}},
        {"similar": {"threshold": "second_peak"}},
        {"simlar": {}},
    ],
)
def test_invalid_settings_are_rejected(wrong):
    with pytest.raises(ValidationError):
        FilteringParams.model_validate(wrong)
