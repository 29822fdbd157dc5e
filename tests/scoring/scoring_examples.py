"""Items, settings and a model without weights for tests of the scoring stage."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from benchwright.language_models.protocol import (
    Generated,
    Progress,
    PromptScore,
    PromptText,
    Sampling,
)
from benchwright.params.scoring import ScoringParams


def item(
    item_id: str,
    subject: str = "anatomy",
    choices: Sequence[str] = ("red", "green", "blue", "grey"),
    answer: int = 1,
    question: str | None = None,
) -> dict[str, Any]:
    question = question or f"Which colour has {item_id}?"
    content = f"{question}\x1f{choices}"
    return {
        "item_id": item_id,
        "split": "test",
        "subject": subject,
        "question": question,
        "choices": list(choices),
        "answer": answer,
        "answer_text": choices[answer] if choices and answer >= 0 else "",
        "correct_set": [answer],
        "passage_id": None,
        "explanation": None,
        "domain": None,
        "url": None,
        "source_id": None,
        "content_hash": hashlib.sha256(content.encode()).hexdigest()[:16],
    }


def model_entry(number: int, **changes: Any) -> dict[str, Any]:
    weights = {"package": "p", "file": "p/model.gguf", "sha256": str(number) * 64}
    return {"weights": weights, "family": "f", "context": 4096, **changes}


def live(*configurations: str, **changes: Any) -> ScoringParams:
    given = {"dtype": "float32", "device": "cpu", "shard_size": 4, **changes}
    return ScoringParams.model_validate({"mode": "live", "configurations": configurations, **given})


def number(text: str) -> float:
    return -int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) / 1e5


class StandIn:
    """A model whose scores depend slightly on the batch."""

    loaded: ClassVar[list[str]] = []
    says: ClassVar[Callable[[PromptText, int], str]] = lambda prompt, sample: "The answer is (B)."

    def __init__(self, sha256: str) -> None:
        self.sha256 = sha256

    def score(
        self, prompts: Sequence[PromptText], progress: Callable[[int], object] | None = None
    ) -> list[PromptScore]:
        batch = number("".join(p.prefix + p.text for p in prompts)) * 1e-6
        scores = []
        for prompt in prompts:
            whole = self.sha256 + prompt.prefix + prompt.text
            values = tuple(number(whole + text) + batch for text in prompt.continuations)
            tokens = tuple(len(text.split()) for text in prompt.continuations)
            fits = len(prompt.text) < 900
            scores.append(PromptScore(values if fits else None, tokens, len(whole.split())))
            if progress:
                progress(1)
        return scores

    def score_batches(
        self, batches: Iterable[Sequence[PromptText]], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        for prompts in batches:
            yield self.score(prompts, progress)

    def generate_batches(
        self, batches: Iterable[Sequence[PromptText]], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        for prompts in batches:
            progress(len(prompts))
            yield [self._write(prompt, sampling) for prompt in prompts]

    def _write(self, prompt: PromptText, sampling: Sampling) -> Generated:
        if len(prompt.text) >= 900:
            return Generated(None, (), 0, 900)
        texts = tuple(StandIn.says(prompt, n) for n in range(sampling.samples))
        words = sampling.max_tokens
        cut = tuple(t if len(t.split()) <= words else t[:words] for t in texts)
        finish = tuple("stop" if a == b else "length" for a, b in zip(cut, texts, strict=True))
        return Generated(cut, finish, sum(len(text.split()) for text in cut), 9)

    def close(self) -> None:
        StandIn.loaded.append("closed")
