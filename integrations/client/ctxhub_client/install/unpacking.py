"""The program in the user's data folder, with bytecode: an archive is compiled anew at each run."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from ctxhub_client.version import BUILT, built_module, own_sources, read_folder, version

PACKAGE = "ctxhub_client"
# The file that the settings of clients name; which version it runs changes.
LAUNCHER = "ctxhub.py"
LAUNCHES = '''\
"""Runs the client of ctxhub. `ctxhub.pyz install` has written this."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "{}"))

from ctxhub_client.commands import main

main(sys.argv[1:])
'''
VERSION_FOLDER = re.compile(r"[\d.]+\+[0-9a-f]{8}")


def data_folder() -> str:
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_DATA_HOME")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".local", "share"), "ctxhub")


def unpack() -> tuple[str, bool]:
    """The file that runs this version from now on, and whether anything was written."""
    folder = data_folder()
    os.makedirs(folder, 0o700, exist_ok=True)
    files = dict(own_sources(), **{BUILT: built_module().encode()})
    was_written = put_version(folder, files)
    launcher = os.path.join(folder, LAUNCHER)
    text = LAUNCHES.format(version())
    before = read_launcher(launcher)
    if before != text:
        write_at_once(launcher, text)
    remove_versions(folder, keep=(text, before))
    return launcher, was_written or before != text


def put_version(folder: str, files: dict[str, bytes]) -> bool:
    """Write the files into the folder of their version, all at once; False if they are there."""
    target = os.path.join(folder, version())
    package = os.path.join(target, PACKAGE)
    if sources_in(package) == files:
        return False
    temporary = tempfile.mkdtemp(prefix=".new-", dir=folder)
    try:
        for name, content in files.items():
            path = os.path.join(temporary, PACKAGE, *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        compile_package(os.path.join(temporary, PACKAGE), package)
        if os.path.isdir(target):  # Damaged.
            os.rename(target, os.path.join(temporary, "before"))
        try:
            os.rename(temporary, target)
        except OSError:  # Another one was faster.
            if sources_in(package) != files:
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    shutil.rmtree(os.path.join(target, "before"), ignore_errors=True)
    return True


def sources_in(package: str) -> dict[str, bytes]:
    return {name: content for name, content in read_folder(package).items() if name.endswith(".py")}


def compile_package(package: str, shown_as: str) -> None:
    import compileall

    compileall.compile_dir(package, ddir=shown_as, quiet=2)


def read_launcher(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def write_at_once(path: str, text: str) -> None:
    temporary = "{}.{}".format(path, os.getpid())
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(temporary, path)


def remove_versions(folder: str, keep: tuple[str, ...]) -> None:
    """Remove those that no launcher names: one that is replaced may still run."""
    for name in os.listdir(folder):
        if VERSION_FOLDER.fullmatch(name) and not any('"{}"'.format(name) in text for text in keep):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def remove() -> tuple[str, bool]:
    """Take away what `unpack` has written."""
    folder = data_folder()
    launcher = os.path.join(folder, LAUNCHER)
    if not os.path.isfile(launcher):
        return launcher, False
    os.unlink(launcher)
    remove_versions(folder, keep=())
    if not os.listdir(folder):
        os.rmdir(folder)
    return launcher, True
