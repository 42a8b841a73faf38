"""From PostgreSQL to SQLite and back: the export is the same at both ends."""

import os
from pathlib import Path

import pytest
from django.db import connection

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import EmptySearch, Project, Refusal, TokenUse
from ctxhub.core.text.invisible import invisible_places
from messaging.models import Delivery
from tests import preloaded
from tests.timing import PATIENCE_SECONDS
from tests.transfer.hostile_world import send_everything
from tests.transfer.world import export_of, objects_in, take, written


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of another hub, which is on SQLite."""
    folder = tmp_path_factory.mktemp("hub")
    on_sqlite(folder, "setup", "--no-input")
    return folder


@pytest.mark.django_db
@pytest.mark.parametrize("with_log", [False, True])
def test_through_a_hub_on_sqlite_and_back(full: Project, hub: Path, with_log: bool) -> None:
    """On PostgreSQL there and back across engines; on SQLite through another hub."""
    assert_comes_back(full, hub, f"moved-{with_log}".lower(), with_log=with_log)


@pytest.mark.django_db
def test_what_anybody_may_send(ada: Caller, hub: Path) -> None:
    """What a hub has stored, it imports again: also what was refused, asked and called by odd names."""
    assert send_everything(ada) > 100
    assert any(invisible_places(ref) for ref in Refusal.unscoped.values_list("ref", flat=True))
    assert any(invisible_places(query) for query in EmptySearch.unscoped.values_list("query", flat=True))
    for model in (TokenUse, EmptySearch, Refusal, Delivery):  # As before names were cleaned.
        row = model.unscoped.order_by("pk")[0]
        model.unscoped.filter(pk=row.pk).update(name="be\u200bn\n", folded="be\u200bn\n")
    assert_comes_back(ada.project, hub, "sent", with_log=True)


def assert_comes_back(project: Project, hub: Path, slug: str, *, with_log: bool) -> None:
    """Assert that an export of the project is the same again as `slug` of the other hub, and back here."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # The other hub may take longer than the test may idle.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    first = export_of(project, with_log=with_log)
    path = written(first, hub / f"{slug}-here.jsonl")
    on_sqlite(hub, "import", str(path), "--project", slug)
    options = ["--with-log"] if with_log else []
    exported = hub / f"{slug}-there.jsonl"
    on_sqlite(hub, "export", str(exported), "--project", slug, *options)
    there = exported.read_bytes().splitlines(keepends=True)
    back = take(exported, slug="back")
    assert back.project
    again = export_of(back.project, with_log=with_log)
    assert without_imports(objects_in(there)) == objects_in(first)
    assert without_imports(objects_in(again)) == objects_in(first)


def without_imports(lines: list[bytes]) -> list[bytes]:
    """Without the events that tell of the imports themselves."""
    return [line for line in lines if b'"verb":"imported"' not in line]


def on_sqlite(folder: Path, *arguments: str) -> None:
    """Run a command of a hub of its own."""
    variables = {"CTXHUB_VAR_DIR": str(folder), "DATABASE_URL": f"sqlite:///{folder}/hub.sqlite3"}
    environment = {**preloaded.without_own_variables(os.environ), **variables}
    done = preloaded.run(arguments, environment, timeout=5 * PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
