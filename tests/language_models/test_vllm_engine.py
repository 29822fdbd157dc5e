"""Requests to vLLM and their order; its answers equal those of Transformers.

Most tests run against an engine that stands in for vLLM; those marked `vllm` need the real one.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.language_models import vllm_engine
from benchwright.language_models.protocol import PromptScore, PromptText, Sampling
from benchwright.language_models.tokenization import encode
from benchwright.language_models.vllm_engine import (
    Completion,
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
    """An engine that answers by `token_logprob`."""

    def __init__(self) -> None:
        self.calls: list[list[Request]] = []

    @property
    def seen(self) -> list[Request]:
        return [request for call in self.calls for request in call]

    def answer(self, requests: Sequence[Request]) -> list[list[Completion]]:
        assert requests
        self.calls.append(list(requests))
        return [self._samples(request) for request in requests]

    def _samples(self, request: Request) -> list[Completion]:
        asked = request.settings.get("logprob_token_ids", [])
        logprobs = {token: token_logprob(request.tokens, token) for token in asked}
        text = f"{len(request.tokens)} tokens"
        return [
            Completion(f"{text}, sample {i}", "stop", 5, logprobs)
            for i in range(request.settings.get("n", 1))
        ]

    def close(self) -> None:
        self.calls.clear()


def test_shared_tokens_of_options_are_requested_once() -> None:
    assert states([[7, 1, 2], [7, 1, 3], [8]]) == [
        State((), (7, 8)),
        State((7,), (1,)),
        State((7, 1), (2, 3)),
    ]


def test_points_with_many_tokens_are_split() -> None:
    parts = states([[token] for token in range(300)])
    assert [len(part.tokens) for part in parts] == [128, 128, 44]
    assert [token for part in parts for token in part.tokens] == list(range(300))


options_of_tokens = st.lists(
    st.lists(st.integers(0, 4), max_size=5).map(tuple), min_size=1, max_size=6
)


@given(options_of_tokens, st.integers(1, 3))
def test_sums_along_the_trie_equal_sums_along_each_option(
    options: list[tuple[int, ...]], most: int
) -> None:
    asked = states(options, most)
    assert all(1 <= len(state.tokens) <= most for state in asked)
    pairs = [(state.after, token) for state in asked for token in state.tokens]
    assert len(pairs) == len(set(pairs))
    seen = [{t: token_logprob(state.after, t) for t in state.tokens} for state in asked]
    wanted = [
        sum(token_logprob(option[:j], token) for j, token in enumerate(option))
        for option in options
    ]
    assert option_logprobs(options, asked, seen) == pytest.approx(wanted)
    assert states(options[::-1], most) == asked


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
    model = VllmModel(StandIn(), tiny_tokenizer, max_sequences=1)
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
    scored = VllmModel(engine, tiny_tokenizer, max_sequences=2).score_batches(batches(), print)
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
        model = VllmModel(engine, tiny_tokenizer, context)
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
    model = VllmModel(engine, tiny_tokenizer)
    sampling = Sampling(9, samples=2, temperature=0.5, top_p=0.9, stop=("\n",), seed=3)
    asked = prompt("Which is a planet?", ())
    [[written]] = model.generate_batches([[asked]], sampling, lambda _: None)
    [request] = engine.seen
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


def test_greedy_decoding_writes_one_answer(
    tiny_tokenizer: Any,
) -> None:
    engine = StandIn()
    model = VllmModel(engine, tiny_tokenizer)
    asked = prompt("Which is a planet?", ())
    [[written]] = model.generate_batches([[asked]], Sampling(9, samples=3), lambda _: None)
    [request] = engine.seen
    assert request.settings["n"] == 1
    assert request.settings["seed"] is None
    assert written.texts is not None
    assert len(written.texts) == len(written.finish) == 3
    assert written.generated_tokens == 15


def test_prompt_that_fills_the_context_gets_no_answer(tiny_tokenizer: Any) -> None:
    asked = prompt("Which is a planet?", ())
    n = len(tiny_tokenizer(asked.prefix + asked.text).input_ids)
    reported: list[int] = []
    for context, fits in ((n, False), (n + 1, True)):
        model = VllmModel(StandIn(), tiny_tokenizer, context)
        [[written]] = model.generate_batches([[asked]], Sampling(9), reported.append)
        assert (written.texts is not None) is fits
        assert written.prompt_tokens == n
    assert reported == [1, 1]


def test_many_samples_count_as_many_requests(tiny_tokenizer: Any) -> None:
    engine = StandIn()
    model = VllmModel(engine, tiny_tokenizer, max_sequences=2)
    sampling = Sampling(9, samples=4, temperature=1.0)
    batches = [[prompt(f"Which is number {n}?", ())] for n in range(5)]
    list(model.generate_batches(batches, sampling, lambda _: None))
    assert [len(call) for call in engine.calls] == [2, 2, 1]


def test_invalid_temperature_is_reported_in_one_line(tiny_tokenizer: Any) -> None:
    model = VllmModel(StandIn(), tiny_tokenizer)
    with pytest.raises(InputError, match=r"temperature is 3: backend vllm takes at most 2$"):
        model.generate_batches([[]], Sampling(9, temperature=3), lambda _: None)


def test_missing_vllm_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_engine, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'benchwright\[gpu\]'$"):
        VllmModel.load(ModelSource("nowhere"), "float32")


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


@pytest.fixture(scope="module")
def tiny_vllm(tiny_folder: Path) -> Iterator[VllmModel]:
    settings = VllmParams(enforce_eager=True, max_sequences=4)
    model = VllmModel.load(ModelSource(str(tiny_folder)), "float32", "cpu", 512, settings)
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
def test_vllm_scores_are_reproducible(tiny_vllm: VllmModel) -> None:
    prompts = [prompt(f"Which is number {n}?") for n in range(9)]
    engine: Any = tiny_vllm.engine

    def scored() -> list[list[PromptScore]]:
        engine.llm.reset_prefix_cache()
        return list(tiny_vllm.score_batches([prompts[:5], prompts[5:]], lambda _: None))

    assert scored() == scored()


@pytest.mark.vllm
def test_vllm_writes_the_most_probable_tokens(tiny_vllm: VllmModel, tiny_folder: Path) -> None:
    import torch

    prompts = [prompt(f"Which is number {n}?", ()) for n in range(3)]
    model, tokenizer = reference(tiny_folder, "float32"), tiny_vllm.tokenizer
    [written] = tiny_vllm.generate_batches([prompts], Sampling(8), lambda _: None)
    for asked, answer in zip(prompts, written, strict=True):
        ids = tokenizer(asked.prefix + asked.text, return_tensors="pt").input_ids
        with torch.inference_mode():
            whole = model.generate(ids, max_new_tokens=8, do_sample=False)[0]
        rows = whole[ids.shape[1] :]
        whole_characters = tokenizer.decode(rows, skip_special_tokens=True).rstrip(
            "\N{REPLACEMENT CHARACTER}"
        )
        assert answer.texts == (whole_characters,)
        assert answer.finish == ("length" if rows[-1] != tokenizer.eos_token_id else "stop",)
        assert answer.generated_tokens == len(rows)


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


@pytest.mark.vllm
def test_vllm_ends_an_answer_before_its_stop_text(tiny_vllm: VllmModel) -> None:
    asked = prompt("Which is number 1?", ())
    [[free]] = tiny_vllm.generate_batches([[asked]], Sampling(12), lambda _: None)
    [text] = free.texts or ("",)
    stop = text[len(text) // 2 :][:2]
    assert stop
    [[cut]] = tiny_vllm.generate_batches([[asked]], Sampling(12, stop=(stop,)), lambda _: None)
    assert cut.texts == (text[: text.index(stop)],)
    assert cut.finish == ("stop",)


@pytest.mark.vllm
def test_context_beyond_the_model_is_reported_in_one_line(tiny_folder: Path) -> None:
    with pytest.raises(InputError, match="vLLM refuses"):
        VllmModel.load(ModelSource(str(tiny_folder)), "float32", "cpu", 100_000)


@pytest.mark.vllm
@pytest.mark.live
@pytest.mark.parametrize("continuations", [LETTERS, CLOZE])
def test_vllm_scores_a_real_model_as_transformers_does_in_bfloat16(
    real_vllm: tuple[VllmModel, Path], continuations: tuple[str, ...], show: Callable[[str], None]
) -> None:
    model, folder = real_vllm
    prompts = [prompt(f"Which is number {n}?", continuations) for n in range(6)]
    [scores] = model.score_batches([prompts], lambda _: None)
    apart = furthest(scores, plain_scores(reference(folder, "bfloat16"), model.tokenizer, prompts))
    style = "letters" if continuations == LETTERS else "cloze"
    show(f"vLLM to Transformers in bfloat16, {style}: at most {apart:.3f} nats per token apart")
    # Both heads are in float32; kernels round the bfloat16 layers below them differently.
    assert apart < 0.3


@pytest.fixture(scope="module")
def real_vllm(smollm2_folder: Path) -> Iterator[tuple[VllmModel, Path]]:
    pytest.importorskip("vllm")
    folder = smollm2_folder
    source = ModelSource(str(folder))
    model = VllmModel.load(source, "bfloat16", "cpu", 2048, VllmParams(enforce_eager=True))
    yield model, folder
    model.close()
