"""Chat models are asked once per text, and replies are stored."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError, one_line
from benchwright.datasets.score_store import ScoreStore
from benchwright.language_models.protocol import Ask
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.asking import ask_model
from faults.tiny_llama import save_tiny_llama
from scripted_server import ScriptedServer, served


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def ask(folder: Path, entry: dict[str, Any], shard_size: int = 256, name: str = "m") -> Ask:
    return ask_model(
        name,
        ModelsParams.model_validate({"models": {"m": entry}}),
        ScoringParams(shard_size=shard_size),
        ScoreStore(str(folder)).load(),
        max_tokens=32,
        what="judging",
    )


def test_equal_texts_are_asked_once_and_replies_reused_across_runs(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.context = 50
    long = "long " * 60
    asked = ask(tmp_path, served(server.url))
    assert asked([]) == []
    assert asked(["b", "a", "b", long]) == ["You said: b", "You said: a", "You said: b", None]
    assert asked(["a", "b", long]) == ["You said: a", "You said: b", None]
    assert ask(tmp_path, served(server.url))([long, "b", "a"])[:2] == [None, "You said: b"]
    assert len(server.arrivals) == 3
    assert server.arrivals[0].path.endswith("/chat/completions")


def test_first_attempt_is_greedy_and_later_ones_are_sampled(
    server: ScriptedServer, tmp_path: Path
) -> None:
    asked = ask(tmp_path, served(server.url))
    for attempt in (1, 2, 3, 2):
        asked(["a"], attempt)
    bodies = [arrival.body for arrival in server.arrivals]
    assert [body.get("temperature", 0) for body in bodies] == [0, 0.7, 0.7]
    assert len({body.get("seed") for body in bodies[1:]}) == 2
    assert {body["max_tokens"] for body in bodies} == {32}


def test_a_model_without_instructions_gets_the_plain_text(
    server: ScriptedServer, tmp_path: Path
) -> None:
    entry = served(server.url, instruct=False, endpoint={"api": "completions"})
    assert ask(tmp_path, entry)(["a"]) == ["You said: a"]
    assert server.arrivals[0].path.endswith("/v1/completions")


def test_killed_run_resumes(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(40)]

    def faults(*_: Any) -> str | None:
        return "500" if len(server.arrivals) > 30 else None

    with ScriptedServer(faults=faults) as server:
        entry = served(server.url, endpoint={"retries": 0, "concurrency": 1})
        with pytest.raises(InputError):
            ask(tmp_path, entry, shard_size=4)(texts)
        before = len(server.arrivals)
        kept = len(list(tmp_path.glob("*.parquet")))
        server.faults = lambda *_: None
        replies = ask(tmp_path, entry, shard_size=4)(texts)
        again = len(server.arrivals) - before
    assert replies == [f"You said: {text}" for text in texts]
    assert kept > 0
    assert again < len(texts)


def test_error_names_unknown_model_and_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"judging: unknown model 'other'; expected one of m"):
        ask(tmp_path, served("http://127.0.0.1:9/v1"), name="other")


def test_error_names_task_and_model(server: ScriptedServer, tmp_path: Path) -> None:
    server.refusal = (401, "no such key")
    with pytest.raises(InputError) as caught:
        ask(tmp_path, served(server.url))(["a"])
    line = one_line(caught.value)
    assert line is not None
    assert line.startswith("judging with m: ")
    assert "no such key" in line


@pytest.mark.live
def test_local_model_always_uses_its_chat_template(smollm2_folder: Path, tmp_path: Path) -> None:
    entry = {"weights": {"path": str(smollm2_folder)}, "family": "smollm2", "instruct": True}
    texts = ["What is the capital of France? Answer in one word."]
    [chat] = ask(tmp_path, entry)(texts)
    assert chat is not None
    assert "Paris" in chat


def test_error_names_a_tokenizer_without_template(tmp_path: Path) -> None:
    folder = save_tiny_llama(tmp_path / "tiny")
    entry = {"weights": {"path": str(folder)}, "family": "f", "instruct": True}
    with pytest.raises(InputError, match=r"models\.m: its tokenizer has no chat template"):
        ask(tmp_path, entry)(["a"])
