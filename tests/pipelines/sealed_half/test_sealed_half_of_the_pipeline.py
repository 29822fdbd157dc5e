"""From judged questions to a sealed benchmark, with scripted judges: the files written."""

import hashlib
import json
import logging
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Pipeline
from kedro.runner import SequentialRunner

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.stored_shards import MemoryShards
from benchwright.language_models.protocol import Generated
from benchwright.methods.mmlu_cf.difficulty.question_levels import (
    rate_final_items,
    rate_items,
    set_levels,
)
from benchwright.methods.mmlu_cf.difficulty.rating import combine_ratings
from benchwright.methods.mmlu_cf.difficulty.sampled_questions import sample_items
from benchwright.methods.mmlu_cf.judging import judges as judges_module
from benchwright.methods.mmlu_cf.judging.judges import judged_values
from benchwright.methods.mmlu_cf.sealing.judge_store import SealedShards
from benchwright.methods.mmlu_cf.sealing.key import SealKey
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.methods.mmlu_cf.sealing.seal import open_sealed
from benchwright.methods.mmlu_cf.splitting import halves
from benchwright.params.mmlu_cf import (
    CheckingParams,
    DifficultyParams,
    FieldsParams,
    SamplingByDifficultyParams,
    SealingParams,
    SplittingParams,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines import contamination_free, judging, scoring, splitting
from benchwright.scoring import asking, model_engine
from benchwright.similarity import vectors as vectors_module
from benchwright.similarity.vectors import EncodedTexts
from benchwright.tables.mmlu_cf import CleanItems
from closed_text_search import files_with

KEY = " ".join(["a key of this test,", "long enough"])
N = 60
BAD, HARMFUL, TWINS = 7, 11, (20, 21)
STAGES = (
    judging.create_pipeline,
    judging.create_final_pipeline,
    scoring.create_answering_pipeline,
    contamination_free.create_pipeline,
    splitting.create_pipeline,
    splitting.create_seed_pipeline,
)


class Run(NamedTuple):
    """A run's folder, its data in memory, and its log."""

    folder: Path
    memory: dict[str, Any]
    log: str


@pytest.fixture(scope="module")
def labelled(repository: Path) -> pd.DataFrame:
    """Return sixty bundled questions of several documents; two are equivalent."""
    lines = (repository / "data/01_raw/documents/labels.jsonl").read_text("utf-8").splitlines()
    rows, seen = [], set()
    for row in map(json.loads, lines):
        item_id = f"{row['doc_id']}#{row['number']}"
        usable = row["expected"] == "extract" and not row["planted"] and item_id not in seen
        if usable and row["question"] and len(row["question"].split()) > 4:
            seen.add(item_id)
            rows.append((item_id, row))
    chosen = rows[:: len(rows) // N][:N]
    items = CleanItems.from_rows(
        [
            {
                "item_id": item_id,
                "doc_id": f"page{place}",
                "url": f"https://{row['doc_id']}.example/quiz",
                "domain": f"{row['doc_id']}.example",
                "question": row["question"],
                "choices": row["choices"],
                "answer": row["answer"],
                "explanation": row["explanation"],
                "passage": row["passage"],
                "field": ("Math", "Law", None)[place % 3],
                "field_confidence": 0.5,
            }
            for place, (item_id, row) in enumerate(chosen)
        ]
    )
    first, second = TWINS
    places = items.to_dict("records")
    ids = {name: places[second][name] for name in ("item_id", "doc_id")}
    places[second] = places[first] | ids
    places[second]["question"] += " Please say."
    items = pd.DataFrame(places)
    return pd.DataFrame(CleanItems.validate(items))


def _number(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0]


def _scripted(items: pd.DataFrame) -> Callable[..., Any]:
    """A stand-in for `ask_model`: judges that quote the question before their rating."""
    texts = dict(enumerate(items["question"]))

    def reply(name: str, prompt: str, attempt: int) -> str:
        place = max(
            (place for place, text in texts.items() if text in prompt),
            key=lambda place: len(texts[place]),
            default=0,  # one of several lines is reworded by its first
        )
        if "in other words" in prompt:
            return prompt.split("\nQuestion:\n")[1].split("\n", maxsplit=1)[0] + " (pick one)"
        if attempt == 1 and _number(prompt) % 3 == 0:
            return f"I wonder about: {texts[place]}"
        if '{"difficulty"' in prompt:
            harder = place % 2 if "(pick one)" in prompt else 0  # the reworded question
            return f'{{"difficulty": {(place + len(name) + harder) % 10}}}'
        if '{"rating"' in prompt:
            return f"Rating: {2 if place == BAD else 5}"
        if '{"hatred"' in prompt:
            harm = "yes" if place == HARMFUL else "no"
            return "\n".join(
                f"{name}: {harm}" for name in ("hatred", "sex", "self_harm", "violence")
            )
        assert "Yes or No" in prompt
        return "No."

    def ask_model(name: str, models: Any, scoring: Any, store: Any, **_: Any) -> Any:
        assert isinstance(store, SealedShards)
        assert scoring.engine == "local"

        def ask(prompts: Sequence[str], attempt: int = 1) -> list[str | None]:
            replies = [reply(name, prompt, attempt) for prompt in prompts]
            shard = hashlib.sha256("".join(prompts).encode()).hexdigest()
            store.add(f"{name}-{shard}", pd.DataFrame({"prompt": list(prompts), "text": replies}))
            return list(replies)

        return ask

    return ask_model


def _vector(text: str) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """Return a normalised bag of hashed words."""
    vector = np.zeros(512, np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 512] += 1
    return vector / np.linalg.norm(vector)


def _encode(texts: Sequence[str], cache: pd.DataFrame, *_: Any) -> EncodedTexts:
    return EncodedTexts({text: _vector(text) for text in texts}, cache)


def _parameters(judges: bool) -> dict[str, Any]:
    names = ["first", "second_judge"] if judges else []
    rules: list[dict[str, Any]] = [
        {"transform": "shuffle_choices"},
        {"transform": "replace_choice", "probability": 0.5},
    ]
    if judges:
        rules.insert(0, {"transform": "rephrase", "model": "writer", "min_similarity": 0.1})
    leakage = {"judge": "first" if judges else None}
    return {
        "seed": 10,
        "models": ModelsParams.model_validate(
            {"models": {}, "encoders": {"all-minilm-l6-v2": {"weights": {"path": "none"}}}}
        ),
        "scoring": ScoringParams.model_validate({"engine": "ray"}),
        "difficulty": DifficultyParams(judges=names),
        "checking": CheckingParams(judges=names),
        "fields": FieldsParams(),
        "sampling_by_difficulty": SamplingByDifficultyParams(size=50, fields="proportional"),
        "perturbation": PerturbationParams.model_validate({"name": "cf", "transforms": rules}),
        "splitting": SplittingParams.model_validate({"leakage": leakage}),
        "sealing": SealingParams(name="built"),
    }


def _saved_datasets(repository: Path, folder: Path) -> dict[str, Any]:
    """Return the catalog entries of conf, with another folder."""
    text = (repository / "conf/base/catalog/mmlu_cf/closed_benchmark.yml").read_text("utf-8")
    reporting = f"{folder}/08_reporting/built/mmlu_cf"
    places = {"_root": str(folder), "_b": "built", "_v": "mmlu_cf", "_reporting": reporting}
    for mark, value in places.items():
        text = text.replace(f"${{{mark}}}", value)
    conf = {name: entry for name, entry in yaml.safe_load(text).items() if name[0] != "_"}
    conf["judge_store"]["sealing"] = {"name": "built"}
    return conf


def _run(
    repository: Path,
    folder: Path,
    items: pd.DataFrame,
    parameters: dict[str, Any],
    version: str = "1",
) -> Run:
    conf = _saved_datasets(repository, folder / "data")
    catalog = DataCatalog.from_config(conf, save_version=version)
    catalog["fielded_items"] = MemoryDataset(items)
    for name, value in parameters.items():
        catalog[f"params:{name}"] = MemoryDataset(value, copy_mode="assign")
    whole = sum((stage() for stage in STAGES), Pipeline([]))
    unsaved = {name for name in whole.all_outputs() if name not in catalog}
    kept: dict[str, _Kept] = {}
    for name in unsaved:
        kept[name] = catalog[name] = _Kept()
    handler, root = logging.FileHandler(folder / "run.log", "w", "utf-8"), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        SequentialRunner().run(whole, catalog)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()
    log = (folder / "run.log").read_text("utf-8")
    return Run(folder, {name: spy.last for name, spy in kept.items()}, log)


class _Kept(MemoryDataset):
    """A dataset in memory that keeps its content after release."""

    last: Any = None

    def save(self, data: Any) -> None:
        self.last = data
        super().save(data)


@pytest.fixture(scope="module")
def keyed(labelled: pd.DataFrame) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_SEAL_KEY", KEY)
        _patch(patch, labelled)
        yield patch


@pytest.fixture(scope="module")
def run(
    repository: Path,
    labelled: pd.DataFrame,
    tmp_path_factory: pytest.TempPathFactory,
    keyed: pytest.MonkeyPatch,
) -> Run:
    folder = tmp_path_factory.mktemp("run")
    return _run(repository, folder, labelled, _parameters(judges=True))


@pytest.fixture(scope="module")
def unjudged(
    repository: Path,
    labelled: pd.DataFrame,
    tmp_path_factory: pytest.TempPathFactory,
    keyed: pytest.MonkeyPatch,
) -> Run:
    folder = tmp_path_factory.mktemp("unjudged")
    return _run(repository, folder, labelled, _parameters(judges=False))


def _patch(patch: pytest.MonkeyPatch, items: pd.DataFrame) -> None:
    patch.setattr(judges_module, "ask_model", _scripted(items))
    patch.setattr(halves, "encode_texts", _encode)

    class Encoder:
        def encode(self, texts: Sequence[str]) -> Any:
            return np.stack([_vector(text) for text in texts])

    patch.setattr(vectors_module, "choose_encoder", lambda *_: Encoder())


def _closed_texts(run: Run, items: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return texts of items outside the public half, and of public items."""
    assignment, ruled = run.memory["split_assignment"], run.memory["contamination_free_items"]
    public = set(assignment.loc[assignment["half"].eq("validation"), "item_id"])
    texts: tuple[list[str], list[str]] = ([], [])
    for table in (items, ruled):
        for row in table.to_dict("records"):
            half = texts[row["item_id"] in public]
            half += [row["question"], *row["choices"]]
            half += [row[name] for name in ("passage", "explanation") if isinstance(row[name], str)]
    return texts


def _read(run: Run, name: str) -> pd.DataFrame:
    (file,) = (run.folder / "data").rglob(f"{name}.parquet/*/{name}.parquet")
    return pd.read_parquet(file)


def _json(run: Run, name: str) -> dict[str, Any]:
    (file,) = (run.folder / "data").rglob(f"{name}.json/*/{name}.json")
    return dict(json.loads(file.read_text()))


def _sealed(run: Run, name: str) -> Path:
    (file,) = (run.folder / "data").rglob(name)
    return Path(file)


def test_no_closed_text_is_in_any_file_or_in_the_log(run: Run, labelled: pd.DataFrame) -> None:
    closed, public = _closed_texts(run, labelled)
    assert len(closed) > 200
    assert len(run.log) > 500, "the log was not captured"
    assert files_with(run.folder, closed, public) == []


def test_the_search_finds_planted_texts(run: Run, labelled: pd.DataFrame, tmp_path: Path) -> None:
    closed, public = _closed_texts(run, labelled)
    run.memory["final_items"].to_parquet(tmp_path / "final_items.parquet")
    (tmp_path / "stem.log").write_text(f"asked: {json.dumps(closed[0])}")
    files = {hit.file.name for hit in files_with(tmp_path, closed, public)}
    assert files == {"final_items.parquet", "stem.log"}


def test_original_ids_of_closed_items_are_in_no_saved_file(run: Run) -> None:
    assignment = run.memory["split_assignment"]
    closed = assignment.loc[assignment["half"].eq("test"), "item_id"].tolist()
    assert len(closed) > 15
    for file in (run.folder / "data").rglob("*"):
        if file.is_file() and file.suffix == ".parquet":
            cells = set(pd.read_parquet(file).astype(str).to_numpy().ravel())
            assert not cells & set(closed), file.name
        elif file.is_file():
            text = file.read_bytes().decode("utf-8", "ignore")
            assert not [item_id for item_id in closed if f'"{item_id}"' in text], file.name


def test_the_sealed_half_opens_with_the_key_and_holds_the_test_items(run: Run) -> None:
    opened = open_sealed(_sealed(run, "test.sealed"), SealKey(KEY))
    assignment = run.memory["split_assignment"]
    closed = assignment.loc[assignment["half"].eq("test"), "item_id"]
    ruled = run.memory["contamination_free_items"].set_index("item_id")
    questions = {item.question.split("\n\n")[-1] for item in opened.items}
    assert questions == {question.split("\n\n")[-1] for question in ruled["question"][closed]}
    keyed = _read(run, "public_split_assignment")
    assert {item.item_id for item in opened.items} == set(
        keyed.loc[keyed["half"].eq("test"), "item_id"]
    )
    lines = _sealed(run, "validation.jsonl").read_text().splitlines()
    assert len(lines) == int(assignment["half"].eq("validation").sum())


def test_bad_and_harmful_questions_are_removed_and_counted(
    run: Run, labelled: pd.DataFrame
) -> None:
    counts = _json(run, "checking_counts")
    sampled = set(run.memory["sampled_items"]["item_id"])
    expected = {"good": len(sampled)}
    for place, reason in ((BAD, "low_rating"), (HARMFUL, "harmful")):
        if labelled["item_id"][place] in sampled:
            expected["good"] -= 1
            expected[reason] = 1
    assert len(expected) > 1, "neither was sampled"
    assert counts["reasons"] == expected
    assert counts["sources"] == {"judges": N}
    gone = {labelled["item_id"][place] for place in (BAD, HARMFUL)}
    assert not gone & set(run.memory["checked_items"]["item_id"])


def test_rules_change_wording_order_and_options_but_keep_the_right_answer(
    run: Run, labelled: pd.DataFrame
) -> None:
    before = labelled.set_index("item_id")
    ruled = run.memory["contamination_free_items"]
    replaced = 0
    for row in ruled.to_dict("records"):
        old = before.loc[row["item_id"]]
        right, now = old["choices"][old["answer"]], row["choices"][row["answer"]]
        replaced += now != right
        assert now == right or (now == "None of the other choices" and right not in row["choices"])
        assert set(row["choices"]) <= {*old["choices"], "None of the other choices"}
    assert 0 < replaced < len(ruled) / 2
    counts = _json(run, "rule_counts")["rules"]
    assert list(counts) == ["rephrase", "shuffle_choices", "replace_choice"]
    assert counts["rephrase"]["altered"] == int(ruled["question"].str.endswith("(pick one)").sum())
    assert counts["rephrase"]["altered"] > 10


def test_two_wordings_of_a_question_are_in_the_same_half(run: Run, labelled: pd.DataFrame) -> None:
    assignment = run.memory["split_assignment"].set_index("item_id")["half"]
    twins = [labelled["item_id"][place] for place in TWINS]
    ruled = set(run.memory["contamination_free_items"]["item_id"])
    assert set(twins) <= ruled, "the twins were not sampled; choose others"
    assert len({assignment[twin] for twin in twins}) == 1
    leaks = _read(run, "leak_counts").set_index("verdict")
    assert leaks.loc["certain", "pairs"] == 1
    distances = _read(run, "half_distances").set_index("attribute")
    assert distances["total_variation"]["field"] < 0.1


def test_levels_are_counted_after_each_step_and_again_after_the_rules(run: Run) -> None:
    counts = _read(run, "difficulty_counts")
    assert list(counts.columns) == ["pool", "level", "n", "share", "expected"]
    sizes = counts.groupby("pool", sort=False)["n"].sum().to_dict()
    made = run.memory["contamination_free_items"]
    checked = len(run.memory["checked_items"])
    assert sizes == {"rated": N, "sampled": 50, "checked": checked, "final": len(made)}
    levels = run.memory["final_difficulty"]["level"].value_counts()
    final = counts[counts["pool"] == "final"].set_index("level")["n"]
    assert final[final > 0].to_dict() == levels.to_dict()
    rounds = _read(run, "final_difficulty_rounds")
    assert set(rounds["judge"]) == {"first", "second_judge"}
    assert rounds.loc[rounds["attempt"] == 1, "asked"].tolist() == [len(made)] * 2


def test_replies_of_judges_are_encrypted_on_disk(run: Run, labelled: pd.DataFrame) -> None:
    files = sorted((run.folder / "data/06_models/judge_store").iterdir())
    assert len(files) > 10
    stored = b"".join(file.name.encode() + file.read_bytes() for file in files)
    for text in (*labelled["question"], "clarity", "I wonder about", "difficult", "first-"):
        assert text.encode() not in stored
        assert text.encode("utf-16-le") not in stored
    assert KEY.encode() not in stored


def test_a_killed_run_resumes_with_the_remaining_questions(
    repository: Path,
    labelled: pd.DataFrame,
    tmp_path: Path,
    keyed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    killed, asked = 3, []
    monkeypatch.setattr(model_engine, "answer_batches", _batches(asked, killed))
    monkeypatch.setattr(judges_module, "ask_model", asking.ask_model)
    weights = {"package": "p", "file": "p/m.gguf", "sha256": "1" * 64}
    models = {"models": {"first": {"weights": weights, "family": "f", "context": 4096}}}
    parameters = _parameters(judges=False) | {
        "models": ModelsParams.model_validate(models),
        "scoring": ScoringParams.model_validate({"shard_size": 8, "device": "cpu"}),
        "difficulty": DifficultyParams(judges=["first"], rate_final=False),
    }
    with pytest.raises(InputError, match=r"difficulty failed .KilledError."):
        _run(repository, tmp_path, labelled, parameters)
    before = list(asked)
    assert len(before) > killed
    asked.clear()
    monkeypatch.setattr(model_engine, "answer_batches", _batches(asked, None))
    made = _run(repository, tmp_path, labelled, parameters, "2")
    assert not set(asked) & set(before)
    assert len(asked) + len(before) == N
    assert made.memory["item_difficulty"]["level"].tolist() == [4.0] * N


class KilledError(Exception):
    """An error that ends a run in the middle."""


def _batches(asked: list[str], until: int | None) -> Callable[..., Any]:
    """A model that rates everything 4, and stops after so many batches."""

    def answer_batches(
        name: str, model: Any, scoring: Any, batches: Sequence[Any], progress: Any
    ) -> Iterator[tuple[int, list[Generated]]]:
        for number, batch in enumerate(batches):
            if number == until:
                raise KilledError
            asked.extend(prompt.text for prompt in batch.prompts)
            yield (
                number,
                [Generated(('{"difficulty": 4}',), ("stop",), 3, 9) for _ in batch.prompts],
            )

    return answer_batches


def test_responses_give_levels_without_judges(
    repository: Path,
    labelled: pd.DataFrame,
    tmp_path: Path,
    keyed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Model k of 12 knows the first 5 k questions: the later, the harder.
    right = [[place < 5 * k for place in range(N)] for k in range(1, 13)]
    answers = _matrix(labelled["item_id"], right)
    parameters = _parameters(judges=False)
    parameters["checking"] = CheckingParams(size=20)

    def answer_questions(*_: Any) -> ResponseMatrix:
        return answers

    monkeypatch.setattr(scoring, "answer_questions", answer_questions)
    made = _run(repository, tmp_path, labelled, parameters)
    levels = made.memory["item_difficulty"]
    assert set(levels["source"]) == {"responses"}
    assert levels["level"].is_monotonic_increasing
    assert (levels["level"].iloc[0], levels["level"].iloc[-1]) == (0, 9)
    assert (
        _json(made, "checking_counts")["final"]
        == len(made.memory["contamination_free_items"])
        == 20
    )
    strata = _read(made, "final_strata")
    assert strata["sampled"].sum() == strata["target"].sum() == 20
    assert len(made.memory["split_assignment"]) == 20
    few = parameters | {"difficulty": DifficultyParams(min_models=13)}
    unknown = _run(repository, tmp_path, labelled, few, "2")
    assert set(unknown.memory["item_difficulty"]["source"]) == {"not_judged"}
    assert "responses: models with answers: 12; 13 are needed" in unknown.log


def _matrix(item_ids: Iterable[str], right: list[list[bool]]) -> ResponseMatrix:
    models = tuple(f"m{number:02d}" for number in range(len(right)))
    return ResponseMatrix.of(models, tuple(item_ids), correct=np.array(right, dtype=np.float32))


def test_ratings_take_precedence_and_set_the_distribution(
    labelled: pd.DataFrame,
) -> None:
    ids = labelled["item_id"].tolist()
    values = [3.0, 7.0] * 20 + [None] * 20
    rated = [(item_id, "j", "difficulty", v) for item_id, v in zip(ids, values, strict=True)]
    ratings = judged_values(rated)
    answers = _matrix(ids, [[place % 10 < k for place in range(N)] for k in range(1, 10)])
    params = DifficultyParams(judges=("j",))
    levels = set_levels(labelled, ratings, answers, params, 0)
    assert levels["source"].tolist() == ["judges"] * 40 + ["responses"] * 20
    assert levels["level"].tolist()[:40] == [3.0, 7.0] * 20
    assert levels["level"].tolist()[40:] == ([3.0] * 5 + [7.0] * 5) * 2  # the two that were given
    few = ratings[ratings["item_id"].isin([*ids[:29], *ids[40:]])]
    alone = set_levels(labelled, few, answers, params, 0)
    assert alone["level"].tolist()[40:] == [*map(float, range(10))] * 2  # 29 are too few


def test_without_judges_all_questions_have_one_level_with_a_warning(
    unjudged: Run, labelled: pd.DataFrame
) -> None:
    assert "60 of 60 questions have no level of difficulty; it does not affect" in unjudged.log
    assert "all 50 questions are kept unchecked" in unjudged.log
    strata = _read(unjudged, "sampling_strata")
    assert strata.loc[strata["sampled"] > 0, "level"].unique().tolist() == [6]
    assert strata["sampled"].sum() == 50
    assert _json(unjudged, "checking_counts")["reasons"] == {"unjudged": 50}
    closed, public = _closed_texts(unjudged, labelled)
    assert files_with(unjudged.folder, closed, public) == []


def test_a_run_that_publishes_closed_items_causes_a_warning(
    repository: Path, labelled: pd.DataFrame, tmp_path: Path, unjudged: Run
) -> None:
    shutil.copytree(unjudged.folder, tmp_path, dirs_exist_ok=True)
    parameters = _parameters(judges=False)
    again = _run(repository, tmp_path, labelled, parameters, "2")
    other = _run(repository, tmp_path, labelled, {**parameters, "seed": 4}, "3")
    assert "closed by an earlier run" not in unjudged.log + again.log
    closed, public = (
        set(table.loc[table["half"].eq(half), "item_id"])
        for table, half in (
            (unjudged.memory["split_assignment"], "test"),
            (other.memory["split_assignment"], "validation"),
        )
    )
    assert f"sealing: {len(closed & public)} questions of the public half were" in other.log
    assert len(closed & public) > 5


def test_judges_see_passages_examples_and_no_more_questions_than_asked_for(
    labelled: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def judge(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        seen.extend(texts)
        return ['{"difficulty": 5}'] * len(texts)

    monkeypatch.setattr(judges_module, "ask_model", lambda *_, **__: judge)
    parameters = _parameters(judges=False)
    rest = [parameters[name] for name in ("models", "scoring")]
    items = labelled.assign(passage="Rain fell. ")
    params = DifficultyParams(judges=("one",), shots=2, at_most=3)
    ratings, _ = rate_items(items, MemoryShards(), params, *rest, 0)
    assert ratings["item_id"].nunique() == len(seen) == 3
    assert seen[0].count('{"difficulty": ') == 3
    assert "Question: Rain fell.\n\n" in seen[0]
    off = params.model_copy(update={"rate_final": False})
    assert rate_final_items(items, MemoryShards(), off, *rest, 0)[0].empty


def test_questions_without_a_level_are_not_sampled(
    labelled: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    ids = labelled["item_id"].tolist()
    levels = combine_ratings(ids, judged_values([(i, "j", "", 6.0) for i in ids[:4]]), 0)
    params = SamplingByDifficultyParams(size=10, fields="proportional")
    with caplog.at_level(logging.WARNING):
        sampled, _ = sample_items(labelled, levels, params, 0)
    assert sorted(sampled["item_id"]) == sorted(ids[:4])
    assert "56 of 60 questions have no level" in caplog.text


def test_unratable_questions_are_reported_in_one_line(labelled: pd.DataFrame) -> None:
    parameters = _parameters(judges=False)
    rest = [parameters[name] for name in ("difficulty", "models", "scoring")]
    with pytest.raises(InputError, match="no question passed cleaning"):
        rate_items(labelled.iloc[:0], MemoryShards(), *rest, 0)
    with pytest.raises(InputError, match="60 of 60 questions have no known answer"):
        rate_items(labelled.assign(answer=-1), MemoryShards(), *rest, 0)


def test_error_message_that_quotes_a_question_is_withheld() -> None:
    items = pd.DataFrame(
        {"question": ["Which of the nine muses sang of stars?"], "choices": [["Urania", "Clio"]]}
    )
    with pytest.raises(InputError) as caught, no_question_in_errors(items, "checking"):
        raise InputError("prompt 'which of the nine muses sang of stars?' is too long")
    assert "muses" not in str(caught.value)
    with pytest.raises(InputError, match="withheld"), no_question_in_errors(items, "checking"):
        raise KeyError("Urania")
    with (
        pytest.raises(InputError, match="no such model"),
        no_question_in_errors(items, "checking"),
    ):
        raise InputError("there is no such model in conf")


def _opened(run: Run, key: str) -> dict[str, tuple[str, ...]]:
    """Return the closed questions with their options, by question."""
    items = open_sealed(_sealed(run, "test.sealed"), SealKey(key)).items
    return {item.question: item.choices for item in items}


def test_key_decides_what_is_closed_and_how_it_reads(
    repository: Path,
    labelled: pd.DataFrame,
    tmp_path: Path,
    keyed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parameters = _parameters(judges=False)
    parameters["sampling_by_difficulty"] = SamplingByDifficultyParams(size=30)
    opened, runs = [], []
    for number, key in enumerate((KEY, KEY, KEY[::-1])):
        monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", key)
        folder = tmp_path / str(number)
        folder.mkdir()
        runs.append(_run(repository, folder, labelled, parameters))
        opened.append(_opened(runs[-1], key))
    one, again, other = opened
    assert one == again
    assert _sealed(runs[0], "validation.jsonl").read_bytes() == (
        _sealed(runs[1], "validation.jsonl").read_bytes()
    )
    # Two draws of 15 of 60 questions share 3.75 on average, and more than 10 once in 40,000 times.
    assert len(set(one) & set(other)) <= 10
    ruled = [made.memory["contamination_free_items"].set_index("item_id") for made in runs]
    both = ruled[0].index.intersection(ruled[2].index)
    orders = [list(map(tuple, table["choices"][both])) for table in ruled]
    assert len(both) > 5
    assert orders[0] == orders[1]
    assert sum(a == b for a, b in zip(orders[0], orders[2], strict=True)) < len(both) / 2


def test_secret_seed_is_in_no_file_and_no_log(run: Run) -> None:
    seed = run.memory["closed_seed"]
    assert seed.bit_length() > 200
    written = run.log.encode() + b"".join(
        file.read_bytes() for file in run.folder.rglob("*") if file.is_file()
    )
    for text in (str(seed), f"{seed:x}", KEY):
        assert text.encode() not in written
