"""Requests to vLLM and their order; its answers equal those of Transformers.

Most tests run against an engine that stands in for vLLM; those marked `vllm` need the real one.
"""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.language_models.protocol import PromptScore, PromptText, Sampling
from benchwright.language_models.tokenization import encode
from benchwright.language_models.vllm_engine import (
    Request,
    State,
    VllmModel,
    option_logprobs,
    prompt_seed,
    states,
)
from benchwright.language_models.weights import ModelSource
from benchwright.params.scoring import VllmParams

PREFIX = (
    "The following are questions about science.\n\nQuestion: Which of these is a metal?\nAnswer:"
)
LETTERS = (" A", " B", " C", " D")
CLOZE = (" iron moves from warm to cold", " iron", " a planet", " none of these")


def prompt(text: str, continuations: tuple[str, ...] = CLOZE) -> PromptText:
    return PromptText(PREFIX, f"\n\nQuestion: {text}\nAnswer:", continuations)


def token_logprob(tokens: Sequence[int], token: int) -> float:
    """A log-probability that depends on all inputs."""
    digest = hashlib.blake2b(repr((list(tokens), token)).encode(), digest_size=4).digest()
    return -int.from_bytes(digest, "big") / 2**32


class StandIn:
    """An engine that answers by `token_logprob`; its sampling parameters are a dictionary."""

    def __init__(self) -> None:
        self.calls: list[list[Request]] = []

    @property
    def seen(self) -> list[Request]:
        return [request for call in self.calls for request in call]

    def generate(self, prompts: Any, params: list[dict[str, Any]], **_: Any) -> list[Any]:
        assert prompts
        tokens = [each["prompt_token_ids"] for each in prompts]
        self.calls.append(list(map(Request, tokens, params)))
        return [SimpleNamespace(outputs=self._samples(request)) for request in self.calls[-1]]

    def _samples(self, request: Request) -> list[Any]:
        asked = request.settings.get("logprob_token_ids", [])
        logprobs = {t: SimpleNamespace(logprob=token_logprob(request.tokens, t)) for t in asked}
        text = f"{len(request.tokens)} tokens"
        given = {"finish_reason": "stop", "token_ids": [0] * 5, "logprobs": [logprobs]}
        count = request.settings.get("n", 1)
        return [SimpleNamespace(text=f"{text}, sample {i}", **given) for i in range(count)]


def test_shared_tokens_of_options_are_requested_once() -> None:
    assert states([[7, 1, 2], [7, 1, 3], [8]]) == [
        State((), (7, 8)),
        State((7,), (1,)),
        State((7, 1), (2, 3)),
    ]


options_of_tokens = st.lists(
    st.lists(st.integers(0, 4), max_size=5).map(tuple), min_size=1, max_size=6
)


@given(options_of_tokens)
def test_sums_along_the_trie_equal_sums_along_each_option(
    options: list[tuple[int, ...]],
) -> None:
    asked = states(options)
    pairs = [(state.after, token) for state in asked for token in state.tokens]
    assert len(pairs) == len(set(pairs))
    seen = [{t: token_logprob(state.after, t) for t in state.tokens} for state in asked]
    wanted = [
        sum(token_logprob(option[:j], token) for j, token in enumerate(option))
        for option in options
    ]
    assert option_logprobs(options, asked, seen) == pytest.approx(wanted)
    assert states(options[::-1]) == asked


def stand_in_scores(tokenizer: Any, prompts: Sequence[PromptText]) -> list[tuple[float, ...]]:
    return [
        tuple(
            sum(token_logprob(item.context + o[:j], t) for j, t in enumerate(o))
            for o in item.options
        )
        for item in encode(tokenizer, prompts)
    ]


@pytest.mark.parametrize("continuations", [LETTERS, CLOZE])
def test_scores_are_sums_of_log_probabilities_in_order(
    tiny_tokenizer: Any, continuations: tuple[str, ...]
) -> None:
    prompts = [prompt(f"Which is number {7 - n}?", continuations) for n in range(7)]
    model = VllmModel(StandIn(), dict, tiny_tokenizer, max_sequences=1)
    reported: list[int] = []
    batches = list(model.score_batches([prompts[:3], [], prompts[3:]], reported.append))
    assert list(map(len, batches)) == [3, 0, 4]
    scores = [score for batch in batches for score in batch]
    for score, wanted in zip(scores, stand_in_scores(tiny_tokenizer, prompts), strict=True):
        assert score.logprobs == pytest.approx(wanted)
    lengths = [tuple(map(len, item.options)) for item in encode(tiny_tokenizer, prompts)]
    assert [score.option_tokens for score in scores] == lengths
    assert sum(reported) == 7


def test_small_batches_are_joined_and_read_lazily(tiny_tokenizer: Any) -> None:
    read = []

    def batches() -> Iterator[list[PromptText]]:
        for number in range(9, 0, -1):
            read.append(number)
            yield [prompt(f"Which is number {number}?", LETTERS)]

    engine = StandIn()
    scored = VllmModel(engine, dict, tiny_tokenizer, max_sequences=2).score_batches(
        batches(), print
    )
    next(scored)
    assert len(read) == 4  # two requests each
    list(scored)
    assert [len(call) for call in engine.calls] == [8, 8, 2]
    # Prompts with one prefix are adjacent.
    assert all(call == sorted(call, key=lambda request: request.tokens) for call in engine.calls)


def test_a_prompt_is_scored_as_long_as_it_fits_with_its_longest_option(tiny_tokenizer: Any) -> None:
    asked = prompt("Which is a planet?")
    [item] = encode(tiny_tokenizer, [asked])
    reported: list[int] = []
    for context, fits in ((item.longest, True), (item.longest - 1, False)):
        engine = StandIn()
        model = VllmModel(engine, dict, tiny_tokenizer, context)
        [[score]] = model.score_batches([[asked]], reported.append)
        assert (score.logprobs is not None) is fits
        assert bool(engine.seen) is fits
        # vLLM counts the token that it generates.
        assert all(len(request.tokens) + 1 <= context for request in engine.seen)
        assert score.prompt_tokens == len(item.context)
        assert len(score.option_tokens) == len(CLOZE)
    assert reported == [1, 1]


def test_sampling_reaches_the_engine(tiny_tokenizer: Any) -> None:
    engine = StandIn()
    model = VllmModel(engine, dict, tiny_tokenizer, max_sequences=1)  # two requests at once
    sampling = Sampling(9, samples=2, temperature=0.5, top_p=0.9, stop=("\n",), seed=3)
    asked = prompt("Which is a planet?", ())
    [[written], _] = model.generate_batches([[asked], [asked]], sampling, lambda _: None)
    assert [len(call) for call in engine.calls] == [2]
    request = engine.seen[0]
    assert request.tokens == tiny_tokenizer(asked.prefix + asked.text).input_ids
    assert request.settings == {
        "n": 2,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["\n"],
        "max_tokens": 9,
        "seed": prompt_seed(3, asked.prefix + asked.text),
    }
    n = len(request.tokens)
    assert written == ((f"{n} tokens, sample 0", f"{n} tokens, sample 1"), ("stop",) * 2, 10, n)
    [[greedy]] = model.generate_batches([[asked]], Sampling(9), lambda _: None)
    assert (engine.seen[-1].settings["n"], engine.seen[-1].settings["seed"]) == (1, None)
    assert greedy == ((f"{n} tokens, sample 0",), ("stop",), 5, n)


def test_prompt_that_fills_the_context_gets_no_answer(tiny_tokenizer: Any) -> None:
    asked = prompt("Which is a planet?", ())
    n = len(tiny_tokenizer(asked.prefix + asked.text).input_ids)
    reported: list[int] = []
    for context, fits in ((n, False), (n + 1, True)):
        model = VllmModel(StandIn(), dict, tiny_tokenizer, context)
        [[written]] = model.generate_batches([[asked]], Sampling(9), reported.append)
        assert (written.texts is not None) is fits
        assert written.prompt_tokens == n
    assert reported == [1, 1]


def stand_in_module(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, name, module)
    return module


@pytest.mark.parametrize("error", [RuntimeError, ImportError, AssertionError])
def test_backend_that_cannot_start_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def llm(*_: Any, **__: Any) -> None:
        raise error("no room\n for the model")

    platform = SimpleNamespace(device_type="cpu")
    stand_in_module(monkeypatch, "vllm", LLM=llm, SamplingParams=dict)
    stand_in_module(monkeypatch, "vllm.platforms", current_platform=platform)
    stand_in_module(monkeypatch, "vllm.triton_utils", dispatcher=SimpleNamespace())
    with pytest.raises(InputError, match=r"^vLLM cannot start here: no room for the model$"):
        VllmModel.load(ModelSource("here"), "float32")
    with pytest.raises(InputError, match=r"^scoring\.device is cuda, but .* runs on cpu"):
        VllmModel.load(ModelSource("here"), "float32", "cuda")


def plain_scores(model: Any, tokenizer: Any, prompts: Sequence[PromptText]) -> list[list[float]]:
    """Log-likelihoods one text at a time, with logits in float32."""
    import torch

    table = []
    with torch.inference_mode():
        head = model.get_output_embeddings().weight.float()
        for item in encode(tokenizer, prompts):
            sums = []
            for option in item.options:
                ids = torch.tensor([item.context + option])
                states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
                rows = states[len(item.context) - 1 : -1].float() @ head.T
                values = torch.log_softmax(rows, dim=-1)
                sums.append(sum(float(values[j, token]) for j, token in enumerate(option)))
            table.append(sums)
    return table


def furthest(scores: Sequence[PromptScore], table: Sequence[Sequence[float]]) -> float:
    """Largest difference per token, in nats."""
    return max(
        abs(a - b) / n
        for score, sums in zip(scores, table, strict=True)
        for a, b, n in zip(score.logprobs or (), sums, score.option_tokens, strict=True)
    )


@pytest.fixture(scope="module")
def tiny_folder(tiny_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama with random weights, in a shape that vLLM supports."""
    pytest.importorskip("vllm")
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=400,
        hidden_size=128,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.1,
        bos_token_id=None,
        eos_token_id=tiny_tokenizer.eos_token_id,
    )
    folder = tmp_path_factory.mktemp("tiny-llama")
    LlamaForCausalLM(config).save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    return folder


class Hostile:
    """A value that may not be looked at, as Flask's proxies outside of a request."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"{name} was asked for")


@pytest.fixture(scope="module")
def tiny_vllm(tiny_folder: Path) -> Iterator[VllmModel]:
    """The folder's model, loaded where a module holds something hostile."""
    with pytest.MonkeyPatch.context() as patch:
        stand_in_module(patch, "loaded_before", proxy=Hostile())
        model = VllmModel.load(
            ModelSource(str(tiny_folder)),
            "float32",
            context=512,
            settings=VllmParams(enforce_eager=True, max_sequences=4),
        )
        yield model
        model.close()


def reference(folder: Path, dtype: str) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()


@pytest.mark.vllm
@pytest.mark.parametrize("continuations", [LETTERS, CLOZE])
def test_vllm_scores_as_transformers_does_in_float32(
    tiny_vllm: VllmModel, tiny_folder: Path, continuations: tuple[str, ...]
) -> None:
    prompts = [prompt(f"Which is number {n}?", continuations) for n in range(9)]
    batches = tiny_vllm.score_batches([prompts[:5], [], prompts[5:]], lambda _: None)
    scores = [score for batch in batches for score in batch]
    table = plain_scores(reference(tiny_folder, "float32"), tiny_vllm.tokenizer, prompts)
    assert furthest(scores, table) < 1e-3  # float32 sums in another order


@pytest.mark.vllm
def test_vllm_samples_do_not_depend_on_other_prompts(tiny_vllm: VllmModel) -> None:
    prompts = [prompt(f"Which is number {n}?", ()) for n in range(5)]
    sampling = Sampling(6, samples=3, temperature=1.0, seed=1)
    [together] = tiny_vllm.generate_batches([prompts], sampling, lambda _: None)
    [[alone]] = tiny_vllm.generate_batches([[prompts[3]]], sampling, lambda _: None)
    assert alone == together[3]
    assert len(set(alone.texts or ())) > 1
    [[other]] = tiny_vllm.generate_batches(
        [[prompts[3]]], sampling._replace(seed=2), lambda _: None
    )
    assert other.texts != alone.texts
