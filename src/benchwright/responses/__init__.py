"""From recorded and live answers to matrices of models and items."""
