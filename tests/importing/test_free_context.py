"""`manage.py import_free_context`: contexts, memories and relationships, and repeated imports."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.events.log import recorded
from ctxhub.core.hub.overview import count_all
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import CONTENT_BYTES, TEXT_BYTES
from ctxhub.core.models import Event, Project
from memory.contexts.services import create_context, update_context
from memory.memories.services import add_memory, update_memory
from memory.models import Context, Difficulty, Memory, MemoryType, Relation, Relationship
from memory.relationships.services import relate
from tests.importing.old_knowledge import OldKnowledge
from tests.search_index import index_is_right
from tests.sqlew.importing import Import, imported
from tests.tables import dump_all, dump_project
from tests.tallies import counted, tallied

pytestmark = pytest.mark.usefixtures("index_is_kept")

Take = Callable[..., Import]
THEN = datetime(2025, 10, 11, 12, tzinfo=UTC)


def contexts_of(project: Project) -> list[Context]:
    return list(Context.objects.in_project(project).order_by("pk"))


def memories_of(project: Project) -> list[Memory]:
    return list(Memory.objects.in_project(project).select_related("context").order_by("pk"))


def edges_of(project: Project) -> list[tuple[str, str, str, int]]:
    titles = dict(Memory.objects.in_project(project).values_list("pk", "title"))
    return [
        (titles[edge.source_id], titles[edge.target_id], edge.get_relation_display(), edge.strength)
        for edge in Relationship.objects.in_project(project).order_by("pk")
    ]


def fill(file: OldKnowledge, count: int = 1, first: int = 0) -> None:
    for n in range(first, first + count):
        file.context(f"c{n}", f"Context {n}", tags=["api", f"t{n}"])
        file.memory(f"m{n}a", f"First {n}", f"Text {n}.", f"c{n}", stack="django")
        file.memory(f"m{n}b", f"Second {n}", f"More {n}.", f"c{n}", type="idea")
        file.relationship(f"m{n}a", f"m{n}b", "includes", 70)


# -- Imported rows ---------------------------------------------------------------------------------


def test_a_context_keeps_its_fields_and_times(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context(
        "1760184000000-abc1234",
        "React",
        description="How we use it.",
        tags=["react", "api"],
        stack="react19",
        difficulty="hard",
        metadata={"team": "web", "gone": None},
        system_prompt="Be brief.",
        updated_at=1_760_187_600_000,
    )
    assert take_knowledge().counts == {"contexts": (1, 0, 0), "tags": (1, 1, 0)}
    [context] = contexts_of(apollo)
    assert (context.name, context.description, context.stack) == ("React", "How we use it.", "react19")
    assert sorted(context.tags.values_list("name", flat=True)) == ["api", "react"]
    assert context.metadata == {
        "team": "web",
        "difficulty": "hard",
        "system_prompt": "Be brief.",
        "imported_id": "1760184000000-abc1234",
    }
    assert (context.created_at, context.updated_at) == (THEN, THEN + timedelta(hours=1))


def test_a_memory_keeps_its_fields_and_times(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context()
    knowledge.memory(
        "m1",
        "Hooks",
        "# Hooks\n\nCall them at the top. Never in a loop.",
        type="snippet",
        stack="react19",
        difficulty="easy",
        metadata={"from": "docs"},
        digest="An old one.",
        updated_at=1_760_187_600_000,
    )
    take_knowledge()
    [memory] = memories_of(apollo)
    assert (memory.title, memory.context.name) == ("Hooks", "React")
    assert memory.content == "# Hooks\n\nCall them at the top. Never in a loop."
    assert (memory.type, memory.difficulty, memory.stack) == (MemoryType.SNIPPET, Difficulty.EASY, "react19")
    assert memory.metadata == {"from": "docs", "imported_id": "m1"}
    assert (memory.created_at, memory.updated_at) == (THEN, THEN + timedelta(hours=1))
    assert memory.context.memory_count == 1
    assert memory.context.updated_at == THEN


def test_an_imported_memory_equals_an_added_one(
    apollo: Project, ada: Caller, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fields: dict[str, Any] = {"title": "Hooks", "content": "```js\nx()\n```\nCall them. Always."}
    knowledge.context()
    knowledge.memory("m1", fields["title"], fields["content"], stack="React19")
    take_knowledge()
    add_memory(caller=ada, context="React", stack="React19", **fields)
    old, new = memories_of(apollo)
    for name in ("digest", "tokens", "type", "stack", "folded_stack", "difficulty", "paths", "context_id"):
        assert getattr(old, name) == getattr(new, name), name
    assert old.tokens > 0


def test_relationships_are_imported_with_their_memories(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context()
    for name in ("a", "b", "c"):
        knowledge.memory(name, name.upper())
    knowledge.relationship("a", "b", "depends_on", 80)
    knowledge.relationship("b", "a", "blocks", 0)
    knowledge.relationship("a", "c", "references", 100)
    assert take_knowledge().counts["relationships"] == (3, 0, 0)
    assert edges_of(apollo) == [
        ("A", "B", "depends_on", 80),
        ("B", "A", "blocks", 0),
        ("A", "C", "references", 100),
    ]
    assert {edge.created_at for edge in Relationship.objects.in_project(apollo)} == {THEN}


@pytest.mark.parametrize(
    "stored", [1_760_184_000, 1_760_184_000_000, "1760184000000", "2025-10-11 12:00:00", "2025-10-11T12:00Z"]
)
def test_times_are_read_in_every_stored_format(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take, stored: Any
) -> None:
    knowledge.context(at=stored)
    knowledge.memory(at=stored)
    take_knowledge()
    [context], [memory] = contexts_of(apollo), memories_of(apollo)
    assert {context.created_at, context.updated_at, memory.created_at, memory.updated_at} == {THEN}


def test_memories_join_the_existing_context_of_that_name(
    apollo: Project, ada: Caller, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    create_context(caller=ada, name="react", description="Ours.")
    knowledge.context("c1", "React", description="Theirs.")
    knowledge.memory()
    report = take_knowledge()
    assert (report.counts["contexts"], report.counts["memories"]) == ((0, 1, 0), (1, 0, 0))
    [context] = contexts_of(apollo)
    assert (context.name, context.description, context.memory_count) == ("react", "Ours.", 1)
    assert context.updated_at > THEN, "it was written to"


def test_contexts_of_the_same_name_are_merged(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context("c1", "React")
    knowledge.context("c2", "REACT ")
    knowledge.memory("m1", context="c1")
    knowledge.memory("m2", context="c2")
    report = take_knowledge()
    assert report.reasons == ["contexts (1): the name of another, which takes its memories: 'REACT'"]
    assert [context.memory_count for context in contexts_of(apollo)] == [2]
    assert not take_knowledge().is_new


def test_tags_keep_the_spelling_of_the_project(
    apollo: Project, ada: Caller, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    create_context(caller=ada, name="x", tags=["ErrorHandling"])
    knowledge.context(tags=["errorhandling", "ERRORHANDLING", " ", 5, None])
    take_knowledge()
    assert list(contexts_of(apollo)[1].tags.values_list("name", flat=True)) == ["ErrorHandling"]


def test_rows_with_credentials_are_skipped(knowledge: OldKnowledge, take_knowledge: Take) -> None:
    """Every agent can read what is stored, and the report does not repeat the credential."""
    secret = f"ghp_{'a1B2' * 9}"
    knowledge.context()
    knowledge.memory("m1", content=secret)
    knowledge.memory("m2", title=secret)
    report = take_knowledge()
    assert report.counts["memories"] == (0, 0, 2)
    assert secret not in report.text


# -- Changed and skipped rows ----------------------------------------------------------------------


def test_long_texts_are_truncated_and_reported(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context("c1", "n" * 201, description="é" * TEXT_BYTES, stack="s" * 101)
    knowledge.memory("m1", "t" * 501, "快" * (CONTENT_BYTES // 3 + 1))
    report = take_knowledge()
    [context], [memory] = contexts_of(apollo), memories_of(apollo)
    assert (len(context.name), len(context.description), len(context.stack)) == (200, TEXT_BYTES // 2, 100)
    assert (len(memory.title), len(memory.content)) == (500, CONTENT_BYTES // 3)
    cut = [line.partition(": ")[2].partition(" had")[0] for line in report.changes]
    assert cut == ["its title", "its content", "its name", "its description", "its stack"]


def test_names_and_titles_lose_characters_that_nobody_sees_and_the_report_says_so(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context("c1", "Sh\u200bop", stack="Djan\u2060go")
    knowledge.memory("m1", "Why\u200b we\ncache", "It is\u200b slow.")
    report = take_knowledge()
    [context] = contexts_of(apollo)
    memories = memories_of(apollo)
    assert (context.name, context.stack) == ("Shop", "Django")
    assert [(memory.title, memory.content) for memory in memories] == [("Why we cache", "It is\u200b slow.")]
    kept = [line.partition(": ")[2].partition(",")[0] for line in report.changes]
    assert kept == [f"its {name} held characters that nobody sees" for name in ("title", "name", "stack")]


def test_a_name_of_digits_gets_a_prefix(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context("c1", "2025")
    report = take_knowledge()
    assert contexts_of(apollo)[0].name == "no. 2025"
    assert "digits alone mean an id here" in report.changes[0]


def test_unknown_values_are_replaced(apollo: Project, knowledge: OldKnowledge, take_knowledge: Take) -> None:
    knowledge.context()
    knowledge.memory("m1", type="poem", difficulty="mad")
    knowledge.memory("m2", title=" ")
    knowledge.relationship("m1", "m2", "likes", 250)
    report = take_knowledge()
    first, second = memories_of(apollo)
    assert (first.type, first.difficulty, second.title) == (MemoryType.NOTE, None, "untitled")
    assert edges_of(apollo)[0][2:] == (Relation.RELATED.label, 100)
    reasons = [line.partition(": ")[2].rpartition(": '")[0] for line in report.changes]
    assert reasons == [
        "its type is not known here: note instead",
        "its difficulty is not known here: none instead",
        "it had no title",
        "its type is not known here: related instead",
        "its strength was not between 0 and 100",
    ]


def test_a_memory_without_its_context_goes_to_general(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.memory(context="gone")
    report = take_knowledge()
    assert report.counts["contexts"] == (1, 0, 0)
    [memory] = memories_of(apollo)
    assert memory.context.name == "general"
    assert report.changes == ["memories (1): its context is not there, or is left: it is in general: 'Hooks'"]
    assert not take_knowledge().is_new


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"content": ""}, "content must not be empty"),
        ({"content": "a\0b"}, "content holds a NUL character"),
        ({"content": b"\xff"}, "content holds half of a surrogate pair"),
        ({"row_id": " "}, "its id must not be blank"),
        ({"row_id": "x" * 201}, "its id has 201 characters"),
    ],
)
def test_an_invalid_memory_is_skipped_with_the_reason(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take, values: dict[str, Any], reason: str
) -> None:
    knowledge.context()
    knowledge.memory(**{"row_id": "bad", **values})
    knowledge.memory("good")
    knowledge.relationship("bad", "good")
    report = take_knowledge()
    assert (report.counts["memories"], report.counts["relationships"]) == ((1, 0, 1), (0, 0, 1))
    assert reason in report.reasons[0]
    assert report.reasons[1].startswith("relationships (1): one of its memories is not there, or is left")


def test_duplicate_and_self_relationships_are_skipped(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    knowledge.context()
    knowledge.memory("a")
    knowledge.memory("b")
    for source, target in (("a", "b"), ("a", "b"), ("a", "a")):
        knowledge.relationship(source, target, metadata={"why": "x"})
    report = take_knowledge()
    assert report.counts["relationships"] == (1, 0, 2)
    assert report.reasons == [
        "relationships (1): it is there twice: 'a to b'",
        "relationships (1): it leads to where it begins: 'a to a'",
    ]
    assert report.changes == ["relationships (1): its metadata have no place here: 'a to b'"]


# -- Repeated, dry and failed imports --------------------------------------------------------------


def test_importing_twice_changes_nothing(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge, 3)
    assert take_knowledge().is_new
    before = dump_all()
    again = take_knowledge()
    assert again.counts == {"contexts": (0, 3, 0), "memories": (0, 6, 0), "relationships": (0, 3, 0)}
    assert (dump_all(), again.is_new, again.changes) == (before, False, [])


def test_a_second_import_takes_new_rows(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge)
    take_knowledge()
    fill(knowledge, first=1)
    knowledge.memory("late", "Late", "Later.", "c0")
    knowledge.relationship("m0a", "late")
    assert {kind: counts for kind, counts in take_knowledge().counts.items() if kind != "tags"} == {
        "contexts": (1, 1, 0),
        "memories": (3, 2, 0),
        "relationships": (2, 1, 0),
    }
    assert [context.memory_count for context in contexts_of(apollo)] == [3, 2]


def test_rows_changed_since_the_import_are_not_overwritten(
    apollo: Project, ada: Caller, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge)
    take_knowledge()
    first, second = memories_of(apollo)
    update_context(caller=ada, context="Context 0", name="Renamed", metadata={"a": 1})
    update_memory(caller=ada, memory_id=first.pk, title="Better", content="Other.", metadata={"a": 1})
    relate(
        caller=ada, source=f"memory:{first.pk}", target=f"memory:{second.pk}", relation="includes", strength=1
    )
    before = dump_all()
    assert not take_knowledge().is_new
    assert dump_all() == before


def test_a_dry_run_writes_nothing_and_reports_the_same(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge, 3)
    knowledge.memory("bad", content="")
    knowledge.memory("lost", context="gone")
    before = dump_all()
    dry = take_knowledge("--dry-run")
    assert dump_all() == before
    wet = take_knowledge()
    assert (dry.counts, dry.reasons, dry.changes) == (wet.counts, wet.reasons, wet.changes)
    assert dry.text.endswith("this was a dry run, nothing is written.\n")


@pytest.mark.parametrize("noun", ["context", "memory", "relationship"])
def test_an_import_is_all_or_nothing(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take, noun: str
) -> None:
    def fail(nouns: set[str], **_: Any) -> None:
        if noun in nouns:
            raise RuntimeError("the power went")

    fill(knowledge)
    before = dump_all()
    recorded.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            take_knowledge()
    finally:
        recorded.disconnect(fail)
    assert dump_all() == before
    assert take_knowledge().is_new


def test_an_empty_file_records_no_event(apollo: Project, take_knowledge: Take) -> None:
    assert not take_knowledge().is_new
    assert not Event.objects.in_project(apollo).exists()


def test_an_import_updates_stats_and_events(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge, 3)
    take_knowledge()
    stats = count_all(apollo.pk)
    assert (stats["contexts"], stats["memories"]) == (3, 6)
    assert tallied(apollo) == counted(apollo)
    last = Event.objects.in_project(apollo).order_by("-pk")[0]
    assert (last.verb, last.ref, last.agent) == ("imported", "hub:free_context", None)
    assert last.data["note"] == "free_context: 3 contexts, 6 memories, 3 relationships, 3 tags"
    nouns = Event.objects.in_project(apollo).filter(verb="created").values_list("noun", flat=True)
    assert sorted(nouns) == ["context"] * 3 + ["memory"] * 6 + ["relationship"] * 3


def test_statements_do_not_grow_with_rows(apollo: Project, hermes: Project, tmp_path: Path) -> None:
    counts = []
    for count, project in ((2, "apollo"), (60, "hermes")):
        file = OldKnowledge(tmp_path / f"{count}.db")
        fill(file, count)
        with CaptureQueriesContext(connection) as queries:
            imported(file.close(), project=project, command="import_free_context")
        counts.append(len(queries))
    assert counts[0] == counts[1] < 80


def test_other_projects_are_not_changed(
    apollo: Project, hermes: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge)
    before = dump_project(hermes)
    take_knowledge()
    assert dump_project(hermes) == before
    assert take_knowledge(project="hermes").is_new, "what apollo has, hermes has not"
    index_is_right(hermes)


# -- Files -----------------------------------------------------------------------------------------


def test_the_file_is_not_changed(knowledge: OldKnowledge, take_knowledge: Take, tmp_path: Path) -> None:
    fill(knowledge)
    before = knowledge.close().read_bytes()
    take_knowledge()
    assert knowledge.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["context.db"]


def test_a_file_without_relationships_is_read(
    apollo: Project, knowledge: OldKnowledge, take_knowledge: Take
) -> None:
    fill(knowledge)
    knowledge.connection.execute("DROP TABLE relationships")
    assert take_knowledge().counts["memories"] == (2, 0, 0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file"),
        (b"", "is not a database of Free Context"),
        (b"not a database, but a text\n" * 50, "is not a SQLite database"),
    ],
)
def test_a_file_that_is_no_database_is_refused(
    take_knowledge: Take, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "other.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=sentence):
        take_knowledge(path=path)


def test_another_programs_database_is_refused(take_knowledge: Take, tmp_path: Path) -> None:
    file = sqlite3.connect(tmp_path / "other.db")
    file.executescript("CREATE TABLE contexts (name TEXT); CREATE TABLE memories (id INTEGER);")
    file.close()
    with pytest.raises(CommandError, match="it has no contexts with their memories"):
        take_knowledge(path=tmp_path / "other.db")
