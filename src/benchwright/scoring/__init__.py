"""From items to prompts, and from the outputs of models to answers."""
