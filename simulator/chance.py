"""Luck that is looked up, not drawn: the same question has the same answer, in whatever order questions are asked."""

import functools
import hashlib

import numpy as np
from numpy.typing import NDArray

from simulator.columns import Floats, Ints

Words = NDArray[np.uint64]
# The constants of SplitMix64, a well-tested mixer of 64 bits.
STEP, FIRST, SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


@functools.cache
def start_of(seed: int, purpose: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()))


def mixed(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * FIRST
    words = (words ^ (words >> np.uint64(27))) * SECOND
    return words ^ (words >> np.uint64(31))


class Luck:
    """A number for each purpose and keys, such as truck and turn. Another seed is other luck throughout."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def share(self, purpose: str, *keys: Ints | int) -> Floats:
        """Uniform in [0, 1)."""
        words: Words = np.atleast_1d(start_of(self._seed, purpose))
        for key in keys:
            words = mixed(
                words ^ (np.atleast_1d(np.asarray(key, dtype=np.int64)).astype(np.uint64) + np.uint64(1)) * STEP
            )
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def between(self, low: float, high: float, purpose: str, *keys: Ints | int) -> Floats:
        return low + (high - low) * self.share(purpose, *keys)

    def pick(self, count: Ints | int, purpose: str, *keys: Ints | int) -> Ints:
        """One of 0 .. count - 1."""
        return np.asarray(self.share(purpose, *keys) * count).astype(np.int64)

    def bell(self, purpose: str, *keys: Ints | int) -> Floats:
        """Normally distributed, mean 0, deviation 1 (Box and Muller)."""
        radius = np.sqrt(-2.0 * np.log1p(-self.share(f"{purpose}/radius", *keys)))
        return np.asarray(radius * np.cos(2.0 * np.pi * self.share(f"{purpose}/angle", *keys)))
