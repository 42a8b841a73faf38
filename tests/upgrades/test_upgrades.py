"""`setup` upgrades the database of each earlier state that CHANGELOG.md names, with nothing lost.

Older ones are told what to do. `python -m tests.upgrades.make` makes the databases.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from ctxhub import __version__
from ctxhub.core.transfer.declaration import exported_kinds
from memory.suggestions.keys import whole_signature
from tests.backups import token_of
from tests.core.command_line import Installation
from tests.upgrades.make import states
from tests.upgrades.states import Contents, Row, contents_of, loaded

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
TOO_OLD = "2026-11-23"
# To these setup adds: a first account and a token, and what belongs to new tables.
GROWN = {"auth_user", "core_accesstoken", "auth_permission", "django_content_type", "django_migrations"}
# What `doctor` says of the database.
OF_DATABASE = {"database", "migrations", "connections", "clock", "index"}
LISTS = (
    *("decisions", "constraints", "templates", "contexts", "memories", "workflows", "messages"),
    *("resources", "changes", "leases", "snapshots", "sessions", "activity", "agents", "tags", "bin"),
)


@dataclass(frozen=True)
class Upgraded:
    at: Installation
    before: Contents

    @cached_property
    def after(self) -> Contents:
        return contents_of(self.at)


@pytest.fixture(scope="module", params=[state for state in states() if state != TOO_OLD])
def upgraded(request: pytest.FixtureRequest, django_db_setup: None) -> Iterator[Upgraded]:
    with loaded(request.param) as at:
        before = contents_of(at)
        done = at.run("setup", "--no-input")
        assert done.returncode == 0, done.stderr
        hub = Upgraded(at, before)
        assert hub.after
        yield hub


def test_no_value_is_lost(upgraded: Upgraded) -> None:
    """Each row is there, and has in each of its columns what it had."""
    before, after = upgraded.before, upgraded.after
    assert before.keys() <= after.keys()
    for table, rows in before.items():
        columns = {column for row in rows[:1] for column in row}
        there = _counted(after[table], columns)
        assert not _counted(rows, columns) - there, table
        assert len(after[table]) == len(rows) or table in GROWN, table


def _counted(rows: Any, columns: set[str]) -> Counter[str]:
    return Counter(repr([row.get(column, "gone") for column in sorted(columns)]) for row in rows)


def test_each_table_had_rows(upgraded: Upgraded) -> None:
    empty = {table for table, rows in upgraded.before.items() if not rows and not table.startswith(OF_DJANGO)}
    assert empty == set()


# Nobody writes to them: rights and logs of Django's own.
OF_DJANGO = ("auth_group", "auth_user_", "django_admin_log", "django_site")


def test_what_is_derived_from_a_key_is_there(upgraded: Upgraded) -> None:
    decisions = upgraded.after["memory_decision"]
    assert len(decisions) > 10
    for row in decisions:
        assert row["signature"] == whole_signature(row["key"])


def test_a_second_setup_changes_nothing(upgraded: Upgraded) -> None:
    assert upgraded.at.run("setup", "--no-input").returncode == 0
    assert contents_of(upgraded.at) == upgraded.after


def test_the_index_and_the_database_are_right(upgraded: Upgraded) -> None:
    checked = upgraded.at.run("reindex", "--check", "--all")
    assert checked.returncode == 0, checked.stdout
    found = json.loads(upgraded.at.run("doctor", "--json").stdout)["findings"]
    states_of = {each["check"]: each["state"] for each in found if each["check"] in OF_DATABASE}
    assert states_of == dict.fromkeys(OF_DATABASE, "ok")


def test_an_export_has_all(upgraded: Upgraded) -> None:
    folder = upgraded.at.folder / "exported"
    folder.mkdir()
    done = upgraded.at.run("export", "--all", "--with-log", str(folder))
    assert done.returncode == 0, done.stderr
    projects = upgraded.before["core_project"]
    assert len(projects) == 2
    for project in projects:
        head = json.loads((folder / f"{project['slug']}.jsonl").open().readline())
        for exported in exported_kinds(with_log=True):
            rows = [row for row in upgraded.before.get(exported.table, ()) if _is_of(row, project)]
            if not exported.only:
                assert head["counts"].get(exported.kind, 0) == len(rows), exported.kind


def _is_of(row: Row, project: Row) -> bool:
    return bool(row["project_id"] == project["id"])


def test_the_hub_serves_it(upgraded: Upgraded) -> None:
    token = token_of(upgraded.at, "reading", "apollo")
    decision = next(row for row in upgraded.before["memory_decision"] if row["key"] == "db/engine")
    with upgraded.at.serving("--port", "0") as server:
        assert server.hub.http().send("GET", "/readyz").status == 200
        rest = server.hub.rest(token)
        for name in LISTS:
            assert rest.get(f"{name}/").status == 200, name
        read = server.hub.mcp(token).call("decision", "get", key=decision["key"])
        assert read["decision"]["value"] == decision["value"]
        written = server.hub.mcp(token).call("decision", "set", key="after/the-upgrade", value="written")
        assert written["result"] == "created"


def test_each_version_of_the_changelog_has_its_database() -> None:
    versions = re.findall(r"(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", CHANGELOG.read_text())
    assert versions[0] == __version__
    assert {*versions} <= {*states()}


# -- Too old ---------------------------------------------------------------------------------------


def test_an_older_one_is_told_what_to_do_and_nothing_is_changed(django_db_setup: None) -> None:
    with loaded(TOO_OLD) as at:
        before = contents_of(at)
        for command in (("setup", "--no-input"), ("migrate",), ("serve", "--port", "0"), ("backup", "x.tar")):
            refused = at.run(*command)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert "Upgrade in two steps: check out the last version that could" in refused.stderr
        assert contents_of(at) == before
