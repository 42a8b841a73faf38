"""The SDK's low-level `Server` for HTTP. It answers requests from the table of methods."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import Failure
from ctxhub.mcp.db_threads import run_in_thread, run_write
from ctxhub.mcp.json_rpc import RpcError
from ctxhub.mcp.long_polling import with_long_polling
from ctxhub.mcp.methods import Request, Result, Surface, Work, answer
from ctxhub.mcp.shares import Share

Context = ServerRequestContext[Any, Any]


def build_server(
    caller_of: Callable[[Context], Caller],
    surface: Surface,
    on_failure: Callable[[Context, Failure], None] = lambda context, failure: None,
) -> Server[Any]:
    """Build a server. `caller_of` finds the caller in the request.

    `on_failure` is called for each call that fails through no fault of the caller, before the answer.
    """

    async def answer_request(ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:
            return await call_next(ctx)
        caller = caller_of(ctx)
        try:
            result = answer(
                Request(
                    ctx.method,
                    dict(ctx.params or {}),
                    ctx.protocol_version,
                    caller,
                    surface,
                    on_failure=partial(on_failure, ctx),
                )
            )
        except RpcError as error:
            raise MCPError(**error.body()) from None
        return await _done(result, Share.of(caller)) if isinstance(result, Work) else result

    server: Server[Any] = Server("ctxhub")
    # In place of the SDK's own checks, handlers and serialisation (and its OpenTelemetry spans).
    server.middleware = [answer_request]
    return server


async def _done(work: Work, share: Share) -> Result:
    try:
        if work.writes():
            return await run_write(share.project, work.run)
        return await with_long_polling(partial(run_in_thread, share, work.run))
    except Exception as error:
        return work.failed(error)
