"""Completes the arguments of prompts and the variables of URI templates, with what the project holds."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ctxhub.core.hub.completions import (
    Completions,
    complete_agent,
    complete_name,
    complete_ref,
    complete_word,
)
from ctxhub.core.kit.caller import READ, acting
from ctxhub.core.kit.errors import InvalidInput, unknown_word
from ctxhub.core.kit.newer_schema import refuse_older_schema
from ctxhub.core.kit.read_limit import limited_read
from ctxhub.mcp.offers.asking import refusing
from ctxhub.mcp.offers.prompts import find_prompt
from ctxhub.mcp.offers.resources import offered_templates, opened_kinds
from ctxhub.mcp.requests import Request, Result, Work

Given = Mapping[str, str]
Source = Callable[[Request, str, Given], Completions]

NOTHING = Completions((), 0, has_more=False)


def _words(kind: str) -> Source:
    return lambda request, text, _: complete_name(request.caller.project_id, kind, text)


def _refs(kind: str) -> Source:
    return lambda request, text, _: complete_ref(request.caller.project_id, kind, text)


def _kinds(_: Request, text: str, __: Given) -> Completions:
    return complete_word(text, opened_kinds())


def _ids(request: Request, text: str, given: Given) -> Completions:
    """Of the kind that was chosen before; nothing without one."""
    if not (kind := given.get("kind", "").strip().lower()):
        return NOTHING
    if kind not in opened_kinds():
        raise unknown_word("kind", kind, opened_kinds())
    return complete_ref(request.caller.project_id, kind, text)


def _inboxes(request: Request, text: str, _: Given) -> Completions:
    """Those that the caller may read."""
    caller = request.caller
    if caller.pinned or caller.is_person:
        return complete_word(text, [caller.agent])
    return complete_agent(caller.project_id, text)


def _tags(request: Request, text: str, _: Given) -> Completions:
    """Of several tags the last; each value has those before it."""
    before, comma, last = text.rpartition(",")
    found = complete_name(request.caller.project_id, "tag", last)
    if not comma:
        return found
    named = {each.strip().casefold() for each in before.split(",")}
    values = [f"{before}, {tag}" for tag in found.values if tag.casefold() not in named]
    return Completions(values, found.total - (len(found.values) - len(values)), found.has_more)


def _nothing(_: Request, __: str, ___: Given) -> Completions:
    return NOTHING


# By the names of arguments and variables.
OF_PROMPTS: Mapping[str, Source] = {
    "task": _nothing,
    "to": _words("agent"),
    "session": _refs("session"),
    "layer": _words("layer"),
    "tags": _tags,
}
OF_TEMPLATES: Mapping[str, Source] = {
    "key": _refs("decision"),
    "kind": _kinds,
    "id": _ids,
    "agent": _inboxes,
}


def complete(request: Request) -> Work:
    return Work(partial(_run, request), refusing(request), lambda: False)


def _run(request: Request) -> Result:
    source = _source(request)
    argument = request.params["argument"]
    given = (request.params.get("context") or {}).get("arguments") or {}
    caller = request.caller
    caller.require(READ, request.method)
    with acting(caller), limited_read(request.method):
        refuse_older_schema()
        found = source(request, argument["value"], given)
    return {"completion": {"values": [*found.values], "total": found.total, "hasMore": found.has_more}}


def _source(request: Request) -> Source:
    """Raises InvalidInput for what the connection is not offered."""
    name = request.params["argument"]["name"]
    reference: Mapping[str, Any] = request.params["ref"]
    if reference["type"] == "ref/prompt":
        prompt = find_prompt(request, reference["name"])
        known = [each.name for each in prompt.arguments]
        return OF_PROMPTS[_one_of(name, known, f"argument of {prompt.name}")]
    templates = {each["uriTemplate"]: each["name"] for each in offered_templates(request)}
    template = _one_of(reference["uri"], list(templates), "template")
    return OF_TEMPLATES[_one_of(name, variables_of(template), f"variable of {template}")]


def _one_of(word: str, known: list[str], what: str) -> str:
    if word not in known:
        raise unknown_word(what, word, known) if known else InvalidInput(f"There is no {what} here.")
    return word


def variables_of(template: str) -> list[str]:
    return [variable for variable in OF_TEMPLATES if f"{{{variable}}}" in template.replace("{+", "{")]
