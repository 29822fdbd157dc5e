"""Every benchmark of the hub, in the shape that the hub has it, read from a folder."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from kedro.io import DatasetError

from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams


def made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_hub(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> None:
    """`rows` by `<config>/<split>`, as Parquet files with a dataset card."""
    configs: dict[str, list[str]] = {}
    for name, part in rows.items():
        config, split = name.split("/")
        file = made(folder / config) / f"{split}-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(part), file)
        configs.setdefault(config, []).append(split)
    lines = ["---", "configs:"]
    for config, splits in configs.items():
        lines += [f"- config_name: {config}", *["  default: true"] * (config == "data")]
        lines += ["  data_files:"]
        for split in splits:
            lines += [f"  - split: {split}", f"    path: {config}/{split}-*"]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]))


def test_arc_is_read_from_its_hub_layout(
    tmp_path: Path, hub_cache: None, conf_benchmark: Any
) -> None:
    def arc(i: int, labels: str) -> dict[str, Any]:
        text = [f"None {i}", "NA", "01", "TRUE", "five"][: len(labels)]
        choices = {"text": text, "label": list(labels)}
        return {"id": f"M{i}", "question": f"q{i}", "choices": choices, "answerKey": labels[1]}

    rows = {
        "ARC-Challenge/train": [arc(0, "ABCD")],
        "ARC-Challenge/test": [arc(1, "1234"), arc(2, "ABCDE"), arc(3, "ABCD")],
        "ARC-Easy/test": [arc(4, "ABCD")],
        "ARC-Easy/validation": [arc(5, "ABCD")],
    }
    write_hub(tmp_path / "copy", rows)
    params = conf_benchmark("arc", hub=tmp_path / "copy")
    frame = BenchmarkSource(benchmark=params, raw_folder=str(tmp_path / "raw")).load()
    assert len(frame) == 6
    result = map_source_rows(frame, BenchmarkParams.model_validate(params), None, 0)
    assert result.items.item_id.tolist() == [
        "arc/ARC-Challenge/0",
        "arc/ARC-Challenge/2",
        "arc/ARC-Easy/0",
    ]
    assert result.items.subject.tolist() == ["ARC-Challenge", "ARC-Challenge", "ARC-Easy"]
    assert result.items.answer_text.tolist() == ["NA", "NA", "NA"]
    assert result.items.source_id.tolist() == ["M1", "M3", "M4"]
    assert result.demonstrations.item_id.tolist() == ["arc_train/ARC-Challenge/0"]
    assert result.calibration_items.item_id.tolist() == ["arc_validation/ARC-Easy/0"]
    assert result.rejected_items.rule.tolist() == ["wrong_number_of_options"]


def hub_result(params: dict[str, Any], raw: Path) -> IngestedTables:
    frame = BenchmarkSource(benchmark=params, raw_folder=str(raw)).load()
    return map_source_rows(frame, BenchmarkParams.model_validate(params), None, 0)


def test_mmlu_is_read_from_its_hub_layout(
    tmp_path: Path, hub_cache: None, conf_benchmark: Any
) -> None:
    def mmlu(subject: str, answer: int) -> dict[str, Any]:
        choices = ["None", "NA", "0", "1"]
        return {"question": "q", "subject": subject, "choices": choices, "answer": answer}

    rows = {
        "all/test": [mmlu("anatomy", 0), mmlu("virology", 3), mmlu("anatomy", 1)],
        "all/validation": [mmlu("anatomy", 2)],
        "all/dev": [mmlu("virology", 2)],
        "all/auxiliary_train": [mmlu("", 2)],
    }
    write_hub(tmp_path / "copy", rows)
    result = hub_result(conf_benchmark("mmlu", hub=tmp_path / "copy"), tmp_path)
    assert result.items.item_id.tolist() == [
        "mmlu/anatomy/0",
        "mmlu/anatomy/1",
        "mmlu/virology/0",
    ]
    assert result.items.answer_text.tolist() == ["None", "NA", "1"]
    assert result.demonstrations.item_id.tolist() == ["mmlu_dev/virology/0"]
    assert result.calibration_items.item_id.tolist() == ["mmlu_validation/anatomy/0"]
    assert result.rejected_items.empty


def as_winogrande(answer: str) -> dict[str, Any]:
    return {"sentence": "The _ won.", "option1": "None", "option2": "NA", "answer": answer}


def as_commonsense(answer: str) -> dict[str, Any]:
    choices = {"label": list("ABCDE"), "text": ["None", "NA", "c", "d", "e"]}
    return {"id": "x1", "question": "q", "question_concept": "k", "choices": choices} | {
        "answerKey": answer
    }


def as_truthful() -> dict[str, Any]:
    targets = {"choices": ["NA", "None", "no"], "labels": [1, 0, 0]}
    return {"question": "q", "mc1_targets": targets, "mc2_targets": targets}


def as_hellaswag(label: str) -> dict[str, Any]:
    endings = ["NA", "b", "c", "d"]
    part = {"activity_label": "Golf", "ctx": "A man", "endings": endings, "label": label}
    return {"ind": 1, "source_id": "v1", "split": "train", **part}


def as_pro(index: int) -> dict[str, Any]:
    part = {"question_id": 70, "question": "q", "options": ["NA", "b", "c"], "src": "x"}
    return (
        part
        | {"answer": "ABC"[index], "answer_index": index, "category": "law"}
        | {"cot_content": ""}
    )


def as_gsm() -> dict[str, Any]:
    return {"question": "q", "answer": "1,000 * <<2=2>>2\n#### 2,000"}


def as_redux() -> dict[str, Any]:
    part = {"question": "q", "choices": ["NA", "b", "c", "d"], "answer": 0}
    return part | {"error_type": "ok", "source": None, "correct_answer": None}


HUB_SHAPES: list[tuple[str, str, dict[str, list[dict[str, Any]]], str, str]] = [
    (
        "winogrande",
        "winogrande_xl",
        {"validation": [as_winogrande("2")], "test": [as_winogrande("")]},
        "winogrande/0",
        "NA",
    ),
    (
        "commonsense_qa",
        "data",
        {"validation": [as_commonsense("B")], "test": [as_commonsense("")]},
        "commonsense_qa/0",
        "NA",
    ),
    ("truthfulqa", "multiple_choice", {"validation": [as_truthful()]}, "truthfulqa/0", "NA"),
    (
        "hellaswag",
        "data",
        {"validation": [as_hellaswag("0")], "test": [as_hellaswag("")]},
        "hellaswag/Golf/0",
        "NA",
    ),
    ("mmlu_pro", "data", {"test": [as_pro(0)]}, "mmlu_pro/law/0", "NA"),
    ("gsm8k", "main", {"test": [as_gsm()]}, "gsm8k/0", "2,000"),
]


@pytest.mark.parametrize(
    ("name", "config", "splits", "item_id", "answer_text"), HUB_SHAPES, ids=lambda x: str(x)[:15]
)
def test_other_hub_layouts_are_read(
    tmp_path: Path,
    hub_cache: None,
    conf_benchmark: Any,
    name: str,
    config: str,
    splits: dict[str, list[dict[str, Any]]],
    item_id: str,
    answer_text: str,
) -> None:
    rows = {f"{config}/{split}": part for split, part in splits.items()}
    write_hub(tmp_path / "copy", rows)
    result = hub_result(conf_benchmark(name, hub=tmp_path / "copy"), tmp_path)
    (item,) = result.items.itertuples()
    assert (item.item_id, item.answer_text) == (item_id, answer_text)
    assert result.rejected_items.empty


def test_subjects_of_mmlu_cf_come_from_split_names(
    tmp_path: Path, hub_cache: None, conf_benchmark: Any
) -> None:
    row = {"Question": "q", "A": "None", "B": "NA", "C": "c", "D": "d", "Answer": "B"}
    parts = ("val", "dev", "Computer_Science_val", "Law_val", "Law_dev")
    write_hub(tmp_path / "copy", {f"data/{part}": [row] for part in parts})
    result = hub_result(conf_benchmark("mmlu_cf", hub=tmp_path / "copy"), tmp_path)
    assert result.items.item_id.tolist() == ["mmlu_cf/Computer_Science/0", "mmlu_cf/Law/0"]
    assert result.demonstrations.item_id.tolist() == ["mmlu_cf_dev/Law/0"]


def test_unreachable_hub_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf_benchmark: Any
) -> None:
    def away(*arguments: Any, **options: Any) -> None:
        raise ConnectionError("Couldn't reach 'openai/gsm8k' on the Hub\nmore\nlines")

    monkeypatch.setattr("datasets.load_dataset", away)
    with pytest.raises(DatasetError) as caught:
        hub_result(conf_benchmark("gsm8k"), tmp_path)
    report = str(caught.value.__cause__)
    assert "\n" not in report
    assert report.startswith("openai/gsm8k (configuration main) could not be read: Couldn't reach")
    assert (
        "put a copy of the dataset into FOLDER/openai/gsm8k and set --params mirror_root=" in report
    )
