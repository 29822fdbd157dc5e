"""Invalid `--params`: one line, exit code 1, and nothing is written."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchwright.cli import cli
from benchwright.core.errors import InputError, one_line
from benchwright.params.run import check_run_values


def test_valid_params_pass() -> None:
    check_run_values({"seed": 0, "limit": 1, "benchmark": "demo", "score": "live"})
    check_run_values({"limit": None, "mirror_root": None, "score": None, "unknown": [1]})
    check_run_values({"mirror_root": "", "seed": 2**63 - 1, "limit": 2**63 - 1, "benchmark": 7})


REFUSED: dict[str, list[object]] = {
    "seed": [None, "nan", -1, 1.5, True, 2**63],
    "limit": ["x", 0, 1e9],
    "benchmark": [None, "  ", ["demo"]],
    "variant": [""],
    "score": ["xyz"],
    "data_root": [None, " ", "a\0b", "s3://x"],
    "mirror_root": [3, "http://x"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values]
)
def test_invalid_params_are_reported_with_accepted_values(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"^--params {name}=.*: expected ") as caught:
        check_run_values({name: value})
    assert len(str(caught.value)) < 160


def test_a_data_root_is_a_folder_or_absent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "new" / "newer"):
        check_run_values({"data_root": str(folder)})
    for inside in ("file", "file/new", "file/new/newer"):
        with pytest.raises(InputError, match=r"file is a file, not a folder"):
            check_run_values({"data_root": str(tmp_path / inside)})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("command", "params", "message"),
    [
        ("run", "benchmark=../demo", "unknown benchmark '../demo'; expected one of arc, "),
        ("run", "..=1", "--params : unknown parameter; expected one of "),
        ("sweep", "limit=x", "--params limit='x': expected "),
    ],
)
def test_a_run_with_invalid_params_ends_before_reading(
    command: str,
    params: str,
    message: str,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")
    part = ["--namespaces", "ingestion"] if command == "run" else []
    words = [command, *part, "--params", f"data_root={tmp_path},{params}"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 3, done.output
    assert list(tmp_path.rglob("*")) == []
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("benchwright: ")
    assert message in line


def test_the_wrapping_of_errors_by_kedro_is_removed() -> None:
    kind = type("ParameterValidationError", (Exception,), {})
    error = kind(
        "Parameter validation failed:\n"
        "- Parameter 'a': Failed to instantiate AParams for parameter 'a': 2 validation errors "
        "for AParams\nx.y\n  Input should be less than 1 [type=less_than]\n"
        "    For further information visit https://errors.pydantic.dev/2/v/less_than\n"
        "z\n  Field required\n- Parameter 'b': value is None but type is not Optional"
    )
    assert one_line(error) == (
        "a.x.y: Input should be less than 1; a.z: Field required; "
        "b: value is None but type is not Optional"
    )
