"""What `scratchpad get` and `revisions` answer: pads that share what an answer may cost, fairly."""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from ctxhub.core.answers import MAX_TOKENS, fit, size
from ctxhub.core.errors import InvalidInput
from ctxhub.core.inputs import LIST_LENGTH
from ctxhub.core.token_count import count_tokens, fit_lines
from memory.selectors.pad_lines import split_lines
from memory.selectors.scratchpads import (
    Part,
    find_revision,
    find_scratchpads,
    refuse_two_parts,
    revision_item,
    sliced_item,
)

Item = dict[str, Any]
Shape = Callable[[Sequence[Item]], dict[str, Any]]

# Room for what is said beside the pads: that mail waits.
BESIDES = 10
# No token has more characters, but in long runs of one.
CHARACTERS_PER_TOKEN = 12
MARKS = {"truncated": True, "total_lines": 1_000_000, "next_lines": "1000000-1000000"}


def open_one(
    project_id: int,
    scratchpad_id: int,
    *,
    max_tokens: int = MAX_TOKENS,
    **part: Unpack[Part],
) -> dict[str, Any]:
    """A pad, or null; of a long one as many lines as the answer holds, and which are missing."""
    refuse_two_parts(**part)
    row = find_scratchpads(project_id, [scratchpad_id]).get(scratchpad_id)
    if row is None:
        return {"scratchpad": None}
    return _fitted_one(sliced_item(row, **part), max_tokens)


def open_many(
    project_id: int,
    scratchpad_ids: Sequence[int],
    *,
    max_tokens: int = MAX_TOKENS,
    **part: Unpack[Part],
) -> dict[str, Any]:
    """Pads in the order asked for, each once; those that are not there are `missing`."""
    if not 1 <= len(scratchpad_ids) <= LIST_LENGTH:
        raise InvalidInput(f"scratchpad_ids has {len(scratchpad_ids)} entries; name 1 to {LIST_LENGTH}.")
    refuse_two_parts(**part)
    found = find_scratchpads(project_id, scratchpad_ids)
    missing = [row_id for row_id in dict.fromkeys(scratchpad_ids) if row_id not in found]
    items = [sliced_item(row, **part) for row in found.values()]

    def shape(items: Sequence[Item]) -> dict[str, Any]:
        is_cut = any("truncated" in item for item in items)
        return {"scratchpads": list(items), "missing": missing, **({"truncated": True} if is_cut else {})}

    return _fitted(items, shape, max_tokens)


def open_revision(
    project_id: int, scratchpad_id: int, revision: int, *, max_tokens: int = MAX_TOKENS
) -> dict[str, Any]:
    """A pad as it was, or null."""
    row = find_scratchpads(project_id, [scratchpad_id]).get(scratchpad_id)
    state = find_revision(project_id, scratchpad_id, revision) if row else None
    if row is None or state is None:
        return {"scratchpad": None}
    return _fitted_one(revision_item(row, state), max_tokens)


# -- Pieces ----------------------------------------------------------------------------------------


def _fitted_one(item: Item, max_tokens: int) -> dict[str, Any]:
    def shape(items: Sequence[Item]) -> dict[str, Any]:
        marks = {name: items[0][name] for name in MARKS if "truncated" in items[0]}
        return {"scratchpad": items[0], **marks}

    return _fitted([item], shape, max_tokens)


def _fitted(items: Sequence[Item], shape: Shape, max_tokens: int) -> dict[str, Any]:
    """All of them, their texts cut so that the answer costs no more than it may."""
    budget = min(max_tokens, MAX_TOKENS - BESIDES)
    is_short = sum(len(item.get("content", "")) for item in items) <= CHARACTERS_PER_TOKEN * budget
    if is_short and size(shape(items)) <= budget:
        return shape(items)
    empty = [{**item, **MARKS, **({"content": ""} if "content" in item else {})} for item in items]
    needs = [_need(item.get("content", ""), budget) for item in items]
    shares = _shares(needs, budget - size(shape(empty)))
    cut = [
        _cut(item, share) if need > share else item
        for item, need, share in zip(items, needs, shares, strict=True)
    ]
    return fit(shape(cut), budget)


def _need(text: str, budget: int) -> int:
    """What a text costs; of a very long one only that it is too much."""
    return _cost(text[: CHARACTERS_PER_TOKEN * budget + 1])


def _shares(needs: Sequence[int], budget: int) -> list[int]:
    """What each may cost: what is short is whole, and what that leaves is shared by the others."""
    shares = [0] * len(needs)
    left = max(budget, 0)
    in_order = sorted(range(len(needs)), key=lambda n: needs[n])
    for place, n in enumerate(in_order):
        shares[n] = min(needs[n], left // (len(needs) - place))
        left -= shares[n]
    return shares


def _cut(item: Item, max_tokens: int) -> Item:
    """The item with the whole lines that fit, or the beginning of one; `next_lines`: those that do not."""
    text = item.get("content", "")
    first = int(str(item.get("lines", 1)).partition("-")[0])
    last = first + len(split_lines(text)) - 1
    kept, count = fit_lines(text, max_tokens)
    if count:
        lines = kept.split("\n")
        count = bisect_right(range(1, count + 1), max_tokens, key=lambda n: _cost("\n".join(lines[:n])))
        kept = "\n".join(lines[:count]) if count else lines[0]
    if not count:
        kept = kept[: bisect_right(range(1, len(kept) + 1), max_tokens, key=lambda n: _cost(kept[:n]))]
    shown = {"lines": f"{first}-{first + count - 1}"} if "lines" in item and count else {}
    total = item.get("total_lines", last)
    marks = {"truncated": True, "total_lines": total, "next_lines": f"{first + count}-{last}"}
    return {**item, "content": kept, **shown, **marks}


def _cost(text: str) -> int:
    return count_tokens(json.dumps(text, ensure_ascii=False))
