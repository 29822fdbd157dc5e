"""Ready-made subsets: draws that are the same for everyone, and scores on all items."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchwright.answers.table import Answers
from benchwright.core.errors import InputError
from benchwright.methods.dele.ready_made import (
    STOCK_TASKS,
    ReadyMade,
    estimate_ready_made,
    find_ready_made,
    item_key,
    load_ready_made,
)

N, KNOWN, MODELS = 400, 300, 40
QUESTIONS = [f"What is {n} and {n + 1}?" for n in range(N)]
CHOICES = ["one thing", "another  thing"]
rng = np.random.default_rng(0)
CHANCE = 1 / (1 + np.exp(rng.normal(0, 1.5, N) - rng.normal(0, 1, (MODELS, 1))))
RIGHT = (rng.random(CHANCE.shape) < CHANCE).astype(np.float32)


def made() -> ReadyMade:
    """Return numbers of 20 models, which know nothing of the last hundred items."""
    share, loadings = np.full(N, np.nan), np.full((2, N), np.nan)
    share[:KNOWN] = RIGHT[:20, :KNOWN].mean(axis=0)
    spread = (RIGHT[:20, :KNOWN] - share[:KNOWN]) / np.sqrt(20)
    loadings[:, :KNOWN] = np.linalg.svd(spread, full_matrices=False)[2][:2] * 2
    keys = tuple(item_key(question, CHOICES) for question in QUESTIONS)
    subjects = ("law",) * 200 + ("art",) * 200
    return ReadyMade("mmlu", keys, subjects, share, loadings, 20)


READY = made()


def answers(places: np.ndarray, rows: slice = slice(20, None)) -> Answers:
    """Return answers as a log has them, with numbers and an order of its own."""
    ids = [f"log/{number}" for number in range(len(places))]
    items = {"item_id": ids, "question": [f" {QUESTIONS[at]}\n" for at in places]}
    table = pd.DataFrame(items).assign(choices=[CHOICES[::-1]] * len(ids), subject="")
    models = tuple(f"m{n}" for n in range(len(RIGHT[rows])))
    return Answers("log", models, tuple(ids), RIGHT[rows][:, places], table)


def test_every_benchmark_has_numbers_and_fits_into_a_megabyte() -> None:
    folder = Path(item_key.__code__.co_filename).parent / "ready_made_items"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 1_000_000
    sizes = {"arc_challenge": 1172, "gsm8k": 1319, "mmlu": 14042, "winogrande": 1267}
    assert sizes.keys() == STOCK_TASKS.keys()
    for name, size in sizes.items():
        ready = load_ready_made(name)
        assert len(ready.keys) == len(ready.share) == ready.loadings.shape[1] == size
        assert ((ready.share >= 0) & (ready.share <= 1) | np.isnan(ready.share)).all()
    assert ready.item_ids[7] == "winogrande/7"
    mmlu = load_ready_made("mmlu")
    assert mmlu.item_ids[:100:99] == ("mmlu_abstract_algebra/0", "mmlu_abstract_algebra/99")
    assert mmlu.item_ids[100] == "mmlu_anatomy/0"


def test_draw_has_the_size_and_subjects_and_unknown_items_in_proportion() -> None:
    for size in (20, 57, 400):
        places = READY.draw(size)
        assert len(set(places.tolist())) == size
        assert abs((places < 200).sum() - size / 2) <= 1
        assert abs((places >= KNOWN).sum() - size / 4) <= 1
        assert READY.draw(size).tolist() == places.tolist()


@pytest.mark.parametrize("size", [19, 401])
def test_sizes_that_no_draw_has_are_rejected(size: int) -> None:
    with pytest.raises(InputError, match=f"mmlu-{size}: expected a size from 20 to 400"):
        READY.draw(size)


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ready, size = find_ready_made(Path("gsm8k-300")) or (None, 0)
    assert (ready and ready.name, size) == ("gsm8k", 300)
    names = (None, *map(Path, ("gsm8k", "other-3", "mmlu-x", "gsm8k-300")))
    monkeypatch.chdir(tmp_path)
    Path("gsm8k-300").mkdir()
    assert not any(map(find_ready_made, names[:-1]))
    assert find_ready_made(Path("gsm8k-300"))  # results of it, perhaps, but no other subset
    Path("gsm8k-300", "manifest.json").touch()
    Path("mmlu-20").touch()
    for name in ("gsm8k-300", "mmlu-20"):
        with pytest.raises(InputError, match=f"^{name}: a ready-made subset, and one in this"):
            find_ready_made(Path(name))
        assert find_ready_made(Path(name).absolute()) is None
    with pytest.raises(InputError, match="no benchmark 'arc'; expected one of arc_challenge"):
        load_ready_made("arc")


def test_texts_find_items_in_any_order_of_rows_and_options() -> None:
    places = READY.draw(100)
    shuffled = np.random.default_rng(1).permutation(places)
    found, again = (estimate_ready_made(READY, 100, answers(p)) for p in (places, shuffled))
    assert found == again
    assert (found.estimator, found.training, found.of_items) == ("aipw", 20, N)
    assert not found.notes
    assert {model.answered for model in found.models} == {100}


def test_intervals_cover_and_are_narrower_than_without_numbers() -> None:
    truth = RIGHT[20:].mean(axis=1)
    blank = READY._replace(share=np.full(N, 0.5), loadings=np.zeros((2, N)))
    errors, widths = [], []
    for ready in (READY, blank):
        found = estimate_ready_made(ready, 100, answers(READY.draw(100)))
        score, low, high = (
            np.array([getattr(model, name) for model in found.models])
            for name in ("score", "low", "high")
        )
        assert ((low <= truth) & (truth <= high)).mean() >= 0.9
        errors.append(np.abs(score - truth).mean())
        widths.append((high - low).mean())
    assert errors[0] < errors[1] < 0.05
    assert widths[0] < widths[1]


def test_all_items_give_the_exact_score() -> None:
    found = estimate_ready_made(READY, N, answers(np.arange(N)))
    for model, truth in zip(found.models, RIGHT[20:].mean(axis=1), strict=True):
        assert (model.score, model.low, model.high) == pytest.approx((truth,) * 3)


def test_other_texts_are_not_taken_for_items() -> None:
    """A log of other questions may number its rows as the stock task does."""
    places = READY.draw(100)
    log = answers(places)
    ids = [READY.item_ids[at] for at in places]
    others = pd.DataFrame({"item_id": ids, "question": "Another?", "choices": None, "subject": ""})
    with pytest.raises(InputError, match="another text"):
        estimate_ready_made(READY, 100, log._replace(item_ids=tuple(ids), items=others))


def test_tables_name_items_by_task_and_row() -> None:
    places = READY.draw(100)
    log = answers(places)
    table = log._replace(item_ids=tuple(READY.item_ids[at] for at in places), items=None)
    assert estimate_ready_made(READY, 100, table) == estimate_ready_made(READY, 100, log)


@pytest.mark.parametrize("logged", [[0, 1, 5], [0, 5]])
def test_items_of_the_same_text_have_its_answers(logged: list[int]) -> None:
    ready = READY._replace(keys=(*READY.keys[:1], *READY.keys[:1], *READY.keys[2:]))
    known = answers(np.array(logged))
    assert known.items is not None
    if len(logged) == 3:
        known.items.loc[1, "question"] = known.items.loc[0, "question"]
    found = ready.rename(known)
    assert found.item_ids == tuple(ready.item_ids[at] for at in (0, 1, 5))
    columns = [0, len(logged) - 2, len(logged) - 1]
    assert (found.correct == known.correct[:, columns]).all()
