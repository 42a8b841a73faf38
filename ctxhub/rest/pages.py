"""Pages of lists: `{"items", "next", "count", "total"?}`, with a Link header for the next page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from ctxhub.core.kit.answers import Item, characters_in, fit_first, fit_lead
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.listing import Listing


@frozen
class Page:
    """Items, the cursor of the next page, and further keys of the response (`total`, `more`).

    `lead`: keys that come before the items, as in `Listing`.
    """

    items: Sequence[Item]
    next: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    cursor_after: Callable[[int], str] | None = None
    lead: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, listing: Listing) -> Self:
        return cls(listing.objects(), listing.next, listing.extra, listing.cursor_after, listing.lead)

    def answer(self, max_tokens: int | None) -> dict[str, Any]:
        """The response with as many items as fit; `omitted` counts the others, `next` continues with them.

        The first item is always included, with all its fields: if it does not fit, its texts are cut.
        """
        if max_tokens is None or not self.lead:
            return self._within(max_tokens)
        rest = replace(self, lead={})
        lead = fit_lead(self.lead, max_tokens, lambda: rest._first(len(self.items)))
        return replace(self, lead=lead)._within(max_tokens)

    def _within(self, max_tokens: int | None) -> dict[str, Any]:
        count = len(self.items)
        if max_tokens is None or not count:
            return self._first(count)
        return fit_first(
            count,
            max_tokens,
            self._first,
            self.items[0],
            keeps_fields=True,
            characters=characters_in(item.values() for item in self.items),
        )

    def _first(self, count: int, row: Item | None = None) -> dict[str, Any]:
        omitted = len(self.items) - count
        cursor = self.next
        if omitted:
            cursor = self.cursor_after(count) if self.cursor_after else None
        items = list(self.items[:count]) if row is None else [row]
        shape = {**self.lead, "items": items, "next": cursor, "count": count, **self.extra}
        return {**shape, "omitted": omitted} if omitted else shape


class CursorPages(BasePagination):
    """Builds responses from the pages of queries; it does not filter or count."""

    def answer(self, page: Page, request: Request, max_tokens: int | None) -> Response:
        answer = page.answer(max_tokens)
        headers = {}
        if answer["next"]:
            next_url = replace_query_param(request.build_absolute_uri(), "cursor", answer["next"])
            headers["Link"] = f'<{next_url}>; rel="next"'
        return Response(answer, headers=headers)

    def get_results(self, data: Any) -> Any:
        raise KeyError("The browsable page asks for rows to put a filter form above.")
