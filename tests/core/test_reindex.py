"""`manage.py reindex`: --check reports faults in the search index, and reindexing repairs them."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.sql import emit_post_migrate_signal
from django.db import OperationalError, connection, models
from django.db.migrations.recorder import MigrationRecorder

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.search import index_check, reindexing, schema
from ctxhub.core.search.search import search
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.models import Decision
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message
from sessions.sittings.services import save_session
from tests.search_index import index_is_right
from tests.tables import dump_all
from tracking.changes.services import record_change

Damage = Callable[[Project], Any]
TABLES = (SearchText, SearchEntry, SearchWord)
only_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="Triggers are SQLite's.")
only_postgresql = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has triggers.")


@pytest.fixture
def stocked(ada: Caller) -> Project:
    """Rows of every searched kind; one decision is long enough to have several passages."""
    set_decision(caller=ada, key="api/auth", value="JWT", rationale="Audited twice.", tags=["security"])
    set_decision(caller=ada, key="long", value="quaternion " * 2_000)
    add_constraint(caller=ada, category="security", text="Never log a credential.")
    send_message(caller=ada, text="Please look at the tokenizer.")
    record_change(caller=ada, path="src/lexer.py", change="modified", description="Faster by half.")
    workflow = create_workflow(caller=ada, name="Refactoring")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="notes", content="A leak.")
    append_to_scratchpad(caller=ada, scratchpad_id=pad["scratchpad_id"], content="viscosity " * 2_000)
    add_memory(caller=ada, title="Pools", content="They leak.", context="work", tags=["database"])
    save_snapshot(caller=ada, content="The pool leaks.", source="mcp", tags=["database"])
    save_session(caller=ada, conversation="The pool is half mended.", branch="pools")
    return ada.project


def check(**options: Any) -> str:
    """The output of --check; raises CommandError (exit code 1) if the index is wrong."""
    output = StringIO()
    call_command("reindex", "--check", stdout=output, **options)
    return output.getvalue()


def faults(**options: Any) -> str:
    """The faults that --check reports, or an empty string."""
    output = StringIO()
    with suppress(CommandError):
        call_command("reindex", "--check", stdout=output, **options)
        return ""
    return output.getvalue()


def reindex(**options: Any) -> str:
    output = StringIO()
    call_command("reindex", stdout=output, **options)
    return output.getvalue()


def entry(project: Project, ref: str = "decision:api/auth") -> SearchEntry:
    return SearchEntry.objects.in_project(project).get(ref=ref)


def texts(project: Project, ref: str = "decision:api/auth") -> models.QuerySet[SearchText]:
    first = entry(project, ref).pk * SearchText.PARTS
    return SearchText.objects.in_project(project).filter(pk__gte=first, pk__lt=first + SearchText.PARTS)


def delete_index(project: Project) -> None:
    for model in TABLES:
        model.objects.in_project(project).delete()


# -- Damage ----------------------------------------------------------------------------------------


def execute_sql(*statements: str) -> Damage:
    def execute_statements(project: Project) -> None:
        for statement in statements:
            sql.execute(statement)

    return execute_statements


def add_orphaned_entry(project: Project) -> None:
    row = entry(project)
    SearchEntry.objects.create(
        project=project, kind="decision", object_id=10**9, ref="decision:gone", updated_at=row.updated_at
    )


def give_entry_unknown_kind(project: Project) -> None:
    SearchEntry.objects.in_project(project).filter(kind="change").update(kind="poem", ref="poem:1")


def add_passage(project: Project) -> None:
    SearchText.objects.create(project=project, pk=10**12, words="stray", scope=f"P{project.pk}")


def delete_from_fts(project: Project) -> None:
    sql.execute(
        "INSERT INTO core_searchfts(core_searchfts, rowid, words)"
        " SELECT 'delete', id, words FROM core_searchtokens WHERE id = %s",
        [texts(project).get().pk],
    )


def miss_a_write(project: Project) -> None:
    """Writes a text while the trigger is missing."""
    sql.execute("DROP TRIGGER core_searchfts_update")
    texts(project).update(words="other words")
    sql.execute(schema.SQLITE[-1])


def replace_function(project: Project) -> None:
    sql.execute(
        "CREATE OR REPLACE FUNCTION core_search_vector(words text, scope text) RETURNS tsvector"
        " LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ''::tsvector $$"
    )


def skip_a_write(project: Project) -> None:
    row = texts(project).get()
    replace_function(project)
    texts(project).delete()
    row.save(force_insert=True)
    sql.execute(schema.POSTGRESQL[0])


ENTRIES: dict[str, tuple[Damage, str]] = {
    "no entry": (lambda p: entry(p).delete(), "1 x not in the index:\n  apollo decision:api/auth"),
    "no passage": (lambda p: texts(p).delete(), "as it is no more:\n  apollo decision:api/auth"),
    "the second passage": (lambda p: texts(p, "decision:long").last().delete(), "decision:long"),  # type: ignore[union-attr]
    "other words": (lambda p: texts(p).update(words="other words"), "as it is no more:"),
    "a stale scope": (lambda p: texts(p).update(scope=f"P{p.pk} KDECISION"), "as it is no more:"),
    "another start": (lambda p: texts(p).update(start=7), "as it is no more:"),
    "another size": (lambda p: texts(p).update(size=7), "as it is no more:"),
    "another ref": (
        lambda p: SearchEntry.objects.in_project(p).filter(pk=entry(p).pk).update(ref="decision:old"),
        "as it is no more:\n  apollo decision:api/auth",
    ),
    "a row changed past us": (
        lambda p: Decision.objects.in_project(p).filter(key="api/auth").update(rationale="Nobody asked."),
        "as it is no more:",
    ),
    "a row deleted past us": (
        execute_sql("DELETE FROM messaging_message"),
        "1 x in the index, but gone:\n  apollo message:",
    ),
    "an orphaned entry": (add_orphaned_entry, "1 x in the index, but gone:\n  apollo decision:gone"),
    "an unknown kind": (give_entry_unknown_kind, "in the index, but gone:\n  apollo poem:1"),
    "a passage of nothing": (add_passage, "1 x a passage of nothing:\n  apollo 1000000000000"),
    "an unknown word": (
        lambda p: SearchWord.objects.in_project(p).filter(word="credential").delete(),
        "1 x in the vocabulary with other words than its own:\n  apollo constraint:",
    ),
    "a strange word": (
        lambda p: SearchWord.objects.create(project=p, word="sesame", entry_id=entry(p).pk),
        "with other words than its own:\n  apollo decision:api/auth",
    ),
    "a word of nothing": (
        lambda p: SearchWord.objects.in_project(p).filter(word="audited").update(entry_id=10**9),
        "1 x a word of nothing:\n  apollo audited",
    ),
    "everything": (delete_index, "12 x not in the index:"),
}
SQLITE: dict[str, tuple[Damage, str]] = {
    "a row of FTS5": (delete_from_fts, "core_searchfts holds other words than the passages"),
    "a missed write": (miss_a_write, "core_searchfts holds other words than the passages"),
    "no trigger": (execute_sql("DROP TRIGGER core_searchfts_delete"), "core_searchfts_delete is missing"),
    "another trigger": (
        execute_sql(
            "DROP TRIGGER core_searchfts_delete",
            "CREATE TRIGGER core_searchfts_delete AFTER DELETE ON core_searchtext BEGIN SELECT 1; END",
        ),
        "core_searchfts_delete is not as it was made",
    ),
    "no FTS5 table": (execute_sql(*schema.SQLITE_UNDO), "core_searchfts is missing"),
}
POSTGRESQL: dict[str, tuple[Damage, str]] = {
    "no index": (
        execute_sql("DROP INDEX core_searchtext_vector"),
        "core_searchtext_vector is missing",
    ),
    "no function": (
        execute_sql("DROP FUNCTION core_search_vector(text, text) CASCADE"),
        "core_search_vector is missing",
    ),
    "another function": (replace_function, "core_search_vector is not as it was made"),
    "a missed write": (skip_a_write, "core_searchtext_vector finds 21 of 22 passages"),
}


def check_reports_and_reindex_repairs(project: Project, damage: Damage, expected: str) -> None:
    damage(project)
    connection.check_constraints()  # PostgreSQL cannot build an index while these checks are pending.
    assert expected in faults()
    reindex()
    assert faults(all=True) == ""
    index_is_right(project)
    assert [hit.ref for hit in search(project.pk, "JWT", match="all").hits] == ["decision:api/auth"]


@pytest.mark.parametrize("damage_name", ENTRIES)
def test_wrong_entries_are_reported_and_repaired(stocked: Project, damage_name: str) -> None:
    check_reports_and_reindex_repairs(stocked, *ENTRIES[damage_name])


@only_sqlite
@pytest.mark.parametrize("damage_name", SQLITE)
def test_damage_to_fts5_is_reported_and_repaired(stocked: Project, damage_name: str) -> None:
    check_reports_and_reindex_repairs(stocked, *SQLITE[damage_name])


@only_postgresql
@pytest.mark.parametrize("damage_name", POSTGRESQL)
def test_damage_to_the_vectors_is_reported_and_repaired(stocked: Project, damage_name: str) -> None:
    check_reports_and_reindex_repairs(stocked, *POSTGRESQL[damage_name])


# -- Check -----------------------------------------------------------------------------------------


def test_check_reports_a_right_index(stocked: Project) -> None:
    assert check() == "The index is right: 12 things in 22 passages, all of them compared.\n"


def test_check_exits_with_1_when_the_index_is_wrong(stocked: Project) -> None:
    entry(stocked).delete()
    with pytest.raises(CommandError, match="The index of 11 things is wrong") as refused:
        check()
    assert refused.value.returncode == 1


def test_checking_writes_nothing(stocked: Project) -> None:
    add_orphaned_entry(stocked)
    texts(stocked).update(words="other words")
    before = dump_all()
    assert faults()
    assert dump_all() == before


def test_check_shows_the_first_twenty_of_many_faults(ada: Caller) -> None:
    for number in range(25):
        set_decision(caller=ada, key=f"k{number:02}", value="v")
    delete_index(ada.project)
    output = faults().splitlines()
    assert (output[0], output[-1]) == ("25 x not in the index:", "  and 5 more")
    assert output[1:21] == [f"  apollo decision:k{number:02}" for number in range(20)]


def test_check_compares_a_sample_unless_all_is_given(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        set_decision(caller=ada, key=f"k{number}", value="v")
    texts_of_all = SearchText.objects.in_project(ada.project)
    texts_of_all.update(words="other words")
    monkeypatch.setattr(index_check, "SAMPLE", 3)
    assert faults().startswith("3 x ")
    assert faults(all=True).startswith("8 x ")


def test_one_project_can_be_checked_and_reindexed_alone(stocked: Project, cy: Caller) -> None:
    set_decision(caller=cy, key="k", value="v")
    entry(stocked).delete()
    entry(cy.project, "decision:k").delete()
    assert "hermes decision:k" in faults(project="hermes")
    assert "apollo" not in faults(project="hermes")
    reindex(project="hermes")
    assert faults(project="hermes") == ""
    assert "apollo decision:api/auth" in faults()


def test_an_unknown_project_is_refused_with_a_sentence(stocked: Project) -> None:
    with pytest.raises(CommandError, match="There is no project 'nope'"):
        reindex(project="nope")


# -- Reindex ---------------------------------------------------------------------------------------


def test_reindex_reports_rows_checked_and_repaired(stocked: Project) -> None:
    entry(stocked).delete()
    output = reindex()
    assert "apollo: 2 decisions, 1 put right, " in output
    assert "apollo: 1 constraints, 0 put right, " in output


def test_a_long_run_reports_its_progress(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        set_decision(caller=ada, key=f"k{number}", value="v")
    monkeypatch.setattr(index_check, "BATCH_SIZE", 1)
    monkeypatch.setattr(reindexing, "PROGRESS_EVERY", 2)
    counts = re.findall(r"apollo: (\d) decisions", reindex())
    assert counts == ["2", "4", "5"]


def test_reindexing_a_right_index_writes_nothing(stocked: Project) -> None:
    before = dump_all()
    reindex()
    assert dump_all() == before


def test_reindexing_in_many_batches_indexes_every_row(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(11):
        set_decision(caller=ada, key=f"k{number}", value="v" * number)
    delete_index(ada.project)
    monkeypatch.setattr(index_check, "BATCH_SIZE", 2)
    monkeypatch.setattr(index_check, "ID_BATCH_SIZE", 5)
    monkeypatch.setattr(reindexing, "BATCH_CHARACTERS", 7)
    reindex()
    index_is_right(ada.project)


def test_a_large_text_gets_a_batch_of_its_own() -> None:
    pieces = reindexing._pieces([(1, 40_000), (2, 40_000), (3, 40_000), (4, 900_000), (5, 1), (6, 1)])
    assert list(pieces) == [[1, 2], [3], [4], [5, 6]]


def test_reindex_deletes_unused_words(stocked: Project) -> None:
    SearchWord.objects.create(project=stocked, word="opensesame", entry_id=10**9)
    reindex()
    assert not SearchWord.objects.in_project(stocked).filter(word="opensesame").exists()
    assert SearchWord.objects.in_project(stocked).filter(word="audited").exists()


# -- Upgrades --------------------------------------------------------------------------------------


def migrate() -> None:
    call_command("migrate", verbosity=0)


def test_migrate_indexes_rows_older_than_the_index(stocked: Project) -> None:
    delete_index(stocked)
    migrate()
    index_is_right(stocked)


def test_migrate_continues_an_interrupted_upgrade(stocked: Project) -> None:
    SearchEntry.objects.in_project(stocked).filter(kind__in=("decision", "change")).delete()
    migrate()
    assert "not in the index" not in faults()


@only_sqlite
def test_an_upgrade_puts_missing_triggers_back(stocked: Project) -> None:
    sql.execute("DROP TRIGGER core_searchfts_insert")
    migrate()
    assert faults() == ""


def test_a_migration_of_one_app_alone_indexes_nothing(stocked: Project) -> None:
    delete_index(stocked)
    MigrationRecorder.Migration.objects.filter(app="memory").delete()
    emit_post_migrate_signal(0, False, "default", plan=[])
    assert not SearchEntry.objects.in_project(stocked).exists()


def test_flush_indexes_nothing(stocked: Project) -> None:
    delete_index(stocked)
    emit_post_migrate_signal(0, False, "default")
    assert not SearchEntry.objects.in_project(stocked).exists()


# -- Altered tables --------------------------------------------------------------------------------


@contextmanager
def altered_column(model: type[models.Model], name: str, **changes: Any) -> Iterator[None]:
    """Alters a column as a migration would, and restores it at the end."""
    old = model._meta.get_field(name)
    assert isinstance(old, models.Field)
    _, _, args, kwargs = old.deconstruct()
    new = type(old)(*args, **{**kwargs, **changes})
    new.set_attributes_from_name(name)
    new.model = model
    with connection.schema_editor() as editor:
        editor.alter_field(model, old, new)
    try:
        yield
    finally:
        with connection.schema_editor() as editor:
            editor.alter_field(model, new, old)
        reindexing.mend_parts()


@pytest.mark.parametrize(("name", "changes"), [("version", {"max_length": 60}), ("reason", {"null": True})])
def test_altering_an_indexed_table_keeps_the_index_working(
    transactional_db: None, ada: Caller, name: str, changes: dict[str, Any]
) -> None:
    set_decision(caller=ada, key="before", value="quaternion")
    with altered_column(Decision, name, **changes):
        set_decision(caller=ada, key="after", value="quaternion")
        found = search(ada.project_id, "quaternion")
        assert sorted(hit.ref for hit in found.hits) == ["decision:after", "decision:before"]
        assert faults() == ""


@only_sqlite
def test_the_index_table_is_not_altered_below_its_index(transactional_db: None, ada: Caller) -> None:
    """SQLite would drop the triggers without a word."""
    with (
        pytest.raises(OperationalError, match="core_searchtokens"),
        altered_column(SearchText, "size", default=1, null=True),
    ):
        pass
    set_decision(caller=ada, key="k", value="quaternion")
    assert faults() == ""
    assert [hit.ref for hit in search(ada.project_id, "quaternion").hits] == ["decision:k"]


@only_sqlite
def test_words_of_before_are_found_after_the_upgrade(transactional_db: None, ada: Caller) -> None:
    set_decision(caller=ada, key="k", value="quaternion")
    upgrade = import_module("ctxhub.core.migrations.0013_words_of_projects")
    with connection.schema_editor() as editor:
        upgrade.build_as_before(None, editor)
    assert "core_searchtokens is missing" in faults()
    set_decision(caller=ada, key="later", value="quaternions")
    with connection.schema_editor() as editor:
        upgrade.build(None, editor)
    assert faults(all=True) == ""
    found = search(ada.project_id, "quaternion")
    assert sorted(hit.ref for hit in found.hits) == ["decision:k", "decision:later"]


@only_postgresql
def test_altering_the_index_table_keeps_the_index_right(transactional_db: None, ada: Caller) -> None:
    with altered_column(SearchText, "size", default=1, null=True):
        set_decision(caller=ada, key="k", value="quaternion")
        assert faults() == ""


def test_the_fixture_holds_every_searched_kind(stocked: Project) -> None:
    kinds = set(SearchEntry.objects.in_project(stocked).values_list("kind", flat=True))
    assert kinds == {noun.kind for noun in registry.searched_nouns()}
