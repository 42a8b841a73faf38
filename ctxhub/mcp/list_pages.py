"""Pages of the protocol's lists. A cursor belongs to one list as it is: no other takes it."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import make_cursor, read_cursor
from ctxhub.mcp.json_rpc import INVALID_PARAMS, RpcError
from ctxhub.mcp.requests import LIST_TTL_MS, Request, Result

# More than there are tools with one for each operation: clients that read the first page alone miss none.
PAGE_ITEMS = 500


def page_of(request: Request, name: str, items: Sequence[dict[str, Any]]) -> Result:
    """The page of the list that the cursor of the request begins, as a result with the list under `name`.

    Raises RpcError for a cursor that this list did not give, or gave before it changed.
    """
    mark = crc32("\n".join([request.method, *(item["name"] for item in items)]).encode())
    start = _start(request.params.get("cursor"), mark, len(items))
    end = start + PAGE_ITEMS
    following = {"nextCursor": make_cursor(mark, end)} if end < len(items) else {}
    return request.cached({name: list(items[start:end]), **following}, LIST_TTL_MS)


def _start(cursor: str | None, mark: int, count: int) -> int:
    if not cursor:
        return 0
    try:
        of_list, start = read_cursor(cursor, int, int)
    except InvalidInput:
        of_list, start = None, 0
    if of_list != mark or not 0 < start < count or start % PAGE_ITEMS:
        raise RpcError(
            INVALID_PARAMS,
            "params.cursor is not one that this list gave as it is now: leave it out to begin again.",
        )
    return int(start)
