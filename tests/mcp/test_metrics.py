"""`/metrics`: what is counted of calls over both faces, what is stored, and who may read it."""

import asyncio
import http.client
import re
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from django.conf import LazySettings
from django.db import OperationalError

from ctxhub.core.kit.served import METERS, Served, at_work, note_answer
from ctxhub.core.models import Project
from ctxhub.env import BadVariable, token
from ctxhub.mcp.addresses import is_direct
from ctxhub.mcp.serving import Serving
from ctxhub.metrics.counting import PrometheusMeter
from ctxhub.metrics.stored import Stored
from tests.hub import LiveHub, McpClient, RestClient
from tests.timing import PATIENCE_SECONDS, cpu_seconds_of, wait_until

TOKEN = "a-token-for-prometheus-alone"


def told(hub: LiveHub) -> dict[str, float]:
    """The samples by name and labels, as Prometheus writes them."""
    reply = hub.http().send("GET", "/metrics", headers={"Accept": "text/plain"})
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=")
    lines = [line.rpartition(" ") for line in reply.body.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


async def _send_nothing(_: object) -> None:
    pass


class Counted:
    """What was added to the samples since it was made."""

    def __init__(self, hub: LiveHub) -> None:
        self._hub, self._before = hub, told(hub)

    def of(self, name: str, **labels: str) -> float:
        shown = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        sample = f"{name}{{{shown}}}" if labels else name
        return told(self._hub).get(sample, 0) - self._before.get(sample, 0)

    def requests(self, face: str, operation: str, outcome: str = "ok") -> float:
        return self.of("ctxhub_requests_total", face=face, operation=operation, outcome=outcome)


@pytest.fixture
def counted(hub: LiveHub) -> Counted:
    return Counted(hub)


def test_calls_are_counted_by_face_and_operation(
    counted: Counted, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    ada_mcp.call("decision", "set", key="k", value="v")
    ada_rest.get("decisions/k/")
    ada_rest.get("decisions/k/")
    assert counted.requests("mcp", "decision.set") == 1
    assert counted.requests("rest", "decision.get") == 2
    assert counted.of("ctxhub_request_seconds_count", face="rest", operation="decision.get") == 2
    assert counted.of("ctxhub_request_seconds_bucket", face="mcp", operation="decision.set", le="+Inf") == 1
    assert counted.of("ctxhub_tokens_served_total") > 20
    assert counted.of("ctxhub_events_total") == 1


def test_outcomes_tell_who_can_mend_it(
    counted: Counted, hub: LiveHub, ada_mcp: McpClient, ada_rest: RestClient
) -> None:
    ada_mcp.call("decision", "set")
    ada_mcp.call("no_such_tool")
    ada_mcp.rpc("no/such")
    ada_rest.get("decisions/", nothing=1)
    hub.http().send("POST", "/mcp", {})
    assert counted.requests("mcp", "decision.set", "refused") == 1
    assert counted.requests("mcp", "unknown", "refused") == 3, "no name that a client makes up is a label"
    assert counted.requests("rest", "decision.list", "refused") == 1


def test_methods_pages_and_probes_are_counted(counted: Counted, hub: LiveHub, ada_mcp: McpClient) -> None:
    ada_mcp.tools()
    hub.http().send("GET", "/admin/login/")
    hub.http().send("GET", "/healthz")
    assert counted.requests("mcp", "tools/list") == 1
    assert counted.requests("admin", "page") == 1
    assert counted.requests("probe", "healthz") == 1


def test_a_call_that_waits_is_counted_while_it_does(
    counted: Counted, hub: LiveHub, ada_token: str, ben_mcp: McpClient
) -> None:
    wait = partial(hub.mcp(ada_token).call, "hub", "wait", wait_seconds=50)
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    wait_until(lambda: counted.of("ctxhub_waiting") == 1)
    ben_mcp.call("decision", "set", key="k", value="v")
    waiting.join(PATIENCE_SECONDS)
    assert counted.of("ctxhub_waiting") == 0
    assert counted.requests("mcp", "hub.wait") == 1


def test_seconds_are_without_those_in_which_a_call_waits() -> None:
    class Noted(PrometheusMeter):
        def answered(self, served: Served, seconds: float) -> None:
            noted.append(seconds)

    async def answer() -> None:
        scope = {"type": "http", "path": "/mcp", "headers": []}
        with Serving(scope, _send_nothing) as serving:
            served = at_work.get()
            assert served
            served.waited = 1_000
            await serving.send({"type": "http.response.start", "status": 200})

    noted: list[float] = []
    METERS.append(Noted())
    asyncio.run(answer())
    METERS.pop()
    assert noted[0] < 0


def test_open_streams_are_counted(counted: Counted, hub: LiveHub, ada_token: str) -> None:
    connection_of_reader = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    headers = {"Authorization": f"Bearer {ada_token}", "Accept": "text/event-stream"}
    connection_of_reader.request("GET", "/api/v1/projects/apollo/events/", headers=headers)
    assert connection_of_reader.getresponse().status == 200
    wait_until(lambda: counted.of("ctxhub_streams") == 1)
    connection_of_reader.close()
    wait_until(lambda: counted.of("ctxhub_streams") == 0)


def test_rows_and_bytes_are_those_of_the_database(apollo: Project, ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="k", value="v")
    ada_mcp.call("constraint", "add", category="c", text="t")
    size, rows = Stored().collect()
    assert size.samples[0].value > 100_000
    counts = {sample.labels["noun"]: sample.value for sample in rows.samples}
    assert (counts["decision"], counts["constraint"], counts["memory"]) == (1, 1, 0)
    assert counts["event"] >= 2


def test_without_its_database_the_hub_tells_what_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> Iterator[None]:
        raise OperationalError("away")

    monkeypatch.setattr("ctxhub.metrics.stored._bytes", away)
    assert list(Stored().collect()) == []


def test_it_costs_less_than_a_hundredth_of_a_call(ada_mcp: McpClient) -> None:
    async def answer_100() -> None:
        scope = {"type": "http", "path": "/mcp", "headers": [(b"host", b"localhost")] * 6}
        for _ in range(100):
            with Serving(scope, _send_nothing) as serving:
                note_answer("decision.set", 50, is_error=False, is_again=False)
                await serving.send({"type": "http.response.start", "status": 200})

    def call_100() -> None:
        for number in range(100):
            ada_mcp.call("decision", "set", key=f"k{number}", value="v")

    counting = min(cpu_seconds_of(lambda: asyncio.run(answer_100())) for _ in range(5))
    assert counting < cpu_seconds_of(call_100) / 100


# -- Who may read them -----------------------------------------------------------------------------


def status(hub: LiveHub, **headers: str) -> int:
    return hub.http().send("GET", "/metrics", headers=headers).status


@pytest.mark.one_engine
def test_this_machine_may_read_them_without_a_proxy(hub: LiveHub, settings: LazySettings) -> None:
    assert status(hub) == 200
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Prefix"):
        assert status(hub, **{header: "127.0.0.1"}) == 403, header
    settings.BEHIND_PROXY = True
    assert status(hub) == 403
    assert status(hub, **{"X-Forwarded-For": "127.0.0.1"}) == 403


@pytest.mark.one_engine
def test_who_has_the_token_may_read_them(hub: LiveHub, settings: LazySettings, ada_token: str) -> None:
    settings.BEHIND_PROXY, settings.METRICS_TOKEN = True, TOKEN
    assert status(hub, Authorization=f"Bearer {TOKEN}") == 200
    for wrong in (f"{TOKEN}x", "", ada_token):
        reply = hub.http().send("GET", "/metrics", headers={"Authorization": f"Bearer {wrong}"})
        assert (reply.status, reply.body["error"]) == (401, "not_allowed")
        assert "www-authenticate" in reply.headers
    assert status(hub) == 401


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("address", "may"),
    [("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True), ("10.0.0.1", False), ("", False)],
)
def test_an_address_of_another_machine_may_not(address: str, may: bool) -> None:
    assert is_direct({"REMOTE_ADDR": address}, {}) is may


@pytest.mark.one_engine
def test_metrics_are_read_only_and_not_kept(hub: LiveHub) -> None:
    reply = hub.http().send("GET", "/metrics")
    assert reply.headers["cache-control"] == "no-store"
    assert hub.http().send("POST", "/metrics").status == 405


@pytest.mark.one_engine
@pytest.mark.parametrize("weak", ["short", "x" * 19, "ümläute-und-noch-mehr-davon"])
def test_a_weak_token_stops_the_hub_and_is_not_repeated(monkeypatch: pytest.MonkeyPatch, weak: str) -> None:
    monkeypatch.setenv("CTXHUB_METRICS_TOKEN", weak)
    with pytest.raises(BadVariable, match=r"^CTXHUB_METRICS_TOKEN cannot be used") as caught:
        token("CTXHUB_METRICS_TOKEN")
    assert weak not in str(caught.value)


def test_the_names_are_those_of_the_documents(hub: LiveHub, ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "list")
    names = {re.split(r"[{ ]", sample)[0] for sample in told(hub)}
    assert {
        "ctxhub_requests_total",
        "ctxhub_request_seconds_bucket",
        "ctxhub_tokens_served_total",
        "ctxhub_events_total",
        "ctxhub_waiting",
        "ctxhub_streams",
        "ctxhub_db_bytes",
        "ctxhub_rows",
    } <= names
    assert len(METERS) == 1
