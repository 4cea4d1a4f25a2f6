"""How records reach Kafka: when they are due, all of them, and with an honest account of what became of each."""

import functools
import itertools
import json
import logging
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from schemas.topics import TRUCKS_GPS
from simulator.commands import fixes, start_time
from simulator.ledger import Ledger, LedgerError
from simulator.pace import Pace, publish
from simulator.progress import Progress
from simulator.publish import Outbox, Tally
from simulator.rates import PRESETS
from simulator.report import summary
from simulator.settings import Settings
from simulator.stream import Sent, Stream

START = datetime(2026, 1, 1, tzinfo=UTC)
START_MS = round(START.timestamp() * 1000)


class Kept:
    """A promise that the test keeps or breaks."""

    def add_callback(self, told: Callable[[int, object], None], number: int) -> None:
        self.acknowledge = functools.partial(told, number)

    def add_errback(self, told: Callable[[int, BaseException], None], number: int) -> None:
        self.fail = functools.partial(told, number)


class FakeProducer:
    """Takes everything and acknowledges nothing by itself."""

    def __init__(self) -> None:
        self.promises: list[Kept] = []
        self.values: list[bytes] = []

    def partitions_for(self, topic: str) -> set[int]:
        return {0}

    def send(self, topic: str, *, key: bytes, value: bytes) -> Kept:
        self.values.append(value)
        self.promises.append(Kept())
        return self.promises[-1]

    def flush(self, timeout: float) -> None: ...
    def close(self, timeout: float) -> None: ...


def some_records(count: int) -> list[Sent]:
    stream = Stream(trucks=5, interval_s=20, seed=1, start_time=START, rates=PRESETS["hostile"])
    return list(itertools.islice(stream, count))


def published(records: Iterable[Sent], speed: float) -> list[bytes]:
    producer, stop = FakeProducer(), threading.Event()
    pace = Pace(start_ms=START_MS, begun_s=time.time(), speed=speed)
    publish(records, Outbox(producer, stop=stop), pace, stop=stop)
    return producer.values


def test_whatever_the_speed_the_same_bytes_are_sent() -> None:
    records = some_records(100)
    assert published(records, 1000) == published(records, float("inf")) == [record.value for record in records]


def test_speed_compresses_time_and_no_fix_is_sent_before_its_own_time() -> None:
    paced = Pace(start_ms=START_MS, begun_s=START_MS / 1000 + 86_400, speed=60)
    assert paced.due_s(START_MS + 60_000) == START_MS / 1000 + 86_401
    a_day_on_ms = START_MS + 2 * 86_400_000
    assert paced.due_s(a_day_on_ms) == a_day_on_ms / 1000
    replayed = Pace(start_ms=START_MS, begun_s=1000.0, speed=1, ahead=True)
    assert replayed.due_s(START_MS + 5000) == 1005.0


def test_records_wait_until_they_are_due() -> None:
    begun_s = time.time()
    now_ms = round(begun_s * 1000)
    record = Sent("a", b"{}", now_ms + 400, "", 0, ("good",))
    stop = threading.Event()
    publish([record], Outbox(FakeProducer(), stop=stop), Pace(start_ms=now_ms, begun_s=begun_s, speed=1), stop=stop)
    assert time.time() - begun_s >= 0.4


def test_history_starts_as_long_ago_as_is_asked_and_fast_time_a_day_ago() -> None:
    assert start_time(Settings(backfill="2h"), now=START) == START - timedelta(hours=2)  # type: ignore[arg-type]
    assert start_time(Settings(speed=60), now=START) == START - timedelta(days=1)
    assert start_time(Settings(), now=START) == START
    assert start_time(Settings(start_time=START, speed=60), now=datetime.now(UTC)) == START


def test_a_duration_ends_the_fleet_by_its_own_time() -> None:
    settings = Settings(duration="90s", trucks=10, preset="calm")  # type: ignore[arg-type]
    records = list(fixes(settings, START))
    assert 40 <= len(records) <= 50
    assert max(record.send_ms for record in records) < START_MS + 90_000


def test_a_rate_that_is_set_wins_over_the_preset() -> None:
    rates = Settings(preset="hostile", garbled_rate=0).rates
    assert rates.garbled_rate == 0
    assert rates.late_rate == PRESETS["hostile"].late_rate
    assert Settings().rates == PRESETS["realistic"]


def test_every_send_is_counted_as_acknowledged_failed_or_waiting_and_is_in_the_ledger(tmp_path: Path) -> None:
    producer, records = FakeProducer(), some_records(3)
    with Ledger(tmp_path / "ledger", stop=threading.Event()) as ledger:
        outbox = Outbox(producer, stop=threading.Event(), ledger=ledger)
        assert all(map(outbox.send_fix, records))
        producer.promises[0].acknowledge(SimpleNamespace(partition=4, offset=17))
        producer.promises[1].fail(RuntimeError("too large"))
        tally = outbox.close(timeout_s=0)
    assert tally == Tally(sent=3, acknowledged=1, failed=1, last_error="too large")
    assert tally.waiting == 1
    lines = [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["acknowledged", "refused", "unanswered"]
    assert (lines[0]["partition"], lines[0]["offset"]) == (4, 17)
    assert lines[1]["error"] == "too large"
    for line, record in zip(lines, records, strict=True):
        assert (line["truck_id"], line["seq"], line["classes"]) == (record.truck_id, record.seq, list(record.classes))
        assert line["event_time"] == record.event_time
        assert line["fix"] == json.loads(record.value)


def test_the_ledger_keeps_the_bytes_of_what_is_garbled(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger", stop=threading.Event()) as ledger:
        ledger.write(Sent("a", b"{\xff", 0, "", 3, ("garbled",)), "acknowledged", partition=0, offset=0)
    line = json.loads((tmp_path / "ledger").read_text())
    assert b64decode(line["raw_base64"]) == b"{\xff"
    assert "fix" not in line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_ledger_that_cannot_be_written_stops_the_fleet_and_says_so() -> None:
    stop, record = threading.Event(), some_records(1)[0]
    ledger = Ledger(Path("/dev/full"), stop=stop)
    for _ in range(1000):
        ledger.write(record, "acknowledged", partition=0, offset=0)
    assert stop.is_set()
    with pytest.raises(LedgerError, match=r"not whole: .*No space left"):
        ledger.__exit__(None, None, None)
    with pytest.raises(LedgerError, match="No such file or directory"):
        Ledger(Path("no-such-folder/ledger"), stop=stop)


def test_no_more_than_the_bound_is_in_flight() -> None:
    producer = FakeProducer()
    outbox = Outbox(producer, stop=threading.Event(), in_flight_max=2)
    send = functools.partial(outbox.send, TRUCKS_GPS, key="a", value=b"{}")
    assert send()
    assert send()
    third = threading.Thread(target=send, daemon=True)
    third.start()
    third.join(timeout=0.5)
    assert third.is_alive()
    assert len(producer.promises) == 2
    producer.promises[0].acknowledge(SimpleNamespace(partition=0, offset=0))
    third.join(timeout=10)
    assert len(producer.promises) == 3


def test_stop_ends_the_wait_for_room() -> None:
    producer, stop = FakeProducer(), threading.Event()
    outbox = Outbox(producer, stop=stop, in_flight_max=1)
    assert outbox.send(TRUCKS_GPS, key="a", value=b"{}")
    stop.set()
    assert not outbox.send(TRUCKS_GPS, key="a", value=b"{}")
    assert len(producer.promises) == 1


def test_the_summary_says_when_kafka_does_not_answer() -> None:
    before = Tally(sent=10, acknowledged=8)
    assert summary(before, Tally(sent=12, acknowledged=12)) == "2 sent, 4 acknowledged, 0 failed"
    assert "does not answer, 4 wait, still trying" in summary(before, Tally(sent=12, acknowledged=8))


def test_without_a_terminal_long_work_tells_its_progress_in_lines(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.progress.LINE_EVERY_S", 0)
    with caplog.at_level(logging.INFO), Progress("history", total=100, until_ms=START_MS + 20_000) as progress:
        for record in some_records(20):
            progress.count(record)
    assert caplog.messages[0] == "history: 1 of about 100 fixes"
    assert caplog.messages[-1] == f"history: {len(caplog.messages)} fixes", "it is over when it has caught up"


@pytest.mark.parametrize("text", ["2x", "h", "-1h", "0s", "24"])
def test_a_span_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="backfill"):
        Settings(backfill=text)  # type: ignore[arg-type]
