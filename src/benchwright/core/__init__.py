"""What everything rests on: identifiers, hashes, seeds, errors, the response matrix, atomic files."""
