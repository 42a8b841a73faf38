"""Fixtures: a home without clients."""

import subprocess
from pathlib import Path

import pytest

from tests.integrations.clients.homes import Home

VARIABLES = (
    *("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"),
    *("CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CODEX_HOME", "COPILOT_HOME"),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    for folder in (made.home, made.repository):
        folder.mkdir()
    subprocess.run(["git", "init", "-q", str(made.repository)], check=True)
    monkeypatch.setenv("HOME", str(made.home))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return made
