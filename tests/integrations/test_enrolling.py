"""The program asks a hub for tokens, and waits until a person has typed its code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.access import enrolling
from ctxhub_client.access.credentials import Credential
from ctxhub_client.access.requests import HubRefused, post
from django.urls import reverse

from ctxhub.core.accounts.access_tokens import authenticate
from ctxhub.core.models import Project
from tests.hub import LiveHub
from tests.integrations.stub_hub import Answer, StubHub, not_http, serving
from tests.people import person, signed_in

SLEEP = "ctxhub_client.access.enrolling.sleep"
CODES = {
    "device_code": "d",
    "user_code": "BCDF-GHJK",
    "verification_uri": "http://hub.example.com/connect/code/",
    "expires_in": 600,
    "interval": 3,
}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the program waits each time; it does not."""
    found: list[float] = []
    monkeypatch.setattr(SLEEP, found.append)
    return found


def refusal(error: str, **more: Any) -> Answer:
    return Answer({"error": error, "error_description": f"It is {error}.", **more}, 400)


def answers(stub: StubHub, monkeypatch: pytest.MonkeyPatch, *told: Answer) -> None:
    """The hub gives codes, and then these answers to the questions for tokens."""
    stub.answers["/connect/device/"] = Answer(CODES, 200)
    waiting = iter(told)

    def sent(hub: str, name: str, body: Any, token: str = "") -> Any:
        if name == "token":
            stub.answers["/connect/token/"] = next(waiting)
        return post(hub, name, body, token)

    monkeypatch.setattr(enrolling, "post", sent)


def granted(*clients: str) -> Answer:
    tokens = [
        {"access_token": f"ctx_{client}", "client": client, "agent": f"grace-{client}", "renews": True}
        for client in clients
    ]
    return Answer({**tokens[0], "hub": "http://hub", "project": "apollo", "tokens": tokens}, 200)


def enrol(stub: StubHub, clients: list[str] | None = None) -> list[Credential]:
    return enrolling.enrol(stub.url, clients or ["codex"], "", opens_page=False)


def test_it_shows_the_code_and_the_page_and_waits(
    stub: StubHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], waits: list[float]
) -> None:
    pending = refusal("authorization_pending")
    answers(stub, monkeypatch, pending, pending, granted("claude-code", "codex"))
    found = enrol(stub, ["claude-code", "codex"])
    assert [(each.client, each.agent, each.token, each.project) for each in found] == [
        ("claude-code", "grace-claude-code", "ctx_claude-code", "apollo"),
        ("codex", "grace-codex", "ctx_codex", "apollo"),
    ]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Open http://hub.example.com/connect/code/ and type the code:\n\n    BCDF-GHJK\n" in shown.err
    assert "ctx_" not in shown.err
    assert waits == [3.0, 3.0, 3.0]
    asked = stub.sent[0].body
    assert asked["client"] == ["claude-code", "codex"]
    assert asked["host"]


def test_it_asks_as_slowly_as_it_is_told_to(
    stub: StubHub, monkeypatch: pytest.MonkeyPatch, waits: list[float]
) -> None:
    slow = (refusal("slow_down", interval=8), refusal("slow_down", interval=2), refusal("slow_down"))
    answers(stub, monkeypatch, *slow, granted("codex"))
    enrol(stub)
    assert waits == [3.0, 8.0, 13.0, 18.0]


@pytest.mark.parametrize("error", ["access_denied", "expired_token", "invalid_request"])
def test_it_ends_when_it_gets_nothing(stub: StubHub, monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    answers(stub, monkeypatch, refusal(error))
    with pytest.raises(HubRefused, match=f"It is {error}"):
        enrol(stub)


def test_a_hub_that_restarts_meanwhile_is_asked_again(stub: StubHub, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(stub, monkeypatch, Answer("", 502, "text/html"), granted("codex"))
    assert [each.token for each in enrol(stub)] == ["ctx_codex"]


def test_it_does_not_wait_for_ever(stub: StubHub, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(stub, monkeypatch)
    stub.answers["/connect/device/"] = Answer({**CODES, "expires_in": -5}, 200)
    with pytest.raises(HubRefused, match="Nobody has approved it in time"):
        enrol(stub)


@pytest.mark.parametrize(
    ("hub", "told"),
    [
        ("http://127.0.0.1:9", "cannot be reached"),
        ("hub.example.com", "which is no address: write http://hub.example.com"),
        ("ftp://hub", "which is no address"),
    ],
)
def test_a_hub_that_is_none_is_told(hub: str, told: str) -> None:
    with pytest.raises(HubRefused, match=told):
        enrolling.enrol(hub, ["codex"], "", opens_page=False)


def test_other_servers_are_told() -> None:
    with serving(not_http) as other, pytest.raises(HubRefused, match="cannot be reached"):
        enrol(other)
    with serving() as other, pytest.raises(HubRefused, match="no hub of this release answers: HTTP 201"):
        enrol(other)


def test_what_the_hub_says_does_not_move_the_cursor(
    stub: StubHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(stub, monkeypatch, granted("codex"))
    stub.answers["/connect/device/"] = Answer({**CODES, "user_code": "\x1b[2J\rBCDF"}, 200)
    enrol(stub)
    assert "\x1b" not in capsys.readouterr().err


def test_no_page_that_is_none_is_opened(stub: StubHub, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(enrolling, "open_page", opened.append)
    for page in ("http://hub.example.com/connect/code/", "file:///etc/passwd", "-x", "javascript:1"):
        answers(stub, monkeypatch, granted("codex"))
        stub.answers["/connect/device/"] = Answer({**CODES, "verification_uri": page}, 200)
        enrolling.enrol(stub.url, ["codex"], "", opens_page=True)
    assert opened == ["http://hub.example.com/connect/code/"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.one_engine
def test_a_person_approves_it_at_a_hub(
    hub: LiveHub, apollo: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client, page = signed_in(person("grace", apollo)), reverse("enrolment")

    def approve(_: float) -> None:
        code = re.search(r"    ([A-Z]{4}-[A-Z]{4})\n", capsys.readouterr().err)
        if code:
            client.post(page, {"code": code[1]})
            form = {"decision": "approve", "project": "apollo", "scopes": ["read"], "days": "30"}
            assert "Approved" in client.post(page, form).content.decode()

    monkeypatch.setattr(SLEEP, approve)
    [found] = enrolling.enrol(hub.url, ["claude-code"], "", opens_page=False)
    assert (found.hub, found.project, found.agent) == (hub.url, "apollo", "grace-claude")
    assert authenticate(found.token).agent == "grace-claude"
    assert 29 * 86_400 < found.seconds_left() <= 30 * 86_400


def test_nothing_of_a_token_is_in_a_representation(tmp_path: Path) -> None:
    assert "ctx_secret" not in repr(Credential({"hub": "http://h", "token": "ctx_secret"}))
    assert json.dumps(Credential({"hub": "http://h", "token": "x"}).values)
