"""The server and the hooks in clients' files of JSON."""

from __future__ import annotations

import json

from ctxhub_client.connect import jsonc_edit
from ctxhub_client.connect.jsonc import find, parse
from ctxhub_client.connect.line import BRIDGE, NAME
from ctxhub_client.connect.part import Part
from ctxhub_client.install.files import Refused
from ctxhub_client.install.hook_settings import groups_of, is_own, others_of, without_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

    from ctxhub_client.connect.jsonc_edit import Path
    from ctxhub_client.values import Json


class JsonPart(Part):
    def is_blank(self, text: str) -> bool:
        return not text.strip() or parse(text).value == {}


class ServerPart(JsonPart):
    """The entry of the hub at a path of keys. Without `entry` it can be taken out only."""

    is_distinct = True

    def __init__(self, path: tuple[str, ...], entry: Json | None = None) -> None:
        self.path: Path = path
        self.entry = entry
        self.key = "/".join(path)

    def is_in(self, text: str) -> bool:
        found = find(parse(text), self.path) if text.strip() else None
        return found is not None and found.value == self.entry

    def note(self, text: str) -> Json:
        if not text.strip():
            return {"made": 0}
        root = parse(text)
        found = find(root, self.path)
        noted: Json = {"made": jsonc_edit.depth_of(root, self.path)}
        return dict(noted, before=text[found.start : found.end]) if found else noted

    def put_into(self, text: str) -> str:
        return jsonc_edit.put(text, self.path, self.entry)

    def take_out_of(self, text: str, noted: Json | None) -> str:
        found = find(parse(text), self.path) if text.strip() else None
        if found is None or (noted is None and not is_bridge(found.value)):
            return text
        if noted and isinstance(noted.get("before"), str):
            return jsonc_edit.put_raw(text, self.path, noted["before"])
        text = jsonc_edit.remove(text, self.path)
        made = int(noted["made"]) if noted else len(self.path)
        return without_empty(text, [self.path[:depth] for depth in range(len(self.path) - 1, made, -1)])

    def lines(self) -> str:
        return json.dumps(jsonc_edit.nested(self.path, self.entry), indent=2, ensure_ascii=False)


class HooksPart(JsonPart):
    """The hooks of a client, by event. Without `command` they can be taken out only."""

    key = "hooks"

    def __init__(self, events: Iterable[tuple[str, str, int]] = (), command: str = "") -> None:
        self.command = command
        self.groups = groups_of(events, command)

    def is_in(self, text: str) -> bool:
        hooks = hooks_of(text)
        own = {
            name: [group for group in groups if others_of(group) != group] for name, groups in hooks.items()
        }
        return {name: groups for name, groups in own.items() if groups} == {
            name: [group] for name, group in self.groups.items()
        }

    def note(self, text: str) -> Json:
        text = self.take_out_of(text, None)
        hooks = hooks_of(text)
        has_hooks = bool(text.strip()) and find(parse(text), ("hooks",)) is not None
        return {"has_hooks": has_hooks, "events": list(hooks)}

    def put_into(self, text: str) -> str:
        if not is_own({"command": self.command}):
            raise Refused("hooks that run {} could not be told from others'".format(self.command))
        text = self.take_out_of(text, None)
        for name, group in self.groups.items():
            text = jsonc_edit.append(text, ("hooks", name), group)
        return text

    def take_out_of(self, text: str, noted: Json | None) -> str:
        emptied: list[Path] = []
        while path := own_hook(hooks_of(text)):
            text = jsonc_edit.remove(text, path)
            emptied = [*emptied, path[:2]]
        kept = noted["events"] if noted else []
        text = without_empty(text, [path for path in dict.fromkeys(emptied) if path[1] not in kept])
        return text if not emptied or (noted and noted["has_hooks"]) else without_empty(text, [("hooks",)])

    def lines(self) -> str:
        hooks = {name: [group] for name, group in self.groups.items()}
        return json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False)


def is_bridge(entry: Any) -> bool:
    """Whether an entry starts this program, whoever wrote it."""
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args")
    words = [word for each in (command, arguments) for word in (each if isinstance(each, list) else [each])]
    return BRIDGE in words and any(isinstance(word, str) and NAME in word for word in words)


def hooks_of(text: str) -> Json:
    """The groups of hooks by event. Raises Refused if they are of another form."""
    if not text.strip():
        return {}
    root = parse(text)
    found = find(root, ("hooks",))
    hooks: Json = found.value if found else {}
    for item in found.items if found and found.kind == "{" else []:
        find(root, ("hooks", item.key))
    try:
        without_own(hooks, "")
    except Refused:
        raise Refused("its hooks are not of the form that is known") from None
    return hooks


def own_hook(hooks: Json) -> Path:
    """Where the last hook of ours is, or the last group that has only such; () if there is none."""
    for name, groups in hooks.items():
        for index in range(len(groups) - 1, -1, -1):
            others = others_of(groups[index])
            if others == groups[index]:
                continue
            if others is None:
                return ("hooks", name, index)
            own = [is_own(hook) for hook in groups[index]["hooks"]]
            return ("hooks", name, index, "hooks", own.index(True))
    return ()


def without_empty(text: str, paths: list[Path]) -> str:
    """The text without those of the objects and arrays that have nothing in them."""
    for path in paths:
        found = find(parse(text), path)
        if found is not None and found.kind and not text[found.start + 1 : found.end - 1].strip():
            text = jsonc_edit.remove(text, path)
    return text
