"""A page of a list: `{"items", "next", "count", "total"?}`, and where the next one is."""

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from ctxhub.core.listing import Listing
from ctxhub.core.token_count import count_tokens

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Items, the cursor behind them, and what stands beside them (`total`, `more`)."""

    items: Sequence[Item]
    next: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    cursor_after: Callable[[int], str] | None = None

    @classmethod
    def of(cls, listing: Listing) -> Self:
        return cls(listing.objects(), listing.next, listing.extra, listing.cursor_after)

    def answer(self, max_tokens: int) -> dict[str, Any]:
        """As many items as the budget holds; `omitted` counts the others, `next` continues with them."""
        whole = self._first(len(self.items))
        if _tokens(whole) <= max_tokens:
            return whole
        counts = range(len(self.items))
        return self._first(
            max(0, bisect_right(counts, max_tokens, key=lambda n: _tokens(self._first(n))) - 1)
        )

    def _first(self, count: int) -> dict[str, Any]:
        omitted = len(self.items) - count
        following = self.next
        if omitted:
            following = self.cursor_after(count) if self.cursor_after and count else None
        shape = {"items": self.items[:count], "next": following, "count": count, **self.extra}
        return {**shape, "omitted": omitted} if omitted else shape


class CursorPages(BasePagination):
    """Answers pages that a selector found; nothing is filtered or counted here."""

    def answer(self, page: Page, request: Request, max_tokens: int) -> Response:
        answer = page.answer(max_tokens)
        headers = {}
        if answer["next"]:
            following = replace_query_param(request.build_absolute_uri(), "cursor", answer["next"])
            headers["Link"] = f'<{following}>; rel="next"'
        return Response(answer, headers=headers)

    def get_results(self, data: Any) -> Any:
        raise KeyError("The browsable page asks for rows to put a filter form above.")

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["items", "next", "count"],
            "properties": {
                "items": schema,
                "next": {"type": "string", "nullable": True, "description": "Pass it as `cursor`."},
                "count": {"type": "integer", "description": "How many items this page has."},
                "total": {"type": "integer", "description": "How many there are, counted to 1,000."},
                "more": {"type": "boolean", "description": "There are more than `total`."},
                "omitted": {"type": "integer", "description": "Left out to keep to `max_tokens`."},
            },
        }


def _tokens(answer: Mapping[str, Any]) -> int:
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
