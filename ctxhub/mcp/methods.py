"""The methods of the protocol in both eras, in one table: stdio and HTTP answer from it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ctxhub import __version__
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.failures import failure_of, log_failure
from ctxhub.core.use.tally import Call
from ctxhub.mcp import params as kinds
from ctxhub.mcp.eras import LATER_VERSIONS, negotiated
from ctxhub.mcp.json_rpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, object_in
from ctxhub.mcp.list_pages import page_of
from ctxhub.mcp.requests import Request, Result, Work, as_told, naming
from ctxhub.mcp.results import TOKENS, answer_result, error_result
from ctxhub.mcp.subscriptions import Listening
from ctxhub.toolbox import dispatch
from ctxhub.toolbox.instructions import instructions
from ctxhub.toolbox.tool_list import find_call, list_tools

REQUEST_ID = "ctxhub/request_id"
WRONG_PARAMS = "Invalid request parameters"

SERVER = {"name": "ctxhub", "title": "ctxhub", "version": __version__}
CAPABILITIES: dict[str, dict[str, bool]] = {
    "tools": {"listChanged": False},
    "resources": {"subscribe": False, "listChanged": False},
    "prompts": {"listChanged": False},
    "completions": {},
}
# `resources/subscribe` of the earlier era needs a session, which /mcp has none of.
LATER_CAPABILITIES = {**CAPABILITIES, "resources": {"subscribe": True, "listChanged": False}}
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


class Method(NamedTuple):
    """The check of its params until 2025-11-25 and from 2026-07-28, None where it does not exist."""

    earlier: kinds.fields | None
    later: kinds.fields | None
    answer: Callable[[Request], Result | Work | Listening] | None = None


def answer(request: Request) -> Result | Work | Listening:
    """Raises RpcError for a request that is not served, or not as it is."""
    method = METHODS.get(request.method)
    is_later = request.version in LATER_VERSIONS
    check = method and (method.later if is_later else method.earlier)
    if method is None or check is None:
        raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
    if not check(request.params):
        raise RpcError(INVALID_PARAMS, f"{WRONG_PARAMS}: {check.problem(request.params)}")
    if method.answer is None:
        raise RpcError(METHOD_NOT_FOUND, "Method not found", request.method)
    if not request.is_open and request.method not in ALWAYS:
        raise RpcError(INVALID_PARAMS, f"{WRONG_PARAMS}: a connection begins with initialize.")
    result = method.answer(request)
    return _of_later_era(result) if is_later else result


def _of_later_era(result: Result | Work | Listening) -> Result | Work | Listening:
    if isinstance(result, Listening):
        return result
    if isinstance(result, Work):
        run, failed, writes = result
        return Work(lambda: _signed(run()), lambda error: _signed(failed(error)), writes)
    return _signed(result)


def _signed(result: Result) -> Result:
    return {**result, "resultType": "complete", "_meta": {**result.get("_meta", {}), SERVER_INFO: SERVER}}


# -- The handshake and the like --------------------------------------------------------------------


def _initialize(request: Request) -> Result:
    return {
        "protocolVersion": negotiated(request.params["protocolVersion"]),
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": _instructions(request),
    }


def _instructions(request: Request) -> str:
    shown = request.surface
    with naming(shown):
        return instructions(request.caller, profile=shown.profile, only=shown.only)


def _discover(request: Request) -> Result:
    return {
        "supportedVersions": [*LATER_VERSIONS],
        "capabilities": LATER_CAPABILITIES,
        "instructions": _instructions(request),
        "ttlMs": 0,
        "cacheScope": "private",
    }


def _ping(_: Request) -> Result:
    return {}


# -- Tools -----------------------------------------------------------------------------------------


def _list_tools(request: Request) -> Result:
    shown = request.surface
    tools = list_tools(request.caller, surface=shown.surface, profile=shown.profile, only=shown.only)
    return page_of(request, "tools", tools)


def _call_tool(request: Request) -> Result | Work:
    call = Call(request.caller)
    failed = partial(_failed, request, call)
    try:
        with naming(request.surface):
            tool, arguments = find_call(
                request.params["name"],
                object_in(request.params.get("arguments")) or {},
                profile=request.surface.profile,
                only=request.surface.only,
            )
            caller, request_id = as_told(request.caller, request.meta), _request_id(request.meta)
    except Exception as error:
        return failed(error)

    def run() -> Result:
        with naming(request.surface), call:
            found = dispatch.call(caller, tool, arguments, request_id=request_id)
        result = answer_result(found, structured=request.surface.is_flat)
        call.answered(result["_meta"][TOKENS])
        return result

    return Work(run, failed, partial(dispatch.writes, caller, tool, arguments))


def _failed(request: Request, call: Call, error: Exception) -> Result:
    """The result of a call that raised the error."""
    if isinstance(error, CtxhubError):
        refused = error
    else:
        name = request.params["name"]
        log_failure(f"tool {name}", error)
        refused = failure_of(error, f"{name} failed inside the hub")
        request.on_failure(refused)
    with naming(request.surface):
        result = error_result(refused)
    call.answered(result["_meta"][TOKENS], is_error=True)
    return result


def _request_id(meta: dict[str, Any]) -> str | None:
    request_id = meta.get(REQUEST_ID)
    if request_id is None or isinstance(request_id, str):
        return request_id
    if type(request_id) is not int:
        raise InvalidInput(f"_meta[{REQUEST_ID!r}] must be a text.")
    return str(request_id)


# -- What is offered besides tools: its modules are loaded by the first request for it ------------


def _of_resources(request: Request) -> Result | Work:
    from ctxhub.mcp.offers.resources import ANSWERS

    return ANSWERS[request.method](request)


def _of_prompts(request: Request) -> Result | Work:
    from ctxhub.mcp.offers.prompts import ANSWERS

    return ANSWERS[request.method](request)


def _complete(request: Request) -> Result | Work:
    from ctxhub.mcp.offers.completion import complete

    return complete(request)


def _listen(request: Request) -> Listening:
    from ctxhub.mcp.offers.listening import listening

    uris = request.params["notifications"].get("resourceSubscriptions") or []
    return listening(request.caller, request.id, uris, {SERVER_INFO: SERVER})


ALWAYS = ("initialize", "ping")
METHODS = {
    "initialize": Method(kinds.HANDSHAKE, None, _initialize),
    "server/discover": Method(None, kinds.LATER_PARAMS, _discover),
    "ping": Method(kinds.PARAMS, None, _ping),
    "tools/list": Method(kinds.PAGE, kinds.LATER_PAGE, _list_tools),
    "tools/call": Method(kinds.CALL, kinds.LATER_CALL, _call_tool),
    "resources/list": Method(kinds.PAGE, kinds.LATER_PAGE, _of_resources),
    "resources/templates/list": Method(kinds.PAGE, kinds.LATER_PAGE, _of_resources),
    "resources/read": Method(kinds.READ, kinds.LATER_READ, _of_resources),
    "prompts/list": Method(kinds.PAGE, kinds.LATER_PAGE, _of_prompts),
    "prompts/get": Method(kinds.PROMPT, kinds.LATER_PROMPT, _of_prompts),
    "completion/complete": Method(kinds.COMPLETE, kinds.LATER_COMPLETE, _complete),
    # Not served: only a wrong request of them differs from one of an unknown method.
    "resources/subscribe": Method(kinds.URI, None),
    "resources/unsubscribe": Method(kinds.URI, None),
    "subscriptions/listen": Method(None, kinds.LISTEN, _listen),
    "logging/setLevel": Method(kinds.SET_LEVEL, None),
}
