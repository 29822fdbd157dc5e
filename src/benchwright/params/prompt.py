"""How a question is put to a model: the `prompt` section of a benchmark file."""

from benchwright.params.section import Section


class PromptParams(Section):
    """The words around questions; the defaults are those of MMLU (Hendrycks et al., 2021).

    A prompt is the description, the demonstrations and the question, with `separator` between
    them. `{subject}` in the description is the item's subject with spaces for underscores. Models
    are sensitive to these words: a value here is part of every score's key in the store.

    Where a model answers in its own words, `instruction` stands after the options (or
    `open_instruction` where there are none) and `statement` (`open_statement`) ends each
    demonstration.
    """

    description: str = "The following are multiple choice questions (with answers) about {subject}."
    question_prefix: str = ""
    answer_prefix: str = "Answer:"
    option_template: str = "{label}. {choice}"
    separator: str = "\n\n"
    line_separator: str = "\n"
    instruction: str = (
        'Think step by step, then end with "The answer is (X)." where X is the letter of the '
        "right option."
    )
    open_instruction: str = (
        'Think step by step, then end with "The answer is X." where X is the final answer alone.'
    )
    statement: str = "The answer is ({label})."
    open_statement: str = "The answer is {answer}."
