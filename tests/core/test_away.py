"""While you were away: what each agent did since the person's last visit, in a lane and a sentence."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console.away.lanes import Lane
from ctxhub.console.away.page import Away
from ctxhub.core.accounts.config import set_config
from ctxhub.core.accounts.visits import LATER
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Agent, Event, Project
from ctxhub.core.refusals.services import WRITER
from ctxhub.core.text.invisible import without_invisible
from ctxhub.toolbox.dispatch import call
from messaging.messages.services import send_message
from tests.core.test_timeline_admin import NOON, markup, table, write_at
from tests.hostile import HOSTILE
from tests.marks import unmarked
from tests.needs import as_text
from tests.people import MEMBER, VIEWER, member, person, signed_in, superuser
from tests.query_plans import explained, plan_by_indexes
from tracking.overview import common_path

pytestmark = pytest.mark.django_db

EVENING, MORNING = NOON - timedelta(hours=18), NOON - timedelta(hours=3)
HOUR = timedelta(hours=1)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, VIEWER, username="vi")


def away(client: Client, url: str = "/admin/", at: datetime = MORNING) -> Away:
    with time_machine.travel(at, tick=False):
        response = client.get(url)
        LATER.flush()
    assert response.status_code == 200
    found: Away = response.context["away"]
    return found


def lane_of(told: Away, name: str) -> Lane:
    [lane] = [lane for lane in told.lanes if lane.work.name == name]
    return lane


def sentences(told: Away) -> dict[str, str]:
    return {lane.work.name: as_text(lane.sentence) for lane in told.lanes}


def decide(caller: Caller, key: str, value: object, at: datetime = MORNING - HOUR, **more: Any) -> None:
    write_at(at, caller, "decision", action="set", key=key, value=value, **more)


def change(caller: Caller, *paths: str, at: datetime = MORNING - HOUR) -> None:
    for path in paths:
        write_at(at, caller, "file", action="record", path=path, change="modified")


def refuse(caller: Caller, path: str, times: int = 1) -> None:
    with time_machine.travel(MORNING - HOUR, tick=False):
        for _ in range(times):
            with pytest.raises(Conflict):
                call(caller, "file", {"action": "lease", "paths": [path]})
        WRITER.flush()


# -- The sentence ------------------------------------------------------------------------------------


def test_a_night_is_told_in_one_sentence(client: Client, ada: Caller, ben: Caller) -> None:
    decide(ada, "web/bundle", 180, at=EVENING - 9 * HOUR)
    away(client, at=EVENING)
    decide(ada, "web/bundle", 170)
    decide(ada, "web/bundle", 160)
    decide(ada, "api/auth", "JWT")
    decide(ada, "api/limit", "none")
    change(ada, "web/app.css", "web/pages/cart.html", "web/app.css", "web/pages/shop.html")
    write_at(MORNING - HOUR, ben, "file", action="lease", paths=["api/**"], minutes=600)
    refuse(ada, "api/**")
    with time_machine.travel(MORNING - HOUR, tick=False):
        send_message(caller=ada, text="May I drop legacy_cart?", to=["vi"], choices=["Yes", "No"])
    assert sentences(away(client)) == {
        "ada": "3 decisions (web/bundle 180 > 160), 3 files in web/, 1 refusal, waits for you and 1 more",
        "ben": "1 lease",
    }


def test_at_most_four_parts_are_told_and_the_others_counted(client: Client, ada: Caller) -> None:
    decide(ada, "api/auth", "JWT")
    change(ada, "api/auth.py")
    for tool, arguments in {
        "constraint": {"action": "add", "text": "No secrets.", "category": "security"},
        "memory": {"action": "add", "title": "Note", "content": "Text"},
        "snapshot": {"action": "save", "content": "Chose JWT."},
        "message": {"action": "send", "text": "Done."},
    }.items():
        write_at(MORNING - HOUR, ada, tool, **arguments)
    with time_machine.travel(MORNING - HOUR, tick=False):
        WRITER.flush()
    told = sentences(away(client))["ada"]
    assert told.startswith("1 decision (api/auth = JWT), 1 constraint, 1 file (api/auth.py), 1 memory and ")
    events = Event.objects.in_project(ada.project_id).exclude(noun__in=("decision", "constraint", "change"))
    assert told.endswith(f"and {events.exclude(noun='memory').count()} more")


@pytest.mark.parametrize(
    ("key", "values", "words"),
    [
        ("api/auth", ["JWT"], "api/auth = JWT"),
        ("api/auth", ["JWT", "OAuth"], "api/auth = OAuth"),  # It is new all the same.
        ("api/auth", ["long " * 9], "api/auth"),
        ("a-folder-of-a/very-long-name/auth", ["JWT"], "auth = JWT"),
        ("x" * 60, ["JWT"], f"{'x' * 32}… = JWT"),
    ],
)
def test_the_words_of_a_decision(
    key: str, values: list[str], words: str, client: Client, ada: Caller
) -> None:
    for value in values:
        decide(ada, key, value)
    assert sentences(away(client)) == {"ada": f"1 decision ({words})"}


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ({"action": "set", "value": "OAuth"}, "api/auth JWT > OAuth"),
        ({"action": "set", "value": "long " * 9}, "api/auth"),
        ({"action": "set", "value": "JWT", "rationale": "Simple."}, "api/auth = JWT"),
        ({"action": "deprecate", "reason": "Old."}, "api/auth deprecated"),
    ],
)
def test_the_words_of_a_changed_decision(
    act: dict[str, str], words: str, client: Client, ada: Caller, ben: Caller
) -> None:
    decide(ada, "api/auth", "JWT", at=NOON - timedelta(days=3))
    write_at(MORNING - HOUR, ben, "decision", key="api/auth", **act)
    assert sentences(away(client)) == {"ben": f"1 decision ({words})"}


def test_a_changed_value_is_told_before_newer_decisions(client: Client, ada: Caller) -> None:
    decide(ada, "web/bundle", 180, at=NOON - timedelta(days=3))
    decide(ada, "web/bundle", 160, at=MORNING - 2 * HOUR)
    decide(ada, "api/auth", "JWT")
    assert sentences(away(client)) == {"ada": "2 decisions (web/bundle 180 > 160)"}


def test_what_others_changed_later_is_not_told_of_the_first(client: Client, ada: Caller, ben: Caller) -> None:
    decide(ada, "web/bundle", 180, at=NOON - timedelta(days=3))
    decide(ada, "web/bundle", 170, at=MORNING - 2 * HOUR)
    decide(ben, "web/bundle", 160)
    told = sentences(away(client))
    assert told["ada"] == "1 decision (web/bundle 180 > 170)"
    assert told["ben"] == "1 decision (web/bundle 170 > 160), 1 message"  # To ada, who knew the value before.


@pytest.mark.parametrize(
    ("paths", "folder"),
    [
        (["web/app.css"], "web/app.css"),
        (["web/app.css", "web/cart.html"], "web/"),
        (["web/cart.html", "web/pages/a.html", "web/app.css"], "web/"),
        (["web/pages/a.html", "web/pages/ab.html"], "web/pages/"),
        (["web/a", "website/b"], ""),
        (["README.md", "web/a"], ""),
        (["é/a", "é/ω"], "é/"),
    ],
)
def test_the_common_folder_of_files(paths: list[str], folder: str) -> None:
    refs = [f"resource:{path}" for path in paths]
    assert common_path(min(refs), max(refs)) == folder


def test_files_are_named_with_their_folder_whatever_the_collation(client: Client, ada: Caller) -> None:
    change(ada, "Web/a.py", "web/b.py", "web-1/a.py", "Web/Ä.py")
    assert sentences(away(client)) == {"ada": "4 files"}


# -- Who is told --------------------------------------------------------------------------------------


def test_who_waits_for_the_person_comes_first_even_without_other_work(
    client: Client, ada: Caller, ben: Caller
) -> None:
    write_at(NOON - timedelta(days=3), ben, "message", action="send", text="Which?", to=["vi"])
    decide(ada, "api/auth", "JWT")
    told = away(client)
    assert [*sentences(told).items()] == [("ben", "waits for you"), ("ada", "1 decision (api/auth = JWT)")]
    assert lane_of(told, "ben").work.events == 0


def test_what_is_put_off_or_answered_does_not_wait(apollo: Project, ada: Caller, ben: Caller) -> None:
    client = signed_in(person("vi", apollo, MEMBER))
    with time_machine.travel(MORNING - HOUR, tick=False):
        later = send_message(caller=ada, text="Which?", to=["vi"])["id"]
        asked = send_message(caller=ben, text="Drop it?", to=["vi"], choices=["Yes", "No"])["id"]
    with time_machine.travel(MORNING, tick=False):
        for what in (f"later:{later}", f"choose:{asked}:No"):
            client.post("/admin/messaging/message/for-you/answer/", {"do": what})
    told = sentences(away(client, at=MORNING + timedelta(minutes=1)))
    assert {told["ada"], told["ben"]} == {"1 message"}


def test_people_have_names_and_the_reader_is_you(apollo: Project, ada: Caller) -> None:
    vi, grace = (person(name, apollo, MEMBER) for name in ("vi", "grace"))
    for user in (vi, grace):
        caller = Caller(project=apollo, agent=user.username, is_person=True)
        decide(caller, f"by/{user.username}", "x")
    told = away(signed_in(vi))
    shown = {lane.work.name: re.sub("<[^>]+>", "", unmarked(lane.name)) for lane in told.lanes}
    assert shown == {"vi": "You", "grace": "grace"}


def test_what_no_agent_did_is_told_last(client: Client, apollo: Project, ada: Caller) -> None:
    changes = [Change("hub", "cleaned", f"hub:{number}", {}) for number in range(3)]
    record(project_id=apollo.pk, agent_id=None, changes=changes, at=MORNING - HOUR)
    decide(ada, "api/auth", "JWT")
    told = away(client)
    assert [*sentences(told).items()][1:] == [("system", "3 other events")]
    assert "#" not in lane_of(told, "system").url


def test_an_agent_that_was_refused_is_told_though_it_is_not_registered(
    client: Client, ada: Caller, ben: Caller
) -> None:
    write_at(MORNING - HOUR, ada, "file", action="lease", paths=["api/**"], minutes=600)
    refuse(ben, "api/**", times=2)
    Agent.objects.in_project(ben.project_id).filter(folded="ben").delete()
    told = away(client)
    assert sentences(told)["ben"] == "2 refusals"
    assert "href" not in lane_of(told, "ben").name


def test_twelve_agents_are_told_and_the_others_counted(client: Client, ada: Caller) -> None:
    for number in range(14):
        decide(ada.speaking_as(f"agent-{number:02}"), f"key/{number}", "x")
    told = away(client)
    assert (len(told.lanes), told.left_out) == (12, 2)
    with time_machine.travel(MORNING, tick=False):
        page = client.get("/admin/").content.decode()
        [url] = re.findall(r'href="([^"]+)">and 2 more agents', page)
        rows = client.get(url.replace("&amp;", "&")).context["rows"]
    assert len(rows) == 14


def test_another_project_is_not_told(client: Client, ada: Caller, cy: Caller) -> None:
    decide(cy, "secret/key", "x")
    decide(ada, "api/auth", "JWT")
    for url in ("/admin/", "/admin/?project=hermes", "/admin/overview/?project=hermes"):
        assert [*sentences(away(client, url))] == ["ada"]


def test_several_projects_are_told_together_and_named(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy.speaking_as("ada")):
        decide(caller, f"of/{caller.project.slug}", "x")
    client = superuser()
    told = away(client)
    found = {lane.project: (as_text(lane.sentence), lane.url) for lane in told.lanes}
    assert {project: sentence for project, (sentence, _) in found.items()} == {
        "apollo": "1 decision (of/apollo = x)",
        "hermes": "1 decision (of/hermes = x)",
    }
    assert all(f"project={project}" in url for project, (_, url) in found.items())
    assert [lane.project for lane in away(client, "/admin/?project=apollo").lanes] == [""]


# -- The period ---------------------------------------------------------------------------------------


def test_the_first_visit_is_told_the_last_24_hours(client: Client, ada: Caller) -> None:
    decide(ada, "too/old", "x", at=MORNING - timedelta(hours=25))
    decide(ada, "api/auth", "JWT", at=MORNING - timedelta(hours=23))
    assert sentences(away(client)) == {"ada": "1 decision (api/auth = JWT)"}
    with time_machine.travel(MORNING, tick=False):
        assert "This is your first visit: the last 24 hours." in client.get("/admin/").content.decode()


def test_reloading_and_another_browser_do_not_empty_the_story(apollo: Project, ada: Caller) -> None:
    vi = person("vi", apollo, VIEWER)
    decide(ada, "api/old", "x", at=EVENING - HOUR)
    away(signed_in(vi), at=EVENING)
    decide(ada, "api/auth", "JWT")
    for minutes in (0, 10, 29, 45):
        told = away(signed_in(vi), at=MORNING + timedelta(minutes=minutes))
        assert sentences(told) == {"ada": "1 decision (api/auth = JWT)"}
        assert told.period.begin == EVENING


def test_the_page_renews_the_period_that_it_was_opened_with(apollo: Project, ada: Caller) -> None:
    client = signed_in(person("vi", apollo, VIEWER))
    decide(ada, "api/old", "x", at=EVENING - HOUR)
    away(client, at=EVENING)
    decide(ada, "api/auth", "JWT")
    with time_machine.travel(MORNING, tick=False):
        url = client.get("/admin/").context["live_url"]  # Not noted yet: the writer is slow.
        renewed = client.get(url).context["away"]
    assert renewed.period.begin == EVENING
    LATER.flush()
    # Whoever reads on for two hours is still told of the night; on the next morning of the next night.
    assert away(client, url, at=MORNING + 2 * HOUR).period.begin == EVENING
    assert away(client, url, at=MORNING + 22 * HOUR).period.begin == MORNING


@pytest.mark.parametrize("since", ["x", "2026-11-24", "2026-13-40T10:00", "9999-12-31T23:59:59+00:00", "\0"])
def test_a_beginning_that_cannot_be_read_is_not_used(since: str, client: Client, ada: Caller) -> None:
    decide(ada, "api/auth", "JWT")
    with time_machine.travel(MORNING, tick=False):
        assert client.get("/admin/overview/", {"since": since}).status_code == 200


def test_of_a_long_absence_three_days_are_told(apollo: Project, ada: Caller) -> None:
    client = signed_in(person("vi", apollo, VIEWER))
    away(client, at=MORNING - timedelta(days=20))
    decide(ada, "too/old", "x", at=MORNING - timedelta(days=4))
    decide(ada, "api/auth", "JWT", at=MORNING - timedelta(days=2))
    told = away(client)
    assert sentences(told) == {"ada": "1 decision (api/auth = JWT)"}
    assert told.is_cut
    with time_machine.travel(MORNING, tick=False):
        assert "too/old" in client.get(told.timeline_url).content.decode()


@pytest.mark.parametrize(("zone", "begins"), [("UTC", 18), ("Asia/Kolkata", 12.5), ("America/New_York", 23)])
def test_yesterday_evening_is_one_click_in_the_zone_of_the_project(
    zone: str, begins: float, client: Client, ada: Caller
) -> None:
    set_config(caller=ada, values={"time_zone": zone})
    decide(ada, "api/auth", "JWT")
    [url] = [choice.url for choice in away(client).choices if choice.title == "Since yesterday 18:00"]
    told = away(client, url)
    midnight = datetime(2026, 11, 23, tzinfo=UTC)
    assert told.period.begin == midnight + timedelta(hours=begins)
    assert [choice.title for choice in told.choices if choice.is_current] == ["Since yesterday 18:00"]


@pytest.mark.parametrize("query", ["last=3y", "from=noon", "from=2030-01-01T00:00", "from=1970-01-01T00:00"])
def test_a_period_that_cannot_be_told_is_said_in_words(query: str, client: Client, ada: Caller) -> None:
    decide(ada, "api/auth", "JWT")
    told = away(client, f"/admin/?{query}")
    assert told.period.problem
    assert sentences(told) == {"ada": "1 decision (api/auth = JWT)"}


def test_where_nothing_happened_the_last_event_is_told(apollo: Project, ada: Caller) -> None:
    client = signed_in(person("vi", apollo, VIEWER))
    decide(ada, "api/auth", "JWT", at=EVENING - HOUR)
    away(client, at=EVENING)
    told = away(client)
    assert told.last
    assert (told.lanes, told.last.ref) == ([], "decision:api/auth")
    with time_machine.travel(MORNING, tick=False):
        page = re.sub(r"\s+", " ", re.sub("<[^>]+>", "", unmarked(client.get("/admin/").content.decode())))
    assert "Nothing happened. The last was 16 hours ago: ada created decision:api/auth." in page


# -- The lane -----------------------------------------------------------------------------------------


def test_a_lane_leads_to_the_timeline_of_the_same_period(client: Client, ada: Caller, ben: Caller) -> None:
    away(client, at=EVENING + timedelta(seconds=40))
    for hour in range(1, 9):
        decide(ada, f"key/{hour}", "x", at=EVENING + hour * HOUR)
    decide(ben, "api/auth", "JWT")
    lane = lane_of(away(client), "ada")
    page, _, anchor = lane.url.partition("#")
    with time_machine.travel(MORNING, tick=False):
        html = client.get(page).content.decode()
    assert f'id="{anchor}"' in html
    assert {name: row[5] for name, row in table(html).items()} == {"ada": 8, "ben": 1}
    assert lane.work.events == 8
    assert lane.path.count("M") == 8


def test_a_lane_is_drawn_to_the_busiest_column(client: Client, ada: Caller) -> None:
    for number in range(9):
        decide(ada, f"key/{number}", "x", at=MORNING - HOUR)
    decide(ada, "key/late", "x", at=MORNING - timedelta(minutes=1))
    heights = re.findall(r"M([\d.]+) 24v-([\d.]+)", lane_of(away(client), "ada").path)
    assert [height for _, height in heights] == ["24", "10.7"]  # By the root: a third of what varies.
    assert float(heights[1][0]) == 47.5 * 4


# -- Hostile texts, statements ------------------------------------------------------------------------


def test_hostile_texts_add_no_element_and_no_attribute(client: Client, ada: Caller) -> None:
    def shown() -> set[tuple[str, ...]]:
        with time_machine.travel(MORNING, tick=False):
            page = client.get("/admin/").content.decode()
        return markup(page)

    def act(text: str, caller: Caller) -> None:
        decide(caller, f"{text}/key", text[:24])
        change(caller, "<b onclick='x'>/\"><script>/a.py", "<b onclick='x'>/\"><script>/b.py")

    act("plain", ada)
    expected = shown()
    for number, text in enumerate(HOSTILE):
        cleaned = without_invisible(text.replace("\0", "")).strip()[:90]
        act(cleaned or "x", ada.speaking_as(f"<b onclick='x'>{number}\"><script>"))
        assert shown() == expected, text


def test_statements_do_not_grow_with_agents_or_events(client: Client, ada: Caller) -> None:
    def statements(url: str) -> int:
        with time_machine.travel(MORNING, tick=False), CaptureQueriesContext(connection) as captured:
            client.get(url)
        return len(captured)

    def act(caller: Caller, number: int) -> None:
        decide(caller, f"{caller.agent}/{number}", number)
        decide(caller, f"{caller.agent}/{number}", number + 1)
        change(caller, f"src/{number}/a.py")
        write_at(MORNING - HOUR, caller, "message", action="send", text="x", to=["vi"])

    act(ada, 0)
    urls = ("/admin/", "/admin/overview/")
    for url in urls:
        statements(url)
    few = [statements(url) for url in urls]
    for number in range(1, 7):
        act(ada.speaking_as(f"agent-{number}"), number)
    statements("/admin/")  # Reads the marks of new agents.
    assert [statements(url) for url in urls] == few


def test_the_work_is_found_by_time(client: Client, ada: Caller) -> None:
    for number in range(60):
        decide(ada, f"key/{number}", "x", at=NOON - timedelta(days=9))
    decide(ada, "api/auth", "JWT")
    plan_by_indexes()
    with time_machine.travel(MORNING, tick=False), CaptureQueriesContext(connection) as captured:
        client.get("/admin/overview/")
    [work] = [query["sql"] for query in captured if "WITH work AS" in query["sql"]]
    [notable] = [query["sql"] for query in captured if "WITH newest AS" in query["sql"]]
    assert "core_event_by_time" in explained(work)
    assert "core_event_by_time" in explained(notable)
