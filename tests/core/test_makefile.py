"""What `make` does to the environment it finds."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integrations.hook import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def test_the_environment_of_another_checkout_is_not_emptied(tmp_path: Path) -> None:
    other, here = tmp_path / "other", tmp_path / "here"
    (other / "bin").mkdir(parents=True)
    (other / "kept").write_text("")
    here.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, here)
    (here / ".venv").symlink_to(other)
    variables = {"PATH": os.environ["PATH"]}
    done = subprocess.run(["make", "new-venv"], cwd=here, env=variables, capture_output=True, text=True)
    assert done.returncode != 0
    assert f".venv is a link to {other}" in done.stderr
    assert (other / "kept").exists()
