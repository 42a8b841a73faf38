"""Deletes in SQL also delete or update all rows with a foreign key to the deleted ones."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models import ForeignKey, Model
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit import clock
from ctxhub.core.kit.deletes import delete_rows
from memory.models import Constraint, Context, Decision, Memory, Scratchpad, Snapshot, Workflow
from messaging.models import Message
from sessions.models import AgentSession
from tracking.changes.rows import delete_changes
from tracking.models import FileChange

pytestmark = [pytest.mark.django_db, pytest.mark.one_engine]

MODELS: list[type[Model]] = [
    *(Constraint, Context, Decision, Memory, Scratchpad, Snapshot, Workflow),
    *(Message, AgentSession),
]
CASCADES: list[tuple[type[Model], Callable[[], object]]] = [
    *((model, partial(delete_rows, model, [1])) for model in MODELS),
    (FileChange, lambda: delete_changes(1, clock.now(), 1)),
]


@pytest.mark.parametrize(("model", "delete"), CASCADES, ids=[model.__name__ for model, _ in CASCADES])
def test_a_delete_writes_every_table_that_points_to_the_deleted_rows(
    model: type[Model], delete: Callable[[], object]
) -> None:
    with CaptureQueriesContext(connection) as statements:
        delete()
    texts = [statement["sql"] for statement in statements.captured_queries]
    written = _tables(texts)
    assert model._meta.db_table in written
    assert pointing_to(model, _tables(texts, "DELETE FROM")) <= written


def test_pointing_to_follows_foreign_keys_of_deleted_tables() -> None:
    tables = {"memory_memory", "memory_contexttag"}
    assert pointing_to(Context, {"memory_memory"}) == tables | {"memory_memoryrevision", "memory_memorytag"}


def _tables(statements: Iterable[str], verbs: str = "DELETE FROM|UPDATE") -> set[str]:
    found: set[str] = set()
    for statement in statements:
        found |= set(re.findall(rf"(?:{verbs}) (\w+)", statement))
    return found


def _is_enforced(key: "ForeignKey[Any, Any]") -> bool:
    """Whether the database enforces the foreign key."""
    return bool(vars(key)["db_constraint"])


def pointing_to(model: type[Model], deleted: set[str]) -> set[str]:
    """The tables with an enforced foreign key to `model`, and those that point to the deleted among them."""
    found: set[str] = set()
    for relation in model._meta.get_fields(include_hidden=True):
        key = getattr(relation, "field", None)
        if relation.auto_created and isinstance(key, ForeignKey) and _is_enforced(key):
            table = key.model._meta.db_table
            is_new = table not in found and key.model is not model
            found |= {table} | (pointing_to(key.model, deleted) if is_new and table in deleted else set())
    return found
