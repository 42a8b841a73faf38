"""Fixtures: a workplace with hooks, and the server that they ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations.hook import Workplace
from tests.integrations.stub_hub import StubHub, serving


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    made = Workplace(tmp_path)
    made.git("init", "-q", "-b", "main")
    return made


@pytest.fixture
def stub() -> Iterator[StubHub]:
    with serving() as hub:
        yield hub


@pytest.fixture
def at_stub(workplace: Workplace, stub: StubHub) -> Workplace:
    """A workplace whose hooks ask the stub."""
    workplace.variables["CTXHUB_URL"] = stub.url
    return workplace
