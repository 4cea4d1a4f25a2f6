"""What several routes take and answer."""

from typing import Annotated, Any

from fastapi import Query
from starlette.types import Scope

from dashboard_api.answers import ErrorAnswer
from dashboard_api.parts import Text

Limit = Annotated[int, Query(ge=1, le=1000, description="At most so many items.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="Skip so many items.")]
Search = Annotated[Text, Query(max_length=100, description="Part of an id or a name.")]


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How the OpenAPI document says that a route may answer so."""
    return {status: {"model": ErrorAnswer} for status in statuses}


def wants_geojson(scope: Scope, asked: str | None) -> bool:
    if asked is not None:
        return asked == "geojson"
    # As they came: to read all headers for this one takes longer.
    return any(name == b"accept" and b"application/geo+json" in value for name, value in scope["headers"])
