"""What agents were given is written while a server on stdio runs, and before it ends.

Over HTTP: tests/core/test_serve_command.py.
"""

import signal
from collections.abc import Callable

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from sessions.given.models import BriefingItem
from tests.sessions.given import REF, decide
from tests.stdio import StdioClient, stdio_hub
from tests.timing import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

# The background thread would write a second later: with these it waits for the end.
PATIENT = [
    "from ctxhub.core.kit.background import BackgroundWriter",
    "BackgroundWriter.__init__.__kwdefaults__['seconds'] = 600",
]


def count(project: Project) -> int:
    return BriefingItem.objects.in_project(project).count()


def open_decision(client: StdioClient) -> None:
    client.start()
    assert client.call("get", refs=[REF])["items"]


def test_stdio_writes_within_a_second_or_two(ada: Caller) -> None:
    decide(ada)
    with stdio_hub("--project", "apollo", "--agent", "ben") as client:
        open_decision(client)
        wait_until(lambda: count(ada.project) == 1)


def close(client: StdioClient) -> None:
    client.finish()


def terminate(client: StdioClient) -> None:
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(PATIENCE_SECONDS) == -signal.SIGTERM


@pytest.mark.parametrize("end", [close, terminate])
def test_stdio_writes_before_it_ends(ada: Caller, end: Callable[[StdioClient], None]) -> None:
    decide(ada)
    with stdio_hub("--project", "apollo", "--agent", "ben", code=PATIENT) as client:
        open_decision(client)
        assert count(ada.project) == 0
        end(client)
    assert count(ada.project) == 1
