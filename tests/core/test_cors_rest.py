"""CORS: only listed origins, only the API, never with cookies."""

import pytest
from django.conf import LazySettings

from tests.hub import LiveHub, RestClient

LISTED, FOREIGN = "https://board.example", "https://evil.example"
PREFLIGHT = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "if-match"}


@pytest.fixture
def listed(settings: LazySettings) -> None:
    settings.CORS_ORIGINS = [LISTED]


def test_a_listed_origin_passes_the_preflight(listed: None, hub: LiveHub) -> None:
    reply = hub.http().send("OPTIONS", "/api/v1/projects/", headers={"Origin": LISTED, **PREFLIGHT})
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (204, LISTED)
    assert "PATCH" in reply.headers["access-control-allow-methods"]
    for header in ("Authorization", "If-Match", "Idempotency-Key", "Ctxhub-Agent", "Content-Type"):
        assert header in reply.headers["access-control-allow-headers"]


def test_a_listed_origin_may_read_the_answer(listed: None, ada_rest: RestClient) -> None:
    reply = ada_rest.send("GET", "/api/v1/projects/", headers={"Origin": LISTED})
    assert reply.headers["access-control-allow-origin"] == LISTED
    assert {"ETag", "Link"} <= set(reply.headers["access-control-expose-headers"].split(", "))
    assert "Origin" in reply.headers["vary"]
    assert "access-control-allow-credentials" not in reply.headers


def test_a_listed_origin_may_read_errors_too(listed: None, hub: LiveHub) -> None:
    reply = hub.http().send("GET", "/api/v1/projects/", headers={"Origin": LISTED})
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (401, LISTED)


@pytest.mark.parametrize("origin", [FOREIGN, "null", f"{LISTED}.evil.example"])
def test_another_origin_is_not_allowed(listed: None, hub: LiveHub, origin: str) -> None:
    for method in ("OPTIONS", "GET"):
        reply = hub.http().send(method, "/api/v1/projects/", headers={"Origin": origin, **PREFLIGHT})
        assert "access-control-allow-origin" not in reply.headers
        assert reply.status in (401, 405)


def test_cors_covers_only_the_api(listed: None, hub: LiveHub) -> None:
    reply = hub.http().send("GET", "/healthz", headers={"Origin": LISTED})
    assert "access-control-allow-origin" not in reply.headers


def test_no_origin_is_allowed_by_default(hub: LiveHub) -> None:
    reply = hub.http().send("OPTIONS", "/api/v1/projects/", headers={"Origin": LISTED, **PREFLIGHT})
    assert "access-control-allow-origin" not in reply.headers
