"""The panel: the models of the evaluation, and the items that all of them answered."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import count_models, models_of
from benchwright.core.item_clusters import item_clusters
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.paired_differences import clearly_better

FEWEST_HELD_OUT = 3
"""With fewer held-out models, rank correlations are meaningless."""


class Panel(NamedTuple):
    """The models and items of all metrics about models."""

    models: tuple[str, ...]  # names in alphabetical order
    # by model: `filter` (filter model), `same_family` (of the family of a filter model, so not held
    # out) or `held_out`.
    roles: tuple[str, ...]
    item_ids: tuple[str, ...]  # judged items that every panel model answered, sorted
    judged: int  # number of judged items
    basis: str  # which items are judged, in words
    # models that answered too few items, alphabetically, with the share that they answered
    left_out: Mapping[str, float]
    all_items: int  # number of items of the benchmark
    # held-out models of unknown family: any of them may be of the family of a filter model.
    unknown_family: int = 0
    families: Mapping[str, str] = MappingProxyType({})  # of each model; of its own where missing

    def select(self, role: str) -> list[str]:
        """Return the models of one role, or all of them for `all`."""
        return [m for m, r in zip(self.models, self.roles, strict=True) if role in ("all", r)]


def choose_panel(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    models_table: pd.DataFrame,
    filter_models: list[str],
    evaluation_models: Sequence[str],
    evaluation: EvaluationParams,
) -> Panel:
    """Choose the models of the panel, and the items that all of them answered.

    Judged items are those that all filter models answered; if there are none, those that at least
    half of the models answered. A model joins the panel if it answered `min_coverage` of them.
    `evaluation_models` is "all" or the names of the candidates.
    """
    item_ids = tuple(sorted(items["item_id"].astype(str).tolist()))
    matrix = response_matrix.select_items(item_ids)
    answered = matrix.answered()
    judged, basis = _judged_items(matrix.models, answered, filter_models)

    candidates = sorted(set(matrix.models if evaluation_models == "all" else evaluation_models))
    shares = (answered & judged).sum(axis=1) / max(int(judged.sum()), 1)
    known = dict(zip(matrix.models, shares.tolist(), strict=True))
    coverage = {model: known.get(model, 0.0) for model in candidates}
    models = tuple(m for m in candidates if coverage[m] >= evaluation.min_coverage)
    chosen_by = set(families_of(filter_models, models_table))
    families = dict(zip(models, families_of(models, models_table), strict=True))
    roles: list[str] = []
    held_out: list[str] = []
    for model, family in families.items():
        if model in filter_models:
            roles.append("filter")
        elif family in chosen_by:
            roles.append("same_family")
        else:
            roles.append("held_out")
            held_out.append(model)
    of_panel = [model in families for model in matrix.models]
    everyone = judged & answered[of_panel].all(axis=0)
    return Panel(
        models=models,
        roles=tuple(roles),
        item_ids=tuple(item_ids[i] for i in np.flatnonzero(everyone)) if models else (),
        judged=int(judged.sum()),
        basis=basis,
        left_out={m: coverage[m] for m in candidates if m not in models},
        all_items=len(item_ids),
        unknown_family=count_unknown(set(models_of(held_out)), models_table)
        if filter_models
        else 0,
        families=families,
    )


def panel_warnings(panel: Panel, minimum: float) -> list[str]:
    """Return the caveats of metrics of this panel, one sentence each."""
    notes = []
    if not panel.models:
        missing = "No model answered enough items, so rankings are not compared"
        return [f"{missing}; a run with `score=live` in its `--params` asks the packaged models."]
    if chose := len(panel.select("filter")):
        partly = "partly " if chose < len(panel.models) else ""
        notes.append(
            f"{chose} of {count_models(panel.models)} are filter models, so agreement over all of "
            f"them is {partly}in-sample."
        )
    if kin := panel.select("same_family"):
        notes.append(
            f"Not held out: {count_models(kin)} of the same family as a filter model, or a filter "
            "model asked in another way."
        )
    if panel.unknown_family:
        held_out = len(panel.select("held_out"))
        notes.append(
            f"The base of {panel.unknown_family:,} of the {held_out:,} held-out models "
            f"({panel.unknown_family / held_out:.0%}) is unknown, so some of them may be of the "
            "family of a filter model; set it in `models.families`. "
            + share_of_families(panel.families, panel.families.values())
        )
    if panel.left_out:
        limit = "not all" if minimum >= 1 else f"less than {minimum:.0%}"
        out = count_models(list(panel.left_out))
        notes.append(f"Left out: {out} with {limit} of the judged items answered.")
    if 2 * len(panel.item_ids) < panel.all_items:
        notes.append(
            f"Models are compared on the {len(panel.item_ids):,} of {panel.all_items:,} items that "
            "all of them answered."
        )
    return notes


def _judged_items(
    models: Sequence[str], answered: NDArray[np.bool_], filter_models: list[str]
) -> tuple[NDArray[np.bool_], str]:
    """Return (n,) True for judged items, and a description of them."""
    if filter_models and set(filter_models) <= set(models):
        rows = [models.index(model) for model in filter_models]
        judged: NDArray[np.bool_] = np.logical_and.reduce(answered[rows])
        if judged.any():
            return judged, f"items that all {len(rows)} filter models answered"
    half: NDArray[np.bool_] = 2 * answered.sum(axis=0) >= max(len(models), 1)
    return half, "items that at least half of the models answered"


def families_of(models: Sequence[str], models_table: pd.DataFrame) -> tuple[str, ...]:
    """Return the listed family of each configuration; an unlisted model is its own family."""
    listed = dict(zip(models_table["model"], models_table["family"], strict=True))
    pairs = zip(models, models_of(models), strict=True)
    return tuple(str(listed.get(full, listed.get(name, name))) for full, name in pairs)


def known_bases(models_table: pd.DataFrame) -> pd.DataFrame:
    """Return the models whose family is neither their own name nor their organisation."""
    family = models_table["family"]
    named_after = (family == models_table["model"]) | (family == models_table["organisation"])
    return models_table[family.notna() & ~named_after]


def count_unknown(models: Iterable[str], models_table: pd.DataFrame) -> int:
    """Count the models, without style and shots, whose base model is unknown."""
    known = set(known_bases(models_table)["model"])
    return sum(model not in known for model in models)


def share_of_families(models: Iterable[str], families: Iterable[str]) -> str:
    """Say how many models have a family other than themselves: a base model or an organisation."""
    known = [own != name for own, name in zip(families, models_of(models), strict=True)]
    return f"With organisations for unknown bases, {sum(known):,} of {len(known):,} have a family."


class PanelAnswers(NamedTuple):
    """Correctness of m models on the n items that all of them answered."""

    models: tuple[str, ...]  # m names, in the order asked for
    item_ids: tuple[str, ...]  # n ids, sorted
    correct: NDArray[np.float64]  # (m, n) float64 in [0, 1]
    # (n,) labels; items that share a passage or a stem are not independent.
    clusters: NDArray[np.intp]
    subjects: NDArray[np.intp]  # (n,) labels of the subjects

    def among(self, item_ids: set[str]) -> NDArray[np.bool_]:
        """Mark (n,) which items are in `item_ids`."""
        return np.array([item in item_ids for item in self.item_ids], dtype=bool)

    def of(self, models: list[str]) -> NDArray[np.float64]:
        """Return the rows of some of the models, in the given order."""
        row = {model: i for i, model in enumerate(self.models)}
        return self.correct[[row[model] for model in models]]


def panel_responses(
    response_matrix: ResponseMatrix, items: pd.DataFrame, panel: Panel, models: list[str]
) -> PanelAnswers:
    """Return the answers of `models` to the panel's items."""
    chosen = response_matrix.select_models(models).select_items(panel.item_ids)
    place = pd.Index(items["item_id"].astype(str)).get_indexer(pd.Index(panel.item_ids))
    if (place < 0).any():
        raise KeyError(f"{panel.item_ids[int(np.argmin(place))]} is not among the items")
    rows = items[["item_id", "subject", "passage_id", "question"]].iloc[place]
    subjects = pd.factorize(rows["subject"], sort=True)[0].astype(np.intp)
    clusters = item_clusters(rows.reset_index(drop=True))
    return PanelAnswers(
        tuple(models),
        panel.item_ids,
        chosen.correct.astype(np.float64),
        np.asarray(clusters, dtype=np.intp),
        subjects,
    )


def clear_pairs(
    correct: NDArray[np.floating], clusters: NDArray[np.integer], models: Sequence[str]
) -> NDArray[np.bool_]:
    """Mark the pairs (m, m) of at least three models whose first is significantly better."""
    names = np.array(models_of(models))
    enough = len(set(names)) >= FEWEST_HELD_OUT
    return enough & (names[:, None] != names) & clearly_better(correct, clusters)


def headline_group(panel: Panel) -> str:
    """Return the models of the headline: `held_out` if there are enough, else `all`."""
    held_out = set(models_of(panel.select("held_out")))
    return "held_out" if len(held_out) >= FEWEST_HELD_OUT else "all"
