"""`manage.py import_wakeiqx` with SQL text: exports are read, hostile statements are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError

from ctxhub.core.models import Project
from ctxhub.importers.shared.files import NotReadable
from ctxhub.importers.wakeiqx import exports
from ctxhub.importers.wakeiqx.reader import read_snapshots
from memory.snapshots.models import Snapshot
from tests.importing.old_snapshots import NEWEST, OldSnapshots
from tests.importing.test_wakeiqx_rows import causes_of, dependencies_of, fill, snapshots_of
from tests.sqlew.importing import Import, imported
from tests.tables import dump_all

pytestmark = pytest.mark.one_engine

Take = Callable[..., Import]
TABLE = "CREATE TABLE context_snapshots (id TEXT PRIMARY KEY, project TEXT, summary TEXT);\n"
ROW = "INSERT INTO context_snapshots VALUES ('s1', 'auth', 'Kept.');\n"
TEN = f"(VALUES {', '.join(['(1)'] * 10)})"


@pytest.fixture
def take_text(tmp_path: Path, take_snapshots: Take) -> Callable[[str | bytes], Import]:
    """Import a text into apollo."""

    def take(text: str | bytes) -> Import:
        path = tmp_path / "export.sql"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return take_snapshots(path=path)

    return take


# -- Exports ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_an_export_is_imported_like_the_database(apollo: Project, tmp_path: Path, version: int) -> None:
    file = OldSnapshots(tmp_path / "old.db", version)
    file.add("s1", 'It\'s "new";\r\n-- no comment\n快 é 🙂', tags="api, own", metadata={"a": "'"})
    export = imported(file.export(tmp_path / "old.sql"), command="import_wakeiqx")
    assert export.counts == {"snapshots": (1, 0, 0), "tags": (1, 1, 0)}
    assert snapshots_of(apollo)[0].content == 'It\'s "new";\r\n-- no comment\n快 é 🙂'
    assert not imported(file.close(), command="import_wakeiqx").is_new


def test_an_export_keeps_links(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take, tmp_path: Path
) -> None:
    fill(snapshots, 2)
    take_snapshots(path=snapshots.export(tmp_path / "export.sql"))
    assert causes_of(apollo)["Effect 1"] == "Cause 1"
    assert dependencies_of(apollo) == [("Effect 0", "Cause 0"), ("Effect 1", "Cause 1")]


def test_a_dump_by_sqlite_is_imported(
    apollo: Project, snapshots: OldSnapshots, take_text: Callable[[str], Import]
) -> None:
    fill(snapshots, 2)
    dump = "\n".join(["PRAGMA foreign_keys=OFF;", *snapshots.connection.iterdump()])
    assert take_text(dump).counts["snapshots"] == (4, 0, 0)


@pytest.mark.parametrize(
    ("row", "summary"),
    [
        ("VALUES ('s1', 'a', 'One'), ('s2', 'a', 'Two')", "One"),
        (r"VALUES ('s1', 'a', replace('One\nTwo', '\n', char(10)))", "One\nTwo"),
        ("VALUES ('s1', 'a', X'4F6E65')", "One"),
        ("(summary, id) VALUES ('One', 's1')", "One"),
    ],
)
def test_rows_are_read_in_every_form(
    apollo: Project, take_text: Callable[[str], Import], row: str, summary: str
) -> None:
    take_text(f"\ufeff{TABLE}INSERT INTO context_snapshots {row};")
    assert snapshots_of(apollo)[0].summary == summary


def test_an_export_is_read_in_another_order(apollo: Project, take_text: Callable[[str], Import]) -> None:
    index = "CREATE UNIQUE INDEX i ON context_snapshots (project, summary) WHERE summary IS NOT NULL;\n"
    assert take_text(f"BEGIN;\n{TABLE}{index}{ROW}").is_new, "the end of the transaction is missing"


# -- Hostile statements ----------------------------------------------------------------------------

HOSTILE = [
    "ATTACH DATABASE '{path}' AS other;",
    "ATTACH '{path}' AS other; CREATE TABLE other.t (a);",
    "VACUUM INTO '{path}';",
    "VACUUM;",
    "SELECT load_extension('{path}');",
    "INSERT INTO context_snapshots VALUES ('s2', 'a', load_extension('{path}'));",
    "INSERT INTO context_snapshots VALUES ('s2', 'a', readfile('/etc/passwd'));",
    "INSERT INTO context_snapshots VALUES ('s2', 'a', hex(zeroblob(1000000000)));",
    "INSERT INTO context_snapshots VALUES ('s2', 'a', printf('%1000000000d', 1));",
    "PRAGMA writable_schema = ON;",
    "PRAGMA max_page_count = 1000000000;",
    "PRAGMA temp_store_directory = '/tmp';",
    "CREATE TRIGGER t AFTER INSERT ON context_snapshots BEGIN DELETE FROM context_snapshots; END;",
    "CREATE VIEW v AS SELECT * FROM context_snapshots;",
    "CREATE TEMP TABLE t (a);",
    "CREATE TABLE t AS SELECT * FROM context_snapshots;",
    "CREATE VIRTUAL TABLE t USING fts5(a);",
    "DROP TABLE context_snapshots;",
    "ALTER TABLE context_snapshots ADD COLUMN a;",
    "DELETE FROM context_snapshots;",
    "UPDATE context_snapshots SET summary = 'x';",
    "INSERT INTO context_snapshots SELECT id || 'x', project, summary FROM context_snapshots;",
    "INSERT INTO context_snapshots VALUES ('s2', 'a', (SELECT sql FROM sqlite_master));",
    "SELECT * FROM context_snapshots;",
    "SAVEPOINT s;",
    "ANALYZE;",
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
    " INSERT INTO context_snapshots SELECT i, 'a', 'b' FROM n;",
    "INSERT INTO sqlite_master VALUES ('table', 't', 't', 0, 'x');",
    "UPDATE sqlite_master SET sql = 'x';",
]


@pytest.mark.parametrize("statement", HOSTILE)
def test_other_statements_are_refused(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "export.sql"
    path.write_text(TABLE + ROW + statement.replace("{path}", str(tmp_path / "made.db")))
    with pytest.raises(NotReadable):
        read_snapshots(path)
    assert [*tmp_path.iterdir()] == [path]


def test_a_refused_export_writes_nothing(apollo: Project, take_text: Callable[[str], Import]) -> None:
    before = dump_all()
    with pytest.raises(CommandError, match="is no export, which only creates tables"):
        take_text(f"{TABLE}{ROW}DROP TABLE context_snapshots;")
    assert dump_all() == before


def test_a_join_without_end_is_stopped(
    apollo: Project, take_text: Callable[[str], Import], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads no table, so only the limit of time stops it."""
    monkeypatch.setattr(exports, "SECONDS", 0.2)
    joined = ", ".join(f"{TEN} AS t{n}" for n in range(12))
    total = " + ".join(f"t{n}.column1" for n in range(12))
    with pytest.raises(CommandError, match="takes more time or memory"):
        take_text(
            f"{TABLE}{ROW}INSERT INTO context_snapshots SELECT 1, 2, 3 FROM {joined} WHERE {total} > 99;"
        )
    assert not Snapshot.objects.in_project(apollo).exists()


def test_rows_without_end_are_stopped(
    apollo: Project, take_text: Callable[[str], Import], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "VALUE_BYTES", 1024 * 1024)
    joined = ", ".join(f"{TEN} AS t{n}" for n in range(12))
    with pytest.raises(CommandError, match="takes more time or memory"):
        take_text(f"CREATE TABLE t (a);\nINSERT INTO t SELECT 'row' FROM {joined};")


def test_values_without_end_are_stopped(
    apollo: Project, take_text: Callable[[str], Import], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "VALUE_BYTES", 1024 * 1024)
    value = "'aaaaaaaaaa'"
    for _ in range(10):
        value = f"replace({value}, 'a', 'aaaaaaaaaa')"
    with pytest.raises(CommandError, match="takes more time or memory"):
        take_text(f"{TABLE}INSERT INTO context_snapshots VALUES ('s1', 'a', {value});")


# -- Files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a database of WakeIQX"),
        (b"not a database, but a text\n" * 50, "is neither a SQLite database nor the SQL text of one"),
        (b"\xff\xfe\x00\x01", "is neither a SQLite database nor the SQL text of one"),
        (b"CREATE TABLE t (a);\0", "is neither a SQLite database nor the SQL text of one"),
        (b"CREATE TABLE context_snapshots (id TEXT", "is neither a SQLite database nor the SQL text of one"),
        (b"-- nothing\n", "it has no context_snapshots with their summaries"),
        (b"CREATE TABLE context_snapshots (id TEXT);", "it has no context_snapshots with their summaries"),
        (b"SQLite format 3\0" + b"x" * 4096, "is not a SQLite database|is damaged"),
    ],
)
def test_a_file_that_is_no_database_is_refused(
    apollo: Project, take_text: Callable[[bytes], Import], content: bytes, sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        take_text(content)


def test_a_missing_file_is_refused(apollo: Project, take_snapshots: Take, tmp_path: Path) -> None:
    for path in (tmp_path / "nosuch.sql", tmp_path):
        with pytest.raises(CommandError, match="There is no file"):
            take_snapshots(path=path)


def test_a_text_that_is_too_large_is_refused(
    take_text: Callable[[str], Import], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "TEXT_BYTES", 10)
    with pytest.raises(CommandError, match=r"sqlite3 new\.db < FILE"):
        take_text(TABLE + ROW)


def test_an_unknown_project_is_refused(
    apollo: Project, snapshots: OldSnapshots, take_snapshots: Take
) -> None:
    for n in range(30):
        snapshots.add(f"s{n}", project=f"p{n:02}")
    with pytest.raises(CommandError, match=r"no project 'nosuch'; its projects: 'p00', .*'p19', …\."):
        take_snapshots("--source-project", "nosuch")


def test_the_file_is_not_changed(snapshots: OldSnapshots, take_snapshots: Take, tmp_path: Path) -> None:
    fill(snapshots)
    before = snapshots.close().read_bytes()
    take_snapshots()
    assert snapshots.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["wakeiqx.db"]
