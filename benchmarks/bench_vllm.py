"""What our vLLM backend costs over `LLM.generate` with the same requests, in one process.

python benchmarks/bench_vllm.py --weights <folder in Transformers' format> --prompts 300

Both ask for the same token ids with the same sampling parameters, each from an empty prefix cache,
in turn; ours also tokenises, in batches of `--batch`, and adds the options up. The fastest of
`--repeats` counts, by the clock and by processor time, which other programs disturb less
(OMP_WAIT_POLICY=PASSIVE keeps waiting threads from spinning). Then the largest difference of an
option's log-likelihood from a second run and from one text at a time in Transformers. Reads ARC as
bench_scoring.py does.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from bench_scoring import prompts
from benchwright.language_models.protocol import PromptScore, PromptText
from benchwright.language_models.tokenization import Encoded, encode
from benchwright.language_models.vllm_engine import VllmEngine, VllmModel, states
from benchwright.language_models.weights import Dtype, ModelSource, resolve_device, resolve_dtype
from benchwright.params.scoring import VllmParams

T = TypeVar("T")


class Seconds(NamedTuple):
    """By the clock and of the processor, which other programs do not change."""

    wall: float
    processor: float


def ours(model: VllmModel, asked: Sequence[PromptText], size: int) -> list[PromptScore]:
    """Scores through the backend, batch by batch."""
    rest = iter(asked)
    batches = iter(lambda: list(islice(rest, size)), [])
    return [score for done in model.score_batches(batches, lambda _: None) for score in done]


def direct(engine: VllmEngine, encoded: Sequence[Encoded]) -> int:
    """The same requests through `LLM.generate`; how many they are."""
    from vllm import SamplingParams

    given = [
        (
            {"prompt_token_ids": item.context + list(state.after)},
            SamplingParams(
                max_tokens=1,
                temperature=0.0,
                logprob_token_ids=list(state.tokens),
                detokenize=False,
            ),
        )
        for item in encoded
        for state in states(item.options)
    ]
    engine.llm.generate(
        [prompt for prompt, _ in given], [params for _, params in given], use_tqdm=False
    )
    return len(given)


def plain(folder: str, dtype: Dtype, encoded: Sequence[Encoded]) -> list[list[float]]:
    """Log-likelihoods with Transformers, one text per pass: no cache, the model's own logits."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
    table = []
    with torch.inference_mode():
        for item in encoded:
            sums = []
            for option in item.options:
                ids = torch.tensor([item.context + option])
                rows = model(input_ids=ids, use_cache=False).logits[0, len(item.context) - 1 : -1]
                values = torch.log_softmax(rows.float(), dim=-1)
                sums.append(sum(float(values[j, token]) for j, token in enumerate(option)))
            table.append(sums)
    return table


def apart(scores: Sequence[PromptScore], table: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Largest and mean difference, in nats, of the options of the first prompts."""
    differences = [
        abs(a - b)
        for score, sums in zip(scores, table, strict=False)
        for a, b in zip(score.logprobs or (), sums, strict=True)
    ]
    return max(differences, default=0.0), statistics.fmean(differences or [0.0])


def timed(engine: VllmEngine, kept: list[Seconds], way: Callable[[], T]) -> T:
    """What `way` gives from an empty prefix cache; how long it took goes to `kept`."""
    engine.llm.reset_prefix_cache()
    start = Seconds(time.perf_counter(), time.process_time())
    result = way()
    kept.append(Seconds(time.perf_counter() - start.wall, time.process_time() - start.processor))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3, help="at least 2")
    parser.add_argument("--plain", type=int, default=24, help="prompts scored one by one")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--styles", nargs="+", default=["letters", "cloze"])
    given = parser.parse_args()
    if find_spec("vllm") is None:
        print("not run: vLLM is not installed here (make vllm)")
        return
    device = resolve_device("auto")
    dtype = resolve_dtype(given.dtype, device)
    settings = VllmParams(enforce_eager=given.eager)
    start = time.perf_counter()
    model = VllmModel.load(ModelSource(given.weights), dtype, device, 2048, settings)
    print(f"loaded in {time.perf_counter() - start:.0f} s: {dtype} on {device}", flush=True)
    engine = model.engine
    assert isinstance(engine, VllmEngine)
    kept: dict[str, tuple[list[PromptScore], list[Encoded]]] = {}
    for style in given.styles:
        asked, gold = prompts(style, given.shots, given.prompts)
        encoded = encode(model.tokenizer, asked)
        ours(model, asked[:8], given.batch)  # warm up
        our_seconds: list[Seconds] = []
        reference: list[Seconds] = []
        for _ in range(given.repeats):
            scores = timed(engine, our_seconds, partial(ours, model, asked, given.batch))
            requests = timed(engine, reference, partial(direct, engine, encoded))
            if style in kept:
                again = apart(scores, [score.logprobs or () for score in kept[style][0]])
                print(f"{style:7} the same again: at most {again[0]:.2g} apart", flush=True)
            kept[style] = (scores, encoded)
        wall = min(s.wall for s in our_seconds), min(s.wall for s in reference)
        work = min(s.processor for s in reference) / min(s.processor for s in our_seconds)
        best = [np.argmax(score.logprobs or [0]) for score in scores]
        print(
            f"{style:7} {given.shots}-shot {requests} requests: "
            f"ours {given.prompts / wall[0]:.1f}/s, LLM.generate {given.prompts / wall[1]:.1f}/s, "
            f"ratio {wall[1] / wall[0]:.3f} (by processor time {work:.3f}), "
            f"accuracy {np.mean(np.equal(best, gold)):.3f}",
            flush=True,
        )
    model.close()
    for other in dict.fromkeys((dtype, "float32")):
        for style, (scores, encoded) in kept.items():
            largest, mean = apart(scores, plain(given.weights, other, encoded[: given.plain]))
            print(
                f"{style:7} to Transformers one by one in {other}: "
                f"largest {largest:.3g}, mean {mean:.2g} nats",
                flush=True,
            )


if __name__ == "__main__":
    main()
