"""Judges are asked again after unreadable replies, and every attempt is counted."""

from collections.abc import Sequence

from benchwright.methods.mmlu_cf.judging.judges import rounds_table
from benchwright.scoring.asking import ask_in_rounds


class Scripted:
    """A judge that replies the n-th line for a text at the n-th attempt."""

    def __init__(self, lines: dict[str, list[str | None]]) -> None:
        self.lines = lines
        self.asked: list[tuple[int, list[str]]] = []

    def __call__(self, texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        self.asked.append((attempt, list(texts)))
        return [self.lines[text][min(attempt, len(self.lines[text])) - 1] for text in texts]


def digit(_: int, reply: str) -> int | None:
    return int(reply) if reply.isdigit() else None


def test_only_unreadable_replies_are_asked_again() -> None:
    judge = Scripted({"a": ["1"], "b": ["?", "2"], "c": ["?"], "long": [None]})
    rounds = ask_in_rounds(judge, ["a", "b", "c", "long"], digit, 3)
    assert judge.asked == [(1, ["a", "b", "c", "long"]), (2, ["b", "c"]), (3, ["c"])]
    assert [result.value for result in rounds.last] == [1, 2, None, None]
    assert [result.status for result in rounds.last] == ["parsed", "parsed", "unparsed", "too_long"]
    assert [result.attempt for result in rounds.last] == [1, 2, 3, 1]
    assert len(rounds.attempts) == 7


def test_the_table_counts_each_attempt() -> None:
    judge = Scripted({"a": ["1"], "b": ["?", "2"], "c": ["?"], "long": [None]})
    table = rounds_table("t", {"j": ask_in_rounds(judge, ["a", "b", "c", "long"], digit, 3)})
    assert table[["attempt", "asked", "parsed", "unparsed", "too_long"]].to_numpy().tolist() == [
        [1, 4, 1, 2, 1],
        [2, 2, 1, 1, 0],
        [3, 1, 0, 1, 0],
    ]
    assert table["parse_rate"].tolist() == [0.25, 0.5, 0.0]


def test_zero_and_false_count_as_values() -> None:
    judge = Scripted({"a": ["0"]})
    assert ask_in_rounds(judge, ["a"], digit, 3).last[0].value == 0
    assert len(judge.asked) == 1
