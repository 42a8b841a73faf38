"""The MCP server: serves the toolbox through the SDK's low-level `Server`, for both protocol eras."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from ctxhub import __version__
from ctxhub.core.call_sessions import clean_call_session
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.failures import Failure, failure_of, log_failure
from ctxhub.core.kit.tool_names import naming_tools
from ctxhub.core.toolbox import dispatch
from ctxhub.core.toolbox.tool_list import INSTRUCTIONS, find_call, list_tools, offered_tools
from ctxhub.mcp.db_threads import run_in_thread, run_write
from ctxhub.mcp.long_polling import with_long_polling
from ctxhub.mcp.results import answer_result, error_result

REQUEST_ID = "ctxhub/request_id"
SESSION = "ctxhub/session"
LIST_TTL_MS = 60_000

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Surface:
    """Which tools a connection sees: grouped or flat, the profile all or core, or a selection by name."""

    surface: str = "grouped"
    profile: str = "all"
    only: tuple[str, ...] = ()

    @property
    def is_flat(self) -> bool:
        return self.surface == "flat"


def _request_id(context: Context) -> str | None:
    request_id = (context.meta or {}).get(REQUEST_ID)
    if request_id is None or isinstance(request_id, str):
        return request_id
    if type(request_id) is not int:
        raise InvalidInput(f"_meta[{REQUEST_ID!r}] must be a text.")
    return str(request_id)


def _in_session(caller: Caller, context: Context) -> Caller:
    """The caller in the session that `_meta` names, if it names one."""
    named = (context.meta or {}).get(SESSION)
    if named in (None, ""):
        return caller
    return caller.in_session(clean_call_session(named, f"_meta[{SESSION!r}]"))


def build_server(
    caller_of: Callable[[Context], Caller],
    surface: Surface,
    on_failure: Callable[[Context, Failure], None] = lambda context, failure: None,
) -> Server[Any]:
    """Build a server. `caller_of` finds the caller in the request (HTTP) or is fixed (stdio).

    `on_failure` is called for each call that fails through no fault of the caller, before the answer.
    """

    async def on_list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = list_tools(
            caller_of(context), surface=surface.surface, profile=surface.profile, only=surface.only
        )
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools])

    async def on_call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        offered = offered_tools(surface.profile, surface.only)
        with naming_tools(flat=surface.is_flat, offered=offered):
            try:
                tool, arguments = find_call(
                    params.name, params.arguments or {}, profile=surface.profile, only=surface.only
                )
                caller, request_id = _in_session(caller_of(context), context), _request_id(context)
                run = partial(dispatch.call, caller, tool, arguments, request_id=request_id)
                if dispatch.writes(caller, tool, arguments):
                    answer = await run_write(caller.project.slug, run)
                else:
                    answer = await with_long_polling(partial(run_in_thread, run))
            except CtxhubError as error:
                return error_result(error)
            except Exception as error:
                log_failure(f"tool {params.name}", error)
                failure = failure_of(error, f"{params.name} failed inside the hub")
                on_failure(context, failure)
                return error_result(failure)
        return answer_result(answer, structured=surface.is_flat)

    return Server(
        "ctxhub",
        version=__version__,
        title="ctxhub",
        instructions=INSTRUCTIONS,
        # Otherwise the SDK lists all tools at every call to look for headers, which no schema of ours names.
        get_tool_input_schema=lambda name: None,
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_TTL_MS, scope="private")},
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )
