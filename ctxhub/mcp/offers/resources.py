"""Resources: what the hub holds, under URIs. Each is read by the tool that answers it to a call."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ctxhub.core.hub.refs import refs_near
from ctxhub.core.kit.caller import acting
from ctxhub.core.kit.errors import CtxhubError, NotAllowed, NotFound, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.read_limit import limited_read
from ctxhub.core.registry import all_nouns, find_noun
from ctxhub.mcp.json_rpc import INVALID_PARAMS, RESOURCE_NOT_FOUND
from ctxhub.mcp.list_pages import page_of
from ctxhub.mcp.media_types import JSON
from ctxhub.mcp.offers.asking import ask, code_of, is_offered, may_ask, refusing
from ctxhub.mcp.offers.uris import BRIEF, DECISION, FORMS, INBOX, LAYERS, SCHEME, read_uri, uri_of
from ctxhub.mcp.requests import Request, Result, Work
from ctxhub.mcp.results import TOKENS
from ctxhub.toolbox.dispatch import as_text

Arguments = dict[str, Any]


@frozen
class Special:
    """A resource that is no object: the operation that answers it."""

    kind: str
    title: str
    description: str
    tool: str
    action: str = ""

    def arguments(self, name: str) -> Arguments:
        """Of the call that answers it; `name`: what comes after the kind."""
        agent = {"agent": name} if self.kind == INBOX else {}
        return {**({"action": self.action} if self.action else {}), **agent}


SPECIAL = {
    each.kind: each
    for each in (
        Special(BRIEF, "Brief", "What bears on work in this project now, within 1,500 tokens.", "brief"),
        Special(LAYERS, "Layers", "What is in force in each layer.", "hub", "layer_summary"),
        Special(
            INBOX,
            "Inbox",
            "What is addressed to the agent and not read; it marks nothing.",
            "message",
            "inbox",
        ),
    )
}
GET = "get"
# A path has 1,000 characters, each of them up to 12 when it is encoded.
MOST_CHARACTERS = 13_000
TEMPLATES = (
    (
        f"{SCHEME}{DECISION}/{{+key}}",
        "decision",
        "Decision",
        "A decision by its key, which may hold slashes.",
    ),
    (f"{SCHEME}{{kind}}/{{id}}", "object", "Object", "Anything by its ref; kinds: {kinds}."),
    (f"{SCHEME}{INBOX}/{{agent}}", INBOX, "Inbox", SPECIAL[INBOX].description),
)


def opened_kinds() -> list[str]:
    """The kinds of objects that have URIs."""
    return [noun.kind for noun in all_nouns() if noun.open]


def _list(request: Request) -> Result:
    return page_of(request, "resources", [_listed(request, each) for each in _offered(request)])


def _offered(request: Request) -> list[Special]:
    return [each for each in SPECIAL.values() if may_ask(request, each.tool, each.action)]


def _listed(request: Request, special: Special) -> dict[str, Any]:
    is_inbox = special.kind == INBOX
    return {
        "uri": uri_of(f"{INBOX}:{request.caller.agent}") if is_inbox else f"{SCHEME}{special.kind}",
        "name": special.kind,
        "title": special.title,
        "description": special.description,
        "mimeType": JSON,
    }


def offered_templates(request: Request) -> list[dict[str, Any]]:
    kinds = ", ".join(opened_kinds())
    has_inbox = SPECIAL[INBOX] in _offered(request)
    return [
        {
            "uriTemplate": template,
            "name": name,
            "title": title,
            "description": description.format(kinds=kinds),
            "mimeType": JSON,
        }
        for template, name, title, description in TEMPLATES
        if (has_inbox if name == INBOX else may_ask(request, GET))
    ]


def _list_templates(request: Request) -> Result:
    return page_of(request, "resourceTemplates", offered_templates(request))


# -- Reading ---------------------------------------------------------------------------------------


def _read(request: Request) -> Work:
    uri = request.params["uri"]
    refuse = refusing(request, _code(request), uri=uri[:MOST_CHARACTERS])
    return Work(partial(_run, request, uri), refuse, lambda: False)


def _code(request: Request) -> Callable[[CtxhubError], int]:
    """Since 2026-07-28 a resource that is not there is a wrong param; before, it had a code of its own."""
    missing = INVALID_PARAMS if request.is_later else RESOURCE_NOT_FOUND
    return lambda error: missing if isinstance(error, NotFound) else code_of(error)


def _run(request: Request, uri: str) -> Result:
    if len(uri) > MOST_CHARACTERS:
        raise NotFound(f"A URI of this hub has at most {MOST_CHARACTERS:,} characters.")
    place = read_uri(uri)
    if special := SPECIAL.get(place.kind):
        found, tokens = _special(request, special, place.name)
    else:
        found, tokens = _object(request, place.kind, place.name)
    text = {"uri": uri, "mimeType": JSON, "text": as_text(found)}
    return request.cached({"contents": [text], "_meta": {TOKENS: tokens}}, 0)


def _special(request: Request, special: Special, name: str) -> tuple[Mapping[str, Any], int]:
    _refuse_what_is_not_offered(request, special.kind, special.tool)
    is_named = bool(name.strip("/"))
    if is_named != (special.kind == INBOX):
        wanted = f"{SCHEME}{INBOX}/AGENT" if special.kind == INBOX else f"{SCHEME}{special.kind}"
        raise NotFound(f"There is no {SCHEME}{special.kind}/{name[:60]}.", hint=f"Write {wanted}.")
    if special.kind == INBOX:
        _refuse_others_inbox(request, name)
    return ask(request, special.tool, special.arguments(name))


def _refuse_others_inbox(request: Request, name: str) -> None:
    """Raise NotAllowed for who may speak as one agent alone, as the tool does, and tell which one it is."""
    caller = request.caller
    try:
        caller.speaking_as(clean_agent(name))
    except NotAllowed as error:
        raise NotAllowed(error.message, hint=f"Yours is {uri_of(f'{INBOX}:{caller.agent}')}.") from error


def _refuse_what_is_not_offered(request: Request, kind: str, tool: str) -> None:
    """Raise NotFound if the connection was started without the tool: as if there were no such resource."""
    if not is_offered(request, tool):
        offered = [f"{SCHEME}{each.kind}" for each in _offered(request)]
        hint = f"It offers {', '.join(offered)}." if offered else ""
        raise NotFound(f"This connection offers no {SCHEME}{kind}.", hint=hint)


def _object(request: Request, kind: str, name: str) -> tuple[Mapping[str, Any], int]:
    _refuse_what_is_not_offered(request, kind, GET)
    if kind not in opened_kinds():
        unknown = unknown_word("kind", kind, [*opened_kinds(), *SPECIAL])
        raise NotFound(unknown.message, **unknown.details)
    if not name.strip():
        raise NotFound(f"{SCHEME}{kind}/ names nothing.", hint=f"Write {FORMS}.")
    ref = f"{kind}:{name}"
    found, tokens = ask(request, GET, {"refs": [ref]})
    if not found["items"]:
        raise _missing(request, kind, name)
    return found, tokens


def _missing(request: Request, kind: str, name: str) -> NotFound:
    near: list[str] = []
    noun = find_noun(kind)
    if noun and noun.documents and not name.strip().isdecimal():
        with suppress(CtxhubError), acting(request.caller), limited_read(request.method):
            near = [uri_of(ref) for ref in refs_near(request.caller.project_id, name, [kind])]
    hint = f"Near it: {', '.join(near)}." if near else "search finds the refs of things."
    return NotFound(f"There is no {kind} {shown(name)}.", hint=hint, near=near)


ANSWERS: dict[str, Callable[[Request], Result | Work]] = {
    "resources/list": _list,
    "resources/templates/list": _list_templates,
    "resources/read": _read,
}
