"""What models guess before they have read the tools: refused, and right once the refusal is followed.

The guesses were written down before there were suggestions to follow. Whoever follows thinks of nothing: it
takes `call`, renames arguments as `did_you_mean` says, replaces the word that was wrong, three times at most.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.core.models import Project
from ctxhub.core.toolbox.actions import all_tools, find_tool
from ctxhub.core.toolbox.aliases import OTHER_ACTIONS, OTHER_ARGUMENTS, OTHER_CALLS, OTHER_NOUNS
from ctxhub.core.toolbox.dispatch import call
from ctxhub.core.toolbox.suggestions import fitting_action
from ctxhub.core.toolbox.tool_list import find_call
from tests.hub import McpClient
from tests.stdio import stdio_hub

pytestmark = pytest.mark.one_engine

MOST_ROUNDS = 3


@dataclass(frozen=True)
class Guess:
    """A first call, and the operation that it ends at; `<memory>` stands for the id of one that is there."""

    tool: str
    arguments: Mapping[str, Any]
    meant: str

    def __str__(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments)}"


def guess(meant: str, tool: str, **arguments: Any) -> Guess:
    return Guess(tool, arguments, meant)


NOTE = {"title": "Pools", "content": "They leak when a worker is killed."}

GUESSES = [
    # Tools that others have.
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
    guess("memory.delete", "forget_memory", id="<memory>"),
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
    guess("memory.capture", "session", action="save", conversation="We decided to keep sessions in Redis."),
    guess("hub.updates", "session", action="restore"),
    guess("hub.activity", "history", since="2h"),
    guess("hub.agents", "list_agents"),
    guess("message.send", "create_task", title="Tests", description="They fail.", assignee="ben"),
    # Actions that a tool calls otherwise.
    guess("memory.add", "memory", action="store", **NOTE),
    guess("memory.add", "memory", action="remember", **NOTE),
    guess("memory.search", "memory", action="recall", query="pools"),
    guess("memory.delete", "memory", action="remove", id="<memory>"),
    guess("decision.set", "decision", action="save", key="a/b", value="x"),
    guess("decision.set", "decision", action="store", name="a/b", value="x"),
    guess("decision.set", "decision", action="Set", key="a/b", value="x"),
    guess("decision.quick_set", "decision", action="quick-set", key="a/b", value="x"),
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
    # Arguments, often several at once.
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
    # Words that an argument calls otherwise.
    guess("message.send", "message", action="send", text="Now.", priority="urgent"),
    guess("message.send", "message", action="send", text="Why?", type="question"),
    guess("memory.add", "memory", action="add", **NOTE, type="fact"),
    guess("decision.set", "decision", action="set", key="a/b", value="x", status="approved"),
    guess("decision.set", "decision", action="set", key="a/b", value="x", layer="frontend"),
    guess("decision.list", "decision", action="list", sort="newest"),
    guess("search", "search", query="pools", detail="full"),
    # No action, and what is no argument of any.
    guess("decision.set", "decision", key="a/b", decision="JWT"),
    guess("message.send", "message", body="Hi.", to="ben"),
    guess("memory.search", "memory", q="pools"),
    guess("memory.capture", "memory", text="We decided to keep sessions in PostgreSQL 16."),
    # Refs and ids, lists and texts.
    guess("memory.get", "memory", action="get", id="memory:<memory>"),
    guess("get", "get", ref="decision:api/auth"),
    guess("get", "get", id="memory:<memory>"),
    guess("get", "get", ids=["memory:<memory>"]),
    guess("decision.get", "get", key="api/auth"),
    guess("message.ack", "message", action="ack", id="message:<message>"),
    guess("decision.set", "decision", action="set", key="a/b", value="x", tags="api,security"),
]


# What no suggestion helps: nothing else takes what they say.
LOST = {
    'get_constraints {"active_only": true}',
    'create_task {"title": "Tests", "description": "They fail.", "assignee": "ben"}',
    'file {"action": "unlock", "path": "src/a.py"}',
    'message {"action": "send", "content": "Hi.", "to": "ben", "subject": "Greeting"}',
    # Two operations take a text alone, and the one that only reads is named.
    'memory {"text": "We decided to keep sessions in PostgreSQL 16."}',
}


# What is read as it is meant, and needs no suggestion.
TAKEN = {
    'decision {"action": "Set", "key": "a/b", "value": "x"}',
    'decision {"action": "quick-set", "key": "a/b", "value": "x"}',
    'decision {"action": "set", "key": "a/b", "value": "x", "tags": "api,security"}',
    'memory {"action": "get", "id": "memory:<memory>"}',
}


class Client(Protocol):
    def call(self, tool: str, action: str | None = None, /, **arguments: Any) -> dict[str, Any]: ...


def prepare(ada: Client, ben: Client) -> dict[str, int]:
    """What the guesses speak of, by its ids; said again before each, since some remove it."""
    ben.call("message", "inbox")
    ada.call("decision", "set", key="api/auth", value="JWT", tags=["api"], status="active")
    ada.call("memory", "context_create", name="shop")
    workflow = ada.call("scratchpad", "create_workflow")["workflow_id"]
    pad = ada.call("scratchpad", "create", workflow_id=workflow, name="notes", content="1. Some")
    return {
        "memory": ada.call("memory", "add", **NOTE, context="shop")["id"],
        "constraint": ada.call("constraint", "add", category="security", text="Sign tokens.")["id"],
        "message": ben.call("message", "send", text="Who knows?", to=["ada"], ack=True)["id"],
        "lease": ada.call("file", "lease", paths=["lib/**"])["lease_id"],
        "workflow": workflow,
        "pad": pad["scratchpad_id"],
    }


def filled(value: Any, there: Mapping[str, int]) -> Any:
    """The same with the ids in it."""
    if isinstance(value, list):
        return [filled(entry, there) for entry in value]
    if not isinstance(value, str):
        return value
    for name, row_id in there.items():
        if value == f"<{name}>":
            return row_id
        value = value.replace(f"<{name}>", str(row_id))
    return value


def corrected(tool: str, arguments: dict[str, Any], error: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The next call, from the error alone; the same one where it says nothing that can be followed."""
    meant, other = error.get("did_you_mean"), error.get("call")
    if isinstance(meant, dict):
        arguments = {meant.get(name, name): value for name, value in arguments.items()}
    if other:
        arguments = {name: value for name, value in arguments.items() if name != "action"}
        action = {"action": other["action"]} if "action" in other else {}
        return other["tool"], {**action, **arguments}
    if isinstance(meant, str):
        named = [name for name in arguments if is_of(name, error["message"])]
        arguments = {**arguments, **dict.fromkeys(named[:1], meant)}
    return tool, arguments


def is_of(name: str, message: str) -> bool:
    return message.startswith(f"{name}: ") or (name == "action" and "has no action" in message)


def follow(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The operation that the suggestions lead to, and every answer on the way."""
    answers = [client.call(tool, **arguments)]
    while "error" in answers[-1] and len(answers) <= MOST_ROUNDS:
        tool, arguments = corrected(tool, arguments, answers[-1])
        answers.append(client.call(tool, **arguments))
    return operation(tool, arguments), answers


def operation(tool: str, arguments: dict[str, Any]) -> str:
    flat = {action.flat_name: action for each in all_tools().values() for action in each.actions.values()}
    if tool in flat:
        return flat[tool].call
    given = {name: value for name, value in arguments.items() if name != "action"}
    try:
        return find_tool(tool).pick(arguments.get("action"), given).call
    except InvalidInput as error:
        return error.message


def try_all(
    guesses: Iterable[Guess], ada: Client, ben: Client
) -> Iterator[tuple[Guess, bool, list[dict[str, Any]]]]:
    for one in guesses:
        there = prepare(ada, ben)
        arguments = {name: filled(value, there) for name, value in one.arguments.items()}
        ended, answers = follow(ada, one.tool, arguments)
        yield one, ended == one.meant and "error" not in answers[-1], answers


def test_a_wrong_first_call_becomes_right_by_its_suggestions(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    tried = list(try_all(GUESSES, ada_mcp, ben_mcp))
    assert {str(one) for one, is_right, _ in tried if not is_right} == LOST
    assert (len(tried), sum(is_right for _, is_right, _ in tried)) == (96, 91)
    at_once = [one for one, is_right, answers in tried if is_right and len(answers) == 1]
    assert set(map(str, at_once)) == TAKEN


# -- On a flat surface -----------------------------------------------------------------------------


def flattened(one: Guess) -> Guess:
    """The same guess by one who has seen flat tools: `memory_store`."""
    rest = {name: value for name, value in one.arguments.items() if name != "action"}
    return Guess("_".join([one.tool, *filter(None, [one.arguments.get("action")])]), rest, one.meant)


@pytest.mark.django_db(transaction=True)
def test_on_a_flat_surface_all_that_is_said_is_flat(apollo: Project) -> None:
    needs_action = {name for name, tool in all_tools().items() if not tool.is_single}
    guesses = [flattened(one) for one in GUESSES if one.tool not in needs_action or "action" in one.arguments]
    wanted = {str(flattened(one)) for one in GUESSES if str(one) in LOST}
    lost = set()
    with (
        stdio_hub("--project", "apollo", "--agent", "ada", "--surface", "flat") as ada,
        stdio_hub("--project", "apollo", "--agent", "ben") as ben,
    ):
        for client in (ada, ben):
            client.start()
        for one, is_right, answers in try_all(guesses, ada, ben):
            lost |= set() if is_right else {str(one)}
            for error in (answer for answer in answers if "error" in answer):
                assert "action" not in error.get("call", {}), error
                if "no tool" in error["message"] and "call" in error:
                    assert error["call"]["tool"] in error["allowed"], error
                assert not re.search(r"\b[a-z]+\.[a-z_]+ has no", error["message"]), error
    assert lost <= wanted
    assert (len(guesses), len(guesses) - len(lost)) == (92, 88)


# -- What a suggestion may say ---------------------------------------------------------------------


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


def test_nothing_is_suggested_that_the_connection_does_not_offer(ada: Caller) -> None:
    """A profile, or a choice of tools, hides the others."""
    said = {"title": "x", "content": "y"}
    assert refusal("save_memory", said, ada)["call"] == {"tool": "memory", "action": "add"}
    hidden = refusal("save_memory", said, ada, offered=["search", "get", "decision", "message"])
    assert hidden.get("call", {}).get("tool") != "memory"
    assert "memory" not in hidden["allowed"]
    assert "call" not in refusal("get", {"key": "x"}, ada, offered=["get"])


def test_a_suggestion_never_names_what_is_given_already(ada: Caller) -> None:
    error = refusal("decision_set", {"key": "a", "name": "b", "value": 1, "decision": 2}, ada)
    assert "did_you_mean" not in error
    assert "call" not in error


def test_null_is_nothing_said(ada: Caller) -> None:
    """Strict clients send it for all that they leave out."""
    arguments = {"path": "a", "key": None, "value": None, "limit": None}
    assert refusal("lock_file", arguments, ada)["call"] == {"tool": "file", "action": "lease"}


def test_two_names_never_mean_one_argument(ada: Caller) -> None:
    error = refusal("decision_set", {"name": "a", "title": "b", "decision": 1, "answer": 2}, ada)
    assert sorted(error["did_you_mean"].values()) == ["key", "value"]


def test_a_write_is_not_suggested_for_a_read_nor_what_removes(ada: Caller) -> None:
    for tool in all_tools().values():
        for action in tool.actions.values():
            given = {"zzz": 1, **dict.fromkeys(action.arguments.names)}
            if other := fitting_action(action, all_tools().values(), given):
                assert (other.writes, other.destroys) == (action.writes, False)


def test_many_unknown_names_cost_little(ada: Caller) -> None:
    many = {f"{n:04}" + "x" * 300: n for n in range(3_000)}
    began = time.perf_counter()
    error = refusal("decision_set", many, ada)
    refusal("zzz", many, ada)
    refusal("decision", many, ada)
    assert time.perf_counter() - began < 1
    assert len(str(error)) < 2_000


def test_what_is_suggested_is_there() -> None:
    """The tables speak of operations and arguments that exist."""
    known = {name for tool in all_tools().values() for a in tool.actions.values() for name in a.known}
    assert {meant for names in OTHER_ARGUMENTS.values() for meant in names} <= known
    actions = {name for tool in all_tools().values() for name in tool.actions}
    assert {meant for names in OTHER_ACTIONS.values() for meant in names} <= actions
    operations = {(tool.name, name) for tool in all_tools().values() for name in tool.actions}
    assert {meant for calls in OTHER_CALLS.values() for meant in calls} <= operations
    assert set(OTHER_NOUNS.values()) <= set(all_tools())


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
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
def test_the_operation_that_a_name_means_is_told(
    ada: Caller, tool: str, arguments: dict[str, Any], meant: dict[str, str]
) -> None:
    assert refusal(tool, arguments, ada)["call"] == meant
    flat = refusal(tool, arguments, ada, flat=True)["call"]
    assert flat == {"tool": "_".join([meant["tool"], *filter(None, [meant.get("action")])])}
