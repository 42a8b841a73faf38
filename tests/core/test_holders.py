"""Setup names the processes that have a hub open before it migrates it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from ctxhub.core.kit.sqlite_file import make_file
from ctxhub.management.holders import find_holders
from tests.core.command_line import Installation, migrated_installation

BEFORE = "0012_expanded_globs"


@pytest.mark.every_engine
def test_setup_refuses_to_migrate_a_hub_that_others_have_open(django_db_setup: None) -> None:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        with at.serving("--port", "0") as server:
            server.hub.http().send("GET", "/readyz")
            assert at.run("setup", "--no-input").returncode == 0, "there is nothing to migrate"
            assert at.run("migrate", "memory", BEFORE, "--verbosity=0").returncode == 0
            refused = at.run("setup", "--no-input")
            assert refused.returncode == 1
            assert f"process {server.process.pid} " in refused.stderr
            assert "Stop them first" in refused.stderr
            assert applied(at)[-1] == BEFORE, "nothing was migrated"
        done = at.run("setup", "--no-input")
        assert done.returncode == 0, done.stderr
        assert applied(at)[-1] == "0014_signatures_of_keys"


def applied(at: Installation) -> list[str]:
    shown = at.run("showmigrations", "memory", "--plan").stdout
    return [line.split("memory.")[1].split()[0] for line in shown.splitlines() if "[X]  memory." in line]


@pytest.mark.one_engine
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the processes in /proc")
def test_a_process_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_file(tmp_path / "hub")
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "hub"))
    assert find_holders() == []
    code = "import sys; file = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "hub"), "manage.py", "runmcp", "--agent", "ada"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        assert find_holders() == [f"process {process.pid} (manage.py runmcp --agent ada)"]
        process.kill()
    assert os.getpid() != process.pid
    assert find_holders() == []
