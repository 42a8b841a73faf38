"""An unusable variable stops every command with one sentence that names it, and no file is created."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxhub import env
from manage import STARTING
from tests.timing import PATIENCE_SECONDS

COMMANDS = [
    ["setup", "--no-input"],
    ["serve", "--port", "0"],
    ["serve", "--setup", "--port", "0"],
    ["migrate"],
    ["token", "list"],
    ["runmcp"],
    ["runmcp", "--http", "--port", "0"],
    ["cleanup"],
    ["reindex", "--check"],
    ["import_sqlew", "sqlew.db"],
    ["createsuperuser", "--no-input"],
]
# Some of the commands that do not create the database file. Settings and connection check variables, the
# same for all.
NOT_CREATING = [["serve", "--port", "0"], ["runmcp"], ["runmcp", "--http", "--port", "0"], ["token", "list"]]
PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a command so that file modes apply to it, even if root runs the tests."""
    return run_python([str(env.ROOT / "manage.py"), *command], folder, **variables)


def run_python(arguments: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    prefixes = ("CTXHUB_", "DJANGO_", "DATABASE_URL")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=env.ROOT,
        env={**inherited, "CTXHUB_VAR_DIR": str(folder / "var"), "DATABASE_URL": "", **variables},
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        preexec_fn=_drop_capabilities,
    )


def _drop_capabilities() -> None:
    if os.geteuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def is_one_sentence(refused: subprocess.CompletedProcess[str], variable: str) -> bool:
    assert (refused.returncode, refused.stdout.removeprefix(STARTING)) == (1, "")
    assert len(refused.stderr.splitlines()) == 1
    return variable in refused.stderr


every_command = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
some_commands = pytest.mark.parametrize("command", NOT_CREATING, ids=" ".join)


@every_command
def test_a_url_of_an_unknown_database_is_refused(tmp_path: Path, command: list[str]) -> None:
    assert is_one_sentence(run(command, tmp_path, DATABASE_URL="foo://"), "DATABASE_URL")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("application", ["asgi", "wsgi"])
def test_another_server_that_starts_the_application_says_it_too(tmp_path: Path, application: str) -> None:
    started = ["-c", f"import ctxhub.{application}"]
    assert is_one_sentence(run_python(started, tmp_path, CTXHUB_DEBUG="perhaps"), "CTXHUB_DEBUG")


@some_commands
def test_a_missing_grep_root_is_refused(tmp_path: Path, command: list[str]) -> None:
    refused = run(command, tmp_path, CTXHUB_GREP_ROOTS=f"{tmp_path}/code")
    assert is_one_sentence(refused, "CTXHUB_GREP_ROOTS")
    assert list(tmp_path.iterdir()) == []


@some_commands
def test_an_unwritable_folder_is_refused(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "var").mkdir(mode=0o500)
    assert is_one_sentence(run(command, tmp_path), "CTXHUB_VAR_DIR")
    assert list((tmp_path / "var").iterdir()) == []


@every_command
def test_a_database_in_a_missing_folder_is_refused(tmp_path: Path, command: list[str]) -> None:
    refused = run(command, tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/mistyped/hub.sqlite3")
    assert is_one_sentence(refused, "DATABASE_URL")
    assert list(tmp_path.iterdir()) == []


@some_commands
def test_a_missing_database_file_is_refused(tmp_path: Path, command: list[str]) -> None:
    refused = run(command, tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/mistyped.sqlite3")
    assert is_one_sentence(refused, "DATABASE_URL")
    assert list(tmp_path.iterdir()) == []


def test_setup_creates_no_database_if_the_secret_key_cannot_be_stored(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir(mode=0o500)
    refused = run(["setup", "--no-input"], tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/hub.sqlite3")
    assert is_one_sentence(refused, "CTXHUB_VAR_DIR")
    assert [file.name for file in tmp_path.iterdir()] == ["var"]
