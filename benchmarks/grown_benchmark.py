"""A benchmark of any size, grown from MMLU and ARC, with recorded answers of seven models.

    python benchmarks/grown_benchmark.py 1000000 FOLDER

writes `FOLDER/conf` (the project's, with a benchmark `grown`), `FOLDER/mirror` and
`FOLDER/data`, for

    python benchmarks/bench_stages.py smart --conf FOLDER/conf --params benchmark=grown,…

With `--vectors FILE.npy` it also writes made embeddings, so that nothing needs encoding: rows of
the file, drawn independently of the texts, moved by a random step of length 0.4 to 1 and made unit
length again.

and prints these parameters. A grown item is a real one whose question has three more words, drawn
from real questions; its answers are those of the seven models to the real item, where they gave
one, and the probability of the gold option is moved a little.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from numpy.typing import NDArray

from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity.vectors import choose_encoder, item_texts, text_hash
from made_benchmark import PROJECT, real_items, split_column, write_benchmark
from real_data import DATA

_BLOCK = 20_000
CONF = """\
    filter_models: [MODELS]
    responses:
      - {file: grown.parquet, layout: tidy}
"""


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
    table = table.append_column("split", split_column(n))
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


def write_embeddings(
    items: pd.DataFrame, base: NDArray[np.float32], file: Path, drawn: np.random.Generator
) -> None:
    """Write made vectors of the items as the encoder of the variants would leave them."""
    models = ModelsParams(
        **yaml.safe_load((PROJECT / "conf/base/parameters/models.yml").read_text())["models"]
    )
    key = choose_encoder("all-minilm-l6-v2", EmbeddingParams(), models).key
    items = items.assign(text_hash=[text_hash(text) for text in item_texts(items)], encoder=key)
    items = items.sort_values("item_id", kind="stable")
    file.parent.mkdir(parents=True)
    parts = (items[i : i + _BLOCK] for i in range(0, len(items), _BLOCK))
    writer = None
    for part in parts:
        step = drawn.uniform(0.4, 1, (len(part), 1)) / base.shape[1] ** 0.5
        vectors = base[drawn.integers(0, len(base), len(part))]
        vectors = vectors + step * drawn.standard_normal(vectors.shape)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        columns = part[["item_id", "text_hash", "encoder"]].assign(
            vector=list(vectors.astype(np.float32))
        )
        table = pa.Table.from_pandas(columns, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--vectors", type=Path)
    asked = parser.parse_args()
    drawn = np.random.default_rng(0)
    real = real_items()
    items = grown_items(asked.items, real, drawn)
    answers, models = grown_answers(items, real, asked.items, drawn)
    answers = answers.set_column(1, "model", answers["model"].cast(pa.string()))
    conf = CONF.replace("MODELS", ", ".join(models))
    items = items.drop_columns("real")
    if asked.vectors:
        texts = items[: asked.items].select(["item_id", "question", "choices"]).to_pandas()
        file = asked.folder / "data/04_feature/grown/embeddings.parquet"
        write_embeddings(texts, np.load(asked.vectors), file, drawn)
    print(write_benchmark(asked.folder, "grown", "Grown", conf, items, answers))


if __name__ == "__main__":
    main()
