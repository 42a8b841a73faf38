"""Traces: what a hub sends to the collector that OpenTelemetry's variables name, and what it does not."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ctxhub.core.kit.served import TRACERS
from ctxhub.tracing import begin_tracing
from tests.core.command_line import Installation, Server, migrated_installation
from tests.timing import wait_until

PRIVATE = "a-private-text-of-a-body"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector:
    """An HTTP server that takes traces, and holds their spans."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.texts = b""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, body: bytes) -> None:
        self.texts += body
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {
                each.value.string_value
                for each in of_resource.resource.attributes
                if each.key == "service.name"
            }
            self.spans += [span for scope in of_resource.scope_spans for span in scope.spans]

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def below(self, parent: Any) -> list[str]:
        return [span.name for span in self.spans if span.parent_span_id == parent.span_id]


def said(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever, daemon=True)
    thread.start()
    yield collector
    collector.server.shutdown()
    thread.join()


@contextmanager
def traced(at: Installation, collector: Collector) -> Iterator[Server]:
    at.environment.update(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_BSP_SCHEDULE_DELAY="100")
    with at.serving("--port", "0") as server:
        yield server


@pytest.fixture
def at(django_db_setup: None) -> Iterator[Installation]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        yield at


def test_a_call_its_statements_and_its_wait_to_write_are_traced(at: Installation) -> None:
    token = (at.folder / "setup_token").read_text()
    with collecting() as collector, traced(at, collector) as server:
        mcp, rest = server.hub.mcp(token), server.hub.rest(token, project="demo")
        mcp.headers["traceparent"] = PARENT
        mcp.call("decision", "set", key="k", value=PRIVATE, rationale=PRIVATE)
        mcp.call("decision", "set", key=PRIVATE)
        rest.send("GET", "/api/v1/projects/demo/decisions/k/", headers={"X-Request-ID": "r-1"})
        rest.get("decisions/", q=PRIVATE)
        server.hub.http().send("GET", "/healthz")
        wait_until(lambda: collector.named("rest decision.get") and collector.named("mcp decision.set"))
    first, refused = collector.named("mcp decision.set")
    assert first.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert first.parent_span_id.hex() == "b7ad6b7169203331"
    names = [*collector.below(first)]
    assert "wait for a write slot" in names
    assert "wait for the write lock" in names
    assert "INSERT" in names or "WITH" in names
    assert said(refused)["ctxhub.outcome"] == "refused"
    [get] = collector.named("rest decision.get")
    assert said(get) == {
        "ctxhub.face": "rest",
        "ctxhub.operation": "decision.get",
        "ctxhub.outcome": "ok",
        "ctxhub.request_id": "r-1",
        "http.response.status_code": 200,
    }
    assert "SELECT" in collector.below(get)
    assert collector.services == {"ctxhub"}
    assert [span for span in collector.spans if "healthz" in span.name] == []
    assert PRIVATE.encode() not in collector.texts
    assert token.strip().encode() not in collector.texts


@pytest.mark.one_engine
def test_spans_that_wait_are_sent_when_the_hub_ends(at: Installation) -> None:
    at.environment["OTEL_SERVICE_NAME"] = "our-hub"
    with collecting() as collector:
        with traced(at, collector) as server:
            at.environment["OTEL_BSP_SCHEDULE_DELAY"] = "60000"
        with at.serving("--port", "0") as server:
            server.hub.http().send("GET", "/admin/login/")
        assert collector.named("admin page")
        assert collector.services == {"our-hub"}


@pytest.mark.one_engine
def test_a_collector_that_is_away_stops_nothing(at: Installation) -> None:
    at.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:9"
    with at.serving("--port", "0") as server:
        assert server.hub.http().send("GET", "/healthz").status == 200


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_traced_unless_a_collector_is_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    begin_tracing()
    assert TRACERS == []


@pytest.mark.one_engine
def test_without_the_extra_the_hub_serves_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing() -> None:
        raise ImportError

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost")
    monkeypatch.setattr("ctxhub.tracing._provider", missing)
    begin_tracing()
    assert TRACERS == []
    assert "pip install -c constraints.txt '.[otel]'" in caplog.text
