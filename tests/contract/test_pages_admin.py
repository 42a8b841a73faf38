"""What the pages of every noun do in the admin: `tests/contract/pages.py` states the facts of each."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
import time_machine
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.console.logged import LoggedAdmin
from ctxhub.console.pages import NounAdmin
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from messaging.models import Message
from tests.conftest import just_cleaned
from tests.contract.nouns import Json
from tests.contract.pages import PAGES, Page
from tests.people import ADMIN, MEMBER, VIEWER, member
from tests.tables import dump_project

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
NASTY = "</title></svg><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
# Of every list.
FINDS, HIDES = "q={ref} project=apollo", "q=nosuchwordatall"
STATEMENTS = 30

pages = pytest.mark.parametrize("page", PAGES, ids=str)
adding = pytest.mark.parametrize("page", [page for page in PAGES if page.form], ids=str)
editing = pytest.mark.parametrize("page", [page for page in PAGES if page.edits], ids=str)


@pytest.fixture(scope="module")
def rows(rows_of_module: Callable[[], AbstractContextManager[None]]) -> dict[str, Any]:
    """The row of each noun, made by ada in apollo."""
    with rows_of_module(), time_machine.travel(NOON, tick=False):
        ada = Caller(project=create_project(slug="apollo"), agent="ada")
        return {str(page): page.make(ada) for page in PAGES}


@pytest.fixture
def apollo(rows: dict[str, Any], db: None) -> Project:
    project: Project = rows["decision"].project
    return just_cleaned(project)


@pytest.fixture
def row(page: Page, rows: dict[str, Any], apollo: Project) -> Any:
    return page.model._base_manager.get(pk=rows[str(page)].pk)


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, MEMBER, "vi")


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


def admin_of(page: Page) -> LoggedAdmin:
    found = admin.site._registry[page.model]
    assert isinstance(found, LoggedAdmin)
    return found


def list_of(page: Page) -> str:
    return admin_of(page).url("changelist")


def page_of(page: Page, row: Any) -> str:
    return admin_of(page).page_of_id(row.pk)


def addresses(page: Page, row_id: int) -> list[str]:
    """All pages of a row, and what its buttons send to."""
    own = [
        str(url.name) for url in admin_of(page).get_urls() if url.name and "row_id" in url.pattern.converters
    ]
    return [
        *(reverse(f"admin:{name}", args=[row_id]) for name in own),
        *(admin_of(page).url(name, row_id) for name in ("change", "delete", "history")),
    ]


def text_of(client: Client, address: str, **query: str) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200, (address, answer.status_code)
    return unescape(answer.content.decode())


def filled_in(page: Page, row: Any) -> Json:
    """The form that adds a row."""
    return {
        name: value.replace("{workflow}", f"{getattr(row, 'workflow_id', '')}")
        for name, value in page.form.items()
    }


def opened(client: Client, page: Page, row: Any) -> Json:
    """What a browser sends when it saves the form of the row unchanged."""
    form = client.get(admin_of(page).url("change", row.pk)).context["adminform"].form
    shown = {name: form[name].field.prepare_value(form[name].value()) for name in form.fields}
    return {name: "" if value is None else f"{value}".replace("\n", "\r\n") for name, value in shown.items()}


def held(row: Model, name: str) -> Any:
    """A field as a person reads it: a choice, the names of tags."""
    if not any(field.name == name for field in row._meta.get_fields()):
        return getattr(row, name)
    field: Any = row._meta.get_field(name)
    value = getattr(row, name)
    if field.many_to_many:
        return sorted(each.name for each in value.all())
    if getattr(field, "choices", None):
        return getattr(row, f"get_{name}_display")()
    return str(value) if field.is_relation and value is not None else value


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.ref, str(event.agent)


def test_every_noun_with_pages_is_registered_here() -> None:
    words = {"tag", "scope", "category", "layer"}
    kinds = {each.ref_kind for each in admin.site._registry.values() if isinstance(each, LoggedAdmin)}
    assert {str(page) for page in PAGES} == kinds - words


# -- Lists -----------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pages
def test_a_list_is_searched_and_filtered(page: Page, row: Any, client: Client) -> None:
    shown = admin_of(page)
    facts = {"kind": page, "id": row.pk, "ref": shown.ref_of(row), "source": getattr(row, "source", "")}
    facts["workflow"] = getattr(row, "workflow_id", "")
    finds, hides = f"{FINDS} {page.finds}", f"{HIDES} {page.hides}"
    if hasattr(row, "agent"):
        finds, hides = f"{finds} agent=ADA", f"{hides} agent=ben"
    if hasattr(row, "tags"):
        hides += " tag=nosuch"
    for queries, is_found in ((finds, True), (hides, False)):
        for query in queries.format(**facts).split():
            listed = client.get(f"{list_of(page)}?{query}")
            assert listed.status_code == 200, query
            assert (row.pk in [each.pk for each in listed.context["cl"].result_list]) == is_found, query


@pages
def test_a_line_shows_the_row_and_leads_to_its_page(page: Page, row: Any, client: Client) -> None:
    text = text_of(client, list_of(page), q=admin_of(page).ref_of(row))
    listed = text.partition('id="result_list"')[2].partition("</ol>")[0]
    assert [part for part in (*page.cells.split("|"), page_of(page, row)) if part not in listed] == []


@pytest.mark.every_engine
@pages
def test_no_page_runs_statements_per_row(page: Page, row: Any, apollo: Project) -> None:
    client = member(apollo, ADMIN)

    def count() -> list[int]:
        counts = []
        for address in (list_of(page), *addresses(page, row.pk)):
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts.append(len(queries))
        return counts

    def grow(numbers: range) -> None:
        for n in numbers:
            page.grow(Caller(project=apollo, agent="ada"), row, n)

    grow(range(3))
    count()  # Django looks its content types up once.
    few = count()
    assert max(few) <= STATEMENTS
    grow(range(3, 8))
    client.get(list_of(page))  # Whose marks are not remembered yet is read once.
    assert count() == few


# -- Pages -----------------------------------------------------------------------------------------


@pages
def test_a_page_shows_the_row_and_what_may_be_done(page: Page, row: Any, apollo: Project) -> None:
    viewer, boss = member(apollo, VIEWER, "eve"), member(apollo, ADMIN, "boss")
    for client, may in ((viewer, False), (boss, True)):
        text = text_of(client, page_of(page, row))
        assert [part for part in page.shows.split("|") if part not in text] == []
        if isinstance(admin_of(page), NounAdmin):
            assert bool(re.search(r">\s*(edit)?\s*Edit\s*</", text)) == (may and bool(page.edits))
            # A message is shown in its conversation.
            may_delete = may and page.deleted_by is not None and page.model is not Message
            assert ("Delete this" in text) == may_delete
    for address in addresses(page, row.pk):
        answer = viewer.get(address)
        assert not re.search(r'method="post" action="/admin/(?!logout)', answer.content.decode()), address


@pages
def test_hostile_text_stays_text_and_reading_writes_nothing(page: Page, apollo: Project) -> None:
    ada = Caller(project=apollo, agent="ada")
    row = page.make_with(ada, NASTY)
    page.grow(ada, row, 0)
    client = member(apollo, ADMIN)
    before = dump_project(apollo)
    for address in (list_of(page), *addresses(page, row.pk)):
        answer = client.get(address)
        if answer.headers["Content-Type"].startswith("text/html"):
            for harmful in ("<script>alert", "<img src=x"):
                assert harmful not in answer.content.decode(), address
    assert dump_project(apollo) == before


@pages
def test_the_log_leads_to_the_page_and_the_page_to_the_log(page: Page, row: Any, client: Client) -> None:
    shown = admin_of(page)
    events = Event.objects.in_project(row.project).filter(ref=shown.ref_of(row))
    assert [event.verb for event in events] == [page.made][: bool(page.made)]
    for event in events:
        opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
        assert opened.headers["Location"] == page_of(page, row)
    assert shown.page_of_ref(row.project_id, shown.ref_of(row).partition(":")[2]) == page_of(page, row)
    log = client.get(shown.url("history", row.pk), follow=True).context
    if "cl" in log:  # The history of a decision is its versions.
        assert [event.verb for event in log["cl"].result_list] == [page.made][: bool(page.made)]


@pages
def test_a_missing_row_leads_to_the_list(page: Page, row: Any, client: Client) -> None:
    gone = client.get(page_of(page, row).replace(str(row.pk), str(row.pk + 1_000_000)), follow=True)
    assert gone.redirect_chain
    assert "Perhaps it was deleted" in gone.content.decode()


# -- Forms -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [page for page in PAGES if not page.edits], ids=str)
def test_what_nobody_edits_has_no_form(page: Page, row: Any, apollo: Project) -> None:
    client, address = member(apollo, ADMIN), admin_of(page).url("change", row.pk)
    before = dump_project(apollo)
    for answer in (client.get(address), client.post(address, {**filled_in(page, row), "_save": "yes"})):
        if isinstance(admin_of(page), NounAdmin):
            assert answer.headers["Location"] == page_of(page, row)
        else:
            assert answer.status_code == (200 if answer.request["REQUEST_METHOD"] == "GET" else 403)
    assert client.get(admin_of(page).url("add")).status_code == (200 if page.form else 403)
    assert dump_project(apollo) == before


@adding
@pytest.mark.usefixtures("index_is_kept")
def test_a_form_adds_a_row(page: Page, row: Any, client: Client) -> None:
    answer = client.post(admin_of(page).url("add"), filled_in(page, row))
    made = page.model._base_manager.latest("pk")
    assert made.pk != row.pk, answer.content.decode()
    assert {name: held(made, name) for name in page.becomes} == page.becomes
    assert last_event(row.project) == (page.made, admin_of(page).ref_of(made), "vi")
    if isinstance(admin_of(page), NounAdmin):
        assert answer.headers["Location"] == page_of(page, made)


@editing
@pytest.mark.usefixtures("index_is_kept")
def test_a_form_changes_only_what_was_edited(page: Page, row: Any, client: Client) -> None:
    address, form = admin_of(page).url("change", row.pk), opened(client, page, row)
    assert [name for name in page.edits if hasattr(row, name) and held(row, name) and not form[name]] == []
    before = dump_project(row.project)
    assert client.post(address, form).status_code == 302
    assert dump_project(row.project) == before
    others = {*page.noun.everything, *page.more, *page.becomes} - {*page.edited, "agent"}
    kept = {name: held(row, name) for name in others if hasattr(row, name)}
    assert client.post(address, {**form, **page.edits}).status_code == 302
    row = page.model._base_manager.get(pk=row.pk)
    assert {name: held(row, name) for name in page.edited} == page.edited
    assert {name: held(row, name) for name in kept} == kept
    assert last_event(row.project) == ("updated", admin_of(page).ref_of(row), "vi")


@adding
def test_a_form_shows_what_is_refused_and_nothing_is_stored(page: Page, row: Any, client: Client) -> None:
    before = dump_project(row.project)
    for name, typed, sentence in page.refuses:
        answer = client.post(admin_of(page).url("add"), {**filled_in(page, row), name: typed})
        assert answer.status_code == 200, name
        assert sentence in unescape(answer.content.decode()), (name, typed[:40])
    assert dump_project(row.project) == before


# -- Rights ----------------------------------------------------------------------------------------


@pytest.mark.every_engine
@pytest.mark.parametrize("page", [page for page in PAGES if page.deleted_by], ids=str)
@pytest.mark.usefixtures("index_is_kept")
def test_who_may_delete_is_told_what_goes(page: Page, row: Any, apollo: Project, client: Client) -> None:
    address, ref = admin_of(page).url("delete", row.pk), admin_of(page).ref_of(row)
    if page.deleted_by == ADMIN:
        assert client.post(address, {"post": "yes"}).status_code == 403
        client = member(apollo, ADMIN, "boss")
    assert page.deletion in text_of(client, address)
    client.post(address, {"post": "yes"})
    assert not page.model._base_manager.filter(pk=row.pk).exists()
    assert admin_of(page).page_of_ref(apollo.pk, ref.partition(":")[2]) is None
    assert last_event(apollo) == ("deleted", ref, "boss" if page.deleted_by == ADMIN else "vi")
