"""The plugin for Claude Code: its hooks run the client that is installed, or say how to install it."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.install.hook_settings import CLAUDE_EVENTS, groups_of

from tests.integrations.hook import ROOT, SILENT, Run, Workplace, put_archive

PLUGIN = ROOT / "integrations" / "claude-code" / "plugin"
HOOKS: dict[str, Any] = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
START, EDIT = ("SessionStart", "session_start_startup"), ("PreToolUse", "pre_tool_use_edit")
TOLD = (
    "ctxhub: its hooks do nothing until the client is installed. "
    "Get it from the page /connect/ of your hub, and run: python3 ctxhub.pyz install"
)


def command(event: str) -> str:
    [group] = HOOKS[event]
    found: str = group["hooks"][0]["command"]
    return found


def run(workplace: Workplace, event: tuple[str, str], **variables: str) -> Run:
    """As Claude Code runs it: by a shell."""
    done = subprocess.run(
        ["/bin/sh", "-c", command(event[0])],
        cwd=workplace.repository,
        env={**workplace.environment, **variables},
        input=workplace.input(event[1]).decode(),
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def program(folder: Path, name: str, *lines: str) -> Path:
    """A folder for PATH with one program."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(["#!/bin/sh", *lines, ""]))
    (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def bare(at_stub: Workplace) -> Workplace:
    """A machine with the usual programs, Python, and no client."""
    folder = program(at_stub.folder / "bin", "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    for name in ("sh", "cat"):
        (folder / name).symlink_to(shutil.which(name) or "")
    at_stub.variables["PATH"] = str(folder)
    return at_stub


def test_it_holds_no_program() -> None:
    files = {path.relative_to(PLUGIN).as_posix() for path in PLUGIN.rglob("*") if path.is_file()}
    assert files == {".claude-plugin/plugin.json", ".mcp.json", "hooks/hooks.json"}


def test_its_events_are_those_that_the_installer_writes() -> None:
    for name, group in groups_of(CLAUDE_EVENTS, "").items():
        [own] = HOOKS[name]
        assert own.get("matcher") == group.get("matcher")
        assert [hook["timeout"] for hook in own["hooks"]] == [group["hooks"][0]["timeout"]]
    assert HOOKS.keys() == groups_of(CLAUDE_EVENTS, "").keys()


def test_one_command_runs_on_every_event_but_the_first_says_more() -> None:
    [other] = {command(event) for event in HOOKS if event != "SessionStart"}
    assert command("SessionStart").replace(f"echo '{json.dumps({'systemMessage': TOLD})}'; ", "") == other


def test_the_unpacked_client_is_run(bare: Workplace) -> None:
    assert bare.run("install", script=put_archive(bare.folder, bare.limits)).code == 0
    assert "additionalContext" in run(bare, START).out
    assert run(bare, EDIT) == SILENT


def test_the_unpacked_client_is_found_in_another_data_folder(bare: Workplace) -> None:
    bare.variables["XDG_DATA_HOME"] = str(bare.folder / "my data")
    assert bare.run("install", script=put_archive(bare.folder, bare.limits)).code == 0
    assert "additionalContext" in run(bare, START).out


def test_the_command_that_pip_has_installed_is_run(bare: Workplace) -> None:
    script = shlex.quote(str(put_archive(bare.folder, bare.limits)))
    program(bare.folder / "bin", "ctxhub", f'exec python3 -IS {script} "$@"')
    assert "additionalContext" in run(bare, START).out


def test_without_a_client_the_start_of_a_session_says_how_to_install_it(bare: Workplace) -> None:
    told = run(bare, START)
    assert (told.code, told.err, told.answer) == (0, "", {"systemMessage": TOLD})
    assert told.out.count("\n") == 1


@pytest.mark.parametrize(("name", "event"), [(name, "stop") for name in HOOKS if name != "SessionStart"])
def test_without_a_client_the_others_say_nothing(bare: Workplace, name: str, event: str) -> None:
    assert run(bare, (name, event)) == SILENT


def test_all_of_the_input_is_read_without_a_client(bare: Workplace) -> None:
    """Else the client could fail to write it."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", command("PostToolUse")], env=bare.environment, stdin=subprocess.PIPE
    )
    assert process.stdin
    process.stdin.write(b"x" * 1_000_000)
    process.stdin.close()
    assert process.wait() == 0


@pytest.mark.parametrize("event", [START, EDIT])
def test_without_python_nothing_is_said(bare: Workplace, event: tuple[str, str]) -> None:
    assert bare.run("install", script=put_archive(bare.folder, bare.limits)).code == 0
    (bare.folder / "bin" / "python3").unlink()
    assert run(bare, event) == SILENT


@pytest.mark.parametrize("event", [START, EDIT])
def test_a_client_that_is_broken_does_no_harm(bare: Workplace, event: tuple[str, str]) -> None:
    program(bare.folder / "bin", "ctxhub", "cat >/dev/null", "echo broken >&2", "exit 2")
    assert run(bare, event) == SILENT


def test_windows_has_its_own_folder_and_name_of_python(bare: Workplace) -> None:
    """In Git Bash, which runs the hooks there."""
    data = bare.folder / "AppData"
    bare.variables["XDG_DATA_HOME"] = str(data)
    assert bare.run("install", script=put_archive(bare.folder, bare.limits)).code == 0
    del bare.variables["XDG_DATA_HOME"]
    os.rename(bare.folder / "bin" / "python3", bare.folder / "bin" / "python")
    assert "additionalContext" in run(bare, START, LOCALAPPDATA=str(data)).out
