"""Every script of benchmarks/ at its smallest size, on a small made-up folder of real data."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

SMALLEST = {
    "ask_replays": "--smallest --orders 5 --draws 1 --budgets 20",
    "bench_anchors": "{made} --benchmarks arc_challenge --ways ours --judges 5",
    "bench_cleaning": "200 --dedup",
    "bench_engines": "--items 2 --shots 1 --ways vllm",
    "bench_extraction": "1",
    "bench_irt": "--smallest",
    "bench_logs": "{made} --models 1",
    "bench_neighbours": "0 {made}/vectors.npy --k 5 --checked 20",
    "bench_packing": "--texts 2 --prompts 0 --rounds 1",
    "bench_sampling": "--models 40 --items 30 --samplers 1",
    "bench_scoring": "--shots 1 --prompts 4 --plain 2 --styles cloze",
    "bench_similarity": "--smallest",
    "bench_stages": "smart --stages ingestion --params data_root={tmp}",
    "bench_statistics": "--smallest",
    "bench_vllm": "--weights {tmp}",
    "closed_guesses": "--copies 1 --keys 1 --guesses 1",
    "estimation_errors": "{made} --benchmarks arc_challenge --subsets 1",
    "extraction_layouts": "{made}/benchmarks --items 48",
    "extraction_quality": "{made}/benchmarks --items 48",
    "filter_choices": "{made} --panels arc_challenge --draws 20 --splits 1",
    "gate_replays": "--smallest --replays 20 --orders 20",
    "grown_benchmark": "30 {tmp}",
    "known_draws": "{made} --benchmarks arc_challenge --rates 10 --draws 2",
    "leak_test": "test {tmp} {made} --benchmark arc --items 20 --subsets 5 --smallest",
    "order_gaps": "{made} --benchmarks arc_challenge --subsets 5 --resamples 5",
    "plan_promises": "{made} --benchmarks arc_challenge --halves 1 --subsets 10",
    "plot_growth": "{here}/growth.jsonl {tmp}/growth.svg",
    "similar_bound": "{made} --vectors {made} --pairs {made}/pairs.csv --benchmarks arc --sizes 20 "
    "--seeds 1 --draws 3",
    "wicked_table": "{made}/reporting arc mmlu",
    "wide_benchmark": "5 30 {tmp}",
}
NEEDS_DATA = {
    "ask_replays": "{tmp}/none",
    "bench_anchors": "{tmp}/none",
    "bench_cleaning": "200",
    "bench_engines": "--items 2",
    "bench_logs": "{tmp}/none",
    "estimation_errors": "{tmp}/none",
    "extraction_layouts": "{tmp}/none",
    "extraction_quality": "{tmp}/none",
    "filter_choices": "{tmp}/none",
    "gate_replays": "{tmp}/none",
    "grown_benchmark": "30 {tmp}",
    "known_draws": "{tmp}/none",
    "leak_test": "test {tmp} {tmp}/none",
    "plan_promises": "{tmp}/none",
    "similar_bound": "{tmp}/none --vectors {tmp}",
    "wide_benchmark": "5 30 {tmp}",
}
OTHERS = {"bench_import", "made_benchmark", "real_data"}
Script = Callable[..., Any]


def items(prefix: str, subjects: list[str], each: int) -> pd.DataFrame:
    rows = [
        {
            "item_id": f"{prefix}-{subject}-{number}",
            "subject": subject,
            "subset": subject,
            "split": ("test", "dev", "train")[0 if number > 10 else 1 + number % 2],
            "question": f"How many grams of {subject} metal {number} dissolve in cold water today?",
            "choices": [f"about {number + offset} grams" for offset in range(4)],
            "answer_index": number % 4,
        }
        for subject in subjects
        for number in range(each)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as that of the real data, with a few made-up items and answers."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "benchmarks").mkdir()
    (folder / "responses").mkdir()
    generator = np.random.default_rng(0)
    for name, subjects in (("mmlu", ["history", "law"]), ("arc", ["ARC-Easy", "ARC-Challenge"])):
        table = items(name, subjects, 40)
        if name == "arc":
            table = table.drop(columns="subject")
            tested = table.loc[table["split"] == "test", "item_id"].tolist()
            vectors = generator.normal(size=(len(tested), 8)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            unit = pd.DataFrame({"item_id": tested, "vector": list(vectors)})
            unit.assign(text_hash="", encoder="made").to_parquet(folder / "arc.parquet")
            pairs = pd.DataFrame({"a": tested[:-1], "b": tested[1:], "read_as": "topic"})
            pairs.loc[::2, "read_as"] = "same"
            pairs.to_csv(folder / "pairs.csv", index=False)
        table.to_parquet(folder / f"benchmarks/{name}.parquet")
        answers = table.loc[table["split"] == "test", ["item_id"]].merge(
            pd.Series([f"m{i}" for i in range(7)], name="model"), "cross"
        )
        answers["correct"] = generator.random(len(answers)) < 0.6
        answers["p_answer"] = generator.random(len(answers))
        answers.to_parquet(folder / f"responses/{name}_7models.parquet")
    models = [f"model-{number}" for number in range(40)]
    chance = 1 / (1 + np.exp(generator.normal(size=60) - generator.normal(size=(40, 1))))
    right = pd.DataFrame((generator.random(chance.shape) < chance).astype(float))
    right.columns = [f"i{number}" for number in range(60)]
    right.insert(0, "model", models)
    right.to_parquet(folder / "responses/leaderboard_v1_arc_challenge.parquet")
    facts = {"name": models, "arch": [f"a{i // 4}" for i in range(40)], "size": 7.0}
    pd.DataFrame(facts).to_parquet(folder / "responses/leaderboard_v1_models.parquet")
    np.save(folder / "vectors.npy", generator.normal(size=(300, 8)).astype(np.float32))
    for name, (shots, delta, error) in {"arc": (5, -0.1, 0.03), "mmlu": (0, -0.2, 0.04)}.items():
        save_comparison(folder / "reporting" / name / "wicked" / "latest", shots, delta, error)
    return folder


def save_comparison(folder: Path, shots: int, delta: float, error: float) -> None:
    """Save what `wicked_table` reads of a run with one model."""
    folder.mkdir(parents=True)
    after = {"accuracy_mean": 0.6 + delta, "accuracy_sd": 0.01, "accuracy_altered": 0.5 + delta}
    before = {"accuracy_original": 0.6, "accuracy_altered_original": 0.5}
    bounds = {"delta_se": error, "delta_low": delta - 2 * error, "delta_high": delta + 2 * error}
    name = {"configuration": f"m@letters-{shots}", "model": "m", "style": "letters"}
    row = {**name, "n_items": 300, "delta": delta, **before, **after, **bounds}
    pd.DataFrame([row]).to_parquet(folder / "comparison_scores.parquet")
    rates = [(name["configuration"], "kept", 0.1), (name["configuration"], "removed", 0.3)]
    table = pd.DataFrame(rates, columns=["configuration", "gold", "share"])
    table.to_parquet(folder / "comparison_none_rates.parquet")
    metrics = {"share_altered": 0.95, "share_gold_removed": 0.24, "gold_removed_unchecked": 71}
    (folder / "comparison_metrics.json").write_text(json.dumps(metrics))


@pytest.fixture
def script(made: Path, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Import a script anew and hand it its arguments."""
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")
    monkeypatch.setenv("BENCHWRIGHT_VLLM_PYTHON", str(tmp_path / "no-python"))

    def load(name: str, words: str, data: Path = made) -> Any:
        monkeypatch.setenv("BENCHWRIGHT_SHARED_DATA", str(data))
        places = {"made": made, "tmp": tmp_path, "here": repository / "benchmarks"}
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *words.format(**places).split()])
        for other in {*SMALLEST, *OTHERS} & {*sys.modules}:
            monkeypatch.delitem(sys.modules, other)
        return importlib.import_module(name)

    return load


def test_every_script_is_listed(repository: Path) -> None:
    assert {path.stem for path in (repository / "benchmarks").glob("*.py")} == {*SMALLEST} | OTHERS


@pytest.mark.parametrize("name", SMALLEST)
def test_benchmark_script_runs(
    name: str, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "bench_vllm" and importlib.util.find_spec("vllm"):
        pytest.skip("vLLM is here: it would load a model")
    script(name, SMALLEST[name]).main()
    message = capsys.readouterr().out
    assert message
    assert "failed" not in message


def test_table_of_wicked_has_the_mean_over_benchmarks_with_its_interval(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script("wicked_table", SMALLEST["wicked_table"]).main()
    rows = capsys.readouterr().out.splitlines()
    # The standard error of the mean is √(0.03² + 0.04²) / 2 = 0.025.
    assert "| m@letters | mean |  | 0.600 | 0.450 |  | −15.0 [−19.9, −10.1] |  |" in rows
    assert any(row.startswith("| m@letters-5 | arc | 300") for row in rows)
    assert "| m@letters-0 | mmlu | 0.100 | 0.300 |" in rows


@pytest.mark.parametrize("name", NEEDS_DATA)
def test_missing_real_data_is_reported(
    name: str, script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script(name, NEEDS_DATA[name], tmp_path / "none")
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("not run: no real data at ")


def test_engine_worker_runs(script: Script, tmp_path: Path) -> None:
    from faults.tiny_llama import save_tiny_llama

    asked, out = tmp_path / "asked.json", tmp_path / "out.json"
    asked.write_text(json.dumps([["", "Question: apple? Answer:", [" iron", " Mars"]]]))
    folder = save_tiny_llama(tmp_path / "model")
    script("bench_engines", f"--worker transformers {folder} float32 {asked} {out}").main()
    assert len(json.loads(out.read_text())["logprobs"][0]) == 2


def test_engines_that_load_longer_than_they_score_have_no_speed(script: Script) -> None:
    engines = script("bench_engines", "")
    loading = {"seconds": 4.0, "processor": 3.0}
    scored = engines.without_loading({"seconds": 10.0, "processor": 3.5}, loading)
    assert scored["seconds"] == 6
    assert np.isnan(scored["processor"])
    with pytest.raises(SystemExit, match="loads the model for 4 seconds"):
        engines.without_loading({"seconds": 3.0, "processor": 3.5}, loading)


def test_engines_are_compared_on_prompts_that_both_have_scored(script: Script) -> None:
    engines = script("bench_engines", "")
    values = {0: [-1.0, -2.0], 1: None, 3: [0.0], 4: [-9.0]}
    plain = {0: [-1.0, -2.5], 1: [-7.0], 3: None, 5: [0.0]}
    assert engines.largest_difference(values, plain) == (0.5, 1)
    assert engines.largest_difference({1: None}, plain) == (0.0, 0)


class Once:
    """The part of pytest-benchmark's fixture that is used, which calls once."""

    def __init__(self) -> None:
        self.extra_info: dict[str, float] = {}

    def pedantic(self, call: Callable[[], Any], rounds: int) -> Any:
        return call()


def test_import_benchmark_runs(script: Script, made: Path) -> None:
    script("bench_import", "").test_import(Once(), made, "arc", "arc_7models.parquet")


@pytest.mark.long
def test_the_leak_script_trains_and_scores_a_model(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from faults.tiny_llama import save_tiny_llama

    small = f"--start {save_tiny_llama(tmp_path / 'model')} --benchmark arc --items 10"
    script("leak_test", f"train {{tmp}} {{made}} {small} --passes 1 --rate .01").main()
    script("leak_test", f"test {{tmp}} {{made}} {small} --subsets 2 --gap --probed 3").main()
    printed = capsys.readouterr().out
    assert "pass 1, batch 2: loss " in printed
    assert printed.count("| judged-prompt-0.01-1 | ") == 3
