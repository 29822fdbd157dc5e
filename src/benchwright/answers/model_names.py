"""Names of models in files: of the hub's cache, of local folders, of several tools."""

import re
from collections import Counter
from collections.abc import Collection

_LOCAL = re.compile(r"[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]")
_CACHED = re.compile(
    r"(?:.*[/\\])?models--(?P<name>[^/\\]+)(?:[/\\]snapshots[/\\](?P<revision>[^/\\]+).*)?"
)
_HASH = re.compile(r"[0-9a-f-]{16,}", re.IGNORECASE)


def hub_model(model: str) -> tuple[str, str]:
    """Return name and revision of a model in a cache of the Hugging Face hub, else `model` and "".

    >>> hub_model("/data/hub/models--org--m/snapshots/0123abc")
    ('org/m', '0123abc')
    """
    found = _CACHED.fullmatch(model.rstrip("/\\"))
    if found is None:
        return model, ""
    return found["name"].replace("--", "/", 1), found["revision"] or ""


def short_names(models: Collection[str]) -> dict[str, str]:
    """Return the name of each model: a local path by as many of its last parts as tell it apart.

    Parts that are hashes alone are no name.

    >>> short_names(["/data/a/step-5", "/data/b/step-5", "/data/c", "org/m"])["/data/a/step-5"]
    'a/step-5'
    """
    parts = {model: tuple(re.split(r"[/\\]+", model.strip("/\\"))) for model in models}
    ends = Counter(own[-n:] for own in set(parts.values()) for n in range(1, len(own) + 1))
    names = {}
    for model, own in parts.items():
        lengths = range(1, len(own) + 1) if _LOCAL.match(model) else ()
        clear = (
            own[-n:]
            for n in lengths
            if ends[own[-n:]] == 1 and not all(map(_HASH.fullmatch, own[-n:]))
        )
        names[model] = "/".join(next(clear, ())) or model
    return names
