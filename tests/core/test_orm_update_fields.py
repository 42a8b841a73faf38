"""`save(update_fields=[...])` stores the named fields and those derived from them, and nothing else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db.models import Model

from ctxhub.core.kit import clock
from ctxhub.core.models import Agent, Category, Event, Layer, Project, Scope, Tag
from ctxhub.core.text.token_count import count_tokens
from memory.models import (
    Constraint,
    Context,
    Decision,
    DecisionTemplate,
    Memory,
    Relationship,
    Scratchpad,
    Snapshot,
    ValueType,
    Workflow,
)
from messaging.models import Delivery, Message
from sessions.models import AgentSession
from tests.tallies import counted, tallied
from tracking.models import FileChange, Lease, LeasePath, Resource

NOON = "2026-03-02T12:00:00+00:00"
Make = Callable[[Project], Any]


@pytest.fixture(autouse=True)
def now() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def decision(project: Project) -> Decision:
    return Decision.objects.create(project=project, key="k", value="1", value_type=ValueType.INTEGER)


def constraint(project: Project) -> Constraint:
    category = Category.objects.in_project(project).get(name="security")
    return Constraint.objects.create(project=project, category=category, text="A")


def context(project: Project) -> Context:
    return Context.objects.create(project=project, name="Shop")


def memory(project: Project) -> Memory:
    values: Any = {"title": "A", "content": "One. And two.", "stack": "Go"}
    return Memory.objects.create(project=project, context=context(project), **values)


def workflow(project: Project) -> Workflow:
    return Workflow.objects.create(project=project, name="A")


def scratchpad(project: Project) -> Scratchpad:
    return Scratchpad.objects.create(project=project, workflow=workflow(project), name="A", content="one")


def snapshot(project: Project) -> Snapshot:
    return Snapshot.objects.create(project=project, summary="A", content="One. And two.", source="mcp")


def session(project: Project) -> AgentSession:
    return AgentSession.objects.create(project=project, summary="A")


def template(project: Project) -> DecisionTemplate:
    return DecisionTemplate.objects.create(project=project, name="Incident")


def relationship(project: Project) -> Relationship:
    ends: Any = {"source_kind": "memory", "source_id": 1, "target_kind": "memory", "target_id": 2}
    return Relationship.objects.create(project=project, **ends)


def agent(project: Project) -> Agent:
    return Agent.objects.create(project=project, name="Ada")


def message(project: Project) -> Message:
    return Message.objects.create(project=project, sender=agent(project), text="A")


def delivery(project: Project) -> Delivery:
    return Delivery.objects.create(project=project, message=message(project), name="Ben")


def change(project: Project) -> FileChange:
    resource = Resource.objects.create(project=project, path="a.py")
    return FileChange.objects.create(project=project, resource=resource, change=1)


def lease_path(project: Project) -> LeasePath:
    until = clock.now() + timedelta(minutes=15)
    lease = Lease.objects.create(project=project, agent=agent(project), expires_at=until)
    return LeasePath.objects.create(project=project, lease=lease, pattern="src/a.py")


def word(model: type[Any]) -> Make:
    return lambda project: model.objects.create(project=project, name="Word")


# -- Unnamed fields are not stored, and change no derived field ------------------------------------


@dataclass(frozen=True)
class Dirty:
    """A row with unnamed values in `dirty`, saved with `saved`; `derived` would be derived from `dirty`."""

    make: Make
    dirty: dict[str, Any]
    saved: dict[str, Any]
    derived: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.make.__name__}-{'-'.join(self.dirty)}"


UNNAMED = [
    Dirty(decision, {"value": "2"}, {"rationale": "So."}, ("number",)),
    Dirty(decision, {"value": "2"}, {"rationale": "So."}, ("version", "version_order")),
    Dirty(decision, {"version": "9.0.0"}, {"rationale": "So."}, ("version", "version_order")),
    Dirty(constraint, {"text": "B"}, {"reason": "So."}, ("digest",)),
    Dirty(constraint, {"priority": 4}, {"reason": "So."}, ("rank",)),
    Dirty(context, {"name": "Store"}, {"description": "So."}, ("folded",)),
    Dirty(memory, {"content": "Two."}, {"title": "B"}, ("tokens",)),
    Dirty(memory, {"content": "Two."}, {"type": 2}, ("digest", "tokens", "revision")),
    Dirty(memory, {"stack": "React"}, {"type": 2}, ("folded_stack",)),
    Dirty(workflow, {"metadata": {"keep": "never"}}, {"name": "B"}, ("is_kept",)),
    Dirty(snapshot, {"content": "Two."}, {"rationale": "So."}, ("tokens",)),
    Dirty(template, {"name": "Outage"}, {"require": ["layer"]}, ("folded",)),
    Dirty(scratchpad, {"content": "two three"}, {"name": "B"}, ("length", "size", "revision")),
]


@pytest.mark.parametrize("case", UNNAMED, ids=str)
def test_unnamed_fields_change_no_derived_field(case: Dirty, apollo: Project) -> None:
    row = case.make(apollo)
    expected = type(row).unscoped.get(pk=row.pk)
    if "title" in case.saved:
        expected.title = case.saved["title"]
        expected.save()
    before = _values(expected, case.derived)
    for name, value in (case.dirty | case.saved).items():
        setattr(row, name, value)
    row.save(update_fields=list(case.saved))
    assert _values(row, case.derived) == before
    assert _values(row, tuple(case.saved)) == case.saved


def _values(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    """The values in the database."""
    stored: dict[str, Any] = type(row)._base_manager.filter(pk=row.pk).values(*names).get()
    return stored


# -- Named fields are stored, with the fields derived from them ------------------------------------


@dataclass(frozen=True)
class Named:
    make: Make
    saved: dict[str, Any]
    derived: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.make.__name__}-{'-'.join(self.saved)}"


FOLDED = {"saved": {"name": "Other"}, "derived": {"folded": "other"}}
NAMED = [
    Named(decision, {"value": "2"}, {"number": 2.0, "version": "1.0.1"}),
    Named(constraint, {"priority": 4}, {"rank": "0security"}),
    Named(context, **FOLDED),
    Named(memory, {"stack": "React"}, {"folded_stack": "react"}),
    Named(memory, {"content": "Two."}, {"digest": "Two.", "revision": 2}),
    Named(workflow, {"metadata": {"keep": "never"}}, {"is_kept": True}),
    Named(scratchpad, {"content": "two"}, {"length": 3, "revision": 2}),
    Named(snapshot, {"content": "Two three four."}, {"tokens": count_tokens("Two three four.")}),
    Named(session, {"summary": "B"}, {"summary": "B"}),
    Named(template, **FOLDED),
]
OTHERS = [
    ("tag", Named(word(Tag), **FOLDED)),
    ("scope", Named(word(Scope), **FOLDED)),
    ("category", Named(word(Category), **FOLDED)),
    ("layer", Named(word(Layer), **FOLDED)),
    ("agent", Named(agent, **FOLDED)),
    ("delivery", Named(delivery, **FOLDED)),
    ("lease path", Named(lease_path, {"pattern": "lib/b.py"}, {"head": "lib"})),
]


@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, id=str(case)) for case in NAMED),
        *(pytest.param(case, id=name) for name, case in OTHERS),
    ],
)
def test_fields_derived_from_named_ones_are_stored_too(case: Named, apollo: Project) -> None:
    row = case.make(apollo)
    for name, value in case.saved.items():
        setattr(row, name, value)
    row.save(update_fields=list(case.saved))
    assert _values(row, tuple(case.derived)) == case.derived


# -- Unnamed fields are no change ------------------------------------------------------------------


@dataclass(frozen=True)
class Unchanged:
    """A row with an unnamed value in `dirty`, saved with a field that is unchanged."""

    make: Make
    dirty: dict[str, Any]
    saved: str

    def __str__(self) -> str:
        return self.make.__name__

    def save(self, project: Project, now: time_machine.Traveller) -> Any:
        row = self.make(project)
        now.shift(timedelta(minutes=1))
        for name, value in self.dirty.items():
            setattr(row, name, value)
        row.save(update_fields=[self.saved])
        return row


UNCHANGED = [
    Unchanged(template, {"require": ["layer"]}, "name"),
    Unchanged(relationship, {"strength": 80}, "relation"),
    Unchanged(decision, {"rationale": "So."}, "key"),
    Unchanged(constraint, {"reason": "So."}, "text"),
    Unchanged(context, {"description": "So."}, "name"),
    Unchanged(memory, {"title": "B"}, "content"),
    Unchanged(workflow, {"name": "B"}, "metadata"),
    Unchanged(scratchpad, {"content": "two"}, "name"),
    Unchanged(snapshot, {"rationale": "So."}, "summary"),
    Unchanged(session, {"summary": "B"}, "workspace_id"),
]


@pytest.mark.parametrize("case", UNCHANGED, ids=str)
def test_an_unnamed_field_does_not_change_the_time(
    case: Unchanged, apollo: Project, now: time_machine.Traveller
) -> None:
    row = case.save(apollo, now)
    assert type(row).unscoped.get(pk=row.pk).updated_at < clock.now()


@pytest.mark.parametrize("case", [*UNCHANGED, Unchanged(message, {"text": "B"}, "priority")], ids=str)
def test_an_unnamed_field_leaves_no_event(
    case: Unchanged, apollo: Project, now: time_machine.Traveller
) -> None:
    case.save(apollo, now)
    assert not Event.objects.in_project(apollo).filter(at=clock.now()).exists()


def test_an_unnamed_layer_is_not_counted(apollo: Project) -> None:
    row = change(apollo)
    row.layer, row.description = Layer.objects.in_project(apollo).get(name="data"), "So."
    row.save(update_fields=["description"])
    assert tallied(apollo) == counted(apollo)
