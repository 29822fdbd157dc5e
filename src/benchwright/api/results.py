"""What the functions of the API return."""

from dataclasses import dataclass

import pandas as pd

from benchwright.core.wording import count
from benchwright.evidence.verdict import SubsetVerdict
from benchwright.exports.subset_manifest import SubsetManifest


class Result:
    """Base of the results, whose repr has a headline, caveats and the names of the tables."""

    def lines(self) -> list[str]:
        """Return the headline and the caveats."""
        raise NotImplementedError

    def __repr__(self) -> str:
        headline, *caveats = self.lines()
        tables = []
        for name, value in vars(self).items():
            if isinstance(value, pd.DataFrame):
                tables.append(f".{name} ({count(len(value), 'row')})")
        return "\n  ".join([f"{type(self).__name__}: {headline}", *caveats, ", ".join(tables)])


@dataclass(frozen=True, repr=False)
class Evidence(Result):
    """Whether a subset ranks models as all items do.

    Attributes:
        rank_agreement: agreement of the rankings with intervals over items and over models
            (`RankAgreementTable`); `models` is all, filter, held_out or stronger.
        random_comparison: the same metrics beside random subsets of the same size
            (`RandomComparison`), with percentiles and p-values.
        scores: accuracy and rank of each model on all items and on the subset (`Scores`).
        verdict: whether to use the subset, in a sentence, with its figures (`tiles`) and its
            `place` among random subsets: better, same, worse or unknown.
        models: the models that the verdict is about: `held_out` if at least three had no part in
            the choice, else `all`.
        notes: the rank agreement beside random subsets in words, and caveats.
    """

    rank_agreement: pd.DataFrame
    random_comparison: pd.DataFrame
    scores: pd.DataFrame
    verdict: SubsetVerdict
    models: str
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        figures = (f"{figure}: {label}" for figure, label in self.verdict.tiles)
        return [self.verdict.sentence, *figures, *self.notes]


@dataclass(frozen=True, repr=False)
class Filtered(Result):
    """The result of `smart`.

    Attributes:
        kept, removed: `Items` tables; kept items have `tags`, e.g. `retained_easy`.
        audit: a row per item with the state of each rule and the reasons (`ItemAudit`).
        rules: a row per rule: whether it ran, and how many items it judged, flagged and removed
            (`RuleCoverage`).
        verdicts: a row per item and rule (`Verdicts`).
        groups: duplicate and similar items (`Groups`).
        embeddings: vectors of the items, which other calls can reuse (`Embeddings`).
        filter_models: the models whose responses decided.
        evidence: how well the kept items rank models.
    """

    kept: pd.DataFrame
    removed: pd.DataFrame
    audit: pd.DataFrame
    rules: pd.DataFrame
    verdicts: pd.DataFrame
    groups: pd.DataFrame
    embeddings: pd.DataFrame
    filter_models: tuple[str, ...]
    evidence: Evidence

    def lines(self) -> list[str]:
        verdict, *others = self.evidence.lines()
        idle = self.rules[self.rules["status"] == "not_run"]
        cautious = self.rules[self.rules["reason"].str.contains("reported, not removed")]
        return [
            verdict,
            *(f"{row.rule} did not run: {row.reason}" for row in idle.itertuples()),
            *(f"{row.rule} removed nothing: {row.reason}" for row in cautious.itertuples()),
            *others,
        ]


@dataclass(frozen=True, repr=False)
class Perturbed(Result):
    """The result of `perturb`.

    Attributes:
        items: the copies; key (condition, role, item_id) (`PerturbedItems`).
        changes: what each transform did to each item (`PerturbationChanges`).
    """

    items: pd.DataFrame
    changes: pd.DataFrame

    def lines(self) -> list[str]:
        copies = self.items["condition"].nunique()
        altered = self.changes["altered"].mean()
        return [f"{count(copies, 'copy')}; transforms alter {altered:.0%} of the items"]


@dataclass(frozen=True, repr=False)
class Sampled(Result):
    """The result of `sample`.

    Attributes:
        kept: the chosen items in the order of choice, with `weight`; weights sum to 1.
        manifest: what `estimate` needs to know of the subset.
    """

    kept: pd.DataFrame
    manifest: SubsetManifest

    def lines(self) -> list[str]:
        chosen = self.manifest
        return [f"{len(self.kept):,} of {chosen.of_items:,} items, sampler {chosen.sampler}"]


@dataclass(frozen=True, repr=False)
class Estimates(Result):
    """The result of `estimate`.

    Attributes:
        scores: a row per model: `score` on all items with `low`, `high` and `se`, the plain mean
            `on_subset`, and `reason` where there is no estimate.
        estimator: its name.
        notes: caveats.
    """

    scores: pd.DataFrame
    estimator: str
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        return [f"{count(len(self.scores), 'model')}, estimator {self.estimator}", *self.notes]
