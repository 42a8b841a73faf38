"""Event streams: what they tell whom, from which event on, and when they end."""

import http.client
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client, override_settings

from ctxhub.core import registry
from ctxhub.core.accounts.access_tokens import create_token, find_token, revoke_token, verify
from ctxhub.core.accounts.listeners import Listener, person_listening, still_listening
from ctxhub.core.events import following as streams
from ctxhub.core.events.log import Change, latest_cursor, note_of, read_new_events, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.sql import chunks
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import AccessToken, Agent, Event, Membership, Project
from ctxhub.mcp import event_streams, feeds, wakeups
from memory.constraints.services import add_constraint
from memory.decisions.services import change_decision, set_decision
from messaging.messages.services import acknowledge_messages, send_message
from sessions.sittings.services import save_session
from tests.databases import database_away
from tests.hub import LiveHub, RestClient
from tests.people import MEMBER, VIEWER, person, signed_in
from tests.streams import Frame, ask, following, open_streams, wait_for_streams
from tests.timing import wait_until
from tracking.leases.services import acquire_lease, release_leases

EVENTS = "/api/v1/projects/apollo/events/"


@pytest.fixture(autouse=True)
def all_are_closed(hub: LiveHub) -> Iterator[None]:
    yield
    wait_for_streams(0)


def cursor_of(project: Project) -> str:
    return str(latest_cursor(project.pk))


# -- What is told ----------------------------------------------------------------------------------


def test_a_frame_has_the_event_and_its_id(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    before = cursor_of(ben.project)
    with following(hub, ada_token) as stream:
        assert stream.beginning == Frame(id=before, retry="2000")
        set_decision(caller=ben, key="api/auth", value="JWT", rationale="Two\nlines.")
        frame = stream.next()
    event = Event.objects.in_project(ben.project).latest("id")
    assert (frame.id, frame.event) == (f"e{event.pk}", "decision.created")
    assert frame.data == {
        "at": clock.format_time(event.at),
        "agent": "ben",
        "verb": "created",
        "ref": "decision:api/auth",
        "note": note_of(event.data),
    }


def test_the_answer_is_a_stream_that_nothing_may_keep(hub: LiveHub, ada_token: str) -> None:
    with following(hub, ada_token) as stream:
        headers = {name.lower(): value for name, value in stream.response.getheaders()}
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert headers["cache-control"] == "no-store"
        assert headers["x-accel-buffering"] == "no"
        assert "content-length" not in headers


def test_what_is_no_news_to_the_agent_is_left_out(
    hub: LiveHub, ada_token: str, ada: Caller, ben: Caller, cy: Caller
) -> None:
    with following(hub, ada_token) as stream:
        set_decision(caller=ada, key="own", value="x")
        send_message(caller=ben, text="For Cid.", to=["cid"])
        set_decision(caller=cy, key="of-another-project", value="x")
        sent = send_message(caller=ben, text="For Ada.", to=["ada"])
        set_decision(caller=ben, key="news", value="x")
        assert stream.refs(2) == [f"message:{sent['id']}", "decision:news"]


def test_the_named_agent_decides_what_is_news(hub: LiveHub, apollo: Project, ben: Caller) -> None:
    token = create_token(project=apollo, name="any").secret
    with following(hub, token, agent="ben") as stream:
        set_decision(caller=ben, key="own", value="x")
        send_message(caller=Caller(apollo, "cid"), text="Hello.", to=["ben"])
        assert stream.next().event == "message.sent"


def test_a_stream_tells_of_what_updates_count(hub: LiveHub, ada_token: str, ada: Caller, ben: Caller) -> None:
    since = cursor_of(ada.project)
    with following(hub, ada_token) as stream:
        set_decision(caller=ada, key="own", value="x")
        set_decision(caller=ben, key="k", value="x")
        change_decision(caller=ben, key="k", value="y")
        save_session(caller=ben, summary="It ends no wait, and is counted.")
        send_message(caller=ben, text="For Cid.", to=["cid"])
        send_message(caller=ben, text="For all.")
        acquire_lease(caller=ben, paths=["src/**"])
        counted = hub.rest(ada_token).get("updates/", since=since).body
        told = {stream.next().data["ref"] for _ in range(5)}
    kinds = [registry.plural(ref.partition(":")[0]) for ref in told]
    assert {**Counter(kinds), "cursor": cursor_of(ada.project)} == counted


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"nouns": "constraint"}, ["constraint.created"]),
    ({"nouns": ["constraints", "leases"]}, ["constraint.created", "lease.leased"]),
    ({"nouns": "decision,lease"}, ["decision.created", "lease.leased", "decision.updated"]),
    ({"noun": "lease"}, ["lease.leased"]),
    ({"verbs": "updated"}, ["decision.updated"]),
    ({"verbs": "update,lease"}, ["lease.leased", "decision.updated"]),
    ({"agents": "CID"}, ["lease.leased"]),
    ({"agents": "cid,dan"}, ["lease.leased", "message.sent"]),
    ({"nouns": "decision", "verbs": "created", "agents": "ben"}, ["decision.created"]),
    ({"mine": "true"}, ["message.sent", "message.acked"]),
    ({"mine": "true", "verbs": "acked"}, ["message.acked"]),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS)
@pytest.mark.parametrize("is_replayed", [False, True], ids=["live", "replayed"])
def test_filters_let_through_what_they_say(
    query: dict[str, Any], expected: list[str], is_replayed: bool, hub: LiveHub, ada_token: str, ada: Caller
) -> None:
    def write() -> None:
        ben, cid, dan = (Caller(ada.project, agent) for agent in ("ben", "cid", "dan"))
        mine = send_message(caller=ada, text="Deploy at noon.", to=["ben"], ack=True)
        set_decision(caller=ben, key="k", value="x")
        add_constraint(caller=ben, text="No globals.", category="architecture")
        acquire_lease(caller=cid, paths=["src/**"])
        send_message(caller=dan, text="Hello all.")
        acknowledge_messages(caller=ben, ids=[mine["id"]])
        change_decision(caller=ben, key="k", value="y")
        send_message(caller=ben, text="The end.", to=["ada"], type="warning")

    since = cursor_of(ada.project)
    if is_replayed:
        write()
    ended = {"since": since} if is_replayed else {}
    with (
        following(hub, ada_token, **query, **ended) as stream,
        following(hub, ada_token, **ended) as all_of_it,
    ):
        if not is_replayed:
            write()
        told = [all_of_it.next().event for _ in range(7)]
        assert [stream.next().event for _ in expected] == expected
    assert sorted(set(told)) == sorted(
        {
            *("decision.created", "constraint.created", "lease.leased", "decision.updated"),
            *("message.sent", "message.acked"),
        }
    )


def test_a_lease_that_was_taken_from_the_agent_is_its_own_concern(
    hub: LiveHub, ada_token: str, ada: Caller, ben: Caller
) -> None:
    lease = acquire_lease(caller=ada, paths=["src/**"])
    other = acquire_lease(caller=Caller(ada.project, "cid"), paths=["docs/**"])
    with following(hub, ada_token, mine="true", nouns="lease") as stream:
        for each in (other, lease):
            release_leases(caller=ben, lease_id=each["lease_id"], force=True, reason="Silent.")
        assert stream.next().data["ref"] == f"lease:{lease['lease_id']}"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"nouns": "decison"}, "nouns: 'decison' is not known"),
        ({"nouns": "hub"}, "nouns: 'hub' is not known"),
        ({"nouns": "webhook"}, "nouns: 'webhook' is not known"),
        ({"verbs": "creatid"}, "verbs: 'creatid' is not known"),
        ({"mine": "perhaps"}, "mine"),
        ({"since": "soon"}, "since: 'soon' is not a time"),
        ({"limit": "5"}, "There is no parameter 'limit'"),
    ],
)
def test_unknown_words_are_refused(query: dict[str, str], words: str, ada_rest: RestClient) -> None:
    answer = ada_rest.get("events/", **query)
    assert answer.status == 400
    assert words in answer.body["message"]


def test_an_id_that_is_none_is_refused(hub: LiveHub, ada_token: str) -> None:
    answer = ask(hub, EVENTS, ada_token, {"Last-Event-ID": "2h"})
    assert answer.status == 400
    assert json.loads(answer.response.read())["message"].startswith("Last-Event-ID: '2h' is not the id")


# -- From where on ---------------------------------------------------------------------------------


def test_without_a_place_a_stream_begins_now(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    set_decision(caller=ben, key="before", value="x")
    with following(hub, ada_token) as stream:
        set_decision(caller=ben, key="after", value="x")
        assert stream.refs(1) == ["decision:after"]


@pytest.mark.parametrize("since", ["cursor", "1h", "e0"])
def test_since_is_a_cursor_or_a_time(since: str, hub: LiveHub, ada_token: str, ben: Caller) -> None:
    before = cursor_of(ben.project)
    set_decision(caller=ben, key="before", value="x")
    with following(hub, ada_token, since=before if since == "cursor" else since) as stream:
        set_decision(caller=ben, key="after", value="x")
        assert stream.refs(2) == ["decision:before", "decision:after"]


def test_the_last_id_goes_before_since(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    set_decision(caller=ben, key="one", value="x")
    last_id = cursor_of(ben.project)
    set_decision(caller=ben, key="two", value="x")
    with following(hub, ada_token, last_id=last_id, since="e0") as stream:
        assert stream.refs(1) == ["decision:two"]


@pytest.mark.parametrize("at_once", [2, 1_000])
def test_a_reader_that_comes_back_misses_nothing_and_gets_nothing_twice(
    at_once: int, hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "REPLAYED_AT_ONCE", at_once)
    last_id, got = cursor_of(ben.project), []
    for turn in range(4):
        for number in range(3):
            set_decision(caller=ben, key=f"away/{turn}/{number}", value="x")
        with following(hub, ada_token, last_id=last_id) as stream:
            set_decision(caller=ben, key=f"there/{turn}", value="x")
            for _ in range(4 if turn % 2 else 2):  # Every other time it leaves before it has heard all.
                frame = stream.next()
                got.append(frame.data["ref"])
                last_id = frame.id
    written = [
        f"decision:{key}"
        for turn in range(4)
        for key in (*(f"away/{turn}/{number}" for number in range(3)), f"there/{turn}")
    ]
    assert got == written[: len(got)]
    assert len(got) == 12


def test_writers_beside_a_replay_leave_no_gap(
    hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "REPLAYED_AT_ONCE", 3)
    before = cursor_of(ben.project)
    for number in range(20):
        set_decision(caller=ben, key=f"{number}", value="x")
    with ExitStack() as opened:
        readers = []
        for number in range(20, 40):
            if number % 5 == 0:
                readers.append(opened.enter_context(following(hub, ada_token, since=before)))
            set_decision(caller=ben, key=f"{number}", value="x")
        for reader in readers:
            assert reader.refs(40) == [f"decision:{number}" for number in range(40)]


def test_after_too_many_events_the_stream_says_where_it_goes_on(
    hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_REPLAYED", 3)
    before = cursor_of(ben.project)
    for number in range(5):
        set_decision(caller=ben, key=f"{number}", value="x")
    newest = cursor_of(ben.project)
    with following(hub, ada_token, since=before) as stream:
        assert stream.refs(3) == ["decision:0", "decision:1", "decision:2"]
        assert stream.next() == Frame(id=newest, event="reset", data={"cursor": newest})
        set_decision(caller=ben, key="then", value="x")
        assert stream.refs(1) == ["decision:then"]


def test_as_many_events_as_are_replayed_need_no_reset(
    hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_REPLAYED", 3)
    before = cursor_of(ben.project)
    for number in range(3):
        set_decision(caller=ben, key=f"{number}", value="x")
    with following(hub, ada_token, since=before) as stream:
        set_decision(caller=ben, key="3", value="x")
        assert stream.refs(4) == [f"decision:{number}" for number in range(4)]


def test_an_id_that_is_yet_to_come_is_put_right(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    with following(hub, ada_token, last_id="e999999999999") as stream:
        assert stream.next().event == "reset"
        set_decision(caller=ben, key="k", value="x")
        assert stream.refs(1) == ["decision:k"]


def test_a_comment_moves_the_cursor_past_what_was_left_out(
    hub: LiveHub, ada_token: str, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "SECONDS_BETWEEN_COMMENTS", 0.3)
    with following(hub, ada_token) as stream:
        assert stream.block() == Frame(comments=1)
        set_decision(caller=ada, key="own", value="x")
        own = cursor_of(ada.project)
        wait_until(lambda: stream.block() == Frame(id=own, comments=1))
        assert stream.block() == Frame(comments=1)


def test_many_events_of_one_write_all_arrive(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    set_decision(caller=ben, key="k", value="x")
    with following(hub, ada_token, nouns="decision") as stream:
        _insert_events(ben.project, 3_000)
        assert [frame.data["ref"][-4:] for frame in (stream.next() for _ in range(3_000))] == [
            f"{number:04d}" for number in range(3_000)
        ]


def _insert_events(project: Project, count: int, ref: str = "decision:") -> None:
    """Events by ben, all committed at once, as a large import does."""
    ben_id = Agent.objects.in_project(project).get(name="ben").pk
    changes = [Change("decision", "updated", f"{ref}{number:04d}") for number in range(count)]
    with write_transaction(project.pk):
        for some in chunks(changes, 2_000):
            record(project_id=project.pk, agent_id=ben_id, changes=some, at=clock.now())


# -- Who may ---------------------------------------------------------------------------------------


def test_it_needs_a_token(hub: LiveHub, apollo: Project) -> None:
    for token in ("", "wrong"):
        answer = ask(hub, EVENTS, token)
        assert answer.status == 401
        assert answer.response.getheader("WWW-Authenticate") == 'Bearer realm="ctxhub"'
        assert json.loads(answer.response.read())["error"] == "not_allowed"


def test_another_project_does_not_exist(hub: LiveHub, cy_token: str, apollo: Project) -> None:
    same = {"X-Request-ID": "same"}
    answer, none = (
        ask(hub, f"/api/v1/projects/{slug}/events/", cy_token, same) for slug in ("apollo", "none")
    )
    assert answer.status == none.status == 404
    told = json.loads(answer.response.read())
    assert told["error"] == "not_found"
    assert told == json.loads(none.response.read().replace(b"none", b"apollo"))


def test_it_needs_the_scope_read(hub: LiveHub, apollo: Project) -> None:
    answer = ask(hub, EVENTS, create_token(project=apollo, scopes=["write"]).secret)
    assert answer.status == 403
    assert "scope 'read'" in json.loads(answer.response.read())["message"]


def test_a_pinned_token_speaks_for_its_agent(hub: LiveHub, ada_token: str) -> None:
    assert ask(hub, f"{EVENTS}?agent=ben", ada_token).status == 403


def test_a_dash_is_the_tokens_own_project(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    with following(hub, ada_token, project="-") as stream:
        set_decision(caller=ben, key="k", value="x")
        assert stream.refs(1) == ["decision:k"]


def test_a_foreign_host_is_refused(hub: LiveHub, ada_token: str) -> None:
    assert ask(hub, EVENTS, ada_token, {"Host": "evil.example"}).status == 421


def test_listed_origins_may_read(hub: LiveHub, ada_token: str) -> None:
    with override_settings(CORS_ORIGINS=["https://app.example"]):
        for origin, allowed in (
            ("https://app.example", "https://app.example"),
            ("https://evil.example", None),
        ):
            answer = ask(hub, EVENTS, ada_token, {"Origin": origin})
            assert answer.response.msg.get_all("Access-Control-Allow-Origin") == (
                [allowed] if allowed else None
            )
            answer.close()
        preflight = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
        answer = ask(hub, EVENTS, "", preflight, "OPTIONS")
        assert answer.status == 204
        assert "Last-Event-ID" in answer.response.headers["Access-Control-Allow-Headers"]


def test_the_opening_counts_as_a_request(hub: LiveHub, ada_token: str) -> None:
    with override_settings(RATE_LIMIT=2), following(hub, ada_token), following(hub, ada_token):
        answer = ask(hub, EVENTS, ada_token)
        assert answer.status == 429
        assert int(answer.response.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("method", "status"), [("POST", 405), ("PUT", 405), ("DELETE", 405), ("OPTIONS", 405)]
)
def test_other_methods_are_refused(method: str, status: int, hub: LiveHub, ada_token: str) -> None:
    answer = ask(hub, EVENTS, ada_token, method=method)
    assert (answer.status, answer.response.getheader("Allow")) == (status, "GET, HEAD")


def test_head_tells_that_there_is_a_stream(hub: LiveHub, ada_token: str) -> None:
    answer = ask(hub, EVENTS, ada_token, method="HEAD")
    assert answer.status == 200
    assert answer.response.headers["Content-Type"].startswith("text/event-stream")
    assert answer.response.read() == b""


@pytest.mark.parametrize(
    ("accept", "status"),
    [("*/*", 200), ("text/event-stream", 200), ("text/html, */*;q=0.8", 200), ("application/json", 406)],
)
def test_only_what_refuses_streams_gets_none(accept: str, status: int, hub: LiveHub, ada_token: str) -> None:
    answer = ask(hub, EVENTS, ada_token, {"Accept": accept})
    assert answer.status == status
    if status == 406:
        assert (
            json.loads(answer.response.read())["hint"]
            == "Send the header Accept: text/event-stream, or none."
        )
    answer.close()


def test_without_a_slash_it_is_redirected(hub: LiveHub, ada_token: str) -> None:
    answer = ask(hub, EVENTS.rstrip("/"), ada_token)
    assert (answer.status, answer.response.headers["Location"]) == (301, EVENTS)


def test_under_wsgi_it_says_what_it_needs(ada_token: str) -> None:
    answer = Client().get(EVENTS, headers={"Authorization": f"Bearer {ada_token}"})
    assert answer.status_code == 400
    assert "WSGI" in answer.json()["message"]
    assert "updates/" in answer.json()["hint"]


# -- When it ends ----------------------------------------------------------------------------------


def _revoked(row: AccessToken) -> None:
    AccessToken.unscoped.filter(pk=row.pk).update(revoked_at=clock.now())


def _expired(row: AccessToken) -> None:
    AccessToken.unscoped.filter(pk=row.pk).update(expires_at=clock.now() - timedelta(seconds=1))


def _without_a_scope(row: AccessToken) -> None:
    AccessToken.unscoped.filter(pk=row.pk).update(scopes=["read"])


def _removed(row: AccessToken) -> None:
    AccessToken.unscoped.filter(pk=row.pk).delete()


@pytest.mark.parametrize("change", [revoke_token, _revoked, _expired, _without_a_scope, _removed])
def test_a_token_whose_rights_change_ends_its_streams(
    change: Any, hub: LiveHub, ada_token: str, ben_token: str, ben: Caller
) -> None:
    row = find_token(ada_token)
    assert row
    with (
        following(hub, ada_token) as one,
        following(hub, ada_token) as two,
        following(hub, ben_token) as other,
    ):
        change(row)
        one.ends()
        two.ends()
        set_decision(caller=Caller(ben.project, "cid"), key="k", value="x")
        assert other.refs(1) == ["decision:k"]


def test_rights_are_checked_every_five_seconds_at_least() -> None:
    assert feeds.SECONDS_BETWEEN_CHECKS + wakeups._Postgres.pause < 5


@pytest.fixture
def vera(apollo: Project) -> User:
    return person("vera", apollo, VIEWER)


def cookie_of(user: User) -> dict[str, str]:
    return {"Cookie": f"sessionid={signed_in(user).cookies['sessionid'].value}"}


def test_a_signed_in_person_hears_what_is_news_to_them(hub: LiveHub, vera: User, ben: Caller) -> None:
    stream = ask(hub, EVENTS, headers=cookie_of(vera))
    stream.start()
    set_decision(caller=Caller(ben.project, "vera"), key="own", value="x")
    set_decision(caller=ben, key="news", value="x")
    assert stream.refs(1) == ["decision:news"]
    stream.close()


def _deactivated(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def _left(user: User) -> None:
    Membership.objects.filter(user=user).delete()


def _promoted(user: User) -> None:
    Membership.objects.filter(user=user).update(role=MEMBER)


def _with_a_new_password(user: User) -> None:
    user.set_password("another")
    user.save()


def _signed_out(user: User) -> None:
    Session.objects.all().delete()


@pytest.mark.parametrize("change", [_deactivated, _left, _promoted, _with_a_new_password, _signed_out])
def test_a_person_whose_rights_change_hears_no_more(
    change: Any, hub: LiveHub, vera: User, apollo: Project, ada_token: str
) -> None:
    stream = ask(hub, EVENTS, headers=cookie_of(vera))
    stream.start()
    with following(hub, ada_token) as other:
        change(vera)
        stream.ends()
        assert open_streams() == 1, "the token goes on"
        set_decision(caller=Caller(apollo, "ben"), key="k", value="x")
        other.next()
    stream.close()


def test_the_21st_stream_of_a_token_is_refused(hub: LiveHub, ada_token: str, ben_token: str) -> None:
    with ExitStack() as opened:
        first = opened.enter_context(following(hub, ada_token))
        for _ in range(19):
            opened.enter_context(following(hub, ada_token))
        answer = ask(hub, EVENTS, ada_token)
        assert answer.status == 429
        assert answer.response.headers["Retry-After"] == "10"
        assert json.loads(answer.response.read())["error"] == "limit_reached"
        opened.enter_context(following(hub, ben_token))
        first.close()
        wait_for_streams(20)
        opened.enter_context(following(hub, ada_token))


def test_a_process_has_so_many_streams(
    hub: LiveHub, ada_token: str, ben_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "MOST", 1)
    with following(hub, ada_token):
        answer = ask(hub, EVENTS, ben_token)
        assert (answer.status, answer.response.headers["Retry-After"]) == (503, "10")


def test_a_reader_that_leaves_is_forgotten(hub: LiveHub, ada_token: str) -> None:
    with following(hub, ada_token):
        assert open_streams() == 1
    wait_for_streams(0)


def test_a_database_that_was_away_leaves_no_gap(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    with following(hub, ada_token) as stream:
        set_decision(caller=ben, key="before", value="x")
        assert stream.refs(1) == ["decision:before"]
        with database_away():
            answer = ask(hub, EVENTS, ada_token)
            assert (answer.status, answer.response.headers["Retry-After"]) == (503, "5")
        set_decision(caller=ben, key="after", value="x")
        assert stream.refs(1) == ["decision:after"]


def slow_reader(hub: LiveHub, token: str, query: str = "", *, project: str = "apollo") -> socket.socket:
    """A connection that asks for the stream, and takes nothing."""
    asking = socket.socket()
    asking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    asking.connect(("127.0.0.1", hub.port))
    path = f"/api/v1/projects/{project}/events/{query}"
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}", "", ""]
    asking.send("\r\n".join(lines).encode())
    return asking


@pytest.mark.parametrize("is_replayed", [False, True], ids=["live", "replayed"])
def test_a_reader_that_takes_nothing_is_dropped(
    is_replayed: bool, hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "SECONDS_TO_TAKE", 0.5)
    set_decision(caller=ben, key="k", value="x")
    before = cursor_of(ben.project)
    if is_replayed:
        _insert_events(ben.project, 9_000, ref="x" * 900)
    with slow_reader(hub, ada_token, f"?since={before}"):
        wait_for_streams(1)
        if not is_replayed:
            _insert_events(ben.project, 9_000, ref="x" * 900)
        wait_for_streams(0)


def test_a_reader_that_falls_behind_is_dropped(
    hub: LiveHub, ada_token: str, ben_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_BEHIND", 1_000)
    set_decision(caller=ben, key="k", value="x")
    with slow_reader(hub, ada_token):
        wait_for_streams(1)
        _insert_events(ben.project, 9_000, ref="x" * 900)
        time.sleep(0.5)  # It takes what fits into its connection.
        _insert_events(ben.project, 1_100)
        wait_for_streams(0)


def test_a_hub_that_ends_waits_for_no_reader_that_takes_nothing(
    hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "SECONDS_TO_TAKE", 1_000_000.0)
    set_decision(caller=ben, key="k", value="x")
    with slow_reader(hub, ada_token):
        wait_for_streams(1)
        _insert_events(ben.project, 9_000, ref="x" * 900)
        [feed] = (each for each in list(wakeups.watch._waiters) if isinstance(each, feeds.Feeds))
        [stream] = feed._readers
        wait_until(lambda: stream._limit is not None)  # type: ignore[attr-defined]
        feed.wake()
        wait_for_streams(0)


# -- What it costs ---------------------------------------------------------------------------------


def test_all_streams_of_a_project_cost_one_query(
    hub: LiveHub, apollo: Project, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [create_token(project=apollo, agent=f"agent-{number}").secret for number in range(3)]
    reads: list[int] = []

    def read(project_id: int, *rest: Any) -> Any:
        reads.append(project_id)
        return read_new_events(project_id, *rest)

    monkeypatch.setattr(wakeups, "read_new_events", read)
    monkeypatch.setattr(event_streams, "read_new_events", read)
    counts = []
    with ExitStack() as opened:
        for number in (1, 29):
            streams = [opened.enter_context(following(hub, tokens[n % 3])) for n in range(number)]
            wait_for_streams(1 if number == 1 else 30)
            set_decision(caller=ben, key=f"warm-{number}", value="x")
            for stream in streams:
                stream.next()
            time.sleep(0.2)
            reads.clear()
            set_decision(caller=ben, key=f"k-{number}", value="x")
            for stream in streams:
                assert stream.refs(1) == [f"decision:k-{number}"]
            time.sleep(0.2)
            counts.append(len(reads))
    assert max(counts) < 10, "one read for each look of the watch"


def test_checking_rights_costs_the_same_for_many(apollo: Project, django_assert_num_queries: Any) -> None:
    tokens = {Listener(verify(create_token(project=apollo).secret)) for _ in range(10)}
    people = set()
    for number in range(10):
        user = person(f"person-{number}", apollo, VIEWER)
        key = signed_in(user).session.session_key or ""
        people.add(person_listening(user, key, {apollo.pk: frozenset({READ})}))
    with django_assert_num_queries(4):
        assert still_listening(tokens | people) == tokens | people


def test_a_stream_holds_no_thread_of_calls(hub: LiveHub, ada_token: str, ben_token: str) -> None:
    with ExitStack() as opened:
        for token in (ada_token, ben_token):
            for _ in range(15):
                opened.enter_context(following(hub, token))
        assert hub.rest(ada_token).get("stats/").status == 200


def test_http_client_is_enough(hub: LiveHub, ada_token: str, ben: Caller) -> None:
    """As `curl -N` reads it: no Accept, plain lines."""
    asking = http.client.HTTPConnection("127.0.0.1", hub.port)
    asking.request("GET", EVENTS, headers={"Authorization": f"Bearer {ada_token}"})
    answer = asking.getresponse()
    assert answer.readline() == b"retry: 2000\n"
    answer.close()
    asking.close()
