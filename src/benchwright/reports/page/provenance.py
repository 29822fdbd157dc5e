"""Where a report comes from: benchmark, licence, settings, seed and package versions."""

from collections.abc import Sequence
from importlib.metadata import distributions
from platform import python_version
from typing import Any

from benchwright.params.benchmark import BenchmarkParams
from benchwright.reports.page.parts import Folded, Section, Table, Text
from benchwright.runs.tracking import flatten

PACKAGES = (
    "benchwright",
    "kedro",
    "numpy",
    "pandas",
    "scipy",
    "torch",
    "transformers",
    "sentence-transformers",
)


_HIDDEN = {"sealing.key_file", "sealing.key_env"}


Fact = tuple[str, str]
"""A name and its value."""


def benchmark_facts(
    ingestion: BenchmarkParams, variant: str, seed: int, filter_models: Sequence[str] = ()
) -> list[Fact]:
    """Return what was refined, under which licence, from which possible sources."""
    facts = [
        ("Benchmark", f"{ingestion.title} ({ingestion.name})"),
        ("Variant", variant),
        ("Licence", ingestion.licence),
        ("Citation", ingestion.citation),
        ("Home", ingestion.url),
        ("Evaluation splits", ", ".join(ingestion.splits.evaluation)),
        *_sources(ingestion),
        ("Filter models", ", ".join(filter_models)),
        ("Seed", str(seed)),
    ]
    return [(name, value) for name, value in facts if value]


def provenance_section(facts: Sequence[Fact], method: str, **settings: Any) -> Section:
    """Return the last section of a page: facts, settings, versions, and the method's source.

    `settings` are parameters (pydantic models) by the name of their section.
    """
    used = [fact for fact in flatten(settings).items() if fact[0] not in _HIDDEN]
    versions = [("Python", python_version())]
    for name in PACKAGES:
        installed = next(iter(distributions(name=name)), None)
        versions.append((name, installed.version if installed else "not installed"))
    return Section(
        "Provenance",
        [
            Table("", (), facts),
            Folded("Settings", [Table("", (), used)]),
            Folded("Versions", [Table("", (), versions)]),
            Text(f"Method: {method}", "quiet"),
        ],
        "provenance",
    )


def _sources(ingestion: BenchmarkParams) -> list[Fact]:
    sources = ingestion.sources
    facts = []
    if sources.hub is not None:
        configs = f" ({', '.join(sources.hub.configs)})" if sources.hub.configs else ""
        revision = f" at {sources.hub.revision}" if sources.hub.revision else ""
        facts.append(("Source: hub", f"{sources.hub.id}{configs}{revision}"))
    for name, files in (("local", sources.local), ("mirror", sources.mirror)):
        if files is not None:
            facts.append((f"Source: {name}", ", ".join(files.names())))
    return facts
