"""Fences as GeoJSON features, both ways."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from schemas.fences import GEOMETRY_OF_KIND, FenceError
from schemas.models import Fence

KIND_OF_GEOMETRY = {geometry: kind for kind, geometry in GEOMETRY_OF_KIND.items()}
# Counted by the API, or said by the geometry: what a file says of them is not asked.
NOT_PROPERTIES = {"fence_id", "version", "effective_from", "deleted", "kind", "geometry"}
PROPERTIES = set(Fence.model_fields) - NOT_PROPERTIES
MOST_FEATURES = 10_000


@dataclass(frozen=True)
class Found:
    """A fence in a file: where in it, its own id if it has one, its fields, and the names that say nothing here."""

    where: str
    fence_id: str | None
    fields: dict[str, Any]
    ignored: list[str]


def as_feature(fence: Fence) -> dict[str, Any]:
    fields = fence.model_dump(mode="json", exclude={"geometry"}, exclude_none=True)
    return {"type": "Feature", "id": fence.fence_id, "geometry": fence.geometry, "properties": fields}


def exported(fences: Iterable[str]) -> Iterator[str]:
    """A FeatureCollection of fences as the store has them, feature by feature."""
    begin = '{"type":"FeatureCollection","features":['
    for value in fences:
        yield begin + json.dumps(as_feature(Fence.model_validate_json(value)))
        begin = ","
    yield "]}" if begin == "," else begin + "]}"


def fences_in(document: Any) -> Iterator[Found]:
    """The fences of a FeatureCollection or of one Feature; raises FenceError with the place in the file."""
    if isinstance(document, dict) and document.get("type") == "Feature":
        yield _found(document, "feature")
        return
    features = document.get("features") if isinstance(document, dict) else None
    if not isinstance(features, list) or document.get("type") != "FeatureCollection":
        raise FenceError("type", "a GeoJSON FeatureCollection or Feature is needed")
    if len(features) > MOST_FEATURES:
        raise FenceError("features", f"{len(features)} features; at most {MOST_FEATURES} are taken at once")
    for number, feature in enumerate(features):
        yield _found(feature, f"features[{number}]")


def _found(feature: Any, where: str) -> Found:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        raise FenceError(where, "not a GeoJSON Feature")
    geometry, properties = feature.get("geometry"), feature.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    kind = KIND_OF_GEOMETRY.get(str(geometry.get("type"))) if isinstance(geometry, dict) else None
    if kind is None:
        raise FenceError(f"{where}.geometry", f"one of {', '.join(KIND_OF_GEOMETRY)} is needed")
    fence_id = properties.get("fence_id", feature.get("id"))
    fields = {name: value for name, value in properties.items() if name in PROPERTIES}
    fields |= {"kind": kind, "geometry": geometry}
    ignored = sorted(str(name) for name in set(properties) - PROPERTIES - NOT_PROPERTIES)
    return Found(where, None if fence_id is None else str(fence_id), fields, ignored)
