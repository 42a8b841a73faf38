"""Puts a part into a file, and takes it out so that the file is again what it was."""

from __future__ import annotations

import os

from ctxhub_client.connect import originals
from ctxhub_client.connect.files import encode, make_folders, read_bytes, remove_empty, replace, split_mark
from ctxhub_client.connect.originals import Original, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.connect.part import Part
    from ctxhub_client.values import Json

UNCHANGED, WRITTEN, REMOVED = "nothing to change", "written", "removed"
# A part that stood in the file before connecting.
FOUND: Json = {"found": True}


def add(path: str, part: Part, client: str, *, is_private: bool, dry_run: bool = False) -> str:
    """What was done. Raises Refused or OSError with nothing written."""
    path = os.path.realpath(path)
    before = read_bytes(path)
    mark, text = split_mark(before)
    original = originals.load(path) if before is not None else None
    original = original or Original(path, before)
    original.follow(before)
    own = original.parts.get(part.key)
    if part.is_in(text):
        clients = own["clients"] if own else []
        if client not in clients and not dry_run:
            original.parts[part.key] = {
                "clients": [*clients, client],
                "noted": own["noted"] if own else FOUND,
            }
            originals.save(original)
        return UNCHANGED
    if own and own["noted"] != FOUND:
        if original.written and len(original.parts) == 1:
            mark, text = split_mark(original.content)
        else:
            text = part.take_out_of(text, own["noted"])
    noted = part.note(text)
    content = encode(mark + part.put_into(text))
    if not dry_run:
        clients = [*(own["clients"] if own else []), client]
        original.parts[part.key] = {"clients": list(dict.fromkeys(clients)), "noted": noted}
        write(original, before, content, is_private)
    return WRITTEN


def write(original: Original, before: bytes | None, content: bytes, is_private: bool) -> None:
    """What is kept is written first: what was written without it could not be taken back."""
    previous = originals.load(original.file)
    folders = make_folders(original.file)
    if original.written:
        original.written = digest_of(content)
    try:
        originals.keep_folders([*originals.folders_made(), *folders])
        originals.save(original)
        replace(original.file, before, content, is_private)
    except BaseException:
        remove_empty(folders)
        originals.save(previous or Original(original.file, None))
        raise


def take(path: str, part: Part, client: str, *, dry_run: bool = False) -> str:
    """What was done. Raises Refused or OSError with nothing written."""
    path = os.path.realpath(path)
    before = read_bytes(path)
    original = originals.load(path)
    own = original.parts.get(part.key) if original else None
    if original is None or own is None:
        return take_unknown(path, part, before, dry_run)
    if client not in own["clients"]:
        return UNCHANGED
    others = [each for each in own["clients"] if each != client]
    original.follow(before)
    if others:
        own["clients"] = others
        return keep(original, "stays for {}".format(", ".join(others)), dry_run)
    del original.parts[part.key]
    if before is None or own["noted"] == FOUND:
        return keep(original, UNCHANGED if before is None else "was there before, and stays", dry_run)
    content = left(original, part, before, own["noted"])
    if content == before:
        return keep(original, UNCHANGED, dry_run)
    if dry_run:
        return REMOVED
    replace(path, before, content, is_private=False)
    if original.written:
        original.written = digest_of(content)
    return keep(original, REMOVED, dry_run)


def left(original: Original, part: Part, before: bytes, noted: Json) -> bytes | None:
    """What the file has to hold without the part; None if nothing."""
    if original.written and not original.parts:
        return original.content
    mark, text = split_mark(before)
    text = part.take_out_of(text, noted)
    is_gone = original.made and not original.parts and part.is_blank(text)
    return None if is_gone else encode(mark + text)


def keep(original: Original, said: str, dry_run: bool) -> str:
    if not dry_run:
        if not os.path.exists(original.file):
            originals.remove_folders(original.file)
        originals.save(original)
    return said


def take_unknown(path: str, part: Part, before: bytes | None, dry_run: bool) -> str:
    """Take out what this program has written in all likelihood, where nothing is kept of it."""
    if before is None or not part.is_distinct:
        return UNCHANGED
    mark, text = split_mark(before)
    new = part.take_out_of(text, None)
    if new == text:
        return UNCHANGED
    if not dry_run:
        replace(path, before, encode(mark + new), is_private=False)
    return REMOVED
