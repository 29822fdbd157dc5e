"""The commands `benchwright compare` and `benchwright gate` on tables and logs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from benchwright.cli import cli
from benchwright.cli.compare import Pair, Side, compare, read_pair
from benchwright.cli.gate import GateRequest, gate_subset, item_order
from benchwright.core.errors import InputError
from benchwright.methods.dele.estimation.subset_scores import estimate_scores
from benchwright.responses.known_responses import KnownResponses
from benchwright.statistics.paired_tests import mcnemar_mid_p
from cli.test_estimate import CHOSEN, CORRECT, K, M, manifest
from cli.test_estimate import IDS as SUBSET_IDS

N = 200
IDS = [f"q/{n}" for n in range(N)]


def answers(shift: float, seed: int = 0) -> np.ndarray:
    """Answers of a model that keeps most of those of a common one."""
    rng = np.random.default_rng(0)
    common = (rng.random(N) < 0.6).astype(float)
    rng = np.random.default_rng(seed + 1)
    changed = rng.random(N) < 0.3
    return np.where(changed, rng.random(N) < 0.5 + shift, common).astype(float)


def table(file: Path, **models: np.ndarray) -> Path:
    pd.DataFrame({"item_id": IDS, **models}).to_csv(file, index=False)
    return file


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_difference_is_of_items_that_both_answered(tmp_path: Path) -> None:
    first, second = answers(0), answers(0.3, seed=3)
    first[:3], second[-5:] = np.nan, np.nan
    a, b = table(tmp_path / "a.csv", m=first), table(tmp_path / "b.csv", m=second)
    made = compare(read_pair(str(a), str(b), None, None))
    d = (second - first)[3:-5]
    assert (made.pair.first.only, made.pair.second.only) == (5, 3)
    assert made.overall.difference == pytest.approx(d.mean())
    assert (made.better, made.worse) == ((d > 0).sum(), (d < 0).sum())
    assert made.p_value == mcnemar_mid_p(made.better, made.worse)
    done = run("compare", a, b)
    assert done.exit_code == 0, done.output
    assert "items: 192 answered by both; left out: 5 only by A, 3 only by B" in done.output


def test_subjects_and_passages_come_from_a_table_of_items(tmp_path: Path) -> None:
    a, b = table(tmp_path / "a.csv", m=answers(0)), table(tmp_path / "b.csv", m=answers(0.4, 2))
    about = {"subject": ["x", "y"] * (N // 2), "passage_id": [f"p{n // 4}" for n in range(N)]}
    pd.DataFrame({"item_id": IDS, **about}).to_csv(tmp_path / "items.csv", index=False)
    words = ("--items", tmp_path / "items.csv", "--out", tmp_path / "o.json")
    done = run("compare", a, b, *words, "--page", tmp_path / "o.html")
    assert done.exit_code == 0, done.output
    assert "in 50 clusters" in done.output
    saved = json.loads((tmp_path / "o.json").read_text())
    rows = saved["subjects"]
    assert [row["subject"] for row in rows] == ["x", "y"]
    assert sum(row["better"] for row in rows) == saved["better"]
    assert min(row["holm"] for row in rows) == 2 * min(row["p_value"] for row in rows)
    page = (tmp_path / "o.html").read_text()
    assert "p (Holm)" in page
    assert "m compared with m" in page


def test_model_is_the_one_named_or_the_one_that_both_have(tmp_path: Path) -> None:
    many = table(tmp_path / "many.csv", m=answers(0), n=answers(0.2, 5), **{"o:7b": answers(0, 9)})
    one = table(tmp_path / "one.csv", n=answers(0))
    assert read_pair(str(many), str(one), None, None).first.model == "n"
    assert read_pair(f"{many}:o:7b", str(one), None, None).first.model == "o:7b"
    assert read_pair(str(many), str(many), "m", "n").second.model == "n"
    assert read_pair(f"{many}:m", str(many), None, None).second.model == "m"
    two = table(tmp_path / "two.csv", x=answers(0), y=answers(0))
    with pytest.raises(InputError, match=r"two.csv has 2 models; choose one .*PATH:MODEL: x, y"):
        read_pair(str(one), str(two), None, None)
    with pytest.raises(InputError, match=r"no model 'z'; expected one of x, y"):
        read_pair(str(one), f"{two}:z", None, None)
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_pair(str(tmp_path / "none.csv"), str(one), None, None)


def test_unreadable_answers_count_as_wrong_in_both(shared_data: Path) -> None:
    logs = shared_data / "logs" / "inspect"
    pair = read_pair(f"{logs / 'arc12'}:mockllm/answerer-a", str(logs / "hf_logprobs"), None, None)
    assert (pair.second.unreadable, pair.second.accuracy, pair.first.only) == (4, 0.0, 8)
    failed = read_pair(str(logs / "errors"), f"{logs / 'arc12'}:mockllm/answerer-b", None, None)
    assert failed.first.unreadable == 0
    assert len(failed.item_ids) == 12


@pytest.mark.parametrize(
    ("shift", "margin", "code", "word"),
    [(0.5, 0.02, 0, "not worse"), (-0.5, 0.02, 1, "worse"), (0.0, 0.001, 2, "undecided")],
)
def test_exit_code_is_the_decision(
    tmp_path: Path, shift: float, margin: float, code: int, word: str
) -> None:
    a, b = table(tmp_path / "a.csv", m=answers(0)), table(tmp_path / "b.csv", m=answers(shift, 4))
    done = run("gate", a, b, "--margin", margin, "--out", tmp_path / "g.json")
    assert done.exit_code == code, done.output
    assert done.output.startswith(f"{word}: B − A ")
    saved = json.loads((tmp_path / "g.json").read_text())
    gate = saved["gate"]
    assert (gate["decision"], gate["exit_code"]) == (word, code)
    assert (gate["low"], gate["high"]) == (saved["low"], saved["high"])
    assert saved["level"] == pytest.approx(0.9)
    assert (gate["low"] > -margin, gate["high"] < -margin) == (code == 0, code == 1)


def test_mistakes_and_failures_never_look_like_a_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = table(tmp_path / "a.csv", m=answers(0))
    assert run("gate", a, tmp_path / "none.csv", "--margin", 0.01).exit_code == 3
    assert run("gate", a, a).exit_code == 3
    assert run("gate", a, a, "--margin", "x").exit_code == 3
    assert run("gate", a, a, "--margin", 0.1, "--no-such-option").exit_code == 3

    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("benchwright.cli.gate.gate_all", fails)
    assert run("gate", a, a, "--margin", 0.01).exit_code == 3


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_anytime_decides_alike_on_all_answers_and_on_the_first(
    tmp_path: Path, margin: float
) -> None:
    first, second = answers(0), answers(0.5, 4)
    a, b = table(tmp_path / "a.csv", m=first), table(tmp_path / "b.csv", m=second)
    words = ("--margin", margin, "--anytime", "--seed", 7, "--out", tmp_path / "g.json")
    assert run("gate", a, b, *words, "--order", tmp_path / "order.txt").exit_code == 0
    whole = json.loads((tmp_path / "g.json").read_text())["gate"]
    assert 0 < whole["stopped_after"] < whole["of_items"] == N
    order = (tmp_path / "order.txt").read_text().splitlines()
    assert sorted(order) == sorted(IDS)
    assert order == item_order(IDS[::-1], 7) != item_order(IDS, 8)
    for answered in (whole["stopped_after"], whole["stopped_after"] - 1):
        known = np.where(np.isin(IDS, order[:answered]), second, np.nan)
        done = run("gate", a, table(tmp_path / "part.csv", m=known), *words)
        assert done.exit_code == (0 if answered == whole["stopped_after"] else 2), done.output
        part = json.loads((tmp_path / "g.json").read_text())["gate"]
        assert (part["answered"], part["of_items"]) == (answered, N)


def test_anytime_without_a_margin_needs_whole_answers(tmp_path: Path) -> None:
    a = table(tmp_path / "a.csv", m=answers(0))
    half = table(tmp_path / "b.csv", m=answers(0) / 2)
    done = run("gate", a, half, "--margin", 0, "--anytime")
    assert (done.exit_code, "answers of 0 or 1" in done.output) == (3, True)
    assert run("gate", a, half, "--margin", 0.1, "--anytime").exit_code == 1


def test_subset_decides_by_the_difference_of_the_two_estimates() -> None:
    training = KnownResponses("t", tuple(f"t{m}" for m in range(M)), SUBSET_IDS, CORRECT)
    known = training._replace(models=(*training.models[2:], "a", "b"))
    pair, random = subset_pair(), manifest()
    made = gate_subset(pair, random, known, GateRequest(0.05, 0.05))
    alone = known._replace(models=known.models[:-2], correct=known.correct[:-2])
    by = {
        name: estimate_scores(random, answers_of(pair, at), alone, "aipw").models[0].score
        for at, name in enumerate("ab")
    }
    assert made.figures["estimate"] == pytest.approx(by["b"] - by["a"], abs=0.02)
    assert made.figures["low"] < made.figures["estimate"] < made.figures["high"]
    assert "estimated by aipw" in made.reason
    without = gate_subset(pair, random, None, GateRequest(0.05, 0.05))
    assert without.figures["estimate"] == pytest.approx(float(pair.d.mean()), abs=1e-6)
    weights = np.arange(1.0, K + 1) / np.arange(1.0, K + 1).sum()
    with pytest.raises(InputError, match="the sampler anchor_points chooses items"):
        gate_subset(pair, manifest("anchor_points", weights), known, GateRequest(0.05, 0.05))


def subset_pair() -> Pair:
    ids = manifest().item_ids
    answers = CORRECT[[20, 31]][:, CHOSEN].astype(np.float64)
    sides = [
        Side("s", name, float(row.mean()), 0, 0) for name, row in zip("ab", answers, strict=True)
    ]
    return Pair(*sides, ids, answers, np.arange(K), None, frozenset(), ())


def answers_of(pair: Pair, at: int) -> KnownResponses:
    return KnownResponses("s", ("new",), pair.item_ids, pair.answers[at : at + 1].astype("f4"))
