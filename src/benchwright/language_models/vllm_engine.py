"""Scoring and writing with vLLM: many prompts at once, prefixes read once from its cache.

A prompt with its options becomes a few requests for one token each, whose log-probabilities are
asked for by token id, so that labels need one request however many there are.
"""

import hashlib
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from types import ModuleType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from benchwright.core.errors import InputError, in_short
from benchwright.language_models.protocol import (
    Generated,
    Progress,
    Prompts,
    PromptScore,
    PromptText,
    Sampling,
)
from benchwright.language_models.tokenization import Encoded, encode, encode_contexts
from benchwright.language_models.weights import Device, Dtype, ModelSource, load_tokenizer
from benchwright.params.scoring import VllmParams

T = TypeVar("T")

_AT_ONCE = 4  # requests given to vLLM together, per sequence that it runs side by side
_CPU_CACHE = 2 << 30  # bytes of keys and values; VLLM_CPU_KVCACHE_SPACE, where set, overrides it
_CPU_BLOCK = 32  # tokens; vLLM's own 128 leaves most of a prefix uncached
_ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # In this process, so that no timing decides which requests share a step.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}


class State(NamedTuple):
    """A point at which the model is asked how probable each of `tokens` is `after` these."""

    after: tuple[int, ...]
    tokens: tuple[int, ...]


class Request(NamedTuple):
    """One request: the tokens the model reads and the fields of vLLM's `SamplingParams`."""

    tokens: list[int]
    settings: dict[str, Any]


@dataclass(eq=False)
class Job(Generic[T]):
    """A prompt: its requests, and the function from their answers to its result."""

    requests: list[Request]
    finish: Callable[[list[Any]], T]  # of the samples of each, vLLM's `CompletionOutput`


def states(options: Sequence[Sequence[int]]) -> list[State]:
    """Return every distinct point at which a token of an option is predicted, shortest first.

    The options' tokens form a trie: what several options share is asked once, labels of one token
    are all asked at the root.
    """
    asked: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for option in options:
        for position, token in enumerate(option):
            asked[tuple(option[:position])].add(token)
    shortest_first = sorted(asked, key=lambda after: (len(after), after))
    return [State(after, tuple(sorted(asked[after]))) for after in shortest_first]


def option_logprobs(
    options: Sequence[Sequence[int]], asked: Sequence[State], seen: Sequence[Mapping[int, float]]
) -> tuple[float, ...]:
    """Return each option's log-likelihood (nats), from the log-probabilities `seen` per state."""
    known = {
        (*state.after, token): values[token]
        for state, values in zip(asked, seen, strict=True)
        for token in state.tokens
    }
    return tuple(
        sum(known[tuple(option[: length + 1])] for length in range(len(option)))
        for option in options
    )


class _OwnModules:
    """`sys` for vLLM's search for copies of its kernels, which it makes in all loaded modules.

    vLLM for processors looks at the `__dict__` of everything that a module holds. What others have
    loaded may answer with any error (Flask's `g` does, which MLflow imports), and has no kernels.
    """

    @property
    def modules(self) -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name.startswith("vllm")}


def _started(
    source: ModelSource, dtype: Dtype, device: Device, *, context: int, settings: VllmParams
) -> Any:
    """Return vLLM's `LLM` with the model loaded; errors are vLLM's own."""
    for name, value in _ENVIRONMENT.items():  # vLLM reads them when it is imported
        os.environ.setdefault(name, value)
    from vllm import LLM
    from vllm.platforms import current_platform
    from vllm.triton_utils import dispatcher

    if current_platform.device_type != device:
        raise InputError(
            f"scoring.device is {device}, but the installed vLLM runs on "
            f"{current_platform.device_type or 'no device here'}: install vLLM's build for "
            f"{device}, or change scoring.device"
        )
    dispatcher.sys = _OwnModules()
    on_cpu = {"block_size": _CPU_BLOCK, "kv_cache_memory_bytes": _CPU_CACHE}
    return LLM(
        source.name_or_path,
        revision=source.revision,
        tokenizer_revision=source.revision,
        trust_remote_code=source.trust_remote_code,
        dtype=dtype,
        hf_overrides={"head_dtype": "float32"},
        max_model_len=context,
        max_num_seqs=settings.max_sequences,
        tensor_parallel_size=settings.tensor_parallel,
        gpu_memory_utilization=settings.gpu_memory,
        enforce_eager=settings.enforce_eager,
        enable_prefix_caching=True,
        seed=0,
        use_tqdm_on_load=False,
        **(on_cpu if device == "cpu" else {}),
    )


class VllmModel:
    """A causal language model run by vLLM, with its prefix cache on.

    Log-likelihoods equal those of the Transformers backend up to rounding. The same batches give
    the same bits; in other batches bfloat16 may round by tenths of a nat per option, which
    VLLM_BATCH_INVARIANT=1 rules out on recent GPUs. With VLLM_ENABLE_V1_MULTIPROCESSING=1 timing
    decides which requests share a step.
    `engine` is vLLM's `LLM`, `sampling_params` its class.
    """

    def __init__(
        self,
        engine: Any,
        sampling_params: Callable[..., Any],
        tokenizer: Any,
        context: int = 2048,
        max_sequences: int = 256,
    ) -> None:
        self.engine = engine
        self.sampling_params = sampling_params
        self.tokenizer = tokenizer
        self.context = context
        self.at_once = _AT_ONCE * max_sequences

    @classmethod
    def load(
        cls,
        source: ModelSource,
        dtype: Dtype,
        device: Device = "cpu",
        context: int = 2048,
        settings: VllmParams | None = None,
    ) -> Self:
        """Load a model; `device` must be the one vLLM was built for.

        Raises:
            InputError: vLLM is not installed, was built for another device, or cannot start.
        """
        settings = settings or VllmParams()
        if find_spec("vllm") is None:
            raise InputError("backend vllm needs vLLM: pip install 'benchwright[gpu]'")
        try:
            engine = _started(source, dtype, device, context=context, settings=settings)
            from vllm import SamplingParams
        except InputError:
            raise
        except Exception as error:  # of any class, from the import on
            message = f"vLLM cannot start {source.name_or_path}: {in_short(error)}"
            raise InputError(message) from error
        tokenizer = load_tokenizer(source)
        return cls(engine, SamplingParams, tokenizer, context, settings.max_sequences)

    def score_batches(
        self, batches: Iterable[Prompts], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Yield the log-likelihoods of the continuations; see `PromptScore`."""

        def prepare(prompts: Prompts) -> list[Job[PromptScore]]:
            return [self._scoring(item) for item in encode(self.tokenizer, prompts)]

        return self._results(map(prepare, batches), self.at_once, progress)

    def generate_batches(
        self, batches: Iterable[Prompts], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Yield the written answers; see `Generated`.

        Draws are seeded by `sampling.seed` and the prompt: neighbours change rounding alone.
        """

        def prepare(prompts: Prompts) -> list[Job[Generated]]:
            contexts = encode_contexts(self.tokenizer, prompts)
            pairs = zip(prompts, contexts, strict=True)
            return [self._writing(prompt, tokens, sampling) for prompt, tokens in pairs]

        at_once = self.at_once // sampling.samples
        return self._results(map(prepare, batches), at_once, progress)

    def _results(
        self, batches: Iterable[list[Job[T]]], at_once: int, progress: Progress
    ) -> Iterator[list[T]]:
        """Yield the results of each batch; small batches are joined to `at_once` requests."""
        joined: list[list[Job[T]]] = []
        n_requests = 0
        for batch in batches:
            joined.append(batch)
            n_requests += sum(len(job.requests) for job in batch)
            if n_requests >= at_once:
                yield from self._answered(joined, progress)
                joined = []
                n_requests = 0
        yield from self._answered(joined, progress)

    def _answered(self, batches: list[list[Job[T]]], progress: Progress) -> Iterator[list[T]]:
        jobs = [job for batch in batches for job in batch]
        # Prompts with one prefix are adjacent, so that it stays in the cache until all are done.
        ordered = sorted(jobs, key=lambda job: [first.tokens for first in job.requests[:1]])
        requests = [request for job in ordered for request in job.requests]
        prompts = [{"prompt_token_ids": request.tokens} for request in requests]
        params = [self.sampling_params(**request.settings) for request in requests]
        outputs = self.engine.generate(prompts, params, use_tqdm=False) if requests else []
        answers = iter([output.outputs for output in outputs])
        results: dict[Job[T], T] = {}
        for job in ordered:
            own = list(islice(answers, len(job.requests)))
            results[job] = job.finish(own)
        progress(len(jobs))
        for batch in batches:
            yield [results[job] for job in batch]

    def close(self) -> None:
        import torch
        from vllm.distributed import cleanup_dist_env_and_memory

        self.engine.llm_engine.engine_core.shutdown()
        del self.engine
        cleanup_dist_env_and_memory()  # collects garbage, too
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _scoring(self, item: Encoded) -> Job[PromptScore]:
        lengths = item.option_tokens
        n_tokens = len(item.context)
        if item.longest > self.context:
            return Job([], lambda _: PromptScore(None, lengths, n_tokens))
        # vLLM's `prompt_logprobs` would take whole options, but reads every prompt afresh and
        # computes the logits of every position: 8 times slower than the trie.
        asked = states(item.options)
        greedy = {"max_tokens": 1, "temperature": 0.0, "detokenize": False}
        requests = [
            Request([*item.context, *after], {**greedy, "logprob_token_ids": list(tokens)})
            for after, tokens in asked
        ]

        def finish(answers: list[Any]) -> PromptScore:
            seen = []
            for samples in answers:
                listed = samples[0].logprobs[0]
                seen.append({token: entry.logprob for token, entry in listed.items()})
            return PromptScore(option_logprobs(item.options, asked, seen), lengths, n_tokens)

        return Job(requests, finish)

    def _writing(self, prompt: PromptText, tokens: list[int], sampling: Sampling) -> Job[Generated]:
        n_tokens = len(tokens)
        if n_tokens >= self.context:
            return Job([], lambda _: Generated(None, (), 0, n_tokens))
        drawn = sampling.temperature > 0
        settings = {
            "n": sampling.samples,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop": list(sampling.stop),
            "max_tokens": sampling.max_tokens,
            "seed": prompt_seed(sampling.seed, prompt.shown) if drawn else None,
        }

        def finish(answers: list[Any]) -> Generated:
            [samples] = answers
            texts = tuple(sample.text for sample in samples)
            ends = tuple(sample.finish_reason for sample in samples)
            if not {"stop", "length"}.issuperset(ends):
                raise RuntimeError(f"vLLM ended a request with {ends}")
            generated = sum(len(sample.token_ids) for sample in samples)
            return Generated(texts, ends, generated, prompt_tokens=n_tokens)

        return Job([Request(tokens, settings)], finish)


def prompt_seed(seed: int, text: str) -> int:
    """Return the seed of one prompt's draws, below 2⁶²: vLLM adds a sample's number to it."""
    digest = hashlib.blake2b(f"{seed}\x1f{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2
