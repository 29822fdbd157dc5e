"""Items altered so that knowing the original's options by heart does not answer them."""
