"""What is stale in the admin: filters, marks, confirmation of one and of many, and the list of all kinds."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, PathPattern, Project
from ctxhub.toolbox.dispatch import call
from tests.core.stale import change, counts, write_rows
from tests.people import VIEWER, member, superuser

pytestmark = pytest.mark.django_db

LIST = "/admin/core/pathpattern/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def pages(ada: Caller, ben: Caller) -> list[str]:
    """The pages of a stale decision, constraint and memory."""
    refs = write_rows(ada, ["src/a.py", "src/b.py"])
    call(ada, "decision", {"action": "set", "key": "fresh", "value": "JWT", "paths": ["docs/**"]})
    change(ben, "src/a.py", "src/b.py")
    ids = {row.kind: row.object_id for row in PathPattern.objects.in_project(ada.project_id).filter(stale=2)}
    assert len(ids) == len(refs)
    return [f"/admin/memory/{kind}/{ids[kind]}/" for kind in ("decision", "constraint", "memory")]


def shown(client: Client, url: str, **data: Any) -> str:
    response = client.get(url, data)
    assert response.status_code == 200, response
    return response.content.decode()


def post(client: Client, url: str, **data: Any) -> str:
    return client.post(url, data, follow=True).content.decode()


def test_a_page_says_how_many_changes_since_when(client: Client, pages: list[str]) -> None:
    for page in pages:
        text = shown(client, page)
        assert "2 changes</a> of its files since" in text
        assert f'action="{page}confirm/"' in text


def test_the_mark_links_to_these_changes(client: Client, pages: list[str], ben: Caller) -> None:
    call(ben, "file", {"action": "record", "path": "docs/a.md", "change": "modified"})
    [url] = re.findall(r'href="(/admin/tracking/filechange/[^"]+)"', shown(client, pages[0]))
    listed = shown(client, url.replace("&amp;", "&"))
    assert [path in listed for path in ("src/a.py", "src/b.py", "docs/a.md")] == [
        True,
        True,
        False,
    ]


def test_the_button_confirms(client: Client, pages: list[str], ada: Caller) -> None:
    assert "1 stale one confirmed." in post(client, f"{pages[0]}confirm/")
    assert counts(ada) == {"constraint": 2, "memory": 2}
    event = Event.objects.in_project(ada.project_id).get(verb="confirmed")
    assert (str(event.agent), event.ref) == ("vi", "decision:api/auth")
    assert "of its files since" not in shown(client, pages[0])


def test_opening_the_url_of_the_button_confirms_nothing(
    client: Client, pages: list[str], ada: Caller
) -> None:
    client.get(f"{pages[0]}confirm/", follow=True)
    assert counts(ada)["decision"] == 2


@pytest.mark.parametrize("kind", ["decision", "constraint", "memory"])
def test_lists_are_filtered_and_confirm_in_bulk(
    client: Client, pages: list[str], ada: Caller, kind: str
) -> None:
    url = f"/admin/memory/{kind}/"
    text = shown(client, url, stale="yes")
    assert [f'href="{page}' in text for page in pages] == [page.startswith(url) for page in pages]
    ids = [page.split("/")[-2] for page in pages if page.startswith(url)]
    answer = post(client, url, action="confirm_selected", _selected_action=ids)
    assert "1 stale one confirmed." in answer
    assert kind not in counts(ada)


def test_lists_leave_out_what_is_stale(client: Client, pages: list[str]) -> None:
    text = shown(client, "/admin/memory/decision/", stale="no")
    assert f'href="{pages[0]}' not in text
    assert "fresh" in text
    for kind, page in zip(("constraint", "memory"), pages[1:], strict=True):
        assert f'href="{page}' not in shown(client, f"/admin/memory/{kind}/", stale="no")


def test_the_list_of_all_kinds_shows_what_is_stale(client: Client, pages: list[str]) -> None:
    text = shown(client, LIST)
    assert all(f'href="{page}"' in text for page in pages)
    assert "fresh" not in text
    assert all(ref in text for ref in ("decision:api/auth", "constraint:", "memory:"))


def test_the_list_of_all_kinds_is_filtered_by_kind(client: Client, pages: list[str]) -> None:
    text = shown(client, LIST, kind="memory")
    assert [f'href="{page}"' in text for page in pages] == [False, False, True]


def test_the_list_of_all_kinds_confirms_in_bulk(client: Client, pages: list[str], ada: Caller) -> None:
    rows = PathPattern.objects.in_project(ada.project_id).filter(stale__gt=0)
    ids = list(rows.exclude(kind="memory").values_list("pk", flat=True))
    assert "2 stale ones confirmed." in post(client, LIST, action="confirm_selected", _selected_action=ids)
    assert counts(ada) == {"memory": 2}


def test_its_rows_have_no_form(client: Client, pages: list[str], ada: Caller) -> None:
    row = PathPattern.objects.in_project(ada.project_id).first()
    assert row is not None
    assert client.get(f"{LIST}{row.pk}/change/").status_code == 302
    assert client.get(f"{LIST}add/").status_code == 403
    assert client.get(f"{LIST}{row.pk}/delete/").status_code == 403


def test_a_viewer_sees_and_confirms_nothing(pages: list[str], apollo: Project, ada: Caller) -> None:
    viewer = member(apollo, VIEWER, "eve")
    assert (
        "Confirm" not in shown(viewer, pages[0]).partition("of its files since")[2].partition("</section>")[0]
    )
    post(viewer, f"{pages[0]}confirm/")
    rows = list(PathPattern.objects.in_project(apollo).values_list("pk", flat=True))
    post(viewer, LIST, action="confirm_selected", _selected_action=rows)
    assert counts(ada) == {"decision": 2, "constraint": 2, "memory": 2}


def test_members_of_another_project_see_none(pages: list[str], hermes: Project, ada: Caller) -> None:
    stranger = member(hermes, username="cleo")
    assert "api/auth" not in shown(stranger, LIST)
    post(stranger, f"{pages[0]}confirm/")
    post(stranger, LIST, action="confirm_selected", _selected_action=[1, 2, 3, 4, 5, 6])
    assert counts(ada) == {"decision": 2, "constraint": 2, "memory": 2}


def test_rows_of_two_projects_are_confirmed_at_once(
    pages: list[str], ada: Caller, ben: Caller, cy: Caller
) -> None:
    write_rows(cy, ["src/**"])
    change(Caller(project=cy.project, agent="dan"), "src/a.py")
    ids = list(PathPattern.unscoped.filter(stale__gt=0).values_list("pk", flat=True))
    assert "6 stale ones confirmed." in post(
        superuser(), LIST, action="confirm_selected", _selected_action=ids
    )
    assert (counts(ada), counts(cy)) == ({}, {})


def test_the_overview_links_to_what_is_stale(client: Client, pages: list[str], ada: Caller) -> None:
    assert f'href="{LIST}' in shown(client, "/admin/")
    text = shown(client, "/admin/")
    assert "Stale" in text


def test_the_list_takes_as_many_queries_for_many_rows(client: Client, ada: Caller, ben: Caller) -> None:
    def queries(keys: range) -> int:
        items = [{"key": f"k{n}", "value": n, "paths": ["src/**"]} for n in keys]
        call(ada, "decision", {"action": "set_batch", "items": items})
        change(ben, "src/a.py")
        with CaptureQueriesContext(connection) as captured:
            shown(client, LIST)
        return len(captured)

    assert queries(range(2)) == queries(range(2, 40))
