"""What the functions of the API return."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.datasets.subset_manifest import SubsetManifest

_HARM = "do not rank models by these items: they rank held-out models less well than random items"


class Result:
    """Base of the results, whose repr has a headline, caveats and the names of the tables."""

    def lines(self) -> list[str]:
        """Return the headline and the caveats."""
        raise NotImplementedError

    def __repr__(self) -> str:
        tables = {name: it for name, it in vars(self).items() if isinstance(it, pd.DataFrame)}
        rows = ", ".join(f".{name} ({len(table):,} rows)" for name, table in tables.items())
        return "\n  ".join([f"{type(self).__name__}: {self.lines()[0]}", *self.lines()[1:], rows])


@dataclass(frozen=True, repr=False)
class Evidence(Result):
    """Whether a subset ranks models as all items do.

    Attributes:
        rank_agreement: agreement of the rankings with intervals over items and over models
            (`RankAgreementTable`); `models` is all, filter, held_out or stronger.
        random_comparison: the same metrics beside random subsets of the same size
            (`RandomComparison`), with percentiles and p-values.
        scores: accuracy and rank of each model on all items and on the subset (`Scores`).
        models: the models that the headline is about: `held_out` if at least three had no part in
            the choice, else `all`.
        notes: caveats, e.g. that agreement is in-sample.
    """

    rank_agreement: pd.DataFrame
    random_comparison: pd.DataFrame
    scores: pd.DataFrame
    models: str
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        tau = self._tau_b(self.rank_agreement)
        if tau is None or pd.isna(tau.value):
            return [*self.notes] or ["rankings are not compared"]
        interval = "" if pd.isna(tau.low) else f" [{tau.low:.3f}, {tau.high:.3f}]"
        judging = self.scores["model"][
            (self.scores["role"] == self.models) | (self.models == "all")
        ]
        text = f"tau-b {tau.value:.3f}{interval} over {count_models([*judging])} ({self.models})"
        plain = self.random_comparison.query("method == 'kept' and random == 'plain'")
        beside = self._tau_b(plain)
        if beside is not None:
            text += f", percentile {beside.percentile:.0f} among random subsets"
        if beside is not None and self.models == "held_out" and tau.value < beside.random_low:
            return [_HARM, text, *self.notes]
        return [text, *self.notes]

    def _tau_b(self, table: pd.DataFrame) -> Any:
        of_models = (table["models"] == self.models) & (table["metric"] == "kendall_tau_b")
        return next(table[of_models].itertuples(), None)


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
        idle = self.rules[self.rules["status"] == "not_run"]
        evidence = self.evidence.lines()
        harm = [evidence.pop(0)] if evidence[0] == _HARM else []
        return [
            *harm,
            f"{len(self.kept):,} of {len(self.audit):,} items kept",
            *(f"{row.rule} did not run: {row.reason}" for row in idle.itertuples()),
            *evidence,
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
        copies, altered = self.items["condition"].nunique(), self.changes["altered"].mean()
        return [f"{copies} copies; transforms alter {altered:.0%} of the items"]


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
        return [f"{len(self.scores)} models, estimator {self.estimator}", *self.notes]
