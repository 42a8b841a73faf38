"""The id of a request: taken from `X-Request-ID` or made, told in the answer, in errors and in the log."""

import http.client
import json
import logging
from typing import Any

import pytest

from ctxhub.core.kit.log_lines import JsonFormatter, LineFormatter
from ctxhub.core.kit.served import Served, at_work, id_of
from tests.hub import LiveHub

pytestmark = pytest.mark.one_engine

SENT = "Root=1-67891233-abcdef012345678912345678"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


def ask(
    hub: LiveHub, method: str, path: str, body: Any = None, token: str = "", **headers: str
) -> tuple[int, str, Any]:
    """The status, the id in the header, and the body as it was sent."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    sent |= {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, None if body is None else json.dumps(body), sent)
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, answer.headers["X-Request-ID"], json.loads(text) if text[:1] in b"{[" else text


@pytest.mark.parametrize(
    "path", ["/healthz", "/admin/login/", "/mcp", "/api/v1/me/", "/nowhere", "/static/x"]
)
def test_every_answer_has_the_id_that_was_sent(hub: LiveHub, path: str) -> None:
    assert ask(hub, "GET", path, **{"X-Request-ID": SENT})[1] == SENT


def test_each_request_without_one_gets_its_own(hub: LiveHub) -> None:
    ids = {ask(hub, "GET", "/healthz")[1] for _ in range(3)}
    assert len(ids) == 3
    assert {len(each) for each in ids} == {32}


@pytest.mark.parametrize("sent", ["", "x" * 129, "a b", 'a"b', "<b>", "é", "a\u202e", "a\nb"])
def test_one_that_is_not_plausible_is_replaced(sent: str) -> None:
    assert len(id_of(sent)) == 32
    assert id_of(sent) != id_of(sent)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/v1/me/", 401), ("GET", "/api/nowhere/", 404), ("GET", "/.well-known/x", 404)],
)
def test_errors_of_rest_have_it(hub: LiveHub, method: str, path: str, status: int) -> None:
    found, told, body = ask(hub, method, path)
    assert (found, body["request_id"]) == (status, told)


def test_errors_of_mcp_have_it_in_their_data(hub: LiveHub, ada_token: str) -> None:
    for token, body in (("", CALL), (ada_token, CALL), (ada_token, {**CALL, "method": 1})):
        _, told, answer = ask(hub, "POST", "/mcp", body, token)
        assert answer["error"]["data"]["request_id"] == told


def test_a_refused_call_has_it_beside_the_text_that_a_model_reads(hub: LiveHub, ada_token: str) -> None:
    call = {**CALL, "params": {"name": "decision", "arguments": {"action": "set"}}}
    _, told, answer = ask(hub, "POST", "/mcp", call, ada_token)
    assert answer["result"]["isError"]
    assert answer["result"]["_meta"]["ctxhub/http_request_id"] == told
    assert told not in answer["result"]["content"][0]["text"]


def test_of_two_ids_none_is_believed(hub: LiveHub) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.putrequest("GET", "/healthz")
    for each in ("first", "second"):
        connection.putheader("X-Request-ID", each)
    connection.endheaders()
    assert connection.getresponse().headers["X-Request-ID"] not in ("first", "second")


# -- In the log ------------------------------------------------------------------------------------


def record(message: str, *args: Any, name: str = "ctxhub", error: BaseException | None = None) -> Any:
    raised = (type(error), error, None) if error else None
    return logging.LogRecord(name, logging.WARNING, "x.py", 1, message, args, raised)


def test_a_line_has_the_id_of_the_request_that_wrote_it() -> None:
    formatter = LineFormatter("{levelname} {name}{of_request}: {message}", style="{")
    assert formatter.format(record("odd")) == "WARNING ctxhub: odd"
    token = at_work.set(Served("r-1"))
    assert formatter.format(record("odd")) == "WARNING ctxhub [r-1]: odd"
    assert json.loads(JsonFormatter().format(record("odd")))["request_id"] == "r-1"
    at_work.reset(token)


class Kept(logging.Handler):
    """Keeps what its formatter makes of records, in the context of who logs them."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def test_the_id_in_the_log_of_a_request_is_that_of_its_answer(hub: LiveHub) -> None:
    kept, logger = Kept(), logging.getLogger("django.request")
    logger.addHandler(kept)
    _, told, _ = ask(hub, "GET", "/api/nowhere/")
    logger.removeHandler(kept)
    assert [json.loads(line).get("request_id") for line in kept.lines] == [told]


def test_a_record_as_json() -> None:
    line = JsonFormatter().format(
        record("%s of\nthem", "ctx_GNqElolN1q2KPhlzr7gfsbMlFasefCWfw1ALELfV", error=ValueError("a bug"))
    )
    assert "\n" not in line
    told = json.loads(line)
    assert (told["level"], told["logger"]) == ("WARNING", "ctxhub")
    assert told["message"] == "[credential: ctxhub token] of\nthem"
    assert told["traceback"] == "ValueError: a bug"
    assert told["at"].endswith("+00:00")


def test_the_access_log_as_json_has_fields() -> None:
    line = JsonFormatter().format(
        record('%s - "%s %s HTTP/%s" %d', "127.0.0.1:5", "GET", "/x?a=1", "1.1", 200, name="uvicorn.access")
    )
    told = json.loads(line)
    assert (told["client"], told["method"], told["path"]) == ("127.0.0.1:5", "GET", "/x?a=1")
    assert told["status"] == 200


def test_a_traceback_leaves_out_the_values_that_postgresql_repeats() -> None:
    cause = ValueError("it fails\nDETAIL:  Failing row contains (1, private\nprivate).\nCONTEXT:  private")
    error = RuntimeError('it fails\nLINE 1: INSERT ... VALUES ("private")\n     ^')
    error.__cause__ = cause
    for formatter in (LineFormatter("{message}", style="{"), JsonFormatter()):
        line = formatter.format(record("failed", error=error))
        assert "private" not in line
        assert "ValueError: it fails" in line
        assert "RuntimeError: it fails" in line
