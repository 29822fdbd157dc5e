"""The scoring stage with an empty, full, partial, damaged or shared store."""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset, SharedMemoryDataCatalog
from kedro.runner import ParallelRunner, SequentialRunner

from benchwright.datasets.atomic import ParquetTable
from benchwright.datasets.score_store import ScoreStore
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines.scoring import create_pipeline
from benchwright.tables.responses import Prompts, Responses
from scoring.scoring_examples import StandIn, item, live


class Stage:
    """Runs the scoring pipeline in a folder."""

    def __init__(self, folder: Path, inputs: dict[str, Any]) -> None:
        self.store = folder / "scores"
        self.folder = folder
        self.inputs = inputs

    def catalog(self, kind: type[DataCatalog], **changes: Any) -> DataCatalog:
        given = {name: MemoryDataset(value) for name, value in (self.inputs | changes).items()}
        files = {
            name: ParquetTable(filepath=str(self.folder / f"{name}.parquet"))
            for name in ("prompts", "live_responses", "generations")
        }
        stores = {name: ScoreStore(str(self.store)) for name in ("score_cache", "model_scores")}
        return kind(datasets={**given, **files, **stores})

    def run(self, runner: Any = None, **changes: Any) -> pd.DataFrame:
        changes = {f"params:{k}" if k == "scoring" else k: v for k, v in changes.items()}
        kind = SharedMemoryDataCatalog if isinstance(runner, ParallelRunner) else DataCatalog
        catalog = self.catalog(kind, **changes)
        (runner or SequentialRunner()).run(create_pipeline(), catalog)
        return pd.DataFrame(catalog.load("live_responses"))

    def files(self) -> list[Path]:
        return sorted(self.store.glob("*.parquet"))

    def bytes(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.files()}


@pytest.fixture
def stage(
    tmp_path: Path,
    stand_in: type[StandIn],
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    colours: BenchmarkParams,
    scoring: ScoringParams,
    models: ModelsParams,
) -> Stage:
    inputs = {
        "items": items,
        "demonstrations": demonstrations,
        "calibration_items": calibration_items,
        "params:ingestion": colours,
        "params:scoring": scoring,
        "params:models": models,
        "params:filter_models": scoring.configurations,
        "params:seed": 0,
    }
    return Stage(tmp_path, inputs)


def test_every_item_gets_raw_scores_in_every_configuration(stage: Stage) -> None:
    responses = Responses.validate(stage.run())
    # 3 configurations × (12 items × 2 conditions + 4 calibration items)
    assert len(responses) == 3 * (12 * 2 + 4)
    key = ["item_id", "condition", "style", "model"]
    row = responses.set_index(key).sort_index().loc[("t/1", "question", "cloze", "one")]
    assert row["option_bytes"].tolist() == [3, 5, 4, 4]
    assert row["option_tokens"].tolist() == [1, 1, 1, 1]
    assert len(row["logprobs"]) == 4
    assert (row["shots"], row["shots_used"], row["prediction"]) == (2, 2, -1)
    assert row["source"] == "live"
    assert row["extraction"] == "ok"
    assert responses["correct"].isna().all()


def test_only_new_configurations_are_scored_one_model_after_another(stage: Stage) -> None:
    stage.run()
    stage.run()
    assert StandIn.loaded == ["1", "closed", "2", "closed"]
    before = stage.bytes()
    stage.run(scoring=live("one@cloze-2", "one@letters-2", "two@cloze-0", "two@letters-1"))
    after = stage.bytes()
    assert StandIn.loaded[4:] == ["2", "closed"]
    assert {name: after[name] for name in before} == before


def test_damaged_shards_are_scored_again_with_a_warning(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = stage.run()
    complete = stage.bytes()
    first, second = stage.files()[:2]
    first.write_bytes(first.read_bytes()[:-20])
    flipped = bytearray(second.read_bytes())
    flipped[len(flipped) // 2] ^= 1
    second.write_bytes(flipped)
    pd.testing.assert_frame_equal(stage.run(), wanted)
    assert stage.bytes() == complete
    assert sum("is ignored; its prompts are scored again" in text for text in caplog.messages) >= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the run is forked")
def test_killed_run_leaves_whole_shards_and_the_next_gives_the_same_bytes(stage: Stage) -> None:
    wanted = stage.run()
    complete = stage.bytes()
    shutil.rmtree(stage.store)
    child = os.fork()
    if not child:
        fsync = os.fsync
        os.fsync = lambda descriptor: (fsync(descriptor), time.sleep(0.1))[0]  # type: ignore[assignment]
        stage.run()
        os._exit(0)
    until = time.monotonic() + 30
    while len(stage.files()) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)  # the next shard is written, but not yet named
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    left = stage.bytes()
    assert 2 <= len(left) < len(complete)
    assert left.items() <= complete.items()
    pd.testing.assert_frame_equal(stage.run(), wanted)
    assert {path.name: path.read_bytes() for path in stage.store.iterdir()} == complete


def test_imported_answers_load_no_model_and_leave_empty_tables(stage: Stage) -> None:
    responses = stage.run(scoring=ScoringParams())
    assert len(Responses.validate(responses)) == 0
    assert len(Prompts.validate(pd.read_parquet(stage.folder / "prompts.parquet"))) == 0
    assert StandIn.loaded == []
    assert not stage.store.exists()


def test_written_answers_come_through_the_files_between_the_nodes(stage: Stage) -> None:
    scoring = live("one@generate-1", "one@letters-0", conditions=["question", "question_only"])
    open_ended = item("t/open", choices=(), answer=-1) | {"answer_text": "7"}
    columns = stage.inputs["items"].columns
    both = pd.concat(
        [stage.inputs["items"], pd.DataFrame([open_ended])[columns]], ignore_index=True
    )
    shown = pd.concat(
        [stage.inputs["demonstrations"], pd.DataFrame([open_ended])[columns]], ignore_index=True
    )
    responses = stage.run(items=both, demonstrations=shown, scoring=scoring)
    reported = responses[
        (responses["style"] == "generate") & (responses["condition"] == "question")
    ]
    reported = reported.set_index("item_id")
    assert (reported.drop("t/open")["prediction"] == 1).all()
    assert reported.loc["t/open", "extraction"] == "failed"  # "The answer is (B)." is no number
    written = pd.read_parquet(stage.folder / "generations.parquet")
    assert set(written["condition"]) == {"question", "question_only"}
