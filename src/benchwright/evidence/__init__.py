"""Evidence for a subset: the panel of models, rank agreement and random subsets."""
