"""Builds `ctxhub.pyz` from the sources of the client. The same sources always make the same bytes."""

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ctxhub import __version__

FOLDER = Path(__file__).resolve().parents[2] / "integrations" / "client" / "ctxhub_client"
NAME = "ctxhub.pyz"
FIRST_LINE = b"#!/usr/bin/env python3\n"
DATE = (1980, 1, 1, 0, 0, 0)
UNIX = 3
MODE = 0o100644


class NoClient(Exception):
    """The sources of the client are not where the hub looks for them."""


class Archive(NamedTuple):
    version: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@cache
def client_archive() -> Archive:
    """That of this hub, built once. Raises NoClient if it has no sources."""
    return build_archive(FOLDER)


def build_archive(folder: Path) -> Archive:
    sources = read_sources(folder)
    version = version_of(sources)
    built = f'"""Written when the archive was built."""\n\nVERSION = "{version}"\n'.encode()
    files = {f"{folder.name}/{name}": content for name, content in sources.items()}
    files |= {"__main__.py": sources["__main__.py"], f"{folder.name}/built.py": built}
    return Archive(version, FIRST_LINE + _zipped(files, after=len(FIRST_LINE)))


def read_sources(folder: Path) -> dict[str, bytes]:
    """The modules by their paths, with lines that end alike whichever system the checkout is for."""
    try:
        found = {
            file.relative_to(folder).as_posix(): file.read_bytes().replace(b"\r\n", b"\n")
            for file in folder.rglob("*.py")
        }
    except OSError as error:
        raise NoClient(f"The sources of the client cannot be read: {error}.") from error
    if "__main__.py" not in found:
        raise NoClient(f"The sources of the client are not at {folder}.")
    return found


def version_of(sources: dict[str, bytes]) -> str:
    """The release and the beginning of the sources' digest, as the client computes it of itself."""
    digest = hashlib.sha256()
    for name, content in sorted(sources.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"{__version__}+{digest.hexdigest()[:8]}"


def _zipped(files: dict[str, bytes], after: int) -> bytes:
    """A zip that nothing of this machine is in; `after` so many bytes of something else."""
    buffer = io.BytesIO(bytes(after))
    buffer.seek(after)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = UNIX
            entry.external_attr = MODE << 16
            archive.writestr(entry, content)
    return buffer.getvalue()[after:]
