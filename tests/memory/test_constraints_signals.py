"""Constraints written through the ORM leave what the services leave: figures, one event, links in step."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction

from ctxhub.core.caller import Caller, acting
from ctxhub.core.models import Agent, Category, Event, Layer, Project, Scope, Tag, Tally
from ctxhub.core.models.priority import Priority
from ctxhub.core.selectors.figures import Figures
from memory.models import Constraint, ConstraintScope, ConstraintStatus, ConstraintTag
from memory.models.constraint import digest_of
from memory.selectors.constraint_lists import list_constraints
from memory.services.constraints import (
    activate_constraint,
    add_constraint,
    deactivate_constraint,
    delete_constraint,
)

pytestmark = pytest.mark.usefixtures("index_is_kept")

TEXT = "Every address of the API asks for a token."
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


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
    counted = Figures(project.pk)
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


def test_a_saved_field_is_told_by_its_name(constraint: Constraint) -> None:
    constraint.reason = "It is public."
    constraint.save()
    assert last_event(constraint.project) == ("updated", "constraint", None, {"changed": ["reason"]})


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


def test_saving_what_is_there_leaves_nothing(constraint: Constraint) -> None:
    before = constraint.updated_at
    constraint.save()
    constraint.refresh_from_db()
    assert (count_events(constraint.project), constraint.updated_at) == (1, before)


def test_whoever_acts_is_the_author(apollo: Project, ada: Caller, ben: Caller) -> None:
    with acting(ada):
        constraint = create(apollo)
    with acting(ben):
        constraint.reason = "It is public."
        constraint.save()
    constraint.refresh_from_db()
    assert str(constraint.agent) == "ada"
    assert last_event(apollo)[2] == "ben"


def test_a_writer_may_name_the_author(apollo: Project, ada: Caller) -> None:
    zoe = Agent.objects.create(project=apollo, name="zoe")
    with acting(ada):
        assert create(apollo, agent=zoe).agent == zoe


@pytest.mark.parametrize("model", [Tag, Scope])
def test_a_word_added_or_removed_is_a_change(constraint: Constraint, model: type[Tag] | type[Scope]) -> None:
    words: Any = constraint.tags if model is Tag else constraint.scopes
    name, query = ("tags", {"tags": ["x"]}) if model is Tag else ("scopes", {"scope": "x"})
    words.add(word(model, constraint.project, "x"), through_defaults={"project": constraint.project})
    assert last_event(constraint.project)[3] == {"changed": [name]}
    assert texts(constraint.project, priority="medium", category="security", **query) == [TEXT]
    words.remove(word(model, constraint.project, "x"))
    assert (count_events(constraint.project), texts(constraint.project, **query)) == (3, [])


def test_a_word_that_is_there_already_changes_nothing(constraint: Constraint) -> None:
    for _ in range(2):
        constraint.tags.add(
            word(Tag, constraint.project, "x"), through_defaults={"project": constraint.project}
        )
    assert count_events(constraint.project) == 2


def test_a_word_changed_from_its_own_end_is_a_change_of_each(constraint: Constraint) -> None:
    other = create(constraint.project, "Other words.")
    tag = word(Tag, constraint.project, "x")
    tag.constraints.add(constraint, other, through_defaults={"project": constraint.project})
    assert count_events(constraint.project) == 4
    tag.constraints.clear()
    assert count_events(constraint.project) == 6


def test_deleting_many_leaves_an_event_for_each(constraint: Constraint) -> None:
    create(constraint.project, "Other words.", status=ConstraintStatus.INACTIVE)
    Constraint.objects.in_project(constraint.project).delete()
    assert Event.objects.in_project(constraint.project).filter(verb="deleted").count() == 2
    assert figures(constraint.project) == (0, 0)


def test_a_project_goes_with_everything_in_it(constraint: Constraint, ada: Caller) -> None:
    add_constraint(caller=ada, category="new", text="x", tags=["x"], scopes=["s"], layer="data")
    constraint.project.delete()
    for model in (Constraint, ConstraintTag, ConstraintScope, Category, Event, Tally, Tag, Layer):
        assert not model.unscoped.exists()


def test_a_write_that_is_undone_leaves_nothing(constraint: Constraint) -> None:
    with transaction.atomic():
        constraint.status = ConstraintStatus.INACTIVE
        constraint.save()
        transaction.set_rollback(True)
    assert (count_events(constraint.project), figures(constraint.project)) == (1, (1, 1))


def test_the_same_words_are_never_stored_twice(constraint: Constraint) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        create(constraint.project)
    assert figures(constraint.project) == (1, 1)


# -- Every writer leaves exactly one event ---------------------------------------------------------

Writer = Callable[[Caller], object]


def stored(caller: Caller) -> Constraint:
    return Constraint.objects.in_project(caller.project).get(text=TEXT)


def state(caller: Caller, text: str, **rest: Any) -> int:
    return add_constraint(caller=caller, **{"category": "security", "text": text, **rest})["id"]


def save(**changes: Any) -> Writer:
    def run(caller: Caller) -> None:
        constraint = stored(caller)
        for name, value in changes.items():
            setattr(constraint, name, value)
        constraint.save()

    return run


def add_tags(caller: Caller) -> None:
    tags = [word(Tag, caller.project, name) for name in ("api", "sso")]
    stored(caller).tags.add(*tags, through_defaults={"project": caller.project})


WRITERS: dict[str, Writer] = {
    "add": lambda caller: state(caller, "new", tags=["a", "b"], scopes=["s"]),
    "add, new category": lambda caller: state(caller, "new", category="new"),
    "add, revived": lambda caller: state(caller, "old"),
    "deactivate": lambda caller: deactivate_constraint(caller=caller, constraint_id=stored(caller).pk),
    "activate": lambda caller: activate_constraint(
        caller=caller, constraint_id=Constraint.objects.in_project(caller.project).get(text="old").pk
    ),
    "delete": lambda caller: delete_constraint(caller=caller, constraint_id=stored(caller).pk),
    "objects.create": lambda caller: create(caller.project, "new"),
    "model.save": save(reason="Why."),
    "model.delete": lambda caller: stored(caller).delete(),
    "tags.add": add_tags,
    "tags.clear": lambda caller: stored(caller).tags.clear(),
    "tag.constraints.remove": lambda caller: word(Tag, caller.project, "kept").constraints.remove(
        stored(caller)
    ),
    "QuerySet.delete": lambda caller: (
        Constraint.objects.in_project(caller.project).filter(text=TEXT).delete()
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_writer_leaves_one_event(ada: Caller, writer: str) -> None:
    state(ada, TEXT, tags=["kept"])
    deactivate_constraint(caller=ada, constraint_id=state(ada, "old"))
    before = count_events(ada.project)
    with acting(ada):
        WRITERS[writer](ada)
    assert count_events(ada.project) == before + 1
    assert last_event(ada.project)[2] == "ada"


# -- The same constraint written both ways leaves the same rows ------------------------------------


def orm_create(caller: Caller) -> None:
    create(
        caller.project,
        priority=Priority.HIGH,
        layer=Layer.objects.in_project(caller.project).get(name="data"),
        paths=["src/**"],
        reason="Why.",
    )


def sql_create(caller: Caller) -> None:
    state(caller, TEXT, priority="high", layer="data", paths=["src/**"], reason="Why.")


PAIRS: list[tuple[str, Writer, Writer]] = [
    ("create", sql_create, orm_create),
    (
        "deactivate",
        lambda caller: deactivate_constraint(caller=caller, constraint_id=stored(caller).pk),
        save(status=ConstraintStatus.INACTIVE),
    ),
    ("add again", lambda caller: state(caller, TEXT), save(status=ConstraintStatus.ACTIVE)),
    ("nothing", lambda caller: state(caller, TEXT), save()),
    (
        "delete",
        lambda caller: delete_constraint(caller=caller, constraint_id=stored(caller).pk),
        lambda caller: stored(caller).delete(),
    ),
]


def test_both_ways_of_writing_leave_the_same_rows(apollo: Project, hermes: Project) -> None:
    by_sql, by_orm = (Caller(project=project, agent="ada") for project in (apollo, hermes))
    for hours, (name, sql_writer, orm_writer) in enumerate(PAIRS):
        with time_machine.travel(NOON + timedelta(hours=hours), tick=False):
            with acting(by_sql):
                sql_writer(by_sql)
            with acting(by_orm):
                orm_writer(by_orm)
        assert rows_of(apollo) == rows_of(hermes), name


def rows_of(project: Project) -> dict[str, list[dict[str, Any]]]:
    """All rows of a project, with names in place of ids."""
    models: list[Any] = [Agent, Category, Tag, Scope, Constraint, ConstraintTag, ConstraintScope]
    rows = {
        model.__name__: sorted((named(row) for row in model.objects.in_project(project)), key=repr)
        for model in models
    }
    rows["Event"] = [
        {"verb": event.verb, "at": event.at, "agent": str(event.agent), "data": event.data}
        for event in Event.objects.in_project(project).order_by("pk")
    ]
    rows["Tally"] = [
        {"noun": tally.noun, "status": tally.status, "count": tally.count}
        for tally in Tally.objects.in_project(project).order_by("noun", "status", "layer")
    ]
    return rows


def named(row: Any) -> dict[str, Any]:
    fields = {field.name for field in row._meta.fields} - {"id", "project", "last_seen_at"}
    return {name: None if (value := getattr(row, name)) is None else str(value) for name in sorted(fields)}
