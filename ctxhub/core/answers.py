"""No answer exceeds what a client accepts: what is too long is cut, and the answer says so."""

import copy
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ctxhub.core.token_count import count_tokens, fit_lines

MAX_TOKENS = 20_000
LEAST_KEPT = 20
TEXTS_CUT = 20
ROUNDS = 50
FIELDS = 30  # An object with more is no record, but a collection.


def fit(answer: dict[str, Any], max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
    """The answer within `max_tokens`: long texts cut to whole lines, longest first; then lists and objects.

    A cut answer carries `truncated`, and of the text cut first `total_lines` and `next_lines` ("41-80": what
    is missing), or `omitted`: how many entries of lists and objects are missing.
    """
    if size(answer) <= max_tokens:
        return answer
    cut = copy.deepcopy(answer)
    cut["truncated"] = True
    longest_first = sorted(_long_texts(cut), key=lambda at: -len(at[0][at[1]]))
    for holder, place in islice(longest_first, TEXTS_CUT):
        if _cut(cut, holder, place, max_tokens):
            return cut
    for _ in range(ROUNDS):
        if size(cut) <= max_tokens or not _shorten(cut, max_tokens):
            break
    return cut


def fit_first(count: int, max_tokens: int, first: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """`first(n)`, the answer with n of `count` things, for as many as fit; if no one does, the first, cut.

    So a page always has something to go on behind, unless the budget is too small for anything.
    """
    whole = first(count)
    if not count or size(whole) <= max_tokens:
        return whole
    fitting = bisect_right(range(1, count), max_tokens, key=lambda n: size(first(n)))
    if fitting:
        return first(fitting)
    one = _omitting(fit(first(1), max_tokens), count - 1)
    has_one = one.get("rows") or one.get("items")
    return one if has_one and size(one) <= max_tokens else first(0)


def _omitting(answer: dict[str, Any], count: int) -> dict[str, Any]:
    """`omitted` counts whole things here: that the one which is shown was cut, `truncated` says."""
    kept = {name: value for name, value in answer.items() if name != "omitted"}
    return {**kept, "omitted": count} if count else kept


def size(answer: Any) -> int:
    """What an answer costs as it is sent: as compact JSON."""
    return count_tokens(_as_json(answer))


def _as_json(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def _cut(answer: dict[str, Any], holder: Any, place: Any, max_tokens: int) -> bool:
    """Cut one text as little as makes the answer fit; False where even `LEAST_KEPT` is too much."""
    text = holder[place]
    is_first = "total_lines" not in answer

    def size_with(tokens: int) -> int:
        kept, lines = fit_lines(text, tokens)
        holder[place] = kept
        if is_first:
            total = text.count("\n") + 1
            answer.update(total_lines=total, next_lines=f"{min(lines + 1, total)}-{total}")
        return size(answer)

    if size_with(LEAST_KEPT) > max_tokens:
        return False
    allowances = range(LEAST_KEPT, count_tokens(text) + 1)
    size_with(allowances[bisect_right(allowances, max_tokens, key=size_with) - 1])
    return True


def _long_texts(node: Any) -> Iterator[tuple[Any, Any]]:
    for place, inner in _entries(node):
        if isinstance(inner, str) and len(inner) > LEAST_KEPT:
            yield node, place
        else:
            yield from _long_texts(inner)


def _shorten(answer: dict[str, Any], max_tokens: int) -> bool:
    """Drop the tail of what is longest, as little as is needed; False where nothing can be dropped."""
    found = _longest(answer)
    if found is None:
        return False
    holder, place = found
    entries = holder[place]
    before = answer.get("omitted", 0)

    def size_with(count: int) -> int:
        holder[place] = entries[:count] if isinstance(entries, list) else dict(islice(entries.items(), count))
        answer["omitted"] = before + len(entries) - count
        return size(answer)

    counts = range(len(entries))
    size_with(max(bisect_right(counts, max_tokens, key=size_with) - 1, 0))
    return True


def _longest(answer: dict[str, Any]) -> tuple[Any, Any] | None:
    """Where the list or object lies that weighs most: downwards as long as one entry outweighs all others."""
    found, inside, place = None, answer, None
    while entries := [(len(_as_json(inner)), at) for at, inner in _entries(inside) if _has_entries(inner)]:
        weight, at = max(entries, key=lambda entry: entry[0])
        if found and found[0][found[1]] is inside and weight * 2 < len(_as_json(inside)):
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
