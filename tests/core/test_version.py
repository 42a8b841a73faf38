"""The version stands in pyproject.toml, and is told everywhere."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ctxhub import __version__
from tests.core.command_line import MANAGE

ROOT = Path(MANAGE).parent


def test_it_is_that_of_the_project() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


@pytest.mark.parametrize("asked", ["--version", "version"])
def test_the_command_line_tells_it(asked: str) -> None:
    done = subprocess.run([sys.executable, MANAGE, asked], capture_output=True, text=True, check=True)
    assert done.stdout == f"ctxhub {__version__}\n"
