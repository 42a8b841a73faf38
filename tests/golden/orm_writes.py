"""Each noun written through the ORM: created, saved, linked from either end, deleted."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import ForeignObjectRel, Model

from ctxhub.core.kit import clock
from ctxhub.core.models import Agent, Category, Layer, Project, Scope, Tag
from memory.models import (
    Constraint,
    Context,
    Decision,
    DecisionTemplate,
    Memory,
    Relationship,
    Scratchpad,
    Snapshot,
    SnapshotDependency,
    ValueType,
    Workflow,
)
from messaging.models import Delivery, Message
from sessions.models import (
    Access,
    AgentSession,
    ContextItem,
    Conversation,
    ResourceDependency,
    SessionResource,
    WorkspaceState,
)
from tracking.models import FileChange, Lease, LeasePath, Resource

Values = dict[str, Any]


@dataclass(frozen=True)
class Written:
    """How a noun is created and changed. `links`: many-to-many fields; `through`: values of their rows."""

    noun: str
    model: type[Model]
    make: Callable[[Project], Values]
    change: Callable[[Project], Values]
    links: dict[str, type[Model]] = field(default_factory=dict)
    through: Callable[[Project], Values] = lambda project: {}


def layer(project: Project) -> Layer:
    return Layer.objects.in_project(project).get(name="business")


def agent(project: Project) -> Agent:
    return Agent.objects.in_project(project).get_or_create(
        project=project, name="ada", defaults={"folded": "ada"}
    )[0]


def decision(project: Project) -> Values:
    return {"key": "orm/key", "value": "1", "value_type": ValueType.INTEGER, "paths": ["src/**"]}


def changed_decision(project: Project) -> Values:
    return {"value": "2.5", "value_type": ValueType.FLOAT, "layer": layer(project), "rationale": "So."}


def constraint(project: Project) -> Values:
    category = Category.objects.in_project(project).get(name="security")
    return {"category": category, "text": "Store no names.", "reason": "The law."}


def memory(project: Project) -> Values:
    context, _ = Context.objects.in_project(project).get_or_create(
        project=project, name="orm", defaults={"folded": "orm"}
    )
    return {"context": context, "title": "A title", "content": "Kept. And read.", "stack": "Django"}


def workflow(project: Project) -> Workflow:
    return Workflow.objects.in_project(project).get_or_create(project=project, name="orm pads")[0]


def relationship(project: Project) -> Values:
    ends = [Memory(project=project, **{**memory(project), "title": f"End {n}"}) for n in (1, 2)]
    for end in ends:
        end.save()
    return {
        "source_kind": "memory",
        "source_id": ends[0].pk,
        "target_kind": "memory",
        "target_id": ends[1].pk,
    }


def lease(project: Project) -> Values:
    return {"agent": agent(project), "expires_at": clock.now() + timedelta(minutes=15)}


def delivery(project: Project) -> Values:
    message = Message(project=project, sender=agent(project), text="hello", to_everyone=False)
    message.save()
    return {"message": message, "name": "zoe"}


def lease_path(project: Project) -> Values:
    values = lease(project)
    taken = Lease(project=project, **values)
    taken.save()
    return {"lease": taken, "pattern": "orm/*"}


def session(project: Project) -> AgentSession:
    return AgentSession.objects.in_project(project).get_or_create(project=project, name="orm")[0]


def resource(project: Project, path: str = "orm/tracked.py") -> Resource:
    return Resource.objects.in_project(project).get_or_create(project=project, path=path)[0]


def snapshot_dependency(project: Project) -> Values:
    texts = {"summary": "An end", "content": "An end."}
    ends = [Snapshot._base_manager.create(project=project, **texts) for _ in range(3)]
    return {"snapshot": ends[0], "dependency": ends[1]}


KNOWLEDGE: Sequence[Written] = (
    Written(
        "decision",
        Decision,
        decision,
        changed_decision,
        {"tags": Tag, "scopes": Scope},
        lambda project: {"updated_at": clock.now()},
    ),
    Written(
        "constraint",
        Constraint,
        constraint,
        lambda project: {"text": "Store no addresses.", "priority": 4, "layer": layer(project)},
        {"tags": Tag, "scopes": Scope},
    ),
    Written(
        "memory",
        Memory,
        memory,
        lambda project: {"content": "Forgotten. And lost.", "stack": "React19", "difficulty": 3},
        {"tags": Tag},
    ),
    Written(
        "context",
        Context,
        lambda project: {"name": "Garden", "description": "What grows.", "stack": "Django"},
        lambda project: {"name": "Meadow", "metadata": {"a": 1}},
        {"tags": Tag},
    ),
    Written(
        "workflow",
        Workflow,
        lambda project: {"name": "A task"},
        lambda project: {"metadata": {"keep": "never"}, "is_active": False},
    ),
    Written(
        "scratchpad",
        Scratchpad,
        lambda project: {"workflow": workflow(project), "name": "notes", "content": "one\ntwo"},
        lambda project: {"name": "more notes", "content": "one\nthree"},
    ),
    Written(
        "template",
        DecisionTemplate,
        lambda project: {"name": "Retreat", "require": ["rationale"]},
        lambda project: {"name": "Return", "defaults": {"tags": ["a"]}},
    ),
    Written("relationship", Relationship, relationship, lambda project: {"strength": 80}),
    Written(
        "message",
        Message,
        lambda project: {"sender": agent(project), "text": "hello"},
        lambda project: {"text": "hello again", "priority": 4},
    ),
    Written("resource", Resource, lambda project: {"path": "orm/a.py"}, lambda project: {"path": "orm/b.py"}),
    Written(
        "change",
        FileChange,
        lambda project: {
            "resource": Resource.objects.in_project(project).get_or_create(
                project=project, path="orm/changed.py"
            )[0],
            "change": 1,
        },
        lambda project: {"change": 2, "description": "Rotate."},
    ),
    Written(
        "delivery",
        Delivery,
        delivery,
        lambda project: {"read_at": clock.now(), "acked_at": clock.now(), "name": "Zoe"},
    ),
    Written("lease", Lease, lease, lambda project: {"expires_at": clock.now() + timedelta(minutes=30)}),
    Written(
        "lease path",
        LeasePath,
        lease_path,
        lambda project: {"pattern": "lib/orm/*"},
    ),
)

SESSIONS: Sequence[Written] = (
    Written(
        "snapshot",
        Snapshot,
        lambda project: {"summary": "Moved", "content": "We moved to PostgreSQL."},
        lambda project: {"content": "We moved back.", "action_type": 2, "rationale": "It was slow."},
        {"tags": Tag},
    ),
    Written(
        "snapshot dependency",
        SnapshotDependency,
        snapshot_dependency,
        lambda project: {"dependency": Snapshot.objects.in_project(project).latest("pk")},
    ),
    Written(
        "session",
        AgentSession,
        lambda project: {"agent": agent(project), "summary": "A join is half written."},
        lambda project: {"summary": "It is written.", "saved_at": clock.now(), "token_count": 7},
    ),
    Written(
        "conversation",
        Conversation,
        lambda project: {"session": session(project), "text": "Go on.", "token_count": 3, "hash": "a"},
        lambda project: {"text": "Stop.", "hash": "b"},
    ),
    Written(
        "context item",
        ContextItem,
        lambda project: {"session": session(project), "position": 0, "content": "A task.", "token_count": 3},
        lambda project: {"content": "Another task.", "importance": 9},
    ),
    Written(
        "workspace state",
        WorkspaceState,
        lambda project: {"session": session(project), "branch": "main"},
        lambda project: {"branch": "next", "settings": {"a": 1}},
    ),
    Written(
        "file of a session",
        SessionResource,
        lambda project: {"session": session(project), "resource": resource(project)},
        lambda project: {"relevance": 50, "included": True},
    ),
    Written(
        "access",
        Access,
        lambda project: {"session": session(project), "resource": resource(project), "access": 1},
        lambda project: {"access": 4},
    ),
    Written(
        "dependency",
        ResourceDependency,
        lambda project: {
            "source": resource(project),
            "target": resource(project, "orm/needed.py"),
            "type": "imports",
        },
        lambda project: {"strength": 5},
    ),
)

WRITTEN = (*KNOWLEDGE, *SESSIONS)

Step = tuple[str, Callable[[], object]]


def steps(written: Written, project: Project) -> Iterator[Step]:
    """The name and function of each write; its preconditions are created before it is yielded."""
    values, changes = written.make(project), written.change(project)
    made: list[Any] = []
    yield "create", lambda: made.append(written.model._base_manager.create(project=project, **values))
    [row] = made
    yield "save, nothing changed", row.save
    row = written.model._base_manager.get(pk=row.pk)
    for name, value in changes.items():
        setattr(row, name, value)
    yield f"save {', '.join(changes)}", row.save
    first = next(iter(changes))
    setattr(row, first, values.get(first, getattr(row, first)))
    yield f"save update_fields={first}", lambda: row.save(update_fields=[first])
    for name, model in written.links.items():
        yield from _links(written, project, row, name, model)
    yield "delete", written.model._base_manager.get(pk=row.pk).delete
    if written.noun != "relationship":
        again = written.model._base_manager.create(project=project, **values)
        yield "delete by queryset", written.model._base_manager.filter(pk=again.pk).delete


def steps_of_kept_row(written: Written, project: Project) -> Iterator[Step]:
    """A row that is created, changed and linked, but not deleted."""
    made: list[Any] = []
    values = written.make(project)
    yield "make one", lambda: made.append(written.model._base_manager.create(project=project, **values))
    [row] = made
    for name, value in written.change(project).items():
        setattr(row, name, value)
    yield "change it", row.save
    for name, model in written.links.items():
        word = model._base_manager.create(project=project, name=f"{written.noun} stays")
        own = {"project": project, **written.through(project)}
        yield f"add to its {name}", partial(getattr(row, name).add, word, through_defaults=own)


def _links(written: Written, project: Project, row: Any, name: str, model: type[Model]) -> Iterator[Step]:
    words = [model._base_manager.create(project=project, name=f"{written.noun} {n}") for n in (1, 2)]
    own = {"project": project, **written.through(project)}
    near, far = getattr(row, name), getattr(words[1], _accessor(written.model, name))
    yield f"{name}.add", lambda: near.add(words[0], through_defaults=own)
    yield f"{name}.add again", lambda: near.add(words[0], through_defaults=own)
    yield f"{name}.add from the other end", lambda: far.add(row, through_defaults=own)
    yield f"{name}.remove", lambda: near.remove(words[0])
    yield f"{name}.remove from the other end", lambda: far.remove(row)
    yield f"{name}.set", lambda: near.set(words, through_defaults=own)
    yield f"{name}.clear from the other end", far.clear
    yield f"{name}.clear", near.clear


def _accessor(model: type[Model], name: str) -> str:
    relation = model._meta.get_field(name).remote_field
    assert isinstance(relation, ForeignObjectRel)
    return str(relation.get_accessor_name())
