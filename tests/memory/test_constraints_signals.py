"""Constraints written through the ORM leave what the services leave: figures, one event, links in step."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.events.selectors.stats import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Category, Event, Layer, Project, Scope, Tag, Tally
from memory.constraints.lists import list_constraints
from memory.constraints.models import digest_of
from memory.constraints.services import add_constraint
from memory.models import Constraint, ConstraintScope, ConstraintStatus, ConstraintTag

pytestmark = pytest.mark.usefixtures("index_is_kept")

TEXT = "Every address of the API asks for a token."


def create(project: Project, text: str = TEXT, **rest: Any) -> Constraint:
    security = Category.objects.in_project(project).get(name="security")
    objects: Any = Constraint.objects
    made: Constraint = objects.create(project=project, category=security, text=text, **rest)
    return made


@pytest.fixture
def constraint(apollo: Project) -> Constraint:
    return create(apollo)


def last_event(project: Project) -> tuple[str, str, str | None, dict[str, Any]]:
    event = Event.objects.in_project(project).select_related("agent").order_by("-id")[0]
    return event.verb, event.ref.partition(":")[0], event.agent.name if event.agent else None, event.data


def count_events(project: Project) -> int:
    return Event.objects.in_project(project).count()


def figures(project: Project) -> tuple[int, int]:
    counted = Stats(project.pk)
    return counted.of("constraint", status=ConstraintStatus.ACTIVE), counted.of("constraint")


def word(model: type[Tag] | type[Scope], project: Project, name: str) -> Any:
    return model.objects.in_project(project).filter(name=name).first() or model.objects.create(
        project=project, name=name
    )


def texts(project: Project, **query: Any) -> list[str]:
    return [str(row["text"]) for row in list_constraints(project.pk, **query).objects()]


# -- One change, one event -------------------------------------------------------------------------


def test_a_created_row_is_counted_and_stands_in_the_log_and_in_lists(constraint: Constraint) -> None:
    created = ("created", "constraint", None, {"note": "security, medium"})
    assert last_event(constraint.project) == created
    assert figures(constraint.project) == (1, 1)
    assert texts(constraint.project, category="security", priority="medium") == [TEXT]


@pytest.mark.parametrize("fields", [None, ["status"]])
def test_a_saved_status_is_told_and_counted(constraint: Constraint, fields: list[str] | None) -> None:
    constraint.status = ConstraintStatus.INACTIVE
    constraint.save(update_fields=fields)
    assert last_event(constraint.project)[0] == "deactivated"
    assert figures(constraint.project) == (0, 1)


@pytest.mark.parametrize("fields", [None, ["priority", "text"]])
def test_what_follows_from_a_save_is_saved_too(constraint: Constraint, fields: list[str] | None) -> None:
    constraint.tags.add(word(Tag, constraint.project, "x"), through_defaults={"project": constraint.project})
    constraint.priority, constraint.text = Priority.CRITICAL, "Other words."
    constraint.save(update_fields=fields)
    constraint.refresh_from_db()
    assert constraint.digest == digest_of("Other words.")
    for query in ({"priority": "critical"}, {"priority": "critical", "tags": ["x"]}):
        assert texts(constraint.project, **query) == ["Other words."]
    assert texts(constraint.project, priority="medium", tags=["x"]) == []


@pytest.mark.parametrize("model", [Tag, Scope])
def test_a_word_added_or_removed_is_a_change(constraint: Constraint, model: type[Tag] | type[Scope]) -> None:
    words: Any = constraint.tags if model is Tag else constraint.scopes
    name, query = ("tags", {"tags": ["x"]}) if model is Tag else ("scopes", {"scope": "x"})
    words.add(word(model, constraint.project, "x"), through_defaults={"project": constraint.project})
    assert last_event(constraint.project)[3] == {"changed": [name]}
    assert texts(constraint.project, priority="medium", category="security", **query) == [TEXT]
    words.remove(word(model, constraint.project, "x"))
    assert (count_events(constraint.project), texts(constraint.project, **query)) == (3, [])


def test_a_project_goes_with_everything_in_it(constraint: Constraint, ada: Caller) -> None:
    add_constraint(caller=ada, category="new", text="x", tags=["x"], scopes=["s"], layer="data")
    constraint.project.delete()
    for model in (Constraint, ConstraintTag, ConstraintScope, Category, Event, Tally, Tag, Layer):
        assert not model.unscoped.exists()


def test_the_same_words_are_never_stored_twice(constraint: Constraint) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        create(constraint.project)
    assert figures(constraint.project) == (1, 1)
