"""Where a report comes from: benchmark, licence, settings, seed and package versions."""

from collections.abc import Sequence
from importlib.metadata import distributions
from platform import python_version
from typing import Any

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.section import Section as ParamsSection
from benchwright.reports.page.parts import Folded, Section, Table, Text, render_sections
from benchwright.reports.verdict import Verdict
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
MMLU_CF = (
    "Zhao et al. (2024), MMLU-CF: A Contamination-free Multi-task Language Understanding Benchmark"
)
_METHODS = {
    "Benchmark report": "Gupta et al. (2024), Improving Model Evaluation using SMART Filtering of "
    "Benchmark Datasets.",
    "Perturbed benchmark": "Elhady et al. (2025), WiCkeD: A Simple Method to Make Multiple Choice "
    f"Benchmarks More Challenging; {MMLU_CF}.",
    "Benchmark subsets": "Saranathan et al. (2024), DELE: Data Efficient LLM Evaluation; Polo et "
    "al. (2024), tinyBenchmarks; Rodriguez et al. (2021), Evaluation Examples Are Not Equally "
    "Informative Or Trustworthy.",
    "Judges": f"{MMLU_CF}, section 3.2, steps 3 and 4, and Figure 4.",
}
"""The sources of the methods, by the kind of the verdict."""


Fact = tuple[str, str]
"""A name and its value."""


def render_report(
    ingestion: BenchmarkParams,
    variant: str,
    seed: int,
    verdict: Verdict,
    filter_models: Sequence[str] = (),
    **shown: Any,
) -> str:
    """Render the report of a run; its last section says where it comes from.

    `shown` are sections, lists of them, plots, and the settings that the run used, by name.
    """
    settings = {name: part for name, part in shown.items() if isinstance(part, ParamsSection)}
    facts = benchmark_facts(ingestion, variant, seed, filter_models)
    method = _METHODS[verdict["kind"]]
    parts = {name: part for name, part in shown.items() if name not in settings}
    parts["provenance"] = provenance_section(facts, method, **settings)
    kind = f"{verdict['kind']} · variant {variant}"
    return render_sections(f"{ingestion.title}: {kind}", ingestion.title, kind, verdict, parts)


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
