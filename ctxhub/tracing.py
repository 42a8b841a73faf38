"""Traces for OpenTelemetry, where its variables name a collector: calls, statements, waits to write.

They hold names of operations, ids of requests and statements without their values: no text of a call, no
address, no message of an error.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db.backends.signals import connection_created

from ctxhub import __version__
from ctxhub.core.kit.served import LOCK_WAIT, TRACERS, Served

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
NO_EXTRA = "%s is set, but what sends traces is not installed: pip install -c constraints.txt '.[otel]'"
MILLISECONDS_TO_SEND = 2_000
_LOCK = "pg_advisory_xact_lock"
_PARENT = (b"traceparent", b"tracestate")

logger = logging.getLogger(__name__)


class OtelTracer:
    """Errors are marked without their messages, which may repeat what a call sent."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry import propagate, trace

        self._provider, self._trace, self._propagate = provider, trace, propagate
        self._tracer = provider.get_tracer("ctxhub", __version__)

    @contextmanager
    def request(self, served: Served, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[None]:
        if served.face == "probe":
            yield
            return
        sent = {name.decode(): value.decode("latin-1") for name, value in headers if name in _PARENT}
        with self._span(served.face, self._trace.SpanKind.SERVER, self._propagate.extract(sent)) as span:
            try:
                yield
            finally:
                span.update_name(f"{served.face} {served.operation}")
                outcome = served.outcome()
                if outcome == "failed":
                    span.set_status(self._trace.StatusCode.ERROR)
                said = {"face": served.face, "operation": served.operation, "outcome": outcome}
                told = {f"ctxhub.{name}": value for name, value in {**said, "request_id": served.id}.items()}
                span.set_attributes({**told, "http.response.status_code": served.status})

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        if not self._trace.get_current_span().is_recording():
            yield
            return
        with self._span(name, self._trace.SpanKind.INTERNAL):
            yield

    def statement(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        """A wrapper of Django's cursors."""
        if not self._trace.get_current_span().is_recording():
            return execute(sql, params, many, context)
        text = str(sql)
        name = LOCK_WAIT if _LOCK in text else text.split(None, 1)[0].upper()
        with self._span(name, self._trace.SpanKind.CLIENT) as span:
            system = "postgresql" if context["connection"].vendor == "postgresql" else "sqlite"
            span.set_attributes({"db.system.name": system, "db.query.text": text})
            return execute(sql, params, many, context)

    def end(self) -> None:
        """Send what waits, as far as the collector takes it at once."""
        self._provider.force_flush(MILLISECONDS_TO_SEND)

    def watch(self, connection: Any, **_: object) -> None:
        """Hear of the statements of a new connection."""
        if self.statement not in connection.execute_wrappers:
            connection.execute_wrappers.append(self.statement)

    @contextmanager
    def _span(self, name: str, kind: Any, context: Any = None) -> Iterator[Any]:
        with self._tracer.start_as_current_span(
            name, context, kind, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except Exception:
                span.set_status(self._trace.StatusCode.ERROR)
                raise


def begin_tracing() -> None:
    """Trace the calls of this process from here on, if OpenTelemetry's variables ask for it."""
    named = next((name for name in ENDPOINTS if os.environ.get(name)), "")
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if not named or is_off or os.environ.get("OTEL_TRACES_EXPORTER", "").strip() == "none" or TRACERS:
        return
    try:
        provider = _provider()
    except ImportError:
        logger.warning(NO_EXTRA, named)
        return
    tracer = OtelTracer(provider)
    TRACERS.append(tracer)
    connection_created.connect(tracer.watch)


def _provider() -> "TracerProvider":
    """Sends in the background to the collector that the variables name, over HTTP."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or "ctxhub"
    resource = Resource.create({"service.name": name, "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
