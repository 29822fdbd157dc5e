"""Sections of a run as the catalog sees them."""

from pathlib import Path
from typing import Any

import pytest
from kedro.config import OmegaConfigLoader

from benchwright.project_conf import CONFIG_LOADER_ARGS


@pytest.fixture
def catalog(repository: Path) -> Any:
    def read(**given: Any) -> dict[str, Any]:
        loader = OmegaConfigLoader(
            conf_source=str(repository / "conf"),
            runtime_params={"variant": "mmlu_cf", **given},
            **CONFIG_LOADER_ARGS,
        )
        return dict(loader["catalog"])

    return read


def test_the_catalog_has_the_sections_of_the_variant(catalog: Any) -> None:
    entries = catalog()
    assert entries["judge_store"]["sealing"] == {"name": "mmlu_cf"}
    assert entries["judge_store"]["folder"] == "data/06_models/judge_store"
    assert entries["difficulty_answers_file"]["filepath"] is None
    assert not [name for name in entries if name.startswith("_")]


def test_what_the_command_line_says_comes_first(catalog: Any) -> None:
    entries = catalog(
        sealing={"judge_store": "memory"},
        difficulty={"answers_file": "a.csv", "examples_file": "b.parquet"},
    )
    assert entries["judge_store"]["sealing"] == {"name": "mmlu_cf", "judge_store": "memory"}
    assert entries["difficulty_answers_file"]["filepath"] == "a.csv"
    assert entries["difficulty_examples"]["filepath"] == "b.parquet"


def test_a_variant_without_the_section_has_none(catalog: Any) -> None:
    entries = catalog(variant="smart")
    assert entries["judge_store"]["sealing"] == {}
    assert entries["difficulty_examples"]["filepath"] is None
