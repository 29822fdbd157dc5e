"""Conf as a run reads it: two files of one environment that name one benchmark are refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kedro.io import DataCatalog, DatasetError
from omegaconf import OmegaConf

from benchwright.core.errors import InputError
from benchwright.runs.project_conf import load_conf, settings
from benchwright.tables.items import Items
from scoring.scoring_examples import item


def put(project: Path, name: str, content: str) -> Path:
    path = project / "conf" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path, "base/parameters/benchmarks/a.yml", "_benchmarks: {a: {name: a, title: base}}\n")
    put(tmp_path, "base/parameters/benchmarks/b.yml", "_benchmarks:\n  b:\n    name: b\n")
    put(tmp_path, "base/parameters/variants/v.yml", "_variants: {a: {x: 1}}\n")
    (tmp_path / "conf" / "local").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("benchmarks/copy.yml", "_benchmarks: {a: {title: other}}\n", "benchmark 'a'"),
        ("benchmarks/deep/copy.yaml", "_benchmarks:\n  c: {}\n  b: {}\n", "benchmark 'b'"),
        ("more.yml", "_variants: {a: {x: 2}}\n", "variant 'a'"),
    ],
)
def test_names_defined_in_two_files_are_rejected(
    project: Path, name: str, content: str, kind: str
) -> None:
    other = put(project, f"base/parameters/{name}", content)
    with pytest.raises(InputError) as caught:
        load_conf(project)["parameters"]
    report = str(caught.value)
    assert report.startswith(f"{kind} is defined in ")
    assert report.endswith("; keep one of them")
    assert str(other) in report
    assert report.count("conf/base/parameters") == 2
    other.write_text("_benchmarks: {c: {}}\n")
    assert {"a", "b", "c"} == {*load_conf(project)["parameters"]["_benchmarks"]}


def test_environment_overrides_base(project: Path) -> None:
    put(project, "local/parameters/a.yml", "_benchmarks: {a: {title: mine}}\n")
    named = load_conf(project)["parameters"]["_benchmarks"]["a"]
    assert (named["name"], named["title"]) == ("a", "mine")


@pytest.mark.parametrize("env", ["local", "record"])
def test_names_defined_twice_in_the_environment_are_rejected(project: Path, env: str) -> None:
    for number in (1, 2):
        put(project, f"{env}/parameters/a{number}.yml", "_benchmarks: {a: {title: mine}}\n")
    with pytest.raises(InputError, match=rf"a1\.yml and .*{env}.parameters.a2\.yml"):
        load_conf(project, env)["parameters"]
    other = "record" if env == "local" else "local"
    (project / "conf" / other).mkdir(exist_ok=True)
    assert load_conf(project, other)["parameters"]["_benchmarks"]["a"]["title"] == "base"


@pytest.fixture
def catalog(repository: Path) -> Any:
    def read(**given: Any) -> dict[str, Any]:
        return dict(load_conf(repository, params={"variant": "mmlu_cf", **given})["catalog"])

    return read


def test_catalog_has_the_sections_of_the_variant(catalog: Any) -> None:
    entries = catalog()
    assert entries["judge_store"]["sealing"] == {"name": "mmlu_cf"}
    assert entries["judge_store"]["folder"] == "data/06_models/judge_store"
    assert not [name for name in entries if name.startswith("_")]
    given = catalog(sealing={"min_group": 60})["judge_store"]["sealing"]
    assert given == {"name": "mmlu_cf", "min_group": 60}
    assert catalog(variant="smart")["judge_store"]["sealing"] == {}


def test_tables_are_validated_when_saved_or_when_another_run_saved_them(
    repository: Path, tmp_path: Path
) -> None:
    entry = load_conf(repository, params={"data_root": str(tmp_path)})["catalog"]["items"]
    run, next_run = (DataCatalog.from_config({"items": entry}) for _ in range(2))
    wrong = pd.DataFrame({"item_id": ["a"]})
    with pytest.raises(DatasetError, match="question"):
        run.save("items", wrong)
    run.save("items", Items.from_rows([tuple(item("t/0").values())]))
    (file,) = Path(entry["filepath"]).glob("*/items.parquet")
    wrong.to_parquet(file)
    assert list(run.load("items")) == ["item_id"]
    with pytest.raises(DatasetError, match="question"):
        next_run.load("items")


def test_benchmark_overrides_the_variant_and_a_given_mode_both() -> None:
    variants = {"v": {"filtering": {"a": 1, "b": 1, "mode": "live"}}}
    benchmarks = {"b": {"filtering": {"b": 2, "mode": "imported"}}}
    root = OmegaConf.create({"_variants": variants, "_benchmarks": benchmarks})
    assert settings("filtering", "v", "b", _root_=root) == {"a": 1, "b": 2, "mode": "imported"}
    assert settings("filtering", "v", "b", "live", _root_=root)["mode"] == "live"


def test_environment_is_given_or_named_by_a_variable(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(project, "cloud/parameters.yml", "_benchmarks: {b: {title: cloud}}\n")
    put(project, "other/parameters.yml", "_benchmarks: {b: {title: other}}\n")
    monkeypatch.setenv("KEDRO_ENV", "cloud")
    assert load_conf(project)["parameters"]["_benchmarks"]["b"]["title"] == "cloud"
    assert load_conf(project, "other")["parameters"]["_benchmarks"]["b"]["title"] == "other"


@pytest.mark.parametrize("name", ["parameters/benchmarks/mine.yml", "parameters_mine.yml"])
def test_benchmarks_of_the_environment_can_be_chosen(
    repository: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "base").symlink_to(repository / "conf" / "base")
    content = "_benchmarks: {mine: {name: mine, sources: {local: {file: a}}}}\n"
    put(tmp_path, f"local/{name}", content)
    conf = load_conf(tmp_path, params={"benchmark": "mine"})
    assert conf["parameters"]["ingestion"]["name"] == "mine"
    assert conf["catalog"]["benchmark_source"]["benchmark"]["sources"] == {"local": {"file": "a"}}
    assert conf["catalog"]["items"]["filepath"] == "data/03_primary/mine/items.parquet"
    put(tmp_path, "local/parameters.yml", "benchmark: mine\nlimit: 7\n")
    conf = load_conf(tmp_path)
    assert conf["parameters"]["ingestion"]["name"] == "mine"
    assert conf["catalog"]["items"]["filepath"] == "data/03_primary/mine/limit7/items.parquet"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a@letters-0+org/b", ["a@letters-0", "org/b"]),
        ("all", "all"),
        (["a"], ["a"]),
    ],
)
def test_models_on_the_command_line_are_joined_by_plus(
    repository: Path, given: Any, expected: Any
) -> None:
    parameters = load_conf(repository, params={"filter_models": given})["parameters"]
    assert parameters["filter_models"] == expected


@pytest.mark.parametrize(
    ("name", "variant", "expected"),
    [
        ("truthfulqa", "smart_paper", ["smollm2-135m-instruct@cloze-0", "gemma-3-270m@cloze-0"]),
        ("mmlu_leaderboard", "smart", {"answered_by": 0.01, "min_coverage": 1.0}),
        ("", "smart_paper", {"choose": "strongest", "distinct": "organisation"}),
    ],
)
def test_a_benchmark_names_filter_models_and_a_variant_a_rule(
    repository: Path, name: str, variant: str, expected: Any
) -> None:
    params = {"benchmark": name, "variant": variant}
    parameters = load_conf(repository, "evidence", params)
    assert parameters["parameters"]["filter_models"] == expected


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("local/globals.yml", "data_root: http://x/y", "data_root='http://x/y': expected a folder"),
        ("base/globals.yml", "data_root: s3://x", "data_root='s3://x': expected a folder"),
        ("local/more/parameters.yaml", "seed: abc", "seed='abc': expected a non-negative integer"),
    ],
)
def test_invalid_values_of_conf_are_reported_with_their_file(
    project: Path, file: str, content: str, message: str
) -> None:
    put(project, "base/globals.yml", "data_root: data")
    put(project, "base/parameters.yml", "data_root: ${globals:data_root}\nseed: 0\n")
    put(project, file, content)
    with pytest.raises(InputError) as caught:
        load_conf(project)["parameters"]
    assert str(caught.value).startswith(f"conf/{file}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    name = content.partition(":")[0]
    load_conf(project, params={name: "given"})["parameters"]  # which is checked as `--params`
