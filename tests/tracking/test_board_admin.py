"""The board of leases: its tree, what it draws, who may release, and its numbers against REST."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.console.silence import Presence
from ctxhub.core.accounts.live_sessions import note_session
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Event, Project
from ctxhub.core.refusals.services import WRITER, count_refusal
from messaging.models import Message
from tests.hub import RestClient
from tests.people import ADMIN, MEMBER, VIEWER, member
from tracking.board.found import Held
from tracking.board.tree import fold
from tracking.leases.services import acquire_lease, release_leases
from tracking.models import Lease

pytestmark = pytest.mark.django_db

URL = "/admin/tracking/lease/board/"
LIST = "/admin/tracking/lease/"
NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def shown(client: Client, **query: str) -> str:
    response = client.get(URL, query)
    assert response.status_code == 200
    return response.content.decode()


def lease_at(moment: datetime, caller: Caller, *paths: str, minutes: int = 60, exclusive: bool = True) -> int:
    with time_machine.travel(moment, tick=False):
        made = acquire_lease(caller=caller, paths=paths, minutes=minutes, exclusive=exclusive)
    return made["lease_id"]


def drawn(page: str, title: str = "Held now") -> set[int]:
    """The ids of the leases in one of the trees."""
    tree = page.partition(title)[2].partition("</h2>")[2].partition("<h2")[0]
    return {int(row_id) for row_id in re.findall(r"/tracking/lease/(\d+)/change/", tree)}


def row_of(page: str, lease_id: int) -> str:
    [row] = rows_of(page, lease_id)
    return row


def rows_of(page: str, lease_id: int) -> list[str]:
    return re.findall(rf'<a class="ctx-path" href="[^"]*/{lease_id}/change/">.*?</li>', page)


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<.*?>", " ", html).split()).replace(" ,", ",").replace(" ;", ";")


# -- Content ---------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_a_row_tells_holder_mode_end_and_silence(client: Client, ada: Caller, ben: Caller) -> None:
    silent = lease_at(NOON - 40 * MINUTE, ada, "src/api/**")
    shared = lease_at(NOON - 10 * MINUTE, ben, "docs/**", "lib/a.py", minutes=25, exclusive=False)
    page = shown(client)
    row = row_of(page, silent)
    assert text_of(row) == "src/api/** ada silent; last heard of 40 minutes ago; ends in 20 minutes"
    assert 'class="ctx-hold-silent"' in row
    rows = rows_of(page, shared)
    assert [text_of(row) for row in rows] == [
        f"{path} ben ends in 15 minutes, shared, 2 paths" for path in ("docs/**", "lib/a.py")
    ]
    assert 'class="ctx-hold-live ctx-shared"' in rows[0]
    assert ("All 2" in page, "Silent 1" in page, "2 holders" in page) == (True, True, True)
    assert drawn(shown(client, show="silent")) == {silent}


@time_machine.travel(NOON, tick=False)
def test_bars_lie_on_the_axis_and_now_is_a_line(client: Client, ada: Caller) -> None:
    made = lease_at(NOON - 30 * MINUTE, ada, "src/**", minutes=60)
    page = shown(client)  # From 11:00 to 12:30, when the lease expires.
    assert '<line class="ctx-now" x1="66.67%"' in page
    assert '<rect class="ctx-hold-live" x="33.33%" y="5" width="66.67%"' in row_of(page, made)
    old = shown(client, **{"from": "2026-11-24T08:00", "to": "2026-11-24T09:00"})
    assert 'class="ctx-now"' not in old.partition("ctx-legend")[0]
    assert ("<rect" in row_of(old, made), drawn(old)) == (False, {made})


@time_machine.travel(NOON, tick=False)
def test_ended_leases_of_the_period_are_drawn_apart(client: Client, ada: Caller, ben: Caller) -> None:
    old = lease_at(NOON - 300 * MINUTE, ada, "old", minutes=5)
    expired = lease_at(NOON - 50 * MINUTE, ada, "src/a.py", minutes=5)
    released = lease_at(NOON - 50 * MINUTE, ben, "src/b.py")
    with time_machine.travel(NOON - 5 * MINUTE, tick=False):
        release_leases(caller=ben, lease_id=released)
    page = shown(client)
    assert (drawn(page), drawn(page, "Ended in this period")) == (set(), {expired, released})
    assert "Nobody holds a path now." in page
    assert text_of(row_of(page, released)) == "b.py ben ended 5 minutes ago"
    assert drawn(shown(client, last="12h"), "Ended in this period") == {old, expired, released}


@time_machine.travel(NOON, tick=False)
def test_refused_attempts_are_marks_that_lead_to_the_refusals(
    client: Client, ada: Caller, ben: Caller
) -> None:
    made = lease_at(NOON - 20 * MINUTE, ada, "src/**")
    for minutes in (15, 5):
        with time_machine.travel(NOON - minutes * MINUTE, tick=False):
            count_refusal(ben, Conflict("taken", about=f"lease:{made}"))
    WRITER.flush()
    row = row_of(shown(client), made)
    assert row.count("<title>ben: refused once</title>") == 2
    [url] = re.findall(r'href="([^"]+)">refused twice', row)
    assert client.get(url.replace("&amp;", "&")).context["cl"].result_count == 2
    assert "refused" not in row_of(shown(client, **{"from": "2026-11-24T11:56"}), made)


def tree_of(*leases: Sequence[str]) -> list[str]:
    """The lines of the tree of leases with these paths, indented."""

    held = [Held(Lease(pk=n), paths, NOON, True, Presence.ACTIVE, 0, ()) for n, paths in enumerate(leases)]
    lines, depth = [], 0
    for line in fold(held)[0]:
        depth -= line.is_end
        if not line.is_end:
            lines.append("  " * depth + line.text)
        depth += bool(line.leases)
    return lines


@pytest.mark.parametrize(
    ("leases", "lines"),
    [
        ([["src/api/auth.py"]], ["src/api/auth.py"]),
        ([["src/api/a.py"], ["src/api/b.py"]], ["src/api/", "  a.py", "  b.py"]),
        (
            [["src/api/v1/a.py"], ["src/web/**"], ["src/api/v2/*"]],
            ["src/", "  api/", "    v1/a.py", "    v2/*", "  web/**"],
        ),
        ([["src/**"], ["src/api/**"], ["**"]], ["**", "src/", "  **", "  api/**"]),
        ([["src/"], ["src"], ["src/a"]], ["src", "src/", "  ", "  a"]),
        ([["a"], ["a"]], ["a", "a"]),
        ([["[x]/é?.py"], ["[X]/b"]], ["[X]/b", "[x]/é?.py"]),
        ([["d/" * n + "f"] for n in range(1, 9)], None),
    ],
)
def test_folders_that_several_paths_share_are_one_line(
    leases: Sequence[Sequence[str]], lines: list[str] | None
) -> None:
    drawn = tree_of(*leases)
    if lines is None:
        assert max(line.count("  ") for line in drawn) == 5
        assert len([line for line in drawn if line.endswith("f")]) == len(leases)
    else:
        assert drawn == lines


@pytest.mark.parametrize("path", ["<b>/x.py", "\"/'&.py", "x" * 990, "a/" * 490 + "b", "日本/*.py"])
def test_a_hostile_path_is_shown_as_text(client: Client, ada: Caller, path: str) -> None:
    made = acquire_lease(caller=ada, paths=[path])["lease_id"]
    page = shown(client)
    assert drawn(page) == {made}
    assert "<b>" not in page


def test_an_empty_board_says_so(client: Client) -> None:
    assert "Nobody holds a path, and no lease ended in this period." in shown(client)
    assert "No silent agent holds a path." in shown(client, show="silent")


def test_a_period_that_cannot_be_read_is_said(client: Client) -> None:
    assert "There is no period &#x27;3y&#x27;. Shown: 1 hour." in shown(client, last="3y")


@pytest.mark.every_engine
def test_its_leases_are_those_of_rest(client: Client, ada: Caller, ben: Caller, ada_rest: RestClient) -> None:
    for n in range(12):
        acquire_lease(caller=(ada, ben)[n % 2], paths=[f"src/{n % 3}/{n}.py", f"docs/{n}"], minutes=1 + n)
    gone = acquire_lease(caller=ada, paths=["gone"])["lease_id"]
    release_leases(caller=ada, lease_id=gone)
    listed = {item["lease_id"] for item in ada_rest.get("leases/", limit=200).body["items"]}
    page = shown(client)
    assert (drawn(page), len(listed)) == (listed, 12)
    assert "All 12" in page
    assert drawn(page, "Ended in this period") == {gone}


# -- Release ---------------------------------------------------------------------------------------


def release(client: Client, lease_id: int, **data: str) -> str:
    url = reverse("admin:tracking_lease_force_release", args=[lease_id])
    return client.post(url, {"confirmed": "yes", **data}, follow=True).content.decode()


def test_an_administrator_releases_with_a_reason_and_stays_on_the_board(apollo: Project, ada: Caller) -> None:
    client = member(apollo, ADMIN, "vera")
    made = acquire_lease(caller=ada, paths=["src/**"])["lease_id"]
    assert f'data-url="/admin/tracking/lease/{made}/force_release/"' in row_of(shown(client), made)
    page = release(client, made, reason="Ada is on holiday.", back=f"{URL}?last=12h")
    assert "1 lease was released." in page
    assert drawn(page) == set()
    event = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (str(event.agent), event.data["reason"]) == ("vera", "Ada is on holiday.")
    assert "Ada is on holiday." in Message.objects.in_project(apollo).get().text


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"reason": "x" * 501}, "at most 500 characters"),
        ({"reason": "a\0b"}, "Null characters are not allowed"),
    ],
)
def test_a_reason_that_cannot_be_stored_is_refused_on_the_form(
    apollo: Project, ada: Caller, data: dict[str, str], problem: str
) -> None:
    made = acquire_lease(caller=ada, paths=["src/**"])["lease_id"]
    page = release(member(apollo, ADMIN, "vera"), made, **data)
    assert ("Release 1 lease by force?" in page, problem in page) == (True, True)
    assert Lease.objects.in_project(apollo).get().released_at is None


@pytest.mark.parametrize("back", ["https://evil.example/admin/tracking/lease/", "//evil.example", ""])
def test_a_release_leads_back_to_no_other_page(apollo: Project, ada: Caller, back: str) -> None:
    made = acquire_lease(caller=ada, paths=["src/**"])["lease_id"]
    url = reverse("admin:tracking_lease_force_release", args=[made])
    response = member(apollo, ADMIN).post(url, {"confirmed": "yes", "next": back})
    assert response["Location"] == reverse("admin:tracking_lease_change", args=[made])


@pytest.mark.parametrize("role", [VIEWER, MEMBER])
def test_other_roles_see_no_button_and_release_nothing(apollo: Project, ada: Caller, role: int) -> None:
    client = member(apollo, role)  # type: ignore[arg-type]
    made = acquire_lease(caller=ada, paths=["src/**"])["lease_id"]
    assert "popover" not in shown(client) + client.get(LIST).content.decode()
    release(client, made, back=URL)
    assert Lease.objects.in_project(apollo).get().released_at is None


def test_a_stranger_sees_nothing(hermes: Project, apollo: Project, ada: Caller) -> None:
    client = member(hermes, ADMIN, "cyd")
    made = acquire_lease(caller=ada, paths=["secret/path"])["lease_id"]
    for query in ({}, {"project": apollo.slug}):
        page = shown(client, **query)
        assert ("secret" in page, drawn(page)) == (False, set())
    release(client, made)
    assert Lease.objects.in_project(apollo).get().released_at is None


def test_the_list_has_a_button_for_live_leases_and_finds_the_silent(apollo: Project, ada: Caller) -> None:
    client = member(apollo, ADMIN, "vera")
    live = acquire_lease(caller=ada, paths=["src/**"])["lease_id"]
    ended = acquire_lease(caller=ada, paths=["docs/**"])["lease_id"]
    release_leases(caller=ada, lease_id=ended)
    page = client.get(LIST).content.decode()
    assert re.findall(r'data-url="/admin/tracking/lease/(\d+)/', page) == [str(live)]
    assert client.get(LIST, {"state": "silent"}).context["cl"].result_count == 0
    Agent.objects.in_project(apollo).filter(name="ada").update(last_seen_at=None)
    assert client.get(LIST, {"state": "silent"}).context["cl"].result_count == 1
    back = f"{LIST}?state=silent"
    assert "1 lease was released." in release(client, live, back=back)


# -- Statements ------------------------------------------------------------------------------------


@pytest.mark.every_engine
def test_statements_do_not_grow_with_leases_and_refusals(apollo: Project, ada: Caller, ben: Caller) -> None:
    client = member(apollo, ADMIN, "vera")

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(client)
        return len(captured)

    def act(n: int) -> None:
        made = acquire_lease(caller=ada, paths=[f"src/{n}", f"lib/{n}"])["lease_id"]
        ended = acquire_lease(caller=ben, paths=[f"docs/{n}"])["lease_id"]
        release_leases(caller=ben, lease_id=ended)
        count_refusal(ben, Conflict("taken", about=f"lease:{made}"))
        WRITER.flush()

    act(0)
    few = statements()
    for n in range(1, 8):
        act(n)
    assert statements() <= few <= 25


# -- Sessions --------------------------------------------------------------------------------------


@time_machine.travel(NOON, tick=False)
def test_each_session_is_a_lane(client: Client, ada: Caller, ben: Caller) -> None:
    one = lease_at(NOON, ada.in_session("claude-1a2b"), "src/a.py")
    two = lease_at(NOON, ada.in_session("claude-9z"), "src/b.py")
    none = lease_at(NOON, ben, "docs/**")
    page = shown(client, show="sessions")
    assert drawn(page, "ada, claude-1a2b") == {one}
    assert drawn(page, "ada, claude-9z") == {two}
    assert drawn(page, "ben, no session") == {none}
    assert 'title="claude-1a2b"' in row_of(page, one)


def test_a_session_is_silent_after_half_an_hour(client: Client, ada: Caller) -> None:
    quiet = lease_at(NOON - 31 * MINUTE, ada.in_session("claude-1a2b"), "src/a.py")
    young = lease_at(NOON - 29 * MINUTE, ada.in_session("claude-3c"), "src/c.py")
    heard = lease_at(NOON - 35 * MINUTE, ada.in_session("claude-9z"), "src/b.py")
    with time_machine.travel(NOON - 5 * MINUTE, tick=False), write_transaction(ada.project_id):
        note_session(ada.in_session("claude-9z/part"), clock.now())
    with time_machine.travel(NOON, tick=False):
        page, narrow = shown(client), shown(client, show="silent")
        listed = client.get(LIST, {"state": "silent"}).context["cl"].result_list
    assert "silent; last heard of 31 minutes ago" in text_of(row_of(page, quiet))
    assert "silent" not in text_of(row_of(page, heard) + row_of(page, young))
    assert drawn(narrow) == {lease.pk for lease in listed} == {quiet}


@time_machine.travel(NOON, tick=False)
def test_the_list_shows_and_finds_the_session(client: Client, ada: Caller) -> None:
    lease_at(NOON, ada.in_session("claude-1a2b"), "src/a.py")
    lease_at(NOON, ada.in_session("claude-9z"), "src/b.py")
    page = client.get(LIST, {"q": "claude-1a2b"}).content.decode()
    assert "claude-1a2b" in page
    assert "claude-9z" not in page


def test_an_agents_page_shows_its_live_sessions(client: Client, ada: Caller) -> None:
    with write_transaction(ada.project_id):
        note_session(ada.in_session("claude-<b>"), clock.now())
    lease_at(clock.now(), ada.in_session("claude-<b>"), "src/a.py")
    agent = Agent.objects.in_project(ada.project).get(folded="ada")
    page = client.get(reverse("admin:core_agent_change", args=[agent.pk])).content.decode()
    panel = page.partition("Live sessions")[2].partition("</section>")[0]
    assert "claude-&lt;b&gt;" in panel
    assert "1 lease," in panel
