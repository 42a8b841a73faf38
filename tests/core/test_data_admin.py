"""The page of a project's data: exports, backups and imports, for administrators alone."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ctxhub.console import data
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import HubRecord, Import, Project
from ctxhub.core.records.services import note
from ctxhub.core.transfer.models import ImportState
from ctxhub.toolbox.dispatch import call
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in, superuser
from tests.transfer.world import export_of, objects_in, take, written

pytestmark = pytest.mark.django_db

URL, LIST, EXPORT = (f"/admin/core/import/{name}" for name in ("data/", "", "export/"))


@pytest.fixture
def host(apollo: Project) -> Client:
    return member(apollo, ADMIN, "host")


@pytest.fixture
def decided(ada: Caller) -> Project:
    call(ada, "decision", {"action": "set", "key": "db/engine", "value": "PostgreSQL"})
    return ada.project


def html(client: Client, **query: str) -> str:
    response = client.get(URL, query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def add_import(project: Project, *, at: Any = None, **values: Any) -> Import:
    now = at or clock.now()
    given = {"state": ImportState.DONE, "counts": {"new": 1_204, "same": 2}, "by": "ada", **values}
    return Import.objects.create(
        **{"project": project, "sha256": "0" * 64, "started_at": now, "alive_until": now, **given}
    )


def test_an_administrator_sees_what_is_stored_and_when_backups_were(decided: Project, host: Client) -> None:
    assert html(host).count("<dd>never</dd>") == 2
    details = {"file": "/secret/place.tar", "bytes": 5, "rows": 77_001}
    note(HubRecord.Kind.BACKUP, details, at=clock.now() - timedelta(hours=3))
    note(HubRecord.Kind.DRILL, {"is_right": False, "result": "core_event has 1 rows"})
    shown = html(host)
    assert '<th scope="row">Decisions</th><td>1</td>' in shown
    assert "3 hours ago" in shown.replace("\xa0", " ")
    for hidden in ("/secret/place.tar", "77,001", "core_event has", "No backup was made"):
        assert hidden not in shown


def test_a_superuser_sees_their_size_place_and_result(decided: Project) -> None:
    root = superuser()
    assert "No backup was made yet." in html(root, project="apollo")
    details = {"file": "/some/place.tar", "bytes": 5_000, "rows": 77_001}
    note(HubRecord.Kind.BACKUP, details, at=clock.now() - timedelta(days=8))
    note(HubRecord.Kind.DRILL, {"is_right": False, "result": "core_event has <1> rows\nMore."})
    shown = html(root, project="apollo")
    for told in (
        "/some/place.tar",
        "77,001",
        "more than a week old",
        "core_event has &lt;1&gt; rows<br>More.",
    ):
        assert told in shown
    note(HubRecord.Kind.BACKUP, details)
    note(HubRecord.Kind.DRILL, {"is_right": True, "bytes": 5, "rows": 3, "questions": 20, "seconds": 1.5})
    shown = html(root, project="apollo")
    assert "20 questions, 1.5 s" in shown
    assert "week old" not in shown


def test_imports_are_listed(decided: Project, host: Client) -> None:
    now = clock.now()
    add_import(decided)
    add_import(decided, counts={"decision": 3, "memory": 4}, by="manage.py import")
    add_import(decided, state=ImportState.STAGING, alive_until=now + timedelta(hours=1), counts={"tag": 1})
    add_import(decided, state=ImportState.STAGING, alive_until=now - timedelta(hours=1))
    add_import(create_project(slug="other"), by="a stranger")
    for shown in (html(host), host.get(LIST).content.decode()):
        for told in ("1,204 new, 2 same", "7 new", "manage.py import", "at work", "cut off", "done"):
            assert told in shown
        assert "a stranger" not in shown


def test_an_export_of_a_project_that_the_person_cannot_see_is_not_there(
    apollo: Project, hermes: Project
) -> None:
    client = member(apollo, ADMIN, "vera")
    for slug in ("hermes", "nowhere"):
        answer = client.get(EXPORT, {"project": slug})
        assert (answer.status_code, "attachment" in answer.get("Content-Disposition", "")) == (404, False)
    assert client.get(EXPORT).status_code == 200
    assert client.get(EXPORT, {"project": "apollo"}).status_code == 200


@pytest.mark.parametrize("with_log", [False, True])
def test_the_export_is_the_one_of_rest(
    decided: Project, host: Client, with_log: bool, tmp_path: Path
) -> None:
    answer = host.get(EXPORT, {"with_log": "true"} if with_log else {})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="apollo.jsonl"'
    assert "no-store" in answer.headers["Cache-Control"]
    lines = answer.content.splitlines(keepends=True)
    assert objects_in(lines) == objects_in(export_of(decided, with_log=with_log))
    assert ("event" in json.loads(lines[0])["counts"]) == with_log
    assert take(written(lines, tmp_path / "a.jsonl"), slug="copy").project


def test_a_large_one_names_the_command(
    decided: Project, host: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "MOST_BYTES", 1_000)
    answer = host.get(EXPORT, follow=True)
    assert answer.redirect_chain == [(f"{URL}?project=apollo", 302)]
    assert "manage.py export FILE --project apollo" in answer.content.decode()
    assert "The export has more than" in answer.content.decode()


@pytest.mark.parametrize("role", [VIEWER, MEMBER])
@pytest.mark.parametrize("url", [URL, LIST, EXPORT])
def test_others_of_the_project_may_not(apollo: Project, role: Any, url: str) -> None:
    client = member(apollo, role)
    for query in ({}, {"project": "apollo"}):
        assert client.get(url, query).status_code == 403
    assert "/admin/core/import/" not in client.get("/admin/").content.decode()


def test_an_administrator_of_another_project_may_not(decided: Project) -> None:
    other = create_project(slug="other")
    stranger = member(other, ADMIN, "stranger")
    assert "apollo" not in stranger.get(URL, {"project": "apollo"}).content.decode().lower()
    answer = stranger.get(EXPORT, {"project": "apollo"})
    assert b"db/engine" not in answer.content
    viewer = person("both", decided, VIEWER)
    person("both", other, ADMIN)
    for url in (URL, EXPORT):
        assert signed_in(viewer).get(url, {"project": "apollo"}).status_code == 403
        assert signed_in(viewer).get(url, {"project": "other"}).status_code == 200
    assert f'href="{URL}?project=apollo"' not in html(signed_in(viewer), project="other")


def test_nobody_else_sees_it(client: Client) -> None:
    for url in (URL, EXPORT):
        assert client.get(url).status_code == 302
    User.objects.create_user("ann", is_staff=True)
    client.force_login(User.objects.get(username="ann"))
    for url in (URL, EXPORT):
        assert client.get(url).status_code == 403


def test_its_queries_do_not_grow(decided: Project, ada: Caller, host: Client) -> None:
    html(host)
    with CaptureQueriesContext(
        connection,
    ) as few:
        html(host)
    for number in range(5):
        call(ada, "decision", {"action": "set", "key": f"k/{number}", "value": "v"})
        call(ada, "memory", {"action": "add", "title": f"t{number}", "content": "c"})
        add_import(decided)
    with CaptureQueriesContext(connection) as many:
        html(host)
    assert len(few) == len(many)
