"""No answer exceeds what a client accepts: what is too long is cut, and the answer says so."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

from ctxhub.core.text.parts import CHARACTERS_PER_TOKEN, as_json, json_tokens, whole_characters

MAX_TOKENS = 20_000
LEAST_CHARACTERS = 24  # Times, enums and short names are no longer, and never cut.
ROUNDS = 50
FIELDS = 30  # An object with more is no record, but a collection.

Item = Mapping[str, Any]


class FirstRows(Protocol):
    """The answer with the first rows of a list; with `row`, with that one in place of the first."""

    def __call__(self, count: int, row: Item | None = None) -> dict[str, Any]: ...


def fit(answer: dict[str, Any], max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
    """The answer within `max_tokens`: its longest texts cut, to one length; then lists lose their tails.

    A cut answer carries `truncated`, a cut text ends in "…", and `omitted` counts the items (rows, objects)
    that are missing. For answers that cannot be asked for in part: see lists and readings for those that can.
    """
    if size(answer) <= max_tokens:
        return answer

    def truncate_to(characters: int) -> dict[str, Any]:
        return {**_with_texts_of(answer, characters), "truncated": True}

    lengths = _lengths(answer, max_tokens)
    fitting = bisect_right(lengths, max_tokens, key=lambda characters: size(truncate_to(characters)))
    cut = truncate_to(lengths[max(fitting - 1, 0)])
    for _ in range(ROUNDS):
        if size(cut) <= max_tokens or not _shorten(cut, max_tokens):
            break
    return cut


def fit_first(
    count: int, max_tokens: int, first: FirstRows, row: Item, *, keeps_fields: bool = False
) -> dict[str, Any]:
    """`first(n)`, the answer with n of `count` rows, for as many as fit; if no one does, the first, cut.

    So a page always has something to go on behind. `row`, the first, has its texts and lists cut then, and
    `truncated` stands beside it; where that is not enough it loses its last fields, unless `keeps_fields`.
    Its first field, which names it, stays as it is.
    """
    whole = first(count)
    if not count or size(whole) <= max_tokens:
        return whole
    if fitting := bisect_right(range(1, count), max_tokens, key=lambda n: size(first(n))):
        return first(fitting)

    def shape(cut: Item) -> dict[str, Any]:
        return {**first(1, cut), **({"truncated": True} if cut != row else {})}

    return fit_row(row, max_tokens, shape, keeps_fields=keeps_fields)


def fit_row(
    row: Item, max_tokens: int, shape: Callable[[Item], dict[str, Any]], *, keeps_fields: bool = False
) -> dict[str, Any]:
    """`shape(row)` within the budget: texts and lists of the row are cut, then its last fields left out."""
    lengths, all_fields = _lengths(row, max_tokens), len(row)

    def size_with(characters: int, fields: int = all_fields) -> int:
        return size(shape(truncate_row(row, characters, fields)))

    if fitting := bisect_right(lengths, max_tokens, key=size_with):
        return shape(truncate_row(row, lengths[fitting - 1], all_fields))
    fields = range(1, all_fields + 1)
    fitting = bisect_right(fields, max_tokens, key=lambda kept: size_with(LEAST_CHARACTERS, kept))
    return shape(truncate_row(row, LEAST_CHARACTERS, all_fields if keeps_fields else max(fitting, 1)))


def truncate_row(row: Item, characters: int, fields: int) -> Item:
    """The first `fields` of a row, texts and lists cut to so many characters; the first field stays whole."""
    kept = islice(row.items(), fields)
    return {name: shortened(value, characters) if n else value for n, (name, value) in enumerate(kept)}


def shortened(value: Any, characters: int) -> Any:
    """A text cut to so many characters, and "…"; of a list or an object as much as so many hold as JSON.

    Texts of up to 24 characters stay. Types stay as they are.
    """
    if isinstance(value, str):
        return truncate_text(value, max(characters, LEAST_CHARACTERS))
    if not isinstance(value, list | dict) or len(as_json(value)) <= characters:
        return value
    kept: list[tuple[Any, Any]] = []
    left = characters - 2
    for place, inner in _entries(value):
        key = len(as_json(place)) + 1 if isinstance(value, dict) else 0
        short = shortened(inner, left - key - 4)
        left -= key + len(as_json(short)) + 1
        if left < 0 or (inner and not short):
            break
        kept.append((place, short))
    return dict(kept) if isinstance(value, dict) else [short for _, short in kept]


def truncate_text(text: str, characters: int) -> str:
    """Its beginning and "…" where it is longer; no character of several code points is cut."""
    if len(text) <= characters:
        return text
    return text[: whole_characters(text, characters)].rstrip() + "…"


def size(answer: Any) -> int:
    """What an answer costs as it is sent: as compact JSON."""
    return json_tokens(answer)


def _lengths(node: Any, max_tokens: int) -> range:
    """To how many characters its texts may be cut, so that it costs less."""
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
    """Drop the tail of what is longest, as little as is needed; False where nothing can be dropped."""
    found = _longest(answer)
    if found is None:
        return False
    holder, place = found
    entries = holder[place]
    before = answer.get("omitted", 0)
    is_counted = isinstance(entries, list) and all(isinstance(entry, dict | list) for entry in entries)

    def size_with(count: int) -> int:
        holder[place] = entries[:count] if isinstance(entries, list) else dict(islice(entries.items(), count))
        if is_counted:
            answer["omitted"] = before + len(entries) - count
        return size(answer)

    counts = range(len(entries))
    size_with(max(bisect_right(counts, max_tokens, key=size_with) - 1, 0))
    return True


def _longest(answer: dict[str, Any]) -> tuple[Any, Any] | None:
    """Where the list or object lies that weighs most: downwards as long as one entry outweighs all others."""
    found, inside, place = None, answer, None
    while entries := [(len(as_json(inner)), at) for at, inner in _entries(inside) if _has_entries(inner)]:
        weight, at = max(entries, key=lambda entry: entry[0])
        if found and found[0][found[1]] is inside and weight * 2 < len(as_json(inside)):
            break
        is_row = place == "rows"
        if not is_row and _is_open_ended(inside[at]):
            found = inside, at
        inside, place = inside[at], at
    return found


def _is_open_ended(node: Any) -> bool:
    """Whether entries can be dropped: not the fields of a record."""
    return isinstance(node, list) or len(node) > FIELDS


def _entries(node: Any) -> Iterator[tuple[Any, Any]]:
    return iter(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())


def _has_entries(node: Any) -> bool:
    return isinstance(node, (dict, list)) and len(node) > 0
