"""The examples of docs/rest.md run as they are printed."""

import os
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.mcp import event_streams
from ctxhub.mcp.feeds import Feeds
from ctxhub.mcp.wakeups import watch
from memory.decisions.services import set_decision
from tests.hub import LiveHub
from tests.streams import wait_for_streams

pytestmark = pytest.mark.one_engine

MANUAL = settings.BASE_DIR / "docs" / "rest.md"
SETUP, *BLOCKS = re.findall(r"```bash\n(.*?)```", MANUAL.read_text(), re.DOTALL)
STREAMS = [block for block in BLOCKS if "curl -N" in block]  # They never end.
EXAMPLES = [block for block in BLOCKS if block not in STREAMS]
[FOLLOWER] = re.findall(r"```python\n(.*?)\nfor name, data in follow", MANUAL.read_text(), re.DOTALL)


@pytest.mark.usefixtures("django_db_reset_sequences")  # The first constraint is number 1.
def test_the_examples_run_as_printed(hub: LiveHub, apollo: Project, ada_token: str, tmp_path: Path) -> None:
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")
    variables = {"HUB": f"{hub.url}/api/v1/projects/apollo", "TOKEN": ada_token, "CURL_HOME": str(tmp_path)}
    for example in EXAMPLES:
        result = subprocess.run(
            ["bash", "-ec", example],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{example}\n{result.stdout}{result.stderr}"
    assert Event.objects.in_project(apollo).filter(verb="deleted").count() == 1


def test_the_example_of_a_stream_begins_as_printed(hub: LiveHub, apollo: Project, ada_token: str) -> None:
    variables = {"HUB": f"{hub.url}/api/v1/projects/apollo", "TOKEN": ada_token}
    [example] = STREAMS
    with subprocess.Popen(
        ["bash", "-ec", f"exec {example}"],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as running:
        assert running.stdout
        assert running.stdout.readline() == b"retry: 2000\n"
        running.kill()
    wait_for_streams(0)


def test_the_follower_goes_on_after_the_last_event_that_it_got(
    hub: LiveHub, ada_token: str, ben: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    exec(FOLLOWER, names)
    monkeypatch.setattr(event_streams, "MOST", 0)  # It is refused first, and comes back.
    set_decision(caller=ben, key="0", value="x")
    followed = names["follow"](f"{hub.url}/api/v1/projects/apollo/events/", ada_token, "e0")
    threading.Timer(1.0, lambda: monkeypatch.setattr(event_streams, "MOST", 500)).start()
    for number in range(3):
        name, data = next(followed)
        assert (name, data["ref"]) == ("decision.created", f"decision:{number}")
        for feeds in [each for each in list(watch._waiters) if isinstance(each, Feeds)]:
            feeds.wake()  # The hub ends the stream.
        set_decision(caller=ben, key=str(number + 1), value="x")
    followed.close()
    wait_for_streams(0)


@pytest.mark.parametrize("name", ["HUB", "TOKEN"])
def test_the_first_block_exports_what_the_examples_need(name: str) -> None:
    assert f"export {name}=" in SETUP
