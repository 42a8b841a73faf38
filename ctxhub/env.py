"""Reads and validates typed variables from the environment or from `.env` in the project's root."""

import os
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import dj_database_url

from ctxhub.env_file import BadEnvFile, read_env_file

T = TypeVar("T")

SCHEMES = ("sqlite", "postgres", "postgresql", "pgsql")
URLS = "say sqlite:////path/to.db or postgres://user:password@host:5432/database"

LONGEST_KEY = 4096
SHORTEST_TOKEN = 20
ROOT = Path(__file__).resolve().parent.parent


class BadVariable(Exception):
    """The value of a variable is invalid. Raised at startup, so that nothing runs half-configured."""


def text(name: str, default: str = "") -> str:
    return _read(name, default, str)


def flag(name: str, *, default: bool) -> bool:
    return _read(name, default, _to_bool)


def names_file(name: str) -> bool:
    """Whether a variable has a path: something with a slash or an extension."""
    return any(mark in text(name) for mark in "/\\.")


def number(name: str, default: int, *, at_least: int = 0, at_most: int = 1_000_000) -> int:
    def to_number(raw: str) -> int:
        value = int(raw)
        if not at_least <= value <= at_most:
            raise ValueError(f"between {at_least} and {at_most}")
        return value

    return _read(name, default, to_number)


def names(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def kept(name: str) -> str:
    """The value in `.env`, "" if it has none. A process with an almost empty environment has no other."""
    return _dotenv().get(name, "")


def kept_names() -> list[str]:
    """The names in `.env`, in its order."""
    return list(_dotenv())


def choice(name: str, allowed: Sequence[str], default: str) -> str:
    """One of the allowed words, compared without regard to case."""

    def known(raw: str) -> str:
        for word in allowed:
            if raw.lower() == word.lower():
                return word
        raise ValueError(f"use one of {', '.join(allowed)}")

    return _read(name, default, known)


def folder(name: str, default: Path) -> Path:
    """A folder. A relative path starts at the project's root, not at the working directory."""
    return _read(name, default, lambda raw: ROOT / raw)


def roots(name: str) -> list[tuple[str, Path]]:
    """Pairs of project and folder, comma-separated: `apollo=/srv/code`, or `/srv/code` for all ("")."""

    def to_roots(raw: str) -> list[tuple[str, Path]]:
        pairs = [_root(part.strip()) for part in raw.split(",") if part.strip()]
        for n, (project, path) in enumerate(pairs):
            for other_project, other_path in pairs[:n]:
                if path.name == other_path.name and (
                    project == other_project or "" in (project, other_project)
                ):
                    raise ValueError(f"two folders of one project are called {path.name!r}")
        return pairs

    return _read(name, [], to_roots)


def _root(value: str) -> tuple[str, Path]:
    project, _, path = ("", "", value) if value.startswith("/") else value.partition("=")
    folder = Path(path.strip())
    if not folder.is_absolute() or not folder.name or ".." in folder.parts:
        raise ValueError(f"{value!r} is no whole path of a folder; say /srv/code or apollo=/srv/code")
    if not os.path.isdir(folder):
        raise ValueError(f"there is no folder {folder}")
    return project.strip(), folder


def origin(name: str, default: str) -> str:
    """The URL of a server's root, without a slash at its end: https://hub.example.com."""

    def to_origin(raw: str) -> str:
        parts = urlsplit(raw)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise ValueError("say https://hub.example.com, with a port if it has one")
        _ = parts.port  # It raises ValueError for one that is no number.
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError(
                "a hub answers at the root of its host only; give it a host of its own, "
                "such as https://ctxhub.example.com"
            )
        return f"{parts.scheme}://{parts.netloc}"

    return _read(name, default, to_origin)


def database(
    name: str, default: Path, default_of: str, *, when_missing: Callable[[Path], object] | None = None
) -> dict[str, Any]:
    """Django's database settings for the URL in the variable, or without one for the SQLite file `default`.

    `default_of` is the variable that names the folder of `default`. The file may be missing if its folder is
    writable. Errors do not repeat the URL: it may contain a password.
    `when_missing` is called first with the path of a file that is not there, and may make it.
    """
    url = text(name)
    parsed: dict[str, Any] = dict(_parsed(name, url or f"sqlite:///{quote(str(default))}"))
    if parsed["ENGINE"].endswith("sqlite3"):
        file = ROOT / parsed["NAME"]
        reason = ""
        if when_missing and not os.path.lexists(os.path.realpath(file)):
            when_missing(Path(os.path.realpath(file)))
        if not os.path.isfile(file):
            reason = _no_file(file) if url else _no_folder(file.parent) or _no_regular_file(file)
        if reason:
            raise BadVariable(f"{name if url else default_of} cannot be used: {reason}.")
        parsed["NAME"] = os.path.realpath(file)  # SQLite's own files are beside what a link leads to.
    elif not parsed["NAME"] and "service" not in parsed.get("OPTIONS", {}):
        raise BadVariable(f"{name} cannot be used: it names no database; {URLS}.")
    return parsed


def _parsed(name: str, url: str) -> Mapping[str, Any]:
    scheme = url.partition(":")[0]
    if scheme not in SCHEMES:
        raise BadVariable(f"{name} cannot be used: it begins with {scheme[:20]!r}; {URLS}.")
    if "#" in url:
        raise BadVariable(f"{name} cannot be used: a # would end it; write %23 instead.")
    query = url.partition("?")[2]
    if "?" in url and not all("=" in option for option in query.split("&")):
        raise BadVariable(f"{name} cannot be used: a ? begins options; write %3F for one in a name.")
    try:
        parsed = dj_database_url.parse(url)
    except ValueError as error:
        raise BadVariable(f"{name} cannot be used: it is no URL; {URLS}.") from error
    if parsed["NAME"] == ":memory:":
        raise BadVariable(f"{name} cannot be used: it names no file; {URLS}.")
    return parsed


def _no_file(file: Path) -> str:
    """Why the file cannot be a database, as far as can be checked without opening it; "" if it can."""
    if reason := _no_regular_file(file):
        return reason
    return _no_folder(file.parent) if os.path.isdir(file.parent) else f"there is no folder {file.parent}"


def _no_regular_file(file: Path) -> str:
    """Why the path is not that of a file; "" if it is, or if there is nothing."""
    if os.path.isdir(file):
        return f"{file} is a folder"
    if os.path.islink(file) and not os.path.exists(file):
        return f"{file} is a link to {os.readlink(file)}, which is not there"
    is_other = os.path.exists(file) and not os.path.isfile(file)
    return f"{file} is no file, but a device, a pipe or a socket" if is_other else ""


def _no_folder(folder: Path) -> str:
    """Why the folder, or its nearest existing parent, is not writable; "" if it is."""
    existing = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    if not os.path.isdir(existing):
        return f"{existing} is no folder"
    return "" if os.access(existing, os.W_OK | os.X_OK) else f"{existing} is not one to write in"


def token(name: str) -> str:
    """A secret that a program sends; "": there is none. An error does not repeat it."""
    value = text(name)
    if value and (len(value) < SHORTEST_TOKEN or not value.isascii() or not value.isprintable()):
        raise BadVariable(
            f"{name} cannot be used: say at least {SHORTEST_TOKEN} random letters and digits, "
            "or leave it unset."
        )
    return value


def secret_key(name: str, file: Path, folder_of: str) -> str:
    """The key from the environment, else from `file`, created on first use and readable only by its owner.

    `folder_of`: the variable that names the file's folder.
    """
    try:
        key = text(name) or _stored_secret(file)
    except OSError as error:
        reason = _no_folder(file.parent) or f"{file} cannot be made or read ({error.strerror})"
        raise BadVariable(f"{folder_of} cannot be used: {reason}. Or say {name}.") from error
    except ValueError as error:
        raise BadVariable(f"{folder_of} cannot be used: {error}. Or say {name}.") from error
    if len(key) < 40 or len(set(key)) < 10:
        raise BadVariable(f"{name} is too weak: use at least 40 random characters, or leave it unset.")
    return key


def _stored_secret(file: Path) -> str:
    """Raises ValueError for a file that holds no key."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        # Written completely before it gets its name: other processes may be starting, too.
        handle, draft = tempfile.mkstemp(dir=file.parent)
        with open(handle, "w") as new:
            os.chmod(draft, 0o600)  # Independent of the umask.
            new.write(secrets.token_urlsafe(64))
        try:
            with suppress(FileExistsError):
                os.link(draft, file)
        finally:
            os.unlink(draft)
    if reason := _no_regular_file(file):
        raise ValueError(reason)
    with file.open("rb") as kept:
        key = kept.read(LONGEST_KEY + 1)
    if len(key) > LONGEST_KEY or len(key.splitlines()) > 1 or b"\0" in key:
        raise ValueError(f"{file} holds no secret key, but another text")
    return key.decode(errors="replace").strip()


def _read(name: str, default: T, convert: Callable[[str], T]) -> T:
    raw = os.environ.get(name, kept(name)).strip()
    if not raw:
        return default
    try:
        return convert(raw)
    except ValueError as error:
        raise BadVariable(f"{name}={raw!r} cannot be used: {error}") from error


def _to_bool(raw: str) -> bool:
    known = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if raw.lower() not in known:
        raise ValueError("say true or false")
    return known[raw.lower()]


@cache
def _dotenv() -> dict[str, str]:
    try:
        return read_env_file(ROOT / ".env")
    except BadEnvFile as error:
        raise BadVariable(str(error)) from error
