"""The HTTP request that is being answered: its id, and what meters count of it. Over stdio there is none."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from random import getrandbits
from time import perf_counter
from typing import Any, Protocol

ID_HEADER = "X-Request-ID"
ID = "request_id"
UNKNOWN = "unknown"
# As proxies make them: UUIDs, hexadecimal numbers, those of Amazon with "Root=1-...".
_PLAUSIBLE = re.compile(r"[A-Za-z0-9._:=+/@-]{1,128}")


@dataclass(slots=True, eq=False)
class Served:
    """A request to this process while it is answered.

    `face`: mcp, rest, admin (all other pages) or probe. `operation`: of the tools, else of MCP or the
    address; of several in one request the last. `tokens`: those of its answers. `waited`: seconds in which it
    had no thread, since it waited for events.
    """

    id: str
    face: str = ""
    operation: str = UNKNOWN
    tokens: int = 0
    waited: float = 0.0
    status: int = 0
    is_refused: bool = False
    has_failed: bool = False

    def outcome(self) -> str:
        if self.has_failed or self.status >= 500:
            return "failed"
        return "refused" if self.is_refused or self.status >= 400 else "ok"


class Meter(Protocol):
    """Counts what happens in this process."""

    def answered(self, served: Served, seconds: float) -> None:
        """A request was answered, or its stream has begun, so many seconds after it came."""

    def recorded(self, events: int) -> None: ...

    def waits(self, change: int) -> None: ...

    def streams(self, change: int) -> None: ...


class Tracer(Protocol):
    """Tells where the time of a request goes."""

    def request(
        self, served: Served, headers: Iterable[tuple[bytes, bytes]]
    ) -> AbstractContextManager[object]: ...

    def step(self, name: str) -> AbstractContextManager[object]: ...

    def end(self) -> None:
        """Send what waits: the process ends."""


# Both are empty but in a process that serves HTTP; at most one traces.
METERS: list[Meter] = []
TRACERS: list[Tracer] = []
SLOT_WAIT, LOCK_WAIT = "wait for a write slot", "wait for the write lock"

at_work: ContextVar[Served | None] = ContextVar("ctxhub_served", default=None)


def id_of(sent: str) -> str:
    """The id that a proxy or a client has sent, if it is plausible, else a new one."""
    if sent and _PLAUSIBLE.fullmatch(sent):
        return sent
    return f"{getrandbits(128):032x}"  # No secret; asking the kernel for one took longer than all the rest.


def request_id() -> str:
    """The id of the request that is being answered; "" outside of one."""
    served = at_work.get()
    return served.id if served else ""


def identified(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an error with the id of its request, by which the log has what belongs to it."""
    told = request_id()
    return {**body, ID: told} if told else dict(body)


# -- What is counted of it -------------------------------------------------------------------------


def note_method(method: str) -> None:
    """Note what is asked for, as far as no operation of the tools tells it better."""
    if served := at_work.get():
        served.operation = method


def note_answer(operation: str, tokens: int, *, is_error: bool, is_again: bool) -> None:
    """Note what a call answers. `is_again`: it was run again, and its earlier answer is not sent."""
    if served := at_work.get():
        served.operation = operation
        served.tokens = tokens if is_again else served.tokens + tokens
        served.is_refused = is_error


def note_refusal() -> None:
    """Note an error that has no status of HTTP."""
    if served := at_work.get():
        served.is_refused = True


def note_failure() -> None:
    if served := at_work.get():
        served.has_failed = True


def step(name: str) -> AbstractContextManager[object]:
    """A part of the request at work that may take long."""
    return TRACERS[0].step(name) if TRACERS else nullcontext()


@contextmanager
def waiting() -> Iterator[None]:
    """A call waits for events meanwhile."""
    began, served = perf_counter(), at_work.get()
    for meter in METERS:
        meter.waits(1)
    try:
        yield
    finally:
        for meter in METERS:
            meter.waits(-1)
        if served:
            served.waited += perf_counter() - began


@contextmanager
def streaming() -> Iterator[None]:
    """A stream of events is open meanwhile."""
    for meter in METERS:
        meter.streams(1)
    try:
        yield
    finally:
        for meter in METERS:
            meter.streams(-1)
