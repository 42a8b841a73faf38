"""The mapper of rows: the text of its SQL statements, and the rows that they read and write."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from ctxhub.core.kit import rows, sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import BareRow, Computed, Derived, Row, Table
from ctxhub.core.models import Agent, Layer, Project, Tag
from memory.contexts.rows import CONTEXTS
from memory.models import Constraint, ConstraintTag
from tests.rows import NOON, RULES, Known, Rule, links_of, new_rule, read_rule, store, stored_rule

pytestmark = pytest.mark.django_db

REQUIRED_FIELDS = ("category", "category_id", "created_at", "updated_at")
LATER = NOON + timedelta(minutes=5)


def statements_of(action: Any) -> list[str]:
    """The statements that an action sends to the database, one line each."""
    with CaptureQueriesContext(connection) as queries:
        action()
    return [" ".join(each["sql"].split()) for each in queries.captured_queries]


# -- The text of a query ---------------------------------------------------------------------------


def words_of(links: str, table: str, column: str) -> str:
    aggregate = {"sqlite": "json_group_array", "postgresql": "json_agg"}[connection.vendor]
    source = f"{links} x JOIN {table} w ON w.id = x.{column}"
    return f"(SELECT {aggregate}(w.name) FROM {source} WHERE x.constraint_id = d.id)"


def test_a_query_selects_each_field_of_the_row() -> None:
    columns, joins = RULES.selected().split(" FROM memory_constraint d ")
    assert columns == ", ".join(
        [
            *("d.id", "coalesce(agent.name, 'system')", "d.agent_id", "d.created_at", "d.updated_at"),
            *("category.name", "d.category_id", "d.text", "d.priority", "d.status"),
            *("layer.name", "d.layer_id"),
            words_of("memory_constrainttag", "core_tag", "tag_id"),
            words_of("memory_constraintscope", "core_scope", "scope_id"),
            *("d.paths", "d.reason"),
        ]
    )
    assert joins == (
        "JOIN core_category category ON category.id = d.category_id"
        " LEFT JOIN core_layer layer ON layer.id = d.layer_id"
        " LEFT JOIN core_agent agent ON agent.id = d.agent_id"
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["id", "text"], "d.id, d.text FROM memory_constraint d "),
        (
            ["layer"],
            "layer.name FROM memory_constraint d LEFT JOIN core_layer layer ON layer.id = d.layer_id",
        ),
        (["layer_id"], "d.layer_id FROM memory_constraint d "),
    ],
)
def test_a_query_joins_only_the_tables_of_its_fields(names: Sequence[str], expected: str) -> None:
    assert RULES.selected(names) == expected


def test_a_query_may_read_something_else_first() -> None:
    selected = RULES.selected(["text"], source="page CROSS JOIN")
    assert selected == "d.text FROM page CROSS JOIN memory_constraint d "


@frozen(kw_only=True)
class Word(BareRow):
    name: str
    folded: str = ""


def test_rows_need_neither_author_nor_times(apollo: Project) -> None:
    words = Table(Tag, Word, derived={"folded": Derived(of=["name"], value=lambda row: row.name.casefold())})
    [stored] = words.insert(apollo.pk, [Word(name="Deploy")])
    assert words.read(apollo.pk, [stored.id]) == {stored.id: replace(stored, folded="deploy")}


COMPUTED = Table(
    Constraint,
    Rule,
    derived=RULES.derived,
    computed={"reason": Computed("upper(d.text)"), "priority": Computed("length(d.text)")},
)


def test_a_computed_field_is_an_expression(apollo: Project) -> None:
    row = stored_rule(apollo, "abc", reason="So.", priority=4)
    assert COMPUTED.selected(["id", "reason"]) == "d.id, upper(d.text) FROM memory_constraint d "
    [found] = COMPUTED.find(apollo.pk, ("d.id = %s", [row.id]))
    assert (found.reason, found.priority) == ("ABC", 3)


def test_a_computed_field_is_not_written(apollo: Project) -> None:
    row = stored_rule(apollo, "abc", reason="So.")
    assert statements_of(lambda: COMPUTED.update(apollo.pk, row, replace(row, reason="No."))) == []


# -- Reading ---------------------------------------------------------------------------------------


def test_a_row_is_read_as_it_was_stored(apollo: Project) -> None:
    layer = Layer.objects.in_project(apollo).get(name="data")
    agent = Agent.objects.create(project=apollo, name="Ada")
    row = stored_rule(
        apollo,
        "Ä text",
        agent="Ada",
        agent_id=agent.pk,
        layer="data",
        layer_id=layer.pk,
        tags=["api", "Db"],
        scopes=["web"],
        paths=["src/**"],
        reason="So.",
        created_at=NOON + timedelta(microseconds=7),
    )
    assert read_rule(apollo, row.id) == row


def test_a_row_without_words_foreign_keys_and_paths_has_none(apollo: Project) -> None:
    found = read_rule(apollo, stored_rule(apollo).id)
    assert (found.tags, found.scopes, found.paths) == ([], [], [])
    assert (found.agent, found.agent_id, found.layer, found.layer_id) == ("system", None, None, None)


def test_words_are_read_in_alphabetical_order(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["b", "C", "a"])
    assert read_rule(apollo, row.id).tags == ["a", "b", "C"]


def test_fields_that_are_not_read_have_their_defaults(apollo: Project) -> None:
    row = stored_rule(apollo, "B", priority=4, tags=["api"])
    [found] = RULES.find(apollo.pk, ("d.id = %s", [row.id]), [*REQUIRED_FIELDS, "text"])
    assert found == replace(row, id=0, priority=2, tags=[])


def test_rows_are_read_by_their_ids_whichever_fields_are_selected(apollo: Project) -> None:
    new_rows = store(apollo, *(new_rule(apollo, text) for text in "ABC"))
    found = RULES.read(apollo.pk, [row.id for row in new_rows], [*REQUIRED_FIELDS, "text"])
    assert {row_id: row.text for row_id, row in found.items()} == {row.id: row.text for row in new_rows}


def test_unknown_ids_and_other_projects_rows_are_not_read(apollo: Project, hermes: Project) -> None:
    own, other_project_row = stored_rule(apollo), stored_rule(hermes)
    assert RULES.read(apollo.pk, [own.id, other_project_row.id, 999_999]).keys() == {own.id}
    assert RULES.find(apollo.pk, ("d.text = %s", ["A"])) == [read_rule(apollo, own.id)]


def test_reading_no_ids_takes_no_query(
    apollo: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        assert RULES.read(apollo.pk, []) == {}


@pytest.mark.parametrize("count", [sql.FEW, sql.FEW + 1])
def test_any_number_of_rows_is_read_in_one_query(
    count: int, apollo: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_rows = store(apollo, *(new_rule(apollo, str(number), tags=["api"]) for number in range(count)))
    with django_assert_num_queries(1):
        assert RULES.read(apollo.pk, [row.id for row in new_rows]) == {row.id: row for row in new_rows}


# -- Inserting -------------------------------------------------------------------------------------


def test_new_rows_get_ids_in_the_given_order(apollo: Project) -> None:
    new_rows = store(apollo, *(new_rule(apollo, text) for text in "CAB"))
    assert [row.id for row in new_rows] == sorted(row.id for row in new_rows)
    assert {row.pk: row.text for row in Constraint.unscoped.all()} == {row.id: row.text for row in new_rows}


def test_links_copy_the_columns_of_their_row(apollo: Project) -> None:
    row = stored_rule(apollo, priority=4, tags=["api", "db"], scopes=["web"], minutes=3)
    at = NOON + timedelta(minutes=3)
    assert links_of(row) == [("api", "0security", at), ("db", "0security", at)]
    assert links_of(row, "scope") == [("web", "0security", at)]
    assert set(ConstraintTag.unscoped.values_list("project_id", flat=True)) == {apollo.pk}


def test_derived_columns_are_stored_with_a_new_row(apollo: Project) -> None:
    row = stored_rule(apollo, "B", priority=1, category="architecture")
    stored = Constraint.unscoped.get(pk=row.id)
    assert (stored.digest, stored.rank) == (RULES.value(row, "digest"), "3architecture")


def test_new_rows_take_one_statement_and_one_for_each_link_table(apollo: Project) -> None:
    registry = Known(apollo)
    registry.word_id("tags", "api"), registry.word_id("scopes", "web")
    new_rows = [new_rule(apollo, text, tags=["api"], scopes=["web"]) for text in "ABC"]
    ids: Any = {"api": registry.word_id("tags", "api"), "web": registry.word_id("scopes", "web")}

    class Found:
        def word_id(self, field: str, name: str) -> int:
            return int(ids[name])

    statements = statements_of(lambda: RULES.insert(apollo.pk, new_rows, Found()))
    assert [statement.partition(" (")[0] for statement in statements] == [
        "INSERT INTO memory_constraint",
        "INSERT INTO memory_constrainttag",
        "INSERT INTO memory_constraintscope",
    ]


def test_inserting_no_rows_takes_no_statement(apollo: Project) -> None:
    assert statements_of(lambda: store(apollo)) == []
    assert len(statements_of(lambda: stored_rule(apollo))) == 2  # One of them reads the category.


def test_many_rows_are_inserted_in_chunks(apollo: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "VALUES_AT_ONCE", 2 * len(RULES.columns))
    registry = Known(apollo)
    words = [f"t{number}" for number in range(9)]
    for word in words:
        registry.word_id("tags", word)
    new_rows = [new_rule(apollo, text, tags=words) for text in "EDCBA"]
    statements = statements_of(lambda: RULES.insert(apollo.pk, new_rows, registry))
    found = list(Constraint.unscoped.order_by("pk"))
    assert "".join(row.text for row in found) == "EDCBA"
    assert [len(links_of(replace(new_rows[0], id=row.pk))) for row in found] == [9] * 5
    assert sum("INTO memory_constraint " in statement for statement in statements) == 3
    # A chunk of two rows holds 28 values, as many as five and a half links.
    links = -(-45 // (2 * len(RULES.columns) // 5))
    assert sum("INTO memory_constrainttag " in statement for statement in statements) == links


@frozen(kw_only=True)
class SlimRow(Row):
    category_id: int
    text: str


SLIM_ROWS = Table(
    Constraint, SlimRow, derived={"digest": Derived(of=["text"], value=lambda row: row.text.lower())}
)


def test_a_column_without_a_field_gets_its_default(apollo: Project) -> None:
    category_id = new_rule(apollo).category_id
    row = SlimRow(category_id=category_id, text="A", created_at=NOON, updated_at=NOON)
    [row] = SLIM_ROWS.insert(apollo.pk, [row], Known(apollo))
    stored = Constraint.unscoped.get(pk=row.id)
    assert (stored.text, stored.digest) == ("A", "a")
    assert (stored.priority, stored.paths, stored.status, stored.layer_id) == (2, [], 1, None)


def test_columns_and_records_have_the_same_order(apollo: Project) -> None:
    row = new_rule(apollo, "B", priority=4)
    [record] = RULES.records(apollo.pk, [row])
    stored = dict(zip(RULES.columns, record, strict=True))
    assert RULES.columns[0] == "project_id"
    assert "id" not in stored
    assert stored["project_id"] == apollo.pk
    assert (stored["rank"], stored["text"], stored["layer_id"]) == ("0security", "B", None)
    assert stored["created_at"] == sql.stored_time(NOON)


# -- Updating --------------------------------------------------------------------------------------


def test_an_update_without_differences_writes_nothing(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["api"], paths=["a"])
    assert RULES.differences(row, replace(row)) == {}
    same = replace(row, tags=["API"], paths=("a",))
    assert statements_of(lambda: RULES.update(apollo.pk, row, same)) == []


def test_only_changed_columns_are_written(apollo: Project) -> None:
    row = stored_rule(apollo)
    new = replace(row, reason="So.", updated_at=LATER)
    [statement] = statements_of(lambda: RULES.update(apollo.pk, row, new))
    assert statement.startswith("UPDATE memory_constraint SET reason = 'So.', updated_at = ")
    assert statement.count(" = ") == 3
    assert read_rule(apollo, row.id) == new


def test_derived_columns_change_with_their_source_columns(apollo: Project) -> None:
    row = stored_rule(apollo)
    assert RULES.differences(row, replace(row, priority=4)) == {"priority": 4, "rank": "0security"}
    assert RULES.differences(row, replace(row, text="B")).keys() == {"text", "digest"}
    assert RULES.differences(row, replace(row, reason="B")).keys() == {"reason"}


@pytest.mark.parametrize(("old", "new"), [(True, 1), (0, False), (1, 1.0), ({"a": True}, {"a": 1})])
def test_values_that_differ_in_json_are_written(old: Any, new: Any, apollo: Project) -> None:
    [row] = CONTEXTS.insert(
        apollo.pk,
        [CONTEXTS.row(name="A", metadata={"a": old}, created_at=NOON, updated_at=NOON, changed_at=NOON)],
        Known(apollo),
    )
    CONTEXTS.update(apollo.pk, row, replace(row, metadata={"a": new}))
    [(stored,)] = sql.rows("SELECT metadata FROM memory_context")
    found = sql.read_json(stored)["a"]
    assert repr(found) == repr(new)


def test_changed_words_are_linked_anew(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["api", "db"], scopes=["web"])
    new = replace(row, tags=["db", "ui"])
    RULES.update(apollo.pk, row, new, Known(apollo))
    assert [name for name, *_ in links_of(row)] == ["db", "ui"]
    assert read_rule(apollo, row.id) == new


def test_removed_words_leave_no_link(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["api"])
    [statement] = statements_of(lambda: RULES.update(apollo.pk, row, replace(row, tags=[]), Known(apollo)))
    assert statement.startswith("DELETE FROM memory_constrainttag WHERE constraint_id = ")
    assert links_of(row) == []


def test_copies_change_with_their_source_columns(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["api"], scopes=["web"])
    RULES.update(apollo.pk, row, replace(row, priority=4, created_at=LATER))
    assert links_of(row) == [("api", "0security", LATER)]
    assert links_of(row, "scope") == [("web", "0security", LATER)]


def test_words_and_copied_columns_may_change_at_once(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["api"], scopes=["web"])
    RULES.update(apollo.pk, row, replace(row, priority=4, tags=["db"]), Known(apollo))
    assert links_of(row) == [("db", "0security", NOON)]
    assert links_of(row, "scope") == [("web", "0security", NOON)]


def test_copies_are_not_written_when_no_copied_column_changes(apollo: Project) -> None:
    row = stored_rule(apollo, tags=["api"])
    assert len(statements_of(lambda: RULES.update(apollo.pk, row, replace(row, reason="B")))) == 1


def test_other_rows_stay_as_they_are(apollo: Project) -> None:
    row, other = store(apollo, *(new_rule(apollo, text, tags=["api"]) for text in "AB"))
    RULES.update(apollo.pk, row, replace(row, priority=4, tags=["db"]), Known(apollo))
    assert read_rule(apollo, other.id) == other
    assert links_of(other) == [("api", "2security", NOON)]


def test_keep_copies_repairs_the_given_rows(apollo: Project) -> None:
    new_rows = store(apollo, *(new_rule(apollo, text, tags=["api"], scopes=["web"]) for text in "ABC"))
    Constraint.unscoped.update(rank="moved")
    RULES.keep_copies(sql.among("", [row.id for row in new_rows[:2]]))
    assert [links_of(row)[0][1] for row in new_rows] == ["moved", "moved", "2security"]
    assert [links_of(row, "scope")[0][1] for row in new_rows] == ["moved", "moved", "2security"]


def test_keep_copies_writes_nothing_for_a_table_without_copies(apollo: Project) -> None:
    assert CONTEXTS.copies == {"tags": []}
    assert statements_of(lambda: CONTEXTS.keep_copies(("= %s", [1]))) == []
