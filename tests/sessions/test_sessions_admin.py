"""Sessions in the admin: texts, files, export, deletion, and what the page of a file shows of them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.decisions.services import set_decision
from memory.snapshots.services import save_snapshot
from sessions.accesses.services import add_dependency, track_access
from sessions.models import AgentSession, ContextItem, Conversation, SessionResource
from sessions.sittings.services import save_session
from tests.people import ADMIN, VIEWER, member
from tests.sessions.files import session_of
from tracking.models import Resource

pytestmark = pytest.mark.usefixtures("index_is_kept")

SESSIONS = reverse("admin:agent_sessions_agentsession_changelist")
ACCESSES = reverse("admin:agent_sessions_access_changelist")
DEPENDENCIES = reverse("admin:agent_sessions_resourcedependency_changelist")


def text(client: Client, address: str) -> str:
    page = client.get(address)
    assert page.status_code == 200, page
    return page.content.decode()


def page_of(session_id: int, name: str = "read") -> str:
    return reverse(f"admin:agent_sessions_agentsession_{name}", args=[session_id])


def file_page(project: Project, path: str) -> str:
    file = Resource.objects.in_project(project).get(path=path)
    return reverse("admin:tracking_resource_read", args=[file.pk])


@pytest.fixture
def saved(ada: Caller) -> int:
    items = [
        {"content": "Seldom <i>needed</i>.", "importance": 2, "category": "concept"},
        {"content": "Often needed.", "importance": 9, "category": "code"},
    ]
    return save_session(
        caller=ada,
        session="laptop",
        summary="The basket <b>joins</b>.",
        conversation="First line.\nSecond line.",
        items=items,
        workspace_id="shop",
        branch="faster",
        enabled_mcps=["files"],
        settings={"theme": "dark"},
    )["session"]


@pytest.fixture
def tracked(ada: Caller, saved: int) -> int:
    track_access(caller=ada, session=str(saved), path="src/a.py", access="edited", content="one\n<two>\n")
    track_access(caller=ada, session=str(saved), path="src/b.py", access="viewed")
    add_dependency(caller=ada, source="src/a.py", target="src/b.py", type="imports", strength=4)
    return saved


# -- The list --------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "shown"),
    [("", {"basket"}), ("?implicit=all", {"basket", "Hidden"}), ("?implicit=only", {"Hidden"})],
)
def test_implicit_sessions_are_listed_if_asked_for(
    saved: int, ada: Caller, query: str, shown: set[str]
) -> None:
    session_of(ada, summary="Hidden.", is_implicit=True)
    page = text(member(ada.project), SESSIONS + query)
    assert {word for word in ("basket", "Hidden") if word in page[page.index("result_list") :]} == shown


# -- The page --------------------------------------------------------------------------------------


def test_items_are_shown_by_importance(saved: int, apollo: Project) -> None:
    page = text(member(apollo, VIEWER), page_of(saved))
    assert page.index("Often needed.") < page.index("Seldom &lt;i&gt;needed")


def test_earlier_states_are_folded(saved: int, ada: Caller) -> None:
    save_session(caller=ada, session=str(saved), branch="next")
    page = text(member(ada.project), page_of(saved))
    assert page.index(">next<") < page.index("<details", page.index(">next<")) < page.index(">faster<")


def test_the_line_of_a_session_leads_to_its_parents_and_children(saved: int, ada: Caller) -> None:
    middle = save_session(caller=ada, session="two", summary="Middle <x>.", parent=str(saved))["session"]
    last = save_session(caller=ada, session="three", parent=str(middle), summary="s")["session"]
    page = text(member(ada.project), page_of(middle))
    lineage = page[page.index("ctx-lineage") :].split("</nav>")[0]
    places = [lineage.index(found) for found in (page_of(saved), 'aria-current="page"', page_of(last))]
    assert places == sorted(places)
    assert "Middle &lt;x&gt;" in text(member(ada.project, username="w"), page_of(last))


def test_a_long_line_shows_its_end(ada: Caller) -> None:
    parent: int | None = None
    for number in range(15):
        parent = save_session(
            caller=ada, session=f"s-{number}", parent=str(parent) if parent else None, summary="s"
        )["session"]
    assert parent
    assert "3 earlier" in text(member(ada.project), page_of(parent))


def test_a_conversation_is_read_by_lines(saved: int, ada: Caller, apollo: Project) -> None:
    words = "\n".join(f"line-{number} <x>" for number in range(1, 2_502))
    conversation = save_session(caller=ada, session=str(saved), conversation=words)["conversation"]
    client, address = member(apollo), f"{page_of(saved, 'conversation')}?id={conversation}"
    page = text(client, address)
    assert "line-1 &lt;x&gt;" in page
    assert "line-2500" not in page
    assert f"?id={conversation}&amp;line=2001" in page
    assert "line-2500 &lt;x&gt;" in text(client, f"{address}&line=2001")


@pytest.mark.parametrize("query", ["", "?id=", "?id=0", "?id=x", "?id=987654", f"?id={10**30}"])
@pytest.mark.parametrize("name", ["conversation", "item"])
def test_an_unknown_text_is_not_found(saved: int, apollo: Project, name: str, query: str) -> None:
    assert member(apollo).get(page_of(saved, name) + query).status_code == 404


def test_a_text_of_another_session_is_not_found(saved: int, ada: Caller) -> None:
    other = save_session(caller=ada, session="other", conversation="Other.", items=[{"content": "Other."}])
    item = ContextItem.objects.in_project(ada.project).get(session=other["session"])
    client = member(ada.project)
    assert client.get(f"{page_of(saved, 'item')}?id={item.pk}").status_code == 404
    assert client.get(f"{page_of(saved, 'conversation')}?id={other['conversation']}").status_code == 404
    assert "Other." in text(client, f"{page_of(other['session'], 'item')}?id={item.pk}")


def test_older_conversations_are_on_the_next_page(saved: int, ada: Caller) -> None:
    for number in range(21):
        save_session(caller=ada, session=str(saved), conversation=f"talk-{number}.")
    client = member(ada.project)
    assert "First line." not in text(client, page_of(saved))
    assert "First line." in text(client, f"{page_of(saved)}?conversations=2")
    assert "talk-20." in text(client, f"{page_of(saved)}?conversations=x")


# -- Files -----------------------------------------------------------------------------------------


def include(session_id: int, path: str, tokens: int) -> None:
    rows = SessionResource.unscoped.filter(session=session_id, resource__path=path)
    rows.update(included=True, mode=2, compressed_tokens=tokens, relevance=77)


def test_the_files_of_a_session_lead_to_their_pages(tracked: int, apollo: Project) -> None:
    include(tracked, "src/a.py", 7)
    page = text(member(apollo), page_of(tracked))
    files = page[page.index('id="files"') : page.index('id="conversations"')]
    for shown in (file_page(apollo, "src/a.py"), "src/b.py", "edited", "viewed", "compressed", "77"):
        assert shown in files


@pytest.mark.parametrize(
    ("budget", "percent", "level"),
    [
        ("", 17, ""),
        ("1000", 69, ""),
        ("999", 69, ""),
        ("985", 70, "warning"),
        ("775", 89, "warning"),
        ("766", 90, "danger"),
        ("100", 690, "danger"),
        ("-1", 17, ""),
        ("x", 17, ""),
        ("0", 17, ""),
    ],
)
def test_included_tokens_are_compared_with_a_budget(
    tracked: int, apollo: Project, budget: str, percent: int, level: str
) -> None:
    include(tracked, "src/a.py", 690)
    page = text(member(apollo), f"{page_of(tracked)}?budget={budget}")
    assert f"690 tokens, {percent} % of this budget" in page
    assert [each for each in ("warning", "danger") if f"ctx-{each}-meter" in page] == [level][: bool(level)]


def test_files_are_on_pages(saved: int, ada: Caller) -> None:
    for number in range(52):
        track_access(caller=ada, session=str(saved), path=f"src/{number:02}.py", access="viewed")
    client = member(ada.project)
    page = client.get(f"{page_of(saved)}?sort=recent&budget=900")
    files = page.context["files"]
    assert (len(files.rows), files.total, files.rows[0]["path"]) == (50, 52, "src/51.py")
    rest = client.get(f"{page_of(saved)}{files.next.split('#')[0]}").context["files"]
    assert [each["path"] for each in rest.rows] == ["src/01.py", "src/00.py"]
    assert rest.budget.budget == 900
    unreadable = client.get(f"{page_of(saved)}?files=nonsense&sort=nonsense").context["files"]
    assert (len(unreadable.rows), unreadable.sort) == (50, "relevance")


# -- What the agent did ----------------------------------------------------------------------------


def test_a_session_shows_what_its_agent_did_by_time(tracked: int, ada: Caller, ben: Caller) -> None:
    made = save_snapshot(caller=ada.in_session(tracked), summary="Joined <b>.", content="x", source="test")
    save_session(caller=ben, session="of-ben", summary="s")
    save_session(caller=ada, session=str(tracked), summary="Done.")
    steps = member(ada.project).get(page_of(tracked)).context["activity"].steps
    said = [(step.verb, step.what) for step in steps]
    assert said[0] == ("saved", f"session:{tracked}")
    assert said[1] == ("saved", f"snapshot:{made['id']}")
    assert ("edited", "src/a.py") in said
    assert said.count(("saved", f"session:{tracked}")) == 2
    assert all("of-ben" not in what and verb != "created" for verb, what in said)


def test_events_before_and_after_a_session_are_left_out(tracked: int, ada: Caller) -> None:
    events = Event.objects.in_project(ada.project)
    for name, hours in (("early", -2), ("late", 2)):
        set_decision(caller=ada, key=name, value="x")
        events.filter(ref=f"decision:{name}").update(at=clock.now() + timedelta(hours=hours))
    set_decision(caller=ada, key="within", value="x")
    save_session(caller=ada, session=str(tracked), branch="done")
    steps = member(ada.project).get(page_of(tracked)).context["activity"].steps
    assert [step.what for step in steps if "decision" in step.what] == ["decision:within"]


# -- Export ----------------------------------------------------------------------------------------


def test_a_session_is_exported_as_text(tracked: int, apollo: Project) -> None:
    page = member(apollo, VIEWER).get(page_of(tracked, "export"))
    assert page["Content-Type"] == "text/plain; charset=utf-8"
    assert page["Content-Disposition"] == f'attachment; filename="session-{tracked}.txt"'
    words = page.content.decode()
    for shown in ("The basket <b>joins</b>.", "Branch: faster", "theme: dark", "src/a.py", "Often needed."):
        assert shown in words
    assert words.endswith("First line.\nSecond line.\n")


def test_an_exported_session_is_masked_as_it_is_stored(ada: Caller) -> None:
    secret = "ghp_" + "a1B2" * 9
    made = save_session(caller=ada, conversation=f"The token is {secret}.")
    words = member(ada.project).get(page_of(made["session"], "export")).content.decode()
    assert "The token is" in words
    assert secret not in words


def test_a_session_that_holds_nothing_is_exported(ada: Caller) -> None:
    words = member(ada.project).get(page_of(session_of(ada).pk, "export")).content.decode()
    assert "Saved: never" in words


# -- Deletion --------------------------------------------------------------------------------------


def test_deletion_says_what_goes_and_takes_it(tracked: int, ada: Caller) -> None:
    child = save_session(caller=ada, session="two", parent=str(tracked), summary="s")["session"]
    client = member(ada.project, ADMIN)
    question = text(client, page_of(tracked, "delete"))
    assert "1 conversation, 2 items, 2 files, 2 accesses" in question
    assert "Sessions that continue it stay." in question
    client.post(page_of(tracked, "delete"), {"post": "yes"})
    assert not Conversation.objects.in_project(ada.project).filter(session=tracked).exists()
    assert AgentSession.objects.in_project(ada.project).get().pk == child


def test_selected_sessions_are_deleted_together(saved: int, ada: Caller) -> None:
    other = save_session(caller=ada, session="two", summary="s")["session"]
    chosen = {"action": "delete_selected", "_selected_action": [saved, other]}
    client = member(ada.project, ADMIN)
    assert "1 conversation, 2 items" in client.post(SESSIONS, chosen).content.decode()
    client.post(SESSIONS, {**chosen, "post": "yes"})
    assert not AgentSession.objects.in_project(ada.project).exists()


# -- Accesses, dependencies, and the page of a file ------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (ACCESSES, {"a.py", "b.py"}),
        (f"{ACCESSES}?q=resource:src/a.py", {"a.py"}),
        (f"{ACCESSES}?access__exact=1", {"b.py"}),
        (f"{ACCESSES}?agent=ben", set()),
        (f"{ACCESSES}?session=laptop", {"a.py", "b.py"}),
        (f"{ACCESSES}?session=session:987654", set()),
        (DEPENDENCIES, {"a.py", "b.py"}),
        (f"{DEPENDENCIES}?q=src/b", {"a.py", "b.py"}),
        (f"{DEPENDENCIES}?q=src/c", set()),
    ],
)
def test_accesses_and_dependencies_are_found(
    tracked: int, apollo: Project, address: str, shown: set[str]
) -> None:
    page = text(member(apollo, VIEWER), address)
    rows = page[page.index("result_list") :] if "result_list" in page else ""
    assert {name for name in ("a.py", "b.py") if name in rows} == shown


@pytest.mark.parametrize("address", [SESSIONS, ACCESSES, DEPENDENCIES])
def test_on_phones_every_first_cell_has_its_own_label(address: str, tracked: int, apollo: Project) -> None:
    assert "Select record" not in text(member(apollo), address)


@pytest.mark.parametrize(
    ("address", "tool"),
    [(SESSIONS, "session restore"), (ACCESSES, "session track"), (DEPENDENCIES, "session depend")],
)
def test_an_empty_list_says_how_rows_come_about(address: str, tool: str, apollo: Project) -> None:
    client = member(apollo)
    assert tool in text(client, address)
    searched = text(client, f"{address}?q=nothing")
    assert "Reset filters" in searched
    assert tool not in searched


def test_a_file_shows_its_content_accesses_and_dependencies(tracked: int, apollo: Project) -> None:
    client = member(apollo, VIEWER)
    page = text(client, file_page(apollo, "src/a.py"))
    for shown in (
        "&lt;two&gt;",
        page_of(tracked),
        file_page(apollo, "src/b.py"),
        "imports, strength 4",
        "code",
    ):
        assert shown in page
    assert f"{ACCESSES}?project=apollo&amp;q=src%2Fa.py" in page
    needed = text(client, file_page(apollo, "src/b.py"))
    assert "Its content is not stored." in needed
    assert file_page(apollo, "src/a.py") in needed


def test_a_mark_replaces_the_parts_of_the_importance(tracked: int, ada: Caller) -> None:
    client, address = member(ada.project), file_page(ada.project, "src/b.py")
    names = {name for name, *_ in client.get(address).context["parts"]}
    assert {"Recency", "Frequency", "Access", "Dependencies"} <= names
    track_access(caller=ada, session=str(tracked), path="src/b.py", access="viewed", importance=42)
    assert client.get(address).context["parts"] == [("Mark", "set by somebody; nothing else counts", 42.0)]


@pytest.mark.every_engine
def test_the_page_of_a_file_takes_as_many_queries_with_more_rows(tracked: int, ada: Caller) -> None:
    client, address = member(ada.project), file_page(ada.project, "src/a.py")

    def queries() -> int:
        text(client, address)
        with CaptureQueriesContext(connection) as queries:
            text(client, address)
        return len(queries)

    few = queries()
    for number in range(5):
        track_access(caller=ada, session=str(tracked), path="src/a.py", access="viewed")
        add_dependency(caller=ada, source=f"more/{number}", target="src/a.py", type="tests")
    assert queries() == few <= 24
