"""Enrolment: a program shows a code, a signed-in person types it and decides, the program fetches tokens."""

import json
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from ctxhub.connect.devices import GRANT_TYPE
from ctxhub.core.accounts.access_tokens import authenticate, forget_tokens, revoke_token
from ctxhub.core.accounts.config import set_config
from ctxhub.core.accounts.people import find_person
from ctxhub.core.enrolment.asking import LETTERS, MOST_OPEN_OF_ADDRESS
from ctxhub.core.enrolment.deciding import GUESSES, read_user_code
from ctxhub.core.enrolment.models import Enrolment
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed, Unauthenticated
from ctxhub.core.models import AccessToken, Event, Project
from tests.people import ADMIN, VIEWER, person, signed_in
from tests.timing import PATIENCE_SECONDS

DEVICE, TOKEN, RENEW, REVOKE = (
    reverse(f"enrolment_{name}") for name in ("device", "token", "renewal", "revocation")
)
PAGE = reverse("enrolment")
Json = dict[str, Any]


@pytest.fixture
def grace(apollo: Project) -> User:
    return person("grace", apollo)


def post(path: str, body: object = None, **options: Any) -> tuple[int, Json]:
    reply = Client(enforce_csrf_checks=True).post(
        path, data=json.dumps(body), content_type="application/json", **options
    )
    return reply.status_code, reply.json()


def ask(**body: Any) -> Json:
    status, codes = post(DEVICE, {"client": "claude-code", "host": "laptop", "user": "grace", **body})
    assert status == 200, codes
    return codes


def fetch(codes: Json) -> tuple[int, Json]:
    return post(TOKEN, {"device_code": codes["device_code"]})


def later(seconds: float = 4.0) -> time_machine.travel:
    return time_machine.travel(clock.now() + timedelta(seconds=seconds), tick=False)


def decide(client: Client, codes: Json, **fields: Any) -> Any:
    """As a person does in a browser: types the code, then sends the form."""
    typed = client.post(PAGE, {"code": codes["user_code"]})
    assert (typed.status_code, typed["Location"]) == (302, PAGE)
    sent = {
        "project": "apollo",
        "scopes": ["read", "write"],
        "days": "90",
        "renews": "on",
        "decision": "approve",
        **fields,
    }
    return client.post(PAGE, {name: value for name, value in sent.items() if value is not None})


def enrolled(user: User, **fields: Any) -> Json:
    """What a program gets for one client."""
    codes = ask()
    assert "Approved" in decide(signed_in(user), codes, **fields).content.decode()
    status, got = fetch(codes)
    assert status == 200, got
    return got


def alerts(reply: Any) -> str:
    text = reply.content.decode()
    return " ".join(part.partition("<")[0].partition(">")[2] for part in text.split('role="alert"')[1:])


# -- The whole way -----------------------------------------------------------------------------------------


def test_a_program_gets_a_token_of_the_person_who_approves_it(grace: User) -> None:
    codes = ask()
    assert set(codes) == {"device_code", "user_code", "verification_uri", "expires_in", "interval"}
    assert (codes["verification_uri"], codes["expires_in"], codes["interval"]) == (
        f"http://testserver{PAGE}",
        600,
        3,
    )
    assert fetch(codes)[1]["error"] == "authorization_pending"
    decide(signed_in(grace), codes)
    with later():
        status, got = fetch(codes)
    assert status == 200
    caller = authenticate(got["access_token"])
    assert (caller.agent, caller.pinned, set(caller.scopes)) == ("grace-claude", True, {"read", "write"})
    assert got["tokens"] == [{name: got[name] for name in got["tokens"][0]}]
    assert (got["hub"], got["project"], got["agent"]) == ("http://testserver", "apollo", "grace-claude")
    assert (got["token_type"], got["scope"], got["renews"]) == ("Bearer", "read write", True)
    row = AccessToken.unscoped.get(owner=grace)
    assert (row.owner, row.client, row.host) == (grace, "claude-code", "laptop")
    assert row.expires_at
    assert timedelta(days=89) < row.expires_at - clock.now() < timedelta(days=91)


def test_the_tokens_are_given_once(grace: User) -> None:
    codes = ask()
    decide(signed_in(grace), codes)
    assert fetch(codes)[0] == 200
    with later():
        assert fetch(codes) == (
            400,
            {
                "error": "expired_token",
                "error_description": "The code has expired, was used, or never was one. Begin again.",
            },
        )
    assert AccessToken.unscoped.filter(owner=grace).count() == 1


def test_each_client_gets_a_token_and_an_agent_of_its_own(grace: User) -> None:
    codes = ask(client=["claude-code", "codex", "copilot-cli", "codex"])
    decide(signed_in(grace), codes, agent_1="grace-x")
    got = fetch(codes)[1]["tokens"]
    assert [(each["client"], each["agent"]) for each in got] == [
        ("claude-code", "grace-claude"),
        ("codex", "grace-x"),
        ("copilot-cli", "grace-copilot"),
    ]
    assert len({each["access_token"] for each in got}) == 3


def test_the_page_of_tokens_shows_the_program_and_its_machine(grace: User) -> None:
    enrolled(grace)
    client, row = signed_in(grace), AccessToken.unscoped.get(owner=grace)
    lists = client.get(reverse("admin:core_accesstoken_changelist"), {"q": "laptop"}).content.decode()
    assert "claude-code on laptop" in lists
    page = client.get(reverse("admin:core_accesstoken_change", args=[row.pk])).content.decode()
    assert "claude-code on laptop" in page
    assert "once, in its last 30 days" in page


def test_no_secret_is_stored(grace: User) -> None:
    codes = ask()
    decide(signed_in(grace), codes)
    got = fetch(codes)[1]
    stored = repr(list(Enrolment.objects.values())) + repr(list(Event.unscoped.values()))
    secrets = (codes["device_code"], codes["user_code"], codes["user_code"].replace("-", ""))
    assert [secret for secret in (*secrets, got["access_token"]) if secret in stored] == []


def test_an_approval_is_an_event(grace: User) -> None:
    enrolled(grace)
    event = Event.unscoped.get(ref__startswith="enrolment:")
    assert (event.verb, event.data["clients"], event.data["agents"]) == (
        "approved",
        ["claude-code"],
        ["grace-claude"],
    )
    assert event.agent
    assert event.agent.name == "grace"


def test_a_form_is_read_as_json_is(grace: User) -> None:
    client = Client(enforce_csrf_checks=True)
    form = "application/x-www-form-urlencoded"
    codes = client.post(DEVICE, "client_id=codex&host=laptop", content_type=form).json()
    decide(signed_in(grace), codes)
    asked = {"grant_type": GRANT_TYPE, "device_code": codes["device_code"]}
    got = client.post(TOKEN, urlencode(asked), content_type=form).json()
    assert got["agent"] == "grace-codex"


# -- What a program may ask --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "client",
        {},
        {"client": ""},
        {"client": []},
        {"client": [1]},
        {"client": {"a": 1}},
        {"client": [f"c{n}" for n in range(11)]},
        {"client": ["c"] * 11},
        {"client": "c" * 101},
        {"client": "c", "host": 5},
        {"client": "c", "host": "h" * 101},
        {"client": "c", "agent": "a\nb" * 100},
        {"client": "c", "user": None},
    ],
    ids=repr,
)
def test_bad_requests_are_refused_with_a_reason(db: None, body: object) -> None:
    status, told = post(DEVICE, body)
    assert (status, told["error"]) == (400, "invalid_request"), told
    assert told["error_description"]
    assert Enrolment.objects.count() == 0


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 9_000, b"{" + b" " * 20_000 + b"}"])
@pytest.mark.parametrize("path", [DEVICE, TOKEN])
def test_what_is_no_json_is_refused(db: None, path: str, content: bytes) -> None:
    for kind in ("application/json", "multipart/form-data; boundary=x", "text/plain"):
        reply = Client().post(path, content, content_type=kind)
        assert (reply.status_code, reply.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("path", [DEVICE, TOKEN, RENEW, REVOKE])
def test_nothing_but_posts_is_taken(path: str, method: str) -> None:
    assert Client().generic(method, path).status_code == 405


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "invalid_request"),
        ({"device_code": ""}, "invalid_request"),
        ({"device_code": 5}, "invalid_request"),
        ({"device_code": "x", "grant_type": "password"}, "invalid_request"),
        ({"device_code": "never was one"}, "expired_token"),
    ],
    ids=repr,
)
def test_a_question_for_nothing(db: None, body: Json, error: str) -> None:
    status, told = post(TOKEN, body)
    assert (status, told["error"]) == (400, error)


def test_who_asks_too_fast_is_slowed_down(grace: User) -> None:
    codes = ask()
    assert fetch(codes)[1]["error"] == "authorization_pending"
    status, told = fetch(codes)
    assert (status, told["error"], told["interval"]) == (400, "slow_down", 8)
    decide(signed_in(grace), codes)
    with later(4):
        assert fetch(codes)[1]["error"] == "slow_down"
    with later(30):
        assert fetch(codes)[0] == 200


def test_an_address_has_five_open_ones(grace: User) -> None:
    waiting = [ask() for _ in range(MOST_OPEN_OF_ADDRESS)]
    status, told = post(DEVICE, {"client": "codex"})
    assert (status, told["error"]) == (429, "slow_down")
    assert post(DEVICE, {"client": "codex"}, REMOTE_ADDR="192.0.2.1")[0] == 200
    decide(signed_in(grace), waiting[0], decision="refuse")
    assert post(DEVICE, {"client": "codex"})[0] == 200
    with later(601):
        assert post(DEVICE, {"client": "codex"})[0] == 200


def test_old_ones_are_removed(db: None) -> None:
    ask()
    with later(601 + 86_400):
        ask()
        assert Enrolment.objects.count() == 1


# -- What a person may do ----------------------------------------------------------------------------------


def test_nobody_decides_without_signing_in(grace: User) -> None:
    codes = ask()
    for method in ("get", "post"):
        reply = getattr(Client(), method)(PAGE, {"code": codes["user_code"]})
        assert reply["Location"].startswith(f"{reverse('admin:login')}?next={PAGE}")
    grace.is_active = False
    grace.save()
    assert fetch(codes)[1]["error"] == "authorization_pending"


def test_a_form_of_another_site_decides_nothing(grace: User) -> None:
    codes, client = ask(), Client(enforce_csrf_checks=True)
    client.force_login(grace)
    assert client.post(PAGE, {"code": codes["user_code"]}).status_code == 403


def test_a_code_in_the_address_is_not_taken(grace: User) -> None:
    codes, client = ask(), signed_in(grace)
    text = client.get(PAGE, {"code": codes["user_code"], "user_code": codes["user_code"]}).content.decode()
    assert codes["user_code"] not in text
    assert "laptop" not in text


@pytest.mark.parametrize("write", [str.lower, lambda code: code.replace("-", " "), lambda code: f" {code}. "])
def test_a_code_is_read_as_people_type_it(grace: User, write: Callable[[str], str]) -> None:
    codes = ask()
    assert signed_in(grace).post(PAGE, {"code": write(codes["user_code"])}).status_code == 302


@pytest.mark.parametrize("text", ["", "ABCD", "AEIO-UAEI", "BCDF-GHJKL", "12345678", "BCDF GHJ\x00K" * 9])
def test_what_is_no_code_is_none(text: str) -> None:
    assert read_user_code(text) == ""
    assert read_user_code(LETTERS[:8].lower()) == LETTERS[:8]


def test_a_person_sees_who_asks_and_that_it_is_unchecked(grace: User) -> None:
    codes, client = ask(host="<b>evil</b>", agent="zoe"), signed_in(grace)
    client.post(PAGE, {"code": codes["user_code"]})
    text = client.get(PAGE).content.decode()
    assert "&lt;b&gt;evil&lt;/b&gt;, as grace" in text
    assert "127.0.0.1" in text
    assert "What it says of itself is not checked" in text
    assert 'value="zoe"' in text
    assert client.get(PAGE)["Cache-Control"].startswith("max-age=0, no-cache, no-store")


def test_a_refusal_is_told_to_the_program(grace: User) -> None:
    codes = ask()
    assert "Refused" in decide(signed_in(grace), codes, decision="refuse").content.decode()
    assert fetch(codes)[1]["error"] == "access_denied"
    assert AccessToken.unscoped.count() == 0


def test_a_decision_is_final(grace: User) -> None:
    codes, client, other = ask(), signed_in(grace), signed_in(grace)
    other.post(PAGE, {"code": codes["user_code"]})
    decide(client, codes, decision="refuse")
    assert other.post(PAGE, {"decision": "approve", "project": "apollo"}).status_code == 410
    assert "No program waits with this code" in alerts(client.post(PAGE, {"code": codes["user_code"]}))
    assert fetch(codes)[1]["error"] == "access_denied"


def test_after_ten_minutes_it_is_over(grace: User) -> None:
    codes, client = ask(), signed_in(grace)
    client.post(PAGE, {"code": codes["user_code"]})
    with later(601):
        assert client.get(PAGE).status_code == 410
        assert fetch(codes)[1]["error"] == "expired_token"
        assert "No program waits" in alerts(client.post(PAGE, {"code": codes["user_code"]}))


@pytest.mark.parametrize("is_one_person", [True, False])
def test_codes_cannot_be_guessed(grace: User, apollo: Project, is_one_person: bool) -> None:
    """After ten wrong ones nobody at the address may type one, and the person nowhere."""
    codes, client = ask(), signed_in(grace)
    for _ in range(GUESSES):
        reply = client.post(PAGE, {"code": "BCDF-GHJK"})
    assert "Too many failed" in alerts(reply)
    other = client if is_one_person else signed_in(person("ben2", apollo))
    place: Any = {"REMOTE_ADDR": "192.0.2.1"} if is_one_person else {}
    reply = other.post(PAGE, {"code": codes["user_code"]}, **place)
    assert (reply.status_code, "Too many failed" in alerts(reply)) == (429, True)
    free = signed_in(person("cy2", apollo))
    assert free.post(PAGE, {"code": codes["user_code"]}, REMOTE_ADDR="192.0.2.2").status_code == 302


def test_a_right_code_ends_the_count(grace: User) -> None:
    client = signed_in(grace)
    for _ in range(3):
        for _ in range(GUESSES - 1):
            client.post(PAGE, {"code": "BCDF-GHJK"})
        decide(client, ask(), decision="refuse")


def test_a_project_of_others_cannot_be_chosen(grace: User, hermes: Project) -> None:
    codes = ask()
    assert "Select a valid choice" in alerts(decide(signed_in(grace), codes, project="hermes"))
    assert fetch(codes)[1]["error"] == "authorization_pending"


def test_a_viewer_gives_no_more_than_reading(apollo: Project, hermes: Project) -> None:
    vi = person("vi", apollo, VIEWER)
    codes, client = ask(), signed_in(vi)
    assert "Select a valid choice" in alerts(decide(client, codes))
    assert 'value="write"' not in client.get(PAGE).content.decode()
    hermes.memberships.create(user=vi)
    assert "does not allow the scope &#x27;write&#x27;" in alerts(decide(client, codes))
    decide_again = client.post(
        PAGE, {"decision": "approve", "project": "apollo", "scopes": ["read"], "days": "7"}
    )
    assert "Approved" in decide_again.content.decode()
    got = fetch(codes)[1]
    assert (got["scope"], got["renews"]) == ("read", False)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"scopes": ["root"]}, "Select a valid choice"),
        ({"scopes": None}, "This field is required"),
        ({"days": "5000"}, "Select a valid choice"),
        ({"project": ""}, "This field is required"),
        ({"agent_0": "a" * 101}, "at most 100 characters"),
        ({"agent_0": "vi"}, "name of a person"),
        ({"agent_0": "taken"}, "is not yours alone"),
        ({"scopes": ["admin"]}, "Select a valid choice"),
    ],
    ids=repr,
)
def test_what_cannot_be_approved(grace: User, ada: Caller, fields: Json, told: str) -> None:
    from ctxhub.core.accounts.access_tokens import create_token

    person("vi", ada.project, VIEWER)
    create_token(project=ada.project, agent="taken")
    codes = ask()
    assert told in alerts(decide(signed_in(grace), codes, **fields))
    assert fetch(codes)[1]["error"] == "authorization_pending"


def test_two_clients_have_two_agents(grace: User) -> None:
    codes = ask(client=["claude-code", "codex"])
    told = alerts(decide(signed_in(grace), codes, agent_0="Zoe", agent_1="zoe"))
    assert "each has an agent of its own" in told


def test_a_project_can_switch_it_off(grace: User, ada: Caller) -> None:
    set_config(caller=ada, values={"enrolment": False})
    codes, client = ask(), signed_in(grace)
    client.post(PAGE, {"code": codes["user_code"]})
    assert "no project that takes programs in by codes" in alerts(client.get(PAGE))
    sent = {"decision": "approve", "project": "apollo", "scopes": ["read"], "days": "7"}
    assert "Select a valid choice" in client.post(PAGE, sent).content.decode() or "no project" in alerts(
        client.post(PAGE, sent)
    )
    assert fetch(codes)[1]["error"] == "authorization_pending"


def test_who_leaves_before_the_program_asks_gives_nothing(grace: User) -> None:
    codes = ask()
    decide(signed_in(grace), codes)
    grace.memberships.all().delete()
    status, told = fetch(codes)
    assert (status, told["error"]) == (400, "access_denied")
    assert AccessToken.unscoped.count() == 0


@pytest.mark.django_db(transaction=True)
def test_of_two_that_fetch_at_once_one_gets_them(grace: User) -> None:
    codes = ask()
    decide(signed_in(grace), codes)
    got: list[int] = []
    barrier = Barrier(2)

    def run() -> None:
        barrier.wait(PATIENCE_SECONDS)
        got.append(fetch(codes)[0])
        connection.close()

    threads = [Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [200, 400]
    assert AccessToken.unscoped.filter(owner=grace).count() == 1


# -- Renewal -----------------------------------------------------------------------------------------------


def renew(secret: str) -> tuple[int, Json]:
    forget_tokens()
    return post(RENEW, headers={"Authorization": f"Bearer {secret}"})


def test_a_token_renews_itself_once_in_its_last_month(grace: User) -> None:
    old = enrolled(grace)["access_token"]
    status, told = renew(old)
    assert (status, told["error"]) == (409, "conflict")
    with later(61 * 86_400):
        status, new = renew(old)
        assert (status, new["agent"], new["renews"]) == (200, "grace-claude", True)
        assert 89 * 86_400 < new["expires_in"] <= 90 * 86_400
        assert authenticate(new["access_token"]).agent == authenticate(old).agent == "grace-claude"
        assert renew(old)[0] == 409
    with later(69 * 86_400):
        assert renew(old)[0] == 401
        assert authenticate(new["access_token"]).agent == "grace-claude"
    with later(130 * 86_400):
        assert renew(new["access_token"])[0] == 200


def test_where_nobody_allowed_it_no_token_renews_itself(grace: User) -> None:
    old = enrolled(grace, renews=None)["access_token"]
    with later(80 * 86_400):
        status, told = renew(old)
    assert (status, told["error"]) == (403, "not_allowed")


def test_a_revoked_token_renews_nothing(grace: User) -> None:
    got = enrolled(grace)["access_token"]
    revoke_token(AccessToken.unscoped.get(owner=grace))
    with later(80 * 86_400):
        assert renew(got)[0] == 401


def test_a_program_can_give_its_token_back(grace: User) -> None:
    got = enrolled(grace)["access_token"]
    for _ in range(2):
        assert post(REVOKE, headers={"Authorization": f"Bearer {got}"}) == (200, {"revoked": True})
    with pytest.raises(Unauthenticated):
        authenticate(got)


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer ", "Basic eA==", "Bearer ctx_unknown"])
@pytest.mark.parametrize("path", [RENEW, REVOKE])
def test_without_a_token_nothing_is_renewed_or_revoked(db: None, path: str, given: str) -> None:
    status, told = post(path, headers={"Authorization": given})
    assert (status, told["error"]) == (401, "invalid_token")


def test_what_a_member_may_approve_follows_the_role(apollo: Project) -> None:
    admin = person("root2", apollo, ADMIN)
    got = enrolled(admin, scopes=["read", "admin"])
    assert got["scope"] == "read admin"
    admin.memberships.update(role=VIEWER)
    forget_tokens()
    caller = authenticate(got["access_token"])
    assert caller.scopes == {"read"}
    with pytest.raises(NotAllowed):
        caller.require("admin", "Configuring")
    assert find_person(admin, "apollo")
