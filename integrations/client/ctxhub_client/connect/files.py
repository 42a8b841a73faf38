"""Writes files of others as a whole or not at all, with their mode, behind links."""

from __future__ import annotations

import os
import stat

from ctxhub_client.install.files import Refused

BOM = "\ufeff"


def read_bytes(path: str) -> bytes | None:
    """What is in a file; None if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def split_mark(content: bytes | None) -> tuple[str, str]:
    """The byte order mark that a text begins with, and the text, with bytes that are not UTF-8 kept."""
    text = (content or b"").decode("utf-8", "surrogateescape")
    return (BOM, text[1:]) if text.startswith(BOM) else ("", text)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def replace(path: str, before: bytes | None, content: bytes | None, is_private: bool) -> None:
    """Write a file, or delete it. Raises Refused if it may not be written, or is not as it was read.

    A new file is for the user alone if `is_private`.
    """
    mode = file_mode(path)
    if mode is not None and not mode & 0o222:
        raise Refused("it is read-only")
    temporary = "{}.ctxhub-{}".format(path, os.getpid())
    if content is not None:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if is_private else 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(temporary, mode)
            refuse_changed(path, before)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    else:
        refuse_changed(path, before)
        os.unlink(path)


def refuse_changed(path: str, before: bytes | None) -> None:
    if read_bytes(path) != before:
        raise Refused("another program wrote it just now: try again")


def file_mode(path: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return None


def make_folders(path: str) -> list[str]:
    """Make the folders above a file. Returns those that were not there, the deepest first."""
    made = []
    above = os.path.dirname(path)
    while above and not os.path.isdir(above):
        made.append(above)
        above = os.path.dirname(above)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return made


def remove_empty(folders: list[str]) -> None:
    for each in folders:
        try:
            os.rmdir(each)
        except OSError:  # Others use it.
            continue
