"""Writes files that only their owner may read, and that are there whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

OWNERS_ALONE = 0o600


def write_private(path: Path, content: bytes) -> None:
    """Put a file in place of what is there, in one step that outlasts a loss of power."""
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            os.chmod(draft, OWNERS_ALONE)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    sync_folder(path.parent)


def put_new(draft: Path, path: Path) -> None:
    """Give a draft its name, unless a file has it: then raise FileExistsError, and the draft stays."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without hard links.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNERS_ALONE))
        os.replace(draft, path)
    else:
        os.unlink(draft)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Let the content of a closed file outlast a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder outlast a loss of power, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
