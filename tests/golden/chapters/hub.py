"""Get, search and hub; other projects and readers."""

from tests.golden.hour import Hour

REFS = [
    *("decision:api/auth/method", "decision:nosuch", "constraint:1", "memory:1", "context:1"),
    *("scratchpad:1", "workflow:1", "message:1", "change:1", "lease:1", "resource:src/app.py"),
    *("template:incident", "nonsense", "thing:1"),
]
VIEWS = (
    "tagged_decisions",
    "active_context",
    "layer_summary",
    "unread_messages_by_priority",
    "recent_file_changes",
    "tagged_constraints",
)


def get_and_search(hour: Hour) -> None:
    hour.chapter("Get and search")
    hour.tool("ben", "get", refs=REFS)
    hour.tool("ben", "get", refs=REFS, detail="digest")
    hour.tool("ben", "get", refs=["memory:1"], lines="1", max_tokens=200)
    hour.tool("ben", "search", query="stateless", detail="ids")
    hour.tool("ben", "search", query="token", kinds=["constraint"], detail="ids")
    hour.tool("ben", "search", query="x", kinds=["nosuch"])
    hour.rest("ben", "GET", "search/?query=stateless&detail=ids")


def read_and_configure(hour: Hour) -> None:
    hour.chapter("The hub")
    for action in ("stats", "layer_summary", "agents", "vocabulary", "config"):
        hour.tool("ben", "hub", action)
    hour.tool("ben", "hub", "activity", limit=5)
    hour.tool("ben", "hub", "activity", agents=["ben"], verbs=["deleted"], limit=3)
    hour.tool("ben", "hub", "updates", since="e10")
    hour.tool("ben", "hub", "wait", since="e10", wait_seconds=0)
    for name in VIEWS:
        hour.tool("ben", "hub", "view", name=name, limit=2)
    hour.tool("ada", "hub", "config_set", values={"message_hours": 48, "time_zone": "Europe/Berlin"})
    hour.tool("ada", "hub", "config_set", values={"message_hours": 0})
    hour.tool("ben", "hub", "config_set", values={"message_hours": 2})
    hour.tool("ben", "hub", "clear", dry_run=True, changes_older_than="20m")
    for path in ("stats/", "agents/?limit=1", "activity/?limit=1", "updates/?since=e10", "config/"):
        hour.rest("ben", "GET", path)
    for path in ("tags/?limit=2", "scopes/", "categories/", "layers/", "layers/summary/"):
        hour.rest("ben", "GET", path)
    hour.rest("ada", "POST", "layers/", {"name": "edge"})
    hour.rest("ada", "POST", "layers/", {"name": "Edge"})
    hour.rest("ada", "PATCH", "config/", {"values": {"change_days": 3, "message_hours": None}})


def clear(hour: Hour) -> None:
    hour.chapter("Cleared")
    messages = {"messages_older_than": hour.marks["some messages"]}
    hour.tool("ben", "hub", "clear", **messages)
    hour.tool("ada", "hub", "clear", **messages, changes_older_than=hour.marks["some changes"])
    hour.tool("ada", "hub", "clear")


def refuse_strangers_and_readers(hour: Hour) -> None:
    """Rows of another project do not exist, and readers cannot write."""
    hour.chapter("Strangers and readers")
    hour.tool("cy", "decision", "set", key="api/auth/method", value="Elsewhere")
    hour.tool("cy", "decision", "list")
    hour.tool("cy", "constraint", "deactivate", id=1)
    hour.tool("cy", "memory", "get", id=1)
    hour.tool("cy", "memory", "update", id=1, title="x")
    hour.tool("cy", "delete", refs=["context:Store"])
    hour.tool("cy", "scratchpad", "append", scratchpad_id=1, content="x")
    hour.tool("cy", "delete", refs=["workflow:1"])
    hour.tool("cy", "message", "read", ids=[1])
    hour.tool("cy", "file", "renew", lease_id=1)
    hour.tool("cy", "get", refs=REFS)
    for path in ("constraints/1/", "memories/1/", "contexts/1/", "workflows/1/", "scratchpads/1/"):
        hour.rest("cy", "GET", path)
    for path in ("messages/1/", "changes/1/", "leases/1/", "/api/v1/projects/apollo/decisions/"):
        hour.rest("cy", "GET", path)
    hour.tool("reader", "decision", "set", key="k", value="x")
    hour.tool("reader", "delete", refs=["memory:1"])
    hour.tool("reader", "decision", "get", key="api/auth/method")
    hour.tool("ada", "decision", "nosuch", key="k")
    hour.tool("ada", "decisions", "list")
    hour.tool("ada", "decision", "list", agent="ben", limit=1)
    hour.retried("ada", "once", "constraint", "add", category="own", text="Said once.")
    hour.retried("ada", "once", "constraint", "add", category="own", text="Said once.")
    hour.retried("ada", "once", "constraint", "add", category="own", text="Said twice.")
