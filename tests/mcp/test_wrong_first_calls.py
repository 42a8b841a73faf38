"""First calls that models guess before they read the tools: refused, and right once the error is followed.

The guesses were collected before there were suggestions. `follow` is mechanical: it takes `call`, renames
arguments by `did_you_mean` and replaces the wrong value, at most three times.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.aliases import OTHER_ACTIONS, OTHER_ARGUMENTS, OTHER_CALLS, OTHER_NOUNS
from ctxhub.toolbox.arguments import LONG_LIST, Arguments, Problems
from ctxhub.toolbox.dispatch import call
from ctxhub.toolbox.suggestions import fitting_action
from ctxhub.toolbox.tool_list import find_call
from tests.hub import McpClient
from tests.mcp.wrong_calls import NOTE, SPENDING, Client, corrected, filled, operation, prepare
from tests.stdio import stdio_hub
from tests.timing import within_cpu_seconds

pytestmark = pytest.mark.one_engine

MAX_ROUNDS = 3


@dataclass(frozen=True)
class Guess:
    """A first call and the operation it should end at; `<memory>` stands for the id of an existing memory."""

    tool: str
    arguments: Mapping[str, Any]
    expected: str

    def __str__(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments)}"


def guess(expected: str, tool: str, **arguments: Any) -> Guess:
    return Guess(tool, arguments, expected)


GUESSES = [
    # Other words for arguments, and for `action` itself.
    guess(
        "decision.set", "decision", action="record", topic="api/auth", choice="JWT", reasoning="Stateless."
    ),
    guess("decision.list", "decision", operation="list"),
    guess("decision.list", "decision", actoin="list"),
    guess("decision.set", "decision", command="set", key="api/auth", value="JWT"),
    guess("search", "search", query="pools", types=["memory"]),
    guess("memory.add", "memory", action="create", **NOTE, namespace="shop"),
    guess("session.save", "session", action="checkpoint", notes="Half done.", workspace="shop"),
    guess("session.save", "session", action="end", summary="Done."),
    guess("brief", "brief", goal="Mend the login.", budget=600),
    guess("brief", "get_brief", task="Mend the login."),
    guess("check", "check", files=["src/a.py"], task="Mend the login."),
    guess("get", "fetch", id="memory:<memory>"),
    guess("search", "find", query="pools"),
    guess("file.lease", "file", action="claim", files=["src/a.py"]),
    # Tools of other servers.
    guess("memory.add", "save_memory", **NOTE),
    guess("memory.add", "add_memory", **NOTE, contextId="shop"),
    guess("memory.add", "store_memory", title="Pools", text="They leak."),
    guess("memory.add", "memory_store", name="Pools", body="They leak.", labels=["db"]),
    guess("memory.capture", "remember", content="We decided to keep sessions in PostgreSQL 16."),
    guess("memory.capture", "remember", text="We decided to keep sessions in PostgreSQL 16."),
    guess("search", "recall", query="why do pools leak?"),
    guess("memory.search", "search_memory", query="pools", max_results=5),
    guess("memory.search", "search_memories", q="pools"),
    guess("memory.get", "get_memory", memory_id="<memory>"),
    guess("delete", "forget_memory", id="<memory>"),
    guess("file.lease", "lock_file", path="src/a.py", minutes=10),
    guess("file.lease", "acquire_lock", file_path="src/a.py", reason="Refactoring"),
    guess("file.release", "unlock_file", lease="<lease>"),
    guess("file.check_lock", "check_file_lock", file_path="src/a.py"),
    guess("message.send", "send_message", to_agent="ben", message="Please look."),
    guess("message.send", "send", recipient="ben", text="Please look."),
    guess("message.send", "broadcast", message="Deploy at noon."),
    guess("message.inbox", "get_messages", agent_name="ada", unread_only=True),
    guess("message.inbox", "read_messages", limit=5),
    guess("message.inbox", "check_inbox"),
    guess("decision.set", "set_decision", context_key="a/b", value="x"),
    guess("decision.set", "record_decision", key="a/b", decision="JWT", reason="Stateless."),
    guess("decision.set", "log_decision", title="a/b", decision="JWT", rationale="Stateless."),
    guess("decision.get", "get_decision", key_name="api/auth"),
    guess("decision.list", "list_decisions", tag="api"),
    guess("decision.list", "search_decisions", query="JWT"),
    guess("constraint.add", "add_constraint", category="security", constraint_text="No secrets in logs."),
    guess("constraint.list", "get_constraints", active_only=True),
    guess("scratchpad.create", "create_scratchpad", workflow_id="<workflow>", title="notes", content="x"),
    guess("scratchpad.append", "append-scratchpad", id="<pad>", content="2. More"),
    guess("scratchpad.create_workflow", "create-workflow", title="Refactoring"),
    guess("file.record", "record_file_change", file_path="a.py", change_type="edited", agent_name="ada"),
    guess("hub.stats", "get_stats"),
    guess("hub.stats", "status"),
    guess("memory.context_get", "get_context", contextId="shop"),
    guess("snapshot.save", "save_context", content="We chose Redis.", actionType="decision"),
    guess("snapshot.save", "saveContext", text="We chose Redis.", cause="<snapshot>"),
    guess("snapshot.load", "load_context", limit=3, personality_mode="auditor"),
    guess("snapshot.search", "search_context", query="redis", mode="prophet"),
    guess("snapshot.why", "reconstruct_reasoning", snapshotId="<snapshot>"),
    guess("snapshot.chain", "build_causal_chain", snapshot_id="<snapshot>"),
    guess("snapshot.retier", "recalculate_memory_tiers"),
    guess("snapshot.predict", "update_predictions", staleThreshold=24),
    guess("snapshot.prefetch", "get_high_value_contexts", minScore=0.5, limit=3),
    guess("snapshot.stats", "get_memory_health"),
    guess("session.save", "saveSession", workspaceId="shop", conversationContext="We chose Redis."),
    guess("session.save", "end_session", transcript="We chose Redis.", gitBranch="main"),
    guess("session.restore", "restoreSession", workspaceId="shop", tokenBudget=2_000),
    guess("session.restore", "session", action="resume", sessionId="<session>", tokenBudget=2_000),
    guess("session.get", "getSession", session_id="<session>"),
    guess("session.track", "trackResourceAccess", resourcePath="src/a.py", accessType="viewed"),
    guess("session.resources", "getResourcesForSession", sessionId="<session>"),
    guess(
        "session.depend",
        "addResourceDependency",
        sourcePath="a.py",
        targetPath="b.py",
        dependencyType="import",
    ),
    guess("session.dependencies", "getResourceDependencies", resourcePath="src/a.py"),
    guess("session.prioritize", "prioritizeResources", tokenBudget=2_000),
    guess("hub.activity", "history", since="2h"),
    guess("hub.agents", "list_agents"),
    guess("message.send", "create_task", title="Tests", description="They fail.", assignee="ben"),
    # Actions under other names.
    guess("memory.add", "memory", action="store", **NOTE),
    guess("memory.add", "memory", action="remember", **NOTE),
    guess("memory.search", "memory", action="recall", query="pools"),
    guess("delete", "memory", action="remove", id="<memory>"),
    guess("decision.set", "decision", action="save", key="a/b", value="x"),
    guess("decision.set", "decision", action="store", name="a/b", value="x"),
    guess("decision.set", "decision", action="Set", key="a/b", value="x"),
    guess("decision.quick_set", "decision", action="quick-set", key="a/b", value="x"),
    guess("delete", "memory", action="delete", id="<memory>"),
    guess("delete", "memory", action="context_delete", context="shop"),
    guess("delete", "context_delete", context="shop"),
    guess("delete", "decision", action="delete", key="api/auth"),
    guess("delete", "decision_delete", key="api/auth"),
    guess("delete", "scratchpad", action="delete", scratchpad_id="<pad>"),
    guess("delete", "scratchpad", action="delete_workflow", workflow_id="<workflow>"),
    guess("delete", "snapshot", action="delete", id="<snapshot>"),
    guess("delete", "session", action="delete", session="<session>"),
    guess("delete", "remove", refs=["memory:<memory>"]),
    guess("decision.deprecate", "decision", action="remove", key="api/auth"),
    guess("decision.list", "decision", action="search", query="JWT"),
    guess("constraint.add", "constraint", action="create", category="security", text="x", severity="urgent"),
    guess("constraint.deactivate", "constraint", action="delete", constraint_id="<constraint>"),
    guess("message.send", "message", action="post", to="ben", body="Hi."),
    guess("message.send", "message", action="reply", id="<message>", text="I do."),
    guess("message.ack", "message", action="acknowledge", message_id="<message>"),
    guess("message.inbox", "message", action="check"),
    guess("file.lease", "file", action="lock", path="src/a.py"),
    guess("file.release", "file", action="unlock", path="src/a.py"),
    guess("file.check_lock", "file", action="status", path="src/a.py"),
    guess("scratchpad.append", "scratchpad", action="write", id="<pad>", text="2. More"),
    guess("scratchpad.get", "scratchpad", action="read", pad="<pad>"),
    guess("hub.stats", "hub", action="status"),
    guess("hub.updates", "hub", action="whats_new"),
    # Arguments under other names, often several at once.
    guess("decision.set", "decision", action="set", name="a/b", decision="JWT", reason="Stateless."),
    guess("decision.set", "decision", action="set", key="a/b", value="x", because="y", labels=["api"]),
    guess("decision.set", "decision", action="set", key="a/b", content="JWT", notes="Stateless."),
    guess("decision.deprecate", "decision", action="deprecate", key="api/auth", rationale="Revocation."),
    guess("memory.add", "memory", action="add", heading="Pools", body="They leak.", topics=["db"]),
    guess("memory.search", "memory", action="search", text="pools", k=5),
    guess("search", "search", text="why do pools leak?"),
    guess("search", "search", q="pools", type="memory", top_k=3),
    guess("message.send", "message", action="send", message="Hi.", recipients=["ben"], urgency="high"),
    guess("message.send", "message", action="send", content="Hi.", to="ben", subject="Greeting"),
    guess("file.record", "file", action="record", file="a.py", type="modified", summary="Rotate."),
    guess("file.lease", "file", action="lease", files=["src/a.py"], ttl_minutes=30),
    guess("constraint.add", "constraint", action="add", type="security", rule="No secrets in logs."),
    guess("scratchpad.create", "scratchpad", action="create", workflow="<workflow>", title="n", body="x"),
    # Values under other names.
    guess("message.send", "message", action="send", text="Now.", priority="urgent"),
    guess("message.send", "message", action="send", text="Why?", type="question"),
    guess("memory.add", "memory", action="add", **NOTE, type="fact"),
    guess("decision.set", "decision", action="set", key="a/b", value="x", status="approved"),
    guess("decision.set", "decision", action="set", key="a/b", value="x", layer="frontend"),
    guess("decision.list", "decision", action="list", sort="newest"),
    guess("search", "search", query="pools", detail="full"),
    # Calls without an action, and arguments that no action has.
    guess("decision.set", "decision", key="a/b", decision="JWT"),
    guess("message.send", "message", body="Hi.", to="ben"),
    guess("memory.search", "memory", q="pools"),
    guess("memory.capture", "memory", text="We decided to keep sessions in PostgreSQL 16."),
    # Refs and ids, lists and texts.
    guess("memory.get", "memory", action="get", id="memory:<memory>"),
    guess("get", "get", ref="decision:api/auth"),
    guess("get", "get", id="memory:<memory>"),
    guess("get", "get", ids=["memory:<memory>"]),
    guess("get", "get", key="api/auth"),
    guess("message.ack", "message", action="ack", id="message:<message>"),
    guess("decision.set", "decision", action="set", key="a/b", value="x", tags="api,security"),
    # What is to do, and how much to tell.
    guess("message.send", "todo", text="Mend the login.", to="ben"),
    guess("memory.add", "todo", **NOTE),
    guess("message.inbox", "todo"),
    guess("message.inbox", "list_todos"),
    guess("message.send", "add_todo", todo="Mend the login."),
    guess("session.save", "TodoWrite", todos=[{"category": "task", "content": "Mend the login."}]),
    guess("message.inbox", "message", action="todo"),
    guess("message.send", "message", action="todo", text="Mend the login."),
    guess("message.send", "message", action="send", todo="Mend the login.", type="todo"),
    guess("message.inbox", "message", action="inbox", state="todo"),
    guess("memory.add", "memory", action="add", title="Login", todo="Mend it.", type="todo"),
    guess("brief", "brief", todo="Mend the login."),
    guess("search", "search", query="pools", verbose=True),
    guess("search", "search", query="pools", detail="verbose"),
    guess("memory.search", "memory", action="search", query="pools", verbose=True),
    guess("get", "get", refs=["decision:api/auth"], verbose=True),
    guess("decision.list", "decision", action="list", verbose=True),
    guess("constraint.list", "constraint", action="list", verbose=True),
    guess("decision.list", "decision", action="list", detail=True),
    guess("scratchpad.list", "scratchpad", action="list", workflow_id="<workflow>", verbose=True),
    guess("session.get", "session", action="get", session="<session>", verbose=True),
]


# Calls without a helpful suggestion: no other operation takes their arguments.
UNRESOLVED = {
    'create_task {"title": "Tests", "description": "They fail.", "assignee": "ben"}',
    'message {"action": "send", "content": "Hi.", "to": "ben", "subject": "Greeting"}',
    # Two operations take only a text, and the one that only reads is suggested.
    'memory {"text": "We decided to keep sessions in PostgreSQL 16."}',
}


# Calls that are accepted as they are.
ACCEPTED = {
    'decision {"action": "Set", "key": "a/b", "value": "x"}',
    'decision {"action": "quick-set", "key": "a/b", "value": "x"}',
    'decision {"action": "set", "key": "a/b", "value": "x", "tags": "api,security"}',
    'memory {"action": "get", "id": "memory:<memory>"}',
    # The other number of an argument is understood.
    'get {"ref": "decision:api/auth"}',
    'message {"action": "ack", "id": "message:<message>"}',
}


def follow(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Follow the suggestions; return the final operation and all answers."""
    answers = [client.call(tool, **arguments)]
    while "error" in answers[-1] and len(answers) <= MAX_ROUNDS:
        tool, arguments = corrected(tool, arguments, answers[-1])
        answers.append(client.call(tool, **arguments))
    return operation(tool, arguments), answers


def try_all(
    guesses: Iterable[Guess], ada: Client, ben: Client
) -> Iterator[tuple[Guess, bool, list[dict[str, Any]]]]:
    ids: dict[str, int] = {}
    for first_call in guesses:
        ids = ids or prepare(ada, ben)
        arguments = {name: filled(value, ids) for name, value in first_call.arguments.items()}
        called, answers = follow(ada, first_call.tool, arguments)
        yield first_call, called == first_call.expected and "error" not in answers[-1], answers
        ids = {} if called in SPENDING else ids


def test_a_wrong_first_call_is_corrected_by_its_suggestions(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    tried = list(try_all(GUESSES, ada_mcp, ben_mcp))
    assert {str(first_call) for first_call, is_right, _ in tried if not is_right} == UNRESOLVED
    assert (len(tried), sum(is_right for _, is_right, _ in tried)) == (159, 156)
    at_once = [first_call for first_call, is_right, answers in tried if is_right and len(answers) == 1]
    assert set(map(str, at_once)) == ACCEPTED


# -- On a flat surface -----------------------------------------------------------------------------


def flattened(first_call: Guess) -> Guess:
    """The same guess with the name of a flat tool: `memory_store`."""
    rest = {name: value for name, value in first_call.arguments.items() if name != "action"}
    return Guess(
        "_".join([first_call.tool, *filter(None, [first_call.arguments.get("action")])]),
        rest,
        first_call.expected,
    )


@pytest.mark.django_db(transaction=True)
def test_suggestions_on_a_flat_surface_name_flat_tools(apollo: Project) -> None:
    needs_action = {name for name, tool in all_tools().items() if not tool.is_single}
    guesses = [
        flattened(first_call)
        for first_call in GUESSES
        if first_call.tool not in needs_action or "action" in first_call.arguments
    ]
    expected_unresolved = {
        str(flattened(first_call)) for first_call in GUESSES if str(first_call) in UNRESOLVED
    }
    unresolved = set()
    flat = {action.flat_name for tool in all_tools().values() for action in tool.actions.values()}
    with (
        stdio_hub("--project", "apollo", "--agent", "ada", "--surface", "flat") as ada,
        stdio_hub("--project", "apollo", "--agent", "ben") as ben,
    ):
        for client in (ada, ben):
            client.start()
        for first_call, is_right, answers in try_all(guesses, ada, ben):
            unresolved |= set() if is_right else {str(first_call)}
            for error in (answer for answer in answers if "error" in answer):
                assert "action" not in error.get("call", {}), error
                if "no tool" in error["message"] and "call" in error:
                    assert error["call"]["tool"] in flat, error
                assert not re.search(r"\b[a-z]+\.[a-z_]+ has no", error["message"]), error
    assert unresolved <= expected_unresolved
    assert (len(guesses), len(guesses) - len(unresolved)) == (152, 150)


# -- Limits of suggestions -------------------------------------------------------------------------


def refusal(tool: str, arguments: dict[str, Any], ada: Caller, **surface: Any) -> dict[str, Any]:
    try:
        with naming_tools(**{"flat": False, **surface}):
            name, given = find_call(tool, arguments)
            call(ada, name, given)
    except CtxhubError as error:
        return error.body()
    pytest.fail("The call was not refused.")


@pytest.mark.parametrize(
    ("tool", "arguments", "grouped", "flat"),
    [
        ("memory_get", {"id": 10**9}, "memory search finds", "memory_search finds"),
        ("memory_context_get", {"context": "x"}, "memory contexts lists", "memory_contexts lists"),
        ("message_thread", {"id": 10**9}, "message inbox shows", "message_inbox shows"),
        ("constraint_activate", {"id": 10**9}, "constraint list shows", "constraint_list shows"),
        ("decision_deprecate", {"key": "x"}, "decision list shows", "decision_list shows"),
        ("file_renew", {"lease_id": 10**9}, "file leases shows", "file_leases shows"),
        ("scratchpad_append", {"scratchpad_id": 10**9, "content": "x"}, "scratchpad list", "scratchpad_list"),
        ("decision_set_batch", {"items": ["x"]}, "what `set` takes", "what `decision_set` takes"),
        ("decision", {"action": "zzz"}, 'with action "help"', "a tool of its own"),
        ("decision", {"items": [], "key": "x"}, 'with action "help"', "a tool of its own"),
    ],
)
def test_hints_name_operations_as_the_surface_does(
    ada: Caller, tool: str, arguments: dict[str, Any], grouped: str, flat: str
) -> None:
    assert grouped in refusal(tool, arguments, ada)["hint"]
    assert flat in refusal(tool, arguments, ada, flat=True)["hint"]


def test_messages_name_operations_as_the_surface_does(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="eve", scopes=frozenset({"read"}))
    for arguments in ({"key": "x", "zzz": 1}, {}, {"key": "x", "value": True}):
        for caller in (Caller(project=apollo, agent="ada"), reader):
            assert "decision.set" in refusal("decision_set", arguments, caller)["message"]
            assert "decision_set" in refusal("decision_set", arguments, caller, flat=True)["message"]


def test_suggestions_are_limited_to_the_tools_of_the_connection(ada: Caller) -> None:
    """A profile or a choice of tools hides the others."""
    arguments = {"title": "x", "content": "y"}
    assert refusal("save_memory", arguments, ada)["call"] == {"tool": "memory", "action": "add"}
    hidden = refusal("save_memory", arguments, ada, offered=["search", "get", "decision", "message"])
    assert hidden.get("call", {}).get("tool") != "memory"
    assert "memory" not in hidden["allowed"]
    assert refusal("get", {"key": "x"}, ada, offered=["get"])["call"]["tool"] == "get"


def test_a_suggestion_never_names_a_given_argument(ada: Caller) -> None:
    error = refusal("decision_set", {"key": "a", "name": "b", "value": 1, "decision": 2}, ada)
    assert "did_you_mean" not in error
    assert "call" not in error


def test_null_counts_as_not_given(ada: Caller) -> None:
    """Strict clients send null for every argument that they leave out."""
    arguments = {"path": "a", "key": None, "value": None, "limit": None}
    assert refusal("lock_file", arguments, ada)["call"] == {"tool": "file", "action": "lease"}


def test_two_names_are_never_suggested_for_one_argument(ada: Caller) -> None:
    error = refusal("decision_set", {"name": "a", "title": "b", "decision": 1, "answer": 2}, ada)
    assert sorted(error["did_you_mean"].values()) == ["key", "value"]


def test_writes_and_deletions_are_not_suggested_for_reads(ada: Caller) -> None:
    for tool in all_tools().values():
        for action in tool.actions.values():
            given = {"zzz": 1, **dict.fromkeys(action.arguments.names)}
            if other := fitting_action(action, all_tools().values(), given):
                assert (other.action.writes, other.action.destroys) == (action.writes, False)


def test_many_unknown_names_cost_little(ada: Caller) -> None:
    many = {f"{n:04}" + "x" * 300: n for n in range(3_000)}
    with within_cpu_seconds(1):
        error = refusal("decision_set", many, ada)
        refusal("zzz", many, ada)
        refusal("decision", many, ada)
    assert len(str(error)) < 2_000


@pytest.mark.parametrize("entry", [1, [], {}, None])
def test_of_a_long_list_the_beginning_alone_is_described(
    ada: Caller, entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each problem is described in one step, for which all other threads wait."""
    described: list[int] = []
    of = Problems.of

    def record(error: Any) -> Problems:
        described.append(error.error_count())
        return of(error)

    monkeypatch.setattr(Problems, "of", record)
    assert len(str(refusal("check", {"paths": [entry] * 98_000}, ada))) < 1_000
    assert described == [LONG_LIST]


@pytest.mark.parametrize("item", [{}, {"key": 1, "value": {}, "x": 2}, 1])
def test_too_many_items_are_refused_before_each_is_checked(
    ada: Caller, item: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[object] = []
    check = Arguments.check

    def record(arguments: Arguments, *given: Any, **also: Any) -> dict[str, Any]:
        checked.append(given)
        return check(arguments, *given, **also)

    monkeypatch.setattr(Arguments, "check", record)
    error = refusal("decision", {"action": "set_batch", "items": [item] * 20_000}, ada)
    assert error["message"] == "items has 20000 entries; the limit is 50."
    assert len(checked) == 1


def test_aliases_name_existing_operations_and_arguments() -> None:
    known = {name for tool in all_tools().values() for a in tool.actions.values() for name in a.known}
    # `ordering` is REST's.
    assert {name for names in OTHER_ARGUMENTS.values() for name in names} <= {*known, "action", "ordering"}
    actions = {name for tool in all_tools().values() for name in tool.actions}
    assert {name for names in OTHER_ACTIONS.values() for name in names} <= actions
    operations = {(tool.name, name) for tool in all_tools().values() for name in tool.actions}
    assert {name for calls in OTHER_CALLS.values() for name in calls} <= operations
    assert set(OTHER_NOUNS.values()) <= set(all_tools())


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("decisions", {}, {"tool": "decision", "action": "list"}),
        ("decisions", {"key": "x", "value": 1}, {"tool": "decision", "action": "set"}),
        ("decisions", {"action": "get", "key": "x"}, {"tool": "decision", "action": "get"}),
        ("decisoin", {"key": "x"}, {"tool": "decision", "action": "get"}),
        ("Memory", {"query": "x"}, {"tool": "memory", "action": "search"}),
        ("serach", {"query": "x"}, {"tool": "search"}),
        ("decision-set", {"key": "x", "value": 1}, {"tool": "decision", "action": "set"}),
        ("decisionSet", {"key": "x", "value": 1}, {"tool": "decision", "action": "set"}),
        ("get_context", {"contextId": "shop"}, {"tool": "memory", "action": "context_get"}),
        ("get_context", {"tags": ["api"]}, {"tool": "decision", "action": "list"}),
        ("list_workflows", {}, {"tool": "scratchpad", "action": "workflows"}),
    ],
)
def test_the_operation_for_a_guessed_name_is_suggested(
    ada: Caller, tool: str, arguments: dict[str, Any], expected: dict[str, str]
) -> None:
    assert refusal(tool, arguments, ada)["call"] == expected
    flat = refusal(tool, arguments, ada, flat=True)["call"]
    assert flat == {"tool": "_".join([expected["tool"], *filter(None, [expected.get("action")])])}
