"""Searches scratchpads, or the lines of one of them."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, total_of
from ctxhub.core.search.excerpts import Hit as WordHit
from ctxhub.core.search.excerpts import Wanted, excerpt, find_hits, merged
from ctxhub.core.search.queries import Term
from ctxhub.core.search.questions import Search, prepare
from ctxhub.core.search.search import DETAILS, Hit, search, wanted_of
from ctxhub.core.text.lines import split_lines
from memory.scratchpads.history import workflow_word
from memory.scratchpads.queries import find_scratchpads
from memory.scratchpads.rows import LISTED, PadRow

COLUMNS = ("scratchpad_id", "name", "workflow_id", "snippet", "line", "lines", "size")
DETAIL = "standard"


@frozen
class MatchingLine:
    """A line of a pad with matches; `weight` is the sum of the weights of the words found in it."""

    line: int
    text: str
    weight: float


def search_scratchpads(
    project_id: int,
    query: str,
    *,
    workflow_id: int | None = None,
    scratchpad_id: int | None = None,
    limit: int = 20,
    include_content: bool = True,
) -> Listing:
    """The best pads first, matches between « and ». With `scratchpad_id`: its lines, each with its number.

    Finds current texts only: a snippet would not say that its text is gone. An unknown workflow or pad gives
    no rows.
    """
    limit = clean_limit(limit)
    if scratchpad_id is not None:
        return _search_one(project_id, query, workflow_id, scratchpad_id, limit, include_content)
    within = [] if workflow_id is None else [[workflow_word(workflow_id)]]
    found = search(
        project_id, query, kinds=["scratchpad"], within=within, limit=limit, detail=DETAIL, earlier=False
    )
    pads = find_scratchpads(project_id, [_id(hit) for hit in found.hits], LISTED)
    wanted = wanted_of(found.search.weights) if found.search else Wanted({})
    rows = [
        [
            *(*_about(pads[_id(hit)]), marked(hit.excerpt, wanted) if include_content else None, None),
            *(hit.lines, hit.size),
        ]
        for hit in found.hits
        if _id(hit) in pads
    ]
    return Listing(COLUMNS, rows, extra={**found.total, **_did_you_mean(found.search)})


def marked(text: str, wanted: Wanted) -> str:
    """The text with its matches between « and »."""
    parts, done = [], 0
    for start, end in merged(find_hits(text, wanted)):
        parts += [text[done:start], "«", text[start:end], "»"]
        done = end
    return "".join([*parts, text[done:]])


# -- Pieces ----------------------------------------------------------------------------------------


def _search_one(
    project_id: int, query: str, workflow_id: int | None, pad_id: int, limit: int, include_content: bool
) -> Listing:
    prepared = prepare(project_id, query, kinds=["scratchpad"])
    pad = find_scratchpads(project_id, [pad_id]).get(pad_id)
    if prepared is None or pad is None or workflow_id not in (None, pad.workflow_id):
        return Listing(COLUMNS, [], extra=total_of(0))
    wanted = wanted_of(prepared.weights)
    matching = _matching_lines(pad.content, wanted, prepared.query.excluded)
    best = sorted(matching, key=lambda one: (-one.weight, one.line))[:limit]
    rows = [
        [
            *_about(pad),
            marked(excerpt(one.text, wanted, DETAILS[DETAIL]), wanted) if include_content else None,
            *(one.line, None, None),
        ]
        for one in best
    ]
    return Listing(
        COLUMNS, rows, extra={**total_of(min(len(matching), COUNTED_TO + 1)), **_did_you_mean(prepared)}
    )


def _matching_lines(text: str, wanted: Wanted, excluded: Iterable[Term]) -> Sequence[MatchingLine]:
    """The lines with a wanted term and no excluded one, in the order of the text."""
    lines = split_lines(text)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    refused = {number for number, _ in _on_lines(text, starts, wanted_of(dict.fromkeys(excluded, 1.0)))}
    weights: dict[int, dict[str, float]] = {}
    for number, hit in _on_lines(text, starts, wanted):
        if number not in refused:
            weights.setdefault(number, {})[hit.word] = hit.worth
    return [MatchingLine(number, lines[number - 1], sum(found.values())) for number, found in weights.items()]


def _on_lines(text: str, starts: Sequence[int], wanted: Wanted) -> Iterator[tuple[int, WordHit]]:
    """Each match with its line number. Searches the text at once: each distinct word is compared once."""
    return ((bisect_right(starts, hit.start), hit) for hit in find_hits(text, wanted))


def _id(hit: Hit) -> int:
    return hit.document.object_id


def _about(pad: PadRow) -> tuple[int, str, int]:
    return pad.id, pad.name, pad.workflow_id


def _did_you_mean(search: Search | None) -> Mapping[str, str]:
    return {"did_you_mean": search.did_you_mean} if search and search.did_you_mean else {}
