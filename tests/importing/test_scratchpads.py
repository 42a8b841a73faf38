"""`manage.py import_scratchpads`: workflows and pads, and repeated or failed imports."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.log import recorded
from ctxhub.core.hub.overview import count_all
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.models import Event, Project
from ctxhub.importers.shared import batching
from memory.models import Scratchpad, Workflow
from memory.scratchpads.queries import content_at, list_revisions
from memory.scratchpads.services import append_to_scratchpad, update_scratchpad
from memory.workflows.services import clean_workflows, close_workflow, update_workflow
from tests.importing.old_pads import SCHEMAS, OldPads
from tests.search_index import index_is_right
from tests.sqlew.importing import Import, imported
from tests.tables import dump_all, dump_project
from tests.tallies import counted, tallied

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]
THEN = datetime(2025, 10, 11, 12, tzinfo=UTC)
LATER = THEN + timedelta(hours=5, milliseconds=250)


def workflow_of(project: Project) -> Workflow:
    return Workflow.objects.in_project(project).get()


def pads_of(project: Project) -> list[Scratchpad]:
    return list(Scratchpad.objects.in_project(project).order_by("pk"))


def fill(file: OldPads, count: int = 1, first: int = 0) -> None:
    for n in range(first, first + count):
        file.workflow(f"w{n}", f"Work {n}", metadata={"n": n})
        for name in ("analysis", "solution"):
            file.pad(name, f"# {name} {n}\n\nText {n}.", f"w{n}")


# -- Imported rows ---------------------------------------------------------------------------------


def test_a_workflow_of_the_published_design_keeps_its_fields(
    apollo: Project, pads: OldPads, take_pads: Take
) -> None:
    pads.workflow("w1", "Code Refactoring Task", metadata={"team": "core", "gone": None})
    pads.pad("code_analysis", "發現 3 個主要問題:\n1. UserService 效能瓶頸", updated_at="2025-10-11 17:00:00")
    assert take_pads().counts == {"workflows": (1, 0, 0), "scratchpads": (1, 0, 0)}
    workflow, [pad] = workflow_of(apollo), pads_of(apollo)
    assert workflow.metadata == {"team": "core", "imported_id": "w1", "keep": "never"}
    assert (workflow.name, workflow.is_active) == ("Code Refactoring Task", True)
    assert (workflow.created_at, workflow.updated_at) == (THEN, THEN + timedelta(hours=5))
    assert (pad.workflow_id, pad.name, pad.revision) == (workflow.pk, "code_analysis", 1)
    assert pad.content == "發現 3 個主要問題:\n1. UserService 效能瓶頸"
    assert (pad.length, pad.size) == (len(pad.content), len(pad.content.encode()))
    assert (pad.created_at, pad.updated_at) == (THEN, THEN + timedelta(hours=5))


def test_a_workflow_of_the_real_program_keeps_its_fields(apollo: Project, tmp_path: Path) -> None:
    file = OldPads(tmp_path / "scratchpad.db", "program")
    file.workflow("w1", description="Make it fast", project_scope="shop", is_active=0)
    file.pad("analysis", "Slow.", updated_at=LATER.timestamp())
    imported(file.close(), command="import_scratchpads")
    workflow, [pad] = workflow_of(apollo), pads_of(apollo)
    assert workflow.metadata == {
        "description": "Make it fast",
        "project_scope": "shop",
        "imported_id": "w1",
        "keep": "never",
    }
    assert not workflow.is_active
    assert (pad.name, pad.content, pad.updated_at) == ("analysis", "Slow.", LATER)


@pytest.mark.parametrize(
    "stored",
    [
        1_760_184_000,
        1_760_184_000_000,
        "1760184000000",
        "2025-10-11 12:00:00",
        "2025-10-11T12:00:00Z",
        "2025-10-11T14:00:00+02:00",
    ],
)
def test_times_are_read_in_every_stored_format(
    apollo: Project, pads: OldPads, take_pads: Take, stored: Any
) -> None:
    pads.workflow(at=stored)
    pads.pad(at=stored)
    take_pads()
    workflow, [pad] = workflow_of(apollo), pads_of(apollo)
    moments = (workflow.created_at, workflow.updated_at, pad.created_at, pad.updated_at)
    assert set(moments) == {THEN}


def test_unknown_times_become_the_time_of_the_import(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    pads.workflow(at="soon")
    pads.pad(at=None)
    take_pads()
    assert pads_of(apollo)[0].created_at == workflow_of(apollo).created_at > THEN
    assert take_pads().counts == {"workflows": (0, 1, 0), "scratchpads": (0, 1, 0)}


def test_an_imported_pad_can_be_appended_to_and_updated(
    apollo: Project, ada: Caller, pads: OldPads, take_pads: Take
) -> None:
    pads.workflow()
    pads.pad("analysis", "one")
    take_pads()
    [pad] = pads_of(apollo)
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="two")
    update_scratchpad(caller=ada, scratchpad_id=pad.pk, content="three")
    revisions = list_revisions(apollo.pk, pad.pk, limit=20).objects()
    assert [(row["revision"], row["change"]) for row in revisions] == [
        (3, "replaced"),
        (2, "appended"),
        (1, "created"),
    ]
    assert [content_at(apollo.pk, pad.pk, n) for n in (1, 2, 3)] == ["one", "one\n\ntwo", "three"]


def test_an_old_workflow_is_exempt_from_cleanup(
    apollo: Project, ada: Caller, pads: OldPads, take_pads: Take
) -> None:
    now = datetime.now(UTC)
    pads.workflow("old", "Old")
    pads.workflow("new", "New", at=now.timestamp())
    report = take_pads()
    assert clean_workflows(apollo.pk, now, 7) == {}
    kept = dict(Workflow.objects.in_project(apollo).values_list("name", "is_kept"))
    assert kept == {"Old": True, "New": False}
    [change] = report.changes
    assert change.startswith("workflows (1): older than scratchpad_days (7): metadata.keep spares it")


def test_without_cleanup_no_workflow_is_marked_as_kept(
    apollo: Project, ada: Caller, pads: OldPads, take_pads: Take
) -> None:
    set_config(caller=ada, values={"scratchpad_days": 0})
    pads.workflow()
    take_pads()
    assert workflow_of(apollo).metadata == {"imported_id": "w1"}


def test_rows_with_credentials_are_skipped(pads: OldPads, take_pads: Take) -> None:
    """Every agent can read what is stored, and the report does not repeat the credential."""
    secret = f"ghp_{'a1B2' * 9}"
    pads.workflow()
    pads.pad("keys", secret)
    pads.pad(secret, "the name of this pad")
    report = take_pads()
    assert report.counts["scratchpads"] == (0, 0, 2)
    assert secret not in report.text


# -- Changed and skipped rows ----------------------------------------------------------------------


def test_long_texts_are_truncated_and_reported(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    pads.workflow("w1", "w" * 300)
    pads.pad("n" * 201, "快" * (CONTENT_BYTES // 3 + 1))
    report = take_pads()
    workflow, [pad] = workflow_of(apollo), pads_of(apollo)
    assert (len(workflow.name), len(pad.name)) == (200, 200)
    assert pad.content == "快" * (CONTENT_BYTES // 3)
    assert any(
        line.startswith("scratchpads (1): its content had more than 1,048,576") for line in report.changes
    )
    assert sum("name had more than 200 characters" in line for line in report.changes) == 2


def test_a_pad_without_a_name_is_named_untitled(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    pads.workflow("w1", None)
    pads.pad(" ", None)
    take_pads()
    [pad] = pads_of(apollo)
    assert (workflow_of(apollo).name, pad.name, pad.content) == ("", "untitled", "")


def test_pads_above_the_limit_of_a_workflow_are_skipped(
    apollo: Project, pads: OldPads, take_pads: Take
) -> None:
    pads.workflow()
    for n in range(53):
        pads.pad(f"pad {n}")
    report = take_pads()
    assert report.counts["scratchpads"] == (50, 0, 3)
    assert report.reasons == ["scratchpads (3): more than 50 in one workflow: 'pad 50', 'pad 51', 'pad 52'"]
    assert take_pads().counts["scratchpads"] == (0, 50, 3)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"content": "a\0b"}, "content holds a NUL character"),
        ({"content": b"\xff"}, "content holds half of a surrogate pair"),
        ({"workflow": "gone"}, "its workflow is not there, or is left"),
    ],
)
def test_an_invalid_pad_is_skipped_with_the_reason(
    pads: OldPads, take_pads: Take, values: dict[str, Any], reason: str
) -> None:
    pads.connection.execute("PRAGMA foreign_keys = OFF")
    pads.workflow()
    pads.pad(**values)
    pads.pad("good")
    report = take_pads()
    assert report.counts["scratchpads"] == (1, 0, 1)
    assert reason in report.reasons[0]


def test_a_workflow_without_an_id_is_skipped(pads: OldPads, take_pads: Take) -> None:
    pads.workflow(None)
    assert take_pads().reasons == ["workflows (1): its id is missing: 'Refactoring'"]


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("not JSON", {"metadata": "not JSON"}),
        ("[1, 2]", {"metadata": [1, 2]}),
        ("NaN", {}),
        ("[" * 5_000, {"metadata": "[" * 5_000}),
        ('{"a": ' * 30 + "1" + "}" * 30, {}),
        (f'{{"a": "{"x" * 70_000}"}}', {}),
        ('{"a": "\\u0000"}', {}),
        ("", {}),
    ],
)
def test_invalid_metadata_are_left_out(
    apollo: Project, ada: Caller, pads: OldPads, take_pads: Take, stored: str, expected: dict[str, Any]
) -> None:
    set_config(caller=ada, values={"scratchpad_days": 0})
    pads.insert("workflows", id="w1", name="W", created_at=THEN.isoformat(), metadata=stored)
    take_pads()
    assert workflow_of(apollo).metadata == {**expected, "imported_id": "w1"}


# -- Repeated, dry and failed imports --------------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS)
def test_importing_twice_changes_nothing(apollo: Project, tmp_path: Path, schema: str) -> None:
    file = OldPads(tmp_path / "scratchpad.db", schema)
    fill(file, 3)
    file.pad("analysis", "# analysis 0\n\nText 0.", "w0")
    path = file.close()
    assert imported(path, command="import_scratchpads").is_new
    before = dump_all()
    again = imported(path, command="import_scratchpads")
    assert again.counts == {"workflows": (0, 3, 0), "scratchpads": (0, 7, 0)}
    assert (dump_all(), again.is_new, again.changes) == (before, False, [])


@pytest.mark.parametrize("old_id", ["1", "1e5", '{"a": 1}', "null", '"quoted"', "a/b.c[0]", "é"])
def test_ids_of_any_form_are_recognised_in_a_second_import(
    apollo: Project, pads: OldPads, take_pads: Take, old_id: str
) -> None:
    pads.workflow(old_id)
    pads.pad(workflow=old_id)
    assert take_pads().is_new
    assert not take_pads().is_new


def test_a_second_import_takes_new_rows(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    fill(pads)
    take_pads()
    fill(pads, first=1)
    pads.pad("review", "Good.", "w0")
    assert take_pads().counts == {"workflows": (1, 1, 0), "scratchpads": (3, 2, 0)}
    workflow = Workflow.objects.in_project(apollo).get(name="Work 0")
    assert [pad.name for pad in workflow.scratchpads.order_by("pk")] == ["analysis", "solution", "review"]
    assert workflow.updated_at > THEN, "it was written to"


def test_rows_changed_since_the_import_are_not_overwritten(
    apollo: Project, ada: Caller, pads: OldPads, take_pads: Take
) -> None:
    pads.workflow()
    pads.pad("analysis", "one")
    take_pads()
    workflow, [pad] = workflow_of(apollo), pads_of(apollo)
    append_to_scratchpad(caller=ada, scratchpad_id=pad.pk, content="two")
    update_workflow(caller=ada, workflow_id=workflow.pk, name="Renamed", metadata={"a": 1})
    close_workflow(caller=ada, workflow_id=workflow.pk)
    before = dump_all()
    report = take_pads()
    assert report.reasons == ["scratchpads (1): it stands here with another text: 'analysis'"]
    assert dump_all() == before


def test_equal_ids_of_two_files_are_kept_apart(
    apollo: Project, pads: OldPads, take_pads: Take, tmp_path: Path
) -> None:
    pads.workflow("1", "One")
    take_pads()
    other = OldPads(tmp_path / "other.db")
    other.workflow("1", "Another", at=THEN.timestamp() + 60)
    assert take_pads(path=other.close()).counts == {"workflows": (1, 0, 0)}
    assert not take_pads(path=other.path).is_new
    assert not take_pads().is_new


def test_a_dry_run_writes_nothing_and_reports_the_same(
    apollo: Project, pads: OldPads, take_pads: Take
) -> None:
    fill(pads, 3)
    pads.pad("bad", "a\0b", "w0")
    pads.pad("n" * 300, "long", "w0")
    before = dump_all()
    dry = take_pads("--dry-run")
    assert dump_all() == before
    wet = take_pads()
    assert (dry.counts, dry.reasons, dry.changes) == (wet.counts, wet.reasons, wet.changes)
    assert dry.text.endswith("10 new; this was a dry run, nothing is written.\n")


def test_an_import_is_all_or_nothing(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    def fail(nouns: set[str], **_: Any) -> None:
        if "scratchpad" in nouns:
            raise RuntimeError("the power went")

    fill(pads)
    before = dump_all()
    recorded.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            take_pads()
    finally:
        recorded.disconnect(fail)
    assert dump_all() == before
    assert take_pads().is_new


def test_an_empty_file_records_no_event(apollo: Project, take_pads: Take) -> None:
    assert not take_pads().is_new
    assert not Event.objects.in_project(apollo).exists()


def test_an_import_updates_stats_and_events(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    fill(pads, 3)
    take_pads()
    stats = count_all(apollo.pk)
    assert (stats["workflows"], stats["scratchpads"]) == (3, 6)
    assert tallied(apollo) == counted(apollo)
    last = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (last.verb, last.ref, last.agent) == ("imported", "hub:scratchpads", None)
    assert last.data["note"] == "scratchpads: 3 workflows, 6 scratchpads"
    assert Event.objects.in_project(apollo).filter(noun="scratchpad", verb="created").count() == 6


def test_statements_do_not_grow_with_rows(apollo: Project, hermes: Project, tmp_path: Path) -> None:
    counts = []
    for count, project in ((2, "apollo"), (40, "hermes")):
        file = OldPads(tmp_path / f"{count}.db")
        fill(file, count)
        with CaptureQueriesContext(connection) as queries:
            imported(file.close(), project=project, command="import_scratchpads")
        counts.append(len(queries))
    assert counts[0] == counts[1] < 60


def test_large_pads_are_written_in_batches(
    apollo: Project, pads: OldPads, take_pads: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "BYTES_PER_BATCH", 8 * (size := 65_536))
    pads.workflow()
    for n in range(10):
        pads.pad(f"pad {n}", f"{n} " * (size // 2))
    assert take_pads().counts["scratchpads"] == (10, 0, 0)
    assert {pad.size for pad in pads_of(apollo)} == {size}


def test_other_projects_are_not_changed(
    apollo: Project, hermes: Project, pads: OldPads, take_pads: Take
) -> None:
    fill(pads)
    before = dump_project(hermes)
    take_pads()
    assert dump_project(hermes) == before
    assert take_pads(project="hermes").is_new, "what apollo has, hermes has not"
    index_is_right(hermes)


# -- Files -----------------------------------------------------------------------------------------


def test_the_file_is_not_changed(apollo: Project, pads: OldPads, take_pads: Take, tmp_path: Path) -> None:
    fill(pads)
    before = pads.close().read_bytes()
    take_pads()
    assert pads.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["scratchpad.db"]


def test_an_open_file_is_read_with_its_write_ahead_log(
    apollo: Project, pads: OldPads, take_pads: Take
) -> None:
    pads.connection.execute("PRAGMA journal_mode = WAL")
    fill(pads)
    pads.connection.execute("BEGIN IMMEDIATE")
    pads.pad("unfinished", "x", "w0")
    assert take_pads().counts["scratchpads"] == (2, 0, 0)
    pads.connection.execute("COMMIT")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file"),
        (b"", "is not a database of scratchpads"),
        (b"not a database, but a text\n" * 50, "is not a SQLite database"),
    ],
)
def test_a_file_that_is_no_database_is_refused(
    apollo: Project, take_pads: Take, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "other.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=sentence):
        take_pads(path=path)


def test_another_programs_database_is_refused(apollo: Project, take_pads: Take, tmp_path: Path) -> None:
    file = sqlite3.connect(tmp_path / "other.db")
    file.executescript("CREATE TABLE workflows (id INTEGER); CREATE TABLE scratchpads (id INTEGER);")
    file.close()
    with pytest.raises(CommandError, match="it has no workflows with their scratchpads"):
        take_pads(path=tmp_path / "other.db")


def test_a_damaged_file_is_refused(apollo: Project, pads: OldPads, take_pads: Take) -> None:
    fill(pads, 100)
    content = bytearray(pads.close().read_bytes())
    content[8_192:] = b"\xff" * (len(content) - 8_192)
    pads.path.write_bytes(content)
    with pytest.raises(CommandError, match="is damaged"):
        take_pads()
    assert not Workflow.objects.in_project(apollo).exists()
