"""Tenancy: for a caller of another project, apollo's keys, refs, ids and cursors do not exist."""

import json
from pathlib import Path
from typing import Any

import pytest
from pytest import Subtests  # noqa: PT013  # A name for a type.
from pytest_django import Settings

from ctxhub.core.events.log import latest_cursor
from ctxhub.core.kit.caller import WRITE, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Layer, Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.contexts.services import create_context
from memory.decisions.services import deprecate_decision, set_decision
from memory.memories.services import add_memory, update_memory
from memory.models import Decision
from memory.predictions.services import predict_snapshots
from memory.relationships.services import relate
from memory.scratchpads.services import append_to_scratchpad, create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.templates.services import set_template
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message
from sessions.accesses.services import add_dependency, track_access
from sessions.sittings.services import save_session
from tests.databases import rolled_back
from tests.tables import dump_project
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

Call = tuple[dict[str, Any], dict[str, Any]]

KEY = "moon/landing"
SECRETS = ("moonshot", "eagle", "tranquility", "armstrong")

NOT_FOUND = {"error": "not_found"}
NOTHING = {"count": 0}
OWN = {"result": "created", "version": "1.0.0"}
ROOTS_HINT = "Whoever runs the hub names folders in CTXHUB_GREP_ROOTS."

# Cy's calls of each action with apollo's keys, refs, ids and cursors, and what the answer must hold.
CALLS: dict[str, list[Call]] = {
    "decision.set": [
        ({"key": KEY, "value": "x"}, OWN),
        ({"key": "landing/moon", "value": "x"}, {**OWN, "similar": None}),
        ({"key": KEY, "value": "x", "tags": ["eagle"], "scopes": ["tranquility"]}, OWN),
        ({"key": KEY, "value": "x", "layer": "armstrong-layer"}, {"error": "invalid"}),
        ({"key": KEY, "value": "x", "expected_version": "1.0.1"}, {"error": "conflict"}),
        ({"key": KEY, "value": "x", "agent": "armstrong"}, OWN),
    ],
    "decision.set_batch": [
        (
            {"items": [{"key": KEY, "value": "x"}, {"key": "moon/old", "value": "y"}]},
            {"done": 2, "failed": 0},
        ),
    ],
    "decision.quick_set": [({"key": KEY, "value": 1}, OWN)],
    "decision.get": [
        ({"key": KEY}, {"found": False, "similar": []}),
        ({"key": KEY, "include": ["rationale", "history", "links"]}, {"found": False, "similar": []}),
        ({"key": "moon/landin"}, {"found": False, "similar": []}),
    ],
    "decision.list": [
        ({"status": "any"}, {"count": 1}),
        ({"tags": ["eagle"]}, NOTHING),
        ({"scope": "tranq*"}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"text": "moonshot", "status": "any"}, NOTHING),
        ({"since": "EVENT"}, {"count": 1}),
        ({"status": "any", "cursor": "CURSOR"}, NOTHING),
        ({"layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "decision.suggest": [
        ({"key": KEY, "text": "moonshot", "tags": ["eagle"], "min_score": 0}, NOTHING),
        ({"key": "landing/moon", "min_score": 0, "limit": 200}, NOTHING),
        ({"text": "moonshat"}, NOTHING),
        ({"tags": ["eagle"], "layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "decision.versions": [({"key": KEY}, NOTHING)],
    "decision.deprecate": [
        ({"key": KEY}, NOT_FOUND),
        ({"key": "own", "superseded_by": KEY}, NOT_FOUND),
    ],
    "constraint.add": [
        ({"category": "tranquility", "text": "moonshot"}, {"result": "created"}),
        ({"category": "tranquility", "text": "moonshot", "layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "constraint.list": [
        ({"status": "any"}, NOTHING),
        ({"category": "tranquility"}, NOTHING),
        ({"tags": ["eagle"]}, NOTHING),
        ({"scope": "tranq*"}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"status": "any", "cursor": "CONSTRAINTS"}, NOTHING),
        ({"layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "constraint.deactivate": [({"id": "CONSTRAINT"}, NOT_FOUND)],
    "constraint.activate": [({"id": "CONSTRAINT"}, NOT_FOUND)],
    "decision.analytics": [
        ({"pattern": "moon/*"}, {"count": 0, "hint": None}),
        ({"pattern": "*", "layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "decision.template_set": [
        ({"name": "eagle-template", "require": ["x"]}, {"result": "created"}),
        ({"name": "t", "defaults": {"layer": "armstrong-layer"}}, {"error": "invalid"}),
    ],
    "decision.templates": [({"limit": 200}, {"count": 5}), ({"cursor": "TEMPLATES"}, {"count": 3})],
    "decision.from_template": [
        ({"name": "eagle-template", "key": KEY, "value": "x"}, NOT_FOUND),
        ({"name": "deprecation", "key": KEY, "value": "x"}, OWN),
    ],
    "file.record": [
        ({"path": "tranquility/eagle.py", "change": "created"}, {"path": "tranquility/eagle.py"}),
        ({"path": "own.py", "change": "created", "layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "file.record_batch": [
        ({"items": [{"path": "tranquility/eagle.py", "change": "deleted"}]}, {"done": 1, "failed": 0}),
    ],
    "file.changes": [
        ({"since": "e0", "path": "tranquility/**"}, NOTHING),
        ({"path": "tranquility/eagle.py"}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"cursor": "FILECURSOR", "change": "created"}, NOTHING),
        ({"layer": "armstrong-layer"}, {"error": "invalid"}),
    ],
    "file.check_lock": [({"path": "tranquility/eagle.py"}, {"locked": False, "by": None})],
    "file.lease": [({"paths": ["tranquility/**"]}, {"error": None})],
    "file.renew": [({"lease_id": "LEASE"}, NOT_FOUND)],
    "file.release": [
        ({"lease_id": "LEASE"}, NOT_FOUND),
        ({"lease_id": "LEASE", "force": True}, NOT_FOUND),
        ({"all": True}, {"released": 0}),
    ],
    "file.leases": [
        ({}, NOTHING),
        ({"path": "tranquility/eagle.py"}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"cursor": "LEASECURSOR"}, NOTHING),
    ],
    "message.send": [
        ({"text": "x", "to": ["armstrong"]}, {"to": ["armstrong"], "unknown": ["armstrong"]}),
        ({"text": "x", "reply_to": "MESSAGE"}, NOT_FOUND),
    ],
    "message.send_batch": [
        ({"items": [{"text": "x", "to": ["armstrong"]}]}, {"done": 1}),
        ({"items": [{"text": "x", "reply_to": "MESSAGE"}]}, NOT_FOUND),
    ],
    "message.inbox": [
        ({}, NOTHING),
        ({"unread": False, "type": "request", "state": "open"}, NOTHING),
        ({"since": "EVENT"}, NOTHING),
        ({"cursor": "INBOX"}, NOTHING),
        ({"agent": "armstrong", "unread": False}, {"error": None}),
    ],
    "message.read": [({"ids": ["MESSAGE"]}, {"marked": 0}), ({"all": True}, {"marked": 0})],
    "message.ack": [({"ids": ["MESSAGE"]}, NOT_FOUND)],
    "message.thread": [({"id": "MESSAGE"}, NOT_FOUND)],
    "message.status": [({"id": "MESSAGE"}, NOT_FOUND)],
    "message.claim": [({"id": "MESSAGE"}, NOT_FOUND), ({"next": True}, {"claimed": None})],
    "message.done": [({"id": "MESSAGE"}, NOT_FOUND)],
    "memory.add": [
        (
            {"title": "moonshot", "content": "moonshot", "context": "Tranquility", "tags": ["eagle"]},
            {"context_created": True, "similar": None},
        ),
        ({"title": "moonshot", "content": "moonshot", "context": "CONTEXT"}, NOT_FOUND),
    ],
    "memory.get": [({"id": "MEMORY"}, NOT_FOUND)],
    "memory.update": [
        ({"id": "MEMORY", "title": "x"}, NOT_FOUND),
        ({"id": "MEMORY", "context": "tranquility"}, NOT_FOUND),
    ],
    "memory.revisions": [
        ({"id": "MEMORY"}, NOT_FOUND),
        ({"id": "MEMORY", "cursor": "MEMORY_REVISIONS"}, NOT_FOUND),
        ({"id": "MEMORY", "revision": 1}, NOT_FOUND),
    ],
    "memory.restore": [({"id": "MEMORY", "revision": 1}, NOT_FOUND)],
    "memory.similar": [
        ({"id": "MEMORY"}, NOT_FOUND),
        ({"text": "moonshot eagle tranquility", "threshold": 0}, NOTHING),
    ],
    "memory.relate": [
        ({"source": "MEMORY", "target": "decision:own"}, NOT_FOUND),
        ({"source": "decision:own", "target": "memory:MEMORY"}, NOT_FOUND),
        ({"source": "decision:own", "target": f"decision:{KEY}"}, NOT_FOUND),
    ],
    "memory.unrelate": [({"source": "MEMORY", "target": f"decision:{KEY}"}, NOT_FOUND)],
    "memory.relationships": [
        ({"id": "MEMORY", "depth": 5}, NOT_FOUND),
        ({"id": f"decision:{KEY}"}, NOT_FOUND),
        (
            {"id": "decision:own", "threshold": 0, "depth": 5, "create": True},
            {"created": 0, "edges": None},
        ),
    ],
    "memory.suggest_context": [
        ({"text": "moonshot eagle tranquility"}, {"existing": None, "similar": None}),
    ],
    "memory.capture": [
        (
            {"content": "Decision: moonshot, `eagle/1.py` of Tranquility. Moonshot is what we decided."},
            {"saved": True, "duplicate_of": None},
        ),
        ({"content": "moonshot " * 9, "context": "CONTEXT"}, NOT_FOUND),
    ],
    "memory.list": [
        ({}, NOTHING),
        ({"tags": ["eagle"]}, NOTHING),
        ({"stack": "armstrong-stack"}, NOTHING),
        ({"type": "idea", "difficulty": "hard"}, NOTHING),
        ({"cursor": "MEMORIES"}, NOTHING),
        ({"context": "tranquility"}, {**NOT_FOUND, "did_you_mean": None}),
        ({"context": "CONTEXT"}, NOT_FOUND),
    ],
    "memory.search": [
        ({"query": "moonshot eagle"}, {**NOTHING, "total": 0, "did_you_mean": None}),
        ({"query": "moonshott", "tags": ["eagle"], "stack": "armstrong-stack"}, NOTHING),
        ({"query": "moonshot", "context": "tranquility"}, {**NOT_FOUND, "did_you_mean": None}),
        ({"query": "moonshot", "context": "CONTEXT"}, NOT_FOUND),
    ],
    "memory.fuzzy": [
        ({"query": "moonshat", "tolerance": 3}, NOTHING),
        ({"query": "moonshat", "context": "CONTEXT"}, NOT_FOUND),
    ],
    "memory.grep": [
        ({"pattern": "moonshot"}, {"error": "not_allowed", "hint": ROOTS_HINT}),
        ({"pattern": "moonshot", "path": "tranquility", "glob": "eagle.*"}, {"error": "not_allowed"}),
    ],
    "memory.context_create": [({"name": "tranquility", "tags": ["eagle"]}, {"result": "created"})],
    "memory.contexts": [({"text": "moonshot"}, NOTHING), ({"cursor": "CONTEXTS"}, NOTHING)],
    "memory.context_get": [
        ({"context": "tranquilitx"}, {**NOT_FOUND, "did_you_mean": None}),
        ({"context": "CONTEXT"}, NOT_FOUND),
    ],
    "memory.context_update": [
        ({"context": "armstrong's", "name": "x"}, NOT_FOUND),
        ({"context": "CONTEXT", "name": "x"}, NOT_FOUND),
    ],
    "scratchpad.create_workflow": [({"name": "eagle", "metadata": {"keep": "never"}}, {"error": None})],
    "scratchpad.workflows": [
        ({}, NOTHING),
        ({"text": "moonshot"}, NOTHING),
        ({"text": "armstrong", "active": True}, NOTHING),
        ({"cursor": "WORKFLOWS"}, NOTHING),
    ],
    "scratchpad.close_workflow": [
        ({"workflow_id": "WORKFLOW"}, NOT_FOUND),
        ({"workflow_id": "WORKFLOW", "reopen": True}, NOT_FOUND),
    ],
    "scratchpad.create": [({"workflow_id": "WORKFLOW", "name": "eagle", "content": "x"}, NOT_FOUND)],
    "scratchpad.list": [
        ({"workflow_id": "WORKFLOW"}, NOTHING),
        ({"workflow_id": "WORKFLOW", "include_content": True, "cursor": "PADS"}, NOTHING),
    ],
    "scratchpad.get": [
        ({"scratchpad_id": "PAD"}, {"scratchpad": None}),
        ({"scratchpad_id": "PAD", "outline": True}, {"scratchpad": None}),
        ({"scratchpad_ids": ["PAD"], "tail": 1}, {"scratchpads": []}),
    ],
    "scratchpad.append": [({"scratchpad_id": "PAD", "content": "x"}, NOT_FOUND)],
    "scratchpad.update": [
        ({"scratchpad_id": "PAD", "content": "x"}, NOT_FOUND),
        ({"scratchpad_id": "PAD", "content": "x", "mode": "section", "section": "moonshot"}, NOT_FOUND),
        ({"scratchpad_id": "PAD", "content": "x", "expected_length": 1}, NOT_FOUND),
    ],
    "scratchpad.revisions": [
        ({"scratchpad_id": "PAD"}, NOTHING),
        ({"scratchpad_id": "PAD", "cursor": "REVISIONS"}, NOTHING),
        ({"scratchpad_id": "PAD", "revision": 1}, {"scratchpad": None}),
    ],
    "scratchpad.restore": [({"scratchpad_id": "PAD", "revision": 1}, NOT_FOUND)],
    "scratchpad.search": [
        ({"query": "moonshot eagle"}, NOTHING),
        ({"query": "moonshot", "workflow_id": "WORKFLOW"}, NOTHING),
        ({"query": "moonshot", "scratchpad_id": "PAD"}, NOTHING),
        ({"query": "moonshott", "scratchpad_id": "PAD"}, {**NOTHING, "did_you_mean": None}),
    ],
    "snapshot.save": [
        ({"content": "moonshot eagle tranquility"}, {"tags": [], "caused_by": None, "dependencies": []}),
        ({"content": "moonshot", "tags": ["eagle"]}, {"tags": ["eagle"]}),
        ({"content": "x", "caused_by": "SNAPSHOT"}, NOT_FOUND),
        ({"content": "x", "dependencies": ["snapshot:SNAPSHOT"]}, NOT_FOUND),
        ({"content": "x", "session": "SESSION"}, NOT_FOUND),
        ({"content": "x", "session": "armstrong's"}, {"error": None}),
    ],
    "snapshot.load": [
        ({"limit": 10, "view": view}, NOTHING)
        for view in ("historian", "prophet", "archaeologist", "minimalist", "auditor")
    ],
    "snapshot.search": [
        ({"query": "moonshot eagle"}, NOTHING),
        ({"query": "moonshott", "view": "auditor"}, {**NOTHING, "did_you_mean": None}),
    ],
    "snapshot.list": [
        ({}, NOTHING),
        ({"action_type": "decision", "tier": "active"}, NOTHING),
        ({"tags": ["eagle"]}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"text": "moonshot", "since": "EVENT"}, NOTHING),
        ({"cursor": "SNAPSHOTS"}, NOTHING),
    ],
    "snapshot.get": [({"id": "SNAPSHOT"}, NOT_FOUND)],
    "snapshot.why": [({"id": "SNAPSHOT"}, NOT_FOUND)],
    "snapshot.chain": [({"id": "SNAPSHOT"}, NOT_FOUND)],
    "snapshot.impact": [({"id": "SNAPSHOT"}, NOT_FOUND)],
    "snapshot.graph": [({"limit": 1_000}, {"error": None}), ({"mermaid": True}, {"error": None})],
    "snapshot.tiers": [({}, {"total": 0})],
    "snapshot.retier": [({}, {"updated": 0})],
    "snapshot.prune": [({"dry_run": False, "limit": 200}, {"pruned": 0, "kept": 0})],
    "snapshot.predict": [({"stale_hours": 1}, {"refreshed": 0})],
    "snapshot.prefetch": [({"min_score": 0, "limit": 200}, NOTHING), ({"cursor": "SCORES"}, NOTHING)],
    "snapshot.stats": [({}, {"error": None})],
    "session.save": [
        ({"session": "SESSION", "summary": "x"}, NOT_FOUND),
        ({"session": "armstrong's", "summary": "x"}, {"result": "created"}),
        ({"parent": "SESSION", "summary": "x"}, NOT_FOUND),
        ({"parent": "armstrong's", "summary": "x"}, NOT_FOUND),
        ({"files": [{"path": "tranquility/eagle.py", "hash": "1"}]}, {"result": "created"}),
    ],
    "session.restore": [
        ({"session": "SESSION"}, NOT_FOUND),
        ({"session": "armstrong's"}, NOT_FOUND),
        ({"workspace_id": "tranquility"}, NOT_FOUND),
        ({}, NOT_FOUND),
    ],
    "session.list": [
        ({}, NOTHING),
        ({"implicit": True}, NOTHING),
        ({"by": "armstrong"}, NOTHING),
        ({"workspace_id": "tranquility"}, NOTHING),
        ({"parent": "SESSION"}, NOT_FOUND),
        ({"parent": "armstrong's"}, NOT_FOUND),
        ({"cursor": "SESSIONS"}, NOTHING),
    ],
    "session.get": [
        ({"session": "SESSION", "full": True}, NOT_FOUND),
        ({"session": "armstrong's"}, NOT_FOUND),
    ],
    "session.lineage": [({"session": "SESSION"}, NOT_FOUND), ({"session": "armstrong's"}, NOT_FOUND)],
    "session.track": [
        ({"path": "tranquility/eagle.py", "access": "viewed"}, {"tokens": None}),
        ({"path": "own.py", "access": "viewed", "session": "SESSION"}, NOT_FOUND),
        ({"path": "own.py", "access": "viewed", "session": "armstrong's"}, {"error": None}),
    ],
    "session.accesses": [
        ({}, NOTHING),
        ({"path": "tranquility/eagle.py", "access": "edited"}, NOTHING),
        ({"session": "SESSION"}, NOT_FOUND),
        ({"session": "armstrong's"}, NOT_FOUND),
        ({"since": "EVENT", "cursor": "ACCESSES"}, NOTHING),
    ],
    "session.resources": [
        ({}, NOTHING),
        ({"session": "SESSION"}, NOT_FOUND),
        ({"session": "armstrong's"}, NOTHING),
        ({"cursor": "RESOURCES"}, NOTHING),
    ],
    "session.depend": [
        (
            {"source": "tranquility/eagle.py", "target": "tranquility/base.py", "type": "imports"},
            {"strength": 1, "result": "created"},
        ),
    ],
    "session.dependencies": [({"path": "tranquility/eagle.py", "depth": 10}, NOTHING)],
    "session.begin": [
        ({"session": "mine", "continues": "SESSION"}, NOT_FOUND),
        ({"session": "mine", "continues": "armstrong's"}, {"leases": 0, "claims": 0}),
    ],
    "session.prioritize": [
        ({"budget_tokens": 1_000, "query": "moonshot", "content": True}, {"included": [], "excluded": []}),
        ({"budget_tokens": 1_000, "session": "SESSION"}, NOT_FOUND),
        ({"budget_tokens": 1_000, "session": "armstrong's"}, {"included": [], "excluded": []}),
    ],
    "brief": [
        ({"task": "moonshot eagle tranquility armstrong in apollo/lander.py"}, {"sections": []}),
    ],
    "check": [
        ({"paths": ["**"], "intent": "moonshot eagle"}, {"clear": True, "constraints": None, "leases": None}),
    ],
    "search": [
        ({"query": "moonshot eagle tranquility armstrong"}, {**NOTHING, "total": 0, "did_you_mean": None}),
        ({"query": "moonshott eagel"}, {**NOTHING, "did_you_mean": None}),
        ({"query": "moonshott eagel", "match": "fuzzy"}, NOTHING),
        ({"query": "moonshot moonshot eagle", "match": "similar"}, NOTHING),
        ({"query": "moonsh*", "kinds": ["decision", "message"]}, NOTHING),
        ({"query": "own", "tags": ["eagle"]}, NOTHING),
        ({"query": "own", "by": "armstrong"}, NOTHING),
        ({"query": "own", "layer": "armstrong-layer"}, {"error": "invalid"}),
        ({"query": "own", "since": "EVENT"}, {"count": 1}),
        ({"query": "own", "context": "CONTEXT"}, NOT_FOUND),
        ({"query": "own", "context": "armstrong's"}, NOT_FOUND),
        ({"query": "P1 KDECISION"}, NOTHING),
        ({"query": "moonshot", "kinds": ["snapshot", "session", "resource"]}, NOTHING),
    ],
    "delete": [
        ({"refs": [f"decision:{KEY}"]}, NOT_FOUND),
        ({"refs": ["memory:MEMORY"]}, NOT_FOUND),
        ({"refs": ["context:tranquilitx"]}, {**NOT_FOUND, "did_you_mean": None}),
        ({"refs": ["context:armstrong's"]}, NOT_FOUND),
        ({"refs": ["context:CONTEXT"]}, NOT_FOUND),
        ({"refs": ["scratchpad:PAD"]}, NOT_FOUND),
        ({"refs": ["workflow:WORKFLOW"]}, NOT_FOUND),
        ({"refs": ["snapshot:SNAPSHOT"]}, NOT_FOUND),
        ({"refs": ["session:SESSION"]}, NOT_FOUND),
        ({"refs": ["session:armstrong's"]}, NOT_FOUND),
        ({"refs": ["memory:MEMORY", "scratchpad:PAD"]}, NOT_FOUND),
        ({"refs": ["memory:MEMORY"], "dry_run": True}, {"count": 1, "error": None}),
        ({"refs": ["memory:DELETED"], "undo": True}, NOT_FOUND),
        ({"refs": ["decision:moon/deleted"], "undo": True}, NOT_FOUND),
        ({"refs": ["memory:DELETED"], "undo": True, "dry_run": True}, {"count": 1, "error": None}),
    ],
    "get": [
        ({"refs": ["message:MESSAGE"]}, {"items": [], "missing": ["message:MESSAGE"]}),
        (
            {"refs": ["change:CHANGE", "lease:LEASE", "resource:tranquility/eagle.py"]},
            {"items": [], "missing": ["change:CHANGE", "lease:LEASE", "resource:tranquility/eagle.py"]},
        ),
        (
            {"refs": ["workflow:WORKFLOW", "scratchpad:PAD"]},
            {"items": [], "missing": ["workflow:WORKFLOW", "scratchpad:PAD"]},
        ),
        (
            {"refs": ["snapshot:SNAPSHOT", "session:SESSION", "session:armstrong's"]},
            {"items": [], "missing": ["snapshot:SNAPSHOT", "session:SESSION", "session:armstrong's"]},
        ),
        ({"refs": ["template:eagle-template"]}, {"items": [], "missing": ["template:eagle-template"]}),
        (
            {"refs": ["memory:MEMORY", "context:CONTEXT", "context:tranquility"]},
            {"items": [], "missing": ["memory:MEMORY", "context:CONTEXT", "context:tranquility"]},
        ),
        ({"refs": ["constraint:CONSTRAINT"]}, {"items": [], "missing": ["constraint:CONSTRAINT"]}),
        (
            {"refs": [f"decision:{KEY}", "decision:ID"]},
            {"items": [], "missing": [f"decision:{KEY}", "decision:ID"]},
        ),
        ({"refs": [f"decision:{KEY}"], "detail": "digest"}, {"items": []}),
    ],
    "hub.stats": [({}, {"decisions": [1, 1], "scopes": 0, "agents": 1})],
    "hub.activity": [
        ({"agents": ["armstrong"]}, NOTHING),
        ({"verbs": ["deprecated"], "since": "e0"}, NOTHING),
        ({"cursor": "ACTIVITY", "verbs": ["deprecated"]}, NOTHING),
    ],
    "hub.updates": [({"since": "e0"}, {"cursor": "OWN EVENT"}), ({}, {"cursor": "OWN EVENT"})],
    "hub.layer_summary": [({}, {"count": 5})],
    "hub.wait": [({"since": "e0", "wait_seconds": 0}, {"cursor": "OWN EVENT"})],
    "hub.view": [({"name": "layer_summary"}, {"count": 5})],
    "hub.confirm": [
        ({"refs": [f"decision:{KEY}"]}, NOT_FOUND),
        ({"refs": ["memory:ID", "decision:own"]}, NOT_FOUND),
    ],
    "hub.clear": [
        ({"dry_run": True}, {"error": None}),
        ({"messages_older_than": "0s", "changes_older_than": "0s"}, {"error": None}),
    ],
    "hub.config": [({}, {"message_hours": 24})],
    "hub.config_set": [({"values": {"message_hours": 48}}, {"message_hours": 48})],
    "hub.agents": [({}, {"count": 1})],
    "hub.trends": [({"by": "agent"}, {"count": 1}), ({"by": "tag"}, {"count": 0})],
    "hub.vocabulary": [({}, {"scopes": {}})],
}


@pytest.fixture
def apollo_ids(apollo: Project, tmp_path: Path, settings: Settings) -> dict[str, str]:
    """Stores data in apollo with secret words in every field; returns its ids and cursors."""
    (tmp_path / "eagle.txt").write_text("moonshot")
    settings.GREP_ROOTS = [("apollo", tmp_path)]
    armstrong = Caller(project=apollo, agent="armstrong")
    for value in ("moonshot", "moonshot again"):
        set_decision(
            caller=armstrong,
            key=KEY,
            value=value,
            tags=["eagle"],
            scopes=["tranquility/base"],
            rationale="moonshot",
            metadata={"moonshot": 1},
        )
    set_decision(caller=armstrong, key="moon/old", value="moonshot")
    deprecate_decision(caller=armstrong, key="moon/old", superseded_by=KEY)
    Layer.objects.create(project=apollo, name="armstrong-layer", position=9)
    for text in ("moonshot", "moonshot again"):
        constraint = add_constraint(
            caller=armstrong,
            category="tranquility",
            text=text,
            tags=["eagle"],
            scopes=["tranquility/base"],
            reason="moonshot",
        )
    constraints = call(armstrong, "constraint", {"action": "list", "limit": 1})
    page = call(armstrong, "decision", {"action": "list", "status": "any", "limit": 1, "order": "asc"})
    for name in ("eagle-template", "deprecation"):
        set_template(caller=armstrong, name=name, defaults={"tags": ["eagle"]}, require=["moonshot"])
    templates = call(armstrong, "decision", {"action": "templates", "limit": 2})
    for path in ("tranquility/eagle.py", "tranquility/base.py"):
        change = record_change(caller=armstrong, path=path, change="created", description="moonshot")
        lease = acquire_lease(caller=armstrong, paths=[path], reason="moonshot")
    for name in ("armstrong's", "Tranquility"):
        context = create_context(caller=armstrong, name=name, description="moonshot", tags=["eagle"])
        memory = add_memory(
            caller=armstrong,
            title="moonshot",
            content="moonshot",
            context=name,
            type="idea",
            stack="armstrong-stack",
            difficulty="hard",
            tags=["eagle"],
        )
        relate(caller=armstrong, source=memory["id"], target=f"decision:{KEY}")
        update_memory(caller=armstrong, memory_id=memory["id"], content="moonshot, eagle")
    for to in (["cy", "eagle"], None):
        fields: Any = {"to": to, "type": "request", "payload": "moonshot", "ack": True}
        message = send_message(caller=armstrong, text="moonshot", **fields)
    for name in ("eagle", "eagle again"):
        workflow = create_workflow(caller=armstrong, name=name, metadata={"team": "tranquility"})
    for name in ("eagle", "eagle again"):
        pad = create_scratchpad(
            caller=armstrong, workflow_id=workflow["workflow_id"], name=name, content="# moonshot"
        )
    append_to_scratchpad(caller=armstrong, scratchpad_id=pad["scratchpad_id"], content="armstrong")
    pads = {"workflow_id": workflow["workflow_id"], "limit": 1}
    revisions = {"scratchpad_id": pad["scratchpad_id"], "limit": 1}
    of_memory = {"action": "revisions", "id": memory["id"], "limit": 1}
    session = 0
    for name in ("eagle", "armstrong's"):
        session = save_session(
            caller=armstrong,
            session=name,
            workspace_id="tranquility",
            conversation="moonshot",
            summary="moonshot",
            items=[{"content": "moonshot"}],
            settings={"moonshot": 1},
            parent=str(session) if session else None,
        )["session"]
    for path in ("tranquility/eagle.py", "tranquility/base.py"):
        track_access(caller=armstrong, path=path, access="edited", session=str(session), content="moonshot")
    add_dependency(
        caller=armstrong, source="tranquility/eagle.py", target="tranquility/base.py", type="eagle"
    )
    snapshot = None
    for content in ("moonshot", "moonshot again"):
        snapshot = save_snapshot(
            caller=armstrong,
            content=content,
            source="armstrong",
            action_type="decision",
            rationale="moonshot",
            caused_by=str(snapshot) if snapshot else None,
            tags=["eagle"],
            metadata={"moonshot": 1},
            session=str(session),
        )["id"]
    predict_snapshots(caller=armstrong)
    deleted = add_memory(caller=armstrong, title="moonshot", content="moonshot", context="tranquility")
    set_decision(caller=armstrong, key="moon/deleted", value="moonshot")
    call(armstrong, "delete", {"refs": [f"memory:{deleted['id']}", "decision:moon/deleted"]})
    cy_in_apollo = Caller(project=apollo, agent="cy")
    activity = call(armstrong, "hub", {"action": "activity", "limit": 1})
    return {
        "CHANGE": str(change["id"]),
        "LEASE": str(lease["lease_id"]),
        "FILECURSOR": call(armstrong, "file", {"action": "changes", "limit": 1})["next"],
        "LEASECURSOR": call(armstrong, "file", {"action": "leases", "limit": 1})["next"],
        "ID": str(Decision.objects.in_project(apollo).get(key=KEY).pk),
        "EVENT": str(latest_cursor(apollo.pk)),
        "CURSOR": page["next"],
        "CONSTRAINT": str(constraint["id"]),
        "CONSTRAINTS": constraints["next"],
        "ACTIVITY": activity["next"],
        "WORKFLOW": str(workflow["workflow_id"]),
        "PAD": str(pad["scratchpad_id"]),
        "WORKFLOWS": call(armstrong, "scratchpad", {"action": "workflows", "limit": 1})["next"],
        "PADS": call(armstrong, "scratchpad", {"action": "list", **pads})["next"],
        "REVISIONS": call(armstrong, "scratchpad", {"action": "revisions", **revisions})["next"],
        "MESSAGE": str(message["id"]),
        "CONTEXT": str(context["id"]),
        "MEMORY": str(memory["id"]),
        "DELETED": str(deleted["id"]),
        "MEMORIES": call(armstrong, "memory", {"action": "list", "limit": 1})["next"],
        "MEMORY_REVISIONS": call(armstrong, "memory", of_memory)["next"],
        "CONTEXTS": call(armstrong, "memory", {"action": "contexts", "limit": 1})["next"],
        "INBOX": call(cy_in_apollo, "message", {"action": "inbox", "limit": 1})["next"],
        "TEMPLATES": templates["next"],
        "SESSION": str(session),
        "SESSIONS": call(armstrong, "session", {"action": "list", "limit": 1})["next"],
        "ACCESSES": call(armstrong, "session", {"action": "accesses", "limit": 1})["next"],
        "RESOURCES": call(armstrong, "session", {"action": "resources", "session": session, "limit": 1})[
            "next"
        ],
        "SNAPSHOT": str(snapshot),
        "SNAPSHOTS": call(armstrong, "snapshot", {"action": "list", "limit": 1})["next"],
        "SCORES": call(armstrong, "snapshot", {"action": "prefetch", "min_score": 0, "limit": 1})["next"],
    }


def test_every_action_is_tested() -> None:
    actions = {action.call for tool in all_tools().values() for action in tool.actions.values()}
    assert set(CALLS) == actions


def test_another_projects_rows_do_not_exist(
    apollo: Project, cy: Caller, apollo_ids: dict[str, str], subtests: Subtests
) -> None:
    set_decision(caller=cy, key="own", value="x")
    apollo_ids = {**apollo_ids, "OWN EVENT": str(latest_cursor(cy.project_id))}
    before = dump_project(apollo)
    for name, (arguments, expected) in ((name, one) for name, calls in CALLS.items() for one in calls):
        sent, fields = fill_in_ids(arguments, apollo_ids), fill_in_ids(expected, apollo_ids)
        with subtests.test(name, arguments=arguments), rolled_back():
            answer = call_action(cy, name, sent)
            assert {key: answer.get(key) for key in fields} == fields, answer
            text = json.dumps(answer).lower()
            assert not [word for word in SECRETS if word in text and word not in json.dumps(sent)]
            assert dump_project(apollo) == before


def call_action(caller: Caller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    tool, _, action = name.partition(".")
    try:
        return call(caller, tool, {**arguments, **({"action": action} if action else {})})
    except CtxhubError as error:
        return error.body()


def fill_in_ids(node: Any, apollo_ids: dict[str, str]) -> Any:
    """The call with apollo's ids and cursors in place of their names."""
    text = json.dumps(node)
    for name, value in apollo_ids.items():
        text = text.replace(f'"{name}"', f'"{value}"').replace(f":{name}", f":{value}")
    return json.loads(text)


def test_two_projects_keep_the_same_key_apart(ada: Caller, cy: Caller) -> None:
    set_decision(caller=ada, key=KEY, value="ours", tags=["shared"])
    set_decision(caller=cy, key=KEY, value="theirs", tags=["shared"])
    for caller, value in ((ada, "ours"), (cy, "theirs")):
        answer = call(caller, "decision", {"action": "list", "tags": ["shared"]})
        assert [row[1] for row in answer["rows"]] == [value]


def test_a_request_id_belongs_to_one_project(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        arguments = {"action": "set", "key": KEY, "value": "x", "agent": "same"}
        assert call(caller, "decision", arguments, request_id="r-1")["result"] == "created"


# -- A token with the scope write alone ------------------------------------------------------------

# More calls of writers: each runs into a stored row of another agent.
CONFLICTS: list[tuple[str, dict[str, Any]]] = [
    ("decision.set", {"key": KEY, "value": "x", "expected_version": "9.9.9"}),
    ("decision.set_batch", {"items": [{"key": KEY, "value": "x", "expected_version": "9.9.9"}]}),
    ("decision.set", {"key": "a", "value": "x", "layer": "arm-layer"}),
    ("decision.deprecate", {"key": KEY, "superseded_by": "moon/nothing"}),
    ("decision.from_template", {"name": "egle-template", "key": "a", "value": "x"}),
    ("memory.update", {"id": "MEMORY", "context": "Tranquilit"}),
    ("scratchpad.update", {"scratchpad_id": "PAD", "mode": "section", "section": "x", "content": "y"}),
    ("file.lease", {"paths": ["**/*.py"]}),
    ("file.renew", {"lease_id": "LEASE"}),
    ("file.release", {"lease_id": "LEASE"}),
    ("message.claim", {"id": "MESSAGE"}),
    ("message.done", {"id": "MESSAGE"}),
]


# What a writer is told all the same, and why.
TOLD = {
    "decision.from_template": "Which fields the template needs: without their names no call could be mended.",
    "message.claim": "The request that the agent is asked to do, which is addressed to it.",
    "message.send": "To whom a reply went: the sender chose the message, and the hub who gets the answer.",
    "message.send_batch": "As message.send.",
}


def test_without_read_no_error_tells_stored_words(
    apollo: Project, apollo_ids: dict[str, str], subtests: Subtests
) -> None:
    call_action(Caller(project=apollo, agent="armstrong-too"), "message.claim", {"id": apollo_ids["MESSAGE"]})
    writer = Caller(project=apollo, agent="cy", scopes=frozenset({WRITE}))
    calls = [(name, arguments) for name, each in CALLS.items() for arguments, _ in each]
    for name, arguments in [*calls, *CONFLICTS]:
        sent = fill_in_ids(arguments, apollo_ids)
        with subtests.test(name, arguments=arguments), rolled_back():
            answer = call_action(writer, name, sent)
            is_told = name in TOLD and answer.get("error") in (None, "invalid")
            text = "" if is_told else json.dumps(answer).lower()
            assert not [word for word in SECRETS if word in text and word not in json.dumps(sent)], text


def test_without_read_a_sender_does_not_learn_who_exists(apollo: Project) -> None:
    writer = Caller(project=apollo, agent="cy", scopes=frozenset({WRITE}))
    assert "unknown" not in call_action(writer, "message.send", {"text": "x", "to": ["nobody"]})
