"""What a served hub logs: JSON if that is asked for, and never a token, a cookie or a body."""

import http.client
import json
from collections.abc import Iterator

import pytest

from tests.core.command_line import Server, migrated_installation
from tests.hub import LiveHub

pytestmark = pytest.mark.one_engine

PRIVATE = "a-private-text-of-a-body"
COOKIE = "a-private-cookie-0123456789"
PASSWORD = "a-private-password"


@pytest.fixture(scope="module", params=["text", "json"])
def served(request: pytest.FixtureRequest, django_db_setup: None) -> Iterator[Server]:
    """A server that logs all it can, and was called in many ways."""
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        at.environment.update(CTXHUB_LOG_LEVEL="DEBUG", CTXHUB_LOG_FORMAT=request.param)
        with at.serving("--port", "0") as server:
            call_in_many_ways(server.hub, (at.folder / "setup_token").read_text())
            yield server


def call_in_many_ways(hub: LiveHub, token: str) -> None:
    value = {"key": "k", "value": PRIVATE, "rationale": PRIVATE}
    hub.mcp(token).call("decision", "set", **value)
    hub.mcp(token).call("decision", "set", nothing=PRIVATE)
    hub.mcp(token).rpc("no/such", value)
    hub.http(f"{token}x").send("POST", "/mcp", value)
    rest = hub.rest(token, project="demo")
    assert rest.put("decisions/k/", {"value": f"{PRIVATE} 2"}).status in (200, 201)
    assert rest.post("decisions/", {"unknown": PRIVATE}).status == 400
    assert rest.post("decisions/", f'{{"{PRIVATE}'.encode()).status == 400
    assert rest.get("decisions/", token=token).status == 400
    signed = {"Cookie": f"sessionid={COOKIE}; csrftoken={COOKIE}"}
    hub.http().send("GET", "/admin/", headers=signed)
    form = {**signed, "Content-Type": "application/x-www-form-urlencoded"}
    for _ in range(6):
        hub.http().send("POST", "/admin/login/", f"username=ada&password={PASSWORD}".encode(), headers=form)


def test_no_token_cookie_or_body_is_logged(served: Server) -> None:
    log, token = served.log.read_text(), (served.log.parent / "setup_token").read_text().strip()
    assert "/api/v1/projects/demo/decisions/" in log
    for private in (token, token.removeprefix("ctx_"), PRIVATE, COOKIE, PASSWORD, "csrftoken"):
        assert private not in log, private


def test_the_lines_of_a_request_have_its_id(served: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.hub.port, timeout=60)
    connection.request("GET", "/api/v1/nowhere/", headers={"X-Request-ID": "from-the-proxy-1"})
    connection.getresponse().read()
    lines = [line for line in served.log.read_text().splitlines() if "from-the-proxy-1" in line]
    assert len(lines) == 2, "of Django, and of uvicorn's access log"
    if lines[0].startswith("{"):
        access = json.loads(next(line for line in lines if "uvicorn.access" in line))
        assert (access["request_id"], access["path"]) == ("from-the-proxy-1", "/api/v1/nowhere/")
        assert (access["method"], access["status"], access["level"]) == ("GET", 404, "INFO")


def test_every_line_is_json_where_it_is_asked_for(served: Server) -> None:
    lines = [line for line in served.log.read_text().splitlines() if not line.startswith("Note: ")]
    if lines[0].startswith("{"):
        assert {"at", "level", "logger", "message"} <= set.intersection(*(set(json.loads(x)) for x in lines))
