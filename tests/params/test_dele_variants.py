"""The variants of DELE that ship with the project."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from benchwright.methods.dele.samplers.registry import sampler_kinds
from benchwright.params.sampling import SamplingParams


def _sampling(repository: Path, name: str) -> SamplingParams:
    path = repository / "conf" / "base" / "parameters" / "variants" / f"{name}.yml"
    return SamplingParams.model_validate(
        yaml.safe_load(path.read_text())["_variants"][name]["sampling"]
    )


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("dele", {"baseline": 3, "quality": 5, "difficulty": 6, "clustering": 8, "responses": 2}),
        ("dele_paper", {"baseline": 1, "quality": 3, "clustering": 4}),
    ],
)
def test_variants_have_at_least_these_families_of_samplers(
    repository: Path, name: str, families: dict[str, int]
) -> None:
    kinds = sampler_kinds(_sampling(repository, name)).values()
    assert Counter(kind.family for kind in kinds) >= Counter(families)


def test_paper_runs_each_sampler_once_and_chooses_from_5_to_25_percent(repository: Path) -> None:
    sampling = _sampling(repository, "dele_paper")
    assert (sampling.repeats, sampling.evidence.random_draws) == (1, 1)
    assert sampling.rates == tuple(range(1, 101))
    chosen_by = sampling.adaptive
    assert (chosen_by.lowest_rate, chosen_by.highest_rate) == (5, 25)
    assert chosen_by.criteria == ("spearman", "wasserstein", "rate_variance")
