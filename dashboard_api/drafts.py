"""Fences as people send them, and how a version is made of one."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, ValidationError
from sqlalchemy import Connection

from dashboard_api.geojson import Found
from dashboard_api.parts import Text, Time
from schemas.fences import FenceError, read_fence
from schemas.models import Fence
from store import fences

FENCE_DRAFT_EXAMPLE: dict[str, Any] = {
    "fence_id": "depot-chicago",
    "name": "Depot Chicago",
    "kind": "circle",
    "geometry": {"type": "Point", "coordinates": [-87.6298, 41.8781]},
    "radius_m": 400,
    "tags": ["depot"],
    "dwell_s": 3600,
}


def _not_deleted(deleted: bool) -> bool:
    if deleted:
        raise ValueError("DELETE ends a fence")
    return deleted


class FenceDraft(Fence):
    """A fence as it is asked for. The API counts the versions; a fence that was read can be sent back as it is."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, json_schema_extra={"example": FENCE_DRAFT_EXAMPLE}
    )

    fence_id: Annotated[Text, Field(min_length=1, max_length=64)] | None = Field(  # type: ignore[assignment]
        default=None, description="Absent: the API makes one up."
    )
    version: int | None = Field(default=None, description="Not asked: the API counts.")  # type: ignore[assignment]
    effective_from: Time | None = Field(  # type: ignore[assignment]
        default=None, strict=False, description="Absent, or not later than that of the version before: now."
    )
    deleted: Annotated[bool, AfterValidator(_not_deleted)] = Field(
        default=False, description="DELETE ends a fence.", json_schema_extra={"const": False}
    )

    def fields(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"fence_id", "version", "deleted"})


def write(  # noqa: PLR0913 (each is given by name)
    connection: Connection, fence_id: str, fields: dict[str, Any], *, who: str, at_ms: int, now: datetime
) -> Fence:
    """Store the next version of a fence; raises FenceError with the place of the fault."""
    known = fences.current(connection, fence_id)
    before = Fence.model_validate_json(known.value) if known is not None else None
    version = 1 if before is None else before.version + 1
    fence = checked(fields | {"fence_id": fence_id, "version": version, "effective_from": now})
    asked = fields.get("effective_from")
    if asked is not None:
        later = checked(fields | {"fence_id": fence_id, "version": version})
        fence = later if before is None or later.effective_from > before.effective_from else fence
    value = fence.model_dump_json().encode()
    fences.put(connection, fence, value, who=who, at_ms=at_ms)
    return fence


def check_id(fence_id: str) -> None:
    """Ids are parts of addresses."""
    if not fence_id.strip() or "/" in fence_id or fence_id.startswith("."):
        raise FenceError("fence_id", "it is empty, has a slash or begins with a dot")


def checked(fields: dict[str, Any]) -> Fence:
    """The fence, judged as those who read it from Kafka will."""
    check_id(fields["fence_id"])
    try:
        fence = Fence.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise FenceError(".".join(map(str, first["loc"])) or "fence", first["msg"]) from error
    value = fence.model_dump_json()
    if "\\u0000" in value:
        raise FenceError("fence", "it has a NUL character")
    return read_fence(value.encode())


def checked_found(found: Found, fence_id: str, now: datetime) -> None:
    """Judge a fence of a file; the fault's place is told as one in the file."""
    try:
        checked({"name": fence_id} | found.fields | {"fence_id": fence_id, "version": 1, "effective_from": now})
    except FenceError as error:
        raise FenceError(f"{found.where}.{error.where}", error.message) from error
