"""`ctxhub.pyz`: one version has the same bytes everywhere, and runs in each Python."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.version import RELEASE
from django.core.management import CommandError, call_command

from ctxhub import __version__
from ctxhub.connect import archive
from ctxhub.connect.archive import FIRST_LINE, NoClient, build_archive, client_archive
from tests.integrations import hook
from tests.integrations.hook import PACKAGE, ROOT, Workplace, copy_package, put_archive

SOURCES = {"__init__.py": b'"""A client."""\n', "__main__.py": b"print(1)\n", "hooks/run.py": b"a = 1\n"}
# Of these sources. If the form of the archive changes, a version would have other bytes: the release has to.
DIGEST = "2c770ee32cd7806a7cba1910ed536371c086fdae1a4d26aa6a1a230fc7f8fcd5"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return written(tmp_path / "client" / "ctxhub_client")


def written(package: Path, sources: dict[str, bytes] = SOURCES) -> Path:
    for name, content in sources.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return package


def test_the_bytes_of_a_version_are_known(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "__version__", "1.2.0")
    built = build_archive(package)
    assert (built.version, built.sha256) == ("1.2.0+415c3d6a", DIGEST)


def test_the_machine_is_not_in_it(package: Path, tmp_path: Path) -> None:
    """Neither dates and modes nor the folder, the ends of lines and what an editor or Python leaves there."""
    of_windows = {name: source.replace(b"\n", b"\r\n") for name, source in reversed(SOURCES.items())}
    other = written(tmp_path / "elsewhere" / "ctxhub_client", of_windows)
    for file in other.rglob("*.py"):
        os.utime(file, (1, 1))
        file.chmod(0o700)
    written(
        other, {"__pycache__/run.cpython-311.pyc": b"code", "hooks/run.py~": b"old", "README.md": b"Read."}
    )
    assert build_archive(other) == build_archive(package)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_each_python_builds_the_same(version: str) -> None:
    if (python := hook.older_python(version)) is None:
        pytest.skip(f"Python {version} is not installed")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from ctxhub.connect.archive import *; "
    done = subprocess.run(
        [python, "-I", "-c", code + "print(client_archive().sha256)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == client_archive().sha256


def test_its_entries_are_sorted_and_stored() -> None:
    content = client_archive().content
    assert content.startswith(FIRST_LINE)
    entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    names = [entry.filename for entry in entries]
    assert names == sorted(names)
    assert {(entry.compress_type, entry.date_time) for entry in entries} == {(0, (1980, 1, 1, 0, 0, 0))}
    sources = {file.relative_to(PACKAGE.parent).as_posix() for file in PACKAGE.rglob("*.py")}
    assert set(names) == sources | {"__main__.py", "ctxhub_client/built.py"}


def test_other_sources_are_another_version(package: Path) -> None:
    before = build_archive(package)
    written(package, {"hooks/run.py": b"a = 2\n"})
    assert build_archive(package).version != before.version


def test_the_archive_and_the_folder_tell_one_version(workplace: Workplace) -> None:
    expected = f"ctxhub {client_archive().version}\n"
    copy_package(workplace.folder / PACKAGE.name)
    for script in (put_archive(workplace.folder), workplace.folder / PACKAGE.name):
        assert workplace.run("--version", script=script).out == expected


def test_the_versions_are_one() -> None:
    """`make version VERSION=...` writes it to all that carry it."""
    plugin = json.loads((ROOT / "integrations/claude-code/plugin/.claude-plugin/plugin.json").read_text())
    assert {RELEASE, plugin["version"]} == {__version__}
    assert client_archive().version.startswith(f"{__version__}+")
    assert "version" not in tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.13"])
def test_each_python_runs_it(at_stub: Workplace, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (python := hook.older_python(version)) is None:
        pytest.skip(f"Python {version} is not installed")
    monkeypatch.setattr(hook, "PYTHON", python)
    patient = put_archive(at_stub.folder / "patient", at_stub.limits)
    run = at_stub.run("hook", "claude", stdin=at_stub.input("session_start_startup"), script=patient)
    assert run.context
    assert (
        at_stub.run("--version", script=put_archive(at_stub.folder)).out
        == f"ctxhub {client_archive().version}\n"
    )


def test_a_command_writes_it(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "ctxhub.pyz"
    call_command("build_client", "--output", str(file))
    digest, name = capsys.readouterr().out.splitlines()[0].split("  ")
    assert (hashlib.sha256(file.read_bytes()).hexdigest(), str(file)) == (digest, name)


def test_without_sources_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "FOLDER", tmp_path / "absent")
    client_archive.cache_clear()
    with pytest.raises(NoClient, match=r"not at .*absent"):
        client_archive()
    with pytest.raises(CommandError, match=r"not at .*absent"):
        call_command("build_client", "--output", str(tmp_path / "ctxhub.pyz"))


@pytest.mark.parametrize("version", ["", "3.8"])
def test_pip_installs_it_from_its_folder_without_a_network(workplace: Workplace, version: str) -> None:
    if (python := hook.older_python(version) if version else sys.executable) is None:
        pytest.skip(f"Python {version} is not installed")
    source, target = workplace.folder / "source", workplace.folder / "installed"
    copy_package(source / PACKAGE.name)
    for name in ("pyproject.toml", "wheel_builder.py"):
        shutil.copy(PACKAGE.parent / name, source)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True)
    done = subprocess.run(
        [target / "bin" / "ctxhub", "--version"],
        env={**workplace.environment, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"ctxhub {client_archive().version}\n"
