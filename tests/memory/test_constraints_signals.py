"""Constraints written through the ORM: same stats, events and link columns as after the service functions."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Category, Event, Layer, Project, Scope, Tag, Tally
from memory.constraints.models import digest_of
from memory.constraints.queries import list_constraints
from memory.constraints.services import add_constraint
from memory.models import Constraint, ConstraintScope, ConstraintStatus, ConstraintTag

pytestmark = pytest.mark.usefixtures("index_is_kept")

TEXT = "Every address of the API asks for a token."


def create(project: Project, text: str = TEXT, **rest: Any) -> Constraint:
    security = Category.objects.in_project(project).get(name="security")
    objects: Any = Constraint.objects
    created: Constraint = objects.create(project=project, category=security, text=text, **rest)
    return created


@pytest.fixture
def constraint(apollo: Project) -> Constraint:
    return create(apollo)


def last_event(project: Project) -> tuple[str, str, str | None, dict[str, Any]]:
    event = Event.objects.in_project(project).select_related("agent").order_by("-id")[0]
    return event.verb, event.ref.partition(":")[0], event.agent.name if event.agent else None, event.data


def count_events(project: Project) -> int:
    return Event.objects.in_project(project).count()


def stats(project: Project) -> tuple[int, int]:
    counted = Stats(project.pk)
    return counted.of("constraint", status=ConstraintStatus.ACTIVE), counted.of("constraint")


def get_or_create(model: type[Tag] | type[Scope], project: Project, name: str) -> Any:
    return model.objects.in_project(project).filter(name=name).first() or model.objects.create(
        project=project, name=name
    )


def texts(project: Project, **query: Any) -> list[str]:
    return [str(row["text"]) for row in list_constraints(project.pk, **query).objects()]


# -- One change, one event -------------------------------------------------------------------------


def test_a_created_row_is_counted_listed_and_has_an_event(constraint: Constraint) -> None:
    created = ("created", "constraint", None, {"note": "security, medium", "priority": "medium"})
    assert last_event(constraint.project) == created
    assert stats(constraint.project) == (1, 1)
    assert texts(constraint.project, category="security", priority="medium") == [TEXT]


@pytest.mark.parametrize("fields", [None, ["status"]])
def test_a_saved_status_is_counted_and_has_an_event(constraint: Constraint, fields: list[str] | None) -> None:
    constraint.status = ConstraintStatus.INACTIVE
    constraint.save(update_fields=fields)
    assert last_event(constraint.project)[0] == "deactivated"
    assert stats(constraint.project) == (0, 1)


@pytest.mark.parametrize("fields", [None, ["priority", "text"]])
def test_saving_updates_the_digest_and_the_rank(constraint: Constraint, fields: list[str] | None) -> None:
    constraint.tags.add(
        get_or_create(Tag, constraint.project, "x"), through_defaults={"project": constraint.project}
    )
    constraint.priority, constraint.text = Priority.CRITICAL, "Other words."
    constraint.save(update_fields=fields)
    constraint.refresh_from_db()
    assert constraint.digest == digest_of("Other words.")
    for query in ({"priority": "critical"}, {"priority": "critical", "tags": ["x"]}):
        assert texts(constraint.project, **query) == ["Other words."]
    assert texts(constraint.project, priority="medium", tags=["x"]) == []


@pytest.mark.parametrize("model", [Tag, Scope])
def test_adding_or_removing_a_tag_or_scope_is_a_change(
    constraint: Constraint, model: type[Tag] | type[Scope]
) -> None:
    relation: Any = constraint.tags if model is Tag else constraint.scopes
    name, query = ("tags", {"tags": ["x"]}) if model is Tag else ("scopes", {"scope": "x"})
    relation.add(
        get_or_create(model, constraint.project, "x"), through_defaults={"project": constraint.project}
    )
    assert last_event(constraint.project)[3] == {"changed": [name], "priority": "medium"}
    assert texts(constraint.project, priority="medium", category="security", **query) == [TEXT]
    relation.remove(get_or_create(model, constraint.project, "x"))
    assert (count_events(constraint.project), texts(constraint.project, **query)) == (3, [])


def test_deleting_a_project_deletes_everything_in_it(constraint: Constraint, ada: Caller) -> None:
    add_constraint(caller=ada, category="new", text="x", tags=["x"], scopes=["s"], layer="data")
    constraint.project.delete()
    for model in (Constraint, ConstraintTag, ConstraintScope, Category, Event, Tally, Tag, Layer):
        assert not model.unscoped.exists()


def test_a_unique_constraint_refuses_an_equal_text(constraint: Constraint) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        create(constraint.project)
    assert stats(constraint.project) == (1, 1)
