"""Which addresses a webhook may have, also by what their names lead to, and how they are shown."""

import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

import pytest
from pytest_django import Settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.models import WebhookDelivery
from ctxhub.core.webhooks import sending
from ctxhub.core.webhooks.addresses import Target, clean_url, is_public, masked
from ctxhub.core.webhooks.delivering import deliver_due
from ctxhub.core.webhooks.sending import CannotReach, find_addresses, post
from ctxhub.core.webhooks.services import add_webhook, change_webhook
from memory.decisions.services import set_decision
from tests.receiver import running_receiver

REFUSED_ALWAYS = (
    *("", "   ", "example.com/hook", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/"),
    *("javascript:alert(1)", "https://", "https:///path", "https://:443/", "http://[", "http://[::1"),
    *("https://user@example.com/", "https://user:pass@example.com/", "https://@example.com/"),
    *("https://example.com:0/", "https://example.com:65536/", "https://example.com:x/"),
    *("https://example.com/#fragment", "https://exa mple.com/", "https://example.com/a b"),
    *("https://example.com/\r\nX-Evil: 1", "https://exam\nple.com/", "https://example.com\\@127.0.0.1/"),
    *("https://exämple.com/", "https://example.com/ä", "https://example.com/\x00", "https://exam\tple.com/"),
    *(
        "https://127.0.0.1%2f.example.com/",
        "https://exa%6dple.com/",
        "https://a..b/",
        "https://.example.com/",
    ),
    f"https://example.com/{'a' * 2_000}",
)
OTHER_WRITINGS = (
    *(
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
    ),
    *("http://127.0.1/", "http://017700000001/", "http://127.0.0.01/", "http://0/", "http://127.0.0.1.0x/"),
    *("http://1.1.1.1.1/", "http://256.0.0.1/", "http://127.0.0.0x1/", "http://12345678901/"),
)
NOT_PUBLIC = (
    *("http://127.0.0.1/", "http://127.255.255.254/", "http://10.0.0.1/", "http://172.16.0.1/"),
    *("http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/", "http://0.0.0.0/"),
    *("http://100.64.0.1/", "http://224.0.0.1/", "http://239.255.255.255/", "http://240.0.0.1/"),
    *("http://255.255.255.255/", "http://192.0.0.1/", "http://192.0.2.1/", "http://198.18.0.1/"),
    *("http://198.51.100.1/", "http://203.0.113.1/", "http://192.88.99.1/", "http://127.0.0.1:8000/"),
    *("http://[::1]/", "http://[::]/", "http://[fe80::1]/", "http://[fc00::1]/", "http://[fd12:3456::1]/"),
    *("http://[::ffff:127.0.0.1]/", "http://[::ffff:8.8.8.8]/", "http://[::127.0.0.1]/"),
    *("http://[64:ff9b::7f00:1]/", "http://[64:ff9b::808:808]/", "http://[64:ff9b:1::1]/"),
    *("http://[2002:7f00:1::]/", "http://[2001::1]/", "http://[2001:db8::1]/", "http://[ff02::1]/"),
    *("http://[fec0::1]/", "http://[100::1]/", "http://[3fff::1]/"),
    *("http://localhost/", "http://LOCALHOST:9/", "http://localhost./", "http://a.localhost/"),
)
TAKEN = (
    *(
        "https://example.com",
        "https://example.com/hook?a=b&c=d",
        "http://example.com:8080/",
        "https://8.8.8.8/",
    ),
    *("https://[2606:4700:4700::1111]/", "https://xn--exmple-cua.com/", "https://a_b.example.com/%20"),
    *("HTTPS://EXAMPLE.COM/Hook", "https://example.com./", "https://1.example.com/", "https://0x.example/"),
)


@pytest.mark.parametrize("url", [*REFUSED_ALWAYS, *OTHER_WRITINGS])
@pytest.mark.parametrize("allow_private", [False, True])
def test_what_is_no_plain_address_is_refused(url: str, allow_private: bool) -> None:
    with pytest.raises(InvalidInput) as refused:
        clean_url(url, allow_private=allow_private)
    assert refused.value.message.startswith("url ")
    if len(url) > 20:
        assert url.strip()[8:] not in refused.value.message


@pytest.mark.parametrize("url", NOT_PUBLIC)
def test_what_is_not_public_is_refused_unless_it_is_allowed(url: str) -> None:
    with pytest.raises(InvalidInput, match="no public address"):
        clean_url(url, allow_private=False)
    clean_url(url, allow_private=True)


@pytest.mark.parametrize("url", TAKEN)
def test_public_addresses_are_taken(url: str) -> None:
    clean_url(url, allow_private=False)


def test_the_parts_are_those_that_are_connected_to() -> None:
    assert clean_url("https://Example.com:8443/a?b", allow_private=False) == Target(
        True, "example.com", 8443, "/a?b"
    )
    assert clean_url("http://[2606:4700::1]/", allow_private=False).host_header == "[2606:4700::1]"
    assert clean_url("https://example.com", allow_private=False).path == "/"


def test_a_chat_needs_https(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="https://"):
        add_webhook(caller=ada, url="http://hooks.slack.com/services/x", kind="slack")
    row = add_webhook(caller=ada, url="http://example.com/").row
    with pytest.raises(InvalidInput, match="https://"):
        change_webhook(caller=ada, webhook_id=row.pk, kind="discord")


@pytest.mark.parametrize("url", [*REFUSED_ALWAYS[:6], *OTHER_WRITINGS[:4], *NOT_PUBLIC[:10]])
def test_a_service_refuses_them_and_writes_nothing(ada: Caller, url: str) -> None:
    with pytest.raises(InvalidInput):
        add_webhook(caller=ada, url=url)
    row = add_webhook(caller=ada, url="https://example.com/").row
    with pytest.raises(InvalidInput):
        change_webhook(caller=ada, webhook_id=row.pk, url=url)
    row.refresh_from_db()
    assert row.shown == "https://example.com/"


# -- Names -----------------------------------------------------------------------------------------


def leading_to(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[str]) -> list[str]:
    """Let each look-up of a name find the next of these; returns the names that are looked up."""
    asked: list[str] = []
    left = list(answers)

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if host not in ("hook.example.com",):
            return real(host, port, *_, **__)
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


HOOK = Target(False, "hook.example.com", 80, "/")


@pytest.mark.parametrize(
    "numbers",
    [
        ["127.0.0.1"],
        ["10.0.0.7", "192.168.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:10.0.0.1"],
        ["fe80::1%eth0"],
    ],
)
def test_a_name_that_leads_to_private_addresses_is_not_connected_to(
    monkeypatch: pytest.MonkeyPatch, numbers: list[str]
) -> None:
    leading_to(monkeypatch, numbers)
    with pytest.raises(CannotReach, match="no public address"):
        find_addresses(HOOK)


def test_of_several_only_the_public_ones_are_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    leading_to(monkeypatch, ["10.0.0.1", "93.184.216.34", "93.184.216.34", "64:ff9b::5db8:d822"])
    assert find_addresses(HOOK) == ["93.184.216.34"]


def test_a_name_is_looked_up_at_each_try_and_once(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it led to when the webhook was added, or at the try before, does not count."""
    row = add_webhook(caller=ada, url="http://hook.example.com/").row
    asked = leading_to(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    connected: list[Any] = []

    def connect(address: Any, *_: Any) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    for key in ("a", "b"):
        set_decision(caller=ada, key=key, value="x")
    deliver_due(row.pk)
    WebhookDelivery.unscoped.update(next_at="2020-01-01T00:00:00Z")
    deliver_due(row.pk)
    assert connected == [("93.184.216.34", 80)]
    assert len(asked) == 2
    assert WebhookDelivery.unscoped.get().problem == "The address leads to no public address."


def test_the_connection_is_made_to_the_checked_number_under_the_name(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.WEBHOOK_PRIVATE = True
    with running_receiver() as receiver:
        asked = leading_to(monkeypatch, ["127.0.0.1"])
        target = Target(False, "hook.example.com", receiver.port, "/in")
        outcome = post(target, find_addresses(target), {}, b"{}")
    assert outcome.is_delivered
    assert asked == ["hook.example.com"]
    assert receiver.received[0].headers["host"] == f"hook.example.com:{receiver.port}"


def test_with_tls_the_name_is_the_one_that_the_certificate_must_have(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    class Context:
        def wrap_socket(self, plain: socket.socket, server_hostname: str) -> Any:
            names.append(server_hostname)
            raise ssl.SSLCertVerificationError("no")

    monkeypatch.setattr(sending, "_tls", lambda: Context())
    with running_receiver() as receiver:
        target = Target(True, "hook.example.com", receiver.port, "/")
        outcome = post(target, ["127.0.0.1"], {}, b"{}")
    assert names == ["hook.example.com"]
    assert not outcome.is_delivered


def test_an_unknown_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*_: Any, **__: Any) -> Any:
        raise socket.gaierror("unknown")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(CannotReach, match="not known"):
        find_addresses(HOOK)


def test_what_is_public() -> None:
    assert is_public(ip_address("93.184.216.34"))
    assert is_public(ip_address("2a00:1450:4001::1"))
    assert not is_public(ip_address("2001:0:1::1"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hooks.slack.com/services/T0/B0/abcdefghijkl", "https://hooks.slack.com/…ijkl"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com:8443/short", "https://example.com:8443/…"),
        ("http://[2606:4700::1]:81/x", "http://[2606:4700::1]:81/…"),
    ],
)
def test_an_address_is_shown_masked(url: str, shown: str) -> None:
    assert masked(url) == shown
