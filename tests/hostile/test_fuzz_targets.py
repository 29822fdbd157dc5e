"""The fuzz targets on their seeds, on mutations, and on inputs that once failed."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile.fuzz_targets import TARGETS

FOUND = sorted((Path(__file__).parent / "found").glob("*.bin"))
EXAMPLES = 12
_ODD = [b"", b"\0", b"\xff", b'"', b"\n", b"\r", b"{", b"[", b"1e999", b"NaN", b"\\ud800", b"${a}"]


@pytest.mark.parametrize("name", TARGETS)
def test_targets_accept_seeds_and_their_halves(name: str) -> None:
    target = TARGETS[name]
    for seed in target.seeds:
        for content in (seed, seed[: len(seed) // 2], seed[len(seed) // 2 :], seed * 3):
            target.run(content)


@pytest.mark.parametrize("path", FOUND, ids=[path.stem for path in FOUND])
def test_inputs_that_once_failed_pass(path: Path) -> None:
    TARGETS[path.name.partition("-")[0]].run(path.read_bytes())


@st.composite
def _changes(draw: st.DrawFn, name: str) -> bytes:
    """A seed with a few places cut, doubled or overwritten."""
    content = draw(st.sampled_from(TARGETS[name].seeds))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 12)))
        new = draw(st.sampled_from(_ODD) | st.binary(max_size=6) | st.just(content[start:end] * 2))
        content = content[:start] + new + content[end:]
    return content


@pytest.mark.parametrize("name", TARGETS)
def test_targets_accept_small_changes(name: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
    @given(_changes(name))
    def run(content: bytes) -> None:
        TARGETS[name].run(content)

    run()
