"""The commands `benchwright compare` and `benchwright gate` on tables and logs."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from answers.lm_eval_examples import results, scored, write_log
from benchwright.answers.answer_files import Choice
from benchwright.cli import cli
from benchwright.core.errors import InputError
from benchwright.statistics.paired_intervals import exact_interval
from benchwright.statistics.paired_tests import mcnemar_mid_p
from benchwright.verdicts.compare import compare, flips, group_lines
from benchwright.verdicts.gate import GateRequest, gate_subset, item_order
from benchwright.verdicts.pair import Pair, Side, read_pair
from cli.test_estimate import CHOSEN, CORRECT, K, manifest
from cli.test_estimate import IDS as SUBSET_IDS
from few_examples import few_examples

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
    a, b = table(tmp_path / "a.csv", m=first), table(tmp_path / "b.csv", n=second)
    made = compare(read_pair(str(a), str(b)))
    d = (second - first)[3:-5]
    assert (made.pair.first.missing, made.pair.second.missing) == (3, 5)
    assert made.overall.difference == pytest.approx(d.mean())
    assert (made.better, made.worse) == ((d > 0).sum(), (d < 0).sum())
    assert made.p_value == mcnemar_mid_p(made.better, made.worse)
    worst = np.concatenate([second[:3] - 1, d, 0 - first[-5:]])
    assert made.worst.difference == pytest.approx(worst.mean())
    assert made.best.difference == pytest.approx(worst.mean() + 8 / N)
    done = run("compare", a, b)
    assert done.exit_code == 0, done.output
    missing = "missing: 3 of 200 answers of A (1.5%) and 5 of 200 answers of B (2.5%)"
    assert done.output.startswith(f"{missing}\nno difference is shown: n minus m is ")
    assert "items: 192 answered by both" in done.output


def test_items_of_wide_tables_that_neither_answered_count_as_asked(tmp_path: Path) -> None:
    first, second = answers(0), answers(0)
    first[:100] = second[:100] = np.nan
    a = table(tmp_path / "a.csv", m=first, n=second, o=answers(0), never=np.full(N, np.nan))
    done = run("gate", f"{a}:m", f"{a}:n", "--margin", 0.18)
    assert done.exit_code == 2
    both = "100 of 200 answers of A (50.0%) and 100 of 200 answers of B (50.0%)"
    assert done.output.startswith(f"missing: {both}\n")
    assert read_pair(f"{a}:o", f"{a}:o").first.missing == 0


@pytest.mark.parametrize("start", [0, 1])
def test_items_without_each_repeat_are_missing(tmp_path: Path, start: int) -> None:
    rows = pd.DataFrame({"item_id": IDS * 2, "repeat": np.repeat([start, start + 1], N)})
    rows["score"] = np.concatenate([answers(0), answers(0, seed=1)])
    rows.to_csv(a := tmp_path / "a.csv", index=False)
    assert run("gate", a, a, "--margin", 0.05).exit_code == 0
    failed = rows["repeat"].eq(start + 1) & rows["score"].eq(0)
    rows.assign(score=rows["score"].mask(failed)).to_csv(b := tmp_path / "b.csv", index=False)
    done = run("gate", a, b, "--margin", 0.05)
    assert done.exit_code == 2
    assert done.output.startswith(f"missing: {failed.sum()} of 200 answers of B")
    assert len(read_pair(str(a), str(b)).item_ids) == N


def test_other_answer_keys_are_said_before_the_verdict(tmp_path: Path) -> None:
    for name, other in (("org-a", 0), ("org-b", 0), ("org-c", 2)):
        rows = []
        for number in range(6):
            gold = (number + (number < other)) % 4
            doc = {"question": f"Question {number}?", "choices": ["2", "x", "0", "z"]}
            logprobs = [0 if option == number % 3 else -2 for option in range(4)]
            options = [f" {choice}" for choice in doc["choices"]]
            rows.append(scored(number, doc | {"answer": gold}, options, logprobs, gold))
        write_log(tmp_path / name, rows, "exam", results("exam", model=f"{name}/m"))
    for command in (("compare",), ("gate", "--margin", "0.3")):
        done = run(*command, tmp_path / "org-a", tmp_path / "org-c")
        said = "2 answers of org-c/m contrary to an answer key: "
        said += "16.67% right by its log, 50.00% by the key in use; see the notes\n"
        assert done.output.startswith(said)
        assert "2 gold differs, e.g. exam/0" in done.output
        done = run(*command, tmp_path / "org-a", tmp_path / "org-b")
        assert "contradict" not in done.output


def test_items_that_one_side_was_not_asked_are_left_out_on_request(tmp_path: Path) -> None:
    a = table(tmp_path / "a.csv", m=answers(0))
    b = tmp_path / "b.csv"
    part = pd.DataFrame({"item_id": IDS, "model": "n", "score": answers(0.4, 3)})[:80]
    part.loc[3, "score"] = None  # asked, and not answered
    part.to_csv(b, index=False)
    whole = run("gate", a, b, "--margin", 0.02)
    assert (whole.exit_code, "add --common" in whole.output) == (2, True)
    odd = pd.DataFrame({"item_id": IDS[::2], "model": "n", "score": answers(0.4, 3)[::2]})
    odd.to_csv(tmp_path / "odd.csv", index=False)
    refused = run("gate", a, tmp_path / "odd.csv", "--margin", 0.02, "--common")
    assert refused.exit_code == 3
    assert "odd.csv does not show that n was not asked 100 items, e.g. q/1" in refused.output
    allowed = run("gate", a, tmp_path / "odd.csv", "--margin", 0.2, "--allow", "items")
    assert allowed.exit_code in (0, 2)
    assert "add --common" not in run("gate", a, tmp_path / "odd.csv", "--margin", 0.02).output
    pair = read_pair(str(a), str(b), common=True)
    assert (len(pair.item_ids), pair.left_out, pair.second.missing) == (80, 120, 1)
    done = run("gate", a, b, "--margin", 0.02, "--common")
    assert done.exit_code == 0
    assert "left out by --common: 120 items that one was not asked" in done.output


def test_subjects_and_passages_come_from_a_table_of_items(tmp_path: Path) -> None:
    a, b = table(tmp_path / "a.csv", m=answers(0)), table(tmp_path / "b.csv", m=answers(0.4, 2))
    about = {"subject": ["x", "y"] * (N // 2), "passage_id": [f"p{n // 4}" for n in range(N)]}
    pd.DataFrame({"item_id": IDS, **about}).to_csv(tmp_path / "items.csv", index=False)
    words = ("--items", tmp_path / "items.csv", "--out", tmp_path / "o.json")
    done = run("compare", a, b, *words, "--page", tmp_path / "o.html")
    assert done.exit_code == 0, done.output
    assert "in 50 clusters" in done.output
    saved = json.loads((tmp_path / "o.json").read_text())
    rows = saved["groups"]
    assert [row["name"] for row in rows] == ["x", "y"]
    assert sum(row["better"] for row in rows) == saved["better"]
    equal = saved["equal_weights"]
    assert equal["difference"] == pytest.approx(np.mean([row["difference"] for row in rows]))
    assert equal["low"] < equal["difference"] < equal["high"]
    assert min(row["holm"] for row in rows) == 2 * min(row["p_value"] for row in rows)
    page = (tmp_path / "o.html").read_text()
    assert "p (Holm)" in page
    assert "m compared with m" in page
    assert "B is worse" in page


def test_subjects_come_from_a_column_of_the_answers(tmp_path: Path) -> None:
    subjects = ["x", "y"] * (N // 2)
    a = long_table(tmp_path / "a.csv", answers(0).tolist())
    b = long_table(tmp_path / "b.csv", answers(0.4, 2).tolist(), subject=subjects)
    words = ("--out", tmp_path / "o.json", "--page", tmp_path / "o.html")
    done = run("compare", a, b, *words)
    assert "mean over 2 subjects that weigh the same" in done.output
    groups = json.loads((tmp_path / "o.json").read_text())["groups"]
    assert [(row["name"], row["items"]) for row in groups] == [("x", N // 2), ("y", N // 2)]
    assert "question" not in done.output
    assert "q/0:" not in (tmp_path / "o.html").read_text()
    again = pd.read_csv(b).assign(item_id=[f"q/{n // 2}" for n in range(N)])
    again.to_csv(tmp_path / "c.csv", index=False)
    done = run("compare", a, tmp_path / "c.csv")
    assert "c.csv: item q/0 is of subject 'x' and 'y'; give each an id of its own" in done.stderr


def test_model_is_the_one_named_or_the_only_one(tmp_path: Path) -> None:
    many = table(tmp_path / "many.csv", m=answers(0), n=answers(0.2, 5), **{"o:7b": answers(0, 9)})
    one = table(tmp_path / "one.csv", n=answers(0))
    assert read_pair(f"{many}:o:7b", str(one)).first.model == "o:7b"
    assert read_pair(f"{many}:m", f"{many}:n").second.model == "n"
    assert read_pair(f"{many}:m", str(one)).second.model == "n"
    # Also where one of them is the other side's, or an old model would be compared with itself.
    with pytest.raises(
        InputError, match=r"many.csv has 3 models; choose one as PATH:MODEL.*: m, n, o"
    ):
        read_pair(str(one), str(many))
    with pytest.raises(InputError, match=r"no model 'z'; expected one of m, n, o:7b"):
        read_pair(str(one), f"{many}:z")
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_pair(str(tmp_path / "none.csv"), str(one))


def test_unreadable_answers_count_as_wrong_in_both(shared_data: Path) -> None:
    logs = shared_data / "logs" / "inspect"
    pair = read_pair(f"{logs / 'arc12'}:mockllm/answerer-a", str(logs / "hf_logprobs"))
    assert (pair.second.unreadable, pair.second.accuracy, pair.second.missing) == (4, 0.0, 8)
    failed = read_pair(str(logs / "errors"), f"{logs / 'arc12'}:mockllm/answerer-b")
    assert failed.first.unreadable == 0
    assert len(failed.item_ids) == 12


# --- plausible mistakes ---------------------------------------------------------------------------

GOOD, POOR = np.repeat([1.0, 0.0], [150, 50]), np.repeat([1.0, 0.0], [110, 90])


def long_table(file: Path, scores: list[object], model: str = "m", **columns: object) -> Path:
    rows = {"item_id": IDS[: len(scores)], "model": model, "score": scores, **columns}
    pd.DataFrame(rows).to_csv(file, index=False)
    return file


@pytest.mark.parametrize(
    ("wrong", "code"),
    [("", 2), ("nan", 2), ("error", 1), ("[invalid]", 1), ("inf", 3), ("-1", 3), (None, 2)],
)
def test_wrong_answers_that_are_missing_or_malformed_do_not_pass(
    tmp_path: Path, wrong: str | None, code: int
) -> None:
    a = long_table(tmp_path / "a.csv", GOOD.tolist())
    scores = pd.Series(POOR).astype(object).where(POOR > 0, wrong)
    b = long_table(tmp_path / "b.csv", scores.tolist(), "n")
    if wrong is None:
        frame = pd.read_csv(b)
        frame[POOR > 0].to_csv(b, index=False)
    done = run("gate", a, b, "--margin", 0.02)
    assert done.exit_code == code, done.output


@pytest.mark.parametrize("factor", [5, 10, 100])
def test_scores_of_another_scale_are_refused_or_mapped(tmp_path: Path, factor: int) -> None:
    a = long_table(tmp_path / "a.csv", (factor * GOOD).tolist())
    b = long_table(tmp_path / "b.csv", (factor * POOR).tolist(), "n")
    refused = run("gate", a, b, "--margin", 0.02)
    assert refused.exit_code == 3
    assert f"--scale 0:{factor}" in refused.output
    words = ("--scale", f"0:{factor}", "--out", tmp_path / "g.json")
    done = run("gate", a, b, "--margin", 0.02 * factor, *words)
    assert done.exit_code == 1, done.output
    assert f"B − A is below −{0.02 * factor:.2f} points" in done.output
    assert json.loads((tmp_path / "g.json").read_text())["scale"] == [0, factor]


def test_one_side_of_another_scale_is_said_before_the_verdict(tmp_path: Path) -> None:
    a = long_table(tmp_path / "a.csv", GOOD.tolist())
    b = long_table(tmp_path / "b.csv", (100 * POOR).tolist(), "n")
    done = run("compare", a, b, "--scale", "0:100")
    assert done.output.startswith(
        "no score of A is above 1 of 0–100; check that both have this scale"
    )
    assert "no score" not in run("compare", b, b, "--scale", "0:100").output


def test_percents_with_a_decimal_comma_are_numbers(tmp_path: Path) -> None:
    a = long_table(tmp_path / "a.csv", ["70,5"] * 50 + ["80 %"] * 50)
    done = run("gate", a, a, "--margin", 0.02)
    assert (done.exit_code, "outside 0–1, e.g. 70.5" in done.output) == (3, True)


@pytest.mark.parametrize("kind", ["doubled", "older", "prompts", "broken"])
def test_answers_of_which_some_would_be_passed_over_are_refused(tmp_path: Path, kind: str) -> None:
    a = long_table(tmp_path / "a.csv", GOOD.tolist())
    folder = tmp_path / "b"
    folder.mkdir()
    b = long_table(folder / "z_new.csv", POOR.tolist(), "n")
    if kind == "doubled":
        frame = pd.read_csv(b)
        pd.concat([frame.assign(score=GOOD), frame]).to_csv(b, index=False)
    elif kind == "older":
        long_table(folder / "a_old.csv", GOOD.tolist(), "n")
    elif kind == "prompts":
        frame = pd.read_csv(b)
        pd.concat([frame.assign(score=GOOD, shots=0), frame.assign(shots=5)]).to_csv(b, index=False)
    else:
        (folder / "other.csv").write_text("item_id,model,score\nq,n,5\n")
    done = run("gate", a, folder, "--margin", 0.02)
    assert done.exit_code == 3, done.output


def test_few_items_decide_nothing_and_groups_are_marked_at_alpha(tmp_path: Path) -> None:
    for n, code in ((9, 2), (10, 1)):
        a = long_table(tmp_path / "a.csv", [1.0] * n)
        b = long_table(tmp_path / "b.csv", [0.0] * n, "n")
        done = run("gate", a, b, "--margin", 0.02)
        assert (done.exit_code, "fewer than 10 items, or clusters" in done.output) == (
            code,
            code == 2,
        )
    # One group has 5 changes of 5, for the worse: p = .031 by mid-p, .0625 by Holm.
    groups = np.repeat(["x", "y"], N // 2)
    items = pd.DataFrame({"item_id": IDS, "subject": groups})
    items.to_parquet(tmp_path / "items.parquet")
    a, worse = np.ones(N), np.ones(N)
    worse[:5] = 0
    for alpha, word in ((0.05, "–"), (0.07, "worse")):
        made = compare(
            read_pair(
                str(long_table(tmp_path / "a.csv", a.tolist())),
                str(long_table(tmp_path / "b.csv", worse.tolist(), "n")),
                tmp_path / "items.parquet",
            ),
            1 - 2 * alpha,
            alpha,
        )
        assert made.groups["holm"].iloc[0] == 0.0625
        assert group_lines(made)[2].split()[-1] == word


@pytest.mark.parametrize("words", [(), ("--anytime",)])
def test_unreadable_answers_that_only_the_baseline_has_may_have_been_right(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    worse = GOOD.copy()
    worse[60:90] = 0
    b = long_table(tmp_path / "b.csv", worse.tolist(), "n")
    for unread, code in ((2, 1), (60, 2)):
        a = long_table(tmp_path / "a.csv", ["#REF!"] * unread + GOOD.tolist()[unread:])
        done = run("gate", a, b, "--margin", 0.02, *words)
        assert done.exit_code == code, done.output
        said = f"{unread} of 200 answers of A are unreadable and count as wrong, {unread} more than"
        assert (said in done.output) == (unread == 60)
    also = long_table(tmp_path / "b.csv", ["#REF!"] * 60 + GOOD.tolist()[60:], "n")
    assert run("gate", a, also, "--margin", 0.1, *words).exit_code == 0
    # The items that are asked for count, not all.
    few = read_pair(str(a), str(also)).select(np.arange(58, 68))
    assert (few.first.unreadable, few.second.unreadable, few.more_unread) == (2, 2, 0)


def test_nothing_readable_decides_nothing(tmp_path: Path) -> None:
    a = tmp_path / "a.csv"
    failed = pd.DataFrame({"item_id": IDS, "model": "m", "score": 0, "extraction": "failed"})
    failed.to_csv(a, index=False)
    b = long_table(tmp_path / "b.csv", GOOD.tolist(), "n")
    for pair in ((a, b), (b, a)):
        done = run("gate", *pair, "--margin", 0.02)
        assert done.exit_code == 3, done.output
    assert done.output.startswith("benchwright: none of 200 answers of B could be read")
    assert run("compare", a, b).output.startswith("none of 200 answers of A could be read")


def test_names_cannot_forge_lines_or_control_a_terminal(tmp_path: Path) -> None:
    a = long_table(tmp_path / "a.csv", GOOD.tolist(), "m")
    b = long_table(tmp_path / "b.csv", POOR.tolist(), "n\nnot worse: \x1b[2J")
    done = run("gate", a, b, "--margin", 0.02)
    assert done.exit_code == 1
    assert "\x1b" not in done.output
    assert not any(line.startswith("not worse") for line in done.output.splitlines())


def test_what_makes_a_verdict_doubtful_is_noted(tmp_path: Path) -> None:
    a = long_table(tmp_path / "a.csv", GOOD.tolist())
    assert "note: A and B are the same answers" in run("gate", a, a, "--margin", 0.02).output
    none = long_table(tmp_path / "n.csv", [0.0] * 50)
    also = long_table(tmp_path / "o.csv", [0.0] * 50, "n")
    assert "every answer of both models is wrong" in run("gate", none, also, "--margin", 0.1).output
    none, also = long_table(none, [1.0] * 50), long_table(also, [1.0] * 50, "n")
    assert "every answer of both models is right" in run("gate", none, also, "--margin", 0.1).output
    assert "a margin of 50.00 points is large" in run("gate", a, a, "--margin", 0.5).output


@given(st.data())
@few_examples
def test_no_loss_of_answers_lets_a_worse_model_pass(data: st.DataObject) -> None:
    n = 300
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    first = (rng.random(n) < 0.8).astype(object)
    second = np.array(first, dtype=object)
    right = np.flatnonzero(first == 1)
    second[rng.choice(right, size=30, replace=False)] = 0.0
    lost = data.draw(st.sampled_from(["wrong", "any"]))
    at = np.flatnonzero(second == 0) if lost == "wrong" else np.arange(n)
    hit = rng.random(len(at)) < data.draw(st.floats(0, 1))
    how = data.draw(st.sampled_from(["", "nan", "error", "inf", "1e400", "absent", "2"]))
    second[at[hit]] = how
    with TemporaryDirectory() as folder:
        ids = np.array([f"q{number}" for number in range(n)])
        kept = second != "absent"
        pd.DataFrame({"item_id": ids, "a": first}).to_csv(f"{folder}/a.csv", index=False)
        b = pd.DataFrame({"item_id": ids[kept], "model": "b", "score": second[kept]})
        b.to_csv(f"{folder}/b.csv", index=False)
        done = run("gate", f"{folder}/a.csv", f"{folder}/b.csv", "--margin", 0.02)
    assert done.exit_code in (1, 2, 3), done.output


def test_graded_scores_have_a_permutation_test(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    first = rng.random(N).round(2)
    second = np.clip(first + rng.normal(0.1, 0.2, N), 0, 1).round(2)
    a, b = table(tmp_path / "a.csv", m=first), table(tmp_path / "b.csv", n=second)
    made = compare(read_pair(str(a), str(b)))
    assert made.p_value < 0.001
    done = run("compare", a, b)
    assert "sign-flip permutation" in done.output
    assert "McNemar" not in done.output


@pytest.mark.parametrize("n", [300, 301])
def test_a_page_lists_the_first_changed_items_and_names_the_table(tmp_path: Path, n: int) -> None:
    sides = [pd.DataFrame({"item_id": [f"q{k}" for k in range(n)], "m": mark}) for mark in (1, 0)]
    for name, side in zip("ab", sides, strict=True):
        side.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    done = run("compare", *files, "--page", tmp_path / "p.html", "--flips", tmp_path / "f.csv")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "p.html").read_text()
    assert page.count('<details class="row">') == 300
    assert ("<code>--flips FILE</code> writes all" in page) == (n > 300)
    assert len(pd.read_csv(tmp_path / "f.csv")) == n


def test_changed_items_are_listed_with_both_answers(tmp_path: Path) -> None:
    first, second = [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.5]
    a, b = long_table(tmp_path / "a.csv", first), long_table(tmp_path / "b.csv", second, "=n")
    changed = flips(read_pair(str(a), str(b)))
    assert [(f.item_id, f.first, f.second) for f in changed] == [
        ("q/2", "right", "wrong"),
        ("q/3", "right", "50.00%"),
        ("q/1", "wrong", "right"),
    ]
    words = ("--flips", tmp_path / "f.csv", "--out", tmp_path / "c.json")
    assert "q/2" in run("compare", a, b, *words).output
    assert [f["item_id"] for f in json.loads((tmp_path / "c.json").read_text())["flips"]] == [
        "q/2", "q/3", "q/1"
    ]  # fmt: skip
    assert "q/3" in (tmp_path / "f.csv").read_text(encoding="utf-8-sig")


# --- several tasks, several models ----------------------------------------------------------------


def lm_eval_log(folder: Path, task: str, scores: np.ndarray) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [
        {"doc_id": n, "doc": {"question": f"{task} {n}?"}, "target": "", "filter": "none"}
        | {"arguments": [[f"{task} {n}?", {}]], "resps": [["x"]], "filtered_resps": ["x"]}
        | {"exact_match": score, "metrics": ["exact_match"]}
        for n, score in enumerate(scores)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"samples_{task}_2025-01-01T00-00-00.jsonl").write_text(text)
    names = {"model_name": folder.name, "results": {}, "configs": {}}
    (folder / "results_2025-01-01T00-00-00.json").write_text(json.dumps(names))
    return folder


def test_each_task_has_a_verdict_and_tasks_can_weigh_the_same(tmp_path: Path) -> None:
    for name, shift in (("m", 0.0), ("n", 0.4)):
        lm_eval_log(tmp_path / name, "big", answers(shift, 3))
        lm_eval_log(tmp_path / name, "small", answers(-shift, 4)[:50])
    words = (tmp_path / "m", tmp_path / "n", "--out", tmp_path / "o.json")
    done = run("compare", *words)
    assert done.exit_code == 0, done.output
    saved = json.loads((tmp_path / "o.json").read_text())
    rows = {row["name"]: row for row in saved["groups"]}
    assert (saved["grouped_by"], list(rows)) == ("task", ["big", "small"])
    assert (rows["big"]["items"], rows["small"]["items"]) == (200, 50)
    apart = rows["big"]["difference"], rows["small"]["difference"]
    assert saved["difference"] == pytest.approx((4 * apart[0] + apart[1]) / 5)
    assert saved["equal_weights"]["difference"] == pytest.approx(sum(apart) / 2)
    alone = compare(read_pair(*map(str, words[:2]), choice=Choice(task=("small",))))
    assert rows["small"]["p_value"] == alone.p_value
    assert alone.equal_weights is None
    gated = run("gate", *words[:2], "--margin", 0.02)
    assert gated.exit_code == 0
    assert "mean over 2 tasks that weigh the same" in gated.output
    assert [line.split()[-1] for line in gated.output.splitlines()[-2:]] == ["better", "worse"]


def test_all_models_are_compared_with_a_baseline(tmp_path: Path) -> None:
    known = {"b": answers(0), "up": answers(0.5, 3), "down": answers(-0.5, 4), "like": answers(0)}
    known["part"] = np.where(np.arange(N) < 20, answers(0.5, 3), np.nan)
    many = table(tmp_path / "many.csv", **known)
    long_table(tmp_path / "other.csv", [1.0], "o").write_text("item_id,model,score\nelse,o,1\n")
    twice = long_table(tmp_path / "twice.csv", [1.0, 0.0], "twice", repeat=1)
    twice.write_text(twice.read_text().replace("q/1,", "q/0,"))
    files = [tmp_path / f"x.{kind}" for kind in ("json", "html", "csv")]
    (tmp_path / "torn.csv").write_text("item_id,model,score\n1,2,3,4\n")
    words = ("--out", files[0], "--page", files[1], "--flips", files[2])
    others = (tmp_path / "other.csv", twice, tmp_path / "torn.csv")
    done = run("compare", many, *others, "--baseline", "b", *words)
    assert done.exit_code == 0, done.output
    torn, left_out, headline, *_ = done.output.splitlines()
    assert headline.startswith("4 models against b: 1 better, 1 worse")
    assert torn.startswith(f"not read: {tmp_path}/torn.csv: line 2: 4 cells for 3 columns")
    listed = [model["unread_files"] for model in json.loads(files[0].read_text())["models"]]
    assert listed == [[torn.removeprefix("not read: ")]] * len(listed)
    assert left_out == "left out: 2 models (o, twice); see the notes"
    assert left_out in files[1].read_text()
    apart = "those of b begin with q/0, those of o begin with else"
    assert f"note: left out: no item was answered by both models; {apart}" in done.output
    assert "twice has different answers to 1 item, e.g." in done.output
    assert "note: part: missing: 180 of 200 answers of B (90.0%)" in done.output
    saved = json.loads(files[0].read_text())
    assert [model["b"]["model"] for model in saved["models"]] == ["part", "up", "like", "down"]
    up = saved["models"][1]
    made = compare(read_pair(f"{many}:b", f"{many}:up"))
    assert (up["difference"], up["p_value"]) == (made.overall.difference, made.p_value)
    assert up["p_value"] < up["holm"]
    assert "4 models compared with b" in files[1].read_text()
    assert files[2].read_text(encoding="utf-8-sig").startswith("model,item_id,change")
    missing = run("compare", many, "--baseline", "c")
    assert (missing.exit_code, "no model 'c'" in missing.output) == (3, True)
    assert "1 given of two, A and B: a log," in run("compare", many).output


@pytest.mark.parametrize(
    "kind", ["device", "folder", "input", "inside", "twice", "proc", "loop", "long"]
)
def test_results_replace_no_input_and_nothing_but_files(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    a, b = table(folder / "a.csv", m=answers(0)), table(tmp_path / "b.csv", n=answers(0.3))
    out = {
        "device": Path(os.devnull),
        "folder": folder,
        "input": b,
        "inside": a,
        "twice": tmp_path / "page",
        "proc": Path("/proc/none.json"),
        "loop": tmp_path / "link",
        "long": tmp_path / ("n" * 300),
    }[kind]
    (tmp_path / "link").symlink_to(out)
    before = a.read_bytes(), b.read_bytes()
    for file in (out, tmp_path / "link"):
        done = run("compare", folder, b, "--out", file, "--page", tmp_path / "page")
        assert done.exit_code == 3, done.output
        assert len(done.output.splitlines()) == 1
    assert before == (a.read_bytes(), b.read_bytes())


def test_a_link_to_a_result_stays_a_link(tmp_path: Path) -> None:
    a, b = table(tmp_path / "a.csv", m=answers(0)), table(tmp_path / "b.csv", n=answers(0.3))
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert run("compare", a, b, "--out", tmp_path / "link").exit_code == 0
    assert (tmp_path / "link").is_symlink()
    assert "headline" in json.loads((tmp_path / "target").read_text())


# --- decisions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "margin", "code", "word"),
    [(0.5, 0.02, 0, "not worse"), (-0.5, 0.02, 1, "worse"), (0.0, 0.001, 2, "undecided")],
)
def test_exit_code_is_the_decision(
    tmp_path: Path, shift: float, margin: float, code: int, word: str
) -> None:
    a, b = table(tmp_path / "a.csv", m=answers(0)), table(tmp_path / "b.csv", n=answers(shift, 4))
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


def test_a_reader_that_has_gone_costs_neither_files_nor_the_decision(tmp_path: Path) -> None:
    a, b = table(tmp_path / "a.csv", m=answers(0)), table(tmp_path / "b.csv", n=answers(-0.5, 4))
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "benchwright", "gate", str(a), str(b), "--margin", "0.02"]
    words += ["--page", str(tmp_path / "p.html")]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")
    assert "worse" in (tmp_path / "p.html").read_text()


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


def test_subset_decides_by_bounds_for_the_whole_benchmark() -> None:
    pair, random = subset_pair(), manifest()
    made = gate_subset(pair, random, GateRequest(0.05, 0.05))
    better, worse = int((pair.d > 0).sum()), int((pair.d < 0).sum())
    bounds = exact_interval(better, worse, K, len(SUBSET_IDS), 0.9)
    assert (made.figures["low"], made.figures["high"]) == bounds
    assert made.comparison.overall[2:] == bounds
    found = float(pair.d.mean())
    reach = found - bounds[0] if found > -0.05 else bounds[1] - found
    # All items decide, and fewer do so if the bounds approach the estimate with the root.
    needed = 1 / (
        1 / len(SUBSET_IDS) + (1 / K - 1 / len(SUBSET_IDS)) * ((found + 0.05) / reach) ** 2
    )
    assert made.figures["items_needed"] == math.ceil(needed)
    weights = np.arange(1.0, K + 1) / np.arange(1.0, K + 1).sum()
    with pytest.raises(InputError, match="the sampler anchor_points chooses items"):
        gate_subset(pair, manifest("anchor_points", weights), GateRequest(0.05, 0.05))


def test_items_of_a_subset_without_an_answer_count_as_in_the_worst_case() -> None:
    pair, random = subset_pair(), manifest()
    whole = gate_subset(pair, random, GateRequest(0.05, 0.05))
    few = pair._replace(
        item_ids=pair.item_ids[9:], answers=pair.answers[:, 9:], clusters=pair.clusters[9:]
    )
    made = gate_subset(few, random, GateRequest(0.05, 0.05))
    assert made.comparison.pair.second.missing == 9
    assert made.figures["low"] < whole.figures["low"] - 9 / K
    assert made.figures["high"] > whole.figures["high"]


def subset_pair() -> Pair:
    ids = manifest().item_ids
    answers = CORRECT[[20, 31]][:, CHOSEN].astype(np.float64)
    sides = [
        Side("s", name, float(row.mean()), 0, 0) for name, row in zip("ab", answers, strict=True)
    ]
    return Pair(*sides, ids, answers, np.arange(K), None)
