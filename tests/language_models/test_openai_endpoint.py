"""Requests to servers with all kinds of faults and refusals."""

import itertools
import json
import logging
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.language_models import http_retries
from benchwright.language_models.openai_endpoint import (
    EndpointModel,
    first_scored,
    label_logprobs,
    read_written,
    sample_seed,
)
from benchwright.language_models.protocol import Generated, PromptScore, PromptText, Sampling
from benchwright.language_models.tokenization import encode
from benchwright.params.scoring import ModelParams
from language_models.faulty_server import (
    LETTERS,
    PASSING_FAULTS,
    Server,
    echoed_logprob,
    logprob,
    ranking,
    seeded_faults,
    tokenize,
    written,
)

KEY = "sk-not-for-anyone-4711"
LABELS = tuple(f" {letter}" for letter in LETTERS[:4])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_retries, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def connect(
    server: Server, context: int = 4096, tokenizer: Any = None, **settings: Any
) -> EndpointModel:
    given = {"timeout": 10, "max_wait": 0.2, "retries": 3, "concurrency": 4, **settings}
    given.setdefault("logprobs", "none" if given.get("api") == "chat" else "echo")
    params = ModelParams.model_validate(
        {"backend": "openai", "family": "toy", "endpoint": {"url": server.url, **given}}
    )
    return EndpointModel("toy", params, context, tokenizer)


def silent(_: int) -> None:
    """Ignore progress."""


def score(model: EndpointModel, *prompts: PromptText) -> list[PromptScore]:
    [scored] = model.score_batches([prompts], silent)
    return scored


def write(model: EndpointModel, sampling: Sampling, *prompts: PromptText) -> list[Generated]:
    [answers] = model.generate_batches([prompts], sampling, silent)
    return answers


def cloze(number: int) -> PromptText:
    return PromptText(
        "Some facts.\n\n", f"Question {number}: who was it?\nAnswer:", (" the king", " a cat of it")
    )


def letters(number: int, *labels: str, template: str = "none") -> PromptText:
    return PromptText("", f"Question {number}: which?\nAnswer:", labels or LABELS, template)


def whole(prompt: PromptText) -> str:
    return prompt.prefix + prompt.text


def echoed(prompt: PromptText) -> list[float]:
    return [echoed_logprob(whole(prompt), option) for option in prompt.continuations]


def once(fault: str) -> Callable[[dict[str, Any], int], str | None]:
    return lambda _body, tries: fault if tries == 0 else None


def always(fault: str) -> Callable[[dict[str, Any], int], str | None]:
    return lambda _body, _tries: fault


# Faults


def test_each_prompt_is_answered_once_despite_faults() -> None:
    prompts = [cloze(i) for i in range(200)]
    batches = [prompts[:3], [], prompts[3:100], prompts[100:], [], []]
    slow = {"hang", "dribbled", "dribbled headers"}
    kinds = [*PASSING_FAULTS, *(sorted(set(PASSING_FAULTS) - slow) * 2)]
    counted: list[int] = []
    with Server(faults=seeded_faults(7, 0.3, kinds, most=3)) as server:
        model = connect(server, concurrency=16, timeout=1, max_wait=0.05, retries=8)
        scored = list(model.score_batches(batches, counted.append))
    assert [len(batch) for batch in scored] == [3, 0, 97, 100, 0, 0]
    for prompt, result in zip(prompts, itertools.chain(*scored), strict=True):
        assert result.logprobs == pytest.approx(echoed(prompt), abs=1e-9)
        assert result.option_tokens == (2, 4)
        assert result.prompt_tokens == len(tokenize(whole(prompt)))
    assert counted == [1] * 200
    assert len(server.answered) == 400
    assert set(server.answered.values()) == {1}
    assert set(PASSING_FAULTS) <= set(server.faulted)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("429", "429: slow down"),
        ("dribbled headers", "no complete answer within 0.2 s"),
        ("dropped", "the connection failed"),
        ("not json", "the reply is not JSON"),
        ("compressed", "the reply is compressed"),
        ("redirected", "307"),
        ("endless", "the reply has over 16 MiB"),
        ("no choices", "a reply without choices"),
        ("error in 200", "upstream is down"),
    ],
)
def test_permanent_faults_stop_with_one_line(fault: str, reason: str) -> None:
    with Server(faults=always(fault)) as server:
        timeout = 20 if fault.startswith("endless") else 0.2
        model = connect(server, timeout=timeout, max_wait=0.05, retries=2, concurrency=1)
        with pytest.raises(InputError) as caught:
            score(model, cloze(1))
    line = str(caught.value)
    assert reason in line
    assert "\n" not in line
    assert ("after 3 attempt(s)" in line) is (fault != "redirected")
    assert len(server.arrivals) == (1 if fault == "redirected" else 3)


def test_batches_before_an_error_are_yielded() -> None:
    def fault(body: dict[str, Any], _tries: int) -> str | None:
        if "Question 0:" in body["prompt"]:
            time.sleep(0.3)
        return "500" if "Question 8:" in body["prompt"] else None

    batches = [[cloze(i) for i in range(start, start + 3)] for start in range(0, 300, 3)]
    got: list[list[PromptScore]] = []
    with Server(faults=fault) as server:
        answers = connect(server, retries=0).score_batches(batches, silent)
        with pytest.raises(InputError, match="500"):
            got.extend(answers)
        assert [len(batch) for batch in got] == [3, 3]
        assert no_threads_left()
    assert len(server.arrivals) < 2 * 15


def no_threads_left() -> bool:
    return not [t for t in threading.enumerate() if t.name == "endpoint"]


def test_slow_prompt_blocks_others_only_if_many_answers_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_retries, "HELD", 10)
    read: list[int] = []

    def batches() -> Iterator[list[PromptText]]:
        for number in range(100):
            read.append(number)
            yield [cloze(number)]

    def fault(body: dict[str, Any], _tries: int) -> None:
        deadline = time.monotonic() + 20
        if "Question 0:" in body["prompt"]:
            while len(read) <= 15 and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.3)

    with Server(faults=fault) as server:
        model = connect(server, concurrency=2, timeout=30)
        answers = model.score_batches(batches(), silent)
        next(answers)
        assert 15 < len(read) <= 1 + 2 * 10 + 2 * 2 + 1
        assert len(list(answers)) == 99
        assert no_threads_left()


def test_interrupt_ends_at_once_with_a_hanging_server() -> None:
    def fault(body: dict[str, Any], _tries: int) -> str | None:
        return "hang" if "Question 1:" in body["prompt"] else None

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with Server(faults=fault) as server:
        model = connect(server, timeout=30)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            list(model.score_batches([[cloze(2), cloze(1)]], interrupt))
        assert time.monotonic() - began < 10
        assert no_threads_left()


def test_no_more_requests_are_in_flight_than_allowed() -> None:
    with Server(delay=0.02) as server:
        score(connect(server, concurrency=3), *(cloze(i) for i in range(12)))
    assert server.busiest == 3


def test_one_wait_request_pauses_all_threads() -> None:
    limited: list[float] = []

    def fault(_body: dict[str, Any], _tries: int) -> str | None:
        if len(server.arrivals) >= 6 and not limited:
            limited.append(time.monotonic())
            return "429"
        return None

    with Server(faults=fault, delay=0.05, retry_after={"Retry-After": "0.8"}) as server:
        score(connect(server, max_wait=5), *(cloze(i) for i in range(24)))
    later = [arrival.time - limited[0] for arrival in server.arrivals]
    assert not [wait for wait in later if 0.25 < wait < 0.75]
    assert len([wait for wait in later if wait > 0.75]) > 20


def test_a_server_that_asks_for_a_long_wait_is_asked_again_after_max_wait() -> None:
    with Server(faults=once("429"), retry_after={"Retry-After": "3600"}) as server:
        write(connect(server, max_wait=0.1), Sampling(5), letters(1))
    assert len(server.arrivals) == 2


# Refusals


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check the key in TOY_KEY (endpoint.key_env)"),
        (404, "check endpoint.url, endpoint.api and endpoint.model (toy)"),
        (400, "endpoint.extra_body"),
    ],
)
def test_rejected_request_stops_at_once_with_advice(
    status: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    message = f"No such\nthing for {KEY}. " + "Really not. " * 100
    with Server(refusal=(status, message)) as server:
        model = connect(server, key_env="TOY_KEY", concurrency=1)
        with pytest.raises(InputError) as caught:
            write(model, Sampling(5), letters(1), letters(2))
    line = str(caught.value)
    assert line.startswith(f"models.toy.endpoint: {server.url} answers {status}: No such thing")
    assert advice in line
    assert KEY not in line
    assert "[key]" in line
    assert len(line) < 500
    assert len(server.arrivals) == 1


def test_exhausted_quota_is_not_retried() -> None:
    refusal = (429, "insufficient_quota: pay first")
    with Server(refusal=refusal) as server, pytest.raises(InputError, match="first; check the q"):
        write(connect(server, concurrency=1), Sampling(5), letters(1))
    assert len(server.arrivals) == 1


def test_key_is_sent_but_never_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TOY_KEY", f" {KEY}\n")
    caplog.set_level(logging.DEBUG)
    reported = []
    faults = {0: "429", 1: "500", 2: "dropped", 3: "not json"}
    for refusal in (None, (401, f"Incorrect API key provided: {KEY}"), (503, f"Bearer {KEY}")):
        with Server(faults=lambda _, tries: faults.get(tries), refusal=refusal) as server:
            model = connect(server, key_env="TOY_KEY", retries=5, max_wait=0.01)
            reported += [repr(model), str(model)]
            try:
                score(model, letters(1))
            except InputError as error:
                reported += traceback.format_exception(error)
        sent = {arrival.headers.get("authorization") for arrival in server.arrivals}
        assert sent == {f"Bearer {KEY}"}
        assert KEY not in json.dumps([arrival.body for arrival in server.arrivals])
    assert any("httpcore2" in record.name for record in caplog.records)
    assert any("next try in" in record.getMessage() for record in caplog.records)
    reported += [record.getMessage() for record in caplog.records]
    reported += [repr(record.__dict__) for record in caplog.records]
    assert not [line for line in reported if KEY in line]


@pytest.mark.parametrize("value", [None, "two words"])
def test_a_missing_or_broken_key_is_not_shown(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TOY_KEY", value)
    with Server() as server, pytest.raises(InputError, match="key_env") as caught:
        connect(server, key_env="TOY_KEY")
    assert not (value and value.strip() and value in str(caught.value))


def test_keys_and_addresses_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with Server() as server:
        score(connect(server), letters(1))
    assert "authorization" not in server.arrivals[0].headers
    assert KEY not in str(server.arrivals[0])


# Log-likelihoods from the echo


@pytest.mark.parametrize(
    "habits",
    [
        {},
        {"start_token": True},
        {"hides_spaces": True, "start_token": True, "zero_tokens": False},
    ],
)
def test_server_differences_do_not_change_scores(habits: dict[str, bool]) -> None:
    prompts = [cloze(i) for i in range(5)]
    with Server(**habits) as server:
        scores = score(connect(server, concurrency=1), *prompts)
    for each, prompt in zip(scores, prompts, strict=True):
        assert each.logprobs == pytest.approx(echoed(prompt))
        assert each.option_tokens == (2, 4)
    assert len(server.arrivals) == (10 if habits.get("zero_tokens", True) else 11)


@pytest.mark.parametrize(
    ("text", "options", "scored"),
    [
        ("Which?\nAnswer:", ("B", " cat"), (1, 2)),  # "Answer:B" is one token
        ("It is 12", ("34", " cat", "345 cats"), (2, 2, 3)),  # 1|234, 12| cat, 12|345| cats
        ("It is 12", ("345", " cat"), (1, 1)),
    ],
)
def test_token_across_the_boundary_counts_towards_every_continuation(
    text: str, options: tuple[str, ...], scored: tuple[int, ...]
) -> None:
    prompt = PromptText("", text, options)
    [cut] = encode(Words(), [prompt])
    expected = []
    for option in options:
        tokens = tokenize(text + option)
        expected.append(
            sum(logprob(tokens[:i], tokens[i]) for i in range(len(cut.context), len(tokens)))
        )
    with Server() as server:
        [scores] = score(connect(server), prompt)
    assert scores.logprobs == pytest.approx(expected)
    assert scores.option_tokens == scored == tuple(map(len, cut.options))
    assert scores.prompt_tokens == len(cut.context)


@pytest.mark.parametrize(
    ("server", "settings"),
    [
        ({"logprobs": False}, {}),
        ({"logprobs": False}, {"logprobs": "top", "api": "chat"}),
        ({"refusal": (400, "no 'logprobs' here")}, {"logprobs": "top"}),
    ],
)
def test_error_without_logprobs_names_the_settings(
    server: dict[str, Any], settings: dict[str, Any]
) -> None:
    reported = pytest.raises(InputError, match=r"logprobs: none to .*, or endpoint.logprobs: top")
    with Server(**server) as running, reported:
        score(connect(running, **settings), letters(1))


def test_a_prompt_that_is_too_long_is_reported_and_the_others_are_scored() -> None:
    long = cloze(1)._replace(prefix="word " * 100)
    ways: list[dict[str, Any]] = [{}, {"logprobs": "top"}, {"logprobs": "top", "api": "chat"}]
    for settings in ways:
        with Server(context=60) as server:
            scores = score(connect(server, **settings), long, letters(2), long)
        assert [each.logprobs is None for each in scores] == [True, False, True]
        assert scores[0].option_tokens == (1, 1)
        assert scores[0].prompt_tokens == -1


class Words:
    """A tokenizer like the server's."""

    bos_token_id = None
    eos_token_id = 0

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def __call__(self, texts: Sequence[str], add_special_tokens: bool) -> Any:
        made = [[self._ids.setdefault(t, len(self._ids)) for t in tokenize(x)] for x in texts]
        return type("Encoding", (), {"input_ids": made})


def test_tokenizer_detects_long_prompts_before_they_are_sent() -> None:
    long = cloze(1)._replace(prefix="word " * 100)
    with Server() as server:
        model = connect(server, context=60, tokenizer=Words())
        [first, second] = score(model, long, cloze(2))
        [third] = write(model, Sampling(5), long)
    assert first == PromptScore(None, (2, 4), 100 + len(tokenize(cloze(1).text)))
    assert second.logprobs == pytest.approx(echoed(cloze(2)))
    assert third == Generated(None, (), 0, first.prompt_tokens)
    assert not [a for a in server.arrivals if "word" in a.body["prompt"]]


TOKEN = st.sampled_from(["a", "bc", " a", " de", "\n", " ", "é", " 漢字", "\n\n", ".", "B."])


@given(st.lists(TOKEN, min_size=1), st.data())
def test_first_scored_token_is_the_first_that_ends_after_the_boundary(
    tokens: list[str], data: st.DataObject
) -> None:
    text = "".join(tokens)
    at = data.draw(st.integers(1, len(text)))
    ends = [len("".join(tokens[: i + 1])) for i in range(len(tokens))]
    expected = next((i for i, end in enumerate(ends) if end > at), len(tokens))
    start = data.draw(st.sampled_from([[], ["<s>"], ["<s>", ""]]))
    assert first_scored([*start, *tokens], text, at) == expected + len(start)


@pytest.mark.parametrize(
    ("tokens", "option"),
    [
        (["Answer", ":", " caf", "\ufffd", "\ufffd", " bar"], 2),
        (["<s>", "Answer", ":", "caf", "<0xC3>", "<0xA9>", "bar"], 3),
        (["\ufffd", "\ufffd", "Answer:", " café bar"], 3),
    ],
)
def test_characters_split_over_tokens_are_skipped(tokens: list[str], option: int) -> None:
    text = "Answer: café bar"
    assert first_scored(tokens, text, len("Answer:")) == option


# Log-likelihoods from the most probable first tokens


@pytest.mark.parametrize(("api", "template"), [("chat", "messages"), ("completions", "none")])
def test_labels_are_looked_up_among_the_first_tokens(api: str, template: str) -> None:
    prompts = [letters(i, *LABELS, template=template) for i in range(6)]
    with Server() as server:
        scores = score(connect(server, logprobs="top", api=api, concurrency=1), *prompts)
    assert len(server.arrivals) == 6
    for each, prompt in zip(scores, prompts, strict=True):
        top = ranking(tokenize(whole(prompt)), 20)
        assert each.logprobs == label_logprobs(top, ["A", "B", "C", "D"])
        assert each.prompt_tokens == len(tokenize(whole(prompt)))
        assert each.option_tokens == (1, 1, 1, 1)
    body = server.arrivals[0].body
    if api == "chat":
        assert body["messages"] == [{"role": "user", "content": whole(prompts[0])}]
        assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    else:
        assert body["logprobs"] == 20
    assert body["max_tokens"] == 1


def test_server_with_five_logprobs_is_asked_for_five() -> None:
    with Server(most_ranked=5) as server:
        model = connect(server, logprobs="top", api="chat", concurrency=1)
        score(model, letters(1, *(f" {letter}" for letter in LETTERS)), letters(2))
    assert [a.body["top_logprobs"] for a in server.arrivals] == [20, 5, 5]


def test_spellings_are_summed_and_a_missing_label_has_an_upper_bound() -> None:
    top = [(" A", math.log(0.5)), ("A", math.log(0.2)), ("B", math.log(0.1)), ("the", -4.0)]
    a, b, c = label_logprobs(top, ["A", "B", "C"]) or ()
    assert math.exp(a) == pytest.approx(0.7)
    assert math.exp(b) == pytest.approx(0.1)
    assert c == -4.0
    top[3] = ("the", math.log(0.19))
    assert math.exp((label_logprobs(top, ["A", "C"]) or ())[1]) == pytest.approx(0.01)
    assert label_logprobs(top, ["C", "D"]) is None
    assert label_logprobs([], ["C", "D"]) is None


# Written answers


@pytest.mark.parametrize(("api", "template"), [("chat", "messages"), ("completions", "none")])
def test_answers_have_a_finish_reason(api: str, template: str) -> None:
    prompt = letters(1, template=template)._replace(continuations=())
    with Server(reasoning="Let me think about B.") as server:
        model = connect(server, api=api)
        [long] = write(model, Sampling(50), prompt)
        [short] = write(model, Sampling(3), prompt)
    tokens = written(whole(prompt), 0, 0)
    assert long == Generated(("".join(tokens),), ("stop",), 6, len(tokenize(whole(prompt))))
    assert short == Generated(("".join(tokens[:3]),), ("length",), 3, long.prompt_tokens)
    assert "seed" not in server.arrivals[0].body
    assert (
        server.arrivals[0].path
        == {
            "chat": "/v1/chat/completions",
            "completions": "/v1/completions",
        }[api]
    )


def test_samples_come_in_order_from_one_request() -> None:
    prompt = letters(1)
    drawn = Sampling(50, samples=4, temperature=0.7, top_p=0.9, seed=5)
    with Server() as server:
        [answers] = write(connect(server), drawn, prompt)
    assert answers.texts == tuple("".join(written(whole(prompt), 5, i)) for i in range(4))
    assert answers.finish == ("stop",) * 4
    assert answers.generated_tokens == 24
    [arrival] = server.arrivals
    sent = {name: arrival.body[name] for name in ("n", "temperature", "top_p", "seed")}
    assert sent == {"n": 4, "temperature": 0.7, "top_p": 0.9, "seed": 5}


def test_a_server_that_ignores_n_is_asked_for_each_sample() -> None:
    drawn = Sampling(50, samples=3, temperature=0.7, seed=5)
    with Server(several=False) as server:
        first, second = write(connect(server, concurrency=1), drawn, letters(1), letters(2))
    seeds = [sample_seed(5, i) for i in range(3)]
    assert len(set(seeds)) == 3
    for result, prompt in ((first, letters(1)), (second, letters(2))):
        texts = tuple("".join(written(whole(prompt), seed, 0)) for seed in seeds)
        assert result.texts == texts
        assert result.generated_tokens == 18
    assert [a.body.get("n") for a in server.arrivals] == [3, None, None, None, None, None]


def test_other_name_of_the_token_limit_is_learnt_once() -> None:
    with Server(limit_name="max_completion_tokens") as server:
        model = connect(server, api="chat", concurrency=1)
        answers = write(model, Sampling(50), letters(1), letters(2))
    assert all(each.texts for each in answers)
    assert ["max_tokens" in a.body for a in server.arrivals] == [True, False, False]
    assert server.arrivals[-1].body["max_completion_tokens"] == 50


def test_a_prompt_too_long_to_answer_is_reported() -> None:
    long = PromptText("word " * 100, "Why?", ())
    with Server(context=60) as server:
        answers = write(connect(server, context=80), Sampling(5), long, letters(1))
    assert answers[0] == Generated(None, (), 0, -1)
    assert answers[1].texts
    assert len(server.arrivals) == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 2048 tokens. However, your prompt is 2049"),
        (500, "The decoder prompt is longer than the maximum model length of 2048."),
        (413, "Input is too long for requested model."),
    ],
)
def test_messages_about_long_prompts_are_recognised(status: int, message: str) -> None:
    with Server(refusal=(status, message)) as server:
        [answers] = write(connect(server), Sampling(50), letters(1))
    assert answers.texts is None
    assert len(server.arrivals) == 1
    message = "max_tokens=4000 cannot be greater than max_model_len=2048. Request fewer tokens."
    with (
        Server(refusal=(400, message)) as server,
        pytest.raises(InputError, match="context in conf"),
    ):
        write(connect(server), Sampling(4000), letters(1))


def test_answers_fit_the_context() -> None:
    prompt = PromptText("word " * 40, "Why?", ())
    read = len(tokenize(whole(prompt)))
    with Server() as server:
        write(connect(server, context=100, tokenizer=Words()), Sampling(500), prompt)
        write(connect(server, context=100), Sampling(500), prompt)
        write(connect(server, context=1000), Sampling(500), prompt)
    assert [a.body["max_tokens"] for a in server.arrivals] == [100 - read, 50, 500]


def test_extra_fields_are_sent_and_null_leaves_one_out() -> None:
    extra = {"temperature": None, "stop": None, "reasoning_effort": "low"}
    with Server() as server:
        model = connect(server, api="chat", model="other", extra_body=extra)
        [answers] = write(model, Sampling(50, stop=(".",)), letters(1))
    body = server.arrivals[0].body
    assert body.keys() == {"model", "messages", "max_tokens", "reasoning_effort"}
    assert body["model"] == "other"
    assert answers.finish == ("stop",)


def test_excess_stop_texts_end_an_answer() -> None:
    with Server() as server:
        model = connect(server, logprobs="none")
        [answers] = write(model, Sampling(50, stop=("!", "?", "#", "*", " is")), letters(1))
    assert server.arrivals[0].body["stop"] == ["!", "?", "#", "*"]
    assert answers.texts == ("The answer",)


def test_only_a_stop_ends_an_answer() -> None:
    reasons = {"stop": "stop", "eos_token": "stop", "content_filter": "length", None: "length"}
    choices = [{"text": "x", "finish_reason": reason} for reason in reasons]
    assert read_written({"choices": choices}).answers == [("x", each) for each in reasons.values()]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None, "reasoning_content": "hm"}, ""),
        ({"content": "B", "reasoning": "hm"}, "B"),
        ({"content": [{"type": "thinking"}, {"type": "text", "text": "B"}]}, "B"),
    ],
)
def test_reasoning_is_not_part_of_the_text(message: dict[str, Any], text: str) -> None:
    reply = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": None}
    assert read_written(reply) == ([(text, "stop")], -1, -1)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"choices": {}},
        {"choices": [{}]},
        {"choices": [{"text": "x", "finish_reason": "abort"}]},
    ],
)
def test_malformed_replies_are_requested_again(reply: Any) -> None:
    replies = [reply, {"choices": [{"text": "x", "finish_reason": "stop"}]}]
    with Server(replies=replies) as server:
        [answers] = write(connect(server), Sampling(50), letters(1))
    assert answers.texts == ("x",)
