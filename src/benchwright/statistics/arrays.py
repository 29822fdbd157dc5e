"""Types of NumPy arrays."""

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
Float = NDArray[np.float64]
Real = NDArray[np.floating]
"""Floats of any precision."""
Integer = NDArray[np.integer]
"""Integers of any size."""
Index = NDArray[np.intp]
"""Positions."""
