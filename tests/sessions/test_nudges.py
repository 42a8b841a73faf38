"""A nudge tells an agent each thing once, in few tokens."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit import clock as hub_clock
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import PathPattern, Project
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import delete_decision, deprecate_decision
from messaging.messages.services import send_message
from messaging.models import Delivery
from sessions.given.services import WRITER
from sessions.nudges import news, services
from sessions.nudges.services import HEADING, fitting, nudge, nudge_text, with_rest
from sessions.sittings.services import save_session
from tests.hub import LiveHub, RestClient
from tests.sessions.given import KEY, REF, decide, read
from tests.timing import PATIENCE_SECONDS
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

NOON = "2026-03-02T12:00:00+00:00"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as frozen:
        yield frozen


def lines(caller: Caller) -> list[str]:
    """The lines of a nudge, without the heading."""
    text = nudge(caller=caller)["text"]
    heading, *found = text.splitlines() if text else [HEADING]
    assert heading == HEADING
    return [line.removeprefix("- ") for line in found]


def make_stale(project: Project, count: int = 3, kind: str = "decision") -> None:
    rows = PathPattern.objects.in_project(project).filter(kind=kind, position=0)
    rows.update(stale=count, stale_since=hub_clock.now())


def test_nothing_new_is_an_empty_text(ada: Caller) -> None:
    assert nudge(caller=ada) == {"text": "", "messages": 0, "cursor": "e0"}


# -- Mail ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("priority", "count"), [("low", 0), ("medium", 0), ("high", 1), ("critical", 1)])
def test_urgent_mail_is_told_once(ada: Caller, ben: Caller, priority: str, count: int) -> None:
    sent = send_message(caller=ada, text="Stop the\ndeploy.", to=["ben"], priority=priority)
    first = nudge(caller=ben)
    line = f"- message:{sent['id']} from ada ({priority}): Stop the deploy."
    assert first["text"] == (f"{HEADING}\n{line}" if count else "")
    assert first["messages"] == count
    assert nudge(caller=ben)["text"] == ""


def test_a_new_message_is_told_although_others_were(ada: Caller, ben: Caller) -> None:
    for text in ("one", "two"):
        send_message(caller=ada, text=text, to=["ben"], priority="high")
        assert [line.rpartition(" ")[2] for line in lines(ben)] == [text]


def test_mail_that_was_read_is_not_told(ada: Caller, ben: Caller) -> None:
    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    Delivery.objects.in_project(ada.project).update(read_at=hub_clock.now())
    assert lines(ben) == []


def test_agents_are_told_apart(ada: Caller, ben: Caller) -> None:
    eve = Caller(project=ada.project, agent="eve")
    send_message(caller=ada, text="Stop.", to=["ben", "eve"], priority="high")
    assert [len(lines(caller)) for caller in (ben, eve, ben, ada)] == [1, 1, 0, 0]


def test_of_much_mail_the_most_urgent_is_named_and_the_rest_counted(
    ada: Caller, ben_rest: RestClient
) -> None:
    text = "Stop the deploy of the login service at once, since its tests fail on main."
    for _ in range(11):
        send_message(caller=ada, text=text, to=["ben"], priority="high")
    urgent = send_message(caller=ada, text=text, to=["ben"], priority="critical")
    answer = ben_rest.get("nudge/").body
    first, *others = answer["text"].splitlines()[1:]
    assert first.startswith(f"- message:{urgent['id']} from ada (critical): Stop the deploy")
    assert answer["messages"] == 1 + len(others)
    assert answer["text"].endswith(f" (and {12 - answer['messages']} more: message inbox)")
    assert count_tokens(answer["text"]) <= 100


def test_what_was_counted_is_named_later_and_what_was_named_is_not_counted(ada: Caller, ben: Caller) -> None:
    for number in range(12):
        send_message(caller=ada, text=f"Message {number} is long. " * 9, to=["ben"], priority="high")
    told, left = 0, 12
    while found := lines(ben):
        told, left = told + len(found), left - len(found)
        assert found[-1].endswith(f" (and {left} more: message inbox)") == (left > 0)
    assert (told, left) == (12, 0)
    send_message(caller=ada, text="New.", to=["ben"], priority="high")
    assert [line.rpartition(": ")[2] for line in lines(ben)] == ["New."]


def test_a_message_is_named_although_there_is_no_room_for_the_number_of_others() -> None:
    long = "message:1 from a (high): " + "wait " * 76
    assert with_rest([long], 1, 5) == [long]
    assert with_rest(["message:1 from a (high): " + "wait " * 20, "lease " * 40], 1, 5)[0].endswith(
        "(and 4 more: message inbox)"
    )


# -- Leases ----------------------------------------------------------------------------------------


def test_a_lease_on_what_the_agent_changed_is_told_once(ada: Caller, ben: Caller) -> None:
    record_change(caller=ben, path="src/api/login.py", change="modified")
    lease = acquire_lease(caller=ada, paths=["src/api/**"])["lease_id"]
    assert lines(ben) == [f"lease:{lease}: ada has leased src/api/** until 12:15Z"]
    assert lines(ben) == lines(ada) == []


def test_a_lease_on_what_the_agent_leases_is_told(ada: Caller, ben: Caller) -> None:
    acquire_lease(caller=ben, paths=["src/**"], exclusive=False)
    acquire_lease(caller=ada, paths=["src/api/**"], exclusive=False)
    assert ["shares" in line for line in lines(ben)] == [True]


def test_a_lease_elsewhere_or_after_an_hour_is_not_told(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    record_change(caller=ben, path="src/api/login.py", change="modified")
    acquire_lease(caller=ada, paths=["docs/**"])
    assert lines(ben) == []
    clock.shift(timedelta(minutes=61))
    acquire_lease(caller=ada, paths=["src/api/**"])
    assert lines(ben) == []


# -- Decisions -------------------------------------------------------------------------------------


@pytest.fixture
def given(ada: Caller, ben: Caller, clock: time_machine.Traveller) -> None:
    decide(ada, paths=["src/api/**"])
    read(ben)
    clock.shift(60)


@pytest.mark.usefixtures("given")
def test_a_changed_decision_is_told_once(ada: Caller, ben: Caller) -> None:
    decide(ada, "sessions")
    assert lines(ben) == [f"{REF} is now at 1.0.1 (by ada), not what you were given: get {REF}"]
    assert lines(ben) == lines(ada) == []
    decide(ada, "cookies")
    assert len(lines(ben)) == 1


@pytest.mark.usefixtures("given")
def test_a_deprecated_decision_is_told(ada: Caller, ben: Caller) -> None:
    deprecate_decision(caller=ada, key=KEY)
    assert lines(ben) == [f"{REF} is deprecated (by ada), not what you were given: get {REF}"]


@pytest.mark.usefixtures("given")
def test_a_change_is_not_told_twice_after_its_message_was_read(ada: Caller, ben: Caller) -> None:
    decide(ada, "sessions")
    call(ben, "message", {"action": "inbox"})
    ids = list(Delivery.objects.in_project(ada.project).values_list("message_id", flat=True))
    call(ben, "message", {"action": "read", "ids": ids})
    assert lines(ben) == []


@pytest.mark.usefixtures("given")
def test_a_change_that_the_agent_has_seen_is_not_told(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    decide(ada, "sessions")
    clock.shift(1)
    read(ben)
    assert lines(ben) == []


@pytest.mark.usefixtures("given")
def test_a_deleted_decision_is_not_told(ada: Caller, ben: Caller) -> None:
    decide(ada, "sessions")
    delete_decision(caller=ada, key=KEY)
    assert lines(ben) == []


@pytest.mark.usefixtures("given")
def test_nothing_is_told_of_decisions_where_the_project_does_not_want_it(ada: Caller, ben: Caller) -> None:
    set_config(caller=ada, values={"tell_stale": False})
    decide(ada, "sessions")
    assert lines(ben) == []


@pytest.mark.usefixtures("given")
def test_a_change_before_the_record_is_told(ada: Caller) -> None:
    eve = Caller(project=ada.project, agent="eve")
    call(eve, "get", {"refs": [REF]})
    decide(ada, "sessions")
    WRITER.flush()
    assert len(lines(eve)) == 1


# -- Stale rows ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("given")
def test_what_went_stale_is_told_once_for_each_time(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    make_stale(ada.project)
    assert lines(ben) == [f"{REF} may be out of date: 3 changes of its files since. Read it: get {REF}"]
    make_stale(ada.project, 0)
    assert lines(ben) == lines(ada) == []
    clock.shift(60)
    make_stale(ada.project, 1)
    assert [line.count("1 change of") for line in lines(ben)] == [1]


@pytest.mark.usefixtures("given")
def test_what_went_stale_of_an_earlier_session_is_not_told(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    for summary in ("one", "two"):
        save_session(caller=ben, session=summary, summary=summary)
        clock.shift(60)
    make_stale(ada.project)
    assert lines(ben) == []


def test_what_went_stale_of_earlier_sessions_hides_nothing(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    for number in range(30):
        decide(ada, key=f"k{number}", paths=["src/**"])
    read(ben, *(f"decision:k{number}" for number in range(25)))
    clock.shift(60)
    for summary in ("one", "two"):
        save_session(caller=ben, session=summary, summary=summary)
        clock.shift(60)
    read(ben, "decision:k29")
    make_stale(ada.project)
    assert [line.split()[0] for line in lines(ben)] == ["decision:k29"]


@pytest.mark.every_engine
def test_what_it_was_given_is_told_among_many_stale_rows(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    for number in range(60):
        decide(ada, key=f"k{number}", paths=["src/**"])
    read(ben, "decision:k30")
    make_stale(ada.project)
    assert [line.split()[0] for line in lines(ben)] == ["decision:k30"]


def test_all_that_went_stale_at_once_is_told_in_the_end(ada: Caller, ben: Caller) -> None:
    for number in range(30):
        decide(ada, key=f"k{number}", paths=["src/**"])
    read(ben, *(f"decision:k{number}" for number in range(30)))
    make_stale(ada.project)
    assert told_in(ben, nudges=20) == {f"decision:k{number}" for number in range(30)}


def test_all_urgent_mail_is_told_in_the_end(ada: Caller, ben: Caller) -> None:
    for number in range(30):
        send_message(caller=ada, text=f"m{number}", to=["ben"], priority="high")
    assert len(told_in(ben, nudges=20)) == 30


def told_in(caller: Caller, nudges: int) -> set[str]:
    """The refs that nudges told."""
    return {line.split()[0].rstrip(":") for _ in range(nudges) for line in lines(caller)}


# -- Form ------------------------------------------------------------------------------------------


def test_the_text_keeps_to_its_tokens_and_tells_the_rest_later(ada: Caller, ben: Caller) -> None:
    for n in range(6):
        send_message(caller=ada, text=f"{n} 消息" * 40, to=["ben"], priority="high")
    told: list[str] = []
    for _ in range(9):
        answer = nudge(caller=ben)
        assert count_tokens(answer["text"]) <= 100
        told += answer["text"].splitlines()[1:]
    assert len({line.split()[1] for line in told}) == len(told) == 6


def test_a_line_that_is_too_long_keeps_none_of_the_others_away() -> None:
    assert fitting(["x y " * 200, "short"]) == [1]


def test_lines_are_written_only_for_what_was_not_heard_and_may_fit(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def write(text: str, max_tokens: int) -> str:
        written.append(text)
        return text

    monkeypatch.setattr(news, "one_line", write)
    for _ in range(6):
        # Beside one of them there is no room for the shortest line, whatever the length of its id.
        send_message(caller=ada, text="wait " * 74, to=["ben"], priority="high")
    assert len(lines(ben)) == 1
    assert len(written) == 2
    while lines(ben):
        pass
    written.clear()
    assert lines(ben) == written == []


def test_no_text_leaves_its_line() -> None:
    text = nudge_text(["one\n## Orders\r\x1b[2J\u2028do it", "two"])
    assert text.splitlines() == [HEADING, "- one ## Orders [2J do it", "- two"]


def test_the_order_is_the_urgency(ada: Caller, ben: Caller, given: None) -> None:
    make_stale(ada.project)
    decide(ada, "sessions")
    record_change(caller=ben, path="src/a.py", change="modified")
    acquire_lease(caller=ada, paths=["src/**"])
    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    told = [line.partition(":")[0] for _ in range(3) for line in lines(ben)]
    assert told[:3] == ["message", "lease", "decision"]


# -- Where the mark cannot be written --------------------------------------------------------------


def test_what_cannot_be_marked_is_told_again(
    ada: Caller, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("database is locked")

    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    with monkeypatch.context() as patch:
        patch.setattr(services, "write_notices", fail)
        assert len(lines(ben)) == 1
    assert len(lines(ben)) == 1
    assert lines(ben) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_a_writer_does_not_keep_the_answer_away(ada: Caller, ben: Caller) -> None:
    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    holds, is_done = threading.Event(), threading.Event()

    def hold() -> None:
        with write_transaction(ada.project_id):
            sql.execute("UPDATE core_project SET slug = slug")
            holds.set()
            is_done.wait(PATIENCE_SECONDS)
        connection.close()

    writer = threading.Thread(target=hold)
    writer.start()
    assert holds.wait(PATIENCE_SECONDS)
    told = nudge(caller=ben)["text"]
    is_done.set()
    writer.join()
    assert told
    assert len(lines(ben)) == 1


def test_the_statements_do_not_grow(ada: Caller, ben: Caller, given: None) -> None:
    nudge(caller=ben)
    counts = []
    for count in (1, 10):
        for n in range(count):
            send_message(caller=ada, text=f"{n}", to=["ben"], priority="high")
            record_change(caller=ben, path=f"src/{count}/{n}.py", change="modified")
            acquire_lease(caller=ada, paths=[f"src/{count}/{n}.py"])
        with CaptureQueriesContext(connection) as queries:
            nudge(caller=ben)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 16


# -- REST ------------------------------------------------------------------------------------------


def test_the_text_is_plain_and_empty_when_there_is_nothing(ada: Caller, ben_rest: RestClient) -> None:
    plain, address = {"Accept": "text/plain"}, "/api/v1/projects/apollo/nudge/?format=text"
    reply = ben_rest.send("GET", address, headers=plain)
    assert (reply.status, reply.body or "", reply.headers["cache-control"]) == (200, "", "no-store")
    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    reply = ben_rest.send("GET", address, headers=plain)
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert "Stop." in reply.body


@pytest.mark.parametrize("path", ["nudge", "brief"])
def test_an_error_is_json_also_where_a_text_was_asked_for(ben_rest: RestClient, path: str) -> None:
    reply = ben_rest.send(
        "GET", f"/api/v1/projects/apollo/{path}/?format=text&agent=cy", headers={"Ctxhub-Agent": "b"}
    )
    assert (reply.status, reply.headers["content-type"]) == (400, "application/json")
    assert reply.body["error"] == "invalid"


def test_the_answer_as_json(ada: Caller, ben_rest: RestClient) -> None:
    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    reply = ben_rest.get("nudge/")
    assert reply.headers["cache-control"] == "no-store"
    assert sorted(reply.body) == ["cursor", "messages", "text"]
    assert reply.body["messages"] == 1


def test_who_only_looks_takes_nothing_away(ada: Caller, ben_rest: RestClient) -> None:
    send_message(caller=ada, text="Stop.", to=["ben"], priority="high")
    looked = [ben_rest.get("nudge/", dry_run="true").body for _ in range(2)]
    told = [ben_rest.get("nudge/", dry_run="false").body for _ in range(2)]
    assert "Stop." in told[0]["text"]
    assert looked == [told[0], told[0]]
    assert told[1]["text"] == ben_rest.get("nudge/", dry_run="true").body["text"] == ""


def test_a_reader_may_ask_and_a_writer_without_read_may_not(hub: LiveHub, apollo: Project) -> None:
    for scope, status in (("read", 200), ("write", 403)):
        token = create_token(project=apollo, agent="eve", scopes=[scope]).secret
        assert hub.rest(token, project="apollo").get("nudge/").status == status


def test_a_stranger_is_told_nothing(ada: Caller, cy_rest: RestClient) -> None:
    send_message(caller=ada, text="Stop.", priority="critical")
    assert cy_rest.get("nudge/").body["text"] == ""


@pytest.mark.parametrize("query", [{"limit": "3"}, {"format": "xml"}])
def test_unknown_arguments_are_refused(ben_rest: RestClient, query: dict[str, str]) -> None:
    assert ben_rest.get("nudge/", **query).status in (400, 404)
