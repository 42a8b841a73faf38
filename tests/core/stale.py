"""Rows with paths, and changes of their files."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import time_machine

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import PathPattern
from ctxhub.core.paths.counting import count_changes
from ctxhub.toolbox.dispatch import call

RULE = "No secrets in logs."
REFS = ("decision:api/auth", "constraint:{constraint}", "memory:{memory}")


def write_rows(caller: Caller, paths: list[str]) -> list[str]:
    """A decision, a constraint and a memory; their refs."""
    call(caller, "decision", {"action": "set", "key": "api/auth", "value": "JWT", "paths": paths})
    constraint = {"action": "add", "category": "security", "text": RULE, "paths": paths}
    memory = {"action": "add", "title": "JWT keys", "content": "They rotate.", "paths": paths}
    return [
        "decision:api/auth",
        f"constraint:{call(caller, 'constraint', constraint)['id']}",
        f"memory:{call(caller, 'memory', memory)['id']}",
    ]


def change(caller: Caller, *paths: str, **later: float) -> None:
    """Record changes of files, and count them; `later`: so long after now."""
    with after(**later):
        for path in paths:
            call(caller, "file", {"action": "record", "path": path, "change": "modified"})
        count_changes(caller.project_id)


@contextmanager
def after(**later: float) -> Iterator[None]:
    with time_machine.travel(clock.now() + timedelta(**later)):
        yield


def counts(caller: Caller) -> dict[str, int]:
    """The stale rows by kind."""
    rows = PathPattern.objects.in_project(caller.project_id).filter(stale__gt=0)
    assert not rows.exclude(position=0).exists()
    assert not rows.filter(stale_since=None).exists()
    return dict(rows.values_list("kind", "stale"))


def stale_items(caller: Caller, refs: list[str], **more: Any) -> list[int]:
    items = call(caller, "get", {"refs": refs, **more})["items"]
    return [item.get("stale", 0) for item in items]
