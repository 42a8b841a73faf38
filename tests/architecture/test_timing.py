"""No test holds a wall-clock time, and none waits for less long than a busy machine may take."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, settings

from tests.properties import SHARED_FIXTURES

ROOT = Path(__file__).resolve().parents[1]
LEAST_SECONDS = 30
WALL_CLOCKS = {"monotonic", "perf_counter", "monotonic_ns", "perf_counter_ns"}
# Who reads one, and what for. None of them fails because a machine is slow.
READERS = {
    "timing.py": "waits, with patience",
    "crowd.py": "all begin at one moment",
    "memory/test_decisions_races.py": "all begin at one moment",
    "messaging/test_messages_races.py": "all begin at one moment",
    "sqlew/importing.py": "all begin at one moment",
    "stdio.py": "waits for an answer, with patience",
    "e2e/test_answers_admin.py": "two seconds, of which the hub takes a tenth; longer under load",
    "e2e/invited.py": "a minute, of which the machine takes a tenth; longer where others load it",
    "packaging/team_server.py": "tells how long each step took",
    "integrations/stub_hub.py": "a server that never ends, until it does",
    "integrations/test_texts.py": "the client takes its import for its start",
    "core/test_access_tokens.py": "how long a token is remembered",
    "core/test_background.py": "an entry waits for at least a second",
    "core/test_lock_holds.py": "a value that is never the same",
    "core/test_write_queue.py": "writers that wait beside, not after one another: 6 s, and 18 at most",
    "core/test_writing.py": "20 reads take less time than one writer would let them wait",
    "mcp/test_waiting.py": "calls wait as long as they are told, or for SOON_SECONDS at most",
}
# That these waits end in vain is what is tested, or they are repeated until something else happens.
SHORT_WAITS = {
    ("core/test_background.py", 0.8),
    ("core/test_write_queue.py", 0.4),
    ("mcp/test_other_workers.py", 0.2),
    ("mcp/test_write_slots.py", 0.05),
    ("memory/test_decisions_races.py", 0.002),
    ("integrations/test_watch_lasting.py", 2.0),
}
# The first argument of these methods is how long to wait.
WAITS = {"wait", "join", "result", "exception"}


@cache
def trees() -> list[tuple[str, ast.Module]]:
    """The modules of the tests by their paths."""
    return [(str(file.relative_to(ROOT)), ast.parse(file.read_text())) for file in sorted(ROOT.rglob("*.py"))]


def is_wall_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "time":
        return name_of(node.value) == "time"
    return isinstance(node, ast.Name | ast.Attribute) and name_of(node) in WALL_CLOCKS


def name_of(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def numbers(tree: ast.Module) -> dict[str, float]:
    """The constants of a module that are numbers."""
    return {
        target.id: float(line.value.value)
        for line in tree.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        for target in line.targets
        if isinstance(target, ast.Name) and isinstance(line.value.value, int | float)
    }


def waits(tree: ast.Module) -> Iterator[float]:
    """The numbers of seconds, or names of such, that are given as timeouts."""
    known = numbers(tree)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        given = [keyword.value for keyword in call.keywords if keyword.arg == "timeout"]
        name = name_of(call.func)
        if (name in WAITS and isinstance(call.func, ast.Attribute)) or name == "timeout":
            given += call.args[:1]
        if name == "wait_for":
            given += call.args[1:2]
        for value in given:
            if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
                yield float(value.value)
            elif isinstance(value, ast.Name) and value.id in known:
                yield known[value.id]


def test_a_wall_clock_is_read_only_where_it_cannot_fail_a_test() -> None:
    readers = {path for path, tree in trees() if any(map(is_wall_clock, ast.walk(tree)))}
    assert readers == READERS.keys()


def test_no_wait_is_short_unless_it_has_to_end_in_vain() -> None:
    short = {(path, seconds) for path, tree in trees() for seconds in waits(tree) if seconds < LEAST_SECONDS}
    assert short == SHORT_WAITS


def test_no_property_test_is_held_to_a_time() -> None:
    for each in (settings.default, SHARED_FIXTURES):
        assert each is not None
        assert each.deadline is None
        assert HealthCheck.too_slow in each.suppress_health_check


def test_waits_are_found() -> None:
    code = """
QUICK = 3
done.wait(5)
thread.join(timeout=QUICK)
future.result(2)
pytest.mark.timeout(20)
subprocess.run([], timeout=1)
await asyncio.wait_for(run(), 4)
", ".join(words)
"""
    assert sorted(waits(ast.parse(code))) == [1, 2, 3, 4, 5, 20]
