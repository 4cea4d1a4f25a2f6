"""Every fence with its recent versions, and from when to when each of them counts."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from schemas.models import Fence
from streaming.places import VERSION, Places, Version, version_row
from streaming.rules import Rules
from streaming.shapes import shape_of
from streaming.timeline import Flags

# So many are remembered of a fence, for fixes that come late.
VERSIONS_KEPT = 5


@dataclass(frozen=True)
class Edition:
    """A version of a fence and the moment from which it counts here."""

    fence: Fence
    from_t: int


@dataclass(frozen=True)
class FenceBook:
    """Immutable: a change makes a new book. A fence keeps its number for ever."""

    rules: Rules
    fence_ids: tuple[str, ...] = ()
    numbers: dict[str, int] = field(default_factory=dict)
    editions: tuple[tuple[Edition, ...], ...] = ()
    rows: tuple[tuple[Version, ...], ...] = ()
    digest: bytes = b""
    places: Places = field(default_factory=lambda: Places(np.zeros(0, VERSION), ()))

    @cached_property
    def is_timed(self) -> Flags:
        """For each fence: whether time alone can raise an alert in it."""
        return np.array([any(_is_timed(each.fence) for each in rows) for rows in self.rows], dtype=bool)

    def newest(self, fence_id: str) -> Fence | None:
        number = self.numbers.get(fence_id)
        return None if number is None else self.editions[number][-1].fence

    def version(self, fence_number: int, t: int) -> Version | None:
        """The version of a fence that is in force at `t`, deleted or not."""
        return next((each for each in reversed(self.rows[fence_number]) if each.from_t <= t), None)

    def timeline(self, fence_number: int) -> list[tuple[Version, int]]:
        """The versions in the order in which they come into force, each with the moment it is replaced."""
        found: list[tuple[Version, int]] = []
        until = np.iinfo(np.int64).max // 2
        for each in reversed(self.rows[fence_number]):
            if each.from_t < until:
                found.append((each, int(until)))
                until = each.from_t
        return found[::-1]

    def digest_after(self, arrived: Sequence[Edition]) -> bytes:
        """What names the book that these changes make."""
        hashed = hashlib.blake2b(self.digest, digest_size=16)
        for edition in arrived:
            hashed.update(edition.fence.model_dump_json().encode() + str(edition.from_t).encode())
        return hashed.digest()

    def with_editions(self, arrived: Sequence[Edition]) -> "FenceBook":
        """The book after these changes, each newer than what is known of its fence."""
        ids, numbers = list(self.fence_ids), dict(self.numbers)
        editions, rows, digest = list(self.editions), list(self.rows), self.digest_after(arrived)
        changed: set[int] = set()
        for edition in arrived:
            fence_id = edition.fence.fence_id
            if fence_id not in numbers:
                numbers[fence_id] = len(ids)
                ids.append(fence_id)
                editions.append(())
                rows.append(())
            number = numbers[fence_id]
            editions[number] = (*editions[number], edition)[-VERSIONS_KEPT:]
            changed.add(number)
        for number in changed:
            rows[number] = _versions(number, editions[number], rows[number])
        places = self._places(rows, changed)
        return FenceBook(self.rules, tuple(ids), numbers, tuple(editions), tuple(rows), digest, places)

    def _places(self, rows: list[tuple[Version, ...]], changed: set[int]) -> Places:
        """The rows of unchanged fences are kept as they are."""
        old = self.places
        kept = ~np.isin(old.versions["fence"], list(changed))
        table, shapes = [old.versions[kept]], [shape for shape, keep in zip(old.shapes, kept, strict=True) if keep]
        for number in sorted(changed):
            untils = [
                min([later.from_t for later in rows[number][i + 1 :]], default=None) for i in range(len(rows[number]))
            ]
            for version, until in zip(rows[number], untils, strict=True):
                row = version_row(version, self.rules)
                if until is not None:
                    row["until_t"] = until
                table.append(row)
                shapes.append(version.shape)
        return Places(np.concatenate(table), shapes, old)


def _versions(number: int, editions: tuple[Edition, ...], known: tuple[Version, ...]) -> tuple[Version, ...]:
    shapes = {version.fence.version: version.shape for version in known}
    found: list[Version] = []
    for edition in editions:
        before = next((each for each in reversed(found) if each.from_t < edition.from_t), None)
        shape = shapes.get(edition.fence.version) or shape_of(edition.fence)
        moved = before is None or before.fence.deleted or _ground(before.fence) != _ground(edition.fence)
        found.append(Version(number, edition.fence, edition.from_t, moved, shape))
    return tuple(found)


def _is_timed(fence: Fence) -> bool:
    return fence.dwell_s is not None or fence.schedule is not None


def _ground(fence: Fence) -> tuple[object, ...]:
    return fence.kind, fence.geometry, fence.radius_m, fence.width_m
