"""Real questions with the answers of any number of simulated models, one column a model.

    python benchmarks/wide_benchmark.py 2000 15000 FOLDER

takes the first items of MMLU's test split and ARC and draws who answers them right from a
two-parameter model (θ ~ N(0, 1), b ~ N(−0.5, 1), a log-normal with σ = 0.3, guessing 0). It writes
`FOLDER/conf` (the project's, with a benchmark `wide`), `FOLDER/mirror` and `FOLDER/data`, and
prints the parameters for `benchmarks/bench_stages.py`.
"""

import argparse
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BENCHWRIGHT_SHARED_DATA", PROJECT.parent / "shared" / "data"))
CONF = """\
_benchmarks:
  wide:
    name: wide
    title: Simulated answers of many models
    licence: MMLU (MIT) and ARC (CC-BY-SA-4.0)
    citation: none
    url: https://example.org/
    sources:
      mirror:
        file: wide.parquet
        split_column: split
        fields:
          item_id: item_id
          subject: subject
          question: question
          choices: {column: choices}
          gold: {column: answer_index, form: index}
    splits: {evaluation: [test], demonstrations: [dev], calibration: []}
    filter_models: {choose: strongest, count: 7, distinct: none, min_coverage: 1.0}
    filtering: {easy: {confidence: null}}
    responses:
      - {file: wide.parquet, layout: wide, orientation: items_by_models, values: correct}
"""


def questions(n: int) -> pa.Table:
    """`n` items, and five that are demonstrations."""
    mmlu = pq.read_table(DATA / "benchmarks" / "mmlu.parquet")
    mmlu = mmlu.filter(pc.equal(mmlu["split"], "test"))
    arc = pq.read_table(DATA / "benchmarks" / "arc.parquet")
    arc = arc.append_column("subject", arc["subset"].cast(pa.large_string()))
    columns = ["item_id", "subject", "question", "choices", "answer_index"]
    both = pa.concat_tables([mmlu.select(columns), arc.select(columns)])
    if len(both) < n + 5:
        raise SystemExit(f"{n} items and 5 demonstrations are wanted; there are {len(both)}")
    return both[: n + 5].append_column("split", [["test"] * n + ["dev"] * 5])


def answers(models: int, ids: list[str]) -> pa.Table:
    """A row per item, a column per model, 0 or 1."""
    drawn = np.random.default_rng(0)
    ability = drawn.normal(size=models)
    difficulty, slope = drawn.normal(-0.5, 1, len(ids)), drawn.lognormal(0, 0.3, len(ids))
    columns: dict[str, object] = {"item_id": ids}
    for number, theta in enumerate(ability):
        chance = 1 / (1 + np.exp(-slope * (theta - difficulty)))
        name = f"family-{number // 4:04d}/model-{number:04d}"
        columns[name] = (drawn.random(len(ids)) < chance).astype(np.int8)
    return pa.table(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=int)
    parser.add_argument("items", type=int)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    mirror, data = folder / "mirror", folder / "data"
    for path in (mirror / "benchmarks", mirror / "responses", data / "06_models"):
        path.mkdir(parents=True, exist_ok=True)
    items = questions(asked.items)
    pq.write_table(items, mirror / "benchmarks" / "wide.parquet")
    recorded = answers(asked.models, items["item_id"].to_pylist()[: asked.items])
    pq.write_table(recorded, mirror / "responses" / "wide.parquet")
    shutil.copytree(PROJECT / "conf", folder / "conf", dirs_exist_ok=True)
    conf = folder / "conf" / "base" / "parameters" / "benchmarks" / "wide.yml"
    conf.write_text(CONF, encoding="utf-8")
    (folder / "conf" / "local").mkdir(exist_ok=True)
    for name in ("01_raw", "06_models/cache"):
        if not (data / name).exists():
            (data / name).symlink_to(PROJECT / "data" / name)
    print(f"--conf {folder}/conf --params benchmark=wide,mirror_root={mirror},data_root={data}")


if __name__ == "__main__":
    main()
