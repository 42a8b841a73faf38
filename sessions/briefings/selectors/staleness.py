"""Marks the rows of briefings that are stale."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.selectors import Stale, find_stale
from sessions.briefings.rules.candidates import Candidate

LOWERED = 0.85

Sections = Mapping[str, list[Candidate]]


def with_stale_marked(project_id: int, sections: Sections, *, reorders: bool) -> Sections:
    """The text of a stale row ends with how many changes since when, and its score is lower. One query.

    `reorders`: sections are sorted by score.
    """
    rows = (one for section in sections.values() for one in section)
    stale = find_stale(project_id, (one.key for one in rows if one.key))
    marked = dict(sections)
    for name, section in sections.items() if stale else ():
        if any(one.key in stale for one in section):
            rows_marked = [_marked(one, stale) for one in section]
            marked[name] = sorted(rows_marked, key=lambda one: one.order) if reorders else rows_marked
    return marked


def _marked(one: Candidate, stale: Mapping[ObjectKey, Stale]) -> Candidate:
    found = stale.get(one.key) if one.key else None
    return (
        replace(one, write=partial(_text, one, found), score=one.score * LOWERED)
        if found is not None
        else one
    )


def _text(one: Candidate, stale: Stale, max_tokens: int) -> str:
    return f"{one.write(max_tokens)} [{stale}]"
