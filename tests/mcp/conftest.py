"""Fixtures of the tests of the protocol."""

from pathlib import Path

import pytest

from ctxhub.core.kit.caller import Caller
from tests.hub import McpClient
from tests.mcp.everywhere import Everywhere


@pytest.fixture
def everywhere(ada: Caller, ada_mcp: McpClient, tmp_path: Path) -> Everywhere:
    return Everywhere(ada, ada_mcp, tmp_path)
