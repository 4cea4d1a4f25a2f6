"""Types of the columns that hold a fleet: one entry per truck, fix or point of a road."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
