"""What `subscriptions/listen` may name: inboxes, and what refs open."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core import registry
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError, NotFound
from ctxhub.mcp.json_rpc import INVALID_PARAMS, Id, RpcError
from ctxhub.mcp.offers.uris import INBOX, read_uri
from ctxhub.mcp.subscriptions import Listening

MOST_URIS = 100


def listening(caller: Caller, request_id: Id, uris: Sequence[str], signature: Mapping[str, Any]) -> Listening:
    """Raises RpcError for too many URIs, and without the scope read."""
    try:
        caller.require(READ, "subscriptions/listen")
    except CtxhubError as error:
        raise RpcError(INVALID_PARAMS, error.message, error.body()) from None
    if len(uris) > MOST_URIS:
        raise RpcError(
            INVALID_PARAMS, f"resourceSubscriptions has {len(uris)} entries; at most {MOST_URIS} are allowed."
        )
    refs: dict[str, list[str]] = {}
    inboxes: dict[str, list[str]] = {}
    for uri in dict.fromkeys(uris):
        try:
            named = read_uri(uri)
        except NotFound:
            continue
        if named.kind == INBOX and _may_read_inbox(caller, named.name):
            inboxes.setdefault(named.name.casefold(), []).append(uri)
        elif (noun := registry.find_noun(named.kind)) and noun.open and named.name:
            refs.setdefault(f"{noun.kind}:{named.name}", []).append(uri)
    return Listening(request_id, caller, _fixed(refs), _fixed(inboxes), signature)


def _may_read_inbox(caller: Caller, agent: str) -> bool:
    return bool(agent) and not (caller.pinned and agent.casefold() != caller.agent.casefold())


def _fixed(uris: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(each) for name, each in uris.items()}
