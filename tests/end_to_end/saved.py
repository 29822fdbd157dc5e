"""Find the outputs of a run."""

from pathlib import Path


def newest(data: Path, layer: str, name: str, benchmark: str, variant: str = "smart") -> Path:
    """The newest version of a saved dataset's file, of any limit and seed."""
    places = (data / layer / benchmark / variant / name, data / layer / benchmark / name)
    parts = (file for place in places for file in place.parent.glob(f"*[0-9]/{name}/*/{name}"))
    versions = [*parts, *(file for place in places for file in place.glob(f"*/{name}"))]
    if not versions:
        raise FileNotFoundError(f"{name} of {benchmark}/{variant} below {data}")
    return max(versions, key=lambda file: file.parent.name)
