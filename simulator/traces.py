"""Reads recorded traces, CSV or GPX. A row that cannot be used is named with its line, and the others still count."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from pydantic import AwareDatetime, TypeAdapter, ValidationError

from schemas.models import Fix, as_rfc3339
from simulator.gpx import read_gpx
from simulator.stream import Sent

REQUIRED = ("truck_id", "event_time", "lat", "lon")
KNOWN = tuple(Fix.model_fields)
MOMENT: TypeAdapter[AwareDatetime] = TypeAdapter(AwareDatetime)
ENCODER = msgspec.json.Encoder()


class UnreadableError(Exception):
    """Why a whole file cannot be used, as a sentence for its owner."""


@dataclass(frozen=True)
class Row:
    """A row as the file has it; `problem` where not even its columns can be told apart."""

    line: int
    fields: dict[str, str]
    problem: str | None = None


@dataclass(frozen=True)
class BadRow:
    line: int
    problem: str


def read(path: Path) -> tuple[list[Sent], list[BadRow]]:
    """Every usable fix in the order in which it is to be sent, and what could not be used."""
    rows = gpx_rows(path) if path.suffix.lower() == ".gpx" else csv_rows(path)
    judged = [to_record(row) for row in rows]
    fixes = [each for each in judged if isinstance(each, Sent)]
    return sorted(fixes, key=lambda fix: fix.send_ms), [each for each in judged if isinstance(each, BadRow)]


def csv_rows(path: Path) -> Iterator[Row]:
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.DictReader(file)
        columns = [name.strip() for name in reader.fieldnames or ()]
        if missing := [name for name in REQUIRED if name not in columns]:
            raise UnreadableError(f"{path} has no column {', '.join(missing)}; it needs {', '.join(REQUIRED)}.")
        reader.fieldnames = columns
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(reader.line_num, {}, str(error))
                continue
            too_many = "more values than columns" if None in row else None
            yield Row(reader.line_num, {name: text.strip() for name, text in row.items() if name and text}, too_many)


def gpx_rows(path: Path) -> Iterator[Row]:
    for line, fields, problem in read_gpx(path):
        yield Row(line, fields, problem)


def to_record(row: Row) -> Sent | BadRow:
    given = {name: text for name, text in row.fields.items() if name in KNOWN and text}
    if row.problem:
        return BadRow(row.line, row.problem)
    if "\ufffd" in "".join(given.values()):
        return BadRow(row.line, "not UTF-8")
    if missing := [name for name in REQUIRED if name not in given]:
        return BadRow(row.line, f"no {', '.join(missing)}")
    try:
        fix = Fix.model_validate_strings(given)
        received = row.fields.get("received_time")
        order_time = MOMENT.validate_strings(received) if received is not None else fix.event_time
    except ValidationError as error:
        return BadRow(
            row.line,
            "; ".join(f"{'.'.join(map(str, e['loc'])) or 'received_time'}: {e['msg']}" for e in error.errors()),
        )
    return record(fix, order_time)


def record(fix: Fix, order_time: AwareDatetime | None) -> Sent:
    assert fix.event_time is not None
    assert order_time is not None
    event_time = as_rfc3339(fix.event_time)
    value = ENCODER.encode({**fix.model_dump(exclude_none=True), "event_time": event_time})
    send_ms = round(order_time.timestamp() * 1000)
    return Sent(fix.truck_id, value, send_ms, event_time, fix.seq, ("replayed",))
