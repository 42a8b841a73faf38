"""The formats of the log: a record as a line of text, or as a JSON object. No credential is in any.

Characters that nobody sees are marked: some of them end a line, or turn its direction. What PostgreSQL says
of an error beyond its first line is left out: there it repeats the values of a row or of a statement.
"""

import copy
import json
import logging
import re
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from ctxhub.core.kit.served import ID, request_id
from ctxhub.core.text.invisible import marked
from ctxhub.core.text.secrets import mask_secrets

ACCESS = "uvicorn.access"
_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_VALUES = re.compile(
    r"\n(?:LINE \d+|DETAIL|HINT|CONTEXT|QUERY):.*?(?=\n\n(?:The above exception|During handling)|\Z)", re.S
)


class LineFormatter(logging.Formatter):
    """A line for each record, a traceback for failures.

    Masks credentials everywhere: in addresses of the access log, messages and tracebacks.
    A request that was refused (403, 404, ...) is no failure of the hub, and has no traceback.
    `of_request`: the id of the request in brackets, "" outside of one.
    """

    def format(self, record: logging.LogRecord) -> str:
        record = _without_refusal(record)
        told = request_id()
        record.of_request = f" [{told}]" if told else ""
        return _clean(super().format(record))

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802
        return _VALUES.sub("", super().formatException(ei))


class JsonFormatter(LineFormatter):
    """A JSON object for each record: at (UTC), level, logger, message, and as far as there are any
    request_id, traceback, and of the access log client, method, path and status.
    """

    def format(self, record: logging.LogRecord) -> str:
        record = _without_refusal(record)
        fields = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            ID: request_id(),
            **_of_access(record),
            "traceback": self.formatException(record.exc_info) if record.exc_info else "",
        }
        told = {name: _clean(value) if isinstance(value, str) else value for name, value in fields.items()}
        return json.dumps({name: value for name, value in told.items() if value != ""}, ensure_ascii=False)


def _without_refusal(record: logging.LogRecord) -> logging.LogRecord:
    """A copy of the record, without the traceback of a request that was refused."""
    record = copy.copy(record)
    if getattr(record, "status_code", 500) < 500:
        record.exc_info = record.exc_text = None
    return record


def _of_access(record: logging.LogRecord) -> dict[str, Any]:
    """What uvicorn says of a request: client, method, path, version of HTTP, status."""
    if record.name != ACCESS or not isinstance(record.args, tuple) or len(record.args) != 5:
        return {}
    client, method, path, _, status = record.args
    return {"client": client, "method": method, "path": path, "status": status}


def _clean(text: str) -> str:
    return marked(mask_secrets(text)[0])
