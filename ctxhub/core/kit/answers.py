"""Cuts responses to a token budget, and marks what was cut."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from ctxhub.core.text.parts import (
    CHARACTERS_PER_TOKEN,
    as_json,
    is_json_within,
    json_tokens,
    whole_characters,
)

MAX_TOKENS = 20_000
# An answer has room for fewer rows: each costs at least two tokens.
MOST_ROWS = MAX_TOKENS // 2
LEAST_CHARACTERS = 24  # Times, enums and short names are not longer, so they are never cut.
ROUNDS = 50
FIELDS = 30  # An object with more keys is a collection, not a record.

Item = Mapping[str, Any]


class FirstRows(Protocol):
    """Builds the response with the first `count` rows of a list; `row` replaces the first row."""

    def __call__(self, count: int, row: Item | None = None) -> dict[str, Any]: ...


def fit(answer: dict[str, Any], max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
    """The response within `max_tokens`: its longest texts are cut to one length, then lists are shortened.

    A cut response has `truncated`, a cut text ends in "…", and `omitted` counts the missing items (rows,
    objects). For responses without pages or ranges; kit/listing.py and hub/readings.py handle the others.
    """
    if is_json_within(answer, max_tokens):
        return answer

    def truncate_to(characters: int) -> dict[str, Any]:
        return {**_with_texts_of(answer, characters), "truncated": True}

    cut = truncate_to(LEAST_CHARACTERS)
    if is_json_within(cut, max_tokens):
        lengths = _lengths(answer, max_tokens)
        fitting = bisect_right(lengths, max_tokens, key=lambda characters: size(truncate_to(characters)))
        cut = truncate_to(lengths[max(fitting - 1, 0)])
    for _ in range(ROUNDS):
        if is_json_within(cut, max_tokens) or not _shorten(cut, max_tokens):
            break
    return cut


def fit_first(
    count: int,
    max_tokens: int,
    first: FirstRows,
    row: Item,
    *,
    keeps_fields: bool = False,
    characters: int = 0,
) -> dict[str, Any]:
    """`first(n)`, the response with n of `count` rows, for the largest n that fits; at least one row, cut.

    So every page has a row after which the next one continues. If `row`, the first, does not fit, its texts
    and lists are cut and `truncated` is added; if that is not enough, its last fields are dropped, unless
    `keeps_fields`. Its first field, which identifies it, stays as it is.
    `characters`: of all rows together. If they are too many, responses are built of 1, 2, 4, ... rows first,
    and none of all rows.
    """
    if count and characters > CHARACTERS_PER_TOKEN * max_tokens:
        count = _enough_rows(count, max_tokens, first)
    complete = first(count)
    if not count or is_json_within(complete, max_tokens):
        return complete
    if fitting := bisect_right(range(1, count), max_tokens, key=lambda n: size(first(n))):
        return first(fitting)

    def shape(cut: Item) -> dict[str, Any]:
        return {**first(1, cut), **({"truncated": True} if cut != row else {})}

    return fit_row(row, max_tokens, shape, keeps_fields=keeps_fields)


def fit_lead(lead: Item, max_tokens: int, rest: Callable[[], Any]) -> Item:
    """What stands before the rows of a list, cut as `fit` does: it may take half of the budget, or what
    `rest`, the answer without it, leaves.
    """
    if size(lead) <= max_tokens // 2:
        return lead
    return fit(dict(lead), max(max_tokens // 2, max_tokens - size(rest())))


def _enough_rows(count: int, max_tokens: int, first: FirstRows) -> int:
    """A number of rows that do not fit, or `count`."""
    tried = 1
    while tried < count and is_json_within(first(tried), max_tokens):
        tried *= 2
    return min(tried, count)


def fit_row(
    row: Item, max_tokens: int, shape: Callable[[Item], dict[str, Any]], *, keeps_fields: bool = False
) -> dict[str, Any]:
    """`shape(row)` within the budget: texts and lists of the row are cut, then its last fields dropped."""
    lengths, all_fields = _lengths(row, max_tokens), len(row)

    def size_with(characters: int, fields: int = all_fields) -> int:
        return size(shape(truncate_row(row, characters, fields)))

    if fitting := bisect_right(lengths, max_tokens, key=size_with):
        return shape(truncate_row(row, lengths[fitting - 1], all_fields))
    fields = range(1, all_fields + 1)
    fitting = bisect_right(fields, max_tokens, key=lambda kept: size_with(LEAST_CHARACTERS, kept))
    return shape(truncate_row(row, LEAST_CHARACTERS, all_fields if keeps_fields else max(fitting, 1)))


def truncate_row(row: Item, characters: int, fields: int) -> Item:
    """The first `fields` of a row, texts and lists cut to `characters`; the first field is never cut."""
    kept = islice(row.items(), fields)
    return {name: shortened(value, characters) if n else value for n, (name, value) in enumerate(kept)}


def shortened(value: Any, characters: int) -> Any:
    """A text cut to `characters`, plus "…"; a list or object cut so that its JSON has at most as many.

    Texts of up to 24 characters and other types stay as they are.
    """
    if isinstance(value, str):
        return truncate_text(value, max(characters, LEAST_CHARACTERS))
    if not isinstance(value, list | dict) or len(as_json(value)) <= characters:
        return value
    kept: list[tuple[Any, Any]] = []
    left = characters - 2
    for key, inner in _entries(value):
        key_length = len(as_json(key)) + 1 if isinstance(value, dict) else 0
        short = shortened(inner, left - key_length - 4)
        left -= key_length + len(as_json(short)) + 1
        if left < 0 or (inner and not short):
            break
        kept.append((key, short))
    return dict(kept) if isinstance(value, dict) else [short for _, short in kept]


def truncate_text(text: str, characters: int) -> str:
    """The text, cut to `characters` plus "…" if it is longer; never within a grapheme."""
    if len(text) <= characters:
        return text
    return text[: whole_characters(text, characters)].rstrip() + "…"


def characters_in(rows: Iterable[Iterable[Any]]) -> int:
    """The characters of the texts in rows."""
    return sum(len(value) for row in rows for value in row if isinstance(value, str))


def size(answer: Any) -> int:
    """The size of a response in tokens, as compact JSON."""
    return json_tokens(answer)


def _lengths(node: Any, max_tokens: int) -> range:
    """The text lengths to try when cutting, in characters."""
    longest = min(len(as_json(node)), CHARACTERS_PER_TOKEN * max_tokens)
    return range(LEAST_CHARACTERS, max(longest, LEAST_CHARACTERS) + 1)


def _with_texts_of(node: Any, characters: int) -> Any:
    if isinstance(node, str):
        return truncate_text(node, characters)
    if isinstance(node, list):
        return [_with_texts_of(inner, characters) for inner in node]
    if isinstance(node, dict):
        return {name: _with_texts_of(inner, characters) for name, inner in node.items()}
    return node


def _shorten(answer: dict[str, Any], max_tokens: int) -> bool:
    """Drop as few entries as needed from the end of the longest collection; False if there is none."""
    found = _longest(answer)
    if found is None:
        return False
    parent, key = found
    entries = parent[key]
    before = answer.get("omitted", 0)
    is_counted = isinstance(entries, list) and all(isinstance(entry, dict | list) for entry in entries)

    def size_with(count: int) -> int:
        parent[key] = entries[:count] if isinstance(entries, list) else dict(islice(entries.items(), count))
        if is_counted:
            answer["omitted"] = before + len(entries) - count
        return size(answer)

    counts = range(len(entries))
    size_with(max(bisect_right(counts, max_tokens, key=size_with) - 1, 0))
    return True


def _longest(answer: dict[str, Any]) -> tuple[Any, Any] | None:
    """Parent and key of the longest list or object: descends while one entry is half of the JSON or more."""
    found, node, node_key = None, answer, None
    while entries := [(len(as_json(inner)), key) for key, inner in _entries(node) if _has_entries(inner)]:
        length, key = max(entries, key=lambda entry: entry[0])
        if found and found[0][found[1]] is node and length * 2 < len(as_json(node)):
            break
        is_row = node_key == "rows"
        if not is_row and _is_open_ended(node[key]):
            found = node, key
        node, node_key = node[key], key
    return found


def _is_open_ended(node: Any) -> bool:
    """Whether entries can be dropped: they are not the fields of a record."""
    return isinstance(node, list) or len(node) > FIELDS


def _entries(node: Any) -> Iterator[tuple[Any, Any]]:
    return iter(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())


def _has_entries(node: Any) -> bool:
    return isinstance(node, (dict, list)) and len(node) > 0
