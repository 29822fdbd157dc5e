"""A benchmark of any size, grown from MMLU and ARC, with recorded answers of seven models.

    python benchmarks/grown_benchmark.py 1000000 FOLDER

writes `FOLDER/conf` (the project's, with a benchmark `grown`), `FOLDER/mirror` and
`FOLDER/data`, for

    python benchmarks/bench_stages.py smart --conf FOLDER/conf --params benchmark=grown,…

and prints these parameters. A grown item is a real one whose question has three more words, drawn
from real questions; its answers are those of the seven models to the real item, where they gave
one, and the probability of the gold option is moved a little.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from real_data import DATA, real_data

PROJECT = Path(__file__).resolve().parents[1]
CONF = """\
_benchmarks:
  grown:
    name: grown
    title: Grown
    licence: MMLU (MIT) and ARC (CC-BY-SA-4.0)
    citation: none
    url: https://example.org/
    sources:
      mirror:
        file: grown.parquet
        split_column: split
        fields:
          item_id: item_id
          subject: subject
          question: question
          choices: {column: choices}
          gold: {column: answer_index, form: index}
    splits: {evaluation: [test], demonstrations: [dev], calibration: []}
    filter_models: [MODELS]
    responses:
      - {file: grown.parquet, layout: tidy}
"""


def real_items() -> pa.Table:
    """The test items of MMLU and all of ARC."""
    mmlu = pq.read_table(real_data() / "benchmarks" / "mmlu.parquet")
    mmlu = mmlu.filter(pc.equal(mmlu["split"], "test"))
    arc = pq.read_table(DATA / "benchmarks" / "arc.parquet")
    arc = arc.append_column("subject", arc["subset"].cast(pa.large_string()))
    columns = ["item_id", "subject", "question", "choices", "answer_index"]
    return pa.concat_tables([mmlu.select(columns), arc.select(columns)])


def grown_items(n: int, real: pa.Table, drawn: np.random.Generator) -> pa.Table:
    """`n` items and five demonstrations; column `real` has the row of the item behind each."""
    behind = np.arange(n + 5) % len(real)
    words = np.array(sorted({w for q in real["question"].to_pylist() for w in q.split()}))
    three = words[drawn.integers(0, len(words), size=(n + 5, 3))]
    base = real.take(pa.array(behind))
    questions = [
        f"{question} {' '.join(more)}"
        for question, more in zip(base["question"].to_pylist(), three, strict=True)
    ]
    ids = [f"grown/{number}" for number in range(n + 5)]
    table = base.set_column(base.column_names.index("question"), "question", [questions])
    table = table.set_column(table.column_names.index("item_id"), "item_id", [ids])
    table = table.append_column("split", [["test"] * n + ["dev"] * 5])
    return table.append_column("real", [behind])


def grown_answers(
    items: pa.Table, real: pa.Table, n: int, drawn: np.random.Generator
) -> tuple[pa.Table, list[str]]:
    """Answers of seven models to the first `n` items, a row per item and model; their names."""
    recorded = pa.concat_tables(
        [pq.read_table(DATA / "responses" / f"{name}_7models.parquet") for name in ("mmlu", "arc")]
    ).to_pandas()
    models = sorted(set(recorded["model"]))
    place = {item: row for row, item in enumerate(real["item_id"].to_pylist())}
    recorded = recorded[recorded["item_id"].isin(place)]
    right = np.full((len(models), len(real)), np.nan)
    probability = np.full((len(models), len(real)), np.nan)
    at = (
        [models.index(name) for name in recorded["model"]],
        [place[item] for item in recorded["item_id"]],
    )
    right[at], probability[at] = recorded["correct"], recorded["p_answer"]
    rates = np.nanmean(right, axis=1, keepdims=True)
    right = np.where(np.isnan(right), drawn.random(right.shape) < rates, right)
    guess = np.where(right == 1, 0.4, 0.0) + 0.5 * drawn.random(right.shape)
    probability = np.where(np.isnan(probability), guess, probability)
    behind = items["real"].to_numpy()[:n]
    columns = {
        "item_id": pa.array(np.tile(items["item_id"].to_numpy()[:n], len(models))),
        "model": pa.DictionaryArray.from_arrays(np.repeat(np.arange(7, dtype=np.int8), n), models),
        "correct": pa.array(right[:, behind].ravel() == 1),
    }
    moved = probability[:, behind] + drawn.normal(0, 0.01, (len(models), n))
    columns["p_answer"] = pa.array(np.clip(moved, 0, 1).ravel().astype(np.float32))
    return pa.table(columns), models


def write_benchmark(folder: Path, models: list[str], items: pa.Table, answers: pa.Table) -> str:
    """Write `conf`, `mirror` and `data`; return the parameters for `bench_stages.py`."""
    folder = folder.absolute()
    mirror, data = folder / "mirror", folder / "data"
    for path in (mirror / "benchmarks", mirror / "responses", data / "06_models"):
        path.mkdir(parents=True, exist_ok=True)
    pq.write_table(items, mirror / "benchmarks" / "grown.parquet")
    pq.write_table(answers, mirror / "responses" / "grown.parquet")
    shutil.copytree(PROJECT / "conf", folder / "conf", dirs_exist_ok=True)
    file = folder / "conf" / "base" / "parameters" / "benchmarks" / "grown.yml"
    file.write_text(CONF.replace("MODELS", ", ".join(models)), encoding="utf-8")
    (folder / "conf" / "local").mkdir(exist_ok=True)
    for subfolder in ("01_raw", "06_models/cache"):
        if not (data / subfolder).exists():
            (data / subfolder).symlink_to(PROJECT / "data" / subfolder)
    return f"--conf {folder}/conf --params benchmark=grown,mirror_root={mirror},data_root={data}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=int)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    drawn = np.random.default_rng(0)
    real = real_items()
    items = grown_items(asked.items, real, drawn)
    answers, models = grown_answers(items, real, asked.items, drawn)
    answers = answers.set_column(1, "model", answers["model"].cast(pa.string()))
    items = items.drop_columns("real")
    print(write_benchmark(asked.folder, models, items, answers))


if __name__ == "__main__":
    main()
