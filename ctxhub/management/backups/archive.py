"""The file of a backup: a plain tar of the manifest, the secret key and the database, in this order.

Each member stands alone under a fixed name, so `tar`, `gunzip`, `sqlite3` and `pg_restore` open it without
ctxhub. Of its headers only plain files are read, as this module writes them: no links, paths, extensions.
"""

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ctxhub.management.backups.manifest import BadBackup, Manifest, Member, read_manifest

MANIFEST = "manifest.json"
MOST_MANIFEST_BYTES = 4 * 1024 * 1024
CHUNK = 1024 * 1024
LEVEL = 3
_BLOCK = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK)


# -- Writing ---------------------------------------------------------------------------------------


def describe(file: Path, *, unpacked_bytes: int | None = None) -> Member:
    """The size and the hash of a file that becomes a member."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    size = file.stat().st_size
    return Member(
        bytes=size, sha256=digest, unpacked_bytes=size if unpacked_bytes is None else unpacked_bytes
    )


def write_archive(path: Path, manifest: Manifest, files: Mapping[str, Path]) -> None:
    """Write a file that is there already and empty, and have it on the disk when this returns."""
    content = manifest.to_json()
    at = int(manifest.created_at.timestamp())
    with path.open("wb") as archive:
        archive.write(_header(MANIFEST, len(content), at) + content + _padding(len(content)))
        for name, member in manifest.members.items():
            archive.write(_header(name, member.bytes, at))
            with files[name].open("rb") as file:
                while chunk := file.read(CHUNK):
                    archive.write(chunk)
            archive.write(_padding(member.bytes))
        archive.write(_END)
        archive.flush()
        os.fsync(archive.fileno())


def _header(name: str, size: int, at: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, at, 0o600
    return info.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


def pack(source: Path, target: Path) -> None:
    """Compress a file by gzip."""
    with source.open("rb") as file, gzip.open(target, "wb", compresslevel=LEVEL) as packed:
        while chunk := file.read(CHUNK):
            packed.write(chunk)


# -- Reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Archive:
    """A backup whose manifest and size are right; what is in it is checked as it is read."""

    path: Path
    manifest: Manifest
    starts: Mapping[str, int]

    def read(self, name: str, *, at_most: int) -> bytes:
        if self.manifest.members[name].bytes > at_most:
            raise BadBackup(f"its {name} has more than {at_most:,} bytes")
        return b"".join(self._chunks(name))

    def copy(self, name: str, target: Path) -> None:
        """Raises BadBackup if it is not what the manifest says; the target then holds what was read."""
        with private_file(target) as file:
            for chunk in self._chunks(name):
                file.write(chunk)

    def check(self) -> None:
        """Read everything. Raises BadBackup."""
        for name in self.manifest.members:
            for _ in self._chunks(name):
                pass

    def _chunks(self, name: str) -> Iterator[bytes]:
        member, digest = self.manifest.members[name], hashlib.sha256()
        with self.path.open("rb") as file:
            file.seek(self.starts[name])
            left = member.bytes
            while left and (chunk := file.read(min(CHUNK, left))):
                left -= len(chunk)
                digest.update(chunk)
                yield chunk
        if left or digest.hexdigest() != member.sha256:
            raise BadBackup(f"its {name} is not what was backed up: the file is damaged")


def open_archive(path: Path) -> Archive:
    """Raises BadBackup for a file that is torn, changed or no backup, and OSError."""
    with path.open("rb") as file:
        name, size = _next_member(file)
        if name != MANIFEST:
            raise BadBackup("it is no backup of a hub")
        if size > MOST_MANIFEST_BYTES:
            raise BadBackup(f"its manifest has more than {MOST_MANIFEST_BYTES:,} bytes")
        manifest = read_manifest(file.read(size))
        starts: dict[str, int] = {}
        at = file.tell() + len(_padding(size))
        for expected, member in manifest.members.items():
            file.seek(at)
            if _next_member(file) != (expected, member.bytes):
                raise BadBackup(f"{expected} is not where it has to be: the file is torn or was changed")
            starts[expected] = file.tell()
            at = file.tell() + member.bytes + len(_padding(member.bytes))
        file.seek(at)
        if file.read(len(_END) + 1) != _END:
            raise BadBackup("it ends too early or too late: the file is torn or was changed")
    return Archive(path, manifest, starts)


def _next_member(file: BinaryIO) -> tuple[str, int]:
    try:
        info = tarfile.TarInfo.frombuf(file.read(_BLOCK), "utf-8", "strict")
    except (tarfile.HeaderError, UnicodeDecodeError) as error:
        raise BadBackup("it is no backup of a hub, or is torn") from error
    if info.type != tarfile.REGTYPE or info.size < 0:
        raise BadBackup(f"it is no backup of a hub: {info.name[:60]!r} in it is no plain file")
    return info.name, info.size


def unpack(source: Path, target: Path, *, expected_bytes: int) -> None:
    """Expand a file that `pack` has made. Raises BadBackup as soon as it has more bytes than expected."""
    size = 0
    try:
        with gzip.open(source, "rb") as packed, private_file(target) as file:
            while chunk := packed.read(CHUNK):
                size += len(chunk)
                if size > expected_bytes:
                    break
                file.write(chunk)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadBackup("its database cannot be expanded: the file is damaged") from error
    if size != expected_bytes:
        raise BadBackup("its database has another size than its manifest says")


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """A new file, which only its owner can read whatever the umask."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        os.chmod(path, 0o600)
        yield file
