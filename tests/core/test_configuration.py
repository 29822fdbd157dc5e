import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.configuration import (
    STYLES,
    configuration_name,
    count_models,
    parse_configuration,
)
from few_examples import few_examples

PLAIN = st.text(min_size=1).filter(lambda name: parse_configuration(name).style == "")


@given(PLAIN, st.sampled_from(list(STYLES)), st.integers(0, 100))
@few_examples
def test_names_round_trip(model: str, style: str, shots: int) -> None:
    assert parse_configuration(configuration_name(model, style, shots)) == (model, style, shots)


@pytest.mark.parametrize(
    "model", ["google/text-unicorn@001", "a@b-3", "m@cloze", "m@cloze-x", "m@letters--1"]
)
def test_model_name_with_an_at_sign_is_not_split(model: str) -> None:
    assert parse_configuration(model) == (model, "", -1)


def test_unknown_style_is_refused() -> None:
    with pytest.raises(ValueError, match="style is 'multiple'; known are letters"):
        configuration_name("m", "multiple", 0)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a", "b@cloze-3"], "2 held-out models"),
        (["a@cloze-0"], "1 held-out model"),
        (["a@cloze-0", "a@cloze-3", "b"], "3 held-out configurations of 2 models"),
        (["a@cloze-0", "a@cloze-3"], "2 held-out configurations of 1 model"),
        ([], "0 held-out models"),
    ],
)
def test_configurations_are_not_counted_as_models(names: list[str], text: str) -> None:
    assert count_models(names, "held-out") == text
    assert count_models(names) == text.replace("held-out ", "")
