"""What the routes are given: everything that `__main__` has wired."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from dashboard_api.access import Access, Who
from dashboard_api.health import Health
from dashboard_api.view import View
from store.engine import Store
from store.moments import as_ms
from store.sealing import Sealer

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Parts:
    view: View
    health: Health
    store: Store
    access: Access
    now: Callable[[], datetime]
    sealer: Sealer
    # Called after a change of a fence, and of an alert.
    fence_changed: Callable[[], None] = lambda: None
    alert_changed: Callable[[], None] = lambda: None

    def now_ms(self) -> int:
        return as_ms(self.now())


def _who(request: Request) -> Who:
    who: Who = request.state.who
    return who


def _as_text(moment: object) -> object:
    """A number is no moment, though pydantic would take it for seconds."""
    if isinstance(moment, int | float) or (isinstance(moment, str) and "-" not in moment[1:]):
        raise ValueError("a moment is text: RFC 3339 with a zone")
    return moment


def _in_range(moment: datetime) -> datetime:
    if not EARLIEST <= moment <= LATEST:
        raise ValueError("the year is not within 1970 to 2199")
    return moment


Asker = Annotated[Who, Depends(_who)]
# What every store can hold and every log can show.
Text = Annotated[str, Field(pattern=r"^[^\x00-\x08\x0B-\x1F]*$")]
AnyTime = Annotated[AwareDatetime, BeforeValidator(_as_text)]
Time = Annotated[AnyTime, AfterValidator(_in_range)]
Id = Annotated[Text, Field(min_length=1, max_length=200)]
