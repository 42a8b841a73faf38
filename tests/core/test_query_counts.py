"""The number of queries of an action does not grow with the number of rows."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest import Subtests  # noqa: PT013  # A name for a type.
from pytest_django import Settings

from ctxhub.core.events import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services import deprecate_decision, set_decision, set_decision_batch
from memory.memories.services import add_memory, update_memory
from memory.models import Constraint, Memory, Scratchpad, Snapshot, Workflow
from memory.predictions.services import predict_snapshots
from memory.relationships.services import relate
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.templates.services import set_template
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message_batch
from messaging.models import Message
from sessions.accesses.services import add_dependency, track_access
from sessions.sittings.services import save_session
from sessions.windows import opening
from tests.databases import rolled_back
from tests.memory.snapshots import write as write_snapshots
from tests.periodic import prevent_periodic_work
from tracking.changes.services import record_change_batch
from tracking.leases.services import acquire_lease
from tracking.models import Lease

pytestmark = pytest.mark.one_engine

MOST_QUERIES = 28
NEW_TEXT = (
    "We decided to cache what is known in `shop/basket.py`. It is written to Redis, the HTTP layer asks."
)


def fill(caller: Caller, count: int) -> None:
    """Creates `count` objects of each kind, with their own tags, scopes, history and successors."""
    for start in range(0, count, 50):
        some = range(start, min(start + 50, count))
        for value in ("old", "new"):
            items = [
                {
                    "key": f"api/k{n}",
                    "value": f"{value} {n}",
                    "tags": ["api", f"t{n}"],
                    "scopes": ["api", f"s{n}"],
                }
                for n in some
            ]
            set_decision_batch(caller=caller, items=items)
    for n in range(1, count):
        deprecate_decision(caller=caller, key=f"api/k{n}", superseded_by="api/k0")
        set_decision(caller=caller, key=f"api/k{n}", value=f"new {n}", status="active")
        set_decision(caller=caller, key="api/k0", value=f"version {n}")
    for n in range(count):
        made = add_constraint(
            caller=caller,
            category="security" if n else "own",
            text=f"text {n}",
            tags=["api", f"t{n}"],
            scopes=["api", f"s{n}"],
        )
    deactivate_constraint(caller=caller, constraint_id=made["id"])
    for n in range(count):
        set_template(caller=caller, name=f"t{n}", defaults={"tags": [f"t{n}"]})
        set_decision(caller=caller, key=f"n/{n}", value=n, layer="data")
    for start in range(0, count, 50):
        some = range(start, min(start + 50, count))
        items = [{"path": f"src/f{n}", "change": "modified", "layer": "data"} for n in some]
        record_change_batch(caller=caller, items=items)
    for n in range(count):
        other_agent = Caller(project=caller.project, agent=f"agent {n}")
        acquire_lease(caller=other_agent, paths=[f"lib{n}/**", f"src/f{n}"], exclusive=False)
    acquire_lease(caller=caller, paths=["own/**"])
    for n in range(count):
        call(caller, "hub", {"agent": f"agent {n}"})
    names = [f"agent {n}" for n in range(min(count, 50))]
    for start in range(0, count, 50):
        some = range(start, min(start + 50, count))
        items = [{"text": f"m{n}", "to": ["ada"] if n % 2 else names, "type": "request"} for n in some]
        other = Caller(project=caller.project, agent="other")
        first = send_message_batch(caller=other, items=items)["results"][1]["id"]
        replies = [{"text": f"r{n}", "reply_to": first, "to": ["ada"], "ack": True} for n in some]
        send_message_batch(caller=other, items=replies)
        send_message_batch(caller=other, items=[{"text": f"all {n}"} for n in some])
    for n in range(count):
        add_memory(
            caller=caller,
            title=f"What is known of {n}",
            content=f"It is known and written, {n} times.",
            context="known" if n % 2 else f"c{n}",
            stack="django",
            difficulty="hard",
            tags=["api", f"t{n}"],
        )
    for n in range(count):
        relate(caller=caller, source=oldest_memory(caller), target=f"decision:n/{n}")
    for n in range(min(count, 40)):
        update_memory(caller=caller, memory_id=oldest_memory(caller), content=f"It was known {n} times.")
    for n in range(count):
        workflow = create_workflow(caller=caller, name=f"w{n}", metadata={"team": f"t{n}"})["workflow_id"]
        pad = create_scratchpad(caller=caller, workflow_id=workflow, name=f"pad {n}", content=f"new {n}")
    for n in range(count):
        append_to_scratchpad(caller=caller, scratchpad_id=pad["scratchpad_id"], content=f"line {n}")
    for n in range(1, min(count, 50)):
        create_scratchpad(caller=caller, workflow_id=workflow, name=f"own {n}", content=f"# h{n}\nnew")
    fill_sessions(caller, count)
    fill_snapshots(caller, count)
    fill_bin(caller, count)
    call(caller, "hub", {"agent": "somebody else"})


def fill_bin(caller: Caller, count: int) -> None:
    """A deleted context of `count` memories, and a decision with as many relationships."""
    set_decision(caller=caller, key="binned", value=1, tags=["api"])
    for n in range(count):
        made = add_memory(caller=caller, title=f"b{n}", content="x", context="binned", tags=[f"t{n}"])
        relate(caller=caller, source=made["id"], target="decision:binned")
    call(caller, "delete", {"refs": ["context:binned"]})
    for n in range(count):
        relate(caller=caller, source="decision:binned", target=f"decision:n/{n}")
    call(caller, "delete", {"refs": ["decision:binned"]})


def fill_sessions(caller: Caller, count: int) -> None:
    """A session with `count` of everything, as many that continue it, and a line of as many."""
    items: Any = [{"content": f"item {n}"} for n in range(min(count, 50))]
    files: Any = [{"path": f"saved{n}.py", "hash": f"{n}"} for n in range(count)]
    for n in range(count):
        save_session(
            caller=caller, session="full", conversation=f"new {n}", items=items, files=files, branch=f"b{n}"
        )
        save_session(caller=caller, session=f"s{n}", workspace_id="shop", parent="full", summary="new")
        save_session(caller=caller, session=f"line {n}", parent=f"line {n - 1}" if n else None, summary="s")
        track_access(caller=caller, session="full", path=f"t{n}.py", access="edited", content=f"new = {n}")
        add_dependency(caller=caller, source="t0.py", target=f"t{n + 1}.py", type="imports", strength=3)
        add_dependency(caller=caller, source=f"t{n}.py", target=f"t{n + 1}.py", type="calls")


def fill_snapshots(caller: Caller, count: int) -> None:
    """Snapshots of which each causes the next one, as many that rest on the first, and expired ones."""
    first: int | None = None
    cause: int | None = None
    for n in range(count):
        tags = ["api", f"t{n}"]
        caused_by = f"snapshot:{cause}" if cause else None
        saved = save_snapshot(caller=caller, content=f"new {n}", source="mcp", caused_by=caused_by, tags=tags)
        cause = saved["id"]
        first = first or cause
        save_snapshot(caller=caller, content=f"effect {n}", source="mcp", dependencies=[first])
    long_ago = clock.now() - timedelta(days=365)
    some = write_snapshots(caller, count, touched_at=long_ago)
    assert len(some) == count
    predict_snapshots(caller=caller)


Arguments = Callable[[int], dict[str, Any]]


def oldest_constraint(caller: Caller) -> int:
    return Constraint.objects.in_project(caller.project).earliest("pk").pk


def newest_constraint(caller: Caller) -> int:
    return Constraint.objects.in_project(caller.project).latest("pk").pk


def oldest_memory(caller: Caller) -> int:
    return Memory.objects.in_project(caller.project).earliest("pk").pk


def oldest_snapshot(caller: Caller) -> int:
    return Snapshot.objects.in_project(caller.project).earliest("pk").pk


def first_snapshots(caller: Caller) -> list[str]:
    """The refs of up to 49 snapshots, for which a read is counted."""
    return [snapshot.ref for snapshot in Snapshot.objects.in_project(caller.project).order_by("pk")[:49]]


def caused_snapshot(caller: Caller) -> int:
    """The last snapshot of the chain."""
    return Snapshot.objects.in_project(caller.project).filter(caused_by__isnull=False).latest("pk").pk


def full_workflow(caller: Caller) -> int:
    """The workflow with most scratchpads."""
    return Workflow.objects.in_project(caller.project).latest("pk").pk


def other_workflow(caller: Caller) -> int:
    return Workflow.objects.in_project(caller.project).earliest("pk").pk


def written_pad(caller: Caller) -> int:
    """The scratchpad with most revisions."""
    return Scratchpad.objects.in_project(caller.project).latest("revision").pk


def all_pads(caller: Caller) -> list[int]:
    pads = Scratchpad.objects.in_project(caller.project).filter(workflow=full_workflow(caller)).order_by("pk")
    return list(pads.values_list("pk", flat=True))


def own_lease(caller: Caller) -> int:
    return Lease.objects.in_project(caller.project).get(agent__name="ada").pk


def request_to_me(caller: Caller) -> int:
    return _messages(caller)[0]


def reply_to_me(caller: Caller) -> int:
    return Message.objects.in_project(caller.project).filter(ack=True).earliest("pk").pk


def messages_to_me(caller: Caller) -> list[int]:
    return _messages(caller)


def replies_to_me(caller: Caller) -> list[int]:
    replies = Message.objects.in_project(caller.project).filter(ack=True).order_by("pk")
    return list(replies.values_list("pk", flat=True)[:200])


def _messages(caller: Caller) -> list[int]:
    mine = Message.objects.in_project(caller.project).filter(deliveries__folded="ada", type=3).order_by("pk")
    return list(mine.values_list("pk", flat=True)[:200])


def ref_of(kind: str, find: Callable[[Caller], int]) -> Callable[[Caller], list[str]]:
    """The ref of the object that `find` finds, as the only one of a list."""

    def refs(caller: Caller) -> list[str]:
        return [f"{kind}:{find(caller)}"]

    refs.__name__ = find.__name__
    return refs


# The arguments of each action; `n` is the number of rows. A function as a value is called with the caller.
ASKED: dict[str, list[Arguments]] = {
    "decision.set": [
        lambda n: {"key": "new", "value": "x"},
        lambda n: {"key": "api/k0", "value": "x", "tags": ["a", "b"], "scopes": ["c"], "layer": "data"},
        lambda n: {"key": "new", "value": "x", "tags": [f"tag {i}" for i in range(min(n, 50))]},
        lambda n: {"key": "k0/api", "value": "x"},
    ],
    "decision.set_batch": [
        lambda n: {"items": [{"key": f"new{i}", "value": i} for i in range(min(n, 50))]},
        lambda n: {"items": [{"key": f"api/k{i}", "value": i, "tags": [f"u{i}"]} for i in range(min(n, 50))]},
    ],
    "decision.quick_set": [lambda n: {"key": "api/new", "value": 1}],
    "decision.get": [
        lambda n: {"key": "api/k0"},
        lambda n: {"key": "api/k0", "include": ["rationale", "history", "links"]},
        lambda n: {"key": "api/nothing"},
    ],
    "decision.list": [
        lambda n: {"limit": 2},
        lambda n: {"limit": 2, "tags": ["api"], "full": True},
        lambda n: {"limit": 2, "scope": "api", "sort": "key"},
        lambda n: {"limit": min(n - 1, 200), "by": "ada"},
        lambda n: {"limit": 2, "text": "new"},
        lambda n: {"status": "draft"},
    ],
    "decision.suggest": [
        lambda n: {"key": "api/k1"},
        lambda n: {"key": "api/other", "tags": ["api", "t1"], "layer": "data", "text": "new api"},
        lambda n: {"text": "new", "min_score": 0, "limit": min(n, 200)},
    ],
    "decision.versions": [lambda n: {"key": "api/k0"}],
    "decision.deprecate": [lambda n: {"key": "api/k0", "reason": "x"}],
    "constraint.add": [
        lambda n: {"category": "new", "text": "x"},
        lambda n: {"category": "new", "text": "x", "tags": ["a", "b"], "scopes": ["c"], "layer": "data"},
        lambda n: {"category": "new", "text": "x", "tags": [f"tag {i}" for i in range(min(n, 50))]},
        lambda n: {"category": "own", "text": "text 0"},
        lambda n: {"category": "security", "text": f"text {n - 1}"},
    ],
    "constraint.list": [
        lambda n: {"limit": 2},
        lambda n: {"limit": 2, "tags": ["api"], "full": True},
        lambda n: {"limit": 2, "scope": "api", "category": "security", "priority": "medium"},
        lambda n: {"limit": min(n - 2, 200), "by": "ada"},
        lambda n: {"status": "inactive"},
    ],
    "constraint.deactivate": [lambda n: {"id": oldest_constraint, "reason": "x"}],
    "constraint.activate": [lambda n: {"id": newest_constraint}],
    "decision.analytics": [
        lambda n: {"pattern": "api/*"},
        lambda n: {"pattern": "n/*", "bucket": "day", "layer": "data", "since": "1h"},
    ],
    "decision.template_set": [
        lambda n: {"name": "t0", "require": ["rationale"]},
        lambda n: {"name": "new", "defaults": {"tags": ["a", "b"]}, "patterns": {"key": "x"}},
    ],
    "decision.templates": [lambda n: {"limit": 2}, lambda n: {"limit": min(n, 200)}],
    "decision.from_template": [
        lambda n: {"name": "t0", "key": "new", "value": n},
        lambda n: {"name": "deprecation", "key": "api/k0", "value": "x", "tags": ["a", "b"]},
    ],
    "file.record": [
        lambda n: {"path": "src/f0", "change": "modified"},
        lambda n: {"path": "new", "change": "created", "layer": "data"},
    ],
    "file.record_batch": [
        lambda n: {"items": [{"path": f"new{i}", "change": "created"} for i in range(min(n, 50))]},
        lambda n: {"items": [{"path": f"src/f{i}", "change": "deleted"} for i in range(min(n, 50))]},
    ],
    "file.changes": [
        lambda n: {"limit": 2},
        lambda n: {"limit": min(n - 1, 200), "path": "src/*"},
        lambda n: {"path": "src/f1", "by": "ada", "layer": "data", "since": "1h"},
    ],
    "file.check_lock": [lambda n: {"path": "src/f1"}, lambda n: {"path": "src/none"}],
    "file.lease": [
        lambda n: {"paths": ["docs/**"]},
        lambda n: {"paths": [f"docs/{i}" for i in range(min(n, 50))], "exclusive": False},
    ],
    "file.renew": [lambda n: {"lease_id": own_lease}],
    "file.release": [lambda n: {"lease_id": own_lease}, lambda n: {"all": True}],
    "file.leases": [
        lambda n: {"limit": 2},
        lambda n: {"path": "src/**", "limit": min(n - 1, 200)},
        lambda n: {"by": "ada"},
    ],
    "message.send": [
        lambda n: {"text": "x"},
        lambda n: {"text": "x", "to": [f"agent {i}" for i in range(min(n, 50))]},
        lambda n: {"text": "x", "reply_to": reply_to_me},
    ],
    "message.send_batch": [
        lambda n: {"items": [{"text": "x"} for _ in range(min(n, 50))]},
        lambda n: {"items": [{"text": "x", "to": [f"new {i}", "agent 1"]} for i in range(min(n, 50))]},
    ],
    "message.inbox": [
        lambda n: {"limit": 2},
        lambda n: {"limit": min(n, 200), "unread": False},
        lambda n: {"state": "open", "since": "1h"},
    ],
    "message.read": [lambda n: {"ids": messages_to_me}, lambda n: {"all": True}],
    "message.ack": [lambda n: {"ids": replies_to_me}],
    "message.thread": [lambda n: {"id": reply_to_me}, lambda n: {"id": request_to_me, "limit": 2}],
    "message.status": [lambda n: {"id": reply_to_me}],
    "message.claim": [lambda n: {"next": True}, lambda n: {"id": request_to_me}],
    "message.done": [lambda n: {"id": request_to_me, "result_refs": [f"message:{n}"]}],
    "memory.add": [
        lambda n: {"title": "New", "content": "It is new."},
        lambda n: {"title": "New", "content": "It is known and written.", "context": "known", "tags": ["a"]},
        lambda n: {"title": "New", "content": "x", "tags": [f"tag {i}" for i in range(min(n, 50))]},
    ],
    "memory.get": [lambda n: {"id": oldest_memory}],
    "memory.update": [
        lambda n: {"id": oldest_memory, "content": "It is new.", "tags": ["a", "b"]},
        lambda n: {"id": oldest_memory, "context": "known", "metadata": {"a": 1}},
    ],
    "memory.revisions": [
        lambda n: {"id": oldest_memory, "limit": 2},
        lambda n: {"id": oldest_memory, "revision": 3},
    ],
    "memory.restore": [lambda n: {"id": oldest_memory, "revision": 3}],
    "memory.list": [
        lambda n: {"limit": 2},
        lambda n: {"limit": 2, "tags": ["api", "t1"], "stack": "django", "difficulty": "hard"},
        lambda n: {"limit": min(n - 1, 200), "type": "note"},
        lambda n: {"limit": 1, "context": "known", "tags": ["api"]},
    ],
    "memory.search": [
        lambda n: {"query": "what is known?", "limit": min(n, 200), "detail": "detailed"},
        lambda n: {"query": "writen", "context": "known", "type": "note", "stack": "django", "tags": ["api"]},
    ],
    "memory.fuzzy": [
        lambda n: {"query": "knwon writen", "limit": min(n, 200)},
        lambda n: {"query": "known written", "tolerance": 0, "context": "known", "type": "note"},
    ],
    "memory.grep": [lambda n: {"pattern": "so", "limit": min(n, 200)}],
    "memory.context_create": [lambda n: {"name": "new", "tags": ["a", "b"], "stack": "django"}],
    "memory.contexts": [lambda n: {"limit": 2}, lambda n: {"text": "known"}],
    "memory.context_get": [lambda n: {"context": "known"}],
    "memory.context_update": [lambda n: {"context": "known", "name": "other", "tags": ["a", "b"]}],
    "memory.similar": [
        lambda n: {"id": oldest_memory, "threshold": 0, "limit": min(n, 200)},
        lambda n: {"text": "What is known and written?", "threshold": 0},
    ],
    "memory.relate": [lambda n: {"source": oldest_memory, "target": "decision:api/k0", "strength": 80}],
    "memory.unrelate": [lambda n: {"source": oldest_memory, "target": "decision:n/1"}],
    "memory.relationships": [
        lambda n: {"id": oldest_memory, "depth": 5, "limit": min(n, 200)},
        lambda n: {"id": oldest_memory, "threshold": 0.2, "limit": 4, "create": True},
    ],
    "memory.suggest_context": [
        lambda n: {"text": "It is known and written."},
        lambda n: {"text": "The basket is cached in Redis."},
    ],
    "memory.capture": [
        lambda n: {"content": NEW_TEXT},
        lambda n: {"content": NEW_TEXT, "dry_run": True},
        lambda n: {"content": "It is known and written, 1 times. It is known and written, 1 times."},
    ],
    "scratchpad.create_workflow": [lambda n: {"name": "w", "metadata": {"keep": "never"}}],
    "scratchpad.workflows": [
        lambda n: {"limit": 2},
        lambda n: {"limit": min(n, 200), "active": True},
        lambda n: {"limit": 2, "text": "new"},
    ],
    "scratchpad.close_workflow": [lambda n: {"workflow_id": full_workflow}],
    "scratchpad.create": [lambda n: {"workflow_id": other_workflow, "name": "x", "content": "y " * n}],
    "scratchpad.list": [
        lambda n: {"workflow_id": full_workflow, "limit": 2},
        lambda n: {"workflow_id": full_workflow, "limit": 2, "include_content": True},
    ],
    "scratchpad.get": [
        lambda n: {"scratchpad_id": written_pad},
        lambda n: {"scratchpad_ids": all_pads, "tail": 1},
    ],
    "scratchpad.append": [lambda n: {"scratchpad_id": written_pad, "content": "new"}],
    "scratchpad.update": [
        lambda n: {"scratchpad_id": written_pad, "content": "other"},
        lambda n: {"scratchpad_id": written_pad, "content": "other", "mode": "insert", "line": n},
    ],
    "scratchpad.revisions": [
        lambda n: {"scratchpad_id": written_pad, "limit": min(n, 200)},
        lambda n: {"scratchpad_id": written_pad, "revision": n},
    ],
    "scratchpad.restore": [lambda n: {"scratchpad_id": written_pad, "revision": n}],
    "scratchpad.search": [
        lambda n: {"query": "new", "limit": min(n, 200)},
        lambda n: {"query": "new", "workflow_id": full_workflow},
        lambda n: {"query": "line", "scratchpad_id": written_pad, "limit": 2},
    ],
    "snapshot.save": [
        lambda n: {"content": "It is new."},
        lambda n: {"content": "It is new.", "caused_by": oldest_snapshot, "tags": ["a", "b"]},
        lambda n: {"content": "api t1 t2", "dependencies": [], "session": "full"},
        lambda n: {"content": "x", "tags": [f"tag {i}" for i in range(min(n, 50))], "session": "another"},
    ],
    "snapshot.load": [
        lambda n: {"limit": min(n, 10), "view": "archaeologist"},
        lambda n: {"limit": min(n, 10), "view": "auditor"},
        lambda n: {"limit": min(n, 10), "view": "prophet"},
    ],
    "snapshot.search": [
        lambda n: {"query": "new", "limit": min(n, 200)},
        lambda n: {"query": "new", "view": "prophet", "limit": 2},
    ],
    "snapshot.list": [
        lambda n: {"limit": 2},
        lambda n: {"limit": min(n - 1, 200), "tags": ["api", "t1"], "by": "ada", "tier": "active"},
        lambda n: {"limit": 2, "text": "new", "action_type": "conversation", "since": "1h"},
    ],
    "snapshot.get": [lambda n: {"id": oldest_snapshot}],
    "snapshot.why": [lambda n: {"id": oldest_snapshot}],
    "snapshot.chain": [lambda n: {"id": caused_snapshot}],
    "snapshot.impact": [lambda n: {"id": oldest_snapshot}],
    "snapshot.graph": [lambda n: {"limit": min(n, 200)}, lambda n: {"mermaid": True}],
    "snapshot.tiers": [lambda n: {}],
    "snapshot.retier": [lambda n: {}],
    "snapshot.prune": [lambda n: {"limit": n}, lambda n: {"limit": n, "dry_run": False}],
    "snapshot.predict": [lambda n: {}, lambda n: {"stale_hours": 0}],
    "snapshot.prefetch": [lambda n: {"min_score": 0, "limit": min(n, 200)}],
    "snapshot.stats": [lambda n: {}],
    "session.save": [
        lambda n: {"summary": "new"},
        lambda n: {"session": "full", "conversation": "other", "items": [{"content": "x"}] * min(n, 50)},
        lambda n: {"session": "full", "files": [{"path": f"n{i}", "hash": "1"} for i in range(n)]},
        lambda n: {"parent": f"line {n - 1}", "files": [{"path": "x", "hash": "", "content": "x"}]},
    ],
    "session.restore": [
        lambda n: {"session": "full", "budget_tokens": 20_000},
        lambda n: {"workspace_id": "shop", "files": [{"path": f"{i}", "hash": ""} for i in range(n)]},
    ],
    "session.list": [
        lambda n: {"limit": 2},
        lambda n: {"workspace_id": "shop", "by": "ada", "parent": "full", "limit": min(n, 200)},
        lambda n: {"implicit": True, "limit": min(n, 200)},
    ],
    "session.get": [lambda n: {"session": "full", "full": True}],
    "session.lineage": [lambda n: {"session": f"line {n - 1}", "limit": min(n, 200)}],
    "session.track": [
        lambda n: {"path": "t1.py", "access": "edited", "session": "full", "content": "new " * n},
        lambda n: {"path": "other.py", "access": "viewed"},
    ],
    "session.accesses": [
        lambda n: {"limit": min(n, 200)},
        lambda n: {"path": "t1.py", "session": "full", "access": "edited", "since": "1h"},
    ],
    "session.resources": [
        lambda n: {"session": "full", "limit": min(n, 200)},
        lambda n: {"session": "full", "sort": "recent", "limit": 2},
    ],
    "session.depend": [lambda n: {"source": "t0.py", "target": "t1.py", "type": "imports"}],
    "session.dependencies": [lambda n: {"path": "t0.py", "depth": 3}],
    "session.begin": [lambda n: {"session": f"claude-{n}", "continues": "full"}],
    "session.prioritize": [
        lambda n: {"budget_tokens": 1_000 * n, "query": "new", "session": "full"},
        lambda n: {"budget_tokens": 10, "content": True, "session": "full"},
    ],
    "brief": [
        lambda n: {},
        lambda n: {"task": "old text of src/new.py", "budget_tokens": min(60 * n, 20_000)},
        lambda n: {"since": "e0"},
    ],
    "check": [
        lambda n: {"paths": ["**"]},
        lambda n: {"paths": [f"src/{i}.py" for i in range(min(n, 50))], "intent": "old text"},
    ],
    "search": [
        lambda n: {"query": "old", "kinds": ["decision"]},
        lambda n: {"query": "new text", "match": "all", "limit": min(n, 200)},
        lambda n: {"query": "text", "kinds": ["constraint"], "layer": "data", "tags": ["api"], "by": "ada"},
        lambda n: {"query": "txet", "kinds": ["constraint"], "limit": min(n, 200), "since": "1h"},
        lambda n: {"query": "text", "kinds": ["constraint"], "match": "fuzzy", "detail": "detailed"},
        lambda n: {"query": "text", "kinds": ["constraint"], "match": "similar", "detail": "ids"},
    ],
    "delete": [
        lambda n: {"refs": ["decision:api/k0"]},
        lambda n: {"refs": ["decision:api/k1"]},
        lambda n: {"refs": ref_of("memory", oldest_memory)},
        lambda n: {"refs": ["context:known"]},
        lambda n: {"refs": ref_of("scratchpad", written_pad)},
        lambda n: {"refs": ref_of("workflow", full_workflow)},
        lambda n: {"refs": ref_of("snapshot", oldest_snapshot)},
        lambda n: {"refs": ["session:full"]},
        lambda n: {"refs": ["session:full"], "dry_run": True},
        lambda n: {"refs": [f"decision:api/k{i}" for i in range(min(n, 50))]},
        lambda n: {"refs": ["decision:binned"], "undo": True},
        lambda n: {"refs": ["context:binned"], "undo": True},
        lambda n: {"refs": ["context:binned", "decision:binned"], "undo": True, "dry_run": True},
    ],
    "get": [
        lambda n: {"refs": [f"message:{i}" for i in range(1, min(n, 50))]},
        lambda n: {"refs": [f"resource:src/f{i}" for i in range(min(n, 50))]},
        lambda n: {"refs": [f"memory:{i}" for i in range(1, min(n, 50))]},
        lambda n: {"refs": ["context:known", *(f"context:c{i}" for i in range(min(n, 49)))]},
        lambda n: {"refs": [f"lease:{i}" for i in range(1, min(n, 50))]},
        lambda n: {"refs": [f"change:{i}" for i in range(1, min(n, 50))]},
        lambda n: {"refs": [f"template:t{i}" for i in range(min(n, 50))]},
        lambda n: {"refs": [f"decision:api/k{i}" for i in range(min(n, 50))]},
        lambda n: {"refs": first_snapshots},
        lambda n: {"refs": [f"session:s{i}" for i in range(min(n, 50))]},
    ],
    "hub.stats": [lambda n: {}],
    "hub.activity": [lambda n: {"limit": 2}, lambda n: {"agents": ["ada"], "verbs": ["set"], "since": "1h"}],
    "hub.updates": [lambda n: {}, lambda n: {"since": "e0"}],
    "hub.layer_summary": [lambda n: {}],
    "hub.wait": [lambda n: {"since": "e0", "wait_seconds": 0}],
    "hub.view": [
        lambda n: {"name": "layer_summary"},
    ],
    "hub.confirm": [
        lambda n: {"refs": [f"decision:api/k{i}" for i in range(min(n, 50))]},
    ],
    "hub.clear": [lambda n: {}, lambda n: {"dry_run": True}],
    "hub.config": [lambda n: {}],
    "hub.config_set": [lambda n: {"values": {"change_days": 3}}],
    "hub.agents": [lambda n: {}],
    "hub.trends": [lambda n: {}, lambda n: {"by": "tag", "bucket": "month"}],
    "hub.vocabulary": [lambda n: {}],
}


def queries(caller: Caller, name: str, arguments: dict[str, Any]) -> int:
    tool, _, action = name.partition(".")
    prevent_periodic_work(caller)
    resolved = {key: value(caller) if callable(value) else value for key, value in arguments.items()}
    with CaptureQueriesContext(connection) as captured:
        call(caller, tool, {**resolved, **({"action": action} if action else {})})
    return len(captured)


def test_every_action_has_arguments_here() -> None:
    actions = {action.call for tool in all_tools().values() for action in tool.actions.values()}
    assert set(ASKED) == actions


def test_a_due_cleanup_is_not_counted(ada: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": 0})
    first = queries(ada, "decision.set", {"key": "k", "value": 1})
    cleanup._cleaned.clear()
    assert queries(ada, "decision.set", {"key": "k", "value": 2}) == first


def test_an_action_runs_as_many_queries_at_5_rows_as_at_100(
    apollo: Project,
    hermes: Project,
    subtests: Subtests,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.txt").write_text("so\n" * 100)
    settings.GREP_ROOTS = [("", tmp_path)]
    few, many = (Caller(project=project, agent="ada") for project in (apollo, hermes))
    # A busy machine fills them for more than a minute, and cleanup counted the changes of one project alone.
    monkeypatch.setattr(cleanup, "EVERY", timedelta(days=1))
    for caller, count in ((few, 5), (many, 100)):
        prevent_periodic_work(caller)
        fill(caller, count)
    # A session moves its time once a minute, which is no part of the action.
    monkeypatch.setattr(opening, "TOUCHED_EVERY", timedelta(days=1))
    for name, argument_lists in ASKED.items():
        for arguments in argument_lists:
            with subtests.test(name, arguments=arguments(2)), rolled_back():
                counts = queries(few, name, arguments(5)), queries(many, name, arguments(100))
                # A search that has read all its results needs no query to count them.
                saved = 1 if name in ("search", "snapshot.search") else 0
                assert counts[1] - saved <= counts[0] <= counts[1] <= MOST_QUERIES
