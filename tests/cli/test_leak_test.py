"""The command `benchwright leak-test`, with a model that was trained on one release."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from benchwright.cli import cli
from benchwright.core.content_hash import content_hash
from benchwright.language_models.protocol import PromptScore, PromptText
from benchwright.methods.mmlu_cf.sealing.key import SealKey
from scoring.scoring_examples import StandIn
from sealed_files import SealedFiles, seal_in

SECRET, OTHER = (
    "-".join(["a", "key", "for", *end]) for end in (["these", "tests"], ["another", "test"])
)
MODEL = "smollm2-135m-instruct"
N = 60


class Reader(StandIn):
    """Finds texts that it has read more probable."""

    read: ClassVar[set[str]] = set()
    asked: ClassVar[int] = 0

    def score(
        self, prompts: Sequence[PromptText], progress: Callable[[int], object] | None = None
    ) -> list[PromptScore]:
        Reader.asked += len(prompts)
        plain = super().score(prompts, progress)
        return [
            score._replace(
                logprobs=score.logprobs
                and tuple(
                    value + 60 * (prompt.text + text in Reader.read)
                    for value, text in zip(score.logprobs, prompt.continuations, strict=True)
                )
            )
            for score, prompt in zip(plain, prompts, strict=True)
        ]


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> SealedFiles:
    Reader.read, Reader.asked = set(), 0
    monkeypatch.setattr("benchwright.scoring.model_engine.load_model", lambda *_: Reader("m"))
    monkeypatch.setattr(
        "benchwright.scoring.score_shards.model_ingredients", lambda *_: {"model": "one"}
    )
    monkeypatch.chdir(repository)
    return release(tmp_path / "release", SECRET)


def release(folder: Path, secret: str) -> SealedFiles:
    random = np.random.default_rng(0)
    choices = [[f"option {n}{letter}" for letter in "pqrs"] for n in range(2 * N)]
    choices[0], choices[2] = ["yes", "yes", "no"], ["sun", "moon", "Both A and B"]
    items = pd.DataFrame(
        {
            "item_id": [f"q{n}" for n in range(2 * N)],
            "question": [f"Question {n}?" for n in range(2 * N)],
            "choices": choices,
            "answer": random.integers(0, 3, 2 * N),
            "field": "law",
            "difficulty": 5.0,
            "passage": ["A passage" if n == 4 else None for n in range(2 * N)],
        }
    )
    half = ["test" if n % 2 else "validation" for n in range(2 * N)]
    return seal_in(folder, items, items[["item_id"]].assign(half=half), SealKey(secret))


def rows(files: SealedFiles) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files.validation.read_text().splitlines()]


def as_text(row: dict[str, Any]) -> str:
    options = "".join(f"\n{a}. {text}" for a, text in zip("ABCD", row["choices"], strict=False))
    return f"{row['question']}{options}\nAnswer: {'ABCD'[row['answer']]}"


def run(files: SealedFiles, tmp_path: Path, *words: object) -> Result:
    given = ["--model", MODEL, "--export", files.validation.parent, "--data-root", tmp_path]
    return CliRunner().invoke(cli, ["leak-test", *map(str, [*given, *words])])


def key_file(tmp_path: Path, secret: str) -> Path:
    file = tmp_path / "key"
    file.write_text(secret + "\n")
    return file


def test_a_model_that_has_read_the_release_is_found_and_no_other(
    sealed: SealedFiles, tmp_path: Path
) -> None:
    out = tmp_path / "x.json"
    words = ("--key-file", key_file(tmp_path, SECRET), "--out", out)
    done = run(sealed, tmp_path / "before", *words)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"no evidence that {MODEL} was trained on the released items")
    before = json.loads(out.read_text())
    assert (before["items"], before["evidence_of_training"], before["key_checked"]) == (
        58,
        False,
        True,
    )
    assert before["left_out"] == {"equal_options": 1, "refers_to_options": 1}
    Reader.read = set(map(as_text, rows(sealed)))
    done = run(sealed, tmp_path / "after", *words)
    after = json.loads(out.read_text())
    assert done.exit_code == 1, done.output
    assert done.output.startswith("evidence that")
    assert after["p_value"] == 1e-4
    assert after["excess"] > before["excess"] + after["detectable"] / 2


def test_scores_are_kept_and_not_asked_again(sealed: SealedFiles, tmp_path: Path) -> None:
    first = run(sealed, tmp_path)
    asked = Reader.asked
    assert asked == 58
    assert run(sealed, tmp_path).output == first.output
    assert Reader.asked == asked


def test_orders_differ_between_keys_and_from_the_closed_half_nothing_is_read(
    sealed: SealedFiles, tmp_path: Path
) -> None:
    other = release(tmp_path / "other", OTHER)
    same = sum(a["choices"] == b["choices"] for a, b in zip(rows(sealed), rows(other), strict=True))
    assert 5 < same < 30
    sealed.test.unlink()
    assert run(sealed, tmp_path).exit_code == 0


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_any_table_of_items_can_be_released_and_tested(
    sealed: SealedFiles, tmp_path: Path, kind: str
) -> None:
    letters = kind == "jsonl"
    table = pd.DataFrame(rows(sealed))[["item_id", "question", "choices", "answer"]]
    table["content_hash"] = "old"
    if letters:
        table["answer"] = table["answer"].map(dict(enumerate("ABCD")))
    source = tmp_path / f"items.{kind}"
    if letters:
        table.to_json(source, orient="records", lines=True)
    else:
        table.to_parquet(source)
    key, folder = key_file(tmp_path, OTHER), tmp_path / "out"
    words = [source, folder, "--name", "mine", "--key-file", key]
    done = CliRunner().invoke(cli, ["release", *map(str, words)])
    assert done.exit_code == 0, done.output
    made = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    changed = 0
    for before, after in zip(table.to_dict("records"), made, strict=True):
        assert sorted(before["choices"]) == sorted(after["choices"])
        places = [("ABCD".index(r["answer"]) if letters else r["answer"]) for r in (before, after)]
        assert before["choices"][places[0]] == after["choices"][places[1]]
        assert after["content_hash"] == content_hash(after["question"], after["choices"])
        changed += list(before["choices"]) != after["choices"]
    assert changed > N / 2
    sealed = sealed._replace(validation=folder / "items.jsonl")
    done = run(sealed, tmp_path, "--key-file", key, "--alpha", 0.001)
    assert done.exit_code == 0, done.output
    assert "58 items in up to 4 orders; the key chose these orders" in done.output


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": 7}, "row 1: answer 7 is no index or letter"),
        ({"choices": "a or b"}, "row 1: choices must be a list of texts"),
        ({"item_id": "q2"}, "item_id 'q2' occurs twice"),
        ({"question": None}, "row 1: no question"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    row = {"item_id": "q1", "question": "?", "choices": ["a", "b"], "answer": 0}
    bad = {name: value for name, value in {**row, **changes}.items() if value is not None}
    source = tmp_path / "items.jsonl"
    source.write_text(f"{json.dumps(bad)}\n{json.dumps({**row, 'item_id': 'q2'})}\n")
    words = [source, tmp_path / "out", "--name", "m", "--key-file", key_file(tmp_path, OTHER)]
    done = CliRunner().invoke(cli, ["release", *map(str, words)])
    assert (done.exit_code, said in done.output) == (3, True), done.output
    assert not (tmp_path / "out").exists()


def test_a_wrong_key_another_order_and_other_files_are_refused(
    sealed: SealedFiles, tmp_path: Path
) -> None:
    wrong = run(sealed, tmp_path, "--key-file", key_file(tmp_path, OTHER))
    assert (wrong.exit_code, "not the key of the release" in wrong.output) == (3, True)
    changed = rows(sealed)
    turned = changed[9]
    turned["choices"] = [*turned["choices"][1:], turned["choices"][0]]
    turned["answer"] = (turned["answer"] - 1) % 4
    sealed.validation.write_text("".join(json.dumps(row) + "\n" for row in changed))
    done = run(sealed, tmp_path, "--key-file", key_file(tmp_path, SECRET))
    assert done.exit_code == 3
    assert f"{turned['item_id']!r} are not in the order that the key chose" in done.output
    turned["choices"] = [*turned["choices"][::-1]]
    sealed.validation.write_text("".join(json.dumps(row) + "\n" for row in changed))
    done = run(sealed, tmp_path)
    assert (done.exit_code, "in none of its 4 orders" in done.output) == (3, True)
    manifest = json.loads(sealed.manifest.read_text())
    manifest["leak_test"]["orders"] = float("inf")
    sealed.manifest.write_text(json.dumps(manifest))
    assert "cannot be read as a file of a release" in run(sealed, tmp_path).output
    del manifest["leak_test"]
    sealed.manifest.write_text(json.dumps(manifest))
    done = run(sealed, tmp_path)
    assert (done.exit_code, "no key chose" in done.output) == (3, True)
    sealed.manifest.unlink()
    assert run(sealed, tmp_path).exit_code == 3
    assert run(sealed, tmp_path, "--alpha", "2").exit_code == 3


def test_scores_of_a_release_stay_in_the_data_folder(sealed: SealedFiles, tmp_path: Path) -> None:
    manifest = json.loads(sealed.manifest.read_text()) | {"name": "../../elsewhere"}
    sealed.manifest.write_text(json.dumps(manifest))
    run(sealed, tmp_path)
    assert list(tmp_path.glob("**/leak_test"))
    assert not (tmp_path.parent / "elsewhere").exists()
