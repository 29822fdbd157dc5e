"""Real answers of real models: counted from the files, not from what the importer says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from answers.imported_rows import import_as_rows
from benchwright.answers.import_responses import Imported
from benchwright.answers.response_matrices import build_response_matrices
from benchwright.core.content_hash import content_hash
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_files import ResponseFiles
from benchwright.tables.items import Demonstrations, Items
from benchwright.tables.responses import Calibration, Responses

pytestmark = pytest.mark.real_data
GetItems = Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module")
def real_items(shared_data: Path) -> GetItems:
    def read(benchmark: str) -> pd.DataFrame:
        rows = pd.read_parquet(shared_data / "benchmarks" / f"{benchmark}.parquet")
        rows = rows[rows["item_id"].str.startswith("mmlu/") | (rows["split"] == "test")]
        choices = [list(texts) for texts in rows["choices"]]
        answer = rows["answer_index"].tolist()
        hashes = map(content_hash, rows["question"], choices)
        return Items.validate(
            pd.DataFrame(
                {
                    "item_id": rows["item_id"],
                    "split": "test",
                    "subject": "all",
                    "question": rows["question"],
                    "choices": choices,
                    "answer": answer,
                    "answer_text": [
                        texts[gold] for texts, gold in zip(choices, answer, strict=True)
                    ],
                    "correct_set": [[gold] for gold in answer],
                    **dict.fromkeys(
                        ("passage_id", "explanation", "domain", "url", "source_id"), None
                    ),
                    "content_hash": list(hashes),
                }
            ).reset_index(drop=True)
        )

    return read


def read(shared_data: Path, items: pd.DataFrame, *files: Any) -> tuple[Imported, ResponseMatrix]:
    named = [{"file": file} if isinstance(file, str) else file for file in files]
    loaded = ResponseFiles(
        benchmark={"responses": named}, folder="no-such-folder", mirror_root=str(shared_data)
    ).load()
    result = import_as_rows(loaded, items, Demonstrations.empty())
    matrices = build_response_matrices(
        Responses.empty(),
        result.imported_responses,
        result.wide_matrices,
        Calibration.empty(),
        items,
    )
    return result, matrices.response_matrix


def test_arc_was_answered_by_seven_models_on_3516_of_3530_items(
    shared_data: Path, real_items: GetItems
) -> None:
    items = real_items("arc")
    result, matrix = read(shared_data, items, "arc_7models.parquet")
    rows = pd.read_parquet(shared_data / "responses" / "arc_7models.parquet")
    report = result.import_report.iloc[0]
    assert len(items) == 3530
    assert matrix.correct.shape == (7, 3530)
    assert matrix.answered().all(axis=0).sum() == rows["item_id"].nunique() == 3516
    assert report.joined_by_id == report["rows"] == len(rows) == 24612
    assert report.contradicting == report.dropped == report.doubled == 0
    # Easy for all seven: from the rows, and from the matrix.
    confident = rows.assign(easy=rows["correct"] & (rows["p_answer"] > 0.8))
    easy = confident.groupby("item_id")["easy"].all().sum()
    with np.errstate(invalid="ignore"):
        assert ((matrix.correct == 1) & (matrix.p_answer > 0.8)).all(axis=0).sum() == easy
    # A wrong answer has no probability here, and nothing makes one up.
    assert np.isnan(matrix.p_answer[matrix.correct == 0]).all()
    assert (matrix.prediction == -1).all()


@pytest.mark.long
def test_mmlu_was_answered_by_all_seven_on_6185_items(
    shared_data: Path, real_items: GetItems
) -> None:
    items = real_items("mmlu")
    result, matrix = read(
        shared_data,
        items,
        "mmlu_7models.parquet",
        "mmlu_correct_23models.parquet",
        "mmlu_letters_10models.parquet",
    )
    assert matrix.correct.shape == (30, 14042)
    rows = pd.read_parquet(shared_data / "responses" / "mmlu_7models.parquet")
    seven = matrix.select_models(sorted(rows["model"].unique()))
    assert seven.answered().all(axis=0).sum() == rows["item_id"].nunique() == 6185
    accuracy = rows.groupby("model")["correct"].mean()
    np.testing.assert_allclose(np.nanmean(seven.correct, axis=1), accuracy.loc[list(seven.models)])
    assert result.import_report[["doubled", "contradicting", "dropped"]].to_numpy().sum() == 0


@pytest.mark.long
def test_letters_and_correctness_of_the_helm_models_agree_in_every_cell(
    shared_data: Path, real_items: GetItems
) -> None:
    items = real_items("mmlu")
    _, by_letter = read(shared_data, items, "mmlu_letters_10models.parquet")
    _, stated = read(shared_data, items, "mmlu_correct_23models.parquet")
    both_result, both = read(
        shared_data, items, "mmlu_letters_10models.parquet", "mmlu_correct_23models.parquet"
    )
    stated = stated.select_models(by_letter.models)
    both_known = by_letter.answered() & stated.answered()
    np.testing.assert_array_equal(by_letter.correct[both_known], stated.correct[both_known])
    # Where HELM found no letter it counted the answer as wrong; the letters alone cannot say so.
    silent = stated.answered() & ~by_letter.answered()
    assert stated.correct[silent].sum() == 0
    right = np.nansum(by_letter.correct, axis=1)
    np.testing.assert_array_equal(right, np.nansum(stated.correct, axis=1))
    # Together: the letter where there is one, and the stated correctness everywhere.
    merged = both.select_models(by_letter.models)
    np.testing.assert_array_equal(merged.correct, stated.correct)
    np.testing.assert_array_equal(merged.prediction, by_letter.prediction)
    assert both_result.import_report.contradicting.sum() == 0


@pytest.mark.long
def test_the_leaderboard_imports_with_its_rows_as_models(
    shared_data: Path, real_items: GetItems
) -> None:
    result, matrix = read(
        shared_data, real_items("arc_challenge"), "leaderboard_v1_arc_challenge.parquet"
    )
    wide = pd.read_parquet(shared_data / "responses" / "leaderboard_v1_arc_challenge.parquet")
    wide = wide.set_index("model").astype("float32")
    report = result.import_report.iloc[0]
    assert report.layout == "wide"
    assert report.models == len(wide) == 5115
    assert report.joined_by_id == report["rows"] == wide.notna().sum().sum()
    (imported,) = result.wide_matrices
    assert imported.correct.shape == (5115, 803)
    np.testing.assert_array_equal(
        imported.correct, wide.loc[list(imported.models), list(imported.item_ids)].to_numpy()
    )
    assert matrix.correct.shape == (5115, 1172)
