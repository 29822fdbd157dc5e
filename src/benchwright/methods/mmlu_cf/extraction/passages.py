"""Texts that several questions share: a passage and the questions that refer to it."""

import re

from benchwright.methods.mmlu_cf.extraction.lines import Line
from benchwright.methods.mmlu_cf.extraction.options import joined
from benchwright.methods.mmlu_cf.extraction.stems import Stem

_RANGE = re.compile(
    r"(?:questions?|items?|problems?|q\.?|nos?\.?)\s?#?(\d{1,4})\s?(?:-|–|—|to|through|and|&)"
    r"\s?#?(\d{1,4})\b",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"^\W{0,3}(?:reading\s)?(?:passage|extract|text|case|scenario|stimulus|vignette)\b.{0,40}$"
    r"|\b(?:read|refer to|based on|according to|use|study)\b.{0,40}\b(?:passage|text|extract"
    r"|paragraph|information|case|scenario|story|article)\b"
    r"|\b(?:refer|relate|based|pertain|belong)\w{0,3}\b.{0,30}\b(?:passage|text|extract|paragraph|information"
    r"|case|scenario|following|above|below)\b",
    re.IGNORECASE,
)
_SHORTEST = 80


class Passages:
    """The passage that holds for a question, as one goes down the page."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._text: str | None = None
        self._until: int | None = None
        self._region: tuple[int, ...] = ()

    def of(self, stem: Stem, start: int) -> str | None:
        """The passage of a question; what stands between `start` and its stem may be a new one."""
        gap = list(range(start, stem.first))
        cues = [at for at in gap if self._is_cue(self._lines[at])]
        named = [at for at in gap if "passage" in self._lines[at].marks]
        if cues or named:
            text = self._passage(cues, named, stem.first)
            if text:
                ranges = [found for at in gap if (found := _RANGE.search(self._lines[at].text))]
                self._text = text
                self._until = int(ranges[-1][2]) if ranges else None
        elif any(self._lines[at].kind == "heading" for at in gap):
            self._text = None
        if self._until is not None and stem.number is not None and stem.number > self._until:
            self._text = self._until = None
        return self._text

    def _is_cue(self, line: Line) -> bool:
        return len(line.text) < 200 and bool(_CUE.search(line.text) or _RANGE.search(line.text))

    def _passage(self, cues: list[int], named: list[int], end: int) -> str:
        if named:
            return self._joined([at for at in named if at not in cues])
        after = [at for at in range(cues[0], end) if at not in cues]
        text = self._joined(after)
        if len(text) >= _SHORTEST:
            return text
        # the cue stands below: "Questions 1–4 refer to the passage above"
        above: list[int] = []
        for at in range(cues[0] - 1, -1, -1):
            line = self._lines[at]
            if line.kind == "heading" or (
                len(line.text) < 40 and line.block != self._lines[cues[0] - 1].block
            ):
                break
            above.append(at)
        text = self._joined(above[::-1])
        return text if len(text) >= _SHORTEST else ""

    def _joined(self, places: list[int]) -> str:
        blocks: list[list[str]] = []
        before = None
        for at in places:
            line = self._lines[at]
            if line.block != before:
                blocks.append([])
                before = line.block
            blocks[-1].append(line.text)
        return "\n".join(joined(block) for block in blocks)
