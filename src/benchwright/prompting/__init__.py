"""How a question is put to a model: demonstrations, conditions, styles, as text."""
