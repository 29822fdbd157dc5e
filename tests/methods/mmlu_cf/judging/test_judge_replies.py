"""Only replies in the form that was asked for are read."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.judging.replies import LONGEST, YES_OR_NO, read_reply

LEVELS = {"difficulty": {str(level): level for level in range(10)}}
HARMS = {"sex": YES_OR_NO, "self_harm": YES_OR_NO}


@pytest.mark.parametrize(
    ("reply", "level"),
    [
        ('{"difficulty": 7}', 7),
        ('```json\n{"Difficulty": "7", "reason": "rare; not 5"}\n```', 7),
        ('{"difficulty": <level>}\n{"difficulty": 0}', 0),
        ("**Difficulty:** [7]\nIt needs knowledge of 3 laws.", 7),
        ("7", 7),
        ("“7.”", 7),
        ("difficulty: 7\n" + "x" * (LONGEST - 14), 7),
        ("difficulty: 7\n" + "x" * (LONGEST - 13), None),
        ('{"difficulty": 7}\n{"difficulty": 5}', None),
        ("Difficulty: 7\nDifficulty: 5", None),
        ("Difficulty: 7/10", None),
        ("Difficulty: about 7", None),
        ("6-7", None),
        ("7.5", None),
        ('{"difficulty": 10}', None),
        ('{"difficulty": 7.0}', None),
        ('{"answer": 7}', None),
        ("I would rate it 7.", None),
        ("seven", None),
        ("3", None),  # may be the answer to the question
        ("Difficulty: 3", 3),
        ("", None),
        (None, None),
    ],
)
def test_one_stated_value_is_read_and_nothing_is_guessed(
    reply: str | None, level: int | None
) -> None:
    read = read_reply(reply, LEVELS, options=["2", "3"])
    assert read == (None if level is None else {"difficulty": level})


@pytest.mark.parametrize(
    ("reply", "flags"),
    [
        ('{"sex": "no", "self_harm": true}', (False, True)),
        ("Here they are:\n\n- sex: no\n- Self-harm: YES.\n", (False, True)),
        ("| sex: no |\nself harm = false", (False, False)),
        ("sex: no", None),
        ("sex: no\nself_harm: yes or no", None),
        ("sex: no\nself_harm: no\nsex: yes", None),
        ('{"sex": "no"}\nself_harm: no', None),
        ("no", None),
    ],
)
def test_every_name_needs_a_value(reply: str, flags: tuple[bool, bool] | None) -> None:
    read = read_reply(reply, HARMS)
    assert read == (flags and dict(zip(HARMS, flags, strict=True)))


@given(st.text(max_size=200))
@example("{" * 4_000 + "}" * 4_000)
@example("difficulty" * 800)
def test_any_text_gives_a_level_or_none(reply: str) -> None:
    read = read_reply(reply, LEVELS)
    assert read is None or str(read["difficulty"]) in reply
