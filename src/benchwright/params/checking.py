"""Which questions pass the judges (`checking:` in conf; docs/judges.md)."""

from typing import Literal

from pydantic import Field

from benchwright.params.judging import JudgesParams


class CheckingParams(JudgesParams):
    """Quality and harmlessness (MMLU-CF, section 3.2, step 4, and Table 4).

    Attributes:
        ask: `together` asks for all ratings and harms of a question at once, `each` once for every
            criterion and harm, `overall` for one rating under all criteria, as the paper's Table 4,
            and for the harms at once.
        above: the mean rating, 1–5, that a question must exceed.
        harmful: whether a harm counts where `any` judge sees it, or more than half of those who
            spoke on it (`majority`).
        fewest_judges: with fewer ratings a question counts as not judged.
        unjudged: what becomes of such questions.
        size: questions of those that passed that make the benchmark, sampled as before under
            `sampling_by_difficulty`; None takes all (the paper: 20,000 of 50,000).
    """

    ask: Literal["together", "each", "overall"] = "together"
    above: float = Field(default=4.0, ge=1, le=5)
    harmful: Literal["any", "majority"] = "any"
    fewest_judges: int = Field(default=1, ge=1)
    unjudged: Literal["keep", "drop"] = "drop"
    size: int | None = Field(default=None, ge=2)
    max_tokens: int = Field(default=160, ge=1)
