"""Asks the dashboard over HTTP."""

import http.client
import json
from typing import Any

from local_stack.ports import HOST


def get(port: int, path: str) -> Any:
    """The JSON answer of a 200, else None. Not urllib: that would send this through a proxy of the environment."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return json.loads(body) if response.status == http.client.OK else None
