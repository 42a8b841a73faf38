"""Django answers a request in the calling thread, from its signal at the beginning to that at the end."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started

from ctxhub.mcp.django_handler import DjangoHandler

pytestmark = [pytest.mark.django_db, pytest.mark.one_engine]


@pytest.fixture
def signals() -> Iterator[list[tuple[str, int]]]:
    """The signals of requests, each with the thread that it came from."""
    seen: list[tuple[str, int]] = []

    def note_start(**_: Any) -> None:
        seen.append(("started", threading.get_ident()))

    def note_end(**_: Any) -> None:
        seen.append(("finished", threading.get_ident()))

    request_started.connect(note_start)
    request_finished.connect(note_end)
    yield seen
    request_started.disconnect(note_start)
    request_finished.disconnect(note_end)


def answer(path: str, method: str = "GET", body: bytes = b"", query: bytes = b"") -> Any:
    headers = [(b"host", b"localhost"), (b"content-length", str(len(body)).encode())]
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": headers}
    start, whole = DjangoHandler().answer(scope, body)
    return start["status"], dict(start["headers"]), whole["body"]


def test_a_request_begins_and_ends_in_the_calling_thread(signals: list[tuple[str, int]]) -> None:
    status, headers, body = answer("/healthz")
    assert (status, body) == (200, b'{"status": "ok"}')
    assert headers[b"Content-Length"] == str(len(body)).encode()
    assert signals == [("started", threading.get_ident()), ("finished", threading.get_ident())]


def test_a_request_that_fails_ends_too(signals: list[tuple[str, int]]) -> None:
    assert answer("/no/such/page")[0] == 404
    assert answer("/api/v1/projects/", "POST", b"{}")[0] == 401
    assert [name for name, _ in signals] == ["started", "finished"] * 2


def test_cookies_and_streams_are_in_the_answer() -> None:
    _, headers, _ = answer("/admin/login/")
    assert headers[b"Set-Cookie"].startswith(b"csrftoken=")
    status, _, style = answer("/static/unfold/css/styles.css")
    assert (status, len(style) > 10_000) == (200, True)
