"""The closed half: encrypted, opened only in memory, reported as aggregates."""

import json
import logging
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.cli import evaluate_sealed as command
from benchwright.core.errors import InputError
from benchwright.language_models.protocol import PromptScore
from benchwright.methods.mmlu_cf.sealing.key import (
    KeyedNames,
    SealKey,
    new_key,
    read_key,
    seal_bytes,
)
from benchwright.methods.mmlu_cf.sealing.safe_errors import word_sequences
from benchwright.methods.mmlu_cf.sealing.seal import (
    OTHER,
    SealedBenchmark,
    SealedItem,
    evaluate_sealed,
    open_sealed,
    public_assignment,
)
from benchwright.params.mmlu_cf import SealingParams
from benchwright.scoring import model_engine
from closed_text_search import files_with
from sealed_files import SealedFiles, seal_in

SECRET = " ".join(["a secret of this test,", "long enough"])
N = 120


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    random = np.random.default_rng(0)
    words = np.array([f"word{i}é" for i in range(3000)])
    return pd.DataFrame(
        {
            "item_id": [f"page{i // 2}#{i % 2}" for i in range(N)],
            "doc_id": [f"page{i // 2}" for i in range(N)],
            "url": [f"https://source{i // 2}.example/quiz" for i in range(N)],
            "domain": [f"source{i // 2}.example" for i in range(N)],
            "question": [" ".join(random.choice(words, 9)) + '\n"Which"?' for _ in range(N)],
            "choices": [[" ".join(random.choice(words, 6)) for _ in range(4)] for _ in range(N)],
            "answer": random.integers(0, 4, N),
            "field": ["math" if i % 6 else "law" for i in range(N)],
            "difficulty": [float(i % 10) if i % 7 else np.nan for i in range(N)],
            "explanation": [" ".join(random.choice(words, 8)) for _ in range(N)],
            "passage": [None] * N,
        }
    )


@pytest.fixture(scope="module")
def assignment(items: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": items["item_id"],
            "half": ["test" if i // 2 % 2 else "validation" for i in range(N)],
            "field": items["field"],
            "difficulty": items["difficulty"],
            "stratum": "-",
        }
    )


@pytest.fixture(scope="module")
def sealed(
    items: pd.DataFrame, assignment: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> SealedFiles:
    return seal_in(tmp_path_factory.mktemp("sealed"), items, assignment, SealKey(SECRET))


def closed_texts(items: pd.DataFrame, assignment: pd.DataFrame, half: str = "test") -> list[str]:
    of_half = items[assignment["half"].eq(half).to_numpy()]
    columns = ["question", "explanation", "url", "domain"]
    return [*of_half[columns].to_numpy().ravel(), *of_half["choices"].explode()]


def test_opening_returns_the_sealed_content(
    sealed: SealedFiles, items: pd.DataFrame, assignment: pd.DataFrame
) -> None:
    opened = open_sealed(sealed.test, SealKey(SECRET))
    closed = items[assignment["half"].eq("test").to_numpy()]
    assert sorted((i.question, i.choices, i.answer, i.field) for i in opened.items) == sorted(
        (q, tuple(c), a, f)
        for q, c, a, f in zip(
            closed["question"], closed["choices"], closed["answer"], closed["field"], strict=True
        )
    )
    ids = [item.item_id for item in opened.items]
    assert ids == sorted(ids)  # their order tells nothing
    assert len({item.cluster for item in opened.items}) == closed["doc_id"].nunique()
    names = KeyedNames(SealKey(SECRET), "demo")
    assert {item.item_id for item in opened.items} == set(closed["item_id"].map(names.item_id))
    assert {item.difficulty for item in opened.items} == {None, *range(10)}


def test_the_public_folder_has_only_the_public_half(
    sealed: SealedFiles, items: pd.DataFrame, assignment: pd.DataFrame
) -> None:
    public = [json.loads(line) for line in sealed.validation.read_text().splitlines()]
    expected = items[assignment["half"].eq("validation").to_numpy()]
    assert [row["item_id"] for row in public] == expected["item_id"].tolist()
    manifest = json.loads(sealed.manifest.read_text())
    assert manifest["test"]["items"] + manifest["validation"]["items"] == N
    assert manifest["fields"]["test"] == {"law": 10, "math": 50}
    assert {row["canary"] for row in public} == {manifest["canary"]}
    assert manifest["canary"] in sealed.card.read_text()
    assert open_sealed(sealed.test, SealKey(SECRET)).canary not in sealed.manifest.read_text()
    assert not list(sealed.test.parent.glob("*.tmp"))


def test_ids_and_canaries_depend_only_on_the_key(
    sealed: SealedFiles, items: pd.DataFrame, assignment: pd.DataFrame, tmp_path: Path
) -> None:
    again = seal_in(tmp_path / "a", items, assignment, SealKey(SECRET))
    assert again.validation.read_bytes() == sealed.validation.read_bytes()
    first, second = (open_sealed(f.test, SealKey(SECRET)) for f in (sealed, again))
    assert first == second
    assert sealed.test.read_bytes() != again.test.read_bytes()  # another salt
    other = KeyedNames(SealKey(SECRET + "?"), "demo")
    assert other.item_id("page1#0") != KeyedNames(SealKey(SECRET), "demo").item_id("page1#0")
    assert other.canary("test") != first.canary


def test_a_saved_split_has_keyed_ids_of_closed_items(assignment: pd.DataFrame) -> None:
    saved = public_assignment(assignment, SealKey(SECRET), "demo")
    closed = saved[saved["half"].eq("test")]["item_id"]
    assert closed.str.startswith("sealed-").all()
    assert len(closed) == closed.nunique() == 60
    assert set(saved["item_id"]) - set(closed) == set(
        assignment[assignment["half"].eq("validation")]["item_id"]
    )


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda data: data, "sealed with another key"),
        (lambda data: data[:-1], "cut short or altered"),
        (lambda data: data[:40], "not a sealed benchmark"),
        (lambda data: b"", "not a sealed benchmark"),
        (lambda data: data + b"x", "altered since"),
        (lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "altered since"),
        (lambda data: data.replace(b'"format"', b'"Format"', 1), "not a sealed benchmark"),
        (lambda data: data.replace(b"sealed-1", b"sealed-9", 1), "not a sealed benchmark"),
        (lambda data: data.replace(b": ", b" :", 1), "altered since"),
        (lambda data: b"[" * 1_000, "not a sealed benchmark"),
        (lambda data: data.replace(b'"nonce": "', b'"nonce": "00', 1), "not a sealed benchmark"),
    ],
)  # fmt: skip
def test_an_unreadable_file_is_reported_in_one_line(
    sealed: SealedFiles, tmp_path: Path, broken: Any, message: str
) -> None:
    file = tmp_path / "broken.sealed"
    file.write_bytes(broken(sealed.test.read_bytes()))
    key = SealKey(SECRET + "!" if "key" in message else SECRET)
    with pytest.raises(InputError, match=message) as raised:
        open_sealed(file, key)
    assert "\n" not in str(raised.value)
    assert str(file) in str(raised.value)
    assert SECRET not in str(raised.value)


def test_every_sealing_draws_a_salt_and_a_nonce() -> None:
    key = SealKey("k" * 16)
    first, second = (json.loads(seal_bytes(b"", key).splitlines()[0]) for _ in range(2))
    assert first["salt"] != second["salt"]
    assert first["nonce"] != second["nonce"]
    with pytest.raises(InputError, match="15 characters"):
        SealKey("k" * 15)


def test_a_sealed_file_with_other_content_is_refused(tmp_path: Path) -> None:
    for plain in (b'{"name": "x"}\n', b"", b'{"name":"x","canary":"y"}\n{"question": "what"}\n'):
        (tmp_path / "x").write_bytes(seal_bytes(plain, SealKey(SECRET)))
        with pytest.raises(InputError, match="another version"):
            open_sealed(tmp_path / "x", SealKey(SECRET))


def test_the_key_is_read_from_a_file_or_the_environment_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHWRIGHT_SEAL_KEY", raising=False)
    with pytest.raises(InputError, match="the environment variable BENCHWRIGHT_SEAL_KEY, or"):
        read_key(SealingParams())
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", "short")
    with pytest.raises(InputError, match="5 characters, but needs at least 16"):
        read_key(SealingParams())
    (tmp_path / "key").write_text(new_key() + "\n")
    key = read_key(SealingParams(key_file=str(tmp_path / "key")))
    assert repr(key) == "SealKey(…)"
    assert repr(KeyedNames(key, "demo")) == "KeyedNames(…)"
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(key)
    with pytest.raises(InputError, match="cannot be read"):
        read_key(SealingParams(key_file=str(tmp_path / "absent")))


def test_the_representation_of_a_sealed_item_hides_its_texts(sealed: SealedFiles) -> None:
    opened = open_sealed(sealed.test, SealKey(SECRET))
    shown = repr(opened) + repr(opened.items[0])
    assert not word_sequences([shown]) & word_sequences(i.question for i in opened.items)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(opened.items[0])


def benchmark(fields: Sequence[str]) -> SealedBenchmark:
    rows = enumerate(fields)
    items = tuple(SealedItem(f"i{n}", f, 5, "q", ("a", "b"), 0, f"c{n}") for n, f in rows)
    return SealedBenchmark("demo", "canary", items)


def test_small_fields_are_reported_together() -> None:
    half = benchmark(["law"] * 30 + ["math"] * 12 + ["art"] * 3)
    score = evaluate_sealed(half, lambda items: [i % 2 for i in range(len(items))], min_group=10)
    # Art alone is too small, and would follow from the whole: it takes math with it.
    assert {name: g.n for name, g in score.fields.items()} == {"law": 30, OTHER: 15}
    assert score.whole.accuracy == pytest.approx(22 / 45)
    assert score.whole.se == pytest.approx(np.std([i % 2 for i in range(45)], ddof=1) / 45**0.5)


def test_too_few_answers_withhold_accuracies() -> None:
    score = evaluate_sealed(benchmark(["law"] * 30), lambda items: [1] * 5 + [None] * 25, 10)
    assert score.whole.accuracy is None
    assert score.fields == {}
    assert score.reason == "5 answers; accuracies of fewer than 10 are withheld"
    enough = evaluate_sealed(benchmark(["law"] * 10), lambda items: [1] * 10, 10)
    assert (enough.whole.accuracy, enough.reason) == (1, "")


class Scripted:
    """A model that knows some answers and fails on request."""

    def __init__(self, known: dict[str, int], fail: bool = False) -> None:
        self.known, self.fail = known, fail
        self.seen: list[str] = []

    def __call__(
        self, name: str, model: object, scoring: Any, batches: Sequence[Any], progress: object
    ) -> Iterator[tuple[int, list[PromptScore]]]:
        assert scoring.engine == "local"
        for number, batch in enumerate(batches):
            answers = []
            for prompt in batch.prompts:
                if self.fail:
                    raise RuntimeError(f"out of memory at {prompt.text}")
                self.seen.append(prompt.text)
                gold = next((a for q, a in self.known.items() if q in prompt.text), 0)
                logprobs = tuple(-1.0 if i == gold else -2.0 for i in range(4))
                answers.append(PromptScore(logprobs, (1,) * 4, 10))
            yield number, answers


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for everything that is written, including the log."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", SECRET)
    handler = logging.FileHandler(tmp_path / "everything.log")
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield tmp_path
    root.removeHandler(handler)
    root.setLevel(level)
    handler.close()


def test_scoring_the_closed_half_leaks_no_five_words(
    workshop: Path,
    repository: Path,
    items: pd.DataFrame,
    assignment: pd.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    files = seal_in(workshop / "out", items, assignment, SealKey(SECRET))
    gold = dict(zip(items["question"], items["answer"], strict=True))
    closed = items[assignment["half"].eq("test").to_numpy()]
    known = {q: a if i % 4 else (a + 1) % 4 for i, (q, a) in enumerate(gold.items())}
    right = sum(known[q] == gold[q] for q in closed["question"])
    model = Scripted(known)
    monkeypatch.setattr(model_engine, "answer_batches", model)
    request = command.SealedRequest(
        files.test, "smollm2-135m-instruct", shots=2, demonstrations=files.validation
    )
    sealing = SealingParams(min_group=20)
    score = command.run_evaluate_sealed(repository, None, request, sealing)
    assert score.whole.n == len(closed)
    assert score.whole.accuracy == pytest.approx(right / len(closed))
    assert list(score.fields) == [OTHER]  # 10 of law take the 50 of maths along
    assert len(model.seen) == len(closed)  # it did read them

    saved_score = json.loads(
        command.write_score(request, score, workshop / "score.json").read_text()
    )
    assert saved_score["all"]["n"] == saved_score["fields"][OTHER]["n"] == len(closed)
    print("\n".join(command.terminal_lines(score)))  # noqa: T201
    monkeypatch.setattr(model_engine, "answer_batches", Scripted(known, fail=True))
    with pytest.raises(InputError, match=r"failed .RuntimeError.; its message is withheld"):
        command.run_evaluate_sealed(repository, None, request, sealing)
    saved = public_assignment(assignment, SealKey(SECRET), "demo")
    saved.to_parquet(workshop / "split.parquet")
    (workshop / "terminal.txt").write_text("".join(capfd.readouterr()))

    secret = closed_texts(items, assignment)
    public = closed_texts(items, assignment, "validation")
    assert files_with(workshop, secret, public) == []
    written = b"".join(path.read_bytes() for path in workshop.rglob("*") if path.is_file())
    for text in secret:
        assert text.encode() not in written
    assert SECRET.encode() not in written
    assert all(f"page{i}#".encode() not in written for i in range(1, N // 2, 2))
    # The same search does find the public half, and would find a closed stem wherever it stood.
    assert [hit.file.name for hit in files_with(workshop, public, ())] == ["validation.jsonl"]


def test_a_server_gets_closed_questions_only_on_request(
    sealed: SealedFiles, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = command.load_conf(repository)["parameters"]
    model = {"backend": "openai", "endpoint": {"url": "http://localhost:1/v1"}, "family": "x"}
    conf["models"]["models"]["remote"] = model
    monkeypatch.setattr(command, "load_conf", lambda *_: {"parameters": conf})
    request = command.SealedRequest(sealed.test, "remote")
    with pytest.raises(InputError, match="--send-to-server"):
        command.run_evaluate_sealed(repository, None, request, SealingParams())
    with pytest.raises(InputError, match=r"unknown model 'nobody'; expected one of .*smollm2"):
        command.run_evaluate_sealed(
            repository, None, request._replace(model="nobody"), SealingParams()
        )
    with pytest.raises(InputError, match="5 shots need demonstrations"):
        command.run_evaluate_sealed(
            repository, None, request._replace(send_to_server=True, shots=5), SealingParams()
        )
