"""Fixtures: a workplace with hooks, and the server that they ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hub import LiveHub
from tests.integrations.claude_code import installed_client, make_patient
from tests.integrations.hook import PATIENT, Workplace, put_archive
from tests.integrations.model_stand_in import StandIn, standing_in
from tests.integrations.stub_hub import StubHub, serving


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    made = Workplace(tmp_path)
    made.git("init", "-q", "-b", "main")
    return made


@pytest.fixture
def with_hooks(workplace: Workplace, hub: LiveHub, ada_token: str) -> Workplace:
    """Ada's repository, with the hooks of Claude Code installed as a team shares them."""
    workplace.variables |= {"CTXHUB_URL": hub.url, "CTXHUB_TOKEN": ada_token}
    own = put_archive(workplace.repository / ".ctxhub", PATIENT)
    assert workplace.run("install", "claude-code", script=own).code == 0
    make_patient(workplace.repository)
    return workplace


@pytest.fixture(scope="session")
def script() -> Path:
    """The real Claude Code."""
    return installed_client()


@pytest.fixture
def model() -> Iterator[StandIn]:
    """Its stand-in for a model."""
    with standing_in() as stand_in:
        yield stand_in


@pytest.fixture
def stub() -> Iterator[StubHub]:
    with serving() as hub:
        yield hub


@pytest.fixture
def at_stub(workplace: Workplace, stub: StubHub) -> Workplace:
    """A workplace whose hooks ask the stub."""
    workplace.variables["CTXHUB_URL"] = stub.url
    return workplace
