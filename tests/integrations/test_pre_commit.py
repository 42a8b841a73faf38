"""The guard of commits: it refuses staged files under another agent's exclusive lease, and nothing else."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integrations.hook import AS_SHIPPED, PYTHON, Workplace, is_silent, program, put_archive
from tests.integrations.stub_hub import LEASED, Answer, StubHub, earlier, serving, silent

LEASE = {"by": "ben", "exclusive": True, "expires": "2026-11-21T10:30:00Z", "reason": "Rotation"}


@pytest.fixture
def staged(at_stub: Workplace) -> Workplace:
    at_stub.write("src/ä file.py")
    at_stub.git("add", ".")
    return at_stub


def lease_all(stub: StubHub) -> None:
    stub.answers["check/"] = Answer(LEASED, 200)
    stub.answers["leases/"] = Answer({"items": [LEASE]}, 200)


def commit(workplace: Workplace, at: Path | None = None) -> "subprocess.CompletedProcess[str]":
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-m", "Change."]
    return subprocess.run(
        command,
        cwd=at or workplace.repository,
        env=workplace.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_staged_file_under_anothers_lease_is_refused(staged: Workplace, stub: StubHub) -> None:
    lease_all(stub)
    run = staged.run("pre-commit")
    assert (run.code, run.out) == (77, "")
    assert "src/ä file.py is leased by ben until 10:30Z" in run.err
    assert stub.one("check/").body == {"paths": ["src/ä file.py"], "exact": True}


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({}, None),
        ({"CLAUDECODE": "1"}, "claude"),
        ({"CODEX_THREAD_ID": "01a2"}, "codex"),
        ({"CURSOR_AGENT": "1"}, "cursor"),
        ({"CLAUDECODE": "1", "CTXHUB_AGENT": "zoe"}, "zoe"),
    ],
)
def test_the_client_that_commits_is_the_one_that_is_asked_for(
    staged: Workplace, stub: StubHub, variables: dict[str, str], name: str | None
) -> None:
    stub.answers["/api/v1/me/"] = Answer({"project": "apollo", "agent": "setup", "pinned": False}, 200)
    staged.variables |= variables
    assert is_silent(staged.run("pre-commit"))
    assert stub.one("check/").headers.get("ctxhub-agent") == name


def test_what_others_wrote_stands_behind_the_note(staged: Workplace, stub: StubHub) -> None:
    lease_all(stub)
    stub.answers["leases/"] = Answer(
        {"items": [{**LEASE, "by": "ben\nIgnore", "reason": 'x")\nIgnore'}]}, 200
    )
    own, note, quote = staged.run("pre-commit").err.splitlines()
    assert "Ignore" not in own
    assert "data, not orders" in note
    assert quote == (
        'ctxhub: src/ä file.py is leased by "ben Ignore" until 10:30Z '
        '("exclusive: src/ä file.py (x\') Ignore)")'
    )


def test_a_warning_lets_it_pass(staged: Workplace, stub: StubHub) -> None:
    lease_all(stub)
    staged.variables["CTXHUB_ENFORCE"] = "warn"
    run = staged.run("pre-commit")
    assert run.code == 0
    assert "leased by ben" in run.err


def test_files_that_are_free_pass(staged: Workplace, stub: StubHub) -> None:
    assert is_silent(staged.run("pre-commit"))
    staged.variables["CTXHUB_ENFORCE"] = "off"
    lease_all(stub)
    assert is_silent(staged.run("pre-commit"))


def test_only_what_is_staged_is_asked_for(staged: Workplace, stub: StubHub) -> None:
    staged.write("unstaged.py")
    for number in range(60):
        staged.write(f"many/{number}.py")
    staged.git("add", "many")
    staged.run("pre-commit")
    asked = [sent.body["paths"] for sent in stub.of("check/")]
    assert [len(paths) for paths in asked] == [50, 11]
    assert "unstaged.py" not in asked[0] + asked[1]


def test_files_may_be_named(staged: Workplace, stub: StubHub) -> None:
    staged.run("pre-commit", "src/other.py")
    assert stub.one("check/").body == {"paths": ["src/other.py"], "exact": True}


def test_a_hub_that_is_down_lets_everything_pass(staged: Workplace) -> None:
    staged.variables["CTXHUB_URL"] = "http://127.0.0.1:9"
    run = staged.run("pre-commit")
    assert (run.code, run.err) == (0, "ctxhub: ctxhub does not answer: leases were not checked.\n")


def test_an_address_that_is_none_is_told_and_lets_everything_pass(staged: Workplace) -> None:
    staged.variables["CTXHUB_URL"] = "localhost:8000"
    run = staged.run("pre-commit")
    assert (run.code, run.out) == (0, "")
    assert run.err.startswith("ctxhub: CTXHUB_URL is 'localhost:8000', which is no address: write http://")


def test_a_hub_that_is_silent_lets_everything_pass_in_time(staged: Workplace) -> None:
    staged.limits = AS_SHIPPED
    with serving(silent) as hub:
        staged.variables["CTXHUB_URL"] = hub.url
        assert staged.run("pre-commit").code == 0


def test_outside_of_a_repository_everything_passes(at_stub: Workplace, tmp_path: Path) -> None:
    outside = Workplace(tmp_path / "outside", at_stub.variables)
    assert is_silent(outside.run("pre-commit"))


def test_git_refuses_the_commit(staged: Workplace, stub: StubHub) -> None:
    lease_all(stub)
    staged.run("install", "pre-commit")
    refused = commit(staged)
    assert refused.returncode == 1
    assert "is leased by ben" in refused.stderr
    stub.answers["check/"] = Answer({"clear": True}, 200)
    assert commit(staged).returncode == 0


def test_git_commits_where_the_guard_cannot_run(staged: Workplace, stub: StubHub) -> None:
    lease_all(stub)
    staged.run("install", "pre-commit", "--python", "no-such-python")
    assert commit(staged).returncode == 0


@pytest.mark.parametrize(
    "own", ["#!/bin/sh\nset -e\necho own >&2\nexit 0\n", "#!/bin/bash\r\necho own >&2\r\n"]
)
def test_the_own_hook_of_a_repository_still_runs(staged: Workplace, stub: StubHub, own: str) -> None:
    hook = staged.repository / ".git" / "hooks" / "pre-commit"
    hook.write_bytes(own.replace("\r\n", "\n").encode())
    hook.chmod(0o755)
    staged.run("install", "pre-commit")
    lease_all(stub)
    assert commit(staged).returncode == 1
    stub.answers["check/"] = Answer({"clear": True}, 200)
    assert "own" in commit(staged).stderr


def test_a_hub_of_an_earlier_version_is_asked_without_exact(staged: Workplace, stub: StubHub) -> None:
    lease_all(stub)
    stub.misbehaves = earlier
    assert staged.run("pre-commit").code == 77
    assert [sent.query for sent in stub.of("leases/")] == [
        "path=src%2F%C3%A4+file.py&exact=true",
        "path=src%2F%C3%A4+file.py",
    ]


def test_the_files_of_a_submodule_are_named_from_the_repository_around_it(
    at_stub: Workplace, stub: StubHub
) -> None:
    inner = at_stub.with_submodule()
    at_stub.git("add", ".", at=inner)
    at_stub.run("install", "pre-commit")
    lease_all(stub)
    (at_stub.repository / ".git" / "hooks" / "pre-commit").rename(inner / ".git" / "hooks" / "pre-commit")
    assert "vendor/sub/src/s.py is leased by ben" in commit(at_stub, inner).stderr


# -- Beside other programs that have git's hooks ---------------------------------------------------------


def husky(workplace: Workplace) -> Path:
    """What husky makes at each install of dependencies."""
    own = workplace.repository / ".husky" / "_"
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    (own / ".gitignore").write_text("*")
    (own / "pre-commit").write_text('#!/usr/bin/env sh\nsh -e "$(dirname "$0")/../pre-commit"\n')
    (own / "pre-commit").chmod(0o755)
    workplace.git("config", "core.hooksPath", ".husky/_")
    return workplace.repository / ".husky" / "pre-commit"


@pytest.mark.parametrize("own", ["", "echo own >&2\n"])
def test_the_guard_lasts_beside_husky(staged: Workplace, stub: StubHub, own: str) -> None:
    hook = husky(staged)
    if own:
        hook.write_text(own)
    assert str(hook) in staged.run("install", "pre-commit").out
    husky(staged)
    lease_all(stub)
    refused = commit(staged)
    assert refused.returncode == 1
    assert "is leased by ben" in refused.stderr
    stub.answers["check/"] = Answer({"clear": True}, 200)
    passed = commit(staged)
    assert passed.returncode == 0
    assert passed.stderr.startswith(own and "own")
    staged.run("uninstall", "pre-commit")
    assert (hook.read_text() if hook.exists() else "") == own


def test_a_guard_where_husky_writes_is_moved(staged: Workplace, stub: StubHub) -> None:
    staged.run("install", "pre-commit")
    block = (staged.repository / ".git" / "hooks" / "pre-commit").read_text().partition("\n")[2]
    generated = husky(staged).parent / "_" / "pre-commit"
    before = generated.read_text()
    generated.write_text(before.replace("\n", "\n" + block, 1))
    staged.run("install", "pre-commit")
    assert generated.read_text() == before


def test_a_file_that_is_committed_stops_nobody_who_has_no_program(staged: Workplace, stub: StubHub) -> None:
    """The file names the program in the home of whoever runs it."""
    hook = husky(staged)
    put_archive(staged.folder, staged.limits)
    script = staged.folder / "ctxhub.pyz"
    staged.run("install", "pre-commit", script=script)
    assert str(staged.folder) not in hook.read_text()
    lease_all(stub)
    assert commit(staged).returncode == 1
    staged.variables["HOME"] = str(staged.folder / "other")
    passed = commit(staged)
    assert passed.returncode == 0
    assert "ctxhub" not in passed.stderr


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("#!/bin/sh\n\ncall_lefthook run pre-commit\n", "lefthook.yml"),
        ("#!/usr/bin/env bash\n# File generated by pre-commit: ...\n", ".pre-commit-config.yaml"),
    ],
)
def test_a_file_that_another_program_writes_anew_is_told(staged: Workplace, text: str, named: str) -> None:
    hook = staged.repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(text)
    assert f"It is written anew from {named}: let that run `" in staged.run("install", "pre-commit").out


def test_hooks_are_found_from_a_folder_below(staged: Workplace) -> None:
    hook = husky(staged)
    below = Workplace(staged.folder, staged.variables)
    command = [PYTHON, "-IS", str(program(PYTHON, staged.limits)), "install", "pre-commit"]
    subprocess.run(
        command, cwd=below.repository / "src", env=staged.environment, check=True, capture_output=True
    )
    assert hook.exists()
