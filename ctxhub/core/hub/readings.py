"""Things read one by one, whole or in part: what is too long for an answer is cut, and says how to go on."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ctxhub.core.kit.answers import MAX_TOKENS, fit, fit_row, shortened, size
from ctxhub.core.kit.errors import InvalidInput, shown, unknown_word
from ctxhub.core.kit.inputs import LIST_LENGTH
from ctxhub.core.kit.listing import PREVIEW_CHARACTERS
from ctxhub.core.text.parts import (
    CHARACTERS_PER_TOKEN,
    LEAST_TOKENS,
    LineRange,
    TextPart,
    as_json,
    count_lines,
    part_of,
)
from ctxhub.core.text.token_count import count_tokens

Item = dict[str, Any]
AnswerT = TypeVar("AnswerT")

MARKS = ("truncated", "total_lines", "next_lines", "also_cut")
# Below, marks stand in the thing alone; above, those of the only one stand beside it, too.
SMALL_BUDGET = 500
LEAST_SHARE = 60
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a long text is asked for: a range of lines, or so many of the last."""

    lines: LineRange | None = None
    tail: int | None = None


def clean_asked(lines: str | None, tail: int | None) -> Asked | None:
    """What a caller says with `lines` and `tail`, of which it may say one; None: all of it."""
    if lines is None and tail is None:
        return None
    if lines is not None and tail is not None:
        raise InvalidInput("lines and tail exclude one another.")
    if tail is not None and tail < 1:
        raise InvalidInput(f"tail is {shown(tail)}; it must be at least 1.")
    return Asked(LineRange.read(lines) if lines is not None else None, tail)


@dataclass(frozen=True, slots=True)
class Opened:
    """A thing as it is read. Its first field names it; `text` is its main text, which `lines` is about.

    What is asked for in part has `lines` (which they are) and `total_lines` behind the text; its other fields
    of more than 200 characters are left out. A field that is no text is read as its JSON.
    """

    item: Item
    text: str = ""
    asked: Asked | None = None

    def within(self, max_tokens: int) -> Item:
        """The thing in at most so many tokens of JSON, marks included, as far as that is possible.

        What is too long is cut, and the item carries `truncated`; `next_lines`, with which `lines` reads on
        in the text that was cut, and `total_lines` of it; `also_cut`, other fields that are not whole:
        `lines` "FIELD:1-" reads one. Fields that need no more than an equal share stay whole; the main text,
        or the first other that is too long, has all that is left. In a very small budget it stands alone.
        """
        max_tokens = max(max_tokens, 1)
        item, part = self._asked_for()
        if not _costs_more(item, max_tokens):
            return item
        if part is not None:
            return self._cut(item, self._named, part, [], max_tokens)
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
    def whole(self) -> Item:
        """All that is asked for, however long."""
        return self.item if self.asked is None else self._asked_for()[0]

    # -- A part ------------------------------------------------------------------------------------

    @property
    def _named(self) -> str:
        return (self.asked.lines.field if self.asked and self.asked.lines else "") or self.text

    def _asked_for(self) -> tuple[Item, TextPart | None]:
        """The thing with the part asked for, and that part; None where all of it is.

        Raises InvalidInput where there is no such text.
        """
        if self.asked is None:
            return self.item, None
        name = self._named
        readable = [known for known, value in self.item.items() if isinstance(value, str | list | dict)]
        if not name or (name != self.text and name not in readable):
            raise unknown_word("lines", f"{name}:1-", [f"{known}:1-" for known in readable])
        value = self.item.get(name, "")
        if not isinstance(value, str | list | dict):
            return self.item, None  # A number has no parts.
        text = value if isinstance(value, str) else as_json(value)
        part = part_of(text, self.asked.lines, self.asked.tail)
        kept = dict.fromkeys([next(iter(self.item)), *filter(self._is_short, self.item), name])
        lines = {"lines": part.lines} if part.lines else {}
        item = {n: part.content if n == name else self.item[n] for n in self.item if n in kept}
        return {**item, name: part.content, **lines, "total_lines": count_lines(text)}, part

    # -- What does not fit -------------------------------------------------------------------------

    def _previewed(self, max_tokens: int) -> tuple[Item, list[str]]:
        """The item with previews of what needs more than an equal share, and of which: the main text first.

        Beside a text, which can be read on with, they are short; where there is none they use their share.
        """
        first, *others = self.item
        costs = [_cost({name: self.item[name]}, max_tokens) for name in others]
        shares = fair_shares(costs, max_tokens - size({first: self.item[first]}))
        long = {name: share for name, cost, share in zip(others, costs, shares, strict=True) if cost > share}
        has_text = any(isinstance(self.item[name], str) for name in long)

        def preview(name: str) -> Any:
            value = self.item[name]
            return shortened(value, PREVIEW_CHARACTERS if has_text else _characters(value, long[name]))

        shown = {name: preview(name) if name in long else value for name, value in self.item.items()}
        return shown, sorted(long, key=lambda name: name != self.text)

    def _cut(self, item: Item, name: str, part: TextPart, also_cut: list[str], max_tokens: int) -> Item:
        """The item with as much of one text as there is room for; with too little room that text alone."""
        left = max_tokens - size(self._marked({**item, name: ""}, name, part, also_cut))
        if left < LEAST_TOKENS:
            return self._alone(name, part, max_tokens)
        return self._marked(item, name, part, also_cut, part.within(left))

    def _alone(self, name: str, part: TextPart | None, max_tokens: int) -> Item:
        """What names it, and as much of one text as there is room for."""
        first, *others = self.item
        item = {place: self.item[place] for place in (first, name) if place in self.item}
        if part is None and isinstance(item.get(name), str):
            part = part_of(item[name])
        if part is None:
            return {first: item[first], "truncated": True}
        others = [] if self.asked else others
        also_cut = [other for other in others if other != name and not self._is_short(other)]
        left = max_tokens - size(self._marked({**item, name: ""}, name, part, also_cut))
        return self._marked(item, name, part, also_cut, part.within(max(left, 1)))

    def _is_short(self, name: str) -> bool:
        value = self.item[name]
        return not isinstance(value, str | list | dict) or len(as_json(value)) <= PREVIEW_CHARACTERS

    def _marked(
        self, item: Item, name: str, part: TextPart, also_cut: list[str], kept: TextPart | None = None
    ) -> Item:
        """The item with what is kept of the part, and marks; without `kept`, marks as long as they can be."""
        total = count_lines(part.text)
        longest = f"{total}@{len(part.text)}-{total}"
        lines = kept.lines if kept else longest
        following = longest if kept is None else "" if kept == part else part.rest_after(kept)
        field = "" if name == self.text else f"{name}:"
        return {
            **item,
            **({name: kept.content} if kept else {}),
            **({"lines": lines} if self.asked and lines else {}),
            **({} if self.asked and kept == part else {"truncated": True}),
            "total_lines": total,
            **({"next_lines": f"{field}{following}"} if following else {}),
            **({"also_cut": also_cut} if also_cut else {}),
        }


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A thing in short, of which nothing more can be read: cut as the rows of a list are."""

    item: Item

    def within(self, max_tokens: int) -> Item:
        fitted = fit(self.item, max_tokens)
        if size(fitted) <= max_tokens:
            return fitted
        return fit_row(self.item, max_tokens, lambda row: {**row, "truncated": True})

    @property
    def whole(self) -> Item:
        return self.item


@dataclass(frozen=True, slots=True)
class Reading(Generic[AnswerT]):
    """The answer of an operation that opens things: they share a budget, each with marks of what is missing.

    `shape` makes the answer, of the type AnswerT, of the items. Nothing is cut to less than the `share`th
    part of the budget: what that leaves no room for is counted by `omitted`. The first thing is always there.
    The marks of the only thing stand beside it, too, unless the budget is small.
    """

    things: Sequence[Opened | Excerpt]
    shape: Callable[[list[Item]], dict[str, Any]]
    share: int = LIST_LENGTH

    def answer(self, *, max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
        """The answer within the budget, as far as that is possible."""
        items = [thing.whole for thing in self.things]
        if not items:
            return fit(self.shape([]), max_tokens)
        whole = self.shape(items)
        if not _costs_more(whole, max_tokens):
            return whole
        left = max(max_tokens - size(self.shape([{}])), 1)
        answer = self._within(left, max_tokens)
        for _ in range(ROUNDS):
            if (beyond := size(answer) - max_tokens) <= 0 or left <= LEAST_TOKENS:
                break
            left = max(left - beyond, 1)
            answer = self._within(left, max_tokens)
        return answer

    def _within(self, left: int, max_tokens: int) -> dict[str, Any]:
        if len(self.things) == 1:
            return self._only(left, max_tokens)
        costs = [_cost(thing.whole, left) for thing in self.things]
        least = max(left // self.share, LEAST_SHARE)
        sums = list(accumulate(min(cost, least) for cost in costs))
        count = max(bisect_right(sums, left), 1)
        shares = fair_shares(costs[:count], left)
        items = [thing.within(share) for thing, share in zip(self.things, shares, strict=False)]
        omitted = {"omitted": len(costs) - count} if count < len(costs) else {}
        truncated = {"truncated": True} if any("truncated" in item for item in items) else {}
        return {**self.shape(items), **omitted, **truncated}

    def _only(self, left: int, max_tokens: int) -> dict[str, Any]:
        [thing] = self.things
        item = thing.within(left)
        if "truncated" not in item or max_tokens < SMALL_BUDGET or self.shape is only:
            return self.shape([item])
        item = thing.within(left - size(_marks_of(item)))
        return {**self.shape([item]), **_marks_of(item)}


def only(items: Sequence[Item]) -> Item:
    """The shape of an answer that is the thing itself."""
    return items[0]


def _marks_of(item: Item) -> Item:
    return {name: item[name] for name in MARKS if name in item}


def fair_shares(costs: Sequence[int], budget: int) -> list[int]:
    """What each may cost: what is short is whole, and what that leaves is shared by the others."""
    shares = [0] * len(costs)
    left = max(budget, 0)
    in_order = sorted(range(len(costs)), key=lambda n: costs[n])
    for place, n in enumerate(in_order):
        shares[n] = min(costs[n], left // (len(costs) - place))
        left -= shares[n]
    return shares


def _cost(value: Any, most: int) -> int:
    """What a value costs as JSON; of what costs more than `most` only that it does."""
    text = as_json(value)
    return most + 1 if len(text) > CHARACTERS_PER_TOKEN * max(most, 0) else count_tokens(text)


def _costs_more(value: Any, max_tokens: int) -> bool:
    return _cost(value, max_tokens) > max_tokens


def _characters(value: Any, max_tokens: int) -> int:
    """To how many characters a value is shortened, so that it costs so much."""
    lengths = range(1, CHARACTERS_PER_TOKEN * max(max_tokens, 1) + 1)
    return bisect_right(lengths, max_tokens, key=lambda length: size(shortened(value, length)))
