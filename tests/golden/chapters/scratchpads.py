"""Workflows and their scratchpads."""

from typing import Any

from tests.golden.hour import Hour

TEXT = "# Findings\n1. A slow query\n\n# To do\nMeasure it."
UPDATES: list[dict[str, Any]] = [
    {"content": "0. A start", "line": 2},
    {"content": "1. A slow query, really", "line": 3, "end": 3},
    {"content": "2. A leak", "section": "Findings"},
    {"content": "Nothing.\n"},
    {"content": "Nothing.\n"},
    {"content": "x", "section": "Nowhere"},
    {"content": "x", "line": 99},
    {"content": "x", "mode": "insert"},
    {"content": "x", "expected_length": 1},
]


def write_pads(hour: Hour) -> dict[str, int]:
    """Returns the ids of a workflow and a pad that are not deleted."""
    hour.chapter("Workflows and scratchpads")
    task = int(hour.tool("ada", "scratchpad", "create_workflow", name="Task")["workflow_id"])
    hour.tool("ada", "scratchpad", "create_workflow", metadata={"keep": "never"})
    pad = _pad(hour, task, "notes", TEXT)
    other = _pad(hour, task, "empty", "")
    hour.tool("ben", "scratchpad", "append", scratchpad_id=pad, content="One more.")
    hour.tool("ada", "scratchpad", "append", scratchpad_id=pad, content="And one.", separator=" ")
    hour.tool("ada", "scratchpad", "append", scratchpad_id=other, content="First.")
    for update in UPDATES:
        hour.tool("ben", "scratchpad", "update", scratchpad_id=pad, **update)
    hour.tool("ben", "scratchpad", "revisions", scratchpad_id=pad, limit=4)
    hour.tool("ben", "scratchpad", "revisions", scratchpad_id=pad, revision=2)
    hour.tool("ben", "scratchpad", "restore", scratchpad_id=pad, revision=2)
    hour.tool("ben", "scratchpad", "restore", scratchpad_id=pad, revision=2)
    hour.tool("ben", "scratchpad", "restore", scratchpad_id=pad, revision=99)
    hour.tool("ben", "scratchpad", "get", scratchpad_id=pad, lines="1-2")
    hour.tool("ben", "scratchpad", "get", scratchpad_id=pad, outline=True)
    hour.tool("ben", "scratchpad", "get", scratchpad_ids=[pad, other, 999], tail=1)
    hour.tool("ben", "scratchpad", "get", scratchpad_id=999)
    hour.tool("ben", "scratchpad", "list", workflow_id=task, include_content=True, limit=1)
    hour.tool("ben", "scratchpad", "search", query="slow query")
    hour.tool("ben", "scratchpad", "search", query="slow", scratchpad_id=pad)
    hour.tool("ben", "scratchpad", "create", workflow_id=999, name="x")
    hour.tool("ben", "scratchpad", "append", scratchpad_id=pad, content="")
    hour.tool("ben", "scratchpad", "append", scratchpad_id=pad, content="AKIAQ7LM2XWY4NPR5TVB")
    _close_workflow(hour, task, pad)
    _use_rest(hour, task)
    hour.tool("ada", "delete", refs=[f"scratchpad:{other}"])
    hour.tool("ada", "delete", refs=[f"scratchpad:{other}"])
    return {"workflow": task, "pad": pad}


def _pad(hour: Hour, workflow: int, name: str, content: str) -> int:
    answer = hour.tool("ada", "scratchpad", "create", workflow_id=workflow, name=name, content=content)
    return int(answer["scratchpad_id"])


def _close_workflow(hour: Hour, task: int, pad: int) -> None:
    hour.tool("ben", "scratchpad", "close_workflow", workflow_id=task)
    hour.tool("ben", "scratchpad", "close_workflow", workflow_id=task)
    hour.tool("ben", "scratchpad", "append", scratchpad_id=pad, content="Late.")
    hour.tool("ben", "scratchpad", "workflows", active=False)
    hour.tool("ben", "scratchpad", "close_workflow", workflow_id=task, reopen=True)
    hour.tool("ben", "scratchpad", "workflows", text="slow", limit=1)


def _use_rest(hour: Hour, task: int) -> None:
    hour.chapter("Workflows and scratchpads over REST")
    made = hour.rest("ada", "POST", "workflows/", {"name": "REST", "metadata": {"a": 1}})["id"]
    hour.rest("ada", "PATCH", f"workflows/{made}/", {"name": "RESTful"})
    hour.rest("ada", "PATCH", f"workflows/{made}/", {"name": "RESTful"})
    hour.rest("ada", "PATCH", f"workflows/{made}/", {"metadata": {"keep": "never", "a": None}})
    hour.rest("ada", "PATCH", f"workflows/{made}/", {"active": False})
    hour.rest("ada", "PATCH", f"workflows/{made}/", {"active": True, "metadata": None, "name": None})
    hour.rest("ada", "PATCH", f"workflows/{made}/", {"active": "maybe"})
    hour.rest("ada", "GET", f"workflows/{made}/")
    hour.rest("ada", "GET", "workflows/?limit=1")
    begun = {"workflow_id": made, "name": "pad", "content": "one\ntwo"}
    pad = hour.rest("ada", "POST", "scratchpads/", begun)["scratchpad_id"]
    hour.rest("ada", "POST", "scratchpads/", {"workflow_id": "x", "name": ""})
    hour.rest("ada", "POST", f"scratchpads/{pad}/append/", {"content": "three", "separator": None})
    hour.rest("ada", "PATCH", f"scratchpads/{pad}/", {"content": "new"}, {"If-Match": '"1"'})
    hour.rest("ada", "PATCH", f"scratchpads/{pad}/", {"content": "new"}, {"If-Match": '"2"'})
    hour.rest("ada", "GET", f"scratchpads/{pad}/")
    hour.rest("ada", "GET", f"scratchpads/{pad}/revisions/")
    hour.rest("ada", "GET", f"scratchpads/{pad}/revisions/1/?tail=1")
    hour.rest("ada", "POST", f"scratchpads/{pad}/revisions/1/restore/", {})
    hour.rest("ada", "GET", f"scratchpads/?workflow_id={task}&limit=1")
    hour.rest("ada", "GET", f"workflows/{made}/scratchpads/")
    hour.rest("ada", "GET", "scratchpads/search/?query=two")
    hour.rest("ada", "DELETE", f"scratchpads/{pad}/")
    hour.rest("ada", "POST", "scratchpads/", begun)
    hour.rest("ada", "DELETE", f"workflows/{made}/")
    hour.rest("ada", "DELETE", f"workflows/{made}/")
