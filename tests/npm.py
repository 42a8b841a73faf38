"""Programs from npm, installed once into the user's cache; this repository contains nothing of them."""

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

SECONDS_TO_INSTALL = 300


def installed(package: str, version: str, *options: str, variables: Mapping[str, str] | None = None) -> Path:
    """The folder of a package. Without npm the test is skipped with a warning; in `.ci/nightly` it fails."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = caches / "ctxhub-tests" / f"{package.rpartition('/')[2]}-{version}"
    if not shutil.which("node") or not shutil.which("npm"):
        _give_up(package, "node and npm are not installed")
    if not folder.exists():
        _install(folder, f"{package}@{version}", options, variables or {})
    return folder / "node_modules" / package


def _install(folder: Path, wanted: str, options: tuple[str, ...], variables: Mapping[str, str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        command = ["npm", "install", "--no-audit", "--no-fund", *options, "--prefix", temporary, wanted]
        try:
            subprocess.run(
                command,
                env={**os.environ, **variables},
                capture_output=True,
                text=True,
                timeout=SECONDS_TO_INSTALL,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            _give_up(wanted, f"npm install failed: {error.stderr[-500:]}")
        except subprocess.TimeoutExpired:
            _give_up(wanted, f"npm install took more than {SECONDS_TO_INSTALL} s")
        made = Path(temporary) / "made"
        made.mkdir()
        (Path(temporary) / "node_modules").rename(made / "node_modules")
        # Another process of the tests may have been faster.
        if not folder.exists():
            made.rename(folder)


def _give_up(what: str, why: str) -> NoReturn:
    if os.environ.get("CTXHUB_NIGHTLY"):
        pytest.fail(f"{what} cannot be had: {why}")
    warnings.warn(f"Not tried with {what}: {why}", stacklevel=3)
    pytest.skip(f"{what} cannot be had: {why}")
