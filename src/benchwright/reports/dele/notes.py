"""What a reader has to know before trusting a figure."""

import pandas as pd

from benchwright.methods.dele.evidence.judging import kinds_of
from benchwright.methods.dele.evidence.panels import FEWEST_JUDGES, SamplingPanels
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.wording import count

_FEW = 20  # models of a panel on which a rank correlation is rough


def write_notes(
    panels: SamplingPanels, samplers_left_out: pd.DataFrame, sampling: SamplingParams
) -> list[str]:
    """The warnings of this run, the gravest first."""
    notes = []
    n = len(panels.item_ids)
    judges = len(panels.groups[panels.main])
    if panels.main == "all":
        notes.append(
            "Too few models are held out, so all models judge. Samplers that read answers have "
            "then seen those of their judges: their figures are in-sample."
        )
    elif judges < _FEW:
        notes.append(f"Only {judges} models are held out; their rank correlations are rough.")
    paper = len(panels.groups["paper"])
    if paper < _FEW:
        enough = "too few to rank" if paper < FEWEST_JUDGES else "its figures are rough"
        notes.append(f"The paper's panel has {count(paper, 'model')} here: {enough}.")
    if panels.left_out:
        notes.append(
            f"{panels.left_out:,} models were left out: they answered less than "
            f"{sampling.evidence.min_coverage:.0%} of the {panels.judged:,} judged items."
        )
    if n < panels.all_items:
        notes.append(
            f"Samplers choose among {n:,} of the {panels.all_items:,} items: those that all of "
            f"the {len(panels.models):,} models answered. The subset that is handed on stands "
            "for these."
        )
    if panels.unknown_families:
        notes.append(
            f"The names of {panels.unknown_families:,} of {len(panels.models):,} models tell no "
            "family, so each is taken for a family by itself and kin of it may be on the other "
            "side; `models.families` in conf names families."
        )
    if any("answers" in kind.reads for kind in kinds_of(sampling).values()):
        notes.append(
            "`anchor_points` and `irt_clusters` give their items weights; a score on them is a "
            "weighted mean."
        )
    stopped = samplers_left_out.drop_duplicates("sampler").to_dict("records")
    return [*notes, *(f"`{row['sampler']}` did not run: {row['reason']}." for row in stopped)]
