"""Time and peak memory of every node of a pipeline.

    python benchmarks/bench_stages.py smart --params benchmark=mmlu,score=imported

A node's share begins when the one before it is done, and so holds reading its inputs, running and
saving what it made. Peak memory is that of the whole process meanwhile (the kernel's mark of it,
put back before each node), so it holds what the nodes before have left in memory. Linux only.

    --stages A,B only these stages, by name: ingestion, filtering and so on
    --conf PATH  another folder with the configuration
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from kedro.framework.hooks import hook_impl
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

from benchwright.runs.project_conf import pipeline_defaults

PROJECT = Path(__file__).parents[1]


class Share(NamedTuple):
    """What one node took; memory in GB (10⁹ bytes) of the whole process."""

    node: str
    wall_s: float
    cpu_s: float
    start_gb: float
    peak_gb: float


class NodeCosts:
    """A Kedro hook that measures from one node's end to the next one's."""

    def __init__(self) -> None:
        self.shares: list[Share] = []
        self._node: str | None = None

    @hook_impl
    def before_pipeline_run(self) -> None:
        self._begin()

    @hook_impl
    def before_dataset_loaded(self, dataset_name: str, node: Any) -> None:
        self._enter(node.short_name)

    @hook_impl
    def before_node_run(self, node: Any) -> None:
        self._enter(node.short_name)

    @hook_impl
    def after_pipeline_run(self) -> None:
        self._end()

    @hook_impl
    def on_pipeline_error(self) -> None:
        self._end()

    def _enter(self, name: str) -> None:
        if name != self._node:
            self._end()
            self._node = name

    def _end(self) -> None:
        if self._node is not None:
            wall, cpu = time.perf_counter() - self._wall, _cpu_seconds() - self._cpu
            self.shares.append(
                Share(self._node, round(wall, 2), round(cpu, 2), self._start, memory_gb("VmHWM"))
            )
            print(self.shares[-1], file=sys.stderr, flush=True)
        self._begin()

    def _begin(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")
        self._start = memory_gb("VmRSS")
        self._wall, self._cpu = time.perf_counter(), _cpu_seconds()


def memory_gb(field: str) -> float:
    """A line of /proc/self/status in GB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return round(int(line.split()[1]) * 1024 / 1e9, 3)
    raise KeyError(field)


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measured(
    pipeline: str, params: dict[str, Any], stages: list[str], conf: str | None
) -> list[Share]:
    """Run the pipeline in this process; what failed on the way is measured up to there.

    Without `benchmark` or `variant` it is run with the pipeline's own, as `kedro run` does.
    """
    bootstrap_project(PROJECT)
    params = pipeline_defaults(PROJECT, None, pipeline) | params
    costs = NodeCosts()
    with KedroSession.create(
        project_path=PROJECT, runtime_params=params, conf_source=conf
    ) as session:
        session._hook_manager.register(costs)
        try:
            session.run(pipeline_names=[pipeline], namespaces=stages)
        except Exception as error:
            print(f"stopped: {type(error).__name__}: {error}", file=sys.stderr)
    return costs.shares


def _pairs(text: str) -> dict[str, Any]:
    """`a=1,b.c=2` as Kedro reads it."""
    from kedro.framework.cli.project import run

    option = next(option for option in run.params if option.name == "params")
    return dict(option.callback(None, option, text)) if text else {}  # type: ignore[misc,arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("--params", default="")
    parser.add_argument("--stages", default="")
    parser.add_argument("--conf")
    asked = parser.parse_args()
    stages = [name for name in asked.stages.split(",") if name]
    shares = measured(asked.pipeline, _pairs(asked.params), stages, asked.conf)
    print("| node | wall s | processor s | peak GB |\n|---|---:|---:|---:|")
    for share in sorted(shares, key=lambda share: -share.wall_s):
        print(f"| `{share.node}` | {share.wall_s} | {share.cpu_s} | {share.peak_gb} |")
    wall, cpu = sum(share.wall_s for share in shares), sum(share.cpu_s for share in shares)
    peak = max(share.peak_gb for share in shares)
    print(f"| all {len(shares)} | {wall:.1f} | {cpu:.1f} | {peak} |")


if __name__ == "__main__":
    main()
