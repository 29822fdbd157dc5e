"""Files of datasets on the Hugging Face hub: from a copy on the disk, the hub, or its cache."""

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from benchwright.core.errors import InputError, in_short

# samples_arc_challenge_2024-11-08T08-17-23.123456.jsonl
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[-:\d]+(?:\.\d+)?")


def copy_of(dataset: str, mirror_root: str | Path) -> Path | None:
    """Return the copy `<mirror_root>/<owner>/<name>` of a dataset, None if its owner has none."""
    folder = Path(mirror_root, dataset)
    return folder if mirror_root and folder.parent.is_dir() else None


def newest(names: Collection[str], pattern: str) -> list[str]:
    """Return the files of the newest run of each task, and the results of these runs.

    Args:
        names: paths in a dataset; file names have a task and the time of a run.
        pattern: of file names, as `samples_arc_*`.
    """
    of_task: dict[str, str] = {}
    for name in sorted(names, key=_run):
        if fnmatchcase(PurePosixPath(name).name, pattern):
            of_task[_TIME.sub("", PurePosixPath(name).stem)] = name  # the newest stays
    runs = set(map(_run, of_task.values()))
    results = (name for name in names if PurePosixPath(name).name.startswith("results_"))
    return sorted(of_task.values()) + sorted(name for name in results if _run(name) in runs)


def _run(name: str) -> str:
    """Return the time in a file's name, with one spelling for all."""
    found = _TIME.search(PurePosixPath(name).name)
    return "" if found is None else found[0].replace(":", "-")


class HubFiles:
    """Reads logs of runs in datasets; after a failed connection, only from the hub's cache."""

    def __init__(self, mirror_root: str | Path = "") -> None:
        self._mirror_root = mirror_root
        self._is_away = False

    def find(self, dataset: str, revision: str, pattern: str) -> list[Path]:
        """Return the newest files of a dataset, after a download if they are not in the cache.

        A copy of the dataset in `mirror_root` takes precedence; `pattern` is as in `newest`.

        Raises:
            InputError: there are none, or not for this user; the message begins with the dataset.
        """
        folder = copy_of(dataset, self._mirror_root)
        try:
            folder = folder or self._snapshot(dataset, revision, pattern)
        except Exception as error:  # the hub's client raises many kinds
            raise InputError(f"{dataset}: {in_short(error)}") from error
        names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
        logs = [n for n in newest(names, pattern) if fnmatchcase(PurePosixPath(n).name, pattern)]
        if not logs:
            raise InputError(f"{dataset}: no file {pattern} in {folder}")
        return [folder / name for name in logs]

    def _snapshot(self, dataset: str, revision: str, pattern: str) -> Path:
        """Return the folder of a revision in the hub's cache, with the newest files."""
        from huggingface_hub import HfApi, snapshot_download

        wanted = [f"*{pattern}", "*results_*.json"]
        if not self._is_away:
            try:
                names = HfApi().list_repo_files(dataset, revision=revision, repo_type="dataset")
                wanted = newest(names, pattern)
            except Exception as error:
                # A refusal of the hub or a full disk; errors of the connection have many types.
                if isinstance(error, OSError) and not isinstance(error, ConnectionError):
                    raise
                self._is_away = True
        folder = snapshot_download(
            dataset,
            revision=revision,
            repo_type="dataset",
            allow_patterns=wanted,
            local_files_only=self._is_away,
        )
        return Path(folder)
