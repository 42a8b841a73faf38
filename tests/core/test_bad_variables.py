"""A variable that cannot be used stops every command with one sentence that names it, and nothing is made."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxhub import env

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
# The check of the file is the connection's own, the same for all that does not make one.
LOOKING = [["serve", "--port", "0"], ["runmcp"], ["runmcp", "--http", "--port", "0"], ["token", "list"]]
PR_CAPBSET_DROP = 24
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As a user whom the modes of files bind; tests may be run by root."""
    ours = ("CTXHUB_", "DJANGO_", "DATABASE_URL")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        [sys.executable, str(env.ROOT / "manage.py"), *command],
        env={**inherited, "CTXHUB_VAR_DIR": str(folder / "var"), "DATABASE_URL": "", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
        preexec_fn=_bind_root,
    )


def _bind_root() -> None:
    if os.geteuid() == 0:
        for power in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, power, 0, 0, 0)


def is_one_sentence(refused: subprocess.CompletedProcess[str], variable: str) -> bool:
    assert (refused.returncode, refused.stdout) == (1, "")
    assert len(refused.stderr.splitlines()) == 1
    return variable in refused.stderr


every_command = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)


@every_command
def test_a_url_of_no_database(tmp_path: Path, command: list[str]) -> None:
    assert is_one_sentence(run(command, tmp_path, DATABASE_URL="foo://"), "DATABASE_URL")
    assert list(tmp_path.iterdir()) == []


@every_command
def test_a_root_for_grep_that_is_missing(tmp_path: Path, command: list[str]) -> None:
    refused = run(command, tmp_path, CTXHUB_GREP_ROOTS=f"{tmp_path}/code")
    assert is_one_sentence(refused, "CTXHUB_GREP_ROOTS")
    assert list(tmp_path.iterdir()) == []


@every_command
def test_a_folder_that_cannot_be_written(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "var").mkdir(mode=0o500)
    assert is_one_sentence(run(command, tmp_path), "CTXHUB_VAR_DIR")
    assert list((tmp_path / "var").iterdir()) == []


@every_command
def test_a_database_in_a_folder_that_is_not_there(tmp_path: Path, command: list[str]) -> None:
    refused = run(command, tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/mistyped/hub.sqlite3")
    assert is_one_sentence(refused, "DATABASE_URL")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_a_database_that_is_not_there(tmp_path: Path, command: list[str]) -> None:
    refused = run(command, tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/mistyped.sqlite3")
    assert is_one_sentence(refused, "DATABASE_URL")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_cannot_be_kept_stops_setup_before_it_makes_a_database(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir(mode=0o500)
    refused = run(["setup", "--no-input"], tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}/hub.sqlite3")
    assert is_one_sentence(refused, "CTXHUB_VAR_DIR")
    assert [file.name for file in tmp_path.iterdir()] == ["var"]
