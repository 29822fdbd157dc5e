"""Which perturbation a figure or a sentence is about where there are several."""

from collections.abc import Sequence

from benchwright.params.perturbation import PerturbationParams


def main_perturbation(names: Sequence[str], perturbation: PerturbationParams) -> str:
    """The perturbation with all its transforms; "" where there is none."""
    whole = f"{perturbation.name}_{len(perturbation.transforms)}"
    for name in (perturbation.name, whole):
        if name in names:
            return name
    return max(names, default="")
