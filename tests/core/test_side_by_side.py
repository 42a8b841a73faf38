"""Sixteen concurrent agents on one database, half of them writing: nothing is lost, doubled or hidden."""

from collections import Counter
from collections.abc import Iterator

from ctxhub.core.models import Agent, Event, Project
from memory.models import Decision
from messaging.models import Delivery, Message
from tests.crowd import Answers, Crowd, ToolCall
from tests.search_index import index_is_right
from tests.tallies import counted, tallied
from tracking.models import FileChange

AGENTS = 16
WRITERS = 8
ROUNDS = 5


def writer_calls(agent: int) -> Iterator[ToolCall]:
    for n in range(ROUNDS):
        name = f"{agent}-{n}"
        yield ToolCall("message", {"action": "send", "text": f"all {name}", "priority": "high"})
        yield ToolCall("message", {"action": "send", "text": f"next {name}", "to": [_next_agent(agent)]})
        yield ToolCall("file", {"path": f"src/{name}.py", "change": "created", "layer": "data"})
        yield ToolCall("file", {"path": "src/shared.py", "change": "modified"}, f"once {name}")
        yield ToolCall("file", {"action": "lease", "paths": [f"hot/{n}*", "hot/**"]})
        yield ToolCall("decision", {"key": f"k/{agent}", "value": n, "layer": "business"})
        yield ToolCall("constraint", {"category": "security", "text": f"rule {n}", "tags": ["shared"]})
        yield ToolCall("file", {"action": "release", "all": True})


def reader_calls() -> Iterator[ToolCall]:
    for _ in range(ROUNDS):
        yield ToolCall("message", {"action": "inbox"})
        yield ToolCall("file", {"action": "changes"})
        yield ToolCall("file", {"action": "leases"})
        yield ToolCall("hub", {"action": "layer_summary"})
        yield ToolCall("hub", {"action": "updates"})
        yield ToolCall("message", {"action": "read", "all": True})


def _next_agent(agent: int) -> str:
    return f"agent {(agent + 1) % AGENTS}"


def test_concurrent_agents_lose_and_double_nothing(crowd: Crowd, apollo: Project) -> None:
    _register_agents(apollo)
    calls = [
        list(writer_calls(agent)) if agent < WRITERS else list(reader_calls()) for agent in range(AGENTS)
    ]
    answers = crowd(calls)

    _no_call_failed(calls, answers)
    _nothing_is_lost_or_doubled(apollo)
    _leases_do_not_overlap(apollo)
    _every_delivery_to_a_writer_is_unread(crowd, apollo)
    assert tallied(apollo) == counted(apollo)
    index_is_right(apollo)


def _register_agents(project: Project) -> None:
    for agent in range(AGENTS):
        Agent.objects.create(project=project, name=f"agent {agent}")


def _no_call_failed(calls: list[list[ToolCall]], answers: list[Answers]) -> None:
    """Only a lease may be refused, and only because another agent has it."""
    refused = [
        (call.arguments.get("action"), answer["error"])
        for own_calls, own_answers in zip(calls, answers, strict=True)
        for call, answer in zip(own_calls, own_answers, strict=True)
        if "error" in answer
    ]
    assert set(refused) <= {("lease", "conflict")}


def _nothing_is_lost_or_doubled(project: Project) -> None:
    names = [f"{agent}-{n}" for agent in range(WRITERS) for n in range(ROUNDS)]
    texts = Message.objects.in_project(project).values_list("text", flat=True)
    assert Counter(texts) == Counter(f"{kind} {name}" for kind in ("all", "next") for name in names)
    changes = FileChange.objects.in_project(project).values_list("resource__path", flat=True)
    assert Counter(changes) == Counter(
        [*(f"src/{name}.py" for name in names), *["src/shared.py"] * len(names)]
    )
    values = Decision.objects.in_project(project).values_list("key", "value")
    assert dict(values) == {f"k/{agent}": str(ROUNDS - 1) for agent in range(WRITERS)}


def _leases_do_not_overlap(project: Project) -> None:
    """In the order of events, each lease ends before the next begins."""
    events = Event.objects.in_project(project).filter(noun="lease").order_by("pk")
    holder, leases = "", 0
    for verb, ref in events.values_list("verb", "ref"):
        assert holder == ("" if verb == "leased" else ref)
        holder, leases = (ref, leases + 1) if verb == "leased" else ("", leases)
    assert leases >= 1
    assert holder == ""


def _every_delivery_to_a_writer_is_unread(crowd: Crowd, project: Project) -> None:
    """Readers have read their messages; writers have not, so all messages to them are unread."""
    unread = Delivery.objects.in_project(project).filter(read_at=None).values_list("folded", flat=True)
    from_others = (WRITERS - 1) * ROUNDS
    from_one = {_next_agent(agent): ROUNDS for agent in range(WRITERS)}
    expected = {f"agent {a}": from_others + from_one.get(f"agent {a}", 0) for a in range(WRITERS)}
    unread_counts = Counter(unread)
    assert {name: unread_counts[name] for name in expected} == expected
