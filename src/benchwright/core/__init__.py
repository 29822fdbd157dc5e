"""What all else rests on: hashes, seeds, order, errors, the response matrix, atomic files."""
