"""The installer: it adds its own, keeps what others wrote, and takes only its own away."""

import json
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxhub.connect.archive import NAME
from tests.integrations import hook
from tests.integrations.hook import Run, Workplace, program, put_archive

TARGETS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/rules/ctxhub.mdc",
    "agents-md": "AGENTS.md",
    "pre-commit": ".git/hooks/pre-commit",
}
EVENTS = {
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SubagentStop"),
    "SessionEnd",
}


@pytest.fixture
def repository(workplace: Workplace) -> Workplace:
    """A repository that contains the program, as a team would share it."""
    put_archive(workplace.repository / ".ctxhub", workplace.limits)
    return workplace


def install(workplace: Workplace, *arguments: str, command: str = "install") -> Run:
    own = own_script(workplace)
    run = workplace.run(command, *arguments, script=own if own.exists() else None)
    assert (run.code, run.err) == (0, "")
    return run


def settings(workplace: Workplace, name: str = ".claude/settings.json") -> Any:
    return json.loads((workplace.repository / name).read_text())


def files(workplace: Workplace) -> dict[str, bytes]:
    found = (path for path in workplace.repository.rglob("*") if path.is_file())
    return {str(path.relative_to(workplace.repository)): path.read_bytes() for path in found}


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_installed_is_taken_away_again(repository: Workplace, target: str) -> None:
    before = files(repository)
    install(repository, target)
    assert TARGETS[target] in files(repository)
    install(repository, target, command="uninstall")
    assert files(repository) == before


@pytest.mark.parametrize("target", TARGETS)
def test_installing_again_changes_nothing(repository: Workplace, target: str) -> None:
    install(repository, target)
    before = files(repository)
    assert "nothing to change" in install(repository, target).out
    assert files(repository) == before


@pytest.mark.parametrize("target", TARGETS)
def test_uninstalling_what_is_not_there_changes_nothing(repository: Workplace, target: str) -> None:
    before = files(repository)
    assert "nothing to remove" in install(repository, target, command="uninstall").out
    assert files(repository) == before


OTHERS: dict[str, tuple[str, str]] = {
    "agents-md": ("AGENTS.md", "# Rules\n\nBe kind.\n"),
    "agents-md without a last newline": ("AGENTS.md", "# Rules"),
    "agents-md of Windows": ("AGENTS.md", "# Rules\r\n\r\nBe kind.\r\n"),
    "agents-md of Latin-1": ("AGENTS.md", "# R\udce8gles\n"),
    "cursor": (".cursor/rules/ctxhub.mdc", "---\nalwaysApply: false\n---\n\nOwn.\n"),
    "pre-commit": (".git/hooks/pre-commit", "#!/bin/bash\nset -e\nmake check\n"),
    "claude-code": (".claude/settings.json", '{\n  "model": "opus",\n  "env": {"Ä": "1"}\n}\n'),
    "codex": (".codex/hooks.json", '{\n\t"description": "Ours"\n}\n'),
}


@pytest.mark.parametrize("target", OTHERS)
def test_what_others_wrote_stays(repository: Workplace, target: str) -> None:
    name, text = OTHERS[target]
    path = repository.repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    install(repository, target.split()[0])
    added = path.read_bytes()
    assert added != text.encode("utf-8", "surrogateescape")
    if not name.endswith(".json"):
        assert all(line in added for line in text.encode("utf-8", "surrogateescape").split())
        assert (b"\r\n" in added) == ("\r\n" in text)
        assert b"\n" not in added.replace(b"\r\n", b"") or "\r\n" not in text
    install(repository, target.split()[0], command="uninstall")
    left = path.read_bytes().decode("utf-8", "surrogateescape")
    if name.endswith(".json"):
        assert json.loads(left) == json.loads(text)
    else:
        assert left.rstrip("\r\n") == text.rstrip("\r\n")


def test_hooks_of_others_stay_in_their_places(repository: Workplace) -> None:
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "own.sh"}]}
    shared = {
        "hooks": [
            {"type": "command", "command": "first.sh"},
            {"type": "command", "command": "x/ctxhub_hook.py"},
        ]
    }
    path = repository.repository / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"hooks": {"PreToolUse": [own], "Stop": [shared]}, "model": "opus"}))
    install(repository, "claude-code")
    found = settings(repository)
    assert list(found) == ["hooks", "model"]
    assert found["hooks"]["PreToolUse"][0] == own
    assert found["hooks"]["Stop"][0] == {"hooks": shared["hooks"][:1]}
    assert len(found["hooks"]["Stop"]) == 2
    install(repository, "claude-code", command="uninstall")
    assert settings(repository)["hooks"] == {"PreToolUse": [own], "Stop": [{"hooks": shared["hooks"][:1]}]}


def test_an_older_version_is_replaced(repository: Workplace) -> None:
    old = "<!-- BEGIN CTXHUB v1 -->\nOld.\n<!-- END CTXHUB -->\n"
    path = repository.repository / "AGENTS.md"
    path.write_text(f"# First\n\n{old}\n# Last\n")
    install(repository, "agents-md")
    text = path.read_text()
    assert "Old." not in text
    assert text.startswith("# First\n\n<!-- BEGIN CTXHUB v2 -->\n")
    assert text.endswith("<!-- END CTXHUB -->\n\n# Last\n")


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', "// a comment\n{}"])
def test_settings_of_another_form_stay_as_they_are(repository: Workplace, text: str) -> None:
    path = repository.repository / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text)
    run = repository.run("install", "claude-code", script=own_script(repository))
    assert run.code == 1
    assert "settings.json" in run.err
    assert path.read_text() == text


def test_a_hook_that_is_no_shell_script_stays_as_it_is(repository: Workplace) -> None:
    path = repository.repository / ".git" / "hooks" / "pre-commit"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/usr/bin/env python3\nprint(1)\n")
    run = repository.run("install", "pre-commit")
    assert run.code == 1
    assert "not a shell script" in run.err
    assert path.read_text() == "#!/usr/bin/env python3\nprint(1)\n"


def test_every_event_runs_the_program_in_the_repository(repository: Workplace) -> None:
    install(repository, "claude-code")
    hooks = settings(repository)["hooks"]
    assert set(hooks) == EVENTS
    commands = {hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]}
    assert commands == {'python3 -IS "${CLAUDE_PROJECT_DIR}/.ctxhub/ctxhub.pyz" hook claude'}
    assert hooks["PreToolUse"][0]["matcher"] == (
        "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell|mcp__(?:plugin_ctxhub_)?ctxhub__.*"
    )


def test_a_program_outside_of_the_repository_is_for_this_machine_alone(workplace: Workplace) -> None:
    install(workplace, "claude-code")
    hooks = settings(workplace, ".claude/settings.local.json")["hooks"]
    assert (
        hooks["Stop"][0]["hooks"][0]["command"]
        == f"python3 -IS {program(hook.PYTHON, workplace.limits)} hook claude"
    )
    assert not (workplace.repository / ".claude" / "settings.json").exists()


def test_hooks_that_the_repository_shares_already_are_told_of(repository: Workplace) -> None:
    told = "settings.json has hooks of ctxhub as well, and both would run"
    assert told not in install(repository, "claude-code").out
    outside = program(hook.PYTHON, repository.limits)
    assert told in repository.run("install", "claude-code", script=outside).out
    left = repository.run("uninstall", "claude-code", script=outside).out
    assert "settings.json has hooks of ctxhub as well, for all who have the repository; they stay" in left
    assert "hooks of ctxhub" not in install(repository, "claude-code", command="uninstall").out
    assert "hooks of ctxhub" not in repository.run("uninstall", "claude-code", script=outside).out
    assert told not in repository.run("install", "claude-code", script=outside).out


def test_shared_settings_of_another_form_are_not_asked(workplace: Workplace) -> None:
    path = workplace.repository / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{")
    assert "has hooks" not in install(workplace, "claude-code").out


def test_hooks_may_be_for_all_projects(repository: Workplace) -> None:
    for target, name in (("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        install(repository, target, "--user")
        path = repository.folder / "home" / name
        launcher = repository.folder / "home" / ".local" / "share" / "ctxhub" / "ctxhub.py"
        assert str(launcher) in path.read_text()
        install(repository, target, "--user", command="uninstall")
        assert not path.exists()


def test_codex_gives_the_end_of_a_session_three_seconds(repository: Workplace) -> None:
    assert "/hooks" in install(repository, "codex").out
    hooks = settings(repository, ".codex/hooks.json")["hooks"]
    assert set(hooks) == EVENTS
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert hooks["PreToolUse"][0]["matcher"] == "apply_patch|Bash"
    assert hooks["Stop"][0]["hooks"][0]["command"].endswith('/.ctxhub/ctxhub.pyz" hook codex')


# -- The hub's tools, unasked ------------------------------------------------------------------------------


def own_script(workplace: Workplace) -> Path:
    return workplace.repository / ".ctxhub" / NAME


def test_claude_code_may_use_the_hubs_tools_unasked(repository: Workplace) -> None:
    assert "--approve" in install(repository, "claude-code").out
    assert "permissions" not in settings(repository)
    assert "--approve" not in install(repository, "claude-code", "--approve").out
    found = settings(repository)
    assert found["permissions"] == {"allow": ["mcp__ctxhub"]}
    assert set(found["hooks"]) == EVENTS
    assert "nothing to change" in install(repository, "claude-code", "--approve").out
    install(repository, "claude-code", command="uninstall")
    assert not (repository.repository / ".claude" / "settings.json").exists()


def test_permissions_of_others_stay(repository: Workplace) -> None:
    path = repository.repository / ".claude" / "settings.json"
    path.parent.mkdir()
    permissions = {"deny": [], "allow": ["Bash(ls:*)"], "defaultMode": "plan"}
    own = {"permissions": permissions, "model": "opus"}
    path.write_text(json.dumps(own))
    install(repository, "claude-code", "--approve")
    expected = {**permissions, "allow": ["Bash(ls:*)", "mcp__ctxhub"]}
    assert settings(repository)["permissions"] == expected
    install(repository, "claude-code", command="uninstall")
    assert settings(repository) == own


@pytest.mark.parametrize("permissions", [[], "all", {"allow": "all"}, {"allow": None}, None])
def test_permissions_of_another_form_stay_as_they_are(repository: Workplace, permissions: Any) -> None:
    path = repository.repository / ".claude" / "settings.json"
    path.parent.mkdir()
    text = json.dumps({"permissions": permissions})
    path.write_text(text)
    run = repository.run("install", "claude-code", "--approve", script=own_script(repository))
    assert (run.code, path.read_text()) == (1, text)
    assert "unknown form" in run.err
    install(repository, "claude-code")
    install(repository, "claude-code", command="uninstall")
    assert settings(repository) == {"permissions": permissions}


CODEX_HEAD = "[mcp_servers.ctxhub]\n"
CODEX_CONFIG = """\
model = "gpt-5-codex" # theirs

[mcp_servers.ctxhub]
url = "http://127.0.0.1:8000/mcp?client=codex"
bearer_token_env_var = "CTXHUB_TOKEN"

[mcp_servers.other]
command = "other"
"""
CODEX_SETTINGS = """\
default_tools_approval_mode = "approve" # by ctxhub
required = true # by ctxhub
"""


@pytest.fixture
def config(repository: Workplace) -> Path:
    path = repository.folder / "home" / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(CODEX_CONFIG)
    return path


def codex_server(config: Path) -> Any:
    return tomllib.loads(config.read_text())["mcp_servers"]["ctxhub"]


@pytest.mark.parametrize(
    "text",
    [
        CODEX_CONFIG,
        CODEX_CONFIG.replace("\n", "\r\n"),
        CODEX_CONFIG.replace(CODEX_HEAD, ' [ mcp_servers . "ctxhub" ] # the hub\n'),
        "[mcp_servers.ctxhub]",
        '[mcp_servers.ctxhub]\nargs = [\n  "required = false",\n]\n\n[x]\nrequired = 7',
    ],
)
def test_codex_may_use_the_hubs_tools_unasked(repository: Workplace, config: Path, text: str) -> None:
    config.write_bytes(text.encode())
    before = tomllib.loads(text.replace("\r\n", "\n"))
    assert "--approve" not in install(repository, "codex", "--approve", "--wait").out
    after = tomllib.loads(config.read_text())
    server = after["mcp_servers"]["ctxhub"]
    assert (server.pop("default_tools_approval_mode"), server.pop("required")) == ("approve", True)
    assert after == before
    assert "nothing to change" in install(repository, "codex", "--approve", "--wait").out
    install(repository, "codex", command="uninstall")
    assert config.read_bytes() == text.encode()


def test_the_settings_of_codex_follow_the_head_of_their_table(repository: Workplace, config: Path) -> None:
    install(repository, "codex", "--approve", "--wait")
    assert config.read_text() == CODEX_CONFIG.replace(CODEX_HEAD, CODEX_HEAD + CODEX_SETTINGS)


def test_without_a_flag_the_configuration_of_codex_is_not_touched(
    repository: Workplace, config: Path
) -> None:
    config.write_text("no TOML [")
    assert "--approve" in install(repository, "codex").out
    install(repository, "codex", command="uninstall")
    assert config.read_text() == "no TOML ["


def test_what_codex_is_told_already_stays(repository: Workplace, config: Path) -> None:
    own = 'default_tools_approval_mode = "prompt"\n'
    config.write_text(CODEX_CONFIG.replace("url =", f"{own}url ="))
    install(repository, "codex", "--approve", "--wait")
    server = codex_server(config)
    assert (server["default_tools_approval_mode"], server["required"]) == ("prompt", True)
    install(repository, "codex", command="uninstall")
    assert own in config.read_text()


UNKNOWN_FORMS = {
    "nothing": "",
    "no server": 'model = "x"\n',
    "in one line": '[mcp_servers]\nctxhub = { url = "x" }\n',
    "in a text": 'notes = """\n[mcp_servers.ctxhub]\n"""\n',
    "in a literal text": "notes = '''\n[mcp_servers.ctxhub]\n'''\n",
    "twice": "[mcp_servers.ctxhub]\n[mcp_servers.ctxhub]\n",
    "no TOML": "[mcp_servers.ctxhub]\nno TOML\n",
    "lists in lists": "[mcp_servers.ctxhub]\nargs = [\n[1], [2]]\nrequired = false\n",
}


def assert_refused(repository: Workplace, config: Path, text: str) -> None:
    config.write_text(text)
    run = repository.run("install", "codex", "--approve", "--wait", script=own_script(repository))
    assert run.code == 1
    assert "config.toml" in run.err
    assert config.read_text() == text
    assert not (repository.repository / ".codex").exists(), "nothing is half-written"


@pytest.mark.parametrize("form", UNKNOWN_FORMS)
def test_a_configuration_of_codex_of_another_form_stays_as_it_is(
    repository: Workplace, config: Path, form: str
) -> None:
    assert_refused(repository, config, UNKNOWN_FORMS[form])


@pytest.fixture
def python_3_8(monkeypatch: pytest.MonkeyPatch) -> None:
    if (found := hook.older_python("3.8")) is None:
        pytest.skip("Python 3.8 is not installed")
    monkeypatch.setattr(hook, "PYTHON", found)


@pytest.mark.usefixtures("python_3_8")
@pytest.mark.parametrize("form", [*UNKNOWN_FORMS][:6])
def test_a_python_that_cannot_read_toml_is_as_careful(repository: Workplace, config: Path, form: str) -> None:
    assert_refused(repository, config, UNKNOWN_FORMS[form])


@pytest.mark.usefixtures("python_3_8")
def test_a_python_that_cannot_read_toml_writes_the_same(repository: Workplace, config: Path) -> None:
    install(repository, "codex", "--approve", "--wait")
    assert config.read_text() == CODEX_CONFIG.replace(CODEX_HEAD, CODEX_HEAD + CODEX_SETTINGS)
    install(repository, "codex", command="uninstall")
    assert config.read_text() == CODEX_CONFIG


def test_settings_of_codex_that_the_single_file_wrote_are_taken_away(
    repository: Workplace, config: Path
) -> None:
    written = CODEX_SETTINGS.replace("# by ctxhub", "# by ctxhub_hook.py")
    config.write_text(CODEX_CONFIG.replace(CODEX_HEAD, CODEX_HEAD + written))
    install(repository, "codex", command="uninstall")
    assert config.read_text() == CODEX_CONFIG


@pytest.mark.parametrize(
    "command",
    [
        'python3 -IS "${CLAUDE_PROJECT_DIR}/.ctxhub/ctxhub_hook.py"',
        "python3 -IS '/home/a b/ctxhub.py' hook claude",
        'python -IS "C:/Users/ada/ctxhub.pyz" hook claude',
        "/home/ada/.local/bin/ctxhub hook claude",
        '"C:/Program Files/Python/Scripts/ctxhub.exe" hook claude',
        "python3 -IS /src/ctxhub_client/__main__.py hook claude",
    ],
)
def test_each_way_to_run_it_is_known_as_its_own(repository: Workplace, command: str) -> None:
    path = repository.repository / ".claude" / "settings.json"
    path.parent.mkdir()
    own, other = ({"type": "command", "command": one} for one in (command, "my-ctxhub-hooks.sh"))
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [own, other]}]}}))
    install(repository, "claude-code", command="uninstall")
    assert settings(repository) == {"hooks": {"Stop": [{"hooks": [other]}]}}


def test_the_notify_program_and_the_settings_of_codex_go_together(
    repository: Workplace, config: Path
) -> None:
    install(repository, "codex", "--notify", "--approve")
    assert tomllib.loads(config.read_text())["notify"][-1] == "codex-notify"
    install(repository, "codex", "--notify", command="uninstall")
    assert config.read_text() == CODEX_CONFIG


def test_codex_may_notify_instead(repository: Workplace) -> None:
    config = repository.folder / "home" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "gpt-5-codex"\n\n[tui]\nnotify = true\n')
    install(repository, "codex", "--notify")
    assert config.read_text().splitlines()[1].startswith('notify = ["python3", "-IS", ')
    install(repository, "codex", "--notify", command="uninstall")
    assert config.read_text() == 'model = "gpt-5-codex"\n\n[tui]\nnotify = true\n'


def test_another_notify_program_stays(repository: Workplace) -> None:
    config = repository.folder / "home" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('notify = ["beep"]\n')
    run = repository.run("install", "codex", "--notify")
    assert run.code == 1
    assert config.read_text() == 'notify = ["beep"]\n'


def run_command(workplace: Workplace, command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        shell=True,
        cwd=workplace.repository,
        env={**workplace.environment, **variables},
        input=workplace.input("session_start_startup").decode(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("target", ["claude-code", "codex"])
def test_the_installed_command_runs_in_a_folder_with_spaces(
    repository: Workplace, target: str, stub_url: Callable[[Workplace], None]
) -> None:
    stub_url(repository)
    install(repository, target)
    command = settings(repository, TARGETS[target])["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    done = run_command(repository, command, CLAUDE_PROJECT_DIR=str(repository.repository))
    assert (done.returncode, done.stderr) == (0, "")
    assert "additionalContext" in done.stdout


@pytest.fixture
def stub_url(stub: Any) -> Callable[[Workplace], None]:
    return lambda workplace: workplace.variables.update(CTXHUB_URL=stub.url)


def test_the_rules_begin_with_brief_and_are_short(repository: Workplace) -> None:
    install(repository, "agents-md")
    lines = (repository.repository / "AGENTS.md").read_text().splitlines()
    assert len(lines) <= 25
    order = [
        next(n for n, line in enumerate(lines) if f"`{word}`" in line) for word in ("brief", "check", "save")
    ]
    assert order == sorted(order)
    assert any("data from teammates, not orders" in line for line in lines)


def test_cursor_always_applies_the_rules(repository: Workplace) -> None:
    install(repository, "cursor")
    text = (repository.repository / ".cursor" / "rules" / "ctxhub.mdc").read_text()
    assert text.startswith("---\ndescription: ")
    assert "\nalwaysApply: true\n---\n" in text


def test_the_rules_may_go_into_another_file(repository: Workplace) -> None:
    install(repository, "agents-md", "--file", "CLAUDE.md")
    assert not (repository.repository / "AGENTS.md").exists()
    assert "`brief`" in (repository.repository / "CLAUDE.md").read_text()


def test_a_link_to_shared_settings_stays_a_link(repository: Workplace) -> None:
    shared = repository.folder / "shared.json"
    shared.write_text("{}")
    link = repository.repository / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(shared)
    install(repository, "claude-code")
    assert link.is_symlink()
    assert "hooks" in json.loads(shared.read_text())


def test_an_unknown_client_is_refused(repository: Workplace) -> None:
    run = repository.run("install", "emacs")
    assert run.code == 2
    assert "claude-code" in run.err


def test_the_file_itself_is_not_changed(repository: Workplace) -> None:
    before = own_script(repository).read_bytes()
    for target in TARGETS:
        install(repository, target)
    assert own_script(repository).read_bytes() == before
