"""What a sweep runs: every benchmark with every variant and every seed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchwright.core.errors import InputError


class Combination(NamedTuple):
    """One run of a sweep."""

    benchmark: str
    variant: str
    seed: int

    def __str__(self) -> str:
        """As progress lines name it: `arc · smart · seed 0`."""
        return f"{self.benchmark} · {self.variant} · seed {self.seed}"


def combine(
    benchmarks: Sequence[str], variants: Sequence[str], seeds: Sequence[int]
) -> list[Combination]:
    """All combinations, the seeds of one benchmark and variant next to each other.

    A name given twice counts once.
    """
    return [
        Combination(benchmark, variant, seed)
        for benchmark in dict.fromkeys(benchmarks)
        for variant in dict.fromkeys(variants)
        for seed in dict.fromkeys(seeds)
    ]


def split_names(text: str) -> list[str]:
    """`"arc, mmlu"` as `["arc", "mmlu"]`; empty parts are dropped."""
    return [name for part in text.split(",") if (name := part.strip())]


def split_seeds(text: str) -> list[int]:
    """`"0,1"` as `[0, 1]`.

    Raises:
        InputError: a seed is not a whole number from 0.
    """
    seeds = []
    for name in split_names(text):
        if not name.isdecimal():
            raise InputError(f"--seeds {name!r}: seeds are whole numbers from 0, e.g. 0,1,2")
        seeds.append(int(name))
    return seeds


def refuse_swept_parameters(params: Mapping[str, Any]) -> None:
    """Refuse `--params` that would say the same as an option of the sweep.

    Raises:
        InputError: benchmark, variant or seed is among them.
    """
    for name in ("benchmark", "variant", "seed"):
        if name in params:
            raise InputError(f"--params {name}=…: a sweep takes --{name}s {params[name]}")


class Durations:
    """How long combinations took, and from that how long the rest will take."""

    def __init__(self) -> None:
        self._taken: list[tuple[Combination, float]] = []

    def add(self, combination: Combination, seconds: float) -> None:
        self._taken.append((combination, seconds))

    def remaining(self, todo: Sequence[Combination]) -> float:
        """Seconds that `todo` will take; 0 while nothing is known.

        A combination is taken to last as long as the latest one of its benchmark and variant
        (whose scores and embeddings are stored by then), else of its benchmark, else as the mean.
        """
        return sum(self._expected(combination) for combination in todo)

    def _expected(self, combination: Combination) -> float:
        for same in (2, 1):
            for earlier, seconds in reversed(self._taken):
                if earlier[:same] == combination[:same]:
                    return seconds
        if not self._taken:
            return 0.0
        return sum(seconds for _, seconds in self._taken) / len(self._taken)


def duration(seconds: float) -> str:
    """`42 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
