"""What a reader has to know before trusting a figure."""

import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import main_perturbation
from benchwright.methods.wicked.comparison.metrics import Unchecked
from benchwright.params.perturbation import (
    NoneOfTheAboveParams,
    PerturbationParams,
    ReplaceChoiceParams,
)
from benchwright.reports.wicked.wording import count

_FEW_MODELS = 5
_NOTABLE = 0.02  # a share of failed extractions below this does not colour the picture


def write_notes(
    draw_scores: pd.DataFrame,
    draw_written: pd.DataFrame,
    draw_demonstrations: pd.DataFrame,
    perturbation: PerturbationParams,
    unchecked: Unchecked,
    n_items: int,
) -> list[str]:
    """The warnings of this run, the gravest first."""
    main = main_perturbation(sorted(draw_scores["perturbation"].unique()), perturbation)
    return [
        *_coherence(perturbation, unchecked),
        *_shots(draw_scores),
        *_basis(draw_scores, main, n_items),
        *_failures(draw_written),
        *_demonstrations(draw_demonstrations, main, perturbation),
    ]


def _coherence(perturbation: PerturbationParams, unchecked: Unchecked) -> list[str]:
    if not unchecked.lost_unchecked:
        return []
    n = unchecked.lost_unchecked
    lost = "lost its" if n == 1 else "lost their"
    said = (
        f"{count(n, 'item')} {lost} right option in some draw although nobody has said whether "
        f"another option would then do ({unchecked.lost_by_draw:,.1f} in each draw). Where one "
        "does, “none” is counted as right and is not: part of the difference is then the "
        "benchmark's fault. "
    )
    if perturbation.sba == "none":
        return [said + "`sba: none` reads no labels of such items."]
    known = unchecked.single + unchecked.several
    were = "was" if known == 1 else "were"
    return [f"{said}{count(known, 'item')} of this benchmark {were} checked."]


def _shots(draw_scores: pd.DataFrame) -> list[str]:
    fewer = int(draw_scores["fewer_shots_original"].sum() + draw_scores["fewer_shots_drawn"].sum())
    unknown = int(draw_scores["unknown_shots"].sum())
    said = []
    if fewer:
        said.append(
            f"{count(fewer, 'answer')} to draws had another number of demonstrations than the "
            "answer before, because a longer prompt did not fit. “Equal shots” in the table leaves "
            "them out."
        )
    if unknown:
        said.append(
            f"Of {count(unknown, 'answer')} to draws it is not known how many demonstrations one "
            "of the two sides was shown (imported answers do not say); they may differ."
        )
    return said


def _basis(draw_scores: pd.DataFrame, main: str, n_items: int) -> list[str]:
    if draw_scores.empty:
        return []
    said = []
    n = int(draw_scores["n_items"].min())
    if n < n_items:
        said.append(
            f"{n:,} of {n_items:,} items are compared: those that every configuration answered "
            "as they were and in every draw."
        )
    models = draw_scores["model"].nunique()
    if models < _FEW_MODELS:
        said.append(
            f"{count(models, 'model')} answered. Averages and orders of so few say little about "
            "others."
        )
    if (draw_scores.loc[draw_scores["perturbation"] == main, "draws"] == 1).any():
        said.append("There is one draw, so nothing is known of how much draws differ.")
    return said


def _failures(draw_written: pd.DataFrame) -> list[str]:
    written = draw_written[draw_written["written"].astype(bool)]
    shares = written[["failed_original", "failed_drawn"]].to_numpy(dtype=float)
    worst = float(shares.max(initial=0.0))
    if not worst > _NOTABLE:
        return []
    return [
        f"In up to {worst:.1%} of the written answers of a configuration no option could be read. "
        "They count as wrong."
    ]


def _demonstrations(
    draw_demonstrations: pd.DataFrame, main: str, perturbation: PerturbationParams
) -> list[str]:
    says_none = (NoneOfTheAboveParams, ReplaceChoiceParams)
    if not any(isinstance(part, says_none) for part in perturbation.transforms):
        return []
    own = draw_demonstrations[draw_demonstrations["condition"].str.startswith(f"{main}-")]
    shown = int(own["shown"].sum())
    if not shown:
        return []
    share = own["with_none_gold"].sum() / shown
    if share >= 0.5:
        return []
    return [
        f"Only {share:.1%} of the prompts with demonstrations show one whose right answer is "
        "“none”, so most prompts want an answer that they have not shown."
    ]
