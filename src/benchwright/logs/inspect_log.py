"""Logs of Inspect AI: `.eval` archives and `.json` files of log version 2.

In an archive, `header.json` describes the run (a run that was killed only has
`_journal/start.json`), and each sample is an entry, `samples/<id>_epoch_<n>.json` or
`samples/<id>_epoch_<n>/sample.json` with `metadata.json` beside it. A `.json` file is the header
with the samples in it. Events, most of a sample's size, are not looked at.
"""

import io
import json
import math
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from benchwright.core.errors import InputError
from benchwright.core.printable import format_value
from benchwright.core.verbatim import BROKEN
from benchwright.logs.json_files import File, members
from benchwright.logs.json_values import as_count, as_list, as_number, as_object, as_text
from benchwright.logs.opened_file import OpenedFile, bytes_of, path_of
from benchwright.logs.options import chosen_options, letter_position
from benchwright.logs.sample import (
    SYSTEM_MESSAGE,
    Log,
    Mark,
    Sample,
    Settings,
    digest_of,
    instruction_of,
    sampling_of,
    setting_text,
    solver_steps,
    template_of,
)

NAME = "Inspect"
ZSTANDARD = 93
"""Compression method that `zipfile` does not know before Python 3.14."""
LARGEST_ENTRY = 1 << 30
_LOCAL_HEADER = struct.Struct("<26xHH")

_HEADER, _START = "header.json", "_journal/start.json"
_SAMPLE = re.compile(r"samples/(?P<name>.+_epoch_\d+)(?:\.json|/sample\.json)", re.DOTALL)
_SAMPLES = frozenset({"samples"})
_ZIP = b"PK\x03\x04"
_KEYS = (b'"version"', b'"status"', b'"eval"', b'"task"')
_MARKS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "on": 1.0, "no": 0.0, "false": 0.0, "off": 0.0}
"""Values that Inspect's `value_to_float` counts, beside numbers as text."""
_LOCAL_PROVIDERS = ("hf", "vllm", "sglang", "llama-cpp-python")
_SHOTS = ("fewshot", "num_fewshot", "few_shot", "n_shots", "shots")
_ATTACHMENT = "attachment://"
_UNSCORED = "not scored: run inspect score"
_REDUCTIONS = "reductions.json"
Json = Mapping[str, Any]
Reduced = Mapping[tuple[str, str], Any]
"""Scores by scorer and sample."""


def recognises(file: OpenedFile) -> bool:
    """Return whether a file is a log of Inspect, by its entries or its first keys."""
    if file.head.startswith(_ZIP):
        if _START.encode() in file.head[:200]:  # the first entry, also of a torn archive
            return True
        try:
            with zip_entries(file) as entries:
                return _HEADER in entries or _START in entries
        except InputError:
            return False
    return all(key in file.head for key in _KEYS) and _is_log(file)


def _is_log(file: OpenedFile) -> bool:
    """Return whether the top object of a JSON file begins as a log."""
    header: dict[str, Any] = {}
    try:
        for key, value in members(file, _SAMPLES):
            header[key] = value
            if key == "samples" or {"version", "eval"} <= header.keys():
                break
    except InputError:
        return bool(header.keys() & {"version", "status"})
    return "version" in header and "task" in as_object(header.get("eval"))


def read(file: OpenedFile) -> list[Log]:
    """Return the log in a file.

    Raises:
        InputError: the file is broken.
    """
    packed = file.head.startswith(_ZIP)
    header = _header_of_archive(file) if packed else _header_of_json(file)
    evaluation = as_object(header.get("eval"))
    read_samples = _packed_samples if packed else _plain_samples
    first = next(read_samples(file), None)
    scorer = _scorer(header, first)
    reduced = _reduced(file, header, packed=packed)
    status = header.get("status", "success")
    shown = " ".join(as_text(status).split())[:200]
    notes = [] if status == "success" else [f"the run has the status {shown}"]
    if header.get("_killed") is True:
        notes.append("the run was killed before its end")
    path = file.path
    return [
        Log(
            files=(path,),
            format=NAME,
            samples=lambda: (_sample(path, each, scorer, reduced) for each in read_samples(path)),
            version=as_text(as_object(evaluation.get("packages")).get("inspect_ai")),
            task=as_text(evaluation.get("task")),
            model=_model(evaluation),
            style="generate",
            shots=_shots(evaluation),
            scores=_stated(header),
            main=Mark("", scorer),
            failure="no answer" if first is None or _scores(first) else _UNSCORED,
            notes=tuple(notes),
            settings=_settings(header),
        )
    ]


# --- the header ----------------------------------------------------------------------------------


def _header_of_json(file: OpenedFile) -> dict[str, Any]:
    """Return the members before the samples."""
    header: dict[str, Any] = {}
    for key, value in members(file, _SAMPLES):
        if key == "samples":
            break
        header[key] = value
    return header


def _header_of_archive(file: OpenedFile) -> dict[str, Any]:
    with zip_entries(file) as entries:
        name = _HEADER if _HEADER in entries else _START
        header = entries.json(name)
        if not isinstance(header, dict):
            raise InputError(f"{file.path}: {name}: expected an object, got {format_value(header)}")
        return {**header, "_killed": name == _START}


def _settings(header: Json) -> Settings:
    """Return how a run asked, as its header says."""
    evaluation = as_object(header.get("eval"))
    plan = as_object(header.get("plan"))
    config = as_object(evaluation.get("config"))
    dataset = as_object(evaluation.get("dataset"))
    steps = solver_steps(as_list(plan.get("steps")))
    asked = {**as_object(plan.get("config")), **as_object(evaluation.get("model_generate_config"))}
    epochs = as_count(config.get("epochs"))
    samples = as_count(dataset.get("samples"))
    limit = config.get("limit")
    reducers = as_list(config.get("epochs_reducer")) or ["mean"]
    return Settings(
        task_version=setting_text(evaluation.get("task_version")),
        template=template_of(steps),
        instruction=as_text(asked.get(SYSTEM_MESSAGE)) or instruction_of(steps),
        sampling=sampling_of(asked),
        samples=samples if samples >= 0 else None,
        limit=None if limit is None else str(limit),
        repeats=epochs if epochs > 0 else None,
        reducer=as_text(reducers[0]) if epochs > 1 else "mean",
        scoring=_scoring(header),
    )


def _scoring(header: Json) -> dict[str, str]:
    """Return a digest of the parameters of each scorer, and of the model that judges if any."""
    roles = as_object(as_object(header.get("eval")).get("model_roles"))
    judge = as_object(roles.get("grader")).get("model")
    found: dict[str, str] = {}
    for score in map(as_object, as_list(as_object(header.get("results")).get("scores"))):
        name = as_text(score.get("scorer"))
        is_judged = "model_graded" in name  # by the model itself if no other is stated
        rules = digest_of(score.get("params"), judge if is_judged else None)
        if rules or not is_judged:
            found[name] = rules or "defaults"
    return found


def _model(evaluation: Json) -> str:
    """Return the model's name, or the path of local weights without their provider."""
    name = evaluation.get("model")
    name = as_text(name) if isinstance(name, str) else ""
    provider, _, rest = name.partition("/")
    if provider not in _LOCAL_PROVIDERS:
        return name
    place = as_text(as_object(evaluation.get("model_args")).get("model_path"))
    return place.strip() or rest or name


def _shots(evaluation: Json) -> int:
    arguments = as_object(evaluation.get("task_args"))
    counts = (as_count(arguments.get(name)) for name in _SHOTS)
    return next((count for count in counts if count >= 0), -1)


def _scorer(header: Json, first: Json | None) -> str:
    """Return the scorer: `choice`, the only one or the only one with marks C and I; "" if none."""
    results = as_object(header.get("results"))
    if headline := as_text(as_object(results.get("headline")).get("scorer")):
        return headline
    stated = [as_text(as_object(e).get("scorer")) for e in as_list(results.get("scores"))]
    scores = {} if first is None else _scores(first)
    names = list(dict.fromkeys([*filter(None, stated), *scores]))
    if "choice" in names or len(names) < 2:
        return "choice" if "choice" in names or not names else names[0]
    marked = [name for name in names if as_object(scores.get(name)).get("value") in list(_MARKS)]
    return marked[0] if len(marked) == 1 else ""


def _stated(header: Json) -> dict[Mark, float]:
    """Return the accuracy, or mean, of each scorer, reduced over epochs by their mean if it is."""
    entries = [as_object(e) for e in as_list(as_object(header.get("results")).get("scores"))]
    entries.sort(key=lambda entry: entry.get("reducer") not in (None, "mean"))
    found: dict[Mark, float] = {}
    for entry in entries:
        metrics = as_object(entry.get("metrics"))
        values = (as_number(as_object(metrics.get(n)).get("value")) for n in ("accuracy", "mean"))
        value = next((value for value in values if not math.isnan(value)), math.nan)
        name, scorer = as_text(entry.get("name")), as_text(entry.get("scorer"))
        if not math.isnan(value):
            found.setdefault(Mark("" if name == scorer else name, scorer or name), value)
    return found


# --- samples -------------------------------------------------------------------------------------


def _reduced(file: OpenedFile, header: Json, *, packed: bool) -> Reduced:
    """Return the scores of samples whose epochs the log reduced, but not to their mean."""
    config = as_object(as_object(header.get("eval")).get("config"))
    reducers = as_list(config.get("epochs_reducer"))
    if as_count(config.get("epochs")) < 2 or not reducers or "mean" in reducers:
        return {}
    if packed:
        with zip_entries(file) as entries:
            found = entries.json(_REDUCTIONS) if _REDUCTIONS in entries else []
    else:
        after = (value for key, value in members(file, _SAMPLES) if key == "reductions")
        found = next(after, [])
    return {
        (as_text(part.get("scorer")), as_text(score.get("sample_id"))): score.get("value")
        for part in map(as_object, as_list(found))
        if part.get("reducer") == reducers[0]
        for score in map(as_object, as_list(part.get("samples")))
    }


def _plain_samples(file: File) -> Iterator[Json]:
    for key, value in members(file, _SAMPLES):
        if key == "samples":
            yield _checked(path_of(file), "samples", value)


def _packed_samples(file: File) -> Iterator[Json]:
    with zip_entries(file) as entries:
        found = filter(None, map(_SAMPLE.fullmatch, entries.names()))
        names = {match["name"]: match[0] for match in found}  # a sample in both shapes is one
        for name, entry in names.items():
            sample = _checked(path_of(file), entry, entries.json(entry))
            beside = f"samples/{name}/metadata.json"
            if not sample.get("metadata") and beside in entries:
                sample = {**sample, "metadata": entries.json(beside)}
            yield sample


def _checked(path: Path, where: str, sample: Any) -> Json:
    if not isinstance(sample, dict):
        raise InputError(f"{path}: {where}: expected an object, got {format_value(sample)}")
    return sample


def _sample(path: Path, sample: Json, scorer: str, reduced: Reduced) -> Sample:
    number, epoch = sample.get("id"), as_count(sample.get("epoch", 1))
    if epoch < 1:
        raise InputError(
            f"{path}: sample {format_value(number)}: epoch: expected a number from 1, got "
            f"{format_value(sample.get('epoch'))}"
        )
    choices = tuple(map(as_text, as_list(sample.get("choices"))))
    target = sample.get("target")
    targets = [as_text(each) for each in (target if isinstance(target, list) else [target])]
    text, attachments = _text(sample.get("input")), as_object(sample.get("attachments"))
    text = as_text(attachments.get(text.removeprefix(_ATTACHMENT))) or text  # it may be kept apart
    read_sample = Sample(
        as_text(number),
        question=text,
        prompt=text,
        beside=_beside(sample.get("input")),
        choices=choices,
        gold=_gold(targets, choices),
        doc=as_object(sample.get("metadata")) or None,
        repeat=epoch,
        target=targets[0].strip() if len(targets) == 1 else "",
    )
    if sample.get("invalidation"):
        return read_sample._replace(skipped="invalidated in the log")
    # Each epoch counts as what all were reduced to.
    scores = {
        name: {**as_object(score), "value": reduced[key]} if key in reduced else as_object(score)
        for name, score in _scores(sample).items()
        for key in [(name, as_text(number))]
    }
    if not scores or (scorer and scorer not in scores):
        return read_sample._replace(outcome="failed")
    marks = _marks(scores)
    score = scores[scorer] if scorer else next(iter(scores.values()))
    return _answered(read_sample._replace(marks=marks), score, choices)


def _marks(scores: Mapping[str, Json]) -> dict[Mark, float]:
    """Return the score of each scorer, or of each key of its value."""
    marks: dict[Mark, float] = {}
    for scorer, score in scores.items():
        value = score.get("value")
        values = value if isinstance(value, dict) else {"": value}
        marks |= {Mark(as_text(key), as_text(scorer)): _mark(v) for key, v in values.items()}
    return marks


def _answered(sample: Sample, score: Json, choices: tuple[str, ...]) -> Sample:
    """Return a sample with its answer: letters of options, or any text without options."""
    value, answer = score.get("value"), score.get("answer")
    text = answer.strip() if isinstance(answer, str) else ""
    if not text and isinstance(value, float) and math.isnan(value):
        return sample._replace(outcome="failed")  # not scored
    if not text and answer is not None and _mark(value) == 0.0:
        return sample._replace(outcome="unreadable")
    letter = letter_position(text, len(choices))
    named = (letter,) if letter >= 0 else chosen_options(text, choices)
    return sample.choosing(named)._replace(correct=_mark(value))


def _scores(sample: Json) -> Json:
    """Return the scores by scorer; the oldest logs have one score without a name."""
    scores = as_object(sample.get("scores"))
    old = sample.get("score")
    return scores if scores or not isinstance(old, dict) else {"choice": old}


def _mark(value: Any) -> float:
    """Return a score as Inspect counts it, NaN if it is none."""
    if isinstance(value, str):
        value = _MARKS.get(value, _WORDS.get(value.strip().lower(), value))
    return as_number(value)


def _gold(targets: list[str], choices: tuple[str, ...]) -> tuple[int, ...]:
    letters = [letter_position(text, len(choices)) for text in targets]
    if letters and min(letters) >= 0:
        return tuple(letters)
    named = [chosen_options(text, choices) for text in targets]
    return sum(named, ()) if all(named) else ()


def _text(value: Any) -> str:
    """Return the text of an input: a text, or the last message of the user."""
    if not isinstance(value, list):
        return as_text(value)
    asked = [m for m in map(as_object, value) if m.get("role") == "user"]
    content = asked[-1].get("content") if asked else ""
    if isinstance(content, list):
        parts = [as_object(part).get("text") for part in content]
        return "\n".join(as_text(part) for part in parts if isinstance(part, str))
    return as_text(content)


def _beside(value: Any) -> str:
    """Return a digest of earlier turns, and of what is no text in the last one; "" without any."""
    turns = [as_object(each) for each in as_list(value)]
    asked = [turn for turn in turns if turn.get("role") != "system"]
    parts: list[Any] = [(turn.get("role"), turn.get("content")) for turn in asked[:-1]]
    last = as_list(asked[-1].get("content")) if asked else []
    parts += [part for part in last if as_object(part).get("type") not in (None, "text")]
    return digest_of(*parts) or "" if parts else ""


# --- entries of archives --------------------------------------------------------------------------


class ZipEntries:
    """The entries of a zip file by name; of two with one name, the later one counts."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self._stream = stream
        self._zip = zipfile.ZipFile(stream)
        self._infos = {info.filename: info for info in self._zip.infolist()}

    def names(self) -> list[str]:
        """Return the names in the order of the file."""
        return list(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def json(self, name: str) -> Any:
        """Parse an entry; NaN and Infinity are numbers.

        Raises:
            InputError: it is encrypted, broken, too large, or not JSON.
        """
        entry = f"{self.path}: {' '.join(name[:100].split())}"
        try:
            with self._opened(self._infos[name]) as stream:
                text = stream.read(LARGEST_ENTRY + 1)
            content = json.loads(text) if len(text) <= LARGEST_ENTRY else None
        except (*BROKEN, RuntimeError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise InputError(f"{entry}: cannot be read: {reason}; copy the log again") from error
        if len(text) > LARGEST_ENTRY:
            raise InputError(f"{entry}: more than {LARGEST_ENTRY:,} bytes; remove the sample")
        return content

    @contextmanager
    def _opened(self, info: zipfile.ZipInfo) -> Iterator[Any]:
        if info.compress_type != ZSTANDARD:
            with self._zip.open(info) as stream:
                yield stream
            return
        self._stream.seek(info.header_offset)
        names = _LOCAL_HEADER.unpack(self._stream.read(_LOCAL_HEADER.size))
        self._stream.seek(sum(names), io.SEEK_CUR)
        packed = pa.BufferReader(self._stream.read(info.compress_size))
        yield pa.CompressedInputStream(packed, "zstd")  # several frames follow each other


@contextmanager
def zip_entries(file: File) -> Iterator[ZipEntries]:
    """Open a zip file.

    Raises:
        InputError: it is not a whole zip file.
    """
    path = path_of(file)
    with bytes_of(file) as stream:
        try:
            entries = ZipEntries(path, stream)
        except (*BROKEN, zipfile.BadZipFile, RuntimeError) as error:
            raise InputError(
                f"{path}: not a whole zip file ({error}); copy the log again"
            ) from error
        yield entries
