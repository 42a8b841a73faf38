"""The page of the team server is one that `tests.packaging.team_server` can run, which `.ci/nightly` does."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.packaging.page import Block, blocks_of, team_server_blocks
from tests.packaging.team_server import FOLDER, NOT_RUN, SPECIAL

BLOCKS = team_server_blocks()
UNITS = [block for block in BLOCKS if block.target.startswith("/etc/systemd/")]


@pytest.mark.parametrize("mark", [*NOT_RUN, *SPECIAL])
def test_each_mark_is_of_one_block(mark: str) -> None:
    assert len([block for block in BLOCKS if mark in block.text and not block.target]) == 1


def test_each_block_is_run_written_or_named_as_not_run() -> None:
    for block in BLOCKS:
        is_known = any(mark in block.text for mark in (*NOT_RUN, *SPECIAL))
        is_cron = not block.language and block.text[0].isdigit()
        assert is_known or block.target or is_cron or block.language == "sh", block.text


def test_a_block_is_found_with_the_file_that_the_text_names() -> None:
    units = "## Units\n\nFirst `/etc/a`.\n\nAs `/etc/b`:\n\n```ini\n[Unit]\n```\n"
    page = f"# Page\n\n{units}\nThen:\n\n```sh\nls\n```\n"
    assert blocks_of(page) == [Block("Units", "ini", "[Unit]\n", "/etc/b"), Block("Units", "sh", "ls\n", "")]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """With a program that is there, in place of the checkout's."""
    assert {Path(block.target).name for block in UNITS} == {
        "ctxhub.service",
        "ctxhub-backup.service",
        "ctxhub-backup.timer",
    }
    files = [tmp_path / Path(block.target).name for block in UNITS]
    for file, block in zip(files, UNITS, strict=True):
        text = block.text.replace(f"{FOLDER}/.venv/bin/python", "/bin/true").replace(FOLDER, "/")
        file.write_text(text.replace("User=ctxhub", "User=daemon"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, files)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if "ctxhub" in line]) == (0, [])
