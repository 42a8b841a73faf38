"""The server in Codex' configuration: a table at the end of the file."""

from __future__ import annotations

import json
import re

from ctxhub_client.connect.line import NAME
from ctxhub_client.connect.part import Part
from ctxhub_client.install.files import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

TABLE = "mcp_servers"
HEAD = re.compile(r"[ \t]*\[")
# The table and those below it.
OWN_HEAD = re.compile(r"[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(\"?)ctxhub\1[ \t]*[.\]]")
# Each way to write a server that Python before 3.11 can tell: a table of its own.
KNOWN_HEAD = re.compile(r"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*[\w\"'-]+[ \t]*[.\]]", re.MULTILINE)


class TablePart(Part):
    key = "table"
    is_distinct = True

    def __init__(self, entry: Json | None = None) -> None:
        self.entry = entry or {}

    def is_in(self, text: str) -> bool:
        settings = read_toml(text)
        if settings is not None:
            return server_of(settings) == self.entry
        return "".join(own_lines(text)).replace("\r\n", "\n").strip() == self.lines()

    def note(self, text: str) -> Json:
        return {"added": self._added_to(text)}

    def put_into(self, text: str) -> str:
        settings = read_toml(text)
        if settings is None:
            refuse_unreadable(text)
        elif server_of(settings) is not None:
            raise Refused("it has a server {} already".format(NAME))
        new = text + self._added_to(text)
        if settings is not None:
            found = read_toml(new)
            if (
                found is None
                or server_of(found) != self.entry
                or without_server(found) != without_server(settings)
            ):
                raise Refused("its servers are not in a form to which a table can be added")
        return new

    def take_out_of(self, text: str, noted: Json | None) -> str:
        added = str(noted["added"]) if noted else ""
        own = "".join(own_lines(text))
        if added and text.count(added) == 1 and ends_a_table(text[text.index(added) + len(added) :]):
            new = text.replace(added, "")
        elif noted or (NAME in own and '"mcp"' in own):
            new = without_own_lines(text)
        else:
            new = text
        settings, left = read_toml(text), read_toml(new)
        if settings is not None and (left is None or left != without_server(settings)):
            raise Refused("the server {} in it is not a table of its own".format(NAME))
        return new

    def lines(self) -> str:
        plain_values = {name: value for name, value in self.entry.items() if not isinstance(value, dict)}
        tables = [("", plain_values)]
        tables += [("." + name, value) for name, value in self.entry.items() if isinstance(value, dict)]
        return "\n\n".join(
            "\n".join(
                ["[{}.{}{}]".format(TABLE, NAME, name), *map(" = ".join, map(toml_pair, values.items()))]
            )
            for name, values in tables
        )

    def _added_to(self, text: str) -> str:
        newline = "\r\n" if "\r\n" in text else "\n"
        start = "" if not text else newline if text.endswith("\n") else newline * 2
        return start + (self.lines() + "\n").replace("\n", newline)


def toml_pair(pair: tuple[str, object]) -> tuple[str, str]:
    """A line of TOML, whose texts and lists of texts are written as those of JSON are."""
    name, value = pair
    bare = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
    return bare, json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def own_lines(text: str) -> list[str]:
    """The lines of the table and of those below it."""
    return [line for line, is_own in told_apart(text) if is_own]


def without_own_lines(text: str) -> str:
    return "".join(line for line, is_own in told_apart(text) if not is_own)


def told_apart(text: str) -> list[tuple[str, bool]]:
    """Each line, and whether it is ours. What stands before another table is that table's."""
    told: list[tuple[str, bool]] = []
    is_own, between = False, 0
    for line in text.splitlines(keepends=True):
        if HEAD.match(line):
            is_next = OWN_HEAD.match(line) is not None
            if is_own and not is_next and between:
                told[-between:] = [(each, False) for each, _ in told[-between:]]
            is_own = is_next
        between = between + 1 if not line.strip() or line.lstrip().startswith("#") else 0
        told.append((line, is_own))
    return told


def ends_a_table(rest: str) -> bool:
    """Whether what follows is another table, or nothing."""
    lines = [line for line in rest.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return not lines or HEAD.match(lines[0]) is not None


def read_toml(text: str) -> Json | None:
    """What the text says; None where Python cannot read TOML. Raises Refused if it is none."""
    try:
        import tomllib
    except ImportError:
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        raise Refused("it is not TOML") from None


def refuse_unreadable(text: str) -> None:
    """Raise Refused where what stands in the text cannot be told from its lines alone."""
    said = re.sub(r"(?m)^[ \t]*#.*$", "", text)
    if '"""' in text or "'''" in text or TABLE in KNOWN_HEAD.sub("", said):
        raise Refused("Python before 3.11 cannot read what is in it")
    if own_lines(text):
        raise Refused("it has a server {} already".format(NAME))


def server_of(settings: Json) -> object:
    servers = settings.get(TABLE)
    return servers.get(NAME) if isinstance(servers, dict) else None


def without_server(settings: Json) -> Json:
    servers = settings.get(TABLE)
    if not isinstance(servers, dict) or NAME not in servers:
        return settings
    left = {name: value for name, value in servers.items() if name != NAME}
    others = {name: value for name, value in settings.items() if name != TABLE}
    return dict(others, **{TABLE: left}) if left else others
