"""What the planner makes of time: groups, repeats, cooldown, inhibition, silences; and the hours of rules."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from notifier.planner import Limits, Planner
from notifier.routing import counting
from schemas.models import Alert
from store import alerts, deliveries, rules, silences
from store.engine import Store
from store.sending import Ended, claim, record, tidy
from tests.unit.test_notifications import add_channel
from tests.unit.test_store import AT_MS, an_alert, take

LIMITS = Limits(max_age_ms=900_000, wake_ms=180_000)
WEEK = ["mon", "tue", "wed", "thu", "fri"]


class Desk:
    """A planner by a clock of the test's own; `deliver` says that what was due has arrived."""

    def __init__(self, store: Store) -> None:
        self.store, self.at_ms = store, AT_MS

    def plan(self, *found: Alert, after_s: float = 0) -> None:
        self.at_ms += round(after_s * 1000)
        with self.store.write() as connection:
            Planner(connection, lambda _alert, _fence: {}, LIMITS, self.at_ms).plan(found)

    def repeat(self, after_s: float = 0) -> None:
        self.at_ms += round(after_s * 1000)
        with self.store.write() as connection:
            Planner(connection, lambda _alert, _fence: {}, LIMITS, self.at_ms).repeat()

    def deliver(self, after_s: float = 0, error: str | None = None) -> list[str]:
        """What arrives: what it is, and of which alerts. With an error: what is lost."""
        self.at_ms += round(after_s * 1000)
        tidy(self.store)
        rooms = {row["channel_id"]: 100 for row in self.log()}
        found = claim(self.store, rooms, at_ms=self.at_ms, lease_ms=60_000)
        record(self.store, [Ended(each, self.at_ms, error) for each in found], {})
        return sorted(f"{each.what} {''.join(alert.alert_id for alert, _ in each.alerts)}" for each in found)

    def log(self) -> list[dict[str, Any]]:
        return deliveries.page(self.store, deliveries.Wanted(), limit=100, offset=0)[0]

    def held_back(self) -> list[str]:
        return sorted(each["reason"] for each in self.log() if each["state"] == "suppressed")


@pytest.fixture
def desk(store_url: str) -> Iterator[Desk]:
    store = Store(store_url)
    yield Desk(store)
    store.close()


def test_a_group_waits_for_its_first_and_keeps_an_interval_to_the_next(desk: Desk) -> None:
    add_channel(desk.store, group_by=["fence"], group_wait_s=30, group_interval_s=300)
    desk.plan(an_alert("a"), an_alert("x", fence_id="yard"))
    desk.plan(an_alert("b"), after_s=29)
    assert desk.deliver() == []
    assert desk.deliver(after_s=1) == ["raised ab", "raised x"]
    desk.plan(an_alert("c"), after_s=100)
    desk.plan(an_alert("d"), after_s=100)
    assert desk.deliver(after_s=99) == []
    assert desk.deliver(after_s=1) == ["raised cd"]


def test_an_open_alert_is_told_again_until_it_is_over(desk: Desk) -> None:
    add_channel(desk.store, repeat_s=600)
    desk.plan(an_alert("a"))
    assert desk.deliver() == ["raised a"]
    desk.repeat(after_s=599)
    assert desk.deliver() == []
    for _ in range(2):
        desk.repeat(after_s=600)
        assert desk.deliver() == ["repeat a"]
    desk.plan(an_alert("a", revision=1, status="cleared"))
    assert desk.deliver() == ["cleared a"]
    desk.repeat(after_s=6000)
    assert desk.deliver() == []


def test_what_somebody_has_acknowledged_is_not_told_again(desk: Desk) -> None:
    add_channel(desk.store, repeat_s=600)
    take(desk.store, an_alert("a"))
    desk.plan(an_alert("a"))
    desk.deliver()
    alerts.acknowledge(desk.store, ["a"], alerts.Acknowledgement("", None), who="ana", at_ms=AT_MS)
    desk.repeat(after_s=700)
    assert desk.deliver() == []


def test_open_alerts_of_a_group_are_told_again_together(desk: Desk) -> None:
    add_channel(desk.store, group_by=["fence"], group_wait_s=30, repeat_s=600)
    desk.plan(an_alert("a"), an_alert("b"), an_alert("x", fence_id="yard"))
    assert desk.deliver(after_s=30) == ["raised ab", "raised x"]
    desk.plan(an_alert("b", revision=1, status="cleared"), after_s=30)
    desk.deliver(after_s=30)
    desk.plan(an_alert("c"))
    desk.deliver(after_s=30)
    desk.repeat(after_s=600)
    assert desk.deliver() == ["repeat ac", "repeat x"]
    desk.repeat(after_s=700)
    assert desk.deliver() == ["repeat ac", "repeat x"]


def test_after_one_of_the_same_kind_truck_and_fence_others_are_only_recorded_for_a_while(desk: Desk) -> None:
    add_channel(desk.store, cooldown_s=600)
    desk.plan(an_alert("a"), an_alert("other", truck_id="t2"))
    assert desk.deliver() == ["raised a", "raised other"]
    desk.plan(an_alert("b"), after_s=599)
    assert (desk.deliver(), desk.held_back()) == ([], ["cooldown: told of the same 599 s before"])
    desk.plan(an_alert("b", revision=1, status="cleared"))
    assert desk.deliver() == []
    desk.plan(an_alert("c"), after_s=1)
    assert desk.deliver() == ["raised c"]


def test_what_never_arrived_cools_nothing_down(desk: Desk) -> None:
    add_channel(desk.store, cooldown_s=600)
    desk.plan(an_alert("a"))
    assert desk.deliver(error="the receiver answered 500") == ["raised a"]
    desk.plan(an_alert("b"), after_s=10)
    assert desk.deliver() == ["raised b"]


def test_while_the_feed_is_silent_no_truck_is_and_afterwards_only_those_that_stay_silent(desk: Desk) -> None:
    add_channel(desk.store)
    feed = an_alert("feed", kind="feed_silent", truck_id=None, fence_id=None)
    silent = [an_alert(each, kind="silent", truck_id=each, fence_id=None) for each in ("t1", "t2", "t3")]
    desk.plan(*silent, feed)
    assert desk.deliver() == ["raised feed"]
    assert desk.held_back() == ["inhibited: the whole feed is silent"] * 3
    desk.plan(silent[2].model_copy(update={"revision": 1, "status": "cleared"}), after_s=100)
    desk.plan(feed.model_copy(update={"revision": 1, "status": "cleared"}), after_s=200)
    desk.plan(silent[0].model_copy(update={"revision": 1, "status": "cleared"}), after_s=60)
    assert desk.deliver() == ["cleared feed"]
    assert desk.deliver(after_s=119) == []
    assert desk.deliver(after_s=2) == ["raised t2"]
    assert desk.held_back() == ["cleared before it was told", "inhibited: the whole feed is silent"]


def test_a_silence_holds_back_until_it_ends_and_says_whose_it_is(desk: Desk) -> None:
    add_channel(desk.store)
    silence = {"truck_id": "t1", "fence_id": None, "kind": None, "why": "workshop", "until_ms": AT_MS + 60_000}
    silences.add(desk.store, silence, who="ana", at_ms=AT_MS)
    desk.plan(an_alert("a"), an_alert("b", truck_id="t2"))
    assert (desk.deliver(), desk.held_back()) == (["raised b"], ["silenced by ana: workshop"])
    desk.plan(an_alert("c"), after_s=60)
    assert desk.deliver() == ["raised c"]


def test_the_end_is_told_to_those_who_got_the_beginning_and_to_nobody_else(desk: Desk) -> None:
    add_channel(desk.store, url="https://example.org/night", truck_ids=["t1"])
    late = add_channel(desk.store, url="https://example.org/lost", truck_ids=["t2"])
    desk.plan(an_alert("a"))
    assert desk.deliver() == ["raised a"]
    desk.plan(an_alert("b", truck_id="t2"))
    assert desk.deliver(error="the receiver answered 500") == ["raised b"]
    rules.add(desk.store, rules.Rule(name="later", channel_ids=[late]), who="ana", at_ms=AT_MS)
    desk.plan(an_alert("a", revision=1, status="retracted"), an_alert("b", 1, status="cleared", truck_id="t2"))
    assert desk.deliver() == ["retracted a"]
    assert desk.held_back() == ["what it follows was not delivered"]


def rule(rule_id: str, **asked: Any) -> rules.Known:
    return rules.Known(rule_id, rules.Rule(name=rule_id, channel_ids=["c"], **asked))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("moment", "counts"),
    [
        # Monday; Chicago is six hours behind until 8 March 2026, five from then on.
        ("2026-03-02T13:59:59Z", False),
        ("2026-03-02T14:00:00Z", True),
        ("2026-03-02T23:59:59Z", True),
        ("2026-03-03T00:00:00Z", False),
        ("2026-03-07T15:00:00Z", False),
        ("2026-03-09T13:00:00Z", True),
        ("2026-03-09T23:00:00Z", False),
    ],
)
def test_a_rule_counts_at_the_hours_of_its_zone(moment: str, counts: bool) -> None:
    day = rule("day", hours={"days": WEEK, "start": "08:00", "end": "18:00", "zone": "America/Chicago"})
    assert bool(counting([day], an_alert(), (), at(moment))) is counts


@pytest.mark.parametrize(
    ("moment", "counts"),
    [
        # Friday evening in Berlin, until Saturday morning; Saturday evening is not meant.
        ("2026-03-06T20:59:00Z", False),
        ("2026-03-06T21:00:00Z", True),
        ("2026-03-07T04:59:00Z", True),
        ("2026-03-07T05:00:00Z", False),
        ("2026-03-07T21:00:00Z", False),
    ],
)
def test_hours_over_midnight_belong_to_the_evening_they_begin_in(moment: str, counts: bool) -> None:
    night = rule("night", hours={"days": WEEK, "start": "22:00", "end": "06:00", "zone": "Europe/Berlin"})
    assert bool(counting([night], an_alert(), (), at(moment))) is counts


@pytest.mark.parametrize(
    ("alert", "tags", "wanted"),
    [
        (an_alert(severity="critical"), (), ["critical"]),
        (an_alert(kind="idle"), (), ["idle", "t1"]),
        (an_alert(kind="idle", truck_id="t2"), (), ["idle"]),
        (an_alert(truck_id="t2", fence_id="f"), ("depot", "north"), ["depot"]),
        (an_alert(truck_id="t2", fence_id="yard"), (), ["yard"]),
        (an_alert(truck_id="t2", fence_id="f"), ("north",), ["rest"]),
    ],
)
def test_rules_ask_for_kind_severity_fence_truck_and_tag(
    alert: Alert, tags: tuple[str, ...], wanted: list[str]
) -> None:
    known = [
        rule("off", enabled=False),
        rule("critical", severities=["critical"], last=True),
        rule("idle", kinds=["idle"]),
        rule("t1", truck_ids=["t1"]),
        rule("yard", fence_ids=["yard"]),
        rule("depot", tags=["depot"]),
        rule("rest", catch_all=True),
    ]
    assert [each.rule_id for each in counting(known, alert, tags, at("2026-03-02T14:00:00Z"))] == wanted
