"""The variants of WiCkeD that ship with the project."""

from pathlib import Path
from typing import Any

import yaml

from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ScoringParams


def variant(repository: Path, name: str) -> dict[str, Any]:
    path = repository / "conf" / "base" / "parameters" / "variants" / f"{name}.yml"
    sections: dict[str, Any] = yaml.safe_load(path.read_text())["_variants"][name]
    return sections


def test_chain_of_thought_is_zero_shot_beside_scored_answers_on_the_same_copies(
    repository: Path,
) -> None:
    direct, thought = (variant(repository, name) for name in ("wicked", "wicked_cot"))
    copies = (PerturbationParams.model_validate(each["perturbation"]) for each in (direct, thought))
    assert next(copies) == next(copies)
    scoring = ScoringParams.model_validate(thought["scoring"] | {"mode": "live"})
    written = [asked for asked in scoring.asked() if asked.style == "generate"]
    assert {asked.shots for asked in written} == {0}
    assert {asked.model for asked in written} <= {
        asked.model for asked in scoring.asked() if asked.style != "generate"
    }
    assert scoring.generation.max_tokens == 4096


def test_paper_asks_for_letters_after_five_demonstrations(repository: Path) -> None:
    ours, paper = (variant(repository, name) for name in ("wicked", "wicked_paper"))
    assert paper["perturbation"] == ours["perturbation"]
    scoring = ScoringParams.model_validate(paper["scoring"] | {"mode": "live"})
    assert {(asked.style, asked.shots) for asked in scoring.asked()} == {("letters", 5)}


def test_configurations_on_the_command_line_are_joined_by_a_plus() -> None:
    names = ("a@cloze-0", "b@generate-0")
    assert ScoringParams.model_validate({"configurations": "+".join(names)}).configurations == names
    assert ScoringParams.model_validate({"configurations": [*names]}).configurations == names
