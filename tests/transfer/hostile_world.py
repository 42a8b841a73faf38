"""What anybody may send: each text argument of each call with characters that nobody sees, or very long."""

from collections.abc import Iterator
from typing import Any

from ctxhub.core.kit.background import flush_all
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.use.tally import Call
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import call

INSIDE = "a\ufeff\u200b\u202eb\r\n\tc\x85\u2028\u2066d\xad \x1b[1m"
AT_THE_ENDS = "\ufeff x \u200b\n"
# It is three times as long without case.
LONGEST = "\u0390" * 1_200
UNSTORABLE = "a\x00b\ud800"
# Spellings of ids that an export could take for one.
REFS = ("memory:1", "memory:01", "memory:\u0661", " memory:1")


def send_everything(ada: Caller) -> int:
    """Send such calls as somebody who may write, and as somebody who may not; returns how many were taken."""
    for text in (f"nothing{INSIDE}likethat", f"\ufeff{LONGEST}"):
        _is_taken(ada, "search", {"query": text})
    taken = 0
    for tool in all_tools().values():
        # An agent of its own: of many refusals of one agent, only the first are counted with their refs.
        refused = Caller(project=ada.project, agent=f"eve-{tool.name}", scopes=frozenset({READ}))
        for action in tool.actions.values():
            for arguments in _hostile(action):
                named = {"action": action.name, **arguments} if action.name else arguments
                taken += sum(_is_taken(caller, tool.name, named) for caller in (ada, refused))
    for ref in REFS:
        _is_taken(refused, "delete", {"refs": [ref]})
    flush_all()
    return taken


def _hostile(action: Action) -> Iterator[dict[str, Any]]:
    """The call that help shows, with each of its texts in turn replaced."""
    for argument in action.arguments.all:
        types, entries = argument.schema.get("type", "string"), argument.schema.get("items", {})
        is_list = types == "array" and entries.get("type", "string") == "string"
        if is_list or ("string" in types and "enum" not in argument.schema):
            for text in _texts_for(argument.schema):
                yield {**action.example, argument.name: [text] if is_list else text}
    for text in (INSIDE, AT_THE_ENDS):
        yield {**action.example, "session": text}


def _texts_for(schema: Any) -> Iterator[str]:
    yield from (INSIDE, AT_THE_ENDS, LONGEST, UNSTORABLE)
    yield from (LONGEST[:length] for length in (50, 100, 200, 500))


def _is_taken(caller: Caller, tool: str, arguments: dict[str, Any]) -> bool:
    try:
        with Call(caller) as counted:  # As the interfaces do.
            call(caller, tool, arguments)
            counted.answered(1)
    except CtxhubError:
        return False
    return True
