"""Pages and forms of the admin: adding, changing, actions on several rows, deleting, and messages."""

from typing import Any

from django.db.models import Model

from ctxhub.core.models import AccessToken, Agent, Category, Layer, Project, Scope, Tag
from memory.models import (
    Constraint,
    Context,
    Decision,
    DecisionTemplate,
    Memory,
    Relationship,
    Scratchpad,
    Workflow,
)
from messaging.models import Message
from tests.golden.hour import Hour
from tracking.models import FileChange, Lease, Resource

DELETED: tuple[type[Model], ...] = (
    Relationship,
    Memory,
    Context,
    Decision,
    DecisionTemplate,
    Constraint,
    Scratchpad,
    Workflow,
    Message,
)


def list_of(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def page_of(row: Model, rest: str = "change/") -> str:
    return f"{list_of(type(row))}{row.pk}/{rest}"


def newest(model: type[Any], **values: Any) -> Any:
    return model.unscoped.filter(project__slug="apollo", **values).latest("pk")


def selected(action: str, *rows: Model, **more: Any) -> dict[str, Any]:
    return {"action": action, "_selected_action": [row.pk for row in rows], **more}


def edit_knowledge(hour: Hour) -> None:
    hour.chapter("Decisions and constraints in the admin")
    new = {"key": "admin/1", "kind": "text", "status": "active", "seen_revision": 0}
    hour.sends("vi", f"{list_of(Decision)}add/", {**new, "value": "typed", "tags": "api, typed"})
    hour.sends("vi", f"{list_of(Decision)}add/", {**new, "value": "typed"})
    hour.sends("vi", f"{list_of(Decision)}add/", {**new, "key": "admin/2", "kind": "number", "value": "x"})
    hour.sends("vi", f"{list_of(Decision)}add/", {**new, "key": "admin/2", "kind": "number", "value": "2"})
    row, other = newest(Decision, key="admin/1"), newest(Decision, key="admin/2")
    hour.sends("vi", page_of(row), hour.form_of("vi", page_of(row)))
    changed = {"value": "typed again", "metadata": '{"a": 1}', "alternatives": "Nothing | x", "pros": "p"}
    hour.sends("vi", page_of(row), hour.form_of("vi", page_of(row), **changed))
    hour.sends("vi", page_of(row), hour.form_of("vi", page_of(row), metadata="[1]", layer="nosuch"))
    confirmed = {"confirmed": "yes", "reason": "Old.", "superseded_by": "admin/2"}
    hour.sends("vi", page_of(row, "deprecate/"), {"confirmed": "yes"})
    hour.sends("vi", page_of(row, "deprecate/"), confirmed)
    hour.sends("vi", list_of(Decision), selected("deprecate_selected", row, other, **confirmed))
    del confirmed["superseded_by"]
    hour.sends("vi", list_of(Decision), selected("deprecate_selected", row, other, **confirmed))
    hour.sends("mel", page_of(row, "deprecate/"), confirmed)
    hour.opens("vi", f"{list_of(Decision)}?q=typed")
    hour.opens("vi", f"{list_of(Decision)}?tag=api&status__exact=1")
    hour.opens("vi", page_of(row, ""))
    hour.opens("vi", page_of(row, "history/"))
    rule = {"category": "Privacy", "text": "Names are\r\nnever logged.", "priority": "high"}
    hour.sends("vi", f"{list_of(Constraint)}add/", {**rule, "layer": "data", "tags": "logging, people"})
    hour.sends("vi", f"{list_of(Constraint)}add/", {**rule, "text": "", "priority": "huge"})
    rows = [newest(Constraint), Constraint.unscoped.get(pk=1)]
    hour.sends("vi", page_of(rows[0], "deactivate/"), {"confirmed": "yes", "reason": "Gone."})
    hour.sends("vi", page_of(rows[0], "activate/"), {})
    sent = selected("deactivate_selected", *rows, confirmed="yes", reason="Both.")
    hour.sends("vi", list_of(Constraint), sent)
    hour.sends("vi", list_of(Constraint), sent)
    hour.sends("vi", list_of(Constraint), selected("activate_selected", *rows))
    hour.opens("vi", f"{list_of(Constraint)}?q=logged&category=privacy")
    rule = {"name": "Typed", "require": "rationale, x", "defaults": '{"tags": ["a"]}', "patterns": "x: ^y"}
    hour.sends("vi", f"{list_of(DecisionTemplate)}add/", rule)
    hour.sends("vi", f"{list_of(DecisionTemplate)}add/", rule)
    template = newest(DecisionTemplate, name="Typed")
    hour.sends(
        "vi", page_of(template), hour.form_of("vi", page_of(template), require="rationale", patterns="")
    )


def edit_memories(hour: Hour) -> None:
    hour.chapter("Contexts, memories and relationships in the admin")
    hour.sends("vi", f"{list_of(Context)}add/", {"name": "Typed", "stack": "Go", "tags": "api, new"})
    hour.sends("vi", f"{list_of(Context)}add/", {"name": "typed"})
    context = newest(Context)
    hour.sends("vi", page_of(context), hour.form_of("vi", page_of(context)))
    hour.sends("vi", page_of(context), hour.form_of("vi", page_of(context), name="Typed, too", tags=""))
    new = {"title": "Typed", "content": "By hand.\r\nTwice.", "context": "typed, too", "type": "note"}
    hour.sends("vi", f"{list_of(Memory)}add/", {**new, "difficulty": "hard", "tags": "a"})
    hour.sends("vi", f"{list_of(Memory)}add/", {**new, "title": "", "metadata": "x"})
    memory = newest(Memory)
    hour.sends("vi", page_of(memory), hour.form_of("vi", page_of(memory)))
    hour.sends("vi", page_of(memory), hour.form_of("vi", page_of(memory), content="By hand.", paths="a/**"))
    late = hour.form_of("vi", page_of(memory), title="Late", seen="2026-01-01T00:00:00+00:00")
    hour.sends("vi", page_of(memory), late)
    hour.sends("vi", page_of(memory, "restore/"), {"revision": 1, "seen": 2})
    hour.sends("vi", page_of(memory, "restore/"), {"revision": 2, "seen": 2})
    hour.opens("vi", page_of(memory, "revisions/"))
    hour.opens("vi", f"{list_of(Memory)}?q=hand")
    hour.opens("vi", f"{list_of(Context)}?q=typed")
    edge = {"source": memory.ref, "target": "memory:1", "relation": "blocks", "strength": 7}
    hour.sends("vi", f"{list_of(Relationship)}add/", edge)
    hour.sends("vi", f"{list_of(Relationship)}add/", {**edge, "target": memory.ref})
    hour.sends("vi", page_of(newest(Relationship)), {"strength": "70"})
    hour.sends("vi", page_of(newest(Relationship)), {"strength": "700"})
    hour.sends("vi", page_of(memory, "relate/"), {"target": context.ref, "relation": "related"})
    hour.opens("vi", list_of(Relationship))


def edit_pads(hour: Hour) -> None:
    hour.chapter("Workflows, scratchpads and messages in the admin")
    hour.sends("vi", f"{list_of(Workflow)}add/", {"name": "Typed", "metadata": '{"keep": "never"}'})
    task = newest(Workflow)
    hour.sends("vi", page_of(task), {"name": "Typed, too", "metadata": '{"ticket": 7}'})
    hour.sends("vi", page_of(task), {"name": "Typed, too", "metadata": '{"ticket": 7}'})
    pad = {"workflow": task.pk, "name": "typed", "content": "one\r\ntwo"}
    hour.sends("vi", f"{list_of(Scratchpad)}add/", pad)
    row = newest(Scratchpad)
    hour.sends("vi", page_of(row), {"content": "one\r\nthree", "seen": 1})
    hour.sends("vi", page_of(row), {"content": "late", "seen": 1})
    hour.sends("vi", page_of(row, "append/"), {"content": "four"})
    hour.sends("vi", page_of(row, "append/"), {"content": ""})
    hour.sends("vi", page_of(row, "restore/"), {"revision": 1, "seen": 3})
    hour.sends("vi", page_of(row, "restore/"), {"revision": 1, "seen": 3})
    hour.sends("vi", page_of(task, "close/"), {})
    hour.sends("vi", page_of(row, "append/"), {"content": "five"})
    hour.sends("vi", page_of(row, "delete/"), {"post": "yes"})
    hour.sends("vi", list_of(Workflow), selected("reopen_selected", task))
    hour.sends("vi", list_of(Workflow), selected("close_selected", task))
    hour.sends("vi", page_of(task, "reopen/"), {})
    hour.opens("vi", f"{list_of(Scratchpad)}?q=two")
    hour.sends("vi", f"{list_of(Scratchpad)}add/", {**pad, "name": "to go"})
    hour.sends("vi", page_of(newest(Scratchpad), "delete/"), {"post": "yes"})
    note = {"text": "Typed.", "to": "ada, nobody", "type": "info", "priority": "high", "ack": "on"}
    hour.sends("vi", f"{list_of(Message)}add/", {**note, "ack_within": "2h"})
    hour.sends("vi", f"{list_of(Message)}add/", {**note, "priority": "huge"})
    hour.sends("vi", page_of(newest(Message), ""), {"text": "And more.", "to": ""})
    hour.opens("vi", f"{list_of(Message)}?q=typed")
    hour.opens("vi", f"{list_of(FileChange)}?q=src")
    hour.opens("vi", list_of(Resource))
    lease = Lease.unscoped.get(pk=1)
    hour.sends("mel", list_of(Lease), selected("force_release_selected", lease, confirmed="yes"))
    hour.sends("vi", list_of(Lease), selected("force_release_selected", lease))
    hour.sends("vi", list_of(Lease), selected("force_release_selected", lease, confirmed="yes"))


def rename_vocabulary(hour: Hour) -> None:
    """Rows are found by the new names of their vocabulary, and lists by category change their order."""
    hour.chapter("Vocabulary, renamed")
    for model, old, new in (
        (Tag, "api", "API-v2"),
        (Scope, "api/auth", "auth"),
        (Category, "Performance", "Speed"),
        (Layer, "data", "Storage"),
    ):
        word = newest(model, folded=old.casefold())
        hour.sends("vi", page_of(word), {"name": new})
        hour.sends("vi", page_of(word), {"name": new})
        hour.sends("vi", page_of(word), {"name": ""})
        hour.sends("vi", page_of(word, "delete/"), {"post": "yes"})
        hour.sends("mel", page_of(word), {"name": "x"})
        hour.sends("vi", f"{list_of(model)}add/", {"name": f"New {model._meta.model_name}"})
        hour.sends("vi", page_of(newest(model), "delete/"), {"post": "yes"})
    hour.sends("vi", page_of(newest(Tag, folded="api-v2")), {"name": "Security"})
    hour.opens("vi", list_of(Agent))
    hour.tool("ben", "decision", "list", tags=["api-v2"], limit=2)
    hour.tool("ben", "constraint", "list", limit=3)
    hour.tool("ben", "search", query="speed", kinds=["constraint"], detail="ids")
    project = Project.objects.get(slug="apollo")
    config = f"/admin/core/project/{project.pk}/change/"
    members = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    form = hour.form_of("vi", config, message_hours=12, holidays="2026-12-25")
    hour.sends("vi", config, {**form, **members})
    hour.sends(
        "vi", "/admin/core/accesstoken/", selected("revoke_selected", newest(AccessToken), confirmed="yes")
    )


def delete_rows(hour: Hour) -> None:
    """Delete one row of each model on its page and another one in the list, with their related rows."""
    hour.chapter("Deleted in the admin")
    for model in DELETED:
        rows: list[Any] = list(two_old_rows(model))
        hour.sends("mel", page_of(rows[0], "delete/"), {"post": "yes"})
        hour.sends("vi", page_of(rows[0], "delete/"), {"post": "yes"})
        hour.sends("vi", list_of(model), selected("delete_selected", rows[1], post="yes"))
        hour.sends("vi", page_of(rows[0], "delete/"), {"post": "yes"})


def two_old_rows(model: type[Any]) -> Any:
    return model.unscoped.filter(project__slug="apollo").order_by("pk")[1:3]


def open_as_strangers(hour: Hour) -> None:
    hour.chapter("Strangers in the admin")
    for model in (Decision, Constraint, Context, Memory, Scratchpad, Workflow, Message):
        row = newest(model)
        hour.opens("guest", list_of(model))
        hour.opens("guest", page_of(row, ""))
        hour.sends("guest", page_of(row, "delete/"), {"post": "yes"})
