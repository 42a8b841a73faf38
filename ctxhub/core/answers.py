"""No answer exceeds what a client accepts: long texts are cut to whole lines, and the answer says so."""

import copy
import json
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from ctxhub.core.token_count import count_tokens, fit_lines

MAX_TOKENS = 20_000
LEAST_KEPT = 20


def fit(answer: dict[str, Any], max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
    """The answer within `max_tokens`: its longest texts cut to whole lines, longest first.

    A cut answer carries `truncated`, and of the text cut first `total_lines` and `next_lines` ("41-80": what
    is missing).
    """
    if size(answer) <= max_tokens:
        return answer
    cut = copy.deepcopy(answer)
    cut["truncated"] = True
    for holder, place in sorted(_texts(cut), key=lambda at: -len(at[0][at[1]])):
        if _cut(cut, holder, place, max_tokens):
            break
    return cut


def size(answer: Any) -> int:
    """What an answer costs as it is sent: as compact JSON."""
    return count_tokens(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


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


def _texts(node: Any) -> Iterator[tuple[Any, Any]]:
    places = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for place, inner in places:
        if isinstance(inner, str):
            yield node, place
        else:
            yield from _texts(inner)
