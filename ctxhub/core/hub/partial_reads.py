"""Responses that open objects, whole or in part. Long texts are cut, with the `lines` to read on."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ctxhub.core.kit.answers import MAX_TOKENS, fit, fit_row, shortened, size
from ctxhub.core.kit.errors import InvalidInput, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.listing import PREVIEW_CHARACTERS, with_rows
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.text.headings import has_headings
from ctxhub.core.text.parts import (
    CHARACTERS_PER_TOKEN,
    LEAST_TOKENS,
    LineRange,
    TextPart,
    as_json,
    count_lines,
    is_json_within,
    part_of,
)
from ctxhub.core.text.token_count import count_tokens, is_within

Item = dict[str, Any]
AnswerT = TypeVar("AnswerT")

MARKS = ("truncated", "total_lines", "next_lines", "also_cut")
# With a smaller budget, marks are only in the item; otherwise those of a single item are also beside it.
SMALL_BUDGET = 500
LEAST_SHARE = 60
ROUNDS = 3
OMITTED = "omitted_refs"


@frozen
class RequestedLines:
    """The requested part of a long text: a range of lines, or the number of last lines."""

    lines: LineRange | None = None
    tail: int | None = None


def clean_requested_lines(lines: str | None, tail: int | None) -> RequestedLines | None:
    """The part given by `lines` or `tail`; None: the whole text. Raises InvalidInput if both are given."""
    if lines is None and tail is None:
        return None
    if lines is not None and tail is not None:
        raise InvalidInput("lines and tail exclude one another.")
    if tail is not None and tail < 1:
        raise InvalidInput(f"tail is {shown(tail)}; it must be at least 1.")
    return RequestedLines(LineRange.read(lines) if lines is not None else None, tail)


@frozen
class Opened:
    """An object to return. Its first field identifies it; `text` is the field that `lines` reads by default.

    An item of which a part is `requested` has `lines` (the lines returned) and `total_lines` after the text;
    its other fields of more than 200 characters are left out. A field that is not a text is read as JSON.
    `kind`: of a thing that is opened as it is now; it is then recorded that the agent was given it.
    `outlined_by`: the operation that lists the headings of the text, which a cut item names.
    """

    item: Item
    text: str = ""
    requested: RequestedLines | None = None
    kind: str = ""
    outlined_by: str = ""

    def within(self, max_tokens: int) -> Item:
        """The item in at most `max_tokens` of JSON, marks included, if possible.

        A cut item has the marks `truncated`; `next_lines`, the value of `lines` that reads on in the cut
        text, and its `total_lines`; `also_cut`, the other cut fields: `lines` "FIELD:1-" reads one. Fields
        that need no more than an equal share of the budget are not cut; the main text, or else the first
        other long field, gets the rest. With a very small budget it is the only field.
        """
        max_tokens = max(max_tokens, 1)
        item, part = self._requested()
        if not _costs_more(item, max_tokens):
            return item
        if part is not None:
            return self._cut(item, self._field, part, [], max_tokens)
        shown, long = self._previewed(max_tokens)
        for name in [name for name in long if isinstance(item[name], str)]:
            cut = [other for other in long if other != name and shown[other] != item[other]]
            part = part_of(item[name])
            if _costs_more(self._marked({**shown, name: item[name]}, name, part, cut), max_tokens):
                return self._cut(shown, name, part, cut, max_tokens)
            shown[name] = item[name]
        short = {**shown, "truncated": True, "also_cut": [name for name in long if shown[name] != item[name]]}
        return self._alone(self.text, None, max_tokens) if _costs_more(short, max_tokens) else short

    @property
    def complete(self) -> Item:
        """The requested item without a budget."""
        return self.item if self.requested is None else self._requested()[0]

    # -- A part ------------------------------------------------------------------------------------

    @property
    def _field(self) -> str:
        """The field that is read in part."""
        return (self.requested.lines.field if self.requested and self.requested.lines else "") or self.text

    def _requested(self) -> tuple[Item, TextPart | None]:
        """The item with the requested part of a field, and that part; None: no part is requested.

        Raises InvalidInput if there is no such field.
        """
        if self.requested is None:
            return self.item, None
        name = self._field
        readable = [known for known, value in self.item.items() if isinstance(value, str | list | dict)]
        if not name or (name != self.text and name not in readable):
            raise unknown_word("lines", f"{name}:1-", [f"{known}:1-" for known in readable])
        value = self.item.get(name, "")
        if not isinstance(value, str | list | dict):
            return self.item, None  # A number has no parts.
        text = value if isinstance(value, str) else as_json(value)
        part = part_of(text, self.requested.lines, self.requested.tail)
        kept = dict.fromkeys([next(iter(self.item)), *filter(self._is_short, self.item), name])
        lines = {"lines": part.lines} if part.lines else {}
        item = {n: part.content if n == name else self.item[n] for n in self.item if n in kept}
        return {**item, name: part.content, **lines, "total_lines": count_lines(text)}, part

    # -- Cutting -----------------------------------------------------------------------------------

    def _previewed(self, max_tokens: int) -> tuple[Item, list[str]]:
        """The item with previews of the fields that need more than an equal share, and their names.

        The main text comes first. Previews are short if one of the fields is a text, which can be read on;
        else they use their share of what the marks leave.
        """
        first, *others = self.item
        costs = [_cost({name: self.item[name]}, max_tokens) for name in others]
        left = max_tokens - size({first: self.item[first]})

        def too_long(budget: int) -> dict[str, int]:
            shares = zip(others, costs, fair_shares(costs, budget), strict=True)
            return {name: share for name, cost, share in shares if cost > share}

        long = too_long(left - size({"truncated": True, "also_cut": list(too_long(left))}))
        has_text = any(isinstance(self.item[name], str) for name in long)

        def preview(name: str) -> Any:
            value = self.item[name]
            if has_text:
                return shortened(value, PREVIEW_CHARACTERS)
            return shortened(value, _characters(value, long[name] - size({name: ""})))

        shown = {name: preview(name) if name in long else value for name, value in self.item.items()}
        return shown, sorted(long, key=lambda name: name != self.text)

    def _cut(self, item: Item, name: str, part: TextPart, also_cut: list[str], max_tokens: int) -> Item:
        """The item with as much of one text as fits; if too little fits, only that text."""
        left = max_tokens - size(self._marked({**item, name: ""}, name, part, also_cut))
        if left < LEAST_TOKENS:
            return self._alone(name, part, max_tokens)
        return self._marked(item, name, part, also_cut, part.within(left))

    def _alone(self, name: str, part: TextPart | None, max_tokens: int) -> Item:
        """Only the first field, which identifies the item, and as much of one text as fits."""
        first, *others = self.item
        item = {field: self.item[field] for field in (first, name) if field in self.item}
        if part is None and isinstance(item.get(name), str):
            part = part_of(item[name])
        if part is None:
            return {first: item[first], "truncated": True}
        others = [] if self.requested else others
        also_cut = [other for other in others if other != name and not self._is_short(other)]
        left = max_tokens - size(self._marked({**item, name: ""}, name, part, also_cut))
        return self._marked(item, name, part, also_cut, part.within(max(left, 1)))

    def _is_short(self, name: str) -> bool:
        value = self.item[name]
        return not isinstance(value, str | list | dict) or len(as_json(value)) <= PREVIEW_CHARACTERS

    def _marked(
        self, item: Item, name: str, part: TextPart, also_cut: list[str], kept: TextPart | None = None
    ) -> Item:
        """The item with the kept part and marks. Without `kept`, marks have their maximal length."""
        total = count_lines(part.text)
        longest = f"{total}@{len(part.text)}-{total}"
        lines = kept.lines if kept else longest
        rest = longest if kept is None else "" if kept == part else part.rest_after(kept)
        field = "" if name == self.text else f"{name}:"
        return {
            **item,
            **({name: kept.content} if kept else {}),
            **({"lines": lines} if self.requested and lines else {}),
            **({} if self.requested and kept == part else {"truncated": True}),
            "total_lines": total,
            **({"next_lines": f"{field}{rest}"} if rest else {}),
            **({"also_cut": also_cut} if also_cut else {}),
            **self._hint(name, part),
        }

    def _hint(self, name: str, part: TextPart) -> Item:
        """Of a text that is cut and has headings: where they are listed."""
        if not self.outlined_by or self.requested or name != self.text or not has_headings(part.text):
            return {}
        return {"hint": f"{operation(self.outlined_by)} with outline=true lists its headings."}


@frozen
class Excerpt:
    """A short form of an object, which cannot be read in parts: cut like the rows of a list.

    `kind`: see Opened.
    """

    item: Item
    kind: str = ""

    def within(self, max_tokens: int) -> Item:
        fitted = fit(self.item, max_tokens)
        if is_json_within(fitted, max_tokens):
            return fitted
        return fit_row(self.item, max_tokens, lambda row: {**row, "truncated": True})

    @property
    def complete(self) -> Item:
        return self.item


@frozen
class Reading(Generic[AnswerT]):
    """The response of an operation that opens objects: they share a budget, and each has its own marks.

    `shape` builds the response, of the type AnswerT, from the items. No object is cut to less than 1/`share`
    of the budget: `omitted` counts those for which no room is left, and `omitted_refs` names the first of
    these. The first object is always included. If there is only one, its marks are also beside it, unless the
    budget is small.
    """

    objects: Sequence[Opened | Excerpt]
    shape: Callable[[list[Item]], dict[str, Any]]
    share: int = LIST_LENGTH

    def answer(self, *, as_objects: bool = False, max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
        """The response within the budget, if possible. `as_objects`: also the rows of lists inside."""
        shown = [
            replace(opened, item=with_rows(opened.item, as_objects=as_objects)) for opened in self.objects
        ]
        return replace(self, objects=shown)._answer(max_tokens)

    def _answer(self, max_tokens: int) -> dict[str, Any]:
        items = [opened.complete for opened in self.objects]
        if not items:
            return fit(self.shape([]), max_tokens)
        complete = self.shape(items)
        if not _costs_more(complete, max_tokens):
            return complete
        left = max(max_tokens - size(self.shape([{}])), 1)
        answer = self._within(left, max_tokens)
        for _ in range(ROUNDS):
            if (excess := size(answer) - max_tokens) <= 0 or left <= LEAST_TOKENS:
                break
            left = max(left - excess, 1)
            answer = self._within(left, max_tokens)
        return answer

    def _within(self, left: int, max_tokens: int) -> dict[str, Any]:
        if len(self.objects) == 1:
            return self._only(left, max_tokens)
        costs = [_cost(opened.complete, left) for opened in self.objects]
        least = max(left // self.share, LEAST_SHARE)
        sums = list(accumulate(min(cost, least) for cost in costs))
        count = max(bisect_right(sums, left), 1)
        shares = fair_shares(costs[:count], left)
        items = [opened.within(share) for opened, share in zip(self.objects, shares, strict=False)]
        truncated = {"truncated": True} if any("truncated" in item for item in items) else {}
        return {**self.shape(items), **self._omitted(count, max_tokens), **truncated}

    def _omitted(self, shown: int, max_tokens: int) -> dict[str, Any]:
        """How many objects are left out, and the refs of the first of them, in an eighth of the budget."""
        names = [_ref_of(opened) for opened in self.objects[shown:]]
        if not names:
            return {}
        sizes = [size({OMITTED: names[:count]}) for count in range(1, len(names) + 1)]
        named = bisect_right(sizes, max_tokens // 8)
        return {"omitted": len(names), **({OMITTED: names[:named]} if named else {})}

    def _only(self, left: int, max_tokens: int) -> dict[str, Any]:
        [opened] = self.objects
        item = opened.within(left)
        if "truncated" not in item or max_tokens < SMALL_BUDGET or self.shape is only:
            return self.shape([item])
        item = opened.within(left - size(_marks_of(item)))
        return {**self.shape([item]), **_marks_of(item)}


def _ref_of(opened: Opened | Excerpt) -> str:
    """Its first field if that is a ref already, else its kind and id."""
    name = next(iter(opened.item.values()))
    return name if isinstance(name, str) else f"{opened.kind}:{name}"


def only(items: Sequence[Item]) -> Item:
    """The shape of a response that is the item itself."""
    return items[0]


def _marks_of(item: Item) -> Item:
    return {name: item[name] for name in MARKS if name in item}


def fair_shares(costs: Sequence[int], budget: int) -> list[int]:
    """The tokens for each field: short ones get what they need, the long ones share the rest equally."""
    shares = [0] * len(costs)
    left = max(budget, 0)
    in_order = sorted(range(len(costs)), key=lambda n: costs[n])
    for done, n in enumerate(in_order):
        shares[n] = min(costs[n], left // (len(costs) - done))
        left -= shares[n]
    return shares


def _cost(value: Any, most: int) -> int:
    """The tokens of a value as JSON; `most` + 1 for a longer value, which is not counted exactly."""
    text = as_json(value)
    return most + 1 if len(text) > CHARACTERS_PER_TOKEN * max(most, 0) else count_tokens(text)


def _costs_more(value: Any, max_tokens: int) -> bool:
    text = as_json(value)
    return len(text) > CHARACTERS_PER_TOKEN * max(max_tokens, 0) or not is_within(text, max_tokens)


def _characters(value: Any, max_tokens: int) -> int:
    """The number of characters to which a value must be cut to cost at most `max_tokens`."""
    lengths = range(1, CHARACTERS_PER_TOKEN * max(max_tokens, 1) + 1)
    return bisect_right(lengths, max_tokens, key=lambda length: size(shortened(value, length)))
