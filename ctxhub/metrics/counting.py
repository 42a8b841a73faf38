"""The counters of a process that serves HTTP. Several workers have a file each, added up when read."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from ctxhub.core.events.log import recorded
from ctxhub.core.kit.served import METERS, Served

disable_created_metrics()  # type: ignore[no-untyped-call]

# Most calls take 1 to 10 ms; a read is stopped after 5 s, a write waits up to 20 s for its turn.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 20.0)

REGISTRY = CollectorRegistry()
REQUESTS = Counter(
    "ctxhub_requests_total",
    "Requests over HTTP that were answered. outcome: ok, refused (the caller can mend it), failed (the hub).",
    ("face", "operation", "outcome"),
    registry=REGISTRY,
)
SECONDS = Histogram(
    "ctxhub_request_seconds",
    "Seconds until the answer begins, without those in which the call waited for events.",
    ("face", "operation"),
    buckets=BUCKETS,
    registry=REGISTRY,
)
TOKENS = Counter("ctxhub_tokens_served_total", "Tokens of the answers to agents.", registry=REGISTRY)
EVENTS = Counter("ctxhub_events_total", "Events that these processes recorded.", registry=REGISTRY)
WAITING = Gauge(
    "ctxhub_waiting", "Calls that wait for events.", registry=REGISTRY, multiprocess_mode="livesum"
)
STREAMS = Gauge("ctxhub_streams", "Open event streams.", registry=REGISTRY, multiprocess_mode="livesum")


class PrometheusMeter:
    def answered(self, served: Served, seconds: float) -> None:
        _requests(served.face, served.operation, served.outcome()).inc()
        _seconds(served.face, served.operation).observe(seconds)
        if served.tokens:
            TOKENS.inc(served.tokens)

    def recorded(self, events: int) -> None:
        EVENTS.inc(events)

    def waits(self, change: int) -> None:
        WAITING.inc(change)

    def streams(self, change: int) -> None:
        STREAMS.inc(change)


# `labels` takes a lock and joins texts: without it a call is counted in half the time.
@cache
def _requests(face: str, operation: str, outcome: str) -> Counter:
    return REQUESTS.labels(face, operation, outcome)


@cache
def _seconds(face: str, operation: str) -> Histogram:
    return SECONDS.labels(face, operation)


def begin_counting() -> None:
    """Count from here on."""
    if not METERS:
        METERS.append(PrometheusMeter())
        recorded.connect(_note_events)


def _note_events(count: int, **_: object) -> None:
    for meter in METERS:
        meter.recorded(count)
