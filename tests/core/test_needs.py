"""What needs a person: each source, and in which order and to whom it is told."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Agent, PathPattern, Project
from ctxhub.core.refusals.services import WRITER
from ctxhub.core.text.invisible import without_invisible
from ctxhub.toolbox.dispatch import call
from memory.models import Scratchpad, Workflow
from messaging.messages.requests import claim_request
from messaging.messages.services import acknowledge_messages
from messaging.models import Message
from tests.core.stale import change, write_rows
from tests.messaging.mail import inbox, known, send
from tests.needs import as_text, buttons, earlier, hold, owe, told
from tests.people import ADMIN, VIEWER, member, person, signed_in, superuser
from tests.query_plans import explained, plan_by_indexes, start_compact
from tracking.models import Lease

FRIDAY = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOSTILE = '<b onclick="x">\u202eevil</b>'


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, ADMIN, "vera")


def refuse(caller: Caller, path: str) -> None:
    with pytest.raises(Conflict):
        call(caller, "file", {"action": "lease", "paths": [path]})
    WRITER.flush()


# -- Overdue acknowledgements ----------------------------------------------------------------------


@time_machine.travel(FRIDAY, tick=False)
def test_an_agent_owes_acknowledgements(client: Client, ada: Caller, ben: Caller) -> None:
    for days in (3, 2):
        owe(ada, ben, due={"days": days})
    first = owe(ada, ben, due={"days": 1, "hours": 13}, to=["ben", "eve"], priority="critical")
    eve = "eve owes 1 critical acknowledgement since Wednesday"
    assert told(client) == ["ben owes 3 acknowledgements, one critical since Wednesday", eve]
    acknowledge_messages(caller=ben, ids=[first])
    assert told(client) == [eve, "ben owes 2 acknowledgements since Tuesday"]
    [_, need] = client.get("/admin/").context["needs"].shown
    assert client.get(need.links[0].url).context["cl"].result_count == 2  # Not what eve owes.


def test_what_is_not_overdue_or_not_owed_is_not_told(client: Client, ada: Caller, ben: Caller) -> None:
    known(ben)
    send(ada, to=["ben"], ack=True)
    send(ada, to=["ben"], ack_within="2h")
    acknowledge_messages(caller=ben, ids=[owe(ada, ben, due={"hours": 2})])
    assert told(client) == []


def test_a_reminder_names_what_is_owed_and_is_not_repeated_at_once(
    client: Client, ada: Caller, ben: Caller
) -> None:
    owed = [owe(ada, ben, due={"hours": 3}), owe(ada, ben, due={"hours": 5}, priority="critical")]
    assert buttons(client) == ["Remind"]
    [need] = client.get("/admin/").context["needs"].shown
    answer = client.post(need.buttons[0].url, {"agent": "ben"})
    assert answer["Location"] == "/admin/"
    [reminder] = Message.unscoped.filter(sender__name="vera")
    assert reminder.reply_to_id == owed[1]
    assert all(f"message:{message_id}" in reminder.text for message_id in owed)
    assert inbox(ben)[0]["text"] == reminder.text
    assert told(client)[0].endswith("; reminded just now")
    assert buttons(client) == []
    client.post(need.buttons[0].url, {"agent": "ben"})  # The second half of a double click.
    assert Message.unscoped.filter(sender__name="vera").count() == 1
    Message.unscoped.filter(pk=reminder.pk).update(created_at=clock.now() - timedelta(hours=2))
    assert buttons(client) == ["Remind"]


def test_a_person_who_owes_is_addressed(client: Client, ada: Caller, apollo: Project) -> None:
    owe(ada, Caller(project=apollo, agent="vera"), due={"minutes": 30})
    assert told(client) == ["You owe 1 acknowledgement for 30 min"]
    assert buttons(client) == []


# -- Requests ---------------------------------------------------------------------------------------


def test_requests_that_nobody_claims(client: Client, ada: Caller, ben: Caller) -> None:
    known(ben)
    with earlier(hours=3):
        first = send(ada, "Fix the login.", to=["ben"], type="request")
    send(ada, "Too young to be told.", type="request")
    assert told(client) == ["Nobody claims a request for 3 h. ada asks ben: \u201cFix the login.\u201d"]
    with earlier(hours=2):
        send(ada, "Review it.", to=["ben", "eve", "zoe"], type="request", priority="high")
    assert told(client) == [
        "Nobody claims 2 requests. ada asks ben and 2 others: \u201cReview it.\u201d, for 2 h"
    ]
    claim_request(caller=ben, message_id=first)
    assert "a request" in told(client)[0]
    with time_machine.travel(clock.now() + timedelta(hours=1)):
        assert "3 requests" in told(client)[0]  # The claim has expired.


# -- Leases ------------------------------------------------------------------------------------------


def test_a_silent_holder_in_the_way_of_others_is_more_urgent(
    client: Client, ada: Caller, ben: Caller
) -> None:
    eve = ben.speaking_as("eve")
    hold(ada, "docs/**", silent_for={"hours": 5})
    hold(ben, "src/**", silent_for={"hours": 2})
    hold(ben, "src/a.py", silent_for={"hours": 2})
    hold(eve, "lib/**", silent_for={"minutes": 20})
    refuse(eve, "src/b.py")
    assert told(client) == [
        "ben holds src/** and 1 more lease and is silent for 2 h; others were refused once",
        "ada holds docs/** and is silent for 5 h",
    ]
    assert buttons(client) == ["Release", "Release"]


def test_release_asks_first_and_returns_to_the_page(client: Client, ben: Caller) -> None:
    leases = [hold(ben, path, silent_for={"hours": 2}) for path in ("a", "b")]
    [need] = client.get("/admin/?project=apollo").context["needs"].shown
    [release] = need.buttons
    asked = client.post(release.url, {release.name: release.value})
    assert "Release 2 leases by force?" in asked.content.decode()
    assert Lease.unscoped.filter(released_at=None).count() == 2
    answer = client.post(release.url, {"_selected_action": leases, "confirmed": "yes"})
    assert answer["Location"] == "/admin/?project=apollo"
    assert Lease.unscoped.filter(released_at=None).count() == 0
    assert told(client) == []


def test_an_agent_with_very_many_leases(client: Client, ben: Caller) -> None:
    at, agent = clock.now(), Agent.unscoped.create(project=ben.project, name="ben", last_seen_at=clock.now())
    until = {"created_at": at, "expires_at": at + timedelta(hours=1)}
    Lease.unscoped.bulk_create(Lease(project=ben.project, agent=agent, **until) for _ in range(179))
    call(ben, "file", {"action": "lease", "paths": ["x"]})
    assert told(client) == ["ben holds 180 leases of at most 200, the last one taken just now"]


# -- Scratchpads and stale objects -----------------------------------------------------------------


def test_pads_and_workflows_near_their_limits(client: Client, ada: Caller) -> None:
    workflow = call(ada, "scratchpad", {"action": "create_workflow", "name": "Migration"})["workflow_id"]
    pad = {"action": "create", "workflow_id": workflow, "name": "notes", "content": "x"}
    pad_id = call(ada, "scratchpad", pad)["scratchpad_id"]
    pads = Scratchpad.objects.in_project(ada.project_id)
    pads.filter(pk=pad_id).update(size=1_000_000)
    assert told(client) == ["The pad notes of Migration is 95 % full, last written just now"]
    for number in range(44):
        call(ada, "scratchpad", {**pad, "name": f"pad {number}"})
    sentences = ["The workflow Migration has 45 pads of at most 50, last written just now"]
    assert told(client)[1:] == sentences
    call(ada, "scratchpad", {"action": "close_workflow", "workflow_id": workflow})
    assert told(client) == []


def test_what_is_stale_is_one_sentence(client: Client, ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**", "src/a.py"])
    change(ben, "src/a.py", "src/b.py")
    assert told(client) == [
        "1 constraint, 1 decision and 1 memory may no longer hold: src/** changed twice, first just now"
    ]


# -- Together ----------------------------------------------------------------------------------------


def test_six_are_shown_and_the_others_counted(client: Client, ada: Caller) -> None:
    for number in range(8):
        owe(ada, ada.speaking_as(f"worker-{number}"), due={"hours": number + 1})
    hold(ada, "src/**", silent_for={"hours": 1})
    page = client.get("/admin/")
    needs = page.context["needs"]
    assert [as_text(need.sentence).split()[0] for need in needs.shown] == [
        f"worker-{number}" for number in reversed(range(2, 8))
    ]
    assert (needs.total, needs.left_out) == (9, 3)
    assert [link.label for link in needs.more] == [
        "2 agents with overdue acknowledgements",
        "1 leaseholder that fell silent",
    ]


def test_an_idle_hub_needs_nobody(client: Client, ada: Caller) -> None:
    call(ada, "decision", {"key": "a", "value": 1})
    page = client.get("/admin/").content.decode()
    assert "Nothing needs you." in page
    assert "Needs you" not in page


@time_machine.travel(datetime(2026, 11, 20, 3, tzinfo=UTC), tick=False)
def test_days_are_those_of_the_projects_time_zone(client: Client, ada: Caller, ben: Caller) -> None:
    set_config(caller=ada, values={"time_zone": "America/New_York"})
    owe(ada, ben, due={"hours": 50})
    assert told(superuser()) == ["ben owes 1 acknowledgement since Tuesday"]


# -- Who is told -------------------------------------------------------------------------------------


def everything(ada: Caller, ben: Caller) -> None:
    owe(ada, ben, due={"hours": 2})
    hold(ben, "src/**", silent_for={"hours": 2})


def test_a_viewer_reads_sentences_without_buttons(ada: Caller, ben: Caller, apollo: Project) -> None:
    everything(ada, ben)
    viewer, plain = member(apollo, VIEWER, "vi"), member(apollo, username="mia")
    urls = [
        button.url for need in superuser().get("/admin/").context["needs"].shown for button in need.buttons
    ]
    assert (len(told(viewer)), buttons(viewer)) == (2, [])
    assert (len(told(plain)), buttons(plain)) == (2, ["Remind"])
    lease = Lease.unscoped.get().pk
    for client in (viewer, plain):
        client.post(urls[1], {"leases": lease, "confirmed": "yes"})
    viewer.post(urls[0], {"agent": "ben"})
    assert Lease.unscoped.get().released_at is None
    assert Message.unscoped.count() == 1


def test_a_stranger_is_told_nothing(ada: Caller, ben: Caller, hermes: Project, cy: Caller) -> None:
    everything(ada, ben)
    call(cy, "decision", {"key": "a", "value": 1})
    stranger = member(hermes, ADMIN, "stella")
    assert told(stranger) == []
    assert told(stranger, "/admin/?project=apollo") == []
    assert "src/**" not in stranger.get("/admin/overview/?project=apollo").content.decode()
    lease = Lease.unscoped.get().pk
    stranger.post("/admin/messaging/message/remind/?project=apollo", {"agent": "ben"})
    stranger.post("/admin/tracking/lease/release/", {"leases": lease, "confirmed": "yes"})
    assert (Message.unscoped.count(), Lease.unscoped.get().released_at) == (1, None)


def test_needs_of_several_projects_name_theirs(ada: Caller, ben: Caller, cy: Caller, hermes: Project) -> None:
    user = person("vera", ada.project, ADMIN)
    person("vera", hermes, VIEWER)
    hold(ben, "src/**", silent_for={"hours": 2})
    hold(cy, "lib/**", silent_for={"hours": 3})
    client = signed_in(user)
    assert told(client) == [
        "cy holds lib/** and is silent for 3 h in hermes",
        "ben holds src/** and is silent for 2 h in apollo",
    ]
    assert buttons(client) == ["Release"]  # She only reads hermes.
    assert told(client, "/admin/?project=apollo") == ["ben holds src/** and is silent for 2 h"]


def test_names_and_texts_are_escaped(client: Client, ada: Caller) -> None:
    evil = ada.speaking_as(without_invisible(HOSTILE))
    owe(ada, evil, due={"hours": 2})
    hold(evil, "src/**", silent_for={"hours": 2})
    with earlier(hours=1):
        send(evil, f"{HOSTILE} {'long ' * 100}", type="request")
    page = client.get("/admin/").content.decode()
    assert len(told(client)) == 3
    assert "<b onclick" not in page
    assert page.count("<bdi") == page.count("</bdi>")


@pytest.mark.parametrize("url", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_a_button_returns_to_pages_of_the_hub_alone(client: Client, url: str) -> None:
    answer = client.post("/admin/messaging/message/remind/", query_params={"project": "apollo", "next": url})
    assert answer["Location"] == "/admin/"


# -- Renewal and cost --------------------------------------------------------------------------------


def test_the_page_asks_whether_it_has_changed(client: Client, ada: Caller, ben: Caller) -> None:
    call(ada, "decision", {"key": "a", "value": 1})
    first = client.get("/admin/overview/")
    known_as = {"If-None-Match": first["ETag"]}
    assert "Nothing needs you." in first.content.decode()
    assert client.get("/admin/overview/", headers=known_as).status_code == 304
    hold(ben, "src/**", silent_for={"hours": 2})
    assert "src/**" in client.get("/admin/overview/", headers=known_as).content.decode().replace("<wbr>", "")


def test_only_people_who_are_signed_in_may_ask(db: None) -> None:
    assert Client().get("/admin/overview/").status_code == 302


def test_the_queries_do_not_grow(client: Client, ada: Caller, ben: Caller) -> None:
    def grow(count: int) -> None:
        for number in range(count):
            agent = ada.speaking_as(f"agent-{count}-{number}")
            owe(ada, agent, due={"hours": 2})
            hold(agent, f"src/{count}/{number}/**", silent_for={"hours": 2})
            with earlier(hours=2):
                send(agent, type="request")

    def queries(url: str) -> int:
        client.get(url)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(url).status_code == 200
        return len(captured)

    write_rows(ada, ["src/**"])
    change(ben, "src/a.py")
    grow(1)
    few: Any = [queries(url) for url in ("/admin/", "/admin/overview/")]
    grow(12)
    assert [queries(url) for url in ("/admin/", "/admin/overview/")] == few
    assert few[0] <= 24


INDEXES = {
    "messaging_with_ack",
    "messaging_requests",
    "tracking_lease_live",
    "memory_scratchpad_nearly_full",
    "core_pathpattern_stale",
}


NEEDS = ("OVER (", "f.stale", 'SUM(COALESCE((SELECT SUM(U0."count")')


def test_needs_are_found_by_indexes(client: Client, ada: Caller, ben: Caller) -> None:
    """However many rows are settled, each statement reads a partial index without them."""
    start_compact(Message, Lease, Workflow, PathPattern)
    known(ben)
    for number in range(60):
        send(ada, f"message {number}")
    workflows = Workflow.unscoped.bulk_create(Workflow(project=ada.project) for _ in range(20))
    Scratchpad.unscoped.bulk_create(
        Scratchpad(project=ada.project, workflow=workflow, name=str(number))
        for workflow in workflows
        for number in range(30)
    )
    plan_by_indexes()
    with CaptureQueriesContext(connection) as captured:
        client.get("/admin/overview/")
    statements = [query["sql"] for query in captured if any(part in query["sql"] for part in NEEDS)]
    plans = [explained(statement) for statement in statements]
    assert len(plans) == 6
    assert [plan for plan in plans if not any(name in plan for name in INDEXES)] == []
    assert {name for plan in plans for name in INDEXES if name in plan} == INDEXES
