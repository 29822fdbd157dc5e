"""What it gives to reorder the weights of linear layers once, in one process.

python benchmarks/bench_packing.py --texts 512 --prompts 24 --rounds 5

Encodes questions and scores prompts with and without packed layers, in turn, in bfloat16 on the
processor. Printed is the median of the rounds' ratios of processor time, and whether all bits are
the same. Questions are those of bench_scoring.py.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import yaml

from bench_scoring import REPOSITORY, prompts, questions
from benchwright.language_models import hf_transformers, text_encoders
from benchwright.language_models.hf_transformers import TransformersModel
from benchwright.language_models.packed_layers import pack_linear_layers
from benchwright.language_models.weights import locate_encoder, model_source
from benchwright.params.scoring import ModelsParams
from benchwright.similarity.vectors import item_text


def compare(name: str, run: Callable[[bool], Any], rounds: int) -> None:
    """Time both ways in turn."""
    plain, packed = run(False), run(True)  # also a warm-up
    ratios = []
    for _ in range(rounds):
        seconds = []
        for way in (False, True):
            start = time.process_time()
            run(way)
            seconds.append(time.process_time() - start)
        ratios.append(seconds[0] / seconds[1])
    low, high = min(ratios), max(ratios)
    print(
        f"{name:8} {np.median(ratios):.3f}× as fast ({low:.3f} to {high:.3f}, {rounds} rounds), "
        f"{'the same bits' if np.array_equal(plain, packed) else 'OTHER BITS'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=512)
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    conf = yaml.safe_load((REPOSITORY / "conf/base/parameters/models.yml").read_text())
    models = ModelsParams.model_validate(conf["models"])
    encoder = models.encoders["all-minilm-l6-v2"].weights
    weights = models.models["smollm2-135m-instruct"].weights
    assert encoder is not None
    assert weights is not None
    folder = locate_encoder(encoder)
    _, items = questions(given.texts)
    texts = [item_text(item.text, item.choices) for item in items]

    def encode(packed: bool) -> Any:
        text_encoders.pack_linear_layers = pack_linear_layers if packed else lambda _: None
        return text_encoders.encode(texts, folder, dtype="bfloat16", device="cpu")

    compare("encoding", encode, given.rounds)
    if not given.prompts:
        return
    loaded = []
    for packed in (False, True):
        hf_transformers.pack_linear_layers = pack_linear_layers if packed else lambda *_, **__: None
        loaded.append(TransformersModel.load(model_source(weights, "bfloat16"), "bfloat16"))
    for style in ("letters", "cloze"):
        asked, _ = prompts(style, 5, given.prompts)

        def score(packed: bool, asked: Any = asked) -> Any:
            scores = loaded[packed].score(asked)
            return np.concatenate([one.logprobs or () for one in scores])

        compare(style, score, given.rounds)


if __name__ == "__main__":
    main()
