"""Types of NumPy arrays by what they hold."""

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating]
"""Responses and vectors in 32 or 64 bits."""
Integers = NDArray[np.integer]
Places = NDArray[np.intp]
"""Positions in another array."""
