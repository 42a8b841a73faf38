"""Proxy headers are believed only with a proxy in front; a header that came twice is refused."""

import socket
from typing import Any

import pytest
from django.conf import LazySettings
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from ctxhub.mcp.addresses import IS_FORWARDED, counted_address, prefix_of, take_proxy_headers
from tests.hub import LiveHub

pytestmark = pytest.mark.one_engine

MADE_UP = [
    (b"host", b"localhost"),
    (b"x-forwarded-for", b"192.0.2.66"),
    (b"x-forwarded-proto", b"https"),
    (b"x-forwarded-host", b"evil.example"),
    (b"forwarded", b"for=192.0.2.66;proto=https"),
]


def taken(headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    scope = {"client": ("127.0.0.1", 5), "scheme": "http", "headers": headers}
    take_proxy_headers(scope)
    return scope


def test_without_a_proxy_its_headers_are_removed_and_not_believed() -> None:
    assert taken(MADE_UP) == {
        "client": ("127.0.0.1", 5),
        "scheme": "http",
        "headers": [(b"host", b"localhost")],
        IS_FORWARDED: True,
    }


@pytest.mark.parametrize(
    ("values", "believed"),
    [
        ([b"192.0.2.1"], "192.0.2.1"),
        ([b"198.51.100.9, 192.0.2.1"], "192.0.2.1"),
        ([b"198.51.100.9", b"192.0.2.1"], "192.0.2.1"),
        ([b"192.0.2.1:4711"], "192.0.2.1"),
        ([b"[2001:db8::1]:4711"], "2001:db8::1"),
        ([b"2001:db8::1"], "2001:db8::1"),
        ([b"::ffff:192.0.2.1"], "192.0.2.1"),
        ([b"192.0.2.1, unknown"], "127.0.0.1"),
        ([b""], "127.0.0.1"),
    ],
)
def test_behind_a_proxy_the_last_address_counts(
    settings: LazySettings, values: list[bytes], believed: str
) -> None:
    settings.BEHIND_PROXY = True
    headers = [(b"x-forwarded-for", value) for value in values]
    assert taken([*headers, (b"x-forwarded-proto", b"http,https")])["client"][0] == believed
    assert taken([(b"x-forwarded-proto", b"http,https")])["scheme"] == "https"


def test_behind_a_proxy_host_and_the_header_forwarded_are_not_believed(settings: LazySettings) -> None:
    settings.BEHIND_PROXY = True
    kept = taken([(b"host", b"localhost"), (b"forwarded", b"for=192.0.2.6"), (b"x-forwarded-host", b"evil")])
    assert (kept["headers"], kept["client"][0]) == ([(b"host", b"localhost")], "127.0.0.1")


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", ""),
        ("127.9.9.9", ""),
        ("::ffff:127.0.0.1", ""),
        ("::1", ""),
        (None, ""),
    ],
)
def test_connections_are_counted_for_an_address_other_than_this_machine(
    host: str | None, counted: str
) -> None:
    assert counted_address(host) == counted


# -- Over a connection -----------------------------------------------------------------------------


def answer_of(hub: LiveHub, head: str) -> bytes:
    with socket.create_connection(("127.0.0.1", hub.port), timeout=60) as client:
        client.sendall(f"{head}Connection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: client.recv(65_536), b""))


def show_request(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"{request.META['REMOTE_ADDR']} {request.scheme} {request.get_host()}")


urlpatterns = [path("seen/", show_request)]
FORGED = (
    "GET /seen/ HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.66\r\nX-Forwarded-Proto: https\r\n"
    "X-Forwarded-Host: 127.0.0.1\r\nForwarded: for=192.0.2.67;proto=https;host=127.0.0.1\r\n"
)


@override_settings(ROOT_URLCONF=__name__)
def test_django_sees_the_direct_client(hub: LiveHub) -> None:
    assert answer_of(hub, FORGED).endswith(b"\r\n\r\n127.0.0.1 http localhost")


@override_settings(ROOT_URLCONF=__name__, BEHIND_PROXY=True)
def test_django_sees_what_the_proxy_tells(hub: LiveHub) -> None:
    assert answer_of(hub, FORGED).endswith(b"\r\n\r\n192.0.2.66 https localhost")


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/api/v1/me/", "/admin/login/", "/healthz", "/static/x"])
@pytest.mark.parametrize("second", ["localhost", "evil.example", ""])
def test_two_hosts_are_refused(hub: LiveHub, path: str, second: str) -> None:
    answer = answer_of(hub, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nhost: {second}\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Host was sent twice" in answer


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/me/"])
def test_two_tokens_are_refused(hub: LiveHub, ada_token: str, path: str) -> None:
    token = f"Authorization: Bearer {ada_token}\r\n"
    assert b" 400 " in answer_of(hub, f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{token}{token}")


# -- Below a path ----------------------------------------------------------------------------------


def below(hub: LiveHub, path: str, prefix: str) -> bytes:
    return answer_of(hub, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Prefix: {prefix}\r\n")


@pytest.mark.parametrize("path", ["/", "/admin/", "/admin/login/", "/api/docs/", "/static/x.css"])
def test_pages_below_a_path_are_refused_with_what_to_do(
    hub: LiveHub, settings: LazySettings, path: str
) -> None:
    settings.BEHIND_PROXY = True
    answer = below(hub, path, "/ctxhub/")
    assert answer.startswith(b"HTTP/1.1 421")
    assert b"do not work below '/ctxhub'" in answer
    assert b"a host of its own, such as https://ctxhub.example.com" in answer


def test_what_has_no_links_answers_below_a_path(hub: LiveHub, settings: LazySettings) -> None:
    settings.BEHIND_PROXY = True
    for address, status in (("/healthz", 200), ("/api/v1/me/", 401), ("/mcp", 401)):
        assert below(hub, address, "/ctxhub").startswith(b"HTTP/1.1 %d" % status)


def test_pages_at_the_root_are_served_and_a_prefix_is_believed_of_a_proxy_only(
    hub: LiveHub, settings: LazySettings
) -> None:
    assert below(hub, "/admin/login/", "/made-up").startswith(b"HTTP/1.1 200")
    settings.BEHIND_PROXY = True
    assert below(hub, "/admin/login/", "/").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("told", "root_path", "prefix"),
    [("", "", ""), ("/", "/", ""), ("ctxhub", "", "/ctxhub"), ("/a, /b/", "", "/b"), ("", "/c", "/c")],
)
def test_a_prefix_is_read(settings: LazySettings, told: str, root_path: str, prefix: str) -> None:
    settings.BEHIND_PROXY = True
    assert prefix_of({"root_path": root_path}, {"x-forwarded-prefix": told}) == prefix
