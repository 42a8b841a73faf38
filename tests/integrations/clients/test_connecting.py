"""Connecting twice changes nothing, disconnecting gives files back, and what is not understood stays."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.connect import edit, files, originals
from ctxhub_client.connect.clients import Report
from ctxhub_client.connect.found import CLIENTS, found_clients
from ctxhub_client.connect.json_parts import ServerPart
from ctxhub_client.connect.jsonc import parse
from ctxhub_client.connect.line import Line, Scope, shell_command
from ctxhub_client.connect.places import rules_head
from ctxhub_client.install.files import Refused

from tests.integrations.clients.homes import CASES, HUB, PROGRAM, Home

every_case = pytest.mark.parametrize(("client", "scope"), CASES)
each_start = pytest.mark.parametrize("is_filled", [False, True], ids=["empty", "filled"])


def start(home: Home, client: str, scope: str, is_filled: bool) -> tuple[dict[str, bytes], set[str]]:
    if is_filled:
        home.fill(f"{client}-{scope}/before")
    return home.files(), home.folders()


def written(report: Report) -> list[Path]:
    return [Path(line[: -len(": written.")]) for line in report.lines if line.endswith(": written.")]


# -- The promises ------------------------------------------------------------------------------------------


@every_case
@each_start
def test_a_second_time_changes_no_byte(home: Home, client: str, scope: str, is_filled: bool) -> None:
    start(home, client, scope, is_filled)
    first = home.connect(client, scope)
    before = {path: path.stat().st_mtime_ns for path in home.folder.rglob("*") if path.is_file()}
    again = home.connect(client, scope)
    assert (first.is_changed, again.is_changed) == (True, False)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert all(line.endswith(": nothing to change.") for line in again.lines)


@every_case
@each_start
def test_disconnecting_gives_each_byte_back(home: Home, client: str, scope: str, is_filled: bool) -> None:
    before = start(home, client, scope, is_filled)
    home.connect(client, scope)
    assert home.files() != before[0]
    report = home.disconnect(client, scope)
    assert (report.is_changed, report.is_whole) == (True, True)
    assert (home.files(), home.folders()) == before
    assert not (home.state / "ctxhub").exists()


@every_case
@each_start
def test_connecting_otherwise_is_taken_back_as_well(
    home: Home, client: str, scope: str, is_filled: bool
) -> None:
    before = start(home, client, scope, is_filled)
    home.connect(client, scope, home.line(client, hub="https://old.example.com"))
    assert home.connect(client, scope).is_changed
    assert b"old.example.com" not in b"".join(home.files().values())
    home.disconnect(client, scope)
    assert (home.files(), home.folders()) == before


@every_case
@each_start
def test_what_others_write_meanwhile_stays(home: Home, client: str, scope: str, is_filled: bool) -> None:
    before, _ = start(home, client, scope, is_filled)
    changed = written(home.connect(client, scope))
    for path in changed:
        path.write_bytes(with_more(path, path.read_bytes()))
    assert home.disconnect(client, scope).is_whole
    now = home.files()
    for path in changed:
        name = str(path.relative_to(home.folder))
        left, was = now[name], before.get(name, b"")
        expected = with_more(path, was or (b"{}" if path.suffix in JSON else b"")).strip()
        if path.suffix in JSON:
            assert parse_bytes(left) == without_own(parse_bytes(expected))
        if was and b"ctxhub.py hook" not in was:
            assert re.sub(rb"\{\s*\}", b"{}", left) == re.sub(rb"\{\s*\}", b"{}", with_more(path, was))
        elif path.suffix not in JSON:
            assert left.removeprefix(rules_head(str(path)).encode()).strip() == expected
    assert files_but(home, changed) == {
        name: content for name, content in before.items() if home.folder / name not in changed
    }


JSON = (".json", ".jsonc")


def parse_bytes(content: bytes) -> Any:
    return parse(files.split_mark(content)[1]).value


def without_own(settings: Any) -> Any:
    """Hooks of an installer from before are not put back."""
    hooks = settings.get("hooks") or {}
    groups = [group for each in hooks.values() for group in each]
    for group in groups:
        group["hooks"] = [hook for hook in group["hooks"] if "ctxhub.py hook" not in hook["command"]]
    return settings


def with_more(path: Path, content: bytes) -> bytes:
    if path.suffix in JSON:
        start = content.index(b"{") + 1
        return content[:start] + b' "theirs": {},' + content[start:]
    if path.suffix == ".toml":
        return content + b"\n[theirs]\n"
    return content + b"theirs\n"


def files_but(home: Home, changed: list[Path]) -> dict[str, bytes]:
    return {name: content for name, content in home.files().items() if home.folder / name not in changed}


@every_case
def test_a_client_that_writes_its_files_anew_keeps_its_own(home: Home, client: str, scope: str) -> None:
    """As Claude Code does: in another style, with more in it."""
    start(home, client, scope, is_filled=False)
    own = {
        "theirs": {"a": [1]},
        "mcpServers": {"github": {}},
        "servers": {},
        "mcp": {"other": {"type": "local"}},
    }
    jsons = [path for path in written(home.connect(client, scope, dry_run=False)) if path.suffix == ".json"]
    home.disconnect(client, scope)
    for path in jsons:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(own))
    home.connect(client, scope)
    for path in jsons:
        path.write_text(json.dumps({**json.loads(path.read_text()), "more": 1}, indent=4))
    home.disconnect(client, scope)
    for path in jsons:
        assert json.loads(path.read_text()) == {**own, "more": 1}


@every_case
@pytest.mark.parametrize(
    "content",
    [
        *(
            b"{",
            b"[]",
            b"\xff\xfe{\x00}\x00",
            b'{"mcpServers": [], "servers": 1, "mcp": "x", "projects": []}',
        ),
        *(b'{"hooks": {"Stop": {}}, "mcpServers": {}, "mcpServers": {}}', b"a = [\n[mcp_servers", b"<xml/>"),
    ],
)
def test_what_is_not_understood_stays_and_the_lines_are_told(
    home: Home, client: str, scope: str, content: bytes
) -> None:
    settings = [path for path in written(home.connect(client, scope)) if path.suffix not in (".md", ".mdc")]
    home.disconnect(client, scope)
    for path in settings:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    before = {path: path.read_bytes() for path in settings}
    report = home.connect(client, scope)
    told = "\n".join(report.lines)
    for path in settings:
        if path.read_bytes() != before[path]:  # Another form, which this file may have.
            assert f"{path}: written." in report.lines
            continue
        assert f"{path}: " in told
        assert report.is_whole is False
        assert "and it stays as it is. Put this into it:" in told
        assert "/opt/ctxhub/ctxhub.py" in told
    home.disconnect(client, scope)
    assert {path: path.read_bytes() for path in settings} == before


@every_case
def test_no_token_stands_in_a_file(
    home: Home, client: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXHUB_TOKEN", "ctx_secret")
    for url in ("", f"{HUB}/mcp"):
        home.connect(client, scope, home.line(client, url=url))
        found = [path for path in home.folder.rglob("*") if path.is_file()]
        assert not [path for path in found if b"ctx_secret" in path.read_bytes()]


@every_case
def test_a_try_writes_nothing(home: Home, client: str, scope: str) -> None:
    home.fill(f"{client}-{scope}/before")
    before = home.files()
    report = home.connect(client, scope, dry_run=True)
    assert report.is_changed
    assert any(line.endswith(": would be written.") for line in report.lines)
    assert (home.files(), home.state.exists()) == (before, False)
    home.connect(client, scope)
    connected = home.files()
    assert any(
        line.endswith(": would be removed.") for line in home.disconnect(client, scope, dry_run=True).lines
    )
    assert home.files() == connected
    home.disconnect(client, scope)
    assert home.files() == before


@every_case
def test_disconnecting_what_was_never_connected_changes_nothing(home: Home, client: str, scope: str) -> None:
    home.fill(f"{client}-{scope}/before")
    before = home.files()
    assert not home.disconnect(client, scope).is_changed
    assert (home.files(), home.state.exists()) == (before, False)


# -- Several clients, several folders ----------------------------------------------------------------------


def test_all_clients_together_are_taken_back_in_any_order(home: Home) -> None:
    for client, scope in CASES:
        home.fill(f"{client}-{scope}/before")
    before = (home.files(), home.folders())
    for client, scope in CASES:
        home.connect(client, scope)
    for client, scope in sorted(CASES, key=lambda case: case[0][::-1]):
        home.disconnect(client, scope)
    assert (home.files(), home.folders()) == before


def test_rules_that_clients_share_stay_for_the_last_one(home: Home) -> None:
    for client in ("vscode", "opencode"):
        home.connect(client, "repository")
    rules = home.repository / "AGENTS.md"
    assert f"{rules}: stays for opencode." in home.disconnect("vscode", "repository").lines
    assert "CTXHUB" in rules.read_text()
    home.disconnect("opencode", "repository")
    assert not rules.exists()


def test_rules_that_were_there_before_stay(home: Home) -> None:
    home.connect("codex", "repository")
    rules = (home.repository / "AGENTS.md").read_bytes()
    home.disconnect("codex", "repository")
    (home.repository / "AGENTS.md").write_bytes(rules)
    home.connect("opencode", "repository")
    home.disconnect("opencode", "repository")
    assert (home.repository / "AGENTS.md").read_bytes() == rules


def test_an_older_block_of_rules_is_replaced_and_given_back(home: Home) -> None:
    rules = home.repository / "AGENTS.md"
    text = "# First\r\n\r\n<!-- BEGIN CTXHUB v1 -->\r\nOld.\r\n<!-- END CTXHUB -->\r\n\r\n# Last\r\n"
    rules.write_bytes(text.encode())
    home.connect("codex", "repository")
    assert "Old." not in rules.read_text()
    assert rules.read_bytes().endswith(b"<!-- END CTXHUB -->\r\n\r\n# Last\r\n")
    home.disconnect("codex", "repository")
    assert rules.read_bytes() == text.encode()


def test_repositories_of_claude_code_are_told_apart(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path)
    home.connect("claude-code", "repository", rules=False)
    home.connect("claude-code", "user", rules=False)
    settings = home.home / ".claude.json"
    both = json.loads(settings.read_text())
    other.disconnect("claude-code", "user")
    left = json.loads(settings.read_text())
    assert left == {"projects": both["projects"]}
    other.disconnect("claude-code", "repository")
    assert not settings.exists()


def test_claude_code_names_a_worktree_by_its_repository(home: Home) -> None:
    git = ("git", "-C", str(home.repository), "-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "First"], check=True)
    worktree = home.folder / "worktree"
    subprocess.run([*git, "worktree", "add", "-q", str(worktree)], check=True)
    assert Scope(False, str(worktree)).shared_top == str(home.repository)
    (home.repository / "src").mkdir()
    assert Scope(False, str(home.repository / "src")).shared_top == str(home.repository)
    assert Scope(False, str(home.home)).shared_top == str(home.home)


def test_a_server_that_was_there_is_given_back(home: Home) -> None:
    file = home.home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    text = '{"mcpServers": {"ctxhub": {"url": "http://127.0.0.1:8000/mcp"} }}'
    file.write_text(text)
    home.connect("cursor", "user")
    assert "8000" not in file.read_text()
    file.write_text(file.read_text().replace('{"mcpServers"', '{"theirs": 1, "mcpServers"'))
    home.disconnect("cursor", "user")
    assert file.read_text() == text.replace('{"mcpServers"', '{"theirs": 1, "mcpServers"')


def test_a_server_of_codex_that_was_there_stays(home: Home) -> None:
    file = home.home / ".codex" / "config.toml"
    file.parent.mkdir()
    text = '[mcp_servers.ctxhub]\nurl = "http://127.0.0.1:8000/mcp"\n'
    file.write_text(text)
    report = home.connect("codex", "user")
    assert file.read_text() == text
    assert any("it has a server ctxhub already" in line and "env_vars = [" in line for line in report.lines)
    home.disconnect("codex", "user")
    assert file.read_text() == text


def test_what_nothing_is_kept_of_is_known_by_what_it_runs(home: Home) -> None:
    for client in CLIENTS:
        home.connect(client, "user", rules=False)
    for kept in (home.state / "ctxhub" / "connect").iterdir():
        kept.unlink()
    for client in CLIENTS:
        home.disconnect(client, "user")
    found = {name: content for name, content in home.files().items() if b'"--hub"' in content}
    assert found == {}


def test_hooks_that_run_twice_are_told(home: Home) -> None:
    home.connect("codex", "user")
    told = "hooks.json has hooks of ctxhub as well, and both would run"
    assert told in "\n".join(home.connect("codex", "repository").lines)
    shared = home.repository / ".claude" / "settings.json"
    shared.parent.mkdir()
    shared.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "ctxhub.pyz hook claude"}]}]}}))
    assert f"{shared} has hooks of ctxhub as well" in "\n".join(
        home.connect("claude-code", "repository").lines
    )


# -- Files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_stays(home: Home, mode: int) -> None:
    home.fill("cursor-user/before")
    file = home.home / ".cursor" / "mcp.json"
    file.chmod(mode)
    for change in (home.connect, home.disconnect):
        change("cursor", "user")
        assert stat.S_IMODE(file.stat().st_mode) == mode


def test_what_is_kept_is_for_the_user_alone(home: Home) -> None:
    home.connect("claude-code", "repository")
    kept = home.state / "ctxhub" / "connect"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept.iterdir()} == {0o600}
    assert stat.S_IMODE((home.home / ".claude.json").stat().st_mode) == 0o600


def test_links_are_followed_and_stay(home: Home) -> None:
    home.fill("cursor-user/before")
    file = home.home / ".cursor" / "mcp.json"
    dotfiles = home.folder / "dotfiles.json"
    file.rename(dotfiles)
    file.symlink_to(dotfiles)
    before = dotfiles.read_bytes()
    home.connect("cursor", "user")
    assert file.is_symlink()
    assert b"ctxhub" in dotfiles.read_bytes()
    home.disconnect("cursor", "user")
    assert file.is_symlink()
    assert dotfiles.read_bytes() == before


def test_two_names_of_one_file_of_rules_hold_it_together(home: Home) -> None:
    (home.repository / "AGENTS.md").write_text("# Team\n")
    (home.repository / "CLAUDE.md").symlink_to("AGENTS.md")
    home.connect("claude-code", "repository")
    home.connect("codex", "repository")
    assert (home.repository / "AGENTS.md").read_text().count("BEGIN CTXHUB") == 1
    home.disconnect("claude-code", "repository")
    assert "BEGIN CTXHUB" in (home.repository / "AGENTS.md").read_text()
    home.disconnect("codex", "repository")
    assert (home.repository / "AGENTS.md").read_text() == "# Team\n"


def test_a_file_that_may_not_be_written_is_told_of(home: Home) -> None:
    home.fill("cursor-user/before")
    file = home.home / ".cursor" / "mcp.json"
    file.chmod(0o444)
    before = home.files()
    report = home.connect("cursor", "user")
    assert report.is_whole is False
    assert f"{file}: it is read-only, and it stays as it is." in report.lines[0]
    assert (home.files(), os.listdir(file.parent)) == (before, ["mcp.json"])
    assert not list(home.state.rglob("*.json"))


def test_a_folder_in_the_place_of_a_file_is_told_of(home: Home) -> None:
    (home.home / ".cursor" / "mcp.json").mkdir(parents=True)
    report = home.connect("cursor", "user")
    assert report.is_whole is False
    assert "Is a directory" in report.lines[0]


def test_a_folder_that_cannot_be_made_is_told_of(home: Home) -> None:
    (home.home / ".cursor").write_text("")
    report = home.connect("cursor", "user")
    assert report.is_whole is False
    assert not list(home.state.rglob("*.json"))


def test_without_a_place_to_keep_the_original_nothing_is_written(home: Home) -> None:
    home.fill("cursor-user/before")
    (home.home / ".local").write_text("")
    before = home.files()
    report = home.connect("cursor", "user")
    assert report.is_whole is False
    assert home.files() == before


def test_what_another_writes_at_that_moment_is_not_lost(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.fill("cursor-user/before")
    file = home.home / ".cursor" / "mcp.json"
    put_into = ServerPart.put_into

    def slowly(part: ServerPart, text: str) -> str:
        file.write_bytes(b'{"theirs": 1}')
        return put_into(part, text)

    monkeypatch.setattr(ServerPart, "put_into", slowly)
    report = home.connect("cursor", "user")
    assert "another program wrote it just now" in report.lines[0]
    assert file.read_bytes() == b'{"theirs": 1}'
    assert os.listdir(file.parent) == ["mcp.json"]
    assert not list(home.state.rglob("*.json"))


def test_a_write_that_breaks_leaves_the_file_as_it_was(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.fill("cursor-user/before")
    before = home.files()

    def broken(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    report = home.connect("cursor", "user")
    assert "No space left on device" in report.lines[0]
    assert home.files() == before
    assert not list(home.state.rglob("*.json"))


def test_files_that_are_gone_need_nothing(home: Home) -> None:
    before = (home.files(), home.folders())
    home.connect("cursor", "repository")
    (home.repository / ".cursor" / "mcp.json").unlink()
    home.disconnect("cursor", "repository")
    assert (home.files(), home.folders()) == before
    assert not (home.state / "ctxhub").exists()


def test_a_file_that_was_deleted_and_made_again_is_given_back_as_it_was_then(home: Home) -> None:
    home.connect("cursor", "user")
    file = home.home / ".cursor" / "mcp.json"
    file.unlink()
    home.connect("cursor", "user")
    home.disconnect("cursor", "user")
    assert not file.exists()


def test_what_is_kept_and_damaged_counts_as_absent(home: Home) -> None:
    home.fill("cursor-user/before")
    home.connect("cursor", "user")
    for kept in (home.state / "ctxhub" / "connect").iterdir():
        kept.write_text("{}")
    file = home.home / ".cursor" / "mcp.json"
    assert originals.load(str(file)) is None
    home.disconnect("cursor", "user")
    assert b"ctxhub" not in file.read_bytes()


# -- Lines and places --------------------------------------------------------------------------------------


def test_words_that_a_client_would_replace_are_refused(home: Home) -> None:
    for client, word in (("claude-code", "${HOME}"), ("copilot-cli", "$HOME"), ("opencode", "{file:x}")):
        report = home.connect(client, "user", Line(PROGRAM, ("--project", word)), rules=False)
        assert report.is_whole is False
        assert "would replace" in report.lines[0]
    assert home.connect("codex", "user", Line(PROGRAM, ("--project", "${HOME}"))).is_whole


def test_hooks_that_could_not_be_taken_out_again_are_refused(home: Home) -> None:
    report = home.connect("codex", "user", Line(["/opt/renamed.py"]), rules=False)
    assert report.is_whole is False
    assert not (home.home / ".codex" / "hooks.json").exists()


def test_settings_for_a_server_stand_where_each_client_reads_them(home: Home) -> None:
    for client in CLIENTS:
        line = Line(PROGRAM, environment={"XDG_CONFIG_HOME": "/srv/config"})
        home.connect(client, "user", line, rules=False)
        assert not home.connect(client, "user", line, rules=False).is_changed
        home.disconnect(client, "user")
    assert home.files() == {}


def test_antigravity_reads_no_token_from_a_variable(home: Home) -> None:
    report = home.connect("antigravity", "user", home.line("antigravity", url=f"{HUB}/mcp"), rules=False)
    assert (report.is_whole, home.files()) == (False, {})


def test_words_of_a_shell_are_quoted() -> None:
    words = ["C:\\Program Files\\Python\\python.exe", "-IS", 'C:\\Users\\a "b"\\$c.py', "http://h/"]
    assert shell_command(words, "nt") == (
        '"C:/Program Files/Python/python.exe" -IS "C:/Users/a \\"b\\"/\\$c.py" http://h/'
    )
    words = ["/usr/bin/python3", "/home/a b/$c'd.py"]
    assert subprocess.run(
        ["sh", "-c", shell_command(["printf", "%s\\n", *words], "posix")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n") == [*words, ""]


def test_clients_are_found_by_their_command_or_folder(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home.folder / "bin"))
    assert found_clients() == []
    folders = (".claude", ".codex", ".cursor", ".config/Code/User", ".copilot", ".config/opencode")
    for client, folder in zip(CLIENTS, [*folders, ".gemini/config"], strict=True):
        (home.home / folder).mkdir(parents=True)
        assert client in found_clients()
    assert found_clients() == list(CLIENTS)


@pytest.mark.parametrize(("client", "command"), [("claude-code", "claude"), ("antigravity", "agy")])
def test_a_command_is_enough(home: Home, monkeypatch: pytest.MonkeyPatch, client: str, command: str) -> None:
    program = home.folder / "bin" / command
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert found_clients() == [client]


def test_variables_of_clients_name_other_folders(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    for name in names:
        monkeypatch.setenv(name, str(home.folder / name))
    for client in CLIENTS:
        home.connect(client, "user")
    found = {name for name in home.files() if not name.startswith(("XDG_STATE_HOME", "home"))}
    assert found == {
        "CLAUDE_CONFIG_DIR/.claude.json",
        "CLAUDE_CONFIG_DIR/settings.json",
        "CLAUDE_CONFIG_DIR/CLAUDE.md",
        "CODEX_HOME/config.toml",
        "CODEX_HOME/hooks.json",
        "CODEX_HOME/AGENTS.md",
        "COPILOT_HOME/mcp-config.json",
        "COPILOT_HOME/instructions/ctxhub.instructions.md",
        "XDG_CONFIG_HOME/Code/User/mcp.json",
        "XDG_CONFIG_HOME/opencode/opencode.json",
        "XDG_CONFIG_HOME/opencode/AGENTS.md",
    }
    assert not home.state.exists()


def test_a_mac_keeps_vs_codes_settings_elsewhere(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    home.connect("vscode", "user")
    assert (home.home / "Library" / "Application Support" / "Code" / "User" / "mcp.json").exists()


def test_antigravity_before_version_2_has_a_file_of_its_own(home: Home) -> None:
    old = home.home / ".gemini" / "antigravity"
    old.mkdir(parents=True)
    home.connect("antigravity", "user")
    assert (old / "mcp_config.json").exists()
    home.disconnect("antigravity", "user")
    (home.home / ".gemini" / "config").mkdir()
    (home.home / ".gemini" / "config" / ".migrated").touch()
    home.connect("antigravity", "user")
    assert not (old / "mcp_config.json").exists()


def test_opencode_goes_on_in_the_file_that_is_there(home: Home) -> None:
    folder = home.home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text("{}")
    (folder / "opencode.jsonc").write_text('{"mcp": {"ctxhub": {}}}')
    home.connect("opencode", "user")
    assert (folder / "opencode.json").read_text() == "{}"
    assert "/opt/ctxhub" in (folder / "opencode.jsonc").read_text()


def test_a_server_called_servers_is_no_list_of_servers(home: Home) -> None:
    file = home.repository / "opencode.json"
    file.write_text('{"mcp": {"servers": {"type": "local", "command": ["x"]}}}')
    home.connect("opencode", "repository")
    assert list(json.loads(file.read_text())["mcp"]) == ["servers", "ctxhub"]


def test_importing_has_no_effects(home: Home) -> None:
    folder = Path(edit.__file__).parent
    names = [f"ctxhub_client.connect.{file.stem}" for file in folder.glob("[a-z]*.py")]
    run = subprocess.run(
        [sys.executable, "-c", "import sys; before = set(sys.modules); import {}".format(", ".join(names))],
        env={**os.environ, "PYTHONPATH": str(folder.parents[1])},
        capture_output=True,
        check=True,
    )
    assert (run.stdout, run.stderr, home.files()) == (b"", b"", {})


def test_a_part_that_is_not_understood_raises(home: Home) -> None:
    file = home.home / "settings.json"
    file.write_text("{")
    with pytest.raises(Refused, match=re.escape("it is not JSON at line 1")):
        edit.add(str(file), ServerPart(("mcpServers", "ctxhub"), {}), "cursor", is_private=True)
