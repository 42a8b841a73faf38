"""Speed of snapshots and sessions: `python -m benchmarks.sittings [--engine postgres] [--size 100000]`.

Calls of tools in one process, without transport, unless the figure says stdio. What is compared takes turns
within one run: an operation and its neighbour, and a list in a hub of 1,000 rows and in one of 100,000.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks import seeding_sittings as seeding
from benchmarks.databases import Engine, Hub, databases
from benchmarks.inside import connected
from benchmarks.operations import tool
from benchmarks.prose import Prose
from benchmarks.seeding import tidy
from benchmarks.servers import Transport, running
from benchmarks.wire import Wire

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

SMALL = "small"  # The connection to the small hub.
OF_SMALL = 100  # The small hub has a hundredth of the rows.
WARM_UP = 5
KNOWN = 400
LONG = 10_000
TWENTY_PERCENT = 1.2

Call = Callable[[int], Any]
"""Makes the nth call of its kind."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sittings")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    with databases(options.engine) as factory:
        hub = factory.empty()
        with connected(hub), _small_hub(factory.empty()):
            _report(hub, options.size, options.calls)


def _report(hub: Hub, size: int, calls: int) -> None:
    started = time.perf_counter()
    with _in_hub(SMALL):
        small, lists = _fill(size // OF_SMALL)
    large, lists = _fill(size)
    _note("hubs filled", f"{time.perf_counter() - started:.0f} s")
    _report_pairs(hub, seeding.make_project(hub.project), calls)
    _report_lists(lists, small, large, calls // 2)
    _report_walks(seeding.make_project("walks"), calls)
    _report_restores(seeding.make_project("restores"), size // 10, calls)
    _report_prioritize(seeding.make_project("files"), size // 10)
    _report_predictions(lists)
    _report_import(seeding.make_project("imported"), size // 10)


def _fill(rows: int) -> "tuple[int, Caller]":
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    caller = seeding.make_project("lists")
    session = seeding.fill_lists(caller, rows)
    tidy()
    return session, caller


# -- An operation and its neighbour ----------------------------------------------------------------


def _report_pairs(hub: Hub, caller: "Caller", calls: int) -> None:
    """In this process, then through a server on stdio, as an agent has it."""
    prose = Prose(seed=1)
    texts = [prose.text() for _ in range(KNOWN)]
    snapshots = [_call(caller, "snapshot", "save", content=text, dependencies=[])["id"] for text in texts]
    memories = [_call(caller, "memory", "add", title=prose.word(), content=text)["id"] for text in texts]
    tidy()
    texts = [prose.text() for _ in texts]
    _compare_pairs("", partial(_call, caller), texts, snapshots[:WARM_UP], memories, calls)
    with patch("memory.memories.services._similar", return_value=[]):
        save, add = _writes(partial(_call, caller), texts)
        _compare("snapshot save / memory add, none similar", save, add, calls, goal=None)
    with running(hub, Transport.STDIO, agent=caller.agent) as server:
        client = server.connect(Wire.INITIALIZED)

        def call(name: str, action: str, **arguments: Any) -> Any:
            return client.call(tool(name, action, **arguments))

        # Other snapshots: what another process read in the last minute costs a look whether it counts.
        _compare_pairs("stdio: ", call, texts, snapshots[-WARM_UP:], memories, calls)


def _compare_pairs(
    where: str,
    call: Callable[..., Any],
    texts: Sequence[str],
    snapshots: Sequence[int],
    memories: Sequence[int],
    calls: int,
) -> None:
    save, add = _writes(call, texts)

    def get(n: int) -> None:
        call("memory", "get", id=memories[n % KNOWN])

    def get_snapshot(n: int) -> None:
        call("snapshot", "get", id=snapshots[n % WARM_UP])

    def track(n: int) -> None:
        call("session", "track", path=f"{where}src/{n}.py", access="edited")

    def record(n: int) -> None:
        call("file", "record", path=f"{where}lib/{n}.py", change="modified")

    _compare(f"{where}snapshot save / memory add", save, add, calls)
    newest = [row[0] for row in call("snapshot", "load", limit=WARM_UP)["rows"]]
    _compare(
        f"{where}with 5 dependencies: snapshot get / memory get",
        lambda n: call("snapshot", "get", id=newest[n % WARM_UP]),
        get,
        calls,
        goal=None,
    )
    _compare(f"{where}snapshot get / memory get", get_snapshot, get, calls)
    _compare(f"{where}snapshot load / memory get", lambda _: call("snapshot", "load"), get, calls)
    _compare(f"{where}session track / file record, new file", track, record, calls)
    _compare(f"{where}the same, known file", lambda n: track(n % 7), lambda n: record(n % 7), calls)


def _writes(call: Callable[..., Any], texts: Sequence[str]) -> tuple[Call, Call]:
    """Saves a text as a snapshot, adds it as a memory."""
    return (
        lambda n: call("snapshot", "save", content=texts[n % KNOWN]),
        lambda n: call("memory", "add", title=f"{n}", content=texts[n % KNOWN]),
    )


def _compare(name: str, one: Call, other: Call, calls: int, goal: float | None = TWENTY_PERCENT) -> None:
    """Time two calls in turns."""
    times, base = _turns([one, other], calls)
    _ratio(name, times, base, goal)


# -- Lists in a small and in a large hub -----------------------------------------------------------


def _report_lists(caller: "Caller", small: int, first: int, calls: int) -> None:
    """`small` and `first`: a session of the small hub and of the large one."""
    from ctxhub.core.kit import clock

    now = clock.now()
    week, month = (f"{(now - timedelta(days=days)).isoformat()}" for days in (7, 30))
    snapshots: list[dict[str, Any]] = [
        *({}, {"action_type": "decision"}, {"by": "agent-3"}, {"tags": ["api"]}, {"text": seeding.WORD}),
        *({"since": week}, {"until": week}, {"by": "agent-3", "since": month}),
        *({"tier": tier} for tier in ("active", "recent", "archived", "expired")),
        {"tier": "archived", "by": "agent-3"},
    ]
    for filters in snapshots:
        _compare_sizes(caller, calls, "snapshot", "list", filters)
    sessions: list[dict[str, Any]] = [
        *({}, {"workspace_id": "workspace 3"}, {"by": "agent-3"}, {"implicit": True}, {"parent": first}),
        {"workspace_id": "workspace 3", "by": "agent-3"},
    ]
    for filters in sessions:
        _compare_sizes(caller, calls, "session", "list", filters, small)
    accesses: list[dict[str, Any]] = [
        {},
        {"path": "src/0/part_0.py"},
        {"session": first},
        {"access": "edited"},
        {"since": week},
    ]
    for filters in accesses:
        _compare_sizes(caller, calls, "session", "accesses", filters, small)
    for sort in ("relevance", "accessed", "recent"):
        _compare_sizes(caller, calls, "session", "resources", {"session": first, "sort": sort}, small)


def _compare_sizes(
    caller: "Caller", calls: int, tool: str, action: str, filters: Mapping[str, Any], small_session: int = 0
) -> None:
    """Time a list in both hubs. `small_session`: the session of the small hub to ask for."""
    in_small = {
        name: small_session if name in ("session", "parent") else value for name, value in filters.items()
    }

    def large(_: int) -> None:
        assert _call(caller, tool, action, **filters)["rows"]

    def small(_: int) -> None:
        with _in_hub(SMALL):
            _call(caller, tool, action, **in_small)

    asked = ", ".join(f"{name} {value}"[:24] for name, value in filters.items())
    _compare(f"{tool} {action} {asked}", large, small, calls)


# -- Walks, restores, choices ----------------------------------------------------------------------


def _report_walks(caller: "Caller", calls: int) -> None:
    own = caller.project_id
    short, long = seeding.add_chain(own, 100), seeding.add_chain(own, LONG)
    fan, circle = seeding.add_fan(own, LONG), seeding.add_chain(own, 200, is_circle=True)
    tidy()
    walks = [
        *(("chain of 100", "chain", short, 5), (f"chain of {LONG:,}", "chain", long, 300)),
        *((f"fan of {LONG:,}", "impact", fan, 300), ("chain in a circle of 200", "chain", circle, 300)),
        ("impact in a circle of 200", "impact", circle, 300),
    ]
    for name, action, snapshot, goal in walks:
        [times] = _turns([lambda _, a=action, s=snapshot: _call(caller, "snapshot", a, id=s)], calls // 4)  # type: ignore[misc]
        _p50(name, times, goal)


def _report_restores(caller: "Caller", count: int, calls: int) -> None:
    """Restore different sessions, a tenth of them by name of the workspace alone."""
    ids = seeding.add_saved_sessions(caller, count)
    tidy()

    def restore(n: int) -> Any:
        named = {"workspace_id": f"workspace {n % 100}"} if n % 10 == 0 else {"session": ids[n * 97 % count]}
        return _call(caller, "session", "restore", **named)

    [times] = _turns([restore], calls * 2)
    _p95(f"session restore among {count:,}", times, 100)
    _report_tokens(caller)


def _report_tokens(caller: "Caller") -> None:
    """What a restore costs a model, and what the whole session would."""
    session = seeding.save_long_session(caller)
    whole = _tokens(_call(caller, "session", "get", session=session))
    for row in _call(caller, "session", "get", session=session)["conversations"]["rows"]:
        whole += _tokens(_call(caller, "session", "get", session=session, conversation=row[0]))
    restored = _tokens(_call(caller, "session", "restore", session=session))
    _note("tokens: restore / the session whole", f"{restored:,} / {whole:,}", f"{restored / whole:.2f}")


def _report_prioritize(caller: "Caller", count: int) -> None:
    session = seeding.add_working_session(caller, min(500, count // 2), count)
    tidy()
    for name, arguments in (
        ("first", {"budget_tokens": 40_000}),
        ("again", {"budget_tokens": 40_000}),
        ("another budget", {"budget_tokens": 80_000}),
        ("a query", {"budget_tokens": 40_000, "query": "part"}),
        ("with content", {"budget_tokens": 15_000, "content": True}),
    ):
        started = time.perf_counter()
        _call(caller, "session", "prioritize", session=session, **arguments)
        _note(f"prioritize 500 of {count:,} files, {name}", f"{_since(started) * 1_000:,.0f} ms")


# -- Predictions, import ---------------------------------------------------------------------------


def _report_predictions(caller: "Caller") -> None:
    started = time.perf_counter()
    answer = _call(caller, "snapshot", "predict", stale_hours=0)
    _within(f"predict {answer['refreshed']:,}", _since(started), 30)
    tidy()
    for action in ("stats", "tiers", "prefetch", "graph"):
        [times] = _turns([lambda _, a=action: _call(caller, "snapshot", a)], WARM_UP)  # type: ignore[misc]
        _p50(f"snapshot {action}", times)


def _report_import(caller: "Caller", count: int) -> None:
    from django.core.management import call_command

    from ctxhub.importers.wakeiqx.reader import read_snapshots

    with tempfile.TemporaryDirectory() as folder:
        path = seeding.write_wakeiqx(Path(folder) / "wakeiqx.db", count)
        started = time.perf_counter()
        call_command("import_wakeiqx", path, project=caller.project.slug, stdout=StringIO())
        _within(f"import of {count:,}", _since(started), 20)
        started = time.perf_counter()
        read_snapshots(path.with_suffix(".sql"))
        _note("reading them as SQL text", f"{_since(started):.1f} s")


# -- Hubs ------------------------------------------------------------------------------------------


@contextmanager
def _small_hub(hub: Hub) -> Iterator[None]:
    """Connect to a second hub, as SMALL."""
    import dj_database_url
    from django.db import connections

    large = connections["default"]
    connections["large"] = large
    parsed = dj_database_url.parse(hub.url)
    connections.settings[SMALL] = {**connections.settings["default"], "NAME": parsed["NAME"]}
    yield
    connections["default"] = large
    connections[SMALL].close()


@contextmanager
def _in_hub(alias: str) -> Iterator[None]:
    """Let everything use the connection with this alias; "": the large hub's."""
    from django.db import connections

    if not alias:
        yield
        return
    connections["default"] = connections[alias]
    try:
        yield
    finally:
        connections["default"] = connections["large"]


# -- Calls and figures -----------------------------------------------------------------------------


def _call(caller: "Caller", tool: str, action: str, **arguments: Any) -> Any:
    from ctxhub.toolbox import dispatch

    answer = dispatch.call(caller, tool, {"action": action, **arguments})
    dispatch.as_text(answer)
    return answer


def _tokens(answer: Any) -> int:
    from ctxhub.core.text.token_count import count_tokens
    from ctxhub.toolbox import dispatch

    return count_tokens(dispatch.as_text(answer))


def _turns(calls: Sequence[Call], count: int) -> list[list[float]]:
    """The milliseconds of each call, made in turns; the first ones are not counted."""
    times: list[list[float]] = [[] for _ in calls]
    for n in range(WARM_UP + count):
        for call, own in zip(calls, times, strict=True):
            started = time.perf_counter()
            call(n)
            own.append(_since(started) * 1_000)
    return [own[WARM_UP:] for own in times]


def _since(started: float) -> float:
    return time.perf_counter() - started


def _ratio(name: str, times: Sequence[float], base: Sequence[float], goal: float | None) -> None:
    ratio = median(times) / median(base)
    _note(name, f"{median(times):.2f} / {median(base):.2f} ms", f"{ratio:.2f}", _verdict(ratio, goal))


def _p50(name: str, times: Sequence[float], goal: float | None = None) -> None:
    _note(name, f"{median(times):.1f} ms", goal=_verdict(median(times), goal))


def _p95(name: str, times: Sequence[float], goal: float) -> None:
    high = quantiles(times, n=20)[-1]
    _note(name, f"p50 {median(times):.1f}, p95 {high:.1f} ms", goal=_verdict(high, goal))


def _within(name: str, seconds: float, goal: float) -> None:
    _note(name, f"{seconds:.1f} s", goal=_verdict(seconds, goal))


def _verdict(value: float, goal: float | None) -> str:
    if goal is None:
        return ""
    return f"<= {goal:g}" if value <= goal else f"> {goal:g} MISSED"


def _note(name: str, figure: str, ratio: str = "", goal: str = "") -> None:
    print(f"{name:<52} {figure:>24} {ratio:>6}  {goal}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
