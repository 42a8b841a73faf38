"""A project that has some of everything, written as agents write it, and exports of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management import call_command

from ctxhub.core.accounts.config import set_config
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, EmptySearch, Project, Refusal, TokenUse
from ctxhub.core.transfer.exporting import lines_of
from ctxhub.core.transfer.importing import Imported, Target, import_file
from ctxhub.toolbox.dispatch import call
from memory.models import Memory
from sessions.models import AgentSession, Notice, Writing

ID_NAMES = ("id", "scratchpad_id", "workflow_id", "context_id", "snapshot_id", "session_id")
HOSTILE = "`code` \u2028 \x85 \"quotes\" 'x' <b> 日本 \U0001f600 é \\ \t tab"


def fill(ada: Caller, ben: Caller, text: Callable[[], str] = lambda: HOSTILE) -> None:
    """Write some of every noun; `text` gives the texts. Links lead to earlier ones and to later ones."""

    def ask(caller: Caller, tool: str, action: str, **arguments: Any) -> dict[str, Any]:
        answer = call(caller, tool, {"action": action, **arguments})
        assert "error" not in answer, answer
        return {"id": next((answer[name] for name in ID_NAMES if name in answer), None)}

    set_config(caller=ada, values={"message_hours": 100, "holidays": ["2026-12-25"]})
    ask(ada, "decision", "set", key="db/engine", value=f"PostgreSQL {text()}", tags=["database", "Größe"])
    ask(
        *(ben, "decision", "set"),
        key="db/engine",
        value=f"SQLite {text()}",
        rationale=text(),
        alternatives=[text(), {"option": "MySQL", "why_not": text()}],
        tradeoffs={"pros": ["small"], "cons": [text()]},
        metadata={"cost": 1.5, "large": 1e22, "one": 1.0, "minus": -0.0, "list": [1, None, True]},
        layer="data",
        scopes=["svc/db"],
        paths=["src/db/**", "!src/db/test/**"],
    )
    ask(ada, "decision", "set", key="limit", value=5)
    ask(ada, "decision", "set", key="limit", value=7.25)
    ask(ada, "decision", "set", key="old/way", value="x")
    ask(ada, "decision", "deprecate", key="old/way", superseded_by="db/engine", reason=text())
    ask(ada, "decision", "template_set", name="Adr", require=["rationale"], patterns={"key": "^[a-z/]+$"})
    rule = ask(
        ada, "constraint", "add", category="security", text=f"No secrets {text()}", priority="critical"
    )
    ask(ada, "constraint", "add", category="Namen", text="below src", paths=["src/{a,b}/*.py"], tags=["api"])
    ask(ada, "constraint", "deactivate", id=rule["id"])
    shop = ask(ada, "memory", "context_create", name="Shop", description=text(), tags=["shop"])
    one = ask(
        ada,
        "memory",
        "add",
        context="Shop",
        title="First",
        content=f"See [the rule](constraint:{rule['id']}).",
    )
    two = ask(
        *(ben, "memory", "add"),
        context="Shop",
        title="Second",
        content=(
            f"See [one](memory:{one['id']}), `[no](memory:{one['id']})`, memory:{one['id']} and"
            f" [gone](memory:999999).\n```\n[no](memory:{one['id']})\n```\n{text()}"
        ),
        paths=["src/db/a.py"],
        difficulty="hard",
        stack="Django",
    )
    ask(ada, "memory", "update", id=one["id"], content=f"Now [two](memory:{two['id']}) says so. {text()}")
    ask(
        ada,
        "memory",
        "relate",
        source=f"memory:{two['id']}",
        target="decision:db/engine",
        relation="depends_on",
    )
    ask(ada, "memory", "relate", source=f"memory:{one['id']}", target=f"context:{shop['id']}")
    flow = ask(ada, "scratchpad", "create_workflow", name="Release", metadata={"keep": "never"})
    pad = ask(
        ada,
        "scratchpad",
        "create",
        workflow_id=flow["id"],
        name="Notes",
        content=f"# A\n[m](memory:{one['id']}) ",
    )
    ask(ben, "scratchpad", "append", scratchpad_id=pad["id"], content=f"B [n](memory:{two['id']}) {text()}")
    ask(ada, "scratchpad", "append", scratchpad_id=pad["id"], content=f"C [m](memory:{one['id']})")
    ask(ada, "scratchpad", "update", scratchpad_id=pad["id"], section="A", content=f"# A\n{text()}")
    ask(ada, "scratchpad", "append", scratchpad_id=pad["id"], content=f"D [m](memory:{one['id']}) and more")
    ask(ada, "file", "record", path="src/db/a.py", change="created", description=text(), layer="data")
    ask(ben, "file", "record", path="src/db/a.py", change="modified")
    ask(
        ada, "session", "track", path="src/db/b.py", access="edited", content=f"print({text()!r})  # memory:1"
    )
    ask(ada, "session", "track", path="docs/ä b.md", access="viewed", importance=90)
    first = ask(ada, "message", "send", to=["ben"], text=text(), priority="high", ack=True)
    ask(
        ben,
        "message",
        "send",
        reply_to=first["id"],
        text="yes",
        payload={"see": f"memory:{one['id']}", "n": [1]},
    )
    task = ask(ada, "message", "send", type="request", text=f"Do [it](memory:{two['id']})")
    ask(ben, "message", "claim", id=task["id"])
    ask(ben, "message", "done", id=task["id"], result_refs=["decision:db/engine", f"memory:{two['id']}"])
    ask(ben, "message", "inbox")
    save = ask(
        *(ada, "session", "save"),
        session="win-1",
        summary=f"[m](memory:{one['id']}) {text()}",
        conversation=text(),
        items=[{"category": "task", "content": text(), "importance": 9}],
        files=[{"path": "src/db/a.py", "hash": "abc"}],
        active_project="shop",
        branch="main",
    )
    ask(ada, "session", "depend", source="src/db/a.py", target="src/db/b.py", type="imports")
    cause = ask(ada, "snapshot", "save", summary="Began", content=text(), action_type="decision")
    effect = ask(
        *(ada, "snapshot", "save"),
        summary="Went on",
        content=text(),
        caused_by=cause["id"],
        tags=["api"],
        metadata={"a": 1},
    )
    ask(ada, "snapshot", "save", summary="Third", content="x", dependencies=[cause["id"], effect["id"]])
    assert save


def add_log(project: Project) -> None:
    """What is counted and told beside calls."""
    agent = Agent.objects.in_project(project)[0]
    now = clock.now()
    memory, session = Memory.objects.in_project(project)[0], AgentSession.objects.in_project(project)[0]
    about = {"project": project, "agent": agent, "kind": "memory", "object_id": memory.pk}
    Writing.unscoped.create(**about, session_id=session.pk, began_at=now, at=now)
    Writing.unscoped.create(**about, session_id=0, session_name="other", began_at=now, at=now)
    Notice.unscoped.create(**about, created_at=now, message_id=999_999)
    TokenUse.unscoped.create(
        project=project,
        name="Ada",
        folded="ada",
        operation="get",
        writes=False,
        hour=now,
        calls=3,
        errors=1,
        tokens=2,
        whole_tokens=9,
        most_tokens=2,
    )
    times = {"count": 2, "first_at": now, "last_at": now}
    EmptySearch.unscoped.create(project=project, query="Wo?", folded="wo?", name="Ada", **times)
    Refusal.unscoped.create(project=project, name="", folded="", ref="", code="conflict", minute=now, **times)


def export_of(project: Project, *, with_log: bool = False) -> list[bytes]:
    """The lines of an export."""
    return list(lines_of(Project.objects.get(pk=project.pk), with_log=with_log))


def objects_in(lines: list[bytes]) -> list[bytes]:
    """Its lines without the first and the last: those that are the same wherever it is imported."""
    return lines[1:-1]


def written(lines: list[bytes], path: Path) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def take(path: Path, project: Project | None = None, slug: str = "", **options: Any) -> Imported:
    return import_file(path, Target(project, slug), **options)


def forged(lines: list[bytes], change: Callable[[list[dict[str, Any]]], None]) -> list[bytes]:
    """The lines after a change of their objects, with the counts and the checksum that fit."""
    import hashlib

    objects = [json.loads(line) for line in objects_in(lines)]
    change(objects)
    counts: dict[str, int] = {}
    for each in objects:
        counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    head = {**json.loads(lines[0]), "counts": counts}
    new = [f"{json.dumps(each)}\n".encode() for each in (head, *objects)]
    return [*new, f"{json.dumps({'sha256': hashlib.sha256(b''.join(new)).hexdigest()})}\n".encode()]


def run(*arguments: str, **options: Any) -> None:
    call_command(*arguments, **options)
