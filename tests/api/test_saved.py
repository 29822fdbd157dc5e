"""The Python API reads logs of lm-evaluation-harness."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import benchwright as bw
from benchwright.core.errors import InputError

STAMP = "2026-11-20T22-25-00.198528"
ITEMS = pd.DataFrame(
    {
        "item_id": ["q/1", "q/2"],
        "question": ["Why?", "How?"],
        "choices": [["a", "b"], ["c", "d"]],
        "answer": [0, 1],
    }
)


def sample(doc_id: int, acc: float, **doc: Any) -> dict[str, Any]:
    answers = [["-1.0", "False"], ["-2.0", "False"]]
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": "0" if acc else "1",
        "arguments": {f"gen_args_{n}": {"arg_0": "Q", "arg_1": f" {'AB'[n]}"} for n in range(2)},
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "filter": "none",
        "acc": acc,
    }


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The second document has its options in another order than the item; the third is no item."""
    folder = tmp_path / "logs" / "model"
    folder.mkdir(parents=True)
    samples = (
        sample(0, 1.0, question="Why?", choices=["a", "b"]),
        sample(1, 1.0, question="How?", choices=["d", "c"]),
        sample(2, 0.0, question="Who?", choices=["e", "f"]),
    )
    text = "".join(json.dumps(one) + "\n" for one in samples)
    (folder / f"samples_exam_{STAMP}.jsonl").write_text(text)
    (folder / f"results_{STAMP}.json").write_text(json.dumps({"model_name": "org/m"}))
    return tmp_path / "logs"


def test_logs_are_joined_to_items_with_log_likelihoods_in_their_order(logs: Path) -> None:
    table, items, report = bw.read_logs(logs, ITEMS)
    assert items["item_id"].tolist() == ITEMS["item_id"].tolist()
    assert report["not_joined"].tolist() == [1]
    assert table["item_id"].tolist() == ["q/1", "q/2"]
    assert table["model"].tolist() == ["org/m"] * 2
    assert table["style"].tolist() == ["letters"] * 2
    assert [list(values) for values in table["logprobs"]] == [[-1, -2], [-2, -1]]
    kept = bw.smart(ITEMS, table, variant="no_similar", filter_models="all")
    assert kept.filter_models == ("org/m",)  # shots are unknown


def test_logs_without_items_name_them_by_task_and_row(logs: Path) -> None:
    table, items, _ = bw.read_logs(logs)
    assert items["question"].tolist() == ["Why?", "How?", "Who?"]
    assert table["item_id"].tolist() == ["exam/0", "exam/1", "exam/2"]
    assert table["correct"].tolist() == [1, 1, 0]


def test_a_folder_without_logs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no log was recognised"):
        bw.read_logs(tmp_path, ITEMS)
