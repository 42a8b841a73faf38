"""The path at which the program was a single file: settings that name it go on."""

import json
import shutil
from pathlib import Path

import pytest

from tests.integrations.hook import PACKAGE, PYTHON, STUB, Workplace, is_silent, program
from tests.integrations.stub_hub import LEASED, Answer, StubHub

ALONE = "Get ctxhub.pyz from the page /connect/ of your hub"


@pytest.fixture
def stub_file(at_stub: Workplace) -> Path:
    """In a checkout, beside the package: with the limits of the workplace."""
    folder = at_stub.folder / "integrations"
    folder.mkdir()
    (folder / "client").symlink_to(program(PYTHON, at_stub.limits).parents[1])
    return Path(shutil.copy(STUB, folder))


@pytest.fixture
def copied(at_stub: Workplace) -> Path:
    """The stub alone, as somebody copies it who follows an old text."""
    folder = at_stub.repository / ".ctxhub"
    folder.mkdir()
    return Path(shutil.copy(STUB, folder))


def test_without_an_argument_it_is_a_hook_of_claude_code(
    at_stub: Workplace, stub_file: Path, stub: StubHub
) -> None:
    run = at_stub.run(stdin=at_stub.input("session_start_startup"), script=stub_file)
    assert run.context
    assert stub.one("brief/").headers["ctxhub-session"].startswith("claude-")


def test_a_client_is_named_as_before(at_stub: Workplace, stub_file: Path, stub: StubHub) -> None:
    at_stub.run("codex", stdin=at_stub.input("session_start_startup"), script=stub_file)
    assert stub.one("brief/").headers["ctxhub-session"].startswith("codex-")


def test_it_guards_commits(at_stub: Workplace, stub_file: Path, stub: StubHub) -> None:
    stub.answers["check/"] = Answer(LEASED, 200)
    lease = {"by": "ben", "exclusive": True, "expires": "2026-11-21T10:30:00Z", "reason": "Rotation"}
    stub.answers["leases/"] = Answer({"items": [lease]}, 200)
    assert at_stub.run("pre-commit", "src/app.py", script=stub_file).code == 77


def test_what_it_installs_runs_it(at_stub: Workplace, stub_file: Path) -> None:
    assert at_stub.run("install", "claude-code", script=stub_file).code == 0
    settings = json.loads((at_stub.repository / ".claude" / "settings.local.json").read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    assert command == f"python3 -IS {stub_file} hook claude"
    run = at_stub.run("hook", "claude", stdin=at_stub.input("session_start_startup"), script=stub_file)
    assert run.context


def test_a_link_to_it_runs_the_package(at_stub: Workplace, stub_file: Path) -> None:
    link = at_stub.repository / "ctxhub_hook.py"
    link.symlink_to(stub_file)
    assert at_stub.run(stdin=at_stub.input("session_start_startup"), script=link).context


def test_a_copy_alone_says_once_a_session_what_to_do(at_stub: Workplace, copied: Path) -> None:
    run = at_stub.run(stdin=at_stub.input("session_start_startup"), script=copied)
    assert (run.code, run.err) == (0, "")
    assert ALONE in run.context
    assert run.answer["systemMessage"] == run.context
    assert is_silent(at_stub.run(stdin=at_stub.input("pre_tool_use_edit"), script=copied))
    assert is_silent(at_stub.run("codex", stdin=b"{", script=copied))
    assert is_silent(at_stub.run("codex-notify", "{}", script=copied))


def test_a_copy_alone_lets_commits_pass_and_installs_nothing(at_stub: Workplace, copied: Path) -> None:
    guard = at_stub.run("pre-commit", script=copied)
    assert (guard.code, guard.out) == (0, "")
    assert ALONE in guard.err
    install = at_stub.run("install", "claude-code", script=copied)
    assert (install.code, install.out) == (1, "")
    assert ALONE in install.err


def test_it_is_beside_the_package() -> None:
    assert (STUB.parent / "client" / PACKAGE.name / "commands.py").exists()
