"""Many concurrent agents: in threads over HTTP, or each in a process with its own connection."""

import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from django.apps import apps

if not apps.ready and not apps.apps_ready:  # In the process from which the others are forked.
    import django

    django.setup()

from django.db import connection, transaction

from ctxhub.core.kit.background import flush_all
from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from memory.models import Decision
from tests.hub import LiveHub
from tests.stdio import environment

SECONDS_TO_GATHER = 0.5
EVENTS_A_ROUND = 7


@dataclass(frozen=True)
class ToolCall:
    tool: str
    arguments: dict[str, Any]
    request_id: str | None = None


Answers = list[dict[str, Any]]
Crowd = Callable[[Sequence[Sequence[ToolCall]]], list[Answers]]
"""Each agent makes its calls in order; all agents start together. An error is returned as its body."""


# -- Threads over HTTP -----------------------------------------------------------------------------


def over_http(hub: LiveHub, token: str) -> Crowd:
    def run(calls: Sequence[Sequence[ToolCall]]) -> list[Answers]:
        start = threading.Barrier(len(calls))

        def work(agent: int, own: Sequence[ToolCall]) -> Answers:
            client = hub.mcp(token, **{"Ctxhub-Agent": f"agent {agent}"})
            client.rpc("ping")
            start.wait()
            results = [
                client.result(
                    c.tool, c.arguments, {"ctxhub/request_id": c.request_id} if c.request_id else None
                )
                for c in own
            ]
            return [json.loads(result["content"][0]["text"]) for result in results]

        with ThreadPoolExecutor(len(calls)) as threads:
            return list(threads.map(work, range(len(calls)), calls))

    return run


# -- Processes -------------------------------------------------------------------------------------


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """Processes forked from one that has loaded Django and has never opened a connection."""
    settings = {**environment(), "DJANGO_SETTINGS_MODULE": "ctxhub.settings", "CTXHUB_WEB": "false"}
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with patch.dict(os.environ, settings), ProcessPoolExecutor(count, mp_context=context) as executor:
        list(executor.map(time.sleep, [0.0] * count))
        yield executor


def in_processes(executor: Executor, project: Project) -> Crowd:
    def run(calls: Sequence[Sequence[ToolCall]]) -> list[Answers]:
        start_at = time.time() + SECONDS_TO_GATHER
        working = [
            executor.submit(make_calls, project.pk, f"agent {agent}", own, start_at)
            for agent, own in enumerate(calls)
        ]
        return [answers.result() for answers in working]

    return run


def make_calls(project_id: int, agent: str, calls: Sequence[ToolCall], start_at: float) -> Answers:
    with speaking(project_id, agent, start_at) as caller:
        return [answer(caller, call) for call in calls]


def answer(caller: Caller, request: ToolCall) -> dict[str, Any]:
    try:
        return call(caller, request.tool, request.arguments, request_id=request.request_id)
    except CtxhubError as error:
        return error.body()


def write_in_every_way(project_id: int, agent: str, rounds: int, start_at: float) -> None:
    """Write by service, in a batch, with a request id, and by the ORM in a slow transaction."""
    with speaking(project_id, agent, start_at) as caller:
        for n in range(rounds):
            items = [{"key": f"{agent}/b{m}", "value": n} for m in range(3)]
            for request in (
                ToolCall("decision", {"key": f"{agent}/{n}", "value": n, "tags": ["shared"]}),
                ToolCall("decision", {"key": "shared", "value": f"{agent} {n}"}, f"{agent} {n}"),
                ToolCall("decision", {"action": "set_batch", "items": items}),
            ):
                answered = answer(caller, request)
                assert "error" not in answered, answered
            with acting(caller), transaction.atomic():
                Decision.objects.create(project=caller.project, key=f"{agent}/orm{n}", value="x")
                shared = Decision.objects.in_project(caller.project).get(key="shared")
                shared.rationale = f"{agent} {n}"
                shared.save()
                time.sleep(0.003)


@contextmanager
def speaking(project_id: int, agent: str, start_at: float) -> Iterator[Caller]:
    try:
        caller = Caller(project=Project.objects.get(pk=project_id), agent=agent)
        time.sleep(max(0.0, start_at - time.time()))
        yield caller
    finally:
        flush_all()
        close_connection()


def close_connection() -> None:
    connection.close()
    # PostgreSQL only: an idle connection would outlive its task.
    getattr(connection, "close_pool", bool)()
