"""`manage.py connect` on the hub's own machine: no code, tokens of the project, the same files."""

import json
import os
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ctxhub.core.accounts.access_tokens import authenticate
from ctxhub.core.models import AccessToken, Project
from tests.integrations.hook import Workplace

HUB = "http://127.0.0.1:8000"


@pytest.fixture
def desk(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A machine with Claude Code and Codex, in whose repository the command is run."""
    home = workplace.folder / "home"
    for name in (".claude", ".codex"):
        (home / name).mkdir()
    for name in list(os.environ):
        if name.startswith(("XDG_", "CTXHUB_", "CLAUDE", "CODEX")) and name != "CTXHUB_VAR_DIR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent) + ":/usr/bin:/bin")
    monkeypatch.chdir(workplace.repository)
    return workplace


def connect(*arguments: str) -> None:
    call_command("connect", "--hub", HUB, *arguments)


def test_it_connects_the_clients_without_a_code(
    desk: Workplace, apollo: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    connect("--client", "claude-code,codex")
    told = capsys.readouterr().out
    assert f"claude is connected to project apollo at {HUB}." in told
    stored = json.loads((desk.folder / "home" / ".config" / "ctxhub" / "credentials.json").read_text())
    tokens = {each["client"]: each for each in stored["tokens"]}
    for client, agent in (("claude-code", "claude"), ("codex", "codex")):
        caller = authenticate(tokens[client]["token"])
        assert (caller.agent, caller.pinned, sorted(caller.scopes)) == (agent, True, ["read", "write"])
        assert tokens[client]["renews"] is True
    settings = (desk.repository / ".claude" / "settings.local.json").read_text()
    launcher = desk.folder / "home" / ".local" / "share" / "ctxhub" / "ctxhub.py"
    assert launcher.exists()
    assert str(launcher) in settings
    assert f"--hub {HUB} --project apollo --agent claude" in settings
    assert "ctx_" not in settings


def test_a_dry_run_makes_no_token(desk: Workplace, apollo: Project) -> None:
    connect("--client", "codex", "--dry-run")
    assert AccessToken.unscoped.count() == 0
    assert not (desk.folder / "home" / ".config").exists()
    assert not (desk.folder / "home" / ".local").exists()


def test_what_cannot_be_done_is_told(
    desk: Workplace, apollo: Project, hermes: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="apollo"):
        connect("--client", "codex")
    with pytest.raises(CommandError, match="Not everything is connected"):
        connect("--project", "apollo", "--client", "emacs")
    assert "There is no client 'emacs'" in capsys.readouterr().err
    assert AccessToken.unscoped.count() == 0


def test_the_agent_may_be_named(desk: Workplace, apollo: Project) -> None:
    connect("--client", "codex", "--agent", "zoe")
    assert [token.agent.name for token in AccessToken.unscoped.select_related("agent") if token.agent] == [
        "zoe"
    ]
