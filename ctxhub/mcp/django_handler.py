"""Answers a request with Django in one visit to a thread."""

from collections.abc import MutableMapping
from io import BytesIO
from typing import Any

from django.core import signals
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import HttpResponseBase
from django.urls import set_script_prefix

Message = MutableMapping[str, Any]


class DjangoHandler(ASGIHandler):
    """Runs middleware and views, which are all synchronous, one after the other in the calling thread.

    Django's own handler goes back to the event loop and to the thread again for the signals, the view and the
    end of a request. Among 32 clients each of these ways waited for the interpreter: a `get` over REST took
    two to three times as long as over MCP.
    """

    def __init__(self) -> None:
        self.load_middleware(is_async=False)

    def answer(self, scope: MutableMapping[str, Any], body: bytes) -> list[Message]:
        """The messages of the response: its start and its whole body."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=type(self), scope=scope)
        request, refusal = self.create_request(scope, BytesIO(body))
        response: Any = self.get_response(request) if request is not None else refusal
        response._handler_class = type(self)  # The sender of Django's signal at the end.
        try:
            return [_start(response), {"type": "http.response.body", "body": _content(response)}]
        finally:
            response.close()


def _start(response: HttpResponseBase) -> Message:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers += [
        (b"Set-Cookie", cookie.OutputString().encode("ascii")) for cookie in response.cookies.values()
    ]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


def _content(response: Any) -> bytes:
    """Files and other streams are small here, and read whole."""
    return b"".join(response) if response.streaming else response.content
