"""Wrong first calls, as models make them that know other servers, REST, SQL or other languages.

They were written from those servers' documents, before the hub was asked what it suggests for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FirstGuess:
    """A first call, and the operations that would be right; `<memory>` stands for the id of a memory."""

    expected: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.tool} {dict(self.arguments)}"


def first(expected: str, tool: str, **arguments: Any) -> FirstGuess:
    return FirstGuess(tuple(expected.split("|")), tool, arguments)


NOTE = {"title": "Pools", "content": "They leak when a worker is killed."}

FIRST_GUESSES = [
    # sqlew: one tool for each operation, then tools with actions.
    first(
        "decision.set",
        "set_decision",
        key="api/auth",
        value="JWT",
        agent="ada",
        layer="business",
        tags=["api"],
        scopes=["api"],
        status="active",
    ),
    first("decision.list", "get_context", status="active", tags=["api"], tag_match="OR"),
    first("decision.list", "search_by_tags", tags=["api"], match_mode="AND"),
    first("decision.list", "search_by_layer", layer="data", include_tags=True),
    first("decision.versions", "get_versions", key="api/auth"),
    first(
        "message.send",
        "send_message",
        from_agent="ada",
        to_agent="ben",
        msg_type="info",
        message="Done.",
        priority="high",
    ),
    first("message.inbox", "get_messages", agent_name="ada", unread_only=True, msg_type_filter="request"),
    first("message.read", "mark_read", message_ids=["<message>"], agent_name="ada"),
    first(
        "file.record",
        "record_file_change",
        file_path="src/a.py",
        agent_name="ada",
        change_type="modified",
        layer="data",
        description="Rotate.",
    ),
    first("file.changes", "get_file_changes", file_path="src/a.py", agent_name="ben", since="2h"),
    first("file.check_lock", "check_file_lock", file_path="src/a.py", lock_duration=600),
    first(
        "constraint.add",
        "add_constraint",
        category="security",
        constraint_text="No secrets in logs.",
        priority="high",
        created_by="ada",
    ),
    first("constraint.list", "get_constraints", category="security", active_only=True, limit=50),
    first("constraint.deactivate", "deactivate_constraint", constraint_id="<constraint>"),
    first("hub.layer_summary", "get_layer_summary"),
    first(
        "decision.list",
        "decision",
        action="search_advanced",
        tags_any=["api"],
        search_text="JWT",
        sort_by="updated",
    ),
    first(
        "hub.updates",
        "decision",
        action="has_updates",
        agent_name="ada",
        since_timestamp="2026-11-20T00:00:00Z",
    ),
    first("message.read", "message", action="mark_read", message_ids=["<message>"], agent_name="ada"),
    first("hub.stats", "stats", action="db_stats"),
    first("hub.layer_summary", "stats", action="layer_summary"),
    first("hub.activity", "stats", action="activity_log", since="1h", agent_names=["ben"]),
    first("hub.config", "config", action="get"),
    first("file.changes", "file", action="get", file_path="src/a.py"),
    first("decision.set_batch", "decision", action="set_batch", decisions=[{"key": "a/b", "value": "x"}]),
    first("message.send_batch", "message", action="send_batch", messages=[{"text": "Hi.", "to": ["ben"]}]),
    first(
        "decision.from_template",
        "decision",
        action="set_from_template",
        template="deprecation",
        key="api/v1",
        value="Gone in May.",
    ),
    first(
        "decision.set",
        "decision",
        action="add_decision_context",
        key="api/auth",
        rationale="Stateless.",
        alternatives_considered=["Sessions"],
        decided_by="ada",
    ),
    first("decision.suggest", "suggest", action="by_key", key="api/auth", min_score=50),
    first("message.send", "task", action="create", title="Mend the login.", assigned_agent="ben"),
    # Scratchpad MCP.
    first(
        "scratchpad.create_workflow", "create-workflow", name="Refactoring", description="Split the views."
    ),
    first("scratchpad.list", "list-scratchpads", workflow_id="<workflow>", include_content=False),
    first("scratchpad.get", "get-scratchpad", id="<pad>", line_range={"start": 1, "end": 5}),
    first("scratchpad.get", "tail-scratchpad", id="<pad>", tail_size={"lines": 5}),
    first("scratchpad.append", "append-scratchpad", id="<pad>", content="2. More", include_content=False),
    first(
        "scratchpad.update",
        "update-scratchpad",
        id="<pad>",
        mode="replace_lines",
        start_line=1,
        end_line=1,
        content="1. New",
    ),
    first("scratchpad.search", "search-scratchpad-content", id="<pad>", query="Some"),
    first("scratchpad.workflows", "search-workflows", query="Refactoring"),
    first("scratchpad.close_workflow", "update-workflow-status", workflow_id="<workflow>", is_active=False),
    first("scratchpad.workflows", "get-latest-active-workflow"),
    # WakeIQX.
    first("snapshot.save", "save_context", project="apollo", content="We chose Redis.", source="mcp"),
    first("snapshot.load", "load_context", project="apollo", limit=3),
    first("snapshot.search", "search_context", query="redis", project="apollo"),
    first("snapshot.stats", "get_causality_stats", project="apollo"),
    first("snapshot.graph", "get_causal_graph", project="apollo", limit=50),
    first("snapshot.impact", "get_cross_project_dependents", snapshotId="<snapshot>"),
    first(
        "message.send",
        "create_task",
        project="apollo",
        objective="Mend the login.",
        requestedBy="ada",
        assignedTo="ben",
    ),
    first("message.claim", "claim_task", taskId="<request>"),
    first("message.inbox", "get_tasks", status="open", assignedTo="ada"),
    # Free Context.
    first(
        "memory.context_create", "create_context", name="site", description="The shop's site.", tags=["web"]
    ),
    first("memory.contexts", "list_contexts", limit=50, offset=0),
    first("memory.context_update", "update_context", contextId="shop", description="The shop."),
    first("memory.list", "list_memories", contextId="shop", type="note", limit=50),
    first("memory.update", "update_memory", memoryId="<memory>", title="Pools of connections"),
    first("delete", "delete_memory", memoryId="<memory>"),
    first("memory.search", "search_memories", query="pools", contextId="shop", mode="compact"),
    first("memory.fuzzy", "fuzzy_search", query="pools", contextId="shop", tolerance=2),
    first("memory.search", "smart_search", query="pools", contextId="shop", minScore=0.1),
    first("memory.suggest_context", "auto_analyze_context", conversation="We cache the product list."),
    first(
        "memory.relationships",
        "find_relationships",
        memoryId="<memory>",
        threshold=0.3,
        createRelationships=False,
    ),
    first("memory.grep", "mgrep", pattern="leak", ignoreCase=True, contextLines=2, maxResults=10),
    # MetaMCP.
    first(
        "session.save",
        "saveSession",
        params={"workspaceId": "shop", "conversationContext": "We chose Redis."},
    ),
    first("session.list", "listSessions", workspaceId="shop", limit=5),
    first("delete", "deleteSession", sessionId="<session>"),
    first(
        "session.track",
        "trackResourceAccess",
        resourcePath="src/a.py",
        accessType="EDITED",
        sessionId="<session>",
    ),
    first("session.dependencies", "getResourceDependencies", resourcePath="src/a.py", direction="incoming"),
    # basic-memory.
    first("memory.add", "write_note", **NOTE, directory="shop", tags=["db"]),
    first("memory.get", "read_note", identifier="<memory>"),
    first("memory.search", "search_notes", query="pools", page_size=5),
    first("delete", "delete_note", identifier="<memory>"),
    first("hub.activity", "recent_activity", timeframe="7d"),
    # agent-mail.
    first("message.send", "send_message", sender_name="ada", to=["ben"], body_md="Done."),
    first(
        "message.send",
        "send_message",
        project_key="apollo",
        sender_name="ada",
        to=["ben"],
        subject="Status",
        body_md="Done.",
    ),
    first("message.inbox", "fetch_inbox", project_key="apollo", agent_name="ada", limit=10),
    first("message.ack", "acknowledge_message", agent_name="ada", message_id="<message>"),
    first("message.read", "mark_message_read", agent_name="ada", message_id="<message>"),
    first("message.send", "reply_message", message_id="<message>", sender_name="ada", body_md="I do."),
    first("file.lease", "file_reservation_paths", agent_name="ada", paths=["src/a.py"], reason="Refactoring"),
    first("search", "search_messages", query="deploy"),
    # server-memory.
    first("search|memory.search", "search_nodes", query="pools"),
    # REST.
    first("decision.get", "decision", method="GET", key="api/auth"),
    first("memory.add", "memory", action="POST", **NOTE),
    first("memory.update", "memory", action="PATCH", id="<memory>", title="Pools of connections"),
    first("delete", "memory", action="DELETE", id="<memory>"),
    first("decision.set", "decision", action="PUT", key="a/b", value="x"),
    first("constraint.list", "constraint", action="GET", category="security"),
    first("get|memory.get", "get", kind="memory", id="<memory>"),
    first("delete", "delete", kind="memory", id="<memory>"),
    first("delete", "delete", key="api/auth"),
    # SQL.
    first("decision.get|decision.list", "decision", action="select", where={"key": "api/auth"}),
    first("decision.set", "decision", action="insert", key="a/b", value="x"),
    first("decision.list", "decision", action="list", where={"layer": "data"}, order_by="key"),
    first("memory.list", "memory", action="list", filter={"type": "note"}, count=5),
    # Camel case.
    first("decision.list", "decision", action="list", excludeTags=["old"]),
    first("file.check_lock", "checkLock", filePath="src/a.py"),
    first("file.lease", "file", action="lease", paths=["src/a.py"], leaseMinutes=10),
    first("message.send", "message", action="send", text="I do.", replyTo="<message>"),
    first("memory.add", "memory", action="add", **NOTE, contextName="shop", memoryType="note"),
    # Plural and singular.
    first("memory.list", "memories", action="list"),
    first("file.leases", "leases"),
    first("scratchpad.list", "scratchpads", workflow_id="<workflow>"),
    first("session.list", "sessions"),
    first("hub.vocabulary", "tags"),
    # The right action of another tool, and an action where there is none.
    first("check", "file", action="check", paths=["src/a.py"]),
    first("message.inbox", "hub", action="inbox"),
    first("file.leases", "hub", action="leases"),
    first("brief", "brief", action="start", task="Mend the login."),
    # Arguments within arguments.
    first("decision.set", "decision", action="set", params={"key": "a/b", "value": "x"}),
    first("search", "search", input={"query": "pools"}),
    first("decision.get", "decision", params={"action": "get", "key": "api/auth"}),
    first("message.send", "message", action="send", kwargs={"text": "Hi.", "to": ["ben"]}),
    first("memory.search", "memory", action="search", arguments='{"query": "pools"}'),
    first("memory.add", "memory", action="add", memory=NOTE),
    # No action.
    first("file.record", "file", file_path="src/a.py", change_type="modified"),
    first("hub.activity|hub.updates", "hub", since="2h"),
    # Typing errors.
    first("memory.search", "memory", action="serach", query="pools"),
    first("decision.set", "decision", action="set", ky="a/b", value="x"),
    # Who speaks, and who wrote.
    first("decision.set", "decision", action="set", key="a/b", value="x", author="ada"),
    first("decision.list", "decision", action="list", created_by="ben"),
    first("message.send", "message", action="send", text="Hi.", **{"from": "ada"}, to=["ben"]),
    first("search", "search", query="pools", author="ben"),
]


# Written once the suggestions were mended for those above, and counted once.
HELD_OUT = [
    first("decision.set", "add_decision", title="db/pool", decision="PgBouncer", why="Fewer connections."),
    first("decision.get", "decision", action="fetch", name="api/auth"),
    first("decision.list", "list_all_decisions", max=5),
    first("decision.list", "decision", action="find", q="JWT", area="api"),
    first("decision.versions", "decision", action="getHistory", decisionKey="api/auth"),
    first("decision.deprecate", "decision", action="archive", key="api/auth", why="Replaced."),
    first("decision.set", "decision", action="update", decision_key="api/auth", new_value="PASETO"),
    first("constraint.add", "create_rule", category="security", rule="Rotate keys.", severity="high"),
    first("constraint.list", "list_rules", category="security"),
    first("constraint.deactivate", "remove_constraint", id="<constraint>"),
    first("message.send", "message", action="sendMessage", recipient="ben", content="Hi.", sender="ada"),
    first("message.send", "notify_agent", agent="ben", message="Deploy at noon."),
    first("message.thread", "get_thread", thread_id="<message>"),
    first("message.inbox", "check_mail", unread=True),
    first("file.lease", "reserve_file", filename="src/a.py", duration_minutes=20),
    first("file.leases", "list_locks", agent_name="ben"),
    first("file.release", "release_lock", lock_id="<lease>"),
    first("file.record", "log_file_change", path="src/a.py", type="modified", summary="Rotate."),
    first("memory.add", "create_memory", name="Pools", text="They leak.", tag="db"),
    first("memory.search", "memory", action="query", params={"q": "pools", "top_k": 3}),
    first("memory.get", "memory", action="open", memoryId="<memory>"),
    first("delete", "memory", action="erase", memory_ids=["<memory>"]),
    first("memory.relate", "create_relation", **{"from": "memory:<memory>"}, to="decision:api/auth"),
    first("scratchpad.append", "scratchpad", action="add_content", pad_id="<pad>", text="2. More"),
    first("scratchpad.create", "new_scratchpad", workflowId="<workflow>", title="plan", body="x"),
    first("snapshot.save", "create_snapshot", summary="We chose Redis.", tags="db"),
    first("session.restore", "load_session", session_id="<session>", max_tokens=2_000),
    first("session.save", "session", action="store", input={"transcript": "We chose Redis.", "cwd": "shop"}),
    first("search", "hub", action="find", query="pools", count=3),
    first("get", "open_nodes", names=["decision:api/auth"]),
]

# Nothing of the hub does this to the object: following the errors, step by step, writes nothing.
LEADS_NOWHERE = [
    first("", "constraint", action="update", id="<constraint>", priority="high"),
    first("", "message", action="delete", id="<message>"),
    first("", "message", action="edit", id="<message>", text="Hi."),
    first("", "memory", action="set", key="a/b", value="x"),
    first("", "decision", action="lease", paths=["src/a.py"]),
    first("", "decision", action="append", key="api/auth", content="x"),
    first("", "file", action="delete", path="src/a.py"),
    first("", "file", all=True),
    first("", "message", all=True),
    first("", "message", ids=["<message>"], all=True),
    first("", "constraint", id="<constraint>"),
    first("", "constraint", id="<constraint>", reason="Old."),
    first("", "memory", action="delete", context="shop"),
    first("", "memory", action="append", id="<memory>", content="More."),
    first("", "memory", action="add", id="<memory>", title="x", content="More."),
    first("", "edit_note", identifier="<memory>", operation="append", content="More."),
    first("", "update", id="<memory>", content="More."),
    first("", "memory", action="update", id="<memory>", mode="append", content="More."),
    first("", "memory", action="update", id="<memory>", description="About pools."),
    first("", "constraint", action="deactivate", memory_id="<constraint>"),
    first("", "release", all=True),
    first("", "clear"),
    first("", "clear_messages"),
    first("", "delete_entities", entityNames=["Pools"]),
    first("", "create_branch", name="x"),
    first("", "unread_messages"),
    first("", "select", table="decisions", where={"key": "api/auth"}),
    first("", "decision", action="has_updates"),
    first("", "scratchpad", action="append", scratchpad_id="<pad>", content="x", mode="replace"),
    first("", "memory", action="delete", id="<memory>", force=True),
]
