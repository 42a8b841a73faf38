"""Databases that the real sqlew wrote; skipped with a warning where npm cannot install it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.queries import list_versions
from memory.models import Constraint, ConstraintStatus, Decision
from messaging.models import Delivery, Message
from tests.sqlew.importing import imported
from tests.sqlew.old_file import OldFile
from tests.sqlew.program import Program, installed_program, running
from tests.tables import dump_all
from tracking.models import FileChange

pytestmark = [
    pytest.mark.usefixtures("index_is_kept"),
    pytest.mark.one_engine,
    pytest.mark.needs_npm,
]

Shape = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="session")
def script() -> Path:
    return installed_program()


def use(program: Program) -> None:
    """Decisions, constraints, messages and file changes of a small team."""
    words = {"tags": ["api", "Own"], "scopes": ["user-service"]}
    program.call("decision", "set", key="auth", value="basic", agent="ada", version="1.0.0")
    program.call(
        "decision", "set", key="auth", value="JWT", agent="ben", version="1.1.0", layer="business", **words
    )
    program.call("decision", "set", key="limit", value=5, agent="ada", layer="data")
    program.call("decision", "set", key="ratio", value=0.5, status="draft")
    program.call("decision", "set", key="both", value=7)
    program.call("decision", "set", key="both", value="seven")
    program.call(
        *("constraint", "add"),
        category="security",
        constraint_text="No secrets",
        priority="critical",
        tags=["api"],
        layer="data",
        created_by="ada",
    )
    gone = program.call("constraint", "add", category="performance", constraint_text="Be fast")
    program.call("constraint", "deactivate", constraint_id=gone["constraint_id"])
    program.call(
        *("message", "send"),
        from_agent="ada",
        to_agent="ben",
        msg_type="request",
        message="dropped",
        payload={"pr": 7},
        priority="high",
    )
    sent = program.call("message", "send", from_agent="ada", msg_type="info", message="", payload="All")
    program.call("message", "mark_read", message_ids=[sent["message_id"]], agent_name="ben")
    program.call(
        *("file", "record"),
        file_path="src/app.py",
        agent_name="ben",
        change_type="modified",
        layer="data",
        description="d",
    )


def expect_all(project: Project) -> None:
    """Assert that the project holds everything that `use` wrote."""
    values = {d.key: d.typed_value for d in Decision.objects.in_project(project)}
    assert values == {"auth": "JWT", "limit": 5, "ratio": 0.5, "both": "seven"}
    assert [(v["value"], v["version"], v["agent"]) for v in list_versions(project.pk, "auth").objects()] == [
        ("JWT", "1.1.0", "ben"),
        ("basic", "1.0.0", "ada"),
    ]
    auth = Decision.objects.in_project(project).get(key="auth")
    assert sorted(auth.tags.values_list("name", flat=True)) == ["Own", "api"]
    assert list(auth.scopes.values_list("name", flat=True)) == ["user-service"]
    constraints = Constraint.objects.in_project(project).order_by("pk").values_list("text", "status")
    assert list(constraints) == [
        ("No secrets", ConstraintStatus.ACTIVE),
        ("Be fast", ConstraintStatus.INACTIVE),
    ]
    messages = Message.objects.in_project(project).order_by("pk").values_list("text", "to_everyone")
    assert list(messages) == [('{"pr": 7}', False), ("All", True)]
    unread = Delivery.objects.in_project(project).filter(read_at=None)
    assert list(unread.values_list("name", "message__text")) == [("ben", '{"pr": 7}')]
    changes = FileChange.objects.in_project(project)
    assert list(changes.values_list("resource__path", "agent__name", "layer__name")) == [
        ("src/app.py", "ben", "data")
    ]


def test_its_database_is_imported_completely_and_once(apollo: Project, script: Path, tmp_path: Path) -> None:
    with running(script, tmp_path / "sqlew.db") as program:
        use(program)
    assert imported(tmp_path / "sqlew.db").reasons == []
    expect_all(apollo)
    before = dump_all()
    assert not imported(tmp_path / "sqlew.db").is_new
    assert dump_all() == before


def test_a_running_program_can_be_imported_from(apollo: Project, script: Path, tmp_path: Path) -> None:
    with running(script, tmp_path / "sqlew.db") as program:
        use(program)
        imported(tmp_path / "sqlew.db")
        program.call("decision", "set", key="later", value="v")
    expect_all(apollo)
    assert imported(tmp_path / "sqlew.db").counts["decisions"] == (1, 4, 0)


def test_the_database_of_a_killed_program_is_imported(apollo: Project, script: Path, tmp_path: Path) -> None:
    with running(script, tmp_path / "sqlew.db") as program:
        use(program)
        program.process.kill()
        program.process.wait()
    assert (tmp_path / "sqlew.db-wal").stat().st_size
    imported(tmp_path / "sqlew.db")
    expect_all(apollo)


def test_our_schema_of_version_2_equals_the_real_one(script: Path, tmp_path: Path, old: OldFile) -> None:
    with running(script, tmp_path / "real.db") as program:
        program.call("stats", "db_stats")
    with closing(sqlite3.connect(tmp_path / "real.db")) as real:
        made = shape_of(real)
    ours = shape_of(old.connection)
    assert {table: made[table] for table in ours} == ours
    assert set(made) == set(ours)


def shape_of(connection: sqlite3.Connection) -> Shape:
    """The columns of each table: name, type, not null, default, position in the primary key."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return {
        name: [tuple(row[1:]) for row in connection.execute(f"PRAGMA table_info({name})")]
        for (name,) in tables.fetchall()
    }


def test_other_projects_see_none_of_the_import(
    cy: Caller, apollo: Project, script: Path, tmp_path: Path
) -> None:
    with running(script, tmp_path / "sqlew.db") as program:
        use(program)
    imported(tmp_path / "sqlew.db")
    assert not Decision.objects.in_project(cy.project).exists()
