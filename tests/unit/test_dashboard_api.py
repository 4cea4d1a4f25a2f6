"""The dashboard's view, its answers and its errors, without a broker."""

import json
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dashboard_api import answers, select
from dashboard_api.health import Health
from dashboard_api.view import REJECTS_KEPT, View
from dashboard_api.windows import TRUCK_HISTORY
from schemas.models import Status
from tests.api import NOW, Api, Client


def put(view: View, topic: str, key: str, value: dict[str, Any] | None) -> None:
    view.apply(topic, key, None if value is None else json.dumps(value).encode())


def state(truck_id: str = "t1", second: int = 0, **changes: Any) -> dict[str, Any]:
    moment = (NOW - timedelta(minutes=1) + timedelta(seconds=second)).isoformat()
    return answers.TRUCK_EXAMPLE | {"truck_id": truck_id, "event_time": moment} | changes


def window(start: datetime, **changes: Any) -> dict[str, Any]:
    times = {"window_start": start.isoformat(), "window_end": (start + timedelta(minutes=1)).isoformat()}
    return answers.WINDOW_EXAMPLE | times | changes


@pytest.fixture
def view(api: Api) -> View:
    return api.view


@pytest.fixture
def health(api: Api) -> Health:
    return api.health


@pytest.fixture
def client(api: Api) -> Client:
    return api.client()


def lat(view: View) -> float:
    return json.loads(view.truck("t1", 0) or b"{}")["lat"]  # type: ignore[no-any-return]


def no_trucks(view: View) -> bool:
    return view.trucks(select.Wanted(), limit=10, offset=0, now_ms=0) == (b"", 0)


def test_an_older_state_never_replaces_a_newer_one(view: View) -> None:
    put(view, "trucks_state", "t1", state(second=30, seq=5, lat=40))
    put(view, "trucks_state", "t1", state(second=10, seq=9, lat=41))
    put(view, "trucks_state", "t1", state(second=30, seq=4, lat=42))
    assert lat(view) == 40


def test_the_same_moment_with_a_higher_seq_wins(view: View) -> None:
    put(view, "trucks_state", "t1", state(seq=None, lat=40))
    put(view, "trucks_state", "t1", state(seq=0, lat=41))
    assert lat(view) == 41


def test_a_tombstone_removes_a_truck(view: View) -> None:
    put(view, "trucks_state", "t1", state())
    put(view, "trucks_state", "t1", None)
    assert no_trucks(view)


@pytest.mark.parametrize("topic", ["trucks_state", "trucks", "trucks_windows", "trucks_rejects", "pipeline"])
@pytest.mark.parametrize("value", [b"", b"{", b"[]", b"{}", b"\xff"])
def test_a_malformed_record_is_refused_and_changes_nothing(view: View, topic: str, value: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  Any ValueError is what the feed skips.
        view.apply(topic, "counts/0", value)
    assert no_trucks(view)
    assert view.rejects(reason=None, limit=10) == ([], 0)
    assert view.counts() == []


def test_two_hours_of_fleet_windows_are_kept(view: View) -> None:
    for minute in range(200):
        put(view, "trucks_windows", f"fleet//60/{minute}", window(NOW + timedelta(minutes=minute)))
    items, total = view.windows(scope="fleet", truck_id=None, length_s=60, limit=1)
    assert total == 120
    assert items[0].window_start == NOW + timedelta(minutes=199)
    last, _ = view.windows(scope="fleet", truck_id=None, length_s=60, limit=9, offset=119)
    assert [each.window_start for each in last] == [NOW + timedelta(minutes=80)]


def test_the_newest_windows_of_a_truck_are_kept(view: View) -> None:
    for minute in range(40):
        start = NOW - timedelta(minutes=minute)
        put(view, "trucks_windows", f"truck/t1/60/{minute}", window(start, scope="truck", truck_id="t1"))
    items, total = view.windows(scope="truck", truck_id="t1", length_s=None, limit=100)
    assert total == TRUCK_HISTORY[60]
    assert items[0].window_start == NOW


def test_a_later_row_of_a_window_replaces_it(view: View) -> None:
    put(view, "trucks_windows", "k", window(NOW, fixes=1, final=False))
    put(view, "trucks_windows", "k", window(NOW, fixes=2, final=True))
    items, _ = view.windows(scope="fleet", truck_id=None, length_s=60, limit=10)
    assert [(each.fixes, each.final) for each in items] == [(2, True)]


def test_a_final_window_stays_final_when_a_restarted_job_repeats_an_earlier_row(view: View) -> None:
    put(view, "trucks_windows", "k", window(NOW, fixes=2, final=True))
    put(view, "trucks_windows", "k", window(NOW, fixes=1, final=False))
    items, _ = view.windows(scope="fleet", truck_id=None, length_s=60, limit=10)
    assert [(each.fixes, each.final) for each in items] == [(2, True)]


def test_windows_of_one_length_can_be_asked_for(view: View, client: Client) -> None:
    put(view, "trucks_windows", "truck/t1/60/x", window(NOW, scope="truck", truck_id="t1"))
    put(view, "trucks_windows", "truck/t1/300/x", window(NOW, scope="truck", truck_id="t1", length_s=300))
    items = client.get("/api/windows?truck_id=t1&length_s=300").json()["items"]
    assert [each["length_s"] for each in items] == [300]


def test_the_last_rejects_are_kept_once_each(view: View) -> None:
    for offset in [*range(REJECTS_KEPT + 5), REJECTS_KEPT]:
        put(view, "trucks_rejects", "t1", answers.REJECT_EXAMPLE | {"offset": offset})
    assert view.rejects(reason=None, limit=9, offset=REJECTS_KEPT - 1)[0][0].offset == 5
    items, total = view.rejects(reason=None, limit=1)
    assert total == REJECTS_KEPT
    assert items[0].offset == REJECTS_KEPT + 4


def test_trucks_are_paged_filtered_and_searched(view: View, client: Client) -> None:
    for number in range(5):
        put(view, "trucks_state", f"t{number}", state(f"t{number}", status="idle" if number == 3 else "moving"))
    put(view, "trucks", "t2", {"truck_id": "t2", "name": "Wind", "plate": "IL 1", "driver": "Ana Flores"})
    page = client.get("/api/trucks?limit=2&offset=1").json()
    assert ([each["truck_id"] for each in page["items"]], page["total"]) == (["t1", "t2"], 5)
    assert client.get("/api/trucks?status=idle").json()["items"][0]["truck_id"] == "t3"
    found = client.get("/api/trucks?q=flores").json()["items"]
    assert [(each["truck_id"], each["driver"], each["age_s"]) for each in found] == [("t2", "Ana Flores", 60.0)]
    assert client.get("/api/trucks/t1").json()["driver"] is None


def test_the_pipeline_says_whether_every_record_is_accounted_for(view: View, client: Client) -> None:
    counts = {"input": 10, "judged": 6, "duplicate": 1, "late": 1, "rejected": {"bad_lat": 2}}
    put(view, "pipeline", "counts/0", counts | {"shard": 0})
    put(view, "pipeline", "counts/1", counts | {"shard": 1})
    put(view, "pipeline", "query/fixes", answers.QUERY_EXAMPLE)
    answer = client.get("/api/pipeline").json()
    assert answer["counts"]["input"] == 20
    assert answer["counts"]["rejected"] == {"bad_lat": 4}
    assert answer["counts"]["balanced"] is True
    assert answer["queries"] == [answers.QUERY_EXAMPLE]
    put(view, "pipeline", "counts/1", counts | {"shard": 1, "input": 11})
    assert client.get("/api/pipeline").json()["counts"]["balanced"] is False


def test_readiness_names_the_part_that_is_not_ready(health: Health, client: Client) -> None:
    assert client.get("/readyz").status_code == 200
    health.connected, health.trouble = False, "ConnectionRefusedError"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["kafka"] == {"ready": False, "why": "ConnectionRefusedError"}
    assert answer.json()["parts"]["view"]["ready"] is True
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("asked", "status", "code", "where"),
    [
        ("GET /api/trucks/nobody", 404, "not_found", "/api/trucks/nobody"),
        ("GET /api/nothing", 404, "not_found", "/api/nothing"),
        ("GET /static/nothing.js", 404, "not_found", "/static/nothing.js"),
        ("GET /api/trucks?limit=0", 422, "invalid", "query.limit"),
        ("GET /api/trucks?status=flying", 422, "invalid", "query.status"),
        ("GET /api/windows?scope=truck", 422, "invalid", "/api/windows"),
        ("GET /api/windows?length_s=61", 422, "invalid", "query.length_s"),
        ("GET /api/windows?length_s=long", 422, "invalid", "query.length_s"),
        ("POST /api/trucks", 405, "method_not_allowed", "/api/trucks"),
    ],
)
def test_every_error_has_one_shape(client: Client, asked: str, status: int, code: str, where: str) -> None:
    method, path = asked.split()
    answer = client.request(method, path)
    assert answer.status_code == status
    error = answers.ErrorAnswer.model_validate(answer.json(), extra="forbid").error
    assert (error.code, error.where) == (code, where)
    assert error.message


def test_a_crash_has_the_same_shape(client: Client, view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "rejects", lambda **_: 1 / 0)
    answer = client.get("/api/rejects")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "ZeroDivision" not in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/api/trucks", "/static/main.js", "/nothing", "/api/keys"])
def test_every_answer_forbids_other_hosts(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert "http" not in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


MODELS: list[Any] = [
    each for each in vars(answers).values() if isinstance(each, type) and each.__module__ == answers.__name__
]


@pytest.mark.parametrize("model", [each for each in MODELS if "json_schema_extra" in each.model_config])
def test_the_documented_examples_are_true(model: Any) -> None:
    example = model.model_config["json_schema_extra"]["example"]
    assert json.loads(model.model_validate(example).model_dump_json()) == example


def test_every_answer_in_the_openapi_document_has_an_example(client: Client) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name in (
        "TruckPage",
        "TruckAnswer",
        "WindowPage",
        "RejectPage",
        "PipelineAnswer",
        "ReadyAnswer",
        "ErrorAnswer",
    ):
        assert schemas[name]["example"]


def test_the_vendored_files_are_the_pinned_ones() -> None:
    script = Path(__file__).parents[2] / "scripts" / "vendor.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_the_page_names_no_other_host() -> None:
    static = Path(__file__).parents[2] / "dashboard_api" / "static"
    for path in [*static.glob("*.html"), *static.glob("*.[jc]s*"), *static.glob("fences/*")]:
        assert "http" + "://" not in path.read_text().replace("http://www.w3.org/2000/svg", ""), path
        assert "https" + "://" not in path.read_text(), path


def test_a_filter_takes_every_status(client: Client) -> None:
    assert all(client.get("/api/trucks", params={"status": each}).status_code == 200 for each in Status)
