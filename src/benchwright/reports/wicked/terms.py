"""Transforms, reasons and metrics in words."""

from benchwright.reports.page.wording import is_missing

TRANSFORMS = {
    "none_of_the_above": "“None of the above” in place of one option",
    "replace_choice": "“None of the other choices” in place of one option",
    "shuffle_choices": "options in another order",
    "rephrase": "the question in other words",
}
"""What a transform does, as part of a sentence."""

REASONS = {
    "open_ended": "there are no options",
    "too_few_options": "too few options to change",
    "answer_unknown": "the right option is not known",
    "single_best_answer": "options are right to a degree, so that without the best one another is",
    "several_right_options": "several options are right",
    "none_or_all_present": "an option already says none or all of the above",
    "refers_to_options": "a text names options by letter or place",
    "equal_options": "two options are the same",
    "none_or_all_not_last": "“all of the above” stands before other options",
    "not_drawn": "the draw left it out",
    "same_order": "the order drawn was the old one",
}
"""Why a transform left an item as it was."""

WORDINGS = {
    "none_of_the_above": "none of the above",
    "all_of_the_above": "all of the above",
    "refers_to_options": "names other options",
}


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
