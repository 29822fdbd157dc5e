"""Transforms and reasons as the report shows them."""

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
