"""The command `benchwright estimate`: scores from responses to an exported subset."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.answers.table import Answers
from benchwright.cli import cli
from benchwright.cli.estimate import terminal_lines
from benchwright.core.errors import InputError
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.exports.subset_manifest import SubsetItem, SubsetManifest, hashed, ids_hash
from benchwright.methods.dele.estimation.estimated_scores import Estimated, estimate_scores
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training

N, K, M = 120, 30, 40
IDS = tuple(f"b/{n}" for n in range(N))


def world(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1, (M, 1)) - rng.normal(0, 1.2, (1, N))
    return (rng.random((M, N)) < 1 / (1 + np.exp(-2 * logits))).astype(np.float32)


CORRECT = world()
CHOSEN = np.random.default_rng(5).permutation(N)[:K]


def manifest(sampler: str = "random", weights: np.ndarray | None = None) -> SubsetManifest:
    given = np.full(K, 1 / K) if weights is None else weights
    items = tuple(
        SubsetItem(item_id=IDS[n], weight=w, content_hash=f"h{n}")
        for n, w in zip(CHOSEN, given.tolist(), strict=True)
    )
    return SubsetManifest(
        benchmark="b",
        sampler=sampler,
        seed=0,
        rate=25,
        of_items=N,
        of_items_hash=ids_hash(IDS),
        items_hash=ids_hash(hashed(items)),
        equal_weights=weights is None,
        scoring="",
        items=items,
    )


def new(rows: Any = slice(0, 3), ids: tuple[str, ...] | None = None) -> Answers:
    """Return responses to the subset only, in the order of ids."""
    places = np.sort(CHOSEN)
    names = tuple(IDS[n] for n in places) if ids is None else ids
    correct = CORRECT[rows][:, places]
    return Answers("new", tuple(f"n{i}" for i in range(len(correct))), names, correct)


def known(correct: np.ndarray = CORRECT[3:], **changes: Any) -> Answers:
    models = tuple(f"t{i:02d}" for i in range(len(correct)))
    return Answers("training", models, IDS, correct)._replace(**changes)


def oracle(name: str, weights: np.ndarray | None = None) -> Any:
    subset = WeightedSubset(CHOSEN, np.full(K, 1 / K) if weights is None else weights)
    fitted = ESTIMATORS[name].fit(Training(CORRECT[3:]), subset, 0)
    return fitted(CORRECT[:3][:, CHOSEN])


UNEQUAL = np.arange(1, K + 1) / (K * (K + 1) / 2)


@pytest.mark.parametrize(
    ("sampler", "weights", "name"),
    [
        ("random", None, "aipw"),
        ("stratified", None, "aipw"),
        ("flesch", None, "gp_irt"),
        ("anchor_points", UNEQUAL, "weighted"),
        ("random", UNEQUAL, "weighted"),
    ],
)
def test_default_estimator_depends_on_the_sampler_and_weights(
    sampler: str, weights: np.ndarray | None, name: str
) -> None:
    estimated = estimate_scores(manifest(sampler, weights), new(), known())
    assert estimated.estimator == name
    expected = oracle(name, weights)
    assert [m.score for m in estimated.models] == pytest.approx(expected.score.tolist())
    assert [m.low for m in estimated.models] == pytest.approx(expected.low.tolist())
    assert [m.high for m in estimated.models] == pytest.approx(expected.high.tolist())
    w = np.full(K, 1 / K) if weights is None else weights
    assert [m.on_subset for m in estimated.models] == pytest.approx(
        (CORRECT[:3][:, CHOSEN] @ w).tolist()
    )
    assert {m.answered for m in estimated.models} == {K}
    assert estimated.of_items == N
    assert estimated.notes == ()


def test_random_subset_without_training_models_uses_the_mean() -> None:
    estimated = estimate_scores(manifest(), new(), None)
    assert (estimated.estimator, estimated.training, estimated.of_items) == ("mean", 0, N)
    assert [m.score for m in estimated.models] == [m.on_subset for m in estimated.models]
    assert all(m.low < m.score < m.high for m in estimated.models)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("subset", "estimator", "message"),
    [
        (manifest("flesch"), "auto", "gp_irt on a subset of the sampler flesch needs training"),
        (manifest("flesch"), "mean", "mean on a subset of the sampler flesch needs training"),
        (manifest(), "aipw", "aipw on a subset of the sampler random needs training"),
        (manifest(), "magic", "'magic': expected one of auto, mean"),
    ],
)
def test_missing_training_models_and_unknown_estimators_are_rejected(
    subset: SubsetManifest, estimator: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        estimate_scores(subset, new(), None, estimator)


def test_foreign_and_missing_responses_have_one_note_each() -> None:
    answers = new()
    correct = np.hstack([answers.correct, np.ones((3, 2), np.float32)])
    correct[1, :4] = np.nan
    strange = answers._replace(item_ids=(*answers.item_ids, "x/1", "x/2"), correct=correct)
    estimated = estimate_scores(manifest(), strange, known())
    first = next(name for name in manifest().item_ids if name in answers.item_ids[:4])
    assert estimated.notes == (
        "ignored items outside the subset: 2, e.g. x/1",
        f"models with missing responses: 1; n1 misses the most, 4 of 30, e.g. {first}",
    )
    assert [m.answered for m in estimated.models] == [30, 26, 30]
    assert "4 of 30 responses are missing" in estimated.models[1].reason


def test_responses_to_other_items_are_rejected() -> None:
    with pytest.raises(InputError, match="0 of the subset's 30 items are answered"):
        estimate_scores(manifest(), new(ids=tuple(f"x/{n}" for n in range(K))), known())


def test_new_models_are_left_out_of_training() -> None:
    names = ("n0@letters-5", *(f"t{i:02d}" for i in range(1, M - 3)))
    estimated = estimate_scores(manifest(), new(), known(models=names))
    assert estimated.training == M - 4
    assert estimated.notes == ("ignored training models, which are new models: 1",)


def test_training_responses_without_an_item_of_the_subset_are_rejected() -> None:
    gaps = CORRECT[3:].copy()
    gaps[:, CHOSEN[0]] = np.nan
    with pytest.raises(
        InputError, match=rf"no training model answered 1 .* e\.g\. {IDS[CHOSEN[0]]}"
    ):
        estimate_scores(manifest(), new(), known(gaps))


def test_items_with_few_training_responses_are_left_out() -> None:
    others = [n for n in range(N) if n not in set(CHOSEN)]
    gaps = CORRECT[3:].copy()
    gaps[:30, others[:20]] = np.nan
    gaps[:30, CHOSEN[0]] = np.nan  # of the subset: stays
    estimated = estimate_scores(manifest(), new(), known(gaps))
    assert estimated.of_items == N - 20
    assert (
        "training models answered 100 items, but the subset was chosen from 120"
        in estimated.notes[0]
    )


def test_families_are_left_out_together() -> None:
    families = {f"t{i:02d}": f"family {i // 8}" for i in range(M - 3)}
    subset = manifest("flesch")
    alone, grouped = (
        estimate_scores(subset, new(), known(families=given)) for given in ({}, families)
    )
    assert [m.score for m in alone.models] != [m.score for m in grouped.models] or [
        m.low for m in alone.models
    ] != [m.low for m in grouped.models]


def test_output_has_one_line_per_model() -> None:
    estimated: Estimated = estimate_scores(manifest(), new(), known())
    lines = terminal_lines(estimated)
    assert lines[0].startswith(
        "b: 30 of 120 items, sampler random, seed 0; estimator aipw, 37 training"
    )
    assert len(lines) == 2 + 3
    first = estimated.models[0]
    assert f"{first.score:.3f}    [{first.low:.3f}, {first.high:.3f}]" in lines[2]


def test_command_reads_a_table_and_writes_json(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(
        json.dumps({"subset": manifest().model_dump(mode="json")})
    )
    places = np.sort(CHOSEN)
    frame = pd.DataFrame(CORRECT[:3][:, places], columns=[IDS[n] for n in places])
    frame.insert(0, "model", ["n0", "n1", "n2"])
    frame.to_csv(tmp_path / "new.csv", index=False)
    training = pd.DataFrame(CORRECT[3:].T, columns=[f"t{i:02d}" for i in range(M - 3)])
    training.insert(0, "item_id", IDS)
    training.to_parquet(tmp_path / "training.parquet")
    words = ["estimate", str(tmp_path / "new.csv"), "--subset", str(tmp_path)]
    words += ["--training", str(tmp_path / "training.parquet"), "--out", str(tmp_path / "o.json")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    saved = json.loads((tmp_path / "o.json").read_text())
    expected = estimate_scores(manifest(), new(), known())
    assert [m["score"] for m in saved["models"]] == pytest.approx(
        [m.score for m in expected.models], abs=1e-6
    )
    assert saved["estimator"] == "aipw"
    assert saved["training"]["models"] == M - 3
    assert saved["subset"]["n_items"] == K
    missing = CliRunner().invoke(cli, [*words[:3], str(tmp_path / "no")])
    assert missing.exit_code == 3
    assert missing.stderr.strip().count("\n") == 0
