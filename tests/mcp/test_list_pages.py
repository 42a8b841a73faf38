"""The protocol's lists come in pages, by cursors of each list."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp import list_pages
from ctxhub.mcp.json_rpc import RpcError
from ctxhub.mcp.requests import Surface
from ctxhub.toolbox.tool_list import list_tools
from tests.mcp.everywhere import Everywhere, asked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def pages(caller: Caller, method: str, surface: Surface | None = None) -> list[list[dict[str, Any]]]:
    found, cursor = [], None
    while True:
        result = asked(caller, method, surface, **({"cursor": cursor} if cursor else {}))
        found.append(result[LISTS[method]])
        if (cursor := result.get("nextCursor")) is None:
            return found


@pytest.mark.parametrize("surface", [Surface(), Surface(surface="flat")])
def test_all_tools_are_one_page(ada: Caller, surface: Surface) -> None:
    assert asked(ada, "tools/list", surface) == {"tools": list_tools(ada, surface=surface.surface)}
    assert all("nextCursor" not in asked(ada, method, surface) for method in LISTS)


@pytest.mark.parametrize("method", LISTS)
def test_pages_follow_each_other_without_gaps(
    ada: Caller, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    [whole] = pages(ada, method)
    monkeypatch.setattr(list_pages, "PAGE_ITEMS", 2)
    found = pages(ada, method)
    assert [len(page) for page in found[:-1]] == [2] * (len(found) - 1)
    assert [each for page in found for each in page] == whole
    assert len(found) == (len(whole) + 1) // 2 > 1


def test_pages_are_the_same_everywhere(everywhere: Everywhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_pages, "PAGE_ITEMS", 2)
    for method, name in LISTS.items():
        first = everywhere.result(method)
        second = everywhere.result(method, cursor=first["nextCursor"])
        assert len(first[name]) == 2
        assert second[name]


@pytest.mark.parametrize("cursor", ["next", "~", "2", "~5,5", "~-1,2", "x" * 10_000, "\0", "~1,2,3"])
def test_a_cursor_that_no_list_gave_is_refused(everywhere: Everywhere, cursor: str) -> None:
    for method in LISTS:
        earlier, later, message = everywhere.error(method, cursor=cursor)
        assert (earlier, later) == (-32602, -32602)
        assert "leave it out to begin again" in message


def test_a_cursor_belongs_to_one_list_as_it_was(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_pages, "PAGE_ITEMS", 2)
    cursors = {method: asked(ada, method)["nextCursor"] for method in LISTS}
    for method in LISTS:
        for other, cursor in cursors.items():
            if other != method:
                refused(ada, method, None, cursor)
    refused(ada, "tools/list", Surface(profile="core"), cursors["tools/list"])
    mark, _, _ = cursors["tools/list"].partition(",")
    for start in ("0", "1", "-2", "1000"):
        refused(ada, "tools/list", None, f"{mark},{start}")
    assert asked(ada, "tools/list", cursor=f"{mark},4")["tools"] == list_tools(ada)[4:6]


def refused(caller: Caller, method: str, surface: Surface | None, cursor: str) -> None:
    with pytest.raises(RpcError, match=r"params\.cursor is not one that this list gave"):
        asked(caller, method, surface, cursor=cursor)


@pytest.mark.parametrize("cursor", [None, ""])
def test_no_cursor_begins_the_list(everywhere: Everywhere, cursor: Any) -> None:
    for method in LISTS:
        assert everywhere.result(method, cursor=cursor) == everywhere.result(method)
