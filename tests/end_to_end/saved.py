"""Find the outputs of a run."""

from pathlib import Path


def newest(data: Path, layer: str, name: str, benchmark: str, variant: str = "smart") -> Path:
    """The newest version of a saved dataset's file."""
    places = (data / layer / benchmark / variant / name, data / layer / benchmark / name)
    versions = sorted(path for folder in places for path in folder.glob("*/" + name))
    if not versions:
        raise FileNotFoundError(f"{name} of {benchmark}/{variant} below {data}")
    return versions[-1]
