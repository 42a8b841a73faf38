"""What `make` does to the environment it finds, and what it says of Pythons that do not fit."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integrations.hook import ROOT

pytestmark = [
    pytest.mark.one_engine,
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


def refused(checkout: Path, *arguments: str) -> str:
    """What `make new-venv` says when it refuses."""
    done = subprocess.run(
        ["make", "new-venv", *arguments],
        cwd=checkout,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert not (checkout / ".venv" / "bin").exists()
    return done.stderr


def program(folder: Path, script: str) -> Path:
    path = folder / "python-of-a-test"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_environment_of_another_checkout_is_not_emptied(checkout: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").write_text("")
    (checkout / ".venv").symlink_to(other)
    assert f".venv is a link to {other}" in refused(checkout)
    assert (other / "kept").exists()


def test_a_python_that_does_not_start_is_told_in_its_own_words(checkout: Path, tmp_path: Path) -> None:
    """As pyenv does for a version that is installed and not chosen."""
    shim = program(tmp_path, "echo 'pyenv: python3.12: command not found' >&2; exit 127")
    said = refused(checkout, f"PYTHON={shim}")
    assert f"{shim} is there, but does not start. It says:\n    pyenv: python3.12: command not found" in said
    assert "make PYTHON=" in said


@pytest.mark.parametrize("version", ["3.10.13", "3.15.0"])
def test_a_python_that_the_packages_do_not_know_is_refused(
    checkout: Path, tmp_path: Path, version: str
) -> None:
    other = program(tmp_path, f'[ "$1" = --version ] && echo "Python {version}" || exit 1')
    said = refused(checkout, f"PYTHON={other}")
    assert f"ctxhub runs on Python 3.11 to 3.14, and {other} is Python {version}." in said


def test_a_python_that_is_not_there_is_named(checkout: Path) -> None:
    assert "There is no python3.99 here." in refused(checkout, "PYTHON=python3.99")


def test_one_set_of_versions_is_for_every_python() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if line[:1] != "#"]
    names = [line.partition("==")[0] for line in lines]
    assert sorted(set(names)) == sorted(names)
    assert not [line for line in lines if ";" in line]
