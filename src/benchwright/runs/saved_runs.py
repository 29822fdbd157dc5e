"""Find earlier runs, and read one run's versions of all its datasets."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from benchwright.core.errors import InputError
from benchwright.params.run import run_part
from benchwright.runs.run_records import unfinished_mark

_LAYERS = "0[478]_*"  # features, output of models, reporting
_PART = re.compile(r"(?:limit(\d+))?-?(?:seed(\d+))?")  # limit50-seed1, or nothing


class SavedRun(NamedTuple):
    """What one run has saved; `find_run` finds it."""

    benchmark: str
    variant: str
    limit: int | None
    seed: int
    version: str  # the time at which it began, which names its version of every dataset
    catalog: Mapping[str, Any]  # with absolute paths

    def __str__(self) -> str:
        """Return `demo · smart · limit50 · <version>`."""
        part = run_part(self.limit, self.seed)
        return " · ".join(filter(None, (self.benchmark, self.variant, part, self.version)))

    def path(self, dataset: str) -> Path:
        """Return the file that the run saved; it does not exist if the run did not save it."""
        folder = Path(self.catalog[dataset]["filepath"])
        return folder / self.version / folder.name

    def load(self, dataset: str) -> Any:
        """Load a versioned dataset of the catalog as this run saved it.

        Raises:
            InputError: the run did not save it, or it has no versions.
        """
        from kedro.io import DataCatalog

        if not self.catalog.get(dataset, {}).get("versioned"):
            raise InputError(f"{dataset}: not a dataset that runs save with a version")
        if not self.path(dataset).exists():
            raise InputError(f"the run {self} has not saved {dataset}")
        entry = {dataset: dict(self.catalog[dataset])}
        return DataCatalog.from_config(entry, load_versions={dataset: self.version}).load(dataset)


def find_run(
    project: Path,
    needed: Sequence[str],
    params: Mapping[str, Any] | None = None,
    env: str | None = None,
) -> SavedRun:
    """Find the newest run that saved all the datasets `needed`.

    `find_run(project, ["item_audit", "kept_items"], {"benchmark": "arc"}).load("kept_items")` loads
    the kept items.

    Args:
        project: the project folder.
        needed: names of versioned datasets.
        params: benchmark, variant, limit, seed and data_root, as `--params` of the run. Without a
            variant, the one with the newest such run is taken.
        env: as `--env`.

    Raises:
        InputError: there is no such run; the message lists the runs of the benchmark.
    """
    from benchwright.runs.project_conf import load_conf

    given = dict(params or {})
    conf = load_conf(project, env, given)
    chosen, catalog = conf["parameters"], conf["catalog"]
    benchmark, default = str(chosen["benchmark"]), str(chosen["variant"])
    catalog = {
        name: {**entry, "filepath": str(project / str(entry["filepath"]))}
        for name, entry in catalog.items()
        if "filepath" in entry
    }
    versions: dict[str, str] = {}
    for variant in [default] if "variant" in given else chosen["_variants"]:
        paths = (catalog[name]["filepath"] for name in needed)
        version = common_version(_of_variant(path, benchmark, default, variant) for path in paths)
        if version:
            versions[variant] = version
    if not versions:
        raise InputError(_no_run(project / str(chosen["data_root"]), chosen, given, needed))
    newest = max(versions, key=versions.__getitem__)
    if newest != default:
        return find_run(project, needed, {**given, "variant": newest}, env)
    return SavedRun(benchmark, default, chosen["limit"], chosen["seed"], versions[default], catalog)


def _no_run(
    data_root: Path, chosen: Mapping[str, Any], given: Mapping[str, Any], needed: Sequence[str]
) -> str:
    """Say which runs of the benchmark there are instead of the one that is wanted."""
    benchmark = str(chosen["benchmark"])
    wanted = f"benchmark {benchmark!r}"
    if "variant" in given:
        wanted += f", variant {str(chosen['variant'])!r}"
    part = run_part(chosen["limit"], chosen["seed"])
    if part:
        wanted += f", {part},"
    names = set()
    for run in list_runs(data_root):
        if run.benchmark == benchmark:
            names.add("/".join(filter(None, (run.variant, run_part(run.limit, run.seed)))))
    known = ", ".join(sorted(names)) or "none"
    message = f"no run of {wanted} has saved {' and '.join(needed)}; it has runs of: {known}"
    if "response_matrix" not in needed:
        return message
    values = [f"benchmark={benchmark}"]
    values += [f"{name}={given[name]}" for name in ("variant", "limit", "seed") if given.get(name)]
    return f"{message}; run kedro run --pipeline answers --params {','.join(values)}"


def _of_variant(path: str, benchmark: str, variant: str, other: str) -> Path:
    """Return the path of a dataset of another variant."""
    before, at, after = path.rpartition(f"/{benchmark}/{variant}/")
    return Path(f"{before}/{benchmark}/{other}/{after}" if at else path)


def common_version(folders: Iterable[Path]) -> str | None:
    """Return the newest version that all these datasets have; None if there is none.

    A dataset is given as the folder of its versions: `<folder>/<version>/<name of the folder>`.
    """
    known = [{file.parent.name for file in saved_versions(folder)} for folder in folders]
    return max(set.intersection(*known), default=None) if known else None


def saved_versions(folder: Path) -> list[Path]:
    """Return the files `<folder>/<version>/<name of the folder>`, the newest last."""
    return sorted(folder.glob(f"*/{folder.name}"))


class ListedRun(NamedTuple):
    """A run of which some datasets are saved: their number is `datasets`."""

    benchmark: str
    variant: str
    limit: int | None
    seed: int
    version: str
    datasets: int
    state: str  # finished, or unfinished if it runs, failed or was killed


def list_runs(data_root: Path) -> list[ListedRun]:
    """List the saved runs by benchmark, variant, limit and seed, the newest version last."""
    return sorted(_folders(data_root), key=lambda run: (*run[:2], run.limit or 0, *run[3:]))


def old_runs(runs: Sequence[ListedRun], keep: int) -> list[ListedRun]:
    """Return the runs that have `keep` newer finished ones of the same kind.

    A kind is a benchmark, variant, limit and seed.
    """
    newer: Counter[tuple[Any, ...]] = Counter()  # finished runs by kind
    old = []
    for run in reversed(runs):
        kind = run[:4]
        if newer[kind] >= keep:
            old.append(run)
        if run.state == "finished":
            newer[kind] += 1
    return old[::-1]


def delete_runs(data_root: Path, runs: Iterable[ListedRun]) -> None:
    """Delete the versions that runs saved of all their datasets."""
    folders = _folders(data_root)
    for run in runs:
        for folder in folders[run]:
            rmtree(folder)


def _folders(data_root: Path) -> dict[ListedRun, list[Path]]:
    """Return the folders of the versions that each run saved."""
    found: defaultdict[tuple[str, str, str, str], list[Path]] = defaultdict(list)
    for depth in ("*/*", "*/*/*"):
        for saved in data_root.glob(f"{_LAYERS}/{depth}/*/????-??-??T??.??.??.???Z"):
            _, benchmark, variant, *parts, _, version = saved.relative_to(data_root).parts
            found[benchmark, variant, "".join(parts), version].append(saved)
    folders_of = {}
    for (benchmark, variant, part, version), folders in found.items():
        limit_and_seed = _PART.fullmatch(part)
        if limit_and_seed is None:
            continue
        limit, seed = limit_and_seed.groups()
        is_open = unfinished_mark(data_root, version).exists()
        run = ListedRun(
            benchmark,
            variant,
            limit=int(limit) if limit else None,
            seed=int(seed or 0),
            version=version,
            datasets=len(folders),
            state="unfinished" if is_open else "finished",
        )
        folders_of[run] = folders
    return folders_of
