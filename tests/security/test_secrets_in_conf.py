"""A key in conf does not appear in error messages."""

import pytest
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.language_models.openai_endpoint import EndpointModel
from benchwright.methods.mmlu_cf.sealing.key import read_key
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.scoring import ModelsParams
from benchwright.runs.tracking import flatten

MISPLACED = "sk-not-to-be-seen"


def models(**endpoint: object) -> dict[str, object]:
    given = {"url": "http://localhost:8000/v1", **endpoint}
    return {"models": {"served": {"backend": "openai", "family": "f", "endpoint": given}}}


@pytest.mark.parametrize(
    "conf",
    [
        models(key=MISPLACED),
        models(url=f"https://user:{MISPLACED}@example.org/v1"),
        models(extra_body=MISPLACED),
    ],
    ids=["key", "address", "body"],
)
def test_an_error_about_a_server_shows_no_value(conf: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as raised:
        ModelsParams.model_validate(conf)
    assert MISPLACED not in str(raised.value)
    assert "models.served.endpoint" in str(raised.value)


@pytest.mark.parametrize("field", ["key", "name"])
def test_an_error_about_sealing_shows_no_value(field: str) -> None:
    with pytest.raises(ValidationError) as raised:
        SealingParams.model_validate({field: MISPLACED})
    assert MISPLACED not in str(raised.value)
    assert field in str(raised.value)


def test_a_key_typed_where_a_name_belongs_is_never_shown() -> None:
    sealing = SealingParams.model_validate({"key_file": MISPLACED})
    with pytest.raises(InputError) as raised:
        read_key(sealing)
    assert MISPLACED not in str(raised.value)
    assert "key_file" in str(raised.value)
    assert MISPLACED not in repr(sealing) + str(flatten({"sealing": sealing}))


def test_a_key_typed_as_the_variable_of_a_server_is_never_shown() -> None:
    served = ModelsParams.model_validate(models(key_env=MISPLACED)).models["served"]
    with pytest.raises(InputError) as raised:
        EndpointModel("served", served, None)
    assert MISPLACED not in str(raised.value)
    assert "key_env" in str(raised.value)
    assert MISPLACED not in repr(served) + served.model_dump_json()


def test_an_address_without_a_password_is_accepted() -> None:
    url = "http://127.0.0.1:8000/v1"
    taken = ModelsParams.model_validate(models(url=url))
    endpoint = taken.models["served"].endpoint
    assert endpoint is not None
    assert endpoint.url == url
