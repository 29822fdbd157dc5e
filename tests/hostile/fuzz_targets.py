"""Fuzz targets: each reads bytes as one of the readers does, and checks the outcome.

A reader may refuse (`InputError`, one short line); any other exception is a defect, and so is a row
that no count accounts for. `fuzz.py` runs the targets under a coverage-guided fuzzer, the tests on
their seeds, on small changes of these, and on every input that ever failed.
"""

import hashlib
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from benchwright.commands.evaluate_sealed import read_public
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import one_line
from benchwright.core.verbatim import verbatim_table
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.datasets.classifier_folder import ClassifierFolder
from benchwright.datasets.document_shards import COLUMNS, DocumentShards
from benchwright.datasets.half_scores import read_half_result
from benchwright.datasets.optional_table import DocumentLabels
from benchwright.datasets.response_files import ResponseFiles
from benchwright.datasets.review_csv import read_spreadsheet
from benchwright.datasets.subset_manifest import ids_hash, read_subset
from benchwright.language_models.weights import starts_with_bos
from benchwright.logs.find import reader_of
from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.judging.replies import (
    Scale,
    parse_choice,
    parse_named,
    parse_rating,
    parse_yes_no,
)
from benchwright.methods.mmlu_cf.sealing.seal import sealed_identity
from benchwright.methods.wicked.single_best_answer.classifier import LogisticClassifier
from benchwright.params.benchmark import SPLIT_COLUMN, BenchmarkParams, SourceKind
from benchwright.params.mmlu_cf import ExtractionParams
from benchwright.pipelines.ingestion import map_source_rows
from benchwright.responses.import_responses import import_responses
from benchwright.responses.known_responses import read_responses
from benchwright.tables.items import Items

LONGEST_MESSAGE = 1_000
SOURCE_KINDS: tuple[SourceKind, ...] = ("mirror", "local", "hub")
PARTS = ["joined_by_id", "joined_by_hash", "not_joined", "doubled", "dropped", "failed"]
_TIME = "2026-11-20T22-25-57.198528"


class Target(NamedTuple):
    """A reader as a function of bytes, with inputs to begin from."""

    run: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    json: bool = False  # lines of JSON, whose values are changed as such


@cache
def folder() -> Path:
    """Return a temporary folder, in memory if possible."""
    memory = Path("/dev/shm")  # noqa: S108
    temporary = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
    _KEPT.append(temporary)
    return Path(temporary.name)


_KEPT: list[Any] = []


def written(name: str, data: bytes) -> Path:
    """The bytes as a file."""
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@contextmanager
def may_refuse() -> Iterator[None]:
    """Accept a refusal if it is a short line for the user."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        message = one_line(error)  # Kedro wraps what a dataset raises
        if message is None:
            raise
        assert "\n" not in message
        assert len(message) <= LONGEST_MESSAGE, message[:200]


def _documents(kind: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        for question in questions_in(text, kind, ExtractionParams()):
            assert question.question.strip()
            assert len(question.choices) >= 2
            "\n".join([question.question, *question.choices, question.explanation or ""]).encode()

    return run


def answer_keys(data: bytes) -> None:
    """Read numbers and letters below questions, in any spelling."""
    text = "".join(f"{i}. What is {i}?\nA. w\nB. x\nC. y\nD. z\n\n" for i in range(1, 6))
    questions = questions_in(
        text + data.decode("utf-8", "replace"), "text/plain", ExtractionParams()
    )
    for question in questions:
        # As on the page: cleaning checks whether it names an option.
        assert question.answer is None or question.answer.strip()
        assert question.labels == ["A", "B", "C", "D"]


def shard(data: bytes) -> None:
    """Read JSON lines: every line is a document or counted as unreadable."""
    path = written("documents/x.jsonl", data)
    batches = DocumentShards(str(path), reading={"document_bytes": 10_000}).load()
    rows = [row for batch in batches for row in batch.to_pylist()]
    lines = [line for line in data.split(b"\n") if line.strip()]
    unreadable = batches.report.unreadable.get(str(path), 0)
    assert len(rows) + unreadable == len(lines), (len(rows), unreadable, len(lines))
    assert all(set(row) == set(COLUMNS) for row in rows)


def warc(data: bytes) -> None:
    """A WARC file, torn or not."""
    path = written("warc/x.warc", data)
    batches = DocumentShards(str(path), reading={"document_bytes": 10_000}).load()
    for batch in batches:
        batch.to_pylist()


@cache
def items() -> pd.DataFrame:
    """Three evaluation items."""
    rows = []
    for name in ("q1", "q2", "01"):
        choices = [f"{name} {letter}" for letter in "abcd"]
        row: dict[str, Any] = dict.fromkeys(Items.empty().columns)
        row |= {"item_id": name, "split": "test", "subject": "s", "question": f"What of {name}?"}
        row |= {"choices": choices, "answer": 1, "answer_text": choices[1], "correct_set": [1]}
        rows.append(row | {"content_hash": content_hash(f"What of {name}?", choices)})
    return Items.from_rows(rows)


def _answers(name: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        path = written(f"{name}/{name}", data)
        with may_refuse():
            loaded = ResponseFiles(benchmark={}, folder=str(path.parent)).load()
            report = import_responses(loaded, items(), items().head(0)).import_report
            assert (report["rows"] == report[PARTS].sum(axis=1)).all(), report.to_dict("records")
        with may_refuse():
            read_responses([path])

    return run


def lm_eval_log(data: bytes) -> None:
    """A log of samples beside its results."""
    name, _, results = data.partition(b"\0\0")
    path = written(f"logs/m/samples_task_{_TIME}.jsonl", name)
    written(f"logs/m/results_{_TIME}.json", results or b'{"model_name": "m"}')
    reader_of(path)
    with may_refuse():
        loaded = ResponseFiles(benchmark={}, folder=str(folder() / "logs")).load()
        report = import_responses(loaded, items(), items().head(0)).import_report
        assert (report["rows"] == report[PARTS].sum(axis=1)).all(), report.to_dict("records")
    with may_refuse():
        read_responses([path])


_FIELDS = {
    "item_id": "id",
    "question": "question",
    "choices": {"column": "choices"},
    "gold": {"column": "gold", "form": "index"},
}
_SPLIT = {"split_column": "split"}


def benchmark_params(sources: Any) -> dict[str, Any]:
    """A benchmark's file."""
    texts = dict.fromkeys(("title", "licence", "citation", "url"), "x")
    return {"name": "toy", **texts, "splits": {"evaluation": ["test"]}, "sources": sources}


def _rows(name: str, fields: dict[str, Any]) -> Callable[[bytes], None]:
    conf = benchmark_params({"local": {"file": name, "fields": fields, **_SPLIT}})
    params = BenchmarkParams.model_validate(conf)

    def run(data: bytes) -> None:
        path = written(f"rows/{name}", data)
        with may_refuse():
            frame = BenchmarkSource(benchmark=conf, raw_folder=str(path.parent)).load()
            tables = map_source_rows(frame, params, None, 0)
            assert sum(len(table) for table in tables[:4]) == len(frame)

    return run


def spreadsheet(data: bytes) -> None:
    """Read a CSV file as saved by a spreadsheet program."""
    path = written("sheet.csv", data)
    for columns in ((), ("item_id", "rule")):
        with may_refuse():
            table = read_spreadsheet(path, columns, ("verdict",))
            assert table.map(lambda cell: isinstance(cell, str)).all(axis=None)


_CELLS = (
    *("a", "B", "1", "", None, 0, 1, 2.0, True, ["a", "b", "c"], [0, 1, 0], ["A", "B", "C"]),
    *({"text": ["a", "b"], "label": ["A", "B"]}, [{"text": "a"}, {"text": "b"}], "x #### 3", "a;b"),
)


def _rows_of(params: BenchmarkParams, kind: SourceKind) -> pd.DataFrame:
    """Map a row for every shift of the cells, in the columns of the source."""
    source = params.sources.by_kind().get(kind)
    assert source is not None
    names = dict.fromkeys(name.split(".")[0] for name in source.fields.columns())
    columns = {
        name: [_CELLS[(row + 5 * place) % len(_CELLS)] for row in range(len(_CELLS))]
        for place, name in enumerate(names)
    }
    splits = [*params.splits.evaluation, *params.splits.demonstrations, "unknown", None]
    columns[SPLIT_COLUMN] = [splits[row % len(splits)] for row in range(len(_CELLS))]
    frame = verbatim_table(columns)
    frame.attrs["source"] = {"kind": kind}
    return frame


def benchmark_file(data: bytes) -> None:
    """Read a benchmark's YAML as Kedro does, and map rows by it."""
    try:
        loaded = OmegaConf.create(data.decode("utf-8", "replace"))
        conf = OmegaConf.to_container(loaded, resolve=False)
    except (
        YAMLError,
        OmegaConfBaseException,
        ValueError,
        AssertionError,
        RecursionError,
        TypeError,
    ):
        return  # not ours: Kedro's message names the file and the line
    if not isinstance(conf, dict):
        return
    with may_refuse():
        params = BenchmarkSource(benchmark=conf, raw_folder=str(folder() / "rows"))._params()
        for kind in (kind for kind in SOURCE_KINDS if kind in params.sources.by_kind()):
            frame = _rows_of(params, kind)
            with may_refuse():
                made = map_source_rows(frame, params, None, 0)
                assert sum(map(len, made[:4])) == len(frame)
    with may_refuse():
        ResponseFiles(benchmark=conf, folder=str(folder() / "none")).load()


def manifest(data: bytes) -> None:
    """Read results, a subset's manifest and the public half as untrusted JSON."""
    path = written("told/manifest.json", data)
    written("told/test.sealed", b"x")
    written("told/classifier.json", data)
    with may_refuse():
        subset = read_subset(path)
        assert len(subset.item_ids) == len(subset.weights)
        assert abs(subset.weights.sum() - 1) < 1e-3
    with may_refuse():
        public = read_public(path)
        assert all(0 <= item.answer < len(item.choices) for item in public.items)
    with may_refuse():
        read_half_result(path)
    with may_refuse():
        sealed_identity(path.with_name("test.sealed"), "test")
    with may_refuse():
        DocumentLabels(filepath=str(path)).load()
    with may_refuse():
        classifier = ClassifierFolder(folder=str(path.parent)).load()
        if classifier is not None and classifier.get("kind") == "embedding":
            LogisticClassifier.from_json(classifier["logistic"])


def gguf(data: bytes) -> None:
    """The header of a file of weights."""
    with may_refuse():
        starts_with_bos(written("x.gguf", data))


def replies(data: bytes) -> None:
    """Parse replies of a judge."""
    reply = data.decode("utf-8", "replace")
    value = parse_rating(reply, Scale(0, 9), ["a question"], ["3", "4"])
    assert value is None or 0 <= value <= 9
    parse_named(reply, ["clarity", "depth"], ["safe"], 1, 5)
    parse_yes_no(reply)
    parse_choice(reply, {"law": "law", "health care": "health"}, "field")


def _gguf_bytes() -> bytes:
    """Return a minimal valid file."""
    from gguf import GGUFWriter

    path = folder() / "seed.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_add_bos_token(True)
    writer.add_token_list(["a", "b"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def _warc_bytes() -> bytes:
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>1. What?"
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
        b"WARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
    )
    return head % len(body) + body + b"\r\n\r\n"


def _sample(**changes: Any) -> bytes:
    row = {
        "doc_id": 0,
        "doc": {"id": "q1", "question": "What of q1?", "choices": ["q1 a", "q1 b"], "answer": 1},
        "target": "1",
        "arguments": {f"gen_args_{i}": {"arg_0": "Q", "arg_1": f" {i}"} for i in range(4)},
        "resps": [[["-1.5", "False"]]] * 4,
        "filtered_resps": [["-1.5", "False"]] * 4,
        "filter": "none",
        "acc": 1.0,
        **changes,
    }
    return json.dumps(row).encode() + b"\n"


_QUESTIONS = (
    b"1. What is it?\nA. one\nB) two\n(C) three\nAnswer: B\nExplanation: so\n",
    b"# Quiz\n**2)** Why?\n- [ ] a\n- [x] b\n\nAnswers\n1-b 2. a, 3 = c\n",
    b"Question 1 of 3\nI. x\nII. y\na) I only\nb) both\n\nKey: 1. (a) 2. (b)\n",
    b"|Q|A|\n|-|-|\n|x|y|\n\nTrue or false: x.\nx wrote:\n1.\tx\ta) y b) z\n",
)
_HTML = (
    b"<html><body><ol><li>What?<ol type=a><li>x<li class=correct>y</ol></ol><p>Answer: b",
    b"<table><tr><td>1.<td>Why?<tr><td><input type=radio>a<td><b>b</b></table><details>Ans",
    b'<script type="application/ld+json">{"@type":"Quiz","hasPart":[{"@type":"Question","text":'
    b'"x?","suggestedAnswer":[{"text":"a"}],"acceptedAnswer":{"text":"b"}}]}</script>',
)
_TIDY = b"item_id,model,correct,prediction,p_answer\nq1,m,1,B,0.7\nq2,m,0,A,\n01,m,TRUE,NA,nan\n"
_ROWS = (
    b'{"id": "1", "question": "q", "choices": ["a", "b"], "gold": 1, "split": "test"}\n'
    b'{"id": "01", "question": "NA", "choices": ["None", "TRUE"], "gold": "0", "split": "test"}\n',
)
_CSV_ROWS = (b'id,question,A,B,gold,split\n1,"q\n""x""",NA,01,0,test\n02,None,TRUE,null,1,test\n',)
_CSV_FIELDS = {**_FIELDS, "choices": {"columns": ["A", "B"]}}
_SUBSET = json.dumps(
    {
        "subset": {
            "benchmark": "x", "sampler": "random", "seed": 0, "rate": 10, "of_items": 20,
            "of_items_hash": "0", "items_hash": ids_hash(["a 0"]), "equal_weights": True,
            "scoring": "x",
            "items": [{"item_id": "a", "weight": 1, "content_hash": "0", "stock": ["t", 1]}],
        }
    }
).encode()  # fmt: skip
_HALF = json.dumps(
    {
        "format": "benchwright-half-score-1", "version": "1", "half": "test", "model": "m",
        "benchmark": {"name": "x", "canary": "x", "validation": "0" * 64, "test": "1" * 64},
        "style": "letters", "shots": 0, "all": {"n": 5, "accuracy": 0.5, "se": 0.1},
        "fields": {}, "unanswered": 0, "reason": "",
    }
).encode()  # fmt: skip
_PUBLIC = (
    b'{"item_id": "1", "field": "law", "difficulty": 3, "question": "q", "choices": ["a", "b"], '
    b'"answer": 1, "cluster": "c"}\n'
)
_YAML = (
    b"name: toy\ntitle: x\nlicence: x\ncitation: x\nurl: ''\nsplits: {evaluation: [test]}\n"
    b"sources:\n  local:\n    file: x.csv\n    split_column: split\n    fields:\n"
    b"      question: q\n      choices: {columns: [A, B]}\n      gold: {column: g, form: letter}\n"
    b"responses:\n  - {file: a.csv, layout: tidy, shots: 3}\n",
    b"a: !!python/object/apply:os.system [id]\n",
    b"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
)

_SEALED = json.dumps(
    {"name": "x", "canary": "x", "validation": {"sha256": "0" * 64},
     "test": {"sha256": hashlib.sha256(b"x").hexdigest()}}
).encode()  # fmt: skip
_LOGISTIC = {
    "features": ["a", "b"], "means": [0.0, 1.0], "scales": [1.0, 2.0], "coefficients": [0.5, -1.0],
    "intercept": 0.1,
}  # fmt: skip
_POINT = {
    "target": 0.989, "threshold": 0.2, "recall": 1.0, "precision": math.nan, "share_flagged": 0.5,
    "n": 4, "positives": 2, "reason": "",
}  # fmt: skip
_TRAINED = {
    "recall_target": 0.989, "threshold": 0.2, "operating_points": [_POINT],
    "trained_on": {"items": 4, "positives": 2, "benchmarks": {"x": 4}, "labels": "file"},
}  # fmt: skip
_CLASSIFIERS = (
    json.dumps(
        {"kind": "embedding", "groups": ["surface"], "encoder": None, "encoder_key": None,
         "logistic": _LOGISTIC, **_TRAINED}
    ).encode(),
    json.dumps(
        {"kind": "bert", "fine_tuning": {"model": "x"}, "weights": f"weights-{'0' * 12}",
         **_TRAINED}
    ).encode(),
)  # fmt: skip
_LABEL = (
    b'{"doc_id": "a", "style": "x", "question": "q", "choices": ["a"], "answer": "a", '
    b'"expected": true}\n'
)


def _benchmarks_of_conf() -> Iterator[bytes]:
    """The project's own benchmarks, as YAML and as JSON, which is YAML too."""
    conf = Path(__file__).parents[2] / "conf" / "base" / "parameters" / "benchmarks"
    for name in ("arc", "commonsense_qa", "demo", "gsm8k", "mmlu_cf", "truthfulqa", "winogrande"):
        (section,) = yaml.safe_load((conf / f"{name}.yml").read_bytes())["_benchmarks"].values()
        yield json.dumps(section).encode()
    yield yaml.safe_dump(section).encode()


TARGETS: dict[str, Target] = {
    "plain": Target(_documents("text/plain"), _QUESTIONS),
    "markdown": Target(_documents("text/markdown"), _QUESTIONS),
    "html": Target(_documents("text/html"), _HTML),
    "answer_keys": Target(
        answer_keys,
        (b"Answers\n1. B\n2-c; 3) D\n", b"Key: 1 b 2 a 3-5 C\n", b"Q1 = (A), Q2: y\n1\t2\nB\tC\n"),
    ),
    "shard": Target(
        shard,
        (b'{"doc_id": "a", "url": "http://a.example", "text": "x"}\n{"text": 1}\n[]\n',),
        json=True,
    ),
    "warc": Target(warc, (_warc_bytes(), _warc_bytes() * 2)),
    "csv_answers": Target(
        _answers("a.csv"), (_TIDY, b"item_id,m,n\nq1,1,0\nq2,0.5,\n01,TRUE,\n", b"model,q1\nm,A\n")
    ),
    "jsonl_answers": Target(
        _answers("a.jsonl"),
        (
            b'{"item_id": "q1", "model": "m", "correct": 1, "logprobs": [-1, -2, -3, -4.5]}\n'
            b'{"item_id": "01", "model": "m", "prediction": "B", "shots": 5, "style": "cloze"}\n',
        ),
        json=True,
    ),
    "lm_eval_log": Target(
        lm_eval_log,
        (
            _sample(),
            _sample(doc_id=1, arguments=[["Q", {"until": []}]], resps=[["x"]], exact_match=0.0)
            + b'\0\0{"model_name": "org/m", "n-shot": {"task": 5}}',
        ),
        json=True,
    ),
    "jsonl_rows": Target(_rows("x.jsonl", _FIELDS), _ROWS, json=True),
    "csv_rows": Target(_rows("x.csv", _CSV_FIELDS), _CSV_ROWS),
    "spreadsheet": Target(
        spreadsheet,
        (
            b'\xef\xbb\xbfitem_id;rule;verdict\r\n\'007;easy;"a\n""b"""\r\n',
            "item_id\trule\r\nq1\täöü\r\n".encode("utf-16"),
        ),
    ),
    "benchmark_file": Target(benchmark_file, (*_YAML, *_benchmarks_of_conf()), json=True),
    "manifest": Target(
        manifest,
        (_SUBSET, _HALF, _PUBLIC, _SEALED, _LABEL, *_CLASSIFIERS),
        json=True,
    ),
    "gguf": Target(gguf, (_gguf_bytes(),)),
    "replies": Target(
        replies,
        (b"Rating: 7", b'{"clarity": 4, "depth": "3/5", "safe": "yes"}', b"Field: law (mostly)"),
    ),
}

if __name__ == "__main__":
    print(*TARGETS)  # noqa: T201
