"""The hub for the conformance suite, which can send no token: it is added to requests without one.

CTXHUB_TEST_TOKEN: the token. CTXHUB_TEST_FIXTURES: whether it offers what the suite calls.
"""

import os
from typing import Any

from ctxhub.asgi import application as hub

TOKEN = os.environ["CTXHUB_TEST_TOKEN"].encode()

if os.environ.get("CTXHUB_TEST_FIXTURES"):
    from tests.conformance.fixtures import install

    install()


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http" and b"authorization" not in dict(scope["headers"]):
        scope = {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + TOKEN)]}
    await hub(scope, receive, send)
