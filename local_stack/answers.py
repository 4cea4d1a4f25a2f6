"""Asks the dashboard over HTTP, with the key that it keeps in the data folder."""

import http.client
import json
from pathlib import Path
from typing import Any

from local_stack.ports import HOST

KEY_FILE = "admin.key"


def get(port: int, path: str, key: str = "") -> Any:
    """The JSON answer of a success, else None."""
    return ask("GET", port, path, key)


def ask(method: str, port: int, path: str, key: str, body: Any = None) -> Any:
    """Not by urllib: that would send this through a proxy of the environment."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        answer = response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return json.loads(answer) if response.status in (http.client.OK, http.client.CREATED) else None


def key_in(data: Path) -> str:
    """The admin's key; empty where the dashboard has not made it yet."""
    path = data / KEY_FILE
    return path.read_text().strip() if path.is_file() else ""


def login_link(port: int, key: str) -> str:
    """An address that logs a browser in once, within ten minutes; the plain one where the dashboard gives none."""
    link = ask("POST", port, "/api/links", key, {"role": "admin"})
    return f"http://{HOST}:{port}{link['path'] if link else ''}"
