"""Warnings at the top of the page are about the perturbation with all its transforms."""

import pandas as pd

from benchwright.methods.wicked.comparison.coverage import Unchecked
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.wicked.findings import PerturbationReach, write_notes
from benchwright.tables.wicked import ComparisonWritten

SHUFFLED = {"transform": "shuffle_choices"}
REPLACED = {"transform": "replace_choice"}


def notes(
    copies: dict[str, int],
    *transforms: dict[str, str],
    style: str = "letters",
) -> str:
    """Return the notes for numbers of copies."""
    scores = pd.DataFrame(
        [(name, f"m{k}", number, 10) for name, number in copies.items() for k in range(9)],
        columns=["perturbation", "model", "copies", "n_items"],
    )
    scores = scores.assign(style=style, configuration=scores["model"] + f"@{style}-3")
    settings = PerturbationParams.model_validate(
        {"name": "cf", "transforms": transforms, "cumulative": len(transforms) > 1}
    )
    perturbed = PerturbationReach("cf", 10, 1.0, Unchecked(0, 0, 0.0, 0, 0, 0))
    return " ".join(write_notes(scores, ComparisonWritten.empty(), settings, perturbed))


def test_warning_about_one_copy_is_about_the_main_perturbation() -> None:
    assert "one copy" not in notes({"cf_1": 1, "cf_2": 5}, SHUFFLED, REPLACED)
    assert "one copy" in notes({"cf_1": 5, "cf_2": 1}, SHUFFLED, REPLACED)


def test_warning_about_unlisted_options_needs_a_cloze_style_and_a_none_option() -> None:
    warning = "prompts of 9 configurations (cloze) do not list the options"
    assert warning in notes({"cf": 5}, REPLACED, style="cloze_bytes")
    assert "(cloze)" not in notes({"cf": 5}, REPLACED)
    assert "(cloze)" not in notes({"cf": 5}, REPLACED, style="")
    assert "(cloze)" not in notes({"cf": 5}, SHUFFLED, style="cloze")
