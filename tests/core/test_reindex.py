"""`manage.py reindex`: an index that somebody has broken is found out by --check, and put right."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, SearchEntry, SearchText, SearchWord
from ctxhub.core.search import schema
from ctxhub.core.search.selectors import index_check, index_rows
from ctxhub.core.search.selectors.search import search
from ctxhub.core.search.services import reindexing
from memory.constraints.services import add_constraint
from memory.decisions.services.decisions import set_decision
from memory.memories.services.memories import add_memory
from memory.models import Decision
from memory.scratchpads.services.scratchpads import append_to_scratchpad, create_scratchpad
from memory.scratchpads.services.workflows import create_workflow
from messaging.services.messages import send_message
from tests.search_index import index_is_right
from tests.tables import dump_all
from tracking.services.changes import record_change

Break = Callable[[Project], Any]
TABLES = (SearchText, SearchEntry, SearchWord)
only_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="Triggers are SQLite's.")
only_postgresql = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has triggers.")


@pytest.fixture
def stocked(ada: Caller) -> Project:
    """Some of everything that is searched; one decision is so long that it lies in several passages."""
    set_decision(caller=ada, key="api/auth", value="JWT", rationale="Audited twice.", tags=["security"])
    set_decision(caller=ada, key="long", value="quaternion " * 2_000)
    add_constraint(caller=ada, category="security", text="Never log a credential.")
    send_message(caller=ada, text="Please look at the tokenizer.")
    record_change(caller=ada, path="src/lexer.py", change="modified", description="Faster by half.")
    workflow = create_workflow(caller=ada, name="Refactoring")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="notes", content="A leak.")
    append_to_scratchpad(caller=ada, scratchpad_id=pad["scratchpad_id"], content="viscosity " * 2_000)
    add_memory(caller=ada, title="Pools", content="They leak.", context="work", tags=["database"])
    return ada.project


def check(**options: Any) -> str:
    """What --check says; raises CommandError, for the exit code 1, where something is wrong."""
    said = StringIO()
    call_command("reindex", "--check", stdout=said, **options)
    return said.getvalue()


def wrong(**options: Any) -> str:
    """What --check finds wrong; empty: nothing."""
    said = StringIO()
    with suppress(CommandError):
        call_command("reindex", "--check", stdout=said, **options)
        return ""
    return said.getvalue()


def reindex(**options: Any) -> str:
    said = StringIO()
    call_command("reindex", stdout=said, **options)
    return said.getvalue()


def entry(project: Project, ref: str = "decision:api/auth") -> SearchEntry:
    return SearchEntry.objects.in_project(project).get(ref=ref)


def texts(project: Project, ref: str = "decision:api/auth") -> models.QuerySet[SearchText]:
    first = entry(project, ref).pk * SearchText.PARTS
    return SearchText.objects.in_project(project).filter(pk__gte=first, pk__lt=first + SearchText.PARTS)


def wipe(project: Project) -> None:
    for model in TABLES:
        model.objects.in_project(project).delete()


# -- Broken by hand --------------------------------------------------------------------------------


def run(*statements: str) -> Break:
    def wrap_text(project: Project) -> None:
        for statement in statements:
            sql.execute(statement)

    return wrap_text


def add_left_over(project: Project) -> None:
    row = entry(project)
    SearchEntry.objects.create(
        project=project, kind="decision", object_id=10**9, ref="decision:gone", updated_at=row.updated_at
    )


def add_of_no_kind(project: Project) -> None:
    SearchEntry.objects.in_project(project).filter(kind="change").update(kind="poem", ref="poem:1")


def add_passage(project: Project) -> None:
    SearchText.objects.create(project=project, pk=10**12, words="stray", scope=f"P{project.pk}")


def delete_from_fts(project: Project) -> None:
    row = texts(project).get()
    sql.execute(
        "INSERT INTO core_searchfts(core_searchfts, rowid, words, scope) VALUES ('delete', %s, %s, %s)",
        [row.pk, row.words, row.scope],
    )


def miss_a_write(project: Project) -> None:
    """As if a trigger had been away for a while."""
    sql.execute("DROP TRIGGER core_searchfts_update")
    texts(project).update(words="other words")
    sql.execute(schema.SQLITE[3])


def replace_function(project: Project) -> None:
    sql.execute(
        "CREATE OR REPLACE FUNCTION core_search_vector(words text, scope text) RETURNS tsvector"
        " LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ''::tsvector $$"
    )


def index_nothing_for_a_while(project: Project) -> None:
    row = texts(project).get()
    replace_function(project)
    texts(project).delete()
    row.save(force_insert=True)
    sql.execute(schema.POSTGRESQL[0])


ENTRIES: dict[str, tuple[Break, str]] = {
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
        run("DELETE FROM messaging_message"),
        "1 x in the index, but gone:\n  apollo message:",
    ),
    "left over": (add_left_over, "1 x in the index, but gone:\n  apollo decision:gone"),
    "of no kind": (add_of_no_kind, "in the index, but gone:\n  apollo poem:1"),
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
    "everything": (wipe, "10 x not in the index:"),
}
SQLITE: dict[str, tuple[Break, str]] = {
    "a row of FTS5": (delete_from_fts, "core_searchfts holds other words than the passages"),
    "a missed write": (miss_a_write, "core_searchfts holds other words than the passages"),
    "no trigger": (run("DROP TRIGGER core_searchfts_delete"), "core_searchfts_delete is missing"),
    "another trigger": (
        run(
            "DROP TRIGGER core_searchfts_delete",
            "CREATE TRIGGER core_searchfts_delete AFTER DELETE ON core_searchtext BEGIN SELECT 1; END",
        ),
        "core_searchfts_delete is not as it was made",
    ),
    "no FTS5 table": (run(*schema.SQLITE_UNDO), "core_searchfts is missing"),
}
POSTGRESQL: dict[str, tuple[Break, str]] = {
    "no index": (
        run("DROP INDEX core_searchtext_vector"),
        "core_searchtext_vector is missing",
    ),
    "no function": (
        run("DROP FUNCTION core_search_vector(text, text) CASCADE"),
        "core_search_vector is missing",
    ),
    "another function": (replace_function, "core_search_vector is not as it was made"),
    "a missed write": (index_nothing_for_a_while, "core_searchtext_vector finds 19 of 20 passages"),
}


def is_found_out_and_mended(project: Project, wrap_text: Break, said: str) -> None:
    wrap_text(project)
    connection.check_constraints()  # PostgreSQL builds no index while rows wait for this.
    assert said in wrong()
    reindex()
    assert wrong(all=True) == ""
    index_is_right(project)
    assert [hit.ref for hit in search(project.pk, "JWT", match="all").hits] == ["decision:api/auth"]


@pytest.mark.parametrize("how", ENTRIES)
def test_entries_that_are_wrong_are_found_out_and_put_right(stocked: Project, how: str) -> None:
    is_found_out_and_mended(stocked, *ENTRIES[how])


@only_sqlite
@pytest.mark.parametrize("how", SQLITE)
def test_what_fts5_lacks_is_found_out_and_put_back(stocked: Project, how: str) -> None:
    is_found_out_and_mended(stocked, *SQLITE[how])


@only_postgresql
@pytest.mark.parametrize("how", POSTGRESQL)
def test_what_the_vectors_lack_is_found_out_and_put_back(stocked: Project, how: str) -> None:
    is_found_out_and_mended(stocked, *POSTGRESQL[how])


# -- Check -----------------------------------------------------------------------------------------


def test_a_right_index_is_said_to_be_right(stocked: Project) -> None:
    assert check() == "The index is right: 10 things in 20 passages, all of them compared.\n"


def test_the_exit_code_tells_scripts_that_it_is_wrong(stocked: Project) -> None:
    entry(stocked).delete()
    with pytest.raises(CommandError, match="The index of 9 things is wrong") as refused:
        check()
    assert refused.value.returncode == 1


def test_checking_writes_nothing(stocked: Project) -> None:
    add_left_over(stocked)
    texts(stocked).update(words="other words")
    before = dump_all()
    assert wrong()
    assert dump_all() == before


def test_of_many_faults_the_first_twenty_are_shown(ada: Caller) -> None:
    for number in range(25):
        set_decision(caller=ada, key=f"k{number:02}", value="v")
    wipe(ada.project)
    said = wrong().splitlines()
    assert (said[0], said[-1]) == ("25 x not in the index:", "  and 5 more")
    assert said[1:21] == [f"  apollo decision:k{number:02}" for number in range(20)]


def test_of_many_entries_a_sample_is_compared_unless_all_are_asked_for(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        set_decision(caller=ada, key=f"k{number}", value="v")
    texts_of_all = SearchText.objects.in_project(ada.project)
    texts_of_all.update(words="other words")
    monkeypatch.setattr(index_check, "SAMPLE", 3)
    assert wrong().startswith("3 x ")
    assert wrong(all=True).startswith("8 x ")


def test_one_project_can_be_checked_and_reindexed_alone(stocked: Project, cy: Caller) -> None:
    set_decision(caller=cy, key="k", value="v")
    entry(stocked).delete()
    entry(cy.project, "decision:k").delete()
    assert "hermes decision:k" in wrong(project="hermes")
    assert "apollo" not in wrong(project="hermes")
    reindex(project="hermes")
    assert wrong(project="hermes") == ""
    assert "apollo decision:api/auth" in wrong()


def test_an_unknown_project_is_a_sentence(stocked: Project) -> None:
    with pytest.raises(CommandError, match="There is no project 'nope'"):
        reindex(project="nope")


# -- Reindex ---------------------------------------------------------------------------------------


def test_it_says_what_it_has_looked_at_and_put_right(stocked: Project) -> None:
    entry(stocked).delete()
    said = reindex()
    assert "apollo: 2 decisions, 1 put right, " in said
    assert "apollo: 1 constraints, 0 put right, " in said


def test_a_long_run_tells_how_far_it_is(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        set_decision(caller=ada, key=f"k{number}", value="v")
    monkeypatch.setattr(index_rows, "BATCH_SIZE", 1)
    monkeypatch.setattr(reindexing, "PROGRESS_EVERY", 2)
    told = re.findall(r"apollo: (\d) decisions", reindex())
    assert told == ["2", "4", "5"]


def test_where_everything_is_right_nothing_is_written(stocked: Project) -> None:
    before = dump_all()
    reindex()
    assert dump_all() == before


def test_what_is_there_in_many_pieces_is_all_indexed(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(11):
        set_decision(caller=ada, key=f"k{number}", value="v" * number)
    wipe(ada.project)
    monkeypatch.setattr(index_rows, "BATCH_SIZE", 2)
    monkeypatch.setattr(index_rows, "ID_BATCH_SIZE", 5)
    monkeypatch.setattr(reindexing, "BATCH_CHARACTERS", 7)
    reindex()
    index_is_right(ada.project)


def test_a_great_text_makes_writers_wait_for_itself_alone() -> None:
    pieces = reindexing._pieces([(1, 40_000), (2, 40_000), (3, 40_000), (4, 900_000), (5, 1), (6, 1)])
    assert list(pieces) == [[1, 2], [3], [4], [5, 6]]


def test_words_that_nobody_uses_go(stocked: Project) -> None:
    SearchWord.objects.create(project=stocked, word="opensesame", entry_id=10**9)
    reindex()
    assert not SearchWord.objects.in_project(stocked).filter(word="opensesame").exists()
    assert SearchWord.objects.in_project(stocked).filter(word="audited").exists()


# -- Upgrades --------------------------------------------------------------------------------------


def migrate() -> None:
    call_command("migrate", verbosity=0)


def test_what_was_there_before_the_index_is_found_after_an_upgrade(stocked: Project) -> None:
    wipe(stocked)
    migrate()
    index_is_right(stocked)


def test_an_upgrade_that_was_interrupted_goes_on_with_the_next(stocked: Project) -> None:
    SearchEntry.objects.in_project(stocked).filter(kind__in=("decision", "change")).delete()
    migrate()
    assert "not in the index" not in wrong()


@only_sqlite
def test_an_upgrade_puts_missing_triggers_back(stocked: Project) -> None:
    sql.execute("DROP TRIGGER core_searchfts_insert")
    migrate()
    assert wrong() == ""


def test_a_migration_of_one_app_alone_indexes_nothing(stocked: Project) -> None:
    wipe(stocked)
    last = MigrationRecorder.Migration.objects.filter(app="memory").latest("pk")
    last.delete()
    emit_post_migrate_signal(0, False, "default", plan=[])
    assert not SearchEntry.objects.in_project(stocked).exists()


def test_an_emptied_database_is_not_looked_at(stocked: Project) -> None:
    wipe(stocked)
    emit_post_migrate_signal(0, False, "default")
    assert not SearchEntry.objects.in_project(stocked).exists()


# -- Altered tables --------------------------------------------------------------------------------


@contextmanager
def altered(model: type[models.Model], name: str, **changes: Any) -> Iterator[None]:
    """The column as a migration would make it, for a while."""
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
def test_a_migration_of_a_nouns_table_leaves_the_index_alive(
    transactional_db: None, ada: Caller, name: str, changes: dict[str, Any]
) -> None:
    set_decision(caller=ada, key="before", value="quaternion")
    with altered(Decision, name, **changes):
        set_decision(caller=ada, key="after", value="quaternion")
        found = search(ada.project_id, "quaternion")
        assert sorted(hit.ref for hit in found.hits) == ["decision:after", "decision:before"]
        assert wrong() == ""


@only_sqlite
def test_altering_the_texts_themselves_is_noticed(transactional_db: None, ada: Caller) -> None:
    with altered(SearchText, "size", default=1, null=True):
        set_decision(caller=ada, key="k", value="quaternion")
        said = wrong()
        assert "core_searchfts_insert is missing" in said
        reindex()
        assert wrong() == ""
        assert [hit.ref for hit in search(ada.project_id, "quaternion").hits] == ["decision:k"]


@only_postgresql
def test_altering_the_texts_themselves_does_no_harm(transactional_db: None, ada: Caller) -> None:
    with altered(SearchText, "size", default=1, null=True):
        set_decision(caller=ada, key="k", value="quaternion")
        assert wrong() == ""


def test_every_searched_noun_is_stocked(stocked: Project) -> None:
    kinds = set(SearchEntry.objects.in_project(stocked).values_list("kind", flat=True))
    assert kinds == {noun.kind for noun in registry.searched_nouns()}
