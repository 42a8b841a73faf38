"""`manage.py import_sqlew`: the files it reads without changing them, repeated and failed imports."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.log import recorded
from ctxhub.core.hub.overview import count_all
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project, SearchText
from ctxhub.importers.shared.values import moment_of
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.models import Decision
from messaging.messages.services import send_message
from tests.search_index import index_is_right
from tests.sqlew.importing import Import, imported
from tests.sqlew.old_file import OldFile
from tests.sqlew.schemas import VERSION_2
from tests.tables import dump_all, dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]


def fill(file: OldFile, count: int = 1) -> None:
    """Rows of every kind."""
    for n in range(count):
        file.decision(
            f"text/{n}", f"v{n}", agent="ada", layer="data", tags=["api", f"t{n}"], scopes=[f"s{n}"]
        )
        file.past(f"text/{n}", f"was {n}", agent="ben")
        file.decision(f"number/{n}", n, agent="cyd")
        file.constraint(f"Must {n}", tags=["api"], layer="business")
        file.message(payload=f'"Look {n}"', to="ben")
        file.message(payload=f'"All {n}"')
        file.change(f"src/{n}.py", description=f"d{n}")


def test_imported_rows_are_indexed_with_existing_names(
    ada: Caller, apollo: Project, old: OldFile, take: Take
) -> None:
    """The index has the spelling of the project, and the parts of compound names are words, too."""
    set_decision(caller=ada, key="here", value="x", tags=["errorHandling"], scopes=["apiServer"])
    add_constraint(caller=ada, category="ownRules", text="Must stand.")
    for name in ("benBot", "cydBot"):
        send_message(caller=ada.speaking_as(name), text="Here.")
    old.decision("k", "v", agent="BENBOT", tags=["ERRORhandling"], scopes=["APISERVER"])
    old.constraint("Must come.", category="OWNRULES", tags=["errorhandling"])
    old.message(payload='{"b": 1.0, "a": [true, null]}', sender="BenBOT", to="CYDbot")
    old.change(
        "src/newFile.py", description="Moved.", agent="benbot", at=datetime.now(UTC) - timedelta(hours=2)
    )
    assert take().is_new
    index_is_right(apollo)
    texts = SearchText.objects.in_project(apollo).order_by("pk").values_list("words", flat=True)
    assert texts.filter(words__startswith="k errorhandl error handl", words__endswith="api server").exists()
    assert texts.filter(words__startswith="ownrul own rule", words__contains="must come").exists()
    assert texts.filter(words__startswith="benbot to cydbot ben bot cyd bot").exists()


# -- Repeated, dry and failed imports --------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_importing_twice_changes_nothing(
    apollo: Project, old_version: Callable[[int], OldFile], version: int
) -> None:
    file = old_version(version)
    file.decision("auth", "JWT", layer="data", tags=["api"], scopes=["s"])
    file.past("auth", "basic")
    file.decision("limit", 5)
    file.constraint("No secrets", tags=["own"], layer="business")
    if version < 4:
        file.message("Look", to="ben", payload="1")
        file.message("All", payload="1")
    if version < 5:
        file.change(layer="data")
    assert imported(file.close()).is_new
    before = dump_all()
    again = imported(file.path)
    assert dump_all() == before
    assert not again.is_new
    assert all(taken == left == 0 for taken, _, left in again.counts.values())


def test_a_dry_run_writes_nothing_and_reports_the_same(apollo: Project, old: OldFile, take: Take) -> None:
    fill(old, 3)
    old.decision("bad", "x" * 70_000)
    before = dump_all()
    dry = take("--dry-run")
    assert dump_all() == before
    wet = take()
    assert (dry.counts, dry.reasons) == (wet.counts, wet.reasons)
    assert dry.text.endswith("this was a dry run, nothing is written.\n")


def test_an_import_is_all_or_nothing(apollo: Project, old: OldFile, take: Take) -> None:
    def fail(nouns: set[str], **_: Any) -> None:
        if "change" in nouns:
            raise RuntimeError("the power went")

    fill(old)
    before = dump_all()
    recorded.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            take()
    finally:
        recorded.disconnect(fail)
    assert dump_all() == before
    assert take().is_new


def test_an_empty_file_records_no_event(apollo: Project, old: OldFile, take: Take) -> None:
    assert not take().is_new
    assert not Event.objects.in_project(apollo).exists()


def test_an_import_updates_stats(apollo: Project, old: OldFile, take: Take) -> None:
    fill(old, 3)
    old.constraint("Not any more", active=0)
    take()
    stats = count_all(apollo.pk)
    assert stats["decisions"] == [6, 6]
    assert stats["constraints"] == [3, 4]
    assert (stats["messages"], stats["changes"], stats["files"]) == (6, 3, 3)


def test_statements_do_not_grow_with_rows(
    apollo: Project, hermes: Project, old_version: Callable[[int], OldFile]
) -> None:
    few, many = old_version(2), old_version(3)
    fill(few, 2)
    fill(many, 60)
    counts = []
    for file, project in ((few, "apollo"), (many, "hermes")):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            imported(file.close(), project=project)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_many_rows_are_written_in_several_statements(apollo: Project, old: OldFile, take: Take) -> None:
    for n in range(1_201):
        old.decision(f"k{n}", tags=["api"])
    with CaptureQueriesContext(connection) as queries:
        assert take().counts["decisions"] == (1_201, 0, 0)
    assert Decision.objects.in_project(apollo).count() == 1_201
    assert Event.objects.in_project(apollo).count() == 1_202
    assert len(queries) < 80


# -- Projects --------------------------------------------------------------------------------------


def test_other_projects_are_not_changed(apollo: Project, hermes: Project, old: OldFile, take: Take) -> None:
    fill(old)
    before = dump_project(hermes)
    take()
    assert dump_project(hermes) == before
    assert imported(old.path, project="hermes").is_new, "what apollo has, hermes has not"


def test_the_only_project_needs_no_name(apollo: Project, old: OldFile) -> None:
    old.decision("auth")
    call_command("import_sqlew", str(old.close()), stdout=StringIO())
    assert Decision.objects.in_project(apollo).exists()


def test_with_several_projects_one_must_be_named(apollo: Project, hermes: Project, old: OldFile) -> None:
    with pytest.raises(CommandError, match=r"Which project.*apollo, hermes"):
        call_command("import_sqlew", str(old.close()))
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        imported(old.path, project="nowhere")


@pytest.mark.parametrize("version", [4, 5])
def test_from_is_required_for_a_file_with_several_projects(
    apollo: Project, old_version: Callable[[int], OldFile], version: int
) -> None:
    file = old_version(version)
    other = file.insert("projects", name="other")
    file.insert("projects", name="idle")
    file.decision("auth", "JWT", tags=["mine"])
    file.decision("auth", "basic", project=other)
    with pytest.raises(CommandError, match=r"several projects: 'main', 'other'.*--from NAME"):
        imported(file.close())
    with pytest.raises(CommandError, match="no project 'nowhere'; its projects: 'idle', 'main', 'other'"):
        imported(file.path, "--from", "nowhere")
    assert imported(file.path, "--from", "Other").counts == {"decisions": (1, 0, 0)}
    assert Decision.objects.in_project(apollo).get().value == "basic"


def test_from_is_refused_for_a_file_without_projects(old: OldFile, take: Take) -> None:
    with pytest.raises(CommandError, match="no 'main' to choose"):
        take("--from", "main")


# -- Rows that are not imported --------------------------------------------------------------------


def test_rows_that_ctxhub_has_no_place_for_are_counted(
    apollo: Project, old_version: Callable[[int], OldFile]
) -> None:
    file = old_version(3)
    file.insert("tasks", title="Do it")
    file.insert("activity_log", agent_id=1, action_type="decision_set", target="k")
    file.insert("decision_templates", name="adr", defaults="{}")
    report = imported(file.close())
    assert report.counts == {"activity": (0, 0, 1), "tasks": (0, 0, 1), "templates": (0, 0, 1)}
    assert "tasks (1): ctxhub keeps no tasks" in report.reasons


def test_different_settings_are_reported(apollo: Project, ada: Caller, old: OldFile, take: Take) -> None:
    set_config(caller=ada, values={"change_days": 14})
    old.connection.execute("UPDATE m_config SET value = 48 WHERE key = 'autodelete_message_hours'")
    [reason] = take().reasons
    assert reason.endswith("hub config_set changes them: 'message_hours=48', 'change_days=7'")


# -- Files -----------------------------------------------------------------------------------------


def test_the_file_is_not_changed(apollo: Project, old: OldFile, tmp_path: Path) -> None:
    fill(old)
    before = old.close().read_bytes()
    imported(old.path)
    assert old.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["sqlew.db"]


def test_an_open_file_is_not_changed(apollo: Project, old: OldFile, tmp_path: Path) -> None:
    old.connection.execute("PRAGMA journal_mode = WAL")
    fill(old)
    old.connection.execute("BEGIN IMMEDIATE")
    old.decision("unfinished")
    log = old.path.with_name("sqlew.db-wal")
    before = old.path.read_bytes(), log.read_bytes()
    assert imported(old.path).counts["decisions"] == (2, 0, 0), "what is in the log, and no more"
    assert (old.path.read_bytes(), log.read_bytes()) == before
    old.connection.execute("COMMIT")


def test_the_file_of_a_killed_program_is_read_with_its_write_ahead_log(
    apollo: Project, old: OldFile, tmp_path: Path
) -> None:
    old.connection.execute("PRAGMA journal_mode = WAL")
    fill(old)
    (tmp_path / "left").mkdir()
    for name in ("sqlew.db", "sqlew.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "left" / name)
    assert imported(tmp_path / "left" / "sqlew.db").counts["decisions"] == (2, 0, 0)


def test_a_file_name_with_url_characters_is_read(apollo: Project, tmp_path: Path) -> None:
    file = OldFile(tmp_path / "my #1? 100% sqlew.db")
    file.decision("auth")
    assert imported(file.close()).is_new


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file"),
        (b"", "is not a database of sqlew: it has no decisions with their keys"),
        (b"not a database, but a text\n" * 50, "is not a SQLite database"),
    ],
)
def test_a_file_that_is_no_sqlew_database_is_refused(
    apollo: Project, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "sqlew.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=re.escape(sentence)):
        imported(path)


def test_a_folder_and_another_programs_database_are_refused(apollo: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no file"):
        imported(tmp_path)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE decisions (id INTEGER)").connection.close()
    with pytest.raises(CommandError, match="not a database of sqlew"):
        imported(tmp_path / "other.db")


def test_a_damaged_file_is_refused(apollo: Project, old: OldFile) -> None:
    for n in range(200):
        old.decision(f"k{n}", "v" * 500)
    content = bytearray(old.close().read_bytes())
    content[8_192:] = b"\xff" * (len(content) - 8_192)
    old.path.write_bytes(content)
    with pytest.raises(CommandError, match="is damaged"):
        imported(old.path)
    assert not Decision.objects.in_project(apollo).exists()


@pytest.mark.one_engine
def test_a_locked_file_is_refused(apollo: Project, old: OldFile) -> None:
    old.connection.execute("BEGIN EXCLUSIVE")
    old.decision("auth")
    with pytest.raises(CommandError, match="is locked by a program"):
        imported(old.path)


# -- Versions --------------------------------------------------------------------------------------


def test_version_4_has_priority_over_the_version_2_it_was_copied_from(
    apollo: Project, tmp_path: Path
) -> None:
    file = both_generations(tmp_path)
    file.version = 4
    file.decision("auth", "new")
    imported(file.close())
    assert Decision.objects.in_project(apollo).get().value == "new"


def test_an_empty_version_4_is_ignored(apollo: Project, tmp_path: Path) -> None:
    imported(both_generations(tmp_path).close())
    assert Decision.objects.in_project(apollo).get().value == "old"


def both_generations(folder: Path) -> OldFile:
    """Version 4 on top of version 2, which keeps all its tables."""
    file = OldFile(folder / "sqlew.db", 4)
    file.connection.executescript(VERSION_2)
    file.version = 2
    file.decision("auth", "old")
    return file


@pytest.mark.parametrize(
    ("version", "label"), [(1, "1"), (2, "1.1 to 3"), (3, "1.1 to 3"), (4, "4"), (5, "5")]
)
def test_the_report_names_the_version_of_the_file(
    apollo: Project, old_version: Callable[[int], OldFile], version: int, label: str
) -> None:
    assert f"(sqlew {label}) into apollo:" in imported(old_version(version).close()).text


@pytest.mark.parametrize(
    ("stored", "moment"),
    [
        (1_760_184_000, datetime(2025, 10, 11, 12, tzinfo=UTC)),
        ("1760184000", datetime(2025, 10, 11, 12, tzinfo=UTC)),
        (1_760_184_000_500, datetime(2025, 10, 11, 12, 0, 0, 500_000, tzinfo=UTC)),
        ("2025-10-11 12:00:00", datetime(2025, 10, 11, 12, tzinfo=UTC)),
        ("2025-10-11T14:00:00+02:00", datetime(2025, 10, 11, 12, tzinfo=UTC)),
        (None, None),
        ("soon", None),
        (1e300, None),
        (float("nan"), None),
    ],
)
def test_times_are_read_in_the_format_of_every_version(stored: Any, moment: datetime | None) -> None:
    assert moment_of(stored) == moment


@pytest.mark.parametrize("program", ["sqlew", "scratchpads", "free_context", "wakeiqx"])
def test_help_says_that_writers_wait(program: str) -> None:
    command = load_command_class("ctxhub", f"import_{program}")
    assert "writers wait" in command.create_parser("manage.py", program).format_help()
