"""What `benchwright list benchmarks` says of the needs of each."""

from pathlib import Path

from benchwright.cli.listing import list_of


def test_what_a_benchmark_needs_is_said(repository: Path) -> None:
    needs = {row["benchmark"]: row["needs"] for row in list_of("benchmarks", repository, None, {})}
    assert needs["demo"] == needs["documents"] == "nothing"
    assert needs["arc_challenge"] == "network or mirror_root"
    assert needs["arc"] == "network or mirror_root, models"
    known = {row["benchmark"]: row for row in list_of("benchmarks", repository, "evidence", {})}
    assert known.keys() > needs.keys()
    assert known["arc_challenge"]["needs"] == "mirror_root"
