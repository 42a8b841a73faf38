"""Profiles calls in one process: `python -m benchmarks.inside [OPERATIONS]`.

Without the transport: toolbox, services, SQL. In CPU time, so that other load matters little.
"""

import argparse
import cProfile
import os
import pstats
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.databases import Engine, Hub, databases
from benchmarks.operations import OPERATIONS, Context, Operation

WARM_UP = 20


@dataclass
class Statements:
    """Records statements and their time, as an `execute_wrapper` of Django."""

    seconds: float = 0.0
    texts: list[str] = field(default_factory=list)

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.seconds += time.perf_counter() - started
            self.texts.append(" ".join(sql.split()))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inside")
    inner = [operation.name for operation in OPERATIONS if operation.method == "tools/call"]
    parser.add_argument("operations", nargs="*", default=inner, metavar="OPERATION", help=", ".join(inner))
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--top", type=int, default=0, help="print this many functions, by their own time")
    parser.add_argument("--sql", action="store_true", help="print the statements of one call")
    options = parser.parse_args()
    chosen = [operation for operation in OPERATIONS if operation.name in options.operations]
    with databases(options.engine) as factory, connected(factory.seeded(options.size)):
        print("operation: CPU ms a call; statements; ms in them")
        for operation in chosen:
            _report(operation, options.size, options.calls, options.top, show_sql=options.sql)


def _report(operation: Operation, size: int, calls: int, top: int, *, show_sql: bool) -> None:
    from django.db import connection

    run = runner()
    context = Context(size)
    context.refresh(run)
    for _ in range(WARM_UP):
        run(operation.params(context))
    all_params = [operation.params(context) for _ in range(calls)]
    started = time.process_time()
    for params in all_params:
        run(params)
    cpu = (time.process_time() - started) / calls * 1000
    statements = Statements()
    with connection.execute_wrapper(statements):
        for _ in range(WARM_UP):
            run(operation.params(context))
    count, seconds = len(statements.texts) / WARM_UP, statements.seconds / WARM_UP
    print(f"{operation.name}: {cpu:.3f}; {count:.1f}; {seconds * 1000:.3f}", flush=True)
    if show_sql:
        print("\n".join(f"    {text[:300]}" for text in statements.texts[-round(count) :]))
    if top:
        _profile(run, [operation.params(context) for _ in range(calls)], top)


def _profile(
    run: Callable[[dict[str, Any]], dict[str, Any]], all_params: Sequence[dict[str, Any]], top: int
) -> None:
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for params in all_params:
        run(params)
    profile.disable()
    pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(top)


def runner(agent: str = "bench") -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function that makes a tool call as both transports do, without the protocol."""
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.models import Project
    from ctxhub.core.text.token_count import count_tokens
    from ctxhub.toolbox import dispatch
    from ctxhub.toolbox.tool_list import find_call

    caller = Caller(project=Project.objects.get(slug="bench"), agent=agent)

    def run(params: dict[str, Any]) -> dict[str, Any]:
        tool, arguments = find_call(params["name"], params["arguments"])
        answer = dispatch.call(caller, tool, arguments)
        count_tokens(dispatch.as_text(answer))
        return answer

    return run


@contextmanager
def connected(hub: Hub, *, web: bool = False) -> Iterator[None]:
    """Set up Django in this process with the database of the hub; `web`: with REST and the admin."""
    os.environ.update(
        hub.environment, DJANGO_SETTINGS_MODULE="ctxhub.settings", CTXHUB_WEB="true" if web else "false"
    )
    import django
    from django.db import connection

    from ctxhub.core.kit.background import flush_all

    django.setup()
    yield
    flush_all()
    connection.close()


def has_tool(name: str) -> bool:
    from ctxhub.core.kit.errors import InvalidInput
    from ctxhub.toolbox.picking import find_tool

    try:
        find_tool(name)
    except InvalidInput:
        return False
    return True


if __name__ == "__main__":
    main()
