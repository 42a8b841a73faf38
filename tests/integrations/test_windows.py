"""Hooks and the bridge of one window find one another by the process of the client that runs both."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ctxhub_client.windows import joining as windows
from ctxhub_client.windows.joining import Window, begin_session, end_session, name_subagent
from ctxhub_client.windows.processes import Process, ancestors, machine, read_ps, read_stat

from tests.integrations.hook import PACKAGE, PYTHON, Workplace
from tests.integrations.scripted_hub import scripted

Find = Callable[[int], Process | None]


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    # The clients of the tables below run nowhere.
    monkeypatch.setattr(windows, "is_client_living", lambda _: True)


def table(*chain: tuple[str, int], above: int = 1) -> Find:
    """What runs this process: name and start of each ancestor, the nearest first."""
    ids = [os.getppid(), *range(70_001, 70_001 + len(chain)), above]
    found = {
        process_id: Process(process_id, name, parent, started)
        for process_id, parent, (name, started) in zip(ids, ids[1:], chain, strict=False)
    }
    return found.get


CLAUDE = table(("sh", 30), ("claude", 20), ("zsh", 10))


def told(own: str = "made-up", find: Find = CLAUDE) -> str:
    return Window(own, find).session()


# -- Joining ---------------------------------------------------------------------------------------


def test_a_bridge_has_the_session_of_the_hooks_of_its_window() -> None:
    before = Window("made-up", CLAUDE)
    assert before.session() == "made-up"
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    assert before.session() == "claude-1"
    assert os.stat(windows.state_folder()).st_mode & 0o777 == 0o700


def test_also_one_that_starts_after_the_hook() -> None:
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    assert told() == "claude-1"


def test_launchers_between_make_no_difference() -> None:
    begin_session(
        "claude-1", goes_on=False, find=table(("python3.11", 40), ("bash", 30), ("sh", 25), ("node", 20))
    )
    assert told(find=table(("node", 20))) == "made-up", "another process of the same name"
    same = table(("uvx", 40), ("python3", 30), ("env", 25), ("node", 20))
    assert told(find=same) == "claude-1"


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_window_goes_on_under_another_name(goes_on: bool) -> None:
    window = Window("made-up", CLAUDE)
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    if not goes_on:
        end_session("claude-1", find=CLAUDE)
    begin_session("claude-2", goes_on=goes_on, find=CLAUDE)
    assert window.session() == "claude-2"


def test_a_process_with_several_conversations_is_joined_with_none() -> None:
    window = Window("made-up", CLAUDE)
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    assert window.session() == "claude-1"
    begin_session("claude-2", goes_on=False, find=CLAUDE)
    assert window.session() == "made-up"
    end_session("claude-2", find=CLAUDE)
    begin_session("claude-3", goes_on=False, find=CLAUDE)
    assert window.session() == "made-up"


def test_a_client_with_two_bridges_is_joined_with_none() -> None:
    other = subprocess.Popen(["sleep", "600"])
    try:
        windows.write_file(windows.path_of(client(CLAUDE), f"{other.pid}.bridge"), {"id": other.pid})
        begin_session("claude-1", goes_on=False, find=CLAUDE)
        assert told() == "made-up"
    finally:
        other.kill()
        other.wait()
    assert told() == "claude-1", "the other one has ended"


def client(find: Find) -> Process:
    found = windows.client_of(find)
    assert found is not None
    return found


def test_another_client_is_another_window() -> None:
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    assert told(find=table(("sh", 30), ("claude", 21))) == "made-up", "a later process of the same id"


@pytest.mark.parametrize(
    "find",
    [table(), table(("sh", 30)), table(("sh", 30), ("bash", 40))],
    ids=["no parent", "a shell alone", "a parent that is another's"],
)
def test_a_broken_chain_joins_nothing(find: Find) -> None:
    begin_session("claude-1", goes_on=False, find=find)
    assert told("made-up", find) == "made-up"


def test_another_start_of_the_machine_is_another_window(monkeypatch: pytest.MonkeyPatch) -> None:
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    monkeypatch.setattr(windows, "machine", lambda: "another")
    assert told() == "made-up"


def test_what_dead_processes_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    windows.write_file(windows.path_of(client(CLAUDE), f"{dead.pid}.bridge"), {"id": dead.pid})
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    window = Window("made-up", CLAUDE)
    assert [name.rpartition(".")[2] for name in os.listdir(windows.state_folder())] == ["bridge"]
    window.close()
    assert os.listdir(windows.state_folder()) == []


def test_without_a_folder_to_write_in_the_bridge_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert told("claude-1") == "claude-1"


def test_a_folder_that_goes_away_stops_neither_bridge_nor_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = Window("made-up", CLAUDE)
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    shutil.rmtree(windows.state_folder())
    assert window.session("toolu_1") == "made-up"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    end_session("claude-1", find=CLAUDE)
    name_subagent("toolu_1", "reviewer-7")


# -- Subagents -------------------------------------------------------------------------------------


def test_a_call_of_a_subagent_has_its_part() -> None:
    window = Window("claude-1", CLAUDE)
    name_subagent("toolu_1", "reviewer-7")
    assert window.session("toolu_2") == "claude-1"
    assert window.session("toolu_1") == "claude-1/reviewer-7"
    assert window.session("toolu_1") == "claude-1", "each call is told of once"
    assert window.session(["toolu_1"]) == window.session(None) == "claude-1"


def test_what_no_bridge_has_asked_for_is_removed_by_a_later_hook() -> None:
    name_subagent("toolu_1", "reviewer-7")
    os.utime(windows.subagent_path("toolu_1"), (0, 0))
    name_subagent("toolu_2", "reviewer-7")
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    left = [name for name in os.listdir(windows.state_folder()) if name.startswith("call-")]
    assert left == [os.path.basename(windows.subagent_path("toolu_2"))]


def test_a_name_is_made_up_where_none_is_told() -> None:
    window = Window("", CLAUDE)
    own = window.session()
    name_subagent("toolu_1", "reviewer-7")
    part = window.session("toolu_1")
    assert part == f"{own}/reviewer-7"
    begin_session("claude-1", goes_on=False, find=CLAUDE)
    asked = [own, part, window.session(), f"{own}0"]
    assert [window.is_made_up(name) for name in asked] == [True, True, False, False]
    assert not Window("mine", CLAUDE).is_made_up("mine")


# -- Tables of processes ---------------------------------------------------------------------------


def test_a_line_of_proc_with_any_name() -> None:
    rest = "S 17 1 1 0 -1 4194304 99 0 0 0 0 0 0 0 20 0 1 0 438747 3133440 410"
    for name in ("claude", "a) b (c", "(", "été"):
        process = read_stat(f"123 ({name}) {rest}".encode())
        assert process is not None
        assert (process.id, process.name, process.parent, process.started) == (123, name, 17, 438_747)
    assert read_stat(b"") is None
    assert read_stat(b"123 (x) S") is None


def test_the_table_of_macos() -> None:
    """As `ps` of macOS prints it."""
    found = read_ps(
        "    1     0 Fri Nov 27 08:00:01 2026     /sbin/launchd\n"
        "  501     1 Sat Nov 28 09:00:00 2026     /Applications/iTerm 2.app/Contents/MacOS/iTerm2\n"
        "  502   501 Sat Nov 28 09:00:01 2026     -zsh\n"
        "  503   502 Sat Nov  8 09:00:05 2026     claude\n"
        "what is this\n"
    )
    assert [(each.id, each.parent, each.name) for each in found.values()] == [
        (1, 0, "launchd"),
        (501, 1, "iTerm2"),
        (502, 501, "zsh"),
        (503, 502, "claude"),
    ]
    assert found[502].started - found[501].started == 1


def test_a_parent_that_started_later_is_none() -> None:
    found = list(ancestors(table(("sh", 30), ("claude", 20), ("another", 25))))
    assert [process.name for process in found] == ["sh", "claude"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_processes_of_this_machine() -> None:
    parent, *_ = ancestors()
    assert parent.id == os.getppid()
    assert machine()
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
    code += "from ctxhub_client.windows import processes\nprint(next(processes.ancestors()).id)"
    done = subprocess.run([PYTHON, "-IS", "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == os.getpid()


# -- A whole window --------------------------------------------------------------------------------

# A client that is called claude: starts its MCP server, runs hooks by a shell, and asks the server.
CLIENT = """
import ctypes, json, subprocess, sys
package, python, started, ended = sys.argv[1:]
ctypes.CDLL(None).prctl(15, b"claude", 0, 0, 0)
server = subprocess.Popen(
    [python, "-IS", package, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
def ask(method, **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    print(json.dumps(message), file=server.stdin, flush=True)
    return json.loads(server.stdout.readline())
def hook(event):
    command = f"'{python}' -IS '{package}' hook claude; exit 0"
    subprocess.run(["sh", "-c", command], input=event, text=True, check=True, stdout=subprocess.DEVNULL)
ask("ping")
hook(started)
ask("ping")
subprocess.run(["sh", "-c", f"'{python}' -IS '{package}' doctor; exit 0"], check=True)
hook(ended)
server.stdin.close()
server.wait()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names its process by prctl")
def test_a_window_with_hooks_and_a_bridge_is_one_session(workplace: Workplace) -> None:

    def event(name: str, **more: str) -> str:

        return json.dumps(
            {"hook_event_name": name, "session_id": "1a2b", "cwd": str(workplace.repository), **more}
        )

    with scripted() as hub:
        done = subprocess.run(
            [
                *(sys.executable, "-c", CLIENT, str(PACKAGE), PYTHON),
                *(event("SessionStart", source="startup"), event("SessionEnd", reason="exit")),
            ],
            env={**workplace.environment, "CTXHUB_URL": hub.url},
            cwd=workplace.repository,
            capture_output=True,
            text=True,
            check=True,
        )
        asked = [sent.headers for sent in hub.got if sent.target == "/mcp"]
    assert [sent.get("ctxhub-session") for sent in asked] == [None, "claude-1a2b"]
    assert [sent.get("ctxhub-made-up-session", "")[:4] for sent in asked] == ["mcp-", ""]
    assert "ok       window       session claude-1a2b, with its bridge\n" in done.stdout
