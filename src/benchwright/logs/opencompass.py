"""Predictions of OpenCompass, with the results and the configuration of the same run."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS
from benchwright.logs.json_files import members
from benchwright.logs.json_values import as_list, as_number, as_object, as_text, shared_start
from benchwright.logs.opened_file import OpenedFile
from benchwright.logs.options import are_letters, chosen_options
from benchwright.logs.sample import Log, Mark, Sample, Settings, digest_of, sampling_of

NAME = "OpenCompass"

_START = re.compile(
    rb'\s*\{\s*"\d+"\s*:\s*\{\s*"(origin_prompt|in-context examples|prediction|gold)"\s*:'
)
_NUMBER = re.compile(r"[0-9]{1,9}")
_PART = re.compile(r"(?P<task>.+)_(?P<part>\d{1,6})")
_LABEL = "label: "
_SCORES = ("accuracy", "score")
_FIELDS = (("predictions", "pred"), ("references", "refr", "answer"), ("correct", "is_correct"))


class _Reading(NamedTuple):
    """What the results say of one answer."""

    text: str  # read in the answer: a letter, "" if none was found
    reference: str
    correct: float


class _Run(NamedTuple):
    """Where an answer's results are."""

    parts: tuple[Path, ...]
    results: Path | None
    replicas: int


def recognises(file: OpenedFile) -> bool:
    """Return whether a file begins as an object of numbered predictions."""
    head = file.head
    start = head.removeprefix(b"\xef\xbb\xbf")
    return bool(_START.match(start)) and (b'"origin_prompt"' in head or b'"prediction"' in head)


def read(file: OpenedFile) -> list[Log]:
    """Return the log of one dataset; [] for a later part of a split run, which the first includes.

    Raises:
        InputError: the results or the configuration is broken.
    """
    path = file.path
    folder = path.parent
    work = folder.parent.parent
    task = path.stem
    parts = [path]
    results = work / "results" / folder.name / path.name
    config = _config(work / "configs", task)
    named = _PART.fullmatch(task)
    if named is not None and not results.is_file() and config is None:
        of_task = (folder / f"{named['task']}_{part}.json" for part in count())
        split = list(takewhile(Path.is_file, of_task))
        if path in split[1:]:
            return []
        if path in split:
            task, parts = named["task"], split
            results = results.with_name(f"{task}{path.suffix}")
            config = _config(work / "configs", task)
    settings = "" if config is None else _settings(config, task)
    replicas = re.search(r"(?<!\w)n=(\d{1,4})\b", settings)
    found = results if results.is_file() else None
    run = _Run(tuple(parts), found, max(1, int(replicas[1])) if replicas else 1)
    score_name, score = _score(found)
    return [
        Log(
            files=(*parts, *(file for file in (found, config) if file is not None)),
            format=NAME,
            samples=partial(_samples, run),
            task=task,
            model=folder.name,
            shots=_shots(settings),
            scores={} if score is None else {Mark(score_name): score},
            settings=Settings()
            if config is None
            else _stated_settings(settings, _settings(config, folder.name), run),
        )
    ]


# --- the configuration, which is a Python file and read as text ----------------------------------


def _config(folder: Path, task: str) -> Path | None:
    """Return the newest configuration that has a dataset of this name."""
    paths = sorted(folder.glob("*.py"), reverse=True)
    return next((path for path in paths if _settings(path, task)), None)


def _settings(path: Path, task: str) -> str:
    """Return the text of a dataset's settings, from its name to the next one."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    found = re.search(rf"\babbr=(['\"]){re.escape(task)}\1", text)
    return "" if found is None else re.split(r"\babbr=", text[found.start() :], maxsplit=2)[1]


def _stated_settings(settings: str, of_model: str, run: "_Run") -> Settings:
    """Return how a dataset was asked and scored, as the settings of it and of the model say."""
    template = re.search(r"\bprompt_template=.*?(?=\bretriever=|\Z)", settings, re.DOTALL)
    asked, _, _ = settings.partition("\nmodels=")
    numbers = re.findall(r"\b(temperature|top_p|top_k|max_out_len)=([\d.]+)", asked)
    scoring = re.search(r"\beval_cfg=.*?(?=\binfer_cfg=|\Z)", settings, re.DOTALL)
    rules = re.findall(r"\btype='([^']+)'", scoring[0]) if scoring else []
    chat = re.search(r"\btype='[\w.]+?(withChatTemplate|BaseModel)'", of_model)
    return Settings(
        template=None if template is None else digest_of(" ".join(template[0].split())),
        chat_template=None if chat is None else chat[1] == "withChatTemplate",
        sampling=sampling_of(dict(numbers)),
        repeats=run.replicas if run.replicas > 1 else None,
        scoring={"": " ".join(rules)} if rules else {},
    )


def _shots(settings: str) -> int:
    """Return the number of demonstrations of a dataset's retriever, −1 if it is not stated."""
    if fixed := re.search(r"\bfix_id_list=\[([\d\s,]*)\]", settings):
        return len(re.findall(r"\d+", fixed[1]))
    if number := re.search(r"\bice_num=(\d{1,4})\b", settings):
        return int(number[1])
    return 0 if "ZeroRetriever" in settings else -1


# --- the results ---------------------------------------------------------------------------------


def _score(path: Path | None) -> tuple[str, float | None]:
    """Return the name and value, 0–1, of the accuracy in a results file."""
    shares = {name: as_number(value) / 100 for name, value in _results(path)}
    for wanted in _SCORES:
        for name, share in shares.items():  # of replicas: `accuracy (4 runs average)`
            if (name == wanted or name.startswith(f"{wanted} (")) and not math.isnan(share):
                return name, share
    return "", None


def _results(path: Path | None) -> Iterator[tuple[str, Any]]:
    """Yield keys and values of the results, and each of `details` if these are a list."""
    return iter(()) if path is None else members(path, arrays=frozenset({"details"}))


def _readings(path: Path | None) -> dict[int, list[_Reading]]:
    """Return what the results say of each answer, in a list per replica."""
    readings: dict[int, list[_Reading]] = {}
    details = (value for name, value in _results(path) if name == "details")
    for number, value in enumerate(details):
        # An object has rows with numbers for keys, an element of a list is a row itself.
        numbered = {n: row for n, row in as_object(value).items() if _NUMBER.fullmatch(n)}
        for n, row in (numbered or {str(number): value}).items():
            readings[int(n)] = _of_replicas(row)
    return readings


def _of_replicas(row: object) -> list[_Reading]:
    known = as_object(row)
    fields = [next((known[name] for name in names if name in known), None) for names in _FIELDS]
    replicas = max(1, *(len(as_list(field)) for field in fields))
    columns = [as_list(field) or [field] * replicas for field in fields]
    return [
        _Reading(as_text(text), as_text(reference), as_number(correct))
        for text, reference, correct in zip(*columns, strict=False)
    ]


# --- the predictions -----------------------------------------------------------------------------


def _samples(run: _Run) -> Iterator[Sample]:
    readings = _readings(run.results)
    if any(len(replicas) > 1 for replicas in readings.values()):
        n_items = len(readings)
    elif run.replicas > 1:
        n_items = sum(1 for _ in _predictions(run.parts)) // run.replicas
    else:
        n_items = 0
    for position, answer in _predictions(run.parts):
        replica, item = divmod(position, n_items) if n_items else (0, position)
        of_item = readings.get(item, [])
        if len(of_item) == 1:
            of_item = readings.get(position, [])
        sample = Sample(number=str(item), repeat=replica + 1)
        labels = {
            name.removeprefix(_LABEL): as_object(value)
            for name, value in answer.items()
            if name.startswith(_LABEL)
        }
        read_answer = partial(_by_perplexity, labels) if labels else _generated
        yield read_answer(
            sample, answer, of_item[min(replica, len(of_item) - 1)] if of_item else None
        )


def _predictions(parts: Sequence[Path]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the position and the answer of all parts, each of which counts from 0."""
    start = 0
    for path in parts:
        last = -1
        for key, value in members(path):
            if not _NUMBER.fullmatch(key):
                raise InputError(f"{path}: key {key[:40]!r}, expected the number of an answer")
            last = max(last, int(key))
            yield start + int(key), as_object(value)
        start += last + 1


def _prompt(value: object) -> str:
    """Return a prompt, or the turns of a conversation."""
    if isinstance(value, list):
        return "\n".join(_prompt(turn) for turn in value)
    return as_text(as_object(value).get("prompt")) or as_text(value)


def _generated(sample: Sample, answer: Mapping[str, Any], reading: _Reading | None) -> Sample:
    raw = answer.get("prediction")
    text = as_text(raw) if reading is None else reading.text
    gold = as_text(answer.get("gold")) or ("" if reading is None else reading.reference)
    chosen = chosen_options(text, (), len(LETTERS))
    right = chosen_options(gold, (), len(LETTERS))
    correct = math.nan if reading is None else reading.correct
    if math.isnan(correct) and reading is not None and right:
        correct = float(text == gold or chosen == right)
    empty = not _prompt(raw).strip() or (reading is not None and not text.strip())
    return sample.choosing(chosen)._replace(
        prompt=_prompt(answer.get("origin_prompt")),
        gold=right,
        target="" if right else gold,
        outcome="unreadable" if empty else "answered",
        text=text,
        correct=correct,
    )


def _by_perplexity(
    labels: Mapping[str, Mapping[str, Any]],
    sample: Sample,
    answer: Mapping[str, Any],
    reading: _Reading | None,
) -> Sample:
    """Return the answer with the lowest perplexity, with options cut from the prompts."""
    names = list(labels)
    texts = [
        _prompt(of.get("testing input")) or _prompt(of.get("prompt")) for of in labels.values()
    ]
    chosen, right = (
        names.index(name) if name in names else -1
        for name in (as_text(answer.get("prediction")), as_text(answer.get("gold")))
    )
    shared, endings = _cut(texts)
    return sample._replace(
        prompt=shared if endings else "\n\n".join(dict.fromkeys(texts)),
        choices=() if are_letters(endings) else endings,
        continuations=endings or None,
        gold=(right,) if right >= 0 else (),
        outcome="answered" if chosen >= 0 else "failed",
        chosen=chosen,
        correct=math.nan if reading is None or chosen < 0 else reading.correct,
    )


def _cut(prompts: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Cut prompts after the last line end or colon that all share; ("", ()) if that is unclear."""
    first, last = min(prompts), max(prompts)
    shared = shared_start(first, last)
    cut = max(shared.rfind("\n") + 1, shared.rfind(": ") + 2 if ": " in shared else 0)
    endings = tuple(prompt[cut:].strip() for prompt in prompts)
    clear = cut > 0 and all(endings) and len(set(endings)) == len(endings)
    if not clear or any("\n" in ending for ending in endings):
        return "", ()
    return first[:cut].rstrip(), endings
