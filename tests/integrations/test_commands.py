"""What commands of a shell write is found after them, recorded once, and told where it bears on others."""

import itertools
import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.git import find_repository
from ctxhub_client.shell.changes import changed_files
from ctxhub_client.shell.claims import claim
from ctxhub_client.shell.worktree import Worktree, look_at, read_status

from tests.integrations.hook import PATIENT, Run, Workplace, is_silent
from tests.integrations.stub_hub import CLEAR, LEASED, Answer, StubHub

_ids = itertools.count()


@pytest.fixture
def tree(at_stub: Workplace) -> Workplace:
    """A repository with a commit, whose hub has nothing to say."""
    for path in ("src/app.py", "src/old.py", "README.md"):
        at_stub.write(path, "one\n")
    at_stub.write(".gitignore", "ignored/\n")
    at_stub.git("add", "-A")
    at_stub.git("commit", "-qm", "first")
    return at_stub


def event(tree: Workplace, name: str, command: str = "", session: str = "one", **more: Any) -> Run:
    values = {
        "hook_event_name": name,
        "session_id": session,
        "cwd": str(tree.repository),
        "tool_name": "Bash",
        "tool_input": {"command": command},
        **more,
    }
    return tree.run("hook", "claude", stdin=json.dumps(values).encode())


def run(tree: Workplace, command: str, session: str = "one", **more: Any) -> Run:
    """A command between its two hooks; what the second one says."""
    call = {"tool_use_id": f"toolu_{next(_ids)}", **more}
    assert is_silent(event(tree, "PreToolUse", command, session, **call))
    shell(tree, command)
    return event(tree, "PostToolUse", command, session, **call)


def shell(tree: Workplace, command: str) -> None:
    identity = {
        f"GIT_{who}_{what}": "ada@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["sh", "-ec", command],
        cwd=tree.repository,
        env={**os.environ, **identity},
        check=True,
        capture_output=True,
    )


def recorded(stub: StubHub) -> list[tuple[str, str]]:
    """Path and change of all that was recorded, in order."""
    return [
        (item["path"], item["change"]) for sent in stub.of("changes/batch/") for item in sent.body["items"]
    ]


WRITES = {
    "sed": ("sed -i s/one/two/ src/app.py", [("src/app.py", "modified")]),
    "heredoc": ("cat > src/new.py <<'END'\nx = 1\nEND", [("src/new.py", "created")]),
    "append": ("echo two >> README.md", [("README.md", "modified")]),
    "python": ("""python3 -c 'open("src/a b.py", "w").write("é")'""", [("src/a b.py", "created")]),
    "delete": ("rm src/old.py", [("src/old.py", "deleted")]),
    "move": ("mv src/old.py src/é.py", [("src/old.py", "deleted"), ("src/é.py", "created")]),
    "a folder": ("mkdir -p a/b && touch a/b/c a/d", [("a/b/c", "created"), ("a/d", "created")]),
    "same size": ("printf 'two\\n' > README.md", [("README.md", "modified")]),
    "with its old time": (
        "touch -r README.md t && printf 'two\\n' > README.md && touch -r t README.md && rm t",
        [("README.md", "modified")],
    ),
    "and adds": ("echo x > src/new.py && git add -A", [("src/new.py", "created")]),
    "and commits": (
        "sed -i s/one/two/ src/app.py && echo x > n && git add -A && git commit -qm second",
        [("n", "created"), ("src/app.py", "modified")],
    ),
    "and commits twice": (
        "echo a > a && git add -A && git commit -qm 2 && rm README.md && git commit -qam 3",
        [("README.md", "deleted"), ("a", "created")],
    ),
    "what git ignores": ("mkdir ignored && touch ignored/file", []),
    "nothing": ("cat README.md && git status && touch README.md", []),
    "and takes back": ("echo x > n && rm n", []),
}


@pytest.mark.parametrize("how", WRITES)
def test_what_a_command_writes_is_recorded(tree: Workplace, stub: StubHub, how: str) -> None:
    command, expected = WRITES[how]
    assert is_silent(run(tree, command))
    found = recorded(stub)
    assert sorted(found) == expected
    tracked = {sent.body["path"] for sent in stub.of("accesses/")}
    assert tracked == {path for path, _ in expected}
    assert is_silent(run(tree, "true"))
    assert recorded(stub) == found, "once"


def test_a_commit_of_what_was_recorded_is_no_change(tree: Workplace, stub: StubHub) -> None:
    run(tree, "sed -i s/one/two/ src/app.py && echo x > n")
    assert len(recorded(stub)) == 2
    run(tree, "git add -A")
    run(tree, "git commit -qm second")
    run(tree, "git reset -q --soft HEAD~ || true")
    assert len(recorded(stub)) == 2


def test_a_file_that_was_there_while_git_looked_alone_is_no_change(tree: Workplace) -> None:
    repository = find_repository(str(tree.repository))
    assert repository
    before = look_at(repository)
    assert before
    after = Worktree.of_values(
        {**before.values, "files": {"README.md": None, "sedXYZ": None}, "new": ["sedXYZ"]}
    )
    assert after
    assert changed_files(repository, before, after) == ([("README.md", "deleted")], "")


def test_before_a_command_nothing_is_its_work(tree: Workplace, stub: StubHub) -> None:
    tree.write("README.md", "by a person\n")
    tree.write("theirs", "new\n")
    run(tree, "echo x > own")
    assert recorded(stub) == [("own", "created")]
    run(tree, "echo y >> theirs && git checkout -q -- README.md")
    assert sorted(recorded(stub)[1:]) == [("README.md", "modified"), ("theirs", "modified")]


MOVES = {
    "checkout": "git checkout -q -b other HEAD~",
    "reset": "git reset -q --hard HEAD~",
    "stash": "echo x >> README.md && git stash -q",
    "merge": "git merge -q --no-edit side",
    "rebase": "git rebase -q side",
    "pull": "git pull -q . side",
}


@pytest.mark.parametrize("how", MOVES)
def test_what_git_writes_is_not_recorded(tree: Workplace, stub: StubHub, how: str) -> None:
    shell(
        tree,
        "git config pull.rebase false; git checkout -q -b side; echo s > s; git add -A; git commit -qm side",
    )
    shell(tree, "git checkout -q main; echo m > m; git add -A; git commit -qm main")
    told = run(tree, MOVES[how]).context
    assert told.endswith("what that command changed is not recorded.")
    assert recorded(stub) == []
    run(tree, "echo x > after")
    assert recorded(stub) == [("after", "created")]


def test_a_first_commit(at_stub: Workplace, stub: StubHub) -> None:
    run(at_stub, "echo x > a")
    run(at_stub, "echo x > b && git add -A && git commit -qm first")
    assert recorded(stub) == [("a", "created"), ("b", "created")]


def test_edits_are_not_found_again(tree: Workplace, stub: StubHub) -> None:
    """Neither by a command that runs beside them, nor at the end of the turn."""
    call = {"tool_use_id": "toolu_beside"}
    event(tree, "PreToolUse", "sleep 1", **call)
    edited = tree.write("src/app.py", "edited\n")
    edit: dict[str, Any] = {
        "tool_name": "Edit",
        "tool_input": {"file_path": str(edited)},
        "tool_use_id": "toolu_edit",
    }
    event(tree, "PostToolUse", **edit)
    event(tree, "PostToolUse", "sleep 1", **call)
    event(tree, "Stop")
    assert recorded(stub) == []
    assert stub.one("changes/").body["path"] == "src/app.py"


def test_two_windows_record_each_change_once(tree: Workplace, stub: StubHub) -> None:
    for session in ("one", "two"):
        event(tree, "PreToolUse", "", session, tool_use_id=f"toolu_{session}")
    shell(tree, "sed -i s/one/two/ src/app.py && rm README.md && echo x > n")
    for session in ("one", "two"):
        event(tree, "PostToolUse", "", session, tool_use_id=f"toolu_{session}")
    assert sorted(recorded(stub)) == [("README.md", "deleted"), ("n", "created"), ("src/app.py", "modified")]


def test_a_deletion_is_recorded_once_however_long_the_other_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    gone = str(tmp_path / "gone")
    began, after_all = 0.0, float("inf")
    assert claim([gone], began) == [gone]
    assert claim([gone], began) == [], "seen before it was recorded"
    assert claim([gone], after_all) == [gone], "seen again after that"
    assert claim([gone], began) == []


def test_what_another_window_has_deleted_is_not_recorded_again(tree: Workplace, stub: StubHub) -> None:
    run(tree, "true", "two")
    run(tree, "rm README.md", "one")
    run(tree, "echo x > n", "two")
    run(tree, "echo x > README.md", "two")
    run(tree, "rm README.md", "two")
    told = ["README.md deleted", "n created", "README.md modified", "README.md deleted"]
    assert [" ".join(change) for change in recorded(stub)] == told


def test_commands_of_subagents_side_by_side(tree: Workplace, stub: StubHub) -> None:
    first, second = ({"tool_use_id": f"toolu_s{n}", "agent_id": f"agent-{n}"} for n in range(2))
    event(tree, "PreToolUse", "a", **first)
    shell(tree, "echo x > a")
    event(tree, "PreToolUse", "b", **second)
    shell(tree, "echo x > b")
    event(tree, "PostToolUse", "b", **second)
    event(tree, "PostToolUse", "a", **first)
    assert sorted(recorded(stub)) == [("a", "created"), ("b", "created")]


def test_what_ran_in_the_background_is_found_at_the_end_of_the_turn(tree: Workplace, stub: StubHub) -> None:
    background: dict[str, Any] = {"tool_input": {"command": "make", "run_in_background": True}}
    run(tree, "true", **background)
    shell(tree, "echo x > built")
    event(tree, "Stop")
    assert recorded(stub) == [("built", "created")]
    tree.write("theirs", "by a person\n")
    event(tree, "Stop")
    assert recorded(stub) == [("built", "created")], "nothing runs any more"


def test_a_note_that_the_background_has_ended_is_no_new_turn(tree: Workplace, stub: StubHub) -> None:
    background: dict[str, Any] = {"tool_input": {"command": "make", "run_in_background": True}}
    run(tree, "true", **background)
    shell(tree, "echo x > built")
    event(tree, "UserPromptSubmit", prompt="<task-notification>\n<task-id>b1</task-id>")
    event(tree, "Stop")
    assert recorded(stub) == [("built", "created")]


def test_a_command_whose_end_no_hook_was_told(tree: Workplace, stub: StubHub) -> None:
    """Claude Code tells none that failed, Codex none that the model does not wait for."""
    for number, command in enumerate(["echo x > a; false", "sleep 9 && echo x > b"]):
        event(tree, "PreToolUse", command, tool_use_id=f"toolu_open{number}")
        tree.write("ab"[number])
    run(tree, "echo x > c")
    assert recorded(stub) == [("a", "created"), ("b", "created"), ("c", "created")]
    tree.write("d")
    event(tree, "Stop")
    assert recorded(stub)[3:] == [("d", "created")], "it may run still"
    tree.write("theirs", "by a person\n")
    event(tree, "Stop")
    run(tree, "true")
    assert len(recorded(stub)) == 4


def test_what_a_person_writes_between_turns_is_no_interrupted_commands(
    tree: Workplace, stub: StubHub
) -> None:
    event(tree, "PreToolUse", "sleep 9", tool_use_id="toolu_interrupted")
    tree.write("theirs")
    event(tree, "UserPromptSubmit")
    run(tree, "echo x > own")
    event(tree, "Stop")
    assert recorded(stub) == [("own", "created")]


def test_at_the_end_of_turns_alone(tree: Workplace, stub: StubHub) -> None:
    tree.variables["CTXHUB_SHELL"] = "stop"
    event(tree, "UserPromptSubmit")
    run(tree, "echo x > a")
    assert recorded(stub) == []
    event(tree, "Stop")
    assert recorded(stub) == [("a", "created")]


@pytest.mark.parametrize(
    "variables", [{"CTXHUB_SHELL": "off"}, {"CTXHUB_TOKEN": ""}, {"CTXHUB_URL": "nowhere"}], ids=str
)
def test_nothing_is_looked_at(tree: Workplace, stub: StubHub, variables: dict[str, str]) -> None:
    tree.variables |= {**variables, "GIT_TRACE": str(tree.folder / "trace")}
    event(tree, "UserPromptSubmit")
    assert is_silent(run(tree, "echo x > a"))
    event(tree, "Stop")
    assert stub.of("changes/batch/") == []
    assert not (tree.folder / "trace").exists()


def test_without_git_nothing_is_recorded(at_stub: Workplace, stub: StubHub, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    call = {"cwd": str(tmp_path / "plain"), "tool_use_id": "toolu_plain"}
    assert is_silent(event(at_stub, "PreToolUse", "echo", **call))
    (tmp_path / "plain" / "a").write_text("x")
    assert is_silent(event(at_stub, "PostToolUse", "echo", **call))
    assert recorded(stub) == []


def test_a_file_that_another_holds_is_told_at_once(tree: Workplace, stub: StubHub) -> None:
    stub.answers["check/"] = Answer(LEASED, 200)
    told = run(tree, "sed -i s/one/two/ src/app.py").context
    assert "Already changed by the command: src/app.py. Undo it, or ask the holder." in told
    assert "lease:9" in told
    assert "constraint:4" in told
    again = run(tree, "sed -i s/two/three/ src/app.py").context
    assert "lease:9" in again
    assert "constraint:4" not in again, "once a session"
    stub.answers["check/"] = Answer(CLEAR, 200)
    assert is_silent(run(tree, "sed -i s/three/four/ src/app.py"))


def test_many_files_are_recorded_up_to_a_limit(tree: Workplace, stub: StubHub) -> None:
    told = run(tree, "for n in $(seq 505); do echo x > f$n; done").context
    assert told.endswith("505 files were changed; the first 500 are recorded.")
    assert len(recorded(stub)) == 500
    assert {len(sent.body["items"]) for sent in stub.of("changes/batch/")} == {50}
    run(tree, "echo y > f1")
    assert len(recorded(stub)) == 501


def test_a_name_that_is_no_text_hides_no_other(tree: Workplace, stub: StubHub) -> None:
    shell(tree, "true")
    call = {"tool_use_id": "toolu_name"}
    event(tree, "PreToolUse", "", **call)
    Path(os.fsdecode(bytes(tree.repository / "b") + b"\xff")).write_text("x")
    tree.write("a")
    event(tree, "PostToolUse", "", **call)
    assert recorded(stub) == [("a", "created")]
    assert stub.one("changes/batch/").body["atomic"] is False


PATCH = (
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/app.py\n@@\n-one\n+two\n*** End Patch\nEOF"
)


def test_a_patch_in_a_command_is_checked_before_it(tree: Workplace, stub: StubHub) -> None:
    stub.answers["check/"] = Answer(LEASED, 200)
    denied = event(tree, "PreToolUse", PATCH, tool_use_id="toolu_patch").answer["hookSpecificOutput"]
    assert denied["permissionDecision"] == "deny"
    assert "src/app.py" in denied["permissionDecisionReason"]
    assert is_silent(event(tree, "PreToolUse", f"echo '{PATCH}'", tool_use_id="toolu_echo"))


def test_a_worktree_that_takes_long_is_looked_at_in_the_end(tree: Workplace, stub: StubHub) -> None:
    programs = tree.folder / "programs"
    programs.mkdir()
    slow = programs / "git"
    slow.write_text(f'#!/bin/sh\nsleep 0.3\nPATH={os.environ["PATH"]!r} exec git "$@"\n')
    slow.chmod(0o755)
    tree.limits = replace(PATIENT, slow_seconds=0.25)
    tree.variables["PATH"] = f"{programs}:{os.environ['PATH']}"
    run(tree, "echo x > a")
    run(tree, "echo x > b")
    assert recorded(stub) == [("a", "created"), ("b", "created")]
    event(tree, "UserPromptSubmit")
    run(tree, "echo x > c")
    assert len(recorded(stub)) == 2
    event(tree, "Stop")
    assert recorded(stub)[2:] == [("c", "created")]


def test_the_output_of_git_status() -> None:
    status = (
        b"# branch.oid abc\0# branch.head main\0"
        b"1 .M N... 100644 100644 100644 1 2 src/a b.py\0"
        b"1 A. N... 000000 100644 100644 0 2 new\0"
        b"u UU N... 100644 100644 100644 100644 1 2 3 conflict file\0"
        b"? un\xc3\xa9 tracked\0"
        b"? another repository/\0"
        b"1 .M S.MU 160000 160000 160000 1 1 vendor/a b\0"
        b"1 .M SC.. 160000 160000 160000 1 1 vendor/moved\0"
    )
    assert vars(read_status(status)) == {
        "head": "abc",
        "files": ["src/a b.py", "new", "conflict file", "uné tracked"],
        "new": ["new", "uné tracked"],
        "submodules": ["vendor/a b"],
    }


@pytest.fixture
def module(tree: Workplace) -> Path:
    """A submodule of the tree, at vendor/inner."""
    inner = Workplace(tree.folder / "inner")
    inner.git("init", "-q")
    inner.write("app.py", "one\n")
    inner.git("add", "-A")
    inner.git("commit", "-qm", "first")
    tree.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.repository), "vendor/inner"
    )
    tree.git("commit", "-qam", "second")
    return tree.repository / "vendor" / "inner"


@pytest.mark.parametrize("folder", [".", "vendor/inner"])
def test_files_of_a_submodule_are_named_from_the_repository_around_it(
    tree: Workplace, stub: StubHub, module: Path, folder: str
) -> None:
    command = "sed -i s/one/two/ app.py && echo x > new.py"
    place = {"cwd": str(tree.repository / folder)}
    run(tree, f"cd vendor/inner && {command}", **place)
    assert sorted(recorded(stub)) == [
        ("vendor/inner/app.py", "modified"),
        ("vendor/inner/new.py", "created"),
    ]
    run(tree, "cd vendor/inner && git checkout -q app.py && git clean -qf", **place)
    assert sorted(recorded(stub)[2:]) == [
        ("vendor/inner/app.py", "modified"),
        ("vendor/inner/new.py", "deleted"),
    ]


def test_the_commit_of_a_submodule_is_no_file(tree: Workplace, stub: StubHub, module: Path) -> None:
    shell(tree, "cd vendor/inner && echo x > new.py && git add -A && git commit -qm more")
    run(tree, "echo y > own && cd vendor/inner && git checkout -q HEAD~")
    run(tree, "git submodule -q update")
    assert recorded(stub) == [("own", "created")]


def test_a_repository_that_is_no_submodule_is_not_looked_into(tree: Workplace, stub: StubHub) -> None:
    run(tree, "mkdir inner && cd inner && git init -q && echo x > file")
    run(tree, "echo y > inner/file && echo z > inner/other")
    assert recorded(stub) == []


def test_an_edit_in_another_worktree_is_not_found_again_there(tree: Workplace, stub: StubHub) -> None:
    tree.git("worktree", "add", "-q", "-b", "side", "../side")
    side = (tree.repository / "../side").resolve()
    there = {"cwd": str(side), "session": "two"}
    event(tree, "PreToolUse", "sleep 1", tool_use_id="toolu_there", **there)
    (side / "src" / "app.py").write_text("edited\n")
    edit: dict[str, Any] = {
        "tool_name": "Edit",
        "tool_input": {"file_path": str(side / "src" / "app.py")},
        "tool_use_id": "toolu_edit",
    }
    event(tree, "PostToolUse", **edit)
    event(tree, "PostToolUse", "sleep 1", tool_use_id="toolu_there", **there)
    assert stub.one("changes/").body["path"] == "src/app.py"
    assert recorded(stub) == []


def test_a_command_that_follows_another_asks_git_once(tree: Workplace, stub: StubHub) -> None:
    trace = tree.folder / "trace"
    run(tree, "echo x > a")
    tree.variables["GIT_TRACE"] = str(trace)
    run(tree, "echo y >> a && rm README.md")
    assert trace.read_text().count("git status") == 1
    assert recorded(stub) == [("a", "created"), ("README.md", "deleted"), ("a", "modified")]
    event(tree, "UserPromptSubmit")
    run(tree, "true")
    assert trace.read_text().count("git status") == 3, "a person may have written before the prompt"


def test_what_a_person_writes_between_two_commands_is_no_command_s(tree: Workplace, stub: StubHub) -> None:
    tree.write("theirs", "new\n")
    run(tree, "echo x > own")
    tree.write("theirs", "newer\n")
    tree.write("src/app.py", "by a person\n")
    (tree.repository / "src" / "old.py").unlink()
    time.sleep(0.1)
    run(tree, "sed -i s/x/y/ own && mkdir docs && echo z > docs/other")
    assert sorted(recorded(stub)[1:]) == [("docs/other", "created"), ("own", "modified")]


def test_what_git_moves_between_two_commands_is_no_command_s(tree: Workplace, stub: StubHub) -> None:
    run(tree, "echo x > own")
    shell(tree, "git checkout -q -b side && git rm -q README.md && git add -A && git commit -qm side")
    assert is_silent(run(tree, "echo y > other"))
    assert recorded(stub) == [("own", "created"), ("other", "created")]


def test_what_runs_in_the_background_is_found_by_the_next_command(tree: Workplace, stub: StubHub) -> None:
    run(tree, "true")
    background: dict[str, Any] = {"tool_input": {"command": "make", "run_in_background": True}}
    run(tree, "true", **background)
    shell(tree, "echo x > built")
    time.sleep(0.1)
    run(tree, "echo y > own")
    shell(tree, "echo x > late")
    event(tree, "Stop")
    assert sorted(recorded(stub)) == [("built", "created"), ("late", "created"), ("own", "created")]
