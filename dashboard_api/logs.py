"""One JSON object per line, with the id of the request that it is about."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime

from schemas.models import as_rfc3339

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
# What a caller added by `extra=`: whatever a plain record has not.
USUAL = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": as_rfc3339(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := REQUEST_ID.get():
            line["request_id"] = request_id
        line |= {name: value for name, value in vars(record).items() if name not in USUAL}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def log_as_json(level: str) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler])
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    logging.getLogger("alembic").setLevel(logging.WARNING)
