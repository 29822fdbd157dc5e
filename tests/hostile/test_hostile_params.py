"""Invalid `--params`: one line, exit code 1, and nothing is written."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchwright.cli import cli
from benchwright.core.errors import InputError, one_line
from benchwright.params.run import check_run_values


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"seed": 0, "limit": 1, "benchmark": "demo", "variant": "smart", "score": "live"},
        {"limit": None, "mirror_root": None, "score": None},
        {"mirror_root": "", "seed": 2**63 - 1, "limit": 2**63 - 1, "benchmark": 7},
        {"filtering": 3, "unknown": [1]},
    ],
)
def test_valid_params_pass(given: dict[str, object]) -> None:
    check_run_values(given)


INF = float("inf")
REFUSED: dict[str, list[object]] = {
    "seed": [None, "nan", -1, 1.5, True, 2**63],
    "limit": ["x", 0, 1e9],
    "benchmark": [None, "  ", ["demo"], 1.5],
    "variant": [None, "", []],
    "score": ["xyz", 1],
    "data_root": [None, " ", 3, "a\0b", "s3://x"],
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


@pytest.fixture
def in_project(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")


def error_line(folder: Path, params: str, command: str = "run") -> str:
    """Return the only line of output of a failing command; nothing is written."""
    data = "" if "data_root" in params else f"data_root={folder},"
    part = ["--namespaces", "ingestion"] if command == "run" else []
    words = [command, *part, "--params", f"{data}{params}"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1, done.output
    assert list(folder.rglob("*")) == []
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("benchwright: ")
    return str(line)


@pytest.mark.usefixtures("in_project")
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ("seed=nan", "--params seed='nan': expected a non-negative integer"),
        ("benchmark=", "--params benchmark=: expected the name of a benchmark"),
        ("data_root=pyproject.toml", "pyproject.toml is a file, not a folder"),
        ("benchmark=../demo", "unknown benchmark '../demo'; expected one of arc, "),
        ("variant=smart/../x", "unknown variant 'smart/../x'; expected one of dele, "),
        ("..=1", "--params : unknown parameter; expected one of "),
    ],
)
def test_a_run_with_invalid_params_ends_before_reading(
    tmp_path: Path, params: str, message: str
) -> None:
    assert message in error_line(tmp_path, params)


@pytest.mark.usefixtures("in_project")
def test_a_sweep_with_invalid_params_ends_before_reading(tmp_path: Path) -> None:
    assert "--params limit='x': expected " in error_line(tmp_path, "limit=x", "sweep")


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
