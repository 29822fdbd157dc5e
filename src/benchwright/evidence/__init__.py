"""What every method is judged by: a panel of models, rank agreement, random subsets."""
