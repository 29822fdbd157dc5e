"""Transforms, reasons and numbers as the report shows them."""

from benchwright.reports.page.wording import is_missing

TRANSFORMS = {
    "none_of_the_above": "“None of the above” in place of one option",
    "replace_choice": "“None of the other choices” in place of one option",
    "shuffle_choices": "options in another order",
    "rephrase": "the question rephrased",
}
"""Transforms as parts of a sentence."""

REASONS = {
    "open_ended": "no options",
    "too_few_options": "too few options to change",
    "answer_unknown": "unknown gold answer",
    "single_best_answer": "single best answer: without the best option, another one would be right",
    "several_right_options": "several right options",
    "none_or_all_present": "an option already says none or all of the above",
    "refers_to_options": "a text refers to options by letter or position",
    "equal_options": "equal options",
    "none_or_all_not_last": "“all of the above” comes before other options",
    "not_drawn": "not chosen at random",
    "same_order": "the random order equals the original order",
}
"""Reasons why a transform leaves an item unaltered."""


def points(share: float | None, *, signed: bool = True) -> str:
    """Return 0.0904 as `+9.0`, with a true minus sign; — where it is missing."""
    if share is None or is_missing(share):
        return "—"
    written = f"{100 * share:+.1f}" if signed else f"{100 * share:.1f}"
    if float(written) == 0:
        written = "0.0"
    return written.replace("-", "−")


def interval(low: float | None, high: float | None, *, signed: bool = True) -> str:
    """Return bounds in points, as `[−10.9, −7.1]`; "" where one is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{points(low, signed=signed)}, {points(high, signed=signed)}]"
