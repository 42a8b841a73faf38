"""Reads a file of an export line by line, and checks that it is whole before anything is made of it."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.transfer.declaration import KINDS
from ctxhub.core.transfer.exporting import FORMAT

LINE_BYTES = 64 * 1024 * 1024


class BadLine(InvalidInput):
    """A line that cannot be imported; the message begins with its number."""

    def __init__(self, number: int, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(f"line {number:,}: {message}", hint=hint, line=number, **details)


@frozen
class Header:
    """The first line. `counts`: the number of lines by kind."""

    project: str
    uuid: UUID
    at: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@frozen
class Line:
    """A line of an object. `number` counts from 1, the header is the first; `size` is in bytes."""

    number: int
    kind: str
    uuid: UUID
    data: dict[str, Any]
    size: int = 0


@frozen
class Checked:
    """What a whole file has: its header, its checksum, and the UUIDs of its objects by kind."""

    header: Header
    sha256: str
    uuids: Mapping[str, set[int]]


def check_file(path: Path, progress: Callable[[int], None] | None = None) -> Checked:
    """Read a file to its end. Raises InvalidInput, naming the line, unless it is whole.

    Two lines of one object, lines out of order, and counts that differ from the header's are refused.
    """
    digest = hashlib.sha256()
    uuids: dict[str, set[int]] = {}
    with path.open("rb") as file:
        header = _header(file, digest)
        number, place = 1, 0
        for raw in _raw_lines(file, number):
            number += 1
            value = _json(raw, number)
            if "sha256" in value:
                _check_end(file, number, value, digest.hexdigest())
                _check_counts(number, header, uuids)
                return Checked(header, digest.hexdigest(), uuids)
            line = _line(value, number)
            if KINDS.index(line.kind) < place:
                raise BadLine(number, f"a {line.kind} comes after the lines of a {KINDS[place]}.")
            place = KINDS.index(line.kind)
            seen = uuids.setdefault(line.kind, set())
            if line.uuid.int in seen:
                raise BadLine(number, f"the {line.kind} {line.uuid} has a line already.")
            seen.add(line.uuid.int)
            digest.update(raw)
            if progress:
                progress(1)
    raise BadLine(number + 1, "the file ends before its last line, which has the checksum.", hint=_TORN)


def read_header(path: Path) -> Header:
    """The first line of a file. Raises InvalidInput if it is no export."""
    with path.open("rb") as file:
        return _header(file, hashlib.sha256())


def lines_of_file(path: Path) -> Iterator[Line]:
    """The lines of objects of a file that was checked."""
    with path.open("rb") as file:
        file.readline(LINE_BYTES)
        for number, raw in enumerate(_raw_lines(file, 1), start=2):
            value = json.loads(raw)
            if "sha256" in value:
                return
            yield Line(number, value["kind"], UUID(value["uuid"]), value["data"], len(raw))


_TORN = "It was cut off while it was written or copied: export or copy it again."
_SAVED = "A program has read it and saved it otherwise: take the file as it was exported."
_PACKED = "Unpack it first."
_SENT = "Send the file itself as the body: curl --data-binary @FILE."
# How files begin that are taken for an export, what they are, and what to do.
_OTHERS = (
    (b"\x1f\x8b", "packed with gzip", _PACKED),
    (b"PK\x03\x04", "a zip archive", _PACKED),
    (b"BZh", "packed with bzip2", _PACKED),
    (b"\xfd7zXZ", "packed with xz", _PACKED),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", _PACKED),
    (b"\xff\xfe", "text in UTF-16", _SAVED),
    (b"\xfe\xff", "text in UTF-16", _SAVED),
    (b"{\x00", "text in UTF-16", _SAVED),
    (b"\x00{", "text in UTF-16", _SAVED),
    (b"\xef\xbb\xbf", "text with a byte order mark", _SAVED),
    (b"--", "a form", _SENT),
)


def _raw_lines(file: IO[bytes], number: int) -> Iterator[bytes]:
    while raw := file.readline(LINE_BYTES + 1):
        number += 1
        if len(raw) > LINE_BYTES:
            raise BadLine(number, f"longer than {LINE_BYTES // 2**20} MiB.")
        if not raw.endswith(b"\n"):
            raise BadLine(number, "the file ends in the middle of it.", hint=_TORN)
        yield raw


def _json(raw: bytes, number: int) -> dict[str, Any]:
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadLine(number, f"no JSON: {str(error)[:100]}.") from error
    if not isinstance(value, dict):
        raise BadLine(number, "no JSON object.")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _header(file: IO[bytes], digest: Any) -> Header:
    raw = file.readline(LINE_BYTES + 1)
    _refuse_others(raw)
    value = _json(raw, 1)
    version = value.get("ctxhub")
    if type(version) is not int or version < 1:
        raise BadLine(1, 'no export of ctxhub: it begins with {"ctxhub": 1, ...}.')
    if version > FORMAT:
        raise BadLine(
            1,
            f"written in format {version} by a newer ctxhub; this one reads up to {FORMAT}.",
            hint="Upgrade this hub first.",
        )
    digest.update(raw)
    try:
        counts = {kind: int(count) for kind, count in value["counts"].items()}
        header = Header(str(value["project"]), UUID(value["uuid"]), str(value["at"]), counts)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadLine(1, "the header must have project, uuid, at and counts.") from error
    if unknown := sorted({*counts} - {*KINDS}):
        raise BadLine(1, f"counts: {shown(unknown[0])} is no kind of object.", allowed=list(KINDS))
    return header


def _refuse_others(first: bytes) -> None:
    """Raise BadLine for the first line of a file that is something else, or was changed on its way."""
    if not first:
        raise BadLine(1, "no export of ctxhub: the file is empty.")
    for beginning, what, hint in _OTHERS:
        if first.startswith(beginning):
            raise BadLine(1, f"no export of ctxhub: it is {what}.", hint=hint)
    if first.endswith(b"\r\n"):
        raise BadLine(1, "no export of ctxhub: its lines end with CR LF.", hint=_SAVED)
    if not first.endswith(b"\n"):
        hint = f"It was cut off, or sent without its line ends. {_SENT}" if b'"ctxhub":' in first else ""
        raise BadLine(1, "no export of ctxhub: it begins with a line of JSON.", hint=hint)


def _line(value: Mapping[str, Any], number: int) -> Line:
    if {*value} != {"kind", "uuid", "data"} or not isinstance(value["data"], dict):
        raise BadLine(number, "must be an object of kind, uuid and data.")
    if value["kind"] not in KINDS:
        raise BadLine(number, f"kind: {shown(value['kind'])} is no kind of object.", allowed=list(KINDS))
    try:
        uuid = UUID(value["uuid"])
    except (ValueError, TypeError, AttributeError):
        uuid = None
    if uuid is None or str(uuid) != value["uuid"]:
        raise BadLine(number, f"uuid: {shown(value['uuid'])} is no UUID in lower case.")
    return Line(number, value["kind"], uuid, value["data"])


def _check_end(file: IO[bytes], number: int, value: Mapping[str, Any], sha256: str) -> None:
    if value != {"sha256": sha256}:
        raise BadLine(
            number,
            f"the checksum of the lines before is {sha256[:12]}…, not {shown(value['sha256'])}.",
            hint="The file was changed after it was exported: export it again.",
        )
    if file.read(1):
        raise BadLine(
            number + 1,
            "something follows the last line, which has the checksum.",
            hint="Of several exports in one file, each is imported by itself.",
        )


def _check_counts(number: int, header: Header, uuids: Mapping[str, set[int]]) -> None:
    found = Counter({kind: len(seen) for kind, seen in uuids.items()})
    for kind in {*found, *header.counts}:
        if found[kind] != header.counts.get(kind, 0):
            raise BadLine(
                number, f"{found[kind]:,} lines of {kind}; the header counts {header.counts.get(kind, 0):,}."
            )
