"""Which items are alike in meaning: their vectors, their neighbours and the threshold."""
