"""The migration: stored globs with braces become what new ones are."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern, Project
from ctxhub.core.paths.bearing import head_of
from ctxhub.core.search.reindexing import index_missing
from ctxhub.toolbox.dispatch import call
from memory.models import Constraint, Decision, Memory, MemoryRevision
from tests.core.stale import change, counts, write_rows
from tests.core.test_reindex import faults
from tests.databases import new_database

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

TABLES: list[Any] = [Decision, Constraint, Memory]
MIGRATION = import_module("memory.migrations.0012_expanded_globs")
FIFTY_ONE = "{" + ",".join(f"f{n}" for n in range(51)) + "}.py"


def written_before(project: Project, paths: list[str]) -> None:
    """As an earlier version stored them: as given, also in the index and the table of patterns."""
    for model in TABLES:
        for row in model.objects.in_project(project):
            row.paths = paths
            row.save()


def migrate() -> None:
    MIGRATION.expand(apps, None)
    index_missing()


def stored(project: Project) -> list[list[str]]:
    return [row.paths for model in TABLES for row in model.objects.in_project(project).order_by("pk")]


def patterns(project: Project, kind: str) -> list[tuple[str, str]]:
    rows = PathPattern.objects.in_project(project).filter(kind=kind).order_by("id")
    return list(rows.values_list("pattern", "head"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["src/**/*.{ts,tsx}"], ["src/**/*.ts", "src/**/*.tsx"]),
        (["a", "{a,b}", "lib/"], ["a", "b", "lib/"]),
        (["app//[id/]/page.tsx", "x/[id/]", "y/[id]"], ["app/[id]/page.tsx", "x[id]", "y/[id]"]),
        (["app//[/[...slug/]/]/page.tsx"], ["app/[[...slug]]/page.tsx"]),
        (["{x}", "{{x}}", "src/(a)/b"], ["{x}", "{{x}}", "src/(a)/b"]),
        (["src/{m,n}.py"], ["src/{m,n}.py"]),  # A file is called so.
        (["src/**", "!note.md"], ["src/**", "?note.md"]),  # And so.
        (["src/**", "!src/{gen,out}/**"], ["src/**", "!src/gen/**", "!src/out/**"]),
        ([FIFTY_ONE], [FIFTY_ONE]),
        (["a", "{a,b}" * 6], ["a", "{a,b}" * 6]),
        (["{a,}"], ["{a,}"]),
        (["{a,/etc}", "{b,..}/c"], ["{a,/etc}", "{b,..}/c"]),
        (["src/@(a|b)"], ["src/@(a|b)"]),
    ],
)
def test_stored_globs_become_what_new_ones_are(
    ada: Caller, ben: Caller, before: list[str], after: list[str]
) -> None:
    write_rows(ada, ["old/**"])
    for path in ("src/{m,n}.py", "!note.md"):
        call(ben, "file", {"action": "record", "path": path, "change": "modified"})
    written_before(ada.project, before)
    migrate()
    assert stored(ada.project) == [after] * 3
    for kind in ("decision", "constraint", "memory"):
        assert patterns(ada.project, kind) == [(glob, head_of(glob)) for glob in after]
    assert faults() == ""
    migrate()
    assert stored(ada.project) == [after] * 3


def test_what_is_not_in_force_is_expanded_without_patterns(ada: Caller) -> None:
    write_rows(ada, ["old/**"])
    call(ada, "decision", {"action": "deprecate", "key": "api/auth"})
    written_before(ada.project, ["{a,b}"])
    migrate()
    assert stored(ada.project)[0] == ["a", "b"]
    assert patterns(ada.project, "decision") == []
    assert faults() == ""


def test_what_is_stale_stays_so(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["src/**"])
    written_before(ada.project, ["src/**", "{a,b}"])
    change(ben, "src/a.py")
    since = set(PathPattern.unscoped.filter(position=0).values_list("stale_since", flat=True))
    migrate()
    assert counts(ada) == {"decision": 1, "constraint": 1, "memory": 1}
    assert set(PathPattern.unscoped.filter(position=0).values_list("stale_since", flat=True)) == since


def test_a_migrated_rule_is_found_by_check_and_search(ada: Caller, ben: Caller) -> None:
    write_rows(ada, ["old/**"])
    written_before(ada.project, ["src/**/*.{ts,tsx}"])
    assert "constraints" not in call(ben, "check", {"paths": ["src/ui/button.tsx"]})
    migrate()
    assert len(call(ben, "check", {"paths": ["src/ui/button.tsx"]})["constraints"]["rows"]) == 1
    assert call(ben, "search", {"query": "tsx"})["count"] == 3


def test_other_rows_and_revisions_stay_as_they_are(ada: Caller) -> None:
    write_rows(ada, ["src/**"])
    call(ada, "memory", {"action": "add", "title": "t", "content": "Uses {a,b}."})
    tables = (*TABLES, MemoryRevision, PathPattern)
    before = [list(model.unscoped.values()) for model in tables]
    migrate()
    assert [list(model.unscoped.values()) for model in tables] == before


def test_many_rows_take_few_statements(ada: Caller) -> None:
    for number in range(30):
        call(ada, "decision", {"action": "set", "key": f"k{number}", "value": 1, "paths": ["old/**"]})
    written_before(ada.project, ["{a,b}"])
    with CaptureQueriesContext(
        connection,
    ) as found:
        MIGRATION.expand(apps, None)
    assert len(found) < 60
    assert stored(ada.project) == [["a", "b"]] * 30


@pytest.mark.django_db(transaction=True)
def test_manage_py_migrate_expands_and_indexes_and_goes_back() -> None:
    with new_database():
        call_command("migrate", verbosity=0)
        project = create_project(slug="old")
        write_rows(Caller(project=project, agent="ada"), ["old/**"])
        written_before(project, ["src/**/*.{ts,tsx}"])
        call_command("migrate", "memory", "0011", verbosity=0)
        call_command("migrate", verbosity=0)
        assert stored(project) == [["src/**/*.ts", "src/**/*.tsx"]] * 3
        assert faults() == ""
