"""Runs one target under Atheris (libFuzzer): `make fuzz`, or by hand

    python tests/hostile/fuzz.py csv_rows --seconds 180 --work /tmp/fuzz

Every exception of its own place is written once to `<work>/<target>/found/` and the fuzzing goes
on; a hang (30 s), more than 2 GB, or a crash of the process ends it with libFuzzer's own file
there.
The corpus stays in `<work>/<target>/corpus`, so that a later run goes on from it.
"""

import argparse
import hashlib
import json
import math
import random
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import atheris

WORDS = (
    *("NA", "None", "TRUE", "nan", "null", "01", "1e999", "-1", "\ufeff", "\ud800", "\u2028"),
    *("item_id", "model", "correct", "prediction", "p_answer", "logprobs", "condition", "wicked-1"),
    *("content_hash", "question", "choices", "style", "cloze", "letters", "shots", "score", "text"),
    *("Answer:", "Key:", "Explanation:", "(a)", "1.", "<td>", "<li>", "charset=punycode", "&#0;"),
    *("!!python/name:os.system", "${oc.env:HOME}", "*a", "&a", "<<:", "? ", "- ", "'", '"', "\x00"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 2**31, 2**63, -(2**63), 2**70, 10**400, 0.5, -0.0, 1e308),
    *(math.nan, math.inf, "", "x", "B", "1", "01", "NA", "nan", "\ud800", "\x00", "q1", "wicked-1"),
    *(
        [],
        {},
        [[]],
        [None],
        ["a", "a"],
        [1, "1"],
        [math.nan] * 4,
        [0, 1],
        {"a": {"a": []}},
        "9" * 60,
    ),
)
INSTRUMENTED = ["benchwright", "warcio", "gguf", "omegaconf", "yaml"]


def main() -> None:
    """Fuzz one target for a while."""
    asked = argparse.ArgumentParser()
    asked.add_argument("target")
    asked.add_argument("--seconds", type=int, default=180)
    asked.add_argument("--work", type=Path, default=Path("data/09_fuzz"))
    options = asked.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    with atheris.instrument_imports(include=INSTRUMENTED):
        from hostile.fuzz_targets import TARGETS
    target = TARGETS[options.target]
    work = options.work / options.target
    corpus, failures = work / "corpus", work / "found"
    for folder in (corpus, failures):
        folder.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds:
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    known: set[str] = set()
    count = 0
    started = time.monotonic()

    def run(data: bytes) -> None:
        nonlocal count
        count += 1
        try:
            target.run(data)
        except Exception as error:
            place = _place(error)
            if place in known:
                return
            known.add(place)
            name = hashlib.sha256(place.encode()).hexdigest()[:12]
            (failures / name).write_bytes(data)
            (failures / f"{name}.txt").write_text("".join(traceback.format_exception(error)))
            sys.stderr.write(f"FOUND {place}\n")
        if count % 1_000 == 0:
            progress = {"executions": count, "seconds": round(time.monotonic() - started, 1)}
            progress |= {"corpus": len(list(corpus.iterdir())), "found": len(known)}
            (work / "progress.json").write_text(json.dumps(progress))

    words = work / "words.txt"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS))
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            f"-max_total_time={options.seconds}",
            f"-artifact_prefix={failures}/",
            *("-timeout=30", "-rss_limit_mb=2560", "-malloc_limit_mb=2048", "-max_len=4096"),
            *("-print_final_stats=1", "-seed=1", f"-dict={words}"),
        ],
        run,
        **({"custom_mutator": _json_mutated} if target.json else {}),
    )
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogatepass"))


def _json_mutated(data: bytes, longest: int, seed: int) -> bytes:
    """Usually change one value of one line; else mutate bytes as libFuzzer does."""
    draw = random.Random(seed)  # noqa: S311
    if draw.random() < 0.25:
        return bytes(atheris.Mutate(data, longest))
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        changed = _changed(json.loads(lines[at]), draw)
        lines[at] = json.dumps(changed, ensure_ascii=draw.random() < 0.8).encode()
    except (ValueError, RecursionError):
        return bytes(atheris.Mutate(data, longest))
    if draw.random() < 0.1:
        lines.insert(at, lines[draw.randrange(len(lines))])
    return b"\n".join(lines)[:longest]


def _changed(value: Any, draw: random.Random) -> Any:
    """Return the value with a part replaced, removed, doubled or renamed."""
    if not value or not isinstance(value, dict | list) or draw.random() < 0.15:
        return draw.choice(VALUES)
    if isinstance(value, list):
        at = draw.randrange(len(value))
        inner = draw.choice([[], [_changed(value[at], draw)], [value[at]] * 2])
        return [*value[:at], *inner, *value[at + 1 :]]
    name = draw.choice(sorted(value))
    chance = draw.random()
    if chance < 0.15:
        return {key: field for key, field in value.items() if key != name}
    if chance < 0.25:
        return {**value, draw.choice([*WORDS, *value]): value[name]}
    return {**value, name: _changed(value[name], draw)}


def _place(error: Exception) -> str:
    """Return the key of a defect: the exception's type and the last line of this project."""
    frames = traceback.extract_tb(error.__traceback__)
    last = ([frame for frame in frames if "benchwright" in frame.filename] or frames)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


if __name__ == "__main__":
    main()
