"""The benchmark files: each is valid, and the real benchmarks have their known sizes."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_fields import Rule
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams

FILES = Path(__file__).resolve().parents[2] / "conf" / "base" / "parameters" / "benchmarks"
NAMES = sorted(path.stem for path in FILES.glob("*.yml"))
OF_PAPERS = {"arc", "commonsense_qa", "gsm8k", "hellaswag", "mmlu", "truthfulqa", "winogrande"}
BUNDLED = {"demo", "documents"}


def test_benchmarks_of_the_papers_are_there() -> None:
    assert set(NAMES) >= OF_PAPERS | BUNDLED


@pytest.mark.parametrize("name", NAMES)
def test_benchmark_file_is_valid_and_complete(name: str, conf_benchmark: Any) -> None:
    benchmark = BenchmarkParams.model_validate(conf_benchmark(name))
    assert benchmark.name == name
    assert benchmark.title
    assert benchmark.licence
    assert benchmark.citation
    assert benchmark.filter_models or benchmark.responses
    if name in BUNDLED:
        assert benchmark.sources.hub is None
    # Without demonstrations a model would be asked in another way than `-3` says.
    if not benchmark.splits.demonstrations:
        assert all(model.endswith("-0") for model in benchmark.filter_models or ())


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("colour",), "red", "unknown key 'colour'"),
        (("splits", "calibration"), ["test"], "split test is for evaluation"),
        (("sources",), {}, "at least one of hub, mirror and local"),
        (("sources", "mirror", "split_column"), None, "either split_column or all_rows"),
        (("sources", "mirror", "fields", "choices"), None, "gold.form must be final_answer"),
        (("sources", "mirror", "fields", "gold", "column"), None, "gold needs a column"),
        (("sources", "mirror", "fields", "gold", "form"), "label", "needs choices.labels"),
        (("name",), "../mmlu", "should match pattern"),
    ],
)
def test_invalid_benchmark_file_is_rejected(
    place: tuple[str, ...], value: Any, message: str, conf_benchmark: Any
) -> None:
    benchmark = conf_benchmark("mmlu", env="evidence")
    section = benchmark
    for key in place[:-1]:
        section = section[key]
    section[place[-1]] = value
    with pytest.raises(ValidationError, match=message):
        BenchmarkParams.model_validate(benchmark)


def test_every_rejection_rule_is_documented(repository: Path) -> None:
    page = (repository / "docs/how_to/bring_a_benchmark.md").read_text()
    assert [rule for rule in Rule if f"`{rule}`" not in page] == []


@pytest.fixture(scope="module")
def ingest_real(shared_data: Path, conf_benchmark: Any) -> Any:
    """The number of source rows and the tables of one real benchmark."""

    @cache
    def ingest(name: str) -> tuple[int, IngestedTables]:
        benchmark = conf_benchmark(name, env="evidence")
        source = BenchmarkSource(
            benchmark=benchmark, raw_folder="absent", mirror_root=str(shared_data)
        )
        frame = source.load()
        params = BenchmarkParams.model_validate(benchmark)
        return len(frame), map_source_rows(frame, params, None, 0)

    return ingest


# Items with equal options, and those where the gold is one of the equal ones.
REAL = [
    ("mmlu", 14_042, 285, 1_531, 9, 4),
    ("arc", 3_530, 3_358, 862, 0, 0),
    ("arc_challenge", 1_172, 150, 149, 0, 0),
    ("commonsense_qa", 1_221, 9_541, 200, 24, 6),
    ("truthfulqa", 817, 0, 0, 1, 0),
    ("winogrande", 1_267, 40_198, 200, 0, 0),
    ("gsm8k", 1_319, 7_473, 0, 0, 0),
]


@pytest.mark.long
@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "items", "demonstrations", "calibration", "equal", "equal_gold"), REAL
)
def test_real_benchmarks_have_their_known_sizes_and_lose_no_row(
    ingest_real: Any,
    name: str,
    items: int,
    demonstrations: int,
    calibration: int,
    equal: int,
    equal_gold: int,
) -> None:
    rows, result = ingest_real(name)
    assert [len(table) for table in result] == [items, demonstrations, calibration, 0, 0]
    assert rows == items + demonstrations + calibration
    pairs = list(zip(result.items.choices, result.items.answer, strict=True))
    assert sum(len(set(choices)) < len(choices) for choices, _ in pairs) == equal
    golds = sum(choices.count(choices[answer]) > 1 for choices, answer in pairs if choices)
    assert golds == equal_gold
