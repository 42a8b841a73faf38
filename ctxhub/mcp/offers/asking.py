"""Asks the tools for what resources and prompts hold, and turns errors into those of the protocol."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ctxhub.core.kit.answers import fit
from ctxhub.core.kit.errors import CtxhubError, LimitReached, NotAllowed, shown
from ctxhub.core.kit.failures import failure_of, log_failure
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use.tally import Call
from ctxhub.mcp.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError
from ctxhub.mcp.requests import Request, as_told, naming
from ctxhub.toolbox import dispatch
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.tool_list import offered_tools

CodeOf = Callable[[CtxhubError], int]


def is_offered(request: Request, tool: str) -> bool:
    """Whether the connection's profile or selection has the tool."""
    offered = offered_tools(request.surface.profile, request.surface.only)
    return offered is None or tool in offered


def may_ask(request: Request, tool: str, action: str = "") -> bool:
    """Whether the connection is shown this operation, which its scopes allow."""
    return is_offered(request, tool) and all_tools()[tool].actions[action].is_usable_by(request.caller)


def ask(request: Request, tool: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The answer of a tool and its tokens, counted and recorded like a call of it. Raises CtxhubError."""
    call = Call(request.caller)
    try:
        with naming(request.surface), call:
            found = dispatch.call(as_told(request.caller, request.meta), tool, arguments)
    except CtxhubError as error:
        call.answered(count_tokens(dispatch.as_text(error.body())), is_error=True)
        raise
    except Exception:
        call.answered(0, is_error=True)
        raise
    tokens = count_tokens(dispatch.as_text(found))
    call.answered(tokens)
    return found, tokens


def code_of(error: CtxhubError) -> int:
    return INVALID_REQUEST if isinstance(error, NotAllowed | LimitReached) else INVALID_PARAMS


def refusing(request: Request, code: CodeOf = code_of, **data: Any) -> Callable[[Exception], NoReturn]:
    """Raises the RpcError for what a request failed with. Its data are the hub's error with `data`.

    Clients show the message alone, so it includes the hint.
    """

    def refuse(error: Exception) -> NoReturn:
        if isinstance(error, RpcError):
            raise error
        if not isinstance(error, CtxhubError):
            log_failure(request.method, error)
            failure = failure_of(error, f"{request.method} failed inside the hub")
            request.on_failure(failure)
            raise RpcError(INTERNAL_ERROR, _sentence(failure), {**data, **failure.body()}) from error
        raise RpcError(code(error), _sentence(error), {**data, **fit(error.body())}) from error

    return refuse


def _sentence(error: CtxhubError) -> str:
    body = fit(error.body())
    meant = body.get("did_you_mean")
    suggested = f"Did you mean {shown(meant)}?" if isinstance(meant, str) else ""
    return " ".join(filter(None, (body["message"], suggested, body.get("hint"))))
