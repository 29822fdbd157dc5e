"""What everything in conf and in the pipelines must have, checked by walking all of it."""

import re
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
import yaml
from kedro.framework.context import KedroContext
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from omegaconf import OmegaConf
from pydantic import BaseModel

from benchwright.hooks.results import RESULTS
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.filtering import FilteringParams
from benchwright.params.responses import ResponsesParams
from benchwright.params.scoring import EmbeddingParams, ModelsParams, ScoringParams
from benchwright.pipeline_registry import register_pipelines
from benchwright.runs.project_conf import ConfLoader, load_conf

LAYERS = ["raw", "primary", "feature", "model_output", "reporting"]
VERB_OBJECT = re.compile(r"^[a-z]+(_[a-z0-9]+)+$")
PIPELINES = register_pipelines()


# In memory only, because half of the items will be closed.
SEALED = {
    "raw_items",
    "rejected_raw_items",
    "cleaning_changes",
    "clean_items",
    "fielded_items",
    "difficulty_ratings",
    "item_difficulty",
    "sampled_items",
    "checked_items",
    "judge_ratings",
    "harm_flags",
    "difficulty_answers",
    "final_items",
    "contamination_free_items",
    "final_difficulty",
    "split_assignment",
    "closed_seed",
}


@pytest.fixture(scope="module")
def context(repository: Path) -> Iterator[KedroContext]:
    bootstrap_project(repository)
    with KedroSession.create(project_path=repository) as session:
        yield session.load_context()


@pytest.fixture(scope="module")
def catalog(context: KedroContext) -> dict[str, Any]:
    return dict(context.config_loader["catalog"])


def all_nodes() -> list[Any]:
    return sorted({node for p in PIPELINES.values() for node in p.nodes}, key=lambda n: n.name)


@pytest.fixture(scope="module")
def layers(repository: Path) -> dict[str, list[str]]:
    """The layers of each pipeline in order, as Kedro-Viz answers with all pipelines loaded."""
    from kedro_viz.api.rest.responses.pipelines import get_pipeline_response
    from kedro_viz.server import load_and_populate_data

    load_and_populate_data(repository)
    return {name: get_pipeline_response(name).layers for name in PIPELINES}


def test_kedro_viz_shows_the_layers_in_order(layers: dict[str, list[str]]) -> None:
    assert [name for name, shown in layers.items() if not shown] == []
    for name in ("__default__", "smart"):  # they have all layers
        assert layers[name] == LAYERS


def test_every_dataset_is_used_and_every_free_input_is_in_the_catalog(
    catalog: dict[str, Any],
) -> None:
    used = {name for p in PIPELINES.values() for name in p.datasets()}
    free = {name for p in PIPELINES.values() for name in p.inputs()}
    free = {name for name in free if not name.startswith("params:")}
    unused = [name for name in catalog if not any(_names(name, dataset) for dataset in used)]
    assert unused == [], "in the catalog, used by no pipeline"
    assert free - set(catalog) == set(), "needed by a pipeline, not in the catalog"


def _names(entry: str, dataset: str) -> bool:
    """Whether an entry of the catalog, perhaps a factory, is that of a dataset."""
    pattern = re.sub(r"\\{\w+\\}", ".+", re.escape(entry))
    return re.fullmatch(pattern, dataset) is not None


def test_texts_of_an_unsealed_benchmark_are_not_saved(
    catalog: dict[str, Any],
) -> None:
    made = {name for node in PIPELINES["mmlu_cf"].nodes for name in node.outputs}
    assert made >= SEALED
    assert set(catalog) & SEALED == set()


def test_every_result_of_a_pipeline_is_saved(catalog: dict[str, Any]) -> None:
    results = {name for p in PIPELINES.values() for name in p.outputs()}
    assert [result for result in results if not any(_names(name, result) for name in catalog)] == []


def test_saved_tables_that_no_node_reads_are_documented(
    catalog: dict[str, Any], repository: Path
) -> None:
    nodes = {node for pipeline in PIPELINES.values() for node in pipeline.nodes}
    made = {name for node in nodes for name in node.outputs}
    read = {name for node in nodes for name in node.inputs}
    pages = "".join(page.read_text() for page in (repository / "docs").rglob("*.md"))
    unread = {name for name in made - read if name in catalog and f"`{name}`" not in pages}
    assert unread - set(RESULTS) == set()


def test_every_parameter_is_used(context: KedroContext) -> None:
    used = {
        name.removeprefix("params:").split(".")[0]
        for p in PIPELINES.values()
        for name in p.inputs()
        if name.startswith("params:")
    }
    declared = {name for name in context.config_loader["parameters"] if name[0] != "_"}
    # These choose benchmark, variant and places; conf itself uses them.
    by_conf = {"benchmark", "variant", "data_root", "mirror_root", "score"}
    assert declared - used - by_conf == set()


@pytest.mark.parametrize("node", all_nodes(), ids=lambda node: node.name)
def test_every_node_has_a_docstring_and_is_named_verb_object(node: Any) -> None:
    assert (node.func.__doc__ or "").strip(), f"{node.name} has no docstring for kedro-viz"
    assert VERB_OBJECT.match(node.name.rsplit(".", 1)[-1]), node.name


def benchmark_files() -> list[Path]:
    folder = Path(__file__).resolve().parents[1] / "conf/base/parameters/benchmarks"
    return sorted(folder.glob("*.yml"))


def read_benchmarks(path: Path) -> dict[str, Any]:
    shared = path.parents[1] / "leaderboards.yml"
    conf = OmegaConf.create(shared.read_text() + path.read_text())
    return dict(OmegaConf.to_container(conf, resolve=True)["_benchmarks"])


@pytest.mark.parametrize("path", benchmark_files(), ids=lambda path: path.stem)
def test_every_benchmark_file_is_valid_with_source_and_licence(path: Path) -> None:
    content = read_benchmarks(path)
    assert list(content) == [path.stem]
    benchmark = BenchmarkParams.model_validate(content[path.stem])
    assert benchmark.licence
    assert benchmark.citation


@pytest.mark.parametrize("path", benchmark_files(), ids=lambda path: path.stem)
def test_filter_models_that_a_run_asks_are_among_the_packaged_ones(path: Path) -> None:
    conf = read_benchmarks(path)[path.stem]
    variants = path.parents[1] / "variants"
    smart = yaml.safe_load((variants / "smart.yml").read_text())["_variants"]["smart"]
    if isinstance(conf.get("filter_models"), list) and not conf.get("responses"):
        asked = {*smart["scoring"]["configurations"]}
        asked = {*(conf.get("scoring", {}).get("configurations") or asked)}
        assert {*conf.get("filter_models")} <= asked


def test_every_variant_and_every_benchmark_resolve(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variants = sorted(p.stem for p in (repository / "conf/base/parameters/variants").glob("*.yml"))
    assert {"smart", "smart_paper", "smart_released_code", "no_similar"} <= set(variants)
    benchmarks = [path.stem for path in benchmark_files()]
    # Each name once: what a benchmark overrides does not depend on the variant.
    more = max(len(benchmarks), len(variants))
    pairs = zip(islice(cycle(benchmarks), more), islice(cycle(variants), more), strict=True)
    groups: dict[str, type[BaseModel]] = {
        "ingestion": BenchmarkParams,
        "filtering": FilteringParams,
        "scoring": ScoringParams,
        "embedding": EmbeddingParams,
        "responses": ResponsesParams,
        "evaluation": EvaluationParams,
        "models": ModelsParams,
    }
    conf = load_conf(repository)
    read = {key: conf._read_raw_config(key) for key in ("globals", "parameters", "catalog")}
    monkeypatch.setattr(ConfLoader, "_read_raw_config", lambda _, key: read[key])
    for benchmark, variant in pairs:
        conf = load_conf(repository, params={"benchmark": benchmark, "variant": variant})
        parameters = conf["parameters"]
        for group, model in groups.items():
            model.model_validate(parameters[group])
        if variant == "smart_paper":
            path = conf["catalog"]["kept_items"]["filepath"]
            assert path == f"data/07_model_output/{benchmark}/{variant}/kept_items.parquet"
