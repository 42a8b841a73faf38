"""Marks the rows of briefings that are stale."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.paths.selectors import Stale, Staleness, find_staleness
from sessions.briefings.rules.candidates import Candidate

LOWERED = 0.85

Sections = Mapping[str, list[Candidate]]


@frozen
class Marked:
    """Sections whose stale rows are marked, and which rows these are."""

    sections: Sections
    stale: Staleness


def mark_stale(project_id: int, sections: Sections, *, reorders: bool) -> Marked:
    """The text of a stale row ends with how many changes since when, and its score is lower. One query.

    Where much of the project is stale, no score is lower. `reorders`: sections are sorted by score.
    """
    rows = (one for section in sections.values() for one in section)
    stale = find_staleness(project_id, (one.key for one in rows if one.key))
    marked = dict(sections)
    for name, section in sections.items() if stale.objects else ():
        if any(one.key in stale.objects for one in section):
            rows_marked = [_marked(one, stale) for one in section]
            marked[name] = sorted(rows_marked, key=lambda one: one.order) if reorders else rows_marked
    return Marked(marked, stale)


def with_stale_marked(project_id: int, sections: Sections, *, reorders: bool) -> Sections:
    """The sections of `mark_stale`."""
    return mark_stale(project_id, sections, reorders=reorders).sections


def stale_note(stale: Staleness, rows: Iterable[Candidate]) -> str:
    """A sentence if one of the rows has a mark that lowers no rank; at most 30 tokens. Else ""."""
    number, of = stale.share
    if not stale.share.is_large or not any(one.key in stale.objects for one in rows):
        return ""
    return f"{number:,} of {of:,} rows with paths are stale, so that the mark lowers no rank."


def _marked(one: Candidate, stale: Staleness) -> Candidate:
    found = stale.objects.get(one.key) if one.key else None
    if found is None:
        return one
    factor = LOWERED if one.key in stale.lowered else 1.0
    return replace(one, write=partial(_text, one, found), score=one.score * factor)


def _text(one: Candidate, stale: Stale, max_tokens: int) -> str:
    return f"{one.write(max_tokens)} [{stale}]"
