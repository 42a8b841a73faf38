"""Reads `.env`: lines of NAME=value, with quotes, comments and `export` as shells have them."""

import codecs
import io
from collections.abc import Iterable
from pathlib import Path

MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class BadEnvFile(Exception):
    """The file cannot be read, or a line of it means nothing. The message has no value: it may be secret."""


def read_env_file(file: Path) -> dict[str, str]:
    """The values by name; none if there is no file. Raises BadEnvFile."""
    try:
        found = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadEnvFile(f"{file} cannot be read: {error.strerror}.") from error
    return dict(_pairs(file, _text(file, found)))


def _text(file: Path, found: bytes) -> str:
    encoding = next((name for mark, name in MARKS.items() if found.startswith(mark)), "")
    if encoding or b"\0" in found:
        raise BadEnvFile(f"{file} is {encoding or 'no text'}: save it as UTF-8.")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = found.count(b"\n", 0, error.start) + 1
        raise BadEnvFile(f"{file}, line {line}: its letters are not UTF-8; save it as UTF-8.") from error


def _pairs(file: Path, text: str) -> Iterable[tuple[str, str]]:
    from dotenv.parser import parse_stream  # Most hubs have no such file.

    for each in parse_stream(io.StringIO(text)):
        if each.error or (each.key is not None and each.value is None):
            blank = len(each.original.string) - len(each.original.string.lstrip())
            line = each.original.line + each.original.string.count("\n", 0, blank)
            raise BadEnvFile(f"{file}, line {line}: say NAME=value there, or begin it with #.")
        if each.key is not None and each.value is not None:
            yield each.key, each.value.strip()
