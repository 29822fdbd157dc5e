"""A folder with a benchmark made for a measurement: conf, source, recorded answers, data."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from real_data import DATA, real_data

PROJECT = Path(__file__).resolve().parents[1]
CONF = """\
_benchmarks:
  {name}:
    name: {name}
    title: {title}
    licence: MMLU (MIT) and ARC (CC-BY-SA-4.0)
    citation: none
    url: https://example.org/
    sources:
      mirror:
        file: {name}.parquet
        split_column: split
        fields:
          item_id: item_id
          subject: subject
          question: question
          choices: {{column: choices}}
          gold: {{column: answer_index, form: index}}
    splits: {{evaluation: [test], demonstrations: [dev], calibration: []}}
"""


def real_items() -> pa.Table:
    """The test items of MMLU and all of ARC."""
    mmlu = pq.read_table(real_data() / "benchmarks" / "mmlu.parquet")
    mmlu = mmlu.filter(pc.equal(mmlu["split"], "test"))
    arc = pq.read_table(DATA / "benchmarks" / "arc.parquet")
    arc = arc.append_column("subject", arc["subset"].cast(pa.large_string()))
    columns = ["item_id", "subject", "question", "choices", "answer_index"]
    return pa.concat_tables([mmlu.select(columns), arc.select(columns)])


def split_column(n: int) -> list[list[str]]:
    """`n` items to be judged by, and five that are demonstrations."""
    return [["test"] * n + ["dev"] * 5]


def write_benchmark(
    folder: Path, name: str, title: str, conf: str, items: pa.Table, answers: pa.Table
) -> str:
    """Write `conf` (the project's, and the new benchmark's), `mirror` and `data` into a folder.

    Args:
        folder: made if it is not there.
        name: of the benchmark and of its files.
        title: in words.
        conf: its other lines, four spaces deep.
        items: with a column `split`.
        answers: of models, written as `<name>.parquet`.

    Returns:
        The parameters for `benchmarks/bench_stages.py`.
    """
    folder = folder.absolute()
    mirror, data = folder / "mirror", folder / "data"
    for path in (mirror / "benchmarks", mirror / "responses", data / "06_models"):
        path.mkdir(parents=True, exist_ok=True)
    pq.write_table(items, mirror / "benchmarks" / f"{name}.parquet")
    pq.write_table(answers, mirror / "responses" / f"{name}.parquet")
    shutil.copytree(PROJECT / "conf", folder / "conf", dirs_exist_ok=True)
    file = folder / "conf" / "base" / "parameters" / "benchmarks" / f"{name}.yml"
    file.write_text(CONF.format(name=name, title=title) + conf, encoding="utf-8")
    (folder / "conf" / "local").mkdir(exist_ok=True)
    for subfolder in ("01_raw", "06_models/cache"):
        if not (data / subfolder).exists():
            (data / subfolder).symlink_to(PROJECT / "data" / subfolder)
    return f"--conf {folder}/conf --params benchmark={name},mirror_root={mirror},data_root={data}"
